//! ConWeave: a flow leaves a path whose round trip is late, and the last edge puts its packets in order (Song et al.,
//! SIGCOMM 2023).
//!
//! The first edge begins an epoch with a packet that asks for a reply. A reply in time makes the path good: the next
//! packet begins the next epoch. A late one means congestion: the flow is moved to another path that was not reported
//! as congested lately; the packet at hand, the tail, still takes the old path, and those after it the new one. The
//! last edge holds packets of the new path back until the tail has come, or was due: its arrival is predicted from what
//! came before it. It answers the tail, after which the flow may be moved again, and reports paths whose packets come
//! marked.
//!
//! The rules are those of the authors' simulator (conweave-routing.cc, conweave-voq.cc). Two of its departures from the
//! paper are parameters: how many flows an egress port may hold back at a time, and whether what is held counts in the
//! buffer. A third is left: the round trip of an idle path is known, not measured.

use super::aging::Ticks;
use super::lots::Lots;
use crate::contract::edge_routing::{EdgeFacts, EdgeMessage, EdgePacket, EdgePath, EdgeRule, Effects, Header, Role};
use crate::network::murmur3::murmur3;
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};

/// Parameters of ConWeave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConWeaveSettings {
    /// A flow that was idle for longer begins an epoch and may take another path.
    pub idle: Span,
    /// How much later than the round trip of the idle path a reply may come.
    pub reply_extra: Span,
    /// For how long a path that was reported as congested is not chosen.
    pub path_pause: Span,
    /// How much later than predicted the tail may come.
    pub flush_extra: Span,
    /// How long the tail is waited for without a prediction.
    pub default_wait: Span,
    /// Flows that may be held back at a time per egress port; `None` for any number.
    pub queues: Option<u16>,
    /// Packets that are held back count in the buffer of their switch.
    pub counted: bool,
}

/// Entries of flows that were idle for longer are removed, and no more often.
const AGE: Span = Span::from_ms(2);
/// Entries of the table of congested paths.
const TABLE_ENTRIES: u32 = 65_536;

/// A flow at its first edge.
#[derive(Clone, Copy, Debug)]
struct Sending {
    path: Option<EdgePath>,
    epoch: u32,
    rerouted: bool,
    /// When the reply of the epoch is late; `NEVER` while none is awaited.
    deadline: Time,
    active: Time,
    stabilised: bool,
    tail: Time,
}

/// A flow at its last edge.
#[derive(Clone, Copy, Debug)]
struct Receiving {
    epoch: u32,
    /// The tail of the epoch has come, or was given up.
    rerouted: bool,
    /// When the last packet before the tail was sent, and when it came.
    before: (Time, Time),
    /// There was one in this epoch.
    has_before: bool,
    tail: Time,
    active: Time,
    holds: bool,
    /// Egress port of what is held.
    egress: u16,
}

pub(crate) struct ConWeave {
    settings: ConWeaveSettings,
    lots: Lots,
    /// Seed of the table's hash.
    node: u32,
    aging: Ticks,
    sending: BTreeMap<u64, Sending>,
    receiving: BTreeMap<u64, Receiving>,
    /// Congested paths, by hash: which it is, and until when.
    congested: BTreeMap<u32, (EdgePath, Time)>,
    /// Flows held back, by egress port.
    held: BTreeMap<u16, u16>,
}

impl ConWeave {
    pub fn new(facts: &EdgeFacts, settings: ConWeaveSettings) -> ConWeave {
        ConWeave {
            settings,
            lots: Lots::new(facts, "conweave"),
            node: facts.node,
            aging: Ticks::new(AGE),
            sending: BTreeMap::new(),
            receiving: BTreeMap::new(),
            congested: BTreeMap::new(),
            held: BTreeMap::new(),
        }
    }

    fn entry_of(&self, path: EdgePath) -> u32 {
        murmur3(&[path.bytes()], self.node) % TABLE_ENTRIES
    }

