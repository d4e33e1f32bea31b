//! `flags.txt`, where there is one beside the configuration: the command line of ns3-datacenter.
//!
//! `--algorithm` repeats `CC_MODE`, `--wien` and `--delayWien` lay PowerTCP over mode 3, `--windowCheck` takes the place
//! of `HAS_WIN` and `VAR_WIN`, `--bufalg`, `--alphaI` and `--gamma` say how buffers are shared.

use super::super::words::{Result, number, shown};
use super::config::Config;
use crate::files::Files;
use crate::{Diagnostic, Place, Source};
use std::sync::Arc;

/// Written by who ran the simulator, not by the simulator.
const NAME: &str = "flags.txt";

/// How a switch shares its buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// Dynamic thresholds.
    Dynamic,
    /// ABM at lossless ingresses.
    Abm,
    /// Reverie's one pool.
    Reverie,
}

/// PowerTCP in place of HPCC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Power {
    /// `wien`
    Telemetry,
    /// `delayWien`
    Delay,
}

impl Power {
    /// Keys of `CC_MODE 3` that its law does not look at.
    pub fn ignores(self, key: &str) -> bool {
        let own = self == Power::Delay && matches!(key, "U_TARGET" | "INT_MULTI");
        own || matches!(key, "MI_THRESH" | "RATE_AI" | "MULTI_RATE")
    }
}

/// What the command line says; defaults are those of the program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flags {
    /// `--wien` or `--delayWien`.
    pub power: Option<Power>,
    /// `--bufalg`
    pub sharing: Sharing,
    /// Share of the free pool for every ingress.
    pub alpha: f64,
    /// Weight of the past in Reverie's average.
    pub gamma: f64,
    /// Whether headroom is beside the pool. It is where there is such a command line; in earlier runs an egress pool of
    /// the pool's size turned away what would use it.
    pub headroom_beside: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Flags { power: None, sharing: Sharing::Dynamic, alpha: 0.125, gamma: 0.99, headroom_beside: false }
    }
}

/// One `--name=value`.
struct Flag<'a> {
    source: &'a Arc<Source>,
    name: &'a str,
    value: &'a str,
    span: std::ops::Range<usize>,
}

impl Flag<'_> {
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Place { source: self.source.clone(), span: self.span.clone() }.error(message)
    }

    fn number(&self, least: f64, most: f64) -> Result<f64> {
        let found = number(self.value).filter(|found| (least..=most).contains(found));
        found
            .ok_or_else(|| self.error(format!("`--{}` is out of range", self.name)).label(format!("{least} to {most}")))
    }

    fn one_of<T: Copy>(&self, values: &[(&str, T)]) -> Result<T> {
        let found = values.iter().find(|(value, _)| *value == self.value).map(|(_, meaning)| *meaning);
        let known = values.iter().map(|(value, _)| *value).collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| {
            let message = format!("`--{}` cannot be `{}`", self.name, shown(self.value));
            self.error(message).label(format!("one of {known}"))
        })
    }
}

impl Flags {
    /// Reads the file, if there is one, and holds it against the configuration.
    pub fn read(files: &Files, config: &Config<'_>, largest_bytes: u64) -> Result<Option<Flags>> {
        if !files.has(NAME) {
            return Ok(None);
        }
        let source = files
            .read(NAME, largest_bytes)
            .map_err(|(why, looked_for)| Diagnostic::new(format!("cannot read `{looked_for}`")).label(why))?;
        let (mut flags, mut at) = (Flags { headroom_beside: true, ..Flags::default() }, 0);
        for word in source.text.split_ascii_whitespace() {
            let start = at + source.text[at..].find(word).unwrap_or(0);
            at = start + word.len();
            let (name, value) = word.strip_prefix("--").and_then(|word| word.split_once('=')).unwrap_or_default();
            flags.take(&Flag { source: &source, name, value, span: start..at }, config)?;
        }
        Ok(Some(flags))
    }

    fn take(&mut self, flag: &Flag<'_>, config: &Config<'_>) -> Result<()> {
        let no_and_yes = [("0", false), ("1", true)];
        match flag.name {
            "algorithm" => {
                if number(flag.value) != Some(config.number("CC_MODE")?) {
                    let error = flag.error("`--algorithm` is another than `CC_MODE`");
                    return Err(error.label(config.said("CC_MODE")));
                }
            }
            "wien" if flag.one_of(&no_and_yes)? => self.power = Some(Power::Telemetry),
            "delayWien" if flag.one_of(&no_and_yes)? => self.power = Some(Power::Delay),
            "wien" | "delayWien" => {}
            "windowCheck" => {
                let windows = flag.one_of(&no_and_yes)?;
                if config.flag("HAS_WIN")? != windows || config.flag("VAR_WIN")? != windows {
                    let error = flag.error("`--windowCheck` is another than HAS_WIN and VAR_WIN");
                    return Err(error.label("it takes their place there; write it in the configuration too"));
                }
            }
            "bufalg" => {
                let values = [("0", Sharing::Dynamic), ("1", Sharing::Abm), ("2", Sharing::Reverie)];
                self.sharing = flag.one_of(&values)?;
            }
            "alphaI" => self.alpha = flag.number(0.001, 1024.0)?,
            "gamma" => self.gamma = flag.number(0.0, 0.999_999)?,
            _ => {
                let error = flag.error("this is no flag that Xoff knows");
                let known = ["algorithm", "wien", "delayWien", "windowCheck", "bufalg", "alphaI", "gamma"];
                return Err(error.label("--name=value").nearest(flag.name, known));
            }
        }
        Ok(())
    }
}
