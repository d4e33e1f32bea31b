//! The scenario's text: the compatibility profile, and what the files say.
//!
//! Nothing is computed here that a scenario can compute: base round trips, windows and headroom are
//! options of the scenario.

use super::super::words::Result;
use super::config::Config;
use super::flows::Flow;
use super::keys::{DCQCN, DCTCP, HPCC};
use super::topology::{Link, Topology};
use super::units;
use crate::scenario::Diagnostic;
use std::fmt::Write;
use std::ops::RangeInclusive;
use xoff_engine::quantity::{format_bytes, format_rate, format_span};
use xoff_engine::{BitRate, Span};

/// Everything the text is made of.
pub struct Parts<'a> {
    pub name: &'a str,
    /// As the user called the configuration.
    pub origin: &'a str,
    /// What the scenario calls the list of flows.
    pub flow_file: &'a str,
    pub config: &'a Config<'a>,
    pub topology: &'a Topology,
    pub flows: &'a [Flow],
}

/// Reserve of a port, and how far below the threshold it is resumed; constants there.
const RESERVE_BYTES: u64 = 4096;
const RESUME_BYTES: u64 = 3072;
/// Headroom of a port in bandwidth-delay products.
const HEADROOM_BDPS: u64 = 3;

/// The scenario, and warnings about what it makes of the files.
pub fn text(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> std::result::Result<String, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut out = format!(
        "# Made by `xoff import hpcc` from {}.\n# Comments name the setting of that file behind a line; lines without one copy what its simulator always does.\n\nname = \"{}\"\n",
        comment(parts.origin),
        parts.name
    );
    type Part = fn(&Parts<'_>, &mut Vec<Diagnostic>) -> Result<String>;
    let sections: [Part; 8] = [run, model, topology, classes, switch, host, scheme, traffic];
    for section in sections {
        match section(parts, warnings) {
            Ok(text) => out.push_str(&text),
            Err(problem) => problems.push(problem),
        }
    }
    out.push_str("\n[output]\n");
    line(&mut out, "pfc_frames", "true", "for `xoff export hpcc`, which writes pfc.txt from them");
    if problems.is_empty() { Ok(out) } else { Err(problems) }
}

/// The list of flows that the scenario names.
pub fn flow_list(parts: &Parts<'_>) -> String {
    let names = class_names(parts.flows);
    let several = names.len() > 1;
    let mut out = String::from("src,dst,size_bytes,start_ns,src_port,dst_port");
    out.push_str(if several { ",class\n" } else { "\n" });
    for flow in parts.flows {
        let Flow { src, dst, size_bytes, start_ns, src_port, dst_port, .. } = flow;
        let _ = write!(out, "h{src},h{dst},{size_bytes},{start_ns},{src_port},{dst_port}");
        if several {
            let _ = write!(out, ",pg{}", flow.group);
        }
        out.push('\n');
    }
    out
}

/// `key = value  # why`
fn line(out: &mut String, key: &str, value: &str, why: &str) {
    let _ = match why {
        "" => writeln!(out, "{key} = {value}"),
        why => writeln!(out, "{:<36} # {}", format!("{key} = {value}"), comment(why)),
    };
}

/// Without what would end a comment or is not allowed in one.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn span(ns: u64) -> String {
    quoted(&format_span(Span::from_ns(ns)))
}

fn rate(bps: u64) -> String {
    quoted(&format_rate(BitRate::from_bps(bps)))
}

fn stop_ns(config: &Config<'_>) -> Result<u64> {
    match units::seconds(config.number("SIMULATOR_STOP_TIME")?) {
        Some(ns) if ns > 0 => Ok(ns),
        _ => Err(config
            .error("SIMULATOR_STOP_TIME", "the run cannot last so long")
            .label("above 0 and at most 100000 s")),
    }
}

