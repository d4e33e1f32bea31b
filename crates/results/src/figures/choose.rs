//! Which figures a run or a comparison gets.

use super::chart::{Axis, AxisUnit, Chart, Dash, Line, Style, plain};
use super::colour;
use super::flows;
use super::jobs;
use super::{called, measures, paths};
use crate::columns::Entry;
use crate::curves::Curve;
use crate::incident::Episode;
use crate::outcome::Outcome;
use std::collections::BTreeSet;
use xoff_fabric::record::{Metric, Variable};
use xoff_scenario::Looks;
use xoff_scenario::number::microseconds;
use xoff_scenario::wrap::capitalised;

/// Curves that a reader can still tell apart.
const MOST_LINES: usize = 8;
/// Flows whose asked, sent and delivered rates fit one figure.
const MOST_RATES: usize = 4;
/// Places or flows that a comparison draws, each in a figure of its own.
const MOST_PLACES: usize = 4;

/// How a metric is drawn: file, title, title of the y axis, unit.
fn look(metric: Metric) -> (&'static str, &'static str, &'static str, AxisUnit) {
    match metric {
        Metric::QueueBytes => ("queues", "Egress queues", "queue", AxisUnit::Bytes),
        Metric::IngressBytes => ("ingress", "Buffered bytes by ingress", "buffered", AxisUnit::Bytes),
        Metric::PortThroughput => ("ports", "Throughput of ports", "throughput", AxisUnit::Gbps),
        Metric::PausedFraction => ("paused", "Time under PAUSE", "part of the interval", AxisUnit::Fraction),
        Metric::PauseRate => ("pause-rate", "PAUSE frames sent", "PAUSE frames", AxisUnit::PerSecond),
        Metric::FlowRate => ("allowed", "Rate allowed by the scheme", "rate", AxisUnit::Gbps),
        Metric::FlowSendRate => ("sent", "Rate sent", "rate", AxisUnit::Gbps),
        Metric::FlowThroughput => {
            ("throughput", "Throughput of flows (delivered payload)", "throughput", AxisUnit::Gbps)
        }
        Metric::ShapedBytes => ("shaped", "Shaped per-flow queues by port", "queued", AxisUnit::Bytes),
        Metric::FlowShapedBytes => ("flow-queues", "Shaped queues of flows", "queue", AxisUnit::Bytes),
        Metric::SwitchBytes => ("buffers", "Buffers of switches, by their first port", "buffered", AxisUnit::Bytes),
        Metric::Variable(of) => ("scheme", of.meaning.trim_end_matches('.'), of.name, unit_of(of)),
    }
}

/// How the values of a scheme's variable are shown.
fn unit_of(variable: &Variable) -> AxisUnit {
    match variable.unit {
        "bytes" => AxisUnit::Bytes,
        "Gbps" => AxisUnit::Gbps,
        "us" => AxisUnit::Time,
        "1" => AxisUnit::Plain(String::new()),
        unit => AxisUnit::Plain(unit.to_owned()),
    }
}

fn over_time(metric: Metric, suffix: &str, title: String, lines: Vec<Line>, episode: Option<&Episode>) -> Chart {
    let (file, _, y_title, unit) = look(metric);
    let file = match metric {
        Metric::Variable(of) => format!("{file}-{}", plain(of.name)),
        _ => file.to_owned(),
    };
    let x = Axis::new("Time", AxisUnit::Time, false, true);
    let y = Axis::new(capitalised(&y_title.replace('_', " ")), unit, false, true);
    Chart { marks: marks(episode), ..Chart::of_lines(format!("{file}{suffix}"), title, x, y, lines) }
}

fn marks(episode: Option<&Episode>) -> Vec<(f64, String)> {
    match episode {
        Some(of) => vec![(of.start_us, "burst starts".into()), (of.end_us, "ends".into())],
        None => Vec::new(),
    }
}

pub fn of_run(outcome: &Outcome) -> Vec<Chart> {
    let episode = outcome.summary.episode.as_ref();
    let mut charts = jobs::of_jobs(&outcome.timelines);
    let metrics = [
        Metric::FlowThroughput,
        Metric::PauseRate,
        Metric::PausedFraction,
        Metric::QueueBytes,
        Metric::ShapedBytes,
        Metric::FlowShapedBytes,
        Metric::IngressBytes,
        Metric::SwitchBytes,
        Metric::PortThroughput,
    ];
    let variables = outcome.curves.list.iter().map(|curve| curve.metric).filter(|of| matches!(of, Metric::Variable(_)));
    let variables: BTreeSet<Metric> = variables.collect();
    for metric in metrics.into_iter().chain(variables) {
        let curves: Vec<&Curve> = outcome.curves.list.iter().filter(|curve| curve.metric == metric).collect();
        if curves.is_empty() {
            continue;
        }
        let left_out: usize = outcome.curves.left_out.iter().filter(|(of, _)| *of == metric).map(|(_, n)| n).sum();
        let (chosen, of) = (highest(&curves), curves.len() + left_out);
        let mut chart = over_time(metric, "", look(metric).1.into(), lines(&chosen), episode);
        if chosen.len() < of {
            chart.note = format!("the {} highest of {of}; all are in series.parquet", chosen.len());
        }
        let zoomed = zoom(&chart, episode);
        charts.push(chart);
        charts.extend(zoomed);
        if metric == Metric::FlowThroughput {
            let chart = rates(outcome, episode);
            let zoomed = chart.as_ref().and_then(|chart| zoom(chart, episode));
            charts.extend(chart);
            charts.extend(zoomed);
        }
    }
    let several = outcome.summary.routing.as_ref().is_some_and(|routing| routing.paths_used.is_some());
    if several {
        charts.extend(paths::of_run(&outcome.shared));
    }
    charts.extend(flows::of_run(&outcome.summary));
    charts.extend(measures::of_run(&outcome.summary));
    charts
}

