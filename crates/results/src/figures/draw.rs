//! Draws a chart on any backend: SVG for the report, PNG for slides, PDF for papers.

use super::bars;
use super::canvas::{self, CURVE, Canvas, FAINT, Failed, GREY, INK, SCALE, Stroke, Strokes, ready_font, text_width};
use super::chart::{Axis, Chart, Dash, Line, Marker};
use super::document;
use super::layout::{self, Entry, Form, Frame, Layout, Look};
use super::path::{Bounds, clip, dashes, thin};
use super::quoted;
use super::recorder::Recorder;
use super::ticks::Ticks;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The figure as an SVG document.
pub fn svg(chart: &Chart) -> Result<String, Failed> {
    ready_font()?;
    let layout = Layout::of(chart, Form::Page, text_width);
    let size = (layout.form.width(), layout.height);
    let (text, curves) = canvas::svg(size, |canvas| paint(chart, &layout, canvas))?;
    Ok(dash_curves(&text, &curves))
}

/// The figure at the width of a column, as the bytes of a PDF file.
pub fn pdf(chart: &Chart) -> Result<Vec<u8>, Failed> {
    ready_font()?;
    let layout = Layout::of(chart, Form::Column, text_width);
    let size = ((layout.form.width() * document::SCALE) as u32, (layout.height * document::SCALE) as u32);
    let mut shapes = Vec::new();
    let area = Recorder::new(&mut shapes, size).into_drawing_area();
    let how = (Strokes::Whole, document::SCALE);
    let curves = canvas::draw(&area, how, |canvas| paint(chart, &layout, canvas))?;
    drop(area);
    document::write(chart, size, &shapes, &curves)
}

/// The figure as the bytes of a PNG file.
pub fn png(chart: &Chart) -> Result<Vec<u8>, Failed> {
    ready_font()?;
    let layout = Layout::of(chart, Form::Page, text_width);
    canvas::png((layout.form.width(), layout.height), |canvas| paint(chart, &layout, canvas))
}

/// Gives the curves of an SVG document, in the order they were drawn, round corners, dashes and
/// their own width.
fn dash_curves(text: &str, curves: &[Stroke]) -> String {
    let width = format!("stroke-width=\"{}\"", (CURVE * SCALE).round());
    let mut out = String::with_capacity(text.len() + 1000);
    let mut pieces = text.split(width.as_str());
    out.push_str(pieces.next().unwrap_or(""));
    for (piece, (dash, own)) in pieces.zip(curves) {
        out.push_str(&format!("stroke-width=\"{}\" stroke-linejoin=\"round\"", own * SCALE));
        if let Some((stroke, gap)) = dash {
            out.push_str(&format!(" stroke-dasharray=\"{} {}\"", stroke * SCALE, gap * SCALE));
        }
        out.push_str(piece);
    }
    out
}

/// Unbroken lines first, so that a dashed one shows where the two coincide.
fn drawing_order(lines: &[Line]) -> Vec<&Line> {
    let mut lines: Vec<&Line> = lines.iter().collect();
    lines.sort_by_key(|line| line.dash != Dash::Solid);
    lines
}