    fn is_congested(&self, now: Time, path: EdgePath) -> bool {
        self.congested.get(&self.entry_of(path)).is_some_and(|(of, until)| *of == path && *until > now)
    }

    /// The first of two paths that are drawn, and the first of them that was not reported lately.
    fn draw(&mut self, now: Time, paths: &[EdgePath]) -> (EdgePath, Option<EdgePath>) {
        // There a path is drawn for new flows first, and never used.
        let [_, one, other] = [(); 3].map(|()| paths[self.lots.below(paths.len())]);
        (one, [one, other].into_iter().find(|&path| !self.is_congested(now, path)))
    }

    /// Whether one more flow may be held back at an egress port.
    fn has_queue(&self, egress: u16) -> bool {
        self.settings.queues.is_none_or(|most| self.held.get(&egress).is_none_or(|held| *held < most))
    }
}

impl EdgeRule for ConWeave {
    fn on_packet(&mut self, now: Time, _: bool) {
        self.aging.begin(now);
        while let Some(tick) = self.aging.due(now) {
            let young = |since: Time| tick.saturating_since(since) <= AGE;
            self.sending.retain(|_, of| young(of.active));
            self.receiving.retain(|_, of| young(of.active) || of.holds);
            self.congested.retain(|_, (_, until)| *until > tick);
        }
    }

    fn enter(&mut self, packet: &EdgePacket, paths: &[EdgePath], header: &mut Header) -> EdgePath {
        let now = packet.now;
        let (any, good) = self.draw(now, paths);
        let settings = self.settings;
        let of = self.sending.entry(packet.flow).or_insert(Sending {
            path: None,
            epoch: 1,
            rerouted: false,
            deadline: Time::NEVER,
            active: Time::ZERO,
            stabilised: false,
            tail: Time::ZERO,
        });
        // A path may be gone since.
        of.path = of.path.filter(|path| paths.binary_search(path).is_ok());
        let expired = of.path.is_none() || of.active + settings.idle < now;
        let begins = expired || std::mem::take(&mut of.stabilised);
        of.stabilised = false;
        of.active = now;
        let mut late = false;
        if begins {
            of.deadline = now + packet.round_trip + settings.reply_extra;
            of.epoch += 1;
            of.rerouted = false;
            of.tail = Time::ZERO;
        } else if of.deadline < now {
            of.deadline = Time::NEVER;
            of.tail = now;
            late = true;
        }
        header.rerouted = of.rerouted;
        let before = of.path.unwrap_or(any);
        let path = if expired { good.unwrap_or(before) } else { before };
        // A tail goes the old way, and those after it the new one.
        of.rerouted |= late;
        of.path = Some(if late { good.unwrap_or(before) } else { path });
        header.epoch = of.epoch;
        header.sent = now;
        header.tail = of.tail;
        header.role = match (begins, late) {
            (true, _) => Role::Init,
            (false, true) => Role::Tail,
            (false, false) => Role::Plain,
        };
        path
    }

