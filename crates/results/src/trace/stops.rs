//! From PAUSE and RESUME to the stretches of time in which an egress stood still.

use std::collections::HashMap;
use xoff_engine::{Span, Time};

/// What an egress is told: to stop one priority, or to go on.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    pub at: Time,
    /// The egress that is told, not the port that sends the frame.
    pub port: u32,
    pub priority: u8,
    pub pause: bool,
    /// What the other end had buffered when it decided; known of decisions only.
    pub ingress_bytes: Option<u64>,
}

/// One stop of one priority of an egress.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stop {
    pub port: u32,
    pub priority: u8,
    pub from: Time,
    pub until: Time,
    pub ended: Ended,
    /// When the other end decided on it.
    pub decided: Option<Time>,
    pub ingress_bytes: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    Resume,
    /// A timed pause that ran out.
    Expired,
    /// By another decision to pause, without one to resume between.
    PausedAgain,
    /// Still stopped when the run ended.
    RunEnd,
}

impl Ended {
    pub fn words(self) -> &'static str {
        match self {
            Ended::Resume => "resume",
            Ended::Expired => "expiry of the pause",
            Ended::PausedAgain => "another pause",
            Ended::RunEnd => "end of the run",
        }
    }
}

/// Where the times of the stops come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// PFC frames as they arrived: what the egress did.
    Arrivals,
    /// Decisions of the other end: the egress obeys later, when the frame has been sent and has
    /// travelled.
    Decisions,
    /// The run kept neither.
    Unknown,
}

/// Stops by decisions: one for each decision to pause.
pub fn by_decisions(decisions: &[Told], end: Time) -> Vec<Stop> {
    let mut open = Open::default();
    for told in decisions {
        if told.pause {
            open.close(told, told.at, Ended::PausedAgain);
            let stop = Stop { decided: Some(told.at), ingress_bytes: told.ingress_bytes, ..begin(told) };
            open.running.insert((told.port, told.priority), Running { stop, expires: Time::NEVER });
        } else {
            open.close(told, told.at, Ended::Resume);
        }
    }
    open.finish(end)
}

/// Stops by arrivals. A PAUSE for an egress that stands still already prolongs its stop; `lasts`
/// is how long one holds at an egress, if not forever. `travel` is the time from the moment at which
/// a frame for an egress leaves until it has arrived: the last decision before that moment is behind
/// the stop. (There may be others, on their way or taken back before their frame left.)
pub fn by_arrivals(
    arrivals: &[Told],
    decisions: &[Told],
    lasts: impl Fn(u32) -> Option<Span>,
    travel: impl Fn(u32) -> Span,
    end: Time,
) -> Vec<Stop> {
    let mut pending: HashMap<(u32, u8), Pending<'_>> = HashMap::new();
    for told in decisions.iter().filter(|told| told.pause) {
        pending.entry((told.port, told.priority)).or_default().list.push(told);
    }
    let mut open = Open::default();
    for told in arrivals {
        let key = (told.port, told.priority);
        open.expire(key, told.at);
        if !told.pause {
            open.close(told, told.at, Ended::Resume);
            continue;
        }
        let expires = lasts(told.port).map_or(Time::NEVER, |span| told.at.saturating_add(span));
        if let Some(running) = open.running.get_mut(&key) {
            running.expires = expires;
            continue;
        }
        // A coarser clock than picoseconds cuts the frame's time on the wire by up to a nanosecond.
        let left = Time::from_ps((told.at.ps() + 1000).saturating_sub(travel(told.port).ps())).min(told.at);
        let decision = pending.get_mut(&key).and_then(|pending| pending.last_until(left));
        let stop = Stop {
            decided: decision.map(|told| told.at),
            ingress_bytes: decision.and_then(|told| told.ingress_bytes),
            ..begin(told)
        };
        open.running.insert(key, Running { stop, expires });
    }
    open.finish(end)
}

fn begin(told: &Told) -> Stop {
    let (port, priority) = (told.port, told.priority);
    let (from, until, ended) = (told.at, Time::NEVER, Ended::RunEnd);
    Stop { port, priority, from, until, ended, decided: None, ingress_bytes: None }
}

/// Decisions of one egress that have not been matched.
#[derive(Default)]
struct Pending<'a> {
    list: Vec<&'a Told>,
    next: usize,
}

impl<'a> Pending<'a> {
    fn last_until(&mut self, at: Time) -> Option<&'a Told> {
        let mut last = None;
        while let Some(told) = self.list.get(self.next).filter(|told| told.at <= at) {
            last = Some(*told);
            self.next += 1;
        }
        last
    }
}

