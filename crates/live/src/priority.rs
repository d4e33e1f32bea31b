//! Real-time priority for the thread that runs a testbed: timers are late by microseconds instead of milliseconds while
//! other programs are busy.

use std::fmt;
use std::io;
use std::marker::PhantomData;

/// Above every program with ordinary scheduling, below most threads of the kernel.
#[cfg(target_os = "linux")]
const LEVEL: i32 = 1;

/// The nice level that a run with an elastic clock asks for, unless told otherwise: before all others.
pub const NICE: i32 = -20;

/// The calling thread takes this nice level, if the system grants it: with a low one it goes before others of ordinary
/// scheduling, and an elastic clock stands still less often. It must not have real-time priority, since it hardly ever
/// sleeps.
pub fn set_nice(level: i32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::setpriority_process(None, level)?;
    let _ = level;
    Ok(())
}

/// The calling thread has real-time priority for as long as this value lives, which is why it stays on its thread.
#[derive(Debug)]
pub struct RealTime {
    _of_this_thread: PhantomData<*const ()>,
}

/// The system did not grant real-time priority: the run is as exact as the machine is idle.
#[derive(Debug)]
pub struct NotGranted {
    why: io::Error,
}

impl RealTime {
    /// First in, first out; a thread that never sleeps is stopped by the kernel for 50 ms of every second.
    #[cfg(target_os = "linux")]
    pub fn request() -> Result<RealTime, NotGranted> {
        crate::os::set_scheduling(libc::SCHED_FIFO, LEVEL).map_err(|why| NotGranted { why })?;
        Ok(RealTime { _of_this_thread: PhantomData })
    }

    /// Only Linux is asked for it.
    #[cfg(not(target_os = "linux"))]
    pub fn request() -> Result<RealTime, NotGranted> {
        Err(NotGranted { why: io::Error::from(io::ErrorKind::Unsupported) })
    }
}

#[cfg(target_os = "linux")]
impl Drop for RealTime {
    fn drop(&mut self) {
        // Ordinary scheduling is refused to nobody.
        let _ = crate::os::set_scheduling(libc::SCHED_OTHER, 0);
    }
}

impl fmt::Display for NotGranted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "real-time priority was not granted ({}); hint: run it with sudo, or raise `ulimit -r` to 1",
            self.why
        )
    }
}

impl std::error::Error for NotGranted {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Field 41 of `/proc/.../stat`; names of threads may have spaces, so it is counted from the parenthesis.
    fn policy() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(38).unwrap().parse().unwrap()
    }

    #[test]
    fn priority_is_real_time_while_it_is_held_or_reported_as_not_granted() {
        let before = policy();
        match RealTime::request() {
            Ok(held) => {
                assert_eq!(policy(), libc::SCHED_FIFO);
                drop(held);
            }
            Err(refused) => assert!(refused.to_string().contains("not granted"), "{refused}"),
        }
        assert_eq!(policy(), before);
    }
}
