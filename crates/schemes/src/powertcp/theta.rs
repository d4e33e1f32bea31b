//! Theta-PowerTCP: power from round-trip times, without the switches' help (section 3).

use super::spec::{self, Measure, ThetaParams, Variant};
use super::{Form, Law, Settings, whole};
use crate::Configured;
use crate::param::{ParamValues, SchemeSpec};
use crate::parts::int::{HEADER_BYTES, Precision};
use crate::parts::path_memory::PathMemory;
use crate::parts::round_trip::stamped;
use crate::parts::sender_alone;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::*;

#[derive(Clone, Debug)]
pub struct ThetaPowerTcp {
    params: ThetaParams,
    settings: Arc<Settings>,
    how: How,
}

/// How round trips become power.
#[derive(Clone, Copy, Debug)]
struct How {
    /// Measured with every ACK, or once per round trip.
    each_ack: bool,
    /// The window follows every ACK: the public implementation only.
    apply_each_ack: bool,
    /// The base round trip is the least one seen: the public implementation only.
    least_seen: bool,
    /// Power is 1 at so many base round trips.
    factor: f64,
}

impl Configured for ThetaPowerTcp {
    const SPEC: SchemeSpec = spec::THETA;

    fn configure(values: &ParamValues) -> ThetaPowerTcp {
        let params = ThetaParams::read(values);
        let ThetaParams { measure, rtt_factor, law, .. } = &params;
        let (measure, rtt_factor) = (*measure, *rtt_factor);
        let how = match law.variant {
            Variant::Paper => {
                How { each_ack: measure == Measure::Ack, apply_each_ack: false, least_seen: false, factor: 1.0 }
            }
            Variant::Compat => How { each_ack: true, apply_each_ack: true, least_seen: true, factor: rtt_factor },
        };
        // There are no records whose precision would matter.
        let settings = Arc::new(Settings::new(law, 1.0, Precision::Exact));
        ThetaPowerTcp { params, settings, how }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        ThetaParams::read(values).law.validation_error()
    }
}

impl ThetaPowerTcp {
    pub(super) fn window(&self, of: &FlowFacts) -> Rp {
        let law = Law::new(&self.settings, &self.params.law, of);
        Rp {
            base_ps: if self.how.least_seen { f64::INFINITY } else { law.tau_ps },
            law,
            previous: None,
            how: self.how,
            paths: of.spread.then(Box::default),
        }
    }
}

impl Scheme for ThetaPowerTcp {
    sender_alone!();
    type Rp = Form<Rp>;

    fn reaction_point(&self, of: &FlowFacts) -> Form<Rp> {
        let ThetaParams { rtt_factor, law, whole, .. } = &self.params;
        if !law.is_whole() {
            return Form::Window(self.window(of));
        }
        Form::Whole(Box::new(whole::Rp::new(law, whole, 1.0, whole::Signal::delay(*rtt_factor), of)))
    }

    /// Section 5: a time stamp, and its echo. The authors' simulator sends the header of telemetry all the same.
    fn format(&self) -> Format {
        match self.params.law.is_whole() {
            false => stamped(),
            true => Format { data_bytes: HEADER_BYTES, ack_bytes: HEADER_BYTES, ..Format::default() },
        }
    }
}

/// Window and pacing of one flow, from round-trip times.
#[derive(Clone, Debug)]
pub struct Rp {
    pub(super) law: Law,
    /// Time and length of the previous round trip.
    pub(super) previous: Option<(Time, Span)>,
    /// tau of the measurement.
    base_ps: f64,
    how: How,
    /// `previous` of each path of a flow that has several.
    paths: Option<Box<PathMemory<(Time, Span)>>>,
}

impl Rp {
    /// Section 3: Gamma = (theta' + 1) RTT / tau.
    fn power(&mut self, now: Time, rtt: Span, path: u16) -> Option<(f64, f64)> {
        if self.how.least_seen {
            self.base_ps = self.base_ps.min(rtt.ps() as f64);
        }
        let (before, previous) = self.previous.replace((now, rtt))?;
        let elapsed_ps = now.saturating_since(before).ps() as f64;
        if elapsed_ps == 0.0 {
            return None; // Section 6: no rate can be read from one instant.
        }
        let (rtt_ps, settings) = (rtt.ps() as f64, &*self.law.settings);
        let current = match &mut self.paths {
            None => (rtt_ps - previous.ps() as f64) / elapsed_ps + 1.0,
            // Two paths differ without a queue that grows. What is new of a path tells of no growth.
            Some(paths) => match paths.replace(path.into(), now, (now, rtt)) {
                Some((before, previous)) if now > before => {
                    (rtt_ps - previous.ps() as f64) / now.saturating_since(before).ps() as f64 + 1.0
                }
                _ => 1.0,
            },
        };
        let current = current.max(settings.current_min);
        Some(((current * rtt_ps / (self.how.factor * self.base_ps)).max(settings.power_min), elapsed_ps))
    }
}

impl ReactionPoint for Rp {
    type Feedback = ();

    #[inline]
    fn limits(&self) -> Limits {
        self.law.limits()
    }

    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        let round_passed = self.law.round_passed(ack);
        if !(round_passed || self.how.each_ack) {
            return;
        }
        let measured = self.power(ack.now, ack.rtt, ack.path);
        if let Some((power, elapsed_ps)) = measured {
            self.law.smooth(power, elapsed_ps, self.base_ps);
            if round_passed || self.how.apply_each_ack {
                self.law.set_window(round_passed);
            }
        }
        if round_passed {
            self.law.round_ends_bytes = ack.sent_bytes;
        }
    }

    fn increases(&self) -> u32 {
        self.law.increases
    }
}
