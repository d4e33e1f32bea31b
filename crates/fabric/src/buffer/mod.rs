//! Shared buffer of a switch: which packets it stores, and which ingresses are above XOFF or at XON.
//!
//! A pure state machine without port, clock or event; simulated and live switches drive the same one. Each packet is
//! charged to its ingress, a (port, class) pair. The threshold rule of the switch charges lossless packets; lossy
//! packets share one pool. What the rule decides, PFC signals (`part/pfc.rs`, `pausing.rs` of live switches).
//!
//! A rule is a file with a `ThresholdRule` and a line of `rules!`; `[switch.pfc] threshold` takes its name.

mod active;
pub mod broadcom;
mod ingress;
mod number;
mod rule;
#[cfg(test)]
mod tests;

use crate::contract::record::{ClassReport, LosslessDrop};
pub use active::{Active, ActiveSettings, Counting, Unscheduled};
pub use ingress::{Ingress, Pools};
pub use number::real;
pub use rule::paused_alone;
use rule::{Level, ThresholdRule, rules};
use xoff_engine::{BitRate, Span, Time};

rules! {
    /// A fixed threshold per ingress.
    Static = "static" in static_threshold;
    /// Alpha times the free shared pool; each packet that finds no room within it takes headroom.
    Dynamic = "dynamic" in dynamic;
    /// Dynamic, and an ingress that uses headroom continues to until its headroom is empty.
    Latched = "latched" in latched;
    /// Latched, with thresholds divided by the number of busy queues and scaled by their drain rates.
    Abm = "abm" in abm;
    /// Latched, with thresholds divided by the number of busy queues and compared with an average of the queue.
    Reverie = "reverie" in reverie;
}

/// A packet that asks for room.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<E> {
    /// When it comes.
    pub now: Time,
    /// Number of the port at its switch by which the packet came in.
    pub ingress: usize,
    /// Class, by its place in the plan.
    pub class: u8,
    /// Frame size.
    pub size_bytes: u64,
    /// Queue that the packet is bound for.
    pub egress: E,
}

/// The arrival and the state of its egress queue, computed only if the rule reads it.
pub trait Egress {
    /// Bytes that wait in the queue.
    fn queue_bytes(&self) -> u64;
    /// Rate of the port.
    fn rate(&self) -> BitRate;
    /// Share of the link's rate at which the queue drains: see [`drain_share`].
    fn drain_share(&self) -> f64;
    /// Number of egress queues of this class at the switch that hold packets.
    fn busy_queues(&self) -> u32;
    /// Number of a data packet in its flow; `None` for all others, and where it is not known.
    fn psn(&self) -> Option<u32>;
}

/// Share of a link at which the queue of `class` drains: one over the number of classes that could send now; zero while
/// the class is paused. Bits of `waiting` and `paused` are classes.
pub fn drain_share(waiting: u8, paused: u8, class: u8) -> f64 {
    let own = 1 << class;
    if paused & own != 0 { 0.0 } else { 1.0 / f64::from(((waiting | own) & !paused).count_ones()) }
}

/// Outcome of [`Buffer::admit`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Admission {
    /// Stored; the ingress is not above XOFF.
    Stored,
    /// Stored; the ingress is above XOFF.
    AboveXoff {
        /// The ingress was not above XOFF before: a PAUSE that ran out meanwhile must be repeated.
        rises: bool,
    },
    /// No room for a packet of a lossy class.
    Dropped,
    /// No room for a packet of a lossless class.
    Refused,
}

/// Outcome of [`Buffer::release`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Release {
    /// Nothing to signal.
    Quiet,
    /// The ingress has paused its upstream and is at or below XON.
    Resume,
}

/// Limits of a lossy class at each egress queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueueLimit {
    /// Longest queue; `u64::MAX` for none.
    pub bytes: u64,
    /// Longest queue as a time at the rate of its port; `None` for none.
    pub time: Option<Span>,
    /// Longest queue as a share of the free pool (Choudhury and Hahne 1998).
    pub alpha: Option<f64>,
}

impl QueueLimit {
    /// Longest queue of a port of this rate, the pool aside.
    #[inline]
    fn bytes_at(&self, rate: impl FnOnce() -> BitRate) -> u64 {
        self.time.map_or(self.bytes, |time| rate().bytes_in(time).min(self.bytes))
    }
}

