//! Puts the files under `data/` into the program, by name.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is"));
    let mut files = Vec::new();
    // Relative to the package: a project that reaches it by a link must not find other folders to watch.
    gather(Path::new("data"), "", &mut files);
    files.sort();
    assert!(files.len() > 100, "data/ is incomplete: {} files", files.len());
    let mut code = String::from("pub const FILES: xoff_scenario::library::Files = &[\n");
    for (name, path) in files {
        writeln!(code, "    ({name:?}, include_str!({:?})),", package.join(path).display().to_string())
            .expect("a text takes all");
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo says where to write")).join("inside.rs");
    fs::write(out, code).expect("cargo's own folder can be written");
}

fn gather(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let entry = entry.expect("a folder can be read");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // Links are followed: the folders themselves are at the root of the repository.
        if entry.path().is_dir() {
            gather(&entry.path(), &format!("{name}/"), files);
        } else {
            files.push((name, entry.path()));
        }
    }
}
