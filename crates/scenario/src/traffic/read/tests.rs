use super::*;
use crate::files::Files;
use crate::resolved::Recorder;
use crate::traffic::flow::tests::row;
use crate::traffic::keys;
use crate::traffic::timetable::tests::play;
use crate::{Attachment, Names, Source, tree};
use std::path::Path;
use xoff_engine::{BitRate, Time};
use xoff_fabric::plan::*;
use xoff_fabric::servers::Servers;
use xoff_fabric::traffic::{Action, FlowSpec};

/// Three switches `s0`..`s2` in a row, four hosts on each.
fn network() -> Plan {
    let (nodes, links) = row(3, 4);
    let run = RunSettings { stop: Time::from_ms(100), ..RunSettings::default() };
    Plan { nodes, links, run, ..Plan::default() }
}

/// Reads a table beside files of these names and texts.
fn read_from(text: &str, files: &[(&str, &str)]) -> Result<(TrafficPlan, Recorder)> {
    let source = Source::new("a.toml", format!("[[traffic]]\n{text}\n"));
    let file = |(name, text): &(&str, &str)| Attachment { name: (*name).to_owned(), source: Source::new(*name, *text) };
    read_entries(&source, tree::parse(&source)?, files.iter().map(file).collect())
}

fn read_entries(
    source: &Arc<Source>,
    entries: Vec<tree::Entry>,
    files: Vec<Attachment>,
) -> Result<(TrafficPlan, Recorder)> {
    let plan = network();
    let names = Names::new(&plan.nodes, &plan.links);
    let servers = Servers::one_for_each_host(&plan.nodes);
    let context = TrafficContext {
        plan: &plan,
        servers: &servers,
        pieces: &xoff_fabric::pieces::pieces(&plan.nodes, &plan.links),
        names: &names,
        classes: &["data".to_owned(), "control".to_owned()],
        schemes: &["dcqcn".to_owned(), "none".to_owned(), "hpcc".to_owned(), "tcp-newreno".to_owned()],
        formats: &["dcqcn", "none", "hpcc", "tcp-newreno"]
            .map(|name| xoff_schemes::formats(&xoff_schemes::select(name).unwrap())),
        default_class: 0,
        settle: None,
        links_fail: false,
        index: 2,
    };
    let recorder = Recorder::default();
    let files = Files::in_folder(Path::new(".")).with(files);
    let mut root = Table::root_with(source, entries, files, recorder.clone());
    let mut table = root.tables("traffic")?.remove(0);
    let unknown = table.keys().into_iter().find(|key| keys::TRAFFIC.iter().all(|known| known.name != key.value));
    let made = read(&mut table, &context)?;
    table.finish()?;
    assert_eq!(unknown.map(|key| key.value), None, "a key that the dictionary does not list");
    Ok((made, recorder))
}

fn plan(text: &str) -> TrafficPlan {
    read_from(text, &[]).unwrap_or_else(|error| panic!("{text}\n{error}")).0
}

fn refused(text: &str, parts: &[&str]) {
    match read_from(text, &[]) {
        Ok(_) => panic!("not refused: {text}"),
        Err(error) => {
            let shown = error.render(false);
            for part in parts {
                assert!(shown.contains(part), "{text}: `{part}` is missing from\n{shown}");
            }
        }
    }
}

fn started(plan: &TrafficPlan, seed: u64) -> Vec<(Time, FlowSpec)> {
    let start = |(at, action)| if let Action::Start(spec) = action { Some((at, spec)) } else { None };
    play(plan.build(seed).as_mut(), 50_000).into_iter().filter_map(start).collect()
}

