//! The summary of a run as a text for a terminal of some width.

use super::columns::{Percentile, needed, percentile_note, percentile_text};
use super::curve_tables::with_unit;
use super::figures::chart::plain;
use super::finding;
use super::grid::{Grid, Section, left_out_note};
use super::jobs::rows::CollectiveRow;
use super::names::scheme_label;
use super::summary::{Distribution, MeasuredRow, SizeClass, SourceFlows, Summary};
use xoff_scenario::number::{brief, brief_or_dash, brief_size, bytes, microseconds, percent, thousands};
use xoff_scenario::wrap;

/// Whether headings may be set in bold; decide it by whether the output is a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    Plain,
    /// Bold and colours, by escape sequences.
    Terminal,
}

pub fn summary(summary: &Summary, style: Style, width: usize) -> String {
    let mut out = wrap::lines(&finding::of_run(summary), width);
    let how = match (&summary.live_timing, summary.is_at_flow_level()) {
        (Some(_), _) => "on real packets",
        (None, true) => "simulated at flow level",
        (None, false) => "simulated",
    };
    let head = format!(
        "{}, scheme {}, seed {}: {} {how}",
        summary.name,
        scheme_label(&summary.scheme),
        summary.seed,
        microseconds(summary.sim_time_us)
    );
    wrap::wrap(&mut out, &head, 0, width);
    let mut left_out = Vec::new();
    for section in sections(summary).into_iter().chain(live_timing(summary)) {
        out.push('\n');
        out.push_str(&heading(&section.title, style, width));
        let fitted = section.grid.fit(width);
        out.push_str(&fitted.text);
        left_out.extend(fitted.left_out);
    }
    for note in footnote(summary).into_iter().chain(left_out_note(left_out, width)) {
        out.push_str("\n  ");
        wrap::wrap(&mut out, &note, 2, width.min(100));
    }
    out.push('\n');
    for warning in &summary.warnings {
        let (on, off) = paint(style, "\x1b[1;33m");
        let lines = wrap::lines(&warning.line(), width);
        out.push_str(&lines.replacen("warning", &format!("{on}warning{off}"), 1));
    }
    for line in speed_line(summary).lines() {
        let indent = line.len() - line.trim_start().len();
        out.extend(std::iter::repeat_n(' ', indent));
        wrap::wrap(&mut out, line.trim_start(), 7, width);
    }
    for check in summary.checks.iter().filter(|check| !check.held) {
        let (on, off) = paint(style, if check.allowed { "" } else { "\x1b[1;31m" });
        let verdict = if check.allowed { "allowed" } else { "check failed" };
        out.push_str(&format!("{on}{verdict}{off}: {} ({})\n", check.name, check.detail));
    }
    if let Some(failure) = &summary.failure {
        let (on, off) = paint(style, "\x1b[1;31m");
        out.push_str(&format!("\n{on}the run failed{off}: {failure}"));
    }
    out
}

fn paint(style: Style, code: &'static str) -> (&'static str, &'static str) {
    if style == Style::Terminal && !code.is_empty() { (code, "\x1b[0m") } else { ("", "") }
}

fn heading(title: &str, style: Style, width: usize) -> String {
    let (on, off) = paint(style, "\x1b[1m");
    format!("{on}{}{off}\n", wrap::lines(title, width).trim_end())
}

/// The distributions whose percentiles are shown.
fn distributions(summary: &Summary) -> impl Iterator<Item = &Distribution> {
    let several = summary.flows.by_source.len() > 1;
    let mixed = summary.flows.by_size.iter().filter(move |_| !several).map(|class| &class.fct_us);
    let sources = || summary.flows.by_source.iter().filter(move |_| several);
    let sizes = sources().flat_map(|of| of.by_size.iter().map(|class| &class.fct_us));
    mixed.chain(sizes).chain(sources().map(|of| &of.fct_us))
}

/// What the marks in the tables mean, if there are any.
pub(crate) fn footnote(summary: &Summary) -> Option<String> {
    percentile_note(distributions(summary))
}

