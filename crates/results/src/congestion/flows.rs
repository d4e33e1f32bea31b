//! The flows of a run, as a trace needs them.

use super::known_port;
use super::network::Network;
use crate::interner::Interner;
use crate::read::{Rows, RunDirectory};
use crate::tables;
use std::collections::HashMap;
use xoff_engine::{Span, Time};
use xoff_scenario::Diagnostic;

/// What is read of `flows.parquet`, declared once: field, type, how it is read, column; and the name under which a replay
/// shows it, if it does. `$with!` makes something of the list.
macro_rules! flow_columns {
    ($with:ident) => {
        $with! {
            id: u64 = count "flow_id", shown id;
            src: u32 = count "src", shown src;
            dst: u32 = count "dst", shown dst;
            // Numbers in `Flows::words`, since few texts are shared by many flows.
            label: u32 = word "label";
            source: u32 = word "source";
            scheme: u32 = word "scheme";
            path_text: u32 = word "path";
            priority: u8 = count "priority", shown priority;
            size_bytes: Option<u64> = maybe_count "size_bytes", shown size_bytes;
            delivered_bytes: u64 = count "delivered_bytes", shown delivered_bytes;
            start: Time = time "start_us", shown start_us;
            // When the receiver had everything.
            delivered: Option<Time> = maybe_time "finish_us", shown finish_us;
            // From the start until the sender knew.
            until_acked: Option<Time> = maybe_time "fct_acked_us";
            ideal_us: Option<f64> = maybe_real "ideal_us", shown ideal_us;
            slowdown: Option<f64> = maybe_real "slowdown", shown slowdown;
            base_rtt_us: f64 = real "base_rtt_us";
            goodput_gbps: Option<f64> = maybe_real "goodput_gbps", shown goodput_gbps;
            packets_sent: u64 = count "packets_sent";
            packets_retransmitted: u64 = count "packets_retransmitted", shown retransmitted;
            timeouts: u64 = count "timeouts", shown timeouts;
            marked: u64 = count "marked", shown marked;
            notifications: u64 = count "notifications", shown notifications;
        }
    };
}
pub(crate) use flow_columns;

macro_rules! read_flows {
    ($($field:ident: $type:ty = $how:ident $column:literal $(, shown $shown:ident)?;)*) => {
        /// One row of `flows.parquet`.
        #[derive(Clone, Debug)]
        pub struct Flow {
            $(pub $field: $type,)*
        }

        const COLUMNS: &[&str] = &[$($column),*];

        impl Flow {
            /// All rows of a batch; texts become numbers of `words`.
            fn read(rows: &Rows, words: &mut Interner) -> Result<Vec<Flow>, Diagnostic> {
                $(let $field = column!(rows, $how, $column);)*
                Ok((0..rows.len()).map(|row| Flow { $($field: cell!($field, row, words, $how),)* }).collect())
            }
        }
    };
}

macro_rules! column {
    ($rows:ident, count, $column:literal) => {
        $rows.integers($column)?
    };
    ($rows:ident, maybe_count, $column:literal) => {
        $rows.integers($column)?
    };
    ($rows:ident, word, $column:literal) => {
        $rows.texts($column)?
    };
    ($rows:ident, $real:ident, $column:literal) => {
        $rows.reals($column)?
    };
}

macro_rules! cell {
    ($of:ident, $row:ident, $words:ident, count) => {
        $of.get($row).unwrap_or(0).try_into().unwrap_or_default()
    };
    ($of:ident, $row:ident, $words:ident, word) => {
        $words.number($of.get($row).unwrap_or(""))
    };
    ($of:ident, $row:ident, $words:ident, real) => {
        $of.get($row).unwrap_or(0.0)
    };
    ($of:ident, $row:ident, $words:ident, time) => {
        $of.time($row).unwrap_or(Time::ZERO)
    };
    ($of:ident, $row:ident, $words:ident, maybe_time) => {
        $of.time($row)
    };
    ($of:ident, $row:ident, $words:ident, $maybe:ident) => {
        $of.get($row)
    };
}

flow_columns!(read_flows);

impl Flow {
    /// When the sender knew that the receiver had everything.
    pub fn acked(&self) -> Option<Time> {
        self.until_acked.map(|span| self.start.saturating_add(span - Time::ZERO))
    }

    /// The end of its life at the sender: the last ACK, or the end of the run.
    pub fn sender_end(&self, run_end: Time) -> Time {
        self.acked().unwrap_or(run_end).max(self.start)
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
    words: Interner,
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

/// Memory that a row takes: twice in a list that grows, some instants at each hop, and a text of JSON.
const ROW_BYTES: u64 = 2 * size_of::<Flow>() as u64 + 256;

impl Flows {
    pub fn read(run: &RunDirectory, network: &Network) -> Result<Flows, Diagnostic> {
        let mut flows = Flows::default();
        for rows in run.rows_to_keep(&tables::FLOWS, COLUMNS, ROW_BYTES)? {
            let rows = rows?;
            for flow in Flow::read(&rows, &mut flows.words)? {
                flows.know_path(flow.path_text, network)?;
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
