//! Packets of flows with several paths: the sender's choice, the switch's choice, and where an ACK finds the number
//! of the path that it answers.
//!
//! A path that was installed when its flow started is walked by a cursor, as that of any flow. Its number is in the
//! route memory before its first port and after its last one; the word after that is where an ACK begins. Where
//! switches choose, a packet carries the destination's edge and the number itself.

use crate::contract::forwarding::{Candidate, Forwarded, Loss, NextHop, PathChoice};
use crate::contract::packet::{Kind, Packet, RESENT, TRANSIT, TRIMMED_EARLY, TableRoute};
use crate::contract::scheme::Scheme;
use crate::id::{PortId, ReceiverId, SenderId, SwitchId};
use crate::network::plan::AckPath;
use crate::node::port::TO_HOST;
use crate::part::Part;

impl<S: Scheme> Part<S> {
    /// Chooses the path of a data packet that is about to leave its sender.
    #[cold]
    #[inline(never)]
    pub(crate) fn choose_path(&mut self, flow: SenderId, packet: &mut Packet) {
        let una = self.flows.senders[flow].requester.seq.una;
        if let Some(spread) = self.paths.forwarding.spread_mut(flow) {
            packet.route = spread.pick(self.now, packet.psn, una);
        }
    }

    /// Passes an ACK or NAK to the path choice of its flow. That a packet was trimmed is a loss on its path, unless it
    /// was on its last hop, which all paths share (UEC specification 3.6.13).
    #[cold]
    #[inline(never)]
    pub(crate) fn path_answered(&mut self, flow: SenderId, ack: &Packet, path: u16) {
        let rtt = ack.echoed(self.now);
        if let Some(spread) = self.paths.forwarding.spread_mut(flow) {
            match ack.flags & TRIMMED_EARLY {
                0 => spread.machine().on_ack(self.now, path, ack.ecn, rtt),
                _ => spread.machine().on_loss(self.now, path, Loss::Trimmed),
            }
        }
    }

    /// Passes the loss of a packet to the path choice of its flow, if it has one.
    #[cold]
    pub(crate) fn path_lost(&mut self, flow: SenderId, psn: u32, loss: Loss) {
        if let Some(spread) = self.paths.forwarding.spread_mut(flow) {
            spread.on_loss(self.now, psn, loss);
        }
    }

