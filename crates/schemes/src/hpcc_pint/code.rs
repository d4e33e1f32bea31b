//! Digests: a utilisation as a power of b, rounded at random so that it is right on average, and back.
//!
//! v = max(1, ceil(512 U)) lies between two whole powers of b; the upper is taken with the probability
//! (v - lower) / (upper - lower), so that the mean of many digests is v.

/// Utilisations are counted in parts of so much.
const UNIT: f64 = 512.0;

/// Powers of the base, by their exponents.
#[derive(Debug)]
pub struct Code {
    base: f64,
    powers: Box<[f64]>,
}

impl Code {
    /// With 512 as the largest utilisation, beyond which a digest stays what it is.
    pub fn new(base: f64) -> Code {
        let mut powers = vec![1.0];
        while powers.len() < usize::from(u16::MAX) && powers[powers.len() - 1] < UNIT * UNIT {
            powers.push(libm::pow(base, powers.len() as f64));
        }
        Code { base, powers: powers.into() }
    }

    /// What is encoded of a utilisation.
    #[inline]
    pub fn value(utilisation: f64) -> f64 {
        (UNIT * utilisation).ceil().max(1.0)
    }

    /// Digest of a utilisation; `unit` is a random number from 0 to below 1.
    #[inline]
    pub fn encode(&self, utilisation: f64, unit: f64) -> u16 {
        let value = Code::value(utilisation);
        let above = self.powers.partition_point(|power| *power <= value);
        let Some(upper) = self.powers.get(above) else { return (self.powers.len() - 1) as u16 };
        let lower = self.powers[above - 1];
        (above - 1) as u16 + u16::from(unit < (value - lower) / (upper - lower))
    }

    /// Digest as the authors' simulator computes it, with a random number of 16 bits.
    pub fn encode_by_logarithm(&self, utilisation: f64, random: u32) -> u16 {
        let value = Code::value(utilisation);
        let exponent = libm::log(value) / libm::log(self.base);
        let (below, above) = (exponent.floor(), exponent.ceil());
        let (lower, upper) = (libm::pow(self.base, below), libm::pow(self.base, above));
        // A whole power has no upper neighbour: no number is below what is none.
        let up = f64::from(random & 0xffff) < (value - lower) / (upper - lower) * 65_536.0;
        if up { above as u16 } else { below as u16 }
    }

    /// The utilisation that a digest means.
    #[inline]
    pub fn decode(&self, power: u16) -> f64 {
        self.powers[usize::from(power).min(self.powers.len() - 1)] / UNIT
    }

    /// Bits that a digest takes.
    #[cfg(test)]
    fn bits(&self) -> u32 {
        libm::ceil(libm::log2(libm::log(UNIT * UNIT) / libm::log(self.base))) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::stream;

    #[test]
    fn pint_6_a_utilisation_is_between_two_powers() {
        let code = Code::new(1.05);
        for (utilisation, value, powers, decoded, up) in [
            (0.5, 256.0, (113, 114), (0.484_31, 0.508_52), 0.648_06),
            (0.95, 487.0, (126, 127), (0.913_23, 0.958_89), 0.830_86),
            (1.0, 512.0, (127, 128), (0.958_89, 1.006_84), 0.857_34),
            (1.08, 553.0, (129, 130), (1.057_18, 1.110_04), 0.433_16),
        ] {
            assert_eq!(Code::value(utilisation), value);
            assert_eq!((code.encode(utilisation, up + 1e-5), code.encode(utilisation, up - 1e-5)), powers);
            let random = |unit: f64| code.encode_by_logarithm(utilisation, (unit * 65_536.0) as u32);
            assert_eq!((random(up + 3e-5), random(up - 3e-5)), powers);
            let near = |power: u16, expected: f64| assert!((code.decode(power) - expected).abs() < 5e-6, "{power}");
            near(powers.0, decoded.0);
            near(powers.1, decoded.1);
        }
        assert_eq!((code.bits(), Code::new(1.01).bits()), (8, 11));
    }

    #[test]
    fn pint_6_digests_are_right_on_average_and_within_the_base() {
        let (code, mut random) = (Code::new(1.05), stream(1, "test", 0));
        for utilisation in [0.01, 0.3, 0.95, 1.0, 1.6, 17.0] {
            let value = Code::value(utilisation) / UNIT;
            let mut sum = 0.0;
            for _ in 0..4_000 {
                let decoded = code.decode(code.encode(utilisation, random.unit()));
                assert!(decoded / value < 1.05 && value / decoded < 1.05, "{utilisation}: {decoded}");
                sum += decoded;
            }
            let mean = sum / 4_000.0;
            assert!((mean / value - 1.0).abs() < 0.005, "{utilisation}: {mean}");
        }
    }

    #[test]
    fn idle_and_endless_utilisations_have_digests() {
        let code = Code::new(1.05);
        assert_eq!([code.encode(0.0, 0.0), code.encode_by_logarithm(0.0, 0)], [0, 0]);
        let last = code.powers.len() as u16 - 1;
        assert_eq!((code.encode(1e9, 0.0), code.decode(u16::MAX)), (last, code.decode(last)));
        assert!(code.decode(last) >= 512.0);
    }
}
