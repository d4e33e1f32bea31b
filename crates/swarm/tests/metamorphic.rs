//! What must not change does not: random scenarios run twice, the second time written otherwise.
//!
//! Flows are compared by the name of their traffic and their number within it. The test suite takes
//! some dozens of scenarios per relation; `XOFF_METAMORPHIC_CASES=10000` takes more, and
//! `XOFF_METAMORPHIC_FIRST=N` others.

use std::collections::BTreeMap;
use toml::{Table, Value};
use xoff_engine::Time;
use xoff_fabric::record::{Counters, FlowRecord};
use xoff_swarm::draw::{Draw, push, set, time};
use xoff_swarm::rewrite;
use xoff_swarm::trial::{self, Trial};
use xoff_swarm::{network, scenario, table};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// What two runs of one experiment must share of a flow: all but its number in the run, which
/// counts over all traffic, and those of its table and label.
fn shared(flow: &FlowRecord) -> FlowRecord {
    FlowRecord { id: 0, source: 0, label: 0, scheme: 0, ..flow.clone() }
}

/// A flow by the name of its traffic and its number within it.
type Name = (String, u32);

/// All flows but those of the island.
fn near(trial: &Trial) -> BTreeMap<Name, FlowRecord> {
    let flows = trial.flows().into_iter().filter(|((traffic, _), _)| *traffic != "far");
    flows.map(|((traffic, number), flow)| ((traffic.to_owned(), number), shared(flow))).collect()
}

fn first_difference(before: &BTreeMap<Name, FlowRecord>, after: &BTreeMap<Name, FlowRecord>) -> Option<String> {
    if before.len() != after.len() {
        return Some(format!("{} flows became {}", before.len(), after.len()));
    }
    let (name, flow) = before.iter().find(|(name, flow)| after.get(*name) != Some(*flow))?;
    Some(format!("{name:?}:\nbefore {flow:?}\nafter  {:?}", after.get(name)))
}

/// A scenario as text, if the loader accepts it and its network does not fail.
fn run(root: &Table) -> Option<Trial> {
    let loaded = trial::load(&root.to_string()).ok()?;
    let trial = trial::run(loaded).unwrap_or_else(|why| panic!("{why}:\n{root}"));
    trial.world.failure.is_none().then_some(trial)
}

/// Every scheme in turn takes the place of the drawn one, so that none is left out.
fn with_scheme(seed: u64) -> Table {
    let mut root = scenario(seed);
    let schemes = xoff_schemes::all();
    let spec = schemes[(seed % schemes.len() as u64) as usize];
    if seed.is_multiple_of(2) {
        set(&mut root, "scheme", table! { name = spec.name });
    }
    // Draws that the whole run shares depend on all of it; that is what the key says.
    if let Some(model) = root.get_mut("model").and_then(Value::as_table_mut) {
        model.remove("random");
    }
    root
}

/// The same with every node and link spelled out, so that others can be added.
fn spelled_out(seed: u64) -> Option<(Table, xoff_fabric::plan::Plan)> {
    let mut root = with_scheme(seed);
    let plan = trial::load(&root.to_string()).ok()?.plan;
    // One key holds for both directions.
    if plan.links.iter().any(|link| link.a_to_b.loss != link.b_to_a.loss) {
        return None;
    }
    rewrite::name_hosts(&mut root, &plan);
    set(&mut root, "topology", rewrite::custom_topology(&plan));
    Some((root, plan))
}

