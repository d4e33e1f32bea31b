//! Figures of a run whose flows took several paths.

use super::chart::{Axis, AxisUnit, Chart, Line};
use super::colour;
use crate::shared_links::SharedLinks;

/// How evenly equal links were used over time, and what the links of a switch carried of the largest flows.
pub fn of_run(shared: &SharedLinks) -> Vec<Chart> {
    let style = colour::by_index;
    let of_groups = |(index, of): (usize, &crate::shared_links::Course)| {
        Line::new(of.name.clone(), style(index), of.points.clone())
    };
    let of_flows = |(index, of): (usize, &crate::shared_links::FlowShares)| {
        let points = (1..).map(f64::from).zip(of.shares.iter().copied()).collect();
        Line::new(of.name.clone(), style(index), points).dotted()
    };
    let mut charts = Vec::new();
    if shared.courses.iter().any(|of| of.points.len() > 1) {
        let x = Axis::new("Time", AxisUnit::Time, false, true);
        let y = Axis::new("Load of the busiest of equal links over their mean", AxisUnit::Ratio, false, false);
        let lines = shared.courses.iter().enumerate().map(of_groups).collect();
        let mut chart = Chart::of_lines("link-spread".into(), "How evenly equal links were used".into(), x, y, lines);
        chart.note = "groups of links that sent most; all are in groups.parquet".into();
        charts.push(chart);
    }
    if !shared.flows.is_empty() {
        let x = Axis::new("Link, the largest share first", AxisUnit::Plain(String::new()), false, false);
        let y = Axis::new("Share of the flow", AxisUnit::Fraction, false, true);
        let lines = shared.flows.iter().enumerate().map(of_flows).collect();
        let mut chart = Chart::of_lines("flow-links".into(), "What links carried of a flow".into(), x, y, lines);
        chart.note = "flows that sent most, at the switch with most links; all are in flow_links.parquet".into();
        charts.push(chart);
    }
    charts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared_links::{Course, FlowShares};

    #[test]
    fn groups_and_flows_have_a_figure_each() {
        assert!(of_run(&SharedLinks::default()).is_empty());
        let courses = vec![Course { name: "s0, 2 links to layer leaf".into(), points: vec![(10.0, 1.5), (20.0, 1.0)] }];
        let flows = vec![FlowShares { name: "flow 3 at s0".into(), shares: vec![0.75, 0.25] }];
        let charts = of_run(&SharedLinks { courses, flows });
        let files: Vec<_> = charts.iter().map(|chart| chart.file.as_str()).collect();
        assert_eq!(files, ["link-spread", "flow-links"]);
        let points: Vec<_> = charts[1].lines().flat_map(|line| line.points.clone()).collect();
        assert_eq!(points, [(1.0, 0.75), (2.0, 0.25)]);
        assert!(charts.iter().all(|chart| super::super::svg(chart).is_ok()));
    }
}
