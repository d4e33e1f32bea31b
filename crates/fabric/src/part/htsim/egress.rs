//! The queues of a port of a switch: data, and control before it.
//!
//! A frame stays in its queue until it has left. Data that finds no room tosses a coin: it is trimmed, or the newest in the
//! queue is, which makes room for it. Marks are set when a frame has left, by what is left then.

use super::{Frame, HEADER, What, happens};
use crate::contract::scheme::Scheme;
use crate::id::{PortId, QueueId};
use crate::node::port::TO_HOST;
use crate::part::Part;
use std::collections::VecDeque;
use xoff_engine::{SharedTwister, Span, Time};

/// How long a level holds ([`Egress::level`]).
const LEVEL_HOLDS: Span = Span::from_ns(100);
/// Marks are drawn from numbers of 31 bits.
const ALL: u64 = 0x7fff_ffff;

/// Queues of one egress.
#[derive(Default)]
pub(super) struct Egress {
    pub data: VecDeque<Frame>,
    pub control: VecDeque<Frame>,
    data_bytes: u64,
    control_bytes: u64,
    /// Which of both is being served.
    pub serves: Option<Serves>,
    /// Most bytes of data, and half of those of control.
    limit_bytes: u64,
    marks_above: u64,
    marks_all_above: u64,
    level: u8,
    level_at: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Serves {
    Data,
    Control,
}

/// What becomes of a data frame that asks for room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    Enters,
    /// The newest in the queue is trimmed for it.
    Replaces,
    Trimmed,
}

impl Egress {
    pub fn new(limit_bytes: u64, [marks_above, marks_all_above]: [u64; 2]) -> Egress {
        Egress { limit_bytes, marks_above, marks_all_above, ..Egress::default() }
    }

    /// Whether a data frame enters.
    pub fn room(&self, bytes: u16, random: &SharedTwister) -> Room {
        if self.data_bytes + u64::from(bytes) <= self.limit_bytes {
            Room::Enters
        } else if random.coin() && !self.data.is_empty() {
            Room::Replaces
        } else {
            Room::Trimmed
        }
    }

    pub fn enter(&mut self, frame: Frame) {
        self.data_bytes += u64::from(frame.bytes);
        self.data.push_back(frame);
    }

    /// The newest data frame, taken out.
    pub fn take_newest(&mut self) -> Option<Frame> {
        let frame = self.data.pop_back()?;
        self.data_bytes -= u64::from(frame.bytes);
        Some(frame)
    }

    /// A control frame enters, if there is room.
    pub fn enter_control(&mut self, frame: Frame) -> bool {
        let fits = self.control_bytes + u64::from(frame.bytes) <= 2 * self.limit_bytes;
        if fits {
            self.control_bytes += u64::from(frame.bytes);
            self.control.push_back(frame);
        }
        fits
    }

    /// The frame to serve next, if there is one: it stays.
    pub fn begin(&mut self) -> Option<u16> {
        let (serves, frame) = match (self.control.front(), self.data.front()) {
            (Some(frame), _) => (Serves::Control, frame),
            (None, Some(frame)) => (Serves::Data, frame),
            (None, None) => return None,
        };
        self.serves = Some(serves);
        Some(frame.bytes)
    }

    /// The frame that was served, and whether it is marked anew.
    pub fn finish(&mut self, random: &SharedTwister) -> Option<(Frame, bool)> {
        match self.serves.take()? {
            Serves::Control => {
                let frame = self.control.pop_front()?;
                self.control_bytes -= u64::from(frame.bytes);
                Some((frame, false))
            }
            Serves::Data => {
                let mut frame = self.data.pop_front()?;
                self.data_bytes -= u64::from(frame.bytes);
                let marks = self.marks(random) && !frame.marked;
                frame.marked |= marks;
                Some((frame, marks))
            }
        }
    }

    fn marks(&self, random: &SharedTwister) -> bool {
        let (low, high, bytes) = (self.marks_above, self.marks_all_above, self.data_bytes);
        if bytes > high {
            return true;
        }
        bytes > low && u64::from(random.draw()) < ALL * (bytes - low) / (high - low)
    }

    /// Load in four levels. A level older than [`LEVEL_HOLDS`] is computed anew.
    pub fn level(&mut self, now: Time) -> u8 {
        if now.saturating_since(self.level_at) > LEVEL_HOLDS {
            let (bytes, limit) = (self.data_bytes + self.control_bytes, self.limit_bytes);
            let above = |percent: u64| u8::from(100 * bytes >= percent * limit);
            (self.level, self.level_at) = (above(5) + above(10) + above(20), now);
        }
        self.level
    }
}

