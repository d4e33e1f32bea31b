//! The numbers at an axis: round, few, and in a unit that fits the range.

use super::chart::AxisUnit;
use xoff_scenario::number;

/// Positions and texts of the marks of an axis, and the unit for its title.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// Where, and what stands there.
    pub marks: Vec<(f64, String)>,
    /// For the title of the axis.
    pub unit: String,
}

/// A unit and how much of the data's unit it holds.
fn prefix(unit: &AxisUnit, largest: f64) -> (&str, f64) {
    match unit {
        AxisUnit::Time if largest >= 2e6 => ("s", 1e6),
        AxisUnit::Time if largest >= 2e3 => ("ms", 1e3),
        AxisUnit::Time => ("us", 1.0),
        AxisUnit::Bytes if largest >= 2e6 => ("MB", 1e6),
        AxisUnit::Bytes if largest >= 2e3 => ("KB", 1e3),
        AxisUnit::Bytes => ("bytes", 1.0),
        AxisUnit::Gbps if largest < 0.2 => ("Mb/s", 1e-3),
        AxisUnit::Gbps => ("Gb/s", 1.0),
        AxisUnit::PerSecond if largest >= 2e6 => ("millions per second", 1e6),
        AxisUnit::PerSecond if largest >= 2e3 => ("thousands per second", 1e3),
        AxisUnit::PerSecond => ("per second", 1.0),
        AxisUnit::Fraction => ("%", 0.01),
        AxisUnit::Ratio => ("", 1.0),
        AxisUnit::Plain(name) => (name, 1.0),
    }
}

/// Marks at just these values, in the unit that the range gets.
pub fn at(values: &[f64], log: bool, unit: &AxisUnit) -> Vec<(f64, String)> {
    let (_, scale) = prefix(unit, values.iter().copied().map(f64::abs).fold(0.0, f64::max));
    let text = |value: f64| match log {
        true => short(value, unit),
        false => short(value / scale, &AxisUnit::Ratio),
    };
    values.iter().map(|value| (*value, text(*value))).collect()
}

/// About `wanted` marks between `low` and `high`, at 1, 2 or 5 times a power of ten.
pub fn linear(low: f64, high: f64, wanted: usize, unit: &AxisUnit) -> Ticks {
    let (name, scale) = prefix(unit, low.abs().max(high.abs()));
    let (low, high) = (low / scale, high / scale);
    let rough = ((high - low) / wanted.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= rough * 0.999).unwrap_or(rough);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let mut marks = Vec::new();
    let first = (low / step - 1e-9).ceil();
    for index in 0..=(2 * wanted + 2) {
        let value = (first + index as f64) * step;
        if value > high + step * 1e-9 {
            break;
        }
        // Minus zero is written as zero.
        let value = if value == 0.0 { 0.0 } else { value };
        let text = match unit {
            AxisUnit::Plain(_) if (1e4..1e15).contains(&value.abs()) => number::brief(value),
            _ => format!("{value:.decimals$}"),
        };
        marks.push((value * scale, text));
    }
    Ticks { marks, unit: name.to_owned() }
}

