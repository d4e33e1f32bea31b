//! What is refused, with what words, and what becomes of the rest.

use super::*;
use crate::collective::{self, Servers};
use crate::dag::{ActivityKind, Collective, Lane, Op, Resource, Via, Work};
use std::slice::from_ref;
use xoff_engine::Span;

fn options() -> Options {
    Options { collectives: collective::Options { channels: 1, ..Default::default() }, ..Options::default() }
}

/// Whatever the traces are, they are refused with a reason or make a job that can be run.
pub(super) fn try_all(traces: &[Trace]) {
    let mut traces = traces.to_vec();
    // So that a size alone does not make it long.
    for node in traces.iter_mut().flat_map(|trace| &mut trace.nodes).filter(|node| node.communicates()) {
        let more = node.more_mut();
        more.bytes = more.bytes.map(|bytes| bytes.min(1 << 22));
    }
    for matching in [Matching::Attributes, Matching::Order] {
        for resources in [Resources::Astra, Resources::Stream] {
            let options = Options { matching, resources, strictness: Strictness::Note, ..options() };
            match to_dag(&traces, &options) {
                Ok((dag, _)) => dag.check().unwrap(),
                Err(defects) => {
                    assert!(defects.iter().all(|defect| !defect.to_string().is_empty()) && !defects.is_empty())
                }
            }
        }
    }
}

fn node(id: u64, name: &str, kind: NodeKind) -> Node {
    Node { id, name: name.into(), kind, on_cpu: Some(false), ..Node::default() }
}

fn after(mut node: Node, data: &[u64]) -> Node {
    node.data = data.to_vec();
    node
}

fn gemm(id: u64, micros: u64) -> Node {
    Node { micros, ..node(id, "gemm", NodeKind::Compute) }
}

fn collective(id: u64, what: i64, bytes: i64) -> Node {
    let mut node = node(id, "together", NodeKind::Collective);
    (node.more_mut().what, node.more_mut().bytes) = (Some(what), Some(bytes));
    node
}

fn in_group(mut node: Node, group: &str) -> Node {
    node.more_mut().group = Some(group.into());
    node
}

fn message(id: u64, kind: NodeKind, (src, dst): (i64, i64), tag: i64, bytes: i64) -> Node {
    let mut node = node(id, if kind == NodeKind::Send { "isend" } else { "irecv" }, kind);
    let more = node.more_mut();
    (more.src, more.dst, more.tag, more.bytes) = (Some(src), Some(dst), Some(tag), Some(bytes));
    node
}

fn send(id: u64, ends: (i64, i64), bytes: i64) -> Node {
    message(id, NodeKind::Send, ends, 5, bytes)
}

fn receive(id: u64, ends: (i64, i64), bytes: i64) -> Node {
    message(id, NodeKind::Receive, ends, 5, bytes)
}

fn traces(ranks: &[&[Node]]) -> Vec<Trace> {
    let trace = |(rank, nodes): (u32, &&[Node])| Trace { rank, version: String::new(), nodes: nodes.to_vec() };
    (0..).zip(ranks).map(trace).collect()
}

fn refused_by(options: &Options, ranks: &[&[Node]]) -> Vec<(Fault, String)> {
    let defects = to_dag(&traces(ranks), options).unwrap_err();
    defects.iter().map(|defect| (defect.fault, defect.to_string())).collect()
}

/// The only defect.
fn refused(fault: Fault, ranks: &[&[Node]], words: &str) {
    assert_eq!(refused_by(&options(), ranks), [(fault, words.to_owned())]);
}

fn dag_of(options: &Options, ranks: &[&[Node]]) -> (Dag, Vec<String>) {
    let (dag, notes) = to_dag(&traces(ranks), options).unwrap_or_else(|defects| panic!("{}", defects[0]));
    dag.check().unwrap();
    (dag, notes.iter().map(ToString::to_string).collect())
}

// Section by section: first what has to be refused.