fn paint(chart: &Chart, layout: &Layout, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let left_middle = Pos::new(HPos::Left, VPos::Center);
    let mut y = 18.0;
    for line in &layout.title {
        canvas.text(line, 17.0, (layout.left, y), left_middle, INK)?;
        y += 22.0;
    }
    y -= 4.0;
    for line in &layout.note {
        canvas.text(line, 12.5, (layout.left, y), left_middle, GREY)?;
        y += 18.0;
    }
    for (index, frame) in layout.frames.iter().enumerate() {
        axes(layout, frame, canvas)?;
        marks(chart, layout, frame, index == 0, canvas)?;
        let Some(panel) = chart.panels.get(index) else { continue };
        let place = (frame.bounds.left, frame.bounds.top - 10.0);
        canvas.text(&panel.title, 13.0, place, left_middle, INK)?;
        bars::draw(panel, layout, frame, canvas)?;
        for line in drawing_order(&panel.lines) {
            curve(line, layout, frame, canvas)?;
        }
        quoted::draw(panel, layout, frame, canvas)?;
        if let Some(text) = panel.silence(&chart.y) {
            let middle = (f64::midpoint(frame.bounds.left, frame.bounds.right), frame.bounds.top + 24.0);
            canvas.text(text, 13.0, middle, Pos::new(HPos::Center, VPos::Center), GREY)?;
        }
        if !chart.groups.is_empty() {
            bars::names(panel, layout, frame, canvas)?;
        }
    }
    axis_titles(chart, layout, canvas)?;
    for (entry, x, y) in &layout.legend {
        sample(entry, (*x, *y), canvas)?;
        canvas.text(&entry.name, 13.0, (x + layout::SAMPLE, *y), left_middle, INK)?;
    }
    Ok(())
}

fn axes(layout: &Layout, frame: &Frame, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let of = &frame.bounds;
    let mut written = frame.reach.0 - 6.0;
    for (value, text) in &layout.x.ticks.marks {
        let (x, _) = layout.place(frame, (*value, layout.y.low));
        canvas.stroke(vec![canvas.at(x, of.top), canvas.at(x, of.bottom)], FAINT, 0.5)?;
        let half = text_width(text, 13.0) / 2.0;
        // A number that would touch the one before is left to the eye.
        if frame.x_numbers && x - half >= written + 6.0 && x + half <= frame.reach.1 {
            canvas.text(text, 13.0, (x, of.bottom + 8.0), Pos::new(HPos::Center, VPos::Top), INK)?;
            written = x + half;
        }
    }
    for (value, text) in &layout.y.ticks.marks {
        let (_, y) = layout.place(frame, (layout.x.low, *value));
        canvas.stroke(vec![canvas.at(of.left, y), canvas.at(of.right, y)], FAINT, 0.5)?;
        if frame.y_numbers {
            canvas.text(text, 13.0, (of.left - 8.0, y), Pos::new(HPos::Right, VPos::Center), INK)?;
        }
    }
    canvas.stroke(
        vec![canvas.at(of.left, of.top), canvas.at(of.left, of.bottom), canvas.at(of.right, of.bottom)],
        INK,
        1.0,
    )
}

fn axis_titles(chart: &Chart, layout: &Layout, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let (Some(first), Some(last)) = (layout.frames.first(), layout.frames.last()) else { return Ok(()) };
    let middle = layout.left + (layout.form.width() - layout::RIGHT - layout.left) / 2.0;
    let title = axis_title(&chart.x, &layout.x.ticks);
    canvas.text(&title, 14.0, (middle, layout.height - 22.0), Pos::new(HPos::Center, VPos::Top), INK)?;
    let middle = f64::midpoint(first.bounds.top, last.bounds.bottom);
    let title = axis_title(&chart.y, &layout.y.ticks);
    // A long title gets smaller letters rather than none at its ends.
    let room = 2.0 * (middle.min(layout.height - middle) - 4.0);
    let size = (14.0 * room / text_width(&title, 14.0).max(1.0)).clamp(8.0, 14.0);
    canvas.upward(&title, size, (16.0, middle), Pos::new(HPos::Center, VPos::Top))
}

fn axis_title(axis: &Axis, ticks: &Ticks) -> String {
    match (ticks.unit.as_str(), axis.title.as_str()) {
        ("", title) => title.to_owned(),
        (unit, "") => unit.to_owned(),
        (unit, title) => format!("{title} ({unit})"),
    }
}

