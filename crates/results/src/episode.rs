//! What a disturbance (a burst, usually) did to long flows: the victim-flow question.

use super::curves::CurveKeeper;
use super::incident::{Episode, EpisodeFlow};
use super::names::label_name;
use super::tally::{EndlessFlow, Tally};
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};
use xoff_scenario::measure::metrics::{RecoveryRule, mean_in, recovery_time, tree_lifetime};

/// Pauses of one port closer together than this are kept as one stretch.
const STRETCH_GAP: Span = Span::from_us(10);
/// Long flows reported.
const FLOWS_SHOWN: usize = 8;

/// PAUSE frames sent toward hosts, by sending port, kept as stretches of dense pausing.
#[derive(Default)]
pub struct PauseLog {
    stretches: BTreeMap<u32, Vec<Stretch>>,
    /// Stretches are cut here, so that a disturbance known beforehand is measured exactly.
    cut: Option<Time>,
}

#[derive(Clone, Copy)]
struct Stretch {
    first: Time,
    last: Time,
    frames: u64,
}

impl PauseLog {
    pub fn new(cut: Option<Time>) -> PauseLog {
        PauseLog { stretches: BTreeMap::new(), cut }
    }

    pub fn pause(&mut self, port: u32, at: Time) {
        let list = self.stretches.entry(port).or_default();
        let cut_between = |last: Time| self.cut.is_some_and(|cut| last < cut && cut <= at);
        match list.last_mut() {
            Some(s) if at.saturating_since(s.last) < STRETCH_GAP && !cut_between(s.last) => {
                s.last = at;
                s.frames += 1;
            }
            _ => list.push(Stretch { first: at, last: at, frames: 1 }),
        }
    }

    /// Frames and life since `from`, over the ports that `wanted` picks.
    fn since(&self, from: Time, wanted: impl Fn(u32) -> bool) -> (u64, Option<Span>) {
        let stretches = || {
            self.stretches
                .iter()
                .filter(|(port, _)| wanted(**port))
                .flat_map(|(_, list)| list)
                .filter(|s| s.last >= from)
        };
        let ends = stretches().flat_map(|s| [s.first.max(from), s.last]);
        (stretches().map(|s| s.frames).sum(), tree_lifetime(ends))
    }
}

/// Facts of the run that an episode needs beside the records.
pub struct Setting<'a> {
    /// When the scenario says so; otherwise found in the flows.
    pub disturbance: Option<Time>,
    pub sim_end: Time,
    pub labels: &'a [String],
    pub sources: &'a [String],
    pub pauses_recorded: bool,
    /// The host that a pausing port faces.
    pub host_of: &'a dyn Fn(u32) -> u32,
}

/// `None` when there were no probed endless flows or nothing disturbed them.
pub fn find(tally: &Tally, keeper: &CurveKeeper, pauses: &PauseLog, setting: &Setting<'_>) -> Option<Episode> {
    let mut flows: Vec<&EndlessFlow> = tally.endless.iter().filter(|f| keeper.throughput(f.id).is_some()).collect();
    flows.sort_by_key(|flow| flow.id);
    let settled = flows.iter().map(|flow| flow.start).max()?;
    let (start, end, cause) = cause(tally, setting, settled)?;
    flows.retain(|flow| flow.start < start);
    if flows.is_empty() {
        return None;
    }
    let senders: Vec<u32> = flows.iter().map(|flow| flow.src).collect();
    let (frames, life) = pauses.since(start, |port| senders.contains(&(setting.host_of)(port)));
    // A short run cannot afford the usual window.
    let usual = RecoveryRule::default();
    let rule = RecoveryRule { window: usual.window.min(setting.sim_end.saturating_since(start) / 10), ..usual };
    let named = |flow: &EndlessFlow| {
        let label = label_name(setting.labels, flow.label);
        let shared = flows.iter().filter(|other| other.label == flow.label).count() > 1;
        if shared { format!("{label} #{}", flow.id) } else { label }
    };
    let effect = |flow: &&EndlessFlow| {
        let series = keeper.throughput(flow.id).unwrap_or_default();
        let half = Time::from_ps(flow.start.ps() + (start - flow.start).ps() / 2);
        let before = mean_in(&series, half, start);
        let recovery = before.and_then(|before| recovery_time(&series, start, before, rule));
        EpisodeFlow {
            name: named(flow),
            before_gbps: before,
            during_gbps: mean_in(&series, start, end),
            after_gbps: mean_in(&series, end, setting.sim_end),
            min_allowed_gbps: keeper.lowest_allowed(flow.id, start, end),
            recovery_us: recovery.map(Span::as_us),
        }
    };
    Some(Episode {
        cause,
        start_us: start.as_us(),
        end_us: end.as_us(),
        pauses_toward_senders: setting.pauses_recorded.then_some(frames),
        congestion_tree_us: setting.pauses_recorded.then(|| life.unwrap_or(Span::ZERO).as_us()),
        flows: flows.iter().take(FLOWS_SHOWN).map(effect).collect(),
    })
}

