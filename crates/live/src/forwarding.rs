//! Where a switch sends a frame: by what its headers say, and by nothing else.

use crate::network::{Network, TIDY_FROM};
use std::collections::HashMap;
use xoff_engine::Time;
use xoff_engine::rng::mix;
use xoff_fabric::capture::FlowName;
use xoff_fabric::ends;
use xoff_fabric::scheme::{PacketFacts, Transport};
use xoff_fabric::traffic::ROCE_PORT;
use xoff_wire::{Roce, RoceKind, Seen, Tcp};

/// Queue pair numbers below are left alone: a flow's is its number and this.
const FIRST_QUEUE_PAIR: u32 = 16;

/// The number of the flow that has a queue pair.
pub fn flow_of(queue_pair: u32) -> u32 {
    queue_pair.wrapping_sub(FIRST_QUEUE_PAIR) & 0xff_ffff
}

/// What a header names: addresses, ports, class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    pub from: u32,
    pub to: u32,
    /// UDP or TCP ports, source first.
    pub ports: (u16, u16),
    /// Index into the plan's classes.
    pub class: u8,
}

/// What a frame's headers name; `None` for frames that end at the link, and for addresses and priorities that nobody
/// has.
pub fn address_of(seen: &Seen, network: &Network) -> Option<Address> {
    let (from, to, ports, class) = match seen {
        Seen::Roce(Roce { ends, udp_source, priority, .. }) => {
            (ends.src, ends.dst, (*udp_source, ROCE_PORT), network.class_of(*priority)?)
        }
        Seen::Tcp(Tcp { ends, source_port, destination_port, priority, .. }) => {
            (ends.src, ends.dst, (*source_port, *destination_port), network.class_of(*priority)?)
        }
        Seen::Cnm(cnm) => (cnm.flow_to, cnm.to, (0, 0), network.plan.classes.control),
        Seen::Pfc(_) | Seen::Neighbour(_) => return None,
    };
    (network.is_host(from) && network.is_host(to)).then_some(Address { from, to, ports, class })
}

/// Egresses by address, worked out once each.
#[derive(Debug, Default)]
pub struct Forwarding {
    known: HashMap<Address, u32>,
}

impl Forwarding {
    /// The egress port for what came in by a port.
    pub fn egress(&mut self, ingress: u32, address: &Address, network: &Network) -> Option<u32> {
        if let Some(&egress) = self.known.get(address) {
            return Some(egress);
        }
        let egress = network.egress(ingress, address.from, address.to, address.ports)?;
        self.known.insert(*address, egress);
        Some(egress)
    }
}

/// A flow as a switch has learned it from a data packet.
#[derive(Clone, Copy, Debug)]
pub struct Learned {
    /// What a message to its source must name.
    pub name: FlowName,
    /// Local number of the port it comes in by: messages to its source leave there.
    pub ingress: usize,
    seen_at: Time,
}

/// Flows whose data passed here not long ago, by number.
#[derive(Debug, Default)]
pub struct FlowTable {
    flows: HashMap<u32, Learned>,
    /// Flows at which it is gone through for old ones.
    tidy_at: usize,
}

impl FlowTable {
    /// A data packet has come: its scheme, and what a congestion point is shown of it.
    pub fn learn(
        &mut self,
        seen: &Seen,
        ingress: usize,
        size: u32,
        now: Time,
        network: &Network,
    ) -> Option<(u8, PacketFacts)> {
        let mut name = data_of(seen, network)?;
        name.full_frame_bytes = size as u16;
        if let Some(known) = self.flows.get(&name.id) {
            name.full_frame_bytes = name.full_frame_bytes.max(known.name.full_frame_bytes);
        }
        self.flows.insert(name.id, Learned { name, ingress, seen_at: now });
        if self.flows.len() > self.tidy_at.max(TIDY_FROM) {
            let lasts = network.forgets_after();
            self.flows.retain(|_, flow| now.saturating_since(flow.seen_at) < lasts);
            self.tidy_at = self.flows.len() * 2;
        }
        Some((name.scheme, facts_of(&name, size, network)))
    }

    pub fn get(&self, flow: u32) -> Option<&Learned> {
        self.flows.get(&flow)
    }
}

/// What a congestion point is shown of a data packet.
pub fn facts_of(name: &FlowName, size: u32, network: &Network) -> PacketFacts {
    // Where senders spray, packets of a flow have many ports.
    let port = if network.spraying().is_some() { 0 } else { name.src_port };
    PacketFacts {
        flow: name.id,
        name: mix(u64::from(port) << 32 | u64::from(name.id)) as u32,
        ends: ends(name.src, name.dst),
        frame_bytes: size,
        own: true,
    }
}

/// The flow of a data packet, as its headers tell; `None` for other frames.
pub fn data_of(seen: &Seen, network: &Network) -> Option<FlowName> {
    let name = |id, (src, dst), (priority, scheme), transport, src_port, dst_port| {
        let known = usize::from(scheme) < network.schemes() && network.is_host(src) && network.is_host(dst);
        known.then_some(())?;
        Some(FlowName {
            id,
            label: 0,
            src,
            dst,
            class: network.class_of(priority)?,
            scheme,
            transport,
            src_port,
            dst_port,
            full_frame_bytes: 0,
        })
    };
    match seen {
        Seen::Roce(roce @ Roce { what: RoceKind::Data { .. }, .. }) => {
            let id = flow_of(roce.queue_pair);
            let ends = (roce.ends.src, roce.ends.dst);
            name(id, ends, (roce.priority, roce.scheme), Transport::Roce, roce.udp_source, None)
        }
        Seen::Tcp(tcp) if tcp.payload_bytes > 0 => {
            let id = tcp_number(tcp.ends.src, tcp.ends.dst, tcp.source_port);
            let to = Some(tcp.destination_port);
            let ends = (tcp.ends.src, tcp.ends.dst);
            name(id, ends, (tcp.priority, tcp.scheme), Transport::Tcp, tcp.source_port, to)
        }
        _ => None,
    }
}

/// The number of the flow that an ACK or NAK is about; `None` for other frames.
pub fn acknowledged_by(seen: &Seen) -> Option<u32> {
    match seen {
        Seen::Roce(Roce { what: RoceKind::Ack { .. } | RoceKind::Nak { .. }, queue_pair, .. }) => {
            Some(flow_of(*queue_pair))
        }
        Seen::Tcp(tcp) if tcp.payload_bytes == 0 => Some(tcp_number(tcp.ends.dst, tcp.ends.src, tcp.destination_port)),
        _ => None,
    }
}

/// TCP has no queue pairs: a hash of addresses and port stands for the flow, in 24 bits as theirs.
pub fn tcp_number(src: u32, dst: u32, port: u16) -> u32 {
    mix(mix(u64::from(src) << 32 | u64::from(dst)) ^ u64::from(port)) as u32 & 0xff_ffff
}
