//! Files of HPCC's form, read as those of PowerTCP's authors' simulator.

use super::tests::{Case, case, hpcc_case};
use super::*;
use crate::{Loaded, Options};
use std::path::PathBuf;
use xoff_engine::TimeResolution;
use xoff_fabric::plan::*;

/// The dumbbell with 100G links under `CC_MODE 3` and a scheme of the command line.
fn inet(scheme: &str) -> Case {
    said(hpcc_case(), "ns3-datacenter", scheme)
}

fn said(mut case: Case, simulator: &str, scheme: &str) -> Case {
    let lines = format!("XOFF_SIMULATOR {simulator}\nXOFF_SCHEME {scheme}\n");
    case.config = case.config.replace("XOFF_SIMULATOR hpcc\nXOFF_SCHEME by-mode\n", &lines);
    case
}

/// With neither word.
fn silent(mut case: Case) -> Case {
    case.config = case.config.replace("XOFF_SIMULATOR hpcc\nXOFF_SCHEME by-mode\n", "");
    case
}

fn value(loaded: &Loaded, name: &str) -> String {
    loaded.schemes[0].values.get(name).to_string()
}

#[test]
fn the_plan_has_the_rules_of_that_simulator() {
    let (imported, loaded) = said(case(&[]), "ns3-datacenter", "by-mode").load();
    let plan = &loaded.plan;
    assert!(loaded.schemes[0].label == "dcqcn" && imported.text.contains("preset = \"hpcc-ns3\""));
    assert_eq!(plan.model.resolution, TimeResolution::Nanosecond);
    // Nine streams for each of six nodes, and two.
    assert_eq!(plan.model.random, Random::Shared { first: 56 });
    let pfc = &plan.switches[0].pfc;
    assert_eq!(plan.switches[0].buffer_bytes, 16 << 20);
    assert_eq!((pfc.headroom, pfc.set_aside), (Headroom::Bdps(3), SetAside::Nothing));
    let thresholds = Thresholds::Dynamic {
        alpha: Alpha::Fixed(0.125),
        reserve_bytes: 0,
        resume_offset_bytes: 2496,
        resume_below_bytes: 1248,
        rule: Rule::Latched,
    };
    assert_eq!(format!("{:?}", pfc.thresholds), format!("{thresholds:?}"));
    let cap = plan.hosts[0].nic.inflight_cap;
    assert_eq!(cap, Some(InflightCap { longest: true, at_line_rate: true, scales: true }));
    // Starts are rounded; the HPCC authors' simulator makes 2 000 000 122 of the first.
    assert!(imported.files[0].source.text.contains("h0,h2,5000,2000000123,10000,100"));
    assert!(imported.facts.iter().any(|fact| fact.name == "simulator" && fact.value == "ns3-datacenter"));
}

#[test]
fn headrooms_need_no_room_there() {
    // Three ports of 3 x 75000 B each in 1 MiB: refused where they are taken off the buffer.
    let small = |simulator| Case { ..said(case(&["BUFFER_SIZE 1"]), simulator, "by-mode") };
    let long = |mut case: Case| {
        case.topology = case.topology.replace("5us", "50us").replace("0.005ms", "50us").replace("5000ns", "50us");
        case
    };
    assert!(long(small("hpcc")).import().is_err());
    long(small("ns3-datacenter")).load();
}

