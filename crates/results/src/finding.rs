//! What a run or a comparison found, in a sentence or two: where a reader begins.
//!
//! A sentence says no more than its numbers do: [`super::verdict`] decides which scheme may be called the best, and
//! schemes that failed are named and not ranked.

use super::columns::{Entry, Percentile, needed};
use super::interval::Estimate;
use super::jobs::rows::JobRow;
use super::names::scheme_label;
use super::ranking::{About, CONSTANT, Ranked, Ranking, list};
use super::summary::{RoutingResults, SourceFlows, Summary};
use super::verdict::{Series, smallest_effect};
use xoff_scenario::number::{brief, count, microseconds, percent, thousands};

/// Jobs that the sentence of a run tells of.
const JOBS_TOLD: usize = 3;

pub fn of_run(run: &Summary) -> String {
    if let Some(failure) = &run.failure {
        return format!("The run failed: {}.", first_line(failure));
    }
    let mut parts = Vec::new();
    parts.extend(job_times(run));
    parts.extend(kept(run));
    parts.extend(finished(run));
    parts.extend(slowest(run));
    if parts.is_empty() {
        parts.extend(long_flows(run));
    }
    parts.extend(run.routing.as_ref().and_then(RoutingResults::sentence));
    parts.push(match run.counts.pause_frames {
        Some(sent) => format!("{} and {}", frames(sent as f64), drops(run)),
        None => "at flow level, without packets".to_owned(),
    });
    sentence(&parts.join("; "))
}

/// What a comparison found, and where its numbers are to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Whole sentences.
    pub text: String,
    /// The traffic source that they are about, where they are about one.
    pub source: Option<String>,
}

/// Of one run per scheme or of several, one per seed. Differences below `delta`, a share, do not matter; `None` leaves
/// that to what is measured.
pub fn of_comparison(entries: &[Entry], delta: Option<f64>) -> Finding {
    let (failed, sound): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.summaries().any(|run| run.failure.is_some()));
    let (mut sentences, source) = match &sound[..] {
        [] => (Vec::new(), None),
        [only] if only.runs.len() == 1 => {
            (vec![format!("Under {}: {}", scheme_label(&only.scheme), of_run(&only.first().summary))], None)
        }
        [only] => (over_seeds(only), None),
        several => side_by_side(several, delta),
    };
    sentences.extend(failed.iter().map(|entry| why_failed(entry)));
    Finding { text: sentences.join(" "), source }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_end_matches('.')
}

fn why_failed(entry: &Entry) -> String {
    let failed: Vec<&Summary> = entry.summaries().filter(|run| run.failure.is_some()).collect();
    let why = failed.first().and_then(|run| run.failure.as_deref()).map_or("", first_line);
    let scheme = scheme_label(&entry.scheme);
    match entry.runs.len() {
        1 => format!("{scheme} failed, and is not ranked: {why}."),
        all => format!("{scheme} failed under {} of {all} seeds, and is not ranked: {why}.", failed.len()),
    }
}

/// `no PAUSE frame`, `1 PAUSE frame`, `205 PAUSE frames`.
fn frames(sent: f64) -> String {
    match sent {
        0.0 => "no PAUSE frame".to_owned(),
        1.0 => "1 PAUSE frame".to_owned(),
        sent => format!("{} PAUSE frames", count(sent)),
    }
}

fn drops(run: &Summary) -> String {
    match (run.counts.drops.unwrap_or(0), run.counts.drops_lossless.unwrap_or(0)) {
        (0, _) => "no drop".to_owned(),
        (all, 0) => format!("{} dropped, none of them in a lossless class", packets(all)),
        (all, lossless) => format!("{} dropped, {} of them in a lossless class", packets(all), thousands(lossless)),
    }
}

fn packets(count: u64) -> String {
    if count == 1 { "1 packet".to_owned() } else { format!("{} packets", thousands(count)) }
}

