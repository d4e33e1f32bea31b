//! Files of other simulators, as scenarios.
//!
//! Reading order: [`hpcc`] (the HPCC authors' simulator), [`tcd`] (the TCD authors'), [`conweave`] (ConWeave's),
//! [`htsim`] (connection matrices),
//! [`htsim_run`] (its Ultra Ethernet program), [`chakra`]
//! (execution traces), [`cdf`] (distributions of sizes), [`page`] (their documentation).

pub mod cdf;
pub mod chakra;
pub mod conweave;
mod flow_list;
pub mod hpcc;
pub mod htsim;
pub mod htsim_run;
pub mod page;
pub mod tcd;
pub(crate) mod words;

use crate::{Attachment, Diagnostic, Scenario, Source};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// A scenario made from files of another simulator.
#[derive(Debug)]
pub struct Imported {
    /// Name of the scenario, made from that of its file.
    pub name: String,
    /// TOML.
    pub text: String,
    /// Files that the text names, to be kept beside it.
    pub files: Vec<Attachment>,
    /// What is different here, or without effect.
    pub warnings: Vec<Diagnostic>,
    /// What was found, for people and programs.
    pub facts: Vec<Fact>,
    /// The configuration whose settings are beside the lines of the text.
    pub origin: Option<Arc<Source>>,
}

/// Something counted or chosen on the way.
#[derive(Clone, Debug)]
pub struct Fact {
    /// A key of the JSON that `xoff import` prints.
    pub name: &'static str,
    /// A number, a text or a list.
    pub value: Value,
}

impl Fact {
    pub(crate) fn new(name: &'static str, value: impl Into<Value>) -> Fact {
        Fact { name, value: value.into() }
    }
}

impl Imported {
    /// The scenario, as if it had been written and opened.
    pub fn scenario(&self) -> Scenario {
        let scenario = Scenario::from_text(format!("{}.toml", self.name), self.text.as_str(), Path::new("."));
        scenario.with(self.files.clone(), self.warnings.clone()).made_from(self.origin.clone())
    }
}

/// Opens a scenario, or a configuration that can be read as one.
pub fn open(path: &Path) -> Result<Scenario, Vec<Diagnostic>> {
    let scenario = Scenario::open(path).map_err(|problem| vec![problem])?;
    if tcd::recognise(&scenario.source().text) {
        return Ok(tcd::import(scenario.source(), scenario.files(), None)?.scenario());
    }
    if conweave::recognise(&scenario.source().text) {
        return Ok(conweave::import(scenario.source(), scenario.files(), None)?.scenario());
    }
    if !hpcc::config::recognise(&scenario.source().text) {
        return Ok(scenario);
    }
    Ok(hpcc::import(scenario.source(), scenario.files(), None)?.scenario())
}

/// A name that a scenario may have, made of any text.
pub fn plain_name(text: &str, otherwise: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' };
    let name: String = text.chars().map(plain).take(64).collect();
    let name = name.trim_start_matches(['.', '-']).replace("->", "--");
    if name.is_empty() { otherwise.to_owned() } else { name }
}
