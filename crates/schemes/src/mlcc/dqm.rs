//! DQM, the end-to-end loop (section 6): which rate the sender should have one long round trip from
//! now, so that the flow's queue at the far gateway settles at its target delay.
//!
//! Public, so that a model of the loop alone can run the very code that receivers run.

use std::cmp::Ordering;
use xoff_engine::Span;

/// What is alike for all flows.
#[derive(Clone, Copy, Debug)]
pub struct DqmSettings {
    /// D_t: queueing delay at the far gateway, in seconds.
    pub target_s: f64,
    /// theta: in which the delay is brought to its target, in seconds.
    pub theta_s: f64,
    /// m: credit rates averaged for the predicted delay (equation 4).
    pub credit_mean: usize,
    /// Token gain, equation 7: at 0.5 a raw rate equal to the credit rate changes nothing.
    pub alpha: f64,
    /// A token of exactly 1 widens the window; else it leaves it.
    pub at_least: bool,
    /// The history holds the advertised rate, not the raw one.
    pub advertised: bool,
    /// Slots before the first count at line rate, not at the credit rate.
    pub line_before: bool,
    /// A predicted queue below zero (equation 3) counts as zero.
    pub floor_queue: bool,
    /// R_DQM (equation 5) is kept from zero to line rate before equation 7 uses it.
    pub clamp_raw: bool,
    /// The window stops where the advertised rate meets its bounds, and does not wind up.
    pub clamp_window: bool,
    /// The window counts the ACKs of the last RTT_C, not all that ever were.
    pub sliding: bool,
}

/// And what is not.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Idle round trip from end to end, over the long link.
    pub rtt_c: Span,
    /// Idle round trip between far gateway and receiver: how long a slot is until one is measured.
    pub rtt_d: Span,
    /// Payload of a full packet: what one step of the window is worth per RTT_C (equation 9).
    pub mtu_bytes: u32,
    /// The sender's line rate, where the flow starts and the highest that is advertised.
    pub line_bps: f64,
    /// Lowest rate that is advertised.
    pub min_bps: f64,
}

/// One in fixed point: halves, and all the sums of them, are exact.
const ONE: i64 = 1 << 32;
/// More slots than this are a very long link, and too many to remember for every flow.
const SLOTS_LARGEST: u64 = 1 << 16;

/// DQM of one flow.
#[derive(Clone, Debug)]
pub struct Dqm {
    settings: DqmSettings,
    bounds: Bounds,
    /// Running sums at the start of past slots, the newest at `slots % len`.
    past: Box<[Sums]>,
    slots: u64,
    /// The oldest slot of the last RTT_C.
    oldest: u64,
    /// The last m credit rates, oldest overwritten.
    credits: Box<[f64]>,
    matches: usize,
    credit_bps: f64,
    /// R_DQM
    pub(super) raw_bps: f64,
    /// R̄_DQM
    advertised_bps: f64,
    token: i64,
    /// What one ACK adds to it.
    gain: i64,
    /// Steps of the window so far, and what of them dw leaves out.
    steps: i64,
    forgotten: i64,
}

/// Sums until the start of a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Sum of the times of the slots, and of what their rates send in them, in millionths of a bit.
    elapsed: Span,
    microbits: u64,
    /// Sum of the steps of the window.
    steps: i64,
}

impl Dqm {
    /// Advertises line rate until the first match.
    pub fn new(settings: DqmSettings, bounds: Bounds) -> Dqm {
        let slots = slots(bounds.rtt_c, bounds.rtt_d) as usize;
        Dqm {
            settings,
            bounds,
            past: vec![Sums::default(); slots + 1].into(),
            slots: 0,
            oldest: 0,
            credits: vec![0.0; settings.credit_mean].into(),
            matches: 0,
            credit_bps: bounds.line_bps,
            raw_bps: bounds.line_bps,
            advertised_bps: bounds.line_bps,
            token: 0,
            gain: 0,
            steps: 0,
            forgotten: 0,
        }
    }

    /// Resets to the state before the first feedback.
    pub fn restart(&mut self) {
        *self = Dqm::new(self.settings, self.bounds);
    }

    /// Once per credit match, equations 2 to 5. The slot that ends has taken `rtt_d`.
    pub fn on_match(&mut self, credit_bps: f64, queue_bytes: u64, rtt_d: Span) {
        if self.matches > 0 {
            self.remember(if self.settings.advertised { self.advertised_bps } else { self.raw_bps }, rtt_d);
        }
        self.credit_bps = credit_bps;
        let m = self.credits.len();
        self.credits[self.matches % m] = credit_bps;
        self.matches += 1;
        let rtt_c_s = self.bounds.rtt_c.as_s();
        // (2) Equation 1: n slots of one RTT_D each are under way on the long link.
        let predicted_bps = self.mean_enqueue();
        if self.settings.sliding {
            self.forgotten = self.at(self.oldest).steps;
        }
        // (3)
        let mut queue_bits = (predicted_bps - credit_bps) * rtt_c_s + queue_bytes as f64 * 8.0;
        if self.settings.floor_queue {
            queue_bits = queue_bits.max(0.0);
        }
        // (4) What is missing of the m values counts as the current one.
        let known = self.matches.min(m);
        let sum = self.credits[..known].iter().sum::<f64>() + (m - known) as f64 * credit_bps;
        let delay_s = m as f64 * queue_bits / sum;
        // (5)
        let raw = credit_bps * (1.0 - (delay_s - self.settings.target_s) / self.settings.theta_s);
        self.raw_bps = if self.settings.clamp_raw { raw.clamp(0.0, self.bounds.line_bps) } else { raw };
        // (7) The gain per ACK stays until the next match.
        let gain = (self.settings.alpha * self.raw_bps / credit_bps).min(1.0);
        self.gain = (gain * ONE as f64).round() as i64;
    }

