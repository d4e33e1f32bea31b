//! PACC: proactive and accurate congestion feedback (INFOCOM 2022, TNET 2024).
//!
//! Zhong et al., *PACC: Proactive and Accurate Congestion Feedback for RDMA Congestion Control*.
//! The switch itself sends ordinary CNPs, in numbers set by a PI controller on its queue and split
//! among the flows that fill it; end hosts keep their reaction point (DCQCN's), receivers send no
//! CNPs, and nothing is marked. The paper's text was not at hand: the three steps and the period are
//! public, the formulas are the standard ones for such steps, each marked as an assumption.
//!
//! `cap` is the counterpart of DCQCN's one CNP per 50 us.

use crate::param::{Base, ParamValues, PathSupport, Preset, SchemeSpec, params, presets};
use crate::parts::clock::Clock;
use crate::parts::flow_table::FlowTable;
use crate::parts::pi::Pi;
use crate::parts::silent_receiver;
use crate::{Configured, Overlay};
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::*;

params! {
    /// Symbols are the specification's.
    pub struct Params {
        /// period of controller, flow table and CNPs
        period "T_p": Time = "80us", from "Mercury paper, section II: 80 us by default";
        /// queue length aimed at
        q_ref "q_ref": BytesByRate = "4KB/Gbps", from "assumption: DCQCN's Kmin in the same code base";
        /// gain on the queue now, per KB at 40 Gb/s; in inverse proportion to the port's rate
        gain_a "a": Number(0.0..=1.0) = "1.1e-4",
            from "assumption: with b, 100 KB too much add 0.1 % per period, and 1 % at once";
        /// gain on the queue before, per KB at 40 Gb/s; below `gain_a`
        gain_b "b": Number(0.0..=1.0) = "1.0e-4",
            from "assumption: brackets DCQCN's marking probability at its fixed point";
        /// largest part of packets that are congested
        p_max "p_max": Number(0.0001..=1.0) = "0.1",
            from "assumption: above it CNPs hit the cap, and the controller only winds up (docs/schemes/pacc.md)";
        /// a flow below this part of the mean flow's packets is not notified
        flow_threshold "theta_f": Number(0.0..=1.0) = "0.5",
            from "assumption: relative, so that it spares small flows at any load";
        /// most CNPs per flow and period
        cap "cap": Count(1..=64) = "1", from "assumption: without it one period would cut a flow many times";
        /// what a port that has been idle takes for the queue before: the reference, as at its start, or an empty queue
        idle_queue "q_old": IdleQueue { Reference = "reference", Empty = "empty" } = "reference",
            from "specification: q_old begins at q_ref; empty, 15 KB after a pause are congestion at 40 Gb/s";
    }
}

const PRESETS: &[Preset] = presets! {
    "mercury" from "Mercury paper's account of PACC; the rest assumptions" {}
};

#[derive(Clone, Debug)]
pub struct Pacc {
    params: Params,
}

impl Configured for Pacc {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "pacc",
        "switches send CNPs themselves, as many as a PI controller asks for",
        "Zhong et al., PACC: Proactive and Accurate Congestion Feedback for RDMA Congestion Control, \
         INFOCOM 2022",
        Params::TABLE,
        PRESETS,
    )
    .with_base(Base::Default("dcqcn:nic-slow"))
    .with_paths(PathSupport::OnePath("the fair rate of a port is not that of a flow with several paths"));

    fn configure(values: &ParamValues) -> Pacc {
        Pacc { params: Params::read(values) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        if params.period == Span::ZERO {
            return Some("`period` is zero".into());
        }
        if params.q_ref.at(xoff_engine::BitRate::from_gbps(10)) == 0 {
            return Some("`q_ref` is zero: an empty queue would never end the CNPs".into());
        }
        (params.gain_a <= params.gain_b)
            .then(|| "`gain_a` must be above `gain_b`: their difference is the integral gain".into())
    }
}

impl Overlay for Pacc {
    fn refuses(base: &ParamValues) -> Option<String> {
        let name = base.spec().name;
        (!base.spec().hears_notices)
            .then(|| format!("`pacc` notifies its base by bare notifications, and `{name}` does not act on those"))
    }
    /// Section 1: marking is off, and receivers send no CNPs.
    fn replaces_signals(_: &ParamValues) -> bool {
        true
    }
    /// Section 2: to the sender it is a CNP as any other.
    fn pass_on(_: &Cnp, now: Time, base: &mut impl ReactionPoint) {
        base.on_congested(now);
    }
}

impl Scheme for Pacc {
    silent_receiver!(Cnp);
    type Cp = Box<Cp>;
    type Rp = Rp;

