//! Interfaces that are there, and are attached to: those of a testbed, seen from within one of its namespaces.

#[path = "../../tests/common/mod.rs"]
mod common;

use super::*;
use common::star_of;

/// A testbed of two hosts and a switch, and what `attach` says in the namespace of the switch.
fn attach_at_switch(of: &Plan, nodes: &[Attachment]) -> Option<(Testbed, Result<Testbed, Refusal>)> {
    let outer = common::built(&star_of(2))?;
    let inner = outer.namespaces[0].inside(|| Ok(Testbed::attach(of, nodes))).unwrap();
    Some((outer, inner))
}

/// The ports of the switch, in the order of the hosts at their other ends.
fn ports(plan: &Plan) -> Vec<u32> {
    common::ports_to_switch(plan).into_iter().map(|(_, port)| port).collect()
}

#[test]
fn frames_pass_by_attached_interfaces() {
    let plan = star_of(2);
    let [first, second] = ports(&plan)[..] else { panic!("two hosts") };
    let nodes = [(0, vec![(first, "to-h0".to_owned()), (second, "to-h1".to_owned())])];
    let Some((mut outer, inner)) = attach_at_switch(&plan, &nodes) else { return };
    let mut inner = inner.unwrap();
    let (mut ready, mut buffer) = (Vec::new(), [0; 100]);
    assert!(outer.send(peer(second), &[5; 70]).unwrap());
    inner.wait(Duration::from_secs(5), &mut ready).unwrap();
    assert_eq!(ready, [second]);
    assert_eq!(inner.receive(second, &mut buffer).unwrap(), Some(70));
    assert_eq!(buffer[..70], [5; 70]);
    assert!(inner.send(first, &[6; 80]).unwrap());
    outer.wait(Duration::from_secs(5), &mut ready).unwrap();
    assert!(ready.contains(&peer(first)), "{ready:?}");
    assert_eq!(outer.receive(peer(first), &mut buffer).unwrap(), Some(80));
    for testbed in [&mut inner, &mut outer] {
        assert_eq!(testbed.receive(first, &mut buffer).unwrap(), None, "what leaves by an interface is not received");
    }
    assert!(inner.send(peer(first), &[0; 60]).is_err(), "the host's end is elsewhere");
    assert_eq!(inner.shell_hint(0), "tcpdump -ni to-h0");
}

/// What `attach` says about one interface for one port.
fn refusal(of: &Plan, nodes: &[Attachment]) -> Option<String> {
    let (_outer, inner) = attach_at_switch(of, nodes)?;
    Some(inner.err().expect("it is refused").to_string())
}

#[test]
fn interfaces_that_cannot_be_used_are_refused_with_a_hint() {
    let mut plan = star_of(2);
    let [first, second] = ports(&plan)[..] else { panic!("two hosts") };
    let one = |node: u32, port: u32, interface: &str| [(node, vec![(port, interface.to_owned())])];
    let Some(said) = refusal(&plan, &one(0, first, "eth77")) else { return };
    assert!(said.starts_with("interface eth77: No such device") && said.contains("`ip link` lists all"), "{said}");
    let expect = |plan: &Plan, nodes: &[Attachment], words: &str| {
        let said = refusal(plan, nodes).unwrap();
        assert!(said.contains(words), "{said}");
    };
    expect(&plan, &one(0, first, "lo"), "it is down; hint: `ip link set lo up`");
    expect(&plan, &one(1, first, "to-h0"), "does not belong to h0");
    expect(&plan, &one(9, first, "to-h0"), "there is no node 9: the network has 3");
    expect(&plan, &one(0, 99, "to-h0"), "port 99 does not belong to sw");
    let twice = [(0, vec![(first, "to-h0".to_owned()), (second, "to-h0".to_owned())])];
    expect(&plan, &twice, "to-h0 is given to two ports");
    let both = [(0, vec![(first, "to-h0".to_owned()), (first, "to-h1".to_owned())])];
    expect(&plan, &both, "sw->h0 is given two interfaces");
    plan.hosts[0].mtu_bytes = 20_000;
    expect(&plan, &one(0, first, "to-h0"), "need an MTU of 20044 bytes, and to-h0 has 9216");
}

#[test]
fn a_network_with_more_ports_than_files_is_refused_with_numbers() {
    let refusal = allow_descriptors(u64::from(u32::MAX)).expect_err("no system allows that many");
    let said = refusal.to_string();
    assert!(said.contains("needs 4294967423 open files") && said.contains("ulimit -Hn"), "{said}");
    allow_descriptors(8).unwrap();
}
