//! The expressions of claims: Jinja expressions over the numbers and curves of runs.

use super::results::{Cell, Estimate, Group, Results, Run};
use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use xoff_scenario::measure::Curve;
use xoff_scenario::measure::metrics::jain_index;

/// What expressions may ask about: results by experiment, and what other scales would have.
pub struct Data {
    pub results: Arc<BTreeMap<String, Results>>,
    /// Axis values that exist at some scale: (experiment, group, axis, value).
    pub known: Vec<(String, String, String, String)>,
    /// Groups that exist at some scale.
    pub groups: Vec<(String, String)>,
    /// Nothing was run: only names and forms are tried.
    pub rehearsal: bool,
}

/// Expressions bound to their experiment.
pub struct Scope(Arc<Look>);

/// What came of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluated {
    Numbers(Vec<f64>),
    Truth(bool),
    /// Not evaluated: needs runs that this scale leaves out.
    NotRun,
}

impl Scope {
    /// Over means of seeds.
    pub fn new(data: &Arc<Data>, experiment: &str) -> Scope {
        Scope::with(data, experiment, Taken::All)
    }

    fn with(data: &Arc<Data>, experiment: &str, seed: Taken) -> Scope {
        let (data, experiment) = (data.clone(), experiment.to_owned());
        Scope(Arc::new(Look { data, experiment, seed, not_run: AtomicBool::default(), seeds: AtomicUsize::default() }))
    }

    /// Scope of one seed.
    pub fn of_seed(&self, seed: usize) -> Scope {
        Scope::with(&self.0.data, &self.0.experiment, Taken::One(seed))
    }

    /// Over means of all seeds but one.
    pub fn without_seed(&self, seed: usize) -> Scope {
        Scope::with(&self.0.data, &self.0.experiment, Taken::AllBut(seed))
    }

    /// The most seeds of any cell that the expressions so far asked for.
    pub fn seeds(&self) -> usize {
        self.0.seeds.load(Ordering::Relaxed)
    }

    pub fn evaluate(&self, text: &str) -> Result<Evaluated, String> {
        self.0.not_run.store(false, Ordering::Relaxed);
        not_too_deep(text)?;
        if chained_comparison(text) {
            return Err("a comparison such as a < b < c means something else here; write a < b and b < c".to_owned());
        }
        let environment = self.environment();
        let compiled = environment.compile_expression(text).map_err(|error| words(&error))?;
        match compiled.eval(()) {
            Ok(_) | Err(_) if self.0.not_run.load(Ordering::Relaxed) => Ok(Evaluated::NotRun),
            Ok(value) => evaluated(&value),
            Err(error) => Err(words(&error)),
        }
    }

    fn environment(&self) -> Environment<'static> {
        let mut environment = Environment::empty();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let at = self.0.clone();
        environment.add_function("m", move |name: String, axes: Kwargs| at.one(&name, &axes));
        let at = self.0.clone();
        environment.add_function("all", move |name: String, axes: Kwargs| at.all(&name, &axes));
        let at = self.0.clone();
        environment.add_function("seeds", move |name: String, axes: Kwargs| at.seeds_of(&name, &axes));
        let at = self.0.clone();
        environment.add_function("xs", move |name: String, axes: Kwargs| at.curve(&name, &axes).map(|c| c.x));
        let at = self.0.clone();
        environment.add_function("ys", move |name: String, axes: Kwargs| at.curve(&name, &axes).map(|c| c.y));
        let at = self.0.clone();
        environment.add_function("axis", move |name: String, axes: Kwargs| at.axis(&name, &axes));
        add_arithmetic(&mut environment);
        environment
    }
}

fn words(error: &Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

fn invalid(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, why.into())
}

fn evaluated(value: &Value) -> Result<Evaluated, String> {
    match value.kind() {
        ValueKind::Bool => Ok(Evaluated::Truth(value.is_true())),
        ValueKind::Number | ValueKind::Seq | ValueKind::Iterable => {
            numbers(value).map(Evaluated::Numbers).map_err(|error| words(&error))
        }
        other => Err(format!("the expression yields {other}, not a number, a list of numbers or a truth")),
    }
}

/// An expression deeper than this is not one that people write, and evaluation recurses.
const DEEPEST: usize = 200;

