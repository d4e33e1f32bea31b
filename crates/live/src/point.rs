//! The congestion points of a switch, each with its timer.

use crate::network::Network;
use xoff_engine::Time;
use xoff_fabric::domain;
use xoff_fabric::plan::{SwitchSettings, Thresholds, peer};
use xoff_fabric::scheme::{CongestionPoint, Hooks, QueueFacts, QueueView, Scheme, queue_number};

#[derive(Debug)]
pub struct Point<C> {
    pub(crate) cp: C,
    /// The event that counts.
    pub due: Time,
}

impl<C: CongestionPoint> Point<C> {
    /// Those of a switch: by port, then class, then scheme.
    pub fn all<S: Scheme<Cp = C>>(
        ports: &[u32],
        settings: &SwitchSettings,
        pause: Option<u64>,
        network: &Network,
        schemes: &[S],
    ) -> Vec<Point<C>> {
        let plan = &network.plan;
        let (xoff_bytes, xon_bytes) = match settings.pfc.thresholds {
            Thresholds::Static { xoff_bytes, xon_bytes } => (Some(xoff_bytes), Some(xon_bytes)),
            Thresholds::Dynamic { .. } => (None, None),
        };
        let mut points = Vec::new();
        for &port in ports {
            let classes = (0..).zip(&plan.classes.list);
            for ((class, spec), (slot, scheme)) in
                classes.flat_map(|class| schemes.iter().enumerate().map(move |slot| (class, slot)))
            {
                let cp = scheme.congestion_point(&QueueFacts {
                    seed: plan.seed,
                    queue: queue_number(port, class, slot),
                    rate: plan.direction(port).rate,
                    max_base_rtt: network.max_base_rtt,
                    delay: plan.direction(port).delay,
                    mtu_wire_bytes: network.mtu_wire_bytes,
                    xoff_bytes,
                    xon_bytes,
                    pause_bytes: pause.filter(|_| spec.lossless),
                    leaves_domain: domain::is_long_haul(plan, port),
                    last_hop: plan.is_host(plan.node_of(peer(port))),
                    shared_random: None,
                });
                points.push(Point { cp, due: Time::NEVER });
            }
        }
        points
    }

    /// What it listens to. It writes telemetry itself: the bytes it is read from, and written to, cost more than a call.
    pub fn hooks(&self) -> Hooks {
        self.cp.hooks().calling()
    }

    pub fn on_timer(&mut self, view: &QueueView, notify: impl FnMut(u32, C::Feedback)) {
        self.cp.on_timer(view, notify);
    }

    /// A new time for its timer, if it has one.
    pub fn wants(&mut self, now: Time) -> Option<Time> {
        let at = self.cp.timer()?.max(now);
        (self.cp.hooks().has(Hooks::TIMER) && at < self.due).then(|| {
            self.due = at;
            at
        })
    }
}
