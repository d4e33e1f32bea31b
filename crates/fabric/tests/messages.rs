//! Messages on queue pairs: where they begin and end, when they have arrived and are acknowledged, what a cut does.

use crate::common::*;
use crate::scripted::{Scripted, World};
use std::sync::{Arc, Mutex};
use xoff_engine::{Span, Time, stream};
use xoff_fabric::plan::*;
use xoff_fabric::record::Failure;
use xoff_fabric::scheme::*;
use xoff_fabric::timing;
use xoff_fabric::traffic::{Action, FlowSpec, Source, Subscription};

/// What a source was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    Delivered(u32, u32),
    Acknowledged(u32, u32),
    Drained(u32),
    Finished(u32),
    Cut(u32),
    Back(u32),
}
use Told::*;

type Heard = Arc<Mutex<Vec<(Time, Told)>>>;

/// Source that follows a script and records what becomes of its flows.
struct Recorder {
    script: Script,
    heard: Heard,
    hears: bool,
    /// Waits for this many deliveries, and says so.
    wants: usize,
}

impl Recorder {
    fn new(actions: Vec<(Time, Action)>) -> (Recorder, Heard) {
        let heard = Heard::default();
        (Recorder { script: Script::new(actions), heard: heard.clone(), hears: true, wants: 0 }, heard)
    }
    fn note(&self, now: Time, told: Told) {
        self.heard.lock().unwrap().push((now, told));
    }
}

impl Source for Recorder {
    fn next(&self) -> Option<Time> {
        self.script.next()
    }
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        self.script.act(now, out);
    }
    fn on_finished(&mut self, now: Time, handle: u32) {
        self.note(now, Finished(handle));
    }
    fn on_drained(&mut self, now: Time, handle: u32) {
        self.note(now, Drained(handle));
    }
    fn on_delivered(&mut self, now: Time, handle: u32, message: u32) {
        self.note(now, Delivered(handle, message));
    }
    fn on_acknowledged(&mut self, now: Time, handle: u32, message: u32) {
        self.note(now, Acknowledged(handle, message));
    }
    fn subscription(&self) -> Subscription {
        if self.hears { Subscription::ALL } else { Subscription::DRAINED }
    }
    fn on_stranded(&mut self, now: Time, handle: u32, cut: bool) {
        self.note(now, if cut { Cut(handle) } else { Back(handle) });
    }
    fn waits_for(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        let delivered = heard.iter().filter(|(_, told)| matches!(told, Delivered(..))).count();
        (delivered < self.wants).then(|| format!("{} messages", self.wants - delivered)).into_iter().collect()
    }
}

fn queue_pair(handle: u32, src: u32, dst: u32) -> FlowSpec {
    FlowSpec { offered_bytes: Some(0), ..endless(handle, src, dst) }
}

/// A queue pair that sends all of these at one instant, numbered from 0.
fn burst(at: Time, spec: FlowSpec, sizes: &[u64]) -> Vec<(Time, Action)> {
    let handle = spec.handle;
    let send = |(message, bytes): (u32, &u64)| (at, Action::Send { handle, bytes: *bytes, message });
    std::iter::once((at, Action::Start(spec))).chain((0..).zip(sizes).map(send)).collect()
}

fn run(plan: Plan, scheme: Scripted, actions: Vec<(Time, Action)>) -> (World, Vec<(Time, Told)>) {
    let (script, heard) = Recorder::new(actions);
    let mut world = World::new(plan, vec![scheme], vec![Box::new(script)]);
    world.run_to_end();
    assert_eq!(world.check_conservation(), Ok(()));
    let heard = heard.lock().unwrap().clone();
    (world, heard)
}

fn deliveries(heard: &[(Time, Told)]) -> Vec<(Time, u32)> {
    heard
        .iter()
        .filter_map(|(at, told)| if let Delivered(_, message) = told { Some((*at, *message)) } else { None })
        .collect()
}

