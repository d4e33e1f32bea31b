//! How sure a mean over seeds is.

use serde::Serialize;

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
            student_t(count - 1) * (variance / count as f64).sqrt()
        });
        Some(Estimate { mean, half_width, count })
    }
}

/// The two-sided 95 % quantile of Student's t for some degrees of freedom.
fn student_t(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match freedom {
        0 => f64::NAN,
        1..=30 => TABLE[freedom - 1],
        _ => {
            // Expansion around the normal quantile (Abramowitz and Stegun 26.7.5): from 31 degrees on
            // its first two terms are good to the third decimal.
            let (z, n) = (1.959_964_f64, freedom as f64);
            z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
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

    #[test]
    fn quantiles_beyond_the_table_agree_with_published_ones() {
        for (freedom, published) in [(31, 2.0395), (40, 2.0211), (60, 2.0003), (120, 1.9799), (1000, 1.9623)] {
            assert!((student_t(freedom) - published).abs() < 1e-4, "{freedom}: {}", student_t(freedom));
        }
        assert!((1..200).all(|freedom| student_t(freedom + 1) < student_t(freedom)));
    }
}
