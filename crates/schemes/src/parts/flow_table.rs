//! Per-flow counters of one queue: small, exact, without allocation once grown.
//!
//! Flows are the run's numbers of them, which are never used again: an entry that is not removed stays,
//! so the owner of a table removes flows that have gone silent. Entries lie side by side in the
//! order in which they came (a removal moves the last into the gap), which makes walks cheap and
//! their order the same in every run; an open-addressed index finds them.

/// A map from flow to `T`.
#[derive(Clone, Debug, Default)]
pub struct FlowTable<T> {
    entries: Vec<(u32, T)>,
    /// Number of the entry plus one, or zero; a power of two of them.
    index: Vec<u32>,
}

impl<T> FlowTable<T> {
    /// Without entries and without memory.
    pub fn new() -> FlowTable<T> {
        FlowTable { entries: Vec::new(), index: Vec::new() }
    }

    /// Flows that have an entry.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no flow has an entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// In the order in which they came, but for removals.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entries.iter().map(|(flow, value)| (*flow, value))
    }

    /// In the order of [`FlowTable::iter`].
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        self.entries.iter_mut().map(|(flow, value)| (*flow, value))
    }

    /// None if the flow has no entry.
    #[inline]
    pub fn get(&self, flow: u32) -> Option<&T> {
        let entry = self.index.get(self.find(flow)).copied().unwrap_or(0);
        self.entries.get((entry as usize).wrapping_sub(1)).map(|(_, value)| value)
    }

    /// None if the flow has no entry.
    #[inline]
    pub fn get_mut(&mut self, flow: u32) -> Option<&mut T> {
        let entry = self.index.get(self.find(flow)).copied().unwrap_or(0);
        self.entries.get_mut((entry as usize).wrapping_sub(1)).map(|(_, value)| value)
    }

    /// The entry of a flow, made if it has none.
    #[inline]
    pub fn entry(&mut self, flow: u32, new: impl FnOnce() -> T) -> &mut T {
        if self.index.len() < 2 * (self.entries.len() + 1) {
            self.grow();
        }
        let at = self.find(flow);
        if self.index[at] == 0 {
            self.entries.push((flow, new()));
            self.index[at] = self.entries.len() as u32;
        }
        &mut self.entries[self.index[at] as usize - 1].1
    }

    /// What its entry held. The last entry takes its place in the order.
    pub fn remove(&mut self, flow: u32) -> Option<T> {
        let at = self.find(flow);
        let entry = self.index.get(at).copied().filter(|&entry| entry != 0)? as usize - 1;
        self.unlink(at);
        if entry + 1 < self.entries.len() {
            // The last entry moves into the gap: its place in the index follows.
            let last = self.find(self.entries[self.entries.len() - 1].0);
            self.index[last] = entry as u32 + 1;
        }
        Some(self.entries.swap_remove(entry).1)
    }

    /// Keeps the entries that `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(u32, &mut T) -> bool) {
        self.entries.retain_mut(|(flow, value)| keep(*flow, value));
        self.reindex();
    }

    /// Forgets all flows and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.index.fill(0);
    }

    #[inline]
    fn home(&self, flow: u32) -> usize {
        // Fibonacci hashing; the index is at most 2^32 long.
        let shift = 32 - self.index.len().trailing_zeros();
        ((u64::from(flow.wrapping_mul(0x9e37_79b9))) >> shift) as usize
    }

    /// Position of the flow in the index, or the free place for it; 0 if there is no index.
    #[inline]
    fn find(&self, flow: u32) -> usize {
        if self.index.is_empty() {
            return 0;
        }
        let mask = self.index.len() - 1;
        let mut at = self.home(flow);
        while self.index[at] != 0 && self.entries[self.index[at] as usize - 1].0 != flow {
            at = (at + 1) & mask;
        }
        at
    }

    /// Empties a place of the index and moves up what had to step aside for it.
    fn unlink(&mut self, mut hole: usize) {
        let mask = self.index.len() - 1;
        let mut at = (hole + 1) & mask;
        while self.index[at] != 0 {
            let home = self.home(self.entries[self.index[at] as usize - 1].0);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.index[hole] = self.index[at];
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.index[hole] = 0;
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.index.len() * 2).max(8);
        self.index = vec![0; len];
        self.reindex();
    }

    fn reindex(&mut self) {
        self.index.fill(0);
        for entry in 0..self.entries.len() {
            let at = self.find(self.entries[entry].0);
            self.index[at] = entry as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use xoff_engine::stream;

    #[test]
    fn it_agrees_with_a_map() {
        let mut rng = stream(1, "flow table", 0);
        let (mut table, mut map) = (FlowTable::new(), HashMap::new());
        for step in 0..200_000u64 {
            let flow = rng.below(1 + step / 500 % 90) as u32 * 7919;
            match rng.below(8) {
                0..4 => *table.entry(flow, || 0u64) += *map.entry(flow).and_modify(|n| *n += 1).or_insert(1) % 2,
                4..7 => assert_eq!(table.remove(flow).is_some(), map.remove(&flow).is_some()),
                _ => assert_eq!(table.get(flow).is_some(), map.contains_key(&flow)),
            }
            assert_eq!(table.len(), map.len());
            if step % 1000 == 0 {
                assert!(table.iter().all(|(flow, _)| map.contains_key(&flow)));
                table.retain(|flow, _| flow % 2 == 0);
                map.retain(|flow, _| flow % 2 == 0);
            }
        }
    }

    #[test]
    fn values_stay_with_their_flows() {
        let mut table = FlowTable::new();
        for flow in 0..1000 {
            *table.entry(flow, || 0) = flow * 3;
        }
        for flow in (0..1000).step_by(3) {
            assert_eq!(table.remove(flow), Some(flow * 3));
        }
        for flow in 0..1000 {
            assert_eq!(table.get(flow).copied(), (flow % 3 != 0).then_some(flow * 3));
        }
        table.clear();
        assert!(table.is_empty() && table.get(1).is_none());
    }
}
