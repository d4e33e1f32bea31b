//! SLEEK: losses by the count of what came out of order, and probes (`UecSrc::runSleek`, `sendProbe`, uec.cpp).
//!
//! Where so many packets are beyond the first that is missing, a flow recovers until all that it had sent has arrived.
//! The sender then resends what is not known to have arrived, each once, from the oldest on and as far as a window reaches,
//! whatever the window says. A probe is a packet without payload among data: it leaves where nothing was answered for
//! three round trips, and where its answer met a short queue, what is missing is lost.

use super::timers::Alarm;
use super::{Frame, HEADER, Part, What, happens};
use crate::contract::scheme::{OnWire, Scheme, WireWindow};
use xoff_engine::{Span, Time};

/// Base round trips to the first probe while there is data to send, and from each probe to the next.
const FIRST_PROBE: u64 = 3;
const NEXT_PROBE: u64 = 5;
/// Packets that a threshold has at least.
const FEWEST: u64 = 5;

/// What a sender keeps for it.
#[derive(Default)]
pub(super) struct Sleek {
    recovers: bool,
    /// The number of the packet that it recovers up to.
    until: u32,
    /// Packets below this number were resent.
    resent_to: u32,
    /// Probes that were sent; the number of the last.
    probes: u32,
    probed_at: Time,
    next_probe: Option<Alarm>,
}

impl Sleek {
    /// Round trip of a probe, if this answers the last.
    pub fn probe_round_trip(&self, now: Time, ack: &Frame) -> Option<Span> {
        (self.probes == ack.psn).then(|| now - self.probed_at)
    }

    pub fn recovers(&self) -> bool {
        self.recovers
    }

    /// The numbers that are to be resent now, from the first up to the last, if a flow recovers or begins to.
    fn resends(&mut self, ack: &Seen, window: &WireWindow, payload: u64) -> Option<(u32, u32)> {
        if ack.expected >= self.until {
            self.recovers = false;
        }
        if !self.recovers {
            if u64::from(ack.ahead) < threshold(window, payload) {
                return None;
            }
            if ack.none_waits {
                (self.recovers, self.until) = (true, ack.next);
            }
        }
        let reach = u64::from(ack.expected) + window.bytes / payload;
        Some((ack.expected.max(self.resent_to), self.until.min(u32::try_from(reach).unwrap_or(u32::MAX))))
    }
}

/// What an ACK finds.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// All below has arrived.
    expected: u32,
    /// Packets beyond that.
    ahead: u32,
    /// Number of the next packet.
    next: u32,
    /// Nothing waits to be sent again.
    none_waits: bool,
}

/// Packets beyond the first missing one that tell of a loss: half as much again as a window, at most the largest.
fn threshold(window: &WireWindow, payload: u64) -> u64 {
    (window.bytes * 3 / 2).min(window.most_bytes).max(FEWEST * payload) / payload
}

impl<S: Scheme> Part<S> {
    /// An ACK has been read, as far as other rules go.
    pub(super) fn htsim_sleek(&mut self, flow: u32, ack: &Frame) {
        self.htsim_set_probe(flow, ack.report.expected);
        let window = self.htsim_window(flow);
        let now = self.now;
        let sender = self.htsim_sender(flow);
        let next = sender.next;
        let Some(sleek) = &mut sender.sleek else { return };
        let round_trip = sleek.probe_round_trip(now, ack);
        let delay =
            round_trip.map_or(window.mean_delay, |rtt| Span::from_ps(rtt.ps().saturating_sub(window.base_rtt.ps())));
        if ack.report.of_probe && delay < window.target {
            (sleek.recovers, sleek.until, sleek.resent_to) = (true, next, ack.report.expected);
        }
        self.htsim_recover(flow, ack, &window);
    }

    /// Holds for lost what is to be resent, one by one.
    fn htsim_recover(&mut self, flow: u32, ack: &Frame, window: &WireWindow) {
        let sender = self.htsim_sender(flow);
        let (next, none_waits) = (sender.next, sender.resend.is_empty());
        let seen = Seen { expected: ack.report.expected, ahead: ack.report.ahead, next, none_waits };
        let payload = u64::from(sender.full_bytes - HEADER);
        let Some((mut from, to)) = sender.sleek.as_mut().and_then(|sleek| sleek.resends(&seen, window, payload)) else {
            return;
        };
        while let Some(psn) = self.htsim_sender(flow).first_sent(from, to) {
            from = psn + 1;
            let sender = self.htsim_sender(flow);
            let Some(sent) = sender.forget(psn) else { break };
            sender.in_flight -= i64::from(sent.bytes);
            if let Some(sleek) = &mut sender.sleek {
                sleek.resent_to = from;
            }
            sender.resend.insert(psn, sent.bytes);
            self.htsim_tell(flow, &OnWire::HeldLost(sent.bytes.into()));
            self.htsim_try(flow);
            if self.htsim_sender(flow).timers.is_for(sent.at) {
                self.htsim_rearm(flow);
            }
        }
        self.htsim_try(flow);
    }

