//! Which nodes hang together.

use crate::network::plan::{Link, Node};

/// For each node the piece of the network that it is in, numbered by the first node of each.
pub fn pieces(nodes: &[Node], links: &[Link]) -> Vec<u32> {
    // Every node points to one of its piece with a lower number, or to itself.
    let mut lower: Vec<u32> = (0..nodes.len() as u32).collect();
    for link in links {
        let (a, b) = (lowest(&mut lower, link.a), lowest(&mut lower, link.b));
        lower[a.max(b) as usize] = a.min(b);
    }
    let mut piece = vec![0; nodes.len()];
    let mut count = 0;
    for node in 0..nodes.len() {
        let first = lowest(&mut lower, node as u32) as usize;
        piece[node] = if first == node { count } else { piece[first] };
        count += u32::from(first == node);
    }
    piece
}

/// The lowest number of a node's piece; shortens the way to it.
pub(super) fn lowest(lower: &mut [u32], mut node: u32) -> u32 {
    while lower[node as usize] != node {
        lower[node as usize] = lower[lower[node as usize] as usize];
        node = lower[node as usize];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::{Graph, LinkSpec};
    use xoff_engine::{BitRate, Span};

    #[test]
    fn pieces_are_numbered_in_order() {
        let mut graph = Graph::default();
        for name in ["a", "b", "c", "d", "e"] {
            graph.switch(name, "switch");
        }
        let link = LinkSpec { rate: BitRate::from_gbps(1), delay: Span::ZERO };
        graph.connect(4, 1, link, 1);
        graph.connect(3, 0, link, 1);
        assert_eq!(pieces(&graph.nodes, &graph.links), [0, 1, 2, 0, 1]);
        graph.connect(4, 3, link, 1);
        assert_eq!(pieces(&graph.nodes, &graph.links), [0, 0, 1, 0, 0]);
    }
}
