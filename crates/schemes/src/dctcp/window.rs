//! The window form over TCP: NewReno, with cuts by the fraction of marked bytes (section 3).

use super::Params;
use crate::parts::newreno::{self, NewReno};
use std::sync::Arc;
use xoff_engine::Time;
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::{Acked, FlowFacts, Limits, Outstanding, ReactionPoint, Resend};

#[derive(Clone, Debug)]
pub struct Rp {
    pub(super) tcp: NewReno,
    params: Arc<Params>,
    pub(super) alpha: f64,
    /// Bytes acknowledged since the window began, and marked ones among them.
    acked: u64,
    marked: u64,
    /// Where the window of observation ends.
    window_end: u64,
    /// Further marks do not cut until more than this is acknowledged; -1 before the first cut.
    pub(super) cut_end: i64,
}

impl Rp {
    pub(super) fn new(params: &Arc<Params>, tcp: &Arc<newreno::Params>, of: &FlowFacts) -> Rp {
        Rp {
            tcp: NewReno::new(tcp, of),
            params: params.clone(),
            alpha: params.alpha_initial,
            acked: 0,
            marked: 0,
            window_end: 0,
            cut_end: -1,
        }
    }

    /// Once per window of data, marked or not; an idle flow has no windows, so alpha stays.
    fn update_alpha(&mut self) {
        if self.acked > 0 {
            let fraction = self.marked as f64 / self.acked as f64;
            self.alpha = (1.0 - self.params.g) * self.alpha + self.params.g * fraction;
        }
        (self.acked, self.marked) = (0, 0);
    }
}

impl ReactionPoint for Rp {
    type Feedback = ();

    fn on_ack(&mut self, ack: &Acked<'_>) {
        let echo = ack.ecn == Ecn::Ce;
        self.acked += ack.bytes;
        if echo {
            self.marked += ack.bytes;
        }
        if ack.acked_bytes >= self.window_end {
            self.update_alpha();
            self.window_end = ack.sent_bytes;
        }
        self.tcp.on_ack(ack, !echo);
        let reduced = ack.acked_bytes as i64 <= self.cut_end;
        // A recovery has halved the window already.
        if echo && !reduced && !self.tcp.in_recovery() {
            let cut = (self.tcp.cwnd() as f64 * (1.0 - self.alpha / 2.0)).round() as u64;
            self.tcp.cut_to(cut, self.params.window_min * self.tcp.smss());
            self.cut_end = ack.sent_bytes as i64;
        }
    }
    fn limits(&self) -> Limits {
        self.tcp.limits()
    }
    fn on_sent(&mut self, now: Time, _: u32) {
        self.tcp.on_sent(now);
    }
    fn resend(&mut self, outstanding: &Outstanding) -> Resend {
        self.tcp.resend(outstanding)
    }
    fn increases(&self) -> u32 {
        self.tcp.increases()
    }
    fn on_timer(&mut self, now: Time) {
        self.tcp.on_timer(now);
    }
    fn timer(&self) -> Option<Time> {
        self.tcp.timer()
    }
}
