//! The other processes of a run, one for every node: who is there, whether all run the same, when it begins, and what
//! they counted when it is over.
//!
//! Neighbours tell each other, in frames of a type of their own, what they know of all nodes, again and again. So every
//! process learns of every other, though it hears only its neighbours. The process of the lowest node waits until all
//! are there, and names the instant at which the run begins. At the end each tells its byte counts.

use crate::word::{ByteCounts, Entry, Standing, Terms, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use xoff_fabric::plan::{Plan, peer};
use xoff_results::live_timing;

/// Until the run begins, once all are there: enough for the word to reach everybody.
const LEAD: Duration = Duration::from_secs(3);
/// Clocks that are farther apart are worth a warning.
const CLOCKS_APART: Duration = Duration::from_millis(20);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Known {
    Nothing,
    There,
    /// It cannot take part, and why.
    Other(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Nothing but to say what is known again.
    Wait,
    /// To begin at this instant, since the beginning of 1970.
    Begin(Duration),
    Stop(String),
}

/// The partners of one process, as far as it knows them.
pub struct Partners {
    names: Vec<String>,
    /// Ports of this process, with their names and the nodes at their other ends.
    links: Vec<(u32, String, u32)>,
    own: Vec<u32>,
    terms: Terms,
    known: Vec<Known>,
    counts: Vec<Option<ByteCounts>>,
    /// Since the beginning of 1970, in milliseconds.
    begin_ms: Option<u64>,
    /// By port: frames that the other end sent by it, as told at the end.
    sent_to: BTreeMap<u32, u64>,
    /// Ports whose other ends have the counts of all.
    informed: BTreeSet<u32>,
    /// By port: how far the clock at its other end seems to be from this one, at least.
    apart: BTreeMap<u32, Duration>,
}

impl Partners {
    /// Of the process that runs these nodes of a plan.
    pub fn new(plan: &Plan, own: &[u32], terms: Terms) -> Partners {
        let nodes = plan.nodes.len();
        let ports = (0..plan.ports() as u32).filter(|port| own.contains(&plan.node_of(*port)));
        let mut known = vec![Known::Nothing; nodes];
        own.iter().for_each(|node| known[*node as usize] = Known::There);
        Partners {
            names: plan.nodes.iter().map(|node| node.name.clone()).collect(),
            links: ports.map(|port| (port, plan.port_name(port), plan.node_of(peer(port)))).collect(),
            own: own.to_vec(),
            terms,
            known,
            counts: vec![None; nodes],
            begin_ms: None,
            sent_to: BTreeMap::new(),
            informed: BTreeSet::new(),
            apart: BTreeMap::new(),
        }
    }

    pub fn ports(&self) -> impl Iterator<Item = u32> + '_ {
        self.links.iter().map(|(port, _, _)| *port)
    }

    /// Takes in a frame that came to a port, if it is a word of a partner.
    pub fn hear(&mut self, port: u32, frame: &[u8], now: Duration) {
        let Some(word) = Word::read(frame) else { return };
        let Some((_, name, expected)) = self.links.iter().find(|(own, _, _)| *own == port) else { return };
        let expected = *expected as usize;
        if let Some(difference) = self.terms.difference(&word.terms) {
            self.known[expected] = Known::Other(difference);
            return;
        }
        let Some(from) = self.names.get(word.from as usize) else { return };
        if word.from as usize != expected {
            let why = format!("should be at {name}, where {from} is: are cables swapped?");
            self.known[expected] = Known::Other(why);
            return;
        }
        let apart = now.abs_diff(Duration::from_micros(word.said_us));
        let least = self.apart.entry(port).or_insert(apart);
        *least = apart.min(*least);
        self.known[expected] = Known::There;
        self.begin_ms = self.begin_ms.or(word.begin_ms);
        if let Some(sent) = word.sent_frames {
            self.sent_to.insert(port, sent);
        }
        if word.informed {
            self.informed.insert(port);
        }
        for Entry { node, standing } in word.entries {
            let node = node as usize;
            if node >= self.known.len() || self.own.contains(&(node as u32)) {
                continue;
            }
            match standing {
                Standing::There if self.known[node] == Known::Nothing => self.known[node] = Known::There,
                Standing::There => {}
                Standing::Other if !matches!(self.known[node], Known::Other(_)) => {
                    self.known[node] = Known::Other(format!("runs something else, as {from} says"));
                }
                Standing::Other => {}
                Standing::Over(counts) => self.counts[node] = Some(counts),
            }
        }
    }

    /// The frames that say by a port what is known here. `sent_frames`: by this port in the run that is over.
    pub fn say(&self, port: u32, sent_frames: Option<u64>, now: Duration) -> Vec<Vec<u8>> {
        let Some(from) = self.own.first() else { return Vec::new() };
        let standing = |node: usize| match (&self.counts[node], &self.known[node]) {
            (Some(counts), _) => Some(Standing::Over(*counts)),
            (None, Known::There) => Some(Standing::There),
            (None, Known::Other(_)) => Some(Standing::Other),
            (None, Known::Nothing) => None,
        };
        let entries: Vec<Entry> = (0..self.known.len())
            .filter_map(|node| Some(Entry { node: node as u32, standing: standing(node)? }))
            .collect();
        let word = Word {
            from: *from,
            terms: self.terms,
            begin_ms: self.begin_ms,
            said_us: now.as_micros() as u64,
            sent_frames,
            informed: self.counts.iter().all(Option::is_some),
            entries,
        };
        word.frames(port)
    }

    /// What is to be done, when partners have been waited for since `since`, and may be for `patience`.
    pub fn turn(&mut self, now: Duration, since: Duration, patience: Duration) -> Turn {
        let others = self.list(|known| matches!(known, Known::Other(_)));
        if !others.is_empty() {
            let why = |node: &usize| match &self.known[*node] {
                Known::Other(why) => format!("{} {why}", self.names[*node]),
                _ => String::new(),
            };
            let said: Vec<String> = others.iter().map(why).collect();
            return Turn::Stop(format!(
                "{}; hint: all partners need the same scenario, settings, seed and k",
                said.join("; ")
            ));
        }
        if let Some(begin) = self.begin_ms.map(Duration::from_millis) {
            let late = now.saturating_sub(begin);
            if late > Duration::from_millis(100) {
                return Turn::Stop(format!(
                    "the run began {:.1} s ago by the clock of this machine; hint: do the clocks of all agree?",
                    late.as_secs_f64()
                ));
            }
            return Turn::Begin(begin);
        }
        let absent = self.absent();
        if absent.is_empty() {
            let leads = self.own.contains(&0);
            if leads {
                let begin = now + LEAD;
                self.begin_ms = Some(begin.as_millis() as u64);
                return Turn::Begin(Duration::from_millis(begin.as_millis() as u64));
            }
            // Whoever leads has not said when.
        }
        if now.saturating_sub(since) < patience {
            return Turn::Wait;
        }
        let waited = patience.as_secs_f64();
        Turn::Stop(match &absent[..] {
            [] => format!("{} did not say within {waited} s when the run begins", self.names[0]),
            absent => format!(
                "nothing was heard of {} within {waited} s; hint: start all partners within that time (--wait), \
                 and see that the interfaces are those of the cables between them",
                absent.join(", ")
            ),
        })
    }

    fn list(&self, which: impl Fn(&Known) -> bool) -> Vec<usize> {
        (0..self.known.len()).filter(|node| which(&self.known[*node])).collect()
    }

    /// Names of nodes of which nothing was heard.
    pub fn absent(&self) -> Vec<&str> {
        self.list(|known| *known == Known::Nothing).into_iter().map(|node| self.names[node].as_str()).collect()
    }

    /// Neighbours whose clocks do not agree with that of this machine, in words.
    pub fn clocks_apart(&self) -> Vec<String> {
        let far = |(port, apart): (&u32, &Duration)| {
            let (_, _, node) = self.links.iter().find(|(own, _, _)| own == port)?;
            let (name, ms) = (&self.names[*node as usize], apart.as_secs_f64() * 1e3);
            (*apart > CLOCKS_APART).then(|| format!("the clock of {name} is about {ms:.0} ms apart from this one"))
        };
        self.apart.iter().filter_map(far).collect()
    }

    /// The run is over here: what was counted.
    pub fn end(&mut self, counts: ByteCounts) {
        for node in &self.own {
            // The counts are of all nodes of this process: the first node reports them, the others report zero.
            self.counts[*node as usize] = Some(ByteCounts::default());
        }
        if let Some(first) = self.own.first() {
            self.counts[*first as usize] = Some(counts);
        }
    }

    /// Whether the counts of all nodes are here and at the neighbours.
    pub fn is_closed(&self) -> bool {
        self.counts.iter().all(Option::is_some) && self.ports().all(|port| self.informed.contains(&port))
    }

    /// What all partners counted together. `believed`: by port, frames that came and were taken for those of the run.
    pub fn account(&self, believed: impl Fn(u32) -> u64) -> live_timing::Partners {
        let missing = (0..self.counts.len()).filter(|node| self.counts[*node].is_none());
        let all = || self.counts.iter().flatten();
        let (mut silent, mut unaccounted) = (Vec::new(), 0);
        for (port, name, _) in &self.links {
            let (came, sent) = (believed(*port), self.sent_to.get(port).copied());
            unaccounted += came.saturating_sub(sent.unwrap_or(u64::MAX));
            if came == 0 && sent.is_some_and(|sent| sent > 0) {
                silent.push(name.clone());
            }
        }
        live_timing::Partners {
            missing: missing.map(|node| self.names[node].clone()).collect(),
            silent,
            unaccounted,
            acknowledged_bytes: all().map(|counts| counts.acknowledged_bytes).sum(),
            open_bytes: all().map(|counts| counts.open_bytes).fold(0, u64::saturating_add),
            delivered_bytes: all().map(|counts| counts.delivered_bytes).sum(),
        }
    }
}

#[cfg(test)]
mod tests;
