//! HPCC: high precision congestion control (Li et al., SIGCOMM 2019).
//!
//! Switches write telemetry into data packets, receivers echo it in ACKs, senders set a window from
//! the utilisation of the busiest hop and pace at window / base round trip. The law itself is in
//! [`crate::parts::hpcc_law`] (reactions within a round start from the window of the last round),
//! the telemetry in [`crate::parts::int`]; here is the transport around them. `rate` is the law as
//! the authors' simulator has it, without a window.

mod rate;
mod spread;

use crate::Configured;
use crate::param::{ParamValues, PathSupport, Preset, SchemeSpec, params, presets};
use crate::parts::hpcc_law::{self, HpccLaw, Settings, Step};
use crate::parts::int::{self, IntPoint};
use crate::parts::round_trip;
use crate::parts::silent_receiver;
use xoff_engine::Time;
use xoff_fabric::scheme::*;

params! {
    /// Symbols are the paper's.
    pub struct Params {
        /// a window and its pace, or a rate in whole bits per second and no window of its own
        law: Law { Window = "window", Rate = "rate" } = "window",
            from "paper; the authors' simulator has the rate, and caps what is in flight at the host";
        /// every ACK reacts, or only the one that ends a round
        fast_react: Flag = "true" if Law::Rate, from "the authors' simulator, FAST_REACT";
        /// within a round, hops without a queue are left out
        sample_feedback: Flag = "false" if Law::Rate, from "the authors' simulator, SAMPLE_FEEDBACK";
        /// one rate per hop, of which the smallest counts, instead of one from the busiest hop
        per_hop: Flag = "false" if Law::Rate, from "the authors' simulator, MULTI_RATE";
        /// floor of the rate, and with it of the window
        rate_min "R_min": Rate = "100Mbps", from "the authors' simulator";
        ..reaction: hpcc_law::Params;
        ..round_trip: round_trip::Params;
        ..int: int::HeaderParams;
    }
}

const PRESETS: &[Preset] = presets! {
    "paper" from "SIGCOMM 2019" {}
    "script" from "run script of the authors' simulator" { max_stage = "0", step = "rate", int_precision = "header" }
    "hpcc-ns3" from "the authors' simulator to the last bit, values of its run script at 100G" {
        law = "rate", max_stage = "0", step = "rate", rate_min = "1Gbps",
        int_precision = "header", int_multiplier = "4",
    }
    "mercury" from "Mercury's large-scale simulations (T = 12 us); its other values are an assumption, the paper's" {
        round_trip = "fixed", base_rtt = "12us",
    }
};

const SPEC: SchemeSpec = SchemeSpec::new(
    "hpcc",
    "in-band telemetry, a window from the utilisation of the busiest hop",
    "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019",
    Params::TABLE,
    PRESETS,
)
.publishing(&[UTILISATION])
.with_paths(PathSupport::OnePathWith {
    param: "law",
    value: "rate",
    why: "with law = \"rate\" it is as in its authors' simulator, where a flow has one path",
});

const UTILISATION: Variable = Variable {
    name: "utilisation",
    unit: "1",
    meaning: "Smoothed utilisation of the busiest hop, U of the paper: 1 is its bandwidth-delay product in flight.",
};

#[derive(Clone, Debug)]
pub struct Hpcc {
    params: Params,
}

impl Configured for Hpcc {
    const SPEC: SchemeSpec = SPEC;

    fn configure(values: &ParamValues) -> Hpcc {
        Hpcc { params: Params::read(values) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        match (params.law, params.reaction.step) {
            (Law::Window, _) | (Law::Rate, Step::Rate) => None,
            (Law::Rate, step @ (Step::Bytes | Step::Flows)) => Some(format!(
                "a law of rates takes its step from `rate_ai`: `step` must be \"rate\", not \"{}\"",
                step.text()
            )),
        }
    }
}

impl Hpcc {
    /// The law's settings for one flow (sections 3 and 5).
    fn settings(&self, of: &FlowFacts) -> Settings {
        let Params { reaction, round_trip, rate_min, int, .. } = &self.params;
        reaction.over(of.line_rate, of.initial_rate, round_trip.of(of), *rate_min, int.precision())
    }
}

impl Scheme for Hpcc {
    silent_receiver!(());
    type Cp = IntPoint;
    type Rp = Rp;

    fn congestion_point(&self, at: &QueueFacts) -> IntPoint {
        IntPoint::new(self.params.int.precision(), at)
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        match self.params.law {
            Law::Window if of.spread => Rp::Spread(Box::new(spread::Rp::new(&self.settings(of)))),
            Law::Window => Rp::Window { law: HpccLaw::new(&self.settings(of)), round_ends_bytes: 0 },
            Law::Rate => Rp::Rate(Box::new(rate::Rp::new(&self.params, of))),
        }
    }

    /// Section 2: the INT block in data packets, and its copy in ACKs.
    fn format(&self) -> Format {
        int::format(self.params.int.precision())
    }
}

#[inline]
fn limits(law: &HpccLaw) -> Limits {
    Limits { rate_bps: law.rate_bps(), window_bytes: law.window_bytes() as u64 }
}

/// Window and pacing of one flow, or its rate.
#[derive(Clone, Debug)]
pub enum Rp {
    /// The paper's form: a window, paced at W / T.
    Window {
        /// W, W^c, U and the records of the last ACK.
        law: HpccLaw,
        /// lastUpdateSeq: an ACK beyond it was sent after the last update took effect.
        round_ends_bytes: u64,
    },
    /// A window where packets take several paths.
    Spread(Box<spread::Rp>),
    /// Boxed: it keeps the records of a whole path.
    Rate(Box<rate::Rp>),
}

impl ReactionPoint for Rp {
    type Feedback = ();

