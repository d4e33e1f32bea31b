//! Every row of a sweep's table is the run that its own cells describe, however the sweep was made.
//!
//! Random sweeps of tiny scenarios. The test suite checks some dozens of rows; `XOFF_ROWS=1000` checks more, and
//! `XOFF_ROWS_FIRST=N` begins with another sweep.

use crate::common::Bench;
use crate::common::table::Table;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xoff_engine::quantity::{format_bytes, format_span};
use xoff_engine::{Rng, Span, stream};
use xoff_results::execute::execute;
use xoff_results::files::Staging;
use xoff_results::files::workplace::Workplace;
use xoff_scenario::diagnostic::Source;
use xoff_scenario::{Options, Scenario};
use xoff_sweep::axis::Axis;
use xoff_sweep::batch::Batch;
use xoff_sweep::cluster::{DONE, Plan};
use xoff_sweep::numbers::of_network;
use xoff_sweep::sample::Sampler;
use xoff_sweep::seal::Fingerprint;
use xoff_sweep::table::column_name;
use xoff_sweep::value::Unit;
use xoff_sweep::{Sweep, Sweeper};

/// A setting of the test suite.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn one<'a, T>(rng: &mut Rng, of: &'a [T]) -> &'a T {
    &of[rng.below(of.len() as u64) as usize]
}

/// Some of several, in any order; at least one.
fn some<T: Clone>(rng: &mut Rng, of: &[T], most: u64) -> Vec<T> {
    let mut left = of.to_vec();
    let count = 1 + rng.below(most.min(of.len() as u64));
    (0..count).map(|_| left.remove(rng.below(left.len() as u64) as usize)).collect()
}

const SCHEMES: &[&str] = &["none", "dcqcn", "dcqcn:nic", "hpcc", "swift", "timely", "pcn", "pcn+dcqcn"];

/// A key, or two that move together, and values that it may take.
const AXES: &[(&str, &[&str])] = &[
    ("traffic.0.load", &["0.2", "0.35", "0.50", "0.8"]),
    ("traffic.0.sizes", &["2KB", "10KB", "\"25KB\"", "hadoop"]),
    ("traffic.0.flows", &["4", "7", "12"]),
    ("topology.delay", &["500ns", "1us", "2.5us"]),
    ("topology.rate", &["10Gbps", "25Gbps", "100Gbps"]),
    ("switch.buffer", &["1MB", "2MB", "4MB"]),
    ("switch.ecn", &["on", "off"]),
    ("scheme.kmin", &["4KB", "20KB", "60KB"]),
    ("run.stop", &["300us", "1ms"]),
];

/// A sweep and the meaning of the first key of a pair.
struct Drawn {
    sweep: Sweep,
    /// The second key of a pair, with its value for each value of the first.
    second: Option<(String, BTreeMap<String, String>)>,
}

fn scenario(rng: &mut Rng) -> String {
    let topology = *one(rng, &["kind = \"star\"\nhosts = 5", "kind = \"dumbbell\"\nleft = 2\nright = 2"]);
    let scheme = *one(rng, &["dcqcn", "hpcc", "none"]);
    format!(
        "name = \"tiny\"\nseed = {}\n[run]\nstop = \"500us\"\n[topology]\n{topology}\nrate = \"40Gbps\"\n\
         delay = \"800ns\"\n[scheme]\nname = \"{scheme}\"\n[[traffic]]\nkind = \"poisson\"\nname = \"mice\"\n\
         sizes = \"8KB\"\nload = 0.6\nflows = 8\n",
        1 + rng.below(9)
    )
}

fn draw(seed: u64) -> Drawn {
    xoff_schemes::install_all();
    let mut rng = stream(seed, "rows", 0);
    let mut sweep = Sweep::of(Scenario::from_text("tiny.toml", scenario(&mut rng), Path::new(".")));
    if rng.below(3) > 0 {
        sweep.schemes = some(&mut rng, SCHEMES, 3).into_iter().map(str::to_owned).collect();
    }
    sweep.seeds = 1 + rng.below(3);
    sweep.first_seed = (rng.below(2) == 0).then(|| 1 + rng.below(50));
    let mut second = None;
    for (key, values) in some(&mut rng, AXES, 3) {
        let values = some(&mut rng, values, 3);
        sweep.add(Axis::typed(&format!("{key}={}", values.join(","))).unwrap());
    }
    match rng.below(4) {
        0 => {
            let (ports, paces) = (["0.3", "0.7"], ["1us", "2us"]);
            let axis = format!("traffic.0.load={}+topology.delay={}", ports.join(","), paces.join(","));
            sweep.axes.retain(|axis| !["traffic.0.load", "topology.delay"].contains(&axis.keys[0].as_str()));
            sweep.add(Axis::typed(&axis).unwrap());
            let pairs = ports.iter().zip(paces).map(|(a, b)| ((*a).to_owned(), b.to_owned()));
            second = Some(("topology.delay".to_owned(), pairs.collect()));
        }
        1 => {
            sweep.sample = Some(1 + rng.below(4));
            sweep.sampler = *one(&mut rng, &[Sampler::Sobol, Sampler::Random]);
            let range = *one(&mut rng, &["traffic.0.load=0.1..0.9", "topology.delay=500ns..3us:log"]);
            sweep.add(Axis::typed(range).unwrap());
        }
        _ => {}
    }
    Drawn { sweep, second }
}

