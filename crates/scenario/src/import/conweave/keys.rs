//! Every key of ConWeave's configuration, and what becomes of it.

use super::super::hpcc::keys::Fate::{Checked, Inert, Mapped, MappedIn, Output};
use super::super::hpcc::keys::Kind::{Count, File, Flag, LinkDown, Map, Number, Rate};
use super::super::hpcc::keys::{DCQCN, DCTCP, HPCC, Key, TIMELY, keys};

/// Values of `LB_MODE`.
pub(crate) const ECMP: u64 = 0;
pub(crate) const DRILL: u64 = 2;
pub(crate) const CONGA: u64 = 3;
pub(crate) const LETFLOW: u64 = 6;
pub(crate) const CONWEAVE: u64 = 9;

pub(crate) static KEYS: &[Key] = keys! {
    "LB_MODE": Count = "0", Mapped,
        "`[routing] mode`: 0 `ecmp`, 2 `drill`, 3 `conga`, 6 `letflow`, 9 `conweave`; others are refused, and 9 with another scheme than DCQCN";
    "ENABLE_PFC": Flag = "1", Mapped, "`[[class]] lossless`";
    "ENABLE_IRN": Flag = "0", Mapped,
        "1 is `[host] recovery = \"irn-rewind\"`; exactly one of ENABLE_PFC and ENABLE_IRN must be 1, as there";
    "IRN_BDP": Count = "104000", Mapped,
        "`[host] recovery_window` with ENABLE_IRN 1. That simulator knows it for two topologies by name: write what was in force";
    "CC_MODE": Count = "1", Mapped,
        "`[scheme] name`: 1 `dcqcn`, 3 `hpcc`, 7 `timely`, 8 `dctcp`, each with the preset `hpcc-ns3`; all others are refused";
    "TOPOLOGY_FILE": File, Mapped,
        "`[topology] kind = \"custom\"`; node numbers and the order of links are kept. All delays must be 1000 ns, as there";
    "FLOW_FILE": File, Mapped, "`[[traffic]] kind = \"flow-list\"` and a CSV file beside the scenario";
    "BUFFER_SIZE": Count = "9", Mapped, "`[switch] buffer`, in MiB; thresholds and headroom are those of `[model] dialect`";
    "RANDOM_SEED": Count = "1", Mapped, "`seed`, from which both of its generators begin";
    "PACKET_PAYLOAD_SIZE": Count = "1000", Mapped, "`[host] mtu`";
    "CONWEAVE_TX_EXPIRY_TIME": Number = "300", Mapped, "`[routing] idle` with LB_MODE 9, in microseconds";
    "CONWEAVE_REPLY_TIMEOUT_EXTRA": Number = "4", Mapped, "`[routing] reply_extra`, likewise";
    "CONWEAVE_PATH_PAUSE_TIME": Number = "16", Mapped, "`[routing] path_pause`, likewise";
    "CONWEAVE_EXTRA_VOQ_FLUSH_TIME": Number = "16", Mapped, "`[routing] flush_extra`, likewise";
    "CONWEAVE_DEFAULT_VOQ_WAITING_TIME": Number = "200", Mapped, "`[routing] default_wait`, likewise";
    "ENABLE_QCN": Flag = "1", MappedIn(&[DCQCN, DCTCP]), "0 is `[scheme] mark_at = \"never\"`";
    "KMIN_MAP": Map, MappedIn(&[DCQCN, DCTCP]),
        "`[scheme] kmin` by port rate, in units of 1000 bytes, beyond 1049 bytes of each queue that are not counted there";
    "KMAX_MAP": Map, MappedIn(&[DCQCN, DCTCP]), "`[scheme] kmax` by port rate, likewise";
    "PMAX_MAP": Map, MappedIn(&[DCQCN, DCTCP]), "`[scheme] pmax` by port rate";
    "HAS_WIN": Flag = "0", Mapped, "`[host] inflight_cap`: 0 is `\"none\"`; refused with CC_MODE 3";
    "GLOBAL_T": Flag = "1", Mapped,
        "`[host] inflight_cap`: `\"longest-bdp\"` with 1, `\"path-bdp\"` with 0; with CC_MODE 3 also `[scheme] round_trip`";
    "VAR_WIN": Flag = "0", Mapped, "`[host] inflight_scales`, where there is a window";
    "RATE_BOUND": Flag = "1", Mapped, "`[host] pace`";
    "L2_ACK_INTERVAL": Count = "1", Checked, "any value but 0 gives an ACK for each packet; 0 is refused";
    "L2_BACK_TO_ZERO": Flag = "0", Checked, "1, going back to the start of a chunk, is refused";
    "L2_CHUNK_SIZE": Count = "4000", Inert, "matters only with L2_BACK_TO_ZERO 1";
    "ERROR_RATE_PER_LINK": Number = "0", Mapped, "`loss` of the links to which the topology file gives none";
    "LINK_DOWN": LinkDown = "0 0 0", Checked, "a link that goes down is refused";
    "MIN_RATE": Rate = "100Mb/s", Mapped, "`[scheme] rate_min`";
    "RATE_AI": Rate, MappedIn(&[DCQCN, HPCC, TIMELY]), "`[scheme] rate_ai` (TIMELY: `delta`)";
    "RATE_HAI": Rate, MappedIn(&[DCQCN, TIMELY]), "`[scheme] rate_hai` (TIMELY: `delta_hai`)";
    "DCTCP_RATE_AI": Rate = "1000Mb/s", MappedIn(&[DCTCP]), "`[scheme] rate_ai`";
    "EWMA_GAIN": Number = "0", MappedIn(&[DCQCN, DCTCP]),
        "`[scheme] g`; where it is missing that simulator computes 1/16 in whole numbers and has 0, with a warning";
    "ALPHA_RESUME_INTERVAL": Number = "1", MappedIn(&[DCQCN]), "`[scheme] alpha_period`, whole microseconds";
    "RATE_DECREASE_INTERVAL": Number = "4", MappedIn(&[DCQCN]), "`[scheme] decrease_period`, whole microseconds";
    "RP_TIMER": Number, MappedIn(&[DCQCN]), "`[scheme] increase_timer`, whole microseconds";
    "FAST_RECOVERY_TIMES": Count = "1", MappedIn(&[DCQCN]), "`[scheme] fast_recovery`";
    "CLAMP_TARGET_RATE": Flag = "0", MappedIn(&[DCQCN]), "`[scheme] target_clamp`";
    "U_TARGET": Number = "0.95", MappedIn(&[HPCC]), "`[scheme] eta`";
    "MI_THRESH": Count = "0", MappedIn(&[HPCC]), "`[scheme] max_stage`";
    "INT_MULTI": Count = "1", MappedIn(&[HPCC]), "`[scheme] int_multiplier`";
    "FAST_REACT": Flag = "1", MappedIn(&[HPCC]), "`[scheme] fast_react`";
    "MULTI_RATE": Flag = "1", MappedIn(&[HPCC]), "`[scheme] per_hop`";
    "SAMPLE_FEEDBACK": Flag = "0", MappedIn(&[HPCC]), "`[scheme] sample_feedback`";
    "USE_DYNAMIC_PFC_THRESHOLD": Flag = "1", Checked, "0 is refused";
    "PAUSE_TIME": Count = "5", Checked, "only 5, which is the default, is taken";
    "ACK_HIGH_PRIO": Flag = "1", Inert, "ACKs are in a class of their own whatever it says";
    "SIMULATOR_STOP_TIME": Number = "0", Inert, "the run ends when all flows are done";
    "FLOWGEN_START_TIME": Number = "2", Inert, "has no effect on the flows of a file";
    "FLOWGEN_STOP_TIME": Number = "2", Inert, "has no effect on the flows of a file";
    "LOAD": Number = "0", Inert, "of the program that makes flow files";
    "FLOW_INPUT_FILE": File, Output, "not opened";
    "CNP_OUTPUT_FILE": File, Output, "no such file is written";
    "FCT_OUTPUT_FILE": File, Output, "`xoff export hpcc` writes that file from a run";
    "PFC_OUTPUT_FILE": File, Output, "`[output] pfc_frames = true`, from which `xoff export hpcc` writes that file";
    "QLEN_MON_FILE": File, Output, "use a `[[probe]]` of queues";
    "QLEN_MON_START": Number = "0", Output, "use a `[[probe]]` of queues";
    "QLEN_MON_END": Number = "0", Output, "use a `[[probe]]` of queues";
    "VOQ_MON_FILE": File, Output, "no such file is written";
    "VOQ_MON_DETAIL_FILE": File, Output, "no such file is written";
    "UPLINK_MON_FILE": File, Output, "use a `[[probe]]` of throughput";
    "CONN_MON_FILE": File, Output, "no such file is written";
    "EST_ERROR_MON_FILE": File, Output, "no such file is written";
    "FLOWSTAT_FILE": File, Output, "flows are in `flows.parquet` of a run";
    "NEXTHOP_FILE": File, Output, "no such file is written";
    "SW_MONITORING_INTERVAL": Count = "10000", Output, "how often that simulator samples";
    "TRACE_FILE": File, Output, "names nodes whose packets are traced; not opened";
    "TRACE_OUTPUT_FILE": File, Output, "no such file is written";
    "ENABLE_TRACE": Flag = "0", Output, "no binary trace is written";
};
