//! Parts and threads of one run: how a network is cut, and who lets the parts run.
//!
//! Large networks are cut whatever the number of threads: a part fits in the cache. Results are the same for every
//! cut and every number of threads, to the last byte.

use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use xoff_fabric::partition;
use xoff_fabric::plan::Plan;
use xoff_fabric::simulation::Simulation;
use xoff_fabric::window::Crew;
use xoff_fabric::world::Progress;

/// Hosts from which on several threads pay.
const SOME_HOSTS: usize = 256;
/// Hosts from which on it pays to cut a network for one thread: below, mail costs as much as the cache saves.
const MANY_HOSTS: usize = 512;
/// Parts that a network is cut into, if they are then neither smaller nor larger than this many ports of switches.
const PARTS: usize = 40;
const PORTS: std::ops::RangeInclusive<u32> = 32..=128;
/// Parts for each thread, at least, so that none waits long for another.
const PARTS_PER_THREAD: usize = 8;

static THREADS: AtomicUsize = AtomicUsize::new(1);

/// Threads of each run from now on; one if never said. Runs side by side need no more.
pub fn set_threads(threads: NonZeroUsize) {
    THREADS.store(threads.get(), Relaxed);
}

/// Threads that pay for a network: all cores, unless it is small.
pub fn threads_for(plan: &Plan) -> NonZeroUsize {
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    if hosts(plan) < SOME_HOSTS { NonZeroUsize::MIN } else { cores }
}

fn hosts(plan: &Plan) -> usize {
    (0..plan.nodes.len() as u32).filter(|&node| plan.is_host(node)).count()
}

/// The part of every node.
pub fn cut(plan: &Plan) -> Vec<u16> {
    let threads = THREADS.load(Relaxed);
    if hosts(plan) < MANY_HOSTS && threads == 1 {
        return vec![0; plan.nodes.len()];
    }
    let ports = plan.ports() - hosts(plan);
    let of_part = (ports / PARTS) as u32;
    let most = (ports / (PARTS_PER_THREAD * threads)).max(1) as u32;
    partition::cut(plan, of_part.clamp(*PORTS.start(), *PORTS.end()).min(most))
}

/// What the windows of a run in parts cost.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Windows {
    /// Windows that the run went through; in each, every part runs by itself.
    pub count: u64,
    /// Of the threads' time, the share that they worked in parts; the rest they waited for each other.
    pub busy: f64,
    /// Of the run's time, the share between windows, when one of them works.
    pub between: f64,
    /// The work of the part that had most, over the mean of all.
    pub imbalance: f64,
}

/// Threads that share the parts out among themselves, and a watch on what each costs.
pub struct Threads {
    /// None, if it is one thread.
    pool: Option<rayon::ThreadPool>,
    /// Nanoseconds of work, by part.
    work: Vec<AtomicU64>,
    /// Whether a thread has begun with it in this window, by part.
    taken: Vec<AtomicBool>,
    /// Nanoseconds within windows.
    within: AtomicU64,
}

impl Threads {
    /// For a run in so many parts.
    pub fn new(parts: usize) -> Threads {
        let threads = THREADS.load(Relaxed).min(parts);
        let pool = (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()).flatten();
        let work = (0..parts).map(|_| AtomicU64::new(0)).collect();
        let taken = (0..parts).map(|_| AtomicBool::new(false)).collect();
        Threads { pool, work, taken, within: AtomicU64::new(0) }
    }

    /// Where the parts of each thread begin, in order, and where the last one's end: shares of equal work so far.
    fn shares(&self) -> Vec<usize> {
        let threads = self.count() as u64;
        // One more each, so that parts which have had none are shared out too.
        let work = || self.work.iter().map(|spent| spent.load(Relaxed) + 1);
        let all: u64 = work().sum();
        let (mut shares, mut before) = (vec![0], 0);
        for (part, spent) in work().enumerate() {
            // It is in the share in which its middle lies.
            let share = (2 * before + spent) * threads / (2 * all);
            shares.resize(share as usize + 1, part);
            before += spent;
        }
        shares.resize(threads as usize + 1, self.work.len());
        shares
    }

    /// Threads that work at once: at most one per part.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Runs a world for so many events. It is one of the threads itself, so that no other has to wake it.
    pub fn run(&self, world: &mut dyn Simulation, events: u64) -> Progress {
        match &self.pool {
            None => world.run_with(events, self),
            Some(pool) => pool.install(|| world.run_with(events, self)),
        }
    }

    /// What a run of `wall` in `count` windows has cost.
    pub fn windows(&self, count: u64, wall: Duration) -> Option<Windows> {
        let seconds = |nanoseconds: &AtomicU64| nanoseconds.load(Relaxed) as f64 / 1e9;
        let (within, wall) = (seconds(&self.within), wall.as_secs_f64());
        let work: Vec<f64> = self.work.iter().map(seconds).collect();
        let all: f64 = work.iter().sum();
        if work.len() < 2 || all == 0.0 {
            return None;
        }
        let most = work.iter().copied().fold(0.0, f64::max);
        Some(Windows {
            count,
            busy: (all / (within * self.count() as f64)).min(1.0),
            between: (1.0 - within / wall).clamp(0.0, 1.0),
            imbalance: most * work.len() as f64 / all,
        })
    }
}

impl Crew for Threads {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let began = Instant::now();
        let timed = |part: usize| {
            let began = Instant::now();
            work(part);
            self.work[part].fetch_add(began.elapsed().as_nanos() as u64, Relaxed);
        };
        match &self.pool {
            None => (0..parts).for_each(timed),
            Some(pool) => {
                // A thread comes back to the same parts, whose state is in its core's cache, and helps the others out
                // when it is through.
                self.taken.iter().for_each(|taken| taken.store(false, Relaxed));
                let shares = self.shares();
                pool.broadcast(|thread| {
                    let own = shares[thread.index()]..shares[thread.index() + 1];
                    let others = (0..own.start).chain(own.end..parts).rev();
                    own.chain(others).filter(|&part| !self.taken[part].swap(true, Relaxed)).for_each(timed);
                });
            }
        }
        self.within.fetch_add(began.elapsed().as_nanos() as u64, Relaxed);
    }
}
