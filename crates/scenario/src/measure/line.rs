//! One quantity over time, as points in order; measures of it are pure functions of these.

use super::stat;
use crate::measure::metrics::percentile;
use xoff_engine::{Span, Time};

/// The mean of a quantity from `start` to `end`; for an instant both are the same.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pub start: Time,
    pub end: Time,
    pub value: f64,
}

/// Means over `span` consecutive points each: as many windows as fit.
pub fn smooth(points: &[Point], span: usize) -> Vec<Point> {
    if span <= 1 {
        return points.to_vec();
    }
    let mut sum: f64 = points.iter().take(span).map(|point| point.value).sum();
    let mut smoothed = Vec::with_capacity(points.len().saturating_sub(span - 1));
    for (index, window) in points.windows(span).enumerate() {
        smoothed.push(Point { start: window[0].start, end: window[span - 1].end, value: sum / span as f64 });
        let Some(next) = points.get(index + span) else { break };
        sum += next.value - window[0].value;
        // The running sum is made anew now and then, so that rounding does not pile up.
        if index % 1024 == 1023 {
            sum = points[index + 1..=index + span].iter().map(|point| point.value).sum();
        }
    }
    smoothed
}

/// The points that lie within `[from, until]`.
pub fn within(points: &[Point], from: Time, until: Time) -> Vec<Point> {
    points.iter().copied().filter(|point| point.start >= from && point.end <= until).collect()
}

/// The points from the first on whose value `reached` says so.
pub fn once(points: &[Point], reached: impl Fn(f64) -> bool) -> &[Point] {
    match points.iter().position(|point| reached(point.value)) {
        Some(first) => &points[first..],
        None => &[],
    }
}

pub fn values(points: &[Point]) -> Vec<f64> {
    points.iter().map(|point| point.value).collect()
}

pub fn percentile_of(points: &[Point], p: f64) -> f64 {
    let mut sorted = values(points);
    sorted.sort_unstable_by(f64::total_cmp);
    percentile(&sorted, p).unwrap_or(f64::NAN)
}

pub fn variation(points: &[Point]) -> f64 {
    let values = values(points);
    stat::std(&values) / stat::mean(&values)
}

/// The first point with the smallest value.
pub fn lowest(points: &[Point]) -> Option<&Point> {
    points.iter().reduce(|low, point| if point.value < low.value { point } else { low })
}

/// The first point with the largest value.
pub fn highest(points: &[Point]) -> Option<&Point> {
    points.iter().reduce(|high, point| if point.value > high.value { point } else { high })
}

/// The start of the first point from which on all are `good`; `None` if the last is not.
pub fn settled(points: &[Point], good: impl Fn(f64) -> bool) -> Option<Time> {
    let after = points.iter().rposition(|point| !good(point.value)).map_or(0, |bad| bad + 1);
    points.get(after).map(|point| point.start)
}

/// When a point is `wanted` for the first time.
pub fn first(points: &[Point], wanted: impl Fn(f64) -> bool) -> Option<Time> {
    points.iter().find(|point| wanted(point.value)).map(|point| point.end)
}

/// The longest stretch in which every point is `wanted`.
pub fn longest(points: &[Point], wanted: impl Fn(f64) -> bool) -> Span {
    let (mut best, mut since) = (Span::ZERO, None);
    for point in points {
        since = if wanted(point.value) { since.or(Some(point.start)) } else { None };
        if let Some(since) = since {
            best = best.max(point.end.saturating_since(since));
        }
    }
    best
}

/// The ends of points whose value differs from the one before by more than `least` of it.
pub fn changes(points: &[Point], least: f64) -> Vec<Time> {
    let differs = |pair: &&[Point]| {
        let (before, after) = (pair[0].value, pair[1].value);
        (after - before).abs() > least.max(1e-9) * before.abs()
    };
    points.windows(2).filter(differs).map(|pair| pair[1].end).collect()
}

