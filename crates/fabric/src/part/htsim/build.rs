//! State before the first event, and flows that begin.

use super::host_queue::HostQueue;
use super::nic::Nic;
use super::receiver::Receiver;
use super::sender::{Beginning, Entropies, Sender};
use super::switch::Crossing;
use super::timers::Timers;
use super::{Htsim, NextHops, Slips};
use crate::contract::forwarding::{PathFacts, SharedDraws};
use crate::contract::scheme::{CongestionPoint, Scheme};
use crate::id::{CpId, HostId, PortId, SenderId, SwitchId};
use crate::network::forwarding::PathRule;
use crate::network::plan::Recovery;
use crate::node::port::AT_HOST;
use crate::part::Part;
use crate::part::htsim::egress::Egress;
use std::collections::{HashMap, VecDeque};
use xoff_engine::{Id, SharedTwister, Table};

/// Numbers that hashes know flows by: of the first sender, and from each to the next.
const FIRST_FLOW: u64 = 1_000_000_001;
const FLOWS_APART: u64 = 2;
/// Port of the first connection: connections are numbered by their source ports.
const FIRST_PORT: u16 = 1024;
const UPPER_BITS: usize = 0xffff;

/// How many connections a run has, all of which draw before the first begins.
pub(crate) struct Connections(pub u32);

impl<S: Scheme> Part<S> {
    /// Makes the state of this dialect, for a network of one part.
    pub(crate) fn build_htsim(&mut self, connections: &Connections) {
        let random = SharedTwister::new(self.plan.seed as u32);
        let crossings = self.htsim_crossings(&random);
        let nics: Table<HostId, Nic> = self.hosts.iter().map(|_| Nic::default()).collect();
        for _ in 0..nics.len() {
            random.draw();
        }
        let forwarding = self.plan.model.forwarding;
        let paths = forwarding.paths;
        let draws = |rule| matches!(rule, PathRule::Oblivious | PathRule::Bitmap | PathRule::Mixed);
        let drawn = match draws(forwarding.choice) || paths == 1 {
            true => (0..connections.0).map(|_| draw_paths(&random, paths)).collect(),
            false => Vec::new(),
        };
        let egresses = self.links.ports.ids().map(|port| self.htsim_egress_of(port)).collect();
        let (next_hops, edges) = self.htsim_next_hops();
        self.compat.htsim = Some(Box::new(Htsim {
            random,
            drawn,
            wires: self.links.ports.iter().map(|_| VecDeque::new()).collect(),
            egresses,
            host_queues: self.hosts.iter().map(|_| HostQueue::default()).collect(),
            nics,
            crossings,
            senders: Vec::new(),
            receivers: Vec::new(),
            slips: Slips::default(),
            trims: self.plan.switches.iter().any(|profile| profile.trim_bytes.is_some()),
            next_hops,
            edges,
        }));
    }

    /// Switches, which draw a salt each: those of the edge first, then by their distance from it.
    fn htsim_crossings(&self, random: &SharedTwister) -> Table<SwitchId, Crossing> {
        let tiers: Table<SwitchId, u32> = self.switches.ids().map(|switch| self.htsim_tier(switch)).collect();
        let mut crossings: Table<SwitchId, Crossing> = tiers.iter().map(|tier| Crossing::new(0, *tier == 0)).collect();
        for tier in 0..=2 {
            for switch in tiers.ids().filter(|switch| tiers[*switch] == tier) {
                crossings[switch].salt = random.draw();
            }
        }
        crossings
    }

    fn htsim_tier(&self, switch: SwitchId) -> u32 {
        let neighbours = |switch: SwitchId| self.switches[switch].ports.iter().map(|port| port.peer());
        let is_edge = |switch| neighbours(switch).any(|port| self.links.ports[port].has(AT_HOST));
        match is_edge(switch) {
            true => 0,
            false if neighbours(switch).any(|port| is_edge(self.links.ports[port].switch())) => 1,
            false => 2,
        }
    }

