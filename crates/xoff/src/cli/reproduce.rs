//! `xoff reproduce`: the papers' experiments, drawn and judged.

use super::print::tell_folded;
use super::progress::Whole;
use super::typed::command;
use super::{ShowArgs, Stop, show, show_page, show_summary, signals};
use crate::reproduce::catalogue::Catalogue;
use crate::reproduce::interpretation_set::InterpretationSet;
use crate::reproduce::report::{self, PaperSummary};
use crate::reproduce::runner::{Budget, RunOptions};
use crate::reproduce::scale::Scale;
use crate::reproduce::search::{Prepared, STATED, Search};
use crate::reproduce::{Reproduced, Reproduction, Spent};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xoff_results::figures;
use xoff_results::files::whole::{self, Present};
use xoff_results::files::workplace::Workplace;
use xoff_results::files::{Staging, refusal};
use xoff_results::grid::Grid;
use xoff_scenario::read;
use xoff_scenario::wrap;

#[derive(Args)]
pub struct ReproduceArgs {
    /// Papers (pcn), experiments (pcn-fig2), `all`, or `cross` for all schemes on all papers' scenarios; without any, they
    /// are listed
    pub(super) names: Vec<String>,
    /// How large the experiments are run
    #[arg(long, value_enum, default_value = "quick")]
    pub(super) scale: Scale,
    /// Experiments that are run at full scale, whatever the scale of the others
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    full: Vec<String>,
    /// Assumptions where a paper is ambiguous: names of interpretations, or `all` to see them side by side [default: the
    /// main one of each paper]
    #[arg(long, alias = "reading", value_name = "NAME", value_delimiter = ',')]
    pub(super) interpretation: Vec<String>,
    /// In place of a report, every combination of choices at some open points of a paper, and how many claims hold
    /// under each: names of points, or `all` [default: those that its file names]
    #[arg(long, value_name = "POINT", value_delimiter = ',', conflicts_with = "interpretation", num_args = 0.., require_equals = true, default_missing_value = STATED)]
    pub(super) search: Vec<String>,
    /// Seeds for each experiment with randomness in it, in place of its own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: Option<u64>,
    /// The first of these seeds, to see whether others say the same
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    first_seed: Option<u64>,
    /// Adds seeds to experiments whose claims are undecided, up to so many of each; 0 adds none [default: 20, at scale
    /// quick 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=100_000))]
    max_seeds: Option<u64>,
    /// CPU time that seeds for undecided claims may take in all, in hours
    #[arg(long, value_name = "HOURS", default_value = "4", value_parser = hours)]
    budget: f64,
    /// Runs at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    jobs: Option<u64>,
    /// Directory of the results; what is finished in it is not run again [default: results/reproduce-SCALE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where `experiments/`, `claims/` and `deviations/` are
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) from: PathBuf,
    /// Also write the pages as documents: DIR/reproduction.md, and DIR/reproduction/ with a page per paper and figures
    #[arg(long, alias = "book", value_name = "DIR")]
    pub(super) docs: Option<PathBuf>,
    /// Take finished runs that another build of the same version made
    #[arg(long)]
    any_build: bool,
    #[command(flatten)]
    pub(super) show: ShowArgs,
}

/// Seeds of an experiment with undecided claims, unless told otherwise.
const MAX_SEEDS: u64 = 20;

/// The folder of finished runs.
pub(super) const RUNS: &str = "runs";

