//! Finished runs on disk, so that nothing is run twice.
//!
//! One sealed file per run. It names the inputs it was made from: if those have changed, the run is made again.

use super::results::Run;
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;
use xoff_scenario::measure::{Curve, Measured};
use xoff_sweep::seal::{self, read_number, write_number};

/// What a finished run must have been made from to be taken.
pub struct Origin {
    /// The fingerprint of scenario and measures.
    pub inputs: String,
    pub build: String,
    /// Whether the same inputs suffice, whatever build made the run.
    pub any_build: bool,
}

/// What is kept in `path`, if it is of this origin and as it was written.
pub(super) fn find(path: &Path, origin: &Origin) -> Option<Value> {
    let value = seal::load(path)?;
    let same_build = origin.any_build || value["build"].as_str()? == origin.build;
    (same_build && value["inputs"].as_str()? == origin.inputs).then_some(value)
}

/// The run kept in `path`, if it is of this origin and as it was written.
pub fn load(path: &Path, origin: &Origin) -> Option<Run> {
    run_of(&find(path, origin)?)
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
        inputs: value["inputs"].as_str()?.to_owned(),
        seed: value["seed"].as_u64()?,
        measured,
        failure: value["failure"].as_str().map(str::to_owned),
        cpu_seconds: value["cpu_seconds"].as_f64()?,
        packet_hops: value["packet_hops"].as_u64()?,
        found: true,
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
        "inputs": run.inputs,
        "build": origin.build,
        "seed": run.seed,
        "numbers": numbers,
        "curves": curves,
        "failure": run.failure,
        "cpu_seconds": run.cpu_seconds,
        "packet_hops": run.packet_hops,
    });
    seal::save(path, &value)
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
        let run = Run {
            inputs: "one".into(),
            seed: 7,
            measured,
            failure: Some("deadlock".into()),
            cpu_seconds: 1.5,
            packet_hops: 10,
            found: false,
        };
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
        std::fs::remove_dir_all(folder).unwrap();
    }
}
