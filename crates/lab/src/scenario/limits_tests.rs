//! What is accepted must be physical and finite: grains, headers, offered load, names, pauses.

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
    let grain = "model.time_grain=1ns";
    refused(
        &[&rate("10Tbps"), grain],
        &["too coarse for links of 10Tbps", "full packets of 1082 B take no time instead of 0.87 ns"],
    );
    refused(&[&rate("1.6Tbps"), "host.mtu=256B", grain], &["take 1 ns instead of 1.69 and are 69.0 % too fast"]);
    refused(&[&rate("400Gbps"), "host.mtu=64B", grain], &["take 2 ns instead of 2.92 and are 46.0 % too fast"]);
    // ACKs come in as great numbers as packets.
    refused(&[&rate("1.6Tbps"), grain], &["ACKs of 86 B take no time instead of 0.43 ns"]);
    // Where a fault raises the rate, that is the rate that counts.
    let fault = "fault=[{ kind = \"rate\", at = \"1us\", link = \"h0->sw\", rate = \"10Tbps\" }]";
    refused(&[grain, fault], &["too coarse for links of 10Tbps"]);
}

#[test]
fn a_grain_that_speeds_links_up_is_told_in_percent() {
    let told = warnings(&["topology.rate=400Gbps", "model.time_grain=1ns"]);
    assert!(told.contains("links of 400Gbps carry 3.0 % more than their rate in full packets"), "{told}");
    assert!(told.contains("84 B take 1 ns instead of 1.68"), "{told}");
    assert_eq!(warnings(&["topology.rate=10Gbps", "model.time_grain=1ns"]), "");
    assert_eq!(warnings(&["topology.rate=1.6Tbps"]), "", "picoseconds are exact");
}

#[test]
fn headroom_counts_the_headers_of_schemes_and_of_tcp() {
    // 12 us out and back, a packet to wait for, the PFC frame, and two packets: for 1082 B on the wire.
    let plain = load(TWO_TO_ONE, &[]).unwrap();
    let (_, needs) = budget::headroom(&plain.plan, plain.frame_bytes, 1);
    let exact = format!("switch.pfc.headroom={needs}B");
    assert_eq!(warnings(&[&exact]), "");
    let told = warnings(&[&exact, "scheme.name=hpcc"]);
    assert!(told.contains("too small to be lossless"), "{told}");
    // 42 B of telemetry in each of three packets.
    assert!(told.contains(&format!("{} required", xoff_engine::quantity::format_bytes(needs + 3 * 42))), "{told}");
    let told = warnings(&[&exact, "scheme.name=tcp-newreno", "host.tcp_header=100B"]);
    assert!(told.contains(&format!("{} required", xoff_engine::quantity::format_bytes(needs + 3 * 38))), "{told}");
}
