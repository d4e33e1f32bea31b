//! What a run costs at packet level and at flow level, about: bytes, packets and hops counted, and what these took when
//! they were measured.

use crate::Loaded;
use crate::fidelity;
use serde::Serialize;
use xoff_engine::stream;
use xoff_fabric::plan::NodeKind;
use xoff_fabric::route::{FlowKey, Routes};
use xoff_jobs::collective::Form;

/// Microseconds of one core that a packet-hop takes, a message of a job at packet level, a message or flow at flow level,
/// and a connection of a macro-flow there (docs/performance.md).
const HOP_US: f64 = 0.14;
const MESSAGE_US: f64 = 4.0;
const FLOW_US: f64 = 20.0;
const CONNECTION_US: f64 = 3.0;
/// Hops of most paths, at most.
const LONGEST_PATH: f64 = 8.0;
/// Pairs of hosts whose paths are counted.
const PAIRS: u64 = 64;
/// From so many seconds at packet level on the program shows the command for flow level.
pub const LONG_S: f64 = 600.0;

/// What both levels take of one core. Good for a choice between them, within a factor of two or three.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Cost {
    /// Transmissions of packets and ACKs over links; none if what is sent is not known before.
    pub packet_hops: Option<f64>,
    /// Seconds at packet level.
    pub packet_level_s: Option<f64>,
    /// Seconds at flow level.
    pub flow_level_s: Option<f64>,
    /// Why there is no run at flow level.
    pub flow_level_refused: Option<String>,
    /// What is known of the error at flow level.
    pub flow_level_range: Option<String>,
}

impl Cost {
    /// Costs of a scenario as loaded at packet level and at flow level, or why it is refused there.
    pub fn of(packet: &Loaded, flow: Result<&Loaded, String>) -> Cost {
        let packet_hops = packet_hops(packet);
        let messages: f64 = jobs(packet).map(|(messages, iterations, _)| messages * iterations).sum();
        let (at_flow_level, refused) = match flow {
            Ok(loaded) => (Some(loaded), None),
            Err(why) => (None, Some(why)),
        };
        Cost {
            packet_hops,
            packet_level_s: packet_hops.map(|hops| (hops * HOP_US + messages * MESSAGE_US) / 1e6),
            flow_level_s: at_flow_level.and_then(flow_level_s),
            flow_level_refused: refused,
            flow_level_range: at_flow_level.and_then(|loaded| fidelity::range(&loaded.traffic, &loaded.schemes)),
        }
    }

    /// Whether a run at packet level may be a long one; by arithmetic alone, so that others pay nothing for the question.
    pub fn may_be_long(loaded: &Loaded) -> bool {
        let messages: f64 = jobs(loaded).map(|(messages, iterations, _)| messages * iterations).sum();
        let hops = sent(loaded).map_or(0.0, |packets| packets * LONGEST_PATH);
        hops * HOP_US + messages * MESSAGE_US > LONG_S * 1e6
    }

    /// In a line or two.
    pub(super) fn text(&self) -> String {
        let seconds = |of: Option<f64>| of.map_or_else(|| "an unknown time".to_owned(), words);
        let hops = self.packet_hops.map_or_else(String::new, |hops| format!(" ({hops:.1e} packet-hops)"));
        let flow = match &self.flow_level_refused {
            Some(why) => format!("flow level: refused, {why}"),
            None => {
                let range = self.flow_level_range.as_ref().map_or_else(String::new, |range| format!(", {range}"));
                format!("flow level: {}{range}", seconds(self.flow_level_s))
            }
        };
        format!("cost of one core, about: packet level {}{hops}; {flow}", seconds(self.packet_level_s))
    }
}

/// Seconds, minutes, hours or days.
pub fn words(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "less than 1 s".to_owned(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// Messages and iterations of each job, and whether these are macro-flows.
fn jobs(loaded: &Loaded) -> impl Iterator<Item = (f64, f64, bool)> {
    loaded.traffic.iter().filter_map(|traffic| traffic.job()).map(|job| {
        let size = job.graph.size();
        (size.messages as f64, f64::from(job.iterations), job.graph.form() == Some(Form::MacroFlows))
    })
}

fn flow_level_s(loaded: &Loaded) -> Option<f64> {
    let mut us = 0.0;
    for traffic in &loaded.traffic {
        us += match traffic.job() {
            Some(job) if job.graph.form() == Some(Form::MacroFlows) => {
                job.graph.size().connections() as f64 * CONNECTION_US
            }
            Some(job) => job.graph.size().messages as f64 * f64::from(job.iterations) * FLOW_US,
            None => traffic.expected.flows? * FLOW_US,
        };
    }
    Some(us / 1e6)
}

/// Transmissions of packets and ACKs over links.
fn packet_hops(loaded: &Loaded) -> Option<f64> {
    Some(sent(loaded)? * mean_hops(loaded)?)
}

/// Packets and ACKs.
fn sent(loaded: &Loaded) -> Option<f64> {
    let bytes = loaded.traffic.iter().map(|traffic| traffic.expected.bytes).sum::<Option<f64>>()?;
    let host = loaded.plan.hosts.first()?;
    let acks = 1.0 / f64::from(host.ack_every.max(1));
    Some(bytes / f64::from(host.mtu_bytes.max(1)) * (1.0 + acks))
}

/// Links of a path, in the mean of some pairs of hosts of one piece.
fn mean_hops(loaded: &Loaded) -> Option<f64> {
    let plan = &loaded.plan;
    let routes = Routes::new(plan, |_| true);
    let hosts: Vec<u32> =
        (0..plan.nodes.len() as u32).filter(|&node| plan.nodes[node as usize].kind == NodeKind::Host).collect();
    let mut draw = stream(0, "cost", 0);
    let (mut links, mut paths, mut path) = (0, 0, Vec::new());
    for number in 0..PAIRS {
        let from = hosts[draw.below(hosts.len() as u64) as usize];
        // In a network of many pieces most hosts have no way to each other: those that follow each other have.
        let near = hosts.iter().position(|&host| host == from)? + 1 + draw.below(8) as usize;
        for to in [hosts[draw.below(hosts.len() as u64) as usize], hosts[near % hosts.len()]] {
            let key = FlowKey { seed: 0, identity: number, from, to, ports: (0, 0), number: 0 };
            if from != to && routes.path(from, to, &key, &mut path) {
                (links, paths) = (links + path.len(), paths + 1);
                break;
            }
        }
    }
    (paths > 0).then(|| links as f64 / f64::from(paths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_that_fits() {
        let told = [0.3, 4.0, 119.0, 600.0, 7100.0, 86_400.0, 1e6].map(words);
        assert_eq!(told, ["less than 1 s", "4 s", "119 s", "10 min", "118 min", "24 h", "12 days"]);
    }
}
