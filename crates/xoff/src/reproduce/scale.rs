//! How large an experiment is run.

use clap::ValueEnum;

/// The three sizes of every experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Scale {
    /// Small versions, to see that everything works
    Quick,
    /// Large enough for verdicts that are stable over seeds
    Standard,
    /// The papers' own sizes
    Full,
}

impl Scale {
    pub const ALL: [Scale; 3] = [Scale::Quick, Scale::Standard, Scale::Full];

    pub fn name(self) -> &'static str {
        match self {
            Scale::Quick => "quick",
            Scale::Standard => "standard",
            Scale::Full => "full",
        }
    }

    pub fn index(self) -> usize {
        self as usize
    }
}
