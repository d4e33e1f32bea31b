//! From a plan to a world: nodes, ports, buffers, accounts and congestion points, all at once.

use crate::agenda::Agenda;
use crate::domain;
use crate::part::{Host, Part, Switch};
use crate::pfc;
use crate::plan::{BaseRtt, HostSettings, NicScheduler, NodeKind, Plan, Random, Service, Thresholds, Ties, peer};
use crate::port::{AT_HOST, Account, COUNTS_PASSING, EAGER, LONG_HAUL, LOSSY_WIRE, Port, Queue, SCANS};
use crate::record::Counters;
use crate::route::{FlowKey, Routes};
use crate::scan::Scan;
use crate::scheme::{CongestionPoint, Format, Hooks, QueueFacts, Scheme, Transport};
use crate::sources::Feed;
use crate::timing;
use crate::traffic::Source;
use crate::ways::Ways;
use crate::world::World;
use std::sync::Arc;
use xoff_engine::{Fifo, LinkRate, Lots, Pool, Ring, Slab, Span, Time, stream};

impl<S: Scheme> World<S> {
    /// Builds the world of a plan. The plan is trusted: whoever made it has checked it.
    pub fn new(plan: Plan, schemes: Vec<S>, sources: Vec<Box<dyn Source>>) -> World<S> {
        assert!(!schemes.is_empty() && schemes.len() <= 16, "one to sixteen schemes per run");
        let classes = plan.classes.list.len();
        assert!((1..=8).contains(&classes));
        let routes = Routes::new(&plan, |_| true);
        let mut index_of = vec![0; plan.nodes.len()];
        let (mut hosts, mut switches) = (Vec::new(), Vec::new());
        for (node, spec) in plan.nodes.iter().enumerate() {
            match spec.kind {
                NodeKind::Host => {
                    index_of[node] = hosts.len() as u32;
                    hosts.push(Host {
                        node: node as u32,
                        port: routes.host_port(node as u32),
                        profile: spec.profile,
                        ready: (0..classes).map(|_| Ring::default()).collect(),
                        last_served: crate::nic::NO_FLOW,
                        paced: Default::default(),
                        wake_at: Time::NEVER,
                        delayed: Default::default(),
                        storm: 0,
                        scan: new_scan(&plan, spec.profile),
                    });
                }
                NodeKind::Switch => {
                    index_of[node] = switches.len() as u32;
                    switches.push(new_switch(&plan, node as u32, spec.profile));
                }
            }
        }
        for port in 0..plan.ports() as u32 {
            let node = plan.node_of(port);
            if plan.nodes[node as usize].kind == NodeKind::Switch {
                switches[index_of[node as usize] as usize].ports.push(port);
            }
        }
        let formats: Vec<[Format; 2]> = schemes.iter().map(|s| [s.format(), s.format_across()]).collect();
        let mtu_wire = largest_wire_bytes(&plan, &formats);
        let accounts = new_accounts(&plan, &mut switches, mtu_wire);
        let (max_base_rtt, max_bdp_bytes) = longest(&plan, &routes);
        let ways = (plan.model.base_rtt == BaseRtt::Payload).then(|| Ways::new(&plan));
        let mask =
            |test: &dyn Fn(usize) -> bool| (0..classes).filter(|&c| test(c)).fold(0u8, |mask, c| mask | (1 << c));
        let sizes = plan.hosts.first().map_or(crate::plan::FrameSizes::ROCE_V2, |host| host.sizes);
        let weighted = plan.classes.list.iter().any(|class| class.service != Service::Strict);
        let ports = plan.ports();

        let (plan, schemes, formats) = (Arc::new(plan), Arc::new(schemes), Arc::new(formats));
        let mut part = Part {
            now: Time::ZERO,
            counters: Counters::default(),
            flows: Vec::new(),
            pauses: Vec::new(),
            pfc_frames: Vec::new(),
            taps: Default::default(),
            storms: Vec::new(),
            failure: None,
            news: Vec::new(),
            halted: false,
            lots: shared_lots(&plan),
            timers: Vec::new(),
            queue: Agenda::new(plan.model.ties),
            eager: plan.model.ties == Ties::Scheduled,
            ports: Vec::with_capacity(ports),
            queued: Pool::default(),
            in_flight: Pool::default(),
            queues: (0..ports * classes).map(|_| Queue::default()).collect(),
            accounts,
            switches,
            hosts,
            index_of,
            classes,
            strict: mask(&|c| plan.classes.list[c].service == Service::Strict),
            quantum: (plan.classes.list.iter())
                .map(|class| match class.service {
                    Service::Strict | Service::RoundRobin => 0,
                    Service::Weighted(quantum) => i64::from(quantum),
                })
                .collect(),
            deficit: if weighted { vec![0; ports * classes] } else { Vec::new() },
            in_turns: plan.classes.list.iter().any(|class| class.service == Service::RoundRobin),
            drr_next: if weighted { vec![0; ports] } else { Vec::new() },
            gap_bytes: sizes.gap_bytes,
            pfc_frame: sizes.pfc_bytes as u16,
            formats: Arc::clone(&formats),
            schemes: Arc::clone(&schemes),
            cps: Vec::new(),
            cp_due: Vec::new(),
            cp_owner: Vec::new(),
            cp_names: Vec::new(),
            notices: Vec::new(),
            senders: Slab::default(),
            receivers: Slab::default(),
            ledgers: Slab::default(),
            tags: Vec::new(),
            living: Default::default(),
            int: Slab::default(),
            feedback: Slab::default(),
            controls: Default::default(),
            shapers: Default::default(),
            routes: Arc::new(routes),
            route_ports: Vec::new(),
            route_free: Vec::new(),
            loss: (0..ports as u32).map(|port| plan.direction(port).loss).collect(),
            loss_rng: Vec::new(),
            watch: Default::default(),
            plan: Arc::clone(&plan),
        };
        part.build_ports(max_base_rtt);
        let feeds = sources.into_iter().enumerate().map(|(place, source)| Feed::new(source, place)).collect();
        let mut world = World {
            now: Time::ZERO,
            counters: Counters::default(),
            flows: Vec::new(),
            pauses: Vec::new(),
            pfc_frames: Vec::new(),
            samples: Vec::new(),
            deadlocks: Vec::new(),
            failure: None,
            part,
            agenda: Default::default(),
            feeds,
            schemes,
            formats,
            max_base_rtt,
            max_bdp_bytes,
            ways,
            probe_state: Default::default(),
            checks: Default::default(),
            done: false,
            halted: false,
            flows_enough: 0,
            finished: false,
            plan,
        };
        world.start();
        world
    }
}

