//! The congestion trees of a run: stops, the chains between them, and the queue at the root of each.

use super::chain::{self, FlowLifetime, Link, NextHops};
use super::flows::Flows;
use super::network::Network;
use super::stops::{OfQueue, Stop, Times, of_queue};
use super::{end_of, stops};
use crate::read::RunDirectory;
use std::collections::{HashMap, HashSet};
use xoff_engine::{Span, Time};
use xoff_scenario::{Diagnostic, Loaded};

pub struct Trees {
    pub stops: Vec<Stop>,
    pub of_queue: OfQueue,
    /// One for each stop.
    pub links: Vec<Link>,
    pub times: Times,
}

impl Trees {
    pub fn read(run: &RunDirectory, loaded: &Loaded, network: &Network, flows: &Flows) -> Result<Trees, Diagnostic> {
        let (stops, times) = stops(run, loaded, network)?;
        let delay = |port: u32| if times == Times::Arrivals { Span::ZERO } else { network.pause_travel(port) };
        let of_queue = of_queue(&stops);
        let links = chain::links(&stops, &of_queue, lives(flows, end_of(run)), delay);
        Ok(Trees { stops, of_queue, links, times })
    }

    /// By root: the egress whose queue is why its switch stopped others, if flows that came by the stopped one went
    /// to a queue that was not empty. Of several it is the longest; `queue` says how long one was at an instant.
    pub fn roots(&self, flows: &Flows, end: Time, queue: impl Fn(u32, Time) -> u64) -> HashMap<u32, Option<u32>> {
        let roots = || (0u32..).zip(&self.links).filter(|(_, link)| link.depth == 0).map(|(index, _)| index);
        let at_roots: HashSet<(u32, u8)> = roots().map(|index| self.queue_of(index)).collect();
        let next_hops = chain::next_hops(lives(flows, end), |by, _| at_roots.contains(&by));
        roots().map(|index| (index, self.congested(index, &next_hops, &queue))).collect()
    }

    fn queue_of(&self, stop: u32) -> (u32, u8) {
        let stop = &self.stops[stop as usize];
        (stop.port, stop.priority)
    }

    fn congested(&self, root: u32, next_hops: &NextHops, queue: impl Fn(u32, Time) -> u64) -> Option<u32> {
        let stop = &self.stops[root as usize];
        let at = stop.decided.unwrap_or(stop.from);
        let next = next_hops.get(&self.queue_of(root))?.iter().filter(|(_, alive)| chain::alive_at(alive, at));
        let longest = next.map(|(&port, _)| (queue(port, at), port)).max_by_key(|&(bytes, port)| (bytes, !port))?;
        (longest.0 > 0).then_some(longest.1)
    }
}

/// The lives of all flows, in the order of their starts.
pub fn lives(flows: &Flows, end: Time) -> impl Iterator<Item = FlowLifetime<'_>> {
    flows.list.iter().map(move |flow| FlowLifetime {
        start: flow.start,
        end: flow.network_end(end),
        priority: flow.priority,
        hops: flows.hops(flow),
    })
}
