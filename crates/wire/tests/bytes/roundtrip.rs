//! Every kind of frame is read as what was written.

use crate::frames::*;
use proptest::prelude::*;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::capture::{Body, Data, PfcClass, Place, SelectiveReply};
use xoff_fabric::frame_content::{Carrier, FrameContent};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::{Format, Transport};
use xoff_wire::*;

const ECN: [Ecn; 4] = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

fn ecn() -> impl Strategy<Value = Ecn> {
    (0..4usize).prop_map(|code| ECN[code])
}

fn format() -> impl Strategy<Value = Format> {
    (0..formats().len()).prop_map(|number| formats()[number])
}

/// What of a scheme a packet of this format has, and its bytes.
fn code_of(format: &Format, reply: bool) -> (u8, usize) {
    match (format.int, reply, format.ack_bytes) {
        (true, false, 10) => (2, 44),
        (true, true, 10) => (0, 0),
        (true, _, 2) => (11, 2),
        (true, ..) => (1, 42),
        (false, _, 8) => (3, 8),
        (false, ..) => (0, 0),
    }
}

fn roce(bytes: &[u8]) -> Roce {
    match decode(bytes) {
        Ok(Seen::Roce(roce)) => roce,
        other => panic!("{other:?}"),
    }
}

fn tcp(bytes: &[u8]) -> Tcp {
    match decode(bytes) {
        Ok(Seen::Tcp(tcp)) => tcp,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn data_is_read_as_it_was_written(
        format in format(),
        ecn in ecn(),
        id: u32,
        psn in prop_oneof![Just(0u32), 0..1u32 << 26],
        begins: bool,
        last: bool,
        asks_ack: bool,
        size in proptest::option::of(1..1u64 << 34),
        payload_bytes in 1..4097u32,
        frame_bytes in 64..4200u16,
        offset_bytes: u64,
    ) {
        let mut written = data(format);
        written.flow = flow(id, format.transport);
        (written.psn, written.asks_ack, written.size_bytes) = (psn, asks_ack, size);
        written.total = last.then_some(psn + 1);
        // A message in the middle of a queue pair begins anew.
        written.begin = if begins { psn } else { 0 };
        let starts = begins || psn == 0;
        (written.payload_bytes, written.first_frame_bytes, written.offset_bytes) = (payload_bytes, frame_bytes, offset_bytes);
        let frame = frame(DATA, ecn, frame_bytes, Body::Data(written));
        let bytes = bytes(&frame);
        prop_assert!(bytes.len() >= usize::from(frame_bytes) - 4);
        let tag = format.tag.map(|_| id as u16);
        let ends = Ends { src: 1, dst: 3 };
        if format.transport == Transport::Tcp {
            let read = tcp(&bytes);
            prop_assert_eq!((read.ends, read.priority, read.ecn, read.tag), (ends, 3, ecn, tag));
            prop_assert_eq!((read.source_port, read.destination_port), (50_000, 5001));
            prop_assert_eq!((read.sequence, read.acknowledged), (offset_bytes.wrapping_add(1) as u32, 1));
            prop_assert_eq!(read.flags, TCP_ACK | if last { TCP_PUSH } else { 0 });
            prop_assert!(read.payload_bytes <= payload_bytes);
            return Ok(());
        }
        let read = roce(&bytes);
        prop_assert_eq!((read.ends, read.priority, read.ecn, read.tag), (ends, 3, ecn, tag));
        prop_assert_eq!((read.udp_source, read.queue_pair), (50_000, id.wrapping_add(16) & 0xff_ffff));
        prop_assert_eq!(near(read.psn, psn ^ 0x1234), psn);
        prop_assert_eq!((read.code, read.content.len()), code_of(&format, false));
        let RoceKind::Data { first, last: ends_flow, ack_request, size_bytes } = read.what else { panic!("{read:?}") };
        prop_assert_eq!((first, ends_flow, ack_request), (starts, last, asks_ack));
        if let Some(announced) = size_bytes {
            prop_assert!(first);
            prop_assert_eq!(u64::from(announced), size.map_or(1 << 31, |size| size.min(u64::from(u32::MAX))));
        }
        prop_assert!(read.payload_bytes <= payload_bytes);
        if usize::from(frame_bytes) > 200 + payload_bytes as usize {
            prop_assert_eq!(read.payload_bytes, payload_bytes, "there was room for all of it");
        }
        prop_assert_eq!(telemetry_of(&bytes, &read, None).is_some(), format.int);
    }

    #[test]
    fn replies_are_read_as_they_were_written(
        format in format(),
        ecn in ecn(),
        id: u32,
        nak: bool,
        complete: bool,
        echoes_mark: bool,
        expected: u32,
        expected_byte: u64,
        selective in proptest::option::of((0..1u32 << 24, prop_oneof![Just(0u64), any::<u64>()])),
    ) {
        let mut written = reply(format);
        written.selective = selective.map(|(psn, received)| SelectiveReply { psn, received });
        written.flow = flow(id, format.transport);
        (written.nak, written.complete, written.echoes_mark) = (nak, complete, echoes_mark);
        (written.expected, written.expected_byte) = (expected, expected_byte);
        let bytes = bytes(&frame(CONTROL, ecn, 66, Body::Reply(written)));
        let ends = Ends { src: 3, dst: 1 };
        let marked = echoes_mark && ecn == Ecn::Ce;
        if format.transport == Transport::Tcp {
            let read = tcp(&bytes);
            prop_assert_eq!((read.ends, read.priority, read.ecn, read.tag), (ends, 6, Ecn::NotCapable, None));
            prop_assert_eq!((read.source_port, read.destination_port), (5001, 50_000));
            prop_assert_eq!((read.sequence, read.acknowledged), (1, expected_byte.wrapping_add(1) as u32));
            prop_assert_eq!((read.flags, read.payload_bytes), (TCP_ACK | if marked { TCP_ECE } else { 0 }, 0));
            return Ok(());
        }
        let read = roce(&bytes);
        prop_assert_eq!((read.ends, read.priority, read.ecn, read.tag), (ends, 6, Ecn::NotCapable, None));
        prop_assert_eq!((read.udp_source, read.queue_pair), (50_000, id.wrapping_add(16) & 0xff_ffff));
        prop_assert_eq!((read.code, read.content.len(), read.payload_bytes as usize), (code_of(&format, true).0, code_of(&format, true).1, 0));
        let echo = match (echoes_mark, marked) {
            (false, _) => Echo::Unmarked,
            (true, true) => Echo::Ce,
            (true, false) => Echo::Other,
        };
        let (what, missing) = match nak {
            true => (RoceKind::Nak { complete, echo }, 0),
            false => (RoceKind::Ack { complete, echo }, 1),
        };
        prop_assert_eq!(read.what, what);
        prop_assert_eq!(read.selective.map(|of| (of.psn, of.received)), selective);
        prop_assert_eq!(near(read.psn, expected.wrapping_sub(77)).wrapping_add(missing), expected);
    }

    #[test]
    fn congestion_notification_messages_are_read_as_they_were_written(
        feedback: u8,
        offset in -40_000..40_000i64,
        delta in -40_000..40_000i64,
        frame_bytes in 64..200u16,
        id: u32,
    ) {
        let (offset_bytes, delta_bytes) = (offset * 64, delta * 64);
        let content = FrameContent { carrier: Carrier::Cnm { feedback, offset_bytes, delta_bytes }, ..FrameContent::default() };
        // Port 3 is the switch's to host 2.
        let origin = Some(Place { port: 3, queue_bytes: 0 });
        let body = Body::Notification { flow: flow(id, Transport::Roce), content, origin };
        let bytes = bytes(&frame(CONTROL, Ecn::NotCapable, frame_bytes, body));
        let units = |bytes: i64| (bytes / 64).clamp(-32_768, 32_767) * 64;
        let expected = Cnm {
            to: 1,
            flow_to: 3,
            flow: id as u16,
            feedback: feedback.min(63),
            switch: 0,
            port: 2,
            priority: 3,
            offset_bytes: units(offset_bytes),
            delta_bytes: units(delta_bytes),
        };
        prop_assert_eq!(decode(&bytes), Ok(Seen::Cnm(expected)));
    }

    #[test]
    fn pauses_are_read_as_they_were_written(pauses in any::<[Option<bool>; 2]>(), ns in proptest::option::of(1..400_000u64)) {
        let named = pauses.iter().zip(0..).filter_map(|(pause, class)| Some((class, (*pause)?)));
        let classes = named.clone().map(|(class, pause)| PfcClass { class, pause, ingress: None }).collect();
        let rate = BitRate::from_gbps(40);
        let body = Body::Pfc { classes, lasts: ns.map(Span::from_ns), rate };
        let Ok(Seen::Pfc(read)) = decode(&bytes(&frame(CONTROL, Ecn::NotCapable, 64, body))) else { panic!("no PFC frame") };
        let said: Vec<(u8, u16)> = read.priorities().collect();
        prop_assert_eq!(said.len(), named.clone().count());
        for ((priority, quanta), (class, pause)) in said.into_iter().zip(named) {
            prop_assert_eq!(priority, PRIORITIES[usize::from(class)]);
            match (pause, ns) {
                (false, _) => prop_assert_eq!(quanta, 0),
                (true, None) => prop_assert_eq!(pause_span(quanta, rate), None),
                // Rounded up to a quantum of 12.8 ns.
                (true, Some(ns)) => {
                    let span = pause_span(quanta, rate).unwrap();
                    prop_assert!(span >= Span::from_ns(ns) && span < Span::from_ns(ns + 13), "{:?} for {} ns", span, ns);
                }
            }
        }
    }

    #[test]
    fn messages_between_neighbours_are_read_as_they_were_written(degree: u8, count in 0..20usize, ended in 0..3usize) {
        let flows: Vec<u32> = (0..count as u32).collect();
        let content = vec![degree, 0, 0, count as u8, 0, 10];
        let transport = |id: &u32| if id.is_multiple_of(2) { Transport::Roce } else { Transport::Tcp };
        let alive: Vec<_> = flows.iter().skip(ended).map(|id| flow(*id, transport(id))).collect();
        let said = FrameContent { code: 10, bytes: content.clone(), flows, ..FrameContent::default() };
        let body = Body::Neighbour { content: said, flows: alive.clone() };
        let mut frame = frame(CONTROL, Ecn::NotCapable, 24 + 13 * count as u16, body);
        frame.port = 5;
        let bytes = bytes(&frame);
        let seen = decode(&bytes).unwrap();
        let Seen::Neighbour(message) = &seen else { panic!("{seen:?}") };
        prop_assert_eq!((message.from, usize::from(message.flows)), ((0, 3), count));
        prop_assert_eq!((content_of(&bytes, &seen).code, content_of(&bytes, &seen).bytes), (10, content));
        let named: Vec<NamedFlow> = message.named(&bytes).collect();
        let ends = Ends { src: 1, dst: 3 };
        let expected: Vec<NamedFlow> = alive.iter().map(|flow| {
            let destination_port = if flow.transport == Transport::Tcp { 5001 } else { 4791 };
            NamedFlow { ends, transport: flow.transport, source_port: 50_000, destination_port }
        }).collect();
        prop_assert_eq!(named, expected, "those that are alive, and no padding");
    }
}

#[test]
fn a_mark_changes_nothing_else() {
    for format in formats() {
        let mut frame = frame(DATA, Ecn::Ect0, 1100, Body::Data(data(format)));
        let mut bytes_then = bytes(&frame);
        let ip_at = match decode(&bytes_then).unwrap() {
            Seen::Roce(roce) => roce.ip_at,
            Seen::Tcp(tcp) => tcp.ip_at,
            other => panic!("{other:?}"),
        };
        for ecn in ECN {
            set_ecn(&mut bytes_then, ip_at, ecn).unwrap();
            frame.ecn = ecn;
            assert_eq!(bytes_then, bytes(&frame), "as if it had been sent with {ecn:?}");
        }
    }
    assert_eq!(set_ecn(&mut [0; 33], 14, Ecn::Ce), Err(Malformed::Short));
    assert_eq!(set_ecn(&mut [0; 33], usize::MAX, Ecn::Ce), Err(Malformed::Short));
}

#[test]
fn a_switch_writes_telemetry_as_the_encoder_does() {
    let mut longer = stack();
    longer.push(longer.hops()[0]);
    (longer.tag, longer.flow_queue_bytes) = (9, 70_000);
    for format in formats().into_iter().filter(|format| format.int) {
        let mut written = data(format);
        let mut changed = bytes(&frame(DATA, Ecn::Ect0, 1100, Body::Data(written.clone())));
        let seen = roce(&changed);
        set_telemetry(&mut changed, &seen, &longer, None).unwrap();
        written.int = Some(Box::new(longer));
        assert_eq!(changed, bytes(&frame(DATA, Ecn::Ect0, 1100, Body::Data(written))));
        let read = telemetry_of(&changed, &roce(&changed), None).unwrap();
        let (records, rest) = match seen.code {
            1 => ((3, 0xabc), (0, 0)),
            2 => ((3, 0xabc), (9, 70_000)),
            _ => ((0, 0), (9, 0)),
        };
        assert_eq!((read.hops().len(), read.path()), records);
        assert_eq!((read.tag, read.flow_queue_bytes), rest);
        // Not into another frame, nor into one without room.
        assert_eq!(set_telemetry(&mut changed[..60], &seen, &longer, None), Err(Malformed::Short));
    }
    let mut plain = bytes(&frame(DATA, Ecn::Ect0, 1100, Body::Data(data(Format::default()))));
    let seen = roce(&plain);
    assert_eq!(set_telemetry(&mut plain, &seen, &longer, None), Err(Malformed::Content));
}

#[test]
fn the_time_of_sending_is_in_stamped_packets_and_in_their_replies() {
    let stamped = formats()[2];
    for body in [Body::Data(data(stamped)), Body::Reply(reply(stamped))] {
        let bytes = bytes(&frame(DATA, Ecn::Ect0, 1100, body));
        let content = content_of(&bytes, &decode(&bytes).unwrap());
        assert_eq!((content.code, content.bytes), (3, 3000u64.to_be_bytes().to_vec()));
        assert_eq!(stamp_of(&bytes, &roce(&bytes)), Some(Time::from_us(3)));
    }
}

#[test]
fn an_echo_gives_the_field_of_the_packet_that_is_answered() {
    assert_eq!(Echo::Unmarked.ecn(Ecn::Ect0), Ecn::Ect0);
    assert_eq!(Echo::Ce.ecn(Ecn::Ect1), Ecn::Ce);
    assert_eq!((Echo::Other.ecn(Ecn::Ect1), Echo::Other.ecn(Ecn::Ect0)), (Ecn::Ect0, Ecn::Ect1));
}

#[test]
fn a_trimmed_packet_keeps_its_headers() {
    let whole = bytes(&frame(DATA, Ecn::Ect0, 1062, Body::Data(data(Format::default()))));
    let cut = Data { whole_frame_bytes: Some(1062), ..data(Format::default()) };
    let cut = bytes(&frame(CONTROL, Ecn::Ect0, 64, Body::Data(cut)));
    assert_eq!((cut.len(), decode(&cut)), (60, Err(Malformed::Trimmed)));
    // IP says what is left, UDP what there was; the priority is that of the class it travels in.
    assert_eq!(u16::from_be_bytes([cut[16], cut[17]]), 46);
    assert_eq!((cut[15] >> 5, whole[15] >> 5), (6, 3));
    assert_eq!(cut[26..60], whole[26..60], "addresses, UDP, BTH and what follows");
}
