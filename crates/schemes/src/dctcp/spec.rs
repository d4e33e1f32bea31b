//! DCTCP's parameters and presets, as people see them.

use crate::param::{ParamSpec, Preset, SchemeSpec, Unit, joined};
use crate::parts::{newreno, rounding};

const TCP: &[(&str, &str)] = &[("form", "tcp")];
const RATE: &[(&str, &str)] = &[("form", "rate")];
const STEP: &[(&str, &str)] = &[("marking", "step")];
const RED: &[(&str, &str)] = &[("marking", "red")];
const FIXED_STEP: &[(&str, &str)] = &[("form", "rate"), ("increase", "fixed")];
const FIXED_WINDOW: &[(&str, &str)] = &[("form", "tcp"), ("initial_window_rule", "fixed")];
const DELAYED: &[(&str, &str)] = &[("form", "tcp"), ("delayed_ack", "true")];

pub const SPEC: SchemeSpec = SchemeSpec::new(
    "dctcp",
    "step marking, cuts by the fraction of marked bytes; over TCP, or as a rate over RoCE",
    "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010; Bensley et al., RFC 8257",
    PARAMS,
    PRESETS,
)
.drawing_lots();

const PARAMS: &[ParamSpec] = &joined::<{ OWN.len() + NEWRENO.len() + RATE_FORM.len() }>(&[OWN, &NEWRENO, RATE_FORM]);

const NEWRENO: [ParamSpec; 16] = newreno::params(TCP, FIXED_WINDOW, DELAYED, ("10ms", "paper, section 4"));

const OWN: &[ParamSpec] = &[
    ParamSpec::new(
        "form",
        "",
        Unit::Choice(&["tcp", "rate"]),
        "tcp",
        &[],
        "a window over TCP, or a rate over RoCE",
        "paper; HPCC's simulator has the rate",
    ),
    ParamSpec::new(
        "marking",
        "",
        Unit::Choice(&["step", "red"]),
        "step",
        &[],
        "every packet above one threshold, or by chance between two",
        "paper, section 3.1; HPCC's simulator marks all schemes with RED, DCTCP's thresholds being equal",
    ),
    ParamSpec::new(
        "k",
        "K",
        Unit::BytesByRate,
        "30KB@1Gbps, 97500B@10Gbps",
        STEP,
        "queue above which every packet is marked",
        "paper, section 3.5: 20 packets of 1.5 KB at 1G, 65 at 10G; in proportion elsewhere",
    ),
    ParamSpec::new(
        "kmin",
        "Kmin",
        Unit::BytesByRate,
        "3KB/Gbps",
        RED,
        "queue above which packets may be marked",
        "HPCC's simulator",
    ),
    ParamSpec::new(
        "kmax",
        "Kmax",
        Unit::BytesByRate,
        "3KB/Gbps",
        RED,
        "queue above which every packet is marked",
        "HPCC's simulator",
    ),
    ParamSpec::new(
        "pmax",
        "Pmax",
        Unit::NumberByRate { min: 0.0, max: 1.0 },
        "1",
        RED,
        "marking probability at kmax",
        "HPCC's simulator",
    ),
    ParamSpec::new(
        "mark_at",
        "",
        Unit::Choice(&["enqueue", "dequeue", "never"]),
        "enqueue",
        &[],
        "which queue length decides; never: switches do not mark",
        "paper, section 3.1: upon arrival; HPCC's simulator marks at dequeue",
    ),
    ParamSpec::new("g", "g", Unit::Number { min: 0.0, max: 1.0 }, "1/16", &[], "gain of alpha", "paper, section 3.4"),
    ParamSpec::new(
        "alpha_initial",
        "alpha_0",
        Unit::Number { min: 0.0, max: 1.0 },
        "1",
        &[],
        "alpha before the first window of data",
        "RFC 8257, section 3.3; some implementations start at 0",
    ),
    ParamSpec::new(
        "window_min",
        "",
        Unit::Count { min: 1, max: 100 },
        "2",
        TCP,
        "segments below which a mark does not cut",
        "assumption: 2, as after a loss; RFC 8257 has 1",
    ),
];

const RATE_FORM: &[ParamSpec] = &[
    ParamSpec::new(
        "increase",
        "R_AI",
        Unit::Choice(&["mtu-per-rtt", "fixed"]),
        "mtu-per-rtt",
        RATE,
        "one packet per longest base round trip, or `rate_ai`",
        "HPCC's simulator: 1000 bytes per 13 us",
    ),
    ParamSpec::new(
        "rate_ai",
        "R_AI",
        Unit::Rate,
        "615Mbps",
        FIXED_STEP,
        "additive increase of the rate, once per window without a mark",
        "HPCC's simulator: 1000 bytes per 13 us",
    ),
    ParamSpec::new("rate_min", "R_min", Unit::Rate, "100Mbps", RATE, "floor of the sending rate", "HPCC's simulator"),
    ParamSpec::new(
        "window",
        "",
        Unit::Choice(&["variable", "none"]),
        "variable",
        RATE,
        "the BDP scaled by rate / line rate, or none",
        "HPCC's simulator, whose hosts cap what is in flight for every scheme",
    ),
    rounding::param(RATE),
];

const PRESETS: &[Preset] = &[
    Preset { name: "paper", source: "SIGCOMM 2010, 1G and 10G", values: &[] },
    Preset {
        name: "rfc8257",
        source: "RFC 8257: floor of one segment, delayed ACKs with the exact echo",
        values: &[("window_min", "1"), ("delayed_ack", "true"), ("initial_window", "10")],
    },
    Preset {
        name: "rate",
        source: "HPCC authors' simulator: rate form over RoCE, 3 KB of threshold per Gb/s",
        values: &[("form", "rate"), ("k", "3KB/Gbps"), ("mark_at", "dequeue")],
    },
    Preset {
        name: "hpcc-ns3",
        source: "HPCC authors' simulator to the last bit, values of its run script",
        values: &[
            ("form", "rate"),
            ("marking", "red"),
            ("mark_at", "dequeue"),
            ("increase", "fixed"),
            ("rate_min", "1Gbps"),
            ("window", "none"),
            ("rounding", "bps"),
        ],
    },
];
