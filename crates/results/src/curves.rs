//! What is kept of the probes in memory: enough for figures and measures, however long the run.

use super::names::{Names, label_name};
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};
use xoff_fabric::record::{Metric, Sample};
use xoff_scenario::measure::metrics::Bin;
use xoff_scenario::measure::probe::facts;

/// Groups of samples kept per trace; two points each.
const GROUPS: usize = 2000;
/// Traces kept per metric, and flows whose throughput is kept sample by sample.
const TRACES_PER_METRIC: usize = 24;
const FLOWS_KEPT: usize = 32;

/// Minimum and maximum of a group of samples, each with its time in microseconds.
#[derive(Clone, Copy, Debug)]
struct Group {
    low: (f64, f64),
    high: (f64, f64),
}

/// A time series thinned as it grows: extremes survive, so no spike is lost.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    groups: Vec<Group>,
    /// Samples per full group, a power of two; zero stands for one.
    per_group: usize,
    /// Samples in the last group.
    filling: usize,
}

impl Trace {
    pub fn push(&mut self, time_us: f64, value: f64) {
        let per_group = self.per_group.max(1);
        match self.groups.last_mut() {
            Some(last) if self.filling < per_group => {
                if value < last.low.1 {
                    last.low = (time_us, value);
                }
                if value > last.high.1 {
                    last.high = (time_us, value);
                }
                self.filling += 1;
            }
            _ => {
                if self.groups.len() == GROUPS {
                    self.halve();
                    return self.push(time_us, value);
                }
                self.groups.push(Group { low: (time_us, value), high: (time_us, value) });
                self.filling = 1;
            }
        }
    }

    fn halve(&mut self) {
        let merged = self.groups.chunks(2).map(|pair| {
            let (a, b) = (pair[0], pair[pair.len() - 1]);
            Group {
                low: if b.low.1 < a.low.1 { b.low } else { a.low },
                high: if b.high.1 > a.high.1 { b.high } else { a.high },
            }
        });
        self.groups = merged.collect();
        // The number of groups was even, so the last one is full again.
        self.per_group = self.per_group.max(1) * 2;
        self.filling = self.per_group;
    }

    /// (microseconds, value), in order of time.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let mut points = Vec::with_capacity(self.groups.len() * 2);
        for group in &self.groups {
            let (a, b) = if group.low.0 <= group.high.0 { (group.low, group.high) } else { (group.high, group.low) };
            points.push(a);
            if b.0 != a.0 {
                points.push(b);
            }
        }
        points
    }
}

/// One probed quantity of one port or flow.
#[derive(Clone, Debug)]
pub struct Curve {
    pub metric: Metric,
    /// The port or the flow's label, with its number where flows share a label.
    pub name: String,
    pub trace: Trace,
}

/// Everything kept of a run's probes.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    pub list: Vec<Curve>,
    /// Curves that were sampled but not kept, by metric.
    pub left_out: Vec<(Metric, usize)>,
}

/// Gathers samples while the run goes.
#[derive(Default)]
pub struct CurveKeeper {
    traces: BTreeMap<(Metric, u32, u8), (u32, Trace)>,
    kept: BTreeMap<Metric, usize>,
    left_out: BTreeMap<Metric, std::collections::BTreeSet<(u32, u8)>>,
    /// Throughput of flows in bits per second, sample by sample.
    flows: BTreeMap<u32, Vec<(Time, f64)>>,
    /// What their schemes allowed them, likewise.
    allowed: BTreeMap<u32, Vec<(Time, f64)>>,
}

impl CurveKeeper {
    pub fn sample(&mut self, sample: &Sample) {
        let of_flow = match sample.metric {
            Metric::FlowThroughput => Some(&mut self.flows),
            Metric::FlowRate => Some(&mut self.allowed),
            _ => None,
        };
        if let Some(flows) = of_flow
            && (flows.len() < FLOWS_KEPT || flows.contains_key(&sample.entity))
        {
            flows.entry(sample.entity).or_default().push((sample.at, sample.value));
        }
        let value = sample.value * facts(sample.metric).scale;
        let key = (sample.metric, sample.entity, sample.class);
        if let Some((_, trace)) = self.traces.get_mut(&key) {
            trace.push(sample.at.as_us(), value);
            return;
        }
        let kept = self.kept.entry(sample.metric).or_insert(0);
        if *kept == TRACES_PER_METRIC {
            self.left_out.entry(sample.metric).or_default().insert((sample.entity, sample.class));
            return;
        }
        *kept += 1;
        let mut trace = Trace::default();
        trace.push(sample.at.as_us(), value);
        self.traces.insert(key, (sample.label, trace));
    }

