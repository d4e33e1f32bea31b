//! What several paths did to the flows of a run.

use super::summary::RoutingResults;
use xoff_fabric::record::FlowRecord;
use xoff_scenario::number::{brief, percent, thousands};

/// Sums over flows whose packets may take several paths.
#[derive(Default)]
pub(crate) struct Spreading {
    mode: &'static str,
    flows: u64,
    paths: u64,
    sent: u64,
    retransmitted: u64,
    reordered: u64,
    extent_most: u64,
    /// Largest load over the mean of equal-cost links: mean, and worst.
    pub(crate) load: Option<(f64, f64)>,
}

impl Spreading {
    pub(crate) fn new(mode: &'static str) -> Spreading {
        Spreading { mode, ..Spreading::default() }
    }

    pub(crate) fn flow(&mut self, flow: &FlowRecord) {
        let Some(spread) = &flow.multipath.spread else { return };
        self.flows += 1;
        self.paths += spread.paths_used;
        self.sent += flow.packets_sent;
        self.retransmitted += flow.packets_retransmitted;
        self.reordered += spread.order.reordered;
        self.extent_most = self.extent_most.max(spread.order.extent_most);
    }

    /// `None` where there is nothing to say.
    pub(crate) fn results(&self) -> Option<RoutingResults> {
        if self.flows == 0 && self.load.is_none() {
            return None;
        }
        let over = |sum: u64, of: u64| (of > 0).then(|| sum as f64 / of as f64);
        Some(RoutingResults {
            mode: self.mode.to_owned(),
            load_max_over_mean: self.load.map(|(mean, _)| mean),
            load_max_over_mean_worst: self.load.map(|(_, worst)| worst),
            flows_spread: self.flows,
            paths_used: over(self.paths, self.flows),
            reordered_share: over(self.reordered, self.sent - self.retransmitted),
            reorder_extent_max: self.extent_most,
            retransmitted_share: over(self.retransmitted, self.sent),
        })
    }
}

impl RoutingResults {
    /// What the routing brought and what it cost, as a part of a sentence; none for flows that keep one path.
    pub(crate) fn sentence(&self) -> Option<String> {
        let share = self.reordered_share?;
        let load =
            self.load_max_over_mean.map(|load| format!("loaded equal links to {} of their mean, ", percent(load)));
        let late = match self.reorder_extent_max {
            0 => String::new(),
            most => format!(" (by up to {})", thousands(most)),
        };
        let again = match self.retransmitted_share {
            Some(again) if again > 0.0 => format!(", and {} of packets were sent again", percent(again)),
            _ => String::new(),
        };
        let paths = self.paths_used.map_or_else(String::new, |paths| format!("took {} paths per flow, ", brief(paths)));
        Some(format!(
            "routing {} {paths}{}reordered {} of packets{late}{again}",
            self.mode,
            load.unwrap_or_default(),
            percent(share)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use xoff_fabric::record::{Multipath, Order, Spread};

    #[test]
    fn shares_are_of_flows_with_several_paths() {
        let mut sums = Spreading::new("drill");
        sums.flow(&fixture::flow(1, 50_000, 0, 20));
        assert_eq!(sums.results(), None);
        let order = Order { reordered: 12, extent_most: 31, out_of_order: 40 };
        let multipath = Multipath { detours: 0, spread: Some(Spread { paths_used: 4, order }) };
        let flow = FlowRecord { packets_sent: 138, packets_retransmitted: 38, multipath, ..fixture::flow(2, 1, 0, 20) };
        sums.flow(&flow);
        sums.load = Some((1.04, 2.1));
        let results = sums.results().unwrap();
        assert_eq!((results.reordered_share, results.paths_used), (Some(0.12), Some(4.0)));
        assert_eq!(
            results.sentence().unwrap(),
            "routing drill took 4.00 paths per flow, loaded equal links to 104.0% of their mean, \
             reordered 12.0% of packets (by up to 31), and 27.5% of packets were sent again"
        );
    }
}