/// Mean time between two changes; never with fewer than two.
pub fn change_interval(points: &[Point], least: f64) -> Option<Span> {
    let changes = changes(points, least);
    let gaps = changes.len().checked_sub(1).filter(|gaps| *gaps > 0)?;
    Some(Span::from_ps((changes[gaps] - changes[0]).ps() / gaps as u64))
}

/// The largest fall from one point to the next, as a part of the former; zero if it never falls.
pub fn largest_cut(points: &[Point]) -> f64 {
    let cut = |pair: &[Point]| if pair[0].value > 0.0 { 1.0 - pair[1].value / pair[0].value } else { 0.0 };
    if points.is_empty() { f64::NAN } else { points.windows(2).map(cut).fold(0.0, f64::max) }
}

/// When a value is below the one before by more than `least` of it for the first time.
pub fn first_cut(points: &[Point], least: f64) -> Option<Time> {
    let falls = |pair: &&[Point]| pair[1].value < pair[0].value * (1.0 - least.max(1e-9));
    points.windows(2).find(falls).map(|pair| pair[1].end)
}

/// How often the quantity rises to at least `factor` times the trough before and above `floor`, and
/// falls again to a `factor`-th of that peak or to `floor`.
pub fn peaks(points: &[Point], factor: f64, floor: f64) -> u64 {
    let Some(first) = points.first() else { return 0 };
    let (mut count, mut rising, mut extreme) = (0, true, first.value);
    for point in points {
        let value = point.value;
        if rising {
            extreme = extreme.min(value);
            if value > floor && value >= factor * extreme && value > extreme {
                (rising, extreme) = (false, value);
            }
        } else {
            extreme = extreme.max(value);
            if value <= (extreme / factor).max(floor) {
                count += 1;
                (rising, extreme) = (true, value);
            }
        }
    }
    count
}

/// Least-squares slope, per second.
pub fn slope(points: &[Point]) -> f64 {
    let times: Vec<f64> = points.iter().map(|point| point.end.as_s()).collect();
    let values = values(points);
    let (mean_t, mean_v) = (stat::mean(&times), stat::mean(&values));
    let (mut both, mut squares) = (0.0, 0.0);
    for (t, v) in times.iter().zip(&values) {
        both += (t - mean_t) * (v - mean_v);
        squares += (t - mean_t).powi(2);
    }
    if squares > 0.0 { both / squares } else { f64::NAN }
}

