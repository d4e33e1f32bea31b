//! Transport contract: two pure halves, without port, event, clock or flow entry.
//!
//! A [`Requester`] decides what is sent next within a window, and what an ACK, a NAK or a time-out means. A
//! [`Responder`] decides what a data packet means and what is answered. Simulated and live NICs drive the same machines
//! ([decision 0069](../../../../../docs/decisions/0069-transport-is-two-pure-halves.md)).
//!
//! A transport is a file with a `Requester` and a `Responder` and a name in the registry below. What all of them
//! remember is shared: [`SendSequence`], [`ReceiveSequence`], [`Stream`], [`ReceivedBitmap`].

mod conditions;
mod go_back_n;
mod irn;
mod irn_rewind;
pub mod messages;
mod received_bitmap;
mod sack;
mod sequence;
mod stream;
mod tcp;
#[cfg(test)]
mod tests;

pub use conditions::Conditions;
pub use received_bitmap::ReceivedBitmap;
pub use sequence::{ReceiveSequence, SendSequence};
pub use stream::Stream;

use crate::contract::packet::Ecn;
use crate::contract::record::RecoveryRecord;
use crate::contract::scheme::{Format, Loss, Outstanding, Resend, Transport};
use crate::network::plan::{HostSettings, Recovery};
use xoff_engine::Time;

/// Declares the rules of both halves, and `each!`, which calls a method of whichever rules a value has. The first
/// transport whose rules serve a flow is taken, the boxed ones before the one that most flows have.
macro_rules! transports {
    ($dollar:tt most $most:ident = $usual:ident; boxed $($name:ident = $module:ident),* $(,)?) => {
        #[derive(Debug)]
        enum SendRules {
            $most($usual::Requester),
            Boxed(Box<BoxedRules>),
        }

        /// Rules that few flows have: a sender has room for a pointer to them.
        #[derive(Debug)]
        enum BoxedRules {
            $($name($module::Requester)),*
        }

        #[derive(Debug)]
        enum ReceiveRules {
            $most($usual::Responder),
            $($name($module::Responder)),*
        }

        impl SendRules {
            fn new(conditions: &Conditions<'_>) -> SendRules {
                $(if let Some(rules) = $module::Requester::new(conditions) {
                    return SendRules::Boxed(Box::new(BoxedRules::$name(rules)));
                })*
                $usual::Requester::new(conditions).map(SendRules::$most).expect("every flow has a transport")
            }
        }

        impl ReceiveRules {
            fn new(format: &Format, host: &HostSettings) -> ReceiveRules {
                $(if let Some(rules) = $module::Responder::new(format, host) {
                    return ReceiveRules::$name(rules);
                })*
                $usual::Responder::new(format, host).map(ReceiveRules::$most).expect("every flow has a transport")
            }
        }

        macro_rules! each {
            (send &mut $dollar value:expr, $dollar rules:ident => $dollar call:expr) => {
                match &mut $dollar value {
                    SendRules::$most($dollar rules) => $dollar call,
                    SendRules::Boxed(boxed) => match &mut **boxed {
                        $(BoxedRules::$name($dollar rules) => $dollar call),*
                    },
                }
            };
            (send & $dollar value:expr, $dollar rules:ident => $dollar call:expr) => {
                match & $dollar value {
                    SendRules::$most($dollar rules) => $dollar call,
                    SendRules::Boxed(boxed) => match &**boxed {
                        $(BoxedRules::$name($dollar rules) => $dollar call),*
                    },
                }
            };
            (receive $dollar value:expr, $dollar rules:ident => $dollar call:expr) => {
                match $dollar value {
                    ReceiveRules::$most($dollar rules) => $dollar call,
                    $(ReceiveRules::$name($dollar rules) => $dollar call),*
                }
            };
        }
    };
}

transports! { $
    most GoBackN = go_back_n;
    boxed Tcp = tcp, Irn = irn, IrnRewind = irn_rewind, Sack = sack
}

/// Packet that leaves a requester.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// Packet sequence number.
    pub psn: u32,
    /// Sent before.
    pub resent: bool,
    /// AckReq is set.
    pub requests_ack: bool,
}

/// What an ACK or NAK says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// The responder has all packets below this PSN.
    pub expected: u32,
    /// What it says of packets beyond `expected`; `None` without selective acknowledgement.
    pub selective: Option<Selective>,
    /// NAK: something is missing.
    pub nak: bool,
    /// The packet that caused it was a retransmission.
    pub resent: bool,
}

/// What an ACK or NAK says of single packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selective {
    /// Packet that caused the answer; in the NAK of a trimmed packet it has not arrived.
    pub psn: u32,
    /// Packets that have arrived: bit `i` is the packet `i` after the first one beyond `expected`, or after the 63rd
    /// below `psn` if that is further. A bit that is not set says nothing.
    pub received: u64,
}

