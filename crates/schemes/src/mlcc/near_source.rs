//! The near-source loop (sections 2.1 and 3): the gateway out of the sender's datacentre takes the
//! telemetry off passing packets and sends it back at once.

use super::Feedback;
use super::law::Law;
use crate::parts::flow_table::FlowTable;
use crate::parts::frame_content::{CNP_BYTES, cnp, code};
use crate::parts::int::{IntPoint, Precision};
use crate::parts::int_header::{TELEMETRY_BYTES, telemetry, telemetry_from, time_of};
use xoff_engine::{Span, Time};
use xoff_fabric::packet::{IntHop, IntStack};
use xoff_fabric::scheme::{CongestionPoint, FrameContent, Hooks, Mark, PacketFacts, QueueFacts, QueueView};

/// Section 7: a CNP of 78 B and the telemetry block of 42 B.
pub(super) const SWITCH_INT_BYTES: u32 = 120;
/// Hops the block holds.
const HOPS: usize = 5;
/// Tag of packets whose telemetry has been sent back. The far gateway writes the credit over it.
const TAKEN: u16 = u16::MAX;
/// A flow not seen at the gateway for this long is forgotten; if it comes back, it counts anew.
const SILENT: Span = Span::from_ms(100);

/// What a Switch-INT packet carries.
#[derive(Clone, Copy, Debug)]
pub struct SwitchInt {
    hops: [IntHop; HOPS],
    len: u8,
    path: u16,
    sent_at: Time,
}

impl SwitchInt {
    pub(super) fn wrap(stack: &IntStack) -> SwitchInt {
        let mut hops = [IntHop::default(); HOPS];
        let len = stack.hops().len().min(HOPS);
        hops[..len].copy_from_slice(&stack.hops()[..len]);
        SwitchInt { hops, len: len as u8, path: stack.path(), sent_at: stack.sent_at }
    }

    pub(super) fn stack(&self) -> IntStack {
        let mut stack = IntStack::new(self.sent_at);
        self.hops[..usize::from(self.len)].iter().for_each(|hop| stack.push(*hop));
        stack.pass(self.path);
        stack
    }

    /// The time of sending in the first half of the CNP's reserved bytes, the block behind them.
    pub(super) fn frame_content(&self) -> FrameContent {
        let mut bytes = [0; CNP_BYTES + TELEMETRY_BYTES];
        bytes[..8].copy_from_slice(&(self.sent_at.ps() / 1000).to_be_bytes());
        bytes[CNP_BYTES..].copy_from_slice(&telemetry(&self.stack()));
        cnp(code::GATEWAY_TELEMETRY, &bytes, "telemetry up to the near gateway".to_owned())
    }

    pub(super) fn read(bytes: &[u8]) -> Option<SwitchInt> {
        let mut stack = telemetry_from(bytes.get(CNP_BYTES..)?, None)?;
        stack.sent_at = time_of(u64::from_be_bytes(*bytes.first_chunk()?))?;
        Some(SwitchInt::wrap(&stack))
    }
}

/// How a gateway reads telemetry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// k: one Switch-INT packet per so many packets of a flow.
    pub every: u32,
    /// Whether its own port is a hop of the loop.
    pub counts: bool,
    /// When it receives a packet, not when it sends it on.
    pub on_arrival: bool,
}

/// Writes telemetry like any switch, and at a long-haul port takes it off again.
#[derive(Clone, Debug)]
pub struct Cp {
    point: IntPoint<Feedback>,
    gateway: Option<Box<Gateway>>,
}

#[derive(Clone, Debug)]
struct Gateway {
    reading: Reading,
    /// Packets since the last one, and when the flow was last seen.
    since: FlowTable<(u32, Time)>,
    /// At this size `since` is cleared of silent flows.
    prune_at: usize,
}

impl Cp {
    pub(super) fn new(at: &QueueFacts, precision: Precision, reading: Reading) -> Cp {
        let gateway = Gateway { reading, since: FlowTable::new(), prune_at: 64 };
        let gateway = at.leaves_domain.then(|| Box::new(gateway));
        Cp { point: IntPoint::new(precision, at), gateway }
    }

    /// Whether packets are read when they come, not when they leave. A queue that serves other schemes as well calls
    /// both hooks.
    #[inline]
    fn reads_arrivals(&self) -> bool {
        self.gateway.as_ref().is_some_and(|gateway| gateway.reading.on_arrival)
    }
}

impl CongestionPoint for Cp {
    type Feedback = Feedback;

    fn hooks(&self) -> Hooks {
        match self.gateway {
            Some(_) if self.reads_arrivals() => Hooks::ENQUEUE,
            Some(_) => Hooks::DEQUEUE,
            None => self.point.hooks(),
        }
    }

    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        _weight: u16,
        mark: Mark<'_>,
        notify: impl FnMut(u32, Feedback),
    ) {
        if self.reads_arrivals() {
            self.pass(view, packet, mark, notify);
        }
    }

    #[inline]
    fn on_dequeue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        mark: Mark<'_>,
        notify: impl FnMut(u32, Feedback),
    ) {
        if !self.reads_arrivals() {
            self.pass(view, packet, mark, notify);
        }
    }
}

impl Cp {
    #[inline]
    fn pass(&mut self, view: &QueueView, packet: &PacketFacts, mark: Mark<'_>, mut notify: impl FnMut(u32, Feedback)) {
        let Some(stack) = mark.int else { return };
        let Some(gateway) = &mut self.gateway else {
            self.point.write(view, stack);
            return;
        };
        // Section 2.1: read, erase, wrap, send. A gateway further on only erases.
        if stack.tag != TAKEN {
            if gateway.reading.counts {
                self.point.write(view, stack);
            }
            if gateway.is_due(view.now, packet.flow) {
                notify(packet.flow, Feedback::SwitchInt(SwitchInt::wrap(stack)));
            }
            stack.tag = TAKEN;
        }
        stack.clear();
    }
}

impl Gateway {
    fn is_due(&mut self, now: Time, flow: u32) -> bool {
        if self.reading.every == 1 {
            return true;
        }
        if self.since.len() >= self.prune_at {
            self.since.retain(|_, (_, last)| now.saturating_since(*last) < SILENT);
            self.prune_at = 64.max(2 * self.since.len());
        }
        let (since, last) = self.since.entry(flow, || (0, now));
        *last = now;
        *since = (*since + 1) % self.reading.every;
        *since == 0
    }
}

/// R_NS at the sender.
#[derive(Clone, Debug)]
pub struct NearSource {
    law: Law,
    /// A packet sent since then belongs to the next round. The same boundary as by sequence number
    /// (section 3), and it holds when packets are retransmitted.
    round_from: Time,
}

impl NearSource {
    pub(super) fn new(law: Law) -> NearSource {
        NearSource { law, round_from: Time::ZERO }
    }

    pub(super) fn on_switch_int(&mut self, now: Time, switch_int: &SwitchInt) {
        let update = switch_int.sent_at >= self.round_from;
        self.law.on_telemetry(&switch_int.stack(), update);
        if update {
            self.round_from = now;
        }
    }

    #[inline]
    pub(super) fn rate_bps(&self) -> f64 {
        self.law.rate_bps()
    }

    pub(super) fn increases(&self) -> u32 {
        self.law.increases()
    }
}
