//! The sending end of a flow: a window in bytes on the wire, packets resent one by one, a timer for the oldest.

use super::host_queue::Level;
use super::{Frame, HEADER, Report, What, happens};
use crate::contract::forwarding::{Loss, PathChoice};
use crate::contract::packet::Ecn;
use crate::contract::scheme::{OnWire, ReactionPoint, Scheme, WireWindow};
use crate::flow::pacing::SendState;
use crate::id::{HostId, SenderId};
use crate::network::forwarding::PathMachine;
use crate::part::Part;
use std::collections::{BTreeMap, HashMap};
use xoff_engine::{Span, Time};

/// Packet that is under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    /// Number of its departure: several may leave at one instant.
    order: u64,
    bytes: u16,
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
    packets: u32,
    unsent: u32,
    full_bytes: u16,
    last_bytes: u16,
    /// Number of the next packet; requests have numbers too.
    next: u32,
    requests: u32,
    requested_at: Option<Time>,
    in_flight: i64,
    /// Bytes that the receiver has reported.
    reported: u64,
    resend: BTreeMap<u32, u16>,
    sent: BTreeMap<u32, Sent>,
    departures: BTreeMap<(Time, u64), u32>,
    departed: u64,
    /// How often packets were held for lost.
    losses: HashMap<u32, u32>,
    time_out: Span,
    /// Departure that the timer runs for, and when it runs out.
    timer: Option<(Time, Time)>,
    /// Waits for a turn at the NIC.
    waits: bool,
    answered: bool,
    entropies: Entropies,
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
    pub time_out: Span,
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
            losses: HashMap::new(),
            time_out: of.time_out,
            timer: None,
            waits: false,
            answered: false,
            entropies: of.entropies,
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

    fn fits(&self, bytes: u16, window: WireWindow) -> bool {
        self.in_flight + i64::from(bytes) <= window.bytes as i64
    }

    fn entropy(&mut self, now: Time, psn: u32) -> u16 {
        self.entropies.machine.pick(now, psn, self.entropies.paths) | self.entropies.upper
    }

    fn note_sent(&mut self, now: Time, psn: u32, bytes: u16) {
        self.departed += 1;
        self.sent.insert(psn, Sent { at: now, order: self.departed, bytes });
        self.departures.insert((now, self.departed), psn);
    }

    /// A packet is under way no more.
    fn forget(&mut self, psn: u32) -> Option<Sent> {
        let sent = self.sent.remove(&psn)?;
        self.departures.remove(&(sent.at, sent.order));
        Some(sent)
    }

    fn hold_lost(&mut self, psn: u32, bytes: u16) {
        self.resend.insert(psn, bytes);
        *self.losses.entry(psn).or_default() += 1;
    }

    /// The first packet that is to be sent again, taken out if it is below a number: its size.
    fn take_resend_below(&mut self, psn: u32) -> Option<u16> {
        let first = self.resend.first_entry().filter(|first| *first.key() < psn)?;
        Some(first.remove())
    }

    /// Whether the timer runs for a packet that left then.
    fn is_timed(&self, sent: Sent) -> bool {
        self.timer.is_some_and(|(departure, _)| departure == sent.at)
    }

    /// The round trip of a packet, if what answers it can be the answer to its last copy.
    fn round_trip(&self, now: Time, frame: &Frame) -> Option<Span> {
        let sent = self.sent.get(&frame.psn).filter(|sent| sent.bytes > HEADER)?;
        let losses = self.losses.get(&frame.psn).copied().unwrap_or(0);
        (losses == u32::from(frame.resent)).then(|| now - sent.at)
    }
}

impl<S: Scheme> Part<S> {
    fn htsim_sender(&mut self, flow: u32) -> &mut Sender {
        &mut self.dialect().senders[flow as usize]
    }

    fn htsim_window(&mut self, flow: u32) -> WireWindow {
        let id = self.htsim_sender(flow).id;
        let none = WireWindow { bytes: u64::from(u32::MAX), base_rtt: Span::ZERO };
        self.flows.senders[id].rp.wire_window().unwrap_or(none)
    }