    /// A slot has ended. Slots are not alike: where packets pause, so do matches, and n of them by
    /// number would be any time but RTT_C. So those count whose middle is not older than that, as many
    /// as equation 1 gives where all are alike, and at least one.
    fn remember(&mut self, rate_bps: f64, rtt_d: Span) {
        let last = self.at(self.slots);
        let microbits = (rate_bps * rtt_d.as_s() * 1e6).round() as u64;
        let elapsed = last.elapsed + rtt_d;
        self.slots += 1;
        let newest = (self.slots % self.past.len() as u64) as usize;
        let microbits = last.microbits.wrapping_add(microbits);
        self.past[newest] = Sums { elapsed, microbits, steps: self.steps };
        self.oldest = self.oldest.max((self.slots + 1).saturating_sub(self.past.len() as u64));
        while self.oldest + 1 < self.slots {
            let ages = [self.oldest, self.oldest + 1].map(|slot| elapsed - self.at(slot).elapsed);
            if ages[0] + ages[1] < self.bounds.rtt_c * 2 {
                break;
            }
            self.oldest += 1;
        }
    }

    /// Sums up to the start of a slot.
    fn at(&self, slot: u64) -> Sums {
        self.past[(slot % self.past.len() as u64) as usize]
    }

    /// (2): the mean over the slots of the last RTT_C, the line rate at which the flow started (or the
    /// current credit rate) standing in for what is missing before the first.
    pub(super) fn mean_enqueue(&self) -> f64 {
        let (now, then) = (self.at(self.slots), self.at(self.oldest));
        let known_s = (now.elapsed - then.elapsed).as_s();
        let missing_s = if self.oldest == 0 { (self.bounds.rtt_c.as_s() - known_s).max(0.0) } else { 0.0 };
        let before_bps = if self.settings.line_before { self.bounds.line_bps } else { self.credit_bps };
        let bits = now.microbits.wrapping_sub(then.microbits) as f64 / 1e6;
        (bits + missing_s * before_bps) / (known_s + missing_s)
    }

    /// Once per ACK, equations 6 to 9: what it advertises. Before the first match, line rate.
    pub fn on_ack(&mut self) -> f64 {
        if self.matches == 0 {
            return self.advertised_bps;
        }
        self.token += self.gain;
        // (6) and (8)
        self.steps += match self.token.cmp(&ONE) {
            Ordering::Greater => 1,
            Ordering::Equal => i64::from(self.settings.at_least),
            Ordering::Less => -1,
        };
        if self.token >= ONE {
            self.token -= ONE;
        }
        // (9)
        let step_bps = f64::from(self.bounds.mtu_bytes) * 8.0 / self.bounds.rtt_c.as_s();
        let (least, most) = (self.bounds.min_bps, self.bounds.line_bps);
        let rate_bps = self.credit_bps + (self.steps - self.forgotten) as f64 * step_bps;
        if self.settings.clamp_window {
            if rate_bps > most {
                self.steps = self.forgotten + ((most - self.credit_bps) / step_bps).floor() as i64;
            } else if rate_bps < least {
                self.steps = self.forgotten + ((least - self.credit_bps) / step_bps).ceil() as i64;
            }
        }
        self.advertised_bps = rate_bps.clamp(least, most);
        self.advertised_bps
    }

    /// R_DQM of the last match, before equations 6 to 9 smooth it.
    pub fn raw_bps(&self) -> f64 {
        self.raw_bps
    }

    #[cfg(test)]
    pub(super) fn state(&self) -> (f64, i64, i64) {
        (self.raw_bps, self.token, self.steps - self.forgotten)
    }

    /// Fills the history: for numbers that are given with theirs.
    #[cfg(test)]
    pub(super) fn with_past(mut self, rates_bps: &[f64], credits_bps: &[f64]) -> Dqm {
        rates_bps.iter().for_each(|rate| self.remember(*rate, self.bounds.rtt_d));
        for credit in credits_bps {
            let m = self.credits.len();
            self.credits[self.matches % m] = *credit;
            self.matches += 1;
        }
        // The next match remembers what was advertised last; here that is part of the past.
        self.slots -= u64::from(!credits_bps.is_empty());
        self.advertised_bps = rates_bps.last().copied().unwrap_or(self.advertised_bps);
        self.raw_bps = self.advertised_bps;
        self
    }
}

/// (1): n = RTT_C / RTT_D, at least one.
fn slots(rtt_c: Span, rtt_d: Span) -> u64 {
    let (c, d) = (rtt_c.ps(), rtt_d.ps().max(1));
    ((c + d / 2) / d).clamp(1, SLOTS_LARGEST)
}
