//! What is written, in order of time.

use super::encoder::{Attached, Encoder, Note, Value};
use super::jobs::Jobs;
use super::samples::{self, Step, Steps};
use super::tracks::{self, FlowName, RUN, Side, Tracks};
use crate::congestion::chain::Link;
use crate::congestion::flows::{Flow, Flows, span_us};
use crate::congestion::network::Network;
use crate::congestion::stops::{Stop, Times};
use crate::congestion::tree::Trees;
use crate::congestion::{from_us, known_port};
use crate::read::RunDirectory;
use crate::refusal::Refusal;
use crate::{Summary, tables};
use std::collections::HashMap;
use std::io::{self, Write};
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{Fault, FaultKind, Plan};
use xoff_fabric::record::{Metric, Variable};
use xoff_fabric::route::ALL_SWITCHES;
use xoff_scenario::Diagnostic;
use xoff_scenario::measure::probe::{METRICS, facts};

/// Everything that is known of a run before its samples are read.
pub struct Story<'a> {
    run: &'a RunDirectory,
    network: &'a Network,
    flows: &'a Flows,
    jobs: &'a Jobs,
    pub stops: Vec<Stop>,
    links: Vec<Link>,
    holds: Vec<Hold>,
    /// By stop: the number of the first arrow that ends there; one more for the holds.
    first_arrow: Vec<u64>,
    /// By stop: the numbers of the arrows that begin there.
    arrows_out: Vec<Vec<u64>>,
    plan: &'a Plan,
    times: Times,
    end: Time,
}

/// A stop as one flow feels it at its sender.
struct Hold {
    flow: u32,
    stop: u32,
    from: Time,
    until: Time,
}

/// Something that happens, and the order of what happens at the same instant: inner slices end
/// before outer ones, ends come before beginnings, outer slices begin before inner ones. A slice
/// without length ends after it has begun.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    ActivityEnd,
    HoldEnd,
    StopEnd,
    FlowEnd,
    DisturbanceEnd,
    Fault,
    DisturbanceBegin,
    FlowBegin,
    Delivered,
    StopBegin,
    HoldBegin,
    ActivityBegin,
    EmptyActivityEnd,
    EmptyStopEnd,
    EmptyFlowEnd,
}

type Event = (Time, What, u32);

