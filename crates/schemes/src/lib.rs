//! Congestion-control schemes, one file (or folder) each, and the registry that lists them.
//!
//! To add a scheme: write its file with a type that implements [`Configured`], and add its two
//! lines below, `mod` and the registry entry (under `overlays`, as a [`stack::Stack`], if it
//! works together with another scheme). Everything else (names, parameters, scenario
//! keys, listings, the tests that run every scheme) follows from the registry.

#![warn(missing_docs)]

mod af_qcn;
mod dcqcn;
mod dctcp;
#[cfg(test)]
mod effect_tests;
mod fqcn;
mod hpcc;
mod hpcc_pint;
mod mercury;
pub mod mlcc;
mod none;
mod np_ecn;
mod nscc;
mod pacc;
pub mod parts;
pub mod pcn;
mod powertcp;
mod qcn;
pub mod rcm;
mod registry;
mod rocc;
pub mod stack;
mod swift;
mod tcd;
mod tcp_newreno;
#[cfg(test)]
mod testing;
mod timely;

pub use registry::{
    Any, Configured, Overlay, SchemeSet, With, all, bases, controls_switches, find, first_limits, formats, install,
    install_all, select, validation_error, world,
};
pub use xoff_catalogue::param;

registry::registry! {
    base {
        None => xoff_fabric::scheme::Uncontrolled,
        Dcqcn => dcqcn::Dcqcn,
        Pcn => pcn::Pcn,
        Hpcc => hpcc::Hpcc,
        HpccPint => hpcc_pint::HpccPint,
        PowerTcp => powertcp::PowerTcp,
        ThetaPowerTcp => powertcp::ThetaPowerTcp,
        Timely => timely::Timely,
        PatchedTimely => timely::PatchedTimely,
        Swift => swift::Swift,
        Nscc => nscc::Nscc,
        Rocc => rocc::Rocc,
        Dctcp => dctcp::Dctcp,
        TcpNewReno => tcp_newreno::TcpNewReno,
        Mlcc => mlcc::Mlcc,
    }
    overlays {
        Mercury => stack::Stack<mercury::Mercury>,
        Tcd => stack::Stack<tcd::Tcd>,
        NpEcn => stack::Stack<np_ecn::NpEcn>,
        Qcn => stack::Stack<qcn::Qcn>,
        AfQcn => stack::Stack<af_qcn::AfQcn>,
        Fqcn => stack::Stack<fqcn::Fqcn>,
        Pacc => stack::Stack<pacc::Pacc>,
        Rcm => stack::Stack<rcm::Rcm>,
    }
}
