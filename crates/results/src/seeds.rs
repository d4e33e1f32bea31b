//! One scenario under several seeds: every number with its mean, its interval and how far it ranges.

use super::columns::{Column, Entry, Marks};
use super::compare::{self, Comparison};
use super::grid::{Grid, Section};

/// The same columns as a comparison has, as rows: there is only one scheme, and a mean is wide.
pub fn page(entry: &Entry) -> Comparison {
    let entries = std::slice::from_ref(entry);
    let whole = compare::comparison(entries, &[]);
    let table = |layout: compare::TableLayout| {
        let mut grid = Grid::new(["", "mean ± 95 %", "least", "most"]);
        for (group, columns) in &layout.groups {
            columns.iter().for_each(|column| row(&mut grid, group, column, entry));
        }
        Section::new(layout.title, grid)
    };
    Comparison { tables: compare::layouts(entries).into_iter().map(table).collect(), ..whole }
}

fn row(grid: &mut Grid, group: &str, column: &Column, entry: &Entry) {
    let values: Vec<f64> = entry.summaries().filter_map(|summary| column.read(summary).value).collect();
    let end = |pick: fn(f64, f64) -> f64| {
        values.iter().copied().reduce(pick).map_or_else(|| "-".to_owned(), |value| column.text(value))
    };
    let name = format!("{group} {}", column.title);
    let cell = Marks::default().cell(column, entry);
    grid.row([name.trim().to_owned(), cell, end(f64::min), end(f64::max)]);
}
