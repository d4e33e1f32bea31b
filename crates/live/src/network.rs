//! What every node knows of the network: the plan, the ways through it, and what follows from both.

use std::sync::Arc;
use xoff_engine::{LinkRate, Span, Time};
use xoff_fabric::capture::FlowName;
use xoff_fabric::forwarding::{PathChoice, PathFacts};
use xoff_fabric::plan::{AckClass, AckPath, Forwarding, NodeKind, PathRule, Plan, path_choice, peer};
use xoff_fabric::route::{FlowKey, Routes};
use xoff_fabric::scheme::{FlowFacts, Format, Scheme, Transport};
use xoff_fabric::{domain, extent, pfc, timing};
use xoff_wire::queue_pair;

#[derive(Debug)]
pub struct Network {
    pub plan: Arc<Plan>,
    routes: Routes,
    /// By scheme: of flows within a domain, and between domains.
    formats: Vec<[Format; 2]>,
    pub max_base_rtt: Span,
    pub max_bdp_bytes: u64,
    pub mtu_wire_bytes: u32,
    /// After each frame on the wire.
    pub gap_bytes: u32,
    /// By IEEE priority.
    class_of: [Option<u8>; 8],
    node_of: Vec<u32>,
}

/// What identifies a flow on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowId {
    /// The sending and the receiving host, by node.
    pub src: u32,
    pub dst: u32,
    /// Zero where senders spray: every packet has another.
    pub port: u16,
    /// The queue pair; zero for TCP.
    pub queue_pair: u32,
    /// Which of the run's schemes controls it.
    pub scheme: u8,
}

/// How senders choose a path for each packet.
#[derive(Clone, Copy, Debug)]
pub struct Spraying {
    rule: PathRule,
    /// Entropies to choose from.
    pub paths: u16,
    /// ACKs come with the entropy of their data.
    pub ack_has_entropy: bool,
}

/// Tables of flows are gone through when they have grown past this, and have doubled since.
pub const TIDY_FROM: usize = 1024;

impl Spraying {
    /// The choice of one flow.
    pub fn choice(&self, seed: u64, flow: u64) -> Box<dyn PathChoice> {
        path_choice(self.rule, &PathFacts { seed, flow, shared: None })
    }
}

impl Network {
    /// A flow that was not heard of for so long is forgotten: far beyond any round trip.
    pub fn forgets_after(&self) -> Span {
        (self.max_base_rtt * 256).max(Span::from_ms(10))
    }

    pub fn new<S: Scheme>(plan: &Arc<Plan>, schemes: &[S]) -> Network {
        let routes = Routes::new(plan, |_| true);
        let (max_base_rtt, max_bdp_bytes) = extent::longest(plan, &routes);
        let formats: Vec<_> = schemes.iter().map(|scheme| [scheme.format(), scheme.format_inter_domain()]).collect();
        let mut class_of = [None; 8];
        for (class, spec) in (0..).zip(&plan.classes.list) {
            class_of[usize::from(spec.priority & 7)] = Some(class);
        }
        Network {
            routes,
            max_base_rtt,
            max_bdp_bytes,
            mtu_wire_bytes: pfc::largest_wire_bytes(plan, &formats),
            formats,
            gap_bytes: plan.hosts.first().map_or(20, |host| host.sizes.gap_bytes),
            class_of,
            node_of: (0..plan.ports() as u32).map(|port| plan.node_of(port)).collect(),
            plan: Arc::clone(plan),
        }
    }

    pub fn node_of(&self, port: u32) -> u32 {
        self.node_of[port as usize]
    }

    pub fn ports_of(&self, node: u32) -> Vec<u32> {
        (0..).zip(&self.node_of).filter(|(_, owner)| **owner == node).map(|(port, _)| port).collect()
    }

    pub fn class_of(&self, priority: u8) -> Option<u8> {
        self.class_of[usize::from(priority & 7)]
    }

    pub fn is_host(&self, node: u32) -> bool {
        self.plan.nodes.get(node as usize).is_some_and(|node| node.kind == NodeKind::Host)
    }

    pub fn host_port(&self, host: u32) -> u32 {
        self.routes.host_port(host)
    }

    pub fn rate(&self, port: u32) -> LinkRate {
        LinkRate::new(self.plan.direction(port).rate)
    }

    pub fn format(&self, flow: &FlowId) -> Format {
        let domain = |node: u32| self.plan.nodes[node as usize].domain;
        self.formats[usize::from(flow.scheme)][usize::from(domain(flow.src) != domain(flow.dst))]
    }

    pub fn schemes(&self) -> usize {
        self.formats.len()
    }

    /// The egress by which a switch sends on what came in by `ingress`, by addresses and ports alone.
    pub fn egress(&self, ingress: u32, from: u32, to: u32, ports: (u16, u16)) -> Option<u32> {
        let mut path = vec![peer(ingress)];
        let found = self.routes.extend(to, &FlowKey { ports, ..FlowKey::between(from, to) }, &mut path);
        path.get(1).copied().filter(|_| found)
    }

