//! Training jobs: graphs of computing and messages ([`Dag`]), and the state machine that runs them ([`Runner`]).
//!
//! Collectives are generators of graphs ([`collective::generate`]), traces of real jobs are read as such ([`chakra`]). Knows no
//! network, file or clock.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod bandwidth;
pub mod chakra;
pub mod collective;
mod compiled;
mod dag;
mod longest_path;
pub mod macro_flow;
mod recipe;
pub mod record;
mod runner;
pub mod settle;
mod terms;

pub use compiled::{Compiled, Pair};
pub use dag::{Activity, ActivityKind, Collective, Dag, Lane, Op, OpId, Resource, Via, Work};
pub use longest_path::longest_path;
pub use recipe::{Graph, Part, Recipe, Step};
pub use record::Interval;
pub use runner::{Job, Message, Runner};
