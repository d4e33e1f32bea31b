//! What can be said of a scenario before it runs: `xoff check`.

mod acks;
pub mod cost;
mod cycle;
mod headroom;
pub mod marking;
mod network;
mod routing;
mod servers;
mod text;

pub(crate) use headroom::HeadroomRow;
pub(crate) use marking::{Marking, Verdict};
pub(crate) use network::{Layer, LinkGroup, RoundTrips};
pub(crate) use servers::Servers;

use crate::{Loaded, budget};
use serde::Serialize;
use xoff_fabric::plan::{Fidelity, NodeKind, Thresholds};
use xoff_fabric::route::Routes;
use xoff_jobs::collective::Form;

/// Everything `xoff check` tells; text by [`Report::text`], JSON by serialising it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub(crate) name: String,
    pub(crate) hosts: usize,
    pub(crate) switches: usize,
    pub(crate) links: usize,
    pub(crate) layers: Vec<Layer>,
    pub(crate) link_groups: Vec<LinkGroup>,
    /// Only of networks that are made of servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) servers: Option<Servers>,
    pub(crate) round_trips: Option<RoundTrips>,
    pub(crate) schemes: Vec<String>,
    /// Only where one ACK covers several packets of a scheme with a window.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) acks: Vec<acks::AckRow>,
    pub(crate) headroom: Vec<HeadroomRow>,
    pub(crate) buffers: Vec<BufferRow>,
    pub(crate) marking: Vec<Marking>,
    /// Only where flows have several paths to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) routing: Option<routing::Routing>,
    /// Whether PFC can bring the network to a standstill.
    pub deadlock: Deadlock,
    pub(crate) traffic: Vec<TrafficRow>,
    /// Why a run has one partition, whatever the threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) one_part_because: Option<&'static str>,
    /// What runs of both levels take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<cost::Cost>,
    pub(crate) warnings: Vec<String>,
}

/// The buffers of switches that are alike.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct BufferRow {
    pub(crate) layer: String,
    pub(crate) switches: usize,
    pub(crate) ports: u32,
    pub(crate) buffer_bytes: u64,
    pub(crate) headroom_bytes: u64,
    /// Static thresholds, or the reserves of dynamic ones.
    pub(crate) promised_bytes: u64,
    /// Which of the two they are: `xoff` or `reserve`.
    pub(crate) promised: &'static str,
    /// Negative where more is promised than there is.
    pub(crate) left_bytes: i64,
}

/// Circles of buffers that wait for each other.
#[derive(Clone, Debug, Serialize)]
pub struct Deadlock {
    /// Whether buffers can wait for each other in a circle, along shortest and pinned paths.
    pub possible: bool,
    /// Since when, where a failed link makes it so.
    pub(crate) from_us: Option<f64>,
    /// Ports that wait for each other, in order.
    pub(crate) circle: Vec<String>,
}

#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct TrafficRow {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// Flows until the end of the run, where it is known.
    pub(crate) flows: Option<f64>,
    pub(crate) bytes: Option<f64>,
    /// Load of the senders' links.
    pub(crate) load: Option<f64>,
    pub(crate) ends_by_itself: bool,
    /// Messages of one iteration of a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) messages: Option<u64>,
    /// Whether collectives of a job are macro-flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) macro_flows: Option<bool>,
    /// What it takes to make the graph of a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_bytes: Option<u64>,
}

