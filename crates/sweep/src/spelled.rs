//! A sweep as a plan keeps it: axes with their values as they were asked for, so that nothing is read twice.
//!
//! A file of a sweep says the same to people, but values change their spelling on the way through it.

use crate::axis::{Axis, Range};
use crate::plan::{MOST_RUNS, Sweep};
use crate::sample::Sampler;
use crate::value::{Quantity, Value};
use serde::{Deserialize, Serialize};
use xoff_scenario::Scenario;
use xoff_scenario::diagnostic::{Place, Source};

/// All of a [`Sweep`] but its scenario.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spelled {
    sets: Vec<String>,
    schemes: Vec<String>,
    axes: Vec<SpelledAxis>,
    seeds: u64,
    first_seed: Option<u64>,
    sample: Option<u64>,
    random: bool,
    measures: Vec<String>,
}

impl Sweep {
    /// All of it but the scenario, as one text.
    pub fn spelled(&self) -> String {
        serde_json::to_string(&Spelled::of(self)).unwrap_or_default()
    }

    /// What [`Sweep::spelled`] gave, of a scenario.
    pub fn of_spelled(scenario: Scenario, text: &str) -> Result<Sweep, String> {
        serde_json::from_str::<Spelled>(text).map_err(|error| error.to_string())?.sweep(scenario)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpelledAxis {
    name: String,
    keys: Vec<String>,
    /// Values as set and as shown, by key.
    values: Vec<Vec<(String, String)>>,
    /// From, to, whether logarithmic, by key.
    ranges: Option<Vec<(String, String, bool)>>,
    only: Option<Vec<String>>,
}

impl Spelled {
    pub(crate) fn of(sweep: &Sweep) -> Spelled {
        let axis = |axis: &Axis| SpelledAxis {
            name: axis.name.clone(),
            keys: axis.keys.clone(),
            values: axis
                .values
                .iter()
                .map(|row| row.iter().map(|value| (value.text.clone(), value.name.clone())).collect())
                .collect(),
            ranges: axis.ranges.as_ref().map(|ranges| ranges.iter().map(spelled_range).collect()),
            only: axis.only.clone(),
        };
        Spelled {
            sets: sweep.sets.clone(),
            schemes: sweep.schemes.clone(),
            axes: sweep.axes.iter().map(axis).collect(),
            seeds: sweep.seeds,
            first_seed: sweep.first_seed,
            sample: sweep.sample,
            random: sweep.sampler == Sampler::Random,
            measures: sweep.measures.clone(),
        }
    }

    /// The sweep of a scenario, or what is wrong with it.
    pub(crate) fn sweep(&self, scenario: Scenario) -> Result<Sweep, String> {
        let most_seed = i64::MAX as u64 / 2;
        if !(1..=MOST_RUNS).contains(&self.seeds) || self.first_seed.is_some_and(|seed| seed > most_seed) {
            return Err("its seeds are out of range".to_owned());
        }
        if self.sample.is_some_and(|count| !(1..=MOST_RUNS).contains(&count)) {
            return Err("its number of samples is out of range".to_owned());
        }
        Ok(Sweep {
            scenario,
            sets: self.sets.clone(),
            schemes: self.schemes.clone(),
            axes: self.axes.iter().map(SpelledAxis::axis).collect::<Result<_, _>>()?,
            seeds: self.seeds,
            first_seed: self.first_seed,
            sample: self.sample,
            sampler: if self.random { Sampler::Random } else { Sampler::Sobol },
            measures: self.measures.clone(),
        })
    }
}

fn spelled_range(range: &Range) -> (String, String, bool) {
    (Value::of_quantity(range.from).name, Value::of_quantity(range.to).name, range.log)
}

impl SpelledAxis {
    fn axis(&self) -> Result<Axis, String> {
        let bad = |what: &str| format!("the axis `{}` {what}", self.name);
        if self.keys.is_empty() || self.values.iter().any(|row| row.len() != self.keys.len()) {
            return Err(bad("has not one value for each key"));
        }
        if self.values.is_empty() && self.ranges.is_none() {
            return Err(bad("has no values"));
        }
        if self.ranges.as_ref().is_some_and(|ranges| ranges.len() != self.keys.len()) {
            return Err(bad("has not one range for each key"));
        }
        let range = |(from, to, log): &(String, String, bool)| {
            let ends = Quantity::parse(from).zip(Quantity::parse(to)).filter(|(from, to)| from.unit == to.unit);
            ends.map(|(from, to)| Range { from, to, log: *log })
        };
        let ranges = match &self.ranges {
            None => None,
            Some(ranges) => {
                let ranges: Option<Vec<Range>> = ranges.iter().map(range).collect();
                Some(ranges.ok_or_else(|| bad("has a range without numbers at its ends"))?)
            }
        };
        let value = |(text, name): &(String, String)| Value {
            text: text.clone(),
            name: name.clone(),
            quantity: Quantity::parse(name),
        };
        let source = Source::new("plan.json", self.name.as_str());
        Ok(Axis {
            at: Place { span: 0..source.text.len(), source },
            values: self.values.iter().map(|row| row.iter().map(value).collect()).collect(),
            name: self.name.clone(),
            keys: self.keys.clone(),
            ranges,
            only: self.only.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn nothing_changes_its_spelling() {
        let scenario = || Scenario::from_text("x.toml", "", Path::new("."));
        let mut sweep = Sweep { first_seed: Some(3), sample: Some(4), ..Sweep::of(scenario()) };
        for axis in [
            "a.load=0.30,0.5",
            "a.size=5KB,\"10KB\"",
            "mode=auto,1.50",
            "x=1..2:log+y=10us..30us",
            "z=1.0..4.0",
            "n=2..8:lin4",
        ] {
            sweep.add(Axis::typed(axis).unwrap());
        }
        let text = serde_json::to_string(&Spelled::of(&sweep)).unwrap();
        let back = serde_json::from_str::<Spelled>(&text).unwrap().sweep(scenario()).unwrap();
        assert_eq!(serde_json::to_string(&Spelled::of(&back)).unwrap(), text);
        let values = |sweep: &Sweep| {
            let points = sweep.points().unwrap();
            let sets = |point: &crate::Point| point.options.assignments().map(str::to_owned).collect::<Vec<_>>();
            points.into_iter().map(|point| (sets(&point), point.values, point.seed)).collect::<Vec<_>>()
        };
        assert_eq!(values(&back), values(&sweep));
        // A file for people says the same.
        let source = Source::new("sweep.toml", sweep.text("x.toml"));
        let names = |sweep: &Sweep| {
            let name = |point: crate::Point| sweep.setting(&point.values, &[]);
            sweep.points().unwrap().into_iter().map(name).collect::<Vec<_>>()
        };
        let folder = std::env::temp_dir().join(format!("xoff-spelled-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("x.toml"), "").unwrap();
        let read = Sweep::read(&source, &folder).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let plain = |names: Vec<String>| -> Vec<String> {
            names.into_iter().map(|name| name.replace("1.50", "1.5").replace("0.30", "0.3")).collect()
        };
        assert_eq!(plain(names(&read)), plain(names(&sweep)), "{}", source.text);
    }
}
