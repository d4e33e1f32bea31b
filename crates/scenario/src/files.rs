//! Where a scenario finds the files it names.

use super::diagnostic::Source;
use super::library;
use super::resolved::Attachment;
use std::path::Path;
use std::sync::Arc;

/// A folder, and files that stand in no folder because the scenario was made in memory. Clones share.
#[derive(Clone, Debug)]
pub struct Files {
    base: Arc<Path>,
    made: Arc<[Attachment]>,
}

impl Files {
    /// Names are relative to a folder.
    pub fn in_folder(base: &Path) -> Files {
        Files { base: base.into(), made: Arc::new([]) }
    }

    /// The same folder, with files that come before those in it.
    pub fn with(&self, made: Vec<Attachment>) -> Files {
        Files { base: self.base.clone(), made: made.into() }
    }

    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// Whether there is a file of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.made.iter().any(|made| made.name == name) || self.base.join(name).exists()
    }

    /// The file of that name, or why there is none and where it was looked for.
    pub fn read(&self, name: &str, largest_bytes: u64) -> Result<Arc<Source>, (String, String)> {
        if let Some(made) = self.made.iter().find(|made| made.name == name) {
            return Ok(made.source.clone());
        }
        let path = self.base.join(name);
        let shown = path.display().to_string();
        match library::text(&path, largest_bytes) {
            Ok(text) => Ok(Source::new(shown, text)),
            Err(why) => Err((why, shown)),
        }
    }
}
