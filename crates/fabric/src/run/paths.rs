//! The paths of a flow: one, several that its sender chooses from, or those that switches choose hop by hop.

use crate::contract::edge_routing::EdgeFacts;
use crate::contract::forwarding::{NextHopFacts, PathFacts};
use crate::contract::packet::TableRoute;
use crate::contract::record;
use crate::contract::record::{Multipath, Order, Paths};
use crate::contract::scheme::Scheme;
use crate::contract::traffic::FlowSpec;
use crate::id::{FlowStateId, PortId, SenderId};
use crate::network::forwarding::HashOfPackets;
use crate::network::plan::{AckPath, Dialect, NodeKind, PathMap, Plan, peer};
use crate::network::route::FlowKey;
use crate::node::edge_routing::EdgeState;
use crate::node::forwarding::{NextHopTable, PathRoutes, Spread};
use crate::run::World;
use crate::run::flow_state::Ends;
use xoff_engine::{SharedGlibc, Time};

/// Where a path leads, and how what is sent back returns.
pub(crate) struct Way {
    pub path: Vec<u32>,
    /// The way back; empty if it is the path read backwards.
    pub back: Vec<u32>,
    pub backward: bool,
}

/// What the two ends of a flow need to know of its paths: first word and hops.
pub(crate) struct Installed {
    pub sender: (u32, u8),
    pub receiver: (u32, u8),
    pub backward: bool,
    /// Paths that the sender chooses from, if there are several.
    pub routes: Option<PathRoutes>,
}

impl<S: Scheme> World<S> {
    /// Whether packets of a flow may take different paths. Flows that traffic pins and flows shaped in mid-path keep one.
    pub(crate) fn spreads(&self, spec: &FlowSpec, path: &[u32], shaped: bool) -> bool {
        let several = self.state.plan.model.forwarding.is_per_packet() && spec.multipath;
        several && spec.path.is_none() && !shaped && path.len() > 2
    }

    /// Installs the paths of a flow. `way` is its first.
    pub(crate) fn install(
        &mut self,
        flow_state: FlowStateId,
        spec: &FlowSpec,
        key: &FlowKey,
        way: &Way,
        spreads: bool,
    ) -> Installed {
        let forwarding = self.state.plan.model.forwarding;
        if !spreads {
            let [first, last] = self.lay(flow_state, &way.path, true, None);
            let receiver = if way.backward { last } else { self.lay(flow_state, &way.back, false, None)[0] };
            return Installed { sender: first, receiver, backward: way.backward, routes: None };
        }
        if forwarding.next_hop.is_some() {
            let installed = self.install_edges(flow_state, spec, forwarding.paths);
            // Where whole paths are chosen, and in that simulator, what is sent back keeps one of its own.
            let own_way = forwarding.edge.is_some() || self.state.plan.model.dialect == Dialect::ConWeave;
            if !own_way || way.backward {
                return installed;
            }
            let receiver = self.lay(flow_state, &way.back, false, None)[0];
            return Installed { receiver, ..installed };
        }
        let mut routes = Vec::with_capacity(usize::from(forwarding.paths));
        let mut first = None;
        for number in 0..forwarding.paths {
            let path = self.path_of_number(spec, key, number);
            let (back, backward) = self.way_back(spec, key, way, &path, number);
            let home = (!backward).then(|| self.lay(flow_state, &back, false, Some(Ends { number, answer: 0 }))[0]);
            let answer = home.map_or(0, |(route, _)| route + 1);
            let [there, last] = self.lay(flow_state, &path, true, Some(Ends { number, answer }));
            routes.push(there.0 + 1);
            first.get_or_insert((there, home.unwrap_or(last), backward));
        }
        let (sender, receiver, backward) = first.expect("at least one path");
        Installed { sender, receiver, backward, routes: Some(PathRoutes::Installed(routes.into())) }
    }

    fn path_of_number(&self, spec: &FlowSpec, key: &FlowKey, number: u16) -> Vec<u32> {
        if self.state.plan.model.forwarding.path_map == PathMap::Hash {
            return self.resolve_path(spec, &key.path(number), false).0;
        }
        let mut path = Vec::with_capacity(8);
        if !self.parts[0].paths.routes.numbered_path(spec.src, spec.dst, number.into(), &mut path) {
            path.truncate(1);
        }
        path
    }

