//! How a flow begins: its number, its packets, its path, its three machines.

use crate::contract::packet::{SPREAD, TRANSIT};
use crate::contract::record::RecoveryRecord;
use crate::contract::scheme::{FlowFacts, Format, NotificationPoint, Scheme, Transport};
use crate::contract::traffic::{FlowSpec, Subscription};
use crate::flow::ends::{FlowDetails, InUse, PacketSizes, Receiver, Sender};
use crate::flow::identity::{self, FlowEntry};
use crate::flow::pacing::{Pacing, SendState};
use crate::flow::transport::{Conditions, Requester, Responder, Stream};
use crate::id::{FlowEntryId, FlowStateId, ReceiverId, SenderId, SourceId};
use crate::network::domain;
use crate::network::plan::{AckClass, AckPath};
use crate::network::route::FlowKey;
use crate::network::timing;
use crate::part::Part;
use crate::part::command::FlowCommand;
use crate::run::World;
use crate::run::paths::Way;
use xoff_engine::{BitRate, Span, Time};

/// Which flow of the run it is.
struct FlowIdentity {
    source: SourceId,
    id: u32,
    number: u64,
    identity: u64,
    ephemeral: u16,
}

/// Its packets and what acknowledges them.
struct Packets {
    format: Format,
    mtu_bytes: u32,
    ack_frame: u32,
    ack_class: u8,
    sizes: PacketSizes,
}

impl Packets {
    fn stream(&self) -> Stream {
        Stream::new(self.sizes.total, self.mtu_bytes, self.sizes.short_bytes)
    }
}

/// Where it goes, and how long that takes on an idle network.
struct PathInfo {
    key: FlowKey,
    way: Way,
    stranded: bool,
    exchange: timing::Exchange,
    base_rtt: Span,
    ideal: Span,
    line_rate: BitRate,
    bdp_bytes: u64,
}

/// What one of its ends has in its part: an entry, and the first segment of a path.
#[derive(Clone, Copy)]
struct PathHandle {
    entry: FlowEntryId,
    route: u32,
    hops: u8,
}

impl<S: Scheme> World<S> {
    pub(crate) fn start_flow(&mut self, source: SourceId, spec: FlowSpec) {
        let identity = self.number_flow(source, &spec);
        let (handle, subscription) = (spec.handle, self.sources[source].subscription);
        let packets = self.packets_of(&spec);
        let path_info = self.path_info_of(&spec, &identity, &packets, subscription.of_messages());
        let facts = self.facts_of(&spec, &identity, &packets, &path_info);
        let scheme = &self.schemes[usize::from(spec.scheme)];
        let (rp, np) = (scheme.reaction_point(&facts), scheme.notification_point(&facts));
        let transit = facts.inter_domain.and_then(|_| scheme.transit(&facts));
        let entry = FlowEntry {
            id: identity.id,
            name: identity.identity as u32,
            ends: identity::ends(spec.src, spec.dst),
            weight: spec.weight,
            scheme: spec.scheme,
            flow_state: FlowStateId::NONE,
            sender: SenderId::NONE,
            receiver: ReceiverId::NONE,
            live: 0,
            notification_frame: self.state.plan.host(spec.src).sizes.notification_bytes as u16,
        };
        let flow_state = self.add_flow_state(entry, source, &spec);
        let shaped = transit.is_some();
        let spreads = self.spreads(&spec, &path_info.way.path, shaped);
        let installed = self.install(flow_state, &spec, &path_info.key, &path_info.way, spreads);
        if let Some(machine) = transit {
            let (part, entry) = self.target(flow_state);
            self.parts[part].add_shaper(entry, self.state.plan.nodes[spec.dst as usize].domain, machine);
        }
        let path_handle = |entry, (route, hops)| PathHandle { entry, route, hops };
        let (part, entry) = self.origin(flow_state);
        let flags = if shaped { TRANSIT } else { 0 } | if spreads { SPREAD } else { 0 };
        let mut sender = self.sender(rp, path_handle(entry, installed.sender), flags, &spec, &packets, &path_info);
        sender.subscription = subscription;
        // A source that sends messages and counts deliveries waits for no ACK.
        self.window.foresight.acks |= spec.size_bytes.is_some() || subscription.acknowledged || subscription.drained;
        let sender = self.parts[part].add_sender(sender, details(&identity, &spec, self.state.now, &path_info));
        self.spread(part, sender, identity.identity, installed.routes);
        let (end, entry) = self.target(flow_state);
        let mut receiver = self.receiver(
            np,
            path_handle(entry, installed.receiver),
            subscription.delivered,
            &spec,
            &packets,
            &path_info,
        );
        receiver.backward = installed.backward;
        let receiver = self.parts[end].add_receiver(receiver);
        let state = &mut self.flow_states[flow_state];
        (state.sender, state.receiver) = (sender, receiver);
        self.sources[source].flows.insert(spec.handle, flow_state);
        if spec.probed {
            self.probe_flow(flow_state);
        }
        self.command(source, part, FlowCommand::Open(sender));
        if path_info.stranded {
            self.tell_stranded(source, handle, true);
        }
    }

