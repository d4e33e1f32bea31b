//! How sure a mean over seeds is.

use serde::Serialize;
use xoff_engine::student;
use xoff_scenario::number::plus_minus;

/// A mean with the half-width of its 95 % confidence interval (Student's t).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Of the values that are numbers.
    pub mean: f64,
    /// `None` for a single value.
    pub half_width: Option<f64>,
    /// Values behind it.
    pub count: usize,
}

impl Estimate {
    /// `None` without any value that is a number.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let half_width = (count > 1 && mean.is_finite()).then(|| {
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
            student::quantile(0.05, count - 1) * (variance / count as f64).sqrt()
        });
        Some(Estimate { mean, half_width, count })
    }

    /// What follows from all values together, with what follows from all but one, for each of them (the jackknife).
    pub fn of_all(whole: f64, without_one: &[f64]) -> Estimate {
        let count = without_one.len();
        let finite = whole.is_finite() && without_one.iter().all(|value| value.is_finite());
        let half_width = (count > 1 && finite).then(|| {
            let mean = without_one.iter().sum::<f64>() / count as f64;
            let squares = without_one.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            student::quantile(0.05, count - 1) * (squares * (count - 1) as f64 / count as f64).sqrt()
        });
        Estimate { mean: whole, half_width, count }
    }

    /// The median, and how far the 95 % interval of the order statistics reaches from it; fewer than six values have
    /// none. `None` without any value that is a number.
    pub fn of_median(values: &[f64]) -> Option<Estimate> {
        let mut values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let middle = *values.get(count / 2)?;
        let median = if count.is_multiple_of(2) { (values[count / 2 - 1] + middle) / 2.0 } else { middle };
        // Values below the median are as many as heads of a coin: the ranks that leave 2.5 % on either side.
        let (mut rank, mut tail, mut chance) = (0, 0.0, 0.5_f64.powi(count as i32));
        while tail + chance <= 0.025 {
            tail += chance;
            chance *= (count - rank) as f64 / (rank + 1) as f64;
            rank += 1;
        }
        let half_width = (rank > 0).then(|| (median - values[rank - 1]).max(values[count - rank] - median));
        Some(Estimate { mean: median, half_width: half_width.filter(|half| half.is_finite()), count })
    }

    /// How many of the values are one, others being zero, with the farther end of Wilson's 95 % interval: what happened in no
    /// run of sixteen may still happen in one of six. `None` without any value that is a number.
    pub fn of_share(values: &[f64]) -> Option<Estimate> {
        const Z: f64 = 1.96;
        let Estimate { mean, count, .. } = Estimate::of(values)?;
        let n = count as f64;
        let scale = 1.0 + Z * Z / n;
        let centre = (mean + Z * Z / (2.0 * n)) / scale;
        let half = Z * (mean * (1.0 - mean) / n + (Z / (2.0 * n)).powi(2)).max(0.0).sqrt() / scale;
        Some(Estimate { mean, half_width: Some((centre - mean).abs() + half), count })
    }

    /// `12.3 ± 0.4 us`, the interval in the mean's digits and unit; without it where seeds change nothing.
    pub fn text(&self, show: fn(f64) -> String) -> String {
        self.half_width.map_or_else(|| show(self.mean), |half| plus_minus(self.mean, half, show))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wilson's interval of 0 in 16 ends at 0.194, that of 10 in 16 goes from 0.386 to 0.815.
    #[test]
    fn shares_of_few_runs_are_uncertain() {
        let share = |ones: usize| Estimate::of_share(&[vec![1.0; ones], vec![0.0; 16 - ones]].concat()).unwrap();
        for (ones, mean, half) in [(0, 0.0, 0.194), (10, 0.625, 0.239), (16, 1.0, 0.194)] {
            let Estimate { mean: found, half_width, count } = share(ones);
            assert_eq!((found, count), (mean, 16));
            assert!((half_width.unwrap() - half).abs() < 5e-4, "{ones}: {half_width:?}");
        }
        assert_eq!(Estimate::of_share(&[f64::NAN]), None);
    }

    #[test]
    fn the_jackknife_of_a_mean_is_its_interval() {
        let values = [1.0, 2.0, 3.0, 4.0, 9.0];
        let whole = values.iter().sum::<f64>() / 5.0;
        let without = values.map(|value| (5.0 * whole - value) / 4.0);
        let (of, mean) = (Estimate::of_all(whole, &without), Estimate::of(&values).unwrap());
        assert!((of.half_width.unwrap() / mean.half_width.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(Estimate::of_all(f64::INFINITY, &without).half_width, None);
    }

    #[test]
    fn medians_have_the_interval_of_order_statistics() {
        // Tables of the sign test: six values, first and last; ten, second and ninth; twenty, sixth and fifteenth.
        let of = |count: i32| Estimate::of_median(&(1..=count).map(f64::from).collect::<Vec<_>>()).unwrap();
        assert_eq!((of(5).mean, of(5).half_width), (3.0, None));
        assert_eq!((of(6).mean, of(6).half_width), (3.5, Some(2.5)));
        assert_eq!((of(10).mean, of(10).half_width), (5.5, Some(3.5)));
        assert_eq!((of(20).mean, of(20).half_width), (10.5, Some(4.5)));
        assert_eq!(Estimate::of_median(&[f64::NAN]), None);
    }

    #[test]
    fn intervals_are_students() {
        let of = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((of.mean, of.count), (3.0, 5));
        // s = sqrt(2.5), t(4) = 2.776: 2.776 * 1.5811 / 2.2361.
        assert!((of.half_width.unwrap() - 1.963).abs() < 1e-3);
        assert_eq!(Estimate::of(&[7.0]).unwrap().half_width, None);
        assert_eq!(Estimate::of(&[f64::NAN]), None);
        assert_eq!(Estimate::of(&[f64::INFINITY, 1.0]).unwrap().half_width, None);
    }
}
