//! `xoff sweep` from outside: run, killed, resumed, changed, planned, refused.

use crate::common::table::Table;
use crate::common::{self, Bench, stderr};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;
use xoff_yardstick::{found, python};

const SCENARIO: &str = r#"
name = "tiny"
seed = 3

[topology]
kind = "star"
hosts = 9
rate = "100Gbps"
delay = "1us"

[scheme]
name = "dcqcn"

[[traffic]]
kind = "poisson"
name = "mice"
sizes = "100KB"
load = 0.4
flows = 60

[[measure]]
name = "tail"
metric = "fct"
stat = "max"
unit = "us"
"#;

const GRID: [&str; 7] = [
    "--schemes",
    "dcqcn,hpcc",
    "--axis",
    "traffic.0.load=0.3,0.6",
    "--axis",
    "scheme.kmin=5KB..400KB:log3",
    "--seeds=2",
];

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("tiny.toml", SCENARIO);
    bench
}

fn sweep(bench: &Bench, args: &[&str]) -> Value {
    let text = bench.ok(&[&["sweep", "tiny.toml", "--json"], args].concat());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_row_for_every_run_and_a_column_for_every_number() {
    let bench = bench();
    let told = sweep(&bench, &[&GRID[..], &["--out", "out"]].concat());
    // Of kmin three values for dcqcn; hpcc has none.
    assert_eq!((&told["points"], &told["runs"], &told["failed"]), (&8.into(), &16.into(), &0.into()));
    assert!(told["finding"].as_str().unwrap().starts_with("The lowest tail (2 seeds) is "), "{told}");
    let runs = Table::read(&bench.path.join("out/runs.parquet"));
    assert_eq!(runs.rows(), 16);
    let load = runs.reals("load");
    assert_eq!((load[0], load[15]), (Some(0.3), Some(0.6)));
    let kmin = runs.reals("kmin_bytes");
    assert_eq!(kmin[..6], [5e3, 5e3, 44_721.0, 44_721.0, 4e5, 4e5].map(Some));
    assert_eq!(kmin[12..], [None; 4]);
    let scheme = runs.words("scheme");
    assert_eq!((scheme[0].as_str(), scheme[15].as_str()), ("dcqcn", "hpcc"));
    let seeds: Vec<i64> = runs.integers("seed");
    assert_eq!(seeds[..4], [3, 4, 3, 4]);
    assert!(runs.words("status").iter().all(|status| status == "finished"));
    assert_eq!(runs.words("scenario_hash").into_iter().collect::<BTreeSet<_>>().len(), 16);
    // The same numbers as a run of its own has.
    let alone = bench.ok(&[
        "run",
        "tiny.toml",
        "--set",
        "traffic.0.load=0.6",
        "--set",
        "scheme.name=hpcc",
        "--seed",
        "4",
        "--no-out",
        "--json",
    ]);
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert_eq!(runs.reals("by_source.mice.slowdown.p99")[15], alone["by_source"][0]["slowdown"]["p99"].as_f64());
    assert_eq!(runs.reals("measure.tail")[15], alone["measures"][0]["value"].as_f64());
    // Times of the machine are in a table of their own.
    assert!(!runs.has("wall_seconds"));
    assert_eq!(Table::read(&bench.path.join("out/times.parquet")).rows(), 16);
    for file in
        ["report.html", "sweep.toml", "scenario.toml", "figures/measure-tail-over-load.svg", "figures/pareto.pdf"]
    {
        assert!(bench.path.join("out").join(file).is_file(), "{file}");
    }
    let page = std::fs::read_to_string(bench.path.join("out/report.html")).unwrap();
    assert!(page.contains("table class=\"heat\"") && page.contains("The lowest tail"));
    assert!(!page.contains(" src=") && !page.contains("<link"), "it is self-contained");
    assert!(page.contains("default-src 'none'") || page.contains("default-src &#x27;none&#x27;"), "nothing is loaded");
}

/// The README's own sweep, and thresholds that a scenario never reaches.
#[test]
fn a_finding_names_no_winner_among_equals() {
    let bench = Bench::new();
    let told = |args: &[&str]| {
        let text =
            bench.ok(&[&["sweep", "incast", "--json", "--set", "traffic.0.events=2", "--out", "out"], args].concat());
        let told: Value = serde_json::from_str(&text).unwrap();
        told["finding"].as_str().unwrap().to_owned()
    };
    let finding = told(&["--schemes", "dcqcn,hpcc,swift", "--axis", "traffic.0.degree=4,8", "--seeds", "3"]);
    assert!(finding.contains("is that of dcqcn and swift, less than 5 % apart, at each of 2 settings"), "{finding}");
    assert!(!finding.contains("clearly"), "{finding}");
    let finding = told(&["--axis", "scheme.kmin=5KB,50KB,400KB", "--seeds", "2"]);
    assert!(
        finding.contains("the same at all points; seeds change nothing here. kmin has no effect here"),
        "{finding}"
    );
}

/// A measure that is a curve has a table and a figure, and may be asked for by name. Labels make no run again.
#[test]
fn curves_have_a_table_and_a_figure_of_all_seeds() {
    let bench = Bench::new();
    let curve = "[[measure]]\nname = \"bysize\"\nmetric = \"slowdown-by-size\"\nstat = \"p99\"\n\
                 edges = [\"1KB\", \"30KB\", \"1MB\"]\n";
    let sizes = SCENARIO.replace("sizes = \"100KB\"", "sizes = \"10KB\"");
    bench.write("tiny.toml", &(sizes + curve));
    let grid = ["--schemes", "dcqcn,swift", "--axis", "traffic.0.load=0.3,0.6", "--seeds=2", "--out", "out"];
    sweep(&bench, &[&grid[..], &["--measure", "measure.bysize"]].concat());
    let read = |name: &str| std::fs::read_to_string(bench.path.join("out").join(name)).unwrap();
    // Two schemes, two loads, two seeds, one bin with flows.
    let rows = read("curves.csv");
    assert_eq!(rows.lines().next(), Some("load,scheme,seed,measure,x,y"));
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 2);
    let drawn = read("figures/measure-bysize.csv");
    assert_eq!(drawn.lines().filter(|line| line.starts_with("Offered load 0.")).count(), 2 * 2);
    for line in drawn.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let load = cells[0].trim_start_matches("Offered load ");
        let own = rows.lines().map(|row| row.split(',').collect::<Vec<_>>());
        let own = own.filter(|row| row[0] == load && row[1] == cells[1]);
        let values: Vec<f64> = own.map(|row| row[5].parse().unwrap()).collect();
        let mean: f64 = cells[3].parse().unwrap();
        assert!(values.len() == 2 && (values.iter().sum::<f64>() / 2.0 - mean).abs() < 1e-9, "{line}: {values:?}");
        assert!(!cells[4].is_empty(), "it has an interval");
    }
    assert!(read("figures/captions.txt").contains("p99 slowdown by flow size (bysize)"));
    let kept = || {
        let folders = std::fs::read_dir(bench.path.join("out/runs")).unwrap();
        folders.map(|folder| std::fs::read_dir(folder.unwrap().path()).map_or(0, Iterator::count)).sum::<usize>()
    };
    let before = kept();
    sweep(&bench, &[&grid[..], &["--set", "output.labels.swift=Swift"]].concat());
    assert_eq!(kept(), before, "no run is made again");
    assert!(read("figures/measure-bysize.csv").contains(",Swift,"));
}

