//! Things that go wrong on schedule: links fail and come back, rates and losses change, a host
//! floods its switch with PAUSE.

use crate::flow::Ledger;
use crate::identity::Card;
use crate::packet::Packet;
use crate::part::Part;
use crate::plan::{FaultKind, peer};
use crate::port::{AT_HOST, AWAITED, CONTROLLED, DOWN, LOSSY_WIRE};
use crate::route::Routes;
use crate::scheme::Scheme;
use crate::world::World;
use std::sync::Arc;
use xoff_engine::LinkRate;

impl<S: Scheme> World<S> {
    pub(crate) fn on_fault(&mut self, index: u32) {
        self.checks.faults_left -= 1;
        match self.plan.faults[index as usize].what {
            FaultKind::LinkDown { link } => self.set_link(link, false),
            FaultKind::LinkUp { link } => self.set_link(link, true),
            FaultKind::Rate { port, rate } => {
                // A packet on the wire keeps its times; the next one sees the new rate.
                self.part.ports[port as usize].rate = LinkRate::with_grain(rate, self.plan.model.grain);
            }
            FaultKind::Loss { port, loss } => {
                self.part.loss[port as usize] = loss;
                let flags = &mut self.part.ports[port as usize].flags;
                *flags = if loss > 0.0 { *flags | LOSSY_WIRE } else { *flags & !LOSSY_WIRE };
            }
            FaultKind::PauseStorm { host_port, class, on } => {
                let host = self.part.ports[host_port as usize].owner as usize;
                let storm = &mut self.part.hosts[host].storm;
                *storm = if on { *storm | (1 << class) } else { *storm & !(1 << class) };
                self.part.ports[host_port as usize].pfc_due |= 1 << class;
                self.part.expect_free(host_port);
            }
        }
    }

    fn set_link(&mut self, link: u32, up: bool) {
        let ports = [link * 2, link * 2 + 1];
        if self.part.is_up(ports[0]) == up {
            return;
        }
        for port in ports {
            if up {
                self.part.ports[port as usize].flags &= !DOWN;
            } else {
                self.part.ports[port as usize].flags |= DOWN;
                self.part.cut(port);
            }
        }
        let up_now = |link: u32| !self.part.ports[link as usize * 2].has(DOWN);
        self.part.routes = Arc::new(Routes::new(&self.plan, up_now));
        self.reroute();
        if up {
            for port in ports_of(link) {
                self.part.greet(port);
            }
            for port in ports_of(link) {
                self.part.expect_free_if_waiting(port);
            }
        }
    }

    /// Every living flow takes the path that the routes of now give it, if any. Packets already under way
    /// keep their old route, which is freed with the flow.
    fn reroute(&mut self) {
        let part = &self.part;
        let mut flows: Vec<u32> = part.living_cards().collect();
        if !part.eager {
            // Flows of one host join its round-robin in an order that hangs on them alone.
            flows.sort_unstable_by_key(|&card| part.ledgers[part.cards[card].sender].identity);
        }
        for card in flows {
            self.reroute_flow(card);
        }
    }

    fn reroute_flow(&mut self, card: u32) {
        let Card { sender: flow, receiver, .. } = self.part.cards[card];
        let ledger = &self.part.ledgers[flow];
        let spec = ledger.spec.clone();
        let key = self.part.flow_key(&spec, ledger.identity, ledger.ephemeral);
        let (path, stranded) = self.resolve_path(&spec, &key);
        if stranded {
            // It keeps its routes: what has passed the cut is still answered, towards it.
            self.part.senders[flow].stranded = true;
            return;
        }
        let (back, backward) = self.resolve_back(&spec, &key, &path);
        let (there, home) = self.part.store_routes(&path, &back, backward);
        let part = &mut self.part;
        let (sender, receiver) = (&mut part.senders[flow], &mut part.receivers[receiver]);
        let Ledger { old_routes: old, detours, .. } = &mut part.ledgers[flow];
        old.append(detours);
        old.push((sender.route, sender.hops));
        if !receiver.backward {
            old.push((receiver.route, receiver.hops));
        }
        (sender.route, sender.hops, sender.stranded) = (there.0, there.1, stranded);
        (receiver.route, receiver.hops, receiver.backward) = (home.0, home.1, backward);
        let of = &mut part.cards[card];
        (of.route, of.hops) = there;
        part.stir_flow(flow);
    }
}

