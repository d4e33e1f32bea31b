//! Packets that leave a part for another: what is on a wire between two parts lies with the one it goes to.

use crate::control::SwitchControl;
use crate::packet::{BACKWARD, IntStack, Kind, NO_EXTRA, Packet};
use crate::part::{Part, kind};
use crate::port::{CUT, InFlight};
use crate::scheme::Scheme;
use std::collections::HashMap;
use xoff_engine::Time;

/// Where the wire of a port leads that ends in another part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub part: u16,
    /// The number that the port has there.
    pub port: u32,
}

/// What a part has sent to another since it was last taken, and what the packets carry, in their order.
pub(crate) struct Mail<S: Scheme> {
    items: Vec<(u32, InFlight)>,
    int: Vec<IntStack>,
    feedback: Vec<S::Feedback>,
    messages: Vec<<S::Switch as SwitchControl>::Message>,
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

/// Packets between parts change hands.
pub(crate) fn exchange<S: Scheme>(parts: &mut [Part<S>]) {
    for from in 0..parts.len() {
        let mut addressees = std::mem::take(&mut parts[from].post.addressees);
        for place in addressees.drain(..) {
            let neighbour = &mut parts[from].post.neighbours[usize::from(place)];
            let (to, mine) = (usize::from(neighbour.part), usize::from(neighbour.mine));
            let mut mail = std::mem::take(&mut neighbour.out);
            // An empty one comes back, with the memory it has.
            std::mem::swap(&mut mail, &mut parts[to].post.neighbours[mine].inbox);
            parts[to].post.senders.push(mine as u16);
            parts[from].post.neighbours[usize::from(place)].out = mail;
        }
        parts[from].post.addressees = addressees;
    }
}

impl<S: Scheme> Default for Mail<S> {
    fn default() -> Self {
        Mail { items: Vec::new(), int: Vec::new(), feedback: Vec::new(), messages: Vec::new() }
    }
}

impl<S: Scheme> Part<S> {
    /// Hands a packet that is on its way to another part over to it.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_away(&mut self, port_id: u32, arrives: Time, packet: &Packet) {
        let exit = self.post.exits[port_id as usize];
        let mail = &mut self.post.neighbours[usize::from(exit.part)].out;
        if mail.items.is_empty() {
            self.post.addressees.push(exit.part);
        }
        let mut packet = *packet;
        if packet.extra != NO_EXTRA {
            match packet.kind {
                Kind::Neighbour => mail.messages.push(self.controls.take_message(packet.extra)),
                Kind::Notification => mail.feedback.push(self.feedback.remove(packet.extra)),
                _ if packet.carries_feedback() => mail.feedback.push(self.feedback.remove(packet.extra)),
                _ => mail.int.push(self.int.remove(packet.extra)),
            }
        }
        if !packet.kind.is_link_local() {
            self.cards[packet.flow].live -= 1;
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
        let (mut int, mut feedback) = (mail.int.drain(..), mail.feedback.drain(..));
        let mut messages = mail.messages.drain(..);
        for (port_id, mut item) in mail.items.drain(..) {
            let packet = &mut item.packet;
            if packet.extra != NO_EXTRA {
                packet.extra = match packet.kind {
                    Kind::Neighbour => self.controls.put_message(messages.next().expect("one each")),
                    Kind::Notification => self.feedback.insert(feedback.next().expect("one each")),
                    _ if packet.carries_feedback() => self.feedback.insert(feedback.next().expect("one each")),
                    _ => self.int.insert(int.next().expect("one each")),
                };
            }
            if !packet.kind.is_link_local() {
                self.cards[packet.flow].live += 1;
            }
            let port = &mut self.ports[port_id as usize];
            if port.wire.is_empty() {
                self.queue.push_named(item.arrives, kind::ARRIVE, port.name, port_id);
            }
            self.in_flight.push(&mut port.wire, &item);
        }
    }
}
