//! Columns of a comparison: which number of a summary each shows, and how sure it is.

use super::grid::Grid;
use super::interval::Estimate;
use super::names::scheme_label;
use super::outcome::Outcome;
use super::summary::{Distribution, Summary};
use super::verdict::Series;
use xoff_scenario::number::{brief, thousands};

/// One scheme of a comparison with its runs, one per seed; at least one.
#[derive(Clone, Debug)]
pub struct Entry {
    /// As its column or row is called.
    pub scheme: String,
    /// In the order of their seeds.
    pub runs: Vec<Outcome>,
}

impl Entry {
    pub(crate) fn first(&self) -> &Outcome {
        &self.runs[0]
    }

    pub fn summaries(&self) -> impl Iterator<Item = &Summary> {
        self.runs.iter().map(|run| &run.summary)
    }

    /// A number of its runs, by seed.
    pub(crate) fn series(&self, read: impl Fn(&Summary) -> Option<f64>) -> Series {
        Series::of(self.summaries().filter_map(|run| Some((run.seed, read(run)?))))
    }
}

/// What one run says of a number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) value: Option<f64>,
    /// Shown where there is no number.
    pub(crate) instead: &'static str,
    /// A percentile of so few flows is no more than their maximum.
    pub(crate) few: Option<u64>,
}

impl From<Option<f64>> for Reading {
    fn from(value: Option<f64>) -> Reading {
        Reading { value, instead: "-", few: None }
    }
}

impl From<f64> for Reading {
    fn from(value: f64) -> Reading {
        Some(value).into()
    }
}

type Read = Box<dyn Fn(&Summary) -> Reading>;

/// A number of every run.
pub(crate) struct Column {
    /// Where it stands in `run.json`, such as `by_source.mice.fct_us.p99`.
    pub(crate) key: String,
    pub(crate) title: String,
    /// How soon it goes from a narrow terminal; see [`Grid::ranks`].
    pub(crate) rank: u8,
    show: fn(f64) -> String,
    read: Read,
}

impl Column {
    pub(crate) fn new(
        key: impl Into<String>,
        title: impl Into<String>,
        show: fn(f64) -> String,
        read: impl Fn(&Summary) -> Reading + 'static,
    ) -> Column {
        Column { key: key.into(), title: title.into(), rank: 0, show, read: Box::new(read) }
    }

    pub(crate) fn rank(self, rank: u8) -> Column {
        Column { rank, ..self }
    }

    pub(crate) fn read(&self, summary: &Summary) -> Reading {
        (self.read)(summary)
    }

    /// Over the seeds of an entry; `None` if no run has it.
    pub(crate) fn estimate(&self, entry: &Entry) -> Option<Estimate> {
        Estimate::of(&entry.series(|summary| self.read(summary).value).values())
    }

    /// `entry` less `base`, seed by seed: what the traffic of a seed does to both cancels out.
    pub(crate) fn difference(&self, entry: &Entry, base: &Entry) -> Option<Estimate> {
        let base = base.series(|summary| self.read(summary).value);
        let less = |run: &Summary| Some(self.read(run).value? - base.under(run.seed)?);
        Estimate::of(&entry.series(less).values())
    }

    /// A value of its kind.
    pub(crate) fn text(&self, value: f64) -> String {
        (self.show)(value)
    }

    fn show_estimate(&self, estimate: Estimate) -> String {
        estimate.text(self.show)
    }
}

/// Counts of what made marks necessary, for the footnotes.
#[derive(Default)]
pub(crate) struct Marks {
    few: Option<(u64, u64)>,
    partial: bool,
}

/// Behind a percentile of too few flows.
const FEW: &str = "*";
/// Behind a mean over a part of the seeds.
const PARTIAL: &str = "^";

impl Marks {
    /// One cell, with its marks.
    pub(crate) fn cell(&mut self, column: &Column, entry: &Entry) -> String {
        let readings: Vec<Reading> = entry.summaries().map(|summary| column.read(summary)).collect();
        let Some(estimate) = column.estimate(entry) else {
            return readings.first().map_or("-", |reading| reading.instead).to_owned();
        };
        let mut text = column.show_estimate(estimate);
        if readings.iter().any(|reading| reading.value.is_none()) {
            self.partial = true;
            text.push_str(PARTIAL);
        }
        let few = readings.iter().filter(|reading| reading.value.is_some()).filter_map(|reading| reading.few);
        few.clone().for_each(|flows| self.note_few(flows));
        if few.count() > 0 {
            text.push_str(FEW);
        }
        text
    }

