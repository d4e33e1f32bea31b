//! Every key of the dictionary is read and changes something.

use super::*;
use crate::dictionary::{self, Kind};
use std::collections::BTreeSet;
use xoff_fabric::plan::{HostSettings, SwitchSettings};

/// A scenario around a topology; every host sends to one other.
fn base(topology: &str, more: &str) -> String {
    format!("[run]\nstop=\"1ms\"\n[topology]\n{topology}\n{more}\n[[traffic]]\nkind=\"permutation\"\n")
}

fn load(text: &str, sets: &[&str]) -> Loaded {
    let options = Options { sets: sets.iter().map(|set| (*set).to_owned()).collect(), ..Options::default() };
    match Scenario::from_text("t", text, Path::new(".")).load(&options) {
        Ok(loaded) => loaded,
        Err(errors) => panic!("{sets:?}: {}", errors[0]),
    }
}

fn print(loaded: &Loaded) -> String {
    let Loaded { name, description, plan, schemes, output, traffic, captures, measures, .. } = loaded;
    let traffic: Vec<String> = traffic.iter().map(|plan| format!("{:?}", plan.generator)).collect();
    format!("{name}\n{description}\n{plan:?}\n{schemes:?}\n{traffic:?}\n{output:?}\n{captures:?}\n{measures:?}")
}

/// Two jobs, and what is measured of them.
const JOBS: &str = "[[measure]]\nname=\"a\"\nmetric=\"busbw\"\n\
    [[traffic]]\nkind=\"all-reduce\"\nname=\"a\"\nbytes=\"1MB\"\n\
    [[traffic]]\nkind=\"all-gather\"\nname=\"b\"\nbytes=\"1MB\"\n";
const STAR: &str = "kind=\"star\"\nhosts=4\nrate=\"100Gbps\"";
const SPINES: &str = "kind=\"leaf-spine\"\nleaves=2\nspines=2\nhosts_per_leaf=2\nhost_rate=\"100Gbps\"";
const LINKED: &str = "kind=\"custom\"\nhosts=[\"A\",\"B\"]\nswitches=[\"S\",\"T\"]\n\
    [[topology.link]]\na=[\"A\",\"B\"]\nb=\"S\"\nrate=\"100Gbps\"\n\
    [[topology.link]]\na=\"S\"\nb=\"T\"\nrate=\"100Gbps\"";
const TIMED: &str = "[switch.pfc]\nthreshold=\"static\"\nxoff=\"100KB\"\nsignalling=\"timed\"";
const CLASSES: &str = "[[class]]\nname=\"data\"\npriority=1\nservice=\"weighted\"\n\
    [[class]]\nname=\"bulk\"\npriority=0\nlossless=false\n[[class]]\nname=\"control\"\npriority=6\n";
const FAULTS: &str = "[[fault]]\nkind=\"rate\"\nat=\"1us\"\nlink=\"h0->sw\"\nrate=\"1Gbps\"\n\
    [[fault]]\nkind=\"loss\"\nat=\"2us\"\nlink=\"h0->sw\"\nloss=0.5\n\
    [[fault]]\nkind=\"pause-storm\"\nat=\"3us\"\nhost=\"h1\"\n\
    [[fault]]\nkind=\"link-down\"\nat=\"4us\"\nlink=\"h2->sw\"";
const PROFILES: &str =
    "[[switch_profile]]\nselect=\"leaf0\"\nbuffer=\"64MB\"\n[[host_profile]]\nselect=\"h0\"\nmtu=\"500B\"";

