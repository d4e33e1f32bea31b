//! Shaped per-flow queues at the gateway into a flow's last domain.
//!
//! Data of a flow whose scheme has a [`Transit`] machine waits there in a queue of its own, is let
//! go at the machine's rate, and only then joins the egress queue like everybody else. While it
//! waits it lies in the switch's buffer and counts for the ingress it came in by. A flow whose time
//! has come but whose egress is paused, or too long for the machine's taste, waits at that egress;
//! those who wait are served round-robin, one packet each.
//!
//! The gateways of one domain act as one: an ACK is heard by the flow's machine whichever of them it
//! leaves by.

use crate::contract::packet::{Kind, Packet};
use crate::contract::scheme::{Hooks, Scheme, Transit};
use crate::id::{FlowEntryId, PortId, QueueId};
use crate::node::port::{DOWN, FREE_RESERVED, HAS_SHAPED_WAITERS, HAS_VOQS, LONG_HAUL, Storm};
use crate::node::shaper::Shaped;
use crate::part::switch::Admitted;
use crate::part::{Part, kind};
use xoff_engine::{Fifo, Ring, Time};

impl<S: Scheme> Part<S> {
    /// A flow that will be shaped has started.
    pub(crate) fn add_shaper(&mut self, flow: FlowEntryId, domain: u16, machine: S::Transit) {
        let shapers = &mut self.shapers;
        if shapers.lines.is_empty() {
            shapers.port_bytes = vec![0; self.links.ports.len()].into();
            shapers.lines = (0..self.egress.queues.len()).map(|_| Ring::default()).collect();
        }
        *shapers.flows.reach(flow, || None) = Some(Box::new(Shaped {
            machine,
            packets: Fifo::default(),
            bytes: 0,
            last_at: Time::ZERO,
            last_wire_bytes: 0,
            due: Time::NEVER,
            waits: false,
            domain,
        }));
    }

    /// The flow is over and none of its packets exists.
    pub(crate) fn remove_shaper(&mut self, flow: FlowEntryId) {
        let shaped = self.shapers.flows.get_mut(flow).and_then(Option::take);
        debug_assert!(shaped.is_none_or(|shaped| shaped.packets.is_empty() && !shaped.waits));
    }

    /// A packet of a shaped flow, or an ACK with feedback, is at a switch. Whether it stays in the
    /// flow's queue.
    pub(crate) fn in_transit(&mut self, ingress: PortId, egress: PortId, packet: &mut Packet) -> bool {
        let flow = packet.flow;
        let data = packet.kind == Kind::Data;
        let gate = if data { ingress } else { egress };
        if !self.links.ports[gate].has(LONG_HAUL) {
            return false;
        }
        let switch = &self.switches[self.links.ports[gate].switch()];
        let domain = self.plan.nodes[switch.node as usize].domain;
        let extra = self.look_selective(packet).1.extra;
        let Some(shaped) = self.shapers.get_mut(flow).filter(|shaped| shaped.domain == domain) else { return false };
        if data {
            self.shape(egress, packet);
        } else {
            shaped.machine.on_ack(self.now, &self.flows.feedback[extra]);
            self.pump(flow);
        }
        data
    }

    /// Takes a data packet into its flow's queue.
    fn shape(&mut self, egress: PortId, packet: &mut Packet) {
        if self.admit(egress, packet) != Admitted::Stored {
            self.lose(packet);
            return;
        }
        self.check_arrival(egress, packet);
        let Some(shaped) = self.shapers.get_mut(packet.flow) else { return };
        shaped.machine.on_arrive(self.now, shaped.bytes);
        self.egress.queued.push(&mut shaped.packets, packet);
        shaped.bytes += u64::from(packet.frame_bytes);
        let first = shaped.packets.len() == 1;
        self.shapers.port_bytes[egress] += u64::from(packet.frame_bytes);
        if first {
            self.pump(packet.flow);
        }
    }

    pub(crate) fn on_shaper(&mut self, flow: FlowEntryId) {
        if let Some(shaped) = self.shapers.get_mut(flow)
            && shaped.due == self.now
        {
            shaped.due = Time::NEVER;
            self.pump(flow);
        }
    }

    /// Lets go what may go of a flow that does not stand in line.
    fn pump(&mut self, flow: FlowEntryId) {
        while let Some(shaped) = self.shapers.get_mut(flow).filter(|shaped| !shaped.waits) {
            let Some(head) = self.egress.queued.front(&shaped.packets) else { return };
            let at = shaped.next_at();
            if at > self.now {
                // An event that is too early looks again; one that is too late is overtaken.
                if at < shaped.due {
                    shaped.due = at;
                    self.queue.push_named(at, kind::SHAPER, self.flows.entries[flow].name, flow.get());
                }
                return;
            }
            let (egress, class) = (self.hop(head.route - 1), head.class);
            let queue_id = QueueId::of(egress, class, self.classes);
            if !self.shapers.lines[queue_id].is_empty() || self.must_wait(flow, egress, class) {
                self.shapers.lines[queue_id].push(flow);
                if let Some(shaped) = self.shapers.get_mut(flow) {
                    shaped.waits = true;
                }
                self.links.ports[egress].flags |= HAS_SHAPED_WAITERS;
                return;
            }
            self.release_shaped(flow, egress);
        }
    }

