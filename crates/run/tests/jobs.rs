//! Jobs on the simulated network against closed forms, to the picosecond. ACKs come after the last message: the forms know
//! none, and on a ring they share the wires of data.

use std::path::Path;
use std::sync::Arc;
use xoff_run::{Keep, Records, RunEnd, drive};
use xoff_scenario::traffic::JobInterval;
use xoff_scenario::{Loaded, Options, Scenario};
use xoff_yardstick::every_case;

/// Payload of a packet, and what it takes on the wire.
const PAYLOAD: u64 = 1024;
const WIRE: u64 = PAYLOAD + 82;
/// Propagation of every link of the star.
const DELAY_PS: u64 = 1_000_000;
/// Rates, and picoseconds per byte.
const RATES: [(&str, u64); 3] = [("25Gbps", 320), ("100Gbps", 80), ("400Gbps", 20)];

/// At packet level, and at flow level, where ACKs take their share whenever they come: there are none.
const LEVELS: [&[&str]; 2] = [&[], &["run.fidelity=flow"]];
/// At flow level with collectives as macro-flows.
const MACRO: &[&str] = &["run.fidelity=flow", "run.collectives=macro"];

fn load(text: &str, level: &[&str]) -> Loaded {
    xoff_schemes::install_all();
    let sets = level.iter().map(|set| (*set).to_owned()).collect();
    match Scenario::from_text("job", text, Path::new(".")).load(&Options { sets, ..Options::default() }) {
        Ok(mut loaded) => {
            if level != LEVELS[0] {
                let plan = Arc::make_mut(&mut loaded.plan);
                plan.hosts.iter_mut().for_each(|host| host.ack_every = 1_000_000_000);
            }
            loaded
        }
        Err(errors) => panic!("{}\n{text}", errors[0]),
    }
}

fn run(text: &str, level: &[&str]) -> (Vec<JobInterval>, RunEnd) {
    let mut sink = Records::default();
    let end = drive(&load(text, level), Keep::default(), &mut sink, &mut |_| {}).unwrap();
    assert!(end.imbalance.is_none(), "{:?}\n{text}", end.imbalance);
    (sink.intervals, end)
}

/// When the last activity was over.
fn time(text: &str) -> u64 {
    time_at(text, LEVELS[0])
}

/// Asserts the time at both levels. At flow level each message rounds up, by a picosecond for 22,120 (a packet at 400G).
fn assert_time(text: &str, form: u64, what: &str) {
    assert_eq!(time(text), form, "{what}");
    let flow = time_at(text, LEVELS[1]);
    assert!((form..=form + form / 22_120 + 1).contains(&flow), "{what}: {flow} at flow level, {form} by the form");
    let together = time_at(text, MACRO);
    assert!(together.abs_diff(form) <= form / 22_120 + 8, "{what}: {together} as macro-flows, {form} by the form");
}

fn time_at(text: &str, level: &[&str]) -> u64 {
    let (intervals, end) = run(text, level);
    assert!(end.failure.is_none(), "{:?}\n{text}", end.failure);
    intervals.iter().map(|of| of.interval.end.expect("the job ends").ps()).max().unwrap()
}

const HOST: &str = "[host]\nmtu = \"1024B\"\nack_delay = \"5s\"\nretransmit_timeout = \"100s\"\n";

fn star(hosts: u64, rate: &str, traffic: &str) -> String {
    format!(
        "[topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \"{rate}\"\ndelay = \"1us\"\n{HOST}\
         [scheme]\nname = \"none\"\n[[traffic]]\nchannels = 1\n{traffic}\n"
    )
}

/// Times of a message of whole packets alone on its way: on its sender's wire, and after that.
fn wire(bytes: u64, ps: u64) -> u64 {
    bytes / PAYLOAD * WIRE * ps
}

fn rest(ps: u64) -> u64 {
    2 * DELAY_PS + WIRE * ps
}

fn d(bytes: u64, ps: u64) -> u64 {
    wire(bytes, ps) + rest(ps)
}

/// Form 1: (s − 1)·max(kτ, τ + L) + kτ + L. Small rings at all rates, large ones at one of them; all of them takes a
/// minute, and is done with `XOFF_TESTS=all`.
#[test]
fn rings() {
    let all = every_case();
    for (n, k) in (2..=64).flat_map(|n| (1..=8).map(move |k| (n, k))) {
        for (which, (rate, ps)) in RATES.into_iter().enumerate() {
            let small = n <= 8;
            if !all && !small && ((n + k) as usize % 3 != which || (18..=63).contains(&n)) {
                continue;
            }
            let slice = PAYLOAD;
            let (chunk, bytes) = (k * slice, n * k * slice);
            let kind = [("all-reduce", 2), ("all-gather", 1), ("reduce-scatter", 1)];
            let (kind, rounds) = kind[if n % 9 == 0 { (k % 3) as usize } else { 0 }];
            let text = format!(
                "kind = \"{kind}\"\nbytes = \"{bytes}B\"\nchunk = \"{chunk}B\"\nslice = \"{slice}B\"\noutstanding = 0"
            );
            let (tau, latency, steps) = (wire(slice, ps), rest(ps), rounds * (n - 1));
            let form = (steps - 1) * (k * tau).max(tau + latency) + k * tau + latency;
            assert_time(&star(n, rate, &text), form, &format!("{kind} n {n} k {k} at {rate}"));
        }
    }
}

