//! How long the other simulator took, where it is written down beside its results.
//!
//! `times.csv` (`run,seconds`) is read if it is there; else a Markdown table of `README.md` whose
//! head names runs and CPU seconds. People write several runs into one row there:
//! `a_x / _y` is `a_x` and `a_y`, `a_{x,y}` too, and `a[_p,_q]` is `a`, `a_p` and `a_q`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xoff_scenario::reader::read_file;

/// Seconds by run, and where they are from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// `times.csv`, or the file and the head of the column.
    pub source: String,
    pub seconds: BTreeMap<String, f64>,
}

impl Times {
    /// What some folders say; nothing if they say nothing.
    pub fn of_all(folders: &[PathBuf]) -> Times {
        let mut all = Times::default();
        for of in folders.iter().map(|folder| Times::of(folder)).filter(|of| !of.seconds.is_empty()) {
            let both = [all.source.as_str(), of.source.as_str()].into_iter().filter(|source| !source.is_empty());
            all.source = both.collect::<Vec<_>>().join("; ");
            all.seconds.extend(of.seconds);
        }
        all
    }

    /// What one folder says.
    pub fn of(folder: &Path) -> Times {
        let read = |name: &str| read_file(&folder.join(name), 16_000_000).unwrap_or_default();
        let listed = from_csv(&read("times.csv"));
        if listed.seconds.is_empty() { from_markdown(&read("README.md")) } else { listed }
    }
}

fn from_csv(text: &str) -> Times {
    let row = |line: &str| {
        let (name, seconds) = line.split_once(',')?;
        Some((name.trim().to_owned(), seconds_in(seconds)?))
    };
    Times { source: "times.csv".to_owned(), seconds: text.lines().filter_map(row).collect() }
}

fn seconds_in(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0)
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

/// The first table with a column of runs and one of CPU seconds.
fn from_markdown(text: &str) -> Times {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(head) = cells(line) else { continue };
        let names = head.iter().position(|cell| cell.eq_ignore_ascii_case("run"));
        let column = head.iter().position(|cell| cell.to_lowercase().contains("cpu s"));
        let (Some(names), Some(column)) = (names, column) else { continue };
        let mut seconds = BTreeMap::new();
        for row in lines.by_ref().map_while(cells) {
            if let (Some(runs), Some(values)) = (row.get(names), row.get(column)) {
                seconds.extend(pair(runs, values));
            }
        }
        return Times { source: format!("README.md, \"{}\"", head[column]), seconds };
    }
    Times::default()
}

/// The runs of a row with their seconds: one for all, or as many as there are runs or alternatives.
fn pair(runs: &str, values: &str) -> Vec<(String, f64)> {
    let values: Vec<f64> = values.split('/').map_while(seconds_in).collect();
    let groups = groups(runs);
    let count = groups.len();
    let value = |group: usize| match values.len() {
        1 => values.first().copied(),
        several if several == count => values.get(group).copied(),
        _ => None,
    };
    let named = |(group, names): (usize, Vec<String>)| {
        let seconds = value(group);
        names.into_iter().filter_map(move |name| Some((name, seconds?)))
    };
    groups.into_iter().enumerate().flat_map(named).collect()
}

/// The names of a cell, those that share a value together.
pub(super) fn groups(cell: &str) -> Vec<Vec<String>> {
    let mut listed: Vec<String> = Vec::new();
    for part in outer_parts(cell) {
        // `_y` after `a_x` is `a_y`.
        let whole = match (part.strip_prefix('_'), listed.first()) {
            (Some(tail), Some(first)) => match first.rsplit_once('_') {
                Some((stem, _)) => format!("{stem}_{tail}"),
                None => part.to_owned(),
            },
            _ => part.to_owned(),
        };
        listed.push(whole);
    }
    let alternatives = listed.iter().flat_map(|name| expand(name, '{', '}', false));
    alternatives.map(|name| expand(&name, '[', ']', true)).collect()
}

/// The parts between commas and slashes outside brackets.
fn outer_parts(cell: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0usize, 0);
    for (at, letter) in cell.char_indices() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' | '/' if depth == 0 => {
                parts.push(&cell[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&cell[from..]);
    parts.into_iter().map(|part| part.trim().trim_matches('`')).filter(|part| !part.is_empty()).collect()
}

/// The names that a name with one bracket expands to; `optional`: also without what is in it.
fn expand(name: &str, open: char, close: char, optional: bool) -> Vec<String> {
    let inner = name.split_once(open).and_then(|(stem, rest)| {
        let (inner, tail) = rest.split_once(close)?;
        Some((stem, inner, tail))
    });
    let Some((stem, inner, tail)) = inner else { return vec![name.to_owned()] };
    let bare = optional.then_some("");
    bare.into_iter().chain(inner.split(',').map(str::trim)).map(|word| format!("{stem}{word}{tail}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
Some words | with a bar.

| file | what |
|---|---|
| a | b |

| run | what it is | user CPU s (best of 3) | done |
|---|---|---|---|
| big_one / _two / _three | 3 runs | 82.8 / 69.6 / 79.0 | 1 |
| small_{x,y}_long | 2 | 3.9 / 2.9 | 2 |
| small_{x,y}[_p,_q] | 6 | 0.5 | 2 |
| odd_{x,y,z} | 3 | 1 / 2 | 2 |
| probe_a, `probe_b` | 2 | - | - |

| run | user CPU s |
|---|---|
| later | 7 |
";

    #[test]
    fn a_table_of_a_readme_is_understood() {
        let times = from_markdown(TABLE);
        assert_eq!(times.source, "README.md, \"user CPU s (best of 3)\"");
        let expected = [
            ("big_one", 82.8),
            ("big_three", 79.0),
            ("big_two", 69.6),
            ("small_x", 0.5),
            ("small_x_long", 3.9),
            ("small_x_p", 0.5),
            ("small_x_q", 0.5),
            ("small_y", 0.5),
            ("small_y_long", 2.9),
            ("small_y_p", 0.5),
            ("small_y_q", 0.5),
        ];
        let found: Vec<(&str, f64)> = times.seconds.iter().map(|(name, seconds)| (name.as_str(), *seconds)).collect();
        assert_eq!(found, expected);
        for text in ["", "| run |", "| run | user CPU s |", "| run | user CPU s |\n|---|\n| { | [ |\n| a}{ | 1 |"] {
            let _ = from_markdown(text);
        }
    }

    #[test]
    fn a_list_comes_first() {
        let folder = xoff_results::directory::scratch::Scratch::new("times");
        assert_eq!(Times::of(&folder.0), Times::default());
        std::fs::write(folder.0.join("README.md"), TABLE).unwrap();
        assert_eq!(Times::of(&folder.0).seconds["big_two"], 69.6);
        std::fs::write(folder.0.join("times.csv"), "run,seconds\nbig_two, 5.5\nother,x\n").unwrap();
        let times = Times::of(&folder.0);
        assert_eq!((times.source.as_str(), times.seconds.len(), times.seconds["big_two"]), ("times.csv", 1, 5.5));
    }
}
