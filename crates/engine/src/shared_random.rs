//! Random numbers as some other simulators draw them: from one generator for the whole run, the first
//! number of a new stream for every draw.
//!
//! The generator is MRG32k3a with streams 2^127 and substreams 2^76 steps apart (L'Ecuyer, Simard,
//! Chen and Kelton, "An object-oriented random-number package with many long streams and substreams",
//! Operations Research 50(6), 2002). Everything else in a run has streams of its own by purpose and
//! entity ([`crate::rng`]), which do not depend on the order of events; this one does, and serves only
//! to repeat a run of such a simulator draw by draw.

use std::sync::{Arc, Mutex, PoisonError};

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
const A12: u64 = 1_403_580;
const A13: u64 = 810_728;
const A21: u64 = 527_612;
const A23: u64 = 1_370_589;

type Matrix = [[u64; 3]; 3];

const STEP_1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - A13, A12, 0]];
const STEP_2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - A23, 0, A21]];

fn times(matrix: &Matrix, vector: [u64; 3], modulus: u64) -> [u64; 3] {
    matrix.map(|row| row.iter().zip(vector).fold(0, |sum, (a, b)| (sum + a * b % modulus) % modulus))
}

fn product(a: &Matrix, b: &Matrix, modulus: u64) -> Matrix {
    let mut out = [[0; 3]; 3];
    for (column, _) in b.iter().enumerate() {
        let result = times(a, [b[0][column], b[1][column], b[2][column]], modulus);
        for (row, value) in result.into_iter().enumerate() {
            out[row][column] = value;
        }
    }
    out
}

/// `matrix` to the power of 2^`doublings`.
fn doubled(matrix: &Matrix, doublings: u32, modulus: u64) -> Matrix {
    (0..doublings).fold(*matrix, |power, _| product(&power, &power, modulus))
}

/// One generator, at the first number of a stream that is yet to be drawn from.
#[derive(Debug)]
pub struct Streams {
    state: ([u64; 3], [u64; 3]),
    /// From a stream to the next.
    jump: (Matrix, Matrix),
}

impl Streams {
    /// Streams from number `first` on, each at its substream 1.
    pub fn new(seed: u32, first: u64) -> Streams {
        let jump = (doubled(&STEP_1, 127, M1), doubled(&STEP_2, 127, M2));
        let substream = (doubled(&STEP_1, 76, M1), doubled(&STEP_2, 76, M2));
        let seed = u64::from(seed.max(1));
        let mut state = (times(&substream.0, [seed; 3], M1), times(&substream.1, [seed; 3], M2));
        let mut power = jump;
        for bit in 0..64 {
            if first >> bit & 1 != 0 {
                state = (times(&power.0, state.0, M1), times(&power.1, state.1, M2));
            }
            power = (product(&power.0, &power.0, M1), product(&power.1, &power.1, M2));
        }
        Streams { state, jump }
    }

    /// One stream, number `stream`, whose numbers are drawn one after the other.
    pub fn one(seed: u32, stream: u64) -> Streams {
        Streams { jump: (STEP_1, STEP_2), ..Streams::new(seed, stream) }
    }

    /// The first number of the next stream, between 0 and 1.
    pub fn draw(&mut self) -> f64 {
        let (one, two) = (times(&STEP_1, self.state.0, M1)[2], times(&STEP_2, self.state.1, M2)[2]);
        self.skip();
        let difference = if one > two { one - two } else { one + M1 - two };
        difference as f64 * (1.0 / (M1 as f64 + 1.0))
    }

    /// Leaves a stream out.
    pub fn skip(&mut self) {
        self.state = (times(&self.jump.0, self.state.0, M1), times(&self.jump.1, self.state.1, M2));
    }
}

/// Streams that all parts of a run share.
#[derive(Clone, Debug)]
pub struct SharedRandom(Arc<Mutex<Streams>>);

impl SharedRandom {
    /// See [`Streams::new`].
    pub fn new(seed: u32, first: u64) -> SharedRandom {
        SharedRandom(Arc::new(Mutex::new(Streams::new(seed, first))))
    }

    /// See [`Streams::one`].
    pub fn one(seed: u32, stream: u64) -> SharedRandom {
        SharedRandom(Arc::new(Mutex::new(Streams::one(seed, stream))))
    }

    /// See [`Streams::draw`]. The caller keeps draws in order.
    pub fn draw(&self) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).draw()
    }

    /// See [`Streams::skip`].
    pub fn skip(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).skip();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L'Ecuyer's package prints these first numbers for the seed 12345: the generator itself.
    #[test]
    fn the_generator_is_mrg32k3a() {
        let mut state = ([12345u64; 3], [12345u64; 3]);
        let mut next = || {
            state = (times(&STEP_1, state.0, M1), times(&STEP_2, state.1, M2));
            let (one, two) = (state.0[2], state.1[2]);
            let difference = if one > two { one - two } else { one + M1 - two };
            difference as f64 * (1.0 / (M1 as f64 + 1.0))
        };
        for expected in [0.127_011_122_046_577, 0.318_527_565_396_742, 0.309_186_015_583_2] {
            assert!((next() - expected).abs() < 1e-12);
        }
    }

    /// Both cases of the difference come up, and every number lies between 0 and 1.
    #[test]
    fn draws_fill_the_interval() {
        let mut streams = Streams::new(7, 0);
        let draws: Vec<f64> = (0..2_000).map(|_| streams.draw()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((0.47..0.53).contains(&mean), "{mean}");
        let low = draws.iter().filter(|draw| **draw < 0.25).count();
        assert!((430..570).contains(&low), "{low} of 2000 below a quarter");
    }

    #[test]
    fn streams_are_where_jumps_and_skips_lead() {
        let mut from_ten = Streams::new(1, 10);
        let mut skipped = Streams::new(1, 0);
        for _ in 0..10 {
            skipped.skip();
        }
        for _ in 0..5 {
            assert_eq!(from_ten.draw(), skipped.draw());
        }
        let mut other = Streams::new(2, 10);
        assert_ne!(from_ten.draw(), other.draw());
    }

    /// Numbers of one stream follow each other, where draws from streams begin anew.
    #[test]
    fn one_stream_goes_on() {
        let (mut one, mut anew) = (Streams::one(1, 1 << 63), Streams::new(1, 1 << 63));
        assert_eq!(one.draw(), anew.draw());
        assert_ne!(one.draw(), anew.draw());
        let mean = (0..1_000).map(|_| one.draw()).sum::<f64>() / 1e3;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }

    #[test]
    fn lots_are_drawn_in_turn_by_all_who_share_them() {
        let (mut alone, shared_random) = (Streams::new(3, 5), SharedRandom::new(3, 5));
        let shared = shared_random.clone();
        assert_eq!(shared_random.draw(), alone.draw());
        shared.skip();
        alone.skip();
        assert_eq!([shared.draw(), shared_random.draw()], [alone.draw(), alone.draw()]);
        assert!((0..200).all(|_| (0.0..1.0).contains(&shared_random.draw())));
    }
}
