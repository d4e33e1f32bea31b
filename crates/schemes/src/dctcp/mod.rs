//! DCTCP: data center TCP (SIGCOMM 2010, RFC 8257).
//!
//! The switch marks above a step, the receiver echoes each mark, the sender cuts in proportion to
//! the fraction of bytes that were marked. Two forms: [`window`] over TCP, and [`rate`] over RoCE
//! as HPCC's authors coded it to compare with.
//!
//! | symbol | parameter | default | source |
//! |---|---|---|---|
//! | K | `k` | 30 KB at 1G, 97.5 KB at 10G | paper, section 3.5 |
//! | g | `g` | 1/16 | paper, section 3.4 |
//! | alpha_0 | `alpha_initial` | 1 | RFC 8257, section 3.3 |
//! | RTO_min | `rto_min` | 10 ms | paper, section 4 |
//! | R_AI, R_min | `increase`, `rate_ai`, `rate_min` | 1 MTU per RTT, 100 Mb/s | HPCC's simulator |
//!
//! The other parameters are TCP's, see [`crate::parts::newreno`].

mod rate;
mod spec;
mod window;

use crate::Configured;
use crate::param::{ParamValues, SchemeSpec};
use crate::parts::newreno;
use crate::parts::red::Red;
use crate::parts::rounding::Rounding;
use crate::tcp_newreno::tcp_format;
use std::sync::Arc;
use xoff_engine::{BitRate, Time};
use xoff_fabric::scheme::*;

/// A configured DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    values: ParamValues,
    settings: Arc<Settings>,
    tcp: Arc<newreno::Settings>,
}

/// What both forms need, shared by all flows.
#[derive(Clone, Copy, Debug)]
struct Settings {
    rate_form: bool,
    mark_hooks: Hooks,
    g: f64,
    alpha_initial: f64,
    window_min: u64,
    /// The rate form has a window too.
    variable_window: bool,
    rounding: Rounding,
}

impl Configured for Dctcp {
    const SPEC: SchemeSpec = spec::SPEC;

    fn configure(values: &ParamValues) -> Dctcp {
        let settings = Settings {
            rate_form: values.choice("form") == "rate",
            mark_hooks: match values.choice("mark_at") {
                "enqueue" => Hooks::ENQUEUE,
                "never" => Hooks::NONE,
                _ => Hooks::DEQUEUE_BUSY,
            },
            g: values.number("g"),
            alpha_initial: values.number("alpha_initial"),
            window_min: values.count("window_min"),
            variable_window: values.choice("window") == "variable",
            rounding: Rounding::from_params(values),
        };
        Dctcp {
            values: values.clone(),
            settings: Arc::new(settings),
            tcp: Arc::new(newreno::Settings::from_params(values)),
        }
    }

    fn objection(values: &ParamValues) -> Option<String> {
        let at = |name, gbps| values.bytes_by_rate(name).at(BitRate::from_gbps(gbps));
        // Ports of some rate may not exist: only what is wrong at all of them is.
        let inverted = [10, 25, 40, 100].into_iter().all(|gbps| at("kmax", gbps) < at("kmin", gbps));
        if values.choice("marking") == "red" && inverted {
            return Some("`kmax` is below `kmin`: there is nothing between them".into());
        }
        if values.choice("form") == "rate" { None } else { newreno::Settings::objection(values) }
    }
}

impl Scheme for Dctcp {
    type Feedback = ();
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;
    type Transit = Absent;
    type Switch = Absent;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        let red = match self.values.choice("marking") {
            "red" => Red::from_params(&self.values, at),
            _ => {
                let k = self.values.bytes_by_rate("k").at_queue(at);
                Red::new(k, k, 1.0, at)
            }
        };
        let hooks = self.settings.mark_hooks;
        let answers = at.lots.is_some() && hooks.has(Hooks::DEQUEUE_BUSY);
        Cp { red, hooks: if answers { hooks.with(Hooks::ANSWERS) } else { hooks } }
    }
    fn notification_point(&self, _: &FlowFacts) -> Silent {
        Silent::default()
    }
    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        if self.settings.rate_form {
            Rp::Rate(rate::Rp::new(&self.settings, &self.values, of))
        } else {
            Rp::Window(window::Rp::new(&self.settings, &self.tcp, of))
        }
    }
    fn format(&self) -> Format {
        if self.settings.rate_form { Format::default() } else { tcp_format(&self.values) }
    }
}

/// Section 1: marks every packet that meets (or leaves) a queue above K.
#[derive(Clone, Debug)]
pub struct Cp {
    red: Red,
    hooks: Hooks,
}

impl CongestionPoint for Cp {
    type Feedback = ();

    fn hooks(&self) -> Hooks {
        self.hooks
    }
    #[inline]
    fn on_enqueue(&mut self, view: &QueueView, _: &PacketFacts, _: u16, mark: Mark<'_>, _: impl FnMut(u32, ())) {
        if self.hooks.has(Hooks::ENQUEUE) && self.red.decide(view.queue_bytes) {
            mark.ecn.mark();
        }
    }
    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, _: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, ())) {
        if self.hooks.has(Hooks::DEQUEUE_BUSY) && self.red.decide(view.queue_bytes) {
            mark.ecn.mark();
        }
    }
    /// Where all draws come from one generator, answers take theirs too; a mark means nothing to them.
    fn on_answer(&mut self, view: &QueueView) {
        self.red.decide(view.queue_bytes);
    }
}

/// Either form of the sender.
#[derive(Clone, Debug)]
pub enum Rp {
    Window(window::Rp),
    Rate(rate::Rp),
}

impl ReactionPoint for Rp {
    type Feedback = ();

    #[inline]
    fn limits(&self) -> Limits {
        match self {
            Rp::Window(rp) => rp.limits(),
            Rp::Rate(rp) => rp.limits(),
        }
    }
    #[inline]
    fn on_sent(&mut self, now: Time, _: u32) {
        if let Rp::Window(rp) = self {
            rp.on_sent(now);
        }
    }
    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        match self {
            Rp::Window(rp) => rp.on_ack(ack),
            Rp::Rate(rp) => rp.on_ack(ack),
        }
    }
    fn resend(&mut self, outstanding: &Outstanding) -> Resend {
        match self {
            Rp::Window(rp) => rp.resend(outstanding),
            Rp::Rate(_) => Resend::Nothing,
        }
    }
    fn increases(&self) -> u32 {
        match self {
            Rp::Window(rp) => rp.tcp.increases(),
            Rp::Rate(rp) => rp.increases,
        }
    }
    fn on_timer(&mut self, now: Time) {
        if let Rp::Window(rp) = self {
            rp.on_timer(now);
        }
    }
    #[inline]
    fn timer(&self) -> Option<Time> {
        match self {
            Rp::Window(rp) => rp.timer(),
            Rp::Rate(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
