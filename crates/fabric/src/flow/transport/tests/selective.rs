//! Selective recovery in slots: a packet leaves per slot of a microsecond, a round trip takes ten.

use super::*;
use crate::network::plan::{Irn, Recovery, Sack};

/// Transmissions of packets that do not arrive as usual.
#[derive(Default)]
struct Mishaps {
    /// Packets, and how many of their copies are lost.
    lost: &'static [(u32, u32)],
    /// Packets, and how many of their copies a switch trims.
    trimmed: &'static [(u32, u32)],
    /// Slots by which the first copy of a packet is late.
    late: &'static [(u32, u64)],
}

/// What happened until all was acknowledged.
#[derive(Default, PartialEq, Eq, Debug)]
struct Trace {
    /// Slots of packets that were sent again.
    resent: Vec<(u64, u32)>,
    counts: RecoveryRecord,
    /// Slot of the last ACK.
    end: u64,
}

/// Runs a flow of so many packets.
fn run(recovery: Recovery, mishaps: &Mishaps, packets: u32) -> Trace {
    let host = HostSettings { recovery, retransmit_timeout: RTO, ..HostSettings::default() };
    let (format, stream) = (Format::default(), || Stream::new(packets, 1000, 0));
    let mut requester = Requester::new(&conditions(&format, &host), stream());
    let mut responder = Responder::new(&format, &host, stream());
    let mut data: Vec<(u64, Arrival, bool)> = Vec::new();
    let mut answers: Vec<(u64, Answer)> = Vec::new();
    let (mut trace, mut copies) = (Trace::default(), vec![0; packets as usize]);
    for slot in 0..1000 {
        let now = us(slot);
        for (_, packet, trimmed) in data.extract_if(.., |(at, ..)| *at == slot) {
            let counts = &mut trace.counts;
            let answer = match trimmed {
                true => responder.on_trimmed(packet.psn, packet.echo, counts),
                false => responder.receive(now, &packet, counts).answer,
            };
            answers.extend(answer.map(|answer| (slot + 5, answer)));
        }
        for (_, answer) in answers.extract_if(.., |(at, _)| *at == slot) {
            requester.on_ack(now, &answer.ack);
            trace.end = slot;
        }
        if !requester.seq.is_unfinished() {
            break;
        }
        while requester.seq.deadline <= now {
            trace.counts.timeouts += u32::from(requester.on_timeout(now).is_some());
        }
        if requester.has_data() && requester.may_send() {
            let Outgoing { psn, resent, requests_ack } = requester.next(now);
            trace.resent.extend(resent.then_some((slot, psn)));
            copies[psn as usize] += 1;
            let of = |list: &[(u32, u32)]| list.iter().find(|(of, _)| *of == psn).map_or(0, |(_, count)| *count);
            let late = mishaps.late.iter().find(|(of, _)| *of == psn && !resent).map_or(0, |(_, slots)| *slots);
            if copies[psn as usize] > of(mishaps.lost) {
                let echo = Echo { sent_at: now, ecn: Ecn::Ect0, resent };
                let trimmed = copies[psn as usize] <= of(mishaps.trimmed);
                data.push((slot + 5 + late, Arrival { psn, requests_ack, echo }, trimmed));
            }
        }
        let most = if matches!(recovery, Recovery::Irn(_)) { 12_000 } else { u64::MAX };
        assert!(requester.in_flight_bytes() <= most, "the cap holds");
    }
    assert!(!requester.seq.is_unfinished() && responder.seq.delivered_bytes == u64::from(packets) * 1000);
    assert_eq!(requester.in_flight_bytes(), 0);
    trace
}

fn irn(lost: &'static [(u32, u32)], late: &'static [(u32, u64)]) -> Trace {
    run(Recovery::Irn(Irn::PAPER), &Mishaps { lost, late, ..Mishaps::default() }, 20)
}

fn trace(resent: &[(u64, u32)], [timeouts, naks, duplicates, held]: [u32; 4], end: u64) -> Trace {
    let counts = RecoveryRecord { timeouts, naks, duplicates, trimmed: 0, held_packets_max: held };
    Trace { resent: resent.to_vec(), counts, end }
}

