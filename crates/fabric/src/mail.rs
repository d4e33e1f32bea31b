//! Packets that leave a part for another: what is on a wire between two parts lies with the one it goes to.

use crate::control::SwitchControl;
use crate::packet::{BACKWARD, IntStack, Kind, NO_EXTRA, Packet};
use crate::part::{Part, kind};
use crate::port::InFlight;
use crate::scheme::Scheme;
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

impl<S: Scheme> Default for Mail<S> {
    fn default() -> Self {
        Mail { items: Vec::new(), int: Vec::new(), feedback: Vec::new(), messages: Vec::new() }
    }
}

impl<S: Scheme> Part<S> {
    /// Hands a packet that is on its way to another part over to it.
    #[cold]
    #[inline(never)]
    pub(crate) fn post(&mut self, port_id: u32, arrives: Time, packet: &Packet) {
        let exit = self.exits[port_id as usize];
        let mail = &mut self.mail[usize::from(exit.part)];
        if mail.items.is_empty() {
            self.addressees.push(exit.part);
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

    /// Takes in what another part has sent.
    pub(crate) fn take_mail(&mut self, mail: &mut Mail<S>) {
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
