//! Every hook of a stack reaches its overlay and its base.

use super::*;
use std::cell::Cell;
use xoff_engine::Span;
use xoff_fabric::packet::Ecn;
use xoff_fabric::{delegate_congestion_point, delegate_notification_point, delegate_reaction_point};

thread_local! {
    /// Calls of hooks of a [`Spy`].
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// Point of an overlay that counts calls of its hooks.
struct Spy(Due);

/// Point whose timer is always due, and which does nothing.
struct Due;

fn counted<T>(spy: T) -> T {
    CALLS.set(CALLS.get() + 1);
    spy
}

impl CongestionPoint for Spy {
    type Feedback = ();
    delegate_congestion_point! { self { spy => counted(spy).0; } }
}
impl NotificationPoint for Spy {
    type Feedback = ();
    delegate_notification_point! { self { spy => counted(spy).0; } }
}
impl ReactionPoint for Spy {
    type Feedback = ();
    delegate_reaction_point! { self { spy => counted(spy).0; } }
}
impl CongestionPoint for Due {
    type Feedback = ();
    fn timer(&self) -> Option<Time> {
        Some(Time::ZERO)
    }
}
impl NotificationPoint for Due {
    type Feedback = ();
}
impl ReactionPoint for Due {
    type Feedback = ();
    fn limits(&self) -> Limits {
        Limits { rate_bps: 1e9, window_bytes: 1 }
    }
    fn timer(&self) -> Option<Time> {
        Some(Time::ZERO)
    }
}

/// Overlay of spies.
struct Watched;

impl Configured for Watched {
    const SPEC: SchemeSpec = SchemeSpec::new("watched", "counts calls", "a test", &[], &[]);
    fn configure(_: &ParamValues) -> Watched {
        Watched
    }
}
impl Overlay for Watched {}
impl Scheme for Watched {
    type Feedback = ();
    type Cp = Spy;
    type Np = Spy;
    type Rp = Spy;
    type Transit = Absent;
    type Switch = Absent;
    fn congestion_point(&self, _: &QueueFacts) -> Spy {
        Spy(Due)
    }
    fn notification_point(&self, _: &FlowFacts) -> Spy {
        Spy(Due)
    }
    fn reaction_point(&self, _: &FlowFacts) -> Spy {
        Spy(Due)
    }
    fn controls_switches(&self) -> bool {
        true
    }
    fn format(&self) -> Format {
        Format { data_bytes: 8, ..Format::default() }
    }
    fn format_inter_domain(&self) -> Format {
        Format { data_bytes: 9, ..Format::default() }
    }
    fn notification_bytes(&self, (): &()) -> Option<u32> {
        Some(99)
    }
    fn frame_content(&self, (): &()) -> FrameContent {
        FrameContent { code: 7, ..FrameContent::default() }
    }
    fn read_content(&self, content: &FrameContent) -> Option<()> {
        (content.code == 7).then_some(())
    }
}

static SPEC: SchemeSpec = Watched::SPEC;

fn flow() -> FlowFacts {
    FlowFacts::at(BitRate::from_gbps(100), Span::from_us(10))
}

/// Expects so many calls of the spy at each call of the stack.
macro_rules! reaches {
    ($($calls:literal: $call:expr;)*) => {$(
        CALLS.set(0);
        let _ = $call;
        assert_eq!(CALLS.get(), $calls, "{}", stringify!($call));
    )*};
}

#[test]
fn a_stack_passes_on_every_hook_to_its_overlay() {
    let stack = Stack::<Watched>::configure(&SPEC.values(None));
    let now = Time::ZERO;

    let mut cp = stack.congestion_point(&QueueFacts::at(BitRate::from_gbps(100)));
    let (view, packet) = (QueueView::at(BitRate::from_gbps(100), now, 0), PacketFacts::of(1, 1000));
    let mut ecn = Ecn::Ect0;
    reaches! {
        1: cp.hooks();
        1: cp.on_enqueue(&view, &packet, 1, Mark { ecn: &mut ecn, int: None }, |_, _| {});
        1: cp.on_dequeue(&view, &packet, Mark { ecn: &mut ecn, int: None }, |_, _| {});
        1: cp.on_ack_dequeue(&view);
        1: cp.on_pause_change(&view);
        1: cp.on_resume_again(&view);
        2: cp.on_timer(&view, |_, _| {});
        1: cp.timer();
    }

    let mut np = stack.notification_point(&flow());
    reaches! {
        1: np.on_data(&Received { now, wire_bytes: 1, payload_bytes: 1, ecn });
        1: np.on_timer(now);
        1: np.timer();
        1: np.feeds_back_in_acks();
        1: np.on_telemetry(now, &IntStack::default());
        1: np.ack_feedback(now);
    }

    let mut rp = stack.reaction_point(&flow());
    reaches! {
        1: rp.limits();
        1: rp.on_sent(now, 1);
        1: rp.on_ack(&Acked::default());
        1: rp.on_feedback(now, &Feedback::Own(()));
        1: rp.on_loss(now, Loss::Nak, 1000);
        1: rp.resend(&Outstanding { now, acked_bytes: 0, sent_bytes: 0, highest_bytes: 0 });
        1: rp.on_congested(now);
        1: rp.on_hold(now);
        1: rp.increases();
        1: rp.has_decided();
        1: rp.variables(now, &mut |_, _| {});
        2: rp.on_timer(now);
        1: rp.timer();
        1: rp.timers();
    }

    assert!(stack.controls_switches());
    assert_eq!((stack.format().data_bytes, stack.format_inter_domain().data_bytes), (8, 9));
    assert_eq!(stack.notification_bytes(&Feedback::Own(())), Some(99));
    let content = stack.frame_content(&Feedback::Own(()));
    assert!(matches!(stack.read_content(&content), Some(Feedback::Own(()))));
}

/// What a reaction point returns after a fixed course of events.
fn course(mut rp: impl ReactionPoint) -> Vec<String> {
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
            9 => rp.on_loss(now, Loss::Timeout, 1000),
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

/// RCM does nothing at hosts, so that what is seen is the base.
#[test]
fn a_stack_passes_on_every_hook_to_its_base() {
    let of = |scheme: &str| crate::Any::configure(&crate::select(scheme).unwrap()).unwrap();
    for base in ["dcqcn:hpcc-ns3", "dcqcn:paper", "hpcc", "timely", "tcp-newreno", "swift"] {
        let stacked = course(of(&format!("rcm+{base}")).reaction_point(&flow()));
        assert_eq!(stacked, course(of(base).reaction_point(&flow())), "{base}");
    }
}

#[test]
fn a_scheme_beside_the_registry_is_configured_by_its_name() {
    type Both = crate::With<Watched, crate::Any>;
    assert_eq!(Both::specs().len(), crate::Any::specs().len() + 1);
    assert!(matches!(Both::configure(&SPEC.values(None)), Some(Both::Own(_))));
    assert!(matches!(Both::configure(&crate::select("hpcc").unwrap()), Some(Both::Rest(crate::Any::Hpcc(_)))));
}
