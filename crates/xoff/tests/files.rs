//! What the program does to the file system, seen from outside: nothing of others is lost, nothing is half.

#![cfg(unix)]

use crate::common::paper::toy;
use crate::common::whole::assert_whole;
use crate::common::{self, Bench, SMALL, changed, entries, spawn_with_signals, stderr};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs a line of the shell, with the program as `xoff`.
fn shell(bench: &Bench, line: &str) -> Output {
    let line = format!("xoff() {{ {} \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_xoff"));
    Command::new("bash").args(["-c", &line]).current_dir(&bench.path).output().unwrap()
}

fn refused(output: &Output, parts: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing from\n{text}");
    }
}

/// Everything below a directory, with the content of files.
fn tree(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for name in entries(path) {
        let inner = path.join(&name);
        if inner.is_dir() && !inner.is_symlink() {
            all.push((format!("{name}/"), Vec::new()));
            all.extend(tree(&inner).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            all.push((name, fs::read(&inner).unwrap_or_default()));
        }
    }
    all
}

#[test]
fn a_project_with_a_file_called_run_json_is_not_deleted() {
    let bench = Bench::with("small.toml", SMALL);
    for folder in ["proj/.git", "proj/src"] {
        fs::create_dir_all(bench.path.join(folder)).unwrap();
    }
    bench.write("proj/run.json", "{}");
    bench.write("proj/comparison.json", "{}");
    let before = tree(&bench.path);
    for command in ["run", "compare"] {
        refused(
            &shell(&bench, &format!("cd proj; xoff {command} ../small.toml --quiet --out .")),
            &["current directory"],
        );
        refused(&bench.xoff(&[command, "small.toml", "--out", "proj"]), &["proj", ".git", "src", "run.json", "--out"]);
    }
    assert!(tree(&bench.path) == before);
}

#[test]
fn notes_in_a_result_keep_it() {
    let bench = Bench::with("small.toml", SMALL);
    bench.ok(&["run", "small.toml", "--out", "run", "--quiet"]);
    bench.ok(&["compare", "small.toml", "--schemes", "none,dcqcn", "--out", "compared", "--quiet"]);
    bench.write("run/notes.txt", "mine");
    bench.write("compared/dcqcn/notes.txt", "mine");
    let before = tree(&bench.path);
    refused(&bench.xoff(&["run", "small.toml", "--out", "run"]), &["run", "notes.txt", "move these away"]);
    let compare = ["compare", "small.toml", "--schemes", "none", "--out", "compared"];
    refused(&bench.xoff(&compare), &["compared", "dcqcn/notes.txt"]);
    assert!(tree(&bench.path) == before);
    // Without them the results make room for new ones.
    fs::remove_file(bench.path.join("run/notes.txt")).unwrap();
    fs::remove_file(bench.path.join("compared/dcqcn/notes.txt")).unwrap();
    bench.ok(&["run", "small.toml", "--out", "run", "--quiet"]);
    bench.ok(&compare);
    assert!(!bench.path.join("compared/dcqcn").exists());
    assert_whole(&bench.path.join("compared"), "");
}

#[test]
fn a_result_of_an_older_version_is_refused_with_a_hint() {
    let bench = Bench::with("small.toml", SMALL);
    bench.ok(&["run", "small.toml", "--out", "out", "--quiet"]);
    fs::remove_file(bench.path.join("out/.xoff")).unwrap();
    let before = tree(&bench.path);
    refused(
        &bench.xoff(&["run", "small.toml", "--out", "out"]),
        &["older Xoff", "flows.parquet", "remove it yourself"],
    );
    assert!(tree(&bench.path) == before);
}

#[test]
fn a_trace_and_an_export_in_a_result_are_ours_and_other_files_are_not() {
    let bench = Bench::with("small.toml", changed(SMALL, "[output]", "[output]\npfc_frames = true"));
    bench.ok(&["run", "small.toml", "--out", "out", "--quiet"]);
    for _ in 0..2 {
        bench.ok(&["trace", "out", "--quiet"]);
        bench.ok(&["export", "hpcc", "out", "--quiet"]);
    }
    assert_whole(&bench.path.join("out"), "");
    bench.ok(&["run", "small.toml", "--out", "out", "--quiet"]);
    assert!(!bench.path.join("out/trace.pftrace").exists() && !bench.path.join("out/hpcc").exists());
    bench.write("precious", "mine");
    fs::create_dir(bench.path.join("mine")).unwrap();
    bench.write("mine/pfc.txt", "mine");
    refused(&bench.xoff(&["trace", "out", "-o", "precious"]), &["precious is there already", "--force"]);
    refused(&bench.xoff(&["export", "hpcc", "out", "-o", "mine"]), &["mine/pfc.txt is there already", "--force"]);
    refused(&bench.xoff(&["trace", "out", "-o", "/dev/null", "--force"]), &["/dev/null"]);
    refused(&bench.xoff(&["trace", "out", "-o", "out/flows.parquet"]), &["flows.parquet is there already"]);
    assert_eq!((bench.read("precious"), bench.read("mine/pfc.txt")), (b"mine".to_vec(), b"mine".to_vec()));
    assert_eq!(entries(&bench.path.join("mine")), ["pfc.txt"]);
    bench.ok(&["trace", "out", "-o", "precious", "--force", "--quiet"]);
    assert!(bench.read("precious").len() > 1000);
}

#[test]
fn links_to_results_are_followed_and_never_replaced() {
    let bench = Bench::with("small.toml", SMALL);
    symlink("nowhere", bench.path.join("dangling")).unwrap();
    symlink("real", bench.path.join("link")).unwrap();
    fs::create_dir(bench.path.join("real")).unwrap();
    refused(
        &bench.xoff(&["run", "small.toml", "--out", "dangling"]),
        &["symbolic link to nowhere, which is not there"],
    );
    for _ in 0..2 {
        bench.ok(&["run", "small.toml", "--out", "link", "--quiet"]);
        assert_eq!(fs::read_link(bench.path.join("link")).unwrap(), Path::new("real"));
        assert_whole(&bench.path.join("real"), "");
    }
    symlink("/", bench.path.join("real/root")).unwrap();
    refused(&bench.xoff(&["run", "small.toml", "--out", "link"]), &["root"]);
    assert_eq!(bench.entries(), ["dangling", "link", "real", "small.toml"]);
}

#[test]
fn writers_of_one_directory_at_the_same_time_all_succeed() {
    let bench = Bench::with("small.toml", changed(SMALL, "stop = \"5ms\"", "stop = \"100us\""));
    for round in 0..6 {
        let start = |number: usize| {
            let seed = (round * 16 + number).to_string();
            let mut command = bench.command(&["run", "small.toml", "--quiet", "--out", "out", "--seed", &seed]);
            command.stderr(Stdio::piped()).spawn().unwrap()
        };
        let writers: Vec<Child> = (0..16).map(start).collect();
        for writer in writers {
            let output = writer.wait_with_output().unwrap();
            assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        }
        assert_whole(&bench.path.join("out"), "");
        assert_eq!(bench.entries(), ["out", "small.toml"]);
    }
}

// Elsewhere there is no /dev/full.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_is_full_or_closed_costs_no_result() {
    let bench = Bench::with("small.toml", SMALL);
    // One that warns.
    let warns = changed(SMALL, "xoff = \"60KB\"", "xoff = \"60KB\"\nheadroom = \"1KB\"");
    bench.write("warns.toml", warns);
    bench.write("bad.toml", "[run\n");
    assert!(stderr(&bench.xoff(&["check", "warns.toml"])).contains("warning"));
    for (line, code) in [
        ("xoff run small.toml --out out 2>/dev/full", 0),
        ("xoff run small.toml --out out 2>&-", 0),
        ("xoff run small.toml --out out >&- 2>&-", 0),
        ("xoff run small.toml --out out | head -1; exit ${PIPESTATUS[0]}", 0),
        ("xoff run small.toml --out out >/dev/full", 3),
        ("xoff run small.toml --out out >/dev/full 2>/dev/full", 3),
        ("xoff run small.toml --out out --json >/dev/full", 3),
        ("xoff compare small.toml --schemes none --out out --json >/dev/full", 3),
        ("xoff compare small.toml --schemes none --out out 2>/dev/full", 0),
    ] {
        let output = shell(&bench, line);
        assert_eq!(output.status.code(), Some(code), "{line}: {}", stderr(&output));
        assert_whole(&bench.path.join("out"), line);
        fs::remove_dir_all(bench.path.join("out")).unwrap();
    }
    let output = shell(&bench, "xoff run warns.toml --out out 2>/dev/full");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
    assert_whole(&bench.path.join("out"), "warns");
    for (line, code) in [
        ("xoff run bad.toml 2>/dev/full", 2),
        ("xoff rum 2>/dev/full", 2),
        ("xoff --help >/dev/full", 3),
        ("xoff schemes >/dev/full", 3),
        ("xoff --help | head -1; exit ${PIPESTATUS[0]}", 0),
    ] {
        assert_eq!(shell(&bench, line).status.code(), Some(code), "{line}");
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_with_its_name() {
    let bench = Bench::with("small.toml", SMALL);
    let output = shell(&bench, "ulimit -f 4; xoff run small.toml --out out --quiet");
    refused(&output, &["cannot write", ".parquet", "File too large"]);
    assert_eq!(bench.entries(), ["small.toml"]);
}

/// Ends by itself before long, or is taken for stuck.
fn soon(mut child: Child, what: &str) -> Output {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(600) {
            let _ = child.kill();
            panic!("{what} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_pipe_without_a_writer_is_refused_and_one_with_a_writer_is_read() {
    let bench = Bench::with("small.toml", changed(SMALL, "sizes = \"hadoop\"", "sizes = \"pipe.csv\""));
    assert!(Command::new("mkfifo").arg(bench.path.join("pipe.csv")).status().unwrap().success());
    for args in [
        &["run", "pipe.csv"][..],
        &["check", "small.toml"],
        &["import", "cdf", "pipe.csv", "-o", "x.csv"],
        &["import", "htsim", "pipe.csv", "--topology", "small.toml"],
    ] {
        let mut command = bench.command(args);
        let output = soon(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap(), &args.join(" "));
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("a pipe that nobody writes to"), "{text}");
    }
    bench.write("plain.toml", SMALL);
    let output = shell(&bench, "xoff check <(sleep 0.3; cat plain.toml) && xoff check <(cat plain.toml)");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// A run long enough to be caught in the middle.
fn endless() -> String {
    changed(&changed(SMALL, "flows = 60\n", ""), "stop = \"5ms\"", "stop = \"1000s\"")
}

/// Starts a command, waits until `ready`, sends it a signal.
fn interrupted(bench: &Bench, args: &[&str], signal: &str, ready: impl Fn() -> bool) -> Output {
    let mut command = bench.command(args);
    let child = spawn_with_signals(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let began = Instant::now();
    while !ready() {
        assert!(began.elapsed() < Duration::from_secs(600), "{args:?}: {:?}", bench.entries());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(common::signal(signal, child.id()));
    soon(child, &args.join(" "))
}

#[test]
fn an_interrupted_run_says_what_it_leaves_and_takes_the_rest_away() {
    let bench = Bench::with("long.toml", endless());
    bench.write("small.toml", SMALL);
    let hidden = || bench.entries().iter().any(|name| name.contains("xoff-partial"));
    for (args, signal, code) in [
        (&["run", "long.toml", "--out", "out"][..], "-INT", 130),
        (&["run", "long.toml", "--out", "out"], "-TERM", 143),
        (&["compare", "long.toml", "--schemes", "none,dcqcn", "--out", "out"], "-INT", 130),
    ] {
        let output = interrupted(&bench, args, signal, hidden);
        let text = stderr(&output);
        assert_eq!((output.status.code(), output.status.signal()), (Some(code), None), "{text}");
        assert!(text.contains("out is not written"), "{text}");
        assert_eq!(bench.entries(), ["long.toml", "small.toml"]);
    }
    bench.ok(&["run", "small.toml", "--out", "out", "--quiet"]);
    let output = interrupted(&bench, &["run", "long.toml", "--out", "out"], "-INT", hidden);
    assert!(stderr(&output).contains("out is as it was before"), "{}", stderr(&output));
    assert_whole(&bench.path.join("out"), "");
    assert_eq!(bench.entries(), ["long.toml", "out", "small.toml"]);
}

// Elsewhere the system does not say what is ignored.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let bench = Bench::with("long.toml", changed(&endless(), "1000s", "20ms"));
    let line = "trap '' INT; xoff run long.toml --out out --quiet & sleep 0.3; kill -INT $!; wait $!";
    let output = shell(&bench, line);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_whole(&bench.path.join("out"), "");
}

#[test]
fn a_reproduction_that_is_interrupted_goes_on() {
    let bench = toy();
    let scenario = String::from_utf8(bench.read("experiments/toy/scenarios/tiny.toml")).unwrap();
    bench.write("experiments/toy/scenarios/tiny.toml", changed(&scenario, "400us", "10ms"));
    let args = ["reproduce", "toy", "--out", "out", "--jobs", "1"];
    let runs = bench.path.join("out/runs/toy-fig1");
    let some = || runs.exists() && entries(&runs).iter().any(|name| name.ends_with(".json") && !name.starts_with('.'));
    let output = interrupted(&bench, &args, "-INT", some);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("finished runs are kept in out/runs: the same command resumes from there"), "{text}");
    assert_eq!(entries(&bench.path.join("out")), [".xoff", "runs"]);
    let first = runs.join(&entries(&runs)[0]);
    let stamp = fs::metadata(&first).unwrap().modified().unwrap();
    bench.ok(&args);
    assert_eq!(fs::metadata(&first).unwrap().modified().unwrap(), stamp, "it was made again");
    assert_whole(&bench.path.join("out"), "");
}

#[test]
fn figures_of_earlier_commands_go() {
    let bench = toy();
    bench.ok(&["reproduce", "toy", "--out", "out", "--quiet"]);
    assert!(bench.path.join("out/figures/toy-fig1-a.svg").is_file());
    let experiment = String::from_utf8(bench.read("experiments/toy/fig1.toml")).unwrap();
    bench.write("experiments/toy/fig1.toml", changed(&experiment, "name = \"a\"", "name = \"b\""));
    bench.ok(&["reproduce", "toy", "--out", "out", "--quiet"]);
    let figures = ["captions.txt", "toy-fig1-b.csv", "toy-fig1-b.pdf", "toy-fig1-b.png", "toy-fig1-b.svg"];
    assert_eq!(entries(&bench.path.join("out/figures")), figures);
    assert_whole(&bench.path.join("out"), "");
    // Files added by hand are not removed.
    bench.write("out/figures/mine.svg", "mine");
    refused(&bench.xoff(&["reproduce", "toy", "--out", "out"]), &["figures/mine.svg"]);
    assert_eq!(bench.read("out/figures/mine.svg"), b"mine");
}

#[test]
fn a_changed_digit_in_the_store_is_noticed() {
    let bench = toy();
    let args = ["reproduce", "toy", "--out", "out", "--json"];
    let claims = |output: &Output| {
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        value["claims"].clone()
    };
    let first = claims(&bench.xoff(&args));
    let runs = bench.path.join("out/runs/toy-fig1");
    let path = runs.join(&entries(&runs)[0]);
    let whole = fs::read(&path).unwrap();
    let start = whole.windows(9).position(|window| window == b"\"numbers\"").unwrap();
    let digits: Vec<usize> = (start..whole.len()).filter(|&at| whole[at].is_ascii_digit()).collect();
    for at in digits.iter().step_by(digits.len() / 3) {
        let mut changed = whole.clone();
        changed[*at] = if changed[*at] == b'9' { b'1' } else { changed[*at] + 1 };
        fs::write(&path, &changed).unwrap();
        let output = bench.xoff(&args);
        let text = stderr(&output);
        assert!(text.contains("is not as it was written; the run is made again"), "{text}");
        assert_eq!((output.status.code(), &claims(&output)), (Some(0), &first));
        assert_ne!(fs::read(&path).unwrap(), changed);
    }
}

#[test]
fn two_reproductions_in_one_directory_do_not_meet() {
    let bench = toy();
    fs::create_dir_all(bench.path.join("out")).unwrap();
    bench.ok(&["reproduce", "toy", "--out", "out", "--quiet"]);
    let lock = File::open(bench.path.join("out/runs")).unwrap();
    lock.lock().unwrap();
    refused(&bench.xoff(&["reproduce", "toy", "--out", "out"]), &["out", "another xoff is at work in it"]);
    drop(lock);
    bench.ok(&["reproduce", "toy", "--out", "out", "--quiet"]);
}
