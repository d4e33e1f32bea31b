//! CPU time that a run costs, whatever else the machine does.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time of this thread.
pub fn thread_cpu() -> Duration {
    time(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process.
pub(crate) fn process_cpu() -> Duration {
    time(ClockId::ProcessCPUTime)
}

fn time(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
