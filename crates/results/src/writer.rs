//! Writes a run directory while the run goes, and its summary at the end.

use super::collect::Collected;
use super::curves::CurveKeeper;
use super::directory::Staging;
use super::disruption::Unfinished;
use super::episode::{self, PauseLog};
use super::failure;
use super::figures;
use super::groups::{self, Groups};
use super::incident::Warning;
use super::jobs::gather::{JobTables, Jobs};
use super::jobs::rows::{self, JobRow};
use super::live_timing::LiveTiming;
use super::names::{Names, label_name};
use super::outcome::{Outcome, RunContext};
use super::report;
use super::row_sink::{Destination, RowSink};
use super::shared_links::{FlowShares, SharedLinks};
use super::spreading::Spreading;
use super::summary::{CaptureRow, MeasuredRow, Summary};
use super::tables::{self, FlowLinkRow, FlowRow, PauseRow, PfcRow, PortRow, SampleRow};
use super::tally::{self, Tally, utilisation};
use super::warnings::{self, Timeouts};
use super::windows::Windows;
use std::io;
use std::path::Path;
use xoff_engine::Time;
use xoff_fabric::activity::Activity;
use xoff_fabric::plan::{Fidelity, RunSettings, peer};
use xoff_fabric::record::{FlowLink, FlowRecord, PauseRecord, PfcRecord, Sample};
use xoff_run::RunEnd;
use xoff_scenario::measure::probe::facts;
use xoff_scenario::traffic::JobInterval;

/// Takes records as they come; memory does not grow with samples or pauses.
pub struct RunWriter {
    names: Names,
    identity: Identity,
    disturbance: Option<Time>,
    pauses_recorded: bool,
    figures: bool,
    tally: Tally,
    keeper: CurveKeeper,
    pause_log: PauseLog,
    unfinished: Vec<FlowRecord>,
    fates: Unfinished,
    timeouts: Timeouts,
    spreading: Spreading,
    shared: SharedLinks,
    warnings: Vec<Warning>,
    measures: Vec<MeasuredRow>,
    captures: Vec<CaptureRow>,
    live_timing: Option<LiveTiming>,
    jobs: Jobs,
    /// What else of the plan the summary needs.
    run: RunSettings,
    /// There were no packets.
    at_flow_level: bool,
    /// Only flows are kept of the tables, without their scheme.
    flows_alone: bool,
    /// None if rows go nowhere.
    tables: Option<Tables>,
    /// Last, so that a dropped writer closes its files before they are removed.
    staging: Option<Staging>,
}

/// What is run, and what its parts are called.
struct Identity {
    name: String,
    schemes: Vec<String>,
    seed: u64,
    labels: Vec<String>,
    sources: Vec<String>,
    scenario: String,
    version: String,
}

struct Tables {
    flows: RowSink,
    series: RowSink,
    pauses: Option<RowSink>,
    pfc: Option<RowSink>,
    ports: RowSink,
    activity: Option<Windows>,
    groups: Option<(Groups, RowSink)>,
    flow_links: Option<RowSink>,
    live: Option<RowSink>,
    jobs: Option<JobTables>,
}

