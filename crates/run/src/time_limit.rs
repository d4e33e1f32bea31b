//! Time limit of one run: beyond it the run fails by name, and the others of a sweep continue.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use xoff_fabric::record::Failure;
use xoff_fabric::simulation::Simulation;

/// In nanoseconds; the largest number is none.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets the limit of every run from now on, in time of the clock on the wall.
pub fn set(limit: Option<Duration>) {
    let nanoseconds = limit.map_or(u64::MAX, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    LIMIT.store(nanoseconds, Ordering::Relaxed);
}

/// Why the run must end, if it has taken too long since `began`.
pub(crate) fn look(began: Instant, world: &dyn Simulation) -> Option<Failure> {
    let limit = LIMIT.load(Ordering::Relaxed);
    let over = limit != u64::MAX && began.elapsed().as_nanos() > u128::from(limit);
    over.then(|| Failure::Time { at: world.now, limit_seconds: limit as f64 / 1e9 })
}