fn not_too_deep(text: &str) -> Result<(), String> {
    match depth(text) {
        depth if depth > DEEPEST => Err(format!("the expression is {depth} deep, more than {DEEPEST}")),
        _ => Ok(()),
    }
}

/// At most how deep the tree of an expression is: brackets and, between two commas, operators may each be
/// a level of their own.
fn depth(text: &str) -> usize {
    let mut levels = vec![0];
    let (mut sum, mut deepest) = (0usize, 0);
    let mut quote = None;
    let mut word = String::new();
    let mut chars = text.chars().chain([' ']);
    while let Some(c) = chars.next() {
        if let Some(open) = quote {
            match c {
                '\\' => drop(chars.next()),
                c if c == open => quote = None,
                _ => {}
            }
            continue;
        }
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let operator = matches!(word.as_str(), "not" | "and" | "or" | "if" | "else" | "in" | "is");
        word.clear();
        let more = usize::from(operator) + usize::from("+-*/%~<>=!|.".contains(c));
        let top = levels.len() - 1;
        (levels[top], sum) = (levels[top] + more, sum + more);
        match c {
            '\'' | '"' => quote = Some(c),
            '(' | '[' | '{' => {
                levels.push(1);
                sum += 1;
            }
            // What was called or indexed is one level deeper than before.
            ')' | ']' | '}' if top > 0 => {
                sum = sum - levels[top] + 1;
                levels.pop();
                levels[top - 1] += 1;
            }
            ',' => {
                let least = usize::from(top > 0);
                sum = sum - levels[top] + least;
                levels[top] = least;
            }
            _ => {}
        }
        deepest = deepest.max(sum);
    }
    deepest
}

/// Two comparisons in a row at the same depth of parentheses, with no `and`, `or` or comma between them.
fn chained_comparison(text: &str) -> bool {
    let mut depth = 0usize;
    let mut since = vec![false];
    let mut quote = None;
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i] as char;
        if let Some(open) = quote {
            if c == open {
                quote = None;
            }
        } else {
            match c {
                '\'' | '"' => quote = Some(c),
                '(' | '[' => {
                    depth += 1;
                    since.push(false);
                }
                ')' | ']' if depth > 0 => {
                    depth -= 1;
                    since.pop();
                }
                ',' => since[depth] = false,
                '<' | '>' => {
                    if since[depth] {
                        return true;
                    }
                    since[depth] = true;
                }
                _ if c.is_ascii_alphabetic() => {
                    let end =
                        text[i..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(text.len(), |n| i + n);
                    if matches!(&text[i..end], "and" | "or" | "not" | "if" | "else") {
                        since[depth] = false;
                    }
                    i = end - 1;
                }
                _ => {}
            }
        }
        i += 1;
    }
    false
}

/// The seeds that numbers are taken from.
#[derive(Clone, Copy)]
enum Taken {
    /// Their mean.
    All,
    One(usize),
    /// The mean of the others.
    AllBut(usize),
}

/// Looks up runs for one expression.
struct Look {
    data: Arc<Data>,
    experiment: String,
    seed: Taken,
    /// Whether it asked for something that this scale does not run.
    not_run: AtomicBool,
    /// The most seeds of any cell it asked for.
    seeds: AtomicUsize,
}

type Wanted = Vec<(usize, Vec<usize>)>;

impl Look {
    /// Says that the claim needs more than this scale runs.
    fn missing(&self) -> Error {
        self.not_run.store(true, Ordering::Relaxed);
        invalid("not run at this scale")
    }

