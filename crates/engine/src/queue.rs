//! placeholder
pub struct EventQueue;
pub struct Key;
