//! The world of any scheme, compiled once, here.
//!
//! [`World`] is generic. Wrapping the one instance that programs use keeps its code in this crate,
//! so that whoever drives it neither compiles it again nor waits for it.

use crate::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use xoff_fabric::plan::Plan;
use xoff_fabric::record::PortReport;
use xoff_fabric::traffic::Source;
use xoff_fabric::window::Crew;
use xoff_fabric::world::{Progress, World};

/// A world whose flows run any schemes of the registry. Its state is that of [`World`].
pub struct AnyWorld(World<Any>);

impl AnyWorld {
    pub fn new(plan: impl Into<Arc<Plan>>, schemes: Vec<Any>, sources: Vec<Box<dyn Source>>) -> AnyWorld {
        AnyWorld(World::new(plan, schemes, sources))
    }

    /// The same, cut into parts ([`World::in_parts`]).
    pub fn in_parts(
        plan: impl Into<Arc<Plan>>,
        schemes: Vec<Any>,
        sources: Vec<Box<dyn Source>>,
        part_of: Vec<u16>,
    ) -> AnyWorld {
        AnyWorld(World::in_parts(plan, schemes, sources, part_of))
    }

    /// Handles up to `max_events` events. Kept whole, so that profilers find the run by its name.
    #[inline(never)]
    pub fn run(&mut self, max_events: u64) -> Progress {
        self.0.run(max_events)
    }

    /// The same with a crew ([`World::run_with`]).
    #[inline(never)]
    pub fn run_with(&mut self, max_events: u64, crew: &dyn Crew<Any>) -> Progress {
        self.0.run_with(max_events, crew)
    }

    pub fn run_to_end(&mut self) {
        self.0.run_to_end();
    }

    pub fn port_reports(&mut self) -> Vec<PortReport> {
        self.0.port_reports()
    }

    pub fn books(&self) -> Result<(), String> {
        self.0.books()
    }
}

impl Deref for AnyWorld {
    type Target = World<Any>;
    fn deref(&self) -> &World<Any> {
        &self.0
    }
}

impl DerefMut for AnyWorld {
    fn deref_mut(&mut self) -> &mut World<Any> {
        &mut self.0
    }
}
