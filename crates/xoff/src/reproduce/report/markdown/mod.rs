//! The verdicts as documents of a repository: an index, and a page per paper.

mod index;
pub(super) mod markup;
mod paper;
mod summary;

pub use summary::PaperSummary;

use super::{Totals, again, cost, counted, paper_again};
use crate::reproduce::report_data::Report;
use markup::{cell, link, table};
use summary::ExperimentSummary;

/// Relative places of pages. Figures are always in a folder beside the pages of the papers.
pub struct PagePaths {
    pub index: &'static str,
    /// From the index to the pages: empty, or ending in a slash.
    pub pages: &'static str,
    /// From the pages to the index.
    pub back: &'static str,
}

/// In a directory of results: everything side by side.
pub const BESIDE: PagePaths = PagePaths { index: "report.md", pages: "", back: "" };
/// Among other documents: one more of them, with a folder.
pub const AMONG: PagePaths = PagePaths { index: "reproduction.md", pages: "reproduction/", back: "../" };
/// The folder of figures, beside the pages of the papers.
pub const FIGURES: &str = "figures";

/// The index first, then a page per paper, each with its path from where the index is. The index lists other papers as
/// well, of which there are pages already.
pub fn markdown(report: &Report, paths: &PagePaths, others: Vec<PaperSummary>) -> Vec<(String, String)> {
    let mut papers: Vec<PaperSummary> = report.papers.iter().map(|paper| PaperSummary::of(report, paper)).collect();
    papers.extend(others.into_iter().filter(|other| report.papers.iter().all(|paper| paper.about.id != other.id)));
    papers.sort_by(|a, b| a.id.cmp(&b.id));
    let mut pages = vec![(paths.index.to_owned(), tidy(&index::page(&papers, paths)))];
    for paper in &report.papers {
        pages.push((format!("{}{}.md", paths.pages, paper.about.id), tidy(&paper::page(report, paper, paths))));
    }
    pages
}

/// One blank line between blocks, none at the end.
fn tidy(page: &str) -> String {
    let mut page = page.trim_end().to_owned() + "\n";
    while page.contains("\n\n\n") {
        page = page.replace("\n\n\n", "\n\n");
    }
    page
}

/// `157 claims: 85 hold, 17 hold in direction, 31 do not hold, 8 are not judged, 16 cannot fail`.
fn sentence(of: &Totals) -> String {
    let verb = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut parts = vec![verb(of.holds, "holds", "hold")];
    if of.in_direction > 0 {
        parts.push(verb(of.in_direction, "holds in direction", "hold in direction"));
    }
    if of.does_not_hold > 0 {
        parts.push(verb(of.does_not_hold, "does not hold", "do not hold"));
    }
    if of.undecided > 0 {
        parts.push(verb(of.undecided, "is undecided", "are undecided"));
    }
    if of.not_run > 0 {
        parts.push(verb(of.not_run, "is not run at this scale", "are not run at this scale"));
    }
    if of.not_judged > 0 {
        parts.push(verb(of.not_judged, "is not judged", "are not judged"));
    }
    if of.apart > 0 {
        parts.push(verb(of.apart, "cannot fail", "cannot fail"));
    }
    if of.contradicted > 0 {
        let one = "is contradicted by its own paper";
        parts.push(verb(of.contradicted, one, "are contradicted by their own paper"));
    }
    format!("{}: {}", counted(of.all(), "claim"), parts.join(", "))
}

/// A row per experiment, which leads to its section; `page` is the page it is on, empty for this one.
fn experiments(all: &[ExperimentSummary], page: &str) -> String {
    let row = |of: &ExperimentSummary| {
        let totals = &of.totals;
        let counts = [totals.all(), totals.holds, totals.in_direction, totals.does_not_hold, totals.undecided];
        let counts = counts.map(|count| if totals.all() == 0 { "-".to_owned() } else { count.to_string() });
        let what = if of.setting == "design" { format!("{} (held by tests)", of.title) } else { of.title.clone() };
        let runs = if of.runs.is_empty() { "-".to_owned() } else { cell(&of.runs) };
        [vec![link(&of.id, &format!("{page}#{}", of.id)), cell(&of.place), cell(&what)], counts.to_vec(), vec![runs]]
            .concat()
    };
    let head = ["", "in the paper", "what", "claims", "hold", "in direction", "do not hold", "undecided", "runs"];
    table(&head, all.iter().map(row).collect())
}
