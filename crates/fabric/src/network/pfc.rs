//! PFC arithmetic: headroom, thresholds and pause quanta.

use crate::contract::scheme::{Format, Transport};
use crate::network::plan::{Alpha, Direction, FrameSizes, Headroom, HostSettings, PfcSettings, Plan, Thresholds, peer};
use xoff_engine::{BitRate, Grain, LinkRate, Span};

/// Bytes that may still arrive at an ingress after it passed XOFF, so that none is dropped.
///
/// `incoming` is the direction towards the ingress, `outgoing` the one its PAUSE takes. In the
/// worst case the packet that crosses XOFF does so with its whole length; the PAUSE waits for a
/// full packet just begun on the reverse link, is serialised, travels; the upstream finishes a
/// full packet just begun; and all that was on the wire meanwhile arrives. Where times come in grains,
/// frames arrive faster than the rate says: the `speedup` of the shortest that come in numbers.
pub fn required_headroom(
    incoming: &Direction,
    outgoing: &Direction,
    mtu_wire_bytes: u32,
    sizes: &FrameSizes,
    grain: Grain,
) -> u64 {
    let back = LinkRate::new(outgoing.rate);
    let pfc_wire_bytes = sizes.pfc_bytes + sizes.gap_bytes;
    let reaction = back.serialise(mtu_wire_bytes) + back.serialise(pfc_wire_bytes) + outgoing.delay + incoming.delay;
    // Rounded up: a byte begun is a byte to store.
    let in_flight = (u128::from(incoming.rate.bps()) * u128::from(reaction.ps())).div_ceil(8_000_000_000_000);
    let shortest = sizes.ack_bytes.min(sizes.data_header_bytes.max(sizes.min_frame_bytes)) + sizes.gap_bytes;
    let faster = speedup(incoming.rate, shortest, grain);
    (in_flight as f64 * faster).ceil() as u64 + 2 * u64::from(mtu_wire_bytes)
}

/// How much faster frames of at least this size can be in whole grains: less than a grain is cut off,
/// so what takes `n` of them would have taken less than `n + 1`.
fn speedup(rate: BitRate, shortest_wire_bytes: u32, grain: Grain) -> f64 {
    match grain {
        Grain::Exact => 1.0,
        _ => 1.0 + 1_000.0 / grain.duration(shortest_wire_bytes, rate.bps() as f64).ps().max(1_000) as f64,
    }
}

/// What a port of a switch has for each lossless class of what comes in by it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ingress {
    /// Static thresholds; zero where they are dynamic.
    pub xoff_bytes: u64,
    /// RESUME at or below it; zero where thresholds are dynamic.
    pub xon_bytes: u64,
    /// Share of the free pool; zero where thresholds are static.
    pub alpha: f64,
    /// What it may take beyond the threshold.
    pub headroom_bytes: u64,
    /// What it has for itself, headroom aside: up to a static threshold, or the reserve.
    pub promised_bytes: u64,
}

/// What `port` of a switch with these settings has; `mtu_wire_bytes` is the largest packet of the run.
pub fn ingress(plan: &Plan, settings: &PfcSettings, port: u32, mtu_wire_bytes: u32) -> Ingress {
    let (outgoing, incoming) = (&plan.slowest(port), &plan.fastest(peer(port)));
    let sizes = plan.hosts.first().map_or(FrameSizes::ROCE_V2, |host| host.sizes);
    let headroom_bytes = match settings.headroom {
        Headroom::Auto => required_headroom(incoming, outgoing, mtu_wire_bytes, &sizes, plan.model.grain),
        Headroom::Bytes(bytes) => bytes,
        Headroom::Bdps(bdps) => bytes_on_wire(incoming) * u64::from(bdps),
    };
    match settings.thresholds {
        Thresholds::Static { xoff_bytes, xon_bytes } => {
            Ingress { xoff_bytes, xon_bytes, alpha: 0.0, headroom_bytes, promised_bytes: xoff_bytes }
        }
        Thresholds::Dynamic { alpha, reserve_bytes, .. } => Ingress {
            xoff_bytes: 0,
            xon_bytes: 0,
            alpha: alpha_at(alpha, incoming.rate),
            headroom_bytes,
            promised_bytes: reserve_bytes,
        },
    }
}

/// What is taken off the shared pool of a switch for one of its ports.
pub fn set_aside(plan: &Plan, settings: &PfcSettings, ingress: &Ingress) -> u64 {
    let lossless = plan.classes.list.iter().filter(|class| class.lossless).count() as u64;
    settings.set_aside.times(lossless) * (ingress.headroom_bytes + ingress.promised_bytes)
}

/// What lossy traffic may take of a buffer of which so much is shared: never what lossless classes were promised; where
/// the promise already exceeds the buffer, control packets still need somewhere to be.
pub fn lossy_bytes(shared_bytes: u64, buffer_bytes: u64) -> u64 {
    shared_bytes.max(buffer_bytes / 16)
}