#[test]
fn powertcp_comes_from_the_command_line() {
    let (imported, loaded) = inet("powertcp").load();
    assert!(loaded.schemes[0].label == "powertcp" && imported.text.contains("preset = \"inet-ns3\""));
    for (name, expected) in [
        ("arithmetic", "whole"),
        ("int_multiplier", "4"),
        ("int_bytes", "arrived"),
        ("eta", "0.95"),
        ("own_window", "true"),
        ("round_trip", "network"),
    ] {
        assert_eq!(value(&loaded, name), expected, "{name}");
    }
    // Its window is the scheme's own.
    assert_eq!(loaded.plan.hosts[0].nic.inflight_cap, None);
    assert!(loaded.plan.hosts[0].nic.follow_rate);
    let unused = imported.facts.iter().find(|fact| fact.name == "unused_keys").unwrap().value.to_string();
    assert!(unused.contains("RATE_AI") && unused.contains("MI_THRESH") && !unused.contains("U_TARGET"), "{unused}");

    let (_, loaded) = inet("theta-powertcp").load();
    assert_eq!(loaded.schemes[0].label, "theta-powertcp");
    assert_eq!(value(&loaded, "gamma"), "0.7");
}

#[test]
fn a_window_that_does_not_follow_the_rate_is_the_hosts() {
    let fixed = |lines: &[&str]| {
        let mut case = inet("powertcp");
        for line in lines {
            let key = line.split(' ').next().unwrap();
            case.config = case.config.replace(&format!("{key} 1\n"), &format!("{line}\n"));
        }
        let (_, loaded) = case.load();
        (value(&loaded, "own_window"), loaded.plan.hosts[0].nic.inflight_cap)
    };
    let cap = InflightCap { longest: true, at_line_rate: true, scales: false };
    assert_eq!(fixed(&["VAR_WIN 0"]), ("false".to_owned(), Some(cap)));
    assert_eq!(fixed(&["VAR_WIN 0", "HAS_WIN 0"]), ("false".to_owned(), None));
}

