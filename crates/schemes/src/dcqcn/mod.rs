//! DCQCN: congestion control for large-scale RDMA deployments (SIGCOMM 2015).
//!
//! The switch marks with RED, the receiver turns marks into notifications, the sender cuts and
//! recovers. Two families of the reaction point are in use and differ in more than numbers, so
//! both exist: `paper` (the paper's pseudo-code and its simulator's options) and `nic` (what
//! NICs do, as coded by HPCC's authors).

mod nic;
mod paper;
mod spec;

pub use spec::{
    Clocks, CnpTiming, CutOrder, HyperBegins, MarkAt, Notify, Params, PollFrom, StageOrder, TargetClamp, TimerOrder,
    Variant, Window,
};

use crate::Configured;
use crate::param::{ParamValues, RateValue, SchemeSpec};
use crate::parts::clock::grid_after;
use crate::parts::red::Red;
use std::sync::Arc;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::*;

#[derive(Clone, Debug)]
pub struct Dcqcn {
    /// Shared by all flows: a flow's own state stays small.
    params: Arc<Params>,
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
        Dcqcn { params: Arc::new(Params::read(values)) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        let polls = params.notify == Notify::Cnp && params.np == CnpTiming::Periodic;
        let clocks = [
            ("increase_timer", params.increase_timer, true),
            ("alpha_period", params.alpha_period, true),
            ("decrease_period", params.decrease_period, params.variant == Variant::Nic),
            ("cnp_interval", params.cnp_interval, polls),
        ];
        // Clocks without a period would tick for ever at one instant.
        if let Some((name, ..)) = clocks.into_iter().find(|&(_, period, ticks)| ticks && period < Span::from_ns(1)) {
            return Some(format!("`{name}` is shorter than a nanosecond"));
        }
        // Ports of some rate may not exist: only what is wrong at all of them is.
        [10, 25, 40, 100]
            .map(BitRate::from_gbps)
            .into_iter()
            .all(|rate| params.kmax.at(rate) < params.kmin.at(rate))
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
        let hooks = match self.params.mark_at {
            MarkAt::Enqueue => Hooks::ENQUEUE,
            MarkAt::Never => Hooks::NONE,
            // RED never marks a packet that leaves nothing behind.
            MarkAt::Dequeue if at.shared_random.is_some() => Hooks::DEQUEUE_BUSY.with(Hooks::ACKS),
            MarkAt::Dequeue => Hooks::DEQUEUE_BUSY,
        };
        Cp { red: self.params.red(at), hooks }
    }

    fn notification_point(&self, _: &FlowFacts) -> Np {
        Np {
            notify: self.params.notify,
            timing: self.params.np,
            poll_from: self.params.poll_from,
            interval: self.params.cnp_interval,
            last: None,
            marked: false,
            timer: None,
        }
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let params = &self.params;
        let rate = |rate: RateValue| params.rounding.rounding.given(rate.at(of.line_rate));
        let line_bps = of.line_rate.bps() as f64;
        // A floor of zero would stop the flow for good.
        let min_bps = rate(params.rate_min).clamp(1000.0, line_bps);
        let rates = Rates {
            line_bps,
            // From below the floor a cut would raise it.
            initial_bps: (of.initial_rate.bps() as f64).clamp(min_bps, line_bps),
            start: of.start,
            ai_bps: rate(params.rate_ai),
            hai_bps: rate(params.rate_hai),
            min_bps,
            bdp_bytes: bdp_bytes(of.line_rate, of.max_base_rtt),
        };
        match params.variant {
            Variant::Paper => Rp::Paper(paper::Rp::new(params, rates), params.notify),
            Variant::Nic => Rp::Nic(nic::Rp::new(params, rates), params.notify),
        }
    }

    /// A plain CNP.
    fn read_content(&self, content: &FrameContent) -> Option<Cnp> {
        (content.carrier == Carrier::Cnp && content.code == 0).then_some(Cnp)
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

    /// Where all draws come from one generator, ACKs take theirs too; a mark means nothing to them.
    fn on_ack_dequeue(&mut self, view: &QueueView) {
        self.red.decide(view.queue_bytes);
    }
}

/// Turns marks into CNPs, at most one per interval (section 3.1).
#[derive(Clone, Debug)]
pub struct Np {
    notify: Notify,
    timing: CnpTiming,
    poll_from: PollFrom,
    interval: Span,
    /// The last CNP; in the periodic form the start of the grid.
    last: Option<Time>,
    /// Periodic form: a mark arrived since the last poll.
    marked: bool,
    timer: Option<Time>,
}

impl NotificationPoint for Np {
    type Feedback = Cnp;

    #[inline]
    fn on_data(&mut self, packet: &Received) -> Option<Cnp> {
        if self.last.is_none() && self.poll_from != PollFrom::FirstMark {
            self.last = Some(packet.now);
            return (packet.ecn == Ecn::Ce && self.poll_from == PollFrom::FirstPacket).then_some(Cnp);
        }
        if packet.ecn != Ecn::Ce {
            return None;
        }
        match (self.notify, self.timing) {
            (Notify::Ack, _) => None,
            (Notify::Cnp, CnpTiming::Immediate) => {
                let due = self.last.is_none_or(|last| packet.now - last >= self.interval);
                due.then(|| {
                    self.last = Some(packet.now);
                    Cnp
                })
            }
            (Notify::Cnp, CnpTiming::Periodic) => {
                // The original simulator polls each flow; the poll needs to run only when there is
                // something to report, on the grid set by the flow's first mark or packet.
                self.marked = true;
                let start = *self.last.get_or_insert(packet.now);
                if self.timer.is_none() {
                    self.timer = Some(grid_after(packet.now, start, self.interval));
                }
                None
            }
        }
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

/// Either family of reaction point, and whether marked ACKs count as notifications.
#[derive(Clone, Debug)]
pub enum Rp {
    /// Form of the paper: one cut per notification, at its arrival.
    Paper(paper::Rp, Notify),
    /// Form of NICs: alpha and cuts on timers of their own.
    Nic(nic::Rp, Notify),
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
    fn rests(&self) -> bool {
        match self {
            Rp::Paper(rp, _) => rp.rests(),
            Rp::Nic(rp, _) => rp.rests(),
        }
    }
    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        if ack.ecn == Ecn::Ce
            && let Rp::Paper(_, Notify::Ack) | Rp::Nic(_, Notify::Ack) = self
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
    fn variables(&self, now: Time, out: &mut dyn FnMut(&'static Variable, f64)) {
        let (alpha, target_bps) = match self {
            Rp::Paper(rp, _) => (rp.alpha_at(now), rp.target_bps),
            Rp::Nic(rp, _) => (rp.alpha_at(now), rp.target_bps),
        };
        out(&spec::ALPHA, alpha);
        out(&spec::TARGET_RATE, target_bps / 1e9);
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
    fn limits(&self, rate_bps: f64, window: Window) -> Limits {
        let window_bytes = match window {
            Window::None => u64::MAX,
            Window::Variable => (self.bdp_bytes * rate_bps / self.line_bps).max(1.0) as u64,
        };
        Limits { rate_bps, window_bytes }
    }
}

#[cfg(test)]
mod tests;
