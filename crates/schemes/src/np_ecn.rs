//! NP-ECN: PCN's marks and its receiver's rule, with DCQCN's reaction.
//!
//! The TCD authors' simulator has it beside TCD, to show what detection alone is worth: a packet that
//! was queued when its port was resumed is not marked, a flow is congested if nearly all packets of
//! an interval were marked, and the sender does what DCQCN's does. PCN itself (Cheng et al., NSDI
//! 2020) also measures the receiving rate; see [`crate::pcn`].
//!
//! K and RED are the base's `kmin`, `kmax` and `pmax`, the interval is its `cnp_interval`.

use crate::dcqcn::{self, MarkAt, Notify};
use crate::param::{Base, ParamValues, Preset, SchemeSpec, params, presets};
use crate::parts::clock::grid_after;
use crate::parts::frame_content;
use crate::parts::paused_packets::PausedPackets;
use crate::parts::red::Red;
use crate::{Configured, Overlay};
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::*;

params! {
    /// There is one: the rest is DCQCN's.
    pub struct Params {
        /// share of marked packets in an interval that makes a flow congested
        congested_share "95 %": Number(0.0..=1.0) = "0.95", from "PCN, section 5.2; the TCD authors' simulator";
    }
}

const PRESETS: &[Preset] = presets! {
    "authors" from "the TCD authors' simulator" {}
};

#[derive(Clone, Debug)]
pub struct NpEcn {
    params: Params,
    /// Those of the DCQCN beneath, whose marking and notification points it replaces. None of a base that is refused.
    base: Option<Arc<dcqcn::Params>>,
}

impl Configured for NpEcn {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "np-ecn",
        "marks that spare paused packets and a receiver's vote, over DCQCN's reaction",
        "Zhang et al., Congestion Detection in Lossless Networks, SIGCOMM 2021 (authors' simulator)",
        Params::TABLE,
        PRESETS,
    )
    .with_base(Base::Default("dcqcn:paper"));

    fn configure(values: &ParamValues) -> NpEcn {
        NpEcn { params: Params::read(values), base: dcqcn::Params::beneath(values) }
    }
}

impl Overlay for NpEcn {
    fn refuses(base: &ParamValues) -> Option<String> {
        if base.spec().name != "dcqcn" {
            let base = base.spec().name;
            return Some(format!("`np-ecn` is defined over `dcqcn` only: its vote means nothing to `{base}`"));
        }
        let params = dcqcn::Params::read(base);
        if params.mark_at != MarkAt::Dequeue {
            return Some("`np-ecn` marks packets as they leave, so its base cannot mark otherwise".to_owned());
        }
        if params.notify != Notify::Cnp {
            return Some("`np-ecn` counts marks at the receiver, so its base must have CNPs".to_owned());
        }
        (params.cnp_interval < Span::from_ns(1)).then(|| "`cnp_interval` is shorter than a nanosecond".to_owned())
    }

    fn replaces_signals(_: &ParamValues) -> bool {
        true
    }

    fn pass_on(_: &Cnp, now: Time, base: &mut impl ReactionPoint) {
        base.on_congested(now);
    }
}

impl Scheme for NpEcn {
    type Feedback = Cnp;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;
    type Transit = Absent<Cnp>;
    type Switch = Absent;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        Cp(Box::new(Egress { red: self.base().red(at), paused: PausedPackets::default() }))
    }

    fn notification_point(&self, _: &FlowFacts) -> Np {
        let share = self.params.congested_share;
        Np { share, interval: self.base().cnp_interval, start: None, packets: 0, marked: 0, timer: None }
    }

    fn reaction_point(&self, _: &FlowFacts) -> Rp {
        Rp
    }

    fn frame_content(&self, _: &Cnp) -> FrameContent {
        frame_content::cnp(frame_content::code::KIND, &[1], "congestion encountered".to_owned())
    }

    fn read_content(&self, content: &FrameContent) -> Option<Cnp> {
        (content.code == frame_content::code::KIND && content.bytes == [1]).then_some(Cnp)
    }
}

