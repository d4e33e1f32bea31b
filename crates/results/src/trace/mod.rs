//! A finished run as a trace for Perfetto: what stood still when, why, and for whom.
//!
//! Reading order: `congestion` (when an egress was paused, and why), `jobs` (what ranks did), `tracks` (what hangs where), `events`
//! (what is written in which order), `encoder` over `proto` (bytes).
//! `docs/trace.md` tells users what they see.
//!
//! Samples are not held in memory: they are many, and come in order of time.

mod encoder;
mod events;
mod jobs;
mod proto;
mod samples;
mod tracks;

use crate::congestion;
use crate::congestion::flows::Flows;
use crate::congestion::network::Network;
use crate::congestion::tree::Trees;
use crate::files::{self, Present};
use crate::read::RunDirectory;
use crate::refusal::Refusal;
use encoder::Encoder;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Written {
    pub file: PathBuf,
    pub bytes: u64,
    pub nodes: usize,
    /// Those that have a track.
    pub flows: usize,
    /// Activities of ranks of training jobs.
    pub activities: usize,
    /// Times in which PFC stopped an egress.
    pub pauses: usize,
    /// Of the pauses, those that no other pause led to.
    pub roots: usize,
    /// From a pause to what it led to: other pauses, and flows that it held.
    pub arrows: u64,
    /// Points of the probed quantities.
    pub samples: u64,
    /// Where the times of pauses come from, in words.
    pub pause_times: &'static str,
}

/// Writes the trace of a run; the file appears when it is complete. In the run's own directory it takes
/// the place of an earlier one.
pub fn write(run: &RunDirectory, out: &Path, present: Present) -> Result<Written, Refusal> {
    let loaded = run.load()?;
    let network = Network::of(&loaded.plan);
    let flows = Flows::read(run, &network)?;
    let end = congestion::end_of(run);
    let trees = Trees::read(run, &loaded, &network, &flows)?;
    let times = trees.times;
    let jobs = jobs::Jobs::read(run, end)?;
    let story = events::Story::new(run, &loaded.plan, &network, &flows, &jobs, trees, end);

    let (samples, bytes) = files::add(run.path(), out, present, |out| {
        let mut encoder = Encoder::new(out);
        let samples = story.write(&mut encoder)?;
        encoder.finish()?;
        Ok::<_, Refusal>(samples)
    })?;
    Ok(Written {
        file: out.to_owned(),
        bytes,
        nodes: network.nodes(),
        flows: flows.list.len(),
        activities: jobs.slices.len(),
        pauses: story.stops.len(),
        roots: story.roots(),
        arrows: story.arrows(),
        samples,
        pause_times: times.words(),
    })
}
