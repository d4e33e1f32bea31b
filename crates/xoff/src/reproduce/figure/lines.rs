//! Curves: over time, over a numeric axis of the runs, and distributions over seeds.

use super::builder::{Builder, Point, View};
use super::series::{AxisSpec, Kind, Series, What};
use crate::reproduce::results::Cell;
use xoff_results::figures::chart::Line;
use xoff_results::figures::path::{LANDMARKS, landmarks};
use xoff_scenario::measure::Curve;

/// Curves of no more points show each of them.
const FEW: usize = 24;

/// All lines of a series within one panel.
pub fn of_series(builder: &mut Builder<'_>, series: &Series, view: &View<'_>) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    match &series.what {
        What::Curve(name) => {
            for choice in view.choices(&view.by) {
                let Some(cell) = view.picked.cell(&choice)? else { continue };
                let Some(curve) = cell.curve(name) else { continue };
                builder.seen_curve(cell.seeds.len());
                let mut line = builder.line(series, view, &choice, name)?;
                builder.meet(series, (view, &choice), Some(name), (Some(line.colour), None));
                (line.points, line.never) = of_curve(curve);
                let few = line.points.len() <= FEW;
                finish(&mut line, builder, few);
                lines.push(line);
            }
        }
        What::Cumulative(name) => {
            for choice in view.choices(&view.by) {
                let Some(cell) = view.picked.cell(&choice)? else { continue };
                let mut line = builder.line(series, view, &choice, name)?;
                builder.meet(series, (view, &choice), Some(name), (Some(line.colour), None));
                let (points, left_out) = distribution(cell, name);
                if left_out > 0 {
                    builder.note(format!("{}: never in {left_out} of {} runs.", line.name, cell.seeds.len()));
                }
                line.points = points;
                lines.push(line);
            }
        }
        What::Numbers { list, .. } => {
            let over = view.over.ok_or("a line of numbers needs `over`")?;
            for choice in view.choices(&view.by) {
                for (measure, name) in list {
                    let mut line = builder.line(series, view, &choice, name)?;
                    for place in view.choices(&[over]) {
                        let value = view.picked.value(place[place.len() - 1]);
                        let x = value.number.ok_or_else(|| {
                            format!(
                                "`{}` is not numeric (\"{}\"): lines need a numeric axis",
                                view.over_name(),
                                value.name
                            )
                        })?;
                        let Some(cell) = view.picked.cell(&[&choice[..], &place[..]].concat())? else { continue };
                        let Some(estimate) = view.estimate(series, cell, measure)? else { continue };
                        builder.seen_estimate(&estimate);
                        builder.seen_value(x, &value.name);
                        if estimate.mean == f64::INFINITY {
                            line.never.push(x);
                            line.points.push((x, f64::NAN));
                            continue;
                        }
                        line.points.push((x, estimate.mean));
                        if let Some(half) = estimate.half_width.filter(|half| *half > 0.0) {
                            line.intervals.push((x, estimate.mean - half, estimate.mean + half));
                        }
                    }
                    line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
                    finish(&mut line, builder, true);
                    if !line.points.is_empty() {
                        builder.meet(series, (view, &choice), Some(measure), (Some(line.colour), None));
                    }
                    lines.push(line);
                }
            }
        }
    }
    lines.retain(|line| !line.points.is_empty() || !line.never.is_empty());
    Ok(lines)
}

fn finish(line: &mut Line, builder: &mut Builder<'_>, dots: bool) {
    if !line.never.is_empty() {
        builder.seen_never();
    }
    if builder.spec.kind == Kind::Steps {
        line.points = steps(&line.points);
    } else {
        line.dots = dots;
    }
}

/// The points of a curve, and where it is infinite.
fn of_curve(curve: &Curve) -> (Vec<Point>, Vec<f64>) {
    let mut points = Vec::with_capacity(curve.x.len());
    let mut never = Vec::new();
    for (&x, &y) in curve.x.iter().zip(&curve.y) {
        if y == f64::INFINITY {
            never.push(x);
        }
        points.push((x, if y.is_finite() { y } else { f64::NAN }));
    }
    (points, never)
}

/// Every value holds until the next.
fn steps(points: &[Point]) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::with_capacity(2 * points.len());
    for &point in points {
        if let Some(&(_, y)) = out.last() {
            out.push((point.0, y));
        }
        out.push(point);
    }
    out
}

