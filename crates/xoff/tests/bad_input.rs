//! Wrong input, seen from outside: exit code 2, the place and a hint on standard error, nothing
//! written anywhere.

use crate::common::{Bench, SMALL, changed, stderr};

/// Gives `bad.toml` to a command, which must refuse it; the message.
fn refused_by(bench: &Bench, command: &[&str], args: &[&str]) -> String {
    let before = bench.entries();
    let output = bench.xoff(&[command, args].concat());
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}\n{}", bench.texts());
    assert!(output.stdout.is_empty());
    assert!(text.starts_with("error: "), "{text}");
    assert_eq!(bench.entries(), before, "something was written");
    text
}

/// Every command that reads a scenario must give the same refusal.
fn refused(bench: &Bench, args: &[&str]) -> String {
    let text = refused_by(bench, &["run", "bad.toml", "--out", "out"], args);
    assert_eq!(refused_by(bench, &["check", "bad.toml"], args), text);
    text
}

/// A change of the small scenario, and what the refusal must say.
fn mistake(from: &str, to: &str, parts: &[&str]) {
    let text = changed(SMALL, from, to);
    let message = refused(&Bench::with("bad.toml", &text), &[]);
    // A line of the change, unless the case names another.
    let first = SMALL[..SMALL.find(from).unwrap()].matches('\n').count() + 1;
    let mut lines = first..=first + to.matches('\n').count();
    let placed = lines.any(|line| message.contains(&format!("bad.toml:{line}:")));
    assert!(placed || parts.iter().any(|part| part.contains("bad.toml:")), "line {first} is missing from\n{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing from\n{message}");
    }
    assert!(message.contains('^') || message.contains("bad.toml:1:1"), "nothing is underlined in\n{message}");
}

#[test]
fn keys() {
    mistake("buffer =", "bufer =", &["unknown key `bufer`", "did you mean `buffer`?"]);
    mistake("[switch]", "[swich]", &["unknown key `swich`", "did you mean `switch`?"]);
    mistake("xoff =", "alpha = 0.5\nxoff =", &["`alpha` has no effect here", "unless threshold = \"static\""]);
    mistake("left = 4", "left = 4\nspines = 2", &["`spines` has no effect here", "leaf-spine"]);
    mistake("flows = 60\n", "flows = 60\ndegree = 3\n", &["`degree` has no effect here", "with kind = \"incast\""]);
    mistake("left = 4\n", "", &["`topology` lacks `left`", "bad.toml:4:"]);
    mistake("left = 4", "left = 4\nleft = 5", &["not valid TOML", "duplicate key"]);
    mistake("name = \"dcqcn\"", "name = \"dcqcn\"\nkmn = \"5KB\"", &["unknown key `kmn`", "did you mean `kmin`?"]);
}

