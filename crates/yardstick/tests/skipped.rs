//! Prints, after all other test programs, which checks were skipped and how to have them.

use std::collections::BTreeMap;
use std::io::{Write, stdout};

fn main() {
    // Nextest asks for a list of tests; there is none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let mut by_remedy: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (test, how) in xoff_yardstick::skipped() {
        by_remedy.entry(how).or_default().push(test);
    }
    let line = if by_remedy.is_empty() {
        "No check was skipped.".to_owned()
    } else {
        let count: usize = by_remedy.values().map(Vec::len).sum();
        let remedies = by_remedy.iter().map(|(how, tests)| format!("{} ({how})", tests.join(", ")));
        format!("SKIPPED, {count} checks with other programs: {}", remedies.collect::<Vec<_>>().join("; "))
    };
    writeln!(stdout(), "{line}").expect("standard output is open");
}
