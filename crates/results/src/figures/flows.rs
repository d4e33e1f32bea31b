//! Figures of finite flows: slowdown over size, and distributions. Each is of one traffic source, because
//! what is usual for one says nothing of another.

use super::chart::plain;
use super::chart::{Axis, AxisUnit, Bar, Chart, Dash, Hatch, Line, Panel, Part};
use super::colour;
use crate::columns::Entry;
use crate::interval::Estimate;
use crate::summary::{Cdf, SlowdownGroup, SourceFlows, Summary};
use plotters::style::RGBColor;

type Pick = fn(&SlowdownGroup) -> f64;
type Style = (RGBColor, Dash);

/// The slowdown by size of each source of a run, with three percentiles.
pub fn of_run(summary: &Summary) -> Vec<Chart> {
    let picks: [(&str, Pick); 3] = [("p50", |g| g.p50), ("p95", |g| g.p95), ("p99", |g| g.p99)];
    let chart = |of: &SourceFlows| {
        let line = |(index, (name, pick)): (usize, (&str, Pick))| {
            let (colour, _) = colour::by_index(index);
            slowdown_line(name, &of.slowdown_by_size, pick, (colour, colour::DASHES[index]))
        };
        let lines = picks.into_iter().enumerate().map(line).collect();
        slowdown(format!("slowdown-{}", plain(&of.source)), format!("Slowdown by flow size, {}", of.source), lines)
    };
    summary.by_source.iter().filter(|of| of.slowdown_by_size.len() > 1).map(chart).collect()
}

/// For each source: percentiles of the slowdown over sizes, and the distributions of completion times and
/// slowdowns; one curve per scheme.
pub fn of_comparison(entries: &[Entry], styles: &[Style]) -> Vec<Chart> {
    let mut sources: Vec<&str> = Vec::new();
    for of in entries.iter().flat_map(|entry| &entry.first().summary.by_source) {
        if !sources.contains(&of.source.as_str()) {
            sources.push(&of.source);
        }
    }
    let mut charts = Vec::new();
    for source in sources {
        charts.extend(by_size(entries, styles, source));
        charts.extend(with_intervals(entries, styles, source));
        charts.extend(distributions(entries, styles, source));
    }
    charts
}

fn find<'a>(summary: &'a Summary, source: &str) -> Option<&'a SourceFlows> {
    summary.by_source.iter().find(|of| of.source == source)
}

fn slowdown_line(name: &str, groups: &[SlowdownGroup], pick: Pick, style: Style) -> Line {
    let points = groups.iter().map(|group| (group.median_bytes.max(1) as f64, pick(group))).collect();
    Line::new(name.to_owned(), style, points).dotted()
}

fn slowdown(file: String, title: String, lines: Vec<Line>) -> Chart {
    let x = Axis::new("flow size", AxisUnit::Bytes, true, false);
    let y = Axis::new("slowdown (1 = idle network)", AxisUnit::Ratio, true, false);
    let note = "flows in groups of about equal number, drawn at the median size of each".into();
    Chart { note, ..Chart::of_lines(file, title, x, y, lines) }
}

