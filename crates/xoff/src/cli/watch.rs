//! `xoff run --watch`: throughput, pauses and the longest queues on the terminal during a run.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use xoff_engine::Time;
use xoff_results::names::Names;
use xoff_run::drive::Position;
use xoff_scenario::number::{brief, brief_bytes};
use xoff_scenario::{Loaded, wrap};

/// Between two pictures.
const EVERY: Duration = Duration::from_millis(100);
/// Queues that are shown.
const QUEUES: usize = 8;
/// Columns of the curves; what is older goes out on the left.
const CURVE: usize = 32;
/// Columns of the name of a port, of its bar.
const NAME: usize = 20;
const BAR: usize = 24;

/// What is drawn, one line below the other.
pub struct Watch {
    lines: Vec<ProgressBar>,
    names: Names,
    ports: u32,
    last: Option<Last>,
    throughput: Curve,
    paused: Curve,
    queued: Curve,
    /// The longest queue so far: a full bar.
    peak_bytes: u64,
}

struct Last {
    drawn: Instant,
    at: Time,
    tx_bytes: Vec<u64>,
}

/// The network at one picture.
struct Picture {
    gbps: f64,
    queued_bytes: u64,
    paused: Vec<u32>,
    /// The longest queues first: port, bytes, rate, paused.
    queues: Vec<(u32, u64, f64, bool)>,
}

impl Watch {
    /// Below the bars of `all`. `None` without a terminal.
    pub fn new(all: &MultiProgress, loaded: &Loaded) -> Option<Watch> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        all.set_draw_target(ProgressDrawTarget::stderr_with_hz(20));
        let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let line = |_| all.add(ProgressBar::new(1).with_style(style.clone()));
        Some(Watch {
            lines: (0..3 + QUEUES).map(line).collect(),
            names: Names::of(&loaded.plan),
            ports: loaded.plan.ports() as u32,
            last: None,
            throughput: Curve::default(),
            paused: Curve::default(),
            queued: Curve::default(),
            peak_bytes: 1,
        })
    }

    pub fn update(&mut self, at: Position<'_>) {
        if self.last.as_ref().is_some_and(|last| last.drawn.elapsed() < EVERY) {
            return;
        }
        let picture = self.look(at);
        for (line, text) in self.lines.iter().zip(self.text(&picture, wrap::columns_of_messages().unwrap_or(80))) {
            line.set_message(text);
        }
    }

    pub fn finish(self) {
        self.lines.iter().for_each(ProgressBar::finish_and_clear);
    }

    fn look(&mut self, at: Position<'_>) -> Picture {
        let last = self.last.take();
        let mut tx_bytes = Vec::with_capacity(self.ports as usize);
        let mut picture = Picture { gbps: 0.0, queued_bytes: 0, paused: Vec::new(), queues: Vec::new() };
        for port in 0..self.ports {
            let now = at.network.port_now(port);
            let gbps = match &last {
                Some(last) if at.now > last.at => {
                    let sent = now.tx_bytes.saturating_sub(last.tx_bytes[port as usize]);
                    sent as f64 * 8.0 / (at.now - last.at).as_s() / 1e9
                }
                _ => 0.0,
            };
            tx_bytes.push(now.tx_bytes);
            // What hosts send enters the network once.
            if self.names.is_host(self.names.node_of(port)) {
                picture.gbps += gbps;
            }
            picture.queued_bytes += now.queue_bytes;
            if now.paused {
                picture.paused.push(port);
            }
            if now.queue_bytes > 0 {
                picture.queues.push((port, now.queue_bytes, gbps, now.paused));
            }
        }
        picture.queues.sort_by_key(|&(port, bytes, ..)| (std::cmp::Reverse(bytes), port));
        picture.queues.truncate(QUEUES);
        self.last = Some(Last { drawn: Instant::now(), at: at.now, tx_bytes });
        self.throughput.push(picture.gbps);
        self.paused.push(picture.paused.len() as f64);
        self.queued.push(picture.queued_bytes as f64);
        self.peak_bytes = picture.queues.first().map_or(self.peak_bytes, |&(_, bytes, ..)| self.peak_bytes.max(bytes));
        picture
    }

    /// Lines that fit so many columns.
    fn text(&self, picture: &Picture, columns: usize) -> Vec<String> {
        let named: Vec<&str> = picture.paused.iter().map(|&port| self.names.port(port)).collect();
        let paused = match named.len() {
            0 => "none".to_owned(),
            count => format!("{count}: {}", named.join(", ")),
        };
        let mut lines = vec![
            format!("  {:<10} {} {} Gbps sent by hosts", "throughput", self.throughput.text(), brief(picture.gbps)),
            format!("  {:<10} {} {paused}", "paused", self.paused.text()),
            format!("  {:<10} {} {}", "queued", self.queued.text(), brief_bytes(picture.queued_bytes)),
        ];
        for &(port, bytes, gbps, paused) in &picture.queues {
            let filled = (bytes as f64 / self.peak_bytes as f64 * BAR as f64).ceil() as usize;
            let bar = format!("{}{}", "█".repeat(filled.min(BAR)), "░".repeat(BAR - filled.min(BAR)));
            let state = if paused { "  paused" } else { "" };
            let name = cut(self.names.port(port), NAME);
            lines.push(format!("  {name:<NAME$} {bar} {:>8} {:>7} Gbps{state}", brief_bytes(bytes), brief(gbps)));
        }
        lines.resize(3 + QUEUES, String::new());
        lines.into_iter().map(|line| cut(&line, columns.max(20) - 1)).collect()
    }
}

