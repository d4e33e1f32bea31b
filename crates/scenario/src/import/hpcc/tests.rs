//! Files that the tests write themselves, read as that simulator's.

use super::*;
use crate::{Loaded, Options};
use std::fmt::Write;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::*;
use xoff_schemes::param::{BytesByRate, RateValue};

/// Two hosts on each of two switches.
const DUMBBELL: &str = "6 2 5\n4 5\n0 4 40Gbps 5000ns 0.000000\n1 4 40Gbps 5000ns 0\n2 5 40Gbps 0.005ms 0\n\
    3 5 40Gbps 5us 0\n4 5 40Gbps 5us 0\n\nhosts are 0 to 3\n";

const FLOWS: &str = "3\n0 2 3 100 5000 2.000000123\n1 3 3 100 70000 2.000001\n0 2 3 200 1 2.000001\n";

/// Every key, as the authors' run script writes them for DCQCN at 40G.
const CONFIG: &str = "ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PAUSE_TIME 5
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topology.txt
FLOW_FILE flows.txt
TRACE_FILE trace.txt
TRACE_OUTPUT_FILE mix.tr
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
SIMULATOR_STOP_TIME 2.5
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 8Mb/s
RATE_HAI 80Mb/s
MIN_RATE 1000Mb/s
DCTCP_RATE_AI 615Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 1
GLOBAL_T 1
VAR_WIN 1
FAST_REACT 1
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 1
MULTI_RATE 0
SAMPLE_FEEDBACK 0
PINT_LOG_BASE 1.01
PINT_PROB 1.0
RATE_BOUND 1
ACK_HIGH_PRIO 0
LINK_DOWN 0 0 0
ENABLE_TRACE 0
KMAX_MAP 1 40000000000 640
KMIN_MAP 1 40000000000 160
PMAX_MAP 1 40000000000 0.20
BUFFER_SIZE 16
QLEN_MON_FILE qlen.txt
QLEN_MON_START 0
QLEN_MON_END 0
XOFF_SIMULATOR hpcc
XOFF_SCHEME by-mode
";

pub(super) struct Case {
    pub(super) config: String,
    pub(super) topology: String,
    pub(super) flows: String,
}

/// The dumbbell under a configuration with some lines replaced; a key without a value is left out.
pub(super) fn case(lines: &[&str]) -> Case {
    let mut config = CONFIG.to_owned();
    for line in lines {
        let key = line.split(' ').next().unwrap();
        let old = config.lines().find(|old| old.split(' ').next() == Some(key)).expect("a key of the file").to_owned();
        config = config.replace(&format!("{old}\n"), &if *line == key { String::new() } else { format!("{line}\n") });
    }
    Case { config, topology: DUMBBELL.to_owned(), flows: FLOWS.to_owned() }
}

impl Case {
    pub(super) fn import(&self) -> Result<Imported, Vec<Diagnostic>> {
        self.import_in(Path::new("/nonexistent"), Vec::new())
    }

    /// In this folder, with more files.
    pub(super) fn import_in(&self, folder: &Path, more: Vec<Attachment>) -> Result<Imported, Vec<Diagnostic>> {
        let file = |name: &str, text: &str| Attachment { name: name.to_owned(), source: Source::new(name, text) };
        let mut made = vec![file("topology.txt", &self.topology), file("flows.txt", &self.flows)];
        made.extend(more);
        let files = Files::in_folder(folder).with(made);
        import(&Source::new("mine.txt", self.config.as_str()), &files, None)
    }

    pub(super) fn load(&self) -> (Imported, Loaded) {
        let imported = self.import().unwrap_or_else(|errors| panic!("{}", errors[0]));
        let loaded = imported.scenario().load(&Options::default());
        let loaded = loaded.unwrap_or_else(|errors| panic!("{}\n{}", errors[0], imported.text));
        (imported, loaded)
    }

    fn error(&self) -> Diagnostic {
        let errors = self.import().expect_err("should be refused");
        assert_eq!(errors.len(), 1, "{}\n{}", errors[0], errors[1]);
        errors[0].clone()
    }

