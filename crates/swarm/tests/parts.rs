//! A network cut into parts gives what it gives whole: random scenarios, random cuts, windows of any length, parts
//! in any order and on several threads.
//!
//! `XOFF_PARTS_CASES` sets how many, `XOFF_PARTS_FIRST` the first seed, `XOFF_PARTS_THREADS` the threads of all.

use std::sync::{Arc, Mutex};
use xoff_engine::{Rng, stream};
use xoff_fabric::partition;
use xoff_fabric::plan::Plan;
use xoff_fabric::simulation::Simulation;
use xoff_fabric::window::{Executor, Sequential};
use xoff_fabric::world::Progress;
use xoff_run::drive::build_in_parts;
use xoff_scenario::Loaded;
use xoff_scenario::traffic::JobLog;
use xoff_swarm::{invariants, job_text, setting, text, trial};
use xoff_yardstick::every_case;

/// Each switch in a random part, hosts with theirs; several domains are cut only between them. `None` if there is
/// nothing to cut, or a link without delay would be.
fn random_cut(plan: &Plan, seed: u64) -> Option<Vec<u16>> {
    let mut rng = stream(seed, "parts", 0);
    let most = 2 + rng.below(4);
    let domains = plan.nodes.iter().map(|node| node.domain).max()?;
    let mut part_of: Vec<u16> =
        (plan.nodes.iter()).map(|node| if domains > 0 { node.domain } else { rng.below(most) as u16 }).collect();
    partition::take_hosts_along(plan, &mut part_of);
    // Numbers without gaps.
    let mut used: Vec<u16> = part_of.clone();
    used.sort_unstable();
    used.dedup();
    for part in &mut part_of {
        *part = used.binary_search(part).ok()? as u16;
    }
    (used.len() > 1 && partition::takes_time(plan, &part_of)).then_some(part_of)
}

/// Lets parts run in an order of lot, or at the same time.
struct Unruly {
    threads: usize,
    rng: Mutex<Rng>,
}

impl Executor for Unruly {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let mut order: Vec<usize> = (0..parts).collect();
        if self.threads > 1 {
            let share = parts.div_ceil(self.threads).max(1);
            std::thread::scope(|scope| {
                for share in order.chunks(share) {
                    scope.spawn(|| share.iter().copied().for_each(work));
                }
            });
            return;
        }
        let mut rng = self.rng.lock().unwrap();
        while !order.is_empty() {
            work(order.swap_remove(rng.below(order.len() as u64) as usize));
        }
    }
}

/// More than any of these runs takes: go-back-N under spraying resends fourteen packets for one, 66 million events with
/// seed 5837.
const MOST_EVENTS: u64 = 300_000_000;

fn run(mut world: Box<dyn Simulation>, slice: u64, executor: &dyn Executor) -> Box<dyn Simulation> {
    let (mut before, mut still) = (world.now, 0);
    while world.run_with(slice, executor) == Progress::Running {
        assert!(world.counters.events < MOST_EVENTS, "no end");
        assert!(world.now >= before, "time runs backwards");
        still = if world.now > before { 0 } else { still + slice };
        assert!(still < 1_000_000, "simulated time does not advance");
        before = world.now;
    }
    world
}

/// What differs between a network whole and in parts; nothing if it cannot be cut.
fn difference(loaded: &Loaded, part_of: Vec<u16>, seed: u64) -> Option<Option<String>> {
    let (log, whole_log) = (Arc::<Mutex<JobLog>>::default(), Arc::<Mutex<JobLog>>::default());
    let mut parts = build_in_parts(loaded, part_of, Some(&log)).ok()?;
    parts.shorten_windows([1, 1, 3, 7][seed as usize % 4]);
    let threads = if seed.is_multiple_of(16) { 2 + seed / 16 % 3 } else { 1 };
    let threads = setting("XOFF_PARTS_THREADS", threads) as usize;
    let executor = Unruly { threads, rng: Mutex::new(stream(seed, "order", 0)) };
    // Looking changes nothing: half of them are looked at only here.
    parts.watch_activity();
    let mut parts = run(parts, 1 + seed % 5000, &executor);
    let mut whole = build_in_parts(loaded, vec![0; loaded.plan.nodes.len()], Some(&whole_log)).ok()?;
    if seed % 2 == 1 {
        whole.watch_activity();
    }
    let mut whole = run(whole, 1 << 20, &Sequential);
    let same = trial::difference(&mut *whole, &mut *parts);
    let same = same.or_else(|| invariants::activity_adds_up(&mut *whole, &mut *parts));
    // Jobs write down what they have begun when they go.
    drop((whole, parts));
    let [whole, parts] = [whole_log, log].map(|log| std::mem::take(&mut log.lock().unwrap().done));
    let intervals = || (whole != parts).then(|| format!("intervals of jobs:\n  one   {whole:?}\n  other {parts:?}"));
    Some(same.or_else(intervals))
}

#[test]
fn parts_give_what_the_whole_gives() {
    compare(text, if every_case() { 200 } else { 100 });
}

#[test]
fn jobs_in_parts_give_what_they_give_whole() {
    compare(job_text, if every_case() { 100 } else { 40 });
}

/// Jobs that lose the way of their only queue pair: the run went on in parts and was over as a whole.
#[test]
fn a_source_that_moves_its_last_flow_goes_on() {
    for seed in [42122, 47756] {
        let loaded = trial::load(&job_text(seed)).unwrap();
        let part_of = random_cut(&loaded.plan, seed).unwrap();
        assert_eq!(difference(&loaded, part_of, seed), Some(None), "seed {seed}");
    }
}

fn compare(text: fn(u64) -> String, cases: u64) {
    let (cases, first) = (setting("XOFF_PARTS_CASES", cases), setting("XOFF_PARTS_FIRST", 0));
    let mut compared = 0;
    let mut failed = Vec::new();
    for seed in first.. {
        if compared == cases {
            break;
        }
        let Ok(loaded) = trial::load(&text(seed)) else { continue };
        let Some(part_of) = random_cut(&loaded.plan, seed) else { continue };
        let outcome = std::panic::catch_unwind(|| difference(&loaded, part_of, seed));
        let Ok(outcome) = outcome else {
            eprintln!("seed {seed}: a panic");
            failed.push(format!("seed {seed}: a panic"));
            continue;
        };
        let Some(outcome) = outcome else { continue };
        compared += 1;
        if let Some(why) = outcome {
            eprintln!("seed {seed}: {why}");
            failed.push(format!("seed {seed}: {why}"));
        }
        if failed.len() > 5 {
            break;
        }
    }
    assert!(failed.is_empty(), "{} of {compared} differ:\n{}", failed.len(), failed.join("\n"));
}