    /// The way back of ACKs that answer packets of a path; that of `way` where all have the same.
    fn way_back(&self, spec: &FlowSpec, key: &FlowKey, way: &Way, path: &[u32], number: u16) -> (Vec<u32>, bool) {
        let plan = &self.state.plan;
        match (plan.ack_path, plan.model.forwarding.path_map) {
            (AckPath::Entropy, PathMap::Path) => {
                let mut back = Vec::with_capacity(8);
                self.parts[0].paths.routes.numbered_path(spec.dst, spec.src, number.into(), &mut back);
                (back, false)
            }
            (AckPath::Entropy, PathMap::Hash) => self.resolve_back(spec, &key.path(number), path),
            (AckPath::Ecmp | AckPath::Symmetric, _) if path.len() < 2 => (Vec::new(), true),
            (AckPath::Ecmp | AckPath::Symmetric, _) => (way.back.clone(), way.backward),
        }
    }

    /// A flow whose next hops switches choose has an entry in every part that its packets may cross.
    fn install_edges(&mut self, flow_state: FlowStateId, spec: &FlowSpec, paths: u16) -> Installed {
        let routes = &self.parts[0].paths.routes;
        let edges = [spec.src, spec.dst].map(|host| routes.edge_of(host).unwrap_or(0) as u16);
        let mut nodes = routes.nodes_between(spec.src, spec.dst);
        nodes.extend(routes.nodes_between(spec.dst, spec.src));
        for node in nodes {
            let part = self.layout.part_of(node);
            let entry = self.entry_in(flow_state, part);
            self.parts[usize::from(part)].flows.route_storage[entry].edges = Some(edges);
        }
        // Cursors begin one past a handle.
        let [back, edge] = edges;
        let handle = |edge| (TableRoute { edge, path: 0 }.word() - 1, 0);
        Installed {
            sender: handle(edge),
            receiver: handle(back),
            backward: false,
            routes: Some(PathRoutes::Table { edge, paths }),
        }
    }

    /// Gives a sender the paths that it chooses from.
    pub(crate) fn spread(&mut self, part: usize, flow: SenderId, identity: u64, routes: Option<PathRoutes>) {
        let plan = &self.state.plan;
        let facts = PathFacts { seed: plan.seed, flow: identity, shared: None };
        let forwarding = &mut self.parts[part].paths.forwarding;
        match (routes, forwarding.spread_mut(flow)) {
            (Some(routes), Some(spread)) => spread.routes = routes,
            (Some(routes), None) => {
                let spread = Spread::new(plan.model.forwarding.choice.machine(&facts), routes);
                forwarding.set_spread(flow, Some(Box::new(spread)));
            }
            (None, _) => {}
        }
    }

    /// Makes the machines of switches that choose next hops.
    pub(crate) fn build_next_hops(&mut self) {
        let Some(rule) = self.state.plan.model.forwarding.next_hop else { return };
        assert!(self.parts[0].paths.routes.edges() <= TableRoute::EDGES_MOST, "more edges than a packet can name");
        let seed = self.state.plan.seed as u32;
        let shared = (self.state.plan.model.dialect == Dialect::ConWeave).then(|| SharedGlibc::new(seed));
        for node in switches(&self.state.plan) {
            let part = &mut self.parts[usize::from(self.layout.part_of(node))];
            let switch = part.switches[self.layout.switch_at(node)].name;
            let facts = NextHopFacts { seed: self.state.plan.seed, switch, shared: shared.clone() };
            part.paths.forwarding.machines.push(rule.machine(&facts));
            part.paths.forwarding.ack_hashes.push(HashOfPackets::new(&facts));
        }
        self.build_edge_routing(shared);
        self.renew_next_hops();
    }

    /// Makes the machines of edges that choose paths; such a network has one part.
    fn build_edge_routing(&mut self, shared: Option<SharedGlibc>) {
        let plan = &self.state.plan;
        let (Some(rule), [part]) = (plan.model.forwarding.edge, &mut self.parts[..]) else { return };
        let mut state = EdgeState::default();
        for (node, place) in switches(plan).zip(0..) {
            let facts = EdgeFacts { seed: plan.seed, switch: place, node, shared: shared.clone() };
            state.machines.push(rule.machine(&facts));
            state.edge_of.push(None);
        }
        for host in (0..plan.nodes.len() as u32).filter(|&node| plan.is_host(node)) {
            let routes = &part.paths.routes;
            let switch = plan.node_of(peer(routes.host_port(host)));
            if let Some(edge) = routes.edge_of(host) {
                state.edge_of[self.layout.switch_at(switch)] = Some(edge as u16);
            }
        }
        part.paths.forwarding.edge = Some(Box::new(state));
    }

