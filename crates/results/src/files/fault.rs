//! Faults of the file system on demand, for tests: only builds with debug assertions have them.
//!
//! Every change of the file system passes [`step`], which counts. `XOFF_FAULT=HOW@N` picks the N-th:
//!
//! - `error@N`: it fails, once;
//! - `full@N`: it and all later ones that need space fail, as on a full disk;
//! - `kill@N`: the process dies before it, as by `kill -9`;
//! - `never@0`: nothing happens.
//!
//! `XOFF_FAULT_LOG=FILE` gets a line for each. With `XOFF_FAULT_PLAIN=1` the file system can neither
//! exchange two names nor rename without replacing.

use std::io;
use std::path::Path;

/// What is done to the file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    MakeFolder,
    Create,
    Write,
    Sync,
    Rename,
    RenameNew,
    Exchange,
    Link,
    Remove,
}

impl Step {
    #[cfg(debug_assertions)]
    fn needs_space(self) -> bool {
        matches!(self, Step::MakeFolder | Step::Create | Step::Write | Step::Sync | Step::Link)
    }
}

#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn step(_: Step, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(debug_assertions)]
pub use armed::step;

#[cfg(debug_assertions)]
mod armed {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    enum How {
        Never,
        Error,
        Full,
        Kill,
    }

    struct Injection {
        how: How,
        at: u64,
        log: Option<File>,
        plain: bool,
    }

    fn injection() -> Option<Injection> {
        let text = std::env::var("XOFF_FAULT").ok()?;
        let (how, at) = text.split_once('@')?;
        let how = match how {
            "error" => How::Error,
            "full" => How::Full,
            "kill" => How::Kill,
            _ => How::Never,
        };
        let log = std::env::var_os("XOFF_FAULT_LOG").and_then(|path| File::create(path).ok());
        Some(Injection { how, at: at.parse().ok()?, log, plain: std::env::var_os("XOFF_FAULT_PLAIN").is_some() })
    }

    /// To be called before every change of the file system.
    pub fn step(step: Step, path: &Path) -> io::Result<()> {
        static INJECTION: OnceLock<Option<Injection>> = OnceLock::new();
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some(injection) = INJECTION.get_or_init(injection) else { return Ok(()) };
        let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(mut log) = injection.log.as_ref() {
            writeln!(log, "{number} {step:?} {}", path.display())?;
        }
        match injection.how {
            How::Kill if number == injection.at => {
                let own = rustix::process::getpid();
                let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
                // The signal comes before the next instruction that matters, or it never comes.
                std::process::abort();
            }
            _ if injection.plain && matches!(step, Step::RenameNew | Step::Exchange) => {
                Err(io::Error::from(rustix::io::Errno::INVAL))
            }
            How::Error if number == injection.at => Err(io::Error::from(rustix::io::Errno::IO)),
            How::Full if number >= injection.at && step.needs_space() => Err(io::Error::from(rustix::io::Errno::NOSPC)),
            _ => Ok(()),
        }
    }
}
