//! Two schemes at work on the same flows: an overlay and its base.
//!
//! Some schemes live beside an end-to-end one: they add a signal of the switch (and a limit at the
//! sender) to whatever reaction point the hosts have. [`Stack`] runs both. A flow obeys the
//! stricter of the two limits; every hook reaches both; what an overlay's own notification means
//! to its base, and which signals of the base it replaces, the overlay says ([`Overlay`]).

use crate::Configured;
use crate::base::{Any, AnyCp, AnyFeedback, AnyNp, AnyRp, AnyTransit};
use crate::param::{ParamValues, SchemeSpec};
use crate::registry::{Overlay, SchemeSet};
use std::marker::PhantomData;
use xoff_engine::{BitRate, Time};
use xoff_fabric::packet::IntStack;
use xoff_fabric::scheme::*;

/// An overlay and, if it has one, its base.
pub struct Stack<T> {
    own: T,
    base: Option<Any>,
    /// The overlay's signals take the place of the base's.
    replaced: bool,
}

impl<T: Overlay> Configured for Stack<T> {
    const SPEC: SchemeSpec = T::SPEC;

    fn configure(values: &ParamValues) -> Stack<T> {
        Stack {
            own: T::configure(values),
            base: values.base().and_then(Any::configure),
            replaced: values.base().is_some_and(T::replaces_signals),
        }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let of_base = |base| T::refuses(base).or_else(|| Any::validation_error(base));
        T::validation_error(values).or_else(|| values.base().and_then(of_base))
    }
}

/// From the overlay's own points, or from the base's.
#[derive(Clone, Copy)]
pub enum Feedback<F> {
    /// For the overlay's reaction point, which may pass it on ([`Overlay::pass_on`]).
    Own(F),
    /// For the base's reaction point alone.
    Base(AnyFeedback),
}

#[deny(clippy::missing_trait_methods, reason = "a wrapper that lacks a hook loses it without a word")]
impl<T: Overlay> Scheme for Stack<T> {
    type Feedback = Feedback<T::Feedback>;
    type Cp = Cp<T>;
    type Np = Np<T>;
    type Rp = Rp<T>;
    type Transit = Transit<T>;
    type Switch = T::Switch;

    fn congestion_point(&self, at: &QueueFacts) -> Cp<T> {
        let base = self.base.as_ref().filter(|_| !self.replaced);
        Cp { own: self.own.congestion_point(at), base: base.map(|base| Box::new(base.congestion_point(at))) }
    }

