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

/// Flows of each run whose curves are in the file.
pub const FLOWS_MOST: usize = 500;

/// Writes the file; the same runs give the same bytes.
pub fn write(collection: &Collection, out: &mut dyn Write) -> Result<(), Refusal> {
    let (head, rest) = page::HTML.split_once(page::STYLE_TAG).ok_or_else(|| broken("style"))?;
    let (body, tail) = rest.split_once(page::SCRIPT_TAG).ok_or_else(|| broken("script"))?;
    // The document may run this script and nothing else, and asks nobody for anything.
    let policy = policy(include_str!("../assets/replay.js.sha256"), include_str!("../assets/replay.css.sha256"));
    let policy = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    write!(out, "{head}{policy}<style>{}</style>{body}", page::STYLE)?;
    // A script in the document does not wait for the rest of it, so it stands at its end.
    let (before, after) = tail.split_once("</body>").ok_or_else(|| broken("end"))?;
    out.write_all(before.as_bytes())?;
    for path in collection.paths(FLOWS_MOST)? {
        let Some(resource) = collection.resource(&path)? else { continue };
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(resource.bytes())?;
        let text = BASE64_STANDARD.encode(gzip.finish()?);
        writeln!(out, "<script type=\"application/octet-stream\" data-path=\"{path}\">{text}</script>")?;
    }
    write!(out, "<script>{}</script></body>{after}", page::SCRIPT)?;
    Ok(())
}

fn broken(what: &str) -> Refusal {
    Refusal::System(io::Error::other(format!("the embedded page has no {what}")))
}
