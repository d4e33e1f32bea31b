//! What a reader of traffic may ask about the scenario around it.

use super::names::{Names, position};
use super::reader::{Result, Text};
use xoff_fabric::plan::Plan;
use xoff_fabric::scheme::Format;
use xoff_fabric::servers::Servers;
use xoff_jobs::settle::Rule;

/// The scenario as far as it is known when traffic is read: all but the traffic itself.
pub struct TrafficContext<'a> {
    pub(crate) plan: &'a Plan,
    /// Which of its hosts make up which server.
    pub(crate) servers: &'a Servers,
    /// By node: the piece of the network it is in.
    pub(crate) pieces: &'a [u32],
    pub(crate) names: &'a Names,
    /// Names of [`Plan::classes`], by index.
    pub(crate) classes: &'a [String],
    /// Names of the configured schemes, by slot; the first is the default.
    pub(crate) schemes: &'a [String],
    /// What packets of each scheme look like, within a domain and between domains.
    pub(crate) formats: &'a [[Format; 2]],
    /// The class of traffic that names none.
    pub(crate) default_class: u8,
    /// When iterations of jobs need not be run any more.
    pub(crate) settle: Option<Rule>,
    /// A link fails, or a port.
    pub(crate) links_fail: bool,
    /// The position of this table among the scenario's `[[traffic]]`.
    pub(crate) index: usize,
}

impl TrafficContext<'_> {
    pub(crate) fn class(&self, name: &Text) -> Result<u8> {
        Ok(position("class", name, self.classes.iter().map(String::as_str))? as u8)
    }

    pub(crate) fn scheme(&self, name: &Text) -> Result<u8> {
        Ok(position("scheme", name, self.schemes.iter().map(String::as_str))? as u8)
    }
}
