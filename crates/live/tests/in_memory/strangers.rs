//! Frames that nobody of the run sent: any bytes, frames of the run that were changed, frames of other flows, PAUSEs.
//! They are counted, nothing panics, and the flows of the run finish.

use crate::agreement::{INCAST, VICTIM};
use crate::bench::{Kept, changed, live, live_among, loaded};
use xoff_engine::rng::{Rng, stream};
use xoff_fabric::capture::RawFrame;
use xoff_fabric::plan::peer;
use xoff_results::live_timing::LiveTiming;
use xoff_scenario::Loaded;
use xoff_wire::icrc;

const CAPTURE: &str = "[[capture]]\nports = \"*->*\"\n";
const SCHEMES: [&str; 6] = ["none", "dcqcn", "hpcc", "mercury", "qcn", "tcp-newreno"];

fn ignored(live_timing: &LiveTiming) -> u64 {
    live_timing.ignored.iter().map(|ignored| ignored.frames).sum()
}

fn bytes(rng: &mut Rng, length: usize) -> Vec<u8> {
    (0..length).map(|_| rng.next_u64() as u8).collect()
}

/// The stranger's frames do not count as the run's.
fn is_undisturbed(with: &Kept, without: &Kept, what: &str) {
    with.is_whole(what);
    assert_eq!(with.flows, without.flows, "{what}");
}

#[test]
fn any_bytes() {
    for scheme in SCHEMES {
        let loaded = loaded(INCAST, Some(scheme));
        let (mut rng, mut sent) = (stream(1, "stranger", 0), 0);
        let (kept, live_timing) = live_among(&loaded, &mut |_, _| {
            sent += 1;
            let length = rng.below(200) as usize;
            vec![bytes(&mut rng, length)]
        });
        is_undisturbed(&kept, &live(&loaded), scheme);
        // The last ones are still on their links when the run ends.
        assert!((sent - 8..=sent).contains(&ignored(&live_timing)), "{scheme}: {sent}, {:?}", live_timing.ignored);
    }
}

/// Any byte of any frame, any number of bytes: check sums tell.
#[test]
fn frames_with_wrong_bytes() {
    for scheme in SCHEMES {
        let loaded = loaded(VICTIM, Some(scheme));
        let mut rng = stream(2, "stranger", 0);
        let (kept, live_timing) = live_among(&loaded, &mut |_, frame| {
            let mut frame = frame.to_vec();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(frame.len() as u64) as usize;
                frame[at] ^= 1 << rng.below(8);
            }
            frame.truncate(frame.len() - rng.below(3) as usize);
            vec![frame]
        });
        kept.is_whole(scheme);
        assert!(ignored(&live_timing) > 1000, "{scheme}: {:?}", live_timing.ignored);
    }
}

/// As above, with check sums made right again: whatever a stranger may claim, nothing panics and the run comes to its end.
#[test]
fn frames_that_lie() {
    for scheme in SCHEMES {
        let text = changed(VICTIM, "stop = \"20ms\"", "stop = \"2ms\"");
        let text = changed(&text, "[topology]", "[host]\nretransmit_timeout = \"100us\"\n[topology]");
        let loaded = loaded(&text, Some(scheme));
        let (mut rng, mut sent) = (stream(3, "stranger", 0), 0);
        let (kept, live_timing) = live_among(&loaded, &mut |_, frame| {
            let mut frame = frame.to_vec();
            let ip_at = if frame[12..14] == [0x22, 0xe9] { 18 } else { 14 };
            if frame[ip_at - 2..ip_at] != [8, 0] || frame.len() < ip_at + 60 || rng.below(10) > 0 {
                return Vec::new();
            }
            let (end, at) = (frame.len() - 4, ip_at + 20 + rng.below(30) as usize);
            frame[at] = rng.next_u64() as u8;
            let sum = icrc(&frame[ip_at..end]);
            frame[end..].copy_from_slice(&sum);
            sent += 1;
            vec![frame]
        });
        assert!(sent > 100 && kept.flows.len() == 8, "{scheme}: {sent}");
        assert!(live_timing.frames.received >= live_timing.frames.sent, "{scheme}: {:?}", live_timing.frames);
    }
}

