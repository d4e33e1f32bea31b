//! A file of words between blanks, read one by one, each with its place.

use crate::{Diagnostic, Place, Source};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

pub type Result<T> = std::result::Result<T, Diagnostic>;

/// A word of a file.
#[derive(Clone, Debug)]
pub struct Word<'a> {
    pub text: &'a str,
    pub span: Range<usize>,
    /// Counted from 1.
    pub line: usize,
}

/// The words of a file, in order. Lines matter only to who asks for them.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    source: &'a Arc<Source>,
    at: usize,
    line: usize,
}

impl<'a> Words<'a> {
    pub fn new(source: &'a Arc<Source>) -> Words<'a> {
        // A byte order mark is no part of the first word.
        let at = if source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Words { source, at, line: 1 }
    }

    pub fn place(&self, word: &Word<'_>) -> Place {
        Place { source: self.source.clone(), span: word.span.clone() }
    }

    /// From one word to another.
    pub fn place_of(&self, first: &Word<'_>, last: &Word<'_>) -> Place {
        Place { source: self.source.clone(), span: first.span.start..last.span.end }
    }

    /// Something is wrong with a word.
    pub fn error(&self, word: &Word<'_>, message: impl Into<String>) -> Diagnostic {
        self.place(word).error(message)
    }

    /// The file ends where something was due.
    pub fn ended(&self, message: impl Into<String>) -> Diagnostic {
        let end = self.source.text.trim_end().len();
        let start = self.source.text[..end].rfind('\n').map_or(0, |at| at + 1);
        Place { source: self.source.clone(), span: start..end }.error(message).label("the file ends here")
    }

    /// The next word, which stays.
    pub fn peek(&self) -> Option<Word<'a>> {
        self.clone().next()
    }

    /// The next word, which must be there; `what` says what it means.
    pub fn word(&mut self, what: &str) -> Result<Word<'a>> {
        self.next().ok_or_else(|| self.ended(format!("{what} is missing")))
    }

    /// The next word as a whole number.
    pub fn whole<T: FromStr>(&mut self, what: &str) -> Result<(T, Word<'a>)> {
        let word = self.word(what)?;
        match word.text.parse() {
            Ok(number) => Ok((number, word)),
            Err(_) => Err(self.error(&word, format!("{what} is not `{}`", shown(word.text))).label("a whole number")),
        }
    }

    /// The next word as a number of at least zero.
    pub fn number(&mut self, what: &str) -> Result<(f64, Word<'a>)> {
        let word = self.word(what)?;
        match number(word.text) {
            Some(number) => Ok((number, word)),
            None => {
                Err(self.error(&word, format!("{what} is not `{}`", shown(word.text))).label("a number, at least 0"))
            }
        }
    }

    /// Skips what is left of the line of `word`.
    pub fn skip_line(&mut self, word: &Word<'_>) {
        while self.peek().is_some_and(|next| next.line == word.line) {
            self.next();
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let text = &self.source.text;
        let rest = &text[self.at..];
        let blank = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        self.line += rest[..blank].matches('\n').count();
        let start = self.at + blank;
        let length = text[start..].find(char::is_whitespace).unwrap_or(text.len() - start);
        self.at = start + length;
        (length > 0).then(|| Word { text: &text[start..self.at], span: start..self.at, line: self.line })
    }
}

/// A finite number of at least zero.
pub fn number(text: &str) -> Option<f64> {
    // Rust's parser also takes "inf", "nan" and "infinity".
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0 && !number.is_sign_negative())
}

/// A word as a message can bear it.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_know_their_lines() {
        let source = Source::new("a.txt", "\u{feff}one  two\r\n\n three");
        let words = Words::new(&source);
        let found: Vec<(&str, usize)> = words.map(|word| (word.text, word.line)).collect();
        assert_eq!(found, [("one", 1), ("two", 1), ("three", 3)]);
        let mut words = Words::new(&source);
        let first = words.next().unwrap();
        words.skip_line(&first);
        assert_eq!(words.peek().unwrap().text, "three");
        assert_eq!(words.error(&words.peek().unwrap(), "x").line(), Some(3));
        words.next();
        assert_eq!(words.word("a number").unwrap_err().line(), Some(3));
    }

    #[test]
    fn numbers_are_finite_and_not_negative() {
        assert_eq!(number("0.5e1"), Some(5.0));
        for wrong in ["-1", "inf", "nan", "NaN", "1,5", "", "-0", "0x10"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn all_words_of_any_text(text in "[a-zé\u{2003} \t\r\n]{0,60}") {
            let source = Source::new("x", text.clone());
            let found: Vec<&str> = Words::new(&source).map(|word| word.text).collect();
            prop_assert_eq!(found, text.split_whitespace().collect::<Vec<_>>());
        }
    }
}
