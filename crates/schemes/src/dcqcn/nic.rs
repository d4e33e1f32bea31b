//! DCQCN's reaction point as NICs have it: alpha and cuts on clocks of their own.
//!
//! What the clocks did is worked out when it is next needed, so that a flow without congestion costs
//! nothing. Where even coincidences must come out as in the simulator this was read from, they run
//! (`clocks = "running"`): one event for each tick.

use super::{Clocks, Params, Rates, TargetClamp, TimerOrder};
use crate::parts::rounding::Rounding;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::{Limits, TIMERS};

/// The decrease check runs this long after alpha's update, so that it sees it.
const AFTER_ALPHA: Span = Span::from_ns(1);

#[derive(Clone, Debug)]
pub struct Rp {
    params: Arc<Params>,
    rates: Rates,
    pub(super) rate_bps: f64,
    pub(super) target_bps: f64,
    pub(super) alpha: f64,
    /// When the two periodic clocks started: the first CNP.
    started: Option<Time>,
    /// Ticks of alpha's clock accounted for.
    alpha_ticks: u64,
    cnp_for_alpha: bool,
    cnp_for_decrease: bool,
    pub(super) stage: u32,
    increase_at: Option<Time>,
    decrease_at: Option<Time>,
    /// Alpha's next tick, if its clock runs.
    alpha_at: Option<Time>,
    byte_budget: u64,
    /// The next increase does not take place.
    held: bool,
    pub(super) increases: u32,
}

impl Rp {
    pub(super) fn new(params: &Arc<Params>, rates: Rates) -> Rp {
        Rp {
            rate_bps: rates.initial_bps,
            target_bps: rates.line_bps,
            alpha: params.alpha_initial,
            started: None,
            alpha_ticks: 0,
            cnp_for_alpha: false,
            cnp_for_decrease: false,
            stage: 0,
            increase_at: rates.first_increase(params.increase_timer),
            decrease_at: None,
            alpha_at: None,
            byte_budget: params.byte_counter,
            held: false,
            increases: 0,
            params: params.clone(),
            rates,
        }
    }

    fn rounding(&self) -> Rounding {
        self.params.rounding.rounding
    }

    #[inline]
    pub fn limits(&self) -> Limits {
        self.rates.limits(self.rate_bps, self.params.window)
    }

    #[inline]
    pub fn timer(&self) -> Option<Time> {
        let earlier = |a: Option<Time>, b: Option<Time>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        earlier(self.decrease_at, earlier(self.increase_at, self.alpha_at))
    }

    pub fn timers(&self) -> [Option<Time>; TIMERS] {
        [self.alpha_at, self.decrease_at, self.increase_at, None]
    }

    pub fn on_cnp(&mut self, now: Time) {
        match self.params.clocks {
            Clocks::WorkedOut => self.on_cnp_worked_out(now),
            Clocks::Running => self.on_cnp_running(now),
        }
    }

    fn on_cnp_worked_out(&mut self, now: Time) {
        let started = match self.started {
            None => {
                self.started = Some(now);
                self.alpha = self.params.alpha_initial;
                self.target_bps = self.rate_bps;
                now
            }
            Some(started) => {
                self.tick_alpha(now);
                self.cnp_for_alpha = true;
                started
            }
        };
        if !self.cnp_for_decrease {
            self.cnp_for_decrease = true;
            // The first check strictly after now, on the grid of the first CNP.
            let period = self.params.decrease_period.ps().max(1);
            let since = (now.saturating_since(started)).ps().saturating_sub(AFTER_ALPHA.ps());
            let at = started + AFTER_ALPHA + self.params.decrease_period * (since / period + 1);
            self.decrease_at = Some(at);
        }
    }

    /// The first CNP starts both clocks; the others are only noted.
    fn on_cnp_running(&mut self, now: Time) {
        self.cnp_for_decrease = true;
        self.cnp_for_alpha = self.started.is_some();
        if self.started.is_none() {
            self.started = Some(now);
            self.alpha = self.params.alpha_initial;
            self.target_bps = self.rate_bps;
            self.alpha_at = Some(now + self.params.alpha_period);
            self.decrease_at = Some(now + self.params.decrease_period + AFTER_ALPHA);
        }
    }

    /// A tick of alpha's clock, and a decrease check if there was a CNP since the last.
    fn run_clocks(&mut self, now: Time) {
        if self.decrease_at.is_some_and(|at| at <= now) {
            if self.cnp_for_decrease {
                self.decrease(now);
            }
            self.decrease_at = Some(now + self.params.decrease_period);
        }
        if self.alpha_at.is_some_and(|at| at <= now) {
            let g = self.params.g;
            let came = std::mem::take(&mut self.cnp_for_alpha);
            self.alpha = if came { (1.0 - g) * self.alpha + g } else { (1.0 - g) * self.alpha };
            self.alpha_at = Some(now + self.params.alpha_period);
        }
    }

