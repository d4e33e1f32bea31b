//! What can be said of each trace by itself.

use super::cycle::cycle;
use super::error::{Fault, TraceError};
use super::findings::{Findings, NoteKind};
use super::groups::Communicators;
use super::node::{Node, NodeKind, Trace};
use super::options::{Deps, Options, Resources, Roofline};
use xoff_engine::Span;

/// More bytes are a mistake, such as another unit.
const LARGEST_BYTES: i64 = 1_000_000_000_000;
/// 100 000 s.
const LONGEST_MICROS: u64 = 100_000_000_000;

/// What computing takes. As ASTRA-sim has it, what takes no time takes a nanosecond.
pub(super) fn duration(node: &Node, roofline: Option<Roofline>) -> Span {
    let roofline = roofline.filter(|_| node.on_cpu != Some(true));
    match (roofline, node.more().operations, node.more().tensor_bytes) {
        (Some(roofline), Some(operations @ 1..), Some(bytes @ 1..)) => roofline.time(operations, bytes),
        _ if node.micros == 0 => Span::from_ns(1),
        _ => Span::from_us(node.micros.min(LONGEST_MICROS + 1)),
    }
}

/// There is one trace for each rank, in order.
pub(super) fn ranks(traces: &[Trace], findings: &mut Findings) {
    if traces.is_empty() {
        findings.error(TraceError::new(Fault::MissingRank, "there is no trace of any rank"));
    }
    let mut expected = 0;
    for trace in traces {
        if trace.rank < expected {
            findings.error(TraceError::of_rank(Fault::MissingRank, trace.rank, "there are two traces of it"));
        }
        // Of many that are missing the first tell enough.
        for rank in (expected..trace.rank).take(8) {
            let what = format!("its trace is missing: there is one of rank {}", traces[traces.len() - 1].rank);
            findings.error(
                TraceError::of_rank(Fault::MissingRank, rank, what).help("ranks are numbered from 0 without gaps"),
            );
        }
        expected = trace.rank.saturating_add(1);
    }
}

/// The dependencies that hold, twice or not.
pub(super) fn deps(node: &Node, which: Deps) -> impl Iterator<Item = u64> {
    let control: &[u64] = if which == Deps::Both { &node.control } else { &[] };
    node.data.iter().chain(control).copied()
}

pub(super) fn place_of(trace: &Trace, id: u64) -> Option<usize> {
    trace.nodes.binary_search_by_key(&id, |node| node.id).ok()
}

/// Ids and dependencies make sense.
pub(super) fn order(trace: &Trace, which: Deps, findings: &mut Findings) {
    let before = findings.defects.len();
    for two in trace.nodes.windows(2).filter(|two| two[0].id == two[1].id) {
        let what = format!("its id is that of another node, `{}`", two[0].name);
        findings.error(two[1].error(Fault::Dependency, trace.rank, what));
    }
    let mut needs = Vec::new();
    for (index, node) in trace.nodes.iter().enumerate() {
        for id in deps(node, which) {
            match place_of(trace, id) {
                Some(needed) => needs.push((needed as u32, index as u32)),
                None => {
                    let what = format!("it depends on node {id}, which does not exist");
                    let help = match node.data.contains(&id) {
                        true => "",
                        false => "a control dependency: `deps = \"data\"` leaves them out",
                    };
                    findings.error(node.error(Fault::Dependency, trace.rank, what).help(help));
                }
            }
        }
    }
    if findings.defects.len() > before {
        return;
    }
    if let Some(found) = cycle(trace.nodes.len(), &needs) {
        let node = |index: &u32| &trace.nodes[*index as usize];
        let others: Vec<String> =
            found.iter().skip(1).take(8).map(|index| format!("{} `{}`", node(index).id, node(index).name)).collect();
        let what = match &others[..] {
            [] => "it depends on itself".to_owned(),
            _ => format!("it depends on itself by way of node {}", others.join(", ")),
        };
        findings.error(node(&found[0]).error(Fault::Dependency, trace.rank, what));
    }
}

/// What nodes say of themselves makes sense.
pub(super) fn nodes(trace: &Trace, options: &Options, groups: &Communicators, findings: &mut Findings) {
    for node in &trace.nodes {
        match node.kind {
            NodeKind::Invalid => findings.note(NoteKind::Invalid),
            NodeKind::Load | NodeKind::Store => findings.note(NoteKind::Memory),
            NodeKind::Unknown(number) => {
                findings.unknown(trace.rank, node, number);
                too_long(trace.rank, node, None, findings);
            }
            NodeKind::Compute => computing(trace.rank, node, options, findings),
            NodeKind::Send | NodeKind::Receive | NodeKind::Collective => {
                communication(trace.rank, node, options, groups, findings);
            }
            NodeKind::Metadata => {}
        }
    }
    lost_broadcasts(trace, options, findings);
}

