//! Timers of a sender: the retransmission timer of its oldest packet, and that of its next probe.
//!
//! An event only wakes a sender, which then does what is due at that instant: one that runs out together with another is
//! seen to by whichever event comes first. A timer that is stopped takes its event with it.

use super::Part;
use super::happens;
use crate::contract::forwarding::{Loss, PathChoice};
use crate::contract::scheme::{OnWire, Scheme};
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};

/// An event of a sender, by its time and its number among those of the sender.
pub(super) type Alarm = (Time, u64);

/// Timers of one sender.
#[derive(Default)]
pub(super) struct Timers {
    time_out: Span,
    /// The retransmission timer, while it runs.
    runs: Option<Alarm>,
    /// Departure of the packet that it runs, or ran last, for.
    departure: Option<Time>,
    /// Events to come, and whether they were taken back.
    alarms: BTreeMap<Alarm, bool>,
    set: u64,
}

impl Timers {
    pub fn new(time_out: Span) -> Timers {
        Timers { time_out, ..Timers::default() }
    }

    /// Notes an event that is to be scheduled.
    pub fn set(&mut self, at: Time) -> Alarm {
        self.set += 1;
        self.alarms.insert((at, self.set), false);
        (at, self.set)
    }

    pub fn take_back(&mut self, alarm: Alarm) {
        if let Some(taken_back) = self.alarms.get_mut(&alarm) {
            *taken_back = true;
        }
    }

    /// The next event happens. Whether it still wakes the sender.
    fn wakes(&mut self) -> bool {
        self.alarms.pop_first().is_some_and(|(_, taken_back)| !taken_back)
    }

    /// Whether the retransmission timer runs, or ran last, for a packet that left then.
    pub fn is_for(&self, departure: Time) -> bool {
        self.departure == Some(departure)
    }

    pub fn stop(&mut self) {
        if let Some(alarm) = self.runs.take() {
            self.take_back(alarm);
        }
    }

    /// The retransmission timer runs out now: it is reset.
    fn runs_out(&mut self, now: Time) -> bool {
        self.runs.take_if(|(at, _)| *at == now).is_some()
    }
}

impl<S: Scheme> Part<S> {
    /// Starts the retransmission timer for what left then, unless it runs.
    pub(super) fn htsim_arm(&mut self, flow: u32, departure: Time) {
        let now = self.now;
        let timers = &mut self.htsim_sender(flow).timers;
        if timers.runs.is_none() {
            let at = (departure + timers.time_out).max(now);
            timers.departure = Some(departure);
            timers.runs = Some(timers.set(at));
            self.schedule(at, happens::TIMER, flow);
        }
    }

    /// Starts it anew, for the oldest packet under way.
    pub(super) fn htsim_rearm(&mut self, flow: u32) {
        let sender = self.htsim_sender(flow);
        sender.timers.stop();
        if let Some(departure) = sender.oldest() {
            self.htsim_arm(flow, departure);
        }
    }

    /// An event of a sender.
    pub(super) fn htsim_timer(&mut self, flow: u32) {
        let now = self.now;
        let sender = self.htsim_sender(flow);
        if !sender.timers.wakes() {
            return;
        }
        if sender.timers.runs_out(now) {
            self.htsim_timed_out(flow);
        }
        self.htsim_probe_if_due(flow);
    }

    /// The timer of the oldest packet has run out: the path of a loss is not known, and the first is blamed.
    fn htsim_timed_out(&mut self, flow: u32) {
        let now = self.now;
        let sender = self.htsim_sender(flow);
        let Some((psn, sent)) = sender.take_oldest() else { return };
        sender.entropies.machine.on_loss(now, 0, Loss::Timeout);
        let id = sender.id;
        self.counters.timeouts += 1;
        self.flows.details[id].timeouts += 1;
        let sender = self.htsim_sender(flow);
        if sender.recovers() {
            return self.htsim_timed_out_recovering(flow, psn);
        }
        sender.sent.remove(&psn);
        // Of a request too, though it was not counted when it left.
        sender.in_flight -= i64::from(sent.bytes);
        self.htsim_rearm(flow);
        self.htsim_tell(flow, &OnWire::TimedOut(sent.bytes.into()));
        let sender = self.htsim_sender(flow);
        let had = !sender.resend.is_empty();
        sender.resend.insert(psn, sent.bytes);
        if had {
            sender.answered = true;
            return self.htsim_try(flow);
        }
        self.htsim_resend_timed_out(flow, sent.bytes);
    }

    /// Resends what alone is to be sent again. Where the window has no room for as much once more, it asks for leave; else
    /// it asks its NIC again, though it has sent or waits for its turn: it then has two turns, and does not know of the
    /// second.
    fn htsim_resend_timed_out(&mut self, flow: u32, bytes: u16) {
        self.htsim_try(flow);
        let window = self.htsim_window(flow);
        let sender = self.htsim_sender(flow);
        if !sender.has_room(bytes, window) {
            return self.htsim_ask(flow, window.network_rtt);
        }
        let host = sender.host;
        let idle = self.htsim_request_nic(host, flow);
        debug_assert!(!idle, "what has room has been sent, or waits");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_was_stopped_wakes_nobody() {
        let mut timers = Timers::new(Span::from_us(100));
        let at = Time::from_us(100);
        timers.runs = Some(timers.set(at));
        timers.stop();
        timers.runs = Some(timers.set(at));
        let probe = timers.set(at);
        assert!(!timers.wakes(), "the first of this instant was taken back");
        assert!(timers.wakes() && timers.runs_out(at));
        assert!(!timers.runs_out(at), "once");
        assert!(timers.wakes(), "the probe's");
        timers.take_back(probe);
        assert!(!timers.wakes(), "nothing is to come");
    }

    #[test]
    fn what_is_due_is_seen_to_by_any_event() {
        let mut timers = Timers::new(Span::from_us(100));
        let at = Time::from_us(100);
        timers.set(at);
        timers.runs = Some(timers.set(at));
        assert!(timers.wakes() && timers.runs_out(at));
        assert!(timers.wakes() && !timers.runs_out(at));
    }
}
