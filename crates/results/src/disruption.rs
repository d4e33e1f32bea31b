//! Storms, what watchdogs did about them, and the flows that did not finish.

use super::incident::{DeadLinkRow, Disruption, What};
use super::names::{Names, label_name};
use super::summary::Check;
use std::collections::{BTreeMap, BTreeSet};
use xoff_engine::Time;
use xoff_fabric::plan::{Fault, FaultKind, peer};
use xoff_fabric::record::{DeadLink, FlowRecord, StormRecord};
use xoff_scenario::number::thousands;

/// Gathers what it takes to say why flows did not finish.
pub struct Unfinished {
    /// When links work again.
    mended: Vec<(u32, Time)>,
    finite: u64,
    open: Vec<OpenFlow>,
    /// The storms of the scenario, and the traffic, by label, that had to go there meanwhile.
    floods: Vec<(Stretch, BTreeSet<u32>)>,
}

/// A finite flow that was under way when the run ended.
struct OpenFlow {
    class: u8,
    lost: bool,
    ports: Vec<u32>,
}

/// One stretch of time at one egress.
struct Stretch {
    what: What,
    /// The egress that is told to stop.
    egress: u32,
    class: u8,
    from: Time,
    until: Option<Time>,
    drops: u64,
}

impl Stretch {
    /// Whether flows wait for it when the run ends; otherwise only those that lost packets by it suffer.
    fn lasts(&self) -> bool {
        self.what == What::Storm && self.until.is_none()
    }

    fn drops(&self) -> bool {
        self.what == What::Watchdog && self.drops > 0
    }

    fn queue(&self) -> Queue {
        (self.egress, self.class)
    }
}

/// Egress port and class.
type Queue = (u32, u8);

impl Unfinished {
    pub fn new(faults: &[Fault]) -> Unfinished {
        let floods = floods(faults).into_iter().map(|flood| (flood, BTreeSet::new())).collect();
        let mended = faults.iter().filter_map(|fault| match fault.what {
            FaultKind::LinkUp { link } | FaultKind::LinkAlive { link } => Some((link, fault.at)),
            _ => None,
        });
        Unfinished { mended: mended.collect(), floods, finite: 0, open: Vec::new() }
    }

    /// The links of a run that failed.
    pub fn dead_links(&self, names: &Names, dead: &[DeadLink]) -> Vec<DeadLinkRow> {
        let until = |of: &DeadLink| self.mended.iter().find(|(link, at)| *link == of.link && *at > of.from);
        let row = |of: &DeadLink| DeadLinkRow {
            link: names.port(2 * of.link).to_owned(),
            from_us: of.from.as_us(),
            until_us: until(of).map(|(_, at)| at.as_us()),
            packets_lost: of.packets_lost,
            time_on_dead_path_us: of.last_at.map(|at| at.saturating_since(of.from).as_us()),
        };
        dead.iter().map(row).collect()
    }

    pub fn flow(&mut self, flow: &FlowRecord) {
        for (flood, held_up) in &mut self.floods {
            let there = flow.class == flood.class && flow.path.contains(flood.egress);
            let over = flow.size_bytes.and(flow.delivered_at).is_some_and(|at| at <= flood.from);
            if there && !over && flood.until.is_none_or(|until| flow.start < until) {
                held_up.insert(flow.label);
            }
        }
        if flow.size_bytes.is_none() {
            return;
        }
        self.finite += 1;
        if flow.delivered_at.is_none() {
            self.open.push(OpenFlow { class: flow.class, lost: flow.lost > 0, ports: flow.path.ports() });
        }
    }

