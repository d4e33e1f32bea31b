//! What schemes published of flows that were probed, as data of a replay.

use crate::contract;
use crate::read::RunDirectory;
use crate::tables;
use std::collections::{HashMap, HashSet};
use xoff_fabric::plan::{Plan, ProbeTarget};
use xoff_scenario::Diagnostic;
use xoff_scenario::measure::probe::{METRICS, facts};

/// Points of a curve, at most.
const POINTS: usize = 2_000;
/// Memory that a sample takes in lists that grow, with its share of a flow's.
const ROW_BYTES: u64 = 64;

/// All of them, by number of the flow.
#[derive(Default)]
pub struct Variables {
    of_flow: HashMap<u64, Vec<Course>>,
}

contract! {
    /// One variable of one flow over time.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Course as Variable {
        name: String,
        unit: String,
        time_us: Vec<f64>,
        value: Vec<f64>,
    }
}

impl Variables {
    /// None, where nobody asked schemes.
    pub fn read(run: &RunDirectory, plan: &Plan) -> Result<Variables, Diagnostic> {
        let mut all = Variables::default();
        if !plan.probes.iter().any(|probe| probe.what == ProbeTarget::Scheme) {
            return Ok(all);
        }
        let others: HashSet<&str> = METRICS.into_iter().map(|metric| facts(metric).name).collect();
        let columns = ["time_us", "metric", "flow_id", "value", "unit"];
        for rows in run.rows_to_keep(&tables::SERIES, &columns, ROW_BYTES)? {
            let rows = rows?;
            let (time, value, id) = (rows.reals("time_us")?, rows.reals("value")?, rows.integers("flow_id")?);
            let (metric, unit) = (rows.texts("metric")?, rows.texts("unit")?);
            for row in 0..rows.len() {
                let (Some(name), Some(id)) = (metric.get(row).filter(|name| !others.contains(name)), id.get(row))
                else {
                    continue;
                };
                let courses = all.of_flow.entry(id).or_default();
                let place = courses.iter().position(|course| course.name == name).unwrap_or_else(|| {
                    let unit = unit.get(row).unwrap_or("").to_owned();
                    courses.push(Course { name: name.to_owned(), unit, time_us: Vec::new(), value: Vec::new() });
                    courses.len() - 1
                });
                courses[place].time_us.push(time.get(row).unwrap_or(0.0));
                courses[place].value.push(value.get(row).unwrap_or(0.0));
            }
        }
        Ok(all)
    }

    /// Those of a flow; of long ones every second sample, or third, and so on.
    pub fn of(&self, id: u64) -> Vec<Course> {
        let thinned = |course: &Course| {
            let step = course.time_us.len().div_ceil(POINTS).max(1);
            let every = |values: &[f64]| values.iter().step_by(step).copied().collect();
            Course { time_us: every(&course.time_us), value: every(&course.value), ..course.clone() }
        };
        self.of_flow.get(&id).map_or_else(Vec::new, |courses| courses.iter().map(thinned).collect())
    }
}
