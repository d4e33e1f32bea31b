//! What a figure shows, before anything is drawn.

pub use super::marker::Marker;
pub use plotters::style::RGBColor;

#[derive(Clone, Debug)]
pub struct Chart {
    /// Name of its files, without ending.
    pub file: String,
    pub title: String,
    /// What a reader must know beside the axes; empty if nothing.
    pub note: String,
    /// Shared by all panels.
    pub x: Axis,
    /// Shared by all panels.
    pub y: Axis,
    /// Names of the groups of bars along x, at 0, 1, 2 and so on; empty where x is a number.
    pub groups: Vec<String>,
    /// One, or small multiples that share both axes and the legend.
    pub panels: Vec<Panel>,
    /// How many panels stand side by side.
    pub columns: usize,
    /// Instants worth a vertical line, with their names.
    pub marks: Vec<(f64, String)>,
}

/// One of the plots of a figure.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Empty where there is only one.
    pub title: String,
    /// Drawn in this order, later ones on top.
    pub lines: Vec<Line>,
    /// In any order: each says where it stands.
    pub bars: Vec<Bar>,
    /// On top of both.
    pub quoted: Vec<Quoted>,
}

/// What an axis measures; the drawing picks the prefix (us, ms; KB, MB) by the range.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Without its unit.
    pub title: String,
    /// Of the values, before a prefix is picked.
    pub unit: AxisUnit,
    /// Logarithmic: values up to zero are not shown.
    pub log: bool,
    /// Whether zero must be in sight.
    pub from_zero: bool,
    /// Ends of the axis where they are not left to the data; what lies outside is cut off.
    pub from: Option<f64>,
    pub until: Option<f64>,
    /// Where its numbers stand, if not at round ones: those that were asked for.
    pub marks: Vec<(f64, String)>,
}

/// In what unit the values of an axis come, which is not always the one shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AxisUnit {
    /// Values in microseconds.
    Time,
    /// Shown in B, KB or MB.
    Bytes,
    /// Values in gigabits per second.
    Gbps,
    PerSecond,
    /// 0 to 1, shown in percent.
    Fraction,
    Ratio,
    /// Values in just this unit, which may be empty.
    Plain(String),
}

/// A curve with its look.
#[derive(Clone, Debug)]
pub struct Line {
    /// As in the legend; lines of the same name and look share an entry.
    pub name: String,
    pub colour: RGBColor,
    pub(crate) dash: Dash,
    /// Drawn at every point with `dots`, else now and then along the line; `None` leaves the line bare.
    pub(crate) marker: Option<Marker>,
    /// In order of x. A point without a number interrupts the line.
    pub points: Vec<(f64, f64)>,
    /// A dot at every point, for few points.
    pub dots: bool,
    /// Intervals around points: x, low, high.
    pub intervals: Vec<(f64, f64, f64)>,
    /// Intervals along x, as distributions have them: y, left, right.
    pub spans: Vec<(f64, f64, f64)>,
    /// Where the value is beyond all numbers: "never". An arrow at the top says so.
    pub never: Vec<f64>,
}

/// One bar, of one part or of several on top of each other.
#[derive(Clone, Debug)]
pub struct Bar {
    pub group: usize,
    /// Its place within the group, from the left.
    pub slot: usize,
    /// Written below it; empty where the legend says enough.
    pub name: String,
    /// From the bottom up.
    pub parts: Vec<Part>,
}

/// A stretch of a bar.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    /// Of the outline and the filling.
    pub colour: RGBColor,
    /// Tells parts apart without colours.
    pub hatch: Hatch,
    /// Infinite for "never".
    pub value: f64,
    /// Half the width of its interval.
    pub interval: Option<f64>,
}

/// A number that was not measured but said elsewhere, beside those that were. It is drawn as an open
/// mark, which no line and no bar has.
#[derive(Clone, PartialEq, Debug)]
pub struct Quoted {
    /// As in the legend; all of one name share an entry.
    pub name: String,
    /// Of the line or bar that it is about; `None` for what is about several or none.
    pub colour: Option<RGBColor>,
    pub place: QuotedPlace,
    pub shape: Shape,
    pub source: String,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QuotedPlace {
    Point(f64, f64),
    /// All along x, or from and until somewhere.
    Level {
        y: f64,
        /// Its left end, if not that of the plot.
        from: Option<f64>,
        /// Its right end, if not that of the plot.
        until: Option<f64>,
    },
    /// From the bottom of the plot to its top.
    Instant(f64),
    Bar {
        group: usize,
        slot: usize,
        value: f64,
    },
}

/// How a quoted number is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// As it stands: a diamond.
    Number,
    /// So much or less: a triangle that points down.
    AtMost,
    /// So much or more: a triangle that points up.
    AtLeast,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Of its line, markers and intervals.
    pub colour: RGBColor,
    pub dash: Dash,
    /// `None` for a line that needs nothing beside its colour and dash.
    pub marker: Option<Marker>,
}

impl From<(RGBColor, Dash)> for Style {
    fn from((colour, dash): (RGBColor, Dash)) -> Style {
        Style { colour, dash, marker: None }
    }
}

/// How a line is broken, for print without colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dash {
    Solid,
    /// Strokes of 10 pixels.
    Long,
    /// Strokes of 5 pixels.
    Short,
    /// Strokes of 2 pixels.
    Dotted,
}

/// How a bar is filled, for print without colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hatch {
    /// In its colour.
    Full,
    /// Lines that rise to the right.
    Rising,
    Empty,
    /// Lines from left to right.
    Level,
    /// Lines that fall to the right.
    Falling,
    /// In a tint of its colour, without lines.
    Pale,
    /// Rising and falling lines.
    Crossed,
}

