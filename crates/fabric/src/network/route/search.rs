//! Next hops of one edge found by breadth-first search: for pieces of a network that are not regular, and for rules of
//! other simulators, in whose order of next hops the search shows.

use crate::network::route::tiers::{Links, NONE};

/// A search from an edge, with room to be used again.
pub(super) struct Search {
    /// Each switch with hops to the edge, and how many switches were met before.
    distance: Vec<u32>,
    met: Vec<u32>,
    /// Switches that have a way, as they are met.
    order: Vec<u32>,
    /// Whether equal next hops are listed as the search met them, and not by link.
    as_met: bool,
}

impl Search {
    pub fn new(switches: usize, as_met: bool) -> Search {
        Search { distance: vec![NONE; switches], met: vec![0; switches], order: Vec::new(), as_met }
    }

    /// Hands over every switch that has a way to `root`, with its equal-cost links of the fewest hops.
    pub fn run(&mut self, links: &Links, root: u32, mut found: impl FnMut(u32, &[(u32, u32)])) {
        let Search { distance, met, order, as_met } = self;
        order.drain(..).for_each(|switch| distance[switch as usize] = NONE);
        distance[root as usize] = 0;
        order.push(root);
        let mut head = 0;
        while let Some(&switch) = order.get(head) {
            met[switch as usize] = head as u32;
            head += 1;
            for &(_, next) in links.of(switch) {
                if distance[next as usize] == NONE {
                    distance[next as usize] = distance[switch as usize] + 1;
                    order.push(next);
                }
            }
        }
        let mut hops: Vec<(u32, u32)> = Vec::new();
        for &switch in order.iter().skip(1) {
            let closer = |&(_, next): &(u32, u32)| distance[next as usize] + 1 == distance[switch as usize];
            hops.clear();
            hops.extend(links.of(switch).iter().copied().filter(closer));
            if *as_met {
                hops.sort_by_key(|&(_, next)| met[next as usize]);
            }
            found(switch, &hops);
        }
    }
}
