//! The page of a paper: its verdicts at a glance, then every experiment, then what the paper leaves open.

use super::markup::{anchor, cell, folded, inline, link, table};
use super::summary::ExperimentSummary;
use super::{FIGURES, PagePaths, again, cost, counted, experiments, paper_again, sentence};
use crate::reproduce::report::{
    Totals, agreement, by_reason, first_failures, more_failed, needed, range_text, readings, setting_text, source, why,
};
use crate::reproduce::report_data::{ClaimResult, Deviation, ExperimentPage, PaperPage, Report, Verdict};

pub fn page(report: &Report, paper: &PaperPage, paths: &PagePaths) -> String {
    let mut out = format!("# {}: {}\n\n", inline(&paper.about.id), inline(&paper.about.title));
    out.push_str(&format!(
        "{}. {}\n\n",
        inline(&source(paper)),
        link("All papers", &(paths.back.to_owned() + paths.index))
    ));
    out.push_str(&format!("{}\n\n", inline(&paper.about.what)));
    out.push_str(&format!("**{}.**\n\n", sentence(&Totals::of(paper.claims()))));
    let summaries: Vec<ExperimentSummary> = paper.experiments.iter().map(ExperimentSummary::of).collect();
    out.push_str(&experiments(&summaries, ""));
    out.push_str(&format!(
        "All of it again: `{}`. What is run is in `experiments/{id}/`, what the paper says in `claims/{id}.toml`. In the \
         tables of claims *paper* is its number and *ours* the mean over seeds with its 95 % confidence interval; \
         *accepted* was set before the runs.\n\n",
        paper_again(report, paper),
        id = paper.about.id
    ));
    out.push_str(&how_it_is_read(paper));
    for experiment in &paper.experiments {
        out.push_str(&of_experiment(report, experiment, paper));
    }
    if !paper.deviations.is_empty() {
        out.push_str("## What the paper leaves open, and where we differ\n\n");
        let rows = paper.deviations.iter().map(|of| deviation(of, paper)).collect();
        out.push_str(&table(&["", "kind", "topic", "paper", "ours", "why", "effect", "experiments"], rows));
    }
    out
}

/// The readings side by side, the open points with their choices, and where it matters.
fn how_it_is_read(paper: &PaperPage) -> String {
    if paper.points.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "## How the paper is read\n\nThis page is about the reading *{}*; another is run with `xoff reproduce {} \
         --interpretation NAME`. Points, choices and readings are in `experiments/{}/interpretations.toml`.\n\n",
        inline(&paper.reading),
        paper.about.id,
        paper.about.id
    );
    out.push_str(&readings_table(paper));
    for point in &paper.points {
        out.push_str(&format!("- **{}.** {}\n", inline(&point.title), inline(&point.paper)));
        for choice in &point.choices {
            let of = match choice.readings.join(", ") {
                readings if readings.is_empty() => "tried in the search only".to_owned(),
                readings => format!("readings: {readings}"),
            };
            let mut line = format!("  - *{}* ({of}): {}", inline(&choice.name), inline(&choice.what));
            for (word, reasons) in [("For it", &choice.evidence), ("Against it", &choice.against)] {
                if !reasons.is_empty() {
                    let reasons: Vec<String> = reasons.iter().map(|reason| inline(reason)).collect();
                    line.push_str(&format!(" {word}: {}", reasons.join(" ")));
                }
            }
            out.push_str(&(line + "\n"));
        }
    }
    out.push('\n');
    if paper.searched {
        out.push_str(&format!(
            "What was tried before these were chosen, with other seeds: every combination of choices and the verdict of \
             every claim under it, [{id}-search.csv]({id}-search.csv).\n\n![Readings tried]({FIGURES}/{id}-search.svg)\n\n",
            id = paper.about.id
        ));
    }
    out + &differences(paper)
}

