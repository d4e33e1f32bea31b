//! Worked numbers of transports, without a network.

mod selective;

use super::messages::Cut;
use super::*;
use xoff_engine::Span;

const RTO: Span = Span::from_us(100);

fn us(at: u64) -> Time {
    Time::from_us(at)
}

fn conditions<'a>(format: &'a Format, host: &'a HostSettings) -> Conditions<'a> {
    Conditions {
        format,
        sender: host,
        receiver: host,
        base_rtt: Span::from_us(10),
        max_bdp_bytes: 12_984,
        full_wire_bytes: 1082,
        lossless: false,
    }
}

/// Both ends of a flow of packets of 1000 bytes, and the packets that are under way.
struct Flow {
    requester: Requester,
    responder: Responder,
}

impl Flow {
    fn new(format: Format, ack_every: u32, size_bytes: impl Into<Option<u64>>) -> Flow {
        let host = HostSettings { ack_every, nak_interval: Span::from_us(50), ..HostSettings::default() };
        let (packets, short) = Stream::packets(size_bytes.into(), 1000);
        let stream = || Stream::new(packets, 1000, short);
        let host = HostSettings { retransmit_timeout: RTO, ..host };
        let conditions = conditions(&format, &host);
        Flow { requester: Requester::new(&conditions, stream()), responder: Responder::new(&format, &host, stream()) }
    }

    fn tcp(ack_every: u32) -> Flow {
        let ack_timeout = Span::from_us(40);
        Flow::new(Format { transport: Transport::Tcp, ack_every, ack_timeout, ..Format::default() }, 1, 20_000)
    }

    /// Packets that leave at an instant until the window closes or `most` have left.
    fn send(&mut self, now: Time, most: usize) -> Vec<Outgoing> {
        let mut sent = Vec::new();
        while sent.len() < most && self.requester.has_data() && self.requester.may_send() {
            sent.push(self.requester.next(now));
        }
        sent
    }

    fn receive(&mut self, now: Time, psn: u32) -> Taken {
        self.receive_marked(now, psn, Ecn::Ect0)
    }

    /// A packet that left when it arrives, so that an echo names the packet.
    fn receive_marked(&mut self, now: Time, psn: u32, ecn: Ecn) -> Taken {
        let echo = Echo { sent_at: now, ecn, resent: false };
        self.responder.on_data(now, &Arrival { psn, requests_ack: true, echo })
    }

    fn ack(&mut self, now: Time, expected: u32) -> Progress {
        self.requester.on_ack(now, &Ack { expected, selective: None, nak: false, resent: false })
    }
}

fn psns(sent: &[Outgoing]) -> Vec<u32> {
    sent.iter().map(|packet| packet.psn).collect()
}

#[test]
fn a_gap_is_named_once_per_interval_and_sent_again_with_all_behind_it() {
    let mut flow = Flow::new(Format::default(), 1, 20_000);
    assert_eq!(psns(&flow.send(us(1), 10)), (0..10).collect::<Vec<_>>());
    for psn in 0..5 {
        let taken = flow.receive(us(2), psn);
        assert_eq!((taken.kept, taken.delivered_bytes, taken.answer.unwrap().ack.expected), (true, 1000, psn + 1));
    }
    // Packet 5 is lost: 6 names it, 7 comes within the interval of 50 us, 8 after it.
    let named = flow.receive(us(3), 6);
    let nak = Ack { expected: 5, selective: None, nak: true, resent: false };
    assert_eq!((named.kept, named.answer.map(|answer| answer.ack)), (false, Some(nak)));
    assert_eq!(flow.receive(us(52), 7).answer, None);
    assert_eq!(flow.receive(us(53), 8).answer.map(|answer| answer.ack), Some(nak));
    // A copy of what is there is acknowledged again.
    let copy = flow.receive(us(54), 2);
    assert_eq!((copy.kept, copy.answer.map(|answer| (answer.ack.expected, answer.ack.nak))), (false, Some((5, false))));

    let progress = flow.requester.on_ack(us(60), &nak);
    assert_eq!((progress.bytes, progress.sent_bytes, progress.lost), (5000, 10_000, Some(Loss::Nak)));
    assert_eq!((flow.requester.in_flight_bytes(), flow.requester.seq.deadline), (0, Time::NEVER));
    let again = flow.send(us(61), 6);
    assert_eq!(psns(&again), [5, 6, 7, 8, 9, 10]);
    assert_eq!(again.iter().filter(|packet| packet.resent).count(), 5, "10 is new");
    assert_eq!(flow.requester.seq.deadline, us(61) + RTO);
}

