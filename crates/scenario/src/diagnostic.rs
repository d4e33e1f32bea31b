//! What is wrong with an input, where, and how to put it right.

use crate::wrap;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A text the user wrote: a scenario, a workload file, or one `--set`.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// As the user named it.
    pub name: String,
    /// All of it, without changes.
    pub text: String,
}

impl Source {
    /// Shared from the start: every place in it holds on to it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }

    /// The bytes of line `line`, counted from 1, without its end; empty past the last line.
    pub fn line_span(&self, line: usize) -> Range<usize> {
        let start = match line {
            0 | 1 => 0,
            _ => match self.text.match_indices('\n').nth(line - 2) {
                Some((at, _)) => at + 1,
                None => return self.text.len()..self.text.len(),
            },
        };
        let rest = &self.text[start..];
        let length = rest.find('\n').unwrap_or(rest.len());
        start..start + rest[..length].trim_end_matches('\r').len()
    }
}

/// A stretch of a source.
#[derive(Clone, Debug)]
pub struct Place {
    /// What was read.
    pub source: Arc<Source>,
    /// In bytes of its text.
    pub span: Range<usize>,
}

impl Place {
    /// A whole line, counted from 1, without its end.
    pub fn line(source: &Arc<Source>, line: usize) -> Place {
        Place { source: source.clone(), span: source.line_span(line) }
    }

    /// Something is wrong here.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), place: Some(self.clone()), label: String::new(), help: String::new() }
    }
}

/// One finding about an input. Used for errors and for warnings alike.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Where; `None` when no text can be blamed, such as a file that is not there.
    pub place: Option<Place>,
    /// Written beside the underlined text: what was expected.
    pub label: String,
    /// How to go on, such as the nearest valid name.
    pub help: String,
}

