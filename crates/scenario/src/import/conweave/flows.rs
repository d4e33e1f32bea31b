//! The flow file: a count, then a line for each flow, in the order of their starts.

use super::super::flow_list::{Ends, FlowList};
use super::super::hpcc::flows::Flow;
use super::super::hpcc::topology::Topology;
use super::super::hpcc::units;
use super::super::words::Result;
use crate::{Diagnostic, Source};
use std::collections::HashMap;
use std::sync::Arc;

/// The first port of each source host, and of each destination host.
const FIRST_SRC_PORT: u16 = 10_000;
const FIRST_DST_PORT: u16 = 100;

/// Reads as many flows as announced; more give a warning.
pub fn read(source: &Arc<Source>, topology: &Topology, warnings: &mut Vec<Diagnostic>) -> Result<Vec<Flow>> {
    let mut list = FlowList::open(source)?;
    let mut flows: Vec<Flow> = Vec::new();
    let (mut src_ports, mut dst_ports) = (HashMap::new(), HashMap::new());
    let mut before = 0.0;
    for number in 1..=list.count {
        let ends = list.begin(number)?;
        let words = &mut list.words;
        let (group, group_word) = words.whole::<u32>("the priority group of a flow")?;
        let (bytes, size_word) = words.whole::<u64>("the size of a flow")?;
        let (start, start_word) = words.number("the start of a flow in seconds")?;
        list.check(&ends, &start_word, "src dst pg size_bytes start_seconds", topology)?;
        let (words, Ends { src, dst, first, second }) = (&list.words, ends);
        if !(1..=7).contains(&group) {
            let error = words.error(&group_word, format!("the priority group {group} cannot carry a flow"));
            return Err(error.label(if group == 0 { "there it is the queue of ACKs" } else { "from 1 to 7" }));
        }
        if bytes > u64::from(u32::MAX) {
            let error = words.error(&size_word, format!("a flow of {bytes} bytes"));
            return Err(error.label("up to 4294967295, as that simulator's sequence numbers have 32 bits"));
        }
        let Some(start_ns) = units::seconds(start) else {
            let error = words.error(&start_word, "this start is later than any run can last");
            return Err(error.label("at most 100000 s"));
        };
        if start < before {
            let error = words.error(&start_word, format!("flow {number} starts before the one above it"));
            return Err(error.label("flows are in the order of their starts"));
        }
        before = start;
        let next = |ports: &mut HashMap<u32, Option<u16>>, node: u32, from: u16| {
            let port = ports.entry(node).or_insert(Some(from));
            let own = *port;
            *port = own.and_then(|port| port.checked_add(1));
            own
        };
        let ports = (next(&mut src_ports, src, FIRST_SRC_PORT), next(&mut dst_ports, dst, FIRST_DST_PORT));
        let (Some(src_port), Some(dst_port)) = ports else {
            let error = words.place_of(&first, &second).error(format!("too many flows from {src} or to {dst}"));
            return Err(error.label("ports count up for each host and end at 65535"));
        };
        // There a flow of nothing is one of a byte.
        flows.push(Flow { src, dst, group: group as u8, src_port, dst_port, size_bytes: bytes.max(1), start_ns });
    }
    list.finish(warnings);
    Ok(flows)
}
