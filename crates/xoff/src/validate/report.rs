//! What is said about a validation: on the terminal, and as a page of the documentation.

use super::compare::{Agreement, Bound, share, signed};
use super::queues::QueuesSeen;
use super::tcd::Mean;
use super::{Compared, Validation};
use std::fmt::Write;
use xoff_results::grid::Grid;
use xoff_scenario::number::{brief_bytes, thousands};
use xoff_scenario::wrap::paragraph as wrap_paragraph;

/// For the terminal: every run with its sizes and its verdict, then the whole.
pub fn text(validation: &Validation, width: usize) -> String {
    let mut out = String::new();
    if !validation.sets.is_empty() {
        wrap_paragraph(&mut out, &format!("With {} in every run.", sets(validation, "")), 0, width);
        out.push('\n');
    }
    for run in &validation.runs {
        out.push_str(&run_text(run, &validation.times_from, width));
        out.push('\n');
    }
    let held = validation.runs.iter().filter(|run| run.held).count();
    let mut grid = Grid::new(["run", "flows", "equal", "< 0.1%", "< 1%", "< 5%", "worst p99", "PAUSE", "verdict"]);
    for run in &validation.runs {
        let agreement = &run.agreement;
        let mut row = vec![run.name.clone(), thousands(agreement.finished_in_both as u64)];
        row.extend(near_shares(agreement));
        row.push(worst(agreement));
        row.push(format!("{}/{}", agreement.pauses.theirs, agreement.pauses.ours));
        row.push(verdict(run).to_owned());
        grid.row(row);
    }
    let _ = write!(out, "{}\n{held} of {} runs are within tolerance.\n", grid.fit(width).text, validation.runs.len());
    out
}

/// What was changed in every run, each between two of `quote`.
fn sets(validation: &Validation, quote: &str) -> String {
    validation.sets.iter().map(|set| format!("{quote}{set}{quote}")).collect::<Vec<_>>().join(" and ")
}

/// The p99 that is farthest away, of all classes of size.
fn worst(agreement: &Agreement) -> String {
    let differences = agreement.sizes.iter().map(|class| class.p99.difference());
    signed(differences.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0))
}

fn verdict(run: &Compared) -> &'static str {
    if run.held { "as promised" } else { "MISSED" }
}

fn run_text(run: &Compared, times_from: &str, width: usize) -> String {
    let agreement = &run.agreement;
    let drawn = if agreement.random { "; random draws" } else { "" };
    let flows = match agreement.flows {
        1 => "1 flow".to_owned(),
        flows => format!("{} flows", thousands(flows as u64)),
    };
    let mut out = format!("{}: {}, {flows}{drawn}\n", run.name, run.scheme);
    let mut grid = Grid::new(["size", "flows", "theirs", "ours", "", "theirs", "ours", "", "theirs", "ours", ""]);
    let title = |text: &str| (text.to_owned(), 3);
    grid.groups = vec![(String::new(), 2), title("p50 slowdown"), title("p95 slowdown"), title("p99 slowdown")];
    for class in &agreement.sizes {
        let mut row = vec![class.name.to_owned(), thousands(class.flows as u64)];
        for pair in [class.p50, class.p95, class.p99] {
            row.extend([format!("{:.3}", pair.theirs), format!("{:.3}", pair.ours), signed(pair.difference())]);
        }
        grid.row(row);
    }
    out.push_str(&grid.fit(width).text);
    let mut say = |text: String| wrap_paragraph(&mut out, &text, 2, width);
    say(near_text(agreement));
    say(pfc_text(agreement));
    if let Some(queue) = &run.queue {
        say(queue_text(queue));
    }
    if !run.means.is_empty() {
        say(format!("Means over time, theirs and ours: {}.", means_text(&run.means)));
    }
    say(time_text(run, times_from));
    for note in &agreement.notes {
        say(note.clone());
    }
    for bound in agreement.bounds.iter().filter(|bound| !bound.held) {
        say(format!("MISSED: {}", bound_text(bound)));
    }
    if run.held {
        say(format!("As promised, in all of {} bounds.", agreement.bounds.len()));
    }
    out
}