#[test]
fn defect_1_a_send_needs_its_receive_and_the_reverse() {
    refused(
        Fault::Unpaired,
        &[&[gemm(0, 1), send(3, (0, 1), 64)], &[gemm(0, 1)]],
        "rank 0, node 3 `isend`: nobody receives what it sends from rank 0 to rank 1 with tag 5: 1 of 1 such nodes \
         find no receives",
    );
    refused(
        Fault::Unpaired,
        &[&[send(3, (0, 1), 64)], &[receive(1, (0, 1), 64), receive(2, (0, 1), 64)]],
        "rank 1, node 2 `irecv`: nobody sends what it waits for from rank 0 to rank 1 with tag 5: 1 of 2 such nodes \
         find no sends",
    );
    // Another tag is another message.
    let found = refused_by(&options(), &[&[send(3, (0, 1), 64)], &[message(1, NodeKind::Receive, (0, 1), 6, 64)]]);
    assert_eq!(found.len(), 2);
    refused(
        Fault::Unpaired,
        &[&[send(3, (0, 1), 64)], &[receive(1, (0, 1), 65)]],
        "rank 1, node 1 `irecv`: it receives 65 bytes from rank 0 to rank 1 with tag 5, and node 3 `isend` there \
         sends 64",
    );
}

#[test]
fn defect_1_the_ends_of_a_message_are_ranks_and_the_own_one_among_them() {
    let at = |node: Node| refused_by(&options(), &[&[node], &[]]).remove(0).1;
    assert_eq!(at(send(3, (1, 0), 64)), "rank 0, node 3 `isend`: `comm_src` is 1, and the trace is that of rank 0");
    assert_eq!(at(send(3, (0, 2), 64)), "rank 0, node 3 `isend`: `comm_dst` is 2, and there are traces of 2 ranks");
    assert_eq!(at(send(3, (0, -1), 64)), "rank 0, node 3 `isend`: `comm_dst` is -1, and there are traces of 2 ranks");
    assert_eq!(at(send(3, (0, 0), 64)), "rank 0, node 3 `isend`: a message of rank 0 to itself");
}

/// A send or receive of PyTorch as mlcommons' converter writes it: a size and perhaps a group.
fn torch(id: u64, kind: NodeKind, group: Option<&str>) -> Node {
    let mut node = node(id, "ncclDevKernel_SendRecv", kind);
    node.more_mut().bytes = Some(64);
    node.more_mut().group = group.map(Into::into);
    node
}

