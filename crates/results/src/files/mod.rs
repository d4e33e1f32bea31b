//! Everything that is written to disk, and how it is read.
//!
//! One rule: what a reader finds under a name is whole, and nothing is removed that Xoff did not
//! write. Reading order: `disk` (the only calls that change the file system), [`manifest`] (what
//! Xoff wrote into a directory, with checksums), [`ours`] (whether a directory holds nothing else),
//! `place` (a finished directory takes its name), `staging` (a directory in the making), [`whole`]
//! (single files), [`workplace`] (a directory that grows over several commands), [`partials`] (what
//! to remove when the program is interrupted).

pub(crate) mod disk;
pub(crate) mod fault;
pub(crate) mod listing;
pub mod manifest;
pub mod notes;
pub mod ours;
pub mod partials;
mod place;
pub(crate) mod scratch;
pub(crate) mod staging;
#[cfg(test)]
mod tests;
pub mod whole;
pub mod workplace;

pub use listing::add;
pub use notes::note;
pub use staging::Staging;
pub use whole::Present;

use std::io;
use std::path::Path;

/// The same error with what was tried, and on what.
pub fn about(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(kind(error), format!("{what} {}: {error}", path.display()))
}

/// What kind of error it is. macOS has two numbers for what a file system cannot do, and the standard library knows
/// one of them.
fn kind(error: &io::Error) -> io::ErrorKind {
    match error.raw_os_error() {
        Some(number) if number == rustix::io::Errno::NOTSUP.raw_os_error() => io::ErrorKind::Unsupported,
        _ => error.kind(),
    }
}

/// Something is in the way, and stays.
pub fn refusal(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} {why}", path.display()))
}
