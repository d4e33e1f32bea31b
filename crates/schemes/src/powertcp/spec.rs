//! Parameters and presets of PowerTCP and theta-PowerTCP, as people see them.

use crate::param::{ParamSpec, Preset, SchemeSpec, Unit, joined};
use crate::parts::int::PRECISION;
use crate::parts::round_trip::{BASE_RTT, ROUND_TRIP};

const CITATION: &str = "Addanki et al., PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI 2022";
const PAPER: &[(&str, &str)] = &[("variant", "paper")];
const COMPAT: &[(&str, &str)] = &[("variant", "compat")];

pub const POWERTCP: SchemeSpec = SchemeSpec::new(
    "powertcp",
    "in-band telemetry, a window from network power (current times voltage)",
    CITATION,
    &joined::<{ SHARED.len() + 2 }>(&[
        SHARED,
        &[
            ParamSpec::new(
                "eta",
                "eta",
                Unit::Number { min: 0.01, max: 1.0 },
                "1",
                &[],
                "power that the window aims at",
                "paper: 1; public implementation: 0.95",
            ),
            PRECISION,
        ],
    ]),
    &[
        Preset { name: "paper", source: "NSDI 2022", values: &[] },
        Preset {
            name: "compat",
            source: "public implementation",
            values: &[
                ("variant", "compat"),
                ("eta", "0.95"),
                ("step", "rate"),
                ("rate_ai", "150Mbps"),
                ("int_precision", "header"),
            ],
        },
    ],
);

pub const THETA: SchemeSpec = SchemeSpec::new(
    "theta-powertcp",
    "a window from network power, read from round-trip times alone",
    CITATION,
    &joined::<{ SHARED.len() + 2 }>(&[
        SHARED,
        &[
            ParamSpec::new(
                "measure",
                "",
                Unit::Choice(&["round", "ack"]),
                "round",
                PAPER,
                "take differences of round trips from round to round, or from ACK to ACK",
                "paper applies the update once per round trip; differences between ACKs are noisy",
            ),
            ParamSpec::new(
                "rtt_factor",
                "",
                Unit::Number { min: 1.0, max: 10.0 },
                "1.05",
                COMPAT,
                "base round trips at which power is 1",
                "public implementation",
            ),
        ],
    ]),
    &[
        Preset { name: "paper", source: "NSDI 2022", values: &[] },
        Preset {
            name: "compat",
            source: "public implementation",
            values: &[("variant", "compat"), ("gamma", "0.7"), ("step", "rate"), ("rate_ai", "150Mbps")],
        },
    ],
);

/// Of both forms.
const SHARED: &[ParamSpec] = &[
    ParamSpec::new(
        "variant",
        "",
        Unit::Choice(&["paper", "compat"]),
        "paper",
        &[],
        "the law of the paper, or of the public implementation",
        "paper; public implementation",
    ),
    ParamSpec::new(
        "gamma",
        "gamma",
        Unit::Number { min: 0.001, max: 1.0 },
        "0.9",
        &[],
        "weight of the new window against the present one",
        "paper, section 3.2",
    ),
    ParamSpec::new(
        "step",
        "",
        Unit::Choice(&["flows", "rate"]),
        "flows",
        &[],
        "additive step: from the number of flows expected, or from a rate",
        "paper, section 3.2; public implementation: a rate",
    ),
    ParamSpec::new(
        "flows",
        "N",
        Unit::Count { min: 1, max: 1_000_000 },
        "10",
        &[("step", "flows")],
        "flows expected at a port: beta is one BDP over it",
        "paper, section 3.2; the number is an assumption",
    ),
    ParamSpec::new(
        "rate_ai",
        "",
        Unit::Rate,
        "150Mbps",
        &[("step", "rate")],
        "additive step as a rate: beta = rate x tau / 8",
        "public implementation",
    ),
    ParamSpec::new(
        "rate_min",
        "R_min",
        Unit::Rate,
        "100Mbps",
        &[],
        "floor of the rate, and with it of the window",
        "public implementation",
    ),
    ParamSpec::new(
        "floor",
        "",
        Unit::Choice(&["current", "power"]),
        "current",
        &[],
        "what is kept from vanishing while a queue drains and nothing arrives",
        "public implementation: current; a floor of power is an assumption that lets windows swing",
    ),
    ParamSpec::new(
        "current_min",
        "",
        Unit::Number { min: 0.01, max: 1.0 },
        "0.5",
        &[("floor", "current")],
        "least normalised current",
        "public implementation",
    ),
    ParamSpec::new(
        "power_min",
        "epsilon",
        Unit::Number { min: 1e-6, max: 1.0 },
        "0.01",
        &[("floor", "power")],
        "least normalised power",
        "assumption: no division by zero",
    ),
    ROUND_TRIP,
    BASE_RTT,
];
