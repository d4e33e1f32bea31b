//! What is compared of one run: its summary, its probed curves, its ports.

use super::curve::Curve;
use crate::read::{Rows, RunDirectory};
use crate::summary::Summary;
use crate::tables;
use std::collections::BTreeMap;
use xoff_fabric::record::Metric;
use xoff_scenario::Diagnostic;
use xoff_scenario::measure::probe::facts;

pub struct Readings {
    pub summary: Summary,
    pub curves: BTreeMap<Place, Curve>,
    pub ports: BTreeMap<String, Port>,
}

/// What a curve is of. Flows go by their generator and their number there, which are the same in every run of a
/// scenario; the order in which they start may not be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub metric: Metric,
    /// The port, or the label of the flow.
    pub entity: String,
    pub flow: Option<(String, u64)>,
    pub priority: Option<u64>,
}

/// What PFC did at a port over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Port {
    pub pause_frames: u64,
    /// How long its egress stood still; of several priorities the one that stood still longest.
    pub paused_us: f64,
}

/// The quantities that are compared over time.
pub const METRICS: [Metric; 3] = [Metric::FlowThroughput, Metric::PortThroughput, Metric::QueueBytes];

impl Readings {
    pub fn of(run: &RunDirectory) -> Result<Readings, Diagnostic> {
        Ok(Readings { summary: run.summary.clone(), curves: curves(run)?, ports: ports(run)? })
    }
}

fn ports(run: &RunDirectory) -> Result<BTreeMap<String, Port>, Diagnostic> {
    let mut found: BTreeMap<String, Port> = BTreeMap::new();
    for rows in run.rows(&tables::PORTS, &["port", "port_pause_frames", "paused_us"])? {
        let rows = rows?;
        let (name, frames, paused) =
            (rows.texts("port")?, rows.integers("port_pause_frames")?, rows.reals("paused_us")?);
        for row in 0..rows.len() {
            let port = found.entry(name.get(row).unwrap_or_default().to_owned()).or_default();
            port.pause_frames = frames.get(row).unwrap_or(0);
            port.paused_us = port.paused_us.max(paused.get(row).unwrap_or(0.0));
        }
    }
    Ok(found)
}

/// A curve while its flow is known by the number that it has in this run alone.
type Key = (Metric, String, Option<u64>, Option<u64>);

fn curves(run: &RunDirectory) -> Result<BTreeMap<Place, Curve>, Diagnostic> {
    let mut found: BTreeMap<Key, Curve> = BTreeMap::new();
    let columns = ["time_us", "metric", "entity", "flow_id", "priority", "value"];
    // Two numbers, in lists that grow.
    for rows in run.rows_to_keep(&tables::SERIES, &columns, 32)? {
        add_samples(&mut found, &rows?)?;
    }
    let names = flow_names(run, &found)?;
    let place = |((metric, entity, flow, priority), curve): (Key, Curve)| {
        let flow = flow.and_then(|flow| names.get(&flow).cloned());
        (Place { metric, entity, flow, priority }, curve)
    };
    Ok(found.into_iter().map(place).collect())
}

fn add_samples(found: &mut BTreeMap<Key, Curve>, rows: &Rows) -> Result<(), Diagnostic> {
    let (time, metric, entity) = (rows.reals("time_us")?, rows.texts("metric")?, rows.texts("entity")?);
    let (flow, priority, value) = (rows.integers("flow_id")?, rows.integers("priority")?, rows.reals("value")?);
    for row in 0..rows.len() {
        let name = metric.get(row).unwrap_or_default();
        let Some(metric) = METRICS.into_iter().find(|metric| facts(*metric).name == name) else { continue };
        let key = (metric, entity.get(row).unwrap_or_default().to_owned(), flow.get(row), priority.get(row));
        let (at, value) = (time.get(row).unwrap_or(0.0), value.get(row).unwrap_or(0.0));
        found.entry(key).or_default().push(at, value);
    }
    Ok(())
}

/// Generator and number there, of the flows that have curves.
fn flow_names(run: &RunDirectory, curves: &BTreeMap<Key, Curve>) -> Result<BTreeMap<u64, (String, u64)>, Diagnostic> {
    let mut names: BTreeMap<u64, (String, u64)> =
        curves.keys().filter_map(|key| key.2).map(|flow| (flow, Default::default())).collect();
    if names.is_empty() {
        return Ok(names);
    }
    for rows in run.rows(&tables::FLOWS, &["flow_id", "source", "number"])? {
        let rows = rows?;
        let (id, source, number) = (rows.integers("flow_id")?, rows.texts("source")?, rows.integers("number")?);
        for row in 0..rows.len() {
            let Some(name) = id.get(row).and_then(|id| names.get_mut(&id)) else { continue };
            *name = (source.get(row).unwrap_or_default().to_owned(), number.get(row).unwrap_or(0));
        }
    }
    Ok(names)
}
