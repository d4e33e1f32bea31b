//! The keys of a `[[measure]]`, as a section of the dictionary.

use super::probe;
use super::words::{COUNTERS, PORT_TOTALS};
use crate::dictionary::key::{Kind, Section, sections};
use Kind::{Bytes, Choice, Count, Number, Special, Text, Texts, Time};

const UNITS: &[&str] = &["ns", "us", "ms", "s", "B", "KB", "MB", "GB", "bps", "Kbps", "Mbps", "Gbps"];
const FLOWS_ONLY: &str = "with a metric of flows";
const SERIES_ONLY: &str = "with a metric of quantities over time";
const JOBS_ONLY: &str = "with a metric of training jobs";
const PAUSES_ONLY: &str = "with a metric of PAUSE frames";
const BANDS: &str = "with metric = \"settling-time\", \"first-time\", \"longest-time\" or \"time-share\"";
const STATISTICS: &str = "with metric = \"mean\", \"lowest\", \"highest\", \"std\" or \"cv\"";

/// The section of the dictionary.
pub const SECTIONS: &[Section] = sections! {
    [["measure"]] "A number or curve taken from the run; `xoff describe metrics` lists the metrics and what each takes" {
        "name": Text, "What results call it";
        "metric": Text, "What is measured, such as \"fct\" or \"pause-rate\"";
        "unit": Choice(UNITS),
            "Unit of the result, where it has one; an index or a coefficient of variation has none", only "with a metric of times, sizes or rates";
        "stat": Texts,
            "\"mean\", \"median\", \"p99\", \"min\", \"max\", \"range\", \"std\", \"cv\", \"sum\" or \"jain\"; a list gives a number NAME.STAT each", only "with a metric of each flow, and with metric = \"pause-duration\", \"base-rtt\", \"algbw\" or \"busbw\"";
        "flows": Texts else "all", "Patterns over labels of flows or names of traffic", only FLOWS_ONLY;
        "src": Texts else "all", "Sending hosts", only "with a metric of flows, and with metric = \"base-rtt\"";
        "dst": Texts else "all", "Receiving hosts", only "with a metric of flows, and with metric = \"base-rtt\"";
        "over": Bytes, "Only flows larger than this", only FLOWS_ONLY;
        "up_to": Bytes, "Only flows no larger than this", only FLOWS_ONLY;
        "started_from": Time, "Only flows that start then or later", only FLOWS_ONLY;
        "started_until": Time, "Only flows that start before", only FLOWS_ONLY;
        "edges": Texts,
            "Sizes between the bins, ascending; a bin takes sizes above its lower and up to its upper edge", only "with metric = \"fct-by-size\" or \"slowdown-by-size\"";
        "which": Choice(&["completed", "unfinished", "all"]),
            "Which flows are counted", only "with metric = \"flow-count\"";
        "series": Choice(probe::NAMES), "The probed quantity, as in series.parquet", only SERIES_ONLY;
        "of": Texts,
            "Patterns over flows, or ports by owner first", only "with a metric of quantities over time or of ports";
        "of": OneOf(COUNTERS), "The counter", only "with metric = \"counter\"";
        "priority": Count else "all",
            "Only this IEEE 802.1 priority", only "with a metric of flows, of PAUSE frames, or of something that is counted per priority";
        "across": Choice(&["sum", "mean", "max", "min", "std", "spread", "range", "jain", "each"]) = "sum",
            "How several series become one, instant by instant: spread is largest over smallest, range largest less smallest", only SERIES_ONLY;
        "combine": Choice(&["sum", "mean", "min", "max", "std", "spread", "range", "jain"]),
            "How the results of several become one number", only "with across = \"each\" or metric = \"port\"";
        "window": Time else "the probe's interval",
            "Means over windows of this length are judged, only whole ones", only SERIES_ONLY;
        "from": Time else "the start of the run", "From when on", only "with a metric of quantities over time or of PAUSE frames";
        "until": Time else "the end of the run",
            "Until when", only "with a metric of quantities over time or of PAUSE frames";
        "from_first_pause": Texts, "From the first PAUSE on that these ports send, by owner first", only SERIES_ONLY;
        "until_last_pause": Texts, "Until the last PAUSE that these ports send, by owner first", only SERIES_ONLY;
        "once_above": Number, "Begin when the quantity is at least this for the first time", only STATISTICS;
        "once_below": Number, "Begin when the quantity is at most this for the first time", only STATISTICS;
        "p": Number, "Which percentile, from 0 to 100", only "with metric = \"percentile\"";
        "above": Number, "The band: at least this", only BANDS;
        "below": Number, "The band: at most this", only BANDS;
        "target": Number, "The band: around this", only BANDS;
        "within": Number = 0.05, "How far from `target`, as a part of it", only "with target";
        "series_unit": Choice(UNITS),
            "Unit of the numbers that are compared with the series", only "with above, below, target, before, floor, once_above or once_below where the result has another unit";
        "part": Number = 0.95,
            "Part of what was before that counts as recovered", only "with metric = \"recovery-time\"";
        "before": Number, "What was before", only "with metric = \"recovery-time\"";
        "before_window": Time,
            "What was before is the mean over this time ahead of `from`", only "with metric = \"recovery-time\", without before";
        "least": Number = 0,
            "Smaller changes, as a part of the value, do not count", only "with metric = \"first-cut\", \"change-interval\" or \"count-changes\"";
        "factor": Number = 3, "How many times the trough a peak is", only "with metric = \"peaks\"";
        "floor": Number = 0, "Peaks are higher than this", only "with metric = \"peaks\"";
        "among": Texts, "Those of `of` that are counted", only "with metric = \"largest-share\"";
        "x_unit": Choice(&["ns", "us", "ms", "s"]) = "ms",
            "Unit of time along the curve", only "with metric = \"curve\" or \"imbalance-curve\"";
        "points": Count = 1000, "About how many points are kept", only "with metric = \"curve\"";
        "jobs": Texts else "all", "Patterns over names of traffic that is a job", only JOBS_ONLY;
        "collectives": Texts else "all",
            "Patterns over names of collectives, or their kinds: \"all-reduce\"", only "with metric = \"algbw\" or \"busbw\"";
        "by": Texts else "all", "Ports that send the frames, by owner first", only PAUSES_ONLY;
        "layer": Texts else "all",
            "Layers of the nodes that send the frames: \"tor\", \"leaf\", \"spine\" and so on", only PAUSES_ONLY;
        "toward": Special("\"hosts\", \"switches\", or host selectors") else "all",
            "Which ports are paused", only PAUSES_ONLY;
        "frames": Choice(&["pause", "all"]) = "pause",
            "All: with the repetitions of timed signalling", only PAUSES_ONLY;
        "what": OneOf(PORT_TOTALS), "What the port counted", only "with metric = \"port\"";
    }
};
