//! Whether a result directory is whole: all that its manifest has is there, unchanged, and nothing else.

use std::path::{Path, PathBuf};
use xoff_results::files::manifest::Manifest;
use xoff_results::files::ours::{self, Found};

/// Panics with the reason if it is not.
pub fn assert_whole(path: &Path, context: &str) {
    match ours::look(path) {
        Ok(Found::Ours(manifest)) => assert_complete(path, &manifest, context),
        other => panic!("{} is no result: {other:?}\n{context}", path.display()),
    }
}

fn assert_complete(path: &Path, manifest: &Manifest, context: &str) {
    for name in manifest.files.keys() {
        assert!(path.join(name).is_file(), "{}: {name} is missing\n{context}", path.display());
    }
    for name in &manifest.results {
        assert_whole(&path.join(name), context);
    }
    for name in &manifest.stores {
        assert!(path.join(name).is_dir(), "{}: {name} is missing\n{context}", path.display());
    }
}

/// A copy with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
