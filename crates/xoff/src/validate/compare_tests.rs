//! Numbers worked out by hand.

use super::*;
use xoff_results::export::hpcc::FctLine;
use xoff_scenario::Source;

/// Flow `n` of `size` bytes, 1000 ns alone.
fn line(n: u16, size_bytes: u64, fct_ns: u64) -> FctLine {
    FctLine {
        src: 0,
        dst: 4,
        src_port: n,
        dst_port: 100,
        size_bytes,
        start_ns: 2_000_000_000,
        fct_ns,
        standalone_ns: 1_000,
    }
}

fn frame(at_ns: u64, pause: bool) -> PfcLine {
    PfcLine { at_ns, node: 0, is_switch: false, port: 1, pause }
}

fn theirs(flows: Vec<FctLine>, frames: Vec<PfcLine>) -> Theirs {
    let fct_source = Source::new("fct.txt", xoff_results::export::hpcc::text(&flows));
    Theirs { flows, fct_source, frames }
}

fn our(line: &FctLine, fct_ns: u64) -> OurFlow {
    OurFlow { key: key(line), size_bytes: line.size_bytes, start_ns: line.start_ns, fct_ns: Some(fct_ns) }
}

/// A hundred flows: 50 small, 50 large; ours from theirs by `f`.
fn hundred(random: bool, f: impl Fn(u64, u64) -> u64) -> Agreement {
    let lines: Vec<FctLine> =
        (0..100).map(|n| line(n, if n < 50 { 1_000 } else { 2_000_000 }, 10_000 + 100 * u64::from(n))).collect();
    let flows = lines.iter().zip(0..).map(|(line, n)| our(line, f(n, line.fct_ns))).collect();
    compare(&theirs(lines, Vec::new()), &Ours { flows, ..Ours::default() }, random, Promised::Near).unwrap()
}

fn missed(agreement: &Agreement) -> Vec<&str> {
    agreement.bounds.iter().filter(|bound| !bound.held).map(|bound| bound.what.as_str()).collect()
}

#[test]
fn equal_runs_agree_in_everything() {
    let same = hundred(false, |_, fct| fct);
    assert!(same.held() && same.farthest.is_none() && same.notes.is_empty());
    assert_eq!(same.near, Near { equal: 1.0, within_0_1_percent: 1.0, within_1_percent: 1.0, within_5_percent: 1.0 });
    assert_eq!(
        same.sizes.iter().map(|of| (of.name, of.flows)).collect::<Vec<_>>(),
        [("up to 100 KB", 50), ("over 1 MB", 50), ("all", 100)]
    );
    // Small ones: 10.0, 10.1, ... 14.9; rank 25 of 50.
    assert_eq!(same.sizes[0].p50, Pair { theirs: 12.4, ours: 12.4 });
    assert_eq!(same.last_end_ns, Pair { theirs: 2_000_019_900, ours: 2_000_019_900 });
    assert_eq!(same.bounds.len(), 2 + 9);
}

#[test]
fn shares_count_how_near_flows_are() {
    // One in ten by 0.05%, one by 0.5%, one by 3%, one by 20%.
    let off = hundred(false, |n, fct| match n % 10 {
        0 => fct + fct / 2_000,
        1 => fct - fct / 200,
        2 => fct + fct * 3 / 100,
        3 => fct + fct / 5,
        _ => fct,
    });
    let shares = [off.near.equal, off.near.within_0_1_percent, off.near.within_1_percent, off.near.within_5_percent];
    assert_eq!(shares, [0.6, 0.7, 0.8, 0.9]);
    assert!(missed(&off).contains(&"flows within 1% of each other"));
    let far = off.farthest.unwrap();
    assert_eq!((far.src_port % 10, far.difference), (3, 0.2));
}

#[test]
fn bounds_are_wider_where_random_numbers_were_drawn() {
    let by = |percent: u64| move |_: u64, fct: u64| fct + fct * percent / 100;
    for (random, percent, held) in [(false, 1, false), (false, 2, false), (true, 4, true), (true, 5, true)] {
        let agreement = hundred(random, by(percent));
        // 1% and 2% are within the percentiles' bounds, but not within a hundredth.
        assert_eq!(agreement.held(), held, "{percent}%: {:?}", missed(&agreement));
    }
    assert_eq!(missed(&hundred(false, by(2))), ["flows within 1% of each other"]);
    assert_eq!(missed(&hundred(false, by(3))).len(), 1 + 9);
    // p99 may be a tenth off, p50 and p95 may not.
    assert_eq!(
        missed(&hundred(true, by(8))),
        [
            "p50 slowdown, up to 100 KB",
            "p95 slowdown, up to 100 KB",
            "p50 slowdown, over 1 MB",
            "p95 slowdown, over 1 MB",
            "p50 slowdown, all",
            "p95 slowdown, all"
        ]
    );
    assert_eq!(missed(&hundred(true, by(11))).len(), 9);
}

