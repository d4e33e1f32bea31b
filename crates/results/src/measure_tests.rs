//! Measures of recordings made by hand, with numbers worked out by hand; and refusals.

use crate::fixture;
use std::path::Path;
use xoff_engine::{Span, Time};
use xoff_fabric::record::{ClassReport, Counters, FlowRecord, Metric, PauseRecord, PortReport, RecoveryRecord};
use xoff_run::recorder::record;
use xoff_scenario::measure::recording::{Grid, Response, Series, SeriesKey};
use xoff_scenario::measure::{self, Measured, Recording};
use xoff_scenario::{Loaded, Options, Scenario, Text};

/// A dumbbell of h0 to h2 and h3, h4; ten instants of 10 us.
const NETWORK: &str = r#"
[run]
stop = "100us"
[topology]
kind = "dumbbell"
left = 3
right = 2
rate = "10Gbps"
[[class]]
name = "data"
priority = 3
[[class]]
name = "other"
priority = 5
[[class]]
name = "control"
priority = 6
lossless = false
[[traffic]]
name = "pair"
kind = "flows"
flow = [
    { name = "F0", src = "h0", dst = "h3", size = "50KB" },
    { name = "F1", src = "h1", dst = "h4", size = "50KB" },
]
[[traffic]]
name = "blocks"
kind = "synchronised-reads"
clients = ["h3", "h4"]
servers = "h[0..2]"
unit = "10KB"
blocks = 1
[[probe]]
what = "queue"
ports = ["s0->s1", "s1->h*"]
class = "data"
[[probe]]
what = "throughput"
ports = "s0->s1"
[[probe]]
what = "paused"
ports = "s0->s1"
class = "data"
every = "5us"
[[probe]]
what = "flows"
"#;

fn load(measures: &str) -> Result<Loaded, String> {
    xoff_schemes::install_all();
    let scenario = Scenario::from_text("t", format!("{NETWORK}{measures}"), Path::new("."));
    scenario.load(&Options::default()).map_err(|errors| errors[0].to_string())
}

fn port(loaded: &Loaded, name: &str) -> u32 {
    let place = xoff_scenario::Place { source: xoff_scenario::Source::new("t", ""), span: 0..0 };
    loaded.names.ports(&Text { value: name.to_owned(), place }).unwrap()[0]
}

/// Takes measures, each given as the rest of its table; the names count from `m0`.
fn take(rows: &[&str], recording: &dyn Fn(&Loaded) -> Recording) -> Measured {
    let table =
        |(index, row): (usize, &&str)| format!("[[measure]]\nname = \"m{index}\"\n{}\n", row.replace("; ", "\n"));
    let text: String = rows.iter().enumerate().map(table).collect();
    let loaded = load(&text).unwrap_or_else(|error| panic!("{error}"));
    loaded.measures.take(&loaded.plan, &recording(&loaded))
}

fn numbers(rows: &[&str], recording: &dyn Fn(&Loaded) -> Recording) -> Vec<f64> {
    let measured = take(rows, recording);
    (0..rows.len()).map(|index| measured.numbers[&format!("m{index}")]).collect()
}

#[track_caller]
fn agree(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let same = found == expected || (found - expected).abs() < 1e-9 * expected.abs().max(1e-9);
        assert!(same || (found.is_nan() && expected.is_nan()), "m{index}: {found} is not {expected}");
    }
}

/// Two completed flows, one that did not, an endless one.
fn flows(loaded: &Loaded) -> Recording {
    // Size, start and time: 100 us is ten times the ideal.
    let mut list = vec![fixture::flow(0, 10_000, 0, 100), fixture::flow(1, 90_000, 20, 300)];
    list[0].label = 0;
    list[1].label = 1;
    let node = |name: &str| (0..).find(|node| loaded.names.node_name(*node) == name).unwrap();
    (list[0].dst, list[0].first_notified) = (node("h3"), Some(Time::from_us(40)));
    list[1].first_notified = Some(Time::from_us(75));
    (list[1].src, list[1].dst, list[1].multipath.detours) = (node("h1"), node("h4"), 2);
    let unfinished = FlowRecord { delivered_at: None, delivered_bytes: 5_000, ..fixture::flow(2, 50_000, 30, 0) };
    list.push(FlowRecord {
        label: 1,
        packets_retransmitted: 7,
        recovery: RecoveryRecord { timeouts: 2, ..RecoveryRecord::default() },
        ..unfinished
    });
    list.push(FlowRecord { source: 1, label: 2, notifications: 11, ..fixture::endless(3, 125_000) });
    for flow in &mut list {
        flow.source = u32::from(flow.label == 2);
    }
    Recording { flows: list, sim_end: Time::from_us(1000), ..Recording::default() }
}

