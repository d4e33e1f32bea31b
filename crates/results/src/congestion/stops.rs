//! From PAUSE and RESUME to the stretches of time in which an egress stood still.

use std::collections::HashMap;
use xoff_engine::{Span, Time};

/// What an egress is told: to stop one priority, or to go on.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
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

/// The stops of each queue, by their numbers, in order of time. Those of one queue do not overlap.
pub type OfQueue = HashMap<(u32, u8), Vec<u32>>;

/// Sorts stops by their queues.
pub fn of_queue(stops: &[Stop]) -> OfQueue {
    let mut of_queue = OfQueue::new();
    for (index, stop) in (0u32..).zip(stops) {
        of_queue.entry((stop.port, stop.priority)).or_default().push(index);
    }
    of_queue
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

impl Times {
    pub fn words(self) -> &'static str {
        match self {
            Times::Arrivals => "arrivals of the PFC frames (pfc.parquet)",
            Times::Unknown => "none: this run kept no pauses (output.pauses = false)",
            Times::Decisions => {
                "decisions to send the PFC frames (pauses.parquet): the egress obeys when the frame has arrived, at \
                 least one delay of the link later"
            }
        }
    }
}

/// Stops by decisions: one for each decision to pause.
pub fn by_decisions(decisions: &[Signal], end: Time) -> Vec<Stop> {
    let mut open = Open::default();
    for signal in decisions {
        if signal.pause {
            open.close(signal, signal.at, Ended::PausedAgain);
            let stop = Stop { decided: Some(signal.at), ingress_bytes: signal.ingress_bytes, ..begin(signal) };
            open.running.insert((signal.port, signal.priority), Running { stop, expires: Time::NEVER });
        } else {
            open.close(signal, signal.at, Ended::Resume);
        }
    }
    open.finish(end)
}

/// Stops by arrivals. A PAUSE for an egress that stands still already prolongs its stop; `lasts`
/// is how long one holds at an egress, if not forever. `travel` is the time from the moment at which
/// a frame for an egress leaves until it has arrived: the last decision before that moment is behind
/// the stop. (There may be others, on their way or taken back before their frame left.)
pub fn by_arrivals(
    arrivals: &[Signal],
    decisions: &[Signal],
    lasts: impl Fn(u32) -> Option<Span>,
    travel: impl Fn(u32) -> Span,
    end: Time,
) -> Vec<Stop> {
    let mut pending: HashMap<(u32, u8), Pending<'_>> = HashMap::new();
    for signal in decisions.iter().filter(|signal| signal.pause) {
        pending.entry((signal.port, signal.priority)).or_default().list.push(signal);
    }
    let mut open = Open::default();
    for signal in arrivals {
        let key = (signal.port, signal.priority);
        open.expire(key, signal.at);
        if !signal.pause {
            open.close(signal, signal.at, Ended::Resume);
            continue;
        }
        let expires = lasts(signal.port).map_or(Time::NEVER, |span| signal.at.saturating_add(span));
        if let Some(running) = open.running.get_mut(&key) {
            running.expires = expires;
            continue;
        }
        // A coarser clock than picoseconds cuts the frame's time on the wire by up to a nanosecond.
        let left = Time::from_ps((signal.at.ps() + 1000).saturating_sub(travel(signal.port).ps())).min(signal.at);
        let decision = pending.get_mut(&key).and_then(|pending| pending.last_until(left));
        let stop = Stop {
            decided: decision.map(|signal| signal.at),
            ingress_bytes: decision.and_then(|signal| signal.ingress_bytes),
            ..begin(signal)
        };
        open.running.insert(key, Running { stop, expires });
    }
    open.finish(end)
}

fn begin(signal: &Signal) -> Stop {
    let (port, priority) = (signal.port, signal.priority);
    let (from, until, ended) = (signal.at, Time::NEVER, Ended::RunEnd);
    Stop { port, priority, from, until, ended, decided: None, ingress_bytes: None }
}

/// Decisions of one egress that have not been matched.
#[derive(Default)]
struct Pending<'a> {
    list: Vec<&'a Signal>,
    next: usize,
}

impl<'a> Pending<'a> {
    fn last_until(&mut self, at: Time) -> Option<&'a Signal> {
        let mut last = None;
        while let Some(signal) = self.list.get(self.next).filter(|signal| signal.at <= at) {
            last = Some(*signal);
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
    fn close(&mut self, signal: &Signal, until: Time, ended: Ended) {
        if let Some(running) = self.running.remove(&(signal.port, signal.priority)) {
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

    fn signal(us: u64, port: u32, pause: bool) -> Signal {
        Signal { at: Time::from_us(us), port, priority: 3, pause, ingress_bytes: pause.then_some(us * 1000) }
    }

    fn brief(stops: &[Stop]) -> Vec<(u32, u64, u64, Ended)> {
        stops.iter().map(|s| (s.port, s.from.ps() / 1_000_000, s.until.ps() / 1_000_000, s.ended)).collect()
    }

    #[test]
    fn every_decision_to_pause_is_a_stop() {
        let rows =
            [signal(1, 7, true), signal(2, 4, true), signal(3, 7, false), signal(4, 4, true), signal(5, 9, false)];
        let stops = by_decisions(&rows, Time::from_us(10));
        let expected = [(7, 1, 3, Ended::Resume), (4, 2, 4, Ended::PausedAgain), (4, 4, 10, Ended::RunEnd)];
        assert_eq!(brief(&stops), expected);
        assert_eq!(stops[2].ingress_bytes, Some(4000));
    }

    #[test]
    fn arrivals_prolong_and_know_the_decision_behind_them() {
        let decisions = [signal(1, 7, true), signal(5, 7, false), signal(8, 7, true)];
        let arrivals = [signal(2, 7, true), signal(4, 7, true), signal(6, 7, false), signal(9, 7, true)];
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
        let decisions = us.map(|(at, pause)| signal(at, 7, pause));
        let arrivals = [signal(7, 7, true), signal(8, 7, false), signal(11, 7, true)];
        let stops = by_arrivals(&arrivals, &decisions, |_| None, |_| Span::from_us(6), Time::from_us(20));
        let decided: Vec<_> = stops.iter().map(|stop| stop.decided).collect();
        assert_eq!(decided, [Some(Time::from_us(1)), Some(Time::from_us(5))]);
    }

    #[test]
    fn timed_pauses_run_out() {
        let lasts = |_| Some(Span::from_us(3));
        let arrivals = [signal(1, 7, true), signal(3, 7, true), signal(10, 7, true), signal(18, 7, true)];
        let stops = by_arrivals(&arrivals, &[], lasts, |_| Span::ZERO, Time::from_us(20));
        let expected = [(7, 1, 6, Ended::Expired), (7, 10, 13, Ended::Expired), (7, 18, 20, Ended::RunEnd)];
        assert_eq!(brief(&stops), expected);
        assert_eq!(stops[0].decided, None);
    }
}
