//! What each port sends of each flow: how a flow was shared out over links. Only of runs that ask for it.

use crate::contract::packet::{Kind, Packet};
use crate::contract::record::FlowLink;
use crate::contract::scheme::Scheme;
use crate::id::PortId;
use crate::node::port::CAPTURED;
use crate::part::Part;
use std::collections::BTreeMap;

/// Data packets and their bytes on the wire, by flow and port.
#[derive(Debug, Default)]
pub(crate) struct FlowLinks(BTreeMap<(u32, u32), (u64, u64)>);

impl FlowLinks {
    fn note(&mut self, flow: u32, port: u32, wire_bytes: u64) {
        let (packets, bytes) = self.0.entry((flow, port)).or_default();
        *packets += 1;
        *bytes += wire_bytes;
    }

    /// Rows in order of flow and port.
    pub(crate) fn rows(&self) -> impl Iterator<Item = FlowLink> {
        let row = |(&(flow, port), &(packets, wire_bytes))| FlowLink { flow, port, packets, wire_bytes };
        self.0.iter().map(row)
    }
}

impl<S: Scheme> Part<S> {
    /// Counts from now on. All ports then transmit as captured ones do.
    pub(crate) fn count_flow_links(&mut self) {
        self.records.flow_links = Some(FlowLinks::default());
        for port in self.links.ports.iter_mut() {
            port.flags |= CAPTURED;
        }
    }

    /// A packet begins to leave a port.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_flow_link(&mut self, port: PortId, packet: &Packet) {
        let Some(links) = &mut self.records.flow_links else { return };
        if matches!(packet.kind, Kind::Data | Kind::Trimmed) {
            let flow = self.flows.entries[packet.flow].id;
            let wire_bytes = u64::from(packet.frame_bytes) + u64::from(self.links.gap_bytes);
            links.note(flow, self.links.ports[port].name, wire_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sums_by_flow_and_port() {
        let mut links = FlowLinks::default();
        for (flow, port, bytes) in [(3, 1, 100), (2, 9, 50), (3, 1, 60), (3, 0, 10)] {
            links.note(flow, port, bytes);
        }
        let rows: Vec<_> = links.rows().map(|row| (row.flow, row.port, row.packets, row.wire_bytes)).collect();
        assert_eq!(rows, [(2, 9, 1, 50), (3, 0, 1, 10), (3, 1, 2, 160)]);
    }
}
