//! The numbers that `run` and `compare` show, and how sure they are: seeds, sources, few flows, width.

use crate::common::{Bench, SMALL, stderr};
use serde_json::Value;

/// What a run writes whatever the machine.
const TABLES: [&str; 4] = ["flows.parquet", "series.parquet", "pauses.parquet", "ports.parquet"];

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn goodput(bench: &Bench, scenario: &str) -> f64 {
    json(bench.ok(&["run", scenario, "--json", "--no-out"]).as_bytes())["goodput90_gbps"].as_f64().unwrap()
}

#[test]
fn one_straggler_does_not_decide_the_goodput() {
    let bench = Bench::with("small.toml", SMALL);
    let late =
        "[[traffic]]\nkind = \"incast\"\nsizes = \"1KB\"\ndestinations = \"h7\"\ndegree = 1\ntimes = [\"4.9ms\"]\n";
    bench.write("late.toml", format!("{SMALL}{late}"));
    let (without, with) = (goodput(&bench, "small.toml"), goodput(&bench, "late.toml"));
    assert!((with / without - 1.0).abs() < 0.01, "{without} Gbps without, {with} with");
}

#[test]
fn no_line_is_longer_than_the_terminal_is_wide() {
    let bench = Bench::with("small.toml", SMALL);
    let commands: [&[&str]; 3] = [
        &["run", "small.toml", "--no-out"],
        &["compare", "small.toml", "--no-out", "--schemes", "none,dcqcn:paper,hpcc"],
        &["compare", "small.toml", "--no-out", "--schemes", "none,dcqcn:paper", "--seeds", "2"],
    ];
    for args in commands {
        // A pipe has no width: 80.
        for (columns, width) in [(None, 80), (Some("60"), 60), (Some("132"), 132)] {
            let mut command = bench.command(args);
            command.env_remove("COLUMNS");
            if let Some(columns) = columns {
                command.env("COLUMNS", columns);
            }
            let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
            assert!(text.lines().count() > 10);
            for line in text.lines() {
                let length = line.chars().count();
                assert!(length <= width, "{args:?}: {length} columns of {width}:\n{line}");
            }
        }
    }
}

#[test]
fn sources_are_told_apart_and_few_flows_are_marked() {
    let bench = Bench::with("small.toml", SMALL);
    let text =
        bench.ok(&["compare", "small.toml", "--schemes", "none,dcqcn", "--out", "out", "--set", "output.figures=true"]);
    assert!(text.contains("traffic poisson-0: 60 flows") && text.contains("traffic incast-1: 12 flows"), "{text}");
    assert!(text.contains("* of 1 to 60 flows:") || text.contains("* of 3 to 60 flows:"), "{text}");
    let runs = json(&bench.read("out/comparison.json"));
    let sources = runs["runs"][0]["by_source"].as_array().unwrap();
    let of = |index: usize| (sources[index]["source"].as_str().unwrap(), sources[index]["slowdown"]["count"].as_u64());
    assert_eq!((of(0), of(1)), (("poisson-0", Some(60)), ("incast-1", Some(12))));
    // As data and as figures, each source for itself.
    let cdf = String::from_utf8(bench.read("out/cdf.csv")).unwrap();
    assert!(cdf.starts_with("scheme,seed,source,flows,percent,fct_us,slowdown\n"));
    assert!(cdf.contains("\ndcqcn,1,incast-1,12,99.9,"), "{cdf}");
    for figure in ["cdf-fct-incast-1.svg", "cdf-slowdown-poisson-0.svg", "slowdown-p99-poisson-0.svg"] {
        assert!(!bench.read(&format!("out/{figure}")).is_empty());
    }
    // One run says it too.
    let text = bench.ok(&["run", "small.toml", "--no-out"]);
    assert!(text.contains("slowdown by traffic source") && text.contains("flows: a p95 of fewer than 20"), "{text}");
}

