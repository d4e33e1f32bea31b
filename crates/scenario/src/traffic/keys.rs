//! The keys of `[[traffic]]`, for the dictionary of scenarios.

use crate::dictionary::key::{Key, Kind, Section, keys, kind, sections};
use crate::dictionary::words::{ALGORITHM, SCHEDULE, STEP};
use crate::traces::{DEPS, DOUBTS, MATCHING, RESOURCES};
use Kind::{Bytes, Choice, Count, Either, Flag, Number, Rate, Special, Table, Tables, Text, Texts, Time};

/// What a flow size may be written as.
const SIZES: Kind = Kind::Special("a size such as \"64KB\", a workload such as \"websearch\", a .csv file, or a table");

/// What a `[[traffic]]` may be: `kind`, and one line about it.
pub const KINDS: &[(&str, &str)] = &[
    ("flows", "flows listed one by one"),
    ("flow-list", "flows listed in a file"),
    ("long-lived", "endless (or sized) flows between pairs of hosts"),
    ("burst", "many flows of a size at one time"),
    ("permutation", "every host sends to one other and receives from one other"),
    ("all-to-all", "every host sends to every other"),
    ("poisson", "random arrivals at a load, sizes from a distribution"),
    ("hotspot", "as poisson, with a part of the flows to a few hot hosts"),
    ("incast", "many senders answer one receiver at the same time"),
    ("on-off", "connections that are handed bytes in bursts"),
    ("synchronised-reads", "a client reads from all servers at once, block after block"),
    ("all-reduce", "a job whose ranks add up a buffer, and all get the sum"),
    ("reduce-scatter", "a job whose ranks add up a buffer, and each gets a part of the sum"),
    ("all-gather", "a job whose ranks each send their part to all"),
    ("broadcast", "a job whose first rank sends a buffer to all"),
    ("reduce", "a job whose ranks add up a buffer for the first of them"),
    ("pipeline", "a job whose ranks are stages that pass micro-batches on and gradients back"),
    ("job", "a job of steps: computing and collectives, in any order"),
    ("chakra", "a job that does what execution traces of its ranks tell"),
];

const RANDOM: &str = "with kind = \"poisson\", \"hotspot\" or \"incast\"";
const OPEN: &str = "with kind = \"poisson\", \"hotspot\", \"incast\" or \"synchronised-reads\"";
const ENDLESS: &str =
    "to endless flows: with kind = \"flows\", \"long-lived\" or \"permutation\" without `size`, or \"on-off\"";
const STAGGERED: &str = "with kind = \"long-lived\", \"burst\", \"permutation\", \"all-to-all\" or \"on-off\"";
const BATCHES: &str = "with kind = \"long-lived\", \"burst\" or \"permutation\"";
const CAPPED: &str = "with kind = \"flows\", \"long-lived\", \"burst\" or \"permutation\"";
const HOTSPOT: &str = "with kind = \"hotspot\"";
const INCAST: &str = "with kind = \"incast\"";
const ON_OFF: &str = "with kind = \"on-off\"";
const READS: &str = "with kind = \"synchronised-reads\"";
const JOBS: &str = "with kind = \"all-reduce\", \"reduce-scatter\", \"all-gather\", \"broadcast\", \"reduce\", \"all-to-all\" of \
    `bytes`, \"pipeline\", \"job\" or \"chakra\"";
const ONE: &str = "with kind = \"all-reduce\", \"reduce-scatter\", \"all-gather\", \"broadcast\", \"reduce\" or \"all-to-all\" \
    of `bytes`";
const COLLECTIVE: &str = "with kind = \"all-reduce\", \"reduce-scatter\", \"all-gather\", \"broadcast\", \"reduce\" or \
    \"all-to-all\" of `bytes`, and to such steps";
const LAID: &str = "with kind = \"all-reduce\", \"reduce-scatter\", \"all-gather\", \"broadcast\", \"reduce\", \"all-to-all\" of \
    `bytes` or \"chakra\", and to such steps";
const CHAKRA: &str = "with kind = \"chakra\"";
const SUMS: &str = "with kind = \"all-reduce\", \"reduce-scatter\", \"all-gather\" or \"chakra\", and to such steps";
const MOE: &str = "with kind = \"all-to-all\" of `bytes` or \"chakra\", and to such steps";
const PIPELINE: &str = "with kind = \"pipeline\"";
const EVERYONE: &str = "with kind = \"permutation\" or \"all-to-all\"";

