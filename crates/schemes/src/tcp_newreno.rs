//! TCP NewReno: the loss-driven baseline, and the traffic of the layer-2 schemes' incast test.
//!
//! Allman et al., *TCP Congestion Control*, RFC 5681; Henderson et al., *The NewReno Modification*,
//! RFC 6582; Paxson et al., *Computing TCP's Retransmission Timer*, RFC 6298. No switch takes part:
//! a tail drop is the signal, so its class should be lossy. The window, the timer and their
//! parameters are in [`crate::parts::newreno`]; segments, ACKs and the receiver's buffer are the
//! fabric's.

use crate::Configured;
use crate::param::{ParamValues, Preset, SchemeSpec, presets};
use crate::parts::newreno::{NewReno, Params};
use crate::parts::sender_alone;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::*;

const PRESETS: &[Preset] = presets! {
    "fqcn" from "incast test of the FQCN paper, section VI" {}
    "rfc" from "RFC 5681 and RFC 6298 to the letter" {
        initial_window_rule = "rfc5681", rto_min = "1s", delayed_ack = "true",
    }
    "modern" from "RFC 6928's initial window, RFC 3042, RFC 7323, and the common 200 ms floor" {
        initial_window = "10", limited_transmit = "true", timestamps = "true", delayed_ack = "true",
    }
};

#[derive(Clone, Debug)]
pub struct TcpNewReno {
    params: Arc<Params>,
}

impl Configured for TcpNewReno {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "tcp-newreno",
        "TCP: slow start, avoidance, fast recovery, time-outs; loss is the signal",
        "Allman et al., TCP Congestion Control, RFC 5681; Henderson et al., RFC 6582; Paxson et al., RFC 6298",
        Params::TABLE,
        PRESETS,
    );

    fn configure(values: &ParamValues) -> TcpNewReno {
        TcpNewReno { params: Arc::new(Params::read(values)) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        Params::read(values).validation_error()
    }
}

/// Section 2 and 6: headers, and when the receiver acknowledges.
pub(crate) fn tcp_format(params: &Params) -> Format {
    let (ack_every, ack_timeout) = match params.machine.delayed_ack {
        true => (params.machine.delayed_ack_segments as u32, params.machine.delayed_ack_timeout),
        // Where the host's own setting delays ACKs, they may wait as long.
        false => (1, Span::from_ms(40)),
    };
    // Twelve bytes of time stamps lift a bare ACK from 58 bytes, padded to 64, to 70.
    let (data_bytes, ack_bytes) = if params.machine.timestamps { (12, 6) } else { (0, 0) };
    Format { data_bytes, ack_bytes, transport: Transport::Tcp, ack_every, ack_timeout, ..Format::default() }
}

impl Scheme for TcpNewReno {
    sender_alone!();
    type Rp = Rp;

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        Rp(NewReno::new(&self.params, of))
    }
    fn format(&self) -> Format {
        Format { ecn: Ecn::NotCapable, ..tcp_format(&self.params) }
    }
}

/// The sender: nothing but the machine.
#[derive(Clone, Debug)]
pub struct Rp(NewReno);

impl ReactionPoint for Rp {
    type Feedback = ();

    #[inline]
    fn limits(&self) -> Limits {
        self.0.limits()
    }
    #[inline]
    fn on_sent(&mut self, now: Time, _: u32) {
        self.0.on_sent(now);
    }
    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        self.0.on_ack(ack, true);
    }
    fn resend(&mut self, outstanding: &Outstanding) -> Resend {
        self.0.resend(outstanding)
    }
    fn increases(&self) -> u32 {
        self.0.increases()
    }
    fn on_timer(&mut self, now: Time) {
        self.0.on_timer(now);
    }
    #[inline]
    fn timer(&self) -> Option<Time> {
        self.0.timer()
    }
}