#[test]
fn flows_are_counted_and_timed() {
    let rows = [
        "metric = \"fct\"; stat = \"mean\"; unit = \"us\"",
        "metric = \"fct\"; stat = \"sum\"; unit = \"ms\"",
        "metric = \"fct\"; stat = \"max\"; unit = \"s\"; up_to = \"10KB\"",
        "metric = \"fct\"; stat = \"mean\"; unit = \"us\"; over = \"10KB\"",
        "metric = \"fct\"; stat = \"mean\"; unit = \"us\"; started_from = \"21us\"",
        "metric = \"fct\"; stat = \"mean\"; unit = \"us\"; flows = \"F1\"",
        "metric = \"fct\"; stat = \"mean\"; unit = \"us\"; dst = \"h3\"",
        "metric = \"slowdown\"; stat = \"p99\"",
        "metric = \"size\"; stat = \"sum\"; unit = \"KB\"",
        "metric = \"flow-goodput\"; stat = \"max\"; unit = \"Gbps\"",
        "metric = \"flow-count\"; which = \"completed\"",
        "metric = \"flow-count\"; which = \"unfinished\"",
        "metric = \"flow-count\"; which = \"all\"; flows = [\"pair\", \"bl*\"]",
        "metric = \"completion-rate\"",
        "metric = \"goodput\"; unit = \"Gbps\"; flows = \"pair\"",
        "metric = \"delivered\"; unit = \"KB\"",
        "metric = \"notifications\"",
        "metric = \"marked\"; flows = \"pair\"",
        "metric = \"retransmissions\"",
        "metric = \"timeouts\"",
        "metric = \"rerouted-share\"",
        "metric = \"packets\"; flows = \"F0\"",
        "metric = \"duration\"; unit = \"us\"; flows = \"F*\"; over = \"5KB\"",
        "metric = \"duration\"; unit = \"us\"; dst = \"h*\"; up_to = \"10KB\"",
        "metric = \"first-notification\"; stat = \"range\"; unit = \"us\"",
        "metric = \"flow-goodput\"; stat = \"jain\"; unit = \"bps\"; up_to = \"10KB\"",
    ];
    let expected = [
        200.0,
        0.4,
        1e-4,
        300.0,
        f64::NAN,
        300.0,
        100.0,
        30.0,
        150.0,
        // 90 KB in 300 us.
        2.4,
        2.0,
        1.0,
        4.0,
        // From 0 to 320 us.
        6250.0,
        // 105 KB to the end of the run, since one has not completed.
        105_000.0 * 8.0 / 1e-3 / 1e9,
        230.0,
        14.0,
        9.0,
        7.0,
        2.0,
        0.25,
        10.0,
        f64::INFINITY,
        100.0,
        35.0,
        1.0,
    ];
    agree(&numbers(&rows, &flows), &expected);
}

#[test]
fn several_statistics_have_names_of_their_own() {
    let rows = ["metric = \"fct\"; stat = [\"mean\", \"p99\"]; unit = \"us\""];
    let measured = take(&rows, &flows);
    let found: Vec<(&str, f64)> = measured.numbers.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(found, [("m0.mean", 200.0), ("m0.p99", 300.0)]);
}

#[test]
fn curves_over_sizes_and_distributions() {
    let rows = [
        "metric = \"fct-by-size\"; edges = [\"0B\", \"10KB\", \"40KB\", \"90KB\"]; stat = \"mean\"; unit = \"us\"",
        "metric = \"size-cdf\"; unit = \"KB\"",
        "metric = \"fct-cdf\"; unit = \"us\"",
        "metric = \"slowdown-by-size\"; edges = [\"1KB\", \"1MB\"]; stat = \"max\"",
    ];
    let curves = take(&rows, &flows).curves;
    assert_eq!((&curves["m0"].x[..], &curves["m0"].y[..]), (&[5_000.0, 60_000.0][..], &[100.0, 300.0][..]));
    assert_eq!(curves["m1"].x, [10.0, 50.0, 90.0]);
    assert_eq!(curves["m1"].y, [1.0 / 3.0, 2.0 / 3.0, 1.0]);
    assert_eq!((&curves["m2"].x[..], &curves["m2"].y[..]), (&[100.0, 300.0][..], &[0.5, 1.0][..]));
    assert_eq!(curves["m3"].y, [30.0]);
}

