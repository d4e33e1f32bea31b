//! `xoff sweep`: one scenario over axes, schemes and seeds, here or on a cluster.

use super::progress::Whole;
use super::typed::command;
use super::{FidelityArgs, ShowArgs, Stop, show, show_summary, signals};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xoff_engine::quantity::parse_span;
use xoff_results::files::workplace::Workplace;
use xoff_results::files::{Staging, note};
use xoff_run::time_limit;
use xoff_scenario::number::{bytes, thousands};
use xoff_scenario::wrap;
use xoff_sweep::axis::Axis;
use xoff_sweep::batch::{ARRAY, Batch, quoted, sbatch};
use xoff_sweep::cluster::{self, Plan};
use xoff_sweep::home::{Home, holds_another};
use xoff_sweep::record::Store;
use xoff_sweep::sample::Sampler;
use xoff_sweep::seal::build_id;
use xoff_sweep::study::Study;
use xoff_sweep::table::Rows;
use xoff_sweep::{Sweep, Sweeper, page, pool};

pub(super) const EXAMPLES: &str = "\
Axes:
  --axis traffic.0.load=0.3,0.5,0.7             a list
  --axis scheme.kmin=5KB..400KB:log8            eight values, evenly on a logarithmic scale (lin8: on a linear one)
  --axis topology.host_rate=100Gbps,400Gbps+switch.buffer=32MB,64MB     two keys that move together
A parameter that only some of the schemes have is varied for those. With --sample N points are drawn from all axes \
together, and a range needs no number of values.

Clusters:
  xoff sweep study.toml --plan DIR --tasks 40   writes a plan that needs nothing else
  sbatch DIR/array.sh                           runs it as a job array
  xoff sweep --collect DIR                      joins what the tasks wrote";

#[derive(Args)]
pub struct SweepArgs {
    /// The scenario, or a file of a sweep, which names its scenario; the plan with --task
    #[arg(required_unless_present = "collect")]
    file: Option<PathBuf>,
    /// Schemes to run, NAME[:PRESET][+BASE[:PRESET]], each with parameters in braces if it is to have others:
    /// 'dcqcn,hpcc{eta=0.9}' [default: the scenario's]
    #[arg(long, value_name = "A,B,C")]
    schemes: Vec<String>,
    /// What is varied: KEY=LIST, or KEY=FROM..TO:linN or :logN
    #[arg(long = "axis", value_name = "KEY=VALUES")]
    axes: Vec<String>,
    /// Change any key of the scenario for all runs
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    #[command(flatten)]
    fidelity: FidelityArgs,
    /// Seeds of every point [default: 1, or the file's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: Option<u64>,
    /// The first of them [default: the scenario's]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Draw N points from all axes together, in place of every combination
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    sample: Option<u64>,
    /// How they are drawn
    #[arg(long, value_name = "HOW", value_parser = ["sobol", "random"])]
    sampler: Option<String>,
    /// Numbers that the report is about, by their columns in runs.parquet [default: it chooses]
    #[arg(long = "measure", value_name = "NAME")]
    measures: Vec<String>,
    /// Differences below this share do not matter, such as 3% [default: 2% of means and job times, 5% of percentiles]
    #[arg(long, value_name = "SHARE", value_parser = super::compare::share, conflicts_with_all = ["plan", "task"])]
    delta: Option<f64>,
    /// Runs at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096), conflicts_with_all = ["plan", "collect"])]
    jobs: Option<u64>,
    /// Give up a run that takes longer, such as 10s; its row says so
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with_all = ["plan", "collect"])]
    time_limit: Option<Duration>,
    /// Keep the flows of all runs too, as one data set: flows/load=0.5/scheme=hpcc/seed=1/flows.parquet
    #[arg(long, conflicts_with_all = ["plan", "collect", "task"])]
    flows: bool,
    /// Run N points of a sweep at flow level at packet level too, spread over the axes: the error of the sweep
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000), conflicts_with_all = ["plan", "collect", "task", "dry_run"])]
    verify: Option<u64>,
    /// Say how many runs there are and what they would take, and run nothing else
    #[arg(long)]
    dry_run: bool,
    /// Directory of the results; what is finished in it is not run again [default: results/NAME-sweep, or NAME-sweep-2 and so on where another sweep is]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["plan", "task", "dry_run"])]
    out: Option<PathBuf>,
    /// Write a plan for a cluster to DIR, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dry_run", "collect", "task"])]
    plan: Option<PathBuf>,
    /// At most N tasks of the plan at the same time; without it the cluster decides
    #[arg(long, value_name = "N", requires = "plan", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    throttle: Option<u64>,
    /// Tasks of the plan
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    tasks: u64,
    /// Run one task of the plan FILE, from 0 on
    #[arg(long, value_name = "I", conflicts_with = "collect")]
    task: Option<u64>,
    /// Join what the tasks of the plan DIR wrote
    #[arg(long, value_name = "DIR")]
    collect: Option<PathBuf>,
    #[command(flatten)]
    show: ShowArgs,
}

