//! Shared buffer of a switch: which packets it stores, and which ingresses are above XOFF or at XON.
//!
//! A pure state machine without port, clock or event; simulated and live switches drive the same one. Each packet is
//! charged to its ingress, a (port, class) pair. The threshold rule of the switch charges lossless packets; lossy
//! packets share one pool. What the rule decides, PFC signals (`part/pfc.rs`, `pausing.rs` of live switches).
//!
//! A rule is a file with a `ThresholdRule` and a line of `rules!`; `[switch.pfc] threshold` takes its name.

pub mod broadcom;
mod ingress;
mod rule;
#[cfg(test)]
mod tests;

use crate::contract::record::{ClassReport, LosslessDrop};
pub use ingress::{Ingress, Pools, real};
pub use rule::paused_alone;
use rule::{Level, ThresholdRule, rules};
use xoff_engine::Time;

rules! {
    /// A fixed threshold per ingress.
    Static = "static" in static_threshold;
    /// Alpha times the free shared pool; each packet that finds no room within it takes headroom.
    Dynamic = "dynamic" in dynamic;
    /// Dynamic, and an ingress that uses headroom continues to until its headroom is empty.
    Latched = "latched" in latched;
}

/// A packet that asks for room.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<E> {
    /// Number of the port at its switch by which the packet came in.
    pub ingress: usize,
    /// Class, by its place in the plan.
    pub class: u8,
    /// Frame size.
    pub size_bytes: u64,
    /// Queue that the packet is bound for.
    pub egress: E,
}

/// State of the egress queue of an arrival, computed only if the rule reads it.
pub trait Egress {
    /// Bytes that wait in the queue.
    fn queue_bytes(&self) -> u64;
    /// Rate at which the queue drains, in bit/s: see [`drain_bps`].
    fn drain_bps(&self) -> f64;
    /// Number of egress queues of this class at the switch that hold packets.
    fn busy_queues(&self) -> u32;
}

/// Drain rate of the queue of `class` at a port: the link's rate divided by the number of classes that could send now;
/// zero while the class is paused. Bits of `waiting` and `paused` are classes.
pub fn drain_bps(link_bps: f64, waiting: u8, paused: u8, class: u8) -> f64 {
    let own = 1 << class;
    if paused & own != 0 { 0.0 } else { link_bps / f64::from(((waiting | own) & !paused).count_ones()) }
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
    /// Longest queue as a share of the free pool (Choudhury and Hahne 1998).
    pub alpha: Option<f64>,
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
    pub fn new(rule: Rule, pools: Pools, ingresses: Vec<Ingress>, limits: Vec<QueueLimit>) -> Buffer {
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
            let queue_bytes = arrival.egress.queue_bytes();
            return self.admit_lossy(place, arrival.class, arrival.size_bytes, queue_bytes);
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
    fn admit_lossy(&mut self, place: usize, class: u8, size: u64, queue_bytes: u64) -> Admission {
        let pooled = self.is_pooled();
        let (pools, limit) = (&mut self.pools, self.limits[usize::from(class)]);
        let free = if pooled { pools.free_bytes() } else { pools.lossy_bytes.saturating_sub(pools.lossy_used) };
        let longest = limit.alpha.map_or(limit.bytes, |alpha| limit.bytes.min((alpha * real(free)) as u64));
        if queue_bytes + size > longest
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
    pub fn release(&mut self, local: usize, class: u8, size_bytes: u64) -> Release {
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
        self.rule.discharge(pools, ingress, size_bytes);
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
