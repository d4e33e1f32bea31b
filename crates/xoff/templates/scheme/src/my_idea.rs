//! my-idea: switches mark above a threshold; a sender halves its rate at most once per round trip, else adds.
//!
//! A scheme is three state machines: a congestion point at every egress queue of a switch (`Cp`), a notification
//! point at every receiver, a reaction point at every sender (`Rp`). They receive events with their time, and return
//! what should be done; the simulator does it. Hooks that a scheme does not need keep their empty defaults. All hooks:
//! `cargo doc --open -p xoff-fabric`, module `scheme`.

use xoff::engine::{Span, Time};
use xoff::fabric::packet::Ecn;
use xoff::fabric::scheme::*;
use xoff::schemes::Configured;
use xoff::schemes::param::{ParamValues, SchemeSpec, params, presets};

// Key in a scenario, symbol, unit, default, source; the comment is what people read. Choices are written
// `mode: Mode { Fast = "fast", Slow = "slow" } = "fast"`, a row that matters only sometimes `... if Mode::Fast`.
params! {
    pub struct Params {
        /// queue above which packets are marked
        threshold "K": BytesByRate = "2KB/Gbps", from "an assumption";
        /// growth of the rate per round trip without a mark
        step "A": Rate = "line/500", from "an assumption";
    }
}

// What people may see of a sender's state: `[[probe]] what = "scheme"` samples it. Rates and windows are sampled anyway.
const HALVINGS: Variable =
    Variable { name: "halvings", unit: "1", meaning: "How often the sender has halved its rate." };

/// The scheme, configured.
pub struct MyIdea {
    params: Params,
}

impl Configured for MyIdea {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "my-idea",
        "marks above a threshold, one halving per round trip",
        "published nowhere yet",
        Params::TABLE,
        presets! {
            "calm" from "an assumption" {}
            "hasty" from "an assumption" { step = "line/50" }
        },
    )
    .publishing(&[HALVINGS]);

    fn configure(values: &ParamValues) -> MyIdea {
        MyIdea { params: Params::read(values) }
    }
}

impl Scheme for MyIdea {
    // What a notification would carry. ACKs echo marks without being asked, so there are none.
    type Feedback = ();
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;
    // It neither acts on packets between datacentres nor controls whole switches.
    type Transit = Absent;
    type Switch = Absent;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        Cp { threshold_bytes: self.params.threshold.at_queue(at) }
    }
    fn notification_point(&self, _: &FlowFacts) -> Silent {
        Silent::default()
    }
    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        Rp {
            line_bps: of.line_rate.bps() as f64,
            rate_bps: of.initial_rate.bps() as f64,
            step_bps: self.params.step.at(of.line_rate),
            round: of.base_rtt,
            next_change: of.start,
            halvings: 0,
        }
    }
}

/// Marks what leaves a queue longer than the threshold.
pub struct Cp {
    threshold_bytes: u64,
}

impl CongestionPoint for Cp {
    type Feedback = ();

    fn hooks(&self) -> Hooks {
        Hooks::DEQUEUE
    }
    fn on_dequeue(&mut self, view: &QueueView, _: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, ())) {
        if view.queue_bytes > self.threshold_bytes {
            mark.ecn.mark();
        }
    }
}

/// Halves its rate on a mark, adds without one.
pub struct Rp {
    line_bps: f64,
    rate_bps: f64,
    step_bps: f64,
    round: Span,
    /// The rate changes at most once per round trip.
    next_change: Time,
    halvings: u32,
}

impl ReactionPoint for Rp {
    type Feedback = ();

    fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps, window_bytes: u64::MAX }
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        if ack.now < self.next_change {
            return;
        }
        self.next_change = ack.now + self.round;
        self.halvings += u32::from(ack.ecn == Ecn::Ce);
        self.rate_bps = match ack.ecn {
            Ecn::Ce => (self.rate_bps / 2.0).max(self.line_bps / 10_000.0),
            _ => (self.rate_bps + self.step_bps).min(self.line_bps),
        };
    }
    // Asked by probes only, so it may take its time; what `_now` changes is worked out here.
    fn variables(&self, _now: Time, out: &mut dyn FnMut(&'static Variable, f64)) {
        out(&HALVINGS, f64::from(self.halvings));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff::engine::BitRate;

    #[test]
    fn halves_once_per_round_trip() {
        static SPEC: SchemeSpec = MyIdea::SPEC;
        let flow = FlowFacts::at(BitRate::from_gbps(100), Span::from_us(10));
        let mut rp = MyIdea::configure(&SPEC.values(None)).reaction_point(&flow);
        let mut ack = |us, ecn| {
            rp.on_ack(&Acked { now: Time::from_us(us), bytes: 1000, rtt: Span::from_us(10), ecn, ..Acked::default() });
            rp.limits().rate_bps / 1e9
        };
        assert_eq!(ack(10, Ecn::Ce), 50.0);
        assert_eq!(ack(15, Ecn::Ce), 50.0, "within the same round trip");
        assert_eq!(ack(20, Ecn::Ect0), 50.2);
        rp.variables(Time::from_us(20), &mut |of, value| assert_eq!((of.name, value), ("halvings", 1.0)));
    }
}