    /// Alpha at `now`, though it was not needed since.
    pub fn alpha_at(&self, now: Time) -> f64 {
        let mut looked_at = self.clone();
        looked_at.tick_alpha(now);
        looked_at.alpha
    }

    /// Every period alpha = (1 - g) alpha + g [a CNP came]. Done when next needed.
    fn tick_alpha(&mut self, now: Time) {
        if self.params.clocks == Clocks::Running {
            return;
        }
        let Some(started) = self.started else { return };
        let due = now.saturating_since(started).ps() / self.params.alpha_period.ps().max(1);
        let g = self.params.g;
        if self.alpha_ticks < due && std::mem::take(&mut self.cnp_for_alpha) {
            self.alpha = (1.0 - g) * self.alpha + g;
            self.alpha_ticks += 1;
        }
        while self.alpha_ticks < due {
            self.alpha *= 1.0 - g;
            self.alpha_ticks += 1;
            if self.alpha < self.negligible_alpha() {
                self.alpha = 0.0;
                self.alpha_ticks = due;
            }
        }
    }

    /// Alpha below it is zero. Where the last bit counts, too small to change any sum with g.
    fn negligible_alpha(&self) -> f64 {
        match self.rounding() {
            Rounding::None => 1e-18,
            Rounding::Bps => 1e-36,
        }
    }

    pub fn on_timer(&mut self, now: Time) {
        let increase_first = match self.params.timer_order {
            TimerOrder::DecreaseFirst => false,
            TimerOrder::LongerFirst => self.params.increase_timer > self.params.decrease_period,
        };
        if increase_first {
            self.increase_if_due(now);
        }
        match self.params.clocks {
            Clocks::Running => self.run_clocks(now),
            Clocks::WorkedOut if self.decrease_at.is_some_and(|at| at <= now) => {
                self.decrease_at = None;
                self.decrease(now);
            }
            Clocks::WorkedOut => {}
        }
        self.increase_if_due(now);
    }

    fn increase_if_due(&mut self, now: Time) {
        if self.increase_at.is_some_and(|at| at <= now) {
            self.increase();
            self.increase_at = Some(now + self.params.increase_timer);
            self.release();
        }
    }

    fn decrease(&mut self, now: Time) {
        self.tick_alpha(now);
        self.cnp_for_decrease = false;
        let lower = match self.params.target_clamp {
            TargetClamp::Always => true,
            TargetClamp::AfterIncrease => self.stage != 0,
        };
        if lower {
            self.target_bps = self.rate_bps;
        }
        let cut_bps = self.rounding().keep(self.rate_bps * (1.0 - self.alpha / 2.0));
        self.rate_bps = cut_bps.max(self.rates.min_bps);
        self.stage = 0;
        self.byte_budget = self.params.byte_counter;
        self.increase_at = Some(now + self.params.increase_timer);
    }

    /// Blocks the next increase, and nothing else (TCD, section 6). A flow at line rate has none to
    /// block.
    pub fn on_hold(&mut self) {
        self.held = self.increase_at.is_some() || self.decrease_at.is_some();
    }

    fn increase(&mut self) {
        if std::mem::take(&mut self.held) {
            return;
        }
        let f = self.params.fast_recovery as u32;
        if self.stage == f {
            self.target_bps += self.rates.ai_bps;
        } else if self.stage > f {
            self.target_bps += self.rates.hai_bps;
        }
        self.target_bps = self.target_bps.min(self.rates.line_bps);
        self.rate_bps = self.rounding().mean(self.rate_bps, self.target_bps);
        self.stage += 1;
        self.increases = self.increases.wrapping_add(1);
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
        } else {
            self.byte_budget = self.params.byte_counter;
            self.increase();
            self.release();
        }
    }

    /// At line rate nothing is left to do until the next CNP.
    fn release(&mut self) {
        if self.params.clocks == Clocks::Running {
            return;
        }
        if self.rounding() == Rounding::Bps {
            // Whole halves may stop one bit short of line rate. The flow stays there, and only that
            // there was an increase matters to the next cut.
            let next_bps = self.rounding().mean(self.rate_bps, self.rates.line_bps);
            if self.stage > 0 && self.target_bps == self.rates.line_bps && next_bps == self.rate_bps {
                self.increase_at = None;
            }
        } else if self.rates.line_bps - self.rate_bps < 1.0 {
            self.rate_bps = self.rates.line_bps;
            self.target_bps = self.rates.line_bps;
            self.increase_at = None;
        }
    }
}
