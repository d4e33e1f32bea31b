//! The queues of shaped flows, with the machines that set their rates.

use crate::contract::scheme::Transit;
use crate::id::{FlowEntryId, PortId, QueueId};
use xoff_engine::{Fifo, Ring, Span, Table, Time};

/// One flow's queue and machine.
#[derive(Debug)]
pub(crate) struct Shaped<T> {
    pub(crate) machine: T,
    pub(crate) packets: Fifo,
    pub(crate) bytes: u64,
    /// The packet let go last: its gap must pass before the next.
    pub(crate) last_at: Time,
    pub(crate) last_wire_bytes: u32,
    /// The event that counts.
    pub(crate) due: Time,
    /// It stands in line at its egress.
    pub(crate) waits: bool,
    /// The domain of its receiver: here is where it is shaped.
    pub(crate) domain: u16,
}

impl<T: Transit> Shaped<T> {
    /// When its next packet may go. The gap follows the rate of now, also in mid-gap.
    pub(crate) fn next_at(&self) -> Time {
        let rate_bps = self.machine.rate_bps();
        debug_assert!(rate_bps.is_finite() && rate_bps > 0.0, "rate {rate_bps}");
        self.last_at.saturating_add(Span::from_ps((f64::from(self.last_wire_bytes) * 8e12 / rate_bps) as u64))
    }
}

/// All shaped queues of a world.
#[derive(Debug)]
pub struct Shapers<T> {
    /// By the entry of the flow.
    pub(crate) flows: Table<FlowEntryId, Option<Box<Shaped<T>>>>,
    /// By port: bytes that will leave by it. Empty until the first flow needs one, as is `lines`.
    pub(crate) port_bytes: Table<PortId, u64>,
    /// By egress queue: the flows that stand in line.
    pub(crate) lines: Table<QueueId, Ring<FlowEntryId>>,
}

impl<T> Default for Shapers<T> {
    fn default() -> Self {
        Shapers { flows: Table::default(), port_bytes: Table::default(), lines: Table::default() }
    }
}

impl<T> Shapers<T> {
    pub(crate) fn get(&self, flow: FlowEntryId) -> Option<&Shaped<T>> {
        self.flows.get(flow)?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, flow: FlowEntryId) -> Option<&mut Shaped<T>> {
        self.flows.get_mut(flow)?.as_deref_mut()
    }

    /// Bytes in shaped queues that will leave by a port.
    pub fn bytes_for(&self, port: PortId) -> u64 {
        self.port_bytes.get(port).copied().unwrap_or(0)
    }

    /// Bytes in the shaped queue of a flow, if it may have one.
    pub fn bytes_of(&self, flow: FlowEntryId) -> Option<u64> {
        self.get(flow).map(|shaped| shaped.bytes)
    }

    /// Data packets in all of them.
    pub fn packets(&self) -> u64 {
        self.flows.iter().flatten().map(|shaped| shaped.packets.len() as u64).sum()
    }

    /// Whether something moves on by itself, its time come.
    pub fn in_motion(&self) -> bool {
        self.flows.iter().flatten().any(|shaped| !shaped.packets.is_empty() && !shaped.waits)
    }
}
