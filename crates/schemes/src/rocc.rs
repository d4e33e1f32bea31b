//! RoCC: robust congestion control for RDMA (CoNEXT 2020).
//!
//! Taheri, Menikkumbura et al., *RoCC: Robust Congestion Control for RDMA*. Each egress queue computes one
//! fair rate with a PI controller whose gains follow that rate, and sends it to the sources of the
//! flows in the queue; a sender obeys the most restrictive queue. No reference code is public and
//! the constants are from memory, so all are parameters, except F_max: it is the port's rate.

use crate::Configured;
use crate::param::{BytesByRate, ParamValues, PathSupport, Preset, SchemeSpec, params, presets};
use crate::parts::clock::Clock;
use crate::parts::flow_table::FlowTable;
use crate::parts::frame_content;
use crate::parts::pi::Pi;
use crate::parts::silent_receiver;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::scheme::*;

params! {
    /// Symbols are the paper's.
    pub struct Params {
        /// period of the controller and its CNPs
        period "T": Time = "40us", from "paper, from memory";
        /// unit of rates in controller and CNPs
        rate_unit "Delta F": Rate = "10Mbps", from "paper, from memory";
        /// unit of the queue length in the controller
        queue_unit "Delta Q": Bytes = "600B", from "paper, from memory";
        /// least fair rate
        rate_min "F_min": Rate = "100Mbps", from "paper, from memory";
        /// queue length aimed at
        q_ref "Q_ref": BytesByRate = "75KB@10Gbps, 110KB@25Gbps, 150KB@40Gbps, 300KB@100Gbps",
            from "paper, from memory, at 40 and 100 Gb/s; others an assumption";
        /// growth within a period that halves the rate
        q_mid "Q_mid": BytesByRate = "150KB@10Gbps, 220KB@25Gbps, 300KB@40Gbps, 600KB@100Gbps",
            from "paper, from memory, at 40 and 100 Gb/s; others an assumption";
        /// queue length at which the rate falls to the least
        q_max "Q_max": BytesByRate = "180KB@10Gbps, 264KB@25Gbps, 360KB@40Gbps, 660KB@100Gbps",
            from "paper, from memory, at 40 and 100 Gb/s; others an assumption";
        /// gain on the queue's distance from `q_ref`, before tuning
        gain_alpha "alpha~": NumberByRate(0.0..=1000.0) = "0.15@10Gbps, 0.22@25Gbps, 0.3@40Gbps, 0.45@100Gbps",
            from "paper, from memory, at 40 and 100 Gb/s; others an assumption";
        /// gain on the queue's change, before tuning
        gain_beta "beta~": NumberByRate(0.0..=1000.0) = "0.75@10Gbps, 1.1@25Gbps, 1.5@40Gbps, 2.25@100Gbps",
            from "paper, from memory, at 40 and 100 Gb/s; others an assumption";
        /// a sender without feedback for this many periods and the longest round trip doubles its rate
        recovery_periods "T_rec": Count(1..=1000) = "2",
            from "assumption: a live congestion point always refreshes first";
    }
}

const PRESETS: &[Preset] = presets! {
    "paper" from "CoNEXT 2020, from memory; 10 and 25 Gb/s assumptions" {}
};

/// Section 3: gains fall in up to this many halvings of the rate.
const MOST_LEVEL: f64 = 64.0;

#[derive(Clone, Debug)]
pub struct Rocc {
    params: Params,
}

impl Configured for Rocc {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "rocc",
        "switches compute a fair rate with a self-tuning PI controller and tell it to senders",
        "Taheri et al., RoCC: Robust Congestion Control for RDMA, CoNEXT 2020",
        Params::TABLE,
        PRESETS,
    )
    .with_paths(PathSupport::OnePath("the fair rate of a port is not that of a flow with several paths"));

    fn configure(values: &ParamValues) -> Rocc {
        Rocc { params: Params::read(values) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        if params.period == Span::ZERO {
            return Some("`period` is zero".into());
        }
        if params.queue_unit == 0 {
            return Some("`queue_unit` is zero".into());
        }
        let rates = [10, 25, 40, 100].map(BitRate::from_gbps);
        // Ports of some rate may not exist: only what is wrong at all of them is.
        if rates.into_iter().all(|rate| params.q_max.at(rate) <= params.q_ref.at(rate)) {
            return Some("`q_max` is not above `q_ref`: the rate would stay at its least".into());
        }
        if rates.into_iter().any(|rate| params.q_ref.at(rate) == 0) {
            return Some("`q_ref` is zero: an empty queue would never raise the rate".into());
        }
        if rates.into_iter().any(|rate| params.gain_alpha.at(rate) == 0.0) {
            return Some("`gain_alpha` is zero: an empty queue would never raise the rate".into());
        }
        (params.rate_unit.at(BitRate::from_gbps(1)) < 1.0).then(|| "`rate_unit` is zero".into())
    }
}

