//! What the other simulator wrote: `fct.txt` and `pfc.txt`, held against the network they are about.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use xoff_fabric::plan::{NodeKind, Plan};
use xoff_results::export::hpcc::{FctLine, PfcLine, node_of};
use xoff_scenario::reader::read_file;
use xoff_scenario::{Diagnostic, Place, Source};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Some tens of millions of lines.
const LARGEST_BYTES: u64 = 2_000_000_000;

/// What tells flows apart: sender, receiver and both ports.
pub type FlowKey = (u32, u32, u16, u16);

pub fn key(line: &FctLine) -> FlowKey {
    (line.src, line.dst, line.src_port, line.dst_port)
}

/// The results of a run of theirs.
#[derive(Debug)]
pub struct Theirs {
    /// Flows in the order of the file; line `n` is at `n - 1`.
    pub flows: Vec<FctLine>,
    pub fct_source: Arc<Source>,
    pub frames: Vec<PfcLine>,
}

impl Theirs {
    /// Reads both files of a run's folder; without `pfc.txt` there was no PFC.
    pub fn read(folder: &Path, plan: &Plan) -> Result<Theirs> {
        Theirs::read_by(folder, plan, |source| flows(source, &Network::of(plan)))
    }

    /// Reads a folder with another form of `fct.txt`.
    pub(super) fn read_by(
        folder: &Path,
        plan: &Plan,
        flows: impl FnOnce(&Arc<Source>) -> Result<Vec<FctLine>>,
    ) -> Result<Theirs> {
        let network = Network::of(plan);
        let fct_source = open(&folder.join("fct.txt"))?;
        let flows = flows(&fct_source)?;
        let pfc = folder.join("pfc.txt");
        let frames = if pfc.exists() { frames(&open(&pfc)?, &network)? } else { Vec::new() };
        Ok(Theirs { flows, fct_source, frames })
    }

    /// The line of a flow, for a complaint.
    pub fn place(&self, index: usize) -> Place {
        Place::line(&self.fct_source, index + 1)
    }
}

fn open(path: &Path) -> Result<Arc<Source>> {
    let text = read_file(path, LARGEST_BYTES)
        .map_err(|why| Diagnostic::new(format!("cannot read `{}`", path.display())).label(why))?;
    Ok(Source::new(path.display().to_string(), text))
}

/// Kind and number of ports of each node.
struct Network(Vec<(NodeKind, u32)>);

impl Network {
    fn of(plan: &Plan) -> Network {
        let mut nodes: Vec<(NodeKind, u32)> = plan.nodes.iter().map(|node| (node.kind, 0)).collect();
        for port in 0..plan.ports() as u32 {
            nodes[plan.node_of(port) as usize].1 += 1;
        }
        Network(nodes)
    }
}

/// The fields of one line.
struct Fields<'a> {
    source: &'a Arc<Source>,
    words: Vec<&'a str>,
    number: usize,
}

impl<'a> Fields<'a> {
    /// Every line of a file; each must have so many fields.
    fn lines(source: &'a Arc<Source>, form: &'static str) -> impl Iterator<Item = Result<Fields<'a>>> {
        let expected = form.split(' ').count();
        source.text.lines().enumerate().map(move |(index, line)| {
            let fields = Fields { source, words: line.split_ascii_whitespace().collect(), number: index + 1 };
            match fields.words.len() {
                found if found == expected => Ok(fields),
                found => Err(fields.error(format!("{expected} fields are needed, {found} are here")).help(form)),
            }
        })
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Place::line(self.source, self.number).error(message)
    }

    fn wrong(&self, field: usize, what: &str) -> Diagnostic {
        // The words of a line follow each other in its text.
        let line = self.source.line_span(self.number);
        let mut at = line.start;
        let mut span = line.clone();
        for word in &self.words[..=field] {
            at += self.source.text[at..line.end].find(word).unwrap_or(0);
            span = at..at + word.len();
            at = span.end;
        }
        Place { source: self.source.clone(), span }.error(format!("`{}` is not {what}", self.words[field]))
    }

    fn number<T: FromStr>(&self, field: usize, what: &str) -> Result<T> {
        self.words[field].parse().map_err(|_| self.wrong(field, what))
    }

    /// The host whose address this is, in eight hexadecimal digits, or whose number.
    fn host(&self, field: usize, network: &Network) -> Result<u32> {
        let word = self.words[field];
        let address = (word.len() == 8).then(|| u32::from_str_radix(word, 16).ok()).flatten();
        let numbered = (word.len() < 8).then(|| word.parse().ok()).flatten();
        let node = address.and_then(node_of).or(numbered);
        let node = node.ok_or_else(|| self.wrong(field, "an address such as 0b000101, or a number of a node"))?;
        match network.0.get(node as usize) {
            Some((NodeKind::Host, _)) => Ok(node),
            Some(_) => Err(self.wrong(field, "a host's address").label(format!("node {node} is a switch"))),
            None => {
                let nodes = network.0.len();
                Err(self.wrong(field, "an address here").label(format!("node {node} of a network with {nodes}")))
            }
        }
    }
}

