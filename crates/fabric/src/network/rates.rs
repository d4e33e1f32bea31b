//! The rates that there are in a run, by number: few differ, and a number is shorter.

use crate::contract::precision::CODED_GBPS;
use crate::network::plan::{FaultKind, Plan};
use xoff_engine::BitRate;

xoff_engine::ids! {
    /// One of the [`Rates`].
    RateId;
}

/// Every rate that a port may have, and those that telemetry may take it for. The same in all parts.
#[derive(Debug)]
pub struct Rates {
    /// In order, for their numbers to be found.
    list: Vec<BitRate>,
}

impl Rates {
    /// Of a network and what will happen to it.
    pub fn of(plan: &Plan) -> Rates {
        let links = plan.links.iter().flat_map(|link| [link.a_to_b.rate, link.b_to_a.rate]);
        let faults = plan.faults.iter().filter_map(|fault| match fault.what {
            FaultKind::Rate { rate, .. } => Some(rate),
            _ => None,
        });
        Rates::new(links.chain(faults))
    }

    pub fn new(rates: impl Iterator<Item = BitRate>) -> Rates {
        let mut list: Vec<BitRate> = rates.chain(CODED_GBPS.map(BitRate::from_gbps)).collect();
        list.sort_unstable();
        list.dedup();
        Rates { list }
    }

    /// The number of one of them.
    pub fn id(&self, rate: BitRate) -> RateId {
        let place = self.list.binary_search(&rate);
        debug_assert!(place.is_ok(), "{rate:?} is no rate of this run");
        RateId::new(place.unwrap_or_default() as u32)
    }

    pub fn iter(&self) -> impl Iterator<Item = &BitRate> {
        self.list.iter()
    }
}

impl std::ops::Index<RateId> for Rates {
    type Output = BitRate;
    #[inline]
    fn index(&self, id: RateId) -> &BitRate {
        &self.list[id.get() as usize]
    }
}
