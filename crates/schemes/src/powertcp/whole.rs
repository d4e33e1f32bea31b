//! PowerTCP and theta-PowerTCP as their authors' simulator has them: a rate in whole bits per second.
//!
//! The laws of `variant = "compat"`, kept as a rate, with that simulator's order of operations: rates are cut off
//! after every one of them, times are whole nanoseconds, and the last bit counts. The window is what the rate sends
//! in a base round trip, cut off to bytes; theta's round trip is the least that the flow has seen.

use super::spec::{LawParams, Whole};
use crate::parts::int::{HEADER_HOPS, Precision};
use crate::parts::rounding::cut_off;
use xoff_fabric::packet::IntHop;
use xoff_fabric::scheme::{Acked, FlowFacts, Limits, ReactionPoint};

/// The rate of one flow.
#[derive(Clone, Debug)]
pub struct Rp {
    rate_bps: u64,
    /// R^c: what all rates of a round start from.
    reference_bps: u64,
    line_bps: u64,
    min_bps: u64,
    step_bps: u64,
    /// gamma and 1 - gamma.
    weights: [f64; 2],
    /// What power is divided by before it divides a rate; 1 for theta.
    eta: f64,
    /// Least current.
    current_min: f64,
    /// U, the smoothed power.
    power: f64,
    /// T
    round_trip_ns: u64,
    /// lastUpdateSeq; zero before the first acknowledgement.
    round_ends_bytes: u64,
    fast_react: bool,
    own_window: bool,
    /// The path is longer than the header: its records say nothing.
    blind: bool,
    signal: Signal,
    increases: u32,
    /// The last acknowledgement led to a rate.
    decided: bool,
}

/// What power is read from.
#[derive(Clone, Debug)]
pub(super) enum Signal {
    Telemetry {
        precision: Precision,
        sample_feedback: bool,
        /// The last record of each hop.
        previous: [IntHop; HEADER_HOPS],
    },
    Delay {
        /// Base round trips at which power is 1.
        factor: f64,
        /// When the last acknowledgement came and how long it took.
        previous_ns: (u64, u64),
    },
}

impl Signal {
    pub(super) fn telemetry(precision: Precision, sample_feedback: bool) -> Signal {
        Signal::Telemetry { precision, sample_feedback, previous: [IntHop::default(); HEADER_HOPS] }
    }

    pub(super) fn delay(factor: f64) -> Signal {
        Signal::Delay { factor, previous_ns: (0, 0) }
    }
}

impl Rp {
    pub(super) fn new(law: &LawParams, whole: &Whole, eta: f64, signal: Signal, of: &FlowFacts) -> Rp {
        let line_bps = of.line_rate.bps();
        let min_bps = (law.rate_min.at(of.line_rate).round() as u64).clamp(1, line_bps.max(1));
        let rate_bps = of.initial_rate.bps().max(min_bps).min(line_bps);
        // 1 - 0.9 is not the number next to 0.1.
        let rest = ((1.0 - law.gamma) * 1e9).round() / 1e9;
        Rp {
            rate_bps,
            reference_bps: rate_bps,
            line_bps,
            min_bps,
            step_bps: law.rate_ai.at(of.line_rate).round() as u64,
            weights: [law.gamma, rest],
            eta,
            current_min: law.current_min,
            power: 1.0,
            round_trip_ns: (law.round_trip.of(of).ps() / 1000).max(1),
            round_ends_bytes: 0,
            fast_react: whole.fast_react,
            own_window: whole.own_window,
            blind: usize::from(of.hops) > HEADER_HOPS,
            signal,
            increases: 0,
            decided: false,
        }
    }

    /// W = R T; one of less than a byte binds nothing.
    fn window_bytes(&self) -> u64 {
        if !self.own_window {
            return u64::MAX;
        }
        match ((self.rate_bps * self.round_trip_ns) as f64 * 1e-9 / 8.0) as u64 {
            0 => u64::MAX,
            bytes => bytes,
        }
    }

