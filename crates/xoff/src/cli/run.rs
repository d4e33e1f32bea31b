//! `xoff run`.

use super::inspect;
use super::progress::Bars;
use super::seeds::{Plan, Runner, SeedArgs, failures};
use super::typed::command;
use super::watch::{self, Watch};
use super::{FidelityArgs, OutArgs, ScenarioArgs, ShowArgs, Stop, show, show_summary, style, tell, tell_folded, warn};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::Path;
use xoff_fabric::plan::Fidelity;
use xoff_results::comparison;
use xoff_results::directory::Staging;
use xoff_results::execute::execute;
use xoff_results::outcome::{Kind, Outcome};
use xoff_results::seeds;
use xoff_results::text;
use xoff_run::drive::one_part_because;
use xoff_run::threads;
use xoff_scenario::check::cost::{self, Cost};
use xoff_scenario::{Loaded, Options, Scenario, import, wrap};

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    fidelity: FidelityArgs,
    #[command(flatten)]
    seeds: SeedArgs,
    /// Threads that share a large network out among themselves: a number, or `auto`, which takes all cores for
    /// networks of 256 hosts and more, below 512 those that are idle. Results are the same for every number
    #[arg(long, value_name = "N", default_value = "auto", value_parser = threads)]
    threads: Threads,
    /// Draw throughput, pauses and the longest queues while it runs
    #[arg(long, conflicts_with_all = ["seeds", "json", "quiet"])]
    watch: bool,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    show: ShowArgs,
}

#[derive(Clone, Copy)]
enum Threads {
    Auto,
    Of(NonZeroUsize),
}

fn threads(text: &str) -> Result<Threads, String> {
    match text {
        "auto" => Ok(Threads::Auto),
        number => number.parse().map(Threads::Of).map_err(|_| "is neither a number from 1 on nor `auto`".to_owned()),
    }
}

pub fn run(args: &RunArgs) -> Result<(), Stop> {
    let options = args.fidelity.on(args.scenario.options(None));
    let scenario = import::open(&args.scenario.scenario)?;
    let loaded = scenario.load(&options)?;
    if !args.show.quiet {
        warn(&loaded.warnings);
    }
    if !args.show.quiet && !args.show.json {
        tell_of_flow_level(&scenario, &loaded, &options, args);
    }
    let out = args.out.directory(&loaded.name);
    if args.seeds.several() {
        let scheme = loaded.schemes.iter().map(|scheme| scheme.label.as_str()).collect::<Vec<_>>().join("+");
        return under_seeds(&scenario, Runner { scheme, options, loaded }, out.as_deref(), args);
    }
    if let Threads::Of(threads) = args.threads
        && let Some(why) = one_part_because(&loaded, out.is_some()).filter(|_| threads.get() > 1 && !args.show.quiet)
    {
        tell_folded(&format!("warning: --threads {threads} has no effect: the network is one partition because {why}"));
    }
    threads::set_threads(match args.threads {
        Threads::Auto => threads::threads_for(&loaded.plan),
        Threads::Of(threads) => threads,
    });
    let bars = Bars::new(args.show.json || args.show.quiet);
    let bar = bars.add(&loaded.name);
    let mut watch = if args.watch { watch(&bars, &loaded) } else { None };
    let outcome = execute(&loaded, out.as_deref(), |at| {
        bar.update(at);
        if let Some(watch) = &mut watch {
            watch.update(at);
        }
    })?;
    if let Some(watch) = watch {
        watch.finish();
    }
    bar.finish();
    conclude(&outcome, &args.show)
}

/// Says of a long run at packet level how long it may take, and what flow level would take.
fn tell_of_flow_level(scenario: &Scenario, loaded: &Loaded, options: &Options, args: &RunArgs) {
    if loaded.plan.run.fidelity == Fidelity::Flow || !Cost::may_be_long(loaded) {
        return;
    }
    let Some(cost) = inspect::cost_of(scenario, loaded, options) else { return };
    let (Some(packet), Some(flow)) = (cost.packet_level_s.filter(|s| *s > cost::LONG_S), cost.flow_level_s) else {
        return;
    };
    let range = cost.flow_level_range.map_or_else(String::new, |range| format!(", {range}"));
    tell_folded(&format!(
        "note: this takes about {} of one core; `xoff run {} --fidelity flow` about {}{range}",
        cost::words(packet),
        args.scenario.scenario.display(),
        cost::words(flow)
    ));
}

/// Shows the summary of a run, and fails if the run did.
pub(super) fn conclude(outcome: &Outcome, to: &ShowArgs) -> Result<(), Stop> {
    if to.json {
        show(&outcome.summary.json())?;
    } else if !to.quiet {
        show_summary(&text::summary(&outcome.summary, style(), wrap::columns()), outcome.directory.as_deref())?;
    }
    match outcome.summary.why_failed() {
        // The page above has it in full.
        Some(_) if !to.json && !to.quiet => Err(Stop::RunFailed("the run failed, see above".to_owned())),
        Some(failure) => Err(Stop::RunFailed(failure)),
        None => Ok(()),
    }
}

fn watch(bars: &Bars, loaded: &Loaded) -> Option<Watch> {
    let watch = Watch::new(bars.all(), loaded);
    if watch.is_none() {
        tell(watch::unseen());
    }
    watch
}

/// A directory for each seed, and what they come to together.
fn under_seeds(scenario: &Scenario, runner: Runner, out: Option<&Path>, args: &RunArgs) -> Result<(), Stop> {
    let seeds = args.seeds.list(runner.loaded.plan.seed)?;
    let figures = runner.loaded.output.figures;
    let staging = out.map(Staging::create).transpose()?;
    let plan = Plan { scenario, runners: &[runner], seeds };
    let entries = plan.run(staging.as_ref().map(Staging::path), |_, seed| format!("seed-{seed}"), &args.show)?;
    let directory = match staging {
        Some(staging) => Some(comparison::write(staging, Kind::Seeds, (&entries, &[], None), figures, &command())?),
        None => None,
    };
    if args.show.json {
        show(&comparison::json(&entries, &[]).to_string())?;
    } else if !args.show.quiet {
        show_summary(&seeds::page(&entries[0]).text(wrap::columns()), directory.as_deref())?;
    }
    failures(&entries)
}
