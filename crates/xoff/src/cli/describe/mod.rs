//! `xoff describe`: what a word means, whatever it is a word of.

mod entries;
mod near;

use super::{Stop, show};
use crate::{models_text, schemes_text};
use clap::Args;
use entries::{Entry, Rank, entries};
use serde_json::Value;
use xoff_results as results;
use xoff_scenario::measure::page;
use xoff_scenario::{Diagnostic, dictionary};
use xoff_scenario::{import, wrap};

#[derive(Args)]
pub struct DescribeArgs {
    /// What to describe [default: results]
    ///
    /// `results` (columns of the tables), `scenario` (all keys), `schemes`, `models` (theory), `metrics` (what
    /// [[measure]] takes), `hpcc` (keys of the HPCC authors' simulator), `schema` (JSON Schema, for editors); or
    /// any one of them by name: a section such as `traffic` or `switch.pfc`, a key, a value such as `incast`, a scheme,
    /// a parameter such as `dcqcn.kmin`, a metric, a model, a workload, a table, a column such as `flows.fct_us`.
    #[arg(value_name = "WORD", num_args = 0..)]
    words: Vec<String>,
    /// Print JSON and nothing else
    #[arg(long)]
    json: bool,
}

pub fn describe(args: &DescribeArgs) -> Result<(), Stop> {
    let words: Vec<&str> = args.words.iter().map(|word| bare(word)).filter(|word| !word.is_empty()).collect();
    let words = if words.is_empty() { vec!["results"] } else { words };
    if args.json { show(&json(&words)?.to_string()) } else { show(&text(&words, wrap::columns())?) }
}

/// What one word means, in so many columns.
pub(crate) fn of_word(word: &str, width: usize) -> Result<String, Diagnostic> {
    text(&[bare(word)], width)
}

/// A word without what marks it in a file or on the command line: `[[traffic]]`, `--scheme`.
fn bare(word: &str) -> &str {
    word.trim().trim_start_matches('-').trim_matches(['[', ']', '`', '"', '\''])
}

/// Several things at once.
fn whole(word: &str, width: usize) -> Option<String> {
    Some(match word.to_lowercase().as_str() {
        "results" | "columns" | "tables" => results::describe_text(width),
        "scenario" | "scenarios" | "keys" | "sections" => dictionary::describe(width),
        "schemes" => schemes_text::text(xoff_schemes::all(), width),
        "models" => models_text::text(width),
        "metrics" => page::text(width),
        "workloads" => entries::workloads(width),
        // `hpcc` is a scheme too; here, as ever, it is the other simulator's keys.
        "hpcc" => import::page::text(width) + "\nThe scheme of that name: xoff schemes hpcc\n",
        "hpcc-keys" | "import" => import::page::text(width),
        "run.json" | "comparison.json" | "seeds.json" | "metrics.csv" | "numbers.csv" | "cdf.csv" => {
            results::describe_numbers(width)
        }
        "schema" => dictionary::schema::render(),
        _ => return None,
    })
}

fn text(words: &[&str], width: usize) -> Result<String, Diagnostic> {
    if let [word] = words
        && let Some(text) = whole(word, width)
    {
        return Ok(text);
    }
    let path = path(words);
    let all = entries();
    let found = matches(&all, &path);
    if found.is_empty() { Err(near::unknown(words, &path, &all)) } else { Ok(told(&found, width)) }
}

/// The words as the names on the way to what is meant: `switch.pfc.xoff`, `traffic.0.load`, `dcqcn:nic`,
/// `flows.parquet fct_us`. Places in lists and endings of files say nothing.
fn path(words: &[&str]) -> Vec<String> {
    // `fqcn+tcp-newreno` is a scheme with its base.
    let words = words.iter().map(|word| word.split('+').next().unwrap_or(word));
    let names = words.flat_map(|word| word.split(['.', ':', '=', '/', ' ']));
    let names = names.filter(|name| !name.is_empty() && name.parse::<u64>().is_err());
    let mut path: Vec<String> = names.map(str::to_owned).collect();
    if path.len() > 1 {
        path.retain(|name| name != "parquet");
    }
    path
}

