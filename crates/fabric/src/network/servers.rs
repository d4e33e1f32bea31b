//! Servers: machines of several GPUs and NICs, and the networks that are made for them.
//!
//! A server is a group of hosts, each with one link: one for every GPU, on the server's own scale-up switch, and one
//! for every port of a NIC, on Ethernet. What goes between a GPU and its NIC crosses no link. So scale-up networks
//! and planes are pieces of their own: no way leads from one to another.

use crate::network::plan::{Node, NodeKind};
use crate::network::topology::{Graph, LinkSpec};

/// The layer of hosts that are GPUs.
pub const GPU_LAYER: &str = "gpu";
/// The layer of hosts that are ports of NICs.
pub const NIC_LAYER: &str = "nic";
/// The layer of the switches inside servers.
pub const SCALE_UP_LAYER: &str = "scale-up";

/// Which hosts make up which server. Ranks are GPUs, numbered server by server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Servers {
    gpus: u32,
    nics: u32,
    ports: u32,
    planes: u32,
    rails: bool,
    /// By rank; empty where servers have no scale-up network.
    gpu_hosts: Vec<u32>,
    /// By server, NIC and port.
    port_hosts: Vec<u32>,
}

impl Servers {
    /// Of a network that knows none: every host is a server of one GPU and one NIC, without a scale-up network.
    pub fn one_for_each_host(nodes: &[Node]) -> Servers {
        let hosts = nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Host);
        let port_hosts = hosts.map(|(node, _)| node as u32).collect();
        Servers { gpus: 1, nics: 1, ports: 1, planes: 1, rails: false, gpu_hosts: Vec::new(), port_hosts }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.port_hosts.len() as u32 / (self.nics * self.ports)
    }

    /// GPUs of each.
    pub fn gpus(&self) -> u32 {
        self.gpus
    }

    /// NICs of each.
    pub fn nics(&self) -> u32 {
        self.nics
    }

    /// Ports of each NIC.
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// Parts of the Ethernet that are not connected with each other.
    pub fn planes(&self) -> u32 {
        self.planes
    }

    /// The plane that this port of every NIC is in.
    pub fn plane_of(&self, port: u32) -> u32 {
        port % self.planes
    }

    /// Whether NICs of the same number have leaves of their own.
    pub fn rails(&self) -> bool {
        self.rails
    }

    /// GPUs of all servers.
    pub fn ranks(&self) -> u32 {
        self.count() * self.gpus
    }

    /// The server of a rank.
    pub fn server_of(&self, rank: u32) -> u32 {
        rank / self.gpus
    }

    /// The NIC of its server that a rank sends by unless it is told otherwise.
    pub fn nic_of(&self, rank: u32) -> u32 {
        rank % self.gpus * self.nics / self.gpus
    }

    /// Whether GPUs of a server have a network of their own.
    pub fn has_scale_up(&self) -> bool {
        !self.gpu_hosts.is_empty()
    }

    /// The host on the scale-up network that is a rank; none where there is no such network.
    pub fn gpu_host(&self, rank: u32) -> Option<u32> {
        self.gpu_hosts.get(rank as usize).copied()
    }

    /// The hosts that are the ports of a NIC, in order.
    pub fn port_hosts(&self, server: u32, nic: u32) -> &[u32] {
        let first = (server * self.nics + nic) * self.ports;
        &self.port_hosts[first as usize..][..self.ports as usize]
    }

    /// What people call a rank: `s3.g2`, or its host's name.
    pub fn rank_name<'a>(&self, rank: u32, nodes: &'a [Node]) -> &'a str {
        let host = self.gpu_host(rank).unwrap_or_else(|| self.port_hosts(self.server_of(rank), 0)[0]);
        &nodes[host as usize].name
    }

    /// What people call a server: `s3`, or its host's name.
    pub fn server_name<'a>(&self, server: u32, nodes: &'a [Node]) -> &'a str {
        let name = self.rank_name(server * self.gpus, nodes);
        if self.has_scale_up() { name.split('.').next().unwrap_or(name) } else { name }
    }
}

