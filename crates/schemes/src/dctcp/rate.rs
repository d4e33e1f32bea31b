//! The rate form over RoCE, as HPCC's authors coded it (section 4).

use super::{Increase, Params, RateWindow};
use std::sync::Arc;
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::{Acked, FlowFacts, Limits, ReactionPoint};

#[derive(Clone, Debug)]
pub struct Rp {
    params: Arc<Params>,
    line_bps: f64,
    min_bps: f64,
    ai_bps: f64,
    bdp_bytes: f64,
    pub(super) rate_bps: f64,
    pub(super) alpha: f64,
    /// Marked ACKs of the batch, and the packets that it is made of.
    marks: u64,
    batch: u64,
    /// The batch ends when more than this is acknowledged; zero before the first.
    last_update: u64,
    /// While reduced, further marks do not cut until more than this is acknowledged.
    high: u64,
    reduced: bool,
    mtu_bytes: u32,
    increases: u32,
}

impl Rp {
    pub(super) fn new(params: &Arc<Params>, of: &FlowFacts) -> Rp {
        let line_bps = of.line_rate.bps() as f64;
        let round_trip = of.max_base_rtt.max(of.base_rtt);
        let ai_bps = match params.increase {
            Increase::MtuPerRtt => f64::from(of.mtu_bytes) * 8.0 / round_trip.as_s(),
            Increase::Fixed => params.rate_ai.at(of.line_rate),
        };
        let rounding = params.rounding.rounding;
        let min_bps = rounding.given(params.rate_min.at(of.line_rate)).clamp(1.0, line_bps);
        Rp {
            params: params.clone(),
            line_bps,
            min_bps,
            ai_bps: rounding.given(ai_bps.min(line_bps)),
            bdp_bytes: of.line_rate.bytes_in(round_trip) as f64,
            rate_bps: (of.initial_rate.bps() as f64).clamp(min_bps, line_bps),
            alpha: params.alpha_initial,
            marks: 0,
            batch: 0,
            last_update: 0,
            high: 0,
            reduced: false,
            mtu_bytes: of.mtu_bytes,
            increases: 0,
        }
    }
}

impl ReactionPoint for Rp {
    type Feedback = ();

    fn on_ack(&mut self, ack: &Acked<'_>) {
        let mark = ack.ecn == Ecn::Ce;
        let mtu = u64::from(self.mtu_bytes);
        self.marks += u64::from(mark);
        let new_batch = ack.acked_bytes > self.last_update;
        if new_batch {
            if self.last_update == 0 {
                self.batch = ack.sent_bytes / mtu + 1;
            } else {
                let fraction = (self.marks as f64 / self.batch as f64).min(1.0);
                self.alpha = (1.0 - self.params.g) * self.alpha + self.params.g * fraction;
                self.marks = 0;
                self.batch = ack.sent_bytes.saturating_sub(ack.acked_bytes) / mtu + 1;
            }
            self.last_update = ack.sent_bytes;
        }
        if self.reduced && ack.acked_bytes > self.high {
            self.reduced = false;
        }
        if mark && !self.reduced {
            let cut_bps = self.params.rounding.rounding.keep(self.rate_bps * (1.0 - self.alpha / 2.0));
            self.rate_bps = cut_bps.max(self.min_bps);
            self.reduced = true;
            self.high = ack.sent_bytes;
        }
        if !self.reduced && new_batch {
            // Counted at line rate too: the law found room, whatever else holds the flow back.
            self.increases = self.increases.wrapping_add(1);
            self.rate_bps = (self.rate_bps + self.ai_bps).min(self.line_bps);
        }
    }

    /// The window is the bandwidth-delay product in proportion to the rate, if there is one.
    fn limits(&self) -> Limits {
        let window_bytes = match self.params.window {
            RateWindow::Variable => (self.bdp_bytes * self.rate_bps / self.line_bps).max(1.0) as u64,
            RateWindow::None => u64::MAX,
        };
        Limits { rate_bps: self.rate_bps, window_bytes }
    }

    fn increases(&self) -> u32 {
        self.increases
    }
}