    /// Limits of an egress, in proportion to its rate: marks are those of a port to a host.
    fn htsim_egress_of(&self, port: PortId) -> Egress {
        let name = self.links.ports[port].name;
        let rate = self.plan.direction(name).rate;
        let data = self.htsim_data_class();
        let limit_bytes = self.plan.classes.list[data].queue_time.map_or(u64::MAX / 4, |time| rate.bytes_in(time));
        let reference = self.hosts.iter().map(|host| host.port.peer()).next();
        let marks = reference.and_then(|of| {
            let cp = CpId::new(self.points.cp_bases[of].get() + (data * self.schemes.len()) as u32);
            let thresholds = self.points.cps[cp].thresholds()?;
            let full = self.plan.direction(self.links.ports[of].name).rate.bps();
            Some(thresholds.map(|bytes| (u128::from(bytes) * u128::from(rate.bps()) / u128::from(full)) as u64))
        });
        Egress::new(limit_bytes, marks.unwrap_or([u64::MAX; 2]))
    }

    fn htsim_data_class(&self) -> usize {
        let control = usize::from(self.plan.classes.control);
        (0..self.classes).find(|class| *class != control).unwrap_or(0)
    }

    fn htsim_next_hops(&self) -> (NextHops, Table<HostId, u32>) {
        let routes = &self.paths.routes;
        let mut next_hops = HashMap::new();
        for switch in self.switches.ids() {
            for edge in 0..routes.edges() as u32 {
                let names = routes.next_hops_to(self.switches[switch].node, edge);
                let ports = names.iter().map(|&name| crate::part::port_named(&self.links.ports, name)).collect();
                next_hops.insert((switch, edge), ports);
            }
        }
        let node = |host: &crate::node::host::Host| self.plan.node_of(self.links.ports[host.port].name);
        let edges = self.hosts.iter().map(|host| routes.edge_of(node(host)).unwrap_or(0)).collect();
        (next_hops, edges)
    }

    /// A flow that was added begins.
    #[cold]
    pub(crate) fn open_htsim(&mut self, id: SenderId) {
        let sender = &self.flows.senders[id];
        let entry = &self.flows.entries[sender.entry];
        let (spec, seq) = (&self.flows.details[id].spec, &sender.requester.seq);
        let port = spec.ports.map_or(FIRST_PORT, |(port, _)| port);
        let connection = port.wrapping_sub(FIRST_PORT);
        let forwarding = self.plan.model.forwarding;
        let to = self.htsim_host_at(spec.dst);
        let (packets, receiver) = (seq.total, entry.receiver);
        let identity = self.flows.details[id].identity;
        let (host, full_bytes, last_bytes) = (sender.host, sender.full_frame, sender.last_frame);
        // No shorter for a long path, as that of other runs would be.
        let time_out = self.plan.host(spec.src).retransmit_timeout;
        let sleeks = self.plan.hosts.iter().any(|host| matches!(host.recovery, Recovery::Sack(of) if of.sleek));
        let seed = self.plan.seed;
        let dialect = self.compat.htsim.as_mut().expect("only such runs have such flows");
        let [upper, order] = dialect.drawn.get(usize::from(connection)).copied().unwrap_or_default();
        let shared = Some(SharedDraws { random: dialect.random.clone(), order });
        let choice = if forwarding.paths > 1 { forwarding.choice } else { PathRule::Oblivious };
        let machine = choice.machine(&PathFacts { seed, flow: identity, shared });
        let flow = dialect.senders.len() as u32;
        dialect.senders.push(Sender::new(Beginning {
            id,
            number: FIRST_FLOW + FLOWS_APART * u64::from(connection),
            host,
            to,
            packets,
            full_bytes,
            last_bytes,
            timers: Timers::new(time_out),
            sleeks,
            entropies: Entropies { machine, paths: forwarding.paths, upper: upper as u16 },
        }));
        dialect.receivers.push(Receiver::new(receiver, packets));
        self.htsim_try(flow);
    }

    fn htsim_host_at(&self, node: u32) -> HostId {
        let hosts = (0..self.plan.nodes.len() as u32).filter(|&node| self.plan.is_host(node));
        HostId::at(hosts.take_while(|&host| host != node).count())
    }
}

impl Htsim {
    /// Number of the edge that a host is at.
    pub fn edge_of(&self, host: HostId) -> u32 {
        self.edges[host]
    }
}

/// Upper bits of the entropies of a connection, and the order of its first round.
fn draw_paths(random: &SharedTwister, paths: u16) -> [u32; 2] {
    let upper = random.below(UPPER_BITS) as u32 & !(u32::from(paths) - 1);
    [upper, random.below(paths.into()) as u32]
}
