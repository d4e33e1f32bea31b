//! What the flow files of other simulators have in common: a count, then so many lines, each between two hosts.

use super::hpcc::topology::Topology;
use super::words::{Result, Word, Words};
use crate::{Diagnostic, Place, Source};
use std::sync::Arc;

/// A flow file, read word by word.
pub struct FlowList<'a> {
    pub words: Words<'a>,
    pub count: u32,
    source: &'a Arc<Source>,
    count_line: usize,
}

/// The first two words of a line.
pub struct Ends<'a> {
    pub src: u32,
    pub dst: u32,
    pub first: Word<'a>,
    pub second: Word<'a>,
}

impl<'a> FlowList<'a> {
    pub fn open(source: &'a Arc<Source>) -> Result<FlowList<'a>> {
        let mut words = Words::new(source);
        let (count, word) = words.whole::<u32>("the number of flows")?;
        if count == 0 {
            return Err(words.error(&word, "this file lists no flow").label("a scenario needs traffic"));
        }
        Ok(FlowList { words, count, source, count_line: word.line })
    }

    /// Begins the line of a flow; the first is 1.
    pub fn begin(&mut self, number: u32) -> Result<Ends<'a>> {
        let what = format!("flow {number} of {}", self.count);
        let (src, first) = self.words.whole::<u32>(&what).map_err(|error| error.help(self.announced()))?;
        let (dst, second) = self.words.whole::<u32>("the receiver of a flow")?;
        Ok(Ends { src, dst, first, second })
    }

    /// The line must be whole, with these words, and between two hosts.
    pub fn check(&self, ends: &Ends<'_>, last: &Word<'_>, form: &str, topology: &Topology) -> Result<()> {
        let words = &self.words;
        if last.line != ends.first.line {
            let error = words.place_of(&ends.first, last).error("a flow goes over the end of its line");
            return Err(error.label(format!("{form} on one line")));
        }
        for (id, word) in [(ends.src, &ends.first), (ends.dst, &ends.second)] {
            match topology.is_switch.get(id as usize) {
                None => {
                    let error = words.error(word, format!("there is no node {id}"));
                    return Err(error.label(format!("the topology has 0 to {}", topology.is_switch.len() - 1)));
                }
                Some(true) => {
                    return Err(words.error(word, format!("node {id} is a switch")).label("flows are between hosts"));
                }
                Some(false) => {}
            }
        }
        if ends.src == ends.dst {
            let place = words.place_of(&ends.first, &ends.second);
            return Err(place.error(format!("host {} would send to itself", ends.src)));
        }
        Ok(())
    }

    /// What follows the flows announced is not read; that is worth a warning.
    pub fn finish(self, warnings: &mut Vec<Diagnostic>) {
        if let Some(word) = self.words.peek() {
            let warning =
                Place::line(self.source, word.line).error(format!("what follows flow {} is ignored", self.count));
            warnings.push(warning.label("not read there either").help(self.announced()));
        }
    }

    fn announced(&self) -> String {
        format!("line {} announces {} flows", self.count_line, self.count)
    }
}
