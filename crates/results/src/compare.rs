//! Several runs of the same traffic under different schemes, side by side.

use super::columns::{Column, Entry, Marks, Percentile, Reading, differences, grid, needed};
use super::curve_tables;
use super::fidelity;
use super::finding::{self, Finding};
use super::grid::{Section, left_out_note};
use super::incident::EpisodeFlow;
use super::jobs::rows::{CollectiveRow, JobRow};
use super::names::scheme_label;
use super::summary::{Distribution, MeasuredRow, SourceFlows, Summary};
use super::warnings;
use xoff_scenario::number::{brief, brief_size, count, microseconds, percent, percent_down, thousands};
use xoff_scenario::wrap::wrap;

/// The tables of a comparison and what they need to be understood.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub(crate) title: String,
    /// In the order in which they are shown; those without anything to show are left out.
    pub tables: Vec<Section>,
    pub(crate) finding: Finding,
    /// Full sentences that explain the columns, for a reader who sees them for the first time.
    pub(crate) notes: Vec<String>,
}

/// A scheme that could not take part, and why.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Skipped {
    /// As it was asked for.
    pub scheme: String,
    /// A sentence without its end.
    pub reason: String,
}

/// Columns under a title.
pub(crate) type Group = (String, Vec<Column>);

/// Title and columns of a table.
pub(crate) struct TableLayout {
    pub(crate) title: String,
    pub(crate) groups: Vec<Group>,
}

/// Chooses the columns by what the runs contain.
pub fn comparison(entries: &[Entry], skipped: &[Skipped]) -> Comparison {
    comparison_by(entries, skipped, None)
}

/// As [`comparison`], where differences below `delta`, a share, do not matter.
pub fn comparison_by(entries: &[Entry], skipped: &[Skipped], delta: Option<f64>) -> Comparison {
    let mut marks = Marks::default();
    let layouts = layouts(entries);
    let mut tables: Vec<Section> =
        layouts.iter().map(|layout| Section::new(&layout.title, grid(entries, &layout.groups, &mut marks))).collect();
    let seeds = entries.first().map_or(0, |entry| entry.runs.len());
    if seeds > 1 && entries.len() > 1 {
        tables.extend(difference_table(entries));
    }
    tables.extend(fidelity::tables(entries));
    let finding = fidelity::finding(entries).unwrap_or_else(|| finding::of_comparison(entries, delta));
    let episode = is_episode(entries);
    let mut notes = if episode { episode_notes(entries) } else { general_notes(entries) };
    notes.extend(marks.notes());
    if seeds > 1 {
        notes.push(format!("a ± b: mean over {seeds} seeds and half its 95 % confidence interval (Student's t)."));
    }
    notes.extend(unsound(entries));
    notes.extend(warnings::of_comparison(&summaries(entries).collect::<Vec<_>>()));
    for Skipped { scheme, reason } in skipped {
        notes.push(format!("{} is left out: {reason}.", scheme_label(scheme)));
    }
    Comparison { title: title(entries, seeds, episode), tables, finding, notes }
}

fn title(entries: &[Entry], seeds: usize, episode: bool) -> String {
    let name = entries.first().map_or("comparison", |entry| entry.first().summary.name.as_str());
    let under = if seeds > 1 { format!(", {seeds} seeds") } else { String::new() };
    match (episode, entries) {
        (true, _) => format!("{name}: what the burst does to the long flows{under}"),
        (false, entries) if fidelity::is_of_both(entries) => format!("{name} at packet level and at flow level{under}"),
        (false, [alone]) => format!("{name} under {}{under}", scheme_label(&alone.scheme)),
        (false, _) => format!("{name}: the same traffic under {} schemes{under}", entries.len()),
    }
}

