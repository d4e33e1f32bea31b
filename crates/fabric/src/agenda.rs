//! What is to happen: the event queue, and the order of events at one instant.

use crate::plan::Ties;
use xoff_engine::{EventQueue, Key, Time};

/// The events of a run, in one of two orders ([`Ties`]).
pub struct Agenda {
    events: EventQueue,
    /// Events scheduled so far, where they take turns.
    turn: Option<u64>,
}

impl Agenda {
    pub fn new(ties: Ties) -> Agenda {
        Agenda { events: EventQueue::default(), turn: (ties == Ties::Scheduled).then_some(0) }
    }

    #[inline]
    pub fn push(&mut self, at: Time, kind: u8, index: u32) {
        let key = match &mut self.turn {
            None => Key::new(at, kind, index),
            Some(turn) => {
                *turn += 1;
                Key::in_turn(at, *turn, kind, index)
            }
        };
        self.events.push(key);
    }

    /// The next event: when, of which kind, about what.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, u8, u32)> {
        let key = self.events.pop()?;
        let (kind, index) = if self.turn.is_none() { (key.kind(), key.index()) } else { key.in_turn_parts() };
        Some((key.time(), kind, index))
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether fetching ahead pays; only keys that are ordered by what they are can be read ahead.
    pub fn is_large(&self) -> bool {
        self.turn.is_none() && self.events.is_large()
    }

    #[inline]
    pub fn take_fresh(&mut self) -> bool {
        self.events.take_fresh()
    }

    /// Events of the current bucket, the next one last.
    #[inline]
    pub fn upcoming(&self) -> &[Key] {
        self.events.upcoming()
    }
}
