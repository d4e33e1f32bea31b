//! A small plan and plausible records, for tests of the results.

use super::jobs::gather::JobFacts;
use super::live_timing::{Clock, Frames, Ignored, Lateness, LiveTiming, Slip, Verdict, Window};
use super::outcome::RunContext;
use super::summary::MeasuredRow;
use std::sync::Arc;
use std::time::Duration;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::*;
use xoff_fabric::record::{
    ClassReport, Counters, FlowRecord, Multipath, Paths, PauseRecord, PortReport, RecoveryRecord,
};
use xoff_jobs::{Activity, ActivityKind, Collective, Dag, Interval, Work};
use xoff_run::RunEnd;
use xoff_scenario::measure::{Along, Curve, CurveAxes};
use xoff_scenario::traffic::JobInterval;

/// A measure that is a curve over the sizes of flows.
pub fn by_size(x: Vec<f64>, y: Vec<f64>) -> MeasuredRow {
    let axes = CurveAxes {
        along: Along::Sizes,
        x: "Flow size".into(),
        x_unit: "bytes".into(),
        y: "p99 slowdown".into(),
        y_unit: String::new(),
    };
    let (curve, axes) = (Some(Curve { x, y }), Some(axes));
    MeasuredRow { name: "bysize".into(), curve, axes, ..MeasuredRow::default() }
}

/// h0 and h1 on s0; r0 and r1 on s1; two parallel links between the switches.
pub fn plan() -> Plan {
    let node = |name: &str, kind: NodeKind, layer: &str| Node {
        name: name.into(),
        kind,
        profile: 0,
        layer: layer.into(),
        domain: 0,
    };
    let (host, switch) = (NodeKind::Host, NodeKind::Switch);
    let way = Direction { rate: BitRate::from_gbps(40), delay: Span::from_us(5), loss: 0.0 };
    let link = |a, b| Link { a, b, a_to_b: way, b_to_a: way };
    let thresholds = Thresholds::Static { xoff_bytes: 512_000, xon_bytes: 510_000 };
    let pfc = PfcSettings { thresholds, ..PfcSettings::default() };
    Plan {
        seed: 7,
        nodes: vec![
            node("h0", host, "host"),
            node("h1", host, "host"),
            node("s0", switch, "leaf"),
            node("s1", switch, "leaf"),
            node("r0", host, "host"),
            node("r1", host, "host"),
        ],
        links: vec![link(0, 2), link(1, 2), link(2, 3), link(2, 3), link(3, 4), link(3, 5)],
        classes: Classes { list: vec![Class::default(), Class { priority: 6, ..Class::default() }], control: 1 },
        switches: vec![SwitchSettings { pfc, ..SwitchSettings::default() }],
        hosts: vec![HostSettings {
            mtu_bytes: 1024,
            nak_interval: Span::from_us(100),
            retransmit_timeout: Span::from_ms(4),
            ..HostSettings::default()
        }],
        run: RunSettings {
            stop: Time::from_ms(10),
            deadlock_check: None,
            stall_after: None,
            record_pauses: true,
            record_pfc_frames: true,
            record_flow_links: true,
            ..RunSettings::default()
        },
        ..Plan::default()
    }
}

pub fn context(plan: &Plan) -> RunContext<'_> {
    RunContext {
        name: "two switches".into(),
        schemes: vec!["none".into()],
        seed: 7,
        plan,
        routing: "ecmp",
        labels: vec!["F0".into(), "burst".into()],
        sources: vec!["long".into(), "mice".into()],
        scenario: "name = \"two switches\"\n# <&>\n".into(),
        attachments: Vec::new(),
        csv: true,
        collect: false,
        flows: None,
        figures: false,
        activity: true,
        jobs: Vec::new(),
        live: false,
        version: "0.1.0".into(),
        disturbance: None,
        warnings: Vec::new(),
    }
}

/// Flow `id` of `size` bytes from h0 to r0, `fct` microseconds long with an ideal of 10.
pub fn flow(id: u32, size: u64, start_us: u64, fct_us: u64) -> FlowRecord {
    FlowRecord {
        id,
        number: u64::from(id),
        source: 1,
        label: 1,
        src: 0,
        dst: 4,
        ports: (10_000, 4791),
        size_bytes: Some(size),
        delivered_bytes: size,
        class: 0,
        scheme: 0,
        start: Time::from_us(start_us),
        delivered_at: Some(Time::from_us(start_us + fct_us)),
        acked_at: Some(Time::from_us(start_us + fct_us + 15)),
        ideal: Span::from_us(10),
        base_rtt: Span::from_us(30),
        packets_sent: size.div_ceil(1024),
        packets_retransmitted: 0,
        recovery: RecoveryRecord::default(),
        lost: 0,
        marked: 3,
        notifications: 1,
        first_notified: None,
        multipath: Multipath::default(),
        path: Paths::One(Box::new([0, 6, 8])),
    }
}

/// An endless flow from the start of the run that delivered `bytes`.
pub fn endless(id: u32, bytes: u64) -> FlowRecord {
    FlowRecord {
        source: 0,
        label: 0,
        size_bytes: None,
        delivered_bytes: bytes,
        start: Time::ZERO,
        delivered_at: None,
        acked_at: None,
        ..flow(id, 0, 0, 0)
    }
}

