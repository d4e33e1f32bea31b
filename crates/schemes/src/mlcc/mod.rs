//! MLCC: micro loop congestion control between datacentres (ICPP 2025).
//!
//! A flow between datacentres has three loops instead of one of milliseconds. The gateway out of the
//! sender's datacentre returns telemetry to the sender at once ([`near_source`]); the gateway into
//! the receiver's keeps a queue per flow, whose rate the receiver sets once per short round trip
//! ([`credit`]); and the receiver advertises the rate that will bring that queue to its target delay
//! ([`dqm`]). Flows within one datacentre run the rate law from end to end. The law is HPCC's
//! ([`crate::parts::hpcc_law`]), or PowerTCP's. Sections, equations and lines are those of the specification,
//! `mlcc.md`.
//!
//! | symbol | parameter | default | source |
//! |---|---|---|---|
//! | D_t | `target_delay` | 1 ms | paper |
//! | theta | `theta` | 18 ms | paper |
//! | m | `credit_mean` | 5 | paper |
//! | alpha | `alpha` | 0.5 | paper |
//! | C_R, first | `credit_start` | 1 | assumption |
//! | k | `switch_int_every` | 1 | assumption |
//! | R_min | `rate_min` | 100 Mb/s | assumption |
//! | R_credit, first | `pfq_rate` | line rate of the receiver | assumption |
//! | | `law` | HPCC's | assumption |
//! | eta | `eta` | 0.95 | HPCC |
//! | maxStage | `max_stage` | 5 | HPCC |
//! | W_AI | `step_bytes` (or `flows`, `rate_ai`: see `step`) | 80 B | HPCC's experiments |
//! | gamma, N | `gamma`, `power_flows` | 0.9, 10 | PowerTCP |
//! | RTT_D | `rtt_d` | measured between matches | assumption |
//! | RTT_C | - | base round trip of the flow | topology |
//! | MTU | - | payload of a full packet | host |
//! | eqs 2, 3, 6, 8, 9 | `history`, `missing_history`, `floor_queue`, `token_rule`, `window_span`, `clamp_window` | | assumptions |
//! | PFQ | `pfq_idle`, `pfq_yield`, `pfq_in_law` | | assumptions |
//! | windows | `window_intra`, `window_cross` | law; none | assumptions |

mod credit;
pub mod dqm;
mod law;
mod near_source;
mod spec;
#[cfg(test)]
mod tests;

pub use credit::Pfq;
pub use law::Law;
pub use near_source::{Cp, NearSource, SwitchInt};

use crate::Configured;
use crate::param::{ParamValues, SchemeSpec};
use crate::parts::hpcc_law::{HpccLaw, Settings};
use crate::parts::int::{self, Precision};
use crate::parts::wire;
use crate::powertcp;
use credit::Credit;
use dqm::{Bounds, Dqm, DqmSettings};
use std::sync::Arc;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::packet::IntStack;
use xoff_fabric::scheme::*;

/// Section 7: C_D in data packets; C_R and two rates in ACKs.
const CREDIT_BYTES: u32 = 2;
const ANSWER_BYTES: u32 = 10;

/// A configured MLCC.
#[derive(Clone, Debug)]
pub struct Mlcc {
    values: ParamValues,
    precision: Precision,
    dqm: DqmSettings,
    /// If that is the law.
    power: Option<Arc<powertcp::Settings>>,
}

impl Configured for Mlcc {
    const SPEC: SchemeSpec = spec::SPEC;

    fn configure(values: &ParamValues) -> Mlcc {
        let dqm = DqmSettings {
            target_s: values.time("target_delay").as_s(),
            theta_s: values.time("theta").as_s(),
            credit_mean: values.count("credit_mean") as usize,
            alpha: values.number("alpha"),
            at_least: values.choice("token_rule") == "at-least",
            advertised: values.choice("history") == "advertised",
            line_before: values.choice("missing_history") == "line",
            floor_queue: values.flag("floor_queue"),
            clamp_window: values.flag("clamp_window"),
            sliding: values.choice("window_span") == "rtt",
        };
        let precision = Precision::from_params(values);
        let power = values.choice("law") == "powertcp";
        let power = power.then(|| powertcp::Settings::paper(values.number("gamma"), precision));
        Mlcc { values: values.clone(), precision, dqm, power }
    }

    fn objection(values: &ParamValues) -> Option<String> {
        (values.time("theta") == Span::ZERO)
            .then(|| "`theta` is a time in which something is to happen: above zero".into())
    }
}

impl Mlcc {
    /// Section 3: the law over a loop of round trip `t`, at most at `line`.
    fn law(&self, line: BitRate, initial: BitRate, t: Span) -> Law {
        let t = t.max(Span::from_ns(1));
        if let Some(settings) = &self.power {
            let line_bps = line.bps() as f64;
            let step_bps = line_bps / self.values.count("power_flows") as f64;
            let rates_bps = [line_bps, initial.bps() as f64, self.min_bps(line), step_bps];
            return Law::PowerTcp(powertcp::Rp::over(settings, t, rates_bps));
        }
        Law::Hpcc(HpccLaw::new(&Settings::from_params(&self.values, line, initial, t)))
    }

    /// R_min, at most the line rate.
    fn min_bps(&self, line: BitRate) -> f64 {
        self.values.rate("rate_min").at(line).clamp(1.0, line.bps() as f64)
    }

    /// Section 4: the first rate of a per-flow queue.
    fn pfq_rate(&self, far: &Crossing) -> BitRate {
        let rate = self.values.rate("pfq_rate").at(far.far_line_rate).max(1.0);
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
        let every = self.values.count("switch_int_every") as u32;
        Cp::new(at, self.precision, every, self.values.flag("near_gateway"))
    }

