//! Distributions of flow sizes: lines of `bytes percent`, as this project's CSV.

use crate::traffic::cdf::Cdf;
use crate::{Diagnostic, Place, Source};
use std::fmt::Write;
use std::sync::Arc;

/// The largest file of a distribution.
pub const LARGEST_FILE: u64 = 16_000_000;

/// Reads either form; the percent sign of a file is that it ends at 100.
pub fn read(source: &Arc<Source>) -> Result<Cdf, Diagnostic> {
    Cdf::parse(&source.text).map_err(|error| {
        Place::line(source, error.line)
            .error(format!("`{}` is not a distribution of sizes", source.name))
            .label(error.message)
            .help("lines of a size in bytes and the percentage of flows up to that size, from 0 to 100")
    })
}

/// Text in the format of the files under `workloads/`.
pub fn csv(cdf: &Cdf) -> String {
    let mut out = String::from("size_bytes,cumulative_probability\n");
    for (bytes, cumulative) in cdf.points() {
        let _ = writeln!(out, "{bytes},{cumulative}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_the_same_curve() {
        let source = Source::new("a.txt", "0 0\n10000 15\n20000 20.5\n30000000 100\n");
        let percent = read(&source).unwrap();
        let text = csv(&percent);
        assert_eq!(text, "size_bytes,cumulative_probability\n0,0\n10000,0.15\n20000,0.205\n30000000,1\n");
        assert_eq!(Cdf::parse(&text).unwrap(), percent);
    }

    #[test]
    fn refusals_have_their_line() {
        for (text, line) in
            [("0 0\n10 60\n20 50\n30 100\n", 3), ("0 0\n10 101\n", 2), ("0 0\n10 x\n20 100\n", 2), ("", 1)]
        {
            assert_eq!(read(&Source::new("a.txt", text)).unwrap_err().line(), Some(line), "{text}");
        }
    }
}
