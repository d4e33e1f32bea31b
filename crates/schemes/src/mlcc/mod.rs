//! MLCC: micro loop congestion control between datacentres (ICPP 2025).
//!
//! A flow between datacentres has three loops instead of one of milliseconds. The gateway out of the
//! sender's datacentre returns telemetry to the sender at once (`near_source`); the gateway into
//! the receiver's keeps a queue per flow, whose rate the receiver sets once per short round trip
//! (`credit`); and the receiver advertises the rate that will bring that queue to its target delay
//! ([`dqm`]). Flows within one datacentre run the rate law from end to end. The law is HPCC's
//! ([`crate::parts::hpcc_law`]), or PowerTCP's. Sections, equations and lines are those of the specification,
//! `mlcc.md`.
//!
//! RTT_C is the flow's base round trip, from the topology; MTU the payload of a full packet, from the host. `history`
//! and `missing_history` are about equation 2, `clamp_window` is about equation 9.

mod credit;
pub mod dqm;
mod law;
mod near_source;
mod spec;
#[cfg(test)]
mod tests;

pub use credit::Pfq;
use law::Law;
pub use near_source::{Cp, SwitchInt};
use near_source::{NearSource, Reading};

use crate::Configured;
use crate::param::{ParamValues, SchemeSpec};
use crate::parts::frame_content;
use crate::parts::hpcc_law::HpccLaw;
use crate::parts::int;
use crate::powertcp;
use credit::{Credit, CreditRules, NO_CREDIT};
use dqm::{Bounds, Dqm, DqmSettings};
use spec::{
    CreditTelemetry, History, MissingHistory, NearRead, Params, PfqRestart, RateLaw, RttD, TokenRule, WindowCross,
    WindowIntra, WindowSpan,
};
use std::sync::Arc;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::packet::IntStack;
use xoff_fabric::scheme::*;

/// Section 7: C_D in data packets; C_R and two rates in ACKs.
const CREDIT_BYTES: u32 = 2;
const ACK_FEEDBACK_BYTES: u32 = 10;

/// A configured MLCC.
#[derive(Clone, Debug)]
pub struct Mlcc {
    params: Params,
    dqm: DqmSettings,
    /// PowerTCP's, for when that is the law.
    power: Arc<powertcp::Settings>,
}

impl Configured for Mlcc {
    const SPEC: SchemeSpec = spec::SPEC;

    fn configure(values: &ParamValues) -> Mlcc {
        let params = Params::read(values);
        let dqm = DqmSettings {
            target_s: params.target_delay.as_s(),
            theta_s: params.theta.as_s(),
            credit_mean: params.credit_mean as usize,
            alpha: params.alpha,
            at_least: params.token_rule == TokenRule::AtLeast,
            advertised: params.history == History::Advertised,
            line_before: params.missing_history == MissingHistory::Line,
            floor_queue: params.floor_queue,
            clamp_raw: params.clamp_raw,
            clamp_window: params.clamp_window,
            sliding: params.window_span == WindowSpan::Rtt,
        };
        let power = powertcp::Settings::paper(params.gamma, params.int.precision());
        Mlcc { params, dqm, power }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        (Params::read(values).theta == Span::ZERO)
            .then(|| "`theta` is a time in which something is to happen: above zero".into())
    }
}

impl Mlcc {
    /// Section 3: the law over a loop of round trip `t`, at most at `line`.
    fn law(&self, line: BitRate, initial: BitRate, t: Span) -> Law {
        let (t, params) = (t.max(Span::from_ns(1)), &self.params);
        match params.law {
            RateLaw::Hpcc => {
                let settings = params.hpcc.over(line, initial, t, params.rate_min, params.int.precision());
                Law::Hpcc(HpccLaw::new(&settings))
            }
            RateLaw::PowerTcp => {
                let line_bps = line.bps() as f64;
                let step_bps = line_bps / params.power_flows as f64;
                let rates_bps = [line_bps, initial.bps() as f64, self.min_bps(line), step_bps];
                Law::PowerTcp(powertcp::Rp::over(&self.power, t, rates_bps))
            }
        }
    }

    /// R_min, at most the line rate.
    fn min_bps(&self, line: BitRate) -> f64 {
        self.params.rate_min.at(line).clamp(1.0, line.bps() as f64)
    }

    /// Section 4: the first rate of a per-flow queue.
    fn pfq_rate(&self, far: &InterDomain) -> BitRate {
        let rate = self.params.pfq_rate.at(far.far_line_rate).max(1.0);
        BitRate::from_bps(rate as u64).min(far.far_line_rate)
    }
}

