//! Pieces that several schemes share, each exactly once.

pub mod flow_table;
pub mod newreno;
pub mod red;
