//! What a sweep found as a page for the browser, and as tables for the terminal.

use crate::study::{Cell, Measure, Study, shown};
use std::io;
use xoff_results::figures::chart::Chart;
use xoff_results::grid::{Grid, Section};
use xoff_results::names::scheme_label;
use xoff_results::report::{DARKEST, HeatMap, SweepPage, of_sweep};
use xoff_scenario::number::brief;

/// Rows of the table on a page; the whole is in the Parquet file.
const MOST_ROWS: usize = 400;

/// `report.html`.
pub fn html(study: &Study<'_>, charts: &[Chart], name: &str, command: &str) -> io::Result<String> {
    let runs = study.cells.len() * study.sweep.seeds as usize;
    let mut facts = vec![
        ("Scenario", name.to_owned()),
        ("Runs", runs.to_string()),
        ("Points", study.cells.len().to_string()),
        ("Seeds", study.sweep.seeds.to_string()),
        ("Xoff", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    facts.extend((study.failed.0 > 0).then(|| ("Failed", study.failed.0.to_string())));
    facts.extend((study.failed.1 > 0).then(|| ("Given up", study.failed.1.to_string())));
    let title = format!("Sweep of {name}");
    let finding = study.finding();
    let page = SweepPage {
        title: &title,
        finding: &finding,
        facts,
        tables: vec![Section::new("Means over the seeds, with 95 % intervals", grid(study, MOST_ROWS))],
        charts,
        heat_maps: heat_maps(study),
        command,
    };
    of_sweep(page).map_err(io::Error::other)
}

/// The points and their measures, as many as are asked for.
pub fn grid(study: &Study<'_>, most: usize) -> Grid {
    let axes = study.sweep.axes.iter().map(|axis| axis.name.clone());
    let measures = study.measures.iter().map(Measure::title);
    let mut grid = Grid::new(["scheme".to_owned()].into_iter().chain(axes).chain(measures));
    for cell in study.cells.iter().take(most) {
        let value = |value: &Option<Vec<crate::value::Value>>| {
            value.as_ref().map_or("-".to_owned(), |value| value[0].name.clone())
        };
        let estimates = cell.estimates.iter().map(|estimate| shown(*estimate, ""));
        grid.row(
            [scheme_label(cell.scheme).to_owned()].into_iter().chain(cell.values.iter().map(value)).chain(estimates),
        );
    }
    grid
}

/// Measures that a terminal has room for.
const MOST_BRIEF: usize = 3;

/// Table for a terminal: scheme and setting in one column, which stays where the table must be broken.
pub fn brief_grid(study: &Study<'_>, most: usize) -> Grid {
    let measures = study.measures.iter().take(MOST_BRIEF).map(|measure| {
        let name = measure.name.trim_start_matches("by_source.").trim_start_matches("measure.");
        if matches!(measure.unit.as_str(), "" | "1") || name.ends_with(&measure.unit.to_lowercase()) {
            return name.to_owned();
        }
        format!("{name} ({})", measure.unit)
    });
    let mut grid = Grid::new([String::new()].into_iter().chain(measures));
    for cell in study.cells.iter().take(most) {
        let place =
            [scheme_label(cell.scheme).to_owned(), study.place(cell)].into_iter().filter(|part| !part.is_empty());
        let estimates = cell.estimates.iter().take(MOST_BRIEF).map(|estimate| shown(*estimate, ""));
        grid.row([place.collect::<Vec<_>>().join(", ")].into_iter().chain(estimates));
    }
    grid
}

/// The first measure over the first two axes that have several values, for each scheme and each setting of the others.
fn heat_maps(study: &Study<'_>) -> Vec<HeatMap> {
    let several = |at: &usize| study.sweep.axes[*at].values.len() > 1;
    let axes: Vec<usize> = (0..study.sweep.axes.len()).filter(several).collect();
    let (&[x, y, ..], Some(measure), None) = (axes.as_slice(), study.measures.first(), study.sweep.sample) else {
        return Vec::new();
    };
    let means = || study.cells.iter().filter_map(|cell| cell.estimates[0]).map(|estimate| estimate.mean);
    let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max));
    let shade = |mean: f64| match most > least {
        true => ((mean - least) / (most - least) * f64::from(DARKEST)).round() as u8,
        false => 0,
    };
    let rest = |cell: &Cell<'_>| study.sweep.setting(cell.values, &[x, y]);
    let names = |at: usize| study.sweep.axes[at].values.iter().map(|value| value[0].name.clone()).collect::<Vec<_>>();
    let mut settings: Vec<(String, String)> = Vec::new();
    for cell in study.cells.iter().filter(|cell| cell.values[x].is_some() && cell.values[y].is_some()) {
        let setting = (cell.scheme.to_owned(), rest(cell));
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let map = |(scheme, setting): (String, String)| {
        let cell = |column: &String, row: &String| {
            let is = |at: usize, cell: &Cell<'_>, name: &String| {
                cell.values[at].as_ref().is_some_and(|value| value[0].name == *name)
            };
            let found = study
                .cells
                .iter()
                .find(|cell| cell.scheme == scheme && rest(cell) == setting && is(x, cell, column) && is(y, cell, row));
            found.and_then(|cell| cell.estimates[0]).map_or(("-".to_owned(), 0), |of| (brief(of.mean), shade(of.mean)))
        };
        let rows = names(y)
            .iter()
            .map(|row| (row.clone(), names(x).iter().map(|column| cell(column, row)).collect()))
            .collect();
        let label = scheme_label(&scheme);
        let of = if setting.is_empty() { label.to_owned() } else { format!("{label}, {setting}") };
        let axes = (study.sweep.axes[x].name.clone(), study.sweep.axes[y].name.clone());
        HeatMap { title: format!("{} under {of}", measure.title()), axes, head: names(x), rows }
    };
    settings.into_iter().map(map).collect()
}
