//! Reads a finished run directory back: its summary, its scenario, its tables.

use super::column::Table;
use super::directory::MARKERS;
use super::summary::Summary;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use xoff_engine::Time;
use xoff_scenario::{Diagnostic, Loaded, Options, Scenario};

/// Rows handed out at a time: bounds memory, whatever the length of a table.
const BATCH_ROWS: usize = 16 * 1024;

/// A run directory that is finished and of this version.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    pub summary: Summary,
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
        Ok(RunDirectory { path: path.to_owned(), summary })
    }

    pub fn path(&self) -> &Path {
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
    pub fn rows(&self, table: &'static Table, columns: &[&str]) -> Result<Batches, Diagnostic> {
        let path = self.file(table);
        let about = move |why: String| unreadable(&path, why);
        let file = File::open(self.file(table)).map_err(|error| about(error.to_string()))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| about(error.to_string()))?;
        let (found, wanted) = (builder.schema(), table.schema());
        for &name in columns {
            let own = wanted.field_with_name(name).map_err(|error| about(error.to_string()))?;
            let same = found.field_with_name(name).is_ok_and(|field| field.data_type() == own.data_type());
            if !same {
                let error = about(format!("it has no column `{name}` of the kind that this Xoff writes"));
                return Err(error.help("run the scenario again with this version"));
            }
        }
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
        let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build();
        Ok(Batches { reader: reader.map_err(|error| about(error.to_string()))?, path: self.file(table) })
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
    reader: ParquetRecordBatchReader,
    path: PathBuf,
}

impl Iterator for Batches {
    type Item = Result<Rows, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next()?;
        let path = self.path.clone();
        Some(match batch {
            Ok(batch) => Ok(Rows { batch, path }),
            Err(error) => Err(unreadable(&path, error.to_string())),
        })
    }
}

/// Some rows of a table, as columns by name.
pub struct Rows {
    batch: RecordBatch,
    path: PathBuf,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn column<'a, T>(&'a self, name: &str, take: impl FnOnce(&'a dyn Array) -> Option<T>) -> Result<T, Diagnostic> {
        let array = self.batch.column_by_name(name).and_then(|array| take(array.as_ref()));
        array.ok_or_else(|| unreadable(&self.path, format!("column `{name}` was not read or is of another kind")))
    }

    pub fn integers(&self, name: &str) -> Result<Integers<'_>, Diagnostic> {
        self.column(name, |array| array.as_primitive_opt::<Int64Type>()).map(Integers)
    }

    pub fn reals(&self, name: &str) -> Result<Reals<'_>, Diagnostic> {
        self.column(name, |array| array.as_primitive_opt::<Float64Type>()).map(Reals)
    }

    pub fn texts(&self, name: &str) -> Result<Texts<'_>, Diagnostic> {
        self.column(name, |array| array.as_string_opt::<i32>()).map(Texts)
    }
}

/// A column of numbers that are whole; empty cells are `None`.
#[derive(Clone, Copy)]
pub struct Integers<'a>(&'a Int64Array);

impl Integers<'_> {
    pub fn get(&self, row: usize) -> Option<u64> {
        // The writer puts nothing negative here.
        self.0.is_valid(row).then(|| self.0.value(row).unsigned_abs())
    }
}

/// A column of other numbers.
#[derive(Clone, Copy)]
pub struct Reals<'a>(&'a Float64Array);

impl Reals<'_> {
    pub fn get(&self, row: usize) -> Option<f64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    /// Of a column in microseconds. Exact: a picosecond survives for the first 2.5 hours of a run.
    pub fn time(&self, row: usize) -> Option<Time> {
        self.get(row).map(|us| Time::from_ps((us * 1e6).round() as u64))
    }
}

/// A column of words.
#[derive(Clone, Copy)]
pub struct Texts<'a>(&'a StringArray);

impl<'a> Texts<'a> {
    pub fn get(&self, row: usize) -> Option<&'a str> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

#[cfg(test)]
mod tests {
    use super::super::directory::scratch::Scratch;
    use super::super::{RunContext, RunWriter, fixture, tables};
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
        assert_eq!(run.summary.flows_total, 20_000);
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
    fn picoseconds_survive_a_column_of_microseconds() {
        for ps in [1, 83_840, 2_000_000_122_000, 2_000_000_122_001, 7_999_999_999_999_999] {
            let column = Float64Array::from(vec![Time::from_ps(ps).as_us()]);
            assert_eq!(Reals(&column).time(0), Some(Time::from_ps(ps)));
        }
    }

    #[test]
    fn what_is_not_a_finished_run_of_this_version_is_refused() {
        let scratch = Scratch::new("refuse");
        let refused = |path: &Path| RunDirectory::open(path).unwrap_err().render(false);
        assert!(refused(&scratch.0.join("none")).contains("no such directory"));
        assert!(refused(&scratch.0).contains("it has no run.json"));
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
