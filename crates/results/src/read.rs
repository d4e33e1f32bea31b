//! Reads a finished run directory back: its summary, its scenario, its tables.

use super::collect::Collected;
use super::column::Table;
use super::directory::MARKERS;
use super::summary::Summary;
use super::table_writer::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use xoff_engine::Time;
use xoff_run::memory;
use xoff_scenario::{Diagnostic, Loaded, Options, Scenario, number};
use xoff_tables::{Cells, Reader};

/// A run directory that is finished and of this version.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    pub summary: Summary,
    /// The most that this process may hold.
    limit_bytes: u64,
}

impl RunDirectory {
    /// Refuses what is not a finished run, and what another version wrote.
    pub fn open(path: &Path) -> Result<RunDirectory, Diagnostic> {
        let refuse = |why: String| Diagnostic::new(format!("`{}` is not a finished run", path.display())).label(why);
        if !path.is_dir() {
            let why = if path.exists() { "it is a file" } else { "there is no such directory" };
            return Err(refuse(why.to_owned()).help("a directory that `xoff run` wrote is needed"));
        }
        let [marker, comparison, seeds] = MARKERS;
        if !path.join(marker).is_file() {
            let error = refuse(format!("it has no {marker}"));
            return Err(match (path.join(comparison).is_file(), path.join(seeds).is_file()) {
                (true, _) => error.help("it holds a comparison; name one of the directories in it"),
                (false, true) => error.help("it holds several seeds; name one of the directories in it"),
                (false, false) if path.join("sweep.toml").is_file() => error.help(
                    "it holds a sweep, which keeps the numbers of its runs and not their tables: runs.parquet has a row \
                     for each",
                ),
                (false, false) => {
                    error.help("an interrupted run leaves no directory of this name: run the scenario again")
                }
            });
        }
        let text = fs::read_to_string(path.join(marker)).map_err(|error| refuse(format!("{marker}: {error}")))?;
        // The version first: the rest may have had another form then.
        let head: Head = serde_json::from_str(&text).map_err(|error| refuse(format!("{marker}: {error}")))?;
        let own = env!("CARGO_PKG_VERSION");
        if head.version != own {
            let why = format!("Xoff {} wrote it, this is Xoff {own}", head.version);
            let error = Diagnostic::new(format!("`{}` is of another version", path.display())).label(why);
            return Err(error.help(format!("run its scenario again: xoff run {}/scenario.toml", path.display())));
        }
        let summary = serde_json::from_str(&text).map_err(|error| refuse(format!("{marker}: {error}")))?;
        Ok(RunDirectory { path: path.to_owned(), summary, limit_bytes: memory::limit() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What was run, from the resolved scenario that the directory keeps.
    pub fn load(&self) -> Result<Loaded, Vec<Diagnostic>> {
        Scenario::open(&self.path.join("scenario.toml")).map_err(|error| vec![error])?.load(&Options::default())
    }

    /// Whether the run wrote this table.
    pub fn has(&self, table: &Table) -> bool {
        self.file(table).is_file()
    }

    fn file(&self, table: &Table) -> PathBuf {
        self.path.join(format!("{}.parquet", table.name))
    }

    /// These columns of a table, batch by batch in the order of the file.
    pub fn rows(&self, table: &'static Table<'static>, columns: &[&str]) -> Result<Batches, Diagnostic> {
        let path = self.file(table);
        let about = |why: String| unreadable(&path, why);
        let file = File::open(&path).map_err(|error| about(error.to_string()))?;
        let mut reader = Reader::open(file).map_err(|error| about(error.to_string()))?;
        let mut names = Vec::with_capacity(columns.len());
        for &name in columns {
            let own = table.column(name).ok_or_else(|| about(format!("tables of this kind have no `{name}`")))?;
            if !reader.want(own) {
                let error = about(format!("it has no column `{name}` of the kind that this Xoff writes"));
                return Err(error.help("run the scenario again with this version"));
            }
            names.push(own.name);
        }
        let pages = reader.page_bytes();
        let batches = Batches { reader, names, limit_bytes: u64::MAX, path };
        self.make_sure_of_room(&batches, pages)?;
        Ok(batches)
    }

    /// The same for a reader that keeps so many bytes of every row, with all that it makes of it: run directories come
    /// from others, and a table of equal rows is short. What would not fit is refused before it is read.
    pub fn rows_to_keep(
        &self,
        table: &'static Table<'static>,
        columns: &[&str],
        row_bytes: u64,
    ) -> Result<Batches, Diagnostic> {
        let batches = Batches { limit_bytes: self.limit_bytes, ..self.rows(table, columns)? };
        let rows = batches.reader.rows();
        self.make_sure_of_room(&batches, rows.saturating_mul(row_bytes))?;
        Ok(batches)
    }

    fn make_sure_of_room(&self, of: &Batches, bytes: u64) -> Result<(), Diagnostic> {
        let room = memory::room_bytes(self.limit_bytes);
        if bytes <= room {
            return Ok(());
        }
        let rows = number::thousands(of.reader.rows());
        let why = format!(
            "it has {rows} rows, which take about {}; {} are left",
            number::brief_bytes(bytes),
            number::brief_bytes(room)
        );
        Err(unreadable(&of.path, why).help(MORE_MEMORY))
    }
}

/// What to do about too large a table.
const MORE_MEMORY: &str = "give it more by --memory, or run the scenario for a shorter time";

impl RunDirectory {
    /// A whole table in memory, as [`collect`](crate::execute::collect) keeps it.
    pub fn collected(&self, table: &'static Table<'static>) -> Result<Collected, Diagnostic> {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let mut collected = Collected::new(table);
        // Columns grow by doubling; texts are longer than the numbers beside them.
        let row_bytes = 32 * names.len() as u64;
        for batch in self.rows_to_keep(table, &names, row_bytes)? {
            let batch = batch?;
            for row in 0..batch.len() {
                let cells: Vec<Cell<'_>> = batch.columns.iter().map(|(_, cells)| cells.cell(row)).collect();
                collected.row(&cells).map_err(|error| unreadable(&self.file(table), error.to_string()))?;
            }
        }
        Ok(collected.finish())
    }
}

/// What every version writes.
#[derive(serde::Deserialize)]
struct Head {
    version: String,
}

fn unreadable(path: &Path, why: String) -> Diagnostic {
    Diagnostic::new(format!("cannot read the table `{}`", path.display())).label(why)
}

/// The rows of a table, some thousands at a time.
pub struct Batches {
    reader: Reader,
    /// Columns, in the order in which they are read.
    names: Vec<&'static str>,
    /// Of the process; reading ends where it holds more.
    limit_bytes: u64,
    path: PathBuf,
}

impl Iterator for Batches {
    type Item = Result<Rows, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        let (len, cells) = match self.reader.batch() {
            Ok(batch) => batch?,
            Err(error) => return Some(Err(unreadable(&self.path, error.to_string()))),
        };
        // What the file says of its length need not be true.
        if memory::room_bytes(self.limit_bytes) == 0 {
            self.reader.end();
            let why = format!("what was read of it fills the memory, {}", number::brief_bytes(self.limit_bytes));
            return Some(Err(unreadable(&self.path, why).help(MORE_MEMORY)));
        }
        let columns = self.names.iter().copied().zip(cells).collect();
        Some(Ok(Rows { columns, len, path: self.path.clone() }))
    }
}

/// Some rows of a table, as columns by name.
pub struct Rows {
    columns: Vec<(&'static str, Cells)>,
    len: usize,
    path: PathBuf,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn column<'a, T>(&'a self, name: &str, take: impl FnOnce(&'a Cells) -> Option<T>) -> Result<T, Diagnostic> {
        let found = self.columns.iter().find(|(column, _)| *column == name).and_then(|(_, cells)| take(cells));
        found.ok_or_else(|| unreadable(&self.path, format!("column `{name}` was not read or is of another kind")))
    }

    /// Refuses a column that was not asked for or holds something else.
    pub fn integers(&self, name: &str) -> Result<Integers<'_>, Diagnostic> {
        self.column(name, |cells| if let Cells::Integers(cells) = cells { Some(Integers(cells)) } else { None })
    }

    pub fn reals(&self, name: &str) -> Result<Reals<'_>, Diagnostic> {
        self.column(name, |cells| if let Cells::Reals(cells) = cells { Some(Reals(cells)) } else { None })
    }

    pub fn texts(&self, name: &str) -> Result<Texts<'_>, Diagnostic> {
        self.column(name, |cells| matches!(cells, Cells::Texts(_)).then_some(Texts(cells)))
    }
}