#[test]
fn a_timer_runs_while_packets_are_outstanding_and_goes_back() {
    let mut flow = Flow::new(Format::default(), 1, 3000);
    flow.send(us(0), 3);
    assert_eq!(flow.ack(us(10), 1).bytes, 1000);
    assert_eq!(flow.requester.seq.deadline, us(110), "an ACK that moves restarts it");
    assert_eq!(flow.ack(us(20), 1).bytes, 0);
    assert_eq!(flow.requester.seq.deadline, us(110), "another does not");
    assert_eq!(flow.requester.on_timeout(us(110)), Some(TimedOut { psn: 1, bytes: 0 }));
    assert_eq!(psns(&flow.send(us(110), 9)), [1, 2]);
    assert_eq!(flow.ack(us(120), 3).acked_bytes, 3000);
    assert_eq!(flow.requester.seq.deadline, Time::NEVER);
    assert!(!flow.requester.seq.is_unfinished());
}

#[test]
fn a_window_bounds_what_is_in_flight_and_its_last_packet_requests_an_ack() {
    let mut flow = Flow::new(Format::default(), 64, 50_500);
    flow.requester.set_window(3000);
    let sent = flow.send(us(0), 99);
    assert_eq!(psns(&sent), [0, 1, 2]);
    assert!(sent[2].requests_ack);
    // One more packet leaves if the window shrinks over packets of which none requests an ACK.
    let mut flow = Flow::new(Format::default(), 64, 50_500);
    assert!(flow.send(us(0), 10).iter().all(|packet| !packet.requests_ack));
    flow.requester.set_window(1000);
    assert_eq!(flow.send(us(1), 99), [Outgoing { psn: 10, resent: false, requests_ack: true }]);
    // A window below one packet lets a lone packet go, and 500 bytes end the flow.
    flow.ack(us(2), 50);
    flow.requester.set_window(1);
    assert_eq!(flow.send(us(3), 99), [Outgoing { psn: 50, resent: false, requests_ack: true }]);
    assert_eq!((flow.requester.in_flight_bytes(), flow.ack(us(4), 51).acked_bytes), (500, 50_500));
}

#[test]
fn messages_end_with_a_requested_ack_and_complete_in_order_at_both_ends() {
    let mut flow = Flow::new(Format::default(), 64, None);
    flow.requester.seq.offer(0);
    assert!(!flow.requester.has_data());
    for (bytes, name) in [(1500, 7), (700, 8)] {
        let cut = Cut { mtu_bytes: 1000, header_bytes: 62, min_frame_bytes: 84 };
        flow.requester.seq.add_message(bytes, name, cut);
        flow.responder.seq.expect(bytes, name);
    }
    let requests: Vec<bool> = flow.send(us(0), 99).iter().map(|packet| packet.requests_ack).collect();
    assert_eq!(requests, [false, true, true]);
    let bytes: Vec<(u64, bool)> =
        (0..3).map(|psn| flow.receive(us(1), psn)).map(|taken| (taken.delivered_bytes, taken.completes)).collect();
    assert_eq!(bytes, [(1000, false), (500, true), (700, true)]);
    assert_eq!([(); 3].map(|()| flow.responder.complete_message()), [Some(7), Some(8), None]);
    assert_eq!(flow.ack(us(2), 2).bytes, 1500);
    assert_eq!([(); 2].map(|()| flow.requester.seq.complete_message(false)), [Some(7), None]);
    assert_eq!(flow.ack(us(3), 3).bytes, 700);
    assert_eq!(flow.requester.seq.complete_message(false), Some(8));
}

