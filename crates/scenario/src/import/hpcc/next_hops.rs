//! `nexthops.txt`, where there is one beside the configuration: the order of equal next hops in a run.
//!
//! That order follows the addresses of objects in memory. Xoff has it descending by number, as it was in every run
//! that has been seen; another would give other paths, so it is refused.

use super::super::words::Result;
use crate::Place;
use crate::files::Files;

/// Written by who ran the simulator, not by the simulator.
const NAME: &str = "nexthops.txt";

/// Reads lines of a switch, a host and next hops.
pub fn check(files: &Files, largest_bytes: u64) -> Result<()> {
    if !files.has(NAME) {
        return Ok(());
    }
    let source = files
        .read(NAME, largest_bytes)
        .map_err(|(why, looked_for)| crate::Diagnostic::new(format!("cannot read `{looked_for}`")).label(why))?;
    for (index, line) in source.text.lines().enumerate() {
        let here = Place::line(&source, index + 1);
        let numbers: Option<Vec<u32>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let Some([_, _, hops @ ..]) = numbers.as_deref().filter(|numbers| numbers.len() > 2) else {
            return Err(here.error("this is not `switch host hop hop ...`"));
        };
        if !hops.is_sorted_by(|before, next| before > next) {
            let error = here.error("these next hops are in another order than Xoff can have");
            return Err(error.label("descending by number").help("flows would take other paths here"));
        }
    }
    Ok(())
}
