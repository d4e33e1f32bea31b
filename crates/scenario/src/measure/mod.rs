//! Measures: named numbers and curves taken from a run, by the words of the field.
//!
//! A measure is a table of data, `[[measure]]`, in a scenario or in an experiment. Every metric is
//! listed, with its keys and its unit, in `docs/metrics.md` and by `xoff describe metrics`.
//!
//! Reading order: [`registry`] (the metrics as data), [`keys`], `read` (from tables to [`Measures`]), [`recording`]
//! (what a run leaves in memory), then a file per family: `flows`, `series` (over `line`), `pauses`, `ports`, `jobs`,
//! `whole`.

mod axes;
pub(crate) mod flows;
mod imbalance;
pub(crate) mod jobs;
pub mod keys;
pub(crate) mod line;
pub mod metrics;
pub mod page;
pub(crate) mod pauses;
pub(crate) mod ports;
pub mod probe;
pub(crate) mod read;
pub mod recording;
pub mod registry;
pub(crate) mod scope;
pub(crate) mod series;
pub(crate) mod stat;
pub(crate) mod unit;
pub(crate) mod whole;
mod words;

pub use axes::{Along, CurveAxes};
pub use read::{groups, is_for, read, rows};
pub use recording::Recording;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use xoff_fabric::plan::{Fidelity, Plan};

/// What was measured in one run, by the names the measures gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Infinity means "never within the run", NaN "unknown" (no flow, no sample).
    pub numbers: BTreeMap<String, f64>,
    /// Those of measures that give more than a number.
    pub curves: BTreeMap<String, Curve>,
}

/// Points in order of x: a quantity over time, or a statistic over flow sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Time in `x_unit`, flow sizes in bytes, or the quantity itself where the curve is a distribution.
    pub x: Vec<f64>,
    /// Values, as many as `x`.
    pub y: Vec<f64>,
}

/// All measures of a run, resolved against its scenario.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    list: Vec<Measure>,
}

#[derive(Clone, Debug)]
struct Measure {
    name: String,
    /// Unit as written, for tables: `ms`, or nothing for plain numbers.
    unit: String,
    what: What,
    /// Axes, if the measure is a curve.
    axes: Option<CurveAxes>,
    /// Only packets tell it: at flow level it has no value.
    of_packets: bool,
}

/// Metrics of flows that only packets tell.
const OF_PACKETS: &[&str] =
    &["marked", "notifications", "retransmissions", "timeouts", "rerouted-share", "first-notification"];

impl What {
    fn is_of_packets(&self, metric: &str) -> bool {
        match self {
            What::Flows(_) => OF_PACKETS.contains(&metric),
            What::Pauses(_) => true,
            What::Ports(ports) => ports.is_of_packets(),
            What::Whole(whole) => whole.is_of_packets(),
            // Without samples there is no value.
            What::Series(_) | What::Jobs(_) => false,
        }
    }
}

#[derive(Clone, Debug)]
enum What {
    Flows(flows::FlowMeasure),
    Series(series::SeriesMeasure),
    Pauses(pauses::PauseMeasure),
    Ports(ports::PortMeasure),
    Jobs(jobs::JobMeasure),
    Whole(whole::WholeMeasure),
}

/// A measured value on its way out: `suffix` tells statistics of one measure apart.
enum Value {
    Number(f64),
    Named(Vec<(String, f64)>),
    Curve(Curve),
}

impl Measures {
    /// The names of all numbers and curves, in the order of the tables.
    pub fn names(&self) -> Vec<String> {
        self.list.iter().flat_map(Measure::names).collect()
    }

    /// Each name with the unit its measure asked for (empty where it has none), in the order of the tables.
    pub fn names_and_units(&self) -> impl Iterator<Item = (String, String)> {
        let named = |measure: &'_ Measure| {
            let unit = |name: &String| {
                let suffix = name.strip_prefix(&format!("{}.", measure.name)).unwrap_or_default();
                let plain = measure.stats().is_some_and(|stats| stats.is_plain(suffix));
                if plain { String::new() } else { measure.unit.clone() }
            };
            let names = measure.names();
            names.into_iter().map(|name| (name.clone(), unit(&name))).collect::<Vec<_>>()
        };
        self.list.iter().flat_map(named)
    }

    /// Units by name.
    pub fn units(&self) -> BTreeMap<String, String> {
        self.names_and_units().collect()
    }

    /// The axes of those that are curves, by name.
    pub fn axes(&self) -> BTreeMap<String, CurveAxes> {
        self.list.iter().filter_map(|measure| Some((measure.name.clone(), measure.axes.clone()?))).collect()
    }

    /// What must be kept of a run so that all of them can be taken.
    pub fn needs(&self) -> recording::Needs {
        let mut needs = recording::Needs::default();
        for measure in &self.list {
            match &measure.what {
                What::Flows(flows) => flows.needs(&mut needs),
                What::Series(series) => series.needs(&mut needs),
                What::Pauses(pauses) => pauses.needs(&mut needs),
                What::Jobs(jobs) => jobs.needs(&mut needs),
                What::Ports(_) | What::Whole(_) => {}
            }
        }
        needs
    }

    /// Takes every measure of a run.
    pub fn take(&self, plan: &Plan, recording: &Recording) -> Measured {
        let mut measured = Measured::default();
        for measure in &self.list {
            if measure.of_packets && plan.run.fidelity == Fidelity::Flow {
                measured.numbers.extend(measure.names().into_iter().map(|name| (name, f64::NAN)));
                continue;
            }
            let value = match &measure.what {
                What::Flows(flows) => flows.take(recording),
                What::Series(series) => series.take(recording),
                What::Pauses(pauses) => pauses.take(recording),
                What::Ports(ports) => Value::Number(ports.take(plan, recording)),
                What::Jobs(jobs) => jobs.take(recording),
                What::Whole(whole) => whole.take(plan, recording),
            };
            let name = &measure.name;
            match value {
                Value::Number(number) => {
                    measured.numbers.insert(name.clone(), number);
                }
                Value::Named(numbers) => {
                    measured
                        .numbers
                        .extend(numbers.into_iter().map(|(part, number)| (format!("{name}.{part}"), number)));
                }
                Value::Curve(curve) => {
                    measured.curves.insert(name.clone(), curve);
                }
            }
        }
        measured
    }
}

impl Measure {
    fn stats(&self) -> Option<&stat::Stats> {
        match &self.what {
            What::Flows(flows) => flows.stats(),
            What::Whole(whole) => whole.stats(),
            What::Jobs(jobs) => jobs.stats(),
            What::Pauses(pauses) => pauses.stats(),
            _ => None,
        }
    }

    fn names(&self) -> Vec<String> {
        match self.stats().and_then(stat::Stats::suffixes) {
            Some(suffixes) => suffixes.iter().map(|suffix| format!("{}.{suffix}", self.name)).collect(),
            None => vec![self.name.clone()],
        }
    }
}
