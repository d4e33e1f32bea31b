//! The command line: what is asked, and how the answer is shown.

mod colour;
pub(crate) mod compare;
mod compare_live;
mod complete;
mod cross;
pub(crate) mod describe;
mod export;
mod import;
mod inspect;
mod live;
mod new;
mod place;
mod print;
mod progress;
mod renamed;
pub(crate) mod reproduce;
mod run;
mod seeds;
mod signals;
mod sweep;
mod trace;
mod typed;
mod validate;
mod view;
mod watch;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use print::{show, show_page, show_summary, tell, tell_folded, tell_notes, warn};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use xoff_results::files::Present;
use xoff_results::refusal::Refusal;
use xoff_results::text::Style;
use xoff_scenario::{Diagnostic, Options, library, wrap};
use xoff_schemes::SchemeSet;
use xoff_sweep::pool::Failed;

/// Why a command did not succeed.
pub(crate) enum Stop {
    /// The input is wrong: exit code 2, nothing was written.
    BadInput(Vec<Diagnostic>),
    /// The arguments are wrong, and that has been said: exit code 2.
    BadUsage,
    /// The run itself failed: exit code 1.
    RunFailed(String),
    /// The system refused: exit code 3.
    System(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Stop {
        match error.kind() {
            // What a run would have needed, or what the system has not.
            std::io::ErrorKind::OutOfMemory => Stop::RunFailed(error.to_string()),
            _ => Stop::System(error),
        }
    }
}

impl From<Failed> for Stop {
    fn from(failed: Failed) -> Stop {
        match failed {
            Failed::BadInput(problems) => Stop::BadInput(problems),
            Failed::System(error) => Stop::System(error),
        }
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        match refusal {
            Refusal::Input(diagnostics) => Stop::BadInput(diagnostics),
            Refusal::System(error) => Stop::System(error),
        }
    }
}

impl From<Vec<Diagnostic>> for Stop {
    fn from(diagnostics: Vec<Diagnostic>) -> Stop {
        Stop::BadInput(diagnostics)
    }
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Stop {
        Stop::BadInput(vec![diagnostic])
    }
}

/// Congestion control in lossless datacentre networks, every scheme side by side.
///
/// Without a command: compares the schemes on the classic victim-flow scenario, in about ten
/// seconds.
#[derive(Parser)]
#[command(
    name = "xoff",
    version,
    after_help = "\
Exit codes: 0 success, 1 the simulated network failed (drop in a lossless class, deadlock, stall, \
flows that did not finish though nothing cut them off) or outgrew the memory, or the machine was too slow for a live \
run, 2 wrong input, 3 the system refused, \
130 and 143 interrupted.

Start here:
  xoff                                          the ten-second comparison
  xoff run scenarios/incast.toml                one run, one summary
  xoff check scenarios/fat-tree-websearch.toml  what would be built
  xoff schemes dcqcn                            parameters, units, presets, sources
  xoff reproduce pcn-fig2                       a figure of a paper, redrawn and judged"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Stop a run when the process exceeds this memory: 8GB [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE", global = true, value_parser = memory_size)]
    memory: Option<u64>,
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t = colour::When::Auto, hide_possible_values = true)]
    color: colour::When,
}

fn memory_size(text: &str) -> Result<u64, String> {
    xoff_engine::quantity::parse_bytes(text).map_err(|why| format!("it {why}; write a size such as 8GB"))
}

