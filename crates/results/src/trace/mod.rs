//! A finished run as a trace for Perfetto: what stood still when, why, and for whom.
//!
//! Reading order: `congestion` (when an egress was paused, and why), `tracks` (what hangs where), `events`
//! (what is written in which order), `encoder` over `proto` (bytes).
//! `docs/trace.md` tells users what they see.
//!
//! Samples are not held in memory: they are many, and come in order of time.

mod encoder;
mod events;
mod proto;
mod samples;
mod tracks;

use crate::congestion;
use crate::congestion::flows::Flows;
use crate::congestion::network::Network;
use crate::congestion::tree::Trees;
use crate::files::listing;
use crate::files::whole::{self, Pending, Present};
use crate::read::RunDirectory;
use encoder::Encoder;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use xoff_scenario::Diagnostic;

/// What was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The trace.
    pub file: PathBuf,
    /// Length of the file.
    pub bytes: u64,
    /// Hosts and switches.
    pub nodes: usize,
    /// Those that have a track.
    pub flows: usize,
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

/// Why there is no trace.
#[derive(Debug)]
pub enum Refusal {
    /// The run directory cannot be read.
    Input(Vec<Diagnostic>),
    /// The trace cannot be written.
    System(io::Error),
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Refusal {
        Refusal::Input(vec![diagnostic])
    }
}
impl From<Vec<Diagnostic>> for Refusal {
    fn from(diagnostics: Vec<Diagnostic>) -> Refusal {
        Refusal::Input(diagnostics)
    }
}
impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::System(error)
    }
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
    let story = events::Story::new(run, &loaded.plan, &network, &flows, trees, end);

    let present = if listing::lists(run.path(), out) { Present::Replace } else { present };
    if present == Present::Refuse && out.exists() && !out.is_dir() {
        return Err(whole::taken(out).into());
    }
    let mut encoder = Encoder::new(BufWriter::new(Pending::create(out)?));
    let samples = story.write(&mut encoder)?;
    let file = encoder.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    let bytes = file.sync()?;
    listing::announce(run.path(), out)?;
    file.commit(present)?;
    Ok(Written {
        file: out.to_owned(),
        bytes,
        nodes: network.nodes(),
        flows: flows.list.len(),
        pauses: story.stops.len(),
        roots: story.roots(),
        arrows: story.arrows(),
        samples,
        pause_times: times.words(),
    })
}