fn bound_text(bound: &Bound) -> String {
    format!("{}: {}; promised is {}.", bound.what, bound.found, bound.promised)
}

/// The shares of flows that are equal, and nearer than 0.1%, 1% and 5%.
fn near_shares(Agreement { near, .. }: &Agreement) -> [String; 4] {
    [near.equal, near.within_0_1_percent, near.within_1_percent, near.within_5_percent].map(share)
}

fn near_text(agreement: &Agreement) -> String {
    let far = match agreement.farthest {
        None => String::new(),
        Some(far) => format!(
            " Farthest apart: {} of {} to {}, {} us and {} us.",
            brief_bytes(far.size_bytes),
            far.src,
            far.dst,
            far.fct_ns.theirs as f64 / 1e3,
            far.fct_ns.ours as f64 / 1e3,
        ),
    };
    let [equal, tenth, one, five] = near_shares(agreement);
    format!("FCT equal to the ns in {equal} of the flows, within 0.1% in {tenth}, 1% in {one}, 5% in {five}.{far}")
}

fn pfc_text(agreement: &Agreement) -> String {
    let (pauses, resumes) = (agreement.pauses, agreement.resumes);
    if [pauses.theirs, pauses.ours, resumes.theirs, resumes.ours] == [0; 4] {
        return "No PFC in either.".to_owned();
    }
    format!(
        "PAUSE theirs {}, ours {}; RESUME theirs {}, ours {}; {} frames arrive at the same ns.",
        thousands(pauses.theirs as u64),
        thousands(pauses.ours as u64),
        thousands(resumes.theirs as u64),
        thousands(resumes.ours as u64),
        thousands(agreement.pfc_equal as u64),
    )
}

fn queue_text(queue: &QueuesSeen) -> String {
    let QueuesSeen { port, busy_us, p50_kb, p99_kb, max_kb } = queue;
    format!(
        "Queue {port} while it holds at least 1 KB: theirs {} us, p50 {} KB, p99 {} KB, max {} KB; \
         ours {} us, {} KB, {} KB, {} KB.",
        thousands(busy_us.theirs.round() as u64),
        thousands(p50_kb.theirs),
        thousands(p99_kb.theirs),
        thousands(max_kb.theirs),
        thousands(busy_us.ours.round() as u64),
        thousands(p50_kb.ours),
        thousands(p99_kb.ours),
        thousands(max_kb.ours),
    )
}

fn means_text(means: &[Mean]) -> String {
    let one = |mean: &Mean| {
        let Mean { what, unit, of, .. } = mean;
        let between = if unit.is_empty() { "" } else { " " };
        let digits = if unit.is_empty() { 0 } else { 3 };
        format!("{what} {:.digits$} and {:.digits$}{between}{unit} ({})", of.theirs, of.ours, signed(mean.difference()))
    };
    means.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn time_text(run: &Compared, times_from: &str) -> String {
    let theirs = match run.seconds_theirs {
        Some(seconds) => format!("{} ({times_from})", duration(seconds)),
        None => "-".to_owned(),
    };
    format!("Wall time: theirs {theirs}, ours {}.", duration(run.wall_seconds_ours))
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 9.95 => format!("{s:.0} s"),
        s if s >= 0.0995 => format!("{s:.1} s"),
        s => format!("{:.0} ms", s * 1e3),
    }
}

/// What the compatibility profile copies, and what that does.
const DIFFERENCES: &str = include_str!("differences.md");

