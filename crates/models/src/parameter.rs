//! Parameters of models: what kind of value each takes, and how it is read.

use std::collections::BTreeMap;
use xoff_engine::quantity::{parse_bytes, parse_rate, parse_span};
use xoff_engine::{BitRate, Span};

/// One named parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Key in a file.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Default as written, lists with commas; empty if there is none.
    pub default: &'static str,
    /// One phrase.
    pub meaning: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

/// What a parameter takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// Within bounds, both included: `0.0078125` or `"1/128"`.
    Number {
        /// The least allowed.
        min: f64,
        /// The most allowed.
        max: f64,
    },
    /// A whole number within bounds, both included.
    Count {
        /// The least allowed.
        min: u64,
        /// The most allowed.
        max: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any word.
    Name,
    /// Above zero.
    Time,
    /// Above zero.
    Rate,
    /// Zero or more.
    Bytes,
    /// Lists may be empty.
    Rates,
    /// List of sizes in bytes.
    Sizes,
    /// List of any words.
    Names,
}

/// What was read.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Number(f64),
    Count(u64),
    Text(String),
    Time(Span),
    Rate(BitRate),
    Bytes(u64),
    Rates(Vec<BitRate>),
    /// Sizes with their spelling, which becomes part of names.
    Sizes(Vec<(String, u64)>),
    Names(Vec<String>),
}

impl Parameter {
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        meaning: &'static str,
        source: &'static str,
    ) -> Parameter {
        Parameter { name, kind, default, meaning, source }
    }
}

impl Kind {
    /// What is allowed, in words.
    pub fn expects(self) -> String {
        match self {
            Kind::Number { min, max } => format!("a number from {min} to {max}"),
            Kind::Count { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Choice(names) => format!("one of {}", names.join(", ")),
            Kind::Name => "a text".into(),
            Kind::Time => "a time such as \"50us\"".into(),
            Kind::Rate => "a rate such as \"40Gbps\"".into(),
            Kind::Bytes => "a size such as \"10KB\"".into(),
            Kind::Rates => "a list of rates such as [\"2Gbps\", \"4Gbps\"]".into(),
            Kind::Sizes => "a list of sizes such as [\"10KB\", \"1MB\"]".into(),
            Kind::Names => "a list of texts such as [\"S\", \"L\"]".into(),
        }
    }

    fn is_list(self) -> bool {
        matches!(self, Kind::Rates | Kind::Sizes | Kind::Names)
    }

    /// Value of texts: one, unless it is a list.
    fn parse(self, texts: &[String]) -> Result<Value, String> {
        let one = texts.first().map(String::as_str).unwrap_or_default();
        let refuse = |what: String| Err(format!("= {one} {what}: {}", self.expects()));
        let quantity = |text: &str, what: String| format!("= {text} {what}: {}", self.expects());
        Ok(match self {
            Kind::Number { min, max } => match fraction(one) {
                Some(value) if (min..=max).contains(&value) => Value::Number(value),
                Some(_) => return refuse("is out of range".into()),
                None => return refuse("is not a number".into()),
            },
            Kind::Count { min, max } => match one.parse::<u64>() {
                Ok(value) if (min..=max).contains(&value) => Value::Count(value),
                Ok(_) => return refuse("is out of range".into()),
                Err(_) => return refuse("is not a whole number".into()),
            },
            Kind::Choice(names) => match names.iter().find(|name| **name == one) {
                Some(name) => Value::Text((*name).into()),
                None => return Err(format!("= {one} is none of {}", names.join(", "))),
            },
            Kind::Name => Value::Text(one.into()),
            Kind::Time => match parse_span(one) {
                Ok(Span::ZERO) => return refuse("is zero".into()),
                Ok(value) => Value::Time(value),
                Err(error) => return refuse(error.to_string()),
            },
            Kind::Rate => match parse_rate(one) {
                Ok(value) if value.bps() == 0 => return refuse("is zero".into()),
                Ok(value) => Value::Rate(value),
                Err(error) => return refuse(error.to_string()),
            },
            Kind::Bytes => match parse_bytes(one) {
                Ok(value) => Value::Bytes(value),
                Err(error) => return refuse(error.to_string()),
            },
            Kind::Rates => {
                let rate = |text: &String| parse_rate(text).map_err(|error| quantity(text, error.to_string()));
                Value::Rates(texts.iter().map(rate).collect::<Result<_, _>>()?)
            }
            Kind::Sizes => {
                let size = |text: &String| match parse_bytes(text) {
                    Ok(bytes) => Ok((text.clone(), bytes)),
                    Err(error) => Err(quantity(text, error.to_string())),
                };
                Value::Sizes(texts.iter().map(size).collect::<Result<_, _>>()?)
            }
            Kind::Names => Value::Names(texts.to_vec()),
        })
    }
}

/// `0.25` or `1/128`.
fn fraction(text: &str) -> Option<f64> {
    let finite = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    match text.split_once('/') {
        Some((over, under)) => Some(finite(over)? / finite(under)?).filter(|value| value.is_finite()),
        None => finite(text),
    }
}

/// Every parameter of a model, as given or by default. Only those without a default may be missing.
#[derive(Debug)]
pub struct Values {
    known: &'static [Parameter],
    values: BTreeMap<&'static str, Value>,
}

impl Values {
    /// Refuses what is unknown, of the wrong kind or out of range.
    pub fn read(known: &'static [Parameter], given: &BTreeMap<String, toml::Value>) -> Result<Values, String> {
        for name in given.keys() {
            if !known.iter().any(|parameter| parameter.name == name) {
                let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
                let near =
                    names.iter().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
                let near = near.filter(|near| strsim::jaro_winkler(near, name) > 0.85);
                let hint = near.map(|near| format!(", but there is `{near}`")).unwrap_or_default();
                return Err(format!("there is no parameter `{name}`{hint}; known are {}", names.join(", ")));
            }
        }
        let mut values = BTreeMap::new();
        for parameter in known {
            let texts = match given.get(parameter.name) {
                Some(value) => texts_of(parameter, value)?,
                None if parameter.kind.is_list() => {
                    parameter.default.split(',').map(|text| text.trim().to_owned()).filter(|t| !t.is_empty()).collect()
                }
                None if parameter.default.is_empty() => continue,
                None => vec![parameter.default.to_owned()],
            };
            let value = parameter.kind.parse(&texts).map_err(|why| format!("`{}` {why}", parameter.name))?;
            values.insert(parameter.name, value);
        }
        Ok(Values { known, values })
    }

