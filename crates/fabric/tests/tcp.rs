//! TCP transport: frames, receivers that take any order, delayed ACKs, resending on request.

use crate::common::*;
use crate::scripted::{QueuePoint, Scripted, World};
use std::sync::{Arc, Mutex};
use xoff_engine::{Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::plan::*;
use xoff_fabric::scheme::*;
use xoff_fabric::traffic::{Action, FlowSpec, Source};

/// What the sender saw of one ACK.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Seen {
    at: Time,
    acked_bytes: u64,
    bytes: u64,
    marked: bool,
    duplicate: bool,
    resent: bool,
    rtt: Span,
}

/// A fixed window; sends again what it is told to, after so many duplicates or so long.
#[derive(Clone)]
struct Toy {
    format: Format,
    window_bytes: u64,
    /// The numbers of the packets that the switch marks.
    marked: Vec<u32>,
    /// Ask for the oldest at this many duplicates.
    duplicates: u32,
    timeout: Option<Span>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Toy {
    fn new() -> Toy {
        Toy {
            format: Format { transport: Transport::Tcp, ..Format::default() },
            window_bytes: 10_000,
            marked: Vec::new(),
            duplicates: 3,
            timeout: None,
            seen: Default::default(),
        }
    }

    fn scheme(&self) -> Scripted {
        let (toy, marked) = (self.clone(), self.marked.clone());
        Scripted::with(move |_| Rp { toy: toy.clone(), duplicates: 0, ask: Resend::Nothing, timer: None })
            .cp(move || Cp(marked.clone(), 0))
            .format(self.format)
    }
}

struct Cp(Vec<u32>, u32);
struct Rp {
    toy: Toy,
    duplicates: u32,
    ask: Resend,
    timer: Option<Time>,
}

impl QueuePoint for Cp {
    fn hooks(&self) -> Hooks {
        Hooks::ENQUEUE
    }
    fn on_enqueue(&mut self, _: &QueueView, _: &PacketFacts, _: u16, mark: Mark<'_>, _: &mut dyn FnMut(u32, u64)) {
        if self.0.contains(&self.1) {
            mark.ecn.mark();
        }
        self.1 += 1;
    }
}
impl ReactionPoint for Rp {
    type Feedback = u64;
    fn limits(&self) -> Limits {
        Limits { rate_bps: 1e12, window_bytes: self.toy.window_bytes }
    }
    fn on_sent(&mut self, now: Time, _: u32) {
        self.timer = self.timer.or(self.toy.timeout.map(|after| now + after));
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        self.toy.seen.lock().unwrap().push(Seen {
            at: ack.now,
            acked_bytes: ack.acked_bytes,
            bytes: ack.bytes,
            marked: ack.ecn == Ecn::Ce,
            duplicate: ack.duplicate,
            resent: ack.resent,
            rtt: ack.rtt,
        });
        self.duplicates = if ack.duplicate { self.duplicates + 1 } else { 0 };
        if ack.duplicate && self.duplicates == self.toy.duplicates {
            self.ask = Resend::Oldest;
        }
        if ack.acked_bytes == ack.sent_bytes {
            self.timer = None;
        }
    }
    fn resend(&mut self, out: &Outstanding) -> Resend {
        assert!(out.acked_bytes <= out.sent_bytes && out.sent_bytes <= out.highest_bytes);
        std::mem::replace(&mut self.ask, Resend::Nothing)
    }
    fn on_timer(&mut self, now: Time) {
        self.ask = Resend::All;
        self.timer = self.toy.timeout.map(|after| now + after);
    }
    fn timer(&self) -> Option<Time> {
        self.timer
    }
}
/// Runs to the end; packets must be conserved and nothing be left.
fn run(net: Net, toy: &Toy, flows: Vec<(Time, FlowSpec)>) -> (World, Vec<Seen>) {
    let world = net.run_under(toy.scheme(), Script::flows(flows));
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    let seen = toy.seen.lock().unwrap().clone();
    (world, seen)
}

/// Loses packets on the first link in the given spans.
fn losing(net: &mut Net, spans: &[(Time, Time)]) {
    for &(from, until) in spans {
        for (at, loss) in [(from, 1.0), (until, 0.0)] {
            net.plan.faults.push(Fault { at, what: FaultKind::Loss { port: 0, loss } });
        }
    }
}

/// When packet `k` of the first burst reaches the switch: 1078 bytes each at 100 Gb/s, 1 us away.
fn arrival(k: u64) -> (Time, Time) {
    let at = 1_000_000 + (k + 1) * 1078 * 80;
    (Time::from_ps(at), Time::from_ps(at + 1))
}

#[test]
fn a_segment_and_its_ack_have_tcp_headers() {
    // 1000 + 58 + 20 bytes out and 64 + 20 back, over two links of 1 us each.
    let (world, seen) = run(Net::star(2, 100, Span::from_us(1)), &Toy::new(), vec![(Time::ZERO, flow(0, 1, 2, 1000))]);
    let rtt = Span::from_ps(4_000_000 + 2 * (1078 + 84) * 80);
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].rtt, seen[0].bytes), (rtt, 1000));
    assert_eq!(world.flows[0].base_rtt, rtt);
    assert_eq!(world.flows[0].delivered_at.unwrap() - Time::ZERO, world.flows[0].ideal);
}

