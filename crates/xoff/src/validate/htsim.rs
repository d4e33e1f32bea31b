//! Runs of htsim's Ultra Ethernet program: a command line in `args.txt`, and another `fct.txt`.
//!
//! A flow ends with the last cumulative ACK at its sender, at the same picosecond here.

use super::compare::Bound;
use super::promised::Promised;
use super::theirs::{FlowKey, Theirs, key};
use super::{Case, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xoff_fabric::plan::NodeKind;
use xoff_results::export::hpcc::FctLine;
use xoff_scenario::import::{htsim, htsim_run};
use xoff_scenario::reader::read_file;
use xoff_scenario::{Diagnostic, Options, Place, Source};

/// Reads a run's folder.
pub fn case(folder: &Path, name: String, sets: &[String]) -> Result<Case> {
    let open = |path: PathBuf| {
        let text = read_file(&path, htsim::LARGEST_FILE);
        let text = text.map_err(|why| vec![Diagnostic::new(format!("cannot read `{}`", path.display())).label(why)])?;
        Ok::<_, Vec<Diagnostic>>(Source::new(path.display().to_string(), text))
    };
    let arguments = open(folder.join("args.txt"))?;
    let words: Vec<&str> = arguments.text.split_ascii_whitespace().collect();
    let Some([_, matrix]) = words.windows(2).find(|two| two[0] == "-tm").and_then(|two| two.first_chunk::<2>()) else {
        return Err(vec![Place::line(&arguments, 1).error("no connection matrix is named").label("-tm FILE")]);
    };
    let imported = htsim_run::import(&arguments, &open(folder.join(matrix))?, None)?;
    let mut loaded = imported.scenario().load(&Options { sets: sets.to_vec(), ..Options::default() })?;
    Arc::make_mut(&mut loaded.plan).run.record_pauses = false;
    let list = imported.files.first().map_or("", |file| file.source.text.as_str());
    let nodes = (0..).zip(&loaded.plan.nodes).filter(|(_, node)| node.kind == NodeKind::Host);
    let hosts: Vec<u32> = nodes.map(|(node, _)| node).collect();
    let read = |source: &Arc<Source>| flows(source, list, &hosts);
    let theirs = Theirs::read_by(folder, &loaded.plan, read).map_err(|error| vec![error])?;
    let ends = theirs.flows.iter().map(key).zip(ends(&folder.join("fct.txt"))).collect();
    Ok(Case {
        name,
        random: false,
        promised: Promised::Equal,
        ends: Ends(ends),
        loaded,
        theirs,
        queue: None,
        traces: None,
        totals: None,
    })
}

/// When flows end, in picoseconds.
#[derive(Debug, Default)]
pub struct Ends(Vec<(FlowKey, u64)>);

impl Ends {
    /// What is promised of the ends of flows here, if anything is.
    pub fn bound(&self, ours: &HashMap<FlowKey, u64>) -> Option<Bound> {
        let equal = self.0.iter().filter(|(flow, end)| ours.get(flow) == Some(end)).count();
        let all = self.0.len();
        (all > 0).then(|| Bound {
            what: "ends of flows".to_owned(),
            promised: "all at the same picosecond".to_owned(),
            found: format!("{equal} of {all}"),
            held: equal == all,
        })
    }
}

/// The ends of flows in a file that was read before.
fn ends(path: &Path) -> Vec<u64> {
    let text = read_file(path, htsim::LARGEST_FILE).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let us = lines.filter_map(|line| line.split_ascii_whitespace().nth(5)?.parse::<f64>().ok());
    us.map(|us| (us * 1e6).round() as u64).collect()
}

/// The lines of `fct.txt`: sender, receiver, number, bytes, start and end in microseconds, and counts. Connections have
/// odd numbers in the order of the matrix, of which our ports are made.
fn flows(source: &Arc<Source>, list: &str, hosts: &[u32]) -> std::result::Result<Vec<FctLine>, Diagnostic> {
    let mut ports = HashMap::new();
    for (number, line) in list.lines().skip(1).enumerate() {
        if let Some(port) = line.split(',').nth(4).and_then(|port| port.parse::<u16>().ok()) {
            ports.insert(number as u64, port);
        }
    }
    let mut flows = Vec::new();
    for (index, line) in source.text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let wrong = |what: &str| Place::line(source, index + 1).error(what);
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [src, dst, flow, bytes, start, finish, ..] = words[..] else {
            return Err(wrong("six numbers are needed").help("src dst flow_id bytes start_us finish_us"));
        };
        let whole = |word: &str| word.parse::<u64>().map_err(|_| wrong("this is not a whole number").label(word));
        let ns = |word: &str| {
            let us = word.parse::<f64>().ok().filter(|us| (0.0..1e12).contains(us));
            us.map(|us| (us * 1000.0 + 1e-6) as u64).ok_or_else(|| wrong("this is not a time").label(word))
        };
        let (size_bytes, start_ns, end_ns) = (whole(bytes)?, ns(start)?, ns(finish)?);
        let number = whole(flow)?.checked_sub(FIRST_FLOW).map(|number| number / 2);
        let Some(&src_port) = number.and_then(|number| ports.get(&number)) else {
            return Err(wrong("this flow is not in the run's matrix"));
        };
        if end_ns <= start_ns || size_bytes == 0 {
            return Err(wrong("this is not how long a flow takes"));
        }
        let host = |word: &str| {
            let host = hosts.get(whole(word)? as usize).copied();
            host.ok_or_else(|| wrong("there is no such host").label(word))
        };
        flows.push(FctLine {
            src: host(src)?,
            dst: host(dst)?,
            src_port,
            dst_port: DST_PORT,
            size_bytes,
            start_ns,
            fct_ns: end_ns - start_ns,
            // What a line of 100 Gb/s needs for the payload: the same measure for both.
            standalone_ns: (size_bytes * 8).div_ceil(100),
        });
    }
    if flows.is_empty() {
        return Err(Diagnostic::new(format!("`{}` has no flows", source.name)).label("there is nothing to compare"));
    }
    Ok(flows)
}

