//! A run as whoever drives it sees it, whatever schemes its world was compiled for.
//!
//! [`World`] is generic over schemes, and compiling it takes a while. Behind this trait it is compiled once, in the
//! crate that lists the schemes, and a program that adds one of its own brings a world of its own. One call is
//! thousands of events, so the indirection costs nothing.

use crate::contract::activity::{Activity, PortNow, PortsNow};
use crate::contract::capture::Capture;
use crate::contract::record::{DeadLink, Failure, FlowLink, Holdings, PortReport, StormRecord};
use crate::contract::scheme::Scheme;
use crate::node::tap::Taps;
use crate::run::window::{Executor, Sequential};
use crate::run::{Progress, RunState, World};
use std::any::Any;
use std::ops::DerefMut;

/// Declares [`Simulation`] and implements it for every [`World`], by the methods of the same names.
macro_rules! simulation {
    (
        changes { $($change:ident($($value:ident: $type:ty)?) $(-> $changed:ty)?;)* }
        reads { $($read:ident() -> $result:ty;)* }
    ) => {
        /// A run that can be driven. Its records and counters are those of its [`RunState`]; who knows its world can go
        /// back to that, by [`Any`].
        pub trait Simulation: DerefMut<Target = RunState> + PortsNow + Any + Send {
            /// [`World::run_with`].
            fn run_with(&mut self, max_events: u64, executor: &dyn Executor) -> Progress;

            $(#[doc = concat!("[`World::", stringify!($change), "`].")]
            fn $change(&mut self $(, $value: $type)?) $(-> $changed)?;)*

            $(#[doc = concat!("[`World::", stringify!($read), "`].")]
            fn $read(&self) -> $result;)*

            /// Bytes among those delivered that macro-flows carried: no record of a flow has them.
            fn macro_flow_bytes(&self) -> u64 {
                0
            }

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

            $(fn $change(&mut self $(, $value: $type)?) $(-> $changed)? {
                World::$change(self $(, $value)?)
            })*

            $(fn $read(&self) -> $result {
                World::$read(self)
            })*
        }
    };
}

simulation! {
    changes {
        fail(failure: Failure);
        capture(captures: Vec<Capture>);
        watch_activity();
        take_activity() -> Option<Activity>;
        taps_mut() -> &mut Taps;
        port_reports() -> Vec<PortReport>;
        forget_packets();
        shorten_windows(by: u64);
    }
    reads {
        taps() -> &Taps;
        storm_records() -> Vec<StormRecord>;
        dead_links() -> Vec<DeadLink>;
        flow_links() -> Vec<FlowLink>;
        check_conservation() -> Result<(), String>;
        flows_in_flight() -> usize;
        flows_alive() -> u64;
        holdings() -> Holdings;
        parts() -> usize;
        windows() -> u64;
    }
}

impl<S: Scheme> PortsNow for World<S> {
    fn port_now(&self, port: u32) -> PortNow {
        World::port_now(self, port)
    }
}