impl Diagnostic {
    /// A finding without a place in a text.
    pub fn new(message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), place: None, label: String::new(), help: String::new() }
    }

    /// With what was expected, beside the underlined text.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// With how to go on, below the text.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = help.into();
        self
    }

    /// Adds the valid names nearest to `wrong`, or the whole list where it is short.
    pub fn nearest<'a>(self, wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        let help = suggestion(wrong, names);
        if help.is_empty() { self } else { self.help(help) }
    }

    /// The line it is on, counted from 1.
    pub fn line(&self) -> Option<usize> {
        let place = self.place.as_ref()?;
        let end = floor_boundary(&place.source.text, place.span.start);
        Some(place.source.text[..end].matches('\n').count() + 1)
    }

    /// As an error for people, in lines of any length; with colours if `styled`.
    pub fn render(&self, styled: bool) -> String {
        self.render_as(Level::ERROR, styled, None)
    }

    /// As an error, in lines of at most `width` where it is given.
    pub fn render_in(&self, width: Option<usize>, styled: bool) -> String {
        self.render_as(Level::ERROR, styled, width)
    }

    /// As a warning, in lines of at most `width` where it is given.
    pub fn render_warning_in(&self, width: Option<usize>, styled: bool) -> String {
        self.render_as(Level::WARNING, styled, width)
    }

    fn render_as(&self, level: Level<'_>, styled: bool, width: Option<usize>) -> String {
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        let renderer = match width {
            Some(width) => renderer.term_width(width),
            None => renderer,
        };
        let window = self.place.as_ref().map(|place| (Window::around(place), place));
        let gutter = window.as_ref().map_or(0, |(window, _)| window.gutter());
        let folded = |text: &str, before: usize| match width {
            Some(width) => wrap::folded(&visible(text), width.saturating_sub(before)),
            None => visible(text).into_owned(),
        };
        let message = folded(&self.message, "warning: ".len());
        let help = folded(&self.help, gutter + " = help: ".len());
        // Beside what is underlined there is one line.
        let beside = visible(&self.label);
        let note = folded(&self.label, gutter + " = note: ".len());
        let title = level.primary_title(message.as_str());
        let mut group = match &window {
            Some((window, place)) => {
                let fits = width.is_none_or(|width| window.ends_at() + 1 + wrap::length(&beside) <= width);
                let mut annotation = AnnotationKind::Primary.span(window.span.clone());
                if fits && !beside.is_empty() {
                    annotation = annotation.label(beside.as_ref());
                }
                let snippet = Snippet::source(window.text)
                    .path(place.source.name.as_str())
                    .line_start(window.first_line)
                    .annotation(annotation);
                let group = title.element(snippet);
                if fits { group } else { group.element(Level::NOTE.message(note.as_str())) }
            }
            None if note.is_empty() => annotate_snippets::Group::with_title(title),
            None => title.element(Level::NOTE.message(note.as_str())),
        };
        if !help.is_empty() {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// A quoted input may hold anything; a terminal is not to obey it.
fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| c.is_control() && c != '\n';
    if !text.contains(hidden) {
        return text.into();
    }
    text.chars().map(|c| if hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

/// The lines of a source that hold a place. A renderer that saw a whole 16 MB file would be slow.
struct Window<'a> {
    text: &'a str,
    first_line: usize,
    span: Range<usize>,
}

impl Window<'_> {
    fn around(place: &Place) -> Window<'_> {
        let text = place.source.text.as_str();
        let start = floor_boundary(text, place.span.start);
        let end = floor_boundary(text, place.span.end.max(start));
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[end..].find('\n').map_or(text.len(), |at| end + at);
        Window {
            text: &text[from..to],
            first_line: text[..from].matches('\n').count() + 1,
            span: start - from..end - from,
        }
    }

    /// Columns that the number of a line takes.
    fn gutter(&self) -> usize {
        let last = self.first_line + self.text.matches('\n').count();
        last.to_string().len()
    }

    /// The column in which the underlined text ends on the terminal.
    fn ends_at(&self) -> usize {
        let before = self.text[..self.span.end].rsplit('\n').next().unwrap_or_default();
        self.gutter() + " | ".len() + wrap::length(before)
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// "did you mean ..." for a misspelt name; the list itself when nothing is near and it is short.
pub fn suggestion<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    match near(wrong, names.iter().copied(), 1).first() {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => String::new(),
        None if names.len() <= 24 => format!("valid here: {}", names.join(", ")),
        None => format!("valid here: {}, ... ({} in all)", names[..12].join(", "), names.len()),
    }
}

/// The names that `wrong` may have been meant to be, at most so many, the nearest first.
pub fn near<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    /// Below this, names are not alike.
    const ALIKE: f64 = 0.8;
    /// Names that are this much less alike than the nearest are not told beside it.
    const LESS: f64 = 0.1;
    /// No name is nearly as long, and comparing takes time by both lengths.
    const LONGEST: usize = 256;
    if wrong.len() > LONGEST {
        return Vec::new();
    }
    let wrong = wrong.to_lowercase();
    let score = |name: &'a str| (strsim::jaro_winkler(&wrong, &name.to_lowercase()), name);
    let mut scored: Vec<(f64, &str)> = names.into_iter().map(score).filter(|(score, _)| *score >= ALIKE).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup();
    let best = scored.first().map_or(0.0, |of| of.0);
    scored.into_iter().take_while(|(score, _)| *score >= best - LESS).map(|(_, name)| name).take(most).collect()
}

/// Reading goes on until the first thing that is wrong.
pub type Result<T> = std::result::Result<T, Diagnostic>;

/// Nobody mends more at once.
pub const PROBLEMS_TOLD: usize = 20;

/// A text with its place, so that a later complaint can point at it.
#[derive(Clone, Debug)]
pub struct Text {
    /// Without its quotes.
    pub value: String,
    /// Its own, or that of the table where it is a default.
    pub place: Place,
}