impl Scheme for Mlcc {
    type Feedback = Feedback;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;
    type Transit = Pfq;
    type Switch = Absent;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        let Params { int, switch_int_every, near_gateway, near_read, .. } = &self.params;
        let reading = Reading {
            every: *switch_int_every as u32,
            counts: *near_gateway,
            on_arrival: *near_read == NearRead::Arrival,
        };
        Cp::new(at, int.precision(), reading)
    }

    fn notification_point(&self, of: &FlowFacts) -> Np {
        let Some(far) = &of.inter_domain else { return Np(None) };
        let start = self.params.credit_start as u16;
        let law = self.law(far.far_line_rate, self.pfq_rate(far), far.far_rtt);
        let rules = CreditRules {
            measured: self.params.rtt_d == RttD::Measured,
            own_queue: self.params.pfq_in_law,
            every_packet: self.params.credit_telemetry == CreditTelemetry::Every,
        };
        let credit = Credit::new(law, start, far.far_rtt, rules);
        let bounds = Bounds {
            rtt_c: of.base_rtt,
            rtt_d: far.far_rtt,
            mtu_bytes: of.mtu_bytes,
            line_bps: of.line_rate.bps() as f64,
            min_bps: self.min_bps(of.line_rate),
        };
        Np(Some(Box::new(Receiver {
            fresh: (self.params.pfq_restart == PfqRestart::Receiver).then(|| credit.clone()),
            credit,
            dqm: Dqm::new(self.dqm, bounds),
        })))
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let Some(near) = &of.inter_domain else {
            let law = self.law(of.line_rate, of.initial_rate, of.base_rtt);
            return Rp::Intra { law, round_ends_bytes: 0, window: self.params.window_intra };
        };
        Rp::Cross {
            near: NearSource::new(self.law(of.line_rate, of.initial_rate, near.near_rtt)),
            // Section 6: line rate until the first value comes.
            advertised_bps: of.line_rate.bps() as f64,
            window_s: match self.params.window_cross {
                WindowCross::None => f64::INFINITY,
                WindowCross::Bdp => of.base_rtt.as_s(),
            },
        }
    }

    fn transit(&self, of: &FlowFacts) -> Option<Pfq> {
        let far = &of.inter_domain?;
        let times = |span: Span, factor: f64| Span::from_ps((span.ps() as f64 * factor) as u64);
        Some(Pfq::new(
            self.pfq_rate(far).bps() as f64,
            self.min_bps(far.far_line_rate),
            times(of.base_rtt, self.params.pfq_idle),
            times(far.far_rtt, self.params.pfq_yield),
            of.start,
        ))
    }

    /// HPCC's header out and back.
    fn format(&self) -> Format {
        int::format(self.params.int.precision())
    }

    /// Section 7: no telemetry in the ACKs of flows between datacentres.
    fn format_inter_domain(&self) -> Format {
        Format { data_bytes: int::HEADER_BYTES + CREDIT_BYTES, ack_bytes: ACK_FEEDBACK_BYTES, ..self.format() }
    }

    fn notification_bytes(&self, feedback: &Feedback) -> Option<u32> {
        matches!(feedback, Feedback::SwitchInt(_)).then_some(near_source::SWITCH_INT_BYTES)
    }

    fn frame_content(&self, feedback: &Feedback) -> FrameContent {
        match feedback {
            Feedback::SwitchInt(int) => int.frame_content(),
            Feedback::InAck(in_ack) => in_ack.frame_content(),
        }
    }

    fn read_content(&self, content: &FrameContent) -> Option<Feedback> {
        match content.code {
            frame_content::code::GATEWAY_TELEMETRY => SwitchInt::read(&content.bytes).map(Feedback::SwitchInt),
            frame_content::code::CREDIT => AckFeedback::read(&content.bytes).map(Feedback::InAck),
            _ => None,
        }
    }
}

/// What comes back to the sender.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // Copied into an arena, one size for all.
pub enum Feedback {
    /// From the near gateway, in a message of its own (section 2.1).
    SwitchInt(SwitchInt),
    /// From the receiver, in its ACKs (sections 5 and 6).
    InAck(AckFeedback),
}

/// What the ACKs of a flow between datacentres carry (section 7): rates in whole Mb/s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFeedback {
    /// C_R
    credit: u16,
    /// R_credit and R̄_DQM.
    credit_mbps: u32,
    advertised_mbps: u32,
}