    /// The group that is meant, and which values of its axes are wanted.
    fn find<'a>(&'a self, measure: Option<&str>, axes: &Kwargs) -> Result<(&'a Group, Wanted), Error> {
        let mut experiment = self.experiment.clone();
        let mut group_name = None;
        let mut wanted_values: Vec<(String, Vec<String>)> = Vec::new();
        for name in axes.args() {
            let value: Value = axes.get(name)?;
            match name {
                "experiment" => experiment = value.to_string(),
                "runs" => group_name = Some(value.to_string()),
                _ => {
                    let values = match value.kind() {
                        ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.map(|v| v.to_string()).collect(),
                        _ => vec![value.to_string()],
                    };
                    wanted_values.push((name.to_owned(), values));
                }
            }
        }
        let results = self.data.results.get(&experiment);
        let results = results.ok_or_else(|| invalid(format!("there are no results of `{experiment}`")))?;
        let group = match (&group_name, measure) {
            (Some(name), _) => {
                let known = self.data.groups.iter().any(|(e, g)| *e == experiment && g == name);
                results.group(name).ok_or_else(|| {
                    if known { self.missing() } else { invalid(format!("`{experiment}` has no runs `{name}`")) }
                })?
            }
            (None, Some(measure)) => match results.group_with(measure, None) {
                Some(group) => group,
                // All its groups may be left out at this scale.
                None if results.groups.iter().all(|group| group.cells.iter().all(|cell| cell.seeds.is_empty())) => {
                    return Err(self.missing());
                }
                None => return Err(invalid(format!("`{experiment}` measures no `{measure}`{}", measured(results)))),
            },
            (None, None) => results.groups.first().ok_or_else(|| self.missing())?,
        };
        if let Some(measure) = measure
            && !group.measures(measure)
        {
            if group.cells.iter().all(|cell| cell.seeds.is_empty()) {
                return Err(self.missing());
            }
            return Err(invalid(format!("`{experiment}` measures no `{measure}`{}", measured(results))));
        }
        let mut wanted = Vec::new();
        for (name, values) in wanted_values {
            let (index, axis) = group.axis(&name).ok_or_else(|| {
                let names: Vec<&str> = group.axes.iter().map(|axis| axis.name.as_str()).collect();
                invalid(format!("the runs have no axis `{name}`; they have {}", names.join(", ")))
            })?;
            let mut indices = Vec::new();
            for value in values {
                let number: Option<f64> = value.parse().ok();
                let same = |known: &super::results::AxisValue| {
                    known.name == value || (number.is_some() && known.number == number)
                };
                match axis.values.iter().position(same) {
                    Some(index) => indices.push(index),
                    None => {
                        let known = self.data.known.iter().any(|(e, g, a, v)| {
                            *e == experiment
                                && *g == group.name
                                && *a == name
                                && (*v == value || number.is_some() && v.parse().ok() == number)
                        });
                        let names: Vec<&str> = axis.values.iter().map(|value| value.name.as_str()).collect();
                        return Err(if known {
                            self.missing()
                        } else {
                            invalid(format!("the axis `{name}` has no value `{value}`; it has {}", names.join(", ")))
                        });
                    }
                }
            }
            wanted.push((index, indices));
        }
        Ok((group, wanted))
    }

    fn cells<'a>(&'a self, measure: &str, axes: &Kwargs) -> Result<Vec<&'a Cell>, Error> {
        let (group, wanted) = self.find(Some(measure), axes)?;
        let fits = |cell: &&Cell| wanted.iter().all(|(axis, values)| values.contains(&cell.at[*axis]));
        let mut cells: Vec<&Cell> = group.cells.iter().filter(fits).collect();
        // In the order in which the expression lists the values.
        let rank = |cell: &Cell| -> Vec<usize> {
            let of = |axis: usize| {
                let listed = wanted.iter().find(|(at, _)| *at == axis);
                listed.and_then(|(_, values)| values.iter().position(|v| *v == cell.at[axis])).unwrap_or(cell.at[axis])
            };
            (0..cell.at.len()).map(of).collect()
        };
        cells.sort_by_key(|cell| rank(cell));
        if cells.iter().any(|cell| cell.seeds.is_empty()) {
            return Err(self.missing());
        }
        let most = cells.iter().map(|cell| cell.seeds.len()).max().unwrap_or(0);
        self.seeds.fetch_max(most, Ordering::Relaxed);
        Ok(cells)
    }

    fn number(&self, cell: &Cell, measure: &str) -> f64 {
        match self.seed {
            Taken::All => cell.estimate(measure).map_or(f64::NAN, |estimate| estimate.mean),
            Taken::AllBut(seed) => {
                let others = cell.seeds.iter().enumerate().filter(|&(at, _)| at != seed || cell.seeds.len() == 1);
                let values: Vec<f64> =
                    others.filter_map(|(_, run)| run.measured.numbers.get(measure).copied()).collect();
                Estimate::of(&values).map_or(f64::NAN, |estimate| estimate.mean)
            }
            Taken::One(seed) => {
                run_of(cell, seed).and_then(|run| run.measured.numbers.get(measure).copied()).unwrap_or(f64::NAN)
            }
        }
    }

    fn only<'a>(&'a self, measure: &str, axes: &Kwargs) -> Result<&'a Cell, Error> {
        match self.cells(measure, axes)?[..] {
            [cell] => Ok(cell),
            [] => Err(invalid(format!("no run matches m('{measure}', ...)"))),
            _ => Err(invalid(format!("several runs match m('{measure}', ...): name more axes, or use all()"))),
        }
    }

    fn one(&self, measure: &str, axes: &Kwargs) -> Result<f64, Error> {
        let cell = self.only(measure, axes)?;
        Ok(self.number(cell, measure))
    }

    fn all(&self, measure: &str, axes: &Kwargs) -> Result<Vec<f64>, Error> {
        Ok(self.cells(measure, axes)?.into_iter().map(|cell| self.number(cell, measure)).collect())
    }

    fn seeds_of(&self, measure: &str, axes: &Kwargs) -> Result<Vec<f64>, Error> {
        let cell = self.only(measure, axes)?;
        let values = cell.seeds.iter().filter_map(|run| run.measured.numbers.get(measure).copied());
        Ok(values.collect())
    }

    fn curve(&self, measure: &str, axes: &Kwargs) -> Result<Curve, Error> {
        let cell = self.only(measure, axes)?;
        let curves: Vec<&Curve> = cell.seeds.iter().filter_map(|run| run.measured.curves.get(measure)).collect();
        if curves.is_empty() && self.data.rehearsal {
            return Ok(Curve { x: vec![1.0, 2.0], y: vec![1.0, 1.0] });
        }
        let first = curves.first().ok_or_else(|| invalid(format!("`{measure}` is a number, not a curve")))?;
        if let Taken::One(seed) = self.seed {
            let own = run_of(cell, seed).and_then(|run| run.measured.curves.get(measure));
            return own.cloned().ok_or_else(|| invalid(format!("not every seed has the curve `{measure}`")));
        }
        // Means make sense where all seeds have the same x, such as bins of sizes.
        if curves.iter().any(|curve| curve.x != first.x) {
            return Ok((*first).clone());
        }
        let mean = |i: usize| {
            let values: Vec<f64> = curves.iter().map(|curve| curve.y[i]).collect();
            Estimate::of(&values).map_or(f64::NAN, |estimate| estimate.mean)
        };
        Ok(Curve { x: first.x.clone(), y: (0..first.x.len()).map(mean).collect() })
    }

    /// The numbers of an axis's values.
    fn axis(&self, name: &str, axes: &Kwargs) -> Result<Vec<f64>, Error> {
        let (group, _) = self.find(None, axes)?;
        let (_, axis) = group.axis(name).ok_or_else(|| invalid(format!("the runs have no axis `{name}`")))?;
        let number = |value: &super::results::AxisValue| {
            value.number.ok_or_else(|| invalid(format!("`{}` of the axis `{name}` is no number", value.name)))
        };
        axis.values.iter().map(number).collect()
    }
}

