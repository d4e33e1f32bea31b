//! Every metric and every key of a `[[measure]]` as data: reading, hints, `xoff describe metrics` and
//! `docs/metrics.md` all start here.

/// What a metric looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Flows,
    Series,
    Pauses,
    Ports,
    Jobs,
    Whole,
}

impl Family {
    pub(super) const ALL: [Family; 6] =
        [Family::Flows, Family::Series, Family::Pauses, Family::Ports, Family::Jobs, Family::Whole];

    pub(super) fn title(self) -> &'static str {
        match self {
            Family::Flows => "Flows",
            Family::Series => "Quantities over time",
            Family::Pauses => "PAUSE frames",
            Family::Ports => "Ports",
            Family::Jobs => "Training jobs",
            Family::Whole => "The run and its network",
        }
    }

    pub(super) fn meaning(self) -> &'static str {
        match self {
            Family::Flows => {
                "Of the flows that `flows`, `src`, `dst`, `over`, `up_to`, `started_from`, `started_until` and \
                 `priority` let through. Completion times and slowdowns are of finite flows that completed."
            }
            Family::Series => {
                "Of what probes sampled: the scenario needs the [[probe]]. Several flows or ports become one series \
                 by `across`; in a sum of rates a flow that is not there counts as nothing, otherwise only what is \
                 there counts. With `across = \"each\"` the metric is taken of each and `combine` makes one number of \
                 them. Times count from `from`, without it from the start of the run. A sample of a rate or a share \
                 tells of the interval before it, all others of the instant; only what lies wholly between `from` and \
                 `until` counts. With `window`, means over that length take the place of samples: they are at the \
                 end of their window, but what settles or recovers does so at its start."
            }
            Family::Pauses => {
                "Of the PAUSE frames that the chosen ports send: `s1->s0` is the port of s1 that faces s0, and its \
                 frames stop s0 from sending to s1. A frame counts when the port decides to send it; totals of the \
                 whole run without `priority` count frames as they leave."
            }
            Family::Ports => "Of what each port counts over the whole run.",
            Family::Jobs => {
                "Of the training jobs that `jobs` names, or of all; bandwidths are in 10^9 bytes per second."
            }
            Family::Whole => "Of the run as a whole, or of the idle network.",
        }
    }

    /// Keys that every metric of the family takes.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Family::Flows => &["flows", "src", "dst", "over", "up_to", "started_from", "started_until", "priority"],
            Family::Series => {
                &["priority", "across", "combine", "window", "from", "until", "from_first_pause", "until_last_pause"]
            }
            Family::Pauses => &["by", "layer", "toward", "priority", "frames", "from", "until"],
            Family::Ports => &["priority", "combine"],
            Family::Jobs => &["jobs"],
            Family::Whole => &[],
        }
    }
}

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct MetricSpec {
    /// The value of the key `metric`.
    pub name: &'static str,
    pub(crate) family: Family,
    /// What comes out: a number of some kind, or a curve.
    pub gives: &'static str,
    /// Keys that must be given.
    pub needs: &'static [&'static str],
    /// Keys of its own that may be given, beside those of its family.
    pub(crate) takes: &'static [&'static str],
    pub(crate) meaning: &'static str,
    /// The rest of a table, as it would be written.
    pub example: &'static str,
}

/// The rows of [`METRICS`], by family:
///
/// `"name": "what comes out", needs ["keys"], takes ["keys"], "meaning", example "the rest of a table";`
macro_rules! metrics {
    ($($family:ident { $(
        $name:literal: $gives:literal $(, needs $needs:tt)? $(, takes $takes:tt)?,
        $meaning:literal $(, example $example:literal)?;
    )* })*) => {
        &[$($(MetricSpec {
            name: $name,
            family: Family::$family,
            gives: $gives,
            needs: keys!($($needs)?),
            takes: keys!($($takes)?),
            meaning: $meaning,
            example: concat!($($example)?),
        }),*),*]
    };
}

macro_rules! keys {
    () => {
        &[]
    };
    ($list:ident) => {
        $list
    };
    ($list:tt) => {
        &$list
    };
}

const BAND: &[&str] = &["above", "below", "target", "within", "series_unit"];

