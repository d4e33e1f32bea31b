//! Gathers records while a run goes and turns them into a [`Summary`] at its end.

use super::flows::FiniteFlows;
use super::goodput::{Delivery, goodput};
use super::hpcc_slowdown::HpccSlowdowns;
use super::live_timing::{LiveTiming, Partners, Verdict};
use super::names::{Names, label_name};
use super::summary::*;
use std::collections::BTreeMap;
use xoff_engine::Time;
use xoff_fabric::plan::{Plan, peer};
use xoff_fabric::record::FlowRecord;
use xoff_run::RunEnd;
use xoff_scenario::measure::metrics::jain_index;

/// Checks that a scenario may waive.
pub const NO_LOSSLESS_DROP: &str = "no drop in a lossless class";
pub const NO_DEADLOCK: &str = "no deadlock";
/// How many entries the lists of worst places have.
const WORST: usize = 5;

#[derive(Clone, Copy)]
pub struct EndlessFlow {
    pub id: u32,
    pub label: u32,
    pub src: u32,
    pub start: Time,
    pub end: Option<Time>,
    pub delivered_bytes: u64,
}

/// When the finite flows of a source began and ended.
#[derive(Clone, Copy)]
pub struct SourceSpan {
    pub first_start: Time,
    pub last_end: Time,
    pub unfinished: bool,
}

#[derive(Default)]
pub struct Tally {
    flows: u64,
    finite: u64,
    short_of_size: u64,
    delivered_bytes: u64,
    of_size: FiniteFlows,
    pub endless: Vec<EndlessFlow>,
    pub finite_sources: BTreeMap<u32, SourceSpan>,
    /// In runs by the rules of the HPCC authors' simulator.
    hpcc: Option<HpccSlowdowns>,
}

impl Tally {
    pub fn of(plan: &Plan) -> Tally {
        Tally { hpcc: HpccSlowdowns::of(plan), ..Tally::default() }
    }

    pub fn flow(&mut self, flow: &FlowRecord) {
        if let Some(hpcc) = &mut self.hpcc {
            hpcc.flow(flow);
        }
        self.flows += 1;
        self.delivered_bytes += flow.delivered_bytes;
        let Some(size_bytes) = flow.size_bytes else {
            self.endless.push(EndlessFlow {
                id: flow.id,
                label: flow.label,
                src: flow.src,
                start: flow.start,
                end: flow.delivered_at,
                delivered_bytes: flow.delivered_bytes,
            });
            return;
        };
        self.finite += 1;
        self.of_size.add(flow, size_bytes);
        let span = self.finite_sources.entry(flow.source).or_insert(SourceSpan {
            first_start: flow.start,
            last_end: flow.start,
            unfinished: false,
        });
        span.first_start = span.first_start.min(flow.start);
        match flow.delivered_at {
            Some(at) => {
                span.last_end = span.last_end.max(at);
                if flow.delivered_bytes != size_bytes {
                    self.short_of_size += 1;
                }
            }
            None => span.unfinished = true,
        }
    }

