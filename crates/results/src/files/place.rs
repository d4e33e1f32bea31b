//! A finished directory takes its name, in place of an older result if there is one.
//!
//! Two names are exchanged in one system call, so at every instant the name stands for the old result
//! or for the new one, both whole. File systems without such a call get two renames under a lock, and
//! the next writer puts back what a kill between the two has hidden.

use super::ours::{self, Found};
use super::{about, disk, partials};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Others may come and go between a look and the exchange; some writer wins in every round.
const ROUNDS: usize = 1000;
/// Renames take microseconds: whoever holds the lock longer is not one of us.
const PATIENCE: Duration = Duration::from_secs(10);

/// Gives `partial` the name `target`. The old result, if there was one, is where the answer says.
pub fn place(partial: &Path, target: &Path) -> io::Result<Option<PathBuf>> {
    for _ in 0..ROUNDS {
        match disk::rename_new(partial, target) {
            Ok(()) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if disk::is_unsupported(&error) => return place_in_two_steps(partial, target),
            Err(error) => return Err(error),
        }
        if matches!(ours::check(target)?, Found::Absent) {
            continue;
        }
        match disk::exchange(partial, target) {
            Ok(()) => return Ok(Some(partial.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !target.exists() => {}
            Err(error) if disk::is_unsupported(&error) => return place_in_two_steps(partial, target),
            Err(error) => return Err(error),
        }
    }
    Err(super::refusal(target, "is replaced by others all the time"))
}

fn place_in_two_steps(partial: &Path, target: &Path) -> io::Result<Option<PathBuf>> {
    let _lock = target.parent().and_then(lock_folder);
    if matches!(ours::check(target)?, Found::Absent) {
        disk::rename(partial, target)?;
        return Ok(None);
    }
    let replaced = partials::replaced_name(target)?;
    disk::rename(target, &replaced).map_err(|error| about("cannot replace", target, &error))?;
    match disk::rename(partial, target) {
        Ok(()) => Ok(Some(replaced)),
        Err(error) => match disk::rename(&replaced, target) {
            Ok(()) => Err(error),
            Err(back) => {
                let why = format!("{error}; the old result is in {} ({back})", replaced.display());
                Err(io::Error::new(error.kind(), why))
            }
        },
    }
}

/// Puts back an old result that a writer, killed between two renames, left under its hidden name.
pub fn restore(target: &Path) {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| partials::is_replaced_name(&entry.file_name(), name)) {
        let _lock = lock_folder(folder);
        if !target.exists() {
            let _ = disk::rename(&entry.path(), target);
        } else if entry.path().is_dir() {
            let _ = ours::remove_leftover(&entry.path());
        }
    }
}

/// An advisory lock on a folder itself, so that no file of it stays behind; the kernel drops it with the
/// process. Without one (network file systems) or after some patience things go on as they can.
pub fn lock_folder(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(_) => return None,
        }
    }
}

/// Where a result that is asked for at `path` goes: symbolic links are followed, never replaced.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.file_name().is_none() {
                return Err(super::refusal(&path, "is not the name of a directory"));
            }
            return Ok(path);
        }
        Err(error) => return Err(about("cannot read", &path, &error)),
        Ok(found) => {
            if found.is_symlink() && !path.exists() {
                let to = fs::read_link(&path).unwrap_or_default();
                let why = format!("is a symbolic link to {}, which is not there; it is left alone", to.display());
                return Err(super::refusal(&path, &why));
            }
        }
    }
    let real = fs::canonicalize(&path).map_err(|error| about("cannot read", &path, &error))?;
    if real.parent().is_none() {
        return Err(super::refusal(&real, "cannot be a result"));
    }
    if std::env::current_dir().and_then(fs::canonicalize).is_ok_and(|here| here.starts_with(&real)) {
        let why = "is the current directory or holds it. A result takes the place of a whole directory, which would \
                   pull it away from under your feet: name a directory in it with --out";
        return Err(super::refusal(&real, why));
    }
    Ok(real)
}
