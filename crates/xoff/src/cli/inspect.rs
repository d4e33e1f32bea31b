//! `xoff check`, `xoff schemes`: answers that run nothing.

use super::{FidelityArgs, ScenarioArgs, Stop, show, show_page, warn};

use crate::schemes_text;
use clap::Args;
use xoff_scenario::Diagnostic;
use xoff_scenario::{import, wrap};

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
    let loaded = import::open(&args.scenario.scenario)?.load(&options)?;
    warn(&loaded.warnings);
    let mut report = xoff_scenario::check::report(&loaded);
    if let Some(why) = xoff_run::memory::refusal(&loaded) {
        report.warn(why);
    }
    if args.json { show(&report.json()) } else { show_page(&report.text()) }
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
