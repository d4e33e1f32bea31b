//! Student's t distribution, exact for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).

use libm::{atan, cos, sin, sqrt};
use std::f64::consts::PI;

/// Returns the probability that Student's t lies outside ±`t`.
pub fn two_sided(t: f64, freedom: usize) -> f64 {
    if freedom == 0 || t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    let angle = atan(t.abs() / sqrt(freedom as f64));
    let (sine, cosine) = (sin(angle), cos(angle));
    // The terms of 26.7.3 have odd powers of the cosine, those of 26.7.4 even ones.
    let odd = freedom % 2 == 1;
    let (mut term, mut sum) = if odd { (cosine, cosine) } else { (1.0, 1.0) };
    for power in (if odd { 3..freedom } else { 2..freedom }).step_by(2) {
        term *= cosine * cosine * (power - 1) as f64 / power as f64;
        sum += term;
    }
    let inside = match (freedom, odd) {
        (1, _) => 2.0 * angle / PI,
        (_, true) => 2.0 / PI * (angle + sine * sum),
        (_, false) => sine * sum,
    };
    (1.0 - inside).clamp(0.0, 1.0)
}

/// Returns the `t` for which Student's t lies outside ±`t` with probability `p`.
pub fn quantile(p: f64, freedom: usize) -> f64 {
    if freedom == 0 {
        return f64::NAN;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, freedom) > p {
        (low, high) = (high, 2.0 * high);
    }
    // As many halvings as a double has digits.
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if two_sided(middle, freedom) > p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_ones() {
        for (freedom, five, ten) in [
            (1, 12.7062, 6.3138),
            (2, 4.3027, 2.9200),
            (3, 3.1824, 2.3534),
            (4, 2.7764, 2.1318),
            (7, 2.3646, 1.8946),
            (10, 2.2281, 1.8125),
            (30, 2.0423, 1.6973),
            (31, 2.0395, 1.6955),
            (120, 1.9799, 1.6577),
            (1000, 1.9623, 1.6464),
        ] {
            assert!((quantile(0.05, freedom) - five).abs() < 1e-4, "{freedom}: {}", quantile(0.05, freedom));
            assert!((quantile(0.10, freedom) - ten).abs() < 1e-4, "{freedom}: {}", quantile(0.10, freedom));
        }
        assert!(quantile(0.05, 0).is_nan());
    }

    #[test]
    fn probabilities_begin_at_one_and_end_at_nothing() {
        for freedom in 1..40 {
            assert!((two_sided(0.0, freedom) - 1.0).abs() < 1e-12);
            assert_eq!(two_sided(f64::INFINITY, freedom), 0.0);
            assert_eq!(two_sided(-2.0, freedom), two_sided(2.0, freedom));
            assert!(two_sided(2.0, freedom + 1) < two_sided(2.0, freedom));
        }
        assert_eq!((two_sided(3.0, 0), two_sided(f64::NAN, 3)), (1.0, 1.0));
    }
}
