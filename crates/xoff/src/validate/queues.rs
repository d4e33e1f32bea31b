//! Egress queues, where the other simulator sampled them: `qlen.txt`, plain or compressed.
//!
//! Every 100 ns it counts, per switch port, how many thousand bytes wait; now and then it writes all
//! counts so far. The last of them, of the port that was longest, is held against a probe of ours.

use super::compare::Pair;
use flate2::read::GzDecoder;
use serde::Serialize;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{NodeKind, Plan, Probe, ProbeTarget};
use xoff_fabric::record::Sample;
use xoff_scenario::read;
use xoff_scenario::{Diagnostic, Place, Source};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Unpacked.
const LARGEST_BYTES: u64 = 1_000_000_000;
const EVERY: Span = Span::from_ns(100);
const BIN_BYTES: f64 = 1000.0;

/// What they counted at one port.
#[derive(Clone, PartialEq, Debug)]
pub struct TheirQueue {
    pub node: u32,
    /// From 1 on.
    pub port: u32,
    /// Samples with so many thousand bytes.
    bins: Vec<u64>,
    from: Time,
    until: Time,
}

/// A queue of both; of samples in which at least 1000 bytes waited, since most of the time none do.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct QueuesSeen {
    pub port: String,
    /// For how long at least 1000 bytes waited.
    pub busy_us: Pair<f64>,
    /// In thousand bytes, rounded down.
    pub p50_kb: Pair<u64>,
    pub p99_kb: Pair<u64>,
    pub max_kb: Pair<u64>,
}

/// The longest queue of a run's folder, sampled from `from_ns` to `until_ns`; `None` if nothing was.
pub fn read(folder: &Path, plan: &Plan, from_ns: u64, until_ns: u64) -> Result<Option<TheirQueue>> {
    let Some(source) = open(folder)? else { return Ok(None) };
    let mut written_ns = None;
    let mut longest: Option<TheirQueue> = None;
    for (index, line) in source.text.lines().enumerate() {
        let wrong = |what: &str| Place::line(&source, index + 1).error(what);
        if let Some(time) = line.strip_prefix("time:") {
            let time = time.trim().parse::<u64>().map_err(|_| wrong("this is no time in ns"))?;
            // Counts are cumulative: the last is the total.
            (written_ns, longest) = (Some(time), None);
            continue;
        }
        let Some(written_ns) = written_ns else { return Err(wrong("`time: ns` must come first")) };
        let numbers: Option<Vec<u64>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let Some([node, port, bins @ ..]) = numbers.as_deref() else {
            return Err(wrong("this is not `switch port count count ...`"));
        };
        let is_switch = |node: u64| plan.nodes.get(node as usize).is_some_and(|node| node.kind == NodeKind::Switch);
        if !is_switch(*node) || port_at(plan, *node as u32, *port).is_none() {
            return Err(wrong("this is no port of a switch of the network"));
        }
        if longest.as_ref().is_none_or(|known| known.bins.len() < bins.len()) {
            longest = Some(TheirQueue {
                node: *node as u32,
                port: *port as u32,
                bins: bins.to_vec(),
                from: Time::from_ns(from_ns),
                until: Time::from_ns(until_ns.min(written_ns)),
            });
        }
    }
    Ok(longest.filter(|queue| queue.bins.len() > 1))
}

fn open(folder: &Path) -> Result<Option<Arc<Source>>> {
    open_traced(folder, "qlen.txt")
}

/// A file of a run's folder, as it is or compressed; `None` if it is not there.
pub(super) fn open_traced(folder: &Path, name: &str) -> Result<Option<Arc<Source>>> {
    let (packed, plain) = (folder.join(format!("{name}.gz")), folder.join(name));
    let path = if packed.exists() { packed } else { plain };
    if !path.exists() {
        return Ok(None);
    }
    let read = || -> io::Result<String> {
        let (file, _) = read::open(&path).map_err(io::Error::other)?;
        let packed = path.extension().is_some_and(|extension| extension == "gz");
        let from: Box<dyn Read> = if packed { Box::new(GzDecoder::new(file)) } else { file };
        let mut text = String::new();
        from.take(LARGEST_BYTES + 1).read_to_string(&mut text)?;
        if text.len() as u64 > LARGEST_BYTES { Err(io::Error::other("it has more than 1GB")) } else { Ok(text) }
    };
    let refuse = |why: io::Error| Diagnostic::new(format!("cannot read `{}`", path.display())).label(why.to_string());
    Ok(Some(Source::new(path.display().to_string(), read().map_err(refuse)?)))
}

/// Our number of a node's port.
pub(super) fn port_at(plan: &Plan, node: u32, number: u64) -> Option<u32> {
    let own = (0..plan.ports() as u32).filter(|port| plan.node_of(*port) == node);
    own.zip(1..).find(|(_, at)| *at == number).map(|(port, _)| port)
}

impl TheirQueue {
    /// Makes our run sample the same port at the same times.
    pub fn probe(&self, plan: &mut Plan) {
        let Some(port) = port_at(plan, self.node, self.port.into()) else { return };
        for class in 0..plan.classes.list.len() as u8 {
            let what = ProbeTarget::Queue { port, class };
            plan.probes.push(Probe { what, every: EVERY, from: self.from, until: self.until });
        }
    }

