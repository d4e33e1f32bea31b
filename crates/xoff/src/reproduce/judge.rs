//! From a claim and the runs to a verdict.

use super::claims::{Claim, OverSeeds};
use super::expression::{Data, Evaluated, Scope};
use super::report_data::{Answer, ClaimResult, Seeds, Verdict};
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
    direction: Option<Answer>,
    in_range: Option<Answer>,
    seeds: Option<Seeds>,
}

/// What several seeds are judged by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Their intervals and how many agree: a claim may stay undecided.
    Intervals,
    /// Their means alone: to rank combinations of choices that have too few seeds each.
    Means,
}

/// Judges a claim by the runs of a scale.
pub fn judge(claim: &Claim, data: &Arc<Data>, scale: Scale, by: By) -> Result<ClaimResult, Diagnostic> {
    check_arithmetic(claim, data)?;
    let found = match scale.index() < claim.from_scale.index() {
        true => None,
        false => clauses(claim, data, by)?,
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
        seeds_needed: (verdict == Verdict::Undecided).then(|| seeds_needed(claim, &found)),
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
        contradicted: claim.contradicted.clone(),
        arithmetic: claim.arithmetic.iter().map(|text| text.value.clone()).collect(),
    })
}

/// What is said to contradict a claim must be true.
fn check_arithmetic(claim: &Claim, data: &Arc<Data>) -> Result<(), Diagnostic> {
    let scope = Scope::new(data, &claim.experiment.value);
    for text in &claim.arithmetic {
        if truth(&scope, text)? != Some(true) {
            return Err(failed(text, "this comparison is not true".to_owned()));
        }
    }
    Ok(())
}

fn verdict(clauses: &Clauses) -> Verdict {
    match (clauses.direction, clauses.in_range) {
        (Some(Answer::False), _) | (None, Some(Answer::False)) => Verdict::DoesNotHold,
        (Some(Answer::Open), _) | (_, Some(Answer::Open)) => Verdict::Undecided,
        (Some(Answer::True), Some(Answer::False)) => Verdict::HoldsInDirection,
        _ => Verdict::Holds,
    }
}

/// `None` if they need runs that were not made.
fn clauses(claim: &Claim, data: &Arc<Data>, by: By) -> Result<Option<Clauses>, Diagnostic> {
    let scope = Scope::new(data, &claim.experiment.value);
    let mut found = Clauses::default();
    // The numbers seed by seed; `None` where a seed yields none.
    let mut each: Vec<Option<Vec<f64>>> = Vec::new();
    if let Some(text) = &claim.value {
        let Some(means) = numbers(&scope, text)? else { return Ok(None) };
        each = (0..scope.seeds()).map(|seed| numbers(&scope.of_seed(seed), text).ok().flatten()).collect();
        found.values = match claim.over_seeds {
            OverSeeds::Mean => with_intervals(&each, means),
            OverSeeds::Sum => together(&scope, text, means),
            OverSeeds::Median => each_over_seeds(&each, means, Estimate::of_median),
            OverSeeds::Share => each_over_seeds(&each, means, Estimate::of_share),
        };
    }
    let mut direction = None;
    if let Some(text) = &claim.direction {
        match truth(&scope, text)? {
            None => return Ok(None),
            is_true => direction = is_true,
        }
    }
    let several = by == By::Intervals && scope.seeds() > 1;
    let seeds = several.then(|| by_seed(claim, &scope, &each));
    found.in_range = claim.range.map(|range| match (&seeds, claim.over_seeds) {
        (None, _) => Answer::of(found.values.iter().all(|value| is_inside(range, value.mean))),
        (Some(seeds), over) => match range_answer(range, &found.values, over) {
            // What is true of the mean only because of a few seeds is not true.
            Answer::True if over == OverSeeds::Mean => Answer::of(seeds.in_range.is_some_and(|n| 2 * n > seeds.count)),
            answer => answer,
        },
    });
    found.direction = direction.map(|is_true| match (&seeds, claim.over_seeds, &claim.direction) {
        (Some(seeds), OverSeeds::Sum, Some(text)) => {
            let same = |seed| matches!(truth(&scope.without_seed(seed), text), Ok(Some(own)) if own == is_true);
            if (0..seeds.count).all(same) { Answer::of(is_true) } else { Answer::Open }
        }
        (Some(seeds), over, _) => {
            let agree = seeds.direction.unwrap_or(0);
            direction_answer(is_true || over == OverSeeds::Median && 2 * agree > seeds.count, agree, seeds.count)
        }
        (None, ..) => Answer::of(is_true),
    });
    found.seeds = seeds.filter(|_| !matches!(claim.over_seeds, OverSeeds::Sum | OverSeeds::Share));
    Ok(Some(found))
}

fn is_inside((low, high): (f64, f64), value: f64) -> bool {
    (low..=high).contains(&value)
}

