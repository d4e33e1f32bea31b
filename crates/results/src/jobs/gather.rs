//! Takes the intervals of jobs as they come; at the end, tables, rows and time lines.

use super::rows::{CollectiveRow, JobRow};
use super::timeline::Timeline;
use crate::row_sink::{Destination, RowSink};
use crate::tables::{self, ActivityRow, ExchangeRow, RankRow};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_jobs::bandwidth::{Account, Exchange};
use xoff_jobs::settle::Settled;
use xoff_jobs::{Compiled, Interval};
use xoff_scenario::traffic::JobInterval;

/// What is known of a job before it runs.
#[derive(Clone, Debug)]
pub struct JobFacts {
    /// Its place among the scenario's traffic.
    pub source: u32,
    pub name: String,
    /// What it does in one iteration.
    pub graph: Arc<Compiled>,
    pub iterations: u32,
    pub start: Time,
    pub ranks: Vec<String>,
    /// By rank: its server in the job.
    pub servers: Vec<u32>,
}

#[derive(Default)]
pub(crate) struct Jobs {
    list: Vec<(JobFacts, Vec<Interval>)>,
}

/// What is left of them at the end.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) rows: Vec<JobRow>,
    pub(crate) timelines: Vec<Timeline>,
}

/// Their tables; none in a run without jobs.
pub(crate) struct JobTables {
    jobs: RowSink,
    collectives: RowSink,
    ranks: RowSink,
    activities: RowSink,
}

impl JobTables {
    pub(crate) fn create(to: &Destination<'_>) -> io::Result<JobTables> {
        let create = |table| RowSink::create(table, to);
        Ok(JobTables {
            jobs: create(&tables::JOBS)?,
            collectives: create(&tables::COLLECTIVES)?,
            ranks: create(&tables::RANKS)?,
            activities: create(&tables::ACTIVITIES)?,
        })
    }

    pub(crate) fn sinks(self) -> [RowSink; 4] {
        [self.jobs, self.collectives, self.ranks, self.activities]
    }

    fn write(&mut self, facts: &JobFacts, row: &JobRow, account: &Account, intervals: &[Interval]) -> io::Result<()> {
        self.jobs.row(&tables::job_cells(row))?;
        self.write_collectives(facts, account)?;
        self.write_ranks(facts, account)?;
        self.write_activities(facts, intervals)
    }

    fn write_collectives(&mut self, facts: &JobFacts, account: &Account) -> io::Result<()> {
        for of in &account.exchanges {
            let (job, name, slowest) = (facts.name.as_str(), facts.word(of.name), facts.rank(of.slowest));
            self.collectives.row(&tables::collective_cells(&ExchangeRow { job, name, slowest, of }))?;
        }
        Ok(())
    }

    fn write_ranks(&mut self, facts: &JobFacts, account: &Account) -> io::Result<()> {
        for of in &account.shares {
            let server = facts.servers.get(of.rank as usize).copied();
            let row = RankRow { job: &facts.name, name: facts.rank(of.rank), server, of };
            self.ranks.row(&tables::rank_cells(&row))?;
        }
        Ok(())
    }

    fn write_activities(&mut self, facts: &JobFacts, intervals: &[Interval]) -> io::Result<()> {
        for of in intervals {
            let activity = &facts.graph.activities()[of.activity as usize];
            let (rank_name, name) = (facts.rank(activity.rank), facts.word(activity.name));
            let row = ActivityRow { job: &facts.name, rank_name, name, activity, of };
            self.activities.row(&tables::activity_cells(&row))?;
        }
        Ok(())
    }
}

impl JobFacts {
    fn word(&self, name: u32) -> &str {
        self.graph.names().get(name as usize).map_or("", String::as_str)
    }

    fn rank(&self, rank: u32) -> &str {
        self.ranks.get(rank as usize).map_or("", String::as_str)
    }
}

impl Jobs {
    pub(crate) fn new(jobs: &[JobFacts]) -> Jobs {
        Jobs { list: jobs.iter().map(|facts| (facts.clone(), Vec::new())).collect() }
    }

    pub(crate) fn intervals(&mut self, intervals: &[JobInterval]) {
        for of in intervals {
            if let Some((_, list)) = self.list.iter_mut().find(|(facts, _)| facts.source == of.job) {
                list.push(of.interval);
            }
        }
    }

    /// Adds everything up. Writes the rows of the tables, if there are some.
    pub(crate) fn finish(
        self,
        until: Time,
        settled: &[(u32, Settled)],
        mut tables: Option<&mut JobTables>,
    ) -> io::Result<Gathered> {
        let mut gathered = Gathered::default();
        for (facts, intervals) in self.list {
            let settled = settled.iter().find(|(source, _)| *source == facts.source).map(|(_, settled)| *settled);
            let ran = settled.map_or(facts.iterations, |settled| settled.ran);
            let account = Account::of(&facts.graph, ran, &intervals, until);
            let row = row(&facts, &account, settled);
            if let Some(tables) = &mut tables {
                tables.write(&facts, &row, &account, &intervals)?;
            }
            gathered.timelines.push(Timeline::of(&facts.name, &facts.graph, &facts.ranks, &intervals, until));
            gathered.rows.push(row);
        }
        Ok(gathered)
    }
}

