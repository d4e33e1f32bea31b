//! PowerTCP and theta-PowerTCP: windows from network power (Addanki et al., NSDI 2022).
//!
//! Power is current times voltage: how fast bytes arrive at a hop times how many it takes to be
//! served (queue plus pipe). A sender divides its window of one round trip ago by the power,
//! normalised to 1 at full use of an empty hop, and adds a constant. [`PowerTcp`] reads power from
//! the telemetry of [`crate::parts::int`]; [`ThetaPowerTcp`] from round-trip times alone.
//!
//! tau is the base round trip, as in HPCC; N the paper's "expected flows at the NIC". `docs/schemes/powertcp.md` says why the
//! current has a floor (Interpretation).
//!
//! `variant = "compat"` is the law of the public implementation, which differs in more than numbers; with
//! `arithmetic = "whole"`, in `whole`, to the last bit.

mod spec;
mod theta;
mod whole;

pub use theta::ThetaPowerTcp;

use crate::Configured;
use crate::param::{ParamValues, SchemeSpec};
use crate::parts::hpcc_law::FORGOTTEN_AFTER;
use crate::parts::int::{self, IntPoint, Precision, Previous};
use crate::parts::path_memory::PathMemory;
use crate::parts::silent_receiver;
use spec::{Arithmetic, Floor, IntBytes, LawParams, Params, Step, Variant};
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::delegate_reaction_point;
use xoff_fabric::packet::{IntHop, IntStack};
use xoff_fabric::scheme::*;

/// What all flows of a run share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    variant: Variant,
    gamma: f64,
    eta: f64,
    /// Section 6: a queue that drains as fast as its port sends has no current, and would have no
    /// power. Either current or power has a floor; the other's is out of the way.
    current_min: f64,
    power_min: f64,
    precision: Precision,
}

impl Settings {
    /// The paper's law with its current's floor, for schemes that run it over a part of a path.
    pub(crate) fn paper(gamma: f64, precision: Precision) -> Arc<Settings> {
        let (eta, current_min, power_min) = (1.0, 0.5, 0.0);
        Arc::new(Settings { variant: Variant::Paper, gamma, eta, current_min, power_min, precision })
    }

    fn new(params: &LawParams, eta: f64, precision: Precision) -> Settings {
        let (current_min, power_min) = match params.floor {
            Floor::Current => (params.current_min, 0.0),
            Floor::Power => (f64::NEG_INFINITY, params.power_min),
        };
        Settings { variant: params.variant, gamma: params.gamma, eta, current_min, power_min, precision }
    }
}

/// The window law (section 2), from whatever source power comes.
#[derive(Clone, Debug)]
struct Law {
    settings: Arc<Settings>,
    cwnd_bytes: f64,
    /// cwnd_old: the window of one round trip ago.
    old_bytes: f64,
    /// One BDP at line rate, where a flow starts, and R_min as a window.
    full_bytes: f64,
    min_bytes: f64,
    beta_bytes: f64,
    /// Gamma_s
    smoothed: f64,
    tau_ps: f64,
    line_bps: f64,
    /// lastUpdated
    round_ends_bytes: u64,
    increases: u32,
}

impl Law {
    fn new(settings: &Arc<Settings>, params: &LawParams, of: &FlowFacts) -> Law {
        let line_bps = of.line_rate.bps() as f64;
        // Section 5: one BDP over the flows expected, or an additive rate.
        let step_bps = match params.step {
            Step::Flows => line_bps / params.flows as f64,
            Step::Rate => params.rate_ai.at(of.line_rate),
        };
        let min_bps = params.rate_min.at(of.line_rate);
        Law::over(settings, params.round_trip.of(of), [line_bps, of.initial_rate.bps() as f64, min_bps, step_bps])
    }

    /// Over a loop of round trip `tau`, with rates in bits per second: line, initial, least, step.
    fn over(settings: &Arc<Settings>, tau: Span, [line_bps, initial_bps, min_bps, step_bps]: [f64; 4]) -> Law {
        let tau_ps = tau.ps() as f64;
        let window_of = |bps: f64| bps * tau_ps / 8e12;
        let full_bytes = window_of(line_bps).max(1.0);
        let min_bytes = window_of(min_bps).clamp(1.0, full_bytes);
        let beta_bytes = window_of(step_bps);
        let cwnd_bytes = window_of(initial_bps).clamp(min_bytes, full_bytes);
        Law {
            settings: settings.clone(),
            cwnd_bytes,
            old_bytes: cwnd_bytes,
            full_bytes,
            min_bytes,
            beta_bytes,
            smoothed: 1.0,
            tau_ps,
            line_bps,
            round_ends_bytes: 0,
            increases: 0,
        }
    }

