//! The numbers of a figure as a table for scripts: all of them, as they are drawn.

use super::chart::{Bar, Chart, Line};
use std::io;

/// Columns of every such table.
const HEAD: [&str; 8] = ["panel", "series", "x", "y", "y_low", "y_high", "x_low", "x_high"];

/// One row for each point or part of a bar. The unit of both axes is that of the data: microseconds, bytes, Gb/s, or a
/// plain number.
pub fn csv(chart: &Chart) -> io::Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(HEAD)?;
    for panel in &chart.panels {
        for line in &panel.lines {
            for row in of_line(line) {
                out.write_record([panel.title.clone(), line.name.clone()].into_iter().chain(row))?;
            }
        }
        for bar in &panel.bars {
            for row in of_bar(bar, chart) {
                out.write_record(std::iter::once(panel.title.clone()).chain(row))?;
            }
        }
    }
    out.into_inner().map_err(io::Error::other)
}

fn text(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

fn ends(of: Option<&(f64, f64, f64)>) -> [String; 2] {
    of.map_or_else(<[String; 2]>::default, |(_, low, high)| [text(*low), text(*high)])
}

fn of_line(line: &Line) -> impl Iterator<Item = [String; 6]> {
    let points = line.points.iter().filter(|point| point.1.is_finite()).map(|&(x, y)| {
        let [low, high] = ends(line.intervals.iter().find(|of| of.0 == x));
        let [left, right] = ends(line.spans.iter().find(|of| of.0 == y));
        [text(x), text(y), low, high, left, right]
    });
    let never = line.never.iter().map(|x| {
        let nothing = String::new;
        [text(*x), text(f64::INFINITY), nothing(), nothing(), nothing(), nothing()]
    });
    points.chain(never)
}

fn of_bar(bar: &Bar, chart: &Chart) -> Vec<[String; 7]> {
    let group = chart.groups.get(bar.group).cloned().unwrap_or_default();
    let row = |part: &super::chart::Part| {
        let half = |sign: f64| part.interval.map_or_else(String::new, |half| text(part.value + sign * half));
        let series = match bar.name.as_str() {
            "" => part.name.clone(),
            name if part.name.is_empty() || name == part.name => name.to_owned(),
            name => format!("{name}, {}", part.name),
        };
        [series, group.clone(), text(part.value), half(-1.0), half(1.0), String::new(), String::new()]
    };
    bar.parts.iter().map(row).collect()
}

/// A line for each figure: what it shows, what to know of it, and what its axes are. Captions begin here.
pub fn captions(charts: &[Chart]) -> String {
    let caption = |chart: &Chart| {
        let note = if chart.note.is_empty() { String::new() } else { format!(" ({})", chart.note) };
        format!("{}: {}{note}. x: {}; y: {}.\n", chart.file, chart.title, chart.x.named(), chart.y.named())
    };
    charts.iter().map(caption).collect()
}
