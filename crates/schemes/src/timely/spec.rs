//! Parameters and presets of TIMELY and patched TIMELY, as people see them.

use crate::param::{Preset, SchemeSpec, params, presets};
use crate::parts::rounding;
use xoff_fabric::scheme::Variable;

pub const TIMELY: SchemeSpec = SchemeSpec::new(
    "timely",
    "rate from the gradient of round-trip times",
    "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015",
    Params::TABLE,
    PRESETS,
)
.publishing(&[RTT_GRADIENT, RTT]);

pub const PATCHED: SchemeSpec = SchemeSpec::new(
    "patched-timely",
    "TIMELY with absolute round-trip times in its band, which gives it a fixed point",
    "Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT 2016",
    patched::Params::TABLE,
    patched::PRESETS,
)
.publishing(&[RTT_GRADIENT, RTT]);

pub const RTT_GRADIENT: Variable = Variable {
    name: "rtt_gradient",
    unit: "1",
    meaning: "Smoothed difference of round trips over the shortest one: above 0 queues grow.",
};
pub const RTT: Variable = Variable {
    name: "rtt",
    unit: "us",
    meaning: "The last round trip that the law was given, its own serialisation left out.",
};

params! {
    /// TIMELY as published. Symbols are the paper's.
    pub struct Params {
        /// strength of a decrease
        beta "beta": Number(0.0..=1.0) = "0.8", from "paper, section 4.3";
        /// additive step after five increases in a row
        delta_hai "delta_HAI": Rate = "line/200", from "paper: five delta; the HPCC authors' simulator";
        /// which increases count towards the larger step: every one, or those by the gradient
        stages: Stages {
            /// The increase after the fifth in a row is the first larger one.
            Every = "every",
            /// The fifth in a row is the first larger one.
            Gradient = "gradient",
        } = "every" if snippet = "false",
            from "the HPCC authors' simulator, on which PCN, Mercury and MLCC build (assumption); paper: gradient";
        /// the law in the form of the authors' snippet: no step more than halves the rate, increases and cuts above
        /// t_high scale with the time since the last update, up to d_min, and falling round trips count towards the
        /// larger step
        snippet: Flag = "false", from "the authors' published snippet";
        /// bytes that the echo of the time stamp adds to an ACK; 0: it fits into the padding
        echo_bytes: Count(0..=1000) = "8",
            from "assumption: as much as the stamp; the HPCC authors' simulator pads ACKs of either kind to 60 bytes";
        /// the rate changes once per round trip, or once per segment acknowledged
        update: Update { RoundTrip = "rtt", Segment = "segment" } = "rtt",
            from "the HPCC authors' simulator: round trip; papers and PCN: segment";
        /// payload of a segment
        segment "Seg": Bytes = "64KB" if Update::Segment, from "PCN: 64 KB; paper: 16 to 64 KB";
        ..common: Common;
        ..rounding: rounding::Params;
    }
}

params! {
    /// What both forms have, with the same values.
    pub struct Common {
        /// weight of the newest difference of round trips
        gain "alpha": Number(0.0..=1.0) = "0.875",
            from "the HPCC authors' simulator; published models are unsure, eRPC has 0.02";
        /// round trips below it always raise the rate
        t_low "T_low": Time = "50us", from "paper, section 4.3";
        /// round trips above it always cut the rate
        t_high "T_high": Time = "500us", from "paper, section 4.3";
        /// differences of round trips are divided by a given time, or by the base round trip of the flow's path
        d_min_from "D_minRTT": DMinFrom { Fixed = "fixed", BaseRtt = "base-rtt" } = "fixed",
            from "the HPCC authors' simulator: fixed; the authors' snippet: the network's smallest round trip";
        /// what differences of round trips are divided by
        d_min "D_minRTT": Time = "20us" if DMinFrom::Fixed, from "the HPCC authors' simulator";
        /// additive step of the rate
        delta "delta": Rate = "line/1000",
            from "paper and the authors' snippet: 10 Mb/s at 10G; in proportion elsewhere, as in the HPCC authors' simulator";
        /// floor of the sending rate
        rate_min "R_min": Rate = "line/1000",
            from "assumption; the HPCC authors have 100 Mb/s in code and 1 Gb/s in scripts";
        /// packets evenly spaced, or segments at line rate with gaps between them
        pacing: Pacing { Packet = "packet", Burst = "burst" } = "packet" if Update::Segment,
            from "PCN: packet; paper: burst, less its own serialisation in samples";
        /// no window, or the BDP scaled by rate / line rate
        window: Window { None = "none", Variable = "variable" } = "none",
            from "the HPCC authors' simulator, option vwin";
    }
}

const PRESETS: &[Preset] = presets! {
    "reference" from "the HPCC authors' simulator, 10 to 100G; R_min is an assumption" {}
    "hpcc-ns3" from "the HPCC authors' simulator to the last bit, values of its run script" {
        rate_min = "1Gbps", echo_bytes = "0", rounding = "bps",
    }
    "paper" from "SIGCOMM 2015, its least segment; gain and D_min as in the HPCC authors' simulator" {
        stages = "gradient", update = "segment", segment = "16KB", pacing = "burst",
    }
    "pcn" from "PCN (NSDI 2020): segments of 64 KB, paced" { update = "segment" }
    "snippet" from "the authors' published snippet with the constants in it, paced by packet; segments as in PCN" {
        snippet = "true", gain = "0.02", t_low = "0us", t_high = "1ms", d_min_from = "base-rtt", update = "segment",
    }
};

/// The patched form's own.
pub mod patched {
    use super::Common;
    use crate::param::{Preset, params, presets};

    params! {
        /// TIMELY with the patch that gives it a fixed point. "Paper" is that of CoNEXT 2016.
        pub struct Params {
            /// strength of a decrease
            beta "beta": Number(0.0..=1.0) = "0.008", from "paper, section 4.3";
            /// the rate changes once per round trip, or once per segment acknowledged
            update: Update { RoundTrip = "rtt", Segment = "segment" } = "segment",
                from "the HPCC authors' simulator: round trip; papers and PCN: segment";
            /// payload of a segment
            segment "Seg": Bytes = "16KB" if Update::Segment, from "paper, section 4.3";
            ..common: Common;
        }
    }

    pub(super) const PRESETS: &[Preset] = presets! {
        "paper" from "CoNEXT 2016; paced packet by packet (assumption)" {}
    };
}
