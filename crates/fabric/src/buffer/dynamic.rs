//! Dynamic thresholds: an ingress may use its reserve and alpha times the free shared pool. Each packet that finds no
//! room within that takes headroom. An ingress that has just reached the threshold is above XOFF too.

use super::rule::{Level, ThresholdRule};
use super::{Arrival, Egress, Ingress, Pools};

pub(super) struct Dynamic;

impl ThresholdRule for Dynamic {
    #[inline(always)]
    fn charge<E: Egress>(pools: &mut Pools, ingress: &mut Ingress, arrival: &Arrival<E>) -> Option<Level> {
        let size = arrival.size_bytes;
        let threshold = pools.share(ingress.alpha);
        ingress.lowest_xoff = ingress.lowest_xoff.min(threshold + pools.reserve_bytes);
        let before = pools.shared_by(ingress);
        let mut used = (ingress.bytes + size - ingress.in_headroom).saturating_sub(pools.reserve_bytes);
        let within = ingress.in_headroom == 0;
        if used <= threshold && pools.shared_used + (used - before) <= pools.shared_bytes {
            pools.shared_used += used - before;
        } else if ingress.in_headroom + size <= ingress.headroom_bytes {
            ingress.charge_headroom(size);
            used = before;
        } else {
            return None;
        }
        let spills = ingress.in_headroom > 0;
        Some(Level { above: spills || used >= pools.share(ingress.alpha), rises: within && spills })
    }
}
