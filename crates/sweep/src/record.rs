//! What is kept of a finished run, and where.

use crate::numbers::{self, Number};
use crate::plan::Point;
use crate::pool::{Failed, Job};
use crate::seal::{self, Fingerprint};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use xoff_results::execute;
use xoff_results::files::whole::{self, Present};
use xoff_results::outcome::Outcome;
use xoff_results::summary::{MeasuredRow, Summary};
use xoff_scenario::measure::{Curve, CurveAxes};
use xoff_scenario::{Diagnostic, Loaded, Scenario};

/// A finished run in numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// The fingerprint of its scenario with all that it names.
    pub inputs: String,
    /// The scheme's own label, presets and bases included.
    pub scheme: String,
    /// Why it failed, if it did: in the simulated network, or for want of memory or time.
    pub failure: Option<String>,
    /// Whether the failure is this machine's and not the network's: it is tried again next time.
    pub gave_up: bool,
    /// The fingerprint of its table of flows, if that is kept too.
    pub flows: Option<String>,
    /// What the simulated network did.
    pub network: Vec<Number>,
    /// What this machine took for it.
    pub machine: Vec<Number>,
    /// Measures that are curves.
    pub curves: Vec<MeasuredCurve>,
}

/// A measure that is a curve.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasuredCurve {
    pub name: String,
    pub axes: CurveAxes,
    pub curve: Curve,
}

impl MeasuredCurve {
    fn all(summary: &Summary) -> Vec<MeasuredCurve> {
        let curve = |of: &MeasuredRow| {
            Some(MeasuredCurve { name: of.name.clone(), axes: of.axes.clone()?, curve: of.curve.clone()? })
        };
        summary.measures.iter().filter_map(curve).collect()
    }

    fn json(&self) -> Value {
        let numbers = |of: &[f64]| of.iter().map(|number| seal::write_number(*number)).collect::<Vec<_>>();
        json!({ "name": self.name, "axes": self.axes, "x": numbers(&self.curve.x), "y": numbers(&self.curve.y) })
    }

    fn from_json(value: &Value) -> Option<MeasuredCurve> {
        let numbers = |key: &str| value[key].as_array()?.iter().map(seal::read_number).collect::<Option<Vec<_>>>();
        Some(MeasuredCurve {
            name: value["name"].as_str()?.to_owned(),
            axes: serde_json::from_value(value["axes"].clone()).ok()?,
            curve: Curve { x: numbers("x")?, y: numbers("y")? },
        })
    }
}

impl Record {
    pub(crate) fn of(inputs: String, outcome: &Outcome) -> Record {
        Record {
            inputs,
            scheme: outcome.summary.scheme.clone(),
            failure: outcome.summary.why_failed(),
            gave_up: outcome.gave_up(),
            flows: None,
            network: numbers::of_network(&outcome.summary),
            machine: numbers::of_machine(&outcome.summary),
            curves: MeasuredCurve::all(&outcome.summary),
        }
    }

    /// A number of the network's by its name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.network.iter().find(|number| number.name == name).and_then(|number| number.value)
    }

    pub fn json(&self, build: &str) -> Value {
        json!({
            "inputs": self.inputs,
            "build": build,
            "scheme": self.scheme,
            "failure": self.failure,
            "gave_up": self.gave_up,
            "flows": self.flows,
            "network": self.network.iter().map(number_json).collect::<Vec<_>>(),
            "machine": self.machine.iter().map(number_json).collect::<Vec<_>>(),
            "curves": self.curves.iter().map(MeasuredCurve::json).collect::<Vec<_>>(),
        })
    }

    pub fn from_json(value: &Value) -> Option<Record> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let numbers = |key: &str| value[key].as_array()?.iter().map(number_of).collect::<Option<Vec<_>>>();
        Some(Record {
            inputs: text("inputs")?,
            scheme: text("scheme")?,
            failure: text("failure"),
            gave_up: value["gave_up"].as_bool()?,
            flows: text("flows"),
            network: numbers("network")?,
            machine: numbers("machine")?,
            curves: value["curves"].as_array()?.iter().map(MeasuredCurve::from_json).collect::<Option<Vec<_>>>()?,
        })
    }
}

/// Records in the order of the runs that they are of; refuses if a run has none.
pub fn in_order(inputs: &[String], records: Vec<Record>) -> Result<Vec<Record>, Diagnostic> {
    let known: HashMap<&str, &Record> = records.iter().map(|record| (record.inputs.as_str(), record)).collect();
    let found = inputs.iter().map(|inputs| known.get(inputs.as_str()).copied().cloned());
    found.collect::<Option<Vec<Record>>>().ok_or_else(|| {
        let error = Diagnostic::new("the results are not those of this sweep");
        error.label("a run of it has no result among these")
    })
}

/// `[name, unit, value, whole]`.
fn number_json(number: &Number) -> Value {
    json!([number.name, number.unit, number.value.map(seal::write_number), number.whole])
}

fn number_of(value: &Value) -> Option<Number> {
    let number = match &value[2] {
        Value::Null => None,
        number => Some(seal::read_number(number)?),
    };
    Some(Number {
        name: value[0].as_str()?.to_owned(),
        unit: value[1].as_str()?.to_owned(),
        value: number,
        whole: value[3].as_bool()?,
    })
}

/// Finished runs in a folder, each under the fingerprint of what it was made from: whatever asks for the same run
/// finds it.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    build: String,
    /// Stores of others, where runs are looked for too.
    others: Vec<Store>,
}

impl Store {
    /// Store of runs that `build` made; those of others are not taken.
    pub fn new(folder: PathBuf, build: String) -> Store {
        Store { folder, build, others: Vec::new() }
    }

