//! Times at which queue pairs have sent all of their current message: a binary heap that knows where each of them is.
//!
//! A rate that changes moves one entry, so the heap holds one entry per active queue pair and none is stale.

/// Not in the heap.
const OUT: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    at: u64,
    /// Orders simultaneous completions.
    tie: u64,
    flow: u32,
}

impl Entry {
    fn key(&self) -> (u64, u64, u32) {
        (self.at, self.tie, self.flow)
    }
}

/// Completions, the earliest first.
#[derive(Default)]
pub(crate) struct Completions {
    heap: Vec<Entry>,
    /// Place in the heap, by flow.
    places: Vec<u32>,
}

impl Completions {
    /// Returns time (picoseconds) and flow of the earliest.
    pub(crate) fn first(&self) -> Option<(u64, u32)> {
        self.heap.first().map(|entry| (entry.at, entry.flow))
    }

    /// Sets when a flow completes.
    pub(crate) fn set(&mut self, flow: u32, at: u64, tie: u64) {
        if flow as usize >= self.places.len() {
            self.places.resize(flow as usize + 1, OUT);
        }
        let entry = Entry { at, tie, flow };
        match self.places[flow as usize] {
            OUT => {
                self.heap.push(entry);
                self.up(self.heap.len() - 1, entry);
            }
            place if entry.key() < self.heap[place as usize].key() => self.up(place as usize, entry),
            place => self.down(place as usize, entry),
        }
    }

    /// Forgets a flow, if it is known.
    pub(crate) fn remove(&mut self, flow: u32) {
        let Some(&place) = self.places.get(flow as usize).filter(|place| **place != OUT) else { return };
        self.places[flow as usize] = OUT;
        let Some(last) = self.heap.pop() else { return };
        let place = place as usize;
        if place < self.heap.len() {
            match last.key() < self.heap[place].key() {
                true => self.up(place, last),
                false => self.down(place, last),
            }
        }
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.flow as usize] = place as u32;
    }

    fn up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let above = (place - 1) / 2;
            if self.heap[above].key() <= entry.key() {
                break;
            }
            self.put(place, self.heap[above]);
            place = above;
        }
        self.put(place, entry);
    }

    fn down(&mut self, mut place: usize, entry: Entry) {
        loop {
            let mut below = 2 * place + 1;
            if below >= self.heap.len() {
                break;
            }
            if below + 1 < self.heap.len() && self.heap[below + 1].key() < self.heap[below].key() {
                below += 1;
            }
            if entry.key() <= self.heap[below].key() {
                break;
            }
            self.put(place, self.heap[below]);
            place = below;
        }
        self.put(place, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::rng::mix;

    #[test]
    fn flows_come_out_in_order_whatever_was_moved_or_removed() {
        let mut completions = Completions::default();
        let mut known = std::collections::BTreeMap::new();
        for step in 0..20_000u64 {
            let draw = mix(step);
            let (flow, at) = ((draw % 97) as u32, mix(draw) % 1_000);
            if draw >> 60 == 0 {
                completions.remove(flow);
                known.remove(&flow);
            } else {
                completions.set(flow, at, mix(u64::from(flow)));
                known.insert(flow, at);
            }
            let first = known.iter().map(|(&flow, &at)| (at, mix(u64::from(flow)), flow)).min();
            assert_eq!(completions.first(), first.map(|(at, _, flow)| (at, flow)), "step {step}");
        }
    }
}
