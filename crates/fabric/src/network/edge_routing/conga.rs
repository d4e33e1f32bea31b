//! CONGA: flowlets take the path whose most loaded link is least loaded (Alizadeh et al., SIGCOMM 2014).
//!
//! Every egress of the fabric has a discounting rate estimator (DRE, section 3.2): a register X that grows by the bytes
//! of each packet and shrinks by a factor each period, so that X over rate times T_dre / alpha is the link's load. A
//! packet collects the largest quantised load along its path; the last edge keeps it per path and feeds one value back
//! with each packet of the other direction (section 3.3). The first edge sends a flowlet by the path for which the
//! larger of its own egress' load and the remote metric is least (section 3.5).
//!
//! One departure: tables are per path, not per uplink of the leaf. In two tiers the two are the same, and in three a
//! leaf's uplink is no path. ConWeave's simulator has it so; its other differences are parameters ([`CongaSettings`]).

use super::aging::Ticks;
use super::lots::Lots;
use crate::contract::edge_routing::{EdgeFacts, EdgePacket, EdgePath, EdgeRule, Effects, Header};
use std::collections::BTreeMap;
use xoff_engine::{BitRate, Span, Table, Time};

/// Parameters of CONGA.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CongaSettings {
    /// Gap that ends a flowlet.
    pub gap: Span,
    /// T_dre: period of the estimators.
    pub period: Span,
    /// Share that an estimator loses per period.
    pub alpha: f64,
    /// Q: bits of a metric, whose unit is full load over two to the power of it.
    pub bits: u32,
    /// Metrics have no more than these bits; otherwise overload shows.
    pub capped: bool,
    /// How old a metric may get.
    pub age: Span,
    /// Paths compared for a flowlet, neighbours in their order, the first of which is drawn; `usize::MAX`: all.
    pub compared: usize,
}

xoff_engine::ids! {
    /// Port of the switch.
    EgressId;
}

/// Discounting rate estimator of an egress.
#[derive(Clone, Copy, Debug, Default)]
struct Estimator {
    x: u32,
    /// Period in which it was brought up to date.
    period: u64,
    rate_bps: u64,
}

/// What is known of a path, and since when.
type Metrics = BTreeMap<EdgePath, (u32, Time)>;

pub(crate) struct Conga {
    settings: CongaSettings,
    lots: Lots,
    estimators: Table<EgressId, Estimator>,
    periods: Ticks,
    period: u64,
    aging: Ticks,
    flowlets: BTreeMap<u64, (EdgePath, Time)>,
    /// Metrics of paths to each other edge, as that edge fed them back.
    to_edge: BTreeMap<u16, Metrics>,
    /// Metrics of paths from it, to be fed back.
    from_edge: BTreeMap<u16, Metrics>,
}

impl Conga {
    pub fn new(facts: &EdgeFacts, settings: CongaSettings) -> Conga {
        Conga {
            settings,
            lots: Lots::new(facts, "conga"),
            estimators: Table::default(),
            periods: Ticks::new(settings.period),
            period: 0,
            aging: Ticks::new(settings.age),
            flowlets: BTreeMap::new(),
            to_edge: BTreeMap::new(),
            from_edge: BTreeMap::new(),
        }
    }

    /// Estimator of an egress, brought up to date.
    fn estimator(&mut self, now: Time, port: u16) -> &mut Estimator {
        self.period += self.periods.count(now);
        let (period, kept) = (self.period, 1.0 - self.settings.alpha);
        let of = self.estimators.reach(EgressId::new(port.into()), Estimator::default);
        // Zero stays zero.
        while of.period < period && of.x > 0 {
            of.x = (f64::from(of.x) * kept) as u32;
            of.period += 1;
        }
        of.period = period;
        of
    }

    /// Load of a link with this X, in units of 2^-Q.
    fn metric(&self, x: u32, rate_bps: u64) -> u32 {
        if x == 0 {
            return 0;
        }
        let full_bits = rate_bps as f64 * self.settings.period.as_s() / self.settings.alpha;
        let units = f64::from(1u32 << self.settings.bits);
        let metric = (f64::from(x) * 8.0 / full_bits * units) as u32;
        if self.settings.capped { metric.min((1 << self.settings.bits) - 1) } else { metric }
    }

    /// What is too old is forgotten, at the same instants for all.
    fn forget(&mut self, now: Time) {
        let age = self.settings.age;
        while let Some(tick) = self.aging.due(now) {
            let young = |since: Time| tick.saturating_since(since) <= age;
            self.to_edge.values_mut().for_each(|metrics| metrics.retain(|_, (_, since)| young(*since)));
            self.from_edge.values_mut().for_each(|metrics| metrics.retain(|_, (_, since)| young(*since)));
            self.flowlets.retain(|_, (_, last)| young(*last));
        }
    }

    /// The best path for a flowlet.
    fn best(&mut self, packet: &EdgePacket, paths: &[EdgePath]) -> EdgePath {
        let compared = self.settings.compared.min(paths.len());
        let first = match paths.len() >= self.settings.compared {
            true => self.lots.below(paths.len() - compared + 1),
            false => 0,
        };
        let (mut best, mut least) = (Vec::new(), u32::MAX);
        for &path in &paths[first..first + compared] {
            let &mut Estimator { x, rate_bps, .. } = self.estimator(packet.now, path.port(0).unwrap_or(0));
            let remote = self.to_edge.get(&packet.to).and_then(|metrics| metrics.get(&path)).map_or(0, |known| known.0);
            let metric = self.metric(x, rate_bps).max(remote);
            if metric < least {
                least = metric;
                best.clear();
            }
            if metric == least {
                best.push(path);
            }
        }
        best[self.lots.below(best.len())]
    }
}