fn run(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
    let config = parts.config;
    let stop = stop_ns(config)?;
    let mut out = String::from("\n[run]\n");
    line(&mut out, "stop", &span(stop), &config.said("SIMULATOR_STOP_TIME"));
    line(&mut out, "allow_drops", "true", "a drop is counted, and the run goes on");
    line(&mut out, "on_deadlock", "\"record\"", "");
    if parts.topology.links.iter().any(|link| loss(parts, link).is_ok_and(|loss| loss > 0.0)) {
        line(&mut out, "stall_after", "\"off\"", "a flow that lost its last packet waits for ever");
    }
    let late = parts.flows.iter().filter(|flow| flow.start_ns >= stop).count();
    if late > 0 {
        let error = config.error("SIMULATOR_STOP_TIME", format!("the run ends before {late} of its flows start"));
        warnings.push(error.label(format!("of {} flows", parts.flows.len())));
    }
    Ok(out)
}

fn model(_: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::from("\n[model]\n");
    line(&mut out, "time_grain", "\"1ns-binary\"", "times are cut to whole nanoseconds");
    line(&mut out, "ties", "\"scheduled\"", "");
    line(&mut out, "ecmp", "\"murmur3\"", "");
    line(&mut out, "next_hops", "\"descending\"", "");
    line(&mut out, "base_rtt", "\"payload\"", "");
    Ok(out)
}

/// `h3`, or `h[3..7]`.
fn names(kind: char, ids: &RangeInclusive<u32>) -> String {
    if ids.start() == ids.end() {
        format!("{kind}{}", ids.start())
    } else {
        format!("{kind}[{}..{}]", ids.start(), ids.end())
    }
}

fn kind_of(topology: &Topology, id: u32) -> char {
    if topology.is_switch[id as usize] { 's' } else { 'h' }
}

/// Nodes in the order of their ids, those of one kind together as far as they go.
fn stretches(topology: &Topology) -> Vec<(char, RangeInclusive<u32>)> {
    let mut found: Vec<(char, RangeInclusive<u32>)> = Vec::new();
    for id in 0..topology.is_switch.len() as u32 {
        let kind = kind_of(topology, id);
        match found.last_mut() {
            Some((known, ids)) if *known == kind => *ids = *ids.start()..=id,
            _ => found.push((kind, id..=id)),
        }
    }
    found
}

fn topology(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let topology = parts.topology;
    let mut out = String::from("\n[topology]\nkind = \"custom\"\n");
    let stretches = stretches(topology);
    let list = |of: &dyn Fn(char) -> bool| -> String {
        let names: Vec<String> =
            stretches.iter().filter(|(kind, _)| of(*kind)).map(|(kind, ids)| quoted(&names(*kind, ids))).collect();
        if names.len() == 1 { names[0].clone() } else { format!("[{}]", names.join(", ")) }
    };
    line(&mut out, "hosts", &list(&|kind| kind == 'h'), "the number in a name is the id");
    line(&mut out, "switches", &list(&|kind| kind == 's'), "");
    if stretches.len() != 2 || stretches[0].0 != 'h' {
        line(&mut out, "order", &list(&|_| true), "");
    }
    for row in rows(parts)? {
        out.push_str("\n[[topology.link]]\n");
        line(&mut out, "a", &quoted(&names(kind_of(topology, *row.a.start()), &row.a)), "");
        line(&mut out, "b", &quoted(&names(kind_of(topology, *row.b.start()), &row.b)), "");
        line(&mut out, "rate", &rate(row.rate_bps), "");
        line(&mut out, "delay", &span(row.delay_ns), "");
        if row.loss > 0.0 {
            line(&mut out, "loss", &decimal(row.loss), "");
        }
    }
    if let Some((us, a, b)) = parts.config.link_down()? {
        let known = |id: u32| (id as usize) < topology.is_switch.len();
        if !known(a) || !known(b) || topology.link_between(a, b).is_none() {
            let error = parts.config.error("LINK_DOWN", format!("nodes {a} and {b} are not linked"));
            return Err(error.label("microseconds after 2 s, and the ends of a link"));
        }
        out.push_str("\n[[fault]]\nkind = \"link-down\"\n");
        line(&mut out, "at", &span(2_000_000_000 + us * 1000), &parts.config.said("LINK_DOWN"));
        line(&mut out, "link", &quoted(&format!("{}<->{}", topology.name(a), topology.name(b))), "");
    }
    Ok(out)
}