    /// The storms of the scenario and the watchdogs of the run in order of time, and the check of what
    /// became of the flows. `stopped`: the run ended at the instant that the scenario names, which cuts
    /// off flows without blame.
    pub fn judge(
        &self,
        names: &Names,
        labels: &[String],
        storms: &[StormRecord],
        sim_end: Time,
        stopped: bool,
    ) -> (Vec<Disruption>, Check) {
        // As far as the run came.
        let begun = self.floods.iter().filter(|(flood, _)| flood.from <= sim_end);
        let so_far = |flood: &Stretch| Stretch { until: flood.until.filter(|until| *until <= sim_end), ..*flood };
        let nobody = BTreeSet::new();
        let mut all: Vec<(Stretch, &BTreeSet<u32>)> = begun.map(|(flood, held)| (so_far(flood), held)).collect();
        let watchdog = |storm: &StormRecord| Stretch {
            what: What::Watchdog,
            egress: storm.port,
            class: storm.class,
            from: storm.from,
            until: storm.until,
            drops: storm.drops,
        };
        all.extend(storms.iter().map(|storm| (watchdog(storm), &nobody)));
        all.sort_by_key(|(stretch, _)| stretch.from);
        let (stretches, held_up): (Vec<Stretch>, Vec<_>) = all.into_iter().unzip();
        // By queue: flows under way over it, and those of them that lost packets.
        let mut through: BTreeMap<Queue, (u64, u64)> = BTreeMap::new();
        for flow in &self.open {
            for &port in &flow.ports {
                let (all, lossy) = through.entry((port, flow.class)).or_default();
                *all += 1;
                *lossy += u64::from(flow.lost);
            }
        }
        // A storm that is over has the victims of the watchdog that it set off.
        let dropping: BTreeSet<Queue> = stretches.iter().filter(|of| of.drops()).map(Stretch::queue).collect();
        let victims = |of: &Stretch| match through.get(&of.queue()) {
            Some((all, _)) if of.lasts() => *all,
            Some((_, lossy)) if dropping.contains(&of.queue()) => *lossy,
            _ => 0,
        };
        let row = |(of, held_up): (&Stretch, &BTreeSet<u32>)| Disruption {
            what: of.what,
            place: match of.what {
                What::Storm => names.node_name_of(peer(of.egress)).to_owned(),
                What::Watchdog => names.port(of.egress).to_owned(),
            },
            priority: names.priority(of.class),
            from_us: of.from.as_us(),
            until_us: of.until.map(Time::as_us),
            packets_dropped: of.drops,
            flows_unfinished: victims(of),
            affected_traffic: held_up.iter().map(|label| label_name(labels, *label)).collect(),
        };
        (stretches.iter().zip(held_up).map(row).collect(), self.check(self.held_up(&stretches), stopped))
    }

    /// How many flows did not finish because of any of these.
    fn held_up(&self, stretches: &[Stretch]) -> u64 {
        let queues = |wanted: fn(&Stretch) -> bool| -> BTreeSet<Queue> {
            stretches.iter().filter(|of| wanted(of)).map(Stretch::queue).collect()
        };
        let (waiting, dropping) = (queues(Stretch::lasts), queues(Stretch::drops));
        let over =
            |flow: &OpenFlow, of: &BTreeSet<Queue>| flow.ports.iter().any(|&port| of.contains(&(port, flow.class)));
        self.open.iter().filter(|flow| over(flow, &waiting) || (flow.lost && over(flow, &dropping))).count() as u64
    }

    fn check(&self, held_up: u64, stopped: bool) -> Check {
        let open = self.open.len() as u64;
        let count = format!("{} of {}", thousands(open), thousands(self.finite));
        let detail = match (open, held_up, stopped) {
            (0, ..) => format!("{count} unfinished"),
            (_, 0, true) => format!("{count} under way at the stop that the scenario sets"),
            (_, 0, false) => format!("{count} unfinished"),
            _ => format!("{count} unfinished, {} of them because of a storm", thousands(held_up)),
        };
        let held = open == 0 || (stopped && held_up == 0);
        Check { name: "no finite flow left behind".to_owned(), held, allowed: false, detail }
    }
}