    /// `identity`: version, scenario name, schemes, seed.
    pub fn summary(
        &mut self,
        identity: (&str, &str, &str, u64),
        (labels, sources): (&[String], &[String]),
        names: &Names,
        end: &RunEnd,
        failure: Option<String>,
    ) -> Summary {
        let c = &end.counters;
        let seconds = end.sim_end.as_s();
        let cpu = end.run_cpu.as_secs_f64();
        let (version, name, scheme, seed) = identity;
        Summary {
            version: version.to_owned(),
            name: name.to_owned(),
            scheme: scheme.to_owned(),
            seed,
            sim_time_us: end.sim_end.as_us(),
            flows: FlowResults {
                flows_total: self.flows,
                flows_completed: self.of_size.completed(),
                flows_endless: self.endless.len() as u64,
                fct_us: self.of_size.fct_us(),
                slowdown: self.of_size.slowdown(),
                by_size: self.of_size.by_size(),
                slowdown_hpcc: self.hpcc.as_ref().map(HpccSlowdowns::by_size).unwrap_or_default(),
                by_source: self.of_size.by_source(sources),
                throughput: self.throughput(labels, end.sim_end),
                goodput90_gbps: goodput(self.deliveries(end.sim_end)).unwrap_or(0.0) / 1e9,
                goodput_to_end_gbps: if seconds > 0.0 {
                    self.delivered_bytes as f64 * 8.0 / seconds / 1e9
                } else {
                    0.0
                },
            },
            jobs: Vec::new(),
            job_time_us: None,
            counts: Counts {
                fidelity: PACKET.to_owned(),
                packets_sent: c.data_packets_sent,
                packets_delivered: c.data_packets_delivered,
                packets_retransmitted: Some(c.data_packets_retransmitted),
                delivered_bytes: c.delivered_bytes,
                packet_hops: Some(c.packet_hops),
                events: c.events,
                marks: Some(c.marks),
                notifications: Some(c.notifications_sent),
                notices_refused: Some(c.notices_refused),
                acks: Some(c.acks_sent),
                naks: Some(c.naks_sent),
                timeouts: Some(c.timeouts),
                drops: Some(c.drops_lossless + c.drops_lossy + c.drops_fault),
                drops_lossless: Some(c.drops_lossless),
                drops_lossy: Some(c.drops_lossy),
                packets_trimmed: Some(c.packets_trimmed),
                drops_fault: Some(c.drops_fault),
                pause_frames: Some(c.pause_frames),
                resume_frames: Some(c.resume_frames),
                refresh_frames: Some(c.refresh_frames),
                deadlocks: Some(c.deadlocks),
                watchdog_storms: Some(c.watchdog_storms),
            },
            worst_queue: worst_queue(names, end),
            nearest_xoff: nearest_xoff(names, end),
            pauses: pauses_by_layer(names, end),
            busiest_links: busiest_links(names, end),
            routing: None,
            episode: None,
            disruptions: Vec::new(),
            dead_links: Vec::new(),
            warnings: Vec::new(),
            measures: Vec::new(),
            captures: Vec::new(),
            live_timing: None,
            cost: Cost {
                wall_seconds: end.wall.as_secs_f64(),
                run_cpu_seconds: cpu,
                setup_seconds: end.setup.as_secs_f64(),
                packet_hops_per_cpu_second: (cpu > 0.0).then(|| c.packet_hops as f64 / cpu),
                parts: end.parts,
                threads: end.threads,
                one_part_because: end.one_part_because.map(str::to_owned),
                windows: end.windows,
                peak_rss_bytes: end.peak_rss,
            },
            checks: self.checks(end),
            waits_for: end.waits.clone(),
            failure,
        }
    }

    fn deliveries(&self, sim_end: Time) -> impl Iterator<Item = Delivery> {
        let endless = self.endless.iter().map(move |flow| Delivery {
            from: flow.start,
            until: flow.end.unwrap_or(sim_end),
            bytes: flow.delivered_bytes,
        });
        self.of_size.deliveries(sim_end).chain(endless)
    }

    fn throughput(&self, labels: &[String], sim_end: Time) -> Vec<Throughput> {
        let mut by_label: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for flow in &self.endless {
            let seconds = flow.end.unwrap_or(sim_end).saturating_since(flow.start).as_s();
            let gbps = if seconds > 0.0 { flow.delivered_bytes as f64 * 8.0 / seconds / 1e9 } else { 0.0 };
            by_label.entry(flow.label).or_default().push(gbps);
        }
        by_label
            .into_iter()
            .map(|(label, rates)| Throughput {
                label: label_name(labels, label),
                flows: rates.len() as u64,
                mean_gbps: rates.iter().sum::<f64>() / rates.len() as f64,
                min_gbps: rates.iter().copied().fold(f64::INFINITY, f64::min),
                max_gbps: rates.iter().copied().fold(0.0, f64::max),
                fairness: jain_index(&rates),
            })
            .collect()
    }

    fn checks(&self, end: &RunEnd) -> Vec<Check> {
        let check =
            |name: &str, held: bool, detail: String| Check { name: name.to_owned(), held, allowed: false, detail };
        let counted = end.counters.delivered_bytes;
        let balanced = end.apart || self.delivered_bytes + end.macro_flow_bytes == counted;
        let conserved = end.imbalance.is_none() && balanced && self.short_of_size == 0;
        let account = match &end.imbalance {
            Some(text) => text.clone(),
            None if self.short_of_size > 0 => format!("{} finished flows lack bytes", self.short_of_size),
            None if end.apart => format!("{} bytes of flows that begin here", self.delivered_bytes),
            None if end.macro_flow_bytes > 0 => format!(
                "flows received {} bytes and macro-flows {}, the network delivered {counted}",
                self.delivered_bytes, end.macro_flow_bytes
            ),
            None => format!("flows received {} bytes, the network delivered {counted}", self.delivered_bytes),
        };
        let lost = end.counters.drops_lossless;
        let fast = self.of_size.too_fast();
        vec![
            check("bytes conserved", conserved, account),
            check(NO_LOSSLESS_DROP, lost == 0, format!("{lost} dropped")),
            check("no flow faster than possible", fast == 0, format!("{fast} with a slowdown below 1")),
            check(NO_DEADLOCK, end.counters.deadlocks == 0, format!("{} found", end.counters.deadlocks)),
        ]
    }
}

