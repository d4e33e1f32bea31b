//! Figures of the page: live and simulated in two colours.

use super::numbers::{About, Number, PAUSED, Runs, about, estimate};
use super::readings::{Place, Readings};
use crate::curves::Trace;
use crate::figures::chart::{Axis, AxisUnit, Bar, Chart, Dash, Hatch, Line, Panel, Part, RGBColor, plain};
use crate::figures::colour::PALETTE;
use crate::summary::Cdf;
use xoff_fabric::record::Metric;
use xoff_scenario::wrap::capitalised;

/// Figures of curves of one kind; the tables tell of more.
const MOST_CURVES: usize = 6;
/// Ports whose bars fit one figure.
const MOST_PORTS: usize = 8;

const LIVE: (RGBColor, Dash) = (PALETTE[0], Dash::Solid);
const SIMULATED: (RGBColor, Dash) = (PALETTE[1], Dash::Short);

/// All of them, in the order of the tables.
pub fn charts(runs: &Runs, numbers: &[Number]) -> Vec<Chart> {
    let mut charts = distributions(runs);
    for kind in [About::Throughput, About::Queue] {
        let mut places = runs.places();
        places.retain(|(place, _)| about(place.metric) == kind);
        // The highest first, so that what is left out is what matters least.
        places.sort_by(|a, b| height(runs, &b.0).total_cmp(&height(runs, &a.0)));
        charts.extend(places.iter().take(MOST_CURVES).map(|(place, name)| over_time(runs, place, name)));
    }
    charts.extend(paused(numbers));
    charts
}

fn height(runs: &Runs, place: &Place) -> f64 {
    let peaks = runs.live.iter().chain([&runs.simulated]).filter_map(|run| run.curves.get(place)?.peak());
    peaks.fold(0.0, f64::max)
}

fn over_time(runs: &Runs, place: &Place, name: &str) -> Chart {
    let line = |run: &Readings, legend: &str, style| {
        let mut trace = Trace::default();
        run.curves.get(place)?.samples().iter().for_each(|&(time_us, value)| trace.push(time_us, value));
        Some(Line::new(legend.to_owned(), style, trace.points()))
    };
    let live = runs.live.iter().filter_map(|run| line(run, "live", LIVE));
    let lines = live.chain(line(&runs.simulated, "simulated", SIMULATED)).collect();
    let (what, unit) = match place.metric {
        Metric::QueueBytes => ("queue", AxisUnit::Bytes),
        _ => ("throughput", AxisUnit::Gbps),
    };
    let (x, y) = (Axis::new("time", AxisUnit::Time, false, true), Axis::new(what, unit, false, true));
    let of = if place.flow.is_some() { "flow" } else { "port" };
    let file = format!("{what}-{of}-{}", plain(name));
    Chart::of_lines(file, format!("{}: {name}", capitalised(what)), x, y, lines)
}

/// Completion times of each source, a curve per run.
fn distributions(runs: &Runs) -> Vec<Chart> {
    let chart = |source: &str| {
        let line = |run: &Readings, legend: &str, style| {
            let of = run.summary.flows.by_source.iter().find(|of| of.source == source)?;
            (of.completed > 1).then(|| Line::new(legend.to_owned(), style, points(&of.cdf)))
        };
        let live = runs.live.iter().filter_map(|run| line(run, "live", LIVE));
        let lines: Vec<Line> = live.chain(line(&runs.simulated, "simulated", SIMULATED)).collect();
        let x = Axis::new("completion time", AxisUnit::Time, true, false);
        let y = Axis { until: Some(1.0), ..Axis::new("part of the flows", AxisUnit::Fraction, false, true) };
        let title = format!("Distribution of the completion time, {source}");
        let any = !lines.is_empty();
        any.then(|| Chart::of_lines(format!("cdf-fct-{}", plain(source)), title, x, y, lines))
    };
    runs.simulated.summary.flows.by_source.iter().filter_map(|of| chart(&of.source)).collect()
}

fn points(cdf: &Cdf) -> Vec<(f64, f64)> {
    cdf.fct_us.iter().zip(&cdf.percent).map(|(&us, percent)| (us, percent / 100.0)).collect()
}

/// How long egresses were paused, those that were paused longest.
fn paused(numbers: &[Number]) -> Option<Chart> {
    let mut ports: Vec<&Number> =
        numbers.iter().filter(|of| of.about == About::Pause && of.statistic == PAUSED).collect();
    let longest = |of: &Number| estimate(&of.live).map_or(0.0, |live| live.mean).max(of.simulated.unwrap_or(0.0));
    ports.retain(|of| longest(of) > 0.0);
    ports.sort_by(|a, b| longest(b).total_cmp(&longest(a)));
    ports.truncate(MOST_PORTS);
    let bar = |group, slot, part| Bar { group, slot, name: String::new(), parts: vec![part] };
    let mut bars = Vec::new();
    for (group, of) in ports.iter().enumerate() {
        if let Some(live) = estimate(&of.live) {
            let (name, hatch) = ("live".to_owned(), Hatch::Full);
            bars.push(bar(group, 0, Part { name, colour: LIVE.0, hatch, value: live.mean, interval: live.half_width }));
        }
        let (name, hatch, value) = ("simulated".to_owned(), Hatch::Rising, of.simulated.unwrap_or(0.0));
        bars.push(bar(group, 1, Part { name, colour: SIMULATED.0, hatch, value, interval: None }));
    }
    let x = Axis::new("port", AxisUnit::Plain(String::new()), false, false);
    let y = Axis::new("paused", AxisUnit::Time, false, true);
    let mut chart = Chart::of_lines("paused".into(), "Time under PAUSE, by port".into(), x, y, Vec::new());
    chart.groups = ports.iter().map(|of| of.of.clone()).collect();
    chart.panels = vec![Panel { bars, ..Panel::default() }];
    (!ports.is_empty()).then_some(chart)
}