    /// The timer of a packet has run out while its flow recovers. One that was never resent is left to the count; what
    /// was is resent with the next ACK, and until something leaves no timer runs.
    pub(super) fn htsim_timed_out_recovering(&mut self, flow: u32, psn: u32) {
        let sender = self.htsim_sender(flow);
        if !sender.was_resent(psn) {
            self.htsim_rearm(flow);
        } else if let Some(sleek) = &mut sender.sleek {
            sleek.resent_to = psn;
        }
    }

    /// Sets the time of the next probe anew.
    pub(super) fn htsim_set_probe(&mut self, flow: u32, expected: u32) {
        let window = self.htsim_window(flow);
        let now = self.now;
        let sender = self.htsim_sender(flow);
        let (unsent, missing) = (sender.unsent > 0, expected < sender.next);
        let Some(sleek) = &mut sender.sleek else { return };
        if let Some(alarm) = sleek.next_probe.take() {
            sender.timers.take_back(alarm);
        }
        if !unsent && !missing {
            return;
        }
        let after = if unsent { window.base_rtt * FIRST_PROBE } else { window.base_rtt + window.target };
        let at = now + after;
        sleek.next_probe = Some(sender.timers.set(at));
        self.schedule(at, happens::TIMER, flow);
    }

    /// Sends a probe if its time has come.
    pub(super) fn htsim_probe_if_due(&mut self, flow: u32) {
        let now = self.now;
        let sender = self.htsim_sender(flow);
        let Some(sleek) = sender.sleek.as_mut().filter(|of| of.next_probe.is_some_and(|(at, _)| at == now)) else {
            return;
        };
        sleek.probes += 1;
        sleek.probed_at = now;
        let psn = sleek.probes;
        let entropy = sender.entropy(now, psn);
        let host = sender.host;
        self.htsim_control(host, Frame::new(flow, What::Probe, (psn, HEADER), entropy));
        // A probe has the number of a packet too, and is taken for it when it is trimmed: one that was just sent leaves no
        // round trip. There it would probe at this instant for ever.
        let after = self.htsim_window(flow).base_rtt * NEXT_PROBE;
        let at = now + after.max(Span::from_ps(1));
        let sender = self.htsim_sender(flow);
        let alarm = sender.timers.set(at);
        if let Some(sleek) = &mut sender.sleek {
            sleek.next_probe = Some(alarm);
        }
        self.schedule(at, happens::TIMER, flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window that a flow of a reference run begins with, in a network of two tiers.
    const WINDOW: WireWindow = WireWindow {
        bytes: 175_284,
        most_bytes: 175_284,
        network_rtt: Span::from_ps(9_348_480),
        base_rtt: Span::from_ps(9_348_480),
        target: Span::from_ps(9_348_480),
        mean_delay: Span::ZERO,
    };
    const PAYLOAD: u64 = 4086;

    fn seen(expected: u32, ahead: u32) -> Seen {
        Seen { expected, ahead, next: 113, none_waits: true }
    }

    #[test]
    fn a_loss_takes_a_window_and_a_half_of_packets_beyond_it() {
        assert_eq!(threshold(&WINDOW, PAYLOAD), 42, "as the simulator prints");
        assert_eq!(threshold(&WireWindow { bytes: 81_720, ..WINDOW }, PAYLOAD), 30);
        assert_eq!(threshold(&WireWindow { bytes: 4150, ..WINDOW }, PAYLOAD), 5);
        let mut sleek = Sleek::default();
        assert_eq!(sleek.resends(&seen(18, 41), &WINDOW, PAYLOAD), None);
        assert_eq!(sleek.resends(&seen(18, 42), &WINDOW, PAYLOAD), Some((18, 60)));
        assert!(sleek.recovers());
    }

    #[test]
    fn a_flow_recovers_until_all_that_it_had_sent_has_arrived() {
        let mut sleek = Sleek::default();
        sleek.resends(&seen(18, 42), &WINDOW, PAYLOAD);
        sleek.resent_to = 30;
        assert_eq!(sleek.resends(&seen(20, 3), &WINDOW, PAYLOAD), Some((30, 62)), "each once");
        assert_eq!(sleek.resends(&seen(100, 0), &WINDOW, PAYLOAD), Some((100, 113)));
        assert_eq!(sleek.resends(&seen(113, 0), &WINDOW, PAYLOAD), None);
        assert!(!sleek.recovers());
    }

    #[test]
    fn a_flow_that_resends_already_does_not_begin_to_recover() {
        let mut sleek = Sleek { until: 40, ..Sleek::default() };
        let waits = Seen { none_waits: false, ..seen(18, 42) };
        assert_eq!(sleek.resends(&waits, &WINDOW, PAYLOAD), Some((18, 40)), "up to where it last did");
        assert!(!sleek.recovers());
    }
}
