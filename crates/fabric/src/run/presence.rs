//! Where in the network a flow is: a card in every part that its packets cross, and its paths over them.
//!
//! A path lies in each part as a stretch of that part's own port numbers. Where it leaves for another part,
//! two words say where it goes on: the cursor there and the flow's card. A stretch that is entered from
//! another part begins with the port it is entered from, so that it can be walked backwards, and before that
//! with the same two words. A path of a flow that has several carries its number at both ends ([`Ends`]).

use crate::contract::record::FlowRecord;
use crate::contract::scheme::Scheme;
use crate::flow::ends::{FlowDetails, Receiver, Sender};
use crate::flow::identity::Card;
use crate::id::{CardId, PortId, PresenceId, ReceiverId, SenderId};
use crate::network::plan::peer;
use crate::part::trail::Trail;
use crate::run::World;
use xoff_engine::Key;

/// Part and card of a flow wherever it is, its sender's first.
#[derive(Debug)]
pub(crate) struct Presence {
    cards: Vec<(u16, CardId)>,
    /// The part of its receiver.
    to: u16,
    /// The act of its source that stops it, where acts are drawn ahead.
    pub stops: Option<Key>,
    /// See [`FlowRecord::lost`].
    pub lost: u64,
}

impl Presence {
    fn card_in(&self, part: u16) -> Option<CardId> {
        self.cards.iter().find(|(other, _)| *other == part).map(|(_, card)| *card)
    }
}

/// A stretch of a path in one part: its hops, and its block.
struct Stretch {
    part: u16,
    first: usize,
    last: usize,
    block: u32,
    /// Its first port, and how many there are.
    route: u32,
    hops: u8,
}

/// Words before the first own port of a stretch that is entered from another part.
const ENTRY: u32 = 3;
/// Words after the last port of one that is left for another.
const EXIT: u32 = 2;

/// What is at the ends of a path of a flow that has several: its number before the first port and after the last one,
/// where a cursor comes to rest, and after that the cursor of the ACK that answers a data packet.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub number: u16,
    /// Zero: the ACK walks this path backwards.
    pub answer: u32,
}

impl Ends {
    const BEFORE: u32 = 1;
    const AFTER: u32 = 2;
}

impl<S: Scheme> World<S> {
    /// A new flow between two hosts, with a card at both ends.
    pub(crate) fn add_presence(&mut self, card: Card, src: u32, dst: u32) -> PresenceId {
        let [from, to] = [src, dst].map(|node| self.layout.part_of(node));
        let presence = self.presences.insert(Presence { cards: Vec::new(), to, stops: None, lost: 0 });
        let card = Card { presence, ..card };
        for part in [from, to] {
            if self.presences[presence].card_in(part).is_none() {
                let card = self.parts[usize::from(part)].add_card(card);
                self.presences[presence].cards.push((part, card));
            }
        }
        presence
    }

    /// The part of a flow's sender, and its card there.
    pub(crate) fn origin(&self, presence: PresenceId) -> (usize, CardId) {
        let (part, card) = self.presences[presence].cards[0];
        (usize::from(part), card)
    }

    /// The part of its receiver, and its card there.
    pub(crate) fn target(&self, presence: PresenceId) -> (usize, CardId) {
        let of = &self.presences[presence];
        (usize::from(of.to), of.card_in(of.to).expect("a flow has a card at both ends"))
    }

    pub(crate) fn sender_of(&self, presence: PresenceId) -> (&Sender<S::Rp>, &FlowDetails) {
        let (part, card) = self.origin(presence);
        let part = &self.parts[part];
        let sender = part.flows.cards[card].sender;
        (&part.flows.senders[sender], &part.flows.details[sender])
    }

    pub(crate) fn receiver_of(&self, presence: PresenceId) -> &Receiver<S::Np> {
        let (part, card) = self.target(presence);
        let part = &self.parts[part];
        &part.flows.receivers[part.flows.cards[card].receiver]
    }

    /// What parts have stored of a flow's paths.
    pub(crate) fn trails_of(&self, presence: PresenceId) -> impl Iterator<Item = &Trail> {
        let cards = self.presences[presence].cards.iter();
        cards.map(|&(part, card)| &self.parts[usize::from(part)].flows.trails[card])
    }

    /// The card of a flow in a part; a new one if there is none yet.
    pub(crate) fn card_in(&mut self, presence: PresenceId, part: u16) -> CardId {
        if let Some(card) = self.presences[presence].card_in(part) {
            return card;
        }
        let (home, first) = self.origin(presence);
        let of =
            Card { sender: SenderId::NONE, receiver: ReceiverId::NONE, live: 0, ..self.parts[home].flows.cards[first] };
        let card = self.parts[usize::from(part)].add_card(of);
        self.presences[presence].cards.push((part, card));
        card
    }

