//! Whether messages have colours.

use clap::ValueEnum;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// When messages have colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

static WHEN: OnceLock<When> = OnceLock::new();

/// From now on; it is said once.
pub fn set(when: When) {
    WHEN.get_or_init(|| when);
}

/// Whether what goes to standard error has colours.
pub fn on_stderr() -> bool {
    let says = |name: &str, no: fn(&str) -> bool| std::env::var(name).is_ok_and(|value| no(&value));
    match WHEN.get().copied().unwrap_or(When::Auto) {
        When::Always => true,
        When::Never => false,
        // https://no-color.org: set, and not to nothing.
        When::Auto => {
            std::io::stderr().is_terminal()
                && !says("NO_COLOR", |value| !value.is_empty())
                && !says("TERM", |value| value == "dumb")
        }
    }
}
