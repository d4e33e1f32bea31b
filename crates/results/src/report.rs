//! `report.html`: one page that needs nothing else, for a run or a comparison.

use super::columns::Entry;
use super::compare::Comparison;
use super::figures::chart::Chart;
use super::finding;
use super::grid::{Grid, Section};
use super::incident::Warning;
use super::live_timing::LiveTiming;
use super::names::scheme_label;
use super::outcome::Outcome;
use super::page::{self, Figure};
use super::settings::Differences;
use super::summary::{Check, Summary};
use super::text;
use minijinja::value::Serde;
use serde::Serialize;
use xoff_scenario::number::{count, microseconds, thousands};

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Shades of a heat map: the style sheet has a class for each.
pub const DARKEST: u8 = 20;

/// Numbers over two axes, each cell in a shade of its own.
#[derive(Serialize)]
pub struct HeatMap {
    /// What is shown, and of what.
    pub title: String,
    /// What the columns are, and what the rows are.
    pub axes: (String, String),
    pub head: Vec<String>,
    /// Title of each row, and its cells: the number, and how dark it is, from 0 to [`DARKEST`].
    pub rows: Vec<(String, Vec<(String, u8)>)>,
}

/// What the page of a sweep holds.
pub struct SweepPage<'a> {
    pub title: &'a str,
    /// What was found, in one sentence.
    pub finding: &'a str,
    pub facts: Vec<(&'static str, String)>,
    /// Above the figures.
    pub tables: Vec<Section>,
    pub charts: &'a [Chart],
    /// Below the figures.
    pub heat_maps: Vec<HeatMap>,
    /// What was typed.
    pub command: &'a str,
}

#[derive(Serialize)]
struct Run<'a> {
    scheme: String,
    failure: Option<&'a str>,
    warnings: Vec<String>,
    scenario: &'a str,
    /// Directory of the run within a comparison.
    directory: Option<String>,
}

/// What only a run on real packets has.
#[derive(Serialize)]
struct RealPackets<'a> {
    setting: String,
    too_slow: Option<&'a str>,
    grid: Grid,
    figures: Vec<Figure>,
}

/// A scheme, what should be so, whether it is, and the numbers.
type Checked<'a> = (String, &'a str, &'static str, &'a str);

/// What the template is filled with.
#[derive(Default, Serialize)]
struct Page<'a> {
    title: &'a str,
    facts: Vec<(&'static str, String)>,
    tables: Vec<Section>,
    figures: Vec<Figure>,
    runs: Vec<Run<'a>>,
    /// Checks that hold take one line; the others are shown.
    held: Vec<Checked<'a>>,
    broken: Vec<Checked<'a>>,
    command: &'a str,
    comparison: bool,
    several_seeds: bool,
    finding: String,
    warnings: Vec<String>,
    /// What is to be said of making it again, in place of the usual.
    again: &'a str,
    heat_maps: Vec<HeatMap>,
    settings: Differences,
    real_packets: Option<RealPackets<'a>>,
}

/// The page of one run; `of_machine` are figures of what only a run on real packets has. What it says to type is about
/// the resolved scenario beside it, whatever was typed first.
pub fn of_run(outcome: &Outcome, charts: &[Chart], of_machine: &[Chart]) -> Result<String, Failed> {
    let summary = &outcome.summary;
    let real_packets =
        summary.live_timing.as_ref().map(|live_timing| real_packets(live_timing, of_machine)).transpose()?;
    let command = if real_packets.is_some() { "live" } else { "run" };
    let mut tables = text::sections(summary);
    // The sentence begins with a disturbance, if there was one.
    if let Some(at) = tables.iter().position(|table| table.title.starts_with(text::DISTURBANCE)) {
        tables[..=at].rotate_right(1);
    }
    if let Some(last) = tables.last_mut() {
        last.notes.extend(text::footnote(summary));
    }
    render(&Page {
        title: &format!("{} under {}", summary.name, scheme_label(&summary.scheme)),
        finding: finding::of_run(summary),
        facts: facts(summary, true),
        tables,
        figures: drawn(charts)?,
        command: &format!("xoff {command} scenario.toml --seed {}", summary.seed),
        real_packets,
        ..of_outcomes(&[outcome], 1)
    })
}

fn real_packets<'a>(live_timing: &'a LiveTiming, charts: &[Chart]) -> Result<RealPackets<'a>, Failed> {
    let (setting, too_slow) = (live_timing.setting(), live_timing.verdict.too_slow());
    Ok(RealPackets { setting, too_slow, grid: live_timing.grid(), figures: drawn(charts)? })
}