/// Nothing is left over: whoever waits for the end of the queue pairs waits until then.
fn until(mut net: Net, stop: Time) -> Plan {
    net.plan.run.stop = stop;
    net.plan
}

/// What a message takes alone between two hosts, as the plan's closed form says.
fn ideal(plan: &Plan, path: &[u32], bytes: u64) -> Span {
    let mtu = u64::from(plan.hosts[0].mtu_bytes);
    let packets = bytes.div_ceil(mtu);
    let last = (bytes - (packets - 1) * mtu + 62).max(64) as u32 + 20;
    timing::ideal_delivery(plan, path, packets, mtu as u32 + 82, last)
}

#[test]
fn a_message_arrives_when_the_closed_form_says() {
    for bytes in [1, 1000, 1001, 5000, 123_456] {
        let plan = until(Net::star(2, 100, Span::from_us(1)), Time::from_ms(5));
        let expected = ideal(&plan, &[0, 3], bytes);
        let at = Time::from_us(3);
        let (world, heard) = run(plan, Scripted::uncontrolled(), burst(at, queue_pair(7, 1, 2), &[bytes]));
        assert_eq!(deliveries(&heard), [(at + expected, 0)], "{bytes} bytes");
        // The ACK of the last packet: 86 bytes over two hops, unless a short packet's waits for the one before.
        let acked = heard.iter().find(|(_, told)| *told == Acknowledged(7, 0)).unwrap().0;
        let back = Span::from_ps(2 * (86 * 80 + 1_000_000));
        assert!(acked >= at + expected + back && acked < at + expected + back + Span::from_ns(100), "{bytes} bytes");
        assert_eq!(heard[heard.len() - 1], (acked, Drained(7)), "{bytes} bytes");
        assert_eq!(world.flows[0].delivered_bytes, bytes);
        assert_eq!(world.flows[0].packets_sent, bytes.div_ceil(1000));
    }
}

#[test]
fn messages_follow_one_another_and_each_has_packets_of_its_own() {
    let sizes = [1, 1000, 1001, 64, 2500, 1, 1];
    let plan = until(Net::star(2, 100, Span::from_us(1)), Time::from_ms(5));
    let (world, heard) = run(plan, Scripted::uncontrolled(), burst(Time::ZERO, queue_pair(0, 1, 2), &sizes));
    // Every packet leaves behind the one before it. At the switch, which is as fast, a packet waits for those before.
    let (mut wire, mut at_switch, mut expected) = (0u64, 0u64, Vec::new());
    for (message, bytes) in (0..).zip(sizes) {
        let mut left = bytes;
        while left > 0 {
            let payload = left.min(1000);
            left -= payload;
            let takes = ((payload + 62).max(64) + 20) * 80;
            wire += takes;
            at_switch = at_switch.max(wire + 1_000_000) + takes;
        }
        expected.push((Time::from_ps(at_switch + 1_000_000), message));
    }
    assert_eq!(deliveries(&heard), expected);
    let acknowledged: Vec<u32> = heard
        .iter()
        .filter_map(|(_, told)| if let Acknowledged(0, name) = told { Some(*name) } else { None })
        .collect();
    assert_eq!(acknowledged, [0, 1, 2, 3, 4, 5, 6]);
    for message in 0..7 {
        let place = |of: Told| heard.iter().position(|(_, told)| *told == of).unwrap();
        assert!(place(Delivered(0, message)) < place(Acknowledged(0, message)));
    }
    assert_eq!(world.counters.delivered_bytes, sizes.iter().sum::<u64>());
    assert_eq!(world.counters.data_packets_sent, 10);
}

