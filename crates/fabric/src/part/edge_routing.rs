//! Edge routing: packets enter the fabric, cross it along their path and leave it ([`crate::contract::edge_routing`]).

use crate::contract::edge_routing::{EdgeMessage, EdgePacket, EdgePath, EdgeRule, HOPS_MOST, Header};
use crate::contract::packet::{Ecn, HAS_HEADER, HeaderRoute, Kind, Packet, SPREAD, TableRoute};
use crate::contract::scheme::Scheme;
use crate::id::{PortId, SwitchId};
use crate::network::plan::Dialect;
use crate::node::edge_routing::{EdgeState, Held, PathSet};
use crate::part::switch::Admitted;
use crate::part::{Part, kind};
use xoff_engine::{Span, Time};

/// Frame of a message between edges, as in ConWeave's simulator: the smallest.
const MESSAGE_BYTES: u16 = 64;

impl<S: Scheme> Part<S> {
    fn edges(&mut self) -> &mut EdgeState {
        self.paths.forwarding.edge.as_deref_mut().expect("edges choose paths")
    }

    /// Takes note of any packet that reaches a switch of a network in which another simulator's edges do so.
    pub(crate) fn note_at_edge(&mut self, switch: SwitchId, is_data: bool) {
        let now = self.now;
        if let Some(edges) = &mut self.paths.forwarding.edge {
            edges.machines[switch].on_packet(now, is_data);
        }
    }

    /// A data packet whose path edges choose is at a switch.
    #[cold]
    #[inline(never)]
    pub(crate) fn route_by_edges(&mut self, ingress: PortId, packet: &mut Packet) {
        let switch = self.links.ports[ingress].switch();
        let ends = self.flows.route_storage[packet.flow].edges.expect("a flow that switches forward has edges");
        self.note_at_edge(switch, packet.kind == Kind::Data);
        if self.edges().edge_of[switch] == Some(ends[1]) {
            return self.leave_fabric(ingress, packet);
        }
        let chosen = match packet.flags & HAS_HEADER {
            0 => self.enter_fabric(switch, packet),
            _ => self.edges().headers.get_mut(HeaderRoute::of(packet.route).0).and_then(|header| {
                header.hop += 1;
                header.path.port(header.hop)
            }),
        };
        // A path that was chosen before routes changed may lead elsewhere.
        let egress = chosen.and_then(|port| self.switches[switch].ports.get(usize::from(port)).copied());
        let (Some(port), Some(egress)) = (chosen, egress) else {
            self.counters.drops_fault += 1;
            return self.lose(packet);
        };
        let rate = self.links.link_types.of(&self.links.ports[egress]).rate.rate();
        let (now, bytes) = (self.now, u32::from(packet.frame_bytes));
        let EdgeState { machines, headers, .. } = self.edges();
        let header = headers.get_mut(HeaderRoute::of(packet.route).0).expect("written where it entered");
        machines[switch].pass(now, port, rate, bytes, header);
        self.switch_receive_rare(ingress, egress, packet);
    }

    /// A packet as a rule sees it.
    fn edge_packet(&mut self, packet: &Packet, egress: u16) -> EdgePacket {
        let [from, to] = self.flows.route_storage[packet.flow].edges.unwrap_or_default();
        let details = &self.flows.details[self.flows.entries[packet.flow].sender];
        let (flow, spec) = (details.identity, &details.spec);
        let (src_port, dst_port) = spec.ports_or(details.ephemeral);
        let flowlet = match self.plan.model.dialect {
            Dialect::Own | Dialect::Htsim => flow,
            // There two hosts under one edge may share an entry.
            Dialect::ConWeave => {
                let group = self.plan.classes.list[usize::from(packet.class)].priority;
                let ports = u64::from(src_port) << 16 | u64::from(dst_port) | u64::from(group);
                u64::from(spec.dst) << 32 | ports
            }
        };
        let marked = packet.ecn == Ecn::Ce;
        let round_trip = self.edges().paths.get(&(from, to)).map_or(Span::ZERO, |set| set.round_trip);
        EdgePacket { now: self.now, flow, flowlet, from, to, egress, marked, round_trip }
    }