/// When the disturbance began and ended, and its sources: those that begin first after every long
/// flow has started. A source that outlasts the run is background, not a disturbance, unless the
/// scenario named the instant.
fn cause(tally: &Tally, setting: &Setting<'_>, settled: Time) -> Option<(Time, Time, String)> {
    let after = |start: Time| match setting.disturbance {
        Some(at) => start >= at,
        None => start > settled,
    };
    let later = || tally.finite_sources.iter().filter(|(_, span)| after(span.first_start));
    let first = later().map(|(_, span)| span.first_start).min();
    let together = later().filter(|(_, span)| Some(span.first_start) == first);
    let (mut end, mut unfinished, mut names) = (Time::ZERO, false, Vec::new());
    for (&source, span) in together {
        end = end.max(span.last_end);
        unfinished |= span.unfinished;
        names.push(setting.sources.get(source as usize).cloned().unwrap_or_else(|| format!("source {source}")));
    }
    names.dedup();
    if names.len() > 4 {
        let more = names.len() - 3;
        names.truncate(3);
        names.push(format!("{more} more"));
    }
    match (setting.disturbance, first) {
        (Some(at), None) => Some((at, setting.sim_end, "the scenario's disturbance".to_owned())),
        (Some(at), Some(_)) => Some((at, if unfinished { setting.sim_end } else { end }, names.join(", "))),
        (None, Some(at)) if !unfinished => Some((at, end, names.join(", "))),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use xoff_fabric::record::{Metric, Sample};

    /// F0 at 20 Gb/s, 5 from 2 ms to 3 ms, then 20 again; a burst from 2 ms to 3 ms.
    fn run(disturbance: Option<Time>) -> (Tally, CurveKeeper, PauseLog) {
        let mut tally = Tally::default();
        tally.flow(&fixture::endless(0, 1));
        tally.flow(&fixture::flow(1, 64_000, 2_000, 500));
        tally.flow(&fixture::flow(2, 64_000, 2_000, 1_000));
        let mut keeper = CurveKeeper::default();
        for bin in 1..=600u64 {
            let value = if (201..=300).contains(&bin) { 5e9 } else { 20e9 };
            let at = Time::from_us(10 * bin);
            keeper.sample(&Sample { at, metric: Metric::FlowThroughput, entity: 0, label: 0, class: 0, value });
        }
        let mut pauses = PauseLog::new(disturbance);
        for at in [1_990, 1_998, 2_004, 2_500, 2_505, 2_910] {
            pauses.pause(1, Time::from_us(at));
        }
        pauses.pause(9, Time::from_us(5_000));
        (tally, keeper, pauses)
    }

    fn find_in(disturbance: Option<Time>) -> Episode {
        let (tally, keeper, pauses) = run(disturbance);
        let labels = ["F0".to_owned(), "burst".to_owned()];
        let sources = ["long".to_owned(), "mice".to_owned()];
        let setting = Setting {
            disturbance,
            sim_end: Time::from_ms(6),
            labels: &labels,
            sources: &sources,
            pauses_recorded: true,
            host_of: &|port| if port == 1 { 0 } else { 4 },
        };
        find(&tally, &keeper, &pauses, &setting).unwrap()
    }

    #[test]
    fn a_burst_is_found_and_measured() {
        let found = find_in(None);
        assert_eq!((found.cause.as_str(), found.start_us, found.end_us), ("mice", 2000.0, 3000.0));
        let flow = &found.flows[0];
        assert_eq!(flow.name, "F0");
        assert_eq!((flow.before_gbps, flow.during_gbps, flow.after_gbps), (Some(20.0), Some(5.0), Some(20.0)));
        // Judged by forward windows of 400 us, a tenth of the rest of the run.
        let recovery = flow.recovery_us.unwrap();
        assert!((980.0..=1000.0).contains(&recovery), "{recovery}");
    }

    #[test]
    fn the_tree_is_that_of_the_long_flows_and_starts_with_the_disturbance() {
        let found = find_in(Some(Time::from_ms(2)));
        assert_eq!(found.pauses_toward_senders, Some(4));
        // 2004 us to 2910 us: neither what came before nor what host 4 got.
        assert_eq!(found.congestion_tree_us, Some(906.0));
    }

    #[test]
    fn background_traffic_is_no_disturbance() {
        let (mut tally, keeper, pauses) = run(None);
        let mut open = fixture::flow(3, 64_000, 2_000, 0);
        open.delivered_at = None;
        tally.flow(&open);
        let setting = Setting {
            disturbance: None,
            sim_end: Time::from_ms(6),
            labels: &[],
            sources: &[],
            pauses_recorded: false,
            host_of: &|_| 0,
        };
        assert!(find(&tally, &keeper, &pauses, &setting).is_none());
    }
}
