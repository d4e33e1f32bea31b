//! ABM, active buffer management (Addanki et al., SIGCOMM 2022), in its authors' form for lossless classes: the
//! threshold is alpha times the free shared pool, over the number of busy queues N, times how fast the queue drains, mu.
//! Like [`super::latched`] in all else.
//!
//! A lossy queue is limited likewise, by the busy egress queues of its class and its own share of the link.

use super::rule::{Level, ThresholdRule, latch};
use super::{Arrival, Egress, Ingress, Pools, real};
use xoff_engine::Time;

pub(super) struct Abm;

impl ThresholdRule for Abm {
    const COUNTS_ACTIVE: bool = true;

    fn charge<E: Egress>(pools: &mut Pools, ingress: &mut Ingress, arrival: &Arrival<E>) -> Option<Level> {
        if ingress.lacks_headroom(arrival.size_bytes) {
            return None;
        }
        let (place, active) = (ingress.place as usize, pools.active_mut());
        active.advance(arrival.now);
        active.add(place, arrival.size_bytes);
        active.count(place);
        let alpha = active.alpha(|| arrival.egress.psn(), ingress.alpha);
        latch(pools, ingress, arrival.size_bytes, |pools, used| (used, threshold(pools, place, alpha)))
    }

    fn discharge(pools: &mut Pools, ingress: &mut Ingress, size_bytes: u64, now: Time) {
        pools.take_off(ingress, size_bytes);
        let (floor, used) = (pools.xon_floor_bytes, pools.shared_by(ingress));
        let (place, active) = (ingress.place as usize, pools.active_mut());
        active.advance(now);
        active.take(place, size_bytes);
        // Its threshold decides about a RESUME only here.
        if active.counts_always() || (ingress.pausing && ingress.in_headroom == 0 && used >= floor) {
            active.count(place);
        }
    }

    fn threshold(pools: &Pools, ingress: &Ingress) -> u64 {
        threshold(pools, ingress.place as usize, ingress.alpha)
    }

    fn lossy_threshold<E: Egress>(free_bytes: u64, alpha: f64, egress: &E) -> u64 {
        (alpha * real(free_bytes) / f64::from(egress.busy_queues().max(1)) * egress.drain_share()) as u64
    }
}

/// alpha (pool - used) / N x mu, in whole bytes.
fn threshold(pools: &Pools, place: usize, alpha: f64) -> u64 {
    let active = pools.active();
    (alpha * real(pools.free_bytes()) * (1.0 / active.queues(place)) * active.drain(place)) as u64
}
