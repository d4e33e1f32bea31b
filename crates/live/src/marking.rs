//! What congestion points are shown of a frame, and what they make of it: marks and telemetry in its bytes, messages to
//! its source.

use crate::context::Context;
use crate::egress::{QueuedFrame, frame_bytes};
use crate::forwarding::{data_of, facts_of};
use crate::switch::Switch;
use xoff_engine::Time;
use xoff_fabric::capture::{Body, Place};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::{CongestionPoint, Hooks, Mark, Notice, PacketFacts, QueueView, Scheme};
use xoff_wire::{RoceKind, Seen, set_ecn, set_telemetry, telemetry_of};

impl<S: Scheme> Switch<S> {
    /// A queue as it is, without the frame at hand.
    pub(crate) fn view(&self, local: usize, class: u8, now: Time) -> QueueView {
        let egress = &self.egresses[local];
        let queue = &egress.queues[usize::from(class)];
        QueueView {
            now,
            queue_bytes: queue.bytes,
            queue_packets: queue.len() as u32,
            port_bytes: egress.queued_bytes,
            tx_bytes: egress.tx_bytes,
            rate: egress.rate.rate(),
            paused: egress.paused & 1 << class != 0,
        }
    }

    /// A frame comes to a queue and is not in it yet.
    pub(crate) fn before_queue(
        &mut self,
        egress: usize,
        class: u8,
        held: &mut QueuedFrame,
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        let size = frame_bytes(&held.bytes);
        let facts = self.flows.learn(&held.seen, held.ingress, size, context.now, context.network);
        if let Some((slot, facts)) = facts.filter(|_| self.hooks.has(Hooks::ENQUEUE)) {
            self.show_all(egress, class, held, (slot, &facts), Moment::Comes, context);
            self.after_points(egress, class, schemes, context);
        }
    }

    /// A frame has left its queue. What the congestion point asks for is not done yet.
    pub(crate) fn after_queue(&mut self, egress: usize, class: u8, held: &mut QueuedFrame, context: &mut Context<'_>) {
        let Some(name) = data_of(&held.seen, context.network) else {
            if let Some(slot) = reply_of(&held.seen).filter(|slot| usize::from(*slot) < self.multipliers.len()) {
                let (place, view) = (self.point_at(egress, class, slot), self.view(egress, class, context.now));
                if self.points[place].hooks().has(Hooks::ACKS) {
                    self.points[place].cp.on_ack_dequeue(&view);
                }
            }
            return;
        };
        let facts = facts_of(&name, frame_bytes(&held.bytes), context.network);
        self.show_all(egress, class, held, (name.scheme, &facts), Moment::Goes, context);
    }

    /// Shows a data packet to the congestion point of its scheme, and to those that want to see every one.
    fn show_all(
        &mut self,
        egress: usize,
        class: u8,
        held: &mut QueuedFrame,
        (own, facts): (u8, &PacketFacts),
        moment: Moment,
        context: &mut Context<'_>,
    ) {
        self.show(egress, class, held, (own, facts), moment, context);
        for slot in (0..self.multipliers.len() as u8).filter(|slot| *slot != own) {
            let place = self.point_at(egress, class, slot);
            if self.points[place].hooks().has(Hooks::EVERY) && self.listens(place, egress, class, moment) {
                let (view, mut void) = (self.view(egress, class, context.now), ecn_of(&held.seen));
                let facts = PacketFacts { own: false, ..*facts };
                let mark = Mark { ecn: &mut void, int: None };
                let notices = &mut self.notices;
                let notify = |flow, feedback| notices.push((slot, Notice { flow, feedback }));
                match moment {
                    Moment::Comes => self.points[place].cp.on_enqueue(&view, &facts, 1, mark, notify),
                    Moment::Goes => self.points[place].cp.on_dequeue(&view, &facts, mark, notify),
                }
            }
        }
    }

    /// Whether a congestion point wants to see a packet that comes or goes.
    fn listens(&self, place: usize, egress: usize, class: u8, moment: Moment) -> bool {
        let hooks = self.points[place].hooks();
        let busy = self.egresses[egress].queues[usize::from(class)].bytes > 0;
        match moment {
            Moment::Comes => hooks.has(Hooks::ENQUEUE),
            Moment::Goes => hooks.has(Hooks::DEQUEUE) || (busy && hooks.has(Hooks::DEQUEUE_BUSY)),
        }
    }

