//! DCQCN: congestion control for large-scale RDMA deployments (SIGCOMM 2015).
//!
//! The switch marks with RED, the receiver turns marks into notifications, the sender cuts and
//! recovers. Two families of the reaction point are in use and differ in more than numbers, so
//! both exist: [`paper`] (the paper's pseudo-code and its simulator's options) and [`nic`] (what
//! NICs do, as coded by HPCC's authors).
//!
//! | symbol | parameter | default preset | source |
//! |---|---|---|---|
//! | Kmin, Kmax, Pmax | `kmin`, `kmax`, `pmax` | 4 and 16 KB per Gb/s before PFC, 20 % | HPCC, section 5.1; paper: 5 KB, 200 KB, 1 % at 40G |
//! | N | `cnp_interval` | 50 us | paper, section 3.1 |
//! | g | `g` | 1/256 | paper, section 4 |
//! | K (alpha timer) | `alpha_period` | 55 us | paper, section 3.1 |
//! | T | `increase_timer` | 55 us | paper, section 4 |
//! | B | `byte_counter` | 10 MB | paper, section 4 |
//! | F | `fast_recovery` | 5 | paper, section 3.1 |
//! | R_AI, R_HAI | `rate_ai`, `rate_hai` | line/1000, line/100 | paper at 40G; 10 x is an assumption |
//!
//! The other parameters name the points where public implementations disagree.

mod nic;
mod paper;
mod spec;

use crate::Configured;
use crate::param::{ParamValues, SchemeSpec};
use crate::parts::red::Red;
use crate::parts::rounding::Rounding;
use std::sync::Arc;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::*;

/// A configured DCQCN.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    values: ParamValues,
    /// Shared by all flows: a flow's own state stays small.
    settings: Arc<Settings>,
}

/// The parameters of notification and reaction points, ready to use.
#[derive(Clone, Debug)]
struct Settings {
    variant: &'static str,
    notify: &'static str,
    np: &'static str,
    cnp_interval: Span,
    g: f64,
    alpha_initial: f64,
    alpha_period: Span,
    decrease_period: Span,
    increase_timer: Span,
    byte_counter_bytes: u64,
    fast_recovery: u32,
    update_alpha_first: bool,
    increment_first: bool,
    clamp_always: bool,
    target_decay: bool,
    hyper_halves: bool,
    variable_window: bool,
    /// The timed increase comes before a decrease check at the same instant.
    increase_first: bool,
    rounding: Rounding,
    /// Clocks tick whether or not there is anything to do.
    running: bool,
}

/// Rates of one flow, from its line rate.
#[derive(Clone, Copy, Debug)]
struct Rates {
    line_bps: f64,
    initial_bps: f64,
    start: Time,
    ai_bps: f64,
    hai_bps: f64,
    min_bps: f64,
    /// Bandwidth-delay product, for the variable window.
    bdp_bytes: f64,
}

impl Configured for Dcqcn {
    const SPEC: SchemeSpec = spec::SPEC;

    fn configure(values: &ParamValues) -> Dcqcn {
        let settings = Settings {
            variant: values.choice("variant"),
            notify: values.choice("notify"),
            np: values.choice("np"),
            cnp_interval: values.time("cnp_interval"),
            g: values.number("g"),
            alpha_initial: values.number("alpha_initial"),
            alpha_period: values.time("alpha_period"),
            decrease_period: values.time("decrease_period"),
            increase_timer: values.time("increase_timer"),
            byte_counter_bytes: values.bytes("byte_counter"),
            fast_recovery: values.count("fast_recovery") as u32,
            update_alpha_first: values.choice("cut_order") == "alpha-first",
            increment_first: values.choice("stage_order") == "increment-first",
            clamp_always: values.choice("target_clamp") == "always",
            target_decay: values.flag("target_decay"),
            hyper_halves: values.flag("hyper_halves"),
            variable_window: values.choice("window") == "variable",
            increase_first: values.choice("timer_order") == "longer-first"
                && values.time("increase_timer") > values.time("decrease_period"),
            rounding: Rounding::from_params(values),
            running: values.choice("clocks") == "running",
        };
        Dcqcn { values: values.clone(), settings: Arc::new(settings) }
    }