/// The curves that reach highest, in their old order.
fn highest<'a>(curves: &[&'a Curve]) -> Vec<&'a Curve> {
    let mut order: Vec<(usize, f64)> = curves.iter().enumerate().map(|(i, curve)| (i, peak(curve))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.truncate(MOST_LINES);
    order.sort_by_key(|(index, _)| *index);
    order.into_iter().map(|(index, _)| curves[index]).collect()
}

fn peak(curve: &Curve) -> f64 {
    curve.trace.points().iter().map(|p| p.1).fold(0.0, f64::max)
}

fn lines(curves: &[&Curve]) -> Vec<Line> {
    let line =
        |(index, curve): (usize, &&Curve)| Line::new(curve.name.clone(), colour::by_index(index), curve.trace.points());
    curves.iter().enumerate().map(line).collect()
}

/// What the scheme asked for, what the NIC sent and what arrived, for a few flows.
fn rates(outcome: &Outcome, episode: Option<&Episode>) -> Option<Chart> {
    let of = |metric: Metric| outcome.curves.list.iter().filter(move |curve| curve.metric == metric);
    let flows: Vec<&String> = of(Metric::FlowRate).map(|curve| &curve.name).collect();
    if flows.is_empty() || flows.len() > MOST_RATES {
        return None;
    }
    let kinds = [
        (Metric::FlowRate, "allowed", Dash::Long),
        (Metric::FlowSendRate, "sent", Dash::Dotted),
        (Metric::FlowThroughput, "delivered", Dash::Solid),
    ];
    let mut all = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        for (metric, what, dash) in kinds {
            if let Some(curve) = of(metric).find(|curve| curve.name == **flow) {
                let (name, points) = (format!("{flow} {what}"), curve.trace.points());
                all.push(Line::new(name, (colour::PALETTE[index], dash), points));
            }
        }
    }
    let mut chart = over_time(Metric::FlowRate, "", "Rates of flows: allowed, sent, delivered".into(), all, episode);
    chart.file = "rates".into();
    Some(chart)
}

/// The same chart around a disturbance that is short in the whole run.
fn zoom(chart: &Chart, episode: Option<&Episode>) -> Option<Chart> {
    let episode = episode?;
    let length = episode.end_us - episode.start_us;
    let last = chart.lines().filter_map(|line| line.points.last()).map(|p| p.0).fold(0.0, f64::max);
    let (from, until) = (episode.start_us - 0.5 * length, episode.end_us + 1.5 * length);
    if length <= 0.0 || until - from > last / 3.0 {
        return None;
    }
    let mut zoomed = chart.clone();
    zoomed.file.push_str("-burst");
    zoomed.title.push_str(", around the burst");
    zoomed.x.from_zero = false;
    for line in zoomed.panels.iter_mut().flat_map(|panel| &mut panel.lines) {
        line.points.retain(|p| (from..=until).contains(&p.0));
    }
    let any = zoomed.lines().any(|line| line.points.len() > 1);
    any.then_some(zoomed)
}

/// What the legend calls each scheme of a comparison, and how it looks in all figures.
fn looks(entries: &[Entry]) -> Vec<(String, Style)> {
    let names: Vec<String> = entries.iter().map(|entry| entry.scheme.clone()).collect();
    let looks = entries.first().map_or_else(Looks::default, |entry| Looks::of_resolved(&entry.first().scenario));
    let styles = colour::of_schemes(&names, &looks);
    names.iter().map(|name| called(name, &looks)).zip(styles).collect()
}

