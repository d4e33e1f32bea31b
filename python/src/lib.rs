//! The native half of the Python package `xoff`: everything that `lib/xoff/_xoff.pyi` declares.
//!
//! Reading order: `error` (mistakes as exceptions), `scenario` (what is to be run), `run` (a simulation on a thread of
//! its own), `table` (its results as Arrow tables), `sweep` (many of them), `ask` (answers that run nothing).

mod ask;
mod error;
mod run;
mod scenario;
mod sweep;
mod table;

#[pyo3::pymodule]
mod _xoff {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::ask::{check, compared, comparison_text, describe, estimate, schemes, styles, title, validate};
    #[pymodule_export]
    use crate::error::{ScenarioError, ScenarioWarning};
    #[pymodule_export]
    use crate::run::{Progress, RunData, Stop, read, run, run_again};
    #[pymodule_export]
    use crate::sweep::{SweepPlan, SweepStore, build_id, sweep_again, sweep_plan, sweep_read, sweep_run};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        xoff::embed::provide();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
