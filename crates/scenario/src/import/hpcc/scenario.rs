//! The scenario's text: the compatibility profile, and what the files say.
//!
//! Nothing is computed here that a scenario can compute: base round trips, windows and headroom are
//! options of the scenario.

use super::super::words::Result;
use super::dialect::Dialect;
use super::flows::Flow;
use super::keys::{DCQCN, DCTCP};
use super::parts::{Parts, line, quoted, span, stop_ns};
use super::topology::Topology;
use super::{devices, network, scheme};
use crate::Diagnostic;
use std::fmt::Write;

/// The scenario, and warnings about what it makes of the files.
pub fn text(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> std::result::Result<String, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut out = parts.head("hpcc");
    type Part = fn(&Parts<'_>, &mut Vec<Diagnostic>) -> Result<String>;
    let sections: [Part; 8] =
        [run, model, network::text, classes, devices::switch, devices::host, scheme::text, traffic];
    for section in sections {
        match section(parts, warnings) {
            Ok(text) => out.push_str(&text),
            // Two sections may need the same setting.
            Err(problem) if problems.iter().any(|known: &Diagnostic| known.message == problem.message) => {}
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

pub fn run(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
    let config = parts.config;
    let stop = stop_ns(config)?;
    let mut out = String::from("\n[run]\n");
    line(&mut out, "stop", &span(stop), &config.said("SIMULATOR_STOP_TIME"));
    line(&mut out, "allow_drops", "true", "a drop is counted, and the run goes on");
    line(&mut out, "on_deadlock", "\"record\"", "");
    line(&mut out, "stall_after", "\"off\"", "a flow that waits for ever does not end the run");
    let late = parts.flows.iter().filter(|flow| flow.start_ns >= stop).count();
    if late > 0 {
        let error = config.error("SIMULATOR_STOP_TIME", format!("the run ends before {late} of its flows start"));
        warnings.push(error.label(format!("of {} flows", parts.flows.len())));
    }
    Ok(out)
}

/// Streams of random numbers that objects of that simulator take before the run begins: six for every
/// node, two for the losses of links in general and two more for every link with a loss of its own.
/// (Read off its results: with these numbers its draws of marks repeat one by one, on networks of 20
/// and of 376 nodes.)
///
/// The newer simulator takes nine for every node.
fn first_stream(topology: &Topology, dialect: Dialect) -> usize {
    let lossy = topology.links.iter().filter(|link| link.loss > 0.0).count();
    let of_node = if dialect.is_inet() { 9 } else { 6 };
    of_node * topology.is_switch.len() + 2 + 2 * lossy
}

fn model(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::from("\n[model]\n");
    let resolution = if parts.dialect.is_inet() { "\"1ns\"" } else { "\"1ns-binary\"" };
    line(&mut out, "time_resolution", resolution, "times are cut to whole nanoseconds");
    line(&mut out, "event_order", "\"insertion\"", "what was scheduled first happens first");
    line(&mut out, "ecmp", "\"murmur3\"", "of addresses and ports, seeded by the switch's id");
    line(&mut out, "next_hops", "\"descending\"", "by id");
    line(&mut out, "base_rtt", "\"payload\"", "without headers and without an ACK");
    if matches!(parts.config.mode()?, DCQCN | DCTCP) {
        line(&mut out, "random_streams", "\"shared\"", "one generator for all marks, a new stream for each");
        line(
            &mut out,
            "first_stream",
            &first_stream(parts.topology, parts.dialect).to_string(),
            "others were taken before",
        );
    }
    Ok(out)
}

/// The classes of the priority groups in use.
pub fn class_names(flows: &[Flow]) -> Vec<(u8, String)> {
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

pub fn traffic(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::from("\n[[traffic]]\nkind = \"flow-list\"\n");
    line(
        &mut out,
        "file",
        &toml_edit::Value::from(parts.flow_file).to_string(),
        &format!("{} flows of {}", parts.flows.len(), parts.config.said("FLOW_FILE")),
    );
    Ok(out)
}