fn readings_table(paper: &PaperPage) -> String {
    let row = |row: &readings::Row<'_>| {
        let name = if row.reading.main { format!("{} (chosen)", row.reading.name) } else { row.reading.name.clone() };
        let what = format!("{}. {}", row.reading.title.trim_end_matches('.'), row.reading.why);
        let of = &row.totals;
        let counts = [of.holds, of.in_direction, of.does_not_hold, of.undecided, of.not_run, of.not_judged]
            .map(|n| n.to_string());
        [vec![cell(&name), cell(what.trim())], counts.to_vec(), of.percents().to_vec()].concat()
    };
    let head = [
        "reading",
        "what",
        "hold",
        "in direction",
        "do not hold",
        "undecided",
        "not run",
        "not judged",
        "hold, of those judged",
        "at least in direction",
    ];
    table(&head, readings::rows(paper).iter().map(row).collect())
}

/// The claims on which the readings differ.
fn differences(paper: &PaperPage) -> String {
    let found = readings::differences(paper);
    if found.is_empty() {
        return String::new();
    }
    let one = |of: &&ClaimResult| match of.ours.is_empty() {
        true => verdict(of.verdict).to_owned(),
        false => format!("{}: {}", verdict(of.verdict), cell(&of.ours)),
    };
    let row = |(claim, all): &(&ClaimResult, Vec<&ClaimResult>)| {
        let own = vec![cell(&claim.id), cell(&claim.says), cell(&claim.paper)];
        [own, all.iter().map(one).collect()].concat()
    };
    let mut head = vec!["", "claim", "paper"];
    head.extend(paper.readings.iter().map(|of| of.name.as_str()));
    let title = format!("The readings differ on {}", counted(found.len(), "claim"));
    folded(&title, &table(&head, found.iter().map(row).collect()))
}

fn of_experiment(report: &Report, experiment: &ExperimentPage, paper: &PaperPage) -> String {
    let mut out =
        format!("{}\n\n## {}: {}\n\n", anchor(&experiment.id), inline(&experiment.id), inline(&experiment.title));
    let mut facts = vec![inline(&experiment.place), setting_text(&experiment.setting).to_owned(), cost(experiment)];
    facts.retain(|fact| !fact.is_empty());
    out.push_str(&format!("*{}*\n\n", facts.join(" · ")));
    out.push_str(&format!("{}\n\n", inline(&experiment.shows)));
    for (name, text) in
        [("To read it", &experiment.reads), ("Scaled", &experiment.scaled), ("Checked by", &experiment.checked_by)]
    {
        if !text.is_empty() {
            out.push_str(&format!("{name}: {}\n\n", inline(text)));
        }
    }
    if experiment.setting != "design" {
        out.push_str(&format!("To repeat it: `{}`\n\n", again(report, experiment)));
    }
    let (failures, more) = first_failures(&experiment.failures);
    for failure in failures {
        out.push_str(&format!("**A run failed**: {}\n\n", inline(failure)));
    }
    if more > 0 {
        out.push_str(&format!("**{}.**\n\n", more_failed(more)));
    }
    for tree in &experiment.trees {
        out.push_str(&format!("![{}]({FIGURES}/{}.svg)\n\n", inline(&tree.title), tree.file));
    }
    for figure in &experiment.figures {
        out.push_str(&format!("![{}]({FIGURES}/{}.svg)\n\n", inline(&figure.title), figure.file));
    }
    // What figures show need not be read twice.
    for of in &experiment.tables {
        let head: Vec<String> = of.head.iter().map(|text| cell(text)).collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut table = table(&head, of.rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()).collect());
        if !of.note.is_empty() {
            table = format!("{}\n\n{table}", inline(&of.note));
        }
        let open = || format!("{}\n\n{table}", inline(&of.title));
        out.push_str(&if experiment.figures.is_empty() { open() } else { folded(&of.title, &table) });
    }
    out.push_str(&claims(&experiment.claims));
    let concern = paper.deviations.iter().filter(|of| of.experiments.contains(&experiment.id));
    let ids: Vec<String> = concern.map(|of| link(&of.id, &format!("#{}", of.id))).collect();
    if !ids.is_empty() {
        out.push_str(&format!("What the paper leaves open here, or we do otherwise: {}.\n\n", ids.join(", ")));
    }
    out
}