impl Tables {
    fn create(staging: Option<&Staging>, context: &RunContext<'_>) -> io::Result<Tables> {
        let rates = context.plan.run.fidelity == Fidelity::Flow;
        let version = if rates { format!("{} (flow level)", context.version) } else { context.version.clone() };
        let to = Destination {
            folder: staging.map(Staging::path),
            version: &version,
            csv: context.csv,
            collect: context.collect,
        };
        let alone = Destination { folder: context.flows.as_deref(), ..to };
        let flows = match (&context.flows, rates) {
            (None, false) => RowSink::create(&tables::FLOWS, &to)?,
            (None, true) => RowSink::create(&tables::FLOWS_OF_RATES, &to)?,
            (Some(_), false) => RowSink::create(&tables::FLOWS_BY_SCHEME, &alone)?,
            (Some(_), true) => RowSink::create(&tables::FLOWS_OF_RATES_BY_SCHEME, &alone)?,
        };
        let activity = context.activity && context.flows.is_none() && !rates;
        let kept = activity.then(|| Groups::of(context.plan));
        let with_table = |groups| io::Result::Ok((groups, RowSink::create(&tables::GROUPS, &to)?));
        let groups = kept.filter(|groups| !groups.is_empty()).map(with_table).transpose()?;
        let asked = context.plan.run.record_flow_links && context.flows.is_none();
        Ok(Tables {
            flows,
            series: RowSink::create(&tables::SERIES, &to)?,
            pauses: (!rates).then(|| RowSink::create(&tables::PAUSES, &to)).transpose()?,
            pfc: context.plan.run.record_pfc_frames.then(|| RowSink::create(&tables::PFC, &to)).transpose()?,
            ports: RowSink::create(if rates { &tables::PORTS_OF_RATES } else { &tables::PORTS }, &to)?,
            activity: activity.then(|| Windows::create(&to)).transpose()?,
            groups,
            flow_links: asked.then(|| RowSink::create(&tables::FLOW_LINKS, &to)).transpose()?,
            live: (context.live && context.flows.is_none()).then(|| RowSink::create(&tables::LIVE, &to)).transpose()?,
            jobs: (!context.jobs.is_empty() && context.flows.is_none()).then(|| JobTables::create(&to)).transpose()?,
        })
    }

    fn finish(self) -> io::Result<Vec<Collected>> {
        let activity = self.activity.into_iter().flat_map(Windows::sinks);
        let sinks = [self.flows, self.series]
            .into_iter()
            .chain(self.pauses)
            .chain([self.ports])
            .chain(self.pfc)
            .chain(activity)
            .chain(self.groups.map(|(_, sink)| sink))
            .chain(self.flow_links)
            .chain(self.live)
            .chain(self.jobs.into_iter().flat_map(JobTables::sinks));
        sinks.filter_map(|sink| sink.finish().transpose()).collect()
    }
}

impl RunWriter {
    /// `out`: the directory to be written; `None` only makes the summary.
    pub fn create(out: Option<&Path>, context: &RunContext<'_>) -> io::Result<RunWriter> {
        let staging = out.map(Staging::create).transpose()?;
        if let Some(staging) = &staging {
            staging.write("scenario.toml", context.scenario.as_bytes())?;
            for file in &context.attachments {
                staging.write(&file.name, file.source.text.as_bytes())?;
            }
        }
        let wanted = staging.is_some() || context.collect || context.flows.is_some();
        let tables = wanted.then(|| Tables::create(staging.as_ref(), context)).transpose()?;
        Ok(RunWriter {
            names: Names::of(context.plan),
            identity: Identity {
                name: context.name.clone(),
                schemes: context.schemes.clone(),
                seed: context.seed,
                labels: context.labels.clone(),
                sources: context.sources.clone(),
                scenario: context.scenario.clone(),
                version: context.version.clone(),
            },
            disturbance: context.disturbance,
            pauses_recorded: context.plan.run.record_pauses,
            figures: context.figures,
            tally: Tally::of(context.plan),
            keeper: CurveKeeper::default(),
            pause_log: PauseLog::new(context.disturbance),
            unfinished: Vec::new(),
            fates: Unfinished::new(&context.plan.faults),
            timeouts: Timeouts::new(&context.plan.hosts),
            spreading: Spreading::new(context.routing),
            shared: SharedLinks::default(),
            warnings: context.warnings.clone(),
            measures: Vec::new(),
            captures: Vec::new(),
            live_timing: None,
            jobs: Jobs::new(&context.jobs),
            run: context.plan.run.clone(),
            at_flow_level: context.plan.run.fidelity == Fidelity::Flow,
            flows_alone: context.flows.is_some(),
            tables,
            staging,
        })
    }

    /// Where the directory is being written, if it is.
    pub fn directory(&self) -> Option<&Path> {
        self.staging.as_ref().map(Staging::path)
    }

