//! How a flow begins and ends: its number, its packets, its path.

use crate::queue_pair::{Message, QueuePair, Sizes, Way, first_path};
use crate::world::FlowWorld;
use xoff_engine::{BitRate, LinkRate, Span};
use xoff_fabric::ack_rule::AckRule;
use xoff_fabric::plan::{AckPath, peer};
use xoff_fabric::record::Paths;
use xoff_fabric::route::FlowKey;
use xoff_fabric::scheme::{FlowFacts, Transport};
use xoff_fabric::timing::{self, Exchange};
use xoff_fabric::traffic::FlowSpec;

/// Hops of most paths, at most.
const LONGEST_PATH: usize = 8;

impl FlowWorld {
    pub(crate) fn start_flow(&mut self, source: u32, spec: FlowSpec) {
        let id = self.state.counters.flows_started as u32;
        self.state.counters.flows_started += 1;
        let of = &mut self.sources[source as usize];
        let number = of.started;
        of.started += 1;
        let (identity, ephemeral, tells) =
            (of.name.flow(number, &spec), of.name.port(number), of.subscription.of_messages());
        let ports = spec.ports_or(ephemeral);
        let key = FlowKey { seed: self.state.plan.seed, identity, from: spec.src, to: spec.dst, ports, number: 0 };
        let (sizes, transport) = self.sizes_of(&spec);
        let way = self.way_of(&spec, &key, &sizes, tells);
        let (ideal, base_rtt) = self.times_of(&spec, &way, &sizes);
        let latency = spec.size_bytes.map_or((0, 0), |bytes| {
            let serialised = (sizes.wire(bytes) as f64 * 8e12 / way.slowest_bps as f64).ceil() as i64;
            (bytes, ideal.ps() as i64 - serialised)
        });
        let (handle, stranded) = (spec.handle, way.stranded);
        let (size, offered) = (spec.size_bytes, spec.offered_bytes);
        let idle = QueuePair::idle(source, id, key, spec, sizes, way, self.state.now);
        let flow = QueuePair { number, ideal, base_rtt, latency, ..idle };
        let slot = self.flows.insert(flow);
        self.sources[source as usize].flows.insert(handle, slot);
        self.lay(slot, transport);
        match (size, offered) {
            (Some(bytes), _) => self.send(slot, bytes, 0, true),
            (None, Some(bytes)) => {
                self.flows[slot].spec.offered_bytes = Some(0);
                self.offer(slot, bytes);
            }
            (None, None) => self.send_without_end(slot),
        }
        if self.flows[slot].spec.probed {
            self.probes.add(slot, &self.flows[slot]);
        }
        if stranded {
            let now = self.state.now;
            self.tell(source, |of| of.on_stranded(now, handle, true));
        }
    }

    fn send_without_end(&mut self, slot: u32) {
        let flow = &mut self.flows[slot];
        flow.head = Some(Message { payload: u64::MAX, wire: f64::INFINITY, name: 0, told: false });
        self.ending.unfinished += 1;
        self.ending.progress_at = self.ending.progress_at.max(self.state.now);
        if !self.flows[slot].way.stranded {
            self.shares.activate(slot);
        }
    }

    /// Packets of a flow as they are on the wire.
    pub(crate) fn sizes_of(&self, spec: &FlowSpec) -> (Sizes, Transport) {
        let plan = &self.state.plan;
        let domain = |node: u32| plan.nodes[node as usize].domain;
        let format = &self.schemes[usize::from(spec.scheme)].formats[usize::from(domain(spec.src) != domain(spec.dst))];
        let (sender, receiver) = (plan.host(spec.src), plan.host(spec.dst));
        let (header, ack) = match format.transport {
            Transport::Roce => (sender.sizes.data_header_bytes, receiver.sizes.ack_bytes),
            Transport::Tcp => (sender.sizes.tcp_header_bytes, receiver.sizes.tcp_ack_bytes),
        };
        let gap = self.network.gap_bytes;
        let sizes = Sizes {
            mtu: sender.mtu_bytes,
            overhead: header + format.data_bytes + gap,
            least: sender.sizes.min_frame_bytes + gap,
            ack: ack + format.ack_bytes + gap,
        };
        (sizes, format.transport)
    }