#[test]
fn irn_resends_each_lost_packet_once_and_tails_after_the_short_timeout() {
    assert_eq!(irn(&[], &[]), trace(&[], [0, 0, 0, 0], 29));
    assert_eq!(irn(&[(5, 1)], &[]), trace(&[(16, 5)], [0, 10, 0, 10], 38));
    // The authors' NIC resends packet 8 a slot later, at its next free slot.
    assert_eq!(irn(&[(5, 1), (8, 1)], &[]), trace(&[(16, 5), (19, 8)], [0, 10, 0, 9], 38));
    assert_eq!(irn(&[(19, 1)], &[]), trace(&[(128, 19)], [1, 0, 0, 0], 138));
    let tail = [(126, 17), (136, 18), (146, 19)];
    assert_eq!(irn(&[(17, 1), (18, 1), (19, 1)], &[]), trace(&tail, [1, 0, 0, 0], 156));
}

#[test]
fn irn_waits_for_the_long_timeout_with_more_than_three_packets_outstanding() {
    assert_eq!(irn(&[(5, 2)], &[]), trace(&[(16, 5), (347, 5)], [1, 11, 0, 11], 369));
}

#[test]
fn irn_takes_reordering_for_loss() {
    let again = [(16, 5), (19, 10), (20, 11), (21, 12), (22, 13), (23, 14), (24, 15), (25, 16)];
    let late = irn(&[], &[(5, 4)]);
    assert_eq!((late.resent.as_slice(), late.counts.naks, late.counts.duplicates, late.end), (&again[..], 3, 8, 38));
    let late = irn(&[], &[(5, 12)]);
    assert_eq!(
        (late.resent.as_slice(), late.counts.naks, late.counts.duplicates, late.end),
        (&[(16, 5)][..], 10, 1, 38)
    );
}

#[test]
fn irn_has_the_timer_of_go_back_n_in_a_lossless_class() {
    let host = HostSettings { recovery: Recovery::Irn(Irn::PAPER), ..HostSettings::default() };
    let format = Format::default();
    let conditions = Conditions { lossless: true, ..conditions(&format, &host) };
    let mut requester = Requester::new(&conditions, Stream::new(20, 1000, 0));
    requester.next(us(0));
    assert_eq!(requester.seq.deadline, us(10_000));
}

/// Selective acknowledgements, with an ACK per packet.
fn sack(mishaps: Mishaps) -> Trace {
    run(Recovery::Sack(Sack { ack_bytes: 1000, sleek: true }), &mishaps, 20)
}

#[test]
fn a_trimmed_packet_is_resent_when_its_nack_arrives() {
    let trimmed = |trimmed| sack(Mishaps { trimmed, ..Mishaps::default() });
    let of = |trace: Trace| (trace.resent, trace.counts.naks, trace.counts.trimmed, trace.end);
    assert_eq!(of(trimmed(&[])), (vec![], 0, 0, 29));
    assert_eq!(of(trimmed(&[(5, 1)])), (vec![(15, 5)], 1, 1, 30));
    assert_eq!(of(trimmed(&[(5, 1), (8, 1)])), (vec![(15, 5), (18, 8)], 2, 2, 31));
    // No timer is needed for a tail.
    assert_eq!(of(trimmed(&[(19, 1)])), (vec![(29, 19)], 1, 1, 39));
    assert_eq!(of(trimmed(&[(5, 2)])), (vec![(15, 5), (25, 5)], 2, 2, 35));
}

#[test]
fn reordering_alone_resends_nothing() {
    for late in [&[(5, 4)][..], &[(5, 12)], &[(0, 9), (3, 15), (4, 14), (11, 1)]] {
        let trace = sack(Mishaps { late, ..Mishaps::default() });
        assert_eq!((trace.resent, trace.counts.duplicates, trace.counts.naks), (vec![], 0, 0), "{late:?}");
    }
}

