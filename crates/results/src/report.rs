//! `report.html`: one page that needs nothing else, for a run or a comparison.

use super::columns::Entry;
use super::compare::Comparison;
use super::figures::chart::Chart;
use super::figures::svg;
use super::grid::Grid;
use super::incident::Warning;
use super::outcome::{Kind, Outcome};
use super::summary::{Check, Summary};
use super::text;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;
use xoff_scenario::number::{microseconds, thousands};

type Failed = Box<dyn std::error::Error + Send + Sync>;

#[derive(Serialize)]
struct Figure {
    title: String,
    svg: String,
}

#[derive(Serialize)]
struct Table {
    title: String,
    grid: Grid,
    notes: Vec<String>,
}

/// Numbers over two axes, each cell in a shade of its own.
#[derive(Serialize)]
pub struct HeatMap {
    /// What is shown, and of what.
    pub title: String,
    /// What the columns are, and what the rows are.
    pub axes: (String, String),
    /// Titles of the columns.
    pub head: Vec<String>,
    /// Title of each row, and its cells: the number, and how dark it is, from 0 to 1.
    pub rows: Vec<(String, Vec<(String, f64)>)>,
}

/// What the page of a sweep holds.
pub struct SweepPage<'a> {
    /// Name of the scenario, mostly.
    pub title: &'a str,
    /// What was found, in one sentence.
    pub finding: &'a str,
    /// Names and values.
    pub facts: Vec<(&'static str, String)>,
    /// Title and cells.
    pub tables: Vec<(String, Grid)>,
    /// Drawn one below the other.
    pub charts: &'a [Chart],
    /// Below the figures.
    pub heat_maps: Vec<HeatMap>,
    /// What was typed.
    pub command: &'a str,
}

#[derive(Serialize)]
struct Run<'a> {
    scheme: String,
    sound: bool,
    checks: Vec<(&'a str, &'static str, &'a str)>,
    failure: Option<&'a str>,
    warnings: Vec<String>,
    scenario: &'a str,
    /// Directory of the run within a comparison.
    directory: Option<String>,
}

/// What the template is filled with.
#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    facts: Vec<(&'static str, String)>,
    tables: Vec<Table>,
    figures: Vec<Figure>,
    runs: Vec<Run<'a>>,
    command: &'a str,
    comparison: bool,
    several_seeds: bool,
    finding: &'a str,
    heat_maps: Vec<HeatMap>,
}

/// The page of one run.
pub fn of_run(outcome: &Outcome, charts: &[Chart]) -> Result<String, Failed> {
    let summary = &outcome.summary;
    let sections = text::sections(summary);
    let tables =
        sections.into_iter().map(|section| Table { title: section.title, grid: section.grid, notes: Vec::new() });
    let command = format!("xoff run scenario.toml --seed {}", summary.seed);
    page(
        &format!("{} under {}", summary.name, summary.scheme),
        facts(summary, true),
        tables.collect(),
        charts,
        (&[outcome], 1),
        &command,
    )
}

/// The page of several runs.
pub fn of_comparison(
    comparison: &Comparison,
    entries: &[Entry],
    charts: &[Chart],
    kind: Kind,
) -> Result<String, Failed> {
    let mut tables: Vec<Table> = comparison
        .tables
        .iter()
        .map(|table| Table { title: table.title.clone(), grid: table.grid.clone(), notes: Vec::new() })
        .collect();
    // They explain all of them.
    if let Some(last) = tables.last_mut() {
        last.notes.clone_from(&comparison.notes);
    }
    let schemes: Vec<&str> = entries.iter().map(|entry| entry.scheme.as_str()).collect();
    let (mut facts, seed, seeds) = match entries.first() {
        Some(first) => (facts(&first.first().summary, false), first.first().summary.seed, first.runs.len()),
        None => (Vec::new(), 0, 0),
    };
    let mut command = match kind {
        Kind::Schemes => format!("xoff compare scenario.toml --schemes {} --seed {seed}", schemes.join(",")),
        Kind::Seeds => format!("xoff run scenario.toml --seed {seed}"),
    };
    if seeds > 1 {
        command.push_str(&format!(" --seeds {seeds}"));
        facts.iter_mut().filter(|(name, _)| *name == "Seed").for_each(|(name, value)| {
            (*name, *value) = ("Seeds", format!("{seed} and the next {}", seeds - 1));
        });
    }
    let outcomes: Vec<&Outcome> = entries.iter().flat_map(|entry| &entry.runs).collect();
    let depth = if kind == Kind::Schemes && seeds > 1 { 2 } else { 1 };
    page(&comparison.title, facts, tables, charts, (&outcomes, depth), &command)
}