pub fn pause(at_us: u64, port: u32, pause: bool) -> PauseRecord {
    PauseRecord { at: Time::from_us(at_us), port, class: 0, pause, refresh: false, ingress_bytes: 512_100 }
}

pub fn end(delivered_bytes: u64) -> RunEnd {
    let ports = (0..12)
        .map(|port| PortReport {
            port,
            tx_packets: 10 * u64::from(port),
            tx_wire_bytes: 1_000_000 * u64::from(port),
            pause_frames: if port == 1 { 4 } else { 0 },
            resume_frames: if port == 1 { 4 } else { 0 },
            refresh_frames: 0,
            classes: vec![
                ClassReport {
                    queue_bytes_peak: 1_000 * u64::from(port),
                    queue_bytes_mean: 12.5,
                    ingress_bytes_peak: 400_000,
                    xoff_bytes: (port % 2 == 1).then_some(512_000),
                    headroom_bytes: 60_000,
                    headroom_used_peak_bytes: u64::from(port % 2) * 15_000,
                    paused: Span::from_us(30),
                    marks: 1,
                    drops: 0,
                },
                ClassReport::default(),
            ],
        })
        .collect::<Vec<_>>();
    RunEnd {
        counters: Counters {
            events: 5_000_000,
            packet_hops: 1_234_567,
            delivered_bytes,
            pause_frames: 4,
            resume_frames: 4,
            ..Counters::default()
        },
        ports: ports.into(),
        sim_end: Time::from_ms(10),
        wall: Duration::from_millis(350),
        run_cpu: Duration::from_millis(300),
        setup: Duration::from_millis(4),
        parts: 1,
        threads: 1,
        one_part_because: None,
        windows: None,
        peak_rss: 50_000_000,
        macro_flow_bytes: 0,
        settled: Vec::new(),
        imbalance: None,
        failure: None,
        deadlock_at: None,
        storms: Vec::new(),
        dead_links: Vec::new(),
        waits: Vec::new(),
        apart: false,
        missed_frames: Vec::new(),
    }
}

/// Of a machine that stood still for a part of the time; up to a hundredth is accepted.
pub fn live_timing(slip: f64) -> LiveTiming {
    let slip = Slip { share: slip, bound: 0.01 };
    let lateness = Lateness { p50_ns: 120.0, p99_ns: 900.0, max_ns: 4_000.0, bound_ns: 1_000.0 };
    let window = |number: u64| Window {
        at: Time::from_ms(number),
        wall_seconds: number as f64,
        slip: slip.share,
        lateness_p99_ns: (number > 1).then_some(900.0),
        lateness_max_ns: (number > 1).then_some(4_000.0),
        frames: 100 * number,
    };
    LiveTiming {
        clock: Clock::Elastic,
        time_scale: 1000.0,
        slip,
        lateness,
        frames: Frames { sent: 5_500, received: 5_497, lost: 3, unaccounted: 0 },
        ignored: vec![Ignored { reason: "not of this run".into(), frames: 2 }],
        cpu_share: 0.83,
        machine: "Linux 6.12, 2 x <CPU>".into(),
        wall_seconds: 10.0,
        scheduling: "nice level -20".into(),
        partners: None,
        verdict: Verdict::of(&slip, &lateness),
        windows: (1..=10).map(window).collect(),
    }
}

/// Ranks that compute, then sum up 8 MB, twice.
pub fn job(ranks: u32) -> JobFacts {
    let mut dag = Dag::new(ranks);
    let (step, sum) = (dag.name("step"), dag.name("gradients"));
    let all_reduce = ActivityKind::Collective(Collective::AllReduce);
    for (kind, name, bytes) in [(ActivityKind::Compute, step, 0), (all_reduce, sum, 8_000_000)] {
        for rank in 0..ranks {
            let activity = dag.activity(Activity { rank, kind, name, group: name, bytes });
            dag.op(activity, Work::Join);
        }
    }
    JobFacts {
        source: 1,
        name: "train".into(),
        graph: Arc::new(dag.compile()),
        iterations: 2,
        start: Time::from_us(100),
        ranks: (0..ranks).map(|rank| format!("s0.g{rank}")).collect(),
        servers: vec![0; ranks as usize],
    }
}

/// Every rank computes for 300 us, the last one for 20 more; all are done `sum_us` after the first.
pub fn job_intervals(ranks: u32, sum_us: u64, cut: bool) -> Vec<JobInterval> {
    let mut all = Vec::new();
    for iteration in 0..2u32 {
        let at = 100 + u64::from(iteration) * (300 + sum_us);
        for rank in 0..ranks {
            let late = if rank + 1 == ranks { 20 } else { 0 };
            let (begin, end) = (Time::from_us(at), Time::from_us(at + 300 + late));
            let interval = |activity, begin, end| Interval { iteration, activity, begin, end };
            all.push(JobInterval { job: 1, interval: interval(rank, begin, Some(end)) });
            let done = Time::from_us(at + 300 + sum_us);
            let done = (!cut || iteration == 0 || rank > 0).then_some(done);
            all.push(JobInterval { job: 1, interval: interval(ranks + rank, end, done) });
        }
    }
    all
}
