//! In which settings compared runs differ, from their resolved scenarios.

use serde::Serialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Differences {
    pub runs: Vec<String>,
    /// Keys that several runs have, not all with the same value; `-` where a run does not have it.
    pub rows: Vec<(String, Vec<String>)>,
    /// Parameters that one run alone has, as its scheme alone knows them: the run, and its keys with their values.
    pub own: Vec<(String, Vec<(String, String)>)>,
}

impl Differences {
    /// Of runs by name and resolved scenario.
    pub fn of(runs: &[(String, &str)]) -> Differences {
        let flat: Vec<BTreeMap<String, String>> = runs.iter().map(|(_, text)| flat(text)).collect();
        let mut keys: Vec<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut found = Differences { runs: runs.iter().map(|(name, _)| name.clone()).collect(), ..Self::default() };
        let mut own: Vec<Vec<(String, String)>> = vec![Vec::new(); runs.len()];
        for key in keys {
            let values: Vec<Option<&String>> = flat.iter().map(|of| of.get(key)).collect();
            let having: Vec<usize> = (0..values.len()).filter(|at| values[*at].is_some()).collect();
            match &having[..] {
                [only] if runs.len() > 1 && key.starts_with("scheme.") => {
                    own[*only].extend(values[*only].map(|value| (short(key), value.clone())));
                }
                _ if values.iter().all(|value| *value == values[0]) => {}
                _ => {
                    let cells = values.iter().map(|value| value.map_or_else(|| "-".to_owned(), Clone::clone));
                    found.rows.push((key.clone(), cells.collect()));
                }
            }
        }
        found.own = found.runs.iter().cloned().zip(own).filter(|(_, keys)| !keys.is_empty()).collect();
        found
    }

    /// All runs are set alike.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.own.is_empty()
    }
}

fn short(key: &str) -> String {
    key.trim_start_matches("scheme.").to_owned()
}

/// `switch.pfc.xoff` and the like, with their values as people write them. What names the run itself is left out.
fn flat(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Ok(table) = text.parse::<Table>() {
        collect(&Value::Table(table), "", &mut found);
    }
    found.retain(|key, _| !matches!(key.as_str(), "seed" | "scheme.name" | "name" | "description"));
    found
}

fn collect(value: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    let within = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Table(table) => table.iter().for_each(|(name, value)| collect(value, &within(name), found)),
        Value::Array(list) if list.iter().any(Value::is_table) => {
            list.iter().enumerate().for_each(|(index, value)| collect(value, &within(&index.to_string()), found));
        }
        other => {
            found.insert(path.to_owned(), written(other));
        }
    }
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_named() {
        let runs = [
            ("a".to_owned(), "seed = 1\n[scheme]\nname = \"a\"\nkmin = \"5KB\"\nw = 2\n[switch.pfc]\nxoff = \"1KB\"\n"),
            ("b".to_owned(), "seed = 2\n[scheme]\nname = \"b\"\nkmin = \"9KB\"\n[switch.pfc]\nxoff = \"1KB\"\n"),
        ];
        let found = Differences::of(&runs);
        assert_eq!(found.rows, [("scheme.kmin".to_owned(), vec!["5KB".to_owned(), "9KB".to_owned()])]);
        assert_eq!(found.own, [("a".to_owned(), vec![("w".to_owned(), "2".to_owned())])]);
    }

    #[test]
    fn lists_of_tables_are_counted_and_what_is_missing_has_a_dash() {
        let runs = [
            ("a".to_owned(), "[[traffic]]\nsize = 1\n[[traffic]]\nload = [1, 2]\n"),
            ("b".to_owned(), "[[traffic]]\nsize = 1\n"),
        ];
        let found = Differences::of(&runs);
        assert_eq!(found.rows, [("traffic.1.load".to_owned(), vec!["1, 2".to_owned(), "-".to_owned()])]);
        assert!(Differences::of(&runs[..1]).is_empty());
        assert!(Differences::of(&[("x".to_owned(), "not = toml ="), ("y".to_owned(), "")]).is_empty());
    }
}
