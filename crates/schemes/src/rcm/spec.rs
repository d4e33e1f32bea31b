//! RCM's parameters and presets, as people see them.

use crate::param::{Base, FlowForm, PathSupport, Preset, SchemeSpec, params, presets};

pub const SPEC: SchemeSpec = SchemeSpec::new(
    "rcm",
    "switches hold harmful flows back hop by hop and detour the others",
    "Liu et al., Regional Congestion Mitigation in Lossless Datacenter Networks, NPC 2017",
    Params::TABLE,
    PRESETS,
)
.with_base(Base::Default("dcqcn:vendor-100g"))
.with_paths(PathSupport::Ecmp("it chooses next hops itself"))
.at_flow_level(FlowForm::None("its switches queue at inputs and hold flows back packet by packet"));

params! {
    /// Symbols are the paper's.
    pub struct Params {
        /// queue length at equilibrium
        q_eq "Q_eq": Bytes = "22KB", from "assumption: QCN's 22 % of the 100 KB buffer";
        /// weight of the queue's growth in F_b
        w_q "w_q": Number(0.0..=64.0) = "2", from "assumption: QCN's";
        /// weight of the received degree in the regional one
        w "w": Number(0.0..=1.0) = "0.5", from "assumption: local and remote weigh the same";
        /// bytes per sample of a queue at degree 0
        sample_max: Bytes = "50KB", from "assumption: half a queue; QCN's 150 KB is more than a whole one";
        /// bytes per sample of a queue at the largest degree
        sample_min: Bytes = "5KB", from "assumption: a tenth, as in QCN";
        /// a notification, or a sample of a queue where nothing arrives, is valid for this long
        t_cn "T_cn": TimeByRate = "20us@100Gbps",
            from "assumption: above sampling interval and link round trip at 100 Gb/s";
        /// least time between two notifications sent out of a port
        cn_spacing: TimeByRate = "2us@100Gbps", from "assumption";
        /// part of W_c cut per degree
        g_d "G_d": Number(0.0..=0.015873015873015872) = "1/126", from "paper, eq 4: F_bmax G_d = 1/2, F_bmax = 63";
        /// what is sampled at an input: all that waits there, or each virtual output queue by itself
        input_queues: InputQueues { Port = "port", Voq = "voq" } = "port",
            from "assumption: `port`, which is what PFC watches; the paper says input queue, and gives an input many";
        /// a congested input is sampled after its bytes alone, or at the latest half of t_cn after the last sample
        cn_renewal: Renewal { Bytes = "bytes", Time = "time" } = "time",
            from "paper, section 3.4: control ends when congestion does, so notifications last while it does";
        /// which sampled flows are harmful: those with at least the mean number of hits, or all
        cfr_rule: Rule {
            /// Those with at least the mean number of hits.
            AboveMean = "above-mean",
            /// Every one in the ring.
            Present = "present",
        } = "above-mean",
            from "`present` is the paper's text, `above-mean` an assumption that its figures 6 and 7 need";
        /// entries of the ring of sampled flows
        cam_depth "D": Count(1..=64) = "16", from "assumption";
        /// one packet of so many is sampled
        cam_every: Count(1..=1000000) = "8", from "assumption";
        /// each packet with probability 1/cam_every, or every cam_every-th
        cam_sampling: Sampling { Random = "random", Periodic = "periodic" } = "random",
            from "assumption; a fixed period locks onto round-robin's";
        /// an entry of the ring is valid for this long
        cam_expiry: TimeByRate = "100us@100Gbps", from "assumption";
        /// W is measured once, from when congestion is detected, or again whenever a flow enters the list
        window_measure: WindowMeasure { Once = "once", Again = "again" } = "once",
            from "paper, section 3.4; `again` keeps flows that were listed late from sharing what is left of earlier cuts";
        /// W_c is cut at every sample and notification, or at most once in a period of W
        cuts: Cuts { Each = "each", PerWindow = "per-window" } = "each", from "paper, section 3.4 and eq 5";
        /// where both wait within a period: others until they have sent W_nc, or whose packet is older
        order: Order { OthersFirst = "others-first", Age = "age" } = "others-first",
            from "paper, section 1: the priority of non-congested flows is increased; not beyond W_nc, or W_c would be none";
        /// the shortest window W
        window_min: Bytes = "16KB", from "assumption";
        /// a measurement of W ends here, even if a harmful flow has not sent
        window_max: Bytes = "100KB", from "assumption: one queue";
        /// size of an output queue; what finds it full waits at its input
        queue_size: Bytes = "100KB", from "paper, section 4.1";
        /// detour flows that are not harmful (SAR)
        sar: Flag = "true", from "paper, section 3.4";
        /// what receivers do with packets that a detour put out of order: keep them, or ask for them again
        reorder: Reorder { Accept = "accept", GoBackN = "go-back-n" } = "accept" if sar,
            from "assumption: the paper leaves reordering to later work";
        /// notifications within sar_span that start detours from a port
        sar_cns: Count(1..=8) = "3" if sar, from "assumption: the paper says several";
        /// least degree of a notification that counts towards sar_cns
        sar_strong: Count(0..=63) = "0" if sar,
            from "assumption: all count; the paper says severe in section 3.4 and not in 3.1, and has no number";
        /// time in which sar_cns notifications must come
        sar_span: TimeByRate = "50us@100Gbps" if sar, from "assumption";
        /// an output queue above this part of queue_size starts detours too
        sar_fill: Number(0.0..=1.0) = "0.8" if sar, from "assumption";
        /// which ports flows may move to: any, also within a region, or only those outside every region
        sar_ports: SarPorts { Any = "any", Outside = "outside" } = "any" if sar,
            from "paper, section 3.4: the available one with the least regional degree";
        /// by how much the degree of another port must be lower
        sar_margin: Count(0..=63) = "1" if sar, from "paper, section 3.4: the least, so lower at all";
        /// a detoured flow keeps its port until it is silent for longer
        flowlet_gap: TimeByRate = "100us@100Gbps" if sar, from "assumption";
    }
}

const PRESETS: &[Preset] = presets! {
    "paper" from "paper, section 4.1, at 100 Gb/s; what it leaves open is assumed as each parameter says" {}
    "qcn-sampling" from "the same with QCN's sampling interval (IEEE 802.1Qau)" {
        sample_max = "150KB", sample_min = "15KB",
    }
};
