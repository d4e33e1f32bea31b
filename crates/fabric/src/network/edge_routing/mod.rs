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
use crate::network::rules::rules;
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

impl EdgeRouting {
    /// Whether packets that are held back are counted in the buffer of their switch.
    pub fn counts_held(self) -> bool {
        matches!(self, EdgeRouting::ConWeave(settings) if settings.counted)
    }
}