#[derive(Subcommand)]
enum Command {
    /// Run one scenario
    ///
    /// Prints a summary and writes a run directory: tables (Parquet), figures, report.html.
    Run(run::RunArgs),
    /// Run the same traffic under several schemes and put them side by side
    Compare(compare::CompareArgs),
    /// Run one scenario on real packets
    ///
    /// Software NICs and switches send Ethernet frames over virtual links between network namespaces, which vanish with
    /// the program. Writes the same run directory as `run`, and how well the machine kept up.
    #[command(after_help = live::EXAMPLES)]
    Live(live::LiveArgs),
    /// Put live runs beside the simulation of the same scenario
    ///
    /// Throughput and queues over time, PAUSE frames, completion times by size, and how far they are apart.
    CompareLive(compare_live::CompareLiveArgs),
    /// Run one scenario over axes, schemes and seeds: one table, one report
    ///
    /// Killed and started again, it resumes; a changed axis runs only what is new.
    #[command(after_help = sweep::EXAMPLES)]
    Sweep(sweep::SweepArgs),
    /// Run the papers' experiments, redraw their figures and judge their claims
    ///
    /// Without names it lists what there is. Killed and started again, it resumes.
    Reproduce(reproduce::ReproduceArgs),
    /// Run another simulator's inputs and compare with its results
    ///
    /// FOLDER/runs/NAME holds config.txt, fct.txt and pfc.txt of the HPCC authors' simulator, of
    /// PowerTCP's authors' if NAME is inet_*, or of the TCD authors' if it is tcd_*. Flows are compared
    /// one by one, and held against what docs/validation.md promises.
    Validate(validate::ValidateArgs),
    /// Write a finished run in another simulator's format
    ///
    /// `hpcc` makes fct.txt and pfc.txt as the HPCC authors' simulator writes them, for the scripts
    /// that read those.
    Export(export::ExportArgs),
    /// Write a finished run as a trace for Perfetto
    ///
    /// Pauses, flows, queues and rates on one time line, with arrows from the root of a congestion
    /// tree to the flows it holds.
    Trace(trace::TraceArgs),
    /// Replay finished runs in the browser: queues, pauses, congestion trees, victims
    ///
    /// Serves a page on loopback, or writes it as one file that anyone can open.
    View(view::ViewArgs),
    /// Analyse a scenario without running it
    ///
    /// Nodes and links, oversubscription, round trips, buffers against required headroom, whether
    /// ECN acts before PFC, whether buffers depend on each other in a cycle.
    Check(inspect::CheckArgs),
    /// Turn files of other simulators into scenarios
    Import(import::ImportArgs),
    /// List the schemes, or the parameters of one
    Schemes(inspect::SchemesArgs),
    /// Explain every column of the results, every key of a scenario or of another simulator's files
    ///
    /// Or any one word of them: `xoff describe traffic`, `xoff describe switch.pfc`, `xoff describe kmin`.
    Describe(describe::DescribeArgs),
    /// Create a scenario or a scheme from a template
    New(new::NewArgs),
    /// Print completions for a shell
    ///
    /// For bash: `source <(xoff completions bash)`; `xoff completions zsh > _xoff` in a folder of fpath.
    Completions(complete::CompletionsArgs),
    /// Write man pages
    Man(complete::ManArgs),
}

/// What selects and changes a scenario.
#[derive(Args, Clone)]
struct ScenarioArgs {
    /// The scenario file (TOML), or a configuration of the HPCC authors' simulator; - reads standard input
    scenario: PathBuf,
    /// Random seed, in place of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Change any key of the scenario: --set scheme.name=none --set traffic.web.load=0.7 (the traffic named web; by number: traffic.0.load); null takes it out
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

impl ScenarioArgs {
    /// What it is loaded with, under a scheme of its own or another.
    fn options(&self, scheme: Option<String>) -> Options {
        Options { sets: self.sets.clone(), seed: self.seed, scheme, ..Options::default() }
    }
}

/// Which engine runs it.
#[derive(Args, Clone, Default)]
struct FidelityArgs {
    /// `packet` follows every packet, queue and PAUSE; `flow` gives flows max-min fair rates, 20 to 400 times as fast
    /// [default: the scenario's]
    #[arg(long, value_name = "LEVEL", value_parser = ["packet", "flow"])]
    fidelity: Option<String>,
    /// What collectives of jobs are at flow level: flows over all connections of a channel, or every message
    /// [default: the scenario's]
    #[arg(long, value_name = "FORM", value_parser = ["macro", "messages"])]
    collectives: Option<String>,
    /// Run at flow level even where that is known to be far from packet level
    #[arg(long)]
    out_of_range: bool,
}

impl FidelityArgs {
    /// What these set in a scenario.
    fn sets(&self) -> Vec<String> {
        let fidelity = self.fidelity.as_ref().map(|fidelity| format!("run.fidelity={fidelity}"));
        let collectives = self.collectives.as_ref().map(|form| format!("run.collectives={form}"));
        fidelity
            .into_iter()
            .chain(collectives)
            .chain(self.out_of_range.then(|| "run.out_of_range=true".to_owned()))
            .collect()
    }

