//! The tracks of a trace: what hangs where, and under which number.
//!
//! ```text
//! run                               what happened to the whole network
//! node (a process)
//!   port, from->to
//!     pauses, priority N            slices
//!     queue, ingress, ...           counters
//!   flows sent, flows received
//!     flow
//!       rate, throughput, ...       counters
//! job (a process)
//!   rank: compute, rank: communication   slices
//! ```
//!
//! Numbers follow from those of nodes, ports and flows: the same scenario gives the same numbers.

use super::encoder::Encoder;
use super::jobs::Jobs;
use super::proto::{
    ChildOrdering, CounterDescriptor, CounterUnit, ProcessDescriptor, ProcessOrdering, TrackDescriptor,
};
use crate::congestion::network::Network;
use std::collections::HashSet;
use std::io::{self, Write};
use xoff_scenario::measure::probe::MetricFacts;

/// The parent of processes, which has no events.
const ROOT: u64 = 0;
/// The track of the run as a whole, a process of its own.
pub const RUN: u64 = 1;
/// Jobs and their ranks have numbers above all others.
const FIRST_JOB: u64 = 1 << 60;
const FIRST_RANK: u64 = 1 << 61;
/// Priorities of IEEE 802.1.
const PRIORITIES: u64 = 8;
/// Tracks of one flow: two sides, and a counter for each metric.
const PER_FLOW: u64 = 2 + METRICS;
/// More than there are metrics, variables of schemes included.
pub const METRICS: u64 = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Sent,
    Received,
}

/// What a flow's tracks are called after.
#[derive(Clone, Copy)]
pub struct FlowName<'a> {
    pub id: u64,
    pub label: &'a str,
    pub src: u32,
    pub dst: u32,
}

/// Describes each track once, before its first event.
pub struct Tracks {
    known: HashSet<u64>,
    nodes: u64,
    ports: u64,
}

impl Tracks {
    /// Describes the run, its jobs with their ranks, and all nodes.
    pub fn begin<W: Write>(encoder: &mut Encoder<W>, network: &Network, jobs: &Jobs, run: &str) -> io::Result<Tracks> {
        encoder.track(TrackDescriptor {
            uuid: Some(ROOT),
            process_ordering: Some(ProcessOrdering::Explicit as i32),
            ..TrackDescriptor::default()
        })?;
        encoder.track(process(RUN, 0, run, "run"))?;
        for (number, name) in (0u32..).zip(&jobs.names) {
            encoder.track(process(FIRST_JOB + u64::from(number), 1 + number as i32, &format!("job {name}"), "job"))?;
        }
        for (number, track) in (0u32..).zip(&jobs.tracks) {
            let parent = FIRST_JOB + u64::from(track.job);
            let uuid = Tracks::of_rank(number);
            let rank = Some(number.min(i32::MAX as u32) as i32);
            encoder.track(TrackDescriptor { sibling_order_rank: rank, ..child(uuid, parent, track.name.clone()) })?;
        }
        let after = jobs.names.len() as i32;
        let mut order: Vec<u32> = (0..network.nodes() as u32).collect();
        order.sort_unstable_by_key(|&node| network.rank(node));
        let tracks = Tracks { known: HashSet::new(), nodes: network.nodes() as u64, ports: network.ports() as u64 };
        for node in order {
            let rank = i32::try_from(network.rank(node)).unwrap_or(i32::MAX / 2) + 1 + after;
            encoder.track(process(tracks.node(node), rank, network.names.node(node), network.layer(node)))?;
        }
        Ok(tracks)
    }

    /// The track of a rank of a job, by its place in [`Jobs::tracks`].
    pub fn of_rank(track: u32) -> u64 {
        FIRST_RANK + u64::from(track)
    }

    fn node(&self, node: u32) -> u64 {
        RUN + 1 + u64::from(node)
    }
    fn first_port(&self) -> u64 {
        // A node has its process and a group of flows for either side.
        RUN + 1 + 3 * self.nodes
    }
    fn first_flow(&self) -> u64 {
        // A port has its own track, and for each priority its pauses and a counter for each metric.
        self.first_port() + self.ports * (1 + PRIORITIES * (1 + METRICS))
    }

    /// The track of the pauses of an egress.
    pub fn pauses<W: Write>(
        &mut self,
        encoder: &mut Encoder<W>,
        network: &Network,
        port: u32,
        priority: u8,
    ) -> io::Result<u64> {
        let parent = self.port(encoder, network, port)?;
        let uuid = self.of_queue(port, priority, 0);
        if self.known.insert(uuid) {
            let rank = Some(i32::from(priority));
            encoder.track(TrackDescriptor {
                sibling_order_rank: rank,
                description: Some(format!("when this egress was stopped by {}", network.stopper(port))),
                ..child(uuid, parent, format!("pauses, priority {priority}"))
            })?;
        }
        Ok(uuid)
    }

