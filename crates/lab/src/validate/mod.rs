//! Xoff against the HPCC authors' simulator, on its own inputs: `xoff validate`.

pub mod compare;
pub mod theirs;
pub mod times;
