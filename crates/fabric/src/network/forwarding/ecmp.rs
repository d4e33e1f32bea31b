//! Equal-cost multipath: the hash of a switch picks a next hop.

use crate::contract::forwarding::{Candidate, Forwarded, NextHop, NextHopFacts};
use crate::network::murmur3::murmur3;
use crate::network::plan::{self, HashFields, HashSeeds, Model, Plan};
use xoff_engine::rng::mix;

/// Hashes flow and path number at one switch.
pub(crate) struct HashOfPackets {
    seed: u64,
}

impl HashOfPackets {
    pub fn new(facts: &NextHopFacts) -> HashOfPackets {
        HashOfPackets { seed: mix(facts.seed ^ mix(u64::from(facts.switch) + 1)) }
    }
}

impl NextHop for HashOfPackets {
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize {
        let flow = u64::from(packet.flow) << 16 | u64::from(packet.path);
        scale(mix(self.seed ^ mix(flow)), candidates.len())
    }
}

/// Place among `count` of a hash of 64 bits.
fn scale(hash: u64, count: usize) -> usize {
    ((u128::from(hash) * count as u128) >> 64) as usize
}

/// How the switches of a network hash flows.
#[derive(Debug)]
pub(crate) struct Hash {
    ecmp: plan::Ecmp,
    fields: HashFields,
    seeds: HashSeeds,
    /// Seeds by node, with [`HashSeeds::PerLayer`].
    layers: Vec<u32>,
}

impl Hash {
    pub fn new(plan: &Plan) -> Hash {
        let Model { ecmp, hash: plan::Hash { fields, seeds }, .. } = plan.model;
        let mut names: Vec<&str> = plan.nodes.iter().map(|node| node.layer.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let layer = |node: &plan::Node| names.partition_point(|name| *name < node.layer.as_str()) as u32;
        let layers = match seeds {
            HashSeeds::PerLayer => plan.nodes.iter().map(layer).collect(),
            HashSeeds::PerSwitch | HashSeeds::Equal => Vec::new(),
        };
        Hash { ecmp, fields, seeds, layers }
    }

    fn seed(&self, switch: u32) -> u32 {
        match self.seeds {
            HashSeeds::PerSwitch => switch,
            HashSeeds::PerLayer => self.layers[switch as usize],
            HashSeeds::Equal => 0,
        }
    }

    /// Which of `count` next hops `switch` takes for a flow.
    pub fn choose(&self, key: &FlowKey, switch: u32, count: usize) -> usize {
        let seed = self.seed(switch);
        match self.ecmp {
            plan::Ecmp::Mix if self.fields == HashFields::FIVE_TUPLE && self.seeds == HashSeeds::PerSwitch => {
                scale(mix(key.whole() ^ mix(u64::from(seed) + 1)), count)
            }
            // Chips divide: what remains shows when switches hash alike.
            plan::Ecmp::Mix => (mix(self.mixed(key) ^ mix(u64::from(seed) + 1)) % count as u64) as usize,
            plan::Ecmp::Murmur3 => {
                let words = key.words(self.fields);
                let words = if self.fields.has(HashFields::QP) { &words[..] } else { &words[..3] };
                murmur3(words, seed) as usize % count
            }
        }
    }

    fn mixed(&self, key: &FlowKey) -> u64 {
        match self.fields {
            HashFields::FIVE_TUPLE => key.whole(),
            fields => key.words(fields).iter().fold(key.seed, |hash, &word| mix(hash ^ mix(u64::from(word)))),
        }
    }
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
    /// Number of one of its paths, which a sender puts into the source port; 0 is the flow's own path.
    pub number: u16,
}

impl FlowKey {
    /// Any flow between two hosts.
    pub fn between(from: u32, to: u32) -> FlowKey {
        FlowKey { seed: 0, identity: 0, from, to, ports: (0, 0), number: 0 }
    }

    /// What is sent back.
    pub fn reversed(self) -> FlowKey {
        FlowKey { from: self.to, to: self.from, ports: (self.ports.1, self.ports.0), ..self }
    }

    /// Key of the flow's path of this number.
    pub fn path(self, number: u16) -> FlowKey {
        FlowKey { number, ..self }
    }

    /// All that [`plan::Ecmp::Mix`] knows of a flow.
    fn whole(&self) -> u64 {
        let pair = (u64::from(self.from) << 32) | u64::from(self.to);
        let identity = match self.number {
            0 => self.identity,
            number => mix(self.identity ^ mix(u64::from(number))),
        };
        mix(self.seed ^ mix(pair)) ^ mix(identity)
    }

    /// Addresses, ports and destination QP, each zero where it is not hashed.
    fn words(&self, fields: HashFields) -> [u32; 4] {
        let of = |field, word: u32| if fields.has(field) { word } else { 0 };
        let ports = of(HashFields::SOURCE_PORT, self.ports.0.wrapping_add(self.number).into())
            | of(HashFields::DESTINATION_PORT, u32::from(self.ports.1) << 16);
        let [from, to] = [(HashFields::SOURCE, self.from), (HashFields::DESTINATION, self.to)]
            .map(|(field, node)| of(field, address(node)));
        [from, to, ports, of(HashFields::QP, (self.identity >> 40) as u32)]
    }
}

/// The IPv4 address of a node: 11.x.y.1, where x and y are its number.
pub fn address(node: u32) -> u32 {
    0x0b00_0001 + (node << 8)
}
