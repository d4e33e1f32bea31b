//! Runs of htsim's Ultra Ethernet program: a command line and a connection matrix, as a scenario.
//!
//! The command line says what the network is, and constants follow from it as the program computes them (`main_uec.cpp`,
//! `uec.cpp`). Its rules as a whole are `[model] dialect = "htsim"`.

use super::htsim::{self, microseconds};
use super::words::{Result, Word, Words, shown};
use super::{Fact, Imported, plain_name};
use crate::{Attachment, Diagnostic, Source};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a packet, of a header, and payload of a packet.
const PACKET: u64 = 4150;
const HEADER: u64 = 64;
const PAYLOAD: u64 = PACKET - HEADER;
/// Packets that share an ACK: as many as make 16,384 bytes.
const PACKETS_PER_ACK: u64 = 16_384_u64.div_ceil(PACKET);
const LINK_GBPS: u64 = 100;
const LINK_US: u64 = 1;
/// Rate of a link that `-failed` names, in Gb/s.
const SLOW_GBPS: u64 = LINK_GBPS / 4;

/// Next hop of switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strategy {
    Ecmp,
    Adaptive,
    RoundRobin,
}

/// What a command line asks for.
#[derive(Debug)]
struct Arguments {
    end_us: u64,
    seed: u64,
    paths: u64,
    tiers: u64,
    failed: u64,
    /// Packets of a queue, if they are given.
    queue: Option<u64>,
    /// Packets at which marking begins and is certain, if they are given.
    ecn: Option<(u64, u64)>,
    trims: bool,
    sleek: bool,
    constant: bool,
    balancing: String,
    strategy: Strategy,
}

impl Default for Arguments {
    fn default() -> Arguments {
        Arguments {
            end_us: 10_000,
            seed: 13,
            paths: 64,
            tiers: 3,
            failed: 0,
            queue: None,
            ecn: None,
            trims: true,
            sleek: false,
            constant: false,
            balancing: "mixed".to_owned(),
            strategy: Strategy::Ecmp,
        }
    }
}

