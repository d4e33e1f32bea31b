//! What a measure's table may name: flows by label or traffic, hosts, ports, classes.

use super::probe::facts;
use super::recording::Grid;
use crate::names::Pattern;
use crate::reader::Result;
use crate::traffic::plan::TrafficPlan;
use crate::{Names, Table, Text};
use std::collections::HashMap;
use xoff_engine::Time;
use xoff_fabric::plan::{NodeKind, Plan, ProbeTarget, peer};
use xoff_fabric::record::Metric;

/// A scenario with what is asked of it again and again.
pub struct Scope<'a> {
    pub plan: &'a Plan,
    pub names: &'a Names,
    pub traffic: &'a [TrafficPlan],
    /// Every label with the index of its traffic; a flow's label counts in these.
    labels: Vec<(&'a str, usize)>,
    /// Sampling times by metric and port, with its class.
    probed: HashMap<(Metric, u32), Vec<(u8, Grid)>>,
}

impl<'a> Scope<'a> {
    pub fn new(plan: &'a Plan, names: &'a Names, traffic: &'a [TrafficPlan]) -> Scope<'a> {
        let of = |(index, traffic): (usize, &'a crate::traffic::TrafficPlan)| {
            traffic.labels.iter().map(move |label| (label.as_str(), index)).collect::<Vec<_>>()
        };
        let mut probed: HashMap<(Metric, u32), Vec<(u8, Grid)>> = HashMap::new();
        for probe in &plan.probes {
            let (metric, port, class) = match probe.what {
                ProbeTarget::Queue { port, class } => (Metric::QueueBytes, port, class),
                ProbeTarget::Ingress { port, class } => (Metric::IngressBytes, port, class),
                ProbeTarget::Paused { port, class } => (Metric::PausedFraction, port, class),
                ProbeTarget::Throughput { port } => (Metric::PortThroughput, port, 0),
                ProbeTarget::PauseRate { port } => (Metric::PauseRate, port, 0),
                ProbeTarget::Shaped { port } => (Metric::ShapedBytes, port, 0),
                ProbeTarget::Buffer { port } => (Metric::SwitchBytes, port, 0),
                ProbeTarget::Flows | ProbeTarget::Scheme => continue,
            };
            let grid = Grid { from: probe.from, step: probe.every, until: probe.until };
            probed.entry((metric, port)).or_default().push((class, grid));
        }
        Scope { plan, names, traffic, labels: traffic.iter().enumerate().flat_map(of).collect(), probed }
    }

    /// Whether one of the patterns fits a label or the name of its traffic, by label.
    pub fn labels(&self, patterns: &[Text]) -> Result<Vec<bool>> {
        let mut chosen = vec![false; self.labels.len()];
        for text in patterns {
            let pattern = Pattern::parse(&text.value).map_err(|why| text.error(why))?;
            let mut found = false;
            for (chosen, (label, traffic)) in chosen.iter_mut().zip(&self.labels) {
                let named = |name: &str| name == text.value || pattern.matches(name);
                let fits = named(label) || named(&self.traffic[*traffic].name);
                found |= fits;
                *chosen |= fits;
            }
            if !found {
                return Err(self.no_flows(text));
            }
        }
        Ok(chosen)
    }

    /// [`Scope::labels`], where each pattern must pick a flow that probes follow.
    pub fn probed_labels(&self, patterns: &[Text]) -> Result<Vec<bool>> {
        let mut first = vec![0; self.traffic.len()];
        for (index, traffic) in self.traffic.iter().enumerate().skip(1) {
            first[index] = first[index - 1] + self.traffic[index - 1].labels.len() as u32;
            debug_assert!(!traffic.labels.is_empty(), "every flow has a label");
        }
        for pattern in patterns {
            let chosen = self.labels(std::slice::from_ref(pattern))?;
            let own = (0u32..).zip(&chosen).filter(|(_, chosen)| **chosen).map(|(label, _)| label);
            let probed = own.map(|label| {
                let traffic = self.labels[label as usize].1;
                self.traffic[traffic].probed(label - first[traffic])
            });
            if !probed.into_iter().any(|probed| probed) {
                let error = pattern.error(format!("no probe follows the flows `{}`", pattern.value));
                return Err(error.label("give their [[traffic]] `probe = true`"));
            }
        }
        self.labels(patterns)
    }

    fn no_flows(&self, text: &Text) -> crate::Diagnostic {
        let mut names: Vec<&str> = self.labels.iter().map(|(label, _)| *label).collect();
        names.extend(self.traffic.iter().map(|traffic| traffic.name.as_str()));
        names.sort_unstable();
        names.dedup();
        let error = text.error(format!("no flow or traffic is called `{}`", text.value));
        let shown: Vec<&str> = names.iter().copied().take(12).collect();
        let more = if names.len() > shown.len() { ", ..." } else { "" };
        error.label(format!("there are {}{more}", shown.join(", "))).nearest(&text.value, names.iter().copied())
    }

    /// Whether a host selector under `key` picks a node, by node; `None` if the key is left out.
    pub fn hosts(&self, row: &mut Table, key: &str) -> Result<Option<Vec<bool>>> {
        let Some(selectors) = row.take_texts(key)? else { return Ok(None) };
        let mut chosen = vec![false; self.plan.nodes.len()];
        for host in self.names.hosts(&selectors)? {
            chosen[host as usize] = true;
        }
        Ok(Some(chosen))
    }

    /// Whether a selector under `key` picks a port, by port; `None` if the key is left out.
    pub fn ports(&self, row: &mut Table, key: &str) -> Result<Option<Vec<bool>>> {
        let Some(selectors) = row.take_texts(key)? else { return Ok(None) };
        let mut chosen = vec![false; self.plan.ports()];
        for port in self.names.all_ports(&selectors)? {
            chosen[port as usize] = true;
        }
        Ok(Some(chosen))
    }

    /// The class of a `priority`, if one is given.
    pub fn class(&self, row: &mut Table) -> Result<Option<u8>> {
        let Some(priority) = row.take_count("priority", 0..=7)? else { return Ok(None) };
        let classes = &self.plan.classes.list;
        match classes.iter().position(|class| u64::from(class.priority) == priority) {
            Some(class) => Ok(Some(class as u8)),
            None => {
                let known: Vec<String> = classes.iter().map(|class| class.priority.to_string()).collect();
                let error = row.error("priority", format!("no class has priority {priority}"));
                Err(error.label(format!("there are {}", known.join(", "))))
            }
        }
    }

    /// Whether all of `by`, `layer` and `toward` pick a port, by port.
    pub fn senders(&self, row: &mut Table) -> Result<Vec<bool>> {
        let plan = &self.plan;
        let mut chosen = vec![true; plan.ports()];
        let mut restrict = |fits: &dyn Fn(u32) -> bool| {
            (0u32..).zip(&mut chosen).for_each(|(port, chosen)| *chosen &= fits(port));
        };
        if let Some(selectors) = row.take_texts("by")? {
            let ports = self.names.all_ports(&selectors)?;
            restrict(&|port| ports.binary_search(&port).is_ok());
        }
        if let Some(layers) = row.take_texts("layer")? {
            for layer in &layers {
                if plan.nodes.iter().all(|node| node.layer != layer.value) {
                    let mut known: Vec<&str> = plan.nodes.iter().map(|node| node.layer.as_str()).collect();
                    known.sort_unstable();
                    known.dedup();
                    let error = layer.error(format!("no layer is called `{}`", layer.value));
                    return Err(error.label(format!("there are {}", known.join(", "))).nearest(&layer.value, known));
                }
            }
            restrict(&|port| {
                let own = &plan.nodes[plan.node_of(port) as usize].layer;
                layers.iter().any(|layer| layer.value == *own)
            });
        }
        let kind = |port: u32| plan.nodes[plan.node_of(peer(port)) as usize].kind;
        if row.text_is("toward", "hosts") || row.text_is("toward", "switches") {
            let wanted = if row.text_is("toward", "hosts") { NodeKind::Host } else { NodeKind::Switch };
            row.text("toward")?;
            restrict(&|port| kind(port) == wanted);
        } else if let Some(hosts) = self.hosts(row, "toward")? {
            restrict(&|port| hosts[plan.node_of(peer(port)) as usize]);
        }
        if chosen.iter().all(|chosen| !chosen) {
            return Err(row.place().error("no port fits all of `by`, `layer` and `toward`"));
        }
        Ok(chosen)
    }

    /// `from` and `until`; the start and the end of the run where they are left out.
    pub fn window(&self, row: &mut Table) -> Result<(Time, Time)> {
        let from = row.take_time("from")?.unwrap_or(Time::ZERO);
        let until = row.take_time("until")?.unwrap_or(Time::NEVER);
        if until <= from {
            return Err(row.error("until", "`until` is not after `from`").label(format!("later than {from}")));
        }
        Ok((from, until))
    }

    /// The grids on which a metric of a port is probed, each with its class.
    pub fn port_grids(&self, metric: Metric, port: u32) -> &[(u8, Grid)] {
        self.probed.get(&(metric, port)).map_or(&[], Vec::as_slice)
    }

    /// The grids on which flows are probed.
    pub fn flow_grids(&self) -> Vec<Grid> {
        let probes = self.plan.probes.iter().filter(|probe| probe.what == ProbeTarget::Flows);
        probes.map(|probe| Grid { from: probe.from, step: probe.every, until: probe.until }).collect()
    }
}

/// What `[[probe]]` calls the thing that yields a metric.
pub fn probe_name(metric: Metric) -> &'static str {
    match metric {
        Metric::QueueBytes => "queue",
        Metric::IngressBytes => "ingress",
        Metric::PortThroughput => "throughput",
        Metric::PausedFraction => "paused",
        Metric::PauseRate => "pause-rate",
        Metric::ShapedBytes => "shaped",
        Metric::SwitchBytes => "buffer",
        Metric::Variable(_) => "scheme",
        _ if facts(metric).of_flow => "flows",
        _ => unreachable!("every metric of a port is listed"),
    }
}