#[test]
fn rounds_are_of_one_source_one_start_and_for_reads_one_client() {
    let recording = |_: &Loaded| {
        let part = |id: u32, source: u32, start: u64, fct: u64, dst: u32| FlowRecord {
            source,
            label: 2 * source,
            dst,
            ..fixture::flow(id, 1000, start, fct)
        };
        let flows = vec![
            // A round of `pair`: 30 us. To other hosts, all the same.
            part(0, 0, 0, 100, 3),
            part(1, 0, 0, 130, 4),
            // Alone, so no round.
            part(2, 0, 7, 100, 3),
            // Reads by two clients: 10 and 40 us.
            part(3, 1, 0, 50, 3),
            part(4, 1, 0, 60, 3),
            part(5, 1, 0, 50, 4),
            part(6, 1, 0, 90, 4),
            // Not completed.
            part(7, 1, 500, 10, 4),
            FlowRecord { delivered_at: None, ..part(8, 1, 500, 10, 4) },
        ];
        // On connections that stay open: 20 us.
        let response = |asked, done| Response {
            source: 1,
            label: 2,
            src: 0,
            dst: 3,
            class: 0,
            asked: Time::from_us(asked),
            done: Some(Time::from_us(done)),
        };
        Recording { flows, responses: vec![response(700, 720), response(700, 740)], ..Recording::default() }
    };
    let rows = [
        "metric = \"finish-gap\"; unit = \"us\"",
        "metric = \"finish-gap\"; unit = \"us\"; flows = \"blocks\"; stat = \"max\"",
        "metric = \"finish-gap\"; unit = \"us\"; flows = \"blocks\"; stat = \"sum\"",
        "metric = \"finish-gap\"; unit = \"us\"; started_from = \"600us\"",
    ];
    agree(&numbers(&rows, &recording), &[25.0, 40.0, 70.0, 20.0]);
}

/// Blocks over fresh and over open connections, as they really run.
#[test]
fn reads_have_rounds_whatever_carries_them() {
    for connections in ["fresh", "persistent"] {
        let text = format!(
            "[run]\nstop = \"10ms\"\n[topology]\nkind = \"star\"\nhosts = 4\nrate = \"10Gbps\"\n[[traffic]]\n\
             kind = \"synchronised-reads\"\nclients = \"h0\"\nservers = \"h[1..3]\"\nunit = \"10KB\"\nblocks = 5\n\
             connections = \"{connections}\"\n[[measure]]\nname = \"gap\"\nmetric = \"finish-gap\"\nunit = \"us\"\n\
             stat = [\"min\", \"max\"]\n"
        );
        xoff_schemes::install_all();
        let loaded = Scenario::from_text("t", text, Path::new(".")).load(&Options::default()).unwrap();
        let recording = record(&loaded, &loaded.measures, |_| {}).unwrap();
        let numbers = loaded.measures.take(&loaded.plan, &recording).numbers;
        // Three servers are served round-robin: the first is done at most two packets before the last.
        assert!(numbers["gap.min"] > 0.0 && numbers["gap.max"] < 5.0, "{connections}: {numbers:?}");
        assert_eq!(recording.responses.len(), if connections == "fresh" { 0 } else { 15 });
    }
}

const GRID: Grid = Grid { from: Time::ZERO, step: Span::from_us(10), until: Time::from_us(100) };

/// Queues of three ports and rates of two flows, of which F1 comes at 30 us and goes after 60 us.
fn series(loaded: &Loaded) -> Recording {
    let mut recording = Recording { sim_end: Time::from_us(100), ..Recording::default() };
    let mut put = |metric, entity, label, first, values: &[f64]| {
        let key = SeriesKey { metric, entity, class: 0 };
        recording.series.insert(key, Series { label, grid: GRID, first, values: values.to_vec() });
    };
    let queue = [0.0, 1e3, 5e3, 9e3, 9e3, 2e3, 1e3, 0.0, 0.0, 0.0, 4e3];
    put(Metric::QueueBytes, port(loaded, "s0->s1"), 0, 0, &queue);
    put(Metric::QueueBytes, port(loaded, "s1->h3"), 0, 0, &[0.0, 2e3, 0.0, 0.0, 0.0, 2e3, 3e3, 0.0, 0.0, 0.0, 0.0]);
    put(Metric::QueueBytes, port(loaded, "s1->h4"), 0, 0, &[0.0; 11]);
    let one = [0.0, 8e9, 8e9, 8e9, 2e9, 2e9, 4e9, 8e9, 8e9, 8e9, 8e9];
    put(Metric::FlowThroughput, 0, 0, 0, &one);
    put(Metric::FlowThroughput, 1, 1, 3, &[2e9, 2e9, 6e9, 4e9]);
    put(Metric::FlowRate, 0, 0, 0, &[10e9, 10e9, 10e9, 5e9, 5e9, 6e9, 6e9, 3e9, 3e9, 3e9, 3e9]);
    put(Metric::PortThroughput, port(loaded, "s0->s1"), 0, 0, &[0.0, 1e9, 1e9, 1e9, 1e9, 2e9, 2e9, 2e9, 2e9, 2e9, 2e9]);
    recording
}

