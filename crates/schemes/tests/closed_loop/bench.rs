//! A network under test: small topologies, long flows, and what they settle to.
#![allow(dead_code, unused_imports)]

pub use crate::common::{GBPS, Net, Script, endless, flow};
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{Probe, ProbeTarget};
use xoff_fabric::record::{Metric, Sample};
use xoff_fabric::simulation::Simulation;
use xoff_fabric::traffic::{FlowSpec, Source};
use xoff_schemes::param::ParamValues;

/// A scheme by name (`mercury+timely` for an overlay and its base) with some parameters set.
pub fn scheme(name: &str, texts: &[(&str, &str)]) -> ParamValues {
    xoff_schemes::select(name).unwrap_or_else(|why| panic!("{why}")).with(texts)
}

/// Sets a run up: topology from [`Net`], then flows, probes and a stop time.
pub struct Bench {
    pub net: Net,
    pub flows: Vec<(Time, FlowSpec)>,
    /// Further sources, beside the one that starts `flows`.
    pub sources: Vec<Box<dyn Source>>,
    schemes: Vec<ParamValues>,
}

impl Bench {
    pub fn new(net: Net, scheme: ParamValues) -> Bench {
        Bench { net, flows: Vec::new(), sources: Vec::new(), schemes: vec![scheme] }
    }

    /// `n` hosts (nodes 1..=n, ports 2i at host i and 2i+1 at the switch) send endlessly to host 0
    /// of one switch, at `gbps` and with `delay` per link. The bottleneck is port 1, switch to h0.
    pub fn into_one(n: u32, gbps: u64, delay: Span, scheme: ParamValues) -> Bench {
        let mut bench = Bench::new(Net::star(n as usize + 1, gbps, delay), scheme);
        for i in 1..=n {
            // Node 0 is the switch, so host i is node i + 1.
            bench.start(Time::ZERO, FlowSpec { probed: true, label: i - 1, ..endless(i, i + 1, 1) });
        }
        bench
    }

    pub fn start(&mut self, at: Time, spec: FlowSpec) {
        self.flows.push((at, spec));
    }

    /// Another scheme for flows whose `FlowSpec::scheme` is the number returned.
    pub fn also(&mut self, scheme: ParamValues) -> u8 {
        self.schemes.push(scheme);
        self.schemes.len() as u8 - 1
    }

    pub fn probe(&mut self, what: ProbeTarget, every: Span, from: Time) {
        self.net.plan.probes.push(Probe { what, every, from, until: Time::NEVER });
    }

    /// The world, not started, that ends at `stop`: for those who want to look at it on the way.
    pub fn world(mut self, stop: Time) -> Box<dyn Simulation> {
        self.net.plan.run.stop = stop;
        self.net.plan.run.stop_when_idle = false;
        self.sources.insert(0, Script::flows(self.flows));
        xoff_schemes::world(self.net.plan, &self.schemes.iter().collect::<Vec<_>>(), self.sources, None)
    }

    /// Runs to `stop`; panics on a drop, a deadlock or packets that are not conserved.
    pub fn run(self, stop: Time) -> Outcome {
        let mut world = self.world(stop);
        world.run_to_end();
        assert!(world.failure.is_none(), "{:?}", world.failure);
        assert_eq!(world.check_conservation(), Ok(()));
        Outcome { world }
    }
}

/// A finished run.
pub struct Outcome {
    pub world: Box<dyn Simulation>,
}

impl Outcome {
    /// Values of a metric in time order, all subjects together.
    pub fn values(&self, metric: Metric) -> Vec<f64> {
        self.world.samples.iter().filter(|s| s.metric == metric).map(|s| s.value).collect()
    }

    pub fn mean(&self, metric: Metric) -> f64 {
        let values = self.values(metric);
        assert!(!values.is_empty(), "no samples of {metric:?}");
        values.iter().sum::<f64>() / values.len() as f64
    }

    pub fn max(&self, metric: Metric) -> f64 {
        self.values(metric).into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Values of a metric of one port or flow, sampled after `from` and until `to`.
    pub fn within(&self, metric: Metric, entity: u32, from: Time, to: Time) -> Vec<f64> {
        let of = |s: &&Sample| s.metric == metric && s.entity == entity && from < s.at && s.at <= to;
        let values: Vec<f64> = self.world.samples.iter().filter(of).map(|s| s.value).collect();
        assert!(!values.is_empty(), "no samples of {metric:?} of {entity}");
        values
    }

    /// Means of a metric of flows 0 to n - 1 over a time.
    pub fn means(&self, metric: Metric, n: u32, from: Time, to: Time) -> Vec<f64> {
        (0..n).map(|entity| mean_of(&self.within(metric, entity, from, to))).collect()
    }

    /// Mean of a metric of the flows with a label, sampled after `from` and until `to`.
    pub fn mean_of_label(&self, metric: Metric, label: u32, from: Time, to: Time) -> f64 {
        let of = |s: &&Sample| s.metric == metric && s.label == label && from < s.at && s.at <= to;
        mean_of(&self.world.samples.iter().filter(of).map(|s| s.value).collect::<Vec<_>>())
    }

    /// Bytes delivered per flow, in the order of their ids.
    pub fn delivered(&self) -> Vec<f64> {
        let mut flows: Vec<_> = self.world.flows.iter().collect();
        flows.sort_by_key(|flow| flow.id);
        flows.iter().map(|flow| flow.delivered_bytes as f64).collect()
    }
}

pub fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub fn deviation_of(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len() as f64).sqrt()
}

/// Asserts that each value is within a relative tolerance of what is expected.
#[track_caller]
pub fn assert_near(values: &[f64], expected: &[f64], tolerance: f64) {
    let near = values.iter().zip(expected).all(|(v, e)| (v / e - 1.0).abs() <= tolerance);
    assert!(near && values.len() == expected.len(), "{values:.4?} instead of {expected:.4?}");
}

/// Jain's index of fairness: 1 when all are equal.
pub fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    sum * sum / (shares.len() as f64 * squares)
}
