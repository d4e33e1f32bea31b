//! Statistics of a set of values.

use super::{Curve, Value};
use crate::measure::metrics::{jain_index, percentile};
use crate::reader::Result;
use crate::{Table, Text};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stat {
    Mean,
    Percentile(f64),
    Min,
    Max,
    /// Standard deviation of the values themselves, not of a larger population.
    Std,
    /// Standard deviation over mean.
    Cv,
    Sum,
    /// Largest less smallest.
    Range,
    Jain,
}

impl Stat {
    pub fn parse(text: &str) -> Option<Stat> {
        Some(match text {
            "mean" => Stat::Mean,
            "min" => Stat::Min,
            "max" => Stat::Max,
            "std" => Stat::Std,
            "cv" => Stat::Cv,
            "sum" => Stat::Sum,
            "range" => Stat::Range,
            "jain" => Stat::Jain,
            "median" => Stat::Percentile(50.0),
            _ => {
                let p: f64 = text.strip_prefix('p')?.parse().ok()?;
                if !(0.0..=100.0).contains(&p) {
                    return None;
                }
                Stat::Percentile(p)
            }
        })
    }

    /// Whether it is a plain number, whatever the values are measured in.
    pub fn is_plain(self) -> bool {
        matches!(self, Stat::Cv | Stat::Jain)
    }

    /// Word before a noun: `p99`, `mean`.
    pub fn word(self) -> String {
        match self {
            Stat::Mean => "mean".to_owned(),
            Stat::Percentile(p) => format!("p{p}"),
            Stat::Min => "smallest".to_owned(),
            Stat::Max => "largest".to_owned(),
            Stat::Std => "standard deviation of".to_owned(),
            Stat::Cv => "coefficient of variation of".to_owned(),
            Stat::Sum => "sum of".to_owned(),
            Stat::Range => "range of".to_owned(),
            Stat::Jain => "Jain's index of".to_owned(),
        }
    }

    /// NaN of nothing.
    pub fn of(self, sorted: &[f64]) -> f64 {
        match self {
            Stat::Mean => mean(sorted),
            Stat::Percentile(p) => percentile(sorted, p).unwrap_or(f64::NAN),
            Stat::Min => sorted.first().copied().unwrap_or(f64::NAN),
            Stat::Max => sorted.last().copied().unwrap_or(f64::NAN),
            Stat::Std => std(sorted),
            Stat::Cv => std(sorted) / mean(sorted),
            Stat::Sum => sorted.iter().sum(),
            Stat::Range => Stat::Max.of(sorted) - Stat::Min.of(sorted),
            Stat::Jain => jain_index(sorted).unwrap_or(f64::NAN),
        }
    }
}

/// The statistics a measure asks for: one, or several with a name each.
#[derive(Clone, Debug)]
pub enum Stats {
    One(Stat),
    Several(Vec<(String, Stat)>),
}

impl Stats {
    pub fn suffixes(&self) -> Option<Vec<String>> {
        match self {
            Stats::One(_) => None,
            Stats::Several(list) => Some(list.iter().map(|(name, _)| name.clone()).collect()),
        }
    }

    /// Whether all of them are plain numbers.
    pub fn are_plain(&self) -> bool {
        match self {
            Stats::One(stat) => stat.is_plain(),
            Stats::Several(list) => list.iter().all(|(_, stat)| stat.is_plain()),
        }
    }

    pub fn is_plain(&self, suffix: &str) -> bool {
        match self {
            Stats::One(stat) => stat.is_plain(),
            Stats::Several(list) => list.iter().any(|(name, stat)| name == suffix && stat.is_plain()),
        }
    }

    pub(super) fn of(&self, mut values: Vec<f64>) -> Value {
        values.sort_unstable_by(f64::total_cmp);
        match self {
            Stats::One(stat) => Value::Number(stat.of(&values)),
            Stats::Several(list) => {
                Value::Named(list.iter().map(|(name, stat)| (name.clone(), stat.of(&values))).collect())
            }
        }
    }
}

/// `stat`: a text, or a list of texts.
pub fn read(row: &mut Table) -> Result<Stats> {
    let one = row.is_text("stat");
    let texts = row.texts("stat")?;
    if one {
        return Ok(Stats::One(parse(&texts[0])?));
    }
    let named = |text: &Text| Ok((text.value.clone(), parse(text)?));
    Ok(Stats::Several(texts.iter().map(named).collect::<Result<_>>()?))
}

