//! Whether a way leads from every sender to all it may send to. Networks of servers are in several pieces.

use crate::traffic::batch::Pairs;
use crate::traffic::plan::Generator;
use crate::traffic::poisson::Who;

/// A sender and a receiver of the traffic that are in different pieces of the network. `pieces` has that of each node.
pub fn cut_off(generator: &Generator, pieces: &[u32]) -> Option<(u32, u32)> {
    if pieces.iter().all(|piece| *piece == 0) {
        return None;
    }
    let apart = |(src, dst): (u32, u32)| pieces[src as usize] != pieces[dst as usize];
    let of_pairs = |pairs: &[(u32, u32)]| pairs.iter().copied().find(|pair| apart(*pair));
    // Any of these to any of those: all are in one piece if both sides are in that of their first ones.
    let of_all = |from: &[u32], to: &[u32]| {
        let (first, second) = (*from.first()?, *to.first()?);
        let receivers = to.iter().map(|dst| (first, *dst));
        receivers.chain(from.iter().map(|src| (*src, second))).find(|pair| apart(*pair))
    };
    match generator {
        Generator::Listed(flows) => flows.iter().map(|flow| (flow.spec.src, flow.spec.dst)).find(|pair| apart(*pair)),
        Generator::Batch(of) => match &of.pairs {
            Pairs::Given(pairs) => of_pairs(pairs),
            Pairs::Drawn { senders, receivers } => of_all(senders, receivers.hosts()),
            Pairs::Permutation(hosts) => of_all(hosts, hosts),
        },
        Generator::Poisson(of) => match &of.who {
            Who::Any(choice) => of_all(choice.senders(), choice.receivers()),
            Who::Hot { all, hot, .. } => {
                of_all(all.senders(), all.receivers()).or_else(|| of_all(all.senders(), hot.hosts()))
            }
            Who::Pairs { pairs, .. } => of_pairs(pairs),
        },
        Generator::Incast(of) => of_all(&of.senders, &of.receivers),
        Generator::AllToAll(of) => of_all(&of.hosts, &of.hosts),
        Generator::OnOff(of) => of_pairs(&of.pairs),
        Generator::Reads(of) => of_all(&of.servers, &of.clients),
        // Its lanes go from GPU to GPU of a server, or by NICs of one number.
        Generator::Job(_) => None,
    }
}