#[test]
fn headroom_counts_tcp_headers_longer_than_roce_s() {
    // Two senders fill a paused switch with segments of 64 + 512 bytes; RoCE's would have 64 + 62.
    let mut net = Net::star(3, 100, Span::from_ns(1));
    net.plan.hosts[0].mtu_bytes = 64;
    net.plan.hosts[0].sizes.tcp_header_bytes = 512;
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 5_000, xon_bytes: 4_000 };
    let toy = Toy { window_bytes: 1 << 40, ..Toy::new() };
    let flows = vec![(Time::ZERO, flow(0, 2, 1, 64_000)), (Time::ZERO, flow(1, 3, 1, 64_000))];
    let (world, _) = run(net, &toy, flows);
    assert_eq!((world.counters.flows_completed, world.counters.drops_lossless), (2, 0));
    assert!(world.counters.pause_frames > 0);
}

#[test]
fn a_hole_is_kept_open_told_at_once_and_filled_by_one_packet() {
    let mut net = Net::star(2, 100, Span::from_us(1));
    losing(&mut net, &[arrival(5)]);
    let toy = Toy { window_bytes: 20_000, ..Toy::new() };
    let (world, seen) = run(net, &toy, vec![(Time::ZERO, flow(0, 1, 2, 19_500))]);
    assert_eq!((world.counters.drops_fault, world.counters.naks_sent, world.counters.timeouts), (1, 0, 0));
    assert_eq!(world.counters.data_packets_discarded, 1, "only what the wire lost");
    assert_eq!((world.flows[0].packets_sent, world.flows[0].packets_retransmitted), (21, 1));
    assert_eq!((world.flows[0].delivered_bytes, world.counters.data_packets_delivered), (19_500, 20));
    assert_eq!(seen.iter().filter(|ack| ack.duplicate).count(), 14, "packets 6 to 19, each answered");
    let last = seen.last().unwrap();
    assert_eq!((last.acked_bytes, last.bytes, last.resent), (19_500, 14_500, true), "one ACK for all that was kept");
    assert!(seen[..seen.len() - 1].iter().all(|ack| !ack.resent));
}

#[test]
fn going_back_counts_as_a_timeout_and_sends_within_the_window() {
    let mut net = Net::star(2, 100, Span::from_us(1));
    losing(&mut net, &[(Time::ZERO, Time::from_us(50))]);
    // Longer than a stall may last: the flow will move by itself.
    net.plan.run.stall_after = Some(Span::from_ms(5));
    let toy = Toy { timeout: Some(Span::from_ms(100)), ..Toy::new() };
    let (world, _) = run(net, &toy, vec![(Time::ZERO, flow(0, 1, 2, 30_000))]);
    let record = &world.flows[0];
    assert_eq!((record.recovery.timeouts, world.counters.timeouts), (1, 1));
    assert_eq!((record.packets_retransmitted, record.packets_sent), (10, 40));
    assert!(record.delivered_at.unwrap() > Time::from_ms(100));
    assert_eq!(world.flows_in_flight(), 0);
}

#[test]
fn delayed_acks_echo_marks_exactly() {
    // Marks 0 0 1 1 0 with two packets per ACK: ACK 2 unmarked, ACK 4 marked, ACK 5 unmarked. A
    // change of mark answers what waits first: 0 1 1 0 0 gives ACK 1, 3, 5.
    for (marked, expected) in [
        (vec![2, 3], vec![(2000, false), (4000, true), (5000, false)]),
        (vec![1, 2], vec![(1000, false), (3000, true), (5000, false)]),
        (vec![], vec![(2000, false), (4000, false), (5000, false)]),
    ] {
        let mut toy = Toy { marked, ..Toy::new() };
        toy.format.ack_every = 2;
        let (world, seen) = run(Net::star(2, 100, Span::from_us(1)), &toy, vec![(Time::ZERO, flow(0, 1, 2, 5000))]);
        let acks: Vec<_> = seen.iter().map(|ack| (ack.acked_bytes, ack.marked)).collect();
        assert_eq!(acks, expected);
        assert_eq!(world.counters.acks_sent, 3);
        assert_eq!(world.flows_in_flight(), 0, "every slot is free once its packets are gone");
    }
}