    pub fn flow_id(&self, name: &FlowName) -> FlowId {
        let (queue_pair, port) = match name.transport {
            Transport::Roce if self.spraying().is_some() => (queue_pair(name), 0),
            Transport::Roce => (queue_pair(name), name.src_port),
            Transport::Tcp => (0, name.src_port),
        };
        FlowId { src: name.src, dst: name.dst, port, queue_pair, scheme: name.scheme }
    }

    /// What senders choose from, if each packet may take another path.
    pub fn spraying(&self) -> Option<Spraying> {
        let Forwarding { paths, choice, .. } = self.plan.model.forwarding;
        let ack_has_entropy = self.plan.ack_path == AckPath::Entropy;
        (paths > 1).then_some(Spraying { rule: choice, paths, ack_has_entropy })
    }

    /// Whether somewhere two ways are equally short, so that a hash decides.
    pub fn has_choices(&self) -> bool {
        let nodes = 0..self.plan.nodes.len() as u32;
        let hosts = nodes.clone().filter(|node| self.is_host(*node));
        let choice = |host: u32| nodes.clone().any(|at| !self.is_host(at) && self.routes.next_hops(at, host).len() > 1);
        hosts.into_iter().any(choice)
    }

    /// Egress ports from the NIC of a host to the last switch before another.
    pub fn path(&self, src: u32, dst: u32, ports: (u16, u16)) -> Vec<u32> {
        let mut path = Vec::new();
        self.routes.path(src, dst, &FlowKey { ports, ..FlowKey::between(src, dst) }, &mut path);
        path
    }

    /// Frame bytes of a full data packet of a flow.
    pub fn full_frame_bytes(&self, flow: &FlowId) -> u32 {
        self.header_bytes(flow) + self.plan.host(flow.src).mtu_bytes
    }

    /// Frame bytes of a data packet that are not payload.
    pub fn header_bytes(&self, flow: &FlowId) -> u32 {
        let (format, sizes) = (self.format(flow), self.plan.host(flow.src).sizes);
        format.data_bytes
            + match format.transport {
                Transport::Roce => sizes.data_header_bytes,
                Transport::Tcp => sizes.tcp_header_bytes,
            }
    }

    pub fn ack_bytes(&self, flow: &FlowId) -> u32 {
        let (format, sizes) = (self.format(flow), self.plan.host(flow.dst).sizes);
        format.ack_bytes
            + match format.transport {
                Transport::Roce => sizes.ack_bytes,
                Transport::Tcp => sizes.tcp_ack_bytes,
            }
    }

    /// The class in which ACKs of a flow's data travel.
    pub fn ack_class(&self, dst: u32, data: u8) -> u8 {
        match self.plan.host(dst).ack_class {
            AckClass::Control => self.plan.classes.control,
            AckClass::WithData => data,
        }
    }

    /// A full packet of a flow and its ACK.
    pub fn exchange(&self, flow: &FlowId) -> timing::Exchange {
        timing::Exchange {
            data_wire_bytes: self.full_frame_bytes(flow) + self.gap_bytes,
            ack_wire_bytes: self.ack_bytes(flow) + self.gap_bytes,
        }
    }

    /// What the two ends of a flow may know of it that any of them can work out.
    pub fn facts(&self, flow: &FlowId, name: u64, start: Time) -> FlowFacts {
        let FlowId { src, dst, port, .. } = *flow;
        let path = self.path(src, dst, (port, xoff_fabric::traffic::ROCE_PORT));
        let exchange = self.exchange(flow);
        let spread = self.spraying().is_some() && path.len() > 2;
        let base_rtt = match spread {
            true => timing::longest_base_rtt(&self.plan, &self.routes.hops_between(src, dst), exchange),
            false => timing::base_rtt(&self.plan, &path, exchange),
        };
        let line_rate = self.plan.direction(self.host_port(src)).rate;
        let bdp_bytes = match self.plan.host(src).nic.inflight_cap {
            None => line_rate.bytes_in(self.max_base_rtt),
            Some(cap) if cap.at_line_rate => line_rate.bytes_in(if cap.longest { self.max_base_rtt } else { base_rtt }),
            Some(cap) if cap.longest => self.max_bdp_bytes,
            Some(_) => timing::bdp_bytes(&self.plan, &path, base_rtt),
        };
        FlowFacts {
            seed: self.plan.seed,
            flow: name,
            line_rate,
            start,
            initial_rate: line_rate,
            base_rtt,
            max_base_rtt: self.max_base_rtt,
            bdp_bytes,
            mtu_bytes: self.plan.host(src).mtu_bytes,
            mtu_wire_bytes: exchange.data_wire_bytes,
            weight: 1,
            hops: path.len().saturating_sub(1) as u8,
            ack_delay: self.plan.host(dst).ack_delay,
            inter_domain: domain::inter_domain(&self.plan, &path, exchange),
            spread,
            // Live switches do not trim.
            trims: false,
        }
    }
}
