//! From a claim and the runs to a verdict.

use super::claims::Claim;
use super::expression::{Data, Evaluated, Scope};
use super::report_data::{ClaimResult, Seeds, Verdict};
use super::results::Estimate;
use super::scale::Scale;
use std::sync::Arc;
use xoff_scenario::diagnostic::Diagnostic;
use xoff_scenario::number::brief;
use xoff_scenario::reader::Text;

/// More numbers than this are shown as their range.
const MOST_SHOWN: usize = 6;

/// What the two clauses of a claim came to.
#[derive(Default)]
struct Clauses {
    values: Vec<Estimate>,
    direction: Option<bool>,
    in_range: Option<bool>,
    seeds: Option<Seeds>,
}

/// Judges a claim by the runs of a scale.
pub fn judge(claim: &Claim, data: &Arc<Data>, scale: Scale) -> Result<ClaimResult, Diagnostic> {
    let found = match scale.index() < claim.from_scale.index() {
        true => None,
        false => clauses(claim, data)?,
    };
    let verdict = match &found {
        _ if !claim.not_judged.is_empty() => Verdict::NotJudged,
        None => Verdict::NotRunAtThisScale,
        Some(found) => verdict(found),
    };
    let found = found.unwrap_or_default();
    Ok(ClaimResult {
        id: claim.id.value.clone(),
        experiment: claim.experiment.value.clone(),
        says: claim.says.clone(),
        paper: claim.paper.clone(),
        ours: shown(&found.values, &claim.unit),
        values: found.values,
        unit: claim.unit.clone(),
        verdict,
        direction: found.direction,
        in_range: found.in_range,
        range: claim.range,
        seeds: found.seeds,
        tolerance: claim.tolerance.clone(),
        diagnosis: match verdict {
            Verdict::NotJudged => claim.not_judged.clone(),
            Verdict::Holds => String::new(),
            _ => claim.diagnosis.clone(),
        },
        cannot_fail: claim.cannot_fail.clone(),
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
fn clauses(claim: &Claim, data: &Arc<Data>) -> Result<Option<Clauses>, Diagnostic> {
    let scope = Scope::new(data, &claim.experiment.value);
    let mut found = Clauses::default();
    // The numbers seed by seed; `None` where a seed yields none.
    let mut each: Vec<Option<Vec<f64>>> = Vec::new();
    if let Some(text) = &claim.value {
        let Some(means) = numbers(&scope, text)? else { return Ok(None) };
        found.in_range = claim.range.map(|range| inside(range, &means));
        each = (0..scope.seeds()).map(|seed| numbers(&scope.of_seed(seed), text).ok().flatten()).collect();
        found.values = with_intervals(&each, means);
    }
    if let Some(text) = &claim.direction {
        match truth(&scope, text)? {
            None => return Ok(None),
            Some(truth) => found.direction = Some(truth),
        }
    }
    if scope.seeds() > 1 && !claim.pooled {
        let seeds = by_seed(claim, &scope, &each);
        // What is true of the mean only because of a few seeds is not true.
        let most = |clause: &mut Option<bool>, agree: Option<usize>| {
            *clause = clause.map(|holds| holds && agree.is_some_and(|agree| 2 * agree > seeds.count));
        };
        most(&mut found.direction, seeds.direction);
        most(&mut found.in_range, seeds.in_range);
        found.seeds = Some(seeds);
    }
    Ok(Some(found))
}

fn inside((low, high): (f64, f64), values: &[f64]) -> bool {
    values.iter().all(|value| (low..=high).contains(value))
}

/// In how many seeds each clause holds by itself. Where a seed yields no number, it does not.
fn by_seed(claim: &Claim, scope: &Scope, each: &[Option<Vec<f64>>]) -> Seeds {
    let count = scope.seeds();
    let true_in = |text: &Text| {
        let is_true = |&seed: &usize| matches!(truth(&scope.of_seed(seed), text), Ok(Some(true)));
        (0..count).filter(is_true).count()
    };
    let inside_in = |range| each.iter().flatten().filter(|values| inside(range, values)).count();
    Seeds { count, direction: claim.direction.as_ref().map(true_in), in_range: claim.range.map(inside_in) }
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
fn with_intervals(each: &[Option<Vec<f64>>], means: Vec<f64>) -> Vec<Estimate> {
    let alike: Vec<&Vec<f64>> = each.iter().flatten().filter(|values| values.len() == means.len()).collect();
    let estimate = |(index, mean): (usize, &f64)| {
        let of: Vec<f64> = alike.iter().map(|values| values[index]).collect();
        let spread = Estimate::of(&of).filter(|estimate| estimate.count > 1);
        Estimate { mean: *mean, half_width: spread.and_then(|estimate| estimate.half_width), count: each.len().max(1) }
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
    let one = |value: &Estimate| if value.mean.is_finite() { value.text(brief) } else { number(value.mean) };
    // What has no number has no unit: it follows the last that has one.
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let Some(last) = values.iter().rposition(|value| value.mean.is_finite()) else {
        return values.iter().map(one).collect::<Vec<_>>().join(", ");
    };
    if values.len() <= MOST_SHOWN {
        let with_unit = |(at, value): (usize, &Estimate)| if at == last { one(value) + &unit } else { one(value) };
        return values.iter().enumerate().map(with_unit).collect::<Vec<_>>().join(", ");
    }
    let of = |f: fn(f64, f64) -> f64| values.iter().map(|value| value.mean).reduce(f).unwrap_or(f64::NAN);
    format!("{} to {} ({} values){unit}", number(of(f64::min)), number(of(f64::max)), values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_happens_has_no_unit() {
        let of = |mean, half_width| Estimate { mean, half_width, count: 3 };
        assert_eq!(shown(&[of(f64::INFINITY, None)], "ms"), "never");
        let some = [of(3.0, None), of(18.4, Some(0.82)), of(f64::INFINITY, None)];
        assert_eq!(shown(&some, "ms"), "3.00, 18.4 ± 0.8 ms, never");
        assert_eq!(shown(&some[..2], "ms"), "3.00, 18.4 ± 0.8 ms");
        assert_eq!((shown(&some[..1], "").as_str(), shown(&[], "ms").as_str()), ("3.00", ""));
    }
}
