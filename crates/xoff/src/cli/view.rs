//! `xoff view`: finished runs replayed in a browser.

use super::{ForceArgs, ShowArgs, Stop, show, show_page};
use clap::Args;
use serde_json::json;
use std::io::{BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};
use xoff_results::files::whole::{self, Pending, Present};
use xoff_scenario::Diagnostic;
use xoff_view::collection::Collection;
use xoff_view::export::{self, Refusal};
use xoff_view::server::Serving;

#[derive(Args)]
#[command(after_help = "\
  xoff compare victim-flow --schemes none,pcn,mercury --out results/victim
  xoff view results/victim                              then open the address that it prints
  xoff view results/victim --export replay.html         one file, to be opened anywhere

The server answers this machine only (127.0.0.1), serves nothing but the runs it was given, and ends
with Ctrl-C. Runs keep what a replay needs unless they were run with [output] activity = false.")]
pub struct ViewArgs {
    /// The directory of a finished run, or of a comparison
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Runs of a comparison to show, by scheme: none,pcn [default: all, three side by side]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    runs: Vec<String>,
    /// Port to listen at [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, conflicts_with = "export")]
    port: u16,
    /// Write the replay into one HTML file instead of serving it
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    show: ShowArgs,
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        match refusal {
            Refusal::Input(diagnostics) => Stop::BadInput(diagnostics),
            Refusal::System(error) => Stop::System(error),
        }
    }
}

pub fn view(args: &ViewArgs) -> Result<(), Stop> {
    let mut collection = Collection::open(&args.dir)?;
    if !args.runs.is_empty() {
        let names: Vec<String> = collection.names().map(str::to_owned).collect();
        collection = collection.only(&args.runs).map_err(|missing| {
            let error = Diagnostic::new(format!("`{}` has no run `{missing}`", args.dir.display()));
            error.help(format!("it has {}", names.join(", ")))
        })?;
    }
    match &args.export {
        Some(file) => write(args, &collection, file),
        None => serve(args, collection),
    }
}

fn write(args: &ViewArgs, collection: &Collection, file: &Path) -> Result<(), Stop> {
    let present = args.force.present();
    if present == Present::Refuse && file.exists() && !file.is_dir() {
        return Err(whole::taken(file).into());
    }
    let mut out = BufWriter::new(Pending::create(file)?);
    export::write(collection, &mut out)?;
    let out = out.into_inner().map_err(IntoInnerError::into_error)?;
    let bytes = out.sync()?;
    out.commit(present)?;
    if args.show.json {
        let runs: Vec<&str> = collection.names().collect();
        return show(&json!({ "file": file.display().to_string(), "size_bytes": bytes, "runs": runs }).to_string());
    }
    if args.show.quiet {
        return Ok(());
    }
    let size = bytes as f64 / 1e6;
    show_page(&format!("{}: {size:.1} MB, opens in any browser, asks no server\n", file.display()))
}

fn serve(args: &ViewArgs, collection: Collection) -> Result<(), Stop> {
    let names: Vec<String> = collection.names().map(str::to_owned).collect();
    let serving = Serving::bind(collection, args.port)?;
    if args.show.json {
        show(&json!({ "url": serving.url(), "runs": names }).to_string())?;
    } else if !args.show.quiet {
        show_page(&format!("{}  ({})\nopen it in a browser; Ctrl-C ends\n", serving.url(), names.join(", ")))?;
    }
    Ok(serving.run()?)
}