#[test]
fn a_flow_with_a_size_is_one_message_and_only_who_asks_is_told() {
    let plan = until(Net::star(2, 100, Span::from_us(1)), Time::from_ms(5));
    let start = vec![(Time::ZERO, Action::Start(flow(4, 1, 2, 2500)))];
    let (world, heard) = run(plan.clone(), Scripted::uncontrolled(), start.clone());
    let told: Vec<Told> = heard.iter().map(|(_, told)| *told).collect();
    assert_eq!(told, [Delivered(4, 0), Acknowledged(4, 0), Finished(4)]);
    assert_eq!(Some(heard[0].0), world.flows[0].delivered_at);
    assert_eq!(Some(heard[1].0), world.flows[0].acked_at);

    for actions in [start, burst(Time::ZERO, queue_pair(4, 1, 2), &[2500])] {
        let (mut script, heard) = Recorder::new(actions);
        script.hears = false;
        World::new(plan.clone(), vec![Scripted::uncontrolled()], vec![Box::new(script)]).run_to_end();
        assert!(deliveries(&heard.lock().unwrap()).is_empty());
    }
}

#[test]
fn losses_within_a_message_go_back_and_all_of_it_arrives() {
    for (loss, ack_every) in [(0.02, 1), (0.2, 1), (0.05, 4)] {
        let mut net = Net::star(2, 100, Span::from_us(1));
        net.plan.links[0].a_to_b.loss = loss;
        net.plan.links[1].b_to_a.loss = loss / 2.0;
        net.plan.hosts[0].ack_every = ack_every;
        net.plan.hosts[0].retransmit_timeout = Span::from_us(100);
        net.plan.hosts[0].nak_interval = Span::from_us(5);
        let sizes: Vec<u64> = (0..60).map(|i| 1 + i * i * 37 % 9_000).collect();
        let (world, heard) = run(
            until(net, Time::from_ms(50)),
            Scripted::uncontrolled(),
            burst(Time::ZERO, queue_pair(0, 1, 2), &sizes),
        );
        assert!(world.counters.data_packets_retransmitted > 0);
        let order: Vec<u32> = deliveries(&heard).iter().map(|(_, message)| *message).collect();
        assert_eq!(order, (0..60).collect::<Vec<u32>>(), "in order, each once");
        assert_eq!(world.flows[0].delivered_bytes, sizes.iter().sum::<u64>());
        assert_eq!(heard.iter().filter(|(_, told)| matches!(told, Acknowledged(..))).count(), 60);
    }
}

#[test]
fn a_window_counts_what_short_packets_hold() {
    // A window of 3,000 bytes holds three full packets and thirty of 100 bytes: after that the sender waits a round
    // trip, also if it is short packets that fill it.
    let rtt = Span::from_ps(4_000_000);
    let messages = |bytes: u64, count: usize| {
        let plan = until(Net::star(2, 100, Span::from_us(1)), Time::from_ms(5));
        let limits = Limits { rate_bps: 1e12, window_bytes: 3_000 };
        let (world, heard) =
            run(plan, Scripted::limits(vec![limits]), burst(Time::ZERO, queue_pair(0, 1, 2), &vec![bytes; count]));
        assert_eq!(world.flows[0].packets_sent, count as u64);
        let at: Vec<Time> = deliveries(&heard).iter().map(|(at, _)| *at).collect();
        at.windows(2).position(|pair| pair[1] - pair[0] > rtt / 2).map(|place| place + 1)
    };
    assert_eq!(messages(1_000, 9), Some(3));
    assert_eq!(messages(100, 90), Some(30));
    assert_eq!(messages(100, 30), None);
}

/// Halves its rate with every ACK.
struct Slower(f64);
impl ReactionPoint for Slower {
    type Feedback = u64;
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.0, window_bytes: u64::MAX }
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        assert!(ack.acked_bytes <= ack.sent_bytes, "{} of {}", ack.acked_bytes, ack.sent_bytes);
        self.0 /= 2.0;
    }
}