#[test]
fn queues_over_time() {
    let of = "series = \"queue\"; of = \"s0->s1\"";
    let rows: Vec<String> = [
        "metric = \"mean\"; unit = \"KB\"",
        "metric = \"mean\"; unit = \"B\"; from = \"20us\"; until = \"40us\"",
        "metric = \"highest\"; unit = \"KB\"",
        "metric = \"lowest\"; unit = \"KB\"; until = \"60us\"; once_above = 5",
        "metric = \"highest\"; unit = \"KB\"; window = \"40us\"",
        "metric = \"last\"; unit = \"KB\"",
        "metric = \"percentile\"; p = 50; unit = \"KB\"",
        "metric = \"first-time\"; above = 5; series_unit = \"KB\"; unit = \"us\"",
        "metric = \"first-time\"; above = 50; series_unit = \"KB\"; unit = \"us\"",
        "metric = \"first-time\"; below = 0; series_unit = \"KB\"; unit = \"us\"; from = \"20us\"",
        "metric = \"longest-time\"; below = 0; series_unit = \"B\"; unit = \"us\"",
        "metric = \"time-share\"; above = 5; series_unit = \"KB\"",
        "metric = \"time-of-highest\"; unit = \"us\"",
        "metric = \"peaks\"",
        "metric = \"peaks\"; floor = 10; series_unit = \"KB\"",
        "metric = \"slope\"; unit = \"KB\"; until = \"20us\"; from = \"10us\"",
        "metric = \"mean\"; unit = \"KB\"; from = \"91us\"; until = \"99us\"",
        "metric = \"settling-time\"; below = 4; series_unit = \"KB\"; unit = \"us\"; from = \"10us\"",
        "metric = \"settling-time\"; below = 3; series_unit = \"KB\"; unit = \"us\"",
    ]
    .iter()
    .map(|row| format!("{row}; {of}"))
    .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let expected = [
        31.0 / 11.0,
        23_000.0 / 3.0,
        9.0,
        1.0,
        // 5, 9, 9, 2.
        6.25,
        4.0,
        1.0,
        20.0,
        f64::INFINITY,
        50.0,
        20.0,
        3.0 / 11.0,
        30.0,
        1.0,
        0.0,
        // 4 KB in 10 us.
        400.0,
        f64::NAN,
        40.0,
        f64::INFINITY,
    ];
    agree(&numbers(&rows, &series), &expected);
}

#[test]
fn several_ports_become_one() {
    let of = "series = \"queue\"; of = [\"s0->s1\", \"s1->h*\"]";
    let rows: Vec<String> = [
        "metric = \"highest\"; unit = \"KB\"",
        "metric = \"highest\"; unit = \"KB\"; across = \"mean\"",
        "metric = \"last\"; unit = \"KB\"; across = \"min\"",
        "metric = \"highest\"; unit = \"KB\"; across = \"each\"; combine = \"sum\"",
        "metric = \"highest\"; unit = \"KB\"; across = \"each\"; combine = \"range\"",
        "metric = \"largest-share\"; among = \"s0->s1\"",
        "metric = \"largest-share\"; among = \"s1->h*\"; from = \"10us\"; until = \"20us\"",
        "metric = \"last\"; across = \"jain\"",
    ]
    .iter()
    .map(|row| format!("{row}; {of}"))
    .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    // Instants at which something is queued: 10 to 60 us and 100 us; h3's is the largest at 10 and 60 us, and as
    // large at 50 us.
    agree(&numbers(&rows, &series), &[9.0, 3.0, 0.0, 12.0, 9.0, 5.0 / 7.0, 0.5, 1.0 / 3.0]);
}

#[test]
fn flows_over_time() {
    let rows = [
        // F1 delivers 14 Gb/s x 10 us; with what is not there the mean is over ten bins.
        "metric = \"mean\"; series = \"throughput\"; of = \"F1\"; unit = \"Gbps\"",
        "metric = \"mean\"; series = \"throughput\"; of = \"F1\"; unit = \"Gbps\"; across = \"mean\"",
        "metric = \"lowest\"; series = \"throughput\"; of = \"F1\"; unit = \"Gbps\"",
        "metric = \"lowest\"; series = \"throughput\"; of = \"F*\"; unit = \"Gbps\"; across = \"min\"",
        "metric = \"highest\"; series = \"throughput\"; of = \"pair\"; unit = \"Gbps\"",
        "metric = \"lowest\"; series = \"throughput\"; of = \"F0\"; unit = \"Gbps\"; window = \"20us\"; from = \"10us\"",
        "metric = \"mean\"; series = \"throughput\"; of = \"F*\"; unit = \"Gbps\"; from = \"30us\"; until = \"60us\"; across = \"each\"; combine = \"spread\"",
        "metric = \"settling-time\"; series = \"throughput\"; of = \"F*\"; across = \"jain\"; above = 0.9; unit = \"us\"; from = \"20us\"; until = \"60us\"",
        "metric = \"recovery-time\"; series = \"throughput\"; of = \"F0\"; unit = \"us\"; from = \"30us\"; before_window = \"20us\"",
        "metric = \"recovery-time\"; series = \"throughput\"; of = \"F0\"; unit = \"us\"; from = \"30us\"; before = 9; series_unit = \"Gbps\"",
        "metric = \"settling-time\"; series = \"throughput\"; of = \"F0\"; unit = \"us\"; target = 8; within = 0.1; series_unit = \"Gbps\"; from = \"30us\"",
        "metric = \"time-of-lowest\"; series = \"throughput\"; of = \"F0\"; unit = \"us\"; from = \"10us\"",
    ];
    let expected = [
        1.4,
        3.5,
        0.0,
        2.0,
        10.0,
        2.0,
        // F0: 2, 2, 4; F1: 2, 6, 4.
        1.5,
        // Jain: 30 us (8, 2): 100/136; 40 us: 1; 50 us (2, 6): 64/80; 60 us: 1, of a bin that begins at 50 us.
        30.0,
        // Bins from 30 us on: 2, 2, 4, 8, ...: whole again from 60 us on.
        30.0,
        f64::INFINITY,
        30.0,
        30.0,
    ];
    agree(&numbers(&rows, &series), &expected);
}

