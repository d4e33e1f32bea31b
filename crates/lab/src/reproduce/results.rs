//! What the runs of an experiment yielded: a grid over its axes, with every seed kept.

use crate::measure::{Curve, Measured};
use crate::models::ModelSpec;

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
    /// As shown and as claims name it: `PCN`, `0.6`, `18ms`.
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

/// One run, as kept on disk.
#[derive(Clone, Debug)]
pub struct Run {
    pub seed: u64,
    pub measured: Measured,
    /// Why the simulated network failed, in words.
    pub failure: Option<String>,
    pub cpu_seconds: f64,
    pub packet_hops: u64,
}

/// A mean over seeds with the half-width of its 95 % confidence interval (Student's t).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub mean: f64,
    /// `None` for a single value.
    pub half_width: Option<f64>,
    pub count: usize,
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

impl Estimate {
    /// `None` without any value that is a number.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let half_width = (count > 1 && mean.is_finite()).then(|| {
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
            student_t(count - 1) * (variance / count as f64).sqrt()
        });
        Some(Estimate { mean, half_width, count })
    }
}

/// The two-sided 95 % quantile of Student's t for some degrees of freedom.
fn student_t(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match freedom {
        0 => f64::NAN,
        1..=30 => TABLE[freedom - 1],
        31..=60 => 2.009,
        61..=120 => 1.990,
        _ => 1.960,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_students() {
        let of = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((of.mean, of.count), (3.0, 5));
        // s = sqrt(2.5), t(4) = 2.776: 2.776 * 1.5811 / 2.2361.
        assert!((of.half_width.unwrap() - 1.963).abs() < 1e-3);
        assert_eq!(Estimate::of(&[7.0]).unwrap().half_width, None);
        assert_eq!(Estimate::of(&[f64::NAN]), None);
        assert_eq!(Estimate::of(&[f64::INFINITY, 1.0]).unwrap().half_width, None);
    }
}