/// One line on how fast the run was.
pub(crate) fn speed_line(summary: &Summary) -> String {
    let rate = match summary.cost.packet_hops_per_cpu_second {
        None if summary.is_at_flow_level() => "flow level".to_owned(),
        Some(rate) => format!("{} million packet-hops per CPU second", brief(rate / 1e6)),
        None => "too short to time".to_owned(),
    };
    let because = summary.cost.one_part_because.as_ref().map_or(String::new(), |why| format!(" ({why})"));
    let parts = match (summary.cost.parts, summary.cost.threads) {
        (..2, _) => format!(", 1 partition, 1 thread{because}"),
        (parts, 1) => format!(", {parts} partitions, 1 thread"),
        (parts, threads) => format!(", {parts} partitions, {threads} threads"),
    };
    // Not every system says how much a process held.
    let memory = match summary.cost.peak_rss_bytes {
        0 => String::new(),
        peak => format!(", {} peak memory", bytes(peak / 100_000 * 100_000)),
    };
    let hops = summary.counts.packet_hops.map_or(String::new(), |hops| format!("{} packet-hops, ", thousands(hops)));
    format!(
        "speed: {rate}{parts}\n       {hops}{} events in {} s{memory}\n",
        thousands(summary.counts.events),
        brief(summary.cost.wall_seconds),
    )
}

/// The tables that apply to this run, in reading order. Sources are not mixed in one table of sizes: flows of an incast
/// would stand for all of their size.
pub(crate) fn sections(summary: &Summary) -> Vec<Section> {
    let mut all = Vec::new();
    let whole = (summary.flows.flows_total - summary.flows.flows_endless, summary.flows.flows_completed);
    for (title, of_class, of_all, of_source) in [DISTRIBUTIONS[0], DISTRIBUTIONS[1]] {
        match &summary.flows.by_source[..] {
            [] | [_] => all.push(by_size(title.to_owned(), &summary.flows.by_size, of_class, (whole, of_all(summary)))),
            several => all.extend(several.iter().map(|of| {
                let title = format!("{title}, {}", of.source);
                by_size(title, &of.by_size, of_class, ((of.flows, of.completed), of_source(of)))
            })),
        }
    }
    all.extend([
        by_hpcc(summary),
        by_source(summary, "flow completion time by traffic source, us", |of| of.fct_us),
        by_source(summary, "slowdown by traffic source", |of| of.slowdown),
        jobs(summary),
        collectives(summary),
        throughput(summary),
        episode(summary),
        disruptions(summary),
        dead_links(summary),
        network(summary),
        queues(summary),
        pauses(summary),
        links(summary),
        measures(summary),
    ]);
    all.extend(summary.measures.iter().filter_map(curve));
    all.push(captures(summary));
    all.into_iter().filter(|section| !section.grid.rows.is_empty()).collect()
}

