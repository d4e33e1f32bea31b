//! Switches where the order of scheduling counts, as in the simulators that are compared with: what may happen now
//! happens at once, and every packet is counted, even one that need not wait.

use crate::contract::packet::Packet;
use crate::contract::scheme::Scheme;
use crate::node::port::{AWAITED, FREE_PENDING};
use crate::part::Part;
use crate::part::id::{PortId, QueueId};

impl<S: Scheme> Part<S> {
    /// Whether a packet that was admitted would be served at once, and alone.
    #[inline]
    pub(crate) fn passes_at_once(&self, egress: PortId, class: u8) -> bool {
        let out = &self.ports[egress];
        out.is_idle(self.now, class, AWAITED) && out.waiting & !out.paused == 0
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