/// The page of a sweep.
pub fn of_sweep(of: SweepPage<'_>) -> Result<String, Failed> {
    let tables = of.tables.into_iter().map(|(title, grid)| Table { title, grid, notes: Vec::new() });
    render(&Page {
        title: of.title,
        facts: of.facts,
        tables: tables.collect(),
        figures: drawn(of.charts)?,
        runs: Vec::new(),
        command: of.command,
        comparison: true,
        several_seeds: false,
        finding: of.finding,
        heat_maps: of.heat_maps,
    })
}

fn drawn(charts: &[Chart]) -> Result<Vec<Figure>, Failed> {
    charts.iter().map(|chart| Ok(Figure { title: chart.title.clone(), svg: svg(chart)? })).collect()
}

fn render(page: &Page<'_>) -> Result<String, Failed> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("report", include_str!("../assets/report.html"))?;
    Ok(environment.get_template("report")?.render(Serde(page))?)
}

fn verdict(check: &Check) -> &'static str {
    match (check.held, check.allowed) {
        (true, _) => "held",
        (false, true) => "allowed",
        (false, false) => "broken",
    }
}

fn facts(summary: &Summary, one_run: bool) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Scenario", summary.name.clone()),
        ("Seed", summary.seed.to_string()),
        ("Simulated", microseconds(summary.sim_time_us)),
        ("Flows", thousands(summary.flows_total)),
        ("Xoff", summary.version.clone()),
    ];
    if one_run {
        facts.insert(1, ("Scheme", summary.scheme.clone()));
        facts.push(("Packet hops", thousands(summary.packet_hops)));
    }
    facts
}

fn page(
    title: &str,
    facts: Vec<(&'static str, String)>,
    tables: Vec<Table>,
    charts: &[Chart],
    // With how many names of its path a run is known within the directory.
    (outcomes, depth): (&[&Outcome], usize),
    command: &str,
) -> Result<String, Failed> {
    let several_seeds = outcomes.iter().any(|outcome| outcome.summary.seed != outcomes[0].summary.seed);
    let name = |outcome: &Outcome| match several_seeds {
        true => format!("{}, seed {}", outcome.summary.scheme, outcome.summary.seed),
        false => outcome.summary.scheme.clone(),
    };
    let run = |outcome: &'_ Outcome| {
        let path = outcome.directory.as_ref().filter(|_| outcomes.len() > 1)?;
        let names: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        Some(names[names.len().saturating_sub(depth)..].join("/"))
    };
    // Of many seeds one speaks for all that hold.
    let is_shown = |outcome: &&&Outcome| outcome.summary.seed == outcomes[0].summary.seed || !outcome.summary.sound();
    let runs: Vec<Run<'_>> = outcomes
        .iter()
        .filter(is_shown)
        .map(|outcome| Run {
            scheme: name(outcome),
            sound: outcome.summary.sound(),
            checks: outcome.summary.checks.iter().map(|c| (c.name.as_str(), verdict(c), c.detail.as_str())).collect(),
            failure: outcome.summary.failure.as_deref(),
            // A comparison tells them below its table, each once.
            warnings: match outcomes.len() {
                1 => outcome.summary.warnings.iter().map(Warning::text).collect(),
                _ => Vec::new(),
            },
            scenario: &outcome.scenario,
            directory: run(outcome),
        })
        .collect();
    render(&Page {
        title,
        facts,
        tables,
        figures: drawn(charts)?,
        runs,
        command,
        comparison: outcomes.len() > 1,
        several_seeds,
        finding: "",
        heat_maps: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{fixture, writer::RunWriter};
    use super::*;

    fn outcome(name: &str) -> Outcome {
        let plan = fixture::plan();
        let mut context = fixture::context(&plan);
        context.name = name.into();
        let mut writer = RunWriter::create(None, &context).unwrap();
        let flows: Vec<_> = (0..40).map(|i| fixture::flow(i, 1000 + 500 * u64::from(i), 10, 30)).collect();
        writer.flows(&flows).unwrap();
        let delivered = flows.iter().map(|f| f.delivered_bytes).sum();
        writer.finish(fixture::end(delivered)).unwrap()
    }

    #[test]
    fn a_page_stands_alone_and_is_escaped() {
        let outcome = outcome("<script>alert(1)</script>");
        let charts = super::super::figures::of_run(&outcome);
        let html = of_run(&outcome, &charts).unwrap();
        assert!(!html.contains("<script"), "user text must be escaped");
        assert!(html.contains("&lt;script&gt;"));
        for outside in ["src=", "@import", "<link"] {
            assert!(!html.contains(outside), "{outside} would need the network");
        }
        assert!(html.contains(" width=\"900\"") && html.contains("# &lt;&amp;&gt;"));
        assert!(html.contains("xoff run scenario.toml --seed 7"));
    }

    #[test]
    fn failures_stand_on_the_page() {
        let mut outcome = outcome("x");
        outcome.summary.failure = Some("stall at 3ms".into());
        let html = of_run(&outcome, &[]).unwrap();
        assert!(html.contains("stall at 3ms"));
    }
}
