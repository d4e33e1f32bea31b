//! TCP NewReno's window and retransmission timer: RFC 5681, 6582, 6298 (and 3042, 6928 by choice).
//!
//! The machine of `tcp-newreno`, and what is beneath DCTCP's window form. Sequence numbers are
//! payload bytes from the flow's first; no handshake is modelled.
//!
//! A scheme in which TCP itself is a choice embeds [`Machine`] and has a `rto_min` of its own.

use crate::param::params;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::{Acked, FlowFacts, Limits, Outstanding, Resend};

params! {
    /// All parameters, as `tcp-newreno` has them. Symbols are the RFCs'.
    pub struct Params {
        /// least retransmission time-out
        rto_min "RTO_min": Time = "200ms", from "FQCN paper, section VI; RFC 6298 has 1 s";
        ..machine: Machine;
    }
}

params! {
    /// What matters wherever the machine runs.
    pub struct Machine {
        /// a number of segments, or 4, 3 or 2 by their size
        initial_window_rule "IW": InitialWindowRule { Fixed = "fixed", Rfc5681 = "rfc5681" } = "fixed",
            from "assumption: fixed, as in ns-2; RFC 5681, section 3.1";
        /// segments in the first round trip
        initial_window "IW": Count(1..=1000) = "2" if InitialWindowRule::Fixed,
            from "assumption: the ns-2 era of the FQCN paper; RFC 6928 has 10";
        /// window at which the first slow start ends
        initial_ssthresh "ssthresh": Bytes = "1GiB", from "RFC 5681, section 3.1: arbitrarily high";
        /// most bytes in flight that the receiver allows
        receive_window "rwnd": Bytes = "64MB", from "assumption: very large, so that only congestion limits";
        /// the first two duplicate ACKs each let a new segment go
        limited_transmit: Flag = "false", from "RFC 3042; off by default";
        /// only the first partial ACK of a recovery restarts the timer
        impatient: Flag = "true", from "RFC 6582, section 4";
        /// window after recovery: what is in flight and one segment at most, or ssthresh
        full_ack: FullAck { Conservative = "conservative", Ssthresh = "ssthresh" } = "conservative",
            from "RFC 6582, section 3.2, step 3: both options";
        /// back to the initial window after a time-out's length of silence
        idle_restart: Flag = "true", from "RFC 5681, section 4.1";
        /// longest retransmission time-out
        rto_max "RTO_max": Time = "60s", from "RFC 6298, rule 2.5";
        /// retransmission time-out before the first sample
        rto_initial "RTO": Time = "1s", from "RFC 6298, rule 2.1";
        /// least margin of the time-out over the round trip
        granularity "G": Time = "1ms", from "RFC 6298, rule 2.3; the value is an assumption (a kernel's tick)";
        /// 12 bytes more per segment, and samples from retransmissions too
        timestamps: Flag = "false", from "RFC 7323; off by default";
        /// acknowledge every few segments, or late
        delayed_ack: Flag = "false", from "assumption: off, as the ns-2 sink; RFC 5681, section 4.2";
        /// segments in order per ACK
        delayed_ack_segments "m": Count(2..=64) = "2" if delayed_ack, from "RFC 5681, section 4.2";
        /// longest delay of an ACK
        delayed_ack_timeout: Time = "40ms" if delayed_ack,
            from "assumption: common practice; RFC 5681 allows 500 ms";
    }
}

impl Params {
    /// Why the parameters make no sense together.
    pub fn validation_error(&self) -> Option<String> {
        let Machine { rto_max, rto_initial, receive_window, .. } = self.machine;
        if rto_max == Span::ZERO || self.rto_min > rto_max || rto_initial > rto_max {
            return Some("`rto_max` is below `rto_min` or `rto_initial`, or zero".into());
        }
        if rto_initial == Span::ZERO {
            return Some("`rto_initial` is zero: it would run out before any answer".into());
        }
        (receive_window == 0).then(|| "`receive_window` is zero: nothing could be sent".into())
    }

    fn initial_window(&self, smss: u64) -> u64 {
        let segments = match self.machine.initial_window_rule {
            InitialWindowRule::Fixed => self.machine.initial_window,
            // RFC 5681, section 3.1.
            InitialWindowRule::Rfc5681 => match smss {
                ..=1095 => 4,
                1096..=2190 => 3,
                2191.. => 2,
            },
        };
        segments * smss
    }
}