/// What must hold of a run on real packets, beside what must hold of all.
pub fn of_live_timing(live_timing: &LiveTiming) -> Vec<Check> {
    let check = |name: &str, held: bool, detail: String| Check { name: name.to_owned(), held, allowed: false, detail };
    // A machine that was too slow.
    let mut checks = vec![check("machine kept up", live_timing.verdict == Verdict::Kept, live_timing.detail())];
    let foreign = live_timing.frames.unaccounted;
    let detail = match foreign {
        0 => "every frame that was believed was sent by a node of the run".to_owned(),
        _ => format!("{foreign} frames were believed that no node of the run sent: forged, or sent twice"),
    };
    checks.push(check("no foreign frames", foreign == 0, detail));
    if let Some(partners) = &live_timing.partners {
        let Partners { missing, silent, acknowledged_bytes, open_bytes, delivered_bytes, .. } = partners;
        let detail = match (&missing[..], &silent[..]) {
            ([], []) => "the counts of all".to_owned(),
            ([], silent) => format!("no frame came to {}, though the other end sent some", silent.join(", ")),
            (missing, _) => format!("no counts of {}: what they counted is not known", missing.join(", ")),
        };
        checks.push(check("counters of all partners received", partners.were_heard(), detail));
        let detail = format!(
            "of all partners, senders know of {acknowledged_bytes} bytes and may know of {open_bytes} more, \
             receivers have {delivered_bytes}"
        );
        // With missing counts the check cannot be made.
        checks.push(check("bytes conserved over all partners", !missing.is_empty() || partners.is_conserved(), detail));
    }
    checks
}

/// Hosts' own queues hold what they have not sent yet and say nothing of the network.
fn worst_queue(names: &Names, end: &RunEnd) -> Option<QueuePeak> {
    let switches = end.ports.iter().filter(|report| !names.faces_host(peer(report.port)));
    let queues =
        switches.flat_map(|report| (0u8..).zip(&report.classes).map(move |(class, of)| (report.port, class, of)));
    let mut worst: Option<QueuePeak> = None;
    for (port, class, of) in queues {
        if of.queue_bytes_peak > worst.as_ref().map_or(0, |w| w.peak_bytes) {
            worst = Some(QueuePeak {
                port: names.port(port).to_owned(),
                priority: names.priority(class),
                peak_bytes: of.queue_bytes_peak,
                mean_bytes: of.queue_bytes_mean,
            });
        }
    }
    worst
}

