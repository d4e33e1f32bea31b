//! `xoff check`, `xoff schemes`: answers that run nothing.

use super::{FidelityArgs, ScenarioArgs, Stop, show, show_page, warn};

use crate::schemes_text;
use clap::Args;
use xoff_fabric::plan::Fidelity;
use xoff_scenario::check::cost::Cost;
use xoff_scenario::{Diagnostic, Loaded, Options, Scenario, import, wrap};

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    fidelity: FidelityArgs,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

pub fn check(args: &CheckArgs) -> Result<(), Stop> {
    let options = args.fidelity.on(args.scenario.options(None));
    let scenario = import::open(&args.scenario.scenario)?;
    let loaded = scenario.load(&options)?;
    warn(&loaded.warnings);
    let mut report = xoff_scenario::check::report(&loaded);
    if let Some(why) = xoff_run::memory::refusal(&loaded) {
        report.warn(why);
    }
    report.cost = cost_of(&scenario, &loaded, &options);
    if args.json { show(&report.json()) } else { show_page(&report.text()) }
}

/// What a scenario costs at both levels, if it can be run at packet level.
pub(super) fn cost_of(scenario: &Scenario, loaded: &Loaded, options: &Options) -> Option<Cost> {
    let at = |level: &str| {
        let mut options = options.clone();
        options.sets.push(format!("run.fidelity={level}"));
        // What the other level does not know.
        let other = ["run.out_of_range", "run.collectives"].map(|key| format!("{key}=null"));
        options.sets.extend(other.into_iter().filter(|_| level == "packet"));
        scenario.load(&options)
    };
    match loaded.plan.run.fidelity {
        Fidelity::Packet => {
            let flow = at("flow");
            Some(Cost::of(loaded, flow.as_ref().map_err(|errors| errors[0].message.clone())))
        }
        Fidelity::Flow => at("packet").ok().map(|packet| Cost::of(&packet, Ok(loaded))),
    }
}

#[derive(Args)]
pub struct SchemesArgs {
    /// Show the parameters, presets and sources of this scheme
    name: Option<String>,
    /// Print one JSON value and nothing else
    #[arg(long)]
    json: bool,
}

pub fn schemes(args: &SchemesArgs) -> Result<(), Stop> {
    let specs = match &args.name {
        None => xoff_schemes::all().to_vec(),
        Some(name) => match xoff_schemes::find(name) {
            Some(spec) => vec![spec],
            None => {
                let known: Vec<&str> = xoff_schemes::all().iter().map(|spec| spec.name).collect();
                return Err(Diagnostic::new(format!("there is no scheme `{name}`")).nearest(name, known).into());
            }
        },
    };
    if args.json {
        show(&schemes_text::json(&specs).to_string())
    } else {
        show(&schemes_text::text(&specs, wrap::columns()))
    }
}