impl NpEcn {
    fn base(&self) -> &dcqcn::Params {
        self.base.as_deref().expect("a refused base makes no machines")
    }
}

/// The flow is congested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cnp;

/// One egress queue; boxed, so that the points of other schemes stay small.
#[derive(Clone, Debug)]
pub struct Cp(Box<Egress>);

#[derive(Clone, Debug)]
struct Egress {
    red: Red,
    paused: PausedPackets,
}

impl CongestionPoint for Cp {
    type Feedback = Cnp;

    fn hooks(&self) -> Hooks {
        Hooks::ENQUEUE.with(Hooks::DEQUEUE).with(Hooks::PAUSE).with(Hooks::EVERY)
    }

    #[inline]
    fn on_enqueue(&mut self, view: &QueueView, _: &PacketFacts, _: u16, _: Mark<'_>, _: impl FnMut(u32, Cnp)) {
        self.0.paused.arrive(view);
    }

    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, packet: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, Cnp)) {
        let queue = &mut *self.0;
        let held = queue.paused.leave(view);
        if !held && packet.own && queue.red.decide(view.queue_bytes) {
            mark.ecn.mark();
        }
    }

    fn on_pause_change(&mut self, view: &QueueView) {
        // RESUME, or a timed PAUSE that has expired.
        if !view.paused {
            self.0.paused.resume(view);
        }
    }
}

/// Votes at every interval from the flow's first packet on, which is a vote of its own.
#[derive(Clone, Debug)]
pub struct Np {
    share: f64,
    interval: Span,
    /// Start of the grid.
    start: Option<Time>,
    /// Since the last vote.
    packets: u32,
    marked: u32,
    /// None while there is nothing to vote about.
    timer: Option<Time>,
}

impl NotificationPoint for Np {
    type Feedback = Cnp;

    #[inline]
    fn on_data(&mut self, packet: &Received) -> Option<Cnp> {
        self.packets += 1;
        self.marked += u32::from(packet.ecn == Ecn::Ce);
        let Some(start) = self.start else {
            self.start = Some(packet.now);
            return self.vote();
        };
        if self.timer.is_none() {
            self.timer = Some(grid_after(packet.now, start, self.interval));
        }
        None
    }

    fn on_timer(&mut self, _: Time) -> Option<Cnp> {
        self.timer = None;
        self.vote()
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.timer
    }
}

impl Np {
    fn vote(&mut self) -> Option<Cnp> {
        let (packets, marked) = (std::mem::take(&mut self.packets), std::mem::take(&mut self.marked));
        (packets > 0 && f64::from(marked) >= f64::from(packets) * self.share).then_some(Cnp)
    }
}

/// The rate is DCQCN's.
#[derive(Clone, Debug)]
pub struct Rp;

impl ReactionPoint for Rp {
    type Feedback = Cnp;

