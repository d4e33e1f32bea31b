//! Equivalent forms of one experiment, whose results must be equal.
//!
//! Each function changes a scenario's tables in one respect. Ports and nodes keep their numbers: what
//! is added comes last.

use crate::draw::{push, set, time};
use crate::table;
use std::collections::BTreeMap;
use toml::{Table, Value};
use xoff_engine::quantity::{format_bytes, format_rate, format_span, parse_bytes, parse_rate, parse_span};
use xoff_engine::{BitRate, Span};
use xoff_fabric::plan::{Direction, NodeKind, Plan};

/// `[topology]` spelled out node by node and link by link.
pub fn custom_topology(plan: &Plan) -> Table {
    let named = |kind: NodeKind| -> Vec<String> {
        plan.nodes.iter().filter(|node| node.kind == kind).map(|node| node.name.clone()).collect()
    };
    let order: Vec<String> = plan.nodes.iter().map(|node| node.name.clone()).collect();
    let mut topology = table! {
        kind = "custom", hosts = named(NodeKind::Host), switches = named(NodeKind::Switch), order = order
    };
    for link in &plan.links {
        let name = |node: u32| plan.nodes[node as usize].name.as_str();
        let (there, back) = (&link.a_to_b, &link.b_to_a);
        let mut row = table! { a = name(link.a), b = name(link.b), loss = there.loss };
        set_direction(&mut row, there, "rate", "delay");
        set_direction(&mut row, back, "reverse_rate", "reverse_delay");
        push(&mut topology, "link", row);
    }
    let mut domains: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for node in plan.nodes.iter().filter(|node| node.kind == NodeKind::Switch) {
        domains.entry(node.domain).or_default().push(node.name.clone());
    }
    for switches in domains.into_values() {
        push(&mut topology, "domain", table! { switches = switches });
    }
    topology
}

fn set_direction(row: &mut Table, direction: &Direction, rate: &str, delay: &str) {
    set(row, rate, format_rate(direction.rate));
    set(row, delay, format_span(direction.delay));
}

/// Traffic that names no hosts means all that there are: they are named, so that others can be added.
pub fn name_hosts(root: &mut Table, plan: &Plan) {
    let hosts: Vec<String> =
        plan.nodes.iter().filter(|node| node.kind == NodeKind::Host).map(|node| node.name.clone()).collect();
    for row in rows(root, "traffic") {
        let random = matches!(row.get("kind").and_then(Value::as_str), Some("poisson" | "hotspot" | "incast"));
        for key in ["sources", "destinations"] {
            if random && !row.contains_key(key) {
                set(row, key, hosts.clone());
            }
        }
    }
}

/// The tables of a list such as `[[traffic]]`.
pub fn rows<'a>(root: &'a mut Table, key: &str) -> impl Iterator<Item = &'a mut Table> {
    let list = root.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_table_mut)
}

/// Adds a node and its links at the end of a custom topology.
fn add_node(root: &mut Table, list: &str, name: &str, links: &[(&str, &Direction)]) {
    let Some(topology) = root.get_mut("topology").and_then(Value::as_table_mut) else { return };
    for key in [list, "order"] {
        if let Some(names) = topology.get_mut(key).and_then(Value::as_array_mut) {
            names.push(name.into());
        }
    }
    for (other, like) in links {
        let mut row = table! { a = name, b = *other };
        set_direction(&mut row, like, "rate", "delay");
        push(topology, "link", row);
    }
    let first_domain = rows(topology, "domain").next();
    if let Some(switches) = first_domain.filter(|_| list == "switches").and_then(|row| row.get_mut("switches")) {
        switches.as_array_mut().into_iter().for_each(|names| names.push(name.into()));
    }
}

/// The first link of a host: its switch, and the direction towards it.
fn host_link(plan: &Plan) -> (&str, Direction) {
    let is_host = |node: u32| plan.nodes[node as usize].kind == NodeKind::Host;
    let link = plan.links.iter().find(|link| is_host(link.a)).expect("a network has hosts");
    (plan.nodes[link.b as usize].name.as_str(), link.a_to_b)
}

