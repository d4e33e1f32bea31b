//! Files that come inside the program: scenarios, workloads, the papers' experiments and claims. A file on disk
//! under the same name goes before one that is inside.

use crate::read;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// Files by name, such as `scenarios/incast.toml`, in the order of their names.
pub type Files = &'static [(&'static str, &'static str)];

static FILES: OnceLock<Files> = OnceLock::new();

/// What is inside from now on. The program says it once, when it starts; without it nothing is inside.
pub fn provide(files: Files) {
    // Whoever came first has said it.
    let _ = FILES.set(files);
}

fn files() -> Files {
    FILES.get().copied().unwrap_or_default()
}

/// A path as files are called inside, if it can lead there: relative, and not above where it begins.
fn name_of(path: &Path) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(word) => words.push(word.to_str()?),
            Component::ParentDir => drop(words.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(words.join("/"))
}

/// The text of a file inside.
pub fn inside(path: &Path) -> Option<&'static str> {
    let name = name_of(path)?;
    let at = files().binary_search_by_key(&name.as_str(), |(name, _)| name).ok()?;
    Some(files()[at].1)
}

/// The text of a file on disk or inside, or why there is none.
pub fn text(path: &Path, largest_bytes: u64) -> Result<String, String> {
    match inside(path).filter(|_| !path.exists()) {
        Some(text) => Ok(text.to_owned()),
        None => read::text(path, largest_bytes),
    }
}

/// The bytes of a file on disk or inside, or why there are none.
pub fn bytes(path: &Path, largest_bytes: u64) -> Result<Vec<u8>, String> {
    match inside(path).filter(|_| !path.exists()) {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => read::bytes(path, largest_bytes),
    }
}

/// The entries of a folder on disk, or of one inside if there is none on disk.
pub fn entries(folder: &Path) -> Result<Vec<Entry>, String> {
    if !folder.is_dir() {
        let entries = entries_inside(folder);
        if !entries.is_empty() {
            return Ok(entries);
        }
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| read::reason(&error))? {
        let path = entry.map_err(|error| read::reason(&error))?.path();
        found.push(Entry { is_folder: path.is_dir(), path });
    }
    Ok(found)
}

fn entries_inside(folder: &Path) -> Vec<Entry> {
    let Some(prefix) = name_of(folder).map(|name| format!("{name}/")) else { return Vec::new() };
    let below = files().iter().filter_map(|(name, _)| name.strip_prefix(prefix.as_str()));
    let entry = |rest: &'static str| match rest.split_once('/') {
        Some((first, _)) => (first, true),
        None => (rest, false),
    };
    let entries: BTreeSet<(&str, bool)> = below.map(entry).collect();
    entries.into_iter().map(|(name, is_folder)| Entry { path: folder.join(name), is_folder }).collect()
}

/// Something in a folder.
pub struct Entry {
    /// The folder asked for included.
    pub path: PathBuf,
    /// Links are what they lead to.
    pub is_folder: bool,
}

/// Where the scenarios that have names are.
const SHELVES: [&str; 3] = ["scenarios", "scenarios/jobs", "scenarios/paths"];

/// The file that a user means by a path or by the mere name of a scenario: `victim-flow` is
/// `scenarios/victim-flow.toml`, here or inside, if nothing else is called so.
pub fn scenario(path: &Path) -> PathBuf {
    let is_name = path.components().count() == 1 && path.extension().is_none();
    let known = |path: &PathBuf| path.exists() || inside(path).is_some();
    let mut meant = SHELVES.iter().map(|shelf| Path::new(shelf).join(path).with_extension("toml"));
    if is_name && !path.exists() { meant.find(known).unwrap_or_else(|| path.to_owned()) } else { path.to_owned() }
}

/// The names of the scenarios that a mere name can mean.
pub fn scenarios() -> Vec<String> {
    let stem = |entry: Entry| Some(entry.path.file_stem()?.to_str()?.to_owned()).filter(|_| !entry.is_folder);
    SHELVES.iter().flat_map(|shelf| entries(Path::new(shelf)).unwrap_or_default()).filter_map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: Files = &[("a/b.toml", "x = 1"), ("a/c/d.toml", "y = 2"), ("scenarios/made-up.toml", "z = 3")];

    #[test]
    fn what_is_inside_is_found_where_nothing_is_on_disk() {
        provide(INSIDE);
        assert_eq!(text(Path::new("./a/c/../b.toml"), 100).as_deref(), Ok("x = 1"));
        assert!(text(Path::new("a/e.toml"), 100).is_err() && inside(Path::new("/a/b.toml")).is_none());
        assert!(inside(Path::new("../a/b.toml")).is_none());
        let found: Vec<_> = entries(Path::new("a")).unwrap().into_iter().map(|e| (e.path, e.is_folder)).collect();
        assert_eq!(found, [(PathBuf::from("a/b.toml"), false), (PathBuf::from("a/c"), true)]);
        assert!(entries(Path::new("no-such-folder")).is_err());
        assert_eq!(scenario(Path::new("made-up")), Path::new("scenarios/made-up.toml"));
        assert_eq!(scenario(Path::new("a/b")), Path::new("a/b"));
        assert_eq!(scenario(Path::new("unknown")), Path::new("unknown"));
        assert!(scenarios().contains(&"made-up".to_owned()));
    }

    #[test]
    fn a_file_on_disk_goes_before_one_inside() {
        provide(INSIDE);
        // Of this crate, whose folder tests run in.
        assert!(text(Path::new("Cargo.toml"), 100_000).unwrap().contains("xoff-scenario"));
    }
}
