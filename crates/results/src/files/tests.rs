//! Directories and files from inside: what the program's own tests cannot reach.

use super::manifest::{self, Manifest};
use super::ours::{self, Found};
use super::whole::{self, Present};
use super::workplace::Workplace;
use super::*;
use crate::directory::scratch::Scratch;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

fn entries(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn result(out: &Path, text: &str) -> PathBuf {
    let staging = Staging::create(out).unwrap();
    staging.write("run.json", text.as_bytes()).unwrap();
    staging.finish().unwrap()
}

fn refused<T: std::fmt::Debug>(result: io::Result<T>, part: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(part), "`{part}` is missing from `{error}`");
}

#[test]
fn appears_only_when_finished_and_replaces_a_finished_one() {
    let scratch = Scratch::new("finish");
    let out = scratch.0.join("deep/out");
    for round in ["one", "two"] {
        let staging = Staging::create(&out).unwrap();
        staging.write("run.json", round.as_bytes()).unwrap();
        if round == "one" {
            assert!(!out.exists());
        } else {
            assert_eq!(fs::read_to_string(out.join("run.json")).unwrap(), "one");
        }
        assert_eq!(staging.finish().unwrap(), out);
        assert_eq!(fs::read_to_string(out.join("run.json")).unwrap(), round);
        assert_eq!(entries(&out), [".xoff", "run.json"]);
    }
    assert_eq!(entries(out.parent().unwrap()), ["out"]);
}

#[test]
fn whatever_else_is_in_a_result_keeps_it_from_being_replaced() {
    let scratch = Scratch::new("strangers");
    let out = scratch.0.join("out");
    type Change = fn(&Path);
    let changes: [(&str, Change); 8] = [
        ("notes.txt", |out| fs::write(out.join("notes.txt"), "mine").unwrap()),
        ("empty/", |out| fs::create_dir(out.join("empty")).unwrap()),
        ("link", |out| symlink("/", out.join("link")).unwrap()),
        ("inner/notes.txt", |out| fs::write(out.join("inner/notes.txt"), "mine").unwrap()),
        ("folder/notes.txt", |out| fs::write(out.join("folder/notes.txt"), "mine").unwrap()),
        ("run.json (changed since)", |out| fs::write(out.join("run.json"), "mine").unwrap()),
        ("inner/run.json (changed since)", |out| fs::write(out.join("inner/run.json"), "two").unwrap()),
        ("run.json", |out| {
            fs::rename(out.join("run.json"), out.with_file_name("elsewhere")).unwrap();
            symlink("../elsewhere", out.join("run.json")).unwrap();
        }),
    ];
    for (name, change) in changes {
        let staging = Staging::create(&out).unwrap();
        staging.write("run.json", b"one").unwrap();
        staging.folder("folder").unwrap();
        staging.write("folder/table", b"rows").unwrap();
        result(&staging.path().join("inner"), "inner");
        staging.finish().unwrap();
        assert!(matches!(ours::look(&out).unwrap(), Found::Ours(_)));
        change(&out);
        let before = entries(&out);
        refused(Staging::create(&out), name);
        assert_eq!(entries(&out), before);
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn what_comes_into_the_old_result_at_the_last_moment_is_kept_with_the_new_one() {
    let scratch = Scratch::new("late");
    let out = result(&scratch.0.join("out"), "old");
    let staging = Staging::create(&out).unwrap();
    staging.write("run.json", b"new").unwrap();
    fs::write(out.join("notes.txt"), "mine").unwrap();
    let error = staging.finish().unwrap_err().to_string();
    assert!(error.contains("notes.txt") && error.contains("the old result stands"), "{error}");
    let kept = PathBuf::from(error.rsplit_once("complete in ").unwrap().1);
    assert_eq!(fs::read_to_string(kept.join("run.json")).unwrap(), "new");
    assert_eq!(fs::read_to_string(out.join("run.json")).unwrap(), "old");
    assert_eq!(entries(&scratch.0).len(), 2);
}

#[test]
fn leaves_foreign_directories_alone() {
    let scratch = Scratch::new("foreign");
    let out = scratch.0.join("out");
    fs::create_dir(&out).unwrap();
    drop(Staging::create(&out).expect("an empty directory may be filled"));
    fs::write(out.join("thesis.tex"), "years of work").unwrap();
    refused(Staging::create(&out), "thesis.tex");
    fs::write(out.join("run.json"), "{}").unwrap();
    refused(Staging::create(&out), "older Xoff");
    let other = scratch.0.join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join(manifest::NAME), "settings of another program").unwrap();
    refused(Staging::create(&other), ".xoff");
    fs::remove_dir_all(&other).unwrap();
    // A manifest that is none, and one that says nothing.
    for text in ["{}", "", "{\"files\": 1"] {
        fs::write(out.join(manifest::NAME), text).unwrap();
        refused(Staging::create(&out), "thesis.tex");
    }
    listing::write(&Manifest::new(false), &out).unwrap();
    refused(Staging::create(&out), "thesis.tex");
    listing::write(&Manifest::new(true), &out).unwrap();
    refused(Staging::create(&out), "thesis.tex");
    assert_eq!(entries(&scratch.0), ["out"]);
    refused(Staging::create(&out.join("thesis.tex")), "not a directory");
    refused(Staging::create(Path::new("/")), "/");
    refused(Staging::create(Path::new(".")), "current directory");
    refused(Workplace::open(&out, "runs"), "thesis.tex");
}

#[test]
fn links_are_followed_and_stay() {
    let scratch = Scratch::new("links");
    let (real, link) = (scratch.0.join("real"), scratch.0.join("link"));
    symlink("real", &link).unwrap();
    refused(Staging::create(&link), "symbolic link to real, which is not there");
    result(&real, "one");
    result(&link, "two");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(real.join("run.json")).unwrap(), "two");
    let (file, to) = (scratch.0.join("file"), scratch.0.join("to"));
    symlink("to", &file).unwrap();
    refused(whole::write(&file, b"1", Present::Replace), "not there");
    fs::write(&to, "0").unwrap();
    whole::write(&file, b"1", Present::Replace).unwrap();
    assert_eq!((fs::read_link(&file).unwrap().as_path(), fs::read(&to).unwrap()), (Path::new("to"), b"1".to_vec()));
    refused(whole::write(Path::new("/dev/null"), b"1", Present::Replace), "no regular file");
}

