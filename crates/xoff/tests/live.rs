//! `xoff live` from outside: real frames where this machine lets namespaces be made, refusals everywhere.
#![cfg(target_os = "linux")]

mod common;

use common::{Bench, changed, entries, stderr};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use xoff_engine::rng::stream;
use xoff_yardstick::{found, plain_python, skip, tshark};

/// Two flows to one host, and one the other way; at `K`, about a tenth of a second.
const SMALL: &str = r#"name = "small-live"
[run]
stop = "3ms"
[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"
[switch]
buffer = "1MB"
[switch.pfc]
threshold = "static"
xoff = "20KB"
xon = "18KB"
[scheme]
name = "dcqcn"
[[traffic]]
kind = "flows"
flow = [
    { src = "h0", dst = "h2", size = "60001B" },
    { src = "h1", dst = "h2", size = "60KB", start = "1us" },
    { src = "h2", dst = "h0", size = "30KB", start = "2us" },
]
[[capture]]
name = "all"
ports = "*->*"
[output]
figures = false
"#;

/// What to do where namespaces are refused.
const ROOT: &str = "as root, or with CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN";

/// 10 Gb/s become 10 Mb/s, a frame each millisecond: easy for a busy machine.
const K: [&str; 4] = ["--dilation", "1000", "--max-frozen", "100%"];

static RUNS: RwLock<()> = RwLock::new(());

/// No other live run of this program, where times or what is left behind are looked at.
fn alone() -> RwLockWriteGuard<'static, ()> {
    RUNS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Beside other live runs that do not mind.
fn beside_others() -> RwLockReadGuard<'static, ()> {
    RUNS.read().unwrap_or_else(PoisonError::into_inner)
}

/// A bench on which `xoff live` runs; `None`, said loudly, where it may not.
fn bench() -> Option<Bench> {
    let bench = Bench::with("s.toml", SMALL);
    let tiny = ["live", "s.toml", "--no-out", "--quiet", "--set", "run.stop=1us"];
    let output = bench.xoff(&[&tiny[..], &K].concat());
    if output.status.code() == Some(3) {
        skip(stderr(&output).trim(), ROOT);
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    found(Ok(bench))
}

fn json(bench: &Bench, name: &str) -> Value {
    serde_json::from_slice(&bench.read(name)).unwrap()
}

#[test]
fn a_run_is_whole_and_near_its_simulation() {
    let _alone = alone();
    let Some(bench) = bench() else { return };
    let said = bench.ok(&[&["live", "s.toml", "--out", "live", "--json"][..], &K].concat());
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["live_timing"]["time_dilation_factor"], 1000.0, "{said}");
    bench.ok(&["run", "s.toml", "--out", "simulated", "--quiet"]);
    let mut expected = entries(&bench.path.join("simulated"));
    expected.push("live.parquet".to_owned());
    expected.sort();
    assert_eq!(entries(&bench.path.join("live")), expected);
    let run = json(&bench, "live/run.json");
    assert_eq!((&run["flows_completed"], &run["drops_lossless"]), (&Value::from(3), &Value::from(0)), "{run}");
    assert_eq!(run["live_timing"]["frames"]["lost"], 0, "{run}");
    assert_eq!(run["live_timing"]["ignored"], Value::Array(Vec::new()), "{run}");
    let beside: Value =
        serde_json::from_str(&bench.ok(&["compare-live", "live", "--json", "--out", "beside"])).unwrap();
    let mut compared = 0;
    for number in beside["numbers"].as_array().unwrap() {
        if let Some(distance) =
            number["distance_percent"].as_f64().filter(|_| number["about"].as_str().unwrap().contains("completion"))
        {
            assert!(distance.abs() < 10.0, "{number}");
            compared += 1;
        }
    }
    assert!(compared > 3, "{beside}");
}

/// The packets of a capture, in order.
fn packets(file: &[u8]) -> Vec<Vec<u8>> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let (mut at, mut packets) = (0, Vec::new());
    while at < file.len() {
        // An enhanced packet block: its packet follows seven words.
        if word(at) == 6 {
            packets.push(file[at + 28..at + 28 + word(at + 20)].to_vec());
        }
        at += word(at + 4);
    }
    packets
}

