//! `xoff compare`, and plain `xoff`: the same arrivals under several schemes.

use super::progress::Bars;
use super::{OutArgs, ScenarioArgs, ShowArgs, Stop, show, warn};
use crate::import;
use crate::results::Outcome;
use crate::results::compare::{self as side_by_side, Skipped};
use crate::results::directory::Staging;
use crate::run::execute;
use crate::scenario::{Diagnostic, Loaded, Options, Scenario};
use clap::Args;
use rayon::prelude::*;
use std::path::Path;

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Schemes to compare, NAME[:PRESET][+BASE[:PRESET]]; `all` is every one that can run here
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', default_value = "all")]
    schemes: Vec<String>,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    show: ShowArgs,
}

/// The newcomer's first minute.
const DEMO: &str = include_str!("../../../../scenarios/victim-flow.toml");

/// One of each kind: nothing, marks, delay, telemetry, and two that look for the victim.
const DEMO_SCHEMES: &[&str] = &["none", "dcqcn", "timely", "hpcc", "mercury", "pcn"];

pub fn demo() -> Result<(), Stop> {
    let scenario = Scenario::from_text("scenarios/victim-flow.toml", DEMO, Path::new("."));
    let names: Vec<String> = DEMO_SCHEMES.iter().map(|&name| name.to_owned()).collect();
    let entries = load_all(&scenario, &Options::default(), &names)?;
    show(&format!(
        "Xoff compares {} on the victim-flow scenario.\n\n\
         Two long flows and some mice share a link. F1 and the mice go on to a receiver that 14 other\n\
         hosts hit with a burst; F0 goes elsewhere and is innocent. PFC stops the shared link all the\n\
         same. F0 loses what PFC takes; does its congestion control take it for a culprit and cut it too?\n",
        names.join(", ")
    ))?;
    let out = Path::new("results").join("victim-flow-compared");
    run_all(&entries, Some(&out), &ShowArgs { json: false, quiet: false })?;
    show("\nAll schemes: xoff compare scenarios/victim-flow.toml --schemes all")
}

pub fn compare(args: &CompareArgs) -> Result<(), Stop> {
    let scenario = import::open(&args.scenario.scenario)?;
    let options = Options { sets: args.scenario.sets.clone(), seed: args.scenario.seed, scheme: None };
    let entries = load_all(&scenario, &options, &args.schemes)?;
    let out = args.out.directory(&format!("{}-compared", entries.runs[0].1.name));
    run_all(&entries, out.as_deref(), &args.show)
}

/// What takes part in a comparison, and what cannot.
struct Entries {
    /// At least one.
    runs: Vec<(String, Loaded)>,
    skipped: Vec<Skipped>,
}

/// The scenario under each scheme, all checked before any runs. A scheme named by its name must be
/// able to run; of `all`, those that cannot are left out with a reason.
fn load_all(scenario: &Scenario, options: &Options, wanted: &[String]) -> Result<Entries, Stop> {
    // What is wrong with the scenario itself is told before any scheme is blamed.
    scenario.load(options)?;
    let mut names: Vec<(String, bool)> = Vec::new();
    for name in wanted {
        let more: Vec<(String, bool)> = match name.trim() {
            "all" => xoff_schemes::all().iter().map(|spec| (spec.name.to_owned(), true)).collect(),
            "" => Vec::new(),
            name if names.iter().any(|(known, one_of_all)| known == name && !one_of_all) => {
                let error = Diagnostic::new(format!("--schemes names `{name}` twice"));
                return Err(error.help("a scheme runs once; give presets to tell two of them apart").into());
            }
            name => vec![(name.to_owned(), false)],
        };
        names.extend(
            more.into_iter().filter(|(name, _)| names.iter().all(|(known, _)| known != name)).collect::<Vec<_>>(),
        );
    }
    let mut entries = Entries { runs: Vec::new(), skipped: Vec::new() };
    for (name, one_of_all) in names {
        let options = Options { scheme: Some(name.clone()), ..options.clone() };
        match scenario.load(&options) {
            Ok(loaded) => match loaded.out_of_place().filter(|_| one_of_all) {
                Some(reason) => entries.skipped.push(Skipped { scheme: name, reason }),
                None => entries.runs.push((name, loaded)),
            },
            Err(errors) if one_of_all && !errors.is_empty() => {
                entries.skipped.push(Skipped { scheme: name, reason: errors[0].message.clone() });
            }
            Err(errors) => return Err(errors.into()),
        }
    }
    if entries.runs.is_empty() {
        return Err(Diagnostic::new("--schemes names no scheme that can run here").into());
    }
    Ok(entries)
}

/// Runs in parallel over the cores; results come in the order asked for.
fn run_all(entries: &Entries, out: Option<&Path>, shown: &ShowArgs) -> Result<(), Stop> {
    let Entries { runs, skipped } = entries;
    if !shown.quiet {
        warn(&runs[0].1.warnings);
    }
    let staging = out.map(Staging::create).transpose()?;
    let bars = Bars::new(shown.json || shown.quiet);
    let outcomes: std::io::Result<Vec<Outcome>> = runs
        .par_iter()
        .map(|(name, loaded)| {
            let bar = bars.add(name);
            let folder = staging.as_ref().map(|staging| staging.path().join(name.replace([':', '+'], "-")));
            let outcome = execute(loaded, folder.as_deref(), |at| bar.update(at));
            bar.finish();
            outcome.map(|mut outcome| {
                outcome.summary.scheme = name.clone();
                outcome
            })
        })
        .collect();
    let outcomes = outcomes?;
    let table = side_by_side::table(&outcomes, skipped);
    let directory = match staging {
        Some(staging) => Some(side_by_side::write(staging, &outcomes, skipped, true)?),
        None => None,
    };
    if shown.json {
        show(&side_by_side::json(&outcomes, skipped).to_string())?;
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
