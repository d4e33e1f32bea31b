//! What goes wrong on schedule: links fail and come back, and rates change. Losses and storms have no flow-level form;
//! a scenario with them is refused before it gets here.

use crate::world::FlowWorld;
use std::sync::Arc;
use xoff_fabric::plan::FaultKind;
use xoff_fabric::route::ALL_SWITCHES;

impl FlowWorld {
    pub(crate) fn on_fault(&mut self, index: u32) {
        self.ending.faults_left -= 1;
        // What waited for a fault did not stall until now.
        self.ending.progress_at = self.state.now;
        match self.state.plan.faults[index as usize].what {
            FaultKind::LinkDown { link } => self.set_link(link, false, true),
            FaultKind::LinkUp { link } => self.set_link(link, true, true),
            FaultKind::LinkDead { link } => self.set_link(link, false, false),
            FaultKind::LinkAlive { link } => self.set_link(link, true, false),
            FaultKind::Learned { link, within } => {
                self.network.convergence.learn(link, within, self.network.up[link as usize]);
                self.renew_routes();
            }
            FaultKind::Rate { port, rate } => {
                self.network.rates[port as usize] = rate;
                self.set_capacity(port);
                self.set_limits();
            }
            FaultKind::Loss { .. } | FaultKind::PauseStorm { .. } => {
                debug_assert!(false, "a fault without a flow-level form");
            }
        }
    }

    /// A port sends at its rate while its link is up.
    fn set_capacity(&mut self, port: u32) {
        let up = self.network.up[port as usize / 2];
        let bps = if up { self.network.rates[port as usize].bps() as f64 } else { 0.0 };
        self.shares.set_capacity(port, bps);
    }

    /// Flows of a host whose rate changed send at most at the new one.
    fn set_limits(&mut self) {
        let flows: Vec<u32> = self.flows.iter().map(|(slot, _)| slot).collect();
        for slot in flows {
            let limit = self.limit_of(slot);
            self.shares.set_limit(slot, limit);
        }
    }

    /// A link fails or works again, and all switches know it at once or learn of it later.
    fn set_link(&mut self, link: u32, up: bool, known: bool) {
        if std::mem::replace(&mut self.network.up[link as usize], up) == up {
            return;
        }
        for port in [link * 2, link * 2 + 1] {
            self.set_capacity(port);
        }
        if known {
            self.network.convergence.learn(link, ALL_SWITCHES, up);
            self.renew_routes();
        }
    }

    /// Switches have learned of links: flows take the paths that the switches choose now.
    fn renew_routes(&mut self) {
        self.network.routes = Arc::new(self.network.convergence.routes(&self.state.plan));
        let mut living: Vec<(u64, u32)> = self.flows.iter().map(|(slot, flow)| (flow.identity, slot)).collect();
        living.sort_unstable();
        for (_, slot) in living {
            self.reroute(slot);
        }
    }

    fn reroute(&mut self, slot: u32) {
        let flow = &self.flows[slot];
        let (source, handle, was_stranded) = (flow.source, flow.spec.handle, flow.way.stranded);
        let tells = self.sources[source as usize].subscription.of_messages();
        if flow.together.is_some() {
            let has_more = flow.head.is_some();
            self.shares.deactivate(slot);
            let found = self.reroute_together(slot, tells);
            if found && has_more {
                self.shares.activate(slot);
            }
            if found == was_stranded {
                let now = self.state.now;
                self.tell(source, |of| of.on_stranded(now, handle, !found));
            }
            return;
        }
        let way = self.way_of(&flow.spec, &flow.key, &flow.sizes, tells);
        let stranded = way.stranded;
        let has_more = flow.head.is_some();
        self.shares.deactivate(slot);
        if stranded {
            // It keeps its path, for its record.
            self.flows[slot].way.stranded = true;
        } else {
            let flow = &mut self.flows[slot];
            (flow.way, flow.latency) = (way, (0, 0));
            self.lay_again(slot);
            if has_more {
                self.shares.activate(slot);
            }
        }
        if stranded != was_stranded {
            let now = self.state.now;
            self.tell(source, |of| of.on_stranded(now, handle, stranded));
        }
    }
}