    /// Refused with this message, on this line of this file.
    pub(super) fn refused(&self, file: &str, line: usize, message: &str) {
        let error = self.error();
        assert!(error.message.contains(message), "expected {message}, found\n{error}");
        let place = error.place.as_ref().expect("a place");
        assert_eq!((place.source.name.as_str(), error.line()), (file, Some(line)), "{error}");
    }

    fn warnings(&self) -> Vec<String> {
        self.import().unwrap().warnings.into_iter().map(|warning| warning.message).collect()
    }
}

const HPCC_LINES: &[&str] = &[
    "CC_MODE 3",
    "INT_MULTI 4",
    "KMAX_MAP 1 100000000000 1600",
    "KMIN_MAP 1 100000000000 400",
    "PMAX_MAP 1 100000000000 0.2",
];

pub(super) fn hpcc_case() -> Case {
    Case { topology: DUMBBELL.replace("40Gbps", "100Gbps"), ..case(HPCC_LINES) }
}

#[test]
fn every_key_is_in_the_test_file() {
    for key in keys::KEYS {
        assert!(CONFIG.lines().any(|line| line.split(' ').next() == Some(key.name)), "{}", key.name);
    }
}

#[test]
fn the_plan_is_what_the_files_say() {
    let (imported, loaded) = case(&[]).load();
    let plan = &loaded.plan;
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["h0", "h1", "h2", "h3", "s4", "s5"]);
    let ends: Vec<(u32, u32)> = plan.links.iter().map(|link| (link.a, link.b)).collect();
    assert_eq!(ends, [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)], "links number the ports, so their order stays");
    let wire = Direction { rate: BitRate::from_gbps(40), delay: Span::from_us(5), loss: 0.0 };
    assert!(plan.links.iter().all(|link| (link.a_to_b, link.b_to_a) == (wire, wire)));
    assert_eq!(plan.run.stop, Time::from_ms(2500));
    assert_eq!(plan.switches[0].buffer_bytes, 16 << 20);
    let alpha = Alpha::BySpeedUp { base: 0.125, nic_rate: BitRate::from_gbps(40) };
    let thresholds = Thresholds::Dynamic {
        alpha,
        reserve_bytes: 4096,
        resume_offset_bytes: 3072,
        resume_below_bytes: 1,
        rule: Rule::Dynamic,
    };
    assert_eq!(format!("{:?}", plan.switches[0].pfc.thresholds), format!("{thresholds:?}"));
    assert_eq!(plan.switches[0].pfc.headroom, Headroom::Bdps(3));
    assert!(plan.switches[0].pfc.set_aside == SetAside::Port && plan.switches[0].count_passing);
    let model = Model {
        resolution: xoff_engine::TimeResolution::BinaryNanosecond,
        ties: Ties::Scheduled,
        ecmp: Ecmp::Murmur3,
        next_hops: NextHops::Descending,
        base_rtt: BaseRtt::Payload,
        random: Random::Shared { first: 6 * plan.nodes.len() as u64 + 2 },
        ..Model::default()
    };
    assert_eq!(plan.model, model);
    let host = &plan.hosts[0];
    let sizes = &host.sizes;
    assert_eq!((sizes.data_header_bytes, sizes.ack_bytes, sizes.pfc_bytes), (48, 60, 43));
    assert_eq!((sizes.gap_bytes, sizes.min_frame_bytes, host.mtu_bytes), (0, 1, 1000));
    assert_eq!(host.nic.scheduler, NicScheduler::Scan { acks_paused_by: Some(3) });
    assert_eq!(host.nic.inflight_cap, Some(InflightCap { longest: true, at_line_rate: false, scales: true }));
    assert!(!host.nic.follow_rate && host.nic.pace && host.ack_class == AckClass::WithData);
    assert!(loaded.output.pfc_frames);
    let scheme = &loaded.schemes[0].values;
    assert_eq!(scheme.spec().name, "dcqcn");
    assert_eq!(scheme.value::<BytesByRate>("kmax").at(BitRate::from_gbps(40)), 640_000);
    assert_eq!(scheme.value::<Span>("increase_timer"), Span::from_us(300));
    assert_eq!(
        imported.files[0].source.text,
        "src,dst,size_bytes,start_ns,src_port,dst_port\nh0,h2,5000,2000000122,10000,100\n\
         h1,h3,70000,2000001000,10000,100\nh0,h2,1,2000001000,10001,200\n"
    );
    assert_eq!(loaded.traffic[0].expected.flows, Some(3.0));
    assert_eq!(loaded.name, "mine");
}

