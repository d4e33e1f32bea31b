//! Programs of other people that tests check ours with; installed where they are missing, once.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The name of tshark, from the Debian package if need be.
pub fn tshark() -> &'static str {
    static THERE: OnceLock<()> = OnceLock::new();
    THERE.get_or_init(install_tshark);
    "tshark"
}

fn install_tshark() {
    let _lock = lock();
    install("tshark", &["tshark"]);
}

/// Debian packages that bring a program, if it is missing. Whoever calls it holds a lock.
pub fn install(program: &str, packages: &[&str]) {
    if !runs(program, &["--version"]) {
        // The lists of packages may be old or absent: once more with new ones.
        let install = [&["install", "-y", "--no-install-recommends"], packages].concat();
        if !apt_get(&install) {
            apt_get(&["update"]);
            apt_get(&install);
        }
    }
    let (there, packages) = (runs(program, &["--version"]), packages.join(" "));
    assert!(there, "this test needs {program} and could not install it; as root: apt-get install {packages}");
}

/// A Python interpreter that has these packages, each `NAME==VERSION`.
pub fn python(packages: &[&str]) -> PathBuf {
    let _lock = lock();
    let home = folder().join("python");
    let interpreter = home.join("bin/python");
    if !runs(&interpreter, &["-m", "pip", "--version"]) {
        let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home).stdin(Stdio::null()).status();
        let made = made.is_ok_and(|status| status.success());
        assert!(made, "this test needs Python 3 with venv (Debian: apt-get install python3-venv)");
    }
    for package in packages {
        let note = home.join(format!("installed-{package}"));
        if !note.exists() {
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
            let output = Command::new(&interpreter).args(pip).stdin(Stdio::null()).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "this test needs the Python package {package}: {errors}");
            fs::write(note, "").unwrap();
        }
    }
    interpreter
}

/// Test programs and threads install one after the other.
fn lock() -> File {
    fs::create_dir_all(folder()).unwrap();
    let file = File::create(folder().join("lock")).unwrap();
    file.lock().unwrap();
    file
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools")
}

fn runs(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    let quiet = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn apt_get(args: &[&str]) -> bool {
    let mut command = Command::new("apt-get");
    let quiet = command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
