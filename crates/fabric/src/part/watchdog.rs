//! The PFC watchdog of a switch: queues that are paused for too long are in a storm.

use crate::contract::record::StormRecord;
use crate::contract::scheme::Scheme;
use crate::id::{PortId, QueueId, SwitchId};
use crate::network::pfc;
use crate::network::plan::{Signalling, WatchdogAction};
use crate::node::port::Storm;
use crate::part::{Part, kind};
use xoff_engine::{Key, Span, Time};

impl<S: Scheme> Part<S> {
    /// Notes how long ports take to obey, and starts the watchdogs.
    pub(crate) fn start_watch(&mut self) {
        let delays: Vec<Span> = self.links.ports.iter().map(|port| pfc::response(&self.plan, port.name)).collect();
        if delays.iter().any(|delay| *delay > Span::ZERO) {
            self.watch.responses.delays = delays.into();
        }
        for (id, switch) in self.switches.enumerate() {
            if let Some(watchdog) = self.plan.switches[switch.profile as usize].watchdog {
                self.watch.last_pause = vec![Time::ZERO; self.egress.queues.len()].into();
                self.queue.push_named(Time::ZERO + watchdog.poll, kind::WATCHDOG, switch.name, id.get());
            }
        }
    }

    /// Looks at every egress queue of a switch for a PFC storm.
    pub(crate) fn on_watchdog(&mut self, switch_id: SwitchId) {
        let switch = &self.switches[switch_id];
        let Some(watchdog) = self.plan.switches[switch.profile as usize].watchdog else { return };
        self.queue.push_named(self.now + watchdog.poll, kind::WATCHDOG, switch.name, switch_id.get());
        let ports = switch.ports.clone();
        for port in ports {
            for class in 0..self.classes as u8 {
                let queue_id = QueueId::of(port, class, self.classes);
                let (queue, history) = (&self.egress.queues[queue_id], self.egress.history(queue_id));
                let paused = self.links.ports[port].paused & (1 << class) != 0;
                if history.storm == Storm::No {
                    let since = history.paused_since.max(queue.moved_at);
                    let held = queue.bytes > 0 || self.awaiting(port, class).next().is_some();
                    if paused && held && self.now.saturating_since(since) >= watchdog.detect {
                        self.begin_storm(port, class, watchdog.action);
                    }
                } else if !self.still_advertised(port, class)
                    && self.now.saturating_since(self.watch.last_pause[queue_id]) >= watchdog.restore
                {
                    self.end_storm(port, class);
                }
            }
        }
    }

    /// Under on/off signalling a PAUSE is not repeated: it holds until it is taken back.
    fn still_advertised(&self, port: PortId, class: u8) -> bool {
        let signalling = self.switches[self.links.ports[port].switch()].signalling;
        signalling == Signalling::OnOff && self.watch.frames(port).heard & (1 << class) != 0
    }

    fn begin_storm(&mut self, port: PortId, class: u8, action: WatchdogAction) {
        self.counters.watchdog_storms += 1;
        self.switches[self.links.ports[port].switch()].storms += 1;
        let queue = self.egress.history_mut(QueueId::of(port, class, self.classes));
        // Until it ends the record holds what was dropped before it.
        self.records.storm_ranks.extend(self.records.rank);
        let name = self.links.ports[port].name;
        self.records
            .storms
            .push((port, StormRecord { port: name, class, from: self.now, until: None, drops: queue.drops }));
        match action {
            WatchdogAction::Drop => {
                queue.storm = Storm::Dropping;
                self.flush(port, class);
            }
            WatchdogAction::Forward => {
                queue.storm = Storm::Forwarding;
                self.set_paused(port, class, false);
            }
        }
    }

    fn end_storm(&mut self, port: PortId, class: u8) {
        let queue = self.egress.history_mut(QueueId::of(port, class, self.classes));
        queue.storm = Storm::No;
        self.switches[self.links.ports[port].switch()].storms -= 1;
        let ours = |(at, storm): &&mut (PortId, StormRecord)| (*at, storm.class, storm.until) == (port, class, None);
        if let Some((_, storm)) = self.records.storms.iter_mut().rev().find(ours) {
            storm.until = Some(self.now);
            storm.drops = queue.drops - storm.drops;
        }
    }

    /// See [`crate::run::World::storm_records`]; each with its rank among those of all parts.
    pub(crate) fn storm_records(&self) -> Vec<(Option<Key>, StormRecord)> {
        let so_far = |&(port, storm): &(PortId, StormRecord)| {
            let drops = match storm.until {
                Some(_) => storm.drops,
                None => self.history(port, storm.class).drops - storm.drops,
            };
            StormRecord { drops, ..storm }
        };
        let rank = |at: usize| self.records.storm_ranks.get(at).copied();
        self.records.storms.iter().enumerate().map(|(at, storm)| (rank(at), so_far(storm))).collect()
    }
}
