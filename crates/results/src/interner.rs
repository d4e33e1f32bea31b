//! Texts that many rows share, by number.

use std::collections::HashMap;

/// Texts in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Interner {
    /// The number of a text; a new one for a new text.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    pub(crate) fn word(&self, number: u32) -> &str {
        &self.list[number as usize]
    }

    pub(crate) fn all(&self) -> &[String] {
        &self.list
    }
}
