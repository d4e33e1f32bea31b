//! What the ranks of a job did over time, as much of it as a figure can show.

use xoff_engine::Time;
use xoff_jobs::{ActivityKind, Compiled, Interval};

/// Ranks that fit one figure.
const MOST_RANKS: usize = 16;

/// One job.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Of the job.
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
    /// When it computed.
    pub compute: Vec<(f64, f64)>,
    /// When it communicated.
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
        let mut sorted: Vec<&Interval> = intervals.iter().collect();
        sorted.sort_by_key(|interval| (interval.begin, interval.activity));
        for interval in sorted {
            let activity = &graph.activities()[interval.activity as usize];
            let Some(place) = chosen.get(activity.rank as usize).copied().flatten() else { continue };
            let times = (interval.begin.as_us(), interval.end.unwrap_or(until).as_us());
            let line = &mut ranks[place];
            match activity.kind {
                ActivityKind::Compute => line.compute.push(times),
                ActivityKind::Collective(_) | ActivityKind::PointToPoint => line.communication.push(times),
            }
        }
        for line in &mut ranks {
            join(&mut line.compute);
            join(&mut line.communication);
        }
        Timeline { job: job.to_owned(), ranks, all: names.len() }
    }
}

/// Makes one of those that overlap or touch; they come in order of their begins.
fn join(times: &mut Vec<(f64, f64)>) {
    let mut joined: Vec<(f64, f64)> = Vec::with_capacity(times.len());
    for &(begin, end) in &*times {
        match joined.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((begin, end)),
        }
    }
    *times = joined;
}
