//! Parameters of schemes: what each is called, its unit, default, presets and source.
//!
//! A scheme declares its parameters as data; the command line lists them, scenarios set them, and
//! the scheme receives them checked for unit and range by name. Texts here are spelled as in a
//! scenario file.

mod declare;
mod value;

pub use crate::{params, presets};
pub use declare::FromValue;
#[doc(hidden)]
pub use declare::types;
pub use value::{BytesByRate, NumberByRate, ParamKind, RateValue, TimeByRate, Value, ValueError};
use xoff_fabric::scheme::Variable;

/// Everything there is to know of a scheme without running it.
#[derive(Debug)]
pub struct SchemeSpec {
    /// The name in scenarios and on the command line: lower case, with hyphens.
    pub name: &'static str,
    /// One line for a list.
    pub title: &'static str,
    /// Authors, title, venue and year of what it is built after.
    pub citation: &'static str,
    /// Parameters in the order in which they are listed; a name occurs once.
    pub params: &'static [ParamSpec],
    /// The first is the default; its values take the place of [`ParamSpec::default`].
    pub presets: &'static [Preset],
    /// Whether it works together with an end-to-end scheme of its own choice.
    pub base: Base,
    /// Its reaction point acts on a bare notification
    /// ([`on_congested`](xoff_fabric::scheme::ReactionPoint::on_congested)).
    pub hears_notices: bool,
    /// Whether the scheme is about flows between domains (data centres); elsewhere it adds nothing.
    pub across_domains: bool,
    /// Its congestion points mark at random, perhaps from [`QueueFacts::shared_random`](xoff_fabric::scheme::QueueFacts).
    pub draws_lots: bool,
    /// A parameter and its value with which all of a run draw from one generator, in the order of events.
    pub one_sequence: Option<(&'static str, &'static str)>,
    /// Presets whose values suit ports of one speed.
    pub tuned: &'static [Tuned],
    /// What its reaction point publishes
    /// ([`ReactionPoint::variables`](xoff_fabric::scheme::ReactionPoint::variables)).
    pub variables: &'static [Variable],
    /// Over which choices of paths it runs.
    pub paths: PathSupport,
    /// What it is at flow level.
    pub flow_form: FlowForm,
}

/// What becomes of a scheme where there are no packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowForm {
    /// Its flows have max-min fair shares, which is what it tends to.
    Fair,
    /// Its flows keep the rate with which they start, and are held back by PFC alone. Fair shares hold for jobs, whose
    /// messages wait for each other, but not for open traffic.
    Uncontrolled,
    /// None, for this reason.
    None(&'static str),
}