#[test]
fn cuts_and_changes_of_a_rate() {
    let rows = [
        "metric = \"largest-cut\"; series = \"rate\"; of = \"F0\"",
        "metric = \"count-changes\"; series = \"rate\"; of = \"F0\"",
        "metric = \"count-changes\"; series = \"rate\"; of = \"F0\"; least = 0.3",
        "metric = \"change-interval\"; series = \"rate\"; of = \"F0\"; unit = \"us\"",
        "metric = \"change-interval\"; series = \"rate\"; of = \"F0\"; unit = \"us\"; until = \"30us\"",
        "metric = \"first-cut\"; series = \"rate\"; of = \"F0\"; unit = \"us\"; from = \"10us\"",
        "metric = \"first-cut\"; series = \"rate\"; of = \"F0\"; unit = \"us\"; from = \"80us\"",
        "metric = \"std\"; series = \"rate\"; of = \"F0\"; unit = \"Gbps\"; from = \"20us\"; until = \"30us\"",
        "metric = \"cv\"; series = \"rate\"; of = \"F0\"; from = \"20us\"; until = \"30us\"",
    ];
    agree(&numbers(&rows, &series), &[50.0, 3.0, 2.0, 20.0, f64::INFINITY, 20.0, f64::INFINITY, 2.5, 1.0 / 3.0]);
}

#[test]
fn a_curve_has_the_series_in_its_units() {
    let rows = [
        "metric = \"curve\"; series = \"queue\"; of = \"s0->s1\"; unit = \"KB\"; x_unit = \"us\"; until = \"30us\"",
        "metric = \"curve\"; series = \"throughput\"; of = \"F1\"; unit = \"Gbps\"; window = \"20us\"",
    ];
    let curves = take(&rows, &series).curves;
    assert_eq!(curves["m0"].x, [0.0, 10.0, 20.0, 30.0]);
    assert_eq!(curves["m0"].y, [0.0, 1.0, 5.0, 9.0]);
    assert_eq!(curves["m1"].y, [0.0, 1.0, 2.0, 4.0, 5.0, 2.0, 0.0, 0.0, 0.0]);
    assert_eq!(curves["m1"].x[0], 0.02);
}

/// PAUSEs of s0 toward h0 and of s1 toward s0.
fn pauses(loaded: &Loaded) -> Recording {
    let (down, up) = (port(loaded, "s0->h0"), port(loaded, "s1->s0"));
    let pause = |at_us, port, class, refresh| PauseRecord {
        at: Time::from_us(at_us),
        port,
        class,
        pause: true,
        refresh,
        ingress_bytes: 0,
    };
    let report =
        |port, pause_frames, refresh_frames| PortReport { port, pause_frames, refresh_frames, ..PortReport::default() };
    Recording {
        pauses: vec![
            pause(10, up, 0, false),
            pause(20, down, 0, false),
            pause(30, down, 0, true),
            pause(40, down, 1, false),
            pause(90, down, 0, true),
        ],
        ports: vec![report(up, 1, 0), report(down, 2, 2)].into(),
        sim_end: Time::from_us(100),
        ..Recording::default()
    }
}

#[test]
fn pauses_by_sender_receiver_priority_and_time() {
    let rows = [
        "metric = \"pause-count\"",
        "metric = \"pause-count\"; frames = \"all\"",
        "metric = \"pause-count\"; toward = \"hosts\"",
        "metric = \"pause-count\"; toward = \"switches\"",
        "metric = \"pause-count\"; toward = \"h0\"; priority = 5",
        "metric = \"pause-count\"; by = \"s0->h*\"; frames = \"all\"; from = \"25us\"",
        "metric = \"pause-count\"; layer = \"switch\"; until = \"20us\"",
        "metric = \"pause-rate\"; frames = \"all\"",
        "metric = \"pause-rate\"; from = \"10us\"; until = \"20us\"",
        "metric = \"tree-lifetime\"; toward = \"hosts\"; unit = \"us\"",
        "metric = \"tree-lifetime\"; toward = \"hosts\"; unit = \"us\"; frames = \"all\"; priority = 3",
        "metric = \"tree-lifetime\"; toward = \"h2\"; unit = \"us\"",
        "metric = \"first-pause\"; toward = \"hosts\"; unit = \"ms\"",
        "metric = \"first-pause\"; toward = \"h2\"; unit = \"ms\"",
        "metric = \"last-pause\"; unit = \"us\"; frames = \"all\"",
    ];
    let never = f64::INFINITY;
    let expected = [3.0, 5.0, 2.0, 1.0, 1.0, 3.0, 2.0, 5e4, 2e5, 20.0, 70.0, 0.0, 0.02, never, 90.0];
    agree(&numbers(&rows, &pauses), &expected);
}