#[test]
fn an_abandoned_run_leaves_nothing() {
    let scratch = Scratch::new("abandon");
    let staging = Staging::create(&scratch.0.join("out")).unwrap();
    staging.write("flows.parquet", b"half").unwrap();
    drop(staging);
    assert!(entries(&scratch.0).is_empty());
}

#[test]
fn stale_partials_go_and_living_ones_stay() {
    let scratch = Scratch::new("stale");
    let out = scratch.0.join("out");
    let living = Staging::create(&out).unwrap();
    let aged = |path: &Path| {
        File::open(path).unwrap().set_modified(SystemTime::now() - Duration::from_secs(5)).unwrap();
    };
    // What kill -9 leaves: a directory in the making, one without a word yet, and an old result replaced.
    let dead = [1, 2, 3].map(|pid| scratch.0.join(format!(".out.xoff-partial-{pid}-0")));
    let made = result(&scratch.0.join("old"), "old");
    fs::create_dir(&dead[0]).unwrap();
    listing::write(&Manifest::new(true), &dead[0]).unwrap();
    fs::write(dead[0].join("flows.parquet"), "half").unwrap();
    fs::create_dir(&dead[1]).unwrap();
    fs::rename(&made, &dead[2]).unwrap();
    // What others called so: it has no manifest and something in it.
    let foreign = scratch.0.join(".out.xoff-partial-4-0");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.tex"), "years of work").unwrap();
    dead.iter().chain([&foreign]).for_each(|path| aged(path));
    aged(living.path());
    let other = Staging::create(&out).unwrap();
    for path in dead {
        assert!(!path.exists(), "{}", path.display());
    }
    assert!(living.path().exists() && other.path().exists() && foreign.join("thesis.tex").exists());
}

