//! Random streams derived from (seed, purpose, entity), never shared.
//!
//! A named generator (PCG-64 MCG) and our own inverse transforms over `libm` give the same
//! numbers on every machine; the system's maths library never decides a sample.

use std::num::NonZeroU64;

/// One independent random stream. Its 128 bits are kept in two words, since every queue that marks has one and would
/// otherwise be aligned to sixteen bytes.
#[derive(Clone, Debug)]
pub struct Rng {
    high: u64,
    /// Odd. That it is never zero leaves an enum that holds a stream room for another variant.
    low: NonZeroU64,
}

/// Mixes a word so that close inputs give unrelated outputs (SplitMix64's finaliser).
#[inline]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hash of a name (FNV-1a), the same on every machine. It does not depend on the order of names, and adding a name
/// changes no other.
pub fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The stream of `entity` for `purpose` under `seed`. A new purpose never shifts another.
pub fn stream(seed: u64, purpose: &str, entity: u64) -> Rng {
    let a = mix(seed ^ mix(name_hash(purpose)));
    let b = mix(a ^ mix(entity.wrapping_add(0x9e37_79b9_7f4a_7c15)));
    // Odd, as the state of a multiplicative generator has to be.
    Rng { high: a, low: NonZeroU64::MIN | b }
}

/// Multiplier of PCG's 128-bit generators (O'Neill, 2014).
const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl Rng {
    /// Uniform over all 64 bits: PCG MCG XSL-RR 128/64.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let state = (u128::from(self.high) << 64 | u128::from(self.low.get())).wrapping_mul(MULTIPLIER);
        let (high, low) = ((state >> 64) as u64, state as u64);
        (self.high, self.low) = (high, NonZeroU64::MIN | low);
        (high ^ low).rotate_right((high >> 58) as u32)
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in (0, 1]: safe under a logarithm, and what inverting a CDF wants.
    pub fn unit_open(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Uniform in 0..n without modulo bias worth speaking of (n far below 2^64).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.unit_open())
    }

    /// Pareto with the given scale (smallest value) and shape.
    pub fn pareto(&mut self, scale: f64, shape: f64) -> f64 {
        scale / libm::pow(self.unit_open(), 1.0 / shape)
    }

    /// Fisher-Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_repeatable_and_distinct() {
        let take = |mut rng: Rng| [rng.next_u64(), rng.next_u64()];
        assert_eq!(take(stream(1, "red", 7)), take(stream(1, "red", 7)));
        assert_ne!(take(stream(1, "red", 7)), take(stream(1, "red", 8)));
        assert_ne!(take(stream(1, "red", 7)), take(stream(1, "ecmp", 7)));
        assert_ne!(take(stream(1, "red", 7)), take(stream(2, "red", 7)));
    }

    #[test]
    fn first_values_are_pinned() {
        // A change here changes every result of every scenario: it needs a new version.
        let mut rng = stream(1, "pin", 0);
        assert_eq!([rng.next_u64(), rng.next_u64()], PINNED);
    }
    const PINNED: [u64; 2] = [13_990_244_044_385_940_332, 3_009_782_925_358_845_418];

    #[test]
    fn the_generator_is_pcg64_mcg() {
        use rand_core::Rng as _;
        for entity in 0..100 {
            let mut rng = stream(7, "pcg", entity);
            let mut reference = rand_pcg::Pcg64Mcg::new(u128::from(rng.high) << 64 | u128::from(rng.low.get()));
            (0..1_000).for_each(|_| assert_eq!(rng.next_u64(), reference.next_u64()));
        }
        assert_eq!((size_of::<Rng>(), align_of::<Rng>(), size_of::<Result<Rng, u64>>()), (16, 8, 16));
    }

    #[test]
    fn moments() {
        let mut rng = stream(3, "moments", 0);
        // Miri has time for fewer, which spread more.
        let (n, slack) = if cfg!(miri) { (2_000, 10.0) } else { (200_000, 1.0) };
        let mean = (0..n).map(|_| rng.exponential(5.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 5.0).abs() < 0.05 * slack, "exponential mean {mean}");
        // Shape 3, scale 2: mean 3.
        let mean = (0..n).map(|_| rng.pareto(2.0, 3.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 3.0).abs() < 0.05 * slack, "pareto mean {mean}");
        let ones = (0..n).filter(|_| rng.below(3) == 1).count() as f64 / f64::from(n);
        assert!((ones - 1.0 / 3.0).abs() < 0.01 * slack, "below(3) = 1 in {ones}");
    }

    #[test]
    fn a_shuffle_loses_nothing_and_reaches_every_order() {
        let mut seen = std::collections::BTreeSet::new();
        for entity in 0..200 {
            let mut items = [0, 1, 2];
            stream(1, "shuffle", entity).shuffle(&mut items);
            seen.insert(items);
        }
        let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        assert!(seen.into_iter().eq(all));
    }

    /// 1000 draws come within a hundredth of both ends, and the open one never is zero.
    #[test]
    fn units_fill_their_interval() {
        let mut rng = stream(1, "unit", 0);
        let (mut least, mut greatest) = (1.0f64, 0.0f64);
        for _ in 0..1_000 {
            let (unit, open) = (rng.unit(), rng.unit_open());
            assert!((0.0..1.0).contains(&unit) && open > 0.0 && open <= 1.0, "{unit} {open}");
            (least, greatest) = (least.min(unit).min(open), greatest.max(unit).max(open));
        }
        assert!(least < 0.01 && greatest > 0.99, "from {least} to {greatest}");
    }
}
