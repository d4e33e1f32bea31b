//! Draws a chart on any backend: SVG for the report, PNG for slides.

use super::chart::{Axis, Chart, Line};
use super::ticks::{self, Ticks};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, register_font};
use std::path::Path;
use std::sync::OnceLock;

/// Size of a figure in its own pixels, the legend apart.
const WIDTH: f64 = 900.0;
const PLOT_HEIGHT: f64 = 300.0;
/// Backends count whole pixels; twice as many give half-pixel lines and sharp slides.
const SCALE: f64 = 2.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const FONT: &str = "DejaVu Sans, sans-serif";
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);
const GREY: RGBColor = RGBColor(0x77, 0x77, 0x77);

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// The figure as an SVG document.
pub fn svg(chart: &Chart) -> Result<String, Failed> {
    let layout = Layout::of(chart);
    let (width, height) = layout.pixels();
    let mut text = String::new();
    paint(chart, &layout, SVGBackend::with_string(&mut text, (width, height)).into_drawing_area())?;
    // Drawn at twice its size; shown at its own.
    let (from, to) = (format!("width=\"{width}\" height=\"{height}\""), (width / 2, height / 2));
    Ok(text.replacen(&from, &format!("width=\"{}\" height=\"{}\"", to.0, to.1), 1))
}

/// The figure as a PNG file.
pub fn png(chart: &Chart, path: &Path) -> Result<(), Failed> {
    let layout = Layout::of(chart);
    paint(chart, &layout, BitMapBackend::new(path, layout.pixels()).into_drawing_area())
}

/// Text is measured and, in bitmaps, drawn with a font that comes with the program.
fn ready_font() -> Result<(), Failed> {
    static READY: OnceLock<bool> = OnceLock::new();
    let ready = READY.get_or_init(|| {
        let bytes: &'static [u8] = include_bytes!("../../../assets/fonts/DejaVuSans-subset.ttf");
        register_font(FONT, FontStyle::Normal, bytes).is_ok()
    });
    if *ready { Ok(()) } else { Err("the built-in font cannot be read".into()) }
}

fn font(size: f64) -> FontDesc<'static> {
    FontDesc::new(FontFamily::Name(FONT), size * SCALE, FontStyle::Normal)
}

/// Where things go, in the figure's own pixels.
struct Layout {
    legend: Vec<(usize, f64, f64)>,
    /// Top and bottom of the plot.
    top: f64,
    bottom: f64,
    x: Range,
    y: Range,
}

/// An axis with its range and marks.
struct Range {
    low: f64,
    high: f64,
    log: bool,
    ticks: Ticks,
}

