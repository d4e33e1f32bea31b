//! The flow file: a count, then a line for each flow, in any order.

use super::super::flow_list::{Ends, FlowList};
use super::super::hpcc::flows::Flow;
use super::super::hpcc::topology::Topology;
use super::super::hpcc::units;
use super::super::words::Result;
use crate::{Diagnostic, Source};
use std::sync::Arc;

/// Bytes of a packet's nominal size that are neither payload nor header: its own header is counted twice there.
pub const LACKING_BYTES: u64 = 24;
/// Flows are cut into packets of this, whatever the size of a packet.
const CUT_BYTES: u64 = 1000;
/// Flows have ports of their own here, which distinguish them.
const FIRST_PORT: u32 = 10_000;
const DST_PORT: u16 = 100;

/// Reads as many flows as announced, sorted by start; `packet_bytes` is the nominal size of a packet.
pub fn read(
    source: &Arc<Source>,
    topology: &Topology,
    packet_bytes: u64,
    run_s: f64,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Flow>> {
    let mut list = FlowList::open(source)?;
    let mut flows: Vec<Flow> = Vec::new();
    for number in 1..=list.count {
        let ends = list.begin(number)?;
        let words = &mut list.words;
        let (group, group_word) = words.whole::<u32>("the priority group of a flow")?;
        let (bytes, size_word) = words.whole::<u64>("the size of a flow")?;
        let (start, start_word) = words.number("the start of a flow in seconds")?;
        let (stop, stop_word) = words.number("when a flow stops, in seconds")?;
        list.check(&ends, &stop_word, "src dst pg size_bytes start_seconds stop_seconds", topology)?;
        let (words, Ends { src, dst, first, .. }) = (&list.words, ends);
        if !matches!(group, 0 | 2..=6) {
            let error = words.error(&group_word, format!("the priority group {group} cannot carry a flow"));
            return Err(error.label("0 or 2 to 6: there 1 is TCP's and 7 that of PFC frames and CNPs"));
        }
        let Some(size_bytes) = payload_bytes(bytes, packet_bytes) else {
            let error = words.error(&size_word, format!("a flow of {bytes} bytes"));
            return Err(error.label("from 25 to 4294967295"));
        };
        if stop < run_s {
            let error = words.error(&stop_word, "this flow stops before the run ends");
            return Err(error.label("flows end when their bytes have been sent").help("use a later stop"));
        }
        let Some(start_ns) = units::seconds(start) else {
            let error = words.error(&start_word, "this start is later than any run can last");
            return Err(error.label("at most 100000 s"));
        };
        let Ok(src_port) = u16::try_from(FIRST_PORT + number - 1) else {
            return Err(words.error(&first, "too many flows").label("at most 55536"));
        };
        flows.push(Flow { src, dst, group: group as u8, src_port, dst_port: DST_PORT, size_bytes, start_ns });
    }
    list.finish(warnings);
    flows.sort_by_key(|flow| flow.start_ns);
    Ok(flows)
}

/// What of a flow's bytes goes over the wire as payload.
fn payload_bytes(bytes: u64, packet_bytes: u64) -> Option<u64> {
    match bytes {
        0..=LACKING_BYTES => None,
        bytes if bytes < CUT_BYTES => Some(bytes - LACKING_BYTES),
        bytes if bytes <= u64::from(u32::MAX) => Some(bytes.div_ceil(CUT_BYTES) * (packet_bytes - LACKING_BYTES)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_a_packet_for_each_thousand_bytes() {
        // 64 packets of 976 B; 1001 B are two packets; less than one is one short packet.
        let sizes = [64_000, 1000, 1001, 999, 25, 24].map(|bytes| payload_bytes(bytes, 1000));
        assert_eq!(sizes, [Some(62_464), Some(976), Some(1952), Some(975), Some(1), None]);
        assert_eq!(payload_bytes(10_000_000, 1000), Some(9_760_000));
        assert_eq!(payload_bytes(1 << 32, 1000), None);
    }
}