#[test]
fn units_and_values() {
    mistake("delay = \"1us\"", "delay = \"1furlong\"", &["`delay`", "a time such as"]);
    mistake("delay = \"1us\"", "delay = \"1Gbps\"", &["`delay`", "a time such as"]);
    mistake("delay = \"1us\"", "delay = \"1\"", &["`delay` has no unit"]);
    mistake("delay = \"1us\"", "delay = 1", &["`delay` has no unit"]);
    mistake("delay = \"1us\"", "delay = \"-1us\"", &["`delay`", "non-negative"]);
    mistake("delay = \"1us\"", "delay = \"300000km\"", &["`delay`"]);
    mistake("delay = \"1us\"", "delay = \"1h\"", &["`delay`"]);
    mistake("delay = \"1us\"", "delay = \"20s\"", &["no delay of a wire", "at most 10s"]);
    mistake("\"100Gbps\"", "\"0Gbps\"", &["not a possible rate"]);
    mistake("\"100Gbps\"", "\"1bps\"", &["too slow for a link", "at least 1Mbps"]);
    mistake("\"100Gbps\"", "\"1e9Gbps\"", &["rate"]);
    mistake("\"100Gbps\"", "nan", &["`rate`"]);
    mistake("\"5ms\"", "\"0s\"", &["`stop` cannot be zero"]);
    mistake("\"5ms\"", "\"1000000000s\"", &["`stop` is too large"]);
    mistake("\"5ms\"", "\"200000s\"", &["longer than anything here can last"]);
    mistake("left = 4", "left = -4", &["out of range", "whole number from 1"]);
    mistake("left = 4", "left = 4.5", &["`left`", "whole number"]);
    mistake("left = 4", "left = 99999999999999999999", &["`left`"]);
    mistake("left = 4", "left = 1000000", &["1000004 nodes", "bad.toml:4:"]);
    mistake("left = 4", "left = true", &["`left`", "whole number"]);
    mistake("left = 4", "left = 1979-05-27", &["`left`", "a date"]);
    mistake("load = 0.7", "load = 1.01", &["`load` is out of range", "from 0 to 1"]);
    mistake("load = 0.7", "load = nan", &["`load` is out of range"]);
    mistake("load = 0.7", "load = inf", &["`load` is out of range"]);
    mistake("load = 0.7", "load = -0.1", &["`load` is out of range"]);
    mistake("load = 0.7", "offered = \"801Gbps\"", &["times what their links carry"]);
    mistake("flows = 60", "flows = 0", &["`flows` is out of range"]);
    mistake("buffer = \"4MB\"", "buffer = \"1e30MB\"", &["`buffer`"]);
    mistake("every = \"10us\"", "every = \"1ps\"", &["samples"]);
    mistake(
        "stop = \"5ms\"",
        "stop = \"5ms\"\ndeadlock_check = \"1ps\"",
        &["too short to be simulated", "at least 1us"],
    );
    mistake("stop = \"5ms\"", "stop = \"5ms\"\nstall_after = \"1ns\"", &["too short to be simulated"]);
    mistake("buffer = \"4MB\"", "buffer = \"4MB\"\nwatchdog.poll = \"1ns\"", &["too short to be simulated"]);
    mistake("every = \"10us\"", "every = \"0us\"", &["`every` cannot be zero"]);
}

#[test]
fn names() {
    mistake("kind = \"poisson\"", "kind = \"poison\"", &["did you mean `poisson`?"]);
    mistake("name = \"dcqcn\"", "name = \"dcqn\"", &["no scheme is called `dcqn`", "did you mean `dcqcn`?"]);
    mistake("name = \"dcqcn\"", "name = \"dcqcn\"\npreset = \"papr\"", &["did you mean `paper`?"]);
    mistake("sizes = \"hadoop\"", "sizes = \"hadop\"", &["hadop", "did you mean `hadoop`?"]);
    mistake("destinations = \"h7\"", "destinations = \"h8\"", &["no host is called `h8`"]);
    mistake("destinations = \"h7\"", "destinations = \"s0\"", &["s0"]);
    mistake("destinations = \"h7\"", "destinations = \"h[0..8]\"", &["no host is called `h8`", "only 8 of these"]);
    mistake("degree = 6", "degree = 8", &["`degree` asks for 8 senders"]);
    mistake("\"s0->s1\"", "\"s0->s2\"", &["no node is called `s2`"]);
    mistake("\"s0->s1\"", "\"h0->h1\"", &["h0->h1"]);
}

/// A name becomes a directory; it must not lead out of where results go.
#[test]
fn a_name_is_no_path() {
    for name in ["", ".", "..", "../out", "/tmp/x", "a/b", ".hidden", "a\\u0000b", "a\\nb", &"a".repeat(300)] {
        mistake("name = \"small\"", &format!("name = \"{name}\""), &["cannot be a name"]);
    }
}

