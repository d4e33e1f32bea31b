//! The congestion trees of a finished run, read back from its tables: which egresses stood still when, and because
//! of which others.
//!
//! Reading order: `network` (names and places), `flows` (who crosses what), `stops` (when an egress was paused), `chain`
//! (why), `tree` (all of it, and the queues at the roots), `victims`.
//!
//! Flows and pauses are held in memory.

pub mod chain;
pub mod flows;
pub mod network;
pub mod stops;
pub mod tree;
pub mod victims;

use crate::read::RunDirectory;
use crate::tables;
use network::Network;
use stops::{Signal, Stop, Times};
use xoff_engine::Time;
use xoff_fabric::plan::{FaultKind, peer};
use xoff_scenario::{Diagnostic, Loaded};

/// Every time PFC stopped an egress, in the order of their beginnings, and where the times come from.
pub fn stops(run: &RunDirectory, loaded: &Loaded, network: &Network) -> Result<(Vec<Stop>, Times), Diagnostic> {
    let end = end_of(run);
    let mut decisions = signals(run, network, Times::Decisions)?;
    decisions.extend(storms(loaded, network).filter(|signal| signal.at <= end));
    decisions.sort_by_key(|signal| signal.at);
    if run.has(&tables::PFC) {
        let arrivals = signals(run, network, Times::Arrivals)?;
        let (lasts, travel) = (|port| network.pause_lasts(port), |port| network.pause_travel(port));
        Ok((stops::by_arrivals(&arrivals, &decisions, lasts, travel, end), Times::Arrivals))
    } else if loaded.output.pauses {
        Ok((stops::by_decisions(&decisions, end), Times::Decisions))
    } else {
        Ok((Vec::new(), Times::Unknown))
    }
}

pub fn end_of(run: &RunDirectory) -> Time {
    from_us(run.summary.sim_time_us)
}

/// Memory that a signal takes, sorted, and with the stop, the link and the bytes of a replay that it becomes.
const SIGNAL_BYTES: u64 = 2 * (size_of::<Signal>() + size_of::<Stop>() + size_of::<chain::Link>()) as u64 + 64;

/// What PFC told egresses, in order of time.
fn signals(run: &RunDirectory, network: &Network, times: Times) -> Result<Vec<Signal>, Diagnostic> {
    let (table, columns): (_, &[&str]) = match times {
        Times::Decisions => (&tables::PAUSES, &["time_us", "port", "priority", "event", "ingress_bytes"]),
        Times::Arrivals => (&tables::PFC, &["time_us", "port", "priority", "event"]),
        Times::Unknown => return Ok(Vec::new()),
    };
    let mut list = Vec::new();
    for rows in run.rows_to_keep(table, columns, SIGNAL_BYTES)? {
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

/// What hosts tell their switches in a PAUSE storm. It is the scenario's decision, and `pauses.parquet` has those of
/// switches only.
fn storms<'a>(loaded: &'a Loaded, network: &'a Network) -> impl Iterator<Item = Signal> + 'a {
    loaded.plan.faults.iter().filter_map(|fault| match fault.what {
        FaultKind::PauseStorm { host_port, class, on } => Some(Signal {
            at: fault.at,
            port: peer(host_port),
            priority: network.names.priority(class),
            pause: on,
            ingress_bytes: None,
        }),
        _ => None,
    })
}

/// As the tables do it: exact to the picosecond for hours.
pub(crate) fn from_us(us: f64) -> Time {
    Time::from_ps((us * 1e6).round() as u64)
}

/// The port of a name that a table has.
pub fn known_port(network: &Network, name: &str) -> Result<u32, Diagnostic> {
    network.port(name).ok_or_else(|| {
        Diagnostic::new(format!("the tables name a port `{name}` that the scenario does not have"))
            .help("scenario.toml and the tables are of different runs")
    })
}
