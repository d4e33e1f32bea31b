//! Who gets which share of which port: max-min fair rates, kept up to date port by port.
//!
//! A queue is a port and a class. Each queue has a level: the largest rate that its flows get there, infinite while the
//! queue has more than they can use. The rate of a flow is the least of its limit and of the levels on its path. Levels
//! are solved port by port, each by what the other ports of its flows allow, until none changes; that is the max-min
//! fair allocation (Charny, Clark and Jain, ICC 1995). Only ports whose flows changed are solved, and of these only
//! those that are full. [`crate::filling`] solves the same exactly where that takes too long.
//!
//! Loads are whole numbers (1/1024 bit/s), so sums do not depend on the order of flows. Ports are solved in ascending
//! order, round by round, so the result does not depend on the order of changes within an instant.

use crate::filling::{Demand, fill};
use xoff_fabric::plan::{Classes, Service};

/// No port.
const NONE: u32 = u32::MAX;
/// Load units per bit/s.
const UNIT: f64 = 1024.0;
/// Solved ports per port of the network, before rates are filled progressively; and in any case so many.
const SOLVES_PER_PORT: usize = 8;
const SOLVES: usize = 2_048;
/// How often an update may fill progressively: ACKs follow data, and data the ACKs.
const FILLINGS: usize = 16;

/// A flow over more hops than this makes an update fill progressively at once: every port of it would look at all others.
const WIDE: usize = 64;

/// Changes of rates that are not passed on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Largest relative change of a flow's rate.
    pub rate: f64,
    /// Largest change of the ACKs of a port, in shares of its capacity.
    pub acks: f64,
}

impl Tolerance {
    /// What rounding leaves.
    pub const EXACT: Tolerance = Tolerance { rate: 1e-12, acks: 1e-12 };
    /// For large networks.
    pub const COARSE: Tolerance = Tolerance { rate: 1e-2, acks: 2e-3 };
}

/// A hop of a flow: its queue, its place among the members of the queue, and how much of its rate takes this hop.
#[derive(Clone, Copy, Debug)]
struct Hop {
    queue: u32,
    port: u32,
    place: u32,
    weight: f64,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    flow: u32,
    /// Index in the flow's hops.
    hop: u32,
    /// Weight of that hop.
    weight: f64,
}

/// The least level on the path of a flow, and the least of the other queues, with where they are: what a queue asks of
/// its flows, without a look at their paths.
#[derive(Clone, Copy, Debug)]
struct Least {
    level: f64,
    next: f64,
    queue: u32,
    next_queue: u32,
}

impl Least {
    const NONE: Least = Least { level: f64::INFINITY, next: f64::INFINITY, queue: NONE, next_queue: NONE };

    fn of(hops: &[Hop], levels: &[f64]) -> Least {
        let mut least = Least::NONE;
        for hop in hops {
            least.lower(hop.queue, levels[hop.queue as usize]);
        }
        least
    }

    fn lower(&mut self, queue: u32, level: f64) {
        if level < self.level {
            (self.next, self.next_queue) = (self.level, self.queue);
            (self.level, self.queue) = (level, queue);
        } else if level < self.next {
            (self.next, self.next_queue) = (level, queue);
        }
    }

    /// A queue of the path has another level. Returns whether that can only be known from all of them.
    fn moved(&mut self, queue: u32, level: f64) -> bool {
        if queue == self.queue {
            self.level = level;
            level > self.next
        } else if queue != self.next_queue {
            self.lower(queue, level);
            false
        } else if level < self.level {
            (self.next, self.next_queue) = (self.level, self.queue);
            (self.level, self.queue) = (level, queue);
            false
        } else {
            let higher = level > self.next;
            self.next = level;
            higher
        }
    }

    /// The least level but for one queue's.
    fn but(&self, queue: u32) -> f64 {
        if queue == self.queue { self.next } else { self.level }
    }
}

impl Default for Least {
    fn default() -> Least {
        Least::NONE
    }
}

#[derive(Clone, Debug, Default)]
struct Flow {
    limit: f64,
    least: Least,
    hops: Vec<Hop>,
    /// Ports that its ACKs take, and bits of ACKs there per bit of data.
    back: Vec<(u32, f64)>,
    rate: f64,
    /// The rate by which its ACKs count.
    ack_rate: f64,
    active: bool,
    moved: bool,
}

