//! How a flow begins: its number, its packets, its path, its three machines.

use crate::contract::packet::{SPREAD, TRANSIT};
use crate::contract::scheme::{FlowFacts, Format, NotificationPoint, Scheme, Transport};
use crate::contract::traffic::FlowSpec;
use crate::flow::ends::{FlowDetails, PacketSizes, Receiver, Sender};
use crate::flow::identity::{self, Card};
use crate::flow::pacing::{Pacing, SendState};
use crate::flow::transport::{Requester, Responder, Stream};
use crate::id::{CardId, PresenceId, ReceiverId, SenderId, SourceId};
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
struct Birth {
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
struct Journey {
    key: FlowKey,
    way: Way,
    stranded: bool,
    exchange: timing::Exchange,
    base_rtt: Span,
    ideal: Span,
    line_rate: BitRate,
    bdp_bytes: u64,
}

/// What one of its ends has in its part: a card, and the first stretch of a path.
#[derive(Clone, Copy)]
struct Footing {
    card: CardId,
    route: u32,
    hops: u8,
}

impl<S: Scheme> World<S> {
    pub(crate) fn start_flow(&mut self, source: SourceId, spec: FlowSpec) {
        let birth = self.number_flow(source, &spec);
        let (handle, tells) = (spec.handle, self.feeds[source].source.hears_deliveries());
        let packets = self.packets_of(&spec);
        let journey = self.journey_of(&spec, &birth, &packets, tells);
        let facts = self.facts_of(&spec, &birth, &packets, &journey);
        let scheme = &self.schemes[usize::from(spec.scheme)];
        let (rp, np) = (scheme.reaction_point(&facts), scheme.notification_point(&facts));
        let transit = facts.inter_domain.and_then(|_| scheme.transit(&facts));
        let card = Card {
            id: birth.id,
            name: birth.identity as u32,
            ends: identity::ends(spec.src, spec.dst),
            weight: spec.weight,
            scheme: spec.scheme,
            presence: PresenceId::NONE,
            sender: SenderId::NONE,
            receiver: ReceiverId::NONE,
            live: 0,
            notification_frame: self.state.plan.host(spec.src).sizes.notification_bytes as u16,
        };
        let presence = self.add_presence(card, spec.src, spec.dst);
        let shaped = transit.is_some();
        let spreads = self.spreads(&spec, &journey.way.path, shaped);
        let installed = self.install(presence, &spec, &journey.key, &journey.way, spreads);
        if let Some(machine) = transit {
            let (part, card) = self.target(presence);
            self.parts[part].add_shaper(card, self.state.plan.nodes[spec.dst as usize].domain, machine);
        }
        let footing = |card, (route, hops)| Footing { card, route, hops };
        let (part, card) = self.origin(presence);
        let flags = if shaped { TRANSIT } else { 0 } | if spreads { SPREAD } else { 0 };
        let sender = self.sender(rp, footing(card, installed.sender), flags, &spec, &packets, &journey);
        let sender = self.parts[part].add_sender(sender, details(&birth, &spec, tells, self.state.now, &journey));
        self.spread(part, sender, birth.identity, installed.routes);
        let (end, card) = self.target(presence);
        let mut receiver = self.receiver(np, footing(card, installed.receiver), tells, &spec, &packets, &journey);
        receiver.backward = installed.backward;
        self.parts[end].add_receiver(receiver);
        self.feeds[source].flows.insert(spec.handle, presence);
        if spec.probed {
            self.probe_flow(presence);
        }
        self.command(source, part, FlowCommand::Open(sender));
        if journey.stranded {
            self.tell_stranded(source, handle, true);
        }
    }

