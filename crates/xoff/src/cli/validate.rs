//! `xoff validate`: other simulators and Xoff on the same inputs.

use super::progress::Bars;
use super::reproduce::{commit, write_page};
use super::{Stop, show, show_page};
use crate::validate::times::Times;
use crate::validate::{self, ValidateOptions, Validation, report};
use clap::Args;
use std::path::{Path, PathBuf};
use xoff_scenario::wrap;

#[derive(Args)]
#[command(after_help = "\
Slowdowns are completion times over the standalone times of their fct.txt, of the same flows in both.
Of runs of the TCD authors' simulator means of traced rates and queues are compared too.
A run may be given times of theirs: FOLDER/times.csv (run,seconds), or a table in FOLDER/README.md.

Exit code 1: a run is outside tolerance.

  xoff validate reference reference2            all runs of two folders
  xoff validate reference --only probe_hp       one of them
  xoff validate reference --set model.ecmp=mix  what their choice of paths is worth
  xoff validate reference --docs docs           and write docs/validation.md")]
pub struct ValidateArgs {
    /// Folders with runs/NAME/config.txt, fct.txt and, if there was PFC, pfc.txt
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Only the run of this name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Runs at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    jobs: Option<u64>,
    /// Change any key of every imported scenario: --set model.time_resolution=1ps
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Also write DIR/validation.md, the whole as one document
    #[arg(long, alias = "book", value_name = "DIR")]
    docs: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

pub fn validate(args: &ValidateArgs) -> Result<(), Stop> {
    let cases = validate::read(&args.folders, &args.only, &args.sets)?;
    let times = Times::of_all(&args.folders);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(cores, |jobs| jobs as usize);
    let options = ValidateOptions { jobs, times: &times };
    let bars = Bars::new(args.json);
    let runs = validate::run(&cases, &options, &|name| {
        let bar = bars.add(name);
        move |at| bar.update(at)
    })?;
    let validation = Validation {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: commit(Path::new(".")).unwrap_or_default(),
        sets: args.sets.clone(),
        times_from: if runs.iter().any(|run| run.seconds_theirs.is_some()) {
            times.source.clone()
        } else {
            String::new()
        },
        runs,
    };
    if let Some(folder) = &args.docs {
        write_page(&folder.join("validation.md"), &report::markdown(&validation))?;
    }
    if args.json {
        show(&serde_json::to_string(&validation).map_err(std::io::Error::other)?)?;
    } else {
        show_page(&report::text(&validation, wrap::columns()))?;
    }
    let missed: Vec<&str> = validation.runs.iter().filter(|run| !run.held).map(|run| run.name.as_str()).collect();
    match missed.is_empty() {
        true => Ok(()),
        false => Err(Stop::RunFailed(format!("outside tolerance: {}", missed.join(", ")))),
    }
}