/// [`read`], where leaving it out means one statistic.
pub fn read_or(row: &mut Table, default: &str) -> Result<Stats> {
    if row.has("stat") {
        return read(row);
    }
    let text = row.text_or("stat", default)?;
    Ok(Stats::One(parse(&text)?))
}

fn parse(text: &Text) -> Result<Stat> {
    Stat::parse(&text.value).ok_or_else(|| {
        text.error(format!("`stat` cannot be \"{}\"", text.value))
            .label("\"mean\", \"median\", \"min\", \"max\", \"range\", \"std\", \"cv\", \"sum\", \"jain\" or a percentile, \"p99\"")
    })
}

/// How the results of several ports or flows become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combine {
    Sum,
    Mean,
    Min,
    Max,
    Std,
    /// Largest over smallest.
    Spread,
    /// Largest less smallest.
    Range,
    Jain,
}

pub const COMBINES: &[(&str, Combine)] = &[
    ("sum", Combine::Sum),
    ("mean", Combine::Mean),
    ("min", Combine::Min),
    ("max", Combine::Max),
    ("std", Combine::Std),
    ("spread", Combine::Spread),
    ("range", Combine::Range),
    ("jain", Combine::Jain),
];

impl Combine {
    /// Whether it is a plain number, whatever the values are measured in.
    pub fn is_plain(self) -> bool {
        matches!(self, Combine::Spread | Combine::Jain)
    }

    /// Unknown values are left out; NaN of nothing.
    pub fn of(self, values: impl IntoIterator<Item = f64>) -> f64 {
        let values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        if values.is_empty() {
            return f64::NAN;
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        match self {
            Combine::Sum => values.iter().sum(),
            Combine::Mean => mean(&values),
            Combine::Min => low,
            Combine::Max => high,
            Combine::Std => std(&values),
            Combine::Spread => high / low,
            Combine::Range => high - low,
            Combine::Jain => jain_index(&values).unwrap_or(f64::NAN),
        }
    }
}

/// NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Root of the mean squared distance from the mean; NaN of nothing.
pub fn std(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if values.is_empty() { f64::NAN } else { (squares / values.len() as f64).sqrt() }
}

/// Steps kept of a distribution: enough for any figure.
const CDF_POINTS: usize = 1000;

/// For each value the part of all that is no larger; thinned to ranks at equal distances.
pub(super) fn cdf(mut values: Vec<f64>) -> Curve {
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len();
    let mut curve = Curve::default();
    let points = count.min(CDF_POINTS);
    for point in 1..=points {
        let rank = (point * count).div_ceil(points);
        let (x, y) = (values[rank - 1], rank as f64 / count as f64);
        // Of equal values only the highest step counts.
        if curve.x.last() == Some(&x) {
            curve.x.pop();
            curve.y.pop();
        }
        curve.x.push(x);
        curve.y.push(y);
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_a_handful() {
        let sorted = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let of = |text: &str| Stat::parse(text).unwrap().of(&sorted);
        assert_eq!((of("mean"), of("std"), of("sum")), (5.0, 2.0, 40.0));
        assert_eq!((of("min"), of("max"), of("median"), of("p50")), (2.0, 9.0, 4.0, 4.0));
        assert_eq!((of("cv"), of("range"), of("jain")), (0.4, 7.0, 1600.0 / (8.0 * 232.0)));
        assert_eq!((of("p99.9"), of("p0"), of("p87.5")), (9.0, 2.0, 7.0));
        assert!(Stat::Mean.of(&[]).is_nan() && Stat::Std.of(&[]).is_nan());
        assert_eq!(Stat::parse("p101"), None);
        assert_eq!(Stat::parse("px"), None);
    }

    #[test]
    fn combinations_leave_out_what_cannot_be_told() {
        let values = [1.0, f64::NAN, 3.0];
        let of = |combine: Combine| combine.of(values);
        assert_eq!((of(Combine::Sum), of(Combine::Mean), of(Combine::Min), of(Combine::Max)), (4.0, 2.0, 1.0, 3.0));
        assert_eq!((of(Combine::Spread), of(Combine::Range), of(Combine::Std)), (3.0, 2.0, 1.0));
        assert_eq!(of(Combine::Jain), 0.8);
        assert!(Combine::Sum.of([f64::NAN]).is_nan());
    }
}
