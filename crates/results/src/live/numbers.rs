//! The numbers that are compared: each as it was in every live run and in the simulation.

use super::readings::{Place, Readings};
use crate::interval::Estimate;
use crate::summary::{SizeClass, SourceFlows, Summary};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use xoff_fabric::record::Metric;
use xoff_scenario::measure::probe::facts;

/// What a number is about: a table of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// The whole network over the whole run.
    Network,
    /// Completion times by source and size.
    CompletionTime,
    Throughput,
    Queue,
    Pause,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    pub about: About,
    /// The flow, the port, the size.
    pub of: String,
    pub statistic: &'static str,
    /// Empty for a count.
    pub unit: &'static str,
    /// In the order of the live runs.
    pub live: Vec<Option<f64>>,
    pub simulated: Option<f64>,
}

/// How far a curve of each live run is from the simulated one.
#[derive(Clone, Debug, PartialEq)]
pub struct OverTime {
    pub about: About,
    pub of: String,
    /// As [`super::curve::Curve::apart_percent`].
    pub percent: Vec<Option<f64>>,
}

/// Over those live runs that have the number.
pub fn estimate(values: &[Option<f64>]) -> Option<Estimate> {
    Estimate::of(&values.iter().copied().flatten().collect::<Vec<_>>())
}

impl Number {
    /// How far the mean of the live runs is above the simulation, in per cent of the latter. None if that is zero and the
    /// live one is not, and where either has no number.
    pub fn distance_percent(&self) -> Option<f64> {
        let (live, simulated) = (estimate(&self.live)?.mean, self.simulated?);
        if live == simulated {
            return Some(0.0);
        }
        (simulated != 0.0).then(|| (live - simulated) / simulated * 100.0)
    }

    pub fn json(&self) -> Value {
        json!({
            "about": self.about, "of": self.of, "statistic": self.statistic, "unit": self.unit,
            "live": self.live, "live_estimate": estimate(&self.live), "simulated": self.simulated,
            "distance_percent": self.distance_percent(),
        })
    }
}

impl OverTime {
    pub fn json(&self) -> Value {
        json!({ "about": self.about, "of": self.of, "live": self.percent, "live_estimate": estimate(&self.percent) })
    }
}

/// Live runs and the simulation of the same scenario.
pub struct Runs {
    pub live: Vec<Readings>,
    pub simulated: Readings,
}

impl Runs {
    fn all(&self) -> impl Iterator<Item = &Readings> {
        self.live.iter().chain([&self.simulated])
    }

    fn number(
        &self,
        (about, of, statistic, unit): (About, &str, &'static str, &'static str),
        pick: impl Fn(&Readings) -> Option<f64>,
    ) -> Number {
        let live = self.live.iter().map(&pick).collect();
        Number { about, of: of.to_owned(), statistic, unit, live, simulated: pick(&self.simulated) }
    }

    /// All of them, in the order of the page.
    pub fn numbers(&self) -> Vec<Number> {
        [self.network(), self.completion_times(), self.of_curves(), self.pauses()].concat()
    }