#[test]
fn a_lost_packet_has_a_timer_of_its_own_that_doubles() {
    // Nothing says that a packet is lost but its timer of 100 us, then 200 us.
    let lost = |lost| sack(Mishaps { lost, ..Mishaps::default() });
    let (one, two) = (lost(&[(5, 1), (9, 1)]), lost(&[(5, 2)]));
    assert_eq!((one.resent, one.counts.timeouts, one.end), (vec![(105, 5), (109, 9)], 2, 119));
    assert_eq!((two.resent, two.counts.timeouts, two.end), (vec![(105, 5), (305, 5)], 2, 315));
}

#[test]
fn a_window_of_packets_beyond_a_gap_means_a_loss() {
    // One and a half bandwidth-delay products are 19,476 bytes: 19 packets. Packet 24 is the 19th beyond packet 5.
    let mishaps = Mishaps { lost: &[(5, 1)], ..Mishaps::default() };
    let trace = run(Recovery::Sack(Sack { ack_bytes: 1000, sleek: true }), &mishaps, 60);
    assert_eq!((trace.resent, trace.counts.timeouts, trace.counts.duplicates), (vec![(34, 5)], 0, 0));
    // UEC's simulator prints 42 packets for a window of 175,284 bytes and payloads of 4086.
    assert_eq!(175_284 / 4086, 42);
}

#[test]
fn packets_share_an_ack_until_one_asks() {
    let host =
        HostSettings { recovery: Recovery::Sack(Sack { ack_bytes: 4000, sleek: true }), ..HostSettings::default() };
    let mut responder = Responder::new(&Format::default(), &host, Stream::new(40, 1000, 0));
    let mut counts = RecoveryRecord::default();
    let mut receive = |psn, requests_ack, ecn| {
        let echo = Echo { sent_at: us(psn), ecn, resent: false };
        let answer = responder.receive(us(psn), &Arrival { psn: psn as u32, requests_ack, echo }, &mut counts).answer;
        answer.map(|answer| (answer.ack.expected, answer.ack.selective.map(|of| (of.psn, of.received))))
    };
    let plain = Ecn::Ect0;
    assert_eq!(receive(0, false, plain), Some((1, None)), "the first packet ever");
    assert_eq!([1, 2, 3].map(|psn| receive(psn, false, plain)), [None; 3]);
    assert_eq!(receive(4, false, plain), Some((5, None)), "4000 bytes");
    assert_eq!(receive(5, false, Ecn::Ce), Some((6, None)), "a mark");
    // Packet 6 is missing: bit 0 is packet 7.
    assert_eq!([7, 8].map(|psn| receive(psn, false, plain)), [None; 2]);
    assert_eq!(receive(9, true, plain), Some((6, Some((9, 0b111)))), "AckReq");
    assert_eq!(receive(6, false, plain), Some((10, None)), "the gap closes after an AckReq");
    assert_eq!(receive(6, false, plain), Some((10, None)), "a copy");
    assert_eq!(counts, RecoveryRecord { duplicates: 1, held_packets_max: 3, ..RecoveryRecord::default() });
}

#[test]
fn a_window_that_shrinks_over_packets_without_ack_req_sends_one_more() {
    let host = HostSettings { recovery: Recovery::Sack(Sack::UEC), ..HostSettings::default() };
    let format = Format::default();
    let mut requester = Requester::new(&conditions(&format, &host), Stream::new(40, 1000, 0));
    requester.set_window(20_000);
    assert!((0..3).all(|psn| !requester.next(us(psn)).requests_ack));
    requester.set_window(1000);
    assert!(requester.may_send());
    assert_eq!(requester.next(us(3)), Outgoing { psn: 3, resent: false, requests_ack: true });
    assert!(!requester.may_send());
    // That one was trimmed. The NAK reports packets 1 and 2; packet 0 is in flight, and packet 3 leaves again.
    let trimmed = Selective { psn: 3, received: 0b11 };
    let nak = Ack { expected: 0, selective: Some(trimmed), nak: true, resent: false };
    assert_eq!(requester.on_ack(us(13), &nak).lost, Some(Loss::Trimmed));
    assert_eq!((requester.in_flight_bytes(), requester.may_send()), (1000, true));
    assert_eq!(requester.next(us(14)), Outgoing { psn: 3, resent: true, requests_ack: true });
    assert!(!requester.may_send());
}