/// Looks at a scenario from all sides.
pub fn report(loaded: &Loaded) -> Report {
    let plan = &loaded.plan;
    let routes = Routes::new(plan, |_| true);
    let hosts = plan.nodes.iter().filter(|node| node.kind == NodeKind::Host).count();
    let round_trips = network::round_trips(plan, &loaded.names.all_hosts(), &routes);
    let acks = acks::rows(loaded, round_trips.as_ref());
    let routing = routing::routing(loaded, &routes);
    let any_lossless = plan.classes.list.iter().any(|class| class.lossless);
    Report {
        name: loaded.name.clone(),
        hosts,
        switches: plan.nodes.len() - hosts,
        links: plan.links.len(),
        layers: network::layers(plan),
        link_groups: network::link_groups(plan),
        servers: servers::servers(plan, &loaded.servers, &routes),
        round_trips,
        schemes: loaded.schemes.iter().map(|scheme| scheme.label.clone()).collect(),
        headroom: if any_lossless { headroom::rows(loaded) } else { Vec::new() },
        buffers: buffers(loaded),
        marking: marking::rows(loaded),
        deadlock: if any_lossless { deadlock(loaded, &routes) } else { Deadlock::impossible() },
        traffic: traffic(loaded),
        one_part_because: loaded.indivisible(true),
        cost: None,
        warnings: loaded
            .warnings
            .iter()
            .map(|warning| warning.message.clone())
            .chain(acks::warnings(&acks))
            .chain(routing.as_ref().and_then(routing::Routing::warning))
            .collect(),
        routing,
        acks,
    }
}

impl Report {
    /// Adds a warning of the caller.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

fn buffers(loaded: &Loaded) -> Vec<BufferRow> {
    let plan = &loaded.plan;
    let mut rows: Vec<BufferRow> = Vec::new();
    for budget in budget::budgets(plan, loaded.frame_bytes) {
        let promised = budget.headroom_bytes.saturating_add(budget.promised_bytes);
        let row = BufferRow {
            layer: plan.nodes[budget.node as usize].layer.clone(),
            switches: 1,
            ports: budget.ports,
            buffer_bytes: budget.buffer_bytes,
            headroom_bytes: budget.headroom_bytes,
            promised_bytes: budget.promised_bytes,
            promised: match plan.switches[usize::from(plan.nodes[budget.node as usize].profile)].pfc.thresholds {
                Thresholds::Static { .. } => "xoff",
                Thresholds::Dynamic { .. } => "reserve",
            },
            left_bytes: (i128::from(budget.buffer_bytes) - i128::from(promised)) as i64,
        };
        match rows.iter_mut().find(|known| BufferRow { switches: 1, ..(*known).clone() } == row) {
            Some(known) => known.switches += 1,
            None => rows.push(row),
        }
    }
    rows
}

impl Deadlock {
    fn impossible() -> Deadlock {
        Deadlock { possible: false, from_us: None, circle: Vec::new() }
    }
}

/// Looks at the network as it starts and after each change of its links, up to a few.
fn deadlock(loaded: &Loaded, whole: &Routes) -> Deadlock {
    let plan = &loaded.plan;
    let pinned = cycle::pinned(&loaded.traffic);
    for (at, down) in cycle::link_states(plan, 16) {
        let healthy = down.is_empty();
        let routes = (!healthy).then(|| Routes::new(plan, |link| !down.contains(&link)));
        if let Some(circle) = cycle::find(plan, routes.as_ref().unwrap_or(whole), &down, &pinned) {
            let names = loaded.names.port_names();
            return Deadlock {
                possible: true,
                from_us: (!healthy).then(|| at.as_us()),
                circle: circle.into_iter().map(|port| names[port as usize].clone()).collect(),
            };
        }
    }
    Deadlock::impossible()
}

fn traffic(loaded: &Loaded) -> Vec<TrafficRow> {
    let at_flow_level = loaded.plan.run.fidelity == Fidelity::Flow;
    let row = |plan: &crate::traffic::TrafficPlan| TrafficRow {
        name: plan.name.clone(),
        kind: plan.kind.to_owned(),
        flows: plan.expected.flows,
        bytes: plan.expected.bytes,
        load: plan.expected.load,
        ends_by_itself: plan.expected.finite,
        messages: plan.job().map(|job| job.graph.size().messages),
        macro_flows: plan.job().filter(|_| at_flow_level).map(|job| job.graph.form() == Some(Form::MacroFlows)),
        memory_bytes: plan.job().map(|job| job.graph.size().memory_bytes()),
    };
    loaded.traffic.iter().map(row).collect()
}

#[cfg(test)]
mod tests;
