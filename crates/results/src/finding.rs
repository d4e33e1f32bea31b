//! What a run or a comparison found, in a sentence or two: where a reader begins.
//!
//! A sentence says no more than its numbers do. Schemes that failed are named and not ranked, what looks the same in
//! three digits is a tie, and intervals over seeds that overlap tell nobody apart.

use super::columns::{Entry, Percentile, needed};
use super::interval::Estimate;
use super::jobs::rows::JobRow;
use super::summary::{SourceFlows, Summary};
use xoff_scenario::number::{brief, count, microseconds, percent, thousands};

/// Jobs that the sentence of a run tells of.
const JOBS_TOLD: usize = 3;

/// Of one run.
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
    parts.push(format!("{} and {}", frames(run.pause_frames as f64), drops(run)));
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

/// Of one run per scheme or of several, one per seed.
pub fn of_comparison(entries: &[Entry]) -> Finding {
    let (failed, sound): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.summaries().any(|run| run.failure.is_some()));
    let (mut sentences, source) = match &sound[..] {
        [] => (Vec::new(), None),
        [only] if only.runs.len() == 1 => {
            (vec![format!("Under {}: {}", only.scheme, of_run(&only.first().summary))], None)
        }
        [only] => (over_seeds(only), None),
        several => side_by_side(several),
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
    match entry.runs.len() {
        1 => format!("{} failed, and is not ranked: {why}.", entry.scheme),
        all => format!("{} failed under {} of {all} seeds, and is not ranked: {why}.", entry.scheme, failed.len()),
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
    match (run.drops, run.drops_lossless) {
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
        format!("job {} takes {}{exposed}{speed}", job.name, microseconds(us))
    };
    run.jobs.iter().take(JOBS_TOLD).map(of).collect()
}

fn finished(run: &Summary) -> Option<String> {
    match (run.flows_total - run.flows_endless, run.flows_completed) {
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
    let whose = if run.by_source.len() > 1 { format!(" of {}", of.source) } else { String::new() };
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
    let all = runs.iter().flat_map(|run| &run.by_source).filter(|of| of.completed > 0);
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

/// A scheme and a number of it.
#[derive(Clone, Debug)]
struct Ranked<'a> {
    scheme: &'a str,
    value: Estimate,
    /// How its numbers are written.
    show: fn(f64) -> String,
}

impl Ranked<'_> {
    fn text(&self) -> String {
        match self.value.half_width {
            Some(half) if half > 0.0 => format!("{} ± {}", (self.show)(self.value.mean), (self.show)(half)),
            _ => (self.show)(self.value.mean),
        }
    }

    fn ties(&self, other: &Ranked<'_>) -> bool {
        (self.show)(self.value.mean) == (self.show)(other.value.mean)
    }

    fn overlaps(&self, other: &Ranked<'_>) -> bool {
        let half = |of: &Ranked<'_>| of.value.half_width.unwrap_or(0.0);
        (self.value.mean - other.value.mean).abs() <= half(self) + half(other)
    }
}

/// Least first.
fn rank<'a>(entries: &[&'a Entry], read: impl Fn(&Summary) -> Option<f64>) -> Vec<Ranked<'a>> {
    let of = |entry: &&'a Entry| {
        let value = Estimate::of(&entry.summaries().filter_map(&read).collect::<Vec<_>>())?;
        Some(Ranked { scheme: &entry.scheme, value, show: brief })
    };
    let mut all: Vec<Ranked<'a>> = entries.iter().filter_map(of).collect();
    all.sort_by(|a, b| a.value.mean.total_cmp(&b.value.mean));
    all
}

fn over_seeds(entry: &Entry) -> Vec<String> {
    let runs: Vec<&Summary> = entry.summaries().collect();
    let mut parts = Vec::new();
    let one = [entry];
    if runs.iter().any(|run| !run.jobs.is_empty()) {
        let mut ranked = rank(&one, |run| run.job_time_us);
        ranked.iter_mut().for_each(|of| of.show = microseconds);
        let took = ranked.first().map(|of| format!("the jobs take {}", of.text()));
        parts.push(took.unwrap_or_else(|| "the jobs do not end".to_owned()));
    } else if let Some((source, tail)) = largest(&runs).and_then(|of| Some((&of.source, Tail::of(of)?))) {
        let ranked = rank(&one, |run| tail.read(of_source(run, source)?));
        parts.extend(ranked.first().map(|of| format!("the {} of {source} is {}", tail.name(), of.text())));
    } else {
        parts.extend(rank(&one, long_mean).first().map(|of| format!("long flows get {} Gbps in the mean", of.text())));
    }
    let pauses = rank(&one, |run| Some(run.pause_frames as f64));
    parts.extend(pauses.first().map(|of| frames(of.value.mean)));
    vec![format!("Over {} seeds {}.", runs.len(), parts.join("; "))]
}