fn pairs() -> Options {
    let groups = groups(r#"{"1": [0, 1], "2": [1, 2], "3": [0, 1, 2]}"#).unwrap();
    Options { groups: Some(groups), matching: Matching::Order, ..options() }
}

#[test]
fn defect_1_converted_traces_do_not_say_who_the_other_end_is() {
    refused(
        Fault::Unpaired,
        &[&[torch(4, NodeKind::Send, None)], &[]],
        "rank 0, node 4 `ncclDevKernel_SendRecv`: no `comm_dst`: traces that mlcommons' converter makes from PyTorch \
         do not say who the other end is; `matching = \"order\"` pairs sends and receives within groups of two ranks \
         by their order",
    );
    let ranks: [&[Node]; 3] = [
        &[torch(4, NodeKind::Send, Some("1")), after(torch(9, NodeKind::Receive, Some("1")), &[4])],
        &[
            torch(2, NodeKind::Receive, Some("1")),
            after(torch(3, NodeKind::Send, Some("1")), &[2]),
            after(torch(5, NodeKind::Send, Some("2")), &[3]),
        ],
        &[torch(1, NodeKind::Receive, Some("2"))],
    ];
    let (dag, _) = dag_of(&pairs(), &ranks);
    let sent: Vec<(u32, u32)> = sends(&dag).map(|(op, to, _)| (dag.rank(op), to)).collect();
    assert_eq!(sent, [(0, 1), (1, 0), (1, 2)]);
    assert_eq!(
        refused_by(&pairs(), &[&[torch(4, NodeKind::Send, Some("3"))], &[], &[]])[0].1,
        "rank 0, node 4 `ncclDevKernel_SendRecv`: no `comm_dst`, and its group has 3 ranks; only in a group of two \
         the order tells"
    );
    assert_eq!(
        refused_by(&pairs(), &[&[torch(4, NodeKind::Send, Some("1"))], &[], &[]])[0].1,
        "rank 0, node 4 `ncclDevKernel_SendRecv`: nobody receives what it sends from rank 0 to rank 1 in group `1`: 1 \
         of 1 such nodes find no receives"
    );
}

fn sends(dag: &Dag) -> impl Iterator<Item = (u32, u32, u64)> {
    dag.ops.iter().zip(0..).filter_map(|(op, id)| match op.work {
        Work::Send { to, bytes, .. } => Some((id, to, bytes)),
        _ => None,
    })
}

#[test]
fn defect_2_dependencies_exist_and_make_no_circle() {
    refused(
        Fault::Dependency,
        &[&[gemm(0, 1), after(gemm(1, 1), &[0, 8])]],
        "rank 0, node 1 `gemm`: it depends on node 8, which does not exist",
    );
    refused(
        Fault::Dependency,
        &[&[gemm(0, 1)], &[after(gemm(1, 1), &[3]), after(gemm(2, 1), &[1]), after(gemm(3, 1), &[2])]],
        "rank 1, node 1 `gemm`: it depends on itself by way of node 3 `gemm`, 2 `gemm`",
    );
    refused(Fault::Dependency, &[&[after(gemm(4, 1), &[4])]], "rank 0, node 4 `gemm`: it depends on itself");
    refused(
        Fault::Dependency,
        &[&[gemm(4, 1), node(4, "again", NodeKind::Compute)]],
        "rank 0, node 4 `again`: its id is that of another node, `gemm`",
    );
}

#[test]
fn defect_2_control_dependencies_count_unless_they_are_not_wanted() {
    let circle = [Node { control: vec![2], ..gemm(1, 1) }, after(gemm(2, 1), &[1])];
    assert_eq!(refused_by(&options(), &[&circle])[0].0, Fault::Dependency);
    let (dag, _) = dag_of(&Options { deps: Deps::Data, ..options() }, &[&circle]);
    assert_eq!(dag.needs, [(0, 1)]);
    let gone = [Node { control: vec![8], ..gemm(1, 1) }];
    refused(
        Fault::Dependency,
        &[&gone],
        "rank 0, node 1 `gemm`: it depends on node 8, which does not exist; a control dependency: `deps = \"data\"` \
         leaves them out",
    );
    // What both lists name counts once.
    let twice = [gemm(1, 1), Node { control: vec![1], ..after(gemm(2, 1), &[1, 1]) }];
    assert_eq!(dag_of(&options(), &[&twice]).0.needs, [(0, 1)]);
}

#[test]
fn defect_2_ranks_that_would_wait_for_each_other_are_named() {
    let rank = |own: i64, other: i64| [receive(1, (other, own), 64), after(send(2, (own, other), 64), &[1])];
    refused(
        Fault::Dependency,
        &[&rank(0, 1), &rank(1, 0)],
        "rank 0, node 1 `irecv`: it waits for itself by way of rank 1 node 2 `isend`, rank 1 node 1 `irecv`, rank 0 \
         node 2 `isend`",
    );
    // Two collectives in the order of their ids on one rank, and in the reverse on another.
    let groups = groups(r#"{"1": [0, 1], "2": [0, 1]}"#).unwrap();
    let options = Options { groups: Some(groups), ..options() };
    let one = [in_group(collective(1, 0, 64), "1"), after(in_group(collective(2, 0, 64), "2"), &[1])];
    let two = [in_group(collective(1, 0, 64), "2"), after(in_group(collective(2, 0, 64), "1"), &[1])];
    let found = refused_by(&options, &[&one, &two]);
    assert_eq!(found[0].0, Fault::Dependency, "{found:?}");
    assert!(found[0].1.contains("it waits for itself by way of"), "{found:?}");
}

#[test]
fn defect_3_groups_are_known_and_their_members_meet() {
    refused(
        Fault::Group,
        &[&[in_group(collective(6, 0, 64), "7")], &[]],
        "rank 0, node 6 `together`: group `7` is unknown: no file of groups is given, and no METADATA node tells of \
         any",
    );
    let with = |text: &str| Options { groups: Some(groups(text).unwrap()), ..options() };
    let first = |text: &str, ranks: &[&[Node]]| refused_by(&with(text), ranks).remove(0);
    let one = [in_group(collective(6, 0, 64), "7")];
    assert_eq!(
        first(r#"{"1": [0], "2": [0, 1]}"#, &[&one, &one]),
        (Fault::Group, "rank 0, node 6 `together`: group `7` is unknown: the groups are 1, 2".to_owned())
    );
    assert_eq!(
        first(r#"{"7": [1, 2]}"#, &[&one, &one, &one]).1,
        "rank 0, node 6 `together`: it is no member of its group `7`, which has 1, 2"
    );
    assert_eq!(
        first(r#"{"7": [0, 9]}"#, &[&one, &one]).1,
        "rank 0, node 6 `together`: group `7` has rank 9, and there are traces of 2 ranks"
    );
    assert_eq!(first(r#"{"0": [0]}"#, &[&[], &[]]).1, "group `0` is that of all 2 ranks, and is given 0");
}

#[test]
fn defect_3_all_members_do_as_many_collectives_and_the_same() {
    refused(
        Fault::Group,
        &[&[collective(1, 0, 64), collective(2, 0, 64)], &[collective(1, 0, 64)]],
        "rank 0, node 2 `together`: the 2nd collective of group `0` has no part on rank 1, whose trace has 1 of that \
         group",
    );
    refused(
        Fault::Group,
        &[&[collective(1, 0, 64)], &[collective(9, 0, 65)]],
        "rank 1, node 9 `together`: the 1st collective of group `0` is all-reduce of 65 bytes here, and on rank 0 \
         (node 1 `together`) all-reduce of 64 bytes",
    );
    refused(
        Fault::Group,
        &[&[collective(1, 0, 64), collective(2, 0, 64)], &[collective(1, 0, 64), collective(2, 7, 64)]],
        "rank 1, node 2 `together`: the 2nd collective of group `0` is reduce-scatter of 64 bytes here, and on rank 0 \
         (node 2 `together`) all-reduce of 64 bytes",
    );
    let rooted = |root: i64| {
        let mut node = collective(1, 5, 64);
        node.more_mut().src = Some(root);
        node
    };
    assert_eq!(refused_by(&options(), &[&[rooted(0)], &[rooted(1)]])[0].0, Fault::Group);
    assert_eq!(
        refused_by(&options(), &[&[rooted(3)], &[rooted(3)]])[0].1,
        "rank 0, node 1 `together`: its root is rank 3, which is no member of its group: 0, 1"
    );
}

#[test]
fn defect_4_communication_has_bytes() {
    let both = |node: Node| refused_by(&options(), &[from_ref(&node), from_ref(&node)]);
    let found = both(collective(1, 0, 0));
    assert_eq!(
        found[0],
        (Fault::Empty, "rank 0, node 1 `together`: communication of no bytes: `comm_size` is 0".to_owned())
    );
    assert_eq!(found[1].1, "rank 1, node 1 `together`: communication of no bytes: `comm_size` is 0");
    let mut without = collective(1, 2, 1);
    without.more_mut().bytes = None;
    assert_eq!(both(without)[0].1, "rank 0, node 1 `together`: communication without `comm_size`");
    assert_eq!(
        both(collective(1, 2, -4))[0].1,
        "rank 0, node 1 `together`: `comm_size` is -4: from 1 to 1000000000000 bytes are possible"
    );
    assert_eq!(refused_by(&options(), &[&[send(3, (0, 1), 0)], &[receive(3, (0, 1), 0)]])[0].0, Fault::Empty);
    // Barriers have none.
    let barrier = [collective(1, 9, 0)];
    dag_of(&options(), &[&barrier, &barrier]);
}

#[test]
fn defect_5_communication_says_that_it_is_not_the_cpus() {
    let without = Node { on_cpu: None, ..collective(1, 0, 64) };
    assert_eq!(
        refused_by(&options(), &[&[without], &[collective(1, 0, 64)]]),
        [(
            Fault::Processor,
            "rank 0, node 1 `together`: communication without `is_cpu_op`, which other simulators skip in silence; \
             write `is_cpu_op` = false"
                .to_owned()
        )]
    );
    refused(
        Fault::Processor,
        &[&[collective(1, 0, 64)], &[Node { on_cpu: Some(true), ..collective(1, 0, 64) }]],
        "rank 1, node 1 `together`: communication on the CPU: `is_cpu_op` is true",
    );
    let (_, notes) = dag_of(&options(), &[&[Node { on_cpu: None, ..gemm(1, 1) }]]);
    assert_eq!(notes, ["1 computing node without `is_cpu_op`: taken as the GPU's"]);
}

#[test]
fn defect_6_what_converters_lose_is_told() {
    let kernel = node(8, "ncclDevKernel_Broadcast_RING_LL", NodeKind::Compute);
    refused(
        Fault::Lost,
        &[from_ref(&kernel)],
        "rank 0, node 8 `ncclDevKernel_Broadcast_RING_LL`: a kernel of NCCL recorded as computing: what it sends is \
         lost; `doubts = \"note\"` takes it as it is",
    );
    let noting = Options { strictness: Strictness::Note, ..options() };
    assert_eq!(
        dag_of(&noting, &[&[kernel.clone(), Node { id: 9, ..kernel }]]).1,
        ["2 nodes taken as they are, though something seems to be lost, such as rank 0, node 8 \
          `ncclDevKernel_Broadcast_RING_LL`: a kernel of NCCL recorded as computing: what it sends is lost"]
    );
    let call = Node { on_cpu: Some(true), ..node(3, "c10d::broadcast_", NodeKind::Compute) };
    let lost = "rank 0, node 3 `c10d::broadcast_`: a broadcast is called, and the trace has no collective of that \
                type: it is lost; `doubts = \"note\"` takes it as it is";
    refused(Fault::Lost, &[from_ref(&call)], lost);
    let kept = [call, collective(4, 5, 64)];
    dag_of(&options(), &[&kept, &kept]);
    let mut parts = send(2, (0, 1), 64);
    parts.name = "nccl:all_to_all".into();
    refused(
        Fault::Lost,
        &[&[parts], &[receive(1, (0, 1), 64)]],
        "rank 0, node 2 `nccl:all_to_all`: an all-to-all recorded as a message of its own: with whom, and how much to \
         each, is lost; `doubts = \"note\"` takes it as it is",
    );
}

/// Groups as PyTorch writes them.
fn metadata(id: u64, list: &str) -> Node {
    let mut node = node(id, "## process_group:init ##", NodeKind::Metadata);
    node.more_mut().inputs = format!("['{list}']");
    node
}

const TOLD: &str = r#"[{"pg_name": "0", "pg_desc": "default_pg", "ranks": []}, {"pg_name": "1", "ranks": [1, 0]}]"#;

#[test]
fn defect_6_a_collective_of_an_unknown_one_of_several_groups_is_told() {
    let rank = [metadata(0, TOLD), collective(1, 0, 64)];
    let found = refused_by(&options(), &[&rank, &rank, &rank]);
    assert_eq!(
        found[0],
        (
            Fault::Lost,
            "rank 0, node 1 `together`: no `pg_name`, though the trace tells of groups: which of them it was is lost; \
             `doubts = \"note\"` takes it as it is"
                .to_owned()
        )
    );
}

#[test]
fn defect_7_every_rank_has_a_trace() {
    let of = |ranks: &[u32]| -> Vec<Trace> {
        ranks.iter().map(|rank| Trace { rank: *rank, version: String::new(), nodes: vec![gemm(0, 1)] }).collect()
    };
    let refused =
        |ranks: &[u32]| to_dag(&of(ranks), &options()).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        refused(&[1, 2, 4]),
        [
            "rank 0: its trace is missing: there is one of rank 4; ranks are numbered from 0 without gaps",
            "rank 3: its trace is missing: there is one of rank 4; ranks are numbered from 0 without gaps",
        ]
    );
    assert_eq!(refused(&[0, 0]), ["rank 0: there are two traces of it"]);
    assert_eq!(refused(&[]), ["there is no trace of any rank"]);
    assert_eq!(to_dag(&of(&[1]), &options()).unwrap_err()[0].fault, Fault::MissingRank);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let both = |node: Node| refused_by(&options(), &[from_ref(&node), from_ref(&node)])[0].clone();
    for (what, words) in [
        (3, "GATHER cannot be simulated"),
        (4, "SCATTER cannot be simulated"),
        (10, "`comm_type` is a number that the schema does not have"),
        (-1, "`comm_type` is a number that the schema does not have"),
    ] {
        assert_eq!(both(collective(1, what, 64)), (Fault::Unsupported, format!("rank 0, node 1 `together`: {words}")));
    }
    let mut without = collective(1, 0, 64);
    without.more_mut().what = None;
    assert_eq!(both(without).1, "rank 0, node 1 `together`: a collective without `comm_type`");
    let mut some = collective(1, 0, 64);
    some.more_mut().dimensions = vec![true, false];
    assert!(both(some).1.contains("`involved_dim` leaves out dimensions"));
    assert_eq!(both(gemm(1, u64::MAX)).1, "rank 0, node 1 `gemm`: computing that takes more than 100 000 s");
    let mut slow = gemm(1, 1);
    (slow.more_mut().operations, slow.more_mut().tensor_bytes) = (Some(i64::MAX), Some(1));
    let roofline = Some(Roofline { operations_per_second: 1e6, bytes_per_second: 1e6 });
    assert_eq!(refused_by(&Options { roofline, ..options() }, &[&[slow]])[0].0, Fault::Unsupported);
}

// Then what becomes of what is not refused.

#[test]
fn the_groups_of_metadata_hold_unless_a_file_is_given() {
    let rank = [metadata(0, TOLD), after(in_group(collective(1, 0, 64), "1"), &[0])];
    let other = [metadata(0, TOLD)];
    let (dag, notes) = dag_of(&options(), &[&rank, &rank, &other]);
    assert_eq!(notes, Vec::<String>::new());
    assert!(sends(&dag).all(|(op, to, _)| dag.rank(op) < 2 && to < 2));
    let given = Options { groups: Some(groups(r#"{"01": []}"#).unwrap()), ..options() };
    let rank = [metadata(0, TOLD), in_group(collective(1, 0, 64), "1")];
    let (dag, notes) = dag_of(&given, &[&rank, &rank, &rank]);
    assert_eq!(notes, ["3 METADATA nodes about groups: the file of groups holds instead"]);
    assert!(sends(&dag).any(|(op, to, _)| (dag.rank(op), to) == (1, 2)), "no ranks at all are all ranks");
    let broken = [metadata(0, r#"[{"pg_name": "1", "ranks": "all"}]"#)];
    refused(Fault::Group, &[&broken], "rank 0, node 0 `## process_group:init ##`: group `1` has no list `ranks`");
    let cut = [metadata(0, r#"[{"pg_name": "1", "ra"#)];
    refused(Fault::Group, &[&cut], "rank 0, node 0 `## process_group:init ##`: its list of groups is cut short");
}

#[test]
fn files_of_groups_are_lists_of_different_ranks() {
    assert_eq!(groups(r#"{"2": [3, 1]}"#).unwrap()["2"], [1, 3]);
    for (text, why) in [
        ("[]", "groups are written as {\"1\": [0, 1], \"2\": [2, 3]}"),
        (r#"{"1": [0, 0]}"#, "group `1` is not a list of ranks"),
        (r#"{"1": [-1]}"#, "group `1` is not a list of ranks"),
        (r#"{"1": [0], "01": [1]}"#, "group `1` is given twice"),
    ] {
        assert_eq!(groups(text).unwrap_err(), why);
    }
    assert!(groups("{").unwrap_err().starts_with("not readable as JSON"));
}

#[test]
fn groups_of_one_name_may_be_different_ones_on_different_ranks() {
    let list = |a, b| format!(r#"[{{"pg_name": "0", "ranks": []}}, {{"pg_name": "tp", "ranks": [{a}, {b}]}}]"#);
    let low = [metadata(0, &list(0, 1)), in_group(collective(1, 0, 64), "tp")];
    let high = [metadata(0, &list(2, 3)), in_group(collective(1, 0, 128), "tp")];
    let (dag, _) = dag_of(&options(), &[&low, &low, &high, &high]);
    assert!(sends(&dag).all(|(op, to, _)| dag.rank(op) / 2 == to / 2));
}

#[test]
fn sizes_are_those_of_nccl_tests_and_it_is_said_where_they_change() {
    for (what, kind, bytes) in [
        (0, Collective::AllReduce, 4096),
        (1, Collective::Reduce, 4096),
        (2, Collective::AllGather, 4 * 4096),
        (5, Collective::Broadcast, 4096),
        (6, Collective::AllToAll, 4096),
        (7, Collective::ReduceScatter, 4096),
        (8, Collective::ReduceScatter, 4096),
        (9, Collective::Barrier, 0),
    ] {
        let part = [collective(1, what, 4096)];
        let (dag, notes) = dag_of(&options(), &[&part, &part, &part, &part]);
        assert_eq!(dag.activities.len(), 4);
        for (rank, activity) in (0..).zip(&dag.activities) {
            assert_eq!((activity.rank, activity.kind, activity.bytes), (rank, ActivityKind::Collective(kind), bytes));
        }
        let note = match what {
            2 => {
                "4 parts in all-gathers: `comm_size` is what one rank has, as ASTRA-sim means it; sizes here are \
                  those of all, as nccl-tests means them"
            }
            1 | 5 => "4 parts in broadcasts or reductions without `comm_src`: the lowest rank of the group is the root",
            _ => "",
        };
        assert_eq!(notes.first().map_or("", String::as_str), note);
    }
}

#[test]
fn a_broadcast_begins_at_its_root() {
    let part = |root: i64| {
        let mut node = collective(1, 5, 64);
        node.more_mut().src = Some(root);
        [node]
    };
    let (dag, notes) = dag_of(&options(), &[&part(2), &part(2), &part(2)]);
    assert!(notes.is_empty());
    assert!(sends(&dag).all(|(_, to, _)| to != 2) && sends(&dag).any(|(op, _, _)| dag.rank(op) == 2));
}

#[test]
fn types_of_later_schemas_take_their_time_and_are_noted() {
    // STORAGE, BATCH and CHECKPOINT of the schema after the one known here, and a type that no schema defines.
    let later = |number: u32| Node { micros: 7, ..node(number.into(), "later", NodeKind::of(number.into())) };
    let on_cpu = Node { on_cpu: Some(true), ..later(9) };
    let nodes = [after(gemm(1, 2), &[]), after(later(8), &[1]), on_cpu, later(10), later(4711)];
    let (dag, notes) = dag_of(&options(), &[&nodes]);
    assert_eq!(
        notes,
        ["4 nodes of a type that is not known here: each takes the time that it says, as computing, such as node 8 \
          `later` of rank 0, of type 8"]
    );
    let times: Vec<_> = dag.ops.iter().map(|op| op.work).collect();
    assert_eq!(times[1..], [Work::Compute(Span::from_us(7)); 4]);
    assert_eq!((dag.ops[1].takes, dag.ops[2].takes == dag.ops[1].takes), (dag.ops[0].takes, false), "GPU and CPU");
    let long = Node { micros: u64::MAX, ..later(8) };
    let found = refused_by(&options(), &[&[long]]);
    assert!(found[0].1.contains("takes more than 100 000 s"), "{found:?}");
}

#[test]
fn what_is_over_at_once_is_noted() {
    let nodes = [
        node(0, "load", NodeKind::Load),
        node(1, "store", NodeKind::Store),
        node(2, "", NodeKind::Invalid),
        after(collective(3, 0, 64), &[0, 1, 2]),
    ];
    let (dag, notes) = dag_of(&options(), &[&nodes]);
    assert_eq!(
        notes,
        [
            "1 collective in groups of one: over at once",
            "2 nodes to or from memory: over at once, for memory is not simulated",
            "1 node of type INVALID_NODE: over at once",
        ]
    );
    assert!(dag.ops.iter().all(|op| op.work == Work::Join));
    let mut priority = collective(3, 0, 64);
    priority.more_mut().priority = Some(2);
    let mut roofline = gemm(4, 0);
    roofline.more_mut().operations = Some(1_000_000);
    let rank = [priority, roofline];
    assert_eq!(
        dag_of(&options(), &[&rank, &rank]).1,
        [
            "2 computing nodes with `num_ops` and no duration: 1 ns each; `peak_tflops` and `memory_bandwidth` tell \
             what they take",
            "2 nodes with a `comm_priority`, which has no effect",
        ]
    );
}

#[test]
fn durations_are_microseconds_and_none_is_a_nanosecond() {
    let (dag, _) = dag_of(&options(), &[&[gemm(0, 12), gemm(1, 0)]]);
    let works: Vec<Work> = dag.ops.iter().map(|op| op.work).collect();
    assert_eq!(works, [Work::Compute(Span::from_us(12)), Work::Compute(Span::from_ns(1))]);
}

#[test]
fn a_roofline_tells_what_computing_takes_that_tells_its_operations() {
    let tells = |id: u64, operations: i64, bytes: i64| {
        let mut node = gemm(id, 7);
        (node.more_mut().operations, node.more_mut().tensor_bytes) = (Some(operations), Some(bytes));
        node
    };
    let nodes = [
        tells(0, 5_000_000, 1000),
        tells(1, 1000, 4_000_000),
        tells(2, 0, 1000),
        tells(3, 1000, 0),
        Node { on_cpu: Some(true), ..tells(4, 5_000_000, 1000) },
    ];
    let roofline = Roofline { operations_per_second: 1e12, bytes_per_second: 1e11 };
    let (dag, notes) = dag_of(&Options { roofline: Some(roofline), ..options() }, &[&nodes]);
    let took: Vec<Work> = dag.ops.iter().map(|op| op.work).collect();
    assert_eq!(took, [5, 40, 7, 7, 7].map(|us| Work::Compute(Span::from_us(us))));
    assert!(notes.is_empty());
    let (dag, _) = dag_of(&options(), &[&nodes]);
    assert!(dag.ops.iter().all(|op| op.work == Work::Compute(Span::from_us(7))));
}

#[test]
fn resources_are_astra_sims_or_streams() {
    let streamed = |mut node: Node, stream: i64| {
        node.more_mut().stream = Some(stream);
        node
    };
    let zero = [
        Node { on_cpu: Some(true), ..gemm(0, 1) },
        streamed(gemm(1, 1), 7),
        streamed(send(2, (0, 1), 64), 20),
        collective(3, 0, 64),
    ];
    let one = [streamed(receive(1, (0, 1), 64), 20), collective(2, 0, 64)];
    let held = |resources| {
        let (dag, _) = dag_of(&Options { resources, ..options() }, &[&zero, &one]);
        let takes: Vec<Option<u16>> =
            dag.ops.iter().take(8).map(|op| op.takes.map(|Resource(number)| number)).collect();
        let frees: Vec<Option<u16>> =
            dag.ops.iter().take(8).map(|op| op.frees.map(|Resource(number)| number)).collect();
        (takes, frees)
    };
    // CPU, GPU, send, the two of a collective, the two of a receive.
    let (takes, frees) = held(Resources::Astra);
    assert_eq!(takes, [Some(0), Some(1), Some(2), Some(2), None, None, None, Some(2)]);
    assert_eq!(frees, [Some(0), Some(1), Some(2), None, Some(2), None, None, None]);
    let (takes, frees) = held(Resources::Stream);
    assert_eq!(takes, [Some(0), Some(3), Some(4), Some(2), None, Some(4), None, Some(2)]);
    assert_eq!(frees, [Some(0), Some(3), Some(4), None, Some(2), None, Some(4), None]);
}

#[test]
fn what_would_need_too_many_operations_is_refused_before() {
    let part = [collective(1, 0, 900_000_000_000)];
    let small = collective::Options { chunk_bytes: 4096, slice_bytes: 4096, ..options().collectives };
    assert_eq!(
        refused_by(&Options { collectives: small, ..options() }, &[&part, &part]),
        [(
            Fault::Unsupported,
            "rank 0, node 1 `together`: with this collective the job has more than 200000000 operations; larger \
             chunks and slices need fewer"
                .to_owned()
        )]
    );
}

#[test]
fn messages_take_the_nics_of_their_ranks() {
    let servers = |gpus, nics| Options { servers: Servers { gpus, nics }, ..options() };
    let lane = |options: &Options, to: i64| {
        let nothing: &[Node] = &[];
        let mut ranks = vec![nothing; 8];
        let (out, into) = ([send(0, (1, to), 64)], [receive(0, (1, to), 64)]);
        (ranks[1], ranks[to as usize]) = (&out, &into);
        let (dag, _) = dag_of(options, &ranks);
        let Op { work: Work::Send { lane: Lane { via, .. }, .. }, .. } = dag.ops[0] else { panic!("no message") };
        via
    };
    assert_eq!(lane(&servers(4, 4), 3), Via::ScaleUp);
    assert_eq!(lane(&servers(4, 4), 5), Via::Nic(1));
    assert_eq!(lane(&servers(4, 4), 6), Via::Cross(1, 2));
    assert_eq!(lane(&servers(4, 1), 6), Via::Nic(0));
    assert_eq!(lane(&servers(1, 1), 6), Via::Nic(0));
}

#[test]
fn what_is_found_is_counted() {
    let rank = [gemm(0, 1), in_group(collective(1, 0, 64), "4"), collective(2, 0, 36), collective(3, 42, 1)];
    let found = summarise(&traces(&[&rank, &rank]));
    assert_eq!((found.ranks, found.nodes), (2, 8));
    assert_eq!(found.by_kind[&NodeKind::Collective], 6);
    assert_eq!(found.collectives["ALL_REDUCE"], (4, 200));
    assert_eq!(found.collectives["42"], (2, 2));
    assert_eq!(found.groups, ["4"]);
}

#[test]
fn of_very_many_defects_the_first_are_told() {
    let nodes: Vec<Node> = (0..5000).map(|id| after(gemm(id, 1), &[9999])).collect();
    let found = refused_by(&options(), &[&nodes]);
    assert_eq!(found.len(), 1000);
    assert_eq!(found[999].1, "and more that is not told");
}
