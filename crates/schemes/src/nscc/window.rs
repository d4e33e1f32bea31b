//! NSCC's window, in wire bytes (UEC specification 1.0, 3.6.13).

use super::{Params, Rules};
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::{Acked, FlowFacts};

/// Constants of a flow (3.6.13.3). Delays are in picoseconds.
#[derive(Clone, Debug)]
pub(super) struct Law {
    rules: Rules,
    /// T, config_base_rtt
    pub base_rtt: Span,
    /// q*, target_qdelay
    pub target_ps: f64,
    /// alpha, per byte and picosecond
    pub alpha: f64,
    /// fi, per byte
    pub fi: f64,
    /// eta, bytes
    pub eta: f64,
    /// fi_scale, bytes per byte
    pub fi_scale: f64,
    gamma: f64,
    max_md_jump: f64,
    /// max_cwnd, in bandwidth-delay products of the base round trip.
    max_bdp: f64,
    line_bps: f64,
    /// Queueing delay of quick adapt.
    qa_threshold_ps: f64,
    qa_gate: u32,
    quick_adapt: bool,
    /// Bytes after which the window takes its gains.
    adjust_bytes: u64,
    delay_gain: f64,
    idle_ps: f64,
    /// A packet.
    mtu_bytes: u64,
}

impl Law {
    pub fn new(params: &Params, of: &FlowFacts) -> Law {
        let base_rtt = params.round_trip.of(of);
        let bytes_per_ps = of.line_rate.bps() as f64 / 8e12;
        let share = if of.trims { params.target_trimmed } else { params.target_dropped };
        let target_ps = share * base_rtt.ps() as f64;
        let a = bytes_per_ps * base_rtt.ps() as f64 / (params.reference_bdp as f64).max(1.0);
        let b = target_ps / (params.reference_delay.ps() as f64).max(1.0);
        let packet = f64::from(match params.rules {
            Rules::Uec => of.mtu_wire_bytes,
            Rules::Htsim => of.mtu_bytes,
        });
        Law {
            rules: params.rules,
            base_rtt,
            target_ps,
            alpha: params.alpha * packet * a * b / target_ps,
            fi: params.fi * packet * a,
            eta: params.eta * packet * a,
            fi_scale: params.fi_scale * a,
            gamma: params.gamma,
            max_md_jump: params.max_md_jump,
            max_bdp: params.max_bdp,
            line_bps: of.line_rate.bps() as f64,
            qa_threshold_ps: params.qa_threshold * target_ps,
            qa_gate: params.qa_gate as u32,
            quick_adapt: params.quick_adapt,
            adjust_bytes: params.adjust_packets * u64::from(of.mtu_wire_bytes),
            delay_gain: params.delay_gain,
            idle_ps: params.idle_delay.ps() as f64,
            mtu_bytes: u64::from(of.mtu_wire_bytes.max(1)),
        }
    }

    /// Returns whether a time that is allowed from `at` on has come; the simulator wants it to have passed.
    fn has_come(&self, now: Time, at: Time) -> bool {
        match self.rules {
            Rules::Uec => now >= at,
            Rules::Htsim => now > at,
        }
    }

    /// max_cwnd per picosecond of the base round trip.
    fn max_per_ps(&self) -> f64 {
        self.max_bdp * (self.line_bps / 8e12)
    }

    /// max_cwnd. The simulator cuts off a bandwidth-delay product to whole bytes, of which microseconds in binary
    /// fractions lose one now and then.
    fn most(&self, base_ps: f64) -> u64 {
        match self.rules {
            Rules::Uec => (self.max_per_ps() * base_ps) as u64,
            Rules::Htsim => (self.max_bdp * (base_ps / 1e6 * self.line_bps / 8e6).floor()) as u64,
        }
    }

    /// Whether nothing moves the window.
    pub fn is_constant(&self) -> bool {
        let gains = [self.alpha, self.fi, self.eta, self.fi_scale, self.gamma];
        !self.quick_adapt && gains.iter().all(|gain| *gain == 0.0)
    }

    pub fn mtu_bytes(&self) -> u64 {
        self.mtu_bytes
    }

    /// A sum of gains as it is stored.
    fn stored(&self, gains: f64) -> f64 {
        match self.rules {
            Rules::Uec => gains,
            Rules::Htsim => f64::from(gains as u64 as u32),
        }
    }
}