/// What is wrong with which run.
fn unsound(entries: &[Entry]) -> Vec<String> {
    let several = entries.iter().any(|entry| entry.runs.len() > 1);
    let runs = entries.iter().flat_map(|entry| entry.summaries().map(move |run| (entry, run)));
    let note = |(entry, run): (&Entry, &Summary)| {
        let broken = run.checks.iter().filter(|c| !c.held).map(|c| format!("{} ({})", c.name, c.detail));
        let why = match &run.failure {
            Some(failure) => failure.lines().next().unwrap_or("it failed").to_owned(),
            None => format!("not so: {}", broken.collect::<Vec<_>>().join(", ")),
        };
        let seed = if several { format!(", seed {}", run.seed) } else { String::new() };
        format!("{}{seed}: {why}.", scheme_label(&entry.scheme))
    };
    runs.filter(|(_, run)| !run.sound()).map(note).collect()
}

fn summaries(entries: &[Entry]) -> impl Iterator<Item = &Summary> {
    entries.iter().flat_map(Entry::summaries)
}

fn is_episode(entries: &[Entry]) -> bool {
    !entries.is_empty() && summaries(entries).all(|run| run.episode.is_some())
}

/// Every table with its columns: what the terminal, the report and the data of a comparison show.
pub(crate) fn layouts(entries: &[Entry]) -> Vec<TableLayout> {
    let groups = if is_episode(entries) { episode_groups(entries) } else { network_groups(entries) };
    let mut layouts = vec![TableLayout { title: String::new(), groups }];
    layouts.extend(job_names(entries).into_iter().map(|(job, ranks)| job_layout(entries, &job, ranks)));
    for source in sources(entries) {
        layouts.push(source_layout(entries, &source));
        layouts.extend(size_layout(entries, &source));
    }
    let measures = measure_columns(entries);
    if !measures.is_empty() {
        layouts.push(TableLayout { title: "measures".to_owned(), groups: vec![(String::new(), measures)] });
    }
    let curve = |(title, columns): (String, Vec<Column>)| TableLayout { title, groups: vec![(String::new(), columns)] };
    layouts.extend(curve_tables::tables(entries).into_iter().map(curve));
    layouts
}

/// The jobs, and how many ranks they have.
fn job_names(entries: &[Entry]) -> Vec<(String, u32)> {
    let mut found: Vec<(String, u32)> = Vec::new();
    for job in summaries(entries).flat_map(|run| &run.jobs) {
        if !found.iter().any(|(name, _)| *name == job.name) {
            found.push((job.name.clone(), job.ranks));
        }
    }
    found
}

/// One job: its time, what of it is exposed, and its collectives.
fn job_layout(entries: &[Entry], name: &str, ranks: u32) -> TableLayout {
    let column = |key: &str, title: &str, show, pick: fn(&JobRow) -> Reading| {
        let job = name.to_owned();
        let read =
            move |run: &Summary| run.jobs.iter().find(|of| of.name == job).map_or_else(|| Reading::from(None), pick);
        Column::new(format!("jobs.{name}.{key}"), title, show, read)
    };
    let times = vec![
        column("jct_us", "time", microseconds, |job| Reading { instead: "not ended", ..job.jct_us.into() }),
        column("compute_us", "compute", microseconds, |job| job.compute_us.into()).rank(2),
        column("exposed_us", "exposed", microseconds, |job| job.exposed_us.into()),
        column("exposed_share", "share", percent, |job| job.exposed_share.into()).rank(1),
    ];
    let first = summaries(entries).find_map(|run| run.jobs.iter().find(|job| job.name == name));
    let collectives = first.map_or(&[][..], |job| &job.collectives[..]);
    let bandwidth = |(place, of): (usize, &CollectiveRow)| {
        let job = name.to_owned();
        let read = move |run: &Summary| {
            let found = run.jobs.iter().find(|of| of.name == job).and_then(|job| job.collectives.get(place));
            found.and_then(|of| of.busbw_gb_per_s).into()
        };
        Column::new(format!("jobs.{name}.collectives.{}.busbw_gb_per_s", of.name), of.name.clone(), brief, read)
    };
    let moved = collectives.iter().enumerate().filter(|(_, of)| of.bytes > 0).take(COLLECTIVES_SHOWN);
    let busbw: Vec<Column> = moved.map(bandwidth).collect();
    let groups = vec![(String::new(), times), ("busbw, GB/s".to_owned(), busbw)];
    let groups = groups.into_iter().filter(|(_, columns)| !columns.is_empty()).collect();
    TableLayout { title: format!("job {name}: {} ranks", thousands(u64::from(ranks))), groups }
}

