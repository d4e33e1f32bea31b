//! HPCC-PINT: HPCC with the utilisation of the busiest hop in one or two bytes (Ben Basat et al., "PINT: Probabilistic
//! In-band Network Telemetry", SIGCOMM 2020).
//!
//! Every switch port keeps its own utilisation U, as HPCC's senders do for the busiest hop, and a data packet leaves with
//! the larger of its own and what it came with, as a power of `b` (`code`). The sender takes the decoded number in
//! the place of HPCC's U, which is smoothed already. A digest has no records of hops, so it needs neither the length of
//! the path nor the path itself.
//!
//! `law` is where senders differ, `arithmetic` where switches do: [`approximate`] is the authors' simulator.

mod approximate;
mod code;
mod rate;

use crate::Configured;
use crate::param::{ParamValues, PathSupport, Preset, SchemeSpec, params, presets};
use crate::parts::hpcc_law::{self, HpccLaw, Step};
use crate::parts::int::Precision;
use crate::parts::round_trip::{self, RoundTrip};
use crate::parts::rounding::real;
use crate::parts::silent_receiver;
use approximate::Approximate;
use code::Code;
use std::sync::Arc;
use xoff_engine::{Rng, SharedGlibc, Span, Time, stream};
use xoff_fabric::packet::IntStack;
use xoff_fabric::scheme::*;

params! {
    /// Symbols are the papers'.
    pub struct Params {
        /// a window and its pace, or a rate in whole bits per second and no window of its own
        law: Law { Window = "window", Rate = "rate" } = "window",
            from "HPCC; the authors' simulator has the rate, and caps what is in flight at the host";
        /// numbers of switches as they are, or as shifts and tables of 16-bit logarithms give them
        arithmetic: Arithmetic { Exact = "exact", Approximate = "approximate" } = "exact",
            from "the authors' simulator has the latter; exact: assumption, so that one file holds at every speed";
        /// base of the digest: a number within a factor b of the one that is meant
        log_base "b": Number(1.001..=2.0) = "1.05", from "the authors' simulator; 1.01 in its run script";
        /// share of ACKs that a sender reacts to
        probability "p": Number(0.0001..=1.0) = "1.0", from "the authors' simulator";
        /// floor of the rate, and with it of the window
        rate_min "R_min": Rate = "100Mbps", from "the authors' simulator";
        ..reaction: hpcc_law::Params;
        ..round_trip: round_trip::Params;
    }
}

const PRESETS: &[Preset] = presets! {
    "paper" from "SIGCOMM 2020" {}
    "hpcc-ns3" from "the authors' simulator to the last bit, values of its run script at 100G" {
        law = "rate", arithmetic = "approximate", log_base = "1.01", max_stage = "0", step = "rate", rate_min = "1Gbps",
    }
};

const SPEC: SchemeSpec = SchemeSpec::new(
    "hpcc-pint",
    "HPCC with a digest of one or two bytes in place of telemetry by hop",
    "Ben Basat et al., PINT: Probabilistic In-band Network Telemetry, SIGCOMM 2020",
    Params::TABLE,
    PRESETS,
)
.publishing(&[UTILISATION])
.drawing_in_order(Arithmetic::PARAM, "approximate")
.with_paths(PathSupport::OnePathWith {
    param: "law",
    value: "rate",
    why: "with law = \"rate\" it is as in its authors' simulator, where a flow has one path",
});

const UTILISATION: Variable = Variable {
    name: "utilisation",
    unit: "1",
    meaning: "Utilisation of the busiest hop as the last digest told it: 1 is its bandwidth-delay product in flight.",
};

/// Bytes of the digest's header, one or two of which it needs.
const HEADER_BYTES: u32 = 2;

#[derive(Debug)]
pub struct HpccPint {
    params: Params,
    code: Arc<Code>,
    /// What all of a run of the authors' simulator draw from.
    shared: SharedGlibc,
}

impl Configured for HpccPint {
    const SPEC: SchemeSpec = SPEC;

