//! `swarm`: random scenarios by the million.

use clap::Parser;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use xoff_swarm::runner::{self, Request, Tally};
use xoff_swarm::{job_text, text, trial};

/// Runs random scenarios and reports every one that breaks a law of the simulator.
#[derive(Parser)]
struct Arguments {
    /// How many scenarios
    #[arg(long, default_value_t = 1000)]
    cases: u64,
    /// Seed of the first; the others count on from it
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Threads [default: one per core]
    #[arg(long)]
    jobs: Option<usize>,
    /// Stop after this many minutes
    #[arg(long)]
    minutes: Option<u64>,
    /// Only the scenario of this seed
    #[arg(long, conflicts_with_all = ["cases", "first", "jobs", "minutes"])]
    seed: Option<u64>,
    /// Print it instead of running it
    #[arg(long, requires = "seed")]
    print: bool,
    /// With training jobs in the place of most traffic
    #[arg(long, requires = "seed")]
    training: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    trial::keep_panics();
    let text = if arguments.training { job_text } else { text };
    match arguments.seed {
        Some(seed) if arguments.print => {
            print!("{}", text(seed));
            ExitCode::SUCCESS
        }
        Some(seed) => one(&text(seed)),
        None => many(&arguments),
    }
}

fn one(text: &str) -> ExitCode {
    let mut verdict = trial::judge(text);
    verdict.violations.extend(trial::differs_when_repeated(text));
    println!("{:?}, {} packet-hops", verdict.ending, verdict.packet_hops);
    verdict.violations.iter().for_each(|violation| println!("violation: {violation}"));
    if verdict.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn many(arguments: &Arguments) -> ExitCode {
    let jobs = arguments.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
    let request = Request {
        first: arguments.first,
        cases: arguments.cases,
        jobs: jobs.unwrap_or(1).max(1),
        time: arguments.minutes.map(|minutes| Duration::from_secs(60 * minutes)),
    };
    let began = Instant::now();
    let progress = |tally: &Tally| {
        if began.elapsed().as_secs().is_multiple_of(10) {
            eprintln!("{}", line(tally, began.elapsed()));
        }
    };
    let hang = |seed: u64, why: &str| {
        println!("seed {seed} {why}\n  {}", again(seed));
        std::process::exit(1);
    };
    let tally = runner::run(&request, progress, hang);
    report(&tally, began.elapsed());
    if tally.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn line(tally: &Tally, elapsed: Duration) -> String {
    let rate = tally.cases as f64 / elapsed.as_secs_f64().max(0.001);
    format!("{} scenarios, {rate:.0} per second, {} violations", tally.cases, tally.violations.len())
}

fn report(tally: &Tally, elapsed: Duration) {
    println!("{} in {:.1} s", line(tally, elapsed), elapsed.as_secs_f64());
    println!(
        "{} packet-hops; {} run twice; the slowest is seed {} with {:.2} s",
        tally.packet_hops,
        tally.repeated,
        tally.slowest.1,
        tally.slowest.0.as_secs_f64()
    );
    let mut endings: Vec<(&String, &u64)> = tally.endings.iter().collect();
    endings.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    endings.iter().for_each(|(ending, count)| println!("{count:>9}  {ending}"));
    for (seed, violation) in &tally.violations {
        println!("violation with seed {seed}: {violation}\n  {}", again(*seed));
    }
}

/// How to see one again.
fn again(seed: u64) -> String {
    format!("cargo run --profile checked -p xoff-swarm -- --seed {seed}   (--print shows the scenario)")
}