    fn number_flow(&mut self, source: SourceId, spec: &FlowSpec) -> FlowIdentity {
        let id = self.own.flows_started as u32;
        self.own.flows_started += 1;
        let source_state = &mut self.sources[source];
        let number = source_state.started;
        source_state.started += 1;
        FlowIdentity {
            source,
            id,
            number,
            identity: source_state.name.flow(number, spec),
            ephemeral: source_state.name.port(number),
        }
    }

    fn packets_of(&self, spec: &FlowSpec) -> Packets {
        let domain = |node: u32| self.state.plan.nodes[node as usize].domain;
        let inter_domain = domain(spec.src) != domain(spec.dst);
        let format = self.formats[usize::from(spec.scheme)][usize::from(inter_domain)];
        let (settings, responder) = (self.state.plan.host(spec.src), self.state.plan.host(spec.dst));
        let (header_bytes, ack_frame) = match format.transport {
            Transport::Roce => (settings.sizes.data_header_bytes, responder.sizes.ack_bytes),
            Transport::Tcp => (settings.sizes.tcp_header_bytes, responder.sizes.tcp_ack_bytes),
        };
        let (header_bytes, ack_frame) = (header_bytes + format.data_bytes, ack_frame + format.ack_bytes);
        Packets {
            format,
            mtu_bytes: settings.mtu_bytes,
            ack_frame,
            ack_class: match responder.ack_class {
                AckClass::Control => self.state.plan.classes.control,
                AckClass::WithData => spec.class,
            },
            sizes: PacketSizes::new(settings, header_bytes, spec.size_bytes),
        }
    }

    fn path_info_of(&self, spec: &FlowSpec, identity: &FlowIdentity, packets: &Packets, tells: bool) -> PathInfo {
        let key = self.parts[0].flow_key(spec, identity.identity, identity.ephemeral);
        let (path, stranded) = self.resolve_path(spec, &key, tells);
        let (back, backward) = self.resolve_back(spec, &key, &path);
        let gap = self.parts[0].links.gap_bytes;
        let full_wire_bytes = u32::from(packets.sizes.full_frame) + gap;
        let exchange = timing::Exchange { data_wire_bytes: full_wire_bytes, ack_wire_bytes: packets.ack_frame + gap };
        let paths = self.payload_paths.as_ref();
        let payload_path =
            paths.and_then(|paths| paths.to(&self.state.plan, spec.dst, packets.mtu_bytes)[spec.src as usize]);
        let plan = &*self.state.plan;
        let several = self.spreads(spec, &path, false);
        let hops = several.then(|| self.parts[0].paths.routes.hops_between(spec.src, spec.dst));
        let base_rtt = match (payload_path, &hops) {
            (Some(path), _) => path.round_trip(),
            (None, Some(hops)) => timing::longest_base_rtt(plan, hops, exchange),
            (None, None) => timing::base_rtt(plan, &path, exchange),
        };
        let last_wire_bytes = u32::from(packets.sizes.last_frame) + gap;
        let ideal = match (packets.sizes.total, &hops) {
            (u32::MAX, _) => Span::ZERO,
            (total, Some(hops)) => {
                timing::ideal_over_all(plan, hops, u64::from(total), full_wire_bytes, last_wire_bytes)
            }
            (total, None) => timing::ideal_delivery(plan, &path, u64::from(total), full_wire_bytes, last_wire_bytes),
        };
        let line_rate = self.line_rate(spec.src);
        let bdp_bytes = match self.state.plan.host(spec.src).nic.inflight_cap {
            None => line_rate.bytes_in(self.max_base_rtt),
            Some(cap) if cap.at_line_rate => line_rate.bytes_in(if cap.longest { self.max_base_rtt } else { base_rtt }),
            Some(cap) if cap.longest => self.max_bdp_bytes,
            Some(_) => payload_path
                .map_or_else(|| timing::bdp_bytes(&self.state.plan, &path, base_rtt), |path| path.bdp_bytes()),
        };
        let way = Way { path, back, backward };
        PathInfo { key, way, stranded, exchange, base_rtt, ideal, line_rate, bdp_bytes }
    }

