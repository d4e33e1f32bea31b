//! The sending end of a flow: a window in bytes on the wire, packets resent one by one, a timer for the oldest.

use super::host_queue::Level;
use super::sleek::Sleek;
use super::timers::Timers;
use super::{Frame, HEADER, What};
use crate::contract::forwarding::PathChoice;
use crate::contract::scheme::{OnWire, ReactionPoint, RoundTrip, Scheme, WireWindow};
use crate::id::{HostId, SenderId};
use crate::network::forwarding::PathMachine;
use crate::part::Part;
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};

/// Packet that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub at: Time,
    /// Number of its departure: several may leave at one instant.
    order: u64,
    pub bytes: u16,
}

/// Sender of one flow.
pub(super) struct Sender {
    /// The flow among those of the part, until it has ended.
    pub id: SenderId,
    pub over: bool,
    /// What hashes know it by; answers have the next number.
    pub number: u64,
    pub host: HostId,
    pub to: HostId,
    /// Packets of data, and those that were never sent.
    pub packets: u32,
    pub unsent: u32,
    pub full_bytes: u16,
    last_bytes: u16,
    /// Number of the next packet; requests have numbers too.
    pub next: u32,
    pub requests: u32,
    requested_at: Option<Time>,
    pub in_flight: i64,
    /// Bytes that the receiver has reported.
    pub reported: u64,
    pub resend: BTreeMap<u32, u16>,
    pub sent: BTreeMap<u32, Sent>,
    departures: BTreeMap<(Time, u64), u32>,
    departed: u64,
    /// How often packets were sent again.
    resent: BTreeMap<u32, u32>,
    pub timers: Timers,
    /// Waits for a turn at the NIC.
    waits: bool,
    /// An answer has come, or several packets were held for lost.
    pub answered: bool,
    pub sleek: Option<Sleek>,
    pub entropies: Entropies,
    /// The window that it ended with.
    pub last_window: WireWindow,
}

/// The paths of a flow, and how the next is chosen.
pub(super) struct Entropies {
    pub machine: PathMachine,
    pub paths: u16,
    /// Bits that all entropies have.
    pub upper: u16,
}

/// What a sender is made of.
pub(super) struct Beginning {
    pub id: SenderId,
    pub number: u64,
    pub host: HostId,
    pub to: HostId,
    pub packets: u32,
    pub full_bytes: u16,
    pub last_bytes: u16,
    pub timers: Timers,
    pub sleeks: bool,
    pub entropies: Entropies,
}

impl Sender {
    pub fn new(of: Beginning) -> Sender {
        Sender {
            id: of.id,
            over: false,
            number: of.number,
            host: of.host,
            to: of.to,
            packets: of.packets,
            unsent: of.packets,
            full_bytes: of.full_bytes,
            last_bytes: of.last_bytes,
            next: 0,
            requests: 0,
            requested_at: None,
            in_flight: 0,
            reported: 0,
            resend: BTreeMap::new(),
            sent: BTreeMap::new(),
            departures: BTreeMap::new(),
            departed: 0,
            resent: BTreeMap::new(),
            timers: of.timers,
            waits: false,
            answered: false,
            sleek: of.sleeks.then(Sleek::default),
            entropies: of.entropies,
            last_window: NO_WINDOW,
        }
    }

    fn has_data(&self) -> bool {
        self.unsent > 0 || !self.resend.is_empty()
    }

    /// Size of the packet that would leave next.
    fn next_bytes(&self) -> u16 {
        match self.resend.first_key_value() {
            Some((_, &bytes)) => bytes,
            None if self.unsent > 1 => self.full_bytes,
            None if self.unsent == 1 => self.last_bytes,
            None => HEADER,
        }
    }

    /// Whether a window has room for so many bytes more.
    pub fn has_room(&self, bytes: u16, window: WireWindow) -> bool {
        self.in_flight + i64::from(bytes) <= window.bytes as i64
    }

