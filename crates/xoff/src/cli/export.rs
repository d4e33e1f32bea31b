//! `xoff export`: a finished run in another simulator's format.

use super::{ForceArgs, ShowArgs, Stop, show, show_page};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use xoff_results::export::hpcc::Export;
use xoff_results::read::RunDirectory;
use xoff_scenario::number::thousands;

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// fct.txt and pfc.txt of the HPCC authors' simulator
    Hpcc,
}

#[derive(Args)]
#[command(after_help = "\
fct.txt has a line for each finished flow, in the order in which senders received the last ACK:
  src_address dst_address src_port dst_port size_bytes start_ns fct_ns standalone_ns
pfc.txt has a line for each PFC frame that arrived (kind: 0 host, 1 switch; event: 1 pause, 0 resume):
  time_ns node kind port event

The run must have kept its PFC frames:
  xoff run scenario.toml --set output.pfc_frames=true --out results/mine
  xoff export hpcc results/mine")]
pub struct ExportArgs {
    /// The format
    #[arg(value_enum)]
    format: Format,
    /// The directory of a finished run
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Directory of the files [default: DIR/hpcc]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    show: ShowArgs,
}

pub fn export(args: &ExportArgs) -> Result<(), Stop> {
    let Format::Hpcc = args.format;
    let run = RunDirectory::open(&args.run)?;
    let out = args.out.clone().unwrap_or_else(|| args.run.join("hpcc"));
    let made = Export::of(&run)?.write(&run, &out, args.force.present())?;
    if args.show.json {
        let folder = made.folder.display().to_string();
        let value = json!({
            "directory": folder, "flows": made.flows, "flows_left_out": made.left_out, "pfc_frames": made.pfc_frames,
        });
        return show(&value.to_string());
    }
    if args.show.quiet {
        return Ok(());
    }
    let flows = thousands(made.flows as u64);
    let left_out = match made.left_out {
        0 => String::new(),
        some => format!(" ({} that had not finished are left out)", thousands(some as u64)),
    };
    let frames = thousands(made.pfc_frames as u64);
    show_page(&format!(
        "{}: {flows} flows{left_out}\n{}: {frames} lines\n",
        made.folder.join("fct.txt").display(),
        made.folder.join("pfc.txt").display()
    ))
}
