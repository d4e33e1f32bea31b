//! Points of a cube: random, or Sobol's, which leave no part of it empty.

use xoff_engine::stream;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sampler {
    /// Sobol's sequence with the direction numbers of Joe and Kuo (2008), shifted by the seed.
    #[default]
    Sobol,
    /// Independent and uniform.
    Random,
}

/// The most axes that Sobol's points are known for here.
pub const SOBOL_AXES: usize = 16;

/// Dimensions from 2 on (the first one needs none): degree and coefficients of the primitive polynomial, and the
/// initial direction numbers (Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections").
const DIRECTIONS: [(u32, u32, &[u32]); SOBOL_AXES - 1] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
];

const BITS: u32 = 32;

impl Sampler {
    /// `count` points of `axes` coordinates from 0 to 1; more of them begin with the same.
    pub fn points(self, count: u64, axes: usize, seed: u64) -> Vec<Vec<f64>> {
        match self {
            Sampler::Random => {
                let mut rng = stream(seed, "samples", 0);
                (0..count).map(|_| (0..axes).map(|_| rng.unit()).collect()).collect()
            }
            Sampler::Sobol => {
                let axes: Vec<([u32; BITS as usize], u32)> = (0..axes)
                    .map(|axis| (directions(axis), (stream(seed, "sobol", axis as u64).next_u64() >> 32) as u32))
                    .collect();
                (0..count).map(|index| axes.iter().map(|(of, shift)| sobol(of, *shift, index)).collect()).collect()
            }
        }
    }
}

/// The direction numbers of one dimension.
fn directions(axis: usize) -> [u32; BITS as usize] {
    let mut v = [0; BITS as usize];
    let Some((degree, coefficients, initial)) = axis.checked_sub(1).map(|at| DIRECTIONS[at % DIRECTIONS.len()]) else {
        (0..BITS).for_each(|bit| v[bit as usize] = 1 << (BITS - 1 - bit));
        return v;
    };
    let s = degree as usize;
    for bit in 0..BITS as usize {
        v[bit] = match initial.get(bit) {
            Some(m) => m << (BITS as usize - 1 - bit),
            None => {
                let own = v[bit - s] ^ (v[bit - s] >> s);
                let taken = |k: &usize| (coefficients >> (s - 1 - k)) & 1 == 1;
                (1..s).filter(taken).fold(own, |sum, k| sum ^ v[bit - k])
            }
        };
    }
    v
}

fn sobol(directions: &[u32; BITS as usize], shift: u32, index: u64) -> f64 {
    let gray = index ^ (index >> 1);
    let bits = (0..BITS).filter(|bit| (gray >> bit) & 1 == 1).fold(shift, |sum, bit| sum ^ directions[bit as usize]);
    f64::from(bits) / (1_u64 << BITS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_points_of_sobol() {
        // Unshifted, in Gray-code order: Joe and Kuo's own table for three dimensions.
        let v: Vec<_> = (0..3).map(directions).collect();
        let point = |index| v.iter().map(|of| sobol(of, 0, index)).collect::<Vec<_>>();
        assert_eq!(point(0), [0.0, 0.0, 0.0]);
        assert_eq!(point(1), [0.5, 0.5, 0.5]);
        assert_eq!(point(2), [0.75, 0.25, 0.25]);
        assert_eq!(point(3), [0.25, 0.75, 0.75]);
        assert_eq!(point(4), [0.375, 0.375, 0.625]);
        assert_eq!(point(5), [0.875, 0.875, 0.125]);
        assert_eq!(point(6), [0.625, 0.125, 0.875]);
        assert_eq!(point(7), [0.125, 0.625, 0.375]);
    }

    #[test]
    fn every_stretch_of_every_axis_gets_its_share() {
        let points = Sampler::Sobol.points(256, SOBOL_AXES, 7);
        for axis in 0..SOBOL_AXES {
            let mut cells: Vec<u64> = points.iter().map(|point| (point[axis] * 256.0) as u64).collect();
            cells.sort_unstable();
            assert!(cells.into_iter().eq(0..256), "axis {axis}");
        }
        // More points begin with the same.
        assert_eq!(Sampler::Sobol.points(3, 2, 7)[..], Sampler::Sobol.points(100, 2, 7)[..3]);
        assert_ne!(Sampler::Sobol.points(3, 2, 7), Sampler::Sobol.points(3, 2, 8));
        assert_eq!(Sampler::Random.points(3, 2, 7)[..], Sampler::Random.points(100, 2, 7)[..3]);
    }
}