    fn facts_of(&self, spec: &FlowSpec, identity: &FlowIdentity, packets: &Packets, path_info: &PathInfo) -> FlowFacts {
        let line_rate = path_info.line_rate;
        FlowFacts {
            seed: self.state.plan.seed,
            flow: identity.identity,
            line_rate,
            start: self.state.now,
            initial_rate: spec.initial_rate.map_or(line_rate, |rate| rate.min(line_rate)),
            base_rtt: path_info.base_rtt,
            max_base_rtt: self.max_base_rtt,
            bdp_bytes: path_info.bdp_bytes,
            mtu_bytes: packets.mtu_bytes,
            mtu_wire_bytes: path_info.exchange.data_wire_bytes,
            weight: spec.weight,
            hops: path_info.way.path.len().saturating_sub(1) as u8,
            ack_delay: self.state.plan.host(spec.dst).ack_delay,
            inter_domain: domain::inter_domain(&self.state.plan, &path_info.way.path, path_info.exchange),
            spread: self.spreads(spec, &path_info.way.path, false),
            trims: self.state.plan.switches.iter().any(|profile| profile.trim_bytes.is_some()),
        }
    }

    fn sender(
        &self,
        rp: S::Rp,
        PathHandle { entry, route, hops }: PathHandle,
        packet_flags: u8,
        spec: &FlowSpec,
        packets: &Packets,
        path_info: &PathInfo,
    ) -> Sender<S::Rp> {
        let host = self.layout.host_at(spec.src);
        let part = &self.parts[usize::from(self.layout.part_of(spec.src))];
        let conditions = Conditions {
            format: &packets.format,
            sender: self.state.plan.host(spec.src),
            receiver: self.state.plan.host(spec.dst),
            base_rtt: path_info.base_rtt,
            max_bdp_bytes: self.max_bdp_bytes,
            full_wire_bytes: path_info.exchange.data_wire_bytes,
            lossless: self.state.plan.classes.list[usize::from(spec.class)].lossless,
        };
        let mut requester = Requester::new(&conditions, packets.stream());
        requester.seq.stranded = path_info.stranded;
        if let Some(bytes) = spec.offered_bytes {
            requester.seq.offer(bytes);
        }
        let (line_bps, wire_bytes) = (path_info.line_rate.bps() as f64, path_info.exchange.data_wire_bytes);
        let mut pacing = Pacing::new(self.state.now, line_bps, wire_bytes, path_info.bdp_bytes, spec.rate_cap);
        if part.hosts[host].scan.is_some() {
            pacing.state = SendState::Scanned;
        }
        Sender {
            in_use: InUse::Yes,
            rests: false,
            rp,
            requester,
            pacing,
            host,
            entry,
            class: spec.class,
            int: packets.format.int,
            packet_flags,
            ecn: packets.format.ecn,
            subscription: Subscription::DRAINED,
            ended: false,
            full_frame: packets.sizes.full_frame,
            last_frame: packets.sizes.last_frame,
            due: Time::NEVER,
            route,
            hops,
            sent_wire_bytes: 0,
            packets_sent: 0,
        }
    }

