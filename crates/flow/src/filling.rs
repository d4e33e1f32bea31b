//! Progressive filling: the rates of all flows rise together until a port is full or a flow has its limit
//! (Bertsekas and Gallager, *Data Networks*, section 6.5.2). Exact, and the definition that faster rules are held against.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow over some ports: of each unit of its rate, `weight` units cross a port.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Most that it can use, in bits per second.
    pub limit_bps: f64,
    /// Ports, each once, and weights.
    pub ports: Vec<(u32, f64)>,
}

/// Rates by flow, and levels by port.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// Bits per second, by flow.
    pub rates_bps: Vec<f64>,
    /// The largest rate of a flow of a full port; infinite at a port that is not full.
    pub levels_bps: Vec<f64>,
}

/// What rises.
struct Filling<'a> {
    demands: &'a [Demand],
    rates: Vec<f64>,
    fixed: Vec<bool>,
    /// What is left of each port, the weight of its flows that still rise, and how many they are.
    rest: Vec<f64>,
    weight: Vec<f64>,
    rising: Vec<u32>,
}

impl Filling<'_> {
    /// Fixes the rate of a flow.
    fn fix(&mut self, flow: usize, rate: f64) {
        if std::mem::replace(&mut self.fixed[flow], true) {
            return;
        }
        self.rates[flow] = rate;
        for &(port, weight) in &self.demands[flow].ports {
            let port = port as usize;
            self.rest[port] = (self.rest[port] - weight * rate).max(0.0);
            self.rising[port] -= 1;
            // Without what rounding leaves.
            self.weight[port] = if self.rising[port] == 0 { 0.0 } else { self.weight[port] - weight };
        }
    }

    /// The level at which a port is full, if all flows that rise do so to the end.
    fn level(&self, port: u32) -> f64 {
        self.rest[port as usize] / self.weight[port as usize]
    }
}

/// Max-min fair rates. A port may have capacity zero.
pub fn fill(capacity_bps: &[f64], demands: &[Demand]) -> Filled {
    let ports = capacity_bps.len();
    let mut filling = Filling {
        demands,
        rates: vec![0.0; demands.len()],
        fixed: vec![false; demands.len()],
        rest: capacity_bps.to_vec(),
        weight: vec![0.0; ports],
        rising: vec![0; ports],
    };
    let mut members = vec![Vec::new(); ports];
    for (flow, demand) in demands.iter().enumerate() {
        for &(port, weight) in &demand.ports {
            members[port as usize].push(flow);
            filling.weight[port as usize] += weight;
            filling.rising[port as usize] += 1;
        }
    }
    let mut by_limit: Vec<usize> = (0..demands.len()).collect();
    by_limit.sort_by(|&a, &b| demands[a].limit_bps.total_cmp(&demands[b].limit_bps));
    let mut levels_bps = vec![f64::INFINITY; ports];
    // Numbers that are not negative compare as their bits.
    let used = (0..ports as u32).filter(|&port| filling.rising[port as usize] > 0);
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> =
        used.map(|port| Reverse((filling.level(port).to_bits(), port))).collect();
    let mut next = 0;
    loop {
        while next < by_limit.len() && filling.fixed[by_limit[next]] {
            next += 1;
        }
        let limit = by_limit.get(next).map(|&flow| demands[flow].limit_bps);
        // Levels only rise: what the heap holds is too low or right.
        let port = loop {
            let Some(Reverse((level, port))) = heap.pop() else { break None };
            if filling.rising[port as usize] == 0 {
                continue;
            }
            let now = filling.level(port).to_bits();
            if now <= level {
                break Some(port);
            }
            heap.push(Reverse((now, port)));
        };
        match (port, limit) {
            (None, None) => break,
            (port, Some(limit)) if port.is_none_or(|port| limit <= filling.level(port)) => {
                if let Some(port) = port {
                    heap.push(Reverse((filling.level(port).to_bits(), port)));
                }
                filling.fix(by_limit[next], limit);
            }
            (Some(port), _) => {
                let level = filling.level(port);
                levels_bps[port as usize] = level;
                for flow in std::mem::take(&mut members[port as usize]) {
                    filling.fix(flow, level);
                }
            }
            (None, Some(_)) => unreachable!("without a port the limit counts"),
        }
    }
    Filled { rates_bps: filling.rates, levels_bps }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(limit_bps: f64, ports: &[u32]) -> Demand {
        Demand { limit_bps, ports: ports.iter().map(|&port| (port, 1.0)).collect() }
    }

    #[test]
    fn a_long_flow_has_half_of_every_hop_of_a_parking_lot() {
        let mut demands = vec![demand(100.0, &[0, 1, 2])];
        demands.extend((0..3).map(|port| demand(100.0, &[port])));
        let filled = fill(&[100.0; 3], &demands);
        assert_eq!(filled.rates_bps, [50.0; 4]);
        assert_eq!(filled.levels_bps, [50.0; 3]);
    }

    #[test]
    fn what_one_port_denies_another_gives_away() {
        // Three flows share the first port, and one of them the second with a fourth: a third, and two thirds.
        let demands = [demand(3.0, &[0]), demand(3.0, &[0]), demand(3.0, &[0, 1]), demand(3.0, &[1])];
        let filled = fill(&[3.0, 3.0], &demands);
        assert_eq!(filled.rates_bps, [1.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn limits_and_weights_count() {
        let demands =
            [demand(1.0, &[0]), demand(9.0, &[0]), Demand { limit_bps: 9.0, ports: vec![(0, 2.0), (1, 1.0)] }];
        let filled = fill(&[10.0, 8.0, 5.0], &demands);
        assert_eq!(filled.rates_bps, [1.0, 3.0, 3.0]);
        assert_eq!(filled.levels_bps, [3.0, f64::INFINITY, f64::INFINITY]);
        // A link that is down carries nothing.
        assert_eq!(fill(&[0.0], &demands[..1]).rates_bps, [0.0]);
    }
}
