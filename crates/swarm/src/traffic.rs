//! `[[traffic]]`: every kind, sized so that a run takes milliseconds.

use crate::Network;
use crate::devices::Devices;
use crate::draw::{Draw, US, bytes, gbps, set, time};
use crate::table;
use toml::{Table, Value};

/// Data packets of a whole run, if every host sends all the time.
const PACKETS: u64 = 2_000;

/// What all tables of a scenario share.
pub struct Frame<'a> {
    hosts: &'a [String],
    classes: &'a [String],
    schemes: &'a [String],
    mtu_bytes: u64,
    slowest_gbps: u64,
    /// Longest simulated time of a scenario.
    pub horizon_ps: u64,
    /// Payload of all flows of one table.
    budget_bytes: u64,
}

impl<'a> Frame<'a> {
    pub fn new(draw: &mut Draw, network: &'a Network, devices: &'a Devices, schemes: &'a [String]) -> Frame<'a> {
        // Once in a while ten times as much.
        let packets = PACKETS * if draw.one_in(40) { 10 } else { 1 };
        let budget_bytes = packets * devices.mtu_bytes;
        let busy_ps = budget_bytes * 8_000 / (network.fastest_gbps * network.hosts.len() as u64);
        Frame {
            hosts: &network.hosts,
            classes: &devices.classes,
            schemes,
            mtu_bytes: devices.mtu_bytes,
            slowest_gbps: network.slowest_gbps,
            horizon_ps: busy_ps.max(20 * US),
            budget_bytes,
        }
    }

    /// A size of flows of which there are `count`; full packets, single bytes and the odd rest.
    fn size(&self, draw: &mut Draw, count: u64) -> u64 {
        let fair = (self.budget_bytes / count.max(1)).max(2);
        match draw.between(0, 7) {
            0 => 1,
            1 => self.mtu_bytes,
            2 => self.mtu_bytes * draw.between(1, 8),
            _ => draw.between(1, fair),
        }
    }

    /// Sizes as a scenario may give them.
    fn sizes(&self, draw: &mut Draw, count: u64) -> Value {
        let size = self.size(draw, count).max(2);
        match draw.between(0, 4) {
            0 => table! { kind = "uniform", min = bytes(1), max = bytes(size) }.into(),
            1 => table! { kind = "exponential", mean = bytes(size / 2 + 1) }.into(),
            2 => table! { kind = "pareto", mean = bytes(size / 2 + 1), shape = 1.5 }.into(),
            _ => bytes(size).into(),
        }
    }

    /// Two groups of hosts that do not overlap.
    fn sides(&self, draw: &mut Draw) -> (Vec<String>, Vec<String>) {
        let sender_count = draw.between(1, self.hosts.len() as u64 - 1) as usize;
        let senders = draw.some(self.hosts, sender_count);
        let others: Vec<String> = self.hosts.iter().filter(|host| !senders.contains(host)).cloned().collect();
        let receiver_count = draw.between(1, others.len() as u64) as usize;
        (senders, draw.some(&others, receiver_count))
    }

    fn soon(&self, draw: &mut Draw) -> u64 {
        draw.between(0, self.horizon_ps / 2)
    }

    fn later(&self, draw: &mut Draw, start_ps: u64) -> u64 {
        start_ps + draw.between(1, self.horizon_ps)
    }
}

pub const KINDS: [&str; 10] = [
    "flows",
    "long-lived",
    "burst",
    "permutation",
    "all-to-all",
    "poisson",
    "hotspot",
    "incast",
    "on-off",
    "synchronised-reads",
];

/// One to three tables, each with whether it ends by itself.
pub fn tables(draw: &mut Draw, frame: &Frame<'_>) -> Vec<(Table, bool)> {
    (0..*draw.pick(&[1, 1, 1, 2, 2, 3])).map(|number| one(draw, frame, number)).collect()
}

/// One or two jobs, and once in a while other traffic beside them.
pub fn jobs(draw: &mut Draw, frame: &Frame<'_>) -> Vec<(Table, bool)> {
    let jobs = if draw.one_in(3) { 2 } else { 1 };
    let mut tables: Vec<(Table, bool)> = (0..jobs).map(|number| (job(draw, frame, number), true)).collect();
    if draw.one_in(4) {
        tables.push(one(draw, frame, jobs));
    }
    tables
}

fn job(draw: &mut Draw, frame: &Frame<'_>, number: u64) -> Table {
    let kinds = ["all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "all-to-all"];
    let (size, slice) = (frame.size(draw, 4), draw.between(1, 4) * frame.mtu_bytes);
    let mut row = table! {
        kind = *draw.pick(&kinds),
        name = format!("j{number}"),
        start = time(if draw.one_in(2) { 0 } else { frame.soon(draw) }),
        bytes = bytes(size.max(frame.hosts.len() as u64)),
        iterations = draw.between(1, 3) as i64,
        channels = draw.between(1, 2) as i64
    };
    if draw.one_in(2) {
        let ranks = draw.between(2, frame.hosts.len().max(2) as u64) as usize;
        set(&mut row, "ranks", draw.some(frame.hosts, ranks));
    }
    if draw.one_in(2) {
        set(&mut row, "slice", bytes(slice));
        set(&mut row, "chunk", bytes(slice * draw.between(1, 3)));
    }
    if draw.one_in(3) {
        set(&mut row, "outstanding", draw.between(0, 3) as i64);
    }
    if draw.one_in(3) {
        set(&mut row, "connections", "fresh");
    }
    if draw.one_in(3) {
        set(&mut row, "completion", "acknowledged");
    }
    if draw.one_in(3) {
        set(&mut row, "overhead", time(draw.between(1, 3 * US)));
    }
    if draw.one_in(2) {
        set(&mut row, "compute", time(draw.between(1, 5 * US)));
    }
    row
}

fn one(draw: &mut Draw, frame: &Frame<'_>, number: u64) -> (Table, bool) {
    let kind = *draw.pick(&KINDS);
    let start_ps = if draw.one_in(2) { 0 } else { frame.soon(draw) };
    let (mut row, finite) = match kind {
        "flows" => flows(draw, frame, start_ps),
        "long-lived" | "burst" | "permutation" => batch(draw, frame, kind, start_ps),
        "all-to-all" => all_to_all(draw, frame),
        "poisson" | "hotspot" => random(draw, frame, kind, start_ps),
        "incast" => incast(draw, frame, start_ps),
        "on-off" => on_off(draw, frame, start_ps),
        _ => reads(draw, frame, start_ps),
    };
    set(&mut row, "kind", kind);
    set(&mut row, "name", format!("t{number}"));
    set(&mut row, "start", time(start_ps));
    common(draw, frame, &mut row);
    (row, finite)
}

/// Keys of every kind.
fn common(draw: &mut Draw, frame: &Frame<'_>, row: &mut Table) {
    if !frame.classes.is_empty() && draw.one_in(2) {
        set(row, "class", draw.pick(frame.classes).as_str());
    }
    if !frame.schemes.is_empty() && draw.one_in(2) {
        set(row, "scheme", draw.pick(frame.schemes).as_str());
    }
    if draw.one_in(6) {
        set(row, "weight", draw.between(1, 8) as i64);
    }
    if draw.one_in(8) {
        set(row, "initial_rate", gbps(*draw.pick(&[1, 3, 10])));
    }
    if draw.one_in(8) && row.get("rate").is_none() {
        set(row, "rate_cap", gbps(*draw.pick(&[1, 7, 50])));
    }
    if draw.one_in(4) {
        set(row, "probe", draw.one_in(2));
    }
}

fn flows(draw: &mut Draw, frame: &Frame<'_>, start_ps: u64) -> (Table, bool) {
    let count = draw.between(1, 6);
    let mut rows = Vec::new();
    let mut finite = true;
    for _ in 0..count {
        let ends = draw.some(frame.hosts, 2);
        let (src, dst) = if draw.one_in(2) { (&ends[0], &ends[1]) } else { (&ends[1], &ends[0]) };
        let mut row = table! { src = src.as_str(), dst = dst.as_str() };
        let own_start = if draw.one_in(2) { start_ps } else { frame.soon(draw) };
        set(&mut row, "start", time(own_start));
        if !draw.one_in(4) {
            set(&mut row, "size", bytes(frame.size(draw, count)));
        } else if draw.one_in(2) {
            set(&mut row, "stop", time(frame.later(draw, own_start)));
        } else {
            finite = false;
        }
        if draw.one_in(8) {
            let cap = table! { at = time(frame.later(draw, own_start)), rate = *draw.pick(&["1Gbps", "none"]) };
            set(&mut row, "caps", vec![cap]);
        }
        rows.push(row);
    }
    (table! { flow = rows }, finite)
}

fn batch(draw: &mut Draw, frame: &Frame<'_>, kind: &str, start_ps: u64) -> (Table, bool) {
    let mut row = Table::new();
    if kind == "permutation" {
        let count = draw.between(2, frame.hosts.len() as u64) as usize;
        set(&mut row, "hosts", draw.some(frame.hosts, count));
    } else {
        let (senders, receivers) = frame.sides(draw);
        let paired = senders.len() == receivers.len() || senders.len() == 1 || receivers.len() == 1;
        let pairing = *draw.pick(if paired { &["one-to-one", "all", "random"][..] } else { &["all", "random"][..] });
        set(&mut row, "sources", senders);
        set(&mut row, "destinations", receivers);
        set(&mut row, "pairing", pairing);
    }
    let per_pair = *draw.pick(&[1, 1, 2, 4]);
    set(&mut row, "flows_per_pair", per_pair as i64);
    let stagger_ps = if draw.one_in(2) { 0 } else { draw.between(1, US) };
    set(&mut row, "stagger", time(stagger_ps));
    let sized = kind == "burst" || draw.one_in(2);
    if sized {
        set(&mut row, "size", frame.sizes(draw, per_pair * frame.hosts.len() as u64));
    }
    // The last flow must start before all are stopped.
    let stopped = !sized && draw.one_in(2);
    if stopped {
        let last_ps = start_ps + stagger_ps * per_pair * 64;
        set(&mut row, "stop", time(frame.later(draw, last_ps)));
    }
    (row, sized || stopped)
}

fn all_to_all(draw: &mut Draw, frame: &Frame<'_>) -> (Table, bool) {
    let count = draw.between(2, frame.hosts.len().min(5) as u64);
    let mut row = table! { hosts = draw.some(frame.hosts, count as usize), sizes = frame.sizes(draw, count * count) };
    set(&mut row, "shuffle", draw.one_in(2));
    if draw.one_in(2) {
        set(&mut row, "stagger", time(draw.between(1, 5 * US)));
    }
    (row, true)
}

fn random(draw: &mut Draw, frame: &Frame<'_>, kind: &str, start_ps: u64) -> (Table, bool) {
    let flows = draw.between(2, 40);
    let mut row = table! { load = draw.part(0.05, 0.95), sizes = frame.sizes(draw, flows) };
    if draw.one_in(2) {
        let (senders, receivers) = frame.sides(draw);
        set(&mut row, "sources", senders);
        set(&mut row, "destinations", receivers);
    }
    if kind == "hotspot" {
        set(&mut row, "hot_share", 1.0);
        set(&mut row, "hot_fraction", draw.part(0.1, 1.0));
    }
    set(&mut row, "flows", flows as i64);
    if draw.one_in(4) {
        set(&mut row, "until", time(frame.later(draw, start_ps)));
    }
    if draw.one_in(6) {
        set(&mut row, "load_counts", "wire");
    }
    (row, true)
}

fn incast(draw: &mut Draw, frame: &Frame<'_>, start_ps: u64) -> (Table, bool) {
    let (senders, receivers) = frame.sides(draw);
    let degree = draw.between(1, senders.len() as u64);
    let events = draw.between(1, 4);
    let mut row = table! { degree = degree as i64, sizes = frame.sizes(draw, degree * events) };
    set(&mut row, "sources", senders);
    set(&mut row, "destinations", receivers);
    match draw.between(0, 2) {
        0 => set(&mut row, "times", (0..events).map(|_| time(frame.soon(draw))).collect::<Vec<String>>()),
        1 => {
            set(&mut row, "period", time(draw.between(1, frame.horizon_ps)));
            set(&mut row, "events", events as i64);
        }
        _ => {
            set(&mut row, "load", draw.part(0.05, 0.9));
            set(&mut row, "until", time(frame.later(draw, start_ps)));
            set(&mut row, "events", events as i64);
        }
    }
    (row, true)
}

fn on_off(draw: &mut Draw, frame: &Frame<'_>, start_ps: u64) -> (Table, bool) {
    let (senders, receivers) = frame.sides(draw);
    let mut row = table! { sources = senders, destinations = receivers, pairing = "all" };
    // Bursts of single bytes at a rate are an event every few picoseconds.
    set(&mut row, "burst", bytes(frame.size(draw, 20).max(frame.mtu_bytes)));
    if draw.one_in(2) {
        set(&mut row, "rate", gbps(draw.between(1, frame.slowest_gbps)));
    } else {
        set(&mut row, "off", time(draw.between(US, 10 * US)));
    }
    set(&mut row, "gaps", *draw.pick(&["fixed", "exponential"]));
    let finite = draw.one_in(2);
    if finite {
        set(&mut row, "stop", time(frame.later(draw, start_ps)));
    }
    (row, finite)
}

fn reads(draw: &mut Draw, frame: &Frame<'_>, start_ps: u64) -> (Table, bool) {
    let (clients, servers) = frame.sides(draw);
    let blocks = draw.between(1, 6);
    let units = blocks * (clients.len() * servers.len()) as u64;
    let mut row = table! { clients = clients, servers = servers, unit = frame.sizes(draw, units) };
    set(&mut row, "blocks", blocks as i64);
    set(&mut row, "connections", *draw.pick(&["persistent", "fresh"]));
    if draw.one_in(3) {
        set(&mut row, "request_delay", time(draw.between(0, 3 * US)));
    }
    if draw.one_in(4) {
        set(&mut row, "until", time(frame.later(draw, start_ps)));
    }
    (row, true)
}