/// The run of a cell under the seed of this number. A cell without randomness has one seed, used for all.
fn run_of(cell: &Cell, seed: usize) -> Option<&Run> {
    cell.seeds.get(seed).or_else(|| cell.seeds.first().filter(|_| cell.seeds.len() == 1))
}

fn measured(results: &Results) -> String {
    let mut names: Vec<&str> = Vec::new();
    for run in results.groups.iter().flat_map(|group| &group.cells).flat_map(|cell| cell.seeds.first()) {
        names.extend(run.measured.numbers.keys().chain(run.measured.curves.keys()).map(String::as_str));
    }
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { String::new() } else { format!("; it has {}", names.join(", ")) }
}

/// A number, or each of a list.
fn numbers(value: &Value) -> Result<Vec<f64>, Error> {
    match value.kind() {
        ValueKind::Number => Ok(vec![number(value)?]),
        ValueKind::Bool => Ok(vec![f64::from(u8::from(value.is_true()))]),
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter()?.map(|each| numbers(&each)).collect::<Result<Vec<_>, _>>().map(|lists| lists.concat())
        }
        other => Err(invalid(format!("{other} where numbers are needed"))),
    }
}

fn number(value: &Value) -> Result<f64, Error> {
    f64::try_from(value.clone()).map_err(|_| invalid(format!("`{value}` is no number")))
}

fn truths(value: &Value) -> Result<Vec<bool>, Error> {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => Ok(value.try_iter()?.map(|each| each.is_true()).collect()),
        _ => Ok(vec![value.is_true()]),
    }
}