pub fn reproduce(args: &ReproduceArgs) -> Result<(), Stop> {
    let catalogue = open_catalogue(args)?;
    if args.names.is_empty() {
        return list(&catalogue, &args.show);
    }
    if !args.search.is_empty() {
        return search(args, &catalogue);
    }
    let began = Instant::now();
    let sets = InterpretationSet::choose(&catalogue, &args.names, &args.interpretation)?;
    let prepared: Vec<Reproduction<'_>> = sets.iter().map(|set| set.prepare(args.scale)).collect::<Result<_, _>>()?;
    let (out, workplace) = open_out(args)?;
    let options = options(args, &workplace);
    let mut made: Option<Reproduced> = None;
    let mut spent = Spent::new();
    for (index, (set, reproduction)) in sets.iter().zip(&prepared).enumerate() {
        // Other readings are shown beside the main one with the seeds that experiments have.
        let options = if index == 0 { options.clone() } else { RunOptions { budget: Budget::NONE, ..options.clone() } };
        let bar = bar(args, reproduction.expected_cpu_seconds() / options.jobs as f64, &set.name());
        let watch = |at| bar.update(&at);
        let judgement = reproduction.verdicts(&options, &watch)?;
        bar.finish();
        for (inputs, (seconds, found)) in judgement.spent() {
            // What an set before this one has made is there for this one, and yet of this command.
            spent.entry(inputs).or_insert((seconds, found));
        }
        let first = match &mut made {
            Some(first) => first,
            None => made.insert(reproduction.report(&options, &judgement)?),
        };
        set.add_alternatives(&mut first.report, &judgement.judged);
    }
    let Some(mut made) = made else { return Ok(()) };
    (made.report.runs, made.report.cpu_seconds) = (spent.len(), spent.values().map(|(seconds, _)| seconds).sum());
    made.report.found = spent.values().filter(|(_, found)| *found).count();
    made.report.command = command();
    made.report.commit = commit(&args.from).unwrap_or_default();
    made.report.wall_seconds = began.elapsed().as_secs_f64();
    write(&made, workplace.path())?;
    if let Some(folder) = &args.docs {
        write_docs(&mut made, folder)?;
    }
    if args.show.json {
        show(&report::json(&made.report).to_string())?;
    } else if !args.show.quiet {
        show_summary(&report::text(&made.report, wrap::columns()), Some(&out))?;
    }
    Ok(())
}

/// All papers, those experiments at full scale that are asked for.
pub(super) fn open_catalogue(args: &ReproduceArgs) -> Result<Catalogue, Stop> {
    let catalogue = Catalogue::open(&args.from)?.with_full(&args.full, args.scale)?;
    catalogue.notes.iter().for_each(|note| tell_folded(&format!("warning: {note}")));
    Ok(catalogue)
}

/// Hours of CPU time: `4`, `0.5`.
fn hours(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|hours| (0.0..=1e5).contains(hours)).ok_or_else(|| "from 0 to 100000 hours".to_owned())
}

/// The directory of results, locked and ready for runs.
pub(super) fn open_out(args: &ReproduceArgs) -> Result<(PathBuf, Workplace), Stop> {
    let name = format!("reproduce-{}", args.scale.name());
    let out = args.out.clone().unwrap_or_else(|| Path::new("results").join(name));
    let workplace = Workplace::open(&out, RUNS)?;
    signals::say_when_stopped(format!(
        "finished runs are kept in {}: the same command resumes from there",
        out.join(RUNS).display()
    ));
    Ok((out, workplace))
}

pub(super) fn options(args: &ReproduceArgs, workplace: &Workplace) -> RunOptions {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    RunOptions {
        scale: args.scale,
        seeds: args.seeds,
        first_seed: args.first_seed,
        jobs: args.jobs.map_or(cores, |jobs| jobs as usize),
        folder: workplace.path().to_owned(),
        any_build: args.any_build,
        more_seeds: BTreeMap::new(),
        budget: Budget {
            max_seeds: args.max_seeds.unwrap_or(if args.scale == Scale::Quick { 0 } else { MAX_SEEDS }),
            cpu_seconds: args.budget * 3600.0,
        },
    }
}

pub(super) fn bar(args: &ReproduceArgs, expected: f64, name: &str) -> Whole {
    Whole::new(args.show.json || args.show.quiet, expected).about(name)
}

