//! The time line of a job: when its ranks compute and when they communicate.

use super::chart::{Axis, AxisUnit, Chart, Dash, Line, plain};
use super::colour::PALETTE;
use crate::jobs::timeline::{RankLine, Timeline};

/// How far the two stand from the middle of their rank.
const APART: f64 = 0.16;

pub fn of_jobs(jobs: &[Timeline]) -> Vec<Chart> {
    let several = jobs.len() > 1;
    jobs.iter().filter(|job| !job.ranks.is_empty()).map(|job| of_job(job, several)).collect()
}

fn of_job(job: &Timeline, several: bool) -> Chart {
    let bars = |name: &str, style, y: f64, times: &[(f64, f64)]| {
        // A stretch from begin to end, then a point that interrupts the line.
        let stretch = |&(begin, end): &(f64, f64)| [(begin, y), (end, y), (end, f64::NAN)];
        Line::new(name.to_owned(), style, times.iter().flat_map(stretch).collect())
    };
    let lines = |(place, rank): (usize, &RankLine)| {
        let y = place as f64;
        [
            bars("compute", (PALETTE[0], Dash::Solid), y + APART, &rank.compute),
            bars("communication", (PALETTE[1], Dash::Solid), y - APART, &rank.communication),
        ]
    };
    let lines = job.ranks.iter().enumerate().flat_map(lines).filter(|line| !line.points.is_empty()).collect();
    let x = Axis::new("time", AxisUnit::Time, false, true);
    let mut y = Axis::new("rank", AxisUnit::Plain(String::new()), false, false);
    (y.from, y.until) = (Some(-0.5), Some(job.ranks.len() as f64 - 0.5));
    y.marks = job.ranks.iter().enumerate().map(|(place, rank)| (place as f64, rank.name.clone())).collect();
    let file = if several { format!("timeline-{}", plain(&job.job)) } else { "timeline".to_owned() };
    let title = format!("What the ranks of {} do", job.job);
    let mut chart = Chart::of_lines(file, title, x, y, lines);
    if job.ranks.len() < job.all {
        chart.note = format!("{} of {} ranks; all are in activities.parquet", job.ranks.len(), job.all);
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(ranks: usize) -> Timeline {
        let rank = |place: usize| RankLine {
            name: format!("s0.g{place}"),
            compute: vec![(0.0, 5.0), (9.0, 12.0)],
            communication: vec![(4.0, 9.0)],
        };
        Timeline { job: "train".into(), ranks: (0..ranks).map(rank).collect(), all: 2 * ranks }
    }

    #[test]
    fn every_activity_is_a_stretch_of_its_rank() {
        let charts = of_jobs(&[job(3)]);
        let [chart] = &charts[..] else { panic!("{}", charts.len()) };
        let lines: Vec<&Line> = chart.lines().collect();
        assert_eq!((lines.len(), lines[0].points.len(), lines[1].points.len()), (2 * 3, 2 * 3, 3));
        assert_eq!(lines[1].points[..2], [(4.0, -APART), (9.0, -APART)]);
        assert!(lines[1].points[2].1.is_nan());
        assert_eq!(chart.y.marks[2], (2.0, "s0.g2".to_owned()));
        assert_eq!(chart.note, "3 of 6 ranks; all are in activities.parquet");
        assert_eq!(of_jobs(&[job(1), job(2)])[1].file, "timeline-train");
        assert!(super::super::svg(chart).unwrap().contains("s0.g1"));
    }
}