/// Links from each of `a` to each of `b`, in that order.
struct Row {
    a: RangeInclusive<u32>,
    b: RangeInclusive<u32>,
    rate_bps: u64,
    delay_ns: u64,
    loss: f64,
}

fn loss(parts: &Parts<'_>, link: &Link) -> Result<f64> {
    if link.loss > 0.0 { Ok(link.loss) } else { parts.config.number_in("ERROR_RATE_PER_LINK", 0.0..=1.0) }
}

/// The links in as few rows as keep their order, which numbers the ports.
fn rows(parts: &Parts<'_>) -> Result<Vec<Row>> {
    let topology = parts.topology;
    let alike = |x: u32, y: u32| kind_of(topology, x) == kind_of(topology, y);
    let mut rows: Vec<Row> = Vec::new();
    // First those from one node to several in a row, then those from several in a row to the same.
    for link in &topology.links {
        let loss = loss(parts, link)?;
        let fits = |row: &&mut Row| {
            (row.rate_bps, row.delay_ns, row.loss) == (link.rate_bps, link.delay_ns, loss)
                && row.a == (link.a..=link.a)
                && row.b.end() + 1 == link.b
                && alike(*row.b.end(), link.b)
        };
        match rows.last_mut().filter(fits) {
            Some(row) => row.b = *row.b.start()..=link.b,
            None => rows.push(Row {
                a: link.a..=link.a,
                b: link.b..=link.b,
                rate_bps: link.rate_bps,
                delay_ns: link.delay_ns,
                loss,
            }),
        }
    }
    let mut merged: Vec<Row> = Vec::new();
    for row in rows {
        let fits = |last: &&mut Row| {
            (last.rate_bps, last.delay_ns, last.loss) == (row.rate_bps, row.delay_ns, row.loss)
                && last.b == row.b
                && last.a.end() + 1 == *row.a.start()
                && alike(*last.a.end(), *row.a.start())
        };
        match merged.last_mut().filter(fits) {
            Some(last) => last.a = *last.a.start()..=*row.a.end(),
            None => merged.push(row),
        }
    }
    Ok(merged)
}

/// A number that TOML takes for a float.
fn decimal(number: f64) -> String {
    format!("{number:?}")
}

/// The classes of the priority groups in use.
fn class_names(flows: &[Flow]) -> Vec<(u8, String)> {
    let mut groups: Vec<u8> = flows.iter().map(|flow| flow.group).collect();
    groups.sort_unstable();
    groups.dedup();
    match groups[..] {
        [one] => vec![(one, "data".to_owned())],
        _ => groups.into_iter().map(|group| (group, format!("pg{group}"))).collect(),
    }
}

fn classes(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::new();
    for (index, (group, name)) in class_names(parts.flows).into_iter().enumerate() {
        out.push_str("\n[[class]]\n");
        line(&mut out, "name", &quoted(&name), "");
        line(&mut out, "priority", &group.to_string(), "the priority group of the flows");
        line(&mut out, "lossless", "true", "");
        line(&mut out, "service", "\"round-robin\"", "");
        if index == 0 {
            line(&mut out, "control", "true", "nothing but ACKs, which go with their data");
        }
    }
    Ok(out)
}

