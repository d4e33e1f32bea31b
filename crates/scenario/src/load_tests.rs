use super::*;

const SMALL: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "dumbbell"
left = 2
right = 2
rate = "100Gbps"
[scheme]
name = "dcqcn"
[[traffic]]
kind = "long-lived"
sources = "h[0..1]"
destinations = "h[2..3]"
"#;

pub(super) fn load(text: &str, sets: &[&str]) -> std::result::Result<Loaded, Vec<Diagnostic>> {
    let options = Options { sets: sets.iter().map(|set| (*set).to_owned()).collect(), ..Options::default() };
    Scenario::from_text("test.toml", text, Path::new(".")).load(&options)
}

pub(super) fn shown(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.render(false)).collect::<Vec<_>>().join("\n")
}

/// What a plan is, for comparison.
fn print(loaded: &Loaded) -> String {
    let traffic: Vec<String> = loaded.traffic.iter().map(|plan| format!("{:?}", plan.generator)).collect();
    format!("{:?}\n{:?}\n{traffic:?}\n{:?}", loaded.plan, loaded.schemes, loaded.output)
}

#[test]
fn every_example_loads_and_its_resolved_form_gives_the_same_plan() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/scenarios"));
    let folders = [folder.join("paths"), folder.join("jobs"), folder.to_owned()];
    let mut count = 0;
    for entry in folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        count += 1;
        let scenario = Scenario::open(&path).unwrap();
        let loaded = scenario.load(&Options::default()).unwrap_or_else(|errors| panic!("{}", shown(&errors)));
        let warnings = shown(&loaded.warnings);
        // The planner's question has what xoff warns of: phases that do not overlap.
        let known = loaded.name == "planner" && loaded.warnings.len() == 1 && warnings.contains("phases");
        assert!(warnings.is_empty() || known, "{}: {warnings}", path.display());
        let again =
            load(&loaded.resolved, &[]).unwrap_or_else(|errors| panic!("{}\n{}", shown(&errors), loaded.resolved));
        assert_eq!(print(&again), print(&loaded), "{}", path.display());
        assert_eq!(again.resolved, loaded.resolved, "{}", path.display());
    }
    assert!(count >= 32, "{count} scenarios");
}

#[test]
fn set_changes_the_plan_and_only_what_it_names() {
    let plain = load(SMALL, &[]).unwrap();
    let set = load(SMALL, &["run.stop=2ms", "switch.pfc.alpha=0.5", "seed=9"]).unwrap();
    assert_eq!((set.plan.run.stop, set.plan.seed), (Time::from_ms(2), 9));
    assert_ne!(print(&plain), print(&set));
    let options = Options { seed: Some(5), ..Options::default() };
    let seeded = Scenario::from_text("t", SMALL, Path::new(".")).load(&options).unwrap();
    assert_eq!(seeded.plan.seed, 5);
}

