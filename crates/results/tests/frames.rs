//! Frames of whole runs under every scheme, as bytes: what a machine reads of a packet is in them.

use std::collections::BTreeMap;
use std::path::Path;
use xoff_fabric::capture::{Body, Data, Frame, Reply};
use xoff_fabric::frame_content::{Carrier, FrameContent};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::{Scheme, Transport};
use xoff_run::{Keep, Records, drive};
use xoff_scenario::{Loaded, Options, Scenario};
use xoff_schemes::{Any, SchemeSet, all};
use xoff_wire::{Echo, Encoder, Ends, Roce, RoceKind, Seen, content_of, decode, near, stamp_of, telemetry_of};

const INCAST: &str = r#"
run = { stop = "2ms" }
topology = { kind = "dumbbell", left = 4, right = 4, rate = "100Gbps", delay = "1us" }
switch = { buffer = "4MB", pfc = { threshold = "static", xoff = "60KB" } }
traffic = [{ kind = "incast", sizes = "300KB", destinations = "h7", degree = 6, times = ["10us"] }]
capture = [{ ports = "*->*" }]
"#;

const TWO_DATACENTRES: &str = r#"
run = { stop = "1ms" }
topology = { kind = "two-dc", leaves = 1, spines = 1, hosts_per_leaf = 3, host_rate = "25Gbps", long_delay = "20us" }
traffic = [{ kind = "burst", sources = "h[0..2]", destinations = "h3", size = "100KB" }]
capture = [{ ports = "*->*" }]
"#;

/// Checks every frame of a run; how many there were of each kind.
fn check(text: &str, scheme: &str) -> BTreeMap<&'static str, usize> {
    xoff_schemes::install_all();
    let text = format!("{text}\nscheme = {{ name = \"{scheme}\" }}\n");
    let loaded = Scenario::from_text("t", text, Path::new(".")).load(&Options::default());
    let loaded = loaded.unwrap_or_else(|errors| panic!("{scheme}: {}", errors[0]));
    let mut records = Records::default();
    let end = drive(&loaded, Keep { frames: true, ..Keep::default() }, &mut records, &mut |_| {}).unwrap();
    assert!(end.failure.is_none(), "{scheme}: {:?}", end.failure);
    let configured = Any::configure(&loaded.schemes[0].values).unwrap();
    let encoder = Encoder::new(&loaded.plan, vec![None]);
    let (mut bytes, mut kinds) = (Vec::new(), BTreeMap::new());
    for frame in &records.frames {
        encoder.encode(frame, &mut bytes);
        let seen = decode(&bytes).unwrap_or_else(|reason| panic!("{scheme}: {reason}: {frame:?}"));
        *kinds.entry(is_held(frame, &bytes, &seen, &configured, &loaded)).or_default() += 1;
    }
    kinds
}

/// Holds what was read to the record; which kind it is.
fn is_held(frame: &Frame, bytes: &[u8], seen: &Seen, scheme: &Any, loaded: &Loaded) -> &'static str {
    let priority = loaded.plan.classes.list[usize::from(frame.class)].priority;
    match (&frame.body, seen) {
        (Body::Data(data), Seen::Roce(roce)) => {
            let ends = Ends { src: data.flow.src, dst: data.flow.dst };
            assert_eq!((roce.ends, roce.priority, roce.ecn), (ends, priority, frame.ecn));
            is_data(data, roce, bytes);
            "data"
        }
        (Body::Reply(reply), Seen::Roce(roce)) => {
            is_reply(frame.ecn, reply, roce, bytes);
            if let Some(content) = &reply.content {
                is_said(content, &content_of(bytes, seen), scheme);
                return "feedback";
            }
            "reply"
        }
        (Body::Data(data), Seen::Tcp(segment)) => {
            assert_eq!(segment.sequence, data.offset_bytes as u32 + 1);
            assert_eq!((segment.ecn, u64::from(segment.payload_bytes)), (frame.ecn, u64::from(data.payload_bytes)));
            "data"
        }
        (Body::Reply(reply), Seen::Tcp(segment)) => {
            assert_eq!(segment.acknowledged, reply.expected_byte as u32 + 1);
            "reply"
        }
        (Body::Notification { content, .. }, Seen::Roce(_) | Seen::Cnm(_)) => {
            is_said(content, &content_of(bytes, seen), scheme);
            "notification"
        }
        (Body::Pfc { classes, .. }, Seen::Pfc(pfc)) => {
            assert_eq!(pfc.priorities().count(), classes.len());
            assert!(pfc.priorities().zip(classes).all(|((_, quanta), class)| (quanta > 0) == class.pause));
            "PFC"
        }
        (Body::Neighbour { flows, .. }, Seen::Neighbour(message)) => {
            let named = message.named(bytes).map(|flow| (flow.ends.src, flow.ends.dst, flow.source_port));
            assert!(named.eq(flows.iter().map(|flow| (flow.src, flow.dst, flow.src_port))));
            "neighbour"
        }
        (body, seen) => panic!("{body:?} was read as {seen:?}"),
    }
}

