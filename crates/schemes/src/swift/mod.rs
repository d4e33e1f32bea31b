//! Swift: delay is simple and effective for congestion control (Kumar et al., SIGCOMM 2020).
//!
//! A window that grows while the round trip is below a target and is cut in proportion to what it
//! is above. The target grows with the number of hops, and as the window shrinks, so that many
//! small windows still find room. Windows below one packet are paced.
//!
//! The endpoint's window is an option (`endpoint`): hosts here have no stack in which to queue.

use crate::Configured;
use crate::param::{ParamValues, Preset, SchemeSpec, params, presets};
use crate::parts::round_trip::{self, stamped};
use crate::parts::sender_alone;
use std::sync::Arc;
use xoff_engine::Time;
use xoff_fabric::scheme::*;

params! {
    /// Symbols are the paper's and htsim's.
    pub struct Params {
        /// packets the window grows by per round trip
        ai "ai": Number(0.0..=1000.0) = "1", from "paper; htsim";
        /// strength of a decrease
        beta "beta": Number(0.0..=1.0) = "0.8", from "paper; htsim";
        /// most that one decrease takes
        max_mdf "max_mdf": Number(0.0..=0.99) = "0.5", from "paper; htsim";
        /// target delay without hops and small windows
        base_target: Time = "25us", from "assumption: the paper's scale; htsim has 20 us";
        /// above the longest base round trip, where that is not below base_target
        base_slack: Time = "10us", from "assumption: the target must exceed the unloaded round trip";
        /// added to the target per switch
        hop_scaling "hbar": Time = "1us", from "assumption; htsim has base / 6.55";
        /// most that a small window adds to the target, in base targets
        fs_range "fs_range": Number(0.0..=1000.0) = "5", from "htsim";
        /// window, in packets, at and below which the target is longest
        fs_min_cwnd "fs_min_cwnd": Number(1e-6..=1e6) = "0.1", from "paper; htsim";
        /// window, in packets, at and above which the target is shortest
        fs_max_cwnd "fs_max_cwnd": Number(1e-6..=1e6) = "100", from "paper; htsim";
        /// least window, in packets
        min_cwnd "min_cwnd": Number(1e-6..=1.0) = "0.001", from "assumption";
        /// largest window, in BDPs at line rate
        max_bdp "max_cwnd": Number(0.01..=1e6) = "2", from "assumption";
        /// first window: one BDP at line rate, or a number of packets
        initial: Initial { Bdp = "bdp", Packets = "packets" } = "bdp",
            from "assumption: starts at line rate like other RDMA schemes; htsim: packets";
        /// first window in packets
        initial_packets: Count(1..=1_000_000) = "12" if Initial::Packets, from "htsim";
        /// weight of the newest sample in the round trip that spaces decreases and packets
        rtt_gain: Number(0.001..=1.0) = "1", from "assumption: the last sample; htsim smooths";
        /// windows of a packet and more follow ACKs, or are paced at cwnd / rtt too
        pacing: Pacing { BelowOne = "below-one", Always = "always" } = "below-one",
            from "paper; pacing above one packet is its option";
        /// floor of the pace
        rate_min "R_min": Rate = "1Mbps",
            from "assumption: the least windows still send within the retransmission timeout";
        /// timeouts in a row after which the window falls to its least
        reset_after "RETX_RESET_THRESHOLD": Count(1..=1000) = "5", from "htsim";
        /// a second window for the receiver's delay, which ACKs then report
        endpoint "ecwnd": Flag = "false", from "paper; off by assumption: hosts have no stack in which to queue";
        /// target of the receiver's delay
        endpoint_target: Time = "100us" if endpoint, from "assumption: the paper's scale";
        ..round_trip: round_trip::Params;
    }
}

const PRESETS: &[Preset] = presets! {
    "datacentre" from "SIGCOMM 2020 and htsim; targets are assumptions" {}
    "htsim" from "htsim's Swift: targets, first window, smoothed round trips (gain as RFC 6298's)" {
        base_target = "20us", hop_scaling = "3050ns", initial = "packets", rtt_gain = "1/8",
    }
};

