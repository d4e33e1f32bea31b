//! Switches: which way a packet takes is decided when it arrives, and crossing a switch takes no time.
//!
//! The uplinks of a switch are shuffled once, when the first packet that must go up comes; above the edge, for each
//! destination.

use super::egress::Egress;
use super::{Frame, What, happens};
use crate::contract::scheme::Scheme;
use crate::id::{HostId, PortId, SwitchId};
use crate::network::forwarding::NextHopRule;
use crate::part::Part;
use std::collections::{HashMap, VecDeque};
use xoff_engine::{SharedTwister, Table, Time};

/// Packets below this size go by the hash, where switches choose by load or in turn.
const BY_LOAD_FROM: u16 = 100;
const IN_TURN_FROM: u16 = 128;

/// A switch between its ports.
pub(super) struct Crossing {
    /// What its hash begins with.
    pub salt: u32,
    /// Hosts are attached to it.
    pub is_edge: bool,
    pub crossing: VecDeque<Frame>,
    /// Shuffled uplinks: one list, or one for each destination.
    lists: HashMap<u32, Vec<PortId>>,
    turn: usize,
}

impl Crossing {
    pub fn new(salt: u32, is_edge: bool) -> Crossing {
        Crossing { salt, is_edge, crossing: VecDeque::new(), lists: HashMap::new(), turn: 0 }
    }
}

fn shuffle(list: &mut [PortId], random: &SharedTwister) {
    for left in (1..=list.len()).rev() {
        list.swap(random.below(left), left - 1);
    }
}

/// The mix of Bob Jenkins (1996) of a flow, a salt and a path.
pub(super) fn hash(flow: u64, salt: u32, path: u16) -> u32 {
    const GOLDEN: u32 = 0x9e37_79b9;
    let (mut a, mut b, mut c) = (GOLDEN.wrapping_add(flow as u32), GOLDEN.wrapping_add(salt), u32::from(path));
    for [first, second, third] in [[13, 8, 13], [12, 16, 5], [3, 10, 15]] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ c >> first;
        b = b.wrapping_sub(c).wrapping_sub(a) ^ a << second;
        c = c.wrapping_sub(a).wrapping_sub(b) ^ b >> third;
    }
    c
}

/// One of the ports with the least load.
fn least(list: &[PortId], egresses: &mut Table<PortId, Egress>, now: Time, random: &SharedTwister) -> PortId {
    let levels: Vec<u8> = list.iter().map(|&port| egresses[port].level(now)).collect();
    let least = levels.iter().min().copied().unwrap_or(0);
    let mut equal = list.iter().zip(&levels).filter(|(_, level)| **level == least).map(|(port, _)| *port);
    let chosen = random.below(equal.clone().count().max(1));
    equal.nth(chosen).unwrap_or(list[0])
}

impl<S: Scheme> Part<S> {
    /// A frame has come into a switch.
    pub(super) fn htsim_route(&mut self, switch: SwitchId, frame: Frame) {
        let egress = self.htsim_egress(switch, &frame);
        let crossing = &mut self.dialect().crossings[switch].crossing;
        crossing.push_back(Frame { egress, ..frame });
        if crossing.len() == 1 {
            self.schedule(self.now, happens::CROSSED, switch.get());
        }
    }

    pub(super) fn htsim_crossed(&mut self, switch: SwitchId) {
        let Some(frame) = self.dialect().crossings[switch].crossing.pop_front() else { return };
        self.htsim_enqueue(frame.egress, frame);
        if !self.dialect().crossings[switch].crossing.is_empty() {
            self.schedule(self.now, happens::CROSSED, switch.get());
        }
    }

    /// Where a frame ends.
    fn htsim_destination(&self, frame: &Frame) -> HostId {
        let dialect = self.compat.htsim.as_ref().expect("only such runs have these frames");
        let sender = &dialect.senders[frame.flow as usize];
        if matches!(frame.what, What::Ack | What::Nack) { sender.host } else { sender.to }
    }

    fn htsim_egress(&mut self, switch: SwitchId, frame: &Frame) -> PortId {
        let host = self.htsim_destination(frame);
        let down = self.hosts[host].port.peer();
        if self.links.ports[down].switch() == switch {
            return down;
        }
        let (number, now) = (self.htsim_number(frame), self.now);
        let rule = self.plan.model.forwarding.next_hop;
        let node = self.switches[switch].node;
        let edge = self.dialect().edge_of(host);
        let dialect = self.compat.htsim.as_mut().expect("only such runs have these frames");
        let next_hops = &dialect.next_hops[&(switch, edge)];
        debug_assert!(!next_hops.is_empty(), "no way from {node}");
        if let [port] = next_hops[..] {
            return port;
        }
        let crossing = &mut dialect.crossings[switch];
        let key = if crossing.is_edge { u32::MAX } else { host.get() };
        let random = &dialect.random;
        let list = crossing.lists.entry(key).or_insert_with(|| {
            let mut list = next_hops.clone();
            shuffle(&mut list, random);
            list
        });
        match rule {
            Some(NextHopRule::Adaptive(_)) if frame.bytes >= BY_LOAD_FROM => {
                least(list, &mut dialect.egresses, now, random)
            }
            Some(NextHopRule::RoundRobin) if frame.bytes >= IN_TURN_FROM => {
                if crossing.turn >= list.len() {
                    crossing.turn = 0;
                    shuffle(list, random);
                }
                crossing.turn += 1;
                list[(crossing.turn - 1) % list.len()]
            }
            _ => list[hash(number, crossing.salt, frame.entropy) as usize % list.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_follow_jenkins() {
        // By hand, from the published mix.
        assert_eq!(hash(1_000_000_001, 0x1234_5678, 29_217), HASHES[0]);
        assert_eq!(hash(1_000_000_064, 7, 0), HASHES[1]);
    }

    const HASHES: [u32; 2] = [2_337_498_505, 2_176_951_428];

    #[test]
    fn a_shuffle_draws_once_for_each_place() {
        let random = SharedTwister::new(5489);
        let mut list: Vec<PortId> = (0..3).map(PortId::new).collect();
        shuffle(&mut list, &random);
        // 1,351,727,964 mod 3 = 0; 581,869,302 mod 2 = 0; the last draw moves nothing.
        assert_eq!(list.iter().map(|port| port.get()).collect::<Vec<_>>(), [1, 2, 0]);
        assert_eq!(random.draw(), 3_586_334_585 & 0x7fff_ffff);
    }
}
