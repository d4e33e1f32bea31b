//! A flow: its identity, its path, and the messages that it has still to send.

use crate::macro_flow::Together;
use std::collections::VecDeque;
use xoff_engine::{Span, Time};
use xoff_fabric::record::Paths;
use xoff_fabric::route::FlowKey;
use xoff_fabric::traffic::FlowSpec;

/// Bytes that are sent one after another and delivered together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub payload: u64,
    /// With headers and gaps; infinite for a flow that always has more to send.
    pub wire: f64,
    /// Name that its source gave it; 0 for a flow with a size.
    pub name: u32,
    /// Its source receives its delivery: it is no bytes of an offer.
    pub told: bool,
}

/// A message that has left its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub payload: u64,
    pub name: u32,
    pub told: bool,
    pub delivered_at: u64,
}

/// Sizes of packets on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub mtu: u32,
    /// Headers and gap.
    pub overhead: u32,
    /// Wire bytes of the shortest frame.
    pub least: u32,
    pub ack: u32,
}

impl Sizes {
    pub(crate) fn full(&self) -> u32 {
        self.mtu + self.overhead
    }

    /// Packets of a message, and wire bytes of the last of them.
    pub(crate) fn packets(&self, payload: u64) -> (u64, u32) {
        let packets = payload.div_ceil(u64::from(self.mtu)).max(1);
        let last = payload - (packets - 1) * u64::from(self.mtu);
        (packets, (last as u32 + self.overhead).max(self.least))
    }

    /// Wire bytes of a message.
    pub(crate) fn wire(&self, payload: u64) -> u64 {
        let (packets, last) = self.packets(payload);
        (packets - 1) * u64::from(self.full()) + u64::from(last)
    }
}

/// Where a flow goes.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// Its path, or its paths where its packets are spread.
    pub path: Paths,
    /// Ports and shares of its rate, where its packets are spread or it is a macro-flow.
    pub hops: Vec<(u32, f64)>,
    /// Ports of all shortest paths, hop by hop, where its packets are spread.
    pub spread: Option<Vec<Vec<u32>>>,
    pub back: Vec<u32>,
    /// From the delivery of a packet to its acknowledgement.
    pub back_ps: u64,
    /// Rate of the slowest link, at its highest.
    pub slowest_bps: u64,
    pub stranded: bool,
}

/// The path by which latencies count.
pub(crate) fn first_path(paths: &Paths) -> &[u32] {
    paths.iter().next().unwrap_or_default()
}

impl Way {
    /// Ports and shares of the rate.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (u32, f64)> {
        let alone = if self.hops.is_empty() { first_path(&self.path) } else { &[] };
        alone.iter().map(|&port| (port, 1.0)).chain(self.hops.iter().copied())
    }
}

pub(crate) struct QueuePair {
    pub source: u32,
    /// Number in the run, and in its source.
    pub id: u32,
    pub number: u64,
    pub identity: u64,
    pub key: FlowKey,
    pub ports: (u16, u16),
    pub spec: FlowSpec,
    pub sizes: Sizes,
    pub way: Way,
    pub start: Time,
    pub ideal: Span,
    pub base_rtt: Span,
    /// The message that is being sent, and those that wait for it.
    pub head: Option<Message>,
    pub waiting: VecDeque<Message>,
    /// Messages that have left and are not delivered, how many were delivered, and those that are not acknowledged.
    pub leaving: VecDeque<Leaving>,
    pub delivered: u32,
    pub unacknowledged: VecDeque<(u32, bool)>,
    /// Wire bytes of the head that have left at `updated`, and the rate since.
    pub progress: f64,
    pub rate: f64,
    pub updated: u64,
    pub done: Totals,
    /// Payload for which no packet is full yet, of a flow that is fed by offers.
    pub short_of_packet: u64,
    /// Latency of messages of one size.
    pub latency: (u64, i64),
    /// Only of a macro-flow.
    pub together: Option<Box<Together>>,
}

/// What a flow has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub delivered_bytes: u64,
    /// Packets and wire bytes of messages that have left as a whole.
    pub packets: u64,
    pub wire: f64,
    pub delivered_at: Option<Time>,
    pub acked_at: Option<Time>,
}

impl QueuePair {
    /// A flow that has nothing to send yet, and of whose times nothing is known.
    pub(crate) fn idle(
        source: u32,
        id: u32,
        key: FlowKey,
        spec: FlowSpec,
        sizes: Sizes,
        way: Way,
        now: Time,
    ) -> QueuePair {
        QueuePair {
            source,
            id,
            number: 0,
            identity: key.identity,
            ports: key.ports,
            key,
            spec,
            sizes,
            way,
            start: now,
            ideal: Span::ZERO,
            base_rtt: Span::ZERO,
            head: None,
            waiting: VecDeque::new(),
            leaving: VecDeque::new(),
            delivered: 0,
            unacknowledged: VecDeque::new(),
            progress: 0.0,
            rate: 0.0,
            updated: now.ps(),
            done: Totals::default(),
            short_of_packet: 0,
            latency: (0, 0),
            together: None,
        }
    }

    /// Wire bytes of the head that have left by `now` (picoseconds).
    pub(crate) fn head_sent(&self, now: u64) -> f64 {
        let most = self.head.map_or(0.0, |head| head.wire);
        (self.progress + self.rate * (now - self.updated) as f64 / 8e12).min(most)
    }

    /// When the head has left, at the rate of now.
    pub(crate) fn completion(&self) -> Option<u64> {
        let head = self.head.filter(|head| head.wire.is_finite())?;
        if self.rate <= 0.0 {
            return None;
        }
        let after = ((head.wire - self.progress).max(0.0) * 8e12 / self.rate).ceil();
        // Beyond any run.
        (after < 9e18).then(|| self.updated.saturating_add(after as u64))
    }

    /// Payload that has been delivered by `now` of messages that are not delivered as a whole, in whole packets.
    pub(crate) fn partly_delivered(&self, now: u64) -> u64 {
        let whole = |wire: f64| (wire.max(0.0) / f64::from(self.sizes.full())) as u64 * u64::from(self.sizes.mtu);
        if self.together.is_some() {
            let under_way: u64 = self.leaving.iter().map(|of| of.payload).sum();
            let part = |head: Message| (self.head_sent(now) / head.wire * head.payload as f64) as u64;
            return under_way + self.head.map_or(0, part);
        }
        let slowest = self.way.slowest_bps as f64;
        let leaving = |of: &Leaving| {
            let missing = (of.delivered_at.saturating_sub(now)) as f64 * slowest / 8e12;
            whole(self.sizes.wire(of.payload) as f64 - missing).min(of.payload)
        };
        let under_way: u64 = self.leaving.iter().map(leaving).sum();
        let Some(head) = self.head else { return under_way };
        let on_the_way = self.rate.min(slowest) * self.latency_guess() / 8e12;
        under_way + whole(self.head_sent(now) - on_the_way).min(head.payload)
    }

    /// Picoseconds that a packet takes from leaving to delivery, about.
    fn latency_guess(&self) -> f64 {
        (self.base_rtt.ps() as f64 - self.way.back_ps as f64).max(0.0)
    }

    /// Returns whether bytes are unsent or unacknowledged.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.head.is_some() || !self.leaving.is_empty() || !self.unacknowledged.is_empty()
    }
}