struct Running {
    stop: Stop,
    expires: Time,
}

/// Egresses that stand still.
#[derive(Default)]
struct Open {
    running: HashMap<(u32, u8), Running>,
    done: Vec<Stop>,
}

impl Open {
    fn close(&mut self, told: &Told, until: Time, ended: Ended) {
        if let Some(running) = self.running.remove(&(told.port, told.priority)) {
            self.done.push(Stop { until, ended, ..running.stop });
        }
    }

    fn expire(&mut self, key: (u32, u8), now: Time) {
        if self.running.get(&key).is_some_and(|running| running.expires <= now)
            && let Some(Running { stop, expires }) = self.running.remove(&key)
        {
            self.done.push(Stop { until: expires, ended: Ended::Expired, ..stop });
        }
    }

    /// In the order of their beginnings; at the same instant by port and priority.
    fn finish(mut self, end: Time) -> Vec<Stop> {
        for (_, Running { stop, expires }) in self.running {
            let ended = if expires < end { Ended::Expired } else { Ended::RunEnd };
            self.done.push(Stop { until: expires.min(end), ended, ..stop });
        }
        self.done.sort_unstable_by_key(|stop| (stop.from, stop.port, stop.priority, stop.until));
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(us: u64, port: u32, pause: bool) -> Told {
        Told { at: Time::from_us(us), port, priority: 3, pause, ingress_bytes: pause.then_some(us * 1000) }
    }

    fn brief(stops: &[Stop]) -> Vec<(u32, u64, u64, Ended)> {
        stops.iter().map(|s| (s.port, s.from.ps() / 1_000_000, s.until.ps() / 1_000_000, s.ended)).collect()
    }

    #[test]
    fn every_decision_to_pause_is_a_stop() {
        let rows = [told(1, 7, true), told(2, 4, true), told(3, 7, false), told(4, 4, true), told(5, 9, false)];
        let stops = by_decisions(&rows, Time::from_us(10));
        let expected = [(7, 1, 3, Ended::Resume), (4, 2, 4, Ended::PausedAgain), (4, 4, 10, Ended::RunEnd)];
        assert_eq!(brief(&stops), expected);
        assert_eq!(stops[2].ingress_bytes, Some(4000));
    }

    #[test]
    fn arrivals_prolong_and_know_the_decision_behind_them() {
        let decisions = [told(1, 7, true), told(5, 7, false), told(8, 7, true)];
        let arrivals = [told(2, 7, true), told(4, 7, true), told(6, 7, false), told(9, 7, true)];
        let stops = by_arrivals(&arrivals, &decisions, |_| None, |_| Span::from_us(1), Time::from_us(20));
        assert_eq!(brief(&stops), [(7, 2, 6, Ended::Resume), (7, 9, 20, Ended::RunEnd)]);
        assert_eq!(stops.iter().map(|s| s.ingress_bytes).collect::<Vec<_>>(), [Some(1000), Some(8000)]);
        assert_eq!(stops[1].decided, Some(Time::from_us(8)));
    }

    #[test]
    fn a_decision_is_not_behind_a_frame_that_left_before_it() {
        // The second one is taken back before its frame leaves; the third is decided when the first
        // frame is still on its way.
        let us = [(1, true), (2, false), (3, true), (4, false), (5, true)];
        let decisions = us.map(|(at, pause)| told(at, 7, pause));
        let arrivals = [told(7, 7, true), told(8, 7, false), told(11, 7, true)];
        let stops = by_arrivals(&arrivals, &decisions, |_| None, |_| Span::from_us(6), Time::from_us(20));
        let decided: Vec<_> = stops.iter().map(|stop| stop.decided).collect();
        assert_eq!(decided, [Some(Time::from_us(1)), Some(Time::from_us(5))]);
    }

    #[test]
    fn timed_pauses_run_out() {
        let lasts = |_| Some(Span::from_us(3));
        let arrivals = [told(1, 7, true), told(3, 7, true), told(10, 7, true), told(18, 7, true)];
        let stops = by_arrivals(&arrivals, &[], lasts, |_| Span::ZERO, Time::from_us(20));
        let expected = [(7, 1, 6, Ended::Expired), (7, 10, 13, Ended::Expired), (7, 18, 20, Ended::RunEnd)];
        assert_eq!(brief(&stops), expected);
        assert_eq!(stops[0].decided, None);
    }
}
