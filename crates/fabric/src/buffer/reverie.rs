//! Reverie (Addanki et al., NSDI 2024), its lossless half: an ingress is compared with alpha times the free shared pool,
//! over the number of busy queues, by the average of its queue instead of the queue itself. Bursts pass, since an
//! arrival does not change the average.
//!
//! The average follows departures and is cut to the queue ([`Active`](super::active::Active)). An ingress above the
//! threshold takes headroom as under [`super::latched`], and so does one that finds the shared pool full, which the
//! authors' simulator would let grow.

use super::rule::{Level, ThresholdRule, latch};
use super::{Arrival, Egress, Ingress, Pools, real};
use xoff_engine::Time;

pub(super) struct Reverie;

impl ThresholdRule for Reverie {
    const COUNTS_ACTIVE: bool = true;

    fn charge<E: Egress>(pools: &mut Pools, ingress: &mut Ingress, arrival: &Arrival<E>) -> Option<Level> {
        if ingress.lacks_headroom(arrival.size_bytes) {
            return None;
        }
        let (place, alpha, active) = (ingress.place as usize, ingress.alpha, pools.active_mut());
        active.add(place, arrival.size_bytes);
        active.count_average(place);
        let average_bytes = active.average_bytes(place);
        latch(pools, ingress, arrival.size_bytes, |pools, _| {
            // Where nothing has left, the average is none, and no threshold is below it.
            let is_full = pools.shared_used > pools.shared_bytes;
            (if is_full { u64::MAX } else { average_bytes }, threshold(pools, place, alpha))
        })
    }

    fn discharge(pools: &mut Pools, ingress: &mut Ingress, size_bytes: u64, _: Time) {
        pools.take_off(ingress, size_bytes);
        let floor = pools.xon_floor_bytes;
        let (place, active) = (ingress.place as usize, pools.active_mut());
        active.take(place, size_bytes);
        active.smooth(place);
        // Its threshold decides about a RESUME only here.
        let decides = ingress.pausing && ingress.in_headroom == 0 && active.average_bytes(place) >= floor;
        if active.counts_always() || decides {
            active.count_average(place);
        }
    }

    fn is_at_xon(pools: &Pools, ingress: &Ingress) -> bool {
        let average = pools.active().average_bytes(ingress.place as usize);
        let low = average < pools.xon_floor_bytes
            || average + pools.xon_offset_bytes <= threshold(pools, ingress.place as usize, ingress.alpha);
        ingress.in_headroom == 0 && low
    }

    fn threshold(pools: &Pools, ingress: &Ingress) -> u64 {
        threshold(pools, ingress.place as usize, ingress.alpha)
    }
}

/// alpha (pool - used) / N, in whole bytes.
fn threshold(pools: &Pools, place: usize, alpha: f64) -> u64 {
    (alpha * real(pools.free_bytes()) * (1.0 / pools.active().queues(place))) as u64
}
