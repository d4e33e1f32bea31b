//! Measures of a run as the literature uses them: pure functions of plain data.
//!
//! A series is a slice of [`Bin`]s: each says what was true on average from the end of the bin
//! before it (or [`Bin::length`] earlier) to [`Bin::end`]. Bins come in order of time.

use xoff_engine::{Span, Time};

/// The mean of a quantity over an interval that ends at `end`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bin {
    /// Where the next bin may begin.
    pub end: Time,
    /// How far the interval reaches back from `end`.
    pub length: Span,
    /// In whatever unit the series has.
    pub value: f64,
}

impl Bin {
    pub(crate) fn start(&self) -> Time {
        Time::from_ps(self.end.ps().saturating_sub(self.length.ps()))
    }
}

/// The value at rank `ceil(p / 100 * n)` of a sorted slice (the nearest-rank percentile), so it
/// is always a value that occurred. `None` for an empty slice.
pub fn percentile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    // 95 * 20 / 100 must be 19, not 19.000000000000004.
    let rank = (p * sorted.len() as f64 / 100.0 - 1e-9).ceil() as usize;
    Some(sorted[rank.saturating_sub(1).min(last)])
}

/// The mean over `[from, until)`, bins weighted by how much of them lies inside. `None` if no bin
/// touches the window.
pub fn mean_in(series: &[Bin], from: Time, until: Time) -> Option<f64> {
    let (mut area, mut covered) = (0.0, 0.0);
    for bin in series {
        let inside = bin.end.min(until).saturating_since(bin.start().max(from)).ps() as f64;
        area += bin.value * inside;
        covered += inside;
    }
    (covered > 0.0).then(|| area / covered)
}

/// How recovery is judged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecoveryRule {
    /// Part of the earlier rate that counts as recovered: 0.95.
    pub part: f64,
    /// Rates are judged as means over windows of this length, so that neither the jitter of
    /// single packets nor the teeth of a control loop shorter than this count as a relapse.
    pub window: Span,
}

impl Default for RecoveryRule {
    fn default() -> Self {
        RecoveryRule { part: 0.95, window: Span::from_ms(1) }
    }
}

/// How long after `disturbance` a flow is back for good: the first instant from which every
/// window of [`RecoveryRule::window`], until the series ends, has a mean of at least
/// [`RecoveryRule::part`] of `before`.
///
/// Windows look forward from the instant they judge, so a return at `t` is reported at most
/// `(1 - part) * window` before `t`, and only whole windows count. Zero means that the flow never
/// suffered; `None` that it had not recovered when the series ended, or that the series has no
/// whole window after the disturbance.
pub fn recovery_time(series: &[Bin], disturbance: Time, before: f64, rule: RecoveryRule) -> Option<Span> {
    let bins: Vec<&Bin> = series.iter().filter(|bin| bin.end > disturbance).collect();
    let end = bins.last()?.end;
    let needed = rule.part * before;
    // Running sums over starts of bins; the window that starts with each bin is judged.
    let (mut head, mut area, mut covered) = (0, 0.0, 0u64);
    let mut recovered: Option<Time> = None;
    let mut judged = false;
    for (index, bin) in bins.iter().enumerate() {
        let start = bin.start().max(disturbance);
        let until = start.saturating_add(rule.window);
        if until > end && judged {
            break;
        }
        while head < bins.len() && (bins[head].end <= until || head <= index) {
            area += bins[head].value * bins[head].length.ps() as f64;
            covered += bins[head].length.ps();
            head += 1;
        }
        if until > end {
            // The whole series after the disturbance is shorter than one window.
            return None;
        }
        judged = true;
        let mean = if covered == 0 { bin.value } else { area / covered as f64 };
        // One part in a billion forgives the rounding of the running sum, no more.
        if mean >= needed * (1.0 - 1e-9) {
            recovered.get_or_insert(start);
        } else {
            recovered = None;
        }
        area -= bin.value * bin.length.ps() as f64;
        covered -= bin.length.ps();
    }
    recovered.map(|at| at.saturating_since(disturbance))
}

/// Jain's fairness index, `(sum x)^2 / (n * sum x^2)`: 1 when all are equal, `1/n` when one has
/// all. `None` for no values or all zero.
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// Life of a congestion tree: from the first to the last PAUSE sent toward the hosts of interest.
/// `None` without any.
pub fn tree_lifetime(pauses_toward_hosts: impl IntoIterator<Item = Time>) -> Option<Span> {
    let mut ends: Option<(Time, Time)> = None;
    for at in pauses_toward_hosts {
        let (first, last) = ends.unwrap_or((at, at));
        ends = Some((first.min(at), last.max(at)));
    }
    ends.map(|(first, last)| last - first)
}

