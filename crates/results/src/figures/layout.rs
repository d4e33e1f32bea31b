//! Where everything of a figure goes, in the figure's own pixels.

use super::canvas::INK;
use super::chart::{Axis, AxisUnit, Chart, Dash, Hatch, Line, Marker, Part, Quoted, QuotedPlace, Shape};
use super::path::Bounds;
use super::ticks::{self, Ticks};
use plotters::style::RGBColor;

const LEFT: f64 = 76.0;
pub const RIGHT: f64 = 24.0;
/// Between panels side by side.
const GAP: f64 = 30.0;
/// Height of a line of the legend, of a note.
const ROW: f64 = 18.0;
/// How many times as high as what is measured an interval may make the axis: that of two seeds has no end. One that is
/// cut has an arrow.
const MOST_INTERVAL: f64 = 2.5;

/// What a figure is laid out for. Text has the same size in both, so less of all else fits a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A page of its own, a screen or a slide: with its title.
    Page,
    /// A column of a paper, whose caption has the title and the note.
    Column,
}

impl Form {
    pub fn width(self) -> f64 {
        match self {
            Form::Page => 900.0,
            Form::Column => 420.0,
        }
    }

    /// Of a plot that is alone, and of one of several: in one row, below each other, in two columns, in more.
    fn plot_heights(self) -> [f64; 5] {
        match self {
            Form::Page => [300.0, 220.0, 150.0, 190.0, 160.0],
            Form::Column => [200.0, 150.0, 110.0, 120.0, 120.0],
        }
    }

    /// Numbers along x, by panels side by side.
    fn numbers(self, wide: usize) -> usize {
        match self {
            Form::Page => [9, 6, 5][wide.min(3) - 1],
            Form::Column => [5, 3][wide.min(2) - 1],
        }
    }

    /// Panels that have room side by side.
    fn widest(self) -> usize {
        match self {
            Form::Page => usize::MAX,
            Form::Column => 2,
        }
    }

    fn heading(self, text: &str) -> &str {
        match self {
            Form::Page => text,
            Form::Column => "",
        }
    }
}

pub struct Layout {
    pub form: Form,
    pub title: Vec<String>,
    pub note: Vec<String>,
    pub legend: Vec<(Entry, f64, f64)>,
    pub frames: Vec<Frame>,
    /// In which row above the plot the name of each mark stands.
    pub mark_rows: Vec<usize>,
    pub x: Range,
    pub y: Range,
    pub names: Names,
    /// Bars side by side in a group.
    pub slots: usize,
    /// By name of a line how far it is moved along x, so that intervals at one place stand side by side.
    pub shifts: Vec<(String, f64)>,
    pub left: f64,
    pub height: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    pub name: String,
    pub colour: RGBColor,
    pub look: Look,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Look {
    Line {
        dash: Dash,
        marker: Option<Marker>,
    },
    Bar(Hatch),
    /// An open mark, on a line where it is a level or an instant.
    Quoted {
        shape: Shape,
        line: bool,
    },
}

pub struct Frame {
    pub bounds: Bounds,
    /// Whether the numbers of the axes stand here; the panels above or to the right do without.
    pub x_numbers: bool,
    pub y_numbers: bool,
    /// From where to where numbers below the axis may reach: not into those of a neighbour.
    pub reach: (f64, f64),
}

/// How the names of bars and of their groups are written.
#[derive(Default)]
pub struct Names {
    /// Lines of each group's name.
    pub groups: Vec<Vec<String>>,
    /// Names upright, where they are too long to lie.
    pub upright: bool,
    /// Only every so many-th name, where even upright ones would touch.
    pub every: usize,
    pub bars_upright: bool,
    /// Heights of both kinds of names.
    pub bar_height: f64,
    pub height: f64,
}

/// An axis with its range and marks.
pub struct Range {
    pub low: f64,
    pub high: f64,
    log: bool,
    pub ticks: Ticks,
}

impl Range {
    fn of(axis: &Axis, values: impl Iterator<Item = f64>, wanted: usize, tight: bool) -> Range {
        let mut range = Range::with_round_marks(axis, values, wanted, tight);
        if !axis.marks.is_empty() {
            let inside = |mark: &&(f64, String)| (range.low..=range.high).contains(&mark.0);
            range.ticks.marks = axis.marks.iter().filter(inside).cloned().collect();
            if let AxisUnit::Plain(unit) = &axis.unit {
                range.ticks.unit = unit.clone();
            }
        }
        range
    }

