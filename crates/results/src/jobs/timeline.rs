//! What the ranks of a job did over time, as much of it as a figure can show.

use xoff_engine::Time;
use xoff_jobs::record::union;
use xoff_jobs::{ActivityKind, Compiled, Interval};

/// Ranks that fit one figure.
const MOST_RANKS: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    pub job: String,
    /// All, or some of them evenly spread.
    pub ranks: Vec<RankLine>,
    /// How many there are.
    pub all: usize,
}

/// One rank: begins and ends in microseconds.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RankLine {
    /// As people call it.
    pub name: String,
    pub compute: Vec<(f64, f64)>,
    pub communication: Vec<(f64, f64)>,
}

impl Timeline {
    /// What has not ended lasts until the run ends.
    pub fn of(job: &str, graph: &Compiled, names: &[String], intervals: &[Interval], until: Time) -> Timeline {
        let shown = names.len().min(MOST_RANKS);
        // The last of equally long stretches, so that all are shown where they fit.
        let place_of = |rank: usize| (rank * shown / names.len().max(1), rank);
        let mut chosen: Vec<Option<usize>> = vec![None; names.len()];
        let mut ranks: Vec<RankLine> = Vec::with_capacity(shown);
        for (place, rank) in (0..names.len()).map(place_of) {
            if place == ranks.len() {
                chosen[rank] = Some(place);
                ranks.push(RankLine { name: names[rank].clone(), ..RankLine::default() });
            }
        }
        let mut times: Vec<[Vec<(Time, Time)>; 2]> = vec![Default::default(); ranks.len()];
        for interval in intervals {
            let activity = &graph.activities()[interval.activity as usize];
            let Some(place) = chosen.get(activity.rank as usize).copied().flatten() else { continue };
            let kind = usize::from(activity.kind != ActivityKind::Compute);
            times[place][kind].push((interval.begin, interval.end.unwrap_or(until)));
        }
        let in_us = |times: &[(Time, Time)]| {
            union(times).into_iter().map(|(begin, end)| (begin.as_us(), end.as_us())).collect()
        };
        for (line, [compute, communication]) in ranks.iter_mut().zip(&times) {
            (line.compute, line.communication) = (in_us(compute), in_us(communication));
        }
        Timeline { job: job.to_owned(), ranks, all: names.len() }
    }
}