fn switch(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
    let (config, topology) = (parts.config, parts.topology);
    if config.count("PAUSE_TIME", 0..=u64::MAX)? == 0 {
        let error = config.error("PAUSE_TIME", "PAUSE_TIME 0 would turn PFC off");
        return Err(error.label("there, a PAUSE of no time is a RESUME"));
    }
    if !config.flag("USE_DYNAMIC_PFC_THRESHOLD")? {
        let warning = config.error("USE_DYNAMIC_PFC_THRESHOLD", "the thresholds are dynamic all the same");
        warnings.push(warning.label("that simulator never looks at it"));
    }
    let mebibytes = config.count("BUFFER_SIZE", 1..=4095)?;
    let buffer_bytes = mebibytes << 20;
    let mut aside = vec![0u64; topology.is_switch.len()];
    for link in &topology.links {
        let product = u128::from(link.rate_bps) * u128::from(link.delay_ns) / 8 / 1_000_000_000;
        let own = (product as u64).saturating_mul(HEADROOM_BDPS) + RESERVE_BYTES;
        for end in [link.a, link.b].into_iter().filter(|end| topology.is_switch[*end as usize]) {
            aside[end as usize] = aside[end as usize].saturating_add(own);
        }
    }
    if let Some((id, bytes)) = aside.iter().enumerate().find(|(_, bytes)| **bytes >= buffer_bytes) {
        let needed = (bytes >> 20) + 1;
        return Err(config
            .error("BUFFER_SIZE", format!("the headrooms of switch {id} leave nothing of its buffer"))
            .label(format!("{} set aside of {mebibytes} MiB", format_bytes(*bytes)))
            .help(format!(
                "there the counters wrap and PFC never fires, so its results mean nothing; use BUFFER_SIZE {needed} or more"
            )));
    }
    let mut out = String::from("\n[switch]\n");
    line(&mut out, "buffer", &quoted(&format!("{mebibytes}MiB")), &config.said("BUFFER_SIZE"));
    line(&mut out, "count_passing", "true", "");
    out.push_str("\n[switch.pfc]\n");
    line(&mut out, "threshold", "\"dynamic\"", "");
    line(&mut out, "alpha", "\"by-speed-up\"", "");
    line(&mut out, "alpha_base", "0.125", "");
    line(&mut out, "nic_rate", &rate(topology.nic_rate_bps()), "the rate of the first host");
    line(&mut out, "reserve", &quoted(&format_bytes(RESERVE_BYTES)), "");
    line(&mut out, "resume_offset", &quoted(&format_bytes(RESUME_BYTES)), "");
    line(&mut out, "headroom", "\"bdp\"", "");
    line(&mut out, "headroom_bdps", &HEADROOM_BDPS.to_string(), "");
    line(&mut out, "set_aside", "\"port\"", "");
    line(&mut out, "signalling", "\"on-off\"", "");
    Ok(out)
}