/// A cache line: every change of a rate reads and writes those of its path.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Port {
    /// What it may carry in load units, but for rounding.
    most: i64,
    /// Data that it carries, in load units.
    load: i64,
    /// ACKs that it carries now, and did when it was last solved.
    acks: i64,
    acks_solved: i64,
    /// Picoseconds times load units that it has sent until `since`.
    sent: u128,
    since: u64,
    /// A queue has a level.
    full: bool,
    touched: u8,
    dirty: bool,
}

const _: () = assert!(size_of::<Port>() == 64);

impl Port {
    fn new(capacity: f64) -> Port {
        Port { most: most(capacity), ..Port::default() }
    }

    /// Counts what it has sent, before its load changes.
    fn settle(&mut self, now: u64) {
        if self.since != now {
            self.sent += (self.load + self.acks).max(0) as u128 * u128::from(now - self.since);
            self.since = now;
        }
    }

    /// Notes the port after its load changed, unless it has room for more in any case.
    fn touch(&mut self, number: u32, how: u8, touched: &mut Vec<u32>) {
        if !self.full && self.load + self.acks <= self.most {
            return;
        }
        if self.touched == 0 {
            touched.push(number);
        }
        self.touched |= how;
    }
}

/// What a port of such a capacity may carry in load units, but for rounding.
fn most(capacity: f64) -> i64 {
    units(capacity * (1.0 + 1e-12))
}

/// A flow changed by more than the tolerance: a full port is solved.
const STRONG: u8 = 2;
/// A port is solved if it is overloaded, or if its ACKs changed.
const WEAK: u8 = 1;

/// Classes that are served together, by number and weight; groups go from the first served to the last.
type Group = Vec<(usize, f64)>;

/// Rates of all flows.
pub struct Shares {
    ports: Vec<Port>,
    /// Bits per second, by port.
    capacity: Vec<f64>,
    classes: usize,
    groups: Vec<Group>,
    /// Level and flows of each queue.
    levels: Vec<f64>,
    members: Vec<Vec<Member>>,
    flows: Vec<Flow>,
    tolerance: Tolerance,
    now: u64,
    touched: Vec<u32>,
    dirty: Vec<u32>,
    moved: Vec<u32>,
    /// Room for one queue: what other hops allow each member, and the same sorted.
    wants: Vec<(f64, f64)>,
    sorted: Vec<(f64, f64)>,
    /// Active flows over many hops.
    wide: usize,
    /// Ports solved since the start.
    solves: u64,
    fillings: u64,
}

fn units(bps: f64) -> i64 {
    (bps * UNIT) as i64
}

impl Shares {
    /// Ports of these capacities (bit/s), and no flow.
    pub fn new(capacity_bps: &[f64], classes: &Classes, tolerance: Tolerance) -> Shares {
        let count = classes.list.len();
        let mut strict: Vec<usize> = (0..count).filter(|&at| classes.list[at].service == Service::Strict).collect();
        strict.sort_by_key(|&at| std::cmp::Reverse(classes.list[at].priority));
        let mut groups: Vec<Group> = strict.into_iter().map(|class| vec![(class, 1.0)]).collect();
        let shared = |(at, class): (usize, &xoff_fabric::plan::Class)| match class.service {
            Service::Strict => None,
            Service::Weighted(quantum) => Some((at, f64::from(quantum))),
            Service::RoundRobin => Some((at, 1.0)),
        };
        let shared: Group = classes.list.iter().enumerate().filter_map(shared).collect();
        groups.extend((!shared.is_empty()).then_some(shared));
        let queues = capacity_bps.len() * count;
        Shares {
            capacity: capacity_bps.to_vec(),
            ports: capacity_bps.iter().map(|&capacity| Port::new(capacity)).collect(),
            classes: count,
            groups,
            levels: vec![f64::INFINITY; queues],
            members: vec![Vec::new(); queues],
            flows: Vec::new(),
            tolerance,
            now: 0,
            touched: Vec::new(),
            dirty: Vec::new(),
            moved: Vec::new(),
            wants: Vec::new(),
            sorted: Vec::new(),
            wide: 0,
            solves: 0,
            fillings: 0,
        }
    }

