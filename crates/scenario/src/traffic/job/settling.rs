//! A job that stops once the mean of its iterations is known, with all other jobs of the run.

use super::log::JobLog;
use std::sync::{Arc, Mutex};
use xoff_engine::{Span, Time};
use xoff_jobs::Runner;
use xoff_jobs::settle::{Rule, Settled};

/// So many iterations are looked at one by one.
const LOOKED_AT_EACH: usize = 256;

/// The iterations of a job so far.
pub struct Settling {
    job: u32,
    rule: Rule,
    log: Arc<Mutex<JobLog>>,
    times: Vec<Span>,
    last: Time,
    stopped: bool,
}

impl Settling {
    /// The state of a job that starts at `start`. It counts among those that must agree.
    pub fn new(job: u32, rule: Rule, log: &Arc<Mutex<JobLog>>, start: Time) -> Settling {
        if let Ok(mut log) = log.lock() {
            log.waiting += 1;
        }
        Settling { job, rule, log: Arc::clone(log), times: Vec::new(), last: start, stopped: false }
    }

    /// Looks at what has happened by now; the job begins no further iteration once all jobs have settled.
    pub fn look(&mut self, now: Time, runner: &mut Runner) {
        let Ok(mut log) = self.log.lock() else { return };
        if self.stopped {
            return;
        }
        while (self.times.len() as u32) < runner.iterations_over() {
            self.times.push(now - self.last);
            self.last = now;
            // Of many, one look in so many costs little and tells as much.
            if self.times.len() > LOOKED_AT_EACH && !self.times.len().is_multiple_of(LOOKED_AT_EACH / 4) {
                continue;
            }
            match self.rule.settled(&self.times) {
                Some(settled) => log.settled.insert(self.job, settled),
                None => log.settled.remove(&self.job),
            };
        }
        if runner.is_over() {
            // It has run all of its iterations; others need not wait for it.
            self.stopped = true;
            log.waiting -= 1;
            log.settled.remove(&self.job);
        }
        log.stopped |= log.waiting > 0 && log.settled.len() == log.waiting;
        if log.stopped && !self.stopped {
            let (asked, ran) = (runner.job().iterations, runner.stop_early());
            self.stopped = true;
            match log.settled.get(&self.job).copied().filter(|_| ran < asked) {
                Some(settled) => log.settled.insert(self.job, Settled { ran, ..settled }),
                None => log.settled.remove(&self.job),
            };
        }
    }
}