fn host(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
    let config = parts.config;
    let mode = config.mode()?;
    match config.count("L2_ACK_INTERVAL", 0..=u64::from(u32::MAX))? {
        0 => {
            let error = config.error("L2_ACK_INTERVAL", "L2_ACK_INTERVAL 0 would end no flow");
            return Err(error
                .label("there, senders then take no ACK")
                .help("L2_ACK_INTERVAL 1 is an ACK for each packet"));
        }
        1 => {}
        _ => warnings.push(
            config
                .error("L2_ACK_INTERVAL", "there is an ACK for each packet all the same")
                .label("that simulator's code defeats the interval"),
        ),
    }
    if config.flag("L2_BACK_TO_ZERO")? {
        let error = config.error("L2_BACK_TO_ZERO", "going back to the start of a chunk cannot be imported");
        return Err(error.label("Xoff goes back to the first missing packet").help("L2_BACK_TO_ZERO 0 does so too"));
    }
    let mut out = String::from("\n[host]\n");
    let mtu = config.count("PACKET_PAYLOAD_SIZE", 64..=9216)?;
    line(&mut out, "mtu", &quoted(&format_bytes(mtu)), &config.said("PACKET_PAYLOAD_SIZE"));
    line(&mut out, "data_header", "\"48B\"", "");
    // HPCC's scheme adds the 42 bytes of its telemetry to 46; other ACKs are padded to 60.
    let ack = if mode == HPCC { "\"46B\"" } else { "\"60B\"" };
    line(&mut out, "ack_size", ack, if mode == HPCC { "and 42B of telemetry" } else { "" });
    line(&mut out, "pfc_size", "\"43B\"", "");
    line(&mut out, "gap", "\"0B\"", "");
    line(&mut out, "min_frame", "\"1B\"", "");
    line(&mut out, "ack_every", "1", "");
    line(&mut out, "ack_class", "\"data\"", "");
    line(&mut out, "nak_interval", "\"500us\"", "");
    line(&mut out, "retransmit_timeout", &span(stop_ns(config)?), "there is none: it never comes within the run");
    line(&mut out, "scheduler", "\"scan\"", "");
    // The NIC's queue of ACKs has the pause of group 3, whatever the flows' group.
    let paused_by = if config.flag("ACK_HIGH_PRIO")? { "\"none\"" } else { "3" };
    line(&mut out, "acks_paused_by", paused_by, &config.said("ACK_HIGH_PRIO"));
    line(&mut out, "follow_rate", if mode == HPCC { "true" } else { "false" }, "");
    let (windowed, global) = (config.flag("HAS_WIN")?, config.flag("GLOBAL_T")?);
    if !windowed && mode == HPCC {
        let error = config.error("HAS_WIN", "CC_MODE 3 cannot do without its window");
        return Err(error.label("its law divides by the window, which is 0 there").help("use HAS_WIN 1"));
    }
    let cap = match (windowed, global) {
        (false, _) => "none",
        (true, true) => "longest-bdp",
        (true, false) => "path-bdp",
    };
    line(&mut out, "inflight_cap", &quoted(cap), &format!("{}, {}", config.said("HAS_WIN"), config.said("GLOBAL_T")));
    let scales = config.flag("VAR_WIN")?;
    if windowed {
        line(&mut out, "inflight_scales", if scales { "true" } else { "false" }, &config.said("VAR_WIN"));
    }
    line(&mut out, "pace", if config.flag("RATE_BOUND")? { "true" } else { "false" }, &config.said("RATE_BOUND"));
    Ok(out)
}

fn scheme(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
    let config = parts.config;
    let mode = config.mode()?;
    let ecn = Marking::read(parts)?;
    let name = match mode {
        DCQCN => "dcqcn",
        HPCC => "hpcc",
        DCTCP => "dctcp",
        _ => "timely",
    };
    let mut out = String::from("\n[scheme]\n");
    line(&mut out, "name", &quoted(name), &config.said("CC_MODE"));
    line(&mut out, "preset", "\"hpcc-ns3\"", "");
    match mode {
        DCQCN => dcqcn(&mut out, config, &ecn, warnings)?,
        HPCC => hpcc(&mut out, config)?,
        DCTCP => {
            set(&mut out, config, "g", "EWMA_GAIN", |name| Ok(decimal(config.number_in(name, 0.0..=1.0)?)))?;
            warn_of_gain(config, warnings);
            set(&mut out, config, "rate_ai", "DCTCP_RATE_AI", |name| Ok(rate(config.rate(name)?)))?;
            ecn.write(&mut out, config);
        }
        _ => {
            set(&mut out, config, "delta", "RATE_AI", |name| Ok(rate(config.rate(name)?)))?;
            set(&mut out, config, "delta_hai", "RATE_HAI", |name| Ok(rate(config.rate(name)?)))?;
        }
    }
    set(&mut out, config, "rate_min", "MIN_RATE", |name| Ok(rate(config.rate(name)?)))?;
    Ok(out)
}

/// A parameter that one key gives.
fn set(
    out: &mut String,
    config: &Config<'_>,
    param: &str,
    key: &str,
    value: impl FnOnce(&str) -> Result<String>,
) -> Result<()> {
    line(out, param, &value(key)?, &config.said(key));
    Ok(())
}

fn flag(config: &Config<'_>, key: &str) -> Result<String> {
    Ok(config.flag(key)?.to_string())
}

