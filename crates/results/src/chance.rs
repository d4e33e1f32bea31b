//! For tests of sentences: numbers that are drawn, not simulated, and a t test written apart from the one that decides.

/// Random numbers (splitmix64).
pub struct Draws(u64);

impl Draws {
    /// The same numbers for the same seed.
    pub fn new(seed: u64) -> Draws {
        Draws(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// Between 0 and 1, neither of them.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Normal with mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    pub fn shuffle<T>(&mut self, of: &mut [T]) {
        for at in (1..of.len()).rev() {
            let other = self.below(at + 1);
            of.swap(at, other);
        }
    }
}

/// How many cases a law is tried on: so many, or as many as `XOFF_CASES` says.
pub fn cases(usually: usize) -> usize {
    std::env::var("XOFF_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usually)
}

/// The most that may go wrong by chance where 5 % may: three standard deviations above.
pub fn five_percent_of(cases: usize) -> f64 {
    let n = cases as f64;
    0.05 * n + 3.0 * (0.05 * 0.95 * n).sqrt()
}

/// Two-sided p of a paired t test on the logarithms, or on the values where some are not above zero. The integral of
/// Student's density with t = √ν tan x, by Simpson's rule.
pub fn paired_p(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let logs = a.iter().chain(b).all(|value| *value > 0.0);
    let of = |value: f64| if logs { value.ln() } else { value };
    let steps: Vec<f64> = a.iter().zip(b).map(|(a, b)| of(*a) - of(*b)).collect();
    let n = steps.len() as f64;
    let mean = steps.iter().sum::<f64>() / n;
    if steps.len() < 2 || mean == 0.0 {
        return 1.0;
    }
    let error = (steps.iter().map(|step| (step - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
    if error == 0.0 {
        return 0.0;
    }
    let power = steps.len() as i32 - 2;
    let area = |from: f64| {
        let (parts, until) = (1000, std::f64::consts::FRAC_PI_2);
        let width = (until - from) / f64::from(parts);
        let weight = |at: i32| if at == 0 || at == parts { 1.0 } else { f64::from(2 + 2 * (at % 2)) };
        let height = |at: i32| (from + width * f64::from(at)).cos().max(0.0).powi(power);
        (0..=parts).map(|at| weight(at) * height(at)).sum::<f64>() * width / 3.0
    };
    area((mean.abs() / error / (n - 1.0).sqrt()).atan()) / area(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_t_test_agrees_with_published_quantiles() {
        // Differences with mean t and standard error 1.
        let with = |t: f64, n: usize| {
            let spread = ((n * (n - 1)) as f64 / 2.0).sqrt();
            let mut values = vec![t; n];
            values[0] += spread;
            values[1] -= spread;
            paired_p(&values, &vec![0.0; n])
        };
        for (n, t) in [(2, 12.7062), (3, 4.3027), (5, 2.7764), (8, 2.3646), (11, 2.2281)] {
            assert!((with(t, n) - 0.05).abs() < 1e-4, "{n}: {}", with(t, n));
        }
    }
}