/// `f` of two numbers, of a list and a number, or of two lists of one length.
fn pairwise<T: Into<Value>>(a: &Value, b: &Value, f: impl Fn(f64, f64) -> T) -> Result<Value, Error> {
    let is_list = |value: &Value| matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    let (left, right) = (numbers(a)?, numbers(b)?);
    if !is_list(a) && !is_list(b) {
        return Ok(f(left[0], right[0]).into());
    }
    let length = if is_list(a) { left.len() } else { right.len() };
    if (is_list(a) && is_list(b)) && left.len() != right.len() {
        return Err(invalid(format!("lists of {} and {} numbers", left.len(), right.len())));
    }
    let pick = |list: &[f64], from: &Value, i: usize| if is_list(from) { list[i] } else { list[0] };
    let each: Vec<Value> = (0..length).map(|i| f(pick(&left, a, i), pick(&right, b, i)).into()).collect();
    Ok(Value::from(each))
}

fn nonempty(list: &Value) -> Result<Vec<f64>, Error> {
    let list = numbers(list)?;
    if list.is_empty() { Err(invalid("an empty list")) } else { Ok(list) }
}

fn add_arithmetic(environment: &mut Environment<'static>) {
    environment.add_function("reduction", |a: Value, b: Value| pairwise(&a, &b, |a, b| 100.0 * (1.0 - a / b)));
    environment.add_function("increase", |a: Value, b: Value| pairwise(&a, &b, |a, b| 100.0 * (a / b - 1.0)));
    environment.add_function("ratio", |a: Value, b: Value| pairwise(&a, &b, |a, b| a / b));
    environment.add_function("diff", |a: Value, b: Value| pairwise(&a, &b, |a, b| a - b));
    environment.add_function("less", |a: Value, b: Value| pairwise(&a, &b, |a, b| a < b));
    environment.add_function("at_most", |a: Value, b: Value| pairwise(&a, &b, |a, b| a <= b));
    environment.add_function("every", |list: Value| truths(&list).map(|list| list.into_iter().all(|x| x)));
    environment.add_function("any", |list: Value| truths(&list).map(|list| list.into_iter().any(|x| x)));
    environment.add_function("share", |list: Value| {
        let list = truths(&list)?;
        if list.is_empty() {
            return Err(invalid("an empty list"));
        }
        Ok(list.iter().filter(|x| **x).count() as f64 / list.len() as f64)
    });
    environment.add_function("max", |list: Rest<Value>| fold(&list, f64::max));
    environment.add_function("min", |list: Rest<Value>| fold(&list, f64::min));
    environment.add_function("sum", |list: Value| numbers(&list).map(|list| list.iter().sum::<f64>()));
    environment.add_function("mean", |list: Value| nonempty(&list).map(|list| mean(&list)));
    environment.add_function("std", |list: Value| nonempty(&list).map(|list| deviation(&list)));
    environment.add_function("spread", |list: Value| {
        let list = nonempty(&list)?;
        Ok::<_, Error>(list.iter().copied().fold(f64::MIN, f64::max) / list.iter().copied().fold(f64::MAX, f64::min))
    });
    environment.add_function("jain", |list: Value| Ok::<_, Error>(jain_index(&nonempty(&list)?).unwrap_or(f64::NAN)));
    environment.add_function("spearman", |xs: Value, ys: Value| {
        let (xs, ys) = (nonempty(&xs)?, nonempty(&ys)?);
        if xs.len() != ys.len() {
            return Err(invalid(format!("lists of {} and {} numbers", xs.len(), ys.len())));
        }
        Ok(spearman(&xs, &ys))
    });
    environment.add_function("non_decreasing", |list: Value, options: Kwargs| monotone(&list, &options, 1.0));
    environment.add_function("non_increasing", |list: Value, options: Kwargs| monotone(&list, &options, -1.0));
    environment.add_function("abs", |x: Value| pairwise(&x, &Value::from(0.0), |x, _| x.abs()));
    environment.add_function("log", |x: Value| pairwise(&x, &Value::from(0.0), |x, _| libm::log(x)));
    environment.add_function("finite", |x: Value| pairwise(&x, &Value::from(0.0), |x, _| x.is_finite()));
    environment.add_function("within", |x: Value, target: f64, part: f64| {
        pairwise(&x, &Value::from(target), move |x, target| (x - target).abs() <= part * target.abs())
    });
    environment.add_function("cat", |lists: Rest<Value>| {
        lists.iter().map(numbers).collect::<Result<Vec<_>, _>>().map(|lists| lists.concat())
    });
}

