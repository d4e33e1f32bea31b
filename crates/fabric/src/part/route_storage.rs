//! The entries of flows in a part, and the memory of their paths through it.

use crate::contract::scheme::{Scheme, TIMERS};
use crate::flow::identity::FlowEntry;
use crate::id::{FlowEntryId, ReceiverId, SenderId};
use crate::part::Part;
use xoff_engine::Time;

/// What a part has stored of a flow's paths: first index and length.
#[derive(Debug, Default)]
pub(crate) struct RouteStorage {
    /// Segments of the way there that are in use.
    pub forward: Vec<(u32, u8)>,
    /// All blocks of memory, in use or not.
    pub blocks: Vec<(u32, u8)>,
    /// Edges of its sender and its receiver, if switches choose its next hops.
    pub edges: Option<[u16; 2]>,
    /// Hops (an egress port, and the next one) that data packets of a flow with several paths took here, by name, in
    /// ascending order.
    pub hops: Vec<(u32, u32)>,
}

impl RouteStorage {
    pub fn note_hop(&mut self, hop: (u32, u32)) {
        if let Err(place) = self.hops.binary_search(&hop) {
            self.hops.insert(place, hop);
        }
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
        self.flows.route_storage[entry].blocks.append(detours);
    }

    /// Forgets a flow of which nothing is left.
    pub(crate) fn free_flow(&mut self, entry: FlowEntryId) {
        let FlowEntry { id, sender: flow, receiver, .. } = self.flows.entries.remove(entry);
        self.flows.flows_by_id.remove(&id);
        let mut blocks = self.flows.route_storage.remove(entry).blocks;
        if flow != SenderId::NONE {
            if let Some(timers) = self.compat.timers.get_mut(flow) {
                *timers = [Time::NEVER; TIMERS];
            }
            self.flows.senders.remove(flow);
            blocks.append(&mut self.flows.details.remove(flow).detours);
            self.paths.forwarding.set_spread(flow, None);
        }
        if receiver != ReceiverId::NONE {
            self.flows.receivers.remove(receiver);
        }
        self.remove_shaper(entry);
        for (at, len) in blocks {
            self.paths.forwarding.route_free[usize::from(len)].push(at);
        }
    }
}