pub(crate) const EXAMPLES: [&str; 21] = [
    "kind = 'flows'\nflow = [{ src = 'h0', dst = 'h4', size = '1MB', start = '5us' }, { src = 'h1', dst = 'h5', name = 'F1', stop = '1ms', caps = [{ at = '10us', rate = '1Gbps' }, { at = '20us', rate = 'none' }] }]",
    "kind = 'flows'\nstop = '2ms'\npath = ['s0', 's1']\n[[traffic.flow]]\nsrc = 'h0'\ndst = 'h4'\nweight = 3",
    "kind = 'long-lived'\nsources = 'h[0..3]'\ndestinations = 'h8'\nstagger = '1ms'\nstop = '90ms'\nrate_cap = '5Gbps'\nscheme = 'none'",
    "kind = 'long-lived'\nsources = '@s0'\ndestinations = '@s1'\nsize = '10MB'\npairing = 'random'",
    "kind = 'burst'\nname = 'burst'\nsources = ['h0', 'h1']\ndestinations = 'h9'\nsize = '64KB'\nflows_per_pair = 16\nstart = '20ms'",
    "kind = 'permutation'\nsize = '1MB'",
    "kind = 'permutation'\nhosts = ['@s0', '@s1']\nstop = '1ms'\nprobe = true",
    "kind = 'all-to-all'\nhosts = 'h[0..4]'\nsizes = { kind = 'uniform', min = '1KB', max = '2KB' }\nstagger = '10us'\nshuffle = false",
    "kind = 'poisson'\nsizes = 'websearch'\nload = 0.5\nflows = 2000\nclass = 'data'",
    "kind = 'poisson'\nsizes = { kind = 'pareto', mean = '10KB', shape = 1.1 }\noffered = '2Gbps'\nsources = '@s0'\ndestinations = '@s2'\nuntil = '3ms'\npairing = 'one-to-one'",
    "kind = 'poisson'\nsizes = { kind = 'exponential', mean = '10KB' }\nload = 0.3\nload_of = 's0->s1'\nload_counts = 'wire'\nsources = '@s0'\ndestinations = '@s1'",
    "kind = 'hotspot'\nsizes = '64KB'\nload = 0.4\navoid_same_rack = true\nhot_share = 0.5",
    "kind = 'hotspot'\nsizes = '64KB'\nrate_per_second = 1e6\nhot = ['h3', 'h7']\nhot_fraction = 0.5",
    "kind = 'incast'\nsizes = '20KB'\ndegree = '1..8'\nload = 0.1\navoid_same_rack = true\nflows = 500",
    "kind = 'incast'\nsizes = 'hadoop'\ndegree = 3\ntimes = ['3ms', '1ms']\nstart = '1us'\ndestinations = 'h0'",
    "kind = 'incast'\nsizes = 'hadoop'\ndegree = 3\nsame_size = true\nperiod = '1ms'\nevents = 4\nclass_by_size = [{ up_to = '10KB', class = 'control' }]",
    "kind = 'incast'\nsizes = '20KB'\ndegree = 11\nperiod = '1ms'\nevents = 4",
    "kind = 'on-off'\nsources = ['h0', 'h1']\ndestinations = ['h4', 'h5']\nburst = '10KB'\nrate = '5Gbps'\ngaps = 'exponential'\nstart = '1ms'",
    "kind = 'on-off'\nsources = 'h0'\ndestinations = 'h4'\nburst = '10KB'\noff = '8us'\nstop = '2ms'\nrate_cap = '10Gbps'",
    "kind = 'synchronised-reads'\nclients = 'h0'\nservers = 'h[1..8]'\nunit = '256KB'\nblocks = 10\nrequest_delay = '5us'",
    "kind = 'synchronised-reads'\nclients = ['h0', 'h1']\nservers = 'h[0..8]'\nunit = '256KB'\nconnections = 'fresh'\nuntil = '2ms'",
];

#[test]
fn a_resolved_table_reads_back_as_the_same_plan() {
    for text in EXAMPLES {
        let (first, recorder) = read_from(text, &[]).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let resolved = recorder.render();
        let body = resolved.strip_prefix("[[traffic]]\n").unwrap_or_else(|| panic!("{resolved}"));
        let again = read_from(body, &[]).unwrap_or_else(|error| panic!("{resolved}\n{error}"));
        assert_eq!(format!("{first:?}"), format!("{:?}", again.0), "{resolved}");
        assert_eq!(resolved, again.1.render());
    }
}

