//! HPCC's window law: telemetry in, window out (Li et al., SIGCOMM 2019, algorithm 1).
//!
//! A plain struct without transport: the owner says when a round has passed. Used by `hpcc`
//! from end to end, and by schemes that run it over a part of the path.

use super::int::{Precision, Previous};
use super::path_memory::PathMemory;
use super::rounding::real;
use crate::param::{RateValue, params};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::packet::{IntHop, IntStack};

params! {
    /// The law's own parameters; symbols are the paper's. The least rate and the precision of the telemetry are those
    /// of the scheme.
    pub struct Params {
        /// utilisation that the law aims at
        eta "eta": Number(0.01..=1.0) = "0.95", from "HPCC, section 4.1; its authors' simulator";
        /// rounds of additive increase before a multiplicative one; 0: always multiplicative
        max_stage "maxStage": Count(0..=1000) = "5", from "HPCC, section 4.1; 0 in its authors' run script";
        /// additive step: given in bytes, from the number of flows expected, or from a rate
        step: Step { Bytes = "bytes", Flows = "flows", Rate = "rate" } = "bytes",
            from "HPCC, section 4.1: by flows, 80 B in its experiments; its authors' simulator: a rate";
        /// additive step of the window per round
        step_bytes "W_AI": Bytes = "80B" if Step::Bytes, from "HPCC's experiments";
        /// flows expected at a port: W_AI = W_init (1 - eta) / N keeps its queue near zero up to so many
        flows "N": Count(1..=1_000_000) = "78" if Step::Flows,
            from "HPCC, section 4.1; the number is an assumption, which gives 80 B at 100 Gb/s and 10 us";
        /// additive step as a rate: W_AI = R_AI T / 8
        rate_ai "R_AI": Rate = "line/2500" if Step::Rate, from "run script of HPCC's authors: 10 Mb/s per 25 Gb/s";
    }
}

/// Records of paths, and the utilisation of each.
pub type PathRecords = PathMemory<(IntStack, f64)>;

/// Round trips without an ACK after which a path is forgotten. Less would leave a flow without a pair of records to
/// compare if it has fewer packets in a round trip than paths.
pub const FORGOTTEN_AFTER: u64 = 64;

/// What the law needs to know of its loop.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Line rate of the sender; its window over T is the largest, W_init.
    pub line_rate: BitRate,
    /// At most the line rate; where the window starts.
    pub initial_rate: BitRate,
    /// T: base round trip of the loop.
    pub round_trip: Span,
    /// W_AI
    pub step_bytes: f64,
    /// W_min
    pub min_bytes: f64,
    /// Utilisation aimed at, above 0 and at most 1.
    pub eta: f64,
    /// Rounds of additive increase before a multiplicative one; 0: always multiplicative.
    pub max_stage: u32,
    /// Precision of the telemetry that it will be given.
    pub precision: Precision,
}

impl Params {
    /// Section 5, over a loop of round trip T.
    pub fn over(
        &self,
        line_rate: BitRate,
        initial_rate: BitRate,
        round_trip: Span,
        rate_min: RateValue,
        precision: Precision,
    ) -> Settings {
        let window_of = |bps: f64| bps * round_trip.as_s() / 8.0;
        let step_bytes = match self.step {
            Step::Bytes => self.step_bytes as f64,
            Step::Flows => window_of(line_rate.bps() as f64) * (1.0 - self.eta) / self.flows as f64,
            Step::Rate => window_of(self.rate_ai.at(line_rate)),
        };
        Settings {
            line_rate,
            initial_rate,
            round_trip,
            step_bytes,
            min_bytes: window_of(rate_min.at(line_rate)),
            eta: self.eta,
            max_stage: self.max_stage as u32,
            precision,
        }
    }
}