    fn with_round_marks(axis: &Axis, values: impl Iterator<Item = f64>, wanted: usize, tight: bool) -> Range {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|v| v.is_finite() && (!axis.log || *v > 0.0)) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        let ends = |low: f64, high: f64| (axis.from.unwrap_or(low), axis.until.unwrap_or(high));
        if axis.log {
            // A narrow range is widened evenly, so that noise does not look like a trend.
            let margin = if high / low < 1.5 { (1.5 * low / high).sqrt() } else { 1.0 } * 1.08;
            let (low, mut high) = ends(low / margin, high * margin);
            if high <= low {
                high = low * 10.0;
            }
            return Range { low, high, log: true, ticks: ticks::logarithmic(low, high, wanted, &axis.unit) };
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
        let (low, mut high) = ends(low, high);
        if high <= low {
            high = low + if low == 0.0 { 1.0 } else { low.abs() };
        }
        Range { low, high, log: false, ticks: ticks::linear(low, high, wanted, &axis.unit) }
    }

    /// Makes room at both ends, as a part of the whole.
    fn widen(&mut self, part: f64) {
        (self.low, self.high) = match self.log {
            true => (self.low / (self.high / self.low).powf(part), self.high * (self.high / self.low).powf(part)),
            false => (self.low - part * (self.high - self.low), self.high + part * (self.high - self.low)),
        };
    }

