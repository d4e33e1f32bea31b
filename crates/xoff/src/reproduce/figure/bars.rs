//! Bars: grouped along an axis or by measure, side by side or stacked.

use super::builder::{Builder, View};
use super::series::{Kind, Series, What};
use crate::reproduce::results::{Cell, Estimate, Run};
use xoff_results::figures::chart::{Bar, Part};

/// Adds the bars of a series to those of a panel.
pub fn of_series(
    builder: &mut Builder<'_>,
    series: &Series,
    view: &View<'_>,
    bars: &mut Vec<Bar>,
) -> Result<(), String> {
    let What::Numbers { list, named } = &series.what else { return Err("bars show numbers".into()) };
    let alone = builder.spec.series.len() == 1;
    let several = list.len() > 1;
    let places = match view.over {
        Some(over) => view.choices(&[over]),
        None => vec![Vec::new()],
    };
    // One bar per scheme along x: each has its scheme's colour, and needs no legend.
    let schemes_along = alone && !several && view.by.is_empty() && view.over_schemes();
    for place in &places {
        for choice in view.choices(&view.by) {
            let whole = [&choice[..], &place[..]].concat();
            let Some(cell) = view.picked.cell(&whole)? else { continue };
            let over = place.last().map(|at| view.picked.value(*at).name.clone());
            if builder.spec.kind == Kind::Stacked {
                let label = view.label(series, &choice, "")?;
                let (group, name) = match over {
                    Some(over) => (over, label),
                    None => (label, String::new()),
                };
                let slot = builder.slot(&name);
                let parts = list.iter().filter_map(|(measure, name)| {
                    let estimate = cell.estimate(measure)?;
                    Some(part(builder, estimate, name))
                });
                let mut parts: Vec<Part> = parts.collect();
                // Layers add up, so the interval is the sum's.
                let sum = total(cell, list);
                for part in &mut parts {
                    part.interval = None;
                }
                if let (Some(last), Some(sum)) = (parts.last_mut(), sum) {
                    builder.seen_estimate(&sum);
                    last.interval = sum.half_width;
                }
                let group = builder.group(&group);
                builder.meet(series, (view, &whole), None, (None, Some((group, slot))));
                bars.push(Bar { group, slot, name, parts });
                continue;
            }
            for (measure, name) in list {
                // Groups along x: an axis, else the measures, else what distinguishes the bars.
                let (group, label, shown, by_scheme) = match &over {
                    Some(over) if schemes_along => (over.clone(), over.clone(), false, true),
                    Some(over) if several => (over.clone(), name.clone(), true, false),
                    Some(over) => (over.clone(), view.label(series, &choice, name)?, true, true),
                    None if *named => (name.clone(), view.label(series, &choice, "")?, true, true),
                    None if alone => {
                        let label = view.label(series, &choice, name)?;
                        (label.clone(), label, false, true)
                    }
                    None => {
                        let label = series.label.clone().filter(|label| !label.contains('{'));
                        (view.names(&choice), label.unwrap_or_else(|| name.clone()), true, false)
                    }
                };
                // Bars that the legend tells apart by something else have no scheme's colour.
                let named = if schemes_along { place } else { &choice };
                builder.wish(series, view, named, &label, by_scheme);
                let Some(estimate) = view.estimate(series, cell, measure)? else { continue };
                builder.seen_estimate(&estimate);
                let mut part = part(builder, estimate, &label);
                let slot = if shown { builder.slot(&label) } else { 0 };
                if !shown {
                    part.name.clear();
                }
                let group = builder.group(&group);
                builder.meet(series, (view, &whole), Some(measure), (Some(part.colour), Some((group, slot))));
                bars.push(Bar { group, slot, name: String::new(), parts: vec![part] });
            }
        }
    }
    Ok(())
}

fn part(builder: &mut Builder<'_>, estimate: Estimate, label: &str) -> Part {
    if estimate.mean == f64::INFINITY {
        builder.seen_never();
    }
    let colour = builder.styles.of(label, None, None).colour;
    let hatch = builder.styles.hatch(label);
    Part { name: label.to_owned(), colour, hatch, value: estimate.mean, interval: estimate.half_width }
}

/// The sum of the layers over the seeds.
fn total(cell: &Cell, list: &[(String, String)]) -> Option<Estimate> {
    let sum = |run: &Run| {
        let values = list.iter().filter_map(|(measure, _)| run.measured.numbers.get(measure));
        values.filter(|value| !value.is_nan()).sum::<f64>()
    };
    Estimate::of(&cell.seeds.iter().map(sum).collect::<Vec<_>>())
}
