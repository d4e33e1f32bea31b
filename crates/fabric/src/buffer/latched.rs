//! Latched thresholds: the first packet above alpha times the free shared pool takes headroom, and so do all that
//! follow until headroom is empty. An ingress is above XOFF while it uses headroom.
//!
//! The threshold is that of the pool with the packet in it, so it is lower by alpha times its size than under
//! [`super::dynamic`].

use super::rule::{Level, ThresholdRule};
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
    if ingress.in_headroom > 0 {
        if ingress.in_headroom + size > ingress.headroom_bytes {
            return None;
        }
        ingress.charge_headroom(size);
        return Some(Level { above: true, rises: false });
    }
    let used = (ingress.bytes + size).saturating_sub(pools.reserve_bytes);
    let before = pools.shared_by(ingress);
    pools.shared_used += used - before;
    let threshold = pools.share(ingress.alpha);
    ingress.lowest_xoff = ingress.lowest_xoff.min(threshold + pools.reserve_bytes);
    let above = used > threshold;
    if above {
        pools.shared_used -= used - before;
        // The first packet may be larger than the headroom.
        ingress.charge_headroom(size);
    }
    Some(Level { above, rises: above })
}
