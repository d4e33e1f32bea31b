//! Files of other simulators.

use super::files::split;
use super::scenarios::{NOWHERE, refused};
use super::text;
use std::path::Path;
use std::sync::Arc;
use xoff_scenario::files::Files;
use xoff_scenario::import::{self, Imported};
use xoff_scenario::{Attachment, Diagnostic, Options, Scenario, Source};

const SIMULATED_EVENTS: u64 = 2_000;

/// Imports a configuration of the HPCC authors' simulator.
pub fn hpcc(bytes: &[u8]) -> bool {
    // Told apart from a scenario by its text.
    configuration(bytes, import::hpcc::config::recognise, import::hpcc::import)
}

/// Imports a configuration of the TCD authors' simulator.
pub fn tcd(bytes: &[u8]) -> bool {
    configuration(bytes, import::tcd::recognise, import::tcd::import)
}

/// Imports a configuration of ConWeave's simulator.
pub fn conweave(bytes: &[u8]) -> bool {
    configuration(bytes, import::conweave::recognise, import::conweave::import)
}

type Import = fn(&Arc<Source>, &Files, Option<&str>) -> Result<Imported, Vec<Diagnostic>>;

/// Imports a configuration, and the files it names, each after a line `=== NAME`.
fn configuration(bytes: &[u8], recognise: fn(&str) -> bool, import: Import) -> bool {
    let Some(text) = text(bytes) else { return false };
    let file = |(name, text): &(&str, &str)| Attachment { name: (*name).to_owned(), source: Source::new(*name, *text) };
    let files: Vec<Attachment> = split(text, "config.txt").iter().map(file).collect();
    let config = files.iter().find(|file| file.name == "config.txt").map(|file| file.source.clone());
    let config = config.unwrap_or_else(|| Source::new("config.txt", ""));
    let _ = recognise(&config.text);
    accept(import(&config, &Files::in_folder(Path::new(NOWHERE)).with(files), None))
}

const STAR: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "star"
hosts = 6
rate = "100Gbps"
[[traffic]]
kind = "permutation"
"#;

/// A connection matrix, over a star of six hosts.
pub fn htsim(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let star = Scenario::from_text("star.toml", STAR, Path::new(NOWHERE));
    accept(import::htsim::import(&Source::new("matrix.cm", text), &star, None))
}

/// Hosts of the largest network that a command line may ask for here.
const HOSTS_MOST: u64 = 128;

/// Imports a command line of the Ultra Ethernet simulator, and its matrix after a line `=== matrix.cm`.
pub fn htsim_run(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let files = split(text, "arguments.txt");
    let of = |name: &str| files.iter().find(|(named, _)| *named == name).map_or("", |(_, text)| *text);
    let nodes = of("matrix.cm").split_whitespace().nth(1).and_then(|number| number.parse().ok());
    if nodes.is_some_and(|nodes: u64| nodes > HOSTS_MOST) {
        return false;
    }
    let [arguments, matrix] = ["arguments.txt", "matrix.cm"].map(|name| Source::new(name, of(name)));
    accept(import::htsim_run::import(&arguments, &matrix, None))
}

/// What is refused has its place; what is accepted loads and runs.
fn accept(imported: Result<Imported, Vec<Diagnostic>>) -> bool {
    let imported = match imported {
        Ok(imported) => imported,
        Err(errors) => {
            assert!(errors.iter().all(|error| error.line().is_some()), "refused without a line");
            return refused(&errors);
        }
    };
    imported.warnings.iter().for_each(|warning| assert!(!warning.render_warning_in(Some(80), true).is_empty()));
    let loaded = imported.scenario().load(&Options::default());
    let loaded = match loaded {
        Ok(loaded) => loaded,
        // What only the whole network tells, such as pauses that run out, is said of the user's file.
        Err(errors) => {
            let own = format!("{}.toml", imported.name);
            let theirs = |error: &Diagnostic| error.place.as_ref().is_some_and(|place| place.source.name != own);
            assert!(errors.iter().all(theirs), "the scenario is refused: {}\n{}", errors[0], imported.text);
            return refused(&errors);
        }
    };
    assert!(!xoff_scenario::check::report(&loaded).text().is_empty());
    let mut world = xoff_run::drive::build(&loaded);
    let _ = world.run(SIMULATED_EVENTS);
    if let Err(why) = world.check_conservation() {
        panic!("the books do not balance: {why}");
    }
    true
}
