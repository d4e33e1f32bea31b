//! What a page knows of a run before anything moves: nodes, ports, thresholds, totals, jobs, and what happened.

use super::marks::{self, Mark};
use super::windows::{TILE, Timeline};
use super::{Replay, jobs};
use crate::congestion::{end_of, known_port};
use crate::contract;
use crate::incident::Warning;
use crate::jobs::rows::JobRow;
use crate::tables;
use xoff_scenario::Diagnostic;

contract! {
    pub struct RunFacts<'a> as RunHead {
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
        jobs: &'a [JobRow],
        /// What happened to the run, by time.
        marks: Vec<Mark>,
        warnings: Vec<String>,
        failure: Option<&'a str>,
        pause_times: &'static str,
    }
}

contract! {
    #[derive(Default)]
    struct Nodes<'a> as Nodes {
        name: Vec<&'a str>,
        layer: Vec<&'a str>,
        tier: Vec<u32>,
        domain: Vec<u16>,
    }
}

contract! {
    #[derive(Default)]
    struct Ports<'a> as Ports {
        name: Vec<&'a str>,
        node: Vec<u32>,
        rate_gbps: Vec<f64>,
    }
}

contract! {
    /// Rows of `ports.parquet`.
    #[derive(Default)]
    struct Queues as Queues {
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
}

contract! {
    /// What `ports.parquet` has of a port in all priorities, by port.
    #[derive(Default)]
    struct PortTotals as PortTotals {
        tx_bytes: Vec<u64>,
        utilisation: Vec<f64>,
        pause_frames: Vec<u64>,
        resume_frames: Vec<u64>,
    }
}

/// The interfaces of `run.json`.
pub fn typescript() -> String {
    [RunFacts::interface(), Nodes::interface(), Ports::interface(), Queues::interface(), PortTotals::interface()]
        .concat()
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
        jobs: &summary.jobs,
        marks: marks::of(replay)?,
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
    if !replay.run.summary.jobs.is_empty() {
        let (end, bins) = (end_of(&replay.run), line.flows_started.len());
        line.exposed_ranks = jobs::exposed(&replay.rest()?.activities, end, line.bin_us, bins);
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
    // Ten numbers, in lists that grow, and as JSON.
    for rows in replay.run.rows_to_keep(&tables::PORTS, &columns, 256)? {
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
