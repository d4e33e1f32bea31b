//! Who stopped whom, and who paid for it, as data of a replay.

use super::windows::Windows;
use crate::congestion::end_of;
use crate::congestion::flows::{Flow, Flows};
use crate::congestion::network::Network;
use crate::congestion::tree::Trees;
use crate::congestion::victims::{self, Hold, Holds, Victim};
use crate::contract;
use crate::read::RunDirectory;
use std::collections::HashMap;
use xoff_engine::Time;
use xoff_scenario::{Diagnostic, Loaded};

/// Victims listed, at most.
const LISTED: usize = 1_000;
/// Times in which one flow was held that are listed, at most.
const HOLDS: usize = 2_000;
/// No stop.
const NONE: u32 = u32::MAX;

/// Trees, roots and victims of a run.
pub struct Story {
    pub trees: Trees,
    pub roots: HashMap<u32, Option<u32>>,
    pub victims: Vec<Victim>,
    end: Time,
}

contract! {
    pub struct Roots as Roots {
        stop: Vec<u32>,
        congested_port: Vec<Option<u32>>,
    }
}

contract! {
    pub struct Victims as Victims {
        total: usize,
        victims: Vec<VictimRow>,
    }
}

contract! {
    struct VictimRow as Victim {
        flow: u32,
        held_us: f64,
        held_share: f64,
        lost_bytes: u64,
        stops: u32,
        root_port: u32,
    }
}

/// The interfaces of `roots.json` and `victims.json`.
pub fn typescript() -> String {
    [Roots::interface(), Victims::interface(), VictimRow::interface()].concat()
}

impl Story {
    pub fn read(
        run: &RunDirectory,
        loaded: &Loaded,
        network: &Network,
        flows: &Flows,
        windows: &Windows,
    ) -> Result<Story, Diagnostic> {
        let end = end_of(run);
        let trees = Trees::read(run, loaded, network, flows)?;
        let roots = trees.roots(flows, end, |port, at| windows.queue_at(port, at));
        let victims = victims::victims(flows, &Holds::new(&trees, &roots), network, end);
        Ok(Story { trees, roots, victims, end })
    }

    pub fn pause_times(&self) -> &'static str {
        self.trees.times.words()
    }

    /// The columns of all stops, one after the other: see `docs/replay.md`.
    pub fn stops(&self) -> Vec<u8> {
        let Trees { stops, links, .. } = &self.trees;
        let mut bytes = Vec::with_capacity(8 + 36 * stops.len());
        bytes.extend((stops.len() as u32).to_le_bytes());
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(stops.iter().flat_map(|stop| stop.from.as_us().to_le_bytes()));
        bytes.extend(stops.iter().flat_map(|stop| stop.until.as_us().to_le_bytes()));
        bytes.extend(stops.iter().flat_map(|stop| stop.port.to_le_bytes()));
        bytes.extend(stops.iter().flat_map(|stop| u32::from(stop.priority).to_le_bytes()));
        bytes.extend(links.iter().flat_map(|link| link.root.to_le_bytes()));
        bytes.extend(links.iter().flat_map(|link| link.causes.first().copied().unwrap_or(NONE).to_le_bytes()));
        bytes.extend(links.iter().flat_map(|link| link.depth.to_le_bytes()));
        bytes
    }

    pub fn roots(&self) -> Roots {
        let mut roots: Vec<(u32, Option<u32>)> = self.roots.iter().map(|(&stop, &port)| (stop, port)).collect();
        roots.sort_unstable();
        let (stop, congested_port) = roots.into_iter().unzip();
        Roots { stop, congested_port }
    }

    pub fn victims(&self) -> Victims {
        let row = |victim: &Victim| VictimRow {
            flow: victim.flow,
            held_us: victim.held.as_us(),
            held_share: victim.held_share,
            lost_bytes: victim.lost_bytes,
            stops: victim.stops,
            root_port: victim.root_port,
        };
        Victims { total: self.victims.len(), victims: self.victims.iter().take(LISTED).map(row).collect() }
    }

    /// What held a flow: from when, until when, at which port, and whether it had nothing to do with it.
    pub fn holds_of(&self, flows: &Flows, flow: &Flow) -> Vec<(f64, f64, u32, bool)> {
        let holds = Holds::new(&self.trees, &self.roots).of(flows, flow, self.end);
        let row = |hold: &Hold| (hold.from.as_us(), hold.until.as_us(), hold.port, hold.foreign);
        holds.iter().take(HOLDS).map(row).collect()
    }

    /// All flows: the worst victims, those without an end, and the rest, the largest first.
    pub fn by_worth(&self, flows: &Flows) -> Vec<u32> {
        let mut rest: Vec<u32> = (0..flows.list.len() as u32).collect();
        rest.sort_by_key(|&index| std::cmp::Reverse(flows.list[index as usize].size_bytes.unwrap_or(u64::MAX)));
        let mut chosen: Vec<u32> = self.victims.iter().take(LISTED).map(|victim| victim.flow).collect();
        chosen.extend(rest);
        let mut seen = std::collections::HashSet::new();
        chosen.retain(|&index| seen.insert(index));
        chosen
    }
}
