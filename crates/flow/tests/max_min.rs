//! Local updates of rates against progressive filling.

use xoff_engine::rng::mix;
use xoff_fabric::plan::Classes;
use xoff_flow::filling::{Demand, fill};
use xoff_flow::shares::{Shares, Tolerance};

/// Numbers from one seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = mix(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15));
        self.0 % most
    }
}

/// A random network: capacities, and flows over some ports each.
fn network(draw: &mut Draw) -> (Vec<f64>, Vec<Demand>) {
    let (ports, flows) = (1 + draw.below(20), 1 + draw.below(30));
    let capacity = (0..ports).map(|_| [10e9, 25e9, 100e9, 400e9][draw.below(4) as usize]).collect();
    let demand = |draw: &mut Draw| {
        let mut hops: Vec<u32> = (0..=draw.below(4)).map(|_| draw.below(ports) as u32).collect();
        hops.sort_unstable();
        hops.dedup();
        let spread = draw.below(4) == 0;
        let weight = |port| (port, if spread { 0.25 + draw.below(3) as f64 / 4.0 } else { 1.0 });
        let ports = hops.into_iter().map(weight).collect();
        let limit_bps = if draw.below(3) == 0 { 1e9 * (1 + draw.below(60)) as f64 } else { 400e9 };
        Demand { limit_bps, ports }
    };
    let demands = (0..flows).map(|_| demand(draw)).collect();
    (capacity, demands)
}

/// Begins with the flows in an order, and with as many updates as the draw says.
fn shares(capacity: &[f64], demands: &[Demand], order: &[usize], draw: &mut Draw) -> Vec<f64> {
    let mut shares = Shares::new(capacity, &Classes::default(), Tolerance::EXACT);
    for &flow in order {
        let Demand { limit_bps, ports } = &demands[flow];
        shares.set_flow(flow as u32, 0, ports.iter().copied(), []);
        shares.set_limit(flow as u32, *limit_bps);
        shares.activate(flow as u32);
        match draw.below(4) {
            0 => shares.update(),
            // It goes and comes back.
            1 => {
                shares.deactivate(flow as u32);
                shares.update();
                shares.activate(flow as u32);
            }
            _ => {}
        }
    }
    shares.update();
    shares.check().expect("loads are sums");
    (0..demands.len() as u32).map(|flow| shares.rate(flow)).collect()
}

#[test]
fn local_updates_give_the_rates_of_progressive_filling_in_any_order() {
    for seed in 0..10_000 {
        let mut draw = Draw(seed);
        let (capacity, demands) = network(&mut draw);
        let filled = fill(&capacity, &demands).rates_bps;
        let mut order: Vec<usize> = (0..demands.len()).collect();
        for _ in 0..2 {
            for place in (1..order.len()).rev() {
                order.swap(place, draw.below(place as u64 + 1) as usize);
            }
            let rates = shares(&capacity, &demands, &order, &mut draw);
            for (flow, (rate, exact)) in rates.iter().zip(&filled).enumerate() {
                let error = (rate - exact).abs() / exact;
                assert!(error < 1e-9, "seed {seed}, flow {flow}: {rate} for {exact} in {demands:?} over {capacity:?}");
            }
        }
    }
}

#[test]
fn filling_is_max_min_fair() {
    // Every flow has its limit, or a full port on which no flow has more.
    for seed in 0..2_000 {
        let mut draw = Draw(seed ^ 0xfeed);
        let (capacity, demands) = network(&mut draw);
        let rates = fill(&capacity, &demands).rates_bps;
        let load = |port: u32| -> f64 {
            let weight =
                |demand: &Demand| demand.ports.iter().find(|(of, _)| *of == port).map_or(0.0, |(_, weight)| *weight);
            demands.iter().zip(&rates).map(|(demand, rate)| weight(demand) * rate).sum()
        };
        let most = |port: u32| -> f64 {
            let over = demands.iter().zip(&rates).filter(|(demand, _)| demand.ports.iter().any(|(of, _)| *of == port));
            over.map(|(_, rate)| *rate).fold(0.0, f64::max)
        };
        for (port, capacity) in (0u32..).zip(&capacity) {
            assert!(
                load(port) <= capacity * (1.0 + 1e-9),
                "seed {seed}: port {port} carries {} of {capacity}",
                load(port)
            );
        }
        for (demand, &rate) in demands.iter().zip(&rates) {
            let is_bottleneck = |&(port, _): &(u32, f64)| {
                load(port) >= capacity[port as usize] * (1.0 - 1e-9) && rate >= most(port) * (1.0 - 1e-9)
            };
            let satisfied = rate >= demand.limit_bps || demand.ports.iter().any(is_bottleneck);
            assert!(satisfied, "seed {seed}: {demand:?} has {rate}");
        }
    }
}

#[test]
fn a_coarse_tolerance_errs_by_little_and_overloads_nothing() {
    let coarse = Tolerance { rate: 1e-2, acks: 2e-3 };
    let (mut worst, mut sum, mut count) = (0f64, 0.0, 0u32);
    for seed in 0..500 {
        let mut draw = Draw(seed ^ 0xc0a5);
        let (capacity, demands) = network(&mut draw);
        let filled = fill(&capacity, &demands).rates_bps;
        let mut shares = Shares::new(&capacity, &Classes::default(), coarse);
        for (flow, Demand { limit_bps, ports }) in (0u32..).zip(&demands) {
            shares.set_flow(flow, 0, ports.iter().copied(), []);
            shares.set_limit(flow, *limit_bps);
            shares.activate(flow);
            shares.update();
            shares.check().expect("no port sends more than it can");
        }
        for (flow, exact) in (0u32..).zip(&filled) {
            let error = (shares.rate(flow) - exact).abs() / exact;
            (worst, sum, count) = (worst.max(error), sum + error, count + 1);
        }
    }
    let mean = sum / f64::from(count);
    assert!(worst < 0.1 && mean < 1e-3, "worst {worst}, mean {mean}");
}
