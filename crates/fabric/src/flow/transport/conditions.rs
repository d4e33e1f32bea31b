//! What a transport is made from: the settings of both hosts, and facts of the path.

use crate::contract::scheme::{Format, Transport};
use crate::network::plan::{HostSettings, Irn, Recovery};
use xoff_engine::Span;

/// What a requester is made from.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Headers and transport that the scheme of the flow asks for.
    pub format: &'a Format,
    /// Settings of the host that sends.
    pub sender: &'a HostSettings,
    /// Settings of the host that receives.
    pub receiver: &'a HostSettings,
    /// Round trip of the path on an idle network.
    pub base_rtt: Span,
    /// Largest bandwidth-delay product of all pairs of hosts.
    pub max_bdp_bytes: u64,
    /// Wire bytes of a full packet.
    pub full_wire_bytes: u32,
    /// PFC protects the class of the flow.
    pub lossless: bool,
}

impl Conditions<'_> {
    /// Recovery of the flow; go-back-N for TCP, whose reaction point finds losses.
    pub(super) fn recovery(&self) -> Recovery {
        match self.format.transport {
            Transport::Roce => self.receiver.recovery,
            Transport::Tcp => Recovery::GoBackN,
        }
    }

    /// Retransmission time-out. A round trip is not a loss, however long: the timer never undercuts a few of them.
    pub(super) fn rto(&self) -> Span {
        self.at_least_four_round_trips(self.sender.retransmit_timeout)
    }

    /// Short and long time-out of IRN, which has none in a lossless class: the timer of go-back-N takes their place.
    pub(super) fn irn_timeouts(&self, settings: &Irn) -> [Span; 2] {
        match self.lossless {
            true => [self.rto(); 2],
            false => [settings.rto_low, settings.rto_high].map(|rto| self.at_least_four_round_trips(rto)),
        }
    }

    fn at_least_four_round_trips(&self, span: Span) -> Span {
        span.max(self.base_rtt * 4)
    }
}
