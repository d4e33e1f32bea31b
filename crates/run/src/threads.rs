//! Partitions and threads of one run: where a network is cut, and the executor of its parts.
//!
//! Large networks are cut whatever the number of threads: a part fits in the cache. Results are the same for every
//! cut and every number of threads, to the last byte.

use crate::cpu::{free_cores, thread_cpu};
use crate::pace::{Pace, Stretch};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use xoff_engine::Span;
use xoff_fabric::partition;
use xoff_fabric::plan::{Link, Plan};
use xoff_fabric::simulation::Simulation;
use xoff_fabric::window::Executor;
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
/// The shortest window for which it pays to cut a network for one thread. In a shorter one a part has too few events to
/// find anything in the cache that it had there in the window before.
const SHORTEST_WINDOW: Span = Span::from_ns(100);

static THREADS: AtomicUsize = AtomicUsize::new(1);

/// Threads of each run from now on; one if never said. Runs side by side need no more.
pub fn set_threads(threads: NonZeroUsize) {
    THREADS.store(threads.get(), Relaxed);
}

/// Threads that pay for a network: one if it is small, else all cores.
///
/// Between [`SOME_HOSTS`] and [`MANY_HOSTS`], parts cost more than they save where only one thread is scheduled, so the
/// run takes the cores that are free when it begins. Larger networks pay for their parts on one thread, and a run
/// takes more threads as soon as other work ends.
pub fn threads_for(plan: &Plan) -> NonZeroUsize {
    match hosts(plan) {
        ..SOME_HOSTS => NonZeroUsize::MIN,
        SOME_HOSTS..MANY_HOSTS => free_cores(),
        _ => std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
    }
}

fn hosts(plan: &Plan) -> usize {
    (0..plan.nodes.len() as u32).filter(|&node| plan.is_host(node)).count()
}

/// Returns whether the network is large enough to be cut, or threads are to share it. `reacts`: a source of its traffic
/// does, so that a window is no longer than the shortest host link.
pub(crate) fn is_asked_to_cut(plan: &Plan, reacts: bool) -> bool {
    let to_hosts = || plan.links.iter().filter(|link| plan.leads_to_host(link)).map(Link::delay).min();
    let hurried = || reacts && to_hosts().is_some_and(|shortest| shortest < SHORTEST_WINDOW);
    THREADS.load(Relaxed) > 1 || (hosts(plan) >= MANY_HOSTS && !hurried())
}

