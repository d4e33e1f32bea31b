//! Packets that leave a part for another: what is in flight between two parts lies with the one it goes to.

use crate::contract::control::SwitchControl;
use crate::contract::packet::{BACKWARD, Kind, NO_EXTRA, Packet, TableRoute};
use crate::contract::scheme::Scheme;
use crate::id::{CardId, PortId};
use crate::node::port::{CUT, InFlight};
use crate::node::stacks::Parcel;
use crate::part::{Part, kind};
use xoff_engine::{Key, Table, Time};

/// Where the link of a port leads that ends in another part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub part: u16,
    /// The number that the port has there.
    pub port: PortId,
}

/// A few packets on their way. Whoever has taken them out fills the bag again with what it sends itself, while it is
/// still in the cache; so the memory of mail is that of the packets in it, whoever sends how much to whom.
struct Bag<S: Scheme> {
    items: Vec<(PortId, InFlight)>,
    /// What the packets carry, in their order.
    cargo: Vec<Cargo<S>>,
}

/// Packets in a bag, by the number of parts: where there are many, most neighbours get few in a window.
fn bag_size(parts: usize) -> usize {
    (4096 / parts).clamp(8, 64)
}

/// Empty bags that all parts together keep, at least; and each keeps one for every neighbour.
const SPARE: usize = 1 << 13;

#[allow(clippy::large_enum_variant, reason = "in most runs there is telemetry and nothing else")]
enum Cargo<S: Scheme> {
    Int(Parcel),
    Feedback(S::Feedback),
    Message(<S::Switch as SwitchControl>::Message),
}

/// What goes from and to a part.
pub(crate) struct Post<S: Scheme> {
    /// By port.
    exits: Table<PortId, Exit>,
    /// The parts that it has links to.
    neighbours: Vec<Neighbour<S>>,
    /// Neighbours that get something.
    addressees: Vec<u16>,
    /// What came from others. Order counts within a link alone, and a link has one sender.
    inbox: Vec<Bag<S>>,
    /// Empty bags, and how many are kept.
    spare: Vec<Bag<S>>,
    most_spare: usize,
    bag_size: usize,
}

struct Neighbour<S: Scheme> {
    part: u16,
    /// What it gets, and when the first packet of it arrives.
    bags: Vec<Bag<S>>,
    earliest: Time,
}

impl<S: Scheme> Post<S> {
    pub(crate) fn new(exits: Table<PortId, Exit>) -> Post<S> {
        Post {
            exits,
            neighbours: Vec::new(),
            addressees: Vec::new(),
            inbox: Vec::new(),
            spare: Vec::new(),
            most_spare: 0,
            bag_size: 0,
        }
    }

    /// The bag that goes next to a neighbour, with room for a packet that arrives then.
    #[inline]
    fn bag_to(&mut self, neighbour: u16, arrives: Time) -> &mut Bag<S> {
        let mail = &mut self.neighbours[usize::from(neighbour)];
        mail.earliest = mail.earliest.min(arrives);
        if mail.bags.last().is_none_or(|bag| bag.items.len() == self.bag_size) {
            if mail.bags.is_empty() {
                self.addressees.push(neighbour);
            }
            mail.bags.push(self.spare.pop().unwrap_or_else(|| Bag::new(self.bag_size)));
        }
        mail.bags.last_mut().expect("one is there")
    }

    /// Takes back a bag that was emptied, unless there are enough.
    fn keep(&mut self, bag: Bag<S>) {
        if self.spare.len() < self.most_spare {
            self.spare.push(bag);
        }
    }
}

/// Lets parts know their neighbours.
pub(crate) fn introduce<S: Scheme>(parts: &mut [Part<S>]) {
    let (share, size) = (SPARE / parts.len(), bag_size(parts.len()));
    for part in parts {
        let cut = part.links.ports.iter().zip(&part.post.exits).filter(|(port, _)| port.has(CUT));
        let mut neighbours: Vec<u16> = cut.map(|(_, exit)| exit.part).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        for exit in &mut part.post.exits {
            // From here on by its number among the neighbours.
            exit.part = neighbours.binary_search(&exit.part).map_or(u16::MAX, |number| number as u16);
        }
        let neighbour = |part| Neighbour { part, bags: Vec::new(), earliest: Time::NEVER };
        part.post.most_spare = share.max(neighbours.len());
        part.post.bag_size = size;
        part.post.neighbours = neighbours.into_iter().map(neighbour).collect();
    }
}

