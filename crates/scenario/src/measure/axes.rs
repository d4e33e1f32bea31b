//! Axes of a measure that is a curve, for its figures.

use super::registry::{Family, MetricSpec};
use crate::wrap::capitalised;
use serde::{Deserialize, Serialize};

/// What a curve runs along.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Along {
    /// Flow sizes in bytes, a point for each bin.
    Sizes,
    /// Time.
    Time,
    /// The quantity itself: for each value the part that is no larger.
    Values,
}

/// The two axes of a curve in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CurveAxes {
    /// What x is.
    pub along: Along,
    /// Title of x, without its unit.
    pub x: String,
    /// Unit of x; empty for plain numbers.
    pub x_unit: String,
    /// Title of y, without its unit.
    pub y: String,
    /// Unit of y; empty for plain numbers and parts of a whole.
    pub y_unit: String,
}

impl MetricSpec {
    /// What the metric's curve runs along; `None` where it gives numbers.
    pub fn along(&self) -> Option<Along> {
        match self.gives.strip_prefix("a curve over ")? {
            "sizes in bytes" => Some(Along::Sizes),
            "time" => Some(Along::Time),
            _ => Some(Along::Values),
        }
    }

    /// The axes of a measure of this metric: its name and unit, the word for its statistic, the unit of time along x.
    pub(super) fn axes(&self, name: &str, unit: &str, stat: Option<String>, time: Option<&str>) -> Option<CurveAxes> {
        let along = self.along()?;
        let noun = match self.name.trim_end_matches("-by-size").trim_end_matches("-cdf") {
            "fct" => "FCT".to_owned(),
            "size" => "flow size".to_owned(),
            other => other.replace('-', " "),
        };
        let (x, x_unit, y, y_unit) = match along {
            Along::Sizes => {
                let y = stat.map_or_else(|| noun.clone(), |stat| format!("{stat} {noun}"));
                ("flow size".to_owned(), "bytes", y, unit)
            }
            Along::Time => ("time".to_owned(), time.unwrap_or("ms"), name.replace('_', " "), unit),
            Along::Values => {
                let whole = match self.family {
                    Family::Flows => "fraction of flows",
                    Family::Pauses => "fraction of pauses",
                    Family::Jobs => "fraction",
                    Family::Series | Family::Ports | Family::Whole => "fraction of time",
                };
                (noun, unit, whole.to_owned(), "")
            }
        };
        let (x, y) = (capitalised(&x), capitalised(&y));
        Some(CurveAxes { along, x, x_unit: x_unit.to_owned(), y, y_unit: y_unit.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::registry::{METRICS, find};

    #[test]
    fn every_curve_has_axes_in_words() {
        for spec in METRICS.iter().filter(|spec| spec.gives.contains("curve")) {
            let axes = spec.axes("mine", "us", None, Some("ms")).unwrap();
            assert!(axes.x.starts_with(char::is_uppercase) && axes.y.starts_with(char::is_uppercase), "{axes:?}");
            assert!(!axes.x.contains('-') && !axes.y.contains('_'), "{axes:?}");
        }
    }

    #[test]
    fn the_statistic_stands_before_its_quantity() {
        let axes = find("slowdown-by-size").unwrap().axes("mine", "", Some("p99".to_owned()), None).unwrap();
        assert_eq!((axes.x.as_str(), axes.x_unit.as_str(), axes.y.as_str()), ("Flow size", "bytes", "p99 slowdown"));
        let axes = find("fct-cdf").unwrap().axes("mine", "us", None, None).unwrap();
        assert_eq!((axes.x.as_str(), axes.x_unit.as_str(), axes.y.as_str()), ("FCT", "us", "Fraction of flows"));
    }
}