fn flows(source: &Arc<Source>, network: &Network) -> Result<Vec<FctLine>> {
    let form = "src_ip dst_ip sport dport size start_ns fct_ns standalone_ns";
    let mut seen: HashMap<FlowKey, usize> = HashMap::new();
    let mut flows = Vec::new();
    for fields in Fields::lines(source, form) {
        let fields = fields?;
        let line = FctLine {
            src: fields.host(0, network)?,
            dst: fields.host(1, network)?,
            src_port: fields.number(2, "a port")?,
            dst_port: fields.number(3, "a port")?,
            size_bytes: fields.number(4, "a number of bytes")?,
            start_ns: fields.number(5, "a time in ns")?,
            fct_ns: fields.number(6, "a time in ns")?,
            standalone_ns: fields.number(7, "a time in ns")?,
        };
        if line.standalone_ns == 0 || line.fct_ns == 0 {
            let field = if line.fct_ns == 0 { 6 } else { 7 };
            return Err(fields.wrong(field, "how long a flow takes"));
        }
        if line.start_ns.checked_add(line.fct_ns).is_none_or(|end| end > u64::MAX / 1000) {
            return Err(fields.wrong(6, "a time that any run reaches"));
        }
        if let Some(first) = seen.insert(key(&line), fields.number) {
            return Err(fields.error("this flow has ended before").label(format!("as line {first} has it")));
        }
        flows.push(line);
    }
    if flows.is_empty() {
        return Err(Diagnostic::new(format!("`{}` has no flows", source.name)).label("there is nothing to compare"));
    }
    Ok(flows)
}