    /// Where a flow goes by the routes of now.
    pub(crate) fn way_of(&self, spec: &FlowSpec, key: &FlowKey, sizes: &Sizes, tells: bool) -> Way {
        let (plan, routes) = (&self.state.plan, &self.network.routes);
        let dead = |ports: &[u32]| ports.iter().any(|&port| self.network.convergence.is_dead(port / 2));
        let (mut path, mut back) = (Vec::with_capacity(LONGEST_PATH), Vec::with_capacity(LONGEST_PATH));
        let stranded = match &spec.path {
            Some(pinned) => {
                path.extend_from_slice(pinned);
                dead(&path)
            }
            None => {
                let found = routes.path(spec.src, spec.dst, key, &mut path);
                if !found {
                    path.truncate(1);
                }
                !found || (tells && dead(&path))
            }
        };
        if spec.path.is_some() || plan.ack_path == AckPath::Symmetric || path.len() < 2 {
            back.extend(path.iter().rev().map(|&port| peer(port)));
        } else {
            routes.path(spec.dst, spec.src, &key.reversed(), &mut back);
        }
        let spreads = plan.model.forwarding.is_per_packet() && spec.multipath && spec.path.is_none() && path.len() > 2;
        let (hops, spread) = match spreads && !stranded {
            false => (Vec::new(), None),
            true => (self.shares_of_hops(spec), Some(routes.hops_between(spec.src, spec.dst))),
        };
        let all = path.iter().copied().filter(|_| hops.is_empty()).chain(hops.iter().map(|&(port, _)| port));
        let slowest = all.map(|port| plan.fastest(port).rate.bps()).min().unwrap_or(1);
        let back_ps = plan.host(spec.dst).ack_delay.ps()
            + back.iter().map(|&port| plan.direction(port).delay.ps() + self.serialise(port, sizes.ack)).sum::<u64>();
        Way { path: Paths::One(path.into()), hops, spread, back, back_ps, slowest_bps: slowest, stranded }
    }

    fn serialise(&self, port: u32, wire_bytes: u32) -> u64 {
        LinkRate::with_resolution(self.network.rates[port as usize], self.state.plan.model.resolution)
            .serialise(wire_bytes)
            .ps()
    }

    /// Ports of all shortest paths of a flow, with their shares of it: every switch spreads evenly over its next hops.
    fn shares_of_hops(&self, spec: &FlowSpec) -> Vec<(u32, f64)> {
        let (plan, routes) = (&self.state.plan, &self.network.routes);
        let mut hops: Vec<(u32, f64)> = vec![(routes.host_port(spec.src), 1.0)];
        let mut arriving: Vec<(u32, f64)> = vec![(plan.node_of(peer(hops[0].0)), 1.0)];
        let last = peer(routes.host_port(spec.dst));
        while let Some((node, share)) = arriving.pop() {
            let next = match node == plan.node_of(last) {
                true => std::slice::from_ref(&last),
                false => routes.next_hops(node, spec.dst),
            };
            for &port in next {
                let own = share / next.len() as f64;
                match hops.iter_mut().find(|hop| hop.0 == port) {
                    Some(hop) => hop.1 += own,
                    None => hops.push((port, own)),
                }
                let far = plan.node_of(peer(port));
                if far != spec.dst {
                    // Shares that meet at a switch leave it together.
                    match arriving.iter_mut().find(|other| other.0 == far) {
                        Some(other) => other.1 += own,
                        None => arriving.insert(0, (far, own)),
                    }
                }
            }
        }
        hops
    }

    pub(crate) fn times_of(&self, spec: &FlowSpec, way: &Way, sizes: &Sizes) -> (Span, Span) {
        let plan = &*self.state.plan;
        let exchange = Exchange { data_wire_bytes: sizes.full(), ack_wire_bytes: sizes.ack };
        let path = first_path(&way.path);
        let base_rtt = match &way.spread {
            Some(hops) => timing::longest_base_rtt(plan, hops, exchange),
            None => timing::base_rtt(plan, path, exchange),
        };
        let ideal = spec.size_bytes.map_or(Span::ZERO, |bytes| {
            let (packets, last) = sizes.packets(bytes);
            match &way.spread {
                Some(hops) => timing::ideal_over_all(plan, hops, packets, sizes.full(), last),
                None => timing::ideal_delivery(plan, path, packets, sizes.full(), last),
            }
        });
        (ideal, base_rtt)
    }