fn warn_of_gain(config: &Config<'_>, warnings: &mut Vec<Diagnostic>) {
    if !config.has("EWMA_GAIN") {
        let warning = config.error("EWMA_GAIN", "without EWMA_GAIN the gain of alpha is 0");
        warnings.push(warning.label("1/16 in whole numbers, as that simulator has it").help("set EWMA_GAIN 0.0625"));
    }
}

fn dcqcn(out: &mut String, config: &Config<'_>, ecn: &Marking, warnings: &mut Vec<Diagnostic>) -> Result<()> {
    set(out, config, "g", "EWMA_GAIN", |name| Ok(decimal(config.number_in(name, 0.0..=1.0)?)))?;
    warn_of_gain(config, warnings);
    for (param, key) in [
        ("alpha_period", "ALPHA_RESUME_INTERVAL"),
        ("decrease_period", "RATE_DECREASE_INTERVAL"),
        ("increase_timer", "RP_TIMER"),
    ] {
        let us = config.number_in(key, 1.0..=100_000_000.0)?;
        if us.fract() != 0.0 {
            let warning = config.error(key, format!("`{key}` is cut to {} us", us.trunc()));
            warnings.push(warning.label("that simulator has whole microseconds here"));
        }
        line(out, param, &span(us as u64 * 1000), &config.said(key));
    }
    set(out, config, "fast_recovery", "FAST_RECOVERY_TIMES", |name| Ok(config.count(name, 1..=100)?.to_string()))?;
    let clamp = if config.flag("CLAMP_TARGET_RATE")? { "\"always\"" } else { "\"after-increase\"" };
    line(out, "target_clamp", clamp, &config.said("CLAMP_TARGET_RATE"));
    set(out, config, "rate_ai", "RATE_AI", |name| Ok(rate(config.rate(name)?)))?;
    set(out, config, "rate_hai", "RATE_HAI", |name| Ok(rate(config.rate(name)?)))?;
    ecn.write(out, config);
    Ok(())
}

fn hpcc(out: &mut String, config: &Config<'_>) -> Result<()> {
    set(out, config, "eta", "U_TARGET", |name| Ok(decimal(config.number_in(name, 0.01..=1.0)?)))?;
    set(out, config, "max_stage", "MI_THRESH", |name| Ok(config.count(name, 0..=1000)?.to_string()))?;
    set(out, config, "rate_ai", "RATE_AI", |name| Ok(rate(config.rate(name)?)))?;
    set(out, config, "int_multiplier", "INT_MULTI", |name| Ok(config.count(name, 1..=32)?.to_string()))?;
    set(out, config, "fast_react", "FAST_REACT", |name| flag(config, name))?;
    set(out, config, "per_hop", "MULTI_RATE", |name| flag(config, name))?;
    set(out, config, "sample_feedback", "SAMPLE_FEEDBACK", |name| flag(config, name))?;
    let whose = if config.flag("GLOBAL_T")? { "\"network\"" } else { "\"pair\"" };
    line(out, "round_trip", whose, &config.said("GLOBAL_T"));
    Ok(())
}

/// Thresholds of ECN for each rate of a switch port.
struct Marking {
    enabled: bool,
    /// Rate, Kmin and Kmax in bytes, Pmax.
    rows: Vec<(u64, u64, u64, f64)>,
}