/// Upright lines at instants worth one; only the first panel names them.
fn marks(chart: &Chart, layout: &Layout, frame: &Frame, named: bool, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let of = &frame.bounds;
    // Where panels have titles, names stand above those.
    let lift = if chart.panels.iter().any(|panel| !panel.title.is_empty()) { 28.0 } else { 8.0 };
    for ((position, name), row) in chart.marks.iter().zip(&layout.mark_rows) {
        let part = layout.x.part(*position);
        if !(0.0..=1.0).contains(&part) {
            continue;
        }
        let (x, _) = layout.place(frame, (*position, layout.y.low));
        canvas.curve(&[(x, of.top), (x, of.bottom)], GREY, (Some((3.0, 3.0)), 1.0))?;
        if named {
            let left = layout::leftward(part, of.right - of.left, text_width(name, 12.0));
            let anchor = Pos::new(if left { HPos::Right } else { HPos::Left }, VPos::Center);
            canvas.text(name, 12.0, (x, of.top - lift - 15.0 * *row as f64), anchor, GREY)?;
        }
    }
    Ok(())
}

fn curve(line: &Line, layout: &Layout, frame: &Frame, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let of = &frame.bounds;
    let shift = layout.shift(line);
    for &(x, low, high) in line.intervals.iter().filter(|i| i.0.is_finite() && i.1.is_finite() && i.2.is_finite()) {
        let (x, low) = layout.place(frame, (x, low));
        let (_, high) = layout.place(frame, (0.0, high));
        bars::whisker(x + shift, (low, high), 3.0, of, line.colour, canvas)?;
    }
    for &(y, low, high) in line.spans.iter().filter(|i| i.0.is_finite() && i.1.is_finite() && i.2.is_finite()) {
        let (low, y) = layout.place(frame, (low, y));
        let (high, _) = layout.place(frame, (high, layout.y.low));
        bars::lying_whisker(y, (low, high), 3.0, of, line.colour, canvas)?;
    }
    let bare = layout.legend.len() < 2;
    for piece in line.points.split(|p| !p.0.is_finite() || !p.1.is_finite()).filter(|piece| !piece.is_empty()) {
        let place = |p: &(f64, f64)| {
            let (x, y) = layout.place(frame, *p);
            (x + shift, y)
        };
        let points = thin(&piece.iter().map(place).collect::<Vec<_>>(), 1.0 / SCALE);
        for part in clip(&points, of) {
            canvas.curve(&part, line.colour, (line.dash.pattern(), CURVE))?;
        }
        let places = match line.marker {
            _ if line.dots || points.len() == 1 => points,
            Some(marker) if !bare => now_and_then(&points, marker, of),
            _ => Vec::new(),
        };
        for point in places.into_iter().filter(|point| !clip(&[*point], of).is_empty()) {
            canvas.marker(line.marker.unwrap_or(Marker::nth(0)), point, 2.8, line.colour)?;
        }
    }
    for value in &line.never {
        let (x, _) = layout.place(frame, (*value, layout.y.low));
        if (of.left..=of.right).contains(&x) {
            canvas.never(x, of.top, line.colour)?;
        }
    }
    Ok(())
}

const ALONG: f64 = 7.0;

/// Places of markers on a line of many points, at equal distances along x. Each marker begins elsewhere, so that those
/// of curves that coincide stand side by side.
fn now_and_then(points: &[(f64, f64)], marker: Marker, of: &Bounds) -> Vec<(f64, f64)> {
    let step = (of.right - of.left) / ALONG;
    let mut next = of.left + (f64::from(marker.number()) * 0.37 + 0.2).fract() * step;
    let mut out = Vec::new();
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        while next < from.0 {
            next += step;
        }
        while next <= to.0 && to.0 > from.0 {
            out.push((next, from.1 + (next - from.0) / (to.0 - from.0) * (to.1 - from.1)));
            next += step;
        }
    }
    out
}

