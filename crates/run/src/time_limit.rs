//! How long one run may take: beyond it the run ends with a word of its own, and the others of a sweep go on.

use std::sync::OnceLock;
use std::time::{Duration, Instant};
use xoff_fabric::record::Failure;
use xoff_fabric::simulation::Simulation;

/// Set once, by the command line; else there is none.
static LIMIT: OnceLock<Duration> = OnceLock::new();

/// Sets the limit of every run, in time of the clock on the wall, before the first one.
pub fn set(limit: Duration) {
    let _ = LIMIT.set(limit);
}

/// Why the run must end, if it has taken too long since `began`.
pub(crate) fn look(began: Instant, world: &dyn Simulation) -> Option<Failure> {
    let limit = LIMIT.get().filter(|limit| began.elapsed() > **limit)?;
    Some(Failure::Time { at: world.now, limit_seconds: limit.as_secs_f64() })
}
