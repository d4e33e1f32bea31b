//! `docs/reproduction.md`: the verdicts as a document of the repository.

use super::{
    Totals, agreement, by_reason, cost, counted, duration, first_failures, more_failed, range_text, setting_text,
};
use crate::reproduce::judged::{Book, ExperimentPage, Judged, PaperPage, Verdict};
use xoff_scenario::number::thousands;

/// The whole document; figures are linked as `<figures_folder>/<file>.svg`.
pub fn book_markdown(book: &Book, figures_folder: &str) -> String {
    let mut out = String::from("# Reproduction\n\n");
    out.push_str(
        "The papers' experiments, run by Xoff, and what became of the papers' claims. This page is written by the \
         program; every number in it comes from the runs of the command below.\n\n",
    );
    out.push_str(&facts(book));
    out.push_str(&verdicts(book));
    for paper in &book.papers {
        of_paper(paper, figures_folder, &mut out);
    }
    // One blank line between blocks, none at the end.
    while out.contains("\n\n\n") {
        out = out.replace("\n\n\n", "\n\n");
    }
    out.trim_end().to_owned() + "\n"
}

fn facts(book: &Book) -> String {
    let mut rows = vec![
        ("command", format!("`{}`", book.command.replace('`', "'"))),
        ("version", cell(&book.version)),
        ("commit", if book.commit.is_empty() { "-".to_owned() } else { format!("`{}`", cell(&book.commit)) }),
        ("scale", cell(&book.scale)),
    ];
    if let Some(seeds) = book.seeds {
        rows.push(("seeds", seeds.to_string()));
    }
    rows.push(("runs", thousands(book.runs as u64)));
    rows.push(("CPU time", duration(book.cpu_seconds)));
    let jobs = if book.jobs > 0 { format!(" with {}", counted(book.jobs, "job")) } else { String::new() };
    rows.push(("wall time", format!("{}{jobs}", duration(book.wall_seconds))));
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    table(&["", ""], rows)
}

fn verdicts(book: &Book) -> String {
    let row = |name: String, of: Totals| {
        vec![
            name,
            of.all().to_string(),
            of.holds.to_string(),
            of.in_direction.to_string(),
            of.does_not_hold.to_string(),
            of.otherwise.to_string(),
            of.not_run.to_string(),
            of.percent(of.holds),
            of.percent(of.holds + of.in_direction),
        ]
    };
    let link = |paper: &PaperPage| format!("[{}](#{})", cell(&paper.id), paper.id);
    let mut rows: Vec<Vec<String>> =
        book.papers.iter().map(|paper| row(link(paper), Totals::of(paper.claims()))).collect();
    rows.push(row("**all**".into(), Totals::of(book.claims())));
    let head = [
        "paper",
        "claims",
        "hold",
        "in direction",
        "do not hold",
        "of these, under another assumption",
        "not run",
        "hold, of those judged",
        "at least in direction",
    ];
    format!(
        "## Verdicts\n\nA claim *holds* if its direction and its magnitude do, as far as it states either; it holds \
         *in direction* if the sign, rank or trend is right and the size is outside the range that was set \
         beforehand. Some that do not hold do (at least in direction) under another assumption that is as reasonable as \
         ours; they are counted, and the verdict stays. What needs larger runs than this scale's is *not run*.\n\n{}",
        table(&head, rows)
    )
}

fn of_paper(paper: &PaperPage, folder: &str, out: &mut String) {
    out.push_str(&format!("\n<a id=\"{}\"></a>\n\n## {}: {}\n\n", paper.id, inline(&paper.id), inline(&paper.title)));
    let mut source: Vec<String> =
        [&paper.authors, &paper.venue].into_iter().filter(|s| !s.is_empty()).cloned().collect();
    if paper.year > 0 {
        source.push(paper.year.to_string());
    }
    out.push_str(&format!("{}.\n\n{}\n\n", inline(&source.join(", ")), inline(&paper.what)));
    for experiment in &paper.experiments {
        of_experiment(experiment, paper, folder, out);
    }
    if !paper.deviations.is_empty() {
        out.push_str(&format!("### {}: what the paper leaves open, and where we differ\n\n", inline(&paper.id)));
        let row = |of: &crate::reproduce::judged::Deviation| {
            vec![
                cell(&of.id),
                cell(&of.kind),
                cell(&of.topic),
                cell(&of.paper),
                cell(&of.ours),
                cell(&of.why),
                cell(&of.effect),
                cell(&of.experiments.join(", ")),
            ]
        };
        let rows = paper.deviations.iter().map(row).collect();
        out.push_str(&table(&["", "kind", "topic", "paper", "ours", "why", "effect", "experiments"], rows));
    }
}

