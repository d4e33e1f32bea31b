//! The links of a network as pairs of virtual Ethernet interfaces, or as interfaces that are there: frames go in at one
//! port and come out at another.

use crate::links::Links;
use crate::names;
use crate::namespace::Namespace;
use crate::netlink::End;
use crate::port::{self, Accepts, Port};
use crate::refusal::Refusal;
use crate::rights;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsRawFd;
use std::process::{Child, Command};
use std::time::Duration;
use xoff_fabric::plan::{FrameSizes, HostSettings, Plan, peer};

/// What switches of datacentres usually carry.
const USUAL_MTU_BYTES: u32 = 9216;
const MOST_MTU_BYTES: u32 = 65_535;
/// Beyond headers that the plan knows: tags, and telemetry of schemes.
const SPARE_BYTES: u32 = 512;
/// Ethernet header and FCS: frames have them, an MTU does not count them.
const ETHERNET_BYTES: u32 = 18;
/// Files that the rest of the program may have open.
const OTHER_DESCRIPTORS: u64 = 128;

/// A node, and an interface for each of its ports that has one.
pub type Attachment = (u32, Vec<(u32, String)>);

/// The links of a plan as real ones. What was built vanishes with this value, and with the process however that ends.
pub struct Testbed {
    /// By number of the port; only those that were attached have one.
    ports: Vec<Option<Port>>,
    /// By number of the node; none if interfaces were attached.
    namespaces: Vec<Namespace>,
    /// By number of the node: a port that can be looked at.
    first_port: Vec<Option<u32>>,
    refused: u64,
}

impl Testbed {
    /// A namespace for every node, and a virtual Ethernet pair for every link. Interfaces are named after the node at
    /// the other end (`to-leaf0`). They have no IP addresses, so the kernel sends nothing by them on its own.
    pub fn build(plan: &Plan) -> Result<Testbed, Refusal> {
        rights::to_build()?;
        let needed_bytes = longest_packet(plan).saturating_add(SPARE_BYTES);
        if needed_bytes > MOST_MTU_BYTES {
            return Err(Refusal::LongFrames { needed_bytes, most_bytes: MOST_MTU_BYTES });
        }
        // While it is built, every node also has a netlink socket.
        allow_descriptors((2 * plan.nodes.len() + plan.ports()) as u64)?;
        let mut namespaces = Vec::with_capacity(plan.nodes.len());
        let mut links = Vec::with_capacity(plan.nodes.len());
        for node in &plan.nodes {
            let refused = || Refusal::system(format!("make a network namespace for {}", node.name));
            let namespace = Namespace::new().map_err(refused())?;
            links.push(namespace.inside(Links::open).map_err(refused())?);
            namespaces.push(namespace);
        }
        let names = names::interfaces(plan);
        make_pairs(plan, &names, needed_bytes.max(USUAL_MTU_BYTES), &links, &namespaces)?;
        let ports = open_ports(plan, &names, &links, &namespaces)?;
        Ok(Testbed::new(plan, ports.into_iter().map(Some).collect(), namespaces))
    }

    /// Takes interfaces that are there and up. Nothing about them changes, but that they accept frames to any address
    /// while the testbed lives. Ports without an interface cannot be used.
    pub fn attach(plan: &Plan, nodes: &[Attachment]) -> Result<Testbed, Refusal> {
        rights::to_attach()?;
        check_assignment(plan, nodes)?;
        allow_descriptors(plan.ports() as u64)?;
        let links = Links::open().map_err(Refusal::system("open a netlink socket"))?;
        let mut ports: Vec<Option<Port>> = (0..plan.ports()).map(|_| None).collect();
        for (port, interface) in nodes.iter().flat_map(|(_, ports)| ports) {
            ports[*port as usize] = Some(attached(&links, interface, longest_packet(plan))?);
        }
        Ok(Testbed::new(plan, ports, Vec::new()))
    }

    fn new(plan: &Plan, ports: Vec<Option<Port>>, namespaces: Vec<Namespace>) -> Testbed {
        let mut first_port = vec![None; plan.nodes.len()];
        for port in (0..plan.ports() as u32).rev().filter(|port| ports[*port as usize].is_some()) {
            first_port[plan.node_of(port) as usize] = Some(port);
        }
        Testbed { ports, namespaces, first_port, refused: 0 }
    }

