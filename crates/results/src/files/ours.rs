//! Whether a directory holds nothing but what Xoff wrote, and the removal of exactly that.

use super::manifest::{self, Manifest, sorted};
use super::{about, disk, partials, refusal};
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names that are told before the rest is only counted.
const NAMES_TOLD: usize = 10;
/// A partial may be seen between its making and its locking; younger ones are left alone.
const GRACE: Duration = Duration::from_secs(1);
/// Of looks at a directory that others keep replacing.
const ROUNDS: usize = 1000;

/// What is where a result shall be.
#[derive(Debug)]
pub enum Found {
    /// Nothing has this name.
    Absent,
    /// An empty directory, or one with nothing but leftovers of a killed writer.
    Free,
    /// A directory with nothing in it but what its manifest lists.
    Ours(Box<Manifest>),
    /// Without a manifest, and what is in it.
    Unmarked(Vec<String>),
    /// A manifest, and things that are not in it.
    Mixed(Vec<String>),
}

/// Looks at what is at `path`, which is not a symbolic link.
pub fn look(path: &Path) -> io::Result<Found> {
    // The time of its last change too: numbers are used again.
    let of = |found: fs::Metadata| (found.dev(), found.ino(), found.ctime(), found.ctime_nsec());
    let identity = || fs::metadata(path).map(of).ok();
    for _ in 1..ROUNDS {
        let before = identity();
        let found = look_once(path);
        // Another writer may have put its result there meanwhile: half of each is no sight of either.
        if identity() == before {
            return found;
        }
    }
    look_once(path)
}

fn look_once(path: &Path) -> io::Result<Found> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Absent),
        Err(error) => return Err(about("cannot read", path, &error)),
        Ok(found) if !found.is_dir() => return Err(refusal(path, "exists and is not a directory; it is left alone")),
        Ok(_) => {}
    }
    let manifest = Manifest::read(path).filter(|manifest| !manifest.writing);
    let mut strange = Vec::new();
    strangers(path, "", &manifest.clone().unwrap_or_else(|| Manifest::new(false)), &mut strange)?;
    // A file of that name that says nothing is somebody else's.
    if manifest.is_none() && fs::symlink_metadata(path.join(manifest::NAME)).is_ok() {
        strange.push(manifest::NAME.to_owned());
    }
    Ok(match (manifest, strange.is_empty()) {
        (Some(manifest), true) => Found::Ours(Box::new(manifest)),
        (None, true) => Found::Free,
        (None, false) => Found::Unmarked(strange),
        (Some(_), false) => Found::Mixed(strange),
    })
}

/// Refuses to touch a directory in which something would be lost.
pub fn check(path: &Path) -> io::Result<Found> {
    let found = look(path)?;
    let why = match &found {
        Found::Absent | Found::Free | Found::Ours(_) => return Ok(found),
        Found::Mixed(names) => format!(
            "holds what Xoff did not write: {}. It is left alone: move these away, or choose another directory with \
             --out",
            told(names)
        ),
        Found::Unmarked(names) if looks_like_an_older_result(path) => format!(
            "may be a result of an older Xoff, which did not note what it wrote (there is no file .xoff). It holds {} \
             and is left alone: remove it yourself if you do not need it, or choose another directory with --out",
            told(names)
        ),
        Found::Unmarked(names) => format!(
            "is not a result of Xoff (there is no file .xoff): it holds {}. It is left alone: choose another directory \
             with --out",
            told(names)
        ),
    };
    Err(refusal(path, &why))
}

