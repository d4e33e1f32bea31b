//! The servers that a group passes through, and the NICs by which it enters and leaves them.

use super::layer::by_nics;
use super::options::{Options, Servers};
use crate::dag::{Collective, Via};

/// What is generated: so many bytes of a collective, by whom and how.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) what: Collective,
    pub(super) bytes: u64,
    pub(super) visits: &'a [Visit],
    pub(super) options: &'a Options,
}

/// Members in one server that follow each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Visit {
    /// Places among the members.
    pub(super) members: Vec<usize>,
    /// NICs that these own, in order.
    nics: Vec<u16>,
    /// For each NIC, the place in `members` of the first that owns it.
    owners: Vec<usize>,
}

impl Visit {
    /// NIC of a channel, and the place in `members` of the one that owns it.
    fn entry(&self, channel: u16) -> (u16, usize) {
        let at = usize::from(channel) % self.nics.len().max(1);
        (self.nics.get(at).copied().unwrap_or_default(), self.owners.get(at).copied().unwrap_or_default())
    }

    /// NIC of a channel.
    pub(super) fn nic(&self, channel: u16) -> u16 {
        self.entry(channel).0
    }

    /// Members from the one that owns the channel's NIC on, then those before it.
    pub(super) fn members_from_entry(&self, channel: u16) -> impl Iterator<Item = usize> {
        let (_, start) = self.entry(channel);
        self.members[start..].iter().chain(&self.members[..start]).copied()
    }
}

/// The servers that the members pass through, in their order.
pub(super) fn visits(members: &[u32], servers: Servers) -> Vec<Visit> {
    let places: Vec<usize> = (0..members.len()).collect();
    let same = |a: &usize, b: &usize| servers.of(members[*a]) == servers.of(members[*b]);
    places.chunk_by(same).map(|run| visit(run, members, servers)).collect()
}

fn visit(run: &[usize], members: &[u32], servers: Servers) -> Visit {
    let mut owned: Vec<(u16, usize)> = Vec::new();
    for (place, member) in run.iter().enumerate() {
        for nic in servers.nics_of(members[*member]) {
            if owned.iter().all(|(known, _)| *known != nic) {
                owned.push((nic, place));
            }
        }
    }
    owned.sort_unstable();
    let (nics, owners) = owned.into_iter().unzip();
    Visit { members: run.to_vec(), nics, owners }
}

/// Default number of channels of rings and trees: two for each NIC that the group uses.
pub(super) fn usual_channels(visits: &[Visit]) -> u16 {
    let nics = visits.iter().map(|visit| visit.nics.len()).max().unwrap_or_default();
    2 * if visits.len() > 1 { nics.max(1) as u16 } else { 1 }
}

/// A ring through all members: who comes after whom, and the way from each to the next.
///
/// Channel `c` enters and leaves each server by the `c`-th NIC of the group there and passes the GPUs between. The last
/// of them reaches the NIC at no cost, as NCCL's does (nccl:src/graph/connect.cc; crossNic 0).
pub(super) fn ring(visits: &[Visit], channel: u16) -> Vec<(usize, Via)> {
    let mut ring = Vec::new();
    for (at, visit) in visits.iter().enumerate() {
        ring.extend(visit.members_from_entry(channel).map(|member| (member, Via::ScaleUp)));
        let next = &visits[(at + 1) % visits.len()];
        if let Some(last) = ring.last_mut().filter(|_| visits.len() > 1) {
            last.1 = by_nics(visit.nic(channel), next.nic(channel));
        }
    }
    ring
}