/// The grid of readings of each paper that is named.
fn search(args: &ReproduceArgs, catalogue: &Catalogue) -> Result<(), Stop> {
    let prepare = |paper: &String| Prepared::of(catalogue, paper, &args.search, args.scale);
    let prepared: Vec<Prepared<'_>> = args.names.iter().map(prepare).collect::<Result<_, _>>()?;
    let (out, workplace) = open_out(args)?;
    let options = options(args, &workplace);
    let mut staging = Staging::create(workplace.path())?;
    let figures = staging.folder(report::FIGURES)?;
    let (mut page, mut charts) = (String::new(), Vec::new());
    for search in &prepared {
        let paper = search.paper();
        let bar = bar(args, 0.0, paper);
        let found = search.run(&options, &|at| bar.update(&at))?;
        bar.finish();
        let csv = found.csv();
        staging.write(&format!("{paper}-search.csv"), csv.as_bytes())?;
        charts.push(found.chart());
        if let Some(docs) = &args.docs {
            write_search(&found, docs)?;
        }
        let mut grid =
            Grid::new(["", "choices", "reading", "hold", "direction", "fail", "hold", "or dir."]).left(&[1, 2]);
        found.rows().into_iter().for_each(|row| grid.row(row));
        page.push_str(&format!("{paper}: {} readings tried\n{}\n", found.count(), grid.text_in(wrap::columns())));
    }
    figures::write_all(&charts, &figures)?;
    staging.keep_store(RUNS)?;
    staging.finish()?;
    if args.show.quiet { Ok(()) } else { show_summary(&page, Some(&out)) }
}

/// The grid beside the page of its paper.
fn write_search(found: &Search, docs: &Path) -> Result<(), Stop> {
    let folder = docs.join(report::AMONG.pages);
    whole::write(&folder.join(format!("{}-search.csv", found.paper)), found.csv().as_bytes(), Present::Replace)?;
    let drawn = figures::svg(&found.chart()).map_err(std::io::Error::other)?;
    let path = folder.join(report::FIGURES).join(format!("{}-search.svg", found.paper));
    whole::write(&path, drawn.as_bytes(), Present::Replace)?;
    Ok(())
}

/// The commit of a git checkout, from its files.
pub(crate) fn commit(folder: &Path) -> Option<String> {
    let read = |path: &Path| read::text(path, 16_000_000).ok().map(|text| text.trim().to_owned());
    let git = folder.join(".git");
    let head = read(&git.join("HEAD"))?;
    let Some(branch) = head.strip_prefix("ref: ") else { return Some(head) };
    let packed = || {
        let refs = read(&git.join("packed-refs"))?;
        refs.lines().find_map(|line| line.strip_suffix(branch)).map(|hash| hash.trim().to_owned())
    };
    read(&git.join(branch)).or_else(packed)
}

/// All that is drawn and written, in place of what an earlier command wrote; the runs stay.
fn write(made: &Reproduced, out: &Path) -> Result<(), Stop> {
    let mut staging = Staging::create(out)?;
    figures::write_all(&made.charts, &staging.folder(report::FIGURES)?)?;
    for tree in made.report.papers.iter().flat_map(|paper| &paper.experiments).flat_map(|of| &of.trees) {
        staging.write(&format!("{}/{}.svg", report::FIGURES, tree.file), tree.svg.as_bytes())?;
        staging.write(&format!("{}/{}.png", report::FIGURES, tree.file), &tree.png)?;
    }
    let pages = report::pages(&made.report).map_err(std::io::Error::other)?;
    for (name, text) in pages.into_iter().chain(report::markdown(&made.report, &report::BESIDE, Vec::new())) {
        staging.write(&name, text.as_bytes())?;
    }
    staging.write("claims.csv", report::csv(&made.report).as_bytes())?;
    staging.write("claims.json", report::json(&made.report).to_string().as_bytes())?;
    staging.keep_store(RUNS)?;
    staging.finish()?;
    Ok(())
}

/// Writes the pages among other documents, with the figures that they show.
fn write_docs(made: &mut Reproduced, folder: &Path) -> Result<(), Stop> {
    let figures = folder.join(report::AMONG.pages).join(report::FIGURES);
    for drawn in made.report.papers.iter().flat_map(|paper| &paper.experiments).flat_map(|of| &of.figures) {
        let path = figures.join(format!("{}.svg", drawn.file));
        whole::write(&path, drawn.svg.as_bytes(), Present::Replace)?;
    }
    for tree in made.report.papers.iter().flat_map(|paper| &paper.experiments).flat_map(|of| &of.trees) {
        whole::write(&figures.join(format!("{}.svg", tree.file)), tree.svg.as_bytes(), Present::Replace)?;
    }
    for paper in &mut made.report.papers {
        paper.searched = folder.join(report::AMONG.pages).join(format!("{}-search.csv", paper.about.id)).is_file();
    }
    let pages = folder.join(report::AMONG.pages);
    for (name, text) in report::markdown(&made.report, &report::AMONG, summaries(&pages)?) {
        write_page(&folder.join(name), &text)?;
    }
    for paper in &made.report.papers {
        let summary =
            serde_json::to_string_pretty(&PaperSummary::of(&made.report, paper)).map_err(std::io::Error::other)?;
        let path = pages.join(format!("{}.json", paper.about.id));
        whole::write(&path, (summary + "\n").as_bytes(), Present::Replace)?;
    }
    Ok(())
}

