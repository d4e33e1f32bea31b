//! A result directory that is complete or absent.
//!
//! Everything is written into a hidden sibling, `.NAME.xoff-partial-PID-N`, which takes its final
//! name only when complete. The writer holds a lock on that directory; the kernel drops the lock when
//! the process dies, however it dies, so the next writer recognises what the dead left behind.

use super::manifest::Manifest;
use super::{about, disk, listing, note, ours, partials, place};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory being written. Dropped without [`Staging::finish`], it disappears.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    partial: PathBuf,
    stores: Vec<&'static str>,
    /// The hidden name no longer stands for what is being written.
    settled: bool,
    /// Held as long as this is: shows that the writer lives.
    _lock: Option<File>,
}

impl Staging {
    /// Prepares to write `target`. Refuses if something is there that Xoff did not write.
    pub fn create(target: &Path) -> io::Result<Staging> {
        let target = place::resolve(target)?;
        let (Some(name), Some(parent)) = (target.file_name(), target.parent()) else {
            return Err(super::refusal(&target, "is not the name of a directory"));
        };
        disk::create_dirs(parent)?;
        place::restore(&target);
        ours::check(&target)?;
        ours::sweep(parent, name);

        let partial = partials::hidden_name(&target)?;
        disk::create_dir(&partial)?;
        partials::enter(&partial, &target);
        // From here on dropping `staging` cleans up.
        let mut staging = Staging { target, partial, stores: Vec::new(), settled: false, _lock: None };
        let lock = File::open(&staging.partial).map_err(|error| about("cannot read", &staging.partial, &error))?;
        // Where there are no locks nobody takes us for dead either.
        let _ = lock.lock();
        staging._lock = Some(lock);
        listing::write(&Manifest::new(true), &staging.partial)?;
        Ok(staging)
    }

    /// Where to write for now.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Where it will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    pub fn write(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        disk::create(&self.partial.join(name))?.write_all(contents)
    }

    pub fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.partial.join(name);
        disk::create_dir(&path)?;
        Ok(path)
    }

    /// Gives a finished file of ours a second name in it, below folders that are made as needed.
    pub fn link(&self, from: &Path, name: &str) -> io::Result<()> {
        let to = self.partial.join(name);
        disk::create_dirs(to.parent().unwrap_or(&self.partial))?;
        disk::link(from, &to)
    }

    /// Takes over a folder of files that the old result has and the new one keeps.
    pub fn keep_store(&mut self, name: &'static str) -> io::Result<()> {
        link_all(&self.target.join(name), &self.partial.join(name))?;
        self.stores.push(name);
        Ok(())
    }

    /// Gives the directory its final name, in place of an older result if there is one.
    pub fn finish(mut self) -> io::Result<PathBuf> {
        listing::write(&Manifest::of(&self.partial, &self.stores)?, &self.partial)?;
        let placed = partials::settle(&self.partial, || place::place(&self.partial, &self.target));
        let old = match placed {
            Ok(old) => old,
            // It goes with the directory that it is a part of.
            Err(error) if partials::is_within_another(&self.target) => return Err(error),
            Err(error) => {
                self.settled = true;
                return Err(self.rescue(&error));
            }
        };
        self.settled = true;
        let parent = self.target.parent().unwrap_or(Path::new("."));
        let durable = disk::sync_dir(parent);
        if let Some(old) = old {
            discard(&old);
        }
        durable.map_err(|error| {
            let why = format!("{} is complete, but may not survive a loss of power: {error}", self.target.display());
            io::Error::new(error.kind(), why)
        })?;
        Ok(self.target.clone())
    }

    /// The new result is complete and cannot have its name: keeps it under another one.
    fn rescue(&self, error: &io::Error) -> io::Error {
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let spare = self.target.with_file_name(format!("{name}.new-{}-{}", std::process::id(), number()));
        let stands = if self.target.exists() { "; the old result stands" } else { "" };
        let rename = || disk::rename_new(&self.partial, &spare).or_else(|_| disk::rename(&self.partial, &spare));
        let kept = match partials::settle(&self.partial, rename) {
            Ok(()) => format!("the new one is complete in {}", spare.display()),
            Err(_) => format!("the new one is complete in {} until the next run to there", self.partial.display()),
        };
        io::Error::new(error.kind(), format!("{error}{stands}, {kept}"))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.settled {
            let _ = disk::remove_tree(&self.partial);
        }
        partials::leave(&self.partial);
    }
}

/// No two directories of one process have the same.
fn number() -> u32 {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// Removes an old result that has been replaced. What is not ours in it came after the last look, and stays.
fn discard(old: &Path) {
    match ours::remove(old) {
        Ok(true) => {}
        Ok(false) => {
            note(format!("the old result had something in it that Xoff did not write; it is kept in {}", old.display()))
        }
        Err(error) => note(format!("the old result is replaced, but part of it is left in {}: {error}", old.display())),
    }
}

/// The files under `from` get second names under `to`.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    disk::create_dir(to)?;
    let entries = super::manifest::sorted(from)?;
    for (_, entry) in entries {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().map_err(|error| about("cannot read", &path, &error))?.is_dir() {
            link_all(&path, &target)?;
        } else {
            disk::link(&path, &target)?;
        }
    }
    disk::sync_dir(to)
}
