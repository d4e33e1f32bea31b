//! `[run]`, `[output]`, `[[fault]]` and `[[probe]]`: what happens during a run and what is kept.

use super::context::TrafficContext;
use super::dictionary::words;
use super::reader::{LONGEST, Result, Table};
use crate::looks::Looks;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{Collectives, Fault, FaultKind, Fidelity, NodeKind, Plan, Probe, ProbeTarget, RunSettings};
use xoff_fabric::route::{ALL_SWITCHES, farthest};
use xoff_jobs::settle::Rule;

/// More samples than this are a slip, and would fill a disk.
const SAMPLES_LARGEST: u64 = 500_000_000;

/// How often the whole network is looked over, unless that is off.
fn check_interval(table: &mut Table, key: &str) -> Result<Option<Span>> {
    let interval = table.interval_or_off(key)?;
    interval.map(|interval| table.not_below(key, interval, Span::from_us(1))).transpose()
}

/// `[run]`; the stop is checked once the traffic is known.
pub fn read_run(table: &mut Table, output: &Output) -> Result<(RunSettings, Option<Time>, Option<Rule>)> {
    let stop = table.take_time("stop")?;
    if stop == Some(Time::ZERO) {
        return Err(table.error("stop", "`stop` cannot be zero"));
    }
    let fidelity = table.choice("fidelity", words::FIDELITY)?;
    let packets = fidelity == Fidelity::Packet;
    let settings = RunSettings {
        stop: stop.unwrap_or(Time::ZERO + LONGEST),
        stop_when_idle: table.flag("stop_when_idle")?,
        fidelity,
        collectives: if packets { Collectives::Auto } else { table.choice("collectives", words::COLLECTIVES)? },
        out_of_range: !packets && table.flag("out_of_range")?,
        allow_drops: packets && table.flag("allow_drops")?,
        deadlock_check: if packets { check_interval(table, "deadlock_check")? } else { None },
        stall_after: check_interval(table, "stall_after")?,
        record_pauses: output.pauses && packets,
        record_pfc_frames: output.pfc_frames,
        record_flow_links: output.flow_links,
        ..RunSettings::default()
    };
    let stop_on_deadlock = match settings.deadlock_check {
        Some(_) => table.is("on_deadlock", "stop")?,
        None => true,
    };
    if stop.is_none() && !settings.stop_when_idle {
        let error = table.error("stop_when_idle", "this run would never end");
        return Err(error.label("give `stop`, or let it stop when idle"));
    }
    let settle = match table.take_table("settle")? {
        Some(mut inner) => {
            let rule = read_settle(&mut inner)?;
            inner.finish()?;
            Some(rule)
        }
        None => None,
    };
    Ok((RunSettings { stop_on_deadlock, ..settings }, stop, settle))
}

/// `[run.settle]`.
fn read_settle(table: &mut Table) -> Result<Rule> {
    Ok(Rule {
        error: table.number("error", 1e-6..=0.5)?,
        warm_up: table.count("warm_up", 0..=1_000_000)? as u32,
        at_least: table.count("at_least", 3..=1_000_000)? as u32,
    })
}

/// What a run leaves behind besides its tables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Output {
    /// A CSV file beside each Parquet table.
    pub csv: bool,
    /// SVG and PNG files; the report has the figures in any case.
    pub figures: bool,
    /// Every decision to pause or resume, in a table of their own.
    pub pauses: bool,
    /// PFC frames as they arrive, in a table of their own.
    pub pfc_frames: bool,
    /// What each port sent of each flow, in a table of their own.
    pub flow_links: bool,
    /// What ports and flows did, window by window, in two tables: what a replay needs.
    pub activity: bool,
    /// How figures call and draw schemes.
    pub looks: Looks,
}

pub fn read_output(table: &mut Table) -> Result<Output> {
    Ok(Output {
        csv: table.flag("csv")?,
        figures: table.flag("figures")?,
        pauses: table.flag("pauses")?,
        pfc_frames: table.flag("pfc_frames")?,
        flow_links: table.flag("flow_links")?,
        activity: table.flag("activity")?,
        looks: Looks::read(table)?,
    })
}

