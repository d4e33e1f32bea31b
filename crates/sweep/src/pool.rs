//! A queue of runs over the cores: the longest first, each made or found, results in the order asked for.
//!
//! `compare`, `reproduce` and `sweep` all run through it.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use xoff_scenario::Diagnostic;

/// One run to be made, or to be found made.
pub trait Job: Sync {
    /// What it leaves.
    type Made: Send;

    fn name(&self) -> String;

    /// CPU seconds it is thought to take; what matters is how they compare.
    fn cost(&self) -> f64 {
        1.0
    }

    /// The run, and whether it had to be made.
    fn run(&self) -> Result<(Self::Made, bool), Failed>;
}

#[derive(Debug)]
pub enum Failed {
    /// Something is wrong with what was asked for.
    BadInput(Vec<Diagnostic>),
    System(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::System(error)
    }
}

impl From<Vec<Diagnostic>> for Failed {
    fn from(problems: Vec<Diagnostic>) -> Failed {
        Failed::BadInput(problems)
    }
}

#[derive(Clone, Debug)]
pub struct Progress {
    /// Made or found.
    pub done: usize,
    /// Number of those made now.
    pub made: usize,
    pub total: usize,
    /// Part of the expected CPU time that is behind us, from 0 to 1; what was found finished is left out.
    pub part: f64,
    /// What began or ended last.
    pub current: String,
    /// The run made now that took longest, and its seconds.
    pub slowest: Option<(String, f64)>,
}

struct Behind {
    done: usize,
    runs_made: usize,
    /// Expected CPU seconds of runs that were found, and of those that were made.
    found: f64,
    made: f64,
    slowest: Option<(String, f64)>,
}

impl Behind {
    fn progress(&self, total: usize, all_cost: f64, current: &str) -> Progress {
        let left_to_make = (all_cost - self.found).max(f64::MIN_POSITIVE);
        let part = if self.done == total { 1.0 } else { (self.made / left_to_make).min(1.0) };
        Progress {
            done: self.done,
            made: self.runs_made,
            total,
            part,
            current: current.to_owned(),
            slowest: self.slowest.clone(),
        }
    }
}

/// Makes all runs, so many at a time, and tells `watch` whenever one begins or ends. The first that cannot be made
/// ends the whole; those under way are finished.
pub fn run_all<J: Job>(
    jobs: &[J],
    at_a_time: usize,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<J::Made>, Failed> {
    // The longest first, so that no core waits long at the end; ties in the order asked for.
    let mut queue: Vec<usize> = (0..jobs.len()).collect();
    queue.sort_by(|a, b| jobs[*b].cost().total_cmp(&jobs[*a].cost()));
    let all_cost: f64 = jobs.iter().map(Job::cost).sum();
    let made: Vec<Mutex<Option<J::Made>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let behind = Mutex::new(Behind { done: 0, runs_made: 0, found: 0.0, made: 0.0, slowest: None });
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let failed: Mutex<Option<Failed>> = Mutex::new(None);
    let tell = |name: &str, ended: Option<(f64, bool, f64)>| {
        let mut behind = behind.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((cost, was_made, seconds)) = ended {
            behind.done += 1;
            behind.runs_made += usize::from(was_made);
            *if was_made { &mut behind.made } else { &mut behind.found } += cost;
            if was_made && behind.slowest.as_ref().is_none_or(|(_, known)| seconds > *known) {
                behind.slowest = Some((name.to_owned(), seconds));
            }
        }
        watch(behind.progress(jobs.len(), all_cost, name));
    };
    let work = || {
        while let Some(&index) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let (job, name) = (&jobs[index], jobs[index].name());
            tell(&name, None);
            let began = Instant::now();
            match job.run() {
                Ok((run, was_made)) => {
                    *made[index].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(run);
                    tell(&name, Some((job.cost(), was_made, began.elapsed().as_secs_f64())));
                }
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_a_time.clamp(1, jobs.len().max(1)) {
            scope.spawn(work);
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(error);
    }
    let made = made.into_iter().map(|run| run.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
    made.map(|run| run.ok_or_else(|| Failed::System(io::Error::other("a run was left out")))).collect()
}

/// Number of runs at a time: one per core.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Square(u64, &'static Mutex<Vec<u64>>);

    impl Job for Square {
        type Made = u64;
        fn name(&self) -> String {
            self.0.to_string()
        }
        fn cost(&self) -> f64 {
            self.0 as f64
        }
        fn run(&self) -> Result<(u64, bool), Failed> {
            self.1.lock().unwrap().push(self.0);
            match self.0 {
                13 => Err(Failed::System(io::Error::other("unlucky"))),
                n => Ok((n * n, n.is_multiple_of(2))),
            }
        }
    }

    #[test]
    fn the_longest_begin_and_results_come_in_order() {
        static BEGUN: Mutex<Vec<u64>> = Mutex::new(Vec::new());
        let jobs: Vec<Square> = [3, 1, 4, 2].map(|n| Square(n, &BEGUN)).into();
        let told = Mutex::new(Vec::new());
        let made = run_all(&jobs, 1, &|at| told.lock().unwrap().push((at.done, at.made, at.part))).unwrap();
        assert_eq!(made, [9, 1, 16, 4]);
        assert_eq!(*BEGUN.lock().unwrap(), [4, 3, 2, 1]);
        // 4 and 2 were made, 3 and 1 found: what was found costs nothing.
        assert_eq!(told.into_inner().unwrap().last(), Some(&(4, 2, 1.0)));
    }

    #[test]
    fn one_that_cannot_be_made_ends_the_whole() {
        static BEGUN: Mutex<Vec<u64>> = Mutex::new(Vec::new());
        let jobs: Vec<Square> = [13, 1, 20].map(|n| Square(n, &BEGUN)).into();
        assert!(matches!(run_all(&jobs, 1, &|_| {}), Err(Failed::System(error)) if error.to_string() == "unlucky"));
        assert_eq!(*BEGUN.lock().unwrap(), [20, 13]);
        assert!(run_all::<Square>(&[], 3, &|_| {}).unwrap().is_empty());
    }
}