fn of_source<'a>(run: &'a Summary, source: &str) -> Option<&'a SourceFlows> {
    run.by_source.iter().find(|of| of.source == source)
}

/// With the source that it is about.
fn side_by_side(entries: &[&Entry]) -> (Vec<String>, Option<String>) {
    let runs: Vec<&Summary> = entries.iter().flat_map(|entry| entry.summaries()).collect();
    if runs.iter().all(|run| run.episode.is_some())
        && let Some(of) = burst(entries)
    {
        return (of, None);
    }
    if runs.iter().all(|run| !run.jobs.is_empty()) {
        return (by_job_time(entries), None);
    }
    if let Some((source, tail)) = largest(&runs).and_then(|of| Some((of, Tail::of(of)?))) {
        return (by_tail(entries, source, tail), Some(source.source.clone()));
    }
    let mut ranked = rank(entries, long_mean);
    ranked.reverse();
    let said = match ranked.len() {
        0 | 1 => "No flow finished under any scheme.".to_owned(),
        _ => {
            let of = order(&ranked, "lowest", entries[0].runs.len());
            format!("The highest mean throughput of the long flows is {of}.")
        }
    };
    (vec![said], None)
}

/// `2.31, under pcn; the next, dcqcn, has 2.62 (13 % more); none has the highest, 5.41`. Of at least two, best first.
fn order(ranked: &[Ranked<'_>], worst: &str, seeds: usize) -> String {
    let (best, last) = (&ranked[0], &ranked[ranked.len() - 1]);
    if best.ties(last) {
        return format!("{}, whatever the scheme", best.text());
    }
    let equal: Vec<&str> = ranked.iter().take_while(|of| of.ties(best)).map(|of| of.scheme).collect();
    let mut text = format!("{}, under {}", best.text(), list(&equal));
    let next = &ranked[equal.len()];
    if equal.len() == 1 {
        let more = (next.value.mean - best.value.mean).abs() / best.value.mean;
        let word = if next.value.mean > best.value.mean { "more" } else { "less" };
        let share =
            if (0.005..10.0).contains(&more) { format!(" ({:.0} % {word})", 100.0 * more) } else { String::new() };
        text.push_str(&format!("; the next, {}, has {}{share}", next.scheme, next.text()));
        if seeds > 1 && best.overlaps(next) {
            text.push_str(&format!(", but their intervals over {seeds} seeds overlap"));
        }
    }
    if equal.len() > 1 || (last.scheme != next.scheme && !last.ties(next)) {
        text.push_str(&format!("; {} has the {worst}, {}", last.scheme, last.text()));
    }
    text
}

/// Under which scheme the jobs are done first.
fn by_job_time(entries: &[&Entry]) -> Vec<String> {
    let mut ranked = rank(entries, |run| run.job_time_us);
    ranked.iter_mut().for_each(|of| of.show = microseconds);
    let late: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.summaries().any(|run| run.job_time_us.is_none()))
        .map(|entry| entry.scheme.as_str())
        .collect();
    let mut out = match &ranked[..] {
        [] => vec!["No job ended under any scheme.".to_owned()],
        [only] => vec![format!("Only under {} did the jobs end, after {}.", only.scheme, only.text())],
        _ => {
            let of = order(&ranked, "longest", entries[0].runs.len());
            vec![format!("The shortest job time is {of}."), pauses(entries, ranked[0].scheme)]
        }
    };
    if !late.is_empty() && !ranked.is_empty() {
        out.push(format!("Under {} a job has not ended when the run does.", list(&late)));
    }
    out
}

/// Who has the shortest tail among the flows of the largest source.
fn by_tail(entries: &[&Entry], source: &SourceFlows, tail: Tail) -> Vec<String> {
    let ranked = rank(entries, |run| tail.read(of_source(run, &source.source)?));
    match &ranked[..] {
        [] => return vec!["No flow finished under any scheme.".to_owned()],
        [only] => return vec![format!("Only under {} did flows of {} finish.", only.scheme, source.source)],
        _ => {}
    }
    let flows = match source.flows {
        1 => "1 flow".to_owned(),
        all => format!("{} flows", thousands(all)),
    };
    let of = order(&ranked, "highest", entries[0].runs.len());
    let mut out = vec![format!("The lowest {} of {} ({flows}) is {of}.", tail.name(), source.source)];
    out.push(pauses(entries, ranked[0].scheme));
    out.extend(unfinished(entries, &source.source));
    out
}