/// A scenario of a command line, the arguments without the program, and its matrix.
pub fn import(
    arguments: &Arc<Source>,
    matrix: &Arc<Source>,
    stem: Option<&str>,
) -> std::result::Result<Imported, Vec<Diagnostic>> {
    let one = |problem| vec![problem];
    let mut warnings = Vec::new();
    let arguments_read = read(arguments, &mut warnings).map_err(one)?;
    let flows = htsim::read(matrix, &mut warnings).map_err(one)?;
    let shape = Shape::new(&arguments_read, flows.nodes).ok_or_else(|| {
        let form = if arguments_read.tiers == 3 { "k^3/4" } else { "k^2/2" };
        let error = flows.nodes_place.error(format!("no fat tree has {} nodes", flows.nodes));
        vec![error.label(format!("{form} for an even k, such as 16 or 128 (three tiers) and 8 or 32 (two)"))]
    })?;
    let name = plain_name(
        &Path::new(&matrix.name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        "htsim",
    );
    let file = format!("{}.flows.csv", stem.unwrap_or(&name));
    let text = scenario(&name, &file, &arguments_read, &shape);
    // Each connection has a source port of its own, by which it is known in tables.
    let mut list = String::from("src,dst,size_bytes,start_us,src_port,dst_port\n");
    for (number, flow) in flows.connections.iter().enumerate() {
        if flow.size_bytes == 0 {
            return Err(one(flows.nodes_place.error("a connection of size 0 sends to the end of the run").label(
                "such matrices need a scenario for their network: `xoff import htsim MATRIX --topology SCENARIO`",
            )));
        }
        // Starts are whole microseconds there.
        let start = microseconds(flow.start_ps * 1_000_000);
        let port = 1024 + number % 60_000;
        let _ = writeln!(list, "h{},h{},{},{start},{port},4791", flow.src, flow.dst, flow.size_bytes);
    }
    let facts = vec![
        Fact::new("hosts", flows.nodes),
        Fact::new("flows", flows.connections.len()),
        Fact::new("base_rtt_us", shape.base_rtt_ps() as f64 / 1e6),
        Fact::new("queue_packets", shape.queue_packets(&arguments_read)),
    ];
    let files = vec![Attachment { name: file.clone(), source: Source::new(file, list) }];
    Ok(Imported { name, text, files, warnings, facts, origin: None })
}

fn read(source: &Arc<Source>, warnings: &mut Vec<Diagnostic>) -> Result<Arguments> {
    let mut words = Words::new(source);
    let mut read = Arguments::default();
    while let Some(word) = words.next() {
        match word.text {
            "-tm" => {
                value(&mut words, &word)?;
            }
            "-sender_cc_only" => {}
            "-end" => read.end_us = number(&mut words, &word, 1..=100_000_000)?,
            "-seed" => read.seed = number(&mut words, &word, 1..=u64::from(u32::MAX))?,
            "-paths" => read.paths = number(&mut words, &word, 1..=4096)?,
            "-tiers" => read.tiers = number(&mut words, &word, 2..=3)?,
            "-failed" => read.failed = number(&mut words, &word, 0..=1024)?,
            "-q" => read.queue = Some(number(&mut words, &word, 1..=1_000_000)?),
            "-ecn" => {
                let low = number(&mut words, &word, 1..=1_000_000)?;
                read.ecn = Some((low, number(&mut words, &word, low..=1_000_000)?));
            }
            "-disable_trim" => read.trims = false,
            "-sleek" => read.sleek = true,
            "-sender_cc_algo" => {
                let of = value(&mut words, &word)?;
                read.constant = chosen(&words, &of, &[("nscc", false), ("constant", true)])?;
            }
            "-strat" => {
                let of = value(&mut words, &word)?;
                let known =
                    [("ecmp_host", Strategy::Ecmp), ("ecmp_ar", Strategy::Adaptive), ("ecmp_rr", Strategy::RoundRobin)];
                read.strategy = chosen(&words, &of, &known)?;
            }
            "-load_balancing_algo" => {
                let of = value(&mut words, &word)?;
                let known = ["oblivious", "bitmap", "reps", "mixed"].map(|name| (name, name));
                read.balancing = chosen(&words, &of, &known)?.to_owned();
            }
            other => {
                let known = ["-end", "-seed", "-paths", "-tiers", "-failed", "-q", "-ecn", "-disable_trim", "-strat"];
                let error = words.error(&word, format!("unknown argument `{}`", shown(other)));
                return Err(error.nearest(other, known));
            }
        }
    }
    if read.failed > 0 {
        let first = format!("{} links run at {SLOW_GBPS} Gb/s, as `-failed` means there", read.failed);
        warnings.push(Diagnostic::new(first));
    }
    Ok(read)
}

fn value<'a>(words: &mut Words<'a>, of: &Word<'a>) -> Result<Word<'a>> {
    words.next().ok_or_else(|| words.error(of, format!("`{}` needs a value", of.text)))
}

fn number<'a>(words: &mut Words<'a>, of: &Word<'a>, range: std::ops::RangeInclusive<u64>) -> Result<u64> {
    let word = value(words, of)?;
    word.text.parse().ok().filter(|found| range.contains(found)).ok_or_else(|| {
        let error = words.error(&word, format!("`{}` cannot be `{}`", of.text, shown(word.text)));
        error.label(format!("a whole number from {} to {}", range.start(), range.end()))
    })
}

fn chosen<T: Copy>(words: &Words<'_>, word: &Word<'_>, known: &[(&str, T)]) -> Result<T> {
    known.iter().find(|(name, _)| *name == word.text).map(|(_, of)| *of).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let error = words.error(word, format!("`{}` is not followed here", shown(word.text)));
        error.label(format!("one of {}", names.join(", ")))
    })
}

/// The fat tree, and what the program computes from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    tiers: u64,
    k: u64,
}

impl Shape {
    fn new(arguments: &Arguments, nodes: u64) -> Option<Shape> {
        let hosts = |k: u64| if arguments.tiers == 3 { k * k * k / 4 } else { k * k / 2 };
        let k = (1..=64).map(|half| 2 * half).find(|k| hosts(*k) >= nodes)?;
        (hosts(k) == nodes).then_some(Shape { tiers: arguments.tiers, k })
    }

    /// Links between the hosts that are farthest apart.
    fn links(&self) -> u64 {
        2 * self.tiers
    }

    /// Propagation both ways, a packet out and a header back.
    fn base_rtt_ps(&self) -> u64 {
        2 * self.links() * LINK_US * 1_000_000 + self.links() * (PACKET + HEADER) * 8000 / LINK_GBPS
    }