/// The part of every node. `reacts`: a source of its traffic does.
pub fn cut(plan: &Plan, reacts: bool) -> Vec<u16> {
    let threads = THREADS.load(Relaxed);
    if !is_asked_to_cut(plan, reacts) {
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
    /// Share of the threads' time that they worked in parts; the rest they waited for each other.
    pub busy: f64,
    /// Share of the run's time between windows, when one thread works.
    pub between: f64,
    /// The work of the part that had most, over the mean of all.
    pub imbalance: f64,
    /// Share of the windows that several threads worked in. The others had too little work, or threads waited for each
    /// other because the machine was busy.
    pub shared: f64,
    /// CPU time of the busiest thread of each shared window, over the mean of all threads; 0 if none was shared.
    #[serde(default)]
    pub busiest: f64,
}

/// Work of a window, in nanoseconds, below which one thread does it: waking another costs as much.
pub(crate) const LITTLE_NS: u64 = 15_000;
/// Wall time that shared windows may take beyond the CPU time of their work, in nanoseconds, before one thread works
/// alone at once.
const LOSS_NS: u64 = 2_000_000;

/// Where the parts of each thread begin, in order, and where the last one's end: shares of equal work so far.
pub(crate) fn shares(work: &[u64], threads: usize) -> Vec<usize> {
    let threads = threads as u64;
    // One more each, so that parts which have had none are shared out too.
    let all: u64 = work.iter().map(|spent| spent + 1).sum();
    let (mut shares, mut before) = (vec![0], 0);
    for (part, spent) in work.iter().map(|spent| spent + 1).enumerate() {
        // It is in the share in which its middle lies.
        let share = (2 * before + spent) * threads / (2 * all);
        shares.resize(share as usize + 1, part);
        before += spent;
    }
    shares.resize(threads as usize + 1, work.len());
    shares
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
    /// Nanoseconds that the latest window took all threads.
    latest: AtomicU64,
    /// Windows that threads shared; CPU time in them of all threads, and of the busiest of each window, in nanoseconds.
    shared: AtomicU64,
    shared_work: AtomicU64,
    busiest: AtomicU64,
    pace: Pace,
    call: Call,
}

/// Shared windows of one call of [`Threads::run`].
#[derive(Default)]
struct Call {
    /// Whether threads share.
    sharing: AtomicBool,
    /// Nanoseconds of wall time, and of CPU time of all threads.
    wall: AtomicU64,
    cpu: AtomicU64,
    /// Nanoseconds of CPU time of the busiest thread of a window.
    most: AtomicU64,
}

impl Threads {
    /// For a run in so many parts.
    pub fn new(parts: usize) -> Threads {
        Threads::of(THREADS.load(Relaxed).min(parts), parts)
    }

    fn of(threads: usize, parts: usize) -> Threads {
        let pool = (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()).flatten();
        let work = (0..parts).map(|_| AtomicU64::new(0)).collect();
        let taken = (0..parts).map(|_| AtomicBool::new(false)).collect();
        let pace = Pace::new(pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads));
        // The first window has work enough, as far as is known.
        let latest = AtomicU64::new(LITTLE_NS);
        let none = AtomicU64::default;
        let (within, shared, shared_work, busiest) = (none(), none(), none(), none());
        Threads { pool, work, taken, within, latest, shared, shared_work, busiest, pace, call: Call::default() }
    }

    /// Threads that work at once: at most one per part.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Runs a world for so many events. It is one of the threads itself, so that no other has to wake it.
    pub fn run(&mut self, world: &mut dyn Simulation, events: u64) -> Progress {
        let Some(pool) = &self.pool else { return world.run_with(events, self) };
        self.call = Call { sharing: AtomicBool::new(self.pace.shares()), ..Call::default() };
        let (before, began) = (world.counters.events, Instant::now());
        let executor = &*self;
        let progress = pool.install(|| world.run_with(events, executor));
        self.pace.note(&Stretch {
            wall: began.elapsed().as_nanos() as u64,
            events: world.counters.events - before,
            cpu: self.call.cpu.load(Relaxed),
            shared: self.call.wall.load(Relaxed),
            given_up: self.pace.shares() && !self.call.sharing.load(Relaxed),
        });
        progress
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
            shared: self.shared.load(Relaxed) as f64 / count.max(1) as f64,
            busiest: seconds(&self.busiest) * self.count() as f64 / seconds(&self.shared_work).max(1e-9),
        })
    }

    /// Does `work` with every part that no other thread has begun with, first those of its own share.
    fn take(&self, shares: &[usize], parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let cpu = thread_cpu();
        let thread = rayon::current_thread_index().unwrap_or(0);
        let own = shares[thread]..shares[thread + 1];
        let others = (0..own.start).chain(own.end..parts).rev();
        self.work_on(own.chain(others).filter(|&part| !self.taken[part].swap(true, Relaxed)), work);
        let spent = (thread_cpu() - cpu).as_nanos() as u64;
        self.call.cpu.fetch_add(spent, Relaxed);
        self.call.most.fetch_max(spent, Relaxed);
    }

    fn work_on(&self, parts: impl Iterator<Item = usize>, work: &(dyn Fn(usize) + Sync)) {
        let mut began = Instant::now();
        for part in parts {
            work(part);
            let now = Instant::now();
            self.work[part].fetch_add((now - began).as_nanos() as u64, Relaxed);
            began = now;
        }
    }

    /// Threads that are awake take part. No window waits for one that is not, so that a machine with other work costs
    /// no more than the part that a thread was interrupted in.
    fn share_out(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        // A thread comes back to the same parts, whose state is in its core's cache, and helps the others out when it
        // is through.
        self.taken.iter().for_each(|taken| taken.store(false, Relaxed));
        let spent: Vec<u64> = self.work.iter().map(|spent| spent.load(Relaxed)).collect();
        let (shares, began, cpu) = (shares(&spent, self.count()), Instant::now(), self.call.cpu.load(Relaxed));
        self.call.most.store(0, Relaxed);
        rayon::scope(|scope| {
            for _ in 1..self.count() {
                scope.spawn(|_| self.take(&shares, parts, work));
            }
            self.take(&shares, parts, work);
        });
        self.shared.fetch_add(1, Relaxed);
        let latest = self.call.cpu.load(Relaxed) - cpu;
        self.latest.store(latest, Relaxed);
        self.shared_work.fetch_add(latest, Relaxed);
        self.busiest.fetch_add(self.call.most.load(Relaxed), Relaxed);
        let took = began.elapsed().as_nanos() as u64;
        let wall = self.call.wall.fetch_add(took, Relaxed) + took;
        if wall > self.call.cpu.load(Relaxed) + LOSS_NS {
            self.call.sharing.store(false, Relaxed);
        }
    }
}

