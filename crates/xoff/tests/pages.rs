//! Pages of the repository: those that are made from the program's own data are what it would write
//! (`XOFF_UPDATE=1 cargo test -p xoff --test house pages` writes them), those of the papers agree with each other, links
//! lead somewhere, and the scenario and the cluster of the README run.

use crate::common::{self, Bench};
use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use xoff::reproduce::claims::Claim;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn assert_fresh(file: &str, fresh: &str) {
    let path = root().join(file);
    if std::env::var_os("XOFF_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "{file} is out of date; refresh it with\n  XOFF_UPDATE=1 cargo test -p xoff --test house pages"
    );
}

#[test]
fn the_schema_is_fresh() {
    xoff_schemes::install_all();
    assert_fresh("schema/scenario.schema.json", &xoff_scenario::dictionary::schema::render());
}

#[test]
fn the_contract_of_the_replay_is_fresh() {
    assert_fresh("web/src/replay/data/contract.ts", &xoff_view::collection::typescript());
}

#[test]
fn the_page_of_metrics_is_fresh() {
    assert_fresh("docs/metrics.md", &xoff_scenario::measure::page::markdown());
}

#[test]
fn the_page_of_formats_is_fresh() {
    assert_fresh("docs/formats.md", &xoff_scenario::import::page::markdown());
}

#[test]
fn the_page_of_models_is_fresh() {
    assert_fresh("docs/models.md", &xoff::models_text::markdown());
}

#[test]
fn the_first_scenario_of_the_readme_warns_of_nothing() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let block = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(block.starts_with("name = \"small-fabric\""), "{block}");
    let bench = Bench::with("readme.toml", block);
    let page = bench.ok(&["run", "readme.toml", "--no-out", "--set", "traffic.0.flows=100"]);
    assert!(!page.contains("warning"), "{page}");
}