    fn leave(&mut self, packet: &EdgePacket, header: &Header, effects: &mut Effects) {
        let (now, settings) = (packet.now, self.settings);
        let may_hold = self.has_queue(packet.egress);
        let of = self.receiving.entry(packet.flow).or_insert(Receiving {
            epoch: 1,
            rerouted: false,
            before: (Time::ZERO, Time::ZERO),
            has_before: false,
            tail: Time::ZERO,
            active: now,
            holds: false,
            egress: packet.egress,
        });
        of.active = now;
        if header.epoch < of.epoch {
            return;
        }
        let is_new = header.epoch > of.epoch;
        of.epoch = header.epoch;
        let is_tail = header.role == Role::Tail;
        if !header.rerouted {
            of.before = (header.sent, now);
        }
        if is_new {
            of.rerouted = is_tail;
            of.has_before = false;
        } else if is_tail && !of.holds {
            of.rerouted = true;
        }
        of.has_before |= !header.rerouted;
        if is_tail || header.rerouted {
            of.tail = header.tail;
        }
        // The tail follows the last packet before it as far behind as it was sent.
        let wait = match of.has_before {
            true => of.tail.saturating_since(of.before.0),
            false => settings.default_wait,
        };
        if !header.rerouted {
            if of.holds {
                let soon = Span::from_ns(1);
                effects.flush_at = Some(if is_tail { now + soon } else { now + wait + settings.flush_extra });
            }
        } else if !of.rerouted && (of.holds || may_hold) {
            effects.hold = true;
            if !of.holds {
                of.holds = true;
                of.egress = packet.egress;
                let from = if of.has_before { of.before.1 } else { now };
                effects.flush_at = Some((from + wait + settings.flush_extra).max(now));
                *self.held.entry(packet.egress).or_insert(0) += 1;
            }
        }
        if packet.marked {
            effects.messages.push(EdgeMessage::Notify(header.path));
        }
        if header.role != Role::Plain {
            effects.messages.push(EdgeMessage::Reply { epoch: header.epoch, tail: is_tail });
        }
    }

    fn on_message(&mut self, now: Time, flow: u64, message: &EdgeMessage) {
        match *message {
            EdgeMessage::Notify(path) => {
                self.congested.insert(self.entry_of(path), (path, now + self.settings.path_pause));
            }
            EdgeMessage::Reply { epoch, tail } => {
                let Some(of) = self.sending.get_mut(&flow) else { return };
                if (epoch, tail) != (of.epoch, of.rerouted) {
                    return;
                }
                if tail || (now < of.deadline && of.deadline != Time::NEVER) {
                    of.stabilised = true;
                    of.deadline = Time::NEVER;
                }
            }
        }
    }

