//! The index: what was run, and the verdicts at a glance.

use super::markup::{cell, inline, link, table};
use super::{PagePaths, again, experiments, paper_again, sentence};
use crate::reproduce::report::{Totals, duration, readings, this_command};
use crate::reproduce::report_data::{ExperimentPage, PaperPage, Report};
use xoff_scenario::number::thousands;

pub fn page(report: &Report, paths: &PagePaths) -> String {
    let mut out = String::from("# Reproduction\n\n");
    out.push_str(
        "The papers' experiments, run by Xoff, and what became of the papers' claims. This page and those of the papers \
         are written by the program; every number in them comes from the runs of the command below.\n\n",
    );
    out.push_str(&format!("**{}.**\n\n", sentence(&Totals::of(report.claims()))));
    out.push_str(&verdicts(report, paths));
    out.push_str("## How it was made\n\n");
    out.push_str(&facts(report));
    if let Some((paper, experiment)) = example(report) {
        out.push_str(&format!(
            "A figure is made again by its name (`{}`), a paper by its own (`{}`); the pages have all of these \
             commands.\n\n",
            again(report, experiment),
            paper_again(report, paper)
        ));
    }
    for paper in &report.papers {
        out.push_str(&of_paper(paper, paths));
    }
    out
}

/// The first paper that has an experiment to be run, and that experiment.
fn example(report: &Report) -> Option<(&PaperPage, &ExperimentPage)> {
    report.papers.iter().find_map(|paper| {
        let run = paper.experiments.iter().find(|experiment| experiment.setting != "design")?;
        Some((paper, run))
    })
}

fn verdicts(report: &Report, paths: &PagePaths) -> String {
    let row = |name: String, reading: String, of: Totals| {
        let counts = [
            of.all(),
            of.holds,
            of.in_direction,
            of.does_not_hold,
            of.undecided,
            of.not_run,
            of.not_judged,
            of.apart,
            of.contradicted,
        ]
        .map(|n| n.to_string());
        [vec![name, reading], counts.to_vec(), of.percents().to_vec()].concat()
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for paper in &report.papers {
        rows.push(row(link(&paper.about.id, &place(paper, paths)), cell(&paper.reading), Totals::of(paper.claims())));
    }
    rows.push(row("**all**".into(), String::new(), Totals::of(report.claims())));
    let head = [
        "paper",
        "reading",
        "claims",
        "hold",
        "in direction",
        "do not hold",
        "undecided",
        "not run",
        "not judged",
        "cannot fail",
        "contradicted",
        "hold, of those judged",
        "at least in direction",
    ];
    format!(
        "{}A claim *holds* if its direction and its magnitude do, as far as it states either; it holds *in direction* \
         if the sign, rank or trend is right and the size is outside the range that was set beforehand. A size is \
         right if the 95 % interval over the seeds lies within the range, and wrong if it lies outside; a direction if it \
         is that of the mean and of all seeds, or of so many that chance would not do it. Otherwise the claim is \
         *undecided*, and its row says how many seeds would decide it. What needs larger runs than this scale's is *not \
         run*; what needs a testbed, or a unit that the paper does not print, is *not judged*. Claims that no \
         outcome could falsify, and claims that the paper's own numbers exclude (*contradicted*), count in no \
         percentage; percentages are of the claims that were judged, undecided ones among them.\n\n{}",
        table(&head, rows),
        alternatives(report)
    )
}

/// A row for every other interpretation that was run.
fn alternatives(report: &Report) -> String {
    let mut rows = Vec::new();
    for paper in &report.papers {
        for row in readings::rows(paper).iter().filter(|row| row.reading.name != paper.reading) {
            let of = &row.totals;
            let counts = [of.holds, of.in_direction, of.does_not_hold, of.undecided].map(|n| n.to_string());
            let own = vec![cell(&paper.about.id), cell(&row.reading.name), cell(&row.reading.title)];
            rows.push([own, counts.to_vec(), of.percents().to_vec()].concat());
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "paper",
        "reading",
        "what",
        "hold",
        "in direction",
        "do not hold",
        "undecided",
        "hold, of those judged",
        "at least in direction",
    ];
    format!("Under other readings, each of them run whole:\n\n{}", table(&head, rows))
}

/// The page of a paper, from the index.
fn place(paper: &PaperPage, paths: &PagePaths) -> String {
    format!("{}{}.md", paths.pages, paper.about.id)
}

fn facts(report: &Report) -> String {
    let mut rows = vec![
        ("command", format!("`{}`", report.command.replace('`', "'"))),
        ("version", cell(&report.version)),
        ("commit", if report.commit.is_empty() { "-".to_owned() } else { format!("`{}`", cell(&report.commit)) }),
        ("scale", cell(&report.scale)),
    ];
    if let Some(seeds) = report.seeds {
        rows.push(("seeds", seeds.to_string()));
    }
    rows.push(("runs", thousands(report.runs as u64)));
    rows.push(("CPU time", duration(report.cpu_seconds)));
    if report.jobs > 0 {
        rows.push(("jobs", report.jobs.to_string()));
    }
    rows.push(("wall time", this_command(report)));
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    table(&["", ""], rows)
}

fn of_paper(paper: &PaperPage, paths: &PagePaths) -> String {
    let page = place(paper, paths);
    format!(
        "## {}\n\n[{}]({page}). {}.\n\n{}",
        inline(&paper.about.id),
        inline(&paper.about.title),
        sentence(&Totals::of(paper.claims())),
        experiments(paper, &page)
    )
}