/// The papers of which there are pages.
fn summaries(pages: &Path) -> Result<Vec<PaperSummary>, Stop> {
    let mut found = Vec::new();
    let entries = if pages.is_dir() { Some(std::fs::read_dir(pages)?) } else { None };
    for entry in entries.into_iter().flatten() {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let wrong = |why: String| refusal(&path, &format!("is no summary of a paper: {why}"));
            let text = read::text(&path, 100_000_000).map_err(wrong)?;
            found.push(serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?);
        }
    }
    Ok(found)
}

/// Writes a page for a folder of documents, in place of an earlier one of the same title.
pub(super) fn write_page(path: &Path, text: &str) -> std::io::Result<()> {
    let title = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    if path.is_file() && read::text(path, 1_000_000_000).is_ok_and(|old| title(&old) != title(text)) {
        return Err(refusal(path, "is there already and is not such a page; it is left alone"));
    }
    whole::write(path, text.as_bytes(), Present::Replace)
}

/// Papers, figures, what each shows, how long each takes.
fn list(catalogue: &Catalogue, shown: &ShowArgs) -> Result<(), Stop> {
    if shown.json {
        let experiments: Vec<serde_json::Value> = catalogue
            .experiments
            .iter()
            .map(|of| {
                let claims = catalogue.claims.iter().filter(|claim| claim.experiment.value == of.id).count();
                serde_json::json!({
                    "id": of.id, "paper": of.paper, "title": of.title, "setting": of.setting, "shows": of.shows,
                    "where": of.place, "claims": claims,
                    "cpu_seconds": { "quick": of.cost[0], "standard": of.cost[1], "full": of.cost[2] },
                })
            })
            .collect();
        return show(&serde_json::Value::from(experiments).to_string());
    }
    let mut page = String::new();
    for paper in &catalogue.papers {
        let head = format!("{}: {} ({} {})", paper.id, paper.title, paper.venue, paper.year);
        wrap::paragraph(&mut page, &head, 0, wrap::columns());
        let mut grid = Grid::new(["experiment", "what", "claims", "quick", "standard", "full"]).left(&[1]);
        for of in catalogue.experiments.iter().filter(|of| of.paper == paper.id) {
            let claims = catalogue.claims.iter().filter(|claim| claim.experiment.value == of.id).count();
            let cost =
                |scale: Scale| if of.groups.is_empty() { "-".to_owned() } else { seconds(of.cost[scale.index()]) };
            let what =
                if of.setting == "simulation" { of.title.clone() } else { format!("{} ({})", of.title, of.setting) };
            grid.row(vec![
                of.id.clone(),
                what,
                claims.to_string(),
                cost(Scale::Quick),
                cost(Scale::Standard),
                cost(Scale::Full),
            ]);
        }
        page.push_str(&grid.text_in(wrap::columns()));
        page.push('\n');
    }
    page.push_str(
        "Times are CPU time on one core.\n\n  xoff reproduce pcn-fig2                   one figure, in its quick version\n  \
         xoff reproduce mercury --scale standard   a paper\n  xoff reproduce all --scale standard       everything\n  \
         xoff reproduce cross                      all schemes on scenarios of all papers\n",
    );
    show_page(&page)
}

/// `40 s`, `12 min`, `5 h`.
fn seconds(value: f64) -> String {
    match value {
        v if v < 1.0 => "< 1 s".to_owned(),
        v if v < 100.0 => format!("{v:.0} s"),
        v if v < 6000.0 => format!("{:.0} min", v / 60.0),
        v => format!("{:.0} h", v / 3600.0),
    }
}