fn by_size(entries: &[Entry], styles: &[Style], source: &str) -> Vec<Chart> {
    let picks: [(&str, Pick); 2] = [("p50", |g| g.p50), ("p99", |g| g.p99)];
    let chart = |(name, pick): (&str, Pick)| {
        let line = |(entry, style): (&Entry, &Style)| {
            let of = find(&entry.first().summary, source)?;
            let some = of.slowdown_by_size.len() > 1;
            some.then(|| slowdown_line(&entry.scheme, &of.slowdown_by_size, pick, *style))
        };
        let lines: Vec<Line> = entries.iter().zip(styles).filter_map(line).collect();
        let (file, title) =
            (format!("slowdown-{name}-{}", plain(source)), format!("Slowdown by flow size, {name}, {source}"));
        let mut chart = slowdown(file, title, lines);
        if let Some(seed) = first_of_several(entries) {
            chart.note.push_str(&format!("; seed {seed} alone"));
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
fn with_intervals(entries: &[Entry], styles: &[Style], source: &str) -> Option<Chart> {
    first_of_several(entries)?;
    let classes = &find(&entries[0].first().summary, source)?.by_size;
    let shown: Vec<usize> = (0..classes.len()).filter(|class| classes[*class].completed > 0).collect();
    let mut bars = Vec::new();
    for (slot, (entry, (colour, _))) in entries.iter().zip(styles).enumerate() {
        for (group, &class) in shown.iter().enumerate() {
            let p99 = |summary: &Summary| find(summary, source)?.by_size.get(class)?.slowdown.p99;
            let Some(of) = Estimate::of(&entry.summaries().filter_map(p99).collect::<Vec<_>>()) else { continue };
            let hatch = Hatch::ALL[slot % Hatch::ALL.len()];
            let name = entry.scheme.clone();
            let part = Part { name, colour: *colour, hatch, value: of.mean, interval: of.half_width };
            bars.push(Bar { group, slot, name: String::new(), parts: vec![part] });
        }
    }
    let y = Axis::new("p99 slowdown (1 = idle network)", AxisUnit::Ratio, false, true);
    let x = Axis::new("flow size", AxisUnit::Plain(String::new()), false, false);
    let file = format!("slowdown-seeds-{}", plain(source));
    let title = format!("p99 slowdown by flow size, {source}, mean over {} seeds", entries[0].runs.len());
    let mut chart = Chart::of_lines(file, title, x, y, Vec::new());
    chart.note = "whiskers: 95 % confidence interval of the mean".into();
    chart.groups = shown.iter().map(|class| classes[*class].name.clone()).collect();
    chart.panels = vec![Panel { bars, ..Panel::default() }];
    (chart.parts().count() > 0).then_some(chart)
}

fn distributions(entries: &[Entry], styles: &[Style], source: &str) -> Vec<Chart> {
    type Values = fn(&Cdf) -> &Vec<f64>;
    let kinds: [(&str, &str, AxisUnit, Values); 2] = [
        ("fct", "completion time", AxisUnit::Time, |cdf| &cdf.fct_us),
        ("slowdown", "slowdown (1 = idle network)", AxisUnit::Ratio, |cdf| &cdf.slowdown),
    ];
    let chart = |(file, axis, unit, values): (&str, &str, AxisUnit, Values)| {
        let line = |(entry, style): (&Entry, &Style)| {
            let points = mean_cdf(entry, source, values);
            (!points.is_empty()).then(|| Line::new(entry.scheme.clone(), *style, points))
        };
        let lines: Vec<Line> = entries.iter().zip(styles).filter_map(line).collect();
        let x = Axis::new(axis, unit, true, false);
        let y = Axis { until: Some(1.0), ..Axis::new("part of the flows", AxisUnit::Fraction, false, true) };
        let what = axis.split(" (").next().unwrap_or_default();
        let title = format!("Distribution of the {what}, {source}");
        let mut chart = Chart::of_lines(format!("cdf-{file}-{}", plain(source)), title, x, y, lines);
        if first_of_several(entries).is_some() {
            chart.note = format!("each percentile is its mean over {} seeds", entries[0].runs.len());
        }
        (chart.lines().count() > 0).then_some(chart)
    };
    kinds.into_iter().filter_map(chart).collect()
}

/// Value and part of the flows, from no flow on; over several seeds the mean of each percentile.
fn mean_cdf(entry: &Entry, source: &str, values: fn(&Cdf) -> &Vec<f64>) -> Vec<(f64, f64)> {
    let cdfs = || entry.summaries().filter_map(|run| find(run, source)).map(|of| &of.cdf);
    let all: Vec<&Cdf> = cdfs().filter(|cdf| !cdf.percent.is_empty()).collect();
    let Some(first) = all.first() else { return Vec::new() };
    let mean = |index: usize| all.iter().map(|cdf| values(cdf)[index]).sum::<f64>() / all.len() as f64;
    let mut points: Vec<(f64, f64)> = vec![(mean(0), 0.0)];
    points.extend(first.percent.iter().enumerate().map(|(index, percent)| (mean(index), percent / 100.0)));
    points
}
