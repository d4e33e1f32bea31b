//! Pages in a real browser: the replay of the victim-flow comparison, and hostile names; with `XOFF_TESTS=all` also the
//! replay of a training job and of a large run, and every kind of report. The browser's half is
//! `web/test/browser/`; here its data are made, and what tables say is read for it.
//!
//! Chromium and what the tests need from npm are installed where they are missing. `XOFF_SCREENSHOTS=DIR` keeps pictures.

use crate::common::Bench;
use crate::common::table::Table;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use xoff_yardstick::{Missing, every_case, found, lock, program};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A server that ends with the test.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn of(bench: &Bench, directory: &str) -> Server {
        let mut child = bench.command(&["view", directory, "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).expect("the server says where it is");
        Server { child, url: told["url"].as_str().unwrap().to_owned() }
    }

    /// The most memory that it ever held.
    fn peak_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The port at the other end, which is the one that a PAUSE stops.
fn other_end(port: &str) -> String {
    let (from, to) = port.split_once("->").unwrap();
    format!("{to}->{from}")
}

/// What the tables of a run say: when each port was first stopped, in that order; all stops; the peaks of queues.
fn truth(run: &Path, end_us: f64) -> Value {
    let pauses = Table::read(&run.join("pauses.parquet"));
    let rows = pauses.reals("time_us").into_iter().flatten().zip(pauses.words("port")).zip(pauses.words("event"));
    let mut first: Vec<(f64, String)> = Vec::new();
    let (mut open, mut stops) = (BTreeMap::new(), Vec::new());
    for ((at, port), event) in rows {
        let port = other_end(&port);
        if event == "pause" {
            if !first.iter().any(|(_, known)| *known == port) {
                first.push((at, port.clone()));
            }
            open.insert(port, at);
        } else if let Some(from) = open.remove(&port) {
            stops.push(json!({ "port": port, "from_us": from, "until_us": at }));
        }
    }
    stops.extend(open.iter().map(|(port, from)| json!({ "port": port, "from_us": from, "until_us": end_us })));
    let ports = Table::read(&run.join("ports.parquet"));
    let peaks = ports.integers("queue_peak_bytes");
    let peaks: BTreeMap<String, i64> = ports.words("port").into_iter().zip(peaks).collect();
    let first: Vec<Value> = first.iter().map(|(at, port)| json!({ "port": port, "at_us": at })).collect();
    json!({ "name": run.file_name().unwrap().to_string_lossy(), "pauses": first, "stops": stops, "peaks": peaks })
}

/// 512 hosts, some 50,000 small flows, incasts that PFC stops.
const LARGE: &str = r#"
name = "large"
[topology]
kind = "leaf-spine"
leaves = 16
spines = 8
hosts_per_leaf = 32
host_rate = "100Gbps"
fabric_rate = "400Gbps"
[switch.pfc]
threshold = "static"
xoff = "256KB"
xon = "250KB"
[scheme]
name = "dcqcn"
[[traffic]]
kind = "poisson"
name = "background"
sizes = "20KB"
load = 0.001
until = "100ms"
[[traffic]]
kind = "incast"
name = "incast"
degree = "24"
sizes = "64KB"
load = 0.002
until = "100ms"
"#;

/// Four GPUs that compute and communicate, also at the same time.
const JOB: &str = r#"
name = "job"
[topology]
kind = "rail"
servers = 2
gpus = 2
spines = 2
[scheme]
name = "none"
[[traffic]]
kind = "job"
name = "train"
iterations = 2
straggler = [{ rank = 3, slow = 1.5 }]
[[traffic.step]]
do = "compute"
name = "forward"
duration = "40us"
[[traffic.step]]
do = "all-reduce"
name = "gradients"
bytes = "1MiB"
[[traffic.step]]
do = "compute"
name = "backward"
duration = "20us"
after = ["forward"]
"#;

const HOSTILE_TEXT: &str = r#"<img src=x onerror="window.evil=1"> 'q' "q" ../../etc/passwd אבג"#;

/// Names that would like to be more than names, wherever a scenario takes any that people read.
fn hostile() -> String {
    let name = json!(HOSTILE_TEXT);
    format!(
        r#"
name = "hostile"
description = "</title></script><script>window.evil=2</script>"
[run]
stop = "2ms"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "1us"
[switch.pfc]
threshold = "static"
xoff = "20KB"
xon = "18KB"
[scheme]
name = "none"
[[traffic]]
kind = "flows"
name = "</script><svg onload=window.evil=3>"
[[traffic.flow]]
name = {name}
src = "h0"
dst = "h3"
[[traffic.flow]]
name = "<!-- ${{window.evil=4}} -->"
src = "h1"
dst = "h3"
[[probe]]
what = "flows"
every = "20us"
"#
    )
}

/// The rows of a job's activities.
fn activities(run: &Path) -> Vec<Value> {
    let rows = Table::read(&run.join("activities.parquet"));
    let texts = rows.words("rank_name").into_iter().zip(rows.words("name")).zip(rows.words("kind"));
    let times = rows.reals("begin_us").into_iter().zip(rows.reals("end_us"));
    let row = |(((rank, name), kind), (begin_us, end_us))| -> Value {
        json!({ "rank": rank, "name": name, "kind": kind, "begin_us": begin_us, "end_us": end_us })
    };
    texts.zip(times).map(row).collect()
}

fn file_url(path: &Path) -> String {
    format!("file://{}", path.canonicalize().unwrap().display())
}

#[test]
fn pages_in_a_real_browser() {
    let web = root().join("web");
    let Some(()) = found(browser(&web)) else { return };
    // What is embedded is what its sources give, and those are sound.
    npm(&web, &["run", "check"]);
    npm(&web, &["test"]);

    let bench = Bench::new();
    let folder = &bench.path;
    let schemes: &[&str] = if every_case() { &["none", "pcn", "mercury"] } else { &["none", "pcn"] };
    bench.ok(&["compare", "victim-flow", "--schemes", &schemes.join(","), "--out", "victim", "--quiet"]);
    bench.ok(&["view", "victim", "--export", "victim.html", "--quiet"]);
    let size = fs::metadata(folder.join("victim.html")).unwrap().len();
    assert!(size < 10_000_000, "a replay to send has {size} bytes");
    bench.write("hostile.toml", hostile());
    bench.ok(&["run", "hostile.toml", "--out", "hostile", "--quiet"]);
    // Scenarios may not hold characters that cannot be seen; a directory edited by hand may.
    let head = String::from_utf8(bench.read("hostile/run.json")).unwrap();
    let unseen =
        head.replacen("\"name\": \"hostile\"", r#""name": "<b onclick=evil()>\u202egnp.exe\u0000\u001b[31m""#, 1);
    assert_ne!(head, unseen);
    bench.write("hostile/run.json", unseen);
    bench.ok(&["view", "hostile", "--export", "hostile.html", "--quiet"]);

    let victim = Server::of(&bench, "victim");
    let strange = Server::of(&bench, "hostile");
    let end_us = 60_000.0;
    let runs: Vec<Value> = schemes.iter().map(|run| truth(&folder.join("victim").join(run), end_us)).collect();
    let given = json!({
        "screenshots": std::env::var("XOFF_SCREENSHOTS").ok(),
        "burst_us": 20_000.0,
        "victim": {
            "url": victim.url,
            "exported": file_url(&folder.join("victim.html")),
            "end_us": end_us,
            "runs": runs,
        },
        "reports": {},
        "hostile": {
            "replay": strange.url,
            "exported": file_url(&folder.join("hostile.html")),
            "report": file_url(&folder.join("hostile/report.html")),
        },
        "hostile_text": HOSTILE_TEXT,
    });
    if every_case() {
        every_page(&bench, &web, given);
    } else {
        in_the_browser(&web, &bench, &given, &["replay", "reports"]);
    }
}

/// The replay of a training job and of a large run, and the other kinds of report.
fn every_page(bench: &Bench, web: &Path, mut given: Value) {
    let folder = &bench.path;
    bench.write("large.toml", LARGE);
    bench.ok(&["run", "large.toml", "--out", "large", "--quiet", "--set", "output.figures=false"]);
    bench.write("job.toml", JOB);
    bench.ok(&["run", "job.toml", "--out", "job", "--quiet", "--set", "output.figures=false"]);
    bench.ok(&["view", "job", "--export", "job.html", "--quiet"]);
    bench.ok(&["run", "incast", "--out", "run", "--quiet"]);
    bench.ok(&["run", "incast", "--seeds", "2", "--out", "seeds", "--quiet"]);
    bench.ok(&["sweep", "incast", "--schemes", "none,dcqcn", "--seeds", "2", "--out", "sweep", "--quiet"]);
    bench.ok(&["reproduce", "pcn-fig2", "--out", "repro", "--quiet"]);
    let job = Server::of(bench, "job");
    let large = Server::of(bench, "large");
    let summary: Value = serde_json::from_slice(&bench.read("job/run.json")).unwrap();
    given["job"] = json!({
        "url": job.url,
        "exported": file_url(&folder.join("job.html")),
        "end_us": summary["sim_time_us"],
        "activities": activities(&folder.join("job")),
    });
    given["large"] = json!({ "url": large.url });
    for (kind, page) in [
        ("run", "run/report.html"),
        ("comparison", "victim/report.html"),
        ("set of seeds", "seeds/report.html"),
        ("sweep", "sweep/report.html"),
        ("reproduction", "repro/report.html"),
        ("paper", "repro/pcn.html"),
    ] {
        given["reports"][kind] = json!(file_url(&folder.join(page)));
    }
    in_the_browser(web, bench, &given, &["replay", "reports", "jobs", "large"]);
    let peak = large.peak_bytes();
    assert!(peak < 500_000_000, "the server held {peak} bytes");
}

/// The browser's half. A browser that hangs is started once more; what a page does wrong fails at once.
fn in_the_browser(web: &Path, bench: &Bench, settings: &Value, parts: &[&str]) {
    const PATIENCE: Duration = Duration::from_secs(1800);
    const ATTEMPTS: usize = 2;
    let given = bench.path.join("given.json");
    fs::write(&given, settings.to_string()).unwrap();
    for attempt in 1..=ATTEMPTS {
        // To a file: a pipe stays open for as long as any process of the browser runs.
        let told = given.with_extension(format!("{attempt}.log"));
        let log = File::create(&told).unwrap();
        let mut node = Command::new("node")
            .args(["--test", "--test-concurrency=1", "--test-timeout=600000"])
            .args(parts.iter().map(|part| format!("test/browser/{part}.test.mjs")))
            .env("XOFF_BROWSER", &given)
            .current_dir(web)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0)
            .spawn()
            .unwrap();
        let ended = ended_within(&mut node, PATIENCE);
        let told = fs::read_to_string(&told).unwrap();
        let stood_still = match ended {
            Some(status) if status.success() => return println!("{told}"),
            Some(_) => told.contains("timed out after"),
            None => true,
        };
        assert!(stood_still && attempt < ATTEMPTS, "attempt {attempt}:\n{told}");
        println!("the browser stood still, attempt {attempt}:\n{told}");
    }
}

/// How a process ended; after `patience` it and all that it started are killed, and it is `None`.
fn ended_within(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < patience {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(100));
    }
    let group = rustix::process::Pid::from_child(child);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    let _ = child.wait();
    None
}

/// Chromium, and what drives it, from npm.
fn browser(web: &Path) -> Result<(), Missing> {
    let _lock = lock();
    program("chromium", &["chromium"], "to open pages in a browser")?;
    program("npm", &["nodejs", "npm"], "to drive a browser")?;
    let fetched = try_npm(web, &["ci", "--no-audit", "--no-fund"]);
    fetched.map_err(|told| Missing::new(format!("npm ci: {told}"), "a network for npm"))
}

fn npm(web: &Path, arguments: &[&str]) {
    try_npm(web, arguments).unwrap_or_else(|told| panic!("npm {arguments:?}: {told}"));
}

fn try_npm(web: &Path, arguments: &[&str]) -> Result<(), String> {
    let out = Command::new("npm").args(arguments).current_dir(web).output().unwrap();
    let told = [out.stdout, out.stderr].concat();
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&told).into_owned()) }
}

