//! Closed forms of an idle network: delivery times and round trips along a path.

use crate::network::plan::{Plan, peer};
use xoff_engine::{LinkRate, Span};

/// Exact time from a flow's start to the arrival of its last bit, alone on `path`: packets of
/// `full_wire_bytes`, the last of `last_wire_bytes`, stored and forwarded at every hop.
///
/// The delivery of the last packet is the longest monotone chain of transmissions through
/// (packet, hop). All packets but the last are equal, so the chain crosses hops up to some `j`
/// with full packets, waits for all of them at the slowest of those, and goes on with the last.
///
/// Links whose rate changes count at the highest they will have: no flow is faster than its ideal.
pub fn ideal_delivery(plan: &Plan, path: &[u32], packets: u64, full_wire_bytes: u32, last_wire_bytes: u32) -> Span {
    let links: Vec<LinkRate> =
        path.iter().map(|&port| LinkRate::with_resolution(plan.fastest(port).rate, plan.model.resolution)).collect();
    // Wide: a terabyte over a slow link does not fit 64 bits on the way.
    let serialise = |link: LinkRate, bytes: u32| u128::from(link.serialise(bytes).ps());
    let propagation: u128 = path.iter().map(|&port| u128::from(plan.direction(port).delay.ps())).sum();
    let span = |ps: u128| Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX));
    let mut rest: u128 = links.iter().map(|&link| serialise(link, last_wire_bytes)).sum();
    if packets <= 1 {
        return span(propagation + rest);
    }
    let (mut full_sum, mut full_max, mut best) = (0, 0, 0);
    for link in links {
        let full = serialise(link, full_wire_bytes);
        full_sum += full;
        full_max = full.max(full_max);
        best = best.max(full_sum + u128::from(packets - 2) * full_max + rest);
        rest -= serialise(link, last_wire_bytes);
    }
    span(propagation + best)
}

/// Picoseconds of a second.
const SECOND: u128 = 1_000_000_000_000;

/// Least time from a flow's start to the arrival of its last bit, alone on all its equal-cost paths, which are given hop
/// by hop: every hop passes all packets with all its links together, after the first packet has come by the fastest
/// links and before the last leaves by these. The last packet, which is short, may overtake others on the way.
pub fn ideal_over_all(
    plan: &Plan,
    hops: &[Vec<u32>],
    packets: u64,
    full_wire_bytes: u32,
    last_wire_bytes: u32,
) -> Span {
    let full_bytes = u128::from(packets.saturating_sub(1)) * u128::from(full_wire_bytes);
    let bytes = full_bytes + u128::from(last_wire_bytes);
    let first_bytes = if packets > 1 { full_wire_bytes } else { last_wire_bytes };
    let links = |ports: &Vec<u32>| -> Vec<LinkRate> {
        let link = |&port: &u32| LinkRate::with_resolution(plan.fastest(port).rate, plan.model.resolution);
        ports.iter().map(link).collect()
    };
    let fastest = |ports: &Vec<u32>, bytes: u32| {
        links(ports).into_iter().map(|link| u128::from(link.serialise(bytes).ps())).min().unwrap_or(0)
    };
    // As the run counts time, where a packet may take a little less than its share of a second.
    let together = |ports: &Vec<u32>, bytes: u128| {
        let per_s = |link: LinkRate| {
            let of = |bytes: u32| u128::from(bytes) * SECOND / u128::from(link.serialise(bytes).ps()).max(1) + 1;
            of(full_wire_bytes).max(of(last_wire_bytes))
        };
        bytes * SECOND / links(ports).into_iter().map(per_s).sum::<u128>().max(1)
    };
    let delay = |ports: &Vec<u32>| ports.iter().map(|&port| u128::from(plan.direction(port).delay.ps())).min();
    let propagation: u128 = hops.iter().filter_map(delay).sum();
    // When the last packet may leave, and the one before it has left: a NIC of one link sends them in order.
    let turn = hops.first().filter(|nic| nic.len() == 1).map_or(0, |nic| together(nic, full_bytes));
    let last_full: u128 = hops.iter().skip(1).map(|ports| fastest(ports, first_bytes)).sum();
    let mut longest = turn + last_full;
    let mut after: u128 = hops.iter().map(|ports| fastest(ports, last_wire_bytes)).sum();
    let (mut first, mut overtaking) = (0, turn);
    for ports in hops {
        after -= fastest(ports, last_wire_bytes);
        let passes = together(ports, bytes).max(fastest(ports, last_wire_bytes));
        longest = longest.max(first.min(overtaking) + passes + after);
        first += fastest(ports, first_bytes);
        overtaking += fastest(ports, last_wire_bytes);
    }
    Span::from_ps(u64::try_from(propagation + longest).unwrap_or(u64::MAX))
}

/// Round trip of a full packet and its ACK over the slowest of the links at each hop: no shortest path takes longer.
pub fn longest_base_rtt(plan: &Plan, hops: &[Vec<u32>], of: Exchange) -> Span {
    let slowest = |ports: &Vec<u32>, way: fn(u32) -> u32, bytes: u32| {
        let span = |&port: &u32| plan.direction(way(port)).delay + link(plan, way(port)).serialise(bytes);
        ports.iter().map(span).max().unwrap_or(Span::ZERO)
    };
    hops.iter().fold(Span::ZERO, |sum, ports| {
        sum + slowest(ports, |port| port, of.data_wire_bytes) + slowest(ports, peer, of.ack_wire_bytes)
    })
}

/// The link that leaves `port`, as the run counts time.
fn link(plan: &Plan, port: u32) -> LinkRate {
    LinkRate::with_resolution(plan.direction(port).rate, plan.model.resolution)
}

/// A full packet and its ACK, as they are on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exchange {
    /// Of the packet, with headers and gap.
    pub data_wire_bytes: u32,
    /// Of the ACK, with headers and gap.
    pub ack_wire_bytes: u32,
}

/// One full packet out along `path` and one ACK back along the same links.
pub fn base_rtt(plan: &Plan, path: &[u32], of: Exchange) -> Span {
    let one_way = |ports: &mut dyn Iterator<Item = u32>, bytes: u32| {
        ports.fold(Span::ZERO, |sum, port| {
            let direction = plan.direction(port);
            sum + direction.delay + link(plan, port).serialise(bytes)
        })
    };
    one_way(&mut path.iter().copied(), of.data_wire_bytes)
        + one_way(&mut path.iter().map(|&port| peer(port)), of.ack_wire_bytes)
}

/// Bytes under way on a path at the rate of its slowest link in one base round trip.
pub fn bdp_bytes(plan: &Plan, path: &[u32], base_rtt: Span) -> u64 {
    let slowest = path.iter().map(|&port| plan.direction(port).rate).min();
    slowest.map_or(0, |rate| rate.bytes_in(base_rtt))
}
