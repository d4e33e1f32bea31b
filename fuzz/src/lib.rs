//! What is fuzzed: everything that reads a file or an argument, each as a function of bytes that must
//! return, whatever the bytes, and says whether they were accepted.
//!
//! The bodies need nothing of libFuzzer, so that the test suite replays the corpus through the same
//! functions on a stable toolchain (`crates/xoff/tests/corpus.rs`). `targets.txt` names where seeds are.

mod claims;
mod files;
mod frames;
mod imports;
mod runs;
mod scenarios;
mod traces;

/// A target's name and what it does with some bytes.
pub type Target = (&'static str, fn(&[u8]) -> bool);

pub const TARGETS: &[Target] = &[
    ("scenario", scenarios::scenario),
    ("set", scenarios::set),
    ("quantity", scenarios::quantity),
    ("flow_list", scenarios::flow_list),
    ("cdf", scenarios::cdf),
    ("expression", claims::expression),
    ("experiment", claims::experiment),
    ("claims", claims::claims),
    ("deviations", claims::deviations),
    ("model", claims::model),
    ("hpcc", imports::hpcc),
    ("tcd", imports::tcd),
    ("conweave", imports::conweave),
    ("htsim", imports::htsim),
    ("htsim_run", imports::htsim_run),
    ("store", runs::store),
    ("run_json", runs::run_json),
    ("tables", runs::tables),
    ("reference", runs::reference),
    ("frame", frames::frame),
    ("chakra", traces::chakra),
];

/// Runs one target.
pub fn run(name: &str, bytes: &[u8]) -> bool {
    xoff_schemes::install_all();
    let target = TARGETS.iter().find(|target| target.0 == name);
    let (_, run) = target.unwrap_or_else(|| panic!("there is no target `{name}`"));
    run(bytes)
}

/// Readers take text; what is not UTF-8 is refused before them, by one function.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