impl Axis {
    /// With its ends and numbers left to the data.
    pub fn new(title: impl Into<String>, unit: AxisUnit, log: bool, from_zero: bool) -> Axis {
        Axis { title: title.into(), unit, log, from_zero, from: None, until: None, marks: Vec::new() }
    }
}

impl Axis {
    /// Of slowdowns: logarithmic from 1, which is the idle network.
    pub fn of_slowdown(title: &str) -> Axis {
        Axis { from: Some(1.0), ..Axis::new(title, AxisUnit::Ratio, true, false) }
    }

    /// With the unit of its data: `flow size (bytes)`.
    pub(crate) fn named(&self) -> String {
        let unit = match &self.unit {
            AxisUnit::Time => "us",
            AxisUnit::Bytes => "bytes",
            AxisUnit::Gbps => "Gb/s",
            AxisUnit::PerSecond => "per second",
            AxisUnit::Fraction => "part of 1",
            AxisUnit::Ratio => "",
            AxisUnit::Plain(unit) => unit,
        };
        if unit.is_empty() { self.title.clone() } else { format!("{} ({unit})", self.title) }
    }
}

impl AxisUnit {
    /// The unit of an axis for values in some unit, and by how much they are multiplied for it.
    pub fn named(unit: &str) -> (AxisUnit, f64) {
        match unit {
            "ns" => (AxisUnit::Time, 1e-3),
            "us" => (AxisUnit::Time, 1.0),
            "ms" => (AxisUnit::Time, 1e3),
            "s" => (AxisUnit::Time, 1e6),
            "B" | "bytes" => (AxisUnit::Bytes, 1.0),
            "KB" => (AxisUnit::Bytes, 1e3),
            "MB" => (AxisUnit::Bytes, 1e6),
            "GB" => (AxisUnit::Bytes, 1e9),
            "bps" => (AxisUnit::Gbps, 1e-9),
            "Kbps" => (AxisUnit::Gbps, 1e-6),
            "Mbps" => (AxisUnit::Gbps, 1e-3),
            "Gbps" => (AxisUnit::Gbps, 1.0),
            "" | "1" => (AxisUnit::Ratio, 1.0),
            other => (AxisUnit::Plain(other.to_owned()), 1.0),
        }
    }
}

/// Values that span more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 20.0;

/// Whether values need a logarithmic axis.
pub fn spans_decades(values: impl Iterator<Item = f64>) -> bool {
    let (least, most) =
        values.fold((f64::INFINITY, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
    least > 0.0 && most / least > WIDE
}

impl Chart {
    /// A figure of one panel with curves.
    pub fn of_lines(file: String, title: String, x: Axis, y: Axis, lines: Vec<Line>) -> Chart {
        let panels = vec![Panel { lines, ..Panel::default() }];
        Chart { file, title, note: String::new(), x, y, groups: Vec::new(), panels, columns: 1, marks: Vec::new() }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.panels.iter().flat_map(|panel| &panel.lines)
    }

    pub(crate) fn quoted(&self) -> impl Iterator<Item = &Quoted> {
        self.panels.iter().flat_map(|panel| &panel.quoted)
    }

    /// Of all bars of all panels.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.panels.iter().flat_map(|panel| &panel.bars).flat_map(|bar| &bar.parts)
    }
}

impl Panel {
    /// What to say of a panel in which nothing can be seen: an empty plot looks like a mistake.
    pub(crate) fn silence(&self, y: &Axis) -> Option<&'static str> {
        let points = self.lines.iter().flat_map(|line| &line.points).map(|point| point.1);
        let bars = self.bars.iter().flat_map(|bar| &bar.parts).map(|part| part.value);
        let known: Vec<f64> = points.chain(bars).filter(|value| !value.is_nan()).collect();
        let beyond = self.lines.iter().any(|line| !line.never.is_empty());
        if beyond || !self.quoted.is_empty() {
            return None;
        }
        let frames = ["PAUSE", "frames"].iter().any(|word| y.title.contains(word));
        match known.iter().any(|value| *value != 0.0) {
            true => None,
            false if frames => Some("no frame"),
            false if known.is_empty() => Some("no data"),
            false => Some("0 throughout"),
        }
    }
}

impl Line {
    /// Without dots and intervals.
    pub fn new(name: String, style: impl Into<Style>, points: Vec<(f64, f64)>) -> Line {
        let Style { colour, dash, marker } = style.into();
        let (intervals, spans, never) = (Vec::new(), Vec::new(), Vec::new());
        Line { name, colour, dash, marker, points, dots: false, intervals, spans, never }
    }

    /// With a dot at every point.
    pub fn dotted(self) -> Line {
        Line { dots: true, ..self }
    }
}

impl Dash {
    /// Lengths of stroke and gap in pixels; `None` is an unbroken line.
    pub fn pattern(self) -> Option<(f64, f64)> {
        match self {
            Dash::Solid => None,
            Dash::Long => Some((10.0, 4.0)),
            Dash::Short => Some((5.0, 3.0)),
            Dash::Dotted => Some((2.0, 3.0)),
        }
    }
}

impl Hatch {
    /// Neighbours differ most.
    pub const ALL: [Hatch; 7] =
        [Hatch::Full, Hatch::Rising, Hatch::Empty, Hatch::Level, Hatch::Falling, Hatch::Pale, Hatch::Crossed];
}

/// A name that is safe in a file name.
pub fn plain(name: &str) -> String {
    let text: String = name.replace("->", "-to-").chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    text.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
