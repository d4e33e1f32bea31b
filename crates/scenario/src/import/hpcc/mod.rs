//! The HPCC authors' simulator: its configuration with the files it names, as a scenario. So does its descendant
//! by PowerTCP's authors.
//!
//! Reading order: [`keys`] (what becomes of each key), [`config`], [`flags`], [`dialect`] (which of the two), `topology`,
//! `flows`, `next_hops` (one file each), `scenario` (the text), with `network`, `devices` and `scheme` for its longer parts.

pub mod config;
pub(super) mod devices;
pub mod dialect;
pub mod flags;
pub(super) mod flows;
#[cfg(test)]
mod inet_tests;
pub mod keys;
pub(super) mod network;
mod next_hops;
pub(super) mod parts;
pub(super) mod scenario;
pub(super) mod scheme;
#[cfg(test)]
mod tests;
pub(super) mod topology;
pub(super) mod units;

use super::{Fact, Imported};
use crate::files::Files;
use crate::{Attachment, Diagnostic, Source};
use config::Config;
use dialect::Dialect;
use flags::Flags;
use std::path::Path;
use std::sync::Arc;

/// The largest topology or flow file.
const LARGEST_FILE: u64 = 256_000_000;

/// Reads a configuration and the files it names. The scenario calls its list of flows
/// `STEM.flows.csv`, after its own name unless a stem is given.
pub fn import(source: &Arc<Source>, files: &Files, stem: Option<&str>) -> Result<Imported, Vec<Diagnostic>> {
    let config = Config::read(source)?;
    let mut warnings: Vec<Diagnostic> = config.output_only().into_iter().collect();
    let mut problems = Vec::new();
    let mut keep = |problem: Diagnostic| problems.push(problem);
    let mode = config.mode().map_err(&mut keep).ok();
    let dialect = dialect(&config, files, &mut warnings);
    let (dialect, flags) = dialect.map_err(|problem| vec![problem])?;
    let topology =
        open(&config, "TOPOLOGY_FILE", files, &mut warnings).and_then(|file| topology::Topology::read(&file, dialect));
    let topology = topology.map_err(&mut keep).ok();
    let flow_source = open(&config, "FLOW_FILE", files, &mut warnings).map_err(&mut keep).ok();
    let (Some(topology), Some(flow_source)) = (topology, flow_source) else { return Err(problems) };
    let flows = flows::read(&flow_source, &topology, dialect, &mut warnings).map_err(&mut keep).ok();
    let (Some(mode), Some(flows)) = (mode, flows) else { return Err(problems) };

    if dialect.is_inet() {
        next_hops::check(files, LARGEST_FILE).map_err(|problem| vec![problem])?;
    }

    let name = name(&source.name, files.base());
    let flow_file = format!("{}.flows.csv", stem.unwrap_or(&name));
    let parts = parts::Parts {
        name: &name,
        origin: &source.name,
        flow_file: &flow_file,
        config: &config,
        dialect,
        flags,
        topology: &topology,
        flows: &flows,
    };
    scheme::check_rates(&parts).map_err(|problem| vec![problem])?;
    let text = scenario::text(&parts, &mut warnings)?;
    let ignored = |key: &str| dialect.power().is_some_and(|power| power.ignores(key));
    let own = vec![
        Fact::new("simulator", dialect.name()),
        Fact::new("mode", mode),
        Fact::new("unused_keys", config.unused(mode, ignored)),
    ];
    Ok(imported(source, &parts, text, warnings, own))
}

/// Which simulator this is for, and its command line.
pub fn dialect(
    config: &Config<'_>,
    files: &Files,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(Dialect, Flags), Diagnostic> {
    let flags = Flags::read(files, config, LARGEST_FILE)?;
    let folder = folder_name(files.base());
    let dialect = Dialect::of(config, flags.as_ref(), folder.as_deref(), warnings)?;
    Ok((dialect, flags.unwrap_or_default()))
}

/// What an import comes to; `own` are facts of one simulator alone.
pub(super) fn imported(
    source: &Arc<Source>,
    parts: &parts::Parts<'_>,
    text: String,
    warnings: Vec<Diagnostic>,
    own: Vec<Fact>,
) -> Imported {
    let topology = parts.topology;
    let mut facts = vec![
        Fact::new("hosts", topology.hosts()),
        Fact::new("switches", topology.is_switch.len() - topology.hosts()),
        Fact::new("links", topology.links.len()),
        Fact::new("flows", parts.flows.len()),
    ];
    facts.extend(own);
    let list = Source::new(parts.flow_file, scenario::flow_list(parts));
    let files = vec![Attachment { name: parts.flow_file.to_owned(), source: list }];
    Imported { name: parts.name.to_owned(), text, files, warnings, facts, origin: Some(source.clone()) }
}

/// The file that a key names: from the configuration's folder, or else from the current directory.
pub(super) fn open(
    config: &Config<'_>,
    key: &str,
    files: &Files,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Arc<Source>, Diagnostic> {
    let name = config.file(key)?;
    let missing = match files.read(name, LARGEST_FILE) {
        Ok(source) => return Ok(source),
        Err(missing) => missing,
    };
    let here = Files::in_folder(Path::new("."));
    if !files.base().join(name).exists()
        && let Ok(source) = here.read(name, LARGEST_FILE)
    {
        let warning = config.error(key, format!("`{name}` is taken from the current directory"));
        warnings.push(warning.label("it is not in the configuration's folder"));
        return Ok(source);
    }
    let (why, looked_for) = missing;
    let error = config.error(key, format!("cannot read the file of `{key}`")).label(why);
    Err(error.help(format!("looked for {looked_for}")))
}

/// What the scenario is called: the configuration's file, or its folder where the file's name says
/// nothing.
pub(super) fn name(file: &str, base: &Path) -> String {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let chosen = match stem.as_str() {
        "config" | "conf" | "-" | "" => folder_name(base).unwrap_or(stem),
        _ => stem,
    };
    super::plain_name(&chosen, "hpcc")
}

fn folder_name(base: &Path) -> Option<String> {
    let folder = std::fs::canonicalize(base).ok()?;
    Some(folder.file_name()?.to_string_lossy().into_owned())
}
