//! The only place that prints. A terminal that is closed or full never panics and never costs a result.

use super::Stop;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use xoff_results::files::notes;
use xoff_scenario::{Diagnostic, wrap};

/// Prints to standard output. Who has stopped reading (`xoff ... | head`) wants no more; a full disk is
/// an error.
pub fn show(text: &str) -> Result<(), Stop> {
    let print = || -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    print().or_else(|error| unless_unread(&error))
}

/// Prints what people read, in lines that fit; tables have seen to that themselves.
pub fn show_page(text: &str) -> Result<(), Stop> {
    show(&wrap::lines(text, wrap::columns()))
}

/// A page, and where the report is that has more.
pub fn show_summary(page: &str, directory: Option<&Path>) -> Result<(), Stop> {
    let report = |folder: &Path| format!("\nreport: {}\n", folder.join("report.html").display());
    show_page(&format!("{page}{}", directory.map(report).unwrap_or_default()))
}

/// Standard output failed: no matter if its reader has gone.
pub fn unless_unread(error: &io::Error) -> Result<(), Stop> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(());
    }
    let why = format!("cannot print to standard output: {error}");
    Err(Stop::System(io::Error::new(error.kind(), why)))
}

/// Prints a line to standard error. A failure to do so is ignored.
pub fn tell(text: &str) {
    // As one write, so that lines of several programs do not mix.
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Prints to standard error in lines that fit the terminal.
pub fn tell_folded(text: &str) {
    match wrap::columns_of_messages() {
        Some(width) => tell(wrap::lines(text, width).trim_end_matches('\n')),
        None => tell(text),
    }
}

/// Warnings of a scenario, to standard error.
pub fn warn(warnings: &[Diagnostic]) {
    let (width, colour) = (wrap::columns_of_messages(), super::colour::on_stderr());
    for warning in warnings {
        tell(&warning.render_warning_in(width, colour));
    }
}

/// What there was to say about files.
pub fn tell_notes() {
    for text in notes::take() {
        tell_folded(&format!("note: {text}"));
    }
}
