//! Some points of a sweep at flow level, run at packet level too: the error bars of the sweep.

use crate::plan::Point;
use crate::pool::{self, Failed, Progress};
use crate::record::{PointJob, Record, Store};
use crate::sample::Sampler;
use crate::study::Study;
use crate::sweeper::{Sweeper, name_of};
use std::fmt::Write;
use xoff_scenario::Diagnostic;

/// What a point came to at both levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// `hpcc, load 0.5, seed 3`.
    pub point: String,
    /// Values at flow level and at packet level, by measure.
    pub values: Vec<(Option<f64>, Option<f64>)>,
}

/// Points of a sweep at both levels.
#[derive(Clone, Debug)]
pub struct Verification {
    /// In words, and in numbers of the tables.
    pub measures: Vec<(String, String)>,
    pub points: Vec<Verified>,
}

/// Keys that only one of the levels has, or that say which it is.
const LEVEL_KEYS: [&str; 3] = ["run.fidelity", "run.out_of_range", "run.collectives"];

/// Copies a point, at packet level.
fn at_packet_level(point: &Point) -> Point {
    let mut point = point.clone();
    let of_level = |set: &String| LEVEL_KEYS.iter().any(|key| set.split('=').next() == Some(key));
    point.options.sets.retain(|set| !of_level(set));
    point.options.sets.push("run.fidelity=packet".to_owned());
    // Whether the scenario has it or not: only what is there can be taken out.
    point.options.sets.extend(LEVEL_KEYS[1..].iter().flat_map(|key| [format!("{key}=0"), format!("{key}=null")]));
    point
}

impl Sweeper<'_> {
    /// Runs so many points at packet level too, spread over the axes; the first seed of each.
    pub fn verify(
        &self,
        study: &Study<'_>,
        count: u64,
        (store, jobs): (Option<&Store>, usize),
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Result<Verification, Failed> {
        let seeds = self.sweep.seeds as usize;
        let chosen: Vec<usize> = spread(&self.positions(), count as usize);
        let points: Vec<Point> = chosen.iter().map(|cell| at_packet_level(&self.points[cell * seeds])).collect();
        let first = self.sweep.scenario.load(&self.points[chosen[0] * seeds].options)?;
        if !first.is_at_flow_level() {
            let error = Diagnostic::new("--verify compares a sweep at flow level with packet level".to_owned());
            return Err(vec![error.label("this sweep is at packet level; add --fidelity flow")].into());
        }
        let job = |point| PointJob {
            scenario: &self.sweep.scenario,
            point,
            store,
            name: format!("{} at packet level", name_of(self.sweep, point, true)),
            flows: false,
        };
        let all: Vec<PointJob<'_>> = points.iter().map(job).collect();
        let packet = pool::run_all(&all, jobs, watch)?;
        let verified = |(cell, packet): (&usize, &Record)| {
            let flow = &study.cells[*cell].records[0];
            let both = |name: &str| (flow.number(name), packet.number(name));
            Verified {
                point: name_of(self.sweep, &self.points[cell * seeds], true),
                values: study.measures.iter().map(|measure| both(&measure.name)).collect(),
            }
        };
        Ok(Verification {
            measures: study.measures.iter().map(|measure| (measure.title(), measure.name.clone())).collect(),
            points: chosen.iter().zip(&packet).map(verified).collect(),
        })
    }

    /// Each point (without its seeds) as coordinates from 0 to 1: its scheme, and the place of its value on each axis.
    fn positions(&self) -> Vec<Vec<f64>> {
        let firsts: Vec<&Point> = self.points.iter().step_by(self.sweep.seeds as usize).collect();
        let axes = firsts.first().map_or(0, |point| point.values.len());
        let mut positions = vec![Vec::new(); firsts.len()];
        for axis in 0..=axes {
            let name = |point: &Point| match axis.checked_sub(1) {
                None => point.scheme.clone().unwrap_or_default(),
                Some(axis) => point.values[axis].as_ref().map_or_else(String::new, |value| value[0].name.clone()),
            };
            let number = |point: &Point| {
                let value = point.values.get(axis.checked_sub(1)?)?.as_ref()?;
                value[0].number()
            };
            // In the order of the axis, or of the numbers that were drawn.
            let mut known: Vec<(String, Option<f64>)> = Vec::new();
            for point in &firsts {
                if !known.iter().any(|(other, _)| *other == name(point)) {
                    known.push((name(point), number(point)));
                }
            }
            if known.iter().all(|(_, number)| number.is_some()) {
                known.sort_by(|a, b| a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0)));
            }
            if known.len() < 2 {
                continue;
            }
            for (position, point) in positions.iter_mut().zip(&firsts) {
                let place = known.iter().position(|(other, _)| *other == name(point)).unwrap_or(0);
                position.push((place as f64 + 0.5) / known.len() as f64);
            }
        }
        positions
    }
}

