//! One scheme type for all tests, so that the network is compiled once: it makes whatever points a test hands it.

use crate::common::{Net, Script};
use crate::control::Control;
use crate::shaper::Gate;
use std::sync::atomic::{AtomicUsize, Ordering};
use xoff_engine::Time;
use xoff_fabric::packet::IntStack;
use xoff_fabric::scheme::*;
use xoff_fabric::traffic::{FlowSpec, Source};
use xoff_fabric::{delegate_notification_point, delegate_reaction_point};

/// Network of the tests. Every other scheme type would compile all of it once more.
pub type World = xoff_fabric::world::World<Scripted>;

impl Net {
    /// Runs these flows to the end, with PFC alone.
    pub fn run(self, flows: Vec<(Time, FlowSpec)>) -> World {
        self.run_under(Scripted::uncontrolled(), Script::flows(flows))
    }
    /// Runs a source under a scheme to the end.
    pub fn run_under(self, scheme: Scripted, source: Box<dyn Source>) -> World {
        let mut world = World::new(self.plan, vec![scheme], vec![source]);
        world.run_to_end();
        world
    }
}

type Make<At, Point> = Box<dyn Fn(&At) -> Point + Send + Sync>;

/// Makes the control of a switch.
type MakeControl = Box<dyn Fn(&SwitchFacts<'_>) -> Control + Send + Sync>;

/// Scheme whose points are made by closures; without any, flows keep the rate they start with.
pub struct Scripted {
    pub format: Format,
    pub format_inter_domain: Option<Format>,
    cp: Option<Make<QueueFacts, Box<dyn QueuePoint>>>,
    np: Make<FlowFacts, Np>,
    rp: Make<FlowFacts, Rp>,
    transit: Option<Make<FlowFacts, Gate>>,
    switch: Option<MakeControl>,
}

impl Scripted {
    /// PFC alone.
    pub fn uncontrolled() -> Scripted {
        Scripted::with(|of| Kept(Limits { rate_bps: of.initial_rate.bps() as f64, window_bytes: u64::MAX }))
    }
    /// Limits of each flow, in the order of their starts; nothing changes them.
    pub fn limits(limits: Vec<Limits>) -> Scripted {
        let started = AtomicUsize::new(0);
        Scripted::with(move |_| Kept(limits[started.fetch_add(1, Ordering::Relaxed)]))
    }
    /// Rates in Gb/s, without windows.
    pub fn rates(gbps: &[u64]) -> Scripted {
        let limits = |gbps: &u64| Limits { rate_bps: *gbps as f64 * 1e9, window_bytes: u64::MAX };
        Scripted::limits(gbps.iter().map(limits).collect())
    }
    /// Scheme of these reaction points, without any other point.
    pub fn with<R>(rp: impl Fn(&FlowFacts) -> R + Send + Sync + 'static) -> Scripted
    where
        R: ReactionPoint<Feedback = u64> + Send + 'static,
    {
        let rp: Make<FlowFacts, Rp> = Box::new(move |of| Rp(Box::new(rp(of))));
        let np: Make<FlowFacts, Np> = Box::new(|_| Np(Box::new(Silent::default())));
        let format = Format::default();
        Scripted { format, format_inter_domain: None, cp: None, np, rp, transit: None, switch: None }
    }
    pub fn cp<P: QueuePoint + 'static>(mut self, cp: impl Fn() -> P + Send + Sync + 'static) -> Scripted {
        self.cp = Some(Box::new(move |_| Box::new(cp())));
        self
    }
    pub fn np<P>(mut self, np: impl Fn(&FlowFacts) -> P + Send + Sync + 'static) -> Scripted
    where
        P: NotificationPoint<Feedback = u64> + Send + 'static,
    {
        self.np = Box::new(move |of| Np(Box::new(np(of))));
        self
    }
    pub fn transit(mut self, gate: impl Fn(&FlowFacts) -> Gate + Send + Sync + 'static) -> Scripted {
        self.transit = Some(Box::new(gate));
        self
    }
    pub fn switch(mut self, control: impl Fn(&SwitchFacts<'_>) -> Control + Send + Sync + 'static) -> Scripted {
        self.switch = Some(Box::new(control));
        self
    }
    pub fn format(mut self, format: Format) -> Scripted {
        self.format = format;
        self
    }
}

impl Scheme for Scripted {
    type Feedback = u64;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;
    type Transit = Gate;
    type Switch = Control;
    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        Cp(self.cp.as_ref().map(|make| make(at)))
    }
    fn notification_point(&self, of: &FlowFacts) -> Np {
        (self.np)(of)
    }
    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        (self.rp)(of)
    }
    fn controls_switches(&self) -> bool {
        self.switch.is_some()
    }
    fn switch_control(&self, at: &SwitchFacts<'_>) -> Option<Control> {
        self.switch.as_ref().map(|make| make(at))
    }
    fn transit(&self, of: &FlowFacts) -> Option<Gate> {
        self.transit.as_ref().map(|make| make(of))
    }
    fn format(&self) -> Format {
        self.format
    }
    fn format_inter_domain(&self) -> Format {
        self.format_inter_domain.unwrap_or(self.format)
    }
}

/// Limits that nothing changes.
struct Kept(Limits);
impl ReactionPoint for Kept {
    type Feedback = u64;
    fn limits(&self) -> Limits {
        self.0
    }
}

/// `CongestionPoint` as a trait object, with the hooks that tests use.
pub trait QueuePoint: Send {
    fn hooks(&self) -> Hooks;
    fn on_enqueue(
        &mut self,
        _view: &QueueView,
        _packet: &PacketFacts,
        _weight: u16,
        _mark: Mark<'_>,
        _notify: &mut dyn FnMut(u32, u64),
    ) {
    }
    fn on_dequeue(&mut self, _view: &QueueView, _mark: Mark<'_>) {}
    fn on_timer(&mut self, _view: &QueueView) {}
    fn timer(&self) -> Option<Time> {
        None
    }
}

pub struct Cp(Option<Box<dyn QueuePoint>>);
impl CongestionPoint for Cp {
    type Feedback = u64;
    fn hooks(&self) -> Hooks {
        self.0.as_ref().map_or(Hooks::NONE, |cp| cp.hooks())
    }
    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        weight: u16,
        mark: Mark<'_>,
        mut notify: impl FnMut(u32, u64),
    ) {
        self.0.iter_mut().zip([mark]).for_each(|(cp, mark)| cp.on_enqueue(view, packet, weight, mark, &mut notify));
    }
    fn on_dequeue(&mut self, view: &QueueView, _: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, u64)) {
        self.0.iter_mut().zip([mark]).for_each(|(cp, mark)| cp.on_dequeue(view, mark));
    }
    fn on_timer(&mut self, view: &QueueView, _: impl FnMut(u32, u64)) {
        self.0.iter_mut().for_each(|cp| cp.on_timer(view));
    }
    fn timer(&self) -> Option<Time> {
        self.0.as_ref().and_then(|cp| cp.timer())
    }
}

pub struct Np(Box<dyn NotificationPoint<Feedback = u64> + Send>);
impl NotificationPoint for Np {
    type Feedback = u64;
    delegate_notification_point! { self { np => *np.0; } }
}

pub struct Rp(Box<dyn ReactionPoint<Feedback = u64> + Send>);
impl ReactionPoint for Rp {
    type Feedback = u64;
    delegate_reaction_point! { self { rp => *rp.0; } }
}
