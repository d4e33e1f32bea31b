//! Swift: delay is simple and effective for congestion control (Kumar et al., SIGCOMM 2020).
//!
//! A window that grows while the round trip is below a target and is cut in proportion to what it
//! is above. The target grows with the number of hops, and as the window shrinks, so that many
//! small windows still find room. Windows below one packet are paced.
//!
//! | symbol | parameter | default | source |
//! |---|---|---|---|
//! | ai | `ai` | 1 packet | paper; htsim |
//! | beta | `beta` | 0.8 | paper; htsim |
//! | max_mdf | `max_mdf` | 0.5 | paper; htsim |
//! | base target | `base_target`, `base_slack` | 25 us, 10 us | assumption: paper-scale; htsim 20 us |
//! | hbar | `hop_scaling` | 1 us | assumption; htsim 3.05 us |
//! | fs_range | `fs_range` | 5 base targets | htsim |
//! | fs_min_cwnd, fs_max_cwnd | `fs_min_cwnd`, `fs_max_cwnd` | 0.1, 100 | htsim; paper |
//! | min_cwnd, max_cwnd | `min_cwnd`, `max_bdp` | 0.001, 2 BDP | assumption |
//! | RETX_RESET_THRESHOLD | `reset_after` | 5 | htsim |
//!
//! The endpoint's window is an option (`endpoint`): hosts here have no stack in which to queue.

mod spec;

use crate::Configured;
use crate::param::{ParamValues, SchemeSpec};
use crate::parts::round_trip::{round_trip, stamped};
use crate::parts::sender_alone;
use std::sync::Arc;
use xoff_engine::Time;
use xoff_fabric::scheme::*;

/// A configured Swift.
#[derive(Clone, Debug)]
pub struct Swift {
    values: ParamValues,
    settings: Arc<Settings>,
}

/// What all flows of a run share.
#[derive(Clone, Debug)]
struct Settings {
    ai: f64,
    beta: f64,
    max_mdf: f64,
    min_cwnd: f64,
    rtt_gain: f64,
    reset_after: u32,
    pace_always: bool,
}

/// The delay at which a window neither grows nor shrinks (section 3), in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// base + hops x hbar
    fixed_ps: f64,
    /// fs = clamp(A / sqrt(cwnd) + B, 0, fs_range)
    a_ps: f64,
    b_ps: f64,
    range_ps: f64,
}

impl Target {
    fn new(values: &ParamValues, of: &FlowFacts) -> Target {
        // Section 5: the base target must exceed the longest unloaded round trip.
        let (base, longest) = (values.time("base_target"), of.max_base_rtt.max(of.base_rtt));
        let base = if base > longest { base } else { longest + values.time("base_slack") };
        let range_ps = values.number("fs_range") * base.ps() as f64;
        let (least, most) = (values.number("fs_min_cwnd"), values.number("fs_max_cwnd"));
        let a_ps = range_ps / (1.0 / least.sqrt() - 1.0 / most.sqrt());
        Target {
            fixed_ps: (base + values.time("hop_scaling") * u64::from(of.hops)).ps() as f64,
            a_ps,
            b_ps: -a_ps / most.sqrt(),
            range_ps,
        }
    }

    #[inline]
    fn at(&self, cwnd: f64) -> f64 {
        self.fixed_ps + (self.a_ps / cwnd.sqrt() + self.b_ps).clamp(0.0, self.range_ps)
    }
}

impl Configured for Swift {
    const SPEC: SchemeSpec = spec::SPEC;

    fn configure(values: &ParamValues) -> Swift {
        let settings = Settings {
            ai: values.number("ai"),
            beta: values.number("beta"),
            max_mdf: values.number("max_mdf"),
            min_cwnd: values.number("min_cwnd"),
            rtt_gain: values.number("rtt_gain"),
            reset_after: values.count("reset_after") as u32,
            pace_always: values.choice("pacing") == "always",
        };
        Swift { values: values.clone(), settings: Arc::new(settings) }
    }

    fn objection(values: &ParamValues) -> Option<String> {
        let (least, most) = (values.number("fs_min_cwnd"), values.number("fs_max_cwnd"));
        (least >= most).then(|| format!("`fs_min_cwnd` ({least}) must be below `fs_max_cwnd` ({most})"))
    }
}

impl Scheme for Swift {
    sender_alone!();
    type Rp = Rp;

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let line_bps = of.line_rate.bps() as f64;
        let mtu_bytes = f64::from(of.mtu_bytes.max(1));
        let base = round_trip(&self.values, of);
        // Section 5: bounds and start in units of the BDP at line rate, in packets.
        let bdp = line_bps * base.ps() as f64 / 8e12 / mtu_bytes;
        let max_cwnd = (self.values.number("max_bdp") * bdp).max(1.0);
        let initial = match self.values.choice("initial") {
            "packets" => self.values.count("initial_packets") as f64,
            _ => (bdp * of.initial_rate.bps() as f64 / line_bps).max(1.0),
        };
        let window = Window { cwnd: initial.clamp(self.settings.min_cwnd, max_cwnd), decreased: None };
        let endpoint = self.values.flag("endpoint").then(|| {
            let target_ps = self.values.time("endpoint_target").ps() as f64;
            Box::new(Endpoint { window, target_ps, delay_ps: of.ack_delay.ps() as f64 })
        });
        Rp {
            fabric: window,
            endpoint,
            target: Target::new(&self.values, of),
            max_cwnd,
            rtt_ps: base.ps() as f64,
            mtu_bytes,
            per_mtu: 1.0 / mtu_bytes,
            wire_bits: f64::from(of.mtu_wire_bytes) * 8.0,
            line_bps,
            min_bps: self.values.rate("rate_min").at(of.line_rate).clamp(1.0, line_bps),
            timeouts: 0,
            increases: 0,
            settings: self.settings.clone(),
        }
    }

    /// Section 2: the sender's time stamp and its echo, and the receiver's delay if it is reported.
    fn format(&self) -> Format {
        let mut format = stamped();
        format.ack_bytes += if self.values.flag("endpoint") { 8 } else { 0 };
        format
    }
}

