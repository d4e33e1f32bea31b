//! Bytes of all kinds.

use super::protobuf::tests::varint;
use super::{Node, NodeKind, Trace, bundle, read, unbundle};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::Write;

const ALL_REDUCE: &[u8] = include_bytes!("../../tests/chakra/all_reduce/4npus_1MB/all_reduce.3.et");
const PIPELINE: &[u8] = include_bytes!("../../tests/chakra/pipeline/pipeline.1.et");

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn counted(bytes: &[u8]) -> Vec<u8> {
    [&varint(bytes.len() as u64), bytes].concat()
}

fn text(field: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), counted(bytes)].concat()
}

fn attribute(name: &str, value: &[u8]) -> Vec<u8> {
    text(10, &[&text(1, name.as_bytes()), value].concat())
}

/// A file of a version and these nodes.
fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = counted(&text(1, b"0.0.4"));
    nodes.iter().for_each(|node| bytes.extend(counted(node)));
    bytes
}

fn refused(bytes: &[u8]) -> String {
    read(7, bytes).unwrap_err().to_string()
}

#[test]
fn a_microbenchmark_is_read_as_the_script_wrote_it() {
    let trace = read(3, ALL_REDUCE).unwrap();
    assert_eq!((trace.rank, trace.version.as_str(), trace.nodes.len()), (3, "0.0.4", 1));
    let node = &trace.nodes[0];
    assert_eq!((node.id, &*node.name, node.kind), (3, "all_reduce_4npus_1MB", NodeKind::Collective));
    assert_eq!((node.on_cpu, node.more().what, node.more().bytes), (Some(false), Some(0), Some(1 << 20)));
    assert!(node.data.is_empty() && node.control.is_empty());
}

#[test]
fn the_nodes_of_a_pipeline_have_durations_dependencies_and_ends() {
    let trace = read(1, PIPELINE).unwrap();
    let names: Vec<&str> = trace.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names[..4], ["receive activations 0", "forward 0", "receive activations 1", "forward 1"]);
    let forward = &trace.nodes[3];
    assert_eq!((forward.micros, &forward.data[..]), (100, &[2, 1][..]));
    let send = &trace.nodes[5];
    assert_eq!(
        (send.kind, send.more().src, send.more().dst, send.more().tag),
        (NodeKind::Send, Some(1), Some(0), Some(2))
    );
}

#[test]
fn integers_of_any_kind_are_taken() {
    let eight = |field: u64, value: [u8; 8]| [varint(field << 3 | 1), value.to_vec()].concat();
    let four = |field: u64, value: [u8; 4]| [varint(field << 3 | 5), value.to_vec()].concat();
    let kinds = [
        number(7, 77),
        number(9, 77),
        number(11, 77),
        number(13, 77),
        number(15, 154),
        number(17, 154),
        four(19, 77_u32.to_le_bytes()),
        eight(21, 77_u64.to_le_bytes()),
        four(23, 77_i32.to_le_bytes()),
        eight(25, 77_i64.to_le_bytes()),
    ];
    for value in kinds {
        let trace = read(0, &file(&[attribute("comm_size", &value)])).unwrap();
        assert_eq!(trace.nodes[0].more().bytes, Some(77), "{value:?}");
    }
    let tag = |value: &[u8]| read(0, &file(&[attribute("comm_tag", value)])).unwrap().nodes[0].more().tag;
    assert_eq!(tag(&number(9, u64::MAX)), Some(-1), "int64");
    assert_eq!(tag(&number(17, 1)), Some(-1), "sint64");
    assert_eq!(tag(&eight(25, (-5_i64).to_le_bytes())), Some(-5), "sfixed64");
    assert_eq!(tag(&number(13, u64::MAX)), Some(i64::MAX), "uint64 beyond what a number here can be");
    assert_eq!(tag(&four(5, 1.0_f32.to_le_bytes())), None, "a float is no whole number");
}