/// Collectives of a job that have a column.
const COLLECTIVES_SHOWN: usize = 4;

/// The traffic sources with finite flows.
fn sources(entries: &[Entry]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for of in summaries(entries).flat_map(|run| &run.flows.by_source) {
        if !found.contains(&of.source) {
            found.push(of.source.clone());
        }
    }
    found
}

fn of_source<'a>(run: &'a Summary, source: &str) -> Option<&'a SourceFlows> {
    run.flows.by_source.iter().find(|of| of.source == source)
}

/// Where a distribution is found in a summary, if it is there.
type Find = fn(&SourceFlows, usize) -> Option<&Distribution>;

/// A column per percentile; that of 99.9 % only where some run has flows for it.
fn percentiles(
    entries: &[Entry],
    source: &str,
    (key, find, class): (&str, Find, usize),
    rank: fn(Percentile) -> u8,
) -> Vec<Column> {
    let known = summaries(entries).filter_map(|run| find(of_source(run, source)?, class));
    let most = known.map(|of| of.count).max().unwrap_or(0);
    let shown = Percentile::ALL.into_iter().filter(|p| *p != Percentile::P999 || most >= needed(*p));
    let column = |p: Percentile| {
        let source = source.to_owned();
        let read = move |run: &Summary| {
            let of = of_source(run, &source).and_then(|of| find(of, class));
            of.map_or_else(|| Reading::from(None), |of| p.read(of))
        };
        Column::new(format!("{key}.{}", p.key()), p.title(), brief, read).rank(rank(p))
    };
    shown.map(column).collect()
}

/// The flows of one traffic source, all sizes together.
fn source_layout(entries: &[Entry], source: &str) -> TableLayout {
    let name = source.to_owned();
    let done = Column::new(format!("by_source.{source}.completed"), "done", percent_down, move |run| {
        let of = of_source(run, &name);
        of.filter(|of| of.flows > 0).map(|of| of.completed as f64 / of.flows as f64).into()
    })
    .rank(2);
    let name = source.to_owned();
    let mean = Column::new(format!("by_source.{source}.fct_us.mean"), "mean", brief, move |run| {
        of_source(run, &name).and_then(|of| of.fct_us.mean).into()
    });
    let mut fct = vec![mean];
    let find: Find = |of, _| Some(&of.fct_us);
    let rank = |p| match p {
        Percentile::P50 => 4,
        Percentile::P95 => 5,
        Percentile::P99 => 0,
        Percentile::P999 => 6,
    };
    fct.extend(percentiles(entries, source, (&format!("by_source.{source}.fct_us"), find, 0), rank));
    let find: Find = |of, _| Some(&of.slowdown);
    let rank = |p| match p {
        Percentile::P50 | Percentile::P99 => 0,
        Percentile::P95 => 1,
        Percentile::P999 => 3,
    };
    let slowdown = percentiles(entries, source, (&format!("by_source.{source}.slowdown"), find, 0), rank);
    let groups = vec![("".to_owned(), vec![done]), ("FCT, us".to_owned(), fct), ("slowdown".to_owned(), slowdown)];
    TableLayout { title: format!("traffic {source}: {}", finding::flow_count(summaries(entries), source)), groups }
}

