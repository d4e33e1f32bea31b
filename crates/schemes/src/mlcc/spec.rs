//! What scenarios can set of MLCC. Section numbers are those of the specification, `mlcc.md`.

use crate::param::{FlowForm, PathSupport, Preset, SchemeSpec, params, presets};
use crate::parts::{hpcc_law, int};

pub(super) const SPEC: SchemeSpec = SchemeSpec::new(
    "mlcc",
    "short loops in each datacentre, shaped per-flow queues where the long link ends",
    "MLCC: micro loop congestion control, ICPP 2025",
    Params::TABLE,
    PRESETS,
)
.between_domains()
.with_paths(PathSupport::OnePath("its loops compare telemetry of one path"))
.at_flow_level(FlowForm::None("its gateways shape each flow between datacentres"));

const PRESETS: &[Preset] = presets! {
    "paper" from "ICPP 2025: theta 18 ms at a round trip of 6 ms" {}
    "short" from "assumption for the paper's long haul of 1 ms: theta stays three round trips" { theta = "6ms" }
};

params! {
    /// Symbols are the paper's: of credit and DQM, then of the law, its bounds, the gateways' queues and the windows.
    pub struct Params {
        /// queueing delay that a flow's queue at the far gateway settles at
        target_delay "D_t": Time = "1ms", from "paper";
        /// time in which the queueing delay is brought to its target; should exceed the long round trip
        theta "theta": Time = "18ms", from "paper: 18 ms; 6 ms jitters and 30 ms is slow (Fig. 9)";
        /// number of credit rates averaged for the predicted delay
        credit_mean "m": Count(1..=1000) = "5", from "paper";
        /// token gain: 0.5 leaves a rate alone that equals the credit rate
        alpha "alpha": Number(0.0..=1.0) = "0.5", from "paper";
        /// a token of exactly 1 widens the window, or (eq. 8 as printed) leaves it and is used up all the same
        token_rule: TokenRule { AtLeast = "at-least", Printed = "printed" } = "at-least",
            from "assumption: at-least, so that alpha = 0.5 is neutral (eqs 6 and 8 differ in print)";
        /// what the prediction takes as past rates: those written into ACKs, or those before smoothing
        history "R_DQM_k": History { Advertised = "advertised", Raw = "raw" } = "advertised",
            from "assumption: advertised, which is what the sender obeys";
        /// rate in place of those before the first: the credit rate, or the line rate at which flows start
        missing_history: MissingHistory { Credit = "credit", Line = "line" } = "line",
            from "eq. 2 asks for what will arrive within one RTT_C, and that was sent at line rate";
        /// a predicted queue below zero counts as zero
        floor_queue: Flag = "true", from "assumption (eq. 3 prints no floor)";
        /// the dynamic window counts the ACKs of one RTT_C, or all since the flow's first
        window_span "dw": WindowSpan { Rtt = "rtt", All = "all" } = "rtt",
            from "assumption: rtt, or the queue oscillates for ever instead of settling (eq. 8 names no span)";
        /// R_DQM (eq. 5) is kept from zero to line rate before eq. 7 uses it
        clamp_raw: Flag = "true", from "assumption: a rate lies between them (eq. 5 prints no bound)";
        /// where the advertised rate meets its bounds the dynamic window stops too, and does not wind up
        clamp_window: Flag = "true", from "assumption";
        /// round trip between far gateway and receiver: between two credit matches, or of the idle network
        rtt_d "RTT_D": RttD { Measured = "measured", Base = "base" } = "measured",
            from "assumption: measured, from the topology before the second match";
        /// the law at the receiver reads the telemetry of packets that end a round trip, or of every packet
        credit_telemetry: CreditTelemetry { Match = "match", Every = "every" } = "match",
            from "paper, Algorithm 1, lines 9 to 12";
        /// first credit value of a flow
        credit_start "C_R": Count(1..=65_535) = "1", from "assumption";
        /// law by which the short loops turn telemetry into rates
        law: RateLaw { Hpcc = "hpcc", PowerTcp = "powertcp" } = "hpcc",
            from "assumption: HPCC's, which the paper cites for its telemetry; it says that others can be plugged in";
        /// weight of the newest window
        gamma "gamma": Number(0.001..=1.0) = "0.9" if RateLaw::PowerTcp, from "PowerTCP, section 3.2";
        /// flows expected at a port: beta = line x T / (8 N)
        power_flows "N": Count(1..=1_000_000) = "10" if RateLaw::PowerTcp,
            from "PowerTCP, section 3.2; the number is an assumption";
        /// floor of every rate: near source, credit and advertised
        rate_min "R_min": Rate = "100Mbps", from "assumption";
        /// the long-haul port of the near gateway is a hop of the near-source loop
        near_gateway: Flag = "true", from "assumption: the gateway is part of the path in its datacentre";
        /// the near gateway reads and returns telemetry when it receives a packet, or when it sends it on
        near_read: NearRead { Arrival = "arrival", Departure = "departure" } = "arrival",
            from "paper, section 3.2.1";
        /// one Switch-INT packet per so many data packets of a flow
        switch_int_every "k": Count(1..=10_000) = "1", from "assumption: one per packet";
        /// rate of a new per-flow queue and first credit rate; `line` is the receiver's
        pfq_rate: Rate = "line", from "assumption: line rate, as HPCC starts";
        /// a per-flow queue empty and idle for so many RTT_C is freed, and starts anew
        pfq_idle: Number(0.0..=1e6) = "1", from "assumption";
        /// a per-flow queue that starts anew does so with credit, rate and history of its receiver, or alone
        pfq_restart: PfqRestart { Receiver = "receiver", Gateway = "gateway" } = "receiver",
            from "paper, section 3.2.2: a new queue has the initial rate; alone, until the next ACK";
        /// per-flow queues take turns at an egress queue longer than so many times port rate x RTT_D
        pfq_yield: Number(0.0..=1e6) = "1",
            from "assumption: below it the rate law sees the queue, beyond it round robin decides";
        /// the rate law counts a flow's own queue at the far gateway as queue of the first hop
        pfq_in_law: Flag = "false", from "assumption: not, or a flow would throttle its own drain";
        /// flows within a datacentre also keep to the rate law's window, or are paced alone
        window_intra: WindowIntra { Law = "law", None = "none" } = "law", from "assumption: HPCC end to end";
        /// flows between datacentres have no window, or one of their rate x RTT_C
        window_cross: WindowCross { None = "none", Bdp = "bdp" } = "none", from "assumption: none";
        ..hpcc: hpcc_law::Params if RateLaw::Hpcc;
        ..int: int::Params;
    }
}
