//! What must hold of every run, whatever was simulated.

use crate::Trial;
use std::collections::BTreeMap;
use xoff_engine::{Time, TimeResolution};
use xoff_fabric::plan::{Fault, FaultKind, Headroom, NicScheduler, NodeKind, Plan, Rule, SetAside, peer};
use xoff_fabric::record::{Failure, FlowRecord, Metric, PortReport, Sample, Spread};
use xoff_fabric::simulation::Simulation;
use xoff_scenario::budget;

/// Every law that a run broke, in words.
pub fn broken(trial: &Trial) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(trial.world.check_conservation().err());
    found.extend(counted(trial));
    found.extend(trial.world.flows.iter().find_map(|flow| flow_is_possible(trial, flow)));
    found.extend(lossless(trial));
    found.extend(failure_is_explained(trial));
    found.extend(in_order(trial));
    found.extend(not_faster_than_wires(trial));
    found.extend(within_buffers(trial));
    found.extend(trial.world.flows.iter().find_map(|flow| path_leads_there(trial, flow)));
    found.extend(links_carry_what_was_sent(trial));
    found.extend(pauses_alternate(trial));
    found.extend(trial.world.samples.iter().find_map(sample_is_possible));
    found
}

/// What ports did window by window is what they did in all, and the same in a network that is cut into parts.
pub fn activity_adds_up(whole: &mut dyn Simulation, parts: &mut dyn Simulation) -> Option<String> {
    let seen = parts.take_activity()?;
    if let Some(other) = whole.take_activity().filter(|other| *other != seen) {
        let first = other.ports.iter().zip(seen.ports.iter()).find(|(one, other)| one != other);
        return Some(format!("activity of the whole and of parts differ, first at {first:?}"));
    }
    for report in parts.port_reports() {
        let of = || seen.ports.iter().filter(|row| row.port == report.port);
        let (sent, marks) = (of().map(|row| row.tx_bytes).sum::<u64>(), of().map(|row| row.marks).sum::<u64>());
        let marked: u64 = report.classes.iter().map(|class| class.marks).sum();
        // A new rate in the middle of a frame moves what was sent of it.
        let sum_holds = sent == report.tx_wire_bytes || parts.plan.faults.iter().any(is_new_rate);
        if !sum_holds || marks != marked {
            return Some(format!("windows of port {}: {sent} bytes, {marks} marks; in all {report:?}", report.port));
        }
    }
    None
}

fn is_new_rate(fault: &Fault) -> bool {
    matches!(fault.what, FaultKind::Rate { .. })
}

/// What the links of a flow's host carried of it is all that it sent.
fn links_carry_what_was_sent(trial: &Trial) -> Option<String> {
    let plan = &trial.world.plan;
    if !plan.run.record_flow_links {
        return None;
    }
    let links = trial.world.flow_links();
    trial.world.flows.iter().find_map(|flow| {
        let first = links.iter().filter(|row| row.flow == flow.id && plan.node_of(row.port) == flow.src);
        let packets: u64 = first.map(|row| row.packets).sum();
        (packets != flow.packets_sent).then(|| format!("links carried {packets} packets of {flow:?}"))
    })
}

/// Totals that bound each other.
fn counted(trial: &Trial) -> Option<String> {
    let of = &trial.world.counters;
    let delivered: u64 = trial.world.flows.iter().map(|flow| flow.delivered_bytes).sum();
    let drops: u64 = trial.ports.iter().flat_map(|port| &port.classes).map(|class| class.drops).sum();
    let pauses: u64 = trial.ports.iter().map(|port| port.pause_frames).sum();
    let wrong = [
        (of.data_packets_delivered > of.data_packets_sent, "more packets delivered than sent"),
        (of.data_packets_retransmitted > of.data_packets_sent, "more packets sent again than sent"),
        (of.flows_completed > of.flows_started, "more flows completed than started"),
        (of.flows_started != trial.world.flows.len() as u64, "flows without a record"),
        (of.delivered_bytes != delivered, "the flows' delivered bytes do not add up"),
        (drops < of.drops_lossless, "drops that no port knows of"),
        (pauses != of.pause_frames, "PAUSEs that no port knows of"),
        (trial.world.now > trial.world.plan.run.stop, "the run went on after its stop"),
    ];
    let found = wrong.iter().find(|(is_wrong, _)| *is_wrong)?;
    Some(format!(
        "{}: {of:?}, {delivered} bytes delivered to flows, {drops} drops and {pauses} PAUSEs at ports",
        found.1
    ))
}

