//! The keys of `[[traffic]]`, for the dictionary of scenarios.

use crate::scenario::dictionary::{Key, Kind, Section};

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
const EVERYONE: &str = "with kind = \"permutation\" or \"all-to-all\"";

/// `[[traffic]]`.
pub const TRAFFIC: &[Key] = &[
    key("kind", KINDS, "", "", "what generates the flows"),
    key("name", Kind::Text, "the kind and its number", "", "what results call its flows"),
    key("class", Kind::Text, "the first data class", "", "the traffic class of its flows"),
    key("scheme", Kind::Text, "that of [scheme]", "", "the congestion control of its flows"),
    key("weight", Kind::Count, "1", "", "the share a flow deserves, where the scheme knows weights"),
    key(
        "initial_rate",
        Kind::Rate,
        "",
        "",
        "rate each flow starts at, in place of line rate; without control it stays",
    ),
    key("rate_cap", Kind::Rate, "", "", "the application's own limit for each flow"),
    key(
        "path",
        Kind::Texts,
        "",
        "",
        "pins the flows to these nodes in order; the hosts may be left out, \"s1#0\" picks one of parallel links",
    ),
    key("probe", Kind::Flag, "true for flows, long-lived and on-off", "", "flow probes sample these flows"),
    key("start", Kind::Time, "0ps", "", "when it begins"),
    key("flow", Kind::Tables, "", "with kind = \"flows\"", "the flows"),
    key("file", Kind::Text, "", "with kind = \"flow-list\"", "rows of src,dst,size_bytes,start_us[,class,scheme]"),
    key(
        "sources",
        Kind::Texts,
        "",
        "with kind = \"long-lived\", \"burst\", \"on-off\", \"poisson\", \"hotspot\" or \"incast\"",
        "the hosts that send; all hosts for random traffic that names none",
    ),
    key(
        "destinations",
        Kind::Texts,
        "",
        "with kind = \"long-lived\", \"burst\", \"on-off\", \"poisson\", \"hotspot\" or \"incast\"",
        "the hosts that receive; all hosts for random traffic that names none",
    ),
    key(
        "pairing",
        Kind::Choice(&["one-to-one", "all", "random"]),
        "one-to-one; random for poisson",
        "with kind = \"long-lived\", \"burst\", \"on-off\" or \"poisson\"",
        "who sends to whom: in order (a lone host meets all), each to all (not poisson), or by lot (not on-off)",
    ),
    key("hosts", Kind::Texts, "*", EVERYONE, "the hosts that take part"),
    key("size", SIZES, "endless", BATCHES, "the size of each flow; `burst` needs one"),
    key(
        "sizes",
        SIZES,
        "",
        "with kind = \"poisson\", \"hotspot\", \"incast\" or \"all-to-all\"",
        "the distribution of sizes",
    ),
    key("flows_per_pair", Kind::Count, "1", BATCHES, "flows between each pair of hosts"),
    key("stagger", Kind::Time, "0ps", STAGGERED, "from one start to the next: of flows, or of rounds in all-to-all"),
    key("stop", Kind::Time, "", ENDLESS, "ends endless flows"),
    key("caps", Kind::Tables, "", CAPPED, "changes of `rate_cap`: { at = \"3s\", rate = \"1Gbps\" }"),
    key("shuffle", Kind::Flag, "true", "with kind = \"all-to-all\"", "rounds follow a random order of the hosts"),
    key("load", Kind::Number, "", RANDOM, "offered part of the senders' links (incast: the receivers' links)"),
    key(
        "load_of",
        Kind::Texts,
        "",
        "with `load`",
        "ports whose rates `load` is a part of; all the traffic should cross them",
    ),
    key("load_counts", Kind::Choice(&["payload", "wire"]), "payload", "with `load`", "whether headers and gaps count"),
    key("offered", Kind::Rate, "", RANDOM, "payload offered in all, in place of `load`"),
    key("rate_per_second", Kind::Number, "", RANDOM, "flows (incast: events) per second, in place of `load`"),
    key("flows", Kind::Count, "", RANDOM, "it ends after this many flows"),
    key("until", Kind::Time, "", OPEN, "nothing new starts at or after"),
    key(
        "avoid_same_rack",
        Kind::Flag,
        "false",
        RANDOM,
        "sender and receiver hang on different switches (poisson: unless paired one to one)",
    ),
    key("hot", Kind::Texts, "", HOTSPOT, "the hot hosts, in place of `hot_share`"),
    key("hot_share", Kind::Number, "0.125", HOTSPOT, "the part of the destinations that is hot, evenly spread"),
    key("hot_fraction", Kind::Number, "0.15", HOTSPOT, "the part of the flows that goes to hot hosts"),
    key("degree", Kind::Special("a whole number or a range such as \"1..15\""), "", INCAST, "senders of one event"),
    key("times", Kind::Texts, "", INCAST, "when events happen, counted from `start`, in place of `load`"),
    key("period", Kind::Time, "", INCAST, "from one event to the next, in place of `load`"),
    key("events", Kind::Count, "", INCAST, "it ends after this many events; not with `times`"),
    key("burst", SIZES, "", ON_OFF, "bytes handed over at once"),
    key("rate", Kind::Rate, "", ON_OFF, "mean rate of each connection"),
    key("off", Kind::Time, "", ON_OFF, "silence after a burst could have left at full rate, in place of `rate`"),
    key("gaps", Kind::Choice(&["fixed", "exponential"]), "fixed", ON_OFF, "how gaps are drawn"),
    key("clients", Kind::Texts, "", READS, "the hosts that read"),
    key("servers", Kind::Texts, "", READS, "the hosts read from, by every client"),
    key("unit", SIZES, "", READS, "what each server sends for one block"),
    key("blocks", Kind::Count, "", READS, "blocks that each client reads"),
    key("request_delay", Kind::Time, "0ps", READS, "from the end of a block to the answers for the next"),
];

