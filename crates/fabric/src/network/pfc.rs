//! PFC arithmetic: headroom, thresholds and pause quanta.

pub use crate::buffer::paused_alone;
use crate::buffer::{self, Active, Buffer, Pools, QueueLimit, Unscheduled};
use crate::contract::scheme::{Format, Transport};
use crate::network::plan::{
    Alpha, Class, Direction, FrameSizes, Headroom, HostSettings, NodeKind, PfcSettings, Plan, SetAside, SwitchSettings,
    Thresholds, peer,
};
pub use crate::network::response::quanta;
use xoff_engine::{BitRate, LinkRate, Span, TimeResolution};

/// The loop from an ingress that passes XOFF to its upstream and back: what may still arrive until that has stopped.
///
/// In the worst case the packet that crosses XOFF does so with its whole length; the PAUSE waits for a full packet just
/// begun on the reverse link, is serialised, travels; the upstream takes its time to respond and then finishes a full
/// packet just begun; and all that was on the wire meanwhile arrives. Where times are rounded to a resolution, frames
/// arrive faster than the rate says: the `speedup` of the shortest that come in numbers.
///
/// Left out: the switch's own time from XOFF to PAUSE, delays of MAC, PHY and FEC, and cells of the buffer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PauseLoop {
    /// Towards the ingress.
    pub incoming: Direction,
    /// The way that its PAUSE takes.
    pub outgoing: Direction,
    /// The largest packet of the run.
    pub mtu_wire_bytes: u32,
    /// Of frames.
    pub sizes: FrameSizes,
    /// In which times are counted.
    pub resolution: TimeResolution,
    /// Of the upstream.
    pub response: Span,
}

/// The terms of headroom, in bytes. Together they are at most a few bytes less than [`PauseLoop::required`], which
/// rounds up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HeadroomTerms {
    /// The packet that crosses XOFF.
    pub crossing: f64,
    /// What arrives while the PAUSE waits for a frame just begun.
    pub pause_waits: f64,
    /// What arrives while the PAUSE is serialised.
    pub pause_frame: f64,
    /// What arrives in the time of both directions of the cable.
    pub cable: f64,
    /// What arrives while the upstream responds.
    pub response: f64,
    /// The packet that the upstream has just begun.
    pub last_frame: f64,
}

impl PauseLoop {
    /// Of the ingress of a switch's port.
    pub fn of(plan: &Plan, port: u32, mtu_wire_bytes: u32) -> PauseLoop {
        PauseLoop {
            incoming: plan.fastest(peer(port)),
            outgoing: plan.slowest(port),
            mtu_wire_bytes,
            sizes: plan.hosts.first().map_or(FrameSizes::ROCE_V2, |host| host.sizes),
            resolution: plan.model.resolution,
            response: response(plan, peer(port)),
        }
    }

    /// Bytes that may still arrive at the ingress after it passed XOFF, so that none is dropped.
    pub fn required(&self) -> u64 {
        let [waits, frame, cable] = self.times();
        let reaction = waits + frame + cable + self.response;
        // Rounded up: a byte begun is a byte to store.
        let in_flight = (u128::from(self.incoming.rate.bps()) * u128::from(reaction.ps())).div_ceil(BYTE_PS);
        (in_flight as f64 * self.speedup()).ceil() as u64 + 2 * u64::from(self.mtu_wire_bytes)
    }

    /// Returns the terms whose sum is [`PauseLoop::required`].
    pub fn terms(&self) -> HeadroomTerms {
        let [waits, frame, cable] = self.times();
        let arrives = |span: Span| self.incoming.rate.bps() as f64 * span.ps() as f64 / BYTE_PS as f64 * self.speedup();
        let packet = f64::from(self.mtu_wire_bytes);
        HeadroomTerms {
            crossing: packet,
            pause_waits: arrives(waits),
            pause_frame: arrives(frame),
            cable: arrives(cable),
            response: arrives(self.response),
            last_frame: packet,
        }
    }

