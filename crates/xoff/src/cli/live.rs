//! `xoff live`: a scenario on real packets.

use super::progress::Bars;
use super::run::conclude;
use super::{OutArgs, ScenarioArgs, ShowArgs, Stop, tell, warn};
use clap::{Args, ValueEnum};
use std::io;
use std::process::{Child, Command};
use std::time::Duration;
use xoff_engine::quantity::parse_span;
use xoff_live::calibrate::{Found, calibrate};
use xoff_live::clock::Kind;
use xoff_live::drive::{Settings, Stage};
use xoff_live::gather::{Unmet, gather};
use xoff_live::partners::Partners;
use xoff_live::priority::{self, RealTime};
use xoff_live::testbed::Attachment;
use xoff_live::word::Terms;
use xoff_live::{Refusal, Testbed};
use xoff_results::execute::execute_by;
use xoff_results::outcome::Outcome;
use xoff_run::drive::Keep;
use xoff_scenario::{Diagnostic, Loaded, import};

pub const EXAMPLES: &str = "\
Frames are those of the captures, byte for byte. Rates are divided by k and times multiplied, so that
10 Gb/s links become links that this machine can serve; results are in the scenario's own time.
  sudo xoff live scenarios/live/pcn-testbed.toml
  sudo xoff live scenarios/live/victim.toml --scheme mercury --dilation 200
  xoff compare-live results/live-victim            how far that is from the simulation
  sudo xoff live scenarios/live/victim.toml --shell 'h0=tcpdump -ni to-s0 -c 20'
Several machines, one node on each; they wait for each other and begin together:
  sudo xoff live pair.toml --clock realtime --dilation 1000 --attach eth1 --as h0
On a machine that others use, too: without --no-nice it goes before their programs.
Exit code 1 if the machine was too slow for k: the clock stood still for more than --max-frozen of the time, or
events were later than a tenth of a frame's time.";

#[derive(Args)]
pub struct LiveArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// A scheme in place of the scenario's: NAME[:PRESET][+BASE[:PRESET]]
    #[arg(long, value_name = "SCHEME")]
    scheme: Option<String>,
    /// Time dilation factor: virtual time runs K times slower than wall time, and rates are divided by K; `auto` takes
    /// the smallest at which trial runs on this machine keep up
    #[arg(long, alias = "k", value_name = "K|auto", default_value = "auto", value_parser = scale)]
    dilation: Scale,
    /// When the event loop lags: `freeze` stops virtual time, `realtime` does not
    #[arg(long, value_enum, default_value_t = ClockArg::Freeze)]
    clock: ClockArg,
    /// Fail if virtual time was frozen for a larger share of the run
    #[arg(long, alias = "slip", value_name = "SHARE", default_value = "2%", value_parser = share)]
    max_frozen: f64,
    /// Use an interface of this machine for a port of --as, and build nothing: INTERFACE, or PORT=INTERFACE where the
    /// node has several (`s0->h1=eth2`)
    #[arg(long, value_name = "INTERFACE", requires = "node")]
    attach: Vec<String>,
    /// The node that this machine is, with --attach
    #[arg(long = "as", value_name = "NODE", requires = "attach", id = "node")]
    node: Option<String>,
    /// How long to wait for the processes of the other nodes, with --attach
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = patience, requires = "attach")]
    wait: Duration,
    /// Nice level of this process, -20 (before all others) to 19 [default: -20; with `--clock realtime` real-time priority
    /// instead]
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    nice: Option<i32>,
    /// Go before nobody: leave the nice level as it is, and ask for no real-time priority
    #[arg(long, conflicts_with = "nice")]
    no_nice: bool,
    /// Open a shell in the namespace of a node while it runs, or run a command there: NODE, or NODE=COMMAND
    #[arg(long, value_name = "NODE", conflicts_with_all = ["attach", "json"])]
    shell: Option<String>,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    show: ShowArgs,
}

#[derive(Clone, Copy)]
enum Scale {
    Auto,
    Of(f64),
}

fn scale(text: &str) -> Result<Scale, String> {
    if text == "auto" {
        return Ok(Scale::Auto);
    }
    let k = text.parse::<f64>().ok().filter(|k| k.is_finite() && (1.0..=1e9).contains(k));
    k.map(Scale::Of).ok_or_else(|| "is neither a number from 1 to 1e9 nor `auto`".to_owned())
}

/// `60s`: real time.
fn patience(text: &str) -> Result<Duration, String> {
    parse_span(text).map(|span| Duration::from_nanos(span.ps() / 1000)).map_err(|error| error.to_string())
}

fn share(text: &str) -> Result<f64, String> {
    let per_cent = text.strip_suffix('%').map(|number| number.trim().parse::<f64>().map(|number| number / 100.0));
    let share = per_cent.unwrap_or_else(|| text.parse::<f64>()).ok();
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "is not a share such as 2% or 0.02".to_owned())
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClockArg {
    #[value(alias = "elastic")]
    Freeze,
    #[value(alias = "wall")]
    Realtime,
}

