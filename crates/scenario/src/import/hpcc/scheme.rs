//! The part of the scenario's text about congestion control.

use super::super::words::Result;
use super::config::Config;
use super::flags::Power;
use super::keys::{DCQCN, DCTCP, HPCC, PINT};
use super::parts::{Parts, decimal, line, quoted, rate, span};
use super::topology::Link;
use crate::{Diagnostic, Place};
use xoff_engine::BitRate;
use xoff_engine::quantity::{format_bytes, format_rate};

pub fn text(parts: &Parts<'_>, warnings: &mut Vec<Diagnostic>) -> Result<String> {
    let config = parts.config;
    let mode = config.mode()?;
    let ecn = Marking::read(parts)?;
    let power = parts.dialect.power();
    let name = match (mode, power) {
        (DCQCN, _) => "dcqcn",
        (HPCC, None) => "hpcc",
        (HPCC, Some(Power::Telemetry)) => "powertcp",
        (HPCC, Some(Power::Delay)) => "theta-powertcp",
        (DCTCP, _) => "dctcp",
        (PINT, _) => "hpcc-pint",
        _ => "timely",
    };
    let mut out = String::from("\n[scheme]\n");
    line(&mut out, "name", &quoted(name), &config.said("CC_MODE"));
    line(&mut out, "preset", if power.is_some() { "\"inet-ns3\"" } else { "\"hpcc-ns3\"" }, "");
    match mode {
        DCQCN => dcqcn(&mut out, config, &ecn, warnings)?,
        HPCC => match power {
            None => hpcc(&mut out, config)?,
            Some(power) => powertcp(&mut out, config, power)?,
        },
        PINT => pint(&mut out, config)?,
        DCTCP => {
            set(&mut out, config, "g", "EWMA_GAIN", |name| Ok(decimal(config.number_in(name, 0.0..=1.0)?)))?;
            warn_of_gain(config, warnings);
            set(&mut out, config, "rate_ai", "DCTCP_RATE_AI", |name| Ok(rate(config.rate(name)?)))?;
            ecn.write(&mut out, config);
        }
        _ => {
            set(&mut out, config, "delta", "RATE_AI", |name| Ok(rate(config.rate(name)?)))?;
            set(&mut out, config, "delta_hai", "RATE_HAI", |name| Ok(rate(config.rate(name)?)))?;
        }
    }
    set(&mut out, config, "rate_min", "MIN_RATE", |name| Ok(rate(config.rate(name)?)))?;
    Ok(out)
}

/// A parameter that one key gives.
fn set(
    out: &mut String,
    config: &Config<'_>,
    param: &str,
    key: &str,
    value: impl FnOnce(&str) -> Result<String>,
) -> Result<()> {
    line(out, param, &value(key)?, &config.said(key));
    Ok(())
}

fn flag(config: &Config<'_>, key: &str) -> Result<String> {
    Ok(config.flag(key)?.to_string())
}

fn warn_of_gain(config: &Config<'_>, warnings: &mut Vec<Diagnostic>) {
    if !config.has("EWMA_GAIN") {
        let warning = config.error("EWMA_GAIN", "without EWMA_GAIN the gain of alpha is 0");
        warnings.push(warning.label("1/16 in whole numbers, as that simulator has it").help("set EWMA_GAIN 0.0625"));
    }
}

fn dcqcn(out: &mut String, config: &Config<'_>, ecn: &Marking, warnings: &mut Vec<Diagnostic>) -> Result<()> {
    set(out, config, "g", "EWMA_GAIN", |name| Ok(decimal(config.number_in(name, 0.0..=1.0)?)))?;
    warn_of_gain(config, warnings);
    for (param, key) in [
        ("alpha_period", "ALPHA_RESUME_INTERVAL"),
        ("decrease_period", "RATE_DECREASE_INTERVAL"),
        ("increase_timer", "RP_TIMER"),
    ] {
        let us = config.number_in(key, 1.0..=100_000_000.0)?;
        if us.fract() != 0.0 {
            let warning = config.error(key, format!("`{key}` is cut to {} us", us.trunc()));
            warnings.push(warning.label("that simulator has whole microseconds here"));
        }
        line(out, param, &span(us as u64 * 1000), &config.said(key));
    }
    set(out, config, "fast_recovery", "FAST_RECOVERY_TIMES", |name| Ok(config.count(name, 1..=100)?.to_string()))?;
    let clamp = if config.flag("CLAMP_TARGET_RATE")? { "\"always\"" } else { "\"after-increase\"" };
    line(out, "target_clamp", clamp, &config.said("CLAMP_TARGET_RATE"));
    set(out, config, "rate_ai", "RATE_AI", |name| Ok(rate(config.rate(name)?)))?;
    set(out, config, "rate_hai", "RATE_HAI", |name| Ok(rate(config.rate(name)?)))?;
    ecn.write(out, config);
    Ok(())
}