/// Packets between parts change hands. Each takes them in when it runs next.
pub(crate) fn exchange<S: Scheme>(parts: &mut [Part<S>]) {
    for from in 0..parts.len() {
        let mut addressees = std::mem::take(&mut parts[from].post.addressees);
        for place in addressees.drain(..) {
            let neighbour = &mut parts[from].post.neighbours[usize::from(place)];
            let to = usize::from(neighbour.part);
            let mut bags = std::mem::take(&mut neighbour.bags);
            let earliest = std::mem::replace(&mut neighbour.earliest, Time::NEVER);
            parts[to].next = parts[to].next.min(Key::before(earliest));
            parts[to].post.inbox.append(&mut bags);
            parts[from].post.neighbours[usize::from(place)].bags = bags;
        }
        parts[from].post.addressees = addressees;
    }
}

impl<S: Scheme> Bag<S> {
    fn new(size: usize) -> Bag<S> {
        Bag { items: Vec::with_capacity(size), cargo: Vec::new() }
    }
}

impl<S: Scheme> Part<S> {
    /// Hands a packet that is on its way to another part over to it.
    #[inline(never)]
    pub(crate) fn send_away(&mut self, port_id: PortId, arrives: Time, packet: &Packet) {
        let exit = self.post.exits[port_id];
        let bag = self.post.bag_to(exit.part, arrives);
        let mut packet = *packet;
        if packet.extra != NO_EXTRA {
            bag.cargo.push(match packet.kind {
                Kind::Neighbour => Cargo::Message(self.voq_switches.take_message(packet.extra)),
                Kind::Notification => Cargo::Feedback(self.flows.feedback.remove(packet.extra)),
                _ if packet.carries_feedback() => Cargo::Feedback(self.flows.feedback.remove(packet.extra)),
                _ => Cargo::Int(self.flows.int.take_away(&packet)),
            });
        }
        if !packet.kind.is_link_local() {
            let at = packet.route as usize;
            if let Some(&route) = self.paths.route_ports.get(at) {
                let beside = if packet.flags & BACKWARD == 0 { at + 1 } else { at - 1 };
                (packet.route, packet.flow) = (route, CardId::new(self.paths.route_ports[beside]));
            } else {
                // No card is known there; the flow's number finds it.
                packet.flow = CardId::new(self.flows.cards[packet.flow].id);
            }
        }
        bag.items.push((exit.port, InFlight { arrives, packet }));
    }

    /// Takes in what other parts have sent.
    pub(crate) fn open_mail(&mut self) {
        let mut inbox = std::mem::take(&mut self.post.inbox);
        for mut bag in inbox.drain(..) {
            self.empty(&mut bag);
            self.post.keep(bag);
        }
        self.post.inbox = inbox;
    }

    fn empty(&mut self, bag: &mut Bag<S>) {
        let mut cargo = bag.cargo.drain(..);
        for (port_id, item) in &mut bag.items {
            if item.packet.extra != NO_EXTRA {
                let packet = &mut item.packet;
                match cargo.next().expect("one each") {
                    Cargo::Message(message) => packet.extra = self.voq_switches.put_message(message),
                    Cargo::Feedback(feedback) => packet.extra = self.flows.feedback.insert(feedback),
                    Cargo::Int(parcel) => self.flows.int.insert(&parcel, packet),
                }
            }
            if TableRoute::of(item.packet.route).is_some() {
                item.packet.flow = self.flows.living[&item.packet.flow.get()];
            }
            let port = &mut self.links.ports[*port_id];
            if port.in_flight.is_empty() {
                self.queue.push_named(item.arrives, kind::ARRIVE, port.name, port_id.get());
            }
            self.links.in_flight.push(&mut port.in_flight, item);
        }
        drop(cargo);
        bag.items.clear();
    }
}
