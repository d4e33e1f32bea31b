//! Files of the repository that are made from the program's own data are what it would write, and the scenario of its
//! README runs. `XOFF_UPDATE=1 cargo test -p xoff --test pages` writes the former.

mod common;

use common::Bench;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn assert_fresh(file: &str, fresh: &str) {
    let path = root().join(file);
    if std::env::var_os("XOFF_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "{file} is out of date; refresh it with\n  XOFF_UPDATE=1 cargo test -p xoff --test pages"
    );
}

#[test]
fn the_schema_is_fresh() {
    assert_fresh("schema/scenario.schema.json", &xoff_scenario::dictionary::schema::render());
}

#[test]
fn the_page_of_metrics_is_fresh() {
    assert_fresh("docs/metrics.md", &xoff_scenario::measure::registry::markdown());
}

#[test]
fn the_page_of_formats_is_fresh() {
    assert_fresh("docs/formats.md", &xoff_scenario::import::page::markdown());
}

#[test]
fn the_page_of_models_is_fresh() {
    assert_fresh("docs/models.md", &xoff::models::page::markdown());
}

#[test]
fn the_first_scenario_of_the_readme_warns_of_nothing() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let block = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(block.starts_with("name = \"small-fabric\""), "{block}");
    let bench = Bench::with("readme.toml", block);
    let page = bench.ok(&["run", "readme.toml", "--no-out", "--set", "traffic.0.flows=100"]);
    assert!(!page.contains("warning"), "{page}");
}
