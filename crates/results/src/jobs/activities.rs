//! What the ranks of jobs did, read back from the table of a finished run.

use crate::interner::Interner;
use crate::read::RunDirectory;
use crate::tables;
use xoff_engine::Time;
use xoff_scenario::Diagnostic;

#[derive(Default)]
pub(crate) struct Activities {
    /// Names of activities and their kinds.
    pub(crate) words: Interner,
    /// By job, in the order of the summary: the names of its ranks.
    pub(crate) ranks: Vec<Vec<String>>,
    /// In order of begins; at one instant by job and rank, and what communicates before what computes.
    pub(crate) list: Vec<Activity>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Activity {
    pub(crate) job: u32,
    pub(crate) rank: u32,
    pub(crate) name: u32,
    pub(crate) kind: u32,
    pub(crate) computes: bool,
    pub(crate) iteration: u64,
    pub(crate) begin: Time,
    /// `None` if the run ended before.
    pub(crate) end: Option<Time>,
}

/// Memory that a row takes in a list that grows and is sorted, and as JSON.
const ROW_BYTES: u64 = 3 * size_of::<Activity>() as u64 + 64;

impl Activities {
    /// None, where the run had no job.
    pub(crate) fn read(run: &RunDirectory) -> Result<Activities, Diagnostic> {
        let jobs = &run.summary.jobs;
        let numbered = |ranks| (0..ranks).map(|rank| format!("rank {rank}")).collect();
        let ranks = jobs.iter().map(|job| numbered(job.ranks)).collect();
        let mut all = Activities { ranks, ..Activities::default() };
        if jobs.is_empty() {
            return Ok(all);
        }
        let columns = ["job", "iteration", "rank", "rank_name", "name", "kind", "begin_us", "end_us"];
        for rows in run.rows_to_keep(&tables::ACTIVITIES, &columns, ROW_BYTES)? {
            let rows = rows?;
            let (job, rank_name) = (rows.texts("job")?, rows.texts("rank_name")?);
            let (name, kind) = (rows.texts("name")?, rows.texts("kind")?);
            let (iteration, rank) = (rows.integers("iteration")?, rows.integers("rank")?);
            let (begin, end) = (rows.reals("begin_us")?, rows.reals("end_us")?);
            for row in 0..rows.len() {
                let (job, rank) = (job.get(row).unwrap_or(""), rank.get(row).unwrap_or(0) as u32);
                let number = jobs.iter().position(|known| known.name == job).unwrap_or(jobs.len());
                let known = all.ranks.get_mut(number).and_then(|ranks| ranks.get_mut(rank as usize));
                let Some(known) = known else { return Err(unknown(job, rank)) };
                known.replace_range(.., rank_name.get(row).unwrap_or(""));
                let (begin, kind) = (begin.time(row).unwrap_or(Time::ZERO), kind.get(row).unwrap_or(""));
                all.list.push(Activity {
                    job: number as u32,
                    rank,
                    name: all.words.number(name.get(row).unwrap_or("")),
                    kind: all.words.number(kind),
                    computes: kind == "compute",
                    iteration: iteration.get(row).unwrap_or(0),
                    begin,
                    end: end.time(row).map(|end| end.max(begin)),
                });
            }
        }
        all.list.sort_by_key(|of| (of.begin, of.job, of.rank, of.computes));
        Ok(all)
    }
}

fn unknown(job: &str, rank: u32) -> Diagnostic {
    Diagnostic::new(format!("activities.parquet has rank {rank} of a job `{job}`, which the run does not have"))
        .help("run.json and the tables are of different runs")
}