#[test]
fn flags_texts_and_lists_are_taken_and_what_is_unknown_is_skipped() {
    let node = [
        number(1, 5),
        text(2, "gemm ü".as_bytes()),
        number(3, 7),
        number(4, 1),
        number(4, 300),
        text(5, &[2, 0xac, 2]),
        number(6, 1234),
        number(7, 9),
        text(9, b"outputs"),
        attribute("is_cpu_op", &number(27, 1)),
        attribute("pg_name", &text(29, b"3")),
        attribute("involved_dim", &text(28, &text(1, &[1, 0]))),
        attribute("doc", &text(31, &[0xff])),
        attribute("of no kind that is known", &number(99, 1)),
        number(99, 1),
        text(98, &[1, 2, 3]),
    ];
    let node = read(0, &file(&[node.concat()])).unwrap().nodes.remove(0);
    let Node { id, name, data, control, micros, on_cpu, .. } = &node;
    assert_eq!((*id, &**name, *micros, *on_cpu), (5, "gemm ü", 9, Some(true)));
    assert_eq!((&data[..], &control[..]), (&[2, 300][..], &[1, 300][..]));
    assert_eq!((node.more().group.as_deref(), &node.more().dimensions[..]), (Some("3"), &[true, false][..]));
}

#[test]
fn nodes_come_in_the_order_of_their_ids() {
    let ids: Vec<u64> =
        read(0, &file(&[number(1, 9), number(1, 4), vec![]])).unwrap().nodes.iter().map(|n| n.id).collect();
    assert_eq!(ids, [0, 4, 9]);
}

#[test]
fn packed_traces_are_the_same() {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(PIPELINE).unwrap();
    let packed = packer.finish().unwrap();
    assert_eq!(read(1, &packed).unwrap(), read(1, PIPELINE).unwrap());
    let cut = refused(&packed[..packed.len() / 2]);
    assert!(cut.starts_with("rank 7: packed by gzip, and damaged"), "{cut}");
}

#[test]
fn json_is_read_as_the_feeder_reads_it() {
    let text = r#" { "workload_graph": [
        {"Id": 1, "Name": "gemm", "NodeType": 4, "is_cpu_op": false, "runtime": 12, "data_deps": []},
        {"Id": 2, "Name": "sum", "NodeType": 7, "is_cpu_op": 0, "data_deps": [1], "comm_type": 0, "comm_size": 64,
         "pg_name": "2"}]}"#;
    let trace = read(0, text.as_bytes()).unwrap();
    assert_eq!((trace.nodes[0].micros, trace.nodes[0].on_cpu), (12, Some(false)));
    let sum = &trace.nodes[1];
    assert_eq!((&sum.data[..], sum.more().bytes, sum.more().group.as_deref()), (&[1][..], Some(64), Some("2")));
    for (text, why) in [
        ("{\"x\": 1}", "rank 7: the JSON has no list `workload_graph`"),
        ("{\"workload_graph\": [3]}", "rank 7: entry 0 of `workload_graph` is no node"),
        (r#"{"workload_graph": [{"Id": 1}]}"#, "rank 7: `NodeType` of entry 0 is missing or of another kind"),
        (
            r#"{"workload_graph": [{"Id": 1, "NodeType": 4, "data_deps": [-1]}]}"#,
            "rank 7: `data_deps` of entry 0 is missing or of another kind",
        ),
    ] {
        assert_eq!(refused(text.as_bytes()), why);
    }
    assert!(refused(b"{\"workload_graph\": [").contains("not readable as JSON"));
}

