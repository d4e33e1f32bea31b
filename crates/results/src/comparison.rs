//! A comparison as data and as a directory: every number by scheme and seed, means with intervals, the
//! distributions of flows.

use super::columns::{Column, Entry};
use super::compare::{self, Skipped};
use super::directory::Staging;
use super::figures;
use super::interval::Estimate;
use super::outcome::Kind;
use super::report;
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;

/// One number over the seeds of a scheme.
#[derive(Serialize)]
struct Row<'a> {
    scheme: &'a str,
    key: &'a str,
    #[serde(flatten)]
    estimate: Estimate,
}

fn columns(entries: &[Entry]) -> Vec<Column> {
    let layouts = compare::layouts(entries);
    layouts.into_iter().flat_map(|layout| layout.groups).flat_map(|(_, columns)| columns).collect()
}

/// One object with every run's summary, for `--json` and the directory.
pub fn json(entries: &[Entry], skipped: &[Skipped]) -> Value {
    let runs: Vec<Value> = entries.iter().flat_map(Entry::summaries).map(|summary| json!(summary)).collect();
    let mut value = json!({ "runs": runs, "skipped": skipped });
    let Some((first, others)) = entries.split_first() else { return value };
    let seeds: Vec<u64> = first.summaries().map(|summary| summary.seed).collect();
    if seeds.len() > 1 {
        let columns = columns(entries);
        let estimates = |entry: &Entry, of: &dyn Fn(&Column) -> Option<Estimate>| {
            let row = |column: &Column| {
                of(column).map(|estimate| json!(Row { scheme: &entry.scheme, key: &column.key, estimate }))
            };
            columns.iter().filter_map(row).collect::<Vec<Value>>()
        };
        let means: Vec<Value> =
            entries.iter().flat_map(|entry| estimates(entry, &|column| column.estimate(entry))).collect();
        let less: Vec<Value> =
            others.iter().flat_map(|entry| estimates(entry, &|column| column.difference(entry, first))).collect();
        value["seeds"] = json!(seeds);
        value["estimates"] = means.into();
        value["differences"] = json!({ "to": first.scheme, "paired_by": "seed", "estimates": less });
    }
    value
}

/// The folder of a scheme's runs in the directory of a comparison.
pub fn folder_of(scheme: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    scheme.replace('}', "").chars().map(|c| if plain(c) { c } else { '-' }).collect()
}

/// Adds tables, figures and report to a directory that already holds the runs' own directories, and gives
/// it its final name. Differences below `delta` do not matter. `command` is what makes it again.
pub fn write(
    staging: Staging,
    kind: Kind,
    (entries, skipped, delta): (&[Entry], &[Skipped], Option<f64>),
    figures_as_files: bool,
    command: &str,
) -> io::Result<PathBuf> {
    let comparison = compare::comparison_by(entries, skipped, delta);
    let charts = figures::of_comparison(entries);
    if figures_as_files {
        figures::write_all(&charts, staging.path())?;
    }
    // Runs of several seeds lie one level deeper.
    let depth = if kind == Kind::Schemes && entries.iter().any(|entry| entry.runs.len() > 1) { 2 } else { 1 };
    let page = report::of_comparison(&comparison, entries, &charts, (command, depth)).map_err(io::Error::other)?;
    staging.write("report.html", page.as_bytes())?;
    staging.write("metrics.csv", &numbers(entries)?)?;
    staging.write("cdf.csv", &distributions(entries)?)?;
    let text = serde_json::to_string_pretty(&json(entries, skipped)).map_err(io::Error::other)?;
    staging.write(kind.file(), format!("{text}\n").as_bytes())?;
    staging.finish()
}

/// Every number of the tables, one line per scheme, seed and key; what a run does not have is left out.
fn numbers(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(["scheme", "seed", "key", "value", "flows_too_few_for_percentile"])?;
    let columns = columns(entries);
    for entry in entries {
        for summary in entry.summaries() {
            for column in &columns {
                let reading = column.read(summary);
                let Some(value) = reading.value else { continue };
                let few = reading.few.map(|flows| flows.to_string()).unwrap_or_default();
                let (seed, value) = (summary.seed.to_string(), value.to_string());
                out.write_record([entry.scheme.as_str(), &seed, &column.key, &value, &few])?;
            }
        }
    }
    out.into_inner().map_err(io::Error::other)
}

