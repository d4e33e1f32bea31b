//! `.xoff` in a directory: the names and checksums of all that Xoff wrote there.
//!
//! It is what tells a result of ours from a directory that merely looks like one.

use super::{about, disk, partials};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use xoff_scenario::read;

pub(crate) const NAME: &str = ".xoff";
const LARGEST_BYTES: u64 = 64_000_000;
const NOTE: &str = "Xoff wrote these files. It replaces this directory only while nothing else is in it.";

/// Before the kernel under which the writer runs.
const NOTE_WRITING: &str = "Xoff is writing this directory. Kernel: ";

/// What tells this start of this machine from all others; empty where the system does not say. Locks are known to all
/// processes of one kernel, whatever container they are in, and to nobody else for certain.
fn kernel() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

/// What `.xoff` holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub(crate) xoff: String,
    pub(crate) note: String,
    /// The directory is in the making: all in it is its writer's.
    pub(crate) writing: bool,
    /// By path within the directory, with `/`. Those without a checksum may have any content.
    pub files: BTreeMap<String, Option<Checksum>>,
    /// Folders with a manifest of their own.
    pub results: BTreeSet<String>,
    /// Folders of files that come and go and carry their own checksums: `.json`, and tables under a fingerprint.
    pub stores: BTreeSet<String>,
}

/// Length and CRC-32 of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checksum {
    pub(crate) bytes: u64,
    pub(crate) crc32: String,
}

impl Manifest {
    pub(crate) fn new(writing: bool) -> Manifest {
        Manifest {
            xoff: env!("CARGO_PKG_VERSION").to_owned(),
            note: if writing { format!("{NOTE_WRITING}{}", kernel()) } else { NOTE.to_owned() },
            writing,
            files: BTreeMap::new(),
            results: BTreeSet::new(),
            stores: BTreeSet::new(),
        }
    }

    /// That of a directory; `None` if it has none that can be read.
    pub(crate) fn read(dir: &Path) -> Option<Manifest> {
        let path = dir.join(NAME);
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        serde_json::from_str(&read::text(&path, LARGEST_BYTES).ok()?).ok()
    }

    /// Of all that is in a directory, which is made durable on the way.
    pub(crate) fn of(dir: &Path, stores: &[&str]) -> io::Result<Manifest> {
        let mut manifest = Manifest::new(false);
        manifest.stores = stores.iter().map(|&name| name.to_owned()).collect();
        manifest.gather(dir, "")?;
        Ok(manifest)
    }

    fn gather(&mut self, dir: &Path, prefix: &str) -> io::Result<()> {
        for (name, entry) in sorted(dir)? {
            let (path, name) = (entry.path(), format!("{prefix}{name}"));
            let kind = entry.file_type().map_err(|error| about("cannot read", &path, &error))?;
            if kind.is_dir() && path.join(NAME).is_file() {
                self.results.insert(name);
            } else if kind.is_dir() && self.stores.contains(&name) {
                continue;
            } else if kind.is_dir() {
                self.gather(&path, &format!("{name}/"))?;
            } else if name != NAME {
                let file = File::open(&path).map_err(|error| about("cannot read", &path, &error))?;
                self.files.insert(name, Some(Checksum::of(&path, &file)?));
                disk::sync_file(&path, &file)?;
            }
        }
        disk::sync_dir(dir)
    }

    /// Whether a process of this kernel writes or wrote the directory, so that its lock can be trusted.
    pub(super) fn is_written_here(&self) -> bool {
        self.writing && !kernel().is_empty() && self.note == Manifest::new(true).note
    }

    /// Whether a folder at this path within the directory leads to something of ours.
    pub(super) fn leads_to(&self, folder: &str) -> bool {
        let prefix = format!("{folder}/");
        self.files.range(prefix.clone()..).next().is_some_and(|(name, _)| name.starts_with(&prefix))
            || self.results.range(prefix.clone()..).next().is_some_and(|name| name.starts_with(&prefix))
    }
}

impl Checksum {
    fn of(path: &Path, file: &File) -> io::Result<Checksum> {
        let (mut hasher, mut bytes, mut buffer) = (crc32fast::Hasher::new(), 0, vec![0; 1 << 16]);
        let mut file = file;
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    hasher.update(&buffer[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(about("cannot read", path, &error)),
            }
        }
        Ok(Checksum { bytes, crc32: format!("{:08x}", hasher.finalize()) })
    }

    /// Whether the file at `path` still has this content.
    pub(crate) fn holds(&self, path: &Path) -> io::Result<bool> {
        let file = File::open(path).map_err(|error| about("cannot read", path, &error))?;
        let bytes = file.metadata().map_err(|error| about("cannot read", path, &error))?.len();
        Ok(bytes == self.bytes && Checksum::of(path, &file)? == *self)
    }
}

/// What is in a directory, by name; hidden leftovers of killed writers are none of it.
pub(super) fn sorted(dir: &Path) -> io::Result<Vec<(String, fs::DirEntry)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(|error| about("cannot read", dir, &error))? {
        let entry = entry.map_err(|error| about("cannot read", dir, &error))?;
        if !partials::is_hidden_name(&entry.file_name(), None) {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}