    /// A counter of a port; `priority` where the metric is per priority.
    pub fn port_counter<W: Write>(
        &mut self,
        encoder: &mut Encoder<W>,
        network: &Network,
        port: u32,
        priority: Option<u8>,
        (index, facts): (usize, &MetricFacts),
    ) -> io::Result<u64> {
        let uuid = self.of_queue(port, priority.unwrap_or(0), 1 + index as u64);
        if !self.known.contains(&uuid) {
            let parent = self.port(encoder, network, port)?;
            self.known.insert(uuid);
            let name = match priority {
                Some(priority) => format!("{}, priority {priority}", facts.name),
                None => facts.name.to_owned(),
            };
            let rank = 100 + 10 * index as i32 + i32::from(priority.unwrap_or(0));
            encoder.track(TrackDescriptor { sibling_order_rank: Some(rank), ..counter(uuid, parent, name, facts) })?;
        }
        Ok(uuid)
    }

    /// The track of a flow at one of its ends.
    pub fn flow<W: Write>(
        &mut self,
        encoder: &mut Encoder<W>,
        network: &Network,
        flow: FlowName<'_>,
        side: Side,
    ) -> io::Result<u64> {
        let uuid = self.first_flow() + flow.id * PER_FLOW + side as u64;
        if self.known.contains(&uuid) {
            return Ok(uuid);
        }
        let (node, group, other, order) = match side {
            Side::Sent => (flow.src, "flows sent", format!("to {}", network.names.node(flow.dst)), 1),
            Side::Received => (flow.dst, "flows received", format!("from {}", network.names.node(flow.src)), 2),
        };
        let parent = RUN + 1 + self.nodes + 2 * u64::from(node) + side as u64;
        if self.known.insert(parent) {
            encoder.track(TrackDescriptor {
                // After all ports.
                sibling_order_rank: Some(i32::MAX - 3 + order),
                child_ordering: Some(ChildOrdering::Chronological as i32),
                ..child(parent, self.node(node), group.to_owned())
            })?;
        }
        self.known.insert(uuid);
        encoder.track(child(uuid, parent, format!("{} #{} {other}", flow.label, flow.id)))?;
        Ok(uuid)
    }

    /// A counter of a flow, beside its track at the sender.
    pub fn flow_counter<W: Write>(
        &mut self,
        encoder: &mut Encoder<W>,
        network: &Network,
        flow: FlowName<'_>,
        (index, facts): (usize, &MetricFacts),
    ) -> io::Result<u64> {
        let uuid = self.first_flow() + flow.id * PER_FLOW + 2 + index as u64;
        if !self.known.contains(&uuid) {
            let parent = self.flow(encoder, network, flow, Side::Sent)?;
            self.known.insert(uuid);
            encoder.track(counter(uuid, parent, facts.name.to_owned(), facts))?;
        }
        Ok(uuid)
    }

    fn port<W: Write>(&mut self, encoder: &mut Encoder<W>, network: &Network, port: u32) -> io::Result<u64> {
        let uuid = self.first_port() + u64::from(port);
        if self.known.insert(uuid) {
            let parent = self.node(network.names.node_of(port));
            encoder.track(TrackDescriptor {
                sibling_order_rank: i32::try_from(port).ok(),
                child_ordering: Some(ChildOrdering::Explicit as i32),
                description: Some(format!("egress at {} Gb/s", network.names.rate(port).as_gbps())),
                ..child(uuid, parent, network.names.port(port).to_owned())
            })?;
        }
        Ok(uuid)
    }

    fn of_queue(&self, port: u32, priority: u8, what: u64) -> u64 {
        let queue = u64::from(port) * PRIORITIES + u64::from(priority);
        self.first_port() + self.ports + queue * (1 + METRICS) + what
    }
}

fn process(uuid: u64, rank: i32, name: &str, label: &str) -> TrackDescriptor {
    TrackDescriptor {
        uuid: Some(uuid),
        sibling_order_rank: Some(rank),
        child_ordering: Some(ChildOrdering::Explicit as i32),
        process: Some(ProcessDescriptor {
            // Zero is the idle task of a real machine.
            pid: Some(rank + 1),
            legacy_sort_index: Some(rank),
            process_name: Some(name.to_owned()),
            process_labels: vec![label.to_owned()],
        }),
        ..TrackDescriptor::default()
    }
}

fn child(uuid: u64, parent: u64, name: String) -> TrackDescriptor {
    TrackDescriptor { uuid: Some(uuid), parent_uuid: Some(parent), name: Some(name), ..TrackDescriptor::default() }
}

fn counter(uuid: u64, parent: u64, name: String, facts: &MetricFacts) -> TrackDescriptor {
    let counter = match facts.unit {
        "bytes" => CounterDescriptor { unit: Some(CounterUnit::SizeBytes as i32), ..CounterDescriptor::default() },
        unit => CounterDescriptor { unit_name: Some(unit.to_owned()), ..CounterDescriptor::default() },
    };
    let description = Some(facts.meaning.to_owned());
    TrackDescriptor { counter: Some(counter), description, ..child(uuid, parent, name) }
}
