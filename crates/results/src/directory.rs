//! Result directories: what tells that one is finished. How they are written is in [`crate::files`].

pub use crate::files::Staging;
use std::path::Path;

/// Files of which one marks a finished directory.
pub const MARKERS: [&str; 3] = ["run.json", "comparison.json", "seeds.json"];

/// Whether `path` is a directory that Xoff finished.
pub fn is_finished(path: &Path) -> bool {
    MARKERS.iter().any(|marker| path.join(marker).is_file())
}

/// A directory of its own for each test, removed afterwards.
#[doc(hidden)]
pub mod scratch {
    use std::fs;
    use std::path::PathBuf;

    pub struct Scratch(pub PathBuf);

    impl Scratch {
        pub fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("xoff-test-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
