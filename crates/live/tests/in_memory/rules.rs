//! Settings of devices and networks, one by one, in both worlds.

use crate::agreement::{INCAST, VICTIM, under};
use crate::bench::{Kept, apart, changed, distance, live, loaded, simulated};
use xoff_fabric::record::Counters;
use xoff_schemes::find;

/// Stamps are whole nanoseconds.
const EQUAL: f64 = 1e-3;

#[test]
fn timed_pauses() {
    let timed = "xon = \"58KB\", signalling = \"timed\", pause_time = \"8us\"";
    for (scheme, per_arrival) in [("none", true), ("dcqcn", true), ("dcqcn", false)] {
        let text = changed(VICTIM, "xon = \"58KB\"", &format!("{timed}, refresh_on_arrival = {per_arrival}"));
        distance(&loaded(&text, Some(scheme)), scheme).is_below(EQUAL, scheme);
    }
}

#[test]
fn dynamic_thresholds() {
    let fixed = "buffer = \"2MB\", pfc = { threshold = \"static\", xoff = \"60KB\", xon = \"58KB\" }";
    for (threshold, alpha) in [("dynamic", "0.05"), ("dynamic", "0.5"), ("latched", "0.05")] {
        let dynamic = format!("buffer = \"1MB\", pfc = {{ threshold = \"{threshold}\", alpha = {alpha} }}");
        let loaded = loaded(&changed(VICTIM, fixed, &dynamic), Some("none"));
        distance(&loaded, threshold).is_below(EQUAL, alpha);
        assert!(live(&loaded).counters.pause_frames > 10, "{threshold}, {alpha}");
    }
}

#[test]
fn buffers_that_count_frames_in_passing() {
    let text = changed(VICTIM, "buffer = \"2MB\"", "buffer = \"2MB\", count_passing = true");
    distance(&loaded(&text, Some("dcqcn")), "count_passing").is_below(EQUAL, "count_passing");
}

#[test]
fn several_schemes_in_one_run() {
    let text = r#"
run = { stop = "20ms" }
topology = { kind = "star", hosts = 7, rate = "10Gbps", delay = "1us" }
switch = { buffer = "2MB", pfc = { threshold = "static", xoff = "40KB", xon = "38KB" } }
scheme = { name = "dcqcn" }
traffic = [
    { kind = "burst", sources = "h[1..2]", destinations = "h0", size = "100KB", scheme = "hpcc" },
    { kind = "burst", sources = "h[3..4]", destinations = "h0", size = "100KB" },
    { kind = "burst", sources = "h5", destinations = "h0", size = "100KB", scheme = "mercury" },
    { kind = "burst", sources = "h6", destinations = "h0", size = "100KB", scheme = "qcn" },
]
"#;
    // The telemetry of HPCC is exact in the simulation.
    distance(&loaded(text, None), "several").is_below(0.01, "several");
}

#[test]
fn acks_of_several_packets() {
    for every in [2, 16] {
        let loaded = loaded(&format!("{INCAST}[host]\nack_every = {every}\n"), Some("dcqcn"));
        distance(&loaded, "ack_every").is_below(EQUAL, "ack_every");
        assert!(live(&loaded).counters.acks_sent <= 600 / every + 60, "{every}");
    }
}

#[test]
fn hosts_that_take_their_time() {
    let host = "[host]\nack_delay = \"1.3us\"\nnotify_delay = \"2.1us\"\nack_class = \"data\"\n";
    distance(&loaded(&format!("{INCAST}{host}"), Some("dcqcn")), "delays").is_below(EQUAL, "delays");
}

/// One way only: a RESUME that is lost would stop its upstream for good.
fn with_loss(loss: &str, seed: u64) -> String {
    let host = "[host]\nretransmit_timeout = \"1ms\"\n";
    let text = changed(VICTIM, "stop = \"20ms\"", "stop = \"5s\"");
    format!("seed = {seed}\n{text}{host}[[topology.override]]\nlinks = \"S0->S1\"\nloss = {loss}\n")
}

