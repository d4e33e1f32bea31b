//! Curves of several runs as one: means over the seeds with their intervals.

use super::interval::Estimate;
use xoff_scenario::measure::{Along, Curve};

/// What is drawn of the curves of one scheme.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Averaged {
    /// In order of x; of several runs their means.
    pub points: Vec<(f64, f64)>,
    /// 95 % intervals of y: x, low, high.
    pub intervals: Vec<(f64, f64, f64)>,
    /// 95 % intervals of x, for distributions: y, low, high.
    pub spans: Vec<(f64, f64, f64)>,
}

/// Intervals that are drawn along a curve of many points.
const ALONG: usize = 12;

impl Averaged {
    /// Of one curve per run. `place` tells schemes apart: intervals of their distributions stand at different heights.
    pub fn of(along: Along, curves: &[&Curve], place: usize) -> Averaged {
        match along {
            Along::Sizes => over_sizes(curves),
            Along::Time => over_time(curves),
            Along::Values => distribution(curves, place),
        }
    }
}

/// Joins points with intervals, if there are any.
fn push(out: &mut Averaged, x: f64, values: &[f64], interval: bool) {
    let Some(of) = Estimate::of(values) else { return };
    out.points.push((x, of.mean));
    if let Some(half) = of.half_width.filter(|_| interval) {
        out.intervals.push((x, of.mean - half, of.mean + half));
    }
}

/// Every size that some run has; the mean of those that have it.
fn over_sizes(curves: &[&Curve]) -> Averaged {
    let mut out = Averaged::default();
    for x in sizes(curves.iter().copied()) {
        let values: Vec<f64> = curves.iter().filter_map(|curve| at_size(curve, x)).collect();
        push(&mut out, x, &values, true);
    }
    out
}

/// The places of all points, in order.
pub(crate) fn sizes<'a>(curves: impl Iterator<Item = &'a Curve>) -> Vec<f64> {
    let mut places: Vec<f64> = curves.flat_map(|curve| curve.x.iter().copied()).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// The value at one of a curve's own places.
pub(crate) fn at_size(curve: &Curve, x: f64) -> Option<f64> {
    curve.x.iter().position(|own| *own == x).and_then(|at| curve.y.get(at).copied())
}

/// At the instants of the first; the others are taken between their own, and count as long as they last.
fn over_time(curves: &[&Curve]) -> Averaged {
    let mut out = Averaged::default();
    let Some(first) = curves.first() else { return out };
    let every = first.x.len().div_ceil(ALONG).max(1);
    for (index, x) in first.x.iter().enumerate() {
        let values: Vec<f64> = curves.iter().filter_map(|curve| between(curve, *x)).collect();
        push(&mut out, *x, &values, index % every == every / 2);
    }
    out
}

/// On the straight line between the two points around `x`.
fn between(curve: &Curve, x: f64) -> Option<f64> {
    let next = curve.x.partition_point(|own| *own < x);
    let (right, high) = (*curve.x.get(next)?, *curve.y.get(next)?);
    if right == x || next == 0 {
        return (right == x).then_some(high);
    }
    let (left, low) = (curve.x[next - 1], *curve.y.get(next - 1)?);
    Some(low + (x - left) / (right - left) * (high - low))
}

/// The smallest value that is reached by such a part of all.
pub(crate) fn quantile(curve: &Curve, part: f64) -> Option<f64> {
    let reached = curve.y.iter().position(|y| *y >= part - 1e-12);
    curve.x.get(reached.unwrap_or_else(|| curve.x.len().saturating_sub(1))).copied()
}

/// One distribution as it is; of several the mean of each percentile, with intervals at five of them.
fn distribution(curves: &[&Curve], place: usize) -> Averaged {
    let curves: Vec<&&Curve> = curves.iter().filter(|curve| !curve.x.is_empty()).collect();
    let mut out = Averaged::default();
    if let [one] = curves[..] {
        out.points = one.x.first().map(|x| (*x, 0.0)).into_iter().collect();
        out.points.extend(one.x.iter().copied().zip(one.y.iter().copied()));
        return out;
    }
    let marked = marked_percentages(place);
    for percent in 0..=200 {
        let percent = f64::from(percent) / 2.0;
        let values: Vec<f64> = curves.iter().filter_map(|curve| quantile(curve, (percent / 100.0).max(1e-9))).collect();
        let Some(of) = Estimate::of(&values) else { continue };
        out.points.push((of.mean, percent / 100.0));
        if let Some(half) = of.half_width.filter(|_| marked.contains(&percent)) {
            out.spans.push((percent / 100.0, of.mean - half, of.mean + half));
        }
    }
    out
}

/// Heights at which the intervals of a distribution stand: those of other schemes have others.
pub(crate) fn marked_percentages(place: usize) -> [f64; 5] {
    [0, 20, 40, 60, 80].map(|step| f64::from(step) + 10.0 + 4.0 * (place % 5) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        Curve { x: points.iter().map(|p| p.0).collect(), y: points.iter().map(|p| p.1).collect() }
    }

    #[test]
    fn bins_are_averaged_over_the_seeds_that_have_them() {
        let (a, b) = (curve(&[(1.0, 2.0), (10.0, 4.0)]), curve(&[(10.0, 6.0), (100.0, 9.0)]));
        let of = Averaged::of(Along::Sizes, &[&a, &b], 0);
        assert_eq!(of.points, [(1.0, 2.0), (10.0, 5.0), (100.0, 9.0)]);
        // Of 4 and 6 the standard error is 1, t(1) = 12.706.
        let [(at, low, high)] = of.intervals[..] else { panic!("{:?}", of.intervals) };
        assert!(at == 10.0 && (low - (5.0 - 12.706)).abs() < 1e-3 && (high - (5.0 + 12.706)).abs() < 1e-3);
        assert!(Averaged::of(Along::Sizes, &[&a], 0).intervals.is_empty());
    }

    #[test]
    fn quantities_over_time_are_averaged_at_the_first_seeds_instants() {
        let (a, b) = (curve(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]), curve(&[(0.0, 3.0), (1.5, 6.0)]));
        let of = Averaged::of(Along::Time, &[&a, &b], 0);
        assert_eq!(of.points, [(0.0, 2.0), (1.0, 4.0), (2.0, 5.0)]);
    }

    #[test]
    fn distributions_are_averaged_percentile_by_percentile() {
        let (a, b) = (curve(&[(1.0, 0.5), (3.0, 1.0)]), curve(&[(3.0, 0.5), (5.0, 1.0)]));
        let of = Averaged::of(Along::Values, &[&a, &b], 0);
        assert!(of.points.contains(&(2.0, 0.5)) && of.points.contains(&(4.0, 1.0)));
        assert_eq!(of.spans.len(), 5);
        assert_eq!(Averaged::of(Along::Values, &[&a], 0).points, [(1.0, 0.0), (1.0, 0.5), (3.0, 1.0)]);
        assert_eq!((quantile(&a, 0.5), quantile(&a, 0.51)), (Some(1.0), Some(3.0)));
    }
}
