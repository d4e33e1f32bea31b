//! A port as it is at an instant, without touching it: what it has done so far, and what waits.

use crate::contract::scheme::Scheme;
use crate::id::PortId;
use crate::network::pfc::BYTE_PS;
use crate::node::port::{MARKED_OR_RESUMED, Port};
use crate::part::Part;
use xoff_engine::{Span, Time};

/// What a port has done since the start.
#[derive(Clone, Copy, Default)]
pub(crate) struct PortCounts {
    /// Wire bytes sent, of the frame on its way out those that have left.
    pub tx_bytes: u64,
    /// Of the class that was stopped longest.
    pub paused: Span,
    /// Of all classes.
    pub marks: u64,
}

impl<S: Scheme> Part<S> {
    /// Whether a port has done nothing since it was last seen, when [`Part::note_seen`] gave `sent`. Reads one cache line.
    #[inline]
    pub(crate) fn is_as_idle(&self, id: PortId, sent: u64) -> bool {
        let port = &self.links.ports[id];
        // One branch: this is asked of every port at the end of every window.
        let done = (port.tx_bytes ^ sent) | u64::from(port.flags & MARKED_OR_RESUMED);
        done | Self::held(port) == 0
    }

    /// What a port with these counts has sent in all; [`u64::MAX`] if it has something on its way out, waiting or paused.
    pub(crate) fn note_seen(&mut self, id: PortId, counts: &PortCounts) -> u64 {
        let port = &mut self.links.ports[id];
        port.flags &= !MARKED_OR_RESUMED;
        let idle = counts.tx_bytes == port.tx_bytes && Self::held(port) == 0;
        if idle { port.tx_bytes } else { u64::MAX }
    }

    /// Zero if nothing waits at a port and it is not paused.
    #[inline]
    fn held(port: &Port) -> u64 {
        port.queued_bytes | u64::from(port.waiting | port.paused)
    }

    /// Counts until `now`, before which nothing is left to happen, and bytes waiting in all its queues.
    pub(crate) fn port_counts(&self, id: PortId, now: Time) -> (PortCounts, u64) {
        let port = &self.links.ports[id];
        let mut counts = PortCounts { tx_bytes: self.sent_bytes(id, now), ..PortCounts::default() };
        let mut queue_bytes = 0;
        for class in 0..self.classes as u8 {
            let (queue, history) = (self.queue(id, class), self.history(id, class));
            let open = if port.paused & (1 << class) != 0 { now - history.paused_since } else { Span::ZERO };
            counts.paused = counts.paused.max(history.paused_total + open);
            counts.marks += queue.marks;
            queue_bytes += queue.bytes;
        }
        (counts, queue_bytes)
    }

    /// Wire bytes that a port has sent: of the frame on its way out those that have left.
    pub(crate) fn sent_bytes(&self, id: PortId, now: Time) -> u64 {
        let unsent = self.unsent(id, now);
        // Rounded up: a byte begun is not sent. Most often 64 bits hold it, which are divided much faster.
        let unsent = match u64::try_from(unsent) {
            Ok(few) => few.div_ceil(BYTE_PS as u64),
            Err(_) => unsent.div_ceil(BYTE_PS) as u64,
        };
        self.links.ports[id].tx_bytes.saturating_sub(unsent)
    }

    /// What a port has sent, in bits times 10^12: divided by picoseconds it is a rate in bits per second.
    pub(crate) fn sent_exactly(&self, id: PortId, now: Time) -> u128 {
        (u128::from(self.links.ports[id].tx_bytes) * BYTE_PS).saturating_sub(self.unsent(id, now))
    }

    /// What has not left of the frame on its way out, in bits times 10^12.
    fn unsent(&self, id: PortId, now: Time) -> u128 {
        let port = &self.links.ports[id];
        let left = port.busy_until.saturating_since(now);
        if left == Span::ZERO {
            return 0;
        }
        // A frame keeps the rate that it was begun with.
        let begun = self.watch.begun.get(&id).filter(|(until, _)| *until == port.busy_until);
        let rate = begun.map_or_else(|| self.links.link_types.of(port).rate.rate(), |(_, rate)| *rate);
        u128::from(rate.bps()) * u128::from(left.ps())
    }
}
