//! Models that stand beside the packet-level runs: recurrences, fluid models and differential
//! equations of the papers, and the flow-size distributions themselves.
//!
//! A model takes named parameters and yields numbers and curves, as a run does.
