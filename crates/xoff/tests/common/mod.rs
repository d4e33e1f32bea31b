//! The built program in a directory of its own.

#![allow(dead_code, reason = "every test file compiles this one and uses a part of it")]

pub mod paper;
pub mod table;
pub mod whole;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Once};

/// A small scenario of every table: 60 flows in a dumbbell, some milliseconds of work.
pub const SMALL: &str = r#"name = "small"
[run]
stop = "5ms"
[topology]
kind = "dumbbell"
left = 4
right = 4
rate = "100Gbps"
delay = "1us"
[switch]
buffer = "4MB"
[switch.pfc]
threshold = "static"
xoff = "60KB"
[scheme]
name = "dcqcn"
[[traffic]]
kind = "poisson"
sizes = "hadoop"
load = 0.7
flows = 60
[[traffic]]
kind = "incast"
sizes = "40KB"
destinations = "h7"
degree = 6
times = ["10us", "50us"]
[[probe]]
what = "queue"
ports = "s0->s1"
every = "10us"
[output]
figures = false
"#;

pub struct Bench {
    pub path: PathBuf,
}

impl Bench {
    pub fn new() -> Bench {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("xoff-cli-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = xoff_yardstick::scratch().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Bench { path }
    }

    pub fn with(name: &str, text: impl AsRef<[u8]>) -> Bench {
        let bench = Bench::new();
        bench.write(name, text);
        bench
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path.join(name), text).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xoff"));
        command.args(args).current_dir(&self.path).env("RUST_BACKTRACE", "0");
        command
    }

    pub fn xoff(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs what must succeed; its standard output.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.xoff(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// What was written for the program to read, for a message.
    pub fn texts(&self) -> String {
        let read = |name: String| format!("{name}:\n{}\n", String::from_utf8_lossy(&self.read(&name)));
        self.entries().into_iter().filter(|name| self.path.join(name).is_file()).map(read).collect()
    }

    /// Names of what is in the directory, hidden or not.
    pub fn entries(&self) -> Vec<String> {
        entries(&self.path)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

pub fn entries(path: &Path) -> Vec<String> {
    let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

pub fn stderr(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// One replacement, which must find what it replaces.
pub fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` is not in\n{text}");
    text.replacen(from, to, 1)
}

/// The scenarios that ship with the program.
pub fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios");
    let folders = [folder.join("live"), folder.join("jobs"), folder.join("paths"), folder]
        .map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// Starts a program in which SIGINT and SIGHUP have their usual effect. Who started the tests in the background or under
/// `nohup` ignores them, and children inherit that; of a signal with a handler they inherit nothing.
pub fn spawn_with_signals(command: &mut Command) -> Child {
    static HANDLED: Once = Once::new();
    HANDLED.call_once(|| {
        for signal in [SIGINT, SIGHUP] {
            // The tests themselves end as they would have.
            signal_hook::flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true))).unwrap();
        }
    });
    command.spawn().unwrap()
}

/// Sends a signal, such as `-INT`, to a process; whether there was one.
pub fn signal(signal: &str, process: u32) -> bool {
    let signal = match signal {
        "-INT" => Signal::INT,
        "-TERM" => Signal::TERM,
        "-KILL" => Signal::KILL,
        other => panic!("no test sends {other}"),
    };
    let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    kill_process(process, signal).is_ok()
}