    fn objection(values: &ParamValues) -> Option<String> {
        // Clocks without a period would tick for ever at one instant.
        let mut clocks = vec!["increase_timer", "alpha_period"];
        if values.choice("variant") == "nic" {
            clocks.push("decrease_period");
        }
        if values.choice("notify") == "cnp" && values.choice("np") == "periodic" {
            clocks.push("cnp_interval");
        }
        if let Some(name) = clocks.into_iter().find(|name| values.time(name) < Span::from_ns(1)) {
            return Some(format!("`{name}` is shorter than a nanosecond"));
        }
        let at = |name, gbps| values.bytes_by_rate(name).at(BitRate::from_gbps(gbps));
        // Ports of some rate may not exist: only what is wrong at all of them is.
        [10, 25, 40, 100]
            .into_iter()
            .all(|gbps| at("kmax", gbps) < at("kmin", gbps))
            .then(|| "`kmax` is below `kmin`: there is nothing between them".into())
    }
}

impl Scheme for Dcqcn {
    type Feedback = Cnp;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;
    type Transit = Absent<Cnp>;
    type Switch = Absent;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        let hooks = match self.values.choice("mark_at") {
            "enqueue" => Hooks::ENQUEUE,
            "never" => Hooks::NONE,
            // RED never marks a packet that leaves nothing behind.
            _ if at.lots.is_some() => Hooks::DEQUEUE_BUSY.with(Hooks::ANSWERS),
            _ => Hooks::DEQUEUE_BUSY,
        };
        Cp { red: Red::from_params(&self.values, at), hooks }
    }

    fn notification_point(&self, _: &FlowFacts) -> Np {
        Np {
            explicit: self.settings.notify == "cnp",
            periodic: self.settings.np == "periodic",
            interval: self.settings.cnp_interval,
            last: None,
            marked: false,
            timer: None,
        }
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let rate = |name| self.settings.rounding.given(self.values.rate(name).at(of.line_rate));
        let line_bps = of.line_rate.bps() as f64;
        // A floor of zero would stop the flow for good.
        let min_bps = rate("rate_min").clamp(1000.0, line_bps);
        let rates = Rates {
            line_bps,
            // From below the floor a cut would raise it.
            initial_bps: (of.initial_rate.bps() as f64).clamp(min_bps, line_bps),
            start: of.start,
            ai_bps: rate("rate_ai"),
            hai_bps: rate("rate_hai"),
            min_bps,
            bdp_bytes: bdp_bytes(of.line_rate, of.max_base_rtt),
        };
        let acks = self.settings.notify == "ack";
        match self.settings.variant {
            "paper" => Rp::Paper(paper::Rp::new(&self.settings, rates), acks),
            _ => Rp::Nic(nic::Rp::new(&self.settings, rates), acks),
        }
    }
}

fn bdp_bytes(rate: BitRate, rtt: Span) -> f64 {
    rate.bytes_in(rtt) as f64
}

/// A notification says only that there was congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cnp;

/// Marks with RED, when the packet leaves (default) or arrives.
#[derive(Clone, Debug)]
pub struct Cp {
    red: Red,
    hooks: Hooks,
}

impl CongestionPoint for Cp {
    type Feedback = Cnp;

    fn hooks(&self) -> Hooks {
        self.hooks
    }

    fn on_enqueue(&mut self, view: &QueueView, _: &PacketFacts, _: u16, mark: Mark<'_>, _: impl FnMut(u32, Cnp)) {
        if self.hooks.has(Hooks::ENQUEUE) && self.red.decide(view.queue_bytes) {
            mark.ecn.mark();
        }
    }

    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, _: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, Cnp)) {
        if self.hooks.has(Hooks::DEQUEUE_BUSY) && self.red.decide(view.queue_bytes) {
            mark.ecn.mark();
        }
    }

    /// Where all draws come from one generator, answers take theirs too; a mark means nothing to them.
    fn on_answer(&mut self, view: &QueueView) {
        self.red.decide(view.queue_bytes);
    }
}