/// A short piece of the line, or a small bar, for the legend.
fn sample(entry: &Entry, place: (f64, f64), canvas: &Canvas<'_>) -> Result<(), Failed> {
    match entry.look {
        Look::Bar(hatch) => bars::swatch(entry.colour, hatch, place, canvas),
        Look::Quoted { shape, line } => quoted::sample(shape, line, place, canvas),
        Look::Line { dash, marker } => {
            let ends = [(place.0, place.1), (place.0 + 30.0, place.1)];
            for (from, to) in dashes(&ends, dash.pattern().unwrap_or((100.0, 0.0))) {
                canvas.stroke(vec![canvas.at(from.0, from.1), canvas.at(to.0, to.1)], entry.colour, 2.0)?;
            }
            match marker {
                Some(marker) => canvas.marker(marker, (place.0 + 15.0, place.1), 3.2, entry.colour),
                None => Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chart::{AxisUnit, Bar, Hatch, Panel, Part};
    use super::super::colour::by_index;
    use super::*;

    fn chart(points: Vec<(f64, f64)>, log: bool) -> Chart {
        let axis = |title: &str, unit, log| Axis::new(title, unit, log, !log);
        let line = Line::new("s0->s1".into(), by_index(0), points);
        let (x, y) = (axis("time", AxisUnit::Time, false), axis("queue", AxisUnit::Bytes, log));
        let chart = Chart::of_lines("test".into(), "Egress <queue> & more".into(), x, y, vec![line]);
        Chart { note: "a note".into(), marks: vec![(50.0, "burst".into())], ..chart }
    }

    fn bars(values: &[f64], log: bool) -> Chart {
        let mut chart = chart(Vec::new(), log);
        chart.groups = (0..values.len()).map(|i| format!("group number {i}")).collect();
        let bar = |(group, value): (usize, &f64)| {
            let part = |name: &str, hatch| Part {
                name: name.into(),
                colour: by_index(1).colour,
                hatch,
                value: *value,
                interval: Some(value / 3.0),
            };
            let parts = vec![part("lower", Hatch::Rising), part("upper", Hatch::Crossed)];
            Bar { group, slot: 0, name: "under it".into(), parts }
        };
        let panel = Panel { bars: values.iter().enumerate().map(bar).collect(), ..Panel::default() };
        chart.panels = vec![panel; 3];
        chart.columns = 2;
        chart
    }

    #[test]
    fn hostile_numbers_draw_without_panic() {
        let cases = [
            vec![],
            vec![(0.0, 0.0)],
            vec![(0.0, f64::NAN), (1.0, f64::INFINITY), (2.0, 5.0)],
            vec![(0.0, 1e300), (1.0, -1e300)],
            vec![(5.0, 7.0), (5.0, 7.0)],
            vec![(1e-9, 0.0), (1e12, 1e-12)],
        ];
        for points in cases {
            for log in [false, true] {
                let mut chart = chart(points.clone(), log);
                svg(&chart).unwrap();
                chart.y.until = Some(0.5);
                chart.panels[0].lines[0].never = points.iter().map(|p| p.0).collect();
                chart.panels[0].lines[0].intervals = points.iter().map(|p| (p.0, -p.1, p.1)).collect();
                svg(&chart).unwrap();
                svg(&bars(&points.iter().map(|p| p.1).collect::<Vec<_>>(), log)).unwrap();
            }
        }
    }

    #[test]
    fn svg_is_escaped_and_keeps_its_size() {
        let text = svg(&chart((0..100).map(|i| (f64::from(i), f64::from(i * i))).collect(), false)).unwrap();
        assert!(text.starts_with("<svg font-family=\"DejaVu Sans, sans-serif\" width=\"900\""), "{}", &text[..90]);
        assert!(text.contains("viewBox=\"0 0 1800"));
        assert!(text.contains("Egress &lt;queue&gt; &amp; more"));
    }

    #[test]
    fn every_curve_gets_its_own_dashes() {
        let mut both = chart(vec![(0.0, 1.0), (9.0, 2.0)], false);
        let lines = &mut both.panels[0].lines;
        let mut dashed = lines[0].clone();
        dashed.dash = Dash::Short;
        lines.insert(0, Line { points: Vec::new(), ..dashed.clone() });
        lines.insert(0, dashed);
        let text = svg(&both).unwrap();
        assert_eq!(text.matches("stroke-linejoin").count(), 2);
        assert_eq!(text.matches("stroke-dasharray=\"10 6\"").count(), 1);
        assert!(text.ends_with("</svg>\n"));
    }

    #[test]
    fn a_gap_in_the_data_is_a_gap_in_the_line() {
        let points = vec![(0.0, 1.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 2.0)];
        assert_eq!(svg(&chart(points, false)).unwrap().matches("stroke-linejoin").count(), 2);
    }

    #[test]
    fn panels_share_their_axes_and_legend() {
        let mut many = chart(vec![(0.0, 1.0), (9.0, 2.0)], false);
        many.panels[0].title = "alone".into();
        let alone = svg(&many).unwrap();
        many.panels = vec![many.panels[0].clone(); 4];
        many.columns = 2;
        let text = svg(&many).unwrap();
        assert_eq!(text.matches("s0-&gt;s1").count(), alone.matches("s0-&gt;s1").count());
        assert_eq!(text.matches("alone").count(), 4);
        assert_eq!(text.matches("stroke-linejoin").count(), 4);
    }

    #[test]
    fn bars_are_named_and_never_is_not_forgotten() {
        let text = svg(&bars(&[3.0, 5.0, f64::INFINITY], false)).unwrap();
        for part in ["lower", "upper", "under it", "group"] {
            assert!(text.contains(part), "{part} is missing");
        }
        let none = svg(&bars(&[3.0, 5.0, f64::NAN], false)).unwrap();
        assert!(text.matches("<polygon").count() > none.matches("<polygon").count());
    }

    #[test]
    fn intervals_end_inside_the_axes() {
        for log in [false, true] {
            let mut of = bars(&[3.0, 5.0, 9.0], log);
            of.panels.truncate(1);
            for part in of.panels[0].bars.iter_mut().flat_map(|bar| &mut bar.parts) {
                part.interval = Some(12.7 * part.value);
            }
            let mut line = Line::new("two seeds".into(), by_index(3), vec![(0.0, 3.0), (1.0, 8.0)]);
            line.intervals = vec![(0.0, -40.0, 50.0), (1.0, 0.0, 1e6)];
            of.panels[0].lines.push(line);
            let layout = Layout::of(&of, Form::Page, text_width);
            let frame = &layout.frames[0].bounds;
            let text = svg(&of).unwrap();
            let ends = text.match_indices("points=\"").flat_map(|(at, found)| {
                let list = text[at + found.len()..].split('"').next().unwrap_or_default();
                list.split_whitespace()
                    .filter_map(|pair| pair.split_once(',')?.1.parse::<f64>().ok())
                    .collect::<Vec<_>>()
            });
            let (lowest, highest) =
                ends.fold((0.0, f64::INFINITY), |(low, high): (f64, f64), y| (low.max(y), high.min(y)));
            // Legends stand above the plot; nothing is drawn below it.
            assert!(lowest <= (frame.bottom + 1.0) * SCALE && highest >= 0.0, "{lowest} of {}", frame.bottom * SCALE);
        }
    }

    #[test]
    fn a_panel_without_anything_says_so() {
        let mut empty = chart(vec![(0.0, 0.0), (1.0, 0.0)], false);
        assert!(svg(&empty).unwrap().contains("0 throughout"));
        empty.y.title = "PAUSE frames".into();
        assert!(svg(&empty).unwrap().contains("no frame"));
        empty.panels[0].lines.clear();
        empty.y.title = "rate".into();
        assert!(svg(&empty).unwrap().contains("no data"));
        assert!(!svg(&chart(vec![(0.0, 0.0), (1.0, 2.0)], false)).unwrap().contains("throughout"));
    }
}
