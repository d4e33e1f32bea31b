//! `xoff run`.

use super::progress::Bars;
use super::{OutArgs, ScenarioArgs, ShowArgs, Stop, show, style, warn};
use crate::import;
use crate::results::text;
use crate::run::execute;
use crate::scenario::Options;
use clap::Args;

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    show: ShowArgs,
}

pub fn run(args: &RunArgs) -> Result<(), Stop> {
    let options = Options { sets: args.scenario.sets.clone(), seed: args.scenario.seed, scheme: None };
    let loaded = import::open(&args.scenario.scenario)?.load(&options)?;
    if !args.show.quiet {
        warn(&loaded.warnings);
    }
    let out = args.out.directory(&loaded.name);
    let bars = Bars::new(args.show.json || args.show.quiet);
    let bar = bars.add(&loaded.name);
    let outcome = execute(&loaded, out.as_deref(), |at| bar.update(at))?;
    bar.finish();
    if args.show.json {
        show(&outcome.summary.json())?;
    } else if !args.show.quiet {
        let mut page = text::summary(&outcome.summary, style());
        if let Some(directory) = &outcome.directory {
            page.push_str(&format!("\nreport: {}\n", directory.join("report.html").display()));
        }
        show(&page)?;
    }
    match outcome.summary.why_failed() {
        // The page above has it in full.
        Some(_) if !args.show.json && !args.show.quiet => Err(Stop::RunFailed("the run failed, see above".to_owned())),
        Some(failure) => Err(Stop::RunFailed(failure)),
        None => Ok(()),
    }
}