#[test]
fn what_the_killed_left_goes_whatever_is_written_next_to_it() {
    let scratch = Scratch::new("killed");
    let old = SystemTime::now() - Duration::from_secs(60);
    let folder = |name: &str| {
        let path = scratch.0.join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("flows.parquet"), "half").unwrap();
        path
    };
    let killed = folder(".a.xoff-partial-1-0");
    listing::write(&Manifest::new(true), &killed).unwrap();
    // Of another machine, whose locks nobody knows here; of nobody; and of one who still writes.
    let away = folder(".b.xoff-partial-1-0");
    let note = "Xoff is writing this directory. Kernel: another".to_owned();
    listing::write(&Manifest { note, ..Manifest::new(true) }, &away).unwrap();
    let foreign = folder(".c.xoff-partial-1-0");
    let living = Staging::create(&scratch.0.join("d")).unwrap();
    for path in [&killed, &away, &foreign, &living.path().to_owned()] {
        File::open(path).unwrap().set_modified(old).unwrap();
    }
    result(&scratch.0.join("out"), "new");
    assert!(!killed.exists());
    assert!(away.exists() && foreign.exists() && living.path().exists());
}

#[test]
fn an_old_result_caught_between_two_renames_comes_back() {
    let scratch = Scratch::new("between");
    let out = result(&scratch.0.join("out"), "old");
    fs::rename(&out, scratch.0.join(".out.xoff-replaced-1-0")).unwrap();
    drop(Staging::create(&out).unwrap());
    assert_eq!(entries(&scratch.0), ["out"]);
}

#[test]
fn files_are_all_written_or_none() {
    let scratch = Scratch::new("together");
    let (one, two) = (scratch.0.join("one"), scratch.0.join("plain/two"));
    fs::write(scratch.0.join("plain"), "a file").unwrap();
    refused(whole::write_all(&[(one.clone(), "1"), (two, "2")], Present::Refuse), "plain");
    assert_eq!(entries(&scratch.0), ["plain"], "something was left behind");
    whole::write_all(&[(one.clone(), "1")], Present::Refuse).unwrap();
    refused(whole::write_all(&[(one.clone(), "2")], Present::Refuse), "--force");
    assert_eq!(fs::read_to_string(&one).unwrap(), "1");
    let folder = scratch.0.join("folder");
    fs::create_dir(&folder).unwrap();
    refused(whole::write_all(&[(one.clone(), "2"), (folder, "2")], Present::Replace), "is a directory");
    assert_eq!(fs::read_to_string(&one).unwrap(), "1");
    whole::write_all(&[(one.clone(), "2")], Present::Replace).unwrap();
    assert_eq!(fs::read_to_string(&one).unwrap(), "2");
    assert_eq!(entries(&scratch.0), ["folder", "one", "plain"]);
}

#[test]
fn a_workplace_has_one_worker_and_keeps_its_store() {
    let scratch = Scratch::new("workplace");
    let out = scratch.0.join("out");
    let worker = Workplace::open(&out, "runs").unwrap();
    refused(Workplace::open(&out, "runs"), "another xoff is at work");
    whole::write(&out.join("runs/a/1.json"), b"1", Present::Replace).unwrap();
    for round in ["one", "two"] {
        let mut staging = Staging::create(&out).unwrap();
        staging.write(&format!("a-{round}.svg"), round.as_bytes()).unwrap();
        staging.keep_store("runs").unwrap();
        staging.finish().unwrap();
        assert_eq!(entries(&out), [".xoff".to_owned(), format!("a-{round}.svg"), "runs".to_owned()]);
        assert_eq!(fs::read_to_string(out.join("runs/a/1.json")).unwrap(), "1");
    }
    drop(worker);
    let worker = Workplace::open(&out, "runs").unwrap();
    fs::write(out.join("runs/a/notes.txt"), "mine").unwrap();
    refused(Staging::create(worker.path()), "runs/a/notes.txt");
}

#[test]
fn a_hidden_name_that_is_taken_hinders_nobody() {
    let scratch = Scratch::new("taken");
    let path = scratch.0.join("run.json");
    // As of a process with the same number elsewhere, at work; tests beside this one move the counter too.
    let theirs = |number| {
        let hidden = format!(".run.json.xoff-partial-{}-{number}", std::process::id());
        let file = File::create(scratch.0.join(hidden)).unwrap();
        file.lock().unwrap();
        file
    };
    let at_work: Vec<File> = (0..500).map(theirs).collect();
    whole::write(&path, b"ours", Present::Replace).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
    assert_eq!(entries(&scratch.0).len(), at_work.len() + 1);
}
