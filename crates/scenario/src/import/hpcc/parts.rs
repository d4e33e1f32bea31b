//! What the scenario's text is made of: the files' contents, and lines of TOML.

use super::super::words::Result;
use super::config::Config;
use super::dialect::Dialect;
use super::flags::Flags;
use super::flows::Flow;
use super::topology::Topology;
use super::units;
use std::fmt::Write;
use xoff_engine::quantity::{format_rate, format_span};
use xoff_engine::{BitRate, Span};

/// Everything the text is made of.
pub struct Parts<'a> {
    pub name: &'a str,
    /// Name of the configuration on the command line.
    pub origin: &'a str,
    /// What the scenario calls the list of flows.
    pub flow_file: &'a str,
    pub config: &'a Config<'a>,
    pub dialect: Dialect,
    pub flags: Flags,
    pub topology: &'a Topology,
    pub flows: &'a [Flow],
}

impl Parts<'_> {
    /// What the text begins with; `importer` is the command that makes it.
    pub fn head(&self, importer: &str) -> String {
        let origin = comment(self.origin);
        format!(
            "# Made by `xoff import {importer}` from {origin}.\n# Comments name the setting of that file behind a line; lines without one copy what its simulator always does.\n\nname = \"{}\"\n",
            self.name
        )
    }
}

/// `key = value  # why`
pub fn line(out: &mut String, key: &str, value: &str, why: &str) {
    let _ = match why {
        "" => writeln!(out, "{key} = {value}"),
        why => writeln!(out, "{:<36} # {}", format!("{key} = {value}"), comment(why)),
    };
}

/// Without what would end a comment or is not allowed in one.
pub fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

pub fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

pub fn span(ns: u64) -> String {
    quoted(&format_span(Span::from_ns(ns)))
}

pub fn rate(bps: u64) -> String {
    quoted(&format_rate(BitRate::from_bps(bps)))
}

/// A number that TOML takes for a float.
pub fn decimal(number: f64) -> String {
    format!("{number:?}")
}

pub fn stop_ns(config: &Config<'_>) -> Result<u64> {
    match units::seconds(config.number("SIMULATOR_STOP_TIME")?) {
        Some(ns) if ns > 0 => Ok(ns),
        _ => Err(config
            .error("SIMULATOR_STOP_TIME", "the run cannot last so long")
            .label("above 0 and at most 100000 s")),
    }
}
