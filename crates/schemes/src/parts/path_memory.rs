//! What a sender remembers of each path of its flow: for schemes that compare an ACK with the one before it, where
//! packets take several paths and ACKs of two paths must not be compared.

use xoff_engine::{Span, Time};

/// Paths that are remembered. Of more, those whose last ACK is oldest are forgotten.
const MOST: usize = 64;

/// Values of paths, each with the time of the last ACK.
#[derive(Clone, Debug)]
pub struct PathMemory<T> {
    paths: Vec<(u32, Time, T)>,
}

impl<T> Default for PathMemory<T> {
    fn default() -> Self {
        PathMemory { paths: Vec::new() }
    }
}

impl<T> PathMemory<T> {
    /// The value of a path that an ACK tells of; `None` if the path is not known.
    pub fn of(&mut self, path: u32, now: Time) -> Option<&mut T> {
        let (_, acked, value) = self.paths.iter_mut().find(|(known, ..)| *known == path)?;
        *acked = now;
        Some(value)
    }

    /// Begins to remember a path.
    pub fn add(&mut self, path: u32, now: Time, value: T) {
        let oldest = (0..self.paths.len()).min_by_key(|&place| self.paths[place].1);
        match oldest.filter(|_| self.paths.len() >= MOST) {
            Some(oldest) => self.paths[oldest] = (path, now, value),
            None => self.paths.push((path, now, value)),
        }
    }

    /// Takes `value` for the value of a path; returns the one before.
    pub fn replace(&mut self, path: u32, now: Time, value: T) -> Option<T> {
        match self.of(path, now) {
            Some(known) => Some(std::mem::replace(known, value)),
            None => {
                self.add(path, now, value);
                None
            }
        }
    }

    /// Forgets paths without an ACK for so long.
    pub fn forget(&mut self, now: Time, after: Span) {
        self.paths.retain(|(_, acked, _)| now.saturating_since(*acked) <= after);
    }

    /// Values of the paths with an ACK within so long.
    pub fn acked_within(&self, now: Time, span: Span) -> impl Iterator<Item = &T> {
        let recent = self.paths.iter().filter(move |(_, acked, _)| now.saturating_since(*acked) <= span);
        recent.map(|(.., value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_four_paths_are_remembered_the_latest_ones() {
        let mut memory = PathMemory::default();
        for path in 0..70_u32 {
            assert_eq!(memory.replace(path, Time::from_us(path.into()), path), None);
        }
        assert_eq!(memory.replace(69, Time::from_us(70), 1), Some(69));
        assert_eq!(memory.replace(69, Time::from_us(71), 2), Some(1));
        assert_eq!(memory.of(5, Time::from_us(71)), None, "one of the six that made room");
        assert_eq!(memory.acked_within(Time::from_us(71), Span::from_us(4)).count(), 3, "paths 67, 68 and 69");
        memory.forget(Time::from_us(71), Span::from_us(4));
        assert_eq!(memory.of(60, Time::from_us(71)), None);
        assert_eq!(memory.of(68, Time::from_us(71)), Some(&mut 68));
    }
}
