//! DCQCN's parameters and presets, as people see them.

use crate::param::{ParamValues, Preset, SchemeSpec, Tuned, params, presets};
use crate::parts::red::Red;
use crate::parts::rounding;
use std::sync::Arc;
use xoff_fabric::scheme::{QueueFacts, Variable};

pub const SPEC: SchemeSpec = SchemeSpec::new(
    "dcqcn",
    "ECN marks, CNPs, rate cuts by alpha, fast recovery and increase",
    "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
    Params::TABLE,
    PRESETS,
)
.hearing_notices()
.drawing_lots()
.publishing(&[ALPHA, TARGET_RATE])
.tuned_for(&[Tuned { preset: "paper", gbps: 40, params: &["kmin", "kmax"] }]);

pub const ALPHA: Variable =
    Variable { name: "alpha", unit: "1", meaning: "Estimate of congestion, 0 to 1: the next cut takes half of it." };
pub const TARGET_RATE: Variable = Variable {
    name: "target_rate",
    unit: "Gbps",
    meaning: "Rate that a flow recovers to, RT of the paper: the one it had before the last cut, raised since.",
};

params! {
    /// Symbols are the paper's; those without one name the points where public implementations disagree.
    pub struct Params {
        /// family of the reaction point
        variant: Variant { Paper = "paper", Nic = "nic" } = "paper",
            from "paper; NIC behaviour as coded by HPCC's authors";
        /// queue above which packets may be marked
        kmin "Kmin": BytesByRate = "min(4KB/Gbps, xoff/2)",
            from "HPCC (SIGCOMM 2019), section 5.1: 100 KB at 25G, in proportion; \
                  paper: 5 KB at 40G, and before PFC acts (the half is an assumption)";
        /// queue above which every packet is marked
        kmax "Kmax": BytesByRate = "min(16KB/Gbps, xoff*2)",
            from "HPCC (SIGCOMM 2019), section 5.1: 400 KB at 25G, in proportion; \
                  paper: 200 KB at 40G; bounded as kmin, four times as high";
        /// marking probability at kmax
        pmax "Pmax": NumberByRate(0.0..=1.0) = "0.2",
            from "the HPCC authors' simulator, for these thresholds; paper: 0.01";
        /// which queue length decides; never: switches do not mark
        mark_at: MarkAt { Dequeue = "dequeue", Enqueue = "enqueue", Never = "never" } = "dequeue",
            from "both public ns-3 simulators mark at dequeue";
        /// marks return as CNPs, or as a flag in every ACK
        notify: Notify { Cnp = "cnp", Ack = "ack" } = "cnp", from "paper; HPCC's simulator uses ACKs";
        /// answer the first mark at once, or poll every interval
        np: CnpTiming { Immediate = "immediate", Periodic = "periodic" } = "immediate" if Notify::Cnp,
            from "paper, section 3.1; the original simulator polls";
        /// when a flow's polls begin: with its first mark, or with its first packet, whose own mark is answered at
        /// once or not at all
        poll_from: PollFrom {
            FirstMark = "first-mark",
            FirstPacket = "first-packet",
            AfterFirstPacket = "after-first-packet",
        } = "first-mark" if Notify::Cnp & CnpTiming::Periodic,
            from "assumption: the first mark; the TCD authors' simulator polls from the first packet, and what that \
                  one was marked with is lost in a field that is never set";
        /// least time between two CNPs of a flow
        cnp_interval "N": Time = "50us" if Notify::Cnp, from "paper, section 3.1";
        /// gain of alpha
        g "g": Number(0.0..=1.0) = "1/256", from "paper, section 4";
        /// alpha before the first CNP
        alpha_initial "alpha_0": Number(0.0..=1.0) = "1", from "paper; the original simulator starts at 0.5";
        /// alpha decays once per period without CNP
        alpha_period "K": Time = "55us", from "paper, section 3.1";
        /// cuts happen at these checks only
        decrease_period: Time = "4us" if Variant::Nic, from "NIC default, HPCC's simulator";
        /// time between two timed increases
        increase_timer "T": Time = "55us", from "paper, section 4";
        /// bytes between two counted increases; 0B turns it off
        byte_counter "B": Bytes = "10MB", from "paper, section 4";
        /// recovery steps before the target grows
        fast_recovery "F": Count(1..=100) = "5", from "paper, section 3.1";
        /// additive increase of the target
        rate_ai "R_AI": Rate = "line/1000",
            from "paper: 40 Mb/s at 40G; in proportion elsewhere (assumption: constant relative step)";
        /// hyper increase of the target
        rate_hai "R_HAI": Rate = "line/100", from "assumption: ten additive steps, the ratio of NIC defaults";
        /// floor of the sending rate
        rate_min "R_min": Rate = "10Mbps", from "assumption: the paper gives none";
        /// cut with the old alpha, or update it before
        cut_order: CutOrder { CutFirst = "cut-first", AlphaFirst = "alpha-first" } = "cut-first" if Variant::Paper,
            from "paper, equation 1; the original simulator updates first";
        /// choose the kind of increase before or after counting it
        stage_order: StageOrder {
            ClassifyFirst = "classify-first",
            IncrementFirst = "increment-first",
        } = "classify-first" if Variant::Paper,
            from "assumption: gives F full recovery steps; the original simulator counts first";
        /// whether a cut always lowers the target to the rate
        target_clamp: TargetClamp { Always = "always", AfterIncrease = "after-increase" } = "always",
            from "paper; simulators keep the target on back-to-back cuts";
        // A target lowered by every cut is never ten times the rate.
        /// an eighth of the target if it exceeds ten rates at the first increase
        target_decay: Flag = "false" if Variant::Paper & TargetClamp::AfterIncrease,
            from "original simulator, after QCN's pseudo-code";
        /// halve timer and byte counter in hyper increase
        hyper_halves: Flag = "false" if Variant::Paper, from "original simulator";
        /// which event begins hyper increase, once both stages allow it: either, or only a timed one, the cycles then
        /// being halved from the event after it
        hyper_begins: HyperBegins { Either = "either", Timed = "timed" } = "either" if Variant::Paper,
            from "paper; in the original simulator counted events of additive increase stay additive";
        /// which comes first when a decrease check and a timed increase fall on the same instant
        timer_order: TimerOrder {
            DecreaseFirst = "decrease-first",
            LongerFirst = "longer-first",
        } = "decrease-first" if Variant::Nic,
            from "assumption: decrease; \
                  in HPCC's simulator the one with the longer period, which was scheduled earlier";
        /// what alpha's clock and the decrease check did is worked out when needed, or each tick is an event of
        /// its own
        clocks: Clocks { WorkedOut = "worked-out", Running = "running" } = "worked-out" if Variant::Nic,
            from "HPCC's simulator: running; it matters only to what falls on the same instant";
        /// no window, or the BDP scaled by rate / line rate
        window: Window { None = "none", Variable = "variable" } = "none", from "HPCC's simulator, option vwin";
        ..rounding: rounding::Params if Variant::Nic;
    }
}