    fn configure(values: &ParamValues) -> HpccPint {
        let params = Params::read(values);
        HpccPint { code: Arc::new(Code::new(params.log_base)), params, shared: SharedGlibc::new(1) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        let whole = params.law == Law::Rate;
        if whole && params.reaction.step != Step::Rate {
            let step = params.reaction.step.text();
            return Some(format!(
                "a law of rates takes its step from `rate_ai`: `step` must be \"rate\", not \"{step}\""
            ));
        }
        if whole != (params.arithmetic == Arithmetic::Approximate) {
            let law = if whole { "rate" } else { "window" };
            let arithmetic = params.arithmetic.text();
            return Some(format!(
                "law = \"{law}\" and arithmetic = \"{arithmetic}\" are of two simulators: they draw in different orders"
            ));
        }
        (params.round_trip.round_trip == RoundTrip::Pair).then(|| {
            "switches have one T for all flows: `round_trip` must be \"network\" or \"fixed\", not \"pair\"".to_owned()
        })
    }
}

impl Scheme for HpccPint {
    silent_receiver!(());
    type Cp = Cp;
    type Rp = Rp;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        let round_trip = match self.params.round_trip.round_trip {
            RoundTrip::Fixed => self.params.round_trip.base_rtt,
            RoundTrip::Network | RoundTrip::Pair => at.max_base_rtt,
        };
        let round_trip = round_trip.max(Span::from_ns(1));
        match self.params.arithmetic {
            Arithmetic::Exact => Cp::Exact(Box::new(Exact::new(round_trip, at, &self.code))),
            Arithmetic::Approximate => {
                Cp::Approximate(Box::new(Approximate::new(round_trip, at, &self.code, &self.shared)))
            }
        }
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let Params { reaction, round_trip, rate_min, probability, .. } = &self.params;
        match self.params.law {
            Law::Window => {
                let (line, rtt) = (of.line_rate, round_trip.of(of));
                let settings = reaction.over(line, of.initial_rate, rtt, *rate_min, Precision::Exact);
                let window = Window {
                    law: HpccLaw::new(&settings),
                    round_ends_bytes: 0,
                    probability: *probability,
                    random: stream(of.seed, "pint-ack", of.flow),
                    code: Arc::clone(&self.code),
                };
                Rp::Window(Box::new(window))
            }
            Law::Rate => Rp::Rate(Box::new(rate::Rp::new(&self.params, of, &self.code, &self.shared))),
        }
    }

    fn format(&self) -> Format {
        Format { data_bytes: HEADER_BYTES, ack_bytes: HEADER_BYTES, int: true, ..Format::default() }
    }
}

/// Leaves the larger of two digests in a packet.
#[inline]
fn write(stack: &mut IntStack, power: u16) {
    stack.tag = stack.tag.max(power);
}

/// U of one port, and what it draws from.
#[derive(Debug)]
pub enum Cp {
    /// Real numbers, and a stream of its own.
    Exact(Box<Exact>),
    /// The authors' simulator.
    Approximate(Box<Approximate>),
}

impl CongestionPoint for Cp {
    type Feedback = ();

    fn hooks(&self) -> Hooks {
        match self {
            Cp::Exact(_) => Hooks::DEQUEUE,
            // It asks for the time and size of the last packet, whatever that was.
            Cp::Approximate(_) => Hooks::DEQUEUE.with(Hooks::ACKS),
        }
    }

    fn on_dequeue(&mut self, view: &QueueView, _: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, ())) {
        let Some(stack) = mark.int else { return };
        match self {
            Cp::Exact(point) => write(stack, point.digest(view)),
            Cp::Approximate(point) => write(stack, point.digest(view)),
        }
    }

    fn on_ack_dequeue(&mut self, view: &QueueView) {
        if let Cp::Approximate(point) = self {
            point.note(view);
        }
    }
}

/// U = U (T - dt)/T + (q + rate T) dt/(B T^2): HPCC's utilisation of a hop, smoothed over T.
#[derive(Debug)]
pub struct Exact {
    utilisation: f64,
    /// When the last data packet left, and what the port had sent with it.
    last: Time,
    sent_bytes: u64,
    round_trip_ps: f64,
    /// B T, the bytes that are a utilisation of 1.
    bdp_bytes: f64,
    random: Rng,
    code: Arc<Code>,
}

impl Exact {
    fn new(round_trip: Span, at: &QueueFacts, code: &Arc<Code>) -> Exact {
        let round_trip_ps = real(round_trip.ps());
        Exact {
            utilisation: 0.0,
            last: Time::ZERO,
            sent_bytes: 0,
            round_trip_ps,
            bdp_bytes: real(at.rate.bps()) / 8e12 * round_trip_ps,
            random: stream(at.seed, "pint", at.queue),
            code: Arc::clone(code),
        }
    }