/// `[[traffic]]`.
pub(crate) const TRAFFIC: &[Key] = keys! {
    "kind": OneOf(KINDS), "What generates the flows";
    "name": Text else "the kind and its number", "What results call its flows";
    "class": Text else "the first data class", "The traffic class of its flows";
    "scheme": Text else "that of [scheme]", "The congestion control of its flows";
    "weight": Count = 1, "The share a flow deserves, where the scheme knows weights";
    "initial_rate": Rate else "line rate", "Rate each flow starts at; without end-to-end control it stays there";
    "rate_cap": Rate, "The application's own limit for each flow";
    "path": Texts,
        "Pins the flows to these nodes in order; the hosts may be left out, \"s1#0\" picks one of parallel links";
    "multipath": Flag else "true", "Its packets take paths as [routing] says; false: each flow has one path, by a hash";
    "probe": Flag else "true for flows, long-lived and on-off", "Flow probes sample these flows";
    "start": Time = "0ps", "When it begins";
    "flow": Tables, "The flows", only "with kind = \"flows\"";
    "file": Text,
        "Rows of src,dst,size_bytes,start_us[,class,scheme]; traces of all ranks as `xoff import chakra` writes them", only "with kind = \"flow-list\" or \"chakra\"";
    "sources": Texts,
        "The hosts that send; all hosts for random traffic that names none", only "with kind = \"long-lived\", \"burst\", \"on-off\", \"poisson\", \"hotspot\" or \"incast\"";
    "destinations": Texts,
        "The hosts that receive; all hosts for random traffic that names none", only "with kind = \"long-lived\", \"burst\", \"on-off\", \"poisson\", \"hotspot\" or \"incast\"";
    "pairing": Choice(&["one-to-one", "all", "random"]) else "one-to-one; random for poisson",
        "Who sends to whom: in order (a lone host meets all), each to all (not poisson), or by lot (not on-off)", only "with kind = \"long-lived\", \"burst\", \"on-off\" or \"poisson\"";
    "hosts": Texts else "*", "The hosts that take part", only EVERYONE;
    "size": SIZES else "endless", "The size of each flow; `burst` needs one", only BATCHES;
    "sizes": SIZES,
        "The distribution of sizes", only "with kind = \"poisson\", \"hotspot\", \"incast\" or \"all-to-all\"";
    "flows_per_pair": Count = 1, "Flows between each pair of hosts", only BATCHES;
    "stagger": Time = "0ps", "From one start to the next: of flows, or of rounds in all-to-all", only STAGGERED;
    "stop": Time, "Ends endless flows", only ENDLESS;
    "caps": Tables, "Changes of `rate_cap`: { at = \"3s\", rate = \"1Gbps\" }", only CAPPED;
    "shuffle": Flag = true, "Rounds follow a random order of the hosts", only "with kind = \"all-to-all\"";
    "load": Number, "Offered part of the senders' links (incast: the receivers' links)", only RANDOM;
    "load_of": Texts, "Ports whose rates `load` is a part of; all the traffic should cross them", only "with `load`";
    "load_counts": Choice(&["payload", "wire"]) = "payload",
        "Whether headers (also the scheme's) and gaps count", only "with `load`";
    "offered": Rate, "Payload offered in all, in place of `load`", only RANDOM;
    "rate_per_second": Number, "Flows (incast: events) per second, in place of `load`", only RANDOM;
    "flows": Count, "It ends after this many flows", only RANDOM;
    "until": Time, "Nothing new starts at or after", only OPEN;
    "avoid_same_rack": Flag = false,
        "Sender and receiver hang on different switches (poisson: unless paired one to one)", only RANDOM;
    "hot": Texts, "The hot hosts, in place of `hot_share`", only HOTSPOT;
    "hot_share": Number = 0.125, "The part of the destinations that is hot, evenly spread", only HOTSPOT;
    "hot_fraction": Number = 0.15,
        "The part of the flows that goes to hot hosts (of a lone hot host: to all)", only HOTSPOT;
    "class_by_size": Tables, "Classes of smaller flows: { up_to = \"10KB\", class = \"mice\" }", only RANDOM;
    "degree": Special("a whole number or a range such as \"1..15\""), "Senders of one event", only INCAST;
    "same_size": Flag = false,
        "All flows of one event are of one size", only "with kind = \"incast\" and sizes that differ";
    "times": Texts, "When events happen, counted from `start`, in place of `load`", only INCAST;
    "period": Time, "From one event to the next, in place of `load`", only INCAST;
    "events": Count, "It ends after this many events; not with `times`", only INCAST;
    "burst": SIZES, "Bytes handed over at once", only ON_OFF;
    "rate": Rate, "Mean rate of each connection", only ON_OFF;
    "off": Time, "Silence after a burst could have left at full rate, in place of `rate`", only ON_OFF;
    "gaps": Choice(&["fixed", "exponential"]) = "fixed", "How gaps are drawn", only ON_OFF;
    "clients": Texts, "The hosts that read", only READS;
    "servers": Texts, "The hosts read from, by every client", only READS;
    "unit": SIZES, "What each server sends for one block", only READS;
    "blocks": Count, "Blocks that each client reads", only READS;
    "connections": Choice(&["persistent", "fresh"]) = "persistent",
        "Connections that stay open and keep their rate (reads: units in whole packets), or a new flow for each unit or message", only "with kind = \"synchronised-reads\", and to jobs";
    "request_delay": Time = "0ps", "From the end of a block to the answers for the next", only READS;
    "ranks": Texts else "all", "The GPUs (or hosts) it runs on, in the order of ranks, server by server", only JOBS;
    "iterations": Count = 1, "How often it does what it does", only JOBS;
    "straggler": Tables, "Ranks that are late or slow: { rank = 3, late = \"1ms\", slow = 1.5 }", only JOBS;
    "completion": Choice(&["delivered", "acknowledged"]) = "delivered",
        "When a message is over: its last byte has arrived, or its sender knows, as in ASTRA-sim on ns-3", only JOBS;
    "overhead": Time = "0ps", "What software takes for a message before the NIC has it", only JOBS;
    "compute": Time = "0ps", "Computing before it, in every iteration", only ONE;
    "step": Tables, "What it does: [[traffic.step]]", only "with kind = \"job\"";
    "bytes": Bytes, "The buffer, as nccl-tests counts it: of all-gather and its like, of all ranks", only COLLECTIVE;
    "group": Choice(&["all", "server", "rail"]) = "all",
        "Who takes part together: all ranks, those of a server, or those of one place in every server", only COLLECTIVE;
    "algorithm": Either(&[ALGORITHMS, Table]) = "ring",
        "How it is carried out; the three phases of `hierarchical` are serial, none overlaps another. Of traces one for each: { all-reduce = \"tree\" }", only SUMS;
    "channels": Count else "two for each NIC of a server", "Rings or trees that share the buffer", only LAID;
    "queue_pairs": Count = 1, "Queue pairs of each connection, each with a path of its own", only LAID;
    "split": Flag = false, "Every message is cut over all queue pairs, else they take turns", only LAID;
    "chunk": Bytes else "NCCL's", "What a channel sends to a peer in one step", only LAID;
    "slice": Bytes else "NCCL's", "The largest message", only LAID;
    "outstanding": Count else "NCCL's", "Messages under way on a connection; 0 for any number", only LAID;
    "peers": Count = 8, "Peers that a rank is busy with at a time; 0 for all", only MOE;
    "pxn": Flag = true, "By the GPU of the server that owns the destination's rail", only MOE;
    "skew": Number = 0, "Exponent of Zipf's law for what each rank gets; 0 is even", only MOE;
    "stages": Count else "as many as ranks", "Stages of the pipeline", only PIPELINE;
    "micro_batches": Count, "Micro-batches of an iteration", only PIPELINE;
    "forward": Time, "What a stage takes for a micro-batch", only PIPELINE;
    "backward": Time, "What it takes on the way back", only PIPELINE;
    "activation": Bytes, "What a stage sends to the next for a micro-batch, and back", only PIPELINE;
    "prefix": Text, "Traces are called PREFIX.RANK.et (protobuf) or PREFIX.RANK.json; packed with .gz", only CHAKRA;
    "groups": Text else "what METADATA nodes tell", "A JSON file of groups: {\"1\": [0, 1]}", only CHAKRA;
    "deps": OneOf(DEPS) = "both",
        "Which dependencies hold: data and control, as in ASTRA-sim, or data alone, as in mlcommons' feeder", only CHAKRA;
    "resources": OneOf(RESOURCES) = "astra",
        "What a rank does at a time: one thing on CPU and GPU and one collective or send, or one in each CUDA stream", only CHAKRA;
    "matching": OneOf(MATCHING) = "attributes",
        "How sends find receives that say not from whom: not at all, or within groups of two by their order", only CHAKRA;
    "doubts": OneOf(DOUBTS) = "refuse",
        "What becomes of traces that look as if a converter had lost something", only CHAKRA;
    "peak_tflops": Number, "What a GPU computes, in place of durations where `num_ops` is given", only CHAKRA;
    "memory_bandwidth": Number, "GB/s of its memory, with `peak_tflops`: the slower of both counts", only CHAKRA;
    "endpoint_delay": Time = "0ps", "From a message's arrival to what its receiver does with it", only CHAKRA;
    "schedule": OneOf(SCHEDULE) = "1f1b", "All forward first, or in turn", only PIPELINE;
};