fn time(text: &str) -> Result<Duration, String> {
    let span = parse_span(text).map_err(|why| format!("it {why}; write a time such as 10s"))?;
    Ok(Duration::from_nanos(span.ps() / 1000))
}

/// The folder of finished runs.
const RUNS: &str = "runs";

pub fn sweep(args: &SweepArgs) -> Result<(), Stop> {
    time_limit::set(args.time_limit);
    if let Some(folder) = &args.collect {
        return collect(folder, args);
    }
    let file = args.file.as_deref().unwrap_or(Path::new("-"));
    if let Some(task) = args.task {
        return run_task(file, task, args);
    }
    let sweep = asked(file, args)?;
    let mut sweeper = Sweeper::check(&sweep)?;
    sweeper.flows = args.flows;
    if args.dry_run {
        return dry_run(&sweeper, args);
    }
    if let Some(folder) = &args.plan {
        return plan(&sweeper, folder, args);
    }
    run(&sweeper, args)
}

/// What the file says, and what is typed beside it.
fn asked(file: &Path, args: &SweepArgs) -> Result<Sweep, Stop> {
    let mut sweep = Sweep::open(file)?;
    if !args.schemes.is_empty() {
        sweep.name_schemes(&args.schemes)?;
    }
    for text in &args.axes {
        // What is typed goes before the file's axis of the same key.
        sweep.add(Axis::typed(text)?);
    }
    sweep.sets.extend(args.sets.iter().cloned().chain(args.fidelity.sets()));
    sweep.seeds = args.seeds.unwrap_or(sweep.seeds);
    sweep.first_seed = args.seed.or(sweep.first_seed);
    sweep.sample = args.sample.or(sweep.sample);
    match args.sampler.as_deref() {
        Some("random") => sweep.sampler = Sampler::Random,
        Some(_) => sweep.sampler = Sampler::Sobol,
        None => {}
    }
    if !args.measures.is_empty() {
        sweep.measures.clone_from(&args.measures);
    }
    Ok(sweep)
}

fn jobs(args: &SweepArgs) -> usize {
    args.jobs.map_or_else(pool::cores, |jobs| jobs as usize)
}

/// Where results go; says so where another sweep was or is there.
fn home(sweeper: &Sweeper<'_>, args: &SweepArgs) -> Home {
    let (sweep, points) = (sweeper.sweep, &sweeper.points);
    let Some(out) = &args.out else {
        let home = Home::find(Path::new("results"), &sweeper.name, sweep, points);
        if let [first, ..] = home.others.as_slice() {
            let (first, folder) = (first.display(), home.folder.display());
            note(format!("{first} holds another sweep of {}: this one goes to {folder}", sweeper.name));
        }
        return home;
    };
    if holds_another(out, sweep, points) {
        note(format!(
            "{} holds another sweep, whose tables and report are replaced; its finished runs are kept",
            out.display()
        ));
    }
    Home { folder: out.clone(), others: Vec::new() }
}