/// Probes and measures of a star.
const MEASURES: &str = "[[probe]]\nwhat=\"queue\"\nports=\"sw->*\"\n[[probe]]\nwhat=\"paused\"\nports=\"sw->*\"\n\
    [[measure]]\nname=\"a\"\nmetric=\"fct\"\nstat=\"mean\"\nunit=\"us\"\n\
    [[measure]]\nname=\"b\"\nmetric=\"fct-by-size\"\nstat=\"mean\"\nunit=\"us\"\nedges=[\"1KB\",\"2KB\"]\n\
    [[measure]]\nname=\"c\"\nmetric=\"flow-count\"\nwhich=\"all\"\n\
    [[measure]]\nname=\"d\"\nmetric=\"mean\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"KB\"\n\
    [[measure]]\nname=\"e\"\nmetric=\"mean\"\nseries=\"queue\"\nof=\"sw->h*\"\nunit=\"KB\"\nacross=\"each\"\ncombine=\"max\"\n\
    [[measure]]\nname=\"f\"\nmetric=\"percentile\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"KB\"\np=50\n\
    [[measure]]\nname=\"g\"\nmetric=\"first-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\nabove=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"h\"\nmetric=\"first-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\nbelow=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"i\"\nmetric=\"first-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\ntarget=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"j\"\nmetric=\"recovery-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\nfrom=\"50us\"\nbefore_window=\"10us\"\n\
    [[measure]]\nname=\"k\"\nmetric=\"recovery-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\nbefore=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"l\"\nmetric=\"count-changes\"\nseries=\"queue\"\nof=\"sw->h0\"\n\
    [[measure]]\nname=\"m\"\nmetric=\"peaks\"\nseries=\"queue\"\nof=\"sw->h0\"\nfloor=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"n\"\nmetric=\"largest-share\"\nseries=\"queue\"\nof=\"sw->h*\"\namong=\"sw->h0\"\n\
    [[measure]]\nname=\"o\"\nmetric=\"curve\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"KB\"\n\
    [[measure]]\nname=\"p\"\nmetric=\"pause-count\"\n\
    [[measure]]\nname=\"q\"\nmetric=\"port\"\nwhat=\"marks\"\nof=\"sw->h0\"\n\
    [[measure]]\nname=\"r\"\nmetric=\"counter\"\nof=\"marks\"\n";

/// Scenarios in which every key of the dictionary has a meaning.
fn contexts() -> Vec<String> {
    let classes = "[[class]]\nname=\"a\"\npriority=1\n[[class]]\nname=\"b\"\npriority=2\n[[class]]\nname=\"control\"\npriority=3\n\
        [[fault]]\nkind=\"pause-storm\"\nat=\"3us\"\nhost=\"h1\"\n[[probe]]\nwhat=\"queue\"\nports=\"sw->h0\"";
    let scan = "[switch.pfc]\nheadroom=\"bdp\"\n[host]\nscheduler=\"scan\"\ninflight_cap=\"longest-bdp\"";
    let over = "[[topology.override]]\nlinks=\"S->T\"\nrate=\"10Gbps\"\ndelay=\"2us\"\nloss=0.1\n\
        [[topology.domain]]\nswitches=\"S\"\n[[topology.domain]]\nswitches=\"T\"";
    let mut all: Vec<String> = [
        (STAR, ""),
        (STAR, "[scheme]\nname=\"mercury\"\n[switch.watchdog]\n[[capture]]\nports=\"sw->h0\""),
        (STAR, scan),
        (STAR, "[model]\nevent_order=\"insertion\"\n[host]\nscheduler=\"scan\""),
        (STAR, "[host]\nrecovery=\"irn\""),
        (STAR, "[host]\nrecovery=\"sack\""),
        (STAR, "[host]\nrecovery=\"sack\"\n[switch]\ntrim=true\n[[class]]\nname=\"data\"\npriority=3\nlossless=false\n[[class]]\nname=\"control\"\npriority=6"),
        (STAR, "[model]\nrandom_streams=\"shared\"\n[switch.pfc]\nalpha=\"by-speed\""),
        (STAR, TIMED),
        (STAR, "[switch.pfc]\nthreshold=\"abm\"\nunscheduled=\"longest-bdp\""),
        (STAR, "[switch.pfc]\nthreshold=\"reverie\""),
        (STAR, CLASSES),
        (STAR, FAULTS),
        (STAR, classes),
        (STAR, MEASURES),
        (STAR, JOBS),
        ("kind=\"dumbbell\"\nleft=2\nright=2\nrate=\"100Gbps\"", ""),
        ("kind=\"chain\"\nswitches=2\nhosts_per_switch=1\nrate=\"100Gbps\"", ""),
        ("kind=\"parking-lot\"\nbottlenecks=2\nrate=\"100Gbps\"", ""),
        ("kind=\"leaf-spine\"\nleaves=2\nspines=1\nhosts_per_leaf=2\nhost_rate=\"100Gbps\"", PROFILES),
        (SPINES, "[routing]\nmode=\"spray\"\n[scheme]\nname=\"none\""),
        (SPINES, "[routing]\nmode=\"adaptive\"\nper=\"flowlet\""),
        (SPINES, "[routing]\nmode=\"drill\""),
        (STAR, "[[class]]\nname=\"data\"\npriority=3\nlossless=false\nqueue_time=\"bdp\"\n[[class]]\nname=\"control\"\npriority=6"),
        (SPINES, "[routing]\nmode=\"conga\""),
        (SPINES, "[routing]\nmode=\"conweave\""),
        (SPINES, "[routing]\nmode=\"plb\""),
        ("kind=\"fat-tree\"\nk=2\nhost_rate=\"100Gbps\"", ""),
        ("kind=\"clos\"\npods=2\ntors_per_pod=1\naggs_per_pod=2\nhosts_per_tor=1\ncores=2\nhost_rate=\"100Gbps\"", ""),
        ("kind=\"two-dc\"\nleaves=1\nspines=1\nhosts_per_leaf=1\nhost_rate=\"10Gbps\"\nlong_delay=\"10us\"", ""),
        ("kind=\"rail\"\nservers=4\nspines=2\nsegment_servers=2", ""),
        ("kind=\"dual-plane\"\nservers=2\nspines=1\nplanes=1", ""),
        ("kind=\"server-clos\"\nservers=4\nspines=2\nservers_per_tor=2", ""),
        ("preset=\"dcn-plus\"\nservers=4", ""),
        (LINKED, over),
    ]
    .map(|(topology, more)| base(topology, more))
    .to_vec();
    let at_flow_level = base(STAR, "[scheme]\nname=\"dcqcn\"").replace("[run]\n", "[run]\nfidelity=\"flow\"\n");
    all.push(at_flow_level);
    all.push(base(STAR, JOBS).replace("[topology]", "[run.settle]\n[topology]"));
    all.push(format!("{}hosts=\"s*.n*.p0\"\n", base("kind=\"rail\"\nservers=2\nspines=1\nports=2", "")));
    all
}

