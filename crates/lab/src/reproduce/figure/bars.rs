//! Bars: grouped along an axis or by measure, side by side or stacked.

use super::build::{Builder, View};
use super::spec::{Kind, Series, What};
use crate::reproduce::results::Cell;
use crate::results::figures::chart::{Bar, Part};

/// Adds the bars of a series to those of a panel.
pub fn of_series(
    builder: &mut Builder<'_>,
    series: &Series,
    view: &View<'_>,
    bars: &mut Vec<Bar>,
) -> Result<(), String> {
    let What::Numbers(list) = &series.what else { return Err("bars show numbers".into()) };
    let alone = builder.spec.series.len() == 1;
    let places = match view.over {
        Some(over) => view.choices(&[over]),
        None => vec![Vec::new()],
    };
    for place in &places {
        for choice in view.choices(&view.by) {
            let Some(cell) = view.picked.cell(&[&choice[..], &place[..]].concat())? else { continue };
            let over = place.last().map(|at| view.picked.value(*at).name.clone());
            if builder.spec.kind == Kind::Stacked {
                let label = view.label(series, &choice, "", alone)?;
                let (group, name) = match over {
                    Some(over) => (over, label),
                    None => (label, String::new()),
                };
                let slot = builder.slot(&name);
                let parts = list.iter().filter_map(|(measure, name)| part(builder, cell, measure, name));
                let parts: Vec<Part> = parts.collect();
                let group = builder.group(&group);
                bars.push(Bar { group, slot, name, parts });
                continue;
            }
            for (measure, name) in list {
                // Groups along x: an axis, else the measures, else what the bars are told apart by.
                let (group, label, shown, by_scheme) = match &over {
                    Some(over) if list.len() > 1 => (over.clone(), name.clone(), true, false),
                    Some(over) => (over.clone(), view.label(series, &choice, name, alone)?, true, true),
                    None if list.len() > 1 => (name.clone(), view.label(series, &choice, "", alone)?, true, true),
                    None if alone => {
                        let label = view.label(series, &choice, name, true)?;
                        (label.clone(), label, false, true)
                    }
                    None => {
                        let label = series.label.clone().filter(|label| !label.contains('{'));
                        (view.names(&choice), label.unwrap_or_else(|| name.clone()), true, false)
                    }
                };
                // Bars that the legend tells apart by something else have no scheme's colour.
                builder.wish(series, view, &choice, &label, by_scheme);
                let Some(mut part) = part(builder, cell, measure, &label) else { continue };
                let slot = if shown { builder.slot(&label) } else { 0 };
                if !shown {
                    part.name.clear();
                }
                let group = builder.group(&group);
                bars.push(Bar { group, slot, name: String::new(), parts: vec![part] });
            }
        }
    }
    Ok(())
}

/// `None` where nothing was measured.
fn part(builder: &mut Builder<'_>, cell: &Cell, measure: &str, label: &str) -> Option<Part> {
    let estimate = cell.estimate(measure)?;
    builder.seen_seeds(estimate.count, estimate.half_width.is_some());
    if estimate.mean == f64::INFINITY {
        builder.seen_never();
    }
    let (colour, _) = builder.styles.of(label, None, None);
    let hatch = builder.styles.hatch(label);
    Some(Part { name: label.to_owned(), colour, hatch, value: estimate.mean, interval: estimate.half_width })
}
