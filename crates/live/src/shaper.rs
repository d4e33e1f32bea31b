//! The queues of shaped flows, with the machines that set their rates.

use crate::egress::QueuedFrame;
use crate::network::TIDY_FROM;
use std::collections::{HashMap, VecDeque};
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::Transit;

/// One flow's queue and machine.
#[derive(Debug)]
pub(crate) struct Shaped<T> {
    pub(crate) machine: T,
    /// Local number of its egress, and its class.
    pub(crate) egress: usize,
    pub(crate) class: u8,
    pub(crate) frames: VecDeque<QueuedFrame>,
    pub(crate) bytes: u64,
    pub(crate) last_at: Time,
    pub(crate) last_wire_bytes: u32,
    pub(crate) due: Time,
    /// It stands in line at its egress.
    pub(crate) waits: bool,
    pub(crate) came_at: Time,
}

impl<T: Transit> Shaped<T> {
    /// When its next frame may go: the gap follows the rate of now.
    pub(crate) fn next_at(&self) -> Time {
        let gap_ps = f64::from(self.last_wire_bytes) * 8e12 / self.machine.rate_bps().max(1.0);
        self.last_at.saturating_add(Span::from_ps(gap_ps as u64))
    }
}

/// The shaped flows of a switch, by number.
#[derive(Debug)]
pub struct Shapers<T> {
    pub(crate) flows: HashMap<u32, Shaped<T>>,
    /// Flows that stand in line, by egress and class.
    pub(crate) lines: HashMap<(usize, u8), VecDeque<u32>>,
    /// Flows at which they are gone through for old ones.
    tidy_at: usize,
}

impl<T> Default for Shapers<T> {
    fn default() -> Self {
        Shapers { flows: HashMap::new(), lines: HashMap::new(), tidy_at: 0 }
    }
}

impl<T> Shapers<T> {
    /// Forgets flows of which nothing came for a while, if there are many.
    pub(crate) fn tidy(&mut self, now: Time, lasts: Span) {
        if self.flows.len() > self.tidy_at.max(TIDY_FROM) {
            let old = |shaped: &Shaped<T>| shaped.frames.is_empty() && now.saturating_since(shaped.came_at) > lasts;
            self.flows.retain(|_, shaped| !old(shaped));
            self.tidy_at = self.flows.len() * 2;
        }
    }

    pub fn bytes_for(&self, egress: usize) -> u64 {
        self.flows.values().filter(|shaped| shaped.egress == egress).map(|shaped| shaped.bytes).sum()
    }

    pub fn bytes_of(&self, flow: u32) -> Option<u64> {
        self.flows.get(&flow).map(|shaped| shaped.bytes)
    }
}