impl<S: Scheme> Part<S> {
    /// A frame is at its egress of a switch.
    pub(super) fn htsim_enqueue(&mut self, port: PortId, frame: Frame) {
        if !matches!(frame.what, What::Data | What::Probe) {
            return self.htsim_enqueue_control(port, frame);
        }
        let dialect = self.dialect();
        let egress = &mut dialect.egresses[port];
        match egress.room(frame.bytes, &dialect.random) {
            Room::Enters => egress.enter(frame),
            Room::Replaces => {
                let newest = egress.take_newest();
                if let Some(newest) = newest {
                    self.htsim_cut(port, newest);
                }
                self.dialect().egresses[port].enter(frame);
            }
            Room::Trimmed => return self.htsim_cut(port, frame),
        }
        self.htsim_serve(port);
    }

    /// A data frame loses its payload, or is lost.
    fn htsim_cut(&mut self, port: PortId, frame: Frame) {
        self.counters.data_packets_discarded += u64::from(frame.what == What::Data);
        if !self.dialect().trims {
            return self.htsim_drop(port, &frame);
        }
        self.counters.packets_trimmed += 1;
        let last_hop = self.links.ports[port].has(TO_HOST);
        self.htsim_enqueue_control(port, Frame { what: What::Trimmed, bytes: HEADER, last_hop, ..frame });
    }

    fn htsim_enqueue_control(&mut self, port: PortId, frame: Frame) {
        if self.dialect().egresses[port].enter_control(frame) {
            self.htsim_serve(port);
        } else {
            self.htsim_drop(port, &frame);
        }
    }

    fn htsim_drop(&mut self, port: PortId, frame: &Frame) {
        self.dialect().slips.put_back(frame);
        self.counters.drops_lossy += 1;
        self.egress.history_mut(QueueId::of(port, 0, self.classes)).drops += 1;
    }

    /// Serves a port that is not being served.
    fn htsim_serve(&mut self, port: PortId) {
        let egress = &mut self.dialect().egresses[port];
        if egress.serves.is_some() {
            return;
        }
        if let Some(bytes) = egress.begin() {
            let at = self.now + self.htsim_serialise(port, bytes);
            self.schedule(at, happens::SENT, port.get());
        }
    }

    /// A frame has left the queue of a port.
    pub(super) fn htsim_sent(&mut self, port: PortId) {
        if self.links.ports[port].has(crate::node::port::AT_HOST) {
            return self.htsim_host_sent(port);
        }
        let dialect = self.dialect();
        let Some((frame, marked)) = dialect.egresses[port].finish(&dialect.random) else { return };
        self.counters.marks += u64::from(marked);
        self.htsim_enter_wire(port, frame);
        self.htsim_serve(port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(psn: u32, bytes: u16) -> Frame {
        let what = if bytes == HEADER { What::Ack } else { What::Data };
        Frame::new(0, what, (psn, bytes), 0)
    }

    fn egress() -> Egress {
        Egress { limit_bytes: 8300, marks_above: 4150, marks_all_above: 8300, ..Egress::default() }
    }

    #[test]
    fn what_is_served_still_takes_room_and_a_coin_decides_who_is_trimmed() {
        let random = SharedTwister::new(5489);
        let mut egress = egress();
        for psn in 0..2 {
            assert_eq!(egress.room(4150, &random), Room::Enters);
            egress.enter(frame(psn, 4150));
        }
        assert_eq!(egress.begin(), Some(4150));
        // The first numbers are 1,351,727,964 and 581,869,302: above and below a half.
        assert_eq!([egress.room(4150, &random), egress.room(4150, &random)], [Room::Trimmed, Room::Replaces]);
        assert_eq!(egress.take_newest().map(|frame| frame.psn), Some(1));
        assert_eq!(egress.room(4150, &random), Room::Enters);
    }

    #[test]
    fn control_is_first_and_has_twice_the_room() {
        let mut egress = egress();
        egress.enter(frame(0, 4150));
        assert!((0..259).all(|psn| egress.enter_control(frame(psn, HEADER))));
        assert!(!egress.enter_control(frame(259, HEADER)));
        assert_eq!((egress.begin(), egress.serves), (Some(HEADER), Some(Serves::Control)));
    }

    #[test]
    fn marks_are_set_by_what_is_left() {
        let random = SharedTwister::new(5489);
        let mut egress = Egress { limit_bytes: 20_000, ..egress() };
        (0..4).for_each(|psn| egress.enter(frame(psn, 4150)));
        let mut next = || {
            egress.begin();
            egress.finish(&random).map(|(_, marked)| marked)
        };
        // 12,450 bytes are left: more than all; 8300: any number is below; 4150: not more than none.
        assert_eq!([next(), next(), next(), next(), next()], [Some(true), Some(true), Some(false), Some(false), None]);
    }

    #[test]
    fn levels_are_old_for_a_while() {
        let mut egress = Egress { limit_bytes: 100_000, ..egress() };
        egress.enter(frame(0, 11_000));
        assert_eq!(egress.level(Time::from_ps(100_000)), 0, "as at the start");
        assert_eq!(egress.level(Time::from_ps(100_001)), 2);
        egress.enter(frame(1, 11_000));
        assert_eq!([egress.level(Time::from_ps(200_001)), egress.level(Time::from_ps(200_002))], [2, 3]);
    }
}