impl EdgeRule for Conga {
    fn on_packet(&mut self, now: Time, is_data: bool) {
        if is_data {
            self.periods.begin(now);
            self.aging.begin(now);
            self.forget(now);
        }
    }

    fn enter(&mut self, packet: &EdgePacket, paths: &[EdgePath], header: &mut Header) -> EdgePath {
        if let Some(metrics) = self.from_edge.get(&packet.to).filter(|metrics| !metrics.is_empty()) {
            let drawn = metrics.iter().nth(self.lots.below(metrics.len()));
            header.feedback = drawn.map(|(path, (metric, _))| (*path, *metric));
        }
        let known = self.flowlets.get(&packet.flowlet).copied();
        let goes_on = known.filter(|(path, last)| {
            packet.now.saturating_since(*last) <= self.settings.gap && paths.binary_search(path).is_ok()
        });
        let path = goes_on.map_or_else(|| self.best(packet, paths), |(path, _)| path);
        self.flowlets.insert(packet.flowlet, (path, packet.now));
        path
    }

    fn pass(&mut self, now: Time, port: u16, rate: BitRate, frame_bytes: u32, header: &mut Header) {
        let of = self.estimator(now, port);
        of.x = of.x.saturating_add(frame_bytes);
        of.rate_bps = rate.bps();
        let (x, rate_bps) = (of.x, of.rate_bps);
        header.congestion = header.congestion.max(self.metric(x, rate_bps));
    }

    fn leave(&mut self, packet: &EdgePacket, header: &Header, _: &mut Effects) {
        if let Some((path, metric)) = header.feedback {
            self.to_edge.entry(packet.from).or_default().insert(path, (metric, packet.now));
        }
        self.from_edge.entry(packet.from).or_default().insert(header.path, (header.congestion, packet.now));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{entering, facts, paths};
    use super::*;

    /// Settings of ConWeave's simulator.
    const SETTINGS: CongaSettings = CongaSettings {
        gap: Span::from_us(100),
        period: Span::from_us(50),
        alpha: 0.2,
        bits: 3,
        capped: false,
        age: Span::from_us(500),
        compared: 4,
    };
    const RATE: BitRate = BitRate::from_gbps(100);

    fn conga() -> Conga {
        let mut conga = Conga::new(&facts(), SETTINGS);
        conga.on_packet(Time::ZERO, true);
        conga
    }

    /// Bytes that leave by a port at a time in microseconds; the metric that a packet takes along.
    fn pass(conga: &mut Conga, us: u64, port: u16, bytes: u32) -> u32 {
        let mut header = Header::default();
        conga.pass(Time::from_us(us), port, RATE, bytes, &mut header);
        header.congestion
    }

    #[test]
    fn paths_2_full_load_is_eight_eighths() {
        let mut conga = conga();
        // 625,000 B per 50 us; X just before it shrinks tends to 3,125,000 B, which is 8 and not capped at 7.
        let metrics: Vec<u32> = (0..60).map(|period| pass(&mut conga, period * 50, 2, 625_000)).collect();
        assert_eq!((metrics[0], metrics[1], metrics[59]), (1, 2, 7));
        // From below: 3,124,999 B and less after whole bytes are cut.
        assert_eq!(pass(&mut conga, 59 * 50, 2, 20), 8);
        let capped = Conga::new(&facts(), CongaSettings { capped: true, ..SETTINGS });
        assert_eq!((conga.metric(9_000_000, RATE.bps()), capped.metric(9_000_000, RATE.bps())), (23, 7));
    }

    #[test]
    fn a_flowlet_takes_the_least_loaded_path() {
        let mut conga = conga();
        pass(&mut conga, 0, 0, 800_000);
        pass(&mut conga, 0, 2, 400_000);
        // Two packets back from edge 1 say that paths 1 and 3 are loaded.
        for (port, metric) in [(1, 3), (3, 5)] {
            let header = Header { feedback: Some((EdgePath::of([port, 1]), metric)), ..Header::default() };
            conga.leave(&EdgePacket { from: 1, to: 0, ..entering(1, 9) }, &header, &mut Effects::default());
        }
        // Metrics 2, 3, 1 and 5: path 2 alone, and then still, whatever its load, until a gap.
        let mut take = |us: u64| {
            let mut header = Header::default();
            conga.on_packet(Time::from_us(us), true);
            header.path = conga.enter(&entering(us, 7), &paths(4), &mut header);
            pass(&mut conga, us, header.path.port(0).unwrap(), 900_000);
            header
        };
        assert_eq!(take(2).path, EdgePath::of([2, 1]));
        assert_eq!(take(102).path, EdgePath::of([2, 1]));
        // 1300000 B and two shrinkings before 900000 B more: X = 1732000, then at 203 us 1385600 x 0.8.
        let later = take(203);
        assert_eq!(later.path, EdgePath::of([0, 1]), "800000 B have shrunk to 327680 B, which is nothing");
        assert_eq!(later.feedback.map(|(path, _)| path), Some(EdgePath::default()), "the only path that is known");
    }

    #[test]
    fn old_metrics_are_forgotten_at_ticks() {
        let mut conga = conga();
        let header = Header { feedback: Some((EdgePath::of([1, 1]), 9)), ..Header::default() };
        conga.leave(&EdgePacket { from: 1, to: 0, ..entering(400, 9) }, &header, &mut Effects::default());
        for (us, known) in [(899, 1), (999, 1), (1_000, 0)] {
            conga.on_packet(Time::from_us(us), true);
            assert_eq!(conga.to_edge[&1].len(), known, "{us} us");
        }
    }
}