/// A request as it is written, and the first line and the headers of the answer.
fn ask(server: &Server, request: &str) -> String {
    use std::io::{Read, Write};
    let address = server.url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_server_answers_its_own_page_only() {
    let bench = Bench::new();
    bench.ok(&["run", "incast", "--out", "run", "--quiet"]);
    let server = Server::of(&bench, "run");
    let host = server.url.trim_start_matches("http://").trim_end_matches('/');
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    let get = |path: &str, host: &str| {
        ask(&server, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    let page = get("/", host);
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    for header in
        ["Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff", "Cache-Control: no-store"]
    {
        assert!(page.contains(header), "{header}");
    }
    assert!(!page.contains("Set-Cookie") && !page.contains("Access-Control-Allow"));
    // A stranger's name that leads to this machine, no name, the right name with another port.
    for wrong in ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:80", "127.0.0.1.evil.example"] {
        assert!(get("/", wrong).starts_with("HTTP/1.1 403"), "{wrong}");
    }
    for missing in
        ["/data/0/../../run.json", "/data/0/scenario.toml", "/../run.json", "/data/9/run.json", "/data/0/port/-1.json"]
    {
        assert!(get(missing, host).starts_with("HTTP/1.1 404"), "{missing}");
    }
    assert!(get("/data/0/run.json?x=1", host).starts_with("HTTP/1.1 200"));
    let post = ask(
        &server,
        &format!("POST /data/0/run.json HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    );
    assert!(post.starts_with("HTTP/1.1 405"), "{post}");
}

/// Several connections at once, none of which the client ends, as browsers do it.
#[test]
fn connections_that_come_at_once_are_all_answered() {
    use std::io::{Read, Write};
    let bench = Bench::new();
    bench.ok(&["run", "incast", "--out", "run", "--quiet", "--set", "output.figures=false"]);
    let server = Server::of(&bench, "run");
    let host = server.url.trim_start_matches("http://").trim_end_matches('/');
    for _ in 0..50 {
        let mut streams: Vec<_> = (0..6).map(|_| std::net::TcpStream::connect(host).unwrap()).collect();
        for stream in &mut streams {
            stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
            write!(stream, "GET /data/0/timeline.json HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        }
        // Each client leaves when the server closes, and not before it has everything.
        for mut stream in streams {
            let (mut answer, mut part) = (Vec::new(), [0; 4096]);
            while !is_whole(&answer) {
                let count = stream.read(&mut part).expect("an answer");
                assert!(count > 0, "{}", String::from_utf8_lossy(&answer));
                answer.extend(&part[..count]);
            }
            assert!(String::from_utf8_lossy(&answer).contains("\r\nConnection: close\r\n"));
        }
    }
}

/// Whether an answer has come as far as it said it would.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
    body.len() >= length.parse().unwrap()
}