/// Over which choices of paths a scheme runs; with the reason where not over all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathSupport {
    /// Packets of a flow may take different paths.
    Any,
    /// Packets that follow each other closely take one path.
    OnePath(&'static str),
    /// So with this value of a parameter; else any.
    OnePathWith {
        /// The parameter.
        param: &'static str,
        /// Its value, as a scenario spells it.
        value: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// Flows keep the path that ECMP gives them.
    Ecmp(&'static str),
}

/// Values of a preset that were found for ports of one speed and are too small at faster ones.
#[derive(Debug)]
pub struct Tuned {
    /// Name of the preset.
    pub preset: &'static str,
    /// Speed of those ports in Gb/s.
    pub gbps: u64,
    /// Sizes that grow in proportion to the port.
    pub params: &'static [&'static str],
}

/// Relation of a scheme to a second one, as base or overlay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Complete in itself.
    Alone,
    /// Complete in itself, or together with one that the scenario names.
    Optional,
    /// Needs one; this (`NAME` or `NAME:PRESET`) unless the scenario names another.
    Default(&'static str),
}

impl SchemeSpec {
    /// A scheme complete in itself.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        citation: &'static str,
        params: &'static [ParamSpec],
        presets: &'static [Preset],
    ) -> SchemeSpec {
        SchemeSpec {
            name,
            title,
            citation,
            params,
            presets,
            base: Base::Alone,
            hears_notices: false,
            across_domains: false,
            tuned: &[],
            draws_lots: false,
            one_sequence: None,
            variables: &[],
            paths: PathSupport::Any,
            flow_form: FlowForm::Fair,
        }
    }

    /// Sets [`SchemeSpec::base`].
    pub const fn with_base(self, base: Base) -> SchemeSpec {
        SchemeSpec { base, ..self }
    }

    /// Sets [`SchemeSpec::across_domains`].
    pub const fn between_domains(self) -> SchemeSpec {
        SchemeSpec { across_domains: true, ..self }
    }

    /// Sets [`SchemeSpec::tuned`].
    pub const fn tuned_for(self, tuned: &'static [Tuned]) -> SchemeSpec {
        SchemeSpec { tuned, ..self }
    }

    /// Sets [`SchemeSpec::variables`].
    pub const fn publishing(self, variables: &'static [Variable]) -> SchemeSpec {
        SchemeSpec { variables, ..self }
    }

    /// Sets [`SchemeSpec::draws_lots`].
    pub const fn drawing_lots(self) -> SchemeSpec {
        SchemeSpec { draws_lots: true, ..self }
    }

    /// Sets [`SchemeSpec::one_sequence`].
    pub const fn drawing_in_order(self, param: &'static str, value: &'static str) -> SchemeSpec {
        SchemeSpec { one_sequence: Some((param, value)), ..self }
    }

    /// Sets [`SchemeSpec::paths`].
    pub const fn with_paths(self, paths: PathSupport) -> SchemeSpec {
        SchemeSpec { paths, ..self }
    }

    /// Sets [`SchemeSpec::flow_form`].
    pub const fn at_flow_level(self, flow_form: FlowForm) -> SchemeSpec {
        SchemeSpec { flow_form, ..self }
    }

    /// Sets [`SchemeSpec::hears_notices`].
    pub const fn hearing_notices(self) -> SchemeSpec {
        SchemeSpec { hears_notices: true, ..self }
    }
}

/// One parameter of a scheme, as people see it. [`params!`] writes these.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The key in a scenario.
    pub name: &'static str,
    /// The paper's symbol.
    pub symbol: &'static str,
    /// Unit, bounds and spelling of its values.
    pub kind: ParamKind,
    /// Default as a scenario spells it; a preset may say otherwise.
    pub default: &'static str,
    /// Matters only while these choices are made; empty: always.
    pub applies: Applies,
    /// Condition of the parameter group that it belongs to.
    pub within: Applies,
    /// What it does, in a phrase without a full stop.
    pub meaning: &'static str,
    /// Where the default is from: paper and section, a standard, or that it is an assumption.
    pub source: &'static str,
}

impl ParamSpec {
    /// The choices under which it matters, none: always.
    pub fn conditions(&self) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
        self.within.iter().chain(self.applies)
    }
}

/// Choices under which a parameter matters.
pub type Applies = &'static [(&'static str, &'static str)];

