//! Rules of forwarding and of edge routing: how a line of a list becomes a rule and its machine.

/// Declares rules of a contract: the enum that names them and the enum of their machines, which calls them without
/// indirection. `Own` is a rule from elsewhere, behind a box.
macro_rules! rules {
    ($rule:ident makes $machine:ident: $contract:ident of $facts:ident, by $delegate:ident;
     $($(#[$doc:meta])* $name:ident($type:path $(, $settings:ident: $of:ty)?),)*) => {
        #[doc = concat!("Rules of [`", stringify!($contract), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub enum $rule {
            $($(#[$doc])* $name $(($of))?,)*
            /// A rule of the caller.
            Own(fn(&$facts) -> Box<dyn $contract>),
        }

        impl $rule {
            pub(crate) fn machine(self, facts: &$facts) -> $machine {
                match self {
                    $($rule::$name $(($settings))? => $machine::$name(<$type>::new(facts $(, $settings)?)),)*
                    $rule::Own(new) => $machine::Own(new(facts)),
                }
            }
        }

        impl PartialEq for $rule {
            fn eq(&self, other: &$rule) -> bool {
                match (self, other) {
                    ($rule::Own(one), $rule::Own(other)) => std::ptr::fn_addr_eq(*one, *other),
                    // Settings are plain values, which print what they are.
                    _ => format!("{self:?}") == format!("{other:?}"),
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

pub(crate) use rules;