impl<'a> Story<'a> {
    pub fn new(
        run: &'a RunDirectory,
        plan: &'a Plan,
        network: &'a Network,
        flows: &'a Flows,
        jobs: &'a Jobs,
        Trees { stops, links, times, .. }: Trees,
        end: Time,
    ) -> Story<'a> {
        let holds = holds(flows, &stops, network, end);
        let mut arrows_out = vec![Vec::new(); stops.len()];
        let mut first_arrow = Vec::with_capacity(stops.len() + 1);
        let mut next = 1;
        for link in &links {
            first_arrow.push(next);
            for &cause in &link.causes {
                arrows_out[cause as usize].push(next);
                next += 1;
            }
        }
        first_arrow.push(next);
        for (hold, arrow) in holds.iter().zip(next..) {
            arrows_out[hold.stop as usize].push(arrow);
        }
        Story { run, network, flows, jobs, stops, links, holds, first_arrow, arrows_out, plan, times, end }
    }

    pub fn roots(&self) -> usize {
        self.links.iter().filter(|link| link.depth == 0).count()
    }

    pub fn arrows(&self) -> u64 {
        self.first_arrow[self.stops.len()] - 1 + self.holds.len() as u64
    }

    /// Writes everything and says how many samples there were.
    pub fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<u64, Refusal> {
        let summary = &self.run.summary;
        let title = format!("run {} ({})", summary.name, summary.scheme);
        let mut tracks = Tracks::begin(encoder, self.network, self.jobs, &title)?;
        let events = self.events();
        // A run may begin late: without samples, which do not, the trace has no idle beginning.
        let first = events.first().filter(|_| self.plan.probes.is_empty()).map_or(Time::ZERO, |event| event.0);
        self.write_about(encoder, summary, first)?;
        let mut next = events.into_iter().peekable();
        let mut steps = Steps::new(self.plan.probes.iter().map(|probe| probe.every).max().unwrap_or(Span::ZERO));
        let mut step = |step: Step, encoder: &mut Encoder<W>, tracks: &mut Tracks| {
            while let Some(event) = next.next_if(|event| event.0 <= step.at) {
                self.write_event(encoder, tracks, event)?;
            }
            encoder.counter(step.at, step.track, step.value)
        };
        let by_id: HashMap<u64, &Flow> = self.flows.list.iter().map(|flow| (flow.id, flow)).collect();
        let mut metrics: HashMap<String, (usize, Metric)> = METRICS
            .into_iter()
            .enumerate()
            .map(|(index, metric)| (facts(metric).name.to_owned(), (index, metric)))
            .collect();
        let columns = ["time_us", "metric", "entity", "flow_id", "priority", "value", "unit"];
        for rows in self.run.rows(&tables::SERIES, &columns)? {
            let rows = rows?;
            let (time, value) = (rows.reals("time_us")?, rows.reals("value")?);
            let (metric, entity, unit) = (rows.texts("metric")?, rows.texts("entity")?, rows.texts("unit")?);
            let (flow_id, priority) = (rows.integers("flow_id")?, rows.integers("priority")?);
            for row in 0..rows.len() {
                let name = metric.get(row).unwrap_or("");
                if !metrics.contains_key(name) && (metrics.len() as u64) < tracks::METRICS {
                    let known = variable(name, unit.get(row).unwrap_or("")).ok_or_else(|| unknown("metric", name))?;
                    metrics.insert(name.to_owned(), (metrics.len(), Metric::Variable(known)));
                }
                let &(index, metric) = metrics.get(name).ok_or_else(|| unknown("metric", name))?;
                let facts = facts(metric);
                let (track, start) = if facts.of_flow {
                    let id = flow_id.get(row).unwrap_or(u64::MAX);
                    let flow = by_id.get(&id).ok_or_else(|| unknown("flow", &id.to_string()))?;
                    (tracks.flow_counter(encoder, self.network, self.name(flow), (index, &facts))?, flow.start)
                } else {
                    let port = known_port(self.network, entity.get(row).unwrap_or(""))?;
                    let priority = priority.get(row).map(|priority| priority as u8 & 7);
                    (tracks.port_counter(encoder, self.network, port, priority, (index, &facts))?, Time::ZERO)
                };
                let (at, value) = (time.time(row).unwrap_or(Time::ZERO), value.get(row).unwrap_or(0.0));
                if samples::over_interval(metric) {
                    steps.mean(at, start, track, value);
                } else {
                    steps.instant(at, track, value);
                }
                while let Some(ready) = steps.ready() {
                    step(ready, encoder, &mut tracks)?;
                }
            }
        }
        while let Some(left) = steps.rest() {
            step(left, encoder, &mut tracks)?;
        }
        for event in next {
            self.write_event(encoder, &mut tracks, event)?;
        }
        self.write_end(encoder, summary)?;
        Ok(steps.taken())
    }

    fn events(&self) -> Vec<Event> {
        let mut events = Vec::with_capacity(3 * self.flows.list.len() + 2 * (self.stops.len() + self.holds.len()));
        for (index, flow) in (0u32..).zip(&self.flows.list) {
            let until = flow.sender_end(self.end);
            events.push((flow.start, What::FlowBegin, index));
            events.push((until, if until > flow.start { What::FlowEnd } else { What::EmptyFlowEnd }, index));
            events.extend(flow.delivered.map(|at| (at, What::Delivered, index)));
        }
        for (index, stop) in (0u32..).zip(&self.stops) {
            events.push((stop.from, What::StopBegin, index));
            events.push((stop.until, if stop.until > stop.from { What::StopEnd } else { What::EmptyStopEnd }, index));
        }
        for (index, hold) in (0u32..).zip(&self.holds) {
            events.push((hold.from, What::HoldBegin, index));
            events.push((hold.until, What::HoldEnd, index));
        }
        for (index, slice) in (0u32..).zip(&self.jobs.slices) {
            let end = if slice.until > slice.begin { What::ActivityEnd } else { What::EmptyActivityEnd };
            events.extend([(slice.begin, What::ActivityBegin, index), (slice.until, end, index)]);
        }
        if let Some((from, until)) = self.disturbance().filter(|(from, until)| from < until) {
            events.extend([(from, What::DisturbanceBegin, 0), (until, What::DisturbanceEnd, 0)]);
        }
        let happened = (0u32..).zip(&self.plan.faults).filter(|(_, fault)| fault.at <= self.end);
        events.extend(happened.map(|(index, fault)| (fault.at, What::Fault, index)));
        events.sort_unstable();
        events
    }

    fn write_event<W: Write>(
        &self,
        encoder: &mut Encoder<W>,
        tracks: &mut Tracks,
        (at, what, index): Event,
    ) -> io::Result<()> {
        let flow_track = |encoder: &mut Encoder<W>, tracks: &mut Tracks, flow: u32, side: Side| {
            tracks.flow(encoder, self.network, self.name(&self.flows.list[flow as usize]), side)
        };
        match what {
            What::FlowBegin => {
                let track = flow_track(encoder, tracks, index, Side::Sent)?;
                self.begin_flow(encoder, track, &self.flows.list[index as usize])
            }
            What::FlowEnd | What::EmptyFlowEnd => {
                let track = flow_track(encoder, tracks, index, Side::Sent)?;
                encoder.end(at, track)
            }
            What::Delivered => {
                let flow = &self.flows.list[index as usize];
                let track = flow_track(encoder, tracks, index, Side::Received)?;
                let notes = [
                    Note("flow_id", Value::Whole(flow.id)),
                    Note("delivered_bytes", Value::Whole(flow.delivered_bytes)),
                    Note("fct_us", Value::Real(span_us(flow.start, at))),
                ];
                encoder.instant(at, track, "last byte in", &notes)
            }
            What::StopBegin => {
                let stop = &self.stops[index as usize];
                let track = tracks.pauses(encoder, self.network, stop.port, stop.priority)?;
                self.begin_stop(encoder, track, index)
            }
            What::StopEnd | What::EmptyStopEnd => {
                let stop = &self.stops[index as usize];
                let track = tracks.pauses(encoder, self.network, stop.port, stop.priority)?;
                encoder.end(at, track)
            }
            What::HoldBegin => {
                let hold = &self.holds[index as usize];
                let track = flow_track(encoder, tracks, hold.flow, Side::Sent)?;
                self.begin_hold(encoder, track, index)
            }
            What::HoldEnd => {
                let track = flow_track(encoder, tracks, self.holds[index as usize].flow, Side::Sent)?;
                encoder.end(at, track)
            }
            What::ActivityBegin => self.begin_activity(encoder, index),
            What::ActivityEnd | What::EmptyActivityEnd => {
                encoder.end(at, Tracks::of_rank(self.jobs.slices[index as usize].track))
            }
            What::DisturbanceBegin => self.begin_disturbance(encoder, at),
            What::DisturbanceEnd => encoder.end(at, RUN),
            What::Fault => self.write_fault(encoder, &self.plan.faults[index as usize]),
        }
    }

    fn begin_activity<W: Write>(&self, encoder: &mut Encoder<W>, index: u32) -> io::Result<()> {
        let slice = &self.jobs.slices[index as usize];
        let notes = [
            Note("kind", Value::Text(self.jobs.word(slice.kind))),
            Note("iteration", Value::Whole(slice.iteration)),
            Note("from_us", Value::Real(slice.begin.as_us())),
            Note("until_us", Value::Real(slice.until.as_us())),
            Note("finished", Value::Flag(slice.ended)),
        ];
        let attached = Attached { notes: &notes, ..Attached::default() };
        encoder.begin(slice.begin, Tracks::of_rank(slice.track), self.jobs.word(slice.name), attached)
    }

    fn name(&self, flow: &Flow) -> FlowName<'a> {
        FlowName { id: flow.id, label: self.flows.word(flow.label), src: flow.src, dst: flow.dst }
    }

    fn begin_flow<W: Write>(&self, encoder: &mut Encoder<W>, track: u64, flow: &Flow) -> io::Result<()> {
        let names = &self.network.names;
        let mut notes = vec![
            Note("flow_id", Value::Whole(flow.id)),
            Note("source", Value::Text(self.flows.word(flow.source))),
            Note("from", Value::Text(names.node(flow.src))),
            Note("to", Value::Text(names.node(flow.dst))),
            Note("scheme", Value::Text(self.flows.word(flow.scheme))),
            Note("priority", Value::Whole(u64::from(flow.priority))),
            Note("delivered_bytes", Value::Whole(flow.delivered_bytes)),
            Note("base_rtt_us", Value::Real(flow.base_rtt_us)),
            Note("packets_sent", Value::Whole(flow.packets_sent)),
            Note("packets_retransmitted", Value::Whole(flow.packets_retransmitted)),
            Note("timeouts", Value::Whole(flow.timeouts)),
            Note("packets_marked", Value::Whole(flow.marked)),
            Note("notifications", Value::Whole(flow.notifications)),
            Note("path", Value::Text(self.flows.word(flow.path_text))),
            Note("finished", Value::Flag(flow.delivered.is_some())),
        ];
        notes.extend(flow.size_bytes.map(|bytes| Note("size_bytes", Value::Whole(bytes))));
        let mut real = |name, value: Option<f64>| notes.extend(value.map(|value| Note(name, Value::Real(value))));
        real("fct_us", flow.delivered.map(|at| span_us(flow.start, at)));
        real("fct_acked_us", flow.acked().map(|at| span_us(flow.start, at)));
        real("ideal_us", flow.ideal_us);
        real("slowdown", flow.slowdown);
        real("goodput_gbps", flow.goodput_gbps);
        let attached = Attached { notes: &notes, ..Attached::default() };
        encoder.begin(flow.start, track, self.flows.word(flow.label), attached)
    }

    fn begin_stop<W: Write>(&self, encoder: &mut Encoder<W>, track: u64, index: u32) -> io::Result<()> {
        let (stop, link) = (&self.stops[index as usize], &self.links[index as usize]);
        let by = self.network.stopper(stop.port);
        let root = &self.stops[link.root as usize];
        let port = |stop: &Stop| self.network.names.port(stop.port);
        let because: Vec<&str> = link.causes.iter().map(|&cause| port(&self.stops[cause as usize])).collect();
        let because = because.join(", ");
        let mut notes = vec![
            Note("priority", Value::Whole(u64::from(stop.priority))),
            Note("paused_by", Value::Text(by)),
            Note("role", Value::Text(if link.depth == 0 { "root" } else { "propagated" })),
            Note("depth", Value::Whole(u64::from(link.depth))),
            Note("root_switch", Value::Text(self.network.stopper(root.port))),
            Note("root_port", Value::Text(port(root))),
            Note("from_us", Value::Real(stop.from.as_us())),
            Note("until_us", Value::Real(stop.until.as_us())),
            Note("paused_us", Value::Real(span_us(stop.from, stop.until))),
            Note("ended_by", Value::Text(stop.ended.words())),
        ];
        if link.depth > 0 {
            notes.push(Note("because_of", Value::Text(&because)));
        }
        notes.extend(stop.decided.map(|at| Note("decided_us", Value::Real(at.as_us()))));
        notes.extend(stop.ingress_bytes.map(|bytes| Note("ingress_bytes", Value::Whole(bytes))));
        let arrows_in: Vec<u64> = (self.first_arrow[index as usize]..self.first_arrow[index as usize + 1]).collect();
        let attached = Attached { notes: &notes, arrows_out: &self.arrows_out[index as usize], arrows_in: &arrows_in };
        let role = if link.depth == 0 { " (root)" } else { "" };
        encoder.begin(stop.from, track, &format!("paused by {by}{role}"), attached)
    }

    fn begin_hold<W: Write>(&self, encoder: &mut Encoder<W>, track: u64, index: u32) -> io::Result<()> {
        let hold = &self.holds[index as usize];
        let (stop, link) = (&self.stops[hold.stop as usize], &self.links[hold.stop as usize]);
        let root = &self.stops[link.root as usize];
        let notes = [
            Note("priority", Value::Whole(u64::from(stop.priority))),
            Note("paused_by", Value::Text(self.network.stopper(stop.port))),
            Note("depth", Value::Whole(u64::from(link.depth))),
            Note("root_switch", Value::Text(self.network.stopper(root.port))),
            Note("root_port", Value::Text(self.network.names.port(root.port))),
            Note("held_us", Value::Real(span_us(hold.from, hold.until))),
        ];
        let arrow = self.first_arrow[self.stops.len()] + u64::from(index);
        let attached = Attached { notes: &notes, arrows_in: &[arrow], ..Attached::default() };
        encoder.begin(hold.from, track, "held by PFC", attached)
    }

    fn write_about<W: Write>(&self, encoder: &mut Encoder<W>, summary: &Summary, at: Time) -> io::Result<()> {
        let clock = match summary.live_timing {
            Some(_) => "the scenario's time in a live run, cut to whole nanoseconds",
            None => "simulated time, cut to whole nanoseconds",
        };
        let notes = [
            Note("scenario", Value::Text(&summary.name)),
            Note("scheme", Value::Text(&summary.scheme)),
            Note("seed", Value::Whole(summary.seed)),
            Note("xoff_version", Value::Text(&summary.version)),
            Note("simulated_us", Value::Real(summary.sim_time_us)),
            Note("flows", Value::Whole(summary.flows.flows_total)),
            Note("pauses", Value::Whole(self.stops.len() as u64)),
            Note("pause_times", Value::Text(self.times.words())),
            Note("clock", Value::Text(clock)),
            Note("counters", Value::Text("means are drawn over the interval they describe")),
        ];
        encoder.instant(at, RUN, "about this trace", &notes)
    }

    /// When something upset the long flows, if the run found that.
    fn disturbance(&self) -> Option<(Time, Time)> {
        let episode = self.run.summary.episode.as_ref()?;
        Some((from_us(episode.start_us), from_us(episode.end_us).min(self.end)))
    }

    fn begin_disturbance<W: Write>(&self, encoder: &mut Encoder<W>, at: Time) -> io::Result<()> {
        let Some(episode) = &self.run.summary.episode else { return Ok(()) };
        let mut notes = vec![Note("cause", Value::Text(&episode.cause))];
        notes.extend(episode.pauses_toward_senders.map(|pauses| Note("pauses_toward_senders", Value::Whole(pauses))));
        notes.extend(episode.congestion_tree_us.map(|life| Note("congestion_tree_us", Value::Real(life))));
        let attached = Attached { notes: &notes, ..Attached::default() };
        encoder.begin(at, RUN, &format!("disturbance by {}", episode.cause), attached)
    }

    fn write_fault<W: Write>(&self, encoder: &mut Encoder<W>, fault: &Fault) -> io::Result<()> {
        let names = &self.network.names;
        let (name, port) = match fault.what {
            FaultKind::LinkDown { link } | FaultKind::LinkDead { link } => ("link down", 2 * link),
            FaultKind::LinkUp { link } | FaultKind::LinkAlive { link } => ("link up", 2 * link),
            FaultKind::Learned { link, within: ALL_SWITCHES } => ("all switches know of the link", 2 * link),
            FaultKind::Learned { link, .. } => ("more switches know of the link", 2 * link),
            FaultKind::Rate { port, .. } => ("new rate", port),
            FaultKind::Loss { port, .. } => ("new loss", port),
            FaultKind::PauseStorm { host_port, on: true, .. } => ("pause storm begins", host_port),
            FaultKind::PauseStorm { host_port, on: false, .. } => ("pause storm ends", host_port),
        };
        let mut notes = vec![Note("port", Value::Text(names.port(port)))];
        match fault.what {
            FaultKind::Rate { rate, .. } => notes.push(Note("rate_gbps", Value::Real(rate.as_gbps()))),
            FaultKind::Loss { loss, .. } => notes.push(Note("loss", Value::Real(loss))),
            FaultKind::PauseStorm { class, .. } => {
                notes.push(Note("priority", Value::Whole(u64::from(names.priority(class)))));
            }
            FaultKind::LinkDown { .. }
            | FaultKind::LinkUp { .. }
            | FaultKind::LinkDead { .. }
            | FaultKind::LinkAlive { .. }
            | FaultKind::Learned { .. } => {}
        }
        encoder.instant(fault.at, RUN, name, &notes)
    }

    fn write_end<W: Write>(&self, encoder: &mut Encoder<W>, summary: &Summary) -> io::Result<()> {
        let mut notes = vec![Note("flows_completed", Value::Whole(summary.flows.flows_completed))];
        let counts = &summary.counts;
        let counted = [("pause_frames", counts.pause_frames), ("drops", counts.drops), ("deadlocks", counts.deadlocks)];
        notes.extend(counted.into_iter().filter_map(|(name, count)| Some(Note(name, Value::Whole(count?)))));
        notes.extend(summary.failure.as_deref().map(|why| Note("failure", Value::Text(why))));
        let name = if summary.failure.is_some() { "the run failed" } else { "end of the run" };
        encoder.instant(self.end, RUN, name, &notes)
    }
}