impl Scheme for Rocc {
    silent_receiver!(Fair);
    type Cp = Box<Cp>;
    type Rp = Rp;

    fn congestion_point(&self, at: &QueueFacts) -> Box<Cp> {
        let rate_unit_bps = self.params.rate_unit.at(at.rate).max(1.0);
        let queue_unit = self.params.queue_unit.max(1) as f64;
        let queue = |bytes: &BytesByRate| bytes.at_queue(at) as f64 / queue_unit;
        let f_max = at.rate.bps() as f64 / rate_unit_bps;
        let f_min = (self.params.rate_min.at(at.rate) / rate_unit_bps).clamp(f_max.min(1.0), f_max);
        Box::new(Cp {
            settings: Settings {
                rate_unit_bps,
                queue_unit,
                f_min,
                f_max,
                q_ref: queue(&self.params.q_ref),
                q_mid: queue(&self.params.q_mid),
                q_max: queue(&self.params.q_max),
                alpha: self.params.gain_alpha.at(at.rate),
                beta: self.params.gain_beta.at(at.rate),
            },
            id: at.queue as u32,
            fair: Pi::new(f_max, 0.0, f_min, f_max),
            flows: FlowTable::new(),
            clock: Clock::new(self.params.period),
        })
    }
    fn frame_content(&self, fair: &Fair) -> FrameContent {
        let rate_mbps = (fair.rate_bps / 1e6).round() as u32;
        let bytes = [rate_mbps.to_be_bytes(), fair.cp.to_be_bytes()].concat();
        frame_content::cnp(frame_content::code::FAIR_RATE, &bytes, format!("fair rate {rate_mbps} Mb/s"))
    }
    fn read_content(&self, content: &FrameContent) -> Option<Fair> {
        let number = |at| frame_content::number(&content.bytes, at);
        let fair = Fair { rate_bps: f64::from(number(0)?) * 1e6, cp: number(4)? };
        // A rate of zero would stop the flow for good.
        (content.code == frame_content::code::FAIR_RATE && fair.rate_bps > 0.0).then_some(fair)
    }
    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        // Section 4: longer than a period and a delay, so that an active congestion point notifies first.
        let recovery = self.params.period * self.params.recovery_periods + of.max_base_rtt;
        let (line_bps, rate_bps) = (of.line_rate.bps() as f64, of.initial_rate.bps() as f64);
        let recover_at = (rate_bps < line_bps).then(|| of.start + recovery);
        Rp { line_bps, rate_bps, owner: None, recovery, recover_at }
    }
}

/// What a CNP carries in its reserved bytes: section 2.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fair {
    /// F: a whole number of units.
    rate_bps: f64,
    /// The congestion point.
    cp: u32,
}

#[derive(Clone, Debug)]
struct Settings {
    rate_unit_bps: f64,
    queue_unit: f64,
    f_min: f64,
    f_max: f64,
    q_ref: f64,
    q_mid: f64,
    q_max: f64,
    alpha: f64,
    beta: f64,
}

/// A flow that has or had a packet in the queue.
#[derive(Clone, Copy, Debug, Default)]
struct Present {
    /// Packets in the queue now, unless some were dropped.
    queued: u32,
    /// Whether a packet arrived or left in this period.
    moved: bool,
}

/// Section 3: one queue's fair rate and the flows that receive it.
#[derive(Clone, Debug)]
pub struct Cp {
    settings: Settings,
    id: u32,
    /// F and Q_old.
    fair: Pi,
    flows: FlowTable<Present>,
    /// Timer of T; stopped while the port is idle.
    clock: Clock,
}