#[test]
fn seeds_follow_each_other_and_come_with_intervals() {
    let bench = Bench::with("small.toml", SMALL);
    let run = |out: &str, threads: &str| {
        let args = ["run", "small.toml", "--seed", "4", "--seeds", "3", "--out", out];
        let output = bench.command(&args).env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap().replace(&format!("/{out}/"), "/")
    };
    let (one, two) = (run("a", "1"), run("b", "2"));
    assert_eq!(one, two, "the number of threads shows");
    assert!(one.contains("3 seeds") && one.contains(" ± "), "{one}");
    for file in ["metrics.csv", "cdf.csv"] {
        assert!(bench.read(&format!("a/{file}")) == bench.read(&format!("b/{file}")), "{file}");
    }
    // Each is the run of that seed, and nothing else.
    bench.ok(&["run", "small.toml", "--quiet", "--seed", "5", "--out", "alone"]);
    for table in TABLES {
        assert!(bench.read(&format!("a/seed-5/{table}")) == bench.read(&format!("alone/{table}")), "{table}");
    }
    let all = json(&bench.read("a/seeds.json"));
    assert_eq!(all["seeds"], serde_json::json!([4, 5, 6]));
    let values: Vec<f64> = (0..3).map(|run| all["runs"][run]["goodput90_gbps"].as_f64().unwrap()).collect();
    let row = all["estimates"].as_array().unwrap().iter().find(|row| row["key"] == "goodput90_gbps").unwrap();
    let mean = values.iter().sum::<f64>() / 3.0;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    assert!((row["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    assert!((row["half_width"].as_f64().unwrap() - 4.302_652_7 * deviation / 3f64.sqrt()).abs() < 1e-6);
    // The directory may be replaced by its like, and says what it is.
    bench.ok(&["run", "small.toml", "--quiet", "--seeds", "2", "--out", "a"]);
    assert!(!bench.path.join("a/seed-5").exists());
    let refused = bench.xoff(&["trace", "a"]);
    assert!(stderr(&refused).contains("it holds several seeds"), "{}", stderr(&refused));
}

#[test]
fn schemes_are_compared_seed_by_seed() {
    let bench = Bench::with("small.toml", SMALL);
    let args = ["compare", "small.toml", "--schemes", "none,hpcc", "--seeds", "2", "--json", "--out", "out"];
    let all = json(bench.ok(&args).as_bytes());
    let runs: Vec<(&str, u64)> = all["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["scheme"].as_str().unwrap(), run["seed"].as_u64().unwrap()))
        .collect();
    assert_eq!(runs, [("none", 1), ("none", 2), ("hpcc", 1), ("hpcc", 2)]);
    for (scheme, seed) in runs {
        assert!(bench.path.join(format!("out/{scheme}/seed-{seed}/flows.parquet")).is_file());
    }
    let of = |run: usize| all["runs"][run]["goodput90_gbps"].as_f64().unwrap();
    let less = all["differences"]["estimates"].as_array().unwrap();
    let row = less.iter().find(|row| row["key"] == "goodput90_gbps").unwrap();
    let pairs = [of(2) - of(0), of(3) - of(1)];
    assert!((row["mean"].as_f64().unwrap() - (pairs[0] + pairs[1]) / 2.0).abs() < 1e-9);
    // t(1) = 12.706; of two values the standard error is half their distance.
    let half = 12.706_204_7 * (pairs[0] - pairs[1]).abs() / 2.0;
    assert!((row["half_width"].as_f64().unwrap() - half).abs() < 1e-6);
}

#[test]
fn impossible_numbers_of_seeds_are_refused() {
    let bench = Bench::with("small.toml", SMALL);
    for seeds in ["0", "-1", "many", "10001"] {
        assert_eq!(bench.xoff(&["run", "small.toml", "--no-out", "--seeds", seeds]).status.code(), Some(2), "{seeds}");
    }
    let last = i64::MAX.to_string();
    let output = bench.xoff(&["compare", "small.toml", "--no-out", "--seed", &last, "--seeds", "2"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("leaves the range of seeds"));
}
