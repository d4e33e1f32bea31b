//! The papers' experiments, run from data, drawn, and their claims judged.

pub mod judged;
pub mod results;