    /// Flows that ended, or at the very end those that did not.
    pub fn flows(&mut self, flows: &[FlowRecord]) -> io::Result<()> {
        for flow in flows {
            self.tally.flow(flow);
            self.fates.flow(flow);
            self.timeouts.flow(flow);
            self.spreading.flow(flow);
            if self.tables.is_none() {
                continue;
            }
            match flow.delivered_at {
                Some(at) => self.write_flow(flow, at)?,
                // Its goodput needs the end of the run, which is not known yet.
                None => self.unfinished.push(flow.clone()),
            }
        }
        Ok(())
    }

    fn write_flow(&mut self, flow: &FlowRecord, until: Time) -> io::Result<()> {
        let Some(tables) = &mut self.tables else { return Ok(()) };
        let (label, path) = (label_name(&self.identity.labels, flow.label), self.names.paths(&flow.path));
        let row = FlowRow {
            flow,
            until,
            source: self.identity.sources.get(flow.source as usize).map_or("", String::as_str),
            scheme: self.identity.schemes.get(usize::from(flow.scheme)).map_or("", String::as_str),
            label: &label,
            path: &path,
            names: &self.names,
        };
        let mut cells = tables::flow_cells(&row);
        if self.at_flow_level {
            tables::forget_packets(&tables::FLOWS, &mut cells);
        }
        if !self.flows_alone {
            return tables.flows.row(&cells);
        }
        let kept = tables::FLOWS.columns.iter().zip(cells).filter(|(column, _)| column.name != tables::FOLDER_COLUMN);
        tables.flows.row(&kept.map(|(_, cell)| cell).collect::<Vec<_>>())
    }

    pub(crate) fn pauses(&mut self, pauses: &[PauseRecord]) -> io::Result<()> {
        for pause in pauses.iter().filter(|pause| !pause.refresh) {
            let toward_host = self.names.faces_host(pause.port);
            if pause.pause && toward_host {
                self.pause_log.pause(pause.port, pause.at);
            }
            let Some(pauses) = self.tables.as_mut().and_then(|tables| tables.pauses.as_mut()) else { continue };
            pauses.row(&tables::pause_cells(&PauseRow { pause, names: &self.names }))?;
        }
        Ok(())
    }

    /// Only of a run that was asked for them.
    pub fn pfc_frames(&mut self, frames: &[PfcRecord]) -> io::Result<()> {
        let Some(table) = self.tables.as_mut().and_then(|tables| tables.pfc.as_mut()) else { return Ok(()) };
        for frame in frames {
            table.row(&tables::pfc_cells(&PfcRow { frame, names: &self.names }))?;
        }
        Ok(())
    }

    /// Only of a run that was asked for them; in order of flows.
    pub(crate) fn flow_links(&mut self, links: &[FlowLink]) -> io::Result<()> {
        let Some(table) = self.tables.as_mut().and_then(|tables| tables.flow_links.as_mut()) else { return Ok(()) };
        self.shared.flows = FlowShares::largest(links, &self.names);
        for of_flow in links.chunk_by(|one, other| one.flow == other.flow) {
            for of in of_flow {
                let node = self.names.node_of(of.port);
                let beside = of_flow.iter().filter(|other| self.names.node_of(other.port) == node);
                let share = of.wire_bytes as f64 / beside.map(|other| other.wire_bytes).sum::<u64>() as f64;
                table.row(&tables::flow_link_cells(&FlowLinkRow { of, share, names: &self.names }))?;
            }
        }
        Ok(())
    }