    /// Shows a data packet to its congestion point, and writes what that makes of it into its bytes.
    fn show(
        &mut self,
        egress: usize,
        class: u8,
        held: &mut QueuedFrame,
        (slot, facts): (u8, &PacketFacts),
        moment: Moment,
        context: &mut Context<'_>,
    ) {
        let place = self.point_at(egress, class, slot);
        if !self.listens(place, egress, class, moment) {
            return;
        }
        let view = self.view(egress, class, context.now);
        let multiplier = self.multipliers[usize::from(slot)];
        let before = ecn_of(&held.seen);
        let mut ecn = before;
        let telemetry = match &held.seen {
            Seen::Roce(roce) => telemetry_of(&held.bytes, roce, multiplier),
            _ => None,
        };
        let mut int = telemetry;
        let (point, notices) = (&mut self.points[place], &mut self.notices);
        let notify = |flow, feedback| notices.push((slot, Notice { flow, feedback }));
        match moment {
            Moment::Comes => point.cp.on_enqueue(&view, facts, 1, Mark { ecn: &mut ecn, int: int.as_mut() }, notify),
            Moment::Goes => point.cp.on_dequeue(&view, facts, Mark { ecn: &mut ecn, int: int.as_mut() }, notify),
        }
        if ecn != before {
            context.log.counters.marks += 1;
            self.egresses[egress].queues[usize::from(class)].marks += 1;
            mark(held, ecn);
        }
        if let (Seen::Roce(roce), Some(stack)) = (&held.seen, int.filter(|_| int != telemetry)) {
            let written = set_telemetry(&mut held.bytes, roce, &stack, multiplier);
            debug_assert!(written.is_ok(), "telemetry was read from there");
        }
    }

    /// Sends what congestion points of a port and class asked for, and sets their timers.
    pub(crate) fn after_points(&mut self, egress: usize, class: u8, schemes: &[S], context: &mut Context<'_>) {
        let notices = std::mem::take(&mut self.notices);
        for (slot, notice) in &notices {
            self.send_notice(egress, class, (*slot, notice), schemes, context);
        }
        if self.hooks.has(Hooks::TIMER) {
            self.arm(egress, class, context);
        }
    }

    /// A message to the source of a flow, by the way its data came.
    fn send_notice(
        &mut self,
        egress: usize,
        class: u8,
        (slot, notice): (u8, &Notice<S::Feedback>),
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        // Flows of other schemes would not understand it.
        let Some(flow) = self.flows.get(notice.flow).copied().filter(|flow| flow.name.scheme == slot) else { return };
        let scheme = &schemes[usize::from(slot)];
        let control = context.network.plan.classes.control;
        // Headroom is for frames in flight from upstream; the switch's own must not use it.
        if self.buffer.is_full_to_xoff(egress, control) {
            context.log.counters.notices_refused += 1;
            return;
        }
        let plain = context.network.plan.host(flow.name.src).sizes.notification_bytes;
        let place =
            Place { port: self.ports[egress], queue_bytes: self.egresses[egress].queues[usize::from(class)].bytes };
        let (flow_name, content) = (flow.name, scheme.frame_content(&notice.feedback));
        let body = Body::Notification { flow: flow_name, content, origin: Some(place) };
        let frame_bytes = scheme.notification_bytes(&notice.feedback).unwrap_or(plain);
        let bytes = context.bytes_of(self.ports[flow.ingress], frame_bytes, control, Ecn::NotCapable, body);
        context.log.counters.notifications_sent += 1;
        self.originate(egress, flow.ingress, control, bytes, schemes, context);
    }
}

/// When a congestion point is shown a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Comes,
    Goes,
}

/// The scheme of an ACK or NAK; `None` for other frames.
fn reply_of(seen: &Seen) -> Option<u8> {
    match seen {
        Seen::Roce(roce) => matches!(roce.what, RoceKind::Ack { .. } | RoceKind::Nak { .. }).then_some(roce.scheme),
        Seen::Tcp(tcp) => (tcp.payload_bytes == 0).then_some(tcp.scheme),
        _ => None,
    }
}

fn ecn_of(seen: &Seen) -> Ecn {
    match seen {
        Seen::Roce(roce) => roce.ecn,
        Seen::Tcp(tcp) => tcp.ecn,
        _ => Ecn::NotCapable,
    }
}

fn mark(held: &mut QueuedFrame, ecn: Ecn) {
    let ip_at = match &mut held.seen {
        Seen::Roce(roce) => {
            roce.ecn = ecn;
            roce.ip_at
        }
        Seen::Tcp(tcp) => {
            tcp.ecn = ecn;
            tcp.ip_at
        }
        _ => return,
    };
    let marked = set_ecn(&mut held.bytes, ip_at, ecn);
    debug_assert!(marked.is_ok(), "the header was read from there");
}