fn flow_is_possible(trial: &Trial, flow: &FlowRecord) -> Option<String> {
    let plan = &trial.world.plan;
    let mtu_bytes = u64::from(plan.hosts[usize::from(plan.nodes[flow.src as usize].profile)].mtu_bytes);
    let whole = flow.size_bytes == Some(flow.delivered_bytes);
    let (delivered, acked) = (flow.delivered_at.unwrap_or(Time::NEVER), flow.acked_at.unwrap_or(Time::NEVER));
    let wrong = [
        (flow.size_bytes.is_some_and(|size| flow.delivered_bytes > size), "more delivered than it had"),
        (flow.delivered_bytes > flow.packets_sent * mtu_bytes, "more delivered than sent"),
        (flow.packets_retransmitted > flow.packets_sent, "more sent again than sent"),
        (flow.marked > flow.packets_sent, "more marks than packets"),
        (flow.delivered_at.is_some() && flow.size_bytes.is_some() && !whole, "complete without all its bytes"),
        (delivered < flow.start, "delivered before it started"),
        (flow.size_bytes.is_some() && acked < delivered, "acknowledged before it was delivered"),
        (flow.start > trial.world.now, "started after the end of the run"),
        (faster_than_alone(trial, flow), "faster than alone on the idle network"),
        (misordered(flow), "reordered beyond what was sent"),
    ];
    let found = wrong.iter().find(|(is_wrong, _)| *is_wrong)?;
    Some(format!("a flow is {}: {flow:?}", found.1))
}

/// Packets that were overtaken, came early or came twice are no more than were sent.
fn misordered(flow: &FlowRecord) -> bool {
    flow.multipath.spread.is_some_and(|spread| {
        let order = spread.order;
        order.reordered > flow.packets_sent
            || order.out_of_order > flow.packets_sent
            || order.extent_most > flow.packets_sent
    })
}

/// A flow alone on its path is the fastest there can be, unless the path changed under it.
fn faster_than_alone(trial: &Trial, flow: &FlowRecord) -> bool {
    let plan = &trial.world.plan;
    let changed = plan.faults.iter().any(|fault| changes_a_link(fault) || matches!(fault.what, FaultKind::Rate { .. }));
    let other_way = flow.multipath.detours > 0 || changed;
    match (flow.delivered_at, flow.size_bytes) {
        (Some(at), Some(_)) if !other_way => at.saturating_since(flow.start) < flow.ideal,
        _ => false,
    }
}

fn changes_a_link(fault: &Fault) -> bool {
    use FaultKind::{Learned, LinkAlive, LinkDead, LinkDown, LinkUp};
    matches!(fault.what, LinkDown { .. } | LinkUp { .. } | LinkDead { .. } | LinkAlive { .. } | Learned { .. })
}

/// Whether the plan promises that no lossless packet finds a buffer full.
pub fn promises_no_drop(trial: &Trial) -> bool {
    let plan = &trial.world.plan;
    let sound = plan
        .switches
        .iter()
        .all(|switch| switch.pfc.headroom == Headroom::Auto && switch.pfc.set_aside == SetAside::Class);
    let fits = budget::budgets(plan, trial.loaded.frame_bytes)
        .iter()
        .all(|row| row.headroom_bytes + row.promised_bytes <= row.buffer_bytes);
    // ACKs of a lossless class that a NIC sends without regard for PAUSE.
    let obedient = plan.hosts.iter().all(|host| matches!(host.nic.scheduler, NicScheduler::Ready));
    // A PAUSE may be lost, and a watchdog lets paused packets pass.
    let watched = plan.switches.iter().any(|switch| switch.watchdog.is_some());
    sound && fits && obedient && !loses_frames(plan) && !watched
}

fn loses_frames(plan: &Plan) -> bool {
    let on_wire = plan.links.iter().any(|link| link.a_to_b.loss > 0.0 || link.b_to_a.loss > 0.0);
    on_wire || plan.faults.iter().any(|fault| matches!(fault.what, FaultKind::Loss { loss, .. } if loss > 0.0))
}

fn lossless(trial: &Trial) -> Option<String> {
    let drops = trial.world.counters.drops_lossless;
    (drops > 0 && promises_no_drop(trial))
        .then(|| format!("{drops} lossless drops that the headroom excludes: {:?}", trial.world.failure))
}

