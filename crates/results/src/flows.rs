//! What must be remembered of finite flows, and what is told of them: percentiles by source and size.
//!
//! Sources are never mixed in one curve: an incast would show as a spike at its size, as if flows of
//! that size fared worse in general.

use super::goodput::Delivery;
use super::summary::{Cdf, Distribution, SizeClass, SlowdownClass, SlowdownGroup, SourceFlows};
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};
use xoff_fabric::record::FlowRecord;
use xoff_scenario::measure::metrics::percentile;

/// Upper ends of the size classes, exclusive.
pub const SIZE_CLASSES: [(&str, u64); 4] =
    [("< 10 KB", 10_000), ("10-100 KB", 100_000), ("100 KB-1 MB", 1_000_000), (">= 1 MB", u64::MAX)];
const SLOWDOWN_GROUPS: usize = 20;

#[derive(Clone, Copy)]
struct Done {
    size_bytes: u64,
    start: Time,
    fct: Span,
    slowdown: f64,
}

/// A flow that has not; its part lies between its start and the end of the run.
#[derive(Clone, Copy)]
struct Unfinished {
    size_bytes: u64,
    start: Time,
    delivered_bytes: u64,
}

#[derive(Default)]
struct OfSource {
    done: Vec<Done>,
    unfinished: Vec<Unfinished>,
}

/// The finite flows of a run.
#[derive(Default)]
pub struct FiniteFlows {
    sources: BTreeMap<u32, OfSource>,
}

impl FiniteFlows {
    pub fn add(&mut self, flow: &FlowRecord, size_bytes: u64) {
        let of = self.sources.entry(flow.source).or_default();
        let (start, delivered_bytes) = (flow.start, flow.delivered_bytes);
        match flow.delivered_at {
            Some(at) => {
                let fct = at.saturating_since(start);
                let slowdown = if flow.ideal > Span::ZERO { fct / flow.ideal } else { 1.0 };
                of.done.push(Done { size_bytes, start, fct, slowdown });
            }
            None => of.unfinished.push(Unfinished { size_bytes, start, delivered_bytes }),
        }
    }

    fn done(&self) -> impl Iterator<Item = &Done> + Clone {
        self.sources.values().flat_map(|of| &of.done)
    }

    pub fn completed(&self) -> u64 {
        self.sources.values().map(|of| of.done.len() as u64).sum()
    }

    /// Flows that beat what physics allows.
    pub fn too_fast(&self) -> usize {
        self.done().filter(|flow| flow.slowdown < 1.0).count()
    }

    pub fn fct_us(&self) -> Distribution {
        distribution(self.done().map(|flow| flow.fct.as_us()))
    }

    pub fn slowdown(&self) -> Distribution {
        distribution(self.done().map(|flow| flow.slowdown))
    }

    pub fn by_size(&self) -> Vec<SizeClass> {
        by_size(self.done(), self.sources.values().flat_map(|of| &of.unfinished))
    }

    /// When the payload came, as far as the records tell.
    pub fn deliveries(&self, sim_end: Time) -> impl Iterator<Item = Delivery> {
        let done = |flow: &Done| Delivery {
            from: flow.start,
            until: flow.start.saturating_add(flow.fct),
            bytes: flow.size_bytes,
        };
        let rest = move |flow: &Unfinished| Delivery { from: flow.start, until: sim_end, bytes: flow.delivered_bytes };
        let rest = self.sources.values().flat_map(|of| &of.unfinished).map(rest);
        self.done().map(done).chain(rest)
    }

    /// One entry per source that had finite flows, in the scenario's order. `names`: by number of source.
    pub fn by_source(&mut self, names: &[String]) -> Vec<SourceFlows> {
        let row = |(&source, of): (&u32, &mut OfSource)| {
            of.done.sort_by(|a, b| a.size_bytes.cmp(&b.size_bytes).then(a.slowdown.total_cmp(&b.slowdown)));
            let fct = || of.done.iter().map(|flow| flow.fct.as_us());
            let slowdown = || of.done.iter().map(|flow| flow.slowdown);
            SourceFlows {
                source: source_name(names, source),
                flows: (of.done.len() + of.unfinished.len()) as u64,
                completed: of.done.len() as u64,
                fct_us: distribution(fct()),
                slowdown: distribution(slowdown()),
                by_size: by_size(of.done.iter(), of.unfinished.iter()),
                slowdown_by_size: slowdown_groups(&of.done),
                slowdown_classes: slowdown_classes(&of.done),
                cdf: cdf(fct().collect(), slowdown().collect()),
            }
        };
        self.sources.iter_mut().map(row).collect()
    }
}

