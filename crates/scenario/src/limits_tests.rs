//! What is accepted must be physical and finite: time resolutions, headers, offered load, names, pauses.

use super::tests::{load, shown};
use super::*;

const TWO_TO_ONE: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
[scheme]
name = "none"
[[traffic]]
kind = "long-lived"
sources = "h[0..1]"
destinations = "h2"
"#;

fn refused(sets: &[&str], parts: &[&str]) {
    match load(TWO_TO_ONE, sets) {
        Ok(_) => panic!("{sets:?} was accepted"),
        Err(errors) => {
            let text = shown(&errors);
            parts.iter().for_each(|part| assert!(text.contains(part), "{sets:?}: `{part}` is missing from\n{text}"));
        }
    }
}

fn warnings(sets: &[&str]) -> String {
    shown(&load(TWO_TO_ONE, sets).unwrap_or_else(|errors| panic!("{sets:?}: {}", shown(&errors))).warnings)
}

#[test]
fn a_grain_that_rounds_packets_to_nothing_is_refused() {
    let rate = |rate: &str| format!("topology.rate={rate}");
    let resolution = "model.time_resolution=1ns";
    refused(
        &[&rate("10Tbps"), resolution],
        &["too coarse for links of 10Tbps", "full packets of 1082 B take no time instead of 0.87 ns"],
    );
    refused(&[&rate("1.6Tbps"), "host.mtu=256B", resolution], &["take 1 ns instead of 1.69 and are 69.0 % too fast"]);
    refused(&[&rate("400Gbps"), "host.mtu=64B", resolution], &["take 2 ns instead of 2.92 and are 46.0 % too fast"]);
    // ACKs come in as great numbers as packets.
    refused(&[&rate("1.6Tbps"), resolution], &["ACKs of 86 B take no time instead of 0.43 ns"]);
    // Where a fault raises the rate, that is the rate that counts.
    let fault = "fault=[{ kind = \"rate\", at = \"1us\", link = \"h0->sw\", rate = \"10Tbps\" }]";
    refused(&[resolution, fault], &["too coarse for links of 10Tbps"]);
}

#[test]
fn a_grain_that_speeds_links_up_is_told_in_percent() {
    let text = warnings(&["topology.rate=400Gbps", "model.time_resolution=1ns"]);
    assert!(text.contains("links of 400Gbps carry 3.0 % more than their rate in full packets"), "{text}");
    assert!(text.contains("84 B take 1 ns instead of 1.68"), "{text}");
    assert_eq!(warnings(&["topology.rate=10Gbps", "model.time_resolution=1ns"]), "");
    assert_eq!(warnings(&["topology.rate=1.6Tbps"]), "", "picoseconds are exact");
}

#[test]
fn headroom_counts_the_headers_of_schemes_and_of_tcp() {
    // 12 us out and back, a packet to wait for, the PFC frame, and two packets: for 1082 B on the wire.
    let plain = load(TWO_TO_ONE, &[]).unwrap();
    let needs = budget::headroom(&plain.plan, plain.frame_bytes, 1).1.required();
    let exact = format!("switch.pfc.headroom={needs}B");
    assert_eq!(warnings(&[&exact]), "");
    let text = warnings(&[&exact, "scheme.name=hpcc"]);
    assert!(text.contains("too small to be lossless"), "{text}");
    // 42 B of telemetry in each of three packets.
    assert!(text.contains(&format!("{} required", xoff_engine::quantity::format_bytes(needs + 3 * 42))), "{text}");
    let text = warnings(&[&exact, "scheme.name=tcp-newreno", "host.tcp_header=100B"]);
    assert!(text.contains(&format!("{} required", xoff_engine::quantity::format_bytes(needs + 3 * 38))), "{text}");
}

#[test]
fn a_scheme_that_no_traffic_uses_changes_nothing() {
    let plain = load(TWO_TO_ONE, &[]).unwrap();
    let with = load(TWO_TO_ONE, &["schemes.spare.name=hpcc"]).unwrap();
    assert_eq!((with.schemes.len(), with.frame_bytes), (1, plain.frame_bytes));
    let headroom = |of: &Loaded| budget::headroom(&of.plan, of.frame_bytes, 1).0;
    assert_eq!(headroom(&with), headroom(&plain));
    assert_eq!(warnings(&["schemes.spare.name=hpcc"]).matches("no traffic uses the scheme `spare`").count(), 1);
    // Its parameters are checked all the same, and named by traffic it counts.
    refused(&["schemes.spare.name=hpcc", "schemes.spare.eta=9"], &["eta"]);
    let used = load(TWO_TO_ONE, &["schemes.spare.name=hpcc", "traffic.0.scheme=spare"]).unwrap();
    assert_eq!((used.schemes.len(), used.frame_bytes), (2, plain.frame_bytes + 42));
}