    /// Takes note of the order in which data packets of a flow with several paths arrive, before their transport does.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_order(&mut self, flow: ReceiverId, packet: &Packet) {
        let receiver = &self.flows.receivers[flow];
        // What comes after all has arrived may be counted or not when the record is made.
        if receiver.delivered_at.is_some() || receiver.responder.seq.is_closed() {
            return;
        }
        let expected = receiver.responder.seq.expected;
        let order = self.paths.forwarding.order_mut(flow);
        order.on_arrival(packet.psn, expected, packet.flags & RESENT != 0);
    }

    /// Where an ACK or NAK begins that answers a data packet of a flow with several paths.
    #[cold]
    #[inline(never)]
    pub(crate) fn answer_route(&self, data: &Packet) -> u32 {
        match TableRoute::of(data.route) {
            Some(TableRoute { path, .. }) => {
                let [edge, _] =
                    self.flows.route_storage[data.flow].edges.expect("a flow that switches forward has edges");
                TableRoute { edge, path }.word()
            }
            None => self.paths.route_ports[data.route as usize + 1],
        }
    }

    /// Forwards a packet that carries no cursor; one to whose destination no way leads is lost.
    #[cold]
    #[inline(never)]
    pub(crate) fn forward_by_table(&mut self, ingress: PortId, packet: &mut Packet) {
        if self.paths.forwarding.edge.is_some() && matches!(packet.kind, Kind::Data | Kind::Trimmed) {
            return self.route_by_edges(ingress, packet);
        }
        let route = TableRoute::of(packet.route).expect("a cursor is inside the route memory");
        match self.next_hop(self.links.ports[ingress].switch(), route, packet) {
            Some(egress) => self.switch_receive_rare(ingress, egress, packet),
            None => {
                self.counters.drops_fault += 1;
                self.lose(packet);
            }
        }
    }

    fn next_hop(&mut self, switch: SwitchId, route: TableRoute, packet: &Packet) -> Option<PortId> {
        let next_hops = self.paths.forwarding.next_hops.next_hops(switch, route.edge);
        if next_hops.len() < 2 {
            return next_hops.first().copied().or_else(|| self.port_to_host(switch, packet));
        }
        let mut candidates = std::mem::take(&mut self.paths.forwarding.candidates);
        candidates.clear();
        candidates.extend(next_hops.iter().map(|&id| {
            let port = &self.links.ports[id];
            Candidate {
                port: self.local(id),
                queue_bytes: port.queued_bytes,
                paused: port.paused & 1 << packet.class != 0,
                rate: self.links.link_types.of(port).rate.rate(),
            }
        }));
        let flow = self.flows.entries[packet.flow].name;
        let host = self.destination(packet);
        let facts = Forwarded { now: self.now, flow, host, edge: route.edge, path: route.path, class: packet.class };
        let forwarding = &mut self.paths.forwarding;
        let chosen = match (packet.kind, self.plan.ack_path) {
            (Kind::Data, _) => forwarding.machines[switch].pick(&facts, &candidates),
            (_, AckPath::Entropy) => forwarding.ack_hashes[switch].pick(&facts, &candidates),
            _ => forwarding.ack_hashes[switch].pick(&Forwarded { path: 0, ..facts }, &candidates),
        };
        self.paths.forwarding.candidates = candidates;
        Some(self.paths.forwarding.next_hops.next_hops(switch, route.edge)[chosen])
    }

    /// Number of the host that receives a packet's flow; 0 for what goes back.
    fn destination(&self, packet: &Packet) -> u32 {
        let entry = &self.flows.entries[packet.flow];
        let receiver = self.flows.receivers.get(entry.receiver).filter(|_| packet.kind == Kind::Data);
        receiver.map_or(0, |receiver| receiver.host.get())
    }

    /// The port of a switch to the host where a packet ends, if that host is at this switch.
    pub(crate) fn port_to_host(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        let entry = &self.flows.entries[packet.flow];
        let host = match packet.kind {
            Kind::Data | Kind::Trimmed if entry.receiver != ReceiverId::NONE => {
                self.flows.receivers[entry.receiver].host
            }
            Kind::Ack | Kind::Nak | Kind::Notification if entry.sender != SenderId::NONE => {
                self.flows.senders[entry.sender].host
            }
            _ => return None,
        };
        let port = self.hosts[host].port.peer();
        (self.links.ports[port].switch() == switch).then_some(port)
    }

    /// A packet whose flow is shaped or has several paths is at a switch. Returns whether it stays in a queue of its
    /// flow's own. Nearly all are answers, or data on a hop that was noted.
    #[inline(always)]
    pub(crate) fn look_at_flow(&mut self, ingress: PortId, egress: PortId, packet: &mut Packet) -> bool {
        if packet.flags & TRANSIT == 0 {
            let is_new = match packet.kind {
                Kind::Data => {
                    let flow = self.flows.entries[packet.flow].id;
                    self.paths.forwarding.recent_hops.insert(flow, ingress, egress)
                }
                kind => kind == Kind::Edge,
            };
            if !is_new {
                return false;
            }
        }
        self.look_closely(ingress, egress, packet)
    }

    /// A packet of a shaped flow, a message of an edge, or data on a hop that was not noted lately.
    #[cold]
    #[inline(never)]
    fn look_closely(&mut self, ingress: PortId, egress: PortId, packet: &mut Packet) -> bool {
        if packet.flags & TRANSIT != 0 {
            return self.in_transit(ingress, egress, packet);
        }
        if packet.kind == Kind::Data {
            let hop = (self.links.ports[ingress.peer()].name, self.links.ports[egress].name);
            self.flows.route_storage[packet.flow].note_hop(hop, self.now);
            return false;
        }
        if self.links.ports[egress].has(TO_HOST) {
            self.take_edge_message(egress, packet);
            return true;
        }
        false
    }
}

impl<S: Scheme> Part<S> {
    /// Number of the path that an ACK or NAK answers, once it is where its own ends. Where switches choose paths it has
    /// none.
    #[cold]
    #[inline(never)]
    pub(crate) fn answered_path(&self, ack: &Packet) -> u16 {
        match TableRoute::of(ack.route) {
            Some(route) => route.path,
            None if self.plan.model.forwarding.next_hop.is_some() => 0,
            None => self.paths.route_ports[ack.route as usize] as u16,
        }
    }
}
