//! Where in the network a flow is: an entry in every part that its packets cross, and its paths over them.
//!
//! A path lies in each part as a segment of that part's own port numbers. Where it leaves for another part,
//! two words say where it goes on: the cursor there and the flow's entry. A segment that is entered from
//! another part begins with the port it is entered from, so that it can be walked backwards, and before that
//! with the same two words. A path of a flow that has several carries its number at both ends ([`Ends`]).

use crate::contract::record::{FlowRecord, RecoveryRecord};
use crate::contract::scheme::Scheme;
use crate::contract::traffic::FlowSpec;
use crate::flow::ends::{FlowDetails, Receiver, Sender};
use crate::flow::identity::FlowEntry;
use crate::id::{FlowEntryId, FlowStateId, PortId, ReceiverId, SenderId, SourceId};
use crate::network::plan::peer;
use crate::part::route_storage::{RouteStorage, Segment};
use crate::run::World;
use xoff_engine::Key;

/// A flow in the run as a whole: whose it is, and its part and entry wherever it is.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct FlowState {
    /// Its source, which knows it by this handle.
    pub source: SourceId,
    pub handle: u32,
    /// Where its sender is, and its receiver.
    ends: [(u16, FlowEntryId); 2],
    pub sender: SenderId,
    pub receiver: ReceiverId,
    /// Parts that it crosses between them, if there are any.
    #[expect(clippy::box_collection, reason = "few flows have one, and a flow's state is one cache line")]
    between: Option<Box<Vec<(u16, FlowEntryId)>>>,
    /// The act of its source that stops it, where acts are drawn ahead; [`Key::LAST`] if none does.
    pub stops: Key,
    pub probed: bool,
}

const _: () = assert!(size_of::<Option<FlowState>>() == 64, "one is read for every message");

impl FlowState {
    /// Each part once, its sender's first.
    fn entries(&self) -> impl Iterator<Item = (u16, FlowEntryId)> {
        let [from, to] = self.ends;
        let to = (to.0 != from.0).then_some(to);
        std::iter::once(from).chain(to).chain(self.between.iter().flat_map(|between| between.iter().copied()))
    }

    /// The parts of its sender and of its receiver.
    pub fn parts(&self) -> [usize; 2] {
        self.ends.map(|(part, _)| usize::from(part))
    }

    fn entry_in(&self, part: u16) -> Option<FlowEntryId> {
        self.entries().find(|(other, _)| *other == part).map(|(_, entry)| entry)
    }
}

/// A segment of a path in one part: its hops, and its block.
struct PathSegment {
    part: u16,
    first: usize,
    last: usize,
    block: u32,
    /// Its first port, and how many there are.
    route: u32,
    hops: u8,
}