/// The table of a sweep made on this machine, or why it cannot be.
fn local(sweep: &Sweep, folder: &Path) -> Option<Table> {
    let sweeper = Sweeper::check(sweep).ok()?;
    let records = sweeper.run(None, 1, &|_| {}).unwrap();
    std::fs::create_dir_all(folder).unwrap();
    sweeper.rows(&records).unwrap().write(folder, false).unwrap();
    Some(Table::read(&folder.join("runs.parquet")))
}

/// The table of a sweep by way of a plan and its tasks.
fn planned(sweep: &Sweep, folder: &Path, tasks: u64) -> Vec<u8> {
    let sweeper = Sweeper::check(sweep).unwrap();
    let workplace = Workplace::open(&folder.join("plan"), DONE).unwrap();
    let mut staging = Staging::create(workplace.path()).unwrap();
    Plan::write(&sweeper, &mut staging, &Batch { tasks, ..Batch::default() }, "0 test").unwrap();
    let plan = Plan::open(&staging.finish().unwrap(), "0 test").unwrap();
    for task in (0..plan.tasks()).rev() {
        plan.run_task(task, 1, &|_| {}).unwrap();
    }
    let sweep = plan.sweep().unwrap();
    let records = plan.collect(&sweep).unwrap();
    let sweeper = Sweeper::planned(&sweep, plan.name()).unwrap();
    sweeper.rows(&records).unwrap().write(folder, false).unwrap();
    std::fs::read(folder.join("runs.parquet")).unwrap()
}

/// Makes the run of a row from its own cells, and compares every number.
fn check_row(table: &Table, row: usize, drawn: &Drawn) {
    let sweep = &drawn.sweep;
    let mut sets = Vec::new();
    for axis in &sweep.axes {
        let column = column_name(axis);
        let cell = table.text(&column, row);
        if cell == "null" {
            continue;
        }
        let number = || table.number(&column, row).unwrap();
        let value = match axis.unit() {
            None => cell.trim_matches('"').to_owned(),
            Some(Unit::One) => number().to_string(),
            // Parameters of schemes keep their spelling, and with it their fingerprint.
            Some(Unit::Bytes) => format_bytes(number() as u64),
            Some(Unit::Microseconds) => format_span(Span::from_ps((number() * 1e6).round() as u64)),
            Some(Unit::Gbps) => format!("{}Gbps", number()),
        };
        if let Some((key, second)) =
            drawn.second.as_ref().filter(|(key, _)| axis.keys.contains(key) && axis.keys.len() > 1)
        {
            sets.push(format!("{key}={}", second[&value]));
        }
        sets.push(format!("{}={value}", axis.keys[0]));
    }
    let scheme = table.words("scheme")[row].clone();
    if !sweep.schemes.is_empty() {
        sets.push(format!("scheme.name=\"{scheme}\""));
    }
    let seed = table.integers("seed")[row] as u64;
    let options = Options { sets: sets.clone(), seed: Some(seed), ..Options::default() };
    let loaded = sweep.scenario.load(&options).unwrap_or_else(|errors| panic!("{sets:?}: {}", errors[0]));
    let outcome = execute(&loaded, None, |_| {}).unwrap();
    let told = || format!("row {row}: {sets:?}, seed {seed}, of\n{}", sweep.text("tiny.toml"));
    assert_eq!(table.words("scenario_hash")[row], Fingerprint::of(&loaded).text(), "{}", told());
    let numbers = of_network(&outcome.summary);
    for number in &numbers {
        assert_eq!(table.number(&number.name, row), number.value, "{} of {}", number.name, told());
    }
    let summary = serde_json::to_value(&outcome.summary).unwrap();
    assert_eq!(table.number("delivered_bytes", row), summary["delivered_bytes"].as_f64(), "{}", told());
    assert_eq!(table.number("slowdown.p99", row), summary["slowdown"]["p99"].as_f64(), "{}", told());
}