    /// Once per round trip: the ACK answers something sent after the last update.
    #[inline]
    fn round_passed(&self, ack: &Acked<'_>) -> bool {
        ack.acked_bytes > self.round_ends_bytes
    }

    /// Section 2: Gs = (Gs (tau - Dt) + G Dt) / tau.
    #[inline]
    fn smooth(&mut self, power: f64, elapsed_ps: f64, tau_ps: f64) {
        let elapsed_ps = elapsed_ps.min(tau_ps);
        self.smoothed = (self.smoothed * (tau_ps - elapsed_ps) + power * elapsed_ps) / tau_ps;
    }

    /// Section 2: cwnd = gamma (cwnd_old / Gs + beta) + (1 - gamma) cwnd, within its bounds. The
    /// public implementation (section 4) aims at eta and mixes with cwnd_old itself.
    #[inline]
    fn set_window(&mut self, round_passed: bool) {
        let Settings { gamma, eta, variant, .. } = *self.settings;
        let mixed_bytes = match variant {
            Variant::Paper => self.cwnd_bytes,
            Variant::Compat => self.old_bytes,
        };
        let cwnd = gamma * (self.old_bytes * eta / self.smoothed + self.beta_bytes) + (1.0 - gamma) * mixed_bytes;
        self.cwnd_bytes = cwnd.clamp(self.min_bytes, self.full_bytes);
        if round_passed {
            // Counted at the upper bound too: the law found room, whatever else holds the flow back.
            self.increases = self.increases.wrapping_add(u32::from(cwnd > self.old_bytes));
            self.old_bytes = self.cwnd_bytes;
        }
    }

    /// rate = 8 cwnd / tau, exactly the line rate at one BDP.
    #[inline]
    fn limits(&self) -> Limits {
        let rate_bps = match self.cwnd_bytes < self.full_bytes {
            true => self.cwnd_bytes * 8e12 / self.tau_ps,
            false => self.line_bps,
        };
        Limits { rate_bps, window_bytes: self.cwnd_bytes as u64 }
    }
}

#[derive(Clone, Debug)]
pub struct PowerTcp {
    params: Params,
    settings: Arc<Settings>,
}

impl Configured for PowerTcp {
    const SPEC: SchemeSpec = spec::POWERTCP;

    fn configure(values: &ParamValues) -> PowerTcp {
        let params = Params::read(values);
        let settings = Settings::new(&params.law, params.eta, params.int.precision());
        PowerTcp { settings: Arc::new(settings), params }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let Params { law, .. } = Params::read(values);
        law.validation_error()
    }
}

impl LawParams {
    /// Whether rates are whole bits per second.
    fn is_whole(&self) -> bool {
        (self.variant, self.arithmetic) == (Variant::Compat, Arithmetic::Whole)
    }

    /// What rates in whole bits per second cannot go with.
    fn validation_error(&self) -> Option<String> {
        let must = |key: &str, be: &str| Some(format!("a law of whole rates has one form: `{key}` must be \"{be}\""));
        match (self.is_whole(), self.step, self.floor) {
            (true, Step::Flows, _) => must(Step::PARAM, Step::Rate.text()),
            (true, _, Floor::Power) => must(Floor::PARAM, Floor::Current.text()),
            _ => None,
        }
    }
}

impl PowerTcp {
    fn window(&self, of: &FlowFacts) -> Rp {
        Rp {
            law: Law::new(&self.settings, &self.params.law, of),
            previous: Previous::default(),
            paths: of.spread.then(Box::default),
        }
    }
}

impl Scheme for PowerTcp {
    silent_receiver!(());
    type Cp = IntPoint;
    type Rp = Form<Rp>;

    fn congestion_point(&self, at: &QueueFacts) -> IntPoint {
        let point = IntPoint::new(self.settings.precision, at);
        if self.params.int_bytes == IntBytes::Arrived { point.counting_arrivals() } else { point }
    }

    fn reaction_point(&self, of: &FlowFacts) -> Form<Rp> {
        let Params { law, whole, eta, sample_feedback, .. } = &self.params;
        if !law.is_whole() {
            return Form::Window(self.window(of));
        }
        let signal = whole::Signal::telemetry(self.settings.precision, *sample_feedback);
        Form::Whole(Box::new(whole::Rp::new(law, whole, *eta, signal, of)))
    }

    /// Section 5: the header of HPCC.
    fn format(&self) -> Format {
        int::format(self.settings.precision)
    }
}

/// A flow's window, or its rate in whole bits per second.
#[derive(Clone, Debug)]
pub enum Form<W> {
    /// Real numbers.
    Window(W),
    /// Boxed: it keeps the records of a whole path.
    Whole(Box<whole::Rp>),
}

impl<W: ReactionPoint<Feedback = ()>> ReactionPoint for Form<W> {
    type Feedback = ();

