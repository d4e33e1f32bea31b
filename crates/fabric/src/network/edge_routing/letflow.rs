//! LetFlow at the first edge: every flowlet takes any path (Vanini et al., NSDI 2017).
//!
//! The paper's switches draw a next hop each; where the first one draws the whole path the choice is as even, and a
//! packet says which it was. ConWeave's simulator has it so.

use super::lots::Lots;
use crate::contract::edge_routing::{EdgeFacts, EdgePacket, EdgePath, EdgeRule, Header};
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};

/// Draws a path for each flowlet.
#[derive(Debug)]
pub(crate) struct LetFlow {
    lots: Lots,
    gap: Span,
    /// Path, and when the last packet came.
    flowlets: BTreeMap<u64, (EdgePath, Time)>,
    swept: Time,
}

/// Flowlets that have been idle for so many gaps are forgotten, and no more often. They would draw anyway.
const IDLE_GAPS: u64 = 20;

impl LetFlow {
    pub fn new(facts: &EdgeFacts, gap: Span) -> LetFlow {
        LetFlow { lots: Lots::new(facts, "letflow at edges"), gap, flowlets: BTreeMap::new(), swept: Time::ZERO }
    }
}

impl EdgeRule for LetFlow {
    fn enter(&mut self, packet: &EdgePacket, paths: &[EdgePath], _: &mut Header) -> EdgePath {
        let (now, idle) = (packet.now, self.gap * IDLE_GAPS);
        if now.saturating_since(self.swept) > idle {
            self.flowlets.retain(|_, (_, last)| now.saturating_since(*last) <= idle);
            self.swept = now;
        }
        let known = self
            .flowlets
            .get(&packet.flowlet)
            .filter(|(path, last)| now.saturating_since(*last) <= self.gap && paths.binary_search(path).is_ok());
        let path = known.map_or_else(|| paths[self.lots.below(paths.len())], |(path, _)| *path);
        self.flowlets.insert(packet.flowlet, (path, now));
        path
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{entering, facts, paths};
    use super::*;

    #[test]
    fn a_gap_begins_a_flowlet() {
        let mut rule = LetFlow::new(&facts(), Span::from_us(100));
        let mut take = |us, flow| rule.enter(&entering(us, flow), &paths(4), &mut Header::default());
        // rand() of the seed 1 modulo 4: 3, 2, 1.
        let [a, b, c] = [3, 2, 1].map(|place| paths(4)[place]);
        assert_eq!([take(0, 7), take(100, 7), take(150, 8), take(200, 7), take(301, 7)], [a, a, b, a, c]);
    }
}
