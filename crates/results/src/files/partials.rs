//! What is being written and not yet whole, so that an interrupted program takes it away.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const INFIX: &str = ".xoff-partial-";
const REPLACED: &str = ".xoff-replaced-";

static LIST: Mutex<Vec<Entry>> = Mutex::new(Vec::new());
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Something under a hidden name, and the name it is meant to have.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) partial: PathBuf,
    /// What it will be called when it is whole.
    pub target: PathBuf,
}

fn list() -> MutexGuard<'static, Vec<Entry>> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `.NAME.xoff-partial-PID-N` beside `target`: no other writer has it.
pub(crate) fn hidden_name(target: &Path) -> io::Result<PathBuf> {
    hidden(target, INFIX)
}

/// The same for an old result that makes room.
pub(super) fn replaced_name(target: &Path) -> io::Result<PathBuf> {
    hidden(target, REPLACED)
}

fn hidden(target: &Path, infix: &str) -> io::Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = target.file_name().ok_or_else(|| super::refusal(target, "is not a name that can be written"))?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut hidden = prefix(name, infix);
    hidden.push(format!("{}-{number}", std::process::id()));
    Ok(target.with_file_name(hidden))
}

fn prefix(name: &OsStr, infix: &str) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(infix);
    prefix
}

/// Whether this is the hidden name of something: of `of`, or of anything.
pub(crate) fn is_hidden_name(name: &OsStr, of: Option<&OsStr>) -> bool {
    matches_infix(name, of, INFIX)
}

pub(super) fn is_replaced_name(name: &OsStr, of: &OsStr) -> bool {
    matches_infix(name, Some(of), REPLACED)
}

fn matches_infix(name: &OsStr, of: Option<&OsStr>, infix: &str) -> bool {
    let Some(text) = name.to_str() else { return false };
    let Some((stem, tail)) = text.rsplit_once(infix) else { return false };
    let numbers = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let ended = tail.split_once('-').is_some_and(|(pid, number)| numbers(pid) && numbers(number));
    let stem = stem.strip_prefix('.').filter(|stem| !stem.is_empty());
    ended && stem.is_some_and(|stem| of.is_none_or(|of| of == OsStr::new(stem)))
}

/// From now on an interrupted program removes `partial`.
pub(super) fn enter(partial: &Path, target: &Path) {
    list().push(Entry { partial: partial.to_owned(), target: target.to_owned() });
}

/// It has been removed, or is whole.
pub(super) fn leave(partial: &Path) {
    list().retain(|entry| entry.partial != partial);
}

/// Does what makes `partial` whole. An interruption comes before or after, never within.
pub(super) fn settle<T>(partial: &Path, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut list = list();
    let result = act();
    if result.is_ok() {
        list.retain(|entry| entry.partial != partial);
    }
    result
}

/// Whether `path` is in a directory that is itself in the making.
pub(super) fn is_within_another(path: &Path) -> bool {
    list().iter().any(|entry| path.starts_with(&entry.partial))
}

/// Refuses everything once the program is being interrupted.
pub(super) fn still_wanted() -> io::Result<()> {
    if STOPPED.load(Ordering::SeqCst) {
        // Not `ErrorKind::Interrupted`: that one asks to be tried again.
        return Err(io::Error::other("interrupted"));
    }
    Ok(())
}

/// Whether [`abandon`] was called: nothing can be written any more.
pub fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// Ends all writing and removes what is not whole. What was being written, and what could not be removed.
pub fn abandon() -> (Vec<Entry>, Vec<(PathBuf, io::Error)>) {
    let mut list = list();
    STOPPED.store(true, Ordering::SeqCst);
    let mut entries = std::mem::take(&mut *list);
    // What lies in another one goes with it.
    let all = entries.clone();
    entries.retain(|entry| {
        !all.iter().any(|other| other.partial != entry.partial && entry.target.starts_with(&other.partial))
    });
    let mut kept = Vec::new();
    for entry in &entries {
        // A thread may have been about to make one more file in it.
        let removed = (0..50).find_map(|_| match remove(&entry.partial) {
            Ok(()) => Some(()),
            Err(_) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
                None
            }
        });
        if removed.is_none()
            && let Err(error) = remove(&entry.partial)
        {
            kept.push((entry.partial.clone(), error));
        }
    }
    (entries, kept)
}

fn remove(path: &Path) -> io::Result<()> {
    let result = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
