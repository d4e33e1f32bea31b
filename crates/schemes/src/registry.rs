//! One enum over all schemes, so that any mix of them runs in one world.
//!
//! The macro writes the enums and their dispatch from the list in the crate's root. A `match`
//! per hook is all it costs, and a packet carries no more than its own scheme needs.

use crate::param::{ParamValues, SchemeSpec};
use xoff_fabric::scheme::Scheme;

/// A scheme that scenarios can name.
pub trait Configured: Scheme + Sized {
    const SPEC: SchemeSpec;

    /// From parameters that already have the right units and ranges.
    fn configure(values: &ParamValues) -> Self;
}

pub use crate::any::{Any, all};

/// The specification of a scheme by name.
pub fn find(name: &str) -> Option<&'static SchemeSpec> {
    all().iter().copied().find(|spec| spec.name == name)
}

macro_rules! registry {
    ($($variant:ident => $scheme:ty),* $(,)?) => {
        mod any {
            use super::*;
            use crate::param::{ParamValues, SchemeSpec};
            use xoff_engine::Time;
            use xoff_fabric::scheme::*;

            /// Every scheme, in the order in which they are listed to people.
            pub fn all() -> &'static [&'static SchemeSpec] {
                &[$(&<$scheme as Configured>::SPEC),*]
            }

            /// Any one scheme, configured.
            #[allow(clippy::large_enum_variant)]
            pub enum Any { $($variant($scheme)),* }
            #[allow(clippy::large_enum_variant)]
            pub enum AnyCp { $($variant(<$scheme as Scheme>::Cp)),* }
            pub enum AnyNp { $($variant(<$scheme as Scheme>::Np)),* }
            #[allow(clippy::large_enum_variant)]
            pub enum AnyRp { $($variant(<$scheme as Scheme>::Rp)),* }
            #[derive(Clone, Copy)]
            pub enum AnyFeedback { $($variant(<$scheme as Scheme>::Feedback)),* }

            impl Any {
                /// The scheme whose specification the values belong to.
                pub fn configure(values: &ParamValues) -> Any {
                    $(if values.spec().name == <$scheme as Configured>::SPEC.name {
                        return Any::$variant(<$scheme as Configured>::configure(values));
                    })*
                    unreachable!("a specification outside the registry: {}", values.spec().name)
                }
            }

            impl Scheme for Any {
                type Feedback = AnyFeedback;
                type Cp = AnyCp;
                type Np = AnyNp;
                type Rp = AnyRp;
                fn congestion_point(&self, at: &QueueFacts) -> AnyCp {
                    match self { $(Any::$variant(scheme) => AnyCp::$variant(scheme.congestion_point(at))),* }
                }
                fn notification_point(&self, of: &FlowFacts) -> AnyNp {
                    match self { $(Any::$variant(scheme) => AnyNp::$variant(scheme.notification_point(of))),* }
                }
                fn reaction_point(&self, of: &FlowFacts) -> AnyRp {
                    match self { $(Any::$variant(scheme) => AnyRp::$variant(scheme.reaction_point(of))),* }
                }
                fn overhead(&self) -> Overhead {
                    match self { $(Any::$variant(scheme) => scheme.overhead()),* }
                }
            }

            impl CongestionPoint for AnyCp {
                type Feedback = AnyFeedback;
                fn hooks(&self) -> Hooks {
                    match self { $(AnyCp::$variant(cp) => cp.hooks()),* }
                }
                fn on_enqueue(
                    &mut self,
                    view: &QueueView,
                    packet: &PacketFacts,
                    weight: u16,
                    mark: Mark<'_>,
                    mut notify: impl FnMut(u32, AnyFeedback),
                ) {
                    match self {
                        $(AnyCp::$variant(cp) => cp.on_enqueue(view, packet, weight, mark, |flow, feedback| {
                            notify(flow, AnyFeedback::$variant(feedback))
                        })),*
                    }
                }
                #[inline]
                fn on_dequeue(
                    &mut self,
                    view: &QueueView,
                    packet: &PacketFacts,
                    mark: Mark<'_>,
                    mut notify: impl FnMut(u32, AnyFeedback),
                ) {
                    match self {
                        $(AnyCp::$variant(cp) => cp.on_dequeue(view, packet, mark, |flow, feedback| {
                            notify(flow, AnyFeedback::$variant(feedback))
                        })),*
                    }
                }
                fn on_pause_change(&mut self, view: &QueueView) {
                    match self { $(AnyCp::$variant(cp) => cp.on_pause_change(view)),* }
                }
                fn on_timer(&mut self, view: &QueueView, mut notify: impl FnMut(u32, AnyFeedback)) {
                    match self {
                        $(AnyCp::$variant(cp) => CongestionPoint::on_timer(cp, view, |flow, feedback| {
                            notify(flow, AnyFeedback::$variant(feedback))
                        })),*
                    }
                }
                fn timer(&self) -> Option<Time> {
                    match self { $(AnyCp::$variant(cp) => CongestionPoint::timer(cp)),* }
                }
            }

            impl NotificationPoint for AnyNp {
                type Feedback = AnyFeedback;
                #[inline]
                fn on_data(&mut self, packet: &Received) -> Option<AnyFeedback> {
                    match self { $(AnyNp::$variant(np) => np.on_data(packet).map(AnyFeedback::$variant)),* }
                }
                fn on_timer(&mut self, now: Time) -> Option<AnyFeedback> {
                    match self { $(AnyNp::$variant(np) => NotificationPoint::on_timer(np, now).map(AnyFeedback::$variant)),* }
                }
                #[inline]
                fn timer(&self) -> Option<Time> {
                    match self { $(AnyNp::$variant(np) => NotificationPoint::timer(np)),* }
                }
            }

            impl ReactionPoint for AnyRp {
                type Feedback = AnyFeedback;
                #[inline]
                fn limits(&self) -> Limits {
                    match self { $(AnyRp::$variant(rp) => rp.limits()),* }
                }
                #[inline]
                fn on_sent(&mut self, now: Time, wire_bytes: u32) {
                    match self { $(AnyRp::$variant(rp) => rp.on_sent(now, wire_bytes)),* }
                }
                #[inline]
                fn on_ack(&mut self, ack: &Acked<'_>) {
                    match self { $(AnyRp::$variant(rp) => rp.on_ack(ack)),* }
                }
                fn on_feedback(&mut self, now: Time, feedback: &AnyFeedback) {
                    match (self, feedback) {
                        $((AnyRp::$variant(rp), AnyFeedback::$variant(feedback)) => rp.on_feedback(now, feedback),)*
                        #[allow(unreachable_patterns)]
                        _ => unreachable!("a flow hears only congestion points of its own scheme"),
                    }
                }
                fn on_loss(&mut self, now: Time, loss: Loss) {
                    match self { $(AnyRp::$variant(rp) => rp.on_loss(now, loss)),* }
                }
                fn on_timer(&mut self, now: Time) {
                    match self { $(AnyRp::$variant(rp) => rp.on_timer(now)),* }
                }
                #[inline]
                fn timer(&self) -> Option<Time> {
                    match self { $(AnyRp::$variant(rp) => rp.timer()),* }
                }
            }
        }
    };
}
pub(crate) use registry;
