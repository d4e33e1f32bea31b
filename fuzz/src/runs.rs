//! What earlier runs and other simulators left: the store of `reproduce`, run directories, references.

use super::files::{put, scratch, split};
use super::scenarios::{NOWHERE, refused};
use super::text;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use xoff::reproduce::store::{self, Origin};
use xoff::sweep::seal;
use xoff::validate::{queues, theirs::Theirs, times::Times};
use xoff_results::files::Present;
use xoff_results::read::RunDirectory;
use xoff_results::text::{Style, summary};
use xoff_results::{column::Table, tables as all};
use xoff_results::{export, trace};
use xoff_scenario::{Diagnostic, Loaded, Options, Scenario};

/// A finished run of `reproduce`: taken as it was written, or not at all. Its checksum would let nothing
/// through, so what is tried gets the right one.
pub fn store(bytes: &[u8]) -> bool {
    let Some(body) = text(bytes) else { return false };
    let path = put("store.json", seal::sealed(body).as_bytes());
    let origin = || Origin { inputs: "inputs".to_owned(), build: "build".to_owned(), any_build: true };
    let Some(run) = store::load(&path, &origin()) else { return false };
    let again = scratch().join("again.json");
    store::save(&again, &origin(), &run).expect("a temporary file");
    let back = store::load(&again, &origin()).expect("what was saved is there");
    assert_eq!(format!("{back:?}"), format!("{run:?}"), "kept as another run");
    true
}

/// The summary of a run directory.
pub fn run_json(bytes: &[u8]) -> bool {
    let path = put("summary/run.json", bytes);
    match RunDirectory::open(path.parent().expect("a folder")) {
        Ok(run) => !summary(&run.summary, Style::Plain, 80).is_empty(),
        Err(error) => refused(&[error]),
    }
}

/// The first byte chooses a table of a finished run, the others take its place; then everything that
/// reads tables does.
pub fn tables(bytes: &[u8]) -> bool {
    let Some((&which, content)) = bytes.split_first() else { return false };
    let folder = finished();
    let table = all::ALL[which as usize % all::ALL.len()];
    let path = folder.join(format!("{}.parquet", table.name));
    let original = std::fs::read(&path).ok();
    std::fs::write(&path, content).expect("a temporary file");
    let accepted = read_all(&folder, table);
    match original {
        Some(original) => std::fs::write(&path, original).expect("a temporary file"),
        None => std::fs::remove_file(&path).expect("it was just written"),
    }
    accepted
}

/// Whether the table itself can be read.
fn read_all(folder: &Path, table: &'static Table) -> bool {
    let run = RunDirectory::open(folder).expect("its summary is untouched");
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let accepted = match run.rows(table, &names) {
        Ok(mut batches) => batches.all(|batch| match batch {
            Ok(rows) => names
                .iter()
                .all(|name| rows.integers(name).is_ok() || rows.reals(name).is_ok() || rows.texts(name).is_ok()),
            Err(error) => refused(&[error]),
        }),
        Err(error) => refused(&[error]),
    };
    if let Err(errors) = export::hpcc::Export::of(&run) {
        refused(&errors);
    }
    let _ = trace::write(&run, &scratch().join("trace.perfetto"), Present::Replace);
    accepted
}

const SHORT: &str = include_str!("../seeds/scenario/recorded.toml");

thread_local! {
    static FINISHED: PathBuf = {
        let loaded = load(SHORT);
        let folder = scratch().join("run");
        xoff_results::execute::execute(&loaded, Some(&folder), |_| {}).expect("a temporary folder");
        folder
    };
}

/// A run with every table, made once for each thread.
fn finished() -> PathBuf {
    FINISHED.with(PathBuf::clone)
}

fn load(text: &str) -> Loaded {
    let loaded = Scenario::from_text("case.toml", text, Path::new(NOWHERE)).load(&Options::default());
    loaded.unwrap_or_else(|errors| panic!("{}", errors[0].render(false)))
}

/// The results that another simulator left, after lines `=== fct.txt`, `=== pfc.txt` and so on.
pub fn reference(bytes: &[u8]) -> bool {
    static PLAN: OnceLock<Loaded> = OnceLock::new();
    let Some(text) = text(bytes) else { return false };
    let folder = scratch().join("reference");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    for (name, text) in split(text, "fct.txt") {
        if ["fct.txt", "pfc.txt", "qlen.txt", "times.csv", "README.md"].contains(&name) {
            put(&format!("reference/{name}"), text.as_bytes());
        }
    }
    let plan = &PLAN.get_or_init(|| load(SHORT)).plan;
    let flows = answered(Theirs::read(&folder, plan));
    let queue = answered(queues::read(&folder, plan, 0, 1_000_000));
    let times = Times::of(&folder);
    assert!(times.seconds.values().all(|seconds| *seconds > 0.0), "{times:?}");
    flows && queue
}

/// Whether it is an answer; a refusal can be shown.
fn answered<T>(read: Result<T, Diagnostic>) -> bool {
    read.map_or_else(|error| refused(&[error]), |_| true)
}