/// Wire bytes of the largest data packet any host sends, before what a scheme adds.
pub fn mtu_wire_bytes(plan: &Plan) -> u32 {
    plan.hosts.iter().map(|h| h.mtu_bytes + h.sizes.data_header_bytes + h.sizes.gap_bytes).max().unwrap_or(1106)
}

/// Wire bytes of the largest data packet of the run: [`mtu_wire_bytes`], what a scheme adds, and the
/// headers of TCP where they are the longer ones.
pub fn largest_wire_bytes(plan: &Plan, formats: &[[Format; 2]]) -> u32 {
    let longer = |h: &HostSettings| h.sizes.tcp_header_bytes.saturating_sub(h.sizes.data_header_bytes);
    let tcp_bytes = plan.hosts.iter().map(longer).max().unwrap_or(0);
    let overhead = |format: &Format| match format.transport {
        Transport::Roce => format.data_bytes,
        Transport::Tcp => format.data_bytes + tcp_bytes,
    };
    mtu_wire_bytes(plan) + formats.iter().flatten().map(overhead).max().unwrap_or(0)
}

/// Length of one pause quantum (512 bit times) times `quanta`.
pub fn quanta(rate: BitRate, quanta: u16) -> Span {
    Span::from_ps((u128::from(quanta) * 512 * 1_000_000_000_000).div_ceil(u128::from(rate.bps())) as u64)
}

/// What an ingress holds when a dynamic threshold pauses it, if nothing else is in the shared buffer:
/// where what it holds of it is `alpha` times what is left.
pub fn paused_alone(shared_bytes: u64, alpha: f64, reserve_bytes: u64) -> u64 {
    (shared_bytes as f64 * alpha / (1.0 + alpha)) as u64 + reserve_bytes
}

/// The share of the free pool one ingress may use, by the port's speed.
pub fn alpha_at(alpha: Alpha, rate: BitRate) -> f64 {
    match alpha {
        Alpha::Fixed(alpha) => alpha,
        Alpha::BySpeed { base, nic_rate } => {
            let mut alpha = base;
            let mut speed = nic_rate.bps();
            while speed.saturating_mul(2) <= rate.bps() && alpha < 1.0 {
                speed *= 2;
                alpha *= 2.0;
            }
            alpha.min(1.0)
        }
        Alpha::BySpeedUp { base, nic_rate } => {
            let (mut alpha, mut speed) = (base, rate.bps());
            while speed > nic_rate.bps() && alpha < 1.0 {
                speed /= 2;
                alpha *= 2.0;
            }
            alpha.min(1.0)
        }
    }
}

/// What one direction of a link holds while its last bit travels, in whole bytes.
pub fn bytes_on_wire(direction: &Direction) -> u64 {
    direction.rate.bytes_in(direction.delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headroom(gbps: u64, us: u64) -> u64 {
        let direction = Direction { rate: BitRate::from_gbps(gbps), delay: Span::from_us(us), loss: 0.0 };
        required_headroom(&direction, &direction, 1106, &FrameSizes::ROCE_V2, Grain::Exact)
    }

    #[test]
    fn headroom_table_of_pfc_4_3() {
        // The table holds 2 C t + MTU back + MTU forth + PFC frame; ours adds one MTU for the
        // packet that crosses XOFF (docs/decisions/0002).
        for (gbps, us, table) in [
            (10, 1, 4_796),
            (10, 4, 12_296),
            (10, 5, 14_796),
            (25, 1, 8_546),
            (25, 5, 33_546),
            (40, 1, 12_296),
            (40, 4, 42_296),
            (40, 5, 52_296),
            (100, 1, 27_296),
            (100, 4, 102_296),
            (100, 5, 127_296),
        ] {
            assert_eq!(headroom(gbps, us), table + 1106, "{gbps}G over {us} us");
        }
    }

    #[test]
    fn quanta_of_pfc_2() {
        for (gbps, ps) in [(10, 51_200), (25, 20_480), (40, 12_800), (100, 5_120), (400, 1_280)] {
            assert_eq!(quanta(BitRate::from_gbps(gbps), 1).ps(), ps);
        }
        // Longest pause at 40G: 0.839 ms.
        assert_eq!(quanta(BitRate::from_gbps(40), 65_535).ps(), 838_848_000);
        assert_eq!(quanta(BitRate::from_gbps(40), 1000), Span::from_ps(12_800_000));
    }

    #[test]
    fn alpha_of_pfc_4_2() {
        let alpha = Alpha::BySpeed { base: 0.125, nic_rate: BitRate::from_gbps(100) };
        for (gbps, expected) in [(40, 0.125), (100, 0.125), (200, 0.25), (400, 0.5), (800, 1.0), (1600, 1.0)] {
            assert_eq!(alpha_at(alpha, BitRate::from_gbps(gbps)), expected);
        }
    }
}
