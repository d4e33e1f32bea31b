//! From a plan to a world: nodes, ports, buffers and congestion points.

use crate::buffer::broadcom::Broadcom;
use crate::contract::precision::Precision;
use crate::contract::record::Counters;
use crate::contract::scheme::{CongestionPoint, Format, Hooks, QueueFacts, Scheme, name_in_path, queue_number};
use crate::contract::traffic::Source;
use crate::id::{CpId, HostId, PortId, SenderId, SwitchId};
use crate::network::domain;
use crate::network::extent;
use crate::network::payload_paths::PayloadPaths;
use crate::network::pfc::{self, NetworkFacts, largest_wire_bytes};
use crate::network::plan::{
    BaseRtt, Dialect, Fault, FaultKind, FrameSizes, Link, NicScheduler, NodeKind, Plan, Random, Service,
    SwitchSettings, Thresholds, Ties, peer,
};
use crate::network::rates::Rates;
use crate::network::route::{Convergence, Routes};
use crate::node::host::Host;
use crate::node::port::{
    AT_HOST, BOUNDARY, CHECKS, COUNTS_PASSING, EAGER, FOREIGN, LONG_HAUL, LOSSY_LINK, LinkTypes, Port, Queue, REMOTE,
    SCANS, TO_HOST,
};
use crate::node::scan::Scan;
use crate::node::stacks::Stacks;
use crate::node::switch::Switch;
use crate::part::Part;
use crate::part::agenda::Agenda;
use crate::part::compat::Compat;
use crate::part::htsim::Connections;
use crate::part::remote::{Exit, RemoteQueues};
use crate::part::state::{CongestionPoints, CpTimer, EgressQueues, Flows, Links, Paths, Records};
use crate::run::sources::SourceState;
use crate::run::window::Window;
use crate::run::{RunState, World};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use xoff_engine::{BitRate, Fifo, Id, Key, LinkRate, Pool, Ring, SharedRandom, Slab, Span, Table, Time, stream};

/// Packets per port of a switch that pools have room for from the start: queues of a loaded network.
const ROOM: usize = 256;

/// Stream of marks in ConWeave's simulator: the first that its user may number.
const MARKS_STREAM: u64 = 1 << 63;

/// Parts from which on what each keeps for later adds up.
const MANY_PARTS: usize = 64;

/// What the queues of a port add to the identifier of a path.
fn names_in_path(port: u32, classes: usize) -> impl Iterator<Item = u16> {
    (0..classes as u8).map(move |class| name_in_path(queue_number(port, class, 0)))
}

/// Of the telemetry that is kept: where packets of several schemes meet, that of any of them.
fn precision(formats: &[[Format; 2]]) -> Precision {
    match formats {
        [[within, _]] => within.precision,
        _ => Precision::Exact,
    }
}

/// Which part every node belongs to, and its numbers there.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Per node.
    part_of: Vec<u16>,
    /// Per node: its number among the hosts or switches of its part, and of the network.
    index_of: Vec<u32>,
    number_of: Vec<u32>,
    /// Per port: its number in the part of its node.
    port_at: Vec<PortId>,
    /// Per switch of the network: number of its first ingress (port, class) among all.
    first_ingress: Vec<u32>,
    /// Per part: its nodes, and both ends of every link of theirs, by the numbers they have in the network.
    nodes_of: Vec<Vec<u32>>,
    names_of: Vec<Vec<u32>>,
    /// What all parts mean by the number of a rate.
    rates: Arc<Rates>,
}