/// All of `[[fault]]`, sorted by time.
pub fn read_faults(root: &mut Table, context: &TrafficContext<'_>) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for mut row in root.tables("fault")? {
        read_fault(&mut row, context, &mut faults)?;
        row.finish()?;
    }
    // A stable sort: faults at one instant happen in the order written.
    faults.sort_by_key(|fault| fault.at);
    Ok(faults)
}

fn read_fault(row: &mut Table, context: &TrafficContext<'_>, faults: &mut Vec<Fault>) -> Result<()> {
    let kind = row.word("kind")?;
    let at = row.time("at")?;
    let until = if kind == "link-up" { None } else { row.take_time("until")? };
    if until.is_some_and(|until| until <= at) {
        return Err(row.error("until", "`until` is not after `at`").label(format!("later than {at}")));
    }
    let names = context.names;
    let spread = if matches!(kind, "link-down" | "link-up") { Spread::read(row)? } else { Spread::default() };
    // Each change with what undoes it.
    let mut changes: Vec<(FaultKind, FaultKind)> = Vec::new();
    if kind == "pause-storm" {
        let selectors = row.texts("host")?;
        let class = read_class(row, context)?;
        if !context.plan.classes.list[usize::from(class)].lossless {
            return Err(row.error("class", "a lossy class cannot be paused").label("a lossless class is needed"));
        }
        let hosts = names.hosts(&selectors)?;
        for host_port in (0..context.plan.ports() as u32).filter(|port| hosts.contains(&names.node_of(*port))) {
            let storm = |on| FaultKind::PauseStorm { host_port, class, on };
            changes.push((storm(true), storm(false)));
        }
    } else {
        let selectors = row.texts("link")?;
        let ports = names.all_ports(&selectors)?;
        match kind {
            "rate" => {
                let given = row.rate("rate")?;
                let rate = super::topology_keys::link_rate(row, "rate", given)?;
                let before = |port| context.plan.direction(port).rate;
                changes.extend(
                    ports
                        .iter()
                        .map(|&port| (FaultKind::Rate { port, rate }, FaultKind::Rate { port, rate: before(port) })),
                );
            }
            "loss" => {
                let loss = row.number("loss", 0.0..=1.0)?;
                let before = |port| context.plan.direction(port).loss;
                changes.extend(
                    ports
                        .iter()
                        .map(|&port| (FaultKind::Loss { port, loss }, FaultKind::Loss { port, loss: before(port) })),
                );
            }
            _ => {
                let mut links: Vec<u32> = ports.iter().map(|port| port / 2).collect();
                links.dedup();
                for link in links {
                    let (down, up) = spread.kinds(link);
                    changes.push(if kind == "link-down" { (down, up) } else { (up, down) });
                }
            }
        }
    }
    for (what, undo) in changes {
        for (at, what) in [(Some(at), what), (until, undo)] {
            let Some(at) = at else { continue };
            faults.push(Fault { at, what });
            spread.learn(context.plan, at, what, faults);
        }
    }
    Ok(())
}

/// How long it takes until switches know of a link that failed, or works again.
#[derive(Clone, Copy, Default)]
struct Spread {
    detect: Span,
    fib: Span,
    converge: Span,
}

impl Spread {
    fn read(row: &mut Table) -> Result<Spread> {
        let mut span = |key| row.time(key).map(|at| at.saturating_since(Time::ZERO));
        Ok(Spread { detect: span("detect")?, fib: span("fib")?, converge: span("converge")? })
    }

    fn takes_time(self) -> bool {
        self.detect + self.fib + self.converge > Span::ZERO
    }

    /// What happens when a link fails and when it works again.
    fn kinds(self, link: u32) -> (FaultKind, FaultKind) {
        match self.takes_time() {
            true => (FaultKind::LinkDead { link }, FaultKind::LinkAlive { link }),
            false => (FaultKind::LinkDown { link }, FaultKind::LinkUp { link }),
        }
    }