impl Marking {
    fn read(parts: &Parts<'_>) -> Result<Marking> {
        let (config, topology) = (parts.config, parts.topology);
        let kmin = config.map("KMIN_MAP")?;
        let kmax = config.map("KMAX_MAP")?;
        let pmax = config.map("PMAX_MAP")?;
        let mut rows: Vec<(u64, u64, u64, f64)> = Vec::new();
        // Every link ends in a switch.
        for link in &topology.links {
            if rows.iter().any(|row| row.0 == link.rate_bps) {
                continue;
            }
            let of = |name: &str, map: &[(u64, &str, crate::scenario::Place)]| {
                let row = map.iter().find(|(bps, _, _)| *bps == link.rate_bps);
                row.map(|(_, text, place)| ((*text).to_owned(), place.clone())).ok_or_else(|| {
                    let speed = format_rate(BitRate::from_bps(link.rate_bps));
                    topology
                        .rate_place(link)
                        .error(format!("the configuration has no ECN thresholds for ports of {speed}"))
                        .label(format!("`{name}` lacks {}", link.rate_bps))
                        .help("that simulator wants a row for every rate of a switch port in KMIN_MAP, KMAX_MAP and PMAX_MAP")
                })
            };
            let (low, high, most) = (of("KMIN_MAP", &kmin)?, of("KMAX_MAP", &kmax)?, of("PMAX_MAP", &pmax)?);
            let bytes = |(text, place): &(String, crate::scenario::Place)| match text.parse::<u64>() {
                Ok(thousands) if thousands <= 4_000_000 => Ok(thousands * 1000),
                _ => Err(place.error("this is not a threshold").label("whole thousands of bytes, at most 4000000")),
            };
            let (from, to) = (bytes(&low)?, bytes(&high)?);
            if from > to {
                return Err(low.1.error("Kmin is above Kmax").label(format!("Kmax of this rate is {}", high.0)));
            }
            let probability = most.0.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
            let Some(probability) = probability else {
                return Err(most.1.error("this is not a probability").label("from 0 to 1"));
            };
            rows.push((link.rate_bps, from, to, probability));
        }
        rows.sort_unstable_by_key(|row| row.0);
        Ok(Marking { enabled: config.flag("ENABLE_QCN")?, rows })
    }

    fn table(&self, of: impl Fn(&(u64, u64, u64, f64)) -> u64) -> String {
        let cell = |row: &(u64, u64, u64, f64)| format!("{} = {}", rate(row.0), quoted(&format_bytes(of(row))));
        format!("{{ {} }}", self.rows.iter().map(cell).collect::<Vec<_>>().join(", "))
    }

    fn write(&self, out: &mut String, config: &Config<'_>) {
        if !self.enabled {
            line(out, "mark_at", "\"never\"", &config.said("ENABLE_QCN"));
            return;
        }
        line(out, "kmin", &self.table(|row| row.1), &config.said("KMIN_MAP"));
        line(out, "kmax", &self.table(|row| row.2), &config.said("KMAX_MAP"));
        let cell = |row: &(u64, u64, u64, f64)| format!("{}@{}", row.3, format_rate(BitRate::from_bps(row.0)));
        let pmax: Vec<String> = self.rows.iter().map(cell).collect();
        line(out, "pmax", &quoted(&pmax.join(", ")), &config.said("PMAX_MAP"));
    }
}

fn traffic(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::from("\n[[traffic]]\nkind = \"flow-list\"\n");
    line(
        &mut out,
        "file",
        &quoted(parts.flow_file),
        &format!("{} flows of {}", parts.flows.len(), parts.config.said("FLOW_FILE")),
    );
    Ok(out)
}

/// Rates that HPCC's telemetry has a code for.
const INT_RATES_GBPS: [u64; 5] = [25, 50, 100, 200, 400];

/// HPCC can tell only some rates.
pub fn check_rates(parts: &Parts<'_>) -> Result<()> {
    if parts.config.mode()? != HPCC {
        return Ok(());
    }
    let known = |link: &&Link| INT_RATES_GBPS.iter().any(|gbps| link.rate_bps == gbps * 1_000_000_000);
    match parts.topology.links.iter().find(|link| !known(link)) {
        None => Ok(()),
        Some(link) => Err(parts
            .topology
            .rate_place(link)
            .error(format!("HPCC's telemetry has no code for {}", format_rate(BitRate::from_bps(link.rate_bps))))
            .label("25, 50, 100, 200 or 400Gbps")
            .help("that simulator takes any other rate for 25Gbps, so its results mean nothing")),
    }
}
