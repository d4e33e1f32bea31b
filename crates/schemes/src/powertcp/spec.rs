//! Parameters and presets of PowerTCP and theta-PowerTCP, as people see them. Symbols are the paper's.

use crate::param::{PathSupport, SchemeSpec, params, presets};
use crate::parts::{int, round_trip};

const CITATION: &str = "Addanki et al., PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI 2022";

params! {
    /// The window law's, in both forms.
    pub struct LawParams {
        /// the law of the paper, or of the public implementation
        variant: Variant { Paper = "paper", Compat = "compat" } = "paper", from "paper; public implementation";
        /// real numbers and a window, or a rate in whole bits per second and times in whole nanoseconds
        arithmetic: Arithmetic { Real = "real", Whole = "whole" } = "real" if Variant::Compat,
            from "real: assumption, to compare laws and not roundings; whole: the public implementation to the last bit";
        /// weight of the new window against the present one
        gamma "gamma": Number(0.001..=1.0) = "0.9", from "paper, section 3.2";
        /// additive step: from the number of flows expected, or from a rate
        step: Step { Flows = "flows", Rate = "rate" } = "flows",
            from "paper, section 3.2; public implementation: a rate";
        /// flows expected at a port: beta is one BDP over it
        flows "N": Count(1..=1_000_000) = "10" if Step::Flows, from "paper, section 3.2; the number is an assumption";
        /// additive step as a rate: beta = rate x tau / 8
        rate_ai: Rate = "150Mbps" if Step::Rate, from "public implementation";
        /// floor of the rate, and with it of the window
        rate_min "R_min": Rate = "100Mbps", from "public implementation";
        /// what is kept from vanishing while a queue drains and nothing arrives
        floor: Floor { Current = "current", Power = "power" } = "current",
            from "public implementation: current; a floor of power is an assumption that lets windows swing";
        /// least normalised current
        current_min: Number(0.01..=1.0) = "0.5" if Floor::Current, from "public implementation";
        /// least normalised power
        power_min "epsilon": Number(1e-6..=1.0) = "0.01" if Floor::Power, from "assumption: no division by zero";
        ..round_trip: round_trip::Params;
    }
}

params! {
    /// Arithmetic with rates in whole bits per second.
    pub struct Whole {
        /// every ACK reacts, or only the one that ends a round
        fast_react: Flag = "true", from "public implementation, FAST_REACT";
        /// a window of what the rate sends in a base round trip; otherwise none of its own
        own_window: Flag = "true", from "public implementation, VAR_WIN";
    }
}

params! {
    /// With telemetry.
    pub struct Params {
        /// power that the window aims at
        eta "eta": Number(0.01..=1.0) = "1", from "paper: 1; public implementation: 0.95";
        /// the byte count of records: what the port has sent, or what has come to its queues
        int_bytes: IntBytes { Sent = "sent", Arrived = "arrived" } = "sent" if int_precision = "header",
            from "paper, section 3.3: sent; public implementation: arrived";
        /// within a round, hops without a queue are left out
        sample_feedback: Flag = "false" if variant = "compat" & arithmetic = "whole",
            from "public implementation, SAMPLE_FEEDBACK";
        ..law: LawParams;
        ..whole: Whole if variant = "compat" & arithmetic = "whole";
        ..int: int::HeaderParams;
    }
}

params! {
    /// With round-trip times alone.
    pub struct ThetaParams {
        /// take differences of round trips from round to round, or from ACK to ACK
        measure: Measure { Round = "round", Ack = "ack" } = "round" if Variant::Paper,
            from "paper applies the update once per round trip; differences between ACKs are noisy";
        /// base round trips at which power is 1
        rtt_factor: Number(1.0..=10.0) = "1.05" if Variant::Compat, from "public implementation";
        ..law: LawParams;
        ..whole: Whole if variant = "compat" & arithmetic = "whole";
    }
}

const WHOLE: PathSupport = PathSupport::OnePathWith {
    param: "arithmetic",
    value: "whole",
    why: "with arithmetic = \"whole\" it is as in its authors' simulator, where a flow has one path",
};

pub const POWERTCP: SchemeSpec = SchemeSpec::new(
    "powertcp",
    "in-band telemetry, a window from network power (current times voltage)",
    CITATION,
    Params::TABLE,
    presets! {
        "paper" from "NSDI 2022" {}
        "compat" from "public implementation" {
            variant = "compat", eta = "0.95", step = "rate", rate_ai = "150Mbps", int_precision = "header",
        }
        "inet-ns3" from "the authors' simulator to the last bit, telemetry's units of its runs at 100G" {
            variant = "compat", arithmetic = "whole", eta = "0.95", step = "rate", rate_ai = "150Mbps",
            int_precision = "header", int_multiplier = "4", int_bytes = "arrived",
        }
    },
)
.with_paths(WHOLE);

pub const THETA: SchemeSpec = SchemeSpec::new(
    "theta-powertcp",
    "a window from network power, read from round-trip times alone",
    CITATION,
    ThetaParams::TABLE,
    presets! {
        "paper" from "NSDI 2022" {}
        "compat" from "public implementation" { variant = "compat", gamma = "0.7", step = "rate", rate_ai = "150Mbps" }
        "inet-ns3" from "the authors' simulator to the last bit" {
            variant = "compat", arithmetic = "whole", gamma = "0.7", step = "rate", rate_ai = "150Mbps",
        }
    },
)
.with_paths(WHOLE);