#[test]
fn flows_that_can_only_pile_up_are_refused_whatever_their_kind() {
    let incast = |rest: &str| {
        format!("traffic=[{{ kind = \"incast\", sizes = \"1B\", degree = 1, destinations = \"h2\", {rest} }}]")
    };
    // A billion events, each of a frame of 83 B on the wire and far more than a link carries in a picosecond.
    let parts = ["999,849,397 flows would be left waiting", "6640.0 times what the links"];
    refused(&[&incast("period = \"1ps\"")], &parts);
    refused(&[&incast("period = \"1ps\", events = 1000000000")], &parts);
    let poisson = "traffic=[{ kind = \"poisson\", sizes = \"1B\", rate_per_second = 1e10 }]";
    refused(&[poisson], &["flows would be left waiting", "22.1 times what the links"]);
    let all = "traffic=[{ kind = \"all-to-all\", sizes = \"1KB\", stagger = \"1ps\" }]";
    refused(&["topology.hosts=3000", "switch.buffer=1GB", all], &["8,996,896 flows would be left waiting"]);
    // A short burst, however dense, is no pile; nor is what links carry.
    assert_eq!(warnings(&[&incast("period = \"1ps\", events = 1000")]), "");
    assert_eq!(warnings(&[&incast("period = \"10ns\"")]), "");
}

#[test]
fn names_that_terminals_tables_and_figures_cannot_show_are_refused() {
    let flow = |name: &str| {
        format!(
            "traffic=[{{ kind = \"flows\", flow = [{{ src = \"h0\", dst = \"h1\", size = \"1KB\", name = {name} }}] }}]"
        )
    };
    for bad in [
        "\"\\u001b[2J\"",
        "\"a\\u0000b\"",
        "\"=1+1\"",
        "\"@x\"",
        "\"+x\"",
        "\"-x\"",
        "\" \"",
        "\"\\u202Eabc\"",
        "\"\\uFFFF\"",
    ] {
        refused(&[&flow(bad)], &["cannot be a name", "visible characters"]);
        refused(&[&format!("traffic.0.name={bad}")], &["cannot be a name"]);
        refused(&[&format!("schemes={{ {bad} = {{ name = \"dcqcn\" }} }}")], &["cannot be a name"]);
    }
    for good in ["\"Fluss Nr. 1 (ö)\"", "\"流\"", "\"a=b\"", "\"F0 & <b>\""] {
        assert_eq!(warnings(&[&flow(good)]), "");
    }
    refused(&["name=\"-rf\""], &["cannot be a name"]);
    refused(&["description=\"\\u001b]0;x\\u0007\""], &["cannot be seen", "\\u{1b}"]);
    assert_eq!(warnings(&["description=\"two\\nlines\""]), "");
}

#[test]
fn ten_thousands_of_mistakes_are_counted_not_listed() {
    let unknown: String = (0..40_000).map(|i| format!("key{i} = 1\n")).collect();
    let began = std::time::Instant::now();
    let errors = load(&format!("{unknown}{TWO_TO_ONE}"), &[]).unwrap_err();
    assert_eq!(errors.len(), 21);
    let text = shown(&errors);
    assert!(text.contains("unknown key `key0`") && text.contains("unknown key `key19`"), "{text}");
    assert!(text.ends_with("error: and 39,980 more"), "{text}");
    assert!(began.elapsed().as_secs() < 120, "{:?}", began.elapsed());
}

#[test]
fn an_unknown_table_is_told_once() {
    let errors = load(&format!("{TWO_TO_ONE}\n[swich]\nbuffer = \"1MB\"\n"), &[]).unwrap_err();
    assert_eq!(shown(&errors).matches("unknown key `swich`").count(), 1, "{}", shown(&errors));
}

#[test]
fn parameters_that_contradict_each_other_are_underlined_themselves() {
    let text = TWO_TO_ONE
        .replace("name = \"none\"", "name = \"dcqcn\"\npreset = \"paper\"\nkmin = \"300KB\"\nkmax = \"200KB\"");
    let text = shown(&load(&text, &[]).unwrap_err());
    let line = text.lines().find(|line| line.contains("= \"")).unwrap();
    let mark = text.lines().find(|line| line.contains('^')).unwrap();
    assert!(line.contains("kmin") || line.contains("kmax"), "{text}");
    assert!(mark.contains("^^^^^"), "{text}");
}

#[test]
fn a_scheme_from_the_command_line_is_placed_there() {
    let options = Options { scheme: Some("dcqnc".to_owned()), ..Options::default() };
    let errors = Scenario::from_text("test.toml", TWO_TO_ONE, Path::new(".")).load(&options).unwrap_err();
    assert!(shown(&errors).contains("--schemes:1:1"), "{}", shown(&errors));
}

#[test]
fn switches_under_control_cannot_count_what_passes() {
    refused(
        &["scheme.name=rcm", "switch.count_passing=true"],
        &["`count_passing` has no effect under `rcm`", "queues every packet"],
    );
    assert_eq!(warnings(&["scheme.name=dcqcn", "switch.count_passing=true"]), "");
}

#[test]
fn null_on_the_command_line_gives_the_default_back() {
    let text = TWO_TO_ONE.replace("[scheme]", "[switch]\nbuffer = \"5MB\"\n[scheme]");
    let buffer = |sets: &[&str]| load(&text, sets).unwrap().plan.switches[0].buffer_bytes;
    assert_eq!((buffer(&[]), buffer(&["switch.buffer=null"])), (5_000_000, 12_000_000));
}

#[test]
fn whether_a_scheme_draws_lots_is_what_it_says() {
    let shared = |scheme: &str| warnings(&["model.random_streams=shared", &format!("scheme.name={scheme}")]);
    for scheme in ["dcqcn", "dctcp", "tcd"] {
        assert!(!shared(scheme).contains("marks by lot"), "{scheme}");
    }
    for scheme in ["none", "hpcc", "timely"] {
        assert!(shared(scheme).contains("no scheme here marks by lot"), "{scheme}");
    }
}