    pub(crate) fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        for sample in samples {
            self.keeper.sample(sample);
            let Some(tables) = &mut self.tables else { continue };
            let facts = facts(sample.metric);
            let label;
            let entity = if facts.of_flow {
                label = label_name(&self.identity.labels, sample.label);
                label.as_str()
            } else {
                self.names.port(sample.entity)
            };
            let row = SampleRow { sample, facts, entity, names: &self.names };
            tables.series.row(&tables::sample_cells(&row))?;
        }
        Ok(())
    }

    /// Whether it has tables for [`RunWriter::activity`].
    pub(crate) fn keeps_activity(&self) -> bool {
        self.tables.as_ref().is_some_and(|tables| tables.activity.is_some())
    }

    /// All windows of the run, when it has ended.
    pub(crate) fn activity(&mut self, activity: &Activity) -> io::Result<()> {
        let Some(tables) = &mut self.tables else { return Ok(()) };
        if let Some(windows) = &mut tables.activity {
            windows.write(activity, &self.names)?;
        }
        let Some((groups, table)) = &mut tables.groups else { return Ok(()) };
        let measured = groups.measure(activity);
        for row in groups::rows(&measured, &self.names, activity.every) {
            table.row(&tables::group_cells(&row))?;
        }
        self.spreading.load = groups::all(&measured);
        self.shared.courses = groups::courses(&measured, &self.names, activity.every);
        Ok(())
    }

    pub(crate) fn intervals(&mut self, intervals: &[JobInterval]) {
        self.jobs.intervals(intervals);
    }

    /// What the scenario's own measures gave, and what became of its captures.
    pub fn taken(&mut self, measures: Vec<MeasuredRow>, captures: Vec<CaptureRow>) {
        (self.measures, self.captures) = (measures, captures);
    }

    /// What a run on real packets has beside its records.
    pub fn live_timing(&mut self, live_timing: LiveTiming) -> io::Result<()> {
        if let Some(table) = self.tables.as_mut().and_then(|tables| tables.live.as_mut()) {
            for window in &live_timing.windows {
                table.row(&tables::live_cells(window))?;
            }
        }
        self.live_timing = Some(live_timing);
        Ok(())
    }

    /// Completes the tables, the figures and the report, and gives the directory its name. The tables are there if they
    /// were to be collected.
    pub(crate) fn complete(mut self, end: RunEnd) -> io::Result<(Outcome, Vec<Collected>)> {
        for flow in std::mem::take(&mut self.unfinished) {
            self.write_flow(&flow, end.sim_end)?;
        }
        let explain = |failure| failure::explain(failure, &self.names) + &failure::list_waits(&end.waits);
        let explained = end.failure.as_ref().map(explain);
        let scheme = self.identity.schemes.join("+");
        let identity =
            (self.identity.version.as_str(), self.identity.name.as_str(), scheme.as_str(), self.identity.seed);
        let mut summary =
            self.tally.summary(identity, (&self.identity.labels, &self.identity.sources), &self.names, &end, explained);
        if self.at_flow_level {
            summary.forget_packets();
            let of_packets = [tally::NO_LOSSLESS_DROP, tally::NO_DEADLOCK];
            summary.checks.retain(|check| !of_packets.contains(&check.name.as_str()));
        }
        let names = &self.names;
        let setting = episode::Setting {
            disturbance: self.disturbance,
            sim_end: end.sim_end,
            labels: &self.identity.labels,
            sources: &self.identity.sources,
            pauses_recorded: self.pauses_recorded,
            host_of: &|port| names.node_of(peer(port)),
        };
        summary.measures = std::mem::take(&mut self.measures);
        summary.captures = std::mem::take(&mut self.captures);
        summary.routing = self.spreading.results().filter(|_| !self.at_flow_level);
        summary.live_timing = self.live_timing.take();
        summary.episode = episode::find(&self.tally, &self.keeper, &self.pause_log, &setting);
        let tables = self.tables.as_mut().and_then(|tables| tables.jobs.as_mut());
        let jobs = std::mem::take(&mut self.jobs).finish(end.sim_end, &end.settled, tables)?;
        summary.job_time_us = rows::time_us(&jobs.rows);
        summary.jobs = jobs.rows;
        self.judge(&mut summary, &end);
        let curves = self.keeper.curves(&self.names, &self.identity.labels);
        let mut outcome = Outcome {
            summary,
            failure: end.failure.clone(),
            curves,
            timelines: jobs.timelines,
            shared: self.shared,
            scenario: self.identity.scenario,
            directory: None,
        };
        let collected = match self.tables {
            Some(mut tables) => {
                write_ports(&mut tables.ports, &self.names, &end, self.at_flow_level)?;
                tables.finish()?
            }
            None => Vec::new(),
        };
        if let Some(staging) = self.staging {
            let charts = figures::of_run(&outcome);
            let of_machine = outcome.summary.live_timing.as_ref().map_or_else(Vec::new, figures::of_live_timing);
            if self.figures {
                figures::write_all(&[&charts[..], &of_machine].concat(), staging.path())?;
            }
            let page = report::of_run(&outcome, &charts, &of_machine).map_err(io::Error::other)?;
            staging.write("report.html", page.as_bytes())?;
            staging.write("run.json", outcome.summary.json_pretty().as_bytes())?;
            outcome.directory = Some(staging.finish()?);
        }
        Ok((outcome, collected))
    }

    #[cfg(test)]
    pub(crate) fn finish(self, end: RunEnd) -> io::Result<Outcome> {
        Ok(self.complete(end)?.0)
    }
}

