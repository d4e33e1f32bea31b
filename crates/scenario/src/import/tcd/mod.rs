//! The TCD authors' simulator (DCQCN, TCD, a switch like PCN's, and PFC alone): its configuration with
//! the files it names, as a scenario.
//!
//! It is a relative of the HPCC authors': words, topology and much of the text are the same
//! ([`hpcc`]). Reading order: [`keys`] (what becomes of each key), `flows`, `scenario`.

mod flows;
pub mod keys;
mod scenario;
#[cfg(test)]
mod tests;

use super::hpcc::config::Config;
use super::hpcc::dialect::Dialect;
use super::hpcc::flags::Flags;
use super::hpcc::keys::{among, find};
use super::hpcc::parts::Parts;
use super::hpcc::topology::Topology;
use super::hpcc::{self};
use super::words::Result;
use super::{Fact, Imported};
use crate::files::Files;
use crate::{Diagnostic, Source};
use keys::{DCQCN, KEYS, NONE, NP_ECN, TCD};
use std::sync::Arc;

/// Whether a text is such a configuration: it begins with one of the keys, and has some that the HPCC authors'
/// simulator has not.
pub fn recognise(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut words = text.split_whitespace().peekable();
    let known = |word: &str| among(KEYS, word).is_some();
    words.peek().is_some_and(|word| known(word))
        && !text.split_whitespace().any(|word| word == "CC_MODE")
        && words.any(|word| known(word) && find(word).is_none())
}

/// Reads a configuration and the files it names. The scenario calls its list of flows
/// `STEM.flows.csv`, after its own name unless a stem is given.
pub fn import(
    source: &Arc<Source>,
    files: &Files,
    stem: Option<&str>,
) -> std::result::Result<Imported, Vec<Diagnostic>> {
    let config = Config::of(source, KEYS)?;
    let mut warnings: Vec<Diagnostic> = config.output_only().into_iter().collect();
    let mut problems = Vec::new();
    let mut keep = |problem: Diagnostic| problems.push(problem);
    let mode = mode(&config).map_err(&mut keep).ok();
    check(&config).map_err(&mut keep).ok();
    let topology = hpcc::open(&config, "TOPOLOGY_FILE", files, &mut warnings);
    let topology = topology.and_then(|file| Topology::read(&file, Dialect::Hpcc)).map_err(&mut keep).ok();
    let flow_source = hpcc::open(&config, "FLOW_FILE", files, &mut warnings).map_err(&mut keep).ok();
    let sizes = || Ok((packet_bytes(&config)?, config.number("SIMULATOR_STOP_TIME")?));
    let sizes = sizes().map_err(&mut keep).ok();
    let (Some(topology), Some(flow_source), Some((packet, stop))) = (topology, flow_source, sizes) else {
        return Err(problems);
    };
    let flows = flows::read(&flow_source, &topology, packet, stop, &mut warnings).map_err(&mut keep).ok();
    let (Some(mode), Some(flows), true) = (mode, flows, problems.is_empty()) else { return Err(problems) };

    let name = hpcc::name(&source.name, files.base());
    let flow_file = format!("{}.flows.csv", stem.unwrap_or(&name));
    let parts = Parts {
        name: &name,
        origin: &source.name,
        flow_file: &flow_file,
        config: &config,
        topology: &topology,
        flows: &flows,
        dialect: Dialect::Hpcc,
        flags: Flags::default(),
    };
    let text = scenario::text(&parts, mode, &mut warnings)?;
    let own = vec![Fact::new("mode", mode), Fact::new("unused_keys", config.unused(mode, |_| false))];
    Ok(hpcc::imported(source, &parts, text, warnings, own))
}

/// The nominal size of a packet.
fn packet_bytes(config: &Config<'_>) -> Result<u64> {
    config.count("PACKET_PAYLOAD_SIZE", 64..=9216)
}

/// Which of the four it runs.
fn mode(config: &Config<'_>) -> Result<u64> {
    if !config.flag("ENABLE_QCN")? {
        return Ok(NONE);
    }
    let (marks, reacts) = (config.flag("ENABLE_ROOTECN")?, config.flag("ENABLE_ROOTECNCC")?);
    if marks != reacts {
        let error = config.error("ENABLE_ROOTECNCC", "half of TCD cannot be imported");
        return Err(error.label("ENABLE_ROOTECN and ENABLE_ROOTECNCC, both 0 or both 1"));
    }
    match (marks, config.flag("ENABLE_NPECN")?) {
        (true, true) => {
            Err(config.error("ENABLE_NPECN", "a port cannot mark in two ways").label("ENABLE_ROOTECN or ENABLE_NPECN"))
        }
        (true, false) => Ok(TCD),
        (false, true) => Ok(NP_ECN),
        (false, false) => Ok(DCQCN),
    }
}

/// Settings of which only one value can be had.
fn check(config: &Config<'_>) -> Result<()> {
    for (key, why) in [
        ("USE_DYNAMIC_PFC_THRESHOLD", "its dynamic thresholds cannot be imported"),
        ("SEND_IN_CHUNKS", "sending in chunks cannot be imported"),
        ("PACKET_LEVEL_ECMP", "the packets of a flow take one path"),
        ("L2_WAIT_FOR_ACK", "waiting for the ACK of a chunk cannot be imported"),
        ("L2_BACK_TO_ZERO", "going back to the start of a chunk cannot be imported"),
        ("L2_TEST_READ", "its reads cannot be imported"),
    ] {
        if config.flag(key)? {
            return Err(config.error(key, why).label(format!("only {key} 0")));
        }
    }
    if config.flag("CLAMP_TARGET_RATE_AFTER_TIMER")? && !config.flag("CLAMP_TARGET_RATE")? {
        let error = config.error("CLAMP_TARGET_RATE_AFTER_TIMER", "this rule of the target cannot be imported");
        return Err(error.label("only with CLAMP_TARGET_RATE 1, which overrides it"));
    }
    if config.number("NP_SAMPLING_INTERVAL")? != 0.0 {
        let error = config.error("NP_SAMPLING_INTERVAL", "marks count from the beginning");
        return Err(error.label("only NP_SAMPLING_INTERVAL 0"));
    }
    if config.number("APP_STOP_TIME")? < config.number("SIMULATOR_STOP_TIME")? {
        let error = config.error("APP_STOP_TIME", "receivers listen to the end of the run");
        return Err(error.label("not before SIMULATOR_STOP_TIME"));
    }
    Ok(())
}