fn is_data(data: &Data, roce: &Roce, bytes: &[u8]) {
    assert_eq!(near(roce.psn, data.psn.saturating_sub(1000)), data.psn);
    let RoceKind::Data { first, last, ack_request, .. } = roce.what else { panic!("{roce:?}") };
    assert_eq!((first, last, ack_request), (data.psn == data.begin, data.total == Some(data.psn + 1), data.asks_ack));
    let Some(stack) = &data.int else {
        let stamped = data.format.data_bytes >= 8;
        assert_eq!(stamp_of(bytes, roce).map(|at| at.ps() / 1000), stamped.then(|| data.sent_at.ps() / 1000));
        return;
    };
    let read = telemetry_of(bytes, roce, None).expect("every rate of these networks has a code");
    assert_eq!((read.hops().len(), read.path(), read.tag), (stack.hops().len(), stack.path(), stack.tag));
    assert_eq!(read.flow_queue_bytes, stack.flow_queue_bytes);
    // What the near gateway reads, as long as the far one has written nothing.
    if data.format.ack_bytes == 10 && stack.flow_queue_bytes == 0 {
        assert_eq!(read.sent_at.ps(), stack.sent_at.ps() / 1000 * 1000);
    }
}

fn is_reply(ecn: Ecn, reply: &Reply, roce: &Roce, bytes: &[u8]) {
    let (complete, echo, missing) = match roce.what {
        RoceKind::Ack { complete, echo } => (complete, echo, 1),
        RoceKind::Nak { complete, echo } => (complete, echo, 0),
        other => panic!("{other:?}"),
    };
    assert_eq!((missing == 0, complete, echo != Echo::Unmarked), (reply.nak, reply.complete, reply.echoes_mark));
    assert_eq!(echo.ecn(reply.format.ecn), ecn, "the sender hears the mark of the packet");
    assert_eq!(near(roce.psn, reply.expected).wrapping_add(missing), reply.expected);
    let echoed = telemetry_of(bytes, roce, None).map(|stack| stack.hops().len());
    assert_eq!(echoed, reply.int.as_ref().filter(|_| reply.content.is_none()).map(|stack| stack.hops().len()));
    assert_eq!(reply.flow.transport, Transport::Roce);
}

/// What is read says the same as what was written, but for the units of a CNM.
fn is_said(content: &FrameContent, read: &FrameContent, scheme: &Any) {
    let feedback = scheme.read_content(read).unwrap_or_else(|| panic!("its scheme does not read {read:?}"));
    let again = scheme.frame_content(&feedback);
    match (content.carrier, again.carrier) {
        (Carrier::Cnm { feedback: was, offset_bytes, .. }, Carrier::Cnm { feedback, offset_bytes: offset, .. }) => {
            assert_eq!(feedback, was.min(63));
            assert_eq!(offset, offset_bytes / 64 * 64);
        }
        _ => assert_eq!(&again, content),
    }
}

#[test]
fn frames_of_runs_under_every_scheme_are_read_back() {
    let mut said: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for spec in all() {
        let kinds = check(INCAST, spec.name);
        assert!(kinds["data"] > 1000 && kinds["reply"] > 1000, "{}: {kinds:?}", spec.name);
        kinds.keys().for_each(|kind| said.entry(kind).or_default().push(spec.name));
    }
    said.values_mut().for_each(|names| names.sort_unstable());
    let notified = ["af-qcn", "dcqcn", "fqcn", "mercury", "np-ecn", "pcn", "qcn", "rocc", "tcd"];
    assert_eq!(said["notification"], notified, "in so short a run");
    assert_eq!(said["neighbour"], ["rcm"]);
    assert!(said["PFC"].contains(&"none"));
}

#[test]
fn what_gateways_write_and_read_is_in_packets_between_datacentres() {
    let kinds = check(TWO_DATACENTRES, "mlcc");
    assert!(kinds["data"] > 1000 && kinds["feedback"] > 1000 && kinds["notification"] > 100, "{kinds:?}");
}
