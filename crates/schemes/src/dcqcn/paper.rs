//! DCQCN's reaction point as the paper gives it, with the original simulator's options.

use super::{CutOrder, HyperBegins, Params, Rates, StageOrder, TargetClamp};
use std::sync::Arc;
use xoff_engine::Time;
use xoff_fabric::scheme::Limits;

#[derive(Clone, Debug)]
pub struct Rp {
    pub(super) params: Arc<Params>,
    rates: Rates,
    /// RC and RT of the paper.
    pub(super) rate_bps: f64,
    pub(super) target_bps: f64,
    pub(super) alpha: f64,
    /// Time until which alpha's timer has been accounted for; it starts with the first CNP.
    alpha_at: Option<Time>,
    pub(super) timer_stage: u32,
    pub(super) byte_stage: u32,
    byte_budget: u64,
    /// The next timed increase; none while the flow is not limited.
    increase_at: Option<Time>,
    /// No increase has happened since the last cut.
    fresh_cut: bool,
    /// The last increase was a hyper one.
    hyper: bool,
    pub(super) increases: u32,
}

impl Rp {
    pub(super) fn new(params: &Arc<Params>, rates: Rates) -> Rp {
        Rp {
            rate_bps: rates.initial_bps,
            target_bps: rates.line_bps,
            alpha: params.alpha_initial,
            alpha_at: None,
            timer_stage: 0,
            byte_stage: 0,
            byte_budget: params.byte_counter,
            increase_at: rates.first_increase(params.increase_timer),
            fresh_cut: false,
            hyper: false,
            increases: 0,
            params: params.clone(),
            rates,
        }
    }

    #[inline]
    pub fn limits(&self) -> Limits {
        self.rates.limits(self.rate_bps, self.params.window)
    }

    #[inline]
    pub fn timer(&self) -> Option<Time> {
        self.increase_at
    }

    /// Alpha at `now`, though it was not needed since.
    pub fn alpha_at(&self, now: Time) -> f64 {
        let mut looked_at = self.clone();
        looked_at.decay_alpha(now);
        looked_at.alpha
    }

    /// Section 3.1, equation 1: cut by alpha / 2 and raise alpha.
    pub fn on_cnp(&mut self, now: Time) {
        self.decay_alpha(now);
        let g = self.params.g;
        let raised = |alpha: f64| (1.0 - g) * alpha + g;
        self.lower_target();
        match self.params.cut_order {
            CutOrder::CutFirst => {
                self.cut();
                self.alpha = raised(self.alpha);
            }
            CutOrder::AlphaFirst => {
                self.alpha = raised(self.alpha);
                self.cut();
            }
        }
        self.alpha_at = Some(now);
        self.restart(now);
    }

    fn cut(&mut self) {
        self.rate_bps = (self.rate_bps * (1.0 - self.alpha / 2.0)).max(self.rates.min_bps);
    }

    /// Keeps the rate: as after a cut, but neither the rate nor alpha changes (TCD, section 5). A flow
    /// at line rate has nothing to hold back.
    pub fn on_hold(&mut self, now: Time) {
        if self.increase_at.is_none() {
            return;
        }
        if self.alpha_at.is_some() {
            self.decay_alpha(now);
            self.alpha_at = Some(now);
        }
        self.lower_target();
        self.restart(now);
    }

    /// The target clamp: always, or unless nothing was sent since the last cut.
    fn lower_target(&mut self) {
        let lower = match self.params.target_clamp {
            TargetClamp::Always => true,
            TargetClamp::AfterIncrease => self.byte_stage != 0,
        };
        if lower {
            self.target_bps = self.rate_bps;
        }
    }

    /// Both stages and their clocks begin anew.
    fn restart(&mut self, now: Time) {
        self.timer_stage = 0;
        self.byte_stage = 0;
        self.byte_budget = self.params.byte_counter;
        self.increase_at = Some(now + self.params.increase_timer);
        self.fresh_cut = true;
        self.hyper = false;
    }