    /// The mark that a note explains, if it explains one.
    pub(crate) fn of_note(note: &str) -> Option<&'static str> {
        [FEW, PARTIAL].into_iter().find(|mark| note.strip_prefix(*mark).is_some_and(|rest| rest.starts_with(' ')))
    }

    fn note_few(&mut self, flows: u64) {
        let (least, most) = self.few.unwrap_or((flows, flows));
        self.few = Some((least.min(flows), most.max(flows)));
    }

    /// What the marks mean, as far as there are some.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some((least, most)) = self.few {
            let of =
                if least == most { thousands(least) } else { format!("{} to {}", thousands(least), thousands(most)) };
            let flows = if most == 1 { "flow" } else { "flows" };
            notes.push(format!(
                "{FEW} of {of} {flows}: a p95 of fewer than 20, a p99 of fewer than 100 or a p99.9 of fewer than 1,000 is \
                 no more than the slowest of them."
            ));
        }
        if self.partial {
            notes.push(format!("{PARTIAL} mean of those seeds that have the number; not all do."));
        }
        notes
    }
}

/// Flows that a percentile needs before it tells more than the maximum does.
pub(crate) fn needed(percentile: Percentile) -> u64 {
    match percentile {
        Percentile::P50 => 2,
        Percentile::P95 => 20,
        Percentile::P99 => 100,
        Percentile::P999 => 1000,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Percentile {
    P50,
    P95,
    P99,
    P999,
}

impl Percentile {
    pub(crate) const ALL: [Percentile; 4] = [Percentile::P50, Percentile::P95, Percentile::P99, Percentile::P999];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Percentile::P50 => "p50",
            Percentile::P95 => "p95",
            Percentile::P99 => "p99",
            Percentile::P999 => "p99.9",
        }
    }

    pub(crate) fn key(self) -> &'static str {
        if self == Percentile::P999 { "p999" } else { self.title() }
    }

    /// The percentile, marked if the flows are too few for it.
    pub(crate) fn read(self, of: &Distribution) -> Reading {
        let value = match self {
            Percentile::P50 => of.p50,
            Percentile::P95 => of.p95,
            Percentile::P99 => of.p99,
            Percentile::P999 => of.p999,
        };
        Reading { few: (of.count < needed(self) && self != Percentile::P50).then_some(of.count), ..value.into() }
    }
}

/// `12.3`, or `12.3*` of too few flows, for a single run.
pub(crate) fn percentile_text(percentile: Percentile, of: &Distribution) -> String {
    let reading = percentile.read(of);
    let mark = reading.few.filter(|_| reading.value.is_some()).map_or("", |_| FEW);
    reading.value.map_or_else(|| "-".to_owned(), |value| format!("{}{mark}", brief(value)))
}

/// The note that [`percentile_text`] may need.
pub(crate) fn percentile_note<'a>(of: impl Iterator<Item = &'a Distribution>) -> Option<String> {
    let mut marks = Marks::default();
    let counts = of.map(|of| of.count).filter(|count| (1..needed(Percentile::P99)).contains(count));
    counts.for_each(|flows| marks.note_few(flows));
    marks.notes().pop()
}

/// Columns under titles, one row per entry. Groups are titles with their columns.
pub(crate) fn grid(entries: &[Entry], groups: &[(String, Vec<Column>)], marks: &mut Marks) -> Grid {
    let columns = || groups.iter().flat_map(|(_, columns)| columns);
    let mut grid = Grid::new(std::iter::once("scheme".to_owned()).chain(columns().map(|column| column.title.clone())));
    if groups.iter().any(|(title, _)| !title.is_empty()) {
        grid.groups = vec![(String::new(), 1)];
        grid.groups.extend(groups.iter().map(|(title, columns)| (title.clone(), columns.len())));
    }
    grid.ranks = std::iter::once(0).chain(columns().map(|column| column.rank)).collect();
    for entry in entries {
        let cells = columns().map(|column| marks.cell(column, entry));
        grid.row(std::iter::once(scheme_label(&entry.scheme).to_owned()).chain(cells));
    }
    grid
}

/// The differences of the entries to the first of them, which has no row.
pub(crate) fn differences(entries: &[Entry], groups: &[(String, Vec<Column>)]) -> Grid {
    let Some((base, others)) = entries.split_first() else { return Grid::default() };
    let mut grid = grid(&[], groups, &mut Marks::default());
    for entry in others {
        let cell = |column: &Column| {
            let difference = column.difference(entry, base);
            difference.map_or_else(|| "-".to_owned(), |estimate| signed(column, estimate))
        };
        let cells = groups.iter().flat_map(|(_, columns)| columns).map(cell);
        grid.row(std::iter::once(scheme_label(&entry.scheme).to_owned()).chain(cells));
    }
    grid
}

fn signed(column: &Column, estimate: Estimate) -> String {
    let text = column.show_estimate(estimate);
    if estimate.mean > 0.0 { format!("+{text}") } else { text }
}
