//! `cargo bench --bench parallel`: what threads bring within one run, and where the rest goes.
//!
//! Each case runs on 1, 2, 4 ... threads in turn, three rounds, and the best of each counts. *Efficiency* is the
//! wall speed over that of one thread, divided by the threads; *waiting* is the share of the threads' time that
//! they wait for the slowest part of a window; *between* is the share of the run's time between windows, when one
//! of them works; *imbalance* is the work of the part that has most, over the mean.

mod common;

use common::load;
use std::num::NonZeroUsize;
use xoff_results::execute::execute;
use xoff_results::summary::Summary;
use xoff_run::threads;

const ROUNDS: usize = 3;

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
    let threads: Vec<usize> = (0..).map(|power| 1 << power).take_while(|&threads| threads <= cores.max(2)).collect();
    println!("{cores} cores");
    println!(
        "{:28} {:>5} {:>7} {:>8} {:>10} {:>10} {:>8} {:>8} {:>9}",
        "case", "parts", "threads", "seconds", "M hops/s", "efficiency", "waiting", "between", "imbalance"
    );
    for case in &CASES {
        let loaded = load("fat-tree-websearch.toml", case.sets, None);
        let mut best: Vec<Option<Summary>> = vec![None; threads.len()];
        for _ in 0..ROUNDS {
            for (best, &threads) in best.iter_mut().zip(&threads) {
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
    }
}

fn print(case: &Case, summary: &Summary, efficiency: f64) {
    let rate = summary.counts.packet_hops as f64 / summary.cost.wall_seconds / 1e6;
    print!("{:28} {:>5} {:>7}", case.name, summary.cost.parts, summary.cost.threads);
    print!(" {:>8.2} {rate:>10.2} {:>9.0}%", summary.cost.wall_seconds, 100.0 * efficiency);
    match summary.cost.windows {
        // On one thread a network of this size is not cut.
        None => println!(),
        Some(of) => {
            println!(" {:>7.1}% {:>7.1}% {:>9.2}", 100.0 * (1.0 - of.busy), 100.0 * of.between, of.imbalance);
        }
    }
}
