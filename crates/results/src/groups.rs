//! How evenly equal-cost links were used: the load of the busiest over the mean, in every window of a run.

use super::names::Names;
use super::shared_links::Course;
use super::tables::GroupRow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use xoff_engine::Span;
use xoff_fabric::activity::{Activity, PortWindow};
use xoff_fabric::pfc::mtu_wire_bytes;
use xoff_fabric::plan::{NodeKind, Plan, peer};
use xoff_fabric::route::Routes;

/// A window of fewer packets per link is uneven under any routing, so windows are joined until a link has time for
/// these.
const PACKETS_LEAST: u64 = 20;

/// A switch's equal-cost links towards some destinations.
pub(crate) struct Group {
    pub(crate) ports: Vec<u32>,
    rates_bps: Vec<f64>,
    /// Windows of the run that are taken together.
    joined: u32,
    /// Joined window at hand, and what each link sent in it.
    at: u32,
    bytes: Vec<u64>,
    sum: f64,
    pub(crate) tx_bytes: u64,
    worst: Option<f64>,
    /// Joined windows in which something was sent, and the ratio in each.
    course: Vec<(u32, f64)>,
}

impl Group {
    fn new(of: &Links, every: Span) -> Group {
        Group {
            joined: (of.least_s / every.as_s()).ceil().clamp(1.0, 1e6) as u32,
            bytes: vec![0; of.ports.len()],
            ports: of.ports.clone(),
            rates_bps: of.rates_bps.clone(),
            at: 0,
            sum: 0.0,
            tx_bytes: 0,
            worst: None,
            course: Vec::new(),
        }
    }

    fn add(&mut self, row: &PortWindow) {
        let at = row.window / self.joined;
        if at != self.at {
            self.close();
            self.at = at;
        }
        if let Some(place) = self.ports.iter().position(|&port| port == row.port) {
            self.bytes[place] += row.tx_bytes;
        }
    }

    /// Ends a window. One in which nothing was sent does not count.
    fn close(&mut self) {
        let total: u64 = self.bytes.iter().sum();
        if total == 0 {
            return;
        }
        let loads = || self.bytes.iter().zip(&self.rates_bps).map(|(&bytes, rate)| bytes as f64 / rate);
        let ratio = loads().fold(0.0, f64::max) * self.bytes.len() as f64 / loads().sum::<f64>();
        self.sum += ratio * total as f64;
        self.tx_bytes += total;
        self.worst = Some(self.worst.map_or(ratio, |worst| worst.max(ratio)));
        self.course.push((self.at, ratio));
        self.bytes.fill(0);
    }

    /// Mean over windows by bytes, and the largest; none if nothing was sent.
    pub(crate) fn load_max_over_mean(&self) -> Option<(f64, f64)> {
        self.worst.map(|worst| (self.sum / self.tx_bytes as f64, worst))
    }
}

/// Equal-cost links of a switch, and the shortest window in which their loads can be compared.
struct Links {
    ports: Vec<u32>,
    rates_bps: Vec<f64>,
    least_s: f64,
}

impl Links {
    fn new(plan: &Plan, ports: &[u32]) -> Links {
        let rates_bps: Vec<f64> = ports.iter().map(|&port| plan.direction(port).rate.bps() as f64).collect();
        let slowest = rates_bps.iter().copied().fold(f64::INFINITY, f64::min);
        let bits = (8 * PACKETS_LEAST * u64::from(mtu_wire_bytes(plan))) as f64;
        Links { ports: ports.to_vec(), rates_bps, least_s: bits / slowest }
    }
}

/// All groups of a network as it starts.
pub(crate) struct Groups(Vec<Links>);