    /// Sets the time in picoseconds, from which on changes hold.
    pub fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// Gives a flow, which is not active, its hops (ports and weights), and the ports of its ACKs with bits of ACKs there
    /// per bit of data.
    pub fn set_flow(
        &mut self,
        flow: u32,
        class: u8,
        hops: impl IntoIterator<Item = (u32, f64)>,
        back: impl IntoIterator<Item = (u32, f64)>,
    ) {
        if flow as usize >= self.flows.len() {
            self.flows.resize(flow as usize + 1, Flow::default());
        }
        let of = &mut self.flows[flow as usize];
        debug_assert!(!of.active, "an active flow keeps its path");
        let queue = |port: u32| port * self.classes as u32 + u32::from(class);
        of.hops.clear();
        of.hops.extend(hops.into_iter().map(|(port, weight)| Hop { queue: queue(port), port, place: 0, weight }));
        of.back.clear();
        of.back.extend(back);
    }

    /// Sets the most that a flow may get, in bit/s.
    pub fn set_limit(&mut self, flow: u32, limit_bps: f64) {
        let of = &mut self.flows[flow as usize];
        of.limit = limit_bps;
        if of.active {
            self.take_what_is_free(flow);
            for hop in 0..self.flows[flow as usize].hops.len() {
                self.touch(self.flows[flow as usize].hops[hop].port, STRONG);
            }
        }
    }

    /// A flow begins to send.
    pub fn activate(&mut self, flow: u32) {
        if std::mem::replace(&mut self.flows[flow as usize].active, true) {
            return;
        }
        self.wide += usize::from(self.flows[flow as usize].hops.len() > WIDE);
        for hop in 0..self.flows[flow as usize].hops.len() {
            let Hop { queue, port, weight, .. } = self.flows[flow as usize].hops[hop];
            let members = &mut self.members[queue as usize];
            self.flows[flow as usize].hops[hop].place = members.len() as u32;
            members.push(Member { flow, hop: hop as u32, weight });
            self.touch(port, STRONG);
        }
        self.take_what_is_free(flow);
    }

    /// A flow ends, or pauses.
    pub fn deactivate(&mut self, flow: u32) {
        if !std::mem::replace(&mut self.flows[flow as usize].active, false) {
            return;
        }
        self.wide -= usize::from(self.flows[flow as usize].hops.len() > WIDE);
        self.set_rate(flow, 0.0, NONE);
        for hop in 0..self.flows[flow as usize].hops.len() {
            let Hop { queue, port, place, .. } = self.flows[flow as usize].hops[hop];
            let members = &mut self.members[queue as usize];
            members.swap_remove(place as usize);
            if let Some(&Member { flow, hop, .. }) = members.get(place as usize) {
                self.flows[flow as usize].hops[hop as usize].place = place;
            }
            self.touch(port, STRONG);
        }
    }

    /// Sets what a port sends, in bit/s.
    pub fn set_capacity(&mut self, port: u32, capacity_bps: f64) {
        self.capacity[port as usize] = capacity_bps;
        self.ports[port as usize].most = most(capacity_bps);
        self.make_dirty(port);
    }

    /// What a flow gets, in bit/s.
    pub fn rate(&self, flow: u32) -> f64 {
        self.flows.get(flow as usize).map_or(0.0, |flow| flow.rate)
    }

    /// Returns whether a flow is active.
    pub fn is_active(&self, flow: u32) -> bool {
        self.flows.get(flow as usize).is_some_and(|flow| flow.active)
    }

    /// Flows whose rate changed since this was last called are added to `out`, each once.
    pub fn take_moved(&mut self, out: &mut Vec<u32>) {
        for &flow in &self.moved {
            self.flows[flow as usize].moved = false;
        }
        out.append(&mut self.moved);
    }

    /// Wire bytes that a port has sent by `now` (picoseconds), data and ACKs.
    pub fn sent_bytes(&self, port: u32, now: u64) -> u64 {
        let port = &self.ports[port as usize];
        let load = (port.load + port.acks).max(0) as u128;
        let sent = port.sent + load * u128::from(now.saturating_sub(port.since));
        (sent / (8 * UNIT as u128 * 1_000_000_000_000)) as u64
    }

