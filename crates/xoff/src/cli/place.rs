//! An imported scenario and the files it names, all written or none.

use std::io;
use std::path::{Path, PathBuf};
use xoff_results::files::whole::{self, Present};
use xoff_scenario::Attachment;
use xoff_scenario::import::Imported;

/// Writes the scenario to `path` and the files it names beside it. Gives the names of all of them.
pub fn scenario(imported: &Imported, path: &Path, present: Present) -> io::Result<Vec<PathBuf>> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut files: Vec<(PathBuf, &str)> =
        imported.files.iter().map(|Attachment { name, source }| (folder.join(name), source.text.as_str())).collect();
    // Last, so that a reader of the scenario finds what it names.
    files.push((path.to_owned(), imported.text.as_str()));
    whole::write_all(&files, present)?;
    Ok(files.into_iter().rev().map(|(path, _)| path).collect())
}