/// What the machine has decided and does when it is asked what to send again: only then it knows
/// how much is outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pending {
    Nothing,
    ThirdDuplicate,
    PartialAck,
    Expired,
}

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct NewReno {
    params: Arc<Params>,
    line_bps: f64,
    cwnd: u64,
    ssthresh: u64,
    /// One past the highest byte sent when the last recovery or time-out began; -1 before: there is
    /// no handshake that gives a sequence number.
    recover: i64,
    /// Oldest byte outstanding at the last time-out; -1 before.
    timed_out: i64,
    /// Zero before the first sample.
    srtt: Span,
    rttvar: Span,
    rto_at: Time,
    last_sent: Time,
    smss: u32,
    duplicates: u32,
    backoff: u8,
    pending: Pending,
    in_recovery: bool,
    /// A partial ACK has come in this recovery.
    partial: bool,
    sampled: bool,
    sent: bool,
    increases: u32,
}

impl NewReno {
    /// At the initial window, or at that of the flow's initial rate if it starts below line rate.
    pub fn new(params: &Arc<Params>, of: &FlowFacts) -> NewReno {
        let smss = u64::from(of.mtu_bytes);
        let mut cwnd = params.initial_window(smss);
        let mut ssthresh = params.machine.initial_ssthresh.max(2 * smss);
        if of.initial_rate < of.line_rate {
            // A flow that starts at a rate below line rate has the window for it, and probes on.
            cwnd = cwnd.max(of.initial_rate.bytes_in(of.base_rtt));
            ssthresh = ssthresh.min(cwnd.max(2 * smss));
        }
        NewReno {
            params: params.clone(),
            line_bps: of.line_rate.bps() as f64,
            cwnd,
            ssthresh,
            recover: -1,
            timed_out: -1,
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            rto_at: Time::NEVER,
            last_sent: Time::ZERO,
            smss: of.mtu_bytes,
            duplicates: 0,
            backoff: 0,
            pending: Pending::Nothing,
            in_recovery: false,
            partial: false,
            sampled: false,
            sent: false,
            increases: 0,
        }
    }

