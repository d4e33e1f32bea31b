//! The queue between a NIC and its link: three levels, one strictly before the other.
//!
//! Control comes first, then data, then data that was sent before the first answer to its flow. Within a level, flows take
//! turns by their numbers.

use super::{Frame, happens};
use crate::contract::scheme::Scheme;
use crate::id::{HostId, PortId};
use crate::part::Part;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// Its levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    Control,
    Data,
    Unanswered,
}

/// Queue of one host.
#[derive(Default)]
pub(super) struct HostQueue {
    levels: [Turns; 3],
    /// The frame that is being sent.
    sending: Option<Frame>,
}

/// Frames of one level.
#[derive(Default)]
struct Turns {
    /// Frames of each flow, keyed by its number; no list is empty.
    flows: BTreeMap<u64, VecDeque<Frame>>,
    /// Flow that was served last.
    last: Option<u64>,
}

impl Turns {
    fn next(&mut self) -> Option<Frame> {
        let after = self.last.and_then(|last| self.flows.range((Bound::Excluded(last), Bound::Unbounded)).next());
        let flow = *after.or_else(|| self.flows.iter().next())?.0;
        let frames = self.flows.get_mut(&flow)?;
        let frame = frames.pop_front();
        if frames.is_empty() {
            self.flows.remove(&flow);
        }
        self.last = Some(flow);
        frame
    }
}

impl HostQueue {
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let waiting = self.levels.iter().flat_map(|turns| turns.flows.values().flatten());
        self.sending.iter().chain(waiting)
    }

    fn push(&mut self, level: Level, flow: u64, frame: Frame) {
        self.levels[level as usize].flows.entry(flow).or_default().push_back(frame);
    }

    /// Takes the next frame, if none is being sent.
    fn begin(&mut self) -> Option<u16> {
        if self.sending.is_some() {
            return None;
        }
        self.sending = self.levels.iter_mut().find_map(Turns::next);
        self.sending.map(|frame| frame.bytes)
    }
}

impl<S: Scheme> Part<S> {
    /// A frame of a flow, by its number, goes to the link of a host.
    pub(super) fn htsim_host_send(&mut self, host: HostId, level: Level, flow: u64, frame: Frame) {
        self.dialect().host_queues[host].push(level, flow, frame);
        self.htsim_host_serve(host);
    }

    fn htsim_host_serve(&mut self, host: HostId) {
        if let Some(bytes) = self.dialect().host_queues[host].begin() {
            let port = self.hosts[host].port;
            let at = self.now + self.htsim_serialise(port, bytes);
            self.schedule(at, happens::SENT, port.get());
        }
    }

    /// A frame has left the queue of a host.
    pub(super) fn htsim_host_sent(&mut self, port: PortId) {
        let host = self.links.ports[port].host();
        let Some(frame) = self.dialect().host_queues[host].sending.take() else { return };
        self.htsim_enter_wire(port, frame);
        self.htsim_host_serve(host);
    }
}

#[cfg(test)]
mod tests {
    use super::super::What;
    use super::*;

    #[test]
    fn levels_are_strict_and_flows_take_turns() {
        let mut queue = HostQueue::default();
        let frame = |psn| Frame::new(0, What::Data, (psn, 4150), 0);
        for (level, flow, psn) in [
            (Level::Unanswered, 1, 9),
            (Level::Data, 3, 1),
            (Level::Data, 3, 2),
            (Level::Data, 5, 3),
            (Level::Data, 1, 4),
            (Level::Control, 7, 0),
        ] {
            queue.push(level, flow, frame(psn));
        }
        let mut order = Vec::new();
        while queue.begin().is_some() {
            order.extend(queue.sending.take().map(|frame| frame.psn));
        }
        assert_eq!(order, [0, 4, 1, 3, 2, 9]);
    }
}