/// The storms that a scenario orders.
fn floods(faults: &[Fault]) -> Vec<Stretch> {
    let mut floods: Vec<Stretch> = Vec::new();
    for fault in faults {
        let FaultKind::PauseStorm { host_port, class, on } = fault.what else { continue };
        let egress = peer(host_port);
        let running = floods.iter_mut().find(|known| (known.egress, known.class, known.until) == (egress, class, None));
        match running {
            Some(running) if !on => running.until = Some(fault.at),
            None if on => {
                let from = fault.at;
                floods.push(Stretch { what: What::Storm, egress, class, from, until: None, drops: 0 });
            }
            _ => {}
        }
    }
    floods
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use xoff_fabric::record::Paths;

    /// From h0 over s0->s1#1 (port 6) to r0 (port 8).
    fn open(id: u32, lost: u64) -> FlowRecord {
        FlowRecord { delivered_at: None, lost, ..fixture::flow(id, 50_000, 10, 0) }
    }

    fn judged(flows: &[FlowRecord], until: Option<Time>, stopped: bool) -> (Vec<Disruption>, Check) {
        // r0 floods from 1 ms to 2 ms; its switch notices.
        let storm =
            |ms, on| Fault { at: Time::from_ms(ms), what: FaultKind::PauseStorm { host_port: 9, class: 0, on } };
        let faults = [storm(1, true), storm(2, false), storm(50, true)];
        let mut unfinished = Unfinished::new(&faults);
        flows.iter().for_each(|flow| unfinished.flow(flow));
        let trip = StormRecord { port: 8, class: 0, from: Time::from_us(1_300), until, drops: 12 };
        let names = Names::of(&fixture::plan());
        unfinished.judge(&names, &["elephants".to_owned(), "mice".to_owned()], &[trip], Time::from_ms(10), stopped)
    }

    #[test]
    fn a_storm_and_its_watchdog_are_told_with_times_and_places() {
        let (rows, check) = judged(&[fixture::flow(0, 1_000, 0, 20), open(1, 3), open(2, 0)], None, true);
        let [storm, watchdog] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((storm.what, storm.place.as_str(), storm.priority), (What::Storm, "r0", 3));
        assert_eq!((storm.from_us, storm.until_us, storm.flows_unfinished), (1_000.0, Some(2_000.0), 1));
        assert_eq!((watchdog.what, watchdog.place.as_str()), (What::Watchdog, "s1->r0"));
        assert_eq!((watchdog.from_us, watchdog.until_us), (1_300.0, None));
        assert_eq!((watchdog.packets_dropped, watchdog.flows_unfinished), (12, 1));
        assert_eq!((&storm.affected_traffic[..], &watchdog.affected_traffic[..]), (&["mice".to_owned()][..], &[][..]));
        assert!(!check.held);
        assert_eq!(check.detail, "2 of 3 unfinished, 1 of them because of a storm");
    }

    #[test]
    fn a_stop_that_the_scenario_sets_cuts_flows_off_without_blame() {
        let flows = [fixture::flow(0, 1_000, 0, 20), open(1, 0), fixture::endless(2, 5)];
        let (_, check) = judged(&flows, Some(Time::from_ms(3)), true);
        assert!(check.held, "{check:?}");
        assert_eq!(check.detail, "1 of 2 under way at the stop that the scenario sets");
        let (_, check) = judged(&flows, Some(Time::from_ms(3)), false);
        assert!(!check.held, "nothing stopped it, and still it did not finish");
        assert!(judged(&flows[..1], None, false).1.held);
    }

    #[test]
    fn who_came_after_a_storm_or_went_elsewhere_was_not_held_up() {
        let before = fixture::flow(0, 1_000, 0, 20);
        let after = FlowRecord { start: Time::from_ms(3), ..open(1, 0) };
        let elsewhere = FlowRecord { path: Paths::One(Box::new([0, 6, 10])), ..open(2, 0) };
        let (rows, _) = judged(&[before, after, elsewhere], None, true);
        assert!(rows.iter().all(|row| row.affected_traffic.is_empty()), "{rows:?}");
    }

    #[test]
    fn flows_that_wait_for_a_lasting_storm_are_its_victims() {
        let what = FaultKind::PauseStorm { host_port: 9, class: 0, on: true };
        let mut unfinished = Unfinished::new(&[Fault { at: Time::from_ms(1), what }]);
        unfinished.flow(&open(1, 0));
        unfinished.flow(&FlowRecord { path: Paths::One(Box::new([0, 6, 10])), ..open(2, 0) });
        let names = Names::of(&fixture::plan());
        let (rows, check) = unfinished.judge(&names, &[], &[], Time::from_ms(10), true);
        assert_eq!((rows[0].until_us, rows[0].flows_unfinished), (None, 1), "the other one goes elsewhere");
        assert!(!check.held);
    }
}