/// Number of the first connection.
const FIRST_FLOW: u64 = 1_000_000_001;
const DST_PORT: u16 = 4791;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_compared_by_the_picosecond() {
        let ends = Ends(vec![((1, 2, 3, 4), 176_199_520), ((1, 2, 5, 4), 7)]);
        let mut ours = HashMap::from([((1, 2, 3, 4), 176_199_520)]);
        let bound = |ours: &HashMap<_, _>| ends.bound(ours).map(|bound| (bound.held, bound.found));
        assert_eq!(bound(&ours), Some((false, "1 of 2".to_owned())));
        ours.insert((1, 2, 5, 4), 7);
        assert_eq!(bound(&ours), Some((true, "2 of 2".to_owned())));
        assert!(Ends::default().bound(&ours).is_none());
    }

    #[test]
    fn lines_of_their_flows_are_read_or_refused() {
        let list = "src,dst,size_bytes,start_us,src_port,dst_port\nh9,h10,5000,1,1024,4791\nh6,h7,5000,6,1025,4791\n";
        let read = |text: &str| flows(&Source::new("fct.txt", text), list, &(0..16).collect::<Vec<_>>());
        let found = read("# src dst flow_id\n6 7 1000000003 5000 6 11.33024 2 0\n").unwrap();
        assert_eq!((found[0].src_port, found[0].start_ns, found[0].fct_ns), (1025, 6000, 5330));
        for (text, message) in [
            ("", "has no flows"),
            ("6 7 1000000003", "six numbers are needed"),
            ("6 7 1000000009 5000 6 11.3", "not in the run's matrix"),
            ("6 7 1000000003 5000 6 5", "not how long a flow takes"),
            ("6 7 1000000003 5000 soon 5", "not a time"),
        ] {
            assert!(read(text).unwrap_err().render(false).contains(message), "{text}");
        }
    }
}
