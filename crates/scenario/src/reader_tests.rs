use super::*;
use crate::tree;
use xoff_engine::{BitRate, Span};

fn open(text: &str) -> (Table, Recorder) {
    let source = Source::new("a.toml", text);
    let recorder = Recorder::default();
    (Table::root(&source, tree::parse(&source).unwrap(), Path::new("."), recorder.clone()), recorder)
}

#[test]
fn reads_and_records() {
    let text = "name = \"x\"\nstop = \"2ms\"\nrate = \"37.5Gbps\"\nsize = \"512KB\"\nn = 3\nx = 0.5\nf = true\nwho = [\"a\", \"b\"]\n";
    let (mut table, recorder) = open(text);
    assert_eq!(table.text("name").unwrap().value, "x");
    assert_eq!(table.span("stop").unwrap(), Span::from_ms(2));
    assert_eq!(table.rate("rate").unwrap(), BitRate::from_mbps(37_500));
    assert_eq!(table.bytes("size", 0..=u64::MAX).unwrap(), 512_000);
    assert_eq!(table.count("n", 1..=5).unwrap(), 3);
    assert_eq!(table.number("x", 0.0..=1.0).unwrap(), 0.5);
    assert!(table.flag_or("f", false).unwrap());
    assert_eq!(table.texts("who").unwrap().len(), 2);
    assert_eq!(table.span_or("every", Span::from_us(10)).unwrap(), Span::from_us(10));
    assert_eq!(table.choice_or("mode", &[("a", 1), ("b", 2)], "b").unwrap(), 2);
    table.finish().unwrap();
    assert_eq!(recorder.render(), format!("{text}every = \"10us\"\nmode = \"b\"\n"));
}

#[test]
fn what_is_left_out_is_inherited_or_as_the_dictionary_states() {
    let (mut root, recorder) = open("[host]\nmtu = \"500B\"\n[[host_profile]]\nack_every = 2\n");
    let mut host = root.table("host").unwrap();
    let mtu = |table: &mut Table| table.bytes("mtu", 64..=9216).unwrap();
    assert_eq!((mtu(&mut host), host.interval("nak_interval").unwrap()), (500, Span::from_us(500)));
    assert_eq!((host.count("ack_every", 1..=9).unwrap(), host.word("scheduler").unwrap()), (1, "ready"));
    let mut profile = root.tables("host_profile").unwrap().remove(0);
    assert_eq!(mtu(&mut profile), 1000);
    profile.inherit(&recorder.table("host"));
    assert_eq!((mtu(&mut profile), profile.count("ack_every", 1..=9).unwrap()), (500, 2));
    let mut run = root.table("run").unwrap();
    assert_eq!(run.interval_or_off("deadlock_check").unwrap(), Some(Span::from_ms(1)));
    assert!(run.text_is("on_deadlock", "stop") && run.is("on_deadlock", "stop").unwrap());
    assert!(run.span("stop").unwrap_err().render(false).contains("`run` lacks `stop`"));
}

#[test]
fn refuses_what_does_not_fit() {
    fn fails<T: std::fmt::Debug>(text: &str, read: impl Fn(&mut Table) -> Result<T>, parts: &[&str]) {
        let (mut table, _) = open(text);
        let shown = read(&mut table).unwrap_err().render(false);
        for part in parts {
            assert!(shown.contains(part), "{text}: `{part}` is missing from\n{shown}");
        }
    }
    fails("a = 70", |t| t.span("a"), &["`a` has no unit", "a.toml:1:5", "10us"]);
    fails("a = \"70\"", |t| t.span("a"), &["`a` has no unit; write one of ps, ns, us, ms, s"]);
    fails("a = \"70 parsecs\"", |t| t.span("a"), &["unknown unit `parsecs`"]);
    fails("a = \"-1us\"", |t| t.span("a"), &["non-negative"]);
    fails("a = \"999999999s\"", |t| t.span("a"), &["too large"]);
    fails("a = \"2000000s\"", |t| t.span("a"), &["longer than anything"]);
    fails("a = \"0bps\"", |t| t.rate("a"), &["not a possible rate"]);
    fails("a = \"20Tbps\"", |t| t.rate("a"), &["at most 10Tbps"]);
    fails("a = nan", |t| t.number("a", 0.0..=1.0), &["out of range", "a number from 0 to 1"]);
    fails("a = inf", |t| t.number("a", 0.0..=f64::MAX), &["out of range", "at least 0"]);
    fails("a = -1", |t| t.number("a", 0.0..=1.0), &["out of range"]);
    fails("a = -1", |t| t.count("a", 0..=9), &["out of range"]);
    fails("a = 1.5", |t| t.count("a", 0..=9), &["cannot be a number", "whole number from 0 to 9"]);
    fails("a = 99999999999999999999", |t| t.count("a", 0..=u64::MAX), &["out of range"]);
    fails(
        "a = \"stat\"",
        |t| t.choice("a", &[("static", 1), ("dynamic", 2)]),
        &["cannot be \"stat\"", "did you mean `static`?"],
    );
    fails("b = 1", |t| t.span("a"), &["the scenario lacks `a`"]);
    fails("a = []", |t| t.texts("a"), &["`a` is empty"]);
    fails("a = [1]", |t| t.texts("a"), &["cannot be a whole number"]);
    fails("a = 1", |t| t.tables("a").map(|_| ()), &["tables: [[a]]"]);
    fails("a = 2001-01-01", |t| t.text("a"), &["cannot be a date"]);
    fails("a = \"0us\"", |t| t.interval("a"), &["cannot be zero"]);
}

