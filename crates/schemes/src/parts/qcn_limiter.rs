//! QCN's reaction point: a rate limiter that cuts on feedback and recovers by itself.
//!
//! Section numbers are those of QCN (IEEE 802.1Qau; FQCN paper, section III.B). There is no
//! positive feedback: a byte counter and a timer drive the increase. A flow at line rate has no
//! limiter and no timer.

use super::qcn_sampler::Cnm;
use crate::param::params;
use std::sync::Arc;
use xoff_engine::{Rng, Span, Time, stream};
use xoff_fabric::scheme::{FlowFacts, Limits, ReactionPoint};

params! {
    /// Symbols are the FQCN paper's.
    pub struct Params {
        /// relative cut per unit of feedback
        gd "Gd": Number(0.0..=1.0) = "1/128", from "FQCN paper, section VI";
        /// largest relative cut of one CNM
        max_cut: Number(0.0..=0.9) = "0.5", from "IEEE 802.1Qau: a rate is never more than halved";
        /// cycles of byte counter or timer before the target grows
        fast_recovery "CT": Count(1..=100) = "5", from "FQCN paper, section VI";
        /// bytes per cycle of the byte counter; half after fast recovery
        byte_counter "BL": Bytes = "150KB", from "FQCN paper, section VI";
        /// time per cycle of the timer; half after fast recovery
        increase_timer "T": Time = "15ms", from "FQCN paper, section VI";
        /// uniform jitter of byte counter and timer, either way
        jitter: Number(0.0..=0.9) = "0.15", from "IEEE 802.1Qau: avoids phase locking";
        /// additive increase of the target
        rate_ai "R_AI": Rate = "line/2000",
            from "FQCN paper, section VI: 0.5 Mb/s at 1G, 5 Mb/s at 10G; in proportion elsewhere (assumption)";
        /// hyper-active increase of the target, per cycle beyond fast recovery
        rate_hai "R_HAI": Rate = "line/200",
            from "FQCN paper, section VI: 5 Mb/s at 1G, 50 Mb/s at 10G; in proportion elsewhere (assumption)";
        /// floor of the sending rate
        rate_min "R_min": Rate = "line/1000",
            from "assumption: 10 Mb/s at 10G, in proportion elsewhere; IEEE 802.1Qau: 5 Mb/s";
        /// back-to-back CNMs leave the target where it was
        keep_target: Flag = "false", from "FQCN paper: false; IEEE 802.1Qau: true";
        /// a CNM in the first cycle of the byte counter leaves the counter running
        keep_bytes: Flag = "false", from "FQCN paper: false; IEEE 802.1Qau: true, under the same condition as the target";
        /// choose the kind of increase before or after counting it
        stage_order: StageOrder {
            ClassifyFirst = "classify-first",
            IncrementFirst = "increment-first",
        } = "classify-first", from "assumption: gives CT full recovery cycles; IEEE 802.1Qau and DCQCN's original simulator count first";
        // A target lowered by every cut is never ten times the rate.
        /// an eighth of the target if it exceeds ten rates at the first cycle after a cut
        target_decay: Flag = "false" if keep_target, from "FQCN paper: false; IEEE 802.1Qau: true";
    }
}

impl Params {
    /// Why these values make no sense together.
    pub fn validation_error(&self) -> Option<String> {
        if self.byte_counter < 2 {
            return Some("`byte_counter` is not at least 2 bytes".into());
        }
        (self.increase_timer.ps() < 2).then(|| "`increase_timer` is zero".into())
    }

    /// CT, as cycles are counted.
    fn ct(&self) -> u32 {
        self.fast_recovery as u32
    }
}

impl StageOrder {
    /// The cycle by which the increase at the end of `cycle` is classified.
    fn classified_by(self, cycle: u32) -> u32 {
        match self {
            StageOrder::ClassifyFirst => cycle,
            StageOrder::IncrementFirst => cycle + 1,
        }
    }
}