#[test]
fn every_plan_starts_flows_between_hosts_under_its_labels() {
    for text in EXAMPLES {
        let plan = plan(text);
        let flows = started(&plan, 1);
        assert!(!flows.is_empty(), "{text}");
        for (_, flow) in &flows {
            assert!(flow.src < 12 && flow.dst < 12 && flow.src != flow.dst, "{text}: {flow:?}");
            assert!((flow.label as usize) < plan.labels.len(), "{text}: {flow:?}");
            assert_ne!(flow.size_bytes, Some(0));
        }
        let same = |a: &[(Time, FlowSpec)], b: &[(Time, FlowSpec)]| format!("{a:?}") == format!("{b:?}");
        assert!(same(&flows, &started(&plan, 1)), "{text}");
        let closed = plan.kind == "synchronised-reads";
        if let Some(expected) = plan.expected.flows.filter(|_| plan.expected.finite && !closed) {
            assert!((flows.len() as f64 / expected - 1.0).abs() < 0.2, "{text}: {} of {expected}", flows.len());
        }
    }
}

#[test]
fn the_load_is_counted_as_asked() {
    let poisson = |rest: &str| plan(&format!("kind = \"poisson\"\nsizes = \"10KB\"\n{rest}"));
    let per_second = |plan: &TrafficPlan| match &plan.generator {
        Generator::Poisson(poisson) => poisson.arrivals.per_second,
        other => panic!("{other:?}"),
    };
    // Half of 1.2 Tb/s in flows of 80 kbit.
    assert_eq!(per_second(&poisson("load = 0.5")), 7.5e6);
    assert_eq!(poisson("load = 0.5").expected.load, Some(0.5));
    // Ten packets of 1082 wire bytes each.
    assert!((per_second(&poisson("load = 0.5\nload_counts = \"wire\"")) - 7.5e6 / 1.082).abs() < 1.0);
    // The scheme's telemetry (42 B) and TCP's headers (58 B) are on the wire too.
    let wire =
        |scheme: &str| per_second(&poisson(&format!("load = 0.5\nload_counts = \"wire\"\nscheme = \"{scheme}\"")));
    assert!((wire("hpcc") - 7.5e6 / 1.124).abs() < 1.0, "{}", wire("hpcc"));
    assert!((wire("tcp-newreno") - 7.5e6 / 1.078).abs() < 1.0, "{}", wire("tcp-newreno"));
    let cut = poisson("load = 0.8\nload_of = \"s0->s1\"\nsources = \"@s0\"\ndestinations = \"@s1\"");
    assert_eq!(per_second(&cut), 1e6);
    assert_eq!(cut.expected, Expected { flows: Some(1e5), bytes: Some(1e9), load: Some(0.2), finite: false });
    assert_eq!(per_second(&poisson("offered = \"8Gbps\"")), 1e5);
    // Receivers' links: 0.5 of 100 Gb/s, 4 flows an event.
    let incast = plan("kind = \"incast\"\nsizes = \"10KB\"\ndegree = \"3..5\"\nload = 0.5\ndestinations = \"h0\"");
    let Generator::Incast(incast) = incast.generator else { panic!("{incast:?}") };
    let crate::traffic::incast::Events::Poisson(arrivals) = incast.events else { panic!("{incast:?}") };
    assert_eq!(arrivals.per_second, 50e9 / 8.0 / 40e3);
}

