//! Tables: measures as columns, runs as rows.

use super::Shown;
use super::builder::View;
use super::paper::{self, Quote};
use super::series::What;
use super::spec::FigureSpec;
use crate::reproduce::report_data::TableShown;
use crate::reproduce::results::{Estimate, Results};
use xoff_scenario::number::{brief, thousands};

pub fn draw(spec: &FigureSpec, results: &Results) -> Result<Vec<Shown>, String> {
    let mut head: Vec<String> = vec![String::new()];
    let mut rows: Vec<Vec<Option<String>>> = Vec::new();
    let mut quoted: Vec<&Quote> = Vec::new();
    let mut placed: Vec<(Vec<&String>, usize)> = Vec::new();
    for series in &spec.series {
        let What::Numbers { list, .. } = &series.what else { return Err("tables show numbers".into()) };
        let Some(view) = View::of(spec, series, None, results)? else { continue };
        if head[0].is_empty() {
            head[0] = series.by.join(", ");
        }
        // Series with the same columns share them; names within a series may repeat.
        let names: Vec<&String> = list.iter().map(|(_, name)| name).collect();
        let first = match placed.iter().find(|(known, _)| *known == names) {
            Some((_, first)) => *first,
            None => {
                let first = head.len();
                head.extend(names.iter().map(|name| (*name).clone()));
                placed.push((names, first));
                first
            }
        };
        for choice in view.choices(&view.by) {
            let Some(cell) = view.picked.cell(&choice)? else { continue };
            let label = view.label(series, &choice, &view.picked.group.name)?;
            let mut cells = Vec::new();
            for (measure, _) in list {
                let ours = view.estimate(series, cell, measure)?.map_or_else(|| "-".to_owned(), text);
                let theirs = |quote: &&Quote| quote.is_of(series, Some(measure)) && quote.fits(&view.picked, &choice);
                let found: Vec<&Quote> = spec.paper.iter().filter(theirs).collect();
                quoted.extend(&found);
                cells.push(match found.first() {
                    Some(quote) => format!("{ours} ({})", quote.text()),
                    None => ours,
                });
            }
            // More columns about the same runs go into their row.
            let free = |row: &Vec<Option<String>>| {
                row[0].as_ref() == Some(&label) && row.iter().skip(first).take(cells.len()).all(Option::is_none)
            };
            let row = rows.iter().position(free).unwrap_or_else(|| {
                rows.push(vec![Some(label.clone())]);
                rows.len() - 1
            });
            let length = rows[row].len().max(first + cells.len());
            rows[row].resize(length, None);
            for (index, text) in cells.into_iter().enumerate() {
                rows[row][first + index] = Some(text);
            }
        }
    }
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let columns = head.len();
    let whole = |mut row: Vec<Option<String>>| {
        row.resize(columns, None);
        row.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_owned())).collect()
    };
    let rows = rows.into_iter().map(whole).collect();
    let notes = [spec.note.clone(), paper::note(&quoted, false)];
    let note = notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join(" ");
    Ok(vec![Shown::Table(TableShown { title: spec.title.clone(), note, head, rows })])
}

fn text(estimate: Estimate) -> String {
    match (estimate.mean, estimate.half_width) {
        (f64::INFINITY, _) => "never".to_owned(),
        (mean, _) if !mean.is_finite() => "-".to_owned(),
        (_, Some(half)) if half > 0.0 => estimate.text(brief),
        // Counts are whole.
        (mean, _) if mean.fract() == 0.0 && (0.0..1e15).contains(&mean) => thousands(mean as u64),
        (mean, _) => brief(mean),
    }
}