/// What the first of the long flows kept of its rate while something disturbed it.
fn kept(run: &Summary) -> Option<String> {
    let flow = run.episode.as_ref()?.flows.first()?;
    let (before, during) = (flow.before_gbps?, flow.during_gbps?);
    let back = match flow.recovery_us {
        Some(0.0) => String::new(),
        Some(us) => format!(", and has it back after {}", microseconds(us)),
        None => ", and has not got it back when the run ends".to_owned(),
    };
    Some(format!("while the burst lasts, {} keeps {} of {} Gbps{back}", flow.name, brief(during), brief(before)))
}

/// What each job took, and how fast its largest collective was.
fn job_times(run: &Summary) -> Vec<String> {
    let of = |job: &JobRow| {
        let Some(us) = job.jct_us else { return format!("job {} has not ended when the run does", job.name) };
        let exposed = match job.exposed_share {
            Some(share) if job.compute_us > 0.0 => format!(", {} of it exposed communication", percent(share)),
            _ => String::new(),
        };
        let largest = job.collectives.iter().filter(|of| of.busbw_gb_per_s.is_some()).max_by_key(|of| of.bytes);
        let speed = largest.and_then(|of| Some((of, of.busbw_gb_per_s?)));
        let speed = speed.map_or_else(String::new, |(of, gb)| format!("; {} has {} GB/s busbw", of.name, brief(gb)));
        let settled = match (job.iteration_us, job.jct_half_width_us) {
            (Some(mean), Some(half)) => format!(
                " ({}{} of {} iterations were run, and the others are taken to last {} each)",
                // What rounds to nothing is no interval.
                if half < us * 1e-6 { String::new() } else { format!("+- {}: ", microseconds(half)) },
                thousands(job.iterations_run.into()),
                thousands(job.iterations.into()),
                microseconds(mean)
            ),
            _ => String::new(),
        };
        format!("job {} takes {}{settled}{exposed}{speed}", job.name, microseconds(us))
    };
    run.jobs.iter().take(JOBS_TOLD).map(of).collect()
}

fn finished(run: &Summary) -> Option<String> {
    match (run.flows.flows_total - run.flows.flows_endless, run.flows.flows_completed) {
        (0, _) => None,
        (1, 1) => Some("the only finite flow finished".to_owned()),
        (all, done) if all == done => Some(format!("all {} finite flows finished", thousands(all))),
        (all, done) => Some(format!("{} of {} finite flows did not finish", thousands(all - done), thousands(all))),
    }
}

/// The tail of the source with most flows.
fn slowest(run: &Summary) -> Option<String> {
    let of = largest(std::slice::from_ref(&run))?;
    let tail = Tail::of(of)?;
    let whose = if run.flows.by_source.len() > 1 { format!(" of {}", of.source) } else { String::new() };
    Some(format!("the {}{whose} is {}", tail.name(), brief(tail.read(of)?)))
}

fn long_flows(run: &Summary) -> Option<String> {
    Some(format!("long flows get {} Gbps in the mean", brief(long_mean(run)?)))
}

fn long_mean(run: &Summary) -> Option<f64> {
    let flows: u64 = run.long_flows().map(|of| of.flows).sum();
    let sum: f64 = run.long_flows().map(|of| of.mean_gbps * of.flows as f64).sum();
    (flows > 0).then(|| sum / flows as f64)
}

/// Of all runs, the traffic source with the most flows that finished.
fn largest<'a>(runs: &[&'a Summary]) -> Option<&'a SourceFlows> {
    let all = runs.iter().flat_map(|run| &run.flows.by_source).filter(|of| of.completed > 0);
    all.fold(None, |best: Option<&SourceFlows>, of| match best {
        Some(best) if best.completed >= of.completed => Some(best),
        _ => Some(of),
    })
}

/// What few flows have in place of a 99th percentile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    P99,
    Slowest,
}

impl Tail {
    fn of(source: &SourceFlows) -> Option<Tail> {
        source.slowdown.max?;
        Some(if source.slowdown.count >= needed(Percentile::P99) { Tail::P99 } else { Tail::Slowest })
    }

    fn name(self) -> &'static str {
        match self {
            Tail::P99 => "p99 slowdown",
            Tail::Slowest => "slowdown of the slowest flow",
        }
    }

    fn read(self, source: &SourceFlows) -> Option<f64> {
        match self {
            Tail::P99 => source.slowdown.p99,
            Tail::Slowest => source.slowdown.max,
        }
    }
}

