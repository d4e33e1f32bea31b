//! What identifies inputs and builds, and files that know whether they are as they were written.

use std::io;
use std::path::Path;
use xoff_engine::fnv;
use xoff_results::files::note;
use xoff_results::files::whole::{self, Present};
use xoff_scenario::{Loaded, read};

/// Tells inputs apart; no protection against malice.
#[derive(Clone, Copy, Debug)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Fingerprint of no input.
    pub fn start() -> Fingerprint {
        Fingerprint(fnv::START)
    }

    /// Fingerprint of all inputs of a run, the program excluded.
    pub fn of(loaded: &Loaded) -> Fingerprint {
        let own = Fingerprint::start().with(without_looks(&loaded.resolved).as_bytes());
        loaded.attachments.iter().fold(own, |own, file| own.with(file.source.text.as_bytes()))
    }

    /// Adds one input; where it ends counts too.
    pub fn with(self, bytes: &[u8]) -> Fingerprint {
        Fingerprint(fnv::with(self.0, bytes))
    }

    pub fn text(self) -> String {
        format!("{:032x}", self.0)
    }
}

/// Whether a text is what [`Fingerprint::text`] gives.
pub fn is_fingerprint(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A resolved scenario without what figures call and draw schemes: another label is not another run.
fn without_looks(resolved: &str) -> String {
    const HEADS: [&str; 2] = ["[output.labels]", "[output.colours]"];
    if !HEADS.iter().any(|head| resolved.contains(head)) {
        return resolved.to_owned();
    }
    let mut looks = false;
    let kept = resolved.split_inclusive('\n').filter(|line| {
        if line.starts_with('[') {
            looks = HEADS.contains(&line.trim_end());
        }
        !looks
    });
    let kept: String = kept.collect();
    // At the end they leave an empty line behind.
    format!("{}\n", kept.trim_end())
}

/// What identifies this program: its version and its own bytes.
pub fn build_id() -> io::Result<String> {
    let bytes = std::fs::read(std::env::current_exe()?)?;
    let hash = Fingerprint::start().with(&bytes).text();
    Ok(format!("{} {hash}", env!("CARGO_PKG_VERSION")))
}

const LARGEST_BYTES: u64 = 1_000_000_000;
const SEAL_END: &str = "}\n";

/// The content of a sealed file; `None` if there is none, or if one byte of it has changed, which is said.
pub fn load(path: &Path) -> Option<serde_json::Value> {
    if !path.exists() {
        return None;
    }
    let value = read::text(path, LARGEST_BYTES).ok().and_then(|text| unsealed(&text));
    if value.is_none() {
        note(format!("{} is not as it was written; the run is made again", path.display()));
    }
    value
}

/// Writes a sealed file; it appears under its name only when whole.
pub fn save(path: &Path, value: &serde_json::Value) -> io::Result<()> {
    whole::write(path, sealed(&value.to_string()).as_bytes(), Present::Replace)
}

/// A number as JSON, which has no infinity.
pub fn write_number(number: f64) -> serde_json::Value {
    if number.is_finite() { number.into() } else { number.to_string().into() }
}

/// What [`write_number`] wrote.
pub fn read_number(value: &serde_json::Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// The text of a file: the checksum of the content's own text, and that text.
pub fn sealed(body: &str) -> String {
    format!("{}{body}{SEAL_END}", seal(body))
}

fn seal(body: &str) -> String {
    format!("{{\"checksum\":\"{}\",\"run\":", Fingerprint::start().with(body.as_bytes()).text())
}

fn unsealed(text: &str) -> Option<serde_json::Value> {
    let body = text.get(seal("").len()..)?.strip_suffix(SEAL_END)?;
    if text != sealed(body) {
        return None;
    }
    serde_json::from_str(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_changed_bit_breaks_the_seal() {
        let folder = std::env::temp_dir().join(format!("xoff-seal-{}", std::process::id()));
        let path = folder.join("a").join("run.json");
        assert!(load(&path).is_none());
        save(&path, &json!({ "seed": 7, "tree": 0.1 + 0.2 })).unwrap();
        assert_eq!(load(&path).unwrap()["tree"].as_f64(), Some(0.1 + 0.2));
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed.remove(at);
            for bit in 0..=8 {
                std::fs::write(&path, &changed).unwrap();
                assert!(load(&path).is_none(), "byte {at}, {bit} of 8 bits flipped");
                changed = whole.clone();
                changed[at] ^= 1 << (bit % 8);
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_label_is_not_another_run() {
        let text = "seed = 1\n\n[output]\ncsv = false\n\n[scheme]\nname = \"dcqcn\"\n";
        let with = "seed = 1\n\n[output]\ncsv = false\n\n[output.labels]\ndcqcn = \"DCQCN\"\n\n[output.colours]\n\
                    dcqcn = \"#000000\"\n\n[scheme]\nname = \"dcqcn\"\n";
        assert_eq!(without_looks(with), text);
        assert_eq!(without_looks(text), text);
        let last = "seed = 1\n\n[output]\ncsv = false\n";
        assert_eq!(without_looks(&format!("{last}\n[output.labels]\ndcqcn = \"DCQCN\"\n")), last);
    }

    #[test]
    fn fingerprints_know_where_inputs_end() {
        let of = |parts: &[&str]| parts.iter().fold(Fingerprint::start(), |f, part| f.with(part.as_bytes())).text();
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }
}