/// `docs/validation.md`.
pub fn markdown(validation: &Validation) -> String {
    let Validation { version, commit, times_from, runs, .. } = validation;
    let held = runs.iter().filter(|run| run.held).count();
    let commit =
        if commit.is_empty() { String::new() } else { format!(", commit {}", &commit[..commit.len().min(10)]) };
    let changed = match validation.sets.is_empty() {
        true => String::new(),
        false => format!(" **In every run {} was set: this is not the profile.**", sets(validation, "`")),
    };
    let mut out = format!(
        "# Agreement with other simulators\n\n\
         <!-- Written by `xoff validate FOLDER --docs docs`; do not edit. -->\n\n\
         Written by `xoff validate FOLDER --docs docs`, Xoff {version}{commit}. The folder holds inputs of the HPCC \
         authors' ns-3 simulator, of PowerTCP's authors' (`inet_*`, `buf_*`), of the TCD authors' (`tcd_*`) and of ConWeave's \
         (`cw_*`), and what they made of them; its files are not part of this project. Xoff imports each configuration \
         (`xoff import hpcc`, `xoff import tcd`, `xoff import conweave`), runs it, and compares flow by flow.{changed}\n\n\
         {}\n\n**{held} of {} runs are within tolerance.**\n\n",
        PROMISES,
        runs.len()
    );
    out.push_str(
        "## Flow by flow\n\nOf the flows that finished in both: the share whose completion times are equal to the \
         nanosecond, and nearer than 0.1%, 1% and 5%. PFC frames: theirs / ours.\n\n\
         | run | flows | equal | < 0.1% | < 1% | < 5% | PAUSE | RESUME | same ns | |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for run in runs {
        let of = &run.agreement;
        let (flows, near) = (thousands(of.finished_in_both as u64), near_shares(of).join(" | "));
        let [pauses, resumes] = [of.pauses, of.resumes].map(|pair| format!("{} / {}", pair.theirs, pair.ours));
        let (name, verdict, same) = (&run.name, verdict(run), of.pfc_equal);
        let _ = writeln!(out, "| {name} | {flows} | {near} | {pauses} | {resumes} | {same} | {verdict} |");
    }
    out.push_str(
        "\n## Slowdowns\n\nCompletion time over the standalone time that their file gives (of `tcd_*`, over what the \
         sender's link needs for the payload), of the same flows in both.\n\n\
         | run | size | flows | p50 theirs | ours | | p95 theirs | ours | | p99 theirs | ours | |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for run in runs {
        for class in &run.agreement.sizes {
            let _ = write!(out, "| {} | {} | {} |", run.name, class.name, thousands(class.flows as u64));
            for pair in [class.p50, class.p95, class.p99] {
                let _ = write!(out, " {:.3} | {:.3} | {} |", pair.theirs, pair.ours, signed(pair.difference()));
            }
            out.push('\n');
        }
    }
    queues(&mut out, runs);
    means(&mut out, runs);
    remarks(&mut out, runs);
    let source = if times_from.is_empty() { "not known" } else { times_from };
    let _ = write!(
        out,
        "\n## Time\n\nOurs: wall time on the machine that wrote this page, several runs at a time. Theirs: {source}.\n\n\
         | run | packet-hops | theirs | ours |\n|---|---|---|---|\n"
    );
    for run in runs {
        let theirs = run.seconds_theirs.map_or_else(|| "-".to_owned(), duration);
        let (hops, ours) = (thousands(run.packet_hops), duration(run.wall_seconds_ours));
        let _ = writeln!(out, "| {} | {hops} | {theirs} | {ours} |", run.name);
    }
    let _ = write!(out, "\n{}", DIFFERENCES.trim_start());
    out
}

const PROMISES: &str = "\
Promised is:

- a flow alone in its run takes the same time to the nanosecond;
- where theirs draws no random numbers (HPCC, TIMELY, DCTCP with one threshold), at least 90% of the flows are within 1% \
of each other, and p50, p95 and p99 of the slowdown within 2% in every class of size;
- where it does (DCQCN marks at random between two thresholds, and all runs of the TCD authors' simulator), p50 and p95 are within 5% and p99 within 10%, \
of all flows and in every class of size;
- PAUSE frames are within 10%, where either has at least ten;
- where rates and queues were traced (the TCD authors' simulator), the mean rate of every flow over 1 MB and of all \
others together, the mean of every queue that holds 1 KB or more on average, and the number of CNPs are within 5%;
- every flow that finishes in theirs finishes in ours;
- of HPCC-PINT (`pint_*`) and of PowerTCP's authors' simulator (`inet_*`, `buf_*`), whatever is drawn, every flow takes \
the same time to the nanosecond and every PFC frame arrives at the same one; but where code reads memory that nothing has written (PowerTCP and \
theta-PowerTCP in folders without `_first`), no time is promised;
- of ConWeave's simulator (`cw_*`), every flow takes the same time to the nanosecond, every PFC frame arrives at the same \
one, and as many packets are sent and dropped.";

/// The queues that theirs sampled.
fn queues(out: &mut String, runs: &[Compared]) {
    let sampled: Vec<(&str, &QueuesSeen)> =
        runs.iter().filter_map(|run| Some((run.name.as_str(), run.queue.as_ref()?))).collect();
    if sampled.is_empty() {
        return;
    }
    out.push_str(
        "\n## Queues\n\nThe longest egress queue, sampled every 100 ns, while at least 1000 B wait: theirs / ours. Not \
         judged.\n\n| run | port | waiting, us | p50, KB | p99, KB | max, KB |\n|---|---|---|---|---|---|\n",
    );
    for (run, QueuesSeen { port, busy_us, p50_kb, p99_kb, max_kb }) in sampled {
        let _ = write!(out, "| {run} | {port} | {:.1} / {:.1}", busy_us.theirs, busy_us.ours);
        for pair in [p50_kb, p99_kb, max_kb] {
            let _ = write!(out, " | {} / {}", thousands(pair.theirs), thousands(pair.ours));
        }
        out.push_str(" |\n");
    }
}

/// Rates and queues that theirs traced.
fn means(out: &mut String, runs: &[Compared]) {
    let traced: Vec<(&str, &Mean)> =
        runs.iter().flat_map(|run| run.means.iter().map(|mean| (run.name.as_str(), mean))).collect();
    if traced.is_empty() {
        return;
    }
    out.push_str(
        "\n## Means over time\n\nOf the rate that a flow was allowed, from its start to its end, and of egress queues, \
         sampled each microsecond; and how many CNPs there were. Judged, but for queues below 1 KB.\n\n\
         | run | mean | theirs | ours | |\n|---|---|---|---|---|\n",
    );
    for (run, mean) in traced {
        let Mean { what, unit, of, .. } = mean;
        let digits = usize::from(!unit.is_empty()) * 3;
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        let [theirs, ours] = [of.theirs, of.ours].map(|value| format!("{value:.digits$}"));
        let _ = writeln!(out, "| {run} | {what}{unit} | {theirs} | {ours} | {} |", signed(mean.difference()));
    }
}

/// What is missed or should be known.
fn remarks(out: &mut String, runs: &[Compared]) {
    let mut lines = Vec::new();
    for run in runs {
        lines.extend(run.agreement.notes.iter().map(|note| format!("- {}: {note}", run.name)));
        let missed = run.agreement.bounds.iter().filter(|bound| !bound.held);
        lines.extend(missed.map(|bound| format!("- {}: **missed**: {}", run.name, bound_text(bound))));
    }
    if !lines.is_empty() {
        let _ = write!(out, "\n## Remarks\n\n{}\n", lines.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::{Farthest, Near, Pair, SizeClass};
    use super::*;

    fn validation() -> Validation {
        let of = |theirs, ours| Pair { theirs, ours };
        let class = |name, ours| SizeClass {
            name,
            flows: 1_099,
            p50: of(1.097, 1.097),
            p95: of(123.456, ours),
            p99: of(128.24, 128.5),
        };
        let agreement = Agreement {
            random: true,
            flows: 1_099,
            finished: Pair { theirs: 949, ours: 1_099 },
            finished_in_both: 949,
            starts_equal: 949,
            sizes: vec![class("up to 100 KB", 123.456), class("all", 150.5)],
            near: Near { equal: 0.5, within_0_1_percent: 0.75, within_1_percent: 0.9, within_5_percent: 0.9999 },
            farthest: Some(Farthest {
                src: 310,
                dst: 319,
                src_port: 10_000,
                dst_port: 100,
                size_bytes: 29_000_000,
                fct_ns: Pair { theirs: 12_345_678, ours: 12_445_678 },
                difference: 0.0081,
            }),
            pauses: Pair { theirs: 406, ours: 400 },
            resumes: Pair { theirs: 406, ours: 400 },
            pfc_equal: 380,
            last_end_ns: Pair { theirs: 2_006_980_000, ours: 2_006_990_000 },
            bounds: vec![Bound {
                what: "p95 slowdown, all".into(),
                promised: "at most 5% apart".into(),
                found: "+21.91%".into(),
                held: false,
            }],
            notes: vec!["Their fct.txt has 949 of 1099 flows.".into()],
        };
        let run = Compared {
            name: "dumbbell40_timely_smallbuf".into(),
            scheme: "timely:hpcc-ns3".into(),
            held: agreement.held(),
            agreement,
            queue: Some(QueuesSeen {
                port: "s18->s19".into(),
                busy_us: Pair { theirs: 7_654.3, ours: 7_654.4 },
                p50_kb: Pair { theirs: 1_234, ours: 1_235 },
                p99_kb: Pair { theirs: 8_300, ours: 8_301 },
                max_kb: Pair { theirs: 8_340, ours: 8_340 },
            }),
            means: vec![Mean {
                what: "rate of 2 to 4, 9 MB".into(),
                unit: "Gb/s",
                of: Pair { theirs: 20.0, ours: 20.5 },
                judged: true,
            }],
            wall_seconds_ours: 4.2,
            cpu_seconds_ours: 4.1,
            packet_hops: 22_280_744,
            seconds_theirs: Some(82.8),
        };
        let mut good = run.clone();
        good.agreement.bounds[0].held = true;
        (good.held, good.name, good.seconds_theirs) = (true, "good".into(), None);
        Validation {
            version: "0.1.0".into(),
            commit: "0123456789abcdef".into(),
            sets: Vec::new(),
            times_from: "README.md, \"user CPU s (best of 2-3, contended)\"".into(),
            runs: vec![run, good],
        }
    }

    #[test]
    fn the_text_fits_and_says_what_is_missed() {
        let text = text(&validation(), 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in [
            "dumbbell40_timely_smallbuf: timely:hpcc-ns3, 1,099 flows; random draws",
            "MISSED: p95 slowdown, all: +21.91%; promised is at most 5% apart.",
            "theirs 83 s (README.md",
            "theirs -, ours 4.2 s",
            "PAUSE theirs 406, ours 400",
            "Queue s18->s19 while it holds at least 1 KB: theirs 7,654 us, p50 1,234 KB",
            "1 of 2 runs are within tolerance.",
        ] {
            assert!(text.contains(part), "{part} is missing from\n{text}");
        }
    }

    #[test]
    fn what_was_set_is_said_first() {
        let changed =
            Validation { sets: vec!["model.time_resolution=1ps".into(), "host.gap=20B".into()], ..validation() };
        assert!(text(&changed, 80).starts_with("With model.time_resolution=1ps and host.gap=20B in every run.\n\n"));
        let page = markdown(&changed);
        let head = page.split("Promised is").next().unwrap();
        assert!(head.contains("**In every run `model.time_resolution=1ps` and `host.gap=20B` was set"), "{head}");
        assert!(!text(&validation(), 80).contains("in every run") && !markdown(&validation()).contains("was set"));
    }

    #[test]
    fn the_page_has_everything() {
        let page = markdown(&validation());
        for part in [
            "commit 0123456789.",
            "**1 of 2 runs are within tolerance.**",
            "| dumbbell40_timely_smallbuf | 949 | 50% | 75% | 90% | 99.9% | 406 / 400 | 406 / 400 | 380 | MISSED |",
            "| good | all | 1,099 | 1.097 | 1.097 | = | 123.456 | 150.500 | +21.91% | 128.240 | 128.500 | +0.20% |",
            "- dumbbell40_timely_smallbuf: **missed**: p95",
            "| good | s18->s19 | 7654.3 / 7654.4 | 1,234 / 1,235 | 8,300 / 8,301 | 8,340 / 8,340 |",
            "| good | rate of 2 to 4, 9 MB, Gb/s | 20.000 | 20.500 | +2.50% |",
            "| good | 22,280,744 | - | 4.2 s |",
            "## What the compatibility profile copies",
        ] {
            assert!(page.contains(part), "{part} is missing from\n{page}");
        }
    }
}
