//! TIMELY: RTT-based congestion control (Mittal et al., SIGCOMM 2015), and its patched form (Zhu et
//! al., *ECN or Delay*, CoNEXT 2016).
//!
//! No help from switches: the sender raises or cuts its rate by the gradient of its round-trip
//! times, and by their length outside a band. The patched form weighs both inside the band, which
//! gives it a unique fixed point.

mod burst;
mod spec;

pub use spec::{Common, DMinFrom, Pacing, Params, Stages, Update, Window, patched};

use crate::Configured;
use crate::param::{ParamValues, RateValue, SchemeSpec};
use crate::parts::path_memory::PathMemory;
use crate::parts::round_trip::stamped;
use crate::parts::rounding::Rounding;
use crate::parts::sender_alone;
use burst::Burst;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::*;

/// TIMELY as published.
pub type Timely = Configuration<false>;
/// TIMELY with the patch that gives it a fixed point.
pub type PatchedTimely = Configuration<true>;

/// A configured TIMELY, of either form.
#[derive(Clone, Debug)]
pub struct Configuration<const PATCHED: bool> {
    settings: Arc<Settings>,
}

/// What all flows of a run share.
#[derive(Clone, Debug)]
struct Settings {
    common: Common,
    law: Law,
    beta: f64,
    /// Bytes of a segment; `None` updates once per round trip.
    segment_bytes: Option<u64>,
    delta_hai: RateValue,
    echo_bytes: u32,
    rounding: Rounding,
    times: Times,
}

/// What samples are compared with.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Unit of a sample: whole nanoseconds where the last bit of a rate counts.
    unit_ps: f64,
    /// In that unit.
    t_low: f64,
    t_high: f64,
    d_min_units: f64,
    per_d_min: f64,
    d_min: Span,
}

/// What happens inside the band (sections 4 and 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Law {
    Original(Stages),
    /// The authors' published snippet: what is not a cut by the gradient is smaller the sooner after
    /// the last update it comes, no step more than halves the rate, and round trips that fall count
    /// towards the larger step.
    Snippet,
    Patched,
}

/// Increases in a row before steps become larger.
const HYPER_AFTER: u32 = 5;

impl Params {
    fn settings(self) -> Settings {
        let rounding = self.rounding.rounding;
        Settings {
            law: if self.snippet { Law::Snippet } else { Law::Original(self.stages) },
            beta: self.beta,
            segment_bytes: match self.update {
                Update::RoundTrip => None,
                Update::Segment => Some(self.segment.max(1)),
            },
            delta_hai: self.delta_hai,
            echo_bytes: self.echo_bytes as u32,
            rounding,
            times: Times::new(&self.common, rounding, self.common.d_min),
            common: self.common,
        }
    }
}

impl patched::Params {
    fn settings(self) -> Settings {
        Settings {
            law: Law::Patched,
            beta: self.beta,
            segment_bytes: match self.update {
                patched::Update::RoundTrip => None,
                patched::Update::Segment => Some(self.segment.max(1)),
            },
            // It knows no larger step.
            delta_hai: self.common.delta,
            echo_bytes: stamped().ack_bytes,
            rounding: Rounding::None,
            times: Times::new(&self.common, Rounding::None, self.common.d_min),
            common: self.common,
        }
    }
}

impl Settings {
    /// Those of one flow: only its path says what its D_min is.
    fn on_path(&self, base_rtt: Span) -> Settings {
        Settings { times: Times::new(&self.common, self.rounding, base_rtt), ..self.clone() }
    }
}

impl Times {
    fn new(common: &Common, rounding: Rounding, d_min: Span) -> Times {
        let unit_ps = match rounding {
            Rounding::None => 1,
            Rounding::Bps => 1000,
        };
        let units = |span: Span| (span.ps() / unit_ps) as f64;
        let d_min = d_min.max(Span::from_ns(1));
        Times {
            unit_ps: unit_ps as f64,
            t_low: units(common.t_low).max(1.0),
            t_high: units(common.t_high),
            d_min_units: units(d_min),
            per_d_min: 1.0 / d_min.ps() as f64,
            d_min,
        }
    }
}

impl<const PATCHED: bool> Configured for Configuration<PATCHED> {
    const SPEC: SchemeSpec = if PATCHED { spec::PATCHED } else { spec::TIMELY };