impl<S: Scheme> Part<S> {
    fn build_ports(&mut self, max_base_rtt: Span) {
        let slots = self.schemes.len();
        let mtu_wire = largest_wire_bytes(&self.plan, &self.formats);
        let mut local_of = vec![0u16; self.plan.ports()];
        for switch in &self.switches {
            for (local, &port) in switch.ports.iter().enumerate() {
                local_of[port as usize] = local as u16;
            }
        }
        let pauses: Vec<Option<u64>> = self.switches.iter().map(|switch| self.paused_from(switch)).collect();
        for port in 0..self.plan.ports() as u32 {
            let node = self.plan.node_of(port);
            let direction = *self.plan.direction(port);
            let at_host = self.plan.nodes[node as usize].kind == NodeKind::Host;
            let cp_base = self.cps.len() as u32;
            let mut hooks = Hooks::NONE;
            let owner = self.index_of[node as usize];
            if !at_host {
                let (xoff, xon) =
                    match self.plan.switches[self.switches[owner as usize].profile as usize].pfc.thresholds {
                        Thresholds::Static { xoff_bytes, xon_bytes } => (Some(xoff_bytes), Some(xon_bytes)),
                        Thresholds::Dynamic { .. } => (None, None),
                    };
                for class in 0..self.classes {
                    for slot in 0..slots {
                        let name = (u64::from(port) * 8 + class as u64) * 16 + slot as u64;
                        let cp = self.schemes[slot].congestion_point(&QueueFacts {
                            seed: self.plan.seed,
                            queue: name,
                            rate: direction.rate,
                            max_base_rtt,
                            delay: direction.delay,
                            mtu_wire_bytes: mtu_wire,
                            xoff_bytes: xoff,
                            xon_bytes: xon,
                            pause_bytes: pauses[owner as usize].filter(|_| self.plan.classes.list[class].lossless),
                            leaves_domain: domain::is_long_haul(&self.plan, port),
                            lots: self.lots.clone(),
                        });
                        hooks = hooks.with(cp.hooks());
                        self.cps.push(cp);
                        self.cp_owner.push((port, class as u8));
                        self.cp_names.push(name as u32);
                    }
                }
            }
            let local = if at_host { 0 } else { local_of[port as usize] };
            self.ports.push(Port {
                busy_until: Time::ZERO,
                wire: Fifo::default(),
                rate: LinkRate::with_grain(direction.rate, self.plan.model.grain),
                delay: direction.delay,
                tx_bytes: 0,
                tx_packets: 0,
                queued_bytes: 0,
                owner,
                cp_base,
                local,
                waiting: 0,
                paused: 0,
                pfc_due: 0,
                flags: if at_host { AT_HOST } else { 0 }
                    | if direction.loss > 0.0 { LOSSY_WIRE } else { 0 }
                    | if domain::is_long_haul(&self.plan, port) { LONG_HAUL } else { 0 }
                    | if at_host && self.hosts[owner as usize].scan.is_some() { SCANS } else { 0 }
                    | if !at_host && self.counts_passing(owner) { COUNTS_PASSING } else { 0 }
                    | if self.eager { EAGER } else { 0 },
                hooks,
            });
        }
        self.build_controls(mtu_wire);
        self.cp_due = vec![Time::NEVER; self.cps.len()];
        let lossy = self.loss.iter().any(|&loss| loss > 0.0)
            || self.plan.faults.iter().any(|fault| matches!(fault.what, crate::plan::FaultKind::Loss { .. }));
        if lossy {
            self.loss_rng =
                (0..self.ports.len() as u64).map(|port| stream(self.plan.seed, "wire loss", port)).collect();
        }
    }