/// Runs a relation over many seeds; `relation` gives the two scenarios, if it suits the seed.
fn holds(what: &str, cases: u64, relation: impl Fn(u64) -> Option<(Table, Table)>) {
    let first = setting("XOFF_METAMORPHIC_FIRST", 0);
    let cases = setting("XOFF_METAMORPHIC_CASES", cases);
    let (mut compared, mut wrong) = (0, Vec::new());
    for seed in first..first + cases {
        let Some((before, after)) = relation(seed) else { continue };
        let Some(one) = run(&before) else { continue };
        let Some(other) = run(&after) else {
            wrong.push(format!("seed {seed}: the other run fails or is refused:\n{after}"));
            continue;
        };
        compared += 1;
        if let Some(difference) = first_difference(&near(&one), &near(&other)) {
            wrong.push(format!("seed {seed}: {difference}"));
        }
    }
    eprintln!("{what}: {compared} of {cases} compared, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{what}: {} of {compared} differ. The first:\n{}", wrong.len(), wrong[0]);
    assert!(compared >= cases / 8, "{what}: only {compared} of {cases} could be compared");
}

#[test]
fn a_network_spelled_out_is_the_same_network() {
    holds("spelled out", 60, |seed| {
        let (after, _) = spelled_out(seed)?;
        Some((with_scheme(seed), after))
    });
}

#[test]
fn a_far_flow_changes_nothing() {
    holds("far flow", 160, |seed| {
        let (mut before, plan) = spelled_out(seed)?;
        rewrite::add_island(&mut before, &plan);
        let mut after = before.clone();
        push(&mut after, "traffic", rewrite::far_traffic(seed % 3 * 1_000_000));
        Some((before, after))
    });
}

#[test]
fn a_table_before_the_others_changes_nothing() {
    holds("inserted table", 80, |seed| {
        let (mut before, plan) = spelled_out(seed)?;
        rewrite::add_island(&mut before, &plan);
        let mut after = before.clone();
        let traffic = after.get_mut("traffic").and_then(Value::as_array_mut)?;
        traffic.insert(0, rewrite::far_traffic(0).into());
        Some((before, after))
    });
}

#[test]
fn the_order_of_named_tables_changes_nothing() {
    holds("permuted tables", 160, |seed| {
        let before = with_scheme(seed);
        let mut after = before.clone();
        let traffic = after.get_mut("traffic").and_then(Value::as_array_mut)?;
        if traffic.len() < 2 {
            return None;
        }
        traffic.rotate_left(1);
        Some((before, after))
    });
}

#[test]
fn an_idle_host_changes_nothing() {
    holds("idle host", 120, |seed| {
        let (mut before, plan) = spelled_out(seed)?;
        // Dynamic thresholds are a share of what the ports leave of the buffer.
        before.remove("switch_profile");
        let switch = before.get_mut("switch").and_then(Value::as_table_mut)?;
        if switch.contains_key("pfc") {
            set(switch, "pfc", table! { threshold = "static", xoff = "60KB" });
        }
        let mut after = before.clone();
        rewrite::add_idle_host(&mut after, &plan);
        Some((before, after))
    });
}

#[test]
fn names_of_nodes_change_nothing() {
    holds("renamed node", 60, |seed| {
        let (before, plan) = spelled_out(seed)?;
        let node = &plan.nodes[Draw::new(seed, "rename").between(0, plan.nodes.len() as u64 - 1) as usize];
        let mut after = Value::Table(before.clone());
        rewrite::rename(&mut after, &node.name, "zed");
        Some((before, after.as_table()?.clone()))
    });
}

#[test]
fn looking_changes_nothing() {
    holds("probes, captures and measures", 80, |seed| {
        let before = with_scheme(seed);
        let mut after = before.clone();
        for key in ["probe", "capture", "measure"] {
            after.remove(key);
        }
        let network = network::network(&mut Draw::new(seed, "swarm network"));
        xoff_swarm::events::look(&mut Draw::new(seed, "look"), &network, 100_000_000, &mut after);
        Some((before, after))
    });
}

#[test]
fn a_scheme_that_nobody_uses_changes_nothing() {
    holds("unused scheme", 80, |seed| {
        let before = with_scheme(seed);
        let mut after = before.clone();
        let others = xoff_schemes::base::all();
        let spec = others[(seed % others.len() as u64) as usize];
        let schemes = after.entry("schemes").or_insert_with(|| Table::new().into());
        // The last in the order of the alphabet, in which the tables are written.
        set(schemes.as_table_mut()?, "unused", table! { name = spec.name });
        Some((before, after))
    });
}