/// One of the two windows, in packets (section 4).
#[derive(Clone, Copy, Debug)]
struct Window {
    cwnd: f64,
    /// t_last_decrease
    decreased: Option<Time>,
}

/// The window that the receiver's delay drives (section 1).
#[derive(Clone, Copy, Debug)]
struct Endpoint {
    window: Window,
    target_ps: f64,
    delay_ps: f64,
}

impl Window {
    /// At most one decrease per round trip.
    #[inline]
    fn may_fall(&self, now: Time, rtt_ps: f64) -> bool {
        self.decreased.is_none_or(|at| now.saturating_since(at).ps() as f64 >= rtt_ps)
    }

    #[inline]
    fn set(&mut self, now: Time, cwnd: f64, least: f64, most: f64) {
        let before = std::mem::replace(&mut self.cwnd, cwnd.clamp(least, most));
        if self.cwnd < before {
            self.decreased = Some(now);
        }
    }

    /// Section 4, per ACK.
    #[inline]
    fn on_ack(&mut self, now: Time, sample: &Sample, settings: &Settings, most: f64) {
        let Sample { delay_ps, target_ps, rtt_ps, acked } = *sample;
        let cwnd = if delay_ps < target_ps {
            self.cwnd + settings.ai * acked / self.cwnd.max(1.0)
        } else if self.may_fall(now, rtt_ps) {
            let excess = settings.beta * (delay_ps - target_ps) / delay_ps.max(1.0);
            self.cwnd * (1.0 - excess).max(1.0 - settings.max_mdf)
        } else {
            return;
        };
        self.set(now, cwnd, settings.min_cwnd, most);
    }

    /// Section 4, losses: a cut by the most one step may take, or all the way down.
    fn on_loss(&mut self, now: Time, rtt_ps: f64, reset: bool, settings: &Settings, most: f64) {
        if reset {
            self.set(now, settings.min_cwnd, settings.min_cwnd, most);
        } else if self.may_fall(now, rtt_ps) {
            self.set(now, self.cwnd * (1.0 - settings.max_mdf), settings.min_cwnd, most);
        }
    }
}

/// What one ACK says.
#[derive(Clone, Copy, Debug)]
struct Sample {
    delay_ps: f64,
    target_ps: f64,
    rtt_ps: f64,
    /// num_acked
    acked: f64,
}

/// Windows and pacing of one flow.
#[derive(Clone, Debug)]
pub struct Rp {
    settings: Arc<Settings>,
    /// fcwnd
    fabric: Window,
    /// ecwnd
    endpoint: Option<Box<Endpoint>>,
    target: Target,
    max_cwnd: f64,
    rtt_ps: f64,
    mtu_bytes: f64,
    per_mtu: f64,
    wire_bits: f64,
    line_bps: f64,
    min_bps: f64,
    /// retransmit_cnt
    timeouts: u32,
    increases: u32,
}

impl Rp {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.endpoint.as_ref().map_or(self.fabric.cwnd, |endpoint| endpoint.window.cwnd.min(self.fabric.cwnd))
    }
}

impl ReactionPoint for Rp {
    type Feedback = ();

    /// Whole packets in flight; below one, a packet every rtt / cwnd (section 4).
    #[inline]
    fn limits(&self) -> Limits {
        let cwnd = self.cwnd();
        let rate_bps = if cwnd < 1.0 || self.settings.pace_always {
            (cwnd * self.wire_bits * 1e12 / self.rtt_ps).clamp(self.min_bps, self.line_bps)
        } else {
            self.line_bps
        };
        Limits { rate_bps, window_bytes: (cwnd.max(1.0).floor() * self.mtu_bytes) as u64 }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        let settings = &*self.settings;
        let rtt_ps = (ack.rtt.ps() as f64).max(1.0);
        self.rtt_ps += settings.rtt_gain * (rtt_ps - self.rtt_ps);
        self.timeouts = 0;
        let mut sample = Sample {
            delay_ps: rtt_ps,
            target_ps: self.target.at(self.fabric.cwnd),
            rtt_ps: self.rtt_ps,
            acked: ack.bytes as f64 * self.per_mtu,
        };
        if let Some(endpoint) = &mut self.endpoint {
            // Section 1: what the receiver took is not the fabric's, and has a window of its own.
            let own = Sample { delay_ps: endpoint.delay_ps, target_ps: endpoint.target_ps, ..sample };
            endpoint.window.on_ack(ack.now, &own, settings, self.max_cwnd);
            sample.delay_ps = (rtt_ps - endpoint.delay_ps).max(1.0);
        }
        self.fabric.on_ack(ack.now, &sample, settings, self.max_cwnd);
        // Counted at the largest window too: the law found room, whatever else holds the flow back.
        self.increases = self.increases.wrapping_add(u32::from(sample.delay_ps < sample.target_ps));
    }

    fn on_loss(&mut self, now: Time, loss: Loss) {
        let reset = loss == Loss::Timeout && {
            self.timeouts = self.timeouts.saturating_add(1);
            self.timeouts >= self.settings.reset_after
        };
        self.fabric.on_loss(now, self.rtt_ps, reset, &self.settings, self.max_cwnd);
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.window.on_loss(now, self.rtt_ps, reset, &self.settings, self.max_cwnd);
        }
    }

    fn increases(&self) -> u32 {
        self.increases
    }
}

#[cfg(test)]
mod tests;
