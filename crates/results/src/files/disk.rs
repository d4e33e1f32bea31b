//! The only calls that change the file system. Their errors name what was tried, and on what.

use super::fault::{Step, step};
use super::{about, kind, partials};
use rustix::fs::{CWD, RenameFlags, renameat_with, symlinkat};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn attempt<T>(what: Step, words: &str, path: &Path, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    partials::still_wanted()?;
    step(what, path).and_then(|()| act()).map_err(|error| about(words, path, &error))
}

/// Makes a folder that must not be there.
pub fn create_dir(path: &Path) -> io::Result<()> {
    attempt(Step::MakeFolder, "cannot create", path, || fs::create_dir(path))
}

/// Makes a folder and those above it, where they are missing.
pub fn create_dirs(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    attempt(Step::MakeFolder, "cannot create", path, || fs::create_dir_all(path))
}

/// Makes a file that must not be there.
pub fn create(path: &Path) -> io::Result<Out> {
    let open = || OpenOptions::new().write(true).create_new(true).open(path);
    let file = attempt(Step::Create, "cannot create", path, open)?;
    Ok(Out { file, path: path.to_owned() })
}

/// Gives a file or directory another name; a file of that name is replaced.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    attempt(Step::Rename, "cannot write", to, || fs::rename(from, to))
}

/// Gives a file or directory a name that nothing has; [`io::ErrorKind::AlreadyExists`] if something has.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    attempt(Step::RenameNew, "cannot write", to, || Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?))
}

/// Two names swap what they stand for, at one instant.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    attempt(Step::Exchange, "cannot replace", other, || Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?))
}

/// Whether the file system cannot do what [`rename_new`] and [`exchange`] ask for.
pub fn is_unsupported(error: &io::Error) -> bool {
    matches!(kind(error), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

/// A symbolic link to a folder.
pub fn point(to: &Path, path: &Path) -> io::Result<()> {
    attempt(Step::Link, "cannot write", path, || Ok(symlinkat(to, CWD, path)?))
}

/// A second name for a file; a copy where there are no second names.
pub fn link(from: &Path, to: &Path) -> io::Result<()> {
    attempt(Step::Link, "cannot write", to, || {
        fs::hard_link(from, to).or_else(|_| {
            fs::copy(from, to)?;
            File::open(to)?.sync_all()
        })
    })
}

/// Removes a file; it may be gone already.
pub fn remove_file(path: &Path) -> io::Result<()> {
    attempt(Step::Remove, "cannot remove", path, || gone(fs::remove_file(path)))
}

/// Removes an empty folder; it may be gone already.
pub fn remove_dir(path: &Path) -> io::Result<()> {
    attempt(Step::Remove, "cannot remove", path, || gone(fs::remove_dir(path)))
}

/// Removes a folder of Xoff's own making with all that is in it.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    attempt(Step::Remove, "cannot remove", path, || gone(fs::remove_dir_all(path)))
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes the names in a folder survive a loss of power.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    attempt(Step::Sync, "cannot sync", path, || match File::open(path)?.sync_all() {
        // Some file systems know no such thing for folders.
        Err(error) if is_unsupported(&error) => Ok(()),
        other => other,
    })
}

/// Makes the bytes of a file survive a loss of power.
pub fn sync_file(path: &Path, file: &File) -> io::Result<()> {
    attempt(Step::Sync, "cannot sync", path, || file.sync_all())
}

#[derive(Debug)]
pub struct Out {
    file: File,
    path: PathBuf,
}

impl Out {
    pub fn sync(&self) -> io::Result<()> {
        sync_file(&self.path, &self.file)
    }

    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata().map_err(|error| about("cannot read", &self.path, &error))?.len())
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Out { file, path } = self;
        attempt(Step::Write, "cannot write", path, || file.write(bytes))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