impl Executor for Threads {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let began = Instant::now();
        if self.call.sharing.load(Relaxed) && self.latest.load(Relaxed) >= LITTLE_NS {
            self.share_out(parts, work);
        } else {
            self.work_on(0..parts, work);
            self.latest.store(began.elapsed().as_nanos() as u64, Relaxed);
        }
        self.within.fetch_add(began.elapsed().as_nanos() as u64, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A window does not wait for a thread that the system does not schedule: here one that is held up.
    #[test]
    fn a_window_ends_without_a_thread_that_does_not_run() {
        let mut executor = Threads::of(2, 5);
        executor.call.sharing.store(true, Relaxed);
        let pool = executor.pool.take().expect("two threads");
        let ((started, has_started), (release, released)) = (mpsc::channel(), mpsc::channel::<()>());
        pool.spawn(move || {
            started.send(()).expect("the test waits");
            let _ = released.recv();
        });
        has_started.recv().expect("a thread is free");
        executor.pool = Some(pool);
        let (executor, done) = (&executor, &[const { AtomicUsize::new(0) }; 5]);
        let (ended, has_ended) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let pool = executor.pool.as_ref().expect("two threads");
                pool.install(|| {
                    executor.each(5, &|part| {
                        done[part].fetch_add(1, Relaxed);
                    });
                });
                ended.send(()).expect("the test waits");
            });
            let in_time = has_ended.recv_timeout(Duration::from_secs(60));
            drop(release);
            assert!(in_time.is_ok(), "the window waited for a thread that does not run");
        });
        assert!(done.iter().all(|times| times.load(Relaxed) == 1), "{done:?}");
        assert_eq!(executor.shared.load(Relaxed), 1, "the window was offered to both");
    }

    #[test]
    fn windows_with_little_work_are_not_shared() {
        let executor = Threads::of(2, 3);
        executor.call.sharing.store(true, Relaxed);
        executor.latest.store(LITTLE_NS - 1, Relaxed);
        executor.each(3, &|_| {});
        assert_eq!(executor.shared.load(Relaxed), 0);
    }

    /// A window of a job that passes messages over links of 25 ns is too short for parts on one thread.
    #[test]
    fn hurried_sources_stay_whole_on_one_thread() {
        xoff_schemes::install_all();
        let text = "run.stop = \"1us\"\ntopology = { kind = \"rail\", servers = 40, gpus = 8, spines = 8 }\n\
            [[traffic]]\nkind = \"all-reduce\"\nbytes = \"1MB\"\n";
        let scenario = xoff_scenario::Scenario::from_text("t", text, std::path::Path::new("."));
        let loaded = scenario.load(&xoff_scenario::Options::default()).unwrap();
        let parts = |reacts| cut(&loaded.plan, reacts).into_iter().max().map_or(0, |last| last + 1);
        assert!(hosts(&loaded.plan) >= MANY_HOSTS && parts(false) > 1, "{} hosts", hosts(&loaded.plan));
        assert_eq!(parts(true), 1);
    }
}
