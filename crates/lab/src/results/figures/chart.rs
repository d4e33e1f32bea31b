//! What a figure shows, before anything is drawn.

use plotters::style::RGBColor;

/// One figure.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Name of its files, without ending.
    pub file: String,
    pub title: String,
    /// What a reader must know beside the axes; empty if nothing.
    pub note: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    /// Instants worth a vertical line, with their names.
    pub marks: Vec<(f64, String)>,
}

/// What an axis measures; the drawing picks the prefix (us, ms; KB, MB) by the range.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Without its unit.
    pub title: String,
    pub unit: AxisUnit,
    pub log: bool,
    /// Whether zero must be in sight.
    pub from_zero: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AxisUnit {
    /// Values in microseconds.
    Time,
    Bytes,
    Gbps,
    PerSecond,
    /// 0 to 1, shown in percent.
    Fraction,
    /// A plain ratio.
    Ratio,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub colour: RGBColor,
    pub dash: Dash,
    /// In order of x.
    pub points: Vec<(f64, f64)>,
    /// A dot at every point, for few points.
    pub dots: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dash {
    Solid,
    Long,
    Short,
    Dotted,
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
