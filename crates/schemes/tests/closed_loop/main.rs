//! Schemes in a closed loop on small networks, held against what their papers and specifications
//! say of queue, utilisation, fairness and convergence. One file per scheme.

#[path = "../common/mod.rs"]
mod common;

mod af_qcn;
mod bench;
mod dcqcn;
mod dctcp;
mod fig2;
mod fqcn;
mod hpcc;
mod hpcc_pint;
mod mercury;
mod mlcc;
mod pacc;
mod pcn;
mod powertcp;
mod qcn;
mod rcm;
mod rocc;
mod swift;
mod tcd;
mod tcp_newreno;
mod timely;