    fn configure(values: &ParamValues) -> Self {
        let settings = if PATCHED { patched::Params::read(values).settings() } else { Params::read(values).settings() };
        Configuration { settings: Arc::new(settings) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let Common { t_low: low, t_high: high, .. } = Common::read(values);
        (low > high).then(|| format!("t_low ({} us) is above t_high ({} us)", low.as_us(), high.as_us()))
    }
}

impl<const PATCHED: bool> Scheme for Configuration<PATCHED> {
    sender_alone!();
    type Rp = Rp;

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let line_bps = of.line_rate.bps() as f64;
        let settings = match self.settings.common.d_min_from {
            DMinFrom::Fixed => self.settings.clone(),
            DMinFrom::BaseRtt => Arc::new(self.settings.on_path(of.base_rtt)),
        };
        let rate = |rate: RateValue| settings.rounding.given(rate.at(of.line_rate));
        let min_bps = rate(settings.common.rate_min).clamp(1.0, line_bps);
        let burst = match (settings.segment_bytes, settings.common.pacing) {
            (Some(bytes), Pacing::Burst) => {
                let packets = bytes.div_ceil(u64::from(of.mtu_bytes).max(1)).min(u64::from(u32::MAX));
                Some(Box::new(Burst::new(packets as u32, line_bps)))
            }
            (Some(_), Pacing::Packet) | (None, _) => None,
        };
        Rp {
            rate_bps: (of.initial_rate.bps() as f64).clamp(min_bps, line_bps),
            line_bps,
            min_bps,
            delta_bps: rate(settings.common.delta),
            hyper_bps: rate(settings.delta_hai),
            bdp_bytes: of.line_rate.bytes_in(of.max_base_rtt.max(of.base_rtt)) as f64,
            previous: None,
            paths: of.spread.then(Box::default),
            difference: 0.0,
            next_update_bytes: 0,
            updated: of.start,
            // A segment's last packet was sent back to back with its first: what it took to send is
            // all that the sample of a burst counts too much (section 2).
            own_ps: if burst.is_some() { f64::from(of.mtu_wire_bytes) * 8e12 / line_bps } else { 0.0 },
            burst,
            stage: 0,
            increases: 0,
            settings,
        }
    }

    /// Section 2: a time stamp of 8 B, and its echo.
    fn format(&self) -> Format {
        Format { ack_bytes: self.settings.echo_bytes, ..stamped() }
    }
}

/// The rate of one flow.
#[derive(Clone, Debug)]
pub struct Rp {
    settings: Arc<Settings>,
    rate_bps: f64,
    line_bps: f64,
    min_bps: f64,
    delta_bps: f64,
    hyper_bps: f64,
    bdp_bytes: f64,
    /// prev_rtt, in the unit of samples.
    previous: Option<f64>,
    /// prev_rtt of each path of a flow that has several.
    paths: Option<Box<PathMemory<f64>>>,
    /// rtt_diff
    difference: f64,
    /// Acknowledged bytes at (segments) or beyond (rounds) which the next update is due.
    next_update_bytes: u64,
    updated: Time,
    /// Subtracted from samples.
    own_ps: f64,
    burst: Option<Box<Burst>>,
    /// neg_count: increases in a row.
    stage: u32,
    increases: u32,
}

impl Rp {
    /// The sample before, of the same path. What is new of a path, but not of the flow, tells of no difference.
    #[inline]
    fn replace_previous(&mut self, now: Time, rtt: f64, path: u16) -> Option<f64> {
        let before = self.previous.replace(rtt);
        match &mut self.paths {
            None => before,
            Some(paths) => paths.replace(path.into(), now, rtt).or(before.map(|_| rtt)),
        }
    }

    /// A sample: sections 4 and 5.
    fn update(&mut self, now: Time, rtt: f64, path: u16) {
        let elapsed = now.saturating_since(self.updated);
        self.updated = now;
        let before = self.replace_previous(now, rtt, path);
        let settings = &*self.settings;
        let (law, rounding) = (settings.law, settings.rounding);
        let (previous, elapsed) = match (before, law) {
            (Some(previous), _) => (previous, elapsed),
            // The snippet takes the first sample for a difference of nothing, long after the last.
            (None, Law::Snippet) => (rtt, settings.times.d_min),
            // Section 7: the first sample is only stored.
            (None, _) => return,
        };
        let gain = settings.common.gain;
        self.difference = (1.0 - gain) * self.difference + gain * (rtt - previous);
        let gradient = match rounding {
            Rounding::None => self.difference * settings.times.per_d_min,
            Rounding::Bps => self.difference / settings.times.d_min_units,
        };
        let before = self.rate_bps;
        let rate = match law {
            Law::Original(stages) => self.original(stages, rtt, gradient),
            Law::Snippet => self.snippet(elapsed, rtt, rtt < previous, gradient),
            Law::Patched => self.patched(rtt, gradient),
        };
        // Counted at line rate too: the law found room, whatever else holds the flow back.
        self.increases = self.increases.wrapping_add(u32::from(rate > before));
        self.rate_bps = rounding.keep(rate).clamp(self.min_bps, self.line_bps);
        if let Some(burst) = &mut self.burst {
            burst.set_rate(self.rate_bps, self.line_bps);
        }
    }