/// The page of several runs. `command` is what was typed; `depth`, with how many names of its path a run is known
/// within the directory.
pub fn of_comparison(
    comparison: &Comparison,
    entries: &[Entry],
    charts: &[Chart],
    (command, depth): (&str, usize),
) -> Result<String, Failed> {
    let mut tables = comparison.tables.clone();
    let finding = &comparison.finding;
    // What the sentence is about comes first.
    let about = finding.source.as_ref().map(|source| format!("traffic {source}: "));
    if let Some(at) = about.and_then(|about| tables.iter().position(|table| table.title.starts_with(&about))) {
        tables[..=at].rotate_right(1);
    }
    explain(&mut tables, &comparison.notes);
    let mut facts = entries.first().map_or_else(Vec::new, |first| facts(&first.first().summary, false));
    // Runs may differ in how long they took, and seeds in how many flows they have.
    let summaries = || entries.iter().flat_map(Entry::summaries);
    for (name, value) in &mut facts {
        match *name {
            "Simulated" | "Lasted" => *value = span(summaries().map(|run| run.sim_time_us), microseconds),
            "Flows" => *value = span(summaries().map(|run| run.flows.flows_total as f64), count),
            _ => {}
        }
    }
    let seeds = entries.first().map_or(0, |first| first.runs.len());
    if seeds > 1 {
        facts.iter_mut().filter(|(name, _)| *name == "Seed").for_each(|(name, value)| {
            (*name, *value) = ("Seeds", format!("{value} and the next {}", seeds - 1));
        });
    }
    let outcomes: Vec<&Outcome> = entries.iter().flat_map(|entry| &entry.runs).collect();
    let scenarios: Vec<(String, &str)> =
        entries.iter().map(|entry| (scheme_label(&entry.scheme).to_owned(), entry.first().scenario.as_str())).collect();
    render(&Page {
        title: &comparison.title,
        finding: finding.text.clone(),
        facts,
        tables,
        figures: drawn(charts)?,
        command,
        settings: Differences::of(&scenarios),
        ..of_outcomes(&outcomes, depth)
    })
}

pub fn of_sweep(of: SweepPage<'_>) -> Result<String, Failed> {
    render(&Page {
        title: of.title,
        facts: of.facts,
        tables: of.tables,
        figures: drawn(of.charts)?,
        command: of.command,
        comparison: true,
        finding: of.finding.to_owned(),
        heat_maps: of.heat_maps,
        ..Page::default()
    })
}

/// The page of live runs beside the simulation of the same scenario.
pub(crate) fn of_live(
    Comparison { title, mut tables, finding, notes }: Comparison,
    facts: Vec<(&'static str, String)>,
    warnings: Vec<String>,
    charts: &[Chart],
    command: &str,
) -> Result<String, Failed> {
    explain(&mut tables, &notes);
    render(&Page {
        title: &title,
        facts,
        tables,
        figures: drawn(charts)?,
        command,
        comparison: true,
        finding: finding.text,
        warnings,
        again: "From the same live runs the same page is made; on real packets no two runs are the same.",
        ..Page::default()
    })
}

/// Notes stand below the last table, and explain all of them.
fn explain(tables: &mut [Section], notes: &[String]) {
    if let Some(last) = tables.last_mut() {
        last.notes = notes.to_vec();
    }
}

fn drawn(charts: &[Chart]) -> Result<Vec<Figure>, Failed> {
    charts.iter().map(Figure::of).collect()
}

fn render(page: &Page<'_>) -> Result<String, Failed> {
    let mut environment = page::environment()?;
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

/// `15.6 ms to 28.0 ms`, or the one that all are.
fn span(values: impl Iterator<Item = f64>, show: fn(f64) -> String) -> String {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = values.fold(ends, |(least, most), value| (least.min(value), most.max(value)));
    let (least, most) = (show(least), show(most));
    if least == most { least } else { format!("{least} to {most}") }
}

fn facts(summary: &Summary, one_run: bool) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Scenario", summary.name.clone()),
        ("Seed", summary.seed.to_string()),
        (if summary.live_timing.is_some() { "Lasted" } else { "Simulated" }, microseconds(summary.sim_time_us)),
        ("Flows", thousands(summary.flows.flows_total)),
        ("Xoff", summary.version.clone()),
    ];
    if one_run {
        facts.insert(1, ("Scheme", scheme_label(&summary.scheme).to_owned()));
        facts.extend(summary.counts.packet_hops.map(|hops| ("Packet hops", thousands(hops))));
    }
    if summary.is_at_flow_level() {
        facts.push(("Fidelity", "flow level: fair rates, no packets".to_owned()));
    }
    facts
}

