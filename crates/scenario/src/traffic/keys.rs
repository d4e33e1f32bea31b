//! The keys of `[[traffic]]`, for the dictionary of scenarios.

use crate::dictionary::key::{Key, Kind, Section};

/// What a flow size may be written as.
const SIZES: Kind = Kind::Special("a size such as \"64KB\", a workload such as \"websearch\", a .csv file, or a table");

const KINDS: Kind = Kind::Choice(&[
    "flows",
    "flow-list",
    "long-lived",
    "burst",
    "permutation",
    "all-to-all",
    "poisson",
    "hotspot",
    "incast",
    "on-off",
    "synchronised-reads",
    "all-reduce",
    "reduce-scatter",
    "all-gather",
    "broadcast",
    "reduce",
    "pipeline",
    "job",
    "chakra",
]);

const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    applies: &'static str,
    meaning: &'static str,
) -> Key {
    Key { name, kind, default, applies, meaning }
}

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
pub const TRAFFIC: &[Key] = &[
    key("kind", KINDS, "", "", "What generates the flows"),
    key("name", Kind::Text, "the kind and its number", "", "What results call its flows"),
    key("class", Kind::Text, "the first data class", "", "The traffic class of its flows"),
    key("scheme", Kind::Text, "that of [scheme]", "", "The congestion control of its flows"),
    key("weight", Kind::Count, "1", "", "The share a flow deserves, where the scheme knows weights"),
    key(
        "initial_rate",
        Kind::Rate,
        "line rate",
        "",
        "Rate each flow starts at; without end-to-end control it stays there",
    ),
    key("rate_cap", Kind::Rate, "", "", "The application's own limit for each flow"),
    key(
        "path",
        Kind::Texts,
        "",
        "",
        "Pins the flows to these nodes in order; the hosts may be left out, \"s1#0\" picks one of parallel links",
    ),
    key("probe", Kind::Flag, "true for flows, long-lived and on-off", "", "Flow probes sample these flows"),
    key("start", Kind::Time, "0ps", "", "When it begins"),
    key("flow", Kind::Tables, "", "with kind = \"flows\"", "The flows"),
    key(
        "file",
        Kind::Text,
        "",
        "with kind = \"flow-list\" or \"chakra\"",
        "Rows of src,dst,size_bytes,start_us[,class,scheme]; traces of all ranks as `xoff import chakra` writes them",
    ),
    key(
        "sources",
        Kind::Texts,
        "",
        "with kind = \"long-lived\", \"burst\", \"on-off\", \"poisson\", \"hotspot\" or \"incast\"",
        "The hosts that send; all hosts for random traffic that names none",
    ),
    key(
        "destinations",
        Kind::Texts,
        "",
        "with kind = \"long-lived\", \"burst\", \"on-off\", \"poisson\", \"hotspot\" or \"incast\"",
        "The hosts that receive; all hosts for random traffic that names none",
    ),
    key(
        "pairing",
        Kind::Choice(&["one-to-one", "all", "random"]),
        "one-to-one; random for poisson",
        "with kind = \"long-lived\", \"burst\", \"on-off\" or \"poisson\"",
        "Who sends to whom: in order (a lone host meets all), each to all (not poisson), or by lot (not on-off)",
    ),
    key("hosts", Kind::Texts, "*", EVERYONE, "The hosts that take part"),
    key("size", SIZES, "endless", BATCHES, "The size of each flow; `burst` needs one"),
    key(
        "sizes",
        SIZES,
        "",
        "with kind = \"poisson\", \"hotspot\", \"incast\" or \"all-to-all\"",
        "The distribution of sizes",
    ),
    key("flows_per_pair", Kind::Count, "1", BATCHES, "Flows between each pair of hosts"),
    key("stagger", Kind::Time, "0ps", STAGGERED, "From one start to the next: of flows, or of rounds in all-to-all"),
    key("stop", Kind::Time, "", ENDLESS, "Ends endless flows"),
    key("caps", Kind::Tables, "", CAPPED, "Changes of `rate_cap`: { at = \"3s\", rate = \"1Gbps\" }"),
    key("shuffle", Kind::Flag, "true", "with kind = \"all-to-all\"", "Rounds follow a random order of the hosts"),
    key("load", Kind::Number, "", RANDOM, "Offered part of the senders' links (incast: the receivers' links)"),
    key(
        "load_of",
        Kind::Texts,
        "",
        "with `load`",
        "Ports whose rates `load` is a part of; all the traffic should cross them",
    ),
    key(
        "load_counts",
        Kind::Choice(&["payload", "wire"]),
        "payload",
        "with `load`",
        "Whether headers (also the scheme's) and gaps count",
    ),
    key("offered", Kind::Rate, "", RANDOM, "Payload offered in all, in place of `load`"),
    key("rate_per_second", Kind::Number, "", RANDOM, "Flows (incast: events) per second, in place of `load`"),
    key("flows", Kind::Count, "", RANDOM, "It ends after this many flows"),
    key("until", Kind::Time, "", OPEN, "Nothing new starts at or after"),
    key(
        "avoid_same_rack",
        Kind::Flag,
        "false",
        RANDOM,
        "Sender and receiver hang on different switches (poisson: unless paired one to one)",
    ),
    key("hot", Kind::Texts, "", HOTSPOT, "The hot hosts, in place of `hot_share`"),
    key("hot_share", Kind::Number, "0.125", HOTSPOT, "The part of the destinations that is hot, evenly spread"),
    key(
        "hot_fraction",
        Kind::Number,
        "0.15",
        HOTSPOT,
        "The part of the flows that goes to hot hosts (of a lone hot host: to all)",
    ),
    key("class_by_size", Kind::Tables, "", RANDOM, "Classes of smaller flows: { up_to = \"10KB\", class = \"mice\" }"),
    key("degree", Kind::Special("a whole number or a range such as \"1..15\""), "", INCAST, "Senders of one event"),
    key(
        "same_size",
        Kind::Flag,
        "false",
        "with kind = \"incast\" and sizes that differ",
        "All flows of one event are of one size",
    ),
    key("times", Kind::Texts, "", INCAST, "When events happen, counted from `start`, in place of `load`"),
    key("period", Kind::Time, "", INCAST, "From one event to the next, in place of `load`"),
    key("events", Kind::Count, "", INCAST, "It ends after this many events; not with `times`"),
    key("burst", SIZES, "", ON_OFF, "Bytes handed over at once"),
    key("rate", Kind::Rate, "", ON_OFF, "Mean rate of each connection"),
    key("off", Kind::Time, "", ON_OFF, "Silence after a burst could have left at full rate, in place of `rate`"),
    key("gaps", Kind::Choice(&["fixed", "exponential"]), "fixed", ON_OFF, "How gaps are drawn"),
    key("clients", Kind::Texts, "", READS, "The hosts that read"),
    key("servers", Kind::Texts, "", READS, "The hosts read from, by every client"),
    key("unit", SIZES, "", READS, "What each server sends for one block"),
    key("blocks", Kind::Count, "", READS, "Blocks that each client reads"),
    key(
        "connections",
        Kind::Choice(&["persistent", "fresh"]),
        "persistent",
        "with kind = \"synchronised-reads\", and to jobs",
        "Connections that stay open and keep their rate (reads: units in whole packets), or a new flow for each unit \
         or message",
    ),
    key("request_delay", Kind::Time, "0ps", READS, "From the end of a block to the answers for the next"),
    key("ranks", Kind::Texts, "all", JOBS, "The GPUs (or hosts) it runs on, in the order of ranks, server by server"),
    key("iterations", Kind::Count, "1", JOBS, "How often it does what it does"),
    key("straggler", Kind::Tables, "", JOBS, "Ranks that are late or slow: { rank = 3, late = \"1ms\", slow = 1.5 }"),
    key(
        "completion",
        Kind::Choice(&["delivered", "acknowledged"]),
        "delivered",
        JOBS,
        "When a message is over: its last byte has arrived, or its sender knows, as in ASTRA-sim on ns-3",
    ),
    key("overhead", Kind::Time, "0ps", JOBS, "What software takes for a message before the NIC has it"),
    key("compute", Kind::Time, "0ps", ONE, "Computing before it, in every iteration"),
    key("step", Kind::Tables, "", "with kind = \"job\"", "What it does: [[traffic.step]]"),
    key(
        "bytes",
        Kind::Bytes,
        "",
        COLLECTIVE,
        "The buffer, as nccl-tests counts it: of all-gather and its like, of all ranks",
    ),
    key(
        "group",
        Kind::Choice(&["all", "server", "rail"]),
        "all",
        COLLECTIVE,
        "Who takes part together: all ranks, those of a server, or those of one place in every server",
    ),
    key(
        "algorithm",
        Kind::Either(&[ALGORITHM, Kind::Table]),
        "ring",
        SUMS,
        "How it is carried out; the three phases of `hierarchical` are serial, none overlaps another. Of traces one for each: { all-reduce = \"tree\" }",
    ),
    key("channels", Kind::Count, "two for each NIC of a server", LAID, "Rings or trees that share the buffer"),
    key("queue_pairs", Kind::Count, "1", LAID, "Queue pairs of each connection, each with a path of its own"),
    key("split", Kind::Flag, "false", LAID, "Every message is cut over all queue pairs, else they take turns"),
    key("chunk", Kind::Bytes, "NCCL's", LAID, "What a channel sends to a peer in one step"),
    key("slice", Kind::Bytes, "NCCL's", LAID, "The largest message"),
    key("outstanding", Kind::Count, "NCCL's", LAID, "Messages under way on a connection; 0 for any number"),
    key("peers", Kind::Count, "8", MOE, "Peers that a rank is busy with at a time; 0 for all"),
    key("pxn", Kind::Flag, "true", MOE, "By the GPU of the server that owns the destination's rail"),
    key("skew", Kind::Number, "0", MOE, "Exponent of Zipf's law for what each rank gets; 0 is even"),
    key("stages", Kind::Count, "as many as ranks", PIPELINE, "Stages of the pipeline"),
    key("micro_batches", Kind::Count, "", PIPELINE, "Micro-batches of an iteration"),
    key("forward", Kind::Time, "", PIPELINE, "What a stage takes for a micro-batch"),
    key("backward", Kind::Time, "", PIPELINE, "What it takes on the way back"),
    key("activation", Kind::Bytes, "", PIPELINE, "What a stage sends to the next for a micro-batch, and back"),
    key(
        "prefix",
        Kind::Text,
        "",
        CHAKRA,
        "Traces are called PREFIX.RANK.et (protobuf) or PREFIX.RANK.json; packed with .gz",
    ),
    key("groups", Kind::Text, "what METADATA nodes tell", CHAKRA, "A JSON file of groups: {\"1\": [0, 1]}"),
    key(
        "deps",
        Kind::Choice(&["both", "data"]),
        "both",
        CHAKRA,
        "Which dependencies hold: data and control, as in ASTRA-sim, or data alone, as in mlcommons' feeder",
    ),
    key(
        "resources",
        Kind::Choice(&["astra", "stream"]),
        "astra",
        CHAKRA,
        "What a rank does at a time: one thing on CPU and GPU and one collective or send, or one in each CUDA stream",
    ),
    key(
        "matching",
        Kind::Choice(&["attributes", "order"]),
        "attributes",
        CHAKRA,
        "How sends find receives that say not from whom: not at all, or within groups of two by their order",
    ),
    key(
        "doubts",
        Kind::Choice(&["refuse", "note"]),
        "refuse",
        CHAKRA,
        "What becomes of traces that look as if a converter had lost something",
    ),
    key("peak_tflops", Kind::Number, "", CHAKRA, "What a GPU computes, in place of durations where `num_ops` is given"),
    key(
        "memory_bandwidth",
        Kind::Number,
        "",
        CHAKRA,
        "GB/s of its memory, with `peak_tflops`: the slower of both counts",
    ),
    key("endpoint_delay", Kind::Time, "0ps", CHAKRA, "From a message's arrival to what its receiver does with it"),
    key("schedule", Kind::Choice(&["gpipe", "1f1b"]), "1f1b", PIPELINE, "All forward first, or in turn"),
];