#[test]
fn settings_reach_the_flows() {
    let plan = plan(
        "kind = \"flows\"\nname = \"F\"\nscheme = \"none\"\nrate_cap = \"9Gbps\"\n[[traffic.flow]]\nsrc = \"h0\"\ndst = \"h9\"\npath = [\"h0\", \"s0\", \"s1\", \"s2\", \"h9\"]\nweight = 4\n[[traffic.flow]]\nname = \"other\"\nsrc = \"h1\"\ndst = \"h2\"\nclass = \"control\"\nscheme = \"dcqcn\"\nrate_cap = \"1Gbps\"\nprobe = false\nsize = \"5B\"",
    );
    let flows = started(&plan, 1);
    let (first, second) = (&flows[0].1, &flows[1].1);
    assert_eq!((first.class, first.scheme, first.weight, first.probed), (0, 1, 4, true));
    assert_eq!(first.rate_cap, Some(BitRate::from_gbps(9)));
    // Links 0..=11 are the hosts', 12 is s0-s1, 13 is s1-s2.
    assert_eq!(first.path.as_deref(), Some(&[0, 24, 26, 19][..]));
    assert_eq!((second.class, second.scheme, second.weight, second.probed), (1, 0, 1, false));
    assert_eq!((second.rate_cap, second.size_bytes), (Some(BitRate::from_gbps(1)), Some(5)));
    assert_eq!(&*plan.labels, ["F-0", "other"]);
    assert!(!plan.expected.finite);
}

