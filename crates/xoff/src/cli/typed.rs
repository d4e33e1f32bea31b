//! What was typed, as it can be typed again.

/// With the program under its own name.
pub fn command() -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
    std::iter::once("xoff".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it: as it is, or between quotes if it has letters that mean something to a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./,:=+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_each_word_back() {
        assert_eq!(quoted("switch.pfc.xoff=1KB"), "switch.pfc.xoff=1KB");
        assert_eq!(quoted("traffic.0.sources=h[0..3]"), "'traffic.0.sources=h[0..3]'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
