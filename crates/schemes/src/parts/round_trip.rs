//! Which base round trip a sender counts with: parameters that several schemes share.

use crate::param::params;
use xoff_engine::Span;
use xoff_fabric::scheme::{FlowFacts, Format, QueueFacts};

/// A time stamp of 8 B in data packets and its echo in ACKs: what senders need that measure round
/// trips.
pub fn stamped() -> Format {
    Format { data_bytes: 8, ack_bytes: 8, ..Format::default() }
}

params! {
    /// Whose base round trip.
    pub struct Params {
        /// base round trip: the longest of the network, the flow's own, or the one given
        round_trip: RoundTrip { Network = "network", Pair = "pair", Fixed = "fixed" } = "network",
            from "the HPCC authors' simulator takes the longest by default";
        /// base round trip, if it is given
        base_rtt "T": Time = "12us" if RoundTrip::Fixed, from "Mercury's large-scale simulations";
    }
}

impl Params {
    /// The base round trip of a flow; never zero.
    pub fn of(&self, of: &FlowFacts) -> Span {
        let span = match self.round_trip {
            RoundTrip::Pair => of.base_rtt,
            RoundTrip::Fixed => self.base_rtt,
            // A scheme's own header makes its packets longer than those the network's was computed for.
            RoundTrip::Network => of.max_base_rtt.max(of.base_rtt),
        };
        span.max(Span::from_ns(1))
    }

    /// The base round trip that a queue counts with: one for all flows.
    pub fn at_queue(&self, at: &QueueFacts) -> Span {
        match self.round_trip {
            RoundTrip::Fixed => self.base_rtt,
            RoundTrip::Network | RoundTrip::Pair => at.max_base_rtt,
        }
    }
}