/// What the best scheme asks of PFC, beside what the others do.
fn pauses(entries: &[&Entry], best: &str) -> String {
    let ranked = rank(entries, |run| Some(run.pause_frames as f64));
    let (least, most) = (&ranked[0], &ranked[ranked.len() - 1]);
    let own = ranked.iter().find(|of| of.scheme == best).unwrap_or(least);
    match (least.value.mean == most.value.mean, own.value.mean) {
        (true, 0.0) => "No scheme sends a PAUSE frame.".to_owned(),
        (true, _) => format!("Every scheme sends {}.", frames(own.value.mean)),
        (false, sent) if own.scheme == most.scheme => {
            format!(
                "{best} sends the most PAUSE frames, {}; {} the fewest, {}.",
                count(sent),
                least.scheme,
                count(least.value.mean)
            )
        }
        (false, sent) => {
            format!("{best} sends {}; {} the most, {}.", frames(sent), most.scheme, count(most.value.mean))
        }
    }
}

/// A tail of the flows that finished flatters whoever left the slow ones behind.
fn unfinished(entries: &[&Entry], source: &str) -> Option<String> {
    let left = |entry: &&&Entry| {
        let of = entry.summaries().filter_map(|run| of_source(run, source));
        of.map(|of| of.flows - of.completed).sum::<u64>() > 0
    };
    let names: Vec<&str> = entries.iter().filter(left).map(|entry| entry.scheme.as_str()).collect();
    (!names.is_empty())
        .then(|| format!("Under {} not all flows finished: these are numbers of those that did.", list(&names)))
}

/// `a`, `a and b`, `a, b and c`; of many only how many there are.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] if names.len() <= 6 => format!("{} and {last}", first.join(", ")),
        many => format!("{} schemes", many.len()),
    }
}