fn computing(rank: u32, node: &Node, options: &Options, findings: &mut Findings) {
    too_long(rank, node, options.roofline, findings);
    if node.on_cpu.is_none() {
        findings.note(NoteKind::NoProcessor);
    }
    let tells = node.more().operations.is_some_and(|operations| operations > 0);
    if node.micros == 0 && tells && options.roofline.is_none() {
        findings.note(NoteKind::NoDuration);
    }
    if node.on_cpu != Some(true) && (node.name.contains("ncclKernel") || node.name.contains("ncclDevKernel")) {
        let what = "a kernel of NCCL recorded as computing: what it sends is lost";
        findings.doubt(options.strictness, node.error(Fault::Lost, rank, what));
    }
}

fn too_long(rank: u32, node: &Node, roofline: Option<Roofline>, findings: &mut Findings) {
    if duration(node, roofline) > Span::from_us(LONGEST_MICROS) {
        findings.error(node.error(Fault::Unsupported, rank, "computing that takes more than 100 000 s"));
    }
}

fn communication(rank: u32, node: &Node, options: &Options, groups: &Communicators, findings: &mut Findings) {
    let more = node.more();
    match node.on_cpu {
        Some(false) => {}
        Some(true) => {
            findings.error(node.error(Fault::Processor, rank, "communication on the CPU: `is_cpu_op` is true"));
        }
        None => {
            let what = "communication without `is_cpu_op`, which other simulators skip in silence";
            findings.error(node.error(Fault::Processor, rank, what).help("write `is_cpu_op` = false"));
        }
    }
    let is_barrier = node.kind == NodeKind::Collective && more.what == Some(9);
    match more.bytes {
        _ if is_barrier => {}
        Some(1..=LARGEST_BYTES) => {}
        Some(0) => findings.error(node.error(Fault::Empty, rank, "communication of no bytes: `comm_size` is 0")),
        None => findings.error(node.error(Fault::Empty, rank, "communication without `comm_size`")),
        Some(bytes) => {
            let what = format!("`comm_size` is {bytes}: from 1 to {LARGEST_BYTES} bytes are possible");
            findings.error(node.error(Fault::Unsupported, rank, what));
        }
    }
    if more.priority.is_some_and(|priority| priority != 0) {
        findings.note(NoteKind::Priority);
    }
    if more.dimensions.contains(&false) {
        let what = "`involved_dim` leaves out dimensions of ASTRA-sim's logical topology, which nothing here knows";
        findings.error(node.error(Fault::Unsupported, rank, what).help("name a group by `pg_name`"));
    }
    if options.resources == Resources::Stream && more.stream.is_some_and(|stream| stream < 0) {
        findings.error(node.error(Fault::Unsupported, rank, "a stream with a negative number"));
    }
    if more.group.is_none() && groups.has_told(rank) && node.kind == NodeKind::Collective {
        let what = "no `pg_name`, though the trace tells of groups: which of them it was is lost";
        findings.doubt(options.strictness, node.error(Fault::Lost, rank, what));
    }
    let name = node.name.to_ascii_lowercase();
    let all_to_all = ["alltoall", "all_to_all", "all-to-all"].iter().any(|word| name.contains(word));
    if all_to_all && node.kind != NodeKind::Collective {
        let what = "an all-to-all recorded as a message of its own: with whom, and how much to each, is lost";
        findings.doubt(options.strictness, node.error(Fault::Lost, rank, what));
    }
}

/// Converters have dropped the kernels of broadcasts and kept their calls.
fn lost_broadcasts(trace: &Trace, options: &Options, findings: &mut Findings) {
    let is_kept = |node: &Node| node.kind == NodeKind::Collective && node.more().what == Some(5);
    let is_call = |node: &&Node| node.kind == NodeKind::Compute && node.name.starts_with("c10d::broadcast");
    if let Some(call) = trace.nodes.iter().find(is_call).filter(|_| !trace.nodes.iter().any(is_kept)) {
        let what = "a broadcast is called, and the trace has no collective of that type: it is lost";
        findings.doubt(options.strictness, call.error(Fault::Lost, trace.rank, what));
    }
}