impl Layout {
    fn new(plan: &Plan, part_of: Vec<u16>) -> Layout {
        let parts = part_of.iter().max().map_or(1, |last| usize::from(*last) + 1);
        let (mut counts, mut numbers) = (vec![[0u32; 2]; parts], [0u32; 2]);
        let (mut index_of, mut number_of) = (Vec::new(), Vec::new());
        let (mut nodes_of, mut names_of) = (vec![Vec::new(); parts], vec![Vec::new(); parts]);
        for ((node, spec), &part) in (0..).zip(&plan.nodes).zip(&part_of) {
            let (part, kind) = (usize::from(part), usize::from(spec.kind == NodeKind::Switch));
            nodes_of[part].push(node);
            index_of.push(counts[part][kind]);
            number_of.push(numbers[kind]);
            counts[part][kind] += 1;
            numbers[kind] += 1;
        }
        let mut port_at = vec![PortId::NONE; plan.ports()];
        let mut degree = vec![0; plan.nodes.len()];
        for (link, ends) in (0..).zip(&plan.links) {
            let ports = [link * 2, link * 2 + 1];
            let homes = [ends.a, ends.b].map(|node| usize::from(part_of[node as usize]));
            for (port, home) in ports.into_iter().zip(homes) {
                port_at[port as usize] = PortId::new(names_of[home].len() as u32 + port % 2);
            }
            names_of[homes[0]].extend(ports);
            if homes[1] != homes[0] {
                names_of[homes[1]].extend(ports);
            }
            degree[ends.a as usize] += 1;
            degree[ends.b as usize] += 1;
        }
        let switches = plan.nodes.iter().zip(degree).filter(|(node, _)| node.kind == NodeKind::Switch);
        let first_ingress = switches.scan(0, |sum, (_, degree)| {
            let first = *sum;
            *sum += degree * plan.classes.list.len() as u32;
            Some(first)
        });
        let first_ingress = first_ingress.collect();
        let rates = Arc::new(Rates::of(plan));
        Layout { index_of, number_of, port_at, first_ingress, nodes_of, names_of, rates, part_of }
    }

    fn parts(&self) -> usize {
        self.nodes_of.len()
    }

    pub fn part_of(&self, node: u32) -> u16 {
        self.part_of[node as usize]
    }

    /// The number of a port in the part of its node.
    pub fn port_at(&self, name: u32) -> PortId {
        self.port_at[name as usize]
    }

    /// The number of a host among those of its part.
    pub fn host_at(&self, node: u32) -> HostId {
        HostId::new(self.index_of[node as usize])
    }

    /// The number of a switch among those of its part.
    pub fn switch_at(&self, node: u32) -> SwitchId {
        SwitchId::new(self.index_of[node as usize])
    }

    /// Where the links of a part's ports lead, if there are other parts.
    fn exits(&self, plan: &Plan, number: u16) -> Table<PortId, Exit> {
        if self.parts() == 1 {
            return Table::default();
        }
        let exit =
            |&name: &u32| Exit { part: self.part_of(plan.node_of(peer(name))), port: self.port_at(peer(name)).peer() };
        self.names_of[usize::from(number)].iter().map(exit).collect()
    }
}

impl<S: Scheme> World<S> {
    /// Builds the world of a plan, in one part. The plan is trusted: whoever made it has checked it.
    pub fn new(plan: impl Into<Arc<Plan>>, schemes: Vec<S>, sources: Vec<Box<dyn Source>>) -> World<S> {
        let plan = plan.into();
        let part_of = vec![0; plan.nodes.len()];
        World::in_parts(plan, schemes, sources, part_of)
    }

