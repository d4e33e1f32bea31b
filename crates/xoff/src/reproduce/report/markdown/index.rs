//! The index: what was run, and the verdicts at a glance.

use super::markup::{cell, inline, link, table};
use super::summary::PaperSummary;
use super::{PagePaths, experiments, sentence};
use crate::reproduce::report::{Totals, duration};
use xoff_scenario::number::thousands;

pub fn page(papers: &[PaperSummary], paths: &PagePaths) -> String {
    let mut out = String::from("# Reproduction\n\n");
    out.push_str(
        "The papers' experiments, run by Xoff, and what became of the papers' claims. This page and those of the papers \
         are written by the program; every number in them comes from the runs of the commands below.\n\n",
    );
    out.push_str(&format!("**{}.**\n\n", sentence(&all(papers))));
    out.push_str(&verdicts(papers, paths));
    out.push_str("## How it was made\n\n");
    out.push_str(&facts(papers));
    if let Some((paper, experiment)) = papers.iter().find_map(|paper| Some((paper, paper.example()?))) {
        out.push_str(&format!(
            "A figure is made again by its name (`{experiment}`), a paper by its own (`{}`); the pages have all of these \
             commands.\n\n",
            paper.made.again
        ));
    }
    for paper in papers {
        out.push_str(&of_paper(paper, paths));
    }
    out
}

fn all(papers: &[PaperSummary]) -> Totals {
    papers.iter().filter(|paper| paper.out_of_date.is_empty()).map(|paper| paper.totals).sum()
}

/// Says why papers count in no total, if any do not.
fn out_of_date(papers: &[PaperSummary], paths: &PagePaths) -> String {
    let one = |paper: &&PaperSummary| {
        format!("- [{}]({}): {}\n", inline(&paper.id), place(paper, paths), inline(&paper.out_of_date))
    };
    let found: String = papers.iter().filter(|paper| !paper.out_of_date.is_empty()).map(|paper| one(&paper)).collect();
    if found.is_empty() {
        return found;
    }
    format!("Pages that are out of date are marked with a star, and their claims count in no total:\n\n{found}\n")
}

fn verdicts(papers: &[PaperSummary], paths: &PagePaths) -> String {
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
    for paper in papers {
        let star = if paper.out_of_date.is_empty() { "" } else { " \\*" };
        rows.push(row(link(&paper.id, &place(paper, paths)) + star, cell(&paper.reading), paper.totals));
    }
    rows.push(row("**all**".into(), String::new(), all(papers)));
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
         percentage; percentages are of the claims that were judged, undecided ones among them.\n\n{}{}",
        table(&head, rows),
        out_of_date(papers, paths),
        alternatives(papers)
    )
}

/// A row for every other interpretation that was run.
fn alternatives(papers: &[PaperSummary]) -> String {
    let mut rows = Vec::new();
    for paper in papers {
        for row in &paper.readings {
            let of = &row.totals;
            let counts = [of.holds, of.in_direction, of.does_not_hold, of.undecided].map(|n| n.to_string());
            let own = vec![cell(&paper.id), cell(&row.name), cell(&row.title)];
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
fn place(paper: &PaperSummary, paths: &PagePaths) -> String {
    format!("{}{}.md", paths.pages, paper.id)
}

fn facts(papers: &[PaperSummary]) -> String {
    let row = |paper: &PaperSummary| {
        let made = &paper.made;
        let commit = if made.commit.is_empty() { "-".to_owned() } else { format!("`{}`", cell(&made.commit)) };
        vec![
            cell(&paper.id),
            format!("`{}`", made.command.replace('`', "'")),
            cell(&made.version),
            commit,
            cell(&made.scale),
            thousands(made.runs as u64),
            duration(made.cpu_seconds),
            cell(&made.took),
        ]
    };
    let head = ["paper", "command", "version", "commit", "scale", "runs", "CPU time", "wall time of the command"];
    table(&head, papers.iter().map(row).collect())
}

fn of_paper(paper: &PaperSummary, paths: &PagePaths) -> String {
    let page = place(paper, paths);
    format!(
        "## {}\n\n[{}]({page}). {}.\n\n{}",
        inline(&paper.id),
        inline(&paper.title),
        sentence(&paper.totals),
        experiments(&paper.experiments, &page)
    )
}
