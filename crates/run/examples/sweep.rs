//! One scenario under several values of a key: how many senders an incast may have before PFC must act, and what the
//! last of them then waits for.
//!
//!     cargo run -p xoff-run --example sweep
//!
//! The scenario is read once and loaded for each value, with the same `KEY=VALUE` that `xoff run --set` takes. What is
//! to be known of a run is said in the scenario too, as measures (docs/metrics.md); only what they need is kept.

use std::error::Error;
use std::path::Path;
use xoff_run::recorder;
use xoff_scenario::{Options, Scenario};

const SCENARIO: &str = r#"
name = "incast"

[topology]
kind = "star"
hosts = 33
rate = "100Gbps"
delay = "1us"

[switch.pfc]
threshold = "static"
xoff = "300KB"

[scheme]
name = "none"

[[traffic]]
kind = "incast"
sources = "h[0..31]"
destinations = "h32"
degree = 4
sizes = "500KB"
period = "1ms"
events = 1

[[measure]]
name = "first"
metric = "fct"
stat = "min"
unit = "us"

[[measure]]
name = "last"
metric = "fct"
stat = "max"
unit = "us"

[[measure]]
name = "pauses"
metric = "counter"
of = "pause_frames"
"#;

const KEY: &str = "traffic.0.degree";
const VALUES: [u32; 5] = [1, 2, 4, 8, 16];

/// What one value of the key gives.
struct Row {
    degree: u32,
    first_us: f64,
    last_us: f64,
    pauses: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("senders  first us  last us  PAUSE frames");
    for Row { degree, first_us, last_us, pauses } in sweep()? {
        println!("{degree:>7}  {first_us:>8.1}  {last_us:>7.1}  {pauses:>12}");
    }
    Ok(())
}

fn sweep() -> Result<Vec<Row>, Box<dyn Error>> {
    // All schemes can be named by scenarios from now on.
    xoff_schemes::install_all();
    // Files that the text names, such as distributions of sizes, would be looked for in this folder.
    let scenario = Scenario::from_text("incast.toml", SCENARIO, Path::new("."));
    VALUES.into_iter().map(|degree| measure(&scenario, degree)).collect()
}

/// Runs are independent: a program in a hurry does this on several threads.
fn measure(scenario: &Scenario, degree: u32) -> Result<Row, Box<dyn Error>> {
    let options = Options { sets: vec![format!("{KEY}={degree}")], ..Options::default() };
    // What is wrong comes all at once; each problem says where, what was expected, and what may have been meant.
    let loaded = scenario.load(&options).map_err(|problems| problems[0].to_string())?;
    let recording = recorder::record(&loaded, &loaded.measures, |_progress| {})?;
    if let Some(failure) = &recording.failure {
        return Err(format!("{KEY}={degree}: {failure:?}").into());
    }
    let numbers = loaded.measures.take(&loaded.plan, &recording).numbers;
    Ok(Row { degree, first_us: numbers["first"], last_us: numbers["last"], pauses: numbers["pauses"] })
}

#[test]
fn more_senders_take_longer_and_need_pfc() -> Result<(), Box<dyn Error>> {
    let rows = sweep()?;
    assert_eq!(rows.len(), VALUES.len());
    assert!(rows.is_sorted_by(|a, b| 1.9 * a.last_us < b.last_us), "twice the senders, twice the time");
    assert!(rows.iter().all(|row| row.first_us <= row.last_us));
    assert!(rows[0].pauses == 0.0 && rows[VALUES.len() - 1].pauses > 0.0);
    main()
}
