//! Claims and deviations as their files state them.

use super::change::value_name;
use super::report_data::Deviation;
use super::scale::Scale;
use super::tolerance::{STATED, Stated};
use xoff_scenario::diagnostic::Diagnostic;
use xoff_scenario::reader::{Result, Table, Text};
use xoff_scenario::tree::{Item, Value};

/// What a paper says, and how to check it.
#[derive(Clone)]
pub struct Claim {
    pub id: Text,
    pub experiment: Text,
    /// In our words.
    pub says: String,
    /// The paper's number, as text; empty if it states none.
    pub paper: String,
    pub unit: String,
    /// Our number, or numbers.
    pub value: Option<Text>,
    /// The weak form: a sign, rank or trend.
    pub direction: Option<Text>,
    /// The strong form: where every number must lie.
    pub range: Option<(f64, f64)>,
    /// Why this range.
    pub tolerance: String,
    pub from_scale: Scale,
    pub diagnosis: String,
    /// Why it is not judged at all: it needs a testbed, say. Empty if it is.
    pub not_judged: String,
    /// Why nothing could make it fail: it is shown, and counts in no percentage. Empty for all others.
    pub cannot_fail: String,
    /// Why the paper's own numbers exclude it: it is shown, and counts in no percentage. Empty for all others.
    pub contradicted: String,
    /// Comparisons of the paper's numbers that show it; all are true.
    pub arithmetic: Vec<Text>,
    pub over_seeds: OverSeeds,
}

/// What a claim's numbers are, of those of its seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverSeeds {
    Mean,
    /// That of all seeds together: a single seed has too few rare events to count.
    Sum,
    /// Where a single seed would decide the mean.
    Median,
    /// In how many of all runs something happened: each seed has 0 or 1.
    Share,
}

const OVER_SEEDS: [(&str, OverSeeds); 4] =
    [("mean", OverSeeds::Mean), ("sum", OverSeeds::Sum), ("median", OverSeeds::Median), ("share", OverSeeds::Share)];

const SCALES: [(&str, Scale); 3] = [("quick", Scale::Quick), ("standard", Scale::Standard), ("full", Scale::Full)];

impl Claim {
    pub fn read(mut table: Table) -> Result<Claim> {
        let id = table.text("id")?;
        let unit = table.text_or("unit", "")?.value;
        let paper = table.items("paper")?.unwrap_or_default();
        let stated = table.take_choice("stated", &STATED)?;
        let tolerance = table.text_or("tolerance", "")?.value;
        let claim = Claim {
            experiment: table.text("experiment")?,
            says: table.text("says")?.value,
            paper: paper_text(&paper, &unit),
            value: table.take_text("value")?,
            direction: table.take_text("direction")?,
            range: accepted(&mut table, stated, &paper, &unit)?,
            tolerance: match stated {
                Some(stated) if tolerance.is_empty() => stated.words().to_owned(),
                Some(stated) => format!("{}; {tolerance}", stated.words()),
                None => tolerance,
            },
            unit,
            from_scale: table.choice_or("from_scale", &SCALES, "quick")?,
            diagnosis: table.text_or("diagnosis", "")?.value,
            not_judged: table.text_or("not_judged", "")?.value,
            cannot_fail: table.text_or("cannot_fail", "")?.value,
            contradicted: table.text_or("contradicted", "")?.value,
            arithmetic: table.take_texts("arithmetic")?.unwrap_or_default(),
            over_seeds: table.choice_or("over_seeds", &OVER_SEEDS, "mean")?,
            id,
        };
        if !claim.not_judged.is_empty() && !claim.cannot_fail.is_empty() {
            return Err(table.error("not_judged", "a claim that is not judged cannot be one that `cannot_fail`"));
        }
        if claim.contradicted.is_empty() != claim.arithmetic.is_empty() {
            return Err(table.place().error(format!(
                "the claim `{}` needs both `contradicted`, the reason, and `arithmetic` that shows it",
                claim.id.value
            )));
        }
        if claim.direction.is_none() && claim.range.is_none() && claim.not_judged.is_empty() {
            let error = table.place().error(format!("the claim `{}` cannot be checked", claim.id.value));
            return Err(
                error.label("it needs a `direction`, a `value` with its `range`, or `not_judged` with the reason")
            );
        }
        if claim.range.is_some() && claim.value.is_none() {
            return Err(table.error("range", "a `range` needs a `value` that should lie in it"));
        }
        table.finish()?;
        Ok(claim)
    }
}

