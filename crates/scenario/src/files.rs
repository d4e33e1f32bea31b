//! Where a scenario finds the files it names.

use super::diagnostic::Source;
use super::library;
use super::resolved::Attachment;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A folder, and files that stand in no folder because the scenario was made in memory. Clones share.
#[derive(Clone, Debug)]
pub struct Files {
    base: Arc<Path>,
    made: Arc<[Attachment]>,
    /// What was read, where it is kept.
    taken: Option<Arc<Mutex<Taken>>>,
}

/// What a scenario read, for a copy of it that needs no folder.
#[derive(Debug, Default)]
struct Taken {
    files: Vec<Attachment>,
    /// Something was read of the folder that is not among the files.
    more: bool,
}

impl Files {
    /// Names are relative to a folder.
    pub fn in_folder(base: &Path) -> Files {
        Files { base: base.into(), made: Arc::new([]), taken: None }
    }

    /// The same folder, with files that come before those in it.
    pub fn with(&self, made: Vec<Attachment>) -> Files {
        Files { made: made.into(), ..self.clone() }
    }

    /// The same files; what is read of them from now on is kept for [`Files::taken`].
    pub fn keeping(&self) -> Files {
        Files { taken: Some(Arc::default()), ..self.clone() }
    }

    /// Every file that was read, under the name by which the scenario asks for it. `None` if these are not all, as
    /// with traces of ranks, or if they were not kept.
    pub fn taken(&self) -> Option<Vec<Attachment>> {
        let taken = self.taken.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        (!taken.more).then(|| taken.files.clone())
    }

    fn take(&self, change: impl FnOnce(&mut Taken)) {
        if let Some(taken) = &self.taken {
            change(&mut taken.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// The folder itself, for what is found by looking through it.
    pub(crate) fn base(&self) -> &Path {
        self.take(|taken| taken.more = true);
        &self.base
    }

    /// Whether there is a file of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.made.iter().any(|made| made.name == name) || self.base.join(name).exists()
    }

    /// The file of that name, or why there is none and where it was looked for.
    pub fn read(&self, name: &str, largest_bytes: u64) -> Result<Arc<Source>, (String, String)> {
        let source = self.look_up(name, largest_bytes)?;
        self.take(|taken| {
            if taken.files.iter().all(|known| known.name != name) {
                taken.files.push(Attachment { name: name.to_owned(), source: source.clone() });
            }
        });
        Ok(source)
    }

    fn look_up(&self, name: &str, largest_bytes: u64) -> Result<Arc<Source>, (String, String)> {
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
