//! DRILL as ConWeave's simulator has it (switch-node.cc): for each packet the next hops are shuffled and the first two
//! looked at, after the one remembered for the destination host.

use crate::contract::forwarding::{Candidate, Forwarded, NextHop, NextHopFacts};
use std::collections::HashMap;
use xoff_engine::SharedGlibc;

/// Next hops looked at beside the one that is remembered.
const SAMPLES: usize = 2;

pub(crate) struct DrillShuffled {
    shared: SharedGlibc,
    /// Port by destination host.
    remembered: HashMap<u32, u16>,
    /// Places of candidates, shuffled.
    order: Vec<usize>,
}

impl DrillShuffled {
    pub fn new(facts: &NextHopFacts) -> DrillShuffled {
        let shared = facts.shared.clone().unwrap_or_else(|| SharedGlibc::new(facts.seed as u32));
        DrillShuffled { shared, remembered: HashMap::new(), order: Vec::new() }
    }
}

impl NextHop for DrillShuffled {
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize {
        self.order.clear();
        self.order.extend(0..candidates.len());
        for i in 1..candidates.len() {
            self.order.swap(i, self.shared.below(i + 1));
        }
        let remembered = self.remembered.get(&packet.host);
        let known = remembered.and_then(|port| candidates.iter().position(|candidate| candidate.port == *port));
        let looked_at = known.into_iter().chain(self.order.iter().copied().take(SAMPLES));
        // The first of the shortest.
        let least = looked_at.min_by_key(|&place| candidates[place].queue_bytes).unwrap_or(0);
        self.remembered.insert(packet.host, candidates[least].port);
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::forwarding::testing::{candidates, packet};

    #[test]
    fn paths_2_the_remembered_port_stays_on_a_tie() {
        let facts = NextHopFacts { seed: 1, switch: 3, shared: Some(SharedGlibc::new(1)) };
        let mut drill = DrillShuffled::new(&facts);
        // rand() modulo 2, 3 and 4 shuffles to 0 3 1 2, and then to 0 1 2 3.
        assert_eq!(drill.pick(&packet(0, 0), &candidates(&[3000, 1000, 1000, 900])), 3);
        assert_eq!(drill.pick(&packet(0, 0), &candidates(&[3000, 1000, 1000, 1000])), 3, "not strictly less");
        assert_eq!(drill.remembered[&0], 3);
    }
}