/// The place of the check on unfinished flows among the others.
const FATES_AT: usize = 2;

impl RunWriter {
    /// What must be said beside the numbers: who did not finish and why, and what to beware of.
    fn judge(&self, summary: &mut Summary, end: &RunEnd) {
        let stopped = end.failure.is_none() && end.sim_end >= self.run.stop;
        let (disruptions, check) =
            self.fates.judge(&self.names, &self.identity.labels, &end.storms, end.sim_end, stopped);
        summary.disruptions = disruptions;
        summary.dead_links = self.fates.dead_links(&self.names, &end.dead_links);
        // A job's connections outlive it.
        for of in &mut summary.disruptions {
            let over = |name: &String| {
                let ended = |job: &JobRow| job.name == *name && job.end_us.is_some_and(|end| end <= of.from_us);
                summary.jobs.iter().any(ended)
            };
            of.affected_traffic.retain(|name| !over(name));
        }
        summary.checks.insert(FATES_AT.min(summary.checks.len()), check);
        for check in summary.checks.iter_mut().filter(|check| !check.held) {
            check.allowed = match check.name.as_str() {
                tally::NO_LOSSLESS_DROP => self.run.allow_drops,
                tally::NO_DEADLOCK => !self.run.stop_on_deadlock,
                _ => false,
            };
        }
        summary.checks.extend(summary.live_timing.as_ref().map(tally::of_live_timing).unwrap_or_default());
        summary.warnings.clone_from(&self.warnings);
        summary.warnings.extend(self.timeouts.warning(&self.names, &self.identity.labels));
        summary.warnings.extend(warnings::few_flows(&summary.flows.slowdown));
        summary.warnings.extend(warnings::unended(&end.waits).filter(|_| end.failure.is_none()));
    }
}

