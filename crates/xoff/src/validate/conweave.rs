//! Runs of ConWeave's simulator (`cw_*`): what its program prints at the end is compared too.
//!
//! The last line of `summary.txt` is `dropped_ingress N dropped_egress N data_packets_sent N finished ...`, written by
//! who ran the simulator. Without the file only flows and PFC frames are compared.

use super::Result;
use super::compare::Bound;
use std::path::Path;
use xoff_fabric::record::Counters;
use xoff_scenario::reader::read_file;
use xoff_scenario::{Diagnostic, Place, Source};

/// Some lines of statistics.
const LARGEST_BYTES: u64 = 1_000_000;

/// Totals of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Totals {
    /// Packets that switches dropped.
    pub dropped: u64,
    /// Data packets that senders sent, copies included.
    pub sent: u64,
}

impl Totals {
    /// Reads the last line that has them; `None` without the file.
    pub fn read(folder: &Path) -> Result<Option<Totals>> {
        let path = folder.join("summary.txt");
        if !path.exists() {
            return Ok(None);
        }
        let text = read_file(&path, LARGEST_BYTES)
            .map_err(|why| vec![Diagnostic::new(format!("cannot read `{}`", path.display())).label(why)])?;
        let source = Source::new(path.display().to_string(), text);
        let found = source.text.lines().enumerate().filter(|(_, line)| line.contains("dropped_ingress")).last();
        let Some((index, line)) = found else { return Ok(None) };
        of_line(line).map(Some).ok_or_else(|| {
            let error = Place::line(&source, index + 1).error("these are no totals of a run");
            vec![error.label("dropped_ingress N dropped_egress N data_packets_sent N")]
        })
    }

    /// Both must be equal.
    pub fn bounds(&self, ours: &Counters) -> Vec<Bound> {
        let equal = |what: &str, theirs: u64, ours: u64| Bound {
            what: what.to_owned(),
            promised: "equal".to_owned(),
            found: format!("{theirs} and {ours}"),
            held: theirs == ours,
        };
        vec![
            equal("packets dropped", self.dropped, ours.drops_lossless + ours.drops_lossy),
            equal("data packets sent", self.sent, ours.data_packets_sent),
        ]
    }
}

fn of_line(line: &str) -> Option<Totals> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let of = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse::<u64>().ok()
    };
    let dropped = of("dropped_ingress")?.checked_add(of("dropped_egress")?)?;
    Some(Totals { dropped, sent: of("data_packets_sent")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_must_be_equal() {
        let line = "dropped_ingress 3 dropped_egress 500 data_packets_sent 6157 finished 14 of 14";
        let totals = of_line(line).unwrap();
        assert_eq!(totals, Totals { dropped: 503, sent: 6157 });
        assert_eq!(of_line("dropped_ingress 3 dropped_egress x data_packets_sent 1"), None);
        assert_eq!(of_line("dropped_ingress"), None);
        let ours = Counters { drops_lossy: 503, data_packets_sent: 6158, ..Counters::default() };
        let held: Vec<bool> = totals.bounds(&ours).iter().map(|bound| bound.held).collect();
        assert_eq!(held, [true, false]);
    }
}