    /// The power that an acknowledgement tells of, and the nanoseconds it was measured over.
    fn measure(&mut self, ack: &Acked<'_>, update: bool, first: bool) -> Option<(f64, u64)> {
        let (least, blind) = (self.current_min, self.blind);
        match &mut self.signal {
            Signal::Telemetry { precision, sample_feedback, previous } => {
                let stack = ack.int?;
                let hops = &stack.hops()[..stack.hops().len().min(HEADER_HOPS)];
                let mut measured = None;
                for (new, old) in hops.iter().zip(previous).filter(|_| first || !blind) {
                    if *sample_feedback && !first && !update && new.queue_bytes == 0 {
                        continue;
                    }
                    let (power, elapsed_ns) = power_of(*precision, new, old, self.round_trip_ns, least);
                    let (highest, _) = *measured.get_or_insert((0.0, 0));
                    if power > highest {
                        measured = Some((power, elapsed_ns));
                    }
                    *old = *new;
                }
                measured.filter(|_| !first)
            }
            Signal::Delay { factor, previous_ns } => {
                let (now_ns, rtt_ns) = (ack.now.ps() / 1000, ack.rtt.ps() / 1000);
                self.round_trip_ns = self.round_trip_ns.min(rtt_ns).max(1);
                if blind && !first {
                    return None;
                }
                let (before_ns, old_ns) = std::mem::replace(previous_ns, (now_ns, rtt_ns));
                if first {
                    return None;
                }
                let elapsed_ns = now_ns - before_ns;
                // ACKs of one instant divide by zero, as there.
                let current = (rtt_ns as f64 - old_ns as f64) / elapsed_ns as f64 + 1.0;
                let current = if current < least { least } else { current };
                let power = current * rtt_ns as f64 / (*factor * self.round_trip_ns as f64);
                Some(if power > 0.0 { (power, elapsed_ns) } else { (0.0, 0) })
            }
        }
    }

    /// U = (U (T - dt) + p dt) / T with dt at most T, then R = gamma (R^c / c + step) + (1 - gamma) R^c.
    fn react(&mut self, power: f64, elapsed_ns: u64, update: bool) {
        let round_trip_ns = self.round_trip_ns;
        let elapsed_ns = elapsed_ns.min(round_trip_ns);
        let kept = self.power * (round_trip_ns - elapsed_ns) as f64;
        self.power = (kept + power * elapsed_ns as f64) / round_trip_ns as f64;
        let (reference, [weight, rest]) = (self.reference_bps as f64, self.weights);
        let aim = cut_off(reference / (self.power / self.eta)).wrapping_add(self.step_bps);
        let bps = cut_off(aim as f64 * weight).wrapping_add(cut_off(reference * rest));
        self.rate_bps = bps.max(self.min_bps).min(self.line_bps);
        if update {
            self.increases = self.increases.wrapping_add(u32::from(self.rate_bps > self.reference_bps));
            self.reference_bps = self.rate_bps;
        }
    }
}

impl ReactionPoint for Rp {
    type Feedback = ();

    #[inline]
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps as f64, window_bytes: self.window_bytes() }
    }

    fn on_ack(&mut self, ack: &Acked<'_>) {
        self.decided = false;
        let update = ack.acked_bytes > self.round_ends_bytes;
        if !update && !self.fast_react {
            return;
        }
        // The first acknowledgement only stores, and starts the first round.
        let first = self.round_ends_bytes == 0;
        if let Some((power, elapsed_ns)) = self.measure(ack, update, first) {
            self.decided = true;
            self.react(power, elapsed_ns, update);
        }
        if update {
            self.round_ends_bytes = self.round_ends_bytes.max(ack.sent_bytes);
        }
    }

    fn increases(&self) -> u32 {
        self.increases
    }

    fn has_decided(&self) -> bool {
        self.decided
    }
}

