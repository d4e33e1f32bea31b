//! From a claim and the runs to a verdict.

use super::claims::{Claim, Variant};
use super::expression::{Data, Evaluated, Scope};
use super::judged::{Judged, JudgedVariant, Verdict};
use super::results::Estimate;
use super::scale::Scale;
use std::sync::Arc;
use xoff_scenario::diagnostic::Diagnostic;
use xoff_scenario::number::brief;
use xoff_scenario::reader::Text;

/// More numbers than this are shown as their range.
const MOST_SHOWN: usize = 6;

/// What the two clauses of a claim came to.
struct Clauses {
    values: Vec<Estimate>,
    direction: Option<bool>,
    in_range: Option<bool>,
    seeds_agree: Option<(usize, usize)>,
}

/// Judges a claim by the runs of a scale.
pub fn judge(claim: &Claim, data: &Arc<Data>, scale: Scale) -> Result<Judged, Diagnostic> {
    let experiment = claim.experiment.value.as_str();
    let main = match scale.index() < claim.from_scale.index() {
        true => None,
        false => clauses(claim.value.as_ref(), claim.direction.as_ref(), claim.range, data, experiment)?,
    };
    let mut variants = Vec::new();
    for variant in &claim.variants {
        variants.push(judge_variant(claim, variant, data)?);
    }
    let verdict = main.as_ref().map_or(Verdict::NotRunAtThisScale, verdict);
    let main = main.unwrap_or(Clauses { values: Vec::new(), direction: None, in_range: None, seeds_agree: None });
    Ok(Judged {
        id: claim.id.value.clone(),
        experiment: experiment.to_owned(),
        says: claim.says.clone(),
        paper: claim.paper.clone(),
        ours: shown(&main.values, &claim.unit),
        values: main.values,
        unit: claim.unit.clone(),
        verdict,
        direction: main.direction,
        in_range: main.in_range,
        range: claim.range,
        seeds_agree: main.seeds_agree,
        tolerance: claim.tolerance.clone(),
        diagnosis: if verdict == Verdict::Holds { String::new() } else { claim.diagnosis.clone() },
        variants,
    })
}

fn judge_variant(claim: &Claim, variant: &Variant, data: &Arc<Data>) -> Result<JudgedVariant, Diagnostic> {
    let range = claim.range.filter(|_| variant.value.is_some());
    let found = clauses(variant.value.as_ref(), variant.direction.as_ref(), range, data, &claim.experiment.value)?;
    Ok(JudgedVariant {
        under: variant.under.clone(),
        ours: found.as_ref().map(|found| shown(&found.values, &claim.unit)).unwrap_or_default(),
        verdict: found.as_ref().map_or(Verdict::NotRunAtThisScale, verdict),
    })
}

fn verdict(clauses: &Clauses) -> Verdict {
    match (clauses.direction, clauses.in_range) {
        (Some(false), _) | (None, Some(false)) => Verdict::DoesNotHold,
        (Some(true), Some(false)) => Verdict::HoldsInDirection,
        _ => Verdict::Holds,
    }
}

/// `None` if they need runs that were not made.
fn clauses(
    value: Option<&Text>,
    direction: Option<&Text>,
    range: Option<(f64, f64)>,
    data: &Arc<Data>,
    experiment: &str,
) -> Result<Option<Clauses>, Diagnostic> {
    let scope = Scope::new(data, experiment);
    let mut values = Vec::new();
    if let Some(text) = value {
        match numbers(&scope, text)? {
            None => return Ok(None),
            Some(means) => values = with_intervals(&scope, text, means),
        }
    }
    let mut truth = None;
    let mut seeds_agree = None;
    if let Some(text) = direction {
        match self::truth(&scope, text)? {
            None => return Ok(None),
            Some(found) => truth = Some(found),
        }
        let seeds = scope.seeds();
        if seeds > 1 {
            let agree = (0..seeds).filter(|&seed| matches!(self::truth(&scope.of_seed(seed), text), Ok(Some(true))));
            seeds_agree = Some((agree.count(), seeds));
        }
    }
    let inside = |(low, high): (f64, f64)| values.iter().all(|value| (low..=high).contains(&value.mean));
    Ok(Some(Clauses { in_range: range.map(inside), values, direction: truth, seeds_agree }))
}

fn failed(text: &Text, why: String) -> Diagnostic {
    text.error("this expression cannot be evaluated").label(why)
}

fn numbers(scope: &Scope, text: &Text) -> Result<Option<Vec<f64>>, Diagnostic> {
    match scope.evaluate(&text.value).map_err(|why| failed(text, why))? {
        Evaluated::NotRun => Ok(None),
        Evaluated::Numbers(numbers) => Ok(Some(numbers)),
        Evaluated::Truth(_) => Err(failed(text, "it yields a truth, and a number is needed".to_owned())),
    }
}

fn truth(scope: &Scope, text: &Text) -> Result<Option<bool>, Diagnostic> {
    match scope.evaluate(&text.value).map_err(|why| failed(text, why))? {
        Evaluated::NotRun => Ok(None),
        Evaluated::Truth(truth) => Ok(Some(truth)),
        Evaluated::Numbers(_) => Err(failed(text, "it yields a number, and a comparison is needed".to_owned())),
    }
}

/// Each number as it follows from the means over seeds, with the interval of its values seed by seed.
fn with_intervals(scope: &Scope, text: &Text, means: Vec<f64>) -> Vec<Estimate> {
    let seeds = scope.seeds();
    let each: Vec<Vec<f64>> = (0..seeds)
        .filter_map(|seed| numbers(&scope.of_seed(seed), text).ok().flatten())
        .filter(|values| values.len() == means.len())
        .collect();
    let estimate = |(index, mean): (usize, &f64)| {
        let of: Vec<f64> = each.iter().map(|values| values[index]).collect();
        let spread = Estimate::of(&of).filter(|estimate| estimate.count > 1);
        Estimate { mean: *mean, half_width: spread.and_then(|estimate| estimate.half_width), count: seeds.max(1) }
    };
    means.iter().enumerate().map(estimate).collect()
}

/// `52.1 ± 3.0 %`; several are separated by commas, many shown as a range.
fn shown(values: &[Estimate], unit: &str) -> String {
    let number = |value: f64| match value {
        v if v == f64::INFINITY => "never".to_owned(),
        v if v.is_nan() => "n/a".to_owned(),
        v => brief(v),
    };
    let one = |value: &Estimate| match value.half_width {
        Some(width) if width.is_finite() && width > 0.0 => format!("{} ± {}", number(value.mean), brief(width)),
        _ => number(value.mean),
    };
    let text = match values {
        [] => return String::new(),
        values if values.len() <= MOST_SHOWN => values.iter().map(one).collect::<Vec<_>>().join(", "),
        values => {
            let of = |f: fn(f64, f64) -> f64| values.iter().map(|value| value.mean).reduce(f).unwrap_or(f64::NAN);
            format!("{} to {} ({} values)", number(of(f64::min)), number(of(f64::max)), values.len())
        }
    };
    if unit.is_empty() { text } else { format!("{text} {unit}") }
}
