//! When the iterations of a job need not be run any more: their mean is known well enough, and nothing says that it
//! still changes.

use xoff_engine::Span;
use xoff_engine::student;

/// How well the mean of an iteration must be known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rule {
    /// Largest half-width of its 95 % interval, in shares of the mean.
    pub error: f64,
    /// Iterations at the start that do not count.
    pub warm_up: u32,
    /// Iterations to run in any case, with those of the start.
    pub at_least: u32,
}

/// What is known of the iterations that count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settled {
    /// Mean time of an iteration, and the half-width of its 95 % interval (Student), in microseconds.
    pub mean_us: f64,
    pub half_width_us: f64,
    /// Iterations that were run, with those that do not count.
    pub ran: u32,
}

/// Level at which a slope counts as one.
const LEVEL: f64 = 0.05;
/// Relative differences below this are rounding.
const ROUNDING: f64 = 1e-9;

impl Rule {
    /// What is known after iterations that took so long, if that is enough.
    ///
    /// A straight line through the times must not have a slope that differs from zero, and the mean of the last half
    /// must lie in the interval of the first.
    pub fn settled(&self, times: &[Span]) -> Option<Settled> {
        if times.len() < self.at_least as usize {
            return None;
        }
        let times: Vec<f64> = times.get(self.warm_up as usize..)?.iter().map(|time| time.as_us()).collect();
        let (mean_us, half_width_us) = interval(&times)?;
        let narrow = half_width_us < self.error * mean_us;
        let settled = narrow && !has_slope(&times) && halves_agree(&times);
        settled.then_some(Settled { mean_us, half_width_us, ran: times.len() as u32 + self.warm_up })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean, and half-width of its 95 % interval; none of less than two.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let (count, mean) = (values.len(), mean(values));
    if count < 2 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let error = libm::sqrt(squares / (count - 1) as f64 / count as f64);
    Some((mean, student::quantile(LEVEL, count - 1) * error))
}

/// Whether a straight line through the values rises or falls, by a t-test of its slope. Two values lie on any line.
fn has_slope(values: &[f64]) -> bool {
    let (count, middle, mean) = (values.len(), (values.len() - 1) as f64 / 2.0, mean(values));
    if count < 3 {
        return true;
    }
    let (mut both, mut squares) = (0.0, 0.0);
    for (place, value) in values.iter().enumerate() {
        both += (place as f64 - middle) * (value - mean);
        squares += (place as f64 - middle) * (place as f64 - middle);
    }
    let slope = both / squares;
    if slope.abs() * count as f64 <= ROUNDING * mean {
        return false;
    }
    let rest = |(place, value): (usize, &f64)| value - mean - slope * (place as f64 - middle);
    let unexplained: f64 = values.iter().enumerate().map(rest).map(|rest| rest * rest).sum();
    let error = libm::sqrt(unexplained / (count - 2) as f64 / squares);
    student::two_sided(slope / error, count - 2) < LEVEL
}

/// Whether the mean of the last half lies in the interval of the first; so few that there are no halves do.
fn halves_agree(values: &[f64]) -> bool {
    let half = values.len() / 2;
    let (first, last) = (&values[..half], &values[values.len() - half..]);
    let Some((middle, half_width)) = interval(first) else { return true };
    (mean(last) - middle).abs() <= half_width.max(ROUNDING * middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { error: 0.005, warm_up: 1, at_least: 4 };

    /// After how many iterations a job of these times (microseconds) stops.
    fn stops(times: &[f64]) -> Option<u32> {
        let spans: Vec<Span> = times.iter().map(|us| Span::from_ps((us * 1e6) as u64)).collect();
        (1..=spans.len()).find_map(|count| RULE.settled(&spans[..count])).map(|settled| settled.ran)
    }

    #[test]
    fn steps_that_repeat_stop_and_steps_that_drift_go_on() {
        // Measured at packet level: a ring on rails, a mixture of experts, rings that drift apart, and HPCC.
        assert_eq!(stops(&[538.861; 6]), Some(4));
        assert_eq!(stops(&[5890.0, 5488.0, 5489.0, 5491.0, 5491.0, 5488.0, 5491.0, 5157.0]), Some(4));
        assert_eq!(stops(&[1699.0, 1627.0, 1616.0, 1577.0, 1577.0, 1405.0]), None);
        assert_eq!(stops(&[6417.0, 5721.0, 6897.0, 6010.0, 5850.0, 6644.0]), None);
    }

    #[test]
    fn a_slow_drift_is_seen_however_narrow_the_interval() {
        let drifting: Vec<f64> = (0..12).map(|k| 1000.0 + 0.4 * f64::from(k) + 0.02 * f64::from(k % 2)).collect();
        assert_eq!(stops(&drifting), None);
        // A step between the halves, with as little noise.
        let stepping: Vec<f64> =
            (0..8).map(|k| [1000.0, 1001.0][usize::from(k > 4)] + 0.01 * f64::from(k % 2)).collect();
        assert!(
            RULE.settled(&stepping.iter().map(|us| Span::from_ps((us * 1e6) as u64)).collect::<Vec<_>>()).is_none()
        );
    }

    #[test]
    fn the_interval_is_students() {
        // 4.3027 * sqrt(7 / 3 / 3) for three values with a variance of 7/3.
        let times = [9.0, 5488.0, 5489.0, 5491.0].map(|us: f64| Span::from_ps((us * 1e6) as u64));
        let settled = RULE.settled(&times).unwrap();
        assert!((settled.mean_us - 16468.0 / 3.0).abs() < 1e-9);
        assert!((settled.half_width_us - 4.3027 * (7.0_f64 / 9.0).sqrt()).abs() < 1e-3, "{settled:?}");
    }
}
