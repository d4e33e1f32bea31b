//! Units of results. Inside, times are seconds, sizes bytes and rates bits per second; here they
//! become what a measure asks for.

use crate::Table;
use crate::reader::Result;
use xoff_engine::Span;

/// What a quantity is measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    Time,
    Bytes,
    Rate,
    /// A count, a share, frames per second: has no choice of unit.
    Plain,
}

/// A unit by name, and how many of it one second, byte or bit per second is.
pub type Unit = (&'static str, f64);

const TIMES: &[Unit] = &[("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1.0)];
const SIZES: &[Unit] = &[("B", 1.0), ("KB", 1e-3), ("MB", 1e-6), ("GB", 1e-9)];
const RATES: &[Unit] = &[("bps", 1.0), ("Kbps", 1e-3), ("Mbps", 1e-6), ("Gbps", 1e-9)];

impl Dimension {
    pub fn units(self) -> &'static [Unit] {
        match self {
            Dimension::Time => TIMES,
            Dimension::Bytes => SIZES,
            Dimension::Rate => RATES,
            Dimension::Plain => &[],
        }
    }
}

/// A unit of `dimension` under `key`; must be there unless the quantity has none.
pub fn read(row: &mut Table, key: &str, dimension: Dimension) -> Result<Unit> {
    if dimension == Dimension::Plain {
        return match row.has(key) {
            false => Ok(("", 1.0)),
            true => Err(row.key_error(key, format!("`{key}` has no effect here")).label("this is a plain number")),
        };
    }
    let choices: Vec<(&str, Unit)> = dimension.units().iter().map(|unit| (unit.0, *unit)).collect();
    row.choice(key, &choices)
}

/// [`read`], where the result may be a plain number of quantities that have a unit, such as Jain's index: then it
/// may be left out.
pub fn read_unless(plain: bool, row: &mut Table, key: &str, dimension: Dimension) -> Result<Unit> {
    if plain && !row.has(key) { Ok(("", 1.0)) } else { read(row, key, dimension) }
}

/// [`read`], where leaving it out means `default`.
pub fn read_or(row: &mut Table, key: &str, dimension: Dimension, default: &str) -> Result<Unit> {
    let choices: Vec<(&str, Unit)> = dimension.units().iter().map(|unit| (unit.0, *unit)).collect();
    row.choice_or(key, &choices, default)
}

/// A length of time in a unit.
pub fn time(span: Span, unit: Unit) -> f64 {
    // Exact where the result is: 12345 us are 12.345 ms, not 12.344999.
    span.ps() as f64 / (1e12 / unit.1)
}
