//! Programs of others that tests check Xoff's results with: tshark, Python packages, Node, Chromium.
//!
//! A program that is missing is installed where that is allowed (as root, with a package manager that answers), after a
//! line that says what and why. Where it is not allowed the test is skipped, which [`skip`] writes down; the last test
//! program of the workspace prints the list. `XOFF_INSTALL=never` installs nothing.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether `XOFF_TESTS=all` asks for every case of tests that usually try a part of theirs.
pub fn every_case() -> bool {
    std::env::var("XOFF_TESTS").is_ok_and(|which| which == "all")
}

/// The folder for files that tests write: `TMPDIR` where it is set, else memory where it has room. Runs sync what they
/// write, and a disk is busy with what was compiled just before.
pub fn scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |of| of.f_bavail * of.f_frsize);
    let has_room = std::env::var_os("TMPDIR").is_none() && room > 4 << 30;
    if has_room { memory.to_owned() } else { std::env::temp_dir() }
}

/// Something that a test cannot do without, and what is missing for it.
#[derive(Debug)]
pub struct Missing {
    why: String,
    how: String,
}

impl Missing {
    /// `why` says what is missing, `how` what to do about it.
    pub fn new(why: impl Into<String>, how: impl Into<String>) -> Missing {
        Missing { why: why.into(), how: how.into() }
    }
}

/// Returns what was found, or skips the test that calls it.
pub fn found<T>(what: Result<T, Missing>) -> Option<T> {
    match what {
        Ok(found) => {
            // The test that was skipped last time is not skipped now.
            let _ = fs::remove_file(notes().join(test()));
            Some(found)
        }
        Err(missing) => {
            skip(&missing.why, &missing.how);
            None
        }
    }
}

/// Writes down that the calling test is skipped: `why`, and `how` to have it run.
pub fn skip(why: &str, how: &str) {
    let test = test();
    say(&format!("SKIPPED {test}: {why}"));
    fs::create_dir_all(notes()).expect("the target folder can be written to");
    fs::write(notes().join(test), how).expect("the target folder can be written to");
}

/// The skipped tests with what would have them run, in order of their names.
pub fn skipped() -> Vec<(String, String)> {
    let entries = fs::read_dir(notes()).into_iter().flatten().flatten();
    let mut all: Vec<(String, String)> = entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, fs::read_to_string(entry.path()).ok()?)))
        .collect();
    all.sort();
    all
}

/// Name of tshark, with which captures are read.
pub fn tshark() -> Result<&'static str, Missing> {
    let _lock = lock();
    program("tshark", &["tshark"], "to read captures with another program")?;
    Ok("tshark")
}

/// A program that answers to `--version`, from Debian packages if it is missing. `why` ends the sentence "Installing ...".
pub fn program(name: &str, packages: &[&str], why: &str) -> Result<(), Missing> {
    let runs = || runs(name, &["--version"]);
    if runs() {
        return Ok(());
    }
    let list = packages.join(" ");
    if may_install() {
        say(&format!("INSTALLING {list} (Debian packages), {why}"));
        // The lists of packages may be old or absent: once more with new ones.
        let install = [&["install", "-y", "--no-install-recommends"], packages].concat();
        if !apt_get(&install) {
            apt_get(&["update"]);
            apt_get(&install);
        }
        if runs() {
            return Ok(());
        }
    }
    Err(Missing::new(format!("there is no {name}"), format!("apt-get install {list}")))
}

/// A Python interpreter that has these packages, each `NAME==VERSION`, in an environment of its own.
pub fn python(packages: &[&str]) -> Result<PathBuf, Missing> {
    let _lock = lock();
    let home = folder().join("python");
    let interpreter = home.join("bin/python");
    let missing = |packages: &str| Missing::new(format!("there is no Python with {packages}"), VENV.to_owned());
    if !runs(&interpreter, &["-m", "pip", "--version"]) {
        let mut command = Command::new("python3");
        let made = quiet(command.args(["-m", "venv", "--clear"]).arg(&home)).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err(missing(&packages.join(" ")));
        }
    }
    for package in packages {
        let note = home.join(format!("installed-{package}"));
        if note.exists() {
            continue;
        }
        if std::env::var_os("XOFF_INSTALL").is_some_and(|value| value == "never") {
            return Err(missing(package));
        }
        say(&format!(
            "INSTALLING {package} (Python package, below the target folder), to read results with another program"
        ));
        let pip = ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", package];
        if !quiet(Command::new(&interpreter).args(pip)).status().is_ok_and(|status| status.success()) {
            return Err(missing(package));
        }
        fs::write(note, "").expect("the target folder can be written to");
    }
    Ok(interpreter)
}

const VENV: &str = "apt-get install python3-venv, and a network for pip";

/// Python 3 without packages.
pub fn plain_python() -> Result<&'static str, Missing> {
    let name = "python3";
    if runs(name, &["--version"]) {
        Ok(name)
    } else {
        Err(Missing::new("there is no python3", "apt-get install python3"))
    }
}

/// Test programs and threads install one after the other.
pub fn lock() -> File {
    fs::create_dir_all(folder()).expect("the target folder can be written to");
    let file = File::create(folder().join("lock")).expect("the target folder can be written to");
    file.lock().expect("the lock is ours to take");
    file
}

/// Folder for what tests fetch, `target/tmp/tools`.
pub fn folder() -> PathBuf {
    // A test program is target/debug/deps/NAME.
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(3).unwrap_or(Path::new(".")).join("tmp/tools")
}

/// Folder with a file for each skipped test.
fn notes() -> PathBuf {
    folder().join("skipped")
}

/// The calling test, for a file name.
fn test() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name).to_owned();
    let name = std::thread::current().name().unwrap_or("main").replace("::", ".");
    format!("{program}.{name}")
}

/// Printed whether or not the test's output is captured.
fn say(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

fn may_install() -> bool {
    let never = std::env::var_os("XOFF_INSTALL").is_some_and(|value| value == "never");
    !never && rustix::process::geteuid().is_root()
}

fn runs(program: impl AsRef<OsStr>, args: &[&str]) -> bool {
    quiet(Command::new(program).args(args)).status().is_ok_and(|status| status.success())
}

fn apt_get(args: &[&str]) -> bool {
    let mut command = Command::new("apt-get");
    quiet(command.args(args).env("DEBIAN_FRONTEND", "noninteractive")).status().is_ok_and(|status| status.success())
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}