    fn notification_point(&self, of: &FlowFacts) -> Np {
        let Some(far) = &of.crossing else { return Np(None) };
        let start = self.values.count("credit_start") as u16;
        let law = self.law(far.far_line_rate, self.pfq_rate(far), far.far_rtt);
        let measured = self.values.choice("rtt_d") == "measured";
        let bounds = Bounds {
            rtt_c: of.base_rtt,
            rtt_d: far.far_rtt,
            mtu_bytes: of.mtu_bytes,
            line_bps: of.line_rate.bps() as f64,
            min_bps: self.min_bps(of.line_rate),
        };
        Np(Some(Box::new(Receiver {
            credit: Credit::new(law, start, far.far_rtt, measured, self.values.flag("pfq_in_law")),
            dqm: Dqm::new(self.dqm, bounds),
        })))
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let Some(near) = &of.crossing else {
            let law = self.law(of.line_rate, of.initial_rate, of.base_rtt);
            return Rp::Intra { law, round_ends_bytes: 0, window: self.values.choice("window_intra") == "law" };
        };
        Rp::Cross {
            near: NearSource::new(self.law(of.line_rate, of.initial_rate, near.near_rtt)),
            // Section 6: line rate until the first value comes.
            advertised_bps: of.line_rate.bps() as f64,
            window_s: if self.values.choice("window_cross") == "bdp" { of.base_rtt.as_s() } else { f64::INFINITY },
        }
    }

    fn transit(&self, of: &FlowFacts) -> Option<Pfq> {
        let far = &of.crossing?;
        let times = |span: Span, factor: f64| Span::from_ps((span.ps() as f64 * factor) as u64);
        Some(Pfq::new(
            self.pfq_rate(far).bps() as f64,
            self.min_bps(far.far_line_rate),
            times(of.base_rtt, self.values.number("pfq_idle")),
            times(far.far_rtt, self.values.number("pfq_yield")),
            of.start,
        ))
    }

    /// HPCC's header out and back.
    fn format(&self) -> Format {
        int::format()
    }

    /// Section 7: no telemetry in the ACKs of flows between datacentres.
    fn format_across(&self) -> Format {
        Format { data_bytes: int::HEADER_BYTES + CREDIT_BYTES, ack_bytes: ANSWER_BYTES, ..self.format() }
    }

    fn notification_bytes(&self, feedback: &Feedback) -> Option<u32> {
        matches!(feedback, Feedback::SwitchInt(_)).then_some(near_source::SWITCH_INT_BYTES)
    }

    fn wire(&self, feedback: &Feedback) -> Wire {
        match feedback {
            Feedback::SwitchInt(int) => {
                let says = "telemetry up to the near gateway".to_owned();
                wire::cnp(wire::code::GATEWAY_TELEMETRY, &wire::telemetry(&int.stack()), says)
            }
            Feedback::Answer(answer) => answer.wire(),
        }
    }
}

/// What comes back to the sender.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // Copied into an arena, one size for all.
pub enum Feedback {
    SwitchInt(SwitchInt),
    Answer(Answer),
}

/// What the ACKs of a flow between datacentres carry (section 7): rates in whole Mb/s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// C_R
    credit: u16,
    /// R_credit and R̄_DQM.
    credit_mbps: u32,
    advertised_mbps: u32,
}

impl Answer {
    fn new(credit: u16, credit_bps: f64, advertised_bps: f64) -> Answer {
        let mbps = |bps: f64| (bps / 1e6).round() as u32;
        Answer { credit, credit_mbps: mbps(credit_bps), advertised_mbps: mbps(advertised_bps) }
    }
    /// C_R
    pub fn credit(&self) -> u16 {
        self.credit
    }
    fn wire(&self) -> Wire {
        let Answer { credit, credit_mbps, advertised_mbps } = *self;
        let mut bytes = credit.to_be_bytes().to_vec();
        bytes.extend([credit_mbps, advertised_mbps].into_iter().flat_map(u32::to_be_bytes));
        let says = format!("credit {credit} of {credit_mbps} Mb/s, advertised {advertised_mbps} Mb/s");
        wire::cnp(wire::code::ANSWER, &bytes, says)
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
    dqm: Dqm,
}

impl NotificationPoint for Np {
    type Feedback = Feedback;

    fn answers(&self) -> bool {
        self.0.is_some()
    }

    fn on_telemetry(&mut self, now: Time, int: &IntStack) {
        if let Some(receiver) = &mut self.0
            && let Some(matched) = receiver.credit.on_data(now, int)
        {
            receiver.dqm.on_match(matched.rate_bps, matched.queue_bytes, matched.rtt_d);
        }
    }

    fn answer(&mut self, _: Time) -> Option<Feedback> {
        let receiver = self.0.as_mut()?;
        let advertised_bps = receiver.dqm.on_ack();
        Some(Feedback::Answer(receiver.credit.answer(advertised_bps)))
    }
}

/// The sender.
#[derive(Clone, Debug)]
pub enum Rp {
    /// Within a datacentre: the law from end to end (section 2).
    Intra { law: Law, round_ends_bytes: u64, window: bool },
    /// Between datacentres: R_MLCC = min(R_NS, R̄_DQM), equation 10.
    Cross {
        near: NearSource,
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
                Limits { rate_bps: law.rate_bps(), window_bytes: if *window { law.window_bytes() } else { u64::MAX } }
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
                Feedback::Answer(answer) => *advertised_bps = answer.advertised_bps().max(1e6),
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