const ALGORITHM: Kind = Kind::Choice(&["ring", "tree", "halving-doubling", "hierarchical"]);

/// `algorithm` of traces, as a table.
pub const ALGORITHMS: &[Key] = &[
    key("all-reduce", ALGORITHM, "ring", "", "How all-reduces are carried out"),
    key("reduce-scatter", ALGORITHM, "ring", "", "How reduce-scatters are"),
    key("all-gather", ALGORITHM, "ring", "", "How all-gathers are"),
];

/// `[[traffic.step]]`; those of collectives have their keys too.
pub const STEP: &[Key] = &[
    key(
        "do",
        Kind::Choice(&[
            "compute",
            "all-reduce",
            "reduce-scatter",
            "all-gather",
            "all-to-all",
            "broadcast",
            "reduce",
            "barrier",
        ]),
        "",
        "",
        "What every rank does",
    ),
    key("name", Kind::Text, "what it does and its number", "", "What results call it"),
    key("after", Kind::Texts, "the step before it", "", "The steps that come before it; none with []"),
    key("duration", Kind::Time, "", "with do = \"compute\"", "How long"),
];

/// One entry of `straggler`.
pub const STRAGGLER: &[Key] = &[
    key("rank", Kind::Count, "", "", "Which rank"),
    key("late", Kind::Time, "", "", "How much later it starts"),
    key("slow", Kind::Number, "", "", "By how much its computing takes longer"),
];