const ALGORITHMS: Kind = kind!(OneOf(ALGORITHM));

/// `algorithm` of traces, as a table.
const OF_TRACES: &[Key] = keys! {
    "all-reduce": OneOf(ALGORITHM) = "ring", "How all-reduces are carried out";
    "reduce-scatter": OneOf(ALGORITHM) = "ring", "How reduce-scatters are";
    "all-gather": OneOf(ALGORITHM) = "ring", "How all-gathers are";
};

/// `[[traffic.step]]`; those of collectives have their keys too.
const STEPS: &[Key] = keys! {
    "do": OneOf(STEP), "What every rank does";
    "name": Text else "what it does and its number", "What results call it";
    "after": Texts else "the step before it", "The steps that come before it; none with []";
    "duration": Time, "How long", only "with do = \"compute\"";
};

/// One entry of `straggler`.
const STRAGGLER: &[Key] = keys! {
    "rank": Count, "Which rank";
    "late": Time, "How much later it starts";
    "slow": Number, "By how much its computing takes longer";
};

/// `[[traffic.flow]]`.
const FLOW: &[Key] = keys! {
    "name": Text else "the table's name and a number", "What results call it";
    "src": Text, "The host that sends";
    "dst": Text, "The host that receives";
    "size": Bytes else "endless", "Payload to send";
    "start": Time else "that of the table", "When it begins";
    "stop": Time, "Ends it", only "to endless flows, those without `size`";
    "class": Text else "that of the table", "Its traffic class";
    "scheme": Text else "that of the table", "Its congestion control";
    "weight": Count else "that of the table", "The share it deserves, where the scheme knows weights";
    "initial_rate": Rate else "line rate", "Rate it starts at; without end-to-end control it stays there";
    "rate_cap": Rate, "The application's own limit";
    "path": Texts, "Pins it to these nodes in order";
    "multipath": Flag else "that of the table", "Its packets take paths as [routing] says; false: one path, by a hash";
    "probe": Flag else "that of the table", "Flow probes sample it";
    "caps": Tables, "Changes of `rate_cap`: { at = \"3s\", rate = \"1Gbps\" }";
};