fn number(item: &Item) -> Option<f64> {
    match item.value {
        Value::Float(number) => Some(number),
        Value::Integer(Ok(number)) => Some(number as f64),
        _ => None,
    }
}

/// Where a claim's numbers must lie: by the rule for numbers stated so, or narrower where the claim says it.
fn accepted(table: &mut Table, stated: Option<Stated>, paper: &[Item], unit: &str) -> Result<Option<(f64, f64)>> {
    let own = read_range(table)?;
    let Some(stated) = stated else { return Ok(own) };
    let numbers = || paper.iter().flat_map(paper_numbers);
    let (low, high) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
    if low > high && stated != Stated::Fair {
        return Err(table.error("stated", "`stated` needs a number under `paper`"));
    }
    let whole = if unit == "%" { Some(100.0) } else { unit.starts_with("of ").then_some(1.0) };
    let rule = stated.range(low, high, whole);
    match own {
        Some((from, to)) if from < rule.0 || to > rule.1 => {
            let error = table.error("range", "this range is wider than the rule for numbers that are stated so");
            Err(error.label(format!("the rule accepts {} to {}", rule.0, rule.1)))
        }
        own => Ok(Some(own.unwrap_or(rule))),
    }
}

/// The numbers of `12.5`, or of `at least 53`.
fn paper_numbers(item: &Item) -> Vec<f64> {
    match &item.value {
        Value::Text(text) => text.split_whitespace().filter_map(|word| word.parse().ok()).collect(),
        _ => number(item).into_iter().collect(),
    }
}

fn read_range(table: &mut Table) -> Result<Option<(f64, f64)>> {
    let Some(items) = table.items("range")? else { return Ok(None) };
    let ends: Vec<f64> = items.iter().filter_map(number).collect();
    match ends[..] {
        [low, high] if items.len() == 2 && low <= high => Ok(Some((low, high))),
        _ => Err(table.error("range", "`range` is two numbers, the low one first").label("such as [23, 85]")),
    }
}

/// `47 %`, `16.1 to 25.5 %`, or a text as it is.
fn paper_text(items: &[Item], unit: &str) -> String {
    let text = items.iter().map(|item| value_name(&item.value)).collect::<Vec<_>>().join(" to ");
    if unit.is_empty() || text.is_empty() || text.ends_with(unit) { text } else { format!("{text} {unit}") }
}

const KINDS: [(&str, &str); 3] =
    [("assumption", "assumption"), ("departure", "departure"), ("alternative", "alternative")];

pub fn read_deviation(mut table: Table) -> Result<(Text, Vec<Text>, Deviation)> {
    let id = table.text("id")?;
    let experiments = table.texts("experiments")?;
    let text = |table: &mut Table, key: &str| Ok::<_, Diagnostic>(table.text(key)?.value);
    let deviation = Deviation {
        id: id.value.clone(),
        experiments: experiments.iter().map(|text| text.value.clone()).collect(),
        kind: table.choice("kind", &KINDS)?.to_owned(),
        topic: text(&mut table, "topic")?,
        paper: text(&mut table, "paper")?,
        ours: text(&mut table, "ours")?,
        why: text(&mut table, "why")?,
        effect: text(&mut table, "effect")?,
    };
    table.finish()?;
    Ok((id, experiments, deviation))
}