    /// Whether the egress takes nothing from the flow now.
    fn must_wait(&self, flow: FlowEntryId, egress: PortId, class: u8) -> bool {
        let (port, queue) = (&self.links.ports[egress], self.queue(egress, class));
        if port.has(DOWN) || self.history(egress, class).storm == Storm::Dropping {
            return false; // It takes everything, for good.
        }
        let full =
            |machine: &S::Transit| queue.bytes >= machine.yields_at(self.links.link_types.of(port).rate.rate()).max(1);
        port.paused & (1 << class) != 0 || self.shapers.get(flow).is_some_and(|shaped| full(&shaped.machine))
    }

    /// Those who stand in line at a port are served round-robin while it has room.
    #[cold]
    #[inline(never)]
    pub(crate) fn serve_round_robin(&mut self, port_id: PortId) {
        for class in 0..self.classes as u8 {
            let queue_id = QueueId::of(port_id, class, self.classes);
            while let Some(&flow) = self.shapers.lines[queue_id].front() {
                if self.must_wait(flow, port_id, class) {
                    break;
                }
                self.shapers.lines[queue_id].drop_front();
                if let Some(shaped) = self.shapers.get_mut(flow) {
                    shaped.waits = false;
                    self.release_shaped(flow, port_id);
                    self.pump(flow);
                }
            }
        }
        let first = QueueId::of(port_id, 0, self.classes);
        if self.shapers.lines.run(first, self.classes).iter().all(|line| line.is_empty()) {
            self.links.ports[port_id].flags &= !HAS_SHAPED_WAITERS;
        }
    }

    /// The head of a flow's queue joins the egress queue, or leaves at once if that is idle.
    fn release_shaped(&mut self, flow: FlowEntryId, egress: PortId) {
        let Some(shaped) = self.shapers.get_mut(flow) else { return };
        let Some(mut packet) = self.egress.queued.pop(&mut shaped.packets) else { return };
        let size = u64::from(packet.frame_bytes);
        shaped.bytes -= size;
        (shaped.last_at, shaped.last_wire_bytes) = (self.now, u32::from(packet.frame_bytes) + self.links.gap_bytes);
        shaped.machine.on_release(self.now, shaped.bytes, self.flows.int.open(&packet));
        self.flows.int.close(&mut packet);
        self.shapers.port_bytes[egress] -= size;

        let bit = 1 << packet.class;
        let queue_id = QueueId::of(egress, packet.class, self.classes);
        let port = &self.links.ports[egress];
        let owner = port.switch();
        let down = port.has(DOWN);
        if down || self.egress.history(queue_id).storm == Storm::Dropping {
            if down {
                self.note_dead(egress);
            }
            self.egress.history_mut(queue_id).drops += 1;
            self.counters.drops_fault += 1;
            self.release(owner, &packet);
            self.lose(&packet);
            return;
        }
        if port.has(HAS_VOQS) {
            // It begins again at its input, which it has not left.
            self.release(owner, &packet);
            self.voq_receive(egress, &mut packet);
            return;
        }
        if port.hooks.has(Hooks::ENQUEUE) {
            self.cp_enqueue(egress, &mut packet);
        }
        if self.links.ports[egress].has(FREE_RESERVED) {
            self.settle_free(egress);
        }
        if self.links.ports[egress].is_idle(self.now, packet.class, 0) {
            self.release(owner, &packet);
            packet.ingress = u16::MAX;
            self.depart(egress, &mut packet);
            return;
        }
        self.egress.queues[queue_id].push(&mut self.egress.queued, self.now, &packet);
        let port = &mut self.links.ports[egress];
        port.queued_bytes += size;
        port.waiting |= bit;
        if port.paused & bit == 0 {
            self.expect_free(egress);
        }
    }

    /// Packets in shaped queues whose flows stand in line at this egress.
    pub(crate) fn awaiting(&self, egress: PortId, class: u8) -> impl Iterator<Item = &Packet> {
        let line = self.shapers.lines.get(QueueId::of(egress, class, self.classes));
        let flows = line.into_iter().flat_map(|line| line.iter().copied());
        let packets = flows.filter_map(|flow| self.shapers.get(flow)).flat_map(|s| self.egress.queued.iter(&s.packets));
        packets.filter(move |packet| self.hop(packet.route - 1) == egress)
    }
}