    /// What a port carries now in bit/s: data, and ACKs.
    pub fn load_bps(&self, port: u32) -> (f64, f64) {
        let port = &self.ports[port as usize];
        (port.load as f64 / UNIT, port.acks as f64 / UNIT)
    }

    /// Ports solved, and progressive fillings, since the start.
    pub fn work(&self) -> (u64, u64) {
        (self.solves, self.fillings)
    }

    /// Makes all rates max-min fair again, up to the tolerance.
    pub fn update(&mut self) {
        let most = SOLVES + SOLVES_PER_PORT * self.ports.len();
        let (mut solved, mut filled) = (0, 0);
        loop {
            self.judge_touched();
            if self.dirty.is_empty() {
                return;
            }
            let mut round = std::mem::take(&mut self.dirty);
            round.sort_unstable();
            if (solved > most || self.wide > 0) && filled < FILLINGS && self.groups.iter().all(|group| group.len() == 1)
            {
                filled += 1;
                solved = 0;
                self.fill_around(&round);
            } else if solved > 16 * most {
                // Only ACKs still move, by less and less.
                for &port in &round {
                    self.ports[port as usize].dirty = false;
                }
            } else {
                solved += round.len();
                for &port in &round {
                    self.solve(port);
                }
            }
            round.clear();
            if self.dirty.is_empty() {
                self.dirty = round;
            }
        }
    }

    fn make_dirty(&mut self, port: u32) {
        if !std::mem::replace(&mut self.ports[port as usize].dirty, true) {
            self.dirty.push(port);
        }
    }

    fn touch(&mut self, port: u32, how: u8) {
        self.ports[port as usize].touch(port, how, &mut self.touched);
    }

    /// Finds out which of the ports whose flows changed must be solved.
    fn judge_touched(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        for &number in &touched {
            let tolerance = self.tolerance.acks;
            let port = &mut self.ports[number as usize];
            let how = std::mem::take(&mut port.touched);
            let acks_moved =
                (port.acks - port.acks_solved).abs() as f64 > tolerance * self.capacity[number as usize] * UNIT;
            let over = |acks: i64| port.load + acks > port.most;
            let must = (port.full && (how & STRONG != 0 || acks_moved))
                || over(port.acks_solved.min(port.acks))
                || (acks_moved && over(port.acks));
            if acks_moved {
                port.acks_solved = port.acks;
            }
            if must {
                self.make_dirty(number);
            }
        }
        touched.clear();
        self.touched = touched;
    }

    /// A flow begins, or has another limit: it gets what its path has left.
    fn take_what_is_free(&mut self, flow: u32) {
        let of = &mut self.flows[flow as usize];
        of.least = Least::of(&of.hops, &self.levels);
        let rate = of.limit.min(of.least.level);
        self.set_rate(flow, rate, NONE);
    }

    /// Sets the level of a queue, which its flows remember.
    fn set_level(&mut self, queue: usize, level: f64) {
        if std::mem::replace(&mut self.levels[queue], level) == level {
            return;
        }
        for member in &self.members[queue] {
            let flow = &mut self.flows[member.flow as usize];
            if flow.least.moved(queue as u32, level) {
                flow.least = Least::of(&flow.hops, &self.levels);
            }
        }
    }

    fn solve(&mut self, port: u32) {
        self.solves += 1;
        let of = &mut self.ports[port as usize];
        of.dirty = false;
        of.acks_solved = of.acks;
        let mut rest = (self.capacity[port as usize] - of.acks as f64 / UNIT).max(0.0);
        let mut full = false;
        for group in 0..self.groups.len() {
            if let [(class, _)] = self.groups[group][..] {
                let (level, used) = self.solve_queue(port, class, rest);
                (rest, full) = ((rest - used).max(0.0), full | level.is_finite());
            } else {
                full |= self.solve_group(port, group, rest);
            }
        }
        self.ports[port as usize].full = full;
    }

