//! The topology file: counts, the ids of the switches, then a line for each link.

use super::super::words::{Result, Word, Words, number, shown};
use super::dialect::Dialect;
use super::units;
use crate::{Diagnostic, Place, Source};
use std::collections::HashMap;
use std::sync::Arc;

/// Addresses have 16 bits for the id.
const NODES_LARGEST: u64 = 65_536;
/// That simulator's switches have arrays of this many ports.
const PORTS_LARGEST: usize = 256;

#[derive(Debug)]
pub struct Topology {
    /// Whether a node is a switch, by id.
    pub is_switch: Vec<bool>,
    /// In the order of the file, which numbers the ports.
    pub links: Vec<Link>,
    source: Arc<Source>,
}

#[derive(Clone, Debug)]
pub struct Link {
    pub a: u32,
    pub b: u32,
    pub rate_bps: u64,
    pub delay_ns: u64,
    /// Probability of losing a packet; zero means the configuration's.
    pub loss: f64,
    span: std::ops::Range<usize>,
    /// Where its rate is written.
    rate_span: std::ops::Range<usize>,
}

impl Topology {
    pub fn read(source: &Arc<Source>, dialect: Dialect) -> Result<Topology> {
        let mut words = Words::new(source);
        let (nodes, nodes_word) = words.whole::<u64>("the number of nodes")?;
        let (switches, switches_word) = words.whole::<u64>("the number of switches")?;
        let (mut links, mut links_word) = words.whole::<u64>("the number of links")?;
        if dialect.is_inet() && words.peek().is_some_and(|next| next.line == links_word.line) {
            // The number of racks precedes it in files of the newer simulator, which does not use it.
            (links, links_word) = words.whole::<u64>("the number of links")?;
        }
        let head = words.place_of(&nodes_word, &links_word);
        if !(2..=NODES_LARGEST).contains(&nodes) {
            let error = words.error(&nodes_word, format!("a topology of {nodes} nodes"));
            return Err(error.label(format!("from 2 to {NODES_LARGEST}")));
        }
        if switches == 0 || switches > nodes {
            let error = words.error(&switches_word, format!("{switches} of {nodes} nodes are switches"));
            return Err(error.label("at least one, and no more than there are nodes"));
        }
        let mut is_switch = vec![false; nodes as usize];
        let mut last = links_word;
        for listed in 0..switches {
            let what = format!("the id of switch {} of {switches}", listed + 1);
            let (id, word) = words.whole::<u64>(&what).map_err(|error| {
                error.help(format!("the first line announces {switches} switches; their ids follow it"))
            })?;
            match is_switch.get_mut(id as usize) {
                None => return Err(out_of_range(&words, &word, id, nodes)),
                Some(known) if *known => {
                    let error = words.error(&word, format!("the switch {id} is listed twice"));
                    return Err(error.label(format!("the first line announces {switches} ids of switches")));
                }
                Some(new) => *new = true,
            }
            last = word;
        }
        if words.peek().is_some_and(|next| next.line == last.line) {
            let line = Place::line(source, last.line);
            return Err(line
                .error(format!("the list of switches is not {switches} long"))
                .label(format!("after {switches} ids the line continues"))
                .help(format!(
                    "line {} announces {nodes} nodes, {switches} switches, {links} links",
                    nodes_word.line
                )));
        }
        let mut topology = Topology { is_switch, links: Vec::new(), source: source.clone() };
        for made in 0..links {
            let link = topology.link(&mut words, nodes, dialect).map_err(|error| match words.peek() {
                None => error.help(format!("this would be link {} of the {links} announced", made + 1)),
                Some(_) => error,
            })?;
            topology.links.push(link);
        }
        if let Some(word) = extra_link(&words) {
            let line = Place::line(source, word.line);
            return Err(line
                .error("there are more links than announced")
                .label(format!("link {}", links + 1))
                .help(format!("line {} announces {links}; that simulator would ignore the rest", nodes_word.line)));
        }
        topology.check(&head)?;
        Ok(topology)
    }

    fn link(&self, words: &mut Words<'_>, nodes: u64, dialect: Dialect) -> Result<Link> {
        let (a, first) = words.whole::<u64>("the first end of a link")?;
        let (b, second) = words.whole::<u64>("the second end of a link")?;
        for (id, word) in [(a, &first), (b, &second)] {
            if id >= nodes {
                return Err(out_of_range(words, word, id, nodes));
            }
        }
        let rate_word = words.word("the rate of a link")?;
        let rate_bps = units::rate(rate_word.text).filter(|bps| (1_000_000..=10_000_000_000_000).contains(bps));
        let Some(rate_bps) = rate_bps else {
            let error = words.error(&rate_word, format!("`{}` is not the rate of a link", shown(rate_word.text)));
            return Err(error.label("such as 100Gbps; from 1Mbps to 10Tbps"));
        };
        let delay_word = words.word("the delay of a link")?;
        let Some(delay_ns) = dialect.time(delay_word.text).filter(|ns| *ns <= 10_000_000_000) else {
            let error = words.error(&delay_word, format!("`{}` is not the delay of a link", shown(delay_word.text)));
            return Err(error.label("such as 1000ns or 0.001ms; at most 10s"));
        };
        let loss_word = words.word("the error rate of a link")?;
        let Some(loss) = number(loss_word.text).filter(|loss| *loss <= 1.0) else {
            let error = words.error(&loss_word, format!("`{}` is not an error rate", shown(loss_word.text)));
            return Err(error.label("a probability from 0 to 1"));
        };
        if a == b {
            return Err(words.place_of(&first, &second).error(format!("this links node {a} to itself")));
        }
        if loss_word.line != first.line {
            let error = words.place_of(&first, &loss_word).error("a link goes over the end of its line");
            return Err(error.label("src dst rate delay error_rate on one line"));
        }
        let (span, rate_span) = (first.span.start..loss_word.span.end, rate_word.span);
        Ok(Link { a: a as u32, b: b as u32, rate_bps, delay_ns, loss, span, rate_span })
    }