/// The lines of a cluster, with a queue that is a loop; `scripts/slurm` runs them on a real one.
#[test]
fn the_cluster_of_the_readme_works_as_printed() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let section = readme.split("## On a cluster\n").nth(1).unwrap();
    let lines = section.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let queue = r#"#!/bin/sh
        for script; do :; done
        last=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
        for task in $(seq 0 "$last"); do SLURM_ARRAY_TASK_ID=$task sh "$script" || exit; done"#;
    let bench = Bench::with("sbatch", queue);
    let program = |name: &str| bench.path.join(name);
    std::fs::set_permissions(program("sbatch"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink(env!("CARGO_BIN_EXE_xoff"), program("xoff")).unwrap();
    symlink(root().join("scenarios"), program("scenarios")).unwrap();
    let path = format!("{}:{}", bench.path.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-euc", lines]).current_dir(&bench.path).env("PATH", path).env_remove("XOFF").env_remove("XOFF_PLAN");
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{lines}\n{}", common::stderr(&output));
    let out = lines.split("--out ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    assert!(bench.path.join(out).join("runs.parquet").exists(), "{lines}");
}

/// The pages of a folder and of those below it, with their paths from the root.
fn documents(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            found.extend(documents(&path));
        } else if path.ends_with(".md") {
            found.push((path, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

/// Where the links of a page lead; fenced code has none.
fn links(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next()).collect()
}

/// Whether a page has such a place: one that it names itself, or a heading as forges name it.
fn has_place(page: &str, name: &str) -> bool {
    let slug = |line: &str| -> String {
        let kept = line.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    page.contains(&format!("<a id=\"{name}\"></a>"))
        || page.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == name)
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = documents("docs");
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        pages.push((name.to_owned(), std::fs::read_to_string(root().join(name)).unwrap()));
    }
    let (mut wrong, mut looked_at) = (Vec::new(), 0);
    for (path, page) in &pages {
        for link in links(page).into_iter().filter(|link| !link.contains("://")) {
            looked_at += 1;
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { root().join(path) } else { root().join(path).with_file_name(file) };
            let there = || std::fs::read_to_string(&target).is_ok_and(|text| has_place(&text, place));
            if !target.exists() || !(place.is_empty() || there()) {
                wrong.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(looked_at > 1000, "the pages have {looked_at} links: are they still read?");
    assert!(wrong.is_empty(), "these lead nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn figures_of_the_papers_are_all_shown() {
    let shown: BTreeSet<String> = documents("docs/reproduction")
        .iter()
        .flat_map(|(_, page)| links(page))
        .filter_map(|link| link.strip_prefix("figures/").map(str::to_owned))
        .collect();
    let entries = std::fs::read_dir(root().join("docs/reproduction/figures")).unwrap();
    let files: BTreeSet<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(shown.len() > 100, "the pages show {} figures: are they still read?", shown.len());
    assert_eq!(files.difference(&shown).collect::<Vec<_>>(), [""; 0], "no page shows these");
    assert_eq!(shown.difference(&files).collect::<Vec<_>>(), [""; 0], "these are shown and not there");
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_start_matches("| ").trim_end_matches(" |").split(" | ").collect()
}

/// How many claims hold, hold in direction, do not hold, are undecided, are not run and are not judged; those that cannot
/// fail, or are contradicted by their paper, are in tables of their own.
fn counted(claims: &[(String, String)]) -> [usize; 6] {
    ["**holds**", "in direction", "**does not hold**", "*undecided*", "*not run*", "*not judged*"]
        .map(|verdict| claims.iter().filter(|(_, of)| of == verdict).count())
}

#[test]
fn the_index_counts_what_the_pages_of_the_papers_say() {
    xoff_schemes::install_all();
    let Ok(catalogue) = xoff::reproduce::catalogue::Catalogue::open(&root()) else { panic!("see tests/reproduce.rs") };
    let index = std::fs::read_to_string(root().join("docs/reproduction.md")).unwrap();
    let row = |link: &str| -> Vec<&str> {
        let line = index.lines().find(|line| line.starts_with(&format!("| {link} | ")));
        cells(line.unwrap_or_else(|| panic!("the index has no row of {link}")))
    };
    let mut all = Vec::new();
    let mut out_of_date = BTreeSet::new();
    for paper in &catalogue.papers {
        let file = format!("reproduction/{}.md", paper.id);
        // Pages by earlier rules have neither the verdicts nor the claims of today, and count in no total.
        if index.contains(&format!("| [{}]({file}) \\* | ", paper.id)) {
            assert!(index.contains(&format!("\n- [{}]({file}): made with ", paper.id)), "{file}");
            out_of_date.insert(paper.id.clone());
            continue;
        }
        let page = std::fs::read_to_string(root().join("docs").join(&file)).unwrap();
        let claim = |line: &&str| line.starts_with(&format!("| {}-c", paper.id)) && cells(line).len() == 7;
        let of_line = |line: &str| (cells(line)[0].to_owned(), cells(line)[4].to_owned());
        let own: Vec<(String, String)> = page.lines().filter(claim).map(of_line).collect();
        let counts = counted(&own).map(|count| count.to_string());
        let told = row(&format!("[{}]({file})", paper.id));
        // After the reading and the number of all claims.
        assert_eq!(told[3..9], counts.each_ref().map(String::as_str), "{file}");
        let known = |id: &str| catalogue.claims.iter().any(|claim| claim.id.value == id);
        let strange: Vec<&String> = own.iter().map(|(id, _)| id).filter(|id| !known(id)).collect();
        assert!(strange.is_empty(), "{file} has claims that no paper makes: {strange:?}");
        for experiment in catalogue.experiments.iter().filter(|of| of.paper == paper.id) {
            let told = row(&format!("[{id}]({file}#{id})", id = experiment.id));
            let rest = page.split_once(&format!("<a id=\"{}\"></a>", experiment.id)).expect(&experiment.id).1;
            let section = rest.split("<a id=\"").next().unwrap();
            let own: Vec<(String, String)> = section.lines().filter(claim).map(of_line).collect();
            let counts = counted(&own).map(|count| if told[3] == "-" { "-".to_owned() } else { count.to_string() });
            assert_eq!(told[4..8], counts[..4], "{}", experiment.id);
        }
        all.extend(own);
    }
    all.sort();
    all.dedup_by(|a, b| a.0 == b.0);
    let apart = |claim: &Claim| !claim.cannot_fail.is_empty() || !claim.contradicted.is_empty();
    let paper = |claim: &Claim| claim.id.value.split('-').next().unwrap_or_default().to_owned();
    let of_today = |claim: &&Claim| !out_of_date.contains(&paper(claim)) && !apart(claim);
    let counting = catalogue.claims.iter().filter(of_today).count();
    assert_eq!(all.len(), counting, "every claim is judged once");
    let told = row("**all**");
    let counts = counted(&all).map(|count| count.to_string());
    assert_eq!(told[3..9], counts.each_ref().map(String::as_str));
}

/// The lines of README.md work as printed, in an empty folder.
#[test]
fn what_the_readme_prints_of_sweeps_works() {
    let readme = include_str!("../../../README.md");
    let section = readme.split("\n## ").find(|section| section.starts_with("Sweeps\n")).unwrap();
    let block = section.split("```").nth(1).unwrap().strip_prefix("sh\n").unwrap();
    let bench = common::Bench::new();
    assert_eq!(block.lines().count(), 3);
    for line in block.lines() {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        assert!(!bench.ok(&words).is_empty(), "{line}");
    }
    assert!(bench.path.join("results/incast-sweep/runs.parquet").is_file());
}

/// Seeds of a scenario whose traffic is not random would all give one result without congestion control.
#[test]
fn scenarios_that_the_readme_compares_with_seeds_depend_on_them() {
    let readme = include_str!("../../../README.md");
    let names: Vec<&str> = readme
        .lines()
        .filter(|line| line.starts_with("xoff compare ") && line.contains(" --seeds "))
        .map(|line| line.split_whitespace().nth(2).unwrap())
        .collect();
    assert!(!names.is_empty());
    let bench = common::Bench::new();
    symlink(root().join("scenarios"), bench.path.join("scenarios")).unwrap();
    for name in names {
        let events = |seed| {
            let told = bench.ok(&["run", name, "--seed", seed, "--set", "scheme.name=none", "--no-out", "--json"]);
            let run: serde_json::Value = serde_json::from_str(&told).unwrap();
            run["events"].as_u64().unwrap()
        };
        assert_ne!(events("1"), events("2"), "{name}");
    }
}
