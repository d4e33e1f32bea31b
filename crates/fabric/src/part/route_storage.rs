//! The entries of flows in a part, and the memory of their paths through it.

use crate::contract::scheme::{Scheme, TIMERS};
use crate::flow::identity::FlowEntry;
use crate::id::{FlowEntryId, ReceiverId, SenderId};
use crate::part::Part;
use xoff_engine::Time;

/// What a part has stored of a flow's paths.
#[derive(Debug, Default)]
pub(crate) struct RouteStorage {
    segments: Segments,
    /// Edges of its sender and its receiver, if switches choose its next hops.
    pub edges: Option<[u16; 2]>,
    /// Hops (an egress port, and the next one) that data packets of a flow with several paths took here, by name, in
    /// ascending order; each with the time of the first packet.
    pub hops: Box<[((u32, u32), Time)]>,
}

const _: () = assert!(size_of::<RouteStorage>() == 48, "a flow has one in every part that it crosses");

/// A block of memory with a segment of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub block: u32,
    /// Words of the block; zero for none.
    pub len: u8,
    /// Words before its first port.
    pub before: u8,
    /// Ports, if it is part of the way there and in use; else zero.
    pub forward: u8,
}

/// Most flows have one segment there and one back, and there may be a million flows.
#[derive(Debug)]
enum Segments {
    Few([Segment; 2]),
    Many(Vec<Segment>),
}

impl Default for Segments {
    fn default() -> Self {
        Segments::Few(Default::default())
    }
}

impl Segments {
    fn all_mut(&mut self) -> &mut [Segment] {
        match self {
            Segments::Few(segments) => segments,
            Segments::Many(segments) => segments,
        }
    }
}

impl RouteStorage {
    pub fn note_hop(&mut self, hop: (u32, u32), now: Time) {
        if let Err(place) = self.hops.binary_search_by_key(&hop, |(hop, _)| *hop) {
            let mut hops = std::mem::take(&mut self.hops).into_vec();
            hops.insert(place, (hop, now));
            self.hops = hops.into();
        }
    }

    pub fn add(&mut self, segment: Segment) {
        match &mut self.segments {
            Segments::Few(few) => match few.iter_mut().find(|place| place.len == 0) {
                Some(place) => *place = segment,
                None => self.segments = Segments::Many(few.iter().copied().chain([segment]).collect()),
            },
            Segments::Many(many) => many.push(segment),
        }
    }

    /// Segments of the way there that are in use: first port and hops.
    pub fn forward(&self) -> impl Iterator<Item = (u32, u8)> {
        let segments = match &self.segments {
            Segments::Few(segments) => &segments[..],
            Segments::Many(segments) => segments,
        };
        let used = segments.iter().filter(|segment| segment.forward > 0);
        used.map(|segment| (segment.block + u32::from(segment.before), segment.forward))
    }

    /// Its flow takes other paths from now on.
    pub fn leave(&mut self) {
        self.segments.all_mut().iter_mut().for_each(|segment| segment.forward = 0);
    }
}

impl<S: Scheme> Part<S> {
    pub(crate) fn add_entry(&mut self, of: FlowEntry) -> FlowEntryId {
        let entry = self.flows.entries.insert(of);
        let storage = self.flows.route_storage.insert(RouteStorage::default());
        debug_assert_eq!(entry, storage, "entries and route_storage move together");
        self.flows.flows_by_id.insert(of.id, entry);
        entry
    }

    /// Memory for a segment of a path.
    pub(crate) fn take_block(&mut self, len: usize) -> u32 {
        assert!(len <= usize::from(u8::MAX), "a path of {len} words");
        if self.paths.forwarding.route_free.len() <= len {
            self.paths.forwarding.route_free.resize(len + 1, Vec::new());
        }
        self.paths.forwarding.route_free[len].pop().unwrap_or_else(|| {
            self.paths.route_ports.resize(self.paths.route_ports.len() + len, 0);
            (self.paths.route_ports.len() - len) as u32
        })
    }

    pub(crate) fn fill_block(&mut self, at: u32, words: &[u32]) {
        self.paths.route_ports[at as usize..at as usize + words.len()].copy_from_slice(words);
    }

    /// Packets of a flow take no detours any more; those under way may still walk them.
    pub(crate) fn give_up_detours(&mut self, entry: FlowEntryId) {
        let detours = &mut self.flows.details[self.flows.entries[entry].sender].detours;
        for (block, len) in detours.drain(..) {
            self.flows.route_storage[entry].add(Segment { block, len, ..Segment::default() });
        }
    }

    /// Forgets a flow of which nothing is left.
    pub(crate) fn free_flow(&mut self, entry: FlowEntryId) {
        let FlowEntry { id, sender: flow, receiver, .. } = self.flows.entries.remove(entry);
        self.flows.flows_by_id.remove(&id);
        let mut storage = self.flows.route_storage.remove(entry);
        let free = &mut self.paths.forwarding.route_free;
        if flow != SenderId::NONE {
            if let Some(timers) = self.compat.timers.get_mut(flow) {
                *timers = [Time::NEVER; TIMERS];
            }
            self.flows.senders.remove(flow);
            for (block, len) in self.flows.details.remove(flow).detours {
                free[usize::from(len)].push(block);
            }
            self.paths.forwarding.set_spread(flow, None);
        }
        if receiver != ReceiverId::NONE {
            self.flows.receivers.remove(receiver);
            self.paths.forwarding.forget_order(receiver);
        }
        self.remove_shaper(entry);
        for segment in storage.segments.all_mut().iter().filter(|segment| segment.len > 0) {
            self.paths.forwarding.route_free[usize::from(segment.len)].push(segment.block);
        }
    }
}