/// Places of some positions that are spread over all: for each of Sobol's points the nearest that is not taken.
fn spread(positions: &[Vec<f64>], count: usize) -> Vec<usize> {
    let axes = positions.first().map_or(0, Vec::len);
    let mut chosen: Vec<usize> = Vec::new();
    for target in Sampler::Sobol.points(count.min(positions.len()) as u64, axes, 0) {
        let distance = |at: &usize| {
            let apart = positions[*at].iter().zip(&target).map(|(a, b)| (a - b) * (a - b));
            apart.sum::<f64>()
        };
        let free = (0..positions.len()).filter(|at| !chosen.contains(at));
        chosen.extend(free.min_by(|a, b| distance(a).total_cmp(&distance(b))));
    }
    chosen.sort_unstable();
    chosen
}

impl Verification {
    /// Relative errors of a measure, where both levels have it.
    fn errors(&self, measure: usize) -> Vec<f64> {
        let error = |of: &Verified| match of.values[measure] {
            (Some(flow), Some(packet)) if packet != 0.0 => Some(flow / packet - 1.0),
            _ => None,
        };
        self.points.iter().filter_map(error).collect()
    }

    /// A line for each measure: the least and the largest error.
    pub fn text(&self) -> String {
        let mut text = format!("Flow level against packet level at {} points:\n", self.points.len());
        for (place, (title, _)) in self.measures.iter().enumerate() {
            let errors = self.errors(place);
            let range = errors
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), error| (low.min(*error), high.max(*error)));
            let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len().max(1) as f64;
            let told = match errors.len() {
                0 => "not measured at both levels".to_owned(),
                1 => format!("{:+.1} %", 100.0 * range.0),
                _ => format!("{:+.1} to {:+.1} %, {:.1} % in the mean", 100.0 * range.0, 100.0 * range.1, 100.0 * mean),
            };
            let _ = writeln!(text, "  {title}: {told}");
        }
        text
    }

    /// A row for each point and measure.
    pub fn csv(&self) -> String {
        let mut csv = String::from("point,measure,flow,packet,error\n");
        let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for of in &self.points {
            for ((_, name), (flow, packet)) in self.measures.iter().zip(&of.values) {
                let error = flow.zip(*packet).filter(|(_, packet)| *packet != 0.0).map(|(a, b)| a / b - 1.0);
                let point = of.point.replace('"', "\"\"");
                let _ = writeln!(csv, "\"{point}\",{name},{},{},{}", cell(*flow), cell(*packet), cell(error));
            }
        }
        csv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_spread_over_all_axes() {
        let grid: Vec<Vec<f64>> = (0..8)
            .flat_map(|a| (0..4).map(move |b| vec![(f64::from(a) + 0.5) / 8.0, (f64::from(b) + 0.5) / 4.0]))
            .collect();
        let chosen = spread(&grid, 4);
        assert_eq!(chosen.len(), 4);
        // One in each half of each axis at least, and none twice.
        let halves = |axis: usize| chosen.iter().map(|at| grid[*at][axis] < 0.5).collect::<Vec<_>>();
        assert!([0, 1].into_iter().all(|axis| halves(axis).contains(&true) && halves(axis).contains(&false)));
        assert_eq!(spread(&grid, 100), (0..32).collect::<Vec<_>>(), "no more than there are");
        assert_eq!(spread(&[vec![]], 3), [0], "nothing is varied");
    }

    #[test]
    fn errors_are_told_by_measure() {
        let point = |point: &str, values: &[(f64, f64)]| Verified {
            point: point.to_owned(),
            values: values.iter().map(|(flow, packet)| (Some(*flow), Some(*packet))).collect(),
        };
        let verification = Verification {
            measures: vec![("p99 slowdown".to_owned(), "p99".to_owned())],
            points: vec![point("load 0.3", &[(4.0, 5.0)]), point("load 0.7", &[(6.3, 6.0)])],
        };
        let text = verification.text();
        assert!(text.contains("at 2 points") && text.contains("-20.0 to +5.0 %, 12.5 % in the mean"), "{text}");
        assert!(verification.csv().contains("\"load 0.3\",p99,4,5,-0.19999999999999996\n"), "{}", verification.csv());
    }
}
