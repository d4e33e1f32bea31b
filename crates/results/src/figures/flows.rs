//! Figures of finite flows: slowdown over size, and distributions. Each is of one traffic source, because
//! what is usual for one says nothing of another.

use super::chart::plain;
use super::chart::{Axis, AxisUnit, Bar, Chart, Hatch, Line, Panel, Part, Style};
use super::colour;
use super::measures::over_seeds;
use crate::averaged::marked_percentages;
use crate::columns::Entry;
use crate::interval::Estimate;
use crate::summary::{Cdf, SlowdownClass, SlowdownGroup, SourceFlows, Summary};

type Pick = fn(&SlowdownGroup) -> f64;
/// What the legend calls a scheme, and how it looks.
type Look = (String, Style);

/// The slowdown by size of each source of a run, with three percentiles.
pub fn of_run(summary: &Summary) -> Vec<Chart> {
    let picks: [(&str, Pick); 3] = [("p50", |g| g.p50), ("p95", |g| g.p95), ("p99", |g| g.p99)];
    let chart = |of: &SourceFlows| {
        let line = |(index, (name, pick)): (usize, (&str, Pick))| {
            slowdown_line(name, &of.slowdown_by_size, pick, colour::by_index(index))
        };
        let lines = picks.into_iter().enumerate().map(line).collect();
        let title = format!("Slowdown by flow size, {}", of.source);
        slowdown(format!("slowdown-{}", plain(&of.source)), title, "Slowdown", lines)
    };
    summary.flows.by_source.iter().filter(|of| of.slowdown_by_size.len() > 1).map(chart).collect()
}

/// For each source: percentiles of the slowdown over sizes, and the distributions of completion times and
/// slowdowns; one curve per scheme.
pub fn of_comparison(entries: &[Entry], looks: &[Look]) -> Vec<Chart> {
    let mut sources: Vec<&str> = Vec::new();
    for of in entries.iter().flat_map(Entry::summaries).flat_map(|run| &run.flows.by_source) {
        if !sources.contains(&of.source.as_str()) {
            sources.push(&of.source);
        }
    }
    let mut charts = Vec::new();
    for source in sources {
        charts.extend(match first_of_several(entries) {
            Some(_) => by_size_class(entries, looks, source),
            None => by_size(entries, looks, source),
        });
        charts.extend(with_intervals(entries, looks, source));
        charts.extend(distributions(entries, looks, source));
    }
    charts
}

fn find<'a>(summary: &'a Summary, source: &str) -> Option<&'a SourceFlows> {
    summary.flows.by_source.iter().find(|of| of.source == source)
}

fn slowdown_line(name: &str, groups: &[SlowdownGroup], pick: Pick, style: Style) -> Line {
    let points = groups.iter().map(|group| (group.median_bytes.max(1) as f64, pick(group))).collect();
    Line::new(name.to_owned(), style, points).dotted()
}

fn slowdown(file: String, title: String, y: &str, lines: Vec<Line>) -> Chart {
    let x = Axis::new("Flow size", AxisUnit::Bytes, true, false);
    let y = Axis::of_slowdown(y);
    let note = "flows in groups of about equal number, drawn at the median size of each".into();
    Chart { note, ..Chart::of_lines(file, title, x, y, lines) }
}

/// Under one seed: groups of equally many flows.
fn by_size(entries: &[Entry], looks: &[Look], source: &str) -> Vec<Chart> {
    let picks: [(&str, Pick); 2] = [("p50", |g| g.p50), ("p99", |g| g.p99)];
    let chart = |(name, pick): (&str, Pick)| {
        let line = |(entry, (called, style)): (&Entry, &Look)| {
            let of = find(&entry.first().summary, source)?;
            let some = of.slowdown_by_size.len() > 1;
            some.then(|| slowdown_line(called, &of.slowdown_by_size, pick, *style))
        };
        let lines: Vec<Line> = entries.iter().zip(looks).filter_map(line).collect();
        let title = format!("{name} slowdown by flow size, {source}");
        let chart = slowdown(format!("slowdown-{name}-{}", plain(source)), title, &format!("{name} slowdown"), lines);
        (chart.lines().count() > 0).then_some(chart)
    };
    picks.into_iter().filter_map(chart).collect()
}

