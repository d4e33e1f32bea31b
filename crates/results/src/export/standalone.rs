//! Completion times of flows alone, as the HPCC authors' simulator reckons them.
//!
//! Round trip of the pair, plus the flow with its headers at the pair's slowest link. Everything in
//! whole nanoseconds and truncated, along the first of the shortest paths that a search from the
//! receiver meets. It counts one packet's serialisation twice, so a flow may be faster than this.

use xoff_fabric::payload_paths::{PayloadPath, PayloadPaths};
use xoff_fabric::plan::{HostSettings, Plan};

/// From where to where, and how much payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    pub src: u32,
    pub dst: u32,
    pub size_bytes: u64,
}

/// The standalone time of each transfer; `None` where there is no path.
pub fn standalone_ns(plan: &Plan, transfers: &[Transfer]) -> Vec<Option<u64>> {
    let network = PayloadPaths::new(plan);
    let payload = |transfer: &Transfer| sender(plan, transfer).mtu_bytes;
    let mut found = vec![None; transfers.len()];
    // One search per receiver, whose result is not kept: it is as long as the list of nodes.
    let key = |&index: &usize| (transfers[index].dst, payload(&transfers[index]));
    let mut order: Vec<usize> = (0..transfers.len()).collect();
    order.sort_by_key(key);
    for group in order.chunk_by(|a, b| key(a) == key(b)) {
        let (dst, payload_bytes) = key(&group[0]);
        let paths = network.to(plan, dst, payload_bytes);
        for &index in group {
            let path = paths[transfers[index].src as usize];
            found[index] = path.map(|path| alone(plan, path, &transfers[index]));
        }
    }
    found
}

fn sender<'a>(plan: &'a Plan, transfer: &Transfer) -> &'a HostSettings {
    &plan.hosts[usize::from(plan.nodes[transfer.src as usize].profile)]
}

fn alone(plan: &Plan, path: PayloadPath, transfer: &Transfer) -> u64 {
    let host = sender(plan, transfer);
    let packets = transfer.size_bytes.div_ceil(u64::from(host.mtu_bytes)).max(1);
    let bytes = u128::from(transfer.size_bytes) + u128::from(packets) * u128::from(host.sizes.data_header_bytes);
    let sending = bytes * 8_000_000_000 / u128::from(path.slowest_bps.max(1));
    (path.delay_ns + path.serialise_ns).saturating_add(u64::try_from(sending).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use xoff_engine::{BitRate, Span};
    use xoff_fabric::plan::NodeKind;

    #[test]
    fn a_flow_alone_takes_its_round_trip_and_its_own_length() {
        // Three links of 40 Gb/s and 5 us, 1000 B of payload and 48 B of headers: T = 30600 ns.
        let mut plan = fixture::plan();
        plan.hosts[0].mtu_bytes = 1000;
        plan.hosts[0].sizes.data_header_bytes = 48;
        let times = |plan: &Plan, sizes: &[u64]| -> Vec<Option<u64>> {
            let transfers: Vec<_> = sizes.iter().map(|&size_bytes| Transfer { src: 0, dst: 4, size_bytes }).collect();
            standalone_ns(plan, &transfers)
        };
        // 64 packets: 67,072 B take 13,414.4 ns.
        assert_eq!(times(&plan, &[64_000, 1, 1001]), [Some(44_014), Some(30_609), Some(30_819)]);
        // A slow access link counts for the round trip and for the length.
        plan.links[0].a_to_b.rate = BitRate::from_gbps(10);
        assert_eq!(times(&plan, &[1_000]), [Some(30_000 + 800 + 200 + 200 + 838)]);
        // What the path back takes counts too.
        plan.links[0].b_to_a.delay = Span::from_us(7);
        assert_eq!(times(&plan, &[1_000]), [Some(32_000 + 800 + 200 + 200 + 838)]);
        plan.links.truncate(2);
        assert_eq!(times(&plan, &[1_000]), [None]);
    }

    #[test]
    fn of_equal_paths_the_one_over_the_highest_number_counts() {
        // Two switches side by side between s0 and r0, the second one farther away.
        let mut plan = fixture::plan();
        let (near, mut far) = (plan.links[0].a_to_b, plan.links[0].a_to_b);
        far.delay = Span::from_us(100);
        let link = |a, b, direction| xoff_fabric::plan::Link { a, b, a_to_b: direction, b_to_a: direction };
        plan.nodes[5].kind = NodeKind::Switch;
        plan.links = vec![link(0, 2, near), link(2, 3, near), link(2, 5, far), link(3, 4, near), link(5, 4, near)];
        let one = Transfer { src: 0, dst: 4, size_bytes: 1_000 };
        assert!(standalone_ns(&plan, &[one])[0].unwrap() > 200_000);
        plan.links.swap(1, 2);
        plan.links.swap(3, 4);
        assert!(standalone_ns(&plan, &[one])[0].unwrap() > 200_000);
    }
}