#[test]
fn a_queue_pair_keeps_its_rate_while_it_is_idle() {
    let plan = until(Net::star(2, 100, Span::from_us(1)), Time::from_ms(5));
    let mut actions = burst(Time::ZERO, queue_pair(0, 1, 2), &[1_000]);
    // A millisecond later: its first packet goes at once, the others at half the rate.
    let later = Time::from_ms(1);
    actions.push((later, Action::Send { handle: 0, bytes: 2_000, message: 1 }));
    let (_, heard) = run(plan, Scripted::with(|of| Slower(of.line_rate.bps() as f64)), actions);
    let at = deliveries(&heard)[1].0;
    assert_eq!((at - later).ps(), 2 * 1082 * 80 + 2 * (1082 * 80 + 1_000_000), "two packets, the gap is twice as long");
}

#[test]
fn stopping_a_queue_pair_ends_what_it_carries() {
    let plan = until(Net::star(2, 100, Span::from_us(1)), Time::from_ms(5));
    let mut actions = burst(Time::ZERO, queue_pair(0, 1, 2), &[1_000, 1_000_000]);
    actions.push((Time::from_us(20), Action::Stop { handle: 0 }));
    // Nobody hears of what comes for a queue pair that is gone.
    actions.push((Time::from_us(30), Action::Send { handle: 0, bytes: 10, message: 9 }));
    let (world, heard) = run(plan, Scripted::uncontrolled(), actions);
    assert_eq!(deliveries(&heard).len(), 1);
    assert_eq!(heard.last().unwrap().1, Finished(0));
    assert!(world.now < Time::from_us(40), "nothing is left to wait for");
}

/// Two hosts under a switch each, with two links between the switches.
fn two_ways() -> (Net, u32, u32, [u32; 2]) {
    let mut net = Net::new();
    let (s0, s1) = (net.switch("s0"), net.switch("s1"));
    let (a, b) = (net.host("a"), net.host("b"));
    net.link(a, s0, 100, Span::from_us(1));
    net.link(b, s1, 100, Span::from_us(1));
    let ways = [net.link(s0, s1, 100, Span::from_us(1)) / 2, net.link(s0, s1, 100, Span::from_us(1)) / 2];
    (net, a, b, ways)
}

fn fault(at: Time, what: FaultKind) -> Fault {
    Fault { at, what }
}

#[test]
fn a_source_is_told_when_its_flow_is_cut_off_and_when_it_is_back() {
    let (mut net, a, b, ways) = two_ways();
    let down = |at, link| fault(Time::from_us(at), FaultKind::LinkDown { link });
    let up = |at, link| fault(Time::from_us(at), FaultKind::LinkUp { link });
    // One way is enough; without both it is cut off.
    net.plan.faults = vec![down(10, ways[0]), down(20, ways[1]), up(30, ways[1]), up(40, ways[0])];
    net.plan.hosts[0].retransmit_timeout = Span::from_us(50);
    let plan = until(net, Time::from_ms(5));
    let mut actions = burst(Time::ZERO, queue_pair(3, a, b), &[400_000]);
    // One that begins while there is no way is told at once.
    actions.push((Time::from_us(25), Action::Start(queue_pair(4, a, b))));
    let (world, heard) = run(plan, Scripted::uncontrolled(), actions);
    let cuts: Vec<(u64, Told)> = heard
        .iter()
        .filter(|(_, told)| matches!(told, Cut(_) | Back(_)))
        .map(|(at, told)| (at.ps() / 1_000_000, *told))
        .collect();
    assert_eq!(cuts[..2], [(20, Cut(3)), (25, Cut(4))]);
    assert!(cuts[2..] == [(30, Back(3)), (30, Back(4))] || cuts[2..] == [(30, Back(4)), (30, Back(3))], "{cuts:?}");
    assert_eq!(deliveries(&heard).len(), 1);
    assert!(world.failure.is_none());
}