/// No number of `run.json` is forgotten: they are found by walking it.
#[test]
fn every_number_of_the_summary_has_its_column() {
    let bench = bench();
    sweep(&bench, &["--out", "out"]);
    let (runs, times) =
        (Table::read(&bench.path.join("out/runs.parquet")), Table::read(&bench.path.join("out/times.parquet")));
    let names: BTreeSet<String> = [&runs, &times].iter().flat_map(|table| table.columns().cloned()).collect();
    let run: Value = serde_json::from_str(&bench.ok(&["run", "tiny.toml", "--no-out", "--json"])).unwrap();
    let mut numbers = Vec::new();
    walk(&run, "", &mut numbers);
    // Lists of places and groups have no name that another run shares; curves are no numbers.
    let elsewhere = [
        "nearest_xoff",
        "busiest_links",
        "slowdown_by_size",
        "slowdown_classes",
        "cdf",
        "windows",
        "warnings",
        "measures",
    ];
    let missing: Vec<&String> = numbers
        .iter()
        .filter(|name| !elsewhere.iter().any(|part| name.split('.').any(|of| of == *part)))
        .filter(|name| !names.contains(*name) && name.as_str() != "worst_queue.priority")
        .collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
    assert!(numbers.len() > 60 && names.contains("measure.tail"));
}

