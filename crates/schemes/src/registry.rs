//! The schemes that scenarios can name, and one enum over all of them, so that any mix runs in one world.
//!
//! The macro writes the enums and their dispatch from the lists in the crate's root. A `match`
//! per hook is all it costs, and a packet carries no more than its own scheme needs. There are
//! three: `base` over the schemes that run alone, `any` over those and the overlays, which
//! hold one of `base` inside, and `with` over one more and all others ([`With`]).

use std::sync::{Arc, Once};
use xoff_catalogue::Set;
use xoff_catalogue::param::{ParamValues, SchemeSpec};
use xoff_engine::Time;
use xoff_fabric::plan::Plan;
use xoff_fabric::scheme::{Acked, FlowFacts, Format, Limits, ReactionPoint, Scheme};
use xoff_fabric::simulation::Simulation;
use xoff_fabric::traffic::Source;
#[cfg(not(test))]
use xoff_fabric::world::World;

pub use crate::any::Any;
pub use crate::with::Any as With;

/// A scheme that scenarios can name.
pub trait Configured: Scheme + Sized {
    /// What lists, scenarios and checks know of it.
    const SPEC: SchemeSpec;

    /// From parameters that already have the right units and ranges.
    fn configure(values: &ParamValues) -> Self;

    /// Why these parameters make no sense together, or with this base.
    fn validation_error(_values: &ParamValues) -> Option<String> {
        None
    }
}

/// A scheme that works together with another, its base: see [`crate::stack`].
pub trait Overlay: Configured {
    /// Why it cannot work with this base.
    fn refuses(_base: &ParamValues) -> Option<String> {
        None
    }
    /// Whether it takes the place of the base's congestion and notification points.
    fn replaces_signals(_base: &ParamValues) -> bool {
        false
    }
    /// What a notification of its own means to the base, beside what it means to itself.
    fn pass_on(_feedback: &Self::Feedback, _now: Time, _base: &mut impl ReactionPoint) {}
    /// An acknowledgement reaches the base.
    #[inline]
    fn pass_ack(_own: &mut Self::Rp, ack: &Acked<'_>, base: &mut impl ReactionPoint) {
        base.on_ack(ack);
    }
    /// The base has raised its rate on its own.
    fn on_base_increase(_own: &mut Self::Rp, _now: Time) {}
}

/// All the schemes of a program: [`Any`], or [`With`] one more.
pub trait SchemeSet: Scheme + Sized + 'static {
    /// In the order in which they are listed to people.
    fn specs() -> Vec<&'static SchemeSpec>;
    /// Why the values make no sense together.
    fn validation_error(values: &ParamValues) -> Option<String>;
    /// The scheme whose specification the values belong to; `None` if it is not one of these.
    fn configure(values: &ParamValues) -> Option<Self>;
}

/// Its own scheme goes last.
impl<T: Configured + 'static, R: SchemeSet> SchemeSet for With<T, R> {
    fn specs() -> Vec<&'static SchemeSpec> {
        R::specs().into_iter().chain([const { &T::SPEC }]).collect()
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        if values.spec().name == T::SPEC.name { T::validation_error(values) } else { R::validation_error(values) }
    }

    fn configure(values: &ParamValues) -> Option<With<T, R>> {
        if values.spec().name == T::SPEC.name {
            return Some(With::Own(T::configure(values)));
        }
        R::configure(values).map(With::Rest)
    }
}

/// A set of schemes for the rest of the program.
fn set_of<R: SchemeSet>() -> Set {
    Set {
        specs: R::specs(),
        bases: crate::base::Any::specs(),
        validation_error: R::validation_error,
        controls_switches: |values| R::configure(values).is_some_and(|scheme| scheme.controls_switches()),
        formats: |values| {
            R::configure(values)
                .map_or([Format::default(); 2], |scheme| [scheme.format(), scheme.format_inter_domain()])
        },
        first_limits: |values, of| R::configure(values).map(|scheme| scheme.reaction_point(of).limits()),
        #[cfg(not(test))]
        world: build::<R>,
        #[cfg(test)]
        world: |_, _, _, _| unreachable!("networks are built by integration tests"),
    }
}

