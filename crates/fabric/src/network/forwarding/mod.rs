//! Rules of forwarding: a file and a line below for each.

mod ecmp;
mod pinned;

use crate::contract::forwarding::{
    Candidate, Forwarded, NextHop, NextHopFacts, PathChoice, PathFacts, delegate_next_hop, delegate_path_choice,
};
use crate::contract::packet::Ecn;
pub use ecmp::{FlowKey, address};
use xoff_engine::{Span, Time};

/// How packets of flows whose traffic names no path find theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forwarding {
    /// Paths that a sender chooses from for each packet, each a hash of the flow and its number; 1: none to choose.
    pub paths: u16,
    /// Rule of that choice.
    pub choice: PathRule,
    /// Rule by which switches choose the next hop of each packet. `None`: the paths of a flow are resolved by
    /// [`crate::network::plan::Ecmp`] when it starts.
    pub next_hop: Option<NextHopRule>,
}

impl Default for Forwarding {
    fn default() -> Forwarding {
        Forwarding { paths: 1, choice: PathRule::Pinned, next_hop: None }
    }
}

impl Forwarding {
    /// Whether packets of one flow may take different paths.
    pub fn is_per_packet(&self) -> bool {
        self.paths > 1 || self.next_hop.is_some()
    }
}

/// Declares rules of a contract: the enum that names them and the enum of their machines, which calls them without
/// indirection. `Own` is a rule from elsewhere, behind a box.
macro_rules! rules {
    ($rule:ident makes $machine:ident: $contract:ident of $facts:ident, by $delegate:ident;
     $($(#[$doc:meta])* $name:ident($type:path),)*) => {
        #[doc = concat!("Rules of [`", stringify!($contract), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub enum $rule {
            $($(#[$doc])* $name,)*
            /// A rule of the caller.
            Own(fn(&$facts) -> Box<dyn $contract>),
        }

        impl $rule {
            pub(crate) fn machine(self, facts: &$facts) -> $machine {
                match self {
                    $($rule::$name => $machine::$name(<$type>::new(facts)),)*
                    $rule::Own(new) => $machine::Own(new(facts)),
                }
            }
        }

        impl PartialEq for $rule {
            fn eq(&self, other: &$rule) -> bool {
                match (self, other) {
                    ($rule::Own(one), $rule::Own(other)) => std::ptr::fn_addr_eq(*one, *other),
                    _ => std::mem::discriminant(self) == std::mem::discriminant(other),
                }
            }
        }

        impl Eq for $rule {}

        pub(crate) enum $machine {
            $($name($type),)*
            Own(Box<dyn $contract>),
        }

        impl $contract for $machine {
            $delegate! { #[inline] self { $($machine::$name(rule) => *rule;)* $machine::Own(rule) => **rule; } }
        }
    };
}

rules! {
    PathRule makes PathMachine: PathChoice of PathFacts, by delegate_path_choice;
    /// One path: the one that the traffic names, or the flow's first.
    Pinned(pinned::Pinned),
}

rules! {
    NextHopRule makes NextHopMachine: NextHop of NextHopFacts, by delegate_next_hop;
    /// A hash of flow, path number and switch.
    Ecmp(ecmp::Ecmp),
}