impl Groups {
    pub(crate) fn of(plan: &Plan) -> Groups {
        let routes = Routes::new(plan, |_| true);
        let mut sets: BTreeSet<&[u32]> = BTreeSet::new();
        for (node, _) in (0..).zip(&plan.nodes).filter(|(_, node)| node.kind == NodeKind::Switch) {
            let mut before: &[u32] = &[];
            for edge in 0..routes.edges() as u32 {
                let hops = routes.next_hops_to(node, edge);
                if hops.len() > 1 && hops != before {
                    sets.insert(hops);
                }
                before = hops;
            }
        }
        Groups(sets.into_iter().map(|ports| Links::new(plan, ports)).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that sent something, with what they sent.
    pub(crate) fn measure(&self, activity: &Activity) -> Vec<Group> {
        let mut groups: Vec<Group> = self.0.iter().map(|links| Group::new(links, activity.every)).collect();
        let mut groups_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, group) in groups.iter().enumerate() {
            group.ports.iter().for_each(|&port| groups_of.entry(port).or_default().push(place));
        }
        for row in activity.ports.iter() {
            for &place in groups_of.get(&row.port).map_or(&[][..], Vec::as_slice) {
                groups[place].add(&row);
            }
        }
        groups.iter_mut().for_each(Group::close);
        groups.retain(|group| group.tx_bytes > 0);
        groups
    }
}

/// The mean over all groups and windows by bytes, and the largest of any window.
pub(crate) fn all(groups: &[Group]) -> Option<(f64, f64)> {
    let bytes: u64 = groups.iter().map(|group| group.tx_bytes).sum();
    let sum: f64 = groups.iter().map(|group| group.sum).sum();
    let worst = groups.iter().filter_map(|group| group.worst).fold(0.0, f64::max);
    (bytes > 0).then(|| (sum / bytes as f64, worst))
}

/// Groups whose course is drawn: those that sent most.
const DRAWN: usize = 6;

/// Ends of windows in microseconds and the ratio in each, of the groups that sent most, by the name of their switch.
pub(crate) fn courses(groups: &[Group], names: &Names, every: Span) -> Vec<Course> {
    let mut order: Vec<&Group> = groups.iter().collect();
    order.sort_by_key(|group| (Reverse(group.tx_bytes), group.ports[0]));
    let course = |group: &&Group| {
        let end_us = |at: u32| (every * u64::from(group.joined)).as_us() * f64::from(at + 1);
        let layer = names.layer_of(peer(group.ports[0]));
        Course {
            name: format!("{}, {} links to layer {layer}", names.node_name_of(group.ports[0]), group.ports.len()),
            points: group.course.iter().map(|&(at, ratio)| (end_us(at), ratio)).collect(),
        }
    };
    order.iter().take(DRAWN).map(course).collect()
}

/// A row for each group.
pub(crate) fn rows<'a>(groups: &'a [Group], names: &'a Names, every: Span) -> impl Iterator<Item = GroupRow<'a>> {
    groups.iter().filter_map(move |group| {
        let (mean, worst) = group.load_max_over_mean()?;
        let links: Vec<&str> = group.ports.iter().map(|&port| names.port(port)).collect();
        let window = every * u64::from(group.joined);
        let tx_bytes = group.tx_bytes;
        Some(GroupRow { port: group.ports[0], links: links.join("|"), tx_bytes, window, mean, worst, names })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use xoff_engine::Time;
    use xoff_fabric::plan::Direction;

    /// A group of links of so many Gb/s, and what each sent in window after window.
    fn spread(gbps: &[u64], windows: &[&[u64]]) -> Group {
        let mut plan = fixture::plan();
        plan.links.truncate(1);
        let link = plan.links[0].clone();
        plan.links = gbps
            .iter()
            .map(|&gbps| xoff_fabric::plan::Link {
                a_to_b: Direction { rate: xoff_engine::BitRate::from_gbps(gbps), ..link.a_to_b },
                ..link.clone()
            })
            .collect();
        let ports: Vec<u32> = (0..gbps.len() as u32).map(|link| 2 * link).collect();
        let mut group = Group::new(&Links::new(&plan, &ports), Span::from_ms(1));
        assert_eq!(group.joined, 1);
        for (window, sent) in (0..).zip(windows) {
            for (&port, &tx_bytes) in ports.iter().zip(*sent) {
                group.add(&PortWindow { window, port, tx_bytes, queue_bytes: 0, paused: Span::ZERO, marks: 0 });
            }
        }
        group.close();
        group
    }

    #[test]
    fn paths_7_the_busiest_link_over_the_mean() {
        assert_eq!(spread(&[100; 4], &[&[100, 120, 80, 100]]).load_max_over_mean(), Some((1.2, 1.2)));
        let halved = spread(&[100, 100, 100, 50], &[&[100, 100, 100, 50]]);
        assert_eq!(halved.load_max_over_mean(), Some((1.0, 1.0)), "a link of half the rate with half of the bytes");
        let windows: [&[u64]; 3] = [&[30, 10], &[0, 0], &[10, 10]];
        // (1.5 * 40 + 1 * 20) / 60.
        let group = spread(&[100; 2], &windows);
        assert_eq!(group.load_max_over_mean(), Some((80.0 / 60.0, 1.5)));
        // Nothing was sent in the second window, which has no point.
        let courses = courses(&[group], &Names::of(&fixture::plan()), Span::from_ms(1));
        assert_eq!(courses[0].points, [(1_000.0, 1.5), (3_000.0, 1.0)], "{courses:?}");
        assert_eq!(spread(&[100; 2], &[&[0, 0]]).load_max_over_mean(), None);
    }

    #[test]
    fn short_windows_are_taken_together() {
        let plan = fixture::plan();
        let every = Span::from_ns(100);
        let group = Group::new(&Links::new(&plan, &[6]), every);
        let packets = every * u64::from(group.joined);
        let rate = plan.direction(6).rate.bps() as f64;
        assert!(packets.as_s() * rate / 8.0 >= (PACKETS_LEAST * u64::from(mtu_wire_bytes(&plan))) as f64);
        let idle = Activity { until: Time::from_us(1), ..Activity::new(every) };
        assert!(Groups::of(&plan).measure(&idle).is_empty());
    }
}
