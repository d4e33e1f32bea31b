//! Packets that leave a part for another. The part that receives a packet stores it while it is in flight.

use crate::contract::control::SwitchControl;
use crate::contract::packet::{BACKWARD, Kind, NO_EXTRA, Packet, TableRoute};
use crate::contract::scheme::Scheme;
use crate::id::{FlowEntryId, PortId};
use crate::node::port::{BOUNDARY, InFlight};
use crate::node::stacks::RemoteRecords;
use crate::part::{Part, kind};
use xoff_engine::{Key, Table, Time};

/// Where the link of a port leads that ends in another part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub part: u16,
    /// The number that the port has there.
    pub port: PortId,
}

/// A few packets for another part. The part that receives them fills the batch again with what it sends itself, while the
/// batch is still in the cache; so batches take no more memory than the packets in flight.
struct Batch<S: Scheme> {
    items: Vec<(PortId, InFlight)>,
    /// What the packets carry, in their order.
    payload: Vec<Payload<S>>,
}

/// Packets in a batch, by the number of parts: where there are many, most neighbours get few in a window.
fn batch_size(parts: usize) -> usize {
    (4096 / parts).clamp(8, 64)
}

/// Empty batches that all parts together keep, at least; and each keeps one for every neighbour.
const SPARE: usize = 1 << 13;

#[allow(clippy::large_enum_variant, reason = "in most runs there is telemetry and nothing else")]
enum Payload<S: Scheme> {
    Int(RemoteRecords),
    Feedback(S::Feedback),
    Message(<S::Switch as SwitchControl>::Message),
}

/// Packets from and to other parts.
pub(crate) struct RemoteQueues<S: Scheme> {
    /// By port.
    exits: Table<PortId, Exit>,
    /// The parts that it has links to.
    neighbours: Vec<Neighbour<S>>,
    /// Neighbours with packets to send to.
    pending: Vec<u16>,
    /// What came from others. Order counts within a link alone, and a link has one sender.
    inbox: Vec<Batch<S>>,
    /// Empty batches, and how many are kept.
    spare: Vec<Batch<S>>,
    most_spare: usize,
    batch_size: usize,
}

struct Neighbour<S: Scheme> {
    part: u16,
    /// Packets for it, and when the first of them arrives.
    batches: Vec<Batch<S>>,
    earliest: Time,
}

impl<S: Scheme> RemoteQueues<S> {
    pub(crate) fn new(exits: Table<PortId, Exit>) -> RemoteQueues<S> {
        RemoteQueues {
            exits,
            neighbours: Vec::new(),
            pending: Vec::new(),
            inbox: Vec::new(),
            spare: Vec::new(),
            most_spare: 0,
            batch_size: 0,
        }
    }

    /// The batch that goes next to a neighbour, with room for a packet that arrives then.
    #[inline]
    fn batch_to(&mut self, neighbour: u16, arrives: Time) -> &mut Batch<S> {
        let queue = &mut self.neighbours[usize::from(neighbour)];
        queue.earliest = queue.earliest.min(arrives);
        if queue.batches.last().is_none_or(|batch| batch.items.len() == self.batch_size) {
            if queue.batches.is_empty() {
                self.pending.push(neighbour);
            }
            queue.batches.push(self.spare.pop().unwrap_or_else(|| Batch::new(self.batch_size)));
        }
        queue.batches.last_mut().expect("one is there")
    }

    /// Takes back a batch that was emptied, unless there are enough.
    fn keep(&mut self, batch: Batch<S>) {
        if self.spare.len() < self.most_spare {
            self.spare.push(batch);
        }
    }
}

/// Connects every part with its neighbours.
pub(crate) fn connect<S: Scheme>(parts: &mut [Part<S>]) {
    let (share, size) = (SPARE / parts.len(), batch_size(parts.len()));
    for part in parts {
        let cut = part.links.ports.iter().zip(&part.remote.exits).filter(|(port, _)| port.has(BOUNDARY));
        let mut neighbours: Vec<u16> = cut.map(|(_, exit)| exit.part).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        for exit in &mut part.remote.exits {
            // From here on by its number among the neighbours.
            exit.part = neighbours.binary_search(&exit.part).map_or(u16::MAX, |number| number as u16);
        }
        let neighbour = |part| Neighbour { part, batches: Vec::new(), earliest: Time::NEVER };
        part.remote.most_spare = share.max(neighbours.len());
        part.remote.batch_size = size;
        part.remote.neighbours = neighbours.into_iter().map(neighbour).collect();
    }
}

