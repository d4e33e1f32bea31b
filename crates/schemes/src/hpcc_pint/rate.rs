//! The sender of the authors' simulator: a rate in whole bits per second, without a window and without an average of
//! its own. As [`crate::hpcc`] with `law = "rate"`, but for where the utilisation is from.

use super::Params;
use super::code::Code;
use crate::param::RateValue;
use crate::parts::rounding::cut_off;
use std::sync::Arc;
use xoff_engine::SharedGlibc;
use xoff_fabric::scheme::{Acked, FlowFacts, Limits};

/// Rate of one flow.
#[derive(Debug)]
pub struct Rp {
    rate_bps: u64,
    /// R^c
    reference_bps: u64,
    line_bps: u64,
    min_bps: u64,
    /// R_AI
    step_bps: u64,
    eta: f64,
    utilisation: f64,
    /// An ACK counts if the lower 16 bits of a random number are below it.
    threshold: u32,
    stage: u32,
    max_stage: u32,
    increases: u32,
    decided: bool,
    /// lastUpdateSeq; zero before the first ACK that counts.
    round_ends_bytes: u64,
    code: Arc<Code>,
    random: SharedGlibc,
}

impl Rp {
    pub(super) fn new(params: &Params, of: &FlowFacts, code: &Arc<Code>, random: &SharedGlibc) -> Rp {
        let rate = |value: RateValue| value.at(of.line_rate).round() as u64;
        let line_bps = of.line_rate.bps();
        let min_bps = rate(params.rate_min).clamp(1, line_bps.max(1));
        let rate_bps = of.initial_rate.bps().max(min_bps).min(line_bps);
        Rp {
            rate_bps,
            reference_bps: rate_bps,
            line_bps,
            min_bps,
            step_bps: rate(params.reaction.rate_ai),
            eta: params.reaction.eta,
            utilisation: 1.0,
            threshold: (params.probability * 65_536.0) as u32,
            stage: 0,
            max_stage: params.reaction.max_stage as u32,
            increases: 0,
            decided: false,
            round_ends_bytes: 0,
            code: Arc::clone(code),
            random: random.clone(),
        }
    }

    pub fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps as f64, window_bytes: u64::MAX }
    }

    pub fn on_ack(&mut self, ack: &Acked<'_>) {
        self.decided = false;
        // Drawn for every ACK, whatever the threshold.
        if self.random.draw() & 0xffff >= self.threshold {
            return;
        }
        let Some(stack) = ack.int else { return };
        if self.round_ends_bytes == 0 {
            self.round_ends_bytes = ack.sent_bytes;
            return;
        }
        self.decided = true;
        self.utilisation = self.code.decode(stack.tag);
        let cut = self.utilisation / self.eta;
        let (bps, stage) = if cut >= 1.0 || self.stage >= self.max_stage {
            (cut_off(self.reference_bps as f64 / cut), 0)
        } else {
            (self.reference_bps, self.stage + 1)
        };
        self.rate_bps = bps.wrapping_add(self.step_bps).max(self.min_bps).min(self.line_bps);
        if ack.acked_bytes > self.round_ends_bytes {
            self.increases = self.increases.wrapping_add(u32::from(cut < 1.0));
            (self.reference_bps, self.stage) = (self.rate_bps, stage);
            self.round_ends_bytes = self.round_ends_bytes.max(ack.sent_bytes);
        }
    }

    pub fn increases(&self) -> u32 {
        self.increases
    }

    pub fn utilisation(&self) -> f64 {
        self.utilisation
    }

    pub fn has_decided(&self) -> bool {
        self.decided
    }
}
