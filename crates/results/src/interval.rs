//! How sure a mean over seeds is.

use super::student;
use serde::Serialize;
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

    /// `12.3 ± 0.4 us`, the interval in the mean's digits and unit; without it where seeds change nothing.
    pub fn text(&self, show: fn(f64) -> String) -> String {
        self.half_width.map_or_else(|| show(self.mean), |half| plus_minus(self.mean, half, show))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