/// Keys that no value changes alone; that they are read is seen elsewhere.
const NOT_ALONE: &[&str] =
    &["measure.metric", "measure.series", "switch.pfc.threshold", "topology.domain.switches", "topology.kind"];

/// Values that may be written for a key, the likely ones first.
fn candidates(kind: Kind) -> Vec<String> {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    match kind {
        Kind::Time => texts(&["9us", "1us", "20us", "2ms", "11us"]),
        Kind::Rate => texts(&["1Gbps", "10Gbps", "200Gbps", "800Gbps"]),
        Kind::Bytes => texts(&["60B", "500B", "1KB", "99KB", "200KB", "1MB"]),
        Kind::Count => texts(&["2", "3", "1", "4", "16", "7"]),
        Kind::Number => texts(&["0.5", "2", "0.1", "99", "0.9", "0.2"]),
        Kind::Flag => texts(&["true", "false"]),
        Kind::Choice(words) => texts(words),
        Kind::Either(kinds) => kinds.iter().flat_map(|kind| candidates(*kind)).collect(),
        Kind::Text | Kind::Texts | Kind::Special(_) => texts(&[
            "x",
            "h1",
            "h0",
            "b",
            "sw->h1",
            "sw->h0",
            "h1->sw",
            "leaf1",
            "host",
            "S",
            "T",
            "T->S",
            "A",
            "none",
            "nic",
            "timely",
            "p99",
            "perm*",
            "all-gather",
            "source-port",
            "[\"S\",\"A\",\"T\",\"B\"]",
            "[\"1KB\",\"3KB\"]",
        ]),
        Kind::Table | Kind::Tables => Vec::new(),
    }
}

