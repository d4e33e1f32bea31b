//! The tables of the page: live, simulated and the distance of both, number by number.

use super::numbers::{About, Number, OverTime, estimate};
use crate::grid::{Grid, Section};
use crate::live_timing::{Verdict, nanoseconds, share_text};
use crate::summary::Summary;
use xoff_scenario::number::{brief, brief_size, count, thousands};

/// Rows of a table; the file of numbers has all.
const MOST_ROWS: usize = 12;

/// Those that have something to show, in the order of the page.
pub fn tables(numbers: &[Number], over_time: &[OverTime]) -> Vec<Section> {
    let sections = [
        (About::Network, "whole network"),
        (About::CompletionTime, "flows that finished, and their completion times by size, us"),
        (About::Throughput, "throughput over time, Gbps"),
        (About::Queue, "queues over time"),
        (About::Pause, "PAUSE by port: frames that it sent, and how long its egress was paused, us"),
    ];
    let table = |(about, title): (About, &str)| {
        let numbers: Vec<&Number> = numbers.iter().filter(|number| number.about == about).collect();
        let over_time: Vec<&OverTime> = over_time.iter().filter(|of| of.about == about).collect();
        section(title, &numbers, &over_time)
    };
    sections.into_iter().filter_map(table).collect()
}

/// One row per place, three columns per statistic.
fn section(title: &str, numbers: &[&Number], over_time: &[&OverTime]) -> Option<Section> {
    let statistics = distinct(numbers.iter().map(|number| number.statistic));
    let places = distinct(numbers.iter().map(|number| number.of.as_str()));
    let shown = highest(&places, numbers);
    let mut grid = head(&statistics, !over_time.is_empty());
    for place in &shown {
        let cells = statistics.iter().flat_map(|statistic| {
            let number = numbers.iter().find(|number| number.of == *place && number.statistic == *statistic);
            number.map_or_else(|| ["-"; 3].map(str::to_owned), |number| cells(number))
        });
        let apart = (!over_time.is_empty()).then(|| apart(place, over_time));
        grid.row(std::iter::once(label(place, numbers)).chain(cells).chain(apart));
    }
    let title = match places.len() {
        all if all > shown.len() => format!("{title} (the {MOST_ROWS} highest of {})", thousands(all as u64)),
        _ => title.to_owned(),
    };
    (!grid.rows.is_empty()).then(|| Section::new(title, grid))
}

/// Three columns per statistic, and one for the distance over time.
fn head(statistics: &[&str], over_time: bool) -> Grid {
    let mut grid = Grid::new([""]);
    grid.ranks = vec![0];
    for statistic in statistics {
        grid.head.extend(["live", "simulated", "distance"].map(str::to_owned));
        grid.ranks.extend([rank(statistic); 3]);
    }
    if over_time {
        grid.head.push("over time".to_owned());
    }
    // A single statistic needs no title.
    if statistics.len() > 1 {
        let titled = statistics.iter().map(|statistic| ((*statistic).to_owned(), 3));
        grid.groups = std::iter::once((String::new(), 1)).chain(titled).collect();
        grid.groups.extend(over_time.then(|| (String::new(), 1)));
    }
    grid
}

/// How soon a statistic goes from a narrow terminal.
fn rank(statistic: &str) -> u8 {
    match statistic {
        "finished" => 3,
        "p50" | "peak" => 2,
        "p95" => 1,
        _ => 0,
    }
}

/// Each once, in the order in which they come.
fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Where the largest numbers are, if there are too many to show; in their old order.
fn highest<'a>(places: &[&'a str], numbers: &[&Number]) -> Vec<&'a str> {
    let largest = |number: &Number| number.live.iter().copied().chain([number.simulated]).flatten().fold(0.0, f64::max);
    let most = |statistic: &str| {
        let of = numbers.iter().filter(|number| number.statistic == statistic);
        of.map(|number| largest(number)).fold(f64::MIN_POSITIVE, f64::max)
    };
    // Statistics have different units: each is held against its own largest.
    let height = |place: &str| {
        let of = numbers.iter().filter(|number| number.of == place);
        of.map(|number| largest(number) / most(number.statistic)).fold(0.0, f64::max)
    };
    let mut order: Vec<(usize, f64)> = places.iter().map(|place| height(place)).enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.truncate(MOST_ROWS);
    order.sort_unstable_by_key(|(index, _)| *index);
    order.into_iter().map(|(index, _)| places[index]).collect()
}