/// A column of numbers that are whole; empty cells are `None`.
#[derive(Clone, Copy)]
pub struct Integers<'a>(&'a [Option<i64>]);

impl Integers<'_> {
    /// `None` where the cell is empty; panics beyond the last row.
    pub fn get(&self, row: usize) -> Option<u64> {
        // The writer puts nothing negative here.
        self.0[row].map(i64::unsigned_abs)
    }
}

/// A column of other numbers.
#[derive(Clone, Copy)]
pub struct Reals<'a>(&'a [Option<f64>]);

impl Reals<'_> {
    /// `None` where the cell is empty; panics beyond the last row.
    pub fn get(&self, row: usize) -> Option<f64> {
        self.0[row]
    }

    /// Of a column in microseconds. Exact: a picosecond survives for the first 2.5 hours of a run.
    pub fn time(&self, row: usize) -> Option<Time> {
        self.get(row).map(|us| Time::from_ps((us * 1e6).round() as u64))
    }
}

/// A column of words.
#[derive(Clone, Copy)]
pub struct Texts<'a>(&'a Cells);

impl<'a> Texts<'a> {
    /// `None` where the cell is empty; panics beyond the last row.
    pub fn get(&self, row: usize) -> Option<&'a str> {
        self.0.text(row)
    }
}

