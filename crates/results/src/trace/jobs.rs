//! What the ranks of jobs did, as slices.
//!
//! A rank computes and communicates at the same time, and may take part in several collectives at once. Slices of one
//! track nest or follow each other, so each kind has as many tracks as it has activities at one time.

use crate::jobs::activities::{Activities, Activity};
use crate::read::RunDirectory;
use std::collections::BTreeMap;
use xoff_engine::Time;
use xoff_scenario::Diagnostic;

#[derive(Default)]
pub struct Jobs {
    /// By the number that tracks name them by.
    pub names: Vec<String>,
    pub tracks: Vec<RankTrack>,
    /// In order of their begins.
    pub slices: Vec<Slice>,
    activities: Activities,
}

/// What a rank does of one kind, at most one thing at a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankTrack {
    pub job: u32,
    /// `s0.g3: communication`
    pub name: String,
}

#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub begin: Time,
    /// The end of the run if it did not end.
    pub until: Time,
    /// Place among the tracks.
    pub track: u32,
    /// Numbers of [`Jobs::word`].
    pub name: u32,
    pub kind: u32,
    pub iteration: u64,
    pub ended: bool,
}

/// Job, rank, and whether it computes.
type Row = (u32, u32, bool);

impl Jobs {
    /// None, where the run had none.
    pub fn read(run: &RunDirectory, end: Time) -> Result<Jobs, Diagnostic> {
        let activities = Activities::read(run)?;
        let names = run.summary.jobs.iter().map(|job| job.name.clone()).collect();
        let mut jobs = Jobs { names, activities, ..Jobs::default() };
        jobs.lay(end);
        Ok(jobs)
    }

    pub fn word(&self, number: u32) -> &str {
        self.activities.words.word(number)
    }

    /// Gives every activity the first of its rank's tracks that is free; they come in order of their begins.
    fn lay(&mut self, end: Time) {
        // When each lane of a row is free, and whether at that instant itself.
        let mut lanes: BTreeMap<Row, Vec<(Time, bool)>> = BTreeMap::new();
        let mut places = Vec::with_capacity(self.activities.list.len());
        for of in &self.activities.list {
            let lanes = lanes.entry(row(of)).or_default();
            let free = |(until, whole): &(Time, bool)| *until < of.begin || (*until == of.begin && *whole);
            let lane = lanes.iter().position(free).unwrap_or_else(|| {
                lanes.push((Time::ZERO, true));
                lanes.len() - 1
            });
            // One without length ends after all that begins then.
            let until = until(of, end);
            lanes[lane] = (until, until > of.begin);
            places.push(lane);
        }
        let mut first: BTreeMap<Row, u32> = BTreeMap::new();
        for (row @ (job, rank, computes), lanes) in lanes {
            first.insert(row, self.tracks.len() as u32);
            let what = if computes { "compute" } else { "communication" };
            let rank = &self.activities.ranks[job as usize][rank as usize];
            let number = |lane: usize| if lane == 0 { String::new() } else { format!(" ({})", lane + 1) };
            let track = |lane| RankTrack { job, name: format!("{rank}: {what}{}", number(lane)) };
            self.tracks.extend((0..lanes.len()).map(track));
        }
        self.slices = self
            .activities
            .list
            .iter()
            .zip(places)
            .map(|(of, lane)| Slice {
                begin: of.begin,
                until: until(of, end),
                track: first[&row(of)] + lane as u32,
                name: of.name,
                kind: of.kind,
                iteration: of.iteration,
                ended: of.end.is_some(),
            })
            .collect();
    }
}

fn row(of: &Activity) -> Row {
    (of.job, of.rank, of.computes)
}

fn until(of: &Activity, end: Time) -> Time {
    of.end.unwrap_or(end).max(of.begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_has_tracks_of_its_own() {
        let mut activities = Activities { ranks: vec![vec!["s0.g0".into(), "s0.g1".into()]], ..Activities::default() };
        let (name, kind) = (activities.words.number("sum"), activities.words.number("all-reduce"));
        let times = [(0, 5), (2, 8), (5, 5), (5, 9), (8, 9)];
        activities.list.extend(times.map(|(begin, end)| {
            let (begin, end) = (Time::from_us(begin), Some(Time::from_us(end)));
            Activity { job: 0, rank: 1, name, kind, computes: false, iteration: 0, begin, end }
        }));
        let mut jobs = Jobs { activities, ..Jobs::default() };
        jobs.lay(Time::from_us(9));
        let tracks: Vec<u32> = jobs.slices.iter().map(|slice| slice.track).collect();
        // The third takes the first's place, and keeps it for this instant.
        assert_eq!(tracks, [0, 1, 0, 2, 0]);
        let names: Vec<&str> = jobs.tracks.iter().map(|track| track.name.as_str()).collect();
        assert_eq!(names, ["s0.g1: communication", "s0.g1: communication (2)", "s0.g1: communication (3)"]);
    }
}
