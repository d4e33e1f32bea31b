//! A run as whoever drives it sees it, whatever schemes its world was compiled for.
//!
//! [`World`] is generic over schemes, and compiling it takes a while. Behind this trait it is compiled once, in the
//! crate that lists the schemes, and a program that adds one of its own brings a world of its own. One call is
//! thousands of events, so the indirection costs nothing.

use crate::contract::activity::{Activity, PortNow, PortsNow};
use crate::contract::capture::Capture;
use crate::contract::record::{Failure, Holdings, PortReport, StormRecord};
use crate::contract::scheme::Scheme;
use crate::node::tap::Taps;
use crate::run::window::{Executor, Sequential};
use crate::run::{Progress, RunState, World};
use std::any::Any;
use std::ops::DerefMut;

/// A run that can be driven. Its records and counters are those of its [`RunState`]; who knows its world can go back to
/// that, by [`Any`].
pub trait Simulation: DerefMut<Target = RunState> + PortsNow + Any + Send {
    /// [`World::run_with`].
    fn run_with(&mut self, max_events: u64, executor: &dyn Executor) -> Progress;
    /// [`World::fail`].
    fn fail(&mut self, failure: Failure);
    /// [`World::capture`].
    fn capture(&mut self, captures: Vec<Capture>);
    /// [`World::watch_activity`].
    fn watch_activity(&mut self);
    /// [`World::take_activity`].
    fn take_activity(&mut self) -> Option<Activity>;
    /// [`World::taps`].
    fn taps(&self) -> &Taps;
    /// [`World::taps_mut`].
    fn taps_mut(&mut self) -> &mut Taps;
    /// [`World::port_reports`].
    fn port_reports(&mut self) -> Vec<PortReport>;
    /// [`World::storm_records`].
    fn storm_records(&self) -> Vec<StormRecord>;
    /// [`World::books`].
    fn books(&self) -> Result<(), String>;
    /// [`World::flows_in_flight`].
    fn flows_in_flight(&self) -> usize;
    /// [`World::flows_alive`].
    fn flows_alive(&self) -> u64;
    /// [`World::holdings`].
    fn holdings(&self) -> Holdings;
    /// [`World::parts`].
    fn parts(&self) -> usize;
    /// [`World::windows`].
    fn windows(&self) -> u64;
    /// [`World::shorten_windows`].
    fn shorten_windows(&mut self, by: u64);

    /// Handles up to `max_events` events, one part after the other.
    fn run(&mut self, max_events: u64) -> Progress {
        self.run_with(max_events, &Sequential)
    }

    /// Runs to the end.
    fn run_to_end(&mut self) {
        while self.run(1 << 20) == Progress::Running {}
    }
}

impl<S: Scheme + 'static> Simulation for World<S> {
    // Kept whole, so that profilers find the run by its name.
    #[inline(never)]
    fn run_with(&mut self, max_events: u64, executor: &dyn Executor) -> Progress {
        World::run_with(self, max_events, executor)
    }
    fn fail(&mut self, failure: Failure) {
        World::fail(self, failure);
    }
    fn capture(&mut self, captures: Vec<Capture>) {
        World::capture(self, captures);
    }
    fn watch_activity(&mut self) {
        World::watch_activity(self);
    }
    fn take_activity(&mut self) -> Option<Activity> {
        World::take_activity(self)
    }
    fn taps(&self) -> &Taps {
        World::taps(self)
    }
    fn taps_mut(&mut self) -> &mut Taps {
        World::taps_mut(self)
    }
    fn port_reports(&mut self) -> Vec<PortReport> {
        World::port_reports(self)
    }
    fn storm_records(&self) -> Vec<StormRecord> {
        World::storm_records(self)
    }
    fn books(&self) -> Result<(), String> {
        World::books(self)
    }
    fn flows_in_flight(&self) -> usize {
        World::flows_in_flight(self)
    }
    fn flows_alive(&self) -> u64 {
        World::flows_alive(self)
    }
    fn holdings(&self) -> Holdings {
        World::holdings(self)
    }
    fn parts(&self) -> usize {
        World::parts(self)
    }
    fn windows(&self) -> u64 {
        World::windows(self)
    }
    fn shorten_windows(&mut self, by: u64) {
        World::shorten_windows(self, by);
    }
}

impl<S: Scheme> PortsNow for World<S> {
    fn port_now(&self, port: u32) -> PortNow {
        World::port_now(self, port)
    }
}