/// The power of a hop between two records, with the newest queue, and the nanoseconds between them.
fn power_of(precision: Precision, new: &IntHop, old: &IntHop, round_trip_ns: u64, least: f64) -> (f64, u64) {
    let (ps, bytes) = precision.between(new, old);
    let (elapsed_ns, line_bps) = (ps / 1000, new.rate.bps());
    let line = line_bps as f64;
    // Records of one instant divide by zero, as there: infinite, or not a number.
    let arriving = bytes as f64 * 8.0 / (elapsed_ns as f64 * 1e-9);
    let arriving = if arriving < line * least { line * least } else { arriving };
    let held_bits = new.queue_bytes as f64 * 8.0 + line * (round_trip_ns as f64 * 1e-9);
    let pipe = line * ((line_bps * round_trip_ns) as f64 * 1e-9);
    (arriving * held_bits / pipe, elapsed_ns)
}

#[cfg(test)]
mod tests {
    //! The numbers were computed apart from this program, in Python, from the rules in `docs/schemes/powertcp.md`.

    use super::super::{PowerTcp, ThetaPowerTcp};
    use crate::Configured;
    use crate::testing::configured;
    use xoff_engine::{BitRate, Span, Time};
    use xoff_fabric::packet::{Ecn, IntStack};
    use xoff_fabric::scheme::*;

    const LINE: u64 = 100_000_000_000;

    fn flow() -> FlowFacts {
        FlowFacts { hops: 2, ..FlowFacts::at(BitRate::from_gbps(100), Span::from_ns(12_240)) }
    }

    fn powertcp(texts: &[(&str, &str)]) -> PowerTcp {
        configured("powertcp:inet-ns3", texts)
    }

    fn theta() -> ThetaPowerTcp {
        configured("theta-powertcp:inet-ns3", &[])
    }

    fn rate_and_window(limits: Limits) -> (u64, u64) {
        (limits.rate_bps as u64, limits.window_bytes)
    }

    /// Acknowledged and sent bytes; then of two 100G hops the nanoseconds, the bytes that came and the queue.
    type Ack = (u64, u64, [(u64, u64, u64); 2]);

    const ACKS: [Ack; 9] = [
        (1_000, 150_000, [(1_000, 510_000, 5_000), (2_000, 536_800_000, 0)]),
        (2_000, 151_000, [(1_083, 511_090, 7_777), (2_100, 536_802_180, 0)]),
        // The counter of the second hop has passed 2^20 units of 512 bytes.
        (150_000, 152_000, [(9_000, 612_400, 123_456), (10_020, 536_990_321, 640)]),
        (151_000, 230_000, [(9_083, 613_490, 234_567), (10_120, 536_995_000, 0)]),
        (152_000, 231_000, [(13_466, 668_200, 345_678), (14_500, 537_100_000, 40_000)]),
        (230_000, 300_000, [(25_000, 812_000, 200_001), (26_000, 537_500_000, 0)]),
        (231_000, 301_000, [(26_000, 824_500, 100_001), (27_000, 537_520_000, 0)]),
        (301_000, 380_000, [(60_000, 1_060_000, 0), (61_000, 538_000_000, 0)]),
        (302_000, 381_000, [(61_083, 1_061_090, 0), (62_083, 538_010_000, 0)]),
    ];

    fn limits(texts: &[(&str, &str)], of: &FlowFacts) -> Vec<(u64, u64)> {
        let scheme = powertcp(texts);
        let mut rp = scheme.reaction_point(of);
        let mut point = scheme.congestion_point(&QueueFacts::at(BitRate::from_gbps(100)));
        let mut after = |(acked_bytes, sent_bytes, hops): Ack| {
            let mut stack = IntStack::default();
            for (ns, came_bytes, port_bytes) in hops {
                // What came is in the queue, leaves now as 90 B, or was sent before.
                let packet = PacketFacts::of(0, 90);
                let tx_bytes = came_bytes - port_bytes - 90;
                let view = QueueView::at(BitRate::from_gbps(100), Time::from_ns(2_000_000_000 + ns), port_bytes);
                let mut ecn = Ecn::Ect0;
                let mark = Mark { ecn: &mut ecn, int: Some(&mut stack) };
                point.on_dequeue(&QueueView { tx_bytes, ..view }, &packet, mark, |_, ()| {});
            }
            rp.on_ack(&Acked { acked_bytes, sent_bytes, int: Some(&stack), ..Acked::default() });
            rate_and_window(rp.limits())
        };
        ACKS.into_iter().map(&mut after).collect()
    }