/// A quantity of flows: its title, and where it is found of a class, of a run and of a source.
type Quantity =
    (&'static str, fn(&SizeClass) -> Distribution, fn(&Summary) -> Distribution, fn(&SourceFlows) -> Distribution);

const DISTRIBUTIONS: [Quantity; 2] = [
    ("flow completion time, us", |class| class.fct_us, |run| run.flows.fct_us, |source| source.fct_us),
    (
        "slowdown (1 = as fast as on an idle network)",
        |class| class.slowdown,
        |run| run.flows.slowdown,
        |source| source.slowdown,
    ),
];

/// One row per size class, and one for all where there are several. `all`: flows, those that finished, and theirs.
fn by_size(
    title: String,
    classes: &[SizeClass],
    of_class: fn(&SizeClass) -> Distribution,
    all: ((u64, u64), Distribution),
) -> Section {
    let mut grid = distribution_grid("size", all.1.count);
    let mut row = |name: &str, flows, of| distribution_row(&mut grid, name, flows, of);
    let classes = classes.iter().filter(|class| class.flows > 0);
    for class in classes.clone() {
        row(&class.name, (class.flows, class.completed), of_class(class));
    }
    if classes.count() > 1 {
        row("all", all.0, all.1);
    }
    Section::new(title, grid)
}

/// The slowdowns that scripts for the HPCC authors' `fct.txt` give, which are not ours.
fn by_hpcc(summary: &Summary) -> Section {
    let most = summary.flows.slowdown_hpcc.iter().map(|class| class.slowdown.count).max().unwrap_or(0);
    let mut grid = distribution_grid("size", most);
    for class in &summary.flows.slowdown_hpcc {
        distribution_row(&mut grid, &class.name, (class.slowdown.count, class.slowdown.count), class.slowdown);
    }
    let title = "slowdown by HPCC's definition (until the last ACK; its ideal counts a round trip), as in fct.txt";
    Section::new(title, grid)
}

/// One row per traffic source, where there are several.
fn by_source(summary: &Summary, title: &str, pick: fn(&SourceFlows) -> Distribution) -> Section {
    let most = summary.flows.by_source.iter().map(|of| of.completed).max().unwrap_or(0);
    let mut grid = distribution_grid("source", most);
    for of in summary.flows.by_source.iter().filter(|_| summary.flows.by_source.len() > 1) {
        distribution_row(&mut grid, &of.source, (of.flows, of.completed), pick(of));
    }
    Section::new(title, grid)
}

/// With the 99.9th percentile only if the row of most flows has enough for it.
fn distribution_grid(first: &str, most: u64) -> Grid {
    let mut head = vec![first, "flows", "finished", "mean", "p50", "p95", "p99", "max"];
    if most >= needed(Percentile::P999) {
        head.insert(7, "p99.9");
    }
    let mut grid = Grid::new(head);
    grid.ranks = vec![0, 0, 2, 0, 0, 1];
    grid
}

fn distribution_row(grid: &mut Grid, name: &str, (flows, completed): (u64, u64), of: Distribution) {
    let mut cells = vec![name.to_owned(), thousands(flows), thousands(completed), brief_or_dash(of.mean)];
    let all = Percentile::ALL.into_iter().filter(|p| grid.head.iter().any(|title| title == p.title()));
    cells.extend(all.map(|p| percentile_text(p, &of)));
    cells.push(brief_or_dash(of.max));
    grid.row(cells);
}

fn jobs(summary: &Summary) -> Section {
    let head = ["job", "ranks", "iterations", "time", "compute", "exposed", "share", "state"];
    let mut grid = Grid::new(head);
    grid.ranks = vec![0, 0, 1, 0, 2];
    for of in &summary.jobs {
        grid.row([
            of.name.clone(),
            thousands(u64::from(of.ranks)),
            match of.settled() {
                true => format!("{} of {}", thousands(of.iterations_run.into()), thousands(of.iterations.into())),
                false => thousands(u64::from(of.iterations)),
            },
            of.jct_us.map_or_else(|| "-".to_owned(), microseconds),
            microseconds(of.compute_us),
            microseconds(of.exposed_us),
            of.exposed_share.map_or_else(|| "-".to_owned(), percent),
            of.state().to_owned(),
        ]);
    }
    Section::new("jobs: completion time; per rank, computing and exposed communication", grid)
}

/// Rows of the table of collectives; a trace may name thousands.
const COLLECTIVES_SHOWN: usize = 12;

fn collectives(summary: &Summary) -> Section {
    let head = ["collective", "kind", "ranks", "size", "number", "mean time", "algbw, GB/s", "busbw", "slowest rank"];
    let mut grid = Grid::new(head).left(&[1, 8]);
    grid.ranks = vec![0, 3, 0, 0, 2, 0, 1];
    let all: Vec<(&str, &CollectiveRow)> =
        summary.jobs.iter().flat_map(|job| job.collectives.iter().map(|of| (job.name.as_str(), of))).collect();
    for (job, of) in all.iter().take(COLLECTIVES_SHOWN) {
        let name = if summary.jobs.len() > 1 { format!("{job}: {}", of.name) } else { of.name.clone() };
        let number = match of.unfinished {
            0 => thousands(of.completed),
            left => format!("{} of {}", thousands(of.completed), thousands(of.completed + left)),
        };
        grid.row([
            name,
            of.kind.clone(),
            thousands(u64::from(of.ranks)),
            bytes(of.bytes),
            number,
            of.time_us.map_or_else(|| "-".to_owned(), microseconds),
            brief_or_dash(of.algbw_gb_per_s),
            brief_or_dash(of.busbw_gb_per_s),
            of.slowest.clone(),
        ]);
    }
    let more = match all.len().saturating_sub(COLLECTIVES_SHOWN) {
        0 => String::new(),
        more => format!(" (the first {COLLECTIVES_SHOWN}; {} more are in run.json)", thousands(more as u64)),
    };
    Section::new(format!("collectives, with bandwidths as nccl-tests counts them{more}"), grid)
}

fn throughput(summary: &Summary) -> Section {
    let mut grid = Grid::new(["long flows", "number", "mean Gbps", "least", "most", "fairness (Jain)"]);
    for of in summary.long_flows() {
        let fairness = if of.flows > 1 { brief_or_dash(of.fairness) } else { "-".to_owned() };
        grid.row([
            of.label.clone(),
            thousands(of.flows),
            brief(of.mean_gbps),
            brief(of.min_gbps),
            brief(of.max_gbps),
            fairness,
        ]);
    }
    Section::new("throughput over the whole run", grid)
}

/// How the title of its table begins.
pub(crate) const DISTURBANCE: &str = "disturbance by";

fn episode(summary: &Summary) -> Section {
    let mut grid = Grid::new(["long flow", "before, Gbps", "during", "cut to", "after", "recovered after"]);
    let Some(episode) = &summary.episode else {
        return Section::new(String::new(), grid);
    };
    for flow in &episode.flows {
        grid.row([
            flow.name.clone(),
            brief_or_dash(flow.before_gbps),
            brief_or_dash(flow.during_gbps),
            brief_or_dash(flow.min_allowed_gbps),
            brief_or_dash(flow.after_gbps),
            flow.recovery_us.map_or_else(|| "not in this run".to_owned(), microseconds),
        ]);
    }
    let tree = match (episode.pauses_toward_senders, episode.congestion_tree_us) {
        (Some(0), _) => "; no PAUSE reached their hosts".to_owned(),
        (Some(frames), Some(us)) => {
            format!("; {} PAUSE reached their hosts over {}", thousands(frames), microseconds(us))
        }
        _ => String::new(),
    };
    let title = format!(
        "{DISTURBANCE} {} from {} to {}{tree}",
        episode.cause,
        microseconds(episode.start_us),
        microseconds(episode.end_us)
    );
    Section::new(title, grid)
}

/// Rows of the table of storms; a watchdog may trip thousands of times.
const DISRUPTIONS_SHOWN: usize = 12;

fn disruptions(summary: &Summary) -> Section {
    let head = ["what", "at", "priority", "from", "to", "dropped", "unfinished", "affected traffic"];
    let mut grid = Grid::new(head).left(&[1, 7]);
    for of in summary.disruptions.iter().take(DISRUPTIONS_SHOWN) {
        grid.row([
            of.what.name().to_owned(),
            of.place.clone(),
            of.priority.to_string(),
            microseconds(of.from_us),
            of.until_us.map_or_else(|| "the end".to_owned(), microseconds),
            thousands(of.packets_dropped),
            thousands(of.flows_unfinished),
            held_up(&of.affected_traffic),
        ]);
    }
    let more = match summary.disruptions.len().saturating_sub(DISRUPTIONS_SHOWN) {
        0 => String::new(),
        more => format!(" (the first {DISRUPTIONS_SHOWN}; {} more are in run.json)", thousands(more as u64)),
    };
    let title = format!("storms and watchdogs: packets dropped by them, flows unfinished because of them{more}");
    Section::new(title, grid)
}

/// Rows of the table of links that failed.
const DEAD_LINKS_SHOWN: usize = 12;

fn dead_links(summary: &Summary) -> Section {
    let mut grid = Grid::new(["link", "from", "to", "lost", "last after"]);
    for of in summary.dead_links.iter().take(DEAD_LINKS_SHOWN) {
        grid.row([
            of.link.clone(),
            microseconds(of.from_us),
            of.until_us.map_or_else(|| "the end".to_owned(), microseconds),
            thousands(of.packets_lost),
            of.time_on_dead_path_us.map_or_else(|| "-".to_owned(), microseconds),
        ]);
    }
    let more = match summary.dead_links.len().saturating_sub(DEAD_LINKS_SHOWN) {
        0 => String::new(),
        more => format!(" (the first {DEAD_LINKS_SHOWN}; {} more are in run.json)", thousands(more as u64)),
    };
    Section::new(format!("links that failed: packets lost on them, and the time until the last{more}"), grid)
}

/// The victims of a storm, the first few of them by name.
fn held_up(traffic: &[String]) -> String {
    const NAMED: usize = 3;
    match traffic.len().saturating_sub(NAMED) {
        0 => traffic.join(", "),
        more => format!("{} and {more} more", traffic[..NAMED].join(", ")),
    }
}

/// A count, or a dash where a run at flow level cannot know it.
fn known(count: Option<u64>) -> String {
    count.map_or_else(|| "-".to_owned(), thousands)
}

fn network(summary: &Summary) -> Section {
    let trimmed = summary.counts.packets_trimmed.unwrap_or(0);
    let heads = ["goodput90", "delivered", "retransmitted", "marked", "notifications", "PAUSE", "drops"];
    let mut grid = Grid::new(heads.into_iter().chain((trimmed > 0).then_some("trimmed")));
    let drops = match summary.counts.drops {
        Some(all) if all > 0 => {
            format!("{} ({} lossless)", thousands(all), known(summary.counts.drops_lossless))
        }
        drops => known(drops),
    };
    let cells = [
        format!("{} Gbps", brief(summary.flows.goodput90_gbps)),
        thousands(summary.counts.packets_delivered),
        known(summary.counts.packets_retransmitted),
        known(summary.counts.marks),
        known(summary.counts.notifications),
        known(summary.counts.pause_frames),
        drops,
    ];
    grid.row(cells.into_iter().chain((trimmed > 0).then(|| thousands(trimmed))));
    Section::new("network", grid)
}

fn queues(summary: &Summary) -> Section {
    let mut grid = Grid::new(["ingress", "priority", "most held", "lowest XOFF", "headroom", "used at most", "share"]);
    for of in &summary.nearest_xoff {
        grid.row([
            of.ingress.clone(),
            of.priority.to_string(),
            bytes(of.peak_bytes),
            bytes(of.xoff_bytes),
            bytes(of.headroom_bytes),
            bytes(of.headroom_used_peak_bytes),
            match of.headroom_bytes {
                0 => "-".to_owned(),
                given => percent(of.headroom_used_peak_bytes as f64 / given as f64),
            },
        ]);
    }
    let worst = match &summary.worst_queue {
        Some(of) => {
            format!("; longest egress queue {} at {} (priority {})", bytes(of.peak_bytes), of.port, of.priority)
        }
        None => String::new(),
    };
    Section::new(format!("headroom used{worst}"), grid)
}

fn pauses(summary: &Summary) -> Section {
    let mut grid = Grid::new(["from", "to", "PAUSE", "RESUME", "refreshed"]).left(&[1]);
    for of in &summary.pauses {
        grid.row([
            of.from.clone(),
            of.to.clone(),
            thousands(of.pause_frames),
            thousands(of.resume_frames),
            thousands(of.refresh_frames),
        ]);
    }
    Section::new("pauses by layer", grid)
}

fn links(summary: &Summary) -> Section {
    let mut grid = Grid::new(["link", "rate, Gbps", "busy", "paused"]);
    for of in &summary.busiest_links {
        grid.row([
            of.port.clone(),
            brief_rate(of.rate_gbps),
            percent(of.utilisation),
            of.paused.map_or_else(|| "-".to_owned(), percent),
        ]);
    }
    Section::new("busiest links", grid)
}

fn measures(summary: &Summary) -> Section {
    let mut grid = Grid::new(["measure", "value", "unit"]).left(&[2]);
    for of in summary.measures.iter().filter(|of| of.curve.is_none()) {
        grid.row([of.name.clone(), of.text(), of.unit.clone()]);
    }
    Section::new("measures", grid)
}

/// Points of a curve that are shown; the figure's CSV has all.
const POINTS_SHOWN: usize = 16;

/// The points of a measure that is a curve.
fn curve(of: &MeasuredRow) -> Option<Section> {
    let (curve, axes) = (of.curve.as_ref()?, of.axes.as_ref()?);
    let mut grid = Grid::new([with_unit(&axes.x, &axes.x_unit), with_unit(&axes.y, &axes.y_unit)]);
    let count = curve.x.len();
    let shown = count.min(POINTS_SHOWN);
    for row in 0..shown {
        // The first and the last are always among them.
        let at = if shown > 1 { row * (count - 1) / (shown - 1) } else { row };
        let x = match axes.x_unit.as_str() {
            "bytes" => brief_size(curve.x[at]),
            _ => brief(curve.x[at]),
        };
        grid.row([x, curve.y.get(at).copied().map_or_else(|| "-".to_owned(), brief)]);
    }
    let some = match count > shown {
        true => format!(" ({shown} of {} points; all are in measure-{}.csv)", thousands(count as u64), plain(&of.name)),
        false => String::new(),
    };
    Some(Section::new(format!("measure {}{some}", of.name), grid))
}

fn captures(summary: &Summary) -> Section {
    let mut grid = Grid::new(["capture", "frames", "beyond its limit", "file"]).left(&[3]);
    for of in &summary.captures {
        let missed = if of.missed > 0 { thousands(of.missed) } else { "none".to_owned() };
        grid.row([of.name.clone(), thousands(of.frames), missed, of.file.clone()]);
    }
    Section::new("captures", grid)
}

fn live_timing(summary: &Summary) -> Option<Section> {
    let live_timing = summary.live_timing.as_ref()?;
    Some(Section::new(live_timing.setting(), live_timing.grid()))
}

/// `100`, `2.5`: a configured rate is exact and needs no trailing zeros.
fn brief_rate(gbps: f64) -> String {
    let text = format!("{gbps:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::super::writer::RunWriter;
    use super::*;
    use xoff_scenario::measure::Curve;

    fn sample() -> Summary {
        let plan = fixture::plan();
        let mut writer = RunWriter::create(None, &fixture::context(&plan)).unwrap();
        let flows: Vec<_> =
            (0..300).map(|i| fixture::flow(i, 1 + u64::from(i) * 7_001, 10, 1_000_000 + 997 * u64::from(i))).collect();
        writer.flows(&flows).unwrap();
        writer.flows(&[fixture::endless(300, 25_000_000)]).unwrap();
        let delivered = flows.iter().map(|f| f.delivered_bytes).sum::<u64>() + 25_000_000;
        writer.finish(fixture::end(delivered)).unwrap().summary
    }

    #[test]
    fn it_fits_the_terminal_and_is_plain_in_a_pipe() {
        let text = summary(&sample(), Style::Plain, 80);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        assert!(!text.contains('\x1b'));
        assert!(summary(&sample(), Style::Terminal, 80).contains("\x1b[1m"));
        for part in ["10-100 KB", "F0", "25.0%", "512 KB", "1,234,567 packet-hops", "s1->r1", "leaf"] {
            assert!(text.contains(part), "{part} is missing from:\n{text}");
        }
    }

    #[test]
    fn sizes_of_several_sources_are_not_mixed() {
        let mut two = sample();
        let mut other = two.flows.by_source[0].clone();
        other.source = "incast".into();
        let few = |class: &mut SizeClass| (class.flows, class.completed) = (3, 3);
        other.by_size.iter_mut().for_each(few);
        two.flows.by_source.push(other);
        let titles: Vec<String> = sections(&two).into_iter().map(|section| section.title).collect();
        for of in ["mice", "incast"] {
            let wanted = format!("slowdown (1 = as fast as on an idle network), {of}");
            assert!(titles.contains(&wanted), "{titles:?}");
        }
        let incast = sections(&two).into_iter().find(|section| section.title == "flow completion time, us, incast");
        assert!(incast.unwrap().grid.rows[0][1] == "3");
    }

    #[test]
    fn the_points_of_a_curve_are_shown() {
        let mut with = sample();
        with.measures = vec![fixture::by_size(vec![3162.0, 31_623.0], vec![1.5, 12.5])];
        let text = summary(&with, Style::Plain, 80);
        assert!(!text.contains("curve of") && text.contains("measure bysize"), "{text}");
        assert!(text.lines().any(|line| line.split_whitespace().eq(["31.6", "KB", "12.5"])), "{text}");
        // A long one is thinned and says so.
        let (x, y) = ((0..1000).map(f64::from).collect(), (0..1000).map(f64::from).collect());
        with.measures[0].curve = Some(Curve { x, y });
        let text = summary(&with, Style::Plain, 80);
        assert!(text.contains("16 of 1,000 points; all are in measure-bysize.csv"), "{text}");
        assert!(text.lines().any(|line| line.split_whitespace().eq(["999", "B", "999"])), "{text}");
    }

    #[test]
    fn a_live_run_says_what_the_machine_did() {
        let mut live = sample();
        assert!(!summary(&live, Style::Plain, 80).contains("real packets"));
        live.live_timing = Some(fixture::live_timing(0.25));
        let text = summary(&live, Style::Plain, 80);
        for part in
            ["10.0 ms on real packets\n", "elastic clock, times multiplied by 1,000, on Linux", "lost by the kernel"]
        {
            assert!(text.contains(part), "{part} is missing from:\n{text}");
        }
        assert!(text.lines().any(|line| line.split_whitespace().eq(["slip", "25.0%", "1.00%"])), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn what_went_wrong_is_said() {
        let mut bad = sample();
        bad.checks[0].held = false;
        bad.failure = Some("deadlock at 3ms".into());
        let text = summary(&bad, Style::Plain, 80);
        assert!(text.contains("check failed: bytes conserved") && text.contains("the run failed: deadlock at 3ms"));
    }
}