fn claims(claims: &[ClaimResult]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let of_claim = |claim: &ClaimResult| {
        let mut seeds = vec![agreement(claim), needed(claim)];
        seeds.retain(|part| !part.is_empty());
        row(claim, [cell(&accepted(claim)), seeds.join("; ")])
    };
    let head = ["", "claim", "paper", "ours", "verdict", "accepted", "seeds that agree; that would decide"];
    let counted = claims.iter().filter(|claim| claim.cannot_fail.is_empty() && claim.contradicted.is_empty());
    let mut out = table(&head, counted.map(of_claim).collect());
    let reasons = by_reason(claims);
    if !reasons.is_empty() {
        out.push_str("Why ours differ:\n\n");
    }
    for group in reasons {
        let first = group[0];
        let ids: Vec<String> = group.iter().map(|claim| format!("**{}**", inline(&claim.id))).collect();
        let verb = match (first.verdict, group.len()) {
            (verdict, 1) => verdict.words(),
            (Verdict::HoldsInDirection, _) => "hold in direction",
            (Verdict::NotJudged, _) => "are not judged",
            (Verdict::Undecided, _) => "are undecided",
            _ => "do not hold",
        };
        out.push_str(&format!("- {} {verb}: {}\n", ids.join(", "), inline(why(first))));
    }
    out.push('\n');
    out + &contradicted(claims) + &apart(claims)
}

/// What the paper's own numbers exclude, with the arithmetic.
fn contradicted(claims: &[ClaimResult]) -> String {
    let own: Vec<&ClaimResult> = claims.iter().filter(|claim| !claim.contradicted.is_empty()).collect();
    if own.is_empty() {
        return String::new();
    }
    let of_claim = |claim: &&ClaimResult| {
        let lines: Vec<String> = claim.arithmetic.iter().map(|line| format!("`{}`", line.replace('`', "'"))).collect();
        row(claim, [format!("{} {}", cell(&claim.contradicted), lines.join(", "))])
    };
    let head = ["", "claim", "paper", "ours", "verdict", "why the paper's own numbers exclude it"];
    format!("Contradicted by the paper itself:\n\n{}", table(&head, own.iter().map(of_claim).collect()))
}

/// A claim, what became of it, and more.
fn row<const MORE: usize>(claim: &ClaimResult, more: [String; MORE]) -> Vec<String> {
    let texts = [&claim.id, &claim.says, &claim.paper, &claim.ours].map(|text| cell(text));
    texts.into_iter().chain([verdict(claim.verdict).to_owned()]).chain(more).collect()
}

/// Checks of inputs, and what follows from definitions.
fn apart(claims: &[ClaimResult]) -> String {
    let own: Vec<&ClaimResult> = claims.iter().filter(|claim| !claim.cannot_fail.is_empty()).collect();
    if own.is_empty() {
        return String::new();
    }
    let of_claim = |claim: &&ClaimResult| row(claim, [cell(&claim.cannot_fail)]);
    let title = format!("Nothing could make {} fail", counted(own.len(), "claim"));
    folded(&title, &table(&["", "claim", "paper", "ours", "verdict", "why"], own.iter().map(of_claim).collect()))
}

/// The range with its reason.
fn accepted(claim: &ClaimResult) -> String {
    match (range_text(claim), claim.tolerance.as_str()) {
        (range, "") => range,
        (range, why) if range.is_empty() => why.to_owned(),
        (range, why) => format!("{range} ({why})"),
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "**holds**",
        Verdict::HoldsInDirection => "in direction",
        Verdict::DoesNotHold => "**does not hold**",
        Verdict::Undecided => "*undecided*",
        Verdict::NotRunAtThisScale => "*not run*",
        Verdict::NotJudged => "*not judged*",
    }
}

fn deviation(of: &Deviation, paper: &PaperPage) -> Vec<String> {
    let told = |id: &String| paper.experiments.iter().any(|experiment| experiment.id == *id);
    let concerns = of.experiments.iter().map(|id| if told(id) { link(id, &format!("#{id}")) } else { cell(id) });
    vec![
        anchor(&of.id) + &cell(&of.id),
        cell(&of.kind),
        cell(&of.topic),
        cell(&of.paper),
        cell(&of.ours),
        cell(&of.why),
        cell(&of.effect),
        concerns.collect::<Vec<_>>().join(", "),
    ]
}