/// Paths of the tables of a section in a resolved scenario: `class.0`, `class.1`.
fn instances(section: &dictionary::Section, resolved: &toml::Table) -> Vec<String> {
    let mut found = vec![(String::new(), Some(toml::Value::Table(resolved.clone())))];
    for part in section.path.split('.').filter(|part| !part.is_empty()) {
        let mut inner = Vec::new();
        for (path, value) in found {
            let path = if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") };
            match value.and_then(|value| value.get(part).cloned()) {
                Some(toml::Value::Array(items)) => {
                    inner.extend(items.into_iter().enumerate().map(|(i, item)| (format!("{path}.{i}"), Some(item))));
                }
                value => inner.push((path, value)),
            }
        }
        found = inner;
    }
    found.into_iter().filter(|(_, value)| value.is_some() || !section.repeated).map(|(path, _)| path).collect()
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A key that is read and changes nothing, or is never read, is found by trying values of its kind.
#[test]
fn every_key_of_the_dictionary_has_an_effect() {
    let mut idle: BTreeSet<String> = BTreeSet::new();
    let all = || dictionary::sections().filter(|section| !section.path.starts_with("traffic"));
    for section in all() {
        let keys = section.keys.iter().filter(|key| !matches!(key.kind, Kind::Table | Kind::Tables));
        idle.extend(keys.map(|key| join(section.path, key.name)));
    }
    idle.retain(|path| !NOT_ALONE.contains(&path.as_str()));
    for text in contexts() {
        let plain = load(&text, &[]);
        let (printed, resolved) = (print(&plain), plain.resolved.parse::<toml::Table>().unwrap());
        for section in all() {
            let paths = instances(section, &resolved);
            for key in section.keys {
                if !idle.contains(&join(section.path, key.name)) {
                    continue;
                }
                let changes = |path: &String| {
                    candidates(key.kind).into_iter().any(|value| {
                        let sets = vec![format!("{}={value}", join(path, key.name))];
                        let options = Options { sets, ..Options::default() };
                        let loaded = Scenario::from_text("t", text.as_str(), Path::new(".")).load(&options);
                        loaded.is_ok_and(|loaded| print(&loaded) != printed)
                    })
                };
                if paths.iter().any(changes) {
                    idle.remove(&join(section.path, key.name));
                }
            }
        }
    }
    assert!(idle.is_empty(), "these keys change nothing: {idle:?}");
    for set in ["output.labels.dcqcn=x", "output.colours.dcqcn=#000000"] {
        let text = base(STAR, "");
        assert_ne!(print(&load(&text, &[set])), print(&load(&text, &[])), "{set} changes nothing");
    }
}

/// A reader that takes another default than the dictionary states is found in the resolved scenario.
#[test]
fn defaults_are_those_that_the_dictionary_states() {
    let mut compared: BTreeSet<String> = BTreeSet::new();
    let chain = "[run]\nstop=\"100ms\"\n[topology]\nkind=\"chain\"\nswitches=3\nhosts_per_switch=4\nrate=\"100Gbps\"\n\
        [schemes.none]\n[[traffic]]\n";
    let traffic = crate::traffic::EXAMPLES.iter().map(|example| format!("{chain}{example}"));
    for text in contexts().into_iter().chain(traffic) {
        let written: toml::Table = text.parse().unwrap();
        // Some examples of traffic name files, or hosts of another network.
        let loaded = Scenario::from_text("t", text.as_str(), Path::new(".")).load(&Options::default());
        let Ok(loaded) = loaded else { continue };
        let resolved: toml::Table = loaded.resolved.parse().unwrap();
        for section in dictionary::sections().filter(|section| section.extends().is_empty()) {
            // Classes that no scenario wrote have values of their own.
            let own = |path: &String| !section.repeated || at(&written, path).is_some();
            for path in instances(section, &resolved).into_iter().filter(own) {
                for key in section.keys {
                    let dictionary::Default::Value(stated) = key.default else { continue };
                    let path = join(&path, key.name);
                    if at(&written, &path).is_some() {
                        continue;
                    }
                    let Some(found) = at(&resolved, &path) else { continue };
                    let stated: toml::Value = format!("v={stated}").parse::<toml::Table>().unwrap()["v"].clone();
                    let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|v| v as f64));
                    let equal = *found == stated || number(found).is_some() && number(found) == number(&stated);
                    let preset = path == "topology.nic_rate" && at(&written, "topology.preset").is_some();
                    assert!(equal || preset, "{path} is {found}, and the dictionary states {stated}");
                    compared.insert(join(section.path, key.name));
                }
            }
        }
    }
    // A plan that is made without a scenario has the same.
    let plan = load(&base(STAR, ""), &[]).plan;
    assert_eq!(format!("{:?}", plan.hosts[0]), format!("{:?}", HostSettings::default()));
    assert_eq!(format!("{:?}", plan.switches[0]), format!("{:?}", SwitchSettings::default()));
    assert!(compared.len() > 80, "only {} defaults were compared", compared.len());
}

/// The value at a dotted path.
fn at<'a>(table: &'a toml::Table, path: &str) -> Option<&'a toml::Value> {
    let mut parts = path.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| match part.parse::<usize>() {
        Ok(index) => value.get(index),
        Err(_) => value.get(part),
    })
}