/// A folder of this name, which must exist for its name to be known.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("xoff-dialect-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_folders_name_says_it_where_the_configuration_does_not() {
    let scheme = |case: Case, name: &str| {
        let imported = silent(case).import_in(&folder(name), Vec::new())?;
        let told = imported.warnings.iter().any(|warning| warning.message.contains("PowerTCP's authors' simulator"));
        let scheme = imported.text.lines().find(|line| line.starts_with("preset") || line.starts_with("name = \"p"));
        Ok::<_, Vec<Diagnostic>>((scheme.unwrap_or_default().to_owned(), told))
    };
    assert!(scheme(hpcc_case(), "inet_a_powertcp_first").unwrap().1);
    assert_eq!(scheme(hpcc_case(), "inet_a_hpcc").unwrap(), ("preset = \"hpcc-ns3\"".to_owned(), true));
    assert_eq!(scheme(hpcc_case(), "dumbbell").unwrap(), ("preset = \"hpcc-ns3\"".to_owned(), false));
    let refused = |case: Case, name: &str, message: &str| {
        let errors = scheme(case, name).unwrap_err();
        assert!(errors[0].message.contains(message), "{name}: {}", errors[0]);
    };
    refused(hpcc_case(), "inet_a_dcqcn", "not the scheme that its folder is named after, dcqcn");
    refused(case(&[]), "inet_a_theta", "not the scheme that its folder is named after, theta");
    refused(hpcc_case(), "inet_a", "nothing says which scheme");
    // The configuration's word counts more than the folder's.
    let imported = hpcc_case().import_in(&folder("inet_a_powertcp"), Vec::new()).unwrap();
    assert!(imported.text.contains("name = \"hpcc\"") && imported.text.contains("1ns-binary"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let line = |case: &Case, key: &str| 1 + case.config.lines().position(|line| line.starts_with(key)).unwrap();
    let hpcc = said(hpcc_case(), "hpcc", "powertcp");
    hpcc.refused("mine.txt", line(&hpcc, "XOFF_SCHEME"), "has no PowerTCP");
    let dcqcn = said(case(&[]), "ns3-datacenter", "powertcp");
    dcqcn.refused("mine.txt", line(&dcqcn, "CC_MODE"), "runs over CC_MODE 3");
    let other = said(case(&[]), "htsim", "by-mode");
    other.refused("mine.txt", line(&other, "XOFF_SIMULATOR"), "`XOFF_SIMULATOR` cannot be `htsim`");
    let mut sampled = inet("theta-powertcp");
    sampled.config = sampled.config.replace("SAMPLE_FEEDBACK 0", "SAMPLE_FEEDBACK 1");
    sampled.refused("mine.txt", line(&sampled, "SAMPLE_FEEDBACK"), "cannot be imported with SAMPLE_FEEDBACK 1");
}

#[test]
fn racks_may_be_counted_too() {
    let mut four = inet("powertcp");
    four.topology = four.topology.replacen("6 2 5", "6 2 2 5", 1);
    assert_eq!(four.load().1.plan.links.len(), 5);
    let mut hpcc = hpcc_case();
    hpcc.topology = four.topology;
    assert!(hpcc.import().is_err());
}

#[test]
fn next_hops_in_another_order_are_refused() {
    let with = |text: &str| {
        let file = Attachment { name: "nexthops.txt".to_owned(), source: Source::new("nexthops.txt", text) };
        inet("powertcp").import_in(Path::new("/nonexistent"), vec![file])
    };
    assert!(with("4 0 0\n4 2 7 5\n").is_ok());
    for (text, message) in [("4 2 5 7\n", "another order"), ("4 2\n", "this is not"), ("4 2 x\n", "this is not")] {
        assert!(with(text).unwrap_err()[0].message.contains(message), "{text}");
    }
}

/// The dumbbell under DCQCN, with a command line beside it.
fn told(flags: &str) -> Result<Imported, Vec<Diagnostic>> {
    let file = Attachment { name: "flags.txt".to_owned(), source: Source::new("flags.txt", flags) };
    silent(case(&["HAS_WIN 0", "VAR_WIN 0"])).import_in(Path::new("/nonexistent"), vec![file])
}

#[test]
fn the_command_line_says_how_buffers_are_shared() {
    let plan = |flags: &str| {
        let imported = told(flags).unwrap_or_else(|errors| panic!("{}", errors[0]));
        assert!(imported.warnings.iter().any(|warning| warning.message.contains("PowerTCP's authors' simulator")));
        let loaded = imported.scenario().load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
        loaded.plan.switches[0].pfc.clone()
    };
    let dt = plan("--algorithm=1 --wien=0 --delayWien=0 --windowCheck=0 --bufalg=0 --alphaI=0.5 --gamma=0.99\n");
    assert_eq!((dt.thresholds.rule(), dt.set_aside), (Rule::Latched, SetAside::Beside));
    assert!(matches!(dt.thresholds, Thresholds::Dynamic { alpha: Alpha::Fixed(alpha), .. } if alpha == 0.5));
    let abm = plan("--algorithm=1 --bufalg=1");
    assert_eq!((abm.thresholds.rule(), abm.active.counting), (Rule::Abm, Counting::Evaluated));
    assert_eq!((abm.active.unscheduled, abm.active.unscheduled_alpha), (Unscheduled::LongestBdp, 1024.0));
    let reverie = plan("--bufalg=2 --gamma=0.999 --alphaI=1");
    assert_eq!((reverie.thresholds.rule(), reverie.active.gamma), (Rule::Reverie, 0.999));
}

#[test]
fn a_command_line_that_contradicts_the_configuration_is_refused() {
    for (flags, message) in [
        ("--algorithm=3", "`--algorithm` is another than `CC_MODE`"),
        ("--windowCheck=1", "`--windowCheck` is another than HAS_WIN and VAR_WIN"),
        ("--bufalg=3", "`--bufalg` cannot be `3`"),
        ("--gamma=1", "`--gamma` is out of range"),
        ("--alphaI=x", "`--alphaI` is out of range"),
        ("--wien=1", "PowerTCP runs over CC_MODE 3"),
        ("--buflag=1", "no flag that Xoff knows"),
        ("bufalg", "no flag that Xoff knows"),
    ] {
        let errors = told(flags).unwrap_err();
        assert!(errors[0].message.contains(message), "{flags}: {}", errors[0]);
    }
}
