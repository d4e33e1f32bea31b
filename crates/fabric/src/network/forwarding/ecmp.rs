//! Equal-cost multipath: the hash of a switch picks a next hop.

use crate::contract::forwarding::{Candidate, Forwarded, NextHop, NextHopFacts};
use crate::network::plan;
use xoff_engine::rng::mix;

/// Hashes flow and path number at one switch.
pub(crate) struct Ecmp {
    seed: u64,
}

impl Ecmp {
    pub fn new(facts: &NextHopFacts) -> Ecmp {
        Ecmp { seed: mix(facts.seed ^ mix(u64::from(facts.switch) + 1)) }
    }
}

impl NextHop for Ecmp {
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize {
        let flow = u64::from(packet.flow) << 16 | u64::from(packet.path);
        scale(mix(self.seed ^ mix(flow)), candidates.len())
    }
}

/// Place among `count` of a hash of 64 bits.
fn scale(hash: u64, count: usize) -> usize {
    ((u128::from(hash) * count as u128) >> 64) as usize
}

/// What identifies a flow to the hash of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowKey {
    /// Seed of the run; used by [`plan::Ecmp::Mix`].
    pub seed: u64,
    /// What the flow is, whatever its ports; used by [`plan::Ecmp::Mix`].
    pub identity: u64,
    /// Host that sends, by node.
    pub from: u32,
    /// Host that receives, by node.
    pub to: u32,
    /// UDP or TCP ports, source first; used by [`plan::Ecmp::Murmur3`].
    pub ports: (u16, u16),
}

impl FlowKey {
    /// Any flow between two hosts.
    pub fn between(from: u32, to: u32) -> FlowKey {
        FlowKey { seed: 0, identity: 0, from, to, ports: (0, 0) }
    }

    /// What is sent back.
    pub fn reversed(self) -> FlowKey {
        FlowKey { from: self.to, to: self.from, ports: (self.ports.1, self.ports.0), ..self }
    }

    /// Key of the flow's path of this number; path 0 is the flow's own.
    pub fn path(self, number: u16) -> FlowKey {
        let identity = if number == 0 { self.identity } else { mix(self.identity ^ mix(u64::from(number))) };
        FlowKey { identity, ports: (self.ports.0.wrapping_add(number), self.ports.1), ..self }
    }

    /// Which of `count` next hops `switch` takes.
    pub(crate) fn choose(&self, ecmp: plan::Ecmp, switch: u32, count: usize) -> usize {
        match ecmp {
            plan::Ecmp::Mix => {
                let pair = (u64::from(self.from) << 32) | u64::from(self.to);
                let flow = mix(self.seed ^ mix(pair)) ^ mix(self.identity);
                scale(mix(flow ^ mix(u64::from(switch) + 1)), count)
            }
            plan::Ecmp::Murmur3 => {
                let ports = u32::from(self.ports.0) | u32::from(self.ports.1) << 16;
                murmur3(&[address(self.from), address(self.to), ports], switch) as usize % count
            }
        }
    }
}

/// The IPv4 address of a node: 11.x.y.1, where x and y are its number.
pub fn address(node: u32) -> u32 {
    0x0b00_0001 + (node << 8)
}

/// MurmurHash3 for 32-bit machines, over whole words.
fn murmur3(words: &[u32], seed: u32) -> u32 {
    let mut hash = seed;
    for &word in words {
        let scrambled = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = (hash ^ scrambled).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= words.len() as u32 * 4;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}
