//! Selective recovery in slots: a packet leaves per slot of a microsecond, a round trip takes ten.

use super::*;
use crate::network::plan::{Irn, Recovery};

/// Transmissions of packets that do not arrive as usual.
#[derive(Default)]
struct Mishaps {
    /// Packets, and how many of their copies are lost.
    lost: &'static [(u32, u32)],
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

/// Runs a flow of 20 packets, of which 12 may be outstanding.
fn run(recovery: Recovery, mishaps: &Mishaps) -> Trace {
    let host = HostSettings { recovery, retransmit_timeout: RTO, ..HostSettings::default() };
    let (format, stream) = (Format::default(), || Stream::new(20, 1000, 0));
    let mut requester = Requester::new(&conditions(&format, &host), stream());
    let mut responder = Responder::new(&format, &host, stream());
    let (mut data, mut answers): (Vec<(u64, Arrival)>, Vec<(u64, Answer)>) = Default::default();
    let (mut trace, mut copies) = (Trace::default(), [0; 20]);
    for slot in 0..1000 {
        let now = us(slot);
        for (_, packet) in data.extract_if(.., |(at, _)| *at == slot) {
            let taken = responder.receive(now, &packet, &mut trace.counts);
            answers.extend(taken.answer.map(|answer| (slot + 5, answer)));
        }
        for (_, answer) in answers.extract_if(.., |(at, _)| *at == slot) {
            requester.on_ack(now, &answer.ack);
            trace.end = slot;
        }
        if !requester.seq.is_unfinished() {
            break;
        }
        if requester.seq.deadline <= now {
            trace.counts.timeouts += u32::from(requester.on_timeout(now));
        }
        if requester.has_data() && requester.may_send() {
            let Outgoing { psn, resent, requests_ack } = requester.next(now);
            trace.resent.extend(resent.then_some((slot, psn)));
            copies[psn as usize] += 1;
            let of = |list: &[(u32, u32)]| list.iter().find(|(of, _)| *of == psn).map_or(0, |(_, count)| *count);
            let late = mishaps.late.iter().find(|(of, _)| *of == psn && !resent).map_or(0, |(_, slots)| *slots);
            if copies[psn as usize] > of(mishaps.lost) {
                let echo = Echo { sent_at: now, ecn: Ecn::Ect0, resent };
                data.push((slot + 5 + late, Arrival { psn, requests_ack, echo }));
            }
        }
        assert!(requester.in_flight_bytes() <= 12_000, "the cap holds");
    }
    assert!(!requester.seq.is_unfinished() && responder.seq.delivered_bytes == 20_000);
    trace
}

fn irn(lost: &'static [(u32, u32)], late: &'static [(u32, u64)]) -> Trace {
    run(Recovery::Irn(Irn::PAPER), &Mishaps { lost, late })
}

fn trace(resent: &[(u64, u32)], [timeouts, naks, duplicates, held]: [u32; 4], end: u64) -> Trace {
    let counts = RecoveryRecord { timeouts, naks, duplicates, held_packets_max: held };
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