    /// 0 at the low end, 1 at the high end.
    pub fn part(&self, value: f64) -> f64 {
        if self.log {
            (value.max(self.low * 1e-3) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

/// Width of a text of some size; the font is the caller's business.
pub type Measure = fn(&str, f64) -> f64;

impl Layout {
    pub fn of(chart: &Chart, form: Form, measure: Measure) -> Layout {
        let wide = chart.columns.min(form.widest()).clamp(1, chart.panels.len().max(1));
        let width = form.width();
        let lines = || chart.lines();
        let within = |axis: &Axis, value: f64| {
            axis.from.is_none_or(|from| value >= from) && axis.until.is_none_or(|until| value <= until)
        };
        // Few seeds have intervals of many decades, which would leave the curves themselves no room.
        let values = || lines().flat_map(|line| &line.points).map(|p| p.1).filter(|y| y.is_finite() && *y > 0.0);
        let highest = values().fold(0.0, f64::max);
        let room = match chart.y.log {
            true => (values().fold(f64::INFINITY, f64::min) / 10.0, highest * 10.0),
            false if highest > 0.0 => (-highest, highest * MOST_INTERVAL),
            false => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let reach = |line: &Line| {
            let ends = line.intervals.iter().flat_map(|i| [(i.0, i.1.max(room.0)), (i.0, i.2.min(room.1))]);
            let low = chart.y.from.or((!chart.y.log).then_some(0.0));
            let never = line.never.iter().filter_map(move |x| Some((*x, low?)));
            let aside = line.spans.iter().flat_map(|i| [(i.1, i.0), (i.2, i.0)]).filter(|p| !chart.x.log || p.0 > 0.0);
            line.points.iter().copied().chain(ends).chain(never).chain(aside).collect::<Vec<_>>()
        };
        let points: Vec<(f64, f64)> = lines().flat_map(reach).collect();
        // Numbers beside a cut-off part say nothing about the part that is shown.
        let shown = points.iter().filter(|p| within(&chart.x, p.0));
        let ys = shown.map(|p| p.1).chain(bar_ends(chart)).chain(chart.quoted().filter_map(quoted_y));
        let xs = points.iter().map(|p| p.0).chain(chart.quoted().filter_map(quoted_x));
        let mut x = match chart.groups.len() {
            0 => Range::of(&chart.x, xs, form.numbers(wide), true),
            count => Range { low: -0.5, high: count as f64 - 0.5, log: false, ticks: no_ticks() },
        };
        let y = Range::of(&chart.y, ys, if chart.panels.len() > wide { 5 } else { 6 }, false);
        let numbers = y.ticks.marks.iter().map(|(_, text)| measure(text, 13.0)).fold(0.0, f64::max);
        let left = LEFT.max(numbers + 46.0);

        let title = wrap(form.heading(&chart.title), width - left - RIGHT, |text| measure(text, 17.0));
        let note = wrap(form.heading(&chart.note), width - left - RIGHT, |text| measure(text, 12.5));
        let mut top = 14.0 + 22.0 * title.len() as f64 + note.len() as f64 * ROW;
        // The legend stands above the plot, in as many rows as it needs.
        let (legend, rows) = legend(entries(chart), (left, top), width, measure);
        top += ROW * (rows as f64 - 1.0);
        let panel_width = (width - left - RIGHT - (wide - 1) as f64 * GAP) / wide as f64;
        let shifts = shifts(chart, &x, panel_width);
        let farthest = shifts.iter().map(|(_, shift)| shift.abs()).fold(0.0, f64::max);
        if farthest > 0.0 && chart.x.from.is_none() && chart.x.until.is_none() {
            x.widen((farthest + 4.0) / panel_width);
        }
        let mark_rows = mark_rows(chart, &x, panel_width, measure);
        top += match mark_rows.iter().max() {
            Some(rows) => 32.0 + 15.0 * *rows as f64,
            None => 18.0,
        };
        let slots = chart.panels.iter().flat_map(|panel| &panel.bars).map(|bar| bar.slot + 1).max().unwrap_or(1);
        let names = Names::of(chart, panel_width, slots, measure);
        let count = chart.panels.len().max(1);
        let [alone, row, one_column, two_columns, more] = form.plot_heights();
        let height = match (count, wide) {
            (1, _) => alone,
            (panels, _) if panels <= wide => row,
            (_, 1) => one_column,
            (_, 2) => two_columns,
            _ => more,
        };
        let titled = chart.panels.iter().any(|panel| !panel.title.is_empty());
        let pitch = height + if titled { 36.0 } else { 16.0 };
        if titled {
            top += 20.0;
        }
        let frame = |index: usize| {
            let from = left + (index % wide) as f64 * (panel_width + GAP);
            let above = top + (index / wide) as f64 * pitch;
            let bounds = Bounds { left: from, right: from + panel_width, top: above, bottom: above + height };
            let (first, last) = (index.is_multiple_of(wide), (index + 1).is_multiple_of(wide));
            let reach = (
                from - if first { left } else { GAP / 2.0 - 2.0 },
                bounds.right + if last { RIGHT } else { GAP / 2.0 - 2.0 },
            );
            Frame { bounds, x_numbers: index + wide >= count, y_numbers: first, reach }
        };
        let frames: Vec<Frame> = (0..count).map(frame).collect();
        let bottom = top + (count.div_ceil(wide) - 1) as f64 * pitch + height;
        let below = if chart.groups.is_empty() { 26.0 } else { names.height + names.bar_height + 2.0 };
        let height = bottom + below + if chart.x.title.is_empty() { 8.0 } else { 26.0 };
        Layout { form, title, note, legend, frames, mark_rows, x, y, names, slots, shifts, left, height }
    }

    /// How far a line is moved along x.
    pub fn shift(&self, line: &Line) -> f64 {
        self.shifts.iter().find(|(name, _)| *name == line.name).map_or(0.0, |(_, shift)| *shift)
    }

    pub fn place(&self, frame: &Frame, point: (f64, f64)) -> (f64, f64) {
        let bounds = &frame.bounds;
        let x = bounds.left + self.x.part(point.0) * (bounds.right - bounds.left);
        (x, bounds.bottom - self.y.part(point.1) * (bounds.bottom - bounds.top))
    }

    /// Left and right end of a bar, given its group and place in it.
    pub fn bar(&self, frame: &Frame, group: usize, slot: usize) -> (f64, f64) {
        let (left, right) = (frame.bounds.left, frame.bounds.right);
        let width = (right - left) / (self.x.high - self.x.low);
        // A lone bar is not made as wide as its group.
        let share = if self.slots == 1 { 0.5 } else { 0.84 };
        let bar = (width * share / self.slots as f64).min(70.0);
        let first = left + (group as f64 + 0.5) * width - bar * self.slots as f64 / 2.0;
        (first + slot as f64 * bar, first + (slot + 1) as f64 * bar)
    }
}

fn no_ticks() -> Ticks {
    Ticks { marks: Vec::new(), unit: String::new() }
}

/// How high the bars reach, with their intervals as far as there is room for them.
fn bar_ends(chart: &Chart) -> impl Iterator<Item = f64> {
    let highest = chart.parts().map(|part| part.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let room = if highest > 0.0 { highest * MOST_INTERVAL } else { f64::INFINITY };
    chart.panels.iter().flat_map(|panel| &panel.bars).flat_map(move |bar| {
        let mut sum = 0.0;
        let mut ends = Vec::new();
        for part in bar.parts.iter().filter(|part| part.value.is_finite()) {
            sum += part.value;
            ends.push(sum);
            ends.extend(part.interval.iter().flat_map(|half| [(sum + half).min(room.max(sum)), sum - half]));
        }
        // Below zero is only what the values themselves say.
        let floor = if ends.is_empty() { 0.0 } else { bar.parts.iter().map(|part| part.value).fold(0.0, f64::min) };
        ends.into_iter().map(move |end| end.max(floor))
    })
}

fn quoted_x(quoted: &Quoted) -> Option<f64> {
    match quoted.place {
        QuotedPlace::Point(x, _) | QuotedPlace::Instant(x) => Some(x),
        QuotedPlace::Level { .. } | QuotedPlace::Bar { .. } => None,
    }
}

fn quoted_y(quoted: &Quoted) -> Option<f64> {
    match quoted.place {
        QuotedPlace::Point(_, y) | QuotedPlace::Level { y, .. } | QuotedPlace::Bar { value: y, .. } => Some(y),
        QuotedPlace::Instant(_) => None,
    }
}

/// One for all quoted numbers of a name, with the mark of the first.
fn quoted_entries(chart: &Chart) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::new();
    for quoted in chart.quoted() {
        let along = matches!(quoted.place, QuotedPlace::Level { .. } | QuotedPlace::Instant(_));
        match out.iter_mut().find(|entry| entry.name == quoted.name) {
            Some(Entry { look: Look::Quoted { line, .. }, .. }) => *line |= along,
            _ => {
                let look = Look::Quoted { shape: quoted.shape, line: along };
                out.push(Entry { name: quoted.name.clone(), colour: INK, look });
            }
        }
    }
    out
}

/// Every name once, in order of appearance.
fn entries(chart: &Chart) -> Vec<Entry> {
    let of_line = |line: &Line| Entry {
        name: line.name.clone(),
        colour: line.colour,
        look: Look::Line { dash: line.dash, marker: line.marker.or(line.dots.then_some(Marker::nth(0))) },
    };
    let of_part = |part: &Part| Entry { name: part.name.clone(), colour: part.colour, look: Look::Bar(part.hatch) };
    let mut out: Vec<Entry> = Vec::new();
    for entry in chart.lines().map(of_line).chain(chart.parts().map(of_part)) {
        if !entry.name.is_empty() && !out.contains(&entry) {
            out.push(entry);
        }
    }
    out.extend(quoted_entries(chart));
    out
}

/// Widths in a legend: a sample with what is between it and its name, and what is between entries.
pub const SAMPLE: f64 = 36.0;
const BETWEEN: f64 = 18.0;

/// Entries with their places, and the number of rows. Rows that are needed are filled evenly, in columns; where a column
/// of a paper is too narrow, the legend begins left of the plot.
fn legend(
    entries: Vec<Entry>,
    (left, top): (f64, f64),
    width: f64,
    measure: Measure,
) -> (Vec<(Entry, f64, f64)>, usize) {
    const EDGE: f64 = 10.0;
    let widths: Vec<f64> = entries.iter().map(|entry| SAMPLE + measure(&entry.name, 13.0)).collect();
    let count = entries.len();
    // Of the widest entry in each of so many columns.
    let columns = |columns: usize| -> Vec<f64> {
        (0..columns).map(|at| widths.iter().skip(at).step_by(columns).copied().fold(0.0, f64::max)).collect()
    };
    let taken = |of: &[f64]| of.iter().sum::<f64>() + BETWEEN * of.len().saturating_sub(1) as f64;
    let fitting = (1..=count).rev().find(|of| taken(&columns(*of)) <= width - RIGHT - EDGE).unwrap_or(1);
    let rows = count.div_ceil(fitting.max(1));
    let columns = columns(count.div_ceil(rows.max(1)));
    let from = left.min(width - RIGHT - taken(&columns)).max(EDGE);
    let place = |(at, entry): (usize, Entry)| {
        let (row, column) = (at / columns.len(), at % columns.len());
        let across = columns[..column].iter().map(|wide| wide + BETWEEN).sum::<f64>();
        (entry, from + across, top + ROW * row as f64)
    };
    (entries.into_iter().enumerate().map(place).collect(), rows)
}

/// The most that neighbours are moved apart.
const MOST_SHIFT: f64 = 7.0;

/// Lines with intervals at the same places are moved apart, as far as there is room between those places.
fn shifts(chart: &Chart, x: &Range, width: f64) -> Vec<(String, f64)> {
    let mut names: Vec<&str> = Vec::new();
    for line in chart.lines().filter(|line| line.dots && !line.intervals.is_empty()) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    let lines = || chart.lines().filter(|line| names.contains(&line.name.as_str()));
    let mut places: Vec<f64> = lines()
        .flat_map(|line| &line.points)
        .map(|point| x.part(point.0) * width)
        .filter(|at| at.is_finite())
        .collect();
    let all = places.len();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    if names.len() < 2 || places.len() == all {
        return Vec::new();
    }
    let room = places.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let step = (0.7 * room / names.len() as f64).min(MOST_SHIFT);
    if step < 1.0 {
        return Vec::new();
    }
    let middle = (names.len() - 1) as f64 / 2.0;
    names.into_iter().enumerate().map(|(at, name)| (name.to_owned(), (at as f64 - middle) * step)).collect()
}

/// Names of marks that would touch stand in different rows.
fn mark_rows(chart: &Chart, x: &Range, width: f64, measure: Measure) -> Vec<usize> {
    let mut ends: Vec<f64> = Vec::new();
    let mut order: Vec<usize> = (0..chart.marks.len()).collect();
    order.sort_by(|a, b| chart.marks[*a].0.total_cmp(&chart.marks[*b].0));
    let mut rows = vec![0; chart.marks.len()];
    for index in order {
        let (at, name) = &chart.marks[index];
        let (from, to) = mark_span(x.part(*at), width, measure(name, 12.0));
        let row = ends.iter().position(|end| *end + 8.0 <= from).unwrap_or(ends.len());
        if row == ends.len() {
            ends.push(to);
        }
        ends[row] = to;
        rows[index] = row;
    }
    rows
}

/// From where to where the name of a mark reaches: one near the right edge reads toward the left.
fn mark_span(part: f64, width: f64, text: f64) -> (f64, f64) {
    let at = part * width;
    if at + text > width + RIGHT { (at - text, at) } else { (at, at + text) }
}

/// Whether the name of a mark reads toward the left of it.
pub fn leftward(part: f64, width: f64, text: f64) -> bool {
    mark_span(part, width, text).0 < part * width
}

/// Breaks a text at spaces into lines that fit. A word that is too long alone stays whole.
pub fn wrap(text: &str, width: f64, measure: impl Fn(&str) -> f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if measure(&format!("{line} {word}")) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

impl Names {
    fn of(chart: &Chart, panel_width: f64, slots: usize, measure: Measure) -> Names {
        if chart.groups.is_empty() {
            return Names::default();
        }
        let group = panel_width / chart.groups.len() as f64;
        let size = |text: &str| measure(text, 13.0);
        let mut groups: Vec<Vec<String>> = chart.groups.iter().map(|name| wrap(name, group - 8.0, size)).collect();
        let lines = groups.iter().map(Vec::len).max().unwrap_or(1);
        let widest = groups.iter().flatten().map(|line| size(line)).fold(0.0, f64::max);
        let upright = lines > 3 || widest > group - 4.0;
        let mut height = 17.0 * lines as f64;
        if upright {
            groups = chart.groups.iter().map(|name| vec![name.clone()]).collect();
            height = chart.groups.iter().map(|name| size(name)).fold(0.0, f64::max) + 4.0;
        }
        let every = if upright { (15.0 / group).ceil().max(1.0) as usize } else { 1 };
        let bars = || chart.panels.iter().flat_map(|panel| &panel.bars).filter(|bar| !bar.name.is_empty());
        let longest = bars().map(|bar| measure(&bar.name, 12.0)).fold(0.0, f64::max);
        let bars_upright = longest > group * 0.84 / slots as f64 - 4.0;
        let bar_height = match longest {
            0.0 => 0.0,
            _ if bars_upright => longest + 8.0,
            _ => 18.0,
        };
        Names { groups, upright, every, bars_upright, bar_height, height: height + 8.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_where_they_fit() {
        let by_letters = |text: &str| text.chars().count() as f64;
        assert_eq!(wrap("one two three", 7.0, by_letters), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", 3.0, by_letters), ["unbreakable"]);
        assert!(wrap("", 3.0, by_letters).is_empty());
    }

    #[test]
    fn wide_intervals_leave_a_logarithmic_axis_to_the_curves() {
        let (x, y) = (Axis::new("load", AxisUnit::Ratio, false, true), Axis::new("p99", AxisUnit::Ratio, true, false));
        let mut line = Line::new("two seeds".into(), (RGBColor(0, 0, 0), Dash::Solid), vec![(1.0, 5.0), (2.0, 8.0)]);
        line.intervals = vec![(1.0, -50.0, 60.0), (2.0, 7.0, 1e9)];
        let chart = Chart::of_lines("test".into(), "test".into(), x, y, vec![line]);
        let layout = Layout::of(&chart, Form::Page, |text, size| text.len() as f64 * size / 2.0);
        assert!((0.4..0.5).contains(&layout.y.low) && (80.0..90.0).contains(&layout.y.high));
    }

    #[test]
    fn the_name_of_a_late_mark_reads_to_the_left() {
        assert!(leftward(0.99, 800.0, 60.0));
        assert!(!leftward(0.5, 800.0, 60.0));
    }
}
