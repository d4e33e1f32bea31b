//! A network and its traffic in Rust, without a scenario file: four hosts send to a fifth at once, and PFC keeps the
//! switch from losing anything.
//!
//!     cargo run -p xoff-run --example plan
//!
//! A [`Plan`] is plain data, and nothing checks it: the fabric trusts the caller. A scenario file says the same in
//! a dozen lines, fills in what is left out and refuses what makes no sense (example `sweep`); build a plan yourself if
//! your program makes networks that no file describes.

use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::*;
use xoff_fabric::scheme::Uncontrolled;
use xoff_fabric::topology::{LinkSpec, star};
use xoff_fabric::traffic::{Action, FlowSpec, Source};
use xoff_fabric::world::World;

/// Hosts that send; one more receives.
const SENDERS: u32 = 4;

fn main() {
    let world = run();
    println!("flow  from  delivered us  alone us  slowdown");
    // Flows are recorded when they end, in that order.
    for flow in &world.flows {
        let from = &world.plan.nodes[flow.src as usize].name;
        let took = flow.delivered_at.expect("every flow ends").saturating_since(flow.start);
        let (took, alone) = (took.as_us(), flow.ideal.as_us());
        println!("{:>4}  {from:>4}  {took:>12.1}  {alone:>8.1}  {:>8.2}", flow.id, took / alone);
    }
    // The port that sends a PAUSE is the switch's; it stops what the host at the other end sends.
    if let Some(first) = world.pauses.iter().find(|record| record.pause) {
        let (stopped, at) = (world.plan.port_name(peer(first.port)), first.at.as_us());
        println!("first PAUSE: {stopped} at {at:.1} us, with {} bytes in the buffer", first.ingress_bytes);
    }
    let counters = &world.counters;
    println!("{} PAUSE frames, {} packets dropped", counters.pause_frames, counters.drops_lossless);
}

/// Builds the network and runs it until every flow has ended.
fn run() -> World<Uncontrolled> {
    // One scheme, in slot 0, which the flows name; it does nothing, so PFC is alone. One source of traffic.
    let mut world = World::new(plan(), vec![Uncontrolled], vec![Box::new(Incast { at: Some(Time::from_us(1)) })]);
    world.run_to_end();
    // A lossless drop, a deadlock and a stall are values, not panics; so is a packet that is not accounted for.
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    world
}

/// Hosts around one switch. Node 0 is the switch, as [`star`] says; hosts follow.
fn plan() -> Plan {
    let graph = star(SENDERS + 1, LinkSpec { rate: BitRate::from_gbps(100), delay: Span::from_us(1) });
    Plan {
        nodes: graph.nodes,
        links: graph.links,
        // Each node names one of these by `Node::profile`, which is 0 unless changed. Hosts and classes are the default:
        // lossless data in class 0, ACKs in class 1, which is served first.
        switches: vec![switch()],
        ack_path: AckPath::Symmetric,
        run: RunSettings { stop: Time::from_ms(100), record_pauses: true, ..RunSettings::default() },
        ..Plan::default()
    }
}

fn switch() -> SwitchSettings {
    let pfc = PfcSettings {
        // An ingress that holds more than 100 KB sends PAUSE, and RESUME at 90 KB.
        thresholds: Thresholds::Static { xoff_bytes: 100_000, xon_bytes: 90_000 },
        // Headroom for what the neighbour sends until it obeys: computed from rate and delay of the link.
        headroom: Headroom::Auto,
        ..PfcSettings::default()
    };
    SwitchSettings { buffer_bytes: 4_000_000, pfc, ..SwitchSettings::default() }
}

/// Asks for all its flows at one instant.
struct Incast {
    /// `None` once they are under way.
    at: Option<Time>,
}

impl Source for Incast {
    fn next(&self) -> Option<Time> {
        self.at
    }

    fn act(&mut self, _now: Time, out: &mut Vec<Action>) {
        self.at = None;
        let receiver = SENDERS + 1;
        out.extend((1..=SENDERS).map(|sender| Action::Start(megabyte(sender, receiver))));
    }
}

/// One megabyte from a host to another, at line rate unless something stops it.
fn megabyte(src: u32, dst: u32) -> FlowSpec {
    // The handle is this source's own name for it.
    FlowSpec { size_bytes: Some(1_000_000), ..FlowSpec::new(src, src, dst) }
}

#[test]
fn four_share_the_receivers_link_and_nothing_is_lost() {
    let world = run();
    assert_eq!(world.flows.len(), SENDERS as usize);
    // 4 MB in packets of 1000 B and 82 B of headers and gaps take 346 us at 100 Gb/s.
    let last = world.flows.iter().filter_map(|flow| flow.delivered_at).max().expect("every flow ends");
    assert!((346.0..356.0).contains(&last.as_us()), "{last:?}");
    assert!(world.counters.pause_frames > 0 && world.counters.drops_lossless == 0, "{:?}", world.counters);
    main();
}