impl ClockArg {
    fn kind(self) -> Kind {
        match self {
            ClockArg::Freeze => Kind::Elastic,
            ClockArg::Realtime => Kind::Wall,
        }
    }
}

pub fn live(args: &LiveArgs) -> Result<(), Stop> {
    let options = args.scenario.options(args.scheme.clone());
    let loaded = import::open(&args.scenario.scenario)?.load(&options)?;
    if !args.show.quiet {
        warn(&loaded.warnings);
    }
    let stage = Stage::new(&loaded, Keep { pauses: true, ..Keep::default() }).map_err(|objections| {
        let diagnostic = |of: xoff_live::unsupported::Objection| Diagnostic::new(of.what).help(of.hint);
        objections.into_iter().map(diagnostic).collect::<Vec<_>>()
    })?;
    let attached = attachment(args, &loaded)?;
    let wanted = shell_of(args, &loaded)?;
    let mut testbed = match &attached {
        None => Testbed::build(stage.plan()),
        Some(nodes) => Testbed::attach(stage.plan(), nodes),
    }
    .map_err(refused)?;
    let (_priority, scheduling) = take_precedence(precedence(args), args);
    let mut settings = Settings {
        clock: args.clock.kind(),
        k: 1.0,
        slip_bound: args.max_frozen,
        own: attached.iter().flatten().map(|(node, _)| *node).collect(),
        scheduling,
    };
    settings.k = match args.dilation {
        Scale::Of(k) => k,
        Scale::Auto => calibrated(&stage, &settings, &mut testbed, args)?,
    };
    let shell = shell(args, wanted, &testbed)?;
    let mut partners = match &attached {
        Some(_) => Some(met(&loaded, &stage, &settings, &mut testbed, args)?),
        None => None,
    };
    let outcome = run(&loaded, &stage, &settings, &mut testbed, partners.as_mut(), args)?;
    if let Some(mut shell) = shell {
        shell.wait()?;
    }
    conclude(&outcome, &args.show)
}

fn run(
    loaded: &Loaded,
    stage: &Stage<'_>,
    settings: &Settings,
    testbed: &mut Testbed,
    partners: Option<&mut Partners>,
    args: &LiveArgs,
) -> Result<Outcome, Stop> {
    let out = args.out.directory(&format!("live-{}", loaded.name));
    let bars = Bars::new(args.show.json || args.show.quiet || args.shell.is_some());
    let bar = bars.add(&loaded.name);
    let outcome = execute_by(loaded, out.as_deref(), |_, keep, sink| {
        stage.drive(settings, testbed, partners, keep, sink, &mut |at| bar.update(at))
    })?;
    bar.finish();
    Ok(outcome)
}

fn refused(refusal: Refusal) -> Stop {
    Stop::System(io::Error::other(refusal.to_string()))
}

/// How a run goes before other programs of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Precedence {
    None,
    Nice(i32),
    RealTime,
}

/// A plain clock needs to be on time, an elastic one to run most of the time.
fn precedence(args: &LiveArgs) -> Precedence {
    match (args.no_nice, args.nice, args.clock) {
        (true, _, _) => Precedence::None,
        (false, Some(level), _) => Precedence::Nice(level),
        (false, None, ClockArg::Freeze) => Precedence::Nice(priority::NICE),
        (false, None, ClockArg::Realtime) => Precedence::RealTime,
    }
}

/// Says what it takes, since others of the machine go after it.
fn take_precedence(wanted: Precedence, args: &LiveArgs) -> (Option<RealTime>, String) {
    let (held, words) = match wanted {
        Precedence::None => (None, "ordinary".to_owned()),
        Precedence::Nice(level) => match priority::set_nice(level) {
            Ok(()) => (None, format!("nice level {level}")),
            // Without it an elastic clock stands still more often, and the slip says so.
            Err(why) => (None, format!("ordinary: nice level {level} was not granted ({why})")),
        },
        Precedence::RealTime => match RealTime::request() {
            Ok(held) => (Some(held), "real-time priority".to_owned()),
            Err(why) => {
                tell(&format!("note: {why}"));
                (None, "ordinary".to_owned())
            }
        },
    };
    if !args.show.json && !args.show.quiet && wanted != Precedence::None {
        tell(&format!("scheduling: {words}; --no-nice leaves it as it is, --nice N takes another level"));
    }
    (held, words)
}

