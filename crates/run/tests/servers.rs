//! Networks of servers at work: inside a server, along a rail, between rails, and with a leaf that dies.

use std::path::Path;
use xoff_engine::{BitRate, LinkRate, Span};
use xoff_fabric::record::FlowRecord;
use xoff_scenario::{Options, Scenario};

/// The flows of a run, in the order of their start.
fn run(text: &str) -> Vec<FlowRecord> {
    xoff_schemes::install_all();
    let loaded = match Scenario::from_text("test.toml", text, Path::new(".")).load(&Options::default()) {
        Ok(loaded) => loaded,
        Err(errors) => panic!("{}", errors[0]),
    };
    let schemes: Vec<_> = loaded.schemes.iter().map(|scheme| &scheme.values).collect();
    let sources = loaded.traffic.iter().map(|plan| plan.build(1)).collect();
    let mut world = xoff_schemes::world(loaded.plan, &schemes, sources, None);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    world.flows.sort_by_key(|flow| flow.id);
    std::mem::take(&mut world.flows)
}

fn flow(src: &str, dst: &str, start: &str) -> String {
    format!(
        "[[traffic]]\nkind = \"burst\"\nsources = \"{src}\"\ndestinations = \"{dst}\"\nsize = \"1000B\"\nstart = \"{start}\"\n"
    )
}

fn took(flow: &FlowRecord) -> Option<Span> {
    flow.delivered_at.map(|at| at - flow.start)
}

#[test]
fn a_packet_takes_what_its_links_take() {
    let network = "[run]\nstop = \"1ms\"\n[scheme]\nname = \"none\"\n\
        [topology]\nkind = \"rail\"\nservers = 4\nsegment_servers = 2\nspines = 2\nfabric_rate = \"800Gbps\"\n";
    let flows = run(&format!(
        "{network}{}{}{}{}",
        flow("s0.g0", "s0.g7", "0ps"),
        flow("s0.n3", "s1.n3", "10us"),
        flow("s0.n3", "s2.n3", "20us"),
        flow("s0.n3", "s1.n4", "30us"),
    ));
    // 1000 B of payload are 1082 B on the wire, stored and forwarded at every switch.
    let over = |gbps: u64, ns: u64| LinkRate::new(BitRate::from_gbps(gbps)).serialise(1082) + Span::from_ns(ns);
    let inside = over(2880, 25) * 2;
    let (leaf, spine) = (over(400, 500) * 2, over(400, 500) * 2 + over(800, 500) * 2);
    let times: Vec<Option<Span>> = flows.iter().map(took).collect();
    assert_eq!(times, [Some(inside), Some(leaf), Some(spine), Some(spine)]);
    assert!(flows.iter().all(|flow| took(flow) == Some(flow.ideal)));
}

#[test]
fn a_leaf_that_dies_takes_one_port_of_its_nics_along() {
    let network = |planes: u32| {
        format!(
            "[run]\nstop = \"1ms\"\n[scheme]\nname = \"none\"\n\
             [topology]\nkind = \"dual-plane\"\nservers = 4\nsegment_servers = 2\nspines = 2\nplanes = {planes}\n\
             [[fault]]\nkind = \"link-down\"\nlink = \"leaf0<->*\"\nat = \"5us\"\n"
        )
    };
    for planes in [1, 2] {
        let flows = run(&format!(
            "{}{}{}{}{}",
            network(planes),
            flow("s0.n0.p0", "s1.n0.p0", "10us"),
            flow("s0.n0.p0", "s2.n0.p0", "11us"),
            flow("s0.n0.p1", "s1.n0.p1", "12us"),
            flow("s0.n0.p1", "s2.n0.p1", "13us"),
        ));
        let arrived: Vec<bool> = flows.iter().map(|flow| took(flow) == Some(flow.ideal)).collect();
        assert_eq!(arrived, [false, false, true, true], "{planes} planes");
        assert!(flows[..2].iter().all(|flow| flow.delivered_bytes == 0), "{planes} planes");
    }
}