    /// Stores a path of a flow; the first and the last stretch of it, each as its first port and hops.
    pub(crate) fn lay(
        &mut self,
        presence: PresenceId,
        path: &[u32],
        forward: bool,
        ends: Option<Ends>,
    ) -> [(u32, u8); 2] {
        let stretches = self.stretches(path, ends.is_some());
        for (at, stretch) in stretches.iter().enumerate() {
            let mut words = Vec::with_capacity(path.len() + 6);
            if at == 0 {
                words.extend(ends.map(|ends| u32::from(ends.number)));
            } else {
                let before = &stretches[at - 1];
                let card = self.card_in(presence, before.part);
                // A packet on its way back stands at the last node of the stretch before.
                let cursor = (before.route + u32::from(before.hops)).wrapping_sub(2);
                let entered = path[stretch.first - 1];
                words.extend([card.get(), cursor, self.layout.port_at(peer(entered)).peer().get()]);
            }
            let ports = path[stretch.first..=stretch.last].iter().map(|&port| self.layout.port_at(port));
            words.extend(ports.map(PortId::get));
            if let Some(after) = stretches.get(at + 1) {
                words.extend([after.route + 1, self.card_in(presence, after.part).get()]);
            } else if let Some(Ends { number, answer }) = ends {
                let backwards = (stretch.route + u32::from(stretch.hops)).wrapping_sub(2);
                words.extend([number.into(), if answer == 0 { backwards } else { answer }]);
            }
            let card = self.card_in(presence, stretch.part);
            let part = &mut self.parts[usize::from(stretch.part)];
            part.fill_block(stretch.block, &words);
            let trail = &mut part.flows.trails[card];
            // Most have one there and one back, and there may be a million trails.
            trail.blocks.reserve_exact(1);
            trail.blocks.push((stretch.block, words.len() as u8));
            if forward {
                trail.forward.reserve_exact(1);
                trail.forward.push((stretch.route, stretch.hops));
            }
        }
        let ends = [stretches.first(), stretches.last()];
        ends.map(|stretch| stretch.map_or((0, 0), |stretch| (stretch.route, stretch.hops)))
    }

    /// Cuts a path where it goes from part to part, and takes memory for it.
    fn stretches(&mut self, path: &[u32], numbered: bool) -> Vec<Stretch> {
        let part_of = |port: u32| self.layout.part_of(self.state.plan.node_of(port));
        let mut stretches: Vec<Stretch> = Vec::with_capacity(1);
        for (hop, part) in path.iter().map(|&port| part_of(port)).enumerate() {
            match stretches.last_mut().filter(|stretch| stretch.part == part) {
                Some(stretch) => stretch.last = hop,
                None => stretches.push(Stretch { part, first: hop, last: hop, block: 0, route: 0, hops: 0 }),
            }
        }
        let count = stretches.len();
        for (at, stretch) in stretches.iter_mut().enumerate() {
            let own = (stretch.last - stretch.first + 1) as u32;
            let [before, after] = if numbered { [Ends::BEFORE, Ends::AFTER] } else { [0, 0] };
            let entry = if at > 0 { ENTRY } else { before };
            let exit = if at + 1 < count { EXIT } else { after };
            stretch.block = self.parts[usize::from(stretch.part)].take_block((entry + own + exit) as usize);
            // The port it is entered from is part of the way.
            let entered = u32::from(at > 0);
            stretch.route = stretch.block + entry - entered;
            stretch.hops = (own + entered) as u8;
        }
        stretches
    }

    /// The flow uses other paths from now on; packets on the old ones may still walk them.
    pub(crate) fn leave_paths(&mut self, presence: PresenceId) {
        for &(part, card) in &self.presences[presence].cards {
            self.parts[usize::from(part)].flows.trails[card].forward.clear();
        }
    }

    /// Packets of a flow that exist, of any kind.
    pub(crate) fn packets_alive(&self, presence: PresenceId) -> i32 {
        let cards = &self.presences[presence].cards;
        cards.iter().map(|&(part, card)| self.parts[usize::from(part)].flows.cards[card].live).sum()
    }

    /// Forgets the flows that are over and of which no packet is left.
    pub(crate) fn free_ended(&mut self) {
        let (parts, presences) = (&mut self.parts, &mut self.presences);
        self.ended.retain(|&presence| {
            let cards = &presences[presence].cards;
            let live: i32 = cards.iter().map(|&(part, card)| parts[usize::from(part)].flows.cards[card].live).sum();
            if live == 0 {
                for (part, card) in presences.remove(presence).cards {
                    parts[usize::from(part)].free_flow(card);
                }
            }
            live != 0
        });
    }

    pub(crate) fn flow_record(&self, presence: PresenceId) -> FlowRecord {
        let ((sender, details), receiver) = (self.sender_of(presence), self.receiver_of(presence));
        FlowRecord {
            id: details.id,
            number: details.number,
            source: details.source.get(),
            label: details.spec.label,
            src: details.spec.src,
            dst: details.spec.dst,
            ports: details.spec.ports_or(details.ephemeral),
            size_bytes: details.spec.size_bytes,
            delivered_bytes: receiver.responder.seq.delivered_bytes,
            class: details.spec.class,
            scheme: details.spec.scheme,
            start: details.start,
            delivered_at: receiver.delivered_at,
            acked_at: details.acked_at,
            ideal: details.ideal,
            base_rtt: details.base_rtt,
            packets_sent: sender.packets_sent,
            packets_retransmitted: details.packets_retransmitted,
            timeouts: details.timeouts,
            lost: self.presences[presence].lost,
            marked: receiver.marked,
            notifications: details.notifications,
            first_notified: details.first_notified,
            detours: details.detours.len() as u32,
            path: self.paths_taken(presence),
        }
    }
}
