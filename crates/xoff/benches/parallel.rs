//! `cargo bench --bench parallel`: what threads bring within one run, and where the rest goes.
//!
//! Each case runs on 1, 2, 3 and 4 threads in turn, three rounds, and the best of each counts. *Efficiency* is the
//! wall speed over that of one thread, divided by the threads; *waiting* is the share of the threads' time that
//! they wait for the slowest part of a window; *between* is the share of the run's time between windows, when one
//! of them works; *imbalance* is the work of the part that has most, over the mean; *busiest* is the work of the busiest
//! thread of each window, over the mean.
//!
//! Then an estimate for more threads than the machine has cores: one thread runs all parts and shares them out on paper
//! (`xoff_run::estimate`). Its *busiest* can be compared with what 2, 3 and 4 threads really did: it is a count of work and
//! does not depend on how many cores there are.

mod common;

use common::load;
use std::num::NonZeroUsize;
use std::time::Instant;
use xoff_fabric::world::Progress;
use xoff_results::execute::execute;
use xoff_results::summary::Summary;
use xoff_run::drive::build_in_parts;
use xoff_run::estimate::Estimate;
use xoff_run::threads;
use xoff_scenario::Loaded;

const ROUNDS: usize = 3;
const THREADS: [usize; 4] = [1, 2, 3, 4];
/// The numbers that are estimated; those that are also run first.
const ESTIMATED: [usize; 6] = [2, 3, 4, 8, 16, 32];

struct Case {
    name: &'static str,
    sets: &'static [&'static str],
}

const CASES: [Case; 3] = [
    // Flows start until it stops: a steady load.
    Case { name: "320 hosts, WebSearch 50 %", sets: &["traffic.0.flows=20000", "run.stop=1500us"] },
    Case {
        name: "1024 hosts, WebSearch 50 %",
        sets: &[
            "topology.pods=16",
            "topology.tors_per_pod=4",
            "topology.aggs_per_pod=4",
            "topology.cores=16",
            "traffic.0.flows=20000",
            "run.stop=400us",
        ],
    },
    Case {
        name: "8192 hosts, WebSearch 50 %",
        sets: &[
            "topology.pods=32",
            "topology.tors_per_pod=16",
            "topology.aggs_per_pod=16",
            "topology.cores=256",
            "traffic.0.flows=100000",
            "run.stop=60us",
        ],
    },
];

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    println!("{cores} cores");
    println!(
        "{:28} {:>5} {:>7} {:>8} {:>10} {:>10} {:>8} {:>8} {:>9} {:>8}",
        "case", "parts", "threads", "seconds", "M hops/s", "efficiency", "waiting", "between", "imbalance", "busiest"
    );
    for case in &CASES {
        let loaded = load("fat-tree-websearch.toml", case.sets, None);
        let mut best: Vec<Option<Summary>> = vec![None; THREADS.len()];
        for _ in 0..ROUNDS {
            for (best, threads) in best.iter_mut().zip(THREADS) {
                threads::set_threads(NonZeroUsize::new(threads).expect("a power of two"));
                let summary = execute(&loaded, None, |_| {}).expect("a run without files").summary;
                if best.as_ref().is_none_or(|best| summary.cost.wall_seconds < best.cost.wall_seconds) {
                    *best = Some(summary);
                }
            }
        }
        let alone = best[0].as_ref().map_or(0.0, |best| best.cost.wall_seconds);
        for summary in best.iter().flatten() {
            print(case, summary, alone / summary.cost.wall_seconds / summary.cost.threads as f64);
        }
        estimate(case, &loaded);
    }
}

/// Prints what more threads would bring, by the best of some runs on one thread.
fn estimate(case: &Case, loaded: &Loaded) {
    // Parts as several threads have them.
    threads::set_threads(NonZeroUsize::new(ESTIMATED[0]).expect("it is not zero"));
    let rounds = (0..ROUNDS).map(|_| {
        let part_of = threads::cut(&loaded.plan, true);
        let mut world = build_in_parts(loaded, part_of, None).expect("its flows wait for nothing");
        let (executor, began) = (Estimate::new(world.parts(), &ESTIMATED), Instant::now());
        while world.run_with(u64::MAX, &executor) == Progress::Running {}
        let wall = began.elapsed().as_secs_f64();
        (world.parts(), wall, executor.estimates(wall))
    });
    let best = rounds.min_by(|a, b| a.1.total_cmp(&b.1));
    let (parts, wall, estimates) = best.expect("there is a round");
    for of in estimates {
        let (seconds, efficiency) = (wall / of.speed, 100.0 * of.speed / of.threads as f64);
        print!("{:28} {parts:>5} {:>7} {seconds:>8.2} {:>10} {efficiency:>9.0}%", case.name, of.threads, "estimate");
        println!(" {:>8} {:>8} {:>9} {:>8.3}", "", "", "", of.busiest);
    }
}

fn print(case: &Case, summary: &Summary, efficiency: f64) {
    let rate = summary.counts.packet_hops.unwrap_or(0) as f64 / summary.cost.wall_seconds / 1e6;
    print!("{:28} {:>5} {:>7}", case.name, summary.cost.parts, summary.cost.threads);
    print!(" {:>8.2} {rate:>10.2} {:>9.0}%", summary.cost.wall_seconds, 100.0 * efficiency);
    match summary.cost.windows {
        // On one thread a network of this size is not cut.
        None => println!(),
        Some(of) => {
            print!(" {:>7.1}% {:>7.1}%", 100.0 * (1.0 - of.busy), 100.0 * of.between);
            println!(" {:>9.2} {:>8.3}", of.imbalance, of.busiest);
        }
    }
}
