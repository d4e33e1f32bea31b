//! Finished runs on disk, so that nothing is run twice.
//!
//! One file per run, written whole and renamed into place. It names the inputs it was made from:
//! if those have changed, the run is made again. It carries a checksum: if one byte has changed, the
//! run is made again too, and that is said.

use super::results::Run;
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;
use xoff_results::files::note;
use xoff_results::files::whole::{self, Present};
use xoff_scenario::measure::{Curve, Measured};
use xoff_scenario::read;

/// FNV-1a over 128 bits, eight bytes at a time: not against malice, only to tell inputs apart. Every step
/// can be undone, so inputs that differ in one place never have the same.
#[derive(Clone, Copy)]
pub struct Fingerprint(u128);

impl Fingerprint {
    pub fn start() -> Fingerprint {
        Fingerprint(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds one input; where it ends counts too.
    pub fn with(mut self, bytes: &[u8]) -> Fingerprint {
        let mut step = |word: u64| {
            self.0 = (self.0 ^ u128::from(word)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        };
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| step(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| step(u64::from(*byte)));
        step(bytes.len() as u64);
        self
    }

    pub fn text(self) -> String {
        format!("{:032x}", self.0)
    }
}

/// What identifies this program: its version and its own bytes.
pub fn build_id() -> io::Result<String> {
    let bytes = std::fs::read(std::env::current_exe()?)?;
    let hash = Fingerprint::start().with(&bytes).text();
    Ok(format!("{} {hash}", env!("CARGO_PKG_VERSION")))
}

const LARGEST_BYTES: u64 = 1_000_000_000;
const SEAL_END: &str = "}\n";

/// What a finished run must have been made from to be taken.
pub struct Origin {
    /// The fingerprint of scenario and measures.
    pub inputs: String,
    pub build: String,
    /// Whether the same inputs suffice, whatever build made the run.
    pub any_build: bool,
}

/// The run kept in `path`, if it is of this origin and as it was written.
pub fn load(path: &Path, origin: &Origin) -> Option<Run> {
    if !path.exists() {
        return None;
    }
    let Some(value) = read::text(path, LARGEST_BYTES).ok().and_then(|text| unsealed(&text)) else {
        note(format!("{} is not as it was written; the run is made again", path.display()));
        return None;
    };
    let same_build = origin.any_build || value["build"].as_str()? == origin.build;
    if value["inputs"].as_str()? != origin.inputs || !same_build {
        return None;
    }
    run_of(&value)
}

/// The text of a file: the checksum of the run's own text, and that text.
pub fn sealed(body: &str) -> String {
    format!("{}{body}{SEAL_END}", seal(body))
}

fn seal(body: &str) -> String {
    format!("{{\"checksum\":\"{}\",\"run\":", Fingerprint::start().with(body.as_bytes()).text())
}

/// The run in the text of a file, if no byte of it has changed.
fn unsealed(text: &str) -> Option<Value> {
    let body = text.get(seal("").len()..)?.strip_suffix(SEAL_END)?;
    if text != sealed(body) {
        return None;
    }
    serde_json::from_str(body).ok()
}

fn run_of(value: &Value) -> Option<Run> {
    let mut measured = Measured::default();
    for (name, number) in value["numbers"].as_object()? {
        measured.numbers.insert(name.clone(), read_number(number)?);
    }
    for (name, curve) in value["curves"].as_object()? {
        let axis = |key: &str| curve[key].as_array()?.iter().map(read_number).collect::<Option<Vec<f64>>>();
        measured.curves.insert(name.clone(), Curve { x: axis("x")?, y: axis("y")? });
    }
    Some(Run {
        seed: value["seed"].as_u64()?,
        measured,
        failure: value["failure"].as_str().map(str::to_owned),
        cpu_seconds: value["cpu_seconds"].as_f64()?,
        packet_hops: value["packet_hops"].as_u64()?,
    })
}

/// Keeps a run; it appears under its name only when whole.
pub fn save(path: &Path, origin: &Origin, run: &Run) -> io::Result<()> {
    let numbers: Map<String, Value> =
        run.measured.numbers.iter().map(|(name, number)| (name.clone(), write_number(*number))).collect();
    let axis = |values: &[f64]| values.iter().map(|value| write_number(*value)).collect::<Vec<_>>();
    let curve = |curve: &Curve| json!({ "x": axis(&curve.x), "y": axis(&curve.y) });
    let curves: Map<String, Value> = run.measured.curves.iter().map(|(name, of)| (name.clone(), curve(of))).collect();
    let value = json!({
        "inputs": origin.inputs,
        "build": origin.build,
        "seed": run.seed,
        "numbers": numbers,
        "curves": curves,
        "failure": run.failure,
        "cpu_seconds": run.cpu_seconds,
        "packet_hops": run.packet_hops,
    });
    whole::write(path, sealed(&value.to_string()).as_bytes(), Present::Replace)
}

/// JSON has no infinity.
fn write_number(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { json!(number.to_string()) }
}

fn read_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_comes_back_as_it_was_and_only_for_its_inputs() {
        let folder = std::env::temp_dir().join(format!("xoff-store-{}", std::process::id()));
        let path = folder.join("a").join("run.json");
        let mut measured = Measured::default();
        measured.numbers.insert("tree".into(), 0.1 + 0.2);
        measured.numbers.insert("never".into(), f64::INFINITY);
        measured.curves.insert("c".into(), Curve { x: vec![0.0, 1.0], y: vec![2.5, f64::INFINITY] });
        let run = Run { seed: 7, measured, failure: Some("deadlock".into()), cpu_seconds: 1.5, packet_hops: 10 };
        let origin = |inputs: &str, build: &str, any_build| Origin {
            inputs: inputs.to_owned(),
            build: build.to_owned(),
            any_build,
        };
        save(&path, &origin("one", "a", false), &run).unwrap();
        let back = load(&path, &origin("one", "a", false)).unwrap();
        assert_eq!(back.measured, run.measured);
        assert_eq!((back.seed, back.failure, back.packet_hops), (7, run.failure, 10));
        assert!(load(&path, &origin("two", "a", true)).is_none());
        assert!(load(&path, &origin("one", "b", false)).is_none());
        assert!(load(&path, &origin("one", "b", true)).is_some());
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed.remove(at);
            for bit in 0..=8 {
                std::fs::write(&path, &changed).unwrap();
                assert!(load(&path, &origin("one", "a", true)).is_none(), "byte {at}, {bit} of 8 bits flipped");
                changed = whole.clone();
                changed[at] ^= 1 << (bit % 8);
            }
        }
        std::fs::write(&path, &whole).unwrap();
        assert!(load(&path, &origin("one", "a", true)).is_some());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn fingerprints_know_where_inputs_end() {
        let of = |parts: &[&str]| parts.iter().fold(Fingerprint::start(), |f, part| f.with(part.as_bytes())).text();
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }
}