/// One entry of `caps`.
const CAP: &[Key] = keys! {
    "at": Time, "When the limit changes";
    "rate": Special("a rate above zero, or \"none\""), "The new limit of each flow, or none";
};

/// One entry of `class_by_size`.
const SIZE_CLASS: &[Key] = keys! {
    "up_to": Bytes, "The largest size of the class";
    "class": Text, "The class of flows that no entry before it takes";
};

/// A table in place of a size.
const DISTRIBUTION: &[Key] = keys! {
    "kind": Choice(&["fixed", "uniform", "pareto", "exponential"]), "The distribution";
    "size": Bytes, "The size", only "with kind = \"fixed\"";
    "min": Bytes, "The smallest size", only "with kind = \"uniform\"";
    "max": Bytes, "The largest size", only "with kind = \"uniform\"";
    "mean": Bytes, "The mean size", only "with kind = \"pareto\" or \"exponential\"";
    "shape": Number, "The tail index, above 1", only "with kind = \"pareto\"";
};

/// All sections below `[[traffic]]`.
pub const SECTIONS: &[Section] = sections! {
    [["traffic"]] "Who sends what, and when; any number side by side" { = TRAFFIC }
    [["traffic.flow"]] "One flow of kind = \"flows\"" { = FLOW }
    [["traffic.step"]] "One step of kind = \"job\"" { = STEPS }
    ["traffic.algorithm"] "How collectives of traces are carried out" { = OF_TRACES }
    [["traffic.straggler"]] "Ranks that are late or slow" { = STRAGGLER }
    [["traffic.caps"]] "Changes of the flows' application limit" { = CAP }
    [["traffic.flow.caps"]] "Changes of the flow's application limit" { = CAP }
    [["traffic.class_by_size"]] "Classes of smaller flows, by size in ascending order" { = SIZE_CLASS }
    ["traffic.sizes"] "Sizes from a formula" { = DISTRIBUTION }
    ["traffic.size"] "Sizes from a formula" { = DISTRIBUTION }
    ["traffic.burst"] "Sizes from a formula" { = DISTRIBUTION }
    ["traffic.unit"] "Sizes from a formula" { = DISTRIBUTION }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for section in SECTIONS {
            let mut names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            let before = names.len();
            names.dedup();
            assert_eq!(names.len(), before, "{}", section.path);
        }
    }
}