#[cfg(test)]
mod tests {
    use super::super::directory::scratch::Scratch;
    use super::super::outcome::RunContext;
    use super::super::{RunWriter, fixture, tables};
    use super::*;

    fn written(scratch: &Scratch, version: &str) -> PathBuf {
        let plan = fixture::plan();
        let out = scratch.0.join("out");
        let context = RunContext { version: version.to_owned(), ..fixture::context(&plan) };
        let mut writer = RunWriter::create(Some(&out), &context).unwrap();
        let flows: Vec<_> = (1..20_000).map(|i| fixture::flow(i, 1_000, u64::from(i), 20)).collect();
        writer.flows(&flows).unwrap();
        writer.flows(&[fixture::endless(0, 1_000)]).unwrap();
        writer.finish(fixture::end(20_000_000)).unwrap();
        out
    }

    #[test]
    fn tables_come_back_as_columns() {
        let scratch = Scratch::new("read");
        let run = RunDirectory::open(&written(&scratch, env!("CARGO_PKG_VERSION"))).unwrap();
        assert_eq!(run.summary.flows.flows_total, 20_000);
        assert!(run.has(&tables::FLOWS));
        let mut rows = 0;
        let mut batches = 0;
        for batch in run.rows(&tables::FLOWS, &["start_us", "src_name", "size_bytes", "flow_id"]).unwrap() {
            let batch = batch.unwrap();
            let (id, start) = (batch.integers("flow_id").unwrap(), batch.reals("start_us").unwrap());
            let (size, name) = (batch.integers("size_bytes").unwrap(), batch.texts("src_name").unwrap());
            assert!(batch.reals("fct_us").is_err() && batch.reals("flow_id").is_err());
            for row in 0..batch.len() {
                let endless = id.get(row) == Some(0);
                assert_eq!(size.get(row), (!endless).then_some(1_000));
                assert_eq!(start.time(row), Some(Time::from_us(id.get(row).unwrap())));
                assert_eq!(name.get(row), Some("h0"));
            }
            rows += batch.len();
            batches += 1;
        }
        assert_eq!((rows, batches), (20_000, 2));
        assert!(run.rows(&tables::FLOWS, &["colour"]).is_err());
    }

