//! Runs of the TCD authors' simulator: another `fct.txt`, and traces of rates and queues.
//!
//! Flows complete when their receiver has them. `rate_trace.txt` has a line for every change of a
//! flow's rate, `qlen_trace.txt` the bytes at some ports each microsecond; which ports, `README.md` of the
//! folder says (`queues of ports 0:3 1:2`: node and number of port). Either may be compressed, or missing.

use super::compare::{Bound, Pair, apart};
use super::promised::Promised;
use super::queues::{open_traced, port_at};
use super::theirs::{FlowKey, Theirs, key};
use super::times::groups;
use super::{Case, Result};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{Plan, Probe, ProbeTarget};
use xoff_fabric::record::{FlowRecord, Metric, Sample};
use xoff_results::export::hpcc::FctLine;
use xoff_scenario::import::tcd;
use xoff_scenario::reader::read_file;
use xoff_scenario::{Diagnostic, Options, Place, Scenario, Source};

/// How often queues are sampled there, and queues and rates here.
const EVERY: Span = Span::from_us(1);
/// Promised of means.
const MEAN: f64 = 0.05;
/// Queues with less than this on average are not judged: a packet more or less is a great part of it.
const JUDGED_BYTES: f64 = 1000.0;
/// Flows larger than this are judged one by one.
const LONG_BYTES: u64 = 1_000_000;

/// A mean over time of both.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mean {
    /// `rate of 2 to 4`, `queue s0->s1`
    pub what: String,
    /// `Gb/s` or `KB`
    pub unit: &'static str,
    #[serde(flatten)]
    pub of: Pair<f64>,
    /// Whether it must be near.
    pub judged: bool,
}

impl Mean {
    /// How far ours is above theirs, as a part of theirs; none if both are nothing.
    pub fn difference(&self) -> f64 {
        if self.of.ours == self.of.theirs { 0.0 } else { self.of.difference() }
    }

    pub fn bound(&self) -> Option<Bound> {
        self.judged.then(|| apart(format!("mean {}", self.what), self.difference(), MEAN))
    }
}

/// What their traces say.
#[derive(Debug, Default)]
pub struct Traces {
    /// Ports in our numbers with the mean of their samples.
    queues: Vec<(u32, f64)>,
    samples: f64,
    until: Time,
    /// Size and mean rate of each flow.
    rates: HashMap<FlowKey, (u64, f64)>,
    /// CNPs that meant something to a sender: to which flow, and how long after its end if it had ended.
    notified: Vec<(FlowKey, u64)>,
}

/// Sums of our run.
#[derive(Debug, Default)]
pub struct OurTraces {
    /// Sum and number of samples, by port.
    queues: HashMap<u32, (f64, f64)>,
    /// Size and mean rate by number of a flow.
    rates: HashMap<u32, (f64, f64)>,
    /// Its name, and how long after its end the sender knew of it and forgot it.
    flows: HashMap<u32, (FlowKey, u64)>,
    notified: usize,
}

/// Reads a run's folder.
pub fn case(folder: &Path, name: String, sets: &[String]) -> Result<Case> {
    let scenario = Scenario::open(&folder.join("config.txt")).map_err(|error| vec![error])?;
    let files = xoff_scenario::files::Files::in_folder(folder);
    let imported = tcd::import(scenario.source(), &files, None)?;
    let sets: Vec<String> = sets.iter().cloned().chain(["traffic.0.probe=true".to_owned()]).collect();
    let mut loaded = imported.scenario().load(&Options { sets, ..Options::default() })?;
    let plan = Arc::make_mut(&mut loaded.plan);
    (plan.run.record_pauses, plan.run.record_pfc_frames) = (false, true);
    let list = imported.files.first().map_or("", |file| file.source.text.as_str());
    let read = || -> std::result::Result<_, Diagnostic> {
        let theirs = Theirs::read_by(folder, plan, |source| flows(source, plan, list))?;
        let traces = Traces::read(folder, &name, plan, &theirs)?;
        Ok((theirs, traces))
    };
    let (theirs, traces) = read().map_err(|error| vec![error])?;
    traces.probe(plan);
    // Marks are drawn between two thresholds, and applications hand over their packets with some jitter.
    Ok(Case {
        name,
        loaded,
        theirs,
        queue: None,
        traces: Some(traces),
        totals: None,
        random: true,
        promised: Promised::Near,
        ends: super::htsim::Ends::default(),
    })
}

