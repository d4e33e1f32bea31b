//! Whether what is printed has colours.

use clap::{ColorChoice, ValueEnum};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// When there are colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

static WHEN: OnceLock<When> = OnceLock::new();

/// What `--color` says, looked for before anything is parsed: what is wrong with the arguments, and help, obey it
/// too.
pub fn look_for(words: impl Iterator<Item = OsString>) {
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let value = loop {
        let Some(word) = words.next() else { break None };
        match word.strip_prefix("--color") {
            Some("") => break words.next(),
            Some(rest) if rest.starts_with('=') => break Some(rest[1..].to_owned()),
            _ => {}
        }
    };
    let when = value.and_then(|value| When::from_str(&value, false).ok());
    WHEN.get_or_init(|| when.unwrap_or(When::Auto));
}

/// Whether what goes to standard error has colours.
pub fn on_stderr() -> bool {
    on(&std::io::stderr())
}

/// Whether what goes to standard output has colours.
pub fn on_stdout() -> bool {
    on(&std::io::stdout())
}

/// Colour choice for the parser of arguments.
pub fn choice() -> ColorChoice {
    match WHEN.get().copied().unwrap_or(When::Auto) {
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
        When::Auto => ColorChoice::Auto,
    }
}

fn on(stream: &impl IsTerminal) -> bool {
    let says = |name: &str, no: fn(&str) -> bool| std::env::var(name).is_ok_and(|value| no(&value));
    match WHEN.get().copied().unwrap_or(When::Auto) {
        When::Always => true,
        When::Never => false,
        // https://no-color.org: set, and not to nothing.
        When::Auto => {
            stream.is_terminal()
                && !says("NO_COLOR", |value| !value.is_empty())
                && !says("TERM", |value| value == "dumb")
        }
    }
}
