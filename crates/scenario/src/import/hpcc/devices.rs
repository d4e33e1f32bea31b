//! The parts of the scenario's text about switches and hosts.

use super::super::words::Result;
use super::config::Config;
use super::flags::{Flags, Sharing};
use super::keys::{HPCC, PINT};
use super::parts::{Parts, decimal, line, quoted, rate, span, stop_ns};
use crate::Diagnostic;
use xoff_engine::quantity::format_bytes;

/// Reserve of a port, and how far below the threshold it is resumed; constants there.
const RESERVE_BYTES: u64 = 4096;
const RESUME_BYTES: u64 = 3072;
/// Headroom of a port in bandwidth-delay products.
const HEADROOM_BDPS: u64 = 3;

/// XON of the newer simulator, where a port is also resumed below so many bytes.
const INET_RESUME_BYTES: u64 = 2496;
const INET_RESUME_BELOW_BYTES: u64 = 1248;

pub fn switch(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
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
    if !parts.dialect.is_inet() {
        leaves_room(parts, mebibytes)?;
    }
    let mut out = String::from("\n[switch]\n");
    line(&mut out, "buffer", &quoted(&format!("{mebibytes}MiB")), &config.said("BUFFER_SIZE"));
    line(&mut out, "count_passing", "true", "");
    out.push_str("\n[switch.pfc]\n");
    let size = |bytes| quoted(&format_bytes(bytes));
    if parts.dialect.is_inet() {
        sharing(&mut out, parts)?;
        line(&mut out, "reserve", &size(0), "");
        line(&mut out, "xon_offset", &size(INET_RESUME_BYTES), "");
        line(&mut out, "xon_floor", &size(INET_RESUME_BELOW_BYTES), "");
    } else {
        line(&mut out, "threshold", "\"dynamic\"", "");
        line(&mut out, "alpha", "\"by-speed-up\"", "");
        line(&mut out, "alpha_base", "0.125", "");
        line(&mut out, "nic_rate", &rate(topology.nic_rate_bps()), "the rate of the first host");
        line(&mut out, "reserve", &size(RESERVE_BYTES), "");
        line(&mut out, "xon_offset", &size(RESUME_BYTES), "");
    }
    line(&mut out, "headroom", "\"bdp\"", "");
    line(&mut out, "headroom_bdps", &HEADROOM_BDPS.to_string(), "");
    let reserved = match (parts.dialect.is_inet(), parts.flags.headroom_beside) {
        (false, _) => "\"port\"",
        (true, false) => "\"none\"",
        (true, true) => "\"beside\"",
    };
    line(&mut out, "headroom_reserved_per", reserved, "");
    line(&mut out, "signalling", "\"on-off\"", "");
    Ok(out)
}

/// How the command line of the newer simulator shares buffers.
fn sharing(out: &mut String, parts: &Parts<'_>) -> Result<()> {
    let Flags { sharing, alpha, gamma, .. } = parts.flags;
    match sharing {
        Sharing::Dynamic => {
            line(out, "threshold", "\"dynamic\"", "");
            line(out, "headroom_rule", "\"latched\"", "");
        }
        Sharing::Abm => {
            if !parts.config.flag("GLOBAL_T")? {
                let error = parts.config.error("GLOBAL_T", "ABM cannot be imported with GLOBAL_T 0");
                return Err(error.label("the first bandwidth-delay product of each flow would be of its own path"));
            }
            line(out, "threshold", "\"abm\"", "--bufalg=1");
            line(out, "unscheduled", "\"longest-bdp\"", "hosts tag these packets");
        }
        Sharing::Reverie => {
            line(out, "threshold", "\"reverie\"", "--bufalg=2");
            line(out, "gamma", &decimal(gamma), &format!("--gamma={gamma}"));
        }
    }
    if sharing != Sharing::Dynamic {
        line(out, "active_queues", "\"evaluated\"", "");
    }
    line(out, "alpha", &decimal(alpha), &format!("--alphaI={alpha}"));
    Ok(())
}

/// Whether headrooms and reserves fit the buffer that they are taken off.
fn leaves_room(parts: &Parts<'_>, mebibytes: u64) -> Result<()> {
    let (config, topology, buffer_bytes) = (parts.config, parts.topology, mebibytes << 20);
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
    Ok(())
}

pub fn host(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
    let config = parts.config;
    let mode = config.mode()?;
    check_acks(config, warnings)?;
    let mut out = String::from("\n[host]\n");
    let mtu = config.count("PACKET_PAYLOAD_SIZE", 64..=9216)?;
    line(&mut out, "mtu", &quoted(&format_bytes(mtu)), &config.said("PACKET_PAYLOAD_SIZE"));
    line(&mut out, "data_header", "\"48B\"", "");
    // HPCC's scheme adds the 42 bytes of its telemetry to 46; other ACKs are padded to 60.
    let (ack, why) = match mode {
        HPCC => ("\"46B\"", "and 42B of telemetry"),
        PINT => ("\"58B\"", "and 2B of digest"),
        _ => ("\"60B\"", ""),
    };
    line(&mut out, "ack_size", ack, why);
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
    let repaces = matches!(mode, HPCC | PINT);
    line(&mut out, "repace_on_rate_change", if repaces { "true" } else { "false" }, "");
    out.push_str(&window(parts)?);
    line(&mut out, "pace", if config.flag("RATE_BOUND")? { "true" } else { "false" }, &config.said("RATE_BOUND"));
    Ok(out)
}

/// An ACK for each packet, and no chunks.
pub fn check_acks(config: &Config<'_>, warnings: &mut Vec<Diagnostic>) -> Result<()> {
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
    Ok(())
}
/// The cap on what is in flight.
pub fn window(parts: &Parts<'_>) -> Result<String> {
    let (config, power) = (parts.config, parts.dialect.power().is_some());
    let mut out = String::new();
    let (has, scales, global) = (config.flag("HAS_WIN")?, config.flag("VAR_WIN")?, config.flag("GLOBAL_T")?);
    // PowerTCP's window that follows the rate is its scheme's own.
    let windowed = has && !(power && scales);
    if !windowed && config.mode()? == HPCC && !power {
        let error = config.error("HAS_WIN", "CC_MODE 3 cannot do without its window");
        return Err(error.label("its law divides by the window, which is 0 there").help("use HAS_WIN 1"));
    }
    let cap = match (windowed, global) {
        (false, _) => "none",
        (true, true) => "longest-bdp",
        (true, false) => "path-bdp",
    };
    line(&mut out, "inflight_cap", &quoted(cap), &format!("{}, {}", config.said("HAS_WIN"), config.said("GLOBAL_T")));
    if windowed && parts.dialect.is_inet() {
        line(&mut out, "inflight_rate", "\"line\"", "");
    }
    if windowed {
        line(&mut out, "inflight_scales", if scales { "true" } else { "false" }, &config.said("VAR_WIN"));
    }
    Ok(out)
}
