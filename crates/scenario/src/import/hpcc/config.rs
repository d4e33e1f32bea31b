//! The configuration: keys with their values, in any order.

use super::super::words::{Result, Word, Words, number, shown};
use super::keys::{DCQCN, DCTCP, Fate, HPCC, KEYS, Key, Kind, PINT, TIMELY, among, find};
use super::units;
use crate::{Diagnostic, Place, Source};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What a configuration says, each value checked for its kind.
#[derive(Debug)]
pub struct Config<'a> {
    source: &'a Arc<Source>,
    /// Those that there are.
    keys: &'static [Key],
    given: Vec<Given<'a>>,
}

/// A key that was written, and its values.
#[derive(Debug)]
struct Given<'a> {
    key: &'static Key,
    word: Word<'a>,
    values: Vec<Word<'a>>,
}

/// Whether a text is such a configuration: its first word is one of the keys.
pub fn recognise(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split_whitespace().next().is_some_and(|word| find(word).is_some())
}

impl<'a> Config<'a> {
    /// Reads all keys; tells all that is wrong with them at once.
    pub fn read(source: &'a Arc<Source>) -> std::result::Result<Config<'a>, Vec<Diagnostic>> {
        Config::of(source, KEYS)
    }

    /// Reads a configuration of a related simulator, which has other keys.
    pub(crate) fn of(
        source: &'a Arc<Source>,
        keys: &'static [Key],
    ) -> std::result::Result<Config<'a>, Vec<Diagnostic>> {
        let mut config = Config { source, keys, given: Vec::new() };
        let mut problems = Vec::new();
        let mut words = Words::new(source);
        while let Some(word) = words.next() {
            let Some(key) = among(keys, word.text) else {
                problems.push(unknown(&words, &word, keys));
                words.skip_line(&word);
                continue;
            };
            match values(&mut words, keys, key, &word) {
                Ok(values) => {
                    if let Some(first) = config.given.iter().find(|given| given.key.name == key.name) {
                        problems.push(
                            words
                                .error(&word, format!("`{}` is given twice", key.name))
                                .label(format!("also on line {}", first.word.line))
                                .help("that simulator takes the last; leave only the one you mean"),
                        );
                    }
                    config.given.push(Given { key, word, values });
                }
                Err(problem) => problems.push(problem),
            }
        }
        if config.given.is_empty() && problems.is_empty() {
            problems.push(config.whole().error("this configuration is empty").label("lines of KEY value"));
        }
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    fn given(&self, name: &str) -> Option<&Given<'a>> {
        self.given.iter().find(|given| given.key.name == name)
    }

    /// Place of the whole file, where no line of it is at fault.
    fn whole(&self) -> Place {
        Place { source: self.source.clone(), span: 0..0 }
    }

    /// Where the value of a key is written, or the top of the file.
    pub fn place(&self, name: &str) -> Place {
        match self.given(name) {
            Some(given) => {
                let last = given.values.last().unwrap_or(&given.word);
                Place { source: self.source.clone(), span: given.values[0].span.start..last.span.end }
            }
            None => self.whole(),
        }
    }

    /// Something is wrong with the value of a key, or with its absence.
    pub fn error(&self, name: &str, message: impl Into<String>) -> Diagnostic {
        self.place(name).error(message)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.given(name).is_some()
    }

    /// The key with its value, as a comment can quote it.
    pub fn said(&self, name: &str) -> String {
        match self.given(name) {
            Some(given) => {
                let values: Vec<String> = given.values.iter().map(|word| shown(word.text)).collect();
                format!("{name} {}", values.join(" "))
            }
            None => format!("{name} {} by default", among(self.keys, name).map_or("", |key| key.default)),
        }
    }

