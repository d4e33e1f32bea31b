//! What scenarios can set of MLCC. Section numbers are those of the specification, `mlcc.md`.

use crate::param::{ParamSpec, Preset, SchemeSpec, Unit, joined};
use crate::parts::{hpcc_law, int};

pub(super) const SPEC: SchemeSpec = SchemeSpec::new(
    "mlcc",
    "short loops in each datacentre, shaped per-flow queues where the long link ends",
    "MLCC: micro loop congestion control, ICPP 2025",
    PARAMS,
    PRESETS,
)
.between_domains();

const PRESETS: &[Preset] = &[
    Preset { name: "paper", source: "ICPP 2025: theta 18 ms at a round trip of 6 ms", values: &[] },
    Preset {
        name: "short",
        source: "assumption for the paper's long haul of 1 ms: theta stays three round trips",
        values: &[("theta", "6ms")],
    },
];

const HPCC: &[(&str, &str)] = &[("law", "hpcc")];
const BYTES: &[(&str, &str)] = &[("law", "hpcc"), ("step", "bytes")];
const FLOWS: &[(&str, &str)] = &[("law", "hpcc"), ("step", "flows")];
const RATE: &[(&str, &str)] = &[("law", "hpcc"), ("step", "rate")];
const POWERTCP: &[(&str, &str)] = &[("law", "powertcp")];

const PARAMS: &[ParamSpec] = &joined::<{ LOOPS.len() + LAW.len() + GATEWAYS.len() }>(&[LOOPS, &LAW, GATEWAYS]);

const LAW: [ParamSpec; 6] = hpcc_law::params(HPCC, BYTES, FLOWS, RATE);

/// Credit and DQM, and which law.
const LOOPS: &[ParamSpec] = &[
    ParamSpec::new(
        "target_delay",
        "D_t",
        Unit::Time,
        "1ms",
        &[],
        "queueing delay that a flow's queue at the far gateway settles at",
        "paper",
    ),
    ParamSpec::new(
        "theta",
        "theta",
        Unit::Time,
        "18ms",
        &[],
        "time in which the queueing delay is brought to its target; should exceed the long round trip",
        "paper: 18 ms; 6 ms jitters and 30 ms is slow (Fig. 9)",
    ),
    ParamSpec::new(
        "credit_mean",
        "m",
        Unit::Count { min: 1, max: 1000 },
        "5",
        &[],
        "number of credit rates averaged for the predicted delay",
        "paper",
    ),
    ParamSpec::new(
        "alpha",
        "alpha",
        Unit::Number { min: 0.0, max: 1.0 },
        "0.5",
        &[],
        "token gain: 0.5 leaves a rate alone that equals the credit rate",
        "paper",
    ),
    ParamSpec::new(
        "token_rule",
        "",
        Unit::Choice(&["at-least", "printed"]),
        "at-least",
        &[],
        "a token of exactly 1 widens the window, or (eq. 8 as printed) narrows it and is used up all the same",
        "assumption: at-least, so that alpha = 0.5 is neutral (eqs 6 and 8 differ in print)",
    ),
    ParamSpec::new(
        "history",
        "R_DQM_k",
        Unit::Choice(&["advertised", "raw"]),
        "advertised",
        &[],
        "what the prediction takes as past rates: those written into ACKs, or those before smoothing",
        "assumption: advertised, which is what the sender obeys",
    ),
    ParamSpec::new(
        "missing_history",
        "",
        Unit::Choice(&["credit", "line"]),
        "credit",
        &[],
        "what stands in for rates before the first: the credit rate, or the line rate at which flows start",
        "assumption: credit; line gives the peak and settling times of equations 1 to 5 on their own",
    ),
    ParamSpec::new(
        "floor_queue",
        "",
        Unit::Flag,
        "true",
        &[],
        "a predicted queue below zero counts as zero",
        "assumption (eq. 3 prints no floor)",
    ),
    ParamSpec::new(
        "window_span",
        "dw",
        Unit::Choice(&["rtt", "all"]),
        "rtt",
        &[],
        "the dynamic window counts the ACKs of one RTT_C, or all since the flow's first",
        "assumption: rtt, or the queue oscillates for ever instead of settling (eq. 8 names no span)",
    ),
    ParamSpec::new(
        "clamp_window",
        "",
        Unit::Flag,
        "true",
        &[],
        "where the advertised rate meets its bounds the dynamic window stops too, and does not wind up",
        "assumption",
    ),
    ParamSpec::new(
        "rtt_d",
        "RTT_D",
        Unit::Choice(&["measured", "base"]),
        "measured",
        &[],
        "round trip between far gateway and receiver: between two credit matches, or of the idle network",
        "assumption: measured, from the topology before the second match",
    ),
    ParamSpec::new(
        "credit_start",
        "C_R",
        Unit::Count { min: 1, max: 65_535 },
        "1",
        &[],
        "first credit value of a flow",
        "assumption",
    ),
    ParamSpec::new(
        "law",
        "",
        Unit::Choice(&["hpcc", "powertcp"]),
        "hpcc",
        &[],
        "law by which the short loops turn telemetry into rates",
        "assumption: HPCC's, which the paper cites for its telemetry; it says that others can be plugged in",
    ),
];