#[test]
fn every_row_is_the_run_of_its_own_settings() {
    let bench = Bench::new();
    let wanted = setting("XOFF_ROWS", 80);
    let (mut rows, mut sweeps, mut seed) = (0, 0, setting("XOFF_ROWS_FIRST", 0));
    while rows < wanted {
        let drawn = draw(seed);
        let folder = bench.path.join(seed.to_string());
        seed += 1;
        let Some(table) = local(&drawn.sweep, &folder) else { continue };
        for row in 0..table.rows() {
            check_row(&table, row, &drawn);
        }
        sweeps += 1;
        rows += table.rows() as u64;
    }
    eprintln!("{rows} rows of {sweeps} sweeps are the runs of their own settings; {seed} sweeps were drawn");
    assert!(sweeps * 3 > seed - setting("XOFF_ROWS_FIRST", 0), "most of what is drawn is refused");
}

/// Rows by what they say of themselves.
type Rows = BTreeMap<Vec<String>, Vec<(String, String)>>;

fn rows_of(table: &Table, axes: &[String]) -> Rows {
    let mut named = axes.to_vec();
    named.extend(["scheme".to_owned(), "seed".to_owned()]);
    named.sort();
    let others: Vec<&String> = table.columns().filter(|column| !named.contains(column)).collect();
    let row = |row: usize| {
        let key = named.iter().map(|column| table.text(column, row)).collect::<Vec<_>>();
        // What no run of a table has, has no column there.
        let cell = |column: &&String| (column.to_string(), table.text(column, row));
        (key, others.iter().map(cell).filter(|(_, text)| text != "null").collect())
    };
    let rows: Rows = (0..table.rows()).map(row).collect();
    assert_eq!(rows.len(), table.rows(), "two rows say the same of themselves");
    rows
}

fn columns(sweep: &Sweep) -> Vec<String> {
    sweep.axes.iter().map(column_name).collect()
}

/// The relations of sweeps: what must not change the rows does not.
#[test]
fn rows_do_not_depend_on_how_a_sweep_is_asked_for() {
    let bench = Bench::new();
    let wanted = setting("XOFF_ROWS", 80) / 8;
    let (mut compared, mut seed) = (0, setting("XOFF_ROWS_FIRST", 0));
    while compared < wanted {
        let Drawn { sweep, .. } = draw(seed);
        let folder = |name: &str| -> PathBuf { bench.path.join(format!("{seed}-{name}")) };
        let Some(table) = local(&sweep, &folder("whole")) else {
            seed += 1;
            continue;
        };
        let axes = columns(&sweep);
        let whole = rows_of(&table, &axes);
        // A plan, in any number of tasks, to the last byte.
        let bytes = std::fs::read(folder("whole").join("runs.parquet")).unwrap();
        assert!(planned(&sweep, &folder("plan"), 1 + seed % 5) == bytes, "{seed}: a plan");
        // Schemes and axes in another order. Samples are drawn axis by axis.
        if sweep.sample.is_none() {
            let mut turned = sweep.clone();
            turned.axes.reverse();
            turned.schemes.reverse();
            turned.axes.iter_mut().for_each(|axis| axis.values.reverse());
            assert_eq!(rows_of(&local(&turned, &folder("turned")).unwrap(), &axes), whole, "{seed}: turned");
        }
        // A file of it.
        std::fs::write(folder("whole").join("tiny.toml"), &sweep.scenario.source().text).unwrap();
        let read = Sweep::read(&Source::new("sweep.toml", sweep.text("tiny.toml")), &folder("whole")).unwrap();
        assert_eq!(rows_of(&local(&read, &folder("file")).unwrap(), &axes), whole, "{seed}: a file");
        // More seeds, and one value more: the rows that were there stay what they were.
        let mut more = Sweep { seeds: sweep.seeds + 1, ..sweep.clone() };
        let own = more.axes.iter().position(|axis| axis.keys == ["run.stop"]);
        match own {
            None if more.sample.is_none() => {
                let known = local(&more, &folder("more")).unwrap();
                assert!(whole.iter().all(|row| rows_of(&known, &axes).get(row.0) == Some(row.1)), "{seed}: more seeds");
            }
            Some(at) if more.sample.is_none() => {
                more.axes[at].values = Axis::typed("run.stop=300us,400us,1ms").unwrap().values;
                let known = rows_of(&local(&more, &folder("more")).unwrap(), &axes);
                assert!(whole.iter().all(|row| known.get(row.0) == Some(row.1)), "{seed}: more values");
            }
            _ => {}
        }
        compared += 1;
        seed += 1;
    }
}
