//! PLB: a flow keeps its path until rounds of congestion follow each other (Qureshi et al., SIGCOMM 2022).

use crate::contract::forwarding::{Loss, PathChoice, PathFacts};
use crate::contract::packet::Ecn;
use xoff_engine::{Rng, Span, Time, stream};

/// Parameters of PLB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlbSettings {
    /// Congested rounds in a row after which the flow takes another path.
    pub rounds: u16,
    /// Rounds that suffice where the flow was idle.
    pub idle_rounds: u16,
    /// A round is congested if this many of 256 ACKs are marked, or more.
    pub marked_of_256: u16,
}

/// Pause of changes for congestion after one for a timeout, in milliseconds: from this to twice as long.
const PAUSE_MS: u64 = 60_000;

/// Draws another path for a flow that is congested. A round lasts until a packet is acknowledged that left after the
/// round began.
pub(crate) struct Plb {
    rng: Rng,
    settings: PlbSettings,
    path: Option<u16>,
    round_began: Time,
    acks: u32,
    marked: u32,
    congested_rounds: u16,
    last_sent: Time,
    last_rtt: Span,
    quiet_until: Time,
}

impl Plb {
    pub fn new(facts: &PathFacts, settings: PlbSettings) -> Plb {
        Plb {
            rng: stream(facts.seed, "plb", facts.flow),
            settings,
            path: None,
            round_began: Time::ZERO,
            acks: 0,
            marked: 0,
            congested_rounds: 0,
            last_sent: Time::ZERO,
            last_rtt: Span::ZERO,
            quiet_until: Time::ZERO,
        }
    }

    fn leave_path(&mut self) {
        (self.path, self.congested_rounds) = (None, 0);
    }

    fn end_round(&mut self, now: Time) {
        let congested = self.marked * 256 >= u32::from(self.settings.marked_of_256) * self.acks;
        self.congested_rounds = if congested { self.congested_rounds + 1 } else { 0 };
        (self.round_began, self.acks, self.marked) = (now, 0, 0);
        if self.congested_rounds >= self.settings.rounds && now >= self.quiet_until {
            self.leave_path();
        }
    }
}

impl PathChoice for Plb {
    fn pick(&mut self, now: Time, _: u32, paths: u16) -> u16 {
        let idle = now.saturating_since(self.last_sent) > self.last_rtt;
        if idle && self.congested_rounds >= self.settings.idle_rounds && now >= self.quiet_until {
            self.leave_path();
        }
        self.last_sent = now;
        // Routes may have fewer paths than before.
        let kept = self.path.filter(|&path| path < paths);
        let path = kept.unwrap_or_else(|| self.rng.below(paths.into()) as u16);
        self.path = Some(path);
        path
    }

    fn on_ack(&mut self, now: Time, path: u16, ecn: Ecn, rtt: Span) {
        self.last_rtt = rtt;
        // ACKs of an earlier path say nothing of this one.
        if self.path != Some(path) {
            return;
        }
        self.acks += 1;
        self.marked += u32::from(ecn == Ecn::Ce);
        if now.saturating_since(self.round_began) >= rtt {
            self.end_round(now);
        }
    }

    fn on_loss(&mut self, now: Time, _: u16, loss: Loss) {
        if loss == Loss::Timeout {
            self.leave_path();
            self.quiet_until = now + Span::from_ms(PAUSE_MS + self.rng.below(PAUSE_MS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_us(10);

    fn plb(rounds: u16) -> Plb {
        let settings = PlbSettings { rounds, idle_rounds: 1, marked_of_256: 128 };
        Plb::new(&PathFacts { seed: 1, flow: 7, shared: None }, settings)
    }

    /// Rounds of four packets, of which so many are marked each. Returns after which rounds the path was left.
    fn left_after(plb: &mut Plb, marked: &[usize]) -> Vec<usize> {
        let mut left = Vec::new();
        for (round, &marked) in (1..).zip(marked) {
            let now = Time::ZERO + RTT * round as u64;
            let path = plb.pick(now, 0, 1000);
            // Three within the round, and one that left after it began.
            for place in 0..4 {
                let ecn = if place < marked { Ecn::Ce } else { Ecn::Ect0 };
                plb.on_ack(now, path, ecn, if place < 3 { RTT * 100 } else { RTT });
            }
            plb.last_rtt = RTT;
            if plb.path.is_none() {
                left.push(round);
            }
        }
        left
    }

    #[test]
    fn paths_2_three_congested_rounds_in_a_row_change_the_path() {
        let (congested, not) = (2, 1);
        let rounds = [congested, congested, not, congested, congested, congested];
        let mut three = Plb { settings: PlbSettings { idle_rounds: 9, ..plb(3).settings }, ..plb(3) };
        assert_eq!(left_after(&mut three, &rounds), [6]);
    }

    #[test]
    fn an_idle_flow_leaves_earlier_and_a_timeout_at_once() {
        let mut idle = plb(9);
        assert_eq!(left_after(&mut idle, &[4]), [0; 0]);
        let before = idle.path;
        idle.pick(Time::from_ms(1), 0, 60_000);
        assert!(idle.path != before && idle.congested_rounds == 0);

        let mut timed_out = plb(1);
        let now = Time::from_ms(1);
        timed_out.pick(now, 0, 1000);
        timed_out.on_loss(now, 0, Loss::Nak);
        assert!(timed_out.path.is_some());
        timed_out.on_loss(now, 0, Loss::Timeout);
        assert!(timed_out.path.is_none());
        assert!((Time::from_ms(60_000)..Time::from_ms(121_000)).contains(&timed_out.quiet_until));
        assert_eq!(left_after(&mut timed_out, &[4, 4]), [0; 0], "no change for congestion now");
    }
}
