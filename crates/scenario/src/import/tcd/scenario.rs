//! The scenario's text: that simulator's rules, and what the files say.

use super::super::hpcc::parts::{Parts, decimal, line, quoted, rate, span, stop_ns};
use super::super::hpcc::scenario::{class_names, run, traffic};
use super::super::hpcc::{config::Config, network};
use super::super::words::Result;
use super::flows::LACKING_BYTES;
use super::keys::{DCQCN, NONE, NP_ECN, TCD};
use super::packet_bytes;
use crate::Diagnostic;
use xoff_engine::quantity::format_bytes;

/// What thresholds count in; constants there, as are all numbers of its buffers.
const CELL_BYTES: u64 = 1030;
const XOFF_CELLS: u64 = 320;
/// Below this far under XOFF an ingress is resumed, not at it.
const RESUME_CELLS: u64 = 2;
const HEADROOM_CELLS: u64 = 100;
/// Cells of every egress queue that marking does not see.
const GUARANTEED_CELLS: u64 = 1;
/// A queue of so many cells counts as empty.
const EMPTY_CELLS: u64 = 2;

/// The scenario, and warnings about what it makes of the files.
pub fn text(
    parts: &Parts<'_>,
    mode: u64,
    warnings: &mut Vec<Diagnostic>,
) -> std::result::Result<String, Vec<Diagnostic>> {
    let mut out = parts.head("tcd");
    let mut problems = Vec::new();
    let sections = [
        seed(parts.config),
        run(parts, warnings),
        model(),
        network::text(parts, warnings),
        classes(parts),
        switch(parts.config),
        host(parts.config),
        scheme(parts.config, mode),
        traffic(parts, warnings),
    ];
    for section in sections {
        match section {
            Ok(text) => out.push_str(&text),
            Err(problem) => problems.push(problem),
        }
    }
    out.push_str("\n[output]\n");
    line(&mut out, "pfc_frames", "true", "");
    if problems.is_empty() { Ok(out) } else { Err(problems) }
}

fn seed(config: &Config<'_>) -> Result<String> {
    let mut out = String::new();
    let seed = config.count("SEED_NUMBER", 0..=u64::from(u32::MAX))?;
    line(&mut out, "seed", &seed.to_string(), &config.said("SEED_NUMBER"));
    Ok(out)
}

fn model() -> Result<String> {
    let mut out = String::from("\n[model]\n");
    line(&mut out, "time_resolution", "\"1ns-binary\"", "times are cut to whole nanoseconds");
    line(&mut out, "event_order", "\"insertion\"", "what was scheduled first happens first");
    Ok(out)
}

fn classes(parts: &Parts<'_>) -> Result<String> {
    let mut out = String::new();
    for (group, name) in class_names(parts.flows) {
        out.push_str("\n[[class]]\n");
        line(&mut out, "name", &quoted(&name), "");
        line(&mut out, "priority", &group.to_string(), "the priority group of the flows");
        line(&mut out, "lossless", "true", "");
        line(&mut out, "service", "\"round-robin\"", "");
    }
    out.push_str("\n[[class]]\n");
    line(&mut out, "name", "\"control\"", "CNPs and ACKs");
    line(&mut out, "priority", "7", "");
    line(&mut out, "lossless", "false", "");
    line(&mut out, "service", "\"strict\"", "");
    line(&mut out, "control", "true", "");
    Ok(out)
}

fn cells(count: u64) -> String {
    quoted(&format_bytes(count * CELL_BYTES))
}

fn switch(config: &Config<'_>) -> Result<String> {
    let pause_us = config.number_in("PAUSE_TIME", 2.0..=65_535.0)? as u64;
    let mut out = String::from("\n[switch]\n");
    line(&mut out, "buffer", "\"18MB\"", "");
    line(&mut out, "count_passing", "true", "");
    out.push_str("\n[switch.pfc]\n");
    line(&mut out, "threshold", "\"static\"", &config.said("USE_DYNAMIC_PFC_THRESHOLD"));
    line(&mut out, "xoff", &cells(XOFF_CELLS), "320 cells of 1030 B");
    let below = (XOFF_CELLS - RESUME_CELLS) * CELL_BYTES - 1;
    line(&mut out, "xon", &quoted(&format_bytes(below)), "less than two cells below");
    line(&mut out, "headroom", &cells(HEADROOM_CELLS), "");
    line(&mut out, "signalling", "\"timed\"", "");
    line(&mut out, "pause_time", &span(pause_us * 1000), &config.said("PAUSE_TIME"));
    line(&mut out, "refresh", &span(pause_us / 2 * 1000), "half of it, in whole microseconds");
    line(&mut out, "resume_at", "\"checks\"", "");
    Ok(out)
}