    /// The same, cut into parts; `part_of` has the part of every node. Hosts are in the part of their switch.
    /// Results are those of one part.
    pub fn in_parts(
        plan: impl Into<Arc<Plan>>,
        schemes: Vec<S>,
        sources: Vec<Box<dyn Source>>,
        part_of: Vec<u16>,
    ) -> World<S> {
        let plan = plan.into();
        assert!(!schemes.is_empty() && schemes.len() <= 16, "one to sixteen schemes per run");
        assert!((1..=8).contains(&plan.classes.list.len()));
        let routes = Arc::new(Routes::new(&plan, |_| true));
        let formats: Vec<[Format; 2]> = schemes.iter().map(|s| [s.format(), s.format_inter_domain()]).collect();
        let (max_base_rtt, max_bdp_bytes) = extent::longest(&plan, &routes);
        let payload_paths = (plan.model.base_rtt == BaseRtt::Payload).then(|| PayloadPaths::new(&plan));
        let window = Window::of(&plan, &part_of, &formats);
        let layout = Layout::new(&plan, part_of);
        let (schemes, formats) = (Arc::new(schemes), Arc::new(formats));
        let part = |number| Part::new(&plan, &schemes, &formats, &routes, &layout, number, max_base_rtt);
        let mut parts: Vec<Part<S>> = (0..layout.parts() as u16).map(part).collect();
        crate::part::remote::connect(&mut parts);
        let sources = sources.into_iter().enumerate().map(|(place, source)| SourceState::new(source, place)).collect();
        let mut world = World {
            parts,
            layout,
            window,
            flow_states: Slab::default(),
            acts: Default::default(),
            actions: Vec::new(),
            agenda: Default::default(),
            own: Counters::default(),
            convergence: Convergence::default(),
            sources,
            ended: Vec::new(),
            grid: grid(&plan),
            schemes,
            formats,
            max_base_rtt,
            max_bdp_bytes,
            payload_paths,
            probe_state: Default::default(),
            watched: None,
            checks: Default::default(),
            done: false,
            halted: false,
            flows_enough: 0,
            finished: false,
            state: RunState::new(plan),
        };
        world.build_next_hops();
        if world.state.plan.run.record_flow_links {
            world.parts.iter_mut().for_each(Part::count_flow_links);
        }
        if world.state.plan.model.dialect == Dialect::Htsim {
            let connections = Connections(world.state.plan.model.connections);
            world.parts[0].build_htsim(&connections);
        }
        world.start();
        world
    }
}

impl<S: Scheme> Part<S> {
    fn new(
        plan: &Arc<Plan>,
        schemes: &Arc<Vec<S>>,
        formats: &Arc<Vec<[Format; 2]>>,
        routes: &Arc<Routes>,
        layout: &Layout,
        number: u16,
        max_base_rtt: Span,
    ) -> Part<S> {
        let names = &layout.names_of[usize::from(number)];
        let (ports, classes) = (names.len(), plan.classes.list.len());
        let mtu_wire_bytes = largest_wire_bytes(plan, formats);
        let network = NetworkFacts { max_base_rtt, mtu_wire_bytes };
        let (hosts, switches) = new_nodes(plan, routes, layout, number, network);
        let services = || plan.classes.list.iter().map(|class| class.service);
        let mask = |of: Service| (0..).zip(services()).fold(0, |mask, (c, s)| mask | (u8::from(s == of) << c));
        let sizes = plan.hosts.first().map_or(FrameSizes::ROCE_V2, |host| host.sizes);
        let weighted = services().any(|service| service != Service::Strict);
        let own_ports: usize = switches.iter().map(|switch| switch.ports.len()).sum();
        let own_cps = own_ports * classes * schemes.len();
        let mut part = Part {
            now: Time::ZERO,
            counters: Counters::default(),
            records: Records { rank: (layout.parts() > 1).then_some(Key::before(Time::ZERO)), ..Records::default() },
            next: Key::before(Time::ZERO),
            commands: Default::default(),
            remote: RemoteQueues::new(layout.exits(plan, number)),
            pace: Default::default(),
            compat: Compat {
                shared_random: shared_random(plan),
                pfc_frames: BTreeMap::new(),
                timers: Table::default(),
                eager: plan.model.ties == Ties::Scheduled,
                dialect: plan.model.dialect,
                late: HashMap::new(),
                htsim: None,
            },
            queue: Agenda::new(plan.model.ties, layout.parts() == 1),
            links: Links {
                ports: Vec::with_capacity(ports).into(),
                in_flight: new_pool(layout, own_ports),
                touched: 0,
                gap_bytes: sizes.gap_bytes,
                pfc_frame: sizes.pfc_bytes as u16,
                link_types: LinkTypes::new(&layout.rates),
                wraps: Default::default(),
                loss: Table::default(),
                loss_rng: Table::default(),
            },
            egress: EgressQueues {
                queued: new_pool(layout, own_ports),
                queues: (0..ports * classes).map(|_| Queue::default()).collect(),
                names: names.iter().flat_map(|&port| names_in_path(port, classes)).collect(),
                histories: Table::default(),
                strict: mask(Service::Strict),
                quantum: services().map(quantum).collect(),
                deficit: if weighted { vec![0; ports * classes] } else { Vec::new() }.into(),
                round_robin: services().any(|service| service == Service::RoundRobin),
                drr_next: if weighted { vec![0; ports] } else { Vec::new() }.into(),
            },
            switches,
            hosts,
            classes,
            formats: Arc::clone(formats),
            schemes: Arc::clone(schemes),
            points: CongestionPoints::with_capacity(ports, own_cps),
            flows: Flows {
                senders: Slab::default(),
                receivers: Slab::default(),
                details: Slab::default(),
                entries: Slab::default(),
                route_storage: Slab::default(),
                flows_by_id: Default::default(),
                int: Stacks::new(precision(formats), &layout.rates),
                feedback: Slab::default(),
                selective: Slab::default(),
            },
            voq_switches: Default::default(),
            shapers: Default::default(),
            paths: Paths { forwarding: Default::default(), routes: Arc::clone(routes), route_ports: Vec::new() },
            watch: Default::default(),
            plan: Arc::clone(plan),
        };
        part.build_ports(names, layout, number, network);
        part.build_voq_switches(mtu_wire_bytes);
        part.build_losses(names);
        part
    }