/// One flow's rate limiter: QCN section 4.
#[derive(Clone, Debug)]
pub struct Limiter {
    params: Arc<Params>,
    line_bps: f64,
    ai_bps: f64,
    hai_bps: f64,
    min_bps: f64,
    /// RC and RT.
    rate_bps: f64,
    target_bps: f64,
    byte_cycle: u32,
    timer_cycle: u32,
    bytes_left: u64,
    /// The end of the timer's cycle; none while the flow is not limited.
    timer_at: Option<Time>,
    fresh_cut: bool,
    rng: Rng,
}

impl Limiter {
    /// Idle at line rate; at work from `of.start` on if the flow starts below it.
    pub fn new(params: &Arc<Params>, of: &FlowFacts) -> Limiter {
        let line_bps = of.line_rate.bps() as f64;
        // A floor of zero would stop the flow for good.
        let min_bps = params.rate_min.at(of.line_rate).clamp(1000.0, line_bps);
        let mut limiter = Limiter {
            line_bps,
            ai_bps: params.rate_ai.at(of.line_rate),
            hai_bps: params.rate_hai.at(of.line_rate),
            min_bps,
            // From below the floor a cut would raise it.
            rate_bps: (of.initial_rate.bps() as f64).clamp(min_bps, line_bps),
            target_bps: line_bps,
            byte_cycle: 0,
            timer_cycle: 0,
            bytes_left: 0,
            timer_at: None,
            fresh_cut: false,
            rng: stream(of.seed, "qcn limiter", of.flow),
            params: params.clone(),
        };
        if limiter.rate_bps < line_bps {
            limiter.restart(of.start, false);
        }
        limiter
    }

    /// Both cycles begin anew; the bytes of the first continue to count if they are kept.
    fn restart(&mut self, now: Time, keep_bytes: bool) {
        (self.byte_cycle, self.timer_cycle) = (0, 0);
        if !keep_bytes {
            self.bytes_left = self.cycle_bytes();
        }
        self.timer_at = Some(now + self.cycle_time());
    }

    /// Section 4, decrease: RT = RC, RC cut by Gd Psi.
    pub fn on_cnm(&mut self, now: Time, psi: u8) {
        let first_cycle = self.byte_cycle == 0;
        if !(self.params.keep_target && first_cycle) {
            self.target_bps = self.rate_bps;
        }
        let cut = (self.params.gd * f64::from(psi)).min(self.params.max_cut);
        self.rate_bps = (self.rate_bps * (1.0 - cut)).max(self.min_bps);
        self.fresh_cut = true;
        // A flow that was not limited has counted nothing.
        let counting = self.timer_at.is_some();
        self.restart(now, self.params.keep_bytes && first_cycle && counting);
        self.release();
    }

    /// Section 4, byte counter: a cycle ends every BL bytes, every BL / 2 after fast recovery.
    fn cycle_bytes(&mut self) -> u64 {
        let halved = self.byte_cycle >= self.params.ct();
        let bytes = (self.params.byte_counter >> u32::from(halved)) as f64;
        ((bytes * self.spread()) as u64).max(1)
    }

    /// Section 4, timer: a cycle ends every T, every T / 2 after fast recovery.
    fn cycle_time(&mut self) -> Span {
        let halved = self.timer_cycle >= self.params.ct();
        let time = (self.params.increase_timer.ps() >> u32::from(halved)) as f64;
        Span::from_ps(((time * self.spread()) as u64).max(1))
    }

    /// Section 4, jitter: uniform, either way.
    fn spread(&mut self) -> f64 {
        match self.params.jitter {
            0.0 => 1.0,
            jitter => 1.0 + jitter * (2.0 * self.rng.unit() - 1.0),
        }
    }

    fn byte_event(&mut self) {
        self.increase(self.params.stage_order.classified_by(self.byte_cycle), self.timer_cycle);
        self.byte_cycle += 1;
        self.bytes_left = self.cycle_bytes();
        self.release();
    }

    fn timer_event(&mut self, now: Time) {
        self.increase(self.byte_cycle, self.params.stage_order.classified_by(self.timer_cycle));
        self.timer_cycle += 1;
        self.timer_at = Some(now + self.cycle_time());
        self.release();
    }

