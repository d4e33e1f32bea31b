//! What the index says of a paper. It is stored beside the page of the paper, so that papers may be made at different
//! times.

use super::super::{Totals, cost, made_by, paper_again, readings, this_command};
use crate::reproduce::report_data::{ExperimentPage, PaperPage, Report};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PaperSummary {
    pub id: String,
    pub title: String,
    pub reading: String,
    pub totals: Totals,
    /// Other readings that were run.
    pub readings: Vec<ReadingSummary>,
    pub experiments: Vec<ExperimentSummary>,
    pub made: Made,
    /// Why the page is out of date, written by hand into its summary; empty for a page that is not. A paper whose page is
    /// out of date is listed, and counts in no total.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub out_of_date: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadingSummary {
    pub name: String,
    pub title: String,
    pub totals: Totals,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExperimentSummary {
    pub id: String,
    pub place: String,
    pub title: String,
    pub setting: String,
    pub totals: Totals,
    /// How many runs, and what they cost; empty without any.
    pub runs: String,
}

/// How the page of a paper was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Made {
    /// The command as typed.
    pub command: String,
    /// Makes all of the paper again.
    pub again: String,
    pub version: String,
    pub commit: String,
    pub scale: String,
    pub runs: usize,
    /// CPU time of the runs under the reading of the page.
    pub cpu_seconds: f64,
    /// Wall time of the command, and how many runs it found finished.
    pub took: String,
}

impl PaperSummary {
    pub fn of(report: &Report, paper: &PaperPage) -> PaperSummary {
        let others = readings::rows(paper).into_iter().filter(|row| row.reading.name != paper.reading);
        let (runs, cpu_seconds) = paper.runs();
        PaperSummary {
            id: paper.about.id.clone(),
            title: paper.about.title.clone(),
            reading: paper.reading.clone(),
            totals: Totals::of(paper.claims()),
            readings: others
                .map(|row| ReadingSummary {
                    name: row.reading.name.clone(),
                    title: row.reading.title.clone(),
                    totals: row.totals,
                })
                .collect(),
            experiments: paper.experiments.iter().map(ExperimentSummary::of).collect(),
            made: Made {
                command: report.command.clone(),
                again: paper_again(report, paper),
                version: report.version.clone(),
                commit: report.commit.clone(),
                scale: report.scale.clone(),
                runs,
                cpu_seconds,
                took: this_command(report),
            },
            out_of_date: String::new(),
        }
    }

    /// An experiment that can be run, and the command that does.
    pub fn example(&self) -> Option<String> {
        let run = self.experiments.iter().find(|of| of.setting != "design")?;
        Some(made_by(&run.id, &self.made.scale, &[], None))
    }
}

impl ExperimentSummary {
    pub fn of(page: &ExperimentPage) -> ExperimentSummary {
        ExperimentSummary {
            id: page.id.clone(),
            place: page.place.clone(),
            title: page.title.clone(),
            setting: page.setting.clone(),
            totals: Totals::of(page.claims.iter()),
            runs: cost(page),
        }
    }
}