#[test]
fn bad_tables_get_good_answers() {
    let poisson = "kind = 'poisson'\nsizes = '64KB'\n";
    let incast = "kind = 'incast'\nsizes = '64KB'\n";
    let on_off = "kind = 'on-off'\nsources = 'h0'\ndestinations = 'h1'\nburst = '1KB'\n";
    let long = "kind = 'long-lived'\n";
    let cases: &[(String, &[&str])] = &[
        ("kind = 'posson'".into(), &["did you mean `poisson`?"]),
        ("sizes = '64KB'".into(), &["lacks `kind`"]),
        (format!("{poisson}load = 1.2"), &["`load` is out of range", "from 0 to 1", "a.toml:4"]),
        (format!("{poisson}load = 0"), &["0 arrivals per second"]),
        (poisson.into(), &["give `load`, `offered` or `rate_per_second`"]),
        (format!("{poisson}load = 0.5\noffered = '1Gbps'"), &["`load` and `offered` both set the rate"]),
        (format!("{poisson}offered = '3Tbps'"), &["2.500 times what their links carry"]),
        (
            format!(
                "{poisson}load = 0.9\nload_of = 's0->s1'\nsources = 'h0'\ndestinations = 'h4'\nstart = '5ms'\nuntil = '5ms'"
            ),
            &["`until` is not after `start`", "5ms"],
        ),
        (format!("{poisson}load = 0.5\nsources = 'h0'\ndestinations = 'h0'"), &["`h0` has nobody to send to"]),
        (
            format!("{poisson}load = 0.5\ndestinations = '@s1'\navoid_same_rack = true"),
            &["`h4` has nobody to send to", "avoid_same_rack"],
        ),
        (format!("{poisson}load = 0.5\nsources = 'h99'"), &["no host is called `h99`"]),
        (format!("{poisson}load = 0.5\nload_of = 's0->s2'"), &["no link fits `s0->s2`"]),
        (format!("{poisson}load = 0.5\nflows = 0"), &["`flows` is out of range"]),
        (format!("{poisson}load = 0.5\nscheme = 'dcqnc'"), &["no scheme is called `dcqnc`", "did you mean `dcqcn`?"]),
        (format!("{poisson}load = 0.5\nclass = 'gold'"), &["no class is called `gold`"]),
        (format!("{poisson}load = 0.5\nweight = 0"), &["`weight` is out of range"]),
        (format!("{poisson}load = 0.5\nname = ''"), &["cannot be a name"]),
        ("kind = 'poisson'\nload = 0.5".into(), &["lacks `sizes`"]),
        (
            "kind = 'poisson'\nload = 0.5\nsizes = 'webserach'".into(),
            &["no workload is called `webserach`", "did you mean `websearch`?"],
        ),
        ("kind = 'poisson'\nload = 0.5\nsizes = '0B'".into(), &["`sizes` is zero"]),
        ("kind = 'poisson'\nload = 0.5\nsizes = '64'".into(), &["`sizes` has no unit"]),
        ("kind = 'poisson'\nload = 0.5\nsizes = 64".into(), &["cannot be a whole number"]),
        ("kind = 'poisson'\nload = 0.5\nsizes = '2TB'".into(), &["too large"]),
        ("kind = 'poisson'\nload = 0.5\nsizes = 'none.csv'".into(), &["no such file"]),
        ("kind = 'poisson'\nload = 0.5\nsizes = { kind = 'pareto', mean = '1KB', shape = 1 }".into(), &["has no mean"]),
        (
            "kind = 'poisson'\nload = 0.5\nsizes = { kind = 'uniform', min = '2KB', max = '1KB' }".into(),
            &["`max` is below `min`"],
        ),
        ("kind = 'poisson'\nload = 0.5\nsizes = { kind = 'fixed', size = '2KB', mean = '1KB' }".into(), &["`mean`"]),
        ("kind = 'hotspot'\nsizes = '1KB'\nload = 0.1\nhot_share = 0.01".into(), &["no host would be hot"]),
        (format!("{incast}load = 0.1"), &["incast lacks `degree`"]),
        (
            format!("{incast}load = 0.1\ndegree = 2\nclass_by_size = [{{ up_to = '9KB', class = 'gold' }}]"),
            &["no class is called `gold`"],
        ),
        (
            format!(
                "{incast}load = 0.1\ndegree = 2\nclass_by_size = [{{ up_to = '9KB', class = 'data' }}, {{ up_to = '9KB', class = 'control' }}]"
            ),
            &["no flow is left for this class"],
        ),
        (format!("{incast}load = 0.1\ndegree = 2\nclass_by_size = [{{ class = 'data' }}]"), &["lacks `up_to`"]),
        (format!("{incast}load = 0.1\ndegree = 0"), &["`degree` is not a number of senders"]),
        (format!("{incast}load = 0.1\ndegree = '5..2'"), &["`degree` is not a number of senders"]),
        (format!("{incast}load = 0.1\ndegree = 12"), &["asks for 12 senders, and `h0` has 11"]),
        (format!("{incast}load = 0.1\ndegree = 9\navoid_same_rack = true"), &["`h0` has 8", "hosts of its switch"]),
        (format!("{incast}load = 0.1\ndegree = 2\nsame_size = true"), &["`same_size` has no effect here"]),
        (format!("{incast}times = ['3']\ndegree = 2"), &["has no unit"]),
        (format!("{incast}period = '0s'\ndegree = 2"), &["`period` cannot be zero"]),
        (format!("{incast}load = 1\ndegree = 2\nsources = ['h0', 'h1']"), &["6.000 times"]),
        (on_off.into(), &["give `rate` or `off`"]),
        (format!("{on_off}rate = '1Gbps'\noff = '1us'"), &["both set the pace"]),
        (format!("{on_off}rate = '101Gbps'"), &["`h0` cannot send that fast", "at most 100Gbps"]),
        (format!("{long}sources = 'h0'"), &["lacks `destinations`"]),
        (
            format!("{long}sources = '@s0'\ndestinations = 'h[4..6]'"),
            &["do not pair up", "4 sources and 3 destinations"],
        ),
        (format!("{long}sources = '@s0'\ndestinations = '@s0'"), &["`h0` would send to itself"]),
        (format!("{long}sources = 'h0'\ndestinations = 'h1'\nsize = '1KB'\nstop = '1ms'"), &["`stop`"]),
        (
            format!("{long}sources = '@s0'\ndestinations = '@s1'\nstagger = '1ms'\nstop = '3ms'"),
            &["some flows would start after `stop`"],
        ),
        (
            format!("{long}sources = 'h0'\ndestinations = 'h4'\ncaps = [{{ at = '1ms', rate = '0bps' }}]"),
            &["limit of zero"],
        ),
        (format!("{long}sources = 'h0'\ndestinations = 'h4'\npath = ['s0', 's2']"), &["no link fits"]),
        (
            format!("{long}sources = 'h0'\ndestinations = 'h4'\npath = ['s0']"),
            &["the path ends at `s0`, which does not suit `h4`"],
        ),
        (format!("{long}sources = 'h0'\ndestinations = 'h4'\npath = ['s0', 'h1', 's1']"), &["through the host `h1`"]),
        (format!("{long}sources = 'h0'\ndestinations = 'h4'\npath = ['h1', 's0', 's1']"), &["the path begins at `h1`"]),
        (format!("{long}sources = 'h0'\ndestinations = 'h4'\npath = ['h0']"), &["names no switch"]),
        (format!("{long}sources = 'h0'\ndestinations = 'h4'\npath = ['s0', 's1', 's0', 's1']"), &["twice"]),
        (format!("{long}sources = 'h0'\ndestinations = 'h4'\npath = ['x']"), &["no node is called `x`"]),
        ("kind = 'burst'\nsources = 'h0'\ndestinations = 'h1'".into(), &["lacks `size`"]),
        (
            "kind = 'burst'\nsources = 'h[0..7]'\ndestinations = 'h8'\nsize = '1KB'\nflows_per_pair = 1000000".into(),
            &["8000000 flows are more"],
        ),
        ("kind = 'permutation'\nhosts = 'h0'".into(), &["at least two hosts"]),
        ("kind = 'all-to-all'\nhosts = 'h0'\nsizes = '1KB'".into(), &["at least two hosts"]),
        ("kind = 'flows'".into(), &["lists none"]),
        ("kind = 'flows'\nflow = [{ src = 'h0', dst = 'h0' }]".into(), &["`h0` would send to itself"]),
        ("kind = 'flows'\nflow = [{ src = 'h0', dst = 'h1', size = 'websearch' }]".into(), &["one size"]),
        (
            "kind = 'flows'\nstop = '1ms'\nflow = [{ src = 'h0', dst = 'h1', start = '2ms' }]".into(),
            &["start when it is over"],
        ),
        (
            "kind = 'flows'\nstop = '1ms'\nflow = [{ src = 'h0', dst = 'h1', size = '1KB' }]".into(),
            &["`stop` has no effect"],
        ),
        ("kind = 'flows'\nflow = [{ src = 'h*', dst = 'h1' }]".into(), &["stands for 12 hosts"]),
        ("kind = 'synchronised-reads'\nclients = 'h0'\nservers = 'h0'\nunit = '1KB'".into(), &["no server but itself"]),
    ];
    for (text, parts) in cases {
        refused(text, parts);
    }
}