    /// Section 4, increase event: fast recovery, additive or hyper-active, by the two counts.
    fn increase(&mut self, byte: u32, timer: u32) {
        // After the first event the rate is at least half of the target: it cannot be a tenth again.
        let first = std::mem::take(&mut self.fresh_cut);
        let ct = self.params.ct();
        if first && self.params.target_decay && self.target_bps > 10.0 * self.rate_bps {
            self.target_bps /= 8.0;
        } else {
            self.target_bps += match (byte >= ct, timer >= ct) {
                (false, false) => 0.0,
                (true, true) => f64::from(byte.min(timer) - ct + 1) * self.hai_bps,
                _ => self.ai_bps,
            };
        }
        self.target_bps = self.target_bps.min(self.line_bps);
        self.rate_bps = (self.rate_bps + self.target_bps) / 2.0;
    }

    /// Section 4: at line rate the limiter is released. The halvings never quite get there.
    fn release(&mut self) {
        if self.line_bps - self.rate_bps < 1.0 {
            (self.rate_bps, self.target_bps) = (self.line_bps, self.line_bps);
            self.timer_at = None;
        }
    }
}

impl ReactionPoint for Limiter {
    type Feedback = Cnm;

    #[inline]
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps, window_bytes: u64::MAX }
    }

    #[inline]
    fn on_sent(&mut self, _: Time, wire_bytes: u32) {
        if self.timer_at.is_some() {
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(wire_bytes));
            if self.bytes_left == 0 {
                self.byte_event();
            }
        }
    }

    fn on_feedback(&mut self, now: Time, cnm: &Cnm) {
        self.on_cnm(now, cnm.psi);
    }

    fn on_timer(&mut self, now: Time) {
        if self.timer_at.is_some_and(|at| at <= now) {
            self.timer_event(now);
        }
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.timer_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::SchemeSpec;
    use xoff_engine::BitRate;

    static SPEC: SchemeSpec = SchemeSpec::new("limiter", "", "", Params::TABLE, &[]);

    /// Without jitter, unless there is to be some.
    fn params(texts: &[(&str, &str)]) -> Arc<Params> {
        Arc::new(Params::read(&SPEC.values(None).with(&[&[("jitter", "0")], texts].concat())))
    }

    /// Without jitter, at 10G.
    fn limiter(texts: &[(&str, &str)]) -> Limiter {
        Limiter::new(&params(texts), &FlowFacts::at(BitRate::from_gbps(10), Span::from_us(50)))
    }

    fn at_rate(gbps: f64, texts: &[(&str, &str)]) -> Limiter {
        Limiter { rate_bps: gbps * 1e9, target_bps: gbps * 1e9, ..limiter(texts) }
    }

    #[track_caller]
    fn assert_gbps(bps: f64, gbps: f64) {
        assert!((bps / 1e9 - gbps).abs() < 1e-12, "{} instead of {gbps} Gb/s", bps / 1e9);
    }

    #[test]
    fn qcn_7_2_cut_and_fast_recovery() {
        let mut rp = limiter(&[]);
        assert_eq!(rp.timer(), None, "no limiter before the first CNM");
        rp.on_cnm(Time::ZERO, 18);
        assert_gbps(rp.target_bps, 10.0);
        assert_gbps(rp.rate_bps, 8.59375);
        for gbps in [9.296875, 9.6484375, 9.82421875, 9.912109375, 9.9560546875] {
            rp.byte_event();
            assert_gbps(rp.rate_bps, gbps);
        }
    }

    #[test]
    fn qcn_7_3_additive_and_hyper_active_increase() {
        let mut rp = at_rate(4.0, &[]);
        rp.on_cnm(Time::ZERO, 64);
        assert_gbps(rp.target_bps, 4.0);
        assert_gbps(rp.rate_bps, 2.0);
        for gbps in [3.0, 3.5, 3.75, 3.875, 3.9375] {
            rp.byte_event();
            assert_gbps(rp.rate_bps, gbps);
        }
        rp.byte_event();
        assert_gbps(rp.target_bps, 4.005);
        assert_gbps(rp.rate_bps, 3.97125);
        assert_eq!(rp.byte_cycle, 6);
        rp.timer_cycle = 5;
        let now = Time::from_ms(100);
        for (by_timer, target, rate) in [(false, 4.055, 4.013125), (true, 4.105, 4.0590625), (false, 4.205, 4.13203125)]
        {
            if by_timer {
                rp.timer_event(now)
            } else {
                rp.byte_event()
            }
            assert_gbps(rp.target_bps, target);
            assert_gbps(rp.rate_bps, rate);
        }
    }

    #[test]
    fn qcn_7_4_lengths_of_cycles() {
        let mut rp = at_rate(4.0, &[]);
        rp.on_cnm(Time::ZERO, 64);
        // 150 KB at 2 Gb/s are 600 us.
        assert_eq!(rp.bytes_left as f64 * 8.0 / rp.rate_bps, 600e-6);
        assert_eq!(rp.timer(), Some(Time::from_ms(15)));
        // Five full cycles each, then half ones.
        let mut now = Time::ZERO;
        for ms in [15, 30, 45, 60, 75] {
            now = rp.timer().unwrap();
            assert_eq!(now, Time::from_ms(ms));
            rp.on_timer(now);
        }
        assert_eq!(rp.timer(), Some(now + Span::from_us(7500)));
        let mut cycles = Vec::new();
        for _ in 0..6 {
            cycles.push(rp.bytes_left);
            rp.byte_event();
        }
        assert_eq!(cycles, [150_000, 150_000, 150_000, 150_000, 150_000, 75_000]);
        // Bytes count as they are sent.
        rp.on_cnm(now, 64);
        rp.on_sent(now, 149_999);
        assert_eq!(rp.byte_cycle, 0);
        rp.on_sent(now, 1);
        assert_eq!(rp.byte_cycle, 1);
    }

    #[test]
    fn qcn_4_never_more_than_halved_nor_below_the_floor() {
        let mut rp = at_rate(4.0, &[("gd", "1/32")]);
        rp.on_cnm(Time::ZERO, 64);
        assert_gbps(rp.rate_bps, 2.0);
        for _ in 0..20 {
            rp.on_cnm(Time::ZERO, 64);
        }
        assert_gbps(rp.rate_bps, 0.01);
    }

    #[test]
    fn qcn_4_keep_target_on_back_to_back_cnms() {
        for (keep, target) in [("false", 5.0), ("true", 10.0)] {
            let mut rp = limiter(&[("keep_target", keep)]);
            rp.on_cnm(Time::ZERO, 64);
            rp.on_cnm(Time::ZERO, 64);
            assert_gbps(rp.target_bps, target);
            assert_gbps(rp.rate_bps, 2.5);
            rp.byte_event();
            let rate = rp.rate_bps;
            rp.on_cnm(Time::ZERO, 64);
            assert_eq!(rp.target_bps, rate, "a cycle has passed");
        }
    }

    #[test]
    fn qcn_4_a_cnm_in_the_first_cycle_of_the_byte_counter_leaves_it_running() {
        for (keep, left) in [("false", 150_000), ("true", 50_000)] {
            let mut rp = limiter(&[("keep_bytes", keep)]);
            rp.on_sent(Time::ZERO, 100_000);
            rp.on_cnm(Time::ZERO, 64);
            assert_eq!(rp.bytes_left, 150_000, "nothing was counted before the first");
            rp.on_sent(Time::ZERO, 100_000);
            rp.on_cnm(Time::from_us(7), 64);
            assert_eq!(rp.bytes_left, left);
            assert_eq!(rp.timer(), Some(Time::from_us(15_007)), "the timer begins anew in any case");
            rp.on_sent(Time::from_us(8), left as u32);
            assert_eq!(rp.byte_cycle, 1);
            rp.on_sent(Time::from_us(8), 100_000);
            rp.on_cnm(Time::from_us(9), 64);
            assert_eq!((rp.byte_cycle, rp.bytes_left), (0, 150_000), "a cycle has passed");
        }
    }

    #[test]
    fn qcn_4_the_timer_alone_does_not_move_the_target() {
        // IEEE 802.1Qau asks for a cycle of the byte counter; what the timer did counts for nothing.
        let mut rp = limiter(&[("keep_target", "true"), ("keep_bytes", "true")]);
        rp.on_cnm(Time::ZERO, 64);
        rp.on_sent(Time::ZERO, 100_000);
        rp.on_timer(Time::from_ms(15));
        assert_gbps(rp.rate_bps, 7.5);
        rp.on_cnm(Time::from_ms(16), 64);
        assert_gbps(rp.target_bps, 10.0);
        assert_eq!((rp.timer_cycle, rp.bytes_left), (0, 50_000));
    }

    #[test]
    fn qcn_4_counting_first_recovers_one_cycle_less() {
        let mut rp = at_rate(4.0, &[("stage_order", "increment-first")]);
        rp.on_cnm(Time::ZERO, 64);
        for _ in 0..4 {
            rp.byte_event();
            assert_gbps(rp.target_bps, 4.0);
        }
        rp.byte_event();
        assert_gbps(rp.target_bps, 4.005);
    }

    #[test]
    fn qcn_4_target_decay() {
        for (decay, target) in [("false", 10.0), ("true", 1.25)] {
            let mut rp = limiter(&[("target_decay", decay), ("keep_target", "true")]);
            for _ in 0..4 {
                rp.on_cnm(Time::ZERO, 64);
            }
            assert_gbps(rp.rate_bps, 0.625);
            rp.byte_event();
            assert_gbps(rp.target_bps, target);
            rp.byte_event();
            assert_gbps(rp.target_bps, target);
        }
    }

    #[test]
    fn qcn_4_jitter_stays_within_its_bounds() {
        let mut rp = limiter(&[("jitter", "0.15")]);
        let cycles: Vec<u64> = (0..1000).map(|_| rp.cycle_bytes()).collect();
        assert!(cycles.iter().all(|bytes| (127_499..=172_500).contains(bytes)));
        assert!(cycles.iter().any(|b| *b < 130_000) && cycles.iter().any(|b| *b > 170_000));
        assert!((0..1000).all(|_| (12_749..=17_250).contains(&(rp.cycle_time().ps() / 1_000_000))));
    }

    #[test]
    fn qcn_4_released_at_line_rate() {
        let mut rp = limiter(&[("jitter", "0.15")]);
        rp.on_cnm(Time::ZERO, 64);
        let mut steps = 0;
        while let Some(at) = rp.timer() {
            rp.on_timer(at);
            steps += 1;
            assert!(steps < 100, "an idle flow recovers by its timer");
        }
        assert_eq!(rp.limits().rate_bps, 10e9);
        rp.on_sent(Time::from_ms(1), 1_000_000);
        assert_eq!((rp.limits().rate_bps, rp.timer()), (10e9, None));
    }

    #[test]
    fn a_flow_that_starts_below_line_rate_is_limited() {
        let params = params(&[]);
        let facts = FlowFacts {
            initial_rate: BitRate::from_gbps(4),
            start: Time::from_ms(3),
            ..FlowFacts::at(BitRate::from_gbps(10), Span::from_us(50))
        };
        let mut rp = Limiter::new(&params, &facts);
        assert_eq!((rp.limits().rate_bps, rp.timer()), (4e9, Some(Time::from_ms(18))));
        rp.on_sent(Time::from_ms(3), 150_000);
        assert_eq!(rp.limits().rate_bps, 7e9);
        let rp = Limiter::new(&params, &FlowFacts { initial_rate: BitRate::from_mbps(4), ..facts });
        assert_eq!(rp.limits().rate_bps, 10e6, "the floor");
    }

    #[test]
    fn qcn_5_rates_follow_the_line() {
        let params = Params::read(&SPEC.values(None));
        for (gbps, ai, hai, min) in [
            (1, 0.5, 5.0, 1.0),
            (10, 5.0, 50.0, 10.0),
            (25, 12.5, 125.0, 25.0),
            (40, 20.0, 200.0, 40.0),
            (100, 50.0, 500.0, 100.0),
        ] {
            for (rate, mbps) in [(params.rate_ai, ai), (params.rate_hai, hai), (params.rate_min, min)] {
                let at = rate.at(BitRate::from_gbps(gbps)) / 1e6;
                assert!((at - mbps).abs() < 1e-9, "{at} instead of {mbps} Mb/s at {gbps}G");
            }
        }
    }

    #[test]
    fn a_limiter_is_small() {
        assert!(std::mem::size_of::<Limiter>() <= 128, "{}", std::mem::size_of::<Limiter>());
    }
}