    /// Losses and random numbers of links, if any loses frames or will.
    fn build_losses(&mut self, names: &[u32]) {
        let plan = &self.plan;
        let loss = |name: &u32| plan.direction(*name).loss;
        let will_lose = |fault: &Fault| matches!(fault.what, FaultKind::Loss { .. });
        if names.iter().any(|name| loss(name) > 0.0) || plan.faults.iter().any(will_lose) {
            self.links.loss = names.iter().map(loss).collect();
            self.links.loss_rng = names.iter().map(|&name| stream(plan.seed, "wire loss", u64::from(name))).collect();
        }
    }

    fn build_ports(&mut self, names: &[u32], layout: &Layout, number: u16, network: NetworkFacts) {
        let mut local_of: Table<PortId, u16> = vec![0; names.len()].into();
        for switch in &self.switches {
            for (local, &port) in switch.ports.iter().enumerate() {
                local_of[port] = local as u16;
            }
        }
        let pauses: Table<SwitchId, Option<u64>> =
            self.switches.iter().map(|switch| switch.buffer.paused_alone()).collect();
        for (port, &name) in (0..).map(PortId::new).zip(names) {
            let node = self.plan.node_of(name) as usize;
            let direction = *self.plan.direction(name);
            let at_host = self.plan.nodes[node].kind == NodeKind::Host;
            let own = layout.part_of[node] == number;
            let owner = layout.index_of[node];
            self.points.cp_bases.push(CpId::new(self.points.cps.len() as u32));
            let link_type = self
                .links
                .link_types
                .number(LinkRate::with_resolution(direction.rate, self.plan.model.resolution), direction.delay);
            let hooks = match own && !at_host {
                true => self.build_cps(port, SwitchId::new(owner), pauses[SwitchId::new(owner)], name, network),
                false => Hooks::NONE,
            };
            self.links.ports.push(Port {
                busy_until: Time::ZERO,
                in_flight: Fifo::default(),
                link_type,
                tx_bytes: 0,
                tx_packets: 0,
                queued_bytes: 0,
                name,
                owner,
                far_local: local_of[port.peer()],
                waiting: 0,
                paused: 0,
                pfc_due: 0,
                flags: if at_host { AT_HOST } else { 0 }
                    | if direction.loss > 0.0 { LOSSY_LINK } else { 0 }
                    | if domain::is_long_haul(&self.plan, name) { LONG_HAUL } else { 0 }
                    | if own && at_host && self.hosts[HostId::new(owner)].scan.is_some() { SCANS } else { 0 }
                    | if own && !at_host && self.counts_passing(SwitchId::new(owner)) { COUNTS_PASSING } else { 0 }
                    | if own && !at_host && self.switches[SwitchId::new(owner)].has_checks() { CHECKS } else { 0 }
                    | if self.compat.eager { EAGER } else { 0 }
                    | if own && !at_host && self.compat.dialect == Dialect::ConWeave { FOREIGN } else { 0 }
                    | if own { 0 } else { REMOTE }
                    | if self.plan.is_host(self.plan.node_of(peer(name))) { TO_HOST } else { 0 }
                    | if own && layout.part_of(self.plan.node_of(peer(name))) != number { BOUNDARY } else { 0 },
                hooks,
            });
        }
    }