/// What was run, and the iterations that were not at their mean.
fn row(facts: &JobFacts, account: &Account, settled: Option<Settled>) -> JobRow {
    let ranks = facts.graph.ranks();
    let end = account.end.filter(|_| account.finished);
    let jct = end.map(|end| end.saturating_since(facts.start));
    let settled = settled.filter(|_| account.finished);
    let rest = |settled: Settled| f64::from(facts.iterations - settled.ran);
    let more_us = settled.map_or(0.0, |settled| rest(settled) * settled.mean_us);
    let exposed = account.mean(ranks, |share| share.exposed);
    JobRow {
        name: facts.name.clone(),
        ranks,
        iterations: facts.iterations,
        iterations_run: settled.map_or(facts.iterations, |settled| settled.ran),
        iteration_us: settled.map(|settled| settled.mean_us),
        iteration_half_width_us: settled.map(|settled| settled.half_width_us),
        start_us: facts.start.as_us(),
        end_us: end.map(|end| end.as_us() + more_us),
        jct_us: jct.map(|jct| jct.as_us() + more_us),
        jct_half_width_us: settled.map(|settled| rest(settled) * settled.half_width_us),
        compute_us: account.mean(ranks, |share| share.compute).as_us(),
        communication_us: account.mean(ranks, |share| share.communication).as_us(),
        exposed_us: exposed.as_us(),
        exposed_share: jct.filter(|jct| *jct > Span::ZERO).map(|jct| exposed / jct),
        collectives: collectives(facts, account),
    }
}