/// What results call a source. Two tables may have one name; results must still tell them apart.
fn source_name(names: &[String], source: u32) -> String {
    let Some(name) = names.get(source as usize) else { return format!("source {source}") };
    match names.iter().filter(|other| *other == name).count() {
        1 => name.clone(),
        _ => format!("{name} (table {source})"),
    }
}

fn by_size<'a>(
    done: impl Iterator<Item = &'a Done> + Clone,
    unfinished: impl Iterator<Item = &'a Unfinished> + Clone,
) -> Vec<SizeClass> {
    let class = |(class, (name, _)): (usize, &(&str, u64))| {
        let of_class = || done.clone().filter(move |flow| size_class(flow.size_bytes) == class);
        let completed = of_class().count() as u64;
        let left = unfinished.clone().filter(|flow| size_class(flow.size_bytes) == class).count() as u64;
        SizeClass {
            name: (*name).to_owned(),
            flows: completed + left,
            completed,
            fct_us: distribution(of_class().map(|flow| flow.fct.as_us())),
            slowdown: distribution(of_class().map(|flow| flow.slowdown)),
        }
    };
    SIZE_CLASSES.iter().enumerate().map(class).collect()
}

pub fn size_class(bytes: u64) -> usize {
    SIZE_CLASSES.iter().position(|(_, end)| bytes < *end).unwrap_or(SIZE_CLASSES.len() - 1)
}

/// Needs `done` in order of size. Flows of one size are never torn apart.
fn slowdown_groups(done: &[Done]) -> Vec<SlowdownGroup> {
    let per_group = done.len().div_ceil(SLOWDOWN_GROUPS).max(1);
    let mut groups = Vec::new();
    let mut rest = done;
    while !rest.is_empty() {
        let mut length = per_group.min(rest.len());
        length += rest[length..].iter().take_while(|d| d.size_bytes == rest[length - 1].size_bytes).count();
        let (group, after) = rest.split_at(length);
        rest = after;
        let slowdown = distribution(group.iter().map(|d| d.slowdown));
        groups.push(SlowdownGroup {
            smallest_bytes: group[0].size_bytes,
            median_bytes: group[(length - 1) / 2].size_bytes,
            largest_bytes: group[length - 1].size_bytes,
            flows: length as u64,
            p50: slowdown.p50.unwrap_or(1.0),
            p95: slowdown.p95.unwrap_or(1.0),
            p99: slowdown.p99.unwrap_or(1.0),
        });
    }
    groups
}

/// Needs `done` in order of size.
fn slowdown_classes(done: &[Done]) -> Vec<SlowdownClass> {
    let class = |group: &[Done]| {
        let (from_bytes, until_bytes) = round_range(group[0].size_bytes);
        let slowdown = distribution(group.iter().map(|flow| flow.slowdown));
        SlowdownClass {
            from_bytes,
            until_bytes,
            flows: group.len() as u64,
            p50: slowdown.p50.unwrap_or(1.0),
            p95: slowdown.p95.unwrap_or(1.0),
            p99: slowdown.p99.unwrap_or(1.0),
        }
    };
    done.chunk_by(|a, b| round_range(a.size_bytes) == round_range(b.size_bytes)).map(class).collect()
}

/// The neighbours of a size among 1, 2, 5, 10, 20 and so on: the last that is not larger, and the next.
fn round_range(bytes: u64) -> (u64, u64) {
    let power = bytes.max(1).ilog10();
    let unit = 10u64.pow(power);
    match bytes.max(1) / unit {
        1 => (unit, unit.saturating_mul(2)),
        2..=4 => (2 * unit, 5 * unit),
        _ => (5 * unit, unit.saturating_mul(10)),
    }
}

pub fn distribution(values: impl Iterator<Item = f64>) -> Distribution {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return Distribution::default();
    }
    Distribution {
        count: sorted.len() as u64,
        mean: Some(sorted.iter().sum::<f64>() / sorted.len() as f64),
        p50: percentile(&sorted, 50.0),
        p95: percentile(&sorted, 95.0),
        p99: percentile(&sorted, 99.0),
        p999: percentile(&sorted, 99.9),
        max: sorted.last().copied(),
    }
}

/// Percentages at which a distribution is kept: every one of a hundred, and the tail more finely. They are
/// the same for every run, so that runs under several seeds can be averaged value by value.
fn percentages() -> impl Iterator<Item = f64> {
    let whole = (1..=99).map(f64::from);
    let tail = (1..=9).map(|tenth| 99.0 + f64::from(tenth) / 10.0);
    let far = (1..=9).map(|hundredth| 99.9 + f64::from(hundredth) / 100.0);
    whole.chain(tail).chain(far).chain([100.0])
}

