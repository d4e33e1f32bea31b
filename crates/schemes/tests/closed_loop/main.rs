//! Schemes in a closed loop on small networks, held against what their papers and specifications
//! say of queue, utilisation, fairness and convergence. One file per scheme.

#[path = "../../../fabric/tests/common/mod.rs"]
mod common;

mod bench;
mod dcqcn;
mod dctcp;
mod fig2;
mod hpcc;
mod mercury;
mod pcn;
mod powertcp;
mod swift;
mod tcd;
mod tcp_newreno;
mod timely;