    /// Finds the level of a queue that gets so much, and gives its flows their rates. Returns the level and what is used.
    fn solve_queue(&mut self, port: u32, class: usize, rest: f64) -> (f64, f64) {
        let queue = port as usize * self.classes + class;
        let mut wants = std::mem::take(&mut self.wants);
        wants.clear();
        for member in &self.members[queue] {
            let flow = &self.flows[member.flow as usize];
            wants.push((flow.limit.min(flow.least.but(queue as u32)), member.weight));
        }
        let level = level_of(&wants, rest, &mut self.sorted);
        self.set_level(queue, level);
        let mut used = 0.0;
        for (place, &(want, weight)) in wants.iter().enumerate() {
            let rate = want.min(level);
            used += weight * rate;
            self.set_rate(self.members[queue][place].flow, rate, port);
        }
        self.wants = wants;
        (level, used)
    }

    /// Shares a port out among classes by weight, and within each among its flows. Returns whether a class has a level.
    fn solve_group(&mut self, port: u32, group: usize, rest: f64) -> bool {
        let demand = |&(class, weight): &(usize, f64)| {
            let queue = port as usize * self.classes + class;
            let want = |member: &Member| {
                let flow = &self.flows[member.flow as usize];
                member.weight * flow.limit.min(flow.least.but(queue as u32))
            };
            (self.members[queue].iter().map(want).sum::<f64>() / weight, weight)
        };
        let demands: Vec<(f64, f64)> = self.groups[group].iter().map(demand).collect();
        // What a class of weight one gets.
        let unit = level_of(&demands, rest, &mut self.sorted);
        let mut full = false;
        for place in 0..demands.len() {
            let (class, weight) = self.groups[group][place];
            let (level, _) = self.solve_queue(port, class, if unit.is_finite() { weight * unit } else { rest });
            full |= level.is_finite();
        }
        full
    }

    fn set_rate(&mut self, number: u32, rate: f64, at: u32) {
        let Shares { flows, ports, tolerance, moved, touched, now, .. } = self;
        let flow = &mut flows[number as usize];
        let (before, change) = (flow.rate, (rate - flow.rate).abs());
        if rate == before {
            return;
        }
        let small = change <= tolerance.rate * before;
        let full = |hop: &Hop| hop.port != at && ports[hop.port as usize].full;
        if small && rate > before && at != NONE && flow.hops.iter().any(full) {
            // So little is not worth solving full ports again.
            return;
        }
        flow.rate = rate;
        if !std::mem::replace(&mut flow.moved, true) {
            moved.push(number);
        }
        let how = if small { WEAK } else { STRONG };
        for &Hop { port, weight, .. } in &flow.hops {
            let of = &mut ports[port as usize];
            of.settle(*now);
            of.load += units(weight * rate) - units(weight * before);
            if port != at {
                of.touch(port, how, touched);
            }
        }
        // ACKs follow in steps: each is a small part of a port.
        let acked = flow.ack_rate;
        if rate != 0.0 && (rate - acked).abs() <= tolerance.rate * acked {
            return;
        }
        flow.ack_rate = rate;
        for &(port, ack_share) in &flow.back {
            let of = &mut ports[port as usize];
            of.settle(*now);
            of.acks += units(ack_share * rate) - units(ack_share * acked);
            of.touch(port, WEAK, touched);
        }
    }

    /// Fills progressively all that hangs together with some ports.
    fn fill_around(&mut self, seeds: &[u32]) {
        self.fillings += 1;
        let (ports, flows) = self.component(seeds);
        let mut place = vec![NONE; self.ports.len()];
        for (at, &port) in ports.iter().enumerate() {
            place[port as usize] = at as u32;
        }
        for &port in &ports {
            let of = &mut self.ports[port as usize];
            (of.acks_solved, of.dirty, of.full) = (of.acks, false, false);
        }
        let rest =
            |port: &u32| (self.capacity[*port as usize] - self.ports[*port as usize].acks as f64 / UNIT).max(0.0);
        let mut rest: Vec<f64> = ports.iter().map(rest).collect();
        for group in 0..self.groups.len() {
            let class = self.groups[group][0].0;
            let of_class = |flow: &&u32| {
                let hops = &self.flows[**flow as usize].hops;
                hops.first().is_some_and(|hop| hop.queue as usize % self.classes == class)
            };
            let own: Vec<u32> = flows.iter().filter(of_class).copied().collect();
            let demand = |flow: &u32| {
                let Flow { hops, limit, .. } = &self.flows[*flow as usize];
                let port = |hop: &Hop| (place[hop.port as usize], hop.weight);
                Demand { limit_bps: *limit, ports: hops.iter().map(port).collect() }
            };
            let demands: Vec<Demand> = own.iter().map(demand).collect();
            let filled = fill(&rest, &demands);
            for (at, &port) in ports.iter().enumerate() {
                self.levels[port as usize * self.classes + class] = filled.levels_bps[at];
                self.ports[port as usize].full |= filled.levels_bps[at].is_finite();
            }
            for ((&flow, demand), &rate) in own.iter().zip(&demands).zip(&filled.rates_bps) {
                for &(port, weight) in &demand.ports {
                    rest[port as usize] = (rest[port as usize] - weight * rate).max(0.0);
                }
                self.set_rate(flow, rate, NONE);
            }
        }
        for &flow in &flows {
            let of = &mut self.flows[flow as usize];
            of.least = Least::of(&of.hops, &self.levels);
        }
        // These ports are solved; only ACKs may call for more.
        for &port in &ports {
            self.ports[port as usize].touched &= WEAK;
        }
    }