    /// The throughput of a probed flow in Gb/s, for [`xoff_scenario::measure::metrics`].
    pub fn throughput(&self, flow: u32) -> Option<Vec<Bin>> {
        let samples = self.flows.get(&flow)?;
        // The first sample has no forerunner: it is taken to be as long as the second.
        let first = samples.get(1).map_or(Span::ZERO, |second| second.0 - samples[0].0);
        let mut before: Option<Time> = None;
        let bins = samples.iter().map(|&(end, value)| {
            let length = before.map_or(first, |before| end - before);
            before = Some(end);
            Bin { end, length, value: value / 1e9 }
        });
        Some(bins.collect())
    }

    /// The lowest rate in Gb/s that its scheme allowed a probed flow between two instants.
    pub fn lowest_allowed(&self, flow: u32, from: Time, until: Time) -> Option<f64> {
        let inside = self.allowed.get(&flow)?.iter().filter(|(at, _)| (from..=until).contains(at));
        inside.map(|(_, value)| value / 1e9).min_by(f64::total_cmp)
    }

    pub fn curves(self, names: &Names, labels: &[String]) -> Curves {
        let mut shared: BTreeMap<(Metric, u32), usize> = BTreeMap::new();
        let mut classes: BTreeMap<(Metric, u32), usize> = BTreeMap::new();
        for (&(metric, entity, _), &(label, _)) in &self.traces {
            *shared.entry((metric, label)).or_default() += 1;
            *classes.entry((metric, entity)).or_default() += 1;
        }
        let list = self.traces.into_iter().map(|((metric, entity, class), (label, trace))| {
            let facts = facts(metric);
            let name = if facts.of_flow {
                let label_text = label_name(labels, label);
                if shared[&(metric, label)] > 1 { format!("{label_text} #{entity}") } else { label_text }
            } else {
                let place = match metric {
                    Metric::IngressBytes => names.ingress(entity),
                    _ => names.port(entity).to_owned(),
                };
                let several = facts.per_class && classes[&(metric, entity)] > 1;
                if several { format!("{place} prio {}", names.priority(class)) } else { place }
            };
            Curve { metric, name, trace }
        });
        let left_out = self.left_out.iter().map(|(&metric, keys)| (metric, keys.len())).collect();
        Curves { list: list.collect(), left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use proptest::prelude::*;
    use xoff_yardstick::every_case;

    #[test]
    fn names_tell_flows_of_one_label_apart() {
        let mut keeper = CurveKeeper::default();
        for (entity, label) in [(4, 0), (5, 1), (6, 1)] {
            for at in 1..4 {
                let at = Time::from_us(10 * at);
                keeper.sample(&Sample { at, metric: Metric::FlowThroughput, entity, label, class: 0, value: 2e10 });
            }
        }
        let bins = keeper.throughput(4).unwrap();
        assert_eq!(bins.len(), 3);
        assert!(bins.iter().all(|b| b.value == 20.0 && b.length == Span::from_us(10)));
        let names = Names::of(&fixture::plan());
        let curves = keeper.curves(&names, &["F0".into(), "burst".into()]);
        let called: Vec<&str> = curves.list.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(called, ["F0", "burst #5", "burst #6"]);
    }

    #[test]
    fn too_many_curves_are_counted() {
        let mut keeper = CurveKeeper::default();
        for entity in 0..30 {
            let at = Time::from_us(1);
            keeper.sample(&Sample { at, metric: Metric::FlowRate, entity, label: 0, class: 0, value: 1.0 });
        }
        let curves = keeper.curves(&Names::of(&fixture::plan()), &[]);
        assert_eq!((curves.list.len(), curves.left_out), (24, vec![(Metric::FlowRate, 6)]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if every_case() { 256 } else { 32 }))]

        #[test]
        fn thinning_keeps_extremes_order_and_bound(values in prop::collection::vec(-1e6f64..1e6, 1..12_000)) {
            let mut trace = Trace::default();
            for (index, value) in values.iter().enumerate() {
                trace.push(index as f64, *value);
            }
            let points = trace.points();
            prop_assert!(points.len() <= 2 * GROUPS);
            prop_assert!(points.windows(2).all(|w| w[0].0 < w[1].0));
            let extreme = |f: fn(f64, f64) -> f64, start| (
                values.iter().copied().fold(start, f),
                points.iter().map(|p| p.1).fold(start, f),
            );
            let (a, b) = extreme(f64::min, f64::INFINITY);
            prop_assert_eq!(a, b);
            let (a, b) = extreme(f64::max, f64::NEG_INFINITY);
            prop_assert_eq!(a, b);
            prop_assert!(points.iter().all(|p| values[p.0 as usize] == p.1));
        }
    }
}
