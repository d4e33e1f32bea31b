//! What a page knows of a run before anything moves: nodes, ports, thresholds, totals, faults and bursts.

use super::Replay;
use super::windows::{TILE, Timeline};
use crate::congestion::flows::Flows;
use crate::congestion::known_port;
use crate::incident::Warning;
use crate::tables;
use serde::Serialize;
use xoff_engine::Time;
use xoff_fabric::plan::{Fault, FaultKind};
use xoff_scenario::Diagnostic;

/// Flows of one source that start at one instant are a burst from this number on.
const BURST: usize = 4;
/// A source with more bursts than this is a background of bursts: none of them is worth a mark.
const BURSTS: usize = 100;

#[derive(Serialize)]
pub struct RunFacts<'a> {
    name: &'a str,
    scheme: &'a str,
    seed: u64,
    end_us: f64,
    window_us: f64,
    windows: u32,
    tile_windows: u32,
    levels: usize,
    nodes: Nodes<'a>,
    ports: Ports<'a>,
    queues: Queues,
    port_totals: PortTotals,
    events: Vec<Event>,
    bursts: Vec<Burst>,
    warnings: Vec<String>,
    failure: Option<&'a str>,
    pause_times: &'static str,
}

#[derive(Serialize, Default)]
struct Nodes<'a> {
    name: Vec<&'a str>,
    layer: Vec<&'a str>,
    tier: Vec<u32>,
    domain: Vec<u16>,
}

#[derive(Serialize, Default)]
struct Ports<'a> {
    name: Vec<&'a str>,
    node: Vec<u32>,
    rate_gbps: Vec<f64>,
}

/// Rows of `ports.parquet`.
#[derive(Serialize, Default)]
struct Queues {
    port: Vec<u32>,
    priority: Vec<u64>,
    queue_peak_bytes: Vec<u64>,
    queue_mean_bytes: Vec<f64>,
    ingress_peak_bytes: Vec<u64>,
    xoff_bytes: Vec<Option<u64>>,
    headroom_bytes: Vec<u64>,
    paused_us: Vec<f64>,
    marks: Vec<u64>,
    drops: Vec<u64>,
}

/// What `ports.parquet` has of a port in all priorities, by port.
#[derive(Serialize, Default)]
struct PortTotals {
    tx_bytes: Vec<u64>,
    utilisation: Vec<f64>,
    pause_frames: Vec<u64>,
    resume_frames: Vec<u64>,
}

#[derive(Serialize)]
struct Event {
    at_us: f64,
    until_us: Option<f64>,
    text: String,
    kind: &'static str,
}

#[derive(Clone, Serialize)]
struct Burst {
    at_us: f64,
    until_us: f64,
    text: String,
    source: String,
}

/// The file `run.json` of a replay.
pub fn run(replay: &Replay) -> Result<RunFacts<'_>, Diagnostic> {
    let Replay { run, loaded, network, windows, .. } = replay;
    let summary = &run.summary;
    let rest = replay.rest()?;
    let (queues, port_totals) = ports_table(replay)?;
    let all_nodes = 0..network.nodes() as u32;
    let all_ports = 0..network.ports() as u32;
    Ok(RunFacts {
        name: &summary.name,
        scheme: &summary.scheme,
        seed: summary.seed,
        end_us: summary.sim_time_us,
        window_us: windows.every_us,
        windows: windows.count,
        tile_windows: TILE,
        levels: windows.levels(),
        nodes: Nodes {
            name: all_nodes.clone().map(|node| network.names.node(node)).collect(),
            layer: all_nodes.clone().map(|node| network.layer(node)).collect(),
            tier: all_nodes.map(|node| network.tier(node)).collect(),
            domain: loaded.plan.nodes.iter().map(|node| node.domain).collect(),
        },
        ports: Ports {
            name: all_ports.clone().map(|port| network.names.port(port)).collect(),
            node: all_ports.clone().map(|port| network.names.node_of(port)).collect(),
            rate_gbps: all_ports.map(|port| network.names.rate(port).as_gbps()).collect(),
        },
        queues,
        port_totals,
        events: events(replay),
        bursts: bursts(&rest.flows, crate::congestion::end_of(run)),
        warnings: summary.warnings.iter().map(Warning::text).collect(),
        failure: summary.failure.as_deref(),
        pause_times: rest.story.pause_times(),
    })
}

/// The file `timeline.json` of a replay.
pub fn timeline(replay: &Replay) -> Result<Timeline, Diagnostic> {
    let mut line = replay.windows.timeline();
    for flow in &replay.rest()?.flows.list {
        if let Some(count) = line.flows_started.get_mut((flow.start.as_us() / line.bin_us) as usize) {
            *count += 1;
        }
    }
    Ok(line)
}

