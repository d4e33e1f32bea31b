//! What a threshold rule is, and the macro that writes their enum.

use super::{Arrival, Egress, Ingress, Pools, real};
use xoff_engine::Time;

/// Level of an ingress once a packet is charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// PFC keeps the upstream paused.
    pub above: bool,
    /// The ingress has just risen above XOFF.
    pub rises: bool,
}

/// Charges lossless packets to the buffer. The defaults are those of rules that divide the shared pool; a rule of its
/// own kind replaces them.
pub(crate) trait ThresholdRule {
    /// Whether packets are charged to the shared pool, so that thresholds move with it.
    const POOLED: bool = true;
    /// Whether it reads [`Active`](super::active::Active) of the pools.
    const COUNTS_ACTIVE: bool = false;

    /// Charges a packet that fits the buffer; `None` if the ingress has no room. The caller counts the packet's bytes
    /// in the ingress and in the buffer.
    fn charge<E: Egress>(pools: &mut Pools, ingress: &mut Ingress, arrival: &Arrival<E>) -> Option<Level>;

    /// Takes a packet that leaves off the ingress and the pool; headroom is emptied first.
    #[inline(always)]
    fn discharge(pools: &mut Pools, ingress: &mut Ingress, size_bytes: u64, _now: Time) {
        pools.take_off(ingress, size_bytes);
    }

    /// Returns whether the ingress is above XOFF.
    #[inline]
    fn is_above_xoff(ingress: &Ingress) -> bool {
        ingress.in_headroom > 0
    }

    /// Returns whether the ingress is at or below XON.
    #[inline]
    fn is_at_xon(pools: &Pools, ingress: &Ingress) -> bool {
        let used = pools.shared_by(ingress);
        let low = used < pools.xon_floor_bytes || used + pools.xon_offset_bytes <= Self::threshold(pools, ingress);
        ingress.in_headroom == 0 && low
    }

    /// Returns what the ingress may use of the shared pool now.
    #[inline(always)]
    fn threshold(pools: &Pools, ingress: &Ingress) -> u64 {
        pools.share(ingress.alpha)
    }

    /// Returns the longest egress queue of a lossy class with this alpha, while so much of the pool is free.
    fn lossy_threshold<E: Egress>(free_bytes: u64, alpha: f64, _egress: &E) -> u64 {
        (alpha * real(free_bytes)) as u64
    }

    /// Returns the bytes above which the ingress would pause its upstream now.
    fn xoff(pools: &Pools, ingress: &Ingress) -> u64 {
        pools.reserve_bytes + Self::threshold(pools, ingress)
    }

    /// Returns what the ingress holds when it pauses its upstream, alone in the buffer.
    fn paused_alone(pools: &Pools, ingress: &Ingress) -> u64 {
        paused_alone(pools.shared_bytes, ingress.alpha, pools.reserve_bytes)
    }
}

/// Charges a packet as rules do whose headroom, once used, takes all that follows until it is empty. There must be room
/// in it. `level` gives what is compared, by the ingress's use of the pool with the packet in it, and the threshold.
#[inline(always)]
pub(super) fn latch(
    pools: &mut Pools,
    ingress: &mut Ingress,
    size: u64,
    level: impl FnOnce(&Pools, u64) -> (u64, u64),
) -> Option<Level> {
    if ingress.in_headroom > 0 {
        ingress.charge_headroom(size);
        return Some(Level { above: true, rises: false });
    }
    let used = (ingress.bytes + size).saturating_sub(pools.reserve_bytes);
    let before = pools.shared_by(ingress);
    pools.shared_used += used - before;
    let (compared, threshold) = level(pools, used);
    ingress.lowest_xoff = ingress.lowest_xoff.min(threshold + pools.reserve_bytes);
    let above = compared > threshold;
    if above {
        pools.shared_used -= used - before;
        // The first packet may be larger than the headroom.
        ingress.charge_headroom(size);
    }
    Some(Level { above, rises: above })
}

/// Returns what an ingress with a dynamic threshold holds when it pauses its upstream, alone in the buffer: its use of
/// the shared pool is then alpha times what is left.
pub fn paused_alone(shared_bytes: u64, alpha: f64, reserve_bytes: u64) -> u64 {
    (shared_bytes as f64 * alpha / (1.0 + alpha)) as u64 + reserve_bytes
}

/// Writes [`Rule`](super::Rule) over the rules of a list; each is a type of the variant's name in a file of its own.
macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal in $file:ident;)*) => {
        $(mod $file;)*

        /// Threshold rule of a switch.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Rule {
            $($(#[$doc])* $variant,)*
        }

        impl Rule {
            /// Every rule and its name in scenarios.
            pub const ALL: &'static [(&'static str, Rule)] = &[$(($name, Rule::$variant)),*];
            /// Names in scenarios.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Name in scenarios.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Rule::$variant => $name,)*
                }
            }
            /// Whether packets are charged to the shared pool.
            #[inline]
            pub const fn is_pooled(self) -> bool {
                match self {
                    $(Rule::$variant => $file::$variant::POOLED,)*
                }
            }
            /// Whether it counts busy queues.
            pub const fn counts_active(self) -> bool {
                match self {
                    $(Rule::$variant => $file::$variant::COUNTS_ACTIVE,)*
                }
            }
            fn lossy_threshold<E: Egress>(self, free_bytes: u64, alpha: f64, egress: &E) -> u64 {
                match self {
                    $(Rule::$variant => $file::$variant::lossy_threshold(free_bytes, alpha, egress),)*
                }
            }
            #[inline(always)]
            fn charge<E: Egress>(
                self,
                pools: &mut Pools,
                ingress: &mut Ingress,
                arrival: &Arrival<E>,
            ) -> Option<Level> {
                match self {
                    $(Rule::$variant => $file::$variant::charge(pools, ingress, arrival),)*
                }
            }
            #[inline(always)]
            fn discharge(self, pools: &mut Pools, ingress: &mut Ingress, size_bytes: u64, now: Time) {
                match self {
                    $(Rule::$variant => $file::$variant::discharge(pools, ingress, size_bytes, now),)*
                }
            }
            #[inline]
            fn is_above_xoff(self, ingress: &Ingress) -> bool {
                match self {
                    $(Rule::$variant => $file::$variant::is_above_xoff(ingress),)*
                }
            }
            #[inline]
            fn is_at_xon(self, pools: &Pools, ingress: &Ingress) -> bool {
                match self {
                    $(Rule::$variant => $file::$variant::is_at_xon(pools, ingress),)*
                }
            }
            fn xoff(self, pools: &Pools, ingress: &Ingress) -> u64 {
                match self {
                    $(Rule::$variant => $file::$variant::xoff(pools, ingress),)*
                }
            }
            fn paused_alone(self, pools: &Pools, ingress: &Ingress) -> u64 {
                match self {
                    $(Rule::$variant => $file::$variant::paused_alone(pools, ingress),)*
                }
            }
        }
    };
}

pub(super) use rules;
