//! DRILL: a few next hops drawn anew for each packet, and those remembered for its destination (Ghorbani et al.,
//! SIGCOMM 2017).

use crate::contract::forwarding::{Candidate, Forwarded, NextHop, NextHopFacts};
use crate::network::forwarding::draws::Draws;
use xoff_engine::Table;

/// Parameters of DRILL(d, m).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrillSettings {
    /// d: next hops drawn for each packet.
    pub samples: u8,
    /// m: next hops remembered for each destination, those with the shortest queues of the last look.
    pub memory: u8,
}

xoff_engine::ids! {
    /// A switch with hosts, where packets are bound for.
    EdgeId;
}

/// Chooses the shortest queue among those looked at: remembered ones first, then samples in the order of their draw. A
/// later one counts only if it is strictly shorter.
pub(crate) struct Drill {
    draws: Draws,
    settings: DrillSettings,
    remembered: Table<EdgeId, Vec<u16>>,
    /// Places among the candidates of the packet at hand.
    looked_at: Vec<usize>,
    unseen: Vec<usize>,
}

impl Drill {
    pub fn new(facts: &NextHopFacts, settings: DrillSettings) -> Drill {
        Drill {
            draws: Draws::new(facts, "drill"),
            settings,
            remembered: Table::default(),
            looked_at: Vec::new(),
            unseen: Vec::new(),
        }
    }

    /// Draws different candidates; those remembered may be among them.
    fn sample(&mut self, packet: &Forwarded, candidates: usize) {
        let mut rng = self.draws.of(packet);
        self.unseen.clear();
        self.unseen.extend(0..candidates);
        for _ in 0..usize::from(self.settings.samples).min(candidates) {
            let drawn = rng.below(self.unseen.len() as u64) as usize;
            let place = self.unseen.swap_remove(drawn);
            if !self.looked_at.contains(&place) {
                self.looked_at.push(place);
            }
        }
    }

    /// The shortest of the queues that were looked at; remembers the shortest few.
    fn least(&mut self, edge: EdgeId, candidates: &[Candidate]) -> usize {
        // Stable: of equal queues the one that was looked at first stays ahead.
        self.looked_at.sort_by_key(|&place| candidates[place].queue_bytes);
        let remembered = self.remembered.reach(edge, Vec::new);
        remembered.clear();
        let shortest = self.looked_at.iter().take(self.settings.memory.into());
        remembered.extend(shortest.map(|&place| candidates[place].port));
        self.looked_at[0]
    }
}

impl NextHop for Drill {
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize {
        let edge = EdgeId::new(packet.edge.into());
        self.looked_at.clear();
        if let Some(ports) = self.remembered.get(edge) {
            let place = |port: &u16| candidates.iter().position(|candidate| candidate.port == *port);
            self.looked_at.extend(ports.iter().filter_map(place));
        }
        self.sample(packet, candidates.len());
        self.least(edge, candidates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::forwarding::testing::{candidates, packet};

    fn drill(samples: u8, memory: u8) -> Drill {
        Drill::new(&NextHopFacts { seed: 1, switch: 3, shared: None }, DrillSettings { samples, memory })
    }

    #[test]
    fn paths_2_a_tie_stays_with_what_was_looked_at_first() {
        // Queues A 3000, B 1000, C 1000, D 0; remembered C.
        let queues = candidates(&[3000, 1000, 1000, 0]);
        let mut drill = drill(2, 1);
        for (samples, chosen) in [([0, 1], 2), ([3, 0], 3)] {
            drill.looked_at = [2].into_iter().chain(samples).collect();
            assert_eq!(drill.least(EdgeId::new(0), &queues), chosen);
            assert_eq!(drill.remembered[EdgeId::new(0)], [chosen as u16]);
        }
    }

    #[test]
    fn all_next_hops_looked_at_are_the_shortest_queue() {
        let mut drill = drill(4, 0);
        for least in 0..4 {
            let mut queues = [5000; 4];
            queues[least] = 10;
            assert_eq!(drill.pick(&packet(0, 0), &candidates(&queues)), least);
        }
    }

    #[test]
    fn a_port_that_is_gone_is_not_remembered() {
        let mut drill = drill(1, 1);
        let queues = candidates(&[0, 900]);
        // Sooner or later the empty queue is drawn, and then kept.
        (0..64).for_each(|us| {
            drill.pick(&packet(us, 0), &queues);
        });
        assert_eq!(drill.pick(&packet(64, 0), &queues), 0);
        assert_eq!(drill.pick(&packet(0, 0), &queues[1..]), 0, "only the other is left");
        assert_eq!(drill.remembered[EdgeId::new(0)], [1]);
    }
}