impl<S: Scheme> Part<S> {
    /// A link that comes up begins with what its ends have to say of PFC: an ingress that was still
    /// full from before would not stand another loop delay of packets.
    pub(crate) fn greet(&mut self, port_id: u32) {
        let port = &self.ports[port_id as usize];
        if port.has(AT_HOST) {
            return;
        }
        let switch = &self.switches[port.owner as usize];
        let dynamic = switch.dynamic;
        let first = switch.accounts as usize + usize::from(port.local) * self.classes;
        for class in 0..self.classes {
            let account = &mut self.accounts[first + class];
            let full = if dynamic { account.in_headroom > 0 } else { account.bytes > account.xon_bytes };
            if account.lossless && full {
                account.pausing = true;
                self.ports[port_id as usize].pfc_due |= 1 << class;
                self.note_pause(first + class, true);
                self.arm_refresh(first + class);
            }
        }
        if let Some(frame) = self.make_pfc(port_id) {
            self.on_pfc(peer(port_id), &frame);
        }
    }

    /// What is on the wire or queued for it is lost; both ends forget that they were paused.
    pub(crate) fn cut(&mut self, port: u32) {
        let wire = &mut self.ports[port as usize].wire;
        let lost: Vec<Packet> = self.in_flight.iter(wire).map(|item| item.packet).collect();
        self.in_flight.clear(wire);
        self.cut_messages(port, &lost);
        for packet in lost {
            if !packet.kind.is_link_local() {
                self.counters.drops_fault += 1;
                self.lose(&packet);
            }
        }
        for class in 0..self.classes as u8 {
            self.flush(port, class);
            self.set_paused(port, class, false);
        }
        self.watch.frames[port as usize].told = 0;
        self.watch.frames[port as usize].heard = 0;
        self.ports[port as usize].pfc_due = 0;
        if !self.ports[port as usize].has(AT_HOST) {
            let owner = self.ports[port as usize].owner as usize;
            let first =
                self.switches[owner].accounts as usize + usize::from(self.ports[port as usize].local) * self.classes;
            for account in &mut self.accounts[first..first + self.classes] {
                account.pausing = false;
            }
        }
    }

    /// Empties an egress queue, giving its bytes back.
    pub(crate) fn flush(&mut self, port: u32, class: u8) {
        if self.ports[port as usize].has(AT_HOST) {
            // The flow that keeps its turn open waits as well, though not in the round-robin.
            self.requeue_last(self.ports[port as usize].owner);
            self.flush_scanned(self.ports[port as usize].owner);
        }
        let queue_id = port as usize * self.classes + usize::from(class);
        while let Some(packet) = self.take_from(port, class) {
            self.queues[queue_id].drops += 1;
            self.counters.drops_fault += 1;
            if self.ports[port as usize].flags & (AT_HOST | CONTROLLED) == 0 {
                self.ports[port as usize].queued_bytes -= u64::from(packet.frame_bytes);
                self.release(self.ports[port as usize].owner, &packet);
            }
            self.lose(&packet);
        }
        if self.ports[port as usize].has(AWAITED) {
            self.take_turns(port);
        }
        let port = &mut self.ports[port as usize];
        let at_host = port.has(AT_HOST);
        if !at_host || self.hosts[port.owner as usize].ready[usize::from(class)].is_empty() {
            port.waiting &= !(1 << class);
        }
    }

    fn take_from(&mut self, port: u32, class: u8) -> Option<Packet> {
        if self.ports[port as usize].has(CONTROLLED) {
            return self.take_controlled(port, class);
        }
        self.queues[port as usize * self.classes + usize::from(class)].pop(&mut self.queued, self.now)
    }
}

fn ports_of(link: u32) -> [u32; 2] {
    [link * 2, peer(link * 2)]
}