    /// Whether the next packet may leave, if there is one. One that is resent while the flow recovers may at any time.
    fn may_send(&self, window: WireWindow) -> bool {
        let freely = self.recovers() && !self.resend.is_empty();
        self.has_data() && (freely || self.has_room(self.next_bytes(), window))
    }

    /// SLEEK has it recover.
    pub fn recovers(&self) -> bool {
        self.sleek.as_ref().is_some_and(Sleek::recovers)
    }

    pub fn entropy(&mut self, now: Time, psn: u32) -> u16 {
        self.entropies.machine.pick(now, psn, self.entropies.paths) | self.entropies.upper
    }

    fn note_sent(&mut self, now: Time, psn: u32, bytes: u16) {
        self.departed += 1;
        self.sent.insert(psn, Sent { at: now, order: self.departed, bytes });
        self.departures.insert((now, self.departed), psn);
    }

    /// Departure of the oldest packet that a timer may run for.
    pub fn oldest(&self) -> Option<Time> {
        self.departures.first_key_value().map(|(&(at, _), _)| at)
    }

    /// That packet, for which no timer is to run any more.
    pub fn take_oldest(&mut self) -> Option<(u32, Sent)> {
        let (_, psn) = self.departures.pop_first()?;
        Some((psn, *self.sent.get(&psn)?))
    }

    /// A packet is under way no more.
    pub fn forget(&mut self, psn: u32) -> Option<Sent> {
        let sent = self.sent.remove(&psn)?;
        self.departures.remove(&(sent.at, sent.order));
        Some(sent)
    }

    /// The first packet under way of those from a number up to another.
    pub fn first_sent(&self, from: u32, to: u32) -> Option<u32> {
        let range = from..to.max(from);
        self.sent.range(range).next().map(|(psn, _)| *psn)
    }

    pub fn was_resent(&self, psn: u32) -> bool {
        self.resent.contains_key(&psn)
    }

    /// The first packet that is to be sent again, taken out if it is below a number: its size.
    pub fn take_resend_below(&mut self, psn: u32) -> Option<u16> {
        let first = self.resend.first_entry().filter(|first| *first.key() < psn)?;
        Some(first.remove())
    }

    /// The round trip of a packet, if what answers it can be the answer to its last copy; or that of a probe, if this
    /// answers the last.
    pub fn round_trip(&self, now: Time, ack: &Frame) -> RoundTrip {
        if ack.report.of_probe {
            let answered = self.sleek.as_ref().and_then(|sleek| sleek.probe_round_trip(now, ack));
            return answered.map_or(RoundTrip::Unknown, RoundTrip::OfProbe);
        }
        let resent = self.resent.get(&ack.psn).copied().unwrap_or(0);
        match self.sent.get(&ack.psn).filter(|_| resent == u32::from(ack.resent)) {
            None => RoundTrip::Unknown,
            Some(sent) if ack.report.of_request => RoundTrip::OfRequest(now - sent.at),
            Some(sent) => RoundTrip::OfData(now - sent.at),
        }
    }
}

/// What a reaction point has that keeps no window in bytes on the wire.
const NO_WINDOW: WireWindow = WireWindow {
    bytes: u32::MAX as u64,
    most_bytes: u32::MAX as u64,
    network_rtt: Span::ZERO,
    base_rtt: Span::ZERO,
    target: Span::ZERO,
    mean_delay: Span::ZERO,
};

impl<S: Scheme> Part<S> {
    pub(super) fn htsim_sender(&mut self, flow: u32) -> &mut Sender {
        &mut self.dialect().senders[flow as usize]
    }

    pub(super) fn htsim_window(&mut self, flow: u32) -> WireWindow {
        let sender = self.htsim_sender(flow);
        if sender.over {
            return sender.last_window;
        }
        let id = sender.id;
        self.flows.senders[id].rp.wire_window().unwrap_or(NO_WINDOW)
    }

    pub(super) fn htsim_tell(&mut self, flow: u32, what: &OnWire) {
        let id = self.htsim_sender(flow).id;
        self.flows.senders[id].rp.on_wire(self.now, what);
    }

