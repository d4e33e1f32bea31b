//! Files that are all written, or none.

use super::Imported;
use crate::scenario::Attachment;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Present {
    Refuse,
    Replace,
}

/// Writes the scenario to `path` and the files it names beside it. Gives the names of all of them.
pub fn scenario(imported: &Imported, path: &Path, present: Present) -> io::Result<Vec<PathBuf>> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut files: Vec<(PathBuf, &str)> =
        imported.files.iter().map(|Attachment { name, source }| (folder.join(name), source.text.as_str())).collect();
    // Last, so that whoever sees the scenario finds what it names.
    files.push((path.to_owned(), imported.text.as_str()));
    all(&files, present)?;
    Ok(files.into_iter().rev().map(|(path, _)| path).collect())
}

/// Writes every file under a hidden name first, then gives each its own, in this order.
pub fn all(files: &[(PathBuf, &str)], present: Present) -> io::Result<()> {
    for (path, _) in files {
        if path.is_dir() {
            return Err(about(path, "is a directory"));
        }
        if present == Present::Refuse && path.exists() {
            return Err(about(path, "is there already; --force replaces it"));
        }
    }
    let mut written: Vec<PathBuf> = Vec::new();
    let result = (|| {
        for (path, text) in files {
            let hidden = hidden(path)?;
            written.push(hidden.clone());
            fs::write(&hidden, text).map_err(|error| about(path, &format!("cannot be written: {error}")))?;
        }
        for ((path, _), hidden) in files.iter().zip(&written) {
            fs::rename(hidden, path).map_err(|error| about(path, &format!("cannot be written: {error}")))?;
        }
        Ok(())
    })();
    if result.is_err() {
        for hidden in written {
            let _ = fs::remove_file(hidden);
        }
    }
    result
}

fn hidden(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| about(path, "is not the name of a file"))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".xoff-partial-{}", std::process::id()));
    Ok(path.with_file_name(hidden))
}

fn about(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!("{} {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_none() {
        let folder = std::env::temp_dir().join(format!("xoff-import-place-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (one, two) = (folder.join("one"), folder.join("missing/two"));
        let error = all(&[(one.clone(), "1"), (two, "2")], Present::Refuse).unwrap_err();
        assert!(error.to_string().contains("cannot be written"), "{error}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "something was left behind");
        all(&[(one.clone(), "1")], Present::Refuse).unwrap();
        let error = all(&[(one.clone(), "2")], Present::Refuse).unwrap_err();
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(fs::read_to_string(&one).unwrap(), "1");
        all(&[(one.clone(), "2")], Present::Replace).unwrap();
        assert_eq!(fs::read_to_string(&one).unwrap(), "2");
        fs::remove_dir_all(&folder).unwrap();
    }
}