    /// Section 4.
    fn original(&mut self, stages: Stages, rtt: f64, gradient: f64) -> f64 {
        let Settings { beta, times: Times { t_low, t_high, .. }, .. } = *self.settings;
        let below = rtt < t_low;
        if below || (rtt <= t_high && gradient <= 0.0) {
            // Cases 1 and 3.
            return self.rate_bps + self.step(stages, below);
        }
        // Cases 2 and 4; a decrease of either kind ends the row.
        self.stage = 0;
        let excess = if rtt > t_high { 1.0 - t_high / rtt } else { gradient };
        self.rate_bps * (1.0 - beta * excess).max(0.0)
    }

    /// The published snippet. `falling`: this round trip is shorter than the last, whatever the
    /// smoothed gradient says.
    fn snippet(&mut self, elapsed: Span, rtt: f64, falling: bool, gradient: f64) -> f64 {
        let Settings { beta, times: Times { t_low, t_high, per_d_min, .. }, .. } = *self.settings;
        self.stage = if falling { self.stage.saturating_add(1) } else { 0 };
        let scale = (elapsed.ps() as f64 * per_d_min).min(1.0);
        let rate = if rtt < t_low {
            self.rate_bps + self.delta_bps * scale
        } else if rtt > t_high {
            self.rate_bps * (1.0 - beta * (1.0 - t_high / rtt) * scale)
        } else if gradient <= 0.0 {
            let step_bps = if self.stage >= HYPER_AFTER { self.hyper_bps } else { self.delta_bps };
            self.rate_bps + step_bps * scale
        } else {
            // Smoothed over many samples already, so not by the time of this one.
            self.rate_bps * (1.0 - beta * gradient)
        };
        rate.max(self.rate_bps / 2.0)
    }

    /// Section 5, with T_ref = T_low.
    fn patched(&self, rtt: f64, gradient: f64) -> f64 {
        let Settings { beta, times: Times { t_low, t_high, .. }, .. } = *self.settings;
        if rtt < t_low {
            self.rate_bps + self.delta_bps
        } else if rtt > t_high {
            self.rate_bps * (1.0 - beta * (1.0 - t_high / rtt))
        } else {
            let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
            let error = (rtt - t_low) / t_low;
            self.delta_bps * (1.0 - weight) + self.rate_bps * (1.0 - beta * weight * error)
        }
    }

    /// The step of an increase, and what it adds to the row. `below`: case 1.
    fn step(&mut self, stages: Stages, below: bool) -> f64 {
        let hyper = match stages {
            // The paper leaves its count alone in case 1, and looks at it after counting.
            Stages::Gradient if below => false,
            Stages::Gradient => {
                self.stage = self.stage.saturating_add(1);
                self.stage >= HYPER_AFTER
            }
            Stages::Every => {
                self.stage = self.stage.saturating_add(1);
                self.stage > HYPER_AFTER
            }
        };
        if hyper { self.hyper_bps } else { self.delta_bps }
    }
}

impl ReactionPoint for Rp {
    type Feedback = ();

    #[inline]
    fn limits(&self) -> Limits {
        let window_bytes = match self.settings.common.window {
            Window::None => u64::MAX,
            Window::Variable => (self.bdp_bytes * self.rate_bps / self.line_bps).max(1.0) as u64,
        };
        Limits { rate_bps: self.burst.as_ref().map_or(self.rate_bps, |burst| burst.pace_bps()), window_bytes }
    }

    #[inline]
    fn on_sent(&mut self, now: Time, wire_bytes: u32) {
        if let Some(burst) = &mut self.burst {
            burst.on_sent(now, wire_bytes, self.rate_bps, self.line_bps);
        }
    }

    /// Section 3: once per segment, or once per round trip.
    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        match self.settings.segment_bytes {
            None if ack.acked_bytes > self.next_update_bytes => self.next_update_bytes = ack.sent_bytes,
            // The first segment ends with its last byte; before it nothing is due.
            Some(segment) if ack.acked_bytes >= self.next_update_bytes.max(segment) => {
                self.next_update_bytes = (ack.acked_bytes / segment + 1) * segment;
            }
            _ => return,
        }
        let rtt_ps = (ack.rtt.ps() as f64 - self.own_ps).max(1.0);
        let rtt = match self.settings.rounding {
            Rounding::None => rtt_ps,
            Rounding::Bps => (rtt_ps / self.settings.times.unit_ps).floor(),
        };
        self.update(ack.now, rtt, ack.path);
    }

    fn variables(&self, _: Time, out: &mut dyn FnMut(&'static Variable, f64)) {
        out(&spec::RTT_GRADIENT, self.difference / self.settings.times.d_min_units);
        // There is none before the first sample.
        if let Some(rtt) = self.previous {
            out(&spec::RTT, rtt * self.settings.times.unit_ps / 1e6);
        }
    }

    fn increases(&self) -> u32 {
        self.increases
    }
}

#[cfg(test)]
mod tests;