#[test]
fn a_list_of_flows_is_read_in_any_order() {
    let text = "# two flows\nstart_us,src,dst,size_bytes,scheme\n0.25,h3,h9,2000,none\n0,h0,h1,1,\n";
    let table = "kind = \"flow-list\"\nfile = \"list.csv\"\nstart = \"1us\"";
    let (plan, _) = read_from(table, &[("list.csv", text)]).unwrap();
    let seen: Vec<_> =
        started(&plan, 1).into_iter().map(|(at, f)| (at.ps(), f.src, f.dst, f.size_bytes, f.scheme)).collect();
    assert_eq!(seen, [(1_000_000, 0, 1, Some(1), 0), (1_250_000, 3, 9, Some(2000), 1)]);
    assert_eq!(plan.expected, Expected { flows: Some(2.0), bytes: Some(2001.0), load: None, finite: true });
}

#[test]
fn a_bad_list_names_its_line() {
    for (text, parts) in [
        ("h0,h1,5,0\nh0,h1,5\n", &["list.csv:2", "a row of 3 values"][..]),
        ("h0,h1,5,0\n\nh0,h77,5,0\n", &["list.csv:3", "no node is called `h77`"]),
        ("h0,h0,5,0\n", &["list.csv:1", "send to itself"]),
        ("h0,s1,5,0\n", &["list.csv:1", "`s1` is a switch"]),
        ("h0,h1,5,0\nh0,h1,0,0\n", &["list.csv:2", "`0` is not a size in bytes"]),
        ("h0,h1,1.5,0\n", &["`1.5` is not a size in bytes"]),
        ("h0,h1,5,-1\n", &["`-1` is not a start in microseconds"]),
        ("h0,h1,5,0.0000001\n", &["not a start in microseconds"]),
        ("h0,h1,5,0,gold\n", &["list.csv:1", "no class is called `gold`"]),
        ("src,dst,bytes,start_us\n", &["list.csv:1", "unknown column `bytes`"]),
        ("src,dst,size_bytes\n", &["the column `start_us` is missing"]),
        ("src,dst,size_bytes,start_us\nh0,,5,0", &["list.csv:2", "`dst` is empty"]),
        ("", &["lists no flow"]),
    ] {
        let table = "kind = \"flow-list\"\nfile = \"list.csv\"";
        let shown = read_from(table, &[("list.csv", text)]).unwrap_err().render(false);
        for part in parts {
            assert!(shown.contains(part), "{text}: `{part}` is missing from\n{shown}");
        }
    }
}

