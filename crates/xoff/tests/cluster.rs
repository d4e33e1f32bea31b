//! Plans of sweeps, with their tasks run by hand; `scripts/slurm` lets a real queue do it.

use crate::common::{self, Bench, SMALL, stderr};
use serde_json::{Value, json};
use std::process::Command;
use xoff_sweep::seal;

const SWEEP: [&str; 6] = ["sweep", "small.toml", "--axis", "traffic.0.load=0.3,0.5,0.7", "--seeds", "4"];

fn planned() -> Bench {
    let bench = Bench::with("small.toml", SMALL);
    bench.ok(&[&SWEEP[..], &["--plan", "my plan", "--tasks", "6", "--quiet"]].concat());
    bench
}

fn task<'a>(number: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep", "my plan", "--task", number, "--quiet"], more].concat()
}

#[test]
fn tasks_in_any_order_and_number_make_the_table_of_one_machine() {
    let bench = planned();
    for number in ["4", "0", "1"] {
        bench.ok(&task(number, &[]));
    }
    let output = bench.xoff(&["sweep", "--collect", "my plan", "--out", "cluster"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("6 of 12 runs are not there yet"), "{text}");
    assert!(text.contains("sbatch --array=2-3,5 '") && text.contains("my plan/array.sh'"), "{text}");
    assert!(!bench.path.join("cluster").exists());
    // One of them three times at the same instant.
    let start = |number| bench.command(&task(number, &[])).spawn().unwrap();
    for mut child in ["2", "3", "5", "3", "3"].map(start) {
        assert!(child.wait().unwrap().success());
    }
    bench.ok(&["sweep", "--collect", "my plan", "--out", "cluster", "--quiet"]);
    bench.ok(&[&SWEEP[..], &["--out", "local", "--quiet"]].concat());
    assert!(bench.read("cluster/runs.parquet") == bench.read("local/runs.parquet"));
}

#[test]
fn a_task_of_another_program_is_refused() {
    let bench = planned();
    let another = bench.path.join("another");
    // By another process: a child that another test starts meanwhile would hold the file open, and it cannot be started.
    let made = std::process::Command::new("sh")
        .args(["-c", r#"cp "$0" "$1" && echo >> "$1""#, env!("CARGO_BIN_EXE_xoff")])
        .arg(&another)
        .status();
    assert!(made.unwrap().success());
    for args in [task("0", &[]), vec!["sweep", "--collect", "my plan", "--out", "out"]] {
        let output = std::process::Command::new(&another).args(args).current_dir(&bench.path).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("made by another program"), "{}", stderr(&output));
    }
    assert_eq!(common::entries(&bench.path.join("my plan/done")), [""; 0]);
}

#[test]
fn a_task_that_gives_up_fails_and_may_be_run_again() {
    let bench = planned();
    let output = bench.xoff(&task("5", &["--time-limit", "1ns"]));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("of 2 runs were given up; the first: out of time"), "{}", stderr(&output));
    bench.ok(&task("5", &[]));
    let output = bench.xoff(&task("6", &[]));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no task 6"), "{}", stderr(&output));
}

/// All tasks done.
fn finished() -> Bench {
    let bench = planned();
    for number in ["0", "1", "2", "3", "4", "5"] {
        bench.ok(&task(number, &[]));
    }
    bench
}

fn refused(bench: &Bench, what: &str, part: &str) {
    let output = bench.xoff(&["sweep", "--collect", "my plan", "--out", "cluster"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{what}: {text}");
    assert!(text.contains(part), "{what}: {text}");
    assert!(!bench.path.join("cluster").exists(), "{what}");
}

#[test]
fn a_plan_that_was_edited_labels_nothing() {
    let bench = finished();
    let edits = [
        ("sweep.toml", "[0.3, 0.5, 0.7]", "[0.3, 0.5, 0.7, 0.8]"),
        ("sweep.toml", "[0.3, 0.5, 0.7]", "[0.7, 0.5, 0.3]"),
        ("sweep.toml", "[0.3, 0.5, 0.7]", "[0.3, 0.5]"),
        ("sweep.toml", "[0.3, 0.5, 0.7]", "[0.3, 0.5, 0.6]"),
        ("sweep.toml", "seeds = 4", "seeds = 3"),
        ("sweep.toml", "name = \"load\"", "name = \"degree\""),
        ("scenario.toml", "flows = 60", "flows = 61"),
    ];
    for (file, from, to) in edits {
        let path = format!("my plan/{file}");
        let text = String::from_utf8(bench.read(&path)).unwrap();
        bench.write(&path, common::changed(&text, from, to));
        refused(&bench, &format!("{from} to {to}"), "has changed since it was planned");
        bench.write(&path, text);
    }
    bench.ok(&["sweep", "--collect", "my plan", "--out", "cluster", "--quiet"]);
}

#[test]
fn a_forged_plan_is_no_plan() {
    let bench = finished();
    let path = bench.path.join("my plan/plan.json");
    let whole = seal::load(&path).unwrap();
    type Forge = fn(&mut Value);
    let wrong: [(&str, Forge); 15] = [
        ("no tasks", |plan| plan["tasks"] = 0.into()),
        ("more tasks than runs", |plan| plan["tasks"] = 13.into()),
        ("no runs", |plan| plan["runs"] = json!([])),
        ("no list of runs", |plan| plan["runs"] = Value::Null),
        ("a short fingerprint", |plan| plan["runs"][3][0] = "a".into()),
        ("an empty fingerprint", |plan| plan["runs"][3][0] = "".into()),
        ("a path", |plan| plan["runs"][3][0] = "../../../../../../../../etc/pass".into()),
        ("a run without name", |plan| plan["runs"][3] = json!([plan["runs"][3][0]])),
        ("no build", |plan| plan["build"] = Value::Null),
        ("no sweep", |plan| plan["sweep"] = Value::Null),
        ("a key too many", |plan| plan["inputs"] = json!([])),
        ("no seeds", |plan| plan["sweep"]["seeds"] = 0.into()),
        ("a seed out of range", |plan| plan["sweep"]["first_seed"] = u64::MAX.into()),
        ("no keys", |plan| plan["sweep"]["axes"][0]["keys"] = json!([])),
        ("no value", |plan| plan["sweep"]["axes"][0]["values"][1] = json!([])),
    ];
    let forge = |forge: Forge| {
        let mut plan = whole.clone();
        forge(&mut plan);
        std::fs::write(&path, seal::sealed(&plan.to_string())).unwrap();
    };
    for (what, change) in wrong {
        forge(change);
        refused(&bench, what, "plan.json");
    }
    for (what, change) in &wrong[..11] {
        forge(*change);
        let output = bench.xoff(&task("0", &[]));
        assert_eq!(output.status.code(), Some(2), "{what}: {}", stderr(&output));
    }
    let false_rows: [(&str, Forge); 8] = [
        ("two runs swapped", |plan| plan["runs"].as_array_mut().unwrap().swap(0, 11)),
        ("two fingerprints swapped", |plan| {
            let (a, b) = (plan["runs"][0][0].clone(), plan["runs"][11][0].clone());
            (plan["runs"][0][0], plan["runs"][11][0]) = (b, a);
        }),
        ("one run less", |plan| drop(plan["runs"].as_array_mut().unwrap().pop())),
        ("one run twice", |plan| {
            let first = plan["runs"][0].clone();
            plan["runs"].as_array_mut().unwrap().push(first);
        }),
        ("values reversed", |plan| plan["sweep"]["axes"][0]["values"].as_array_mut().unwrap().reverse()),
        ("another value of the same name", |plan| plan["sweep"]["axes"][0]["values"][0][0][0] = "0.4".into()),
        ("another column", |plan| plan["sweep"]["axes"][0]["name"] = "degree".into()),
        ("another scenario", |plan| {
            plan["scenario"] = common::changed(plan["scenario"].as_str().unwrap(), "flows = 60", "flows = 61").into();
        }),
    ];
    for (what, change) in false_rows {
        forge(change);
        refused(&bench, what, "has changed since it was planned");
    }
    forge(|_| {});
    bench.ok(&["sweep", "--collect", "my plan", "--out", "cluster", "--quiet"]);
}

/// A plan has all that its scenario names, and knows when a copy of it is not what it was.
#[test]
fn files_of_a_planned_scenario_are_kept_beside_it() {
    let scenario = common::changed(SMALL, "sizes = \"hadoop\"", "sizes = \"deep/own.csv\"");
    let bench = Bench::with("small.toml", scenario);
    std::fs::create_dir(bench.path.join("deep")).unwrap();
    bench.write("deep/own.csv", "size_bytes,cumulative_probability\n1000,0\n20000,0.5\n50000,1\n");
    bench.ok(&[&SWEEP[..], &["--out", "local", "--quiet"]].concat());
    bench.ok(&[&SWEEP[..], &["--plan", "plan", "--tasks", "1", "--quiet"]].concat());
    std::fs::remove_dir_all(bench.path.join("deep")).unwrap();
    bench.ok(&["sweep", "plan", "--task", "0", "--quiet"]);
    bench.ok(&["sweep", "--collect", "plan", "--out", "cluster", "--quiet"]);
    assert!(bench.read("cluster/runs.parquet") == bench.read("local/runs.parquet"));
    bench.write("plan/files/000000", "size_bytes,cumulative_probability\n1000,0\n20000,0.5\n60000,1\n");
    let output = bench.xoff(&["sweep", "--collect", "plan", "--out", "again"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("files/000000 is not as it was planned"), "{}", stderr(&output));
}

#[test]
fn a_plan_may_be_moved() {
    let bench = planned();
    std::fs::create_dir(bench.path.join("moved")).unwrap();
    std::fs::rename(bench.path.join("my plan"), bench.path.join("moved/it's here")).unwrap();
    let array = |script: &str, task: &str| {
        let path = format!("{}:{}", bench.path.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.arg(script).current_dir(&bench.path).env("PATH", path).env("SLURM_ARRAY_TASK_ID", task);
        command.env("SLURM_JOB_ID", "17").env_remove("XOFF_PLAN").env_remove("XOFF");
        command
    };
    let ran = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    };
    ran(&mut array("moved/it's here/array.sh", "4"));
    // Slurm runs a copy, and says where the script is that was submitted, with what follows its name.
    let script = bench.path.join("moved/it's here/array.sh");
    std::fs::create_dir(bench.path.join("bin")).unwrap();
    let says = format!("#!/bin/sh\n[ \"$3\" = 17 ] && echo \"   Command={} 2\"\n", script.display());
    bench.write("bin/scontrol", says);
    let mut command = Command::new("chmod");
    assert!(command.arg("+x").arg(bench.path.join("bin/scontrol")).status().unwrap().success());
    std::fs::copy(&script, bench.path.join("slurm_script")).unwrap();
    ran(array("slurm_script", "3").arg("2"));
    let output = bench.xoff(&["sweep", "--collect", "moved/it's here"]);
    let text = stderr(&output);
    assert!(text.contains("8 of 12 runs are not there yet") && text.contains("--array=0-3 "), "{text}");
    for task in ["0", "1", "2", "3"] {
        ran(&mut array("moved/it's here/array.sh", task));
    }
    bench.ok(&["sweep", "--collect", "moved/it's here", "--out", "cluster", "--quiet"]);
}

#[test]
fn the_script_asks_for_what_tasks_need() {
    let bench = Bench::with("small.toml", SMALL);
    let told = bench.ok(&[&SWEEP[..], &["--plan", "plan", "--tasks", "20", "--throttle", "3"]].concat());
    assert!(told.contains("12 runs in 12 tasks") && told.contains("\n  sbatch "), "{told}");
    let script = String::from_utf8(bench.read("plan/array.sh")).unwrap();
    for line in ["--array=0-11%3\n", "--time=00:1", "--mem-per-cpu=1000M\n", "--output=xoff-sweep-%A.log\n"] {
        assert!(script.contains(&format!("#SBATCH {line}")), "{line}: {script}");
    }
    let text = stderr(&bench.xoff(&["sweep", "--collect", "plan"]));
    assert!(text.contains("sbatch --array=0-11%3 "), "{text}");
}
