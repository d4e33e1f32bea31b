//! What benches share.

use std::path::Path;
use xoff_scenario::{Loaded, Options, Scenario};

/// One of the repository's scenarios.
pub fn load(file: &str, sets: &[&str], scheme: Option<&str>) -> Loaded {
    xoff_schemes::install_all();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios").join(file);
    let options = Options {
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        scheme: scheme.map(str::to_owned),
        ..Options::default()
    };
    let loaded = Scenario::open(&path).map_err(|error| vec![error]).and_then(|scenario| scenario.load(&options));
    loaded.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]))
}
