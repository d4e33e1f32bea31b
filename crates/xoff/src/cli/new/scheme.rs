//! `xoff new scheme`: a scheme of one's own, as a Cargo project out of tree.

use crate::cli::{ForceArgs, Stop, show_page};
use clap::Args;
use std::path::{Path, PathBuf};
use xoff_results::files::whole;
use xoff_scenario::Diagnostic;

#[derive(Args)]
pub struct SchemeArgs {
    /// Its name, as scenarios will spell it; the folder is made, or may be another place: work/my-idea
    name: PathBuf,
    /// Build on a checkout of Xoff in place of the published version
    #[arg(long, value_name = "CHECKOUT")]
    path: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
}

/// The project is one whose scheme is called `my-idea`.
const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("../../../templates/scheme/Cargo.toml.template")),
    ("README.md", include_str!("../../../templates/scheme/README.md")),
    ("incast.toml", include_str!("../../../templates/scheme/incast.toml")),
    ("src/main.rs", include_str!("../../../templates/scheme/src/main.rs")),
    (SCHEME, include_str!("../../../templates/scheme/src/my_idea.rs")),
    ("tests/against_none.rs", include_str!("../../../templates/scheme/tests/against_none.rs")),
];
const SCHEME: &str = "src/my_idea.rs";

/// Modules of these names cannot be.
const KEYWORDS: [&str; 39] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "else", "enum",
    "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut",
    "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "type", "use",
];

pub fn write(args: &SchemeArgs) -> Result<(), Stop> {
    let name = args.name.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (module, type_name) = names(name).map_err(|why| Diagnostic::new(format!("`{name}` {why}")))?;
    let (xoff, lock) = dependency(args.path.as_deref())?;
    let named = |text: &str| {
        let text = text.replace("my-idea", name).replace("my_idea", &module).replace("MyIdea", &type_name);
        text.replace("XOFF", &xoff).replace("RUST_VERSION", env!("CARGO_PKG_RUST_VERSION"))
    };
    let texts: Vec<(PathBuf, String)> =
        (FILES.iter().map(|(file, text)| (file.replace("my_idea", &module), named(text))))
            .chain([(".gitignore".to_owned(), "/target\n/results\n".to_owned())])
            .chain(lock.map(|lock| ("Cargo.lock".to_owned(), lock)))
            .map(|(file, text)| (args.name.join(file), text))
            .collect();
    let texts: Vec<(PathBuf, &str)> = texts.iter().map(|(path, text)| (path.clone(), text.as_str())).collect();
    whole::write_all(&texts, args.force.present())?;
    let shown = args.name.display();
    show_page(&format!(
        "{shown} is written; the scheme is {shown}/src/{module}.rs.\n\n  cd {shown}\n  cargo test\n  \
         cargo run --release -- compare incast.toml --schemes none,dcqcn,{name}"
    ))
}

/// The names of its module and type, or what is wrong with its own.
fn names(name: &str) -> Result<(String, String), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let pieces: Vec<&str> = name.split('-').collect();
    let letter = |piece: &&str| piece.starts_with(|c: char| c.is_ascii_lowercase());
    if !name.chars().all(plain) || pieces.iter().any(|piece| piece.is_empty()) || !pieces.first().is_some_and(letter) {
        return Err("is no name for a scheme: small letters, digits and hyphens, a letter first".to_owned());
    }
    if xoff_schemes::find(name).is_some() {
        return Err("is the name of a scheme already".to_owned());
    }
    let module = name.replace('-', "_");
    let upper = |piece: &&str| piece[..1].to_ascii_uppercase() + &piece[1..];
    let type_name: String = pieces.iter().map(upper).collect();
    let scheme = FILES.iter().find(|(file, _)| *file == SCHEME).map_or("", |(_, text)| text);
    let word = |c: char| !c.is_alphanumeric() && c != '_';
    let used = ["main", "test", "xoff", "core", "std", "alloc"].contains(&name)
        || KEYWORDS.contains(&module.as_str())
        || scheme.split(word).any(|used| used == type_name && used != "MyIdea");
    if used {
        return Err("means something else in Rust or in a scheme's file: choose another name".to_owned());
    }
    Ok((module, type_name))
}

/// What the project depends on, and the versions of all else that a checkout is tested with.
fn dependency(checkout: Option<&Path>) -> Result<(String, Option<String>), Stop> {
    let Some(checkout) = checkout else {
        return Ok((format!("{:?}", env!("CARGO_PKG_VERSION")), None));
    };
    let package = checkout.join("crates/xoff");
    if !package.join("Cargo.toml").is_file() {
        let error = Diagnostic::new(format!("{} is no checkout of Xoff: it has no crates/xoff", checkout.display()));
        return Err(error.into());
    }
    let lock = std::fs::read_to_string(checkout.join("Cargo.lock")).ok();
    let package = std::path::absolute(&package)?;
    Ok((format!("{{ path = {:?} }}", package.display().to_string()), lock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_rust() {
        assert_eq!(names("my-2nd-idea"), Ok(("my_2nd_idea".to_owned(), "My2ndIdea".to_owned())));
        for wrong in
            ["", "My", "my_idea", "2nd", "a--b", "-a", "a-", "a b", "é", "dcqcn", "async", "time", "params", "test"]
        {
            assert!(names(wrong).is_err(), "{wrong}");
        }
    }
}