#[test]
fn a_window_may_follow_the_pauses() {
    let both = |loaded: &Loaded| Recording { pauses: pauses(loaded).pauses, ..series(loaded) };
    let of = "series = \"throughput\"; of = \"F0\"; unit = \"Gbps\"";
    let rows = [
        // PAUSEs toward h0 from 20 to 90 us; throughput in bins of 10 us.
        format!("metric = \"mean\"; {of}; from_first_pause = \"s0->h0\"; until_last_pause = \"s0->h0\""),
        format!("metric = \"last\"; {of}; until_last_pause = \"s1->s0\""),
        format!("metric = \"last\"; {of}; until_last_pause = \"s0->h0\"; until = \"50us\""),
        format!("metric = \"mean\"; {of}; from_first_pause = \"s0->h2\""),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    agree(&numbers(&rows, &both), &[40.0 / 7.0, 8.0, 2.0, f64::NAN]);
}

#[test]
fn ports_report() {
    let recording = |loaded: &Loaded| {
        let class = |peak, mean, paused_us, marks| ClassReport {
            queue_bytes_peak: peak,
            queue_bytes_mean: mean,
            paused: Span::from_us(paused_us),
            marks,
            ..ClassReport::default()
        };
        let trunk = PortReport {
            port: port(loaded, "s0->s1"),
            tx_wire_bytes: 62_500,
            classes: vec![class(4000, 1000.0, 30, 3), class(9000, 500.0, 40, 4)],
            ..PortReport::default()
        };
        let edge =
            PortReport { port: port(loaded, "s1->h3"), classes: vec![class(2000, 100.0, 0, 1)], ..trunk.clone() };
        Recording { ports: vec![trunk, edge].into(), sim_end: Time::from_us(100), ..Recording::default() }
    };
    let rows = [
        "metric = \"port\"; what = \"queue_peak\"; of = \"s0->s1\"; unit = \"KB\"",
        "metric = \"port\"; what = \"queue_peak\"; of = \"s0->s1\"; unit = \"KB\"; priority = 3",
        "metric = \"port\"; what = \"queue_mean\"; of = \"s0->s1\"; unit = \"B\"",
        "metric = \"port\"; what = \"queue_mean\"; of = [\"s0->s1\", \"s1->h3\"]; combine = \"mean\"; unit = \"B\"",
        "metric = \"port\"; what = \"utilisation\"; of = \"s0->s1\"",
        "metric = \"port\"; what = \"paused\"; of = \"s0->s1\"; unit = \"us\"",
        "metric = \"port\"; what = \"paused\"; of = \"s0->s1\"; priority = 3",
        "metric = \"port\"; what = \"marks\"; of = [\"s0->s1\", \"s1->h3\"]; combine = \"sum\"",
        "metric = \"port\"; what = \"sent_bytes\"; of = \"s0->s1\"; unit = \"KB\"",
    ];
    agree(&numbers(&rows, &recording), &[9.0, 4.0, 1500.0, 800.0, 0.5, 40.0, 0.3, 8.0, 62.5]);
}

#[test]
fn the_run_as_a_whole() {
    let recording = |_: &Loaded| Recording {
        counters: Counters { marks: 5, drops_lossy: 2, drops_fault: 1, ..Counters::default() },
        sim_end: Time::from_us(100),
        deadlock_at: Some(Time::from_us(60)),
        ..Recording::default()
    };
    let rows = [
        "metric = \"counter\"; of = \"marks\"",
        "metric = \"drops\"",
        "metric = \"deadlocked\"",
        "metric = \"deadlock-time\"; unit = \"us\"",
        "metric = \"end-time\"; unit = \"ms\"",
        "metric = \"base-rtt\"; src = \"h0\"; dst = \"h3\"; unit = \"ns\"",
    ];
    // A frame of 1000 + 62 + 20 bytes and an ACK of 66 + 20 over three links of 10 Gb/s and 1 us each way.
    let rtt = 3.0 * (1082.0 + 86.0) * 0.8 + 6000.0;
    agree(&numbers(&rows, &recording), &[5.0, 3.0, 1.0, 60.0, 0.1, rtt]);
    let fine = |_: &Loaded| Recording::default();
    agree(&numbers(&rows[2..4], &fine), &[0.0, f64::INFINITY]);
}

#[test]
fn only_what_is_needed_is_kept() {
    let needs = |row: &str| load(&format!("[[measure]]\nname = \"m\"\n{row}")).unwrap().measures.needs();
    let drops = needs("metric = \"drops\"");
    assert!(!drops.flows && !drops.pauses && drops.ports.is_empty() && drops.labels.is_empty());
    assert!(!needs("metric = \"pause-count\"").pauses);
    let timed = needs("metric = \"first-pause\"\nunit = \"us\"\nframes = \"all\"");
    assert!(timed.pauses && timed.refreshes && !timed.flows);
    assert_eq!(needs("metric = \"mean\"\nseries = \"queue\"\nof = \"s0->s1\"\nunit = \"B\"").ports.len(), 1);
    let flow = needs("metric = \"mean\"\nseries = \"rate\"\nof = \"F0\"\nunit = \"Gbps\"");
    assert_eq!(flow.labels.keys().copied().collect::<Vec<_>>(), [(Metric::FlowRate, 0)]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let refused = |rows: &str, part: &str| {
        let error = load(&rows.replace("; ", "\n")).map(|_| ()).expect_err(rows);
        assert!(error.contains(part), "`{part}` is missing from: {error}");
    };
    let one = |rest: &str, part: &str| refused(&format!("[[measure]]; name = \"m\"; {rest}"), part);
    one("metric = \"goodputs\"", "did you mean `goodput`?");
    one("metric = \"fct\"; stat = \"p200\"; unit = \"us\"", "`stat` cannot be \"p200\"");
    one("metric = \"fct\"; stat = \"mean\"; unit = \"KB\"", "`unit` cannot be \"KB\"");
    one("metric = \"fct\"; stat = \"mean\"", "lacks `unit`");
    one("metric = \"slowdown\"; stat = \"mean\"; unit = \"us\"", "`unit` has no effect here");
    one("metric = \"slowdown\"; stat = \"mean\"; flows = \"F7\"", "there are F0, F1");
    one("metric = \"slowdown\"; stat = \"mean\"; src = \"h9\"", "no host is called `h9`");
    one("metric = \"slowdown\"; stat = \"mean\"; over = \"1KB\"; up_to = \"1KB\"", "`up_to` is not above `over`");
    one("metric = \"slowdown\"; stat = \"mean\"; p = 3", "`p` has no effect here");
    one("metric = \"slowdown\"; stat = \"mean\"; priority = 1", "there are 3, 5, 6");
    one("metric = \"slowdown\"; stat = \"mean\"; colour = 1", "unknown key `colour`");
    one("metric = \"fct-by-size\"; edges = [\"2KB\", \"1KB\"]; stat = \"mean\"; unit = \"us\"", "do not ascend");
    one("metric = \"fct-by-size\"; edges = \"2KB\"; stat = \"mean\"; unit = \"us\"", "at least two sizes");
    one(
        "metric = \"mean\"; series = \"ingress\"; of = \"s0->h0\"; unit = \"KB\"",
        "add [[probe]] with what = \"ingress\", ports = \"s0->h0\"",
    );
    one("metric = \"mean\"; series = \"queue\"; of = \"s0->s1\"; unit = \"KB\"; priority = 5", "is not probed");
    one("metric = \"mean\"; series = \"queue\"; of = \"s0->s9\"; unit = \"KB\"", "no node is called `s9`");
    one("metric = \"mean\"; series = \"queue\"; of = \"s0->s1\"; unit = \"KB\"; across = \"each\"", "lacks `combine`");
    one(
        "metric = \"mean\"; series = \"queue\"; of = \"s0->s1\"; unit = \"KB\"; window = \"1us\"",
        "shorter than the interval",
    );
    one(
        "metric = \"mean\"; series = \"queue\"; of = \"s0->s1\"; unit = \"KB\"; from = \"2us\"; until = \"1us\"",
        "`until` is not after `from`",
    );
    one(
        "metric = \"curve\"; series = \"queue\"; of = \"s0->s1\"; unit = \"KB\"; across = \"each\"",
        "a curve is of one series",
    );
    one("metric = \"first-time\"; series = \"queue\"; of = \"s0->s1\"; unit = \"us\"", "exactly one of");
    one(
        "metric = \"first-time\"; series = \"queue\"; of = \"s0->s1\"; unit = \"us\"; above = 1",
        "lacks `series_unit`",
    );
    one("metric = \"recovery-time\"; series = \"queue\"; of = \"s0->s1\"; unit = \"us\"", "lacks `before_window`");
    one(
        "metric = \"recovery-time\"; series = \"queue\"; of = \"s0->s1\"; unit = \"us\"; from = \"5us\"; before_window = \"9us\"",
        "does not lie before",
    );
    one(
        "metric = \"largest-share\"; series = \"queue\"; of = \"s0->s1\"; among = \"s1->h3\"",
        "`among` is not a part of `of`",
    );
    one(
        "metric = \"mean\"; series = \"rate\"; of = \"blocks\"; unit = \"Gbps\"",
        "give their [[traffic]] `probe = true`",
    );
    one("metric = \"pause-count\"; by = \"s0->h0\"; toward = \"switches\"", "no port fits");
    one("metric = \"pause-count\"; layer = \"spine\"", "no layer is called `spine`");
    one("metric = \"port\"; what = \"marks\"; of = \"s1->h*\"", "selects 2 ports");
    one("metric = \"counter\"; of = \"pauses\"", "`of` cannot be \"pauses\"");
    refused("[[measure]]; name = \"a.b\"; metric = \"drops\"", "cannot be the name of a measure");
    let twice = "[[measure]]; name = \"m\"; metric = \"drops\"; ".repeat(2);
    refused(&twice, "two measures are called `m`");
}

#[test]
fn tables_of_another_document_are_read_against_any_run() {
    let text = "[[measure]]\nname = \"a\"\nmetric = \"drops\"\n[[measure]]\nname = \"b\"\nruns = \"other\"\nmetric = \"drops\"\n";
    let source = xoff_scenario::Source::new("experiment.toml", text);
    let entries = xoff_scenario::tree::parse(&source).unwrap();
    let xoff_scenario::tree::Value::Array(items) = &entries[0].item.value else { panic!("no list") };
    let loaded = load("").unwrap();
    let names = |group: &str| {
        let rows = measure::rows(items, group, Path::new(".")).unwrap();
        measure::read(rows, &loaded.scope()).unwrap().names()
    };
    assert_eq!(names("main"), ["a"]);
    assert_eq!(names("other"), ["a", "b"]);
}

#[test]
fn jobs_are_timed_and_their_collectives_measured() {
    xoff_schemes::install_all();
    let scenario = |more: &str| {
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\n[scheme]\nname = \"none\"\n{more}\n\
             [[traffic]]\nkind = \"all-reduce\"\nname = \"sums\"\nbytes = \"1MB\"\n\
             [[traffic]]\nkind = \"all-gather\"\nname = \"parts\"\nbytes = \"1MB\"\nstart = \"1ms\"\ncompute = \"50us\"\n"
        );
        Scenario::from_text("t", text, Path::new(".")).load(&Options::default()).map_err(|errors| errors[0].to_string())
    };
    let rows = [
        "metric = \"jct\"\nunit = \"us\"\njobs = \"sums\"",
        "metric = \"exposed\"\nunit = \"us\"\njobs = \"sums\"",
        "metric = \"algbw\"\ncollectives = \"all-reduce\"",
        "metric = \"busbw\"\ncollectives = \"all-reduce\"\nstat = \"max\"",
        "metric = \"jct\"\nunit = \"us\"\njobs = \"parts\"",
        "metric = \"exposed\"\nunit = \"us\"\njobs = \"parts\"",
        "metric = \"busbw\"\ncollectives = \"all-gather\"",
        "metric = \"jct\"\nunit = \"us\"",
    ];
    let measures: String =
        rows.iter().enumerate().map(|(index, row)| format!("[[measure]]\nname = \"m{index}\"\n{row}\n")).collect();
    let loaded = scenario(&measures).unwrap();
    let recording = record(&loaded, &loaded.measures, |_| {}).unwrap();
    let measured = loaded.measures.take(&loaded.plan, &recording);
    let m: Vec<f64> = (0..rows.len()).map(|index| measured.numbers[&format!("m{index}")]).collect();
    assert_eq!(measured.numbers.len(), rows.len());
    assert_eq!(loaded.measures.units()["m2"], "GB/s");
    // One collective takes all of the job, or what is left of it after 50 us of computing.
    agree(&[m[2] * m[0] * 1e3, m[3]], &[1e6, 1.5 * m[2]]);
    agree(&[m[6] * (m[4] - 50.0) * 1e3, m[7]], &[0.75e6, m[0].max(m[4])]);
    // All of it is exposed; some ranks end a little before the last.
    assert!(m[1] <= m[0] && m[1] > 0.999 * m[0] && m[5] <= m[4] - 50.0 && m[5] > 0.999 * (m[4] - 50.0), "{m:?}");
    // Nobody is faster than its link: 12.5 GB/s with headers.
    assert!(m[3] < 12.5 && m[3] > 5.0 && m[6] < 12.5, "{m:?}");

    let refused = |row: &str| scenario(&format!("[[measure]]\nname = \"m\"\n{row}\n")).map(|_| ()).unwrap_err();
    assert!(refused("metric = \"jct\"\nunit = \"us\"\njobs = \"sum\"").contains("no job is called `sum`"));
    assert!(refused("metric = \"busbw\"\ncollectives = \"reduce\"").contains("no collective is called `reduce`"));
    assert!(refused("metric = \"busbw\"\nunit = \"Gbps\"").contains("unit"));
    let none = load("[[measure]]\nname = \"m\"\nmetric = \"jct\"\nunit = \"us\"\n").map(|_| ()).unwrap_err();
    assert!(none.contains("the scenario has no training job"), "{none}");
    // One that the run's end cuts off never ends.
    let short = scenario(&format!("[run]\nstop = \"5us\"\n{measures}")).unwrap();
    let recording = record(&short, &short.measures, |_| {}).unwrap();
    assert_eq!(short.measures.take(&short.plan, &recording).numbers["m0"], f64::INFINITY);
}