    fn congestion_point(&self, at: &QueueFacts) -> Box<Cp> {
        let q_ref_bytes = self.params.q_ref.at_queue(at) as f64;
        // Section 5: per KB at 40 Gb/s, in inverse proportion to the rate.
        let gain = |per_kb: f64| per_kb / 1000.0 * 40.0 / at.rate.as_gbps();
        Box::new(Cp {
            pi: Pi::new(0.0, q_ref_bytes, 0.0, self.params.p_max),
            q_ref_bytes,
            integral: gain(self.params.gain_a) - gain(self.params.gain_b),
            proportional: gain(self.params.gain_b),
            idle_bytes: match self.params.idle_queue {
                IdleQueue::Reference => q_ref_bytes,
                IdleQueue::Empty => 0.0,
            },
            clock: Clock::new(self.params.period),
            flow_threshold: self.params.flow_threshold,
            cap: self.params.cap as u32,
            packets: 0,
            flows: FlowTable::new(),
            later: Vec::new(),
        })
    }
    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        Rp { line_bps: of.line_rate.bps() as f64 }
    }
    /// A plain CNP.
    fn read_content(&self, content: &FrameContent) -> Option<Cnp> {
        (content.carrier == Carrier::Cnp && content.code == 0).then_some(Cnp)
    }
}

/// A standard CNP: section 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cnp;

/// Limits nothing: the base does.
#[derive(Clone, Copy, Debug)]
pub struct Rp {
    line_bps: f64,
}

impl ReactionPoint for Rp {
    type Feedback = Cnp;
    #[inline]
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.line_bps, window_bytes: u64::MAX }
    }
}

/// A flow of the period under way.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// n_i
    packets: u64,
    /// c_i
    credit: f64,
}

/// Section 3: one queue, its controller and the flows of the period.
#[derive(Clone, Debug)]
pub struct Cp {
    pi: Pi,
    q_ref_bytes: f64,
    integral: f64,
    proportional: f64,
    /// q_old after silence.
    idle_bytes: f64,
    /// Timer of T_p; stopped while the port is idle.
    clock: Clock,
    flow_threshold: f64,
    cap: u32,
    /// n
    packets: u64,
    flows: FlowTable<Flow>,
    /// CNPs spread over the period, latest first; empty unless `cap` is above one.
    later: Vec<(Time, u32)>,
}

impl Cp {
    /// Section 3: the first packet after silence finds p = 0, no flows, and q_old as at the start. Had the periods
    /// run on, q_old would be the empty queue, and any new queue a rise of all its length.
    fn wake(&mut self, now: Time) {
        if self.clock.wake(now) > 0 {
            self.pi.set(self.pi.value(), self.idle_bytes);
        }
    }

    /// Section 4, every T_p.
    fn tick(&mut self, now: Time, queue_bytes: u64, mut notify: impl FnMut(u32, Cnp)) {
        // What was spread over the period is out by its end.
        while let Some((_, flow)) = self.later.pop() {
            notify(flow, Cnp);
        }
        // Step 1.
        self.pi.step(queue_bytes as f64, self.q_ref_bytes, self.integral, self.proportional);
        let p = self.pi.value();
        if p > 0.0 {
            self.assign(p, now, notify);
        }
        // Step 6.
        self.packets = 0;
        self.flows.retain(|_, flow| std::mem::take(&mut flow.packets) > 0);
        let idle = queue_bytes == 0 && p == 0.0 && self.flows.is_empty();
        self.clock.advance(now, !idle);
    }

    /// Section 4, steps 2 to 5: who gets how many CNPs.
    fn assign(&mut self, p: f64, now: Time, mut notify: impl FnMut(u32, Cnp)) {
        let congested = p * self.packets as f64;
        let least = self.flow_threshold * self.packets as f64 / self.flows.len() as f64;
        // A flow without packets in this period is not in the table any more, or owed from before.
        let eligible = |flow: &Flow| flow.packets > 0 && flow.packets as f64 >= least;
        let total: u64 = self.flows.iter().filter(|(_, flow)| eligible(flow)).map(|(_, flow)| flow.packets).sum();
        let (cap, period) = (self.cap, self.clock.period());
        let later = &mut self.later;
        for (id, flow) in self.flows.iter_mut() {
            if eligible(flow) {
                flow.credit += congested * flow.packets as f64 / total as f64;
            }
            let cnps = (flow.credit.floor() as u32).min(cap);
            flow.credit = (flow.credit - f64::from(cnps)).min(1.0);
            if cnps > 0 {
                notify(id, Cnp);
            }
            for i in 1..cnps {
                later.push((now + period * u64::from(i) / u64::from(cnps), id));
            }
        }
        later.sort_unstable_by(|a, b| b.cmp(a));
    }
}