#[test]
fn three_duplicate_acks_let_the_oldest_packet_go_whatever_the_window() {
    let mut flow = Flow::tcp(1);
    flow.requester.set_window(5000);
    assert_eq!(flow.send(us(0), 99).len(), 5);
    flow.receive(us(1), 0);
    // Packet 1 is lost: each packet behind it is kept and answered at once.
    for psn in [2, 3, 4] {
        let taken = flow.receive(us(2), psn);
        assert_eq!((taken.kept, taken.delivered_bytes, taken.answer.unwrap().ack.expected), (true, 0, 1));
    }
    assert_eq!(flow.ack(us(3), 1).bytes, 1000);
    assert_eq!(psns(&flow.send(us(3), 99)), [5]);
    for _ in 0..3 {
        let progress = flow.ack(us(4), 1);
        assert_eq!((progress.duplicate, progress.bytes), (true, 0));
    }
    assert!(flow.send(us(4), 99).is_empty(), "the window is full");
    assert!(flow.requester.recover(Resend::Oldest));
    let again = flow.send(us(5), 99);
    assert_eq!((psns(&again), again[0].resent), (vec![1], true));
    // It closes the gap of 1 to 4.
    let taken = flow.receive(us(6), 1);
    assert_eq!((taken.delivered_bytes, taken.answer.unwrap().ack.expected), (4000, 5));
    assert_eq!(flow.ack(us(7), 5).bytes, 4000);
    assert_eq!(psns(&flow.send(us(7), 99)), [6, 7, 8, 9]);
    // A time-out of the reaction point goes back within the window.
    assert!(flow.requester.recover(Resend::All));
    assert_eq!(psns(&flow.send(us(8), 99)), [5, 6, 7, 8, 9]);
    assert_eq!(flow.requester.seq.deadline, Time::NEVER, "the reaction point has timers of its own");
}

#[test]
fn an_ack_that_arrives_late_cancels_a_retransmission() {
    let mut flow = Flow::tcp(1);
    flow.send(us(0), 3);
    assert!(flow.requester.recover(Resend::Oldest));
    flow.ack(us(1), 1);
    assert_eq!(psns(&flow.send(us(2), 1)), [3]);
    flow.ack(us(3), 4);
    assert!(!flow.requester.recover(Resend::Oldest), "nothing is outstanding");
}

#[test]
fn a_delayed_ack_waits_for_a_second_packet_or_40_us_and_for_one_mark() {
    let mut flow = Flow::tcp(2);
    let said = |answer: Option<Answer>| answer.map(|answer| (answer.ack.expected, answer.sent_at, answer.ecn));
    assert_eq!(flow.receive(us(1), 0).answer, None);
    assert_eq!(flow.responder.deadline(), us(41));
    // The second packet lets it go; it echoes the first one's departure.
    assert_eq!(said(flow.receive(us(2), 1).answer), Some((2, us(1), Ecn::Ect0)));
    assert_eq!(flow.responder.deadline(), Time::NEVER);
    flow.receive(us(3), 2);
    assert_eq!(said(flow.responder.on_deadline()), Some((3, us(3), Ecn::Ect0)));
    assert_eq!(flow.responder.on_deadline(), None);
    // A packet with another mark does not share an ACK with the one that waits.
    flow.receive(us(50), 3);
    let marked = flow.receive_marked(us(51), 4, Ecn::Ce);
    assert_eq!((said(marked.earlier), marked.answer), (Some((4, us(50), Ecn::Ect0)), None));
    assert_eq!(said(flow.receive_marked(us(52), 5, Ecn::Ce).answer), Some((6, us(51), Ecn::Ce)));
    // Each packet behind a gap is answered at once.
    assert_eq!(said(flow.receive(us(60), 7).answer), Some((6, us(60), Ecn::Ect0)));
    assert_eq!(said(flow.receive(us(61), 6).answer), Some((8, us(61), Ecn::Ect0)));
    assert_eq!(flow.receive(us(62), 8).answer, None, "no gap is left");
}

#[test]
fn a_roce_receiver_that_reorders_answers_requests_and_never_sends_a_nak() {
    let mut flow = Flow::new(Format { reorder: true, ..Format::default() }, 1, 4000);
    let ahead = flow.receive(us(1), 1);
    assert_eq!(
        (ahead.kept, ahead.answer.map(|answer| (answer.ack.expected, answer.ack.nak))),
        (true, Some((0, false)))
    );
    assert_eq!(flow.receive(us(2), 0).delivered_bytes, 2000);
    assert_eq!(flow.requester.headers(), Transport::Roce);
    // What arrives at a closed receiver is discarded.
    flow.responder.close();
    assert_eq!(flow.receive(us(3), 2), Taken::discarded(None));
}