fn hpcc(out: &mut String, config: &Config<'_>) -> Result<()> {
    set(out, config, "eta", "U_TARGET", |name| Ok(decimal(config.number_in(name, 0.01..=1.0)?)))?;
    set(out, config, "max_stage", "MI_THRESH", |name| Ok(config.count(name, 0..=1000)?.to_string()))?;
    set(out, config, "rate_ai", "RATE_AI", |name| Ok(rate(config.rate(name)?)))?;
    set(out, config, "int_multiplier", "INT_MULTI", |name| Ok(config.count(name, 1..=32)?.to_string()))?;
    set(out, config, "fast_react", "FAST_REACT", |name| flag(config, name))?;
    set(out, config, "per_hop", "MULTI_RATE", |name| flag(config, name))?;
    set(out, config, "sample_feedback", "SAMPLE_FEEDBACK", |name| flag(config, name))?;
    round_trip(out, config)
}

/// T is the longest of the network here, whatever `GLOBAL_T` says.
fn pint(out: &mut String, config: &Config<'_>) -> Result<()> {
    set(out, config, "log_base", "PINT_LOG_BASE", |name| Ok(decimal(config.number_in(name, 1.001..=2.0)?)))?;
    set(out, config, "probability", "PINT_PROB", |name| Ok(decimal(config.number_in(name, 0.0001..=1.0)?)))?;
    set(out, config, "eta", "U_TARGET", |name| Ok(decimal(config.number_in(name, 0.01..=1.0)?)))?;
    set(out, config, "max_stage", "MI_THRESH", |name| Ok(config.count(name, 0..=1000)?.to_string()))?;
    set(out, config, "rate_ai", "RATE_AI", |name| Ok(rate(config.rate(name)?)))
}

fn round_trip(out: &mut String, config: &Config<'_>) -> Result<()> {
    let whose = if config.flag("GLOBAL_T")? { "\"network\"" } else { "\"pair\"" };
    line(out, "round_trip", whose, &config.said("GLOBAL_T"));
    Ok(())
}

/// PowerTCP's other constants are in its simulator's code, and in the preset.
fn powertcp(out: &mut String, config: &Config<'_>, power: Power) -> Result<()> {
    match power {
        Power::Telemetry => {
            set(out, config, "eta", "U_TARGET", |name| Ok(decimal(config.number_in(name, 0.01..=1.0)?)))?;
            set(out, config, "int_multiplier", "INT_MULTI", |name| Ok(config.count(name, 1..=32)?.to_string()))?;
            set(out, config, "sample_feedback", "SAMPLE_FEEDBACK", |name| flag(config, name))?;
        }
        Power::Delay if config.flag("SAMPLE_FEEDBACK")? => {
            let error = config.error("SAMPLE_FEEDBACK", "theta-PowerTCP cannot be imported with SAMPLE_FEEDBACK 1");
            return Err(error.label("there it looks at queues of switches, which nothing tells it of here"));
        }
        Power::Delay => {}
    }
    set(out, config, "fast_react", "FAST_REACT", |name| flag(config, name))?;
    set(out, config, "own_window", "VAR_WIN", |name| flag(config, name))?;
    round_trip(out, config)
}

/// Thresholds of ECN for each rate of a switch port.
struct Marking {
    enabled: bool,
    /// Rate, Kmin and Kmax in bytes, Pmax.
    rows: Vec<(u64, u64, u64, f64)>,
    /// Added to both thresholds.
    unmarked_bytes: u64,
}