    /// The longest response of the upstream that so much headroom bears; `None` if not even an upstream that stops at
    /// once.
    pub fn bears(&self, headroom_bytes: u64) -> Option<Span> {
        let in_flight = headroom_bytes.checked_sub(2 * u64::from(self.mtu_wire_bytes))? as f64 / self.speedup();
        let longest = (in_flight.floor() as u128 * BYTE_PS / u128::from(self.incoming.rate.bps())) as u64;
        let [waits, frame, cable] = self.times();
        let response = longest.checked_sub((waits + frame + cable).ps())?;
        Some(Span::from_ps(response))
    }

    /// While the PAUSE waits, while it is serialised, and along both directions of the cable.
    fn times(&self) -> [Span; 3] {
        let back = LinkRate::new(self.outgoing.rate);
        let pfc_wire_bytes = self.sizes.pfc_bytes + self.sizes.gap_bytes;
        let cable = self.outgoing.delay + self.incoming.delay;
        [back.serialise(self.mtu_wire_bytes), back.serialise(pfc_wire_bytes), cable]
    }

    fn speedup(&self) -> f64 {
        let sizes = &self.sizes;
        let shortest = sizes.ack_bytes.min(sizes.data_header_bytes.max(sizes.min_frame_bytes)) + sizes.gap_bytes;
        speedup(self.incoming.rate, shortest, self.resolution)
    }
}

/// Bits of a byte times picoseconds of a second.
pub(crate) const BYTE_PS: u128 = 8_000_000_000_000;

/// From the arrival of a PAUSE at a port until it holds there: by the device and the port's speed at the start.
pub fn response(plan: &Plan, port: u32) -> Span {
    let node = plan.node_of(port);
    let spec = &plan.nodes[node as usize];
    let response = match spec.kind {
        NodeKind::Host => plan.hosts[usize::from(spec.profile)].pfc_response,
        NodeKind::Switch => plan.switches[usize::from(spec.profile)].pfc_response,
    };
    response.at(plan.direction(port).rate)
}

