//! Training jobs as data of a replay: what every rank did, and how many waited for the network.

use crate::contract;
use crate::jobs::activities::{Activities, Activity};
use std::collections::BTreeMap;
use xoff_engine::Time;
use xoff_jobs::record::exposed_times;

contract! {
    pub struct ActivityTable<'a> as ActivityTable {
        /// Names of activities and of kinds.
        texts: &'a [String],
        /// By job: names of ranks.
        ranks: &'a [Vec<String>],
        job: Vec<u32>,
        rank: Vec<u32>,
        name: Vec<u32>,
        kind: Vec<u32>,
        iteration: Vec<u64>,
        begin_us: Vec<f64>,
        end_us: Vec<Option<f64>>,
    }
}

/// All activities, in the order of their begins.
pub fn table(activities: &Activities) -> ActivityTable<'_> {
    let Activities { words, ranks, list } = activities;
    let column = |of: fn(&Activity) -> u32| list.iter().map(of).collect();
    ActivityTable {
        texts: words.all(),
        ranks,
        job: column(|of| of.job),
        rank: column(|of| of.rank),
        name: column(|of| of.name),
        kind: column(|of| of.kind),
        iteration: list.iter().map(|of| of.iteration).collect(),
        begin_us: list.iter().map(|of| of.begin.as_us()).collect(),
        end_us: list.iter().map(|of| of.end.map(Time::as_us)).collect(),
    }
}

type Times = Vec<(Time, Time)>;

/// How many ranks communicate while they do not compute, the mean of each of so many bins.
pub fn exposed(activities: &Activities, until: Time, bin_us: f64, bins: usize) -> Vec<f64> {
    // By job and rank: communication and compute.
    let mut of_rank: BTreeMap<(u32, u32), [Times; 2]> = BTreeMap::new();
    for of in &activities.list {
        let times = &mut of_rank.entry((of.job, of.rank)).or_default()[usize::from(of.computes)];
        times.push((of.begin, of.end.unwrap_or(until)));
    }
    let mut ranks = vec![0.0; bins];
    for [communication, compute] in of_rank.values() {
        for (begin, end) in exposed_times(communication, compute) {
            let (begin, end) = (begin.as_us() / bin_us, end.as_us() / bin_us);
            let touched = ranks.iter_mut().enumerate().take(end.ceil() as usize).skip(begin as usize);
            for (bin, count) in touched {
                *count += end.min(bin as f64 + 1.0) - begin.max(bin as f64);
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_only_communicate_are_counted_by_bins() {
        let activity = |rank, computes, begin, end: Option<u64>| Activity {
            job: 0,
            rank,
            name: 0,
            kind: 0,
            computes,
            iteration: 0,
            begin: Time::from_us(begin),
            end: end.map(Time::from_us),
        };
        let list = vec![
            activity(0, true, 0, Some(15)),
            activity(0, false, 10, Some(30)),
            activity(1, false, 5, Some(10)),
            activity(1, false, 35, None),
        ];
        let activities = Activities { list, ..Activities::default() };
        assert_eq!(exposed(&activities, Time::from_us(40), 10.0, 4), [0.5, 0.5, 1.0, 0.5]);
    }
}