/// Whole frames of another run, to the same hosts: data is answered as any, and what comes back for queue pairs that are
/// not the run's, or are by number only, is left alone.
#[test]
fn frames_of_other_flows() {
    let other = changed(INCAST, "kind = \"flows\"", "kind = \"flows\"\nname = \"other\"");
    for scheme in ["none", "dcqcn", "hpcc", "tcp-newreno"] {
        let foreign = live(&loaded(&format!("{other}{CAPTURE}"), Some(scheme)));
        let mut foreign =
            foreign.records.raw_frames.into_iter().filter(|frame| frame.bytes[12..14] == [8, 0]).take(200);
        let loaded = loaded(INCAST, Some(scheme));
        let (kept, live_timing) = live_among(&loaded, &mut |to, _| match foreign.next() {
            Some(frame) if frame.port == peer(to) => vec![frame.bytes],
            _ => Vec::new(),
        });
        kept.is_whole(scheme);
        let sent: u64 = kept.flows.iter().map(|flow| flow.packets_sent).sum();
        assert_eq!((kept.flows.len(), sent), (6, 600), "{scheme}: nothing was taken for acknowledged, or for lost");
        assert!(live_timing.frames.received > live_timing.frames.sent, "{scheme}: {:?}", live_timing.frames);
    }
}

/// To another address, of another scheme, in another class.
#[test]
fn frames_that_nobody_can_place() {
    let other = r#"
run = { stop = "1ms" }
topology = { kind = "star", hosts = 40, rate = "10Gbps", delay = "1us" }
scheme = { name = "dcqcn" }
traffic = [
    { kind = "burst", sources = "h30", destinations = "h31", size = "20KB" },
    { kind = "burst", sources = "h1", destinations = "h2", size = "20KB", scheme = "hpcc" },
]
"#;
    let foreign = live(&loaded(&format!("{other}{CAPTURE}"), None)).records.raw_frames;
    let mut foreign = foreign.into_iter().map(|frame| frame.bytes);
    let loaded = loaded(INCAST, Some("dcqcn"));
    let (kept, live_timing) = live_among(&loaded, &mut |_, _| foreign.next().into_iter().collect());
    kept.is_whole("placeless");
    assert!(ignored(&live_timing) > 50, "{:?}", live_timing.ignored);
    assert!(
        live_timing.ignored.iter().any(|ignored| ignored.reason == "nobody's address"),
        "{:?}",
        live_timing.ignored
    );
}

/// A PAUSE that the run's switch has sent to a host.
fn pause(loaded: &Loaded) -> Vec<u8> {
    let is_pfc = |frame: &&RawFrame| frame.bytes[12..14] == [0x88, 0x08];
    live(loaded).raw_frames.iter().find(is_pfc).unwrap().bytes.clone()
}

#[test]
fn a_storm_of_pauses_that_run_out_only_delays() {
    let timed = changed(INCAST, "xon = \"38KB\"", "xon = \"38KB\", signalling = \"timed\"");
    let loaded = loaded(&format!("{timed}{CAPTURE}"), Some("none"));
    let (pause, mut left) = (pause(&loaded), 2000);
    let (kept, _) = live_among(&loaded, &mut |_, _| {
        left -= i32::from(left > 0);
        if left > 0 { vec![pause.clone()] } else { Vec::new() }
    });
    kept.is_whole("timed storm");
    let end = |kept: &Kept| kept.flows.iter().map(|flow| flow.delivered_at.unwrap()).max().unwrap();
    assert!(end(&kept) > end(&live(&loaded)), "it did nothing");
}

#[test]
fn a_host_that_is_paused_for_good_is_the_only_one_to_wait() {
    let loaded = loaded(&format!("{INCAST}{CAPTURE}"), Some("none"));
    let (pause, victim) = (pause(&loaded), live(&loaded).flows[0].path.ports()[0]);
    let (kept, _) = live_among(&loaded, &mut |to, _| if to == victim { vec![pause.clone()] } else { Vec::new() });
    assert_eq!(kept.counters.drops_lossless, 0);
    let waits: Vec<bool> = kept.flows.iter().map(|flow| flow.acked_at.is_none()).collect();
    assert_eq!(waits, [true, false, false, false, false, false]);
}

/// Valid frames that come twice are believed, and show in the counts.
#[test]
fn frames_that_are_sent_again_are_not_accounted_for() {
    for scheme in SCHEMES {
        let loaded = loaded(INCAST, Some(scheme));
        let (mut number, mut repeated) = (0_u64, 0);
        let (_, live_timing) = live_among(&loaded, &mut |_, frame| {
            number += 1;
            let again = number.is_multiple_of(5);
            repeated += u64::from(again);
            if again { vec![frame.to_vec()] } else { Vec::new() }
        });
        let found = live_timing.frames.unaccounted;
        // Some are of flows that are over, and ignored; the others are believed.
        assert!((1..=repeated).contains(&found), "{scheme}: {found} of {repeated}");
        let (_, alone) = live_among(&loaded, &mut |_, _| Vec::new());
        assert_eq!(alone.frames.unaccounted, 0, "{scheme}");
    }
}
