//! `xoff view`: finished runs replayed in a browser.

use super::{ForceArgs, ShowArgs, Stop, show, show_page};
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use xoff_engine::Time;
use xoff_engine::quantity::parse_span;
use xoff_results::figures::tree;
use xoff_results::files;
use xoff_scenario::Diagnostic;
use xoff_scenario::number::thousands;
use xoff_view::collection::Collection;
use xoff_view::export;
use xoff_view::server::Serving;

#[derive(Args)]
#[command(after_help = "\
  xoff compare victim-flow --schemes none,pcn,mercury --out results/victim
  xoff view results/victim                              then open the address that it prints
  xoff view results/victim --export replay.html         one file, to be opened anywhere
  xoff view results/victim --runs none --picture tree.svg --at 20.5ms
                                                        the congestion tree at an instant, for a paper

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
    /// Draw the congestion tree of one run at an instant instead, as FILE.svg or FILE.png
    #[arg(long, value_name = "FILE", conflicts_with_all = ["export", "port"])]
    picture: Option<PathBuf>,
    /// The instant [default: the first at which most egresses are stopped]
    #[arg(long, value_name = "TIME", requires = "picture", value_parser = instant)]
    at: Option<Time>,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    show: ShowArgs,
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
    match (&args.picture, &args.export) {
        (Some(file), _) => draw(args, &collection, file),
        (None, Some(file)) => write(args, &collection, file),
        (None, None) => serve(args, collection),
    }
}

/// `20.5ms`.
fn instant(text: &str) -> Result<Time, String> {
    parse_span(text).map(|span| Time::ZERO + span).map_err(|error| error.to_string())
}

/// The congestion tree of the one run that is left.
fn draw(args: &ViewArgs, collection: &Collection, file: &Path) -> Result<(), Stop> {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !["svg", "png"].contains(&ending) {
        let error = Diagnostic::new(format!("`{}` is no name for a picture", file.display()));
        return Err(error.label("it must end in .svg or .png").into());
    }
    let names: Vec<&str> = collection.names().collect();
    if names.len() != 1 {
        let error = Diagnostic::new(format!("`{}` holds several runs, and a picture shows one", args.dir.display()));
        return Err(error.help(format!("name one with --runs: {}", names.join(", "))).into());
    }
    let Some(replay) = collection.replay(0) else { return Ok(()) };
    let scene = replay?.scene(args.at, &[])?;
    let bytes = if ending == "svg" { tree::svg(&scene).map(String::into_bytes) } else { tree::png(&scene) };
    let bytes = bytes.map_err(std::io::Error::other)?;
    files::add(&args.dir, file, args.force.present(), |out| out.write_all(&bytes))?;
    if args.show.json {
        let facts = json!({ "file": file.display().to_string(), "at_us": scene.at_us, "stopped": scene.stops.len() });
        return show(&facts.to_string());
    }
    if args.show.quiet { Ok(()) } else { show_page(&format!("{}: {}\n", file.display(), tree::caption(&scene))) }
}

fn write(args: &ViewArgs, collection: &Collection, file: &Path) -> Result<(), Stop> {
    let (held, bytes) = files::add(&args.dir, file, args.force.present(), |out| export::write(collection, out))?;
    if args.show.json {
        let runs: Vec<&str> = collection.names().collect();
        let (flows, of) = (held.flows, held.of);
        let facts = json!({ "file": file.display().to_string(), "size_bytes": bytes, "runs": runs, "flows": flows, "flows_of": of });
        return show(&facts.to_string());
    }
    if args.show.quiet {
        return Ok(());
    }
    let size = bytes as f64 / 1e6;
    let rest = match held.of - held.flows {
        0 => String::new(),
        _ => format!(
            "; {} of {} flows have their course over time",
            thousands(held.flows as u64),
            thousands(held.of as u64)
        ),
    };
    show_page(&format!("{}: {size:.1} MB, opens in any browser, asks no server{rest}\n", file.display()))
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