fn fold(list: &[Value], f: impl Fn(f64, f64) -> f64) -> Result<f64, Error> {
    let all: Vec<f64> = list.iter().map(numbers).collect::<Result<Vec<_>, _>>()?.concat();
    all.into_iter().reduce(f).ok_or_else(|| invalid("an empty list"))
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len() as f64
}

/// Standard deviation of the list itself, not an estimate for more.
fn deviation(list: &[f64]) -> f64 {
    let middle = mean(list);
    (list.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / list.len() as f64).sqrt()
}

fn monotone(list: &Value, options: &Kwargs, sign: f64) -> Result<bool, Error> {
    let slack: f64 = options.get::<Option<f64>>("slack")?.unwrap_or(0.05);
    options.assert_all_used()?;
    let list = numbers(list)?;
    // A step back counts only if it is more than `slack` of what was reached.
    Ok(list.windows(2).all(|pair| sign * (pair[1] - pair[0]) >= -slack * pair[0].abs()))
}

/// Spearman's rank correlation; equal values share their mean rank.
fn spearman(xs: &[f64], ys: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let of = |x: &f64| {
            let below = values.iter().filter(|y| **y < *x).count() as f64;
            let equal = values.iter().filter(|y| **y == *x).count() as f64;
            below + (equal + 1.0) / 2.0
        };
        values.iter().map(of).collect()
    };
    let (a, b) = (ranks(xs), ranks(ys));
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let covariance: f64 = a.iter().zip(&b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum();
    let squares = |list: &[f64], middle: f64| list.iter().map(|x| (x - middle).powi(2)).sum::<f64>();
    // A constant list has no correlation.
    let product = squares(&a, mean_a) * squares(&b, mean_b);
    if product == 0.0 { 0.0 } else { covariance / product.sqrt() }
}

#[cfg(test)]
mod tests {
    use super::super::results::{AxisValue, AxisValues, Run};
    use super::*;
    use xoff_scenario::measure::Measured;