/// Servers below two layers of switches.
///
/// Servers are numbered through, `s0` on; of server `s3` the GPUs are `s3.g0` on, around the switch `s3.nvs`, and the
/// NICs `s3.n0` on, or `s3.n0.p0` on where a NIC has several ports. Leaves are numbered by segment, rail and port,
/// spines by plane.
#[derive(Clone, Copy, Debug)]
pub struct ServerFabric {
    /// In all.
    pub servers: u32,
    /// Of each server.
    pub gpus: u32,
    /// Of each server; divides `gpus`.
    pub nics: u32,
    /// Of each NIC, each to a leaf of its own.
    pub ports: u32,
    /// Parts without a link between them; divides `ports`. Port `p` of every NIC is in plane `p mod planes`.
    pub planes: u32,
    /// NIC `r` of every server of a segment goes to the leaves of rail `r`; otherwise all NICs of a segment to the same.
    pub rails: bool,
    /// Servers that share leaves; the last segment may have fewer.
    pub segment_servers: u32,
    /// Of each plane, every one linked to every leaf of it.
    pub spines: u32,
    /// Links between each leaf and each spine.
    pub parallel: u32,
    /// Port of a NIC to leaf.
    pub nic: LinkSpec,
    /// Leaf to spine.
    pub fabric: LinkSpec,
    /// GPU to scale-up switch.
    pub scale_up: LinkSpec,
}

impl ServerFabric {
    /// Leaves of all planes.
    pub fn leaves(&self) -> u64 {
        let segments = u64::from(self.servers.div_ceil(self.segment_servers));
        segments * u64::from(if self.rails { self.nics } else { 1 }) * u64::from(self.ports)
    }

    /// How many nodes it will have.
    pub fn nodes(&self) -> u64 {
        let of_a_server = 1 + u64::from(self.gpus) + u64::from(self.nics) * u64::from(self.ports);
        let switches = self.leaves().saturating_add(u64::from(self.planes) * u64::from(self.spines));
        u64::from(self.servers).saturating_mul(of_a_server).saturating_add(switches)
    }

    /// How many links it will have.
    pub fn links(&self) -> u64 {
        let of_a_server = u64::from(self.gpus) + u64::from(self.nics) * u64::from(self.ports);
        let of_a_leaf = u64::from(self.spines) * u64::from(self.parallel);
        u64::from(self.servers).saturating_mul(of_a_server).saturating_add(self.leaves().saturating_mul(of_a_leaf))
    }

    /// The leaf of a port, by its number.
    fn leaf(&self, server: u32, nic: u32, port: u32) -> u32 {
        let segment = server / self.segment_servers;
        let rail = if self.rails { segment * self.nics + nic } else { segment };
        rail * self.ports + port
    }

