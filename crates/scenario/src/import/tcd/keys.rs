//! Every key of the TCD authors' configuration, and what becomes of it.

use super::super::hpcc::keys::Fate::{Checked, Inert, Mapped, MappedIn, Output};
use super::super::hpcc::keys::Kind::{Count, File, Flag, Number, Rate};
use super::super::hpcc::keys::{Key, keys};

/// PFC alone.
pub(crate) const NONE: u64 = 0;
/// DCQCN.
pub(crate) const DCQCN: u64 = 1;
/// DCQCN with TCD's marks.
pub(crate) const TCD: u64 = 2;
/// DCQCN with PCN's marks and vote.
pub(crate) const NP_ECN: u64 = 3;

const REACTS: &[u64] = &[DCQCN, TCD, NP_ECN];

pub(crate) static KEYS: &[Key] = keys! {
    "ENABLE_QCN": Flag = "1", Mapped, "0 is `[scheme] name = \"none\"`, 1 `dcqcn` with its preset `paper-sim`";
    "ENABLE_ROOTECN": Flag = "0", MappedIn(REACTS), "1 is `[scheme] name = \"tcd\"` over that `dcqcn`";
    "ENABLE_ROOTECNCC": Flag = "0", MappedIn(REACTS),
        "must be as ENABLE_ROOTECN is: TCD's marks without its senders, or its senders alone, are refused";
    "ENABLE_NPECN": Flag = "0", MappedIn(REACTS), "1 is `[scheme] name = \"np-ecn\"` over that `dcqcn`";
    "ROOTECN_INTERVAL": Count = "40", MappedIn(&[TCD]), "`[scheme] max_ton`, in microseconds";
    "TOPOLOGY_FILE": File, Mapped, "`[topology] kind = \"custom\"`; node numbers and the order of links are kept";
    "FLOW_FILE": File, Mapped, "`[[traffic]] kind = \"flow-list\"` and a CSV file beside the scenario";
    "TCP_FLOW_FILE": File, Inert, "only the number of its flows is read there; not opened";
    "TRACE_FILE": File, Output, "names nodes whose packets are traced; not opened";
    "TRACE_OUTPUT_FILE": File, Output, "no such file is written";
    "FCT_OUTPUT_FILE": File = "fct.txt", Output, "flows are in `flows.parquet` of a run";
    "SEED_NUMBER": Count = "6", Mapped, "`seed`; the draws themselves are this project's";
    "SIMULATOR_STOP_TIME": Number = "2.01", Mapped,
        "`[run] stop`, in seconds; the run ends sooner when all flows are done";
    "APP_START_TIME": Number = "0", Inert, "when receivers begin to listen: before any flow";
    "APP_STOP_TIME": Number = "3", Checked, "when receivers stop to listen: before the end of the run is refused";
    "PACKET_PAYLOAD_SIZE": Count = "1000", Mapped,
        "`[host] mtu`, less the 24 bytes that its packets lack of it; flows have a packet for each 1000 bytes";
    "PAUSE_TIME": Number = "5", Mapped, "`[switch.pfc] pause_time` in whole microseconds, and half of it `refresh`";
    "USE_DYNAMIC_PFC_THRESHOLD": Flag = "1", Checked,
        "1, which is the default, is refused: thresholds are static, 320 cells of 1030 bytes";
    "KMIN": Count = "60", MappedIn(REACTS),
        "`[scheme] kmin`: so many cells of 1030 bytes, beyond one that is guaranteed";
    "KMAX": Count = "60", MappedIn(REACTS), "`[scheme] kmax`, likewise";
    "PMAX": Number = "1", MappedIn(REACTS), "`[scheme] pmax`";
    "CNP_INTERVAL": Number = "50", MappedIn(REACTS), "`[scheme] cnp_interval`, whole microseconds";
    "NP_SAMPLING_INTERVAL": Number = "0", Checked, "only 0 is taken: marks count from the beginning";
    "DCTCP_GAIN": Number = "0", MappedIn(REACTS),
        "`[scheme] g`; where it is missing that simulator computes 1/16 in whole numbers and has 0";
    "ALPHA_RESUME_INTERVAL": Number = "55", MappedIn(REACTS), "`[scheme] alpha_period`, whole microseconds";
    "RP_TIMER": Number, MappedIn(REACTS), "`[scheme] increase_timer`, whole microseconds";
    "BYTE_COUNTER": Count, MappedIn(REACTS), "`[scheme] byte_counter`";
    "FAST_RECOVERY_TIMES": Count = "5", MappedIn(REACTS), "`[scheme] fast_recovery`";
    "RATE_AI": Rate, MappedIn(REACTS), "`[scheme] rate_ai`";
    "RATE_HAI": Rate, MappedIn(REACTS), "`[scheme] rate_hai`";
    "CLAMP_TARGET_RATE": Flag = "0", MappedIn(REACTS), "`[scheme] target_clamp`";
    "CLAMP_TARGET_RATE_AFTER_TIMER": Flag = "0", Checked, "1 is refused, unless CLAMP_TARGET_RATE 1 overrides it";
    "L2_ACK_INTERVAL": Count = "0", Mapped, "`[host] ack_every`; 0, which is the default, is refused";
    "L2_CHUNK_SIZE": Count = "0", Inert, "an ACK more per so many packets, without a use";
    "L2_WAIT_FOR_ACK": Flag = "0", Checked, "1 is refused: senders do not wait for ACKs of chunks";
    "L2_BACK_TO_ZERO": Flag = "0", Checked, "1, going back to the start of a chunk, is refused";
    "L2_TEST_READ": Flag = "0", Checked, "1 is refused";
    "SEND_IN_CHUNKS": Flag = "1", Checked,
        "1, which is the default, is refused: there it is \"deprecated and not tested\"";
    "PACKET_LEVEL_ECMP": Flag = "0", Checked, "1 is refused: the packets of a flow take one path";
    "FLOW_LEVEL_ECMP": Flag = "0", Inert,
        "paths are chosen by this project's hash; the same where there is one path only";
    "DATA_RATE": Rate, Inert, "read and not used there";
    "LINK_DELAY": File, Inert, "read and not used there";
    "ERROR_RATE_PER_LINK": Number = "0", Mapped, "`loss` of the links to which the topology file gives none";
};