    /// The congestion points of a port of a switch: one per class and scheme. What they listen to.
    fn build_cps(
        &mut self,
        port: PortId,
        switch: SwitchId,
        pause: Option<u64>,
        name: u32,
        network: NetworkFacts,
    ) -> Hooks {
        let direction = *self.plan.direction(name);
        let settings = &self.plan.switches[self.switches[switch].profile as usize];
        let (xoff, xon) = match settings.pfc.thresholds {
            Thresholds::Static { xoff_bytes, xon_bytes } => (Some(xoff_bytes), Some(xon_bytes)),
            Thresholds::Dynamic { .. } => (None, None),
        };
        let mut hooks = Hooks::NONE;
        for class in 0..self.classes {
            for (slot, scheme) in self.schemes.iter().enumerate() {
                let queue = queue_number(name, class as u8, slot);
                let cp = scheme.congestion_point(&QueueFacts {
                    seed: self.plan.seed,
                    queue,
                    rate: direction.rate,
                    max_base_rtt: network.max_base_rtt,
                    delay: direction.delay,
                    mtu_wire_bytes: network.mtu_wire_bytes,
                    xoff_bytes: xoff,
                    xon_bytes: xon,
                    pause_bytes: pause.filter(|_| self.plan.classes.list[class].lossless),
                    leaves_domain: domain::is_long_haul(&self.plan, name),
                    last_hop: self.plan.is_host(self.plan.node_of(peer(name))),
                    shared_random: self.marks_of(switch, class as u8),
                });
                hooks = hooks.with(cp.hooks());
                if cp.hooks().has(Hooks::TIMER) {
                    let at = CpId::new(self.points.cps.len() as u32);
                    let timer = CpTimer { due: Time::NEVER, port, name: queue as u32, class: class as u8 };
                    *self.points.timers.reach(at, CpTimer::none) = timer;
                }
                self.points.cps.push(cp);
            }
        }
        if self.schemes.len() > 1 { hooks.calling() } else { hooks }
    }

    /// Where the marks of a class take their numbers from, if not from a stream of their queue's own.
    fn marks_of(&self, switch: SwitchId, class: u8) -> Option<SharedRandom> {
        match self.compat.dialect {
            Dialect::Own | Dialect::Htsim => self.compat.shared_random.clone(),
            // ACKs draw nothing.
            Dialect::ConWeave if self.plan.classes.control == class => None,
            Dialect::ConWeave => self.switches[switch].marks.clone(),
        }
    }

    fn counts_passing(&self, switch: SwitchId) -> bool {
        self.plan.switches[self.switches[switch].profile as usize].count_passing
    }
}