#[derive(Clone, Debug)]
pub struct Swift {
    params: Arc<Params>,
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

const TARGET_DELAY: Variable = Variable {
    name: "target_delay",
    unit: "us",
    meaning: "Round trip that a flow is held at: base target, scaled by hops and by its window.",
};
const SMOOTHED_RTT: Variable =
    Variable { name: "smoothed_rtt", unit: "us", meaning: "Smoothed round trip: a window falls at most once in one." };
const CWND: Variable = Variable {
    name: "cwnd",
    unit: "packets",
    meaning: "Window in packets, of fabric and endpoint the smaller; below one it paces.",
};

impl Target {
    fn new(params: &Params, of: &FlowFacts) -> Target {
        // Section 5: the base target must exceed the longest unloaded round trip.
        let (base, longest) = (params.base_target, of.max_base_rtt.max(of.base_rtt));
        let base = if base > longest { base } else { longest + params.base_slack };
        let range_ps = params.fs_range * base.ps() as f64;
        let (least, most) = (params.fs_min_cwnd, params.fs_max_cwnd);
        let a_ps = range_ps / (1.0 / least.sqrt() - 1.0 / most.sqrt());
        Target {
            fixed_ps: (base + params.hop_scaling * u64::from(of.hops)).ps() as f64,
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
    const SPEC: SchemeSpec = SchemeSpec::new(
        "swift",
        "a window that holds the round trip at a target",
        "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM 2020",
        Params::TABLE,
        PRESETS,
    )
    .publishing(&[TARGET_DELAY, SMOOTHED_RTT, CWND]);

    fn configure(values: &ParamValues) -> Swift {
        Swift { params: Arc::new(Params::read(values)) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let Params { fs_min_cwnd: least, fs_max_cwnd: most, .. } = Params::read(values);
        (least >= most).then(|| format!("`fs_min_cwnd` ({least}) must be below `fs_max_cwnd` ({most})"))
    }
}

impl Scheme for Swift {
    sender_alone!();
    type Rp = Rp;

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let params = &self.params;
        let line_bps = of.line_rate.bps() as f64;
        let mtu_bytes = f64::from(of.mtu_bytes.max(1));
        let base = params.round_trip.of(of);
        // Section 5: bounds and start in units of the BDP at line rate, in packets.
        let bdp = line_bps * base.ps() as f64 / 8e12 / mtu_bytes;
        let max_cwnd = (params.max_bdp * bdp).max(1.0);
        let initial = match params.initial {
            Initial::Packets => params.initial_packets as f64,
            Initial::Bdp => (bdp * of.initial_rate.bps() as f64 / line_bps).max(1.0),
        };
        let window = Window { cwnd: initial.clamp(params.min_cwnd, max_cwnd), decreased: None };
        let endpoint = params.endpoint.then(|| {
            let target_ps = params.endpoint_target.ps() as f64;
            Box::new(Endpoint { window, target_ps, delay_ps: of.ack_delay.ps() as f64 })
        });
        Rp {
            fabric: window,
            endpoint,
            target: Target::new(params, of),
            max_cwnd,
            rtt_ps: base.ps() as f64,
            mtu_bytes,
            per_mtu: 1.0 / mtu_bytes,
            wire_bits: f64::from(of.mtu_wire_bytes) * 8.0,
            line_bps,
            min_bps: params.rate_min.at(of.line_rate).clamp(1.0, line_bps),
            timeouts: 0,
            increases: 0,
            params: params.clone(),
        }
    }

    /// Section 2: the sender's time stamp and its echo, and the receiver's delay if it is reported.
    fn format(&self) -> Format {
        let mut format = stamped();
        format.ack_bytes += if self.params.endpoint { 8 } else { 0 };
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
    fn on_ack(&mut self, now: Time, sample: &Sample, params: &Params, most: f64) {
        let Sample { delay_ps, target_ps, rtt_ps, acked } = *sample;
        let cwnd = if delay_ps < target_ps {
            self.cwnd + params.ai * acked / self.cwnd.max(1.0)
        } else if self.may_fall(now, rtt_ps) {
            let excess = params.beta * (delay_ps - target_ps) / delay_ps.max(1.0);
            self.cwnd * (1.0 - excess).max(1.0 - params.max_mdf)
        } else {
            return;
        };
        self.set(now, cwnd, params.min_cwnd, most);
    }

    /// Section 4, losses: a cut by the most one step may take, or all the way down.
    fn on_loss(&mut self, now: Time, rtt_ps: f64, reset: bool, params: &Params, most: f64) {
        if reset {
            self.set(now, params.min_cwnd, params.min_cwnd, most);
        } else if self.may_fall(now, rtt_ps) {
            self.set(now, self.cwnd * (1.0 - params.max_mdf), params.min_cwnd, most);
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
    params: Arc<Params>,
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
        let paced = match self.params.pacing {
            Pacing::BelowOne => cwnd < 1.0,
            Pacing::Always => true,
        };
        let rate_bps = if paced {
            (cwnd * self.wire_bits * 1e12 / self.rtt_ps).clamp(self.min_bps, self.line_bps)
        } else {
            self.line_bps
        };
        Limits { rate_bps, window_bytes: (cwnd.max(1.0).floor() * self.mtu_bytes) as u64 }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        let params = &*self.params;
        let rtt_ps = (ack.rtt.ps() as f64).max(1.0);
        self.rtt_ps += params.rtt_gain * (rtt_ps - self.rtt_ps);
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
            endpoint.window.on_ack(ack.now, &own, params, self.max_cwnd);
            sample.delay_ps = (rtt_ps - endpoint.delay_ps).max(1.0);
        }
        self.fabric.on_ack(ack.now, &sample, params, self.max_cwnd);
        // Counted at the largest window too: the law found room, whatever else holds the flow back.
        self.increases = self.increases.wrapping_add(u32::from(sample.delay_ps < sample.target_ps));
    }

    fn on_loss(&mut self, now: Time, loss: Loss, _bytes: u64) {
        let reset = loss == Loss::Timeout && {
            self.timeouts = self.timeouts.saturating_add(1);
            u64::from(self.timeouts) >= self.params.reset_after
        };
        self.fabric.on_loss(now, self.rtt_ps, reset, &self.params, self.max_cwnd);
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.window.on_loss(now, self.rtt_ps, reset, &self.params, self.max_cwnd);
        }
    }

    fn increases(&self) -> u32 {
        self.increases
    }

    fn variables(&self, _: Time, out: &mut dyn FnMut(&'static Variable, f64)) {
        out(&TARGET_DELAY, self.target.at(self.fabric.cwnd) / 1e6);
        out(&SMOOTHED_RTT, self.rtt_ps / 1e6);
        out(&CWND, self.cwnd());
    }
}

#[cfg(test)]
mod tests;
