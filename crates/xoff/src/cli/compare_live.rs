//! `xoff compare-live`: live runs beside the simulation of the same scenario and traffic.

use super::progress::Bars;
use super::typed::command;
use super::{ShowArgs, Stop, show, show_summary};
use clap::Args;
use std::path::{Path, PathBuf};
use xoff_results::directory::Staging;
use xoff_results::execute::execute;
use xoff_results::live::{self, LiveComparison};
use xoff_results::read::RunDirectory;
use xoff_scenario::{Loaded, wrap};

#[derive(Args)]
#[command(after_help = "\
A live run sends real frames between software NICs and switches; this says how near it comes to
the simulation. The scenario is simulated now, with the seed of the live runs, unless --simulation
names a run of it. Several live runs of one scenario give means and 95 % confidence intervals:
  sudo xoff live scenario.toml --out results/live-1
  sudo xoff live scenario.toml --out results/live-2
  xoff compare-live results/live-1 results/live-2 --out results/beside

Throughput and queues are compared where the scenario has [[probe]] tables for them. `distance` is
live less simulated in per cent of simulated; `over time` is the area between the two curves in per
cent of the area below the simulated one. report.html has the curves, live-comparison.json every
number. Exit code 1 if the machine was too slow in one of the live runs, or a run failed.")]
pub struct CompareLiveArgs {
    /// Directories of finished live runs, all of one scenario and seed
    #[arg(value_name = "LIVE_DIR", required = true)]
    live: Vec<PathBuf>,
    /// The directory of a finished simulation of the same scenario, in place of simulating it now
    #[arg(long, value_name = "DIR")]
    simulation: Option<PathBuf>,
    /// Directory of the page [default: one under results/, by the scenario's name]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    show: ShowArgs,
}

pub fn compare_live(args: &CompareLiveArgs) -> Result<(), Stop> {
    let live = live::open(&args.live)?;
    let simulation = args.simulation.as_deref().map(RunDirectory::open).transpose()?;
    let loaded = live[0].load()?;
    let out = args.out.clone().unwrap_or_else(|| Path::new("results").join(format!("{}-beside-live", loaded.name)));
    let staging = Staging::create(&out)?;
    let simulation = match simulation {
        Some(simulation) => simulation,
        None => simulate(&loaded, &staging.path().join("simulation"), &args.show)?,
    };
    let beside = LiveComparison::of(&live, &simulation)?;
    let directory = beside.write(staging, loaded.output.figures, &command())?;
    if args.show.json {
        show(&beside.json().to_string())?;
    } else if !args.show.quiet {
        show_summary(&beside.tables().text(wrap::columns()), Some(&directory))?;
    }
    match beside.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(Stop::RunFailed(failures.join("\n"))),
    }
}

fn simulate(loaded: &Loaded, out: &Path, shown: &ShowArgs) -> Result<RunDirectory, Stop> {
    let bars = Bars::new(shown.json || shown.quiet);
    let bar = bars.add(&loaded.name);
    execute(loaded, Some(out), |at| bar.update(at))?;
    bar.finish();
    Ok(RunDirectory::open(out)?)
}