/// Flows that ended before the end of a run are the same in a longer one.
#[test]
fn a_later_stop_changes_no_flow_that_had_ended() {
    let (mut compared, cases) = (0, setting("XOFF_METAMORPHIC_CASES", 80));
    for seed in 0..cases {
        let before = with_scheme(seed);
        let Some(one) = run(&before) else { continue };
        let mut after = before.clone();
        let stop = Time::from_ps(one.world.plan.run.stop.ps() * 3 / 2);
        set(after.get_mut("run").and_then(Value::as_table_mut).expect("a run"), "stop", time(stop.ps()));
        let Some(other) = run(&after) else { continue };
        let other = near(&other);
        for (name, flow) in near(&one).into_iter().filter(|(_, flow)| flow.acked_at.is_some()) {
            assert_eq!(other.get(&name), Some(&flow), "seed {seed}, {name:?}\n{before}");
            compared += 1;
        }
    }
    assert!(compared > cases, "only {compared} flows were compared");
}

/// Ten times slower wires, ten times longer delays: every time is ten times longer, nothing else
/// changes. Exact for flows without end-to-end control, since all rates divide a byte time without
/// rest and equal instants are taken in the order of scheduling (the hash of a tie contains the time).
#[test]
fn time_scales() {
    let (mut compared, cases) = (0, setting("XOFF_METAMORPHIC_CASES", 200));
    for seed in 0..cases {
        let Some((fast, slow)) = slowed(seed, 10) else { continue };
        let (Some(fast_run), Some(slow_run)) = (run(&fast), run(&slow)) else { continue };
        let times = |flow: &FlowRecord, factor: u64| {
            let scaled = |at: Option<Time>| at.map(|at| at.ps() * factor);
            let spans = [flow.ideal.ps() * factor, flow.base_rtt.ps() * factor, flow.start.ps() * factor];
            (spans, scaled(flow.delivered_at), scaled(flow.acked_at), scaled(flow.first_notified))
        };
        let counts = |of: &Counters| (of.packet_hops, of.pause_frames, of.data_packets_sent, of.drops_lossy);
        assert_eq!(counts(&fast_run.world.counters), counts(&slow_run.world.counters), "seed {seed}\n{fast}");
        let slow_flows = near(&slow_run);
        for (name, flow) in near(&fast_run) {
            assert_eq!(times(&flow, 10), times(&slow_flows[&name], 1), "seed {seed}, {name:?}\n{fast}");
            assert_eq!(
                (flow.path, flow.packets_sent),
                (slow_flows[&name].path.clone(), slow_flows[&name].packets_sent)
            );
            compared += 1;
        }
    }
    assert!(compared > cases, "only {compared} flows were compared");
}

/// A scenario whose times are all written, and the same on a slower clock.
fn slowed(seed: u64, factor: u64) -> Option<(Table, Table)> {
    let mut root = scenario(seed);
    set(&mut root, "scheme", table! { name = "none" });
    set(&mut root, "model", table! { ties = "scheduled" });
    root.remove("schemes");
    for row in rewrite::rows(&mut root, "traffic") {
        // Random instants are rounded to picoseconds, on either clock; odd rates too.
        let steady = matches!(row["kind"].as_str()?, "flows" | "burst" | "long-lived" | "permutation" | "all-to-all");
        if !steady && !row.contains_key("period") && !row.contains_key("times") {
            return None;
        }
        for key in ["scheme", "initial_rate", "rate_cap"] {
            row.remove(key);
        }
    }
    let resolved: Table = trial::load(&root.to_string()).ok()?.resolved.parse().ok()?;
    let mut slow = Value::Table(resolved.clone());
    rewrite::slow_down(&mut slow, factor);
    Some((resolved, slow.as_table()?.clone()))
}
