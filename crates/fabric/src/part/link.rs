//! What is lost and forgotten where a link is cut, and said where it comes up.

use crate::contract::packet::Packet;
use crate::contract::scheme::Scheme;
use crate::id::{PortId, QueueId};
use crate::node::port::{AT_HOST, DOWN, HAS_SHAPED_WAITERS, HAS_VOQS};
use crate::part::Part;

impl<S: Scheme> Part<S> {
    pub(crate) fn set_storm(&mut self, port: PortId, class: u8, on: bool) {
        let storm = &mut self.hosts[self.links.ports[port].host()].storm;
        *storm = if on { *storm | (1 << class) } else { *storm & !(1 << class) };
        self.links.ports[port].pfc_due |= 1 << class;
        self.expect_free(port);
    }

    /// The PFC frame that a port has to send when its link comes up.
    pub(crate) fn pfc_state_frame(&mut self, port_id: PortId) -> Option<Packet> {
        if self.links.ports[port_id].has(AT_HOST) {
            return None;
        }
        self.compat.pfc_frames.remove(&port_id);
        for class in 0..self.classes as u8 {
            if self.buffer_of(port_id).starts_paused(usize::from(self.local(port_id)), class) {
                self.set_pausing(port_id, class, true);
                self.links.ports[port_id].pfc_due |= 1 << class;
                self.note_pause(port_id, class, true);
                self.arm_refresh(port_id, class);
            }
        }
        self.make_pfc(port_id)
    }

    /// What is in flight from a port is lost.
    pub(crate) fn lose_in_flight(&mut self, port: PortId) {
        let fifo = &mut self.links.ports[port].in_flight;
        let lost: Vec<Packet> = self.links.in_flight.iter(fifo).map(|item| item.packet).collect();
        self.links.in_flight.clear(fifo);
        self.cut_messages(port, &lost);
        for packet in lost {
            if !packet.kind.is_link_local() {
                self.note_dead(port);
                self.counters.drops_fault += 1;
                self.lose(&packet);
            }
        }
    }

    /// A packet is lost because the link of a port is down.
    #[cold]
    pub(crate) fn note_dead(&mut self, port: PortId) {
        let link = self.links.ports[port].name / 2;
        self.watch.dead_links.lost(link, self.now);
    }

    /// What is queued for a port is lost; it forgets that it was paused, and what it has said of PFC.
    pub(crate) fn cut_port(&mut self, port: PortId) {
        for class in 0..self.classes as u8 {
            self.flush(port, class);
            self.watch.responses.orders.remove(&QueueId::of(port, class, self.classes));
            self.set_paused(port, class, false);
        }
        let frames = self.watch.frames_mut(port);
        (frames.advertised, frames.heard) = (0, 0);
        self.links.ports[port].pfc_due = 0;
        self.compat.pfc_frames.remove(&port);
        if !self.links.ports[port].has(AT_HOST) {
            for class in 0..self.classes as u8 {
                self.set_pausing(port, class, false);
            }
        }
    }

    /// Empties an egress queue, giving its bytes back.
    pub(crate) fn flush(&mut self, port: PortId, class: u8) {
        if self.links.ports[port].has(AT_HOST) {
            // The flow that keeps its place waits as well, though not in the round-robin.
            self.requeue_last(self.links.ports[port].host());
            self.flush_scanned(self.links.ports[port].host());
        }
        let queue_id = QueueId::of(port, class, self.classes);
        while let Some(packet) = self.take_from(port, class) {
            if self.links.ports[port].has(DOWN) {
                self.note_dead(port);
            }
            self.egress.history_mut(queue_id).drops += 1;
            self.counters.drops_fault += 1;
            if self.links.ports[port].flags & (AT_HOST | HAS_VOQS) == 0 {
                self.links.ports[port].queued_bytes -= u64::from(packet.frame_bytes);
                self.release(self.links.ports[port].switch(), &packet);
            }
            self.lose(&packet);
        }
        if self.links.ports[port].has(HAS_SHAPED_WAITERS) {
            self.serve_round_robin(port);
        }
        let port = &mut self.links.ports[port];
        let at_host = port.has(AT_HOST);
        if !at_host || self.hosts[port.host()].ready[usize::from(class)].is_empty() {
            port.waiting &= !(1 << class);
        }
    }

    fn take_from(&mut self, port: PortId, class: u8) -> Option<Packet> {
        if self.links.ports[port].has(HAS_VOQS) {
            return self.take_from_voqs(port, class);
        }
        self.egress.queues[QueueId::of(port, class, self.classes)].pop(&mut self.egress.queued, self.now)
    }
}