/// Flows that a class of size has per run, if it is drawn.
const LEAST_FLOWS: u64 = 5;

/// Under several seeds: means over all of them in classes of size that all have, with intervals.
fn by_size_class(entries: &[Entry], looks: &[Look], source: &str) -> Vec<Chart> {
    type Pick = fn(&SlowdownClass) -> f64;
    let classes = |run: &Summary| find(run, source).map_or_else(Vec::new, |of| of.slowdown_classes.clone());
    let mut sizes: Vec<(u64, f64)> =
        entries.iter().flat_map(Entry::summaries).flat_map(classes).map(|of| (of.from_bytes, of.place())).collect();
    sizes.sort_by(|a, b| a.1.total_cmp(&b.1));
    sizes.dedup();
    // Classes of a few flows tell of those flows and not of the scheme.
    let flows = |run: &Summary, from: u64| {
        find(run, source)
            .and_then(|of| of.slowdown_classes.iter().find(|class| class.from_bytes == from))
            .map_or(0, |of| of.flows)
    };
    sizes.retain(|(from, _)| {
        entries.iter().any(|entry| {
            let all: u64 = entry.summaries().map(|run| flows(run, *from)).sum();
            all >= LEAST_FLOWS * entry.runs.len() as u64
        })
    });
    if sizes.len() < 2 {
        return Vec::new();
    }
    let picks: [(&str, Pick); 2] = [("p50", |of| of.p50), ("p99", |of| of.p99)];
    let chart = |(name, pick): (&str, Pick)| {
        let line = |(entry, (called, style)): (&Entry, &Look)| {
            let mut line = Line::new(called.clone(), *style, Vec::new()).dotted();
            for &(from, place) in &sizes {
                let own = |run: &Summary| {
                    let of = find(run, source)?;
                    of.slowdown_classes.iter().find(|class| class.from_bytes == from).map(pick)
                };
                let Some(of) = Estimate::of(&entry.summaries().filter_map(own).collect::<Vec<_>>()) else { continue };
                line.points.push((place, of.mean));
                line.intervals.extend(of.half_width.map(|half| (place, of.mean - half, of.mean + half)));
            }
            line
        };
        let lines: Vec<Line> = entries.iter().zip(looks).map(line).filter(|line| !line.points.is_empty()).collect();
        let title = format!("{name} slowdown by flow size, {source}");
        let file = format!("slowdown-{name}-{}", plain(source));
        let mut chart = slowdown(file, title, &format!("{name} slowdown"), lines);
        let seeds = over_seeds(entries[0].runs.len());
        chart.note = format!(
            "{seeds}. Flows in classes that end at 1, 2, 5, 10, ...; drawn in the middle of each; those of fewer than {LEAST_FLOWS} flows \
                              per run are left out"
        );
        if name == "p99" {
            chart.note.push_str("; a p99 of fewer than 100 flows is the slowest of them");
        }
        (chart.lines().count() > 0).then_some(chart)
    };
    picks.into_iter().filter_map(chart).collect()
}

/// The seed that stands for all in figures of single runs, where there are several.
pub fn first_of_several(entries: &[Entry]) -> Option<u64> {
    let first = entries.first()?;
    (first.runs.len() > 1).then(|| first.first().summary.seed)
}

