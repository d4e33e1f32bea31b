//! Static thresholds: an ingress may hold XOFF plus headroom, whatever else is stored.

use super::rule::{Level, ThresholdRule};
use super::{Arrival, Egress, Ingress, Pools};
use xoff_engine::Time;

pub(super) struct Static;

impl ThresholdRule for Static {
    const POOLED: bool = false;

    #[inline(always)]
    fn charge<E: Egress>(_: &mut Pools, ingress: &mut Ingress, arrival: &Arrival<E>) -> Option<Level> {
        let (xoff, bytes) = (ingress.xoff_bytes, ingress.bytes + arrival.size_bytes);
        (bytes <= xoff + ingress.headroom_bytes).then_some(Level { above: bytes > xoff, rises: ingress.bytes <= xoff })
    }

    #[inline(always)]
    fn discharge(_: &mut Pools, ingress: &mut Ingress, size_bytes: u64, _: Time) {
        ingress.bytes -= size_bytes;
    }

    #[inline]
    fn is_above_xoff(ingress: &Ingress) -> bool {
        ingress.bytes > ingress.xoff_bytes
    }

    #[inline]
    fn is_at_xon(_: &Pools, ingress: &Ingress) -> bool {
        ingress.bytes <= ingress.xon_bytes
    }

    fn xoff(_: &Pools, ingress: &Ingress) -> u64 {
        ingress.xoff_bytes
    }

    fn paused_alone(_: &Pools, ingress: &Ingress) -> u64 {
        ingress.xoff_bytes
    }
}
