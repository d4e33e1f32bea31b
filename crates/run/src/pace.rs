//! Decides whether threads share the windows of a run, by what earlier windows cost.
//!
//! Results do not depend on it. On idle cores threads always share. On a machine with other work a window waits for a
//! thread that the system does not schedule, so the run continues with one thread and tries again later, less often each
//! time.

/// A stretch of windows in which threads always shared, or one thread worked alone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stretch {
    /// Nanoseconds of wall time.
    pub wall: u64,
    /// Events handled.
    pub events: u64,
    /// Nanoseconds of CPU time that all threads worked in shared windows.
    pub cpu: u64,
    /// Nanoseconds of wall time in shared windows.
    pub shared: u64,
    /// Whether sharing was given up within the stretch.
    pub given_up: bool,
}

/// Shortest stretch that is judged, in nanoseconds of wall time.
const STRETCH_NS: u64 = 5_000_000;
/// CPU time of a shared window per thread and wall time, from which on sharing is not questioned.
const GOOD: f64 = 0.7;
/// Stretches of one thread after the first shared one that was bad, and at most.
const PAUSE: u32 = 16;
const LONGEST_PAUSE: u32 = 256;
/// Stretches in which threads share unquestioned after one thread was slower.
const TRUST: u32 = 16;

#[derive(Debug)]
pub(crate) struct Pace {
    threads: f64,
    sharing: bool,
    /// Not yet long enough to be judged.
    current: Stretch,
    /// Stretches before the other way is tried.
    left: u32,
    /// Length of the next pause, in stretches.
    pause: u32,
    /// Events per nanosecond of the last shared stretch that was bad.
    shared_rate: f64,
    /// Events per nanosecond of the last shared stretch that was good, if none was bad since.
    good_rate: f64,
    /// That speed when the present pause began: if one thread is slower, what was bad may have been chance.
    hope: f64,
    /// What one thread did in the present pause.
    alone: Stretch,
}

impl Stretch {
    fn rate(&self) -> f64 {
        self.events as f64 / self.wall.max(1) as f64
    }

    fn add(&mut self, other: &Stretch) {
        self.wall += other.wall;
        self.events += other.events;
        self.cpu += other.cpu;
        self.shared += other.shared;
        self.given_up |= other.given_up;
    }
}

impl Pace {
    pub fn new(threads: usize) -> Pace {
        Pace {
            threads: threads as f64,
            sharing: threads > 1,
            current: Stretch::default(),
            left: 0,
            pause: PAUSE,
            shared_rate: 0.0,
            good_rate: 0.0,
            hope: 0.0,
            alone: Stretch::default(),
        }
    }

    /// Whether threads share the next stretch.
    pub fn shares(&self) -> bool {
        self.sharing
    }

    /// Takes what the windows since the last call cost.
    pub fn note(&mut self, latest: &Stretch) {
        if self.threads < 2.0 {
            return;
        }
        self.current.add(latest);
        if self.current.wall < STRETCH_NS && !self.current.given_up {
            return;
        }
        let stretch = std::mem::take(&mut self.current);
        if self.sharing { self.judge_shared(&stretch) } else { self.judge_alone(&stretch) }
    }

    fn judge_shared(&mut self, stretch: &Stretch) {
        if !stretch.given_up && stretch.cpu as f64 >= GOOD * self.threads * stretch.shared as f64 {
            (self.pause, self.left, self.good_rate) = (PAUSE, 0, stretch.rate());
        } else if self.left > 0 && !stretch.given_up {
            self.left -= 1;
        } else {
            self.shared_rate = if stretch.given_up { 0.0 } else { stretch.rate() };
            self.hope = std::mem::take(&mut self.good_rate);
            (self.sharing, self.left, self.alone) = (false, self.pause, Stretch::default());
        }
    }

    fn judge_alone(&mut self, stretch: &Stretch) {
        self.alone.add(stretch);
        self.left -= 1;
        if self.alone.rate() < 0.95 * self.shared_rate {
            (self.sharing, self.left, self.pause) = (true, TRUST, PAUSE);
        } else if self.alone.rate() < 0.95 * std::mem::take(&mut self.hope) {
            (self.sharing, self.left) = (true, 0);
        } else if self.left == 0 {
            self.sharing = true;
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// What 10,000 events cost: `alone` ms with one thread; `shared` ms and `cpu` ms of work with two.
    fn drive(pace: &mut Pace, rounds: usize, alone: u64, shared: u64, cpu: u64) -> (usize, u64) {
        let (mut sharing, mut wall) = (0, 0);
        for _ in 0..rounds {
            let stretch = if pace.shares() {
                sharing += 1;
                Stretch { wall: shared * MS, events: 10_000, cpu: cpu * MS, shared: shared * MS, given_up: false }
            } else {
                Stretch { wall: alone * MS, events: 10_000, ..Stretch::default() }
            };
            wall += stretch.wall;
            pace.note(&stretch);
        }
        (sharing, wall)
    }

    #[test]
    fn idle_cores_always_share() {
        let mut pace = Pace::new(2);
        assert_eq!(drive(&mut pace, 1000, 10, 6, 10), (1000, 6000 * MS));
    }

    #[test]
    fn a_busy_machine_slows_a_run_by_little() {
        let mut pace = Pace::new(2);
        // Shared windows wait: eight times the time of one thread.
        let (sharing, wall) = drive(&mut pace, 1000, 10, 80, 10);
        assert!(sharing <= 12, "{sharing} of 1000 shared");
        assert!(wall < 11_000 * MS, "{} ms where one thread takes 10000", wall / MS);
        // When the others have gone, threads share again.
        let (sharing, _) = drive(&mut pace, 1000, 10, 6, 10);
        assert!(sharing >= 700, "{sharing} of 1000 shared");
    }

    #[test]
    fn threads_share_where_one_is_slower_even_if_they_wait() {
        let mut pace = Pace::new(2);
        // Two threads of four that compete for two cores do as much as one core.
        let (sharing, _) = drive(&mut pace, 1000, 15, 11, 12);
        assert!(sharing > 900, "{sharing} of 1000 shared");
    }

    #[test]
    fn sharing_that_is_given_up_within_a_stretch_counts_as_slow() {
        let mut pace = Pace::new(4);
        pace.note(&Stretch { wall: MS, events: 1, cpu: MS, shared: MS / 4, given_up: true });
        assert!(!pace.shares());
    }

    #[test]
    fn a_moment_of_other_work_costs_a_moment() {
        let mut pace = Pace::new(2);
        drive(&mut pace, 10, 10, 6, 10);
        pace.note(&Stretch { wall: 9 * MS, events: 10_000, cpu: 4 * MS, shared: 9 * MS, given_up: true });
        assert!(!pace.shares());
        // One stretch of one thread tells that sharing was faster before.
        assert_eq!(drive(&mut pace, 100, 10, 6, 10).0, 99);
    }

    #[test]
    fn one_thread_has_nobody_to_share_with() {
        let mut pace = Pace::new(1);
        assert_eq!(drive(&mut pace, 10, 10, 6, 10).0, 0);
    }
}