    /// A data packet has left.
    fn digest(&mut self, view: &QueueView) -> u16 {
        let elapsed_ps = real(view.now.saturating_since(self.last).ps());
        // All that was sent since then counts, data of this scheme or not; of a longer time, the part of one T.
        let sent = real(view.tx_bytes.saturating_sub(self.sent_bytes));
        let (dt, sent) = match elapsed_ps > self.round_trip_ps {
            true => (1.0, sent * self.round_trip_ps / elapsed_ps),
            false => (elapsed_ps / self.round_trip_ps, sent),
        };
        self.utilisation = self.utilisation * (1.0 - dt) + (real(view.port_bytes) * dt + sent) / self.bdp_bytes;
        // What leaves now counts from now on.
        (self.last, self.sent_bytes) = (view.now, view.tx_bytes);
        self.code.encode(self.utilisation, self.random.unit())
    }
}

/// Window and pacing of one flow, or its rate.
#[derive(Debug)]
pub enum Rp {
    /// HPCC's window, from decoded utilisations.
    Window(Box<Window>),
    /// The authors' simulator.
    Rate(Box<rate::Rp>),
}

/// HPCC's window law, of which only the ACKs that are drawn make use.
#[derive(Debug)]
pub struct Window {
    law: HpccLaw,
    /// lastUpdateSeq: an ACK beyond it was sent after the last update took effect.
    round_ends_bytes: u64,
    probability: f64,
    random: Rng,
    code: Arc<Code>,
}

impl Window {
    fn on_ack(&mut self, ack: &Acked<'_>) {
        let Some(stack) = ack.int else { return };
        if self.probability < 1.0 && self.random.unit() >= self.probability {
            return;
        }
        let update = ack.acked_bytes > self.round_ends_bytes;
        // As HPCC: the first ACK only starts a round.
        if self.round_ends_bytes > 0 {
            self.law.on_utilisation(self.code.decode(stack.tag), update);
        }
        if update {
            self.round_ends_bytes = ack.sent_bytes;
        }
    }
}

impl ReactionPoint for Rp {
    type Feedback = ();

    fn limits(&self) -> Limits {
        match self {
            Rp::Window(rp) => Limits { rate_bps: rp.law.rate_bps(), window_bytes: rp.law.window_bytes() as u64 },
            Rp::Rate(rp) => rp.limits(),
        }
    }

    fn on_ack(&mut self, ack: &Acked<'_>) {
        match self {
            Rp::Window(rp) => rp.on_ack(ack),
            Rp::Rate(rp) => rp.on_ack(ack),
        }
    }

    fn increases(&self) -> u32 {
        match self {
            Rp::Window(rp) => rp.law.increases(),
            Rp::Rate(rp) => rp.increases(),
        }
    }

