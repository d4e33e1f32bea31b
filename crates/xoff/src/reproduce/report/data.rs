//! The verdicts for programs: `claims.csv` and `claims.json`.

use super::{Totals, readings};
use crate::reproduce::report_data::{Answer, ClaimResult, Report, Verdict};
use serde_json::{Value, json};

const COLUMNS: [&str; 20] = [
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
    "seeds",
    "seeds_agree",
    "seeds_in_range",
    "seeds_needed",
    "contradicted",
    "says",
    "diagnosis",
];

/// One row per claim. Where a claim has several numbers, they are in one field, separated by `;`.
pub fn csv(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    let mut write = |row: &[String]| writer.write_record(row).expect("memory takes any row");
    write(&COLUMNS.map(str::to_owned));
    for paper in &report.papers {
        for claim in paper.claims() {
            let joined = |values: Vec<String>| values.join(";");
            let flag = |flag: Option<Answer>| flag.map(|flag| flag.words().to_owned()).unwrap_or_default();
            let count = |count: Option<usize>| count.map(|count| count.to_string()).unwrap_or_default();
            write(&[
                claim.id.clone(),
                paper.about.id.clone(),
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
                count(claim.seeds.map(|seeds| seeds.count)),
                count(claim.seeds.and_then(|seeds| seeds.direction)),
                count(claim.seeds.and_then(|seeds| seeds.in_range)),
                claim.seeds_needed.map(|needed| needed.to_string()).unwrap_or_default(),
                claim.contradicted.clone(),
                claim.says.clone(),
                claim.diagnosis.clone(),
            ]);
        }
    }
    let bytes = writer.into_inner().expect("memory takes any row");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Empty for unknown, `inf` for never.
fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

/// JSON has no infinities: `"inf"` for never, null for unknown.
fn json_number(value: f64) -> Value {
    if value.is_infinite() { json!(value.to_string()) } else { json!(value) }
}

/// `true`, `false`, or `"undecided"`.
fn json_answer(answer: Answer) -> Value {
    match answer {
        Answer::Open => json!(answer.words()),
        decided => json!(decided == Answer::True),
    }
}

/// Totals of every reading, and every claim.
pub fn json(report: &Report) -> Value {
    let papers: Vec<Value> = report
        .papers
        .iter()
        .map(|paper| {
            json!({
                "id": paper.about.id,
                "title": paper.about.title,
                "reading": paper.reading,
                "totals": totals(&Totals::of(paper.claims())),
                "points": paper.points,
                "readings": readings::rows(paper).iter().map(of_reading).collect::<Vec<_>>(),
            })
        })
        .collect();
    let of_paper = |paper: &'_ crate::reproduce::report_data::PaperPage| {
        paper.claims().map(|claim| of_claim(&paper.about.id, claim)).collect::<Vec<_>>()
    };
    json!({
        "version": report.version,
        "command": report.command,
        "scale": report.scale,
        "seeds": report.seeds,
        "runs": report.runs,
        "found": report.found,
        "cpu_seconds": report.cpu_seconds,
        "wall_seconds": report.wall_seconds,
        "totals": totals(&Totals::of(report.claims())),
        "papers": papers,
        "claims": report.papers.iter().flat_map(of_paper).collect::<Vec<_>>(),
    })
}

fn totals(of: &Totals) -> Value {
    let mut map = serde_json::Map::new();
    for verdict in Verdict::ALL {
        map.insert(verdict.words().replace(' ', "_"), json!(of.of_verdict(verdict)));
    }
    map.insert("at_least_in_direction".into(), json!(of.at_least_in_direction()));
    map.insert("cannot_fail".into(), json!(of.apart));
    map.insert("contradicted".into(), json!(of.contradicted));
    map.insert("all".into(), json!(of.all()));
    Value::Object(map)
}

fn of_reading(row: &readings::Row<'_>) -> Value {
    let verdict =
        |claim: &ClaimResult| (claim.id.clone(), json!({ "verdict": claim.verdict.words(), "ours": claim.ours }));
    json!({
        "name": row.reading.name,
        "title": row.reading.title,
        "main": row.reading.main,
        "totals": totals(&row.totals),
        "claims": row.reading.claims.iter().map(verdict).collect::<serde_json::Map<_, _>>(),
    })
}

fn of_claim(paper: &str, claim: &ClaimResult) -> Value {
    let values: Vec<Value> = claim
        .values
        .iter()
        .map(|value| {
            let half_width = value.half_width.map(json_number);
            json!({ "mean": json_number(value.mean), "half_width": half_width, "seeds": value.count })
        })
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
        "direction": claim.direction.map(json_answer),
        "in_range": claim.in_range.map(json_answer),
        "range": claim.range.map(|(low, high)| [json_number(low), json_number(high)]),
        "seeds": claim.seeds.map(|seeds| {
            json!({ "count": seeds.count, "direction": seeds.direction, "in_range": seeds.in_range })
        }),
        "seeds_needed": claim.seeds_needed,
        "tolerance": claim.tolerance,
        "diagnosis": claim.diagnosis,
        "cannot_fail": claim.cannot_fail,
        "contradicted": claim.contradicted,
        "arithmetic": claim.arithmetic,
    })
}
