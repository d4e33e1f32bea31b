//! Models beside the packet-level runs: recurrences, fluid models and differential
//! equations of the papers, and the flow-size distributions themselves.
//!
//! A model takes named parameters and yields numbers and curves, as a run does. Where a scheme's
//! own code holds the arithmetic, the model calls it, so that theory and simulation cannot drift
//! apart. All of them are listed in `docs/models.md` and by `xoff describe models`.

#![warn(missing_docs)]

mod fqcn_ode;
mod mlcc_dqm;
mod parameter;
mod pcn_fluid;
mod pcn_recurrence;
mod qcn_ode;
mod qcn_sampler;
mod rate_ode;
mod runge_kutta;
mod workload;

pub use parameter::{Kind, Parameter, Values};

use std::collections::BTreeMap;
use xoff_scenario::measure::{Curve, Measured};

/// A model as data: what it is, what it takes, what it yields.
#[derive(Debug)]
pub struct ModelSpec {
    /// Name in experiments and in `describe`.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// The equations it evaluates, and how.
    pub what: &'static str,
    /// Where they are published.
    pub source: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// What it yields.
    pub outputs: &'static [Output],
    run: fn(&Values) -> Result<Yield, String>,
}

/// Something that a model yields.
#[derive(Debug)]
pub struct Output {
    /// Capitals are replaced by what a parameter names: `cdf_at_SIZE`.
    pub name: &'static str,
    /// Unit of the number or of the curve's values; empty without one.
    pub unit: &'static str,
    /// One phrase.
    pub meaning: &'static str,
    /// A curve; else a number.
    pub curve: bool,
}

/// All models, by paper.
pub fn all() -> &'static [ModelSpec] {
    &MODELS
}

static MODELS: [ModelSpec; 7] = [
    pcn_recurrence::SPEC,
    pcn_fluid::SPEC,
    qcn_sampler::SPEC,
    qcn_ode::SPEC,
    fqcn_ode::SPEC,
    mlcc_dqm::SPEC,
    workload::SPEC,
];

/// A model by its name.
pub fn find(name: &str) -> Option<&'static ModelSpec> {
    all().iter().find(|model| model.name == name)
}

/// Finds a model and reads its parameters without evaluating it. What is wrong with its name or a
/// parameter is said in one sentence.
pub fn check(name: &str, parameters: &BTreeMap<String, toml::Value>) -> Result<(&'static ModelSpec, Values), String> {
    let Some(model) = find(name) else {
        let known: Vec<&str> = all().iter().map(|model| model.name).collect();
        return Err(format!("there is no model `{name}`; known are {}", known.join(", ")));
    };
    let values = Values::read(model.parameters, parameters).map_err(|why| format!("model {name}: {why}"))?;
    Ok((model, values))
}

/// Evaluates a model.
pub fn run(name: &str, parameters: &BTreeMap<String, toml::Value>) -> Result<Measured, String> {
    let (model, values) = check(name, parameters)?;
    (model.run)(&values).map(|yielded| yielded.0).map_err(|why| format!("model {name}: {why}"))
}

impl ModelSpec {
    /// Whether it may yield a number or curve of this name.
    pub fn announces(&self, name: &str) -> bool {
        self.outputs.iter().any(|output| output.fits(name))
    }
}

impl Output {
    fn fits(&self, name: &str) -> bool {
        let end = self.name.find(|c: char| c.is_ascii_uppercase()).unwrap_or(self.name.len());
        match &self.name[..end] {
            stem if stem == self.name => name == stem,
            stem => name.starts_with(stem),
        }
    }
}

const fn number(name: &'static str, unit: &'static str, meaning: &'static str) -> Output {
    Output { name, unit, meaning, curve: false }
}

const fn curve(name: &'static str, unit: &'static str, meaning: &'static str) -> Output {
    Output { name, unit, meaning, curve: true }
}

/// What a model has found so far.
#[derive(Default)]
struct Yield(Measured);

impl Yield {
    fn number(&mut self, name: impl Into<String>, value: f64) {
        self.0.numbers.insert(name.into(), value);
    }

    fn curve(&mut self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) {
        let (x, y) = points.into_iter().unzip();
        self.0.curves.insert(name.into(), Curve { x, y });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a model with parameters as in a file.
    pub fn run_with(name: &str, parameters: &str) -> Result<Measured, String> {
        let table: toml::Table = parameters.parse().expect("a table");
        run(name, &table.into_iter().collect())
    }

    #[test]
    fn every_output_is_announced_and_every_announcement_kept() {
        for model in all() {
            let examples = match model.name {
                "workload" => "at = ['1KB']\nbins = ['10KB']\nnames = ['S', 'L']",
                // Kept short: debug builds are slow.
                "qcn-ode" | "fqcn-ode" => "duration = '2ms'",
                _ => "",
            };
            let found = run_with(model.name, examples).unwrap_or_else(|why| panic!("{why}"));
            for (names, curve) in
                [(found.numbers.keys().collect::<Vec<_>>(), false), (found.curves.keys().collect::<Vec<_>>(), true)]
            {
                for name in &names {
                    let known = model.outputs.iter().any(|output| output.curve == curve && output.fits(name));
                    assert!(known, "{}: `{name}` is not announced", model.name);
                }
                for output in model.outputs.iter().filter(|output| output.curve == curve) {
                    let kept = names.iter().any(|name| output.fits(name));
                    assert!(kept, "{}: `{}` is announced and missing", model.name, output.name);
                }
            }
        }
    }

    #[test]
    fn every_parameter_is_explained_and_its_default_allowed() {
        for model in all() {
            assert!(!model.what.is_empty() && !model.source.is_empty(), "{}", model.name);
            for parameter in model.parameters {
                assert!(!parameter.meaning.is_empty() && !parameter.source.is_empty(), "{}", parameter.name);
            }
            Values::read(model.parameters, &BTreeMap::new()).unwrap_or_else(|why| panic!("{}: {why}", model.name));
        }
    }

    #[test]
    fn mistakes_are_named_with_what_is_allowed() {
        let why = |name, parameters| run_with(name, parameters).unwrap_err();
        assert!(why("pcn-fluidd", "").starts_with("there is no model `pcn-fluidd`; known are pcn-recurrence"));
        let unknown = why("pcn-fluid", "flow = 4");
        assert_eq!(
            unknown.split(';').next().unwrap(),
            "model pcn-fluid: there is no parameter `flow`, but there is `flows`"
        );
        assert_eq!(
            why("pcn-fluid", "w_min = 0.7"),
            "model pcn-fluid: `w_min` = 0.7 is out of range: a number from 0.000001 to 0.5"
        );
        assert_eq!(
            why("pcn-fluid", "period = 50"),
            "model pcn-fluid: `period` = 50 has no unit; write one of ps, ns, us, ms, s: a time such as \"50us\""
        );
        assert_eq!(
            why("pcn-fluid", "start = 'half'"),
            "model pcn-fluid: `start` = half is none of equal, one-full, random"
        );
        assert!(why("workload", "sizes = 'websurch'").contains("there is no distribution `websurch`"));
        assert!(why("workload", "bins = ['10KB', '1KB']").contains("increase"));
        assert!(why("fqcn-ode", "targets = '2Gbps'").contains("a list of rates"));
    }
}