    /// Lets switches learn, those next to the link first; the farthest with all others, and then routes are the shortest.
    fn learn(self, plan: &Plan, at: Time, what: FaultKind, faults: &mut Vec<Fault>) {
        let (FaultKind::LinkDead { link } | FaultKind::LinkAlive { link }) = what else { return };
        let known = at + self.detect + self.fib;
        let farthest = if self.converge > Span::ZERO { farthest(plan, link) } else { 0 };
        for hops in 0..=farthest {
            let within = if hops == farthest { ALL_SWITCHES } else { hops };
            let at = known + Span::from_ps(self.converge.ps() * u64::from(hops));
            faults.push(Fault { at, what: FaultKind::Learned { link, within } });
        }
    }
}

fn read_class(row: &mut Table, context: &TrafficContext<'_>) -> Result<u8> {
    let name = row.text_or("class", &context.classes[usize::from(context.default_class)])?;
    context.class(&name)
}

/// All of `[[probe]]`. A probe without `until` goes on to the end of the run.
pub fn read_probes(root: &mut Table, context: &TrafficContext<'_>, stop: Option<Time>) -> Result<Vec<Probe>> {
    let mut probes = Vec::new();
    let mut samples = 0u64;
    for mut row in root.tables("probe")? {
        let targets = read_targets(&mut row, context)?;
        let every = row.interval("every")?;
        let from = row.time("from")?;
        let until = row.take_time("until")?;
        if until.is_some_and(|until| until <= from) {
            return Err(row.error("until", "`until` is not after `from`").label(format!("later than {from}")));
        }
        let end = until.or(stop);
        if let Some(end) = end {
            samples = samples
                .saturating_add((end.saturating_since(from).ps() / every.ps()).saturating_mul(targets.len() as u64));
        }
        if samples > SAMPLES_LARGEST {
            let error = row.error("every", format!("the probes would take {samples} samples"));
            return Err(error.label(format!("at most {SAMPLES_LARGEST}; choose fewer ports or a longer interval")));
        }
        probes.extend(targets.into_iter().map(|what| Probe { what, every, from, until: end.unwrap_or(Time::NEVER) }));
        row.finish()?;
    }
    Ok(probes)
}

fn read_targets(row: &mut Table, context: &TrafficContext<'_>) -> Result<Vec<ProbeTarget>> {
    let what = row.word("what")?;
    match what {
        "flows" => return Ok(vec![ProbeTarget::Flows]),
        "scheme" => return Ok(vec![ProbeTarget::Scheme]),
        _ => {}
    }
    let selectors = row.texts("ports")?;
    let mut ports = context.names.all_ports(&selectors)?;
    if what == "buffer" {
        ports.iter_mut().for_each(|port| *port = first_port(context.plan, *port));
        ports.sort_unstable();
        ports.dedup();
    }
    let class = match what {
        "queue" | "ingress" | "paused" => read_class(row, context)?,
        _ => context.default_class,
    };
    let at_host = |port: &u32| is_host_port(context.plan, *port);
    if matches!(what, "ingress" | "buffer")
        && let Some(port) = ports.iter().find(|port| at_host(port))
    {
        let name = context.plan.port_name(*port);
        let error = row.error(
            "ports",
            format!("`{name}` is a host's port, and hosts keep no ingress account and no shared buffer"),
        );
        return Err(error.help("a port is named by its owner first: `s1->s0` is the port of s1 that faces s0"));
    }
    let target = |port: u32| match what {
        "queue" => ProbeTarget::Queue { port, class },
        "ingress" => ProbeTarget::Ingress { port, class },
        "throughput" => ProbeTarget::Throughput { port },
        "paused" => ProbeTarget::Paused { port, class },
        "shaped" => ProbeTarget::Shaped { port },
        "buffer" => ProbeTarget::Buffer { port },
        _ => ProbeTarget::PauseRate { port },
    };
    Ok(ports.into_iter().map(target).collect())
}

/// The first port of the node that owns a port: what the buffer of a switch is named by.
pub(crate) fn first_port(plan: &Plan, port: u32) -> u32 {
    let node = plan.node_of(port);
    (0..port).find(|other| plan.node_of(*other) == node).unwrap_or(port)
}

fn is_host_port(plan: &Plan, port: u32) -> bool {
    plan.nodes[plan.node_of(port) as usize].kind == NodeKind::Host
}