fn cdf(mut fct: Vec<f64>, mut slowdown: Vec<f64>) -> Cdf {
    fct.sort_by(f64::total_cmp);
    slowdown.sort_by(f64::total_cmp);
    if fct.is_empty() {
        return Cdf::default();
    }
    let of = |sorted: &[f64]| percentages().filter_map(|p| percentile(sorted, p)).collect();
    Cdf { percent: percentages().collect(), fct_us: of(&fct), slowdown: of(&slowdown) }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn tally(flows: impl IntoIterator<Item = FlowRecord>) -> FiniteFlows {
        let mut tally = FiniteFlows::default();
        flows.into_iter().for_each(|flow| tally.add(&flow, flow.size_bytes.unwrap()));
        tally
    }

    fn names() -> Vec<String> {
        vec!["incast".to_owned(), "background".to_owned(), "background".to_owned()]
    }

    #[test]
    fn an_incast_is_no_spike_in_the_background() {
        let background = (0..200).map(|i| fixture::flow(i, 1_000 + 500 * u64::from(i), 0, 20));
        let incast = (200..232).map(|i| FlowRecord { source: 0, ..fixture::flow(i, 40_000, 0, 900) });
        let rows = tally(background.chain(incast)).by_source(&names());
        assert_eq!((rows[0].source.as_str(), rows[0].flows), ("incast", 32));
        assert_eq!(rows[0].slowdown.p50, Some(90.0));
        // The background's own curve is flat through the size of the incast.
        assert!(rows[1].slowdown_by_size.len() > 10);
        assert!(rows[1].slowdown_by_size.iter().all(|group| group.p99 == 2.0));
        assert_eq!(rows[1].cdf.slowdown.last(), Some(&2.0));
    }

    #[test]
    fn tables_of_one_name_are_told_apart() {
        let flow = |source| FlowRecord { source, ..fixture::flow(source, 1_000, 0, 20) };
        let rows = tally([flow(0), flow(1), flow(2), flow(7)]).by_source(&names());
        let called: Vec<&str> = rows.iter().map(|row| row.source.as_str()).collect();
        assert_eq!(called, ["incast", "background (table 1)", "background (table 2)", "source 7"]);
    }

    #[test]
    fn slowdown_groups_keep_equal_sizes_together() {
        let groups = |size: fn(u32) -> u64, number: u32| {
            let rows = tally((0..number).map(|i| fixture::flow(i, size(i), 0, 20))).by_source(&names());
            rows[0].slowdown_by_size.iter().map(|g| (g.median_bytes, g.flows)).collect::<Vec<_>>()
        };
        let four = groups(|i| 1000 * u64::from(i / 50 + 1), 200);
        assert_eq!(four, [(1000, 50), (2000, 50), (3000, 50), (4000, 50)]);
        assert_eq!(groups(|i| 1000 + u64::from(i), 100).len(), 20);
    }

    #[test]
    fn classes_of_size_are_the_same_for_every_run() {
        assert_eq!(
            [0, 1, 9, 10, 19_999, 20_000].map(round_range),
            [(1, 2), (1, 2), (5, 10), (10, 20), (10_000, 20_000), (20_000, 50_000)]
        );
        assert_eq!(round_range(u64::MAX), (10_000_000_000_000_000_000, u64::MAX));
        let rows = tally((0..300).map(|i| fixture::flow(i, 1_000 + 50 * u64::from(i), 0, 20))).by_source(&names());
        let classes: Vec<_> = rows[0].slowdown_classes.iter().map(|of| (of.from_bytes, of.flows)).collect();
        assert_eq!(classes, [(1_000, 20), (2_000, 60), (5_000, 100), (10_000, 120)]);
        assert!(rows[0].slowdown_classes.iter().all(|of| of.p50 == 2.0 && of.p99 == 2.0));
    }

    #[test]
    fn distributions_are_kept_at_the_same_percentages_whatever_the_flows() {
        let of = |number: u32| {
            let rows = tally((0..number).map(|i| fixture::flow(i, 1_000, 0, 10 + u64::from(i)))).by_source(&names());
            rows[0].cdf.clone()
        };
        let (few, many) = (of(5), of(3000));
        assert_eq!(few.percent, many.percent);
        assert!(many.percent.is_sorted() && many.fct_us.is_sorted() && few.slowdown.is_sorted());
        assert_eq!((few.fct_us[0], few.fct_us[49], *few.fct_us.last().unwrap()), (10.0, 12.0, 14.0));
        assert_eq!(many.fct_us[98], 10.0 + 2969.0);
    }
}