    /// Adds them to what a scenario is loaded with.
    fn on(&self, mut options: Options) -> Options {
        options.sets.extend(self.sets());
        options
    }
}

/// Where results go.
#[derive(Args, Clone)]
struct OutArgs {
    /// Directory of the results [default: one under results/, by the scenario's name]
    #[arg(long, value_name = "DIR", conflicts_with = "no_out")]
    out: Option<PathBuf>,
    /// Write no directory, only print
    #[arg(long)]
    no_out: bool,
}

impl OutArgs {
    /// The directory to write, `results/NAME` unless one was named; none if none is wanted.
    fn directory(&self, name: &str) -> Option<PathBuf> {
        if self.no_out {
            return None;
        }
        Some(self.out.clone().unwrap_or_else(|| Path::new("results").join(name)))
    }
}

/// Whether files are replaced.
#[derive(Args, Clone, Copy)]
struct ForceArgs {
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
}

impl ForceArgs {
    fn present(self) -> Present {
        if self.force { Present::Replace } else { Present::Refuse }
    }
}

/// What decides how the answer is shown.
#[derive(Args, Clone)]
struct ShowArgs {
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
    /// Print nothing but errors
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
}

/// Runs the program with schemes of one's own beside those that it has.
///
/// ```no_run
/// use xoff::schemes::{Any, Configured, With};
///
/// fn main_of<MyIdea: Configured + 'static>() -> std::process::ExitCode {
///     xoff::cli::main_with::<With<MyIdea, Any>>()
/// }
/// ```
pub fn main_with<R: SchemeSet>() -> ExitCode {
    match xoff_schemes::install::<R>() {
        Ok(()) => main(),
        Err(why) => {
            tell(&format!("error: {why}"));
            ExitCode::from(2)
        }
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    xoff_schemes::install_all();
    library::provide(crate::inside::FILES);
    colour::look_for(std::env::args_os());
    let command = Cli::command().term_width(wrap::columns()).color(colour::choice());
    let arguments: Vec<_> = std::env::args_os().collect();
    renamed::notes(&command, &arguments).iter().for_each(|note| tell_folded(&format!("warning: {note}")));
    let parsed = command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let ended = match parsed {
        Ok(cli) => signals::watch().map_err(Stop::System).and_then(|()| obey(cli)),
        Err(asked) => explain(&asked),
    };
    signals::wait_if_stopped();
    tell_notes();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::BadInput(diagnostics)) => {
            let (width, colour) = (wrap::columns_of_messages(), colour::on_stderr());
            for diagnostic in diagnostics {
                tell(&diagnostic.render_in(width, colour));
            }
            ExitCode::from(2)
        }
        Err(Stop::BadUsage) => ExitCode::from(2),
        Err(Stop::RunFailed(why)) => {
            tell_folded(&format!("error: {why}"));
            ExitCode::from(1)
        }
        Err(Stop::System(error)) => {
            tell_folded(&format!("error: {error}"));
            ExitCode::from(3)
        }
    }
}

fn obey(cli: Cli) -> Result<(), Stop> {
    if let Some(bytes) = cli.memory {
        xoff_run::memory::set_limit(bytes);
        if !xoff_run::memory::is_known() {
            tell("note: this system does not say how much memory a program holds; --memory has no effect");
        }
    }
    match cli.command {
        None => compare::demo(),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Compare(args)) => compare::compare(&args),
        Some(Command::Live(args)) => live::live(&args),
        Some(Command::CompareLive(args)) => compare_live::compare_live(&args),
        Some(Command::Sweep(args)) => sweep::sweep(&args),
        Some(Command::Reproduce(args)) if cross::is_asked_for(&args) => cross::cross(&args),
        Some(Command::Reproduce(args)) => reproduce::reproduce(&args),
        Some(Command::Validate(args)) => validate::validate(&args),
        Some(Command::Export(args)) => export::export(&args),
        Some(Command::Trace(args)) => trace::trace(&args),
        Some(Command::View(args)) => view::view(&args),
        Some(Command::Check(args)) => inspect::check(&args),
        Some(Command::Import(args)) => import::import(&args),
        Some(Command::Schemes(args)) => inspect::schemes(&args),
        Some(Command::Describe(args)) => describe::describe(&args),
        Some(Command::New(args)) => new::new(&args),
        Some(Command::Completions(args)) => complete::completions(&args),
        Some(Command::Man(args)) => complete::man(&args),
    }
}

/// Help and version that were asked for, or what is wrong with the arguments.
fn explain(asked: &clap::Error) -> Result<(), Stop> {
    if !asked.use_stderr() {
        return asked.print().or_else(|error| print::unless_unread(&error));
    }
    let text = asked.render();
    let text = if colour::on_stderr() { text.ansi().to_string() } else { text.to_string() };
    tell_folded(text.trim_end());
    Err(Stop::BadUsage)
}

/// Bold and colour only where a person looks, or where they are asked for.
fn style() -> Style {
    if colour::on_stdout() { Style::Terminal } else { Style::Plain }
}
