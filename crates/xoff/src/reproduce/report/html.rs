//! `report.html` and a page per paper, each of which needs nothing else.

use super::{
    Totals, again, agreement, cost, counted, duration, falls_short, first_failures, more_failed, needed, range_text,
    readings, setting_text, source, this_command, why,
};
use crate::reproduce::report_data::{ClaimResult, Deviation, ExperimentPage, PaperPage, Report, Verdict};
use minijinja::value::Serde;
use serde_json::{Value, json};
use xoff_results::page;
use xoff_scenario::number::thousands;

/// The pages with their file names, `report.html` first.
pub fn pages(report: &Report) -> Result<Vec<(String, String)>, minijinja::Error> {
    let mut environment = page::environment()?;
    environment.add_template("report", include_str!("../../../assets/reproduction.html"))?;
    environment.add_template("paper", include_str!("../../../assets/paper.html"))?;
    let mut pages =
        vec![("report.html".to_owned(), environment.get_template("report")?.render(Serde(&front(report)))?)];
    for paper in &report.papers {
        let page = environment.get_template("paper")?.render(Serde(&of_paper(report, paper)))?;
        pages.push((format!("{}.html", paper.about.id), page));
    }
    Ok(pages)
}

fn front(report: &Report) -> Value {
    let papers: Vec<Value> = report
        .papers
        .iter()
        .map(|paper| {
            let experiments: Vec<Value> = paper.experiments.iter().map(listed).collect();
            json!({
                "id": paper.about.id,
                "title": paper.about.title,
                "source": source(paper),
                "totals": totals(&Totals::of(paper.claims())),
                "experiments": experiments,
            })
        })
        .collect();
    // Who asked for one figure sees it at once.
    let drawn = report.papers.iter().flat_map(|paper| &paper.experiments).filter(|one| !one.figures.is_empty());
    let figures = match drawn.collect::<Vec<_>>()[..] {
        [one] => one.figures.as_slice(),
        _ => &[],
    };
    json!({
        "figures": figures,
        "facts": facts(report, report.runs, report.cpu_seconds),
        "papers": papers,
        "totals": totals(&Totals::of(report.claims())),
        "finding": Totals::of(report.claims()).finding(),
    })
}

/// What was run, for all papers or for one.
fn facts(report: &Report, runs: usize, cpu_seconds: f64) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Scale", report.scale.clone()), ("Runs", thousands(runs as u64))];
    if let Some(seeds) = report.seeds {
        facts.push(("Seeds", seeds.to_string()));
    }
    facts.push(("CPU time", duration(cpu_seconds)));
    facts.push(("This command", this_command(report)));
    facts.push(("Xoff", report.version.clone()));
    facts.push(("Command", report.command.clone()));
    facts
}

fn listed(experiment: &ExperimentPage) -> Value {
    json!({
        "id": experiment.id,
        "title": experiment.title,
        "place": experiment.place,
        "setting": experiment.setting,
        "totals": totals(&Totals::of(experiment.claims.iter())),
        "failed": if experiment.failures.is_empty() {
            String::new()
        } else {
            format!("{} failed", counted(experiment.failures.len(), "run"))
        },
    })
}

fn totals(of: &Totals) -> Value {
    let counts: Vec<Value> = Verdict::ALL
        .into_iter()
        .map(|verdict| json!({ "count": of.of_verdict(verdict), "class": class(verdict) }))
        .collect();
    json!({ "counts": counts, "all": of.all(), "apart": of.apart, "contradicted": of.contradicted, "percents": of.percents() })
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::HoldsInDirection => "partly",
        Verdict::DoesNotHold => "fails",
        Verdict::Undecided | Verdict::NotRunAtThisScale | Verdict::NotJudged => "absent",
    }
}

fn of_paper(report: &Report, paper: &PaperPage) -> Value {
    let experiments: Vec<Value> =
        paper.experiments.iter().map(|one| of_experiment(report, one, &paper.deviations)).collect();
    let (runs, cpu_seconds) = paper.runs();
    json!({
        "id": paper.about.id,
        "title": paper.about.title,
        "source": source(paper),
        "what": paper.about.what,
        "facts": facts(report, runs, cpu_seconds),
        "totals": totals(&Totals::of(paper.claims())),
        "finding": Totals::of(paper.claims()).finding(),
        "points": paper.points,
        "readings": readings::rows(paper).iter().map(|row| of_reading(paper, row)).collect::<Vec<_>>(),
        "differences": readings::differences(paper).iter().map(difference).collect::<Vec<_>>(),
        "experiments": experiments,
    })
}

fn of_reading(paper: &PaperPage, row: &readings::Row<'_>) -> Value {
    json!({
        "name": row.reading.name,
        "title": row.reading.title,
        "why": row.reading.why,
        "main": row.reading.main,
        "shown": row.reading.name == paper.reading,
        "totals": totals(&row.totals),
    })
}

/// A claim on which the readings differ.
fn difference((claim, all): &(&ClaimResult, Vec<&ClaimResult>)) -> Value {
    let cell = |of: &&ClaimResult| json!({ "ours": unbroken(&of.ours), "verdict": of.verdict.words(), "class": class(of.verdict) });
    json!({ "id": claim.id, "says": claim.says, "paper": claim.paper, "all": all.iter().map(cell).collect::<Vec<_>>() })
}

fn of_experiment(report: &Report, experiment: &ExperimentPage, deviations: &[Deviation]) -> Value {
    let (failures, more) = first_failures(&experiment.failures);
    let concern = |of: &&Deviation| of.experiments.contains(&experiment.id);
    json!({
        "id": experiment.id,
        "title": experiment.title,
        "place": experiment.place,
        "testbed": experiment.setting == "testbed",
        "setting": setting_text(&experiment.setting),
        "shows": experiment.shows,
        "reads": experiment.reads,
        "checked_by": experiment.checked_by,
        "scaled": experiment.scaled,
        "trees": experiment.trees.iter().map(|of| json!({ "title": of.title, "svg": of.svg })).collect::<Vec<_>>(),
        "figures": experiment.figures,
        "tables": experiment.tables,
        "claims": experiment.claims.iter().map(claim).collect::<Vec<_>>(),
        "deviations": deviations.iter().filter(concern).collect::<Vec<_>>(),
        "failures": failures,
        "more_failures": &experiment.failures[failures.len()..],
        "more": if more > 0 { more_failed(more) } else { String::new() },
        "totals": totals(&Totals::of(experiment.claims.iter())),
        "cost": cost(experiment),
        "again": if experiment.setting == "design" { String::new() } else { again(report, experiment) },
    })
}

fn claim(claim: &ClaimResult) -> Value {
    json!({
        "id": claim.id,
        "says": claim.says,
        "paper": claim.paper,
        "ours": unbroken(&claim.ours),
        "accepted": unbroken(&range_text(claim)),
        "tolerance": claim.tolerance,
        "verdict": claim.verdict.words(),
        "class": class(claim.verdict),
        "seeds": agreement(claim),
        "needed": needed(claim),
        "contradicted": claim.contradicted,
        "arithmetic": claim.arithmetic,
        "short": falls_short(claim),
        "apart": claim.cannot_fail,
        "diagnosis": why(claim),
    })
}

/// Numbers with their intervals are not broken across lines.
fn unbroken(text: &str) -> String {
    text.replace(" ± ", "\u{a0}±\u{a0}").replace(" to ", "\u{a0}to\u{a0}")
}