/// Form 2: 2·Σ d(S/2^i).
#[test]
fn halving_and_doubling() {
    for (q, (rate, ps)) in (1..=6).flat_map(|q| RATES.map(|rate| (q, rate))) {
        let bytes = PAYLOAD * 64 * 3;
        let text = format!("kind = \"all-reduce\"\nalgorithm = \"halving-doubling\"\nbytes = \"{bytes}B\"");
        let form: u64 = (1..=q).map(|i| 2 * d(bytes >> i, ps)).sum();
        assert_time(&star(1 << q, rate, &text), form, &format!("{} ranks at {rate}", 1 << q));
    }
}

/// Form 3: (n − 1)·wire(S/n) + L, each part a packet.
#[test]
fn all_to_alls() {
    let sizes = (2..=64).filter(|n| every_case() || *n <= 16 || *n == 64);
    for (n, (rate, ps)) in sizes.flat_map(|n| RATES.map(|rate| (n, rate))) {
        let bytes = PAYLOAD * n;
        let text = format!("kind = \"all-to-all\"\npeers = 0\nbytes = \"{bytes}B\"\nchunk = \"{PAYLOAD}B\"");
        let form = (n - 1) * wire(PAYLOAD, ps) + rest(ps);
        assert_time(&star(n, rate, &text), form, &format!("{n} ranks at {rate}"));
    }
}

/// Form 4: two ranks, one chunk: 2·d(S/2); more: within its bounds.
#[test]
fn trees() {
    for (rate, ps) in RATES {
        let chunk = 4 * PAYLOAD;
        let tree = |n: u64, bytes: u64| {
            let text = format!(
                "kind = \"all-reduce\"\nalgorithm = \"tree\"\nbytes = \"{bytes}B\"\nchunk = \"{chunk}B\"\noutstanding = 0"
            );
            time(&star(n, rate, &text).replace("channels = 1", "channels = 2"))
        };
        assert_eq!(tree(2, 2 * chunk), 2 * d(chunk, ps), "{rate}");
        for (n, chunks) in [(4_u64, 1), (4, 16), (8, 7), (16, 16), (32, 2), (64, 4)] {
            let bytes = 2 * chunks * chunk;
            let least = wire(2 * bytes, ps) + rest(ps);
            let most = least + 2 * u64::from(n.ilog2()) * (rest(ps) + 3 * wire(chunk, ps));
            let took = tree(n, bytes);
            assert!((least..=most).contains(&took), "n {n}, {chunks} chunks: {took} of {least} to {most}");
        }
    }
}

/// Form 5: 2(g − 1)·d_up(S/g) + 2(H − 1)·d(S/(gH)).
#[test]
fn hierarchies() {
    for (gpus, servers) in [(2, 2), (4, 3), (8, 4), (8, 8)] {
        for (rate, ps) in RATES {
            let bytes = gpus * servers * PAYLOAD * 2;
            let text = format!(
                "[topology]\nkind = \"rail\"\nservers = {servers}\ngpus = {gpus}\nspines = 1\nnic_rate = \"{rate}\"\n\
                 nic_delay = \"1us\"\nscale_up_rate = \"400Gbps\"\nscale_up_delay = \"25ns\"\n{HOST}\
                 [scheme]\nname = \"none\"\n\
                 [[traffic]]\nkind = \"all-reduce\"\nalgorithm = \"hierarchical\"\nchannels = 1\nbytes = \"{bytes}B\"\n\
                 chunk = \"1GiB\"\nslice = \"1GiB\"\noutstanding = 0\n"
            );
            let up = bytes / gpus / PAYLOAD * WIRE * 20 + 2 * 25_000 + WIRE * 20;
            let form = 2 * (gpus - 1) * up + 2 * (servers - 1) * d(bytes / gpus / servers, ps);
            assert_time(&text, form, &format!("{servers} servers of {gpus} at {rate}"));
        }
    }
}

/// Form 6: m(tf + tb) + (p − 1)(tf + tb + 2d(a)).
#[test]
fn pipelines() {
    for (stages, batches) in [(2, 1), (4, 8), (8, 5), (16, 32), (64, 3)] {
        for (rate, ps) in RATES {
            let bytes = 8 * PAYLOAD;
            let text = format!(
                "kind = \"pipeline\"\nschedule = \"gpipe\"\nmicro_batches = {batches}\nforward = \"5us\"\n\
                 backward = \"11us\"\nactivation = \"{bytes}B\"\nchunk = \"1GiB\"\noutstanding = 0"
            );
            let form = batches * 16_000_000 + (stages - 1) * (16_000_000 + 2 * d(bytes, ps));
            let what = format!("{stages} stages, {batches} micro-batches at {rate}");
            assert_time(&star(stages, rate, &text), form, &what);
        }
    }
}
