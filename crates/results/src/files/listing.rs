//! Writes manifests, and enters what is added to a directory later.

use super::manifest::{Manifest, NAME};
use super::whole::{self, Pending, Present};
use std::io::{BufWriter, IntoInnerError};
use std::path::Path;
use std::{fs, io};

/// Writes the manifest of a directory.
pub(super) fn write(manifest: &Manifest, dir: &Path) -> io::Result<()> {
    let text = serde_json::to_string_pretty(manifest).map_err(io::Error::other)?;
    whole::write(&dir.join(NAME), format!("{text}\n").as_bytes(), Present::Replace)
}

/// Writes a file that is made of the result in `dir`; it appears when it is complete. Within that directory it is entered
/// as added, and takes the place of an earlier one. What `fill` gives, and the length of the file.
pub fn add<T, E: From<io::Error>>(
    dir: &Path,
    file: &Path,
    present: Present,
    fill: impl FnOnce(&mut BufWriter<Pending>) -> Result<T, E>,
) -> Result<(T, u64), E> {
    let present = if lists(dir, file) { Present::Replace } else { present };
    if present == Present::Refuse && file.exists() && !file.is_dir() {
        return Err(whole::taken(file).into());
    }
    let mut out = BufWriter::new(Pending::create(file)?);
    let made = fill(&mut out)?;
    let out = out.into_inner().map_err(IntoInnerError::into_error)?;
    let bytes = out.sync()?;
    announce(dir, file)?;
    out.commit(present)?;
    Ok((made, bytes))
}

/// Whether the manifest of `dir` has `file`, which is a path within it, as something that was added later.
pub fn lists(dir: &Path, file: &Path) -> bool {
    let name = within(dir, file);
    name.is_some_and(|name| Manifest::read(dir).is_some_and(|manifest| manifest.files.get(&name) == Some(&None)))
}

/// Enters a file that is about to be added to a directory of ours. Others have no manifest and get none.
pub fn announce(dir: &Path, file: &Path) -> io::Result<()> {
    let (Some(name), Some(mut manifest)) = (within(dir, file), Manifest::read(dir)) else { return Ok(()) };
    if manifest.files.insert(name, None) != Some(None) {
        write(&manifest, dir)?;
    }
    Ok(())
}

fn within(dir: &Path, file: &Path) -> Option<String> {
    let folder = fs::canonicalize(file.parent().filter(|of| !of.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    // The folder may still have to be made.
    let folder =
        folder.or_else(|_| std::path::absolute(file).map(|file| file.parent().unwrap_or(dir).to_owned())).ok()?;
    let dirs = [fs::canonicalize(dir).ok()?, std::path::absolute(dir).ok()?];
    let inner = dirs.iter().find_map(|dir| folder.strip_prefix(dir).ok())?;
    let mut parts: Vec<&str> = inner.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    parts.push(file.file_name()?.to_str()?);
    Some(parts.join("/"))
}
