//! Inputs that are several files, and readers that want theirs on a disk.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Splits a text at lines `=== NAME` into files; what precedes the first belongs to `first`.
pub fn split<'a>(text: &'a str, first: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut files = vec![(first, 0..0)];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match line.strip_prefix("=== ") {
            Some(name) => files.push((name.trim(), end..end)),
            None => files.last_mut().expect("never empty").1.end = end,
        }
        at = end;
    }
    files.into_iter().map(|(name, span)| (name, &text[span])).filter(|(_, text)| !text.is_empty()).collect()
}

thread_local! {
    static FOLDER: &'static Path = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        let number = THREADS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("xoff-fuzz-{}", std::process::id())).join(number.to_string());
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Box::leak(folder.into_boxed_path())
    };
}

/// A folder of this thread, made once. The bodies of one thread run one at a time.
pub fn scratch() -> &'static Path {
    FOLDER.with(|folder| *folder)
}

/// Writes a file of the scratch folder and gives its path.
pub fn put(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for temporary files");
    std::fs::write(&path, bytes).expect("a temporary file");
    path
}
