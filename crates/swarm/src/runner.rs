//! Very many scenarios on several threads, within limits of time and memory.

use crate::scenario::text;
use crate::trial::{self, Ending, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A scenario of milliseconds that takes this long hangs.
const LONGEST: Duration = Duration::from_secs(60);
/// All scenarios at work together hold less than this.
const MEMORY_LARGEST: u64 = 4 << 30;
/// One scenario of this many is run twice.
const REPEATED: u64 = 16;

/// What to run.
#[derive(Clone, Debug)]
pub struct Request {
    pub first: u64,
    pub cases: u64,
    pub jobs: usize,
    pub time: Option<Duration>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub cases: u64,
    pub packet_hops: u64,
    pub repeated: u64,
    /// Number of runs by outcome; refusals by their messages without names and numbers.
    pub endings: BTreeMap<String, u64>,
    /// Seeds and what was wrong.
    pub violations: Vec<(u64, String)>,
    pub slowest: (Duration, u64),
    /// What was put to the test at least once.
    pub reached: BTreeSet<String>,
}

/// Runs all cases. `watch` receives the tally about once a second, `hang` a seed that takes too much time or
/// memory, after which the process must end.
pub fn run(request: &Request, watch: impl Fn(&Tally) + Sync, hang: impl Fn(u64, &str) + Sync) -> Tally {
    let began = Instant::now();
    let next = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    let tally = Mutex::new(Tally::default());
    let at_work: Vec<Mutex<Option<(u64, Instant)>>> = (0..request.jobs).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> = at_work
            .iter()
            .map(|mine| {
                let (next, tally) = (&next, &tally);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let late = request.time.is_some_and(|time| began.elapsed() > time);
                        if number >= request.cases || late {
                            return;
                        }
                        one(request.first.wrapping_add(number), mine, tally);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let mut looks = 0u64;
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                overseen(&at_work, &hang);
                looks += 1;
                if looks.is_multiple_of(20) {
                    watch(&lock(&tally));
                }
            }
        });
        // A worker catches the panics of what it runs; its own are a fault of the swarm.
        workers.into_iter().for_each(|worker| worker.join().expect("a worker of the swarm panicked"));
        done.store(true, Ordering::Relaxed);
    });
    let mut tally = lock(&tally).clone();
    tally.violations.sort();
    tally
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn one(seed: u64, mine: &Mutex<Option<(u64, Instant)>>, tally: &Mutex<Tally>) {
    let start = Instant::now();
    *lock(mine) = Some((seed, start));
    let text = text(seed);
    let mut verdict = trial::judge(&text);
    let repeated = seed.is_multiple_of(REPEATED) && verdict.ending == Ending::Finished;
    if repeated {
        verdict.violations.extend(trial::differs_when_repeated(&text));
    }
    *lock(mine) = None;
    let mut tally = lock(tally);
    tally.cases += 1;
    tally.repeated += u64::from(repeated);
    tally.packet_hops += verdict.packet_hops;
    *tally.endings.entry(named(&verdict)).or_default() += 1;
    tally.violations.extend(verdict.violations.into_iter().map(|violation| (seed, violation)));
    tally.reached.extend(verdict.reached);
    tally.slowest = tally.slowest.max((start.elapsed(), seed));
}

fn named(verdict: &Verdict) -> String {
    match &verdict.ending {
        Ending::Finished => "finished".to_owned(),
        Ending::Failed(why) => format!("network failed: {why}"),
        Ending::Refused(message) => format!("refused: {}", reason(message)),
        Ending::Panicked => "panicked".to_owned(),
    }
}

/// A message without the names and numbers of its scenario.
fn reason(message: &str) -> String {
    let mut text = String::new();
    for (index, part) in message.split('`').enumerate() {
        // Every second part is within back-quotes.
        text.push_str(if index % 2 == 1 { "`...`" } else { part });
    }
    let digits = |text: String| text.chars().map(|c| if c.is_ascii_digit() { 'N' } else { c }).collect::<String>();
    let mut text = digits(text);
    while text.contains("NN") {
        text = text.replace("NN", "N");
    }
    text
}

fn overseen(at_work: &[Mutex<Option<(u64, Instant)>>], hang: &impl Fn(u64, &str)) {
    let memory = resident_bytes();
    let now: Vec<(u64, Instant)> = at_work.iter().filter_map(|mine| *lock(mine)).collect();
    let oldest = now.iter().min_by_key(|(_, since)| *since);
    if let Some((seed, since)) = oldest {
        if since.elapsed() > LONGEST {
            hang(*seed, "takes longer than a minute");
        } else if memory > MEMORY_LARGEST {
            hang(*seed, "or one beside it takes gigabytes of memory");
        }
    }
}

/// What this process holds now; zero where the system does not say.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn reasons_leave_out_what_differs_between_scenarios() {
        assert_eq!(reason("`rcm` controls 12 of 3.5KB"), "`...` controls N of N.NKB");
    }
}
