//! The rows of the dictionary.

use super::key::{Key, Kind, Section, keys, sections};
use super::words::*;
use Kind::{Bytes, Choice, Count, Either, Flag, Number, Rate, Special, Table, Tables, Text, Texts, Time};
use xoff_fabric::buffer::Rule;

const OFF: Kind = Choice(&["off"]);
const PFC_RESPONSE: &str = "From the arrival of a PAUSE or RESUME to its effect at a port, counted in the headroom of \
     the ingress that sends it; \"ieee\" is the longest that IEEE 802.3 allows at the port's speed";

pub(super) const SECTIONS: &[Section] = sections! {
    [""] "What the scenario is called and how it is repeated" {
        "name": Text = "scenario", "What results call it";
        "description": Text = "", "What it shows, for whoever reads the results";
        "seed": Count = 1, "Seed of everything random; another seed is another draw of the same experiment";
        "stack": OneOf(STACK) = "none",
            "Settings of routing, recovery, classes, trimming and scheme that belong together; what the scenario says itself goes before them";
        "run": Table, "How long it runs and what ends it";
        "topology": Table, "The network";
        "class": Tables,
            "Traffic classes; without any there are `data` (priority 3, lossless) and `control` (6, lossy)";
        "switch": Table, "How switches behave";
        "switch_profile": Tables, "How some switches differ";
        "host": Table, "How hosts behave";
        "model": Table, "How the simulator itself counts and chooses";
        "routing": Table, "Which way packets take among equal-cost paths, and who chooses it";
        "host_profile": Tables, "How some hosts differ";
        "scheme": Table, "The congestion control of all traffic that names none";
        "schemes": Table, "Further schemes, [schemes.NAME], that traffic may name";
        "groups": Table, "Named selections of hosts: rack6 = [\"@leaf5\"]";
        "traffic": Tables, "Who sends what, and when";
        "fault": Tables, "What goes wrong, and when";
        "probe": Tables, "What is sampled over time";
        "capture": Tables, "Ports whose frames are written as pcapng files";
        "measure": Tables, "Numbers and curves taken from the run";
        "output": Table, "What is kept besides the tables";
    }
    ["run"] "How long it runs and what ends it" {
        "stop": Time, "Simulated time at which the run ends; needed unless all traffic ends by itself";
        "stop_when_idle": Flag = true, "End earlier, once all flows have ended and none will start";
        "fidelity": OneOf(FIDELITY) = "packet",
            "`packet` follows every packet, queue and PAUSE; `flow` gives flows max-min fair rates and is 20 to 400 times as fast";
        "collectives": OneOf(COLLECTIVES) = "auto",
            "`macro`: a channel or phase of a collective is one flow over all its connections; `messages`: every message is sent; `auto`: `macro` from 512 ranks on",
            only "with fidelity = \"flow\"";
        "out_of_range": Flag = false, "Run even where fair rates are known to be far from packet level",
            only "with fidelity = \"flow\"";
        "allow_drops": Flag = false, "Count drops in lossless classes instead of failing",
            only "with fidelity = \"packet\"";
        "deadlock_check": Either(&[Time, OFF]) = "1ms", "How often to look for a deadlock",
            only "with fidelity = \"packet\"";
        "on_deadlock": Choice(&["stop", "record"]) = "stop",
            "What a deadlock does to the run", only "with fidelity = \"packet\", unless deadlock_check = \"off\"";
        "stall_after": Either(&[Time, OFF]) = "50ms",
            "Fail when flows are unfinished and nothing was delivered for this long; a TCP flow that waits for its timer is not stalled";
        "settle": Table, "When jobs with iterations stop early; they run all of them unless this table is there";
    }
    ["run.settle"] "Jobs stop once the mean time of an iteration is known: what is left is extrapolated, and marked" {
        "error": Number = 0.005, "Half-width of the 95 % interval of the mean, in shares of the mean";
        "warm_up": Count = 1, "Iterations at the start that do not count";
        "at_least": Count = 4, "Iterations to run in any case, those at the start among them";
    }
    ["topology"] "The network" { = TOPOLOGY }
    [["topology.link"]] "Links of a custom topology, between every node of `a` and every node of `b`" {
        "a": Texts, "Nodes at one end: names, patterns or ranges";
        "b": Texts, "Nodes at the other end";
        "rate": Rate, "Rate from `a` to `b`";
        "delay": Time = "1us", "Propagation from `a` to `b`";
        "reverse_rate": Rate else "rate", "Rate from `b` to `a`";
        "reverse_delay": Time else "delay", "Propagation from `b` to `a`";
        "loss": Number = 0.0, "Probability that a frame is lost, either way";
        "count": Count = 1, "Parallel links per pair";
    }
    [["topology.domain"]] "A datacentre; links between two are long-haul links, the switches at their ends gateways" {
        "switches": Texts, "Its switches: names, patterns or ranges; hosts are where their switch is";
    }
    [["topology.override"]] "Other values for some directions of some links" {
        "links": Texts, "Ports from which the directions leave: \"tor0->agg1\", \"s0<->s1\" for both";
        "rate": Rate, "Their rate";
        "delay": Time, "Their propagation";
        "loss": Number, "Their probability of losing a frame";
    }
    [["class"]] "A traffic class" {
        "name": Text, "What traffic calls it";
        "priority": Count, "IEEE 802.1 priority from 0 to 7; a higher one is served first among strict classes";
        "lossless": Flag = true, "Under PFC, never dropped; false drops at the tail";
        "service": OneOf(SERVICE) = "strict",
            "Strict classes go before the others, which share by weight or take turns, a packet each";
        "weight": Count = 1, "Share among weighted classes", only "with service = \"weighted\"";
        "queue_limit": Bytes, "Longest egress queue", only "with lossless = false";
        "queue_time": Either(&[Time, Choice(&["bdp"])]),
            "Longest egress queue as a time at the rate of its port, or as multiples of its bandwidth-delay product; the smallest limit counts", only "with lossless = false";
        "queue_bdps": Number = 1.0, "How many: rate of the port times the longest base round trip", only "with queue_time = \"bdp\"";
        "alpha": Number,
            "Longest egress queue as a share of the free buffer; the smaller limit counts", only "with lossless = false";
        "control": Flag = false,
            "Carries acknowledgements and notifications; a class named `control` does unless another is marked";
    }
    ["switch"] "How switches behave" {
        "buffer": Bytes = "12MB", "Shared packet buffer";
        "count_passing": Flag = false,
            "A packet that finds its egress idle counts for its ingress for that instant, as if it had waited";
        "trim": Flag = false,
            "A data packet of a lossy class that finds no room is sent on without its payload, in the control class, and its receiver sends a NACK", only "with recovery = \"sack\" and a lossy class beside the control class";
        "trim_size": Bytes = "64B", "Frame that is left of a trimmed packet", only "with trim = true";
        "pfc": Table, "Priority flow control", only "where a class is lossless";
        "pfc_response": Either(&[Time, Choice(&["ieee"])]) = "0ps", PFC_RESPONSE, only "where a class is lossless";
        "watchdog": Table, "PFC storm watchdog; off unless this table is there", only "where a class is lossless";
    }
    ["switch.pfc"] "Priority flow control of lossless classes" {
        "threshold": Choice(Rule::NAMES) = "dynamic",
            "Fixed thresholds, or a share of the free buffer; \"latched\" is \"dynamic\" with headroom_rule = \"latched\"; \"abm\" divides the share by the number of busy ingresses of the class and scales it by how fast each drains; \"reverie\" divides it likewise and compares an average of the queue";
        "xoff": Bytes,
            "Pause an ingress (port, class) that holds more than this", only "with threshold = \"static\"";
        "xon": Bytes else "xoff - 2KB", "Resume at this or below", only "with threshold = \"static\"";
        "alpha": Either(&[Number, Choice(&["by-speed", "by-speed-up"])]) = 0.125,
            "Share of the free shared buffer an ingress may use; \"by-speed\" doubles it with the port's speed, \"by-speed-up\" counts a speed between as the higher", only "unless threshold = \"static\"";
        "alpha_base": Number = 0.125, "The share at NIC speed", only "with alpha by speed";
        "nic_rate": Rate else "the slowest host link", "The NIC speed", only "with alpha by speed";
        "reserve": Bytes = "4.096KB",
            "Bytes an ingress owns before it draws on the shared buffer", only "unless threshold = \"static\"";
        "xon_offset" was "resume_offset": Bytes = "3.072KB",
            "Resume this far below the threshold", only "unless threshold = \"static\"";
        "xon_floor" was "resume_below": Bytes = "1B",
            "Resume also below this, however low the threshold; by default once nothing is held beyond the reserve", only "unless threshold = \"static\"";
        "headroom_rule" was "spill": OneOf(HEADROOM_RULE) = "each",
            "Which packets take headroom: each that finds no room within the threshold, where reaching it pauses too; or the first that is above it with itself in the buffer and all that follow until headroom is empty, which alone pauses", only "with threshold = \"dynamic\"";
        "saturation": Bytes = "20.48KB",
            "An ingress that holds so much is one busy queue, one with less a part of one", only BUSY_QUEUES;
        "active_queues": OneOf(ACTIVE_QUEUES) = "current",
            "Busy queues are those of this instant; or, as in ns3-datacenter, the part of an ingress is counted anew only when its own threshold is computed, and the last port never has a drain rate", only BUSY_QUEUES;
        "drain_interval": Time = "25us",
            "Drain rates are measured over this; an ingress that is not saturated, or from which less than 2 KiB left, drains at the rate of its port", only "with threshold = \"abm\"";
        "unscheduled": Either(&[Bytes, Choice(&["none", "longest-bdp"])]) = "none",
            "Payload at the start of a flow whose packets have an alpha of their own", only "with threshold = \"abm\"";
        "unscheduled_alpha": Number = 1024.0, "Alpha of these packets", only "with threshold = \"abm\"";
        "gamma": Number = 0.99,
            "Weight of the past when a packet leaves: F = gamma F + (1 - gamma) q, and at most q", only "with threshold = \"reverie\"";
        "headroom": Either(&[Bytes, Choice(&["auto", "bdp"])]) = "auto",
            "Bytes an ingress may take after it paused; \"auto\" is what each link needs, \"bdp\" a multiple of what it holds";
        "headroom_bdps": Count = 3, "Times rate x delay of the link", only "with headroom = \"bdp\"";
        "headroom_reserved_per" was "set_aside": OneOf(HEADROOM_RESERVED_PER) = "class",
            "Headroom and reserve are taken off the shared buffer for every lossless class of a port, once per port, or not at all: they are then limits, and nothing is kept free for them (\"none\"), or headroom is beside the buffer (\"beside\")";
        "signalling": Choice(&["on-off", "timed"]) = "on-off", "One PAUSE until one RESUME, or pauses that run out";
        "pause_time": Time = "5us", "How long a PAUSE lasts", only "with signalling = \"timed\"";
        "refresh": Time = "2us", "How often it is repeated while above XOFF", only "with signalling = \"timed\"";
        "resume_at": OneOf(RESUME_AT) = "departures",
            "When an ingress is found below XON: as its packets leave, or only as others arrive and at refreshes, which each egress then counts for itself", only "with signalling = \"timed\"";
        "refresh_on_arrival" was "per_arrival": Flag = true,
            "Also repeat it for every packet that arrives above XOFF", only "with signalling = \"timed\" and resume_at = \"departures\"";
    }
    ["switch.watchdog"] "PFC storm watchdog of egress queues" {
        "poll": Time = "100ms", "How often it looks";
        "detect": Time = "200ms", "A queue paused, waiting and silent for this long is in a storm";
        "restore": Time = "200ms", "Back to normal after this long without PAUSE";
        "action": OneOf(WATCHDOG_ACTION) = "drop", "Empty the queue and drop what comes, or ignore PAUSE";
    }
    [["switch_profile"]] "How some switches differ" {
        "select": Texts, "The switches: names, patterns, ranges, or a layer such as \"leaf\"";
    }
    ["host"] "How hosts behave" {
        "mtu": Bytes = "1KB", "Payload of a full packet, at most 9216 bytes";
        "ack_every": Count = 1,
            "RoCE: every n-th packet asks for an ACK, and the last before its sender falls silent (window full, or nothing more to send). A sender with a window asks at least four times in it, and its window leaves room for packets that have arrived and wait for the ACK of another; with `scheduler = \"scan\"` it does neither", only GO_BACK_N;
        "ack_class": OneOf(ACK_CLASS) = "control",
            "The class ACKs travel in: the control class, or that of their data";
        "ack_path": OneOf(ACK_PATH) = "ecmp",
            "ACKs take an ECMP path of their own; one that the entropy of their data changes too; or retrace the data's", only "in [host]";
        "ack_delay": Time = "0ps", "From a packet's arrival to its ACK entering the NIC's queue";
        "notify_delay": Time = "0ps", "From the decision to notify to the notification entering the NIC's queue";
        "nak_interval": Time = "500us", "Repeat a NAK for the same packet no sooner than this", only GO_BACK_N;
        "retransmit_timeout": Time = "10ms",
            "Go back to the oldest unacknowledged packet after this long without progress (never sooner than four base round trips); the timer of each packet with recovery = \"sack\", doubled with each copy, and IRN's in a lossless class";
        "recovery": OneOf(RECOVERY) = "go-back-n",
            "How RoCE flows recover from losses: the receiver discards packets out of order and the sender goes back; or IRN, whose receiver keeps them and whose sender resends what is missing and nothing else; \"irn-rewind\" follows another simulator, whose sender goes back and skips what is acknowledged selectively; or \"sack\", selective acknowledgements as in Ultra Ethernet, for packets in any order", only "in [host]";
        "recovery_window": Either(&[Bytes, Choice(&["auto"])]) = "auto",
            "Payload that may be sent and not acknowledged in order; \"auto\" is one bandwidth-delay product of the longest path", only IRN;
        "rto_low": Time = "100us",
            "Timeout while at most three packets are outstanding, in a lossy class (never sooner than four base round trips)", only IRN;
        "ack_bytes": Bytes = "16.384KB",
            "Payload that one ACK acknowledges, where nothing asks for one sooner", only "in [host] with recovery = \"sack\"";
        "sleek": Flag = true,
            "Packets that are missing are lost once a window and a half of packets beyond them has arrived", only "in [host] with recovery = \"sack\"";
        "rto_high": Time = "320us", "And while more are", only IRN;
        "pfc_response": Either(&[Time, Choice(&["ieee"])]) = "0ps", PFC_RESPONSE, only "where a class is lossless";
        "data_header": Bytes = "62B", "Headers and FCS of a data packet", only "in [host]";
        "ack_size": Bytes = "66B", "Frame of an ACK", only "in [host]";
        "tcp_header": Bytes = "58B", "Headers and FCS of a TCP segment, before options", only "in [host]";
        "tcp_ack_size": Bytes = "64B", "Frame of a TCP ACK, before options", only "in [host]";
        "notification_size": Bytes = "78B", "Frame of a congestion notification", only "in [host]";
        "pfc_size": Bytes = "64B", "Frame of a PAUSE or RESUME", only "in [host]";
        "gap": Bytes = "20B", "Preamble and inter-frame gap: wire time, never buffered", only "in [host]";
        "min_frame": Bytes = "64B", "Shorter data packets are padded to it", only "in [host]";
        "scheduler": Choice(&["ready", "scan"]) = "ready",
            "Flows that may send stand in line; or the NIC looks through all its flows in the order of their start, from the one after the last it served, and keeps one wake-up";
        "acks_paused_by": Either(&[Count, Choice(&["none"])]) = "none",
            "The priority whose pause stops the NIC's one queue of ACKs; ACKs of another lossless class then ignore its PAUSE", only "with scheduler = \"scan\"";
        "repace_on_rate_change" was "follow_rate": Flag = true,
            "A change of rate moves the time of the next packet, as if the gap had been computed with it";
        "pace": Flag = true, "Flows are spaced by their rate; false spaces them at line rate";
        "inflight_cap": OneOf(INFLIGHT_CAP) = "none",
            "Payload in flight at most one bandwidth-delay product: the largest of all pairs of hosts, or that of the flow's path";
        "inflight_rate": Choice(&["path", "line"]) = "path",
            "The bandwidth of that product: the smallest of the path, or the NIC's", only "with an inflight_cap";
        "inflight_scales": Flag = false,
            "The cap shrinks with the flow's rate over its line rate", only "with an inflight_cap";
    }
    ["model"] "How the simulator itself counts and chooses; the defaults are exact and unbiased, the rest follows other simulators" {
        "time_resolution" was "time_grain": OneOf(TIME_RESOLUTION) = "1ps",
            "Serialisation times and pacing gaps are rounded down to it; binary: from seconds of 64 binary digits, so that whole nanoseconds come out one short; refused where links would be far too fast";
        "event_order" was "ties" ("scheduled" => "insertion"): OneOf(EVENT_ORDER) = "hash",
            "Events at one instant happen by kind and a hash without bias, or in the order in which they were inserted";
        "ecmp": OneOf(ECMP) = "mix",
            "A hash of flow, seed and switch; or MurmurHash3 of addresses and ports with the switch's number as its seed";
        "next_hops": OneOf(NEXT_HOPS) = "by-link",
            "Order of equal next hops: as links are listed, or as a search from the destination meets them that takes neighbours by number, highest first";
        "base_rtt": OneOf(BASE_RTT) = "wire",
            "Base round trips: a full packet out and an ACK back; or propagation both ways and a full payload out";
        "random_streams" was "random" ("own" => "per-queue"): Choice(&["per-queue", "shared"]) = "per-queue",
            "Probabilistic marking: every queue has a stream of its own; or all share one MRG32k3a, a new stream for every draw and PFC frame, in the order of events";
        "first_stream": Count = 0, "The stream of the first draw", only "with random_streams = \"shared\"";
        "dialect": OneOf(DIALECT) = "none",
            "Another simulator's rules as a whole, where no other option has them: \"conweave\" is ConWeave's (SIGCOMM 2023), with its shared buffer and PFC in place of [switch.pfc], its NIC and receivers, its draws of marks and of `drill`, `letflow`, `conga` and `conweave` (with scheduler = \"scan\"); \"htsim\" is the Ultra Ethernet Consortium's, with its queues, NICs and transport, where trimming tosses coins and all draws are of one generator", only "with event_order = \"insertion\"";
    }
    ["routing"] "Which way packets take among equal-cost paths, and who chooses it" {
        "mode": OneOf(ROUTING) = "ecmp",
            "ecmp: a hash for each flow. Senders choose the entropy of each packet: spray (any), oblivious (each once per round), reps (those that returned unmarked ACKs), bitmap (rounds that pass over those with marks or losses), mixed (both), mrc (a set, and a reserve for paths that lost packets), plb (one until the flow stays congested). Switches choose the next hop: spray with spray_at = \"switch\" (any), adaptive (shortest queue), drill (shortest of a few), round-robin (each once per round), letflow (any, for each flowlet). The switch of the sender chooses the whole path: conga (least congested, for each flowlet), conweave (another one when a round trip is late; the switch of the receiver puts packets in order)";
        "hash_fields": Texts else "all but \"qp\"",
            "What switches hash: \"source\", \"destination\", \"source-port\", \"destination-port\", \"qp\" (of the receiver)", only HASHED;
        "hash_seed": OneOf(HASH_SEED) = "per-switch",
            "Seeds of their hashes; where two tiers have the same, flows use a part of the paths, which `xoff check` shows", only HASHED;
        "spray_at": Choice(&["host", "switch"]) = "host", "Who draws", only "with mode = \"spray\"";
        "entropies": Count = 64,
            "Numbers that a sender chooses from for each packet; a power of two where it goes through them in rounds", only SENDER;
        "entropy_map": OneOf(ENTROPY_MAP) = "hash",
            "How a path follows from its number: switches hash it, so that several may give one path; or it counts through all equal-cost paths", only SENDER;
        "quantum": Bytes = "0B",
            "Queues are equally long if they hold the same number of quanta; 0 compares bytes", only ADAPTIVE;
        "skip_paused": Flag = true,
            "Next hops where PFC stops the packet's class are left out, unless it does so at all", only ADAPTIVE;
        "tie": OneOf(TIE) = "random",
            "Which of several shortest queues: any, the first in the order of next hops, or by a hash of the flow", only ADAPTIVE;
        "per": Choice(&["packet", "flowlet"]) = "packet", "What a next hop is chosen for", only ADAPTIVE;
        "flowlet_gap": Time = "100us",
            "A longer pause in a flow ends a flowlet, as each switch sees it", only "with mode = \"letflow\" or \"conga\", or mode = \"adaptive\" and per = \"flowlet\"";
        "dre_period": Time = "16us",
            "How often the load of a link is discounted; over dre_alpha it is what load is counted over", only CONGA;
        "dre_alpha": Number = 0.1, "Share that the load loses then", only CONGA;
        "metric_age": Time = "10ms", "How old what a switch knows of a path may get, at least; twice that at most", only CONGA;
        "compared_paths": Count = 1048576,
            "Paths that are compared for a flowlet, neighbours in their order of which the first is drawn; all if there are no more", only CONGA;
        "idle": Time = "300us",
            "A flow that paused for longer may take another path at once", only CONWEAVE;
        "reply_extra": Time = "4us",
            "How much later than the round trip of the idle path a reply may come before the flow is moved", only CONWEAVE;
        "path_pause": Time = "16us",
            "For how long a path that was reported as congested is not chosen", only CONWEAVE;
        "flush_extra": Time = "16us",
            "How much longer than predicted packets of the new path wait for those of the old one", only CONWEAVE;
        "default_wait": Time = "200us", "How long they wait without a prediction", only CONWEAVE;
        "reorder_queues": Count = 31,
            "Flows that may be held back at a time per port of the receiver's switch; with none free packets pass out of order", only CONWEAVE;
        "samples": Count = 2, "Next hops that a switch draws for each packet", only "with mode = \"drill\"";
        "memory": Count = 1,
            "Next hops that it remembers for each destination and looks at too", only "with mode = \"drill\"";
        "marked": Number = 0.5,
            "Share of marked ACKs that makes a round trip a congested one", only PLB;
        "rounds": Count = 12, "Congested round trips in a row after which a flow changes its path", only PLB;
        "idle_rounds": Count = 3, "Those that suffice after a pause of a round trip", only PLB;
    }
    [["host_profile"]] "How some hosts differ" {
        "select": Texts, "The hosts: names, patterns, ranges, groups or @switch";
    }
    ["scheme"] "Congestion control; besides these every parameter of the scheme, as `xoff schemes NAME` lists them" {
        "name": Text = "dcqcn", "Which scheme";
        "preset": Text else "the scheme's first", "Named set of parameters to start from";
        "base": Special("a scheme's name, NAME:PRESET, or a table with the keys of [scheme]") else "the scheme's usual one",
            "The end-to-end scheme it works with, for schemes that do";
    }
    ["schemes"] "Further schemes, each a table [schemes.NAME] with the keys of [scheme]; `name` may be left out" {}
    ["groups"] "Named selections of hosts; every key is a name, every value a selector or a list of them" {}
    [["fault"]] "Something that goes wrong" {
        "kind": Choice(&["link-down", "link-up", "rate", "loss", "pause-storm"]), "What happens";
        "at": Time, "When";
        "until": Time, "When it is undone; never if left out", only "unless kind = \"link-up\"";
        "link": Texts,
            "Ports: \"s0->s1\"; a link goes down both ways, rate and loss change one way", only "unless kind = \"pause-storm\"";
        "detect": Time = "0ps",
            "From then until the switches at both ends of the link know it: loss of carrier takes 1 ms or so, BFD three of its intervals",
            only "with kind = \"link-down\" or \"link-up\"";
        "fib": Time = "0ps", "From when a switch knows it until its next hops are changed",
            only "with kind = \"link-down\" or \"link-up\"";
        "converge": Time = "0ps",
            "From one switch to its neighbours. A switch that does not know yet sends into the dead link; the switches at its ends use other next hops of equal cost first; a link that works again is used once all know",
            only "with kind = \"link-down\" or \"link-up\"";
        "rate": Rate, "The new rate", only "with kind = \"rate\"";
        "loss": Number, "The new probability of losing a frame", only "with kind = \"loss\"";
        "host": Texts, "Hosts that keep their switch paused", only "with kind = \"pause-storm\"";
        "class": Text else "the default class", "The class they pause", only "with kind = \"pause-storm\"";
    }
    [["probe"]] "Something sampled over time" {
        "what": Choice(&["queue", "ingress", "throughput", "paused", "pause-rate", "shaped", "buffer", "flows", "scheme"]),
            "Egress queue, ingress account, bits sent, part of the time paused, PAUSEs sent per second, bytes in the shaped per-flow queues of a gateway's port, bytes in the whole buffer of the switch that owns the port (once per switch, named by its first port), rates (and shaped queues) of probed flows, or the variables that their schemes publish (`xoff schemes NAME` lists them)";
        "ports": Texts,
            "Ports by owner first: \"s0->s1\" is the port of s0 that faces s1", only "unless what = \"flows\" or \"scheme\"";
        "class": Text else "the default class",
            "The class", only "with what = \"queue\", \"ingress\" or \"paused\"";
        "every": Time = "10us", "Interval";
        "from": Time = "0ps", "First sample";
        "until": Time else "the end of the run", "Last sample";
    }
    [["capture"]] "Frames of some ports, written to captures/NAME.pcapng of the run directory for Wireshark" {
        "name": Text else "\"capture-0\" and so on", "Name of the file";
        "ports": Texts, "Ports by owner first: \"s0->h3\" is what s0 sends to h3";
        "directions": Choice(&["out", "both"]) = "out",
            "What these ports send, or also what the other ends of their links send";
        "from": Time = "0ps", "First instant";
        "until": Time else "the end of the run", "Last instant";
        "frames": Count = 1000000, "Most frames; those after it are only counted, and the summary says so";
        "snap": Bytes else "whole frames", "Bytes kept of each frame";
    }
    ["output"] "What is kept besides the tables" {
        "csv": Flag = false, "Also write the tables as CSV";
        "figures": Flag = true, "Draw figures";
        "pauses": Flag = true, "Keep every PAUSE and RESUME";
        "pfc_frames": Flag = false, "Keep every PFC frame as it arrives, in a table `pfc`";
        "flow_links": Flag = false, "Count what each port sends of each flow, in a table `flow_links`";
        "activity": Flag = true, "Keep what ports and flows did, window by window, for `xoff view`";
        "labels": Table, "What figures call schemes: dcqcn = \"DCQCN\"";
        "colours": Table, "In which colours figures draw schemes: dcqcn = \"#0072B2\"";
    }
    ["output.labels"] "What figures call schemes; every key is a scheme as --schemes names it, every value a name" {}
    ["output.colours"] "In which colours figures draw schemes; every key is a scheme as --schemes names it, every value red, green and blue in hexadecimal, \"#0072B2\"" {}
};