/// Shared buffer of a switch.
#[derive(Clone, Debug)]
pub struct Buffer {
    rule: Rule,
    pools: Pools,
    classes: usize,
    /// One for each local port and class, in this order.
    ingresses: Box<[Ingress]>,
    /// One for each class.
    limits: Box<[QueueLimit]>,
}

impl Buffer {
    /// An empty buffer; `ingresses` go by local port, then class, and `limits` by class.
    pub fn new(rule: Rule, pools: Pools, mut ingresses: Vec<Ingress>, limits: Vec<QueueLimit>) -> Buffer {
        debug_assert_eq!(rule.counts_active(), pools.active.is_some());
        (0..).zip(&mut ingresses).for_each(|(place, ingress)| ingress.place = place);
        Buffer { rule, pools, classes: limits.len(), ingresses: ingresses.into(), limits: limits.into() }
    }

    /// Place of an ingress among those of the switch.
    #[inline(always)]
    pub fn place(&self, local: usize, class: u8) -> usize {
        local * self.classes + usize::from(class)
    }

    /// Returns an ingress by the number of its port at the switch and its class.
    #[inline(always)]
    pub fn ingress(&self, local: usize, class: u8) -> &Ingress {
        &self.ingresses[self.place(local, class)]
    }

    /// Records whether an ingress keeps its upstream paused; returns whether it did.
    #[inline]
    pub fn set_pausing(&mut self, local: usize, class: u8, pausing: bool) -> bool {
        let place = self.place(local, class);
        std::mem::replace(&mut self.ingresses[place].pausing, pausing)
    }

    /// Returns all ingresses, by local port, then class.
    pub fn ingresses(&self) -> &[Ingress] {
        &self.ingresses
    }

    /// Returns sizes and use of the pools.
    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Returns whether thresholds move with the free pool.
    pub fn is_pooled(&self) -> bool {
        self.rule.is_pooled()
    }

    /// Stores a packet, or says why not.
    #[inline]
    pub fn admit<E: Egress>(&mut self, arrival: &Arrival<E>) -> Admission {
        let place = self.place(arrival.ingress, arrival.class);
        let (pools, ingress) = (&mut self.pools, &mut self.ingresses[place]);
        if !ingress.lossless {
            let longest = self.limits[usize::from(arrival.class)].bytes_at(|| arrival.egress.rate());
            return self.admit_lossy(place, arrival, longest);
        }
        let size = arrival.size_bytes;
        if pools.used_bytes + size > pools.bytes {
            return Admission::Refused;
        }
        let Some(level) = self.rule.charge(pools, ingress, arrival) else { return Admission::Refused };
        ingress.store(size);
        pools.used_bytes += size;
        if level.above { Admission::AboveXoff { rises: level.rises } } else { Admission::Stored }
    }

    #[cold]
    #[inline(never)]
    fn admit_lossy<E: Egress>(&mut self, place: usize, arrival: &Arrival<E>, longest: u64) -> Admission {
        let (pooled, size) = (self.is_pooled(), arrival.size_bytes);
        let (rule, pools, limit) = (self.rule, &mut self.pools, self.limits[usize::from(arrival.class)]);
        let free = if pooled { pools.free_bytes() } else { pools.lossy_bytes.saturating_sub(pools.lossy_used) };
        let share = |alpha| rule.lossy_threshold(free, alpha, &arrival.egress);
        let longest = limit.alpha.map_or(longest, |alpha| longest.min(share(alpha)));
        if arrival.egress.queue_bytes() + size > longest
            || pools.lossy_used + size > pools.lossy_bytes
            || pools.used_bytes + size > pools.bytes
            // Lossy packets may take the shared pool, never what lossless classes were promised.
            || (pooled && size > free)
        {
            return Admission::Dropped;
        }
        self.ingresses[place].store(size);
        pools.lossy_used += size;
        pools.used_bytes += size;
        if pooled {
            pools.shared_used += size;
        }
        Admission::Stored
    }