/// A number of each scheme, by seed.
fn ranked(entries: &[&Entry], read: impl Fn(&Summary) -> Option<f64>) -> Vec<Ranked> {
    let of = |entry: &&Entry| Ranked { name: scheme_label(&entry.scheme).to_owned(), series: entry.series(&read) };
    entries.iter().map(of).collect()
}

/// A mean with its interval, and whether seeds matter to it.
fn estimated(series: &Series, show: fn(f64) -> String) -> Option<String> {
    let values = series.values();
    let text = Estimate::of(&values)?.text(show);
    let constant = values.len() > 1 && values.iter().all(|value| *value == values[0]);
    Some(if constant { format!("{text} ({CONSTANT})") } else { text })
}

fn over_seeds(entry: &Entry) -> Vec<String> {
    let runs: Vec<&Summary> = entry.summaries().collect();
    let mut parts = Vec::new();
    let text = |read: &dyn Fn(&Summary) -> Option<f64>, show| estimated(&entry.series(read), show);
    if runs.iter().any(|run| !run.jobs.is_empty()) {
        let took = text(&|run| run.job_time_us, microseconds).map(|time| format!("the jobs take {time}"));
        parts.push(took.unwrap_or_else(|| "the jobs do not end".to_owned()));
    } else if let Some((source, tail)) = largest(&runs).and_then(|of| Some((&of.source, Tail::of(of)?))) {
        let value = text(&|run| tail.read(of_source(run, source)?), brief);
        parts.extend(value.map(|value| format!("the {} of {source} is {value}", tail.name())));
    } else {
        parts.extend(text(&long_mean, brief).map(|value| format!("long flows get {value} Gbps in the mean")));
    }
    let sent: Vec<f64> = entry.series(|run| run.counts.pause_frames.map(|frames| frames as f64)).values();
    parts.extend(Estimate::of(&sent).map(|of| match of.mean {
        mean if mean <= 1.0 && mean.fract() == 0.0 => frames(mean),
        _ => format!("{} PAUSE frames", of.text(count)),
    }));
    vec![format!("Over {} seeds {}.", runs.len(), parts.join("; "))]
}

fn of_source<'a>(run: &'a Summary, source: &str) -> Option<&'a SourceFlows> {
    run.flows.by_source.iter().find(|of| of.source == source)
}

/// With the source that it is about.
fn side_by_side(entries: &[&Entry], delta: Option<f64>) -> (Vec<String>, Option<String>) {
    let runs: Vec<&Summary> = entries.iter().flat_map(|entry| entry.summaries()).collect();
    if runs.iter().all(|run| run.episode.is_some())
        && let Some(of) = burst(entries, delta)
    {
        return (of, None);
    }
    if runs.iter().all(|run| !run.jobs.is_empty()) {
        return (by_job_time(entries, delta), None);
    }
    if let Some((source, tail)) = largest(&runs).and_then(|of| Some((of, Tail::of(of)?))) {
        return (by_tail(entries, source, tail, delta), Some(source.source.clone()));
    }
    let about = About {
        more: true,
        unit: "Gbps".to_owned(),
        ..About::schemes("mean throughput of the long flows", delta.unwrap_or_else(|| smallest_effect("mean")))
    };
    let ranking = Ranking::of(ranked(entries, long_mean), about);
    (vec![if ranking.len() > 1 { ranking.sentence() } else { NOTHING_FINISHED.to_owned() }], None)
}

const NOTHING_FINISHED: &str = "No flow finished under any scheme.";

/// Under which scheme the jobs are done first.
fn by_job_time(entries: &[&Entry], delta: Option<f64>) -> Vec<String> {
    let delta = delta.unwrap_or_else(|| smallest_effect("job_time_us"));
    let about = About { show: microseconds, ..About::schemes("job time", delta) };
    let ranking = Ranking::of(ranked(entries, |run| run.job_time_us), about);
    let mut out = match &ranking.standing.order[..] {
        [] => vec!["No job ended under every seed.".to_owned()],
        [only] => vec![format!("Only under {} did the jobs end, after {}.", ranking.name(*only), ranking.text(*only))],
        _ => vec![ranking.sentence(), pauses(entries)],
    };
    if !ranking.unranked().is_empty() && !ranking.is_empty() {
        out.push(format!("Under {} a job has not ended when the run does.", list(&ranking.unranked(), "schemes")));
    }
    out
}

