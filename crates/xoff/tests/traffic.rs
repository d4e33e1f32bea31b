//! Traffic of every kind through a small network, from the scenario's text to the flows' records.

use std::path::Path;
use xoff_engine::Time;
use xoff_fabric::record::FlowRecord;
use xoff_scenario::load::{Loaded, Options, Scenario};

fn load(traffic: &str, seed: u64) -> Loaded {
    xoff_schemes::install_all();
    let text = format!(
        "[run]\nstop = \"20ms\"\n[scheme]\nname = \"none\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\n\
         hosts_per_leaf = 4\nhost_rate = \"10Gbps\"\nhost_delay = \"1us\"\nfabric_rate = \"40Gbps\"\nfabric_delay = \"1us\"\n\
         [[traffic]]\n{traffic}\n"
    );
    let options = Options { seed: Some(seed), ..Options::default() };
    match Scenario::from_text("test.toml", text, Path::new(".")).load(&options) {
        Ok(loaded) => loaded,
        Err(errors) => panic!("{}", errors[0]),
    }
}

fn run(traffic: &str, seed: u64) -> Vec<FlowRecord> {
    let loaded = load(traffic, seed);
    let schemes: Vec<_> = loaded.schemes.iter().map(|scheme| &scheme.values).collect();
    let sources = loaded.traffic.iter().map(|plan| plan.build(seed)).collect();
    let mut world = xoff_schemes::world(loaded.plan, &schemes, sources, None);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    world.flows.sort_by_key(|flow| flow.id);
    std::mem::take(&mut world.flows)
}

#[test]
fn every_sized_flow_of_every_kind_arrives() {
    for (traffic, count) in [
        ("kind = \"burst\"\nsources = \"h[0..5]\"\ndestinations = \"h7\"\nsize = \"64KB\"\nflows_per_pair = 4", 24),
        ("kind = \"permutation\"\nsize = \"1MB\"", 8),
        ("kind = \"all-to-all\"\nsizes = \"20KB\"\nstagger = \"50us\"", 56),
        ("kind = \"poisson\"\nsizes = \"alistorage\"\nload = 0.3\nflows = 500", 500),
        ("kind = \"hotspot\"\nsizes = \"64KB\"\nload = 0.2\nflows = 300", 300),
        ("kind = \"incast\"\nsizes = \"20KB\"\ndegree = 7\nperiod = \"1ms\"\nevents = 10", 70),
        (
            "kind = \"synchronised-reads\"\nclients = \"h0\"\nservers = \"h[1..7]\"\nunit = \"100KB\"\nblocks = 5\nconnections = \"fresh\"",
            35,
        ),
    ] {
        let flows = run(traffic, 1);
        assert_eq!(flows.len(), count, "{traffic}");
        for flow in &flows {
            assert_eq!(Some(flow.delivered_bytes), flow.size_bytes, "{traffic}: {flow:?}");
            assert!(flow.acked_at.is_some(), "{traffic}: {flow:?}");
        }
        assert_eq!(flows, run(traffic, 1), "{traffic}");
    }
}

#[test]
fn a_block_is_asked_for_when_the_last_is_complete() {
    let flows = run(
        "kind = \"synchronised-reads\"\nclients = \"h0\"\nservers = \"h[1..7]\"\nunit = \"100KB\"\nblocks = 4\nrequest_delay = \"7us\"\nconnections = \"fresh\"",
        1,
    );
    let delay = xoff_engine::Span::from_us(7);
    for (before, after) in flows.chunks(7).zip(flows.chunks(7).skip(1)) {
        let complete = before.iter().filter_map(|flow| flow.acked_at).max().unwrap();
        assert!(after.iter().all(|flow| flow.start == complete + delay));
    }
}

#[test]
fn open_connections_carry_all_blocks_and_close() {
    let reads = |more: &str| {
        let table = "kind = \"synchronised-reads\"\nclients = \"h0\"\nservers = \"h[1..7]\"\nunit = \"100500B\"\n";
        run(&format!("{table}{more}"), 1)
    };
    let flows = reads("blocks = 4\nrequest_delay = \"7us\"");
    assert_eq!(flows.len(), 7, "one flow per server");
    // Whole packets: 101 for 100 500 bytes. Blocks of 7 of them at 10 Gb/s take 612 us each.
    assert!(flows.iter().all(|flow| flow.delivered_bytes == 4 * 101_000), "{flows:?}");
    assert!(flows.iter().all(|flow| flow.start == flows[0].start && flow.size_bytes.is_none()));
    let flows = reads("until = \"1ms\"");
    assert_eq!((flows.len(), flows[0].delivered_bytes), (7, 2 * 101_000), "asked for at 0 and at about 0.6 ms");
}

