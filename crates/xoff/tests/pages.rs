//! Files of the repository that are made from the program's own data are what it would write.
//! `XOFF_UPDATE=1 cargo test -p xoff --test pages` writes them.

use std::path::Path;

fn assert_fresh(file: &str, fresh: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
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
