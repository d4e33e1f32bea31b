//! Plans of sweeps, with their tasks run by hand; `scripts/slurm` lets a real queue do it.

use crate::common::{self, Bench, SMALL, stderr};

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
    // By another process: a child that another test starts meanwhile would hold the file open, and nobody can start it.
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