    fn notification_point(&self, of: &FlowFacts) -> Np<T> {
        let base = self.base.as_ref().filter(|_| !self.replaced);
        Np { own: self.own.notification_point(of), base: base.map(|base| Box::new(base.notification_point(of))) }
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp<T> {
        let base = self.base.as_ref().map(|base| Box::new(base.reaction_point(of)));
        Rp { own: self.own.reaction_point(of), increases: base.as_ref().map_or(0, |base| base.increases()), base }
    }

    fn controls_switches(&self) -> bool {
        self.own.controls_switches()
    }

    fn switch_control(&self, at: &SwitchFacts<'_>) -> Option<T::Switch> {
        self.own.switch_control(at)
    }

    fn transit(&self, of: &FlowFacts) -> Option<Transit<T>> {
        let base = self.base.as_ref().filter(|_| !self.replaced)?;
        base.transit(of).map(|base| Transit { base, own: PhantomData })
    }

    fn format(&self) -> Format {
        self.base.as_ref().map_or(self.own.format(), |base| both(self.own.format(), base.format()))
    }

    fn format_inter_domain(&self) -> Format {
        let own = self.own.format_inter_domain();
        self.base.as_ref().map_or(own, |base| both(own, base.format_inter_domain()))
    }

    fn notification_bytes(&self, feedback: &Self::Feedback) -> Option<u32> {
        match feedback {
            Feedback::Own(feedback) => self.own.notification_bytes(feedback),
            Feedback::Base(feedback) => self.base.as_ref().and_then(|base| base.notification_bytes(feedback)),
        }
    }

    fn frame_content(&self, feedback: &Self::Feedback) -> FrameContent {
        match (feedback, &self.base) {
            (Feedback::Own(feedback), _) => self.own.frame_content(feedback),
            (Feedback::Base(feedback), Some(base)) => base.frame_content(feedback),
            (Feedback::Base(_), None) => FrameContent::default(),
        }
    }

    /// The two differ in carrier or code, unless the overlay's signals take the place of the base's.
    fn read_content(&self, content: &FrameContent) -> Option<Self::Feedback> {
        let base = || self.base.as_ref().filter(|_| !self.replaced)?.read_content(content);
        self.own.read_content(content).map(Feedback::Own).or_else(|| base().map(Feedback::Base))
    }
}

fn both(own: Format, base: Format) -> Format {
    Format {
        data_bytes: own.data_bytes + base.data_bytes,
        ack_bytes: own.ack_bytes + base.ack_bytes,
        tag: own.tag.or(base.tag),
        int: own.int || base.int,
        precision: if own.int { own.precision } else { base.precision },
        // An overlay that marks in its own way chooses the field; the others leave it.
        ecn: if own.ecn != Format::default().ecn { own.ecn } else { base.ecn },
        transport: base.transport,
        reorder: own.reorder || base.reorder,
        ack_every: own.ack_every.max(base.ack_every),
        // TCP's ACKs wait as TCP says.
        ack_timeout: match base.transport {
            Transport::Roce => own.ack_timeout.min(base.ack_timeout),
            Transport::Tcp => base.ack_timeout,
        },
    }
}

fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Both congestion points of a queue; the base's is missing where the overlay replaces its signals.
pub struct Cp<T: Overlay> {
    own: T::Cp,
    base: Option<Box<AnyCp>>,
}

#[deny(clippy::missing_trait_methods, reason = "a wrapper that lacks a hook loses it without a word")]
impl<T: Overlay> CongestionPoint for Cp<T> {
    type Feedback = Feedback<T::Feedback>;

    fn hooks(&self) -> Hooks {
        self.base.as_ref().map_or(Hooks::NONE, |base| base.hooks()).with(self.own.hooks()).calling()
    }

    fn thresholds(&self) -> Option<[u64; 2]> {
        self.own.thresholds().or_else(|| self.base.as_ref().and_then(|base| base.thresholds()))
    }

    #[inline]
    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        weight: u16,
        mut mark: Mark<'_>,
        mut notify: impl FnMut(u32, Self::Feedback),
    ) {
        if let Some(base) = &mut self.base
            && (packet.own || base.hooks().has(Hooks::EVERY))
        {
            let mark = Mark { ecn: &mut *mark.ecn, int: mark.int.as_deref_mut() };
            base.on_enqueue(view, packet, weight, mark, |flow, feedback| notify(flow, Feedback::Base(feedback)));
        }
        if packet.own || self.own.hooks().has(Hooks::EVERY) {
            self.own.on_enqueue(view, packet, weight, mark, |flow, feedback| notify(flow, Feedback::Own(feedback)));
        }
    }

    #[inline]
    fn on_dequeue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        mut mark: Mark<'_>,
        mut notify: impl FnMut(u32, Self::Feedback),
    ) {
        if let Some(base) = &mut self.base
            && (packet.own || base.hooks().has(Hooks::EVERY))
        {
            let mark = Mark { ecn: &mut *mark.ecn, int: mark.int.as_deref_mut() };
            base.on_dequeue(view, packet, mark, |flow, feedback| notify(flow, Feedback::Base(feedback)));
        }
        if packet.own || self.own.hooks().has(Hooks::EVERY) {
            self.own.on_dequeue(view, packet, mark, |flow, feedback| notify(flow, Feedback::Own(feedback)));
        }
    }

    fn on_ack_dequeue(&mut self, view: &QueueView) {
        self.base.iter_mut().for_each(|base| base.on_ack_dequeue(view));
        self.own.on_ack_dequeue(view);
    }

    fn on_pause_change(&mut self, view: &QueueView) {
        self.base.iter_mut().for_each(|base| base.on_pause_change(view));
        self.own.on_pause_change(view);
    }

    fn on_resume_again(&mut self, view: &QueueView) {
        self.base.iter_mut().for_each(|base| base.on_resume_again(view));
        self.own.on_resume_again(view);
    }

    fn on_timer(&mut self, view: &QueueView, mut notify: impl FnMut(u32, Self::Feedback)) {
        if let Some(base) = &mut self.base
            && base.timer().is_some_and(|at| at <= view.now)
        {
            base.on_timer(view, |flow, feedback| notify(flow, Feedback::Base(feedback)));
        }
        if self.own.timer().is_some_and(|at| at <= view.now) {
            self.own.on_timer(view, |flow, feedback| notify(flow, Feedback::Own(feedback)));
        }
    }

    fn timer(&self) -> Option<Time> {
        earlier(self.own.timer(), self.base.as_ref().and_then(|base| base.timer()))
    }
}