/// PAUSE frames per second over a span; `None` for an empty span.
pub fn pause_rate(frames: u64, over: Span) -> Option<f64> {
    (over > Span::ZERO).then(|| frames as f64 / over.as_s())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bins of 10 us.
    fn series(values: &[f64]) -> Vec<Bin> {
        (1..)
            .zip(values)
            .map(|(i, &value)| Bin { end: Time::from_us(10 * i), length: Span::from_us(10), value })
            .collect()
    }

    fn rule(window_us: u64) -> RecoveryRule {
        RecoveryRule { part: 0.95, window: Span::from_us(window_us) }
    }

    #[test]
    fn percentiles_take_the_nearest_rank() {
        let sorted: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&sorted, 50.0), Some(10.0));
        assert_eq!(percentile(&sorted, 95.0), Some(19.0));
        assert_eq!(percentile(&sorted, 99.0), Some(20.0));
        assert_eq!(percentile(&sorted, 0.0), Some(1.0));
        assert_eq!(percentile(&[7.0], 99.0), Some(7.0));
        assert_eq!(percentile(&[], 50.0), None);
    }

    #[test]
    fn means_weigh_partial_bins() {
        let bins = series(&[10.0, 20.0, 30.0]);
        assert_eq!(mean_in(&bins, Time::ZERO, Time::from_us(30)), Some(20.0));
        assert_eq!(mean_in(&bins, Time::from_us(5), Time::from_us(15)), Some(15.0));
        assert_eq!(mean_in(&bins, Time::from_us(90), Time::from_us(99)), None);
    }

    #[test]
    fn recovery_is_the_end_of_the_last_dip() {
        let mut values = vec![20.0; 10];
        values.extend([2.0; 5]);
        values.extend([20.0; 3]);
        values.extend([1.0; 2]);
        values.extend([20.0; 20]);
        let at = Time::from_us(100);
        assert_eq!(recovery_time(&series(&values), at, 20.0, rule(10)), Some(Span::from_us(100)));
        // A wide window smooths the second dip's edges but still sees it.
        let wide = recovery_time(&series(&values), at, 20.0, rule(40)).unwrap();
        assert_eq!(wide, Span::from_us(100));
    }

    #[test]
    fn one_slow_packet_is_no_relapse() {
        let mut values = vec![20.0; 60];
        values[30] = 15.0;
        assert_eq!(recovery_time(&series(&values), Time::from_us(100), 20.0, rule(100)), Some(Span::ZERO));
        assert_eq!(recovery_time(&series(&values), Time::from_us(100), 20.0, rule(10)), Some(Span::from_us(210)));
    }

    #[test]
    fn never_and_not_judged_differ_from_zero() {
        let mut values = vec![20.0; 10];
        values.extend([18.0; 30]);
        assert_eq!(recovery_time(&series(&values), Time::from_us(100), 20.0, rule(100)), None);
        assert_eq!(recovery_time(&series(&[20.0; 12]), Time::from_us(100), 20.0, rule(100)), None);
        assert_eq!(recovery_time(&[], Time::ZERO, 20.0, rule(100)), None);
    }

    #[test]
    fn fairness_and_trees() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[9.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain_index(&[]), None);
        let at = [Time::from_us(30), Time::from_us(10), Time::from_us(25)];
        assert_eq!(tree_lifetime(at), Some(Span::from_us(20)));
        assert_eq!(tree_lifetime([]), None);
        assert_eq!(pause_rate(5, Span::from_ms(1)), Some(5000.0));
    }

    proptest! {
        /// The definition, word for word, against the running sum.
        #[test]
        fn recovery_matches_its_definition(values in prop::collection::vec(0u32..40, 1..60), window in 1u64..6, at in 0u64..30) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let bins = series(&values);
            let (at, window) = (at as usize, window as usize);
            let rule = rule(window as u64 * 10);
            let found = recovery_time(&bins, Time::from_us(at as u64 * 10), 20.0, rule);
            let good = |start: usize| values[start..start + window].iter().sum::<f64>() / window as f64 >= 19.0;
            let starts: Vec<usize> = (at..).take_while(|s| s + window <= values.len()).collect();
            let expected = match starts.iter().rposition(|&s| !good(s)) {
                None => starts.first().copied(),
                Some(bad) => starts.get(bad + 1).copied(),
            };
            prop_assert_eq!(found, expected.map(|s| Span::from_us((s - at) as u64 * 10)));
        }
    }
}