fn ports_table(replay: &Replay) -> Result<(Queues, PortTotals), Diagnostic> {
    let (mut queues, ports) = (Queues::default(), replay.network.ports());
    let mut totals = PortTotals {
        tx_bytes: vec![0; ports],
        utilisation: vec![0.0; ports],
        pause_frames: vec![0; ports],
        resume_frames: vec![0; ports],
    };
    let columns: Vec<&str> = tables::PORTS.columns.iter().map(|column| column.name).collect();
    for rows in replay.run.rows(&tables::PORTS, &columns)? {
        let rows = rows?;
        let whole = |name: &str| rows.integers(name);
        let (name, priority) = (rows.texts("port")?, whole("priority")?);
        let (tx, used) = (whole("port_tx_bytes")?, rows.reals("port_utilisation")?);
        let (pauses, resumes) = (whole("port_pause_frames")?, whole("port_resume_frames")?);
        let (peak, mean) = (whole("queue_peak_bytes")?, rows.reals("queue_mean_bytes")?);
        let (ingress, xoff, headroom) = (whole("ingress_peak_bytes")?, whole("xoff_bytes")?, whole("headroom_bytes")?);
        let (paused, marks, drops) = (rows.reals("paused_us")?, whole("marks")?, whole("drops")?);
        for row in 0..rows.len() {
            let port = known_port(&replay.network, name.get(row).unwrap_or(""))?;
            queues.port.push(port);
            queues.priority.push(priority.get(row).unwrap_or(0));
            queues.queue_peak_bytes.push(peak.get(row).unwrap_or(0));
            queues.queue_mean_bytes.push(mean.get(row).unwrap_or(0.0));
            queues.ingress_peak_bytes.push(ingress.get(row).unwrap_or(0));
            queues.xoff_bytes.push(xoff.get(row));
            queues.headroom_bytes.push(headroom.get(row).unwrap_or(0));
            queues.paused_us.push(paused.get(row).unwrap_or(0.0));
            queues.marks.push(marks.get(row).unwrap_or(0));
            queues.drops.push(drops.get(row).unwrap_or(0));
            let port = port as usize;
            totals.tx_bytes[port] = tx.get(row).unwrap_or(0);
            totals.utilisation[port] = used.get(row).unwrap_or(0.0);
            totals.pause_frames[port] = pauses.get(row).unwrap_or(0);
            totals.resume_frames[port] = resumes.get(row).unwrap_or(0);
        }
    }
    Ok((queues, totals))
}

/// Faults of the plan that happened, and when what they began was over.
fn events(replay: &Replay) -> Vec<Event> {
    let (plan, end) = (&replay.loaded.plan, crate::congestion::end_of(&replay.run));
    let begun = plan.faults.iter().filter(|fault| fault.at <= end);
    begun.filter_map(|fault| event(replay, fault)).collect()
}

fn event(replay: &Replay, fault: &Fault) -> Option<Event> {
    let names = &replay.network.names;
    let plan = &replay.loaded.plan;
    let later = |ends: &dyn Fn(&FaultKind) -> bool| {
        plan.faults.iter().find(|other| other.at > fault.at && ends(&other.what)).map(|other| other.at)
    };
    let (kind, text, until) = match fault.what {
        FaultKind::LinkDown { link } => {
            let up = later(&|other| matches!(other, FaultKind::LinkUp { link: up } if *up == link));
            ("fault", format!("link of {} down", names.port(2 * link)), up)
        }
        FaultKind::LinkUp { .. } | FaultKind::PauseStorm { on: false, .. } => return None,
        FaultKind::Rate { port, rate } => ("fault", format!("{} at {} Gbps", names.port(port), rate.as_gbps()), None),
        FaultKind::Loss { port, loss } => ("fault", format!("{} loses {loss} of its frames", names.port(port)), None),
        FaultKind::PauseStorm { host_port, .. } => {
            let over = later(
                &|other| matches!(other, FaultKind::PauseStorm { host_port: port, on: false, .. } if *port == host_port),
            );
            ("storm", format!("PAUSE storm by {}", names.node_name_of(host_port)), over)
        }
    };
    Some(Event { at_us: fault.at.as_us(), until_us: until.map(Time::as_us), text, kind })
}

/// Flows of one source that start together, from the first start to the last delivery.
fn bursts(flows: &Flows, end: Time) -> Vec<Burst> {
    let mut order: Vec<usize> = (0..flows.list.len()).collect();
    // Stable: by source, then by start.
    order.sort_by_key(|&index| flows.list[index].source);
    let same = |a: &usize, b: &usize| {
        let (a, b) = (&flows.list[*a], &flows.list[*b]);
        (a.source, a.start) == (b.source, b.start)
    };
    let together = order.chunk_by(same).filter(|group| group.len() >= BURST);
    let together: Vec<Burst> = together.map(|group| burst(flows, group, end)).collect();
    let of_source = together.chunk_by(|a, b| a.source == b.source).filter(|bursts| bursts.len() <= BURSTS);
    let mut bursts: Vec<Burst> = of_source.flatten().cloned().collect();
    bursts.sort_by(|a, b| a.at_us.total_cmp(&b.at_us));
    bursts
}

fn burst(flows: &Flows, group: &[usize], end: Time) -> Burst {
    let first = &flows.list[group[0]];
    let until = group.iter().map(|&index| flows.list[index].network_end(end)).max().unwrap_or(end);
    let source = flows.word(first.source).to_owned();
    let text = format!("{source}: {} flows", group.len());
    Burst { at_us: first.start.as_us(), until_us: until.as_us(), text, source }
}