    fn receiver(
        &self,
        np: S::Np,
        PathHandle { entry, route, hops }: PathHandle,
        tells: bool,
        spec: &FlowSpec,
        packets: &Packets,
        path_info: &PathInfo,
    ) -> Receiver<S::Np> {
        let responder = self.state.plan.host(spec.dst);
        Receiver {
            feeds_back_in_acks: np.feeds_back_in_acks(),
            np,
            in_use: InUse::Yes,
            responder: Responder::new(&packets.format, responder, packets.stream()),
            host: self.layout.host_at(spec.dst),
            entry,
            tells,
            ack_frame: packets.ack_frame as u16,
            notification_frame: responder.sizes.notification_bytes as u16,
            ack_class: packets.ack_class,
            due: Time::NEVER,
            route,
            hops,
            backward: path_info.way.backward,
            delivered_at: None,
            marked: 0,
            recovery: RecoveryRecord::default(),
        }
    }

    /// What the NIC of a host sends at.
    pub(crate) fn line_rate(&self, node: u32) -> BitRate {
        let part = &self.parts[usize::from(self.layout.part_of(node))];
        let host = &part.hosts[self.layout.host_at(node)];
        part.links.link_types.of(&part.links.ports[host.port]).rate.rate()
    }

    /// The flow's egress ports: pinned, or by the hash of what identifies it; and whether they lead nowhere. Routes do
    /// not look at the links of the two hosts: a flow sends into a dead one and resends, unless its source wants to know.
    pub(crate) fn resolve_path(&self, spec: &FlowSpec, key: &FlowKey, tells: bool) -> (Vec<u32>, bool) {
        if let Some(path) = &spec.path {
            return (path.to_vec(), path.iter().any(|&port| self.convergence.is_dead(port / 2)));
        }
        let mut path = Vec::with_capacity(8);
        let found = self.parts[0].paths.routes.path(spec.src, spec.dst, key, &mut path);
        if !found {
            path.truncate(1);
        }
        let cut = tells && path.iter().any(|&port| self.convergence.is_dead(port / 2));
        (path, !found || cut)
    }

    /// The way back: the same links for pinned flows and symmetric fabrics, else a hash of its own.
    pub(crate) fn resolve_back(&self, spec: &FlowSpec, key: &FlowKey, path: &[u32]) -> (Vec<u32>, bool) {
        let mut back = Vec::with_capacity(8);
        if spec.path.is_some() || self.state.plan.ack_path == AckPath::Symmetric || path.len() < 2 {
            return (back, true);
        }
        self.parts[0].paths.routes.path(spec.dst, spec.src, &key.reversed(), &mut back);
        (back, false)
    }
}

fn details(identity: &FlowIdentity, spec: &FlowSpec, now: Time, path_info: &PathInfo) -> FlowDetails {
    FlowDetails {
        id: identity.id,
        number: identity.number,
        identity: identity.identity,
        ephemeral: identity.ephemeral,
        source: identity.source,
        spec: spec.clone(),
        start: now,
        acked_at: None,
        ended_at: None,
        ideal: path_info.ideal,
        base_rtt: path_info.base_rtt,
        packets_retransmitted: 0,
        timeouts: 0,
        lost: 0,
        notifications: 0,
        first_notified: None,
        path: path_info.way.path.as_slice().into(),
        detours: Vec::new(),
    }
}

impl<S: Scheme> Part<S> {
    fn add_sender(&mut self, sender: Sender<S::Rp>, details: FlowDetails) -> SenderId {
        let entry = sender.entry;
        let (flow, details) = (self.flows.senders.insert(sender), self.flows.details.insert(details));
        debug_assert_eq!(flow, details, "senders and details move together");
        self.flows.entries[entry].sender = flow;
        flow
    }

    fn add_receiver(&mut self, receiver: Receiver<S::Np>) -> ReceiverId {
        let (entry, flow) = (receiver.entry, self.flows.receivers.insert(receiver));
        self.flows.entries[entry].receiver = flow;
        flow
    }
}
