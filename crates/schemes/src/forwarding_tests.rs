//! Every hook reaches what is inside a wrapper: a box, an enum over schemes, an overlay with its base.

use crate::param::{ParamValues, SchemeSpec};
use crate::registry::{Configured, Overlay, SchemeSet, With};
use crate::stack::Stack;
use std::cell::RefCell;
use std::collections::BTreeSet;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::packet::{Ecn, IntStack};
use xoff_fabric::scheme::*;

thread_local! {
    /// Hooks called since last looked.
    static CALLED: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

fn note(hook: &'static str) {
    CALLED.with_borrow_mut(|called| called.insert(hook));
}

fn assert_called(hooks: &[&'static str]) {
    let called = CALLED.take();
    let lost: Vec<_> = hooks.iter().filter(|hook| !called.contains(*hook)).collect();
    assert!(lost.is_empty(), "lost on the way: {lost:?}");
}

/// A scheme whose points only write down which hooks were called.
#[derive(Clone, Copy, Debug)]
pub struct Recorder;
pub struct Cp;
pub struct Np;
pub struct Rp;
pub struct Passage;
pub struct Control;

impl Configured for Recorder {
    const SPEC: SchemeSpec = SchemeSpec::new("recorder", "writes hooks down", "a test", &[], &[]);
    fn configure(_: &ParamValues) -> Recorder {
        Recorder
    }
}
impl Overlay for Recorder {}

#[deny(clippy::missing_trait_methods, reason = "a hook that is not written down is not tested")]
impl Scheme for Recorder {
    type Feedback = u32;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;
    type Transit = Passage;
    type Switch = Control;
    fn congestion_point(&self, _: &QueueFacts) -> Cp {
        Cp
    }
    fn notification_point(&self, _: &FlowFacts) -> Np {
        Np
    }
    fn reaction_point(&self, _: &FlowFacts) -> Rp {
        Rp
    }
    fn transit(&self, _: &FlowFacts) -> Option<Passage> {
        note("transit");
        Some(Passage)
    }
    fn controls_switches(&self) -> bool {
        note("controls_switches");
        true
    }
    fn switch_control(&self, _: &SwitchFacts<'_>) -> Option<Control> {
        note("switch_control");
        Some(Control)
    }
    fn format(&self) -> Format {
        note("format");
        Format::default()
    }
    fn format_inter_domain(&self) -> Format {
        note("format_inter_domain");
        Format::default()
    }
    fn notification_bytes(&self, _: &u32) -> Option<u32> {
        note("notification_bytes");
        Some(99)
    }
    fn frame_content(&self, _: &u32) -> FrameContent {
        note("frame_content");
        FrameContent::default()
    }
    fn read_content(&self, _: &FrameContent) -> Option<u32> {
        note("read_content");
        Some(7)
    }
}

#[deny(clippy::missing_trait_methods, reason = "a hook that is not written down is not tested")]
impl CongestionPoint for Cp {
    type Feedback = u32;
    fn hooks(&self) -> Hooks {
        note("hooks");
        Hooks::TIMER
    }
    fn on_enqueue(&mut self, _: &QueueView, _: &PacketFacts, _: u16, _: Mark<'_>, mut say: impl FnMut(u32, u32)) {
        note("on_enqueue");
        say(1, 2);
    }
    fn on_dequeue(&mut self, _: &QueueView, _: &PacketFacts, _: Mark<'_>, mut say: impl FnMut(u32, u32)) {
        note("on_dequeue");
        say(1, 2);
    }
    fn on_ack_dequeue(&mut self, _: &QueueView) {
        note("on_ack_dequeue");
    }
    fn on_pause_change(&mut self, _: &QueueView) {
        note("on_pause_change");
    }
    fn on_resume_again(&mut self, _: &QueueView) {
        note("on_resume_again");
    }
    fn on_timer(&mut self, _: &QueueView, mut say: impl FnMut(u32, u32)) {
        note("on_timer");
        say(1, 2);
    }
    fn timer(&self) -> Option<Time> {
        note("timer");
        Some(Time::ZERO)
    }
}

#[deny(clippy::missing_trait_methods, reason = "a hook that is not written down is not tested")]
impl NotificationPoint for Np {
    type Feedback = u32;
    fn on_data(&mut self, _: &Received) -> Option<u32> {
        note("on_data");
        Some(3)
    }
    fn on_timer(&mut self, _: Time) -> Option<u32> {
        note("on_timer");
        Some(3)
    }
    fn timer(&self) -> Option<Time> {
        note("timer");
        Some(Time::ZERO)
    }
    fn feeds_back_in_acks(&self) -> bool {
        note("feeds_back_in_acks");
        true
    }
    fn on_telemetry(&mut self, _: Time, _: &IntStack) {
        note("on_telemetry");
    }
    fn ack_feedback(&mut self, _: Time) -> Option<u32> {
        note("ack_feedback");
        Some(4)
    }
}

#[deny(clippy::missing_trait_methods, reason = "a hook that is not written down is not tested")]
impl ReactionPoint for Rp {
    type Feedback = u32;
    fn limits(&self) -> Limits {
        note("limits");
        Limits { rate_bps: 1e9, window_bytes: 1 }
    }
    fn on_sent(&mut self, _: Time, _: u32) {
        note("on_sent");
    }
    fn on_ack(&mut self, _: &Acked<'_>) {
        note("on_ack");
    }
    fn on_feedback(&mut self, _: Time, _: &u32) {
        note("on_feedback");
    }
    fn on_loss(&mut self, _: Time, _: Loss) {
        note("on_loss");
    }
    fn resend(&mut self, _: &Outstanding) -> Resend {
        note("resend");
        Resend::Oldest
    }
    fn on_congested(&mut self, _: Time) {
        note("on_congested");
    }
    fn on_hold(&mut self, _: Time) {
        note("on_hold");
    }
    fn increases(&self) -> u32 {
        note("increases");
        7
    }
    fn has_decided(&self) -> bool {
        note("has_decided");
        false
    }
    fn variables(&self, _: Time, _: &mut dyn FnMut(&'static Variable, f64)) {
        note("variables");
    }
    fn on_timer(&mut self, _: Time) {
        note("on_timer");
    }
    fn timer(&self) -> Option<Time> {
        note("timer");
        Some(Time::ZERO)
    }
    fn timers(&self) -> [Option<Time>; TIMERS] {
        note("timers");
        [Some(Time::ZERO); TIMERS]
    }
}

#[deny(clippy::missing_trait_methods, reason = "a hook that is not written down is not tested")]
impl Transit for Passage {
    type Feedback = u32;
    fn on_arrive(&mut self, _: Time, _: u64) {
        note("on_arrive");
    }
    fn on_release(&mut self, _: Time, _: u64, _: Option<&mut IntStack>) {
        note("on_release");
    }
    fn on_ack(&mut self, _: Time, _: &u32) {
        note("on_ack");
    }
    fn rate_bps(&self) -> f64 {
        note("rate_bps");
        5e9
    }
    fn yields_at(&self, _: BitRate) -> u64 {
        note("yields_at");
        6
    }
}

#[deny(clippy::missing_trait_methods, reason = "a hook that is not written down is not tested")]
impl SwitchControl for Control {
    type Message = u8;
    fn output_queue_bytes(&self) -> u64 {
        note("output_queue_bytes");
        8
    }
    fn on_arrival(&mut self, _: &Passing, _: &impl Occupancy, mut send: impl FnMut(u16, u8)) {
        note("on_arrival");
        send(0, 9);
    }
    fn on_transfer(&mut self, _: &Passing, _: &impl Occupancy) {
        note("on_transfer");
    }
    fn lane(&self, _: u16, _: u8, _: u32) -> Lane {
        note("lane");
        Lane::Held
    }
    fn take_changed(&mut self) -> Option<(u16, u8)> {
        note("take_changed");
        Some((0, 0))
    }
    fn gate(&mut self, _: Time, _: u16, _: u8, _: Lanes, _: &impl Occupancy) -> Lanes {
        note("gate");
        Lanes::FREE
    }
    fn detours(&self) -> bool {
        note("detours");
        true
    }
    fn choose(&mut self, _: &Passing, _: &[u16], _: &impl Occupancy) -> u16 {
        note("choose");
        1
    }
    fn on_message(&mut self, _: Time, _: u16, _: &u8) {
        note("on_message");
    }
    fn message_bytes(&self, _: &u8) -> u32 {
        note("message_bytes");
        77
    }
    fn frame_content(&self, _: &u8) -> FrameContent {
        note("message frame_content");
        FrameContent::default()
    }
    fn read_content(&self, _: &FrameContent) -> Option<u8> {
        note("message read_content");
        Some(7)
    }
    fn on_timer(&mut self, _: Time, _: &impl Occupancy) {
        note("on_timer");
    }
    fn timer(&self) -> Option<Time> {
        note("timer");
        Some(Time::ZERO)
    }
}

/// The registry's enums over the recorder alone.
mod one {
    use super::Recorder;
    use crate::param;
    use crate::registry::{Configured, SchemeSet};

    crate::registry::enums! { pub enumerated [] #[inline] { Only => Recorder } }
    crate::registry::scheme_sets! { enumerated { Only => Recorder } }
}
use one::enumerated;

struct Empty;
impl Occupancy for Empty {
    fn input_bytes(&self, _: u16, _: u8) -> u64 {
        0
    }
    fn output_bytes(&self, _: u16, _: u8) -> u64 {
        0
    }
    fn voq_bytes(&self, _: u16, _: u16, _: u8) -> u64 {
        0
    }
}

fn view() -> QueueView {
    let rate = BitRate::from_gbps(100);
    QueueView { now: Time::ZERO, queue_bytes: 0, queue_packets: 0, port_bytes: 0, tx_bytes: 0, rate, paused: false }
}

fn flow() -> FlowFacts {
    FlowFacts::at(BitRate::from_gbps(100), Span::from_us(10))
}

fn queue() -> QueueFacts {
    QueueFacts::at(BitRate::from_gbps(100))
}

/// Calls every hook; what it says goes to `said`.
fn congestion_point<C: CongestionPoint>(mut cp: C) -> Vec<C::Feedback> {
    let (view, packet, mut said) = (view(), PacketFacts::of(1, 1000), Vec::new());
    let mut ecn = Ecn::Ect0;
    cp.hooks();
    cp.on_enqueue(&view, &packet, 1, Mark { ecn: &mut ecn, int: None }, |_, feedback| said.push(feedback));
    cp.on_dequeue(&view, &packet, Mark { ecn: &mut ecn, int: None }, |_, feedback| said.push(feedback));
    cp.on_ack_dequeue(&view);
    cp.on_pause_change(&view);
    cp.on_resume_again(&view);
    cp.on_timer(&view, |_, feedback| said.push(feedback));
    assert_eq!(cp.timer(), Some(Time::ZERO));
    assert_eq!(said.len(), 3, "what it says gets out");
    let hooks = [
        "hooks",
        "on_enqueue",
        "on_dequeue",
        "on_ack_dequeue",
        "on_pause_change",
        "on_resume_again",
        "on_timer",
        "timer",
    ];
    assert_called(&hooks);
    said
}

fn notification_point<N: NotificationPoint>(mut np: N) {
    let ecn = Ecn::Ect0;
    assert!(np.on_data(&Received { now: Time::ZERO, wire_bytes: 1, payload_bytes: 1, ecn }).is_some());
    assert!(np.on_timer(Time::ZERO).is_some());
    assert_eq!(np.timer(), Some(Time::ZERO));
    assert!(np.feeds_back_in_acks());
    np.on_telemetry(Time::ZERO, &IntStack::default());
    assert!(np.ack_feedback(Time::ZERO).is_some());
    assert_called(&["on_data", "on_timer", "timer", "feeds_back_in_acks", "on_telemetry", "ack_feedback"]);
}

fn reaction_point<R: ReactionPoint>(mut rp: R, feedback: &R::Feedback) {
    let now = Time::ZERO;
    let outstanding = Outstanding { now, acked_bytes: 0, sent_bytes: 0, highest_bytes: 0 };
    assert_eq!(rp.limits(), Limits { rate_bps: 1e9, window_bytes: 1 });
    rp.on_sent(now, 1);
    rp.on_ack(&Acked::default());
    rp.on_feedback(now, feedback);
    rp.on_loss(now, Loss::Nak);
    assert_eq!(rp.resend(&outstanding), Resend::Oldest);
    rp.on_congested(now);
    rp.on_hold(now);
    assert_eq!(rp.increases(), 7);
    assert!(!rp.has_decided());
    rp.variables(now, &mut |_, _| {});
    rp.on_timer(now);
    assert_eq!((rp.timer(), rp.timers()), (Some(now), [Some(now); TIMERS]));
    let hooks = ["limits", "on_sent", "on_ack", "on_feedback", "on_loss", "resend", "on_congested", "on_hold"];
    let asked = ["increases", "has_decided", "variables", "on_timer", "timer", "timers"];
    assert_called(&[&hooks[..], &asked[..]].concat());
}

fn transit<T: Transit>(mut transit: T, feedback: &T::Feedback) {
    transit.on_arrive(Time::ZERO, 0);
    transit.on_release(Time::ZERO, 0, None);
    Transit::on_ack(&mut transit, Time::ZERO, feedback);
    assert_eq!((transit.rate_bps(), transit.yields_at(BitRate::from_gbps(1))), (5e9, 6));
    assert_called(&["on_arrive", "on_release", "on_ack", "rate_bps", "yields_at"]);
}

fn switch_control<C: SwitchControl>(mut control: C) {
    let now = Time::ZERO;
    let packet = Passing { now, ingress: 0, egress: 0, class: 0, flow: 0, frame_bytes: 64 };
    let mut sent = Vec::new();
    control.on_arrival(&packet, &Empty, |_, message| sent.push(message));
    control.on_transfer(&packet, &Empty);
    assert_eq!((control.output_queue_bytes(), control.message_bytes(&sent[0])), (8, 77));
    assert_eq!((control.lane(0, 0, 0), control.take_changed()), (Lane::Held, Some((0, 0))));
    assert_eq!(control.gate(now, 0, 0, Lanes::BOTH, &Empty), Lanes::FREE);
    assert!(control.detours() && control.choose(&packet, &[0, 1], &Empty) == 1);
    control.on_message(now, 0, &sent[0]);
    let content = SwitchControl::frame_content(&control, &sent[0]);
    assert!(SwitchControl::read_content(&control, &content).is_some());
    SwitchControl::on_timer(&mut control, now, &Empty);
    assert_eq!(SwitchControl::timer(&control), Some(now));
    let packets = ["on_arrival", "on_transfer", "lane", "take_changed", "gate", "detours", "choose"];
    let others = ["output_queue_bytes", "on_message", "message_bytes", "on_timer", "timer"];
    let contents = ["message frame_content", "message read_content"];
    assert_called(&[&packets[..], &others[..], &contents[..]].concat());
}

/// All of a scheme whose every hook should reach a recorder.
fn scheme<S: Scheme>(scheme: &S, feedback: &S::Feedback) {
    assert!(scheme.controls_switches());
    let at = SwitchFacts { seed: 1, switch: 0, ports: &[], classes: 1, mtu_wire_bytes: 1082 };
    switch_control_of(scheme, &at);
    scheme.format();
    scheme.format_inter_domain();
    assert_eq!(scheme.notification_bytes(feedback), Some(99));
    assert!(scheme.read_content(&scheme.frame_content(feedback)).is_some());
    let formats = ["format", "format_inter_domain", "notification_bytes", "frame_content", "read_content"];
    assert_called(&[&["controls_switches"], &formats[..]].concat());
    congestion_point(scheme.congestion_point(&queue()));
    notification_point(scheme.notification_point(&flow()));
    reaction_point(scheme.reaction_point(&flow()), feedback);
}

fn switch_control_of<S: Scheme>(scheme: &S, at: &SwitchFacts<'_>) {
    CALLED.take();
    let control = scheme.switch_control(at).expect("it controls switches");
    assert_called(&["switch_control"]);
    switch_control(control);
    scheme.controls_switches();
}

static SPEC: SchemeSpec = Recorder::SPEC;

#[test]
fn a_box_passes_on_every_hook() {
    assert_eq!(congestion_point(Box::new(Cp)), [2, 2, 2]);
}

#[test]
fn the_enum_over_schemes_passes_on_every_hook() {
    let values = SPEC.values(None);
    assert_eq!((enumerated::Any::specs().len(), enumerated::Any::validation_error(&values)), (1, None));
    let any = enumerated::Any::configure(&values).unwrap();
    let feedback = enumerated::AnyFeedback::Only(5);
    scheme(&any, &feedback);
    let passage = any.transit(&flow()).unwrap();
    assert_called(&["transit"]);
    transit(passage, &feedback);
}

#[test]
fn a_scheme_beside_the_registry_hears_every_hook() {
    let values = SPEC.values(None);
    type Both = With<Recorder, crate::Any>;
    assert_eq!(Both::specs().len(), crate::Any::specs().len() + 1);
    let own = Both::configure(&values).unwrap();
    let feedback = crate::with::AnyFeedback::Own(5);
    scheme(&own, &feedback);
    transit(own.transit(&flow()).unwrap(), &feedback);
    // And so do those that were there before.
    let rest = With::<Aside, enumerated::Any>::configure(&values).unwrap();
    scheme(&rest, &crate::with::AnyFeedback::Rest(enumerated::AnyFeedback::Only(5)));
}

#[test]
fn a_stack_passes_on_every_hook_to_its_overlay() {
    let stack = Stack::<Recorder>::configure(&SPEC.values(None));
    scheme(&stack, &crate::stack::Feedback::Own(5));
}

/// The overlay does nothing, so that what is seen is the base.
#[derive(Clone, Copy, Debug)]
struct Aside;

impl Configured for Aside {
    const SPEC: SchemeSpec = SchemeSpec::new("aside", "does nothing", "a test", &[], &[]);
    fn configure(_: &ParamValues) -> Aside {
        Aside
    }
}
impl Overlay for Aside {}
impl Scheme for Aside {
    type Feedback = ();
    type Cp = Silent;
    type Np = Silent;
    type Rp = crate::rcm::Unlimited;
    type Transit = Absent;
    type Switch = Absent;
    fn congestion_point(&self, _: &QueueFacts) -> Silent {
        Silent::default()
    }
    fn notification_point(&self, _: &FlowFacts) -> Silent {
        Silent::default()
    }
    fn reaction_point(&self, of: &FlowFacts) -> crate::rcm::Unlimited {
        Scheme::reaction_point(&crate::rcm::Rcm::configure(&crate::select("rcm").unwrap()), of)
    }
}

/// What a reaction point returns after a fixed course of events.
fn course<R: ReactionPoint>(mut rp: R) -> Vec<String> {
    let mut outcomes = Vec::new();
    let mut int = IntStack::default();
    int.push(Default::default());
    for step in 1..60u64 {
        let now = Time::from_us(step);
        rp.on_sent(now, 1082);
        let (acked_bytes, sent_bytes) = (1000 * step, 1000 * step + 20_000);
        let ecn = if step % 7 == 0 { Ecn::Ce } else { Ecn::Ect0 };
        let rtt = Span::from_us(10 + step % 5);
        rp.on_ack(&Acked { now, bytes: 1000, acked_bytes, sent_bytes, rtt, ecn, int: Some(&int), ..Acked::default() });
        outcomes.push(format!("{:?} {:?} {:?}", rp.limits(), rp.timers(), rp.has_decided()));
        match step % 10 {
            3 => rp.on_congested(now),
            6 => rp.on_hold(now),
            9 => rp.on_loss(now, Loss::Timeout),
            _ => {}
        }
        let outstanding = Outstanding { now, acked_bytes, sent_bytes, highest_bytes: sent_bytes };
        outcomes.push(format!("{:?} {:?}", rp.resend(&outstanding), rp.increases()));
        if rp.timer().is_some_and(|at| at <= now) {
            rp.on_timer(now);
        }
    }
    outcomes
}

#[test]
fn a_stack_passes_on_every_hook_to_its_base() {
    static ASIDE: SchemeSpec = Aside::SPEC;
    for base in ["dcqcn:hpcc-ns3", "dcqcn:paper", "hpcc", "timely", "tcp-newreno", "swift"] {
        let mut values = ASIDE.values(None);
        values.set_base(Some(crate::select(base).unwrap()));
        let stacked = course(Stack::<Aside>::configure(&values).reaction_point(&flow()));
        let alone = course(crate::Any::configure(&crate::select(base).unwrap()).unwrap().reaction_point(&flow()));
        assert_eq!(stacked, alone, "{base}");
    }
}
