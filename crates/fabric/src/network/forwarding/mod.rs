//! Rules of forwarding: a file and a line below for each.

mod adaptive;
mod bitmap;
mod draws;
mod drill;
mod drill_shuffled;
mod ecmp;
mod flowlets;
mod letflow;
mod mrc;
mod oblivious;
mod pinned;
mod plb;
mod reps;
mod round_robin;
mod spray;
#[cfg(test)]
mod testing;

use crate::contract::forwarding::{
    Candidate, Forwarded, Loss, NextHop, NextHopFacts, PathChoice, PathFacts, delegate_next_hop, delegate_path_choice,
};
use crate::contract::packet::Ecn;
use crate::network::edge_routing::EdgeRouting;
use crate::network::rules::rules;
pub use adaptive::{AdaptiveSettings, Tie};
pub use drill::DrillSettings;
pub use ecmp::{FlowKey, address};
pub(crate) use ecmp::{Hash, HashOfPackets};
pub use plb::PlbSettings;
use xoff_engine::{Span, Time};

/// How packets of flows whose traffic names no path find theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forwarding {
    /// Paths that a sender chooses from for each packet; 1: none to choose.
    pub paths: u16,
    /// How a path follows from its number.
    pub path_map: PathMap,
    /// Rule of that choice.
    pub choice: PathRule,
    /// Rule by which switches choose the next hop of each packet. `None`: the paths of a flow are resolved by
    /// [`crate::network::plan::Ecmp`] when it starts.
    pub next_hop: Option<NextHopRule>,
    /// Rule by which edges choose whole paths; `next_hop` is then of no effect but that switches have tables.
    pub edge: Option<EdgeRouting>,
}

impl Default for Forwarding {
    fn default() -> Forwarding {
        Forwarding { paths: 1, path_map: PathMap::Hash, choice: PathRule::Pinned, next_hop: None, edge: None }
    }
}

impl Forwarding {
    /// Edges choose paths by a rule.
    pub fn by_edges(rule: EdgeRouting) -> Forwarding {
        Forwarding { next_hop: Some(NextHopRule::Ecmp), edge: Some(rule), ..Forwarding::default() }
    }

    /// Whether packets of one flow may take different paths.
    pub fn is_per_packet(&self) -> bool {
        self.paths > 1 || self.next_hop.is_some()
    }
}

/// The path choice of one flow whose sender is not a simulated one.
pub fn path_choice(rule: PathRule, facts: &PathFacts) -> Box<dyn PathChoice> {
    Box::new(rule.machine(facts))
}

/// How the path of a flow follows from its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathMap {
    /// Every switch hashes the number with the flow; several numbers may give one path.
    Hash,
    /// The number counts through equal-cost paths.
    Path,
}

rules! {
    PathRule makes PathMachine: PathChoice of PathFacts, by delegate_path_choice;
    /// One path: the one that the traffic names, or the flow's first.
    Pinned(pinned::Pinned),
    /// Any path, packet by packet.
    Spray(spray::SprayPaths),
    /// Every path once per round.
    Oblivious(oblivious::Oblivious),
    /// Rounds that pass over paths with marks and losses.
    Bitmap(bitmap::Bitmap),
    /// Paths that returned unmarked ACKs, once each.
    Reps(reps::Reps),
    /// Paths that returned unmarked ACKs, else as [`PathRule::Bitmap`].
    Mixed(bitmap::Mixed),
    /// A set of paths in use, and a reserve for those that lost packets.
    Mrc(mrc::Mrc),
    /// One path until the flow has been congested on it for some rounds.
    Plb(plb::Plb, settings: PlbSettings),
}

rules! {
    NextHopRule makes NextHopMachine: NextHop of NextHopFacts, by delegate_next_hop;
    /// A hash of flow, path number and switch.
    Ecmp(ecmp::HashOfPackets),
    /// Any next hop, packet by packet.
    Spray(spray::SprayNextHops),
    /// Every next hop once per round.
    RoundRobin(round_robin::RoundRobin),
    /// The shortest queue.
    Adaptive(adaptive::Adaptive, settings: AdaptiveSettings),
    /// The shortest queue of some that are drawn.
    Drill(drill::Drill, settings: DrillSettings),
    /// [`NextHopRule::Drill`] as ConWeave's simulator has it.
    DrillShuffled(drill_shuffled::DrillShuffled),
    /// Any next hop, flowlet by flowlet; the gap that ends one.
    LetFlow(letflow::LetFlow, gap: Span),
}
