//! Files of the repository that are made from the program's own data.

/// A committed file must be what the program would write; `XOFF_UPDATE=1` writes it.
pub fn assert_fresh(file: &str, fresh: &str, tests: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("XOFF_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "{file} is out of date; refresh it with\n  XOFF_UPDATE=1 cargo test -p xoff --lib {tests}"
    );
}
