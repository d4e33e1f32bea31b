//! Random networks, traffic and settings; only invariants are checked.

use crate::common::random::{network, traffic};
use crate::common::*;
use proptest::prelude::*;
use xoff_engine::Span;
use xoff_fabric::plan::*;
use xoff_fabric::scheme::Uncontrolled;
use xoff_fabric::world::World;

fn run(seed: u64) -> World<Uncontrolled> {
    let (mut plan, hosts) = network(seed);
    // An ACK that travels with the data may wait out a whole incast: longer than any usual time-out.
    plan.hosts[0].retransmit_timeout = Span::from_ms(500);
    let flows = traffic(seed, &plan, &hosts);
    let mut world = World::new(plan, vec![Uncontrolled], vec![List::boxed(flows)]);
    world.run_to_end();
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn bytes_are_conserved_and_every_flow_finishes(seed in any::<u64>()) {
        let world = run(seed);
        prop_assert!(world.failure.is_none(), "{:?}", world.failure);
        prop_assert_eq!(world.counters.flows_completed, world.counters.flows_started);
        prop_assert_eq!(world.counters.drops_lossless + world.counters.drops_lossy, 0);
        prop_assert_eq!(world.counters.data_packets_retransmitted, 0);
        prop_assert_eq!(world.counters.data_packets_delivered, world.counters.data_packets_sent);
        prop_assert_eq!(world.books(), Ok(()));
        for record in &world.flows {
            prop_assert_eq!(record.delivered_bytes, record.size_bytes.unwrap());
            let fct = record.delivered_at.unwrap() - record.start;
            prop_assert!(fct >= record.ideal, "slowdown below 1: {:?} in {:?}", record, fct);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run(seed in any::<u64>()) {
        let (a, b) = (run(seed), run(seed));
        prop_assert_eq!(&a.flows, &b.flows);
        prop_assert_eq!(&a.pauses, &b.pauses);
        prop_assert_eq!(a.counters, b.counters);
    }
}

#[test]
fn the_swarm_reaches_what_it_is_meant_to_test() {
    let worlds: Vec<_> = (0..60).map(run).collect();
    assert!(worlds.iter().filter(|world| world.counters.pause_frames > 5).count() > 15, "PFC fires in many");
    assert!(worlds.iter().any(|world| world.plan.classes.list.len() == 3));
    let dynamic = |plan: &Plan| matches!(plan.switches[0].pfc.thresholds, Thresholds::Dynamic { .. });
    assert!(worlds.iter().any(|world| dynamic(&world.plan) && world.counters.pause_frames > 5));
}