/// Which flows each stop of a host's egress held, and when.
fn holds(flows: &Flows, stops: &[Stop], network: &Network, end: Time) -> Vec<Hold> {
    let mut at_hosts: HashMap<(u32, u8), Vec<u32>> = HashMap::new();
    for (index, stop) in (0u32..).zip(stops) {
        let node = network.names.node_of(stop.port);
        if network.names.is_host(node) {
            at_hosts.entry((node, stop.priority)).or_default().push(index);
        }
    }
    let mut list = Vec::new();
    for (index, flow) in (0u32..).zip(&flows.list) {
        let Some(own) = at_hosts.get(&(flow.src, flow.priority)) else { continue };
        let flow_end = flow.sender_end(end);
        // The stops of one egress do not overlap, so those that reach into a flow's life are in a row.
        let first = own.partition_point(|&stop| stops[stop as usize].until <= flow.start);
        for &stop in own[first..].iter().take_while(|&&stop| stops[stop as usize].from < flow_end) {
            let (from, until) = (stops[stop as usize].from.max(flow.start), stops[stop as usize].until.min(flow_end));
            if from < until {
                list.push(Hold { flow: index, stop, from, until });
            }
        }
    }
    list
}

/// What a scheme publishes under this name and in this unit.
fn variable(name: &str, unit: &str) -> Option<&'static Variable> {
    let all = xoff_catalogue::all().iter().flat_map(|spec| spec.variables);
    all.into_iter().find(|of| of.name == name && of.unit == unit)
}

fn unknown(what: &str, name: &str) -> Diagnostic {
    Diagnostic::new(format!("series.parquet has samples of a {what} `{name}` that is not known"))
        .help("the tables of this directory are of different runs")
}