    #[test]
    fn powertcp_inet_rates_to_the_bit() {
        let expected = [
            (LINE, 153_000),
            (95_191_372_644, 145_642),
            (63_860_927_373, 97_707),
            (63_289_243_163, 96_832),
            (31_067_093_123, 47_532),
            (26_166_107_922, 40_034),
            (26_804_011_576, 41_010),
            (23_096_059_194, 35_336),
            (23_771_129_208, 36_369),
        ];
        assert_eq!(limits(&[], &flow()), expected);
        // Without its own window, and with rates that only the ends of rounds change.
        let without: Vec<(u64, u64)> = expected.iter().map(|(rate, _)| (*rate, u64::MAX)).collect();
        assert_eq!(limits(&[("own_window", "false")], &flow()), without);
        assert_eq!(limits(&[("fast_react", "false")], &flow())[..3], [(LINE, 153_000); 3]);
        // More hops than the header holds say nothing.
        assert_eq!(limits(&[], &FlowFacts { hops: 6, ..flow() }), [(LINE, 153_000); 9]);
    }

    #[test]
    fn powertcp_inet_leaves_hops_without_a_queue_out_within_a_round() {
        // The last ACK but one is within a round and shows no queue: the rate stays.
        let (sampled, all) = (limits(&[("sample_feedback", "true")], &flow()), limits(&[], &flow()));
        assert_eq!(sampled[7], sampled[6]);
        assert_ne!(all[7], all[6]);
    }

    #[test]
    fn theta_inet_rates_to_the_bit() {
        let mut rp = theta().reaction_point(&flow());
        for ((acked_bytes, sent_bytes, now_ns, rtt_ns), expected) in [
            ((1_000, 150_000, 12_500, 12_500), (LINE, 153_000)),
            ((2_000, 151_000, 12_583, 12_566), (99_748_338_191, 152_614)),
            ((150_000, 152_000, 26_000, 24_001), (50_341_411_161, 77_022)),
            ((151_000, 230_000, 26_083, 23_990), (50_414_663_236, 77_134)),
            ((152_000, 231_000, 31_000, 15_000), (30_596_405_496, 46_812)),
            ((230_000, 300_000, 41_000, 12_100), (52_089_903_319, 78_785)),
            ((231_000, 301_000, 55_000, 12_100), (52_284_176_447, 79_079)),
        ] {
            let (now, rtt) = (Time::from_ns(now_ns), Span::from_ns(rtt_ns));
            rp.on_ack(&Acked { acked_bytes, sent_bytes, now, rtt, ..Acked::default() });
            assert_eq!(rate_and_window(rp.limits()), expected, "at {now_ns} ns");
        }
    }

    #[test]
    fn theta_inet_carries_the_header_of_telemetry() {
        let format = theta().format();
        assert_eq!((format.data_bytes, format.ack_bytes, format.int), (42, 42, false));
        assert_eq!(configured::<ThetaPowerTcp>("theta-powertcp", &[]).format().data_bytes, 8);
    }

    #[test]
    fn whole_rates_have_one_form() {
        let validation_error = |texts: &[(&str, &str)]| {
            PowerTcp::validation_error(&crate::select("powertcp:inet-ns3").unwrap().with(texts))
        };
        assert_eq!(validation_error(&[]), None);
        assert!(validation_error(&[("step", "flows")]).is_some_and(|why| why.contains("`step` must be \"rate\"")));
        assert!(validation_error(&[("floor", "power")]).is_some_and(|why| why.contains("`floor` must be")));
        assert_eq!(validation_error(&[("floor", "power"), ("arithmetic", "real")]), None);
    }
}