    /// A bandwidth-delay product in packets, rounded up.
    fn bdp_packets(&self) -> u64 {
        (self.base_rtt_ps() * LINK_GBPS / 8000).div_ceil(PACKET)
    }

    fn queue_packets(&self, arguments: &Arguments) -> u64 {
        let automatic = self.bdp_packets() * if arguments.trims { 1 } else { 5 };
        arguments.queue.unwrap_or(automatic)
    }

    /// Links that `-failed` slows down, as ports from which they lead.
    fn slow_links(&self, failed: u64) -> Vec<String> {
        if self.tiers == 2 {
            return (0..failed.min(self.k / 2)).map(|spine| format!("leaf*<->spine{spine}")).collect();
        }
        // From the cores of an aggregation switch down to it.
        let half = self.k / 2;
        let of = |link: u64| (link / half, link % half);
        let down = |(agg, core): (u64, u64)| format!("core{}->agg{agg}", agg % half * half + core);
        (0..failed.min(self.k * half * half)).map(|link| down(of(link))).collect()
    }
}

fn scenario(name: &str, file: &str, arguments: &Arguments, shape: &Shape) -> String {
    let mut text = format!(
        "# Made by `xoff import htsim` from a command line of its Ultra Ethernet program.\n\nname = \"{name}\"\n"
    );
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    let dialect = "\n[model]\nevent_order = \"insertion\"\ndialect = \"htsim\"\n";
    line(format!(
        "seed = {}\n{dialect}\n[run]\nstop = \"{}us\"\nstall_after = \"off\"\n",
        arguments.seed, arguments.end_us
    ));
    let (k, half) = (shape.k, shape.k / 2);
    let links = format!("host_rate = \"{LINK_GBPS}Gbps\"\nhost_delay = \"{LINK_US}us\"");
    line(match shape.tiers {
        3 => format!("[topology]\nkind = \"fat-tree\"\nk = {k}\n{links}\n"),
        _ => format!(
            "[topology]\nkind = \"leaf-spine\"\nleaves = {k}\nspines = {half}\nhosts_per_leaf = {half}\n{links}\n"
        ),
    });
    let slow = shape.slow_links(arguments.failed);
    if !slow.is_empty() {
        let list: Vec<String> = slow.iter().map(|link| format!("\"{link}\"")).collect();
        line(format!("[[topology.override]]\nlinks = [{}]\nrate = \"{SLOW_GBPS}Gbps\"\n", list.join(", ")));
    }
    let packets = shape.queue_packets(arguments);
    let time_ps = |packets: u64| packets * PACKET * 8000 / LINK_GBPS;
    line(format!(
        "[[class]]\nname = \"data\"\npriority = 3\nlossless = false\nqueue_time = \"{}ps\"\n\n\
         [[class]]\nname = \"control\"\npriority = 6\nlossless = false\ncontrol = true\nqueue_time = \"{}ps\"\n",
        time_ps(packets),
        2 * time_ps(packets)
    ));
    line(format!("[switch]\nbuffer = \"1GB\"\n{}", if arguments.trims { "trim = true\n" } else { "" }));
    let rto_ps = 15_000_000 + 6 * time_ps(packets);
    let by_switches = arguments.strategy != Strategy::Ecmp;
    let one_path = arguments.paths == 1 || by_switches;
    line(format!(
        "[host]\nmtu = \"{PAYLOAD}B\"\ndata_header = \"{HEADER}B\"\nack_size = \"{HEADER}B\"\ngap = \"0B\"\n\
         recovery = \"sack\"\nsleek = {}\nack_bytes = \"{}B\"\nretransmit_timeout = \"{rto_ps}ps\"\n{}",
        arguments.sleek,
        PACKETS_PER_ACK * PAYLOAD,
        if one_path { "" } else { "ack_path = \"entropy\"\n" }
    ));
    match arguments.strategy {
        // Levels of 5% of a queue; the program has no more than four of them, renewed every 100 ns.
        Strategy::Adaptive => {
            line(format!("[routing]\nmode = \"adaptive\"\nquantum = \"{}B\"\n", packets * PACKET / 20));
        }
        Strategy::RoundRobin => line("[routing]\nmode = \"round-robin\"\n".to_owned()),
        Strategy::Ecmp if one_path => {}
        Strategy::Ecmp => {
            line(format!("[routing]\nmode = \"{}\"\nentropies = {}\n", arguments.balancing, arguments.paths));
        }
    }
    line(format!(
        "[scheme]\nname = \"nscc\"\npreset = \"htsim\"\nround_trip = \"fixed\"\nbase_rtt = \"{}ps\"",
        shape.base_rtt_ps()
    ));
    let bdp = shape.bdp_packets();
    let (low, high) = arguments.ecn.unwrap_or(((bdp * 2).div_ceil(10), (bdp * 8).div_ceil(10)));
    // Shares of a bandwidth-delay product in packets, which are rounded up. A packet is marked there when it has left, by
    // what waits then; here when it leaves, by what waits behind it: the next packet counts there.
    let share = |packets: u64| (packets as f64 - 0.5).max(0.0) / bdp as f64;
    line(format!("kmin = {:.6}\nkmax = {:.6}", share(low), share(high)));
    if arguments.constant {
        line("alpha = 0\nfi = 0\neta = 0\ngamma = 0\nfi_scale = 0\nquick_adapt = false".to_owned());
    }
    line(format!("\n[[traffic]]\nkind = \"flow-list\"\nfile = \"{file}\""));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    const MATRIX: &str = "Nodes 16\nConnections 2\n0->13 start 0 size 2000000\n3->1 start 7 size 5000\n";

    fn imported(arguments: &str) -> std::result::Result<Imported, Vec<Diagnostic>> {
        import(&Source::new("args.txt", arguments), &Source::new("runs/two.cm", MATRIX), None)
    }

    #[test]
    fn constants_are_those_that_the_program_prints() {
        let three = Shape::new(&Arguments::default(), 16).unwrap();
        assert_eq!((three.k, three.base_rtt_ps(), three.bdp_packets()), (4, 14_022_720, 43));
        let two = Shape::new(&Arguments { tiers: 2, ..Arguments::default() }, 32).unwrap();
        assert_eq!((two.k, two.base_rtt_ps(), two.bdp_packets()), (8, 9_348_480, 29));
        assert_eq!(two.queue_packets(&Arguments { trims: false, ..Arguments::default() }), 145);
        assert_eq!(PACKETS_PER_ACK, 4);
        assert_eq!(Shape::new(&Arguments::default(), 17), None);
        let slow = Shape::new(&Arguments::default(), 128).unwrap().slow_links(4);
        assert_eq!(slow, ["core0->agg0", "core1->agg0", "core2->agg0", "core3->agg0"]);
        assert_eq!(two.slow_links(1), ["leaf*<->spine0"]);
    }

    #[test]
    fn command_lines_load() {
        for arguments in [
            "-tm two.cm -sender_cc_only -end 5000 -seed 13 -paths 64 -load_balancing_algo mixed",
            "-paths 64 -q 2 -ecn 1 2 -load_balancing_algo reps",
            "-disable_trim -failed 3 -load_balancing_algo bitmap",
            "-strat ecmp_ar -load_balancing_algo oblivious",
            "-strat ecmp_rr -sleek -load_balancing_algo oblivious",
            "-paths 1 -sender_cc_algo constant -load_balancing_algo oblivious",
        ] {
            let imported =
                imported(arguments).unwrap_or_else(|found| panic!("{arguments}: {}", found[0].render(false)));
            let loaded = imported.scenario().load(&Options::default());
            let loaded = loaded.unwrap_or_else(|found| panic!("{}\n{}", imported.text, found[0].render(false)));
            assert_eq!(loaded.plan.classes.list.len(), 2);
        }
        let text = imported("-paths 64").unwrap().text;
        for part in ["queue_time = \"14276000ps\"", "retransmit_timeout = \"100656000ps\"", "ack_bytes = \"16344B\""] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn what_is_not_followed_is_refused() {
        for (arguments, message) in [
            ("-paths", "`-paths` needs a value"),
            ("-paths many", "`-paths` cannot be `many`"),
            ("-load_balancing_algo incremental", "`incremental` is not followed here"),
            ("-strat rand", "`rand` is not followed here"),
            ("-receiver_cc_only", "unknown argument `-receiver_cc_only`"),
        ] {
            let shown = imported(arguments).unwrap_err()[0].render(false);
            assert!(shown.contains(message) && shown.contains("args.txt"), "{shown}");
        }
    }
}