/// A deadlock needs a circle of buffers, a stall something that does not come back.
fn failure_is_explained(trial: &Trial) -> Option<String> {
    let plan = &trial.world.plan;
    let lasting = plan.faults.iter().any(|fault| {
        use FaultKind::{LinkDead, LinkDown, PauseStorm};
        matches!(fault.what, LinkDown { .. } | LinkDead { .. } | PauseStorm { .. })
            || matches!(fault.what, FaultKind::Loss { loss, .. } if loss > 0.2)
    });
    let controlled = trial.loaded.schemes.iter().any(|scheme| xoff_schemes::controls_switches(&scheme.values));
    match &trial.world.failure {
        Some(Failure::Deadlock { .. }) if !trial.report.deadlock.possible && !controlled => {
            Some(format!("a deadlock where `check` finds none possible: {:?}", trial.world.failure))
        }
        Some(Failure::Stall { .. }) if !trial.report.deadlock.possible && !lasting => {
            Some(format!("a stall without a cause: {:?}", trial.world.failure))
        }
        _ => None,
    }
}

/// Where nothing is lost and no path changes, packets arrive in order, and no NAK is sent.
fn in_order(trial: &Trial) -> Option<String> {
    let of = &trial.world.counters;
    let lost = of.drops_lossless + of.drops_lossy + of.drops_fault + of.packets_trimmed;
    let quiet = lost == 0 && trial.world.plan.faults.is_empty();
    let detours = trial.world.flows.iter().any(|flow| flow.multipath.detours > 0 || flow.multipath.spread.is_some());
    let resent = of.data_packets_retransmitted > 0;
    (quiet && !detours && of.naks_sent > 0 && !resent).then(|| format!("{} NAKs though nothing was lost", of.naks_sent))
}

/// No port sends more than its link carries; the frame it began last counts as a whole.
fn not_faster_than_wires(trial: &Trial) -> Option<String> {
    let plan = &trial.world.plan;
    if plan.model.resolution != TimeResolution::Exact {
        return None;
    }
    let largest = u64::from(xoff_fabric::pfc::mtu_wire_bytes(plan)) + 200;
    trial.ports.iter().find_map(|port| {
        let rate = plan.fastest(port.port).rate;
        let most = rate.bytes_in(trial.world.now - Time::ZERO) + largest;
        let name = plan.port_name(port.port);
        let over = port.tx_wire_bytes > most;
        over.then(|| format!("{name} sent {} bytes where {most} have time at {rate}", port.tx_wire_bytes))
    })
}

/// No queue and no ingress holds more than the buffer of its switch.
fn within_buffers(trial: &Trial) -> Option<String> {
    let plan = &trial.world.plan;
    let node_of = |port: &PortReport| &plan.nodes[plan.node_of(port.port) as usize];
    trial.ports.iter().filter(|port| node_of(port).kind == NodeKind::Switch).find_map(|port| {
        let buffer = plan.switches[usize::from(node_of(port).profile)].buffer_bytes;
        let most = port.classes.iter().map(|class| class.ingress_bytes_peak).max().unwrap_or(0);
        (most > buffer).then(|| format!("{} held {most} bytes in a buffer of {buffer}", plan.port_name(port.port)))
    })
}

/// A path begins at the sender's NIC, continues where each link ends, and ends at the receiver.
fn path_leads_there(trial: &Trial, flow: &FlowRecord) -> Option<String> {
    let plan = &trial.world.plan;
    for path in flow.path.iter() {
        let mut at = flow.src;
        for &port in path {
            if plan.node_of(port) != at {
                return Some(format!("the path of a flow jumps: {flow:?}"));
            }
            at = plan.node_of(peer(port));
        }
        // A flow to which no way led when it began has sent nothing. Packets that choose their paths may be lost where
        // no way leads on.
        let cut = flow.multipath.spread.is_some() && plan.faults.iter().any(changes_a_link);
        if at != flow.dst && flow.packets_sent > 0 && !cut {
            return Some(format!("the path of a flow leads elsewhere: {flow:?}"));
        }
    }
    None
}

