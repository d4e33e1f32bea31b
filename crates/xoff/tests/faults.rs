//! A fault at every change of the file system, and a kill at each: afterwards the old result or the new
//! one is whole, and what was said is true.
//!
//! Only a part of the changes is tried; `XOFF_TESTS=all` tries every one.

#![cfg(all(unix, debug_assertions))]

use crate::common::whole::{assert_whole, copy};
use crate::common::{Bench, entries, paper, stderr};
use std::path::{Path, PathBuf};
use std::process::Output;
use xoff_yardstick::every_case;

/// The smallest scenario with a result.
const TINY: &str = r#"name = "tiny"
[run]
stop = "100us"
[topology]
kind = "dumbbell"
left = 2
right = 2
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "flows"
flow = [{ src = "h0", dst = "h2", size = "10KB" }, { src = "h1", dst = "h3", size = "10KB" }]
[[capture]]
name = "middle"
ports = "s0->s1"
[output]
figures = false
"#;

/// What happens at the chosen change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Error,
    Full,
    Kill,
}

impl Fault {
    fn name(self) -> &'static str {
        match self {
            Fault::Error => "error",
            Fault::Full => "full",
            Fault::Kill => "kill",
        }
    }
}

/// A command that replaces the result `out`, and how to tell old from new.
struct Case {
    bench: Bench,
    args: Vec<&'static str>,
    /// Without the calls that exchange names.
    plain: bool,
    /// A file of the result, and what only the new one has in it.
    tell: (&'static str, &'static str),
    /// One of so many changes is tried.
    every: usize,
}

impl Case {
    fn xoff(&self, bench: &Bench, fault: &str, log: Option<&Path>) -> Output {
        let mut command = bench.command(&self.args);
        command.env("XOFF_FAULT", fault).env("RAYON_NUM_THREADS", "1");
        if self.plain {
            command.env("XOFF_FAULT_PLAIN", "1");
        }
        if let Some(log) = log {
            command.env("XOFF_FAULT_LOG", log);
        }
        command.output().unwrap()
    }

    /// A copy of the files.
    fn again(&self) -> Bench {
        let bench = Bench::new();
        std::fs::remove_dir(&bench.path).unwrap();
        copy(&self.bench.path, &bench.path);
        bench
    }

    fn is_new(&self, out: &Path) -> bool {
        let (file, words) = self.tell;
        std::fs::read_to_string(out.join(file)).is_ok_and(|text| text.contains(words))
    }

    /// All changes that the command makes when nothing goes wrong.
    fn changes(&self) -> Vec<String> {
        let bench = self.again();
        let log = bench.path.join("log");
        let output = self.xoff(&bench, "never@0", Some(&log));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(self.is_new(&bench.path.join("out")) && !self.is_new(&self.bench.path.join("out")));
        std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
    }

    fn walk(&self) {
        let changes = self.changes();
        assert!(changes.len() > 20, "{changes:?}");
        let every = if every_case() { 1 } else { self.every };
        for fault in [Fault::Error, Fault::Full, Fault::Kill] {
            let chosen = |number: usize| {
                // These are few and decide everything.
                let rename = [" Rename ", " Exchange "].iter().any(|word| changes[number - 1].contains(word));
                (number + fault as usize).is_multiple_of(every) || rename && fault != Fault::Full
            };
            for number in (1..=changes.len()).filter(|&number| chosen(number)) {
                self.strike(fault, number, &changes[number - 1]);
            }
        }
    }

    fn strike(&self, fault: Fault, number: usize, change: &str) {
        let bench = self.again();
        let output = self.xoff(&bench, &format!("{}@{number}", fault.name()), None);
        let text = stderr(&output);
        let context = format!("{fault:?} at {change}, exit {:?}\n{text}", output.status.code());
        let out = bench.path.join("out");
        // Two renames in place of one exchange: between them the old result has a hidden name.
        let hidden = |name: &String| name.starts_with(".out.xoff-replaced-");
        let moved = self.plain && fault == Fault::Kill && !out.exists();
        if moved {
            let name = entries(&bench.path).into_iter().find(hidden).unwrap_or_else(|| panic!("{context}"));
            assert_whole(&bench.path.join(name), &context);
        } else {
            assert_whole(&out, &context);
        }
        match (fault, output.status.code()) {
            (Fault::Kill, None) => self.go_on(&bench, &context),
            // It succeeds if what failed was only tidying up.
            (Fault::Error | Fault::Full, Some(0)) => assert!(self.is_new(&out), "{context}"),
            (Fault::Error | Fault::Full, Some(3)) => self.check_words(&bench, &text, &context),
            _ => panic!("{context}"),
        }
    }

    /// The message is true.
    fn check_words(&self, bench: &Bench, text: &str, context: &str) {
        let out = bench.path.join("out");
        assert!(text.contains(bench.path.to_str().unwrap()), "no path in the message: {context}");
        assert_eq!(self.is_new(&out), text.contains("out is complete, but"), "{context}");
        if let Some((_, rest)) = text.split_once("the new one is complete in ") {
            let kept = PathBuf::from(rest.split([' ', '\n']).next().unwrap());
            assert_whole(&kept, context);
            assert!(self.is_new(&kept), "{context}");
        }
        let partial = |name: &String| name.contains("xoff-partial");
        let left: Vec<String> = entries(&bench.path).into_iter().filter(partial).collect();
        assert!(left.iter().all(|name| text.contains(name.as_str())), "{left:?} is left unsaid: {context}");
    }

    /// What a kill leaves does not disturb the next run.
    fn go_on(&self, bench: &Bench, context: &str) {
        let output = self.xoff(bench, "never@0", None);
        assert_eq!(output.status.code(), Some(0), "after {context}: {}", stderr(&output));
        let out = bench.path.join("out");
        assert_whole(&out, context);
        assert!(self.is_new(&out), "{context}");
    }
}

fn with_old_result(bench: Bench, args: &[&'static str], news: &[&'static str], case: Case) -> Case {
    bench.ok(args);
    assert_whole(&bench.path.join("out"), "");
    Case { bench, args: [args, news].concat(), ..case }
}

fn case(tell: (&'static str, &'static str), every: usize) -> Case {
    Case { bench: Bench::new(), args: Vec::new(), plain: false, tell, every }
}

#[test]
fn run() {
    let args = ["run", "tiny.toml", "--quiet", "--out", "out"];
    let case = case(("run.json", "\"seed\": 7,"), 3);
    with_old_result(Bench::with("tiny.toml", TINY), &args, &["--seed", "7"], case).walk();
}

#[test]
fn run_where_names_cannot_be_exchanged() {
    let args = ["run", "tiny.toml", "--quiet", "--out", "out"];
    let case = Case { plain: true, ..case(("run.json", "\"seed\": 7,"), 5) };
    with_old_result(Bench::with("tiny.toml", TINY), &args, &["--seed", "7"], case).walk();
}

#[test]
fn compare() {
    let args = ["compare", "tiny.toml", "--schemes", "none,dcqcn", "--quiet", "--out", "out"];
    let case = case(("comparison.json", "\"seed\": 7,"), 24);
    with_old_result(Bench::with("tiny.toml", TINY), &args, &["--seed", "7"], case).walk();
}

/// The store grows in place, run by run; the report is replaced as a whole.
#[test]
fn reproduce() {
    let args = ["reproduce", "toy", "--quiet", "--jobs", "1", "--out", "out"];
    let case = case(("report.html", "--seeds 3"), 40);
    with_old_result(paper::toy(), &args, &["--seeds", "3"], case).walk();
}