    #[inline]
    fn limits(&self) -> Limits {
        match self {
            Rp::Window { law, .. } => limits(law),
            Rp::Spread(rp) => rp.limits(),
            Rp::Rate(rp) => rp.limits(),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        match self {
            Rp::Window { law, round_ends_bytes } => {
                let Some(stack) = ack.int else { return };
                // Section 4: once per round the result becomes what the next round starts from.
                let update = ack.acked_bytes > *round_ends_bytes;
                law.on_telemetry(stack, update);
                if update {
                    *round_ends_bytes = ack.sent_bytes;
                }
            }
            Rp::Spread(rp) => rp.on_ack(ack),
            Rp::Rate(rp) => rp.on_ack(ack),
        }
    }

    fn increases(&self) -> u32 {
        match self {
            Rp::Window { law, .. } => law.increases(),
            Rp::Spread(rp) => rp.law.increases(),
            Rp::Rate(rp) => rp.increases,
        }
    }

    fn variables(&self, _: Time, out: &mut dyn FnMut(&'static Variable, f64)) {
        out(
            &UTILISATION,
            match self {
                Rp::Window { law, .. } => law.utilisation(),
                Rp::Spread(rp) => rp.law.utilisation(),
                Rp::Rate(rp) => rp.utilisation(),
            },
        );
    }

    fn has_decided(&self) -> bool {
        match self {
            Rp::Window { .. } | Rp::Spread(_) => true,
            Rp::Rate(rp) => rp.decided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{configured, flow};
    use xoff_engine::{BitRate, Span};
    use xoff_fabric::packet::{IntHop, IntStack};

    fn hpcc(preset: &str, texts: &[(&str, &str)]) -> Hpcc {
        configured(&format!("hpcc:{preset}"), texts)
    }

    fn stack(us: u64, tx_bytes: u64, queue_bytes: u64) -> IntStack {
        let mut stack = IntStack::default();
        stack.push(IntHop { rate: BitRate::from_gbps(100), at: Time::from_us(us), tx_bytes, queue_bytes });
        stack
    }

    fn ack<'a>(acked_bytes: u64, sent_bytes: u64, int: &'a IntStack) -> Acked<'a> {
        Acked { bytes: 1000, acked_bytes, sent_bytes, int: Some(int), ..Acked::default() }
    }

    #[test]
    fn hpcc_7_1_rounds_are_told_by_sequence_numbers() {
        let mut rp = hpcc("paper", &[]).reaction_point(&flow(100, 10));
        assert_eq!(rp.limits(), Limits { rate_bps: 100e9, window_bytes: 125_000 });
        // The first ACK only stores, and starts the first round.
        rp.on_ack(&ack(1_000, 100_000, &stack(0, 0, 20_000)));
        assert_eq!(rp.limits().window_bytes, 125_000);
        assert!(matches!(rp, Rp::Window { round_ends_bytes: 100_000, .. }));
        for (acked, sent, (us, tx, queue), window) in [
            (101_000, 180_000, (5, 62_500, 50_000), 110_033),
            (150_000, 185_000, (10, 125_000, 80_000), 84_380),
            (180_001, 260_000, (15, 187_500, 60_000), 76_941),
            (260_000, 270_000, (20, 240_000, 0), 66_529),
            (261_000, 280_000, (30, 300_000, 0), 77_021),
        ] {
            rp.on_ack(&ack(acked, sent, &stack(us, tx, queue)));
            assert_eq!(rp.limits().window_bytes, window, "at {us} us");
        }
        assert!((rp.limits().rate_bps - 8.0 * 77_021.78 / 10e-6).abs() < 1e4);
        assert_eq!(rp.increases(), 1);
    }

    #[test]
    fn hpcc_5_steps_by_bytes_flows_and_rate() {
        let step = |scheme: &Hpcc, gbps, us| scheme.settings(&flow(gbps, us)).step_bytes;
        assert_eq!(step(&hpcc("paper", &[]), 25, 12), 80.0);
        let flows = hpcc("paper", &[("step", "flows")]);
        assert!((step(&flows, 100, 10) - 80.13).abs() < 0.01, "{}", step(&flows, 100, 10));
        // Run script: 4, 10, 16 and 40 Mb/s at 10, 25, 40 and 100G.
        let script = hpcc("script", &[]);
        for (gbps, mbps) in [(10, 4.0), (25, 10.0), (40, 16.0), (100, 40.0)] {
            assert!((step(&script, gbps, 12) - mbps * 1e6 * 12e-6 / 8.0).abs() < 1e-9, "{gbps}G");
        }
        assert_eq!(script.settings(&flow(25, 12)).max_stage, 0);
    }

    #[test]
    fn hpcc_5_round_trips_and_floors() {
        let of = FlowFacts { max_base_rtt: Span::from_us(20), ..flow(100, 10) };
        let window = |preset, texts: &[(&str, &str)]| hpcc(preset, texts).reaction_point(&of).limits().window_bytes;
        assert_eq!(window("paper", &[]), 250_000);
        assert_eq!(window("paper", &[("round_trip", "pair")]), 125_000);
        assert_eq!(window("mercury", &[]), 150_000);
        // 100 Mb/s times 20 us.
        assert!((hpcc("paper", &[]).settings(&of).min_bytes - 250.0).abs() < 1e-9);
    }

    #[test]
    fn a_flow_stays_small() {
        assert!(size_of::<Rp>() <= 128, "{}", size_of::<Rp>());
    }
}
