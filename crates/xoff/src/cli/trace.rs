//! `xoff trace`: a finished run for Perfetto.

use super::{ForceArgs, ShowArgs, Stop, show, show_page};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use xoff_results::read::RunDirectory;
use xoff_results::trace;
use xoff_scenario::number::thousands;

#[derive(Args)]
#[command(after_help = "\
Open the file at https://ui.perfetto.dev (it stays in the browser) or query it with SQL:
  trace_processor trace.pftrace

Switches and hosts are processes. Slices show when an egress was paused and by which port, and the lifetimes
of flows with the times in which PFC held them; arrows lead from the root of a congestion tree to
the flows it holds. Probes become counters: add [[probe]] tables to the scenario to see queues and
rates. To see pauses when the frames arrived, not when they were decided on:
  xoff run scenario.toml --set output.pfc_frames=true --out results/mine
  xoff trace results/mine")]
pub struct TraceArgs {
    /// The directory of a finished run
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// The file to write [default: DIR/trace.pftrace]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    show: ShowArgs,
}

pub fn trace(args: &TraceArgs) -> Result<(), Stop> {
    let run = RunDirectory::open(&args.run)?;
    let out = args.out.clone().unwrap_or_else(|| args.run.join("trace.pftrace"));
    let made = trace::write(&run, &out, args.force.present())?;
    if args.show.json {
        let value = json!({
            "file": made.file.display().to_string(), "size_bytes": made.bytes, "nodes": made.nodes,
            "flows": made.flows, "pauses": made.pauses, "root_pauses": made.roots, "arrows": made.arrows,
            "samples": made.samples, "activities": made.activities, "pause_times": made.pause_times,
        });
        return show(&value.to_string());
    }
    if args.show.quiet {
        return Ok(());
    }
    let of_jobs = match made.activities {
        0 => String::new(),
        all => format!(", {} activities of jobs", thousands(all as u64)),
    };
    show_page(&format!(
        "{}: {} nodes, {} flows, {} pauses ({} of them roots), {} arrows, {} samples{of_jobs}\n\
         pauses are drawn at {}\n\
         open it at https://ui.perfetto.dev\n",
        made.file.display(),
        thousands(made.nodes as u64),
        thousands(made.flows as u64),
        thousands(made.pauses as u64),
        thousands(made.roots as u64),
        thousands(made.arrows),
        thousands(made.samples),
        made.pause_times,
    ))
}