    /// Congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        self.cwnd
    }
    /// Sender's largest segment in bytes: the payload of a full packet.
    pub fn smss(&self) -> u64 {
        u64::from(self.smss)
    }
    /// ACKs that grew the window.
    pub fn increases(&self) -> u32 {
        self.increases
    }
    /// From the third duplicate ACK to the ACK of all that was sent by then.
    pub fn in_recovery(&self) -> bool {
        self.in_recovery
    }

    #[cfg(test)]
    pub(crate) fn set_cwnd(&mut self, cwnd: u64) {
        self.cwnd = cwnd;
    }

    /// A cut that is no loss: avoidance continues from there. A window already below `floor`, as after a
    /// time-out, stays as it is.
    pub fn cut_to(&mut self, cwnd: u64, floor: u64) {
        self.ssthresh = cwnd.max(floor);
        self.cwnd = self.cwnd.min(self.ssthresh);
    }

    /// Section 4, the send rule: ACK-clocked, unpaced, whole segments within the window.
    pub fn limits(&self) -> Limits {
        let smss = u64::from(self.smss);
        // RFC 3042: beyond the window while two duplicates may still be reordering.
        let beyond = match self.params.machine.limited_transmit && !self.in_recovery && self.duplicates <= 2 {
            true => u64::from(self.duplicates) * smss,
            false => 0,
        };
        let window = (self.cwnd + beyond).min(self.params.machine.receive_window);
        Limits { rate_bps: self.line_bps, window_bytes: (window / smss * smss).max(smss) }
    }

    /// A segment leaves, new or sent again. Starts the time-out if none runs (RFC 6298, rule 5.1).
    pub fn on_sent(&mut self, now: Time) {
        if self.rto_at == Time::NEVER {
            // RFC 5681, section 4.1: nothing was outstanding, for longer than a time-out.
            if self.params.machine.idle_restart && self.sent && now.saturating_since(self.last_sent) > self.rto() {
                self.cwnd = self.cwnd.min(self.params.initial_window(u64::from(self.smss)));
            }
            // RFC 6298, rule 5.1.
            self.rto_at = now + self.rto();
        }
        self.last_sent = now;
        self.sent = true;
    }

    /// An ACK; `grow` unless another rule has just cut the window for it.
    pub fn on_ack(&mut self, ack: &Acked<'_>, grow: bool) {
        if ack.bytes > 0 {
            self.on_new_ack(ack, grow);
        } else if ack.duplicate {
            self.on_duplicate(ack);
        }
    }

    fn on_new_ack(&mut self, ack: &Acked<'_>, grow: bool) {
        let smss = u64::from(self.smss);
        // Section 5, Karn: time stamps alone tell a retransmission from its original.
        if !ack.resent || self.params.machine.timestamps {
            self.sample(ack.rtt);
            self.backoff = 0;
        }
        let mut restart = true;
        if self.in_recovery && (ack.acked_bytes as i64) < self.recover {
            // Section 4, partial ACK.
            self.pending = Pending::PartialAck;
            self.cwnd = self.cwnd.saturating_sub(ack.bytes);
            if ack.bytes >= smss {
                self.cwnd += smss;
            }
            self.cwnd = self.cwnd.max(smss);
            restart = !(self.params.machine.impatient && self.partial);
            self.partial = true;
        } else if self.in_recovery {
            // Section 4, full ACK.
            let flight = ack.sent_bytes.saturating_sub(ack.acked_bytes);
            self.cwnd = match self.params.machine.full_ack {
                FullAck::Conservative => self.ssthresh.min(flight.max(smss) + smss),
                FullAck::Ssthresh => self.ssthresh,
            };
            self.in_recovery = false;
            self.duplicates = 0;
        } else {
            self.duplicates = 0;
            if grow {
                self.cwnd += match self.cwnd < self.ssthresh {
                    // Section 4, slow start.
                    true => ack.bytes.min(smss),
                    // Section 4, congestion avoidance: at least one byte.
                    false => (smss * smss / self.cwnd).max(1),
                };
                // What the receiver never allows need not be remembered.
                self.cwnd = self.cwnd.min(self.params.machine.receive_window.max(smss));
                self.increases = self.increases.wrapping_add(1);
            }
        }
        if ack.acked_bytes >= ack.sent_bytes {
            self.rto_at = Time::NEVER;
        } else if restart {
            self.rto_at = ack.now + self.rto();
        }
    }

    /// Section 4, duplicate ACKs.
    fn on_duplicate(&mut self, ack: &Acked<'_>) {
        self.duplicates += 1;
        if self.in_recovery {
            self.cwnd = (self.cwnd + u64::from(self.smss)).min(self.params.machine.receive_window);
        } else if self.duplicates == 3 && ack.acked_bytes as i64 > self.recover {
            self.pending = Pending::ThirdDuplicate;
        }
    }

    /// Section 4, RTO: what follows from it is done in [`NewReno::resend`].
    pub fn on_timer(&mut self, now: Time) {
        if self.rto_at <= now {
            self.pending = Pending::Expired;
        }
    }

    /// When the retransmission time-out runs out; none while nothing is outstanding.
    pub fn timer(&self) -> Option<Time> {
        (self.rto_at != Time::NEVER).then_some(self.rto_at)
    }

    /// What the last ACK or the timer calls for; asked after each, with what is outstanding then.
    pub fn resend(&mut self, out: &Outstanding) -> Resend {
        let smss = u64::from(self.smss);
        let flight = out.sent_bytes - out.acked_bytes;
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => Resend::Nothing,
            Pending::PartialAck => Resend::Oldest,
            Pending::ThirdDuplicate => {
                // RFC 5681, section 3.2: what limited transmit sent does not count.
                let flight = if self.params.machine.limited_transmit { flight.min(self.cwnd) } else { flight };
                self.ssthresh = (flight / 2).max(2 * smss);
                self.cwnd = self.ssthresh + 3 * smss;
                self.recover = out.highest_bytes as i64;
                self.in_recovery = true;
                self.partial = false;
                Resend::Oldest
            }
            Pending::Expired => {
                // Section 4, RTO: the threshold moves only at the first time-out of a segment.
                if self.timed_out != out.acked_bytes as i64 {
                    self.ssthresh = (flight / 2).max(2 * smss);
                }
                self.timed_out = out.acked_bytes as i64;
                self.cwnd = smss;
                self.recover = out.highest_bytes as i64;
                self.in_recovery = false;
                self.duplicates = 0;
                self.backoff = self.backoff.saturating_add(1);
                // RFC 6298, rule 5.6.
                self.rto_at = out.now + self.rto();
                Resend::All
            }
        }
    }

    /// Section 5: the estimator.
    fn sample(&mut self, rtt: Span) {
        if self.sampled {
            let error = if self.srtt > rtt { self.srtt - rtt } else { rtt - self.srtt };
            self.rttvar = (self.rttvar * 3 + error) / 4;
            self.srtt = (self.srtt * 7 + rtt) / 8;
        } else {
            (self.srtt, self.rttvar, self.sampled) = (rtt, rtt / 2, true);
        }
    }

    /// Section 5: the time-out, doubled for each one in a row.
    fn rto(&self) -> Span {
        let Machine { rto_max, rto_initial, granularity, .. } = self.params.machine;
        let plain = match self.sampled {
            true => self.params.rto_min.max(self.srtt + granularity.max(self.rttvar * 4)),
            false => rto_initial,
        };
        let doubled = plain.ps().saturating_mul(1 << self.backoff.min(40));
        Span::from_ps(doubled.clamp(1, rto_max.ps()))
    }
}

#[cfg(test)]
mod tests;
