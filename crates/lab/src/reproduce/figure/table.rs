//! Tables: measures as columns, runs as rows.

use super::Shown;
use super::build::View;
use super::spec::{FigureSpec, What};
use crate::reproduce::results::{Estimate, Results};
use crate::results::number::brief;

pub fn draw(spec: &FigureSpec, results: &Results) -> Result<Vec<Shown>, String> {
    let mut head: Vec<String> = vec![String::new()];
    let mut rows: Vec<Vec<String>> = Vec::new();
    let alone = spec.series.len() == 1;
    for series in &spec.series {
        let What::Numbers(list) = &series.what else { return Err("tables show numbers".into()) };
        let Some(view) = View::of(spec, series, None, results)? else { continue };
        if head[0].is_empty() {
            head[0] = series.by.join(", ");
        }
        let columns: Vec<usize> = list.iter().map(|(_, name)| column(&mut head, name)).collect();
        for choice in view.choices(&view.by) {
            let Some(cell) = view.picked.cell(&choice)? else { continue };
            let label = view.label(series, &choice, "", alone)?;
            let label = if label.is_empty() { view.picked.group.name.clone() } else { label };
            // A second series about the same runs adds columns, not rows.
            let row = rows.iter().position(|row| row[0] == label).unwrap_or_else(|| {
                rows.push(vec![label]);
                rows.len() - 1
            });
            rows[row].resize(head.len(), "-".to_owned());
            for (column, (measure, _)) in columns.iter().zip(list) {
                rows[row][*column] = cell.estimate(measure).map_or_else(|| "-".to_owned(), text);
            }
        }
    }
    for row in &mut rows {
        row.resize(head.len(), "-".to_owned());
    }
    let shown = Shown::Table { title: spec.title.clone(), head, rows };
    Ok(if matches!(&shown, Shown::Table { rows, .. } if rows.is_empty()) { Vec::new() } else { vec![shown] })
}

fn column(head: &mut Vec<String>, name: &str) -> usize {
    head.iter().skip(1).position(|known| known == name).map_or_else(
        || {
            head.push(name.to_owned());
            head.len() - 1
        },
        |index| index + 1,
    )
}

fn text(estimate: Estimate) -> String {
    match (estimate.mean, estimate.half_width) {
        (f64::INFINITY, _) => "never".to_owned(),
        (mean, _) if !mean.is_finite() => "-".to_owned(),
        (mean, Some(half)) if half > 0.0 => format!("{} ± {}", brief(mean), brief(half)),
        (mean, _) => brief(mean),
    }
}