/// What the first of the long flows keeps while a burst lasts, and which schemes cut it themselves.
fn burst(entries: &[&Entry]) -> Option<Vec<String>> {
    let name = entries[0].first().summary.episode.as_ref()?.flows.first()?.name.clone();
    let flow = |run: &Summary| run.episode.as_ref()?.flows.iter().find(|flow| flow.name == name).cloned();
    let mut kept = rank(entries, |run| flow(run)?.during_gbps);
    kept.reverse();
    let before = rank(entries, |run| flow(run)?.before_gbps);
    let had = |scheme: &str| before.iter().find(|of| of.scheme == scheme).map(|of| of.value.mean);
    let ([best, .., worst], Some(had_best)) = (&kept[..], had(kept.first()?.scheme)) else { return None };
    let of = format!("{} of {} Gbps", best.text(), brief(had_best));
    let mut out = vec![match best.ties(worst) {
        true => format!("While the burst lasts, {name} keeps {of}, whatever the scheme."),
        false => format!(
            "While the burst lasts, {name} keeps most under {}, {of}, and least under {}, {}.",
            best.scheme,
            worst.scheme,
            worst.text()
        ),
    }];
    let seeds = entries[0].runs.len();
    if seeds > 1 && !best.ties(worst) && best.overlaps(worst) {
        out.push(format!("Their intervals over {seeds} seeds overlap."));
    }
    let cuts = rank(entries, |run| flow(run)?.cut_to_gbps);
    let is_deep = |of: &&Ranked<'_>| had(of.scheme).is_some_and(|had| of.value.mean < had / 2.0);
    let deep: Vec<&str> = cuts.iter().filter(is_deep).map(|of| of.scheme).collect();
    out.extend(match (cuts.first(), &deep[..]) {
        (None, _) => None,
        (Some(_), []) => Some(format!("No scheme itself cuts {name} to less than half of what it had.")),
        (Some(lowest), [_]) => Some(format!("{} itself cuts it to {} Gbps.", lowest.scheme, brief(lowest.value.mean))),
        (Some(lowest), many) => Some(format!(
            "{} themselves cut it to less than half of what it had, {} furthest, to {} Gbps.",
            list(many),
            lowest.scheme,
            brief(lowest.value.mean)
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
        let plan = fixture::plan();
        let context = RunContext { schemes: vec![scheme.into()], ..fixture::context(&plan) };
        let mut writer = RunWriter::create(None, &context).unwrap();
        let flows: Vec<_> = (0..flows).map(|i| fixture::flow(i, 1000 + 900 * u64::from(i), 10, fct)).collect();
        writer.flows(&flows).unwrap();
        writer.finish(fixture::end(flows.iter().map(|flow| flow.delivered_bytes).sum())).unwrap()
    }

    fn entry(scheme: &str, flows: u32, fcts: &[u64]) -> Entry {
        Entry { scheme: scheme.to_owned(), runs: fcts.iter().map(|fct| run(scheme, flows, *fct)).collect() }
    }

    fn text(entries: &[Entry]) -> String {
        of_comparison(entries).text
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
            "The lowest p99 slowdown of mice (200 flows) is 2.00, under pcn; the next, dcqcn, has 2.50 (25 % more); none \
             has the highest, 9.00. Every scheme sends 4 PAUSE frames."
        );
    }

    #[test]
    fn ties_and_single_schemes_are_no_victories() {
        let told = text(&[entry("none", 200, &[20]), entry("pcn", 200, &[20])]);
        assert!(told.contains("is 2.00, whatever the scheme."), "{told}");
        let told = text(&[entry("a", 200, &[20]), entry("b", 200, &[20]), entry("c", 200, &[30])]);
        assert!(told.contains("is 2.00, under a and b; c has the highest, 3.00."), "{told}");
        let told = text(&[entry("pcn", 200, &[20])]);
        assert!(told.starts_with("Under pcn: All 200 finite flows finished"), "{told}");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn seeds_that_do_not_tell_apart_are_said_to() {
        let near = [entry("none", 200, &[20, 40]), entry("pcn", 200, &[30, 36])];
        assert!(text(&near).contains("but their intervals over 2 seeds overlap"), "{}", text(&near));
        let far = [entry("none", 200, &[20, 20]), entry("pcn", 200, &[90, 90])];
        assert!(!text(&far).contains("overlap"));
        let alone = text(&[entry("none", 200, &[20, 40])]);
        assert!(alone.starts_with("Over 2 seeds the p99 slowdown of mice is 3.00 ± "), "{alone}");
    }

    #[test]
    fn who_failed_is_named_and_not_ranked() {
        let mut failed = entry("none", 200, &[10]);
        failed.runs[0].summary.failure = Some("deadlock at 3ms".into());
        let told = text(&[failed, entry("pcn", 200, &[20]), entry("dcqcn", 200, &[25])]);
        assert!(told.contains("under pcn") && !told.contains("under none"), "{told}");
        assert!(told.ends_with("none failed, and is not ranked: deadlock at 3ms."), "{told}");
    }

    fn disturbed(scheme: &str, during: f64, cut_to: f64) -> Entry {
        let mut entry = entry(scheme, 20, &[30]);
        let flow = EpisodeFlow {
            name: "victim F0".into(),
            before_gbps: Some(20.0),
            during_gbps: Some(during),
            after_gbps: Some(20.0),
            cut_to_gbps: Some(cut_to),
            recovery_us: Some(3000.0),
        };
        let flows = vec![flow];
        let (cause, start_us, end_us) = ("burst".to_owned(), 1.0, 2.0);
        entry.runs[0].summary.episode =
            Some(Episode { cause, start_us, end_us, pauses_toward_senders: None, tree_us: None, flows });
        entry
    }

    #[test]
    fn a_burst_is_told_by_what_the_victim_keeps() {
        let told = text(&[disturbed("none", 5.0, 20.0), disturbed("pcn", 19.0, 20.0)]);
        assert_eq!(
            told,
            "While the burst lasts, victim F0 keeps most under pcn, 19.0 of 20.0 Gbps, and least under none, 5.00. No \
             scheme itself cuts victim F0 to less than half of what it had."
        );
        let told = text(&[disturbed("none", 5.0, 20.0), disturbed("dcqcn", 5.0, 0.5), disturbed("x", 5.0, 1.0)]);
        assert!(told.contains("whatever the scheme. dcqcn and x themselves cut it"), "{told}");
        let told = of_run(&disturbed("none", 5.0, 20.0).runs[0].summary);
        assert!(told.starts_with("While the burst lasts, victim F0 keeps 5.00 of 20.0 Gbps, and has it back after"));
    }
}