/// PAUSE and RESUME of a port alternate in order of time; a link that comes back up starts without a PAUSE.
fn pauses_alternate(trial: &Trial) -> Option<String> {
    if trial.world.plan.faults.iter().any(changes_a_link) {
        return None;
    }
    let mut paused: BTreeMap<(u32, u8), bool> = BTreeMap::new();
    let mut last = Time::ZERO;
    trial.world.pauses.iter().filter(|record| !record.refresh).find_map(|record| {
        let before = paused.insert((record.port, record.class), record.pause).unwrap_or(false);
        let backwards = std::mem::replace(&mut last, record.at) > record.at;
        (before == record.pause || backwards).then(|| format!("a PAUSE or RESUME out of turn: {record:?}"))
    })
}

/// A sampled quantity is one that there can be.
fn sample_is_possible(sample: &Sample) -> Option<String> {
    let most = match sample.metric {
        Metric::PausedFraction => 1.0 + 1e-9,
        _ => f64::INFINITY,
    };
    let possible = sample.value.is_finite() && (0.0..=most).contains(&sample.value);
    (!possible).then(|| format!("a sample that cannot be: {sample:?}"))
}

/// What a swarm should reach, and whether a run did.
type Reach = (&'static str, fn(&Trial) -> bool);

const REACHES: [Reach; 22] = [
    ("PAUSE", |trial| trial.world.counters.pause_frames > 0),
    ("timed PAUSE", |trial| trial.world.counters.refresh_frames > 0),
    ("busy queues under ABM", |trial| pauses_under(trial, Rule::Abm)),
    ("busy queues under Reverie", |trial| pauses_under(trial, Rule::Reverie)),
    ("marks", |trial| trial.world.counters.marks > 0),
    ("notifications", |trial| trial.world.counters.notifications_sent > 0),
    ("messages of switches", |trial| trial.world.counters.neighbour_messages > 0),
    ("lossy drops", |trial| trial.world.counters.drops_lossy > 0),
    ("drops by faults", |trial| trial.world.counters.drops_fault > 0),
    ("a NAK", |trial| trial.world.counters.naks_sent > 0),
    ("packets beyond a gap", |trial| trial.world.flows.iter().any(|flow| flow.recovery.held_packets_max > 0)),
    ("a time-out", |trial| trial.world.counters.timeouts > 0),
    ("a storm", |trial| trial.world.counters.watchdog_storms > 0),
    ("a lossless drop", |trial| trial.world.counters.drops_lossless > 0),
    ("samples", |trial| !trial.world.samples.is_empty()),
    ("captured frames", |trial| !trial.world.taps().frames.is_empty()),
    ("several classes", |trial| trial.world.plan.classes.list.len() > 2),
    ("several schemes", |trial| trial.loaded.schemes.len() > 1),
    ("a promise kept", |trial| trial.world.counters.pause_frames > 0 && promises_no_drop(trial)),
    ("several paths", |trial| spread(trial).any(|spread| spread.paths_used > 1)),
    ("reordered packets", |trial| spread(trial).any(|spread| spread.order.reordered > 0)),
    ("all flows complete", |trial| trial.world.counters.flows_completed == trial.world.counters.flows_started),
];

fn pauses_under(trial: &Trial, rule: Rule) -> bool {
    let settings = &trial.world.plan.switches[0];
    trial.world.counters.pause_frames > 0 && settings.pfc.thresholds.rule() == rule
}

fn spread(trial: &Trial) -> impl Iterator<Item = &Spread> {
    trial.world.flows.iter().filter_map(|flow| flow.multipath.spread.as_ref())
}

/// What a run reached of [`all_reaches`].
pub fn reached(trial: &Trial) -> impl Iterator<Item = String> {
    let laws = REACHES.iter().filter(|(_, is)| is(trial)).map(|(name, _)| (*name).to_owned());
    let schemes = trial.loaded.schemes.iter().map(|scheme| format!("scheme {}", scheme.values.spec().name));
    let routing = std::iter::once(format!("routing {}", trial.loaded.routing()));
    let traffic = trial.loaded.traffic.iter().map(|traffic| format!("traffic {}", traffic.kind));
    laws.chain(schemes).chain(traffic).chain(routing)
}

/// What a swarm must put to the test: situations, every scheme, every kind of traffic.
pub fn all_reaches() -> impl Iterator<Item = String> {
    let laws = REACHES.iter().map(|(name, _)| (*name).to_owned());
    let schemes = xoff_schemes::all().iter().map(|spec| format!("scheme {}", spec.name));
    let routings = crate::routing::MODES.iter().map(|mode| format!("routing {mode}"));
    laws.chain(schemes).chain(crate::traffic::KINDS.iter().map(|kind| format!("traffic {kind}"))).chain(routings)
}