#[test]
fn bursts_make_the_mean_rate_and_a_stop_ends_them() {
    let traffic = "kind = \"on-off\"\nsources = [\"h0\", \"h1\"]\ndestinations = [\"h4\", \"h5\"]\nburst = \"10KB\"\nrate = \"2Gbps\"\ngaps = \"exponential\"\nstop = \"15ms\"";
    for flow in run(traffic, 3) {
        // 2 Gb/s for 15 ms.
        let share = flow.delivered_bytes as f64 / 3.75e6;
        assert!((share - 1.0).abs() < 0.2, "{share}");
        assert_eq!(flow.size_bytes, None);
    }
}

#[test]
fn caps_change_and_pinned_paths_hold() {
    let traffic = "kind = \"flows\"\nstop = \"4ms\"\nrate_cap = \"2Gbps\"\n[[traffic.flow]]\nsrc = \"h0\"\ndst = \"h4\"\npath = [\"leaf0\", \"spine1\", \"leaf1\"]\n\
                   [[traffic.flow]]\nsrc = \"h1\"\ndst = \"h5\"\ncaps = [{ at = \"2ms\", rate = \"1Gbps\" }]\n\
                   [[traffic.flow]]\nsrc = \"h2\"\ndst = \"h6\"\ncaps = [{ at = \"2ms\", rate = \"none\" }]";
    let loaded = load(traffic, 1);
    let spine = loaded.plan.nodes.iter().position(|node| node.name == "spine1").unwrap() as u32;
    let flows = run(traffic, 1);
    assert!(flows[0].path.iter().flatten().any(|port| loaded.plan.node_of(*port) == spine), "{:?}", flows[0].path);
    // 2 Gb/s throughout; 1 Gb/s in the second half; the whole link, headers apart, in the second half.
    for (flow, megabytes) in flows.iter().zip([1.0, 0.75, 0.5 + 2.5]) {
        let share = flow.delivered_bytes as f64 / 1e6 / megabytes;
        assert!((0.9..=1.001).contains(&share), "{share} of what the limits allow");
        assert!(flow.start == Time::ZERO && flow.delivered_at.is_none());
    }
}

#[test]
fn one_scheme_within_and_another_between_data_centres() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios/two-datacentres.toml");
    let mut sets = vec!["traffic.2.scheme=mlcc".to_owned(), "run.stop=20ms".to_owned()];
    sets.extend(
        ["100us", "100us", "10ms"].iter().enumerate().map(|(row, until)| format!("traffic.{row}.until={until}")),
    );
    let options = Options { sets, scheme: Some("hpcc".to_owned()), ..Options::default() };
    let loaded = Scenario::open(&path).unwrap().load(&options).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let labels: Vec<&str> = loaded.schemes.iter().map(|scheme| scheme.label.as_str()).collect();
    assert_eq!(labels, ["hpcc", "mlcc"]);
    let mut world = xoff_run::drive::build(&loaded);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert!(
        world
            .flows
            .iter()
            .all(|flow| labels[usize::from(flow.scheme)] == ["hpcc", "hpcc", "mlcc"][flow.source as usize])
    );
    assert!((0..2).all(|slot| world.flows.iter().any(|flow| flow.scheme == slot && flow.delivered_at.is_some())));
}

#[test]
fn traffic_may_keep_one_path_beside_others_that_spread() {
    for mode in
        ["mode = \"spray\"\nspray_at = \"switch\"", "mode = \"reps\"", "mode = \"adaptive\"", "mode = \"conga\""]
    {
        let pair = |name: &str, multipath| {
            format!(
                "kind = \"burst\"\nname = \"{name}\"\nsources = \"h0\"\ndestinations = \"h4\"\nsize = \"500KB\"\n{multipath}"
            )
        };
        let traffic = format!(
            "{}\n[[traffic]]\n{}\n[routing]\n{mode}\n[host]\nrecovery = \"sack\"",
            pair("storage", "multipath = false"),
            pair("job", "")
        );
        let flows = run(&traffic, 1);
        let spreads: Vec<bool> = flows.iter().map(|flow| flow.multipath.spread.is_some()).collect();
        assert_eq!(spreads, [false, true], "{mode}");
        assert_eq!(flows[0].path.iter().count(), 1, "{mode}");
    }
}
