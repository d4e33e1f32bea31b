//! Which simulator a configuration is for: the HPCC authors', or the one that PowerTCP's authors made of it.
//!
//! Both read the same files. `XOFF_SIMULATOR` says which it is, and `XOFF_SCHEME` what the latter's command line
//! chose over `CC_MODE 3`; both simulators skip these words. Without them that command line says both, if it is beside
//! the configuration ([`Flags`]), or else a folder called `inet_*` by its name.

use super::super::words::Result;
use super::config::Config;
use super::flags::{Flags, Power};
use super::keys::{DCQCN, DCTCP, HPCC, PINT, TIMELY};
use super::units;
use crate::Diagnostic;

/// Whose rules a scenario copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// The HPCC authors' simulator.
    Hpcc,
    /// ConWeave's, which reads other keys ([`super::super::conweave`]).
    ConWeave,
    /// ns3-datacenter, with what its command line laid over `CC_MODE 3`.
    Inet(Option<Power>),
}

/// Folders of results of the second simulator.
const FOLDER: &str = "inet_";
/// A folder whose run was made with PowerTCP's first acknowledgement defined.
const FIRST: &str = "_first";

impl Dialect {
    /// Dialect by the configuration, or else by the command line or the name of its folder, with a warning.
    pub fn of(
        config: &Config<'_>,
        flags: Option<&Flags>,
        folder: Option<&str>,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Dialect> {
        let named = folder.and_then(|folder| folder.strip_prefix(FOLDER));
        let dialect = match config.word("XOFF_SIMULATOR") {
            None if named.is_none() && flags.is_none() => Dialect::Hpcc,
            Some("hpcc") => Dialect::Hpcc,
            None if flags.is_some() && !config.has("XOFF_SCHEME") => {
                let warning = "this is taken for a run of PowerTCP's authors' simulator";
                let warning =
                    config.error("XOFF_SIMULATOR", warning).label("its command line, flags.txt, is beside it");
                warnings.push(warning.help("XOFF_SIMULATOR ns3-datacenter in the configuration says it"));
                Dialect::Inet(flags.and_then(|flags| flags.power))
            }
            None if !config.has("XOFF_SCHEME") => {
                let warning = "this is taken for a run of PowerTCP's authors' simulator";
                let warning = config.error("XOFF_SIMULATOR", warning).label("its folder is called inet_...");
                warnings.push(warning.help("XOFF_SIMULATOR ns3-datacenter, or hpcc, in the configuration says it"));
                Dialect::Inet(by_name(config, named.unwrap_or_default())?)
            }
            None | Some(_) => Dialect::Inet(match config.word("XOFF_SCHEME") {
                Some("powertcp") => Some(Power::Telemetry),
                Some("theta-powertcp") => Some(Power::Delay),
                Some(_) => None,
                None => flags.and_then(|flags| flags.power),
            }),
        };
        match dialect {
            Dialect::Hpcc if config.word("XOFF_SCHEME").is_some_and(|scheme| scheme != "by-mode") => {
                let error = config.error("XOFF_SCHEME", "the HPCC authors' simulator has no PowerTCP");
                Err(error.label("its CC_MODE says the scheme").help("XOFF_SIMULATOR ns3-datacenter has it"))
            }
            Dialect::Inet(Some(_)) if config.mode()? != HPCC => {
                let error = config.error("CC_MODE", "PowerTCP runs over CC_MODE 3");
                Err(error.label("the flags wien and delayWien change nothing under another"))
            }
            Dialect::Inet(_) if config.mode()? == PINT => {
                let error = config.error("CC_MODE", "CC_MODE 10 of ns3-datacenter cannot be imported");
                Err(error.label("HPCC-PINT is known as the HPCC authors' simulator has it"))
            }
            dialect => Ok(dialect),
        }
    }

    /// Bytes of an egress queue that its marks do not count.
    pub fn unmarked_bytes(self) -> u64 {
        if self == Dialect::ConWeave { xoff_fabric::buffer::broadcom::EGRESS_MIN_BYTES } else { 0 }
    }

    /// Whether it is the newer one.
    pub fn is_inet(self) -> bool {
        matches!(self, Dialect::Inet(_))
    }

    /// The scheme in place of HPCC.
    pub fn power(self) -> Option<Power> {
        match self {
            Dialect::Hpcc | Dialect::ConWeave => None,
            Dialect::Inet(power) => power,
        }
    }

    /// The word for it in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Hpcc => "hpcc",
            Dialect::ConWeave => "conweave",
            Dialect::Inet(_) => "ns3-datacenter",
        }
    }

    /// Whole nanoseconds of decimal seconds: cut off in binary there, rounded to the nearest in the newer one.
    pub fn seconds(self, value: f64) -> Option<u64> {
        if self.is_inet() { units::rounded(value, 1_000_000_000) } else { units::seconds(value) }
    }

    /// Nanoseconds of a time with its unit.
    pub fn time(self, text: &str) -> Option<u64> {
        if self.is_inet() { units::time_by(text, units::rounded) } else { units::time(text) }
    }
}

/// What a folder's name says of the scheme: its last word, but for `first`. It must fit `CC_MODE`.
fn by_name(config: &Config<'_>, name: &str) -> Result<Option<Power>> {
    let name = name.strip_suffix(FIRST).unwrap_or(name);
    let scheme = name.rsplit('_').next().unwrap_or_default();
    let (mode, power) = match scheme {
        "dcqcn" => (DCQCN, None),
        "hpcc" => (HPCC, None),
        "powertcp" => (HPCC, Some(Power::Telemetry)),
        "theta" => (HPCC, Some(Power::Delay)),
        "timely" => (TIMELY, None),
        "dctcp" => (DCTCP, None),
        _ => {
            let error = config.error("XOFF_SCHEME", "nothing says which scheme this run had");
            return Err(error
                .label("its folder's name ends in none of _dcqcn, _dctcp, _hpcc, _powertcp, _theta and _timely")
                .help("XOFF_SCHEME by-mode, powertcp or theta-powertcp in the configuration says it"));
        }
    };
    if config.mode()? != mode {
        let error = config.error("CC_MODE", format!("this is not the scheme that its folder is named after, {scheme}"));
        return Err(error.label(format!("{scheme} is CC_MODE {mode}")));
    }
    Ok(power)
}
