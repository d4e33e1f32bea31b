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

const fn metric(
    name: &'static str,
    family: Family,
    gives: &'static str,
    needs: &'static [&'static str],
    takes: &'static [&'static str],
    meaning: &'static str,
    example: &'static str,
) -> MetricSpec {
    MetricSpec { name, family, gives, needs, takes, meaning, example }
}

use Family::{Flows, Jobs, Pauses, Ports, Series, Whole};

const BAND: &[&str] = &["above", "below", "target", "within", "series_unit"];

/// All of them, by family.
pub const METRICS: &[MetricSpec] = &[
    metric(
        "fct",
        Flows,
        "a time",
        &["stat", "unit"],
        &[],
        "Flow completion time, from the start until the receiver has every byte.",
        "stat = [\"mean\", \"p99\"]\nup_to = \"100KB\"\nunit = \"us\"",
    ),
    metric(
        "slowdown",
        Flows,
        "a number",
        &["stat"],
        &[],
        "Completion time over that of the same flow alone on the idle network.",
        "stat = \"p99\"",
    ),
    metric(
        "size",
        Flows,
        "a size",
        &["stat", "unit"],
        &[],
        "Sizes of finite flows, completed or not.",
        "stat = \"mean\"\nunit = \"KB\"",
    ),
    metric(
        "flow-goodput",
        Flows,
        "a rate",
        &["stat", "unit"],
        &[],
        "Payload delivered over the life of each flow; one that has not completed lasts to the end of the run.",
        "stat = \"mean\"\nunit = \"Gbps\"",
    ),
    metric(
        "first-notification",
        Flows,
        "a time",
        &["stat", "unit"],
        &[],
        "When the first congestion notification reached the sender, since the start of the run; flows without any are \
         left out.",
        "stat = \"range\"\nunit = \"us\"",
    ),
    metric(
        "fct-by-size",
        Flows,
        "a curve over sizes in bytes",
        &["edges", "stat", "unit"],
        &[],
        "Completion times of the flows in each bin, at the geometric mean of its edges; bins without flows are left out.",
        "edges = [\"1KB\", \"10KB\", \"100KB\", \"1MB\"]\nstat = \"mean\"\nunit = \"us\"",
    ),
    metric(
        "slowdown-by-size",
        Flows,
        "a curve over sizes in bytes",
        &["edges", "stat"],
        &[],
        "The same for slowdowns.",
        "edges = [\"1KB\", \"10KB\", \"100KB\", \"1MB\"]\nstat = \"p99\"",
    ),
    metric(
        "fct-cdf",
        Flows,
        "a curve over times",
        &["unit"],
        &[],
        "For each completion time the part of flows that took no longer.",
        "unit = \"us\"",
    ),
    metric(
        "slowdown-cdf",
        Flows,
        "a curve over slowdowns",
        &[],
        &[],
        "For each slowdown the part of flows with no larger one.",
        "",
    ),
    metric(
        "size-cdf",
        Flows,
        "a curve over sizes",
        &[],
        &["unit"],
        "For each size the part of finite flows that are no larger; the unit is bytes if left out.",
        "unit = \"KB\"",
    ),
    metric("flow-count", Flows, "a number", &["which"], &[], "How many flows there were.", "which = \"completed\""),
    metric(
        "completion-rate",
        Flows,
        "a number, per second",
        &[],
        &[],
        "Completed flows over the time from the first start to the last completion.",
        "",
    ),
    metric(
        "goodput",
        Flows,
        "a rate",
        &["unit"],
        &[],
        "Payload delivered by all these flows over the time from the first start to the last delivery; flows that have not completed count to the end of the run. The slowest flow decides it; what `xoff run` and `xoff compare` show is goodput90: until flows with 90 % of the payload have ended.",
        "flows = \"all\"\nunit = \"Gbps\"",
    ),
    metric(
        "duration",
        Flows,
        "a time",
        &["unit"],
        &[],
        "From the first start to the last delivery of these flows; never if one has not completed.",
        "unit = \"us\"",
    ),
    metric("delivered", Flows, "a size", &["unit"], &[], "Payload delivered by these flows.", "unit = \"MB\""),
    metric("marked", Flows, "a number", &[], &[], "Data packets that arrived with a congestion mark.", ""),
    metric("notifications", Flows, "a number", &[], &[], "Congestion notifications that reached the senders.", ""),
    metric("retransmissions", Flows, "a number", &[], &[], "Data packets sent again.", ""),
    metric("timeouts", Flows, "a number", &[], &[], "Retransmission timeouts.", ""),
    metric("packets", Flows, "a number", &[], &[], "Data packets put on the wire, retransmissions included.", ""),
    metric(
        "rerouted-share",
        Flows,
        "a number from 0 to 1",
        &[],
        &[],
        "Part of the flows of which a switch sent some packets another way.",
        "",
    ),
    metric(
        "finish-gap",
        Flows,
        "a time",
        &["unit"],
        &["stat"],
        "From the first to the last completion in a round: flows that one traffic source started together, or the units of one block that a client reads. Rounds that were not completed are left out. A connection that stays open has completed its unit when the sender knows so.",
        "stat = \"mean\"\nunit = \"us\"",
    ),
    metric(
        "mean",
        Series,
        "in the unit of the series",
        &["series", "of", "unit"],
        &["once_above", "once_below"],
        "The mean over time.",
        "series = \"queue\"\nof = \"s0->s1\"\nfrom = \"100us\"\nunit = \"KB\"",
    ),
    metric(
        "lowest",
        Series,
        "in the unit of the series",
        &["series", "of", "unit"],
        &["once_above", "once_below"],
        "The lowest value.",
        "series = \"throughput\"\nof = \"all\"\nwindow = \"20us\"\nunit = \"Gbps\"",
    ),
    metric(
        "highest",
        Series,
        "in the unit of the series",
        &["series", "of", "unit"],
        &["once_above", "once_below"],
        "The highest value.",
        "series = \"queue\"\nof = \"s0->s1\"\nunit = \"KB\"",
    ),
    metric(
        "std",
        Series,
        "in the unit of the series",
        &["series", "of", "unit"],
        &["once_above", "once_below"],
        "The standard deviation over time.",
        "series = \"queue\"\nof = \"s0->s1\"\nunit = \"KB\"",
    ),
    metric(
        "cv",
        Series,
        "a number",
        &["series", "of"],
        &["once_above", "once_below", "series_unit"],
        "The standard deviation over the mean.",
        "series = \"queue\"\nof = \"s0->s1\"",
    ),
    metric(
        "last",
        Series,
        "in the unit of the series",
        &["series", "of", "unit"],
        &[],
        "The last value.",
        "series = \"rate\"\nof = \"all\"\nacross = \"max\"\nunit = \"Gbps\"",
    ),
    metric(
        "percentile",
        Series,
        "in the unit of the series",
        &["series", "of", "p", "unit"],
        &[],
        "The nearest-rank percentile of the samples.",
        "series = \"queue\"\nof = \"s0->s1\"\np = 99\nunit = \"KB\"",
    ),
    metric(
        "settling-time",
        Series,
        "a time",
        &["series", "of", "unit"],
        BAND,
        "Since `from`, until the quantity is within the band for good.",
        "series = \"throughput\"\nof = \"all\"\nacross = \"jain\"\nwindow = \"20us\"\nabove = 0.5\nunit = \"us\"",
    ),
    metric(
        "recovery-time",
        Series,
        "a time",
        &["series", "of", "unit"],
        &["part", "before", "before_window", "series_unit"],
        "Since `from`, until every window has at least `part` of what was before.",
        "series = \"port_throughput\"\nof = \"s0->s1\"\nfrom = \"200us\"\nbefore_window = \"100us\"\nwindow = \"50us\"\nunit = \"us\"",
    ),
    metric(
        "first-time",
        Series,
        "a time",
        &["series", "of", "unit"],
        BAND,
        "Since `from`, until the quantity is within the band for the first time.",
        "series = \"queue\"\nof = \"s0->s1\"\nabove = 10\nseries_unit = \"KB\"\nunit = \"us\"",
    ),
    metric(
        "first-cut",
        Series,
        "a time",
        &["series", "of", "unit"],
        &["least"],
        "Since `from`, until a sample is below the one before by more than `least` of it for the first time.",
        "series = \"rate\"\nof = \"all\"\nacross = \"each\"\ncombine = \"min\"\nleast = 0.01\nunit = \"us\"",
    ),
    metric(
        "longest-time",
        Series,
        "a time",
        &["series", "of", "unit"],
        BAND,
        "The longest stretch in which the quantity stays within the band.",
        "series = \"queue\"\nof = \"s0->s1\"\nbelow = 0\nseries_unit = \"B\"\nunit = \"us\"",
    ),
    metric(
        "time-share",
        Series,
        "a number from 0 to 1",
        &["series", "of"],
        BAND,
        "The part of the time in which the quantity is within the band.",
        "series = \"queue\"\nof = \"s0->s1\"\nabove = 20\nseries_unit = \"KB\"",
    ),
    metric(
        "time-of-lowest",
        Series,
        "a time",
        &["series", "of", "unit"],
        &[],
        "Since `from`, until the lowest value.",
        "series = \"throughput\"\nof = \"all\"\nfrom = \"100us\"\nunit = \"us\"",
    ),
    metric(
        "time-of-highest",
        Series,
        "a time",
        &["series", "of", "unit"],
        &[],
        "Since `from`, until the highest value.",
        "series = \"queue\"\nof = \"s0->s1\"\nunit = \"us\"",
    ),
    metric(
        "change-interval",
        Series,
        "a time",
        &["series", "of", "unit"],
        &["least"],
        "The mean time between two changes of the value.",
        "series = \"rate\"\nof = \"all\"\nacross = \"each\"\ncombine = \"mean\"\nunit = \"us\"",
    ),
    metric(
        "count-changes",
        Series,
        "a number",
        &["series", "of"],
        &["least"],
        "How often the value changes from one sample to the next.",
        "series = \"rate\"\nof = \"all\"\nacross = \"each\"\ncombine = \"mean\"",
    ),
    metric(
        "largest-cut",
        Series,
        "a number, percent",
        &["series", "of"],
        &[],
        "The largest fall from one sample to the next, as a part of the former.",
        "series = \"rate\"\nof = \"all\"\nacross = \"each\"\ncombine = \"max\"",
    ),
    metric(
        "peaks",
        Series,
        "a number",
        &["series", "of"],
        &["factor", "floor", "series_unit"],
        "How often the quantity rises to `factor` times the trough before it and falls to a `factor`-th of that peak again.",
        "series = \"queue\"\nof = \"s0->s1\"\nfloor = 5\nseries_unit = \"KB\"",
    ),
    metric(
        "largest-share",
        Series,
        "a number from 0 to 1",
        &["series", "of", "among"],
        &[],
        "The part of the instants at which the largest of `of` is one of `among`; instants at which all are zero do not count.",
        "series = \"queue\"\nof = [\"s0->s1\", \"s1->h*\"]\namong = \"s0->s1\"",
    ),
    metric(
        "slope",
        Series,
        "in the unit of the series per millisecond",
        &["series", "of", "unit"],
        &[],
        "The slope of the line of least squares.",
        "series = \"queue\"\nof = \"s0->s1\"\nunit = \"KB\"",
    ),
    metric(
        "curve",
        Series,
        "a curve over time",
        &["series", "of", "unit"],
        &["x_unit", "points"],
        "The series itself, thinned so that its extremes stay.",
        "series = \"queue\"\nof = \"s0->s1\"\nunit = \"KB\"\nx_unit = \"us\"",
    ),
    metric(
        "time-cdf",
        Series,
        "a curve over values",
        &["series", "of", "unit"],
        &[],
        "For each value the part of the time in which the quantity was no larger: a queue-length distribution weighted by time, with series = \"queue\". Each sample covers one interval of the probe, so a shorter interval is a finer estimate. With `across = \"each\"` the samples of all of them make one distribution.",
        "series = \"queue\"\nof = \"s1->h*\"\nacross = \"each\"\nunit = \"KB\"",
    ),
    metric(
        "imbalance",
        Series,
        "a number from 1 on",
        &["series", "of"],
        &[],
        "How unevenly equal links are used: in each window (without `window`, interval of the probe) the largest load over the mean load of the links, where a load is bytes over the link's rate; the mean over windows, weighted by bytes. Windows in which nothing is sent do not count. 1.2 means that the busiest link has 20 % more than the mean. Series is \"port_throughput\"; a window must hold 20 packets of the slowest link.",
        "series = \"port_throughput\"\nof = [\"s0->s1\", \"s1->s0\"]\nwindow = \"50us\"",
    ),
    metric(
        "imbalance-highest",
        Series,
        "a number from 1 on",
        &["series", "of"],
        &[],
        "The largest `imbalance` of a window.",
        "series = \"port_throughput\"\nof = [\"s0->s1\", \"s1->s0\"]\nwindow = \"50us\"",
    ),
    metric(
        "imbalance-curve",
        Series,
        "a curve over time",
        &["series", "of"],
        &["x_unit"],
        "The `imbalance` of each window, at its end.",
        "series = \"port_throughput\"\nof = [\"s0->s1\", \"s1->s0\"]\nwindow = \"50us\"\nx_unit = \"us\"",
    ),
    metric("pause-count", Pauses, "a number", &[], &[], "How many PAUSE frames.", "by = \"s1->s0\""),
    metric(
        "pause-rate",
        Pauses,
        "a number, per second",
        &[],
        &[],
        "PAUSE frames per second from `from` to `until`.",
        "toward = \"hosts\"\nframes = \"all\"",
    ),
    metric(
        "tree-lifetime",
        Pauses,
        "a time",
        &["unit"],
        &[],
        "From the first to the last PAUSE; zero without any.",
        "toward = \"hosts\"\nunit = \"us\"",
    ),
    metric(
        "first-pause",
        Pauses,
        "a time",
        &["unit"],
        &[],
        "When the first PAUSE was sent, since the start of the run; never without any.",
        "by = \"s1->s0\"\nunit = \"us\"",
    ),
    metric(
        "last-pause",
        Pauses,
        "a time",
        &["unit"],
        &[],
        "When the last PAUSE was sent, since the start of the run; never without any.",
        "by = \"s1->s0\"\nunit = \"us\"",
    ),
    metric(
        "pause-duration",
        Pauses,
        "a time",
        &["stat", "unit"],
        &[],
        "How long pauses last, from the decision to send PAUSE to the decision to send RESUME; one that lasts counts to the end of the run, one that a failed link cut short is left out.",
        "toward = \"hosts\"\nstat = [\"median\", \"p99\"]\nunit = \"us\"",
    ),
    metric(
        "pause-duration-cdf",
        Pauses,
        "a curve over times",
        &["unit"],
        &[],
        "For each duration the part of pauses that last no longer.",
        "toward = \"hosts\"\nunit = \"us\"",
    ),
    metric(
        "port",
        Ports,
        "by `what`",
        &["what", "of"],
        &["unit"],
        "Sizes (queue_peak, queue_mean, ingress_peak, headroom_used_peak, sent_bytes) need a unit; paused is a time with a unit, otherwise a part of the run.",
        "what = \"queue_peak\"\nof = \"s1->h*\"\ncombine = \"max\"\nunit = \"KB\"",
    ),
    metric(
        "jct",
        Jobs,
        "a time",
        &["unit"],
        &[],
        "Job completion time, from a job's start to the end of its last activity; of several jobs the longest, and never if one does not end.",
        "unit = \"ms\"",
    ),
    metric(
        "exposed",
        Jobs,
        "a time",
        &["unit"],
        &[],
        "Time in which a rank communicates and does not compute, over all iterations; the mean over the ranks.",
        "unit = \"ms\"",
    ),
    metric(
        "algbw",
        Jobs,
        "a number, in GB/s",
        &[],
        &["stat", "collectives"],
        "Algorithm bandwidth as nccl-tests counts it: size over time, of each collective that ended.",
        "collectives = \"all-reduce\"",
    ),
    metric(
        "busbw",
        Jobs,
        "a number, in GB/s",
        &[],
        &["stat", "collectives"],
        "Bus bandwidth: algorithm bandwidth times the factor of nccl-tests, such as 2 (n - 1) / n for an all-reduce of n ranks.",
        "collectives = \"all-reduce\"\nstat = \"min\"",
    ),
    metric("counter", Whole, "a number", &["of"], &[], "One of the run's counters.", "of = \"pause_frames\""),
    metric("drops", Whole, "a number", &[], &[], "Packets dropped for any reason.", ""),
    metric("deadlocked", Whole, "1 or 0", &[], &[], "Whether a deadlock was seen.", ""),
    metric(
        "deadlock-time",
        Whole,
        "a time",
        &["unit"],
        &[],
        "When the first deadlock was seen; never if there was none.",
        "unit = \"ms\"",
    ),
    metric("end-time", Whole, "a time", &["unit"], &[], "How long the run lasted.", "unit = \"ms\""),
    metric(
        "base-rtt",
        Whole,
        "a time",
        &["src", "dst", "unit"],
        &["stat"],
        "Round-trip time of the idle network, over all pairs of these hosts.",
        "src = \"h0\"\ndst = \"h4\"\nunit = \"us\"",
    ),
];

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
