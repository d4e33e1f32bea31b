//! `xoff check`, `xoff schemes`, `xoff describe`: answers that run nothing.

use super::{ScenarioArgs, Stop, show, warn};

use crate::measure::registry;
use crate::scenario::{Diagnostic, Options, dictionary};
use crate::{import, models, results, schemes_text};
use clap::{Args, ValueEnum};

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

pub fn check(args: &CheckArgs) -> Result<(), Stop> {
    let options = Options { sets: args.scenario.sets.clone(), seed: args.scenario.seed, scheme: None };
    let loaded = import::open(&args.scenario.scenario)?.load(&options)?;
    warn(&loaded.warnings);
    let report = crate::check::report(&loaded);
    show(&if args.json { report.json() } else { report.text() })
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
                let help = format!("known schemes: {}", known.join(", "));
                return Err(Diagnostic::new(format!("there is no scheme `{name}`")).help(help).into());
            }
        },
    };
    if args.json { show(&schemes_text::json(&specs).to_string()) } else { show(&schemes_text::text(&specs)) }
}

#[derive(Clone, Copy, ValueEnum)]
enum Topic {
    /// Columns of the result tables
    Results,
    /// Keys of a scenario file
    Scenario,
    /// Theory models: equations, parameters, what they yield
    Models,
    /// What `[[measure]]` can take from a run
    Metrics,
    /// JSON Schema of scenario files, for editors
    Schema,
}

#[derive(Args)]
pub struct DescribeArgs {
    #[arg(value_enum, default_value = "results")]
    topic: Topic,
    /// Print JSON and nothing else
    #[arg(long)]
    json: bool,
}

pub fn describe(args: &DescribeArgs) -> Result<(), Stop> {
    match (args.topic, args.json) {
        (Topic::Results, false) => show(&results::describe_text()),
        (Topic::Results, true) => show(&results::describe_json().to_string()),
        (Topic::Scenario, false) => show(&dictionary::describe()),
        (Topic::Scenario, true) => show(&dictionary::schema::listing().to_string()),
        (Topic::Models, false) => show(&models::text()),
        (Topic::Models, true) => show(&models::json().to_string()),
        (Topic::Metrics, false) => show(&registry::text()),
        (Topic::Metrics, true) => show(&registry::json().to_string()),
        (Topic::Schema, _) => show(&dictionary::schema::render()),
    }
}