#[test]
fn every_mode_loads_and_runs_to_its_end() {
    let all = [
        case(&["HAS_WIN 0", "ACK_HIGH_PRIO 1"]),
        hpcc_case(),
        case(&["CC_MODE 7", "HAS_WIN 0", "RATE_BOUND 0"]),
        case(&["CC_MODE 8", "EWMA_GAIN 0.0625", "KMIN_MAP 1 40000000000 640", "GLOBAL_T 0"]),
        case(&["ENABLE_QCN 0"]),
    ];
    for (case, scheme) in all.iter().zip(["dcqcn", "hpcc", "timely", "dctcp", "dcqcn"]) {
        let (imported, loaded) = case.load();
        assert_eq!(loaded.schemes[0].values.spec().name, scheme);
        let schemes: Vec<_> = loaded.schemes.iter().map(|scheme| &scheme.values).collect();
        let sources = loaded.traffic.iter().map(|traffic| traffic.build(loaded.plan.seed)).collect();
        let mut world = xoff_schemes::world(loaded.plan.clone(), &schemes, sources, None);
        world.run_to_end();
        assert!(world.failure.is_none(), "{scheme}");
        assert_eq!(world.counters.flows_completed, 3, "{scheme}\n{}", imported.text);
    }
}

#[test]
fn nodes_keep_their_numbers_wherever_switches_are() {
    // Switches 0 and 3, a host between them, and one link listed from the switch.
    let topology =
        "6 2 5\n3 0\n1 0 40Gbps 1us 0\n0 2 40Gbps 1us 0\n4 3 40Gbps 1us 0\n3 0 40Gbps 1us 0.001\n5 3 40Gbps 1us 0\n";
    let flows = "1\n1 5 3 100 5000 2.0\n";
    let case = Case { topology: topology.to_owned(), flows: flows.to_owned(), ..case(&["ERROR_RATE_PER_LINK 0.01"]) };
    let (imported, loaded) = case.load();
    let names: Vec<&str> = loaded.plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["s0", "h1", "h2", "s3", "h4", "h5"], "{}", imported.text);
    let links: Vec<(u32, u32, f64)> = loaded.plan.links.iter().map(|link| (link.a, link.b, link.a_to_b.loss)).collect();
    assert_eq!(links, [(1, 0, 0.01), (0, 2, 0.01), (4, 3, 0.01), (3, 0, 0.001), (5, 3, 0.01)]);
    assert_eq!(loaded.plan.run.stall_after, None, "flows may wait for ever where packets get lost");
}

/// A k = 4 fat tree, 100G hosts and 400G fabric, as files of that simulator have it.
fn fat_tree() -> String {
    let (hosts, edges, aggs) = (16, 8, 8);
    let (first_edge, first_agg, first_core) = (hosts, hosts + edges, hosts + edges + aggs);
    let mut links = String::new();
    for host in 0..hosts {
        let _ = writeln!(links, "{host} {} 100Gbps 1000ns 0.000000", first_edge + host / 2);
    }
    for edge in 0..edges {
        for up in 0..2 {
            let _ = writeln!(links, "{} {} 400Gbps 1000ns 0", first_edge + edge, first_agg + edge / 2 * 2 + up);
        }
    }
    for agg in 0..aggs {
        for up in 0..2 {
            let _ = writeln!(links, "{} {} 400Gbps 1000ns 0", first_agg + agg, first_core + agg % 2 * 2 + up);
        }
    }
    let switches: Vec<String> = (first_edge..first_core + 4).map(|id| id.to_string()).collect();
    format!("36 20 48\n{}\n{links}", switches.join(" "))
}

