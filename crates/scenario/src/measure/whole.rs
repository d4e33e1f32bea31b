//! Measures of the run as a whole, and of its network.

use super::Value;
use super::recording::Recording;
use super::scope::Scope;
use super::stat::{self, Stats};
use super::unit::{self, Dimension, Unit};
use super::words::{COUNTERS, Count, drops};
use crate::Table;
use crate::reader::Result;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::Plan;
use xoff_fabric::route::{FlowKey, Routes};
use xoff_fabric::timing;

#[derive(Clone, Debug)]
pub(crate) enum WholeMeasure {
    Counter(Counter),
    Deadlocked,
    DeadlockTime(Unit),
    EndTime(Unit),
    /// Round trips of the idle network, in this unit, between these hosts.
    BaseRtt(Unit, Vec<Span>, Stats),
}

/// A counter by name.
#[derive(Clone, Copy)]
pub(crate) struct Counter(&'static str, Count);

impl std::fmt::Debug for Counter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// Reads the keys of a metric of this family. Gives the unit, too.
pub(crate) fn read(metric: &str, row: &mut Table, scope: &Scope<'_>) -> Result<(WholeMeasure, &'static str)> {
    let time = |of: fn(Unit) -> WholeMeasure, row: &mut Table| {
        let unit = unit::read(row, "unit", Dimension::Time)?;
        Ok((of(unit), unit.0))
    };
    Ok(match metric {
        "counter" => {
            let choices: Vec<(&str, Counter)> = COUNTERS.iter().map(|(name, of)| (*name, Counter(name, *of))).collect();
            (WholeMeasure::Counter(row.choice("of", &choices)?), "")
        }
        "drops" => (WholeMeasure::Counter(Counter("drops", drops)), ""),
        "deadlocked" => (WholeMeasure::Deadlocked, ""),
        "deadlock-time" => time(WholeMeasure::DeadlockTime, row)?,
        "end-time" => time(WholeMeasure::EndTime, row)?,
        _ => {
            let unit = unit::read(row, "unit", Dimension::Time)?;
            let (src, dst) = (row.texts("src")?, row.texts("dst")?);
            let names = scope.names;
            let (src, dst) = (names.hosts(&src)?, names.hosts(&dst)?);
            if src.len().saturating_mul(dst.len()) > PAIRS_LARGEST {
                let error = row.error("src", format!("these are {} pairs of hosts", src.len() * dst.len()));
                return Err(error.label(format!("at most {PAIRS_LARGEST}")));
            }
            let trips = round_trips(scope.plan, &src, &dst);
            if trips.is_empty() {
                return Err(row.error("dst", "there is no way between these hosts"));
            }
            (WholeMeasure::BaseRtt(unit, trips, stat::read_or(row, "mean")?), unit.0)
        }
    })
}

/// More pairs than this are a slip, and would take long to work out.
const PAIRS_LARGEST: usize = 100_000;

/// A full data packet there and its ACK back, between each two of the hosts.
fn round_trips(plan: &Plan, sources: &[u32], targets: &[u32]) -> Vec<Span> {
    let routes = Routes::new(plan, |_| true);
    let mut path = Vec::new();
    let mut trips = Vec::new();
    for &src in sources {
        let host = &plan.hosts[usize::from(plan.nodes[src as usize].profile)];
        let data_wire_bytes = host.mtu_bytes + host.sizes.data_header_bytes + host.sizes.gap_bytes;
        for &dst in targets.iter().filter(|dst| **dst != src) {
            let sizes = &plan.hosts[usize::from(plan.nodes[dst as usize].profile)].sizes;
            let ack_wire_bytes = sizes.ack_bytes + sizes.gap_bytes;
            let exchange = timing::Exchange { data_wire_bytes, ack_wire_bytes };
            if routes.path(src, dst, &FlowKey::between(src, dst), &mut path) {
                trips.push(timing::base_rtt(plan, &path, exchange));
            }
        }
    }
    trips
}

impl WholeMeasure {
    /// Whether only packets tell it.
    pub(super) fn is_of_packets(&self) -> bool {
        const OF_FLOWS: &[&str] =
            &["events", "flows_started", "flows_completed", "packets_sent", "packets_delivered", "delivered_bytes"];
        match self {
            WholeMeasure::Counter(Counter(name, _)) => !OF_FLOWS.contains(name),
            WholeMeasure::Deadlocked | WholeMeasure::DeadlockTime(_) => true,
            WholeMeasure::EndTime(_) | WholeMeasure::BaseRtt(..) => false,
        }
    }

    pub(crate) fn stats(&self) -> Option<&Stats> {
        match self {
            WholeMeasure::BaseRtt(_, _, stats) => Some(stats),
            _ => None,
        }
    }

    pub(super) fn take(&self, _: &Plan, recording: &Recording) -> Value {
        Value::Number(match self {
            WholeMeasure::Counter(of) => of.1(&recording.counters) as f64,
            WholeMeasure::Deadlocked => f64::from(u8::from(recording.deadlock_at.is_some())),
            WholeMeasure::DeadlockTime(unit) => {
                recording.deadlock_at.map_or(f64::INFINITY, |at| unit::time(at - Time::ZERO, *unit))
            }
            WholeMeasure::EndTime(unit) => unit::time(recording.sim_end - Time::ZERO, *unit),
            WholeMeasure::BaseRtt(unit, trips, stats) => {
                return stats.of(trips.iter().map(|trip| unit::time(*trip, *unit)).collect());
            }
        })
    }
}
