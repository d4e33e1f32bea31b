//! One row per run: what was varied, under which scheme and seed, and every number of its summary.

use crate::axis::Axis;
use crate::numbers::{Number, union};
use crate::plan::{Point, Sweep};
use crate::record::Record;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use xoff_results::column::{Column, Kind, Table};
use xoff_results::table_writer::{Cell, TableWriter};
use xoff_scenario::Diagnostic;

/// The runs of a sweep with what they came to, in the same order.
pub struct Rows<'a> {
    pub sweep: &'a Sweep,
    pub points: &'a [Point],
    pub records: &'a [Record],
}

impl<'a> Rows<'a> {
    /// Refuses other than one record for each run.
    pub(crate) fn of(sweep: &'a Sweep, points: &'a [Point], records: &'a [Record]) -> Result<Rows<'a>, Diagnostic> {
        if points.len() != records.len() {
            let error = Diagnostic::new("the results are not those of this sweep");
            return Err(error.label(format!("it has {} runs, and these are {}", points.len(), records.len())));
        }
        Ok(Rows { sweep, points, records })
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = (&'a Point, &'a Record)> {
        self.points.iter().zip(self.records)
    }

    /// Every point, as the runs of its seeds with their records.
    pub(crate) fn by_point(&self) -> impl Iterator<Item = (&'a [Point], &'a [Record])> {
        let mut left = self.records;
        let points = self.points.chunk_by(|a, b| a.scheme == b.scheme && a.values == b.values);
        points.map(move |seeds| {
            let (own, others) = left.split_at(seeds.len());
            left = others;
            (seeds, own)
        })
    }
}

/// What every row begins with, beside its axes.
const IDENTITY: [(&str, Kind, bool, &str); 6] = [
    ("scheme", Kind::Text, false, "The congestion control, as it was asked for."),
    ("seed", Kind::Integer, false, "The seed of all random streams."),
    ("status", Kind::Text, false, "finished; failed: the simulated network did; gave up: out of memory or time."),
    ("failure", Kind::Text, true, "Why the run failed or was given up."),
    ("scenario_hash", Kind::Text, false, "The same for runs of the same scenario, values and seed."),
    ("version", Kind::Text, false, "The version of Xoff."),
];

/// What every row of the table of curves has, beside its axes.
const CURVES: [(&str, Kind, &str); 5] = [
    ("scheme", Kind::Text, "The congestion control, as it was asked for."),
    ("seed", Kind::Integer, "The seed of all random streams."),
    ("measure", Kind::Text, "The name of the measure."),
    ("x", Kind::Real, "In the unit of the measure's x axis: bytes for flow sizes."),
    ("y", Kind::Real, "In the unit of the measure."),
];

/// The name of an axis's column.
pub fn column_name(axis: &Axis) -> String {
    format!("{}{}", axis.name, axis.unit().map_or("", |unit| unit.suffix()))
}

impl Rows<'_> {
    /// Writes `runs.parquet`, which depends on nothing but what was asked for, and `times.parquet`, what this machine
    /// took for each; with `csv` also their twins.
    pub fn write(&self, folder: &Path, csv: bool) -> io::Result<()> {
        let network = union(self.records.iter().map(|record| record.network.as_slice()));
        self.write_one(folder, ("runs", "one row per run of the sweep"), &network, |record| &record.network, csv)?;
        let machine = union(self.records.iter().map(|record| record.machine.as_slice()));
        self.write_one(folder, ("times", "what each run of the sweep took"), &machine, |record| &record.machine, csv)
    }

    fn write_one(
        &self,
        folder: &Path,
        (name, meaning): (&str, &str),
        union: &[&Number],
        numbers: impl Fn(&Record) -> &[Number],
        csv: bool,
    ) -> io::Result<()> {
        let names: Vec<String> = self.sweep.axes.iter().map(column_name).collect();
        let keys: Vec<String> = self.sweep.axes.iter().map(|axis| axis.keys.join(", ")).collect();
        let axes = self.sweep.axes.iter().zip(&names).zip(&keys).map(|((axis, name), key)| Column {
            name,
            kind: if axis.unit().is_some() { Kind::Real } else { Kind::Text },
            unit: axis.unit().map_or("", |unit| unit.name()),
            nullable: true,
            meaning: key,
        });
        let identity =
            IDENTITY.map(|(name, kind, nullable, meaning)| Column { name, kind, unit: "", nullable, meaning });
        let measured = union.iter().map(|number| Column {
            name: &number.name,
            kind: if number.whole { Kind::Integer } else { Kind::Real },
            unit: &number.unit,
            nullable: true,
            meaning: "As in run.json.",
        });
        let columns: Vec<Column<'_>> = axes.chain(identity).chain(measured).collect();
        let table = Table { name, meaning, columns: &columns };
        let place: HashMap<&str, usize> =
            union.iter().enumerate().map(|(at, number)| (number.name.as_str(), at)).collect();
        let mut writer = TableWriter::create(folder, &table, env!("CARGO_PKG_VERSION"), csv)?;
        for (point, record) in self.each() {
            let mut row: Vec<Cell<'_>> = self.axis_cells(point);
            row.extend([
                Cell::Text(point.scheme.as_deref().unwrap_or(&record.scheme)),
                Cell::Integer(point.seed),
                Cell::Text(status(record)),
                record.failure.as_deref().into(),
                Cell::Text(&record.inputs),
                Cell::Text(env!("CARGO_PKG_VERSION")),
            ]);
            let first = row.len();
            row.resize(first + union.len(), Cell::Empty);
            for number in numbers(record) {
                if let (Some(&at), Some(value)) = (place.get(number.name.as_str()), number.value) {
                    row[first + at] = if number.whole { Cell::Integer(value as u64) } else { Cell::Real(value) };
                }
            }
            writer.row(&row)?;
        }
        writer.finish()
    }

    /// Writes `curves.parquet` and its CSV twin: every point of every measure that is a curve, where there are some.
    pub fn write_curves(&self, folder: &Path) -> io::Result<()> {
        if self.records.iter().all(|record| record.curves.is_empty()) {
            return Ok(());
        }
        let names: Vec<String> = self.sweep.axes.iter().map(column_name).collect();
        let axes = self.sweep.axes.iter().zip(&names).map(|(axis, name)| Column {
            name,
            kind: if axis.unit().is_some() { Kind::Real } else { Kind::Text },
            unit: axis.unit().map_or("", |unit| unit.name()),
            nullable: true,
            meaning: "The value of an axis.",
        });
        let own = CURVES.map(|(name, kind, meaning)| Column { name, kind, unit: "", nullable: false, meaning });
        let columns: Vec<Column<'_>> = axes.chain(own).collect();
        let table =
            Table { name: "curves", meaning: "one row per point of a measure that is a curve", columns: &columns };
        let mut writer = TableWriter::create(folder, &table, env!("CARGO_PKG_VERSION"), true)?;
        for (point, record) in self.points.iter().zip(self.records) {
            let scheme = point.scheme.as_deref().unwrap_or(&record.scheme);
            for of in &record.curves {
                for (x, y) in of.curve.x.iter().zip(&of.curve.y) {
                    let mut row = self.axis_cells(point);
                    row.extend([Cell::Text(scheme), Cell::Integer(point.seed), Cell::Text(&of.name)]);
                    row.extend([*x, *y].map(Cell::Real));
                    writer.row(&row)?;
                }
            }
        }
        writer.finish()
    }

    fn axis_cells<'b>(&'b self, point: &'b Point) -> Vec<Cell<'b>> {
        let cell = |(axis, value): (&'b Axis, &'b Option<Vec<crate::value::Value>>)| match value {
            None => Cell::Empty,
            Some(value) if axis.unit().is_some() => value[0].number().into(),
            Some(value) => Cell::Text(&value[0].name),
        };
        self.sweep.axes.iter().zip(&point.values).map(cell).collect()
    }
}

/// One word for how a run ended.
pub fn status(record: &Record) -> &'static str {
    match (&record.failure, record.gave_up) {
        (_, true) => "gave up",
        (Some(_), false) => "failed",
        (None, false) => "finished",
    }
}