const BUSY_QUEUES: &str = "with threshold = \"abm\" or \"reverie\"";
const GO_BACK_N: &str = "with recovery = \"go-back-n\"";
const IRN: &str = "in [host] with recovery = \"irn\" or \"irn-rewind\"";
const HASHED: &str = "with mode = \"ecmp\", or where senders choose and entropy_map = \"hash\"";
const SENDER: &str = "where senders choose";
const ADAPTIVE: &str = "with mode = \"adaptive\"";
const CONGA: &str = "with mode = \"conga\"";
const CONWEAVE: &str = "with mode = \"conweave\"";
const PLB: &str = "with mode = \"plb\"";
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

const TOPOLOGY: &[Key] = keys! {
    "kind": Choice(TOPOLOGY_KINDS), "Which network; a preset has its own";
    "preset": Choice(PRESETS),
        "A fabric as it was published: its numbers are the defaults of the keys below, however few its servers are", only SERVERS;
    "servers": Count else "that of the preset",
        "Servers, `s0` on; a rank is a GPU, numbered server by server", only SERVERS;
    "gpus": Count = 8, "GPUs of a server: hosts `s0.g0` on, around its scale-up switch `s0.nvs`", only SERVERS;
    "nics": Count else "gpus",
        "NICs of a server, which its GPUs share evenly: hosts `s0.n0` on, or `s0.n0.p0` on where they have several ports", only SERVERS;
    "ports": Count else "1, or 2 with kind = \"dual-plane\"", "Ports of a NIC, each to a leaf of its own", only SERVERS;
    "planes": Count else "1, or ports with kind = \"dual-plane\"",
        "Parts of the network with leaves and spines of their own and no link between them, over which the ports of a NIC are spread; with 1 all leaves share the spines", only SERVERS;
    "segment_servers": Count else "servers, or that of the preset",
        "Servers whose NICs of one number share a leaf (a rail); the last segment may have fewer", only RAILS;
    "servers_per_tor": Count else "that of the preset",
        "Servers all of whose NICs share a leaf, or one for each port; the last may have fewer", only SERVER_CLOS;
    "nic_rate": Rate = "400Gbps", "Rate of each port of a NIC; a preset has its own", only SERVERS;
    "nic_delay": Time = "500ns", "Propagation between NIC and leaf", only SERVERS;
    "scale_up_rate": Rate = "2880Gbps", "Rate of each GPU inside its server", only SERVERS;
    "scale_up_delay": Time = "25ns",
        "Propagation between GPU and scale-up switch; that has 64MB and alpha = 1, whatever [switch] says, unless a [[switch_profile]] with select = \"scale-up\" says otherwise", only SERVERS;
    "hosts": Count, "Hosts around the switch `sw`", only STAR;
    "hosts": Texts, "Names of the hosts; \"H[0..15]\" stands for sixteen", only CUSTOM;
    "switches": Count, "Switches in the row, `s0` on", only CHAIN;
    "switches": Texts, "Names of the switches", only CUSTOM;
    "order": Texts else "hosts, then switches",
        "All nodes, in the order of their numbers; what is chosen by number depends on it", only CUSTOM;
    "hosts_per_switch": Count, "Hosts on each", only CHAIN;
    "left": Count, "Hosts on `s0`", only DUMBBELL;
    "right": Count, "Hosts on `s1`, numbered after the left ones", only DUMBBELL;
    "bottlenecks": Count, "Links in a row: src0 to dst0 crosses all, src1 to dst1 the first, and so on", only PARKING;
    "rate": Rate, "Rate of host links", only SMALL;
    "delay": Time = "1us", "Propagation of host links", only SMALL;
    "trunk_rate": Rate else "rate", "Rate between switches", only ROW;
    "trunk_delay": Time else "delay", "Propagation between switches", only ROW;
    "trunks": Count = 1, "Parallel links between the switches", only DUMBBELL;
    "leaves": Count, "Leaf switches (of each data centre)", only LEAVES;
    "spines": Count, "Spine switches (of each data centre)", only LEAVES;
    "spines": Count else "that of the preset",
        "Spine switches of each plane, linked to all of its leaves", only SERVERS;
    "hosts_per_leaf": Count, "Hosts on each leaf", only LEAVES;
    "k": Count, "Ports of a switch, even; there are k*k*k/4 hosts", only FAT_TREE;
    "pods": Count, "Pods", only CLOS;
    "tors_per_pod": Count, "Top-of-rack switches of a pod", only CLOS;
    "aggs_per_pod": Count, "Aggregation switches of a pod", only CLOS;
    "hosts_per_tor": Count, "Hosts on each top-of-rack switch", only CLOS;
    "cores": Count, "Core switches", only CLOS;
    "core_wiring": OneOf(CORE_WIRING) = "grouped",
        "Aggregation switch j of a pod to the j-th group of cores, or every one to every core", only CLOS;
    "host_rate": Rate, "Rate of host links", only TREE;
    "host_delay": Time = "1us", "Propagation of host links", only TREE;
    "fabric_rate": Rate else "host_rate", "Rate of the links above the lowest switches", only TREE;
    "fabric_rate": Rate else "nic_rate, or that of the preset", "Rate of the links from leaf to spine", only SERVERS;
    "fabric_delay": Time else "host_delay", "Propagation of these links", only TREE;
    "fabric_delay": Time else "nic_delay", "Propagation of the links from leaf to spine", only SERVERS;
    "parallel": Count = 1,
        "Links between each two switches of these layers", only "with kind = \"leaf-spine\", \"clos\", \"rail\", \"dual-plane\" or \"server-clos\"";
    "core_rate": Rate else "fabric_rate", "Rate of the links to the cores", only CORE;
    "core_delay": Time else "fabric_delay", "Propagation of the links to the cores", only CORE;
    "core_parallel": Count = 1, "Links between an aggregation switch and each of its cores", only CLOS;
    "dci_rate": Rate else "fabric_rate", "Rate from the spines to the edge switches `dci0` and `dci1`", only TWO_DC;
    "dci_delay": Time else "fabric_delay", "Propagation of these links", only TWO_DC;
    "long_rate": Rate else "dci_rate", "Rate between the data centres", only TWO_DC;
    "long_delay": Time, "Propagation between the data centres", only TWO_DC;
    "long_links": Count = 1, "Parallel links between the data centres", only TWO_DC;
    "link": Tables, "Links", only CUSTOM;
    "domain": Tables, "Datacentres; without any the network is one", only "unless kind = \"two-dc\"";
    "override": Tables, "Other values for some links";
};