fn of_experiment(experiment: &ExperimentPage, paper: &PaperPage, folder: &str, out: &mut String) {
    out.push_str(&format!("### {}: {}\n\n", inline(&experiment.id), inline(&experiment.title)));
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
    let (failures, more) = first_failures(&experiment.failures);
    for failure in failures {
        out.push_str(&format!("**A run failed**: {}\n\n", inline(failure)));
    }
    if more > 0 {
        out.push_str(&format!("**{}.**\n\n", more_failed(more)));
    }
    for figure in &experiment.figures {
        out.push_str(&format!("![{}]({folder}/{}.svg)\n\n", inline(&figure.title), figure.file));
    }
    for (title, head, rows) in &experiment.tables {
        out.push_str(&format!("{}\n\n", inline(title)));
        let head: Vec<String> = head.iter().map(|text| cell(text)).collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        out.push_str(&table(&head, rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()).collect()));
    }
    claims(&experiment.claims, out);
    let ids = paper.deviations.iter().filter(|of| of.experiments.contains(&experiment.id)).map(|of| inline(&of.id));
    let ids: Vec<String> = ids.collect();
    if !ids.is_empty() {
        out.push_str(&format!("Deviations: {}.\n\n", ids.join(", ")));
    }
}

fn claims(claims: &[Judged], out: &mut String) {
    if claims.is_empty() {
        return;
    }
    let row = |claim: &Judged| {
        vec![
            cell(&claim.id),
            cell(&claim.says),
            cell(&claim.paper),
            cell(&claim.ours),
            cell(&accepted(claim)),
            verdict(claim.verdict).to_owned(),
            agreement(claim),
        ]
    };
    let head = ["", "claim", "paper", "ours", "accepted", "verdict", "seeds that agree"];
    out.push_str(&table(&head, claims.iter().map(row).collect()));
    for group in by_reason(claims) {
        let first = group[0];
        let ids: Vec<String> = group.iter().map(|claim| format!("**{}**", inline(&claim.id))).collect();
        let why = if first.diagnosis.is_empty() { "not yet explained." } else { &first.diagnosis };
        let verb = match (first.verdict, group.len()) {
            (verdict, 1) => verdict.words(),
            (Verdict::HoldsInDirection, _) => "hold in direction",
            _ => "do not hold",
        };
        out.push_str(&format!("- {} {verb}: {}\n", ids.join(", "), inline(why)));
    }
    for claim in claims {
        for variant in &claim.variants {
            let ours = if variant.ours.is_empty() { String::new() } else { format!("{}, ", inline(&variant.ours)) };
            let under = inline(&variant.under);
            out.push_str(&format!("- **{}** under {under}: {ours}{}\n", inline(&claim.id), variant.verdict.words()));
        }
    }
    out.push('\n');
}

/// The range with its reason.
fn accepted(claim: &Judged) -> String {
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
        Verdict::NotRunAtThisScale => "*not run*",
    }
}

fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        out.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    out.push('\n');
    out
}

/// Text within a paragraph: nothing in it is markup, but for what is in backquotes.
fn inline(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(text.len());
    let mut code = false;
    // A backquote alone would open a quotation that never ends.
    let paired = text.matches('`').count() % 2 == 0;
    for c in text.chars() {
        match c {
            '`' if paired => {
                code = !code;
                out.push('`');
            }
            '`' => out.push('\''),
            '<' if !code => out.push_str("&lt;"),
            '*' | '[' | ']' if !code => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Text within a table, where a bar would start the next cell.
fn cell(text: &str) -> String {
    inline(text).replace('|', "\\|")
}
