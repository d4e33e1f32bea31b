//! A directory that grows over several commands: a store of finished work, and a result made of it.

use super::manifest::Manifest;
use super::ours::{self, Found};
use super::{about, disk, listing, place, refusal};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// One command at work in such a directory; another one is refused.
#[derive(Debug)]
pub struct Workplace {
    path: PathBuf,
    /// On the folder of the store; the kernel drops it with the process.
    _lock: Option<File>,
}

impl Workplace {
    /// Makes the directory, or goes on in it. Refuses one that holds something else.
    pub fn open(path: &Path, store: &'static str) -> io::Result<Workplace> {
        let path = place::resolve(path)?;
        let parent = path.parent().unwrap_or(Path::new("/"));
        disk::create_dirs(parent)?;
        // Against others that come at the same instant.
        let _guard = place::lock_folder(parent);
        place::restore(&path);
        let mut manifest = match ours::check(&path)? {
            Found::Ours(manifest) => *manifest,
            Found::Absent => {
                disk::create_dir(&path)?;
                Manifest::new(false)
            }
            _ => Manifest::new(false),
        };
        if manifest.stores.insert(store.to_owned()) {
            listing::write(&manifest, &path)?;
        }
        let store = path.join(store);
        disk::create_dirs(&store)?;
        let lock = lock(&store, &path)?;
        Ok(Workplace { path, _lock: lock })
    }

    /// The directory itself, not the store in it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The folder that has this name now, locked; without a lock where there are none.
fn lock(folder: &Path, path: &Path) -> io::Result<Option<File>> {
    let same = |file: &File| -> io::Result<bool> {
        let (ours, named) = (file.metadata()?, fs::metadata(folder)?);
        Ok((ours.dev(), ours.ino()) == (named.dev(), named.ino()))
    };
    loop {
        let file = File::open(folder).map_err(|error| about("cannot read", folder, &error))?;
        match file.try_lock() {
            Ok(()) if same(&file)? => return Ok(Some(file)),
            // It was replaced between the two.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why = "is in use: another xoff is at work in it. Wait for it, or choose another with --out";
                return Err(refusal(path, why));
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}