/// The lines of `fct.txt`: `src dst payload_bytes start fct base`, the last of which means nothing here.
fn flows(source: &Arc<Source>, plan: &Plan, list: &str) -> std::result::Result<Vec<FctLine>, Diagnostic> {
    let wrong = |line: usize, what: &str| Place::line(source, line).error(what);
    let mut listed = HashMap::new();
    for line in list.lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        let [src, dst, size, start, src_port, dst_port, ..] = words[..] else { continue };
        let node = |name: &str| name.trim_start_matches('h').parse::<u32>().ok();
        let number = |text: &str| text.parse::<u64>().ok();
        let ports = src_port.parse::<u16>().ok().zip(dst_port.parse::<u16>().ok());
        if let (Some(src), Some(dst), Some(size), Some(start), Some(ports)) =
            (node(src), node(dst), number(size), number(start), ports)
        {
            // Flows of one pair, start and size are in the order in which they will end.
            listed.entry((src, dst, start, size)).or_insert_with(Vec::new).push(ports);
        }
    }
    let mut flows = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let numbers: Option<Vec<u64>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let Some([src, dst, size_bytes, start_ns, fct_ns, _]) = numbers.as_deref() else {
            return Err(wrong(index + 1, "six whole numbers are needed").help("src dst bytes start_ns fct_ns base"));
        };
        let (size_bytes, start_ns, fct_ns) = (*size_bytes, *start_ns, *fct_ns);
        let (src, dst): (u32, u32) = (*src as u32, *dst as u32);
        let of = listed.get_mut(&(src, dst, start_ns, size_bytes)).filter(|ports| !ports.is_empty());
        let Some((src_port, dst_port)) = of.map(|ports| ports.remove(0)) else {
            return Err(wrong(index + 1, "this flow is not in the run's list of flows"));
        };
        if fct_ns == 0 || start_ns.checked_add(fct_ns).is_none_or(|end| end > u64::MAX / 1000) {
            return Err(wrong(index + 1, "this is not how long a flow takes"));
        }
        // What the sender's own link needs for the payload: the same measure for both.
        let line_bps = (0..plan.ports() as u32).find(|port| plan.node_of(*port) == src);
        let line_bps = line_bps.map_or(1, |port| plan.direction(port).rate.bps());
        let standalone_ns = (8e9 * size_bytes as f64 / line_bps as f64).ceil() as u64;
        flows.push(FctLine {
            src,
            dst,
            src_port,
            dst_port,
            size_bytes,
            start_ns,
            fct_ns,
            standalone_ns: standalone_ns.max(1),
        });
    }
    if flows.is_empty() {
        return Err(Diagnostic::new(format!("`{}` has no flows", source.name)).label("there is nothing to compare"));
    }
    Ok(flows)
}

impl Traces {
    fn read(folder: &Path, name: &str, plan: &Plan, theirs: &Theirs) -> std::result::Result<Traces, Diagnostic> {
        let mut traces = Traces::default();
        if let Some(source) = open_traced(folder, "rate_trace.txt")? {
            traces.read_rates(&source, plan, theirs)?;
        }
        let ports = ports_of(folder, name, plan);
        if let (Some(source), false) = (open_traced(folder, "qlen_trace.txt")?, ports.is_empty()) {
            let mut sums = vec![0u64; ports.len()];
            let mut count = 0u64;
            for (index, line) in source.text.lines().enumerate() {
                let numbers: Option<Vec<u64>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
                let row = numbers.as_deref().and_then(<[u64]>::split_first).filter(|row| row.1.len() == ports.len());
                let Some((at, row)) = row.filter(|(at, _)| **at <= u64::MAX / 1000) else {
                    let error = Place::line(&source, index + 1).error("this is not a time and the bytes at each port");
                    return Err(error.label(format!("{} ports", ports.len())));
                };
                sums.iter_mut().zip(row).for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
                (count, traces.until) = (count + 1, Time::from_ns(*at));
            }
            let mean = |sum: u64| sum as f64 / count.max(1) as f64;
            traces.samples = count as f64;
            traces.queues = ports.into_iter().zip(sums.into_iter().map(mean)).collect();
        }
        Ok(traces)
    }