#[test]
fn a_flow_alone_must_be_equal() {
    let one = |fct| {
        let line = line(0, 5_000, 12_590);
        let flows = vec![our(&line, fct)];
        compare(&theirs(vec![line], Vec::new()), &Ours { flows, ..Ours::default() }, true, Promised::Near).unwrap()
    };
    assert!(one(12_590).held());
    let bounds = one(12_591).bounds;
    let alone = bounds.iter().find(|bound| bound.what == "a flow alone").unwrap();
    assert!(!alone.held && alone.found == "12590 ns and 12591 ns", "{alone:?}");
    assert_eq!(one(12_590).sizes.len(), 1);
}

#[test]
fn pauses_are_judged_where_there_are_enough() {
    let run = |theirs_count: u64, ours_count: u64| {
        let line = line(0, 5_000, 12_590);
        let frames = |count| (0..count).flat_map(|n| [frame(n, true), frame(n + 1_000, false)]).collect::<Vec<_>>();
        let ours = Ours { flows: vec![our(&line, 12_590)], frames: frames(ours_count), failure: None };
        compare(&theirs(vec![line], frames(theirs_count)), &ours, false, Promised::Near).unwrap()
    };
    let near = run(20, 18);
    assert!(near.held());
    assert_eq!((near.pauses, near.pfc_equal), (Pair { theirs: 20, ours: 18 }, 36));
    assert_eq!(missed(&run(20, 17)), ["PAUSE frames"]);
    assert_eq!(missed(&run(20, 23)), ["PAUSE frames"]);
    assert!(run(4, 8).held());
    // Too many where theirs has hardly any.
    assert_eq!(missed(&run(4, 10)), ["PAUSE frames"]);
    let none = run(0, 852).bounds.pop().unwrap();
    assert!(!none.held && none.found == "0 and 852", "{none:?}");
}

#[test]
fn flows_that_are_missing_are_told() {
    let lines = vec![line(0, 5_000, 12_000), line(1, 5_000, 13_000)];
    let late = OurFlow { fct_ns: Some(99_000), ..our(&line(2, 5_000, 1), 1) };
    let mut ours = Ours { flows: vec![our(&lines[0], 12_000), our(&lines[1], 13_000), late], ..Ours::default() };
    let agreement = compare(&theirs(lines.clone(), Vec::new()), &ours, false, Promised::Near).unwrap();
    assert!(agreement.held());
    assert!(agreement.notes[0].contains("has 2 of 3 flows") && agreement.notes[0].contains("1 of them later"));
    ours.flows[1].fct_ns = None;
    let agreement = compare(&theirs(lines.clone(), Vec::new()), &ours, false, Promised::Near).unwrap();
    assert_eq!(missed(&agreement), ["flows that finish in theirs"]);
    ours.flows[1].size_bytes = 1;
    let error = compare(&theirs(lines.clone(), Vec::new()), &ours, false, Promised::Near).unwrap_err();
    assert!(error.line() == Some(2) && error.render(false).contains("1 B there"), "{error}");
    ours.flows.remove(1);
    let error = compare(&theirs(lines, Vec::new()), &ours, false, Promised::Near).unwrap_err();
    assert!(error.line() == Some(2) && error.render(false).contains("not in the run's list"), "{error}");
}

#[test]
fn numbers_read_well() {
    assert_eq!([0.9, 0.9999, 1.0, 0.0, 0.123].map(share), ["90%", "99.9%", "100%", "0%", "12.3%"]);
    assert_eq!([0.0, 0.0123, -0.00001].map(signed), ["=", "+1.23%", "-0.00%"]);
}

#[test]
fn where_equality_is_promised_a_nanosecond_is_too_much() {
    let found = |promised, more: u64, frames: Vec<PfcLine>| {
        let their = line(1, 1_000, 10_000);
        let ours = Ours { flows: vec![our(&their, 10_000 + more)], frames, failure: None };
        compare(&theirs(vec![their], vec![frame(5, true)]), &ours, true, promised).unwrap()
    };
    assert!(found(Promised::Equal, 0, vec![frame(5, true)]).held());
    assert_eq!(missed(&found(Promised::Equal, 1, vec![frame(5, true)])), ["flows"]);
    assert_eq!(missed(&found(Promised::Equal, 0, vec![frame(6, true)])), ["PFC frames"]);
    assert_eq!(missed(&found(Promised::Equal, 0, vec![frame(5, true), frame(5, true)])), ["PFC frames"]);
    let anything = found(Promised::Nothing, 9_000, Vec::new());
    assert!(anything.held() && anything.notes[0].starts_with("No time is promised"));
}