/// At most about `points` of them: of each group of neighbours the lowest and the highest.
pub fn thin(line: &[Point], points: usize) -> Vec<Point> {
    if line.len() <= points {
        return line.to_vec();
    }
    let group = line.len().div_ceil((points / 2).max(1));
    let mut kept = Vec::with_capacity(points);
    for group in line.chunks(group) {
        if let (Some(low), Some(high)) = (lowest(group), highest(group)) {
            let (one, two) = if low.end <= high.end { (low, high) } else { (high, low) };
            kept.push(*one);
            if one != two {
                kept.push(*two);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Means over 10 us each, from the start of the run.
    fn line(values: &[f64]) -> Vec<Point> {
        let point = |(index, &value): (u64, &f64)| Point {
            start: Time::from_us(10 * index),
            end: Time::from_us(10 * (index + 1)),
            value,
        };
        (0..).zip(values).map(point).collect()
    }

    #[test]
    fn windows_and_bounds() {
        let of = line(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let smoothed = smooth(&of, 2);
        assert_eq!(values(&smoothed), [1.5, 2.5, 3.5, 4.5]);
        assert_eq!((smoothed[1].start, smoothed[1].end), (Time::from_us(10), Time::from_us(30)));
        assert!(smooth(&of, 6).is_empty());
        assert_eq!(values(&within(&of, Time::from_us(10), Time::from_us(40))), [2.0, 3.0, 4.0]);
        assert_eq!(values(&within(&of, Time::from_us(11), Time::from_us(39))), [3.0]);
        assert_eq!(values(once(&of, |value| value >= 4.0)), [4.0, 5.0]);
        assert!(once(&of, |value| value > 9.0).is_empty());
    }

    #[test]
    fn extremes_and_times() {
        let of = line(&[5.0, 1.0, 9.0, 1.0, 9.0]);
        assert_eq!(lowest(&of).unwrap().end, Time::from_us(20));
        assert_eq!(highest(&of).unwrap().end, Time::from_us(30));
        assert_eq!(first(&of, |value| value > 5.0), Some(Time::from_us(30)));
        assert_eq!(settled(&of, |value| value > 5.0), Some(Time::from_us(40)));
        assert_eq!(settled(&of, |value| value < 5.0), None);
        assert_eq!(settled(&[], |_| true), None);
        assert_eq!(percentile_of(&of, 50.0), 5.0);
        assert_eq!(longest(&line(&[0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0]), |v| v <= 0.0), Span::from_us(30));
        assert_eq!(longest(&line(&[1.0]), |v| v <= 0.0), Span::ZERO);
        // Mean 5, deviations 0 -4 4 -4 4.
        assert!((variation(&of) - (64.0f64 / 5.0).sqrt() / 5.0).abs() < 1e-12);
    }

    #[test]
    fn changes_and_cuts() {
        let of = line(&[8.0, 8.0, 4.0, 4.0, 5.0, 5.0, 4.5]);
        assert_eq!(changes(&of, 0.0), [30, 50, 70].map(Time::from_us));
        assert_eq!(change_interval(&of, 0.0), Some(Span::from_us(20)));
        assert_eq!(changes(&of, 0.2), [30, 50].map(Time::from_us));
        assert_eq!(change_interval(&of, 0.3), None);
        assert_eq!(largest_cut(&of), 0.5);
        assert_eq!(largest_cut(&line(&[1.0, 2.0])), 0.0);
        assert!(largest_cut(&[]).is_nan());
        assert_eq!(first_cut(&of, 0.01), Some(Time::from_us(30)));
        assert_eq!(first_cut(&of, 0.6), None);
    }

    #[test]
    fn peaks_need_a_trough_on_both_sides() {
        assert_eq!(peaks(&line(&[1.0, 4.0, 1.0, 4.0, 1.0]), 3.0, 0.0), 2);
        assert_eq!(peaks(&line(&[1.0, 4.0, 2.0, 4.0, 1.0]), 3.0, 0.0), 1);
        // The last has not fallen again.
        assert_eq!(peaks(&line(&[1.0, 4.0, 1.0, 4.0]), 3.0, 0.0), 1);
        assert_eq!(peaks(&line(&[0.0, 4.0, 0.0, 9.0, 0.0]), 3.0, 5.0), 1);
        assert_eq!(peaks(&line(&[2.0; 9]), 3.0, 0.0), 0);
        assert_eq!(peaks(&[], 3.0, 0.0), 0);
    }

    #[test]
    fn slopes_are_per_second() {
        assert!((slope(&line(&[1.0, 3.0, 5.0])) - 2.0 / 10e-6).abs() < 1e-3);
        assert!(slope(&line(&[1.0])).is_nan());
    }

    #[test]
    fn thinning_keeps_extremes() {
        let mut raw = vec![1.0; 1000];
        (raw[500], raw[501]) = (-7.0, 9.0);
        let thinned = thin(&line(&raw), 100);
        assert!(thinned.len() <= 100);
        assert!(thinned.is_sorted_by_key(|point| point.end));
        assert_eq!((lowest(&thinned).unwrap().value, highest(&thinned).unwrap().value), (-7.0, 9.0));
        assert_eq!(thin(&line(&raw[..5]), 10).len(), 5);
    }

    proptest! {
        #[test]
        fn smoothing_matches_its_definition(values in prop::collection::vec(0u32..100, 1..3000), span in 1usize..50) {
            let raw: Vec<f64> = values.iter().copied().map(f64::from).collect();
            let smoothed = smooth(&line(&raw), span);
            for (point, window) in smoothed.iter().zip(raw.windows(span)) {
                prop_assert!((point.value - window.iter().sum::<f64>() / span as f64).abs() < 1e-9);
            }
            prop_assert_eq!(smoothed.len(), (raw.len() + 1).saturating_sub(span));
        }
    }
}