/// What is called so: the last name is its own, the others are names of what it belongs to, in their order.
fn matches<'a>(all: &'a [Entry], path: &[String]) -> Vec<&'a Entry> {
    let attempts = [path.to_vec(), singular(path), vec![path.join("_")], extended(path)];
    let find = |path: &Vec<String>| -> Vec<&Entry> { all.iter().filter(|entry| entry.is_called(path)).collect() };
    attempts.iter().map(find).find(|found| !found.is_empty()).unwrap_or_default()
}

fn singular(path: &[String]) -> Vec<String> {
    let mut path = path.to_vec();
    if let Some(last) = path.last_mut()
        && let Some(one) = last.strip_suffix('s')
    {
        *last = one.to_owned();
    }
    path
}

/// What a profile has, the section has that it extends.
fn extended(path: &[String]) -> Vec<String> {
    let extends = |name: &String| dictionary::section(name).map_or("", |section| section.extends());
    path.iter().map(|name| if extends(name).is_empty() { name.clone() } else { extends(name).to_owned() }).collect()
}

/// The first thing that is more than a member of another, else every member; then where else the word occurs.
fn told(found: &[&Entry], width: usize) -> String {
    let rank = found.iter().map(|entry| entry.rank).min().unwrap_or(Rank::Thing);
    let mut shown: Vec<&Entry> = found.iter().copied().filter(|entry| entry.rank == rank).collect();
    if rank == Rank::Thing {
        shown.truncate(1);
        // A key that may be a text or a table is both.
        let both = |entry: &&&Entry| entry.rank == Rank::Member && entry.is_at(shown[0]);
        shown.splice(0..0, found.iter().filter(both).copied().collect::<Vec<_>>());
    }
    if rank == Rank::Kind {
        let both = |entry: &&&Entry| entry.rank == Rank::Member && shown.iter().any(|kind| entry.shares_its_name(kind));
        let keys: Vec<&Entry> = found.iter().filter(both).copied().collect();
        shown.splice(0..0, keys);
    }
    let mut text: String = shown.iter().map(|entry| (entry.text)(width)).collect();
    let mut others: Vec<String> = found
        .iter()
        .filter(|entry| !shown.iter().any(|of| std::ptr::eq(*of, **entry)))
        .map(|entry| entry.address())
        .collect();
    others.dedup();
    if !others.is_empty() {
        let text_end = text.trim_end().len();
        text.truncate(text_end);
        text.push_str("\n\n");
        const MOST: usize = 12;
        let more = if others.len() > MOST { format!(" and {} more", others.len() - MOST) } else { String::new() };
        others.truncate(MOST);
        wrap::paragraph(&mut text, &format!("Also called so: {}{more}.", others.join(", ")), 0, width);
    }
    text
}

fn json(words: &[&str]) -> Result<Value, Diagnostic> {
    Ok(match words {
        ["results"] => results::describe_json(),
        ["scenario"] => dictionary::schema::listing(),
        ["models"] => models_text::json(),
        ["metrics"] => page::json(),
        ["hpcc"] => import::page::json(),
        ["schemes"] => schemes_text::json(xoff_schemes::all()),
        ["scheme" | "schemes", name] => match xoff_schemes::find(name) {
            Some(spec) => schemes_text::json(&[spec]),
            None => return Err(near::unknown(words, &path(words), &entries())),
        },
        ["schema"] => serde_json::from_str(&dictionary::schema::render()).unwrap_or_default(),
        _ => {
            let error = Diagnostic::new(format!("`{}` has no JSON form", words.join(" ")));
            return Err(error.help("with --json: results, scenario, schemes, models, metrics, hpcc, schema"));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Whatever has a name is found by it, alone and by its whole address.
    #[test]
    fn everything_is_found_by_its_name_and_by_its_address() {
        let all = entries();
        // Many have the name of others.
        let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in &all {
            for words in [entry.name().to_owned(), entry.address()] {
                asked.entry(words).or_default().push(entry.address());
            }
        }
        for (words, addresses) in asked {
            let found: Vec<String> = matches(&all, &path(&[&words])).iter().map(|of| of.address()).collect();
            assert!(addresses.iter().all(|of| found.contains(of)), "{words}: {addresses:?} in {found:?}");
        }
    }

    #[test]
    fn no_line_of_any_answer_is_wider_than_the_terminal() {
        for entry in entries() {
            let text = (entry.text)(80);
            assert!(!text.trim().is_empty(), "{}", entry.address());
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", entry.address());
            }
        }
    }
}
