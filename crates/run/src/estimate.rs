//! What more threads would bring to a run in parts: its windows run on one thread, and on paper on more.
//!
//! The schedule is that of [`Threads`](crate::threads::Threads): every thread begins with its own share of the parts and
//! then helps the others. What a schedule of measured work cannot know: what threads cost each other in caches, in memory
//! and in turbo frequencies, and that a thread is not scheduled at once.

use crate::threads::{LITTLE_NS, shares};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use xoff_fabric::window::Executor;

/// Runs all parts on one thread and keeps what so many threads would have taken.
pub struct Estimate {
    threads: Vec<usize>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Nanoseconds of work so far, by part.
    work: Vec<u64>,
    /// Nanoseconds within windows on so many threads.
    within: Vec<u64>,
    /// Nanoseconds of the busiest thread in windows that are worth sharing.
    busiest: Vec<u64>,
    /// Nanoseconds of all work, and of that in windows that are worth sharing.
    all: u64,
    shared: u64,
}

/// What one number of threads would bring.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimated {
    /// How many there would be.
    pub threads: usize,
    /// Time of one thread over that of these, if `between` seconds more of one thread lie between windows.
    pub speed: f64,
    /// The work of the busiest thread over the mean of all, in windows that are worth sharing.
    pub busiest: f64,
}

impl Estimate {
    /// For a run in so many parts, and each of these numbers of threads.
    pub fn new(parts: usize, threads: &[usize]) -> Estimate {
        let none = || vec![0; threads.len()];
        let state = State { work: vec![0; parts], within: none(), busiest: none(), ..State::default() };
        Estimate { threads: threads.to_vec(), state: Mutex::new(state) }
    }

    /// For a run of `wall` seconds in all.
    pub fn estimates(&self, wall: f64) -> Vec<Estimated> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let between = (wall - seconds(state.all)).max(0.0);
        let of = |(index, &threads): (usize, &usize)| Estimated {
            threads,
            speed: wall / (between + seconds(state.within[index])),
            busiest: (state.busiest[index] * threads as u64) as f64 / state.shared.max(1) as f64,
        };
        self.threads.iter().enumerate().map(of).collect()
    }
}

impl State {
    /// Adds a window, in which parts took so many nanoseconds.
    fn add(&mut self, window: &[u64], threads: &[usize]) {
        let all = window.iter().sum();
        self.all += all;
        let sharing = all >= LITTLE_NS;
        self.shared += if sharing { all } else { 0 };
        for (index, &count) in threads.iter().enumerate() {
            let took = if sharing { makespan(window, &shares(&self.work, count)) } else { all };
            self.within[index] += took;
            self.busiest[index] += if sharing { took } else { 0 };
        }
        for (work, took) in self.work.iter_mut().zip(window) {
            *work += took;
        }
    }
}

/// When the last thread is through with a window: each takes the parts of its own share, then those that others have not
/// begun with, the last ones first.
fn makespan(window: &[u64], shares: &[usize]) -> u64 {
    let threads = shares.len() - 1;
    let mut taken = vec![false; window.len()];
    let mut orders: Vec<_> = (0..threads)
        .map(|thread| {
            let own = shares[thread]..shares[thread + 1];
            own.clone().chain((0..own.start).chain(own.end..window.len()).rev())
        })
        .collect();
    // The thread that is free first takes the next part.
    let mut free: BinaryHeap<Reverse<(u64, usize)>> = (0..threads).map(|thread| Reverse((0, thread))).collect();
    let mut last = 0;
    while let Some(Reverse((time, thread))) = free.pop() {
        if let Some(part) = orders[thread].find(|&part| !taken[part]) {
            taken[part] = true;
            last = last.max(time + window[part]);
            free.push(Reverse((time + window[part], thread)));
        }
    }
    last
}

impl Executor for Estimate {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let mut window = Vec::with_capacity(parts);
        let mut began = Instant::now();
        for part in 0..parts {
            work(part);
            let now = Instant::now();
            window.push((now - began).as_nanos() as u64);
            began = now;
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner).add(&window, &self.threads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_begin_with_their_own_and_then_help() {
        // The second thread has parts 2 and 3; when it is through, it takes part 1 of the first.
        assert_eq!(makespan(&[70, 20, 10, 10], &[0, 2, 4]), 70);
        assert_eq!(makespan(&[70, 20, 10, 10], &[0, 4]), 110);
        // A thread without parts of its own helps at once.
        assert_eq!(makespan(&[30, 30], &[0, 2, 2]), 30);
        assert_eq!(makespan(&[], &[0, 0, 0]), 0);
    }

    #[test]
    fn the_largest_part_bounds_what_threads_bring() {
        let threads = [1, 2, 4, 16];
        let mut state = State { work: vec![0; 3], within: vec![0; 4], busiest: vec![0; 4], ..State::default() };
        for _ in 0..10 {
            state.add(&[60_000, 30_000, 30_000], &threads);
        }
        assert_eq!((state.all, state.within), (1_200_000, vec![1_200_000, 600_000, 600_000, 600_000]));
        let estimate = Estimate {
            threads: threads.to_vec(),
            state: Mutex::new(State {
                work: vec![],
                within: vec![1_200_000, 600_000, 600_000, 600_000],
                busiest: vec![1_200_000, 600_000, 600_000, 600_000],
                all: 1_200_000,
                shared: 1_200_000,
            }),
        };
        // 0.3 of 1.5 ms lie between windows.
        let speeds: Vec<f64> = estimate.estimates(0.0015).iter().map(|of| of.speed).collect();
        assert!((speeds[0] - 1.0).abs() < 1e-9 && (speeds[1] - 1.5 / 0.9).abs() < 1e-9, "{speeds:?}");
        assert_eq!(estimate.estimates(0.0015)[2].busiest, 2.0);
    }

    #[test]
    fn windows_with_little_work_stay_on_one_thread() {
        let mut state = State { work: vec![0; 2], within: vec![0], busiest: vec![0], ..State::default() };
        state.add(&[LITTLE_NS / 4, LITTLE_NS / 4], &[2]);
        assert_eq!((state.within[0], state.busiest[0], state.shared), (LITTLE_NS / 2, 0, 0));
    }
}
