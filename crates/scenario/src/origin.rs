//! Texts that were made from files of other simulators, and whose file a complaint names.

use super::diagnostic::{Diagnostic, Place, Source};
use std::sync::Arc;

/// What is wrong with a line of a text that was made here is said of the setting that stands behind it, which its comment
/// names; the user has no other file.
pub fn blame(problem: Diagnostic, made: &Arc<Source>, origin: &Arc<Source>) -> Diagnostic {
    let Some(place) = problem.place.as_ref().filter(|place| Arc::ptr_eq(&place.source, made)) else { return problem };
    let number = made.text[..place.span.start].matches('\n').count() + 1;
    let line = &made.text[made.line_span(number)];
    let (code, comment) = line.split_once('#').unwrap_or((line, ""));
    let setting =
        |word: &&str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let named = comment.split(|c: char| c.is_whitespace() || c == ',').filter(setting);
    let written = |word: &str| {
        let lines = origin.text.lines().position(|line| line.split_whitespace().next() == Some(word))?;
        Some(Place::line(origin, lines + 1))
    };
    let top = Place { source: origin.clone(), span: 0..0 };
    let told = format!("it became `{}` of a scenario", code.trim());
    let help = if problem.help.is_empty() { told } else { format!("{}; {told}", problem.help) };
    Diagnostic { place: Some(named.filter_map(written).next().unwrap_or(top)), ..problem }.help(help)
}
