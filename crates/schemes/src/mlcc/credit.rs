//! The receiver-driven loop (sections 4 and 5): credits measure round trips between the far gateway
//! and the receiver, and each round trip sets the rate of the flow's queue there.

use super::law::Law;
use super::{AckFeedback, Feedback};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::packet::IntStack;
use xoff_fabric::scheme::Transit;

/// C_D before the first ACK. Credits wrap past it.
pub(super) const NO_CREDIT: u16 = 0;

/// The per-flow queue (PFQ) at the far gateway: its rate and its credit.
#[derive(Clone, Debug)]
pub struct Pfq {
    /// C_D: zero before the first ACK.
    credit: u16,
    rate_bps: f64,
    initial_bps: f64,
    min_bps: f64,
    /// Freed when empty and idle for so long.
    idle: Span,
    active_at: Time,
    /// Egress queue from which on it is served round-robin, in time at the port's rate.
    yields: Span,
}

impl Pfq {
    pub(super) fn new(initial_bps: f64, min_bps: f64, idle: Span, yields: Span, now: Time) -> Pfq {
        Pfq { credit: NO_CREDIT, rate_bps: initial_bps, initial_bps, min_bps, idle, active_at: now, yields }
    }
}

impl Transit for Pfq {
    type Feedback = Feedback;

    /// Section 4: allocated on the first packet; an idle one was freed meanwhile.
    fn on_arrive(&mut self, now: Time, queue_bytes: u64) {
        if queue_bytes == 0 && now.saturating_since(self.active_at) >= self.idle {
            (self.credit, self.rate_bps) = (NO_CREDIT, self.initial_bps);
        }
        self.active_at = now;
    }

    /// Algorithm 1, line 5: C_D into every data packet, and Q_c into its telemetry (section 3).
    fn on_release(&mut self, now: Time, queue_bytes: u64, int: Option<&mut IntStack>) {
        self.active_at = now;
        if let Some(int) = int {
            int.tag = self.credit;
            int.flow_queue_bytes = queue_bytes.min(u64::from(u32::MAX)) as u32;
        }
    }

    /// Algorithm 1, lines 3 and 4.
    fn on_ack(&mut self, _: Time, feedback: &Feedback) {
        if let Feedback::InAck(in_ack) = feedback {
            self.credit = in_ack.credit;
            self.rate_bps = in_ack.credit_bps().max(self.min_bps);
        }
    }

    fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    fn yields_at(&self, egress: BitRate) -> u64 {
        egress.bytes_in(self.yields)
    }
}

/// What a match of credits says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Match {
    /// R_credit, RTT_D and Q_c.
    pub rate_bps: f64,
    pub rtt_d: Span,
    pub queue_bytes: u64,
}

/// Algorithm 1 at the receiver.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    law: Law,
    /// C_R
    pub value: u16,
    pub rate_bps: f64,
    base_rtt_d: Span,
    /// When the last match was.
    matched_at: Option<Time>,
    rules: CreditRules,
}

/// Where Algorithm 1 leaves a choice, or is departed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct CreditRules {
    /// RTT_D is the time between two matches, not that of the idle network.
    pub measured: bool,
    /// The flow's own queue counts for the law.
    pub own_queue: bool,
    /// The law reads every packet, not only those that match.
    pub every_packet: bool,
}

impl Credit {
    pub(super) fn new(law: Law, start: u16, base_rtt_d: Span, rules: CreditRules) -> Credit {
        Credit { rate_bps: law.rate_bps(), law, value: start, base_rtt_d, matched_at: None, rules }
    }

    /// Lines 6 to 12: a data packet with C_D in its tag. One with C_D = C_R ends a round, and only then
    /// the law takes telemetry and sets R_credit; or it takes telemetry from every packet.
    pub(super) fn on_data(&mut self, now: Time, stack: &IntStack) -> Option<Match> {
        let matches = stack.tag == self.value;
        if matches || self.rules.every_packet {
            if self.rules.own_queue {
                self.law.on_telemetry(&with_own_queue(stack), matches);
            } else {
                self.law.on_telemetry(stack, matches);
            }
        }
        if !matches {
            return None;
        }
        self.value = self.value.checked_add(1).unwrap_or(NO_CREDIT + 1);
        self.rate_bps = self.law.rate_bps();
        let last = self.matched_at.replace(now).filter(|_| self.rules.measured);
        let rtt_d = last.map_or(self.base_rtt_d, |last| now - last);
        Some(Match { rate_bps: self.rate_bps, rtt_d, queue_bytes: u64::from(stack.flow_queue_bytes) })
    }

    /// Line 13.
    pub(super) fn ack_feedback(&self, advertised_bps: f64) -> AckFeedback {
        AckFeedback::new(self.value, self.rate_bps, advertised_bps)
    }
}

fn with_own_queue(stack: &IntStack) -> IntStack {
    let mut counted = *stack;
    counted.clear();
    for (i, hop) in stack.hops().iter().enumerate() {
        let own = if i == 0 { u64::from(stack.flow_queue_bytes) } else { 0 };
        counted.push(xoff_fabric::packet::IntHop { queue_bytes: hop.queue_bytes + own, ..*hop });
    }
    counted.pass(stack.path());
    counted
}
