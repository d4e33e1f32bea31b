//! Pieces that several schemes share, each exactly once.

pub mod flow_table;
pub mod hpcc_law;
pub mod int;
pub mod newreno;
pub mod red;
pub mod round_trip;
