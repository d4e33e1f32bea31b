//! What is kept of a job's run, and the numbers made of it.

use crate::dag::Collective;
use xoff_engine::{Span, Time};

/// A rank's activity in one iteration: when it began, and when it was over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Interval {
    pub iteration: u32,
    /// Index into the graph's activities.
    pub activity: u32,
    /// Start of its first operation.
    pub begin: Time,
    /// End of its last; `None` if the run ended before.
    pub end: Option<Time>,
}

/// Algorithm bandwidth as nccl-tests reports it: size by time, in units of 10^9 bytes per second.
pub fn algorithm_bandwidth(bytes: u64, time: Span) -> f64 {
    bytes as f64 / time.as_s() / 1e9
}

/// What turns algorithm bandwidth into bus bandwidth, which does not depend on the number of ranks if links are all
/// that matters (nccl-tests:doc/PERFORMANCE.md). `None`: moves no data.
pub fn bus_factor(what: Collective, ranks: u32) -> Option<f64> {
    let n = f64::from(ranks.max(1));
    match what {
        Collective::AllReduce => Some(2.0 * (n - 1.0) / n),
        Collective::ReduceScatter | Collective::AllGather | Collective::AllToAll => Some((n - 1.0) / n),
        Collective::Broadcast | Collective::Reduce => Some(1.0),
        Collective::Barrier => None,
    }
}

/// Time within any of these, which may overlap.
pub fn covered(times: &[(Time, Time)]) -> Span {
    union(times).iter().fold(Span::ZERO, |sum, (begin, end)| sum + (*end - *begin))
}

/// Exposed time: that of communication during which the same rank computes nothing.
pub fn exposed(communication: &[(Time, Time)], compute: &[(Time, Time)]) -> Span {
    covered(&exposed_times(communication, compute))
}

/// When communication is exposed, in order and apart.
pub fn exposed_times(communication: &[(Time, Time)], compute: &[(Time, Time)]) -> Vec<(Time, Time)> {
    let (communication, compute) = (union(communication), union(compute));
    let (mut open, mut from) = (Vec::new(), 0);
    for (mut begin, end) in communication {
        while compute.get(from).is_some_and(|busy| busy.1 <= begin) {
            from += 1;
        }
        for busy in compute[from..].iter().take_while(|busy| busy.0 < end) {
            if begin < busy.0 {
                open.push((begin, busy.0));
            }
            begin = busy.1.min(end);
        }
        if begin < end {
            open.push((begin, end));
        }
    }
    open
}

/// Intervals that cover those instants, in order and apart.
pub fn union(times: &[(Time, Time)]) -> Vec<(Time, Time)> {
    let mut sorted: Vec<_> = times.iter().copied().filter(|(begin, end)| begin < end).collect();
    sorted.sort_unstable();
    let mut apart: Vec<(Time, Time)> = Vec::with_capacity(sorted.len());
    for (begin, end) in sorted {
        match apart.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => apart.push((begin, end)),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(list: &[(u64, u64)]) -> Vec<(Time, Time)> {
        list.iter().map(|&(begin, end)| (Time::from_ns(begin), Time::from_ns(end))).collect()
    }

    #[test]
    fn bandwidths_are_those_of_nccl_tests() {
        assert_eq!(algorithm_bandwidth(1_000_000_000, Span::from_ms(1000)), 1.0);
        // nccl-tests:src/all_reduce.cu, all_gather.cu, broadcast.cu
        assert_eq!(bus_factor(Collective::AllReduce, 8), Some(1.75));
        assert_eq!(bus_factor(Collective::AllGather, 8), Some(0.875));
        assert_eq!(bus_factor(Collective::ReduceScatter, 4), Some(0.75));
        assert_eq!(bus_factor(Collective::AllToAll, 2), Some(0.5));
        assert_eq!(bus_factor(Collective::Broadcast, 8), Some(1.0));
        assert_eq!(bus_factor(Collective::Barrier, 8), None);
    }

    #[test]
    fn what_overlaps_counts_once() {
        assert_eq!(covered(&times(&[(5, 9), (0, 3), (2, 4), (9, 10), (7, 7)])), Span::from_ns(9));
    }

    #[test]
    fn compute_hides_communication() {
        let communication = times(&[(0, 10), (5, 12), (20, 30)]);
        assert_eq!(exposed(&communication, &[]), Span::from_ns(22));
        assert_eq!(exposed(&communication, &times(&[(0, 100)])), Span::ZERO);
        // Hidden: 2–4, 11–12 and 20–21, and 25–26 twice over.
        assert_eq!(exposed(&communication, &times(&[(2, 4), (11, 21), (25, 26), (25, 26)])), Span::from_ns(17));
    }
}
