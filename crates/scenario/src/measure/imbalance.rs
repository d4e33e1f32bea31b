//! How unevenly links that share a load are used.

use super::recording::{Grid, Series};
use super::scope::Scope;
use super::unit::{self, Dimension, Unit};
use super::{Curve, Value};
use crate::Table;
use crate::reader::Result;
use xoff_engine::{Span, Time};
use xoff_fabric::pfc::mtu_wire_bytes;
use xoff_fabric::record::Metric;

/// What becomes of the windows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Of {
    /// The mean, windows weighted by what was sent in them.
    Mean,
    Highest,
    /// Each at its end.
    Curve(Unit),
}

/// One window in which something was sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Window {
    end: Time,
    /// The largest load over the mean load; a load is what was sent over the link's rate.
    pub ratio: f64,
    /// What was sent, in any unit.
    weight: f64,
}

/// Fewer packets per link and window than this are uneven under any spreading.
const PACKETS_LEAST: u64 = 20;

pub(super) fn read(name: &str, row: &mut Table) -> Result<Of> {
    Ok(match name {
        "imbalance" => Of::Mean,
        "imbalance-highest" => Of::Highest,
        _ => Of::Curve(unit::read(row, "x_unit", Dimension::Time)?),
    })
}

/// The rates of the chosen ports, in bits per second.
pub(super) fn rates(row: &Table, scope: &Scope<'_>, metric: Metric, ports: &[u32]) -> Result<Vec<f64>> {
    if metric != Metric::PortThroughput {
        let error = row.error("series", "imbalance is one of links");
        return Err(error.label("series = \"port_throughput\""));
    }
    if row.has("across") {
        return Err(row.key_error("across", "`across` has no effect here").label("links are compared with each other"));
    }
    if ports.len() < 2 {
        return Err(row.error("of", "imbalance needs at least two links"));
    }
    Ok(ports.iter().map(|port| scope.plan.direction(*port).rate.bps() as f64).collect())
}

pub(super) fn check_window(row: &Table, scope: &Scope<'_>, rates: &[f64], window: Span) -> Result<()> {
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let bits = (8 * PACKETS_LEAST * u64::from(mtu_wire_bytes(scope.plan))) as f64;
    let least = Span::from_ps((bits / slowest * 1e12).ceil() as u64);
    if window < least {
        let error = row.error("window", format!("`window` is too short: {window}"));
        return Err(error.label(format!("at least {least}, {PACKETS_LEAST} packets of the slowest of these links")));
    }
    Ok(())
}

/// Whole windows of `span` samples between `from` and `until` in which something was sent. Series come with the rates of
/// their links.
pub(super) fn windows(loads: &[(f64, &Series)], grid: Grid, span: usize, (from, until): (Time, Time)) -> Vec<Window> {
    let samples = loads.iter().map(|(_, series)| series.first + series.values.len() as u64).max().unwrap_or(0);
    let value = |series: &Series, index: u64| {
        index.checked_sub(series.first).and_then(|at| series.values.get(at as usize)).copied().unwrap_or(0.0)
    };
    // The first sample of a rate has nothing to be measured against; one tells of the interval before it.
    let first = (1..samples).find(|index| grid.at(index - 1) >= from).unwrap_or(samples);
    let mut found = Vec::new();
    let mut start = first;
    while start + span as u64 <= samples {
        let next = start + span as u64;
        let end = grid.at(next - 1);
        if end > until {
            break;
        }
        let sent = |series: &Series| (start..next).map(|index| value(series, index)).sum::<f64>();
        let weight: f64 = loads.iter().map(|(_, series)| sent(series)).sum();
        let each: Vec<f64> = loads.iter().map(|(rate, series)| sent(series) / rate).collect();
        let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
        if mean > 0.0 {
            let ratio = each.iter().copied().fold(0.0, f64::max) / mean;
            found.push(Window { end, ratio, weight });
        }
        start = next;
    }
    found
}

impl Of {
    /// NaN where nothing was sent.
    pub(super) fn of(self, windows: &[Window]) -> Value {
        match self {
            Of::Mean => {
                let weight: f64 = windows.iter().map(|window| window.weight).sum();
                Value::Number(windows.iter().map(|window| window.ratio * window.weight).sum::<f64>() / weight)
            }
            Of::Highest => Value::Number(windows.iter().map(|window| window.ratio).fold(f64::NAN, f64::max)),
            Of::Curve(unit) => Value::Curve(Curve {
                x: windows.iter().map(|window| unit::time(window.end - Time::ZERO, unit)).collect(),
                y: windows.iter().map(|window| window.ratio).collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of 10 us, the first of which tells of nothing.
    fn seen(rates: &[f64], loads: &[&[f64]], span: usize) -> Vec<Window> {
        let grid = Grid { from: Time::ZERO, step: Span::from_us(10), until: Time::NEVER };
        let series: Vec<Series> = loads
            .iter()
            .map(|values| Series { label: 0, grid, first: 0, values: [&[0.0], *values].concat() })
            .collect();
        let loads: Vec<(f64, &Series)> = rates.iter().copied().zip(&series).collect();
        windows(&loads, grid, span, (Time::ZERO, Time::NEVER))
    }

    fn number(of: Of, windows: &[Window]) -> f64 {
        let Value::Number(number) = of.of(windows) else { panic!() };
        number
    }

    #[test]
    fn the_largest_load_over_the_mean() {
        let even = seen(&[1.0; 4], &[&[100.0], &[120.0], &[80.0], &[100.0]], 1);
        assert_eq!(even.iter().map(|window| window.ratio).collect::<Vec<_>>(), [1.2]);
        // A link of half the rate with half of the bytes is as busy as the others.
        assert_eq!(seen(&[1.0, 1.0, 1.0, 0.5], &[&[100.0], &[100.0], &[100.0], &[50.0]], 1)[0].ratio, 1.0);
    }

    #[test]
    fn windows_weigh_by_what_was_sent_and_empty_ones_not_at_all() {
        let found = seen(&[1.0; 2], &[&[30.0, 0.0, 10.0, 5.0], &[10.0, 0.0, 10.0, 0.0]], 1);
        assert_eq!(found.iter().map(|window| window.ratio).collect::<Vec<_>>(), [1.5, 1.0, 2.0]);
        // (1.5 * 40 + 1 * 20 + 2 * 5) / 65.
        assert!((number(Of::Mean, &found) - 90.0 / 65.0).abs() < 1e-12);
        assert_eq!(number(Of::Highest, &found), 2.0);
        // Of two samples each: 30 and 10, then 15 and 10.
        let longer = seen(&[1.0; 2], &[&[30.0, 0.0, 10.0, 5.0], &[10.0, 0.0, 10.0, 0.0]], 2);
        assert_eq!(longer.iter().map(|window| window.ratio).collect::<Vec<_>>(), [1.5, 1.2]);
        let Value::Curve(curve) = Of::Curve(("us", 1e6)).of(&longer) else { panic!() };
        assert_eq!(curve.y, [1.5, 1.2]);
        assert!(number(Of::Mean, &[]).is_nan() && number(Of::Highest, &[]).is_nan());
    }
}
