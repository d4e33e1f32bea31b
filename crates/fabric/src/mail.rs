//! Packets that leave a part for another: what is on a wire between two parts lies with the one it goes to.

use crate::control::SwitchControl;
use crate::packet::{BACKWARD, IntStack, Kind, NO_EXTRA, Packet};
use crate::part::{Part, kind};
use crate::port::{CUT, InFlight};
use crate::scheme::Scheme;
use std::collections::HashMap;
use xoff_engine::{Key, Time};

/// Where the wire of a port leads that ends in another part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub part: u16,
    /// The number that the port has there.
    pub port: u32,
}

/// What a part has sent to another since it was last taken.
pub(crate) struct Mail<S: Scheme> {
    items: Vec<(u32, InFlight)>,
    /// When the first of them arrives.
    earliest: Time,
    /// What the packets carry, in their order.
    cargo: Vec<Cargo<S>>,
}

#[allow(clippy::large_enum_variant, reason = "in most runs there is telemetry and nothing else")]
enum Cargo<S: Scheme> {
    Int(IntStack),
    Feedback(S::Feedback),
    Message(<S::Switch as SwitchControl>::Message),
}

/// What goes from and to a part.
pub(crate) struct Post<S: Scheme> {
    /// By port.
    exits: Vec<Exit>,
    neighbours: Vec<Neighbour<S>>,
    /// Of each part: its number among the neighbours.
    number_of: HashMap<u16, u16>,
    /// Neighbours that get something.
    addressees: Vec<u16>,
    /// Neighbours that something came from.
    senders: Vec<u16>,
}

struct Neighbour<S: Scheme> {
    part: u16,
    /// What it knows this part by.
    mine: u16,
    out: Mail<S>,
    /// What came from it.
    inbox: Mail<S>,
}

impl<S: Scheme> Post<S> {
    pub(crate) fn new(exits: Vec<Exit>) -> Post<S> {
        Post { exits, neighbours: Vec::new(), number_of: HashMap::new(), addressees: Vec::new(), senders: Vec::new() }
    }

    /// Takes mail of a neighbour; what is left of it is empty.
    fn receive(&mut self, from: u16, mail: &mut Mail<S>) {
        let inbox = &mut self.neighbours[usize::from(from)].inbox;
        if inbox.items.is_empty() {
            self.senders.push(from);
            std::mem::swap(mail, inbox);
        } else {
            // Nothing has happened here that earlier mail was needed for.
            inbox.items.append(&mut mail.items);
            inbox.cargo.append(&mut mail.cargo);
            mail.earliest = Time::NEVER;
        }
    }
}

/// Lets parts know their neighbours.
pub(crate) fn introduce<S: Scheme>(parts: &mut [Part<S>]) {
    for part in &mut *parts {
        let cut = part.ports.iter().zip(&part.post.exits).filter(|(port, _)| port.has(CUT));
        let mut neighbours: Vec<u16> = cut.map(|(_, exit)| exit.part).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        part.post.number_of = (0..).zip(&neighbours).map(|(number, part)| (*part, number)).collect();
        let neighbour = |part| Neighbour { part, mine: 0, out: Mail::default(), inbox: Mail::default() };
        part.post.neighbours = neighbours.into_iter().map(neighbour).collect();
    }
    for number in 0..parts.len() {
        for place in 0..parts[number].post.neighbours.len() {
            let there = usize::from(parts[number].post.neighbours[place].part);
            parts[number].post.neighbours[place].mine = parts[there].post.number_of[&(number as u16)];
        }
        let Post { exits, number_of, .. } = &mut parts[number].post;
        for exit in exits {
            // From here on by its number among the neighbours.
            exit.part = number_of.get(&exit.part).copied().unwrap_or(u16::MAX);
        }
    }
}

/// Packets between parts change hands. Each takes them in when it runs next.
pub(crate) fn exchange<S: Scheme>(parts: &mut [Part<S>]) {
    for from in 0..parts.len() {
        let mut addressees = std::mem::take(&mut parts[from].post.addressees);
        for place in addressees.drain(..) {
            let neighbour = &mut parts[from].post.neighbours[usize::from(place)];
            let (to, mine) = (usize::from(neighbour.part), neighbour.mine);
            let mut mail = std::mem::take(&mut neighbour.out);
            parts[to].next = parts[to].next.min(Key::before(mail.earliest));
            parts[to].post.receive(mine, &mut mail);
            // What comes back is empty, and has its memory.
            parts[from].post.neighbours[usize::from(place)].out = mail;
        }
        parts[from].post.addressees = addressees;
    }
}

impl<S: Scheme> Default for Mail<S> {
    fn default() -> Self {
        Mail { items: Vec::new(), earliest: Time::NEVER, cargo: Vec::new() }
    }
}

impl<S: Scheme> Part<S> {
    /// Hands a packet that is on its way to another part over to it.
    #[inline(never)]
    pub(crate) fn send_away(&mut self, port_id: u32, arrives: Time, packet: &Packet) {
        let exit = self.post.exits[port_id as usize];
        let mail = &mut self.post.neighbours[usize::from(exit.part)].out;
        if mail.items.is_empty() {
            self.post.addressees.push(exit.part);
        }
        mail.earliest = mail.earliest.min(arrives);
        let mut packet = *packet;
        if packet.extra != NO_EXTRA {
            mail.cargo.push(match packet.kind {
                Kind::Neighbour => Cargo::Message(self.controls.take_message(packet.extra)),
                Kind::Notification => Cargo::Feedback(self.feedback.remove(packet.extra)),
                _ if packet.carries_feedback() => Cargo::Feedback(self.feedback.remove(packet.extra)),
                _ => {
                    self.int.give_back(packet.extra);
                    Cargo::Int(self.int[packet.extra])
                }
            });
        }
        if !packet.kind.is_link_local() {
            let at = packet.route as usize;
            let beside = if packet.flags & BACKWARD == 0 { at + 1 } else { at - 1 };
            (packet.route, packet.flow) = (self.route_ports[at], self.route_ports[beside]);
        }
        mail.items.push((exit.port, InFlight { arrives, packet }));
    }

    /// Takes in what other parts have sent.
    pub(crate) fn open_mail(&mut self) {
        let mut senders = std::mem::take(&mut self.post.senders);
        for place in senders.drain(..) {
            let mut mail = std::mem::take(&mut self.post.neighbours[usize::from(place)].inbox);
            self.take_mail(&mut mail);
            self.post.neighbours[usize::from(place)].inbox = mail;
        }
        self.post.senders = senders;
    }

    fn take_mail(&mut self, mail: &mut Mail<S>) {
        let mut cargo = mail.cargo.drain(..);
        for (port_id, item) in &mut mail.items {
            if item.packet.extra != NO_EXTRA {
                item.packet.extra = match cargo.next().expect("one each") {
                    Cargo::Message(message) => self.controls.put_message(message),
                    Cargo::Feedback(feedback) => self.feedback.insert(feedback),
                    Cargo::Int(int) => self.int.insert(&int),
                };
            }
            let port = &mut self.ports[*port_id as usize];
            if port.wire.is_empty() {
                self.queue.push_named(item.arrives, kind::ARRIVE, port.name, *port_id);
            }
            self.in_flight.push(&mut port.wire, item);
        }
        drop(cargo);
        mail.items.clear();
        mail.earliest = Time::NEVER;
    }
}