/// The hosts and switches of a part.
fn new_nodes(
    plan: &Plan,
    routes: &Routes,
    layout: &Layout,
    part: u16,
    network: NetworkFacts,
) -> (Table<HostId, Host>, Table<SwitchId, Switch>) {
    let (mut hosts, mut switches) = (Table::default(), Table::default());
    let names = &layout.names_of[usize::from(part)];
    let mut ports_of: Table<SwitchId, Vec<PortId>> = Table::default();
    for (port, &name) in (0..).map(PortId::new).zip(names) {
        let node = plan.node_of(name);
        if layout.part_of(node) == part && !plan.is_host(node) {
            ports_of.reach(layout.switch_at(node), Vec::new).push(port);
        }
    }
    for &node in &layout.nodes_of[usize::from(part)] {
        let spec = &plan.nodes[node as usize];
        let name = layout.number_of[node as usize];
        match spec.kind {
            NodeKind::Host => {
                hosts.push(Host {
                    name,
                    port: layout.port_at(routes.host_port(node)),
                    profile: spec.profile,
                    ready: (0..plan.classes.list.len()).map(|_| Ring::default()).collect(),
                    last_served: SenderId::NONE,
                    paced: Default::default(),
                    wake_at: Time::NEVER,
                    delayed: Default::default(),
                    storm: 0,
                    scan: new_scan(plan, spec.profile),
                });
            }
            NodeKind::Switch => {
                let settings = &plan.switches[usize::from(spec.profile)];
                let ports = ports_of.get_mut(layout.switch_at(node)).map(std::mem::take).unwrap_or_default();
                let foreign = foreign_buffer(plan, settings, ports.iter().map(|port| names[port.index()]));
                // Every switch has a generator of its own, and all have the same seed and stream.
                let marks = foreign.as_ref().map(|_| SharedRandom::one(plan.seed as u32, MARKS_STREAM));
                switches.push(Switch {
                    node,
                    name,
                    first_ingress: layout.first_ingress[name as usize],
                    profile: spec.profile,
                    buffer: pfc::buffer(plan, settings, ports.iter().map(|port| names[port.index()]), network),
                    ports,
                    signalling: settings.pfc.signalling,
                    storms: 0,
                    marks,
                    foreign,
                    checks: Vec::new(),
                });
            }
        }
    }
    (hosts, switches)
}

/// Buffer of another simulator, if its rules hold.
fn foreign_buffer(plan: &Plan, settings: &SwitchSettings, ports: impl Iterator<Item = u32>) -> Option<Box<Broadcom>> {
    let links: Vec<(BitRate, Span)> = ports.map(|port| plan.direction(port)).map(|of| (of.rate, of.delay)).collect();
    let broadcom = || Box::new(Broadcom::new(settings.buffer_bytes, plan.classes.list.len(), &links));
    (plan.model.dialect == Dialect::ConWeave).then(broadcom)
}

/// Room for the packets of so many ports.
fn new_pool<T>(layout: &Layout, ports: usize) -> Pool<T> {
    let new = if layout.parts() < MANY_PARTS { Pool::with_room } else { Pool::frugal };
    new(ports * ROOM)
}

fn quantum(service: Service) -> i64 {
    match service {
        Service::Strict | Service::RoundRobin => 0,
        Service::Weighted(quantum) => i64::from(quantum),
    }
}

/// What lies between the times at which what is over is forgotten: some hops, by the shortest link between
/// switches; with several domains, between those.
fn grid(plan: &Plan) -> Span {
    let domain = |node: u32| plan.nodes[node as usize].domain;
    let inner = plan.links.iter().filter(|link| !plan.leads_to_host(link));
    let several = inner.clone().any(|link| domain(link.a) != domain(link.b));
    let counted = inner.filter(|link| !several || domain(link.a) != domain(link.b));
    let shortest = counted.map(Link::delay).min();
    (shortest.unwrap_or(Span::from_us(1)) * 8).max(Span::from_us(1))
}

/// The random stream that all queues share, if they do.
fn shared_random(plan: &Plan) -> Option<SharedRandom> {
    match plan.model.random {
        Random::Own => None,
        Random::Shared { first } => Some(SharedRandom::new(plan.seed as u32, first)),
    }
}

/// The flows of a NIC that looks through them. Where no class has the priority that stops its ACKs,
/// nothing does.
fn new_scan(plan: &Plan, profile: u16) -> Option<Scan> {
    let NicScheduler::Scan { acks_paused_by } = plan.hosts[profile as usize].nic.scheduler else { return None };
    let stops = |priority: u8| plan.classes.list.iter().position(|class| class.priority == priority);
    let late = plan.model.dialect == Dialect::ConWeave;
    Some(Scan::new(acks_paused_by.and_then(stops).map_or(0, |class| 1 << class), late))
}