#[test]
fn a_delayed_ack_does_not_wait_for_ever() {
    let mut toy = Toy { window_bytes: 1000, ..Toy::new() };
    toy.format.ack_every = 2;
    toy.format.ack_timeout = Span::from_us(300);
    let (_, seen) = run(Net::star(2, 100, Span::from_us(1)), &toy, vec![(Time::ZERO, flow(0, 1, 2, 4000))]);
    assert_eq!(seen.len(), 4);
    // The last packet of a flow is acknowledged at once.
    assert!(seen[..3].iter().all(|ack| ack.rtt > Span::from_us(300) && ack.rtt < Span::from_us(305)), "{seen:?}");
    assert!(seen[3].rtt < Span::from_us(5));
    // How a NIC spares ACKs of RoCE is nothing to TCP.
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.hosts[0].ack_every = 5;
    let toy = Toy::new();
    let (_, seen) = run(net, &toy, vec![(Time::ZERO, flow(0, 1, 2, 10_000))]);
    assert_eq!(seen.len(), 10);
}

/// A long way that is left for a short one in mid-flow, so that packets overtake each other.
fn overtaking() -> (Net, u32, u32) {
    let mut net = Net::new();
    let (a, b) = (net.host("a"), net.host("b"));
    let (left, right, far) = (net.switch("left"), net.switch("right"), net.switch("far"));
    net.link(a, left, 100, Span::from_us(1));
    net.link(b, right, 100, Span::from_us(1));
    let short = net.link(left, right, 100, Span::from_us(1));
    net.link(left, far, 100, Span::from_us(10));
    net.link(far, right, 100, Span::from_us(10));
    net.cut(short / 2, Time::ZERO, Time::from_us(100));
    (net, a, b)
}

#[test]
fn roce_receivers_may_take_any_order_too() {
    for reorder in [false, true] {
        let (net, a, b) = overtaking();
        let toy = Toy { format: Format { reorder, ..Format::default() }, window_bytes: u64::MAX, ..Toy::new() };
        let (world, seen) = run(net, &toy, vec![(Time::from_us(1), flow(0, a, b, 2_000_000))]);
        assert_eq!(world.counters.flows_completed, 1);
        assert_eq!(world.counters.drops_fault, 0, "nothing is lost");
        assert_eq!((world.counters.naks_sent > 0, world.flows[0].packets_retransmitted > 0), (!reorder, !reorder));
        assert!(!seen.iter().any(|ack| ack.duplicate), "a matter of TCP");
        if reorder {
            assert_eq!((world.counters.data_packets_delivered, world.counters.data_packets_discarded), (2000, 0));
        }
    }
}

#[test]
fn a_roce_receiver_of_any_order_still_finds_a_loss_by_the_timer() {
    let mut net = Net::star(2, 100, Span::from_us(1));
    // RoCE's frames have four bytes more.
    let at = 1_000_000 + 6 * 1082 * 80;
    losing(&mut net, &[(Time::from_ps(at), Time::from_ps(at + 1))]);
    let format = Format { reorder: true, ..Format::default() };
    let toy = Toy { format, window_bytes: u64::MAX, ..Toy::new() };
    let (world, _) = run(net, &toy, vec![(Time::ZERO, flow(0, 1, 2, 20_000))]);
    let record = &world.flows[0];
    assert_eq!((record.recovery.timeouts, world.counters.naks_sent), (1, 0));
    assert!(record.delivered_at.unwrap() > Time::from_ms(10));
    assert_eq!(record.delivered_bytes, 20_000);
}

#[test]
fn a_source_hears_when_what_it_offered_is_acknowledged() {
    struct Rounds(u32, Option<Time>, Arc<Mutex<Vec<Time>>>);
    impl Source for Rounds {
        fn next(&self) -> Option<Time> {
            self.1
        }
        fn act(&mut self, _: Time, out: &mut Vec<Action>) {
            self.1 = None;
            let spec = FlowSpec { offered_bytes: Some(20_000), ..endless(7, 1, 2) };
            out.push(match self.0 {
                0 => Action::Start(spec),
                1 | 2 => Action::Offer { handle: 7, bytes: 20_000 },
                _ => Action::Stop { handle: 7 },
            });
            self.0 += 1;
        }
        fn on_drained(&mut self, now: Time, handle: u32) {
            assert_eq!(handle, 7);
            self.2.lock().unwrap().push(now);
            self.1 = Some(now + Span::from_us(10));
        }
    }
    for transport in [Transport::Roce, Transport::Tcp] {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let source = Rounds(0, Some(Time::ZERO), heard.clone());
        let net = Net::star(2, 100, Span::from_us(1));
        let toy = Toy { format: Format { transport, ..Format::default() }, ..Toy::new() };
        let world = net.run_under(toy.scheme(), Box::new(source));
        assert!(world.failure.is_none(), "{:?}", world.failure);
        assert_eq!(world.counters.delivered_bytes, 60_000);
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 3, "once per offer");
        assert_eq!(heard[2] - heard[1], heard[1] - heard[0]);
    }
}