#[test]
fn the_links_of_the_hosts_themselves_count_for_who_wants_to_know() {
    for link in [0, 1] {
        let mut net = Net::star(2, 100, Span::from_us(1));
        net.plan.faults = vec![
            fault(Time::from_us(10), FaultKind::LinkDown { link }),
            fault(Time::from_us(30), FaultKind::LinkUp { link }),
        ];
        net.plan.hosts[0].retransmit_timeout = Span::from_us(50);
        let actions = burst(Time::ZERO, queue_pair(3, 1, 2), &[400_000]);
        let (_, heard) = run(until(net, Time::from_ms(5)), Scripted::uncontrolled(), actions);
        let at = |told| heard.iter().find(|(_, other)| *other == told).map(|(at, _)| *at);
        assert_eq!((at(Cut(3)), at(Back(3))), (Some(Time::from_us(10)), Some(Time::from_us(30))), "link {link}");
        assert_eq!(deliveries(&heard).len(), 1);
    }
}

#[test]
fn who_waits_for_what_is_cut_off_for_good_ends_the_run() {
    let cut_off = |wants: usize, probed: bool| {
        let (mut net, a, b, ways) = two_ways();
        net.plan.faults = ways.iter().map(|&link| fault(Time::from_us(10), FaultKind::LinkDown { link })).collect();
        net.plan.run.deadlock_check = None;
        net.plan.run.stall_after = None;
        if probed {
            // So that something happens as long as the run lasts.
            net.plan.probes = vec![Probe {
                what: ProbeTarget::Queue { port: 0, class: 0 },
                every: Span::from_us(100),
                from: Time::ZERO,
                until: Time::NEVER,
            }];
        }
        let (mut script, _) = Recorder::new(burst(Time::ZERO, queue_pair(3, a, b), &[4_000, 400_000]));
        script.wants = wants;
        let mut world =
            World::new(until(net, Time::from_ms(500)), vec![Scripted::uncontrolled()], vec![Box::new(script)]);
        world.run_to_end();
        world
    };
    let world = cut_off(2, true);
    let Some(Failure::Stall { at, since, unfinished, stranded, .. }) = world.failure else {
        panic!("{:?}", world.failure)
    };
    assert!(at < Time::from_ms(5) && since <= at, "at once: {at}");
    assert_eq!((unfinished, stranded), (1, 1));
    assert_eq!(world.waits, ["1 messages"]);
    // Who waits for nothing is left alone, and runs to the stop.
    let world = cut_off(0, true);
    assert_eq!(world.failure, None);
    assert_eq!((world.now, world.waits.len()), (Time::from_ms(500), 0));
}

#[test]
fn who_still_waits_at_the_stop_says_so() {
    let plan = until(Net::star(2, 100, Span::from_us(1)), Time::from_us(20));
    let (mut script, _) = Recorder::new(burst(Time::ZERO, queue_pair(0, 1, 2), &[1_000, 1_000_000]));
    script.wants = 2;
    let mut world = World::new(plan, vec![Scripted::uncontrolled()], vec![Box::new(script)]);
    world.run_to_end();
    assert_eq!(world.failure, None);
    assert_eq!(world.waits, ["1 messages"]);
}

