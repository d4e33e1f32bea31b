//! Pieces that several schemes share, each exactly once.

pub mod red;
