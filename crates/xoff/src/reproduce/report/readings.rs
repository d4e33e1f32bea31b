//! The readings of a paper side by side, as tables of words.

use super::Totals;
use crate::reproduce::report_data::{ClaimResult, PaperPage, ReadingPage, Verdict};

/// How many claims hold under each reading that was run.
pub struct Row<'a> {
    pub reading: &'a ReadingPage,
    pub totals: Totals,
}

pub fn rows(paper: &PaperPage) -> Vec<Row<'_>> {
    let row = |reading| Row { reading, totals: Totals::of(reading.claims.iter()) };
    paper.readings.iter().map(row).collect()
}

/// Claims whose verdicts are not the same under all readings: each with its verdict and number under every reading.
pub fn differences(paper: &PaperPage) -> Vec<(&ClaimResult, Vec<&ClaimResult>)> {
    let Some((first, others)) = paper.readings.split_first() else { return Vec::new() };
    let beside = |claim: &ClaimResult, of: &'_ ReadingPage| of.claims.iter().position(|other| other.id == claim.id);
    let mut found = Vec::new();
    for claim in first.claims.iter().filter(|claim| claim.verdict != Verdict::NotJudged) {
        let all: Vec<&ClaimResult> = std::iter::once(claim)
            .chain(others.iter().filter_map(|of| beside(claim, of).map(|index| &of.claims[index])))
            .collect();
        if all.len() == paper.readings.len() && all.iter().any(|other| other.verdict != claim.verdict) {
            found.push((claim, all));
        }
    }
    found
}
