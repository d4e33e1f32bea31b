//! Switches where the order of scheduling counts, as in the simulators that are compared with: what may happen now
//! happens at once, and every packet is counted, even one that need not wait.

use crate::contract::packet::Packet;
use crate::contract::scheme::Scheme;
use crate::id::{PortId, QueueId};
use crate::node::port::{AWAITED, FREE_PENDING, FREE_RESERVED};
use crate::part::Part;

impl<S: Scheme> Part<S> {
    /// Whether a packet that was admitted would be served at once, and alone.
    #[inline]
    pub(crate) fn passes_at_once(&self, egress: PortId, class: u8) -> bool {
        let out = &self.ports[egress];
        out.is_idle(self.now, class, AWAITED) && out.waiting & !out.paused == 0
    }

    /// Somebody comes to a port whose transmission ends, or has ended, without an event: it is scheduled now, or it
    /// has happened and found nothing to do.
    #[inline(never)]
    pub(crate) fn settle_free(&mut self, port_id: PortId) {
        let port = &mut self.ports[port_id];
        port.flags &= !FREE_RESERVED;
        if !self.queue.push_reserved(port_id) {
            port.flags &= !FREE_PENDING;
        }
    }

    /// Makes sure the port is served once it is free: now, if it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn expect_free_sequenced(&mut self, port_id: PortId) {
        if self.ports[port_id].has(FREE_RESERVED) {
            self.settle_free(port_id);
        }
        let port = &self.ports[port_id];
        if !port.has(FREE_PENDING) && port.busy_until <= self.now {
            self.on_port_free(port_id);
        }
    }

    /// What queueing it and serving it right away would come to.
    #[inline(never)]
    pub(crate) fn pass_eagerly(&mut self, egress: PortId, packet: &mut Packet) {
        let queue = &mut self.queues[QueueId::of(egress, packet.class, self.classes)];
        queue.pass(self.now, packet.frame_bytes);
        self.charge(egress, packet.class, packet.frame_bytes);
        self.release_eagerly(egress, packet);
        self.transmit_here(egress, packet);
    }

    /// Where the order of scheduling counts, the congestion point looks before the upstream is resumed,
    /// and the port is busy already: whatever that leads to, at this port too, comes after the packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn release_eagerly(&mut self, port_id: PortId, packet: &mut Packet) {
        self.ports[port_id].flags |= FREE_PENDING;
        self.inspect(port_id, packet);
        self.release(self.ports[port_id].switch(), packet);
        self.ports[port_id].flags &= !FREE_PENDING;
    }
}
