//! Rules of edge routing: a file and a line below for each.

mod aging;
mod conga;
mod conweave;
mod letflow;
mod lots;
#[cfg(test)]
mod testing;

use crate::contract::edge_routing::{
    EdgeFacts, EdgeMessage, EdgePacket, EdgePath, EdgeRule, Effects, Header, delegate_edge_rule,
};
use crate::network::forwarding::rules;
use crate::network::plan::Plan;
pub use conga::CongaSettings;
pub use conweave::ConWeaveSettings;
use xoff_engine::{BitRate, Span, Time};

rules! {
    EdgeRouting makes EdgeMachine: EdgeRule of EdgeFacts, by delegate_edge_rule;
    /// Any path, flowlet by flowlet; the gap that ends one.
    LetFlow(letflow::LetFlow, gap: Span),
    /// The least congested path, flowlet by flowlet.
    Conga(conga::Conga, settings: CongaSettings),
    /// Another path whenever a round trip is late, with packets put in order at the last edge.
    ConWeave(conweave::ConWeave, settings: ConWeaveSettings),
}

/// Returns the most links between switches on a shortest path from one switch with hosts to another.
pub fn longest_path(plan: &Plan) -> usize {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
    let mut is_edge = vec![false; plan.nodes.len()];
    for link in &plan.links {
        match (plan.is_host(link.a), plan.is_host(link.b)) {
            (true, _) => is_edge[link.b as usize] = true,
            (_, true) => is_edge[link.a as usize] = true,
            (false, false) => {
                neighbours[link.a as usize].push(link.b);
                neighbours[link.b as usize].push(link.a);
            }
        }
    }
    let mut longest = 0;
    for edge in (0..plan.nodes.len()).filter(|&node| is_edge[node]) {
        let mut far = vec![usize::MAX; plan.nodes.len()];
        far[edge] = 0;
        let mut found = vec![edge];
        let mut next = 0;
        while let Some(&node) = found.get(next) {
            next += 1;
            if is_edge[node] {
                longest = longest.max(far[node]);
            }
            for &other in &neighbours[node] {
                if far[other as usize] == usize::MAX {
                    far[other as usize] = far[node] + 1;
                    found.push(other as usize);
                }
            }
        }
    }
    longest
}

impl EdgeRouting {
    /// Whether packets that are held back are counted in the buffer of their switch.
    pub fn counts_held(self) -> bool {
        matches!(self, EdgeRouting::ConWeave(settings) if settings.counted)
    }
}
