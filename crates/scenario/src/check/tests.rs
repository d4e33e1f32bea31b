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
    // 16 channels of 1,024 ranks, each of which sends two slices in each of 2,046 steps: they are made when they are due.
    let sets = ["topology.servers=128", "traffic.0.bytes=1GiB"];
    let report = check("jobs/all-reduce.toml", &sets);
    assert_eq!(report.traffic[0].messages, Some(16 * 1024 * 2046 * 2));
    assert!(
        report.traffic[0].memory_bytes.is_some_and(|bytes| bytes < 3_000_000),
        "{:?}",
        report.traffic[0].memory_bytes
    );
    // Messages that may overtake each other are listed, which would take gigabytes.
    let fresh = check("jobs/all-reduce.toml", &[sets[0], sets[1], "traffic.0.connections=fresh"]);
    assert_eq!(fresh.traffic[0].messages, report.traffic[0].messages);
    assert!(fresh.traffic[0].memory_bytes.is_some_and(|bytes| bytes > 5_000_000_000));
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
    // A triangle: every host is one hop away, unless its path is pinned.
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
    // 512 KB hold one queue of 400 KB, and two of 200 KB.
    assert!(between.text().contains("with 1 congested queue"), "{}", between.text());
    let two = check("victim-flow.toml", &["scheme.kmin=200KB", "scheme.kmax=900KB"]);
    assert!(two.text().contains("with up to 2 congested queues"), "{}", two.text());
}

/// A rail of 400 Gb/s with 5 m to NICs and 300 m to spines.
fn rail(sets: &[&str]) -> Report {
    let text = "[run]\nstop=\"1ms\"\n[topology]\nkind=\"star\"\nhosts=4\nrate=\"400Gbps\"\ndelay=\"25ns\"\n\
                [[topology.override]]\nlinks=\"h3<->sw\"\ndelay=\"1500ns\"\n\
                [host]\nmtu=\"4096B\"\n[switch]\nbuffer=\"64MB\"\n\
                [[traffic]]\nkind=\"long-lived\"\nsources=\"h0\"\ndestinations=\"h1\"\n";
    let options = Options { sets: sets.iter().map(|set| (*set).to_owned()).collect(), ..Options::default() };
    let loaded = Scenario::from_text("t", text, Path::new(".")).load(&options);
    report(&loaded.unwrap_or_else(|errors| panic!("{}", errors[0])))
}

#[test]
fn headroom_says_how_slow_a_peer_it_bears() {
    let short = |report: &Report| report.headroom.iter().min_by_key(|row| row.required_bytes).unwrap().clone();
    let textbook = rail(&["scheme.name=none"]);
    let row = short(&textbook);
    // Three packets of 4,178 B, a PFC frame of 84 B and 50 ns of cable at 50 B/ns.
    assert_eq!((row.configured_bytes, row.required_bytes, row.enough), (15_118, 15_118, true));
    let terms = [row.terms.crossing, row.terms.pause_waits, row.terms.pause_frame, row.terms.cable];
    assert_eq!(terms, [4178.0, 4178.0, 84.0, 2500.0]);
    assert_eq!((row.terms.response, row.terms.last_frame), (0.0, 4178.0));
    assert_eq!((row.ieee_response_ns, row.ieee_required_bytes), (1158.4, 73_038));
    let text = textbook.text();
    assert!(!text.contains("yes"), "{text}");
    for part in [
        "400Gbps, 50ns there and back: enough if the peer stops within 0 ns; IEEE 802.3 allows 1,158 ns: then 73KB",
        "PAUSE waits",
        "last frame",
        "headroom leaves out: the switch's own time from XOFF to PAUSE",
    ] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    let more = rail(&["scheme.name=none", "switch.pfc.headroom=16968B"]);
    assert!(more.text().contains("enough if the peer stops within 37 ns"), "{}", more.text());
    assert!(more.text().contains("NOT enough even if the peer stops at once: 162.6KB required"), "{}", more.text());
    // With what IEEE allows: the device has it, and "auto" counts it.
    let ieee = rail(&["scheme.name=none", "host.pfc_response=ieee"]);
    let row = short(&ieee);
    assert_eq!((row.configured_bytes, row.response_ns, row.terms.response), (73_038, 1158.4, 57_920.0));
    assert!(ieee.text().contains("enough if the peer stops within 1,158 ns; IEEE 802.3 allows 1,158 ns\n"));
    let slow = rail(&["scheme.name=none", "host.pfc_response=2us", "switch.pfc.headroom=73038B"]);
    let line = "NOT enough: the peer may take 2,000 ns, and only 1,158 ns are covered: 115.1KB required";
    assert!(slow.text().contains(line), "{}", slow.text());
    assert!(slow.text().contains("reserves") && !slow.text().contains("thresholds"), "{}", slow.text());
}

