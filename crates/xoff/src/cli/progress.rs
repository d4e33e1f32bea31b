//! Progress bars: simulated time, speed and time to go; silent without a terminal.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Instant;
use xoff_run::drive::Position;
use xoff_scenario::number::microseconds;
use xoff_sweep::pool::Progress;

/// Bars for the runs of one command.
pub struct Bars {
    all: MultiProgress,
}

/// One run's bar.
pub struct Bar {
    bar: ProgressBar,
    began: Instant,
}

const STEPS: u64 = 1000;
/// Name, bar and part done take 33 columns; the message gets the rest of the terminal and is cut there, so
/// that no line ever wraps: a wrapped one cannot be drawn over.
const TEMPLATE: &str = "{prefix:>14!} {bar:10} {percent:>3}%  {wide_msg}";

impl Bars {
    /// Shown on a terminal unless `hidden`.
    pub fn new(hidden: bool) -> Bars {
        let visible = !hidden && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        Bars { all: MultiProgress::with_draw_target(target) }
    }

    /// To draw something else below them.
    pub fn all(&self) -> &MultiProgress {
        &self.all
    }

    pub fn add(&self, name: &str) -> Bar {
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = self.all.add(ProgressBar::new(STEPS).with_style(style).with_prefix(name.to_owned()));
        Bar { bar, began: Instant::now() }
    }
}

impl Bar {
    pub fn update(&self, at: Position<'_>) {
        let seconds = self.began.elapsed().as_secs_f64();
        let speed = at.packet_hops as f64 / seconds.max(1e-9) / 1e6;
        let left = if at.part > 0.002 { seconds / at.part * (1.0 - at.part) } else { f64::INFINITY };
        let eta = if left.is_finite() { format!("{} to go", clock(left)) } else { "estimating".to_owned() };
        self.bar.set_position((at.part * STEPS as f64) as u64);
        self.bar.set_message(message(at.now.as_us(), speed, &eta));
    }

    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Where a run is, in what 80 columns leave.
fn message(now_us: f64, million_hops: f64, eta: &str) -> String {
    format!("{}, {million_hops:.1} M hops/s, {eta}", microseconds(now_us))
}

/// One bar for a whole set of runs.
pub struct Whole {
    bar: ProgressBar,
    began: Instant,
    /// Seconds that the set is thought to take if none of it is done yet.
    expected: f64,
    /// What the set is, where there are several.
    about: String,
}

impl Whole {
    pub fn new(hidden: bool, expected: f64) -> Whole {
        let visible = !hidden && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{bar:24} {percent:>3}%  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(STEPS), target).with_style(style);
        Whole { bar, began: Instant::now(), expected, about: String::new() }
    }

    /// Says which of several sets this is.
    pub fn about(self, name: &str) -> Whole {
        Whole { about: format!("{name}: "), ..self }
    }

    pub fn update(&self, at: &Progress) {
        let seconds = self.began.elapsed().as_secs_f64();
        // Until a twentieth is done, what the files say is better than what this machine did so far.
        let left = if at.part > 0.05 { seconds / at.part * (1.0 - at.part) } else { self.expected * (1.0 - at.part) };
        self.bar.set_position((at.part * STEPS as f64) as u64);
        self.bar.set_message(format!("{}{}", self.about, progress_of(at, seconds, left)));
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Runs done, how fast, time to go, what began or ended last, and what took longest.
fn progress_of(at: &Progress, seconds: f64, left: f64) -> String {
    let (done, total) = (at.done, at.total);
    let rate = if at.made > 1 { format!(", {:.1}/s", at.made as f64 / seconds.max(1e-9)) } else { String::new() };
    let left = if left.is_finite() { format!("{} to go", clock(left)) } else { "estimating".to_owned() };
    let slowest = match &at.slowest {
        Some((name, seconds)) if *seconds >= 1.0 => format!(" (slowest {name}, {})", clock(*seconds)),
        _ => String::new(),
    };
    format!("{done} of {total} runs{rate}, {left}: {}{slowest}", at.current)
}

pub(super) fn clock(seconds: f64) -> String {
    if seconds < 1.0 {
        return "less than 1 s".to_owned();
    }
    let seconds = seconds.round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_runs_says_how_far_it_is() {
        let mut at = Progress { done: 3, made: 0, total: 8, part: 0.0, current: "hpcc".into(), slowest: None };
        assert_eq!(progress_of(&at, 2.0, f64::INFINITY), "3 of 8 runs, estimating: hpcc");
        (at.made, at.slowest) = (3, Some(("dcqcn, load 0.7".into(), 61.0)));
        let whole = "3 of 8 runs, 1.5/s, 5 s to go: hpcc (slowest dcqcn, load 0.7, 1 min 01 s)";
        assert_eq!(progress_of(&at, 2.0, 5.0), whole);
    }

    #[test]
    fn a_line_of_progress_fits_80_columns() {
        for (now_us, seconds) in [(0.0, 0.0), (999.4, 59.4), (123_456.0, 3_599.0), (9.99e8, 359_999.0)] {
            let line = 33 + message(now_us, 1234.5, &format!("{} to go", clock(seconds))).chars().count();
            assert!(line <= 79, "{line} columns");
        }
        // Whatever it says, the terminal's width ends it.
        assert!(TEMPLATE.contains("{prefix:>14!}") && TEMPLATE.ends_with("{wide_msg}"));
    }
}