    #[test]
    fn a_table_that_does_not_fit_the_memory_is_refused_before_it_is_read() {
        if !memory::is_known() {
            return;
        }
        let scratch = Scratch::new("too large");
        let mut run = RunDirectory::open(&written(&scratch, env!("CARGO_PKG_VERSION"))).unwrap();
        let refused = |run: &RunDirectory, row_bytes: u64| {
            run.rows_to_keep(&tables::FLOWS, &["flow_id"], row_bytes).err().map(|error| error.render(false))
        };
        assert_eq!(refused(&run, 100), None);
        // 20,000 rows of a terabyte.
        let said = refused(&run, 1_000_000_000_000).unwrap();
        for part in ["flows.parquet", "20,000 rows, which take about", "--memory"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        // Whoever keeps no row needs no room but for a page; whoever holds too much already has none at all.
        run.limit_bytes = 1;
        assert!(refused(&run, 100).unwrap().contains("0 B are left"));
        assert!(run.rows(&tables::FLOWS, &["flow_id"]).is_err());
    }

    #[test]
    fn reading_ends_where_the_memory_is_full_whatever_the_file_says_of_its_length() {
        if !memory::is_known() {
            return;
        }
        let scratch = Scratch::new("full");
        let run = RunDirectory::open(&written(&scratch, env!("CARGO_PKG_VERSION"))).unwrap();
        let mut batches = run.rows_to_keep(&tables::FLOWS, &["flow_id"], 1).unwrap();
        assert!(batches.next().unwrap().is_ok());
        batches.limit_bytes = 1;
        let said = batches.next().unwrap().err().unwrap().render(false);
        assert!(said.contains("fills the memory") && batches.next().is_none(), "{said}");
    }

    #[test]
    fn a_table_read_back_is_the_one_that_was_kept_in_memory() {
        let scratch = Scratch::new("collected");
        let (plan, out) = (fixture::plan(), scratch.0.join("out"));
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let context = RunContext { version, collect: true, ..fixture::context(&plan) };
        let mut writer = RunWriter::create(Some(&out), &context).unwrap();
        let flows: Vec<_> = (1..20_000).map(|i| fixture::flow(i, 1_000, u64::from(i), 20)).collect();
        writer.flows(&flows).unwrap();
        writer.flows(&[fixture::endless(0, 1_000)]).unwrap();
        writer.pauses(&[fixture::pause(2_100, 1, true), fixture::pause(2_200, 1, false)]).unwrap();
        let (_, kept) = writer.complete(fixture::end(20_000_000)).unwrap();
        let names: Vec<&str> = kept.iter().map(|kept| kept.table.name).collect();
        let activity = ["port_activity", "flow_activity", "groups", "flow_links"];
        assert_eq!(names, [&["flows", "series", "pauses", "ports", "pfc"][..], &activity].concat());
        let run = RunDirectory::open(&out).unwrap();
        for kept in kept {
            let read = run.collected(kept.table).unwrap();
            assert_eq!(format!("{read:?}"), format!("{kept:?}"));
        }
    }

    #[test]
    fn picoseconds_survive_a_column_of_microseconds() {
        for ps in [1, 83_840, 2_000_000_122_000, 2_000_000_122_001, 7_999_999_999_999_999] {
            let column = [Some(Time::from_ps(ps).as_us())];
            assert_eq!(Reals(&column).time(0), Some(Time::from_ps(ps)));
        }
    }

    #[test]
    fn what_is_not_a_finished_run_of_this_version_is_refused() {
        let scratch = Scratch::new("refuse");
        let refused = |path: &Path| RunDirectory::open(path).unwrap_err().render(false);
        assert!(refused(&scratch.0.join("none")).contains("no such directory"));
        assert!(refused(&scratch.0).contains("it has no run.json"));
        fs::write(scratch.0.join("sweep.toml"), "").unwrap();
        assert!(refused(&scratch.0).contains("it holds a sweep"));
        fs::write(scratch.0.join("comparison.json"), "{}").unwrap();
        assert!(refused(&scratch.0).contains("name one of the directories"));
        fs::write(scratch.0.join("run.json"), "{").unwrap();
        assert!(refused(&scratch.0).contains("not a finished run"));
        let old = refused(&written(&scratch, "0.0.1"));
        assert!(old.contains("Xoff 0.0.1 wrote it") && old.contains("xoff run"), "{old}");
        let cut = written(&scratch, env!("CARGO_PKG_VERSION"));
        let table = cut.join("flows.parquet");
        fs::write(&table, &fs::read(&table).unwrap()[..5_000]).unwrap();
        let error = RunDirectory::open(&cut).unwrap().rows(&tables::FLOWS, &["src"]).map(|_| ()).unwrap_err();
        assert!(error.render(false).contains("flows.parquet"), "{error}");
    }
}