impl Cp {
    /// The first packet after silence. Periods slept through had the largest rate and an empty queue,
    /// which the controller leaves as they are.
    fn wake(&mut self, now: Time) {
        if self.clock.wake(now) > 0 {
            self.fair.set(self.fair.value(), 0.0);
        }
    }

    /// Section 3: the fair rate, in units.
    fn update(&mut self, q: f64) {
        let s = &self.settings;
        let f = self.fair.value();
        if q >= s.q_max {
            self.fair.set(s.f_min, q);
        } else if q - self.fair.old() >= s.q_mid && f > s.f_max / 8.0 {
            self.fair.set(f / 2.0, q);
        } else {
            let mut level = 2.0;
            while f < s.f_max / level && level < MOST_LEVEL {
                level *= 2.0;
            }
            let ratio = level / 2.0;
            self.fair.step(q, s.q_ref, -s.alpha / ratio, -s.beta / ratio);
        }
    }

    fn tick(&mut self, view: &QueueView, mut notify: impl FnMut(u32, Fair)) {
        let (queue_bytes, queue_packets) = (view.queue_bytes, view.queue_packets);
        self.update(queue_bytes as f64 / self.settings.queue_unit);
        // A packet that was dropped on arrival never leaves: if more are counted than are there,
        // flows that did not move since are forgotten.
        let counted: u64 = self.flows.iter().map(|(_, flow)| u64::from(flow.queued)).sum();
        let exact = counted <= u64::from(queue_packets);
        let f = self.fair.value();
        if f < self.settings.f_max {
            let rate_bps = (f + 0.5).floor().max(1.0) * self.settings.rate_unit_bps;
            let fair = Fair { rate_bps, cp: self.id };
            // Section 2: to each flow with a packet in the queue during the period.
            for (id, flow) in self.flows.iter() {
                if flow.moved || (exact && flow.queued > 0) {
                    notify(id, fair);
                }
            }
        }
        self.flows.retain(|_, flow| {
            let moved = std::mem::take(&mut flow.moved);
            if queue_packets == 0 {
                flow.queued = 0;
            }
            flow.queued > 0 && (exact || moved)
        });
        let idle = queue_bytes == 0 && f == self.settings.f_max && self.flows.is_empty();
        self.clock.advance(view.now, !idle);
    }
}

impl CongestionPoint for Cp {
    type Feedback = Fair;

    fn hooks(&self) -> Hooks {
        Hooks::ENQUEUE.with(Hooks::DEQUEUE).with(Hooks::TIMER)
    }

    #[inline]
    fn on_enqueue(&mut self, view: &QueueView, packet: &PacketFacts, _: u16, _: Mark<'_>, _: impl FnMut(u32, Fair)) {
        if self.clock.is_asleep() {
            self.wake(view.now);
        }
        let flow = self.flows.entry(packet.flow, Present::default);
        flow.queued += 1;
        flow.moved = true;
    }

    #[inline]
    fn on_dequeue(&mut self, _: &QueueView, packet: &PacketFacts, _: Mark<'_>, _: impl FnMut(u32, Fair)) {
        if let Some(flow) = self.flows.get_mut(packet.flow) {
            flow.queued = flow.queued.saturating_sub(1);
            flow.moved = true;
        }
    }

    fn on_timer(&mut self, view: &QueueView, notify: impl FnMut(u32, Fair)) {
        if self.clock.is_due(view.now) {
            self.tick(view, notify);
        }
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.clock.next()
    }
}

/// Section 4: obeys the congestion point with the smallest rate.
#[derive(Clone, Debug)]
pub struct Rp {
    line_bps: f64,
    /// R_cur
    rate_bps: f64,
    /// CP_cur
    owner: Option<u32>,
    /// T_rec
    recovery: Span,
    recover_at: Option<Time>,
}

impl Rp {
    fn hold_at(&mut self, rate_bps: f64, owner: Option<u32>, now: Time) {
        if rate_bps >= self.line_bps {
            (self.rate_bps, self.owner, self.recover_at) = (self.line_bps, None, None);
        } else {
            (self.rate_bps, self.owner, self.recover_at) = (rate_bps, owner, Some(now + self.recovery));
        }
    }
}

