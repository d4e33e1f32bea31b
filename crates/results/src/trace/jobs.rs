//! What the ranks of jobs did, as slices.
//!
//! A rank computes and communicates at the same time, and may take part in several collectives at once. Slices of one
//! track nest or follow each other, so each kind has as many tracks as it has activities at one time.

use crate::congestion::from_us;
use crate::read::RunDirectory;
use crate::refusal::Refusal;
use crate::tables;
use std::collections::BTreeMap;
use xoff_engine::Time;

/// All jobs of a run.
#[derive(Default)]
pub struct Jobs {
    /// By the number that tracks name them by.
    pub names: Vec<String>,
    pub tracks: Vec<RankTrack>,
    /// In order of their begins.
    pub slices: Vec<Slice>,
}

/// What a rank does of one kind, at most one thing at a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankTrack {
    pub job: u32,
    /// `s0.g3: communication`
    pub name: String,
}

/// One activity.
#[derive(Clone, PartialEq, Debug)]
pub struct Slice {
    pub begin: Time,
    /// The end of the run if it did not end.
    pub until: Time,
    /// Place among the tracks.
    pub track: u32,
    pub name: String,
    pub kind: String,
    pub iteration: u64,
    pub ended: bool,
}

/// Rank by its number and name, and whether it computes.
type Row = (u64, String, bool);

impl Jobs {
    /// None, where the run had none.
    pub fn read(run: &RunDirectory, end: Time) -> Result<Jobs, Refusal> {
        let mut jobs = Jobs::default();
        if run.summary.jobs.is_empty() {
            return Ok(jobs);
        }
        let mut found: Vec<(u32, Row, Slice)> = Vec::new();
        let columns = ["job", "iteration", "rank", "rank_name", "name", "kind", "begin_us", "end_us"];
        for rows in run.rows(&tables::ACTIVITIES, &columns)? {
            let rows = rows?;
            let (job, rank_name) = (rows.texts("job")?, rows.texts("rank_name")?);
            let (name, kind) = (rows.texts("name")?, rows.texts("kind")?);
            let (iteration, rank) = (rows.integers("iteration")?, rows.integers("rank")?);
            let (begin, until) = (rows.reals("begin_us")?, rows.reals("end_us")?);
            for row in 0..rows.len() {
                let number = jobs.number(job.get(row).unwrap_or(""));
                let kind = kind.get(row).unwrap_or("").to_owned();
                let begin = begin.get(row).map_or(Time::ZERO, from_us);
                let ended = until.get(row).map(from_us);
                let of = (rank.get(row).unwrap_or(0), rank_name.get(row).unwrap_or("").to_owned(), kind == "compute");
                let slice = Slice {
                    begin,
                    until: ended.unwrap_or(end).max(begin),
                    track: 0,
                    name: name.get(row).unwrap_or("").to_owned(),
                    kind,
                    iteration: iteration.get(row).unwrap_or(0),
                    ended: ended.is_some(),
                };
                found.push((number, of, slice));
            }
        }
        found.sort_by(|a, b| (a.2.begin, a.0, &a.1).cmp(&(b.2.begin, b.0, &b.1)));
        jobs.lay(found);
        Ok(jobs)
    }

    fn number(&mut self, name: &str) -> u32 {
        let known = self.names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        }) as u32
    }

    /// Gives every slice the first of its rank's tracks that is free; they come in order of their begins.
    fn lay(&mut self, found: Vec<(u32, Row, Slice)>) {
        // By job, rank and kind: when each of its lanes is free, and whether at that instant itself.
        let mut lanes: BTreeMap<(u32, Row), Vec<(Time, bool)>> = BTreeMap::new();
        let mut places = Vec::with_capacity(found.len());
        for (job, row, slice) in &found {
            let lanes = lanes.entry((*job, row.clone())).or_default();
            let free = |(until, whole): &(Time, bool)| *until < slice.begin || (*until == slice.begin && *whole);
            let lane = lanes.iter().position(free).unwrap_or_else(|| {
                lanes.push((Time::ZERO, true));
                lanes.len() - 1
            });
            // One without length ends after all that begins then.
            lanes[lane] = (slice.until, slice.until > slice.begin);
            places.push(lane);
        }
        let mut first: BTreeMap<(u32, Row), u32> = BTreeMap::new();
        for ((job, row), lanes) in lanes {
            first.insert((job, row.clone()), self.tracks.len() as u32);
            let what = if row.2 { "compute" } else { "communication" };
            let name = |lane: usize| if lane == 0 { String::new() } else { format!(" ({})", lane + 1) };
            let track = |lane| RankTrack { job, name: format!("{}: {what}{}", row.1, name(lane)) };
            self.tracks.extend((0..lanes.len()).map(track));
        }
        for ((job, row, slice), lane) in found.into_iter().zip(places) {
            let track = first[&(job, row)] + lane as u32;
            self.slices.push(Slice { track, ..slice });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_has_tracks_of_its_own() {
        let slice = |begin, until| Slice {
            begin: Time::from_us(begin),
            until: Time::from_us(until),
            track: 0,
            name: "sum".into(),
            kind: "all-reduce".into(),
            iteration: 0,
            ended: true,
        };
        let row = || (3, "s0.g3".to_owned(), false);
        let mut jobs = Jobs::default();
        let times = [(0, 5), (2, 8), (5, 5), (5, 9), (8, 9)];
        jobs.lay(times.map(|(begin, until)| (0, row(), slice(begin, until))).to_vec());
        let tracks: Vec<u32> = jobs.slices.iter().map(|slice| slice.track).collect();
        // The third takes the first's place, and keeps it for this instant.
        assert_eq!(tracks, [0, 1, 0, 2, 0]);
        let names: Vec<&str> = jobs.tracks.iter().map(|track| track.name.as_str()).collect();
        assert_eq!(names, ["s0.g3: communication", "s0.g3: communication (2)", "s0.g3: communication (3)"]);
    }
}
