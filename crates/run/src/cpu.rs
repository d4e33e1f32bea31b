//! CPU time that a run costs, and cores that other work leaves free.

use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Length of one look at the machine, and the number of looks before other work counts as lasting: the program at the
/// other end of a pipe takes some 20 ms to start.
const LOOK: Duration = Duration::from_millis(2);
const LOOKS: usize = 15;

/// Cores that this process may use and that run nothing else; at least one. All that it may use, if the system does not
/// tell what runs.
pub(crate) fn free_cores() -> NonZeroUsize {
    let usable = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let online = fs::read_to_string("/proc/stat").map_or(usable.get(), |stat| online(&stat));
    let mut best = NonZeroUsize::MIN;
    for _ in 0..LOOKS {
        if best == usable {
            break;
        }
        let Some(running) = look() else { return usable };
        best = best.max(free(usable, online, running));
    }
    best
}

/// Threads that run or wait for a core, this one included: the median of some milliseconds.
fn look() -> Option<usize> {
    let (began, mut counts) = (Instant::now(), Vec::new());
    // Without sleep: another run that looks at the same time must see this one.
    while began.elapsed() < LOOK {
        counts.push(running(&fs::read_to_string("/proc/loadavg").ok()?)?);
    }
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied()
}

/// Cores of the machine: `/proc/stat` has a line `cpuN` for each.
fn online(stat: &str) -> usize {
    let is_core = |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| !rest.starts_with(' '));
    stat.lines().filter(is_core).count()
}

/// The fourth field of `/proc/loadavg` is "running/all".
fn running(loadavg: &str) -> Option<usize> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

/// Cores left where `running` threads use one each of `online`; one of these threads asks.
fn free(usable: NonZeroUsize, online: usize, running: usize) -> NonZeroUsize {
    let others = running.saturating_sub(1);
    NonZeroUsize::new(online.saturating_sub(others)).unwrap_or(NonZeroUsize::MIN).min(usable)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_work_takes_cores() {
        let of = |usable, online, running| free(NonZeroUsize::new(usable).expect("cores"), online, running).get();
        assert_eq!(running("1.47 1.24 1.68 3/83 25705\n"), Some(3));
        assert_eq!(online("cpu  9 0 3\ncpu0 4 0 1\ncpu1 5 0 2\nintr 7\n"), 2);
        assert_eq!((of(2, 2, 1), of(2, 2, 2), of(2, 2, 3)), (2, 1, 1));
        // A container with two cores of a large machine.
        assert_eq!((of(2, 64, 10), of(2, 64, 64), of(2, 64, 200)), (2, 1, 1));
    }
}