/// Completion times and slowdowns at fixed percentages, by scheme, seed and source.
fn distributions(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(["scheme", "seed", "source", "flows", "percent", "fct_us", "slowdown"])?;
    for entry in entries {
        for summary in entry.summaries() {
            for of in &summary.flows.by_source {
                let values = of.cdf.percent.iter().zip(&of.cdf.fct_us).zip(&of.cdf.slowdown);
                for ((percent, fct), slowdown) in values {
                    let numbers = [percent, fct, slowdown].map(f64::to_string);
                    let (seed, flows) = (summary.seed.to_string(), of.completed.to_string());
                    let words = [entry.scheme.as_str(), &seed, &of.source, &flows];
                    out.write_record(words.into_iter().chain(numbers.iter().map(String::as_str)))?;
                }
            }
        }
    }
    out.into_inner().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::super::RunWriter;
    use super::super::directory::scratch::Scratch;
    use super::super::fixture;
    use super::super::outcome::{Outcome, RunContext};
    use super::*;

    fn run(scheme: &str, seed: u64) -> Outcome {
        let plan = fixture::plan();
        let context = RunContext { schemes: vec![scheme.into()], seed, ..fixture::context(&plan) };
        let mut writer = RunWriter::create(None, &context).unwrap();
        let flows: Vec<_> = (0..40).map(|i| fixture::flow(i, 1000 + 9_000 * u64::from(i), 10, 30 + seed)).collect();
        writer.flows(&flows).unwrap();
        writer.finish(fixture::end(flows.iter().map(|flow| flow.delivered_bytes).sum())).unwrap()
    }

    fn entry(scheme: &str, seeds: &[u64]) -> Entry {
        Entry { scheme: scheme.to_owned(), runs: seeds.iter().map(|seed| run(scheme, *seed)).collect() }
    }

    #[test]
    fn a_comparison_directory_is_complete() {
        let scratch = Scratch::new("compare");
        let entries = [entry("none", &[7, 8]), entry("dcqcn", &[7, 8])];
        let staging = Staging::create(&scratch.0.join("out")).unwrap();
        let path = write(staging, Kind::Schemes, (&entries, &[], None), true, "xoff compare x.toml --seeds 2").unwrap();
        let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
        let value: Value = serde_json::from_str(&read("comparison.json")).unwrap();
        assert_eq!((&value["runs"][2]["scheme"], &value["runs"][1]["seed"]), (&json!("dcqcn"), &json!(8)));
        assert_eq!(value["seeds"], json!([7, 8]));
        assert_eq!(value["differences"]["to"], "none");
        assert!(read("report.html").contains("<pre tabindex=\"0\">xoff compare x.toml --seeds 2</pre>"));
        for figure in ["cdf-fct-mice.svg", "cdf-slowdown-mice.svg", "slowdown-seeds-mice.svg", "slowdown-p99-mice.pdf"]
        {
            assert!(path.join(figure).is_file(), "{figure}");
        }
        let cdf = read("cdf.csv");
        assert!(cdf.lines().any(|line| line == "dcqcn,8,mice,40,50,38,3.8"), "{cdf}");
        assert!(read("metrics.csv").contains("none,7,by_source.mice.slowdown.p99,3.7,40\n"));
    }

    /// Rows of the CSV beside a figure.
    fn drawn(path: &std::path::Path, figure: &str) -> Vec<Vec<String>> {
        let mut reader = csv::Reader::from_path(path.join(format!("{figure}.csv"))).unwrap();
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
    }

    fn with_curve(mut entry: Entry) -> Entry {
        for run in &mut entry.runs {
            let seed = run.summary.seed as f64;
            run.summary.measures = vec![fixture::by_size(vec![3e3, 3e4], vec![2.0 + seed, 5.0 + 3.0 * seed])];
        }
        entry
    }

    #[test]
    fn figures_hold_what_the_tables_say() {
        let scratch = Scratch::new("drawn");
        let seeds = [7, 8, 12];
        let entries = [with_curve(entry("none", &seeds)), with_curve(entry("dcqcn", &seeds))];
        let staging = Staging::create(&scratch.0.join("out")).unwrap();
        let path = write(staging, Kind::Schemes, (&entries, &[], None), true, "xoff compare").unwrap();
        let estimates = json(&entries, &[])["estimates"].clone();
        let number = |text: &String| text.parse::<f64>().unwrap();
        // The mean and the ends of the interval that the tables have under a key.
        let said = |scheme: &str, key: &str| {
            let rows = estimates.as_array().unwrap();
            let row = rows.iter().find(|row| row["scheme"] == scheme && row["key"] == key);
            let row = row.unwrap_or_else(|| panic!("{key} of {scheme} is in no table"));
            assert_eq!(row["count"], 3, "all seeds count");
            let (mean, half) = (row["mean"].as_f64().unwrap(), row["half_width"].as_f64().unwrap());
            [mean, mean - half, mean + half]
        };
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
        let check = |row: &Vec<String>, said: [f64; 3], at: usize| {
            let shown = [number(&row[at]), number(&row[at + 1]), number(&row[at + 2])];
            assert!(shown.iter().zip(said).all(|(shown, said)| near(*shown, said)), "{row:?} but {said:?}");
        };
        let called = |row: &Vec<String>| if row[1] == "PFC only" { "none".to_owned() } else { row[1].clone() };
        let bars = drawn(&path, "slowdown-seeds-mice");
        assert_eq!(bars.len(), 2 * 3);
        for row in &bars {
            check(row, said(&called(row), &format!("by_source.mice.by_size.{}.slowdown.p99", row[2])), 3);
        }
        let curve = drawn(&path, "measure-bysize");
        assert_eq!(curve.len(), 2 * 2);
        for row in &curve {
            check(row, said(&called(row), &format!("measures.bysize.{}", row[2])), 3);
        }
        // Classes of size are finer than those of the table: they are taken from the runs.
        let classes = drawn(&path, "slowdown-p99-mice");
        assert!(classes.len() == 2 * 3 && classes.iter().all(|row| !row[4].is_empty()), "{classes:?}");
        for row in &classes {
            let entry = entries.iter().find(|entry| entry.scheme == called(row)).unwrap();
            let of = entry.summaries().flat_map(|run| &run.flows.by_source[0].slowdown_classes);
            let own: Vec<f64> = of.filter(|class| class.place() == number(&row[2])).map(|class| class.p99).collect();
            let of = Estimate::of(&own).unwrap();
            assert_eq!(own.len(), 3, "all seeds count");
            let half = of.half_width.unwrap();
            check(row, [of.mean, of.mean - half, of.mean + half], 3);
        }
        // Of a distribution every percentile is the mean of those in cdf.csv, and some have intervals.
        let cdf = std::fs::read_to_string(path.join("cdf.csv")).unwrap();
        let lines = || cdf.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let all = drawn(&path, "cdf-slowdown-mice");
        assert_eq!(all.iter().filter(|row| !row[6].is_empty()).count(), 2 * 5);
        for row in all.iter().filter(|row| number(&row[3]) > 0.0) {
            let percent = |line: &Vec<&str>| near(line[4].parse::<f64>().unwrap() / 100.0, number(&row[3]));
            let own = lines().filter(|line| line[0] == called(row) && percent(line));
            let own: Vec<f64> = own.map(|line| line[6].parse().unwrap()).collect();
            assert!(own.len() == 3 && near(number(&row[2]), own.iter().sum::<f64>() / 3.0), "{row:?} of {own:?}");
        }
    }

    #[test]
    fn no_figure_of_several_seeds_is_of_one_in_silence() {
        let entries = |last: u64| [with_curve(entry("none", &[7, 8, last])), with_curve(entry("dcqcn", &[7, 8, last]))];
        let (one, other) = (figures::of_comparison(&entries(12)), figures::of_comparison(&entries(90)));
        assert_eq!(one.len(), other.len());
        for (one, other) in one.iter().zip(&other) {
            let points = |chart: &figures::chart::Chart| format!("{:?}", chart.panels);
            let changed = points(one) != points(other);
            assert!(changed || one.x.title.contains("under seed"), "{} does not heed the last seed", one.file);
            let whiskers = one.lines().any(|line| !line.intervals.is_empty() || !line.spans.is_empty());
            let bars = one.parts().any(|part| part.interval.is_some());
            assert!(whiskers || bars || one.x.title.contains("under seed"), "{} has no intervals", one.file);
        }
    }

    #[test]
    fn a_legend_has_the_users_names_and_colours() {
        let mut entries = [entry("none", &[7, 8]), entry("dcqcn", &[7, 8])];
        for run in entries.iter_mut().flat_map(|entry| &mut entry.runs) {
            run.scenario = "[output.labels]\ndcqcn = \"DCQCN\"\n[output.colours]\ndcqcn = \"#102030\"\n".into();
        }
        let charts = figures::of_comparison(&entries);
        for chart in charts.iter().filter(|chart| chart.lines().count() > 0) {
            let lines: Vec<_> = chart.lines().map(|line| (line.name.as_str(), line.colour)).collect();
            assert_eq!(lines[1], ("DCQCN", figures::chart::RGBColor(0x10, 0x20, 0x30)));
            assert_eq!(lines[0].0, "PFC only");
        }
    }

    #[test]
    fn intervals_are_in_the_data() {
        let value = json(&[entry("none", &[1, 2, 3])], &[]);
        let rows = value["estimates"].as_array().unwrap();
        let mean = rows.iter().find(|row| row["key"] == "by_source.mice.fct_us.mean").unwrap();
        assert_eq!((&mean["mean"], &mean["count"]), (&json!(32.0), &json!(3)));
        // s = 1, t(2) = 4.303.
        assert!((mean["half_width"].as_f64().unwrap() - 4.302_653 / 3f64.sqrt()).abs() < 1e-6);
        // One seed says nothing of how sure it is.
        assert!(json(&[entry("none", &[1])], &[]).get("estimates").is_none());
    }
}