    /// Writes the routes of now into the tables of parts, in the port numbers of each.
    pub(crate) fn renew_next_hops(&mut self) {
        if self.state.plan.model.forwarding.next_hop.is_none() {
            return;
        }
        let edges = self.parts[0].paths.routes.edges();
        for part in &mut self.parts {
            part.paths.forwarding.next_hops = NextHopTable::new(edges);
            if let Some(edge) = &mut part.paths.forwarding.edge {
                edge.paths.clear();
            }
        }
        for node in switches(&self.state.plan) {
            let part = &mut self.parts[usize::from(self.layout.part_of(node))];
            for edge in 0..edges as u32 {
                let names = part.paths.routes.next_hops_to(node, edge);
                let ports: Vec<PortId> = names.iter().map(|&name| self.layout.port_at(name)).collect();
                part.paths.forwarding.next_hops.push(&ports);
            }
        }
    }

    /// Routes have changed: packets under way may come by parts that their flows did not cross before.
    pub(crate) fn enter_all_parts(&mut self) {
        if self.state.plan.model.forwarding.next_hop.is_none() {
            return;
        }
        let flows: Vec<FlowStateId> = self.flow_states.iter().map(|(flow_state, _)| flow_state).collect();
        for flow_state in flows {
            let Some(edges) = self.route_storage_of(flow_state).find_map(|storage| storage.edges) else { continue };
            for part in 0..self.parts.len() {
                let entry = self.entry_in(flow_state, part as u16);
                self.parts[part].flows.route_storage[entry].edges = Some(edges);
            }
        }
    }

    /// The paths of a flow's packets, its one path or what ports saw of them, and what several did to it.
    pub(crate) fn paths_taken(&self, flow_state: FlowStateId) -> (Paths, Multipath) {
        let details = self.sender_of(flow_state).1;
        let detours = details.detours.len() as u32;
        let path = &details.path;
        // Copies that are still under way when a flow ends are nothing to it. How far they have come by the time of this
        // record depends on how the network is divided.
        let end = details.ended_at.unwrap_or(Time::NEVER);
        let seen = self.route_storage_of(flow_state).flat_map(|storage| storage.hops.iter());
        let mut hops: Vec<(u32, u32)> = seen.filter(|(_, first)| *first < end).map(|(hop, _)| *hop).collect();
        if hops.is_empty() {
            return (Paths::One(path.clone()), Multipath { detours, spread: None });
        }
        hops.sort_unstable();
        let spread = record::Spread { paths_used: Paths::count(path[0], &hops), order: self.order_of(flow_state) };
        let mut paths: Vec<Box<[u32]>> = Paths::covering(path[0], &hops).iter().map(Box::from).collect();
        for path in &mut paths {
            self.complete_path(flow_state, path);
        }
        (Paths::of(paths), Multipath { detours, spread: Some(spread) })
    }

    /// Packets of a flow have not come further than the end of a path: continues it as routes do now, if they lead on.
    fn complete_path(&self, flow_state: FlowStateId, path: &mut Box<[u32]>) {
        let plan = &self.state.plan;
        let details = self.sender_of(flow_state).1;
        let arrives = |path: &[u32]| path.last().is_some_and(|&port| plan.node_of(peer(port)) == details.spec.dst);
        if !arrives(path) {
            let key = self.parts[0].flow_key(&details.spec, details.identity, details.ephemeral);
            let mut whole = path.to_vec();
            if self.parts[0].paths.routes.extend(details.spec.dst, &key, &mut whole) {
                *path = whole.into();
            }
        }
    }

    /// In which order the packets of a flow with several paths arrived.
    fn order_of(&self, flow_state: FlowStateId) -> Order {
        let (end, entry) = self.target(flow_state);
        let part = &self.parts[end];
        part.paths.forwarding.order(part.flows.entries[entry].receiver)
    }
}

/// Switches in the order of the plan, in which parts number theirs.
fn switches(plan: &Plan) -> impl Iterator<Item = u32> {
    (0..).zip(&plan.nodes).filter(|(_, node)| node.kind == NodeKind::Switch).map(|(node, _)| node)
}
