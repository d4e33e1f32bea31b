//! A small network, and frames in it to write and read.

use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::capture::{Body, Data, FlowName, Frame, Marked, Reply};
use xoff_fabric::frame_content::FrameContent;
use xoff_fabric::packet::{Ecn, IntHop, IntStack};
use xoff_fabric::plan::*;
use xoff_fabric::scheme::{Format, Transport};
use xoff_fabric::topology::{LinkSpec, star};
use xoff_wire::Encoder;

/// Classes of the plan below, by number, and their priorities.
pub const DATA: u8 = 0;
pub const CONTROL: u8 = 1;
pub const PRIORITIES: [u8; 2] = [3, 6];

/// Four hosts around switch 0.
pub fn plan() -> Plan {
    let graph = star(4, LinkSpec { rate: BitRate::from_gbps(100), delay: Span::from_us(1) });
    let class = |priority, lossless| Class { priority, lossless, ..Class::default() };
    Plan {
        nodes: graph.nodes,
        links: graph.links,
        classes: Classes { list: vec![class(PRIORITIES[0], true), class(PRIORITIES[1], false)], control: CONTROL },
        switches: Vec::new(),
        hosts: Vec::new(),
        ack_path: AckPath::Symmetric,
        run: RunSettings { stop: Time::from_ms(1), ..RunSettings::default() },
        ..Plan::default()
    }
}

/// From host 1 to host 3, by node.
pub fn flow(id: u32, transport: Transport) -> FlowName {
    FlowName {
        id,
        label: 0,
        src: 1,
        dst: 3,
        class: DATA,
        scheme: 0,
        transport,
        src_port: 50_000,
        dst_port: None,
        full_frame_bytes: 1062,
    }
}

/// A full packet in mid-flow.
pub fn data(format: Format) -> Data {
    Data {
        flow: flow(7, format.transport),
        psn: 5,
        begin: 0,
        total: Some(100),
        size_bytes: Some(100_000),
        offset_bytes: 5000,
        payload_bytes: 1000,
        first_frame_bytes: 1062,
        sent_at: Time::from_us(3),
        resent: false,
        whole_frame_bytes: None,
        asks_ack: true,
        format,
        int: format.int.then(|| Box::new(stack())),
        marked: Marked::No,
    }
}

/// The answer to that packet.
pub fn reply(format: Format) -> Reply {
    Reply {
        flow: flow(7, format.transport),
        nak: false,
        expected: 6,
        expected_byte: 6000,
        complete: false,
        sent_at: Time::from_us(3),
        echoes_mark: false,
        format,
        int: format.int.then(|| Box::new(stack())),
        content: None,
        selective: None,
    }
}

/// A frame at the port of host 1.
pub fn frame(class: u8, ecn: Ecn, frame_bytes: u16, body: Body) -> Frame {
    Frame { capture: 0, at: Time::from_us(4), port: 0, frame_bytes, class, ecn, queue_bytes: 0, last: false, body }
}

pub fn notification(content: FrameContent) -> Frame {
    let body = Body::Notification { flow: flow(7, Transport::Roce), content, origin: None };
    frame(CONTROL, Ecn::NotCapable, 78, body)
}

pub fn bytes(frame: &Frame) -> Vec<u8> {
    let plan = plan();
    let mut out = Vec::new();
    Encoder::new(&plan, vec![None]).encode(frame, &mut out);
    out
}

/// Formats of all schemes: plain, tagged, stamped, with telemetry, with telemetry and credit, TCP, with a digest.
pub fn formats() -> Vec<Format> {
    let plain = Format::default();
    let telemetry = Format { data_bytes: 42, ack_bytes: 42, int: true, ..plain };
    vec![
        plain,
        Format { data_bytes: 4, tag: Some(0x22e9), ..plain },
        Format { data_bytes: 8, ack_bytes: 8, ..plain },
        telemetry,
        Format { data_bytes: 46, tag: Some(0x22e9), ..telemetry },
        Format { data_bytes: 44, ack_bytes: 10, ..telemetry },
        Format { transport: Transport::Tcp, reorder: true, ..plain },
        Format { data_bytes: 4, tag: Some(0x22e9), transport: Transport::Tcp, reorder: true, ..plain },
        Format { data_bytes: 2, ack_bytes: 2, ..telemetry },
    ]
}

/// Telemetry of two hops.
pub fn stack() -> IntStack {
    let mut stack = IntStack::new(Time::from_us(3));
    stack.pass(0xabc);
    for gbps in [100, 25] {
        let rate = BitRate::from_gbps(gbps);
        stack.push(IntHop { rate, at: Time::from_us(4), tx_bytes: 1 << 20, queue_bytes: 80_000 });
    }
    stack
}
