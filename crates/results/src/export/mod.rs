//! Results in the formats of other simulators, so that people's scripts run unchanged.

pub mod hpcc;
pub(crate) mod standalone;
