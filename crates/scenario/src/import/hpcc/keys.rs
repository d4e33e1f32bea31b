//! Every key of that simulator's configuration, and what becomes of it.
//!
//! The reader, `xoff describe hpcc` and `docs/formats.md` all start here.

/// What follows a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Zero or not.
    Flag,
    /// A whole number.
    Count,
    Number,
    /// `50Mb/s`
    Rate,
    /// The name of a file.
    File,
    /// A count, then so many pairs of a rate in bits per second and a value.
    Map,
    /// A time in microseconds and the two ends of a link.
    LinkDown,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl Kind {
    pub(crate) fn expects(self) -> &'static str {
        match self {
            Kind::Flag => "0 or 1",
            Kind::Count => "a whole number",
            Kind::Number => "a number, at least 0",
            Kind::Rate => "a rate such as 50Mb/s",
            Kind::File => "the name of a file",
            Kind::Map => "a count, then so many pairs of a rate in bits per second and a value",
            Kind::LinkDown => "a time in microseconds and two nodes",
            Kind::Word(_) => "one of the words that its description lists",
        }
    }
}

/// What becomes of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// A part of the scenario, whatever the mode.
    Mapped,
    /// A part of the scenario under these values of `CC_MODE`; without effect under others, there as here.
    MappedIn(&'static [u64]),
    /// One value is as good as none and accepted; others are refused.
    Checked,
    /// Without effect in that simulator too.
    Inert,
    /// Concerns only files that the simulator writes.
    Output,
}

/// One key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// In capitals, as written there.
    pub name: &'static str,
    pub(crate) kind: Kind,
    /// What the simulator's code has without it; empty: it must be given where it matters.
    pub(crate) default: &'static str,
    pub(crate) fate: Fate,
    /// What becomes of it, in a sentence.
    pub(crate) becomes: &'static str,
}

/// A value of `CC_MODE`.
pub const DCQCN: u64 = 1;
pub(crate) const HPCC: u64 = 3;
pub(crate) const TIMELY: u64 = 7;
/// A value of `CC_MODE`.
pub const DCTCP: u64 = 8;
/// A value of `CC_MODE`.
pub const PINT: u64 = 10;

/// Rows `"NAME": Kind = "default", Fate, "what becomes of it";`, without a default where there is none.
macro_rules! keys {
    ($(
        $name:literal: $kind:ident $(($($of:tt)*))? $(= $default:literal)?,
        $fate:ident $(($($modes:tt)*))?, $becomes:literal;
    )*) => {
        &[$($crate::import::hpcc::keys::Key {
            name: $name,
            kind: $kind $(($($of)*))?,
            default: concat!($($default)?),
            fate: $fate $(($($modes)*))?,
            becomes: $becomes,
        }),*]
    };
}
pub(crate) use keys;

pub(crate) fn find(name: &str) -> Option<&'static Key> {
    among(KEYS, name)
}

