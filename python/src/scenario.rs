//! What is to be run: a file, a text or a dict, and what is changed in it.

use crate::error;
use crate::run::patiently;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use toml::Value;
use xoff_scenario::{Loaded, Options, Scenario, import};

/// Tables within tables; no scenario has nearly as many.
const DEEPEST: usize = 32;

/// Opens a path, the text of a scenario (a `str` of several lines) or a dict.
pub fn open(given: &Bound<'_, PyAny>) -> PyResult<Scenario> {
    if let Ok(dict) = given.cast::<PyDict>() {
        let text = toml::to_string(&table(dict, 0)?).map_err(|why| PyValueError::new_err(why.to_string()))?;
        return Ok(Scenario::from_text("<dict>", text, Path::new(".")));
    }
    if given.is_instance_of::<PyString>() {
        let text: String = given.extract()?;
        if text.contains('\n') {
            return Ok(Scenario::from_text("<text>", text, Path::new(".")));
        }
    }
    let path: PathBuf = given.extract().map_err(|_| {
        PyTypeError::new_err("a scenario is a path, the text of a scenario (several lines of TOML) or a dict")
    })?;
    import::open(&path).map_err(|problems| error::of(given.py(), &problems))
}

/// What is changed in it: keys by dotted name, the seed, the scheme.
pub fn options(set: Option<&Bound<'_, PyDict>>, seed: Option<u64>, scheme: Option<String>) -> PyResult<Options> {
    let mut sets = Vec::new();
    for (key, given) in set.into_iter().flatten() {
        let key: String =
            key.extract().map_err(|_| PyTypeError::new_err("keys of `set` are dotted names, in Unicode"))?;
        sets.push(match value(&given, 0)? {
            Some(value) => format!("{key}={value}"),
            None => format!("{key}=null"),
        });
    }
    Ok(Options { sets, seed, scheme, ..Options::default() })
}

/// Loads it, and says what is probably not meant.
pub fn load(py: Python<'_>, scenario: &Scenario, options: &Options) -> PyResult<Loaded> {
    let (scenario, options) = (scenario.clone(), options.clone());
    let work = move || scenario.load(&options);
    let loaded = patiently(py, &AtomicBool::new(false), &mut || Ok(()), work)?;
    let loaded = loaded.map_err(|problems| error::of(py, &problems))?;
    error::warn(py, &loaded.warnings)?;
    Ok(loaded)
}

/// Value of TOML; `None`, which TOML has not, is no value.
fn value(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Value>> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!("a value has more than {DEEPEST} levels")));
    }
    Ok(Some(if given.is_none() {
        return Ok(None);
    } else if given.is_instance_of::<PyBool>() {
        Value::Boolean(given.extract()?)
    } else if given.is_instance_of::<PyInt>() {
        Value::Integer(given.extract()?)
    } else if given.is_instance_of::<PyFloat>() {
        Value::Float(given.extract()?)
    } else if given.is_instance_of::<PyString>() {
        let text = given.extract();
        let lone = |_| PyValueError::new_err(format!("{} is no Unicode text: it has half of a pair", escaped(given)));
        Value::String(text.map_err(lone)?)
    } else if let Ok(dict) = given.cast::<PyDict>() {
        Value::Table(table(dict, depth)?)
    } else if given.hasattr("__fspath__")? {
        Value::String(given.call_method0("__fspath__")?.extract()?)
    } else if given.hasattr("item")?
        && given.getattr("shape").is_ok_and(|shape| shape.len().is_ok_and(|axes| axes == 0))
    {
        // A number of NumPy.
        return value(&given.call_method0("item")?, depth + 1);
    } else if let Ok(items) = given.try_iter() {
        let mut list = Vec::new();
        for item in items {
            list.extend(value(&item?, depth + 1)?);
        }
        Value::Array(list)
    } else {
        return Err(PyTypeError::new_err(format!("a scenario has no place for {}", given.repr()?)));
    }))
}

/// A text as Python writes it, which has no half of a pair.
fn escaped(text: &Bound<'_, PyAny>) -> String {
    text.call_method0("__repr__").and_then(|text| text.extract()).unwrap_or_else(|_| "a text".to_owned())
}

fn table(dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<toml::Table> {
    let mut table = toml::Table::new();
    for (key, given) in dict {
        let key: String = key.extract().map_err(|_| PyTypeError::new_err("keys of a scenario are texts"))?;
        if let Some(value) = value(&given, depth + 1)? {
            table.insert(key, value);
        }
    }
    Ok(table)
}
