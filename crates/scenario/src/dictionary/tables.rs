//! The rows of the dictionary.

use super::{Key, Kind, Section};
use Kind::{Bytes, Choice, Count, Either, Flag, Number, Rate, Special, Table, Tables, Text, Texts, Time};
use xoff_fabric::buffer::Rule;

const fn key(name: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Key {
    Key::new(name, kind, default, meaning)
}

const OFF: Kind = Choice(&["off"]);
const PFC_RESPONSE: &str = "From the arrival of a PAUSE or RESUME to its effect at a port, counted in the headroom of \
     the ingress that sends it; \"ieee\" is the longest that IEEE 802.3 allows at the port's speed";

pub(super) const SECTIONS: &[Section] = &[
    Section {
        path: "",
        repeated: false,
        meaning: "What the scenario is called and how it is repeated",
        keys: &[
            key("name", Text, "\"scenario\"", "What results call it"),
            key("description", Text, "\"\"", "What it shows, for whoever reads the results"),
            key("seed", Count, "1", "Seed of everything random; another seed is another draw of the same experiment"),
            key("run", Table, "", "How long it runs and what ends it"),
            key("topology", Table, "", "The network"),
            key(
                "class",
                Tables,
                "",
                "Traffic classes; without any there are `data` (priority 3, lossless) and `control` (6, lossy)",
            ),
            key("switch", Table, "", "How switches behave"),
            key("switch_profile", Tables, "", "How some switches differ"),
            key("host", Table, "", "How hosts behave"),
            key("model", Table, "", "How the simulator itself counts and chooses"),
            key("host_profile", Tables, "", "How some hosts differ"),
            key("scheme", Table, "", "The congestion control of all traffic that names none"),
            key("schemes", Table, "", "Further schemes, [schemes.NAME], that traffic may name"),
            key("groups", Table, "", "Named selections of hosts: rack6 = [\"@leaf5\"]"),
            key("traffic", Tables, "", "Who sends what, and when"),
            key("fault", Tables, "", "What goes wrong, and when"),
            key("probe", Tables, "", "What is sampled over time"),
            key("capture", Tables, "", "Ports whose frames are written as pcapng files"),
            key("measure", Tables, "", "Numbers and curves taken from the run"),
            key("output", Table, "", "What is kept besides the tables"),
        ],
    },
    Section {
        path: "run",
        repeated: false,
        meaning: "How long it runs and what ends it",
        keys: &[
            key("stop", Time, "", "Simulated time at which the run ends; needed unless all traffic ends by itself"),
            key("stop_when_idle", Flag, "true", "End earlier, once all flows have ended and none will start"),
            key("allow_drops", Flag, "false", "Count drops in lossless classes instead of failing"),
            key("deadlock_check", Either(&[Time, OFF]), "\"1ms\"", "How often to look for a deadlock"),
            key("on_deadlock", Choice(&["stop", "record"]), "\"stop\"", "What a deadlock does to the run")
                .only("unless deadlock_check = \"off\""),
            key(
                "stall_after",
                Either(&[Time, OFF]),
                "\"50ms\"",
                "Fail when flows are unfinished and nothing was delivered for this long; a TCP flow that waits for its timer is not stalled",
            ),
        ],
    },
    Section { path: "topology", repeated: false, meaning: "The network", keys: TOPOLOGY },
    Section {
        path: "topology.link",
        repeated: true,
        meaning: "Links of a custom topology, between every node of `a` and every node of `b`",
        keys: &[
            key("a", Texts, "", "Nodes at one end: names, patterns or ranges"),
            key("b", Texts, "", "Nodes at the other end"),
            key("rate", Rate, "", "Rate from `a` to `b`"),
            key("delay", Time, "\"1us\"", "Propagation from `a` to `b`"),
            key("reverse_rate", Rate, "rate", "Rate from `b` to `a`"),
            key("reverse_delay", Time, "delay", "Propagation from `b` to `a`"),
            key("loss", Number, "0.0", "Probability that a frame is lost, either way"),
            key("count", Count, "1", "Parallel links per pair"),
        ],
    },
    Section {
        path: "topology.domain",
        repeated: true,
        meaning: "A datacentre; links between two are long-haul links, the switches at their ends gateways",
        keys: &[key("switches", Texts, "", "Its switches: names, patterns or ranges; hosts are where their switch is")],
    },
    Section {
        path: "topology.override",
        repeated: true,
        meaning: "Other values for some directions of some links",
        keys: &[
            key("links", Texts, "", "Ports from which the directions leave: \"tor0->agg1\", \"s0<->s1\" for both"),
            key("rate", Rate, "", "Their rate"),
            key("delay", Time, "", "Their propagation"),
            key("loss", Number, "", "Their probability of losing a frame"),
        ],
    },
    Section {
        path: "class",
        repeated: true,
        meaning: "A traffic class",
        keys: &[
            key("name", Text, "", "What traffic calls it"),
            key(
                "priority",
                Count,
                "",
                "IEEE 802.1 priority from 0 to 7; a higher one is served first among strict classes",
            ),
            key("lossless", Flag, "true", "Under PFC, never dropped; false drops at the tail"),
            key(
                "service",
                Choice(&["strict", "weighted", "round-robin"]),
                "\"strict\"",
                "Strict classes go before the others, which share by weight or take turns, a packet each",
            ),
            key("weight", Count, "1", "Share among weighted classes").only("with service = \"weighted\""),
            key("queue_limit", Bytes, "", "Longest egress queue").only("with lossless = false"),
            key("alpha", Number, "", "Longest egress queue as a share of the free buffer; the smaller limit counts")
                .only("with lossless = false"),
            key(
                "control",
                Flag,
                "false",
                "Carries acknowledgements and notifications; a class named `control` does unless another is marked",
            ),
        ],
    },
    Section {
        path: "switch",
        repeated: false,
        meaning: "How switches behave",
        keys: &[
            key("buffer", Bytes, "\"12MB\"", "Shared packet buffer"),
            key(
                "count_passing",
                Flag,
                "false",
                "A packet that finds its egress idle counts for its ingress for that instant, as if it had waited",
            ),
            key("pfc", Table, "", "Priority flow control").only("where a class is lossless"),
            key("pfc_response", Either(&[Time, Choice(&["ieee"])]), "\"0ps\"", PFC_RESPONSE)
                .only("where a class is lossless"),
            key("watchdog", Table, "", "PFC storm watchdog; off unless this table is there")
                .only("where a class is lossless"),
        ],
    },
    Section {
        path: "switch.pfc",
        repeated: false,
        meaning: "Priority flow control of lossless classes",
        keys: &[
            key(
                "threshold",
                Choice(Rule::NAMES),
                "\"dynamic\"",
                "Fixed thresholds, or a share of the free buffer; \"latched\" is \"dynamic\" with spill = \"latched\"",
            ),
            key("xoff", Bytes, "", "Pause an ingress (port, class) that holds more than this")
                .only("with threshold = \"static\""),
            key("xon", Bytes, "xoff - 2KB", "Resume at this or below").only("with threshold = \"static\""),
            key(
                "alpha",
                Either(&[Number, Choice(&["by-speed", "by-speed-up"])]),
                "0.125",
                "Share of the free shared buffer an ingress may use; \"by-speed\" doubles it with the port's speed, \"by-speed-up\" counts a speed between as the higher",
            )
            .only("unless threshold = \"static\""),
            key("alpha_base", Number, "0.125", "The share at NIC speed").only("with alpha by speed"),
            key("nic_rate", Rate, "the slowest host link", "The NIC speed").only("with alpha by speed"),
            key("reserve", Bytes, "\"4.096KB\"", "Bytes an ingress owns before it draws on the shared buffer")
                .only("unless threshold = \"static\""),
            key("resume_offset", Bytes, "\"3.072KB\"", "Resume this far below the threshold")
                .only("unless threshold = \"static\""),
            key(
                "resume_below",
                Bytes,
                "\"1B\"",
                "Resume also below this, however low the threshold; by default once nothing is held beyond the reserve",
            )
            .only("unless threshold = \"static\""),
            key(
                "spill",
                Choice(&["each", "latched"]),
                "\"each\"",
                "Which packets take headroom: each that finds no room within the threshold, where reaching it pauses too; or the first that is above it with itself in the buffer and all that follow until headroom is empty, which alone pauses",
            )
            .only("with threshold = \"dynamic\""),
            key(
                "headroom",
                Either(&[Bytes, Choice(&["auto", "bdp"])]),
                "\"auto\"",
                "Bytes an ingress may take after it paused; \"auto\" is what each link needs, \"bdp\" a multiple of what it holds",
            ),
            key("headroom_bdps", Count, "3", "Times rate x delay of the link").only("with headroom = \"bdp\""),
            key(
                "set_aside",
                Choice(&["class", "port", "none"]),
                "\"class\"",
                "Headroom and reserve are taken off the shared buffer for every lossless class of a port, once per port, or not at all: they are then limits, and nothing is kept free for them",
            ),
            key(
                "signalling",
                Choice(&["on-off", "timed"]),
                "\"on-off\"",
                "One PAUSE until one RESUME, or pauses that run out",
            ),
            key("pause_time", Time, "\"5us\"", "How long a PAUSE lasts").only("with signalling = \"timed\""),
            key("refresh", Time, "\"2us\"", "How often it is repeated while above XOFF")
                .only("with signalling = \"timed\""),
            key(
                "resume_at",
                Choice(&["departures", "checks"]),
                "\"departures\"",
                "When an ingress is found below XON: as its packets leave, or only as others arrive and at refreshes, \
                 which each egress then counts for itself",
            )
            .only("with signalling = \"timed\""),
            key("per_arrival", Flag, "true", "Also repeat it for every packet that arrives above XOFF")
                .only("with signalling = \"timed\" and resume_at = \"departures\""),
        ],
    },
    Section {
        path: "switch.watchdog",
        repeated: false,
        meaning: "PFC storm watchdog of egress queues",
        keys: &[
            key("poll", Time, "\"100ms\"", "How often it looks"),
            key("detect", Time, "\"200ms\"", "A queue paused, waiting and silent for this long is in a storm"),
            key("restore", Time, "\"200ms\"", "Back to normal after this long without PAUSE"),
            key(
                "action",
                Choice(&["drop", "forward"]),
                "\"drop\"",
                "Empty the queue and drop what comes, or ignore PAUSE",
            ),
        ],
    },
    Section {
        path: "switch_profile",
        repeated: true,
        meaning: "How some switches differ",
        keys: &[key("select", Texts, "", "The switches: names, patterns, ranges, or a layer such as \"leaf\"")],
    },
    Section {
        path: "host",
        repeated: false,
        meaning: "How hosts behave",
        keys: &[
            key("mtu", Bytes, "\"1KB\"", "Payload of a full packet, at most 9216 bytes"),
            key("ack_every", Count, "1", "RoCE: every n-th packet asks for an ACK, and the last before its sender falls silent (window full, or nothing more to send). A sender with a window asks at least four times in it, and its window leaves room for packets that have arrived and wait for the ACK of another; with `scheduler = \"scan\"` it does neither"),
            key(
                "ack_class",
                Choice(&["control", "data"]),
                "\"control\"",
                "The class ACKs travel in: the control class, or that of their data",
            ),
            key(
                "ack_path",
                Choice(&["ecmp", "symmetric"]),
                "\"ecmp\"",
                "ACKs take an ECMP path of their own, or retrace the data's",
            )
            .only("in [host]"),
            key("ack_delay", Time, "\"0ps\"", "From a packet's arrival to its ACK entering the NIC's queue"),
            key(
                "notify_delay",
                Time,
                "\"0ps\"",
                "From the decision to notify to the notification entering the NIC's queue",
            ),
            key("nak_interval", Time, "\"500us\"", "Repeat a NAK for the same packet no sooner than this"),
            key(
                "retransmit_timeout",
                Time,
                "\"10ms\"",
                "Go back to the oldest unacknowledged packet after this long without progress (never sooner than four base round trips)",
            ),
            key("pfc_response", Either(&[Time, Choice(&["ieee"])]), "\"0ps\"", PFC_RESPONSE)
                .only("where a class is lossless"),
            key("data_header", Bytes, "\"62B\"", "Headers and FCS of a data packet").only("in [host]"),
            key("ack_size", Bytes, "\"66B\"", "Frame of an ACK").only("in [host]"),
            key("tcp_header", Bytes, "\"58B\"", "Headers and FCS of a TCP segment, before options").only("in [host]"),
            key("tcp_ack_size", Bytes, "\"64B\"", "Frame of a TCP ACK, before options").only("in [host]"),
            key("notification_size", Bytes, "\"78B\"", "Frame of a congestion notification").only("in [host]"),
            key("pfc_size", Bytes, "\"64B\"", "Frame of a PAUSE or RESUME").only("in [host]"),
            key("gap", Bytes, "\"20B\"", "Preamble and inter-frame gap: wire time, never buffered").only("in [host]"),
            key("min_frame", Bytes, "\"64B\"", "Shorter data packets are padded to it").only("in [host]"),
            key(
                "scheduler",
                Choice(&["ready", "scan"]),
                "\"ready\"",
                "Flows that may send stand in line; or the NIC looks through all its flows in the order of their start, from the one after the last it served, and keeps one wake-up",
            ),
            key(
                "acks_paused_by",
                Either(&[Count, Choice(&["none"])]),
                "\"none\"",
                "The priority whose pause stops the NIC's one queue of ACKs; ACKs of another lossless class then ignore its PAUSE",
            )
            .only("with scheduler = \"scan\""),
            key(
                "follow_rate",
                Flag,
                "true",
                "A change of rate moves the time of the next packet, as if the gap had been computed with it",
            ),
            key("pace", Flag, "true", "Flows are spaced by their rate; false spaces them at line rate"),
            key(
                "inflight_cap",
                Choice(&["none", "longest-bdp", "path-bdp"]),
                "\"none\"",
                "Payload in flight at most one bandwidth-delay product: the largest of all pairs of hosts, or that of the flow's path",
            ),
            key(
                "inflight_rate",
                Choice(&["path", "line"]),
                "\"path\"",
                "The bandwidth of that product: the smallest of the path, or the NIC's",
            )
            .only("with an inflight_cap"),
            key("inflight_scales", Flag, "false", "The cap shrinks with the flow's rate over its line rate")
                .only("with an inflight_cap"),
        ],
    },
    Section {
        path: "model",
        repeated: false,
        meaning: "How the simulator itself counts and chooses; the defaults are exact and unbiased, the rest follows other simulators",
        keys: &[
            key(
                "time_grain",
                Choice(&["1ps", "1ns", "1ns-binary"]),
                "\"1ps\"",
                "Serialisation times and pacing gaps are rounded down to it; binary: from seconds of 64 binary digits, so that whole nanoseconds come out one short; refused where links would be far too fast",
            ),
            key(
                "ties",
                Choice(&["hash", "scheduled"]),
                "\"hash\"",
                "Events at one instant happen by kind and a hash without bias, or in the order in which they were scheduled",
            ),
            key(
                "ecmp",
                Choice(&["mix", "murmur3"]),
                "\"mix\"",
                "A hash of flow, seed and switch; or MurmurHash3 of addresses and ports with the switch's number as its seed",
            ),
            key(
                "next_hops",
                Choice(&["by-link", "descending"]),
                "\"by-link\"",
                "Order of equal next hops: as links are listed, or as a search from the destination meets them that takes neighbours by number, highest first",
            ),
            key(
                "base_rtt",
                Choice(&["wire", "payload"]),
                "\"wire\"",
                "Base round trips: a full packet out and an ACK back; or propagation both ways and a full payload out",
            ),
            key(
                "random",
                Choice(&["own", "shared"]),
                "\"own\"",
                "Marking by lot: every queue has a stream of its own; or all share one MRG32k3a, a new stream for every draw and PFC frame, in the order of events",
            ),
            key("first_stream", Count, "0", "The stream of the first draw").only("with random = \"shared\""),
        ],
    },
    Section {
        path: "host_profile",
        repeated: true,
        meaning: "How some hosts differ",
        keys: &[key("select", Texts, "", "The hosts: names, patterns, ranges, groups or @switch")],
    },
    Section {
        path: "scheme",
        repeated: false,
        meaning: "Congestion control; besides these every parameter of the scheme, as `xoff schemes NAME` lists them",
        keys: &[
            key("name", Text, "\"dcqcn\"", "Which scheme"),
            key("preset", Text, "the scheme's first", "Named set of parameters to start from"),
            key(
                "base",
                Special("a scheme's name, NAME:PRESET, or a table with the keys of [scheme]"),
                "the scheme's usual one",
                "The end-to-end scheme it works with, for schemes that do",
            ),
        ],
    },
    Section {
        path: "schemes",
        repeated: false,
        meaning: "Further schemes, each a table [schemes.NAME] with the keys of [scheme]; `name` may be left out",
        keys: &[],
    },
    Section {
        path: "groups",
        repeated: false,
        meaning: "Named selections of hosts; every key is a name, every value a selector or a list of them",
        keys: &[],
    },
    Section {
        path: "fault",
        repeated: true,
        meaning: "Something that goes wrong",
        keys: &[
            key("kind", Choice(&["link-down", "link-up", "rate", "loss", "pause-storm"]), "", "What happens"),
            key("at", Time, "", "When"),
            key("until", Time, "", "When it is undone; never if left out").only("unless kind = \"link-up\""),
            key("link", Texts, "", "Ports: \"s0->s1\"; a link goes down both ways, rate and loss change one way")
                .only("unless kind = \"pause-storm\""),
            key("rate", Rate, "", "The new rate").only("with kind = \"rate\""),
            key("loss", Number, "", "The new probability of losing a frame").only("with kind = \"loss\""),
            key("host", Texts, "", "Hosts that keep their switch paused").only("with kind = \"pause-storm\""),
            key("class", Text, "the default class", "The class they pause").only("with kind = \"pause-storm\""),
        ],
    },
    Section {
        path: "probe",
        repeated: true,
        meaning: "Something sampled over time",
        keys: &[
            key(
                "what",
                Choice(&[
                    "queue", "ingress", "throughput", "paused", "pause-rate", "shaped", "buffer", "flows", "scheme",
                ]),
                "",
                "Egress queue, ingress account, bits sent, part of the time paused, PAUSEs sent per second, bytes in the shaped per-flow queues of a gateway's port, bytes in the whole buffer of the switch that owns the port (once per switch, named by its first port), rates (and shaped queues) of probed flows, or the variables that their schemes publish (`xoff schemes NAME` lists them)",
            ),
            key("ports", Texts, "", "Ports by owner first: \"s0->s1\" is the port of s0 that faces s1")
                .only("unless what = \"flows\" or \"scheme\""),
            key("class", Text, "the default class", "The class")
                .only("with what = \"queue\", \"ingress\" or \"paused\""),
            key("every", Time, "\"10us\"", "Interval"),
            key("from", Time, "\"0ps\"", "First sample"),
            key("until", Time, "the end of the run", "Last sample"),
        ],
    },
    Section {
        path: "capture",
        repeated: true,
        meaning: "Frames of some ports, written to captures/NAME.pcapng of the run directory for Wireshark",
        keys: &[
            key("name", Text, "\"capture-0\" and so on", "Name of the file"),
            key("ports", Texts, "", "Ports by owner first: \"s0->h3\" is what s0 sends to h3"),
            key(
                "directions",
                Choice(&["out", "both"]),
                "\"out\"",
                "What these ports send, or also what the other ends of their links send",
            ),
            key("from", Time, "\"0ps\"", "First instant"),
            key("until", Time, "the end of the run", "Last instant"),
            key("frames", Count, "1000000", "Most frames; those after it are only counted, and the summary says so"),
            key("snap", Bytes, "whole frames", "Bytes kept of each frame"),
        ],
    },
    Section {
        path: "output",
        repeated: false,
        meaning: "What is kept besides the tables",
        keys: &[
            key("csv", Flag, "false", "Also write the tables as CSV"),
            key("figures", Flag, "true", "Draw figures"),
            key("pauses", Flag, "true", "Keep every PAUSE and RESUME"),
            key("pfc_frames", Flag, "false", "Keep every PFC frame as it arrives, in a table `pfc`"),
            key("activity", Flag, "true", "Keep what ports and flows did, window by window, for `xoff view`"),
            key("labels", Table, "", "What figures call schemes: dcqcn = \"DCQCN\""),
            key("colours", Table, "", "In which colours figures draw schemes: dcqcn = \"#0072B2\""),
        ],
    },
    Section {
        path: "output.labels",
        repeated: false,
        meaning: "What figures call schemes; every key is a scheme as --schemes names it, every value a name",
        keys: &[],
    },
    Section {
        path: "output.colours",
        repeated: false,
        meaning: "In which colours figures draw schemes; every key is a scheme as --schemes names it, every value red, \
                  green and blue in hexadecimal, \"#0072B2\"",
        keys: &[],
    },
];

const STAR: &str = "with kind = \"star\"";
const DUMBBELL: &str = "with kind = \"dumbbell\"";
const CHAIN: &str = "with kind = \"chain\"";
const PARKING: &str = "with kind = \"parking-lot\"";
const ROW: &str = "with kind = \"dumbbell\", \"chain\" or \"parking-lot\"";
const SMALL: &str = "with kind = \"star\", \"dumbbell\", \"chain\" or \"parking-lot\"";
const TREE: &str = "with kind = \"leaf-spine\", \"fat-tree\", \"clos\" or \"two-dc\"";
const LEAVES: &str = "with kind = \"leaf-spine\" or \"two-dc\"";
const FAT_TREE: &str = "with kind = \"fat-tree\"";
const CORE: &str = "with kind = \"fat-tree\" or \"clos\"";
const CLOS: &str = "with kind = \"clos\"";
const TWO_DC: &str = "with kind = \"two-dc\"";
const CUSTOM: &str = "with kind = \"custom\"";
const RAILS: &str = "with kind = \"rail\" or \"dual-plane\"";
const SERVER_CLOS: &str = "with kind = \"server-clos\"";
const SERVERS: &str = "with kind = \"rail\", \"dual-plane\" or \"server-clos\"";

const TOPOLOGY: &[Key] = &[
    key("kind", Choice(crate::topology::KINDS), "", "Which network; a preset has its own"),
    key(
        "preset",
        Choice(crate::servers::PRESETS),
        "",
        "A fabric as it was published: its numbers are the defaults of the keys below, however few its servers are",
    )
    .only(SERVERS),
    key("servers", Count, "that of the preset", "Servers, `s0` on; a rank is a GPU, numbered server by server")
        .only(SERVERS),
    key("gpus", Count, "8", "GPUs of a server: hosts `s0.g0` on, around its scale-up switch `s0.nvs`").only(SERVERS),
    key(
        "nics",
        Count,
        "gpus",
        "NICs of a server, which its GPUs share evenly: hosts `s0.n0` on, or `s0.n0.p0` on where they have several ports",
    )
    .only(SERVERS),
    key("ports", Count, "1, or 2 with kind = \"dual-plane\"", "Ports of a NIC, each to a leaf of its own").only(SERVERS),
    key(
        "planes",
        Count,
        "1, or ports with kind = \"dual-plane\"",
        "Parts of the network with leaves and spines of their own and no link between them, over which the ports of a NIC are spread; with 1 all leaves share the spines",
    )
    .only(SERVERS),
    key(
        "segment_servers",
        Count,
        "servers, or that of the preset",
        "Servers whose NICs of one number share a leaf (a rail); the last segment may have fewer",
    )
    .only(RAILS),
    key(
        "servers_per_tor",
        Count,
        "that of the preset",
        "Servers all of whose NICs share a leaf, or one for each port; the last may have fewer",
    )
    .only(SERVER_CLOS),
    key("nic_rate", Rate, "\"400Gbps\", or that of the preset", "Rate of each port of a NIC").only(SERVERS),
    key("nic_delay", Time, "\"500ns\"", "Propagation between NIC and leaf").only(SERVERS),
    key("scale_up_rate", Rate, "\"2880Gbps\"", "Rate of each GPU inside its server").only(SERVERS),
    key(
        "scale_up_delay",
        Time,
        "\"25ns\"",
        "Propagation between GPU and scale-up switch; that has 64MB and alpha = 1, whatever [switch] says, unless a [[switch_profile]] with select = \"scale-up\" says otherwise",
    )
    .only(SERVERS),
    key("hosts", Count, "", "Hosts around the switch `sw`").only(STAR),
    key("hosts", Texts, "", "Names of the hosts; \"H[0..15]\" stands for sixteen").only(CUSTOM),
    key("switches", Count, "", "Switches in the row, `s0` on").only(CHAIN),
    key("switches", Texts, "", "Names of the switches").only(CUSTOM),
    key(
        "order",
        Texts,
        "hosts, then switches",
        "All nodes, in the order of their numbers; what is chosen by number depends on it",
    )
    .only(CUSTOM),
    key("hosts_per_switch", Count, "", "Hosts on each").only(CHAIN),
    key("left", Count, "", "Hosts on `s0`").only(DUMBBELL),
    key("right", Count, "", "Hosts on `s1`, numbered after the left ones").only(DUMBBELL),
    key("bottlenecks", Count, "", "Links in a row: src0 to dst0 crosses all, src1 to dst1 the first, and so on")
        .only(PARKING),
    key("rate", Rate, "", "Rate of host links").only(SMALL),
    key("delay", Time, "\"1us\"", "Propagation of host links").only(SMALL),
    key("trunk_rate", Rate, "rate", "Rate between switches").only(ROW),
    key("trunk_delay", Time, "delay", "Propagation between switches").only(ROW),
    key("trunks", Count, "1", "Parallel links between the switches").only(DUMBBELL),
    key("leaves", Count, "", "Leaf switches (of each data centre)").only(LEAVES),
    key("spines", Count, "", "Spine switches (of each data centre)").only(LEAVES),
    key("spines", Count, "that of the preset", "Spine switches of each plane, linked to all of its leaves").only(SERVERS),
    key("hosts_per_leaf", Count, "", "Hosts on each leaf").only(LEAVES),
    key("k", Count, "", "Ports of a switch, even; there are k*k*k/4 hosts").only(FAT_TREE),
    key("pods", Count, "", "Pods").only(CLOS),
    key("tors_per_pod", Count, "", "Top-of-rack switches of a pod").only(CLOS),
    key("aggs_per_pod", Count, "", "Aggregation switches of a pod").only(CLOS),
    key("hosts_per_tor", Count, "", "Hosts on each top-of-rack switch").only(CLOS),
    key("cores", Count, "", "Core switches").only(CLOS),
    key(
        "core_wiring",
        Choice(&["grouped", "full"]),
        "\"grouped\"",
        "Aggregation switch j of a pod to the j-th group of cores, or every one to every core",
    )
    .only(CLOS),
    key("host_rate", Rate, "", "Rate of host links").only(TREE),
    key("host_delay", Time, "\"1us\"", "Propagation of host links").only(TREE),
    key("fabric_rate", Rate, "host_rate", "Rate of the links above the lowest switches").only(TREE),
    key("fabric_rate", Rate, "nic_rate, or that of the preset", "Rate of the links from leaf to spine").only(SERVERS),
    key("fabric_delay", Time, "host_delay", "Propagation of these links").only(TREE),
    key("fabric_delay", Time, "nic_delay", "Propagation of the links from leaf to spine").only(SERVERS),
    key("parallel", Count, "1", "Links between each two switches of these layers")
        .only("with kind = \"leaf-spine\", \"clos\", \"rail\", \"dual-plane\" or \"server-clos\""),
    key("core_rate", Rate, "fabric_rate", "Rate of the links to the cores").only(CORE),
    key("core_delay", Time, "fabric_delay", "Propagation of the links to the cores").only(CORE),
    key("core_parallel", Count, "1", "Links between an aggregation switch and each of its cores").only(CLOS),
    key("dci_rate", Rate, "fabric_rate", "Rate from the spines to the edge switches `dci0` and `dci1`").only(TWO_DC),
    key("dci_delay", Time, "fabric_delay", "Propagation of these links").only(TWO_DC),
    key("long_rate", Rate, "dci_rate", "Rate between the data centres").only(TWO_DC),
    key("long_delay", Time, "", "Propagation between the data centres").only(TWO_DC),
    key("long_links", Count, "1", "Parallel links between the data centres").only(TWO_DC),
    key("link", Tables, "", "Links").only(CUSTOM),
    key("domain", Tables, "", "Datacentres; without any the network is one").only("unless kind = \"two-dc\""),
    key("override", Tables, "", "Other values for some links"),
];