    /// `time node flow why rate target alpha`: flows of a node are counted from 1 in the order of their starts, and
    /// why is C (cut), U (hold) or I (increase).
    fn read_rates(
        &mut self,
        source: &Arc<Source>,
        plan: &Plan,
        theirs: &Theirs,
    ) -> std::result::Result<(), Diagnostic> {
        let mut of_node: HashMap<u32, Vec<&FctLine>> = HashMap::new();
        for flow in &theirs.flows {
            of_node.entry(flow.src).or_default().push(flow);
        }
        of_node.values_mut().for_each(|flows| flows.sort_by_key(|flow| (flow.start_ns, flow.src_port)));
        let line = |node: u32| (0..plan.ports() as u32).find(|port| plan.node_of(*port) == node);
        let line_bps = |node: u32| line(node).map_or(0.0, |port| plan.direction(port).rate.bps() as f64);
        // Since when a flow has which rate, and bits so far.
        let mut now: HashMap<FlowKey, (u64, f64, f64)> = HashMap::new();
        for (index, text) in source.text.lines().enumerate() {
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            let fields = || {
                let [at, node, flow, why, rate, _, _] = words[..] else { return None };
                Some((at.parse().ok()?, node.parse().ok()?, flow.parse().ok()?, why, rate.parse().ok()?))
            };
            let fields: Option<(u64, u32, usize, &str, f64)> = fields();
            let Some((at, node, flow, why, rate)) = fields else {
                let error = Place::line(source, index + 1).error("this is not a change of a rate");
                return Err(error.help("time node flow why rate target alpha"));
            };
            let of = flow.checked_sub(1).and_then(|place| of_node.get(&node)?.get(place).copied());
            // A flow that does not end in theirs has no place among them.
            let Some(flow) = of else { continue };
            let begun = now.contains_key(&key(flow));
            let entry = now.entry(key(flow)).or_insert((flow.start_ns, line_bps(node), 0.0));
            let until = at.clamp(entry.0, flow.end_ns());
            entry.2 += entry.1 * (until - entry.0) as f64;
            (entry.0, entry.1) = (until, rate);
            // What answers a flow's first packet has no kind, and its sender does nothing.
            if why == "C" || (why == "U" && begun) {
                self.notified.push((key(flow), at.saturating_sub(flow.end_ns())));
            }
        }
        for flow in &theirs.flows {
            let (since, rate, bits) = now.get(&key(flow)).copied().unwrap_or((flow.start_ns, line_bps(flow.src), 0.0));
            let bits = bits + rate * (flow.end_ns() - since) as f64;
            self.rates.insert(key(flow), (flow.size_bytes, bits / flow.fct_ns as f64));
        }
        Ok(())
    }

    /// Makes our run sample the same.
    fn probe(&self, plan: &mut Plan) {
        // The sources that have flows begin with the first of them; before that there is nothing.
        let from = Time::from_ns(2_000_000_000);
        for &(port, _) in &self.queues {
            for class in 0..plan.classes.list.len() as u8 {
                let what = ProbeTarget::Queue { port, class };
                plan.probes.push(Probe { what, every: EVERY, from, until: self.until });
            }
        }
        if !self.rates.is_empty() {
            let until = plan.run.stop;
            plan.probes.push(Probe { what: ProbeTarget::Flows, every: EVERY, from, until });
        }
    }

