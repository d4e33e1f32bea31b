use super::*;
use crate::{Options, Scenario};
use std::path::Path;

fn check(file: &str, sets: &[&str]) -> Report {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/scenarios"));
    let scenario = Scenario::open(&folder.join(file)).unwrap();
    let options = Options { sets: sets.iter().map(|set| (*set).to_owned()).collect(), ..Options::default() };
    let loaded = scenario.load(&options).unwrap_or_else(|errors| panic!("{}", errors[0]));
    report(&loaded)
}

fn ratio(report: &Report, layer: &str) -> Option<f64> {
    report.layers.iter().find(|row| row.layer == layer).unwrap().oversubscription
}

#[test]
fn the_clos_of_the_pcn_paper() {
    let report = check("clos-pcn.toml", &[]);
    assert_eq!((report.hosts, report.switches), (512, 56));
    assert_eq!(["tor", "agg", "core"].map(|layer| ratio(&report, layer)), [Some(1.0), Some(1.0), None]);
    let trips = report.round_trips.unwrap();
    // 60 us of propagation between pods, 20 us within a rack, and a little serialisation.
    assert!((60.0..65.0).contains(&trips.max_us), "{}", trips.max_us);
    assert!((20.0..25.0).contains(&trips.min_us), "{}", trips.min_us);
    assert!(!report.deadlock.possible, "{:?}", report.deadlock.circle);
}

#[test]
fn the_large_network_of_the_mercury_paper() {
    let report = check("fat-tree-websearch.toml", &[]);
    assert_eq!((report.hosts, report.switches, report.links), (320, 56, 480));
    let trips = report.round_trips.unwrap();
    assert!((12.0..13.0).contains(&trips.max_us), "{}", trips.max_us);
    assert_eq!(report.traffic[0].flows, Some(2000.0));
}

#[test]
fn two_data_centres() {
    let report = check("two-datacentres.toml", &[]);
    assert_eq!(ratio(&report, "leaf"), Some(4.0));
    let trips = report.round_trips.as_ref().unwrap();
    // 2 * (1 + 5 + 5 + 3000 + 5 + 5 + 1) us, and a little serialisation.
    assert!((6044.0..6046.0).contains(&trips.max_us), "{}", trips.max_us);
    let dci = report.buffers.iter().find(|row| row.layer == "dci").unwrap();
    assert_eq!(dci.buffer_bytes, 128_000_000);
    assert!(dci.headroom_bytes > 75_000_000 && dci.left_bytes > 0, "{dci:?}");
}

#[test]
fn windows_that_acks_leave_short_are_told() {
    let sets = |more: &[&str]| {
        let base = ["topology.rate=400Gbps", "topology.delay=1us", "host.mtu=4096B", "scheme.name=hpcc"];
        check("incast.toml", &base.iter().chain(more).copied().collect::<Vec<_>>())
    };
    assert!(sets(&[]).acks.is_empty(), "an ACK for each packet is enough for any window");
    let rows = sets(&["host.ack_every=16"]);
    let [row] = &rows.acks[..] else { panic!("{:?}", rows.acks) };
    assert_eq!((row.packets_per_ack, row.bytes_per_ack, row.share_of_line), (12, 12 * 4096, 1.0), "{row:?}");
    assert!((200_000..215_000).contains(&row.window_bytes), "{row:?}");
    assert!(rows.text().contains("packets per ACK") && rows.warnings.is_empty(), "{}", rows.text());
    // By the rules of other simulators the window counts what waits for its ACK.
    let short = sets(&["host.ack_every=16", "host.scheduler=scan"]);
    assert!((short.acks[0].share_of_line - 0.772).abs() < 0.005, "{:?}", short.acks);
    let said = &short.warnings[0];
    assert!(said.starts_with("hpcc: one ACK for 16 packets (65.536 KB) leaves a window of"), "{said}");
    assert!(said.contains("at most 77 % of its line") && said.contains("`[host] ack_every = 2` leaves 98 %"), "{said}");
    assert!(sets(&["host.ack_every=16", "scheme.name=dcqcn"]).acks.is_empty(), "no window");
}

#[test]
fn jobs_are_counted_and_serial_phases_are_told() {
    // 16 channels of 1,024 ranks, each of which sends two slices in each of 2,046 steps. It would take gigabytes to make.
    let report = check("jobs/all-reduce.toml", &["topology.servers=128", "traffic.0.bytes=1GiB"]);
    assert_eq!(report.traffic[0].messages, Some(16 * 1024 * 2046 * 2));
    assert!(report.traffic[0].memory_bytes.is_some_and(|bytes| bytes > 5_000_000_000));
    assert!(report.text().contains("gradients: 67,043,328 messages in an iteration"), "{}", report.text());
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    let report = check("jobs/all-reduce.toml", &["traffic.0.algorithm=hierarchical"]);
    assert!(report.warnings[0].contains("phases of a hierarchical all-reduce are serial"), "{:?}", report.warnings);
}

#[test]
fn a_circle_is_named() {
    let report = check("deadlock.toml", &[]);
    assert!(report.deadlock.possible);
    // The circle runs through both upper switches, down and up again.
    let circle = &report.deadlock.circle;
    assert!(circle.len() >= 4, "{circle:?}");
    for pair in circle.windows(2) {
        let end = pair[0].split("->").nth(1).unwrap().split('#').next().unwrap();
        assert!(pair[1].starts_with(&format!("{end}->")), "{circle:?}");
    }
    assert!(report.text().contains("deadlock: POSSIBLE"));
}

