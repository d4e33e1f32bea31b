//! `xoff compare`, and plain `xoff`: the same arrivals under several schemes.

use super::seeds::{Plan, Runner, SeedArgs, failures};
use super::typed::command;
use super::{FidelityArgs, OutArgs, ScenarioArgs, ShowArgs, Stop, show, show_summary, warn};
use clap::Args;
use std::path::Path;
use xoff_results::compare::{self as side_by_side, Skipped};
use xoff_results::comparison;
use xoff_results::directory::Staging;
use xoff_results::fidelity;
use xoff_results::names::scheme_label;
use xoff_results::outcome::Kind;
use xoff_scenario::{Diagnostic, Options, Scenario, import, library, spelled, wrap};

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Schemes to compare, NAME[:PRESET][+BASE[:PRESET]], each with parameters in braces if it is to have others:
    /// 'dcqcn,hpcc{eta=0.9},dcqcn:nic{kmax=400KB}'; `all` is every one that can run here
    /// [default: all; with two fidelities the scenario's]
    #[arg(long, value_name = "A,B,C")]
    schemes: Vec<String>,
    /// `packet`, `flow`, or `packet,flow`: what flow level gets wrong on this scenario [default: the scenario's]
    #[arg(long, value_name = "LEVELS", value_parser = ["packet", "flow", "packet,flow"])]
    fidelity: Option<String>,
    /// Run at flow level even where that is known to be far from packet level
    #[arg(long)]
    out_of_range: bool,
    #[command(flatten)]
    seeds: SeedArgs,
    /// Differences below this share do not matter, such as 3% [default: 2% of means and job times, 5% of percentiles]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    delta: Option<f64>,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    show: ShowArgs,
}

/// `3%`, or `0.03`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, part) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().map(|number| number * part);
    share
        .ok()
        .filter(|share| (1e-9..=1.0).contains(share))
        .ok_or_else(|| "a share above 0 and up to 100%, such as 3%".to_owned())
}

/// One of each kind: nothing, marks, delay, telemetry, and two that look for the victim.
const DEMO_SCHEMES: &[&str] = &["none", "dcqcn", "timely", "hpcc", "mercury", "pcn"];

/// The newcomer's first minute.
pub fn demo() -> Result<(), Stop> {
    let demo = library::inside(Path::new("scenarios/victim-flow.toml")).unwrap_or_default();
    let scenario = Scenario::from_text("scenarios/victim-flow.toml", demo, Path::new("."));
    let names: Vec<String> = DEMO_SCHEMES.iter().map(|&name| name.to_owned()).collect();
    let entries = load_all(&scenario, &Options::default(), &names)?;
    let intro = format!(
        "Xoff compares {} on the victim-flow scenario.\n\n\
         Two long flows and some mice share a link. F1 and the mice continue to a receiver that 14 other hosts hit with a \
         burst; F0 goes elsewhere and crosses no congested port. PFC pauses the shared link all the same, and F0 loses \
         throughput. Does its congestion control misclassify F0 and cut it too?\n\n",
        DEMO_SCHEMES.iter().map(|name| scheme_label(name)).collect::<Vec<_>>().join(", ")
    );
    let shown = show(&wrap::folded(&intro, wrap::columns()));
    let out = Path::new("results").join("victim-flow-compare");
    let seeds = vec![entries.runs[0].loaded.plan.seed];
    let plan = Plan { scenario: &scenario, runners: &entries.runs, seeds };
    // A newcomer sees one table; the report has the others. What is not readable above does not cost the
    // result.
    run_all(&plan, &entries.skipped, (Some(&out), 1, None), &ShowArgs { json: false, quiet: false })?;
    shown?;
    show("\nAll schemes: xoff compare scenarios/victim-flow.toml --schemes all")
}

pub fn compare(args: &CompareArgs) -> Result<(), Stop> {
    let scenario = import::open(&args.scenario.scenario)?;
    let options = args.scenario.options(None);
    let entries = match args.fidelity.as_deref() {
        Some(PACKET_AND_FLOW) => load_both(&scenario, &options, args)?,
        fidelity => {
            let level = FidelityArgs {
                fidelity: fidelity.map(str::to_owned),
                out_of_range: args.out_of_range,
                ..Default::default()
            };
            let all = ["all".to_owned()];
            let wanted = if args.schemes.is_empty() { &all[..] } else { &args.schemes[..] };
            load_all(&scenario, &level.on(options), wanted)?
        }
    };
    let first = &entries.runs[0].loaded;
    let out = args.out.directory(&format!("{}-compare", first.name));
    let seeds = args.seeds.list(first.plan.seed)?;
    let plan = Plan { scenario: &scenario, runners: &entries.runs, seeds };
    run_all(&plan, &entries.skipped, (out.as_deref(), usize::MAX, args.delta), &args.show)
}