/// `[[traffic.flow]]`.
pub const FLOW: &[Key] = &[
    key("name", Kind::Text, "the table's name and a number", "", "what results call it"),
    key("src", Kind::Text, "", "", "the host that sends"),
    key("dst", Kind::Text, "", "", "the host that receives"),
    key("size", Kind::Bytes, "endless", "", "payload to send"),
    key("start", Kind::Time, "that of the table", "", "when it begins"),
    key("stop", Kind::Time, "", "to endless flows, those without `size`", "ends it"),
    key("class", Kind::Text, "that of the table", "", "its traffic class"),
    key("scheme", Kind::Text, "that of the table", "", "its congestion control"),
    key("weight", Kind::Count, "that of the table", "", "the share it deserves, where the scheme knows weights"),
    key("initial_rate", Kind::Rate, "", "", "rate the flow starts at, in place of line rate; without control it stays"),
    key("rate_cap", Kind::Rate, "", "", "the application's own limit"),
    key("path", Kind::Texts, "", "", "pins it to these nodes in order"),
    key("probe", Kind::Flag, "that of the table", "", "flow probes sample it"),
    key("caps", Kind::Tables, "", "", "changes of `rate_cap`: { at = \"3s\", rate = \"1Gbps\" }"),
];

/// One entry of `caps`.
pub const CAP: &[Key] = &[
    key("at", Kind::Time, "", "", "when the limit changes"),
    key("rate", Kind::Special("a rate above zero, or \"none\""), "", "", "the new limit of each flow, or none"),
];

/// A table in place of a size.
pub const DISTRIBUTION: &[Key] = &[
    key("kind", Kind::Choice(&["fixed", "uniform", "pareto", "exponential"]), "", "", "the distribution"),
    key("size", Kind::Bytes, "", "with kind = \"fixed\"", "the size"),
    key("min", Kind::Bytes, "", "with kind = \"uniform\"", "the smallest size"),
    key("max", Kind::Bytes, "", "with kind = \"uniform\"", "the largest size"),
    key("mean", Kind::Bytes, "", "with kind = \"pareto\" or \"exponential\"", "the mean size"),
    key("shape", Kind::Number, "", "with kind = \"pareto\"", "the tail index, above 1"),
];

const fn section(path: &'static str, repeated: bool, meaning: &'static str, keys: &'static [Key]) -> Section {
    Section { path, repeated, meaning, keys }
}

/// All sections below `[[traffic]]`.
pub const SECTIONS: &[Section] = &[
    section("traffic", true, "who sends what, and when; any number side by side", TRAFFIC),
    section("traffic.flow", true, "one flow of kind = \"flows\"", FLOW),
    section("traffic.caps", true, "changes of the flows' application limit", CAP),
    section("traffic.flow.caps", true, "changes of the flow's application limit", CAP),
    section("traffic.sizes", false, "sizes from a formula", DISTRIBUTION),
    section("traffic.size", false, "sizes from a formula", DISTRIBUTION),
    section("traffic.burst", false, "sizes from a formula", DISTRIBUTION),
    section("traffic.unit", false, "sizes from a formula", DISTRIBUTION),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed() {
        let names: Vec<&str> = crate::traffic::KINDS.iter().map(|(name, _)| *name).collect();
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
