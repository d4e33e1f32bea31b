//! Where to cut a network into parts.

use crate::plan::{NodeKind, Plan};
use xoff_engine::Span;

/// The part of every node: switches in the order of the plan, which keeps racks and pods together, as many to a
/// part as have `ports` ports together; hosts with theirs. Several domains are cut only between them, and nothing
/// is cut where a wire that ends up between parts, or leads to a host, has no delay.
pub fn cut(plan: &Plan, ports: u32) -> Vec<u16> {
    let whole = vec![0; plan.nodes.len()];
    let is_host = |node: u32| plan.nodes[node as usize].kind == NodeKind::Host;
    let mut degree = vec![0u32; plan.nodes.len()];
    for link in &plan.links {
        degree[link.a as usize] += 1;
        degree[link.b as usize] += 1;
    }
    let domains = plan.nodes.iter().map(|node| node.domain).max().unwrap_or(0);
    let mut part_of = whole.clone();
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
    for link in &plan.links {
        for (host, switch) in [(link.a, link.b), (link.b, link.a)] {
            if is_host(host) {
                part_of[host as usize] = part_of[switch as usize];
            }
        }
    }
    let instant = plan.links.iter().any(|link| {
        let counts = part_of[link.a as usize] != part_of[link.b as usize] || is_host(link.a) || is_host(link.b);
        counts && link.a_to_b.delay.min(link.b_to_a.delay) == Span::ZERO
    });
    if instant { whole } else { part_of }
}