    /// Two schemes at two loads with two seeds: 100 * scheme + 10 * load + seed.
    fn data() -> Arc<Data> {
        let value = |name: &str, number| AxisValue { name: name.to_owned(), number, scheme: None };
        let axes = vec![
            AxisValues { name: "scheme".into(), values: vec![value("A", None), value("B", None)] },
            AxisValues { name: "load".into(), values: vec![value("0.3", Some(0.3)), value("0.6", Some(0.6))] },
        ];
        let mut cells = Vec::new();
        for at in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let run = |seed: u64| {
                let mut measured = Measured::default();
                let number = (100 * (at[0] + 1) + 10 * at[1]) as f64 + seed as f64;
                measured.numbers.insert("fct".into(), number);
                measured.curves.insert("bins".into(), Curve { x: vec![1.0, 2.0], y: vec![number, 2.0 * number] });
                Run { seed, measured, ..Run::default() }
            };
            cells.push(Cell { at: at.to_vec(), seeds: vec![run(1), run(3)] });
        }
        let results = Results { groups: vec![Group { name: "main".into(), axes, cells, announced: None }] };
        Arc::new(Data {
            results: Arc::new(BTreeMap::from([("x-fig1".to_owned(), results)])),
            known: vec![("x-fig1".into(), "main".into(), "load".into(), "0.9".into())],
            groups: vec![("x-fig1".into(), "main".into()), ("x-fig1".into(), "large".into())],
            rehearsal: false,
        })
    }

    fn evaluate(text: &str) -> Result<Evaluated, String> {
        Scope::new(&data(), "x-fig1").evaluate(text)
    }

    fn numbers_of(text: &str) -> Vec<f64> {
        match evaluate(text) {
            Ok(Evaluated::Numbers(numbers)) => numbers,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn cells_are_found_by_their_axes() {
        assert_eq!(numbers_of("m('fct', scheme='A', load=0.6)"), [112.0]);
        assert_eq!(numbers_of("all('fct', scheme='B')"), [202.0, 212.0]);
        assert_eq!(numbers_of("all('fct', load='0.3', scheme=['B', 'A'])"), [202.0, 102.0]);
        assert_eq!(numbers_of("axis('load')"), [0.3, 0.6]);
        assert_eq!(numbers_of("seeds('fct', scheme='A', load=0.3)"), [101.0, 103.0]);
        assert_eq!(numbers_of("ys('bins', scheme='A', load=0.3)"), [102.0, 204.0]);
        let scope = Scope::new(&data(), "x-fig1");
        assert_eq!(scope.of_seed(1).evaluate("m('fct', scheme='A', load=0.3)"), Ok(Evaluated::Numbers(vec![103.0])));
    }

    #[test]
    fn what_another_scale_runs_is_not_an_error() {
        assert_eq!(evaluate("m('fct', scheme='A', load=0.9) > 1"), Ok(Evaluated::NotRun));
        assert_eq!(evaluate("m('fct', runs='large') > 1"), Ok(Evaluated::NotRun));
    }

    #[test]
    fn mistakes_are_told() {
        for (text, why) in [
            ("m('fct')", "several runs match"),
            ("m('fct', scheme='C', load=0.3)", "has no value `C`; it has A, B"),
            ("m('fct', colour='C')", "have no axis `colour`"),
            ("m('size', scheme='A', load=0.3)", "measures no `size`; it has bins, fct"),
            ("m('fct', scheme='A', load=0.3, runs='other')", "has no runs `other`"),
            ("m('fct', scheme='A', load=0.3, experiment='y')", "no results of `y`"),
            ("m('fct', scheme='A', load=0.3", "unexpected"),
            ("nonsense(1)", "nonsense"),
            ("1 < 2 < 3", "a < b and b < c"),
            ("ratio([1, 2], [1, 2, 3])", "lists of 2 and 3"),
        ] {
            let error = evaluate(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert_eq!(evaluate("1 < 2 and 2 < 3 and max([1, (2 if 1 < 2 else 3)]) > 1"), Ok(Evaluated::Truth(true)));
    }

    #[test]
    fn expressions_too_deep_to_follow_are_refused() {
        for (part, end) in
            [("-", "1"), ("not ", "true"), ("(", "1"), ("1+", "1"), ("[", "1"), ("1 if 1 else ", "1"), ("m()", "")]
        {
            for count in [201, 100_000] {
                let error = evaluate(&format!("{}{end}", part.repeat(count))).unwrap_err();
                assert!(error.contains("deep, more than 200"), "{part}: {error}");
            }
            // The deepest that is followed fits the stack, whether or not it means something.
            let _ = evaluate(&format!("{}{end}", part.repeat(100)));
        }
        assert_eq!(numbers_of(&format!("{}1", "-".repeat(200))), [1.0]);
        // Long is not deep, and texts are no operators.
        let long = format!("max([{}])", "ratio(1, abs(-1)), ".repeat(1_000) + "2");
        assert_eq!(numbers_of(&long), [2.0]);
        assert_eq!(depth(&format!("m('{}')", "(\\'-".repeat(300))), 1);
        assert_eq!(depth("1 + f(2 * 3, -4)"), 3);
    }

    #[test]
    fn arithmetic_by_hand() {
        assert_eq!(numbers_of("reduction([50, 75], 100)"), [50.0, 25.0]);
        assert_eq!(numbers_of("increase(112, 100)")[0].round(), 12.0);
        assert_eq!(
            numbers_of("[spearman([1, 2, 3, 4], [10, 20, 25, 40]), spearman([1, 2, 3], [5, 5, 5])]"),
            [1.0, 0.0]
        );
        assert_eq!(numbers_of("spearman([1, 2, 3, 4], [4, 3, 2, 1])"), [-1.0]);
        assert_eq!(
            numbers_of("[spread([2, 4]), std([1, 3]), share([true, false]), jain([5, 5])]"),
            [2.0, 1.0, 0.5, 1.0]
        );
        assert_eq!(numbers_of("cat(1, [2, 3], max(4, 5))"), [1.0, 2.0, 3.0, 5.0]);
        assert_eq!(evaluate("non_decreasing([1, 2, 1.95])"), Ok(Evaluated::Truth(true)));
        assert_eq!(evaluate("non_decreasing([1, 2, 1.8])"), Ok(Evaluated::Truth(false)));
        assert_eq!(evaluate("every(less([1, 2], [2, 3])) and not within(1.2, 1, 0.1)"), Ok(Evaluated::Truth(true)));
    }
}
