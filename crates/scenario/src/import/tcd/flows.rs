//! The flow file: a count, then a line for each flow, in any order.

use super::super::hpcc::flows::Flow;
use super::super::hpcc::topology::Topology;
use super::super::hpcc::units;
use super::super::words::{Result, Words};
use crate::{Diagnostic, Place, Source};
use std::sync::Arc;

/// Of a packet's nominal size, what is neither payload nor header: its own header is counted twice there.
pub const LACKING_BYTES: u64 = 24;
/// Flows are cut into packets of this, whatever the size of a packet.
const CUT_BYTES: u64 = 1000;
/// Flows have ports of their own here, by which they are told apart.
const FIRST_PORT: usize = 10_000;
const DST_PORT: u16 = 100;

/// Reads as many flows as announced, sorted by start; `packet_bytes` is the nominal size of a packet.
pub fn read(
    source: &Arc<Source>,
    topology: &Topology,
    packet_bytes: u64,
    run_s: f64,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Flow>> {
    let mut words = Words::new(source);
    let (count, count_word) = words.whole::<u32>("the number of flows")?;
    if count == 0 {
        return Err(words.error(&count_word, "this file lists no flow").label("a scenario needs traffic"));
    }
    let mut flows: Vec<Flow> = Vec::new();
    for number in 0..count as usize {
        let (src, first) = words
            .whole::<u32>(&format!("flow {} of {count}", number + 1))
            .map_err(|error| error.help(format!("line {} announces {count} flows", count_word.line)))?;
        let (dst, second) = words.whole::<u32>("the receiver of a flow")?;
        let (group, group_word) = words.whole::<u32>("the priority group of a flow")?;
        let (bytes, size_word) = words.whole::<u64>("the size of a flow")?;
        let (start, start_word) = words.number("the start of a flow in seconds")?;
        let (stop, stop_word) = words.number("when a flow stops, in seconds")?;
        if stop_word.line != first.line {
            let error = words.place_of(&first, &stop_word).error("a flow goes over the end of its line");
            return Err(error.label("src dst pg size_bytes start_seconds stop_seconds on one line"));
        }
        for (id, word) in [(src, &first), (dst, &second)] {
            match topology.is_switch.get(id as usize) {
                None => {
                    let error = words.error(word, format!("there is no node {id}"));
                    return Err(error.label(format!("the topology has 0 to {}", topology.is_switch.len() - 1)));
                }
                Some(true) => {
                    return Err(words.error(word, format!("node {id} is a switch")).label("flows are between hosts"));
                }
                Some(false) => {}
            }
        }
        if src == dst {
            return Err(words.place_of(&first, &second).error(format!("host {src} would send to itself")));
        }
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
        let Ok(src_port) = u16::try_from(FIRST_PORT + number) else {
            return Err(words.error(&first, "too many flows").label("at most 55536"));
        };
        flows.push(Flow { src, dst, group: group as u8, src_port, dst_port: DST_PORT, size_bytes, start_ns });
    }
    if let Some(word) = words.peek() {
        let error = Place::line(source, word.line).error(format!("what follows flow {count} is ignored"));
        warnings.push(
            error.label("not read there either").help(format!("line {} announces {count} flows", count_word.line)),
        );
    }
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
