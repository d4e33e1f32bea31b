//! Lines that fit the terminal.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Where nothing is known of the terminal.
const USUAL: usize = 80;
/// Narrower than this a table is no table; wider than this a line is hard to read.
const SENSIBLE: std::ops::RangeInclusive<usize> = 40..=100;

/// Columns that a text may take: what `COLUMNS` says, else the terminal's, else 80; at most 100.
pub fn columns() -> usize {
    told(std::io::stdout()).unwrap_or(USUAL)
}

/// Columns that a message may take, if anybody says: a file or a program that reads it has it in whole lines.
pub fn columns_of_messages() -> Option<usize> {
    told(std::io::stderr())
}

/// What `COLUMNS` says, else the terminal's.
fn told(out: impl IsTerminal + AsFd) -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let of_terminal = || {
        let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok())??;
        Some(usize::from(size.ws_col))
    };
    let width = said.filter(|width| *width > 0).or_else(of_terminal).filter(|width| *width > 0)?;
    Some(width.clamp(*SENSIBLE.start(), *SENSIBLE.end()))
}

/// Columns that a text takes; colours take none.
pub fn length(text: &str) -> usize {
    let mut coloured = text.split("\x1b[");
    let plain = coloured.next().unwrap_or_default().chars().count();
    let rest = coloured.map(|part| part.find('m').map_or(part, |end| &part[end + 1..]));
    plain + rest.map(|part| part.chars().count()).sum::<usize>()
}

/// A text whose lines are broken at spaces, without an end of line of its own.
pub fn folded(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split('\n') {
        wrap(&mut out, line, 0, width);
    }
    out.pop();
    out
}

/// Appends `text` broken at spaces, further lines indented; the first line starts at `indent`.
pub fn wrap(out: &mut String, text: &str, indent: usize, width: usize) {
    let mut at = indent;
    for (index, word) in text.split(' ').enumerate() {
        let length = length(word);
        if index > 0 && at + 1 + length > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else if index > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out.push('\n');
}

/// Appends `text` as lines of at most `width`, all indented.
pub fn paragraph(out: &mut String, text: &str, indent: usize, width: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
    wrap(out, text, indent, width);
}

/// Appends `head` at `from` and `text` beside it, from column `indent` on; below it if `head` reaches that
/// far.
pub fn item(out: &mut String, head: &str, text: &str, (from, indent): (usize, usize), width: usize) {
    out.extend(std::iter::repeat_n(' ', from));
    out.push_str(head);
    let end = from + length(head);
    if end + 1 < indent {
        out.extend(std::iter::repeat_n(' ', indent - end));
        wrap(out, text, indent, width);
    } else {
        out.push('\n');
        paragraph(out, text, indent, width);
    }
}

/// A whole text, whose lines keep their indentation; what is broken off stands two further in.
pub fn lines(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        if length(line) <= width {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let rest = line.trim_start();
        let indent = line.len() - rest.len();
        out.push_str(&line[..indent]);
        wrap_from(&mut out, rest, indent, indent + 2, width);
    }
    out
}

/// As [`wrap`], with the first line at `at` and the others at `indent`.
fn wrap_from(out: &mut String, text: &str, mut at: usize, indent: usize, width: usize) {
    let first = at;
    for word in text.split(' ') {
        let length = length(word);
        let begun = at > first;
        if begun && at + length > width {
            while out.ends_with(' ') {
                out.pop();
            }
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        }
        out.push_str(word);
        out.push(' ');
        at += length + 1;
    }
    while out.ends_with(' ') {
        out.pop();
    }
    out.push('\n');
}

/// With a capital, but for what is written small: `p99 slowdown`.
pub fn capitalised(text: &str) -> String {
    let is_percentile = text.starts_with('p') && text[1..].starts_with(|c: char| c.is_ascii_digit());
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !is_percentile => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_keep_their_place() {
        let mut out = String::new();
        paragraph(&mut out, "one two three four", 2, 11);
        assert_eq!(out, "  one two\n  three\n  four\n");
        let mut out = String::new();
        item(&mut out, "key", "what it means", (2, 8), 16);
        item(&mut out, "longer", "it is so", (2, 8), 16);
        assert_eq!(out, "  key   what it\n        means\n  longer\n        it is so\n");
        assert_eq!(lines("short\n  aaa bbb ccc\n\nlast", 10), "short\n  aaa bbb\n    ccc\n\nlast\n");
    }

    #[test]
    fn colours_take_no_columns() {
        assert_eq!(length("\x1b[1mbold\x1b[0m µ"), 6);
        assert_eq!(lines("\x1b[31maaa\x1b[0m bbb", 7), "\x1b[31maaa\x1b[0m bbb\n");
        assert_eq!(folded("aaa bbb\nccc", 5), "aaa\nbbb\nccc");
    }

    #[test]
    fn a_word_that_is_too_long_is_left_whole() {
        assert_eq!(lines("a bbbbbbbbbbbb c", 6), "a\n  bbbbbbbbbbbb\n  c\n");
    }
}