    /// Chooses the path of a packet. Returns its first egress port; none if no path leads to its receiver.
    fn enter_fabric(&mut self, switch: SwitchId, packet: &mut Packet) -> Option<u16> {
        let [from, to] = self.flows.route_storage[packet.flow].edges?;
        if !self.edges().paths.contains_key(&(from, to)) {
            let set = self.find_paths(switch, to);
            self.edges().paths.insert((from, to), set);
        }
        let facts = self.edge_packet(packet, 0);
        let EdgeState { machines, paths, headers, .. } = self.edges();
        let paths = &paths[&(from, to)].paths;
        if paths.is_empty() {
            return None;
        }
        let mut header = Header::default();
        header.path = machines[switch].enter(&facts, paths, &mut header);
        let port = header.path.port(0);
        packet.route = HeaderRoute(headers.insert(header)).word();
        packet.flags |= HAS_HEADER;
        port
    }

    /// All paths from a switch to an edge.
    fn find_paths(&mut self, switch: SwitchId, edge: u16) -> PathSet {
        let mut set = PathSet::default();
        let mut open = vec![(switch, Vec::new(), Span::ZERO)];
        while let Some((at, ports, delay)) = open.pop() {
            if self.edges().edge_of[at] == Some(edge) {
                set.paths.push(EdgePath::of(ports));
                set.round_trip = delay * 2;
                continue;
            }
            if ports.len() == HOPS_MOST {
                continue;
            }
            for &egress in self.paths.forwarding.next_hops.next_hops(at, edge) {
                let mut ports = ports.clone();
                ports.push(self.local(egress));
                let along = self.links.link_types.of(&self.links.ports[egress]).delay;
                open.push((self.links.ports[egress.peer()].switch(), ports, delay + along));
            }
        }
        set.paths.sort_unstable();
        set
    }

    /// A packet has come to the edge of its receiver.
    fn leave_fabric(&mut self, ingress: PortId, packet: &mut Packet) {
        let switch = self.links.ports[ingress].switch();
        let header = (packet.flags & HAS_HEADER != 0).then(|| self.take_header(packet));
        let Some(egress) = self.port_to_host(switch, packet) else {
            self.counters.drops_fault += 1;
            return self.lose(packet);
        };
        let Some(header) = header.filter(|_| packet.kind == Kind::Data) else {
            return self.switch_receive_rare(ingress, egress, packet);
        };
        let facts = self.edge_packet(packet, self.local(egress));
        let EdgeState { machines, effects, .. } = self.edges();
        let mut effects = std::mem::take(effects);
        (effects.hold, effects.flush_at) = (false, None);
        effects.messages.clear();
        machines[switch].leave(&facts, &header, &mut effects);
        if let Some(at) = effects.flush_at {
            self.flush_later((switch, facts.flow), egress, at);
        }
        for message in &effects.messages {
            self.send_edge_message(packet, message);
        }
        let hold = effects.hold;
        self.edges().effects = effects;
        if hold {
            self.hold_back((switch, facts.flow), egress, packet);
        } else {
            self.switch_receive_rare(ingress, egress, packet);
        }
    }

    /// Takes the header off a packet, which is at its last edge from now on.
    fn take_header(&mut self, packet: &mut Packet) -> Header {
        let header = self.edges().headers.remove(HeaderRoute::of(packet.route).0);
        let [_, edge] = self.flows.route_storage[packet.flow].edges.unwrap_or_default();
        packet.flags &= !HAS_HEADER;
        packet.route = TableRoute { edge, path: 0 }.word();
        header
    }

    /// A packet with a header is lost.
    #[cold]
    pub(crate) fn drop_header(&mut self, packet: &Packet) {
        self.edges().headers.remove(HeaderRoute::of(packet.route).0);
    }

    /// What a flow holds back will be let go at a time, and not when it would have been before.
    fn flush_later(&mut self, of: (SwitchId, u64), egress: PortId, at: Time) {
        let (switch, flow) = of;
        let EdgeState { held, held_of, .. } = self.edges();
        let place = *held_of.entry(of).or_insert_with(|| {
            held.insert(Held { switch, flow, due: at, timers: Vec::new(), egress, packets: Vec::new() })
        });
        if let Some(held) = held.get_mut(place) {
            held.due = at;
            held.timers.push(at);
        }
        self.queue.push_named(at, kind::FLUSH, flow as u32, place);
    }

