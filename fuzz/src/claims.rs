//! The files of `xoff reproduce`: experiments, claims and their expressions, deviations, models.

use super::scenarios::{NOWHERE, refused};
use super::text;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use xoff::models;
use xoff::reproduce::claims::{Claim, read_deviation};
use xoff::reproduce::experiment::Experiment;
use xoff::reproduce::expression::{Data, Scope};
use xoff::reproduce::results::{AxisValue, AxisValues, Cell, Group, Results, Run};
use xoff::reproduce::scale::Scale;
use xoff_scenario::measure::{Curve, Measured};
use xoff_scenario::{Diagnostic, Place, Source, Table, tree};

/// A document as the table that its reader gets.
fn table(bytes: &[u8]) -> Result<Option<Table>, Diagnostic> {
    let Some(text) = text(bytes) else { return Ok(None) };
    let source = Source::new("case.toml", text);
    let entries = tree::parse(&source)?;
    Ok(Some(Table::of("file", Place { source, span: 0..0 }, entries)))
}

/// A refusal can be shown.
fn answered(read: impl FnOnce() -> Result<bool, Diagnostic>) -> bool {
    read().unwrap_or_else(|error| refused(&[error]))
}

/// More combinations than this are only counted.
const COMBINATIONS: usize = 1_000;

/// An experiment, and what its runs would change.
pub fn experiment(bytes: &[u8]) -> bool {
    answered(|| {
        let Some(root) = table(bytes)? else { return Ok(false) };
        let experiment = Experiment::read(root, "x-fig1", "x", Path::new(NOWHERE))?;
        for group in &experiment.groups {
            let _ = experiment.measures_of(group).count();
            for scale in Scale::ALL {
                let combinations = group.axes.iter().map(|axis| axis.at[scale.index()].len());
                if combinations.fold(1, usize::saturating_mul) > COMBINATIONS {
                    continue;
                }
                for cell in group.cells(scale) {
                    assert!(group.options(scale, &cell, 1).sets.len() <= group.sets(scale, &cell).len() + cell.len());
                    let _ = group.cell_name(&cell);
                }
            }
        }
        Ok(true)
    })
}

/// A file of claims, and their expressions.
pub fn claims(bytes: &[u8]) -> bool {
    answered(|| {
        let Some(mut root) = table(bytes)? else { return Ok(false) };
        for table in root.tables("claim")? {
            let claim = Claim::read(table)?;
            let scope = Scope::new(results(), "x-fig1");
            for text in claim.value.iter().chain(&claim.direction) {
                let _ = scope.evaluate(&text.value);
            }
        }
        root.finish().map(|()| true)
    })
}

/// A file of deviations.
pub fn deviations(bytes: &[u8]) -> bool {
    answered(|| {
        let Some(mut root) = table(bytes)? else { return Ok(false) };
        for table in root.tables("deviation")? {
            read_deviation(table)?;
        }
        root.finish().map(|()| true)
    })
}

/// An expression over results, of all seeds and of one.
pub fn expression(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let mut accepted = false;
    for scope in [Scope::new(results(), "x-fig1"), Scope::new(results(), "x-fig1").of_seed(1)] {
        match scope.evaluate(text) {
            Ok(_) => accepted = true,
            Err(why) => assert!(!why.is_empty(), "refused without a reason"),
        }
        assert!(scope.seeds() <= 2);
    }
    accepted
}

/// The name of a model on the first line, its parameters as TOML on the others. Only checked: how long a
/// model may take is bounded by its own limits.
pub fn model(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let (name, parameters) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(parameters) = toml::from_str::<BTreeMap<String, toml::Value>>(parameters) else { return false };
    let checked = models::check(name, &parameters);
    assert!(!checked.as_ref().is_err_and(String::is_empty), "refused without a reason");
    checked.is_ok()
}

/// Two schemes at two loads with two seeds; one number and one curve.
fn results() -> &'static Arc<Data> {
    static RESULTS: OnceLock<Arc<Data>> = OnceLock::new();
    RESULTS.get_or_init(|| {
        let value = |name: &str, number| AxisValue { name: name.to_owned(), number, scheme: None };
        let axes = vec![
            AxisValues { name: "scheme".into(), values: vec![value("A", None), value("B", None)] },
            AxisValues { name: "load".into(), values: vec![value("0.3", Some(0.3)), value("0.6", Some(0.6))] },
        ];
        let run = |seed: u64, number: f64| {
            let mut measured = Measured::default();
            measured.numbers.insert("fct".into(), number);
            measured.numbers.insert("never".into(), f64::INFINITY);
            measured.curves.insert("bins".into(), Curve { x: vec![1.0, 2.0], y: vec![number, 2.0 * number] });
            Run { seed, measured, ..Run::default() }
        };
        let cell = |at: [usize; 2]| Cell { at: at.to_vec(), seeds: vec![run(1, at[0] as f64), run(3, at[1] as f64)] };
        let cells = [[0, 0], [0, 1], [1, 0], [1, 1]].map(cell).to_vec();
        let results = Results { groups: vec![Group { name: "main".into(), axes, cells, announced: None }] };
        Arc::new(Data {
            results: Arc::new(BTreeMap::from([("x-fig1".to_owned(), results)])),
            known: vec![("x-fig1".into(), "main".into(), "load".into(), "0.9".into())],
            groups: vec![("x-fig1".into(), "main".into()), ("x-fig1".into(), "large".into())],
            rehearsal: false,
        })
    })
}
