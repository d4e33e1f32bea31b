//! What of a scenario cannot be on real packets. Nothing is ignored: what has no counterpart here is refused, with what
//! to do about it.

use crate::network::Network;
use xoff_engine::TimeResolution;
use xoff_fabric::domain;
use xoff_fabric::plan::{
    AckPath, BaseRtt, Ecmp, Forwarding, Hash, NicScheduler, NodeKind, PathMap, PathRule, Plan, Random, Recovery,
    ResumeAt, Signalling, Ties,
};
use xoff_fabric::scheme::{Scheme, Transport};
use xoff_scenario::Loaded;
use xoff_wire::rate_has_code;

/// Frames name one of so many.
const MOST_SCHEMES: usize = 8;

/// Why a scenario cannot run live, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objection {
    /// What has no counterpart.
    pub what: String,
    pub hint: String,
}

pub fn objections<S: Scheme>(loaded: &Loaded, network: &Network, schemes: &[S]) -> Vec<Objection> {
    let plan = &loaded.plan;
    let mut all = Vec::new();
    let mut object = |wrong: bool, what: &str, hint: &str| {
        if wrong {
            all.push(Objection { what: what.to_owned(), hint: hint.to_owned() });
        }
    };
    object(
        schemes.len() > MOST_SCHEMES,
        "more than eight schemes in one run: the DSCP has three bits to tell them apart",
        "run some of them apart",
    );
    object(
        schemes.iter().any(Scheme::controls_switches),
        "the scheme controls whole switches with virtual output queues, which a software switch here does not have",
        "run it with `xoff run`",
    );
    model(plan, &mut object);
    devices(plan, &mut object);
    ways(loaded, network, schemes, &mut object);
    object(
        schemes.iter().any(|scheme| scheme.format().int) && telemetry_rates(plan).any(|rate| !rate_has_code(rate)),
        "telemetry has codes for 10, 25, 40, 50, 100, 200 and 400 Gb/s, and a link here has another rate",
        "give its links one of these, the time scale is chosen apart",
    );
    all
}

fn model(plan: &Plan, object: &mut impl FnMut(bool, &str, &str)) {
    let model = &plan.model;
    object(
        model.resolution != TimeResolution::Exact,
        "`model.time_resolution`: real time is not rounded",
        "leave it out",
    );
    object(model.ties != Ties::Hash, "`model.event_order = \"insertion\"`: real events do not tie", "leave it out");
    object(model.random != Random::Own, "`model.random_streams = \"shared\"`: queues here are apart", "leave it out");
    object(model.base_rtt != BaseRtt::Wire, "`model.base_rtt = \"payload\"`: frames have headers", "leave it out");
    object(
        plan.run.record_flow_links,
        "`output.flow_links`: software switches do not count flows",
        "leave it out; `[[capture]]` has every frame",
    );
    object(!plan.faults.is_empty(), "`[[fault]]`: links do not fail here on demand", "use `xoff run`");
}

fn devices(plan: &Plan, object: &mut impl FnMut(bool, &str, &str)) {
    for switch in &plan.switches {
        let checks = matches!(switch.pfc.signalling, Signalling::Timed { resume: ResumeAt::Checks, .. });
        object(checks, "`pfc.resume_at = \"checks\"` is a rule of another simulator", "leave it out");
        object(switch.trim_bytes.is_some(), "`switch.trim`: software switches drop what finds no room", "leave it out");
        object(switch.watchdog.is_some(), "`[switch.watchdog]`: not on software switches", "leave it out");
    }
    let scans = plan.hosts.iter().any(|host| host.nic.scheduler != NicScheduler::Ready);
    object(scans, "`host.scheduler = \"scan\"` is a rule of another simulator", "leave it out");
}