/// `[[traffic.flow]]`.
pub const FLOW: &[Key] = &[
    key("name", Kind::Text, "the table's name and a number", "", "What results call it"),
    key("src", Kind::Text, "", "", "The host that sends"),
    key("dst", Kind::Text, "", "", "The host that receives"),
    key("size", Kind::Bytes, "endless", "", "Payload to send"),
    key("start", Kind::Time, "that of the table", "", "When it begins"),
    key("stop", Kind::Time, "", "to endless flows, those without `size`", "Ends it"),
    key("class", Kind::Text, "that of the table", "", "Its traffic class"),
    key("scheme", Kind::Text, "that of the table", "", "Its congestion control"),
    key("weight", Kind::Count, "that of the table", "", "The share it deserves, where the scheme knows weights"),
    key("initial_rate", Kind::Rate, "line rate", "", "Rate it starts at; without end-to-end control it stays there"),
    key("rate_cap", Kind::Rate, "", "", "The application's own limit"),
    key("path", Kind::Texts, "", "", "Pins it to these nodes in order"),
    key("probe", Kind::Flag, "that of the table", "", "Flow probes sample it"),
    key("caps", Kind::Tables, "", "", "Changes of `rate_cap`: { at = \"3s\", rate = \"1Gbps\" }"),
];

