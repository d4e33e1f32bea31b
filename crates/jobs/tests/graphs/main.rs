//! Graphs run to their end without a simulated network.

mod chakra;
mod closed_forms;
mod conservation;
mod ideal;
mod programs;
mod random;
mod runner;
mod trees;
