//! Looks at every port and flow at the end of each window of time, without an event and without touching anything.
//!
//! Nobody knows beforehand how long a run will be. So windows are short at first, and whenever there is more than
//! should be kept, two become one. What is kept is bounded, and so is the time that looking takes.

use crate::contract::activity::{Activity, FlowWindow, PortNow, PortWindow};
use crate::contract::scheme::Scheme;
use crate::id::FlowStateId;
use crate::part::seen::PortCounts;
use crate::run::World;
use xoff_engine::{Key, Span, Time};

/// The first windows.
const SHORTEST: Span = Span::from_us(1);
/// Rows of ports that a small network may have, rows for each port of a larger one, and the most.
const ROWS_AT_LEAST: usize = 250_000;
const ROWS_PER_PORT: usize = 1_500;
const ROWS_AT_MOST: usize = 3_000_000;
/// Ports and flows looked at, since looking at an idle one takes time too.
const LOOKS: usize = 20_000_000;
/// Of more flows than this at the end of a window, those that started first are looked at: flows that are over within
/// a window or two have no curve worth keeping.
const FLOWS_AT_ONCE: usize = 1_000;

pub(crate) struct Watched {
    seen: Activity,
    /// The window that comes next.
    window: u32,
    rows_most: usize,
    looks: usize,
    /// At the end of the window before.
    ports: Vec<PortCounts>,
    /// Of the flows that were alive at the end of the window before, by number.
    flows: Vec<(u32, FlowCounts)>,
}

#[derive(Clone, Copy, Default)]
struct FlowCounts {
    sent_wire_bytes: u64,
    delivered_bytes: u64,
    notifications: u64,
    marked: u64,
}

impl Watched {
    fn new(ports: usize) -> Watched {
        Watched {
            seen: Activity { every: SHORTEST, until: Time::ZERO, ports: Vec::new(), flows: Vec::new() },
            window: 0,
            looks: 0,
            rows_most: (ports * ROWS_PER_PORT).clamp(ROWS_AT_LEAST, ROWS_AT_MOST),
            ports: vec![PortCounts::default(); ports],
            flows: Vec::new(),
        }
    }

    /// The end of the window that comes next.
    fn due(&self) -> Time {
        self.seen.end_of(self.window)
    }

    fn is_too_much(&self) -> bool {
        self.seen.ports.len() > self.rows_most || self.seen.flows.len() > self.rows_most || self.looks > LOOKS
    }

    /// Two windows become one. Only after an even number of them, so that none is cut.
    fn halve(&mut self) {
        merge(
            &mut self.seen.ports,
            |row| (row.window / 2, row.port),
            |first, second| PortWindow {
                window: first.window / 2,
                port: first.port,
                tx_bytes: first.tx_bytes + second.map_or(0, |row| row.tx_bytes),
                // What waits at the end: nothing if the second has no row.
                queue_bytes: match second {
                    Some(row) => row.queue_bytes,
                    None if first.window.is_multiple_of(2) => 0,
                    None => first.queue_bytes,
                },
                paused: first.paused + second.map_or(Span::ZERO, |row| row.paused),
                marks: first.marks + second.map_or(0, |row| row.marks),
            },
        );
        merge(
            &mut self.seen.flows,
            |row| (row.window / 2, row.flow),
            |first, second| FlowWindow {
                window: first.window / 2,
                flow: first.flow,
                sent_wire_bytes: first.sent_wire_bytes + second.map_or(0, |row| row.sent_wire_bytes),
                delivered_bytes: first.delivered_bytes + second.map_or(0, |row| row.delivered_bytes),
                allowed_bps: second.unwrap_or(first).allowed_bps,
                notifications: first.notifications + second.map_or(0, |row| row.notifications),
                marked: first.marked + second.map_or(0, |row| row.marked),
            },
        );
        self.seen.every = self.seen.every * 2;
        self.window /= 2;
        self.looks /= 2;
    }
}

/// Joins rows that have the same key after it, of which there are at most two.
fn merge<R: Copy>(rows: &mut Vec<R>, key: impl Fn(&R) -> (u32, u32), join: impl Fn(R, Option<R>) -> R) {
    // Rows of one pair of windows lie side by side; within it they are by entity only after this.
    rows.sort_by_key(&key);
    let mut kept = 0;
    let mut at = 0;
    while at < rows.len() {
        let second = rows.get(at + 1).filter(|next| key(next) == key(&rows[at])).copied();
        rows[kept] = join(rows[at], second);
        kept += 1;
        at += 1 + usize::from(second.is_some());
    }
    rows.truncate(kept);
}

impl<S: Scheme> World<S> {
    /// From now on, which must be before anything has happened.
    pub fn watch_activity(&mut self) {
        self.watched = Some(Box::new(Watched::new(self.state.plan.ports())));
    }

    /// What was seen, once: nothing if nobody watched.
    pub fn take_activity(&mut self) -> Option<Activity> {
        self.watched.take().map(|watched| watched.seen)
    }

    /// What a port has done so far, and what it does now.
    pub fn port_now(&self, port: u32) -> PortNow {
        let (part, id) = self.place_of(port);
        let part = &self.parts[part];
        let (counts, queue_bytes) = part.port_counts(id, part.now);
        PortNow { tx_bytes: counts.tx_bytes, queue_bytes, paused: part.links.ports[id].paused != 0 }
    }

