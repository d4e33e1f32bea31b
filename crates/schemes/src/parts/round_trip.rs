//! Which base round trip a sender counts with: parameters that several schemes share.

use crate::param::{ParamSpec, ParamValues, Unit};
use xoff_engine::Span;
use xoff_fabric::scheme::{FlowFacts, Format};

/// A time stamp of 8 B in data packets and its echo in ACKs: what senders need that measure round
/// trips.
pub fn stamped() -> Format {
    Format { data_bytes: 8, ack_bytes: 8, ..Format::default() }
}

/// Whose base round trip.
pub const ROUND_TRIP: ParamSpec = ParamSpec::new(
    "round_trip",
    "",
    Unit::Choice(&["network", "pair", "fixed"]),
    "network",
    &[],
    "base round trip: the longest of the network, the flow's own, or the one given",
    "the HPCC authors' simulator takes the longest by default",
);

/// The base round trip under `round_trip = "fixed"`.
pub const BASE_RTT: ParamSpec = ParamSpec::new(
    "base_rtt",
    "T",
    Unit::Time,
    "12us",
    &[("round_trip", "fixed")],
    "base round trip, if it is given",
    "Mercury's large-scale simulations",
);

/// The base round trip of a flow under these parameters; never zero.
pub fn round_trip(values: &ParamValues, of: &FlowFacts) -> Span {
    let span = match values.choice("round_trip") {
        "pair" => of.base_rtt,
        "fixed" => values.time("base_rtt"),
        // A scheme's own header makes its packets longer than those the network's was computed for.
        _ => of.max_base_rtt.max(of.base_rtt),
    };
    span.max(Span::from_ns(1))
}