    fn htsim_tell(&mut self, flow: u32, what: &OnWire) {
        let id = self.htsim_sender(flow).id;
        self.flows.senders[id].rp.on_wire(self.now, what);
    }

    /// Sends if the window and the NIC allow it.
    pub(super) fn htsim_try(&mut self, flow: u32) {
        let window = self.htsim_window(flow);
        let sender = self.htsim_sender(flow);
        if sender.waits || !sender.has_data() || !sender.fits(sender.next_bytes(), window) {
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
        let window = self.htsim_window_or_none(flow);
        let sender = self.htsim_sender(flow);
        sender.waits = false;
        let host = sender.host;
        if sender.over || !sender.has_data() || !sender.fits(sender.next_bytes(), window) {
            return self.htsim_pass_nic(host);
        }
        self.htsim_go(flow);
    }

    fn htsim_window_or_none(&mut self, flow: u32) -> WireWindow {
        if self.htsim_sender(flow).over {
            return WireWindow { bytes: 0, base_rtt: Span::ZERO };
        }
        self.htsim_window(flow)
    }

    /// Sends a packet, and waits for its next turn if it has more.
    fn htsim_go(&mut self, flow: u32) {
        let bytes = self.htsim_send(flow);
        let host = self.htsim_sender(flow).host;
        self.htsim_start_nic(host, bytes);
        let window = self.htsim_window(flow);
        let sender = self.htsim_sender(flow);
        if sender.has_data() && sender.fits(sender.next_bytes(), window) {
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
        if !resent {
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

    /// Starts the timer for what left then, unless it runs.
    fn htsim_arm(&mut self, flow: u32, departure: Time) {
        let now = self.now;
        let sender = self.htsim_sender(flow);
        if sender.timer.is_none() {
            let at = (departure + sender.time_out).max(now);
            sender.timer = Some((departure, at));
            self.schedule(at, happens::TIMER, flow);
        }
    }

    /// Starts the timer anew, for the oldest packet under way.
    fn htsim_rearm(&mut self, flow: u32) {
        let sender = self.htsim_sender(flow);
        sender.timer = None;
        if let Some((&(departure, _), _)) = sender.departures.first_key_value() {
            self.htsim_arm(flow, departure);
        }
    }

    /// The timer of the oldest packet has run out: the path of a loss is not known, and the first is blamed.
    pub(super) fn htsim_timer(&mut self, flow: u32) {
        let now = self.now;
        let sender = self.htsim_sender(flow);
        if sender.over || sender.timer.is_none_or(|(_, at)| at != now) {
            return;
        }
        let Some((_, &psn)) = sender.departures.first_key_value() else { return };
        let Some(sent) = sender.forget(psn) else { return };
        // Of a request too, though it was not counted when it left.
        sender.in_flight -= i64::from(sent.bytes);
        sender.entropies.machine.on_loss(now, 0, Loss::Timeout);
        let had = !sender.resend.is_empty();
        sender.hold_lost(psn, sent.bytes);
        let (host, id) = (sender.host, sender.id);
        self.counters.timeouts += 1;
        self.flows.details[id].timeouts += 1;
        self.htsim_rearm(flow);
        self.htsim_tell(flow, &OnWire::TimedOut(sent.bytes.into()));
        // From a flow's first answer on, a packet that is held for lost is sent as soon as others would be.
        let answered = self.htsim_sender(flow).answered;
        if had || answered {
            self.htsim_try(flow);
        }
        if had {
            self.htsim_sender(flow).answered = true;
            return;
        }
        let window = self.htsim_window(flow);
        let sender = self.htsim_sender(flow);
        if !sender.fits(sent.bytes, window) {
            return self.htsim_ask(flow, window.base_rtt);
        }
        // It asks the NIC again though it may have sent, or wait for its turn: then it has two turns, and the flow does
        // not know of the second.
        if self.htsim_request_nic(host, flow) {
            self.htsim_send(flow);
            // The simulator passes a truth value as the size: one byte.
            self.htsim_start_nic(host, 1);
        }
    }

    /// Sends a request, at most once per base round trip.
    fn htsim_ask(&mut self, flow: u32, base_rtt: Span) {
        let now = self.now;
        let sender = self.htsim_sender(flow);
        if sender.requested_at.is_some_and(|at| now - at < base_rtt) {
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

    pub(super) fn htsim_ack(&mut self, ack: &Frame) {
        let (now, flow) = (self.now, ack.flow);
        let sender = self.htsim_sender(flow);
        if sender.over {
            return;
        }
        let bytes = ack.report.received.saturating_sub(sender.reported);
        sender.reported += bytes;
        sender.in_flight -= bytes as i64;
        let rtt = sender.round_trip(now, ack);
        self.htsim_acknowledged(flow, &ack.report);
        let sender = self.htsim_sender(flow);
        let ecn = if ack.marked { Ecn::Ce } else { Ecn::NotCapable };
        let path = ack.entropy & !sender.entropies.upper;
        sender.entropies.machine.on_ack(now, path, ecn, rtt.unwrap_or(Span::ZERO));
        sender.answered = true;
        let (id, done) = (sender.id, ack.report.expected.saturating_sub(sender.requests) >= sender.packets);
        self.htsim_tell(flow, &OnWire::Acked { bytes, rtt, marked: ack.marked });
        if done {
            self.htsim_sender(flow).over = true;
            self.on_message_end(id, SendState::Idle);
            return;
        }
        self.htsim_try(flow);
    }

    /// Packets have arrived.
    fn htsim_acknowledged(&mut self, flow: u32, report: &Report) {
        while let Some(bytes) = self.htsim_sender(flow).take_resend_below(report.expected) {
            self.htsim_not_lost(flow, bytes);
        }
        let below = |sender: &Sender| sender.sent.first_key_value().map(|(psn, _)| *psn);
        while let Some(psn) = below(self.htsim_sender(flow)).filter(|psn| *psn < report.expected) {
            self.htsim_forget(flow, psn);
        }
        let mut bits = report.bits;
        while bits != 0 {
            self.htsim_forget(flow, report.first + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }

    /// A packet that was held for lost has arrived, and need not be sent again. The receiver's count takes its bytes out of
    /// what is in flight, and so had its loss.
    fn htsim_not_lost(&mut self, flow: u32, bytes: u16) {
        self.htsim_sender(flow).in_flight += i64::from(bytes);
        self.htsim_tell(flow, &OnWire::Sent(bytes.into()));
    }

    fn htsim_forget(&mut self, flow: u32, psn: u32) -> Option<u16> {
        let sender = self.htsim_sender(flow);
        if let Some(bytes) = sender.resend.remove(&psn) {
            self.htsim_not_lost(flow, bytes);
        }
        let sender = self.htsim_sender(flow);
        let sent = sender.forget(psn)?;
        if sender.is_timed(sent) {
            self.htsim_rearm(flow);
        }
        Some(sent.bytes)
    }

    /// A packet was trimmed: it is sent again first, and its path choice is called after that.
    pub(super) fn htsim_nack(&mut self, nack: &Frame) {
        let (now, flow) = (self.now, nack.flow);
        let sender = self.htsim_sender(flow);
        let Some(&sent) = sender.sent.get(&nack.psn).filter(|_| !sender.over) else { return };
        sender.in_flight -= i64::from(sent.bytes);
        self.htsim_tell(flow, &OnWire::Trimmed { bytes: sent.bytes.into(), rtt: now - sent.at });
        self.htsim_forget(flow, nack.psn);
        let sender = self.htsim_sender(flow);
        sender.hold_lost(nack.psn, sent.bytes);
        sender.answered = true;
        self.htsim_try(flow);
        let sender = self.htsim_sender(flow);
        let path = nack.entropy & !sender.entropies.upper;
        match (nack.last_hop, nack.marked) {
            (false, _) => sender.entropies.machine.on_loss(now, path, Loss::Trimmed),
            (true, true) => sender.entropies.machine.on_ack(now, path, Ecn::Ce, Span::ZERO),
            (true, false) => sender.entropies.machine.on_ack(now, path, Ecn::NotCapable, Span::ZERO),
        }
        self.htsim_try(flow);
    }
}