/// Messages on one queue pair and the same as flows of their own, one after the other, on random networks of every rule:
/// the same bytes in the end, each message once and in order.
#[test]
fn messages_of_a_queue_pair_are_as_flows_of_their_own() {
    for seed in 0..60 {
        let (mut plan, hosts) = random::network(seed);
        plan.run.stop = Time::from_ms(400);
        plan.hosts[0].retransmit_timeout = Span::from_ms(1);
        let mut rng = stream(seed, "messages", 0);
        let (src, dst) = (hosts[0], hosts[1]);
        let mut at = Time::ZERO;
        let messages: Vec<(Time, u64)> = (0..1 + rng.below(40))
            .map(|_| {
                at += Span::from_ns(rng.below(20_000));
                let most = [10, 1_000, 30_000][rng.below(3) as usize];
                (at, 1 + rng.below(most))
            })
            .collect();
        let mut actions = vec![(Time::ZERO, Action::Start(queue_pair(0, src, dst)))];
        actions.extend(
            (0..).zip(&messages).map(|(message, &(at, bytes))| (at, Action::Send { handle: 0, bytes, message })),
        );
        let (world, heard) = run(plan.clone(), Scripted::uncontrolled(), actions);
        let names: Vec<u32> = deliveries(&heard).iter().map(|(_, message)| *message).collect();
        assert_eq!(names, (0..messages.len() as u32).collect::<Vec<u32>>(), "seed {seed}");
        let acknowledged = heard.iter().filter(|(_, told)| matches!(told, Acknowledged(..))).count();
        assert_eq!(acknowledged, messages.len(), "seed {seed}");
        assert_eq!(world.flows.len(), 1);

        let flows =
            (0..).zip(&messages).map(|(handle, &(at, bytes))| (at, Action::Start(flow(handle, src, dst, bytes))));
        let (of_flows, heard) = run(plan, Scripted::uncontrolled(), flows.collect());
        assert_eq!(deliveries(&heard).len(), messages.len(), "seed {seed}");
        assert_eq!(world.counters.delivered_bytes, of_flows.counters.delivered_bytes, "seed {seed}");
        assert_eq!(world.counters.data_packets_delivered, of_flows.counters.data_packets_delivered, "seed {seed}");
    }
}

/// Sends all again after a while, if the transport leaves that to it.
struct SendsAgain(Option<Time>, bool);
impl ReactionPoint for SendsAgain {
    type Feedback = u64;
    fn limits(&self) -> Limits {
        Limits { rate_bps: 1e12, window_bytes: 20_000 }
    }
    fn on_sent(&mut self, now: Time, _: u32) {
        self.0 = self.0.or(Some(now + Span::from_us(50)));
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        assert!(ack.bytes <= ack.acked_bytes && ack.acked_bytes <= ack.sent_bytes);
        self.0 = (ack.acked_bytes < ack.sent_bytes).then(|| ack.now + Span::from_us(50));
    }
    fn on_timer(&mut self, now: Time) {
        (self.0, self.1) = (Some(now + Span::from_us(50)), true);
    }
    fn resend(&mut self, out: &Outstanding) -> Resend {
        let asked = std::mem::replace(&mut self.1, false) && out.acked_bytes < out.highest_bytes;
        if asked { Resend::All } else { Resend::Nothing }
    }
    fn timer(&self) -> Option<Time> {
        self.0
    }
}
#[test]
fn a_gap_that_closes_delivers_all_messages_behind_it() {
    let reorder = Format { reorder: true, ..Format::default() };
    let tcp = Format { transport: Transport::Tcp, ack_every: 2, ack_timeout: Span::from_us(40), ..Format::default() };
    for format in [reorder, tcp] {
        let mut net = Net::star(2, 100, Span::from_us(1));
        net.plan.links[0].a_to_b.loss = 0.1;
        net.plan.hosts[0].retransmit_timeout = Span::from_us(60);
        let sizes: Vec<u64> = (0..80).map(|i| 1 + i * i * 37 % 3_000).collect();
        let actions = burst(Time::ZERO, queue_pair(0, 1, 2), &sizes);
        let scheme = Scripted::with(|_| SendsAgain(None, false)).format(format);
        let (world, heard) = run(until(net, Time::from_ms(50)), scheme, actions);
        let delivered = deliveries(&heard);
        let order: Vec<u32> = delivered.iter().map(|(_, message)| *message).collect();
        assert_eq!(order, (0..80).collect::<Vec<u32>>(), "in order, each once");
        assert!(delivered.windows(2).any(|pair| pair[0].0 == pair[1].0), "several at one instant");
        assert_eq!(heard.iter().filter(|(_, told)| matches!(told, Acknowledged(..))).count(), 80);
        assert_eq!(world.flows[0].delivered_bytes, sizes.iter().sum::<u64>());
        assert_eq!(world.counters.delivered_bytes, sizes.iter().sum::<u64>());
    }
}

