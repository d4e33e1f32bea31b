//! Looks at every port and flow at the end of each window of time, without an event and without touching anything.
//!
//! Nobody knows beforehand how long a run will be. So windows are short at first, and whenever there is more than
//! should be kept, two become one. What is kept is bounded, and so is the time that looking takes.

use crate::contract::activity::{Activity, FlowWindow, PortNow, PortWindow, Rows};
use crate::contract::rows::Row;
use crate::contract::scheme::Scheme;
use crate::id::{FlowStateId, PortId};
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
    /// All ports, by number.
    ports: Vec<WatchedPort>,
    /// Of the flows that were alive at the end of the window before, by number.
    flows: Vec<(u32, FlowCounts)>,
    /// Room for those of the window at hand.
    flows_now: Vec<(u32, FlowCounts)>,
    alive: Vec<(u32, FlowStateId)>,
}

/// A port, and how it was when it was last seen to have done something.
struct WatchedPort {
    part: usize,
    id: PortId,
    /// What [`crate::part::Part::note_seen`] gave.
    sent: u64,
    counts: PortCounts,
}

#[derive(Clone, Copy, Default)]
struct FlowCounts {
    sent_wire_bytes: u64,
    delivered_bytes: u64,
    notifications: u64,
    marked: u64,
}

impl Watched {
    /// Nothing seen yet. `places` are part, and number there, of every port.
    fn new(places: impl ExactSizeIterator<Item = (usize, PortId)>) -> Watched {
        let rows_most = (places.len() * ROWS_PER_PORT).clamp(ROWS_AT_LEAST, ROWS_AT_MOST);
        let port = |(part, id)| WatchedPort { part, id, sent: 0, counts: PortCounts::default() };
        Watched {
            seen: Activity::new(SHORTEST),
            window: 0,
            looks: 0,
            rows_most,
            ports: places.map(port).collect(),
            flows: Vec::new(),
            flows_now: Vec::new(),
            alive: Vec::new(),
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
        self.seen.ports = merged(&self.seen.ports, |first, second| PortWindow {
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
        });
        self.seen.flows = merged(&self.seen.flows, |first, second| FlowWindow {
            window: first.window / 2,
            flow: first.flow,
            sent_wire_bytes: first.sent_wire_bytes + second.map_or(0, |row| row.sent_wire_bytes),
            delivered_bytes: first.delivered_bytes + second.map_or(0, |row| row.delivered_bytes),
            allowed_bps: second.unwrap_or(first).allowed_bps,
            notifications: first.notifications + second.map_or(0, |row| row.notifications),
            marked: first.marked + second.map_or(0, |row| row.marked),
        });
        self.seen.every = self.seen.every * 2;
        self.window /= 2;
        self.looks /= 2;
    }
}

/// Joins the rows of two windows and one port or flow, or makes do with the only one.
fn merged<R: Row>(rows: &Rows<R>, join: impl Fn(R, Option<R>) -> R) -> Rows<R> {
    let mut merged = Rows::default();
    let (mut pair, mut evens, mut odds) = (0, Vec::new(), Vec::new());
    for row in rows.iter() {
        let (window, _) = row.place();
        if window / 2 != pair {
            merge(&evens, &odds, |first, second| merged.push(&join(first, second)));
            pair = window / 2;
            evens.clear();
            odds.clear();
        }
        if window.is_multiple_of(2) { evens.push(row) } else { odds.push(row) }
    }
    merge(&evens, &odds, |first, second| merged.push(&join(first, second)));
    merged
}

/// Takes the rows of two windows by port or flow, those of the same together.
fn merge<R: Row>(evens: &[R], mut odds: &[R], mut take: impl FnMut(R, Option<R>)) {
    for even in evens {
        let (_, entity) = even.place();
        while let Some((odd, rest)) = odds.split_first().filter(|(odd, _)| odd.place().1 < entity) {
            take(*odd, None);
            odds = rest;
        }
        match odds.split_first().filter(|(odd, _)| odd.place().1 == entity) {
            Some((odd, rest)) => {
                take(*even, Some(*odd));
                odds = rest;
            }
            None => take(*even, None),
        }
    }
    odds.iter().for_each(|odd| take(*odd, None));
}

impl<S: Scheme> World<S> {
    /// From now on, which must be before anything has happened.
    pub fn watch_activity(&mut self) {
        let places = (0..self.state.plan.ports()).map(|port| self.place_of(port as u32));
        self.watched = Some(Box::new(Watched::new(places)));
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

    fn look_at_ports(&mut self, watched: &mut Watched, now: Time) {
        watched.looks += watched.ports.len();
        for (port, before) in (0..).zip(&mut watched.ports) {
            let (part, id) = (&mut self.parts[before.part], before.id);
            // Most ports are idle most of the time.
            if part.is_as_idle(id, before.sent) {
                continue;
            }
            let (seen, queue_bytes) = part.port_counts(id, now);
            before.sent = part.note_seen(id, &seen);
            let row = PortWindow {
                window: watched.window,
                port,
                tx_bytes: seen.tx_bytes.saturating_sub(before.counts.tx_bytes),
                queue_bytes,
                paused: seen.paused - before.counts.paused,
                marks: seen.marks - before.counts.marks,
            };
            if row.tx_bytes > 0 || row.queue_bytes > 0 || row.paused > Span::ZERO || row.marks > 0 {
                before.counts = seen;
                watched.seen.ports.push(&row);
            }
        }
    }

    fn look_at_flows(&self, watched: &mut Watched, now: Time) {
        let Watched { alive, flows_now, flows, .. } = watched;
        alive.clear();
        alive.extend(self.parts.iter().flat_map(|part| part.living_flows()));
        watched.looks += alive.len();
        if alive.len() > FLOWS_AT_ONCE {
            alive.select_nth_unstable_by_key(FLOWS_AT_ONCE, |&(id, _)| id);
            alive.truncate(FLOWS_AT_ONCE);
        }
        alive.sort_unstable_by_key(|&(id, _)| id);
        let mut before = flows.drain(..).peekable();
        for &(id, flow) in &*alive {
            while before.next_if(|(other, _)| *other < id).is_some() {}
            let last = before.next_if(|(other, _)| *other == id).map_or(FlowCounts::default(), |(_, counts)| counts);
            let (seen, start, allowed_bps) = self.flow_counts(flow);
            flows_now.push((id, seen));
            // A flow whose first act lies ahead has none yet.
            if start >= now {
                continue;
            }
            watched.seen.flows.push(&FlowWindow {
                window: watched.window,
                flow: id,
                sent_wire_bytes: seen.sent_wire_bytes - last.sent_wire_bytes,
                delivered_bytes: seen.delivered_bytes - last.delivered_bytes,
                allowed_bps,
                notifications: seen.notifications - last.notifications,
                marked: seen.marked - last.marked,
            });
        }
        drop(before);
        std::mem::swap(flows, flows_now);
    }

    /// What a flow has done, when it started, and what its scheme allows.
    fn flow_counts(&self, flow: FlowStateId) -> (FlowCounts, Time, f64) {
        let ((sender, details), receiver) = (self.sender_of(flow), self.receiver_of(flow));
        let counts = FlowCounts {
            sent_wire_bytes: sender.sent_wire_bytes,
            delivered_bytes: receiver.responder.seq.delivered_bytes,
            notifications: details.notifications,
            marked: receiver.marked,
        };
        let line_bps = self.line_rate(details.spec.src).bps() as f64;
        (counts, details.start, sender.allowed_bps(details.base_rtt, line_bps))
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
        let mut watched = Watched::new((0..4).map(|port| (0, PortId::new(port))));
        watched.window = 4;
        let rows = [row(0, 1, 10, 5), row(0, 3, 20, 6), row(1, 1, 30, 7), row(1, 2, 5, 9), row(3, 2, 40, 8)];
        rows.iter().for_each(|row| watched.seen.ports.push(row));
        watched.halve();
        assert_eq!((watched.window, watched.seen.every), (2, Span::from_us(2)));
        let seen: Vec<_> = watched.seen.ports.iter().collect();
        let brief: Vec<_> = seen.iter().map(|r| (r.window, r.port, r.tx_bytes, r.queue_bytes)).collect();
        // The queue of port 3 was empty at the end of the second window, which has no row of it.
        assert_eq!(brief, [(0, 1, 40, 7), (0, 2, 5, 9), (0, 3, 20, 0), (1, 2, 40, 8)]);
        assert_eq!((seen[0].paused, seen[0].marks, seen[3].marks), (Span::from_ns(40), 2, 1));
    }
}