/// How many flows of a source there are, if all runs have as many, or from how many to how many.
pub(crate) fn flow_count<'a>(runs: impl Iterator<Item = &'a Summary>, source: &str) -> String {
    let flows = runs.filter_map(|run| of_source(run, source)).map(|of| of.flows);
    let (least, most) = flows.fold((u64::MAX, 0), |(least, most), flows| (least.min(flows), most.max(flows)));
    match (least, most) {
        (1, 1) => "1 flow".to_owned(),
        (least, most) if least < most => format!("{} to {} flows", thousands(least), thousands(most)),
        (_, most) => format!("{} flows", thousands(most)),
    }
}

/// Who has the shortest tail among the flows of the largest source.
fn by_tail(entries: &[&Entry], source: &SourceFlows, tail: Tail, delta: Option<f64>) -> Vec<String> {
    let name = &source.source;
    let about = About {
        condition: flow_count(entries.iter().flat_map(|entry| entry.summaries()), name),
        ..About::schemes(format!("{} of {name}", tail.name()), delta.unwrap_or_else(|| smallest_effect("p99")))
    };
    let ranking = Ranking::of(ranked(entries, |run| tail.read(of_source(run, name)?)), about);
    match &ranking.standing.order[..] {
        [] => return vec![NOTHING_FINISHED.to_owned()],
        [only] => return vec![format!("Only under {} did flows of {name} finish.", ranking.name(*only))],
        _ => {}
    }
    let mut out = vec![ranking.sentence(), pauses(entries)];
    if !ranking.unranked().is_empty() {
        let schemes = list(&ranking.unranked(), "schemes");
        out.push(format!("Under {schemes} no flow of {name} finished under some seed: not ranked."));
    }
    out.extend(unfinished(entries, name));
    out
}

/// What schemes ask of PFC: who sends nothing, and the extremes of the others, each with all whom it is true of.
fn pauses(entries: &[&Entry]) -> String {
    let mut all: Vec<(&str, Estimate)> = entries
        .iter()
        .filter_map(|entry| {
            let sent = entry.series(|run| run.counts.pause_frames.map(|frames| frames as f64)).values();
            Some((scheme_label(&entry.scheme), Estimate::of(&sent)?))
        })
        .collect();
    all.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean).then(a.0.cmp(b.0)));
    let [(_, least), .., (_, most)] = all[..] else { return String::new() };
    let with = |mean: f64| {
        let names: Vec<&str> = all.iter().filter(|(_, of)| of.mean == mean).map(|(name, _)| *name).collect();
        (list(&names, "schemes"), names.len() == 1)
    };
    let (most_names, _) = with(most.mean);
    match (least.mean == most.mean, least.mean) {
        (true, 0.0) => "No scheme sends a PAUSE frame.".to_owned(),
        (true, _) => format!("Every scheme sends {}.", frames(most.mean)),
        (false, 0.0) => {
            let (names, one) = with(0.0);
            let sends = if one { "sends" } else { "send" };
            format!("{names} {sends} no PAUSE frame; {most_names} the most, {}.", most.text(count))
        }
        (false, _) => {
            let (names, _) = with(least.mean);
            format!("PAUSE frames: {} ({names}) to {} ({most_names}).", least.text(count), most.text(count))
        }
    }
}

/// A tail of the flows that finished flatters whoever left the slow ones behind.
fn unfinished(entries: &[&Entry], source: &str) -> Option<String> {
    let left = |entry: &&&Entry| {
        let of = entry.summaries().filter_map(|run| of_source(run, source));
        of.map(|of| of.flows - of.completed).sum::<u64>() > 0
    };
    let names: Vec<&str> = entries.iter().filter(left).map(|entry| scheme_label(&entry.scheme)).collect();
    (!names.is_empty()).then(|| {
        format!("Under {} not all flows finished: these are numbers of those that did.", list(&names, "schemes"))
    })
}

