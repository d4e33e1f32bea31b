//! What comes out of a run.

use crate::world::FlowWorld;
use xoff_fabric::record::{FlowRecord, Multipath, RecoveryRecord};

impl FlowWorld {
    /// Counts what has been delivered of messages that are not delivered as a whole. Once, when a flow ends.
    pub(crate) fn account_partly(&mut self, slot: u32) {
        let now = self.state.now.ps();
        let flow = &mut self.flows[slot];
        let bytes = flow.partly_delivered(now);
        flow.done.delivered_bytes += bytes;
        let sent = (flow.head_sent(now) / f64::from(flow.sizes.full())) as u64;
        flow.done.packets += sent;
        self.ending.macro_flow_bytes += if flow.together.is_some() { bytes } else { 0 };
        self.state.counters.delivered_bytes += bytes;
        self.state.counters.data_packets_sent += sent;
        self.state.counters.data_packets_delivered += bytes.div_ceil(u64::from(flow.sizes.mtu));
    }

    /// The record of a flow. What only packets would tell is zero here, and has no value in tables.
    pub(crate) fn record(&self, slot: u32) -> FlowRecord {
        let flow = &self.flows[slot];
        FlowRecord {
            id: flow.id,
            number: flow.number,
            source: flow.source,
            label: flow.spec.label,
            src: flow.spec.src,
            dst: flow.spec.dst,
            ports: flow.ports,
            size_bytes: flow.spec.size_bytes,
            delivered_bytes: flow.done.delivered_bytes,
            class: flow.spec.class,
            scheme: flow.spec.scheme,
            start: flow.start,
            delivered_at: flow.done.delivered_at,
            acked_at: flow.done.acked_at,
            ideal: flow.ideal,
            base_rtt: flow.base_rtt,
            packets_sent: flow.done.packets,
            packets_retransmitted: 0,
            recovery: RecoveryRecord::default(),
            lost: 0,
            marked: 0,
            notifications: 0,
            first_notified: None,
            multipath: Multipath::default(),
            path: flow.way.path.clone(),
        }
    }

    /// Completes the records, once: a flow that is alive gets its record too.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.ending.finished, true) {
            return;
        }
        let mut alive: Vec<(u32, u32)> = self.flows.iter().map(|(slot, flow)| (flow.id, slot)).collect();
        alive.sort_unstable();
        for &(_, slot) in &alive {
            self.account_partly(slot);
        }
        self.state.waits = self.sources.iter().flat_map(|of| of.source.waits_for()).collect();
        let alone = alive.iter().filter(|&&(_, slot)| self.flows[slot].together.is_none());
        let records: Vec<FlowRecord> = alone.map(|&(_, slot)| self.record(slot)).collect();
        self.state.flows.extend(records);
        debug_assert_eq!(self.shares.check(), Ok(()), "shares do not add up");
    }
}
