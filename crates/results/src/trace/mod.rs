//! A finished run as a trace for Perfetto: what stood still when, why, and for whom.
//!
//! Reading order: `stops` (when an egress was paused), `chain` (why), `tracks` (what hangs
//! where), `events` (what is written in which order), `encoder` over `proto` (bytes).
//! `docs/trace.md` tells users what they see.
//!
//! Flows and pauses are held in memory, samples are not: those are many, and come in order of time.

mod chain;
mod encoder;
mod events;
mod flows;
mod network;
mod proto;
mod samples;
mod stops;
mod tracks;

use crate::files::listing;
use crate::files::whole::{self, Pending, Present};
use crate::read::RunDirectory;
use crate::tables;
use encoder::Encoder;
use flows::Flows;
use network::Network;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use stops::{Signal, Times};
use xoff_engine::Time;
use xoff_fabric::plan::peer;
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
    let end = from_us(run.summary.sim_time_us);
    let decisions = signals(run, &network, Times::Decisions)?;
    let (stops, times) = if !loaded.output.pauses && !run.has(&tables::PFC) {
        (stops::by_decisions(&[], end), Times::Unknown)
    } else if run.has(&tables::PFC) {
        let arrivals = signals(run, &network, Times::Arrivals)?;
        let (lasts, travel) = (|port| network.pause_lasts(port), |port| network.pause_travel(port));
        (stops::by_arrivals(&arrivals, &decisions, lasts, travel, end), Times::Arrivals)
    } else {
        (stops::by_decisions(&decisions, end), Times::Decisions)
    };
    let story = events::Story::new(run, &loaded.plan, &network, &flows, stops, times, end);

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

impl Times {
    pub fn words(self) -> &'static str {
        match self {
            Times::Arrivals => "arrivals of the PFC frames (pfc.parquet)",
            Times::Unknown => "none: this run kept no pauses (output.pauses = false)",
            Times::Decisions => {
                "decisions to send the PFC frames (pauses.parquet): the egress obeys when the frame has arrived, at \
                 least one delay of the link later"
            }
        }
    }
}

/// What PFC told egresses, in order of time.
fn signals(run: &RunDirectory, network: &Network, times: Times) -> Result<Vec<Signal>, Diagnostic> {
    let (table, columns): (_, &[&str]) = match times {
        Times::Decisions => (&tables::PAUSES, &["time_us", "port", "priority", "event", "ingress_bytes"]),
        Times::Arrivals => (&tables::PFC, &["time_us", "port", "priority", "event"]),
        Times::Unknown => return Ok(Vec::new()),
    };
    let mut list = Vec::new();
    for rows in run.rows(table, columns)? {
        let rows = rows?;
        let (time, port, priority) = (rows.reals("time_us")?, rows.texts("port")?, rows.integers("priority")?);
        let event = rows.texts("event")?;
        let ingress = if times == Times::Decisions { Some(rows.integers("ingress_bytes")?) } else { None };
        for row in 0..rows.len() {
            let named = known_port(network, port.get(row).unwrap_or(""))?;
            list.push(Signal {
                at: time.time(row).unwrap_or(Time::ZERO),
                // Decisions are listed at the port that sends the frame.
                port: if times == Times::Decisions { peer(named) } else { named },
                priority: priority.get(row).unwrap_or(0) as u8 & 7,
                pause: event.get(row) == Some("pause"),
                ingress_bytes: ingress.and_then(|column| column.get(row)),
            });
        }
    }
    list.sort_by_key(|signal| signal.at);
    Ok(list)
}

/// As the tables do it: exact to the picosecond for hours.
fn from_us(us: f64) -> Time {
    Time::from_ps((us * 1e6).round() as u64)
}

fn known_port(network: &Network, name: &str) -> Result<u32, Diagnostic> {
    network.port(name).ok_or_else(|| {
        Diagnostic::new(format!("the tables name a port `{name}` that the scenario does not have"))
            .help("scenario.toml and the tables are of different runs")
    })
}
