//! The scenario's text: that simulator's rules, and what the files say.

use super::super::hpcc::keys::HPCC;
use super::super::hpcc::parts::{Parts, line, quoted, span};
use super::super::hpcc::scenario::{class_names, traffic};
use super::super::hpcc::{devices, network, scheme};
use super::super::words::Result;
use super::has_irn;
use super::keys::{CONGA, CONWEAVE, DRILL, LETFLOW};
use crate::Diagnostic;
use xoff_engine::quantity::format_bytes;

/// The scenario, and warnings about what it makes of the files.
pub fn text(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> std::result::Result<String, Vec<Diagnostic>> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut out = parts.head("conweave");
    type Part = fn(&Parts<'_>, &mut Vec<Diagnostic>) -> Result<String>;
    let sections: [Part; 9] = [head, model, network::text, classes, switch, host, routing, scheme::text, traffic];
    for section in sections {
        match section(parts, warnings) {
            Ok(text) => out.push_str(&text),
            // Two sections may need the same setting.
            Err(problem) if problems.iter().any(|known| known.message == problem.message) => {}
            Err(problem) => problems.push(problem),
        }
    }
    out.push_str("\n[output]\n");
    line(&mut out, "pfc_frames", "true", "for `xoff export hpcc`, which writes pfc.txt from them");
    if problems.is_empty() { Ok(out) } else { Err(problems) }
}

fn head(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::new();
    let seed = parts.config.count("RANDOM_SEED", 1..=u64::from(u32::MAX))?;
    line(&mut out, "seed", &seed.to_string(), &parts.config.said("RANDOM_SEED"));
    out.push_str("\n[run]\n");
    line(&mut out, "allow_drops", "true", "a drop is counted and ends nothing");
    line(&mut out, "on_deadlock", "\"record\"", "");
    line(&mut out, "stall_after", "\"off\"", "");
    Ok(out)
}

fn model(_: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::from("\n[model]\n");
    line(&mut out, "dialect", "\"conweave\"", "its buffer, PFC, NIC, receivers and random numbers");
    line(&mut out, "time_resolution", "\"1ns-binary\"", "times are cut to whole nanoseconds");
    line(&mut out, "event_order", "\"insertion\"", "what was scheduled first happens first");
    line(&mut out, "ecmp", "\"murmur3\"", "of addresses and ports, seeded by the switch's id");
    line(&mut out, "next_hops", "\"by-link\"", "");
    line(&mut out, "base_rtt", "\"payload\"", "without headers and without an ACK");
    Ok(out)
}

fn classes(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::new();
    let lossless = if has_irn(parts.config)? { "false" } else { "true" };
    for (group, name) in class_names(parts.flows) {
        out.push_str("\n[[class]]\n");
        line(&mut out, "name", &quoted(&name), "");
        line(&mut out, "priority", &group.to_string(), "the priority group of the flows");
        line(&mut out, "lossless", lossless, &parts.config.said("ENABLE_PFC"));
        line(&mut out, "service", "\"round-robin\"", "");
    }
    out.push_str("\n[[class]]\n");
    line(&mut out, "name", "\"control\"", "ACKs, PFC frames and what switches send to each other");
    line(&mut out, "priority", "0", "");
    line(&mut out, "lossless", "false", "");
    line(&mut out, "service", "\"strict\"", "");
    line(&mut out, "control", "true", "");
    Ok(out)
}

fn switch(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let mut out = String::from("\n[switch]\n");
    let mebibytes = parts.config.count("BUFFER_SIZE", 1..=4095)?;
    line(&mut out, "buffer", &quoted(&format!("{mebibytes}MiB")), &parts.config.said("BUFFER_SIZE"));
    Ok(out)
}

fn host(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
    let config = parts.config;
    let mode = config.mode()?;
    devices::check_acks(config, warnings)?;
    let mut out = String::from("\n[host]\n");
    let mtu = config.count("PACKET_PAYLOAD_SIZE", 64..=9216)?;
    line(&mut out, "mtu", &quoted(&format_bytes(mtu)), &config.said("PACKET_PAYLOAD_SIZE"));
    line(&mut out, "data_header", "\"48B\"", "");
    // HPCC's scheme adds the 42 bytes of its telemetry; other ACKs are padded to 60.
    let ack = if mode == HPCC { "\"52B\"" } else { "\"60B\"" };
    line(&mut out, "ack_size", ack, if mode == HPCC { "and 42B of telemetry" } else { "" });
    line(&mut out, "pfc_size", "\"43B\"", "");
    line(&mut out, "gap", "\"0B\"", "");
    line(&mut out, "min_frame", "\"1B\"", "");
    line(&mut out, "ack_class", "\"control\"", "");
    line(&mut out, "retransmit_timeout", "\"4ms\"", "");
    if has_irn(config)? {
        line(&mut out, "recovery", "\"irn-rewind\"", &config.said("ENABLE_IRN"));
        let window = config.count("IRN_BDP", 1..=u64::from(u32::MAX))?;
        line(&mut out, "recovery_window", &quoted(&format_bytes(window)), &config.said("IRN_BDP"));
        line(&mut out, "rto_low", "\"100us\"", "");
        line(&mut out, "rto_high", "\"320us\"", "");
    } else {
        line(&mut out, "ack_every", "1", "");
        line(&mut out, "nak_interval", "\"4us\"", "");
    }
    line(&mut out, "scheduler", "\"scan\"", "");
    line(&mut out, "acks_paused_by", "\"none\"", "");
    line(&mut out, "repace_on_rate_change", if mode == HPCC { "true" } else { "false" }, "");
    out.push_str(&devices::window(parts)?);
    line(&mut out, "pace", if config.flag("RATE_BOUND")? { "true" } else { "false" }, &config.said("RATE_BOUND"));
    Ok(out)
}

fn routing(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let config = parts.config;
    let mode = match config.count("LB_MODE", 0..=u64::MAX)? {
        DRILL => "\"drill\"",
        CONGA => "\"conga\"",
        LETFLOW => "\"letflow\"",
        CONWEAVE => "\"conweave\"",
        _ => return Ok(String::new()),
    };
    let mut out = String::from("\n[routing]\n");
    line(&mut out, "mode", mode, &config.said("LB_MODE"));
    match mode {
        "\"letflow\"" => line(&mut out, "flowlet_gap", "\"100us\"", ""),
        "\"conga\"" => {
            line(&mut out, "flowlet_gap", "\"100us\"", "");
            line(&mut out, "dre_period", "\"50us\"", "");
            line(&mut out, "dre_alpha", "0.2", "");
            line(&mut out, "metric_age", "\"500us\"", "");
        }
        "\"conweave\"" => {
            for (name, key) in [
                ("idle", "CONWEAVE_TX_EXPIRY_TIME"),
                ("reply_extra", "CONWEAVE_REPLY_TIMEOUT_EXTRA"),
                ("path_pause", "CONWEAVE_PATH_PAUSE_TIME"),
                ("flush_extra", "CONWEAVE_EXTRA_VOQ_FLUSH_TIME"),
                ("default_wait", "CONWEAVE_DEFAULT_VOQ_WAITING_TIME"),
            ] {
                let us = config.number_in(key, 1.0..=100_000_000.0)?;
                line(&mut out, name, &span(us as u64 * 1000), &config.said(key));
            }
        }
        _ => {}
    }
    Ok(out)
}