    /// Means of theirs and ours.
    pub fn compare(&self, plan: &Plan, ours: &OurTraces) -> Vec<Mean> {
        let mut means = Vec::new();
        let mean = |(sum, count): (f64, f64)| if count > 0.0 { sum / count } else { 0.0 };
        let by_key: HashMap<FlowKey, f64> = ours
            .flows
            .iter()
            .filter_map(|(id, (key, _))| Some((*key, ours.rates.get(id).copied().map(mean)?)))
            .collect();
        let mut flows: Vec<_> =
            self.rates.iter().filter_map(|(key, theirs)| Some((*key, *theirs, *by_key.get(key)?))).collect();
        flows.sort_unstable_by_key(|flow| flow.0);
        let gbps = |theirs: f64, ours: f64| Pair { theirs: theirs / 1e9, ours: ours / 1e9 };
        for &((src, dst, ..), (size, theirs), ours) in flows.iter().filter(|flow| flow.1.0 > LONG_BYTES) {
            let what = format!("rate of {src} to {dst}, {} MB", size / 1_000_000);
            means.push(Mean { what, unit: "Gb/s", of: gbps(theirs, ours), judged: true });
        }
        let short: Vec<_> = flows.iter().filter(|flow| flow.1.0 <= LONG_BYTES).collect();
        if !short.is_empty() {
            let count = short.len() as f64;
            let theirs = short.iter().map(|flow| flow.1.1).sum::<f64>() / count;
            let ours = short.iter().map(|flow| flow.2).sum::<f64>() / count;
            let what = format!("rate of {} flows up to 1 MB", short.len());
            means.push(Mean { what, unit: "Gb/s", of: gbps(theirs, ours), judged: true });
        }
        for &(port, theirs) in &self.queues {
            // Classes add up, and a finished run has no more samples.
            let (sum, _) = ours.queues.get(&port).copied().unwrap_or_default();
            let ours = sum / self.samples.max(1.0);
            let what = format!("queue {}", plan.port_name(port));
            let of = Pair { theirs: theirs / 1e3, ours: ours / 1e3 };
            means.push(Mean { what, unit: "KB", of, judged: theirs >= JUDGED_BYTES });
        }
        if !self.notified.is_empty() {
            // There, polls never end; here a sender whose flow has ended receives no more of them.
            let lifetimes: HashMap<FlowKey, u64> = ours.flows.values().copied().collect();
            let received = |(key, late): &&(FlowKey, u64)| lifetimes.get(key).is_some_and(|life| late <= life);
            let theirs = self.notified.iter().filter(received).count() as f64;
            let of = Pair { theirs, ours: ours.notified as f64 };
            means.push(Mean { what: "number of CNPs".to_owned(), unit: "", of, judged: theirs > 0.0 });
        }
        means
    }
}

impl OurTraces {
    pub fn take(&mut self, samples: &[Sample]) {
        for sample in samples {
            let sums = match sample.metric {
                Metric::QueueBytes => &mut self.queues,
                Metric::FlowRate => &mut self.rates,
                _ => continue,
            };
            let sum = sums.entry(sample.entity).or_default();
            *sum = (sum.0 + sample.value, sum.1 + 1.0);
        }
    }

    pub fn know(&mut self, flow: &FlowRecord) {
        let known = flow.acked_at.zip(flow.delivered_at).map(|(known, end)| known.saturating_since(end).ps() / 1000);
        let key = (flow.src, flow.dst, flow.ports.0, flow.ports.1);
        self.flows.insert(flow.id, (key, known.unwrap_or(0)));
        self.notified += flow.notifications as usize;
    }
}

/// The ports that `README.md` beside the runs says a run's queues were sampled at.
fn ports_of(folder: &Path, name: &str, plan: &Plan) -> Vec<u32> {
    let above = folder.parent().and_then(Path::parent).unwrap_or(folder);
    let text = read_file(&above.join("README.md"), 16_000_000).unwrap_or_default();
    ports_in(&text, name, plan)
}