    fn number_flow(&mut self, source: SourceId, spec: &FlowSpec) -> Birth {
        let id = self.own.flows_started as u32;
        self.own.flows_started += 1;
        let feed = &mut self.feeds[source];
        let number = feed.started;
        feed.started += 1;
        Birth { source, id, number, identity: feed.name.flow(number, spec), ephemeral: feed.name.port(number) }
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

    fn journey_of(&self, spec: &FlowSpec, birth: &Birth, packets: &Packets, tells: bool) -> Journey {
        let key = self.parts[0].flow_key(spec, birth.identity, birth.ephemeral);
        let (path, stranded) = self.resolve_path(spec, &key, tells);
        let (back, backward) = self.resolve_back(spec, &key, &path);
        let gap = self.parts[0].links.gap_bytes;
        let full_wire_bytes = u32::from(packets.sizes.full_frame) + gap;
        let exchange = timing::Exchange { data_wire_bytes: full_wire_bytes, ack_wire_bytes: packets.ack_frame + gap };
        let paths = self.payload_paths.as_ref();
        let payload_path =
            paths.and_then(|paths| paths.to(&self.state.plan, spec.dst, packets.mtu_bytes)[spec.src as usize]);
        let base_rtt =
            payload_path.map_or_else(|| timing::base_rtt(&self.state.plan, &path, exchange), |path| path.round_trip());
        let last_wire_bytes = u32::from(packets.sizes.last_frame) + gap;
        let ideal = match packets.sizes.total {
            u32::MAX => Span::ZERO,
            total => {
                timing::ideal_delivery(&self.state.plan, &path, u64::from(total), full_wire_bytes, last_wire_bytes)
            }
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
        Journey { key, way, stranded, exchange, base_rtt, ideal, line_rate, bdp_bytes }
    }

    fn facts_of(&self, spec: &FlowSpec, birth: &Birth, packets: &Packets, journey: &Journey) -> FlowFacts {
        let line_rate = journey.line_rate;
        FlowFacts {
            seed: self.state.plan.seed,
            flow: birth.identity,
            line_rate,
            start: self.state.now,
            initial_rate: spec.initial_rate.map_or(line_rate, |rate| rate.min(line_rate)),
            base_rtt: journey.base_rtt,
            max_base_rtt: self.max_base_rtt,
            bdp_bytes: journey.bdp_bytes,
            mtu_bytes: packets.mtu_bytes,
            mtu_wire_bytes: journey.exchange.data_wire_bytes,
            weight: spec.weight,
            hops: journey.way.path.len().saturating_sub(1) as u8,
            ack_delay: self.state.plan.host(spec.dst).ack_delay,
            inter_domain: domain::inter_domain(&self.state.plan, &journey.way.path, journey.exchange),
        }
    }

    fn sender(
        &self,
        rp: S::Rp,
        Footing { card, route, hops }: Footing,
        packet_flags: u8,
        spec: &FlowSpec,
        packets: &Packets,
        journey: &Journey,
    ) -> Sender<S::Rp> {
        let host = self.layout.host_at(spec.src);
        let part = &self.parts[usize::from(self.layout.part_of(spec.src))];
        let (settings, responder) = (self.state.plan.host(spec.src), self.state.plan.host(spec.dst));
        // A round trip is not a loss, however long: the timer never undercuts a few of them.
        let rto = settings.retransmit_timeout.max(journey.base_rtt * 4);
        let mut requester = Requester::new(&packets.format, responder, rto, packets.stream());
        requester.seq.stranded = journey.stranded;
        if let Some(bytes) = spec.offered_bytes {
            requester.seq.offer(bytes);
        }
        let (line_bps, wire_bytes) = (journey.line_rate.bps() as f64, journey.exchange.data_wire_bytes);
        let mut pacing = Pacing::new(self.state.now, line_bps, wire_bytes, journey.bdp_bytes, spec.rate_cap);
        if part.hosts[host].scan.is_some() {
            pacing.state = SendState::Scanned;
        }
        Sender {
            rp,
            requester,
            pacing,
            host,
            card,
            class: spec.class,
            int: packets.format.int,
            packet_flags,
            ecn: packets.format.ecn,
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
        Footing { card, route, hops }: Footing,
        tells: bool,
        spec: &FlowSpec,
        packets: &Packets,
        journey: &Journey,
    ) -> Receiver<S::Np> {
        let responder = self.state.plan.host(spec.dst);
        Receiver {
            feeds_back_in_acks: np.feeds_back_in_acks(),
            np,
            responder: Responder::new(&packets.format, responder, packets.stream()),
            host: self.layout.host_at(spec.dst),
            card,
            tells,
            ack_frame: packets.ack_frame as u16,
            notification_frame: responder.sizes.notification_bytes as u16,
            ack_class: packets.ack_class,
            due: Time::NEVER,
            route,
            hops,
            backward: journey.way.backward,
            delivered_at: None,
            marked: 0,
        }
    }

    /// What the NIC of a host sends at.
    pub(crate) fn line_rate(&self, node: u32) -> BitRate {
        let part = &self.parts[usize::from(self.layout.part_of(node))];
        let host = &part.hosts[self.layout.host_at(node)];
        part.links.media.of(&part.links.ports[host.port]).rate.rate()
    }

    /// The flow's egress ports: pinned, or by the hash of what identifies it; and whether they lead nowhere. Routes do
    /// not look at the links of the two hosts: a flow sends into a dead one and resends, unless its source wants to know.
    pub(crate) fn resolve_path(&self, spec: &FlowSpec, key: &FlowKey, tells: bool) -> (Vec<u32>, bool) {
        if let Some(path) = &spec.path {
            return (path.to_vec(), !path.iter().all(|&port| self.is_up(port)));
        }
        let mut path = Vec::with_capacity(8);
        let found = self.parts[0].paths.routes.path(spec.src, spec.dst, key, &mut path);
        if !found {
            path.truncate(1);
        }
        let cut = tells && !path.iter().all(|&port| self.is_up(port));
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

fn details(birth: &Birth, spec: &FlowSpec, tells: bool, now: Time, journey: &Journey) -> FlowDetails {
    FlowDetails {
        id: birth.id,
        number: birth.number,
        identity: birth.identity,
        ephemeral: birth.ephemeral,
        source: birth.source,
        spec: spec.clone(),
        tells,
        start: now,
        acked_at: None,
        ideal: journey.ideal,
        base_rtt: journey.base_rtt,
        packets_retransmitted: 0,
        timeouts: 0,
        notifications: 0,
        first_notified: None,
        path: journey.way.path.as_slice().into(),
        detours: Vec::new(),
    }
}

impl<S: Scheme> Part<S> {
    fn add_sender(&mut self, sender: Sender<S::Rp>, details: FlowDetails) -> SenderId {
        let card = sender.card;
        let (flow, details) = (self.flows.senders.insert(sender), self.flows.details.insert(details));
        debug_assert_eq!(flow, details, "senders and details move together");
        self.flows.cards[card].sender = flow;
        flow
    }

    fn add_receiver(&mut self, receiver: Receiver<S::Np>) {
        let card = receiver.card;
        self.flows.cards[card].receiver = self.flows.receivers.insert(receiver);
    }
}