    /// Sends a frame, from its Ethernet header on and without FCS, by a port; `false` if the kernel has no room for it.
    pub fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<bool> {
        let taken = self.port(port)?.send(frame)?;
        self.refused += u64::from(!taken);
        Ok(taken)
    }

    /// The length of the next frame that came to a port, if there is one. It does not wait. A port does not see what it
    /// sent itself.
    pub fn receive(&mut self, port: u32, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.port(port)?.receive(buffer)
    }

    /// Sleeps until a frame comes to any port, or for as long as told; `ready` then holds the ports that have frames.
    pub fn wait(&mut self, at_most: Duration, ready: &mut Vec<u32>) -> io::Result<()> {
        ready.clear();
        let open = || (0_u32..).zip(&self.ports).filter_map(|(number, port)| Some((number, port.as_ref()?)));
        let mut looks: Vec<PollFd> = open().map(|(_, port)| PollFd::new(port, PollFlags::IN)).collect();
        let timeout = Timespec::try_from(at_most).map_err(io::Error::other)?;
        match poll(&mut looks, Some(&timeout)) {
            // A signal ends the sleep as a frame does.
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
            Ok(_) => {
                let seen = open().zip(&looks).filter(|(_, look)| !look.revents().is_empty());
                ready.extend(seen.map(|((number, _), _)| number));
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Frames that the kernel had no room for when they were sent.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Frames that came to a port and were lost because too many waited there.
    pub fn lost(&mut self) -> io::Result<u64> {
        self.ports.iter_mut().flatten().map(Port::lost).sum()
    }

    /// The smallest of all receive buffers, in bytes as the kernel counts them: a frame takes up more than its length.
    pub fn receive_buffer_bytes(&self) -> io::Result<usize> {
        let sizes: io::Result<Vec<usize>> = self.ports.iter().flatten().map(Port::receive_buffer_bytes).collect();
        Ok(sizes?.into_iter().min().unwrap_or(0))
    }

    pub fn interface(&self, port: u32) -> Option<&str> {
        self.ports.get(port as usize)?.as_ref().map(Port::interface)
    }

    /// A command for another terminal that shows the frames of a node, while the testbed lives.
    pub fn shell_hint(&self, node: u32) -> String {
        let interface = self.first_port[node as usize].and_then(|port| self.interface(port)).unwrap_or("lo");
        let Some(namespace) = self.namespaces.get(node as usize) else {
            return format!("tcpdump -ni {interface}");
        };
        let (process, file) = (std::process::id(), namespace.descriptor().as_raw_fd());
        // Whoever wants into the network namespace must first have rights over it.
        let user = if in_user_namespace() {
            format!("--user=/proc/{process}/ns/user --preserve-credentials ")
        } else {
            String::new()
        };
        format!("nsenter {user}--net=/proc/{process}/fd/{file} tcpdump -ni {interface}")
    }

    /// Starts a command on the network of a node. The namespace then lives for as long as that runs.
    pub fn enter(&self, node: u32, command: &mut Command) -> io::Result<Child> {
        match self.namespaces.get(node as usize) {
            Some(namespace) => namespace.inside(|| command.spawn()),
            None => command.spawn(),
        }
    }

    fn port(&self, port: u32) -> io::Result<&Port> {
        let found = self.ports.get(port as usize).and_then(Option::as_ref);
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("port {port} has no interface")))
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        port::close(self.ports.drain(..).flatten().collect());
    }
}

/// The longest frame that hosts send, as an MTU counts it.
fn longest_packet(plan: &Plan) -> u32 {
    let headers = |sizes: &FrameSizes| sizes.data_header_bytes.max(sizes.tcp_header_bytes);
    let frame = |host: &HostSettings| host.mtu_bytes.saturating_add(headers(&host.sizes));
    plan.hosts.iter().map(frame).max().unwrap_or(0).saturating_sub(ETHERNET_BYTES)
}

/// Raises the limit on open files if it is too low.
fn allow_descriptors(own: u64) -> Result<(), Refusal> {
    let needed = own + OTHER_DESCRIPTORS;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let new = Rlimit { current: Some(needed), maximum: maximum.map(|most| most.max(needed)) };
    setrlimit(Resource::Nofile, new).map_err(|_| Refusal::Descriptors { needed, limit: maximum.unwrap_or(u64::MAX) })
}

/// Locally administered, and unlike any address in a frame: so the kernel takes every frame for somebody else's, and
/// its IP layer drops it unread.
fn address(port: u32) -> [u8; 6] {
    let [a, b, c, d] = port.to_be_bytes();
    [0x06, 0x00, a, b, c, d]
}

fn make_pairs(
    plan: &Plan,
    names: &[String],
    mtu_bytes: u32,
    links: &[Links],
    namespaces: &[Namespace],
) -> Result<(), Refusal> {
    for port in (0..plan.ports() as u32).step_by(2) {
        let [here, there] = [port, peer(port)].map(|port| plan.node_of(port) as usize);
        let [a, b] =
            [port, peer(port)].map(|port| End { name: &names[port as usize], address: address(port), mtu_bytes });
        let made = links[here].new_pair(&a, &b, &namespaces[there]);
        made.map_err(Refusal::system(format!("make a link for {}", plan.port_name(port))))?;
    }
    Ok(())
}

fn open_ports(plan: &Plan, names: &[String], links: &[Links], namespaces: &[Namespace]) -> Result<Vec<Port>, Refusal> {
    let place = |port: u32| (plan.node_of(port) as usize, &names[port as usize]);
    let refused = |port: u32| {
        let (node, name) = place(port);
        Refusal::system(format!("open {name} of {}", plan.nodes[node].name))
    };
    let all = 0..plan.ports() as u32;
    // An interface has a carrier once both ends are up.
    for port in all.clone() {
        let (node, name) = place(port);
        links[node].raise(name).map_err(refused(port))?;
    }
    let open = |port: u32| {
        let (node, name) = place(port);
        let link = links[node].await_ready(name).map_err(refused(port))?;
        namespaces[node].inside(|| Port::open(name, link.index, Accepts::Usual)).map_err(refused(port))
    };
    all.map(open).collect()
}

/// Every port belongs to its node, and no port or interface is named twice.
fn check_assignment(plan: &Plan, nodes: &[Attachment]) -> Result<(), Refusal> {
    let (mut ports, mut interfaces) = (BTreeSet::new(), BTreeSet::new());
    for (node, port, interface) in
        nodes.iter().flat_map(|(node, ports)| ports.iter().map(move |(port, interface)| (*node, *port, interface)))
    {
        let wrong = if node as usize >= plan.nodes.len() {
            format!("there is no node {node}: the network has {}", plan.nodes.len())
        } else if port as usize >= plan.ports() || plan.node_of(port) != node {
            format!("port {port} does not belong to {}", plan.nodes[node as usize].name)
        } else if !ports.insert(port) {
            format!("{} is given two interfaces", plan.port_name(port))
        } else if !interfaces.insert(interface) {
            format!("{interface} is given to two ports; hint: every port needs an interface of its own")
        } else {
            continue;
        };
        return Err(Refusal::Assignment(wrong));
    }
    Ok(())
}

fn attached(links: &Links, interface: &str, needed_bytes: u32) -> Result<Port, Refusal> {
    let refuse = |why: String| Refusal::Interface { interface: interface.to_owned(), why };
    let link = links.find(interface).map_err(|error| refuse(format!("{error}; hint: `ip link` lists all")))?;
    if !link.is_up {
        return Err(refuse(format!("it is down; hint: `ip link set {interface} up`")));
    }
    if !link.is_running {
        return Err(refuse("it has no carrier; hint: is a cable in, and its other end up?".to_owned()));
    }
    if link.mtu_bytes < needed_bytes {
        let (interface, mtu_bytes) = (interface.to_owned(), link.mtu_bytes);
        return Err(Refusal::Mtu { interface, needed_bytes, mtu_bytes });
    }
    Port::open(interface, link.index, Accepts::Everything).map_err(|error| refuse(error.to_string()))
}

/// Whether users are not all what they are outside.
fn in_user_namespace() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().ne(["0", "0", "4294967295"])
}

#[cfg(test)]
mod tests;