#[test]
fn a_fat_tree_becomes_few_rows_in_the_same_order() {
    let lines = [
        HPCC_LINES,
        &[
            "KMAX_MAP 2 100000000000 1600 400000000000 6400",
            "KMIN_MAP 2 100000000000 400 400000000000 1600",
            "PMAX_MAP 2 100000000000 0.2 400000000000 0.3",
        ],
    ]
    .concat();
    let case = Case { topology: fat_tree(), flows: "1\n0 15 3 100 5000 2.0\n".to_owned(), ..case(&lines) };
    let (imported, loaded) = case.load();
    let listed: Vec<(u32, u32)> = case
        .topology
        .lines()
        .skip(2)
        .map(|line| line.split(' ').map(|word| word.parse().unwrap_or(0)).collect::<Vec<u32>>())
        .map(|words| (words[0], words[1]))
        .collect();
    let ends: Vec<(u32, u32)> = loaded.plan.links.iter().map(|link| (link.a, link.b)).collect();
    assert_eq!(ends, listed);
    let rows = imported.text.matches("[[topology.link]]").count();
    assert!(rows < 30, "{rows} rows for 48 links");
    assert_eq!(loaded.node_counts(), (16, 20));
}

#[test]
fn defaults_of_the_code_apply() {
    let only = "CC_MODE TOPOLOGY_FILE FLOW_FILE RP_TIMER RATE_AI RATE_HAI L2_ACK_INTERVAL KMAX_MAP KMIN_MAP PMAX_MAP";
    let keys: Vec<&str> = only.split(' ').collect();
    let lines: Vec<&str> = CONFIG.lines().filter(|line| keys.contains(&line.split(' ').next().unwrap())).collect();
    let case = Case { config: lines.join("\n"), ..case(&[]) };
    let (imported, loaded) = case.load();
    assert_eq!(loaded.plan.run.stop, Time::from_ns(3_009_999_999));
    assert_eq!(
        loaded.plan.hosts[0].nic.inflight_cap,
        Some(InflightCap { longest: true, at_line_rate: false, scales: false })
    );
    let scheme = &loaded.schemes[0].values;
    assert_eq!(scheme.value::<Span>("alpha_period"), Span::from_us(55));
    assert_eq!(scheme.value::<f64>("g"), 0.0, "1/16 in whole numbers");
    assert_eq!(scheme.value::<u64>("fast_recovery"), 5);
    assert_eq!(scheme.value::<RateValue>("rate_min").at(BitRate::from_gbps(40)), 1e8);
    assert_eq!(imported.warnings.len(), 1, "a warning for the gain alone");
    assert!(imported.warnings[0].message.contains("EWMA_GAIN"));
}

#[test]
fn settings_reach_the_scenario() {
    let text = |lines: &[&str]| case(lines).load().0.text;
    for (lines, expected) in [
        (&["LINK_DOWN 500 4 5"][..], "at = \"2.0005s\""),
        (&["LINK_DOWN 500 5 4"], "link = \"s5<->s4\""),
        (&["HAS_WIN 0"], "inflight_cap = \"none\""),
        (&["GLOBAL_T 0"], "inflight_cap = \"path-bdp\""),
        (&["VAR_WIN 0"], "inflight_scales = false"),
        (&["RATE_BOUND 0"], "pace = false"),
        (&["ACK_HIGH_PRIO 1"], "acks_paused_by = \"none\""),
        (&["ENABLE_QCN 0"], "mark_at = \"never\""),
        (&["CLAMP_TARGET_RATE 1"], "target_clamp = \"always\""),
        (&["PACKET_PAYLOAD_SIZE 4096"], "mtu = \"4.096KB\""),
        (&["BUFFER_SIZE 3"], "buffer = \"3MiB\""),
        (&["ERROR_RATE_PER_LINK 0.5"], "loss = 0.5"),
        (&["CC_MODE 7"], "delta_hai = \"80Mbps\""),
        (&["CC_MODE 8"], "rate_ai = \"615Mbps\""),
    ] {
        let text = text(lines);
        assert!(text.contains(expected), "{lines:?}: {expected} is missing from\n{text}");
    }
    let of_hpcc = hpcc_case().load().0.text;
    for expected in [
        "eta = 0.95",
        "max_stage = 0",
        "int_multiplier = 4",
        "fast_react = true",
        "per_hop = false",
        "sample_feedback = false",
        "round_trip = \"network\"",
        "ack_size = \"46B\"",
        "repace_on_rate_change = true",
    ] {
        assert!(of_hpcc.contains(expected), "{expected} is missing from\n{of_hpcc}");
    }
}