/// Slowdowns by size of the flows of one source; nothing where all are of one class.
fn size_layout(entries: &[Entry], source: &str) -> Option<TableLayout> {
    let classes = summaries(entries).find_map(|run| of_source(run, source)).map_or(&[][..], |of| &of.by_size);
    let has = |class: usize| {
        let mut of = summaries(entries).filter_map(|run| of_source(run, source)?.by_size.get(class));
        of.any(|class| class.flows > 0)
    };
    let rank = |p| match p {
        Percentile::P95 => 2,
        Percentile::P999 => 1,
        Percentile::P50 | Percentile::P99 => 0,
    };
    let group = |(class, of): (usize, &super::summary::SizeClass)| {
        let find: Find = |of, class| of.by_size.get(class).map(|class| &class.slowdown);
        let key = format!("by_source.{source}.by_size.{}.slowdown", of.name);
        (of.name.clone(), percentiles(entries, source, (&key, find, class), rank))
    };
    let groups: Vec<Group> = classes.iter().enumerate().filter(|(class, _)| has(*class)).map(group).collect();
    (groups.len() > 1).then(|| TableLayout { title: format!("traffic {source}: slowdown by flow size"), groups })
}

fn pause_column() -> Column {
    Column::new("pause_frames", "PAUSE", count, |run| run.counts.pause_frames.map(|frames| frames as f64).into())
}

/// For any scenario.
fn network_groups(entries: &[Entry]) -> Vec<Group> {
    let mut groups = Vec::new();
    if summaries(entries).any(|run| !run.jobs.is_empty()) {
        let time = Column::new("job_time_us", "time", microseconds, |run| Reading {
            instead: "not ended",
            ..run.job_time_us.into()
        });
        groups.push(("jobs".to_owned(), vec![time]));
    }
    if summaries(entries).any(|run| run.flows.flows_total > run.flows.flows_endless) {
        let done = Column::new("flows_completed", "done", percent_down, |run| {
            let flows = run.flows.flows_total - run.flows.flows_endless;
            (flows > 0).then(|| run.flows.flows_completed as f64 / flows as f64).into()
        });
        groups.push(("flows".to_owned(), vec![done]));
    }
    if summaries(entries).any(|run| run.long_flows().next().is_some()) {
        let mean = Column::new("throughput.mean_gbps", "Gbps", brief, |run| {
            let number: u64 = run.long_flows().map(|of| of.flows).sum();
            let total: f64 = run.long_flows().map(|of| of.mean_gbps * of.flows as f64).sum();
            (number > 0).then(|| total / number as f64).into()
        });
        let fairness = Column::new("throughput.fairness", "fairness", brief, |run| {
            let mut labels = run.long_flows();
            match (labels.next(), labels.next()) {
                (Some(one), None) if one.flows > 1 => one.fairness.into(),
                _ => None.into(),
            }
        });
        groups.push(("long flows".to_owned(), vec![mean, fairness]));
    }
    let network = vec![
        Column::new("goodput90_gbps", "goodput90", brief, |run| run.flows.goodput90_gbps.into()),
        pause_column(),
        Column::new("drops", "drops", count, |run| run.counts.drops.map(|drops| drops as f64).into()),
        Column::new("worst_queue.peak_bytes", "queue", brief_size, |run| {
            run.worst_queue.as_ref().map(|queue| queue.peak_bytes as f64).into()
        }),
    ];
    groups.push(("network".to_owned(), network));
    groups
}

fn general_notes(entries: &[Entry]) -> Vec<String> {
    let mut notes = Vec::new();
    if summaries(entries).any(|run| run.flows.flows_total > run.flows.flows_endless) {
        notes.push("done: finite flows that finished. slowdown: 1 is the flow alone on an idle network.".to_owned());
    }
    if summaries(entries).any(|run| run.long_flows().next().is_some()) {
        notes
            .push("long flows: mean throughput of an endless flow, and Jain's index if all have one label.".to_owned());
    }
    if summaries(entries).any(|run| !run.jobs.is_empty()) {
        notes.push(
            "time: from a job's start to its end. compute, exposed: means over its ranks of the time in which each \
             computes, and communicates without. busbw: as nccl-tests counts it."
                .to_owned(),
        );
    }
    notes.push(
        "goodput90: payload over time until flows with 90 % of it were over, in Gbps, so that no straggler decides it. queue: \
         longest egress queue."
            .to_owned(),
    );
    notes
}