/// The first of some names, and how many more there are.
fn told(names: &[String]) -> String {
    let first = names.iter().take(NAMES_TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_TOLD) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn looks_like_an_older_result(path: &Path) -> bool {
    ["run.json", "comparison.json", "reproduction.json"].iter().any(|name| path.join(name).is_file())
}

/// Adds the names of what is in `dir`, at `prefix` of the manifest's directory, and not of ours.
fn strangers(dir: &Path, prefix: &str, manifest: &Manifest, strange: &mut Vec<String>) -> io::Result<()> {
    for (path, name) in leftovers(dir)? {
        if is_alive(&path) {
            strange.push(format!("{prefix}{name} (being written)"));
        }
    }
    for (name, entry) in sorted(dir)? {
        let (path, name) = (entry.path(), format!("{prefix}{name}"));
        let kind = entry.file_type().map_err(|error| about("cannot read", &path, &error))?;
        if kind.is_file() && (name == manifest::NAME || manifest.files.contains_key(&name)) {
            let checksum = manifest.files.get(&name).and_then(Option::as_ref);
            if checksum.is_some_and(|checksum| !checksum.holds(&path).unwrap_or(false)) {
                strange.push(format!("{name} (changed since)"));
            }
        } else if kind.is_dir() && manifest.results.contains(&name) {
            match Manifest::read(&path) {
                Some(inner) => {
                    let mut within = Vec::new();
                    strangers(&path, "", &inner, &mut within)?;
                    strange.extend(within.into_iter().map(|inner| format!("{name}/{inner}")));
                }
                None => strange.push(name),
            }
        } else if kind.is_dir() && manifest.stores.contains(&name) {
            strangers_in_store(&path, &format!("{name}/"), strange)?;
        } else if kind.is_dir() && manifest.leads_to(&name) {
            strangers(&path, &format!("{name}/"), manifest, strange)?;
        } else {
            strange.push(if kind.is_dir() { format!("{name}/") } else { name });
        }
    }
    Ok(())
}

/// Whether a store may hold such a file: a record, or a table under a fingerprint.
fn is_of_store(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let is_fingerprint = |stem: &str| stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
    file.ends_with(".json") || file.strip_suffix(".parquet").is_some_and(is_fingerprint)
}

fn strangers_in_store(dir: &Path, prefix: &str, strange: &mut Vec<String>) -> io::Result<()> {
    for (name, entry) in sorted(dir)? {
        let (path, name) = (entry.path(), format!("{prefix}{name}"));
        let kind = entry.file_type().map_err(|error| about("cannot read", &path, &error))?;
        if kind.is_dir() {
            strangers_in_store(&path, &format!("{name}/"), strange)?;
        } else if !(kind.is_file() && is_of_store(&name)) {
            strange.push(name);
        }
    }
    Ok(())
}

/// Removes what the manifest of `dir` has, then `dir`. Whether all of it is gone.
pub fn remove(dir: &Path) -> io::Result<bool> {
    let manifest = Manifest::read(dir).unwrap_or_else(|| Manifest::new(false));
    clear(dir, "", &manifest)?;
    // Last, so that a removal that was cut short can be taken up again.
    if fs::read_dir(dir)
        .map_err(|error| about("cannot read", dir, &error))?
        .flatten()
        .any(|entry| entry.file_name() != manifest::NAME)
    {
        return Ok(false);
    }
    disk::remove_file(&dir.join(manifest::NAME))?;
    disk::remove_dir(dir)?;
    Ok(true)
}

fn clear(dir: &Path, prefix: &str, manifest: &Manifest) -> io::Result<()> {
    for (path, _) in leftovers(dir)? {
        remove_leftover(&path)?;
    }
    for (name, entry) in sorted(dir)? {
        let (path, name) = (entry.path(), format!("{prefix}{name}"));
        let kind = entry.file_type().map_err(|error| about("cannot read", &path, &error))?;
        if kind.is_file() && manifest.files.contains_key(&name) {
            disk::remove_file(&path)?;
        } else if kind.is_dir() && manifest.results.contains(&name) {
            remove(&path)?;
        } else if kind.is_dir() && manifest.stores.contains(&name) {
            clear_store(&path)?;
        } else if kind.is_dir() && manifest.leads_to(&name) {
            clear(&path, &format!("{name}/"), manifest)?;
            remove_if_empty(&path)?;
        }
    }
    Ok(())
}

fn clear_store(dir: &Path) -> io::Result<()> {
    for (path, _) in leftovers(dir)? {
        remove_leftover(&path)?;
    }
    for (name, entry) in sorted(dir)? {
        let (path, kind) = (entry.path(), entry.file_type().map_err(|error| about("cannot read", dir, &error))?);
        if kind.is_dir() {
            clear_store(&path)?;
        } else if kind.is_file() && is_of_store(&name) {
            disk::remove_file(&path)?;
        }
    }
    remove_if_empty(dir)
}

fn remove_if_empty(dir: &Path) -> io::Result<()> {
    match fs::read_dir(dir).map_err(|error| about("cannot read", dir, &error))?.next() {
        None => disk::remove_dir(dir),
        Some(_) => Ok(()),
    }
}

/// Hidden partial files and directories in `dir`.
fn leftovers(dir: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(|error| about("cannot read", dir, &error))? {
        let entry = entry.map_err(|error| about("cannot read", dir, &error))?;
        if partials::is_hidden_name(&entry.file_name(), None) {
            found.push((entry.path(), entry.file_name().to_string_lossy().into_owned()));
        }
    }
    Ok(found)
}

/// Whether the writer of a partial file or directory still holds its lock.
fn is_alive(path: &Path) -> bool {
    locked(path) == Some(true)
}

/// `None` if there is nothing that could be locked.
fn locked(path: &Path) -> Option<bool> {
    let kind = fs::symlink_metadata(path).ok()?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return None;
    }
    match File::open(path).ok()?.try_lock() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

/// The kernel drops a lock with its process, so a free lock has no owner; unless it was not taken yet.
fn is_dead(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|of| of.modified()).ok().and_then(|at| at.elapsed().ok());
    locked(path) == Some(false) && age.is_some_and(|age| age > GRACE)
}

/// Removes partial files and directories of this name whose writers are dead, and directories of other names that a
/// process of this very kernel was writing when it died.
pub(super) fn sweep(folder: &Path, name: &OsStr) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (hidden, path) = (entry.file_name(), entry.path());
        let of_this = partials::is_hidden_name(&hidden, Some(name));
        let of_another = || {
            partials::is_hidden_name(&hidden, None)
                && Manifest::read(&path).is_some_and(|manifest| manifest.is_written_here())
        };
        if (of_this || of_another()) && is_dead(&path) {
            // What cannot be removed now can the next time.
            let _ = remove_leftover(&path);
        }
    }
}

/// What a killed writer left: a file; a directory in the making; or the old result it had just replaced.
pub(super) fn remove_leftover(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        return disk::remove_file(path);
    }
    if Manifest::read(path).is_some_and(|manifest| manifest.writing) {
        return disk::remove_tree(path);
    }
    match look(path)? {
        Found::Ours(_) | Found::Free => remove(path).map(drop),
        _ => Ok(()),
    }
}