impl Selective {
    /// Packet of the first bit of a bitmap.
    pub(crate) fn first(expected: u32, psn: u32) -> u32 {
        (expected + 1).max(psn.saturating_sub(63))
    }

    /// Frame bytes that it takes: flags and the number of a packet, and the bitmap if there is one.
    pub fn frame_bytes(&self) -> u16 {
        if self.received == 0 { 4 } else { 12 }
    }
}

/// What an ACK, NAK or time-out changed at a requester.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Payload newly acknowledged, in order or not.
    pub bytes: u64,
    /// Payload acknowledged since the flow began.
    pub acked_bytes: u64,
    /// Payload sent since the flow began, before any of it is sent again.
    pub sent_bytes: u64,
    /// The ACK repeats the one before it while data is outstanding.
    pub duplicate: bool,
    /// Packets are lost and will be sent again.
    pub lost: Option<Loss>,
    /// Payload of these, if they are sent again one by one.
    pub lost_bytes: u64,
}

/// Packet that is held for lost since a timer ran out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimedOut {
    /// The packet; the first one of those that are sent again.
    pub psn: u32,
    /// Its payload, if it is sent again alone.
    pub bytes: u64,
}

/// Data packet as it reaches a responder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Packet sequence number.
    pub psn: u32,
    /// AckReq is set.
    pub requests_ack: bool,
    /// What an ACK echoes.
    pub echo: Echo,
}

/// What an ACK repeats of the packet that caused it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// When the packet left its sender.
    pub sent_at: Time,
    /// ECN field on arrival.
    pub ecn: Ecn,
    /// The packet was a retransmission.
    pub resent: bool,
}

/// ACK or NAK that a responder sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// What it says.
    pub ack: Ack,
    /// Departure of the oldest packet it acknowledges.
    pub sent_at: Time,
    /// ECN field that it echoes.
    pub ecn: Ecn,
}

impl Answer {
    #[inline]
    fn new(expected: u32, nak: bool, echo: Echo) -> Answer {
        let ack = Ack { expected, selective: None, nak, resent: echo.resent };
        Answer { ack, sent_at: echo.sent_at, ecn: echo.ecn }
    }
}

/// What became of a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// First copy of the packet, delivered or kept for later. Otherwise it is discarded.
    pub kept: bool,
    /// Payload of the packet.
    pub payload_bytes: u32,
    /// Payload that is in order now and was not before.
    pub delivered_bytes: u64,
    /// A message or the flow may be complete: see [`Responder::complete_message`].
    pub completes: bool,
    /// ACK of packets before this one, to be sent first.
    pub earlier: Option<Answer>,
    /// ACK or NAK to send.
    pub answer: Option<Answer>,
}

impl Taken {
    fn discarded(answer: Option<Answer>) -> Taken {
        Taken { kept: false, payload_bytes: 0, delivered_bytes: 0, completes: false, earlier: None, answer }
    }
}