/// The other law, bounds, the gateways' queues, windows.
const GATEWAYS: &[ParamSpec] = &[
    ParamSpec::new(
        "gamma",
        "gamma",
        Unit::Number { min: 0.001, max: 1.0 },
        "0.9",
        POWERTCP,
        "weight of the newest window",
        "PowerTCP, section 3.2",
    ),
    ParamSpec::new(
        "power_flows",
        "N",
        Unit::Count { min: 1, max: 1_000_000 },
        "10",
        POWERTCP,
        "flows expected at a port: beta = line x T / (8 N)",
        "PowerTCP, section 3.2; the number is an assumption",
    ),
    ParamSpec::new(
        "rate_min",
        "R_min",
        Unit::Rate,
        "100Mbps",
        &[],
        "floor of every rate: near source, credit and advertised",
        "assumption",
    ),
    ParamSpec::new(
        "near_gateway",
        "",
        Unit::Flag,
        "true",
        &[],
        "the long-haul port of the near gateway is a hop of the near-source loop",
        "assumption: the gateway is part of the path in its datacentre",
    ),
    ParamSpec::new(
        "switch_int_every",
        "k",
        Unit::Count { min: 1, max: 10_000 },
        "1",
        &[],
        "one Switch-INT packet per so many data packets of a flow",
        "assumption: one per packet",
    ),
    ParamSpec::new(
        "pfq_rate",
        "",
        Unit::Rate,
        "line",
        &[],
        "rate of a new per-flow queue and first credit rate; `line` is the receiver's",
        "assumption: line rate, as HPCC starts",
    ),
    ParamSpec::new(
        "pfq_idle",
        "",
        Unit::Number { min: 0.0, max: 1e6 },
        "1",
        &[],
        "a per-flow queue empty and idle for so many RTT_C is freed, and starts anew",
        "assumption",
    ),
    ParamSpec::new(
        "pfq_yield",
        "",
        Unit::Number { min: 0.0, max: 1e6 },
        "1",
        &[],
        "per-flow queues take turns at an egress queue longer than so many times port rate x RTT_D",
        "assumption: below it the rate law sees the queue, beyond it round robin decides",
    ),
    ParamSpec::new(
        "pfq_in_law",
        "",
        Unit::Flag,
        "false",
        &[],
        "the rate law counts a flow's own queue at the far gateway as queue of the first hop",
        "assumption: not, or a flow would throttle its own drain",
    ),
    ParamSpec::new(
        "window_intra",
        "",
        Unit::Choice(&["law", "none"]),
        "law",
        &[],
        "flows within a datacentre also keep to the rate law's window, or are paced alone",
        "assumption: HPCC end to end",
    ),
    ParamSpec::new(
        "window_cross",
        "",
        Unit::Choice(&["none", "bdp"]),
        "none",
        &[],
        "flows between datacentres have no window, or one of their rate x RTT_C",
        "assumption: none",
    ),
    int::PRECISION,
];
