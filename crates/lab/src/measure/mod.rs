//! Measures: named numbers and curves taken from a run, by the words of the field.
//!
//! A measure is a table of data, `[[measure]]`, in a scenario or in an experiment. Every metric is
//! listed, with its keys and its unit, in `docs/metrics.md` and by `xoff describe metrics`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was measured in one run, by the names the measures gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Infinity stands for "never within the run", NaN for "cannot be told" (no flow, no sample).
    pub numbers: BTreeMap<String, f64>,
    pub curves: BTreeMap<String, Curve>,
}

/// Points in order of x: a quantity over time, or a statistic over flow sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
}