#[test]
fn another_scheme_takes_the_place_of_the_scenarios_own() {
    let text = SMALL.replace("name = \"dcqcn\"", "name = \"dcqcn\"\npreset = \"nic\"");
    let scenario = Scenario::from_text("t", text, Path::new("."));
    let with = |scheme: &str| scenario.load(&Options { scheme: Some(scheme.to_owned()), ..Options::default() });
    assert_eq!(with("none").unwrap().schemes[0].label, "none");
    // The same scheme keeps its parameters, unless a preset is asked for.
    let own = scenario.load(&Options::default()).unwrap();
    assert_eq!(print(&with("dcqcn").unwrap()), print(&own));
    assert_ne!(print(&with("dcqcn:paper").unwrap()), print(&own));
    assert!(shown(&with("dcqnc").unwrap_err()).contains("did you mean `dcqcn`?"));
    assert!(shown(&with("dcqcn:papre").unwrap_err()).contains("did you mean `paper`?"));
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (set, parts) in [
        ("run.stopp=1ms", &["unknown key `stopp`", "did you mean `stop`?"][..]),
        ("run.stop=5", &["`stop` has no unit", "--set"]),
        ("run.deadlock_check=off2", &["does not start with a non-negative"]),
        ("topology.kind=dumbell", &["cannot be \"dumbell\"", "did you mean `dumbbell`?"]),
        ("topology.left=0", &["out of range", "whole number from 1"]),
        ("topology.left=2000000", &["out of range"]),
        ("topology.spines=2", &["`spines` has no effect here", "it applies only with kind = \"leaf-spine\""]),
        ("topology.rate=0bps", &["not a possible rate"]),
        ("topology.delay=20s", &["no delay of a wire", "at most 10s"]),
        ("host.mtu=9999B", &["out of range", "9.216KB"]),
        ("switch.pfc.xoff=1KB", &["`xoff` has no effect here", "with threshold = \"static\""]),
        ("switch.pfc={threshold=\"static\",xoff=\"1KB\",xon=\"2KB\"}", &["`xon` is above `xoff`"]),
        ("switch.pfc={threshold=\"static\"}", &["`switch.pfc` lacks `xoff`"]),
        ("switch.buffer=10KB", &["the buffer of"]),
        ("switch.pfc.pause_time=5us", &["`pause_time` has no effect here", "signalling = \"timed\""]),
        ("scheme.kmni=5KB", &["unknown key `kmni`", "did you mean `kmin`?"]),
        (
            "switch.pfc={signalling=\"timed\",pause_time=\"2us\",refresh=\"1999ns\"}",
            &["would run out before it is refreshed"],
        ),
        ("scheme={name=\"mercury+timely\"}", &["write name = \"mercury\" and base = \"timely\""]),
        ("scheme.base=none", &["`dcqcn` works alone, without a base"]),
        ("scheme.preset=ppaer", &["no preset `ppaer`", "did you mean `paper`?"]),
        ("traffic.0.sources=h9", &["no host is called `h9`"]),
        ("traffic.0.kind=poison", &["did you mean `poisson`?"]),
        ("traffic.0.scheme=dcqnc", &["did you mean `dcqcn`?"]),
        ("traffic.0.class=dota", &["no class is called `dota`", "did you mean `data`?"]),
        ("probe=[{what=\"queue\",ports=\"s0->s9\"}]", &["no node is called `s9`"]),
        ("probe=[{what=\"queue\",ports=\"s0->s1\",every=\"1ps\"}]", &["samples"]),
        ("probe=[{what=\"ingress\",ports=\"h0->s0\"}]", &["hosts keep no ingress account"]),
        ("fault=[{kind=\"rate\",at=\"1us\",link=\"s0->s1\"}]", &["`fault` lacks `rate`"]),
        ("fault=[{kind=\"loss\",at=\"1us\",link=\"s0->s1\",loss=1.5}]", &["out of range"]),
        ("fault=[{kind=\"link-down\",at=\"9us\",until=\"3us\",link=\"s0->s1\"}]", &["not after `at`"]),
        ("class=[{name=\"data\",priority=9}]", &["out of range"]),
        ("class=[]", &["there is no class"]),
        ("class=[{name=\"a\",priority=1},{name=\"b\",priority=2}]", &["mark one with control = true"]),
        ("groups.h0=h1", &["has the name of a node"]),
        ("schemes={a={name=\"rcm\"},b={name=\"rcm\"}}", &["`a` controls the switches already"]),
        ("schemes.x.name=hpcccc", &["no scheme is called `hpcccc`"]),
        ("seed=-1", &["out of range"]),
        ("nonsense=1", &["unknown key `nonsense`"]),
    ] {
        let text = match load(SMALL, &[set]) {
            Err(errors) => shown(&errors),
            Ok(_) => panic!("{set} was accepted"),
        };
        for part in parts {
            assert!(text.contains(part), "--set {set}: `{part}` is missing from\n{text}");
        }
    }
}

#[test]
fn several_mistakes_are_told_at_once() {
    let errors = load(SMALL, &["run.stop=5", "topology.left=0", "host.mtu=1B"]).unwrap_err();
    assert_eq!(errors.len(), 3, "{}", shown(&errors));
    let errors = load(SMALL, &["run.stop=5", "swich.buffer=1MB"]).unwrap_err();
    assert!(errors.len() == 2 && shown(&errors).contains("did you mean `switch`?"), "{}", shown(&errors));
}

#[test]
fn a_run_must_end() {
    let endless = SMALL.replace("stop = \"1ms\"", "");
    assert!(shown(&load(&endless, &[]).unwrap_err()).contains("this run would never end"));
    load(&endless, &["traffic.0.size=1MB"]).unwrap();
    let idle = load(&endless, &["traffic.0.size=1MB", "run.stop_when_idle=false"]).unwrap_err();
    assert!(shown(&idle).contains("this run would never end"));
    let empty = SMALL.split("[[traffic]]").next().unwrap();
    assert!(shown(&load(empty, &[]).unwrap_err()).contains("has no traffic"));
}

#[test]
fn custom_networks_must_hang_together() {
    let text = |links: &str| {
        format!(
            "[run]\nstop=\"1ms\"\n[topology]\nkind=\"custom\"\nhosts=[\"A\",\"B\"]\nswitches=[\"S\",\"T\"]\n{links}\n\
             [[traffic]]\nkind=\"long-lived\"\nsources=\"A\"\ndestinations=\"B\"\n"
        )
    };
    let link = |a: &str, b: &str| format!("[[topology.link]]\na=\"{a}\"\nb=\"{b}\"\nrate=\"10Gbps\"\n");
    let fails = |links: &str, part: &str| {
        let shown = shown(&load(&text(links), &[]).unwrap_err());
        assert!(shown.contains(part), "`{part}` is missing from\n{shown}");
    };
    load(&text(&(link("A", "S") + &link("B", "T") + &link("S", "T"))), &[]).unwrap();
    fails(&(link("A", "S") + &link("B", "T")), "no way leads from");
    fails(&(link("A", "S") + &link("A", "T") + &link("S", "T")), "the host `A` has 2 links");
    fails(&link("A", "B"), "linked to each other");
    fails(&link("A", "A"), "links a node to itself");
    fails(&link("A", "X"), "no node is called `X`");
    fails("", "has no links");
}

