//! `xoff reproduce cross`: all schemes on the scenarios of all papers.

use super::reproduce::{RUNS, ReproduceArgs, bar, commit, open_catalogue, open_out, options, write_page};
use super::typed::command;
use super::{Stop, show, show_summary};
use crate::reproduce::Reproduction;
use crate::reproduce::cross::Cross;
use crate::reproduce::interpretation_set::InterpretationSet;
use crate::reproduce::report::{self, CrossReport};
use std::time::Instant;
use xoff_results::files::Staging;
use xoff_scenario::{Diagnostic, wrap};

/// The name under which it is asked for, in place of papers.
const NAME: &str = "cross";

/// Whether it is asked for.
pub fn is_asked_for(args: &ReproduceArgs) -> bool {
    args.names.iter().any(|name| name == NAME)
}

pub fn cross(args: &ReproduceArgs) -> Result<(), Stop> {
    if args.names.len() > 1 {
        let error = Diagnostic::new("`cross` is run by itself, without papers or experiments beside it");
        return Err(error.help("xoff reproduce cross").into());
    }
    if !args.search.is_empty() || !args.interpretation.is_empty() {
        let error =
            Diagnostic::new("`cross` has no interpretations of its own: --interpretation and --search do not apply");
        return Err(error.help("it runs set-ups under the main interpretation of each paper").into());
    }
    let began = Instant::now();
    let catalogue = open_catalogue(args)?;
    let all = ["all".to_owned()];
    let main = InterpretationSet::choose(&catalogue, &all, &[])?.swap_remove(0);
    let cross = Cross::open(&args.from, main.catalogue())?;
    let reproduction = Reproduction::prepare(&cross.catalogue, &all, args.scale)?;
    let (out, workplace) = open_out(args)?;
    let options = options(args, &workplace);
    let bar = bar(args, reproduction.expected_cpu_seconds() / options.jobs as f64, NAME);
    let judgement = reproduction.verdicts(&options, &|at| bar.update(&at))?;
    bar.finish();
    let mut made = reproduction.report(&options, &judgement)?.report;
    let spent = judgement.spent();
    (made.runs, made.cpu_seconds) = (spent.len(), spent.values().map(|(seconds, _)| seconds).sum());
    made.command = command();
    made.commit = commit(&args.from).unwrap_or_default();
    made.wall_seconds = began.elapsed().as_secs_f64();
    let columns = cross.columns(judgement.results());
    let page = CrossReport { cross: &cross, columns, sentences: &judgement.judged, made: &made };
    let document = page.markdown();
    let mut staging = Staging::create(workplace.path())?;
    staging.write("cross.md", document.as_bytes())?;
    staging.write("cross.csv", page.csv().as_bytes())?;
    staging.write("claims.json", report::json(&made).to_string().as_bytes())?;
    staging.keep_store(RUNS)?;
    staging.finish()?;
    if let Some(folder) = &args.docs {
        write_page(&folder.join("cross.md"), &document)?;
    }
    if args.show.json {
        return show(&report::json(&made).to_string());
    }
    if args.show.quiet { Ok(()) } else { show_summary(&page.text(wrap::columns()), Some(&out)) }
}