/// Rules of a sender.
trait RequesterRules: Sized {
    /// Rules for a flow; `None` if another transport serves it.
    fn new(conditions: &Conditions<'_>) -> Option<Self>;
    /// Headers that its packets have.
    fn headers(&self) -> Transport {
        Transport::Roce
    }
    /// Whether the reaction point finds losses; see [`Requester::recover`].
    fn asks_reaction_point(&self) -> bool {
        false
    }
    /// Payload that counts against the window.
    fn in_flight_bytes(&self, seq: &SendSequence) -> u64 {
        seq.unacknowledged_bytes()
    }
    /// A packet that goes before all new ones, whatever the window.
    fn retransmission(&self, _seq: &SendSequence) -> Option<u32> {
        None
    }
    /// Whether the next packet may leave, if there is one.
    fn may_send(&self, seq: &SendSequence) -> bool;
    /// Takes the next packet. Requires data to send.
    fn next(&mut self, seq: &mut SendSequence, now: Time) -> Outgoing;
    fn on_ack(&mut self, seq: &mut SendSequence, now: Time, ack: &Ack) -> Progress;
    /// The deadline of the sequence has passed. Returns what is held for lost, if anything is: the timer may have been
    /// prolonged instead. Another packet may be due as well.
    fn on_timeout(&mut self, seq: &mut SendSequence, now: Time) -> Option<TimedOut>;
    /// The NIC looks whether the flow has something to send.
    fn look(&mut self, _seq: &mut SendSequence) {}
    /// Sends again what the reaction point names. Returns whether there is anything.
    fn recover(&mut self, _seq: &mut SendSequence, _resend: Resend) -> bool {
        false
    }
}

/// Rules of a receiver, for packets that are not simply the next.
trait ResponderRules: Sized {
    /// Rules for flows of a format; `None` if another transport serves it.
    fn new(format: &Format, host: &HostSettings) -> Option<Self>;
    /// Whether the next packet in order needs these rules.
    fn needs_slow_path(&self) -> bool;
    fn on_data(&mut self, seq: &mut ReceiveSequence, now: Time, data: &Arrival) -> Taken;
    /// A packet arrived whose payload a switch has cut off. Returns what is answered.
    fn on_trimmed(&mut self, _seq: &ReceiveSequence, _psn: u32, _echo: Echo) -> Option<Answer> {
        None
    }
    /// Time of a delayed ACK; `NEVER` if none waits.
    fn deadline(&self) -> Time {
        Time::NEVER
    }
    fn on_deadline(&mut self, _seq: &ReceiveSequence) -> Option<Answer> {
        None
    }
    /// Packets kept beyond the next in order; `None` if such packets are discarded.
    fn kept(&self) -> Option<u32> {
        None
    }
}

/// Sending half of a transport.
#[derive(Debug)]
pub struct Requester {
    /// Packets sent and acknowledged.
    pub seq: SendSequence,
    rules: SendRules,
}

impl Requester {
    /// Requester of a flow.
    pub fn new(conditions: &Conditions<'_>, stream: Stream) -> Requester {
        let every = ack_every(conditions.format, conditions.receiver);
        Requester { seq: SendSequence::new(every, conditions.rto(), stream), rules: SendRules::new(conditions) }
    }

    /// Headers that its packets have.
    pub fn headers(&self) -> Transport {
        each!(send &self.rules, rules => rules.headers())
    }

    /// Returns whether the reaction point finds losses: [`Requester::recover`] is to be called after every hook.
    #[inline]
    pub fn asks_reaction_point(&self) -> bool {
        each!(send &self.rules, rules => rules.asks_reaction_point())
    }

    /// Payload that counts against the window.
    #[inline]
    pub fn in_flight_bytes(&self) -> u64 {
        each!(send &self.rules, rules => rules.in_flight_bytes(&self.seq))
    }

    /// Returns whether there is something to send, the window aside.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.seq.next < self.seq.limit() || each!(send &self.rules, rules => rules.retransmission(&self.seq)).is_some()
    }

    /// Returns whether the window lets the next packet go.
    #[inline(always)]
    pub fn may_send(&self) -> bool {
        each!(send &self.rules, rules => rules.may_send(&self.seq))
    }

    /// Says that the NIC looks at the flow, for rules that depend on it.
    pub fn look(&mut self) {
        each!(send &mut self.rules, rules => rules.look(&mut self.seq));
    }

    /// Takes the next packet, which leaves now. Requires [`Requester::has_data`].
    #[inline]
    pub fn next(&mut self, now: Time) -> Outgoing {
        each!(send &mut self.rules, rules => rules.next(&mut self.seq, now))
    }

    /// Takes an ACK or NAK.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Ack) -> Progress {
        each!(send &mut self.rules, rules => rules.on_ack(&mut self.seq, now, ack))
    }

    /// Takes the time-out of [`SendSequence::deadline`]. Returns what is held for lost; another packet may be due as well.
    pub fn on_timeout(&mut self, now: Time) -> Option<TimedOut> {
        each!(send &mut self.rules, rules => rules.on_timeout(&mut self.seq, now))
    }

    /// What a reaction point that finds losses is asked with.
    pub fn outstanding(&self, now: Time) -> Outstanding {
        let payload_until = |psn| self.seq.stream.payload_until(psn);
        Outstanding {
            now,
            acked_bytes: payload_until(self.seq.una),
            sent_bytes: payload_until(self.seq.next),
            highest_bytes: payload_until(self.seq.highest),
        }
    }

    /// Sends again what the reaction point names. Returns whether there is anything.
    pub fn recover(&mut self, resend: Resend) -> bool {
        each!(send &mut self.rules, rules => rules.recover(&mut self.seq, resend))
    }

    /// Sets the bytes that the scheme lets be in the network, and how many packets set AckReq. Returns whether the
    /// window is wider than before.
    pub fn set_window(&mut self, window_bytes: u64) -> bool {
        self.seq.set_window(self.headers(), window_bytes)
    }
}

/// Receiving half of a transport.
#[derive(Debug)]
pub struct Responder {
    /// Packets received.
    pub seq: ReceiveSequence,
    rules: ReceiveRules,
}

