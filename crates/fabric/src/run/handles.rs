//! Living flows of a source, by its own handles.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::marker::PhantomData;
use xoff_engine::Id;
use xoff_engine::rng::mix;

/// Handles below this one are rows of a table, which takes at most four megabytes.
const SMALL: u32 = 1 << 20;

/// An unused row of the table.
const NONE: u32 = u32::MAX;

/// Flows by handle. Handles are small numbers most often, which need no hash.
pub struct Handles<I> {
    small: Vec<u32>,
    large: HashMap<u32, u32, BuildHasherDefault<HandleHasher>>,
    len: usize,
    of: PhantomData<I>,
}

impl<I> Default for Handles<I> {
    fn default() -> Handles<I> {
        Handles { small: Vec::new(), large: HashMap::default(), len: 0, of: PhantomData }
    }
}

/// Mixes the bits of a handle. Handles that collide slow the table of the one source that chose them.
#[derive(Default)]
struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }
    fn write_u32(&mut self, handle: u32) {
        self.0 = mix(self.0 ^ u64::from(handle));
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

impl<I: Id> Handles<I> {
    /// Returns the living flow of a handle.
    #[inline]
    pub fn get(&self, handle: u32) -> Option<I> {
        let flow = match handle < SMALL {
            true => *self.small.get(handle as usize)?,
            false => *self.large.get(&handle)?,
        };
        (flow != NONE).then(|| I::at(flow as usize))
    }

    /// Gives a handle to a flow, in place of the flow that had it.
    pub fn insert(&mut self, handle: u32, flow: I) {
        let flow = flow.index() as u32;
        let before = if handle < SMALL {
            let place = handle as usize;
            if place >= self.small.len() {
                self.small.resize(place + 1, NONE);
            }
            Some(std::mem::replace(&mut self.small[place], flow)).filter(|flow| *flow != NONE)
        } else {
            self.large.insert(handle, flow)
        };
        self.len += usize::from(before.is_none());
    }

    /// Forgets a handle, which must be that of a living flow.
    pub fn remove(&mut self, handle: u32) {
        debug_assert!(self.get(handle).is_some(), "handle {handle} is removed twice");
        match handle < SMALL {
            true => self.small[handle as usize] = NONE,
            false => drop(self.large.remove(&handle)),
        }
        self.len -= 1;
    }

    /// Living flows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no living flow.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the flows, in any order.
    pub fn values(&self) -> impl Iterator<Item = I> {
        let small = self.small.iter().copied().filter(|flow| *flow != NONE);
        small.chain(self.large.values().copied()).map(|flow| I::at(flow as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::FlowStateId;

    #[test]
    fn small_and_large_handles_find_their_flows() {
        let mut handles = Handles::default();
        let known = [0, 3, SMALL - 1, SMALL, u32::MAX];
        for (handle, flow) in known.into_iter().zip(10..) {
            handles.insert(handle, FlowStateId::new(flow));
        }
        // A handle may be given to another flow.
        handles.insert(3, FlowStateId::new(21));
        handles.insert(u32::MAX, FlowStateId::new(24));
        let found = |handles: &Handles<FlowStateId>| known.map(|handle| handles.get(handle).map(FlowStateId::get));
        assert_eq!((found(&handles), handles.len()), ([10, 21, 12, 13, 24].map(Some), 5));
        assert_eq!((handles.get(1), handles.get(SMALL + 1)), (None, None));
        handles.remove(3);
        handles.remove(SMALL);
        assert_eq!((found(&handles), handles.len()), ([Some(10), None, Some(12), None, Some(24)], 3));
        let mut flows: Vec<u32> = handles.values().map(FlowStateId::get).collect();
        flows.sort_unstable();
        assert_eq!(flows, [10, 12, 24]);
        [0, SMALL - 1, u32::MAX].into_iter().for_each(|handle| handles.remove(handle));
        assert!(handles.is_empty());
    }
}
