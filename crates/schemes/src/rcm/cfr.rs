//! CFR, congestion flow recognition (section 4): a ring of sampled flow IDs per output queue.

use super::spec::{Params, Rule, Sampling};
use xoff_engine::{Rng, Span, Time};

/// The deepest ring, and the longest list of IDs a notification can carry.
pub const MOST_IDS: usize = 64;

/// A list of flow IDs, ascending.
#[derive(Clone, Copy)]
pub struct Ids {
    ids: [u32; MOST_IDS],
    len: u8,
}

impl Ids {
    pub const EMPTY: Ids = Ids { ids: [0; MOST_IDS], len: 0 };

    pub fn as_slice(&self) -> &[u32] {
        &self.ids[..usize::from(self.len)]
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    #[inline]
    pub fn position(&self, flow: u32) -> Option<usize> {
        self.as_slice().binary_search(&flow).ok()
    }
    /// Adds a flow unless it is there or `most` are.
    pub fn insert(&mut self, flow: u32, most: usize) {
        if let Err(at) = self.as_slice().binary_search(&flow)
            && usize::from(self.len) < most.min(MOST_IDS)
        {
            self.ids.copy_within(at..usize::from(self.len), at + 1);
            self.ids[at] = flow;
            self.len += 1;
        }
    }
    /// Whether every flow of `other` is here too.
    pub fn covers(&self, other: &Ids) -> bool {
        other.as_slice().iter().all(|&flow| self.position(flow).is_some())
    }
}

impl std::fmt::Debug for Ids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl PartialEq for Ids {
    fn eq(&self, other: &Ids) -> bool {
        self.as_slice() == other.as_slice()
    }
}

/// The CAM of one output queue, written cyclically.
#[derive(Clone, Debug)]
pub struct Cam {
    ring: Box<[(u32, Time)]>,
    /// Entries ever written.
    written: u64,
    passed: u32,
    rng: Rng,
}

impl Cam {
    pub fn new(depth: u8, rng: Rng) -> Cam {
        Cam { ring: vec![(0, Time::ZERO); usize::from(depth)].into(), written: 0, passed: 0, rng }
    }

    /// A packet passes; `true` if its flow was written into the ring.
    #[inline]
    pub fn on_packet(&mut self, params: &Params, now: Time, flow: u32) -> bool {
        let sampled = match params.cam_sampling {
            Sampling::Random => self.rng.below(params.cam_every) == 0,
            Sampling::Periodic => {
                self.passed = (self.passed + 1) % params.cam_every as u32;
                self.passed == 0
            }
        };
        if sampled {
            self.write(now, flow);
        }
        sampled
    }

    pub fn write(&mut self, now: Time, flow: u32) {
        let at = (self.written % self.ring.len() as u64) as usize;
        self.ring[at] = (flow, now);
        self.written += 1;
    }

    /// IDs of entries that have not expired.
    pub fn entries(&self, expiry: Span, now: Time) -> impl Iterator<Item = u32> {
        let filled = self.ring.len().min(self.written as usize);
        let valid = move |at: Time| now.saturating_since(at) <= expiry;
        self.ring[..filled].iter().filter(move |(_, at)| valid(*at)).map(|(flow, _)| *flow)
    }

    /// Whether the flow was seen here lately.
    pub fn holds(&self, expiry: Span, now: Time, flow: u32) -> bool {
        self.entries(expiry, now).any(|seen| seen == flow)
    }

    /// The harmful flows (section 4). `above-mean`: hits >= entries / distinct IDs; the entries are D
    /// once the ring is full.
    pub fn harmful(&self, rule: Rule, expiry: Span, now: Time) -> Ids {
        let (mut distinct, mut entries) = (Ids::EMPTY, 0);
        for flow in self.entries(expiry, now) {
            distinct.insert(flow, MOST_IDS);
            entries += 1;
        }
        match rule {
            Rule::Present => return distinct,
            Rule::AboveMean => {}
        }
        let mut hits = [0usize; MOST_IDS];
        for flow in self.entries(expiry, now) {
            hits[distinct.position(flow).unwrap_or(0)] += 1;
        }
        let mut harmful = Ids::EMPTY;
        for (at, &flow) in distinct.as_slice().iter().enumerate() {
            if hits[at] * distinct.as_slice().len() >= entries {
                harmful.insert(flow, MOST_IDS);
            }
        }
        harmful
    }
}
