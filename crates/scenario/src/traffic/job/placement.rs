//! Where the ranks of a job are: which hosts speak for each of them, on the server's own network and by its NICs.

use std::sync::Arc;
use xoff_jobs::{Lane, Via};

/// The hosts of all ranks.
#[derive(Clone, Debug, Default)]
pub struct RankPlacement {
    pub ranks: Vec<PlacedRank>,
    /// By server of the job: the ports of its NICs, by NIC.
    pub nics: Vec<Arc<[Box<[u32]>]>>,
}

#[derive(Clone, Debug)]
pub struct PlacedRank {
    /// What people call it: its GPU, or its host.
    pub name: String,
    /// The server, by its place in the job.
    pub server: u32,
    /// Its host on the server's own network; where there is none, that of its NIC, which nobody asks for.
    pub gpu: u32,
}

impl RankPlacement {
    /// How many ports there are to choose from.
    pub fn ports(&self, from: u32, lane: Lane) -> usize {
        match lane.via {
            Via::ScaleUp => 1,
            Via::Nic(nic) | Via::Cross(nic, _) => {
                self.nics[self.ranks[from as usize].server as usize][usize::from(nic)].len()
            }
        }
    }

    /// The hosts that a message leaves and reaches.
    pub fn hosts(&self, from: u32, to: u32, lane: Lane, port: usize) -> (u32, u32) {
        let (from, to) = (&self.ranks[from as usize], &self.ranks[to as usize]);
        let (out, into) = match lane.via {
            Via::ScaleUp => return (from.gpu, to.gpu),
            Via::Nic(nic) => (nic, nic),
            Via::Cross(out, into) => (out, into),
        };
        // All NICs have as many ports, and the same ports of two of them are in one plane.
        let host = |placed: &PlacedRank, nic: u16| self.nics[placed.server as usize][usize::from(nic)][port];
        (host(from, out), host(to, into))
    }

    pub fn name(&self, rank: u32) -> String {
        format!("rank {rank} ({})", self.ranks[rank as usize].name)
    }
}