/// Packets between parts change hands. Each takes them in when it runs next.
pub(crate) fn exchange<S: Scheme>(parts: &mut [Part<S>]) {
    for from in 0..parts.len() {
        let mut pending = std::mem::take(&mut parts[from].remote.pending);
        for place in pending.drain(..) {
            let neighbour = &mut parts[from].remote.neighbours[usize::from(place)];
            let to = usize::from(neighbour.part);
            let mut batches = std::mem::take(&mut neighbour.batches);
            let earliest = std::mem::replace(&mut neighbour.earliest, Time::NEVER);
            parts[to].next = parts[to].next.min(Key::before(earliest));
            parts[to].remote.inbox.append(&mut batches);
            parts[from].remote.neighbours[usize::from(place)].batches = batches;
        }
        parts[from].remote.pending = pending;
    }
}

impl<S: Scheme> Batch<S> {
    fn new(size: usize) -> Batch<S> {
        Batch { items: Vec::with_capacity(size), payload: Vec::new() }
    }
}

impl<S: Scheme> Part<S> {
    /// Queues a packet for the part where its link ends.
    #[inline(never)]
    pub(crate) fn send_remote(&mut self, port_id: PortId, arrives: Time, packet: &Packet) {
        let exit = self.remote.exits[port_id];
        let batch = self.remote.batch_to(exit.part, arrives);
        let mut packet = *packet;
        if packet.extra != NO_EXTRA {
            batch.payload.push(match packet.kind {
                Kind::Neighbour => Payload::Message(self.voq_switches.take_message(packet.extra)),
                Kind::Notification => Payload::Feedback(self.flows.feedback.remove(packet.extra)),
                _ if packet.carries_feedback() => Payload::Feedback(self.flows.feedback.remove(packet.extra)),
                _ => Payload::Int(self.flows.int.take_away(&packet)),
            });
        }
        if !packet.kind.is_link_local() {
            let at = packet.route as usize;
            if let Some(&route) = self.paths.route_ports.get(at) {
                let beside = if packet.flags & BACKWARD == 0 { at + 1 } else { at - 1 };
                (packet.route, packet.flow) = (route, FlowEntryId::new(self.paths.route_ports[beside]));
            } else {
                // No entry is known there; the flow's number finds it.
                packet.flow = FlowEntryId::new(self.flows.entries[packet.flow].id);
            }
        }
        batch.items.push((exit.port, InFlight { arrives, packet }));
    }

    /// Receives what other parts have sent.
    pub(crate) fn receive_remote(&mut self) {
        let mut inbox = std::mem::take(&mut self.remote.inbox);
        for mut batch in inbox.drain(..) {
            self.empty(&mut batch);
            self.remote.keep(batch);
        }
        self.remote.inbox = inbox;
    }

    fn empty(&mut self, batch: &mut Batch<S>) {
        let mut payload = batch.payload.drain(..);
        for (port_id, item) in &mut batch.items {
            if item.packet.extra != NO_EXTRA {
                let packet = &mut item.packet;
                match payload.next().expect("one each") {
                    Payload::Message(message) => packet.extra = self.voq_switches.put_message(message),
                    Payload::Feedback(feedback) => packet.extra = self.flows.feedback.insert(feedback),
                    Payload::Int(records) => self.flows.int.insert(&records, packet),
                }
            }
            if TableRoute::of(item.packet.route).is_some() {
                item.packet.flow = self.flows.flows_by_id[&item.packet.flow.get()];
            }
            let port = &mut self.links.ports[*port_id];
            if port.in_flight.is_empty() {
                self.queue.push_named(item.arrives, kind::ARRIVE, port.name, port_id.get());
            }
            self.links.in_flight.push(&mut port.in_flight, item);
        }
        drop(payload);
        batch.items.clear();
    }
}