/// With its unit where those of the table differ.
fn label(place: &str, numbers: &[&Number]) -> String {
    let of = numbers.iter().find(|number| number.of == place && number.about == About::Network);
    match of.filter(|number| !number.unit.is_empty()) {
        Some(number) => format!("{place}, {}", number.unit),
        None => place.to_owned(),
    }
}

fn cells(number: &Number) -> [String; 3] {
    let show = match number.unit {
        "" => count as fn(f64) -> String,
        "bytes" => brief_size,
        _ => brief,
    };
    let live = estimate(&number.live).map_or_else(|| "-".to_owned(), |of| of.text(show));
    let simulated = number.simulated.map_or_else(|| "-".to_owned(), show);
    [live, simulated, number.distance_percent().map_or_else(|| "-".to_owned(), signed_percent)]
}

fn apart(place: &str, over_time: &[&OverTime]) -> String {
    let of = over_time.iter().find(|of| of.of == place).and_then(|of| estimate(&of.percent));
    of.map_or_else(|| "-".to_owned(), |of| format!("{}%", of.text(brief)))
}

/// `+3.20%`.
pub fn signed_percent(percent: f64) -> String {
    match brief(percent) {
        none if none == "0" => "0%".to_owned(),
        text if percent > 0.0 => format!("+{text}%"),
        text => format!("{text}%"),
    }
}

/// How well the machine kept up in each live run.
pub fn machine(runs: &[(String, &Summary)]) -> Section {
    let mut grid = Grid::new(["live run", "slip", "lateness p99", "lost by the kernel", "CPU", "verdict"]).left(&[5]);
    for (name, summary) in runs {
        let Some(of) = &summary.live_timing else { continue };
        let verdict = if of.verdict == Verdict::Kept { "kept up" } else { "too slow" };
        grid.row([
            name.clone(),
            share_text(of.slip.share),
            nanoseconds(of.lateness.p99_ns),
            thousands(of.frames.lost),
            share_text(of.cpu_share),
            verdict.to_owned(),
        ]);
    }
    Section::new("the machine in the live runs", grid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(of: &str, statistic: &'static str, live: &[f64], simulated: f64) -> Number {
        let live = live.iter().copied().map(Some).collect();
        Number { about: About::Queue, of: of.into(), statistic, unit: "bytes", live, simulated: Some(simulated) }
    }

    #[test]
    fn live_and_simulated_stand_side_by_side() {
        let numbers = [number("a", "mean", &[1_000.0, 3_000.0], 1_600.0), number("a", "peak", &[5e6, 5e6], 4e6)];
        let over_time = [OverTime { about: About::Queue, of: "a".into(), percent: vec![Some(25.0), None] }];
        let tables = tables(&numbers, &over_time);
        let [table] = &tables[..] else { panic!("{tables:?}") };
        assert_eq!(table.grid.groups[1..3], [("mean".to_owned(), 3), ("peak".to_owned(), 3)]);
        // Student's t with one degree of freedom is 12.7.
        let row = ["a", "2.00 ± 12.71 KB", "1.60 KB", "+25.0%", "5.00 MB", "4.00 MB", "+25.0%", "25.0%"];
        assert_eq!(table.grid.rows, [row]);
    }

    #[test]
    fn what_rounds_to_nothing_is_nothing() {
        assert_eq!(["0%"; 3], [1e-9, -1e-9, 0.0].map(signed_percent));
        assert_eq!((signed_percent(3.2), signed_percent(-3.2)), ("+3.20%".to_owned(), "-3.20%".to_owned()));
    }

    #[test]
    fn ports_that_send_pause_are_shown_beside_those_that_stand_still() {
        let mut numbers: Vec<Number> =
            (1..30).map(|i| number(&format!("p{i}"), "paused", &[], 1e5 * f64::from(i))).collect();
        numbers.push(number("root", "PAUSE sent", &[7.0], 7.0));
        let tables = tables(&numbers, &[]);
        assert!(tables[0].grid.rows.iter().any(|row| row[0] == "root"));
    }

    #[test]
    fn of_many_places_the_highest_are_shown_and_the_rest_is_counted() {
        let numbers: Vec<Number> = (0..30).map(|i| number(&format!("p{i}"), "mean", &[f64::from(i)], 1.0)).collect();
        let tables = tables(&numbers, &[]);
        assert_eq!(tables[0].title, "queues over time (the 12 highest of 30)");
        assert_eq!((tables[0].grid.rows.len(), tables[0].grid.rows[0][0].as_str()), (12, "p18"));
    }
}