    /// Adds folders; runs that are in one of them are taken over.
    pub fn beside(self, folders: impl IntoIterator<Item = PathBuf>) -> Store {
        let others = folders.into_iter().map(|folder| Store::new(folder, self.build.clone())).collect();
        Store { others, ..self }
    }

    /// The program whose runs it keeps.
    pub fn build(&self) -> &str {
        &self.build
    }

    fn path(&self, inputs: &str) -> PathBuf {
        self.folder.join(inputs.get(..2).unwrap_or_default()).join(format!("{inputs}.json"))
    }

    /// The run of these inputs, if it is there and as it was written; not one that was given up.
    pub fn find(&self, inputs: &str) -> Option<Record> {
        self.find_given_up(inputs).filter(|record| !record.gave_up)
    }

    /// Finds a run, given up or not.
    pub(crate) fn find_given_up(&self, inputs: &str) -> Option<Record> {
        let value = seal::load(&self.path(inputs))?;
        let ours = value["build"].as_str()? == self.build && value["inputs"].as_str()? == inputs;
        ours.then(|| Record::from_json(&value)).flatten()
    }

    /// The run of these inputs, whatever program made it; for those who only look.
    pub fn find_of_any_build(&self, inputs: &str) -> Option<Record> {
        let value = seal::load(&self.path(inputs)).filter(|value| value["inputs"].as_str() == Some(inputs))?;
        Record::from_json(&value)
    }

    /// Finds a run with its flows.
    fn find_with_flows(&self, inputs: &str) -> Option<Record> {
        let record = self.find(inputs)?;
        let bytes = std::fs::read(self.flows_of(&record)).ok()?;
        (record.flows.as_deref() == Some(&Fingerprint::start().with(&bytes).text())).then_some(record)
    }

    /// A run of another store, which is kept here from now on.
    fn take_over(&self, inputs: &str, flows: bool) -> io::Result<Option<Record>> {
        for other in &self.others {
            let found = if flows { other.find_with_flows(inputs) } else { other.find(inputs) };
            if let Some(record) = found {
                if flows {
                    let bytes = std::fs::read(other.flows_of(&record))?;
                    whole::write(&self.flows_of(&record), &bytes, Present::Replace)?;
                }
                self.keep(&record)?;
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    pub fn keep(&self, record: &Record) -> io::Result<()> {
        seal::save(&self.path(&record.inputs), &record.json(&self.build))
    }

    /// Where the flows of a run are.
    pub fn flows_of(&self, record: &Record) -> PathBuf {
        self.path(&record.inputs).with_extension("parquet")
    }
}

/// One point of a sweep as a job.
pub struct PointJob<'a> {
    pub scenario: &'a Scenario,
    pub point: &'a Point,
    /// Where finished runs are; none are kept without.
    pub store: Option<&'a Store>,
    pub name: String,
    /// Whether its flows are kept too.
    pub flows: bool,
}

impl PointJob<'_> {
    fn make(&self, loaded: &Loaded, inputs: String) -> Result<Record, Failed> {
        let (outcome, flows) = match self.flows {
            true => execute::with_flows(loaded).map(|(outcome, flows)| (outcome, Some(flows)))?,
            false => (execute::execute(loaded, None, |_| {})?, None),
        };
        let mut record = Record::of(inputs, &outcome);
        record.flows = flows.as_ref().map(|bytes| Fingerprint::start().with(bytes).text());
        match self.store {
            // What was given up, another machine or another limit may do better.
            Some(store) if !record.gave_up => {
                if let Some(bytes) = &flows {
                    whole::write(&store.flows_of(&record), bytes, Present::Replace)?;
                }
                store.keep(&record)?;
            }
            _ => {}
        }
        Ok(record)
    }
}

impl Job for PointJob<'_> {
    type Made = Record;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&self) -> Result<(Record, bool), Failed> {
        let loaded = self.scenario.load(&self.point.options)?;
        let inputs = Fingerprint::of(&loaded).text();
        let find = |store: &Store| match self.flows {
            true => store.find_with_flows(&inputs),
            false => store.find(&inputs),
        };
        if let Some(found) = self.store.and_then(find) {
            return Ok((found, false));
        }
        if let Some(store) = self.store
            && let Some(found) = store.take_over(&inputs, self.flows)?
        {
            return Ok((found, false));
        }
        self.make(&loaded, inputs).map(|record| (record, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_scenario::measure::Along;

    #[test]
    fn many_may_keep_the_same_run_at_the_same_time() {
        let folder = std::env::temp_dir().join(format!("xoff-store-{}", std::process::id()));
        let store = Store::new(folder.clone(), "1.0 abc".to_owned());
        for at in 0..50 {
            let inputs = format!("{at:032x}");
            let record = Record {
                inputs: inputs.clone(),
                scheme: "none".to_owned(),
                failure: None,
                gave_up: false,
                flows: None,
                network: Vec::new(),
                machine: Vec::new(),
                curves: vec![MeasuredCurve {
                    name: "c".to_owned(),
                    axes: CurveAxes {
                        along: Along::Time,
                        x: "Time".to_owned(),
                        x_unit: "ms".to_owned(),
                        y: "C".to_owned(),
                        y_unit: String::new(),
                    },
                    curve: Curve { x: vec![0.5, 1.0], y: vec![f64::INFINITY, 0.1] },
                }],
            };
            std::thread::scope(|scope| {
                let keep = || store.keep(&record);
                let writers: Vec<_> = (0..8).map(|_| scope.spawn(keep)).collect();
                writers.into_iter().for_each(|writer| writer.join().unwrap().unwrap());
            });
            assert_eq!(store.find(&inputs), Some(record));
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
