//! my-idea beside PFC alone, in the scenario of this package.

use std::process::Command;

/// The scenario under one scheme, as the program's own JSON.
fn run(scheme: &str) -> String {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/incast.toml");
    let set = format!("scheme.name={scheme}");
    let run = Command::new(env!("CARGO_BIN_EXE_my-idea"))
        .args(["run", scenario, "--set", &set, "--json", "--no-out"])
        .output()
        .expect("the program starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("JSON is text")
}

/// A counter of a run.
fn number(json: &str, name: &str) -> u64 {
    let from = json.find(&format!("\"{name}\":")).unwrap_or_else(|| panic!("no {name} in {json}")) + name.len() + 3;
    let digits: String = json[from..].trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{name} is no number in {json}"))
}

#[test]
fn it_sends_everything_and_pauses_less() {
    let (none, mine) = (run("none"), run("my-idea"));
    assert_eq!(number(&mine, "flows_completed"), number(&none, "flows_completed"));
    assert_eq!(number(&mine, "drops"), 0, "{mine}");
    let (with, without) = (number(&mine, "pause_frames"), number(&none, "pause_frames"));
    assert!(with < without, "{with} PAUSE frames, {without} without control");
}