/// Adds a host without traffic beside the first. It is as near and as fast as can be, so that
/// the longest round trip of the network stays what it is.
pub fn add_idle_host(root: &mut Table, plan: &Plan) {
    let (switch, link) = host_link(plan);
    let is_host = |node: u32| plan.nodes[node as usize].kind == NodeKind::Host;
    let rates = plan.links.iter().filter(|link| is_host(link.a)).map(|link| link.a_to_b.rate.min(link.b_to_a.rate));
    let near = Direction { rate: rates.max().unwrap_or(link.rate), delay: Span::ZERO, loss: 0.0 };
    add_node(root, "hosts", "idle", &[(switch, &near)]);
}

/// Adds a switch with three hosts, without traffic, at the edge of the network.
pub fn add_island(root: &mut Table, plan: &Plan) {
    let (switch, link) = host_link(plan);
    add_node(root, "switches", "far", &[(switch, &link)]);
    for host in ["far0", "far1", "far2"] {
        add_node(root, "hosts", host, &[("far", &link)]);
    }
}

/// Traffic within the island: two senders at one receiver, so that its queues and schemes act.
pub fn far_traffic(start_ps: u64) -> Table {
    table! {
        kind = "burst", name = "far", sources = vec!["far0", "far1"], destinations = "far2",
        size = "20KB", flows_per_pair = 2, start = time(start_ps)
    }
}

/// Another name for a node, wherever it is named.
pub fn rename(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) => {
            let ends = if text.contains("<->") { "<->" } else { "->" };
            let renamed = |part: &str| if part == from { to.to_owned() } else { part.to_owned() };
            *text = text.split(ends).map(renamed).collect::<Vec<String>>().join(ends);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, from, to)),
        Value::Table(table) => table.iter_mut().for_each(|(_, item)| rename(item, from, to)),
        _ => {}
    }
}

/// Every rate divided and every time multiplied by `factor`: the same experiment on a slower clock.
/// The tables must be resolved, so that no default is left as it was.
pub fn slow_down(value: &mut Value, factor: u64) {
    match value {
        Value::String(text) => *text = slower(text, factor),
        Value::Array(items) => items.iter_mut().for_each(|item| slow_down(item, factor)),
        // The resolution of the simulator's own clock is a choice among few.
        Value::Table(table) => {
            table.iter_mut().filter(|(key, _)| *key != "time_resolution").for_each(|(_, item)| slow_down(item, factor));
        }
        _ => {}
    }
}

fn slower(text: &str, factor: u64) -> String {
    if let Some(parts) = text.strip_prefix("min(").and_then(|rest| rest.strip_suffix(')')) {
        let parts: Vec<String> = parts.split(',').map(|part| slower(part.trim(), factor)).collect();
        return format!("min({})", parts.join(", "));
    }
    if let Some(bytes) = text.strip_suffix("/Gbps").and_then(|bytes| parse_bytes(bytes).ok()) {
        return format!("{}/Gbps", format_bytes(bytes * factor));
    }
    if text.contains('@') {
        let part = |row: &str| row.trim().split('@').map(|part| slower(part, factor)).collect::<Vec<_>>().join("@");
        return text.split(',').map(part).collect::<Vec<String>>().join(", ");
    }
    if let Ok(span) = parse_span(text) {
        return format_span(Span::from_ps(span.ps() * factor));
    }
    match parse_rate(text) {
        Ok(rate) => format_rate(BitRate::from_bps(rate.bps() / factor)),
        Err(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_slow_down_by_their_kind() {
        let cases = [
            ("100Gbps", "10Gbps"),
            ("55us", "550us"),
            ("4KB/Gbps", "40KB/Gbps"),
            ("160KB@40Gbps, 400KB@100Gbps", "160KB@4Gbps, 400KB@10Gbps"),
            ("1ms@10Gbps", "10ms@1Gbps"),
            ("line/1000", "line/1000"),
            ("min(4KB/Gbps, xoff/2)", "min(40KB/Gbps, xoff/2)"),
            ("64KB", "64KB"),
            ("t0", "t0"),
        ];
        for (text, slower_text) in cases {
            assert_eq!(slower(text, 10), slower_text);
        }
    }

    #[test]
    fn nodes_are_renamed_in_selectors_of_ports_too() {
        let mut value = Value::from(vec!["h1", "h10", "s0->h1", "h1<->s0"]);
        rename(&mut value, "h1", "zed");
        assert_eq!(value, Value::from(vec!["zed", "h10", "s0->zed", "zed<->s0"]));
    }
}