/// All of them, by family.
pub const METRICS: &[MetricSpec] = metrics! {
    Flows {
        "fct": "a time", needs ["stat", "unit"],
            "Flow completion time, from the start until the receiver has every byte.",
            example "stat = [\"mean\", \"p99\"]\nup_to = \"100KB\"\nunit = \"us\"";
        "slowdown": "a number", needs ["stat"],
            "Completion time over that of the same flow alone on the idle network.", example "stat = \"p99\"";
        "size": "a size", needs ["stat", "unit"], "Sizes of finite flows, completed or not.",
            example "stat = \"mean\"\nunit = \"KB\"";
        "flow-goodput": "a rate", needs ["stat", "unit"],
            "Payload delivered over the life of each flow; one that has not completed lasts to the end of the run.",
            example "stat = \"mean\"\nunit = \"Gbps\"";
        "first-notification": "a time", needs ["stat", "unit"],
            "When the first congestion notification reached the sender, since the start of the run; flows without any are \
             left out.", example "stat = \"range\"\nunit = \"us\"";
        "fct-by-size": "a curve over sizes in bytes", needs ["edges", "stat", "unit"],
            "Completion times of the flows in each bin, at the geometric mean of its edges; bins without flows are left out.",
            example "edges = [\"1KB\", \"10KB\", \"100KB\", \"1MB\"]\nstat = \"mean\"\nunit = \"us\"";
        "slowdown-by-size": "a curve over sizes in bytes", needs ["edges", "stat"], "The same for slowdowns.",
            example "edges = [\"1KB\", \"10KB\", \"100KB\", \"1MB\"]\nstat = \"p99\"";
        "fct-cdf": "a curve over times", needs ["unit"],
            "For each completion time the part of flows that took no longer.", example "unit = \"us\"";
        "slowdown-cdf": "a curve over slowdowns", "For each slowdown the part of flows with no larger one.";
        "size-cdf": "a curve over sizes", takes ["unit"],
            "For each size the part of finite flows that are no larger; the unit is bytes if left out.",
            example "unit = \"KB\"";
        "flow-count": "a number", needs ["which"], "How many flows there were.", example "which = \"completed\"";
        "completion-rate": "a number, per second",
            "Completed flows over the time from the first start to the last completion.";
        "goodput": "a rate", needs ["unit"],
            "Payload delivered by all these flows over the time from the first start to the last delivery; flows that have not completed count to the end of the run. The slowest flow decides it; what `xoff run` and `xoff compare` show is goodput90: until flows with 90 % of the payload have ended.",
            example "flows = \"all\"\nunit = \"Gbps\"";
        "duration": "a time", needs ["unit"],
            "From the first start to the last delivery of these flows; never if one has not completed.",
            example "unit = \"us\"";
        "delivered": "a size", needs ["unit"], "Payload delivered by these flows.", example "unit = \"MB\"";
        "marked": "a number", "Data packets that arrived with a congestion mark.";
        "notifications": "a number", "Congestion notifications that reached the senders.";
        "retransmissions": "a number", "Data packets sent again.";
        "timeouts": "a number", "Retransmission timeouts.";
        "packets": "a number", "Data packets put on the wire, retransmissions included.";
        "rerouted-share": "a number from 0 to 1", "Part of the flows of which a switch sent some packets another way.";
        "finish-gap": "a time", needs ["unit"], takes ["stat"],
            "From the first to the last completion in a round: flows that one traffic source started together, or the units of one block that a client reads. Rounds that were not completed are left out. A connection that stays open has completed its unit when the sender knows so.",
            example "stat = \"mean\"\nunit = \"us\"";
    }
    Series {
        "mean": "in the unit of the series", needs ["series", "of", "unit"], takes ["once_above", "once_below"],
            "The mean over time.", example "series = \"queue\"\nof = \"s0->s1\"\nfrom = \"100us\"\nunit = \"KB\"";
        "lowest": "in the unit of the series", needs ["series", "of", "unit"], takes ["once_above", "once_below"],
            "The lowest value.", example "series = \"throughput\"\nof = \"all\"\nwindow = \"20us\"\nunit = \"Gbps\"";
        "highest": "in the unit of the series", needs ["series", "of", "unit"], takes ["once_above", "once_below"],
            "The highest value.", example "series = \"queue\"\nof = \"s0->s1\"\nunit = \"KB\"";
        "std": "in the unit of the series", needs ["series", "of", "unit"], takes ["once_above", "once_below"],
            "The standard deviation over time.", example "series = \"queue\"\nof = \"s0->s1\"\nunit = \"KB\"";
        "cv": "a number", needs ["series", "of"], takes ["once_above", "once_below", "series_unit"],
            "The standard deviation over the mean.", example "series = \"queue\"\nof = \"s0->s1\"";
        "last": "in the unit of the series", needs ["series", "of", "unit"], "The last value.",
            example "series = \"rate\"\nof = \"all\"\nacross = \"max\"\nunit = \"Gbps\"";
        "percentile": "in the unit of the series", needs ["series", "of", "p", "unit"],
            "The nearest-rank percentile of the samples.",
            example "series = \"queue\"\nof = \"s0->s1\"\np = 99\nunit = \"KB\"";
        "settling-time": "a time", needs ["series", "of", "unit"], takes BAND,
            "Since `from`, until the quantity is within the band for good.",
            example "series = \"throughput\"\nof = \"all\"\nacross = \"jain\"\nwindow = \"20us\"\nabove = 0.5\nunit = \"us\"";
        "recovery-time": "a time", needs ["series", "of", "unit"], takes ["part", "before", "before_window", "series_unit"],
            "Since `from`, until every window has at least `part` of what was before.",
            example "series = \"port_throughput\"\nof = \"s0->s1\"\nfrom = \"200us\"\nbefore_window = \"100us\"\nwindow = \"50us\"\nunit = \"us\"";
        "first-time": "a time", needs ["series", "of", "unit"], takes BAND,
            "Since `from`, until the quantity is within the band for the first time.",
            example "series = \"queue\"\nof = \"s0->s1\"\nabove = 10\nseries_unit = \"KB\"\nunit = \"us\"";
        "first-cut": "a time", needs ["series", "of", "unit"], takes ["least"],
            "Since `from`, until a sample is below the one before by more than `least` of it for the first time.",
            example "series = \"rate\"\nof = \"all\"\nacross = \"each\"\ncombine = \"min\"\nleast = 0.01\nunit = \"us\"";
        "longest-time": "a time", needs ["series", "of", "unit"], takes BAND,
            "The longest stretch in which the quantity stays within the band.",
            example "series = \"queue\"\nof = \"s0->s1\"\nbelow = 0\nseries_unit = \"B\"\nunit = \"us\"";
        "time-share": "a number from 0 to 1", needs ["series", "of"], takes BAND,
            "The part of the time in which the quantity is within the band.",
            example "series = \"queue\"\nof = \"s0->s1\"\nabove = 20\nseries_unit = \"KB\"";
        "time-of-lowest": "a time", needs ["series", "of", "unit"], "Since `from`, until the lowest value.",
            example "series = \"throughput\"\nof = \"all\"\nfrom = \"100us\"\nunit = \"us\"";
        "time-of-highest": "a time", needs ["series", "of", "unit"], "Since `from`, until the highest value.",
            example "series = \"queue\"\nof = \"s0->s1\"\nunit = \"us\"";
        "change-interval": "a time", needs ["series", "of", "unit"], takes ["least"],
            "The mean time between two changes of the value.",
            example "series = \"rate\"\nof = \"all\"\nacross = \"each\"\ncombine = \"mean\"\nunit = \"us\"";
        "count-changes": "a number", needs ["series", "of"], takes ["least"],
            "How often the value changes from one sample to the next.",
            example "series = \"rate\"\nof = \"all\"\nacross = \"each\"\ncombine = \"mean\"";
        "largest-cut": "a number, percent", needs ["series", "of"],
            "The largest fall from one sample to the next, as a part of the former.",
            example "series = \"rate\"\nof = \"all\"\nacross = \"each\"\ncombine = \"max\"";
        "peaks": "a number", needs ["series", "of"], takes ["factor", "floor", "series_unit"],
            "How often the quantity rises to `factor` times the trough before it and falls to a `factor`-th of that peak again.",
            example "series = \"queue\"\nof = \"s0->s1\"\nfloor = 5\nseries_unit = \"KB\"";
        "largest-share": "a number from 0 to 1", needs ["series", "of", "among"],
            "The part of the instants at which the largest of `of` is one of `among`; instants at which all are zero do not count.",
            example "series = \"queue\"\nof = [\"s0->s1\", \"s1->h*\"]\namong = \"s0->s1\"";
        "slope": "in the unit of the series per millisecond", needs ["series", "of", "unit"],
            "The slope of the line of least squares.", example "series = \"queue\"\nof = \"s0->s1\"\nunit = \"KB\"";
        "curve": "a curve over time", needs ["series", "of", "unit"], takes ["x_unit", "points"],
            "The series itself, thinned so that its extremes stay.",
            example "series = \"queue\"\nof = \"s0->s1\"\nunit = \"KB\"\nx_unit = \"us\"";
        "time-cdf": "a curve over values", needs ["series", "of", "unit"],
            "For each value the part of the time in which the quantity was no larger: a queue-length distribution weighted by time, with series = \"queue\". Each sample covers one interval of the probe, so a shorter interval is a finer estimate. With `across = \"each\"` the samples of all of them make one distribution.",
            example "series = \"queue\"\nof = \"s1->h*\"\nacross = \"each\"\nunit = \"KB\"";
        "imbalance": "a number from 1 on", needs ["series", "of"],
            "How unevenly equal links are used: in each window (without `window`, interval of the probe) the largest load over the mean load of the links, where a load is bytes over the link's rate; the mean over windows, weighted by bytes. Windows in which nothing is sent do not count. 1.2 means that the busiest link has 20 % more than the mean. Series is \"port_throughput\"; a window must hold 20 packets of the slowest link.",
            example "series = \"port_throughput\"\nof = [\"s0->s1\", \"s1->s0\"]\nwindow = \"50us\"";
        "imbalance-highest": "a number from 1 on", needs ["series", "of"], "The largest `imbalance` of a window.",
            example "series = \"port_throughput\"\nof = [\"s0->s1\", \"s1->s0\"]\nwindow = \"50us\"";
        "imbalance-curve": "a curve over time", needs ["series", "of"], takes ["x_unit"],
            "The `imbalance` of each window, at its end.",
            example "series = \"port_throughput\"\nof = [\"s0->s1\", \"s1->s0\"]\nwindow = \"50us\"\nx_unit = \"us\"";
    }
    Pauses {
        "pause-count": "a number", "How many PAUSE frames.", example "by = \"s1->s0\"";
        "pause-rate": "a number, per second", "PAUSE frames per second from `from` to `until`.",
            example "toward = \"hosts\"\nframes = \"all\"";
        "tree-lifetime": "a time", needs ["unit"], "From the first to the last PAUSE; zero without any.",
            example "toward = \"hosts\"\nunit = \"us\"";
        "first-pause": "a time", needs ["unit"],
            "When the first PAUSE was sent, since the start of the run; never without any.",
            example "by = \"s1->s0\"\nunit = \"us\"";
        "last-pause": "a time", needs ["unit"],
            "When the last PAUSE was sent, since the start of the run; never without any.",
            example "by = \"s1->s0\"\nunit = \"us\"";
        "pause-duration": "a time", needs ["stat", "unit"],
            "How long pauses last, from the decision to send PAUSE to the decision to send RESUME; one that lasts counts to the end of the run, one that a failed link cut short is left out.",
            example "toward = \"hosts\"\nstat = [\"median\", \"p99\"]\nunit = \"us\"";
        "pause-duration-cdf": "a curve over times", needs ["unit"],
            "For each duration the part of pauses that last no longer.", example "toward = \"hosts\"\nunit = \"us\"";
    }
    Ports {
        "port": "by `what`", needs ["what", "of"], takes ["unit"],
            "Sizes (queue_peak, queue_mean, ingress_peak, headroom_used_peak, sent_bytes) need a unit; paused is a time with a unit, otherwise a part of the run.",
            example "what = \"queue_peak\"\nof = \"s1->h*\"\ncombine = \"max\"\nunit = \"KB\"";
    }
    Jobs {
        "jct": "a time", needs ["unit"],
            "Job completion time, from a job's start to the end of its last activity; of several jobs the longest, and never if one does not end.",
            example "unit = \"ms\"";
        "exposed": "a time", needs ["unit"],
            "Time in which a rank communicates and does not compute, over all iterations; the mean over the ranks.",
            example "unit = \"ms\"";
        "algbw": "a number, in GB/s", takes ["stat", "collectives"],
            "Algorithm bandwidth as nccl-tests counts it: size over time, of each collective that ended.",
            example "collectives = \"all-reduce\"";
        "busbw": "a number, in GB/s", takes ["stat", "collectives"],
            "Bus bandwidth: algorithm bandwidth times the factor of nccl-tests, such as 2 (n - 1) / n for an all-reduce of n ranks.",
            example "collectives = \"all-reduce\"\nstat = \"min\"";
    }
    Whole {
        "counter": "a number", needs ["of"], "One of the run's counters.", example "of = \"pause_frames\"";
        "drops": "a number", "Packets dropped for any reason.";
        "deadlocked": "1 or 0", "Whether a deadlock was seen.";
        "deadlock-time": "a time", needs ["unit"], "When the first deadlock was seen; never if there was none.",
            example "unit = \"ms\"";
        "end-time": "a time", needs ["unit"], "How long the run lasted.", example "unit = \"ms\"";
        "base-rtt": "a time", needs ["src", "dst", "unit"], takes ["stat"],
            "Round-trip time of the idle network, over all pairs of these hosts.",
            example "src = \"h0\"\ndst = \"h4\"\nunit = \"us\"";
    }
};

pub(crate) fn find(name: &str) -> Option<&'static MetricSpec> {
    METRICS.iter().find(|metric| metric.name == name)
}

impl MetricSpec {
    /// All keys that may be beside `name` and `metric`, the needed ones first.
    pub fn keys(&self) -> Vec<&'static str> {
        let mut keys = self.needs.to_vec();
        let optional = self.takes.iter().chain(self.family.keys());
        for key in optional {
            if !keys.contains(key) {
                keys.push(key);
            }
        }
        keys
    }
}