    fn network(&self) -> Vec<Number> {
        type Pick = fn(&Summary) -> Option<f64>;
        let picks: [(&str, &'static str, Pick); 9] = [
            ("job completion time", "us", |of| of.job_time_us),
            (GOODPUT, "Gbps", |of| Some(of.flows.goodput90_gbps)),
            (MEAN_FCT, "us", |of| of.flows.fct_us.mean),
            (PAUSE_FRAMES, "", |of| of.counts.pause_frames.map(|count| count as f64)),
            ("data packets", "", |of| Some(of.counts.packets_delivered as f64)),
            ("sent again", "", |of| of.counts.packets_retransmitted.map(|count| count as f64)),
            ("marks", "", |of| of.counts.marks.map(|count| count as f64)),
            ("notifications", "", |of| of.counts.notifications.map(|count| count as f64)),
            ("drops", "", |of| of.counts.drops.map(|count| count as f64)),
        ];
        let number = |(of, unit, pick): (&str, &'static str, Pick)| {
            self.number((About::Network, of, "whole run", unit), |run| pick(&run.summary))
        };
        picks.into_iter().map(number).filter(|number| number.simulated.is_some()).collect()
    }

    /// By size within each source: sources are never mixed.
    fn completion_times(&self) -> Vec<Number> {
        type Pick = fn(&SizeClass) -> Option<f64>;
        let picks: [(&'static str, &'static str, Pick); 4] = [
            ("finished", "", |of| Some(of.completed as f64)),
            ("mean", "us", |of| of.fct_us.mean),
            ("p50", "us", |of| of.fct_us.p50),
            ("p95", "us", |of| of.fct_us.p95),
        ];
        let sources = &self.simulated.summary.flows.by_source;
        let mut numbers = Vec::new();
        for of in sources {
            for class in of.by_size.iter().filter(|class| class.flows > 0) {
                let name =
                    if sources.len() > 1 { format!("{}, {}", of.source, class.name) } else { class.name.clone() };
                for (statistic, unit, pick) in picks {
                    let read = |run: &Readings| pick(size_class(&run.summary, of, &class.name)?);
                    numbers.push(self.number((About::CompletionTime, &name, statistic, unit), read));
                }
            }
        }
        numbers
    }

    fn of_curves(&self) -> Vec<Number> {
        let mut numbers = Vec::new();
        for (place, name) in self.places() {
            let (about, unit) = (about(place.metric), facts(place.metric).unit);
            numbers.push(self.number((about, &name, "mean", unit), |run| run.curves.get(&place)?.mean()));
            numbers.push(self.number((about, &name, "peak", unit), |run| run.curves.get(&place)?.peak()));
        }
        numbers
    }

    /// Ports that sent PAUSE or were paused in any run.
    fn pauses(&self) -> Vec<Number> {
        let touched = |run: &Readings| -> BTreeSet<String> {
            let of = run.ports.iter().filter(|(_, port)| port.pause_frames > 0 || port.paused_us > 0.0);
            of.map(|(name, _)| name.clone()).collect()
        };
        let mut numbers = Vec::new();
        for port in self.all().flat_map(touched).collect::<BTreeSet<_>>() {
            let read = |run: &Readings| run.ports.get(&port).map(|port| port.pause_frames as f64);
            numbers.push(self.number((About::Pause, &port, SENT, ""), read));
            let read = |run: &Readings| run.ports.get(&port).map(|port| port.paused_us);
            numbers.push(self.number((About::Pause, &port, PAUSED, "us"), read));
        }
        numbers
    }

    /// Of every curve that the simulation has.
    pub fn over_time(&self) -> Vec<OverTime> {
        let over_time = |(place, of): (Place, String)| {
            let base = self.simulated.curves.get(&place)?;
            let apart = |run: &Readings| run.curves.get(&place)?.apart_percent(base);
            Some(OverTime { about: about(place.metric), of, percent: self.live.iter().map(apart).collect() })
        };
        self.places().into_iter().filter_map(over_time).collect()
    }

    /// What any run has a curve of, with its name.
    pub fn places(&self) -> Vec<(Place, String)> {
        let places: BTreeSet<&Place> = self.all().flat_map(|run| run.curves.keys()).collect();
        let mut alike: BTreeMap<(Metric, &str), usize> = BTreeMap::new();
        for place in &places {
            *alike.entry((place.metric, &place.entity)).or_default() += 1;
        }
        let name = |place: &Place| match (&place.flow, place.priority) {
            _ if alike[&(place.metric, place.entity.as_str())] == 1 => place.entity.clone(),
            (Some((source, number)), _) => format!("{} #{number} of {source}", place.entity),
            (None, Some(priority)) => format!("{} prio {priority}", place.entity),
            (None, None) => place.entity.clone(),
        };
        places.into_iter().map(|place| (place.clone(), name(place))).collect()
    }
}

/// Names of numbers that the first sentence tells.
pub const GOODPUT: &str = "goodput90";
pub const MEAN_FCT: &str = "mean completion time";
pub const PAUSE_FRAMES: &str = "PAUSE frames";
/// Statistics of a port.
pub const SENT: &str = "PAUSE sent";
pub const PAUSED: &str = "paused";

pub fn about(metric: Metric) -> About {
    match metric {
        Metric::QueueBytes => About::Queue,
        _ => About::Throughput,
    }
}

fn size_class<'a>(summary: &'a Summary, of: &SourceFlows, class: &str) -> Option<&'a SizeClass> {
    let source = summary.flows.by_source.iter().find(|own| own.source == of.source)?;
    source.by_size.iter().find(|own| own.name == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(live: &[f64], simulated: f64) -> Number {
        let live = live.iter().copied().map(Some).collect();
        let of = "s0->s1".to_owned();
        Number { about: About::Queue, of, statistic: "mean", unit: "bytes", live, simulated: Some(simulated) }
    }

    #[test]
    fn distances_are_of_the_mean_and_signed() {
        assert_eq!(number(&[90.0, 100.0], 100.0).distance_percent(), Some(-5.0));
        assert_eq!(number(&[0.0], 0.0).distance_percent(), Some(0.0));
        assert_eq!(number(&[3.0], 0.0).distance_percent(), None, "no share of nothing");
        let value = number(&[90.0, 100.0], 100.0).json();
        assert_eq!((&value["live"], &value["live_estimate"]["mean"]), (&json!([90.0, 100.0]), &json!(95.0)));
        assert_eq!((&value["about"], &value["distance_percent"]), (&json!("queue"), &json!(-5.0)));
    }
}