/// Means over seeds of the 99th percentile by size class, with their intervals.
fn with_intervals(entries: &[Entry], looks: &[Look], source: &str) -> Option<Chart> {
    first_of_several(entries)?;
    let classes = &find(&entries[0].first().summary, source)?.by_size;
    let all = || entries.iter().flat_map(Entry::summaries).filter_map(|run| find(run, source));
    let any = |class: &usize| all().any(|of| of.by_size.get(*class).is_some_and(|of| of.completed > 0));
    let shown: Vec<usize> = (0..classes.len()).filter(any).collect();
    let mut bars = Vec::new();
    for (slot, (entry, (called, style))) in entries.iter().zip(looks).enumerate() {
        for (group, &class) in shown.iter().enumerate() {
            let p99 = |summary: &Summary| find(summary, source)?.by_size.get(class)?.slowdown.p99;
            let Some(of) = Estimate::of(&entry.summaries().filter_map(p99).collect::<Vec<_>>()) else { continue };
            let hatch = Hatch::ALL[slot % Hatch::ALL.len()];
            let (name, colour) = (called.clone(), style.colour);
            let part = Part { name, colour, hatch, value: of.mean, interval: of.half_width };
            bars.push(Bar { group, slot, name: String::new(), parts: vec![part] });
        }
    }
    let y = Axis::of_slowdown("p99 slowdown");
    let x = Axis::new("Flow size", AxisUnit::Plain(String::new()), false, false);
    let file = format!("slowdown-seeds-{}", plain(source));
    let title = format!("p99 slowdown by size class, {source}");
    let mut chart = Chart::of_lines(file, title, x, y, Vec::new());
    chart.note = over_seeds(entries[0].runs.len());
    chart.groups = shown.iter().map(|class| classes[*class].name.clone()).collect();
    chart.panels = vec![Panel { bars, ..Panel::default() }];
    (chart.parts().count() > 0).then_some(chart)
}

fn distributions(entries: &[Entry], looks: &[Look], source: &str) -> Vec<Chart> {
    type Values = fn(&Cdf) -> &Vec<f64>;
    let kinds: [(&str, &str, AxisUnit, Values); 2] = [
        ("fct", "Flow completion time", AxisUnit::Time, |cdf| &cdf.fct_us),
        ("slowdown", "Slowdown", AxisUnit::Ratio, |cdf| &cdf.slowdown),
    ];
    let chart = |(file, axis, unit, values): (&str, &str, AxisUnit, Values)| {
        let line = |(place, (entry, (called, style))): (usize, (&Entry, &Look))| {
            let (points, spans) = mean_cdf(entry, source, values, place);
            (!points.is_empty()).then(|| Line { spans, ..Line::new(called.clone(), *style, points) })
        };
        let lines: Vec<Line> = entries.iter().zip(looks).enumerate().filter_map(line).collect();
        let x = match unit {
            AxisUnit::Ratio => Axis::of_slowdown(axis),
            unit => Axis::new(axis, unit, true, false),
        };
        let y = Axis { until: Some(1.0), ..Axis::new("Flows", AxisUnit::Fraction, false, true) };
        let title = format!("{axis}, distribution, {source}");
        let mut chart = Chart::of_lines(format!("cdf-{file}-{}", plain(source)), title, x, y, lines);
        if first_of_several(entries).is_some() {
            chart.note = format!("each percentile: {}", over_seeds(entries[0].runs.len()));
        }
        (chart.lines().count() > 0).then_some(chart)
    };
    kinds.into_iter().filter_map(chart).collect()
}

/// Points of a distribution, and intervals along x.
type Drawn = (Vec<(f64, f64)>, Vec<(f64, f64, f64)>);

/// Value and part of the flows, from no flow on; over several seeds the mean of each percentile, and for some of them
/// its interval. `place` is that of the scheme.
fn mean_cdf(entry: &Entry, source: &str, values: fn(&Cdf) -> &Vec<f64>, place: usize) -> Drawn {
    let cdfs = || entry.summaries().filter_map(|run| find(run, source)).map(|of| &of.cdf);
    let all: Vec<&Cdf> = cdfs().filter(|cdf| !cdf.percent.is_empty()).collect();
    let Some(first) = all.first() else { return Drawn::default() };
    let marked = marked_percentages(place);
    let (mut points, mut spans) = (Vec::new(), Vec::new());
    for (index, percent) in first.percent.iter().enumerate() {
        let Some(of) = Estimate::of(&all.iter().map(|cdf| values(cdf)[index]).collect::<Vec<_>>()) else { continue };
        if index == 0 {
            points.push((of.mean, 0.0));
        }
        points.push((of.mean, percent / 100.0));
        if let Some(half) = of.half_width.filter(|_| marked.contains(percent)) {
            spans.push((percent / 100.0, of.mean - half, of.mean + half));
        }
    }
    (points, spans)
}