fn write_ports(table: &mut RowSink, names: &Names, end: &RunEnd, at_flow_level: bool) -> io::Result<()> {
    for report in end.ports.iter() {
        let port = report.port;
        let used = utilisation(names, port, report.tx_wire_bytes, end.sim_end);
        for (class, of) in (0u8..).zip(&report.classes) {
            let row = PortRow { port: report, class, of, utilisation: used, names };
            let mut cells = tables::port_cells(&row);
            if at_flow_level {
                tables::forget_packets(&tables::PORTS, &mut cells);
            }
            table.row(&cells)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::directory::scratch::Scratch;
    use super::super::fixture;
    use super::*;
    use parquet::basic::Type as PhysicalType;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};
    use std::fs;
    use xoff_fabric::record::Metric;

    /// `figures` only once: drawing is the slow part.
    fn run(out: Option<&Path>, figures: bool) -> Outcome {
        let plan = fixture::plan();
        let mut writer = RunWriter::create(
            out,
            &RunContext { figures, live: true, jobs: vec![fixture::job(2)], ..fixture::context(&plan) },
        )
        .unwrap();
        let flows: Vec<FlowRecord> =
            (1..50).map(|i| fixture::flow(i, 1_000 * u64::from(i), 2_000, 20 + u64::from(i))).collect();
        writer.flows(&flows).unwrap();
        for bin in 1..=1000u64 {
            let value = if (201..=300).contains(&bin) { 5e9 } else { 20e9 };
            let at = Time::from_us(10 * bin);
            writer
                .samples(&[
                    Sample { at, metric: Metric::FlowThroughput, entity: 0, label: 0, class: 0, value },
                    Sample { at, metric: Metric::QueueBytes, entity: 8, label: 0, class: 0, value: 1e5 },
                ])
                .unwrap();
        }
        writer
            .pauses(&[fixture::pause(2_100, 1, true), fixture::pause(2_200, 1, false), fixture::pause(2_400, 1, true)])
            .unwrap();
        // h0's NIC, and the first link between the switches at s0.
        let frame = PfcRecord { at: Time::from_us(2_101), port: 0, class: 0, pause: true };
        writer.pfc_frames(&[frame, PfcRecord { port: 4, pause: false, ..frame }]).unwrap();
        // Flow 1 left its host by one port and s0 by two.
        let link = |flow, port, wire_bytes| FlowLink { flow, port, packets: wire_bytes / 1_000, wire_bytes };
        writer.flow_links(&[link(1, 0, 4_000), link(1, 4, 3_000), link(1, 6, 1_000), link(2, 6, 2_000)]).unwrap();
        writer.flows(&[fixture::endless(0, 25_000_000)]).unwrap();
        writer.intervals(&fixture::job_intervals(2, 100, false));
        writer.live_timing(fixture::live_timing(0.005)).unwrap();
        let delivered = flows.iter().map(|f| f.delivered_bytes).sum::<u64>() + 25_000_000;
        writer.finish(fixture::end(delivered)).unwrap()
    }

    fn read(path: &Path) -> Vec<Row> {
        SerializedFileReader::try_from(path).unwrap().into_iter().map(Result::unwrap).collect()
    }

    #[test]
    fn a_run_directory_reads_back() {
        let scratch = Scratch::new("writer");
        let out = scratch.0.join("out");
        let outcome = run(Some(&out), true);
        assert_eq!(outcome.directory.as_deref(), Some(out.as_path()));
        assert!(outcome.summary.sound(), "{:?}", outcome.summary.checks);

        let file = SerializedFileReader::try_from(out.join("flows.parquet").as_path()).unwrap();
        let columns = file.metadata().file_metadata().schema_descr().columns();
        assert_eq!(columns.len(), tables::FLOWS.columns.len());
        let fct = columns.iter().find(|column| column.name() == "fct_us").unwrap();
        assert_eq!((fct.physical_type(), fct.self_type().is_optional()), (PhysicalType::DOUBLE, true));

        let flows = read(&out.join("flows.parquet"));
        assert_eq!(flows.len(), 50);
        let field = |of: &Row, name: &str| of.get_column_iter().find(|(column, _)| *column == name).unwrap().1.clone();
        assert_eq!(field(&flows[0], "fct_us"), Field::Double(21.0));
        assert_eq!(field(&flows[0], "slowdown"), Field::Double(2.1));
        assert_eq!((field(&flows[49], "size_bytes"), field(&flows[49], "slowdown")), (Field::Null, Field::Null));
        assert_eq!(field(&flows[49], "goodput_gbps"), Field::Double(20.0));
        assert_eq!(field(&flows[0], "path"), Field::Str("h0>s0>s1#1>r0".into()));
        assert_eq!(field(&flows[0], "priority"), Field::Long(3));

        let series = read(&out.join("series.parquet"));
        assert_eq!(series.len(), 2000);
        assert_eq!([0, 1].map(|row| field(&series[row], "value")), [20.0, 1e5].map(Field::Double));
        assert_eq!(read(&out.join("pauses.parquet")).len(), 3);
        assert_eq!(read(&out.join("ports.parquet")).len(), 24);

        let frames = fs::read_to_string(out.join("pfc.csv")).unwrap();
        assert!(frames.ends_with("\n2101,h0,host,h0->s0,1,3,pause\n2101,s0,switch,s0->s1#0,3,3,resume\n"), "{frames}");
        assert_eq!(read(&out.join("pfc.parquet")).len(), 2);

        let links = fs::read_to_string(out.join("flow_links.csv")).unwrap();
        let shares = "\n1,h0->s0,h0,host,4,4000,1\n1,s0->s1#0,s0,leaf,3,3000,0.75\n1,s0->s1#1,s0,leaf,1,1000,0.25\n";
        assert!(links.contains(shares) && links.ends_with("\n2,s0->s1#1,s0,leaf,2,2000,1\n"), "{links}");

        let live = fs::read_to_string(out.join("live.csv")).unwrap();
        assert!(live.contains("\n1000,1,0.005,,,100\n2000,2,0.005,900,4000,200\n"), "{live}");
        assert_eq!(read(&out.join("live.parquet")).len(), 10);

        let jobs = fs::read_to_string(out.join("jobs.csv")).unwrap();
        assert!(jobs.ends_with("\ntrain,2,2,2,,,100,900,800,,620,180,180,0.225,finished\n"), "{jobs}");
        let collectives = fs::read_to_string(out.join("collectives.csv")).unwrap();
        let first = "\ntrain,0,gradients,all-reduce,2,8000000,400,500,100,80,80,0,s0.g0\n";
        assert!(collectives.contains(first), "{collectives}");
        let ranks = fs::read_to_string(out.join("ranks.csv")).unwrap();
        assert!(ranks.contains("\ntrain,1,1,s0.g1,0,500,900,320,80,80,0\n"), "{ranks}");
        assert_eq!(read(&out.join("activities.parquet")).len(), 8);

        let csv = fs::read_to_string(out.join("flows.csv")).unwrap();
        assert!(csv.starts_with("flow_id,source,number,label,"));
        assert_eq!(csv.lines().count(), 51);
        let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(out.join("run.json")).unwrap()).unwrap();
        assert_eq!(json["flows_total"], 50);
        assert_eq!(json["fct_us"]["p50"], 45.0);
        assert_eq!(json["episode"]["congestion_tree_us"], 300.0);
        for file in ["scenario.toml", "report.html", "slowdown-mice.svg", "slowdown-mice.png", "lateness.svg"] {
            assert!(out.join(file).is_file(), "{file} is missing");
        }
    }

    #[test]
    fn tables_are_the_same_bytes_every_time() {
        let scratch = Scratch::new("bytes");
        let (one, two) = (scratch.0.join("one"), scratch.0.join("two"));
        run(Some(&one), false);
        run(Some(&two), false);
        for table in tables::ALL {
            for ending in ["parquet", "csv"] {
                let file = format!("{}.{ending}", table.name);
                assert!(fs::read(one.join(&file)).unwrap() == fs::read(two.join(&file)).unwrap(), "{file} differs");
            }
        }
    }

    #[test]
    fn without_a_directory_there_is_the_same_summary() {
        let scratch = Scratch::new("none");
        let written = run(Some(&scratch.0.join("out")), false);
        let only = run(None, false);
        assert_eq!(written.summary, only.summary);
        assert_eq!(only.directory, None);
    }

    #[test]
    fn the_json_has_what_programs_rely_on() {
        let json: serde_json::Value = serde_json::from_str(&run(None, false).summary.json()).unwrap();
        for key in [
            "scheme",
            "seed",
            "sim_time_us",
            "flows_total",
            "flows_completed",
            "packets_delivered",
            "packet_hops",
            "events",
            "drops",
            "pause_frames",
            "wall_seconds",
            "run_cpu_seconds",
            "peak_rss_bytes",
        ] {
            assert!(!json[key].is_null(), "{key}");
        }
        for of in ["fct_us", "slowdown"] {
            for key in ["mean", "p50", "p95", "p99"] {
                assert!(json[of][key].is_f64(), "{of}.{key}");
            }
        }
    }
}