/// Window and what it follows from.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub law: Arc<Law>,
    /// cwnd; whole bytes, as in hardware
    pub cwnd: u64,
    /// inflight: what was sent and is neither acknowledged nor lost. It may fall below zero where copies arrive.
    pub in_flight: i64,
    /// base_rtt of this flow
    pub base_ps: f64,
    /// avg_delay
    pub mean_ps: f64,
    /// inc_bytes: gains to come, times the window
    pub gains: f64,
    /// Acknowledged since the window took its gains.
    pub received: u64,
    /// Acknowledged in this interval of quick adapt.
    pub achieved: u64,
    /// Acknowledged or lost since the last quick adapt; until it is `to_ignore`, marks are.
    pub ignored: u64,
    pub to_ignore: u64,
    /// fi_count: acknowledged without queueing delay
    pub idle: u64,
    /// The fast increase runs.
    pub fast: bool,
    /// A loss asks for quick adapt.
    pub trigger: bool,
    pub qa_end: Time,
    pub last_adjust: Time,
    pub last_decrease: Option<Time>,
    pub increases: u32,
}

impl Window {
    pub fn new(params: &Params, of: &FlowFacts) -> Window {
        let law = Law::new(params, of);
        let base_ps = law.base_rtt.ps() as f64;
        let start = law.max_per_ps() * base_ps * of.initial_rate.bps() as f64 / (of.line_rate.bps() as f64).max(1.0);
        Window {
            cwnd: (start as u64).max(law.mtu_bytes),
            in_flight: 0,
            base_ps,
            mean_ps: 0.0,
            gains: 0.0,
            received: 0,
            achieved: 0,
            ignored: 0,
            to_ignore: 0,
            idle: 0,
            fast: false,
            trigger: false,
            qa_end: Time::ZERO,
            last_adjust: if law.rules == Rules::Htsim { Time::ZERO } else { of.start },
            last_decrease: None,
            increases: 0,
            law: Arc::new(law),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.cwnd
    }

    pub fn mean_delay_ps(&self) -> f64 {
        self.mean_ps
    }

    pub fn base_ps(&self) -> f64 {
        self.base_ps
    }

    pub fn increases(&self) -> u32 {
        self.increases
    }

    /// max_cwnd
    pub fn most(&self) -> u64 {
        self.law.most(self.base_ps).max(self.law.mtu_bytes)
    }

    #[inline]
    pub fn on_sent(&mut self, wire_bytes: u64) {
        self.in_flight += wire_bytes as i64;
    }

    /// 3.6.13.4: an ACK for `bytes` that were not known to have arrived. A NAK brings its loss after this.
    #[inline]
    pub fn on_ack(&mut self, ack: &Acked<'_>, bytes: u64) {
        self.in_flight -= bytes as i64;
        self.received += bytes;
        self.achieved += bytes;
        self.ignored += bytes;
        let rtt_ps = ack.rtt.ps() as f64;
        if rtt_ps == 0.0 {
            return;
        }
        self.base_ps = self.base_ps.min(rtt_ps);
        if ack.nak {
            return;
        }
        let (delay_ps, marked) = (rtt_ps - self.base_ps, ack.ecn == Ecn::Ce);
        self.average(delay_ps, marked);
        // What quick adapt has settled is not adjusted.
        if !self.quick_adapt(ack.now, false, marked, delay_ps) {
            self.follow(ack.now, bytes as f64, marked, delay_ps);
            self.clamp();
            self.adjust(ack.now);
        }
        self.clamp();
    }

    /// Weighted mean of queueing delays. One that is long and without a mark is of a queue that has gone.
    pub fn average(&mut self, delay_ps: f64, marked: bool) {
        let long = !marked && delay_ps > self.law.target_ps;
        self.take_delay(if long { self.base_ps / 4.0 } else { delay_ps });
    }

    pub fn take_delay(&mut self, delay_ps: f64) {
        self.mean_ps = self.law.delay_gain * delay_ps + (1.0 - self.law.delay_gain) * self.mean_ps;
    }

    /// 3.6.13.5: the four cases of mark and delay.
    pub fn follow(&mut self, now: Time, bytes: f64, marked: bool, delay_ps: f64) {
        let law = &self.law;
        let above = delay_ps >= law.target_ps;
        match (marked, above) {
            (false, true) => self.gains = law.stored(self.gains + law.fi * bytes),
            (false, false) => {
                if !self.increase_fast(bytes, delay_ps) {
                    let law = &self.law;
                    self.gains = law.stored(self.gains + law.alpha * bytes * (law.target_ps - delay_ps));
                }
            }
            (true, true) => self.decrease(now),
            (true, false) => {}
        }
        self.increases = self.increases.wrapping_add(u32::from(!marked));
    }

    /// Without a queue for more than a window, the window grows with what is acknowledged.
    fn increase_fast(&mut self, bytes: f64, delay_ps: f64) -> bool {
        let idle = delay_ps < self.law.idle_ps;
        self.idle = if idle { self.idle + bytes as u64 } else { 0 };
        self.fast = idle && (self.fast || self.idle > self.cwnd);
        if self.fast {
            self.cwnd = (self.cwnd as f64 + self.law.fi_scale * bytes) as u64;
        }
        self.fast
    }

    /// At most once per base round trip, in proportion to what the mean delay is above its target.
    fn decrease(&mut self, now: Time) {
        (self.fast, self.idle) = (false, 0);
        let (mean, target) = (self.mean_ps, self.law.target_ps);
        let waited = self.last_decrease.is_none_or(|at| now.saturating_since(at).ps() as f64 > self.base_ps);
        if mean > target && waited {
            let factor = (1.0 - self.law.gamma * (mean - target) / mean).max(self.law.max_md_jump);
            self.cwnd = ((self.cwnd as f64 * factor) as u64).max(self.law.mtu_bytes);
            self.last_decrease = Some(now);
        }
    }

    /// Gains are taken after some packets, or a base round trip, which brings eta.
    pub fn adjust(&mut self, now: Time) {
        let due = self.last_adjust + self.law.base_rtt;
        if !self.law.has_come(now, due) && self.received <= self.law.adjust_bytes {
            return;
        }
        self.cwnd += (self.gains / self.cwnd as f64) as u64;
        if now >= due {
            self.cwnd = (self.cwnd as f64 + self.law.eta) as u64;
            self.last_adjust = now;
        }
        (self.gains, self.received) = (0.0, 0);
    }

    /// 3.6.13.6: every base round trip and target the window may fall to what arrived in it. Returns whether the case of
    /// mark and delay is settled by it.
    pub fn quick_adapt(&mut self, now: Time, lost: bool, marked: bool, delay_ps: f64) -> bool {
        if !self.law.quick_adapt {
            return false;
        }
        let mut done = false;
        if self.ignored < self.to_ignore && marked {
            done = true;
        } else if self.law.has_come(now, self.qa_end) {
            let asked = self.trigger || lost || delay_ps > self.law.qa_threshold_ps;
            // The first interval begins with the first answer.
            if self.qa_end != Time::ZERO && asked && self.achieved < self.most() >> self.law.qa_gate {
                self.cwnd = self.achieved.max(self.law.mtu_bytes);
                self.to_ignore = match self.law.rules {
                    Rules::Uec => self.in_flight.max(0) as u64,
                    // A number of 32 bits without a sign there.
                    Rules::Htsim => u64::from(self.in_flight as u32),
                };
                (self.ignored, self.trigger, done) = (0, false, true);
            }
            self.achieved = 0;
            self.qa_end = now + Span::from_ps((self.base_ps + self.law.target_ps) as u64);
        }
        if done {
            (self.gains, self.received) = (0.0, 0);
        }
        done
    }

    /// 3.6.13.4: packets are lost. A trimmed one is a queue of a base round trip, as far as delays go.
    pub fn on_loss(&mut self, now: Time, trimmed: bool, bytes: u64) {
        self.in_flight -= bytes as i64;
        self.ignored += bytes;
        let mut done = false;
        if trimmed {
            self.take_delay(self.law.base_rtt.ps() as f64);
            self.trigger = true;
            done = self.quick_adapt(now, true, true, 0.0);
        }
        if !done {
            self.cwnd = self.cwnd.saturating_sub(bytes).max(self.law.mtu_bytes);
        }
        self.clamp();
    }

    pub fn on_going_back(&mut self, bytes: u64) {
        self.in_flight = 0;
        self.ignored += bytes;
        self.cwnd = self.cwnd.saturating_sub(bytes).max(self.law.mtu_bytes);
    }

    pub fn clamp(&mut self) {
        self.cwnd = self.cwnd.clamp(self.law.mtu_bytes, self.most());
    }
}