#[test]
fn a_distribution_of_ones_own_is_read_and_judged() {
    let toml = "kind = \"poisson\"\nload = 0.5\nsizes = \"mine.csv\"";
    let (plan, recorder) = read_from(toml, &[("mine.csv", "0 0\n1000 50\n2000 100\n")]).unwrap();
    let Generator::Poisson(poisson) = &plan.generator else { panic!("{plan:?}") };
    assert_eq!(poisson.sizes.mean(), 1000.0);
    assert!(recorder.render().contains("sizes = \"input-mine.csv\""), "{}", recorder.render());
    let shown = read_from(toml, &[("mine.csv", "0,0\n1000,0.5\n500,1\n")]).unwrap_err().render(false);
    assert!(shown.contains("mine.csv:3") && shown.contains("sizes must not decrease"), "{shown}");
}

mod anything {
    use super::*;
    use proptest::prelude::*;

    /// Values that fit some key, and some that fit none.
    const VALUES: [&str; 26] = [
        "\"h0\"",
        "\"@s1\"",
        "\"*\"",
        "[\"h1\", \"h[4..6]\"]",
        "\"websearch\"",
        "\"10KB\"",
        "\"1B\"",
        "\"1TB\"",
        "{ kind = \"uniform\", min = \"1B\", max = \"1TB\" }",
        "{ kind = \"pareto\", mean = \"1B\", shape = 1.1 }",
        "{ kind = \"exponential\", mean = \"1TB\" }",
        "\"0s\"",
        "\"1ps\"",
        "\"3ms\"",
        "\"100000s\"",
        "\"1bps\"",
        "\"10Gbps\"",
        "0",
        "1",
        "0.5",
        "-1",
        "nan",
        "9223372036854775807",
        "true",
        "\"random\"",
        "[{ at = \"1ms\", rate = \"1Gbps\" }]",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn no_table_panics_nor_does_its_source(
            example in 0..EXAMPLES.len(),
            changes in proptest::collection::vec((0..keys::TRAFFIC.len(), 0..VALUES.len()), 0..4),
        ) {
            let source = Source::new("a.toml", EXAMPLES[example]);
            let mut entries = tree::parse(&source).unwrap();
            for (key, value) in changes {
                let name = keys::TRAFFIC[key].name;
                if name != "kind" {
                    let set = Source::new("--set", format!("{name}={}", VALUES[value]));
                    tree::set(&mut entries, &set).unwrap();
                }
            }
            let entry = tree::Entry {
                key: "traffic".into(),
                key_place: crate::Place::line(&source, 1),
                item: tree::Item {
                    place: crate::Place::line(&source, 1),
                    value: tree::Value::Array(vec![tree::Item {
                        place: crate::Place::line(&source, 1),
                        value: tree::Value::Table(entries),
                    }]),
                },
            };
            match read_entries(&source, vec![entry], Vec::new()) {
                Err(error) => prop_assert!(!error.render(false).is_empty()),
                Ok((plan, _)) => {
                    play(plan.build(1).as_mut(), 200);
                }
            }
        }
    }
}