fn ways<S: Scheme>(loaded: &Loaded, network: &Network, schemes: &[S], object: &mut impl FnMut(bool, &str, &str)) {
    let plan = &loaded.plan;
    let choices = network.has_choices();
    object(
        choices && plan.model.ecmp != Ecmp::Murmur3,
        "there are equal paths, and switches can choose only by what headers say",
        "`--set model.ecmp=murmur3`, for the simulation too",
    );
    spraying(plan, schemes, object);
    object(
        choices && plan.ack_path == AckPath::Symmetric,
        "there are equal paths, and ACKs cannot be made to go back by the one of their data",
        "`--set host.ack_path=ecmp`",
    );
    object(
        loaded.traffic.iter().any(|traffic| traffic.pins_paths()),
        "traffic with a path of its own: switches forward by headers",
        "leave `path` out",
    );
    object(
        loaded.traffic.iter().any(|traffic| traffic.job().is_some()) && schemes.iter().any(reorders),
        "a training job under TCP or a scheme that reorders packets: only packets in order show where messages end",
        "run it with `xoff run`, or under another scheme",
    );
    object(
        loaded.traffic.iter().any(|traffic| traffic.job().is_some())
            && plan.hosts.iter().any(|host| host.recovery != Recovery::GoBackN),
        "a training job with selective recovery: only packets in order show where messages end",
        "run it with `xoff run`, or `--set host.recovery=go-back-n`",
    );
    object(
        loaded.traffic.iter().any(|traffic| traffic.has_weights()),
        "traffic with a weight: frames have no field for it",
        "leave `weight` out",
    );
    let facts = xoff_fabric::scheme::FlowFacts::at(plan.direction(0).rate, network.max_base_rtt);
    let across = xoff_fabric::scheme::InterDomain {
        near_rtt: facts.base_rtt,
        far_rtt: facts.base_rtt,
        far_line_rate: facts.line_rate,
    };
    let facts = xoff_fabric::scheme::FlowFacts { inter_domain: Some(across), ..facts };
    let shapes = schemes.iter().any(|scheme| scheme.transit(&facts).is_some());
    object(
        shapes && has_several_gateways(plan),
        "a domain with several gateways: each software gateway sees only what passes by it",
        "give it one",
    );
}

/// Senders may choose paths by the UDP source port, and switches hash it.
fn spraying<S: Scheme>(plan: &Plan, schemes: &[S], object: &mut impl FnMut(bool, &str, &str)) {
    let Forwarding { path_map, choice, next_hop, edge, paths } = plan.model.forwarding;
    object(
        next_hop.is_some() || edge.is_some() || plan.model.hash != Hash::default(),
        "`[routing]` by which switches choose, or hash something else: switches here hash the five-tuple",
        "leave it out, or let senders choose: `--set routing.mode=spray`",
    );
    object(
        paths > 1 && path_map == PathMap::Path,
        "`routing.entropy_map = \"path\"`: switches here hash entropies",
        "leave it out",
    );
    let asks_acks = !matches!(choice, PathRule::Pinned | PathRule::Spray | PathRule::Oblivious);
    object(
        asks_acks && plan.ack_path != AckPath::Entropy,
        "paths that are chosen by what ACKs say: an ACK names its path by its own UDP source port alone",
        "`--set host.ack_path=entropy`, for the simulation too",
    );
    object(
        paths > 1 && schemes.iter().any(|scheme| scheme.format().transport == Transport::Tcp),
        "TCP on several paths: its flows are known by their ports",
        "leave `[routing]` out",
    );
}

fn reorders<S: Scheme>(scheme: &S) -> bool {
    let formats = [scheme.format(), scheme.format_inter_domain()];
    formats.iter().any(|format| format.reorder || format.transport == Transport::Tcp)
}

/// Whether a domain has more than one switch with a long-haul link.
fn has_several_gateways(plan: &Plan) -> bool {
    let mut gateways: Vec<(u16, u32)> = (0..plan.ports() as u32)
        .filter(|port| domain::is_long_haul(plan, *port))
        .map(|port| plan.node_of(port))
        .map(|node| (plan.nodes[node as usize].domain, node))
        .collect();
    gateways.sort_unstable();
    gateways.dedup();
    gateways.windows(2).any(|pair| pair[0].0 == pair[1].0)
}

/// Rates of the ports that write telemetry.
fn telemetry_rates(plan: &Plan) -> impl Iterator<Item = xoff_engine::BitRate> + '_ {
    let of_switch = |port: &u32| plan.nodes[plan.node_of(*port) as usize].kind == NodeKind::Switch;
    (0..plan.ports() as u32).filter(of_switch).map(|port| plan.direction(port).rate)
}
