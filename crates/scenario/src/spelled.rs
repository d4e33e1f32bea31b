//! A scheme in one word, as `--schemes` takes it: `NAME[:PRESET][{KEY=VALUE, ...}]`, and `+BASE` of the same form
//! where it works with another.

use super::diagnostic::{Place, Result, Source};
use super::tree::{self, Entry, Item, Value};
use std::ops::Range;
use std::sync::Arc;

/// Parts between `separator`s that stand in no bracket and no quotes; empty ones are left out.
pub fn parts(text: &str, separator: char) -> Vec<&str> {
    let ranges = ranges(text, separator).into_iter().map(|range| &text[range]);
    ranges.filter(|part| !part.trim().is_empty()).collect()
}

fn ranges(text: &str, separator: char) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            c if c == separator && !quoted && depth == 0 => {
                parts.push(start..at);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(start..text.len());
    parts
}

/// A scheme and the one it works with.
pub fn own_and_base(text: &str) -> (&str, Option<&str>) {
    match ranges(text, '+').first().map(|own| own.end).filter(|end| *end < text.len()) {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    }
}

/// The mere name of a scheme, without base, preset and parameters.
pub fn plain_name(text: &str) -> &str {
    text[..text.find([':', '{', '+']).unwrap_or(text.len())].trim()
}

/// The parameters that it sets itself, without those of its base.
pub fn keys(text: &str) -> Vec<&str> {
    let (own, _) = own_and_base(text);
    let inner = own.split_once('{').map_or("", |(_, inner)| inner.trim_end().strip_suffix('}').unwrap_or(inner));
    parts(inner, ',').into_iter().filter_map(|part| part.split_once('=')).map(|(key, _)| key.trim()).collect()
}

/// As it is called in results: without spaces, and without quotes that change nothing.
pub fn label(text: &str) -> String {
    let (own, base) = own_and_base(text.trim());
    let one = |text: &str| {
        // What is not closed is left as it is, to be complained about.
        let closed = text.trim().split_once('{').and_then(|(head, inner)| Some((head, inner.strip_suffix('}')?)));
        let Some((head, inner)) = closed else { return text.trim().to_owned() };
        let pair = |part: &str| match part.split_once('=') {
            Some((key, value)) => format!("{}={}", key.trim(), bare(value.trim())),
            None => part.trim().to_owned(),
        };
        format!("{}{{{}}}", head.trim(), parts(inner, ',').into_iter().map(pair).collect::<Vec<_>>().join(","))
    };
    match base {
        Some(base) => format!("{}+{}", one(own), one(base)),
        None => one(own),
    }
}

/// A text without its quotes, if it is one and reads the same without them.
fn bare(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
    let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    // What begins with a letter or digit and holds a letter is no number; `true` and its like are no texts.
    let text = |inner: &&str| {
        !inner.is_empty()
            && inner.chars().all(plain)
            && inner.parse::<f64>().is_err()
            && inner.starts_with(char::is_alphanumeric)
            && !["true", "false", "null"].contains(inner)
    };
    inner.filter(text).unwrap_or(value)
}

/// What to do about a scheme that is named twice.
pub const TWICE: &str = "a scheme runs once; presets or parameters, as in hpcc{eta=0.9}, tell two of them apart";

/// The keys of `[scheme]` that the scheme spelled at `span` of a source stands for, but for its base.
pub(crate) fn entries(source: &Arc<Source>, span: Range<usize>) -> Result<Vec<Entry>> {
    let place = |span: Range<usize>| Place { source: source.clone(), span };
    let text = &source.text[span.clone()];
    let (head, braces) = match text.find('{') {
        Some(at) => (&text[..at], Some(at)),
        None => (text, None),
    };
    let named = |key: &str, value: &str, at: usize| {
        let lead = value.len() - value.trim_start().len();
        let at = span.start + at + lead;
        let place = place(at..at + value.trim().len());
        let item = Item { value: Value::Text(value.trim().to_owned()), place: place.clone() };
        Entry { key: key.to_owned(), key_place: place, item }
    };
    let mut entries = match head.split_once(':') {
        Some((name, preset)) => vec![named("name", name, 0), named("preset", preset, name.len() + 1)],
        None => vec![named("name", head, 0)],
    };
    let Some(open) = braces else { return Ok(entries) };
    let end = text.trim_end().len();
    if !text[open..end].ends_with('}') || open + 1 == end {
        let error = place(span.start + open..span.start + end).error("`{` is not closed");
        return Err(error.label("parameters stand in braces: hpcc{eta=0.9, max_stage=3}").help(QUOTES));
    }
    for part in ranges(&text[open + 1..end - 1], ',') {
        let from = span.start + open + 1 + part.start;
        let pair = &source.text[from..from + part.len()];
        let whole = place(from..from + part.len());
        let Some((key, _)) = pair.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
            let error = whole.error("a parameter is KEY=VALUE");
            return Err(error.label("such as eta=0.9 or kmin=100KB").help(QUOTES));
        };
        let at = from + (key.len() - key.trim_start().len());
        let key_place = place(at..at + key.trim().len());
        let key_text = key.trim();
        if let "name" | "preset" | "base" = key_text {
            let error = key_place.error(format!("`{key_text}` is no parameter"));
            return Err(error.label("a scheme is NAME:PRESET{KEY=VALUE}+BASE:PRESET{KEY=VALUE}"));
        }
        if entries.iter().any(|entry| entry.key == key_text) {
            return Err(key_place.error(format!("`{key_text}` is set twice")));
        }
        let item = tree::value_at(source, from + key.len() + 1..from + part.len())?;
        entries.push(Entry { key: key_text.to_owned(), key_place, item });
    }
    Ok(entries)
}