    /// Equation 2: alpha loses a part g per period without CNP. Done when next needed, so that a
    /// silent flow costs nothing.
    fn decay_alpha(&mut self, now: Time) {
        let Some(since) = self.alpha_at else { return };
        let period = self.params.alpha_period;
        let periods = now.saturating_since(since).ps() / period.ps().max(1);
        // Whole periods only, so that alpha's clock keeps its phase.
        self.alpha_at = Some(since + period * periods);
        for _ in 0..periods {
            self.alpha *= 1.0 - self.params.g;
            if self.alpha < 1e-18 {
                self.alpha = 0.0;
                break;
            }
        }
    }

    /// Whether packets that leave are not counted.
    #[inline]
    pub fn rests(&self) -> bool {
        self.increase_at.is_none() || self.params.byte_counter == 0
    }

    #[inline]
    pub fn on_sent(&mut self, wire_bytes: u32) {
        if self.rests() {
            return;
        }
        let bytes = u64::from(wire_bytes);
        if bytes < self.byte_budget {
            self.byte_budget -= bytes;
            return;
        }
        let (timer, byte, was_hyper) = (self.timer_stage, self.byte_stage + 1, self.hyper);
        self.increase(timer, byte, false);
        self.byte_stage = byte;
        self.byte_budget = self.params.byte_counter >> u32::from(self.hyper_halving(was_hyper));
        self.release();
    }

    pub fn on_timer(&mut self, now: Time) {
        let (timer, byte, was_hyper) = (self.timer_stage + 1, self.byte_stage, self.hyper);
        self.increase(timer, byte, true);
        self.timer_stage = timer;
        let period = self.params.increase_timer;
        self.increase_at = Some(now + if self.hyper_halving(was_hyper) { period / 2 } else { period });
        self.release();
    }

    /// `was_hyper`: the increase before the one just made was a hyper one.
    fn hyper_halving(&self, was_hyper: bool) -> bool {
        let least = self.timer_stage.min(self.byte_stage);
        let hyper = match self.params.hyper_begins {
            HyperBegins::Either => u64::from(least) >= self.params.fast_recovery,
            HyperBegins::Timed => was_hyper,
        };
        self.params.hyper_halves && hyper
    }

    /// Section 3.1: fast recovery, additive or hyper increase, by the two stages. `timer` and
    /// `byte` are the stages after this event is counted; `timed`: the timer's.
    fn increase(&mut self, timer: u32, byte: u32, timed: bool) {
        let f = self.params.fast_recovery as u32;
        if self.params.target_decay && self.fresh_cut && self.target_bps > 10.0 * self.rate_bps {
            self.target_bps /= 8.0;
        }
        self.fresh_cut = false;
        self.increases = self.increases.wrapping_add(1);
        let (timer, byte, hyper_from) = match self.params.stage_order {
            StageOrder::ClassifyFirst => (self.timer_stage, self.byte_stage, f + 1),
            StageOrder::IncrementFirst => (timer, byte, f),
        };
        let (least, most) = (timer.min(byte), timer.max(byte));
        let begins = timed || self.params.hyper_begins == HyperBegins::Either;
        self.hyper = least >= hyper_from && (self.hyper || begins);
        if most < f {
            // Fast recovery: the target stays.
        } else if self.hyper {
            let i = least - hyper_from + 1;
            self.target_bps += f64::from(i) * self.rates.hai_bps;
        } else {
            self.target_bps += self.rates.ai_bps;
        }
        self.target_bps = self.target_bps.min(self.rates.line_bps);
        self.rate_bps = (self.rate_bps + self.target_bps) / 2.0;
    }

    /// At line rate nothing is left to do until the next CNP.
    fn release(&mut self) {
        if self.rates.line_bps - self.rate_bps < 1.0 {
            self.rate_bps = self.rates.line_bps;
            self.target_bps = self.rates.line_bps;
            self.increase_at = None;
        }
    }
}
