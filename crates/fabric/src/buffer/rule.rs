//! Registry of threshold rules, and what a rule is.

use super::{Arrival, Egress, Ingress, Pools, dynamic, latched, static_threshold};

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

    /// Charges a packet that fits the buffer; `None` if the ingress has no room. The caller counts the packet's bytes
    /// in the ingress and in the buffer.
    fn charge<E: Egress>(pools: &mut Pools, ingress: &mut Ingress, arrival: &Arrival<E>) -> Option<Level>;

    /// Takes a packet that leaves off the ingress and the pool; headroom is emptied first.
    #[inline(always)]
    fn discharge(pools: &mut Pools, ingress: &mut Ingress, size_bytes: u64) {
        let before = pools.shared_by(ingress);
        ingress.bytes -= size_bytes;
        ingress.in_headroom = ingress.in_headroom.saturating_sub(size_bytes);
        pools.shared_used = pools.shared_used + pools.shared_by(ingress) - before;
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
        let low = used < pools.xon_floor_bytes || used + pools.xon_offset_bytes <= pools.share(ingress.alpha);
        ingress.in_headroom == 0 && low
    }

    /// Returns the bytes above which the ingress would pause its upstream now.
    fn xoff(pools: &Pools, ingress: &Ingress) -> u64 {
        pools.reserve_bytes + pools.share(ingress.alpha)
    }

    /// Returns what the ingress holds when it pauses its upstream, alone in the buffer.
    fn paused_alone(pools: &Pools, ingress: &Ingress) -> u64 {
        paused_alone(pools.shared_bytes, ingress.alpha, pools.reserve_bytes)
    }
}

/// Returns what an ingress with a dynamic threshold holds when it pauses its upstream, alone in the buffer: its use of
/// the shared pool is then alpha times what is left.
pub fn paused_alone(shared_bytes: u64, alpha: f64, reserve_bytes: u64) -> u64 {
    (shared_bytes as f64 * alpha / (1.0 + alpha)) as u64 + reserve_bytes
}

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $rule:path;)*) => {
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
                    $(Rule::$variant => <$rule>::POOLED,)*
                }
            }
            #[inline(always)]
            pub(super) fn charge<E: Egress>(
                self,
                pools: &mut Pools,
                ingress: &mut Ingress,
                arrival: &Arrival<E>,
            ) -> Option<Level> {
                match self {
                    $(Rule::$variant => <$rule>::charge(pools, ingress, arrival),)*
                }
            }
            #[inline(always)]
            pub(super) fn discharge(self, pools: &mut Pools, ingress: &mut Ingress, size_bytes: u64) {
                match self {
                    $(Rule::$variant => <$rule>::discharge(pools, ingress, size_bytes),)*
                }
            }
            #[inline]
            pub(super) fn is_above_xoff(self, ingress: &Ingress) -> bool {
                match self {
                    $(Rule::$variant => <$rule>::is_above_xoff(ingress),)*
                }
            }
            #[inline]
            pub(super) fn is_at_xon(self, pools: &Pools, ingress: &Ingress) -> bool {
                match self {
                    $(Rule::$variant => <$rule>::is_at_xon(pools, ingress),)*
                }
            }
            pub(super) fn xoff(self, pools: &Pools, ingress: &Ingress) -> u64 {
                match self {
                    $(Rule::$variant => <$rule>::xoff(pools, ingress),)*
                }
            }
            pub(super) fn paused_alone(self, pools: &Pools, ingress: &Ingress) -> u64 {
                match self {
                    $(Rule::$variant => <$rule>::paused_alone(pools, ingress),)*
                }
            }
        }
    };
}

rules! {
    /// A fixed threshold per ingress.
    Static = "static", static_threshold::StaticThreshold;
    /// Alpha times the free shared pool; each packet that finds no room within it takes headroom.
    Dynamic = "dynamic", dynamic::Dynamic;
    /// Dynamic, and an ingress that uses headroom continues to until its headroom is empty.
    Latched = "latched", latched::Latched;
}
