//! What the flows of a generator have in common, and where hosts hang in the network.

use std::sync::Arc;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::{Link, Node, NodeKind, peer};
use xoff_fabric::traffic::FlowSpec;

/// No port, no rack: what a switch has in the tables of [`Wiring`].
const NONE: u32 = u32::MAX;

/// Where each host is plugged in.
#[derive(Clone, Debug)]
pub struct Wiring {
    nic: Vec<u32>,
    rack: Vec<u32>,
    rate: Vec<BitRate>,
}

impl Wiring {
    /// Of a network in which every host has exactly one link.
    pub fn new(nodes: &[Node], links: &[Link]) -> Wiring {
        let mut wiring = Wiring {
            nic: vec![NONE; nodes.len()],
            rack: vec![NONE; nodes.len()],
            rate: vec![BitRate::default(); nodes.len()],
        };
        for (index, link) in links.iter().enumerate() {
            let port = index as u32 * 2;
            for (port, node, other, out) in
                [(port, link.a, link.b, &link.a_to_b), (port + 1, link.b, link.a, &link.b_to_a)]
            {
                if nodes[node as usize].kind == NodeKind::Host {
                    wiring.nic[node as usize] = port;
                    wiring.rack[node as usize] = other;
                    wiring.rate[node as usize] = out.rate;
                }
            }
        }
        wiring
    }

    pub fn is_host(&self, node: u32) -> bool {
        self.nic[node as usize] != NONE
    }

    pub fn nic(&self, host: u32) -> u32 {
        self.nic[host as usize]
    }

    /// The switch a host is plugged into.
    pub fn rack(&self, host: u32) -> u32 {
        self.rack[host as usize]
    }

    pub fn rate(&self, host: u32) -> BitRate {
        self.rate[host as usize]
    }

    pub fn total_bps(&self, hosts: &[u32]) -> f64 {
        hosts.iter().map(|host| self.rate(*host).bps() as f64).sum()
    }
}

/// A pinned path: the ports from switch to switch. The first and last hop follow from the hosts.
#[derive(Clone, Debug)]
pub struct Pinned {
    pub between_switches: Arc<[u32]>,
    pub wiring: Arc<Wiring>,
}

impl Pinned {
    fn ports(&self, src: u32, dst: u32) -> Box<[u32]> {
        let last = peer(self.wiring.nic(dst));
        std::iter::once(self.wiring.nic(src)).chain(self.between_switches.iter().copied()).chain([last]).collect()
    }
}

/// Settings that every flow of a generator shares.
#[derive(Clone, Debug)]
pub struct Template {
    pub class: u8,
    /// Sizes in ascending order, and the class of flows up to each; larger ones have `class`.
    pub class_by_size: Arc<[(u64, u8)]>,
    pub scheme: u8,
    pub weight: u16,
    pub initial_rate: Option<BitRate>,
    pub rate_cap: Option<BitRate>,
    pub path: Option<Pinned>,
    pub multipath: bool,
    pub probed: bool,
}

impl Template {
    /// What holds where a scenario says nothing.
    pub fn of_class(class: u8) -> Template {
        Template {
            class,
            class_by_size: Arc::default(),
            scheme: 0,
            weight: 1,
            initial_rate: None,
            rate_cap: None,
            path: None,
            multipath: true,
            probed: false,
        }
    }

    /// A flow of `size_bytes`, or an endless one that always has more to send.
    pub fn flow(&self, handle: u32, src: u32, dst: u32, size_bytes: Option<u64>, label: u32) -> FlowSpec {
        FlowSpec {
            size_bytes,
            class: self.class_of(size_bytes),
            scheme: self.scheme,
            weight: self.weight,
            initial_rate: self.initial_rate,
            rate_cap: self.rate_cap,
            path: self.path.as_ref().map(|path| path.ports(src, dst)),
            multipath: self.multipath,
            label,
            probed: self.probed,
            ..FlowSpec::new(handle, src, dst)
        }
    }

    fn class_of(&self, size_bytes: Option<u64>) -> u8 {
        let fits = |up_to: u64| size_bytes.is_some_and(|size| size <= up_to);
        self.class_by_size.iter().find(|(up_to, _)| fits(*up_to)).map_or(self.class, |(_, class)| *class)
    }
}

/// Names for living flows, taken again once their flow has ended, so that they stay small.
#[derive(Clone, Debug, Default)]
pub struct Handles {
    free: Vec<u32>,
    next: u32,
}

impl Handles {
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    pub fn give(&mut self, handle: u32) {
        self.free.push(handle);
    }
}

/// `start` and `count` steps of `each` later; beyond the clock it is never.
pub fn staggered(start: Time, each: Span, count: u64) -> Time {
    start.saturating_add(Span::from_ps(each.ps().saturating_mul(count)))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use xoff_fabric::plan::Direction;

    /// A row of switches, each with the same number of hosts. Hosts come first: host `i` hangs on
    /// switch `i / per_switch` by link `i`.
    pub fn row(switches: u32, per_switch: u32) -> (Vec<Node>, Vec<Link>) {
        let hosts = switches * per_switch;
        let direction = Direction { rate: BitRate::from_gbps(100), delay: Span::from_us(1), loss: 0.0 };
        let node = |name, kind, layer: &str| Node { name, kind, profile: 0, layer: layer.into(), domain: 0 };
        let mut nodes: Vec<Node> = (0..hosts).map(|i| node(format!("h{i}"), NodeKind::Host, "host")).collect();
        nodes.extend((0..switches).map(|i| node(format!("s{i}"), NodeKind::Switch, "switch")));
        let link = |a, b| Link { a, b, a_to_b: direction, b_to_a: direction };
        let mut links: Vec<Link> = (0..hosts).map(|i| link(i, hosts + i / per_switch)).collect();
        links.extend((1..switches).map(|i| link(hosts + i - 1, hosts + i)));
        (nodes, links)
    }

    pub fn wiring(switches: u32, per_switch: u32) -> Arc<Wiring> {
        let (nodes, links) = row(switches, per_switch);
        Arc::new(Wiring::new(&nodes, &links))
    }

    pub fn template() -> Template {
        Template::of_class(0)
    }

    #[test]
    fn a_pinned_path_runs_from_nic_to_nic() {
        let wiring = wiring(2, 2);
        assert_eq!((wiring.nic(3), wiring.rack(3), wiring.rate(3)), (6, 5, BitRate::from_gbps(100)));
        let pinned = Pinned { between_switches: [8].into(), wiring };
        let spec = Template { path: Some(pinned), ..template() }.flow(0, 1, 2, None, 0);
        // h1's NIC, s0->s1, s1->h2.
        assert_eq!(spec.path.as_deref(), Some(&[2, 8, 5][..]));
    }

    #[test]
    fn sizes_choose_the_class_and_what_is_larger_has_the_usual_one() {
        let template = Template { class: 7, class_by_size: [(10, 1), (100, 2)].into(), ..template() };
        let class = |size| template.flow(0, 1, 2, size, 0).class;
        assert_eq!([Some(1), Some(10), Some(11), Some(100), Some(101), None].map(class), [1, 1, 2, 2, 7, 7]);
    }

    #[test]
    fn handles_come_back() {
        let mut handles = Handles::default();
        assert_eq!([handles.take(), handles.take()], [0, 1]);
        handles.give(0);
        assert_eq!([handles.take(), handles.take()], [0, 2]);
    }
}
