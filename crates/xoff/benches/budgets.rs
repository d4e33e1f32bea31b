//! `cargo bench --bench budgets`: instructions per packet-hop of some cases, by callgrind, against their budgets.
//!
//! Counts do not depend on the machine's mood, so a case that has 3 % more than its budget fails. Set-up is not counted.
//! Without valgrind, CPU time per packet-hop is shown as a ratio to that of the first case, and nothing fails.
//!
//! Arguments choose cases by parts of their names. `XOFF=PROGRAM` counts another binary, `XOFF_UPDATE=1` writes the table
//! of docs/performance.md.

use serde::Deserialize;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// More than the budget by this share fails.
const ALLOWANCE: f64 = 0.03;
const BEGIN: &str = "<!-- budgets -->\n";
const END: &str = "<!-- end of budgets -->";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budgets {
    case: Vec<Case>,
}

/// What is run and counted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    about: String,
    /// A scenario of the program, or one of its own.
    #[serde(default)]
    scenario: String,
    #[serde(default)]
    toml: String,
    #[serde(default)]
    set: Vec<String>,
    /// Instructions per packet-hop.
    budget: f64,
}

/// What a run was.
struct Counted {
    packet_hops: f64,
    events: f64,
    /// Instructions, or seconds of CPU time.
    spent: f64,
}

fn main() -> ExitCode {
    match count() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count() -> Result<bool, Box<dyn Error>> {
    let budgets: Budgets = toml::from_str(include_str!("budgets.toml"))?;
    // Cargo adds `--bench`.
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let chosen = |case: &&Case| asked.is_empty() || asked.iter().any(|part| case.name.contains(part.as_str()));
    let cases: Vec<&Case> = budgets.case.iter().filter(chosen).collect();
    let folder = std::env::temp_dir().join(format!("xoff-budgets-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    let (mut first, mut held) = (None, true);
    let mut table =
        "| case | what | instructions per packet-hop | per event | budget |\n|---|---|---|---|---|\n".to_owned();
    for case in cases {
        let counted = run(case, &folder, valgrind)?;
        let (per_hop, per_event) = (counted.spent / counted.packet_hops, counted.spent / counted.events);
        if !valgrind {
            let ratio = per_hop / *first.get_or_insert(per_hop);
            println!("{:28} {:8.1} ns per packet-hop, {ratio:.2} of the first", case.name, per_hop * 1e9);
            continue;
        }
        let over = per_hop / case.budget - 1.0;
        let verdict = match over {
            _ if over > ALLOWANCE => "OVER BUDGET",
            _ if over < -ALLOWANCE => "the budget may be lowered",
            _ => "",
        };
        held &= over <= ALLOWANCE;
        println!(
            "{:28} {per_hop:8.1} per packet-hop, {per_event:8.1} per event, budget {} {verdict}",
            case.name, case.budget
        );
        table += &format!("| {} | {} | {per_hop:.0} | {per_event:.0} | {} |\n", case.name, case.about, case.budget);
    }
    std::fs::remove_dir_all(&folder)?;
    if valgrind && asked.is_empty() && std::env::var_os("XOFF_UPDATE").is_some() {
        write_table(&table)?;
    }
    Ok(held)
}

/// Runs a case on one thread.
fn run(case: &Case, folder: &Path, valgrind: bool) -> Result<Counted, Box<dyn Error>> {
    let program = std::env::var("XOFF").unwrap_or_else(|_| env!("CARGO_BIN_EXE_xoff").to_owned());
    let scenario = match case.toml.is_empty() {
        true => case.scenario.clone(),
        false => {
            let file = folder.join("case.toml");
            std::fs::write(&file, &case.toml)?;
            file.display().to_string()
        }
    };
    let mut command = match valgrind {
        true => {
            let mut command = Command::new("valgrind");
            let out = format!("--callgrind-out-file={}", folder.join("callgrind").display());
            command.args(["--tool=callgrind", &out, "--toggle-collect=*Simulation>::run_with*", &program]);
            command
        }
        false => Command::new(&program),
    };
    command.args(["run", &scenario, "--no-out", "--json", "--threads", "1"]);
    for set in &case.set {
        command.args(["--set", set]);
    }
    let output = command.output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(format!("{}: {told}", case.name).into());
    }
    let run: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let number = |name: &str| run[name].as_f64().ok_or(format!("{}: no {name} in the output", case.name));
    let spent = match valgrind {
        true => {
            let line = told.lines().find_map(|line| line.split_once("Collected : "));
            line.and_then(|(_, count)| count.trim().parse().ok()).ok_or("callgrind has counted nothing")?
        }
        false => number("run_cpu_seconds")?,
    };
    Ok(Counted { packet_hops: number("packet_hops")?, events: number("events")?, spent })
}

/// Writes the table between its marks.
fn write_table(table: &str) -> Result<(), Box<dyn Error>> {
    let page: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/performance.md");
    let text = std::fs::read_to_string(&page)?;
    let (before, rest) = text.split_once(BEGIN).ok_or("docs/performance.md has no mark where the table begins")?;
    let (_, after) = rest.split_once(END).ok_or("docs/performance.md has no mark where the table ends")?;
    std::fs::write(&page, format!("{before}{BEGIN}{table}{END}{after}"))?;
    Ok(())
}
