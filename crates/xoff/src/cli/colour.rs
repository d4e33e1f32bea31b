//! Whether messages have colours.

use clap::ValueEnum;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// When messages have colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

static WHEN: AtomicU8 = AtomicU8::new(When::Auto as u8);

/// From now on.
pub fn set(when: When) {
    WHEN.store(when as u8, Relaxed);
}

/// Whether what goes to standard error has colours.
pub fn on_stderr() -> bool {
    let says = |name: &str, no: fn(&str) -> bool| std::env::var(name).is_ok_and(|value| no(&value));
    match WHEN.load(Relaxed) {
        when if when == When::Always as u8 => true,
        when if when == When::Never as u8 => false,
        // https://no-color.org: set, and not to nothing.
        _ => {
            std::io::stderr().is_terminal()
                && !says("NO_COLOR", |value| !value.is_empty())
                && !says("TERM", |value| value == "dumb")
        }
    }
}