/// Builds a network under a set of schemes. Unit tests build none: compiling it once more takes a minute.
#[cfg(not(test))]
fn build<R: SchemeSet>(
    plan: Arc<Plan>,
    schemes: &[&ParamValues],
    sources: Vec<Box<dyn Source>>,
    part_of: Option<Vec<u16>>,
) -> Box<dyn Simulation> {
    let outside = |values: &ParamValues| format!("a specification outside the registry: {}", values.spec().name);
    let configure = |values: &&ParamValues| R::configure(values).unwrap_or_else(|| panic!("{}", outside(values)));
    let schemes: Vec<R> = schemes.iter().map(configure).collect();
    Box::new(match part_of {
        Some(part_of) => World::in_parts(plan, schemes, sources, part_of),
        None => World::new(plan, schemes, sources),
    })
}

/// Sets the schemes of this process, once. Fails if two of them have one name, or if there is a set already.
pub fn install<R: SchemeSet>() -> Result<(), String> {
    xoff_catalogue::install(set_of::<R>())
}

/// Gives this process the schemes of this crate, unless it has a set already. The network under them is compiled here,
/// so that nothing above is compiled again with them.
pub fn install_all() {
    static ONCE: Once = Once::new();
    // It fails where another set is.
    ONCE.call_once(|| drop(install::<Any>()));
}

/// Functions of the catalogue, with the schemes of this crate installed.
macro_rules! installed {
    ($($(#[doc = $about:literal])+ $name:ident($($of:ident: $kind:ty),*) -> $answer:ty;)+) => {$(
        $(#[doc = $about])+
        pub fn $name($($of: $kind),*) -> $answer {
            install_all();
            xoff_catalogue::$name($($of),*)
        }
    )+};
}

installed! {
    /// Every scheme, in the order in which they are listed to people.
    all() -> &'static [&'static SchemeSpec];
    /// The schemes that can be the base of another.
    bases() -> &'static [&'static SchemeSpec];
    /// Why the values make no sense together.
    validation_error(values: &ParamValues) -> Option<String>;
    /// The specification of a scheme by name.
    find(name: &str) -> Option<&'static SchemeSpec>;
    /// Whether these values make a scheme that controls switches: one of a run may.
    controls_switches(values: &ParamValues) -> bool;
    /// What packets of a scheme of these values look like: within a domain, and between domains.
    formats(values: &ParamValues) -> [Format; 2];
    /// Rate and window with which such a flow starts under a scheme of these values.
    first_limits(values: &ParamValues, of: &FlowFacts) -> Option<Limits>;
    /// A run of these schemes, ready to be driven; in partitions, by the partition of every node, if asked.
    world(
        plan: impl Into<Arc<Plan>>,
        schemes: &[&ParamValues],
        sources: Vec<Box<dyn Source>>,
        part_of: Option<Vec<u16>>
    ) -> Box<dyn Simulation>;
    /// The values of `NAME[:PRESET]`, or of `NAME[:PRESET]+BASE[:PRESET]` for an overlay and its base.
    select(text: &str) -> Result<ParamValues, String>;
}

