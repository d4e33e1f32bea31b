//! What the runs of an experiment yielded: a grid over its axes, with every seed kept.

use crate::models::ModelSpec;
pub use xoff_results::interval::Estimate;
use xoff_scenario::measure::{Curve, Measured};

/// All runs of one experiment.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub groups: Vec<Group>,
}

/// The runs of one `[[runs]]`.
#[derive(Clone, Debug)]
pub struct Group {
    /// Unique within the experiment.
    pub name: String,
    pub axes: Vec<AxisValues>,
    /// One per combination of axis values, the last axis fastest. A combination that was not run has no seeds.
    pub cells: Vec<Cell>,
    /// In a rehearsal, the model that would have been evaluated.
    pub announced: Option<&'static ModelSpec>,
}

/// An axis with the values that were run.
#[derive(Clone, Debug)]
pub struct AxisValues {
    pub name: String,
    pub values: Vec<AxisValue>,
}

#[derive(Clone, Debug)]
pub struct AxisValue {
    /// Name as shown and in claims: `PCN`, `0.6`, `18ms`.
    pub name: String,
    /// Its place on a numeric axis; `None` for names.
    pub number: Option<f64>,
    /// The registry's name of the scheme (without preset and base), which decides the colour.
    pub scheme: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Cell {
    /// Index of the value on each axis.
    pub at: Vec<usize>,
    pub seeds: Vec<Run>,
}

/// One run; all of it but `found` is kept on disk.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The fingerprint of scenario and measures.
    pub inputs: String,
    pub seed: u64,
    pub measured: Measured,
    /// Why the simulated network failed, in words.
    pub failure: Option<String>,
    pub cpu_seconds: f64,
    pub packet_hops: u64,
    /// Whether an earlier command made it.
    pub found: bool,
}

/// Whether two texts name the same value of an axis: by name, or by number where both are one.
pub fn same_value(one: &str, other: &str) -> bool {
    one == other || one.parse::<f64>().is_ok_and(|number| other.parse() == Ok(number))
}

impl Results {
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The group that has this measure, where only one does or one is named.
    pub fn group_with(&self, measure: &str, name: Option<&str>) -> Option<&Group> {
        match name {
            Some(name) => self.group(name),
            None => self.groups.iter().find(|group| group.measures(measure)),
        }
    }
}

impl Group {
    pub fn axis(&self, name: &str) -> Option<(usize, &AxisValues)> {
        self.axes.iter().enumerate().find(|(_, axis)| axis.name == name)
    }

    /// Whether any run has a number or curve of this name.
    pub fn measures(&self, name: &str) -> bool {
        let has = |run: &Run| run.measured.numbers.contains_key(name) || run.measured.curves.contains_key(name);
        self.announced.is_some_and(|model| model.announces(name))
            || self.cells.iter().flat_map(|cell| &cell.seeds).any(has)
    }

    /// The cells that agree with `wanted`: pairs of axis and value index.
    pub fn matching<'a>(&'a self, wanted: &'a [(usize, usize)]) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| wanted.iter().all(|&(axis, value)| cell.at[axis] == value))
    }
}

impl Cell {
    /// One number over the seeds, NaN left out; `None` if no seed has it.
    pub fn estimate(&self, measure: &str) -> Option<Estimate> {
        let values: Vec<f64> = self.seeds.iter().filter_map(|run| run.measured.numbers.get(measure).copied()).collect();
        Estimate::of(&values)
    }

    /// The curve of the first seed.
    pub fn curve(&self, measure: &str) -> Option<&Curve> {
        self.seeds.iter().find_map(|run| run.measured.curves.get(measure))
    }
}