/// Go-back-N: the same few frames are lost, and what follows is the same.
#[test]
fn a_few_lost_frames() {
    let loaded = loaded(&with_loss("0.01", 1), Some("none"));
    let (live, simulated) = (live(&loaded), simulated(&loaded));
    live.is_whole("a few");
    apart(&live, &simulated).is_below(EQUAL, "a few");
    let of = |kept: &Kept| {
        let Counters { drops_fault, naks_sent, timeouts, data_packets_discarded, .. } = kept.counters;
        let lost: u64 = kept.flows.iter().map(|flow| flow.lost).sum();
        (drops_fault, naks_sent, timeouts, data_packets_discarded, lost)
    };
    assert_eq!(of(&live), of(&simulated));
    assert!(live.counters.drops_fault > 3 && live.counters.data_packets_retransmitted > 30);
}

/// Selective recovery: NACKs and bitmaps come through bytes, and what follows is the same.
#[test]
fn a_few_lost_frames_with_selective_recovery() {
    for (recovery, scheme) in [("irn", "none"), ("irn-rewind", "none"), ("sack", "none"), ("sack", "hpcc")] {
        let text = with_loss("0.01", 1).replace("[host]\n", &format!("[host]\nrecovery = \"{recovery}\"\n"));
        let loaded = loaded(&text, Some(scheme));
        let (live, simulated) = (live(&loaded), simulated(&loaded));
        live.is_whole(recovery);
        apart(&live, &simulated).is_below(if scheme == "none" { EQUAL } else { 0.01 }, recovery);
        let of = |kept: &Kept| {
            let Counters { drops_fault, naks_sent, timeouts, data_packets_retransmitted, .. } = kept.counters;
            let held: Vec<_> = kept.flows.iter().map(|flow| flow.recovery).collect();
            (drops_fault, naks_sent, timeouts, data_packets_retransmitted, held)
        };
        if scheme == "none" {
            assert_eq!(of(&live), of(&simulated), "{recovery}");
        }
        assert!(live.counters.drops_fault > 3 && live.counters.data_packets_retransmitted > 0, "{recovery}");
    }
}

/// With many, the order of two frames decides which of them is lost, and runs differ: over several seeds they do not.
#[test]
fn many_lost_frames() {
    for scheme in ["none", "dcqcn", "tcp-newreno"] {
        let mut sums = [[0; 4]; 2];
        for seed in 1..=10 {
            let loaded = loaded(&with_loss("0.05", seed), Some(scheme));
            for (sum, kept) in sums.iter_mut().zip([live(&loaded), simulated(&loaded)]) {
                kept.is_whole(scheme);
                let Counters { drops_fault, naks_sent, timeouts, data_packets_retransmitted, .. } = kept.counters;
                let counts = [drops_fault, naks_sent, u64::from(timeouts > 0), data_packets_retransmitted];
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
        let [live, simulated] = sums;
        for (live, simulated) in live.into_iter().zip(simulated) {
            assert!(live.abs_diff(simulated) <= 3 + simulated / 5, "{scheme}: {sums:?}");
        }
    }
}

#[test]
fn two_datacentres() {
    let text = r#"
run = { stop = "20ms" }
topology = { kind = "two-dc", leaves = 1, spines = 1, hosts_per_leaf = 3, host_rate = "25Gbps", long_delay = "50us" }
traffic = [
    { kind = "burst", sources = "h[0..2]", destinations = "h3", size = "400KB" },
    { kind = "burst", sources = "h4", destinations = "h3", size = "400KB", start = "20us" },
]
"#;
    for (scheme, share) in [("dcqcn", EQUAL), ("mlcc", 0.01)] {
        distance(&under(text, find(scheme).unwrap()), scheme).is_below(share, scheme);
    }
}

/// A flow that is paced to a packet in 40 ms.
#[test]
fn silence_is_not_a_stall() {
    let text = r#"
run = { stop = "300ms", stall_after = "20ms", stop_when_idle = false }
topology = { kind = "star", hosts = 3, rate = "10Gbps", delay = "1us" }
[[traffic]]
kind = "flows"
flow = [
    { src = "h0", dst = "h1", size = "4KB", rate_cap = "200kbps", start = "10ms" },
    { src = "h2", dst = "h1", size = "1KB" },
]
"#;
    distance(&loaded(text, Some("none")), "slow").is_below(EQUAL, "slow");
}
