//! Rules of other simulators: events of one instant in the order of their scheduling, as in ns-3, and one random stream
//! for all queues. Free ports are then served within the current event, and packets that need not queue are charged too.

use crate::contract::packet::Packet;
use crate::contract::scheme::{Scheme, TIMERS};
use crate::flow::transport::Responder;
use crate::id::{PortId, QueueId, SenderId};
use crate::network::plan::Dialect;
use crate::node::port::{FOREIGN, FREE_PENDING, FREE_RESERVED, HAS_SHAPED_WAITERS};
use crate::part::Part;
use crate::part::htsim::MaybeHtsim;
use std::collections::{BTreeMap, HashMap, VecDeque};
use xoff_engine::{SharedRandom, Table, Time};

/// State that only rules of other simulators need: order of scheduling at one instant, one random stream for all.
pub(crate) struct Compat {
    /// Events of one instant happen in the order of their scheduling: each transmission ends in an event of its own.
    pub(crate) eager: bool,
    /// Whose rules of switches and NICs hold.
    pub(crate) dialect: Dialect,
    pub(crate) shared_random: Option<SharedRandom>,
    /// PFC frames that wait for their port, each with the class and whether it pauses: every decision has its own.
    pub(crate) pfc_frames: BTreeMap<PortId, VecDeque<(u8, bool)>>,
    /// Timers of each sender that have an event, where events go by the order of their scheduling.
    pub(crate) timers: Table<SenderId, [Time; TIMERS]>,
    /// Receivers that began anew after their sender had ended, by number of the flow.
    pub(crate) late: HashMap<u32, Responder>,
    /// Under [`Dialect::Htsim`]: its own state of ports, NICs and flows.
    pub(crate) htsim: MaybeHtsim,
}

impl<S: Scheme> Part<S> {
    /// Whether a packet that was admitted would be served at once, and alone.
    #[inline]
    pub(crate) fn passes_at_once(&self, egress: PortId, class: u8) -> bool {
        let out = &self.links.ports[egress];
        out.is_idle(self.now, class, HAS_SHAPED_WAITERS) && out.waiting & !out.paused == 0
    }

    /// Somebody comes to a port whose transmission ends, or has ended, without an event: it is scheduled now, or it
    /// has happened and found nothing to do.
    #[inline(never)]
    pub(crate) fn settle_free(&mut self, port_id: PortId) {
        let port = &mut self.links.ports[port_id];
        port.flags &= !FREE_RESERVED;
        if !self.queue.push_reserved(port_id) {
            port.flags &= !FREE_PENDING;
        }
    }

    /// Makes sure the port is served once it is free: now, if it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn expect_free_sequenced(&mut self, port_id: PortId) {
        if self.links.ports[port_id].has(FREE_RESERVED) {
            self.settle_free(port_id);
        }
        let port = &self.links.ports[port_id];
        if !port.has(FREE_PENDING) && port.busy_until <= self.now {
            self.on_port_free(port_id);
        }
    }

    /// What queueing it and serving it right away would come to.
    #[inline(never)]
    pub(crate) fn pass_eagerly(&mut self, egress: PortId, packet: &mut Packet) {
        let queue = &mut self.egress.queues[QueueId::of(egress, packet.class, self.classes)];
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
        self.links.ports[port_id].flags |= FREE_PENDING;
        self.inspect(port_id, packet);
        if self.links.ports[port_id].has(FOREIGN) {
            self.release_foreign(port_id, packet);
        } else {
            self.release(self.links.ports[port_id].switch(), packet);
        }
        self.links.ports[port_id].flags &= !FREE_PENDING;
    }
}