/// Data packets of the first flow, by their base transport header: queue pair 16, and neither an ACK nor a CNP.
fn first_flow(bench: &Bench, run: &str) -> Vec<Vec<u8>> {
    let mut packets = packets(&bench.read(&format!("{run}/captures/all.pcapng")));
    let is_ours = |packet: &Vec<u8>| packet[47..50] == [0, 0, 16] && ![0x11, 0x81].contains(&packet[42]);
    packets.retain(|packet| packet.len() > 50 && is_ours(packet));
    packets
}

#[test]
fn frames_are_those_of_the_simulation() {
    let _others = beside_others();
    let Some(bench) = bench() else { return };
    bench.ok(&[&["live", "s.toml", "--out", "live", "--quiet"][..], &K].concat());
    bench.ok(&["run", "s.toml", "--out", "simulated", "--quiet"]);
    let (live, simulated) = (first_flow(&bench, "live"), first_flow(&bench, "simulated"));
    // Each is captured twice: as it leaves the NIC, and as it leaves the switch.
    assert_eq!((live.len(), simulated.len()), (122, 122));
    let without_marks = |packet: &Vec<u8>| {
        let mut packet = packet.clone();
        // ECN, and the check sum of the IPv4 header that follows from it.
        packet[15] &= !3;
        packet[24..26].fill(0);
        packet
    };
    let sorted = |packets: &[Vec<u8>]| {
        let mut packets: Vec<_> = packets.iter().map(without_marks).collect();
        packets.sort();
        packets
    };
    assert_eq!(sorted(&live), sorted(&simulated));
}