    /// Ports that flows join with some ports, in ascending order, and these flows.
    fn component(&self, seeds: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let (mut seen, mut known) = (vec![false; self.ports.len()], vec![false; self.flows.len()]);
        let (mut ports, mut flows) = (seeds.to_vec(), Vec::new());
        seeds.iter().for_each(|&port| seen[port as usize] = true);
        let mut next = 0;
        while let Some(&port) = ports.get(next) {
            next += 1;
            for class in 0..self.classes {
                for member in &self.members[port as usize * self.classes + class] {
                    if std::mem::replace(&mut known[member.flow as usize], true) {
                        continue;
                    }
                    flows.push(member.flow);
                    for &Hop { port, .. } in &self.flows[member.flow as usize].hops {
                        if !std::mem::replace(&mut seen[port as usize], true) {
                            ports.push(port);
                        }
                    }
                }
            }
        }
        ports.sort_unstable();
        (ports, flows)
    }

    /// Returns what is wrong if loads are not the sums of their flows, or if a port carries more than it can.
    pub fn check(&self) -> Result<(), String> {
        let mut sums = vec![(0i64, 0i64); self.ports.len()];
        for flow in self.flows.iter().filter(|flow| flow.active) {
            for hop in &flow.hops {
                sums[hop.queue as usize / self.classes].0 += units(hop.weight * flow.rate);
            }
            for &(port, ack_share) in &flow.back {
                sums[port as usize].1 += units(ack_share * flow.ack_rate);
            }
        }
        for (number, (port, &(load, acks))) in self.ports.iter().zip(&sums).enumerate() {
            if (port.load, port.acks) != (load, acks) {
                return Err(format!(
                    "port {number} carries {} of {load} data, {} of {acks} ACKs",
                    port.load, port.acks
                ));
            }
            let capacity = self.capacity[number];
            if port.load as f64 > capacity * UNIT * (1.0 + 1e-9) {
                return Err(format!("port {number} sends {} of {capacity} bit/s", port.load as f64 / UNIT));
            }
        }
        Ok(())
    }
}

/// The level at which wants (rate, weight) use up what there is; infinite if they do not.
fn level_of(wants: &[(f64, f64)], rest: f64, sorted: &mut Vec<(f64, f64)>) -> f64 {
    match wants {
        [] => return f64::INFINITY,
        &[(want, weight)] => return if want * weight <= rest { f64::INFINITY } else { rest / weight },
        _ => {}
    }
    // In whole numbers, so that the order of flows does not decide.
    if wants.iter().map(|&(want, weight)| i128::from(units(want * weight))).sum::<i128>() <= i128::from(units(rest)) {
        return f64::INFINITY;
    }
    sorted.clear();
    sorted.extend_from_slice(wants);
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut weight: f64 = sorted.iter().map(|want| want.1).sum();
    let mut rest = rest;
    for &(want, own) in sorted.iter() {
        if want * weight > rest {
            return rest / weight;
        }
        rest = (rest - want * own).max(0.0);
        weight -= own;
    }
    // All of it is used, to the last bit.
    sorted.last().map_or(f64::INFINITY, |want| want.0)
}
