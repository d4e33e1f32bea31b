//! How RoCE flows recover from losses, as settings: `flow/transport/` has the rules.

use xoff_engine::Span;

/// How RoCE flows recover from losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recovery {
    /// A receiver discards what is out of order, a sender goes back to it.
    #[default]
    GoBackN,
    /// IRN as in its paper: packets are resent one by one.
    Irn(Irn),
    /// IRN as ConWeave's simulator has it: after a NACK a sender goes back and skips what is acknowledged selectively.
    IrnRewind(Irn),
    /// Selective acknowledgements as in Ultra Ethernet: packets may arrive in any order.
    Sack(Sack),
}

/// Settings of selective acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sack {
    /// Payload that one ACK acknowledges, where nothing asks for one sooner.
    pub ack_bytes: u32,
    /// Losses are found by counting, too: SLEEK.
    pub sleek: bool,
}

impl Sack {
    /// Value of the public simulator of Ultra Ethernet.
    pub const UEC: Sack = Sack { ack_bytes: 16_384, sleek: true };
}

/// Settings of IRN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Irn {
    /// Payload that may be sent and not acknowledged in order; `None`: one bandwidth-delay product of the longest path.
    pub window_bytes: Option<u64>,
    /// Retransmission time-out while at most three packets are outstanding.
    pub rto_low: Span,
    /// And otherwise.
    pub rto_high: Span,
}

impl Irn {
    /// Values of the paper.
    pub const PAPER: Irn = Irn { window_bytes: None, rto_low: Span::from_us(100), rto_high: Span::from_us(320) };
}