    /// The least that a lossless ingress of the switch holds when it is paused, alone in the buffer.
    fn paused_from(&self, switch: &Switch) -> Option<u64> {
        let first = switch.accounts as usize;
        let accounts = &self.accounts[first..first + switch.ports.len() * self.classes];
        let lossless = accounts.iter().filter(|account| account.lossless);
        lossless
            .map(|account| match switch.dynamic {
                true => pfc::paused_alone(switch.shared_bytes, account.alpha, switch.reserve_bytes),
                false => account.xoff_bytes,
            })
            .min()
    }

    fn counts_passing(&self, switch: u32) -> bool {
        self.plan.switches[self.switches[switch as usize].profile as usize].count_passing
    }
}

/// The lots that all queues share, if they do.
fn shared_lots(plan: &Plan) -> Option<Lots> {
    match plan.model.random {
        Random::Own => None,
        Random::Shared { first } => Some(Lots::new(plan.seed as u32, first)),
    }
}

/// The flows of a NIC that looks through them. Where no class has the priority that stops its ACKs,
/// nothing does.
fn new_scan(plan: &Plan, profile: u16) -> Option<Scan> {
    let NicScheduler::Scan { acks_paused_by } = plan.hosts[profile as usize].nic.scheduler else { return None };
    let stops = |priority: u8| plan.classes.list.iter().position(|class| class.priority == priority);
    Some(Scan::new(acks_paused_by.and_then(stops).map_or(0, |class| 1 << class)))
}

fn new_switch(plan: &Plan, node: u32, profile: u16) -> Switch {
    let settings = &plan.switches[profile as usize];
    let (dynamic, reserve_bytes, resume_offset_bytes) = match settings.pfc.thresholds {
        Thresholds::Static { .. } => (false, 0, 0),
        Thresholds::Dynamic { reserve_bytes, resume_offset_bytes, .. } => (true, reserve_bytes, resume_offset_bytes),
    };
    Switch {
        node,
        profile,
        ports: Vec::new(),
        accounts: 0,
        buffer_bytes: settings.buffer_bytes,
        used_bytes: 0,
        dynamic,
        reserve_bytes,
        resume_offset_bytes,
        shared_bytes: 0,
        shared_used: 0,
        lossy_bytes: 0,
        lossy_used: 0,
        signalling: settings.pfc.signalling,
    }
}

/// Ingress accounts of every switch, and what of its buffer is left to share.
fn new_accounts(plan: &Plan, switches: &mut [Switch], mtu_wire: u32) -> Vec<Account> {
    let mut accounts = Vec::new();
    for switch in switches {
        switch.accounts = accounts.len() as u32;
        let settings = &plan.switches[switch.profile as usize].pfc;
        let mut reserved = 0;
        for &port in &switch.ports {
            let (outgoing, incoming) = (&plan.slowest(port), &plan.fastest(peer(port)));
            let sizes = plan.hosts.first().map_or(crate::plan::FrameSizes::ROCE_V2, |host| host.sizes);
            let headroom = match settings.headroom {
                crate::plan::Headroom::Auto => {
                    pfc::required_headroom(incoming, outgoing, mtu_wire, &sizes, plan.model.grain)
                }
                crate::plan::Headroom::Bytes(bytes) => bytes,
                crate::plan::Headroom::Bdps(bdps) => pfc::bytes_on_wire(incoming) * u64::from(bdps),
            };
            let mut counted = false;
            for (class, spec) in plan.classes.list.iter().enumerate() {
                let (xoff, xon, alpha) = match settings.thresholds {
                    Thresholds::Static { xoff_bytes, xon_bytes } => (xoff_bytes, xon_bytes, 0.0),
                    Thresholds::Dynamic { alpha, .. } => (0, 0, pfc::alpha_at(alpha, incoming.rate)),
                };
                if spec.lossless && !(settings.set_aside_per_port && counted) {
                    reserved += headroom + if switch.dynamic { switch.reserve_bytes } else { xoff };
                    counted = true;
                }
                accounts.push(Account {
                    bytes: 0,
                    peak_bytes: 0,
                    xoff_bytes: xoff,
                    xon_bytes: xon,
                    headroom_bytes: if spec.lossless { headroom } else { 0 },
                    in_headroom: 0,
                    alpha,
                    lowest_xoff: u64::MAX,
                    port,
                    class: class as u8,
                    lossless: spec.lossless,
                    pausing: false,
                    refresh_pending: false,
                });
            }
        }
        switch.shared_bytes = switch.buffer_bytes.saturating_sub(reserved);
        // Lossy traffic may never take what lossless classes were promised; where the promise
        // already exceeds the buffer, control packets still need somewhere to be.
        switch.lossy_bytes = switch.shared_bytes.max(switch.buffer_bytes / 16);
    }
    accounts
}

