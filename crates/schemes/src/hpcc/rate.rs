//! HPCC as its authors' simulator has it: a law of rates in whole bits per second.
//!
//! The same measurement and reaction as [`crate::parts::hpcc_law`], kept as a rate, with that
//! simulator's order of operations: rates are truncated after every one of them, so that the last
//! bit counts. There is no window here; the host caps what is in flight.

use super::Hpcc;
use crate::parts::int::{HEADER_HOPS, Precision};
use crate::parts::round_trip::round_trip;
use xoff_fabric::packet::IntHop;
use xoff_fabric::scheme::{Acked, FlowFacts, Limits};

/// The rate of one flow.
#[derive(Clone, Debug)]
pub struct Rp {
    pub(super) rate_bps: u64,
    line_bps: u64,
    min_bps: u64,
    /// R_AI
    step_bps: u64,
    /// T
    round_trip_ns: u64,
    /// What a queue is weighed by: the bandwidth-delay product of the in-flight cap.
    window_bytes: f64,
    eta: f64,
    max_stage: u32,
    /// lastUpdateSeq; zero before the first acknowledgement.
    round_ends_bytes: u64,
    precision: Precision,
    fast_react: bool,
    sample_feedback: bool,
    per_hop: bool,
    /// The path is longer than the header: its records say nothing.
    blind: bool,
    /// L: the last record of each hop.
    previous: [IntHop; HEADER_HOPS],
    /// One loop for the busiest hop (the first), or one per hop.
    pub(super) loops: [Loop; HEADER_HOPS],
    pub(super) increases: u32,
}

/// What is remembered from round to round.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// U
    pub(super) utilisation: f64,
    /// R^c
    pub(super) reference_bps: u64,
    stage: u32,
}

impl Rp {
    pub(super) fn new(scheme: &Hpcc, of: &FlowFacts) -> Rp {
        let values = &scheme.values;
        // Parts of the line rate are meant as whole numbers: no bit is lost to the division.
        let rate = |name| values.rate(name).at(of.line_rate).round() as u64;
        let line_bps = of.line_rate.bps();
        let min_bps = rate("rate_min").clamp(1, line_bps.max(1));
        let rate_bps = of.initial_rate.bps().max(min_bps).min(line_bps);
        Rp {
            rate_bps,
            line_bps,
            min_bps,
            step_bps: rate("rate_ai"),
            round_trip_ns: (round_trip(values, of).ps() / 1000).max(1),
            window_bytes: of.bdp_bytes.max(1) as f64,
            eta: values.number("eta"),
            max_stage: values.count("max_stage") as u32,
            round_ends_bytes: 0,
            precision: scheme.precision,
            fast_react: values.flag("fast_react"),
            sample_feedback: values.flag("sample_feedback"),
            per_hop: values.flag("per_hop"),
            blind: usize::from(of.hops) > HEADER_HOPS,
            previous: [IntHop::default(); HEADER_HOPS],
            loops: [Loop { utilisation: 1.0, reference_bps: rate_bps, stage: 0 }; HEADER_HOPS],
            increases: 0,
        }
    }