#[test]
fn profiles_differ_only_in_what_they_say() {
    let loaded = load(
        SMALL,
        &[
            "switch_profile=[{select=\"s1\",buffer=\"64MB\"}]",
            "host_profile=[{select=\"@s1\",ack_every=4}]",
            "switch.watchdog={poll=\"1ms\"}",
        ],
    )
    .unwrap();
    let (base, other) = (&loaded.plan.switches[0], &loaded.plan.switches[1]);
    assert_eq!((base.buffer_bytes, other.buffer_bytes), (12_000_000, 64_000_000));
    assert_eq!(base.watchdog, other.watchdog);
    let profile = |name: &str| loaded.plan.nodes.iter().find(|node| node.name == name).unwrap().profile;
    assert_eq!(["s0", "s1", "h0", "h3"].map(profile), [0, 1, 0, 1]);
    assert_eq!((loaded.plan.hosts[0].ack_every, loaded.plan.hosts[1].ack_every), (1, 4));
}

#[test]
fn without_a_lossless_class_pfc_settings_are_refused() {
    let lossy = "class=[{name=\"data\",priority=3,lossless=false},{name=\"control\",priority=6,lossless=false}]";
    load(SMALL, &[lossy]).unwrap();
    let errors = load(SMALL, &[lossy, "switch.pfc.alpha=0.5"]).unwrap_err();
    assert!(shown(&errors).contains("`pfc` has no effect here"), "{}", shown(&errors));
}

#[test]
fn a_resolved_scenario_stands_alone_with_its_files() {
    let folder = std::env::temp_dir().join(format!("xoff-alone-{}", std::process::id()));
    let (first, second) = (folder.join("first/sizes"), folder.join("second"));
    std::fs::create_dir_all(&first).unwrap();
    std::fs::create_dir_all(&second).unwrap();
    std::fs::write(first.join("my sizes.csv"), "1000,0\n2000,1\n").unwrap();
    let poisson = "kind = \"poisson\"\nsizes = \"sizes/my sizes.csv\"\nload = 0.5\nflows = 10\n";
    let text = SMALL.replace("kind = \"long-lived\"", poisson);
    let load = |text: &str, base: &Path| {
        let loaded = Scenario::from_text("t", text, base).load(&Options::default());
        loaded.unwrap_or_else(|errors| panic!("{}", shown(&errors)))
    };
    let loaded = load(&text, &folder.join("first"));
    assert_eq!(loaded.attachments[0].name, "input-my_sizes.csv");
    for file in &loaded.attachments {
        std::fs::write(second.join(&file.name), &file.source.text).unwrap();
    }
    let again = load(&loaded.resolved, &second);
    assert_eq!(print(&again), print(&loaded));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn files_are_guarded() {
    let path = std::env::temp_dir().join(format!("xoff-load-{}.toml", std::process::id()));
    assert!(Scenario::open(&path).unwrap_err().render(false).contains("no such file"));
    std::fs::write(&path, [0xff, 0x00]).unwrap();
    assert!(Scenario::open(&path).unwrap_err().render(false).contains("not UTF-8"));
    std::fs::write(&path, "[run\n").unwrap();
    let errors = Scenario::open(&path).unwrap().load(&Options::default()).unwrap_err();
    assert!(shown(&errors).contains("not valid TOML"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn an_index_of_fairness_has_no_unit() {
    let measures = |rows: &str| {
        let text = format!("{SMALL}[[probe]]\nwhat = \"flows\"\nevery = \"10us\"\n{rows}");
        load(&text, &[]).map(|loaded| loaded.measures.units())
    };
    let row = |name: &str, rest: &str| format!("[[measure]]\nname = \"{name}\"\n{rest}\n");
    let goodput = |rest: &str| format!("metric = \"flow-goodput\"\n{rest}");
    let series = |rest: &str| format!("metric = \"mean\"\nseries = \"throughput\"\nof = \"long-lived-0\"\n{rest}");
    let rows = [
        row("jain", &goodput("stat = \"jain\"")),
        row("cv", &goodput("stat = \"cv\"")),
        // As it was demanded before.
        row("old", &goodput("stat = \"jain\"\nunit = \"Gbps\"")),
        row("both", &goodput("stat = [\"mean\", \"jain\"]\nunit = \"Gbps\"")),
        row("across", &series("across = \"jain\"")),
        row("each", &series("across = \"each\"\ncombine = \"jain\"\nunit = \"Gbps\"")),
    ];
    let units = measures(&rows.concat()).unwrap_or_else(|errors| panic!("{}", shown(&errors)));
    for (name, unit) in &units {
        assert_eq!(unit, if name == "both.mean" { "Gbps" } else { "" }, "{name}");
    }
    assert_eq!(units.len(), 7);
    let refused = measures(&row("mean", &goodput("stat = [\"mean\", \"jain\"]"))).unwrap_err();
    assert!(shown(&refused).contains("unit"), "{}", shown(&refused));
}
