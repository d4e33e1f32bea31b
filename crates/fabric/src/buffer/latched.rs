//! Latched thresholds: the first packet above alpha times the free shared pool takes headroom, and so do all that
//! follow until headroom is empty. An ingress is above XOFF while it uses headroom.
//!
//! The threshold is that of the pool with the packet in it, so it is lower by alpha times its size than under
//! [`super::dynamic`].

use super::rule::{Level, ThresholdRule, latch};
use super::{Arrival, Egress, Ingress, Pools};

pub(super) struct Latched;

impl ThresholdRule for Latched {
    #[inline(always)]
    fn charge<E: Egress>(pools: &mut Pools, ingress: &mut Ingress, arrival: &Arrival<E>) -> Option<Level> {
        charge(pools, ingress, arrival.size_bytes)
    }
}

/// Apart, so that the rules above it stay short.
#[cold]
#[inline(never)]
fn charge(pools: &mut Pools, ingress: &mut Ingress, size: u64) -> Option<Level> {
    if ingress.lacks_headroom(size) {
        return None;
    }
    let alpha = ingress.alpha;
    latch(pools, ingress, size, |pools, used| (used, pools.share(alpha)))
}