/// One entry of `caps`.
pub const CAP: &[Key] = &[
    key("at", Kind::Time, "", "", "When the limit changes"),
    key("rate", Kind::Special("a rate above zero, or \"none\""), "", "", "The new limit of each flow, or none"),
];

/// One entry of `class_by_size`.
pub const SIZE_CLASS: &[Key] = &[
    key("up_to", Kind::Bytes, "", "", "The largest size of the class"),
    key("class", Kind::Text, "", "", "The class of flows that no entry before it takes"),
];

/// A table in place of a size.
pub const DISTRIBUTION: &[Key] = &[
    key("kind", Kind::Choice(&["fixed", "uniform", "pareto", "exponential"]), "", "", "The distribution"),
    key("size", Kind::Bytes, "", "with kind = \"fixed\"", "The size"),
    key("min", Kind::Bytes, "", "with kind = \"uniform\"", "The smallest size"),
    key("max", Kind::Bytes, "", "with kind = \"uniform\"", "The largest size"),
    key("mean", Kind::Bytes, "", "with kind = \"pareto\" or \"exponential\"", "The mean size"),
    key("shape", Kind::Number, "", "with kind = \"pareto\"", "The tail index, above 1"),
];

const fn section(path: &'static str, repeated: bool, meaning: &'static str, keys: &'static [Key]) -> Section {
    Section { path, repeated, meaning, keys }
}

/// All sections below `[[traffic]]`.
pub const SECTIONS: &[Section] = &[
    section("traffic", true, "Who sends what, and when; any number side by side", TRAFFIC),
    section("traffic.flow", true, "One flow of kind = \"flows\"", FLOW),
    section("traffic.step", true, "One step of kind = \"job\"", STEP),
    section("traffic.algorithm", false, "How collectives of traces are carried out", ALGORITHMS),
    section("traffic.straggler", true, "Ranks that are late or slow", STRAGGLER),
    section("traffic.caps", true, "Changes of the flows' application limit", CAP),
    section("traffic.flow.caps", true, "Changes of the flow's application limit", CAP),
    section("traffic.class_by_size", true, "Classes of smaller flows, by size in ascending order", SIZE_CLASS),
    section("traffic.sizes", false, "Sizes from a formula", DISTRIBUTION),
    section("traffic.size", false, "Sizes from a formula", DISTRIBUTION),
    section("traffic.burst", false, "Sizes from a formula", DISTRIBUTION),
    section("traffic.unit", false, "Sizes from a formula", DISTRIBUTION),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed() {
        let names: Vec<&str> = crate::traffic::read::KINDS.iter().map(|(name, _)| *name).collect();
        assert_eq!(KINDS, Kind::Choice(names.leak()));
    }

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