/// For a disturbance that hits long flows: what the newcomer should see.
fn episode_groups(entries: &[Entry]) -> Vec<Group> {
    let first = entries.first().and_then(|entry| entry.first().summary.episode.as_ref());
    let flows: Vec<String> =
        first.map_or_else(Vec::new, |first| first.flows.iter().take(2).map(|flow| flow.name.clone()).collect());
    let mut groups: Vec<Group> = Vec::new();
    for name in flows {
        let column = |key: &str, title: &str, show, pick: fn(&EpisodeFlow) -> Reading| {
            let flow = name.clone();
            let read = move |run: &Summary| {
                let flows = run.episode.as_ref().map_or(&[][..], |episode| &episode.flows);
                flows.iter().find(|of| of.name == flow).map_or_else(|| Reading::from(None), pick)
            };
            Column::new(format!("episode.{name}.{key}"), title, show, read)
        };
        let columns = vec![
            column("before_gbps", "before", brief, |of| of.before_gbps.into()).rank(2),
            column("during_gbps", "during", brief, |of| of.during_gbps.into()).rank(1),
            column("min_allowed_gbps", "cut to", brief, |of| of.min_allowed_gbps.into()),
            column("recovery_us", "back in", microseconds, |of| Reading {
                instead: "not yet",
                ..of.recovery_us.into()
            }),
        ];
        groups.push((format!("{name}, Gbps"), columns));
    }
    let tree = Column::new("episode.congestion_tree_us", "tree", microseconds, |run| {
        let Some(episode) = &run.episode else { return None.into() };
        match episode.pauses_toward_senders {
            Some(0) => Reading { instead: "none", ..None.into() },
            _ => episode.congestion_tree_us.into(),
        }
    });
    groups.push(("network".to_owned(), vec![pause_column(), tree]));
    groups
}

fn episode_notes(entries: &[Entry]) -> Vec<String> {
    let notes = [
        "before, during: mean delivered payload before the burst and while it lasts.",
        "cut to: the lowest rate that the scheme itself allowed the flow while the burst lasted, headers included. What \
         the flow lost beyond that, PFC took.",
        "back in: from the start of the burst until the flow stays above 95% of what it had before; 0 if it never fell \
         below.",
        "PAUSE: frames sent in the whole network.",
        "tree: life of the congestion tree, from the first to the last PAUSE that reached a host of these flows since \
         the burst began.",
    ];
    let mut notes = notes.map(str::to_owned).to_vec();
    let episodes = summaries(entries).filter_map(|run| run.episode.as_ref());
    let lasted = episodes.map(|episode| episode.end_us - episode.start_us);
    let (least, most) = lasted.fold((f64::MAX, 0.0f64), |(least, most), us| (least.min(us), most.max(us)));
    notes.push(format!(
        "The burst lasts {} to {}, from its start until its last byte has arrived.",
        microseconds(least),
        microseconds(most)
    ));
    notes
}

/// A column per measure that is a number.
fn measure_columns(entries: &[Entry]) -> Vec<Column> {
    let first = entries.first().map_or(&[][..], |entry| &entry.first().summary.measures);
    let column = |of: &MeasuredRow| {
        let title = if of.unit.is_empty() { of.name.clone() } else { format!("{}, {}", of.name, of.unit) };
        let name = of.name.clone();
        Column::new(format!("measures.{}", of.name), title, MeasuredRow::show, move |run| {
            let own = run.measures.iter().find(|own| own.name == name);
            own.map_or_else(
                || Reading::from(None),
                |own| Reading { instead: if own.never { "never" } else { "-" }, ..own.value.into() },
            )
        })
    };
    first.iter().filter(|of| of.curve.is_none() && of.axes.is_none()).map(column).collect()
}

