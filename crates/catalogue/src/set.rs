//! The schemes of a program, as functions over their parameters.

use crate::param::{Base, ParamValues, SchemeSpec};
use std::sync::{Arc, OnceLock};
use xoff_fabric::plan::Plan;
use xoff_fabric::precision::Precision;
use xoff_fabric::scheme::{FlowFacts, Format, Limits};
use xoff_fabric::simulation::Simulation;
use xoff_fabric::traffic::Source;

/// Schemes as they were compiled.
pub struct Set {
    /// In the order in which they are listed to people.
    pub specs: Vec<&'static SchemeSpec>,
    /// Those that can be the base of another.
    pub bases: Vec<&'static SchemeSpec>,
    /// Why the values make no sense together.
    pub validation_error: fn(&ParamValues) -> Option<String>,
    /// Whether the values make a scheme that controls switches.
    pub controls_switches: fn(&ParamValues) -> bool,
    /// What packets look like: within a domain, and between domains.
    pub formats: fn(&ParamValues) -> [Format; 2],
    /// Rate and window with which a flow starts.
    pub first_limits: fn(&ParamValues, &FlowFacts) -> Option<Limits>,
    /// Builds a network under schemes of these values.
    pub world: Build,
}

/// Builds a network; in partitions, by the partition of every node, if asked.
pub type Build = fn(Arc<Plan>, &[&ParamValues], Vec<Box<dyn Source>>, Option<Vec<u16>>) -> Box<dyn Simulation>;

static INSTALLED: OnceLock<Set> = OnceLock::new();

/// Sets the schemes of this process, once. Fails if two of them have one name, or if there is a set already.
pub fn install(set: Set) -> Result<(), String> {
    let mut names: Vec<&str> = set.specs.iter().map(|spec| spec.name).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two schemes are called `{}`: rename yours", twice[0]));
    }
    INSTALLED.set(set).map_err(|_| "schemes are added before the first is used".to_owned())
}

/// The set of this process. A program without one is wrong, whatever its input.
fn installed() -> &'static Set {
    INSTALLED.get().expect("no schemes are installed: call `xoff_schemes::install_all()` before scenarios are read")
}

/// Every scheme, in the order in which they are listed to people. Panics before a set is installed, as all below do.
pub fn all() -> &'static [&'static SchemeSpec] {
    &installed().specs
}

/// The schemes that can be the base of another.
pub fn bases() -> &'static [&'static SchemeSpec] {
    &installed().bases
}

/// Why the values make no sense together.
pub fn validation_error(values: &ParamValues) -> Option<String> {
    (installed().validation_error)(values)
}

/// The specification of a scheme by name.
pub fn find(name: &str) -> Option<&'static SchemeSpec> {
    all().iter().copied().find(|spec| spec.name == name)
}

/// Whether these values make a scheme that controls switches: one of a run may.
pub fn controls_switches(values: &ParamValues) -> bool {
    (installed().controls_switches)(values)
}

/// What packets of a scheme of these values look like: within a domain, and between domains.
pub fn formats(values: &ParamValues) -> [Format; 2] {
    (installed().formats)(values)
}

/// The m of HPCC's telemetry header that a scheme of these values, or its base, sets for all ports.
pub fn telemetry_multiplier(values: &ParamValues) -> Option<u64> {
    let own = |values: &ParamValues| {
        formats(values).into_iter().find_map(|format| match format.precision {
            Precision::Coded(m) => Some(u64::from(m)),
            Precision::Exact | Precision::Header => None,
        })
    };
    own(values).or_else(|| values.base().and_then(own))
}

/// Rate and window with which such a flow starts under a scheme of these values.
pub fn first_limits(values: &ParamValues, of: &FlowFacts) -> Option<Limits> {
    (installed().first_limits)(values, of)
}

/// A run of these schemes, ready to be driven; in parts, by the part of every node, if asked.
pub fn world(
    plan: impl Into<Arc<Plan>>,
    schemes: &[&ParamValues],
    sources: Vec<Box<dyn Source>>,
    part_of: Option<Vec<u16>>,
) -> Box<dyn Simulation> {
    (installed().world)(plan.into(), schemes, sources, part_of)
}

/// The values of `NAME[:PRESET]`, or of `NAME[:PRESET]+BASE[:PRESET]` for an overlay and its base.
pub fn select(text: &str) -> Result<ParamValues, String> {
    let (own, base) = match text.split_once('+') {
        Some((own, base)) => (own, Some(base)),
        None => (text, None),
    };
    let mut values = select_one(own)?;
    let base = match (values.spec().base, base) {
        (Base::Alone, Some(_)) => return Err(format!("`{}` works alone, without a base", values.spec().name)),
        (Base::Default(default), None) => Some(default),
        (_, base) => base,
    };
    values.set_base(base.map(select_base).transpose()?);
    match validation_error(&values) {
        Some(why) => Err(why),
        None => Ok(values),
    }
}

fn select_base(text: &str) -> Result<ParamValues, String> {
    let values = select_one(text)?;
    match bases().iter().any(|spec| spec.name == values.spec().name) {
        true => Ok(values),
        false => Err(format!("`{}` needs a base itself, so it cannot be one", values.spec().name)),
    }
}

fn select_one(text: &str) -> Result<ParamValues, String> {
    let (name, preset) = match text.split_once(':') {
        Some((name, preset)) => (name, Some(preset)),
        None => (text, None),
    };
    let spec = find(name).ok_or_else(|| format!("no scheme is called `{name}`"))?;
    let preset = match preset {
        Some(preset) => {
            Some(spec.preset(preset).ok_or_else(|| format!("the scheme `{name}` has no preset `{preset}`"))?)
        }
        None => None,
    };
    Ok(spec.values(preset))
}