#[test]
fn a_failure_can_make_a_circle_possible() {
    // The deadlock scenario with its two links whole at first.
    let sets = [
        "topology.link.4.a=T*",
        "topology.link.5.a=T*",
        "fault=[{kind=\"link-down\",at=\"1ms\",link=\"T0->L1\"},{kind=\"link-down\",at=\"2ms\",link=\"T3->L0\"}]",
    ];
    let whole = check("deadlock.toml", &sets[..2]);
    assert!(!whole.deadlock.possible);
    let failed = check("deadlock.toml", &sets);
    assert_eq!((failed.deadlock.possible, failed.deadlock.from_us), (true, Some(2000.0)));
}

#[test]
fn pinned_paths_can_close_a_circle_that_shortest_ones_leave_open() {
    // A triangle: everybody is one hop away, unless told to go round.
    let text = |pinned: bool| {
        let flow = |a: u32, b: u32, c: u32| {
            let path = if pinned { format!("path = [\"S{a}\", \"S{b}\", \"S{c}\"]\n") } else { String::new() };
            format!("[[traffic]]\nkind = \"long-lived\"\nsources = \"H{a}\"\ndestinations = \"H{c}\"\n{path}")
        };
        let links: String = [("H0", "S0"), ("H1", "S1"), ("H2", "S2"), ("S0", "S1"), ("S1", "S2"), ("S2", "S0")]
            .iter()
            .map(|(a, b)| format!("[[topology.link]]\na = \"{a}\"\nb = \"{b}\"\nrate = \"100Gbps\"\n"))
            .collect();
        let flows = [flow(0, 1, 2), flow(1, 2, 0), flow(2, 0, 1)].concat();
        format!(
            "[run]\nstop = \"1ms\"\n[topology]\nkind = \"custom\"\nhosts = [\"H[0..2]\"]\n\
             switches = [\"S[0..2]\"]\n{links}{flows}"
        )
    };
    let deadlock = |pinned: bool| {
        let loaded = Scenario::from_text("t", text(pinned), Path::new(".")).load(&Options::default());
        report(&loaded.unwrap_or_else(|errors| panic!("{}", errors[0]))).deadlock
    };
    assert!(!deadlock(false).possible);
    let mut circle = deadlock(true).circle;
    circle.sort();
    assert_eq!(circle, ["S0->S1", "S1->S2", "S2->S0"]);
}

#[test]
fn headroom_and_marking_are_judged() {
    let report = check("victim-flow.toml", &[]);
    // pfc 4.3: 52 296 bytes and one packet at 40 Gb/s over 5 us, with 1000 B of payload.
    let fast = report.headroom.iter().max_by_key(|row| row.required_bytes).unwrap();
    assert!(fast.enough && (52_000..53_500).contains(&fast.required_bytes));
    let small = check("victim-flow.toml", &["switch.pfc.headroom=10KB"]);
    assert!(small.headroom.iter().any(|row| !row.enough) && !small.warnings.is_empty(), "{:?}", small.warnings);
    // The paper's kmin of 5 KB, over at most 17 ports, is far below 512 KB.
    assert!(report.marking.iter().all(|row| row.marks_before_pause == Verdict::Always), "{:?}", report.marking);
    let late = check("victim-flow.toml", &["scheme.kmin=600KB", "scheme.kmax=900KB"]);
    assert!(late.marking.iter().all(|row| row.marks_before_pause == Verdict::Not), "{:?}", late.marking);
    let between = check("victim-flow.toml", &["scheme.kmin=400KB", "scheme.kmax=900KB"]);
    assert!(between.marking.iter().any(|row| row.marks_before_pause == Verdict::OnePort), "{:?}", between.marking);
}

#[test]
fn the_dynamic_rule_is_the_published_one() {
    // pfc 4.4: B = 12 MB, n = 32 ports, beta = 8, flight allowance 22.4 KB in each of 8 classes:
    // marks always come first below 21.76 KB.
    let text = |kmin: &str| {
        let classes: String = (0..8).map(|p| format!("[[class]]\nname=\"c{p}\"\npriority={p}\n")).collect();
        format!(
            "[run]\nstop=\"1ms\"\n[topology]\nkind=\"star\"\nhosts=32\nrate=\"40Gbps\"\n{}control=true\n\
             [switch]\nbuffer=\"12MB\"\n[switch.pfc]\nalpha=8.0\nreserve=\"0B\"\nheadroom=\"22.4KB\"\n\
             [scheme]\nname=\"dcqcn\"\npreset=\"paper\"\nkmin=\"{kmin}\"\n\
             [[traffic]]\nkind=\"long-lived\"\nsources=\"h0\"\ndestinations=\"h1\"\n",
            classes
        )
    };
    let verdict = |kmin: &str| {
        let loaded = Scenario::from_text("t", text(kmin), Path::new(".")).load(&Options::default());
        let loaded = loaded.unwrap_or_else(|errors| panic!("{}", errors[0]));
        report(&loaded).marking[0].marks_before_pause
    };
    assert_eq!(verdict("21.7KB"), Verdict::Always);
    assert_eq!(verdict("21.8KB"), Verdict::OnePort);
}

#[test]
fn text_and_json_hold_the_same() {
    let report = check("leaf-spine-mixed.toml", &[]);
    let text = report.text();
    for part in ["64 hosts", "2:1", "base round trip", "headroom at", "deadlock: impossible", "background", "40 %"] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["hosts"], 64);
    assert_eq!(json["layers"][1]["oversubscription"], 2.0);
}
