//! Parameters and presets of TIMELY and patched TIMELY, as people see them.

use crate::param::{ParamSpec, Preset, SchemeSpec, Unit};
use crate::parts::rounding;

const SEGMENT_MODE: &[(&str, &str)] = &[("update", "segment")];

pub const TIMELY: SchemeSpec = SchemeSpec::new(
    "timely",
    "rate from the gradient of round-trip times",
    "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015",
    &[
        GAIN,
        ParamSpec::new(
            "beta",
            "beta",
            Unit::Number { min: 0.0, max: 1.0 },
            "0.8",
            &[],
            "strength of a decrease",
            "paper, section 4.3",
        ),
        T_LOW,
        T_HIGH,
        D_MIN,
        DELTA,
        ParamSpec::new(
            "delta_hai",
            "delta_HAI",
            Unit::Rate,
            "line/200",
            &[],
            "additive step after five increases in a row",
            "paper: five delta; the HPCC authors' simulator",
        ),
        RATE_MIN,
        ParamSpec::new(
            "stages",
            "",
            Unit::Choice(&["every", "gradient"]),
            "every",
            &[("snippet", "false")],
            "which increases count towards the larger step: every one, or those by the gradient",
            "the HPCC authors' simulator, on which PCN, Mercury and MLCC build (assumption); paper: gradient",
        ),
        ParamSpec::new(
            "snippet",
            "",
            Unit::Flag,
            "false",
            &[],
            "the law in the form of the authors' snippet: no step more than halves the rate, increases and cuts above t_high scale with the time since the last update, up to d_min, and falling round trips count towards the larger step",
            "the authors' published snippet",
        ),
        ParamSpec::new(
            "echo_bytes",
            "",
            Unit::Count { min: 0, max: 1000 },
            "8",
            &[],
            "bytes that the echo of the time stamp adds to an ACK; 0: it fits into the padding",
            "assumption: as much as the stamp; the HPCC authors' simulator pads ACKs of either kind to 60 bytes",
        ),
        rounding::param(&[]),
        update("rtt"),
        segment("64KB", "PCN: 64 KB; paper: 16 to 64 KB"),
        PACING,
        WINDOW,
    ],
    &[
        Preset {
            name: "reference",
            source: "the HPCC authors' simulator, 10 to 100G; R_min is an assumption",
            values: &[],
        },
        Preset {
            name: "hpcc-ns3",
            source: "the HPCC authors' simulator to the last bit, values of its run script",
            values: &[("rate_min", "1Gbps"), ("echo_bytes", "0"), ("rounding", "bps")],
        },
        Preset {
            name: "paper",
            source: "SIGCOMM 2015, its least segment; gain and D_min as in the HPCC authors' simulator",
            values: &[("stages", "gradient"), ("update", "segment"), ("segment", "16KB"), ("pacing", "burst")],
        },
        Preset { name: "pcn", source: "PCN (NSDI 2020): segments of 64 KB, paced", values: &[("update", "segment")] },
    ],
);

pub const PATCHED: SchemeSpec = SchemeSpec::new(
    "patched-timely",
    "TIMELY with absolute round-trip times in its band, which gives it a fixed point",
    "Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT 2016",
    &[
        GAIN,
        ParamSpec::new(
            "beta",
            "beta",
            Unit::Number { min: 0.0, max: 1.0 },
            "0.008",
            &[],
            "strength of a decrease",
            "paper, section 4.3",
        ),
        T_LOW,
        T_HIGH,
        D_MIN,
        DELTA,
        RATE_MIN,
        update("segment"),
        segment("16KB", "paper, section 4.3"),
        PACING,
        WINDOW,
    ],
    &[Preset { name: "paper", source: "CoNEXT 2016; paced packet by packet (assumption)", values: &[] }],
);

const GAIN: ParamSpec = ParamSpec::new(
    "gain",
    "alpha",
    Unit::Number { min: 0.0, max: 1.0 },
    "0.875",
    &[],
    "weight of the newest difference of round trips",
    "the HPCC authors' simulator; published models are unsure, eRPC has 0.02",
);

const T_LOW: ParamSpec = ParamSpec::new(
    "t_low",
    "T_low",
    Unit::Time,
    "50us",
    &[],
    "round trips below it always raise the rate",
    "paper, section 4.3",
);

const T_HIGH: ParamSpec = ParamSpec::new(
    "t_high",
    "T_high",
    Unit::Time,
    "500us",
    &[],
    "round trips above it always cut the rate",
    "paper, section 4.3",
);

const D_MIN: ParamSpec = ParamSpec::new(
    "d_min",
    "D_minRTT",
    Unit::Time,
    "20us",
    &[],
    "what differences of round trips are divided by",
    "the HPCC authors' simulator",
);

const DELTA: ParamSpec = ParamSpec::new(
    "delta",
    "delta",
    Unit::Rate,
    "line/1000",
    &[],
    "additive step of the rate",
    "paper: 10 Mb/s at 10G; in proportion elsewhere, as in the HPCC authors' simulator",
);

const RATE_MIN: ParamSpec = ParamSpec::new(
    "rate_min",
    "R_min",
    Unit::Rate,
    "line/1000",
    &[],
    "floor of the sending rate",
    "assumption; the HPCC authors have 100 Mb/s in code and 1 Gb/s in scripts",
);

const fn update(default: &'static str) -> ParamSpec {
    ParamSpec::new(
        "update",
        "",
        Unit::Choice(&["rtt", "segment"]),
        default,
        &[],
        "the rate changes once per round trip, or once per segment acknowledged",
        "the HPCC authors' simulator: round trip; papers and PCN: segment",
    )
}

const fn segment(default: &'static str, source: &'static str) -> ParamSpec {
    ParamSpec::new("segment", "Seg", Unit::Bytes, default, SEGMENT_MODE, "payload of a segment", source)
}

const PACING: ParamSpec = ParamSpec::new(
    "pacing",
    "",
    Unit::Choice(&["packet", "burst"]),
    "packet",
    SEGMENT_MODE,
    "packets evenly spaced, or segments at line rate with gaps between them",
    "PCN: packet; paper: burst, less its own serialisation in samples",
);

const WINDOW: ParamSpec = ParamSpec::new(
    "window",
    "",
    Unit::Choice(&["none", "variable"]),
    "none",
    &[],
    "no window, or the BDP scaled by rate / line rate",
    "the HPCC authors' simulator, option vwin",
);