    /// Sends if the window and the NIC allow it.
    pub(super) fn htsim_try(&mut self, flow: u32) {
        let window = self.htsim_window(flow);
        let sender = self.htsim_sender(flow);
        if sender.waits || !sender.may_send(window) {
            return;
        }
        let host = sender.host;
        if self.htsim_request_nic(host, flow) {
            self.htsim_go(flow);
        } else {
            self.htsim_sender(flow).waits = true;
        }
    }

    /// A flow has its turn at the NIC.
    pub(super) fn htsim_turn(&mut self, flow: u32) {
        let window = self.htsim_window(flow);
        let sender = self.htsim_sender(flow);
        sender.waits = false;
        let host = sender.host;
        if sender.over || !sender.may_send(window) {
            return self.htsim_pass_nic(host);
        }
        self.htsim_go(flow);
    }

    /// Sends a packet, and waits for its next turn if it has more.
    fn htsim_go(&mut self, flow: u32) {
        let bytes = self.htsim_send(flow);
        let host = self.htsim_sender(flow).host;
        self.htsim_start_nic(host, bytes);
        let window = self.htsim_window(flow);
        let sender = self.htsim_sender(flow);
        if sender.may_send(window) {
            sender.waits = true;
            self.htsim_request_nic(host, flow);
        }
    }

    /// Sends the first packet that is to be sent again, or the next.
    fn htsim_send(&mut self, flow: u32) -> u16 {
        let (now, window) = (self.now, self.htsim_window(flow));
        let sender = self.htsim_sender(flow);
        let (psn, bytes, resent) = match sender.resend.pop_first() {
            Some((psn, bytes)) => (psn, bytes, true),
            None => (sender.next, sender.next_bytes(), false),
        };
        if resent {
            *sender.resent.entry(psn).or_default() += 1;
        } else {
            sender.next += 1;
            sender.unsent -= 1;
        }
        sender.in_flight += i64::from(bytes);
        let entropy = sender.entropy(now, psn);
        let asks = resent || sender.unsent == 0 || sender.in_flight + i64::from(bytes) >= window.bytes as i64;
        sender.note_sent(now, psn, bytes);
        let level = if sender.answered || resent { Level::Data } else { Level::Unanswered };
        let (host, number) = (sender.host, sender.number);
        let frame = Frame::new(flow, What::Data, (psn, bytes), entropy);
        self.htsim_arm(flow, now);
        self.htsim_tell(flow, &OnWire::Sent(bytes.into()));
        self.htsim_count_sent(flow, bytes, resent);
        self.htsim_host_send(host, level, number, Frame { asks, resent, ..frame });
        bytes
    }

    fn htsim_count_sent(&mut self, flow: u32, bytes: u16, resent: bool) {
        let id = self.htsim_sender(flow).id;
        let sender = &mut self.flows.senders[id];
        sender.sent_wire_bytes += u64::from(bytes);
        sender.packets_sent += 1;
        self.counters.data_packets_sent += 1;
        self.counters.data_packets_retransmitted += u64::from(resent);
        self.flows.details[id].packets_retransmitted += u64::from(resent);
    }

    /// Sends a request, at most once per base round trip.
    pub(super) fn htsim_ask(&mut self, flow: u32, network_rtt: Span) {
        let now = self.now;
        let sender = self.htsim_sender(flow);
        if sender.requested_at.is_some_and(|at| now - at < network_rtt) {
            return;
        }
        let psn = sender.next;
        sender.next += 1;
        sender.requests += 1;
        sender.requested_at = Some(now);
        sender.note_sent(now, psn, HEADER);
        let entropy = sender.entropy(now, psn);
        let host = sender.host;
        self.htsim_arm(flow, now);
        let frame = Frame::new(flow, What::Request, (psn, HEADER), entropy);
        self.htsim_control(host, Frame { asks: true, ..frame });
    }
}