/// What most papers quote, as differences to the first scheme with seeds paired.
fn difference_table(entries: &[Entry]) -> Option<Section> {
    let quoted = |column: &Column| {
        let key = column.key.as_str();
        key == "goodput90_gbps"
            || (key.starts_with("by_source.") && !key.contains(".by_size."))
                && (key.ends_with(".fct_us.mean") || key.ends_with(".slowdown.p99"))
    };
    let mut groups: Vec<Group> = Vec::new();
    for layout in layouts(entries) {
        for (title, columns) in layout.groups {
            let columns: Vec<Column> = columns.into_iter().filter(quoted).collect();
            if !columns.is_empty() {
                let of = layout.title.split(':').next().unwrap_or_default();
                groups.push((format!("{of} {title}").trim().to_owned(), columns));
            }
        }
    }
    let base = entries.first()?;
    let title = format!("difference to {}, paired by seed", scheme_label(&base.scheme));
    (!groups.is_empty()).then(|| Section::new(title, differences(entries, &groups)))
}

impl Comparison {
    /// For a terminal of some width.
    pub fn text(&self, width: usize) -> String {
        let mut out = String::new();
        if !self.finding.text.is_empty() {
            wrap(&mut out, &self.finding.text, 0, width.min(100));
            out.push('\n');
        }
        wrap(&mut out, &self.title, 0, width);
        let mut left_out: Vec<String> = Vec::new();
        for table in self.tables.iter().filter(|table| !table.grid.rows.is_empty()) {
            out.push('\n');
            if !table.title.is_empty() {
                wrap(&mut out, &table.title, 0, width);
            }
            let fitted = table.grid.fit(width);
            out.push_str(&fitted.text);
            left_out.extend(fitted.left_out);
        }
        out.push('\n');
        // What explains a mark is said where one is seen: columns and tables may be left out.
        let shown = out.clone();
        let is_seen = |note: &&String| Marks::of_note(note).is_none_or(|mark| shown.contains(mark));
        for note in self.notes.iter().filter(is_seen).chain(&left_out_note(left_out, width)) {
            out.push_str("  ");
            wrap(&mut out, note, 2, width.min(100));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::RunWriter;
    use super::super::fixture;
    use super::super::outcome::{Outcome, RunContext};
    use super::*;
    use xoff_engine::Time;
    use xoff_fabric::record::{Metric, Sample};

    fn outcome(scheme: &str, dip: Option<f64>) -> Outcome {
        let plan = fixture::plan();
        let context = RunContext { schemes: vec![scheme.into()], ..fixture::context(&plan) };
        let mut writer = RunWriter::create(None, &context).unwrap();
        writer.flows(&[fixture::flow(1, 64_000, 2_000, 1_000)]).unwrap();
        for bin in 1..=1000u64 {
            let low = (201..=300).contains(&bin);
            let Some(dip) = dip else { continue };
            let value = if low { dip } else { 20e9 };
            let at = Time::from_us(10 * bin);
            let sample = Sample { at, metric: Metric::FlowThroughput, entity: 0, label: 0, class: 0, value };
            let allowed = Sample { metric: Metric::FlowRate, value: if low { 19e9 } else { 21e9 }, ..sample };
            writer.samples(&[sample, allowed]).unwrap();
        }
        writer.pauses(&[fixture::pause(2_100, 1, true), fixture::pause(2_900, 1, true)]).unwrap();
        writer.flows(&[fixture::endless(0, 1_000_000)]).unwrap();
        writer.finish(fixture::end(1_064_000)).unwrap()
    }

    fn entry(scheme: &str, dip: Option<f64>) -> Entry {
        Entry { scheme: scheme.to_owned(), runs: vec![outcome(scheme, dip)] }
    }

    fn fits(comparison: &Comparison, width: usize) {
        for line in comparison.text(width).lines() {
            assert!(line.chars().count() <= width, "{} columns of {width}: {line}", line.chars().count());
        }
    }

    #[test]
    fn a_burst_on_long_flows_gets_the_newcomers_table() {
        let comparison = comparison(&[entry("none", Some(5e9)), entry("dcqcn", Some(20e9))], &[]);
        let grid = &comparison.tables[0].grid;
        assert_eq!(grid.groups[1], ("F0, Gbps".to_owned(), 4));
        assert_eq!(grid.rows[0][..4], ["PFC only", "20.0", "5.00", "19.0"]);
        assert_eq!(grid.rows[0][5..], ["4", "800 us"]);
        assert!(comparison.notes.iter().any(|note| note.starts_with("The burst lasts 1.00 ms to 1.00 ms")));
        assert_eq!(grid.rows[1][4], "0 us");
        fits(&comparison, 80);
    }

    #[test]
    fn any_other_scenario_gets_the_general_tables() {
        let whole = comparison(&[entry("none", None), entry("dcqcn", None)], &[]);
        assert_eq!(whole.tables[0].grid.head[1..3], ["done", "Gbps"]);
        assert_eq!(whole.tables[1].title, "traffic mice: 1 flow");
        // One flow has no p99 to speak of.
        assert_eq!(whole.tables[1].grid.rows[0][1..6], ["100.0%", "1,000", "1,000", "1,000*", "1,000*"]);
        assert!(whole.notes.iter().any(|note| note.starts_with("* of 1 flow: ")), "{:?}", whole.notes);
        (40..130).for_each(|width| fits(&whole, width));
        assert!(comparison(&[], &[]).tables[0].grid.rows.is_empty());
    }

    #[test]
    fn a_footnote_is_printed_only_where_its_mark_is() {
        let whole = comparison(&[entry("none", None), entry("dcqcn", None)], &[]);
        // As the first run of the program shows it: the tables with percentiles are left out.
        let mut first = comparison(&[entry("none", None), entry("dcqcn", None)], &[]);
        first.tables.truncate(1);
        for (page, has_marks) in [(whole, true), (first, false)] {
            let text = page.text(80);
            let footnote = "\n  * of 1 flow: ";
            assert_eq!(text.replace(footnote, "\n").contains('*'), has_marks, "{text}");
            assert_eq!(text.contains(footnote), has_marks, "{text}");
        }
    }

    /// A run with many flows of two sources, the second an incast.
    fn crowd(scheme: &str, seed: u64) -> Outcome {
        let plan = fixture::plan();
        let context = RunContext { schemes: vec![scheme.into()], seed, ..fixture::context(&plan) };
        let mut writer = RunWriter::create(None, &context).unwrap();
        let slow = if scheme == "none" { 3 } else { 1 };
        let fct = |i: u32| slow * (20 + u64::from(i) % 97 + seed);
        let mut flows: Vec<_> = (0..1200).map(|i| fixture::flow(i, 500 + 900 * u64::from(i), 10, fct(i))).collect();
        flows.extend(
            (0..30).map(|i| xoff_fabric::record::FlowRecord {
                source: 0,
                ..fixture::flow(2000 + i, 40_000, 10, 900 * slow)
            }),
        );
        writer.flows(&flows).unwrap();
        let delivered = flows.iter().map(|flow| flow.delivered_bytes).sum();
        writer.finish(fixture::end(delivered)).unwrap()
    }

    fn crowds(seeds: std::ops::Range<u64>) -> Vec<Entry> {
        let entry = |scheme: &str| Entry {
            scheme: scheme.to_owned(),
            runs: seeds.clone().map(|seed| crowd(scheme, seed)).collect(),
        };
        vec![entry("none"), entry("dcqcn")]
    }

    #[test]
    fn sources_and_sizes_have_percentiles_of_their_own() {
        let whole = comparison(&crowds(1..2), &[]);
        let titles: Vec<&str> = whole.tables.iter().map(|table| table.title.as_str()).collect();
        let expected =
            ["", "traffic long: 30 flows", "traffic mice: 1,200 flows", "traffic mice: slowdown by flow size"];
        assert_eq!(titles, expected);
        let [_, incast, mice, sizes] = &whole.tables[..] else { panic!() };
        // 30 flows have a p95 but no p99, and nobody asks them for a p99.9.
        assert_eq!(incast.grid.rows[1][6..], ["90.0", "90.0", "90.0*"]);
        assert_eq!(mice.grid.head[6..], ["p99.9", "p50", "p95", "p99", "p99.9"]);
        assert!(mice.grid.rows[0].iter().all(|cell| !cell.ends_with('*')));
        assert_eq!(sizes.grid.groups.len(), 5);
        fits(&whole, 80);
        assert!(whole.text(80).contains("Left out at 80 columns"));
        assert!(!whole.text(200).contains("Left out"));
    }

    #[test]
    fn seeds_give_means_with_intervals_and_paired_differences() {
        let entries = crowds(1..4);
        let whole = comparison(&entries, &[]);
        let mice = whole.tables.iter().find(|table| table.title.starts_with("traffic mice: 1,200")).unwrap();
        assert_eq!(mice.grid.rows[1][2], "69.1 ± 2.5", "{:?}", mice.grid.rows);
        let less = whole.tables.last().unwrap();
        assert_eq!(less.title, "difference to PFC only, paired by seed");
        assert_eq!(less.grid.rows.len(), 1);
        // Three times as slow, whatever the seed: twice as much as the other.
        assert!(less.grid.rows[0].contains(&"-138 ± 5".to_owned()), "{:?}", less.grid.rows);
        assert!(whole.notes.iter().any(|note| note.starts_with("a ± b: mean over 3 seeds")));
        (40..130).for_each(|width| fits(&whole, width));
    }

    #[test]
    fn failures_are_named_beside_the_table() {
        let mut failed = entry("none", None);
        failed.runs[0].summary.failure = Some("deadlock at 3ms\n  more".into());
        let notes = comparison(&[failed], &[]).notes;
        assert!(notes.iter().any(|note| note == "PFC only: deadlock at 3ms."), "{notes:?}");
        let skipped = Skipped { scheme: "far".into(), reason: "it needs two data centres".into() };
        let notes = comparison(&[entry("none", None)], &[skipped]).notes;
        assert!(notes.iter().any(|note| note == "far is left out: it needs two data centres."), "{notes:?}");
    }

    #[test]
    fn a_mean_over_some_of_the_seeds_says_so() {
        let mut entries = crowds(1..4);
        let values = [Some(2.0), Some(4.0), None];
        for (run, value) in entries[0].runs.iter_mut().zip(values) {
            let (name, unit) = ("recovery".to_owned(), "ms".to_owned());
            run.summary.measures =
                vec![MeasuredRow { name, unit, value, never: value.is_none(), ..MeasuredRow::default() }];
        }
        let whole = comparison(&entries[..1], &[]);
        let measures = whole.tables.iter().find(|table| table.title == "measures").unwrap();
        // t(1) = 12.706, and the standard error of 2 and 4 is 1.
        assert_eq!(measures.grid.rows[0][1], "3 ± 13^");
        assert!(whole.notes.iter().any(|note| note.starts_with("^ mean of those seeds")), "{:?}", whole.notes);
        // Where no seed has it, the reason stands there.
        entries[0].runs.iter_mut().for_each(|run| {
            run.summary.measures[0].value = None;
            run.summary.measures[0].never = true;
        });
        let whole = comparison(&entries[..1], &[]);
        assert_eq!(whole.tables.last().unwrap().grid.rows[0][1], "never");
    }

    #[test]
    fn own_measures_stand_below_the_table() {
        let measured = |scheme: &str, first: Option<f64>| {
            let mut entry = entry(scheme, None);
            let row = |name: String, value| MeasuredRow {
                name,
                unit: "us".into(),
                value,
                never: value.is_none(),
                ..MeasuredRow::default()
            };
            entry.runs[0].summary.measures =
                (0..20).map(|i| row(format!("measure{i}"), first.map(|v| v + f64::from(i)))).collect();
            entry
        };
        let whole = comparison(&[measured("none", Some(3.5)), measured("dcqcn", None)], &[]);
        let grid = &whole.tables.last().unwrap().grid;
        assert_eq!(grid.head[..2], ["scheme", "measure0, us"]);
        assert_eq!((grid.rows[0][1].as_str(), grid.rows[1][20].as_str()), ("3.50", "never"));
        fits(&whole, 80);
        let shown: usize = whole.text(80).matches("measure").count();
        assert_eq!(shown, 21, "twenty measures below their title");
    }
}