#[test]
fn an_unread_key_is_an_error() {
    let (mut table, _) = open("stop = \"1ms\"\nstopp = \"2ms\"\n");
    table.span("stop").unwrap();
    let shown = table.finish().unwrap_err().render(false);
    assert!(shown.contains("unknown key `stopp`") && shown.contains("did you mean `stop`?"), "{shown}");
    assert!(shown.contains("a.toml:2:1"), "{shown}");
}

#[test]
fn tables_within_are_recorded_where_they_stand() {
    let (mut table, recorder) = open("[[traffic]]\nload = 0.5\n[switch.pfc]\nxoff = \"1KB\"\n");
    let mut rows = table.tables("traffic").unwrap();
    rows[0].number("load", 0.0..=1.0).unwrap();
    let mut switch = table.table("switch").unwrap();
    let mut pfc = switch.table("pfc").unwrap();
    pfc.bytes("xoff", 0..=u64::MAX).unwrap();
    pfc.finish().unwrap();
    switch.finish().unwrap();
    table.finish().unwrap();
    assert!(recorder.render().contains("[switch.pfc]\nxoff = \"1KB\""), "{}", recorder.render());
}

#[test]
fn files_are_guarded() {
    let folder = std::env::temp_dir().join(format!("xoff-reader-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("good.csv"), "1,2\n").unwrap();
    std::fs::write(folder.join("bad.csv"), [0xff, 0xfe]).unwrap();
    let source = Source::new("a.toml", "a = \"good.csv\"\nb = \"bad.csv\"\nc = \"none.csv\"\nd = \".\"\n");
    let recorder = Recorder::default();
    let mut table = Table::root(&source, tree::parse(&source).unwrap(), &folder, recorder.clone());
    let mut read = |key: &str, limit| {
        let name = table.text(key).unwrap();
        table.file(key, &name, limit).map_err(|error| error.label)
    };
    assert_eq!(read("a", 3).unwrap_err(), "the file has 4B, more than the 3B allowed");
    assert_eq!(read("a", 100).unwrap().text, "1,2\n");
    assert!(read("b", 100).unwrap_err().contains("not UTF-8"));
    assert_eq!(read("c", 100).unwrap_err(), "no such file");
    assert_eq!(read("d", u64::MAX).unwrap_err(), "this is a directory");
    assert!(recorder.render().starts_with("a = \"input-good.csv\""));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_former_name_and_a_former_word_are_taken_with_a_warning() {
    let (mut root, recorder) =
        open("[model]\nties = \"scheduled\"\ntime_resolution = \"1ns\"\n[switch.pfc]\nspill = \"each\"\n");
    let mut model = root.table("model").unwrap();
    assert_eq!(model.word("event_order").unwrap(), "insertion");
    assert_eq!(model.word("time_resolution").unwrap(), "1ns");
    model.finish().unwrap();
    assert_eq!(root.table("switch").unwrap().table("pfc").unwrap().word("headroom_rule").unwrap(), "each");
    let warnings: Vec<String> = recorder.warnings().iter().map(|warning| warning.message.clone()).collect();
    let expected = [
        "`ties` is now called `event_order`",
        "\"scheduled\" of `event_order` is now \"insertion\"",
        "`spill` is now called `headroom_rule`",
    ];
    assert_eq!(warnings, expected);
    assert!(recorder.render().contains("event_order = \"insertion\""), "{}", recorder.render());
}
