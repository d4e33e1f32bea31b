//! `xoff new scenario`: a commented scenario to change.

use crate::cli::{ForceArgs, Stop, show_page};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use xoff_results::files::whole;
use xoff_scenario::import::plain_name;
use xoff_scenario::library;

#[derive(Args)]
pub struct ScenarioArgs {
    /// Its name; the file is NAME.toml
    name: PathBuf,
    /// What it is about
    #[arg(long, value_enum, default_value_t = Kind::Incast)]
    kind: Kind,
    #[command(flatten)]
    force: ForceArgs,
}

/// Scenarios to begin with.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Many hosts answer one at the same time
    Incast,
    /// Background traffic and incasts on an oversubscribed leaf-spine
    LeafSpine,
    /// WebSearch flows on a fat tree of 320 hosts
    FatTree,
    /// Two data centres and a long link
    TwoDatacentres,
    /// An innocent flow behind a congestion tree
    Victim,
}

impl Kind {
    /// The scenario that it begins with.
    fn file(self) -> &'static str {
        match self {
            Kind::Incast => "scenarios/incast.toml",
            Kind::LeafSpine => "scenarios/leaf-spine-mixed.toml",
            Kind::FatTree => "scenarios/fat-tree-websearch.toml",
            Kind::TwoDatacentres => "scenarios/two-datacentres.toml",
            Kind::Victim => "scenarios/victim-flow.toml",
        }
    }
}

pub fn write(args: &ScenarioArgs) -> Result<(), Stop> {
    let path = if args.name.extension().is_some_and(|end| end == "toml") {
        args.name.clone()
    } else {
        PathBuf::from(format!("{}.toml", args.name.display()))
    };
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let text = named(library::inside(Path::new(args.kind.file())).unwrap_or_default(), &plain_name(&stem, "scenario"));
    whole::write(&path, text.as_bytes(), args.force.present())?;
    let shown = path.display();
    show_page(&format!(
        "{shown} is written.\n\n  xoff check {shown}\n  xoff run {shown}\n  xoff compare {shown} --schemes none,dcqcn,hpcc"
    ))
}

/// The text of a scenario under another name, which precedes its tables.
fn named(text: &str, name: &str) -> String {
    let (head, tables) = text.split_at(text.find("\n[").map_or(text.len(), |end| end + 1));
    let line = |line: &str| match line.starts_with("name = ") {
        true => format!("name = \"{name}\"\n"),
        false => format!("{line}\n"),
    };
    head.lines().map(line).chain([tables.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_scenario::{Options, Scenario};

    #[test]
    fn every_kind_loads_under_its_new_name() {
        library::provide(crate::inside::FILES);
        for kind in Kind::value_variants() {
            let original = library::inside(Path::new(kind.file())).unwrap();
            let text = named(original, "my-own");
            assert_eq!(text.lines().count(), original.lines().count(), "{}", kind.file());
            let loaded = Scenario::from_text("my-own.toml", text, Path::new(".")).load(&Options::default()).unwrap();
            assert_eq!(loaded.name, "my-own");
        }
    }
}
