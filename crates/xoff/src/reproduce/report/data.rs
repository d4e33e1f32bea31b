//! The verdicts for programs: `claims.csv` and `claims.json`.

use super::{Totals, agreement};
use crate::reproduce::judged::{Book, Judged, Verdict};
use serde_json::{Value, json};

const COLUMNS: [&str; 16] = [
    "id",
    "paper",
    "experiment",
    "verdict",
    "paper_value",
    "ours",
    "unit",
    "mean",
    "half_width",
    "direction",
    "in_range",
    "range_low",
    "range_high",
    "seeds_agree",
    "says",
    "diagnosis",
];

/// One row per claim. Where a claim has several numbers, they stand in one field, apart by `;`.
pub fn csv(book: &Book) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    let mut write = |row: &[String]| writer.write_record(row).expect("memory takes any row");
    write(&COLUMNS.map(str::to_owned));
    for paper in &book.papers {
        for claim in paper.claims() {
            let joined = |values: Vec<String>| values.join(";");
            let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string()).unwrap_or_default();
            write(&[
                claim.id.clone(),
                paper.id.clone(),
                claim.experiment.clone(),
                claim.verdict.words().to_owned(),
                claim.paper.clone(),
                claim.ours.clone(),
                claim.unit.clone(),
                joined(claim.values.iter().map(|value| number(value.mean)).collect()),
                joined(claim.values.iter().map(|value| value.half_width.map(number).unwrap_or_default()).collect()),
                flag(claim.direction),
                flag(claim.in_range),
                claim.range.map(|range| number(range.0)).unwrap_or_default(),
                claim.range.map(|range| number(range.1)).unwrap_or_default(),
                agreement(claim),
                claim.says.clone(),
                claim.diagnosis.clone(),
            ]);
        }
    }
    let bytes = writer.into_inner().expect("memory takes any row");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Empty for what cannot be told, `inf` for never.
fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

/// JSON has no infinities: `"inf"` for never, null for what cannot be told.
fn json_number(value: f64) -> Value {
    if value.is_infinite() { json!(value.to_string()) } else { json!(value) }
}

/// Totals, and every claim with its variants.
pub fn json(book: &Book) -> Value {
    let papers: Vec<Value> = book
        .papers
        .iter()
        .map(|paper| {
            json!({
                "id": paper.id,
                "title": paper.title,
                "totals": totals(&Totals::of(paper.claims())),
            })
        })
        .collect();
    let of_paper = |paper: &'_ crate::reproduce::judged::PaperPage| {
        paper.claims().map(|claim| of_claim(&paper.id, claim)).collect::<Vec<_>>()
    };
    json!({
        "version": book.version,
        "command": book.command,
        "scale": book.scale,
        "seeds": book.seeds,
        "runs": book.runs,
        "cpu_seconds": book.cpu_seconds,
        "wall_seconds": book.wall_seconds,
        "totals": totals(&Totals::of(book.claims())),
        "papers": papers,
        "claims": book.papers.iter().flat_map(of_paper).collect::<Vec<_>>(),
    })
}

fn totals(of: &Totals) -> Value {
    let mut map = serde_json::Map::new();
    for verdict in Verdict::ALL {
        map.insert(verdict.words().replace(' ', "_"), json!(of.of_verdict(verdict)));
    }
    map.insert("hold_under_another_assumption".into(), json!(of.otherwise));
    map.insert("all".into(), json!(of.all()));
    Value::Object(map)
}

fn of_claim(paper: &str, claim: &Judged) -> Value {
    let values: Vec<Value> = claim
        .values
        .iter()
        .map(|value| {
            let half_width = value.half_width.map(json_number);
            json!({ "mean": json_number(value.mean), "half_width": half_width, "seeds": value.count })
        })
        .collect();
    let variants: Vec<Value> = claim
        .variants
        .iter()
        .map(|variant| json!({ "under": variant.under, "ours": variant.ours, "verdict": variant.verdict.words() }))
        .collect();
    json!({
        "id": claim.id,
        "paper": paper,
        "experiment": claim.experiment,
        "verdict": claim.verdict.words(),
        "says": claim.says,
        "paper_value": claim.paper,
        "ours": claim.ours,
        "unit": claim.unit,
        "values": values,
        "direction": claim.direction,
        "in_range": claim.in_range,
        "range": claim.range.map(|(low, high)| [json_number(low), json_number(high)]),
        "seeds_agree": claim.seeds_agree.map(|(agree, of)| [agree, of]),
        "tolerance": claim.tolerance,
        "diagnosis": claim.diagnosis,
        "variants": variants,
    })
}