pub(crate) fn among(keys: &'static [Key], name: &str) -> Option<&'static Key> {
    keys.iter().find(|key| key.name == name)
}

use Fate::{Checked, Inert, Mapped, MappedIn, Output};
use Kind::{Count, File, Flag, LinkDown, Map, Number, Rate, Word};

pub(crate) static KEYS: &[Key] = keys! {
    "XOFF_SIMULATOR": Word(&["hpcc", "ns3-datacenter"]) = "hpcc", Mapped,
        "whose rules are copied: `hpcc`, the HPCC authors' simulator, or `ns3-datacenter`, PowerTCP's authors'; neither reads this word. Without it `flags.txt` beside the configuration (the latter's command line, `--bufalg=1 --alphaI=0.125 ...`) or a folder called `inet_*` means the latter, with a warning";
    "XOFF_SCHEME": Word(&["by-mode", "powertcp", "theta-powertcp"]) = "by-mode", Mapped,
        "what the command line of ns3-datacenter laid over `CC_MODE 3`: `powertcp` (its flag `wien`), `theta-powertcp` (`delayWien`), or `by-mode`, nothing. Without it `flags.txt` says it, or, without `XOFF_SIMULATOR`, the end of an `inet_*` folder's name: `_dcqcn`, `_dctcp`, `_hpcc`, `_powertcp`, `_theta`, `_timely`, perhaps followed by `_first`";
    "CC_MODE": Count = "1", Mapped,
        "`[scheme] name`: 1 `dcqcn`, 3 `hpcc`, 7 `timely`, 8 `dctcp`, 10 `hpcc-pint`, each with the preset `hpcc-ns3`; all others are refused";
    "TOPOLOGY_FILE": File, Mapped,
        "`[topology] kind = \"custom\"`; node numbers and the order of links are kept, since the hash and port numbers depend on them";
    "FLOW_FILE": File, Mapped, "`[[traffic]] kind = \"flow-list\"` and a CSV file beside the scenario";
    "TRACE_FILE": File, Output, "names nodes whose packets are traced; not opened";
    "TRACE_OUTPUT_FILE": File, Output, "no such file is written";
    "FCT_OUTPUT_FILE": File, Output, "`xoff export hpcc` writes that file from a run";
    "PFC_OUTPUT_FILE": File, Output, "`[output] pfc_frames = true`, from which `xoff export hpcc` writes that file";
    "QLEN_MON_FILE": File, Output, "use a `[[probe]]` of queues";
    "QLEN_MON_START": Count = "2000000000", Output, "use a `[[probe]]` of queues";
    "QLEN_MON_END": Count = "2100000000", Output, "use a `[[probe]]` of queues";
    "ENABLE_TRACE": Flag = "1", Output, "no binary trace is written";
    "SIMULATOR_STOP_TIME": Number = "3.01", Mapped,
        "`[run] stop`, in seconds; the run ends sooner when all flows are done";
    "PACKET_PAYLOAD_SIZE": Count = "1000", Mapped, "`[host] mtu`";
    "BUFFER_SIZE": Count = "16", Mapped,
        "`[switch] buffer`, in MiB; refused where headrooms and reserves leave nothing of it, for the counters wrap there and PFC never fires";
    "ENABLE_QCN": Flag = "1", MappedIn(&[DCQCN, DCTCP]), "0 is `[scheme] mark_at = \"never\"`";
    "KMIN_MAP": Map, MappedIn(&[DCQCN, DCTCP]),
        "`[scheme] kmin` by port rate, in units of 1000 bytes; every rate of a switch port must be there in every mode";
    "KMAX_MAP": Map, MappedIn(&[DCQCN, DCTCP]), "`[scheme] kmax` by port rate";
    "PMAX_MAP": Map, MappedIn(&[DCQCN, DCTCP]), "`[scheme] pmax` by port rate";
    "USE_DYNAMIC_PFC_THRESHOLD": Flag = "1", Inert, "thresholds are dynamic whatever it says; 0 gives a warning";
    "PAUSE_TIME": Count = "5", Checked,
        "any value but 0 is the same, a pause lasts until it is lifted; with 0 a PAUSE would be read as a RESUME, so it is refused";
    "HAS_WIN": Flag = "1", Mapped,
        "`[host] inflight_cap`: 0 is `\"none\"`; refused with CC_MODE 3, whose law divides by the window";
    "GLOBAL_T": Flag = "1", Mapped,
        "`[host] inflight_cap`: `\"longest-bdp\"` with 1, `\"path-bdp\"` with 0; with CC_MODE 3 also `[scheme] round_trip`";
    "VAR_WIN": Flag = "0", Mapped, "`[host] inflight_scales`, where there is a window";
    "RATE_BOUND": Flag = "1", Mapped, "`[host] pace`";
    "ACK_HIGH_PRIO": Flag = "0", Mapped,
        "`[host] acks_paused_by`: with 0 the NIC's ACKs stop when priority group 3 is paused, with 1 never; in switches they travel with the data in either case";
    "L2_ACK_INTERVAL": Count = "0", Checked,
        "any value but 0 gives an ACK for each packet; with 0, which is the default, ACKs are not taken, so it is refused";
    "L2_BACK_TO_ZERO": Flag = "0", Checked, "1, going back to the start of a chunk, is refused";
    "L2_CHUNK_SIZE": Count = "0", Inert, "matters only with L2_BACK_TO_ZERO 1";
    "ERROR_RATE_PER_LINK": Number = "0", Mapped, "`loss` of the links to which the topology file gives none";
    "LINK_DOWN": LinkDown = "0 0 0", Mapped,
        "`[[fault]] kind = \"link-down\"`, that many microseconds after 2 s; nothing with 0";
    "MIN_RATE": Rate = "100Mb/s", Mapped, "`[scheme] rate_min`";
    "RATE_AI": Rate, MappedIn(&[DCQCN, HPCC, TIMELY, PINT]), "`[scheme] rate_ai` (TIMELY: `delta`)";
    "RATE_HAI": Rate, MappedIn(&[DCQCN, TIMELY]), "`[scheme] rate_hai` (TIMELY: `delta_hai`)";
    "DCTCP_RATE_AI": Rate = "1000Mb/s", MappedIn(&[DCTCP]), "`[scheme] rate_ai`";
    "EWMA_GAIN": Number = "0", MappedIn(&[DCQCN, DCTCP]),
        "`[scheme] g`; where it is missing that simulator computes 1/16 in whole numbers and has 0, with a warning";
    "ALPHA_RESUME_INTERVAL": Number = "55", MappedIn(&[DCQCN]), "`[scheme] alpha_period`, whole microseconds";
    "RATE_DECREASE_INTERVAL": Number = "4", MappedIn(&[DCQCN]), "`[scheme] decrease_period`, whole microseconds";
    "RP_TIMER": Number, MappedIn(&[DCQCN]), "`[scheme] increase_timer`, whole microseconds";
    "FAST_RECOVERY_TIMES": Count = "5", MappedIn(&[DCQCN]), "`[scheme] fast_recovery`";
    "CLAMP_TARGET_RATE": Flag = "0", MappedIn(&[DCQCN]), "`[scheme] target_clamp`";
    "U_TARGET": Number = "0.95", MappedIn(&[HPCC, PINT]), "`[scheme] eta`";
    "MI_THRESH": Count = "5", MappedIn(&[HPCC, PINT]), "`[scheme] max_stage`";
    "INT_MULTI": Count = "1", MappedIn(&[HPCC]), "`[scheme] int_multiplier`";
    "FAST_REACT": Flag = "1", MappedIn(&[HPCC]), "`[scheme] fast_react`";
    "MULTI_RATE": Flag = "1", MappedIn(&[HPCC]), "`[scheme] per_hop`";
    "SAMPLE_FEEDBACK": Flag = "0", MappedIn(&[HPCC]), "`[scheme] sample_feedback`";
    "PINT_LOG_BASE": Number = "1.05", MappedIn(&[PINT]), "`[scheme] log_base`";
    "PINT_PROB": Number = "1.0", MappedIn(&[PINT]), "`[scheme] probability`";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_explained() {
        for keys in [KEYS, super::super::super::tcd::keys::KEYS, super::super::super::conweave::keys::KEYS] {
            for (at, key) in keys.iter().enumerate() {
                assert!(keys[..at].iter().all(|other| other.name != key.name), "{} comes twice", key.name);
                assert!(key.becomes.len() > 8, "{}", key.name);
                assert!(key.name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
            }
        }
    }
}