fn run(sweeper: &Sweeper<'_>, args: &SweepArgs) -> Result<(), Stop> {
    let home = home(sweeper, args);
    let out = home.folder;
    let workplace = Workplace::open(&out, RUNS)?;
    signals::say_when_stopped(format!(
        "finished runs are kept in {}: the same command resumes from there",
        out.join(RUNS).display()
    ));
    let store = Store::new(workplace.path().join(RUNS), build_id()?);
    let store = store.beside(home.others.iter().map(|folder| folder.join(RUNS)));
    let bar = Whole::new(args.show.json || args.show.quiet, f64::INFINITY);
    let records = sweeper.run(Some(&store), jobs(args), &|at| bar.update(&at))?;
    bar.finish();
    let mut staging = Staging::create(workplace.path())?;
    staging.keep_store(RUNS)?;
    let rows = sweeper.rows(&records)?;
    sweeper.write_flows(&rows, &store, &staging)?;
    let verification = match args.verify {
        Some(count) => {
            let bar = Whole::new(args.show.json || args.show.quiet, f64::INFINITY);
            let study = Study::of(&rows)?;
            let found = sweeper.verify(&study, count, (Some(&store), jobs(args)), &|at| bar.update(&at))?;
            bar.finish();
            staging.write("verified.csv", found.csv().as_bytes())?;
            Some(found.text())
        }
        None => None,
    };
    finish(sweeper, &rows, staging, verification.as_deref(), args)
}

/// Tables, figures and report, and what is shown of them.
fn finish(
    sweeper: &Sweeper<'_>,
    rows: &Rows<'_>,
    staging: Staging,
    verification: Option<&str>,
    args: &SweepArgs,
) -> Result<(), Stop> {
    let mut study = Study::of(rows)?;
    study.delta = args.delta;
    sweeper.write(rows, &study, &staging, &command())?;
    let out = staging.finish()?;
    if args.show.json {
        let (failed, gave_up) = study.failed;
        let value = serde_json::json!({
            "runs": rows.records.len(), "points": study.cells.len(), "failed": failed, "gave_up": gave_up,
            "finding": study.finding(), "verification": verification, "directory": out,
        });
        return show(&value.to_string());
    }
    if args.show.quiet {
        return Ok(());
    }
    const SHOWN: usize = 40;
    let width = wrap::columns();
    let mut text = wrap::folded(&study.finding(), width);
    text.push_str("\n\n");
    let fitted = page::brief_grid(&study, SHOWN).fit(width);
    text.push_str(&fitted.text);
    if study.cells.len() > SHOWN {
        text.push_str(&format!("and {} points more\n", study.cells.len() - SHOWN));
    }
    if let Some(verification) = verification {
        text.push_str(&format!("\n{verification}"));
    }
    let (failed, gave_up) = study.failed;
    if failed + gave_up > 0 {
        let line = format!(
            "\n{failed} runs failed in the simulated network, {gave_up} were given up; `status` and `failure` in runs.parquet say why.\n"
        );
        text.push_str(&wrap::folded(&line, width));
    }
    show_summary(&text, Some(&out))
}