/// Turns marks into CNPs, at most one per interval (section 3.1).
#[derive(Clone, Debug)]
pub struct Np {
    explicit: bool,
    periodic: bool,
    interval: Span,
    last: Option<Time>,
    /// Periodic form: a mark arrived since the last poll.
    marked: bool,
    timer: Option<Time>,
}

impl NotificationPoint for Np {
    type Feedback = Cnp;

    #[inline]
    fn on_data(&mut self, packet: &Received) -> Option<Cnp> {
        if !self.explicit || packet.ecn != Ecn::Ce {
            return None;
        }
        if self.periodic {
            // The original simulator polls each flow; the poll needs to run only when there is
            // something to report, on the grid set by the flow's first mark.
            self.marked = true;
            let start = *self.last.get_or_insert(packet.now);
            if self.timer.is_none() {
                let periods = packet.now.saturating_since(start).ps() / self.interval.ps().max(1) + 1;
                self.timer = Some(start + self.interval * periods);
            }
            return None;
        }
        let due = self.last.is_none_or(|last| packet.now - last >= self.interval);
        due.then(|| {
            self.last = Some(packet.now);
            Cnp
        })
    }

    fn on_timer(&mut self, _: Time) -> Option<Cnp> {
        self.timer = None;
        std::mem::take(&mut self.marked).then_some(Cnp)
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.timer
    }
}

/// Either family of reaction point; the flag says whether marked ACKs count as notifications.
#[derive(Clone, Debug)]
pub enum Rp {
    Paper(paper::Rp, bool),
    Nic(nic::Rp, bool),
}

impl ReactionPoint for Rp {
    type Feedback = Cnp;

    #[inline]
    fn limits(&self) -> Limits {
        match self {
            Rp::Paper(rp, _) => rp.limits(),
            Rp::Nic(rp, _) => rp.limits(),
        }
    }
    #[inline]
    fn on_sent(&mut self, _: Time, wire_bytes: u32) {
        match self {
            Rp::Paper(rp, _) => rp.on_sent(wire_bytes),
            Rp::Nic(rp, _) => rp.on_sent(wire_bytes),
        }
    }
    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        if ack.ecn == Ecn::Ce
            && let Rp::Paper(_, true) | Rp::Nic(_, true) = self
        {
            self.on_feedback(ack.now, &Cnp);
        }
    }
    fn on_feedback(&mut self, now: Time, _: &Cnp) {
        match self {
            Rp::Paper(rp, _) => rp.on_cnp(now),
            Rp::Nic(rp, _) => rp.on_cnp(now),
        }
    }
    fn on_congested(&mut self, now: Time) {
        self.on_feedback(now, &Cnp);
    }
    fn on_hold(&mut self, now: Time) {
        match self {
            Rp::Paper(rp, _) => rp.on_hold(now),
            Rp::Nic(rp, _) => rp.on_hold(),
        }
    }
    fn increases(&self) -> u32 {
        match self {
            Rp::Paper(rp, _) => rp.increases,
            Rp::Nic(rp, _) => rp.increases,
        }
    }
    fn on_timer(&mut self, now: Time) {
        match self {
            Rp::Paper(rp, _) => rp.on_timer(now),
            Rp::Nic(rp, _) => rp.on_timer(now),
        }
    }
    #[inline]
    fn timer(&self) -> Option<Time> {
        match self {
            Rp::Paper(rp, _) => rp.timer(),
            Rp::Nic(rp, _) => rp.timer(),
        }
    }
    fn timers(&self) -> [Option<Time>; TIMERS] {
        match self {
            Rp::Paper(rp, _) => [rp.timer(), None, None, None],
            Rp::Nic(rp, _) => rp.timers(),
        }
    }
}

impl Rates {
    /// A flow that starts below line rate has its increase timer running.
    fn first_increase(&self, timer: Span) -> Option<Time> {
        (self.initial_bps < self.line_bps).then(|| self.start + timer)
    }

    /// The limits of a flow at `rate`.
    #[inline]
    fn limits(&self, rate_bps: f64, variable_window: bool) -> Limits {
        let window_bytes =
            if variable_window { (self.bdp_bytes * rate_bps / self.line_bps).max(1.0) as u64 } else { u64::MAX };
        Limits { rate_bps, window_bytes }
    }
}

#[cfg(test)]
mod tests;