/// How much faster frames of at least this size can be in whole steps: less than a step is cut off,
/// so what takes `n` of them would have taken less than `n + 1`.
fn speedup(rate: BitRate, shortest_wire_bytes: u32, resolution: TimeResolution) -> f64 {
    match resolution {
        TimeResolution::Exact => 1.0,
        _ => 1.0 + 1_000.0 / resolution.duration(shortest_wire_bytes, rate.bps() as f64).ps().max(1_000) as f64,
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

/// What a port of a switch with these settings has, whose loop is `of`.
fn ingress(settings: &PfcSettings, of: &PauseLoop) -> Ingress {
    let headroom_bytes = headroom_of(settings.headroom, of);
    match settings.thresholds {
        Thresholds::Static { xoff_bytes, xon_bytes } => {
            Ingress { xoff_bytes, xon_bytes, alpha: 0.0, headroom_bytes, promised_bytes: xoff_bytes }
        }
        Thresholds::Dynamic { alpha, reserve_bytes, .. } => Ingress {
            xoff_bytes: 0,
            xon_bytes: 0,
            alpha: alpha_at(alpha, of.incoming.rate),
            headroom_bytes,
            promised_bytes: reserve_bytes,
        },
    }
}

/// What a setting of headroom comes to at one ingress.
pub fn headroom_of(setting: Headroom, of: &PauseLoop) -> u64 {
    match setting {
        Headroom::Auto => of.required(),
        Headroom::Bytes(bytes) => bytes,
        Headroom::Bdps(bdps) => bytes_on_wire(&of.incoming) * u64::from(bdps),
    }
}

/// What is taken off the shared pool of a switch for one of its ports.
pub fn set_aside(plan: &Plan, settings: &PfcSettings, ingress: &Ingress) -> u64 {
    let lossless = plan.classes.list.iter().filter(|class| class.lossless).count() as u64;
    settings.set_aside.times(lossless) * (ingress.headroom_bytes + ingress.promised_bytes)
}

/// What the buffer of a switch depends on beside its own settings and ports.
#[derive(Clone, Copy, Debug)]
pub struct NetworkFacts {
    /// The longest base round trip.
    pub max_base_rtt: Span,
    /// Wire size of the largest packet of the run.
    pub mtu_wire_bytes: u32,
}

/// Returns the empty buffer of a switch with these settings and ports.
pub fn buffer(
    plan: &Plan,
    settings: &SwitchSettings,
    ports: impl Iterator<Item = u32> + Clone,
    network: NetworkFacts,
) -> Buffer {
    let (mut reserved, mut beside, mtu_wire_bytes) = (0, 0, network.mtu_wire_bytes);
    let port_bps = ports.clone().map(|port| plan.direction(port).rate.bps());
    let mut ingresses = Vec::with_capacity(ports.size_hint().0 * plan.classes.list.len());
    // Ports in a row are mostly alike.
    let mut latest: Option<(PauseLoop, Ingress)> = None;
    for port in ports {
        let of = PauseLoop::of(plan, port, mtu_wire_bytes);
        let known = latest.filter(|(known, _)| *known == of).map(|(_, ingress)| ingress);
        let of_port = known.unwrap_or_else(|| ingress(&settings.pfc, &of));
        latest = Some((of, of_port));
        reserved += set_aside(plan, &settings.pfc, &of_port);
        if settings.pfc.set_aside == SetAside::Beside {
            let lossless = plan.classes.list.iter().filter(|class| class.lossless).count() as u64;
            beside += lossless * of_port.headroom_bytes;
        }
        let Ingress { xoff_bytes, xon_bytes, alpha, headroom_bytes, .. } = of_port;
        ingresses.extend(plan.classes.list.iter().map(|class| buffer::Ingress {
            xoff_bytes,
            xon_bytes,
            alpha,
            headroom_bytes: if class.lossless { headroom_bytes } else { 0 },
            lossless: class.lossless,
            ..buffer::Ingress::default()
        }));
    }
    let limit = |class: &Class| QueueLimit {
        bytes: class.queue_limit_bytes.unwrap_or(u64::MAX),
        time: class.queue_time,
        alpha: class.alpha,
    };
    let shared_bytes = settings.buffer_bytes.saturating_sub(reserved);
    let mut pools = Pools {
        bytes: settings.buffer_bytes + beside,
        shared_bytes,
        lossy_bytes: lossy_bytes(shared_bytes, settings.buffer_bytes),
        active: settings.pfc.thresholds.rule().counts_active().then(|| {
            let unscheduled = unscheduled_packets(plan, settings.pfc.active.unscheduled, network.max_base_rtt);
            Box::new(Active::new(settings.pfc.active, port_bps, plan.classes.list.len(), unscheduled))
        }),
        ..Pools::default()
    };
    if let Thresholds::Dynamic { reserve_bytes, resume_offset_bytes, resume_below_bytes, .. } = settings.pfc.thresholds
    {
        pools.reserve_bytes = reserve_bytes;
        pools.xon_offset_bytes = resume_offset_bytes;
        pools.xon_floor_bytes = resume_below_bytes;
    }
    Buffer::new(settings.pfc.thresholds.rule(), pools, ingresses, plan.classes.list.iter().map(limit).collect())
}

/// Packets at the start of a flow that count as unscheduled: those with no more than so much payload before them.
fn unscheduled_packets(plan: &Plan, unscheduled: Unscheduled, max_base_rtt: Span) -> u32 {
    let line = plan.links.iter().filter(|link| plan.leads_to_host(link)).map(|link| link.a_to_b.rate).max();
    let bytes = match (unscheduled, line) {
        (Unscheduled::None, _) | (_, None) => return 0,
        (Unscheduled::Bytes(bytes), _) => bytes,
        (Unscheduled::LongestBdp, Some(line)) => line.bytes_in(max_base_rtt),
    };
    let mtu = plan.hosts.iter().map(|host| host.mtu_bytes).min().unwrap_or(1000);
    u32::try_from(bytes / u64::from(mtu.max(1)) + 1).unwrap_or(u32::MAX)
}

/// What lossy traffic may take of a buffer of which so much is shared: never what lossless classes were promised; where
/// the promise already exceeds the buffer, control packets still need somewhere to be.
fn lossy_bytes(shared_bytes: u64, buffer_bytes: u64) -> u64 {
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
    use crate::network::response::ieee_response;

    fn headroom(gbps: u64, us: u64) -> u64 {
        pause_loop(gbps, Span::from_us(us), 1106, Span::ZERO).required()
    }

    fn pause_loop(gbps: u64, delay: Span, mtu_wire_bytes: u32, response: Span) -> PauseLoop {
        let direction = Direction { rate: BitRate::from_gbps(gbps), delay, loss: 0.0 };
        PauseLoop {
            incoming: direction,
            outgoing: direction,
            mtu_wire_bytes,
            sizes: FrameSizes::ROCE_V2,
            resolution: TimeResolution::Exact,
            response,
        }
    }

    /// Cables of 5.05 ns/m, payloads of 1,500, 4,200 and 9,216 B, the response that IEEE 802.3 allows.
    #[test]
    fn headroom_with_the_response_of_ieee() {
        for (gbps, metres, cable, needs) in [
            (100, 5, 631, [30_678, 38_778, 53_826]),
            (100, 40, 5_050, [35_096, 43_196, 58_244]),
            (100, 300, 37_875, [67_921, 76_021, 91_069]),
            (200, 5, 1_262, [35_085, 43_185, 58_233]),
            (200, 300, 75_750, [109_572, 117_672, 132_720]),
            (400, 5, 2_525, [65_276, 73_376, 88_424]),
            (400, 40, 20_200, [82_950, 91_050, 106_098]),
            (400, 300, 151_500, [214_250, 222_350, 237_398]),
            (800, 40, 40_400, [161_070, 169_170, 184_218]),
            (800, 300, 303_000, [423_670, 431_770, 446_818]),
        ] {
            let response = ieee_response(BitRate::from_gbps(gbps));
            for (payload, expected) in [1_500, 4_200, 9_216].into_iter().zip(needs) {
                let with = pause_loop(gbps, Span::from_ps(5_050 * metres), payload + 82, response);
                let needed = with.required();
                assert!(needed.abs_diff(expected) <= 1, "{needed} for {expected}: {gbps}G, {metres} m, {payload} B");
                let terms = with.terms();
                assert_eq!(terms.cable as u64, cable);
                let sum = terms.crossing + terms.pause_waits + terms.pause_frame + terms.cable + terms.response;
                assert!((0.0..1.0).contains(&(needed as f64 - sum - terms.last_frame)), "{terms:?}");
                // What is needed bears the response, and a byte less does not.
                let without = PauseLoop { response: Span::ZERO, ..with };
                assert!(without.bears(needed).unwrap() >= response);
                assert!(without.bears(needed - 1).unwrap() < response);
            }
        }
        // Headroom for an upstream that stops at once bears less than a byte's time.
        let at_once = pause_loop(400, Span::from_ns(25), 4_178, Span::ZERO);
        assert_eq!(at_once.required(), 15_118);
        assert!(at_once.bears(15_118).unwrap() < Span::from_ps(20));
        assert_eq!((at_once.bears(15_117), at_once.bears(0)), (None, None));
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
    fn alpha_of_pfc_4_2() {
        let alpha = Alpha::BySpeed { base: 0.125, nic_rate: BitRate::from_gbps(100) };
        for (gbps, expected) in [(40, 0.125), (100, 0.125), (200, 0.25), (400, 0.5), (800, 1.0), (1600, 1.0)] {
            assert_eq!(alpha_at(alpha, BitRate::from_gbps(gbps)), expected);
        }
    }
}
