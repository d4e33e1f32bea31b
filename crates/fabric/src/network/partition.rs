//! Where to cut a network into parts.

use crate::network::plan::{Link, NodeKind, Plan};
use xoff_engine::Span;

/// The part of every node: switches in the order of the plan, which keeps racks and pods together, as many to a
/// part as have `ports` ports together; hosts with theirs. Several domains are cut only between them, and nothing
/// is cut where a link that ends up between parts, or leads to a host, has no delay.
pub fn cut(plan: &Plan, ports: u32) -> Vec<u16> {
    let mut degree = vec![0u32; plan.nodes.len()];
    for link in &plan.links {
        degree[link.a as usize] += 1;
        degree[link.b as usize] += 1;
    }
    let domains = plan.nodes.iter().map(|node| node.domain).max().unwrap_or(0);
    let mut part_of = vec![0; plan.nodes.len()];
    let (mut part, mut filled) = (0u16, 0);
    for (node, spec) in plan.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Switch) {
        if domains > 0 {
            part_of[node] = spec.domain;
            continue;
        }
        if filled >= ports && part < u16::MAX {
            (part, filled) = (part + 1, 0);
        }
        part_of[node] = part;
        filled += degree[node];
    }
    take_hosts_along(plan, &mut part_of);
    if takes_time(plan, &part_of) { part_of } else { vec![0; plan.nodes.len()] }
}

/// Returns why [`cut`] leaves a network whole however small parts may be, as a clause after "because".
pub fn obstacle(plan: &Plan) -> Option<&'static str> {
    let part_of = cut(plan, 1);
    if part_of.iter().any(|part| *part != part_of[0]) {
        return None;
    }
    Some(if plan.nodes.iter().filter(|node| node.kind == NodeKind::Switch).count() < 2 {
        "the network has one switch"
    } else {
        "a link between switches or to a host has no delay"
    })
}

/// Puts every host into the part of its switch.
pub fn take_hosts_along(plan: &Plan, part_of: &mut [u16]) {
    for link in &plan.links {
        for (host, switch) in [(link.a, link.b), (link.b, link.a)] {
            if plan.is_host(host) {
                part_of[host as usize] = part_of[switch as usize];
            }
        }
    }
}

/// Returns whether every boundary link and host link has a delay, so that lookahead is positive.
pub fn takes_time(plan: &Plan, part_of: &[u16]) -> bool {
    let cut = |link: &Link| part_of[link.a as usize] != part_of[link.b as usize];
    let mut counted = plan.links.iter().filter(|link| cut(link) || plan.leads_to_host(link));
    counted.all(|link| link.delay() > Span::ZERO)
}
