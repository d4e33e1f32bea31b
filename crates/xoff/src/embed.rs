//! What a program that embeds this one, such as the Python package, asks of it without a command line.

use crate::cli::{Stop, compare, describe, reproduce};
use crate::schemes_text;
use crate::validate::times::Times;
use crate::validate::{self, ValidateOptions, Validation, report};
use serde_json::Value;
use std::path::Path;
use xoff_results::compare::Skipped;
use xoff_run::drive::Position;
use xoff_scenario::{Diagnostic, Options, Scenario, library};

type Result<T> = std::result::Result<T, Vec<Diagnostic>>;

/// Schemes, and the scenarios and workloads that come inside the program, can be named from now on.
pub fn provide() {
    xoff_schemes::install_all();
    library::provide(crate::inside::FILES);
}

/// Names of the schemes of a comparison, as `xoff compare --schemes` takes them, each tried on the scenario; of `all`,
/// those that cannot run there are the second list.
pub fn compared(scenario: &Scenario, options: &Options, wanted: &[String]) -> Result<(Vec<String>, Vec<Skipped>)> {
    let entries = compare::load_all(scenario, options, wanted).map_err(problems)?;
    Ok((entries.runs.into_iter().map(|runner| runner.scheme).collect(), entries.skipped))
}

/// What is wrong, of commands that only read.
fn problems(stop: Stop) -> Vec<Diagnostic> {
    match stop {
        Stop::BadInput(problems) => problems,
        Stop::RunFailed(why) => vec![Diagnostic::new(why)],
        Stop::System(error) => vec![Diagnostic::new(error.to_string())],
        Stop::BadUsage => vec![Diagnostic::new("the arguments are wrong")],
    }
}

/// Text of `xoff describe WORD` in so many columns.
pub fn describe(word: &str, width: usize) -> Result<String> {
    describe::of_word(word, width).map_err(|error| vec![error])
}

/// Output of `xoff schemes --json`.
pub fn schemes() -> Value {
    schemes_text::json(xoff_schemes::all())
}

/// Compares a folder of another simulator's runs with ours. Returns whether all are within tolerance, the output of
/// `xoff validate --json`, and the page. `watch` receives the progress of every run.
pub fn validate(
    folder: &Path,
    only: &[String],
    sets: &[String],
    watch: &(dyn Fn(Position) + Sync),
) -> Result<(bool, Value, String)> {
    let folders = [folder.to_owned()];
    let cases = validate::read(&folders, only, sets)?;
    let times = Times::of_all(&folders);
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let runs = validate::run(&cases, &ValidateOptions { jobs, times: &times }, &|_| watch)?;
    let timed = runs.iter().any(|run| run.seconds_theirs.is_some());
    let validation = Validation {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: reproduce::commit(Path::new(".")).unwrap_or_default(),
        sets: sets.to_vec(),
        times_from: if timed { times.source.clone() } else { String::new() },
        runs,
    };
    let value = serde_json::to_value(&validation).map_err(|error| vec![Diagnostic::new(error.to_string())])?;
    Ok((validation.held(), value, report::text(&validation, 100)))
}
