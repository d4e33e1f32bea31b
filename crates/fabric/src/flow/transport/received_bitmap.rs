//! Packets received beyond the first one missing: storage of every responder that keeps them.

/// Packets kept beyond the first one missing. What is further ahead is discarded.
pub(super) const KEPT_MOST: u32 = 1 << 16;

/// Received bitmap: a ring of bits that is allocated only while a packet is missing.
#[derive(Debug, Default)]
pub struct ReceivedBitmap {
    words: Vec<u64>,
    count: u32,
    /// The highest packet kept, while there is one.
    highest: u32,
}

impl ReceivedBitmap {
    /// Packets kept.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the highest packet kept.
    pub fn highest(&self) -> Option<u32> {
        (self.count > 0).then_some(self.highest)
    }

    /// Returns whether a packet is kept. Requires one that is not below the first one missing.
    pub fn contains(&self, psn: u32) -> bool {
        self.count > 0 && psn <= self.highest && self.is_set(psn)
    }

    fn is_set(&self, psn: u32) -> bool {
        let (word, bit) = self.place(psn);
        self.words[word] & bit != 0
    }

    /// Returns which of 64 packets are kept, the lowest bit first. Requires that they are above the first one missing.
    pub fn word_from(&self, first: u32) -> u64 {
        let Some(highest) = self.highest().filter(|highest| *highest >= first) else { return 0 };
        let (low, shift) = (self.words[self.place(first).0], first % 64);
        let word = match shift {
            0 => low,
            _ => low >> shift | self.words[self.place(first + 63).0] << (64 - shift),
        };
        // Bits beyond the highest packet may be those of the lowest.
        if highest - first >= 63 { word } else { word & ((1 << (highest - first + 1)) - 1) }
    }

    /// Returns the first packet from `from` on that is not kept and lies below one that is.
    pub fn first_missing(&self, from: u32) -> Option<u32> {
        let highest = self.highest()?;
        let mut psn = from;
        while psn < highest {
            let (word, _) = self.place(psn);
            let kept = (self.words[word] >> (psn % 64)).trailing_ones();
            if kept < 64 - psn % 64 {
                return Some(psn + kept).filter(|missing| *missing < highest);
            }
            psn += kept;
        }
        None
    }

    /// Forgets packets from `first`, which was the first one missing, until `end`, which is now.
    pub fn forget(&mut self, first: u32, end: u32) {
        for psn in first..end {
            if self.count == 0 {
                break;
            }
            let (word, bit) = self.place(psn);
            self.count -= u32::from(self.words[word] & bit != 0);
            self.words[word] &= !bit;
        }
        if self.count == 0 {
            self.words = Vec::new();
        }
    }

    /// Returns whether no packet is kept.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn room(&self) -> u32 {
        self.words.len() as u32 * 64
    }

    fn place(&self, psn: u32) -> (usize, u64) {
        ((psn / 64) as usize & (self.words.len() - 1), 1 << (psn % 64))
    }

    /// Keeps `psn`, which is beyond `expected`. Returns `false` for a second copy and for what is too far ahead.
    pub fn insert(&mut self, expected: u32, psn: u32) -> bool {
        let ahead = psn - expected;
        if ahead >= KEPT_MOST {
            return false;
        }
        // One word of slack: the first word may also hold the last packets of the ring.
        if ahead + 64 >= self.room() {
            self.grow(expected, ahead);
        }
        let (word, bit) = self.place(psn);
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.highest = if self.count == 0 { psn } else { self.highest.max(psn) };
        self.count += u32::from(new);
        new
    }

    fn grow(&mut self, expected: u32, ahead: u32) {
        let words = (ahead / 64 + 2).next_power_of_two().max(2) as usize;
        let old = ReceivedBitmap { words: std::mem::replace(&mut self.words, vec![0; words]), count: 0, highest: 0 };
        for psn in expected..expected + old.room() {
            let (word, bit) = old.place(psn);
            if old.words[word] & bit != 0 {
                let (word, bit) = self.place(psn);
                self.words[word] |= bit;
            }
        }
    }

    /// Releases the packets that follow without a gap from `expected` on. Returns the next one missing.
    pub fn run_from(&mut self, mut expected: u32) -> u32 {
        while self.count > 0 {
            let (word, bit) = self.place(expected);
            if self.words[word] & bit == 0 {
                return expected;
            }
            self.words[word] &= !bit;
            self.count -= 1;
            expected += 1;
        }
        self.words = Vec::new();
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_kept_in_any_order_leave_in_order() {
        for start in [0, 63, 64, 1_000_003] {
            let mut bitmap = ReceivedBitmap::default();
            for psn in [3, 1, 130, 2, 700] {
                assert!(bitmap.insert(start, start + psn));
                assert!(!bitmap.insert(start, start + psn), "a second copy is no event");
            }
            assert_eq!(bitmap.count, 5);
            assert_eq!(bitmap.run_from(start + 1), start + 4, "1 to 3 are here, 4 is missing");
            for psn in (4..700).filter(|psn| *psn != 130) {
                assert!(bitmap.insert(start + 4, start + psn) || psn == 4);
            }
            assert_eq!(bitmap.run_from(start + 4), start + 701);
            assert!(bitmap.words.is_empty(), "no gap, no memory");
        }
    }

    #[test]
    fn gaps_are_found_below_the_highest_packet() {
        for start in [0, 60, 1_000_003] {
            let mut bitmap = ReceivedBitmap::default();
            assert_eq!((bitmap.first_missing(start), bitmap.highest()), (None, None));
            for psn in (1..200).filter(|psn| ![7, 130].contains(psn)) {
                bitmap.insert(start, start + psn);
            }
            assert_eq!(bitmap.highest(), Some(start + 199));
            assert_eq!(bitmap.first_missing(start + 1), Some(start + 7));
            assert_eq!(bitmap.first_missing(start + 8), Some(start + 130));
            assert_eq!(bitmap.first_missing(start + 131), None);
            assert!(bitmap.contains(start + 129) && !bitmap.contains(start + 130) && !bitmap.contains(start + 999));
            assert_eq!(bitmap.word_from(start + 1), !(1 << 6));
            assert_eq!(bitmap.word_from(start + 128), !(1 << 2));
            assert_eq!(bitmap.word_from(start + 190), (1 << 10) - 1);
            assert_eq!(bitmap.word_from(start + 200), 0);
            bitmap.forget(start, start + 131);
            assert_eq!((bitmap.count(), bitmap.first_missing(start + 131)), (69, None));
            bitmap.forget(start + 131, start + 300);
            assert!(bitmap.is_empty() && bitmap.words.is_empty());
        }
    }

    #[test]
    fn what_is_too_far_ahead_is_not_kept() {
        let mut bitmap = ReceivedBitmap::default();
        assert!(!bitmap.insert(5, 5 + KEPT_MOST));
        assert!(bitmap.insert(5, 4 + KEPT_MOST));
        assert_eq!((bitmap.count, bitmap.run_from(6)), (1, 6));
    }
}