fn host(config: &Config<'_>) -> Result<String> {
    let mut out = String::from("\n[host]\n");
    let mtu = packet_bytes(config)? - LACKING_BYTES;
    line(&mut out, "mtu", &quoted(&format_bytes(mtu)), &format!("{}, less 24", config.said("PACKET_PAYLOAD_SIZE")));
    line(&mut out, "data_header", "\"44B\"", "");
    line(&mut out, "ack_size", "\"30B\"", "");
    line(&mut out, "notification_size", "\"30B\"", "");
    line(&mut out, "pfc_size", "\"31B\"", "");
    line(&mut out, "gap", "\"0B\"", "");
    line(&mut out, "min_frame", "\"1B\"", "");
    let every = config.count("L2_ACK_INTERVAL", 1..=1000)?;
    line(&mut out, "ack_every", &every.to_string(), &config.said("L2_ACK_INTERVAL"));
    line(&mut out, "nak_interval", "\"500us\"", "");
    line(&mut out, "retransmit_timeout", &span(stop_ns(config)?), "there is none: it never comes within the run");
    line(&mut out, "scheduler", "\"scan\"", "");
    line(&mut out, "acks_paused_by", "\"none\"", "");
    line(&mut out, "repace_on_rate_change", "false", "");
    Ok(out)
}

fn scheme(config: &Config<'_>, mode: u64) -> Result<String> {
    let mut out = String::from("\n[scheme]\n");
    let said: Vec<String> =
        ["ENABLE_QCN", "ENABLE_ROOTECN", "ENABLE_NPECN"].into_iter().map(|key| config.said(key)).collect();
    match mode {
        NONE => {
            line(&mut out, "name", "\"none\"", &config.said("ENABLE_QCN"));
            return Ok(out);
        }
        TCD => {
            line(&mut out, "name", "\"tcd\"", &said.join(", "));
            line(&mut out, "max_ton_from", "\"constant\"", "");
            let interval = config.count("ROOTECN_INTERVAL", 1..=1_000_000)?;
            line(&mut out, "max_ton", &span(interval * 1000), &config.said("ROOTECN_INTERVAL"));
            line(&mut out, "empty_below", &cells(EMPTY_CELLS + GUARANTEED_CELLS), "beyond one guaranteed cell");
            line(&mut out, "clock", "\"microseconds\"", "");
            out.push_str("\n[scheme.base]\n");
            line(&mut out, "name", "\"dcqcn\"", "");
        }
        NP_ECN => {
            line(&mut out, "name", "\"np-ecn\"", &said.join(", "));
            out.push_str("\n[scheme.base]\n");
            line(&mut out, "name", "\"dcqcn\"", "");
        }
        _ => line(&mut out, "name", "\"dcqcn\"", &said.join(", ")),
    }
    line(&mut out, "preset", "\"paper-sim\"", "");
    if matches!(mode, DCQCN | TCD) {
        line(&mut out, "poll_from", "\"after-first-packet\"", "");
    }
    for (param, key) in [("kmin", "KMIN"), ("kmax", "KMAX")] {
        let count = config.count(key, 0..=1_000_000)?;
        let said = format!("{} cells beyond one guaranteed", config.said(key));
        line(&mut out, param, &cells(count + GUARANTEED_CELLS), &said);
    }
    line(&mut out, "pmax", &decimal(config.number_in("PMAX", 0.0..=1.0)?), &config.said("PMAX"));
    for (param, key) in
        [("cnp_interval", "CNP_INTERVAL"), ("alpha_period", "ALPHA_RESUME_INTERVAL"), ("increase_timer", "RP_TIMER")]
    {
        let us = config.number_in(key, 1.0..=100_000_000.0)?;
        line(&mut out, param, &span(us as u64 * 1000), &config.said(key));
    }
    line(&mut out, "g", &decimal(config.number_in("DCTCP_GAIN", 0.0..=1.0)?), &config.said("DCTCP_GAIN"));
    let bytes = config.count("BYTE_COUNTER", 1..=u64::from(u32::MAX))?;
    line(&mut out, "byte_counter", &quoted(&format_bytes(bytes)), &config.said("BYTE_COUNTER"));
    let times = config.count("FAST_RECOVERY_TIMES", 1..=100)?;
    line(&mut out, "fast_recovery", &times.to_string(), &config.said("FAST_RECOVERY_TIMES"));
    let clamp = if config.flag("CLAMP_TARGET_RATE")? { "\"always\"" } else { "\"after-increase\"" };
    line(&mut out, "target_clamp", clamp, &config.said("CLAMP_TARGET_RATE"));
    for (param, key) in [("rate_ai", "RATE_AI"), ("rate_hai", "RATE_HAI")] {
        line(&mut out, param, &rate(config.rate(key)?), &config.said(key));
    }
    Ok(out)
}
