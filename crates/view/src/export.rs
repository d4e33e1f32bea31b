//! A replay in one file that anyone opens from a mail: the page, its script and style, and all data, compressed.

use crate::collection::Collection;
use crate::page;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use xoff_results::page::policy;
use xoff_results::refusal::Refusal;

/// Bytes of a file that the courses of flows may take, in equal parts for its runs: all flows of most runs.
pub const FLOW_BYTES: usize = 12 << 20;

/// Flows whose courses are in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Flows of all runs.
    pub flows: usize,
    /// That the runs have.
    pub of: usize,
}

/// Writes the file; the same runs give the same bytes.
pub fn write(collection: &Collection, out: &mut dyn Write) -> Result<Held, Refusal> {
    write_within(collection, FLOW_BYTES, out)
}

/// Writes the document, with so many bytes for flows.
pub fn write_within(collection: &Collection, flow_bytes: usize, out: &mut dyn Write) -> Result<Held, Refusal> {
    let (head, rest) = page::HTML.split_once(page::STYLE_TAG).ok_or_else(|| broken("style"))?;
    let (body, tail) = rest.split_once(page::SCRIPT_TAG).ok_or_else(|| broken("script"))?;
    // The document may run this script and nothing else, and sends no request.
    let policy = policy(include_str!("../assets/replay.js.sha256"), include_str!("../assets/replay.css.sha256"));
    let policy = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    write!(out, "{head}{policy}<style>{}</style>{body}", page::STYLE)?;
    // A script in the document does not wait for the rest of it, so it is at its end.
    let (before, after) = tail.split_once("</body>").ok_or_else(|| broken("end"))?;
    out.write_all(before.as_bytes())?;
    for path in collection.paths()? {
        out.write_all(element(collection, &path)?.as_bytes())?;
    }
    let runs = collection.flow_paths()?;
    let mut held = Held { flows: 0, of: runs.iter().map(Vec::len).sum() };
    for paths in &runs {
        let mut left = flow_bytes / runs.len();
        for path in paths {
            let text = element(collection, path)?;
            let Some(rest) = left.checked_sub(text.len()) else { break };
            left = rest;
            held.flows += 1;
            out.write_all(text.as_bytes())?;
        }
    }
    write!(out, "<script>{}</script></body>{after}", page::SCRIPT)?;
    Ok(held)
}

/// A resource as a part of the document.
fn element(collection: &Collection, path: &str) -> Result<String, Refusal> {
    let Some(resource) = collection.resource(path)? else { return Ok(String::new()) };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(resource.bytes())?;
    let text = BASE64_STANDARD.encode(gzip.finish()?);
    Ok(format!("<script type=\"application/octet-stream\" data-path=\"{path}\">{text}</script>\n"))
}

fn broken(what: &str) -> Refusal {
    Refusal::System(io::Error::other(format!("the embedded page has no {what}")))
}