fn ports_in(text: &str, name: &str, plan: &Plan) -> Vec<u32> {
    let row = |line: &str| -> Option<String> {
        let (runs, what) = line.trim().strip_prefix('|')?.split_once('|')?;
        let named = groups(runs.trim()).iter().flatten().any(|run| run == name);
        let ports = what.split_once("queues of ports ")?.1;
        named.then(|| ports.to_owned())
    };
    let Some(ports) = text.lines().find_map(row) else { return Vec::new() };
    let port = |word: &str| {
        let (node, number) = word.trim_end_matches(['.', '|']).split_once(':')?;
        port_at(plan, node.parse().ok()?, number.parse().ok()?)
    };
    ports.split_ascii_whitespace().map_while(port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::BitRate;
    use xoff_results::fixture;

    const LIST: &str = "src,dst,size_bytes,start_ns,src_port,dst_port\nh0,h4,976,2000000000,10000,100\n\
                        h0,h4,2000000,2000000500,10001,100\n";
    const FCT: &str = "0 4 2000000 2000000500 1000 7\n0 4 976 2000000000 400 7\n";

    /// Hosts have links of 40 Gb/s.
    fn plan() -> Plan {
        let mut plan = fixture::plan();
        for link in &mut plan.links {
            (link.a_to_b.rate, link.b_to_a.rate) = (BitRate::from_gbps(40), BitRate::from_gbps(40));
        }
        plan
    }

    fn theirs(plan: &Plan) -> Theirs {
        let fct_source = Source::new("fct.txt", FCT);
        let flows = flows(&fct_source, plan, LIST).unwrap();
        Theirs { flows, fct_source, frames: Vec::new() }
    }

    #[test]
    fn flows_are_found_by_ends_start_and_size() {
        let plan = plan();
        let flows_of = theirs(&plan).flows;
        assert_eq!((key(&flows_of[0]), flows_of[0].fct_ns), ((0, 4, 10_001, 100), 1000));
        // 976 B at 40 Gb/s take 195.2 ns.
        assert_eq!((key(&flows_of[1]), flows_of[1].standalone_ns), ((0, 4, 10_000, 100), 196));
        for (text, message) in [
            ("0 4 976 2000000000 400\n", "six whole numbers"),
            ("0 4 976 2.0 400 7\n", "six whole numbers"),
            ("0 4 977 2000000000 400 7\n", "not in the run's list"),
            ("0 4 976 2000000000 400 7\n0 4 976 2000000000 400 7\n", "not in the run's list"),
            ("0 4 976 2000000000 0 7\n", "how long a flow takes"),
        ] {
            let error = flows(&Source::new("fct.txt", text), &plan, LIST).unwrap_err();
            assert!(error.message.contains(message) && error.line().is_some(), "{text}: {error}");
        }
        assert!(flows(&Source::new("fct.txt", ""), &plan, LIST).unwrap_err().message.contains("has no flows"));
    }

    #[test]
    fn rates_are_means_from_start_to_end() {
        let (plan, mut traces) = (plan(), Traces::default());
        let theirs = theirs(&plan);
        // The second flow of node 0: 40 Gb/s for 400 ns, 20 for 400, 10 for 200, and what comes later does not count.
        // What answers its first packet is no CNP that means anything.
        let text = "2000000700 0 2 U 40000000000 40000000000 0.5\n2000000900 0 2 C 20000000000 40000000000 0.5\n\
                    2000001300 0 2 C 10000000000 20000000000 0.5\n2000001600 0 2 C 5000000000 10000000000 0.5\n\
                    2000001700 0 9 C 5000000000 10000000000 0.5\n";
        traces.read_rates(&Source::new("rate_trace.txt", text), &plan, &theirs).unwrap();
        let (long, short) = ((0, 4, 10_001, 100), (0, 4, 10_000, 100));
        assert_eq!(traces.rates[&long], (2_000_000, 26e9));
        assert_eq!(traces.rates[&short], (976, 40e9), "a flow without a change has its line rate");
        assert_eq!(traces.notified, [(long, 0), (long, 0), (long, 100)]);
        for wrong in ["2000000700 0 2 U 40000000000 40000000000\n", "x 0 2 U 40000000000 40000000000 0.5\n"] {
            let error = traces.read_rates(&Source::new("rate_trace.txt", wrong), &plan, &theirs).unwrap_err();
            assert_eq!(error.line(), Some(1));
        }

        traces.queues = vec![(1, 3000.0), (3, 10.0)];
        traces.samples = 4.0;
        let sample = |metric, entity, value| Sample { at: Time::ZERO, metric, entity, label: 0, class: 0, value };
        let mut ours = OurTraces { notified: 2, ..OurTraces::default() };
        ours.flows = HashMap::from([(7, (long, 50)), (8, (short, 0))]);
        ours.take(&[sample(Metric::FlowRate, 7, 20e9), sample(Metric::FlowRate, 7, 32e9)]);
        ours.take(&[sample(Metric::FlowRate, 8, 44e9), sample(Metric::QueueBytes, 1, 12_600.0)]);
        let means = traces.compare(&plan, &ours);
        let found: Vec<_> = means.iter().map(|mean| (mean.of.theirs, mean.of.ours, mean.judged)).collect();
        // Two CNPs of theirs came before our sender would have forgotten the flow.
        assert_eq!(
            found,
            [(26.0, 26.0, true), (40.0, 44.0, true), (3.0, 3.15, true), (0.01, 0.0, false), (2.0, 2.0, true),]
        );
        let held: Vec<bool> = means.iter().filter_map(|mean| Some(mean.bound()?.held)).collect();
        assert_eq!(held, [true, false, true, true], "5% are within the promise, 10% are not");
    }

    #[test]
    fn the_readme_says_which_ports_were_sampled() {
        let plan = plan();
        let text = "| folder | what |\n|---|---|\n| a_{x,y} | a chain; queues of ports 2:1 2:2 |\n| b | nothing |\n";
        let own = |number| port_at(&plan, 2, number).unwrap();
        assert_eq!(ports_in(text, "a_y", &plan), [own(1), own(2)]);
        assert!(ports_in(text, "b", &plan).is_empty() && ports_in("", "a_x", &plan).is_empty());
    }
}
