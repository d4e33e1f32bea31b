//! How links were shared, for figures: equal ones over time, and what each carried of a flow.

use super::names::Names;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use xoff_fabric::record::FlowLink;

/// What figures show of a run whose flows took several paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SharedLinks {
    /// Groups of equal links that sent most.
    pub(crate) courses: Vec<Course>,
    /// Flows that sent most, if the run counted what links carried of them.
    pub(crate) flows: Vec<FlowShares>,
}

/// How evenly a group of links was used over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Course {
    pub(crate) name: String,
    /// Ends of windows in microseconds, and the load of the busiest link over the mean.
    pub(crate) points: Vec<(f64, f64)>,
}

/// What the links of one node carried of a flow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlowShares {
    pub(crate) name: String,
    /// Largest first; they sum to one.
    pub(crate) shares: Vec<f64>,
}

/// Flows that are drawn.
const DRAWN: usize = 6;

impl FlowShares {
    /// The flows that sent most, at the node that shared each out over most links. `links` are in order of flows.
    pub(crate) fn largest(links: &[FlowLink], names: &Names) -> Vec<FlowShares> {
        let mut flows: Vec<(u64, FlowShares)> = links
            .chunk_by(|one, other| one.flow == other.flow)
            .filter_map(|of_flow| {
                let mut nodes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
                for of in of_flow {
                    nodes.entry(names.node_of(of.port)).or_default().push(of.wire_bytes);
                }
                let (node, mut bytes) = nodes.into_iter().max_by_key(|(node, bytes)| (bytes.len(), Reverse(*node)))?;
                bytes.sort_unstable_by_key(|&bytes| Reverse(bytes));
                let sum: u64 = bytes.iter().sum();
                let shares = bytes.iter().map(|&bytes| bytes as f64 / sum as f64).collect();
                let name = format!("flow {} at {}", of_flow[0].flow, names.node(node));
                (bytes.len() > 1).then_some((sum, FlowShares { name, shares }))
            })
            .collect();
        flows.sort_by_key(|(sum, _)| Reverse(*sum));
        flows.into_iter().take(DRAWN).map(|(_, shares)| shares).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_node_with_most_links_tells_how_a_flow_was_shared() {
        let link = |flow, port, wire_bytes| FlowLink { flow, port, packets: 1, wire_bytes };
        // Ports 4 and 6 are those of s0 to s1; flow 2 keeps one path, flow 3 sends most.
        let links =
            [link(1, 0, 400), link(1, 4, 100), link(1, 6, 300), link(2, 4, 900), link(3, 4, 500), link(3, 6, 500)];
        let flows = FlowShares::largest(&links, &Names::of(&fixture::plan()));
        let named: Vec<_> = flows.iter().map(|of| (of.name.as_str(), of.shares.as_slice())).collect();
        assert_eq!(named, [("flow 3 at s0", &[0.5, 0.5][..]), ("flow 1 at s0", &[0.75, 0.25])]);
    }
}