/// Waits for the processes of the other nodes.
fn met(
    loaded: &Loaded,
    stage: &Stage<'_>,
    settings: &Settings,
    testbed: &mut Testbed,
    args: &LiveArgs,
) -> Result<Partners, Stop> {
    let mut partners = Partners::new(stage.plan(), &settings.own, Terms::of(loaded, settings.k));
    let speaks = !args.show.json && !args.show.quiet;
    gather(&mut partners, testbed, args.wait, &mut |words| {
        if speaks {
            tell(words);
        }
    })
    .map_err(|unmet| match unmet {
        Unmet::Partners(why) => Stop::RunFailed(format!("the run did not begin: {why}")),
        Unmet::System(error) => Stop::System(error),
    })?;
    for words in partners.clocks_apart() {
        tell(&format!("warning: {words}"));
    }
    Ok(partners)
}

fn calibrated(stage: &Stage<'_>, settings: &Settings, testbed: &mut Testbed, args: &LiveArgs) -> Result<f64, Stop> {
    if !args.show.json && !args.show.quiet {
        tell("calibrating: how slow this scenario must be for this machine ...");
    }
    let Found { k, slip, keeps_up } = calibrate(stage, settings.clock, &settings.own, testbed)?;
    if !args.show.json && !args.show.quiet {
        tell(&format!("k = {k}: a second of the scenario takes {k} s; slip in the trial {:.2} %", slip * 100.0));
        if !keeps_up {
            tell("note: no larger k slipped less: something else keeps this machine busy");
        }
    }
    Ok(k)
}

/// The node that a shell is wanted for, and the command, if there is one.
fn shell_of<'a>(args: &'a LiveArgs, loaded: &Loaded) -> Result<Option<(u32, Option<&'a str>)>, Diagnostic> {
    let Some(wanted) = &args.shell else { return Ok(None) };
    let (name, command) = wanted.split_once('=').map_or((wanted.as_str(), None), |(name, rest)| (name, Some(rest)));
    Ok(Some((node(name, loaded)?, command)))
}

/// Opens a shell in the namespace of a node, or runs a command there.
fn shell(args: &LiveArgs, wanted: Option<(u32, Option<&str>)>, testbed: &Testbed) -> Result<Option<Child>, Stop> {
    let Some((node, command)) = wanted else {
        if !args.show.json && !args.show.quiet && args.attach.is_empty() {
            tell(&format!("to see frames: {}", testbed.shell_hint(0)));
        }
        return Ok(None);
    };
    let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let mut start = Command::new(if command.is_some() { "/bin/sh".into() } else { shell });
    if let Some(command) = command {
        start.args(["-c", command]);
    }
    Ok(Some(testbed.enter(node, &mut start)?))
}

fn node(name: &str, loaded: &Loaded) -> Result<u32, Diagnostic> {
    let found = loaded.plan.nodes.iter().position(|node| node.name == name);
    let names = loaded.plan.nodes.iter().map(|node| node.name.as_str());
    found
        .map(|node| node as u32)
        .ok_or_else(|| Diagnostic::new(format!("there is no node `{name}`")).nearest(name, names))
}

/// Which ports of the node that this machine is have which interfaces.
fn attachment(args: &LiveArgs, loaded: &Loaded) -> Result<Option<Vec<Attachment>>, Stop> {
    let Some(name) = &args.node else { return Ok(None) };
    let plan = &loaded.plan;
    let node = node(name, loaded)?;
    let own: Vec<u32> = (0..plan.ports() as u32).filter(|port| plan.node_of(*port) == node).collect();
    let mut ports = Vec::new();
    for wanted in &args.attach {
        let (port, interface) = match wanted.rsplit_once('=') {
            Some((port, interface)) => {
                let names: Vec<String> = own.iter().map(|port| plan.port_name(*port)).collect();
                let place = names.iter().position(|name| name == port).ok_or_else(|| {
                    Diagnostic::new(format!("`{name}` has no port `{port}`"))
                        .nearest(port, names.iter().map(String::as_str))
                })?;
                (own[place], interface)
            }
            None if own.len() == 1 => (own[0], wanted.as_str()),
            None => {
                let example = own.first().map_or_else(String::new, |port| plan.port_name(*port));
                return Err(Diagnostic::new(format!("`{name}` has {} ports: which of them is {wanted}?", own.len()))
                    .help(format!("--attach '{example}={wanted}'"))
                    .into());
            }
        };
        ports.push((port, interface.to_owned()));
    }
    if args.clock != ClockArg::Realtime {
        return Err(Diagnostic::new("virtual time cannot be frozen on other machines too")
            .help("use `--clock realtime` with --attach")
            .into());
    }
    if matches!(args.dilation, Scale::Auto) {
        return Err(Diagnostic::new("`--dilation auto` cannot choose for other machines")
            .help("name the same number on all of them: `--dilation 1000`")
            .into());
    }
    if xoff_run::drive::sources(loaded).iter().any(|source| source.reacts()) {
        return Err(Diagnostic::new("traffic that follows what becomes of its flows needs all nodes in one process")
            .help("use traffic of fixed times with --attach")
            .into());
    }
    Ok(Some(vec![(node, ports)]))
}
