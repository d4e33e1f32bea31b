//! Pieces that several schemes share, each exactly once.

pub mod clock;
pub mod flow_table;
pub mod hpcc_law;
pub mod int;
pub mod newreno;
pub mod pi;
pub mod qcn_family;
pub mod qcn_limiter;
pub mod qcn_sampler;
pub mod red;
pub mod round_trip;