impl Responder {
    /// Responder at a host of these settings.
    pub fn new(format: &Format, host: &HostSettings, stream: Stream) -> Responder {
        let rules = ReceiveRules::new(format, host);
        let mut seq = ReceiveSequence::new(stream);
        seq.slow_path = each!(receive &rules, rules => rules.needs_slow_path());
        Responder { seq, rules }
    }

    /// Returns whether packet `psn` is the next in order and needs no further rule.
    #[inline]
    pub fn is_next(&self, psn: u32) -> bool {
        psn == self.seq.expected && !self.seq.slow_path
    }

    /// Takes the next packet in order. Requires [`Responder::is_next`].
    #[inline]
    pub fn take_next(&mut self, data: &Arrival) -> Taken {
        let seq = &mut self.seq;
        seq.expected += 1;
        let completes = seq.expected >= seq.stream.message_end;
        let payload_bytes = match completes {
            true => seq.stream.payload_until(seq.expected) - seq.delivered_bytes,
            false => u64::from(seq.stream.mtu_bytes),
        };
        seq.delivered_bytes += payload_bytes;
        Taken {
            kept: true,
            payload_bytes: payload_bytes as u32,
            delivered_bytes: payload_bytes,
            completes,
            earlier: None,
            answer: data.requests_ack.then(|| Answer::new(seq.expected, false, data.echo)),
        }
    }

    /// Takes any data packet.
    pub fn on_data(&mut self, now: Time, data: &Arrival) -> Taken {
        if self.is_next(data.psn) {
            return self.take_next(data);
        }
        if self.seq.closed {
            return Taken::discarded(None);
        }
        let taken = each!(receive &mut self.rules, rules => rules.on_data(&mut self.seq, now, data));
        self.seq.slow_path = each!(receive &self.rules, rules => rules.needs_slow_path());
        taken
    }

    /// Takes a packet whose payload a switch has cut off. Returns what is answered.
    pub fn on_trimmed(&mut self, psn: u32, echo: Echo, counts: &mut RecoveryRecord) -> Option<Answer> {
        if self.seq.closed {
            return None;
        }
        let answer = each!(receive &mut self.rules, rules => rules.on_trimmed(&self.seq, psn, echo));
        counts.trimmed += 1;
        counts.naks += u32::from(answer.is_some_and(|answer| answer.ack.nak));
        answer
    }

    /// Takes any data packet and counts what that means for recovery. (A copy that comes after all was delivered is
    /// not to be counted: the end of the flow does not wait for it.)
    pub fn receive(&mut self, now: Time, data: &Arrival, counts: &mut RecoveryRecord) -> Taken {
        let behind = data.psn < self.seq.expected;
        let taken = self.on_data(now, data);
        let held = self.kept();
        counts.naks += u32::from(taken.answer.is_some_and(|answer| answer.ack.nak));
        // A receiver that discards what is ahead does not have it.
        let is_copy = !taken.kept && !self.seq.closed && (behind || held.is_some());
        counts.duplicates += u32::from(is_copy);
        counts.held_packets_max = counts.held_packets_max.max(held.unwrap_or(0));
        taken
    }

    /// Time of a delayed ACK; `NEVER` if none waits.
    pub fn deadline(&self) -> Time {
        each!(receive &self.rules, rules => rules.deadline())
    }

    /// Takes the ACK that has waited until [`Responder::deadline`].
    pub fn on_deadline(&mut self) -> Option<Answer> {
        each!(receive &mut self.rules, rules => rules.on_deadline(&self.seq))
    }

    /// Packets kept beyond the next in order; `None` if such packets are discarded.
    pub fn kept(&self) -> Option<u32> {
        each!(receive &self.rules, rules => rules.kept())
    }

    /// Discards whatever arrives from now on.
    pub fn close(&mut self) {
        (self.seq.closed, self.seq.slow_path) = (true, true);
    }

    /// Returns the name of the next message that has arrived as a whole. A flow without messages is one, named 0.
    pub fn complete_message(&mut self) -> Option<u32> {
        let seq = &mut self.seq;
        seq.stream.complete_message(seq.expected, false)
    }
}

const _: () = assert!(size_of::<Requester>() <= 112, "one and three quarters of a cache line of a sender");
const _: () = assert!(size_of::<Responder>() <= 80, "one cache line of a receiver, and two words");

/// Packets in order that one ACK acknowledges. TCP delays ACKs by a rule of its own; the host's is for RoCE.
fn ack_every(format: &Format, host: &HostSettings) -> u16 {
    let every = match format.transport {
        Transport::Roce if host.recovery != Recovery::GoBackN => 1,
        Transport::Roce => format.ack_every.max(host.ack_every),
        Transport::Tcp => format.ack_every,
    };
    every.min(u16::MAX.into()) as u16
}
