//! Papers under one reading or several: which ones are asked for, and their verdicts side by side.

use super::Reproduction;
use super::catalogue::Catalogue;
use super::experiment::Experiment;
use super::reading::{self, Readings};
use super::report_data::{ClaimResult, ReadingPage, Report};
use super::scale::Scale;
use std::collections::BTreeMap;
use xoff_scenario::Diagnostic;
use xoff_sweep::pool::Failed;

/// Some papers, each under one of its readings.
pub struct InterpretationSet {
    /// Catalogue under these interpretations.
    catalogue: Catalogue,
    /// What was asked for of these papers.
    names: Vec<String>,
    /// Index of the interpretation of each paper.
    readings: BTreeMap<String, usize>,
}

impl InterpretationSet {
    /// The sets that names of papers or experiments, and of readings, ask for. The first one has every paper;
    /// the others have those for which several readings are wanted. Without a name it is the main reading.
    pub fn choose(
        catalogue: &Catalogue,
        names: &[String],
        wanted: &[String],
    ) -> Result<Vec<InterpretationSet>, Vec<Diagnostic>> {
        let asked = catalogue.select(names)?;
        let own = |readings: &&Readings| asked.iter().any(|experiment| experiment.paper == readings.paper);
        let papers: Vec<&Readings> = catalogue.readings.iter().filter(own).collect();
        let unknown = |name: &&String| *name != "all" && papers.iter().all(|of| of.find(name).is_none());
        let problems: Vec<Diagnostic> =
            wanted.iter().filter(unknown).map(|name| reading::unknown(name, &papers)).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let lists: Vec<(&Readings, Vec<usize>)> = papers.iter().map(|of| (*of, indices(of, wanted))).collect();
        let most = lists.iter().map(|(_, list)| list.len()).max().unwrap_or(0);
        let set = |number: usize| {
            let readings: BTreeMap<String, usize> =
                lists.iter().filter_map(|(of, list)| Some((of.paper.clone(), *list.get(number)?))).collect();
            let runs = |experiment: &&&Experiment| {
                let own = papers.iter().find(|of| of.paper == experiment.paper);
                let reading = own.and_then(|of| Some(&of.all[*readings.get(&of.paper)?]));
                reading.is_some_and(|reading| experiment.runs_under(&reading.name))
            };
            let of_these = asked.iter().filter(runs);
            InterpretationSet {
                catalogue: catalogue.under(&choices(catalogue, &readings)),
                names: of_these.map(|experiment| experiment.id.clone()).collect(),
                readings,
            }
        };
        Ok((0..most).map(set).collect())
    }

    /// The experiments under these readings.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub fn prepare(&self, scale: Scale) -> Result<Reproduction<'_>, Failed> {
        Reproduction::prepare(&self.catalogue, &self.names, scale)
    }

    /// The names of its readings: `cited`, or `cited (pcn), bytes (fqcn)` where they differ.
    pub fn name(&self) -> String {
        let mut papers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for of in &self.catalogue.readings {
            if let Some(&index) = self.readings.get(&of.paper) {
                papers.entry(&of.all[index].name).or_default().push(&of.paper);
            }
        }
        match papers.len() {
            1 => papers.keys().map(|name| (*name).to_owned()).collect(),
            _ => papers.iter().map(|(name, of)| format!("{name} ({})", of.join(", "))).collect::<Vec<_>>().join(", "),
        }
    }

    /// Adds what became of the claims under these readings to the pages of their papers.
    pub fn add_alternatives(&self, report: &mut Report, judged: &[ClaimResult]) {
        for page in &mut report.papers {
            let own = self.catalogue.readings.iter().find(|of| of.paper == page.about.id);
            let Some((own, &index)) = own.zip(self.readings.get(&page.about.id)) else { continue };
            let reading = &own.all[index];
            if page.reading.is_empty() {
                page.reading = reading.name.clone();
                page.points.clone_from(&own.points);
            }
            let ids: Vec<&str> = page.experiments.iter().map(|experiment| experiment.id.as_str()).collect();
            page.readings.push(ReadingPage {
                name: reading.name.clone(),
                title: reading.title.clone(),
                why: reading.why.clone(),
                main: index == 0,
                claims: judged.iter().filter(|claim| ids.contains(&claim.experiment.as_str())).cloned().collect(),
            });
        }
    }
}

/// Which readings of a paper are wanted; the main one if it has none of those that are named.
fn indices(of: &Readings, wanted: &[String]) -> Vec<usize> {
    if wanted.iter().any(|name| name == "all") {
        return (0..of.all.len()).collect();
    }
    let mut found: Vec<usize> = Vec::new();
    for index in wanted.iter().filter_map(|name| of.find(name)) {
        if !found.contains(&index) {
            found.push(index);
        }
    }
    if found.is_empty() { vec![0] } else { found }
}

fn choices(catalogue: &Catalogue, readings: &BTreeMap<String, usize>) -> BTreeMap<String, Vec<usize>> {
    let chosen = |of: &Readings| Some((of.paper.clone(), of.all[*readings.get(&of.paper)?].choices.clone()));
    catalogue.readings.iter().filter_map(chosen).collect()
}