/// Commas within braces are not those between schemes, but a shell takes braces for its own.
const QUOTES: &str = "put the list of schemes in single quotes, so that the shell leaves its braces alone";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_outside_of_braces() {
        assert_eq!(
            parts("dcqcn, hpcc{eta=0.9,max_stage=3},,none", ','),
            ["dcqcn", " hpcc{eta=0.9,max_stage=3}", "none"]
        );
        assert_eq!(own_and_base("pcn{a=1e+3}+dcqcn:nic{b=2}"), ("pcn{a=1e+3}", Some("dcqcn:nic{b=2}")));
        assert_eq!(own_and_base("pcn"), ("pcn", None));
        assert_eq!(plain_name("dcqcn:nic{kmin=1KB}+x"), "dcqcn");
        assert_eq!(keys("dcqcn{kmin=1KB, kmax=\"a,b=c\"}+x{y=1}"), ["kmin", "kmax"]);
    }

    #[test]
    fn labels_are_one_for_each_meaning() {
        for same in ["dcqcn:nic{kmin=100KB,pmax=0.1}", " dcqcn:nic { kmin = \"100KB\" , pmax = 0.1 } "] {
            assert_eq!(label(same), "dcqcn:nic{kmin=100KB,pmax=0.1}");
        }
        assert_eq!(label("a+b { c = 1 }"), "a+b{c=1}");
        assert_eq!(label(" a{b=1"), "a{b=1", "what is wrong stays wrong");
        assert_eq!(label("a{b=\"0.1\"}"), "a{b=\"0.1\"}", "a text that looks like a number keeps its quotes");
    }

    #[test]
    fn parameters_are_values_with_places() {
        let source = Source::new("--schemes", "dcqcn:nic{ kmin = 100KB, pmax=0.1 }");
        let entries = entries(&source, 0..source.text.len()).unwrap();
        let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["name", "preset", "kmin", "pmax"]);
        assert!(matches!(&entries[2].item.value, Value::Text(text) if text == "100KB"));
        assert!(matches!(entries[3].item.value, Value::Float(number) if number == 0.1));
        assert_eq!(&source.text[entries[2].key_place.span.clone()], "kmin");
        assert_eq!(&source.text[entries[3].item.place.span.clone()], "0.1");
    }

    #[test]
    fn mistakes_are_told() {
        for (text, why) in [
            ("hpcc{eta=0.9", "not closed"),
            ("hpcc{", "not closed"),
            ("hpcc{eta}", "KEY=VALUE"),
            ("hpcc{}", "KEY=VALUE"),
            ("hpcc{=1}", "KEY=VALUE"),
            ("hpcc{eta=1,eta=2}", "twice"),
            ("hpcc{preset=nic}", "no parameter"),
            ("hpcc{eta=[1}", "not valid TOML"),
        ] {
            let source = Source::new("--schemes", text);
            let error = entries(&source, 0..text.len()).unwrap_err();
            assert!(error.message.contains(why), "{text}: {}", error.message);
            error.render(false);
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "[a-c:{}+=,\"\\[\\] é0-9.]{0,40}") {
            label(&text);
            keys(&text);
            plain_name(&text);
            let source = Source::new("--schemes", text.as_str());
            if let Err(error) = entries(&source, 0..text.len()) {
                error.render(false);
            }
        }
    }
}
