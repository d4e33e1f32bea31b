//! Fixtures of unit tests.

use crate::Configured;
use xoff_engine::{BitRate, Span};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::*;

/// Scheme `NAME` or `NAME:PRESET` with other values of some parameters.
pub fn configured<S: Configured>(name: &str, texts: &[(&str, &str)]) -> S {
    S::configure(&crate::select(name).unwrap().with(texts))
}

/// Flow of this line rate and base round trip.
pub fn flow(gbps: u64, rtt_us: u64) -> FlowFacts {
    FlowFacts::at(BitRate::from_gbps(gbps), Span::from_us(rtt_us))
}

/// Queue of a port of this rate.
pub fn queue(gbps: u64) -> QueueFacts {
    QueueFacts::at(BitRate::from_gbps(gbps))
}

/// Passes an arriving packet to a congestion point. Returns its ECN field and the notified flows.
pub fn enqueue<C: CongestionPoint>(
    cp: &mut C,
    view: &QueueView,
    packet: &PacketFacts,
) -> (Ecn, Vec<(u32, C::Feedback)>) {
    let (mut ecn, mut notified) = (Ecn::Ect0, Vec::new());
    let mark = Mark { ecn: &mut ecn, int: None };
    cp.on_enqueue(view, packet, 1, mark, |flow, feedback| notified.push((flow, feedback)));
    (ecn, notified)
}

/// Passes a leaving packet to a congestion point. Returns its ECN field and the notified flows.
pub fn dequeue<C: CongestionPoint>(
    cp: &mut C,
    view: &QueueView,
    packet: &PacketFacts,
) -> (Ecn, Vec<(u32, C::Feedback)>) {
    let (mut ecn, mut notified) = (Ecn::Ect0, Vec::new());
    let mark = Mark { ecn: &mut ecn, int: None };
    cp.on_dequeue(view, packet, mark, |flow, feedback| notified.push((flow, feedback)));
    (ecn, notified)
}
