//! No egress is faster than its link, and two runs are the same.

use crate::agreement::{INCAST, VICTIM};
use crate::bench::{Kept, live, loaded};
use std::collections::BTreeMap;
use xoff_engine::{LinkRate, Time};
use xoff_scenario::Loaded;

/// Frames of a window that is looked at.
const WINDOW: usize = 10;
/// Preamble and inter-frame gap.
const GAP_BYTES: u32 = 20;
const CAPTURE: &str = "[[capture]]\nports = \"*->*\"\n";

/// Holds the frames that left each port to the rate of its link; how many ports sent that many.
fn ports_within_their_rates(loaded: &Loaded, kept: &Kept, what: &str) -> usize {
    let mut by_port: BTreeMap<u32, Vec<(Time, u32)>> = BTreeMap::new();
    for frame in &kept.raw_frames {
        by_port.entry(frame.port).or_default().push((frame.at, u32::from(frame.frame_bytes) + GAP_BYTES));
    }
    by_port.retain(|_, frames| frames.len() > WINDOW);
    for (port, frames) in &by_port {
        let rate = LinkRate::new(loaded.plan.direction(*port).rate);
        for window in frames.windows(WINDOW + 1) {
            let bytes: u32 = window[..WINDOW].iter().map(|(_, bytes)| bytes).sum();
            let (from, until) = (window[0].0, window[WINDOW].0);
            assert!(until - from >= rate.serialise(bytes), "{what}: port {port}: {bytes} B from {from:?} to {until:?}");
        }
    }
    by_port.len()
}

#[test]
fn no_egress_is_faster_than_its_link() {
    for scheme in ["none", "dcqcn", "hpcc", "tcp-newreno"] {
        let loaded = loaded(&format!("{VICTIM}{CAPTURE}"), Some(scheme));
        let kept = live(&loaded);
        assert!(ports_within_their_rates(&loaded, &kept, scheme) > 10, "{scheme}");
    }
}

#[test]
fn a_flow_is_paced_to_the_rate_it_is_given() {
    // F0 may send 14 Gb/s on a link of 40 Gb/s.
    let loaded = loaded(&format!("{VICTIM}{CAPTURE}"), Some("none"));
    let kept = live(&loaded);
    let port = kept.flows.iter().find(|flow| flow.source == 0).map(|flow| flow.path.ports()[0]).unwrap();
    let sent: Vec<_> = kept.raw_frames.iter().filter(|frame| frame.port == port && frame.frame_bytes > 1000).collect();
    assert_eq!(sent.len(), 400);
    for pair in sent.windows(2) {
        let gbps = f64::from(u32::from(pair[0].frame_bytes) + GAP_BYTES) * 8e-9 / (pair[1].at - pair[0].at).as_s();
        assert!(gbps <= 14.001, "{gbps} Gb/s");
    }
}

#[test]
fn two_runs_are_the_same() {
    for (text, scheme) in [(INCAST, "dcqcn"), (VICTIM, "mercury"), (VICTIM, "hpcc"), (VICTIM, "tcp-newreno")] {
        let loaded = loaded(&format!("{text}{CAPTURE}[[probe]]\nwhat = \"flows\"\nevery = \"20us\"\n"), Some(scheme));
        let (one, two) = (live(&loaded), live(&loaded));
        assert!(!one.samples.is_empty() && !one.raw_frames.is_empty());
        assert_eq!(one.flows, two.flows, "{scheme}");
        assert_eq!(one.pauses, two.pauses, "{scheme}");
        assert_eq!(one.samples, two.samples, "{scheme}");
        assert_eq!(one.counters, two.counters, "{scheme}");
        assert!(one.raw_frames == two.raw_frames, "{scheme}: other bytes or times");
    }
}
