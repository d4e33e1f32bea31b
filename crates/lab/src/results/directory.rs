//! A result directory that is complete or absent.
//!
//! Everything is written into a hidden sibling, `.NAME.xoff-partial-PID-N`, which takes its final
//! name only when complete. The writer holds a lock on a file in it; the kernel drops the lock
//! when the process dies, however it dies, so the next run recognises what the dead left behind.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Files of which one marks a finished directory.
pub const MARKERS: [&str; 3] = ["run.json", "comparison.json", "seeds.json"];
const LOCK: &str = ".writing";
const PARTIAL: &str = ".xoff-partial-";
const REPLACED: &str = ".xoff-replaced";
/// A partial directory may be seen between its making and its locking; younger ones are left alone.
const GRACE: Duration = Duration::from_secs(600);

/// A directory being written. Dropped without [`Staging::finish`], it disappears.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    partial: PathBuf,
    /// Held until the directory has its final name.
    lock: Option<File>,
}

impl Staging {
    /// Prepares to write `target`. Refuses if something is there that Xoff did not write.
    pub fn create(target: &Path) -> io::Result<Staging> {
        let target = std::path::absolute(target)?;
        let name = target.file_name().ok_or_else(|| refusal(&target, "is not the name of a directory"))?.to_owned();
        let parent = target.parent().ok_or_else(|| refusal(&target, "has no parent directory"))?.to_owned();
        check_replaceable(&target)?;
        fs::create_dir_all(&parent).map_err(|e| about("cannot create", &parent, &e))?;
        restore_replaced(&target);
        remove_stale(&parent, &name);

        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mut hidden = OsString::from(".");
        hidden.push(&name);
        hidden.push(format!("{PARTIAL}{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let partial = parent.join(hidden);
        fs::create_dir(&partial).map_err(|e| about("cannot create", &partial, &e))?;
        // From here on dropping `staging` cleans up.
        let mut staging = Staging { target, partial, lock: None };
        let lock = File::create(staging.partial.join(LOCK))?;
        lock.lock()?;
        staging.lock = Some(lock);
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

    /// Writes a whole file.
    pub fn write(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        let path = self.partial.join(name);
        fs::write(&path, contents).map_err(|e| about("cannot write", &path, &e))
    }

    /// Gives the directory its final name, in place of an older result if there is one.
    pub fn finish(mut self) -> io::Result<PathBuf> {
        if !is_finished(&self.partial) {
            return Err(refusal(&self.partial, "lacks the file that would mark it as finished"));
        }
        check_replaceable(&self.target)?;
        fs::remove_file(self.partial.join(LOCK))?;
        sync_files(&self.partial)?;
        let replaced = replaced_path(&self.target);
        if self.target.exists() {
            if replaced.exists() {
                fs::remove_dir_all(&replaced)?;
            }
            fs::rename(&self.target, &replaced)?;
        }
        fs::rename(&self.partial, &self.target).map_err(|e| about("cannot create", &self.target, &e))?;
        if let Some(parent) = self.target.parent() {
            sync_directory(parent)?;
        }
        self.lock = None;
        // The new result stands; a leftover of the old one is removed by the next run at the latest.
        let _ = fs::remove_dir_all(&replaced);
        Ok(self.target.clone())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After a successful `finish` the path no longer exists.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

/// Whether `path` is a directory that Xoff finished.
pub fn is_finished(path: &Path) -> bool {
    MARKERS.iter().any(|marker| path.join(marker).is_file())
}

/// Absent, empty or a finished result.
fn check_replaceable(target: &Path) -> io::Result<()> {
    match fs::read_dir(target) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => Err(refusal(target, "exists and is not a directory")),
        Err(e) => Err(about("cannot read", target, &e)),
        Ok(mut entries) => {
            if entries.next().is_none() || is_finished(target) {
                return Ok(());
            }
            Err(refusal(
                target,
                "exists and is not a finished Xoff result (it has no run.json); it is left alone, choose another directory",
            ))
        }
    }
}

fn replaced_path(target: &Path) -> PathBuf {
    let mut hidden = OsString::from(".");
    hidden.push(target.file_name().unwrap_or_default());
    hidden.push(REPLACED);
    target.with_file_name(hidden)
}

/// A run killed between the two renames leaves the old result under its hidden name: put it back.
fn restore_replaced(target: &Path) {
    let replaced = replaced_path(target);
    if !target.exists() && is_finished(&replaced) {
        let _ = fs::rename(&replaced, target);
    }
}

/// Removes partial directories of the same name whose writers are dead.
fn remove_stale(parent: &Path, name: &OsString) {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(PARTIAL);
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let hidden = entry.file_name();
        if hidden.as_encoded_bytes().starts_with(prefix.as_encoded_bytes()) && is_dead(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_dead(partial: &Path) -> bool {
    match File::open(partial.join(LOCK)) {
        Ok(file) => !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && old_or_locked_once(&file),
        Err(_) => {
            let age = fs::metadata(partial).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
            age.is_some_and(|age| age > GRACE)
        }
    }
}

/// The lock was free: its owner died, unless the file was made an instant ago and not locked yet.
fn old_or_locked_once(file: &File) -> bool {
    let age = file.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
    age.is_some_and(|age| age > Duration::from_secs(1))
}

/// Makes a directory and the files in it durable. Directories in it were finished on their own.
fn sync_files(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_directory(path)
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn refusal(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} {why}", path.display()))
}

fn about(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {}: {error}", path.display()))
}

/// A directory of its own for each test, removed afterwards.
#[cfg(test)]
pub(crate) mod scratch {
    use super::*;

    pub struct Scratch(pub PathBuf);

    impl Scratch {
        pub fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("xoff-test-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::scratch::Scratch;
    use super::*;

    fn entries(path: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn appears_only_when_finished_and_replaces_a_finished_one() {
        let scratch = Scratch::new("finish");
        let out = scratch.0.join("deep/out");
        for round in ["one", "two"] {
            let staging = Staging::create(&out).unwrap();
            staging.write("run.json", round.as_bytes()).unwrap();
            if round == "one" {
                assert!(!out.exists());
            } else {
                assert_eq!(fs::read_to_string(out.join("run.json")).unwrap(), "one");
            }
            assert_eq!(staging.finish().unwrap(), out);
            assert_eq!(fs::read_to_string(out.join("run.json")).unwrap(), round);
            assert_eq!(entries(&out), ["run.json"]);
        }
        assert_eq!(entries(out.parent().unwrap()), ["out"]);
    }

    #[test]
    fn leaves_foreign_directories_alone() {
        let scratch = Scratch::new("foreign");
        let out = scratch.0.join("out");
        fs::create_dir(&out).unwrap();
        drop(Staging::create(&out).expect("an empty directory may be filled"));
        fs::write(out.join("thesis.tex"), "years of work").unwrap();
        let error = Staging::create(&out).unwrap_err();
        assert!(error.to_string().contains("no run.json"), "{error}");
        assert_eq!(entries(&scratch.0), ["out"]);
        assert!(Staging::create(&out.join("thesis.tex")).unwrap_err().to_string().contains("not a directory"));
        assert!(Staging::create(Path::new("/")).is_err());
    }

    #[test]
    fn an_abandoned_run_leaves_nothing() {
        let scratch = Scratch::new("abandon");
        let staging = Staging::create(&scratch.0.join("out")).unwrap();
        staging.write("flows.parquet", b"half").unwrap();
        drop(staging);
        assert!(entries(&scratch.0).is_empty());
        let staging = Staging::create(&scratch.0.join("out")).unwrap();
        assert!(staging.finish().unwrap_err().to_string().contains("mark it as finished"));
        assert!(entries(&scratch.0).is_empty());
    }

    #[test]
    fn stale_partials_go_and_living_ones_stay() {
        let scratch = Scratch::new("stale");
        let out = scratch.0.join("out");
        let living = Staging::create(&out).unwrap();
        // What kill -9 leaves: a partial directory whose lock nobody holds, some time ago.
        let dead = scratch.0.join(".out.xoff-partial-1-0");
        fs::create_dir(&dead).unwrap();
        let lock = File::create(dead.join(LOCK)).unwrap();
        lock.set_modified(std::time::SystemTime::now() - Duration::from_secs(5)).unwrap();
        drop(lock);
        let other = Staging::create(&out).unwrap();
        assert!(!dead.exists());
        assert!(living.path().exists() && other.path().exists());
    }

    #[test]
    fn an_old_result_caught_between_two_renames_comes_back() {
        let scratch = Scratch::new("between");
        let hidden = scratch.0.join(".out.xoff-replaced");
        fs::create_dir(&hidden).unwrap();
        fs::write(hidden.join("run.json"), "old").unwrap();
        drop(Staging::create(&scratch.0.join("out")).unwrap());
        assert_eq!(entries(&scratch.0), ["out"]);
    }
}