    #[inline]
    pub fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps as f64, window_bytes: u64::MAX }
    }

    #[inline]
    pub fn on_ack(&mut self, ack: &Acked<'_>) {
        let Some(stack) = ack.int else { return };
        let update = ack.acked_bytes > self.round_ends_bytes;
        if !update && !self.fast_react {
            return;
        }
        let hops = &stack.hops()[..stack.hops().len().min(HEADER_HOPS)];
        if self.round_ends_bytes == 0 {
            // The first acknowledgement only stores, and starts the first round.
            self.round_ends_bytes = ack.sent_bytes;
            self.previous[..hops.len()].copy_from_slice(hops);
            return;
        }
        match (self.blind, self.per_hop) {
            (true, _) => {}
            (false, true) => self.react_by_hop(hops, update),
            (false, false) => self.react(hops, update),
        }
        if update {
            self.round_ends_bytes = self.round_ends_bytes.max(ack.sent_bytes);
        }
    }

    /// Whether a hop's record is left out: it has nothing to say within a round.
    fn skips(&self, new: &IntHop, update: bool) -> bool {
        self.sample_feedback && !update && new.queue_bytes == 0
    }

    /// Nanoseconds between two records of a hop, and how busy it was between them.
    #[inline]
    fn measure(&self, new: &IntHop, old: &IntHop) -> (u64, f64) {
        let (ps, tx_bytes) = self.precision.between(new, old);
        let elapsed_ns = ps / 1000;
        let capacity_bps = new.rate.bps() as f64;
        // Records of one instant divide by zero, as there: infinite, or not a number.
        let sent_bps = (tx_bytes * 8) as f64 / (elapsed_ns as f64 * 1e-9);
        let queue_bytes = new.queue_bytes.min(old.queue_bytes) as f64;
        let queued = queue_bytes * self.line_bps as f64 / capacity_bps / self.window_bytes;
        (elapsed_ns, sent_bps / capacity_bps + queued)
    }

    /// One rate, from the busiest hop.
    fn react(&mut self, hops: &[IntHop], update: bool) {
        let (mut highest, mut elapsed_ns, mut any) = (0.0, 0, false);
        for (hop, new) in hops.iter().enumerate() {
            if self.skips(new, update) {
                continue;
            }
            any = true;
            let (ns, used) = self.measure(new, &self.previous[hop]);
            if used > highest {
                (highest, elapsed_ns) = (used, ns);
            }
            self.previous[hop] = *new;
        }
        if !any {
            return;
        }
        self.loops[0].smooth(highest, elapsed_ns, self.round_trip_ns);
        let (rate_bps, stage) = self.next(&self.loops[0]);
        self.rate_bps = rate_bps;
        if update {
            self.end_round(0, rate_bps, stage);
        }
    }

    /// A rate for each hop, of which the smallest counts.
    fn react_by_hop(&mut self, hops: &[IntHop], update: bool) {
        let (mut rate_bps, mut any) = (self.line_bps, false);
        for (hop, new) in hops.iter().enumerate() {
            if self.skips(new, update) {
                rate_bps = rate_bps.min(self.loops[hop].reference_bps);
                continue;
            }
            any = true;
            let (ns, used) = self.measure(new, &self.previous[hop]);
            self.loops[hop].smooth(used, ns, self.round_trip_ns);
            self.previous[hop] = *new;
            let (of_hop_bps, stage) = self.next(&self.loops[hop]);
            rate_bps = rate_bps.min(of_hop_bps);
            if update {
                self.end_round(hop, of_hop_bps, stage);
            }
        }
        if any {
            self.rate_bps = rate_bps;
        }
    }

    /// The rate that follows from a loop's state, and its stage if the round ends here.
    fn next(&self, of: &Loop) -> (u64, u32) {
        let cut = of.utilisation / self.eta;
        let (bps, stage) = if cut >= 1.0 || of.stage >= self.max_stage {
            (whole(of.reference_bps as f64 / cut), 0)
        } else {
            (of.reference_bps, of.stage + 1)
        };
        (bps.wrapping_add(self.step_bps).max(self.min_bps).min(self.line_bps), stage)
    }

    fn end_round(&mut self, hop: usize, rate_bps: u64, stage: u32) {
        let of = &mut self.loops[hop];
        self.increases = self.increases.wrapping_add(u32::from(of.utilisation < self.eta));
        (of.reference_bps, of.stage) = (rate_bps, stage);
    }
}

impl Loop {
    /// U = (U (T - tau) + u tau) / T, with tau at most T.
    fn smooth(&mut self, used: f64, elapsed_ns: u64, round_trip_ns: u64) {
        let elapsed_ns = elapsed_ns.min(round_trip_ns);
        self.utilisation =
            (self.utilisation * (round_trip_ns - elapsed_ns) as f64 + used * elapsed_ns as f64) / round_trip_ns as f64;
    }
}

/// The whole number that the compiled simulator makes of a quotient (x86-64): truncated, but 2^63
/// for what is not a number, so that it ends at line rate, and zero for what is too large.
fn whole(quotient: f64) -> u64 {
    const TOO_LARGE: f64 = u64::MAX as f64;
    if quotient.is_nan() {
        1 << 63
    } else if quotient >= TOO_LARGE {
        0
    } else {
        quotient as u64
    }
}
