//! Packet trimming: a data packet of a lossy class that finds no room is sent on without its payload, in the control
//! class, and its receiver sends a NACK (UEC specification 4.1; SAI).
//!
//! A packet that is trimmed is not marked. ACKs, NAKs, notifications and packets that are trimmed already are dropped as
//! before; so are packets of TCP, and of flows that a gateway shapes. A trimmed packet may not use headroom of its
//! ingress, which is for frames in flight from upstream.

use crate::contract::packet::{ASKS_ACK, Kind, NO_EXTRA, Packet, TRANSIT, TRIMMED_EARLY};
use crate::contract::scheme::{Scheme, Transport};
use crate::id::{PortId, QueueId};
use crate::node::port::{HAS_VOQS, TO_HOST};
use crate::part::Part;

impl<S: Scheme> Part<S> {
    /// Returns what is left of a packet that finds no room in the queue of its class, unless it is dropped.
    #[cold]
    pub(crate) fn trimmed_bytes(&self, egress: PortId, packet: &Packet) -> Option<u16> {
        let switch = &self.switches[self.links.ports[egress].switch()];
        let bytes = self.plan.switches[usize::from(switch.profile)].trim_bytes?;
        let slot = usize::from(self.flows.entries[packet.flow].scheme);
        let trims = packet.kind == Kind::Data
            && !self.links.ports[egress].has(HAS_VOQS)
            && packet.flags & TRANSIT == 0
            && packet.frame_bytes > bytes
            && self.formats[slot][0].transport == Transport::Roce;
        trims.then_some(bytes)
    }

    /// Sends a data packet on without its payload.
    #[cold]
    #[inline(never)]
    pub(crate) fn trim(&mut self, ingress: PortId, egress: PortId, packet: &mut Packet) {
        let bytes = self.trimmed_bytes(egress, packet).unwrap_or(packet.frame_bytes);
        self.counters.packets_trimmed += 1;
        self.counters.data_packets_discarded += 1;
        self.release_extra(packet);
        let control = self.plan.classes.control;
        packet.extra = NO_EXTRA;
        (packet.kind, packet.class, packet.frame_bytes) = (Kind::Trimmed, control, bytes);
        packet.flags &= !ASKS_ACK;
        if !self.links.ports[egress].has(TO_HOST) {
            packet.flags |= TRIMMED_EARLY;
        }
        if self.buffer_of(egress).is_full_to_xoff(usize::from(packet.ingress), control) {
            self.egress.history_mut(QueueId::of(egress, control, self.classes)).drops += 1;
            self.counters.drops_lossy += 1;
            self.lose(packet);
            return;
        }
        self.switch_receive_rare(ingress, egress, packet);
    }
}