    /// Frees the bytes of a packet that has left.
    #[inline]
    pub fn release(&mut self, local: usize, class: u8, size_bytes: u64, now: Time) -> Release {
        let place = self.place(local, class);
        let (pools, ingress) = (&mut self.pools, &mut self.ingresses[place]);
        debug_assert!(ingress.bytes >= size_bytes && pools.used_bytes >= size_bytes, "more freed than stored");
        pools.used_bytes -= size_bytes;
        if !ingress.lossless {
            ingress.bytes -= size_bytes;
            pools.lossy_used -= size_bytes;
            if self.rule.is_pooled() {
                pools.shared_used -= size_bytes;
            }
            return Release::Quiet;
        }
        self.rule.discharge(pools, ingress, size_bytes, now);
        if ingress.pausing && self.rule.is_at_xon(pools, ingress) { Release::Resume } else { Release::Quiet }
    }

    /// Returns whether an ingress is above XOFF, so that its PAUSE is repeated.
    pub fn is_above_xoff(&self, local: usize, class: u8) -> bool {
        self.rule.is_above_xoff(self.ingress(local, class))
    }

    /// Returns whether an ingress has paused its upstream and is at or below XON.
    pub fn may_resume(&self, local: usize, class: u8) -> bool {
        let ingress = self.ingress(local, class);
        ingress.pausing && self.rule.is_at_xon(&self.pools, ingress)
    }

    /// Returns the bytes above which an ingress would pause its upstream now.
    pub fn xoff(&self, local: usize, class: u8) -> u64 {
        self.rule.xoff(&self.pools, self.ingress(local, class))
    }

    /// Returns whether a lossless ingress holds more than XOFF, so that a packet more would have to use headroom.
    pub fn is_full_to_xoff(&self, local: usize, class: u8) -> bool {
        let ingress = self.ingress(local, class);
        ingress.lossless && ingress.bytes > self.rule.xoff(&self.pools, ingress)
    }

    /// Returns whether an ingress pauses its upstream when its link comes up: above XON, which a pooled ingress counts
    /// as use of headroom.
    pub fn starts_paused(&self, local: usize, class: u8) -> bool {
        let ingress = self.ingress(local, class);
        let above = match self.is_pooled() {
            true => self.rule.is_above_xoff(ingress),
            false => !self.rule.is_at_xon(&self.pools, ingress),
        };
        ingress.lossless && above
    }

    /// Returns the record of a lossless packet that found no room at `(now, node, port)`.
    pub fn lossless_drop(
        &self,
        (at, node, port): (Time, u32, u32),
        (local, class): (usize, u8),
        packet_bytes: u32,
        headroom_required_bytes: u64,
    ) -> LosslessDrop {
        let ingress = self.ingress(local, class);
        LosslessDrop {
            at,
            node,
            port,
            class,
            packet_bytes,
            ingress_bytes: ingress.bytes,
            threshold_bytes: self.xoff(local, class),
            headroom_bytes: ingress.headroom_bytes,
            headroom_required_bytes,
            buffer_used_bytes: self.pools.used_bytes,
            buffer_bytes: self.pools.bytes,
        }
    }

    /// Writes what a report says of an ingress.
    pub fn report(&self, local: usize, class: u8, row: &mut ClassReport) {
        let ingress = self.ingress(local, class);
        row.ingress_bytes_peak = ingress.peak_bytes;
        row.headroom_bytes = ingress.headroom_bytes;
        row.headroom_used_peak_bytes = self.headroom_peak(local, class);
        row.xoff_bytes = ingress.lossless.then(|| self.lowest_xoff(local, class));
    }

    /// Returns the smallest XOFF that a lossless ingress was compared with; `u64::MAX` if no packet was.
    fn lowest_xoff(&self, local: usize, class: u8) -> u64 {
        let ingress = self.ingress(local, class);
        if self.is_pooled() { ingress.lowest_xoff } else { ingress.xoff_bytes }
    }

    /// Returns the most bytes that a lossless ingress had above XOFF.
    fn headroom_peak(&self, local: usize, class: u8) -> u64 {
        match self.ingress(local, class) {
            ingress if self.is_pooled() => ingress.headroom_peak,
            ingress if ingress.lossless => ingress.peak_bytes.saturating_sub(ingress.xoff_bytes),
            _ => 0,
        }
    }

    /// Returns the least that a lossless ingress holds when it pauses its upstream, alone in the buffer.
    pub fn paused_alone(&self) -> Option<u64> {
        let lossless = self.ingresses.iter().filter(|ingress| ingress.lossless);
        lossless.map(|ingress| self.rule.paused_alone(&self.pools, ingress)).min()
    }
}