macro_rules! registry {
    (base { $($base:tt)* } overlays { $($overlay:tt)* }) => {
        // What the world calls per packet is put right where it calls it; the bases within overlays
        // are called.
        crate::registry::enums! { pub(crate) base [] #[inline] { $($base)* } }
        crate::registry::enums! {
            /// The enums over all schemes of this crate: one for each of the types that a scheme has.
            pub any [] #[inline(always)] { $($base)* $($overlay)* }
        }
        crate::registry::enums! { pub(crate) with [T, R] #[inline(always)] { Own => T, Rest => R } }
        crate::registry::scheme_sets! { base { $($base)* } }
        crate::registry::scheme_sets! { any { $($base)* $($overlay)* } }
    };
}
pub(crate) use registry;

macro_rules! scheme_sets {
    ($module:ident { $($variant:ident => $scheme:ty),* $(,)? }) => {
        impl SchemeSet for $module::Any {
            fn specs() -> Vec<&'static param::SchemeSpec> {
                vec![$(&<$scheme as Configured>::SPEC),*]
            }
            fn validation_error(values: &param::ParamValues) -> Option<String> {
                $(if values.spec().name == <$scheme as Configured>::SPEC.name {
                    return <$scheme as Configured>::validation_error(values);
                })*
                None
            }
            fn configure(values: &param::ParamValues) -> Option<Self> {
                $(if values.spec().name == <$scheme as Configured>::SPEC.name {
                    return Some($module::Any::$variant(<$scheme as Configured>::configure(values)));
                })*
                None
            }
        }
    };
}
pub(crate) use scheme_sets;

macro_rules! choice {
    ($($(#[$about:meta])* $name:ident [$($g:ident),*] { $($variant:ident($held:ty) of $scheme:ty,)* })*) => {$(
        $(#[$about])*
        #[allow(clippy::large_enum_variant)]
        pub enum $name<$($g: Scheme),*> {
            $(#[doc = concat!("Of `", stringify!($scheme), "`.")] $variant($held),)*
        }
    )*};
}
pub(crate) use choice;

macro_rules! enums {
    ($(#[$about:meta])* $vis:vis $module:ident [$($g:ident),*] #[$inline:meta] {
        $($variant:ident => $scheme:ty),* $(,)?
    }) => {
        $(#[$about])*
        $vis mod $module {
            #[allow(unused_imports)]
            use super::*;
            use xoff_engine::{BitRate, Time};
            use xoff_fabric::packet::IntStack;
            use xoff_fabric::scheme::*;
            use xoff_fabric::{
                delegate_congestion_point, delegate_notification_point, delegate_reaction_point, delegate_scheme,
                delegate_switch_control, delegate_transit,
            };

            crate::registry::choice! {
                /// Any one scheme, configured.
                Any [$($g),*] { $($variant($scheme) of $scheme,)* }
                /// The congestion point of any one scheme.
                AnyCp [$($g),*] { $($variant(<$scheme as Scheme>::Cp) of $scheme,)* }
                /// The notification point of any one scheme.
                AnyNp [$($g),*] { $($variant(<$scheme as Scheme>::Np) of $scheme,)* }
                /// The reaction point of any one scheme.
                AnyRp [$($g),*] { $($variant(<$scheme as Scheme>::Rp) of $scheme,)* }
                /// What any one scheme has for a flow at a gateway.
                AnyTransit [$($g),*] { $($variant(<$scheme as Scheme>::Transit) of $scheme,)* }
                /// What any one scheme controls a switch by.
                AnySwitch [$($g),*] { $($variant(<$scheme as Scheme>::Switch) of $scheme,)* }
                /// What any one scheme says between switches.
                AnyMessage [$($g),*] { $($variant(<<$scheme as Scheme>::Switch as SwitchControl>::Message) of $scheme,)* }
                /// What any one scheme tells its senders.
                AnyFeedback [$($g),*] { $($variant(<$scheme as Scheme>::Feedback) of $scheme,)* }
            }

            impl<$($g: Scheme),*> Clone for AnyMessage<$($g),*> {
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl<$($g: Scheme),*> Copy for AnyMessage<$($g),*> {}
            impl<$($g: Scheme),*> Clone for AnyFeedback<$($g),*> {
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl<$($g: Scheme),*> Copy for AnyFeedback<$($g),*> {}

            impl<$($g: Scheme),*> Scheme for Any<$($g),*> {
                type Feedback = AnyFeedback<$($g),*>;
                type Cp = AnyCp<$($g),*>;
                type Np = AnyNp<$($g),*>;
                type Rp = AnyRp<$($g),*>;
                type Transit = AnyTransit<$($g),*>;
                type Switch = AnySwitch<$($g),*>;
                delegate_scheme! { self {
                    $(Any::$variant(scheme) => *scheme, in AnyFeedback::$variant;)*
                } }
            }
            impl<$($g: Scheme),*> CongestionPoint for AnyCp<$($g),*> {
                type Feedback = AnyFeedback<$($g),*>;
                delegate_congestion_point! { #[$inline] self {
                    $(AnyCp::$variant(cp) => *cp, in AnyFeedback::$variant;)*
                } }
            }
            impl<$($g: Scheme),*> NotificationPoint for AnyNp<$($g),*> {
                type Feedback = AnyFeedback<$($g),*>;
                delegate_notification_point! { #[$inline] self {
                    $(AnyNp::$variant(np) => *np, in AnyFeedback::$variant;)*
                } }
            }
            impl<$($g: Scheme),*> ReactionPoint for AnyRp<$($g),*> {
                type Feedback = AnyFeedback<$($g),*>;
                delegate_reaction_point! { #[$inline] self {
                    $(AnyRp::$variant(rp) => *rp, in AnyFeedback::$variant;)*
                } }
            }
            impl<$($g: Scheme),*> Transit for AnyTransit<$($g),*> {
                type Feedback = AnyFeedback<$($g),*>;
                delegate_transit! { self {
                    $(AnyTransit::$variant(transit) => *transit, in AnyFeedback::$variant;)*
                } }
            }
            impl<$($g: Scheme),*> SwitchControl for AnySwitch<$($g),*> {
                type Message = AnyMessage<$($g),*>;
                delegate_switch_control! { #[$inline] self {
                    $(AnySwitch::$variant(control) => *control, in AnyMessage::$variant;)*
                } }
            }
        }
    };
}
pub(crate) use enums;