/// State of one loop (`hpcc.md`, section 3).
#[derive(Clone, Debug)]
pub struct HpccLaw {
    /// W, W^c and W_init, the window of line rate.
    window_bytes: f64,
    reference_bytes: f64,
    full_bytes: f64,
    /// U
    utilisation: f64,
    step_bytes: f64,
    min_bytes: f64,
    eta: f64,
    /// T, and its inverse.
    round_trip_ps: f64,
    per_round_trip: f64,
    line_bps: f64,
    /// L, the telemetry of the previous acknowledgement.
    previous: Previous,
    stage: u32,
    max_stage: u32,
    increases: u32,
    precision: Precision,
}

impl HpccLaw {
    /// At the window of the initial rate, with no telemetry yet.
    pub fn new(settings: &Settings) -> HpccLaw {
        let (line_bps, round_trip_ps) = (settings.line_rate.bps() as f64, settings.round_trip.ps() as f64);
        // Section 3: W_init = line T / 8.
        let full_bytes = line_bps * round_trip_ps / 8e12;
        let min_bytes = settings.min_bytes.clamp(1.0, full_bytes.max(1.0));
        let share = settings.initial_rate.bps() as f64 / line_bps;
        let window_bytes = (full_bytes * share).clamp(min_bytes, full_bytes.max(1.0));
        HpccLaw {
            window_bytes,
            reference_bytes: window_bytes,
            full_bytes: full_bytes.max(1.0),
            utilisation: 1.0,
            step_bytes: settings.step_bytes,
            min_bytes,
            eta: settings.eta,
            round_trip_ps,
            per_round_trip: 1.0 / round_trip_ps,
            line_bps,
            previous: Previous::default(),
            stage: 0,
            max_stage: settings.max_stage,
            increases: 0,
            precision: settings.precision,
        }
    }

    /// Telemetry has come back (section 4). `update` says that a round has passed since the last
    /// time it was true: what the law decides now is what the next round starts from. `false` if
    /// there was nothing to compare with: the first records, those of another path, or records taken
    /// at the same time.
    #[inline]
    pub fn on_telemetry(&mut self, stack: &IntStack, update: bool) -> bool {
        let measured = self.measure(stack);
        self.previous.replace(stack);
        if measured {
            self.react(update);
        }
        measured
    }

    /// Section 4, "measure": the smoothed utilisation of the busiest hop.
    #[inline(always)]
    fn measure(&mut self, stack: &IntStack) -> bool {
        let Some(previous) = self.previous.of(stack) else { return false };
        let Some(utilisation) = self.smoothed(self.utilisation, stack, previous) else { return false };
        self.utilisation = utilisation;
        true
    }

    /// A utilisation with that of the busiest hop between two records of a path smoothed in; none if no rate can be read
    /// from any hop.
    #[inline(always)]
    fn smoothed(&self, utilisation: f64, stack: &IntStack, previous: &[IntHop]) -> Option<f64> {
        let both = stack.hops().iter().zip(previous);
        // Told apart here, not once for every hop.
        let (highest, elapsed_ps) = match self.precision {
            Precision::Exact => self.busiest(both, |new, old| Precision::Exact.between(new, old)),
            precision => self.busiest(both, |new, old| precision.between(new, old)),
        };
        if highest < 0.0 {
            return None;
        }
        let elapsed = real(elapsed_ps);
        let weight = if elapsed < self.round_trip_ps { elapsed } else { self.round_trip_ps } * self.per_round_trip;
        Some((1.0 - weight) * utilisation + weight * highest)
    }

    /// Telemetry of one of several paths has come back: every path has a utilisation of its own, and the largest of
    /// those with an ACK within a round trip counts. `false` if there was nothing to compare with.
    pub fn on_telemetry_of(&mut self, paths: &mut PathRecords, now: Time, stack: &IntStack, update: bool) -> bool {
        let round_trip = Span::from_ps(self.round_trip_ps as u64);
        paths.forget(now, round_trip * FORGOTTEN_AFTER);
        let path = u32::from(stack.path()) | (stack.hops().len() as u32) << 16;
        let Some((records, utilisation)) = paths.of(path, now) else {
            paths.add(path, now, (*stack, 1.0));
            return false;
        };
        let smoothed = self.smoothed(*utilisation, stack, records.hops());
        records.take_records(stack);
        let Some(smoothed) = smoothed else { return false };
        *utilisation = smoothed;
        self.utilisation = paths.acked_within(now, round_trip).map(|(_, utilisation)| *utilisation).fold(0.0, f64::max);
        self.react(update);
        true
    }

