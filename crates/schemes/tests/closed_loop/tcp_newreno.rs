//! TCP NewReno on real links: what a loss costs, reordering, and the incast collapse.

use crate::bench::*;
use crate::common::Script;
use std::sync::{Arc, Mutex};
use xoff_engine::{Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::plan::{Fault, FaultKind};
use xoff_fabric::scheme::Transport;
use xoff_fabric::simulation::Simulation;
use xoff_fabric::traffic::{Action, FlowSpec, Source};
use xoff_schemes::param::ParamValues;
use xoff_schemes::world;

const DELAY: Span = Span::from_us(25);
/// Wire time of a full segment at 1 Gb/s: 1000 + 58 + 20 bytes.
const SEGMENT: Span = Span::from_ns(1078 * 8);

/// Two hosts on a switch at 1 Gb/s, in a lossy class; 100 us of propagation there and back.
fn pair() -> Net {
    let mut net = Net::star(2, 1, DELAY);
    net.plan.classes.list[0].lossless = false;
    net
}

/// One flow of so many segments, first window of ten, while the sender's link loses everything that
/// arrives within the given spans.
fn with_losses(segments: u64, spans: &[(Time, Time)], texts: &[(&str, &str)]) -> Box<dyn Simulation> {
    let mut net = pair();
    for &(from, until) in spans {
        for (at, loss) in [(from, 1.0), (until, 0.0)] {
            net.plan.faults.push(Fault { at, what: FaultKind::Loss { port: 0, loss } });
        }
    }
    let texts: Vec<_> = [("initial_window", "10")].into_iter().chain(texts.iter().copied()).collect();
    let flows = Script::flows(vec![(Time::ZERO, flow(0, 1, 2, segments * 1000))]);
    let mut world = world(net.plan, &[&scheme("tcp-newreno", &texts)], vec![flows], None);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    assert_eq!(world.counters.flows_completed, 1);
    assert_eq!(world.flows[0].delivered_bytes, segments * 1000);
    world
}

/// When segment `k` of the first window reaches the switch.
fn arrival(k: u64) -> Time {
    Time::ZERO + DELAY + SEGMENT * (k + 1)
}

fn just(at: Time) -> (Time, Time) {
    (at, Time::from_ps(at.ps() + 1))
}

#[test]
fn tcp_newreno_8_2_a_single_loss_is_sent_again_once() {
    for lost in [0, 3, 6] {
        let world = with_losses(60, &[just(arrival(lost))], &[]);
        let record = &world.flows[0];
        assert_eq!(world.counters.drops_fault, 1);
        assert_eq!((record.packets_retransmitted, record.recovery.timeouts), (1, 0), "segment {lost}");
        assert_eq!((world.counters.naks_sent, world.counters.data_packets_discarded), (0, 1), "the lost one alone");
        // 60 segments in windows of 10 and, after the loss, about 5, 6, 7, ...: nine round trips.
        assert!(record.acked_at.unwrap() < Time::from_us(1500), "{:?}", record.acked_at);
    }
}

#[test]
fn tcp_newreno_8_3_two_losses_in_a_window_need_no_timeout() {
    let world = with_losses(60, &[just(arrival(0)), just(arrival(4))], &[]);
    let record = &world.flows[0];
    assert_eq!((record.packets_retransmitted, record.recovery.timeouts), (2, 0));
    assert!(record.acked_at.unwrap() < Time::from_us(2000), "{:?}", record.acked_at);
}

#[test]
fn tcp_newreno_8_5_a_lost_window_costs_one_timeout_of_200_ms() {
    // The first window passes and gives a sample; all of the second, twenty segments, is lost.
    let lost_until = |until| with_losses(100, &[(arrival(10), until)], &[]);
    let world = lost_until(Time::from_ms(5));
    let record = &world.flows[0];
    assert_eq!((world.counters.drops_fault, record.recovery.timeouts, world.counters.timeouts), (20, 1, 1));
    assert_eq!(record.packets_retransmitted, 20);
    let done = record.delivered_at.unwrap();
    assert!(done > Time::from_ms(200) && done < Time::from_ms(202), "{done}");
    // The first retransmission is lost too: 200 ms, and 400 ms more.
    let world = lost_until(Time::from_ms(300));
    let record = &world.flows[0];
    assert_eq!((record.recovery.timeouts, record.packets_retransmitted), (2, 21));
    let done = record.delivered_at.unwrap();
    assert!(done > Time::from_ms(600) && done < Time::from_ms(602), "{done}");
}

#[test]
fn tcp_newreno_6_delayed_acks_halve_the_acks_and_never_stall() {
    let texts = [("delayed_ack", "true")];
    let (plain, delayed) = (with_losses(60, &[], &[]), with_losses(60, &[], &texts));
    assert_eq!(plain.counters.acks_sent, 60);
    assert!((30..=32).contains(&delayed.counters.acks_sent), "{}", delayed.counters.acks_sent);
    // An odd window: its last segment is acknowledged after 40 ms.
    let odd = with_losses(60, &[], &[("delayed_ack", "true"), ("initial_window", "1")]);
    let done = odd.flows[0].acked_at.unwrap();
    assert!(done > Time::from_ms(40) && done < Time::from_ms(43), "{done}");
    // A hole is reported at once all the same.
    let holed = with_losses(60, &[just(arrival(3))], &texts);
    assert_eq!((holed.flows[0].recovery.timeouts, holed.flows[0].packets_retransmitted), (0, 1));
}

#[test]
fn tcp_newreno_6_reordering_is_no_loss_but_may_look_like_one() {
    // The short way is down at first. When it returns, new segments overtake those on the detour.
    let run = |detour_gbps: u64| {
        let mut net = Net::new();
        let (a, b) = (net.host("a"), net.host("b"));
        let (left, right, far) = (net.switch("left"), net.switch("right"), net.switch("far"));
        net.plan.classes.list[0].lossless = false;
        net.link(a, left, 10, DELAY);
        net.link(b, right, 10, DELAY);
        let short = net.link(left, right, 10, Span::from_us(1));
        net.link(left, far, detour_gbps, Span::from_us(100));
        net.link(far, right, detour_gbps, Span::from_us(100));
        net.plan.faults = vec![
            Fault { at: Time::ZERO, what: FaultKind::LinkDown { link: short / 2 } },
            Fault { at: Time::from_ms(10), what: FaultKind::LinkUp { link: short / 2 } },
        ];
        let flows = Script::flows(vec![(Time::from_us(1), flow(0, a, b, 20_000_000))]);
        let tcp = scheme("tcp-newreno", &[("receive_window", "1MB")]);
        let mut world = world(net.plan, &[&tcp], vec![flows], None);
        world.run_to_end();
        assert!(world.failure.is_none(), "{:?}", world.failure);
        assert_eq!(world.check_conservation(), Ok(()));
        let record = world.flows.remove(0);
        assert_eq!(record.delivered_bytes, 20_000_000);
        assert_eq!((world.counters.drops_fault, world.counters.naks_sent, record.recovery.timeouts), (0, 0, 0));
        assert_eq!(world.counters.data_packets_discarded, record.packets_retransmitted, "nothing was lost");
        record.packets_retransmitted
    };
    // Both ways equally fast: late and early segments alternate, so that new ACKs come between the
    // duplicates, and nothing is sent again.
    assert_eq!(run(10), 0);
    // A slow detour lets many pass: the oldest is taken for lost, once per segment of the detour at
    // most, and the second copies are thrown away.
    let needless = run(1);
    assert!((1..=1000).contains(&needless), "{needless}");
}

/// Synchronised reads: a client asks `servers` hosts for one block each over connections that stay
/// open, and for the next blocks once all have come. A server starts when the request, as long on
/// its way as the last ACK, has come.
struct Reads {
    servers: u32,
    block_bytes: u64,
    waiting: u32,
    due: Option<Time>,
    open: bool,
    ends: Arc<Mutex<Vec<Time>>>,
}

impl Source for Reads {
    fn next(&self) -> Option<Time> {
        self.due
    }
    fn act(&mut self, _: Time, out: &mut Vec<Action>) {
        self.due = None;
        self.waiting = self.servers;
        for handle in 0..self.servers {
            // Node 0 is the switch, node 1 the client.
            let spec = FlowSpec { offered_bytes: Some(self.block_bytes), ..endless(handle, handle + 2, 1) };
            out.push(match self.open {
                true => Action::Offer { handle, bytes: self.block_bytes },
                false => Action::Start(spec),
            });
        }
        self.open = true;
    }
    fn on_drained(&mut self, now: Time, _: u32) {
        self.waiting -= 1;
        if self.waiting == 0 {
            self.ends.lock().unwrap().push(now);
            self.due = Some(now);
        }
    }
}

/// Goodput in Mb/s of the FQCN paper's incast (its section VI): 1 Gb/s, 64 KB of drop-tail buffer,
/// blocks of 256 KB per server, IP packets of 1000 bytes. The first half second is not counted: all
/// connections begin in slow start at once.
pub fn incast(servers: u32, scheme: ParamValues) -> f64 {
    let mut net = Net::star(servers as usize + 1, 1, DELAY);
    net.plan.classes.list[0].lossless = false;
    net.plan.classes.list[0].queue_limit_bytes = Some(64_000);
    net.plan.hosts[0].mtu_bytes = 960;
    net.plan.run.stop = Time::from_ms(4000);
    net.plan.run.stop_when_idle = false;
    let block_bytes = 267 * 960;
    let ends = Arc::new(Mutex::new(Vec::new()));
    let reads = Reads { servers, block_bytes, waiting: 0, due: Some(Time::ZERO), open: false, ends: ends.clone() };
    let mut world = world(net.plan, &[&scheme], vec![Box::new(reads) as Box<dyn Source>], None);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    let ends = ends.lock().unwrap();
    let counted: Vec<Time> = ends.iter().copied().filter(|&end| end >= Time::from_ms(500)).collect();
    assert!(counted.len() > 5, "too few blocks for a rate: {ends:?}");
    let bits = (counted.len() - 1) as f64 * f64::from(servers) * block_bytes as f64 * 8.0;
    bits / (counted[counted.len() - 1] - counted[0]).as_s() / 1e6
}

#[test]
fn tcp_newreno_8_6_incast_collapses() {
    // Two servers share the buffer and mostly recover by duplicates; from eight on, some server
    // loses a whole window in almost every block, and all wait 200 ms for it.
    let goodput = |servers| incast(servers, scheme("tcp-newreno", &[]));
    let two = goodput(2);
    assert!(two > 800.0, "two servers: {two} Mb/s");
    for servers in [8, 16] {
        let many = goodput(servers);
        assert!(many < 200.0, "{servers} servers: {many} Mb/s");
    }
    // A shorter time-out is the known remedy: it is the waiting that costs.
    let short = incast(16, scheme("tcp-newreno", &[("rto_min", "1ms"), ("rto_initial", "1ms")]));
    assert!(short > 500.0, "a time-out of 1 ms: {short} Mb/s");
}

#[test]
fn tcp_newreno_7_incast_under_congestion_notification_of_layer_2() {
    // The FQCN paper's Fig. 7 at 16 servers: around 500 Mb/s with QCN, 550 with AF-QCN, 900 with FQCN.
    // Held are the order and the rough size; decision 0026 has the whole table.
    let goodput = |name, servers| incast(servers, scheme(name, &[]));
    let (plain, qcn) = (goodput("tcp-newreno", 16), goodput("qcn+tcp-newreno", 16));
    assert!(qcn > 2.0 * plain && (400.0..600.0).contains(&qcn), "QCN: {qcn} Mb/s, without: {plain}");
    let af_qcn = goodput("af-qcn+tcp-newreno", 16);
    assert!((350.0..650.0).contains(&af_qcn), "AF-QCN: {af_qcn} Mb/s");
    let (few, many) = (goodput("fqcn+tcp-newreno", 8), goodput("fqcn+tcp-newreno", 16));
    assert!(few > 850.0, "FQCN, 8 servers: {few} Mb/s");
    assert!(many > 650.0 && many > 1.3 * qcn.max(af_qcn), "FQCN, 16 servers: {many} Mb/s; {qcn}, {af_qcn}");
}

#[test]
fn tcp_newreno_2_layer_2_adds_its_tag_to_tcp_frames() {
    let format = |name: &str| xoff_schemes::formats(&scheme(name, &[]))[0];
    let (plain, tagged) = (format("tcp-newreno"), format("qcn+tcp-newreno"));
    assert_eq!((plain.transport, plain.ecn, plain.data_bytes), (Transport::Tcp, Ecn::NotCapable, 0));
    assert_eq!((tagged.transport, tagged.ecn, tagged.data_bytes), (Transport::Tcp, Ecn::NotCapable, 4));
    let stamped = format("tcp-newreno:modern");
    assert_eq!((stamped.data_bytes, stamped.ack_bytes, stamped.ack_every), (12, 6, 2));
}