    /// Before the next end of a window.
    pub(crate) fn next_look(&self) -> Key {
        self.watched.as_ref().map_or(Key::LAST, |watched| Key::before(watched.due()))
    }

    /// A window has ended, and all that was to happen before that has happened.
    pub(crate) fn look(&mut self) {
        let Some(mut watched) = self.watched.take() else { return };
        let now = watched.due();
        self.look_at_ports(&mut watched, now);
        self.look_at_flows(&mut watched, now);
        watched.window += 1;
        if watched.window.is_multiple_of(2) && watched.is_too_much() {
            watched.halve();
        }
        self.watched = Some(watched);
    }

    /// The run has ended at `now`, amid a window.
    pub(crate) fn look_once_more(&mut self, now: Time) {
        while self.next_look().time() <= now && self.watched.is_some() {
            self.look();
        }
        if let Some(mut watched) = self.watched.take() {
            self.look_at_ports(&mut watched, now);
            self.look_at_flows(&mut watched, now);
            watched.seen.until = now;
            self.watched = Some(watched);
        }
    }

    fn look_at_ports(&self, watched: &mut Watched, now: Time) {
        watched.looks += watched.ports.len();
        for port in 0..self.state.plan.ports() as u32 {
            let (part, id) = self.place_of(port);
            let before = &mut watched.ports[port as usize];
            let (seen, queue_bytes) = self.parts[part].port_counts(id, now);
            let row = PortWindow {
                window: watched.window,
                port,
                tx_bytes: seen.tx_bytes.saturating_sub(before.tx_bytes),
                queue_bytes,
                paused: seen.paused - before.paused,
                marks: seen.marks - before.marks,
            };
            if row.tx_bytes > 0 || row.queue_bytes > 0 || row.paused > Span::ZERO || row.marks > 0 {
                *before = seen;
                watched.seen.ports.push(row);
            }
        }
    }

    fn look_at_flows(&self, watched: &mut Watched, now: Time) {
        let alive = self.parts.iter().flat_map(|part| part.living_flows());
        let mut alive: Vec<(u32, FlowStateId)> = alive.map(|flow| (self.sender_of(flow).1.id, flow)).collect();
        watched.looks += alive.len();
        if alive.len() > FLOWS_AT_ONCE {
            alive.select_nth_unstable_by_key(FLOWS_AT_ONCE, |&(id, _)| id);
            alive.truncate(FLOWS_AT_ONCE);
        }
        alive.sort_unstable_by_key(|&(id, _)| id);
        let mut before = std::mem::take(&mut watched.flows).into_iter().peekable();
        for (id, flow) in alive {
            while before.next_if(|(other, _)| *other < id).is_some() {}
            let last = before.next_if(|(other, _)| *other == id).map_or(FlowCounts::default(), |(_, counts)| counts);
            let (seen, allowed_bps) = self.flow_counts(flow);
            watched.flows.push((id, seen));
            // A flow whose first act lies ahead has none yet.
            if self.sender_of(flow).1.start >= now {
                continue;
            }
            watched.seen.flows.push(FlowWindow {
                window: watched.window,
                flow: id,
                sent_wire_bytes: seen.sent_wire_bytes - last.sent_wire_bytes,
                delivered_bytes: seen.delivered_bytes - last.delivered_bytes,
                allowed_bps,
                notifications: seen.notifications - last.notifications,
                marked: seen.marked - last.marked,
            });
        }
    }

    fn flow_counts(&self, flow: FlowStateId) -> (FlowCounts, f64) {
        let ((sender, details), receiver) = (self.sender_of(flow), self.receiver_of(flow));
        let counts = FlowCounts {
            sent_wire_bytes: sender.sent_wire_bytes,
            delivered_bytes: receiver.responder.seq.delivered_bytes,
            notifications: details.notifications,
            marked: receiver.marked,
        };
        let line_bps = self.line_rate(details.spec.src).bps() as f64;
        (counts, sender.allowed_bps(details.base_rtt, line_bps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(window: u32, port: u32, tx_bytes: u64, queue_bytes: u64) -> PortWindow {
        PortWindow { window, port, tx_bytes, queue_bytes, paused: Span::from_ns(tx_bytes), marks: 1 }
    }

    #[test]
    fn two_windows_become_one() {
        let mut watched = Watched::new(4);
        watched.window = 4;
        watched.seen.ports = vec![row(0, 1, 10, 5), row(0, 3, 20, 6), row(1, 1, 30, 7), row(3, 2, 40, 8)];
        watched.halve();
        assert_eq!((watched.window, watched.seen.every), (2, Span::from_us(2)));
        let seen: Vec<_> = watched.seen.ports.iter().map(|r| (r.window, r.port, r.tx_bytes, r.queue_bytes)).collect();
        // The queue of port 3 was empty at the end of the second window, which has no row of it.
        assert_eq!(seen, [(0, 1, 40, 7), (0, 3, 20, 0), (1, 2, 40, 8)]);
        let (first, last) = (watched.seen.ports[0], watched.seen.ports[2]);
        assert_eq!((first.paused, first.marks, last.marks), (Span::from_ns(40), 2, 1));
    }
}