/// Wire bytes of the largest data packet any host sends, before what a scheme adds.
pub fn mtu_wire_bytes(plan: &Plan) -> u32 {
    plan.hosts.iter().map(|h| h.mtu_bytes + h.sizes.data_header_bytes + h.sizes.gap_bytes).max().unwrap_or(1106)
}

/// Wire bytes of the largest data packet of the run: [`mtu_wire_bytes`], what a scheme adds, and the
/// headers of TCP where they are the longer ones.
pub fn largest_wire_bytes(plan: &Plan, formats: &[[Format; 2]]) -> u32 {
    let longer = |h: &HostSettings| h.sizes.tcp_header_bytes.saturating_sub(h.sizes.data_header_bytes);
    let tcp_bytes = plan.hosts.iter().map(longer).max().unwrap_or(0);
    let overhead = |format: &Format| match format.transport {
        Transport::Roce => format.data_bytes,
        Transport::Tcp => format.data_bytes + tcp_bytes,
    };
    mtu_wire_bytes(plan) + formats.iter().flatten().map(overhead).max().unwrap_or(0)
}

/// The longest base round trip between two hosts. Hosts of one edge differ only in their own
/// link, so the slowest (two, for a pair under one edge) stand for all.
pub fn max_base_rtt(plan: &Plan, routes: &Routes) -> Span {
    longest(plan, routes).0
}

/// A full packet and an ACK, the largest that any host sends, before what a scheme adds.
pub fn largest_exchange(plan: &Plan) -> timing::Exchange {
    timing::Exchange {
        data_wire: mtu_wire_bytes(plan),
        ack_wire: plan.hosts.iter().map(|h| h.sizes.ack_bytes + h.sizes.gap_bytes).max().unwrap_or(86),
    }
}

/// The longest base round trip between two hosts, and the largest bandwidth-delay product.
fn longest(plan: &Plan, routes: &Routes) -> (Span, u64) {
    if plan.model.base_rtt == BaseRtt::Payload {
        let mtu_bytes = plan.hosts.iter().map(|h| h.mtu_bytes).max().unwrap_or(1000);
        return Ways::new(plan).longest(plan, mtu_bytes);
    }
    let exchange = largest_exchange(plan);
    let own = |host: u32| timing::base_rtt(plan, &[routes.host_port(host)], exchange);
    let mut by_edge: std::collections::BTreeMap<u32, Vec<u32>> = Default::default();
    for (node, spec) in plan.nodes.iter().enumerate() {
        if spec.kind == NodeKind::Host {
            by_edge.entry(plan.node_of(peer(routes.host_port(node as u32)))).or_default().push(node as u32);
        }
    }
    for hosts in by_edge.values_mut() {
        hosts.sort_by_cached_key(|&host| std::cmp::Reverse(own(host)));
    }
    // The farthest hosts of an edge stand for the longest round trip, the nearest, which are the fastest,
    // for the largest product.
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for a in by_edge.values() {
        if let ([far, other, ..], [.., another, near]) = (&a[..], &a[..]) {
            pairs.extend([(*far, *other), (*near, *another)]);
        }
        for b in by_edge.values().filter(|b| b[0] != a[0]) {
            pairs.extend([(a[0], b[0]), (a[a.len() - 1], b[b.len() - 1])]);
        }
    }
    let mut path = Vec::new();
    let (mut longest, mut largest) = (Span::ZERO, 0);
    for (a, b) in pairs {
        if routes.path(a, b, &FlowKey::between(a, b), &mut path) {
            let base_rtt = timing::base_rtt(plan, &path, exchange);
            longest = longest.max(base_rtt);
            largest = largest.max(timing::bdp_bytes(plan, &path, base_rtt));
        }
    }
    (longest, largest)
}
