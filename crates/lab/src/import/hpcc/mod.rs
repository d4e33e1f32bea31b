//! The HPCC authors' simulator: its configuration with the files it names, as a scenario.
//!
//! Reading order: [`keys`] (what becomes of each key), [`config`], [`topology`], [`flows`] (one file
//! each), [`scenario`] (the text).

pub mod config;
mod flows;
pub mod keys;
mod scenario;
#[cfg(test)]
mod tests;
mod topology;
mod units;

use super::{Fact, Imported};
use crate::scenario::reader::read_file;
use crate::scenario::{Attachment, Diagnostic, Source};
use config::Config;
use std::path::Path;
use std::sync::Arc;

/// The largest topology or flow file.
const LARGEST_FILE: u64 = 256_000_000;

/// Reads a configuration and the files it names, which are looked up from `base`. The scenario calls
/// its list of flows `STEM.flows.csv`, after its own name unless a stem is given.
pub fn import(source: &Arc<Source>, base: &Path, stem: Option<&str>) -> Result<Imported, Vec<Diagnostic>> {
    let config = Config::read(source)?;
    let mut warnings: Vec<Diagnostic> = config.output_only().into_iter().collect();
    let mut problems = Vec::new();
    let mut keep = |problem: Diagnostic| problems.push(problem);
    let mode = config.mode().map_err(&mut keep).ok();
    let topology = open(&config, "TOPOLOGY_FILE", base, &mut warnings).and_then(|file| topology::Topology::read(&file));
    let topology = topology.map_err(&mut keep).ok();
    let flow_source = open(&config, "FLOW_FILE", base, &mut warnings).map_err(&mut keep).ok();
    let (Some(topology), Some(flow_source)) = (topology, flow_source) else { return Err(problems) };
    let flows = flows::read(&flow_source, &topology, &mut warnings).map_err(&mut keep).ok();
    let (Some(mode), Some(flows)) = (mode, flows) else { return Err(problems) };

    let name = name(&source.name, base);
    let flow_file = format!("{}.flows.csv", stem.unwrap_or(&name));
    let parts = scenario::Parts {
        name: &name,
        origin: &source.name,
        flow_file: &flow_file,
        config: &config,
        topology: &topology,
        flows: &flows,
    };
    scenario::check_rates(&parts).map_err(|problem| vec![problem])?;
    let text = scenario::text(&parts, &mut warnings)?;
    let list = Source::new(flow_file.as_str(), scenario::flow_list(&parts));
    let facts = vec![
        Fact::new("hosts", topology.hosts()),
        Fact::new("switches", topology.is_switch.len() - topology.hosts()),
        Fact::new("links", topology.links.len()),
        Fact::new("flows", flows.len()),
        Fact::new("mode", mode),
        Fact::new("unused_keys", config.unused(mode)),
    ];
    Ok(Imported { name, text, files: vec![Attachment { name: flow_file, source: list }], warnings, facts })
}

/// The file that a key names: from the configuration's folder, or else from the current directory.
fn open(
    config: &Config<'_>,
    key: &str,
    base: &Path,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Arc<Source>, Diagnostic> {
    let name = config.file(key)?;
    let beside = base.join(name);
    let refuse = |why: String| {
        let error = config.error(key, format!("cannot read the file of `{key}`")).label(why);
        error.help(format!("looked for {}", beside.display()))
    };
    match read_file(&beside, LARGEST_FILE) {
        Ok(text) => Ok(Source::new(beside.display().to_string(), text)),
        Err(why) if !beside.exists() && Path::new(name).exists() && base != Path::new(".") => {
            let text = read_file(Path::new(name), LARGEST_FILE).map_err(|_| refuse(why))?;
            let warning = config.error(key, format!("`{name}` is taken from the current directory"));
            warnings.push(warning.label("it is not in the configuration's folder"));
            Ok(Source::new(name, text))
        }
        Err(why) => Err(refuse(why)),
    }
}

/// What the scenario is called: the configuration's file, or its folder where the file's name says
/// nothing.
fn name(file: &str, base: &Path) -> String {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = || {
        let folder = std::fs::canonicalize(base).ok()?;
        Some(folder.file_name()?.to_string_lossy().into_owned())
    };
    let chosen = match stem.as_str() {
        "config" | "conf" | "-" | "" => folder().unwrap_or(stem),
        _ => stem,
    };
    super::plain_name(&chosen, "hpcc")
}