fn frames(source: &Arc<Source>, network: &Network) -> Result<Vec<PfcLine>> {
    let mut frames = Vec::new();
    for fields in Fields::lines(source, "time_ns node node_type port event") {
        let fields = fields?;
        let node: u32 = fields.number(1, "a node's number")?;
        let Some(&(kind, ports)) = network.0.get(node as usize) else {
            return Err(fields.wrong(1, "a node here").label(format!("there are {}", network.0.len())));
        };
        let node_kind: u8 = fields.number(2, "0 (host) or 1 (switch)")?;
        if node_kind != u8::from(kind == NodeKind::Switch) {
            let kind = if kind == NodeKind::Switch { "a switch: 1" } else { "a host: 0" };
            return Err(fields.wrong(2, "what this node is").label(format!("it is {kind}")));
        }
        let port: u32 = fields.number(3, "a port's number")?;
        if !(1..=ports).contains(&port) {
            return Err(fields.wrong(3, "one of its ports").label(format!("they are 1 to {ports}")));
        }
        let event: u8 = fields.number(4, "1 (pause) or 0 (resume)")?;
        if event > 1 {
            return Err(fields.wrong(4, "1 (pause) or 0 (resume)"));
        }
        let at_ns = fields.number(0, "a time in ns")?;
        frames.push(PfcLine { at_ns, node, is_switch: node_kind == 1, port, pause: event == 1 });
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xoff_results::fixture;

    fn fct(text: &str) -> super::Result<Vec<FctLine>> {
        flows(&Source::new("fct.txt", text), &Network::of(&fixture::plan()))
    }

    fn pfc(text: &str) -> super::Result<Vec<PfcLine>> {
        frames(&Source::new("pfc.txt", text), &Network::of(&fixture::plan()))
    }

    #[test]
    fn lines_come_back_as_they_were_written() {
        let text = "0b000001 0b000401 10000 100 64000 2001999999 362854 44014\n\
                    0b000101 0b000401 10000 100 5000 2000000122 12590 12659\n";
        assert_eq!(xoff_results::export::hpcc::text(&fct(text).unwrap()), text);
        // ConWeave's simulator writes numbers of nodes.
        let numbered = text.replace("0b000001", "0").replace("0b000101", "1").replace("0b000401", "4");
        assert_eq!(xoff_results::export::hpcc::text(&fct(&numbered).unwrap()), text);
        let text = "2000026937 0 0 1 1\n2000026990 2 1 4 0\n";
        assert_eq!(xoff_results::export::hpcc::text(&pfc(text).unwrap()), text);
        assert!(pfc("").unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([0-9a-f]{0,9}[ \t]?|0b000001 |18446744073709551615 |é|\r|\n){0,40}") {
            for error in [fct(&text).err(), pfc(&text).err()].into_iter().flatten() {
                let _ = error.render(false);
            }
        }
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_line() {
        let good = "0b000001 0b000401 10000 100 64000 2001999999 362854 44014";
        let cases = [
            ("0b000101 0b000401 10000 100 64000 20019", "8 fields are needed, 6 are here"),
            ("0b000101 0b000401 10000 100 64000 2001999999 362854 44014 1", "9 are here"),
            ("", "0 are here"),
            ("0b0001 0b000401 10000 100 64000 2001999999 362854 44014", "not an address"),
            ("9 4 10000 100 64000 2001999999 362854 44014", "node 9 of a network with 6"),
            ("0c000101 0b000401 10000 100 64000 2001999999 362854 44014", "not an address"),
            ("0b000201 0b000401 10000 100 64000 2001999999 362854 44014", "node 2 is a switch"),
            ("0b000101 0b00ff01 10000 100 64000 2001999999 362854 44014", "network with 6"),
            ("0b000101 0b000401 70000 100 64000 2001999999 362854 44014", "`70000` is not a port"),
            ("0b000101 0b000401 10000 100 -1 2001999999 362854 44014", "not a number of bytes"),
            ("0b000101 0b000401 10000 100 64000 2.0 362854 44014", "`2.0` is not a time"),
            ("0b000101 0b000401 10000 100 64000 2001999999 0 44014", "`0` is not how long"),
            ("0b000101 0b000401 10000 100 64000 2001999999 362854 0", "`0` is not how long"),
            ("0b000101 0b000401 10000 100 64000 18446744073709551615 2 1", "that any run reaches"),
            (good, "as line 1 has it"),
        ];
        for (line, message) in cases {
            let error = fct(&format!("{good}\n{line}\n")).unwrap_err();
            let shown = error.render(false);
            assert!(shown.contains(message) && shown.contains("fct.txt:2:"), "{line}\n{shown}");
        }
        assert!(fct("").unwrap_err().message.contains("has no flows"));
        let cases = [
            ("2000026937 0 0 1", "5 fields are needed"),
            ("soon 0 0 1 1", "`soon` is not a time"),
            ("2000026937 6 0 1 1", "there are 6"),
            ("2000026937 0 1 1 1", "it is a host: 0"),
            ("2000026937 2 0 1 1", "it is a switch: 1"),
            ("2000026937 0 0 2 1", "they are 1 to 1"),
            ("2000026937 2 1 0 1", "they are 1 to 4"),
            ("2000026937 0 0 1 2", "not 1 (pause)"),
        ];
        for (line, message) in cases {
            let shown = pfc(&format!("2000026937 0 0 1 1\n{line}\n")).unwrap_err().render(false);
            assert!(shown.contains(message) && shown.contains("pfc.txt:2:"), "{line}\n{shown}");
        }
    }
}