    fn on_flush(&mut self, flow: u64) {
        if let Some(of) = self.receiving.get_mut(&flow) {
            (of.holds, of.rerouted) = (false, true);
            if let Some(held) = self.held.get_mut(&of.egress) {
                *held = held.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{entering, facts, paths};
    use super::*;

    /// Settings with which the authors run two tiers.
    const SETTINGS: ConWeaveSettings = ConWeaveSettings {
        idle: Span::from_us(300),
        reply_extra: Span::from_us(4),
        path_pause: Span::from_us(16),
        flush_extra: Span::from_us(16),
        default_wait: Span::from_us(200),
        queues: None,
        counted: false,
    };

    fn edge() -> ConWeave {
        ConWeave::new(&facts(), SETTINGS)
    }

    fn enter(edge: &mut ConWeave, us: u64) -> Header {
        let mut header = Header::default();
        header.path = edge.enter(&entering(us, 7), &paths(4), &mut header);
        header
    }

    fn leave(edge: &mut ConWeave, us: u64, header: &Header) -> Effects {
        let mut effects = Effects::default();
        edge.leave(&entering(us, 7), header, &mut effects);
        effects
    }

    #[test]
    fn a_late_reply_moves_the_flow_after_its_tail() {
        let mut edge = edge();
        // rand() of the seed 1 modulo 4: 3 2 1, 3 1 3, 1 2 1, ... of which the second of three counts.
        let first = enter(&mut edge, 1_000);
        assert_eq!((first.path, first.epoch, first.role), (paths(4)[2], 2, Role::Init));
        // The reply is due after 4 us for the round trip and 4 more.
        let second = enter(&mut edge, 1_008);
        assert_eq!((second.path, second.role, second.rerouted), (paths(4)[2], Role::Plain, false));
        let tail = enter(&mut edge, 1_009);
        assert_eq!((tail.path, tail.role, tail.rerouted), (paths(4)[2], Role::Tail, false));
        let moved = enter(&mut edge, 1_010);
        assert_eq!((moved.role, moved.rerouted, moved.tail), (Role::Plain, true, Time::from_us(1_009)));
        // The reply to the first is late, that to the tail begins the next epoch.
        edge.on_message(Time::from_us(1_011), 7, &EdgeMessage::Reply { epoch: 2, tail: false });
        assert_eq!(enter(&mut edge, 1_012).role, Role::Plain);
        edge.on_message(Time::from_us(1_013), 7, &EdgeMessage::Reply { epoch: 2, tail: true });
        let next = enter(&mut edge, 1_014);
        assert_eq!((next.path, next.epoch, next.role, next.rerouted), (moved.path, 3, Role::Init, false));
        edge.on_message(Time::from_us(1_020), 7, &EdgeMessage::Reply { epoch: 3, tail: false });
        assert_eq!(enter(&mut edge, 1_021).epoch, 4, "in time");
    }

    #[test]
    fn a_congested_path_is_not_taken() {
        let mut edge = edge();
        edge.on_message(Time::from_us(995), 7, &EdgeMessage::Notify(paths(4)[2]));
        assert_eq!(enter(&mut edge, 1_000).path, paths(4)[1], "the other one that was drawn");
        let mut edge = self::edge();
        edge.on_message(Time::from_us(980), 7, &EdgeMessage::Notify(paths(4)[2]));
        assert_eq!(enter(&mut edge, 1_000).path, paths(4)[2], "long enough ago");
    }

    #[test]
    fn packets_of_the_new_path_wait_for_the_tail() {
        let (mut edge, us) = (edge(), Time::from_us);
        let header = |sent: u64, tail: u64, rerouted, role| Header {
            epoch: 2,
            sent: us(sent),
            tail: us(tail),
            rerouted,
            role,
            ..Header::default()
        };
        let first = leave(&mut edge, 1_005, &header(1_000, 0, false, Role::Init));
        assert_eq!((first.hold, first.flush_at, first.messages.len()), (false, None, 1));
        // The tail left 9 us after the first packet, so it is due at 1014 us, and 16 us more are waited.
        let ahead = leave(&mut edge, 1_011, &header(1_010, 1_009, true, Role::Plain));
        assert_eq!((ahead.hold, ahead.flush_at), (true, Some(us(1_030))));
        let more = leave(&mut edge, 1_012, &header(1_011, 1_009, true, Role::Plain));
        assert_eq!((more.hold, more.flush_at), (true, None));
        // A packet before it comes, 8 us before the tail was sent.
        let before = leave(&mut edge, 1_020, &header(1_001, 0, false, Role::Plain));
        assert_eq!((before.hold, before.flush_at), (false, Some(us(1_044))));
        let tail = leave(&mut edge, 1_025, &header(1_009, 1_009, false, Role::Tail));
        assert_eq!((tail.hold, tail.flush_at), (false, Some(Time::from_ns(1_025_001))));
        assert_eq!(tail.messages, [EdgeMessage::Reply { epoch: 2, tail: true }]);
        edge.on_flush(7);
        assert!(!leave(&mut edge, 1_026, &header(1_012, 1_009, true, Role::Plain)).hold);
        // Of an epoch of which nothing else is known.
        let unknown = Header { epoch: 3, ..header(1_300, 1_299, true, Role::Plain) };
        assert_eq!(leave(&mut edge, 1_305, &unknown).flush_at, Some(us(1_305 + 200 + 16)));
    }

    #[test]
    fn an_egress_holds_back_no_more_flows_than_it_has_queues() {
        let mut edge = ConWeave::new(&facts(), ConWeaveSettings { queues: Some(1), ..SETTINGS });
        let header = Header { epoch: 2, rerouted: true, ..Header::default() };
        let mut hold = |flow| {
            let mut effects = Effects::default();
            edge.leave(&entering(5, flow), &header, &mut effects);
            effects.hold
        };
        assert_eq!([hold(1), hold(2), hold(1)], [true, false, true]);
        edge.on_flush(1);
        let mut effects = Effects::default();
        edge.leave(&entering(6, 3), &header, &mut effects);
        assert!(effects.hold);
    }
}