#[test]
fn switches_that_cannot_be_lossless() {
    mistake("xoff = \"60KB\"", "xoff = \"60KB\"\nheadroom = \"5MB\"", &["the buffer of", "bad.toml:11:"]);
    mistake("buffer = \"4MB\"", "buffer = \"50KB\"", &["the buffer of", "raise `buffer`"]);
    mistake("xoff = \"60KB\"", "xoff = \"60KB\"\nxon = \"61KB\"", &["`xon` is above `xoff`"]);
}

#[test]
fn networks_in_pieces() {
    let custom = |links: &str| {
        changed(
            SMALL,
            "kind = \"dumbbell\"\nleft = 4\nright = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n",
            &format!("kind = \"custom\"\nhosts = \"h[0..7]\"\nswitches = [\"s0\", \"s1\"]\nlink = [{links}]\n"),
        )
    };
    let left = r#"{ a = "h[0..3]", b = "s0", rate = "1Gbps" }"#;
    let right = r#"{ a = "h[4..7]", b = "s1", rate = "1Gbps" }"#;
    let trunk = r#"{ a = "s0", b = "s1", rate = "1Gbps" }"#;
    let message = refused(&Bench::with("bad.toml", custom(&format!("{left}, {right}"))), &[]);
    assert!(message.contains("no way leads from") && message.contains("bad.toml:4:"), "{message}");
    let message = refused(&Bench::with("bad.toml", custom(&format!("{left}, {trunk}"))), &[]);
    assert!(message.contains("the host `h4` has 0 links"), "{message}");
    let bench = Bench::with("good.toml", custom(&format!("{left}, {right}, {trunk}")));
    bench.ok(&["check", "good.toml"]);
    for (domains, message) in [
        (r#"{ switches = "s0" }, { switches = "s1" }"#, ""),
        (r#"{ switches = "s0" }, { switches = "s*" }"#, "the switch `s0` is in two domains"),
        (r#"{ switches = "s0" }"#, "the switch `s1` is in no domain"),
        (r#"{ switches = "s0" }, { switches = "s2" }"#, "s2"),
        (r#"{ switches = "s*", hosts = "h1" }"#, "hosts"),
    ] {
        let set = format!("topology.domain=[{domains}]");
        if message.is_empty() {
            bench.ok(&["check", "good.toml", "--set", &set]);
        } else {
            let said = refused_by(&bench, &["check", "good.toml"], &["--set", &set]);
            assert!(said.contains(message), "{said}");
        }
    }
}

/// More than a machine can hold, or can route in reasonable time.
#[test]
fn gigantic_networks() {
    for topology in [
        r#"{kind="star",hosts=1000001,rate="1Gbps"}"#,
        r#"{kind="fat-tree",k=10000,host_rate="1Gbps"}"#,
        r#"{kind="fat-tree",k=158,host_rate="1Gbps"}"#,
        r#"{kind="chain",switches=300000,hosts_per_switch=1,rate="1Gbps"}"#,
        r#"{kind="leaf-spine",leaves=1000000,spines=1000000,hosts_per_leaf=1000000,host_rate="1Gbps"}"#,
        r#"{kind="clos",pods=900,tors_per_pod=900,aggs_per_pod=900,hosts_per_tor=900,cores=900,host_rate="1Gbps"}"#,
        r#"{kind="custom",hosts="h[0..999999]",switches="s[0..999999]",link=[]}"#,
    ] {
        let began = std::time::Instant::now();
        refused_by(
            &Bench::with("bad.toml", SMALL),
            &["check", "bad.toml"],
            &["--set", &format!("topology={topology}")],
        );
        assert!(began.elapsed().as_secs() < 600, "{topology}");
    }
    for traffic in [
        r#"{kind="burst",sources="h0",destinations="h1",size="1B",flows_per_pair=4294967295}"#,
        r#"{kind="burst",sources="h[0..3]",destinations="h[4..7]",pairing="all",size="1B",flows_per_pair=1000000}"#,
        r#"{kind="long-lived",sources="h0",destinations="h1",flows_per_pair=1000000,stagger="100000s"}"#,
    ] {
        refused(&Bench::with("bad.toml", SMALL), &["--set", &format!("traffic=[{traffic}]")]);
    }
}

#[test]
fn files() {
    let bench = Bench::new();
    let message = refused(&bench, &[]);
    assert!(message.contains("cannot read the scenario `bad.toml`") && message.contains("no such file"), "{message}");

    let bench = Bench::with("bad.toml", [b"name = \"caf".as_slice(), &[0xe9, 0xff], b"\"\n"].concat());
    assert!(refused(&bench, &[]).contains("not UTF-8"));

    let bench = Bench::with("bad.toml", &SMALL[..SMALL.find("dumbbell").unwrap() + 3]);
    assert!(refused(&bench, &[]).contains("bad.toml:5:"));

    let bench = Bench::with("bad.toml", "");
    assert!(refused(&bench, &[]).contains("lacks"));

    let bench = Bench::new();
    std::fs::create_dir(bench.path.join("bad.toml")).unwrap();
    assert!(refused(&bench, &[]).contains("this is a directory"));

    let bench = Bench::new();
    let file = std::fs::File::create(bench.path.join("bad.toml")).unwrap();
    file.set_len(3_000_000_000).unwrap();
    assert!(refused(&bench, &[]).contains("more than"));

    // Deep nesting must not exhaust the stack.
    let bench = Bench::with("bad.toml", format!("name = {}", "[".repeat(200_000)));
    assert!(refused(&bench, &[]).contains("not valid TOML"));
}

/// What has no end is read no further than is allowed.
#[cfg(unix)]
#[test]
fn devices() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("/dev/zero", bench.path.join("bad.toml")).unwrap();
    assert!(refused(&bench, &[]).contains("more than"));
    let bench = Bench::with("bad.toml", changed(SMALL, "sizes = \"hadoop\"", "sizes = \"zero.csv\""));
    std::os::unix::fs::symlink("/dev/zero", bench.path.join("zero.csv")).unwrap();
    assert!(refused(&bench, &[]).contains("more than"));
}

#[test]
fn distributions() {
    for (csv, line, part) in [
        ("0,0\n1000,0.5\n900,1\n", 3, "sizes must not decrease"),
        ("0,0\n1000,0.5\n2000,0.4\n3000,1\n", 3, "probabilities must not decrease"),
        ("0,0\n1000,0.5\n", 2, "the last probability must be 1"),
        ("0,0\n1000,nan\n2000,1\n", 2, "not a finite number"),
        ("0,0\n-5,0.5\n2000,1\n", 2, "not a finite number"),
        ("0,0\n1000\n2000,1\n", 2, "expected two values"),
        ("", 1, "no rows"),
    ] {
        let bench = Bench::with("bad.toml", changed(SMALL, "sizes = \"hadoop\"", "sizes = \"own.csv\""));
        bench.write("own.csv", csv);
        let message = refused(&bench, &[]);
        assert!(message.contains(part) && message.contains(&format!("own.csv:{line}")), "{csv:?}\n{message}");
    }
    mistake("sizes = \"hadoop\"", "sizes = \"own.csv\"", &["cannot read the file", "no such file"]);
}

#[test]
fn flow_lists() {
    for (csv, part) in [
        ("src,dst,size_bytes,start_us\nh0,h9,1000,0\n", "h9"),
        ("src,dst,size_bytes,start_us\nh0,h1,-1,0\n", "-1"),
        ("src,dst,size_bytes,start_us\nh0,h0,10,0\n", "h0"),
        ("src,dst,size_bytes,start_us\nh0,h1,10,nan\n", "nan"),
        ("src,dst,size_bytes,start_us\nh0,h1,10\n", ""),
        ("from,to\n", ""),
    ] {
        let bench = Bench::with("bad.toml", SMALL);
        bench.write("list.csv", csv);
        let message = refused(&bench, &["--set", r#"traffic=[{kind="flow-list",file="list.csv"}]"#]);
        assert!(message.contains(part) && message.contains("list.csv:"), "{csv:?}\n{message}");
    }
}

#[test]
fn the_command_line() {
    let bench = Bench::with("bad.toml", SMALL);
    for (set, part) in [
        ("run.stop", "takes KEY=VALUE"),
        ("=5ms", "takes KEY=VALUE"),
        ("run..stop=5ms", "empty part"),
        ("run.stop=5", "`stop` has no unit"),
        ("run.stopp=5ms", "did you mean `stop`?"),
        ("traffic.9.load=0.5", "has no entry 9"),
        ("traffic.load=0.5", "has no entry load"),
        ("name.x=1", "it has no `x`"),
        ("traffic.0.sizes={", "not valid TOML"),
        ("seed=99999999999999999999", "`seed`"),
    ] {
        let message = refused(&bench, &["--set", set]);
        assert!(
            message.contains(part) && message.contains("--set:1:"),
            "--set {set}: `{part}` is missing from\n{message}"
        );
    }
    for args in [
        &["run"][..],
        &["run", "bad.toml", "--seed", "-1"],
        &["run", "bad.toml", "--quiet", "--json"],
        &["run", "bad.toml", "--out", "x", "--no-out"],
        &["rum", "bad.toml"],
        &["compare", "bad.toml", "--schemes", ""],
        &["compare", "bad.toml", "--schemes", "none,dqcn"],
        &["compare", "bad.toml", "--schemes", "dcqcn:papr"],
        &["schemes", "dqcn"],
        &["describe", "nothing"],
    ] {
        let output = bench.xoff(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).starts_with("error: ") && output.stdout.is_empty(), "{args:?}");
        assert_eq!(bench.entries(), ["bad.toml"], "{args:?}");
    }
}

/// A directory that Xoff did not write is the system's answer, not the scenario's: code 3.
#[test]
fn a_foreign_directory_is_left_alone() {
    let bench = Bench::with("small.toml", SMALL);
    std::fs::create_dir(bench.path.join("thesis")).unwrap();
    bench.write("thesis/chapter.tex", "years of work");
    bench.write("plain", "a file");
    for (out, part) in
        [("thesis", "thesis"), ("plain", "not a directory"), ("plain/below", "plain"), ("/proc/none", "")]
    {
        for command in ["run", "compare"] {
            let output = bench.xoff(&[command, "small.toml", "--out", out]);
            assert_eq!(output.status.code(), Some(3), "{command} {out}");
            assert!(stderr(&output).contains(part), "{command} {out}: {}", stderr(&output));
        }
    }
    assert_eq!(bench.entries(), ["plain", "small.toml", "thesis"]);
    assert_eq!(bench.read("thesis/chapter.tex"), b"years of work");
}

#[test]
fn measures() {
    let with = |measure: &str| format!("[[measure]]\nname = \"m\"\n{measure}\n\n[topology]");
    let refuse = |measure: &str, parts: &[&str]| mistake("[topology]", &with(measure), parts);
    refuse("metric = \"fcts\"", &["no metric is called `fcts`", "did you mean `fct`?"]);
    refuse("metric = \"fct\"\nstat = \"mean\"", &["`measure` lacks `unit`"]);
    refuse("metric = \"drops\"\nof = \"x\"", &["`of` has no effect here", "with metric = \"counter\""]);
    refuse("metric = \"drops\"\nnoise = 1", &["unknown key `noise`"]);
    refuse(
        "metric = \"mean\"\nseries = \"queue\"\nof = \"s1->s0\"\nunit = \"KB\"",
        &["`queue` of `s1->s0` is not probed", "add [[probe]] with what = \"queue\", ports = \"s1->s0\""],
    );
}