    pub fn place(&self, link: &Link) -> Place {
        Place { source: self.source.clone(), span: link.span.clone() }
    }

    pub fn rate_place(&self, link: &Link) -> Place {
        Place { source: self.source.clone(), span: link.rate_span.clone() }
    }

    /// What a scenario asks of a network, and that simulator of its own.
    fn check(&self, head: &Place) -> Result<()> {
        let mut degree = vec![0usize; self.is_switch.len()];
        let mut seen: HashMap<(u32, u32), &Link> = HashMap::new();
        for link in &self.links {
            let here = self.place(link);
            if let Some(first) = seen.insert((link.a.min(link.b), link.a.max(link.b)), link) {
                let line = self.place(first).error("").line().unwrap_or(0);
                return Err(here
                    .error(format!("nodes {} and {} are linked twice", link.a, link.b))
                    .label(format!("also on line {line}"))
                    .help(
                        "that simulator routes over the last of parallel links only; give one with their sum of rates",
                    ));
            }
            let is_host = |id: u32| !self.is_switch[id as usize];
            if is_host(link.a) && is_host(link.b) {
                let error = here.error(format!("the hosts {} and {} are linked to each other", link.a, link.b));
                return Err(error.label("a host is linked to a switch").help("switches are listed on line 2"));
            }
            for id in [link.a, link.b] {
                degree[id as usize] += 1;
                if is_host(id) && degree[id as usize] > 1 {
                    return Err(here.error(format!("the host {id} has several links")).label("a host has exactly one"));
                }
                if degree[id as usize] > PORTS_LARGEST {
                    let error = here.error(format!("the switch {id} has more than {PORTS_LARGEST} ports"));
                    return Err(error.label("that simulator's switches have no more"));
                }
            }
        }
        if let Some(id) = degree.iter().position(|links| *links == 0) {
            let what = if self.is_switch[id] { "switch" } else { "host" };
            let error = head.error(format!("the {what} {id} has no link"));
            return Err(error.label(format!("{} nodes are announced", self.is_switch.len())));
        }
        self.connected(head)
    }

    fn connected(&self, head: &Place) -> Result<()> {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); self.is_switch.len()];
        for link in &self.links {
            next[link.a as usize].push(link.b);
            next[link.b as usize].push(link.a);
        }
        let mut reached = vec![false; next.len()];
        let mut todo = vec![0u32];
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut reached[node as usize], true) {
                todo.extend(&next[node as usize]);
            }
        }
        match reached.iter().position(|reached| !reached) {
            None => Ok(()),
            Some(id) => Err(head
                .error(format!("no way leads from node 0 to node {id}"))
                .label("this network is in several pieces")),
        }
    }

    pub fn hosts(&self) -> usize {
        self.is_switch.iter().filter(|is_switch| !**is_switch).count()
    }

    /// The rate of the first host's link: what thresholds of PFC are scaled to.
    pub fn nic_rate_bps(&self) -> u64 {
        let first = self.is_switch.iter().position(|is_switch| !is_switch).unwrap_or(0) as u32;
        self.links.iter().find(|link| link.a == first || link.b == first).map_or(0, |link| link.rate_bps)
    }

    /// What the configuration calls a node, in a scenario.
    pub fn name(&self, id: u32) -> String {
        if self.is_switch[id as usize] { format!("s{id}") } else { format!("h{id}") }
    }

    pub fn link_between(&self, a: u32, b: u32) -> Option<&Link> {
        self.links.iter().find(|link| (link.a, link.b) == (a, b) || (link.a, link.b) == (b, a))
    }
}

fn out_of_range(words: &Words<'_>, word: &Word<'_>, id: u64, nodes: u64) -> Diagnostic {
    words.error(word, format!("there is no node {id}")).label(format!("ids go from 0 to {}", nodes - 1))
}

/// The first of what could be one more link; other text after the last is a legend.
fn extra_link<'a>(words: &Words<'a>) -> Option<Word<'a>> {
    let mut words = words.clone();
    let first = words.next()?;
    let mut fields = vec![first.text];
    while let Some(word) = words.peek().filter(|word| word.line == first.line) {
        words.next();
        fields.push(word.text);
    }
    let [a, b, rate, delay, loss] = fields[..] else { return None };
    let is_link = a.parse::<u64>().is_ok()
        && b.parse::<u64>().is_ok()
        && units::rate(rate).is_some()
        && units::time(delay).is_some()
        && number(loss).is_some();
    is_link.then_some(first)
}
