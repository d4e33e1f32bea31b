//! The queue pairs of a job: which are open, what is under way on them, which have lost their way.

use crate::traffic::flow::Handles;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Index, IndexMut};
use xoff_jobs::{Message, Pair, Via};

/// A connection between two ranks.
#[derive(Clone, Debug)]
pub struct QueuePair {
    /// From, to, and by which way.
    pub ends: Pair,
    /// Their number in the graph.
    number: u32,
    /// At most eight.
    port: u8,
    ports: u8,
    /// The port that it used when something arrived last.
    home: u8,
    /// Ports that were tried in vain since something arrived last.
    tried: u8,
    cut: bool,
    /// The oldest and the newest message under way on it, by number; [`NONE`] if there is none.
    oldest: u32,
    newest: u32,
}

const _: () = assert!(size_of::<Option<QueuePair>>() <= 40, "of thousands, one is read for every message");

impl QueuePair {
    /// The connections of a NIC with several ports are dealt out to them in turn: its channels (every `nics`-th is its
    /// own), their queue pairs, and its peers.
    pub fn new(first: &Message, ports: usize, nics: usize) -> QueuePair {
        let lane = first.lane;
        let channel = usize::from(lane.channel) / nics;
        let port = (channel + usize::from(lane.queue_pair) + (first.from + first.to) as usize) % ports;
        let ends = Pair { from: first.from, to: first.to, lane };
        let (number, port, ports) = (first.pair, port as u8, ports as u8);
        QueuePair { ends, number, port, ports, home: port, tried: 0, cut: false, oldest: NONE, newest: NONE }
    }

    /// Its number in the graph.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Port of the NIC that it uses, at both ends.
    pub fn port(&self) -> usize {
        self.port.into()
    }

    /// The queue pair by another port, with nothing under way. Those of one port go to the others in turn, so that these
    /// share what it carried.
    pub fn moved(&self) -> QueuePair {
        let turn = usize::from(self.ends.lane.queue_pair / u16::from(self.ports)) + usize::from(self.tried);
        let step = 1 + turn % (usize::from(self.ports) - 1);
        let port = ((usize::from(self.home) + step) % usize::from(self.ports)) as u8;
        QueuePair { port, tried: self.tried + 1, cut: false, oldest: NONE, newest: NONE, ..self.clone() }
    }
}

/// No handle, no message.
const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub struct Pairs {
    handles: Handles,
    /// By handle; `None` once left: its flow may still be ending.
    open: Vec<Option<QueuePair>>,
    /// Handles of connections that stay, by the numbers of their ends; [`NONE`] before the first message.
    lasting: Vec<u32>,
    /// Message after each message under way, on its queue pair, or [`NONE`].
    after: Vec<u32>,
    /// Have lost their way, and there is another port.
    moving: BTreeSet<u32>,
}

impl Pairs {
    /// The one that carries the messages between these ends.
    pub fn of(&self, number: u32) -> Option<u32> {
        self.lasting.get(number as usize).copied().filter(|handle| *handle != NONE)
    }

    pub fn open(&mut self, pair: QueuePair, lasting: bool) -> u32 {
        let handle = self.handles.take();
        if lasting {
            let pairs = self.lasting.len().max(pair.number as usize + 1);
            self.lasting.resize(pairs, NONE);
            self.lasting[pair.number as usize] = handle;
        }
        let slots = self.open.len().max(handle as usize + 1);
        self.open.resize(slots, None);
        self.open[handle as usize] = Some(pair);
        handle
    }

    /// Nothing more is expected of it.
    pub fn leave(&mut self, handle: u32) {
        self.open[handle as usize] = None;
    }

    /// Its flow has ended: the handle may be taken again.
    pub fn finished(&mut self, handle: u32) {
        self.leave(handle);
        self.moving.remove(&handle);
        self.handles.give(handle);
    }

    /// Hands over a message, by its number among those under way.
    pub fn hand_over(&mut self, handle: u32, message: u32) {
        if self.after.len() <= message as usize {
            self.after.resize(message as usize + 1, NONE);
        }
        self.after[message as usize] = NONE;
        let pair = &mut self[handle];
        let newest = std::mem::replace(&mut pair.newest, message);
        if newest == NONE {
            pair.oldest = message;
        } else {
            self.after[newest as usize] = message;
        }
    }

