//! Ctrl-C and its kin: what is not whole is removed, what is left is said, then the program ends.

use super::print;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use xoff_results::files::partials::{self, Entry};

static SAID: Mutex<Option<String>> = Mutex::new(None);

/// What an interrupted command leaves for the next one.
pub fn say_when_stopped(text: String) {
    *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

/// From now on signals end the program in order; the second one ends it at once.
pub fn watch() -> io::Result<()> {
    // A file that grows beyond its limit is an error of the write, not a death without a word.
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let ignored = ignored();
    let signals: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect();
    let once = Arc::new(AtomicBool::new(false));
    for &signal in &signals {
        flag::register_conditional_shutdown(signal, 128 + signal, once.clone())?;
        flag::register(signal, once.clone())?;
    }
    let mut signals = Signals::new(signals)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            stop(signal);
        }
    })?;
    Ok(())
}

/// Signals that the parent process ignores (nohup, jobs of a script): they stay ignored. Where the system
/// does not say (macOS), that is SIGHUP: without a handler it ends the program as ever, but not one under nohup.
fn ignored() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 1 << (SIGHUP - 1) };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn stop(signal: i32) -> ! {
    let (entries, kept) = partials::abandon();
    let message = message(signal, &entries, &kept);
    // Below what a progress bar left of its line.
    print::tell_folded(&if io::stderr().is_terminal() { format!("\n{message}") } else { message });
    std::process::exit(128 + signal)
}

fn message(signal: i32, entries: &[Entry], kept: &[(PathBuf, io::Error)]) -> String {
    let how = if signal == SIGINT { "interrupted" } else { "ended by a signal" };
    let mut said: Vec<String> = Vec::new();
    for Entry { target, .. } in entries {
        said.push(match target.exists() {
            true => format!("{} is as it was before", target.display()),
            false => format!("{} is not written", target.display()),
        });
    }
    for (path, error) in kept {
        said.push(format!("{} could not be removed: {error}", path.display()));
    }
    said.extend(SAID.lock().unwrap_or_else(PoisonError::into_inner).take());
    if said.is_empty() {
        said.push("nothing unfinished is left behind".to_owned());
    }
    format!("{how}: {}", said.join("; "))
}

/// Where the rest of the program waits while the thread above ends it.
pub fn wait_if_stopped() {
    while partials::is_stopped() {
        std::thread::park();
    }
}