impl Params {
    /// The marking of a queue.
    pub fn red(&self, at: &QueueFacts) -> Red {
        Red::new(self.kmin.at_queue(at), self.kmax.at_queue(at), self.pmax.at(at.rate), at)
    }

    /// Those of the DCQCN beneath an overlay with a default base. None of a base that is another scheme.
    pub fn beneath(overlay: &ParamValues) -> Option<Arc<Params>> {
        let base = overlay.base().expect("an overlay with a default base has one");
        (base.spec().name == "dcqcn").then(|| Arc::new(Params::read(base)))
    }
}

const PRESETS: &[Preset] = presets! {
    "scaled" from "end points of SIGCOMM 2015; marking by each port's rate, after HPCC (SIGCOMM 2019), section 5.1" {}
    "paper" from "SIGCOMM 2015, 40G" { kmin = "5KB", kmax = "200KB", pmax = "0.01" }
    "paper-sim" from "burst configuration of the TCD authors' simulator, a descendant of the original" {
        kmin = "5KB", kmax = "200KB", pmax = "0.01", alpha_initial = "0.5",
        rate_ai = "40Mbps", rate_hai = "200Mbps", rate_min = "100Mbps", np = "periodic",
        cut_order = "alpha-first", stage_order = "increment-first", target_decay = "true", hyper_halves = "true",
    }
    "open-sim" from "the DCQCN authors' open simulator: its rules, and the configuration that comes with it" {
        kmin = "41200B", kmax = "1030KB", pmax = "1", alpha_initial = "0.5", increase_timer = "60us",
        byte_counter = "300KB", rate_ai = "40Mbps", rate_hai = "200Mbps", rate_min = "100Mbps", np = "periodic",
        cut_order = "alpha-first", stage_order = "increment-first", hyper_halves = "true", hyper_begins = "timed",
    }
    "nic" from "HPCC authors' tuning: NIC reaction point, thresholds in proportion to the port" {
        variant = "nic", notify = "ack", kmin = "4KB/Gbps", kmax = "16KB/Gbps", pmax = "0.2",
        alpha_period = "1us", decrease_period = "4us", increase_timer = "300us", byte_counter = "0B",
        fast_recovery = "1", rate_ai = "line/5000", rate_hai = "line/500", rate_min = "100Mbps",
        target_clamp = "after-increase",
    }
    "nic-slow" from "HPCC authors' variant with the paper's timers" {
        variant = "nic", notify = "ack", kmin = "4KB/Gbps", kmax = "16KB/Gbps", pmax = "0.2",
        alpha_period = "50us", decrease_period = "50us", increase_timer = "55us", byte_counter = "0B",
        fast_recovery = "1", rate_ai = "line/5000", rate_hai = "line/500", rate_min = "100Mbps",
        target_clamp = "after-increase",
    }
    "hpcc-ns3" from "HPCC authors' simulator to the last bit, values of its run script" {
        variant = "nic", notify = "ack", kmin = "4KB/Gbps", kmax = "16KB/Gbps", pmax = "0.2",
        alpha_period = "1us", decrease_period = "4us", increase_timer = "300us", byte_counter = "0B",
        fast_recovery = "1", rate_ai = "line/5000", rate_hai = "line/500", rate_min = "1Gbps",
        target_clamp = "after-increase", timer_order = "longer-first", rounding = "bps", clocks = "running",
    }
    "vendor-100g" from "defaults of a 100G adapter (product documentation)" {
        variant = "nic", notify = "cnp", cnp_interval = "4us", kmin = "4KB/Gbps", kmax = "16KB/Gbps", pmax = "0.2",
        g = "5/1024", alpha_initial = "1023/1024", alpha_period = "1us", decrease_period = "4us",
        increase_timer = "300us", byte_counter = "2097088B", fast_recovery = "1",
        rate_ai = "5Mbps", rate_hai = "50Mbps", rate_min = "1Mbps", target_clamp = "after-increase",
    }
};