const PACKET_AND_FLOW: &str = "packet,flow";

/// Each scheme at packet level and at flow level, one after the other. What flow level refuses stops the comparison.
fn load_both(scenario: &Scenario, options: &Options, args: &CompareArgs) -> Result<Entries, Stop> {
    let level = |fidelity: &str, out_of_range| {
        FidelityArgs { fidelity: Some(fidelity.to_owned()), out_of_range, ..Default::default() }.on(options.clone())
    };
    let own = |options: &Options| -> Result<Entries, Stop> {
        if !args.schemes.is_empty() {
            return load_all(scenario, options, &args.schemes);
        }
        let loaded = scenario.load(options)?;
        let scheme = loaded.schemes.iter().map(|scheme| scheme.label.as_str()).collect::<Vec<_>>().join("+");
        Ok(Entries { runs: vec![Runner { scheme, options: options.clone(), loaded }], skipped: Vec::new() })
    };
    let Entries { runs, mut skipped } = own(&level("packet", false))?;
    let flow = own(&level("flow", args.out_of_range))?;
    skipped.extend(flow.skipped);
    let mut at_flow_level = flow.runs;
    let mut pairs = Vec::new();
    for runner in runs {
        let Some(place) = at_flow_level.iter().position(|of| of.scheme == runner.scheme) else { continue };
        let other = at_flow_level.remove(place);
        let scheme = fidelity::at_flow_level(&other.scheme);
        pairs.extend([runner, Runner { scheme, ..other }]);
    }
    match pairs.is_empty() {
        true => Err(Diagnostic::new("--schemes names no scheme that runs at both levels").into()),
        false => Ok(Entries { runs: pairs, skipped }),
    }
}

/// What takes part in a comparison, and what cannot.
pub(crate) struct Entries {
    /// At least one.
    pub(crate) runs: Vec<Runner>,
    pub(crate) skipped: Vec<Skipped>,
}

/// The scenario under each scheme, all checked before any runs. A scheme named by its name must be
/// able to run; of `all`, those that cannot are left out with a reason.
pub(crate) fn load_all(scenario: &Scenario, options: &Options, wanted: &[String]) -> Result<Entries, Stop> {
    // Errors of the scenario itself come before errors of a scheme.
    scenario.load(options)?;
    let mut names: Vec<(String, bool)> = Vec::new();
    for name in wanted.iter().flat_map(|list| spelled::parts(list, ',')).map(spelled::label) {
        let more: Vec<(String, bool)> = match name.as_str() {
            "all" => xoff_schemes::all().iter().map(|spec| (spec.name.to_owned(), true)).collect(),
            name if names.iter().any(|(known, one_of_all)| known == name && !one_of_all) => {
                let error = Diagnostic::new(format!("--schemes names `{name}` twice"));
                return Err(error.help(spelled::TWICE).into());
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
                None => entries.runs.push(Runner { scheme: name, options, loaded }),
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
    let folders: Vec<String> = entries.runs.iter().map(|runner| comparison::folder_of(&runner.scheme)).collect();
    if let Some(at) = (1..folders.len()).find(|&at| folders[..at].contains(&folders[at])) {
        let same = format!("results of `{}` and of another scheme would go to one folder", entries.runs[at].scheme);
        return Err(Diagnostic::new(same).label(folders[at].clone()).into());
    }
    Ok(entries)
}

/// Runs what is planned, writes it to `out` and shows the first `tables` tables.
fn run_all(
    plan: &Plan<'_>,
    skipped: &[Skipped],
    (out, tables, delta): (Option<&Path>, usize, Option<f64>),
    shown: &ShowArgs,
) -> Result<(), Stop> {
    if !shown.quiet {
        warn(&plan.runners[0].loaded.warnings);
    }
    let staging = out.map(Staging::create).transpose()?;
    let several = plan.seeds.len() > 1;
    let figures = plan.runners[0].loaded.output.figures;
    let folder = |runner: &Runner, seed: u64| {
        let scheme = comparison::folder_of(&runner.scheme);
        if several { format!("{scheme}/seed-{seed}") } else { scheme }
    };
    let entries = plan.run(staging.as_ref().map(Staging::path), folder, shown)?;
    let directory = match staging {
        Some(staging) => {
            Some(comparison::write(staging, Kind::Schemes, (&entries, skipped, delta), figures, &command())?)
        }
        None => None,
    };
    if shown.json {
        show(&comparison::json(&entries, skipped).to_string())?;
    } else if !shown.quiet {
        let mut page = side_by_side::comparison_by(&entries, skipped, delta);
        page.tables.truncate(tables);
        show_summary(&page.text(wrap::columns()), directory.as_deref())?;
    }
    failures(&entries)
}