#[test]
fn tshark_finds_no_frame_malformed() {
    let _others = beside_others();
    let (Some(bench), Some(tshark)) = (bench(), found(tshark())) else { return };
    bench.ok(&[&["live", "s.toml", "--out", "live", "--quiet", "--scheme", "hpcc"][..], &K].concat());
    let file = bench.path.join("live/captures/all.pcapng");
    let tshark = |filter: &str| {
        let mut command = Command::new(tshark);
        command.arg("-r").arg(&file).args(["-o", "ip.check_checksum:TRUE", "-Y", filter]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let all = tshark("frame").lines().count();
    assert_eq!(all as u64, json(&bench, "live/run.json")["live_timing"]["frames"]["sent"].as_u64().unwrap());
    assert_eq!(tshark("_ws.malformed || ip.checksum.status == 0"), "");
    assert!(tshark("infiniband").lines().count() > all / 2);
}

/// One flow over four spines, by 64 entropies, with a receiver that takes packets in any order.
const SPRAYED: &str = r#"name = "sprayed-live"
[run]
stop = "4ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 4
hosts_per_leaf = 1
host_rate = "10Gbps"
[routing]
mode = "spray"
entropies = 64
[model]
ecmp = "murmur3"
[host]
recovery = "sack"
[switch]
buffer = "1MB"
[[class]]
name = "data"
priority = 3
lossless = false
queue_limit = "100KB"
[[class]]
name = "control"
priority = 6
lossless = false
control = true
[scheme]
name = "nscc"
[[traffic]]
kind = "flows"
flow = [{ src = "h0", dst = "h1", size = "200KB" }]
[[capture]]
name = "all"
ports = "*->*"
[output]
figures = false
"#;

/// A sender draws the UDP source port of each packet, and switches hash it.
#[test]
fn senders_choose_paths_by_the_source_port() {
    let _others = beside_others();
    let (Some(bench), Some(tshark)) = (bench(), found(tshark())) else { return };
    bench.write("sprayed.toml", SPRAYED);
    let reps = ["--set", "routing.mode=reps", "--set", "host.ack_path=entropy"];
    for (name, sets, of_acks) in [("spray", &[][..], 1), ("reps", &reps[..], 10)] {
        bench.ok(&[&["live", "sprayed.toml", "--out", name, "--quiet"][..], &K, sets].concat());
        let run = json(&bench, &format!("{name}/run.json"));
        assert_eq!(
            (&run["flows_completed"], &run["drops"], &run["timeouts"]),
            (&1.into(), &0.into(), &0.into()),
            "{run}"
        );
        assert_eq!(run["live_timing"]["ignored"], Value::Array(Vec::new()), "{run}");
        let file = bench.path.join(format!("{name}/captures/all.pcapng"));
        let ports = |filter: &str| {
            let mut command = Command::new(tshark);
            command.arg("-r").arg(&file).args(["-Y", filter, "-T", "fields", "-e", "frame.interface_name"]);
            let output = command.args(["-e", "udp.srcport"]).output().unwrap();
            assert!(output.status.success(), "{}", stderr(&output));
            let text = String::from_utf8(output.stdout).unwrap();
            let row = |line: &str| line.split_once('\t').map(|(link, port)| (link.to_owned(), port.parse().unwrap()));
            text.lines().filter_map(row).collect::<Vec<(String, u16)>>()
        };
        let data = ports("infiniband.bth.opcode != 17 && frame.interface_name matches \"leaf0->spine\"");
        assert!(data.len() >= 200, "{} packets", data.len());
        let links: BTreeSet<&str> = data.iter().map(|(link, _)| link.as_str()).collect();
        assert_eq!(links.len(), 4, "{links:?}");
        let by_port: BTreeMap<u16, &str> = data.iter().map(|(link, port)| (*port, link.as_str())).collect();
        assert!(data.iter().all(|(link, port)| by_port[port] == link), "a switch hashes ports and nothing else");
        let (first, last) = (by_port.keys().min().unwrap(), by_port.keys().max().unwrap());
        assert!(by_port.len() >= 40 && last - first < 64, "{by_port:?}");
        let acks = ports("infiniband.bth.opcode == 17 && frame.interface_name matches \"h1->\"");
        let acked: BTreeSet<u16> = acks.iter().map(|(_, port)| *port).collect();
        assert!(acked.len() >= of_acks && acked.is_subset(&by_port.keys().copied().collect()), "{acked:?}");
        assert!(of_acks > 1 || acked.len() == 1, "{acked:?}");
    }
}

/// Frames are lost between namespaces, and the answers that name single packets are longer: 12 bytes with a bitmap, 4
/// with a PSN alone. tshark reads all of them.
#[test]
fn selective_recovery_names_the_frames_that_were_lost() {
    let _others = beside_others();
    let (Some(bench), Some(tshark)) = (bench(), found(tshark())) else { return };
    let lossy = SPRAYED.replace("stop = \"4ms\"", "stop = \"20ms\"").replace("size = \"200KB\"", "size = \"400KB\"");
    bench.write("lossy.toml", lossy + "[[topology.override]]\nlinks = \"leaf0->spine*\"\nloss = 0.02\n");
    let sack = ["host.retransmit_timeout=300us"];
    let irn = ["routing.mode=ecmp", "routing.entropies=null", "scheme.name=none", "host.recovery=irn"];
    for (name, sets, longer) in [("sack", &sack[..], 12), ("irn", &irn[..], 4)] {
        let sets: Vec<&str> = sets.iter().flat_map(|&set| ["--set", set]).collect();
        bench.ok(&[&["live", "lossy.toml", "--out", name, "--quiet"][..], &K, &sets[..]].concat());
        let run = json(&bench, &format!("{name}/run.json"));
        let count = |key: &str| run[key].as_u64().unwrap();
        assert_eq!((count("flows_completed"), &run["live_timing"]["ignored"]), (1, &Value::Array(Vec::new())), "{run}");
        // Every frame that was lost is sent again once, or oftener where a copy was lost too.
        assert!(count("drops_fault") > 2 && count("packets_retransmitted") >= count("drops_fault"), "{run}");
        assert_eq!(count("naks") > 0, name == "irn", "IRN answers what is out of order by NACKs");
        let file = bench.path.join(format!("{name}/captures/all.pcapng"));
        let read = |filter: &str| {
            let mut command = Command::new(tshark);
            command.arg("-r").arg(&file).args(["-Y", filter, "-T", "fields", "-e", "frame.len"]);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", stderr(&output));
            String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect::<Vec<u64>>()
        };
        assert!(read("_ws.malformed").is_empty());
        let answers = read("infiniband.bth.opcode == 17 && frame.interface_name matches \"h1->\"");
        let (least, most) = (answers.iter().min().unwrap(), answers.iter().max().unwrap());
        assert_eq!(most - least, longer, "{name}: {answers:?}");
    }
}

#[test]
fn a_command_in_a_namespace_sees_frames() {
    let _others = beside_others();
    let Some(bench) = bench() else { return };
    let Some(_) = found(plain_python()) else { return };
    let script = "import socket\ns = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))\n\
                  s.settimeout(30)\nfor _ in range(5): s.recv(9000)\nprint('saw frames on', *sorted(n for _, n in socket.if_nameindex()))\n";
    bench.write("look.py", script);
    // Slow enough for a program to start meanwhile: some seconds.
    let args =
        ["live", "s.toml", "--no-out", "--dilation", "50000", "--max-frozen", "100%", "--shell", "h0=python3 look.py"];
    let said = bench.ok(&args);
    assert!(said.contains("saw frames on lo to-sw"), "{said}");
}

#[test]
fn a_machine_that_is_too_slow_says_so() {
    let _alone = alone();
    let Some(bench) = bench() else { return };
    let output = bench.xoff(&["live", "s.toml", "--out", "live", "--dilation", "1", "--json"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("machine kept up") && text.contains("raise the time scale"), "{text}");
    let run = json(&bench, "live/run.json");
    assert!(run["live_timing"]["verdict"].to_string().contains("too_slow"), "{run}");
    let report = String::from_utf8(bench.read("live/report.html")).unwrap();
    assert!(report.contains("too slow"), "the report does not say so");
}

#[test]
fn without_rights_it_is_refused_with_what_to_do() {
    let bench = Bench::with("s.toml", SMALL);
    let mut command = bench.command(&["live", "s.toml", "--no-out", "--dilation", "1000"]);
    // `nobody`
    let output = match command.uid(65_534).gid(65_534).output() {
        Ok(output) => output,
        Err(error) => return skip(&format!("as another user: {error}"), ROOT),
    };
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("live runs need CAP_NET_ADMIN") && text.contains("hint: run it with sudo"), "{text}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let bench = Bench::with("s.toml", SMALL);
    let reads =
        "[[traffic]]\nkind = \"synchronised-reads\"\nclients = \"h0\"\nservers = \"h1\"\nunit = \"10KB\"\nblocks = 2\n";
    bench.write("reacts.toml", SMALL.to_owned() + reads);
    bench.write("sprayed.toml", SPRAYED);
    let wall = ["--clock", "realtime", "--dilation", "1000"];
    let attach = |node: &'static str| [&["s.toml", "--attach", "lo", "--as", node][..], &wall].concat();
    let cases: [(Vec<&str>, &[&str]); 17] = [
        (vec!["s.toml", "--nice", "30"], &["30 is not in -20..=19"]),
        (vec!["s.toml", "--nice", "-5", "--no-nice"], &["cannot be used with"]),
        (vec!["s.toml", "--wait", "5s"], &["--attach"]),
        (vec!["s.toml", "--dilation", "0.5"], &["neither a number from 1 to 1e9 nor `auto`"]),
        (vec!["s.toml", "--dilation", "fast"], &["neither a number from 1 to 1e9 nor `auto`"]),
        (vec!["s.toml", "--max-frozen", "200%"], &["is not a share such as 2%"]),
        (vec!["s.toml", "--shell", "h9=true"], &["there is no node `h9`", "h0"]),
        (attach("h9"), &["there is no node `h9`"]),
        (attach("sw"), &["`sw` has 3 ports", "--attach 'sw->h0=lo'"]),
        (
            vec!["s.toml", "--attach", "lo", "--as", "h0", "--dilation", "1000"],
            &["cannot be frozen", "--clock realtime"],
        ),
        (
            vec!["s.toml", "--attach", "lo", "--as", "h0", "--clock", "realtime"],
            &["--dilation auto", "--dilation 1000"],
        ),
        ([&["reacts.toml", "--attach", "lo", "--as", "h0"][..], &wall].concat(), &["all nodes in one process"]),
        (vec!["s.toml", "--set", "model.event_order=insertion"], &["model.event_order", "leave it out"]),
        (vec!["s.toml", "--set", "output.flow_links=true"], &["output.flow_links", "leave it out"]),
        (
            vec!["sprayed.toml", "--set", "routing={mode=\"adaptive\"}"],
            &["switches here hash the five-tuple", "routing.mode=spray"],
        ),
        (vec!["sprayed.toml", "--set", "routing.entropy_map=path"], &["switches here hash entropies"]),
        (vec!["sprayed.toml", "--set", "routing.mode=reps"], &["by its own UDP source port", "host.ack_path=entropy"]),
    ];
    for (args, words) in cases {
        let output = bench.xoff(&[&["live"][..], &args].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{args:?}: {text}");
        }
    }
}

/// Two hosts and their switch in three processes, over two pairs of interfaces in a namespace of their own; `$H1` is what
/// the second host is started with, nothing if it is not.
const ATTACHED: &str = r#"
ip link add a0 type veth peer name a1 && ip link add b0 type veth peer name b1 || exit 77
for link in a0 a1 b0 b1; do ip link set $link mtu 2000 up || exit 77; done
live() { name=$1; shift; "$XOFF" live s.toml --clock realtime --max-frozen 100% --json --as $name --out $name "$@" > $name.json 2> $name.txt; }
live h0 --dilation 20000 --wait $WAIT --attach a0 & h0=$!
live sw --dilation 20000 --wait $WAIT --attach 'sw->h0=a1' --attach 'sw->h1=b1' & sw=$!
h1=; if [ -n "$H1" ]; then sleep $LATE; live h1 $H1 --wait $WAIT --attach b0 & h1=$!; fi
wait $h0; echo h0 $?; wait $sw; echo sw $?; [ -z "$h1" ] || { wait $h1; echo h1 $?; }
for name in h0 sw h1; do cat $name.txt 2> /dev/null; done
"#;

/// What three processes left and said; `None`, said loudly, where they may not be started.
fn attached(h1: &str, wait: &str, late: &str) -> Option<(Bench, String)> {
    bench()?;
    let scenario = changed(&changed(SMALL, "hosts = 3", "hosts = 2"), "stop = \"3ms\"", "stop = \"150us\"");
    let flows = scenario.find("flow = [").unwrap();
    let flow = "flow = [{ src = \"h0\", dst = \"h1\", size = \"30KB\" }]\n[output]\nfigures = false\n";
    let bench = Bench::with("s.toml", format!("{}{flow}", &scenario[..flows]));
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", ATTACHED]).current_dir(&bench.path);
    command.env("XOFF", env!("CARGO_BIN_EXE_xoff")).env("H1", h1).env("WAIT", wait).env("LATE", late);
    let Ok(output) = command.output() else {
        skip("there is no `unshare`", "apt-get install util-linux");
        return None;
    };
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
    if output.status.code() == Some(77) {
        skip(&format!("`ip` makes no interfaces: {}", text.trim()), "apt-get install iproute2; as root");
        return None;
    }
    Some((bench, text))
}

/// Whether a check of a run holds.
fn holds(run: &Value, check: &str) -> bool {
    let checks = run["checks"].as_array().unwrap();
    let found = checks.iter().find(|of| of["name"] == check).unwrap_or_else(|| panic!("no `{check}`: {checks:?}"));
    found["held"] == true
}

#[test]
fn three_processes_make_a_network_and_wait_for_each_other() {
    let _others = beside_others();
    let Some((bench, text)) = attached("--dilation 20000", "60s", "2") else { return };
    for name in ["h0", "sw", "h1"] {
        let run = json(&bench, &format!("{name}/run.json"));
        for check in [
            "bytes conserved",
            "bytes conserved over all partners",
            "counters of all partners received",
            "no foreign frames",
        ] {
            assert!(holds(&run, check), "{name}: {check}\n{text}\n{run}");
        }
        // A busy machine is late, which its clock cannot hide here; nothing else may be wrong.
        let code = if holds(&run, "machine kept up") { 0 } else { 1 };
        assert!(text.contains(&format!("{name} {code}\n")), "{text}");
        let partners = &run["live_timing"]["partners"];
        assert_eq!((&partners["acknowledged_bytes"], &partners["delivered_bytes"]), (&30_000.into(), &30_000.into()));
    }
    let run = json(&bench, "h0/run.json");
    assert_eq!((&run["flows_completed"], &run["packets_sent"]), (&Value::from(1), &Value::from(30)), "{text}\n{run}");
    assert_eq!(json(&bench, "h1/run.json")["delivered_bytes"], 30_000, "{text}");
    assert!(json(&bench, "sw/run.json")["packet_hops"].as_u64().unwrap() >= 60, "{text}");
}

#[test]
fn a_partner_that_is_absent_or_runs_something_else_is_named() {
    let _others = beside_others();
    let cases = [
        ("", "2s", "nothing was heard of h1 within 2 s"),
        ("--dilation 20000 --set traffic.0.flow.0.size=60KB", "60s", "h1 runs another scenario"),
        ("--dilation 10000", "60s", "h1 has k = 10000, here it is 20000"),
    ];
    for (h1, wait, words) in cases {
        let Some((bench, text)) = attached(h1, wait, "0") else { return };
        assert!(text.contains("h0 1\n") && text.contains("sw 1\n") && !text.contains("h1 0\n"), "{text}");
        assert!(text.contains(words), "{words}: {text}");
        assert!(!bench.path.join("h0").exists(), "nothing was run");
    }
}

#[test]
fn precedence_is_said_and_optional() {
    let _others = beside_others();
    let Some(bench) = bench() else { return };
    let scheduling = |args: &[&str]| {
        let tiny = ["live", "s.toml", "--no-out", "--set", "run.stop=1us", "--json"];
        let said: Value = serde_json::from_str(&bench.ok(&[&tiny[..], &K, args].concat())).unwrap();
        said["live_timing"]["scheduling"].as_str().unwrap().to_owned()
    };
    assert_eq!(scheduling(&["--no-nice"]), "ordinary");
    assert_eq!(scheduling(&["--nice", "5"]), "nice level 5");
    // Root of a namespace need not be granted it.
    assert!(scheduling(&[]).contains("nice level -20"));
    let said = bench.xoff(&[&["live", "s.toml", "--no-out", "--set", "run.stop=1us"][..], &K].concat());
    assert!(stderr(&said).contains("nice level -20") && stderr(&said).contains("--no-nice"), "{}", stderr(&said));
}

const KILLS: u32 = 51;

/// Processes that were started in a folder and are still there.
fn processes_in(folder: &Path) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes.filter(|process| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder)).collect()
}

/// Interfaces of this machine, and mounts of namespaces.
fn belongings() -> (Vec<String>, usize) {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    (entries(Path::new("/sys/class/net")), mounts.matches(" nsfs ").count())
}

fn signalled(mut child: Child, signal: &str) {
    // It may be over already.
    common::signal(signal, child.id());
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(600), "{signal} does not end it");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn runs_that_are_killed_leave_nothing() {
    let _alone = alone();
    let Some(bench) = bench() else { return };
    let long = changed(SMALL, "size = \"60001B\"", "size = \"10MB\"");
    bench.write("long.toml", changed(&long, "stop = \"3ms\"", "stop = \"1s\""));
    let folder = bench.path.canonicalize().unwrap();
    let before = belongings();
    std::thread::scope(|scope| {
        for signal in ["-KILL", "-INT", "-TERM"] {
            let bench = &bench;
            scope.spawn(move || {
                let mut random = stream(5, signal, 0);
                for _ in 0..KILLS / 3 {
                    let args = [&["live", "long.toml", "--out", "out", "--quiet"][..], &K].concat();
                    let child = common::spawn_with_signals(bench.command(&args).stderr(Stdio::null()));
                    // From before anything is built to long after frames have begun to flow.
                    std::thread::sleep(Duration::from_millis(400).mul_f64(random.unit()));
                    signalled(child, signal);
                }
            });
        }
    });
    assert_eq!(processes_in(&folder), Vec::<PathBuf>::new());
    assert_eq!(belongings(), before);
    // What a killed writer left is known for what it is a moment later, and goes with the next run of that name.
    std::thread::sleep(Duration::from_millis(1100));
    bench.ok(&[&["live", "s.toml", "--out", "out", "--quiet"][..], &K].concat());
    assert_eq!(bench.entries(), ["long.toml", "out", "s.toml"]);
}