#[test]
fn captures_show_messages_as_messages() {
    use xoff_fabric::capture::{Body, Capture};
    let plan = until(Net::star(2, 100, Span::from_us(1)), Time::from_ms(5));
    let (script, _) = Recorder::new(burst(Time::ZERO, queue_pair(0, 1, 2), &[1, 2_500, 1_000]));
    let mut world = World::new(plan, vec![Scripted::uncontrolled()], vec![Box::new(script)]);
    // At the switch: the sender has moved on by then, and has forgotten what is acknowledged if nobody captures.
    world.capture(vec![Capture { ports: vec![3], from: Time::ZERO, until: Time::NEVER, frames: 100 }]);
    world.run_to_end();
    let data = |body: &Body| if let Body::Data(data) = body { Some(data.clone()) } else { None };
    let seen: Vec<_> = world.taps().frames.iter().filter_map(|frame| data(&frame.body)).collect();
    let places: Vec<_> = seen.iter().map(|of| (of.psn, of.begin, of.total)).collect();
    assert_eq!(places, [(0, 0, Some(1)), (1, 1, Some(4)), (2, 1, Some(4)), (3, 1, Some(4)), (4, 4, Some(5))]);
    let sizes: Vec<_> = seen.iter().map(|of| (of.size_bytes, of.offset_bytes, of.payload_bytes)).collect();
    let of_second = Some(2_500);
    assert_eq!(
        sizes,
        [
            (Some(1), 0, 1),
            (of_second, 1, 1000),
            (of_second, 1001, 1000),
            (of_second, 2001, 500),
            (Some(1_000), 2501, 1000)
        ]
    );
    assert_eq!(seen.iter().map(|of| of.first_frame_bytes).collect::<Vec<_>>(), [64, 1062, 1062, 1062, 1062]);
}

/// Sends what it was told to, whatever becomes of it.
struct Deaf(Recorder);
impl Source for Deaf {
    fn reacts(&self) -> bool {
        false
    }
    fn next(&self) -> Option<Time> {
        self.0.next()
    }
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        self.0.act(now, out);
    }
    fn on_delivered(&mut self, now: Time, handle: u32, message: u32) {
        self.0.on_delivered(now, handle, message);
    }
    fn on_acknowledged(&mut self, now: Time, handle: u32, message: u32) {
        self.0.on_acknowledged(now, handle, message);
    }
    fn subscription(&self) -> Subscription {
        Subscription::ALL
    }
}

#[test]
fn messages_between_parts_are_those_of_one() {
    let mut heard = Vec::new();
    let mut records = Vec::new();
    for parts in [1, 2] {
        let (net, a, b, _) = two_ways();
        let mut actions = burst(Time::ZERO, queue_pair(0, a, b), &[1, 2_500, 40_000]);
        actions.extend(burst(Time::from_us(7), queue_pair(1, b, a), &[999, 1]));
        actions.push((Time::from_us(50), Action::Send { handle: 0, bytes: 1_001, message: 9 }));
        actions.extend([0, 1].map(|handle| (Time::from_us(200), Action::Stop { handle })));
        let (script, log) = Recorder::new(actions);
        let sources: Vec<Box<dyn Source>> = vec![Box::new(Deaf(script))];
        // Each switch with its host.
        let part_of = if parts == 1 { vec![0; 4] } else { vec![0, 1, 0, 1] };
        let mut world = World::in_parts(until(net, Time::from_ms(5)), vec![Scripted::uncontrolled()], sources, part_of);
        world.run_to_end();
        assert_eq!((world.parts(), world.check_conservation()), (parts, Ok(())));
        heard.push(log.lock().unwrap().clone());
        records.push((world.flows.clone(), world.counters));
    }
    assert_eq!(deliveries(&heard[0]).len(), 6);
    assert_eq!(heard[0], heard[1]);
    assert_eq!(records[0], records[1]);
}