/// The last values of a quantity, drawn as a row of blocks.
#[derive(Default)]
struct Curve {
    values: VecDeque<f64>,
}

impl Curve {
    fn push(&mut self, value: f64) {
        if self.values.len() == CURVE {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    /// The largest of them is a full block.
    fn text(&self) -> String {
        const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let top = self.values.iter().copied().fold(0.0, f64::max);
        let block = |value: &f64| match top > 0.0 {
            true => BLOCKS[((value / top * 7.0).round() as usize).min(7)],
            false => BLOCKS[0],
        };
        let drawn: String = self.values.iter().map(block).collect();
        format!("{drawn:>CURVE$}")
    }
}

/// The beginning of a text that is too long.
fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Message where there is no terminal.
pub fn unseen() -> &'static str {
    "note: --watch draws on a terminal, and standard error is none"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_keep_what_came_last() {
        let mut curve = Curve::default();
        assert_eq!(curve.text(), " ".repeat(CURVE));
        (0..40).for_each(|value| curve.push(f64::from(value)));
        let text = curve.text();
        assert_eq!((text.chars().count(), text.chars().last()), (CURVE, Some('█')));
        assert_eq!(text.chars().next(), Some('▂'), "8 of 39");
    }

    #[test]
    fn lines_fit_the_terminal() {
        let plan = xoff_results::fixture::plan();
        let mut watch = Watch {
            lines: Vec::new(),
            ports: plan.ports() as u32,
            names: Names::of(&plan),
            last: None,
            throughput: Curve::default(),
            paused: Curve::default(),
            queued: Curve::default(),
            peak_bytes: 2_000_000,
        };
        watch.paused.push(3.0);
        let queues = vec![(4, 2_000_000, 0.0, true), (8, 1, 399.9, false)];
        let picture = Picture { gbps: 12_345.6, queued_bytes: 123_456_789, paused: (0..12).collect(), queues };
        for columns in [20, 40, 80, 120] {
            let lines = watch.text(&picture, columns);
            assert_eq!(lines.len(), 3 + QUEUES);
            assert!(lines.iter().all(|line| line.chars().count() < columns), "{lines:?}");
        }
        let lines = watch.text(&picture, 100);
        assert!(lines[1].contains(" 12: h0->s0, s0->h0"), "{}", lines[1]);
        assert!(lines[3].contains("s0->s1#0") && lines[3].contains(&"█".repeat(BAR)) && lines[3].ends_with("paused"));
        assert!(lines[4].contains("█░") && !lines[4].contains("██"), "what waits is seen: {}", lines[4]);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(cut("spine0->leaf12", 20), "spine0->leaf12");
        assert_eq!(cut("a-very-long-name->another-one", 10), "a-very-lo…");
    }
}
