//! Packets that leave a part for another. The part that receives a packet stores it while it is in flight.

use crate::contract::control::SwitchControl;
use crate::contract::packet::{BACKWARD, Kind, NO_EXTRA, Packet, SELECTIVE, TableRoute};
use crate::contract::scheme::Scheme;
use crate::id::{FlowEntryId, PortId};
use crate::node::port::{BOUNDARY, InFlight};
use crate::node::stacks::RemoteRecords;
use crate::part::selective::SelectiveCargo;
use crate::part::{Part, kind};
use xoff_engine::{Key, Span, Table, Time};

/// Where the link of a port leads that ends in another part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub part: u16,
    /// The number that the port has there.
    pub port: PortId,
}

/// Boxed: lists of batches have room for more of them than there are now.
#[allow(clippy::vec_box, reason = "see above")]
type Batches<S> = Vec<Box<Batch<S>>>;

/// A few packets for another part. The part that receives them fills the batch again with what it sends itself, while the
/// batch is still in the cache; so batches take no more memory than the packets in flight.
struct Batch<S: Scheme> {
    /// No packet of it arrives earlier.
    base: Time,
    /// When the first arrives of this batch and those that the same part sent after it.
    earliest: Time,
    items: Vec<Item>,
    /// What the packets carry, in their order.
    payload: Vec<Payload<S>>,
}

/// A packet in a batch, and the port at whose link it arrives.
#[derive(Clone, Copy)]
struct Item {
    port: PortId,
    /// Picoseconds from the base of its batch to its arrival.
    after: u32,
    packet: Packet,
}

const _: () = assert!(size_of::<Item>() == 40, "every packet that crosses is written to one and read from it");

/// Packets in a batch, by the number of parts: where there are many, most neighbours get few in a window.
fn batch_size(parts: usize) -> usize {
    (2560 / parts).clamp(8, 64)
}

/// Batches from which on a window is divided, and into how many stretches at most.
const BATCHES_AT_ONCE: u64 = 8;
const STRETCHES_MOST: u64 = 8;

/// Empty batches that all parts together keep, at least; and each keeps one for every neighbour.
const SPARE: usize = 1 << 13;

#[allow(clippy::large_enum_variant, reason = "in most runs there is telemetry and nothing else")]
enum Payload<S: Scheme> {
    Int(RemoteRecords),
    Feedback(S::Feedback),
    /// What else its packet carries comes after it.
    Selective(SelectiveCargo),
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
    inbox: Batches<S>,
    /// Empty batches, and how many are kept.
    spare: Batches<S>,
    most_spare: usize,
    batch_size: usize,
}

struct Neighbour<S: Scheme> {
    part: u16,
    /// Packets for it.
    batches: Batches<S>,
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

    /// The batch that goes next to a neighbour, with room for a packet that leaves now, and how long after the batch's
    /// base that arrives.
    #[inline]
    fn batch_to(&mut self, neighbour: u16, now: Time, arrives: Time) -> (&mut Batch<S>, u32) {
        let queue = &mut self.neighbours[usize::from(neighbour)];
        let full = |batch: &Batch<S>| batch.items.len() == self.batch_size || batch.after(arrives).is_none();
        if queue.batches.last().is_none_or(|batch| full(batch)) {
            if queue.batches.is_empty() {
                self.pending.push(neighbour);
            }
            let mut batch = self.spare.pop().unwrap_or_else(|| Box::new(Batch::new(self.batch_size)));
            // Links of other lengths fit in too, unless this one is very long.
            batch.base = now;
            if batch.after(arrives).is_none() {
                batch.base = arrives;
            }
            queue.batches.push(batch);
        }
        let batch = queue.batches.last_mut().expect("one is there");
        let after = batch.after(arrives).unwrap_or_default();
        batch.earliest = batch.earliest.min(arrives);
        (batch, after)
    }

    /// Frees the memory of packets from and to other parts.
    pub(crate) fn forget_packets(&mut self) {
        (self.inbox, self.spare) = (Vec::new(), Vec::new());
        self.neighbours.iter_mut().for_each(|neighbour| neighbour.batches = Vec::new());
    }

    /// Takes back a batch that was emptied, unless there are enough.
    fn keep(&mut self, batch: Box<Batch<S>>) {
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
        let neighbour = |part| Neighbour { part, batches: Vec::new() };
        part.remote.most_spare = share.max(neighbours.len());
        part.remote.batch_size = size;
        part.remote.neighbours = neighbours.into_iter().map(neighbour).collect();
    }
}

/// Packets between parts change hands. Each takes them in when it runs next.
pub(crate) fn exchange<S: Scheme>(parts: &mut [Part<S>]) {
    for part in parts.iter_mut() {
        // What a part that did not run has left is older than what comes now.
        part.remote.inbox.iter_mut().for_each(|batch| batch.earliest = Time::ZERO);
    }
    for from in 0..parts.len() {
        let mut pending = std::mem::take(&mut parts[from].remote.pending);
        for place in pending.drain(..) {
            let neighbour = &mut parts[from].remote.neighbours[usize::from(place)];
            let to = usize::from(neighbour.part);
            let mut batches = std::mem::take(&mut neighbour.batches);
            let mut earliest = Time::NEVER;
            for batch in batches.iter_mut().rev() {
                earliest = earliest.min(batch.earliest);
                batch.earliest = earliest;
            }
            parts[to].next = parts[to].next.min(Key::before(earliest));
            parts[to].remote.inbox.append(&mut batches);
            parts[from].remote.neighbours[usize::from(place)].batches = batches;
        }
        parts[from].remote.pending = pending;
    }
}