impl Range {
    fn of(axis: &Axis, values: impl Iterator<Item = f64>, wanted: usize, tight: bool) -> Range {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|v| v.is_finite() && (!axis.log || *v > 0.0)) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        if axis.log {
            // At least a third of a decade, so that there are marks.
            let (low, high) = if high / low < 2.2 { (low / 1.2, high * 2.2) } else { (low / 1.08, high * 1.08) };
            return Range { low, high, log: true, ticks: ticks::logarithmic(low, high, wanted, axis.unit) };
        }
        if axis.from_zero {
            low = low.min(0.0);
        }
        if high <= low {
            high = low + if low == 0.0 { 1.0 } else { low.abs() };
        }
        if !tight {
            high += (high - low) * 0.06;
        }
        Range { low, high, log: false, ticks: ticks::linear(low, high, wanted, axis.unit) }
    }

    /// 0 at the low end, 1 at the high end.
    fn part(&self, value: f64) -> f64 {
        if self.log {
            (value.max(self.low * 1e-3) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

impl Layout {
    fn of(chart: &Chart) -> Layout {
        let xs = chart.lines.iter().flat_map(|line| line.points.iter().map(|p| p.0));
        let ys = chart.lines.iter().flat_map(|line| line.points.iter().map(|p| p.1));
        let mut top = if chart.note.is_empty() { 36.0 } else { 54.0 };
        // The legend stands above the plot, in as many rows as it needs.
        let (mut legend, mut left) = (Vec::new(), LEFT);
        for (index, line) in chart.lines.iter().enumerate() {
            let width = 38.0 + 7.2 * line.name.chars().count() as f64 + 14.0;
            if left + width > WIDTH - RIGHT && left > LEFT {
                left = LEFT;
                top += 18.0;
            }
            legend.push((index, left, top));
            left += width;
        }
        top += if chart.marks.is_empty() { 18.0 } else { 32.0 };
        Layout {
            legend,
            top,
            bottom: top + PLOT_HEIGHT,
            x: Range::of(&chart.x, xs, 9, true),
            y: Range::of(&chart.y, ys, 6, false),
        }
    }

    fn pixels(&self) -> (u32, u32) {
        ((WIDTH * SCALE) as u32, ((self.bottom + 52.0) * SCALE) as u32)
    }

    fn place(&self, point: (f64, f64)) -> (f64, f64) {
        (LEFT + self.x.part(point.0) * (WIDTH - RIGHT - LEFT), self.bottom - self.y.part(point.1) * PLOT_HEIGHT)
    }
}

fn at(x: f64, y: f64) -> (i32, i32) {
    ((x * SCALE).round() as i32, (y * SCALE).round() as i32)
}

struct Canvas<'a, DB: DrawingBackend>(&'a DrawingArea<DB, Shift>);

impl<DB: DrawingBackend> Canvas<'_, DB>
where
    DB::ErrorType: 'static,
{
    fn stroke(&self, points: Vec<(i32, i32)>, colour: RGBColor, width: f64) -> Result<(), Failed> {
        let style = colour.stroke_width((width * SCALE).round() as u32);
        self.0.draw(&PathElement::new(points, style)).map_err(|e| e.to_string().into())
    }

    fn text(&self, text: &str, size: f64, place: (f64, f64), anchor: Pos, colour: RGBColor) -> Result<(), Failed> {
        let style = font(size).color(&colour).pos(anchor);
        self.0.draw_text(text, &style, at(place.0, place.1)).map_err(|e| e.to_string().into())
    }

    fn upward(&self, text: &str, size: f64, place: (f64, f64)) -> Result<(), Failed> {
        let style = font(size).transform(FontTransform::Rotate270).color(&INK).pos(Pos::new(HPos::Center, VPos::Top));
        self.0.draw_text(text, &style, at(place.0, place.1)).map_err(|e| e.to_string().into())
    }

    fn dot(&self, centre: (i32, i32), radius: f64, colour: RGBColor) -> Result<(), Failed> {
        let dot = Circle::new(centre, (radius * SCALE) as i32, colour.filled());
        self.0.draw(&dot).map_err(|e| e.to_string().into())
    }
}

fn paint<DB: DrawingBackend>(chart: &Chart, layout: &Layout, area: DrawingArea<DB, Shift>) -> Result<(), Failed>
where
    DB::ErrorType: 'static,
{
    ready_font()?;
    let said = |e: DrawingAreaErrorKind<DB::ErrorType>| -> Failed { e.to_string().into() };
    area.fill(&WHITE).map_err(said)?;
    let canvas = Canvas(&area);
    let left_middle = Pos::new(HPos::Left, VPos::Center);
    canvas.text(&chart.title, 17.0, (LEFT, 18.0), left_middle, INK)?;
    if !chart.note.is_empty() {
        canvas.text(&chart.note, 12.5, (LEFT, 36.0), left_middle, GREY)?;
    }
    axes(chart, layout, &canvas)?;
    for (position, name) in &chart.marks {
        let part = layout.x.part(*position);
        if !(0.0..=1.0).contains(&part) {
            continue;
        }
        let (x, _) = layout.place((*position, layout.y.low));
        for (from, to) in dashes(&[(x, layout.top), (x, layout.bottom)], (3.0, 3.0)) {
            canvas.stroke(vec![at(from.0, from.1), at(to.0, to.1)], GREY, 1.0)?;
        }
        // A name near the right edge reads toward the left.
        let anchor = if part > 0.85 { HPos::Right } else { HPos::Left };
        canvas.text(name, 12.0, (x, layout.top - 8.0), Pos::new(anchor, VPos::Center), GREY)?;
    }
    for line in &chart.lines {
        curve(line, layout, &canvas)?;
    }
    for &(index, x, y) in &layout.legend {
        let line = &chart.lines[index];
        sample(line, (x, y), &canvas)?;
        canvas.text(&line.name, 13.0, (x + 36.0, y), left_middle, INK)?;
    }
    area.present().map_err(said)
}

fn axes<DB: DrawingBackend>(chart: &Chart, layout: &Layout, canvas: &Canvas<'_, DB>) -> Result<(), Failed>
where
    DB::ErrorType: 'static,
{
    let (right, bottom) = (WIDTH - RIGHT, layout.bottom);
    for (value, text) in &layout.x.ticks.marks {
        let (x, _) = layout.place((*value, layout.y.low));
        canvas.stroke(vec![at(x, layout.top), at(x, bottom)], FAINT, 0.5)?;
        canvas.text(text, 13.0, (x, bottom + 8.0), Pos::new(HPos::Center, VPos::Top), INK)?;
    }
    for (value, text) in &layout.y.ticks.marks {
        let (_, y) = layout.place((layout.x.low, *value));
        canvas.stroke(vec![at(LEFT, y), at(right, y)], FAINT, 0.5)?;
        canvas.text(text, 13.0, (LEFT - 8.0, y), Pos::new(HPos::Right, VPos::Center), INK)?;
    }
    let frame = vec![at(LEFT, layout.top), at(LEFT, bottom), at(right, bottom)];
    canvas.stroke(frame, INK, 1.0)?;
    let middle = LEFT + (right - LEFT) / 2.0;
    let title = axis_title(&chart.x, &layout.x.ticks);
    canvas.text(&title, 14.0, (middle, bottom + 30.0), Pos::new(HPos::Center, VPos::Top), INK)?;
    canvas.upward(&axis_title(&chart.y, &layout.y.ticks), 14.0, (8.0, layout.top + PLOT_HEIGHT / 2.0))
}

fn axis_title(axis: &Axis, ticks: &Ticks) -> String {
    if ticks.unit.is_empty() { axis.title.clone() } else { format!("{} ({})", axis.title, ticks.unit) }
}

fn curve<DB: DrawingBackend>(line: &Line, layout: &Layout, canvas: &Canvas<'_, DB>) -> Result<(), Failed>
where
    DB::ErrorType: 'static,
{
    let finite = line.points.iter().filter(|p| p.0.is_finite() && p.1.is_finite());
    let points = thin(&finite.map(|p| layout.place(*p)).collect::<Vec<_>>());
    match line.dash.pattern() {
        None => canvas.stroke(points.iter().map(|p| at(p.0, p.1)).collect(), line.colour, 1.5)?,
        Some(pattern) => {
            for (from, to) in dashes(&points, pattern) {
                canvas.stroke(vec![at(from.0, from.1), at(to.0, to.1)], line.colour, 1.5)?;
            }
        }
    }
    if line.dots || points.len() == 1 {
        for point in &points {
            canvas.dot(at(point.0, point.1), 2.5, line.colour)?;
        }
    }
    Ok(())
}

/// A short piece of the line for the legend.
fn sample<DB: DrawingBackend>(line: &Line, place: (f64, f64), canvas: &Canvas<'_, DB>) -> Result<(), Failed>
where
    DB::ErrorType: 'static,
{
    let ends = [(place.0, place.1), (place.0 + 30.0, place.1)];
    for (from, to) in dashes(&ends, line.dash.pattern().unwrap_or((100.0, 0.0))) {
        canvas.stroke(vec![at(from.0, from.1), at(to.0, to.1)], line.colour, 2.0)?;
    }
    if line.dots {
        canvas.dot(at(place.0 + 15.0, place.1), 2.5, line.colour)?;
    }
    Ok(())
}

/// Where many points share a column of half pixels, the first, the extremes and the last remain:
/// the picture is the same and the file small.
fn thin(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let column = |p: &(f64, f64)| (p.0 * SCALE).floor();
    let mut out = Vec::with_capacity(points.len().min(8192));
    for group in points.chunk_by(|a, b| column(a) == column(b)) {
        if group.len() <= 4 {
            out.extend_from_slice(group);
            continue;
        }
        let by = |a: &usize, b: &usize| group[*a].1.total_cmp(&group[*b].1);
        let low = (0..group.len()).min_by(by).unwrap_or(0);
        let high = (0..group.len()).max_by(by).unwrap_or(0);
        let mut kept = vec![0, low, high, group.len() - 1];
        kept.sort_unstable();
        kept.dedup();
        out.extend(kept.into_iter().map(|index| group[index]));
    }
    out
}

type Point = (f64, f64);

/// Cuts a polyline into strokes of a dash pattern that runs on around corners.
fn dashes(points: &[Point], (stroke, gap): (f64, f64)) -> Vec<(Point, Point)> {
    let mut out = Vec::new();
    let (mut on, mut left) = (true, stroke);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let along = |d: f64| (from.0 + (to.0 - from.0) * d / length, from.1 + (to.1 - from.1) * d / length);
        let mut done = 0.0;
        while length - done > 1e-9 {
            let step = left.min(length - done);
            if on {
                out.push((along(done), along(done + step)));
            }
            done += step;
            left -= step;
            if left <= 1e-9 {
                on = !on || gap <= 0.0;
                left = if on { stroke } else { gap };
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::chart::{AxisUnit, Dash};
    use super::super::colour::by_index;
    use super::*;

    fn chart(points: Vec<(f64, f64)>, log: bool) -> Chart {
        let axis = |title: &str, unit, log| Axis { title: title.into(), unit, log, from_zero: !log };
        let (colour, dash) = by_index(0);
        Chart {
            file: "test".into(),
            title: "Egress <queue> & more".into(),
            note: "a note".into(),
            x: axis("time", AxisUnit::Time, false),
            y: axis("queue", AxisUnit::Bytes, log),
            lines: vec![Line { name: "s0->s1".into(), colour, dash, points, dots: false }],
            marks: vec![(50.0, "burst".into())],
        }
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
                svg(&chart(points.clone(), log)).unwrap();
            }
        }
    }

    #[test]
    fn svg_is_escaped_and_keeps_its_size() {
        let text = svg(&chart((0..100).map(|i| (f64::from(i), f64::from(i * i))).collect(), false)).unwrap();
        assert!(text.starts_with("<svg width=\"900\""), "{}", &text[..60]);
        assert!(text.contains("viewBox=\"0 0 1800"));
        assert!(text.contains("Egress &lt;queue&gt; &amp; more") && text.contains("DejaVu Sans, sans-serif"));
    }

    #[test]
    fn thinning_keeps_the_extremes_of_each_column() {
        let points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i) / 100.0, f64::from(i % 97))).collect();
        let thinned = thin(&points);
        assert!(thinned.len() <= 4 * 201);
        assert!(thinned.iter().any(|p| p.1 == 96.0) && thinned.iter().any(|p| p.1 == 0.0));
        assert!(thinned.windows(2).all(|w| w[0].0 <= w[1].0));
    }

    #[test]
    fn dashes_cover_their_share() {
        let strokes = dashes(&[(0.0, 0.0), (60.0, 0.0), (60.0, 60.0)], Dash::Short.pattern().unwrap());
        let length: f64 = strokes.iter().map(|(a, b)| (b.0 - a.0).hypot(b.1 - a.1)).sum();
        assert!((length - 75.0).abs() < 1e-6, "{length}");
        assert!(dashes(&[(1.0, 1.0), (1.0, 1.0)], (2.0, 2.0)).is_empty());
    }
}