impl Text {
    /// Something is wrong with it.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.place.error(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shows_file_line_text_and_help() {
        let source = Source::new("a.toml", "name = \"x\"\n[run]\nstop = 70\n");
        let at = source.text.find("70").unwrap();
        let found = Place { source, span: at..at + 2 }.error("`stop` has no unit").label("a time such as \"70ms\"");
        let text = found.help("write \"70ms\"").render(false);
        for part in ["error: `stop` has no unit", "a.toml:3:8", "stop = 70", "^^ a time such as", "help: write"] {
            assert!(text.contains(part), "{part} is missing from\n{text}");
        }
    }

    #[test]
    fn messages_fit_the_terminal() {
        let text = format!("name = \"x\"\n[run]\nstop = 70 # {}\n", "why not ".repeat(20));
        let source = Source::new("a.toml", text);
        let at = source.text.find("70").unwrap();
        let long = "a word and another ".repeat(8);
        let found = Place { source, span: at..at + 2 }.error(&long).label(&long).help(&long);
        let text = found.render_in(Some(60), false);
        for line in text.lines() {
            assert!(wrap::length(line) <= 60, "{line}\n{text}");
        }
        for part in ["error: a word", "stop = 70", "= note: a word", "= help: a word"] {
            assert!(text.contains(part), "{part} is missing from\n{text}");
        }
        assert_eq!(text.matches("another").count(), 24, "nothing is lost:\n{text}");
        let text = Diagnostic::new(&long).label(&long).help(&long).render_warning_in(Some(60), false);
        assert!(text.lines().all(|line| wrap::length(line) <= 60), "{text}");
    }

    #[test]
    fn renders_without_a_place() {
        let text = Diagnostic::new("cannot read `a.toml`").label("no such file").render(false);
        assert!(text.contains("error: cannot read `a.toml`") && text.contains("no such file"), "{text}");
    }

    #[test]
    fn nothing_of_an_input_reaches_the_terminal_as_a_command() {
        let source = Source::new("a.toml", "name = \"\u{1b}[2J\"\n");
        let place = Place { source, span: 0..4 };
        let text = place.error("`\u{1b}[2J` is no name").label("\u{7}").help("\u{1b}[31m").render(false);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }

    #[test]
    fn lines_are_found() {
        let source = Source::new("a.csv", "one\r\ntwo\n\nfour");
        assert_eq!(source.line_span(1), 0..3);
        assert_eq!(source.line_span(2), 5..8);
        assert_eq!(source.line_span(3), 9..9);
        assert_eq!(source.line_span(4), 10..14);
        assert_eq!(source.line_span(9), 14..14);
        assert_eq!(Place::line(&source, 4).error("x").line(), Some(4));
    }

    /// Some milliseconds; comparing them would take minutes.
    #[test]
    fn a_name_of_a_megabyte_is_like_none() {
        let names: Vec<String> = (0..10_000).map(|number| format!("name-{number}")).collect();
        assert!(near(&"name-".repeat(200_000), names.iter().map(String::as_str), 1).is_empty());
        assert_eq!(near("name-77777", names.iter().map(String::as_str), 1), ["name-7777"]);
    }

    #[test]
    fn suggests_the_nearest_name() {
        assert_eq!(suggestion("treshold", ["threshold", "headroom"]), "did you mean `threshold`?");
        assert_eq!(suggestion("zzz", ["b", "a"]), "valid here: a, b");
        assert_eq!(suggestion("zzz", []), "");
        assert_eq!(near("dqcn", ["qcn", "timely", "dcqcn", "qcn"], 3), ["qcn", "dcqcn"]);
    }

    proptest! {
        #[test]
        fn any_span_renders(text in "[a-zé\n\t\u{1b}\r]{0,40}", start in 0usize..60, length in 0usize..60) {
            let place = Place { source: Source::new("x", text), span: start..start + length };
            let _ = place.error("m").label("l").help("h").render(true);
        }
    }
}