/// Those of one name, kind and size together, in the order in which the first of them began.
fn collectives(facts: &JobFacts, account: &Account) -> Vec<CollectiveRow> {
    let mut groups: Vec<Vec<&Exchange>> = Vec::new();
    let mut places: BTreeMap<(u32, &str, u32, u64), usize> = BTreeMap::new();
    for of in &account.exchanges {
        let place = *places.entry((of.name, of.kind.word(), of.ranks, of.bytes)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(of);
    }
    let mut rows: Vec<CollectiveRow> = groups.iter().map(|group| collective(facts, group)).collect();
    if rows.len() > MOST_ROWS {
        let total =
            |row: &CollectiveRow| row.time_us.unwrap_or(f64::INFINITY) * (row.completed + row.unfinished) as f64;
        let mut totals: Vec<f64> = rows.iter().map(total).collect();
        totals.sort_by(|a, b| b.total_cmp(a));
        rows.retain(|row| total(row) >= totals[MOST_ROWS - 1]);
        rows.truncate(MOST_ROWS);
    }
    rows
}

/// A trace may name every collective apart: those that took most time are in the summary, all in the table.
const MOST_ROWS: usize = 100;

fn collective(facts: &JobFacts, group: &[&Exchange]) -> CollectiveRow {
    let first = group[0];
    let times: Vec<Span> = group.iter().filter_map(|of| of.time()).collect();
    let sum: u128 = times.iter().map(|time| u128::from(time.ps())).sum();
    let mean = (!times.is_empty()).then(|| Span::from_ps((sum / times.len() as u128) as u64));
    // As one that took the mean time.
    let typical = Exchange { end: mean.map(|mean| first.begin + mean), ..*first };
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    for of in group {
        *last.entry(of.slowest).or_default() += 1;
    }
    let slowest = last.iter().max_by_key(|(rank, times)| (**times, std::cmp::Reverse(**rank))).map(|(rank, _)| *rank);
    CollectiveRow {
        name: facts.word(first.name).to_owned(),
        kind: first.kind.word().to_owned(),
        ranks: first.ranks,
        bytes: first.bytes,
        completed: times.len() as u64,
        unfinished: (group.len() - times.len()) as u64,
        time_us: mean.map(Span::as_us),
        min_us: times.iter().min().map(|time| time.as_us()),
        max_us: times.iter().max().map(|time| time.as_us()),
        algbw_gb_per_s: typical.algorithm_bandwidth(),
        busbw_gb_per_s: typical.bus_bandwidth(),
        slowest: slowest.map_or("", |rank| facts.rank(rank)).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunWriter;
    use crate::fixture::{self, job as facts, job_intervals as intervals};
    use crate::outcome::{Outcome, RunContext};
    use crate::text::{self, Style};
    use xoff_jobs::{Activity, ActivityKind, Collective, Dag, Work};

    fn outcome(scheme: &str, sum_us: u64, cut: bool) -> Outcome {
        let plan = fixture::plan();
        let context =
            RunContext { schemes: vec![scheme.into()], jobs: vec![facts(4)], collect: true, ..fixture::context(&plan) };
        let mut writer = RunWriter::create(None, &context).unwrap();
        writer.intervals(&intervals(4, sum_us, cut));
        // Of another source: nobody's.
        writer.intervals(&[JobInterval {
            job: 7,
            interval: Interval { iteration: 0, activity: 0, begin: Time::ZERO, end: None },
        }]);
        let (outcome, collected) = writer.complete(fixture::end(0)).unwrap();
        let rows = |name: &str| collected.iter().find(|table| table.table.name == name).map(|table| table.rows);
        let expected = [Some(1), Some(2), Some(8), Some(16)];
        assert_eq!(["jobs", "collectives", "ranks", "activities"].map(rows), expected);
        outcome
    }

    #[test]
    fn a_job_has_a_row_with_its_collectives() {
        let outcome = outcome("none", 200, false);
        let [job] = &outcome.summary.jobs[..] else { panic!("{:?}", outcome.summary.jobs) };
        assert_eq!((job.jct_us, job.compute_us, job.exposed_us), (Some(1_000.0), 610.0, 390.0));
        assert_eq!(job.exposed_share, Some(0.39));
        let [sum] = &job.collectives[..] else { panic!("{:?}", job.collectives) };
        assert_eq!((sum.name.as_str(), sum.kind.as_str(), sum.completed), ("gradients", "all-reduce", 2));
        // 8 MB in 200 us are 40 GB/s; four ranks send and receive 1.5 times that.
        assert_eq!((sum.time_us, sum.algbw_gb_per_s, sum.busbw_gb_per_s), (Some(200.0), Some(40.0), Some(60.0)));
        assert_eq!((sum.slowest.as_str(), sum.unfinished), ("s0.g0", 0), "all at once: the first of equals");
        let text = text::summary(&outcome.summary, Style::Plain, 100);
        for part in ["train", "gradients", "all-reduce", "39.0%", "60.0", "8 MB"] {
            assert!(text.contains(part), "{part} is missing from:\n{text}");
        }
        let mut two = outcome.summary.clone();
        two.jobs.push(JobRow { name: "other".into(), ..two.jobs[0].clone() });
        assert!(text::summary(&two, Style::Plain, 120).contains("  other: gradients "));
        let sentence = crate::finding::of_run(&outcome.summary);
        assert!(
            sentence.starts_with("Job train takes 1.00 ms, 39.0% of it exposed communication; gradients has 60.0 GB/s"),
            "{sentence}"
        );
        assert_eq!(outcome.timelines[0].ranks[3].compute, [(100.0, 420.0), (600.0, 920.0)]);
        assert!(crate::figures::of_run(&outcome).iter().any(|chart| chart.file == "timeline"));
    }

    #[test]
    fn a_job_that_does_not_end_says_so() {
        let outcome = outcome("none", 200, true);
        let job = &outcome.summary.jobs[0];
        assert_eq!((job.jct_us, job.end_us, job.exposed_share, job.finished()), (None, None, None, false));
        let sum = &job.collectives[0];
        assert_eq!((sum.completed, sum.unfinished, sum.slowest.as_str()), (1, 1, "s0.g0"));
        assert!(crate::finding::of_run(&outcome.summary).starts_with("Job train has not ended when the run does"));
        assert!(text::summary(&outcome.summary, Style::Plain, 100).contains("unfinished"));
    }

    #[test]
    fn schemes_are_ranked_by_job_time() {
        use crate::columns::Entry;
        let entry =
            |scheme: &str, sum_us, cut| Entry { scheme: scheme.into(), runs: vec![outcome(scheme, sum_us, cut)] };
        let entries = [entry("dcqcn", 300, false), entry("hpcc", 200, false), entry("none", 100, true)];
        let said = crate::finding::of_comparison(&entries, None).text;
        assert!(
            said.starts_with(
                "The lowest job time (one seed) is 1.00 ms, under hpcc; the next, dcqcn, has 1.20 ms (20 % more)."
            ),
            "{said}"
        );
        assert!(said.contains("Under PFC only a job has not ended"), "{said}");
        let comparison = crate::compare::comparison(&entries, &[]);
        let table = comparison.tables.iter().find(|table| table.title == "job train: 4 ranks").unwrap();
        let text = table.grid.text_in(100);
        for part in ["1.20 ms", "not ended", "gradients", "60.0", "40.0"] {
            assert!(text.contains(part), "{part} is missing from:\n{text}");
        }
    }

    #[test]
    fn a_trace_with_many_names_keeps_the_longest() {
        let mut facts = facts(1);
        let mut dag = Dag::new(1);
        let mut list = Vec::new();
        for number in 0..250u32 {
            let name = dag.name(format!("c{number}"));
            let kind = ActivityKind::Collective(Collective::Broadcast);
            let activity = dag.activity(Activity { rank: 0, kind, name, group: number, bytes: 8 });
            dag.op(activity, Work::Join);
            let end = Some(Time::from_us(1 + u64::from(number)));
            list.push(Interval { iteration: 0, activity, begin: Time::ZERO, end });
        }
        facts.graph = Arc::new(dag.compile());
        let account = Account::of(&facts.graph, 1, &list, Time::from_ms(1));
        let rows = collectives(&facts, &account);
        assert_eq!((rows.len(), rows[0].name.as_str(), rows[99].name.as_str()), (MOST_ROWS, "c150", "c249"));
    }
}