    /// Nodes and links, and which of them are a server.
    pub fn build(&self) -> (Graph, Servers) {
        let mut graph = Graph::default();
        let leaves = graph.layer("leaf", self.leaves() as u32);
        let spines = graph.layer("spine", self.planes * self.spines);
        let inner: Vec<u32> = (0..self.servers).map(|s| graph.switch(format!("s{s}.nvs"), SCALE_UP_LAYER)).collect();
        let mut servers = Servers {
            gpus: self.gpus,
            nics: self.nics,
            ports: self.ports,
            planes: self.planes,
            rails: self.rails,
            gpu_hosts: Vec::new(),
            port_hosts: Vec::new(),
        };
        for (server, &switch) in (0..).zip(&inner) {
            for gpu in 0..self.gpus {
                let host = graph.node(format!("s{server}.g{gpu}"), NodeKind::Host, GPU_LAYER);
                graph.connect(host, switch, self.scale_up, 1);
                servers.gpu_hosts.push(host);
            }
            for (nic, port) in (0..self.nics).flat_map(|nic| (0..self.ports).map(move |port| (nic, port))) {
                let suffix = if self.ports > 1 { format!(".p{port}") } else { String::new() };
                let host = graph.node(format!("s{server}.n{nic}{suffix}"), NodeKind::Host, NIC_LAYER);
                graph.connect(host, leaves[self.leaf(server, nic, port) as usize], self.nic, 1);
                servers.port_hosts.push(host);
            }
        }
        for (number, &leaf) in (0..).zip(&leaves) {
            let plane = servers.plane_of(number % self.ports);
            for &spine in &spines[(plane * self.spines) as usize..][..self.spines as usize] {
                graph.connect(leaf, spine, self.fabric, self.parallel);
            }
        }
        (graph, servers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::pieces::pieces;
    use crate::network::plan::Link;
    use std::collections::{BTreeMap, BTreeSet};
    use xoff_engine::{BitRate, Span};

    fn link(gbps: u64) -> LinkSpec {
        LinkSpec { rate: BitRate::from_gbps(gbps), delay: Span::from_ns(500) }
    }

    /// A segment and a half of two NICs with two ports each.
    fn small(planes: u32, rails: bool) -> ServerFabric {
        ServerFabric {
            servers: 6,
            gpus: 4,
            nics: 2,
            ports: 2,
            planes,
            rails,
            segment_servers: 4,
            spines: 3,
            parallel: 2,
            nic: link(200),
            fabric: link(400),
            scale_up: link(2880),
        }
    }

    fn count(graph: &Graph, layer: &str) -> usize {
        graph.nodes.iter().filter(|node| node.layer == layer).count()
    }

    fn node(graph: &Graph, name: &str) -> u32 {
        graph.nodes.iter().position(|node| node.name == name).unwrap() as u32
    }

    /// Links of a node to nodes of a layer.
    fn degree(graph: &Graph, node: u32, layer: &str) -> usize {
        let other = |link: &Link| if link.a == node { link.b } else { link.a };
        let own = graph.links.iter().filter(|link| link.a == node || link.b == node);
        own.filter(|link| graph.nodes[other(link) as usize].layer == layer).count()
    }

    #[test]
    fn counts_are_those_that_were_announced() {
        for (planes, rails) in [(1, true), (2, true), (1, false), (2, false)] {
            let shape = small(planes, rails);
            let (graph, servers) = shape.build();
            assert_eq!((graph.nodes.len() as u64, graph.links.len() as u64), (shape.nodes(), shape.links()));
            assert_eq!(count(&graph, "leaf"), if rails { 8 } else { 4 });
            assert_eq!(count(&graph, "spine"), 3 * planes as usize);
            let layers = [SCALE_UP_LAYER, GPU_LAYER, NIC_LAYER].map(|layer| count(&graph, layer));
            assert_eq!(layers, [6, 24, 24]);
            assert_eq!((servers.count(), servers.ranks()), (6, 24));
            let names: BTreeSet<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
            assert_eq!(names.len(), graph.nodes.len(), "names repeat");
        }
    }

    #[test]
    fn a_rail_has_leaves_of_its_own() {
        let (graph, servers) = small(2, true).build();
        let leaf_of = |host: u32| {
            let link = graph.links.iter().find(|link| link.a == host).unwrap();
            graph.nodes[link.b as usize].name.as_str()
        };
        let port = |server: u32, nic: u32, port: u32| leaf_of(servers.port_hosts(server, nic)[port as usize]);
        assert_eq!([port(0, 0, 0), port(3, 0, 0), port(4, 0, 0)], ["leaf0", "leaf0", "leaf4"]);
        assert_eq!([port(0, 0, 1), port(0, 1, 0), port(5, 1, 1)], ["leaf1", "leaf2", "leaf7"]);
        // Four NICs below a leaf of the whole segment, two below one of the other; three spines, two links each.
        assert_eq!(degree(&graph, node(&graph, "leaf0"), NIC_LAYER), 4);
        assert_eq!(degree(&graph, node(&graph, "leaf7"), NIC_LAYER), 2);
        assert_eq!(degree(&graph, node(&graph, "leaf7"), "spine"), 6);
    }

    #[test]
    fn without_rails_a_server_has_one_leaf_for_each_port() {
        let (graph, _) = small(1, false).build();
        assert_eq!(degree(&graph, node(&graph, "leaf0"), NIC_LAYER), 8);
        assert_eq!(degree(&graph, node(&graph, "leaf3"), NIC_LAYER), 4);
    }

    #[test]
    fn ranks_find_their_hosts() {
        let (graph, servers) = small(2, true).build();
        assert_eq!((servers.server_of(14), servers.nic_of(14), servers.nic_of(13)), (3, 1, 0));
        assert_eq!(servers.rank_name(14, &graph.nodes), "s3.g2");
        assert_eq!(servers.server_name(3, &graph.nodes), "s3");
        let ports = servers.port_hosts(3, 1).iter().map(|host| graph.nodes[*host as usize].name.as_str());
        assert_eq!(ports.collect::<Vec<_>>(), ["s3.n1.p0", "s3.n1.p1"]);
        let single = ServerFabric { ports: 1, planes: 1, ..small(1, true) };
        let (graph, servers) = single.build();
        assert_eq!(graph.nodes[servers.port_hosts(5, 1)[0] as usize].name, "s5.n1");
    }

    #[test]
    fn a_network_without_servers_has_one_for_each_host() {
        let graph = crate::network::topology::star(3, link(100));
        let servers = Servers::one_for_each_host(&graph.nodes);
        assert_eq!((servers.count(), servers.ranks(), servers.has_scale_up()), (3, 3, false));
        assert_eq!((servers.rank_name(2, &graph.nodes), servers.server_name(2, &graph.nodes)), ("h2", "h2"));
        assert_eq!((servers.gpu_host(2), servers.port_hosts(2, 0)), (None, &[3][..]));
    }

    #[test]
    fn planes_and_scale_up_networks_are_pieces() {
        for (planes, rails) in [(1, true), (2, true), (1, false), (2, false)] {
            let (graph, servers) = small(planes, rails).build();
            let piece = pieces(&graph.nodes, &graph.links);
            let all: BTreeSet<u32> = piece.iter().copied().collect();
            assert_eq!(all.len(), 6 + planes as usize);
            let of = |server: u32, nic: u32, port: usize| piece[servers.port_hosts(server, nic)[port] as usize];
            assert_eq!(of(0, 0, 0), of(5, 1, 0));
            assert_eq!(of(0, 0, 0) == of(0, 0, 1), planes == 1);
        }
    }

    /// Whichever leaf dies, every two NICs have ports that a way leads between.
    #[test]
    fn two_leaves_for_each_nic_bear_the_loss_of_any() {
        for (planes, rails) in [(1, true), (2, true), (1, false), (2, false)] {
            let (graph, servers) = small(planes, rails).build();
            for leaf in (0..graph.nodes.len() as u32).filter(|n| graph.nodes[*n as usize].layer == "leaf") {
                let left: Vec<Link> = graph.links.iter().filter(|l| l.a != leaf && l.b != leaf).cloned().collect();
                let piece = pieces(&graph.nodes, &left);
                let mut reached: BTreeMap<u32, usize> = BTreeMap::new();
                for server in 0..servers.count() {
                    for nic in 0..servers.nics() {
                        let own: BTreeSet<u32> =
                            servers.port_hosts(server, nic).iter().map(|port| piece[*port as usize]).collect();
                        own.into_iter().for_each(|piece| *reached.entry(piece).or_default() += 1);
                    }
                }
                // One piece that all twelve NICs have a port in.
                assert!(
                    reached.values().any(|nics| *nics == 12),
                    "without {}: {reached:?}",
                    graph.nodes[leaf as usize].name
                );
            }
        }
    }
}