    /// Takes the number of the oldest message on it, which is complete.
    pub fn arrived(&mut self, handle: u32) -> Option<u32> {
        let pair = self.open.get_mut(handle as usize)?.as_mut()?;
        (pair.tried, pair.home) = (0, pair.port);
        let oldest = pair.oldest;
        if oldest == NONE {
            return None;
        }
        pair.oldest = self.after[oldest as usize];
        if pair.oldest == NONE {
            pair.newest = NONE;
        }
        Some(oldest)
    }

    /// Numbers of the messages under way on it, oldest first.
    pub fn under_way(&self, handle: u32) -> impl Iterator<Item = u32> {
        let some = |message: u32| (message != NONE).then_some(message);
        std::iter::successors(some(self[handle].oldest), move |message| some(self.after[*message as usize]))
    }

    /// It has lost its way or has found it again; whether there is something to be done.
    pub fn stranded(&mut self, handle: u32, cut: bool) -> bool {
        let Some(pair) = self.open.get_mut(handle as usize).and_then(Option::as_mut) else { return false };
        pair.cut = cut;
        let moves = cut && pair.tried + 1 < pair.ports;
        if moves {
            self.moving.insert(handle);
        } else {
            self.moving.remove(&handle);
        }
        moves
    }

    /// Those that are to go on by another port, in the order of their handles.
    pub fn take_moving(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.moving)
    }

    /// Those that would stay open when all is over, in the order of their handles; once.
    pub fn close(&mut self) -> Vec<u32> {
        let lasting = std::mem::take(&mut self.lasting);
        let mut open: Vec<u32> = lasting.into_iter().filter(|handle| *handle != NONE).collect();
        open.sort_unstable();
        open
    }

    /// NICs, by server and number, whose every connection has lost its way, and the ranks that send or receive by each.
    pub fn cut_off(&self, server_of: impl Fn(u32) -> u32) -> BTreeMap<(u32, u16), BTreeSet<u32>> {
        let (mut ranks, mut alive) = (BTreeMap::new(), BTreeSet::new());
        for pair in self.open.iter().flatten() {
            let Pair { from, to, lane } = pair.ends;
            let (out, into) = match lane.via {
                Via::ScaleUp => continue,
                Via::Nic(nic) => (nic, nic),
                Via::Cross(out, into) => (out, into),
            };
            for (rank, nic) in [(from, out), (to, into)] {
                let nic = (server_of(rank), nic);
                ranks.entry(nic).or_insert_with(BTreeSet::new).insert(rank);
                if !pair.cut {
                    alive.insert(nic);
                }
            }
        }
        ranks.retain(|nic, _| !alive.contains(nic));
        ranks
    }
}

impl Index<u32> for Pairs {
    type Output = QueuePair;

    fn index(&self, handle: u32) -> &QueuePair {
        self.open[handle as usize].as_ref().expect("an open queue pair")
    }
}

impl IndexMut<u32> for Pairs {
    fn index_mut(&mut self, handle: u32) -> &mut QueuePair {
        self.open[handle as usize].as_mut().expect("an open queue pair")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_jobs::Lane;

    fn pair(queue_pair: u16, ports: u8) -> QueuePair {
        let lane = Lane { via: Via::Nic(0), channel: 0, queue_pair };
        let port = (queue_pair % u16::from(ports)) as u8;
        let ends = Pair { from: 0, to: 1, lane };
        QueuePair { ends, number: 0, port, ports, home: port, tried: 0, cut: false, oldest: NONE, newest: NONE }
    }

    #[test]
    fn queue_pairs_of_a_dead_port_are_shared_out_among_the_others() {
        // Twelve queue pairs on four ports: three to a port.
        let moved = |dead: u8| -> Vec<u8> {
            (0..12).map(|number| pair(number, 4)).filter(|of| of.port == dead).map(|of| of.moved().port).collect()
        };
        assert_eq!((moved(0), moved(3)), (vec![1, 2, 3], vec![0, 1, 2]));
        // One whose ports fail one after the other tries each of them once.
        for number in 0..12 {
            let first = pair(number, 4);
            let tried = std::iter::successors(Some(first.clone()), |of| (of.tried < 3).then(|| of.moved()));
            let mut ports: Vec<u8> = tried.map(|of| of.port).collect();
            assert_eq!(ports[0], first.port);
            ports.sort_unstable();
            assert_eq!(ports, [0, 1, 2, 3], "{number}");
        }
        assert_eq!((0..6).map(|number| pair(number, 2).moved().port).collect::<Vec<_>>(), [1, 0, 1, 0, 1, 0]);
    }
}
