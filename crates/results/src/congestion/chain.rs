//! Why an egress was stopped: the chain of stops from the root of a congestion tree to its leaves.
//!
//! A switch pauses an upstream egress because what came from there fills its buffer. If at that
//! moment one of its own egresses stands still, and a flow that comes by the one leaves by the
//! other, the stop is *propagated*: it exists because of the stop further down. If none does, the
//! congestion is in the switch itself, and the stop is the *root* of a tree.

use super::stops::{OfQueue, Stop};
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};

/// Lifetime of a flow, as far as the network is concerned.
#[derive(Clone, Copy, Debug)]
pub struct FlowLifetime<'a> {
    pub start: Time,
    pub end: Time,
    pub priority: u8,
    /// Hops that its packets took: an egress port, and the next one.
    pub hops: &'a [(u32, u32)],
}

/// What is known of the stop with the same number.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// The stops that brought it about; none for a root.
    pub causes: Vec<u32>,
    /// The root that the first of its causes leads to; itself for a root.
    pub root: u32,
    /// Stops between it and the root; zero for a root.
    pub depth: u32,
}

/// By (egress stopped, priority): the next ports of the flows that came by it, and when they lived.
pub type NextHops = BTreeMap<(u32, u8), BTreeMap<u32, Vec<(Time, Time)>>>;

/// One link for each stop. `stops` are in the order of their beginnings, `lives` in that of their
/// starts. `delay` is the least time from the beginning of a stop until the egress obeys: zero if
/// beginnings are arrivals.
pub fn links<'a>(
    stops: &[Stop],
    of_queue: &OfQueue,
    lives: impl Iterator<Item = FlowLifetime<'a>>,
    delay: impl Fn(u32) -> Span,
) -> Vec<Link> {
    let next_hops = next_hops(lives, |by, next| of_queue.contains_key(&by) && of_queue.contains_key(&next));
    let mut links: Vec<Link> = Vec::with_capacity(stops.len());
    for (index, stop) in (0u32..).zip(stops) {
        let at = stop.decided.unwrap_or(stop.from);
        let mut causes = Vec::new();
        for (&egress, alive) in next_hops.get(&(stop.port, stop.priority)).into_iter().flatten() {
            let Some(own) = of_queue.get(&(egress, stop.priority)).filter(|_| alive_at(alive, at)) else { continue };
            // The stops of one queue do not overlap, so only the last one begun can hold.
            let begun = own.partition_point(|&other| stops[other as usize].from.saturating_add(delay(egress)) <= at);
            let Some(&cause) = begun.checked_sub(1).and_then(|last| own.get(last)) else { continue };
            // Effects come after causes in the list, so that no chain is a circle, even in a deadlock.
            if stops[cause as usize].until > at && cause < index {
                causes.push(cause);
            }
        }
        causes.sort_unstable();
        let (root, depth) = match causes.first() {
            Some(&cause) => (links[cause as usize].root, links[cause as usize].depth + 1),
            None => (index, 0),
        };
        links.push(Link { causes, root, depth });
    }
    links
}

/// Of the pairs of neighbouring queues that `matters`.
pub fn next_hops<'a>(
    lives: impl Iterator<Item = FlowLifetime<'a>>,
    matters: impl Fn((u32, u8), (u32, u8)) -> bool,
) -> NextHops {
    let mut next_hops = NextHops::new();
    for life in lives {
        for &(from, to) in life.hops {
            let (by, next) = ((from, life.priority), (to, life.priority));
            if !matters(by, next) {
                continue;
            }
            // Flows come by their starts, so lives that touch can be joined at once.
            let alive = next_hops.entry(by).or_default().entry(to).or_default();
            match alive.last_mut() {
                Some((_, end)) if life.start <= *end => *end = life.end.max(*end),
                _ => alive.push((life.start, life.end)),
            }
        }
    }
    next_hops
}

/// Whether one of these lives holds at an instant.
pub fn alive_at(alive: &[(Time, Time)], at: Time) -> bool {
    let begun = alive.partition_point(|&(start, _)| start <= at);
    begun.checked_sub(1).is_some_and(|last| alive[last].1 >= at)
}

#[cfg(test)]
mod tests {
    use super::super::stops::{Ended, of_queue};
    use super::*;

    fn stop(port: u32, from: u64, until: u64) -> Stop {
        let (from, until) = (Time::from_us(from), Time::from_us(until));
        let decided = Some(from);
        Stop { port, priority: 3, from, until, ended: Ended::Resume, decided, ingress_bytes: None }
    }

    /// A chain of egresses 0, 2, 4; another flow comes by 0 and goes elsewhere, by 8.
    fn found(stops: &[Stop], flow_end: u64) -> Vec<(Vec<u32>, u32, u32)> {
        let lives = [(&[(0, 2), (2, 4)][..], flow_end), (&[(0, 8)][..], 100)];
        let lives = lives.iter().map(|&(hops, end)| FlowLifetime {
            start: Time::ZERO,
            end: Time::from_us(end),
            priority: 3,
            hops,
        });
        links(stops, &of_queue(stops), lives, |_| Span::from_us(1))
            .into_iter()
            .map(|l| (l.causes, l.root, l.depth))
            .collect()
    }

    #[test]
    fn stops_spread_against_the_traffic() {
        let stops = [stop(4, 10, 50), stop(2, 20, 50), stop(0, 30, 50)];
        assert_eq!(found(&stops, 100), [(vec![], 0, 0), (vec![0], 0, 1), (vec![1], 0, 2)]);
    }

    #[test]
    fn a_stop_that_is_over_or_not_yet_obeyed_explains_nothing() {
        let over = [stop(4, 10, 15), stop(2, 20, 50)];
        assert_eq!(found(&over, 100), [(vec![], 0, 0), (vec![], 1, 0)]);
        let early = [stop(4, 10, 50), Stop { decided: Some(Time::from_ns(10_500)), ..stop(2, 11, 50) }];
        assert_eq!(found(&early, 100), [(vec![], 0, 0), (vec![], 1, 0)]);
    }

    #[test]
    fn without_a_flow_from_one_to_the_other_there_is_no_link() {
        assert_eq!(found(&[stop(4, 10, 50), stop(2, 20, 50)], 12)[1], (vec![], 1, 0), "the flow had ended");
        assert_eq!(found(&[stop(4, 10, 50), stop(0, 20, 50)], 100)[1], (vec![], 1, 0), "no neighbour");
    }

    #[test]
    fn several_causes_are_all_kept() {
        let stops = [stop(8, 5, 50), stop(2, 20, 50), stop(0, 30, 50)];
        assert_eq!(found(&stops, 100)[2], (vec![0, 1], 0, 1));
    }
}