/// Names of all numbers; elements of lists go by their own names.
fn walk(value: &Value, at: &str, found: &mut Vec<String>) {
    let join = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Object(entries) => entries.iter().for_each(|(name, value)| walk(value, &join(name), found)),
        Value::Array(items) => {
            for item in items {
                let own = ["source", "name", "label"].iter().find_map(|key| item[*key].as_str().map(str::to_owned));
                let layers = || Some(format!("{}-{}", item["from"].as_str()?, item["to"].as_str()?));
                walk(item, &join(&own.or_else(layers).unwrap_or_default()), found);
            }
        }
        _ => {}
    }
}

#[test]
fn killed_and_started_again_it_goes_on() {
    let bench = bench();
    let args = [&["sweep", "tiny.toml", "--json", "--set", "traffic.0.flows=300", "--jobs=1"], &GRID[..]].concat();
    bench.ok(&[&args[..], &["--out", "whole"]].concat());
    let whole = std::fs::read(bench.path.join("whole/runs.parquet")).unwrap();
    for milliseconds in [15, 40, 90, 160, 260, 400] {
        let mut command = bench.command(&[&args[..], &["--out", "torn"]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let _ = child.kill();
        child.wait().unwrap();
    }
    bench.ok(&[&args[..], &["--out", "torn"]].concat());
    assert_eq!(std::fs::read(bench.path.join("torn/runs.parquet")).unwrap(), whole);
}

#[test]
fn a_changed_axis_runs_only_what_is_new() {
    let bench = bench();
    let run = |loads: &str| {
        sweep(&bench, &["--axis", &format!("traffic.0.load={loads}"), "--out", "out"]);
        let mut files = Vec::new();
        for folder in common::entries(&bench.path.join("out/runs")) {
            let folder = bench.path.join("out/runs").join(folder);
            files.extend(common::entries(&folder).into_iter().map(|file| {
                let path = folder.join(file);
                (path.clone(), std::fs::metadata(path).unwrap().modified().unwrap())
            }));
        }
        files
    };
    let first = run("0.3,0.5");
    let second = run("0.5,0.7");
    assert_eq!((first.len(), second.len()), (2, 3));
    assert!(first.iter().all(|of| second.contains(of)), "nothing was made twice");
}

#[test]
fn a_sweep_without_figures_can_be_started_again() {
    let bench = bench();
    let cases: [&[&str]; 5] =
        [&[], &["--seeds", "3"], &["--schemes", "dcqcn,hpcc"], &["--axis", "traffic.0.load=0.5"], &["--flows"]];
    for (number, args) in cases.into_iter().enumerate() {
        let out = format!("out{number}");
        let args = [args, &["--out", &out]].concat();
        sweep(&bench, &args);
        let first = bench.read(&format!("{out}/runs.parquet"));
        assert!(!bench.path.join(&out).join("figures").exists(), "{args:?}");
        sweep(&bench, &args);
        assert_eq!(bench.read(&format!("{out}/runs.parquet")), first, "{args:?}");
    }
}

#[test]
fn no_sweep_takes_the_place_of_another_unasked() {
    let bench = bench();
    let one = ["--axis", "traffic.0.load=0.3,0.6"];
    let other = ["--axis", "traffic.0.load=0.3", "--axis", "scheme.kmin=5KB,50KB"];
    let directory = |args: &[&str]| {
        let output = bench.xoff(&[&["sweep", "tiny.toml", "--json"], args].concat());
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let name = told["directory"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (name, stderr(&output))
    };
    let first = directory(&one);
    assert_eq!(first, ("tiny-sweep".to_owned(), String::new()));
    let table = bench.read("results/tiny-sweep/runs.parquet");
    let second = directory(&other);
    assert_eq!(second.0, "tiny-sweep-2");
    assert!(second.1.contains("results/tiny-sweep holds another sweep of tiny"), "{}", second.1);
    assert_eq!(bench.read("results/tiny-sweep/runs.parquet"), table);
    // Each is found again, and more of it resumes.
    assert_eq!((directory(&one).0, directory(&other).0), ("tiny-sweep".to_owned(), "tiny-sweep-2".to_owned()));
    assert_eq!(directory(&["--axis", "traffic.0.load=0.3,0.5,0.6", "--seeds=2"]).0, "tiny-sweep");
    // One that shares runs with the first finds them there.
    assert_eq!(directory(&["--axis", "traffic.0.load=0.6"]).0, "tiny-sweep-3");
    let runs = |name: &str| {
        let store = bench.path.join("results").join(name).join("runs");
        let folders = common::entries(&store).into_iter().map(|folder| store.join(folder));
        folders.flat_map(|folder| common::entries(&folder)).collect::<Vec<_>>()
    };
    let taken = runs("tiny-sweep-3");
    assert!(taken.len() == 1 && runs("tiny-sweep").contains(&taken[0]), "{taken:?}");
    // Where it is asked for, it is said.
    let asked = directory(&[&other[..], &["--out", "results/tiny-sweep"]].concat());
    assert!(asked.0 == "tiny-sweep" && asked.1.contains("whose tables and report are replaced"), "{asked:?}");
}

#[test]
fn failures_and_limits_are_rows() {
    let bench = bench();
    // Losses in a lossless class with hardly any headroom.
    let told = sweep(
        &bench,
        &[
            "--axis",
            "switch.pfc.headroom=1KB,100KB",
            "--set",
            "switch.pfc.threshold=static",
            "--set",
            "switch.pfc.xoff=50KB",
            "--set",
            "switch.pfc.xon=48KB",
            "--set",
            "scheme.name=none",
            "--set",
            "traffic.0.load=0.9",
            "--out",
            "out",
        ],
    );
    let status = Table::read(&bench.path.join("out/runs.parquet")).words("status");
    assert_eq!(told["failed"], status.iter().filter(|status| *status == "failed").count());
    assert_eq!(status, ["failed", "finished"]);
    // One that this machine gives up is not kept, and so is tried again.
    let limited = ["--set", "traffic.0.flows=200000", "--out", "limited"];
    let told = sweep(&bench, &[&limited[..], &["--time-limit", "50ms"]].concat());
    assert_eq!((&told["gave_up"], &told["failed"]), (&1.into(), &0.into()));
    let row = Table::read(&bench.path.join("limited/runs.parquet"));
    assert!(row.words("failure")[0].contains("out of time"), "{:?}", row.words("failure"));
    assert!(common::entries(&bench.path.join("limited/runs")).is_empty());
}

#[test]
fn a_file_says_the_same_as_flags_and_tells_what_is_wrong() {
    let bench = bench();
    bench.write(
        "study.toml",
        "scenario = \"tiny.toml\"\nschemes = [\"dcqcn\", \"hpcc\"]\nseeds = 2\n\n\
         [[axis]]\nkey = \"traffic.0.load\"\nvalues = [0.3, 0.6]\n\n\
         [[axis]]\nkey = \"scheme.kmin\"\nfrom = \"5KB\"\nto = \"400KB\"\nsteps = 3\nscale = \"log\"\nwhere = [\"dcqcn\"]\n",
    );
    bench.ok(&["sweep", "study.toml", "--out", "file", "--quiet"]);
    sweep(&bench, &[&GRID[..], &["--out", "flags"]].concat());
    let of = |name: &str| std::fs::read(bench.path.join(name)).unwrap();
    assert_eq!(of("file/runs.parquet"), of("flags/runs.parquet"));
    // What was written beside the table repeats it.
    bench.ok(&["sweep", "flags/sweep.toml", "--out", "again", "--quiet"]);
    assert_eq!(of("again/runs.parquet"), of("flags/runs.parquet"));
    for (args, why) in [
        (vec!["--axis", "scheme.kmim=1KB,2KB", "--schemes", "dcqcn"], "no scheme of this sweep has `scheme.kmim`"),
        (vec!["--axis", "traffic.0.lode=1,2"], "`lode`"),
        (vec!["--axis", "traffic.0.load=0.1..0.9"], "how many values"),
        (vec!["--axis", "traffic.0.load=0.3", "--axis", "seed=1,2", "--measure", "slowdwn.p99"], "slowdwn.p99"),
        (vec!["--schemes", "hpcc,hpcc"], "twice"),
        (vec!["--sample", "4"], "there is none"),
    ] {
        let output = bench.xoff(&[&["sweep", "tiny.toml", "--out", "bad"][..], &args[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn samples_fill_the_space_and_a_dry_run_runs_nothing() {
    let bench = bench();
    let args = ["--axis", "traffic.0.load=0.1..0.8", "--axis", "scheme.kmin=5KB..400KB:log", "--sample", "8"];
    sweep(&bench, &[&args[..], &["--out", "out"]].concat());
    let runs = Table::read(&bench.path.join("out/runs.parquet"));
    let mut eighths: Vec<u64> =
        runs.reals("load").into_iter().flatten().map(|load| ((load - 0.1) / 0.7 * 8.0) as u64).collect();
    eighths.sort_unstable();
    assert_eq!(eighths, [0, 1, 2, 3, 4, 5, 6, 7], "one in each eighth of the axis");
    let told: Value =
        serde_json::from_str(&bench.ok(&[&["sweep", "tiny.toml", "--dry-run", "--json"][..], &GRID[..]].concat()))
            .unwrap();
    assert_eq!((&told["runs"], &told["points"]), (&16.into(), &8.into()));
    assert!(told["cpu_seconds"].as_f64().unwrap() > 0.0 && !bench.path.join("results").exists());
    let text = bench.ok(&[&["sweep", "tiny.toml", "--dry-run"][..], &GRID[..]].concat());
    assert!(text.contains("estimated from 8 runs") && !text.contains(" 0 s"), "{text}");
}

#[test]
fn a_plan_runs_in_tasks_and_comes_to_the_same() {
    let bench = bench();
    sweep(&bench, &[&GRID[..], &["--out", "local"]].concat());
    bench.ok(&[&["sweep", "tiny.toml", "--plan", "plan", "--tasks", "3"][..], &GRID[..]].concat());
    // The scenario may go; the plan needs nothing else.
    std::fs::remove_file(bench.path.join("tiny.toml")).unwrap();
    bench.ok(&["sweep", "--task", "0", "plan", "--quiet"]);
    bench.ok(&["sweep", "--task", "2", "plan", "--quiet"]);
    let early = bench.xoff(&["sweep", "--collect", "plan", "--out", "joined"]);
    assert_eq!(early.status.code(), Some(2));
    assert!(
        stderr(&early).contains("5 of 16 runs are not there yet") && stderr(&early).contains("--array=1 "),
        "{}",
        stderr(&early)
    );
    // Twice does no harm.
    bench.ok(&["sweep", "--task", "1", "plan", "--quiet"]);
    bench.ok(&["sweep", "--task", "1", "plan", "--quiet"]);
    bench.ok(&["sweep", "--collect", "plan", "--out", "joined", "--quiet"]);
    let of = |name: &str| std::fs::read(bench.path.join(name)).unwrap();
    assert_eq!(of("joined/runs.parquet"), of("local/runs.parquet"));
    assert!(String::from_utf8(of("plan/array.sh")).unwrap().contains("#SBATCH --array=0-2"));
    assert!(stderr(&bench.xoff(&["sweep", "--task", "3", "plan"])).contains("no task 3"));
    assert!(stderr(&bench.xoff(&["sweep", "--collect", "local"])).contains("no plan"));
}

/// All flows as one data set, which the field's readers take as one table.
#[test]
fn other_readers_take_flows_for_one_data_set() {
    let bench = bench();
    sweep(&bench, &[&GRID[..], &["--flows", "--out", "out"]].concat());
    let script = "import pandas, polars, duckdb, sys\n\
        folder = sys.argv[1]\n\
        rows = pandas.read_parquet(folder)\n\
        print(len(rows), rows[rows.scheme == 'hpcc'].seed.nunique(), (rows.kmin_bytes == 'none').sum())\n\
        rows = polars.scan_parquet(folder + '/**/*.parquet', hive_partitioning=True).collect()\n\
        print(rows.height, rows.filter(polars.col('scheme') == 'hpcc')['seed'].n_unique())\n\
        rows = duckdb.sql(f\"select count(*), count(distinct load) from '{folder}/**/*.parquet'\").fetchall()[0]\n\
        print(*rows)\n";
    let Some(python) = found(python(&["pandas==3.1.1", "pyarrow==26.0.1", "polars==2.1.0", "duckdb==2.0.0"])) else {
        return;
    };
    let output = Command::new(python).args(["-c", script]).arg(bench.path.join("out/flows")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "960 2 240\n960 2\n960 2\n", "{}", stderr(&output));
}

#[test]
fn flows_are_one_data_set() {
    let bench = bench();
    let told = sweep(&bench, &[&GRID[..], &["--flows", "--out", "out"]].concat());
    assert_eq!(told["runs"], 16);
    let part = bench.path.join("out/flows/load=0.3/kmin_bytes=5000/scheme=dcqcn/seed=3/flows.parquet");
    assert_eq!(Table::read(&part).rows(), 60);
    assert!(!Table::read(&part).has("scheme"), "the folder says it");
    // One that is torn is made again.
    let store = bench.path.join("out/runs");
    let folder = store.join(&common::entries(&store)[0]);
    let flows = common::entries(&folder).into_iter().find(|name| name.ends_with(".parquet")).unwrap();
    let whole = std::fs::read(folder.join(&flows)).unwrap();
    std::fs::remove_file(folder.join(&flows)).unwrap();
    sweep(&bench, &[&GRID[..], &["--flows", "--out", "out"]].concat());
    assert_eq!(std::fs::read(folder.join(&flows)).unwrap(), whole);
}

#[test]
fn points_of_a_sweep_at_flow_level_are_verified_at_packet_level() {
    let bench = bench();
    let args = ["--axis", "traffic.0.load=0.3,0.5,0.7", "--out", "out"];
    let flow = sweep(&bench, &[&args[..], &["--fidelity", "flow", "--verify", "2"]].concat());
    let told = flow["verification"].as_str().unwrap_or_else(|| panic!("{flow}"));
    assert!(told.contains("Flow level against packet level at 2 points:") && told.contains("p99 slowdown"), "{told}");
    let csv = String::from_utf8(bench.read("out/verified.csv")).unwrap();
    let rows: Vec<&str> = csv.lines().skip(1).filter(|row| row.contains("slowdown.p99,")).collect();
    assert_eq!(rows.len(), 2, "{csv}");
    for row in rows {
        let numbers: Vec<f64> = row.rsplitn(4, ',').filter_map(|cell| cell.parse().ok()).collect();
        let [error, packet, flow] = numbers[..] else { panic!("{row}") };
        assert!((flow / packet - 1.0 - error).abs() < 1e-12 && error.abs() < 0.5, "{row}");
    }
    let refused = bench.xoff(&["sweep", "tiny.toml", "--axis", "traffic.0.load=0.3,0.5", "--verify", "1"]);
    let said = stderr(&refused);
    assert!(said.contains("--verify compares a sweep at flow level with packet level"), "{said}");
}
