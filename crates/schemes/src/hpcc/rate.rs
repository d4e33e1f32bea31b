//! HPCC as its authors' simulator has it: a law of rates in whole bits per second.
//!
//! The same measurement and reaction as [`crate::parts::hpcc_law`], kept as a rate, with that
//! simulator's order of operations: rates are truncated after every one of them, so that the last
//! bit counts. There is no window here; the host caps what is in flight.

use super::Params;
use crate::param::RateValue;
use crate::parts::int::{HEADER_HOPS, Precision};
use crate::parts::rounding::{cut_off, real};
use xoff_fabric::packet::IntHop;
use xoff_fabric::scheme::{Acked, FlowFacts, Limits};

/// The rate of one flow.
///
/// In this order, because every acknowledgement reads all but the loops of further hops: they lie at the end.
#[derive(Clone, Debug)]
#[repr(C)]
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
    /// lastUpdateSeq; zero before the first acknowledgement.
    round_ends_bytes: u64,
    max_stage: u32,
    pub(super) increases: u32,
    precision: Precision,
    fast_react: bool,
    sample_feedback: bool,
    per_hop: bool,
    /// The path is longer than the header: its records say nothing.
    blind: bool,
    /// The last acknowledgement led to a rate.
    pub(super) decided: bool,
    /// L: the last record of each hop.
    previous: [IntHop; HEADER_HOPS],
    /// One loop for the busiest hop (the first), or one per hop.
    pub(super) loops: [Loop; HEADER_HOPS],
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
    /// U, of the busiest hop; loops that are not used stay at the initial value.
    pub(super) fn utilisation(&self) -> f64 {
        let used = if self.per_hop { HEADER_HOPS } else { 1 };
        self.loops[..used].iter().map(|of| of.utilisation).fold(0.0, f64::max)
    }

    pub(super) fn new(params: &Params, of: &FlowFacts) -> Rp {
        // Parts of the line rate are meant as whole numbers: no bit is lost to the division.
        let rate = |value: RateValue| value.at(of.line_rate).round() as u64;
        let line_bps = of.line_rate.bps();
        let min_bps = rate(params.rate_min).clamp(1, line_bps.max(1));
        let rate_bps = of.initial_rate.bps().max(min_bps).min(line_bps);
        Rp {
            rate_bps,
            line_bps,
            min_bps,
            step_bps: rate(params.reaction.rate_ai),
            round_trip_ns: (params.round_trip.of(of).ps() / 1000).max(1),
            window_bytes: of.bdp_bytes.max(1) as f64,
            eta: params.reaction.eta,
            round_ends_bytes: 0,
            max_stage: params.reaction.max_stage as u32,
            increases: 0,
            precision: params.int.precision(),
            fast_react: params.fast_react,
            sample_feedback: params.sample_feedback,
            per_hop: params.per_hop,
            blind: usize::from(of.hops) > HEADER_HOPS,
            decided: false,
            previous: [IntHop::default(); HEADER_HOPS],
            loops: [Loop { utilisation: 1.0, reference_bps: rate_bps, stage: 0 }; HEADER_HOPS],
        }
    }

    #[inline]
    pub fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps as f64, window_bytes: u64::MAX }
    }

    #[inline]
    pub fn on_ack(&mut self, ack: &Acked<'_>) {
        self.decided = false;
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
        let capacity_bps = real(new.rate.bps());
        // Records of one instant divide by zero, as there: infinite, or not a number.
        let sent_bps = real(tx_bytes * 8) / (real(elapsed_ns) * 1e-9);
        let queued = match new.queue_bytes.min(old.queue_bytes) {
            0 => 0.0, // As dividing it would give, twice.
            queue_bytes => real(queue_bytes) * real(self.line_bps) / capacity_bps / self.window_bytes,
        };
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
        self.decided = true;
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
            self.decided = true;
            self.rate_bps = rate_bps;
        }
    }

    /// The rate that follows from a loop's state, and its stage if the round ends here.
    fn next(&self, of: &Loop) -> (u64, u32) {
        let cut = of.utilisation / self.eta;
        let (bps, stage) = if cut >= 1.0 || of.stage >= self.max_stage {
            (cut_off(of.reference_bps as f64 / cut), 0)
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

#[cfg(test)]
mod tests {
    //! The numbers were computed apart from this program, in Python, from the rules in
    //! `docs/schemes/hpcc.md`.

    use super::super::Hpcc;
    use super::*;
    use crate::Configured;
    use crate::parts::int::IntPoint;
    use crate::testing::configured;
    use xoff_engine::{BitRate, Span, Time};
    use xoff_fabric::packet::IntStack;
    use xoff_fabric::scheme::{QueueFacts, QueueView, ReactionPoint, Scheme};

    const START_NS: u64 = 2_000_000_000;

    /// Acknowledged and sent bytes; then of a 100G and of a 400G hop the nanoseconds, the bytes sent
    /// before and the queue.
    type Ack = (u64, u64, [(u64, u64, u64); 2]);

    const ACKS: [Ack; 10] = [
        (1_000, 150_000, [(1_000, 10_000, 5_000), (2_000, 536_800_000, 0)]),
        (2_000, 151_000, [(1_083, 11_090, 7_777), (2_100, 536_802_180, 0)]),
        // The counter of the second hop has passed 2^20 units of 512 bytes.
        (150_000, 152_000, [(9_000, 112_400, 123_456), (10_020, 536_990_321, 640)]),
        (151_000, 230_000, [(9_083, 113_490, 234_567), (10_120, 536_995_000, 0)]),
        (152_000, 231_000, [(13_466, 168_200, 345_678), (14_500, 537_100_000, 40_000)]),
        (230_000, 300_000, [(25_000, 312_000, 200_001), (26_000, 537_500_000, 0)]),
        (231_000, 301_000, [(26_000, 324_500, 100_001), (27_000, 537_520_000, 0)]),
        (301_000, 380_000, [(60_000, 560_000, 0), (61_000, 538_000_000, 0)]),
        (302_000, 381_000, [(61_083, 561_090, 0), (62_083, 538_010_000, 0)]),
        (381_000, 400_000, [(90_000, 661_090, 0), (91_000, 538_110_000, 0)]),
    ];

    fn flow() -> FlowFacts {
        FlowFacts { hops: 2, ..FlowFacts::at(BitRate::from_gbps(100), Span::from_ns(12_240)) }
    }

    fn scheme(texts: &[(&str, &str)]) -> Hpcc {
        configured("hpcc:hpcc-ns3", texts)
    }

    fn stack(scheme: &Hpcc, hops: &[(u64, u64, u64)]) -> IntStack {
        let mut stack = IntStack::default();
        for (&(ns, tx_bytes, port_bytes), gbps) in hops.iter().zip([100, 400]) {
            let rate = BitRate::from_gbps(gbps);
            let view = QueueView { tx_bytes, ..QueueView::at(rate, Time::from_ns(START_NS + ns), port_bytes) };
            IntPoint::<()>::new(scheme.params.int.precision(), &QueueFacts::at(rate)).write(&view, &mut stack);
        }
        stack
    }

    fn rates(texts: &[(&str, &str)], of: &FlowFacts) -> Vec<u64> {
        let scheme = scheme(texts);
        let mut rp = Rp::new(&scheme.params, of);
        let rate = |(acked_bytes, sent_bytes, hops): Ack| {
            let stack = stack(&scheme, &hops);
            rp.on_ack(&Acked { acked_bytes, sent_bytes, int: Some(&stack), ..Acked::default() });
            rp.rate_bps
        };
        ACKS.into_iter().map(rate).collect()
    }

    #[test]
    fn hpcc_ns3_rates_to_the_bit() {
        let line = 100_000_000_000;
        let common = [line, 95_028_173_649, 90_664_123_985, 90_230_105_451, 54_183_112_085];
        let mut expected = common.to_vec();
        expected.extend([37_910_792_695, 38_788_946_255, 66_535_571_715, 70_764_682_640, line]);
        assert_eq!(rates(&[], &flow()), expected);
        // Additive rounds.
        expected.truncate(7);
        expected.extend([38_828_946_255, 38_828_946_255, 38_868_946_255]);
        assert_eq!(rates(&[("max_stage", "5")], &flow()), expected);
        // Only the ends of rounds.
        let (a, b, c) = (91_710_905_795, 52_840_143_239, 93_104_144_936);
        assert_eq!(rates(&[("fast_react", "false")], &flow()), [line, line, line, a, a, a, b, b, c, c]);
        // Within a round, only hops with a queue.
        expected.truncate(7);
        expected.extend([38_788_946_255, 68_356_622_456, 68_356_622_456]);
        assert_eq!(rates(&[("sample_feedback", "true")], &flow()), expected);
    }

    #[test]
    fn hpcc_ns3_a_rate_per_hop_to_the_bit() {
        let line = 100_000_000_000;
        let mut expected = vec![line, 95_028_173_649, 90_664_123_985, 90_230_105_451, 54_183_112_085];
        expected.extend([37_910_792_695, 38_788_946_255, 66_535_571_715, 72_036_313_038, line]);
        assert_eq!(rates(&[("per_hop", "true")], &flow()), expected);
        expected.truncate(7);
        expected.extend([38_788_946_255, 38_828_946_255, 38_828_946_255]);
        let texts = [("per_hop", "true"), ("sample_feedback", "true"), ("max_stage", "2")];
        assert_eq!(rates(&texts, &flow()), expected);
    }

    #[test]
    fn hpcc_ns3_records_of_one_instant_end_at_line_rate_for_good() {
        let scheme = scheme(&[]);
        let mut rp = Rp::new(&scheme.params, &flow());
        let mut ack = |acked_bytes, ns, tx_bytes, queue| {
            let stack = stack(&scheme, &[(ns, tx_bytes, queue)]);
            rp.on_ack(&Acked { acked_bytes, sent_bytes: acked_bytes + 9, int: Some(&stack), ..Acked::default() });
            (rp.rate_bps, rp.loops[0].utilisation.is_nan())
        };
        ack(1, 100, 0, 900_000);
        assert_eq!(ack(20, 10_000, 123_000, 900_000).0, 16_558_138_566);
        // Infinite over no time is not a number, which no comparison holds for.
        assert_eq!(ack(40, 10_000, 200_000, 900_000), (100_000_000_000, true));
        assert_eq!(ack(60, 30_000, 400_000, 900_000), (100_000_000_000, true));
        // Nothing sent in no time is not above zero: there is no busiest hop, and U stays.
        let mut rp = Rp::new(&scheme.params, &flow());
        for acked_bytes in [1, 20] {
            let stack = stack(&scheme, &[(100, 0, 0)]);
            rp.on_ack(&Acked { acked_bytes, sent_bytes: 9, int: Some(&stack), ..Acked::default() });
        }
        assert_eq!((rp.rate_bps, rp.loops[0].utilisation), (95_040_000_000, 1.0));
        assert_eq!([f64::NAN, f64::INFINITY, 2.9].map(cut_off), [1 << 63, 0, 2]);
    }

    #[test]
    fn hpcc_ns3_more_hops_than_the_header_holds_say_nothing() {
        assert_eq!(rates(&[], &FlowFacts { hops: 6, ..flow() }), [100_000_000_000; 10]);
        assert_ne!(rates(&[], &FlowFacts { hops: 5, ..flow() }), [100_000_000_000; 10]);
    }

    #[test]
    fn hpcc_ns3_steps_are_rates() {
        let values = |step| crate::select("hpcc:hpcc-ns3").unwrap().with(&[("step", step)]);
        assert_eq!(Hpcc::validation_error(&values("rate")), None);
        assert!(Hpcc::validation_error(&values("bytes")).is_some_and(|why| why.contains("rate_ai")));
        let limits = scheme(&[]).reaction_point(&flow()).limits();
        assert_eq!(limits, Limits { rate_bps: 100e9, window_bytes: u64::MAX });
    }
}
