//! Figures of a run on real packets: how late the machine was, and how long its clock stood still.

use super::chart::{Axis, AxisUnit, Chart, Dash, Line};
use super::colour::PALETTE;
use crate::live_timing::{LiveTiming, Window};

/// Lateness and slip over the scenario's time, each with its bound.
pub fn of_live_timing(live_timing: &LiveTiming) -> Vec<Chart> {
    if live_timing.windows.is_empty() {
        return Vec::new();
    }
    vec![lateness(live_timing), slip(live_timing)]
}

fn lateness(live_timing: &LiveTiming) -> Chart {
    let line = |name: &str, style, pick: fn(&Window) -> Option<f64>| {
        let point = |window: &Window| pick(window).map(|ns| (window.at.as_us(), ns / 1e3));
        Line::new(name.to_owned(), style, live_timing.windows.iter().filter_map(point).collect())
    };
    let lines = vec![
        line("largest", (PALETTE[1], Dash::Short), |window| window.lateness_max_ns),
        line("p99", (PALETTE[0], Dash::Solid), |window| window.lateness_p99_ns),
        bound(live_timing, live_timing.lateness.bound_ns / 1e3),
    ];
    // The largest may be a thousand times what is usual.
    let y = Axis::new("lateness, in the scenario's time", AxisUnit::Time, true, false);
    Chart::of_lines("lateness".into(), "Lateness of the machine, by window".into(), time(), y, lines)
}

fn slip(live_timing: &LiveTiming) -> Chart {
    let points = live_timing.windows.iter().map(|window| (window.at.as_us(), window.slip)).collect();
    let lines = vec![
        Line::new("slip so far".into(), (PALETTE[0], Dash::Solid), points),
        bound(live_timing, live_timing.slip.bound),
    ];
    let y = Axis::new("part of the wall time", AxisUnit::Fraction, false, true);
    Chart::of_lines("slip".into(), "Slip: time in which the clock stood still".into(), time(), y, lines)
}

fn time() -> Axis {
    Axis::new("time", AxisUnit::Time, false, true)
}

/// A level from the first window to the last.
fn bound(live_timing: &LiveTiming, value: f64) -> Line {
    let ends = live_timing.windows.first().into_iter().chain(live_timing.windows.last());
    let points = ends.map(|window| (window.at.as_us(), value)).collect();
    Line::new("bound".into(), (PALETTE[3], Dash::Dotted), points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn windows_in_which_nothing_was_due_have_no_lateness() {
        let charts = of_live_timing(&fixture::live_timing(0.005));
        let [lateness, slip] = &charts[..] else { panic!("{}", charts.len()) };
        let lines: Vec<&Line> = lateness.lines().collect();
        assert_eq!((lines[1].points.len(), lines[1].points[0]), (9, (2_000.0, 0.9)));
        assert_eq!(lines[2].points, [(1_000.0, 1.0), (10_000.0, 1.0)]);
        assert_eq!(slip.lines().next().unwrap().points.len(), 10);
        let silent = LiveTiming { windows: Vec::new(), ..fixture::live_timing(0.005) };
        assert!(of_live_timing(&silent).is_empty());
    }
}