    /// The first value as written, or the default of the code.
    fn text(&self, name: &str) -> Result<&str> {
        if let Some(given) = self.given(name) {
            return Ok(given.values[0].text);
        }
        match among(self.keys, name).map(|key| key.default) {
            Some("") | None => Err(self
                .whole()
                .error(format!("the configuration lacks `{name}`"))
                .label(among(self.keys, name).map_or("", |key| key.kind.expects()))),
            Some(default) => Ok(default),
        }
    }

    /// Whether its value, given or by default, is not zero.
    pub fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.number(name)? != 0.0)
    }

    /// A whole number within bounds, both included.
    pub fn count(&self, name: &str, range: RangeInclusive<u64>) -> Result<u64> {
        match self.text(name)?.parse::<u64>() {
            Ok(count) if range.contains(&count) => Ok(count),
            _ => Err(self.error(name, format!("`{name}` is out of range")).label(format!(
                "a whole number from {} to {}",
                range.start(),
                range.end()
            ))),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<f64> {
        let text = self.text(name)?;
        number(text).ok_or_else(|| self.error(name, format!("`{name}` is not a number")))
    }

    /// A number within bounds, both included.
    pub fn number_in(&self, name: &str, range: RangeInclusive<f64>) -> Result<f64> {
        let found = self.number(name)?;
        if range.contains(&found) {
            return Ok(found);
        }
        let label = format!("from {} to {}", range.start(), range.end());
        Err(self.error(name, format!("`{name}` is out of range")).label(label))
    }

    /// Bits per second, above zero.
    pub fn rate(&self, name: &str) -> Result<u64> {
        match units::rate(self.text(name)?) {
            Some(bps) if (1..=10_000_000_000_000).contains(&bps) => Ok(bps),
            _ => Err(self.error(name, format!("`{name}` is out of range")).label("above zero and at most 10Tbps")),
        }
    }

    /// A word that was written.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.given(name).map(|given| given.values[0].text)
    }

    pub(crate) fn file(&self, name: &str) -> Result<&str> {
        self.text(name)
    }

    /// The mode of congestion control, one that can be had here.
    pub fn mode(&self) -> Result<u64> {
        let mode = self.text("CC_MODE")?.parse::<u64>().unwrap_or(u64::MAX);
        match mode {
            DCQCN | HPCC | TIMELY | DCTCP | PINT => Ok(mode),
            _ => Err(self
                .error("CC_MODE", format!("CC_MODE {} is unknown", shown(self.text("CC_MODE")?)))
                .label("1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT")),
        }
    }

    /// The pairs of a map, each rate once, with the place of the value.
    pub fn map(&self, name: &str) -> Result<Vec<(u64, &str, Place)>> {
        let Some(given) = self.given(name) else {
            return Err(self.text(name).expect_err("maps have no default"));
        };
        let mut rows: Vec<(u64, &str, Place)> = Vec::new();
        for pair in given.values[1..].chunks_exact(2) {
            let place = |word: &Word<'_>| Place { source: self.source.clone(), span: word.span.clone() };
            let Ok(bps) = pair[0].text.parse::<u64>() else {
                let error = place(&pair[0]).error(format!("`{}` is not a rate", shown(pair[0].text)));
                return Err(error.label("whole bits per second"));
            };
            if rows.iter().any(|(known, _, _)| *known == bps) {
                return Err(place(&pair[0]).error(format!("`{name}` gives the rate {bps} twice")));
            }
            rows.push((bps, pair[1].text, place(&pair[1])));
        }
        Ok(rows)
    }

    /// Microseconds after 2 s and the two ends, if a link goes down.
    pub fn link_down(&self) -> Result<Option<(u64, u32, u32)>> {
        let Some(given) = self.given("LINK_DOWN") else { return Ok(None) };
        let wrong = || self.error("LINK_DOWN", "this is no link that goes down").label(Kind::LinkDown.expects());
        let time = given.values[0].text.parse::<u64>().map_err(|_| wrong())?;
        let end = |at: usize| given.values[at].text.parse::<u32>().map_err(|_| wrong());
        let (a, b) = (end(1)?, end(2)?);
        if time > 99_000_000_000 {
            return Err(self.error("LINK_DOWN", "the link goes down later than any run can last"));
        }
        Ok((time > 0).then_some((time, a, b)))
    }

    /// Keys that were written and that concern only the simulator's output.
    pub fn output_only(&self) -> Option<Diagnostic> {
        let of_output: Vec<&Given<'_>> = self.given.iter().filter(|given| given.key.fate == Fate::Output).collect();
        let first = of_output.first()?;
        let names: Vec<&str> = of_output.iter().map(|given| given.key.name).collect();
        let place = Place { source: self.source.clone(), span: first.word.span.clone() };
        Some(
            place
                .error(format!("only that simulator's output is concerned by {}", names.join(", ")))
                .help("results go to a run directory; `xoff export hpcc` makes fct.txt and pfc.txt from it"),
        )
    }

    /// Keys that were written and have no effect under this mode, or are `ignored` for another reason, there as here.
    pub fn unused(&self, mode: u64, ignored: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let unused = |given: &&Given<'_>| match given.key.fate {
            _ if ignored(given.key.name) => true,
            Fate::MappedIn(modes) => !modes.contains(&mode),
            Fate::Inert => true,
            _ => false,
        };
        self.given.iter().filter(unused).map(|given| given.key.name).collect()
    }

    /// The keys that were written, with their values.
    pub fn written(&self) -> impl Iterator<Item = (&'static Key, String)> {
        self.given.iter().map(|given| {
            let values: Vec<&str> = given.values.iter().map(|word| word.text).collect();
            (given.key, values.join(" "))
        })
    }
}

