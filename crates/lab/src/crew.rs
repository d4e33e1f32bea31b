//! Parts and threads of one run: how a network is cut, and who lets the parts run.
//!
//! Large networks are cut whatever the number of threads: a part fits in the cache. Results are the same for every
//! cut and every number of threads, to the last byte.

use rayon::prelude::*;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use xoff_fabric::part::Part;
use xoff_fabric::partition;
use xoff_fabric::plan::{NodeKind, Plan};
use xoff_fabric::window::{Alone, Crew};
use xoff_schemes::Any;

/// Hosts from which on a network is cut.
const MANY_HOSTS: usize = 1024;
/// Ports of the switches of a part: a few racks.
const PORTS: u32 = 64;

static THREADS: OnceLock<NonZeroUsize> = OnceLock::new();

/// Threads of each run from now on; one if never said. What several runs side by side do need not say.
pub fn set_threads(threads: NonZeroUsize) {
    let _ = THREADS.set(threads);
}

/// Threads that pay for a network: all cores if it is large.
pub fn threads_for(plan: &Plan) -> NonZeroUsize {
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    if hosts(plan) < MANY_HOSTS { NonZeroUsize::MIN } else { cores }
}

fn hosts(plan: &Plan) -> usize {
    plan.nodes.iter().filter(|node| node.kind == NodeKind::Host).count()
}

fn threads() -> usize {
    THREADS.get().map_or(1, |threads| threads.get())
}

/// The part of every node.
pub fn cut(plan: &Plan) -> Vec<u16> {
    if hosts(plan) < MANY_HOSTS && threads() == 1 {
        return vec![0; plan.nodes.len()];
    }
    // Several parts for each thread, so that none waits long for another.
    let wanted = (plan.ports() / (8 * threads())) as u32;
    partition::cut(plan, PORTS.min(wanted.max(1)))
}

/// Who lets the parts of a run with so many run, and how many threads that are.
pub fn crew(parts: usize) -> (Box<dyn Crew<Any>>, usize) {
    let threads = threads().min(parts);
    if threads > 1
        && let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build()
    {
        return (Box::new(Threads(pool)), threads);
    }
    (Box::new(Alone), 1)
}

/// Threads that share the parts out among themselves.
struct Threads(rayon::ThreadPool);

impl Crew<Any> for Threads {
    fn each(&self, parts: &mut [Part<Any>], work: &(dyn Fn(&mut Part<Any>) + Sync)) {
        self.0.install(|| parts.par_iter_mut().with_max_len(1).for_each(work));
    }
}