impl Marking {
    fn read(parts: &Parts<'_>) -> Result<Marking> {
        let (config, topology) = (parts.config, parts.topology);
        let kmin = config.map("KMIN_MAP")?;
        let kmax = config.map("KMAX_MAP")?;
        let pmax = config.map("PMAX_MAP")?;
        let mut rows: Vec<(u64, u64, u64, f64)> = Vec::new();
        // Every link ends in a switch.
        for link in &topology.links {
            if rows.iter().any(|row| row.0 == link.rate_bps) {
                continue;
            }
            let of = |name: &str, map: &[(u64, &str, Place)]| {
                let row = map.iter().find(|(bps, _, _)| *bps == link.rate_bps);
                row.map(|(_, text, place)| ((*text).to_owned(), place.clone())).ok_or_else(|| {
                    let speed = format_rate(BitRate::from_bps(link.rate_bps));
                    topology
                        .rate_place(link)
                        .error(format!("the configuration has no ECN thresholds for ports of {speed}"))
                        .label(format!("`{name}` lacks {}", link.rate_bps))
                        .help("that simulator wants a row for every rate of a switch port in KMIN_MAP, KMAX_MAP and PMAX_MAP")
                })
            };
            let (low, high, most) = (of("KMIN_MAP", &kmin)?, of("KMAX_MAP", &kmax)?, of("PMAX_MAP", &pmax)?);
            let bytes = |(text, place): &(String, Place)| match text.parse::<u64>() {
                Ok(thousands) if thousands <= 4_000_000 => Ok(thousands * 1000),
                _ => Err(place.error("this is not a threshold").label("whole thousands of bytes, at most 4000000")),
            };
            let (from, to) = (bytes(&low)?, bytes(&high)?);
            if from > to {
                return Err(low.1.error("Kmin is above Kmax").label(format!("Kmax of this rate is {}", high.0)));
            }
            let probability = most.0.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
            let Some(probability) = probability else {
                return Err(most.1.error("this is not a probability").label("from 0 to 1"));
            };
            rows.push((link.rate_bps, from, to, probability));
        }
        rows.sort_unstable_by_key(|row| row.0);
        let unmarked_bytes = parts.dialect.unmarked_bytes();
        Ok(Marking { enabled: config.flag("ENABLE_QCN")?, rows, unmarked_bytes })
    }

    fn table(&self, of: impl Fn(&(u64, u64, u64, f64)) -> u64) -> String {
        let cell = |row: &(u64, u64, u64, f64)| {
            format!("{} = {}", rate(row.0), quoted(&format_bytes(of(row) + self.unmarked_bytes)))
        };
        format!("{{ {} }}", self.rows.iter().map(cell).collect::<Vec<_>>().join(", "))
    }

    fn write(&self, out: &mut String, config: &Config<'_>) {
        if !self.enabled {
            line(out, "mark_at", "\"never\"", &config.said("ENABLE_QCN"));
            return;
        }
        line(out, "kmin", &self.table(|row| row.1), &config.said("KMIN_MAP"));
        line(out, "kmax", &self.table(|row| row.2), &config.said("KMAX_MAP"));
        let cell = |row: &(u64, u64, u64, f64)| format!("{}@{}", row.3, format_rate(BitRate::from_bps(row.0)));
        let pmax: Vec<String> = self.rows.iter().map(cell).collect();
        line(out, "pmax", &quoted(&pmax.join(", ")), &config.said("PMAX_MAP"));
    }
}

/// Rates that HPCC's telemetry has a code for.
const INT_RATES_GBPS: [u64; 5] = [25, 50, 100, 200, 400];

/// HPCC can tell only some rates.
pub fn check_rates(parts: &Parts<'_>) -> Result<()> {
    if parts.config.mode()? != HPCC {
        return Ok(());
    }
    let known = |link: &&Link| INT_RATES_GBPS.iter().any(|gbps| link.rate_bps == gbps * 1_000_000_000);
    match parts.topology.links.iter().find(|link| !known(link)) {
        None => Ok(()),
        Some(link) => Err(parts
            .topology
            .rate_place(link)
            .error(format!("HPCC's telemetry has no code for {}", format_rate(BitRate::from_bps(link.rate_bps))))
            .label("25, 50, 100, 200 or 400Gbps")
            .help("that simulator takes any other rate for 25Gbps, so its results mean nothing")),
    }
}