/// Words before the first own port of a segment that is entered from another part.
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
    /// A new flow between two hosts, with an entry at both ends.
    pub(crate) fn add_flow_state(&mut self, entry: FlowEntry, source: SourceId, spec: &FlowSpec) -> FlowStateId {
        let [from, to] = [spec.src, spec.dst].map(|node| self.layout.part_of(node));
        let ends = [(from, FlowEntryId::NONE), (to, FlowEntryId::NONE)];
        let state = FlowState {
            source,
            handle: spec.handle,
            ends,
            sender: SenderId::NONE,
            receiver: ReceiverId::NONE,
            between: None,
            stops: Key::LAST,
            probed: spec.probed,
        };
        let flow_state = self.flow_states.insert(state);
        let entry = FlowEntry { flow_state, ..entry };
        let home = self.parts[usize::from(from)].add_entry(entry);
        let there = if to == from { home } else { self.parts[usize::from(to)].add_entry(entry) };
        self.flow_states[flow_state].ends = [(from, home), (to, there)];
        flow_state
    }

    /// The part of a flow's sender, and its entry there.
    pub(crate) fn origin(&self, flow_state: FlowStateId) -> (usize, FlowEntryId) {
        let [(part, entry), _] = self.flow_states[flow_state].ends;
        (usize::from(part), entry)
    }

    /// The part of its receiver, and its entry there.
    pub(crate) fn target(&self, flow_state: FlowStateId) -> (usize, FlowEntryId) {
        let [_, (part, entry)] = self.flow_states[flow_state].ends;
        (usize::from(part), entry)
    }

    pub(crate) fn sender_of(&self, flow_state: FlowStateId) -> (&Sender<S::Rp>, &FlowDetails) {
        let (part, entry) = self.origin(flow_state);
        let part = &self.parts[part];
        let sender = part.flows.entries[entry].sender;
        (&part.flows.senders[sender], &part.flows.details[sender])
    }

    pub(crate) fn receiver_of(&self, flow_state: FlowStateId) -> &Receiver<S::Np> {
        let (part, entry) = self.target(flow_state);
        let part = &self.parts[part];
        &part.flows.receivers[part.flows.entries[entry].receiver]
    }

    /// What parts have stored of a flow's paths.
    pub(crate) fn route_storage_of(&self, flow_state: FlowStateId) -> impl Iterator<Item = &RouteStorage> {
        let entries = self.flow_states[flow_state].entries();
        entries.map(|(part, entry)| &self.parts[usize::from(part)].flows.route_storage[entry])
    }

    /// The entry of a flow in a part; a new one if there is none yet.
    pub(crate) fn entry_in(&mut self, flow_state: FlowStateId, part: u16) -> FlowEntryId {
        if let Some(entry) = self.flow_states[flow_state].entry_in(part) {
            return entry;
        }
        let (home, first) = self.origin(flow_state);
        let of = FlowEntry {
            sender: SenderId::NONE,
            receiver: ReceiverId::NONE,
            live: 0,
            ..self.parts[home].flows.entries[first]
        };
        let entry = self.parts[usize::from(part)].add_entry(of);
        self.flow_states[flow_state].between.get_or_insert_default().push((part, entry));
        entry
    }

    /// Stores a path of a flow; the first and the last segment of it, each as its first port and hops.
    pub(crate) fn lay(
        &mut self,
        flow_state: FlowStateId,
        path: &[u32],
        forward: bool,
        ends: Option<Ends>,
    ) -> [(u32, u8); 2] {
        let segments = self.segments(path, ends.is_some());
        for (at, segment) in segments.iter().enumerate() {
            let mut words = Vec::with_capacity(path.len() + 6);
            if at == 0 {
                words.extend(ends.map(|ends| u32::from(ends.number)));
            } else {
                let before = &segments[at - 1];
                let entry = self.entry_in(flow_state, before.part);
                // A packet on its way back stands at the last node of the segment before.
                let cursor = (before.route + u32::from(before.hops)).wrapping_sub(2);
                let entered = path[segment.first - 1];
                words.extend([entry.get(), cursor, self.layout.port_at(peer(entered)).peer().get()]);
            }
            let ports = path[segment.first..=segment.last].iter().map(|&port| self.layout.port_at(port));
            words.extend(ports.map(PortId::get));
            if let Some(after) = segments.get(at + 1) {
                words.extend([after.route + 1, self.entry_in(flow_state, after.part).get()]);
            } else if let Some(Ends { number, answer }) = ends {
                let backwards = (segment.route + u32::from(segment.hops)).wrapping_sub(2);
                words.extend([number.into(), if answer == 0 { backwards } else { answer }]);
            }
            let entry = self.entry_in(flow_state, segment.part);
            let part = &mut self.parts[usize::from(segment.part)];
            part.fill_block(segment.block, &words);
            part.flows.route_storage[entry].add(Segment {
                block: segment.block,
                len: words.len() as u8,
                before: (segment.route - segment.block) as u8,
                forward: if forward { segment.hops } else { 0 },
            });
        }
        let ends = [segments.first(), segments.last()];
        ends.map(|segment| segment.map_or((0, 0), |segment| (segment.route, segment.hops)))
    }

    /// Cuts a path where it goes from part to part, and takes memory for it.
    fn segments(&mut self, path: &[u32], numbered: bool) -> Vec<PathSegment> {
        let part_of = |port: u32| self.layout.part_of(self.state.plan.node_of(port));
        let mut segments: Vec<PathSegment> = Vec::with_capacity(1);
        for (hop, part) in path.iter().map(|&port| part_of(port)).enumerate() {
            match segments.last_mut().filter(|segment| segment.part == part) {
                Some(segment) => segment.last = hop,
                None => segments.push(PathSegment { part, first: hop, last: hop, block: 0, route: 0, hops: 0 }),
            }
        }
        let count = segments.len();
        for (at, segment) in segments.iter_mut().enumerate() {
            let own = (segment.last - segment.first + 1) as u32;
            let [before, after] = if numbered { [Ends::BEFORE, Ends::AFTER] } else { [0, 0] };
            let entry = if at > 0 { ENTRY } else { before };
            let exit = if at + 1 < count { EXIT } else { after };
            segment.block = self.parts[usize::from(segment.part)].take_block((entry + own + exit) as usize);
            // The port it is entered from is part of the way.
            let entered = u32::from(at > 0);
            segment.route = segment.block + entry - entered;
            segment.hops = (own + entered) as u8;
        }
        segments
    }

    /// The flow uses other paths from now on; packets on the old ones may still walk them.
    pub(crate) fn leave_paths(&mut self, flow_state: FlowStateId) {
        for (part, entry) in self.flow_states[flow_state].entries() {
            self.parts[usize::from(part)].flows.route_storage[entry].leave();
        }
    }

    /// Packets of a flow that exist, of any kind.
    pub(crate) fn packets_alive(&self, flow_state: FlowStateId) -> i32 {
        let entries = self.flow_states[flow_state].entries();
        entries.map(|(part, entry)| self.parts[usize::from(part)].flows.entries[entry].live).sum()
    }

    /// Forgets the flows that are over and of which no packet is left.
    pub(crate) fn free_ended(&mut self) {
        let (parts, flow_states) = (&mut self.parts, &mut self.flow_states);
        self.ended.retain(|&flow_state| {
            let entries = flow_states[flow_state].entries();
            let live: i32 = entries.map(|(part, entry)| parts[usize::from(part)].flows.entries[entry].live).sum();
            if live == 0 {
                for (part, entry) in flow_states.remove(flow_state).entries() {
                    parts[usize::from(part)].free_flow(entry);
                }
            }
            live != 0
        });
    }

    pub(crate) fn flow_record(&self, flow_state: FlowStateId) -> FlowRecord {
        let ((sender, details), receiver) = (self.sender_of(flow_state), self.receiver_of(flow_state));
        let (path, multipath) = self.paths_taken(flow_state);
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
            recovery: RecoveryRecord { timeouts: details.timeouts, ..receiver.recovery },
            lost: details.lost,
            marked: receiver.marked,
            notifications: details.notifications,
            first_notified: details.first_notified,
            multipath,
            path,
        }
    }
}
