//! Whole random numbers as `rand()` of the GNU C library draws them, for runs that follow a simulator which does.
//!
//! It is one sequence for a whole run, in the order of events. Everything else has streams of its own ([`crate::rng`]).
//!
//! The additive generator of 31 words that library describes as TYPE_3: x(i) = x(i-3) + x(i-31) modulo 2^32, of which
//! the upper 31 bits are drawn. The seed fills the words by a linear congruence (multiplier 16807, modulus 2^31 - 1),
//! and the first 310 numbers are discarded.

use std::sync::{Arc, Mutex, PoisonError};

const WORDS: usize = 31;
const LAG: usize = 3;
const DISCARDED: usize = 10 * WORDS;

/// Generator with its 31 words.
#[derive(Clone, Debug)]
pub struct GlibcRandom {
    words: [u32; WORDS],
    /// Place of x(i-31), which x(i) replaces.
    oldest: usize,
}

impl GlibcRandom {
    /// Generator as `srand(seed)` leaves it; 0 counts as 1.
    pub fn new(seed: u32) -> GlibcRandom {
        let mut words = [seed.max(1); WORDS];
        for i in 1..WORDS {
            // Signed there: a seed of 2^31 and above is negative.
            let before = i64::from(words[i - 1].cast_signed());
            words[i] = (16_807 * before).rem_euclid(0x7fff_ffff) as u32;
        }
        let mut random = GlibcRandom { words, oldest: LAG };
        for _ in 0..DISCARDED {
            random.draw();
        }
        random
    }

    /// The next number, of 31 bits.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let later = self.words[(self.oldest + WORDS - LAG) % WORDS];
        let word = &mut self.words[self.oldest];
        *word = word.wrapping_add(later);
        let drawn = *word >> 1;
        self.oldest = (self.oldest + 1) % WORDS;
        drawn
    }
}

/// Generator that all switches of a run share.
#[derive(Clone, Debug)]
pub struct SharedGlibc(Arc<Mutex<GlibcRandom>>);

impl SharedGlibc {
    /// See [`GlibcRandom::new`].
    pub fn new(seed: u32) -> SharedGlibc {
        SharedGlibc(Arc::new(Mutex::new(GlibcRandom::new(seed))))
    }

    /// The next number. The caller keeps draws in order.
    #[inline]
    pub fn draw(&self) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).draw()
    }

    /// The next number modulo `n`, as such simulators draw one of several.
    pub fn below(&self, n: usize) -> usize {
        self.draw() as usize % n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What that library prints.
    #[test]
    fn first_numbers_are_those_of_the_library() {
        let mut one = GlibcRandom::new(1);
        let drawn: Vec<u32> = (0..5).map(|_| one.draw()).collect();
        assert_eq!(drawn, [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915, 1_957_747_793]);
        assert_eq!(GlibcRandom::new(0).draw(), 1_804_289_383, "no seed is the seed 1");
        assert_eq!(GlibcRandom::new(42).draw(), 71_876_166);
        assert_eq!(GlibcRandom::new(1 << 31).draw(), 1_336_741_213, "a negative seed");
    }

    #[test]
    fn shared_numbers_are_drawn_in_turn() {
        let shared = SharedGlibc::new(1);
        let other = shared.clone();
        assert_eq!([shared.below(1000), other.below(1000), shared.below(1000)], [383, 886, 777]);
    }
}
