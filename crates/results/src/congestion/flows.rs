//! The flows of a run, as a trace needs them.

use super::known_port;
use super::network::Network;
use crate::read::RunDirectory;
use crate::tables;
use crate::words::Words;
use std::collections::HashMap;
use xoff_engine::{Span, Time};
use xoff_scenario::Diagnostic;

/// One row of `flows.parquet`.
#[derive(Clone, Debug)]
pub struct Flow {
    pub id: u64,
    pub src: u32,
    pub dst: u32,
    /// Numbers in `Flows::words`, since few texts are shared by many flows.
    pub label: u32,
    pub source: u32,
    pub scheme: u32,
    pub path_text: u32,
    pub priority: u8,
    pub size_bytes: Option<u64>,
    pub delivered_bytes: u64,
    pub start: Time,
    /// When the receiver had everything.
    pub delivered: Option<Time>,
    /// When the sender knew.
    pub acked: Option<Time>,
    pub ideal_us: Option<f64>,
    pub slowdown: Option<f64>,
    pub base_rtt_us: f64,
    pub goodput_gbps: Option<f64>,
    pub packets_sent: u64,
    pub packets_retransmitted: u64,
    pub timeouts: u64,
    pub marked: u64,
    pub notifications: u64,
}

impl Flow {
    /// The end of its life at the sender: the last ACK, or the end of the run.
    pub fn sender_end(&self, run_end: Time) -> Time {
        self.acked.unwrap_or(run_end).max(self.start)
    }

    /// The end of its life in the network.
    pub fn network_end(&self, run_end: Time) -> Time {
        self.delivered.unwrap_or(run_end).max(self.start)
    }
}

/// All flows in the order of their starts.
#[derive(Default)]
pub struct Flows {
    pub list: Vec<Flow>,
    words: Words,
    /// Paths by [`Flow::path_text`].
    paths: HashMap<u32, Ways>,
}

/// Where packets of a flow went, by one path or by several.
#[derive(Default)]
struct Ways {
    /// Egress ports, each once, the sender's first and the last switch's last.
    ports: Vec<u32>,
    /// An egress port, and the next one.
    hops: Vec<(u32, u32)>,
    /// Ports that are on every path.
    shared: Vec<u32>,
}

const COLUMNS: [&str; 22] = [
    "flow_id",
    "source",
    "label",
    "src",
    "dst",
    "size_bytes",
    "delivered_bytes",
    "priority",
    "scheme",
    "start_us",
    "finish_us",
    "fct_acked_us",
    "ideal_us",
    "slowdown",
    "base_rtt_us",
    "packets_sent",
    "packets_retransmitted",
    "timeouts",
    "marked",
    "notifications",
    "path",
    "goodput_gbps",
];

/// Memory that a row takes: twice in a list that grows, some instants at each hop, and a text of JSON.
const ROW_BYTES: u64 = 2 * size_of::<Flow>() as u64 + 256;

impl Flows {
    pub fn read(run: &RunDirectory, network: &Network) -> Result<Flows, Diagnostic> {
        let mut flows = Flows::default();
        for rows in run.rows_to_keep(&tables::FLOWS, &COLUMNS, ROW_BYTES)? {
            let rows = rows?;
            let whole = |name: &str| rows.integers(name);
            let (id, src, dst, priority) = (whole("flow_id")?, whole("src")?, whole("dst")?, whole("priority")?);
            let (size, delivered_bytes) = (whole("size_bytes")?, whole("delivered_bytes")?);
            let (sent, again) = (whole("packets_sent")?, whole("packets_retransmitted")?);
            let (timeouts, marked, notified) = (whole("timeouts")?, whole("marked")?, whole("notifications")?);
            let (start, finish, acked) =
                (rows.reals("start_us")?, rows.reals("finish_us")?, rows.reals("fct_acked_us")?);
            let (ideal, slowdown) = (rows.reals("ideal_us")?, rows.reals("slowdown")?);
            let (base_rtt, goodput) = (rows.reals("base_rtt_us")?, rows.reals("goodput_gbps")?);
            let (label, source) = (rows.texts("label")?, rows.texts("source")?);
            let (scheme, path) = (rows.texts("scheme")?, rows.texts("path")?);
            for row in 0..rows.len() {
                let start = start.time(row).unwrap_or(Time::ZERO);
                let path_text = flows.words.number(path.get(row).unwrap_or(""));
                flows.know_path(path_text, network)?;
                let flow = Flow {
                    id: id.get(row).unwrap_or(0),
                    src: src.get(row).unwrap_or(0) as u32,
                    dst: dst.get(row).unwrap_or(0) as u32,
                    label: flows.words.number(label.get(row).unwrap_or("")),
                    source: flows.words.number(source.get(row).unwrap_or("")),
                    scheme: flows.words.number(scheme.get(row).unwrap_or("")),
                    path_text,
                    priority: priority.get(row).unwrap_or(0) as u8,
                    size_bytes: size.get(row),
                    delivered_bytes: delivered_bytes.get(row).unwrap_or(0),
                    start,
                    delivered: finish.time(row),
                    acked: acked.time(row).map(|span| start.saturating_add(span - Time::ZERO)),
                    ideal_us: ideal.get(row),
                    slowdown: slowdown.get(row),
                    base_rtt_us: base_rtt.get(row).unwrap_or(0.0),
                    goodput_gbps: goodput.get(row),
                    packets_sent: sent.get(row).unwrap_or(0),
                    packets_retransmitted: again.get(row).unwrap_or(0),
                    timeouts: timeouts.get(row).unwrap_or(0),
                    marked: marked.get(row).unwrap_or(0),
                    notifications: notified.get(row).unwrap_or(0),
                };
                let nodes = network.nodes() as u32;
                if flow.src >= nodes || flow.dst >= nodes {
                    let error =
                        Diagnostic::new(format!("flow {} is between hosts that its scenario does not have", flow.id));
                    return Err(error.help("scenario.toml and flows.parquet are of different runs"));
                }
                flows.list.push(flow);
            }
        }
        flows.list.sort_unstable_by_key(|flow| (flow.start, flow.id));
        Ok(flows)
    }

