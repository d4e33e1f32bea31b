//! ConWeave's simulator (ECMP, DRILL, LetFlow, CONGA and ConWeave; lossless or with IRN): its configuration with the
//! files it names, as a scenario.
//!
//! It was made of the HPCC authors', and words, topology and much of the text are the same ([`hpcc`]). Reading order:
//! [`keys`] (what becomes of each key), `flows`, `scenario`.

mod flows;
pub mod keys;
mod scenario;
#[cfg(test)]
mod tests;

use super::hpcc::config::Config;
use super::hpcc::dialect::Dialect;
use super::hpcc::flags::Flags;
use super::hpcc::keys::{DCQCN, among};
use super::hpcc::parts::Parts;
use super::hpcc::scheme::check_rates;
use super::hpcc::topology::Topology;
use super::hpcc::{self};
use super::words::Result;
use super::{Fact, Imported};
use crate::files::Files;
use crate::{Diagnostic, Source};
use keys::{CONGA, CONWEAVE, DRILL, ECMP, KEYS, LETFLOW};
use std::sync::Arc;

/// Whether a text is such a configuration: it begins with one of the keys, and says how paths are chosen.
pub fn recognise(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut words = text.split_whitespace();
    words.next().is_some_and(|word| among(KEYS, word).is_some())
        && text.split_whitespace().any(|word| word == "LB_MODE")
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
    let mode = config.mode().map_err(&mut keep).ok();
    check(&config).map_err(&mut keep).ok();
    let topology = hpcc::open(&config, "TOPOLOGY_FILE", files, &mut warnings);
    let topology = topology.and_then(|file| Topology::read(&file, Dialect::ConWeave)).and_then(with_one_delay);
    let topology = topology.map_err(&mut keep).ok();
    let flow_source = hpcc::open(&config, "FLOW_FILE", files, &mut warnings).map_err(&mut keep).ok();
    let (Some(topology), Some(flow_source)) = (topology, flow_source) else { return Err(problems) };
    let flows = flows::read(&flow_source, &topology, &mut warnings).map_err(&mut keep).ok();
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
        dialect: Dialect::ConWeave,
        flags: Flags::default(),
    };
    check_rates(&parts).map_err(|problem| vec![problem])?;
    let text = scenario::text(&parts, &mut warnings)?;
    let own = vec![
        Fact::new("simulator", parts.dialect.name()),
        Fact::new("mode", mode),
        Fact::new("unused_keys", config.unused(mode, |_| false)),
    ];
    Ok(hpcc::imported(source, &parts, text, warnings, own))
}

/// What that simulator asks of every link.
fn with_one_delay(topology: Topology) -> Result<Topology> {
    match topology.links.iter().find(|link| link.delay_ns != 1000) {
        None => Ok(topology),
        Some(link) => {
            let error = topology.place(link).error("this link has another delay than that simulator can have");
            Err(error.label("1000ns").help("its round trips are counted with 1 us for every link"))
        }
    }
}

/// Whether IRN recovers losses, and PFC does not prevent them.
fn has_irn(config: &Config<'_>) -> Result<bool> {
    config.flag("ENABLE_IRN")
}

/// Settings of which only some values can be had.
fn check(config: &Config<'_>) -> Result<()> {
    if config.flag("ENABLE_PFC")? == has_irn(config)? {
        let error = config.error("ENABLE_IRN", "exactly one of PFC and IRN can be had");
        return Err(error.label("ENABLE_PFC 1 and ENABLE_IRN 0, or ENABLE_PFC 0 and ENABLE_IRN 1"));
    }
    let balancing = config.count("LB_MODE", 0..=u64::MAX)?;
    if ![ECMP, DRILL, CONGA, LETFLOW, CONWEAVE].contains(&balancing) {
        let error = config.error("LB_MODE", format!("LB_MODE {balancing} is unknown"));
        return Err(error.label("0 ECMP, 2 DRILL, 3 CONGA, 6 LetFlow, 9 ConWeave"));
    }
    if balancing == CONWEAVE && config.mode()? != DCQCN {
        let error = config.error("LB_MODE", "ConWeave runs with DCQCN alone there");
        return Err(error.label("CC_MODE 1 with LB_MODE 9"));
    }
    if !config.flag("USE_DYNAMIC_PFC_THRESHOLD")? {
        let error = config.error("USE_DYNAMIC_PFC_THRESHOLD", "its static thresholds cannot be imported");
        return Err(error.label("only USE_DYNAMIC_PFC_THRESHOLD 1"));
    }
    if config.count("PAUSE_TIME", 0..=u64::MAX)? != 5 {
        return Err(config.error("PAUSE_TIME", "a PAUSE lasts 5 us").label("only PAUSE_TIME 5"));
    }
    if config.link_down()?.is_some() {
        let error = config.error("LINK_DOWN", "a link that goes down cannot be imported");
        return Err(error.label("only LINK_DOWN 0 0 0"));
    }
    Ok(())
}