impl AckFeedback {
    fn new(credit: u16, credit_bps: f64, advertised_bps: f64) -> AckFeedback {
        let mbps = |bps: f64| (bps / 1e6).round() as u32;
        AckFeedback { credit, credit_mbps: mbps(credit_bps), advertised_mbps: mbps(advertised_bps) }
    }
    fn frame_content(&self) -> FrameContent {
        let AckFeedback { credit, credit_mbps, advertised_mbps } = *self;
        let mut bytes = credit.to_be_bytes().to_vec();
        bytes.extend([credit_mbps, advertised_mbps].into_iter().flat_map(u32::to_be_bytes));
        let says = format!("credit {credit} of {credit_mbps} Mb/s, advertised {advertised_mbps} Mb/s");
        frame_content::cnp(frame_content::code::CREDIT, &bytes, says)
    }
    fn read(bytes: &[u8]) -> Option<AckFeedback> {
        let credit = u16::from_be_bytes(*bytes.first_chunk()?);
        let mbps = |at| frame_content::number(bytes, at);
        Some(AckFeedback { credit, credit_mbps: mbps(2)?, advertised_mbps: mbps(6)? })
    }
    fn credit_bps(&self) -> f64 {
        f64::from(self.credit_mbps) * 1e6
    }
    fn advertised_bps(&self) -> f64 {
        f64::from(self.advertised_mbps) * 1e6
    }
}

/// The receiver of a flow between datacentres; nothing for others.
#[derive(Clone, Debug)]
pub struct Np(Option<Box<Receiver>>);

#[derive(Clone, Debug)]
struct Receiver {
    credit: Credit,
    /// Where it starts anew, if it does.
    fresh: Option<Credit>,
    dqm: Dqm,
}

impl Receiver {
    /// Section 4: no credit in a packet, once there have been some, says that the flow's queue at the
    /// gateway is a new one. Its first rate would else last until the next ACK.
    fn heed_restart(&mut self, tag: u16) {
        if tag == NO_CREDIT
            && let Some(fresh) = &self.fresh
            && fresh.value != self.credit.value
        {
            self.credit = fresh.clone();
            self.dqm.restart();
        }
    }
}

impl NotificationPoint for Np {
    type Feedback = Feedback;

    fn feeds_back_in_acks(&self) -> bool {
        self.0.is_some()
    }

    fn on_telemetry(&mut self, now: Time, int: &IntStack) {
        let Some(receiver) = &mut self.0 else { return };
        receiver.heed_restart(int.tag);
        if let Some(matched) = receiver.credit.on_data(now, int) {
            receiver.dqm.on_match(matched.rate_bps, matched.queue_bytes, matched.rtt_d);
        }
    }

    fn ack_feedback(&mut self, _: Time) -> Option<Feedback> {
        let receiver = self.0.as_mut()?;
        let advertised_bps = receiver.dqm.on_ack();
        Some(Feedback::InAck(receiver.credit.ack_feedback(advertised_bps)))
    }
}

/// The sender.
#[derive(Clone, Debug)]
pub enum Rp {
    /// Within a datacentre: the law from end to end (section 2).
    Intra {
        /// HPCC's or PowerTCP's.
        law: Law,
        /// An ACK beyond it was sent after the last round began.
        round_ends_bytes: u64,
        /// Whether the law's window binds.
        window: WindowIntra,
    },
    /// Between datacentres: R_MLCC = min(R_NS, R̄_DQM), equation 10.
    Cross {
        /// R_NS, from the near gateway's telemetry.
        near: NearSource,
        /// R̄_DQM; line rate until the first ACK.
        advertised_bps: f64,
        /// RTT_C where the rate times it is a window, else without end.
        window_s: f64,
    },
}

impl ReactionPoint for Rp {
    type Feedback = Feedback;

    #[inline]
    fn limits(&self) -> Limits {
        match self {
            Rp::Intra { law, window, .. } => {
                let window_bytes = match window {
                    WindowIntra::Law => law.window_bytes(),
                    WindowIntra::None => u64::MAX,
                };
                Limits { rate_bps: law.rate_bps(), window_bytes }
            }
            Rp::Cross { near, advertised_bps, window_s } => {
                let rate_bps = near.rate_bps().min(*advertised_bps);
                Limits { rate_bps, window_bytes: (rate_bps * window_s / 8.0) as u64 }
            }
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        if let (Rp::Intra { law, round_ends_bytes, .. }, Some(stack)) = (self, ack.int) {
            let update = ack.acked_bytes > *round_ends_bytes;
            law.on_telemetry(stack, update);
            if update {
                *round_ends_bytes = ack.sent_bytes;
            }
        }
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        if let Rp::Cross { near, advertised_bps, .. } = self {
            match feedback {
                Feedback::SwitchInt(switch_int) => near.on_switch_int(now, switch_int),
                // Never zero, however low the floor: Mb/s are whole.
                Feedback::InAck(in_ack) => *advertised_bps = in_ack.advertised_bps().max(1e6),
            }
        }
    }

    fn increases(&self) -> u32 {
        match self {
            Rp::Intra { law, .. } => law.increases(),
            Rp::Cross { near, .. } => near.increases(),
        }
    }
}
