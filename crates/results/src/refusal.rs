//! Why something that is made of a finished run was not made.

use std::io;
use xoff_scenario::Diagnostic;

/// Whose fault it is.
#[derive(Debug)]
pub enum Refusal {
    /// The run directory cannot be read.
    Input(Vec<Diagnostic>),
    System(io::Error),
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Refusal {
        Refusal::Input(vec![diagnostic])
    }
}
impl From<Vec<Diagnostic>> for Refusal {
    fn from(diagnostics: Vec<Diagnostic>) -> Refusal {
        Refusal::Input(diagnostics)
    }
}
impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::System(error)
    }
}