/// Both notification points of a flow; the base's is missing where the overlay replaces its signals.
pub struct Np<T: Overlay> {
    own: T::Np,
    base: Option<Box<AnyNp>>,
}

#[deny(clippy::missing_trait_methods, reason = "a wrapper that lacks a hook loses it without a word")]
impl<T: Overlay> NotificationPoint for Np<T> {
    type Feedback = Feedback<T::Feedback>;

    #[inline]
    fn on_data(&mut self, packet: &Received) -> Option<Self::Feedback> {
        let base = self.base.as_mut().and_then(|base| base.on_data(packet));
        let own = self.own.on_data(packet);
        debug_assert!(own.is_none() || base.is_none(), "one notification per packet");
        own.map(Feedback::Own).or(base.map(Feedback::Base))
    }

    fn on_timer(&mut self, now: Time) -> Option<Self::Feedback> {
        // One at a time; what is left is still due and asks again.
        if let Some(base) = &mut self.base
            && base.timer().is_some_and(|at| at <= now)
        {
            return base.on_timer(now).map(Feedback::Base);
        }
        self.own.on_timer(now).map(Feedback::Own)
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        earlier(self.own.timer(), self.base.as_ref().and_then(|base| base.timer()))
    }

    fn feeds_back_in_acks(&self) -> bool {
        self.own.feeds_back_in_acks() || self.base.as_ref().is_some_and(|base| base.feeds_back_in_acks())
    }

    fn on_telemetry(&mut self, now: Time, int: &IntStack) {
        self.own.on_telemetry(now, int);
        self.base.iter_mut().for_each(|base| base.on_telemetry(now, int));
    }

    /// An ACK carries one feedback.
    fn ack_feedback(&mut self, now: Time) -> Option<Self::Feedback> {
        let base = self.base.as_mut().and_then(|base| base.ack_feedback(now));
        self.own.ack_feedback(now).map(Feedback::Own).or(base.map(Feedback::Base))
    }
}

/// Only a base acts on packets in mid-path.
pub struct Transit<T> {
    base: AnyTransit,
    own: PhantomData<fn(T)>,
}

#[deny(clippy::missing_trait_methods, reason = "a wrapper that lacks a hook loses it without a word")]
impl<T: Overlay> xoff_fabric::scheme::Transit for Transit<T> {
    type Feedback = Feedback<T::Feedback>;

    fn on_arrive(&mut self, now: Time, queue_bytes: u64) {
        self.base.on_arrive(now, queue_bytes);
    }
    fn on_release(&mut self, now: Time, queue_bytes: u64, int: Option<&mut IntStack>) {
        self.base.on_release(now, queue_bytes, int);
    }
    fn on_ack(&mut self, now: Time, feedback: &Self::Feedback) {
        if let Feedback::Base(feedback) = feedback {
            self.base.on_ack(now, feedback);
        }
    }
    fn rate_bps(&self) -> f64 {
        self.base.rate_bps()
    }
    fn yields_at(&self, egress: BitRate) -> u64 {
        self.base.yields_at(egress)
    }
}

/// Both reaction points of a flow, which obeys the stricter.
pub struct Rp<T: Overlay> {
    own: T::Rp,
    base: Option<Box<AnyRp>>,
    /// Increases of the base that were passed to the overlay.
    increases: u32,
}

impl<T: Overlay> Rp<T> {
    /// Tells the overlay when its base has raised its rate.
    #[inline]
    fn settle(&mut self, now: Time) {
        if let Some(base) = &self.base {
            let increases = base.increases();
            if increases != self.increases {
                self.increases = increases;
                T::on_base_increase(&mut self.own, now);
            }
        }
    }
}

