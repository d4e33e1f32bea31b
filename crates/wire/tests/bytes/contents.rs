//! What schemes say in frames: written, sent, read, and written again.

use crate::frames::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use xoff_engine::{BitRate, Time};
use xoff_fabric::capture::{Body, Frame};
use xoff_fabric::frame_content::{Carrier, FrameContent};
use xoff_fabric::packet::{Ecn, IntHop, IntStack};
use xoff_fabric::scheme::{Format, Scheme};
use xoff_schemes::parts::frame_content::{bytes_of, code};
use xoff_schemes::parts::int_header::telemetry;
use xoff_schemes::{Any, SchemeSet, all, select};
use xoff_wire::*;

/// All schemes over their default bases, and some pairs.
fn schemes() -> Vec<(&'static str, Any)> {
    let configured = |name| Any::configure(&select(name).unwrap()).unwrap();
    let pairs = ["mercury+dcqcn", "qcn+pcn", "rcm+mlcc"];
    all().iter().map(|spec| spec.name).chain(pairs).map(|name| (name, configured(name))).collect()
}

/// A code's bytes; those that are telemetry as a switch would write them.
fn content(code: u8, carrier: Carrier, noise: &[u8]) -> FrameContent {
    let length = bytes_of(code).unwrap();
    let mut bytes = noise[..length].to_vec();
    match code {
        code::KIND => bytes[0] &= 1,
        code::FAIR_RATE => bytes[3] |= 1,
        code::GATEWAY_TELEMETRY => {
            // Before any end of time, and nothing in the bytes that stay reserved.
            bytes[..2].fill(0);
            bytes[8..16].fill(0);
            bytes[16..].copy_from_slice(&telemetry(&noisy_stack(noise)));
        }
        _ => {}
    }
    FrameContent { carrier, code, bytes, ..FrameContent::default() }
}

fn noisy_stack(noise: &[u8]) -> IntStack {
    let mut stack = IntStack::default();
    stack.pass(u16::from_be_bytes([noise[0], noise[1]]));
    for hop in noise[2..].chunks_exact(9).take(usize::from(noise[0] % 6)) {
        let rate = BitRate::from_gbps([25, 50, 100, 200, 400, 10, 40][usize::from(hop[8] % 7)]);
        let number = |at: usize| u64::from(u32::from_be_bytes([hop[at], hop[at + 1], hop[at + 2], hop[at + 3]]));
        stack.push(IntHop { rate, at: Time::from_ns(number(0)), tx_bytes: number(2) << 8, queue_bytes: number(4) });
    }
    stack
}

/// In the frame that carries it: MLCC's credits in an ACK, the rest in notifications.
fn carried(content: FrameContent) -> Frame {
    if content.code != code::CREDIT {
        return notification(content);
    }
    let mut reply = reply(Format { ack_bytes: 10, ..Format::default() });
    reply.content = Some(content);
    frame(CONTROL, Ecn::NotCapable, 76, Body::Reply(reply))
}

fn carriers() -> impl Strategy<Value = (u8, Carrier)> {
    let codes = prop_oneof![Just(0u8), code::WINDOW..=code::CREDIT];
    let cnm = (0..64u8, any::<i16>(), any::<i16>()).prop_map(|(feedback, offset, delta)| {
        let (offset_bytes, delta_bytes) = (i64::from(offset) * 64, i64::from(delta) * 64);
        (0, Carrier::Cnm { feedback, offset_bytes, delta_bytes })
    });
    prop_oneof![
        codes.clone().prop_map(|code| (code, Carrier::Cnp)),
        Just((code::RECEIVING_RATE, Carrier::MarkedCnp)),
        cnm
    ]
}

proptest! {
    #[test]
    fn feedback_that_was_sent_says_the_same((code, carrier) in carriers(), noise in proptest::collection::vec(any::<u8>(), 64)) {
        let said = content(code, carrier, &noise);
        let mut readers = 0;
        for (name, scheme) in schemes() {
            let Some(feedback) = scheme.read_content(&said) else { continue };
            readers += 1;
            let written = scheme.frame_content(&feedback);
            prop_assert_eq!((&written.carrier, written.code, &written.bytes), (&said.carrier, said.code, &said.bytes), "{}", name);
            let bytes = bytes(&carried(written.clone()));
            let read = content_of(&bytes, &decode(&bytes).unwrap());
            let again = scheme.read_content(&read).expect("it is the scheme's own");
            prop_assert_eq!(scheme.frame_content(&again), written, "{}", name);
        }
        prop_assert!(readers > 0, "no scheme reads {:?}", said);
    }

    #[test]
    fn any_content_is_read_or_refused(code: u8, bytes in proptest::collection::vec(any::<u8>(), 0..70)) {
        let content = FrameContent { code, bytes, ..FrameContent::default() };
        for (_, scheme) in schemes() {
            if let Some(feedback) = scheme.read_content(&content) {
                prop_assert_eq!(scheme.frame_content(&feedback).code, code);
            }
        }
    }
}

/// An overlay that replaces its base's signals reads only its own messages, the others both.
#[test]
fn every_scheme_reads_its_own_messages_and_no_others() {
    let cnm = Carrier::Cnm { feedback: 1, offset_bytes: 0, delta_bytes: 0 };
    let kinds = [("CNM", 0, cnm)].into_iter().chain([
        ("plain", 0, Carrier::Cnp),
        ("window", code::WINDOW, Carrier::Cnp),
        ("receiving rate", code::RECEIVING_RATE, Carrier::MarkedCnp),
        ("fair rate", code::FAIR_RATE, Carrier::Cnp),
        ("kind", code::KIND, Carrier::Cnp),
        ("gateway", code::GATEWAY_TELEMETRY, Carrier::Cnp),
        ("credit", code::CREDIT, Carrier::Cnp),
    ]);
    let contents: Vec<_> = kinds.map(|(name, code, carrier)| (name, content(code, carrier, &[1; 64]))).collect();
    let mut reads = BTreeMap::new();
    for (name, scheme) in schemes() {
        let read = contents.iter().filter(|(_, content)| scheme.read_content(content).is_some());
        let read: Vec<&str> = read.map(|(kind, _)| *kind).collect();
        if !read.is_empty() {
            reads.insert(name, read.join(", "));
        }
    }
    let expected = [
        ("af-qcn", "CNM"),
        ("dcqcn", "plain"),
        ("fqcn", "CNM"),
        ("mercury", "window"),
        ("mercury+dcqcn", "window"),
        ("mlcc", "gateway, credit"),
        ("np-ecn", "kind"),
        ("pacc", "plain"),
        ("pcn", "receiving rate"),
        ("qcn", "CNM"),
        ("qcn+pcn", "CNM, receiving rate"),
        ("rcm", "plain"),
        ("rcm+mlcc", "gateway, credit"),
        ("rocc", "fair rate"),
        ("tcd", "kind"),
    ];
    assert_eq!(reads, expected.map(|(name, kinds)| (name, kinds.to_owned())).into());
}