    delegate_reaction_point! { #[inline] self { Form::Window(rp) => *rp; Form::Whole(rp) => **rp; } }
}

/// Window and pacing of one flow, from telemetry.
#[derive(Clone, Debug)]
pub struct Rp {
    law: Law,
    /// prevINT
    previous: Previous,
    /// Records and smoothed power of each path of a flow that has several.
    paths: Option<Box<PathMemory<(IntStack, f64)>>>,
}

impl Rp {
    /// For schemes that run the law over a part of a path: see [`Rp::on_telemetry`]. Rates are line,
    /// initial, least and step.
    pub(crate) fn over(settings: &Arc<Settings>, tau: Span, rates_bps: [f64; 4]) -> Rp {
        Rp { law: Law::over(settings, tau, rates_bps), previous: Previous::default(), paths: None }
    }

    /// Telemetry has come back; `round_passed` says that what it tells of was sent after the last
    /// time it was true.
    #[inline]
    pub(crate) fn on_telemetry(&mut self, stack: &IntStack, round_passed: bool) {
        let measured = self.power(stack);
        self.previous.replace(stack);
        if let Some((power, elapsed_ps)) = measured {
            let tau_ps = self.law.tau_ps;
            self.law.smooth(power, elapsed_ps, tau_ps);
            self.law.set_window(round_passed);
        }
    }

    /// Section 2: the highest normalised power of a hop, and the picoseconds it was measured over.
    /// `None` at the first ACK, after a change of path and where no time has passed (section 6).
    #[inline]
    fn power(&self, stack: &IntStack) -> Option<(f64, f64)> {
        self.law.power_since(stack, self.previous.of(stack)?)
    }

    /// Telemetry of one of several paths has come back: each path is compared with itself, and the highest smoothed power
    /// of those with an ACK within a round trip counts.
    #[cold]
    #[inline(never)]
    fn on_telemetry_of_path(&mut self, now: Time, stack: &IntStack, round_passed: bool) {
        let Rp { law, paths: Some(paths), .. } = self else { return };
        let tau = Span::from_ps(law.tau_ps as u64);
        paths.forget(now, tau * FORGOTTEN_AFTER);
        let path = u32::from(stack.path()) | (stack.hops().len() as u32) << 16;
        let Some((records, smoothed)) = paths.of(path, now) else {
            paths.add(path, now, (*stack, 1.0));
            return;
        };
        let measured = law.power_since(stack, records.hops());
        records.take_records(stack);
        let Some((power, elapsed_ps)) = measured else { return };
        law.smoothed = *smoothed;
        law.smooth(power, elapsed_ps, law.tau_ps);
        *smoothed = law.smoothed;
        law.smoothed = paths.acked_within(now, tau).map(|(_, smoothed)| *smoothed).fold(0.0, f64::max);
        law.set_window(round_passed);
    }
}

impl Law {
    /// The highest normalised power of a hop between two records of a path, and the picoseconds it was measured over.
    #[inline]
    fn power_since(&self, stack: &IntStack, previous: &[IntHop]) -> Option<(f64, f64)> {
        let settings = &*self.settings;
        let per_tau = 1.0 / self.tau_ps;
        let (mut highest, mut elapsed_ps) = (f64::NEG_INFINITY, 0.0);
        for (new, old) in stack.hops().iter().zip(previous) {
            let (ps, tx_bytes) = settings.precision.between(new, old);
            if ps == 0 {
                continue;
            }
            let (ps, per_byte_ps) = (ps as f64, 8e12 / new.rate.bps() as f64);
            let (queue, before) = (new.queue_bytes as f64, old.queue_bytes as f64);
            // lambda / b. What a port sent plus what its queue gained is what it received, so this is
            // the public implementation's arrival rate as well.
            let current = (queue - before + tx_bytes as f64) / ps * per_byte_ps;
            // nu / (b tau) = (q + b tau) / (b tau)
            let voltage = queue * per_byte_ps * per_tau + 1.0;
            let power = current.max(settings.current_min) * voltage;
            if power > highest {
                (highest, elapsed_ps) = (power, ps);
            }
        }
        (elapsed_ps > 0.0).then(|| (highest.max(settings.power_min), elapsed_ps))
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
        let Some(stack) = ack.int else { return };
        let round_passed = self.law.round_passed(ack);
        match self.paths {
            None => self.on_telemetry(stack, round_passed),
            Some(_) => self.on_telemetry_of_path(ack.now, stack, round_passed),
        }
        if round_passed {
            self.law.round_ends_bytes = ack.sent_bytes;
        }
    }

    fn increases(&self) -> u32 {
        self.law.increases
    }
}

#[cfg(test)]
mod tests;