#[deny(clippy::missing_trait_methods, reason = "a wrapper that lacks a hook loses it without a word")]
impl<T: Overlay> ReactionPoint for Rp<T> {
    type Feedback = Feedback<T::Feedback>;

    #[inline]
    fn limits(&self) -> Limits {
        let own = self.own.limits();
        self.base.as_ref().map_or(own, |base| {
            let base = base.limits();
            Limits { rate_bps: own.rate_bps.min(base.rate_bps), window_bytes: own.window_bytes.min(base.window_bytes) }
        })
    }

    #[inline]
    fn on_sent(&mut self, now: Time, wire_bytes: u32) {
        self.own.on_sent(now, wire_bytes);
        if let Some(base) = &mut self.base {
            base.on_sent(now, wire_bytes);
            self.settle(now);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        self.own.on_ack(ack);
        if let Some(base) = &mut self.base {
            T::pass_ack(&mut self.own, ack, &mut **base);
            self.settle(ack.now);
        }
    }
    /// Either of the two may count packets.
    fn rests(&self) -> bool {
        false
    }

    fn on_feedback(&mut self, now: Time, feedback: &Self::Feedback) {
        match (feedback, &mut self.base) {
            (Feedback::Own(feedback), base) => {
                self.own.on_feedback(now, feedback);
                if let Some(base) = base {
                    T::pass_on(feedback, now, &mut **base);
                }
            }
            (Feedback::Base(feedback), Some(base)) => base.on_feedback(now, feedback),
            (Feedback::Base(_), None) => {}
        }
        self.settle(now);
    }

    fn on_loss(&mut self, now: Time, loss: Loss, bytes: u64) {
        self.own.on_loss(now, loss, bytes);
        self.base.iter_mut().for_each(|base| base.on_loss(now, loss, bytes));
        self.settle(now);
    }

    fn on_wire(&mut self, now: Time, what: &OnWire) {
        self.own.on_wire(now, what);
        self.base.iter_mut().for_each(|base| base.on_wire(now, what));
        self.settle(now);
    }

    fn wire_window(&self) -> Option<WireWindow> {
        self.own.wire_window().or_else(|| self.base.as_ref().and_then(|base| base.wire_window()))
    }

    /// Losses belong to the scheme that chose the transport: the base.
    fn resend(&mut self, outstanding: &Outstanding) -> Resend {
        match &mut self.base {
            Some(base) => base.resend(outstanding),
            None => self.own.resend(outstanding),
        }
    }

    fn on_congested(&mut self, now: Time) {
        self.own.on_congested(now);
        self.base.iter_mut().for_each(|base| base.on_congested(now));
        self.settle(now);
    }

    fn on_hold(&mut self, now: Time) {
        self.own.on_hold(now);
        self.base.iter_mut().for_each(|base| base.on_hold(now));
        self.settle(now);
    }

    fn increases(&self) -> u32 {
        self.own.increases().wrapping_add(self.base.as_ref().map_or(0, |base| base.increases()))
    }

    /// Rates are the business of the base; an overlay alone has its own.
    fn has_decided(&self) -> bool {
        self.base.as_ref().map_or_else(|| self.own.has_decided(), |base| base.has_decided())
    }

    /// Those of both; an overlay names its own so that no base has the same.
    fn variables(&self, now: Time, out: &mut dyn FnMut(&'static Variable, f64)) {
        self.own.variables(now, out);
        if let Some(base) = &self.base {
            base.variables(now, out);
        }
    }

    fn on_timer(&mut self, now: Time) {
        if self.own.timer().is_some_and(|at| at <= now) {
            self.own.on_timer(now);
        }
        if let Some(base) = &mut self.base
            && base.timer().is_some_and(|at| at <= now)
        {
            base.on_timer(now);
        }
        self.settle(now);
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        earlier(self.own.timer(), self.base.as_ref().and_then(|base| base.timer()))
    }

    /// The base's apart, and the overlay's next in the last place.
    fn timers(&self) -> [Option<Time>; TIMERS] {
        let Some(base) = &self.base else { return self.own.timers() };
        let mut timers = base.timers();
        timers[TIMERS - 1] = earlier(timers[TIMERS - 1], self.own.timer());
        timers
    }
}

#[cfg(test)]
mod tests;