    /// A flow goes another way.
    pub(crate) fn lay_again(&mut self, slot: u32) {
        let transport = self.sizes_of(&self.flows[slot].spec).1;
        self.lay(slot, transport);
    }

    /// Tells the shares where a flow goes and how many ACKs it causes.
    fn lay(&mut self, slot: u32, transport: Transport) {
        let flow = &self.flows[slot];
        let every = self.acks_every(&flow.spec, flow.identity, flow.base_rtt, (&flow.way, &flow.sizes), transport);
        let share = f64::from(flow.sizes.ack) / (f64::from(flow.sizes.full()) * f64::from(every));
        let back = flow.way.back.iter().map(|&port| (port, share));
        self.shares.set_flow(slot, flow.spec.class, flow.way.shares(), back);
        let limit = self.limit_of(slot);
        self.shares.set_limit(slot, limit);
    }

    /// Packets for which one ACK comes.
    pub(crate) fn acks_every(
        &self,
        spec: &FlowSpec,
        identity: u64,
        base_rtt: Span,
        (way, sizes): (&Way, &Sizes),
        transport: Transport,
    ) -> u32 {
        let receiver = self.state.plan.host(spec.dst);
        if receiver.ack_every <= 1 {
            return 1;
        }
        let line_rate = self.line_rate(spec.src);
        let facts = FlowFacts {
            seed: self.state.plan.seed,
            flow: identity,
            line_rate,
            start: self.state.now,
            initial_rate: spec.initial_rate.map_or(line_rate, |rate| rate.min(line_rate)),
            base_rtt,
            max_base_rtt: self.network.max_base_rtt,
            bdp_bytes: line_rate.bytes_in(self.network.max_base_rtt),
            mtu_bytes: sizes.mtu,
            mtu_wire_bytes: sizes.full(),
            weight: spec.weight,
            hops: first_path(&way.path).len().saturating_sub(1) as u8,
            ack_delay: receiver.ack_delay,
            inter_domain: None,
            spread: way.spread.is_some(),
            trims: false,
        };
        let limits = (self.schemes[usize::from(spec.scheme)].first_limits)(&facts);
        limits.map_or(receiver.ack_every, |limits| {
            AckRule::new(transport, receiver.ack_every, limits.window_bytes, sizes.mtu).every
        })
    }

    pub(crate) fn line_rate(&self, host: u32) -> BitRate {
        self.network.rates[self.network.routes.host_port(host) as usize]
    }

    /// The most that a flow may send: line rate, what its application allows, and what it keeps to.
    pub(crate) fn limit_of(&self, slot: u32) -> f64 {
        let flow = &self.flows[slot];
        if let Some(together) = &flow.together {
            return self.limit_together(together);
        }
        let line = self.line_rate(flow.spec.src);
        let kept = flow.spec.initial_rate.filter(|_| self.schemes[usize::from(flow.spec.scheme)].keeps_initial_rate);
        [flow.spec.rate_cap, kept].into_iter().flatten().fold(line, BitRate::min).bps() as f64
    }

    /// Ends a flow: writes its record and informs its source.
    pub(crate) fn end_flow(&mut self, slot: u32) {
        let now = self.state.now;
        self.account_partly(slot);
        match &self.flows[slot].together {
            // Connections of a macro-flow have no records.
            Some(together) => self.state.counters.flows_completed += together.flow.edges.len() as u64,
            None => {
                let record = self.record(slot);
                self.state.flows.push(record);
                self.state.counters.flows_completed += 1;
            }
        }
        self.shares.deactivate(slot);
        self.completions.remove(slot);
        let flow = self.flows.remove(slot);
        self.probes.remove(slot);
        let (source, handle) = (flow.source, flow.spec.handle);
        let of = &mut self.sources[source as usize];
        if of.flows.get(handle) == Some(slot) {
            of.flows.remove(handle);
            self.tell(source, |of| of.on_finished(now, handle));
        }
    }
}
