//! The Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998), for runs that follow a simulator that draws from one.

use std::sync::{Arc, Mutex, PoisonError};

const WORDS: usize = 624;
const MIDDLE: usize = 397;
const MATRIX: u32 = 0x9908_b0df;
const UPPER: u32 = 1 << 31;

/// Generator with its 624 words.
#[derive(Clone, Debug)]
pub struct Mt19937 {
    words: Vec<u32>,
    /// Place of the word that is drawn next; after the last, all words are made anew.
    next: usize,
}

impl Mt19937 {
    /// Generator as its authors' `init_genrand(seed)` leaves it.
    pub fn new(seed: u32) -> Mt19937 {
        let mut words = Vec::with_capacity(WORDS);
        words.push(seed);
        for place in 1..WORDS as u32 {
            let before = words[place as usize - 1];
            words.push(1_812_433_253_u32.wrapping_mul(before ^ before >> 30).wrapping_add(place));
        }
        Mt19937 { words, next: WORDS }
    }

    /// The next number, of 32 bits.
    pub fn draw(&mut self) -> u32 {
        if self.next == WORDS {
            self.renew();
        }
        let mut word = self.words[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    fn renew(&mut self) {
        for place in 0..WORDS {
            let joined = self.words[place] & UPPER | self.words[(place + 1) % WORDS] & !UPPER;
            let turned = if joined & 1 == 0 { 0 } else { MATRIX };
            self.words[place] = self.words[(place + MIDDLE) % WORDS] ^ joined >> 1 ^ turned;
        }
        self.next = 0;
    }
}

/// Generator that all of a run share. Numbers have 31 bits, as those of `random()`.
#[derive(Clone, Debug)]
pub struct SharedTwister(Arc<Mutex<Mt19937>>);

impl SharedTwister {
    /// See [`Mt19937::new`].
    pub fn new(seed: u32) -> SharedTwister {
        SharedTwister(Arc::new(Mutex::new(Mt19937::new(seed))))
    }

    /// The next number. The caller keeps draws in order.
    pub fn draw(&self) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).draw() & 0x7fff_ffff
    }

    /// The next number modulo `n`.
    pub fn below(&self, n: usize) -> usize {
        self.draw() as usize % n
    }

    /// A coin: whether the next number is in the lower half.
    pub fn coin(&self) -> bool {
        f64::from(self.draw()) / f64::from(0x7fff_ffff) < 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What its authors' program gives.
    #[test]
    fn first_numbers_are_those_of_its_authors() {
        let mut random = Mt19937::new(5489);
        let drawn: Vec<u32> = (0..5).map(|_| random.draw()).collect();
        assert_eq!(drawn, [3_499_211_612, 581_869_302, 3_890_346_734, 3_586_334_585, 545_404_204]);
        let later = (5..10_000).map(|_| random.draw()).last();
        assert_eq!(later, Some(4_123_659_995), "the ten-thousandth, as in the C++ standard");
    }

    #[test]
    fn shared_numbers_are_drawn_in_turn() {
        let shared = SharedTwister::new(5489);
        let other = shared.clone();
        assert_eq!(shared.draw(), 3_499_211_612 & 0x7fff_ffff);
        assert_eq!((other.below(1000), shared.coin()), (302, false));
    }
}
