//! Things that go wrong on schedule: links fail and come back, rates and losses change, a host
//! floods its switch with PAUSE.

use crate::contract::packet::{SPREAD, TRANSIT};
use crate::contract::scheme::Scheme;
use crate::id::{FlowStateId, PortId};
use crate::network::plan::{FaultKind, peer};
use crate::network::route::ALL_SWITCHES;
use crate::node::port::{DOWN, LOSSY_LINK};
use crate::part::Part;
use crate::part::state::Links;
use crate::run::World;
use crate::run::paths::Way;
use std::sync::Arc;
use xoff_engine::{Key, LinkRate};

impl<S: Scheme> World<S> {
    pub(crate) fn on_fault(&mut self, index: u32) {
        self.checks.faults_left -= 1;
        match self.state.plan.faults[index as usize].what {
            FaultKind::LinkDown { link } => self.set_link(link, false, true),
            FaultKind::LinkUp { link } => self.set_link(link, true, true),
            FaultKind::LinkDead { link } => self.set_link(link, false, false),
            FaultKind::LinkAlive { link } => self.set_link(link, true, false),
            FaultKind::Told { link, within } => {
                self.told.tell(link, within, self.is_up(link * 2));
                self.renew_routes();
            }
            FaultKind::Rate { port, rate } => {
                // A packet on the wire keeps its times; the next one sees the new rate.
                let (part, port) = self.place_of(port);
                let rate = LinkRate::with_resolution(rate, self.state.plan.model.resolution);
                let now = self.state.now;
                let Part { links: Links { link_types, ports, .. }, watch, .. } = &mut self.parts[part];
                let (id, port) = (port, &mut ports[port]);
                let before = link_types.of(port);
                if port.busy_until > now {
                    let begun = watch.begun.get(&id).filter(|(until, _)| *until == port.busy_until);
                    let begun = begun.map_or(before.rate.rate(), |(_, rate)| *rate);
                    watch.begun.insert(id, (port.busy_until, begun));
                }
                port.link_type = link_types.number(rate, before.delay);
            }
            FaultKind::Loss { port, loss } => {
                let (part, port) = self.arrival_place_of(port);
                self.parts[part].links.loss[port] = loss;
                let flags = &mut self.parts[part].links.ports[port].flags;
                *flags = if loss > 0.0 { *flags | LOSSY_LINK } else { *flags & !LOSSY_LINK };
            }
            FaultKind::PauseStorm { host_port, class, on } => {
                let (part, port) = self.place_of(host_port);
                self.parts[part].set_storm(port, class, on);
            }
        }
    }

    /// The part where what a port has sent arrives, and the port's number there.
    fn arrival_place_of(&self, port: u32) -> (usize, PortId) {
        let (part, end) = self.place_of(peer(port));
        (part, end.peer())
    }

    /// A link fails or works again, and all switches know it at once or are told later.
    fn set_link(&mut self, link: u32, up: bool, known: bool) {
        let ports = [link * 2, link * 2 + 1];
        if self.is_up(ports[0]) == up {
            return;
        }
        for port in ports {
            let (homes, set) = ([self.place_of(port), self.arrival_place_of(port)], if up { 0 } else { DOWN });
            for (part, port) in homes {
                let flags = &mut self.parts[part].links.ports[port].flags;
                *flags = (*flags & !DOWN) | set;
            }
            if !up {
                let [(part, own), (end, arriving)] = homes;
                for part in [part, end] {
                    self.parts[part].watch.dead_links.begin(link, self.state.now);
                }
                self.parts[end].lose_in_flight(arriving);
                self.parts[part].cut_port(own);
            }
            self.next_rank();
        }
        if known {
            self.told.tell(link, ALL_SWITCHES, up);
            self.renew_routes();
        }
        if up {
            for port in ports {
                self.resynchronise_pfc(port);
            }
            for port in ports {
                let (part, port) = self.place_of(port);
                self.parts[part].expect_free_if_waiting(port);
            }
        }
    }

    /// Switches have been told of links: flows take the paths that they choose now.
    fn renew_routes(&mut self) {
        let routes = Arc::new(self.told.routes(&self.state.plan));
        for part in &mut self.parts {
            part.paths.routes = Arc::clone(&routes);
        }
        self.renew_next_hops();
        self.enter_all_parts();
        self.reroute();
    }

    /// A link that comes up begins with what its ends have to say of PFC: an ingress that was still
    /// full from before would not stand another loop delay of packets.
    fn resynchronise_pfc(&mut self, port: u32) {
        let ((part, own), (end, arriving)) = (self.place_of(port), self.arrival_place_of(port));
        if let Some(frame) = self.parts[part].pfc_state_frame(own) {
            self.parts[end].on_pfc(arriving.peer(), &frame);
        }
        self.next_rank();
    }

    /// What is recorded from now on comes after what was recorded so far, whichever part records it.
    fn next_rank(&mut self) {
        for part in &mut self.parts {
            part.records.rank = part.records.rank.map(Key::next);
        }
    }

    /// Every living flow takes the path that the routes of now give it, if any. Packets already under way
    /// keep their old route, which is freed with the flow.
    fn reroute(&mut self) {
        let living = self.parts.iter().flat_map(|part| part.living_flows());
        let mut flows: Vec<FlowStateId> = living.map(|(_, flow)| flow).collect();
        if !self.parts[0].compat.eager {
            // Flows of one host join its round-robin in an order that hangs on them alone.
            flows.sort_unstable_by_key(|&flow| self.sender_of(flow).1.identity);
        }
        for flow in flows {
            self.reroute_flow(flow);
        }
    }

    fn reroute_flow(&mut self, flow_state: FlowStateId) {
        let (sender, details) = self.sender_of(flow_state);
        let (spec, source, tells) = (details.spec.clone(), details.source, sender.subscription.of_messages());
        let key = self.parts[0].flow_key(&spec, details.identity, details.ephemeral);
        let (path, stranded) = self.resolve_path(&spec, &key, tells);
        let (part, entry) = self.origin(flow_state);
        let flow = self.parts[part].flows.entries[entry].sender;
        let was_stranded =
            std::mem::replace(&mut self.parts[part].flows.senders[flow].requester.seq.stranded, stranded);
        if stranded != was_stranded {
            self.tell_stranded(source, spec.handle, stranded);
        }
        if stranded {
            // It keeps its routes: what has passed the cut is still acknowledged, towards it.
            return;
        }
        let (back, backward) = self.resolve_back(&spec, &key, &path);
        self.leave_paths(flow_state);
        let way = Way { path, back, backward };
        let flags = self.parts[part].flows.senders[flow].packet_flags;
        let spreads = self.spreads(&spec, &way.path, flags & TRANSIT != 0);
        let installed = self.install(flow_state, &spec, &key, &way, spreads);
        self.spread(part, flow, key.identity, installed.routes);
        let (end, card_there) = self.target(flow_state);
        let receiver = self.parts[end].flows.entries[card_there].receiver;
        let receiver = &mut self.parts[end].flows.receivers[receiver];
        (receiver.route, receiver.hops) = installed.receiver;
        receiver.backward = installed.backward;
        let part = &mut self.parts[part];
        part.give_up_detours(entry);
        part.flows.details[flow].path = way.path.into();
        let sender = &mut part.flows.senders[flow];
        (sender.route, sender.hops) = installed.sender;
        sender.packet_flags = if spreads { flags | SPREAD } else { flags & !SPREAD };
        part.try_to_send(flow);
    }
}