#[test]
fn a_bundle_holds_all_that_matters() {
    let metadata = [number(3, 1), text(8, &text(1, b"['[{\"pg_name\": \"1\", \"ranks\": []}]']"))].concat();
    let odd = [
        number(1, 5),
        text(2, "gemm \"\u{1}\u{fc}".as_bytes()),
        number(3, 12),
        number(4, 1),
        text(5, &[2, 0xac, 2]),
        number(7, 9),
        attribute("is_cpu_op", &number(27, 1)),
        attribute("comm_tag", &number(9, u64::MAX)),
        attribute("stream", &number(9, 7)),
        attribute("pg_name", &text(29, b"3")),
        attribute("involved_dim", &text(28, &text(1, &[1, 0]))),
    ];
    let traces = [read(0, &file(&[odd.concat(), metadata])).unwrap(), read(1, PIPELINE).unwrap()];
    let text = bundle(&traces);
    assert_eq!(unbundle(&text).unwrap(), traces);
    assert_eq!(text.lines().count(), 1 + 3 + 9);
    let refused = |text: &str| unbundle(text).unwrap_err().to_string();
    assert_eq!(refused("{}"), "the JSON has no list `chakra` of traces");
    assert_eq!(refused("{\"chakra\": [{}]}"), "entry 0 of `chakra` has no `rank`");
    assert_eq!(refused("{\"chakra\": [{\"rank\": 3}]}"), "rank 3: the JSON has no list `workload_graph`");
    assert!(refused("[").contains("not readable as JSON"));
}

#[test]
fn a_first_message_of_123_bytes_is_not_taken_for_json() {
    let version = "v".repeat(121);
    let bytes = counted(&text(1, version.as_bytes()));
    assert_eq!(bytes[0], b'{');
    assert_eq!(read(0, &bytes).unwrap().version.len(), super::LONGEST_NAME);
}

#[test]
fn what_is_no_trace_is_refused_with_the_byte() {
    for (bytes, why) in [
        (vec![], "rank 7: byte 0: the file is empty"),
        (file(&[vec![]])[..8].to_vec(), ""),
        (counted(&number(1, 3)), "rank 7: byte 1: the first message is no GlobalMetadata"),
        (
            counted(&[text(2, b"first"), number(3, 4)].concat()),
            "rank 7: byte 1: the first message is no GlobalMetadata",
        ),
        (file(&[text(1, b"id")]), "rank 7: byte 13: a field of a node is of another kind than it should be"),
        ([file(&[]), vec![200]].concat(), "rank 7: byte 9: the bytes end before the message does"),
        ([file(&[]), vec![20, 1]].concat(), "rank 7: byte 8: the bytes end before the message does"),
    ] {
        match why {
            "" => assert!(read(7, &bytes).is_ok(), "a trace may have no nodes"),
            why => assert_eq!(refused(&bytes).split(';').next(), Some(why)),
        }
    }
}

#[test]
fn no_part_of_a_trace_and_no_flip_of_a_bit_makes_it_panic() {
    let whole: Trace = read(1, PIPELINE).unwrap();
    let mut fewer = 0;
    for length in 0..PIPELINE.len() {
        if let Ok(part) = read(1, &PIPELINE[..length]) {
            // Where a node ends, nothing shows that there should be more.
            assert_eq!(part.nodes[..], whole.nodes[..part.nodes.len()]);
            fewer += 1;
        }
    }
    assert_eq!(fewer, whole.nodes.len());
    for bit in 0..PIPELINE.len() * 8 {
        let mut bytes = PIPELINE.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(trace) = read(1, &bytes) {
            super::tests::try_all(&[read(0, &bytes).unwrap(), trace]);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_trace_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        if let Ok(trace) = read(0, &bytes) {
            prop_assert!(trace.nodes.len() <= bytes.len());
        }
    }

    #[test]
    fn any_fields_in_the_place_of_nodes_are_too(
        messages in vec(vec((0_u64..12, any::<u64>(), any::<bool>()), 0..12), 0..6),
    ) {
        let field = |(field, value, is_text): &(u64, u64, bool)| {
            if *is_text { text(*field, &varint(*value)) } else { number(*field, *value) }
        };
        let nodes: Vec<Vec<u8>> = messages.iter().map(|fields| fields.iter().flat_map(field).collect()).collect();
        if let Ok(trace) = read(0, &file(&nodes)) {
            prop_assert_eq!(trace.nodes.len(), nodes.len());
            super::tests::try_all(&[trace]);
        }
    }
}
