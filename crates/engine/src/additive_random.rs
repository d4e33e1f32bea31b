//! Random numbers as programs in C draw them with `rand()` on Linux: the additive generator of 31 words with which
//! glibc fills its default state, 31 bits each.
//!
//! It serves only to repeat a run of another simulator draw by draw, so it is one sequence for the whole run, in the
//! order of events. Everything else has streams of its own ([`crate::rng`]).

use std::sync::{Arc, Mutex, PoisonError};

const WORDS: usize = 31;
/// Word that is added to the oldest one.
const LAG: usize = 28;
/// Numbers that are thrown away at the start, ten for each word.
const DISCARDED: usize = 10 * WORDS;

/// One generator.
#[derive(Clone, Debug)]
pub struct AdditiveRandom {
    /// A ring; the oldest word is at `oldest`.
    words: [u32; WORDS],
    oldest: usize,
}

impl AdditiveRandom {
    /// As after `srand(seed)`; 1 is what a program has that never calls it.
    pub fn new(seed: u32) -> AdditiveRandom {
        // The other words follow from the first by the minimal standard generator, x = 16807 x mod 2^31 - 1, which that
        // library computes with signs.
        let mut words = [seed.max(1); WORDS];
        let mut word = i64::from(words[0] as i32);
        for next in &mut words[1..] {
            word = word * 16_807 % 2_147_483_647;
            word += if word < 0 { 2_147_483_647 } else { 0 };
            *next = word as u32;
        }
        // The first sum is that of words 3 and 0.
        let mut random = AdditiveRandom { words, oldest: WORDS - LAG };
        for _ in 0..DISCARDED {
            random.draw();
        }
        random
    }

    /// The next number, from 0 to 2^31 - 1.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let lagged = self.words[(self.oldest + LAG) % WORDS];
        let word = &mut self.words[self.oldest];
        *word = word.wrapping_add(lagged);
        let drawn = *word >> 1;
        self.oldest = (self.oldest + 1) % WORDS;
        drawn
    }
}

/// A generator that all of a run draw from.
#[derive(Clone, Debug)]
pub struct SharedAdditive(Arc<Mutex<AdditiveRandom>>);

impl SharedAdditive {
    /// See [`AdditiveRandom::new`].
    pub fn new(seed: u32) -> SharedAdditive {
        SharedAdditive(Arc::new(Mutex::new(AdditiveRandom::new(seed))))
    }

    /// See [`AdditiveRandom::draw`]. The caller keeps draws in order.
    #[inline]
    pub fn draw(&self) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).draw()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `rand()` is known to return first.
    #[test]
    fn the_first_numbers_are_those_of_the_library() {
        let first = |seed| {
            let mut random = AdditiveRandom::new(seed);
            [0; 5].map(|_| random.draw())
        };
        let default = [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915, 1_957_747_793];
        assert_eq!(first(1), default);
        assert_eq!(first(0), default, "zero is taken for one");
        assert_eq!(first(42)[..3], [71_876_166, 708_592_740, 1_483_128_881]);
    }

    #[test]
    fn a_shared_generator_is_one_sequence() {
        let (mut alone, shared) = (AdditiveRandom::new(7), SharedAdditive::new(7));
        let other = shared.clone();
        for _ in 0..100 {
            assert_eq!([shared.draw(), other.draw()], [alone.draw(), alone.draw()]);
        }
    }
}
