//! The window as UEC's simulator runs it, for senders that count in bytes on the wire.
//!
//! The law is that of [`Window`], with other inputs in another order. For a packet that was sent more than twice the
//! simulator has no round trip and uses the mean delay. After quick adapt an ACK has no further effect. For a NACK the
//! window falls before the packet leaves what is in flight. A timeout does not count towards ignored marks.

use super::window::Window;
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::{OnWire, RoundTrip, WireWindow};

impl Window {
    pub fn on_wire(&mut self, now: Time, what: &OnWire) {
        match *what {
            OnWire::Sent(bytes) => self.on_sent(bytes),
            OnWire::Acked { bytes, rtt, marked } => {
                self.in_flight -= bytes as i64;
                self.received += bytes;
                self.achieved += bytes;
                self.ignored += bytes;
                let delay_ps = self.wire_delay_ps(rtt, marked);
                self.on_wire_ack(now, bytes, delay_ps, marked);
            }
            OnWire::Trimmed { bytes, rtt } => self.on_wire_trim(now, bytes, rtt.ps() as f64),
            OnWire::TimedOut(bytes) => {
                self.in_flight -= bytes as i64;
                self.cwnd = self.cwnd.saturating_sub(bytes).max(self.law.mtu_bytes());
            }
            OnWire::HeldLost(bytes) => self.in_flight -= bytes as i64,
        }
    }

    /// What a flow may have in flight, and what its law goes by.
    pub fn on_the_wire(&self) -> WireWindow {
        let span = |ps: f64| Span::from_ps(ps as u64);
        WireWindow {
            bytes: self.bytes(),
            most_bytes: self.most(),
            network_rtt: self.law.base_rtt,
            base_rtt: span(self.base_ps),
            target: span(self.law.target_ps),
            mean_delay: span(self.mean_ps),
        }
    }

    /// The queueing delay of what an ACK answers, which counts towards the mean if it is known.
    fn wire_delay_ps(&mut self, rtt: RoundTrip, marked: bool) -> f64 {
        let rtt_ps = rtt.span().ps() as f64;
        match rtt {
            RoundTrip::OfData(_) => self.base_ps = self.base_ps.min(rtt_ps),
            RoundTrip::OfProbe(_) if rtt_ps < self.base_ps => return 0.0,
            RoundTrip::OfRequest(_) | RoundTrip::OfProbe(_) if rtt_ps >= self.base_ps => {}
            RoundTrip::Unknown | RoundTrip::OfRequest(_) | RoundTrip::OfProbe(_) => return self.mean_ps,
        }
        let delay_ps = rtt_ps - self.base_ps;
        self.average(delay_ps, marked);
        self.mean_ps = self.mean_ps.floor();
        delay_ps
    }

    fn on_wire_ack(&mut self, now: Time, bytes: u64, delay_ps: f64, marked: bool) {
        if self.law.is_constant() || self.quick_adapt(now, false, marked, delay_ps) {
            return;
        }
        self.follow(now, bytes as f64, marked, delay_ps);
        self.clamp();
        self.adjust(now);
        self.clamp();
    }

    fn on_wire_trim(&mut self, now: Time, bytes: u64, rtt_ps: f64) {
        self.base_ps = self.base_ps.min(rtt_ps);
        if !self.law.is_constant() {
            self.take_delay(self.law.base_rtt.ps() as f64);
            self.mean_ps = self.mean_ps.floor();
            self.ignored += bytes;
            self.trigger = true;
            if !self.quick_adapt(now, true, true, 0.0) {
                self.cwnd = self.cwnd.saturating_sub(bytes);
            }
            self.clamp();
        }
        self.in_flight -= bytes as i64;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing;
    use xoff_engine::{BitRate, Span, Time};
    use xoff_fabric::scheme::{FlowFacts, OnWire, ReactionPoint, RoundTrip, Scheme};

    const T: Span = Span::from_ps(14_022_720);

    fn sender() -> impl ReactionPoint {
        let nscc: super::super::Nscc = testing::configured("nscc", &[("rules", "htsim")]);
        let of = FlowFacts::at(BitRate::from_gbps(100), T);
        nscc.reaction_point(&FlowFacts { mtu_bytes: 4086, mtu_wire_bytes: 4150, trims: true, ..of })
    }

    fn window(rp: &impl ReactionPoint) -> u64 {
        rp.wire_window().map_or(0, |window| window.bytes)
    }

    #[test]
    fn trimmed_packets_lower_the_window_by_their_size() {
        let mut rp = sender();
        assert_eq!(window(&rp), 262_926);
        for expected in [258_776, 254_626] {
            rp.on_wire(Time::from_us(20), &OnWire::Trimmed { bytes: 4150, rtt: Span::from_us(20) });
            assert_eq!(window(&rp), expected);
        }
        rp.on_wire(Time::from_us(21), &OnWire::TimedOut(4150));
        assert_eq!(window(&rp), 250_476);
    }

    /// The first ACK of a flow in a reference run: 1.60976 us of delay, 4150 bytes.
    #[test]
    fn the_first_ack_fills_the_window_to_its_limit() {
        let mut rp = sender();
        let rtt = RoundTrip::OfData(Span::from_ps(15_632_480));
        rp.on_wire(Time::from_ps(15_632_480), &OnWire::Acked { bytes: 4150, rtt, marked: false });
        assert_eq!(window(&rp), 262_926);
    }

    #[test]
    fn requests_shorten_no_round_trip_and_short_probes_do_not_count() {
        let mut rp = sender();
        let short = Span::from_us(10);
        let long = T + Span::from_us(8);
        let mean = |ps| Span::from_ps(ps);
        for (rtt, expected) in [
            (RoundTrip::OfRequest(short), (T, mean(0))),
            (RoundTrip::OfProbe(short), (T, mean(0))),
            (RoundTrip::Unknown, (T, mean(0))),
            // An eightieth of the newest delay.
            (RoundTrip::OfProbe(long), (T, mean(100_000))),
            (RoundTrip::OfRequest(long), (T, mean(198_750))),
            (RoundTrip::OfData(short), (short, mean(196_265))),
        ] {
            rp.on_wire(Time::from_us(50), &OnWire::Acked { bytes: 0, rtt, marked: true });
            let found = rp.wire_window().map(|window| (window.base_rtt, window.mean_delay));
            assert_eq!(found, Some(expected), "{rtt:?}");
        }
    }

    #[test]
    fn what_is_lost_by_count_leaves_the_window_alone() {
        let mut rp = sender();
        rp.on_wire(Time::ZERO, &OnWire::Sent(4150));
        rp.on_wire(Time::ZERO, &OnWire::HeldLost(4150));
        assert_eq!(window(&rp), 262_926);
    }
}