/// What the first of the long flows keeps while a burst lasts, and which schemes cut it themselves.
fn burst(entries: &[&Entry], delta: Option<f64>) -> Option<Vec<String>> {
    let name = entries[0].first().summary.episode.as_ref()?.flows.first()?.name.clone();
    let flow = |run: &Summary| run.episode.as_ref()?.flows.iter().find(|flow| flow.name == name).cloned();
    let mean =
        |entry: &Entry, read: &dyn Fn(&Summary) -> Option<f64>| Some(Estimate::of(&entry.series(read).values())?.mean);
    let had = |entry: &Entry| mean(entry, &|run| flow(run)?.before_gbps);
    let before: Vec<f64> = entries.iter().filter_map(|entry| had(entry)).collect();
    let [least, most] = [f64::min, f64::max].map(|end| before.iter().copied().reduce(end));
    let (least, most) = (brief(least?), brief(most?));
    let before = if least == most { least } else { format!("{least} to {most}") };
    let about = About {
        more: true,
        unit: "Gbps".to_owned(),
        condition: format!("{before} Gbps before it"),
        ..About::schemes(
            format!("rate that {name} keeps while the burst lasts"),
            delta.unwrap_or_else(|| smallest_effect("mean")),
        )
    };
    let kept = Ranking::of(ranked(entries, |run| flow(run)?.during_gbps), about);
    if kept.len() < 2 {
        return None;
    }
    let mut out = vec![kept.sentence()];
    let mut cuts: Vec<(&str, f64, bool)> = entries
        .iter()
        .filter_map(|entry| {
            let cut = mean(entry, &|run| flow(run)?.min_allowed_gbps)?;
            Some((scheme_label(&entry.scheme), cut, cut < had(entry)? / 2.0))
        })
        .collect();
    cuts.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(b.0)));
    let deep: Vec<&str> = cuts.iter().filter(|(_, _, deep)| *deep).map(|(scheme, ..)| *scheme).collect();
    out.extend(match (cuts.first(), &deep[..]) {
        (None, _) => None,
        (Some(_), []) => Some(format!("No scheme itself cuts {name} to less than half of what it had.")),
        (Some((lowest, to, _)), [_]) => Some(format!("{lowest} itself cuts it to {} Gbps.", brief(*to))),
        (Some((_, to, _)), many) => Some(format!(
            "{} themselves cut it to less than half of what it had, the lowest to {} Gbps.",
            list(many, "schemes"),
            brief(*to)
        )),
    });
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::RunWriter;
    use super::super::fixture;
    use super::super::incident::{Episode, EpisodeFlow};
    use super::super::outcome::{Outcome, RunContext};
    use super::*;

    fn run(scheme: &str, flows: u32, fct: u64) -> Outcome {
        seeded(scheme, flows, fct, 1)
    }

    fn seeded(scheme: &str, flows: u32, fct: u64, seed: u64) -> Outcome {
        let plan = fixture::plan();
        let context = RunContext { schemes: vec![scheme.into()], seed, ..fixture::context(&plan) };
        let mut writer = RunWriter::create(None, &context).unwrap();
        let flows: Vec<_> = (0..flows).map(|i| fixture::flow(i, 1000 + 900 * u64::from(i), 10, fct)).collect();
        writer.flows(&flows).unwrap();
        writer.finish(fixture::end(flows.iter().map(|flow| flow.delivered_bytes).sum())).unwrap()
    }

    fn entry(scheme: &str, flows: u32, fcts: &[u64]) -> Entry {
        let runs = (1..).zip(fcts).map(|(seed, fct)| seeded(scheme, flows, *fct, seed)).collect();
        Entry { scheme: scheme.to_owned(), runs }
    }

    fn text(entries: &[Entry]) -> String {
        of_comparison(entries, None).text
    }

    #[test]
    fn a_run_says_what_became_of_its_flows() {
        let told = of_run(&run("none", 200, 30).summary);
        assert_eq!(told, "All 200 finite flows finished; the p99 slowdown is 3.00; 4 PAUSE frames and no drop.");
        let told = of_run(&run("none", 20, 30).summary);
        assert!(told.contains("the slowdown of the slowest flow is 3.00"), "{told}");
        let mut failed = run("none", 20, 30).summary;
        failed.failure = Some("deadlock at 3ms.\n  more".into());
        assert_eq!(of_run(&failed), "The run failed: deadlock at 3ms.");
    }

    #[test]
    fn the_best_scheme_is_named_with_the_next_and_the_worst() {
        let entries = [entry("none", 200, &[90]), entry("pcn", 200, &[20]), entry("dcqcn", 200, &[25])];
        assert_eq!(
            text(&entries),
            "The lowest p99 slowdown of mice (200 flows, one seed) is 2.00, under pcn; the next, dcqcn, has 2.50 (25 % \
             more); PFC only has the highest, 9.00. Every scheme sends 4 PAUSE frames."
        );
        let seeds =
            [entry("none", 200, &[90, 94, 92]), entry("pcn", 200, &[20, 20, 21]), entry("x", 200, &[25, 25, 26])];
        assert!(
            text(&seeds).starts_with(
                "The lowest p99 slowdown of mice (200 flows, 3 seeds) is 2.03 ± 0.14, under pcn; the next, x, has 2.53 ± \
                 0.14 (25 % more, 95 % interval 23 to 26 %); PFC only has the highest, 9.20 ± 0.50."
            ),
            "{}",
            text(&seeds)
        );
    }

    #[test]
    fn ties_and_single_schemes_are_no_victories() {
        let told = text(&[entry("none", 200, &[20]), entry("pcn", 200, &[20])]);
        assert!(told.contains("is 2.00, the same under every scheme."), "{told}");
        let told = text(&[entry("a", 200, &[20]), entry("b", 200, &[20]), entry("c", 200, &[30])]);
        assert!(told.contains("is 2.00, under a and b; c has the highest, 3.00."), "{told}");
        let told = text(&[entry("a", 200, &[200; 3]), entry("b", 200, &[201; 3]), entry("c", 200, &[300; 3])]);
        assert!(
            told.contains(
                "is 20.0 to 20.1, under a and b, which differ by less than 5 %; c has the highest, 30.0; seeds"
            ),
            "{told}"
        );
        let of = of_comparison(&[entry("a", 200, &[200; 3]), entry("b", 200, &[201; 3])], Some(0.001));
        assert!(of.text.contains("is 20.0, under a; the next, b, has 20.1 (1 % more)"), "{}", of.text);
        let told = text(&[entry("pcn", 200, &[20])]);
        assert!(told.starts_with("Under pcn: All 200 finite flows finished"), "{told}");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn seeds_that_do_not_tell_apart_are_said_to() {
        let near = [entry("none", 200, &[20, 40]), entry("pcn", 200, &[30, 36])];
        let told = text(&near);
        assert!(
            told.starts_with(
                "The schemes are not distinguishable by the p99 slowdown of mice (200 flows, 2 seeds): 3.00 ± 12.71 (PFC \
                 only) to 3.30 ± 3.81 (pcn); about 461 seeds would show a difference of 5 %."
            ),
            "{told}"
        );
        let same = text(&[entry("none", 200, &[20, 20]), entry("pcn", 200, &[20, 20])]);
        assert!(same.contains("is 2.00, the same under every scheme; seeds change nothing here."), "{same}");
        let alone = text(&[entry("none", 200, &[20, 40])]);
        assert!(alone.starts_with("Over 2 seeds the p99 slowdown of mice is 3.00 ± 12.71; 4 PAUSE frames."), "{alone}");
        let alone = text(&[entry("none", 200, &[20, 20])]);
        assert!(
            alone.starts_with("Over 2 seeds the p99 slowdown of mice is 2.00 (seeds change nothing here);"),
            "{alone}"
        );
    }

    #[test]
    fn who_sends_no_pause_frame_is_named_with_all_others_that_do_not() {
        let sends = |scheme: &str, frames: u64| {
            let mut entry = entry(scheme, 200, &[20]);
            entry.runs[0].summary.counts.pause_frames = Some(frames);
            entry
        };
        let told = text(&[sends("none", 4775), sends("dcqcn:nic", 0), sends("dcqcn:paper", 0), sends("hpcc", 0)]);
        assert!(
            told.ends_with("dcqcn:nic, dcqcn:paper and hpcc send no PAUSE frame; PFC only the most, 4,775."),
            "{told}"
        );
        let told = text(&[sends("none", 9), sends("a", 0), sends("b", 9)]);
        assert!(told.ends_with("a sends no PAUSE frame; PFC only and b the most, 9."), "{told}");
        let told = text(&[sends("none", 9), sends("a", 2), sends("b", 2)]);
        assert!(told.ends_with("PAUSE frames: 2 (a and b) to 9 (PFC only)."), "{told}");
        let told = text(&[sends("a", 0), sends("b", 0)]);
        assert!(told.ends_with("No scheme sends a PAUSE frame."), "{told}");
    }

    #[test]
    fn flow_counts_of_several_seeds_are_told_from_least_to_most() {
        let mut entries = [entry("a", 200, &[20]), entry("b", 200, &[30])];
        entries[1].runs[0] = run("b", 184, 30);
        assert!(text(&entries).contains("(184 to 200 flows, one seed)"), "{}", text(&entries));
    }

    #[test]
    fn the_order_of_schemes_and_seeds_is_of_no_account() {
        let entries =
            [entry("none", 200, &[20, 40, 33]), entry("b", 200, &[20, 40, 33]), entry("pcn", 200, &[20, 20, 21])];
        let told = text(&entries);
        let mut other: Vec<Entry> = entries.iter().rev().cloned().collect();
        other[0].runs.rotate_left(1);
        other[1].runs.reverse();
        assert_eq!(text(&other), told);
        // The same seeds once more are no new ones.
        other.iter_mut().for_each(|entry| entry.runs.extend(entry.runs.clone()));
        assert_eq!(text(&other), told);
    }

    #[test]
    fn who_failed_is_named_and_not_ranked() {
        let mut failed = entry("none", 200, &[10]);
        failed.runs[0].summary.failure = Some("deadlock at 3ms".into());
        let told = text(&[failed, entry("pcn", 200, &[20]), entry("dcqcn", 200, &[25])]);
        assert!(told.contains("under pcn") && !told.contains("under PFC only"), "{told}");
        assert!(told.ends_with("PFC only failed, and is not ranked: deadlock at 3ms."), "{told}");
    }

    fn disturbed(scheme: &str, during: f64, cut_to: f64) -> Entry {
        let mut entry = entry(scheme, 20, &[30]);
        let flow = EpisodeFlow {
            name: "victim F0".into(),
            before_gbps: Some(20.0),
            during_gbps: Some(during),
            after_gbps: Some(20.0),
            min_allowed_gbps: Some(cut_to),
            recovery_us: Some(3000.0),
        };
        let flows = vec![flow];
        let (cause, start_us, end_us) = ("burst".to_owned(), 1.0, 2.0);
        entry.runs[0].summary.episode =
            Some(Episode { cause, start_us, end_us, pauses_toward_senders: None, congestion_tree_us: None, flows });
        entry
    }

    #[test]
    fn a_burst_is_told_by_what_the_victim_keeps() {
        let told = text(&[disturbed("none", 5.0, 20.0), disturbed("pcn", 19.0, 20.0)]);
        assert_eq!(
            told,
            "The highest rate that victim F0 keeps while the burst lasts (20.0 Gbps before it, one seed) is 19.0 Gbps, \
             under pcn; the next, PFC only, has 5.00 Gbps (74 % less). No scheme itself cuts victim F0 to less than half \
             of what it had."
        );
        let told = text(&[disturbed("none", 5.0, 20.0), disturbed("dcqcn", 5.0, 0.5), disturbed("x", 5.0, 1.0)]);
        assert!(told.contains("is 5.00 Gbps, the same under every scheme. dcqcn and x themselves cut it"), "{told}");
        let told = of_run(&disturbed("none", 5.0, 20.0).runs[0].summary);
        assert!(told.starts_with("While the burst lasts, victim F0 keeps 5.00 of 20.0 Gbps, and has it back after"));
    }
}