/// Several lists of parameters as one, those of a list under the choices named beside it; `N` is the sum of their
/// lengths.
pub const fn joined<const N: usize>(lists: &[(&'static [ParamSpec], Applies)]) -> [ParamSpec; N] {
    let nothing = ParamSpec {
        name: "",
        symbol: "",
        kind: ParamKind::Flag,
        default: "",
        applies: &[],
        within: &[],
        meaning: "",
        source: "",
    };
    let mut all = [nothing; N];
    let (mut list, mut next) = (0, 0);
    while list < lists.len() {
        let (params, within) = lists[list];
        let mut i = 0;
        while i < params.len() {
            all[next] = params[i];
            if !within.is_empty() {
                assert!(params[i].within.is_empty(), "a part of a part has its conditions already");
                all[next].within = within;
            }
            (next, i) = (next + 1, i + 1);
        }
        list += 1;
    }
    assert!(next == N, "N is the number of parameters");
    all
}

/// A named set of values that differ from the defaults.
#[derive(Debug)]
pub struct Preset {
    /// What follows the colon in `SCHEME:PRESET`.
    pub name: &'static str,
    /// Where the values are from, or that they are an assumption.
    pub source: &'static str,
    /// Name and value of a parameter each, as a scenario spells them.
    pub values: &'static [(&'static str, &'static str)],
}

/// A scheme's parameters with their values: defaults, then the preset's, then the user's.
#[derive(Clone, Debug)]
pub struct ParamValues {
    spec: &'static SchemeSpec,
    values: Vec<Value>,
    /// The values of the scheme it works with.
    base: Option<Box<ParamValues>>,
}

impl SchemeSpec {
    /// None if the scheme has no parameter of this name.
    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|param| param.name == name)
    }

    /// None if the scheme has no preset of this name.
    pub fn preset(&self, name: &str) -> Option<&'static Preset> {
        self.presets.iter().find(|preset| preset.name == name)
    }

    /// Defaults overlaid with a preset of this scheme (its first if `None`).
    pub fn values(&'static self, preset: Option<&Preset>) -> ParamValues {
        let values =
            self.params.iter().map(|p| p.kind.parse(p.default).expect("defaults are checked by a test")).collect();
        let mut all = ParamValues { spec: self, values, base: None };
        for (name, text) in preset.or(self.presets.first()).map_or(&[][..], |p| p.values) {
            let param = self.param(name).expect("presets are checked by a test");
            all.set(name, param.kind.parse(text).expect("presets are checked by a test"));
        }
        all
    }
}

impl ParamValues {
    /// Sets values given as texts that are known to be right: for tests and calculations.
    pub fn with(mut self, texts: &[(&str, &str)]) -> ParamValues {
        for (name, text) in texts {
            let index = self.index(name);
            let parsed = self.spec.params[index].kind.parse(text);
            self.values[index] = parsed.unwrap_or_else(|why| panic!("{name} = {text} {}", why.0));
        }
        self
    }

    /// The scheme whose parameters they are.
    pub fn spec(&self) -> &'static SchemeSpec {
        self.spec
    }

    /// Over which choices of paths the scheme runs with these parameters.
    pub fn path_support(&self) -> PathSupport {
        match self.spec.paths {
            PathSupport::OnePathWith { param, value, why } if self.get(param).to_string() == value => {
                PathSupport::OnePath(why)
            }
            PathSupport::OnePathWith { .. } => PathSupport::Any,
            other => other,
        }
    }

    /// The scheme it works with.
    pub fn base(&self) -> Option<&ParamValues> {
        self.base.as_deref()
    }

    /// Whether the scheme takes a base, and this one, is for [`validation_error`](crate::validation_error) to say.
    pub fn set_base(&mut self, base: Option<ParamValues>) {
        self.base = base.map(Box::new);
    }

    /// `name` must be a parameter and `value` of its unit.
    pub fn set(&mut self, name: &str, value: Value) {
        let index = self.index(name);
        self.values[index] = value;
    }

    /// Panics if the scheme has no parameter of this name.
    pub fn get(&self, name: &str) -> &Value {
        &self.values[self.index(name)]
    }

    /// The value of a parameter, as the type that its unit has in a scheme.
    pub fn value<T: FromValue>(&self, name: &str) -> T {
        T::from_value(self.get(name))
    }

    /// Why setting `name` would change nothing under the other values, if so.
    pub fn no_effect(&self, name: &str) -> Option<String> {
        let param = self.spec.param(name)?;
        let (choice, wanted) = param.conditions().find(|(choice, wanted)| self.get(choice).to_string() != *wanted)?;
        Some(format!("`{name}` matters only when {choice} = \"{wanted}\", and it is \"{}\"", self.get(choice)))
    }

    /// All parameters with their values, in the order of [`SchemeSpec::params`].
    pub fn iter(&self) -> impl Iterator<Item = (&'static ParamSpec, &Value)> {
        self.spec.params.iter().zip(&self.values)
    }

    fn index(&self, name: &str) -> usize {
        self.spec
            .params
            .iter()
            .position(|param| param.name == name)
            .unwrap_or_else(|| panic!("{} has no parameter {name}", self.spec.name))
    }
}
