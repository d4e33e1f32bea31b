//! `xoff compare`, and plain `xoff`: the same arrivals under several schemes.

use super::progress::Bars;
use super::{OutArgs, ScenarioArgs, ShowArgs, Stop, show, warn};
use crate::results::directory::Staging;
use crate::results::{Outcome, compare as side_by_side};
use crate::run::execute;
use crate::scenario::{Diagnostic, Loaded, Options, Scenario};
use clap::Args;
use rayon::prelude::*;
use std::path::Path;

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Schemes to compare, NAME or NAME:PRESET; `all` is every one
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', default_value = "all")]
    schemes: Vec<String>,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    show: ShowArgs,
}

/// The newcomer's first minute.
const DEMO: &str = include_str!("../../../../scenarios/victim-flow.toml");

pub fn demo() -> Result<(), Stop> {
    let scenario = Scenario::from_text("scenarios/victim-flow.toml", DEMO, Path::new("."));
    let options = Options::default();
    let runs = load_all(&scenario, &options, &["all".to_owned()])?;
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    show(&format!(
        "Xoff compares {} on the victim-flow scenario.\n\n\
         Two long flows share a link. F1 goes on to a receiver that 14 other hosts hit with a burst;\n\
         F0 goes elsewhere and is innocent. PFC stops the shared link all the same: F0 is the victim.\n\
         How much does it lose, for how long, and does the congestion control help or harm?\n",
        names.join(", ")
    ))?;
    let out = Path::new("results").join("victim-flow-compared");
    run_all(&runs, Some(&out), &ShowArgs { json: false, quiet: false })
}

pub fn compare(args: &CompareArgs) -> Result<(), Stop> {
    let scenario = Scenario::open(&args.scenario.scenario)?;
    let options = Options { sets: args.scenario.sets.clone(), seed: args.scenario.seed, scheme: None };
    let runs = load_all(&scenario, &options, &args.schemes)?;
    let out = args.out.directory(&format!("{}-compared", runs[0].1.name));
    run_all(&runs, out.as_deref(), &args.show)
}

/// The scenario under each scheme, all checked before any runs.
fn load_all(scenario: &Scenario, options: &Options, wanted: &[String]) -> Result<Vec<(String, Loaded)>, Stop> {
    let mut names: Vec<String> = Vec::new();
    for name in wanted {
        let more: Vec<String> = match name.trim() {
            "all" => xoff_schemes::all().iter().map(|spec| spec.name.to_owned()).collect(),
            "" => Vec::new(),
            name => vec![name.to_owned()],
        };
        names.extend(more.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
    }
    if names.is_empty() {
        return Err(Diagnostic::new("--schemes names no scheme").into());
    }
    let load = |name: String| {
        let options = Options { scheme: Some(name.clone()), ..options.clone() };
        scenario.load(&options).map(|loaded| (name, loaded)).map_err(Stop::from)
    };
    names.into_iter().map(load).collect()
}

/// Runs in parallel over the cores; results come in the order asked for.
fn run_all(runs: &[(String, Loaded)], out: Option<&Path>, shown: &ShowArgs) -> Result<(), Stop> {
    if !shown.quiet {
        warn(&runs[0].1.warnings);
    }
    let staging = out.map(Staging::create).transpose()?;
    let bars = Bars::new(shown.json || shown.quiet);
    let outcomes: std::io::Result<Vec<Outcome>> = runs
        .par_iter()
        .map(|(name, loaded)| {
            let bar = bars.add(name);
            let folder = staging.as_ref().map(|staging| staging.path().join(name.replace(':', "-")));
            let outcome = execute(loaded, folder.as_deref(), |at| bar.update(at));
            bar.finish();
            outcome.map(|mut outcome| {
                outcome.summary.scheme = name.clone();
                outcome
            })
        })
        .collect();
    let outcomes = outcomes?;
    let table = side_by_side::table(&outcomes);
    let directory = match staging {
        Some(staging) => Some(side_by_side::write(staging, &outcomes, true)?),
        None => None,
    };
    if shown.json {
        show(&side_by_side::json(&outcomes).to_string())?;
    } else if !shown.quiet {
        let mut page = table.text();
        if let Some(directory) = directory {
            page.push_str(&format!("\nreport: {}\n", directory.join("report.html").display()));
        }
        show(&page)?;
    }
    let failed: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| {
            outcome.summary.failure.as_ref().map(|failure| format!("{}: {failure}", outcome.summary.scheme))
        })
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(Stop::RunFailed(failed.join("\n"))) }
}
