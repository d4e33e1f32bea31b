//! Small networks, and a word in the log where a machine does not let them be built.
#![allow(dead_code)]

use std::io;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::*;
use xoff_fabric::topology::{Graph, LinkSpec, dumbbell, star};
use xoff_live::{Refusal, Testbed};
use xoff_yardstick::{found, skip};

const LINK: LinkSpec = LinkSpec { rate: BitRate::from_gbps(10), delay: Span::from_us(1) };

/// Hosts around the switch `sw`, which is node 0.
pub fn star_of(hosts: u32) -> Plan {
    plan(star(hosts, LINK))
}

/// Two switches with 11 hosts each.
pub fn with_24_nodes() -> Plan {
    plan(dumbbell(11, 11, LINK, LINK, 1))
}

/// Two switches with a host each, and several links between them.
pub fn with_parallel_links(links: u32) -> Plan {
    plan(dumbbell(1, 1, LINK, LINK, links))
}

/// Ports by which nodes send to node 0, by number of the node; and those at the other end.
pub fn ports_to_switch(plan: &Plan) -> Vec<(u32, u32)> {
    let ports = (0..plan.ports() as u32).filter(|port| plan.node_of(peer(*port)) == 0);
    ports.map(|port| (port, peer(port))).collect()
}

/// The testbed of a plan, or `None` where this machine lets nobody build it, which is said loudly.
pub fn built(plan: &Plan) -> Option<Testbed> {
    match Testbed::build(plan) {
        Ok(testbed) => found(Ok(testbed)),
        Err(refusal) if is_forbidden(&refusal) => {
            skip(&refusal.to_string(), ROOT);
            None
        }
        Err(refusal) => panic!("{refusal}"),
    }
}

/// What to do where namespaces are refused.
pub const ROOT: &str = "as root, or with CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN";

fn is_forbidden(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::Rights { .. } | Refusal::NotLinux => true,
        Refusal::System { error, .. } => error.kind() == io::ErrorKind::PermissionDenied,
        _ => false,
    }
}

fn plan(graph: Graph) -> Plan {
    let thresholds = Thresholds::Static { xoff_bytes: 100_000, xon_bytes: 90_000 };
    let pfc = PfcSettings { thresholds, ..PfcSettings::default() };
    Plan {
        nodes: graph.nodes,
        links: graph.links,
        classes: Classes { list: vec![Class::default()], control: 0 },
        switches: vec![SwitchSettings { buffer_bytes: 4_000_000, pfc, ..SwitchSettings::default() }],
        ack_path: AckPath::Symmetric,
        run: RunSettings { stop: Time::from_ms(1), deadlock_check: None, stall_after: None, ..RunSettings::default() },
        ..Plan::default()
    }
}