/// Whether the numbers are in the range: their intervals are within it, or one is beyond it; otherwise the answer is open.
fn range_answer(range: (f64, f64), values: &[Estimate], over: OverSeeds) -> Answer {
    let one = |value: &Estimate| match value.half_width {
        Some(half) => {
            let (low, high) = (value.mean - half, value.mean + half);
            match (is_inside(range, low) && is_inside(range, high), high < range.0 || low > range.1) {
                (true, _) => Answer::True,
                (_, true) => Answer::False,
                _ => Answer::Open,
            }
        }
        // A median of few values has no interval; what never happens in any seed has none either.
        None if over == OverSeeds::Median && value.mean.is_finite() => Answer::Open,
        None => Answer::of(is_inside(range, value.mean)),
    };
    let answers: Vec<Answer> = values.iter().map(one).collect();
    // The first of these that any number gives decides.
    let worst = [Answer::False, Answer::Open].into_iter().find(|answer| answers.contains(answer));
    worst.unwrap_or(Answer::True)
}

/// Within 1.96 standard deviations are 95 % of a normal distribution; their square.
const Z_SQUARED: f64 = 3.841;

/// The share of seeds that agree less the share of the others: 1 if all agree, -1 if none does.
fn lead(agree: usize, count: usize) -> f64 {
    2.0 * agree as f64 / count as f64 - 1.0
}

/// Whether a direction is true: in the mean and in all seeds, or in so many that 95 % of coins would not agree so.
fn direction_answer(is_true: bool, agree: usize, count: usize) -> Answer {
    let decided = agree == 0 || agree == count || lead(agree, count).powi(2) * count as f64 > Z_SQUARED;
    match (is_true, 2 * agree > count) {
        (true, true) if decided => Answer::True,
        (false, false) if decided => Answer::False,
        // Few seeds against all others, which the mean follows.
        _ => Answer::Open,
    }
}

/// Seeds after which intervals would be small enough, or agreement large enough, if further seeds are like these.
fn seeds_needed(claim: &Claim, found: &Clauses) -> u64 {
    const MOST: f64 = 1e6;
    let mut needed = 0.0_f64;
    if let (Some(Answer::Open), Some((low, high))) = (found.in_range, claim.range) {
        for value in &found.values {
            let Some(half) = value.half_width else {
                needed = needed.max(6.0);
                continue;
            };
            let margin = [low, high].map(|bound| (value.mean - bound).abs()).into_iter().fold(f64::INFINITY, f64::min);
            if half > margin {
                needed = needed.max(value.count as f64 * (half / margin).powi(2));
            }
        }
    }
    if let (Some(Answer::Open), Some(Seeds { count, direction: Some(agree), .. })) = (found.direction, found.seeds) {
        needed = needed.max((Z_SQUARED / lead(agree, count).powi(2)).max(count as f64 + 1.0));
    }
    needed.min(MOST).ceil() as u64
}

/// In how many seeds each clause holds by itself. Where a seed yields no number, it does not.
fn by_seed(claim: &Claim, scope: &Scope, each: &[Option<Vec<f64>>]) -> Seeds {
    let count = scope.seeds();
    let true_in = |text: &Text| {
        let is_true = |&seed: &usize| matches!(truth(&scope.of_seed(seed), text), Ok(Some(true)));
        (0..count).filter(is_true).count()
    };
    let is_in = |range, values: &&Vec<f64>| values.iter().all(|&value| is_inside(range, value));
    let inside_in = |range| each.iter().flatten().filter(|values| is_in(range, values)).count();
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

/// One of a claim's numbers in all seeds that have as many of them.
fn over_seeds(each: &[Option<Vec<f64>>], index: usize, numbers: usize) -> Vec<f64> {
    each.iter().flatten().filter(|values| values.len() == numbers).map(|values| values[index]).collect()
}

/// Each number as it follows from the means over seeds, with the interval of its values seed by seed.
fn with_intervals(each: &[Option<Vec<f64>>], means: Vec<f64>) -> Vec<Estimate> {
    let estimate = |(index, mean): (usize, &f64)| {
        let of = over_seeds(each, index, means.len());
        let spread = Estimate::of(&of).filter(|estimate| estimate.count > 1);
        Estimate { mean: *mean, half_width: spread.and_then(|estimate| estimate.half_width), count: each.len().max(1) }
    };
    means.iter().enumerate().map(estimate).collect()
}

/// Each number as it follows from all seeds together.
fn together(scope: &Scope, text: &Text, whole: Vec<f64>) -> Vec<Estimate> {
    let count = scope.seeds();
    let without = |seed| numbers(&scope.without_seed(seed), text).ok().flatten().filter(|own| own.len() == whole.len());
    let without: Option<Vec<Vec<f64>>> = (0..count).map(without).collect();
    let of = |index: usize| without.iter().flatten().map(|own| own[index]).collect::<Vec<f64>>();
    whole.iter().enumerate().map(|(index, &mean)| Estimate { count, ..Estimate::of_all(mean, &of(index)) }).collect()
}

/// The median over seeds of each number, or the share of seeds.
fn each_over_seeds(
    each: &[Option<Vec<f64>>],
    means: Vec<f64>,
    estimate: fn(&[f64]) -> Option<Estimate>,
) -> Vec<Estimate> {
    let of_number = |(index, &mean): (usize, &f64)| {
        let of = over_seeds(each, index, means.len());
        estimate(&of).unwrap_or(Estimate { mean, half_width: None, count: each.len().max(1) })
    };
    means.iter().enumerate().map(of_number).collect()
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