fn dry_run(sweeper: &Sweeper<'_>, args: &SweepArgs) -> Result<(), Stop> {
    let estimate = sweeper.estimate()?;
    let (runs, jobs) = (sweeper.points.len(), jobs(args));
    let seconds = estimate.cpu_seconds / jobs as f64;
    if args.show.json {
        let value = serde_json::json!({
            "runs": runs, "points": runs as u64 / sweeper.sweep.seeds, "seeds": sweeper.sweep.seeds, "jobs": jobs,
            "cpu_seconds": estimate.cpu_seconds, "wall_seconds": seconds, "peak_bytes": estimate.peak_bytes,
            "slowest": { "point": estimate.slowest.0, "cpu_seconds": estimate.slowest.1 },
        });
        return show(&value.to_string());
    }
    let mut text = format!(
        "{} runs: {} points under {} seed{} each\n",
        thousands(runs as u64),
        thousands(runs as u64 / sweeper.sweep.seeds),
        sweeper.sweep.seeds,
        if sweeper.sweep.seeds == 1 { "" } else { "s" }
    );
    if !sweeper.sweep.schemes.is_empty() {
        text.push_str(&format!("  schemes: {}\n", sweeper.sweep.schemes.join(", ")));
    }
    for axis in &sweeper.sweep.axes {
        let names: Vec<&str> = axis.values.iter().map(|value| value[0].name.as_str()).collect();
        let values = if names.is_empty() { "drawn".to_owned() } else { names.join(", ") };
        text.push_str(&format!("  {}: {values}\n", axis.keys.join(" with ")));
    }
    text.push_str(&format!(
        "about {} on {jobs} core{}, {} of memory: estimated from {} of up to 0.4 s each",
        super::progress::clock(seconds),
        if jobs == 1 { "" } else { "s" },
        bytes(estimate.peak_bytes),
        if estimate.tried == 1 { "one run".to_owned() } else { format!("{} runs", estimate.tried) },
    ));
    let (slowest, seconds) = &estimate.slowest;
    // Which of several short runs is the longest, chance decides.
    if *seconds >= 1.0 && !slowest.is_empty() {
        text.push_str(&format!("; slowest {slowest} with {}", super::progress::clock(*seconds)));
    }
    text.push('\n');
    show(&wrap::folded(&text, wrap::columns()))
}

fn plan(sweeper: &Sweeper<'_>, folder: &Path, args: &SweepArgs) -> Result<(), Stop> {
    let workplace = Workplace::open(folder, cluster::DONE)?;
    let mut staging = Staging::create(workplace.path())?;
    let batch = Batch { tasks: args.tasks, at_once: args.throttle, estimate: Some(sweeper.estimate()?) };
    Plan::write(sweeper, &mut staging, &batch, &build_id()?)?;
    let out = staging.finish()?;
    let (runs, script) = (sweeper.points.len(), out.join("array.sh"));
    let tasks = batch.tasks_for(runs);
    let all: Vec<u64> = (0..tasks).collect();
    // The script knows its own array.
    let mut lines = vec![format!("sbatch {}", quoted(&script))];
    lines.extend(sbatch(&script, &all, args.throttle).into_iter().skip(1));
    lines.push(format!("xoff sweep --collect {}", quoted(&out)));
    let mut text = format!("{} runs in {} tasks\n\n  {}", thousands(runs as u64), thousands(tasks), lines.join("\n  "));
    if tasks > ARRAY {
        text.push_str(&format!(
            "\n\nAn array of Slurm has {} tasks at most, unless the cluster's MaxArraySize says more.",
            thousands(ARRAY)
        ));
    }
    if args.show.quiet { Ok(()) } else { show(&text) }
}

fn run_task(folder: &Path, task: u64, args: &SweepArgs) -> Result<(), Stop> {
    let plan = Plan::open(folder, &build_id()?)?;
    let bar = Whole::new(args.show.json || args.show.quiet, f64::INFINITY);
    let records = plan.run_task(task, jobs(args), &|at| bar.update(&at))?;
    bar.finish();
    let runs = records.len();
    let gave_up: Vec<&str> =
        records.iter().filter(|run| run.gave_up).map(|run| run.failure.as_deref().unwrap_or_default()).collect();
    if let [first, ..] = gave_up[..] {
        // Else a queue would take the task for done.
        let error = format!("task {task}: {} of {runs} runs were given up; the first: {first}", gave_up.len());
        return Err(Stop::RunFailed(error));
    }
    if args.show.quiet { Ok(()) } else { show(&format!("task {task} of {}: {runs} runs are there", plan.tasks())) }
}

fn collect(folder: &Path, args: &SweepArgs) -> Result<(), Stop> {
    let plan = Plan::open(folder, &build_id()?)?;
    let sweep = plan.sweep()?;
    let records = plan.collect(&sweep)?;
    let sweeper = Sweeper::planned(&sweep, plan.name())?;
    let mut staging = Staging::create(&home(&sweeper, args).folder)?;
    if staging.target().join(RUNS).is_dir() {
        staging.keep_store(RUNS)?;
    }
    finish(&sweeper, &sweeper.rows(&records)?, staging, None, args)
}
