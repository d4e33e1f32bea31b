//! Jobs of any graph on a simulated network.

use super::*;
use crate::{Options as LoadOptions, Scenario};
use placement::PlacedRank;
use std::path::Path;
use xoff_engine::rng::{Rng, stream};
use xoff_fabric::plan::Plan;
use xoff_fabric::record::Counters;
use xoff_jobs::{Activity, ActivityKind, Dag, Lane, Op, Via, Work, longest_path};

const PAYLOAD: u64 = 1000;
/// 100 Gb/s.
const PS_PER_BYTE: u64 = 80;
/// Headers of a packet, the shortest frame, and the gap after each.
const HEADERS: u64 = 62;
const SHORTEST: u64 = 64;
const GAP: u64 = 20;
const DELAY_PS: u64 = 1_000_000;

/// A star, whose ACKs come when all is over, or at once.
fn network(hosts: u32, ack_delay: &str) -> Plan {
    let text = format!(
        "[topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
         [host]\nmtu = \"{PAYLOAD}B\"\nack_delay = \"{ack_delay}\"\nretransmit_timeout = \"100s\"\n\
         [scheme]\nname = \"none\"\n[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n"
    );
    let loaded = Scenario::from_text("job", &text, Path::new(".")).load(&LoadOptions::default());
    Plan::clone(&loaded.unwrap_or_else(|errors| panic!("{}", errors[0])).plan)
}

/// One rank on each host.
fn plan(plan: &Plan, dag: Dag, connections: Connections, completion: Completion) -> JobPlan {
    let hosts = (0..).zip(&plan.nodes).filter(|(_, node)| node.kind == xoff_fabric::plan::NodeKind::Host);
    let hosts: Vec<u32> = hosts.map(|(node, _)| node).collect();
    let placed = |(server, host): (u32, &u32)| PlacedRank { name: format!("h{host}"), server, gpu: *host };
    let placement = RankPlacement {
        ranks: (0..).zip(&hosts).map(placed).collect(),
        nics: hosts.iter().map(|host| Arc::from([Box::from([*host])])).collect(),
    };
    JobPlan {
        graph: Arc::new(Graph::ready(dag).unwrap()),
        iterations: 1,
        start: Time::ZERO,
        late: Arc::default(),
        slow: Arc::default(),
        placement: Arc::new(placement),
        connections,
        completion,
        overhead: Span::ZERO,
        template: Template::of_class(0),
        settle: None,
        messages_because: None,
    }
}

/// When the last activity was over, and what was counted.
fn run(network: &Plan, job: &JobPlan) -> (Time, Counters) {
    let log = Arc::<Mutex<JobLog>>::default();
    let source = Box::new(job.source(Some((0, Arc::clone(&log)))));
    let values = xoff_schemes::select("none").unwrap();
    let mut world = xoff_schemes::world(network.clone(), &[&values], vec![source], None);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    let counters = world.counters;
    drop(world);
    let log = log.lock().unwrap();
    (log.done.iter().map(|of| of.interval.end.expect("it ends")).max().unwrap(), counters)
}

fn lane(queue_pair: u16) -> Lane {
    Lane { via: Via::Nic(0), channel: 0, queue_pair }
}

/// A message alone on its way over the star.
fn alone(bytes: u64) -> Span {
    let (mut first, mut second) = (0, 0);
    for packet in 0..bytes.div_ceil(PAYLOAD) {
        let frame = ((bytes - packet * PAYLOAD).min(PAYLOAD) + HEADERS).max(SHORTEST);
        let wire = (frame + GAP) * PS_PER_BYTE;
        first += wire;
        second = (first + DELAY_PS).max(second) + wire;
    }
    Span::from_ps(second + DELAY_PS)
}

/// A graph in which no two messages leave or reach one rank at a time.
fn random(rng: &mut Rng) -> Dag {
    let ranks = 2 + rng.below(7) as u32;
    let mut dag = Dag::new(ranks);
    let name = dag.name("work");
    let (mut sent, mut received) = (vec![None; ranks as usize], vec![None; ranks as usize]);
    for op in 0..3 + rng.below(40) as u32 {
        let rank = rng.below(u64::from(ranks)) as u32;
        let work = if rng.below(4) == 0 {
            Work::Compute(Span::from_ns(rng.below(5_000)))
        } else {
            let to = (rank + 1 + rng.below(u64::from(ranks) - 1) as u32) % ranks;
            Work::Send { to, bytes: 64 + rng.below(20_000), lane: lane(rng.below(3) as u16) }
        };
        let kind = if matches!(work, Work::Compute(_)) { ActivityKind::Compute } else { ActivityKind::PointToPoint };
        dag.activities.push(Activity { rank, kind, name, group: op, bytes: 0 });
        dag.ops.push(Op { work, activity: op, takes: None, frees: None });
        let mut needs: Vec<u32> =
            (0..rng.below(3)).filter(|_| op > 0).map(|_| rng.below(u64::from(op)) as u32).collect();
        if let Work::Send { to, .. } = work {
            needs.extend(sent[rank as usize].replace(op));
            needs.extend(received[to as usize].replace(op));
        }
        needs.sort_unstable();
        needs.dedup();
        dag.needs.extend(needs.into_iter().map(|need| (need, op)));
    }
    dag
}

/// Form 7: the longest path, to the picosecond.
#[test]
fn a_thousand_random_graphs_take_their_longest_path() {
    let networks: Vec<Plan> = (2..=8).map(|hosts| network(hosts, "5s")).collect();
    let mut draws = stream(7, "random graphs", 0);
    for case in 0..1_200 {
        let dag = random(&mut draws);
        let network = &networks[dag.ranks as usize - 2];
        let longest = longest_path(&dag.clone().compile(), |_, _, bytes, _| alone(bytes));
        for connections in [Connections::Persistent, Connections::Fresh] {
            let job = plan(network, dag.clone(), connections, Completion::Delivered);
            assert_eq!(run(network, &job).0, Time::ZERO + longest, "case {case}, {connections:?}");
        }
    }
}

fn one_message(bytes: u64) -> Dag {
    let mut dag = Dag::new(2);
    let name = dag.name("message");
    dag.activities.push(Activity { rank: 0, kind: ActivityKind::PointToPoint, name, group: 0, bytes });
    dag.ops.push(Op { work: Work::Send { to: 1, bytes, lane: lane(0) }, activity: 0, takes: None, frees: None });
    dag
}

#[test]
fn a_message_is_over_when_it_arrived_or_when_its_sender_knows() {
    let network = network(2, "0ps");
    let [delivered, acknowledged] = [Completion::Delivered, Completion::Acknowledged]
        .map(|completion| run(&network, &plan(&network, one_message(5_000), Connections::Persistent, completion)).0);
    assert_eq!(delivered, Time::ZERO + alone(5_000));
    // Back go 66 bytes and a gap of 20, twice.
    assert_eq!(acknowledged, delivered + Span::from_ps(2 * (86 * PS_PER_BYTE + DELAY_PS)));
}

#[test]
fn software_takes_its_time_for_every_message() {
    let network = network(2, "0ps");
    let job = plan(&network, one_message(5_000), Connections::Persistent, Completion::Delivered);
    let slow = JobPlan { overhead: Span::from_us(7), ..job };
    assert_eq!(run(&network, &slow).0, Time::ZERO + Span::from_us(7) + alone(5_000));
}
