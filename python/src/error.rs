//! Mistakes as exceptions, with the words of the command line.

use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use xoff_scenario::Diagnostic;

pyo3::create_exception!(
    xoff,
    ScenarioError,
    PyValueError,
    "What is wrong with an input, where, and how to put it right.\n\n\
     The message is what the command line says. ``problems`` has the same as data: a list of dicts with the keys\n\
     ``message``, ``file``, ``line``, ``label`` and ``help``."
);
pyo3::create_exception!(
    xoff,
    ScenarioWarning,
    PyUserWarning,
    "Something in a scenario that is allowed and probably not meant."
);

/// The exception for what is wrong.
pub fn of(py: Python<'_>, problems: &[Diagnostic]) -> PyErr {
    let text: Vec<String> = problems.iter().map(|problem| problem.render(false)).collect();
    let error = ScenarioError::new_err(text.join("\n"));
    match described(py, problems).and_then(|list| error.value(py).setattr("problems", list)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn described<'py>(py: Python<'py>, problems: &[Diagnostic]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for problem in problems {
        let fields = PyDict::new(py);
        fields.set_item("message", &problem.message)?;
        fields.set_item("file", problem.place.as_ref().map(|place| place.source.name.as_str()))?;
        fields.set_item("line", problem.line())?;
        fields.set_item("label", &problem.label)?;
        fields.set_item("help", &problem.help)?;
        list.append(fields)?;
    }
    Ok(list)
}

/// Says them as Python says warnings, about the line that called the package.
pub fn warn(py: Python<'_>, warnings: &[Diagnostic]) -> PyResult<()> {
    if warnings.is_empty() {
        return Ok(());
    }
    let say = py.import("xoff._words")?.getattr("warn")?;
    for warning in warnings {
        say.call1((warning.render_warning_in(None, false),))?;
    }
    Ok(())
}