#[test]
fn priority_groups_become_classes() {
    let case = Case { flows: "2\n0 2 3 100 5000 2.0\n1 3 1 100 5000 2.0\n".to_owned(), ..case(&[]) };
    let (imported, loaded) = case.load();
    assert_eq!(loaded.classes, ["pg1", "pg3"]);
    assert!(loaded.plan.classes.list.iter().all(|class| class.service == Service::RoundRobin && class.lossless));
    assert!(imported.files[0].source.text.ends_with("h1,h3,5000,2000000000,10000,100,pg1\n"));
}

#[test]
fn pint_is_a_digest_and_draws_in_order() {
    let (imported, loaded) = case(&["CC_MODE 10", "RATE_AI 50Mb/s", "PINT_PROB 0.5"]).load();
    assert_eq!(loaded.schemes[0].label, "hpcc-pint");
    let value = |name: &str| loaded.schemes[0].values.get(name).to_string();
    for (name, expected) in [
        ("law", "rate"),
        ("arithmetic", "approximate"),
        ("log_base", "1.01"),
        ("probability", "0.5"),
        ("eta", "0.95"),
        ("max_stage", "0"),
        ("round_trip", "network"),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    let host = &loaded.plan.hosts[0];
    assert_eq!((host.sizes.data_header_bytes, host.sizes.ack_bytes), (48, 58));
    assert!(host.nic.follow_rate && imported.text.contains("event_order = \"insertion\""));
    // Its generator needs one order of events.
    let text = imported.text.replace("event_order = \"insertion\"", "event_order = \"hash\"");
    let other = Imported { text, ..imported }.scenario().load(&Options::default()).unwrap_err();
    assert!(other[0].message.contains("draws in the order of events"), "{}", other[0]);
    let mut inet = case(&["CC_MODE 10"]);
    inet.config = inet.config.replace("XOFF_SIMULATOR hpcc", "XOFF_SIMULATOR ns3-datacenter");
    assert!(inet.error().message.contains("CC_MODE 10 of ns3-datacenter"));
}

#[test]
fn settings_that_cannot_be_had_are_refused() {
    for (line, message) in [
        ("CC_MODE 2", "CC_MODE 2 is unknown"),
        ("L2_BACK_TO_ZERO 1", "start of a chunk"),
        ("L2_ACK_INTERVAL 0", "L2_ACK_INTERVAL 0"),
        ("PAUSE_TIME 0", "PAUSE_TIME 0"),
        ("SIMULATOR_STOP_TIME 0", "cannot last so long"),
        ("SIMULATOR_STOP_TIME 1e9", "cannot last so long"),
        ("PACKET_PAYLOAD_SIZE 60000", "out of range"),
        ("BUFFER_SIZE 5000", "out of range"),
        ("BUFFER_SIZE 0.5", "`BUFFER_SIZE` cannot be `0.5`"),
        ("EWMA_GAIN 2", "out of range"),
        ("EWMA_GAIN -1", "cannot be `-1`"),
        ("RP_TIMER 0", "out of range"),
        ("RATE_AI 20Mbit", "`RATE_AI` cannot be `20Mbit`"),
        ("MIN_RATE 0Gbps", "out of range"),
        ("ERROR_RATE_PER_LINK 1.5", "out of range"),
        ("FAST_RECOVERY_TIMES 0", "out of range"),
        ("LINK_DOWN 5 0 1", "are not linked"),
        ("LINK_DOWN 5 9 1", "are not linked"),
        ("KMIN_MAP 1 40000000000 641", "Kmin is above Kmax"),
        ("KMIN_MAP 0", "cannot be `0`"),
        ("KMIN_MAP 2 40000000000 1 40000000000 2", "twice"),
        ("PMAX_MAP 1 40000000000 1.5", "not a probability"),
        ("TOPOLOGY_FILE nowhere.txt", "cannot read the file of `TOPOLOGY_FILE`"),
        ("FLOW_FILE nowhere.txt", "cannot read the file of `FLOW_FILE`"),
    ] {
        let at = CONFIG.lines().position(|old| old.split(' ').next() == line.split(' ').next()).unwrap() + 1;
        case(&[line]).refused("mine.txt", at, message);
    }
    // There is no line to point at where a key is missing.
    for key in ["TOPOLOGY_FILE", "FLOW_FILE", "RP_TIMER", "RATE_AI", "RATE_HAI", "KMIN_MAP", "KMAX_MAP", "PMAX_MAP"] {
        case(&[key]).refused("mine.txt", 1, &format!("lacks `{key}`"));
    }
    case(&["L2_ACK_INTERVAL"]).refused("mine.txt", 1, "L2_ACK_INTERVAL 0");
    let windowless = Case { config: hpcc_case().config.replace("HAS_WIN 1", "HAS_WIN 0"), ..hpcc_case() };
    windowless.refused("mine.txt", 27, "cannot do without its window");
}

#[test]
fn the_words_of_a_configuration_are_checked() {
    let changed = |from: &str, to: &str| Case { config: CONFIG.replace(from, to), ..case(&[]) };
    changed("RP_TIMER 300", "RP_TIMR 300").refused("mine.txt", 16, "unknown key `RP_TIMR`");
    assert!(changed("RP_TIMER 300", "RP_TIMR 300").error().help.contains("did you mean `RP_TIMER`"));
    changed("RP_TIMER 300", "RP_TIMER").refused("mine.txt", 16, "`RP_TIMER` lacks a value");
    changed("BUFFER_SIZE 16", "BUFFER_SIZE 16\nBUFFER_SIZE 16").refused("mine.txt", 46, "given twice");
    changed("RP_TIMER 300", "# RP_TIMER 300").refused("mine.txt", 16, "unknown key `#`");
    changed("LINK_DOWN 0 0 0", "LINK_DOWN 0 0").refused("mine.txt", 40, "lacks a value");
    changed("KMAX_MAP 1 40000000000 640", "KMAX_MAP 2 40000000000 640").refused("mine.txt", 42, "lacks a value");
    Case { config: String::new(), ..case(&[]) }.refused("mine.txt", 1, "empty");
    let both = changed("RP_TIMER 300", "RP_TIMR 300\nCC_MODE x");
    assert_eq!(both.import().unwrap_err().len(), 2, "all are reported at once");
}

#[test]
fn contradictions_of_a_topology_are_refused() {
    let edges = "0 4 40Gbps 1us 0\n1 4 40Gbps 1us 0\n2 5 40Gbps 1us 0\n3 5 40Gbps 1us 0\n";
    for (text, line, message) in [
        (format!("6 2 6\n4 5\n{edges}4 5 40Gbps 1us 0\n"), 7, "the first end of a link is missing"),
        (format!("6 2 4\n4 5\n{edges}4 5 40Gbps 1us 0\n"), 7, "more links than announced"),
        (format!("6 1 5\n4 5\n{edges}4 5 40Gbps 1us 0\n"), 2, "the list of switches is not 1 long"),
        (format!("6 3 5\n4 5\n{edges}4 5 40Gbps 1us 0\n"), 3, "the list of switches is not 3 long"),
        (format!("6 5 5\n4 5\n{edges}"), 3, "the switch 4 is listed twice"),
        (format!("7 2 5\n4 5\n{edges}4 5 40Gbps 1us 0\n"), 1, "the host 6 has no link"),
        (format!("5 2 5\n4 5\n{edges}4 5 40Gbps 1us 0\n"), 2, "there is no node 5"),
        (format!("6 2 5\n4 4\n{edges}4 5 40Gbps 1us 0\n"), 2, "listed twice"),
        (format!("6 2 5\n4 5\n{edges}4 6 40Gbps 1us 0\n"), 7, "there is no node 6"),
        (format!("6 2 5\n4 5\n{edges}4 4 40Gbps 1us 0\n"), 7, "to itself"),
        (format!("6 2 5\n4 5\n{edges}4 5 40Gbps 1us\n"), 7, "the error rate of a link is missing"),
        (format!("6 2 5\n4 5\n{edges}4 5 40 Gbps 1us 0\n"), 7, "not the rate of a link"),
        (format!("6 2 5\n4 5\n{edges}4 5 40Gbps 1 us 0\n"), 7, "not an error rate"),
        (format!("6 2 5\n4 5\n{edges}4 5 40Gbps -1us 0\n"), 7, "not the delay of a link"),
        (format!("6 2 5\n4 5\n{edges}4 5 40Gbps 1us 2\n"), 7, "not an error rate"),
        (format!("6 2 5\n4 5\n{edges}4 5 40Gbps\n1us 0\n"), 7, "over the end of its line"),
        (format!("6 2 6\n4 5\n{edges}4 5 40Gbps 1us 0\n5 4 40Gbps 1us 0\n"), 8, "linked twice"),
        (format!("6 2 5\n4 5\n{edges}0 5 40Gbps 1us 0\n"), 7, "the host 0 has several links"),
        (format!("6 2 5\n4 5\n{edges}0 1 40Gbps 1us 0\n"), 7, "are linked to each other"),
        (format!("6 2 4\n4 5\n{edges}"), 1, "no way leads"),
        ("6 2".to_owned(), 1, "the number of links is missing"),
        ("six 2 5\n".to_owned(), 1, "the number of nodes is not `six`"),
        ("70000 2 5\n".to_owned(), 1, "70000 nodes"),
        ("6 0 5\n".to_owned(), 1, "0 of 6 nodes are switches"),
        ("".to_owned(), 1, "the number of nodes is missing"),
    ] {
        Case { topology: text, ..case(&[]) }.refused("topology.txt", line, message);
    }
}

#[test]
fn contradictions_of_flows_are_refused() {
    for (text, line, message) in [
        ("2\n0 2 3 100 5000 2.0\n", 2, "flow 2 of 2 is missing"),
        ("1\n0 4 3 100 5000 2.0\n", 2, "node 4 is a switch"),
        ("1\n5 0 3 100 5000 2.0\n", 2, "node 5 is a switch"),
        ("1\n0 6 3 100 5000 2.0\n", 2, "there is no node 6"),
        ("1\n1 1 3 100 5000 2.0\n", 2, "send to itself"),
        ("1\n0 2 0 100 5000 2.0\n", 2, "priority group 0"),
        ("1\n0 2 8 100 5000 2.0\n", 2, "priority group 8"),
        ("1\n0 2 3 70000 5000 2.0\n", 2, "not a port"),
        ("1\n0 2 3 100 0 2.0\n", 2, "a flow of 0 bytes"),
        ("1\n0 2 3 100 4294967296 2.0\n", 2, "a flow of 4294967296 bytes"),
        ("1\n0 2 3 100 5000 -2.0\n", 2, "the start of a flow"),
        ("1\n0 2 3 100 5000 1e9\n", 2, "later than any run"),
        ("2\n0 2 3 100 5000 2.1\n1 3 3 100 5000 2.0\n", 3, "flow 2 starts before"),
        ("1\n0 2 3 100 5000\n2.0\n", 2, "over the end of its line"),
        ("1\n0 2 3 100 5000.5 2.0\n", 2, "the size of a flow is not `5000.5`"),
        ("0\n", 1, "lists no flow"),
        ("", 1, "the number of flows is missing"),
    ] {
        Case { flows: text.to_owned(), ..case(&[]) }.refused("flows.txt", line, message);
    }
}

#[test]
fn files_that_contradict_each_other_are_refused() {
    let fast = Case { topology: DUMBBELL.replace("4 5 40Gbps", "4 5 160Gbps"), ..case(&[]) };
    fast.refused("topology.txt", 7, "no ECN thresholds for ports of 160Gbps");
    let odd = Case { topology: DUMBBELL.to_owned(), ..hpcc_case() };
    odd.refused("topology.txt", 3, "HPCC's telemetry has no code for 40Gbps");
    // 3 x 25 MB of headroom for the long link, in a buffer of 16 MiB.
    let long = Case { topology: DUMBBELL.replace("4 5 40Gbps 5us", "4 5 40Gbps 5ms"), ..case(&[]) };
    long.refused("mine.txt", 45, "the headrooms of switch 4 leave nothing");
    assert!(
        long.error().help.contains("PFC never fires") && long.error().help.contains("BUFFER_SIZE 72"),
        "{}",
        long.error()
    );
}

#[test]
fn what_has_no_effect_there_is_told() {
    let only_output = case(&[]).warnings();
    assert_eq!(only_output.len(), 1);
    for key in ["TRACE_FILE", "FCT_OUTPUT_FILE", "QLEN_MON_END", "ENABLE_TRACE"] {
        assert!(only_output[0].contains(key), "{}", only_output[0]);
    }
    for (line, message) in [
        ("USE_DYNAMIC_PFC_THRESHOLD 0", "dynamic all the same"),
        ("L2_ACK_INTERVAL 4", "an ACK for each packet"),
        ("EWMA_GAIN", "the gain of alpha is 0"),
        ("RP_TIMER 300.5", "cut to 300 us"),
        ("SIMULATOR_STOP_TIME 2.000001", "before 2 of its flows start"),
    ] {
        let warnings = case(&[line]).warnings();
        assert!(warnings.iter().any(|warning| warning.contains(message)), "{line}: {warnings:?}");
    }
    let extra = Case { flows: format!("{FLOWS}0 2 3 100 5000 2.5\n"), ..case(&[]) };
    assert!(extra.warnings().iter().any(|warning| warning.contains("what follows flow 3 is ignored")));
}

#[test]
fn a_folder_is_opened_like_a_scenario() {
    let folder = std::env::temp_dir().join(format!("xoff-import-{}", std::process::id())).join("my run");
    std::fs::create_dir_all(&folder).unwrap();
    let Case { config, topology, flows } = case(&[]);
    for (name, text) in [("config.txt", config), ("topology.txt", topology), ("flows.txt", flows)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let loaded = crate::import::open(&folder.join("config.txt")).unwrap().load(&Options::default()).unwrap();
    assert_eq!(loaded.name, "my-run", "the folder's name says more than that of the file");
    assert_eq!(loaded.attachments.len(), 1, "the list of flows is kept with the results");
    assert_eq!(loaded.warnings.len(), 1);
    std::fs::remove_file(folder.join("flows.txt")).unwrap();
    let errors = crate::import::open(&folder.join("config.txt")).unwrap_err();
    assert!(errors[0].label.contains("no such file"), "{}", errors[0]);
    std::fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn scenarios_are_not_taken_for_configurations() {
    for text in ["name = \"x\"", "# CC_MODE 1", "[run]\n", "", "CC_MODES 1", "cc_mode 1"] {
        assert!(!config::recognise(text), "{text}");
    }
    assert!(config::recognise("\u{feff}\n  KMAX_MAP 1"));
}