    pub fn compare(&self, plan: &Plan, ours: &OurQueue) -> QueuesSeen {
        let both = |of: fn(&[u64]) -> u64| Pair { theirs: of(&self.bins), ours: of(&ours.bins) };
        let busy = |bins: &[u64]| bins.iter().skip(1).map(|count| *count as f64).sum::<f64>() * EVERY.as_us();
        QueuesSeen {
            port: port_at(plan, self.node, self.port.into()).map_or_else(String::new, |port| plan.port_name(port)),
            busy_us: Pair { theirs: busy(&self.bins), ours: busy(&ours.bins) },
            p50_kb: both(|bins| at(bins, 50)),
            p99_kb: both(|bins| at(bins, 99)),
            max_kb: both(|bins| bins.iter().rposition(|count| *count > 0).unwrap_or(0) as u64),
        }
    }
}

/// A percentile of the samples in the bins from the second on.
fn at(bins: &[u64], percent: u128) -> u64 {
    let all: u128 = bins.iter().skip(1).copied().map(u128::from).sum();
    let rank = (all * percent).div_ceil(100);
    let mut seen = 0;
    let reached = |count: &u64| {
        seen += u128::from(*count);
        seen >= rank
    };
    let found = bins.iter().skip(1).position(reached).unwrap_or(0);
    if all == 0 { 0 } else { found as u64 + 1 }
}

/// What our probes counted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OurQueue {
    bins: Vec<u64>,
    /// The instant that is being added up: a sample for each class.
    at: Option<Time>,
    bytes: f64,
}

impl OurQueue {
    pub fn take(&mut self, samples: &[Sample]) {
        for sample in samples {
            if self.at != Some(sample.at) {
                self.count();
                self.at = Some(sample.at);
            }
            self.bytes += sample.value;
        }
    }

    /// Counts the instant that has been added up.
    pub fn count(&mut self) {
        if self.at.take().is_some() {
            let bin = (self.bytes / BIN_BYTES) as usize;
            if self.bins.len() <= bin {
                self.bins.resize(bin + 1, 0);
            }
            self.bins[bin] += 1;
            self.bytes = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use xoff_fabric::record::Metric;
    use xoff_results::directory::scratch::Scratch;
    use xoff_results::fixture;

    const TEXT: &str = "time: 2000000000\n2 1 1\n2 2 1 9\ntime: 2100000000\n2 1 90 5 0 4 1\n2 2 100\n3 4 99 1\n";

    #[test]
    fn the_longest_queue_of_the_last_counts_is_compared() {
        let (scratch, plan) = (Scratch::new("qlen"), fixture::plan());
        assert_eq!(read(&scratch.0, &plan, 0, 0).unwrap(), None);
        std::fs::write(scratch.0.join("qlen.txt"), TEXT).unwrap();
        let plain = read(&scratch.0, &plan, 2_000_000_000, 2_200_000_000).unwrap().unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(TEXT.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        std::fs::write(scratch.0.join("qlen.txt.gz"), &packed).unwrap();
        let theirs = read(&scratch.0, &plan, 2_000_000_000, 2_200_000_000).unwrap().unwrap();
        assert_eq!(theirs, plain);
        assert_eq!((theirs.node, theirs.port, theirs.until), (2, 1, Time::from_ns(2_100_000_000)));

        let mut probed = plan.clone();
        theirs.probe(&mut probed);
        // One for each class.
        assert_eq!(probed.probes.len(), 2);
        assert_eq!(probed.probes[0].what, ProbeTarget::Queue { port: 1, class: 0 });
        let mut ours = OurQueue::default();
        let sample = |at: u64, value: f64| Sample {
            at: Time::from_ns(100 * at),
            metric: Metric::QueueBytes,
            entity: 1,
            label: 0,
            class: 0,
            value,
        };
        ours.take(&[sample(0, 0.0), sample(0, 0.0), sample(1, 999.0), sample(1, 1.0), sample(2, 500.0)]);
        ours.take(&[sample(2, 5_600.0)]);
        ours.count();
        let seen = theirs.compare(&plan, &ours);
        assert_eq!(seen.port, "s0->h0");
        // Ten samples of theirs: 1 1 1 1 1 3 3 3 3 4; of ours 1 and 6.
        assert_eq!(seen.busy_us, Pair { theirs: 1.0, ours: 0.2 });
        assert_eq!(seen.p50_kb, Pair { theirs: 1, ours: 1 });
        assert_eq!((seen.p99_kb, seen.max_kb), (Pair { theirs: 4, ours: 6 }, Pair { theirs: 4, ours: 6 }));
        assert_eq!(at(&[5], 50), 0);

        std::fs::write(scratch.0.join("qlen.txt.gz"), &packed[..packed.len() / 2]).unwrap();
        assert!(read(&scratch.0, &plan, 0, 1).unwrap_err().render(false).contains("qlen.txt.gz"));
    }

    #[test]
    fn malformed_counts_are_refused_with_their_line() {
        let (scratch, plan) = (Scratch::new("qlen-bad"), fixture::plan());
        let cases = [
            ("2 1 1\n", 1, "must come first"),
            ("time: soon\n", 1, "no time in ns"),
            ("time: 1\n2\n", 2, "not `switch port"),
            ("time: 1\n2 1 x\n", 2, "not `switch port"),
            ("time: 1\n2 1 1\n0 1 1\n", 3, "no port of a switch"),
            ("time: 1\n2 5 1\n", 2, "no port of a switch"),
            ("time: 1\n2 0 1\n", 2, "no port of a switch"),
            ("time: 1\n4294967298 1 1\n", 2, "no port of a switch"),
        ];
        for (text, line, message) in cases {
            std::fs::write(scratch.0.join("qlen.txt"), text).unwrap();
            let error = read(&scratch.0, &plan, 0, 1).unwrap_err();
            assert!(error.line() == Some(line) && error.message.contains(message), "{text}: {error}");
        }
    }
}