impl CongestionPoint for Cp {
    type Feedback = Cnp;

    fn hooks(&self) -> Hooks {
        // Congestion and shares are of the whole queue, whatever the flows' schemes.
        Hooks::ENQUEUE.with(Hooks::TIMER).with(Hooks::EVERY)
    }

    #[inline]
    fn on_enqueue(&mut self, view: &QueueView, packet: &PacketFacts, _: u16, _: Mark<'_>, _: impl FnMut(u32, Cnp)) {
        if self.clock.is_asleep() {
            self.wake(view.now);
        }
        self.packets += 1;
        self.flows.entry(packet.flow, Flow::default).packets += 1;
    }

    fn on_timer(&mut self, view: &QueueView, mut notify: impl FnMut(u32, Cnp)) {
        while let Some(&(at, flow)) = self.later.last()
            && at <= view.now
        {
            self.later.pop();
            notify(flow, Cnp);
        }
        if self.clock.is_due(view.now) {
            self.tick(view.now, view.queue_bytes, notify);
        }
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        match self.later.last() {
            Some(&(at, _)) => Some(self.clock.next().map_or(at, |tick| tick.min(at))),
            None => self.clock.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;
    use crate::testing::{configured, enqueue, flow, queue};
    use xoff_engine::BitRate;

    fn cp(texts: &[(&str, &str)]) -> Box<Cp> {
        configured::<Pacc>("pacc", texts).congestion_point(&queue(40))
    }

    fn view(now: Time, queue_bytes: u64) -> QueueView {
        QueueView::at(BitRate::from_gbps(40), now, queue_bytes)
    }

    fn arrive(cp: &mut Cp, now: Time, flow: u32, packets: u32) {
        for _ in 0..packets {
            let (_, notified) = enqueue(cp, &view(now, 0), &PacketFacts::of(flow, 1062));
            assert!(notified.is_empty(), "CNPs leave at the end of a period");
        }
    }

    /// One period: packets of flows 0, 1, ..., then the tick with this queue. Returns the flows that receive a CNP.
    fn period(cp: &mut Cp, packets: &[u32], queue_bytes: u64) -> Vec<u32> {
        let now = cp.timer().map_or(Time::ZERO, |at| Time::from_ps(at.ps() - 1));
        for (flow, &n) in packets.iter().enumerate() {
            arrive(cp, now, flow as u32, n);
        }
        let mut notified = Vec::new();
        let at = cp.timer().unwrap();
        cp.on_timer(&view(at, queue_bytes), |flow, _| notified.push(flow));
        notified
    }

    #[test]
    fn pacc_7_1_four_periods() {
        let mut cp = cp(&[]);
        assert!(period(&mut cp, &[100, 100], 100_000).is_empty());
        assert_eq!(cp.pi.value(), 0.0);
        let near = |a: f64, b: f64| (a - b).abs() < 5e-4;
        assert_eq!(period(&mut cp, &[200, 150, 40, 10], 400_000), [0, 1]);
        assert!((cp.pi.value() - 0.0324).abs() < 1e-12, "{}", cp.pi.value());
        // M = 12.96: 7.406 and 5.554, less one CNP each, at most one left.
        assert_eq!(cp.flows.get(0).unwrap().credit, 1.0);
        assert_eq!(cp.flows.get(1).unwrap().credit, 1.0);
        assert_eq!(cp.flows.get(2).unwrap().credit, 0.0);
        assert_eq!(period(&mut cp, &[150, 120, 100, 30], 300_000), [0, 1, 2]);
        assert!((cp.pi.value() - 0.0238).abs() < 1e-12);
        // M = 9.52; C earned 2.573 and keeps one.
        assert_eq!(cp.flows.get(2).unwrap().credit, 1.0);
        assert_eq!(period(&mut cp, &[100, 80, 30, 10], 170_000), [0, 1, 2]);
        assert!((cp.pi.value() - 0.0109).abs() < 1e-12);
        // M = 2.398: 2.142, 1.914 and 1.343 less one.
        for (flow, credit) in [(0, 1.0), (1, 0.914), (2, 0.343), (3, 0.0)] {
            assert!(near(cp.flows.get(flow).unwrap().credit, credit), "{flow}");
        }
    }

    #[test]
    fn pacc_4_allocation_by_packets() {
        // The shares themselves, with nothing cut off by the cap.
        let mut cp = cp(&[("cap", "64")]);
        period(&mut cp, &[1, 1], 100_000);
        let at = cp.timer().unwrap();
        let notified = period(&mut cp, &[200, 150, 40, 10], 400_000);
        assert_eq!(notified, [0, 1], "the first of several leave at once");
        // 7 and 5 CNPs in all, evenly over the next period.
        let (mut counts, mut times) = ([1, 1], Vec::new());
        while let Some(next) = cp.timer()
            && next < at + Span::from_us(80)
        {
            cp.on_timer(&view(next, 0), |flow, _| {
                counts[flow as usize] += 1;
                times.push((flow, next));
            });
        }
        assert_eq!(counts, [7, 5]);
        let of_b: Vec<Time> = times.iter().filter(|(flow, _)| *flow == 1).map(|(_, at)| *at).collect();
        assert_eq!(of_b, [16, 32, 48, 64].map(|us| at + Span::from_us(us)));
        assert!((cp.flows.get(0).unwrap().credit - 0.406).abs() < 5e-4);
    }

    #[test]
    fn pacc_4_silent_flows_leave_and_an_idle_port_sleeps() {
        let mut cp = cp(&[]);
        period(&mut cp, &[200, 200], 400_000);
        assert_eq!(cp.flows.len(), 2);
        period(&mut cp, &[200], 300_000);
        assert_eq!(cp.flows.len(), 1);
        let mut periods = 0;
        while let Some(at) = cp.timer() {
            cp.on_timer(&view(at, 0), |_, _| panic!("there is no flow"));
            periods += 1;
            assert!(periods < 100, "p falls by itself");
        }
        assert_eq!(cp.pi.value(), 0.0);
        // Awake again on the same grid, as at the start.
        arrive(&mut cp, Time::from_us(1_000_010), 3, 1);
        assert_eq!(cp.timer(), Some(Time::from_us(1_000_080)));
        assert_eq!(cp.pi.old(), 160_000.0);
    }

    #[test]
    fn pacc_3_a_port_that_was_idle_begins_at_the_reference() {
        // The first queue after 1 ms of silence. It grew by 150 KB, but is below the reference.
        let p = |texts: &[(&str, &str)], queue_bytes| {
            let mut cp = cp(texts);
            arrive(&mut cp, Time::from_us(1010), 0, 1);
            let notified = period(&mut cp, &[100], queue_bytes);
            assert_eq!(notified.is_empty(), cp.pi.value() == 0.0);
            cp.pi.value()
        };
        assert_eq!(p(&[], 150_000), 0.0);
        assert!((p(&[], 260_000) - 0.011).abs() < 1e-12, "1e-5 100 + 1e-4 100");
        // Had the clock run on through the silence.
        let empty = [("idle_queue", "empty")];
        assert!((p(&empty, 150_000) - 0.0149).abs() < 1e-12, "1e-4 150 - 1e-5 10");
        assert_eq!(p(&empty, 14_000), 0.0);
    }

    #[test]
    fn pacc_5_gains_and_reference_follow_the_port() {
        let pacc: Pacc = configured("pacc", &[]);
        for (gbps, kb) in [(10, 40.0), (25, 100.0), (40, 160.0), (100, 400.0)] {
            let cp = pacc.congestion_point(&queue(gbps));
            assert_eq!(cp.q_ref_bytes, kb * 1000.0);
            assert!((cp.proportional - 1e-7 * 40.0 / gbps as f64).abs() < 1e-15);
            assert!((cp.integral - 1e-8 * 40.0 / gbps as f64).abs() < 1e-15);
        }
    }

    #[test]
    fn pacc_1_a_cnp_is_the_bases_own_and_bases_must_hear_it() {
        let values = crate::select("pacc").unwrap();
        assert_eq!(values.base().unwrap().spec().name, "dcqcn");
        let pacc = Stack::<Pacc>::configure(&values);
        let mut rp = pacc.reaction_point(&flow(40, 10));
        assert_eq!((rp.limits().rate_bps, rp.timer()), (40e9, None));
        rp.on_feedback(Time::ZERO, &crate::stack::Feedback::Own(Cnp));
        // The first CNP halves the rate, at the next check.
        let at = rp.timer().expect("the base's decrease check");
        rp.on_timer(at);
        assert!(rp.limits().rate_bps < 21e9, "{}", rp.limits().rate_bps);
        // Marking is off, and the receiver is silent.
        assert!(!pacc.congestion_point(&queue(40)).hooks().has(Hooks::DEQUEUE));
        let why = crate::select("pacc+none").unwrap_err();
        assert!(why.contains("none") && why.contains("notifications"), "{why}");
        for odd in [("gain_b", "2e-4"), ("period", "0us"), ("q_ref", "0B")] {
            assert!(Pacc::validation_error(&values.clone().with(&[odd])).is_some(), "{odd:?}");
        }
    }
}