fn unknown(words: &Words<'_>, word: &Word<'_>, keys: &'static [Key]) -> Diagnostic {
    let error = words.error(word, format!("unknown key `{}`", shown(word.text)));
    if word.text.starts_with(['#', '/', ';']) {
        return error.label("this format has no comments").help(
            "that simulator skips words it does not know, and would take a known one within a comment for a setting",
        );
    }
    error.nearest(word.text, keys.iter().map(|key| key.name))
}

/// The values of a key, each of the kind it should be.
fn values<'a>(
    words: &mut Words<'a>,
    keys: &'static [Key],
    key: &'static Key,
    word: &Word<'a>,
) -> Result<Vec<Word<'a>>> {
    let next = |words: &mut Words<'a>, fits: &dyn Fn(&str) -> bool| -> Result<Word<'a>> {
        let value = words.peek().filter(|value| among(keys, value.text).is_none());
        let Some(value) = value else {
            let error = words.error(word, format!("`{}` lacks a value", key.name));
            return Err(error.label(key.kind.expects()));
        };
        words.next();
        if fits(value.text) {
            return Ok(value);
        }
        let error = words.error(&value, format!("`{}` cannot be `{}`", key.name, shown(value.text)));
        Err(error.label(key.kind.expects()))
    };
    let whole = |text: &str| text.parse::<u64>().is_ok();
    let numeric = |text: &str| number(text).is_some();
    let any = |_: &str| true;
    Ok(match key.kind {
        Kind::Flag | Kind::Count => vec![next(words, &whole)?],
        Kind::Number => vec![next(words, &numeric)?],
        Kind::Rate => vec![next(words, &|text| units::rate(text).is_some())?],
        Kind::File => vec![next(words, &any)?],
        Kind::Word(words_known) => vec![next(words, &|text| words_known.contains(&text))?],
        Kind::LinkDown => vec![next(words, &whole)?, next(words, &whole)?, next(words, &whole)?],
        Kind::Map => {
            let count = next(words, &|text| text.parse::<u32>().is_ok_and(|count| (1..=1000).contains(&count)))?;
            let pairs: usize = count.text.parse().unwrap_or(0);
            let mut values = vec![count];
            for _ in 0..pairs {
                values.push(next(words, &whole)?);
                values.push(next(words, &numeric)?);
            }
            values
        }
    })
}
