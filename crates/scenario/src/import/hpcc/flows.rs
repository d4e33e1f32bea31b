//! The flow file: a count, then a line for each flow.

use super::super::flow_list::{Ends, FlowList};
use super::super::words::Result;
use super::dialect::Dialect;
use super::topology::Topology;
use crate::{Diagnostic, Source};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Flow {
    pub src: u32,
    pub dst: u32,
    /// Its priority group.
    pub group: u8,
    pub src_port: u16,
    pub dst_port: u16,
    pub size_bytes: u64,
    pub start_ns: u64,
}

/// The first flow of a pair leaves from here.
const FIRST_PORT: u32 = 10_000;

/// Reads as many flows as announced; more give a warning.
pub fn read(
    source: &Arc<Source>,
    topology: &Topology,
    dialect: Dialect,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Flow>> {
    let mut list = FlowList::open(source)?;
    let mut flows: Vec<Flow> = Vec::new();
    let mut next_port: HashMap<(u32, u32), u32> = HashMap::new();
    let mut before = 0.0;
    for number in 1..=list.count {
        let ends = list.begin(number)?;
        let words = &mut list.words;
        let (group, group_word) = words.whole::<u32>("the priority group of a flow")?;
        let (dst_port, port_word) = words.whole::<u32>("the destination port of a flow")?;
        let (size_bytes, size_word) = words.whole::<u64>("the size of a flow")?;
        let (start, start_word) = words.number("the start of a flow in seconds")?;
        list.check(&ends, &start_word, "src dst pg dport size_bytes start_seconds", topology)?;
        let (words, Ends { src, dst, first, second }) = (&list.words, ends);
        if !(1..=7).contains(&group) {
            let error = words.error(&group_word, format!("the priority group {group} cannot carry a flow"));
            return Err(error.label(if group == 0 { "there it is the queue of PFC frames" } else { "from 1 to 7" }));
        }
        let Ok(dst_port) = u16::try_from(dst_port) else {
            return Err(words.error(&port_word, format!("{dst_port} is not a port")).label("from 0 to 65535"));
        };
        if !(1..=u64::from(u32::MAX)).contains(&size_bytes) {
            let error = words.error(&size_word, format!("a flow of {size_bytes} bytes"));
            return Err(error.label("from 1 to 4294967295, as that simulator's sequence numbers have 32 bits"));
        }
        let Some(start_ns) = dialect.seconds(start) else {
            return Err(words
                .error(&start_word, "this start is later than any run can last")
                .label("at most 100000 s"));
        };
        if start < before {
            let error = words.error(&start_word, format!("flow {number} starts before the one above it"));
            return Err(error.label("flows are in the order of their starts").help(
                "that simulator waits for one flow's start before it looks at the next; sort the lines by start",
            ));
        }
        before = start;
        let port = next_port.entry((src, dst)).or_insert(FIRST_PORT);
        let Ok(src_port) = u16::try_from(*port) else {
            let error = words.place_of(&first, &second).error(format!("too many flows from {src} to {dst}"));
            return Err(error.label("source ports count up from 10000 and end at 65535"));
        };
        *port += 1;
        flows.push(Flow { src, dst, group: group as u8, src_port, dst_port, size_bytes, start_ns });
    }
    list.finish(warnings);
    Ok(flows)
}