#[test]
fn a_response_needs_a_lossless_class_and_stays_within_reason() {
    let load = |more: &str| {
        let text = format!(
            "[run]\nstop=\"1ms\"\n[topology]\nkind=\"star\"\nhosts=4\nrate=\"400Gbps\"\n{more}\
             [[traffic]]\nkind=\"long-lived\"\nsources=\"h0\"\ndestinations=\"h1\"\n"
        );
        Scenario::from_text("t", text, Path::new(".")).load(&Options::default())
    };
    let message = |more: &str| load(more).unwrap_err()[0].to_string();
    assert!(message("[host]\npfc_response=\"2ms\"\n").contains("`pfc_response` is 2ms"));
    assert!(load("[switch]\npfc_response=\"soon\"\n").is_err());
    let lossy = "[[class]]\nname=\"data\"\npriority=0\nlossless=false\n";
    assert!(message(&format!("{lossy}[host]\npfc_response=\"ieee\"\n")).contains("has no effect"));
    assert!(load(&format!("{lossy}[switch]\npfc_response=\"ieee\"\n")).is_err());
    let loaded =
        load("[switch]\npfc_response=\"ieee\"\n[[host_profile]]\nselect=\"h0\"\npfc_response=\"1us\"\n").unwrap();
    assert!(loaded.resolved.contains("pfc_response = \"ieee\"") && loaded.resolved.contains("pfc_response = \"1us\""));
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

/// A Clos of two pods with `aggs` and `cores`, switches hashing as these lines say.
fn clos(aggs: u32, cores: u32, routing: &str) -> Report {
    let text = format!(
        "[topology]\nkind=\"clos\"\npods=2\ntors_per_pod=1\naggs_per_pod={aggs}\nhosts_per_tor=2\ncores={cores}\n\
         host_rate=\"100Gbps\"\n[routing]\n{routing}\n[scheme]\nname=\"none\"\n\
         [[traffic]]\nkind=\"permutation\"\nsize=\"1MB\"\n"
    );
    let loaded = Scenario::from_text("t", text, Path::new(".")).load(&Options::default());
    report(&loaded.unwrap_or_else(|errors| panic!("{}", errors[0])))
}

#[test]
fn paths_1_2_switches_that_hash_alike_use_the_least_common_multiple() {
    let used = |aggs, cores, routing: &str| {
        let report = clos(aggs, cores, routing);
        let routing = report.routing.clone().unwrap();
        let warned = report.warnings.iter().any(|warning| warning.contains("hash alike"));
        assert_eq!(warned, routing.paths_used * 2 < routing.paths, "{:?}", report.warnings);
        assert!(report.text().contains(&format!("flows use {} of {} paths", routing.paths_used, routing.paths)));
        (routing.paths_used, routing.paths)
    };
    // Each aggregation switch has its own cores: cores / aggs of them.
    for (aggs, cores, alike) in [(4, 16, 4), (4, 24, 12), (8, 24, 24)] {
        let paths = u64::from(cores);
        assert_eq!(used(aggs, cores, "hash_seed=\"equal\""), (alike, paths));
        assert_eq!(used(aggs, cores, ""), (paths, paths));
        assert_eq!(used(aggs, cores, "hash_seed=\"per-layer\""), (paths, paths));
    }
    // Between two hosts these fields are always the same.
    assert_eq!(used(4, 16, "hash_fields=[\"source\",\"destination\"]").0, 1);
    assert_eq!(used(4, 16, "hash_fields=[\"source\",\"destination\",\"qp\"]"), (16, 16));
}

#[test]
fn paths_1_2_some_entropies_fall_on_one_path() {
    for (aggs, cores, entropies, expected) in [(4, 16, 64, 15.74), (2, 4, 64, 4.0), (8, 64, 64, 40.6)] {
        let lines = format!("mode=\"spray\"\nentropies={entropies}");
        let routing = clos(aggs, cores, &lines).routing.unwrap();
        let mean = routing.paths_per_flow.unwrap();
        assert!((mean - expected).abs() < 0.06 * expected, "{entropies} over {cores}: {mean}");
        let numbered = clos(aggs, cores, &format!("{lines}\nentropy_map=\"path\"")).routing.unwrap();
        assert_eq!(numbered.paths_per_flow, Some(f64::from(cores.min(entropies))));
        assert!(numbered.text(true).contains("PFC may stop one flow"), "{}", numbered.text(true));
    }
    assert!(clos(4, 16, "mode=\"adaptive\"").routing.unwrap().paths_per_flow.is_none());
    assert!(check("incast.toml", &[]).routing.is_none(), "one switch");
}