    /// A packet joins those of its flow that are held back.
    fn hold_back(&mut self, of: (SwitchId, u64), egress: PortId, packet: &Packet) {
        let counted = self.plan.model.forwarding.edge.is_some_and(|rule| rule.counts_held());
        if counted && self.admit(egress, packet) != Admitted::Stored {
            return self.lose(packet);
        }
        let EdgeState { held, held_of, .. } = self.edges();
        let place = held_of.get(&of).copied();
        held.get_mut(place.unwrap_or(u32::MAX)).expect("the first packet has set a time").packets.push(*packet);
    }

    /// Packets that edges hold back, with the switch of each.
    pub(crate) fn held_back(&self) -> impl Iterator<Item = (SwitchId, &Packet)> {
        let held = self.paths.forwarding.edge.iter().flat_map(|edge| edge.held.iter());
        held.flat_map(|(_, held)| held.packets.iter().map(|packet| (held.switch, packet)))
    }

    /// Bytes that a switch holds back and counts in its buffer.
    pub(crate) fn held_bytes(&self, switch: SwitchId) -> u64 {
        let counted = self.plan.model.forwarding.edge.is_some_and(|rule| rule.counts_held());
        let own = self.held_back().filter(|(of, _)| counted && *of == switch);
        own.map(|(_, packet)| u64::from(packet.frame_bytes)).sum()
    }

    /// A timer of packets that are held back: at the last one for the time that counts they go to their egress, in
    /// order. A place is free once none of its timers is left, so that none of them serves another flow.
    pub(crate) fn on_flush(&mut self, place: u32) {
        let now = self.now;
        let EdgeState { machines, held, held_of, .. } = self.edges();
        let of = held.get_mut(place).expect("a place is kept for its timers");
        let fired = of.timers.iter().position(|at| *at == now).expect("a timer is listed until it fires");
        of.timers.swap_remove(fired);
        let counts = of.due == now && !of.timers.contains(&now);
        let (switch, flow, egress) = (of.switch, of.flow, of.egress);
        let packets = if counts { std::mem::take(&mut of.packets) } else { Vec::new() };
        if counts {
            of.due = Time::NEVER;
        }
        if of.timers.is_empty() {
            held.remove(place);
        }
        if !counts {
            return;
        }
        held_of.remove(&(switch, flow));
        machines[switch].on_flush(flow);
        let counted = self.plan.model.forwarding.edge.is_some_and(|rule| rule.counts_held());
        for mut packet in packets {
            if counted {
                self.take_in_order(egress, &mut packet);
            } else {
                let ingress = self.switches[switch].ports[usize::from(packet.ingress)];
                self.switch_receive_rare(ingress, egress, &mut packet);
            }
        }
    }

    /// The last edge of a flow sends a message to the first one, the way that answers of its receiver take.
    fn send_edge_message(&mut self, data: &Packet, message: &EdgeMessage) {
        let receiver = &self.flows.receivers[self.flows.entries[data.flow].receiver];
        // The first port is that of the receiver's NIC, the second that of this switch.
        let at = receiver.route + 1;
        let egress = self.hop(at);
        let mut packet = Packet {
            stamp: self.now,
            flow: data.flow,
            psn: 0,
            route: at + 1,
            extra: self.edges().messages.insert(*message),
            frame_bytes: MESSAGE_BYTES,
            ingress: self.local(egress),
            kind: Kind::Edge,
            class: self.plan.classes.control,
            ecn: Ecn::NotCapable,
            flags: SPREAD,
        };
        self.flows.entries[data.flow].live += 1;
        self.switch_receive_rare(egress, egress, &mut packet);
    }

    /// Frees a message.
    pub(crate) fn take_message(&mut self, place: u32) -> EdgeMessage {
        self.edges().messages.remove(place)
    }

    /// A message has come to the first edge of its flow, which takes it out.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_edge_message(&mut self, egress: PortId, packet: &Packet) {
        let (now, switch) = (self.now, self.links.ports[egress].switch());
        let message = self.take_message(packet.extra);
        let flow = self.flows.details[self.flows.entries[packet.flow].sender].identity;
        self.edges().machines[switch].on_message(now, flow, &message);
        self.packet_gone(packet.flow);
    }
}
