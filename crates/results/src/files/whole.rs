//! Files that are whole or absent: written under a hidden name, made durable, renamed.

use super::disk::{self, Out};
use super::{about, note, ours, partials, refusal};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Present {
    /// It stays, and writing fails.
    Refuse,
    /// The new one takes its name at one instant.
    Replace,
}

/// A file being written. Dropped before [`Pending::commit`], it disappears.
#[derive(Debug)]
pub struct Pending {
    target: PathBuf,
    partial: PathBuf,
    out: Option<Out>,
    /// The partial now holds the file that was replaced.
    exchanged: bool,
}

impl Pending {
    /// Begins to write `path`, in a folder that is made if need be.
    pub fn create(path: &Path) -> io::Result<Pending> {
        let target = resolve(path)?;
        let folder = target.parent().unwrap_or(Path::new(""));
        disk::create_dirs(folder)?;
        if let Some(name) = target.file_name() {
            ours::sweep(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }, name);
        }
        let (partial, out) = loop {
            let partial = partials::hidden_name(&target)?;
            match disk::create(&partial) {
                Ok(out) => break (partial, out),
                // Of a process that has our number on another machine, or had it in a container before us.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(about("cannot write", path, &error)),
            }
        };
        partials::enter(&partial, &target);
        // Where there are no locks nobody takes us for dead either.
        let _ = out.file().lock();
        Ok(Pending { target, partial, out: Some(out), exchanged: false })
    }

    /// Makes what was written durable, and tells its size.
    pub fn sync(&self) -> io::Result<u64> {
        let Some(out) = &self.out else { return Ok(0) };
        out.sync()?;
        out.bytes()
    }

    /// Gives the file its name.
    pub fn commit(mut self, present: Present) -> io::Result<()> {
        self.sync()?;
        self.place(present)?;
        self.settle()
    }

    /// Gives the file its name in a way that [`Pending::undo`] can take back.
    fn place(&mut self, present: Present) -> io::Result<()> {
        let exchanged = partials::settle(&self.partial, || put(&self.partial, &self.target, present))?;
        self.exchanged = exchanged;
        self.out = None;
        Ok(())
    }

    /// As it was before [`Pending::place`].
    fn undo(&self) -> io::Result<()> {
        match self.exchanged {
            true => {
                disk::exchange(&self.partial, &self.target)?;
                disk::remove_file(&self.partial)
            }
            false => disk::remove_file(&self.target),
        }
    }

    /// The name is ours for good.
    fn settle(&mut self) -> io::Result<()> {
        if self.exchanged
            && let Err(error) = disk::remove_file(&self.partial)
        {
            note(format!("the old {} is replaced, but left behind: {error}", self.target.display()));
        }
        disk::sync_dir(self.target.parent().filter(|of| !of.as_os_str().is_empty()).unwrap_or(Path::new(".")))
    }
}

/// Whether what was there is now under the hidden name.
fn put(partial: &Path, target: &Path, present: Present) -> io::Result<bool> {
    match disk::rename_new(partial, target) {
        Ok(()) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // Without such a call a file that appears at this instant is replaced.
        Err(error) if disk::is_unsupported(&error) && (present == Present::Replace || !target.exists()) => {
            return disk::rename(partial, target).map(|()| false);
        }
        Err(error) if !disk::is_unsupported(&error) => return Err(error),
        Err(_) => {}
    }
    if present == Present::Refuse {
        return Err(taken(target));
    }
    match disk::exchange(partial, target) {
        Ok(()) => Ok(true),
        Err(error) if disk::is_unsupported(&error) => disk::rename(partial, target).map(|()| false),
        Err(error) => Err(error),
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Some(out) => out.write(bytes),
            None => Err(io::Error::other("the file is closed")),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Once placed the hidden name is gone; or it has the old file, and the new one stands.
        if self.out.is_some() {
            let _ = disk::remove_file(&self.partial);
        }
        partials::leave(&self.partial);
    }
}

pub fn write(path: &Path, bytes: &[u8], present: Present) -> io::Result<()> {
    let mut pending = Pending::create(path)?;
    pending.write_all(bytes)?;
    pending.commit(present)
}

/// Writes several files, all or none; they take their names in this order.
pub fn write_all(files: &[(PathBuf, &str)], present: Present) -> io::Result<()> {
    refuse_present(files, present)?;
    let mut pending = Vec::new();
    for (path, text) in files {
        let mut file = Pending::create(path)?;
        file.write_all(text.as_bytes())?;
        file.sync()?;
        pending.push(file);
    }
    for number in 0..pending.len() {
        if let Err(error) = pending[number].place(present) {
            let undone: io::Result<Vec<()>> = pending[..number].iter().rev().map(Pending::undo).collect();
            return Err(match undone {
                Ok(_) => error,
                Err(also) => io::Error::new(error.kind(), format!("{error}; and what was written stays: {also}")),
            });
        }
    }
    pending.iter_mut().try_for_each(Pending::settle)
}

/// A symbolic link that was made; it disappears unless it is kept.
#[derive(Debug)]
pub struct Pointed(Option<PathBuf>);

impl Pointed {
    /// The link is to stay.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Pointed {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = disk::remove_file(path);
        }
    }
}

/// Makes `path` a symbolic link to a folder. Only another link is ever replaced.
pub fn point(path: &Path, to: &Path, present: Present) -> io::Result<Pointed> {
    match fs::read_link(path) {
        Ok(old) if old == to => return Ok(Pointed(None)),
        Ok(_) if present == Present::Replace => disk::remove_file(path)?,
        Ok(_) => return Err(taken(path)),
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            return Err(refusal(path, "is no symbolic link; it is left alone"));
        }
        Err(_) => {}
    }
    disk::create_dirs(path.parent().unwrap_or(Path::new("")))?;
    disk::point(to, path)?;
    Ok(Pointed(Some(path.to_owned())))
}

/// Refuses before anything is written what would be refused at its end.
pub fn refuse_present(files: &[(PathBuf, &str)], present: Present) -> io::Result<()> {
    for (path, _) in files {
        if resolve(path)?.exists() && present == Present::Refuse {
            return Err(taken(path));
        }
    }
    Ok(())
}

/// What is said if [`Present::Refuse`] is.
pub fn taken(path: &Path) -> io::Error {
    refusal(path, "is there already; --force replaces it")
}

/// The file that `path` names: symbolic links are followed, and only files are replaced.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    if path.file_name().is_none() {
        return Err(refusal(path, "is not the name of a file"));
    }
    let linked = match fs::symlink_metadata(path) {
        // What is wrong with the folder is told by whoever makes the file.
        Err(_) => return Ok(path.to_owned()),
        Ok(found) => found.is_symlink(),
    };
    let Ok(found) = fs::metadata(path) else {
        return Err(refusal(path, "is a symbolic link to a file that is not there; it is left alone"));
    };
    if found.is_dir() {
        return Err(refusal(path, "is a directory; name a file"));
    }
    if !found.is_file() {
        return Err(refusal(path, "is no regular file; it is left alone"));
    }
    match linked {
        true => fs::canonicalize(path).map_err(|error| about("cannot read", path, &error)),
        false => Ok(path.to_owned()),
    }
}