/// The figures of several schemes: one figure per flow or place, one colour per scheme. What goes over time
/// is of the first seed, which the axis says.
pub fn of_comparison(entries: &[Entry]) -> Vec<Chart> {
    let outcomes: Vec<&Outcome> = entries.iter().map(Entry::first).collect();
    let looks = looks(entries);
    let mut charts = Vec::new();
    for metric in [Metric::FlowThroughput, Metric::FlowRate, Metric::PauseRate, Metric::QueueBytes] {
        for place in places(&outcomes, metric) {
            let line = |(outcome, (name, style)): (&&Outcome, &(String, Style))| {
                let curve = outcome.curves.list.iter().find(|c| c.metric == metric && c.name == place)?;
                Some(Line::new(name.clone(), *style, curve.trace.points()))
            };
            let lines: Vec<Line> = outcomes.iter().zip(&looks).filter_map(line).collect();
            // The end of the burst differs by scheme; only its start is the same for all.
            let episode = outcomes[0].summary.episode.as_ref();
            let title = format!("{}: {place}", look(metric).1);
            let mut chart = over_time(metric, &format!("-{}", plain(&place)), title, lines, episode);
            chart.marks.truncate(1);
            if let Some(seed) = flows::first_of_several(entries) {
                chart.x.title = format!("{} under seed {seed}", chart.x.title);
                chart.note = format!("seed {seed} of {}", entries[0].runs.len());
            }
            if !matches!(metric, Metric::FlowThroughput | Metric::FlowRate) {
                cut_quiet_end(&mut chart);
            }
            let zoomed = zoom(&chart, episode);
            charts.push(chart);
            charts.extend(zoomed);
        }
    }
    charts.extend(flows::of_comparison(entries, &looks));
    charts.extend(measures::of_comparison(entries, &looks));
    charts
}

/// What is nothing against the highest.
const QUIET: f64 = 0.01;
/// A quiet end that is longer than this part of the whole is cut off.
const LONG_END: f64 = 0.25;

/// Ends the axis of time soon after the last that can be seen: one flow that is late would leave most of it empty.
fn cut_quiet_end(chart: &mut Chart) {
    let points = || chart.lines().flat_map(|line| line.points.iter().copied());
    let (end, high) = points().fold((0.0f64, 0.0f64), |(end, high), (x, y)| (end.max(x), high.max(y)));
    let last = points().filter(|(_, y)| *y > QUIET * high).map(|(x, _)| x).fold(0.0, f64::max);
    if high > 0.0 && last > 0.0 && last < (1.0 - LONG_END) * end {
        chart.x.until = Some(1.05 * last);
        let quiet = format!("below {:.0} % of the peak from {} on", QUIET * 100.0, microseconds(last));
        chart.note = if chart.note.is_empty() { quiet } else { format!("{}; {quiet}", chart.note) };
    }
}

/// Where a comparison looks: the places with the highest peaks in any run; nothing where all is zero.
fn places(outcomes: &[&Outcome], metric: Metric) -> Vec<String> {
    let mut found: Vec<(String, f64)> = Vec::new();
    for curve in outcomes.iter().flat_map(|outcome| &outcome.curves.list).filter(|curve| curve.metric == metric) {
        let height = peak(curve);
        match found.iter_mut().find(|(name, _)| *name == curve.name) {
            Some((_, highest)) => *highest = highest.max(height),
            None => found.push((curve.name.clone(), height)),
        }
    }
    found.retain(|(name, height)| *height > 0.0 && moves(outcomes, metric, name));
    // Flows keep their order; ports are ranked.
    if !matches!(metric, Metric::FlowThroughput | Metric::FlowRate) {
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    found.truncate(MOST_PLACES);
    found.into_iter().map(|(name, _)| name).collect()
}

/// Whether a quantity changes in any run: what the scheme allows often does not.
fn moves(outcomes: &[&Outcome], metric: Metric, name: &str) -> bool {
    let of = outcomes.iter().flat_map(|outcome| &outcome.curves.list).filter(|c| c.metric == metric && c.name == name);
    of.into_iter().any(|curve| curve.trace.points().windows(2).any(|pair| pair[0].1 != pair[1].1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::Trace;

    #[test]
    fn a_quiet_end_does_not_take_the_axis() {
        let x = Axis::new("time", AxisUnit::Time, false, true);
        let y = Axis::new("queue", AxisUnit::Bytes, false, true);
        let chart = |points: &[(f64, f64)]| {
            let line = Line::new("a".into(), colour::by_index(0), points.to_vec());
            Chart::of_lines("q".into(), "q".into(), x.clone(), y.clone(), vec![line])
        };
        let mut late = chart(&[(0.0, 0.0), (10.0, 100.0), (20.0, 40.0), (30.0, 0.5), (100.0, 0.0)]);
        cut_quiet_end(&mut late);
        assert_eq!((late.x.until, late.note.as_str()), (Some(21.0), "below 1 % of the peak from 20.0 us on"));
        let mut busy = chart(&[(0.0, 0.0), (10.0, 100.0), (90.0, 40.0), (100.0, 0.0)]);
        cut_quiet_end(&mut busy);
        assert_eq!(busy.x.until, None);
    }

    #[test]
    fn the_highest_curves_are_shown_in_their_order() {
        let curves: Vec<Curve> = (0..12)
            .map(|i| {
                let mut trace = Trace::default();
                trace.push(0.0, f64::from((i * 7) % 12));
                Curve { metric: Metric::QueueBytes, name: format!("q{i}"), trace }
            })
            .collect();
        let all: Vec<&Curve> = curves.iter().collect();
        let chosen: Vec<f64> = highest(&all).into_iter().map(peak).collect();
        assert_eq!(chosen.len(), MOST_LINES);
        assert!(chosen.iter().all(|peak| *peak >= 4.0));
        assert_eq!(plain("s0->s1#1 prio 3"), "s0-to-s1-1-prio-3");
    }
}