    /// A utilisation has come back that is smoothed already.
    pub fn on_utilisation(&mut self, utilisation: f64, update: bool) {
        self.utilisation = utilisation;
        self.react(update);
    }

    /// Utilisation of the busiest of the hops, and the picoseconds between its records; below zero if no rate can be
    /// read from any.
    #[inline(always)]
    fn busiest<'a>(
        &self,
        hops: impl Iterator<Item = (&'a IntHop, &'a IntHop)>,
        between: impl Fn(&IntHop, &IntHop) -> (u64, u64),
    ) -> (f64, u64) {
        let (mut highest, mut elapsed_ps) = (-1.0, 0);
        for (new, old) in hops {
            let (ps, tx_bytes) = between(new, old);
            if ps == 0 {
                continue; // The guard of section 4: no rate can be read from one instant.
            }
            let queue_bytes = real(new.queue_bytes.min(old.queue_bytes));
            let bytes_per_ps = queue_bytes * self.per_round_trip + real(tx_bytes) / real(ps);
            let used = bytes_per_ps * 8e12 / real(new.rate.bps());
            elapsed_ps = if used > highest { ps } else { elapsed_ps };
            highest = if used > highest { used } else { highest };
        }
        (highest, elapsed_ps)
    }

    /// Section 4, "react". Reactions within a round all start from W^c, so they do not compound.
    #[inline]
    fn react(&mut self, update: bool) {
        let multiply = self.utilisation >= self.eta || self.stage >= self.max_stage;
        let window = if multiply {
            self.reference_bytes * self.eta / self.utilisation + self.step_bytes
        } else {
            self.reference_bytes + self.step_bytes
        };
        // Bounds come before W^c, as in the authors' simulator: a reference beyond them would wind up.
        // Not `clamp`, which looks at the bounds each time.
        let window = if window > self.min_bytes { window } else { self.min_bytes };
        self.window_bytes = if window < self.full_bytes { window } else { self.full_bytes };
        if update {
            // Counted at the upper bound too: the law found room, whatever else holds the flow back.
            self.increases = self.increases.wrapping_add(u32::from(self.utilisation < self.eta));
            self.stage = if multiply { 0 } else { self.stage + 1 };
            self.reference_bytes = self.window_bytes;
        }
    }

    /// W, from W_min to W_init.
    #[inline]
    pub fn window_bytes(&self) -> f64 {
        self.window_bytes
    }

    /// R = 8 W / T, and exactly the line rate at W_init.
    #[inline]
    pub fn rate_bps(&self) -> f64 {
        match self.window_bytes < self.full_bytes {
            true => self.window_bytes * 8e12 * self.per_round_trip,
            false => self.line_bps,
        }
    }

    /// W_init
    pub fn full_bytes(&self) -> f64 {
        self.full_bytes
    }

    /// U
    pub fn utilisation(&self) -> f64 {
        self.utilisation
    }

    /// Rounds that ended with a utilisation below the target, so that the window grew.
    pub fn increases(&self) -> u32 {
        self.increases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            line_rate: BitRate::from_gbps(100),
            initial_rate: BitRate::from_gbps(100),
            round_trip: Span::from_us(10),
            step_bytes: 80.0,
            min_bytes: 1.0,
            eta: 0.95,
            max_stage: 5,
            precision: Precision::Exact,
        }
    }

    fn hop(us: u64, tx_bytes: u64, queue_bytes: u64) -> IntHop {
        IntHop { rate: BitRate::from_gbps(100), at: Time::from_us(us), tx_bytes, queue_bytes }
    }

    fn stack(hops: &[IntHop]) -> IntStack {
        let mut stack = IntStack::default();
        hops.iter().for_each(|hop| stack.push(*hop));
        stack
    }

    #[test]
    fn hpcc_7_1_five_acknowledgements() {
        let mut law = HpccLaw::new(&settings());
        assert_eq!((law.window_bytes(), law.utilisation()), (125_000.0, 1.0));
        assert!(!law.on_telemetry(&stack(&[hop(0, 0, 20_000)]), true), "the first only stores");
        assert_eq!(law.window_bytes(), 125_000.0);
        for ((us, tx, queue, update), (used, window, reference, stage)) in [
            ((5, 62_500, 50_000, true), (1.08, 110_033.70, 110_033.70, 0)),
            ((10, 125_000, 80_000, false), (1.24, 84_380.01, 110_033.70, 0)),
            ((15, 187_500, 60_000, true), (1.36, 76_941.78, 76_941.78, 0)),
            ((20, 240_000, 0, false), (1.10, 66_529.72, 76_941.78, 0)),
            ((30, 300_000, 0, true), (0.48, 77_021.78, 77_021.78, 1)),
        ] {
            assert!(law.on_telemetry(&stack(&[hop(us, tx, queue)]), update));
            assert!((law.utilisation() - used).abs() < 1e-12, "at {us} us: U = {}", law.utilisation());
            assert!((law.window_bytes() - window).abs() < 0.005, "at {us} us: W = {}", law.window_bytes());
            assert!((law.reference_bytes - reference).abs() < 0.005, "at {us} us: Wc = {}", law.reference_bytes);
            assert_eq!(law.stage, stage, "at {us} us");
            assert!((law.rate_bps() / 1e9 - law.window_bytes() * 8e-4).abs() < 1e-9);
        }
        assert_eq!(law.increases(), 1);
    }

    /// Section 8, 4 of `paths.md`: the slowest path decides.
    #[test]
    fn paths_1_4_the_busiest_path_of_the_last_round_trip_counts() {
        let path = |name: u16, hop: IntHop| {
            let mut stack = stack(&[hop]);
            stack.pass(name);
            stack
        };
        let (mut law, mut paths) = (HpccLaw::new(&settings()), PathRecords::default());
        let mut ack = |us: u64, name: u16, tx_bytes: u64| {
            let told = law.on_telemetry_of(&mut paths, Time::from_us(us), &path(name, hop(us, tx_bytes, 0)), true);
            (told, law.utilisation())
        };
        assert_eq!(ack(0, 1, 0), (false, 1.0), "the first record of a path is only kept");
        assert_eq!(ack(0, 2, 0), (false, 1.0));
        // Whole round trips of 10 us: full, then half.
        assert_eq!(ack(10, 1, 125_000), (true, 1.0));
        assert_eq!(ack(10, 2, 62_500), (true, 1.0), "the other path is busier");
        assert_eq!(ack(20, 2, 125_000), (true, 1.0));
        let (_, later) = ack(21, 2, 131_250);
        assert!((later - 0.5).abs() < 1e-12, "the other had no ACK for more than a round trip: {later}");
    }

    /// One path is as it was, bit for bit.
    #[test]
    fn paths_1_4_one_path_is_as_without_the_rule() {
        let (mut plain, mut spread) = (HpccLaw::new(&settings()), HpccLaw::new(&settings()));
        let mut paths = PathRecords::default();
        for at in 0..200_u64 {
            let records = stack(&[hop(at * 3, at * 29_000 + at % 7 * 900, at % 11 * 5_000)]);
            let update = at % 4 == 0;
            let told = plain.on_telemetry(&records, update);
            assert_eq!(told, spread.on_telemetry_of(&mut paths, Time::from_us(at * 3 + 5), &records, update));
            assert_eq!((plain.window_bytes(), plain.utilisation()), (spread.window_bytes(), spread.utilisation()));
        }
    }

    #[test]
    fn hpcc_4_the_busiest_hop_counts() {
        // The second hop is a slower port: half the bytes fill it.
        let slow =
            |us, tx_bytes, queue_bytes| IntHop { rate: BitRate::from_gbps(40), ..hop(us, tx_bytes, queue_bytes) };
        let mut law = HpccLaw::new(&settings());
        law.on_telemetry(&stack(&[hop(0, 0, 0), slow(1, 0, 10_000)]), true);
        law.on_telemetry(&stack(&[hop(10, 60_000, 0), slow(11, 50_000, 5_000)]), true);
        // 5000 B of 40G x 10 us, and a full port.
        assert!((law.utilisation() - 1.1).abs() < 1e-12, "{}", law.utilisation());
    }

    #[test]
    fn hpcc_7_3_a_window_rests_where_the_cut_is_the_step() {
        // U* = eta W / (W - W_AI) leaves the window as it is.
        let mut law = HpccLaw::new(&Settings { initial_rate: BitRate::from_gbps(10), ..settings() });
        law.utilisation = 0.95 * 12_500.0 / (12_500.0 - 80.0);
        law.react(true);
        assert!((law.window_bytes() - 12_500.0).abs() < 1e-6, "{}", law.window_bytes());
        // So many flows of 80 B fit below U = 1: W_init (1 - eta) / W_AI.
        assert_eq!((law.full_bytes() * (1.0 - law.eta) / law.step_bytes + 1e-9) as u32, 78);
    }

    #[test]
    fn hpcc_7_4_one_round_trip_of_a_whole_backlog_halves() {
        // Two flows at line rate have put one BDP into the queue; a round trip shows it to them.
        let mut law = HpccLaw::new(&settings());
        law.on_telemetry(&stack(&[hop(0, 0, 125_000)]), true);
        law.on_telemetry(&stack(&[hop(10, 125_000, 125_000)]), true);
        assert!((law.window_bytes() / (125_000.0 * 0.95 / 2.0) - 1.0).abs() < 0.05, "{}", law.window_bytes());
    }

    #[test]
    fn hpcc_4_guards() {
        let mut law = HpccLaw::new(&settings());
        law.on_telemetry(&stack(&[hop(0, 0, 0)]), true);
        assert!(!law.on_telemetry(&stack(&[hop(0, 0, 900_000)]), true), "records of one instant");
        assert!(!law.on_telemetry(&stack(&[hop(9, 0, 0), hop(9, 0, 0)]), true), "another path");
        assert_eq!(law.window_bytes(), 125_000.0);
        // A port that sent nothing does not divide by zero, in any stage.
        for us in 20..60 {
            law.on_telemetry(&stack(&[hop(us, 0, 0), hop(us, 0, 0)]), true);
            assert!(law.window_bytes() == 125_000.0 && law.rate_bps() == 100e9);
        }
        // And one that is hopelessly congested leaves the least window.
        for us in 60..200 {
            law.on_telemetry(&stack(&[hop(us, 0, u64::MAX / 2), hop(us, 0, 0)]), true);
        }
        assert!((1.0..100.0).contains(&law.window_bytes()), "{}", law.window_bytes());
    }

    #[test]
    fn hpcc_4_every_round_is_multiplicative_without_stages() {
        let mut law = HpccLaw::new(&Settings { max_stage: 0, initial_rate: BitRate::from_gbps(50), ..settings() });
        law.on_telemetry(&stack(&[hop(0, 0, 0)]), true);
        law.on_telemetry(&stack(&[hop(10, 62_500, 0)]), true);
        assert!((law.window_bytes() - (62_500.0 * 0.95 / 0.5 + 80.0)).abs() < 1e-6);
    }

    #[test]
    fn hpcc_5_w_init_by_speed() {
        for (gbps, bytes) in [(10, 15_000.0), (25, 37_500.0), (40, 60_000.0), (100, 150_000.0)] {
            let line_rate = BitRate::from_gbps(gbps);
            let law = HpccLaw::new(&Settings {
                line_rate,
                initial_rate: line_rate,
                round_trip: Span::from_us(12),
                ..settings()
            });
            assert_eq!(law.full_bytes(), bytes);
        }
    }

    #[test]
    fn a_loop_stays_small() {
        assert!(size_of::<HpccLaw>() <= 120, "{}", size_of::<HpccLaw>());
    }
}