impl<S: Scheme> Batch<S> {
    fn new(size: usize) -> Batch<S> {
        Batch { base: Time::ZERO, earliest: Time::NEVER, items: Vec::with_capacity(size), payload: Vec::new() }
    }

    #[inline]
    fn after(&self, arrives: Time) -> Option<u32> {
        u32::try_from(arrives.ps().checked_sub(self.base.ps())?).ok()
    }
}

impl<S: Scheme> Part<S> {
    /// Queues a packet for the part where its link ends.
    #[inline(never)]
    pub(crate) fn send_remote(&mut self, port_id: PortId, arrives: Time, packet: &Packet) {
        let exit = self.remote.exits[port_id];
        let (batch, after) = self.remote.batch_to(exit.part, self.now, arrives);
        let mut packet = *packet;
        let mut cargo = packet;
        if packet.flags & SELECTIVE != 0 {
            let selective = self.flows.selective.remove(packet.extra);
            batch.payload.push(Payload::Selective(selective));
            (cargo.extra, cargo.flags) = (selective.extra, packet.flags & !SELECTIVE);
        }
        if cargo.extra != NO_EXTRA {
            batch.payload.push(match packet.kind {
                Kind::Neighbour => Payload::Message(self.voq_switches.take_message(cargo.extra)),
                Kind::Notification => Payload::Feedback(self.flows.feedback.remove(cargo.extra)),
                _ if cargo.carries_feedback() => Payload::Feedback(self.flows.feedback.remove(cargo.extra)),
                _ => Payload::Int(self.flows.int.take_away(&cargo)),
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
        batch.items.push(Item { port: exit.port, after, packet });
    }

    /// Receives what other parts have sent and arrives before `limit`, at least.
    pub(crate) fn receive_until(&mut self, limit: Time) {
        let mut inbox = std::mem::take(&mut self.remote.inbox);
        for mut batch in inbox.extract_if(.., |batch| batch.earliest < limit) {
            self.empty(&mut batch);
            self.remote.keep(batch);
        }
        self.remote.inbox = inbox;
    }

    /// Receives all that other parts have sent.
    pub(crate) fn receive_remote(&mut self) {
        self.receive_until(Time::NEVER);
    }

    /// Stretches that a window from `start` on is divided into, so that a part receives packets shortly before they
    /// arrive: those that wait in batches need no room of their own, and it sends on in the batches that it emptied.
    pub(crate) fn stretches(&self, start: Time, end: Time) -> impl Iterator<Item = Time> + use<S> {
        let count = (self.remote.inbox.len() as u64 / BATCHES_AT_ONCE).clamp(1, STRETCHES_MOST);
        let step = end.saturating_since(start).ps() / count;
        (1..count).map(move |number| Time::from_ps(start.ps() + number * step))
    }

    /// Stores what a packet carries.
    #[inline(always)]
    fn put_cargo(&mut self, cargo: Payload<S>, packet: &mut Packet) {
        match cargo {
            Payload::Message(message) => packet.extra = self.voq_switches.put_message(message),
            Payload::Feedback(feedback) => packet.extra = self.flows.feedback.insert(feedback),
            Payload::Int(records) => self.flows.int.insert(&records, packet),
            Payload::Selective(cargo) => packet.extra = self.flows.selective.insert(cargo),
        }
    }

    fn empty(&mut self, batch: &mut Batch<S>) {
        let mut payload = batch.payload.drain(..);
        for Item { port: port_id, after, packet } in &mut batch.items {
            if packet.extra != NO_EXTRA {
                let mut next = || payload.next().expect("one each");
                match next() {
                    Payload::Selective(SelectiveCargo { selective, extra }) => {
                        packet.extra = extra;
                        if extra != NO_EXTRA {
                            self.put_cargo(next(), packet);
                        }
                        let cargo = SelectiveCargo { selective, extra: packet.extra };
                        packet.extra = self.flows.selective.insert(cargo);
                    }
                    cargo => self.put_cargo(cargo, packet),
                }
            }
            if TableRoute::of(packet.route).is_some() {
                packet.flow = self.flows.flows_by_id[&packet.flow.get()];
            }
            let arrives = batch.base + Span::from_ps(u64::from(*after));
            let port = &mut self.links.ports[*port_id];
            if port.in_flight.is_empty() {
                self.queue.push_named(arrives, kind::ARRIVE, port.name, port_id.get());
            }
            self.links.in_flight.push_with(&mut port.in_flight, |place| *place = InFlight { arrives, packet: *packet });
        }
        drop(payload);
        batch.items.clear();
        batch.earliest = Time::NEVER;
    }
}