/// Powers of ten between `low` and `high`; with 2 and 5 in between where there is room for them.
pub fn logarithmic(low: f64, high: f64, wanted: usize, unit: &AxisUnit) -> Ticks {
    let decades = (high / low).log10();
    let between: &[f64] = match decades * 3.0 {
        marks if marks <= wanted as f64 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let mut marks = Vec::new();
    let mut power = 10f64.powf(low.log10().floor());
    while power <= high * 1.0001 && marks.len() < 100 {
        for value in between.iter().map(|m| m * power) {
            if value >= low * 0.9999 && value <= high * 1.0001 {
                marks.push((value, short(value, unit)));
            }
        }
        power *= 10.0;
    }
    // Within a decade, evenly spaced round numbers say more than one or two of those.
    if marks.len() < 2 || (marks.len() < 3 && decades < 1.0) {
        let even = linear(low, high, wanted.min(6), &AxisUnit::Ratio);
        marks = even.marks.into_iter().filter(|(v, _)| *v > 0.0).map(|(v, _)| (v, short(v, unit))).collect();
    }
    // Each mark carries its own prefix, so the title needs a unit only where marks have none.
    let name = match unit {
        AxisUnit::Bytes | AxisUnit::Time | AxisUnit::Ratio => "",
        other => prefix(other, high).0,
    };
    Ticks { marks, unit: name.to_owned() }
}

/// `100`, `2k`, `5M`; sizes and times with their unit.
fn short(value: f64, unit: &AxisUnit) -> String {
    let spelled = |v: f64| {
        if v > 0.0 && v < 0.001 {
            return format!("{v:e}");
        }
        let text = format!("{v:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match unit {
        AxisUnit::Bytes if value >= 1e9 => spelled(value / 1e9) + " GB",
        AxisUnit::Bytes if value >= 1e6 => spelled(value / 1e6) + " MB",
        AxisUnit::Bytes if value >= 1e3 => spelled(value / 1e3) + " KB",
        AxisUnit::Bytes => spelled(value) + " B",
        AxisUnit::Time if value >= 1e6 => spelled(value / 1e6) + " s",
        AxisUnit::Time if value >= 1e3 => spelled(value / 1e3) + " ms",
        AxisUnit::Time => spelled(value) + " us",
        AxisUnit::Plain(_) if (1e3..1e6).contains(&value) => number::brief(value),
        _ if value >= 1e9 => spelled(value / 1e9) + "G",
        _ if value >= 1e6 => spelled(value / 1e6) + "M",
        _ if value >= 1e3 => spelled(value / 1e3) + "k",
        _ => spelled(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(ticks: &Ticks) -> Vec<&str> {
        ticks.marks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn marks_are_round_and_in_a_fitting_unit() {
        let ticks = linear(0.0, 10_000.0, 5, &AxisUnit::Time);
        assert_eq!((texts(&ticks), ticks.unit.as_str()), (vec!["0", "2", "4", "6", "8", "10"], "ms"));
        let ticks = linear(0.0, 0.9, 5, &AxisUnit::Fraction);
        assert_eq!(texts(&ticks), ["0", "20", "40", "60", "80"]);
        assert_eq!(texts(&linear(0.0, 1.0, 5, &AxisUnit::Ratio)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let ticks = logarithmic(900.0, 3e7, 8, &AxisUnit::Bytes);
        assert_eq!(texts(&ticks), ["1 KB", "10 KB", "100 KB", "1 MB", "10 MB"]);
        assert_eq!(texts(&logarithmic(1.0, 65.0, 5, &AxisUnit::Ratio)), ["1", "10"]);
        let ticks = logarithmic(61_000.0, 79_000.0, 9, &AxisUnit::Bytes);
        assert_eq!(texts(&ticks), ["65 KB", "70 KB", "75 KB"]);
        let own = at(&[0.3, 0.45, 0.8], false, &AxisUnit::Ratio);
        assert_eq!(own.iter().map(|mark| mark.1.as_str()).collect::<Vec<_>>(), ["0.3", "0.45", "0.8"]);
        let own = at(&[5e3, 4e5], true, &AxisUnit::Bytes);
        assert_eq!(own.iter().map(|mark| mark.1.as_str()).collect::<Vec<_>>(), ["5 KB", "400 KB"]);
        assert_eq!(texts(&logarithmic(1.0, 30.0, 8, &AxisUnit::Ratio)), ["1", "2", "5", "10", "20"]);
    }

    proptest! {
        #[test]
        fn marks_lie_inside_and_differ(low in -1e6f64..1e6, size in 1e-3f64..1e9, wanted in 2usize..12) {
            let ticks = linear(low, low + size, wanted, &AxisUnit::Bytes);
            prop_assert!(ticks.marks.len() <= 2 * wanted + 3);
            prop_assert!(ticks.marks.windows(2).all(|w| w[0].0 < w[1].0));
            let slack = size * 1e-6;
            prop_assert!(ticks.marks.iter().all(|m| m.0 >= low - slack && m.0 <= low + size + slack));
        }
    }
}