    fn variables(&self, _: Time, out: &mut dyn FnMut(&'static Variable, f64)) {
        out(
            &UTILISATION,
            match self {
                Rp::Window(rp) => rp.law.utilisation(),
                Rp::Rate(rp) => rp.utilisation(),
            },
        );
    }

    fn has_decided(&self) -> bool {
        match self {
            Rp::Window(_) => true,
            Rp::Rate(rp) => rp.has_decided(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{configured, flow, queue};
    use xoff_engine::BitRate;

    fn pint(preset: &str, texts: &[(&str, &str)]) -> HpccPint {
        configured(&format!("hpcc-pint:{preset}"), texts)
    }

    /// A packet that leaves a port of 100 Gb/s, with the digest of the hop before it.
    fn leave(cp: &mut Cp, us: u64, tx_bytes: u64, port_bytes: u64, before: u16) -> u16 {
        let view = QueueView { tx_bytes, ..QueueView::at(BitRate::from_gbps(100), Time::from_us(us), port_bytes) };
        let mut stack = digest(before);
        let mut ecn = xoff_fabric::packet::Ecn::Ect0;
        let mark = Mark { ecn: &mut ecn, int: Some(&mut stack) };
        cp.on_dequeue(&view, &PacketFacts::of(1, 1_050), mark, |_, ()| {});
        assert!(stack.hops().is_empty());
        stack.tag
    }

    fn ack<'a>(acked_bytes: u64, sent_bytes: u64, int: &'a IntStack) -> Acked<'a> {
        Acked { bytes: 1000, acked_bytes, sent_bytes, int: Some(int), ..Acked::default() }
    }

    fn digest(power: u16) -> IntStack {
        let mut stack = IntStack::default();
        stack.tag = power;
        stack
    }

    /// T = 10 us: B T is 125,000 B.
    #[test]
    fn pint_6_a_port_smooths_its_own_utilisation() {
        let mut cp = pint("paper", &[]).congestion_point(&queue(100));
        for (us, sent, queued, utilisation) in [
            (1_000, 0, 0, 0.0),
            (1_005, 62_500, 0, 0.5),
            (1_010, 125_000, 125_000, 1.25),
            // Of 20 us the half counts.
            (1_030, 250_000, 0, 0.5),
        ] {
            leave(&mut cp, us, sent, queued, 0);
            let Cp::Exact(point) = &cp else { panic!("a port of the paper") };
            assert!((point.utilisation - utilisation).abs() < 1e-12, "at {us} us: {}", point.utilisation);
        }
    }

    #[test]
    fn pint_6_a_packet_keeps_the_largest_digest() {
        for preset in ["paper", "hpcc-ns3"] {
            let mut cp = pint(preset, &[("log_base", "1.05")]).congestion_point(&queue(100));
            leave(&mut cp, 1_000, 0, 0, 0);
            assert_eq!(leave(&mut cp, 1_005, 62_500, 0, 200), 200);
            let own = leave(&mut cp, 1_010, 125_000, 125_000, 3);
            assert!((100..150).contains(&own), "{preset}: {own}");
        }
    }

    #[test]
    fn pint_6_a_sender_takes_the_decoded_number_for_u() {
        let mut rp = pint("paper", &[]).reaction_point(&flow(100, 10));
        assert_eq!(rp.limits(), Limits { rate_bps: 100e9, window_bytes: 125_000 });
        // The first ACK only starts a round. 1.05^128 / 512 = 1.00685: W = 125,000 x 0.95 / 1.00685 + 80.
        for (acked, sent, power, window) in [
            (1_000, 100_000, 200, 125_000),
            (101_000, 180_000, 128, 118_023),
            // Within a round the reference stays; below eta it is the step alone.
            (102_000, 181_000, 120, 118_103),
            (103_000, 182_000, 128, 111_440),
        ] {
            rp.on_ack(&ack(acked, sent, &digest(power)));
            assert_eq!(rp.limits().window_bytes, window, "power {power}");
        }
    }

    #[test]
    fn pint_a_share_of_acks_counts() {
        let mut rp = pint("paper", &[("probability", "0.25")]).reaction_point(&flow(100, 10));
        let mut changes = 0;
        for round in 1..2_000 {
            let before = rp.limits();
            // Every ACK ends a round, and windows go up and down.
            let power = if round % 2 == 0 { 100 } else { 140 };
            rp.on_ack(&ack(round * 1_000, round * 1_000 + 1, &digest(power)));
            changes += u32::from(rp.limits() != before);
        }
        assert!((400..600).contains(&changes), "{changes} of 2,000");
    }

    #[test]
    fn pint_ns3_rates_to_the_bit() {
        let mut rp = pint("hpcc-ns3", &[]).reaction_point(&flow(100, 10));
        let mut rate = |acked, sent, power| {
            rp.on_ack(&ack(acked, sent, &digest(power)));
            (rp.limits().rate_bps as u64, rp.has_decided())
        };
        let line = 100_000_000_000;
        // 1.01^630 / 512 = 1.03085: 100G / (1.03085 / 0.95) + 40M.
        assert_eq!(rate(1_000, 100_000, 900), (line, false), "the first ACK");
        assert_eq!(rate(2_000, 101_000, 630), (92_196_947_913, true));
        assert_eq!(rate(101_000, 180_000, 630), (92_196_947_913, true), "from the same reference");
        assert_eq!(rate(102_000, 181_000, 630), (85_005_893_266, true));
        // At least 1 Gb/s.
        assert_eq!(rate(103_000, 182_000, 1_200), (1_000_000_000, true));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let error = |preset: &str, texts: &[(&str, &str)]| {
            HpccPint::validation_error(&crate::select(&format!("hpcc-pint:{preset}")).unwrap().with(texts))
        };
        assert_eq!([error("paper", &[]), error("hpcc-ns3", &[])], [None, None]);
        for (preset, texts, part) in [
            ("hpcc-ns3", ("step", "bytes"), "rate_ai"),
            ("hpcc-ns3", ("law", "window"), "two simulators"),
            ("paper", ("arithmetic", "approximate"), "two simulators"),
            ("paper", ("round_trip", "pair"), "one T"),
        ] {
            let said = error(preset, &[texts]).unwrap_or_default();
            assert!(said.contains(part), "{texts:?}: {said}");
        }
    }

    #[test]
    fn a_flow_stays_small() {
        assert!(size_of::<Rp>() <= 16 && size_of::<Cp>() <= 16, "{} and {}", size_of::<Rp>(), size_of::<Cp>());
    }
}
