//! State of a part, by owner. What it does is in the methods of [`Part`](crate::part::Part).

use crate::contract::packet::Packet;
use crate::contract::record::{Failure, PauseRecord, PfcRecord};
use crate::contract::scheme::{Notice, Scheme};
use crate::flow::ends::{FlowDetails, Receiver, Sender};
use crate::flow::identity::FlowEntry;
use crate::id::{CpId, FlowEntryId, PortId, QueueId, ReceiverId, SenderId};
use crate::network::route::Routes;
use crate::node::port::{InFlight, LinkTypes, Port, Queue, QueueHistory};
use crate::part::FlowEvent;
use crate::part::flow_links::FlowLinks;
use crate::part::route_storage::RouteStorage;
use crate::part::selective::SelectiveCargo;
use std::collections::HashMap;
use std::sync::Arc;
use xoff_engine::{Key, Pool, Rng, Slab, Table, Time};

/// Records since they were last taken, and what orders them among those of other parts.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) pauses: Vec<PauseRecord>,
    pub(crate) pfc_frames: Vec<PfcRecord>,
    pub(crate) taps: crate::node::tap::Taps,
    /// Only if [`crate::network::plan::RunSettings::record_flow_links`].
    pub(crate) flow_links: Option<FlowLinks>,
    /// See [`crate::run::World::storm_records`]; each with its port.
    pub(crate) storms: Vec<(PortId, crate::contract::record::StormRecord)>,
    /// First failure, with its merge key.
    pub(crate) failure: Option<(Option<Key>, Failure)>,
    pub(crate) events: Vec<FlowEvent>,
    /// Merge key: largest event key handled so far; orders records across parts. `None` in a network of one part.
    pub(crate) rank: Option<Key>,
    /// Merge keys of the records above, one each.
    pub(crate) event_ranks: Vec<Key>,
    pub(crate) pause_ranks: Vec<Key>,
    pub(crate) frame_ranks: Vec<Key>,
    pub(crate) storm_ranks: Vec<Key>,
}

/// Ports, and what is in flight on their links.
pub(crate) struct Links {
    pub(crate) ports: Table<PortId, Port>,
    pub(crate) link_types: LinkTypes,
    /// Overflows of `Port::tx_packets`.
    pub(crate) wraps: HashMap<PortId, u32>,
    pub(crate) in_flight: Pool<InFlight>,
    /// What was read ahead of its event: without a use the compiler would leave out the read.
    pub(crate) touched: u64,
    pub(crate) gap_bytes: u32,
    pub(crate) pfc_frame: u16,
    /// Empty if no link loses frames.
    pub(crate) loss: Table<PortId, f64>,
    pub(crate) loss_rng: Table<PortId, Rng>,
}

/// Egress queues of all ports, and how classes share a port.
pub(crate) struct EgressQueues {
    /// Packets of all queues.
    pub(crate) queued: Pool<Packet>,
    pub(crate) queues: Table<QueueId, Queue>,
    /// What each adds to the identifier of a path.
    pub(crate) names: Table<QueueId, u16>,
    /// What queues keep of pauses and drops, up to the last queue that has any.
    pub(crate) histories: Table<QueueId, QueueHistory>,
    pub(crate) strict: u8,
    pub(crate) quantum: Vec<i64>,
    /// Deficit round-robin of ports with weighted classes.
    pub(crate) deficit: Table<QueueId, i64>,
    pub(crate) drr_next: Table<PortId, u8>,
    /// Classes without strict priority are served round-robin, a packet each.
    pub(crate) round_robin: bool,
}

impl EgressQueues {
    pub(crate) fn history(&self, queue: QueueId) -> QueueHistory {
        self.histories.get(queue).copied().unwrap_or_default()
    }

    pub(crate) fn history_mut(&mut self, queue: QueueId) -> &mut QueueHistory {
        self.histories.reach(queue, QueueHistory::default)
    }
}

/// Congestion points of all ports.
pub(crate) struct CongestionPoints<S: Scheme> {
    pub(crate) cps: Table<CpId, S::Cp>,
    /// By port: its first congestion point.
    pub(crate) cp_bases: Table<PortId, CpId>,
    /// As far as any has a timer.
    pub(crate) timers: Table<CpId, CpTimer>,
    pub(crate) notices: Vec<Notice<S::Feedback>>,
}

impl<S: Scheme> CongestionPoints<S> {
    /// Room for so many congestion points of so many ports.
    pub(crate) fn with_capacity(ports: usize, points: usize) -> CongestionPoints<S> {
        CongestionPoints {
            cps: Vec::with_capacity(points).into(),
            cp_bases: Vec::with_capacity(ports).into(),
            timers: Table::default(),
            notices: Vec::new(),
        }
    }
}

/// The timer of a congestion point.
pub(crate) struct CpTimer {
    /// When the event that counts is due; others are stale.
    pub due: Time,
    pub port: PortId,
    /// Orders it among timers of one instant, independent of other schemes.
    pub name: u32,
    pub class: u8,
}

impl CpTimer {
    /// That of a congestion point without one.
    pub fn none() -> CpTimer {
        CpTimer { due: Time::NEVER, port: PortId::NONE, name: 0, class: 0 }
    }
}

/// Ends of flows, flow entries, and what packets carry beside themselves.
pub(crate) struct Flows<S: Scheme> {
    pub(crate) senders: Slab<SenderId, Sender<S::Rp>>,
    pub(crate) receivers: Slab<ReceiverId, Receiver<S::Np>>,
    pub(crate) details: Slab<SenderId, FlowDetails>,
    pub(crate) entries: Slab<FlowEntryId, FlowEntry>,
    pub(crate) route_storage: Slab<FlowEntryId, RouteStorage>,
    /// Flow entries by the flow's number in the run.
    pub(crate) flows_by_id: HashMap<u32, FlowEntryId>,
    pub(crate) int: crate::node::stacks::Stacks,
    pub(crate) feedback: Slab<u32, S::Feedback>,
    pub(crate) selective: Slab<u32, SelectiveCargo>,
}

/// Routes, and the paths that flows take in this part.
pub(crate) struct Paths {
    pub(crate) forwarding: crate::node::forwarding::Forwarder,
    pub(crate) routes: Arc<Routes>,
    pub(crate) route_ports: Vec<u32>,
}
