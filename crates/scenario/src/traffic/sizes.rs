//! How large flows are: a distribution with an exact mean and reproducible samples.

use super::cdf::{Cdf, LARGEST_BYTES, packets_up_to};
use std::sync::Arc;
use xoff_engine::rng::Rng;

#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// An empirical curve; shared, because every run of a comparison draws from the same.
    Cdf(Arc<Cdf>),
    Fixed(u64),
    /// Whole bytes, both ends included.
    Uniform {
        min_bytes: u64,
        max_bytes: u64,
    },
    /// Unbounded, with `shape` above 1 so that the mean exists.
    Pareto {
        mean_bytes: f64,
        shape: f64,
    },
    Exponential {
        mean_bytes: f64,
    },
}

impl Sizes {
    /// At least one byte, at most [`LARGEST_BYTES`].
    pub fn sample(&self, rng: &mut Rng) -> u64 {
        match self {
            Sizes::Cdf(cdf) => cdf.sample(rng),
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Uniform { min_bytes, max_bytes } => min_bytes + rng.below(max_bytes - min_bytes + 1),
            Sizes::Pareto { mean_bytes, shape } => {
                (rng.pareto(pareto_scale(*mean_bytes, *shape), *shape).round() as u64).clamp(1, LARGEST_BYTES)
            }
            Sizes::Exponential { mean_bytes } => (rng.exponential(*mean_bytes).round() as u64).clamp(1, LARGEST_BYTES),
        }
    }

    /// Of the distribution itself, before samples are rounded to bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Cdf(cdf) => cdf.mean_bytes(),
            Sizes::Fixed(bytes) => *bytes as f64,
            Sizes::Uniform { min_bytes, max_bytes } => (*min_bytes as f64 + *max_bytes as f64) / 2.0,
            Sizes::Pareto { mean_bytes, .. } | Sizes::Exponential { mean_bytes } => *mean_bytes,
        }
    }

    /// Mean number of packets of at most `mtu_bytes` in a flow: what headers cost.
    pub fn mean_packets(&self, mtu_bytes: u32) -> f64 {
        let mtu = f64::from(mtu_bytes);
        match self {
            Sizes::Cdf(cdf) => cdf.mean_packets(mtu),
            Sizes::Fixed(bytes) => bytes.div_ceil(u64::from(mtu_bytes)) as f64,
            Sizes::Uniform { min_bytes, max_bytes } => {
                // Over whole bytes the integral is the sum.
                let below = *min_bytes as f64 - 1.0;
                let max = *max_bytes as f64;
                (packets_up_to(max, mtu) - packets_up_to(below, mtu)) / (max - below)
            }
            Sizes::Exponential { mean_bytes } => 1.0 / (1.0 - libm::exp(-mtu / mean_bytes)),
            Sizes::Pareto { mean_bytes, shape } => pareto_packets(pareto_scale(*mean_bytes, *shape), *shape, mtu),
        }
    }
}

/// The smallest value of a Pareto distribution of this mean.
fn pareto_scale(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

/// The sum over k >= 0 of the probability that a flow is longer than k packets. Terms are certain
/// up to the smallest size; a few thousand more are added one by one, and the tail follows from
/// the Euler-Maclaurin formula.
fn pareto_packets(scale: f64, shape: f64, mtu: f64) -> f64 {
    const TERMS: u32 = 4_000;
    let certain = (scale / mtu).ceil();
    let ratio = libm::pow(scale / mtu, shape);
    let near: f64 = (0..TERMS).map(|k| ratio / libm::pow(certain + f64::from(k), shape)).sum();
    let from = certain + f64::from(TERMS);
    let tail = ratio * (libm::pow(from, 1.0 - shape) / (shape - 1.0) + 0.5 * libm::pow(from, -shape));
    certain + near + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::rng::stream;

    fn all() -> Vec<Sizes> {
        vec![
            Sizes::Fixed(64_000),
            Sizes::Uniform { min_bytes: 1, max_bytes: 9_999 },
            Sizes::Exponential { mean_bytes: 10_000.0 },
            // A shape with a finite variance: the sample mean of shape 1.1 hardly converges.
            Sizes::Pareto { mean_bytes: 10_000.0, shape: 3.0 },
            Sizes::Cdf(Arc::new(Cdf::parse("0,0\n1000,0.5\n50000,1").unwrap())),
        ]
    }

    #[test]
    fn samples_have_the_stated_mean_and_packets() {
        for sizes in all() {
            let mut rng = stream(5, "sizes", 0);
            let n = 200_000;
            let (mut bytes, mut packets) = (0, 0);
            for _ in 0..n {
                let size = sizes.sample(&mut rng);
                assert!(size >= 1);
                bytes += size;
                packets += size.div_ceil(1000);
            }
            let (mean, mean_packets) = (bytes as f64 / f64::from(n), packets as f64 / f64::from(n));
            assert!((mean / sizes.mean() - 1.0).abs() < 0.01, "{sizes:?}: {mean}");
            let expected = sizes.mean_packets(1000);
            assert!((mean_packets / expected - 1.0).abs() < 0.01, "{sizes:?}: {mean_packets} packets, not {expected}");
        }
    }

    #[test]
    fn pareto_of_mean_10_kb_and_shape_1_1_starts_at_909_bytes() {
        let sizes = Sizes::Pareto { mean_bytes: 10_000.0, shape: 1.1 };
        let mut rng = stream(5, "sizes", 1);
        let samples: Vec<u64> = (0..100_000).map(|_| sizes.sample(&mut rng)).collect();
        assert_eq!(samples.iter().min(), Some(&909));
        // The median is scale * 2^(1/shape).
        let above = samples.iter().filter(|size| **size as f64 > 909.09 * 2f64.powf(1.0 / 1.1)).count();
        assert!((above as f64 / 1e5 - 0.5).abs() < 0.01, "{above}");
    }

    #[test]
    fn uniform_covers_both_ends() {
        let sizes = Sizes::Uniform { min_bytes: 3, max_bytes: 5 };
        let mut rng = stream(5, "sizes", 2);
        let seen: std::collections::BTreeSet<u64> = (0..100).map(|_| sizes.sample(&mut rng)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(sizes.mean(), 4.0);
    }
}