    #[inline]
    fn limits(&self) -> Limits {
        Limits { rate_bps: f64::INFINITY, window_bytes: u64::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{dequeue, enqueue, flow, queue};
    use xoff_engine::BitRate;

    fn scheme(base: &[(&str, &str)]) -> NpEcn {
        let mut values = crate::select("np-ecn").unwrap();
        values.set_base(values.base().map(|beneath| beneath.clone().with(base)));
        NpEcn::configure(&values)
    }

    /// A step at 5 KB; packets of 1 KB.
    struct Port(Cp, u32);

    impl Port {
        fn new() -> Port {
            let scheme = scheme(&[("kmin", "5KB"), ("kmax", "5KB")]);
            Port(scheme.congestion_point(&queue(40)), 0)
        }

        fn view(&self) -> QueueView {
            let queue = u64::from(self.1) * 1000;
            QueueView { queue_packets: self.1, ..QueueView::at(BitRate::from_gbps(40), Time::ZERO, queue) }
        }

        fn arrive(&mut self, packets: u32) {
            for _ in 0..packets {
                let view = self.view();
                enqueue(&mut self.0, &view, &PacketFacts::of(0, 1000));
                self.1 += 1;
            }
        }

        /// Whether each of the packets that leave was marked.
        fn leave(&mut self, packets: u32) -> Vec<bool> {
            let mut is_marked = |_| {
                self.1 -= 1;
                let view = self.view();
                dequeue(&mut self.0, &view, &PacketFacts::of(0, 1000)).0 == Ecn::Ce
            };
            (0..packets).map(&mut is_marked).collect()
        }

        fn resume(&mut self) {
            let view = self.view();
            self.0.on_pause_change(&QueueView { paused: true, ..view });
            self.0.on_pause_change(&QueueView { paused: false, ..view });
        }
    }

    #[test]
    fn packets_queued_at_a_resume_are_not_marked() {
        let mut port = Port::new();
        port.arrive(8);
        // Without a pause it is RED: seven, then six wait behind them; five are not above the threshold.
        assert_eq!(port.leave(3), [true, true, false]);
        port.arrive(5);
        port.resume();
        port.arrive(8);
        // Ten were held, the eight after them not: with 7, 6 and 5 left behind.
        assert_eq!(port.leave(10), [false; 10]);
        assert_eq!(port.leave(3), [true, true, false]);
        // A second PAUSE counts old and new alike.
        port.arrive(5);
        port.resume();
        port.resume();
        assert_eq!(port.leave(10), [false; 10]);
    }

    #[test]
    fn nineteen_of_twenty_marked_packets_make_a_flow_congested() {
        let flow = flow(40, 10);
        let data = |us, ecn| Received { now: Time::from_us(us), wire_bytes: 1020, payload_bytes: 976, ecn };
        let mut np = scheme(&[("cnp_interval", "50us")]).notification_point(&flow);
        assert_eq!(np.on_data(&data(7, Ecn::Ce)), Some(Cnp), "the first packet is a vote of its own");
        for marked in [19, 18] {
            // 95 % and 90 %, on the grid of the first packet.
            let from = if marked == 19 { 60 } else { 110 };
            for packet in 0..20 {
                let ecn = if packet < marked { Ecn::Ce } else { Ecn::Ect0 };
                assert_eq!(np.on_data(&data(from + packet, ecn)), None);
            }
            let poll = np.timer().unwrap();
            assert_eq!(poll, Time::from_us(if marked == 19 { 107 } else { 157 }));
            assert_eq!(np.on_timer(poll), (marked == 19).then_some(Cnp));
        }
        assert_eq!(np.timer(), None, "nothing to vote about");
        np.on_data(&data(300, Ecn::Ect0));
        assert_eq!(np.timer(), Some(Time::from_us(307)));
        let mut np = scheme(&[]).notification_point(&flow);
        assert_eq!(np.on_data(&data(7, Ecn::Ect0)), None);
    }

    #[test]
    fn a_vote_is_a_cut_of_dcqcn() {
        use crate::stack::{Feedback::Own, Stack};
        let scheme = Stack::<NpEcn>::configure(&crate::select("np-ecn+dcqcn:paper-sim").unwrap());
        let mut rp = scheme.reaction_point(&flow(40, 10));
        rp.on_feedback(Time::from_us(1), &Own(Cnp));
        // Alpha 0.5 rises to 255/256 x 0.5 + 1/256 before the cut: 29.96 Gb/s.
        assert_eq!(rp.limits().rate_bps, 29_960_937_500.0);
    }

    #[test]
    fn only_over_dcqcn_with_cnps() {
        assert!(crate::select("np-ecn+pcn").unwrap_err().contains("`pcn`"));
        assert!(crate::select("np-ecn+dcqcn:nic").unwrap_err().contains("CNPs"));
    }
}