impl ReactionPoint for Rp {
    type Feedback = Fair;

    #[inline]
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps, window_bytes: u64::MAX }
    }

    /// Section 4: accepted from the owner, or if no less restrictive.
    fn on_feedback(&mut self, now: Time, fair: &Fair) {
        if fair.rate_bps <= self.rate_bps || self.owner == Some(fair.cp) {
            self.hold_at(fair.rate_bps, Some(fair.cp), now);
        }
    }

    /// Section 4, fast recovery: doubled after each silence, until nothing limits it.
    fn on_timer(&mut self, now: Time) {
        if self.recover_at.is_some_and(|at| at <= now) {
            self.hold_at(2.0 * self.rate_bps, self.owner, now);
        }
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.recover_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{configured, dequeue, enqueue, flow, queue};

    fn rocc() -> Rocc {
        configured("rocc", &[])
    }

    fn cp() -> Box<Cp> {
        rocc().congestion_point(&QueueFacts { queue: 7, ..queue(40) })
    }

    fn view(now: Time, queue_bytes: u64, queue_packets: u32) -> QueueView {
        QueueView { queue_packets, ..QueueView::at(BitRate::from_gbps(40), now, queue_bytes) }
    }

    fn at_queue(cp: &mut Cp, now: Time, flow: u32, arrives: bool) {
        let (view, packet) = (view(now, 0, 0), PacketFacts::of(flow, 1062));
        let (_, notified) = if arrives { enqueue(cp, &view, &packet) } else { dequeue(cp, &view, &packet) };
        assert!(notified.is_empty(), "CNPs leave at the end of a period");
    }

    #[test]
    fn rocc_7_1_six_periods() {
        let mut cp = cp();
        for (kb, f) in [(90, 3805.0), (210, 3475.0), (240, 3355.0), (200, 3430.0), (150, 3555.0), (150, 3555.0)] {
            cp.update(f64::from(kb) * 1000.0 / 600.0);
            assert!((cp.fair.value() - f).abs() < 1e-9, "{kb} KB: {}", cp.fair.value());
        }
    }

    #[test]
    fn rocc_7_2_small_rates_have_small_gains() {
        let mut cp = cp();
        cp.fair.set(300.0, 250.0 + 60.0);
        cp.update(250.0 + 100.0);
        assert!((cp.fair.value() - 288.75).abs() < 1e-9, "{}", cp.fair.value());
        // The last of six regions: ratio 32 for every rate below F_max / 32.
        cp.fair.set(20.0, 250.0);
        cp.update(250.0 + 32.0);
        assert!((cp.fair.value() - (20.0 - 0.3 - 1.5)).abs() < 1e-9, "{}", cp.fair.value());
    }

    #[test]
    fn rocc_7_3_jumps_and_severe_congestion() {
        let mut cp = cp();
        cp.update(500.0);
        assert_eq!(cp.fair.value(), 2000.0, "300 KB in one period");
        cp.update(600.0);
        assert_eq!(cp.fair.value(), 10.0, "360 KB");
        // At a small rate a jump is left to the controller.
        cp.fair.set(400.0, 0.0);
        cp.update(500.0);
        assert!(cp.fair.value() != 200.0);
    }

    #[test]
    fn rocc_7_5_one_congestion_point_owns_a_flow() {
        let flow = FlowFacts { max_base_rtt: Span::from_us(20), ..flow(40, 10) };
        let mut rp = rocc().reaction_point(&flow);
        assert_eq!((rp.limits().rate_bps, rp.timer()), (40e9, None));
        let mut receive = |us, gbps: f64, cp| {
            rp.on_feedback(Time::from_us(us), &Fair { rate_bps: gbps * 1e9, cp });
            (rp.limits().rate_bps / 1e9, rp.timer().map(|at| at.as_us() - us as f64))
        };
        // T_rec = 2 * 40 + 20 us.
        assert_eq!(receive(0, 5.0, 7), (5.0, Some(100.0)));
        assert_eq!(receive(10, 8.0, 9), (5.0, Some(90.0)), "ignored");
        assert_eq!(receive(20, 6.0, 7), (6.0, Some(100.0)), "from the owner");
        for gbps in [12.0, 24.0, 40.0] {
            let at = rp.timer().unwrap();
            rp.on_timer(at);
            assert_eq!(rp.limits().rate_bps / 1e9, gbps);
        }
        assert_eq!((rp.timer(), rp.owner), (None, None), "released");
        rp.on_feedback(Time::from_ms(1), &Fair { rate_bps: 3e9, cp: 9 });
        assert_eq!((rp.limits().rate_bps, rp.owner), (3e9, Some(9)));
    }

    #[test]
    fn rocc_2_flows_in_the_queue_hear_the_rate() {
        let mut cp = cp();
        let us = Time::from_us;
        assert_eq!(cp.timer(), None);
        for flow in [1, 2, 3] {
            at_queue(&mut cp, us(1005), flow, true);
        }
        assert_eq!(cp.timer(), Some(us(1040)));
        at_queue(&mut cp, us(1010), 1, false);
        let receive = |cp: &mut Cp, at: u64, queue: u64, packets: u32| {
            let mut notified = Vec::new();
            cp.on_timer(&view(us(at), queue, packets), |flow, fair| notified.push((flow, fair.rate_bps / 10e6)));
            notified
        };
        // Q = 90 KB: F = 3805 to every flow that was there.
        assert_eq!(receive(&mut cp, 1040, 90_000, 2), [(1, 3805.0), (2, 3805.0), (3, 3805.0)]);
        // No packet moves; two are still there.
        assert_eq!(receive(&mut cp, 1080, 210_000, 2), [(2, 3475.0), (3, 3475.0)]);
        at_queue(&mut cp, us(1090), 2, false);
        // The queue holds less than counted: flow 3's packet was dropped.
        assert_eq!(receive(&mut cp, 1120, 240_000, 0), [(2, 3355.0)]);
        assert!(cp.flows.is_empty());
        while let Some(at) = cp.timer() {
            assert!(receive(&mut cp, at.ps() / 1_000_000, 0, 0).is_empty());
        }
        assert_eq!(cp.fair.value(), 4000.0, "an idle port sleeps at the largest rate");
    }

    #[test]
    fn rocc_6_no_cnps_at_the_largest_rate() {
        let mut cp = cp();
        at_queue(&mut cp, Time::ZERO, 1, true);
        at_queue(&mut cp, Time::ZERO, 1, false);
        cp.on_timer(&view(Time::from_us(40), 0, 0), |_, _| panic!("F = F_max"));
        assert_eq!(cp.timer(), None);
    }

    #[test]
    fn rocc_odd_parameters_are_refused() {
        let usual = crate::select("rocc").unwrap();
        for (name, text) in [
            ("period", "0us"),
            ("queue_unit", "0B"),
            ("rate_unit", "0bps"),
            ("q_max", "50KB"),
            ("q_ref", "0B"),
            ("gain_alpha", "0"),
        ] {
            assert!(Rocc::validation_error(&usual.clone().with(&[(name, text)])).is_some(), "{name} = {text}");
        }
    }

    #[test]
    fn rocc_5_values_follow_the_port() {
        for (gbps, f_max, q_ref, q_mid, q_max, alpha, beta) in [
            (10, 1000.0, 75.0, 150.0, 180.0, 0.15, 0.75),
            (25, 2500.0, 110.0, 220.0, 264.0, 0.22, 1.1),
            (40, 4000.0, 150.0, 300.0, 360.0, 0.3, 1.5),
            (100, 10000.0, 300.0, 600.0, 660.0, 0.45, 2.25),
        ] {
            let cp = rocc().congestion_point(&queue(gbps));
            let s = &cp.settings;
            assert_eq!((s.f_min, s.f_max), (10.0, f_max));
            for (units, kb) in [(s.q_ref, q_ref), (s.q_mid, q_mid), (s.q_max, q_max)] {
                assert!((units * 0.6 - kb).abs() < 1e-9);
            }
            assert_eq!((s.alpha, s.beta), (alpha, beta));
        }
    }
}