/// What a page says of single runs.
fn of_outcomes<'a>(outcomes: &[&'a Outcome], depth: usize) -> Page<'a> {
    let several_seeds = outcomes.iter().any(|outcome| outcome.summary.seed != outcomes[0].summary.seed);
    let name = |outcome: &Outcome| match several_seeds {
        true => format!("{}, seed {}", scheme_label(&outcome.summary.scheme), outcome.summary.seed),
        false => scheme_label(&outcome.summary.scheme).to_owned(),
    };
    let directory = |outcome: &Outcome| {
        let path = outcome.directory.as_ref().filter(|_| outcomes.len() > 1)?;
        let names: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        Some(names[names.len().saturating_sub(depth)..].join("/"))
    };
    // Of many seeds one speaks for all that hold.
    let is_shown =
        |outcome: &&&'a Outcome| outcome.summary.seed == outcomes[0].summary.seed || !outcome.summary.sound();
    let shown: Vec<&'a Outcome> = outcomes.iter().filter(is_shown).copied().collect();
    let run = |outcome: &&'a Outcome| Run {
        scheme: name(outcome),
        failure: outcome.summary.failure.as_deref(),
        // A comparison tells them below its table, each once.
        warnings: match outcomes.len() {
            1 => outcome.summary.warnings.iter().map(Warning::text).collect(),
            _ => Vec::new(),
        },
        scenario: &outcome.scenario,
        directory: directory(outcome),
    };
    let checked = |outcome: &&'a Outcome| {
        let name = name(outcome);
        let of = |check: &'a Check| (name.clone(), check.name.as_str(), verdict(check), check.detail.as_str());
        outcome.summary.checks.iter().map(of).collect::<Vec<Checked<'a>>>()
    };
    let (held, broken) = shown.iter().flat_map(checked).partition(|check| check.2 == "held");
    let runs = shown.iter().map(run).collect();
    Page { runs, held, broken, comparison: outcomes.len() > 1, several_seeds, ..Page::default() }
}

#[cfg(test)]
mod tests {
    use super::super::page::tests::own_text;
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
        let html = of_run(&outcome, &charts, &[]).unwrap();
        let own = own_text(&html);
        assert!(!own.contains("<script>a") && !own.contains("</script>a"), "user text must be escaped");
        assert!(own.contains("&lt;script&gt;"));
        for outside in [" src=", "@import", "<link", "http://", "https://"] {
            let own = own.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains(outside), "{outside} would need the network");
        }
        assert!(!own.contains(" style=") && !own.contains(" onclick="), "the policy forbids it");
        assert!(html.contains(" width=\"900\"") && html.contains("# &lt;&amp;&gt;"));
        assert!(html.contains("xoff run scenario.toml --seed 7"));
    }

    #[test]
    fn it_begins_with_what_was_found() {
        let html = of_run(&outcome("x"), &[], &[]).unwrap();
        let (finding, table) = (html.find("All 40 finite flows finished").unwrap(), html.find("<table").unwrap());
        assert!(finding < table && table < html.find("<dl").unwrap());
        // Checks that hold take one line.
        let checks = html.find("checks hold</summary>").unwrap();
        assert!(!html[..checks].contains("bytes conserved") && html[checks..].contains("bytes conserved"));
    }

    #[test]
    fn facts_of_several_runs_are_those_of_all() {
        let entry = |scheme: &str, ms: f64, flows: u64| {
            let mut run = outcome("x");
            (run.summary.scheme, run.summary.sim_time_us, run.summary.flows.flows_total) =
                (scheme.into(), 1000.0 * ms, flows);
            Entry { scheme: scheme.to_owned(), runs: vec![run] }
        };
        let entries = [entry("none", 15.6, 315), entry("hpcc", 28.0, 260)];
        let page = of_comparison(&super::super::compare::comparison(&entries, &[]), &entries, &[], ("", 1)).unwrap();
        let own = own_text(&page);
        assert!(own.contains("15.6 ms to 28.0 ms") && own.contains("260 to 315"), "{own}");
        assert!(own.contains("PFC only"));
    }

    #[test]
    fn failures_stand_on_the_page() {
        let mut outcome = outcome("x");
        outcome.summary.failure = Some("stall at 3ms".into());
        let html = of_run(&outcome, &[], &[]).unwrap();
        assert!(html.contains("stall at 3ms"));
    }

    #[test]
    fn a_live_run_has_a_section_and_a_banner_if_the_machine_was_too_slow() {
        let mut outcome = outcome("x");
        let page = |outcome: &Outcome| {
            let charts =
                outcome.summary.live_timing.as_ref().map_or_else(Vec::new, super::super::figures::of_live_timing);
            own_text(&of_run(outcome, &[], &charts).unwrap())
        };
        assert!(!page(&outcome).contains("real packets"));
        outcome.summary.live_timing = Some(fixture::live_timing(0.0));
        let kept = page(&outcome);
        assert!(kept.contains("<h2>On real packets</h2>") && kept.contains("2 x &lt;CPU&gt;"));
        assert!(kept.contains("Slip: time in which the clock stood still") && !kept.contains("too slow"));
        assert!(kept.contains("xoff live scenario.toml --seed 7") && !kept.contains("the same bytes"));
        outcome.summary.live_timing = Some(fixture::live_timing(0.5));
        let slow = page(&outcome);
        assert!(slow.find("The machine was too slow").unwrap() < slow.find("<table").unwrap());
    }
}
