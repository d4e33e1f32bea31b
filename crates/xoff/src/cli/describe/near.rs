//! The nearest names, where nothing has the name asked for.

use super::entries::{Entry, Rank};
use xoff_scenario::Diagnostic;
use xoff_scenario::diagnostic::near;

/// Several things at once, as they are asked for.
const TOPICS: [&str; 8] = ["results", "scenario", "schemes", "models", "metrics", "workloads", "hpcc", "schema"];
/// Most names in a suggestion.
const NAMED: usize = 3;

pub fn unknown(words: &[&str], path: &[String], all: &[Entry]) -> Diagnostic {
    let names = nearest(path, all);
    let topics = format!("whole topics: {}", TOPICS.join(", "));
    let help = match names.split_last() {
        Some((last, [])) => format!("did you mean {last}? ({topics})"),
        Some((last, others)) => format!("did you mean {} or {last}? ({topics})", others.join(", ")),
        None => match mentions(path, all) {
            told if told.is_empty() => topics,
            told => format!("the word occurs in the description of {} ({topics})", told.join(", ")),
        },
    };
    Diagnostic::new(format!("nothing is called `{}`", words.join(" "))).help(help)
}

/// The nearest names among what belongs to the last word that is known, else among all.
fn nearest(path: &[String], all: &[Entry]) -> Vec<String> {
    let Some((wrong, above)) = path.split_last() else { return Vec::new() };
    for known in (1..=above.len()).rev() {
        let owner = &above[..known];
        let inside: Vec<&Entry> = all.iter().filter(|entry| entry.is_inside(owner)).collect();
        let names = near(wrong, inside.iter().map(|entry| entry.name()), NAMED);
        let addresses: Vec<String> = names
            .iter()
            .filter_map(|name| inside.iter().filter(|entry| entry.name() == *name).min_by_key(|entry| entry.rank))
            .map(|entry| format!("`{}`", entry.address()))
            .collect();
        if !addresses.is_empty() {
            return addresses;
        }
    }
    let names = || all.iter().map(Entry::name).chain(TOPICS);
    let own = near(wrong, names(), NAMED);
    // A first word that is misspelt is as likely as a last one.
    let own = if own.is_empty() { above.iter().flat_map(|word| near(word, names(), 1)).collect() } else { own };
    own.into_iter().map(|name| format!("`{name}`")).collect()
}

/// Entries whose description contains the last word.
fn mentions(path: &[String], all: &[Entry]) -> Vec<String> {
    let Some(word) = path.last().map(|word| word.to_lowercase()) else { return Vec::new() };
    let has = |text: &str| text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|of| of == word);
    let mut told: Vec<&Entry> = all.iter().filter(|entry| entry.rank <= Rank::Member).collect();
    // A key that mentions it says more than the section it is in.
    told.sort_by_key(|entry| std::cmp::Reverse(entry.rank));
    told.retain(|entry| has(&(entry.text)(80)));
    told.iter().take(NAMED).map(|entry| format!("`{}`", entry.address())).collect()
}