fn nearest_xoff(names: &Names, end: &RunEnd) -> Vec<IngressPeak> {
    let mut all = Vec::new();
    for report in end.ports.iter() {
        for (class, of) in (0u8..).zip(&report.classes) {
            if of.xoff_bytes.is_some() && of.ingress_bytes_peak > 0 {
                let used = of.headroom_used_peak_bytes as f64 / of.headroom_bytes.max(1) as f64;
                all.push((used, of.ingress_bytes_peak, report.port, class, of));
            }
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then((a.2, a.3).cmp(&(b.2, b.3))));
    all.truncate(WORST);
    let peak = |(_, _, port, class, of): (f64, u64, u32, u8, &xoff_fabric::record::ClassReport)| IngressPeak {
        ingress: names.ingress(port),
        priority: names.priority(class),
        peak_bytes: of.ingress_bytes_peak,
        xoff_bytes: of.xoff_bytes.unwrap_or(0),
        headroom_bytes: of.headroom_bytes,
        headroom_used_peak_bytes: of.headroom_used_peak_bytes,
    };
    all.into_iter().map(peak).collect()
}

fn pauses_by_layer(names: &Names, end: &RunEnd) -> Vec<LayerPauses> {
    let mut layers: BTreeMap<(&str, &str), [u64; 3]> = BTreeMap::new();
    for report in end.ports.iter() {
        let frames = [report.pause_frames, report.resume_frames, report.refresh_frames];
        if frames != [0; 3] {
            let sums = layers.entry((names.layer_of(report.port), names.layer_of(peer(report.port)))).or_default();
            for (sum, frames) in sums.iter_mut().zip(frames) {
                *sum += frames;
            }
        }
    }
    let row = |((from, to), [pause_frames, resume_frames, refresh_frames]): ((&str, &str), [u64; 3])| LayerPauses {
        from: from.to_owned(),
        to: to.to_owned(),
        pause_frames,
        resume_frames,
        refresh_frames,
    };
    layers.into_iter().map(row).collect()
}

/// Share of the run that a port spent sending.
pub fn utilisation(names: &Names, port: u32, tx_wire_bytes: u64, sim_end: Time) -> f64 {
    // Whole numbers until the end: a port that was never idle is not a rounding above 1.
    let possible = u128::from(names.rate(port).bps()) * u128::from(sim_end.ps());
    let sent = u128::from(tx_wire_bytes) * 8 * u128::from(xoff_engine::units::PS_PER_S);
    if possible > 0 { sent as f64 / possible as f64 } else { 0.0 }
}

fn busiest_links(names: &Names, end: &RunEnd) -> Vec<LinkUse> {
    let mut all: Vec<(f64, &xoff_fabric::record::PortReport)> = end
        .ports
        .iter()
        .filter(|report| report.tx_wire_bytes > 0)
        .map(|report| (utilisation(names, report.port, report.tx_wire_bytes, end.sim_end), report))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.port.cmp(&b.1.port)));
    all.truncate(WORST);
    let seconds = end.sim_end.as_s();
    all.into_iter()
        .map(|(utilisation, report)| LinkUse {
            port: names.port(report.port).to_owned(),
            rate_gbps: names.rate(report.port).as_gbps(),
            utilisation,
            paused: Some(match report.classes.iter().map(|class| class.paused).max() {
                Some(paused) if seconds > 0.0 => paused.as_s() / seconds,
                _ => 0.0,
            }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn summary(flows: &[FlowRecord]) -> Summary {
        let mut tally = Tally::default();
        flows.iter().for_each(|flow| tally.flow(flow));
        let delivered = flows.iter().map(|f| f.delivered_bytes).sum();
        let labels = ["F0".to_owned(), "burst".to_owned()];
        let names = Names::of(&fixture::plan());
        tally.summary(("0.1.0", "test", "none", 7), (&labels, &labels), &names, &fixture::end(delivered), None)
    }

    #[test]
    fn flows_are_counted_by_size_and_fate() {
        let mut stuck = fixture::flow(3, 2_000_000, 0, 0);
        stuck.delivered_at = None;
        stuck.delivered_bytes = 10;
        let flows =
            [fixture::flow(0, 9_999, 0, 20), fixture::flow(1, 10_000, 5, 40), stuck, fixture::endless(4, 25_000_000)];
        let s = summary(&flows);
        assert_eq!((s.flows.flows_total, s.flows.flows_completed, s.flows.flows_endless), (4, 2, 1));
        assert_eq!(s.flows.fct_us.mean, Some(30.0));
        assert_eq!((s.flows.slowdown.p50, s.flows.slowdown.p99), (Some(2.0), Some(4.0)));
        let counts: Vec<(u64, u64)> = s.flows.by_size.iter().map(|c| (c.flows, c.completed)).collect();
        assert_eq!(counts, [(1, 1), (1, 1), (0, 0), (1, 0)]);
        // 25 MB in 10 ms.
        assert_eq!((s.flows.throughput[0].label.as_str(), s.flows.throughput[0].mean_gbps), ("F0", 20.0));
    }

    #[test]
    fn a_straggler_leaves_the_goodput_alone() {
        // A gigabit every 10 us for a millisecond; of the same flows one is stuck until the run ends.
        let flows: Vec<FlowRecord> = (0..100).map(|i| fixture::flow(i, 1_250_000, 10 * u64::from(i), 10)).collect();
        let mut late = flows.clone();
        late[99].delivered_at = Some(Time::from_ms(10));
        let (without, with) = (summary(&flows), summary(&late));
        assert!((without.flows.goodput90_gbps - 1_000.0).abs() < 1e-6);
        assert!(
            (with.flows.goodput90_gbps / without.flows.goodput90_gbps - 1.0).abs() < 0.02,
            "{}",
            with.flows.goodput90_gbps
        );
        assert_eq!(with.flows.goodput_to_end_gbps, 100.0);
    }

    #[test]
    fn missing_bytes_and_impossible_speed_are_noticed() {
        let mut short = fixture::flow(0, 5_000, 0, 9);
        short.delivered_bytes = 4_999;
        let s = summary(&[short]);
        let broken: Vec<&str> = s.checks.iter().filter(|c| !c.held).map(|c| c.name.as_str()).collect();
        assert_eq!(broken, ["bytes conserved", "no flow faster than possible"]);
    }

    #[test]
    fn places_are_ranked() {
        let s = summary(&[]);
        // Port 8 and 10 are the last egresses of s1; port 10 has the longer queue, 11 is r1's own.
        assert_eq!(s.worst_queue.unwrap().port, "s1->r1");
        assert_eq!(s.nearest_xoff.len(), 5);
        assert_eq!((s.nearest_xoff[0].headroom_used_peak_bytes, s.nearest_xoff[0].headroom_bytes), (15_000, 60_000));
        assert_eq!(s.nearest_xoff[0].ingress, "s0 from h0");
        assert_eq!((s.pauses[0].from.as_str(), s.pauses[0].to.as_str(), s.pauses[0].pause_frames), ("leaf", "host", 4));
        // 11 MB in 10 ms of 40 Gb/s.
        assert_eq!(s.busiest_links[0].port, "r1->s1");
        assert!((s.busiest_links[0].utilisation - 0.22).abs() < 1e-12);
        assert_eq!(s.flows.fct_us, Distribution::default());
    }
}
