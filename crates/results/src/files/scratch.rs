//! A folder of its own for what is only needed for a moment.

use super::disk;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Does something with an empty folder that nobody else has, and removes it.
pub fn with_folder<T>(what: &str, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("xoff-{what}-{}-{number}", std::process::id()));
    disk::create_dirs(&folder)?;
    let made = work(&folder);
    disk::remove_tree(&folder)?;
    made
}