    pub fn word(&self, number: u32) -> &str {
        self.words.word(number)
    }

    /// `h0>s0>s1#1>r0` is by the ports `h0->s0`, `s0->s1#1`, `s1->r0`; `|` is between paths.
    fn know_path(&mut self, number: u32, network: &Network) -> Result<(), Diagnostic> {
        if self.paths.contains_key(&number) {
            return Ok(());
        }
        let mut ways = Ways::default();
        // Names of nodes have no such signs.
        for path in self.words.word(number).split('|') {
            let nodes: Vec<&str> = path.split('>').collect();
            let mut ports = Vec::with_capacity(nodes.len());
            for hop in nodes.windows(2) {
                let from = hop[0].split('#').next().unwrap_or_default();
                ports.push(known_port(network, &format!("{from}->{}", hop[1]))?);
            }
            ways.add(&ports);
        }
        self.paths.insert(number, ways);
        Ok(())
    }

    fn ways(&self, flow: &Flow) -> Option<&Ways> {
        self.paths.get(&flow.path_text)
    }

    /// Egress ports that packets of a flow crossed, the sender's first and the one to the receiver last.
    pub fn ports(&self, flow: &Flow) -> &[u32] {
        self.ways(flow).map_or(&[], |ways| &ways.ports)
    }

    /// Hops that packets of a flow took: an egress port, and the next one.
    pub fn hops(&self, flow: &Flow) -> &[(u32, u32)] {
        self.ways(flow).map_or(&[], |ways| &ways.hops)
    }

    /// Ports that all packets of a flow crossed.
    pub fn shared_ports(&self, flow: &Flow) -> impl Iterator<Item = u32> {
        self.ways(flow).into_iter().flat_map(|ways| ways.shared.iter().copied())
    }
}

impl Ways {
    fn add(&mut self, path: &[u32]) {
        for hop in path.windows(2).map(|hop| (hop[0], hop[1])) {
            if !self.hops.contains(&hop) {
                self.hops.push(hop);
            }
        }
        if self.ports.is_empty() {
            (self.ports, self.shared) = (path.to_vec(), path.to_vec());
            return;
        }
        self.shared.retain(|port| path.contains(port));
        for port in path {
            if !self.ports.contains(port) {
                self.ports.insert(self.ports.len() - 1, *port);
            }
        }
    }
}

/// Time from one instant to another, in microseconds.
pub fn span_us(from: Time, until: Time) -> f64 {
    let span: Span = until.saturating_since(from);
    span.as_us()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_paths_share_their_ends() {
        let mut ways = Ways::default();
        ways.add(&[0, 2, 6, 9]);
        assert_eq!((&ways.ports, &ways.shared), (&vec![0, 2, 6, 9], &vec![0, 2, 6, 9]));
        ways.add(&[0, 3, 7, 9]);
        assert_eq!(ways.ports, [0, 2, 6, 3, 7, 9], "from the sender to the receiver");
        assert_eq!(ways.hops, [(0, 2), (2, 6), (6, 9), (0, 3), (3, 7), (7, 9)]);
        assert_eq!(ways.shared, [0, 9]);
    }
}
