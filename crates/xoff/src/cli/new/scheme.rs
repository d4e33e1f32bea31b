//! `xoff new scheme`: a scheme of one's own, as a Cargo project out of tree.

use crate::cli::{ForceArgs, Stop, show_page};
use clap::Args;
use std::path::{Path, PathBuf};
use xoff_results::files::whole::{self, Pointed};
use xoff_scenario::{Diagnostic, wrap};

#[derive(Args)]
pub struct SchemeArgs {
    /// Its name, as scenarios will spell it; the folder is made, or may be another place: work/my-idea
    name: PathBuf,
    /// The checkout of Xoff to build on [default: the one that this program was built from]
    #[arg(long, value_name = "CHECKOUT")]
    path: Option<PathBuf>,
    /// Make it a crate of the checkout, crates/NAME: what is compiled there need not be compiled again
    #[arg(long)]
    in_tree: bool,
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
    let checkout = Checkout::find(args.path.as_deref(), Path::new(env!("CARGO_MANIFEST_DIR")))?;
    let folder = if args.in_tree { checkout.crate_folder(&args.name)? } else { args.name.clone() };
    let package = if args.in_tree { "../xoff" } else { "crates/xoff" };
    let named = |text: &str| {
        let text = text.replace("my-idea", name).replace("my_idea", &module).replace("MyIdea", &type_name);
        let text = text.replace("XOFF", &format!("{{ path = {package:?} }}"));
        text.replace("RUST_VERSION", env!("CARGO_PKG_RUST_VERSION"))
    };
    let mut texts: Vec<(String, String)> =
        FILES.iter().map(|(file, text)| (file.replace("my_idea", &module), named(text))).collect();
    if !args.in_tree {
        // Settings are those of a workspace's root.
        texts[0].1.push_str(&(named(PROFILES) + &checkout.settings()));
        texts.push((".gitignore".to_owned(), "/crates\n/target\n/results\n".to_owned()));
        texts.push((".cargo/config.toml".to_owned(), checkout.target()));
        texts.extend(checkout.lock().map(|lock| ("Cargo.lock".to_owned(), lock)));
    }
    let texts: Vec<(PathBuf, &str)> = texts.iter().map(|(file, text)| (folder.join(file), text.as_str())).collect();
    whole::refuse_present(&texts, args.force.present())?;
    let linked = match args.in_tree {
        true => None,
        false => Some(whole::point(&folder.join("crates"), &checkout.root.join("crates"), args.force.present())?),
    };
    whole::write_all(&texts, args.force.present())?;
    linked.into_iter().for_each(Pointed::keep);
    let shown = folder.display();
    let root = checkout.root.display();
    let built = match args.in_tree {
        true => format!("It is a crate of the checkout {root}, and is built with it."),
        false => format!(
            "It builds on the checkout {root}: {shown}/crates is a link to its crates, and what is compiled there is not \
             compiled again ({shown}/.cargo/config.toml). --path names another."
        ),
    };
    show_page(&format!(
        "{shown} is written; the scheme is {shown}/src/{module}.rs.\n{}\n\n  cd {shown}\n  cargo test\n  \
         cargo run --release -- compare incast.toml --schemes none,dcqcn,{name}",
        wrap::folded(&built, wrap::columns())
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

/// What a scheme is compiled with: the sources of all crates.
struct Checkout {
    root: PathBuf,
}

impl Checkout {
    /// The one that is named, or that in which the program's own `package` was when it was built.
    fn find(named: Option<&Path>, package: &Path) -> Result<Checkout, Stop> {
        let whole = |root: &Path| root.join("crates/xoff/Cargo.toml").is_file() && root.join("Cargo.toml").is_file();
        let built_from = package.parent().filter(|crates| crates.ends_with("crates")).and_then(Path::parent);
        let root = match (named, built_from.filter(|root| whole(root))) {
            (Some(named), _) if whole(named) => std::path::absolute(named)?,
            (Some(named), _) => {
                let why = format!("{} is no checkout of Xoff: it has no crates/xoff", named.display());
                return Err(Diagnostic::new(why).into());
            }
            (None, Some(root)) => root.to_owned(),
            (None, None) => {
                let error = Diagnostic::new("a scheme of one's own is compiled with the sources of Xoff");
                let gone = match built_from {
                    Some(root) => format!("those that this program was built from are no longer at {}", root.display()),
                    None => "this program was not built from a checkout of them".to_owned(),
                };
                return Err(error.label(gone).help("name a checkout: --path CHECKOUT").into());
            }
        };
        // Without `..`, which means something else after `cd`.
        Ok(Checkout { root: root.canonicalize().unwrap_or(root) })
    }

    /// Where a crate of this name is in the tree.
    fn crate_folder(&self, name: &Path) -> Result<PathBuf, Stop> {
        if name.components().count() != 1 {
            let error = Diagnostic::new(format!("`{}` is a place, and --in-tree has one", name.display()));
            return Err(error.help("give a mere name; the folder is crates/NAME of the checkout").into());
        }
        Ok(self.root.join("crates").join(name))
    }

    /// What its crates take from their workspace, and how they are compiled. Cargo knows a crate by its place in the
    /// workspace and by these settings, so the project has the same and reaches the crates by a link: what is compiled
    /// in the checkout is not compiled again.
    fn settings(&self) -> String {
        let manifest = std::fs::read_to_string(self.root.join("Cargo.toml")).unwrap_or_default();
        manifest.find("\n[workspace.package]").map(|at| manifest[at..].to_owned()).unwrap_or_default()
    }

    /// The versions of all else that it is tested with.
    fn lock(&self) -> Option<String> {
        std::fs::read_to_string(self.root.join("Cargo.lock")).ok()
    }

    /// Cargo's settings, by which both share what is compiled.
    fn target(&self) -> String {
        let target = self.root.join("target").display().to_string();
        format!(
            "# What is compiled of other packages is the checkout's too. Without this file the project has a target \
             folder of its own.\n[build]\ntarget-dir = {target:?}\n"
        )
    }
}

/// How the scheme itself is compiled; the network is compiled together with it.
const PROFILES: &str = "
# Its own, with the crates of the checkout, which `crates` is a link to.
[workspace]
resolver = \"3\"

# The network is compiled together with your scheme, in this package: one unit of code is the fastest.
[profile.release.package.my-idea]
codegen-units = 1
debug = \"line-tables-only\"

# Tests simulate too.
[profile.dev.package.my-idea]
opt-level = 1

# All else as in the checkout, which need not compile it again.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_its_checkout_says_so() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(Checkout::find(None, own).is_ok_and(|found| found.root.join("crates/xoff").is_dir()));
        for (package, why) in [
            ("/nowhere/crates/xoff", "no longer at /nowhere"),
            ("/nowhere/registry/src/xoff-0.4.0", "not built from a checkout"),
        ] {
            let Err(Stop::BadInput(problems)) = Checkout::find(None, Path::new(package)) else { panic!("{package}") };
            let text = problems[0].to_string();
            assert!(text.contains(why) && text.contains("--path CHECKOUT"), "{text}");
        }
    }

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