    /// # Panics
    /// If the model has no such parameter: a model asks for its own ones only.
    fn get(&self, name: &str) -> Option<&Value> {
        assert!(self.known.iter().any(|parameter| parameter.name == name), "no parameter `{name}`");
        self.values.get(name)
    }

    pub(crate) fn number(&self, name: &str) -> f64 {
        self.maybe_number(name).unwrap_or_else(|| panic!("`{name}` has a default"))
    }

    /// Without a default.
    pub(crate) fn maybe_number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Number(value) => Some(*value),
            other => panic!("`{name}` is {other:?}, not a number"),
        }
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Count(value)) => *value,
            other => panic!("`{name}` is {other:?}, not a count"),
        }
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Value::Text(value)) => value,
            other => panic!("`{name}` is {other:?}, not a text"),
        }
    }

    pub(crate) fn time(&self, name: &str) -> Span {
        match self.get(name) {
            Some(Value::Time(value)) => *value,
            other => panic!("`{name}` is {other:?}, not a time"),
        }
    }

    /// In bits per second.
    pub(crate) fn rate_bps(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Value::Rate(value)) => value.bps() as f64,
            other => panic!("`{name}` is {other:?}, not a rate"),
        }
    }

    pub(crate) fn bytes(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Bytes(value)) => *value,
            other => panic!("`{name}` is {other:?}, not a size"),
        }
    }

    /// In bits per second.
    pub(crate) fn rates_bps(&self, name: &str) -> Vec<f64> {
        match self.get(name) {
            Some(Value::Rates(values)) => values.iter().map(|rate| rate.bps() as f64).collect(),
            other => panic!("`{name}` is {other:?}, not rates"),
        }
    }

    pub(crate) fn sizes(&self, name: &str) -> &[(String, u64)] {
        match self.get(name) {
            Some(Value::Sizes(values)) => values,
            other => panic!("`{name}` is {other:?}, not sizes"),
        }
    }

    pub(crate) fn names(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Value::Names(values)) => values,
            other => panic!("`{name}` is {other:?}, not texts"),
        }
    }
}

/// A value as the texts it would be written with.
fn texts_of(parameter: &Parameter, value: &toml::Value) -> Result<Vec<String>, String> {
    let wrong = || format!("`{}` = {value}: not {}", parameter.name, parameter.kind.expects());
    let one = |value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(flag) => Ok(flag.to_string()),
        toml::Value::Array(_) | toml::Value::Table(_) | toml::Value::Datetime(_) => Err(wrong()),
    };
    match value {
        toml::Value::Array(items) if parameter.kind.is_list() => items.iter().map(one).collect(),
        _ if parameter.kind.is_list() => Err(wrong()),
        _ => Ok(vec![one(value)?]),
    }
}