/// How many seeds have at most so much, as a staircase; and how many never have it.
fn distribution(cell: &Cell, name: &str) -> (Vec<Point>, usize) {
    let of = |run: &crate::reproduce::results::Run| run.measured.numbers.get(name).copied();
    let all: Vec<f64> = cell.seeds.iter().filter_map(of).collect();
    let mut values: Vec<f64> = all.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let mut points = Vec::with_capacity(2 * values.len());
    for (index, value) in values.iter().enumerate() {
        points.extend([(*value, index as f64), (*value, (index + 1) as f64)]);
    }
    (points, all.iter().filter(|value| **value == f64::INFINITY).count())
}

/// Keeps documents small: what lies outside the axis goes, level stretches shrink to their ends,
/// and where that does not suffice groups of neighbours shrink to their extremes.
pub fn thin(lines: Vec<&mut Line>, x: &AxisSpec, most: usize) {
    let (from, until) = (x.from.unwrap_or(f64::NEG_INFINITY), x.until.unwrap_or(f64::INFINITY));
    let mut lines: Vec<&mut Line> = lines.into_iter().filter(|line| !line.dots).collect();
    for line in &mut lines {
        line.points = within(&line.points, from, until);
        line.points = without_level(&line.points);
    }
    // Short ones leave their share to the long.
    lines.sort_by_key(|line| line.points.len());
    let (mut left, count) = (most, lines.len());
    for (index, line) in lines.into_iter().enumerate() {
        let share = left / (count - index);
        if line.points.len() > share {
            line.points = extremes(&line.points, share);
        }
        left = left.saturating_sub(line.points.len());
    }
}

/// With one point beyond each end, so that the line reaches the edge.
fn within(points: &[Point], from: f64, until: f64) -> Vec<Point> {
    let first = points.iter().position(|p| p.0 >= from).unwrap_or(points.len());
    let last = points.iter().rposition(|p| p.0 <= until).map_or(0, |index| index + 1);
    let (first, last) = (first.saturating_sub(1), (last + 1).min(points.len()));
    points.get(first..last).unwrap_or_default().to_vec()
}

fn without_level(points: &[Point]) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::with_capacity(points.len());
    for &point in points {
        if let [.., before, middle] = out[..]
            && before.1 == middle.1
            && middle.1 == point.1
        {
            out.pop();
        }
        out.push(point);
    }
    out
}

fn extremes(points: &[Point], most: usize) -> Vec<Point> {
    let size = (LANDMARKS * points.len()).div_ceil(most.max(LANDMARKS)).max(LANDMARKS + 1);
    points.chunks(size).flat_map(landmarks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_results::figures::colour::by_index;

    #[test]
    fn steps_hold_their_value() {
        assert_eq!(steps(&[(0.0, 1.0), (2.0, 5.0)]), [(0.0, 1.0), (2.0, 1.0), (2.0, 5.0)]);
        assert!(steps(&[]).is_empty());
    }

    #[test]
    fn a_level_stretch_keeps_both_ends() {
        // Nothing until 500, then a climb: no slant from the first point to the climb.
        let mut points: Vec<Point> = vec![(0.0, 0.0), (500.0, 0.0)];
        points.extend((1..2000).map(|i| (500.0 + f64::from(i), f64::from(i))));
        let kept = extremes(&points, 60);
        assert!(kept.len() <= 60 && kept.contains(&(500.0, 0.0)), "{:?}", &kept[..4]);
    }

    #[test]
    fn thinning_keeps_to_the_axis_and_the_extremes() {
        let points: Vec<Point> = (0..20_000).map(|i| (f64::from(i), f64::from((i * 7919) % 1000))).collect();
        let mut long = Line::new("a".into(), by_index(0), points);
        let mut short = Line::new("b".into(), by_index(1), vec![(0.0, 1.0); 500]);
        let x = AxisSpec { from: Some(100.0), until: Some(10_000.0), ..AxisSpec::default() };
        thin(vec![&mut long, &mut short], &x, 1000);
        assert!(long.points.len() <= 1000, "{}", long.points.len());
        assert!(long.points.iter().any(|p| p.1 == 999.0) && long.points.iter().any(|p| p.1 == 0.0));
        assert_eq!((long.points[0].0, long.points[long.points.len() - 1].0), (99.0, 10_001.0));
        assert_eq!(short.points.len(), 1, "the last point before the axis starts");
    }
}
