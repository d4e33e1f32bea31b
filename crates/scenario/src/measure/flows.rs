//! Measures of flows: completion times, slowdowns, goodput, counts.

use super::recording::{self, Needs, Recording};
use super::scope::Scope;
use super::stat::{self, Stats};
use super::unit::{self, Dimension, Unit};
use super::{Curve, Value};
use crate::Table;
use crate::reader::Result;
use std::collections::BTreeMap;
use xoff_engine::{Span, Time, quantity};
use xoff_fabric::record::FlowRecord;

#[derive(Clone, Debug)]
pub struct FlowMeasure {
    filter: Filter,
    what: Of,
}

/// Which flows count.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Whether a flow counts, by label.
    labels: Option<Vec<bool>>,
    /// Whether a source counts, by node.
    src: Option<Vec<bool>>,
    dst: Option<Vec<bool>>,
    over: Option<u64>,
    up_to: Option<u64>,
    started_from: Option<Time>,
    started_until: Option<Time>,
    class: Option<u8>,
}

#[derive(Clone, Debug)]
enum Of {
    Each(Each, Stats, Unit),
    BySize(Each, Stats, Unit, Vec<u64>),
    Cdf(Each, Unit),
    Count(Which),
    CompletionRate,
    Goodput(Unit),
    Duration(Unit),
    /// Sum of a count over the flows, scaled by its unit.
    Total(fn(&FlowRecord) -> u64, f64),
    DetouredShare,
    FinishGap(Stats, Unit, Vec<bool>),
}

/// A number of one flow, if it has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Each {
    Fct,
    Slowdown,
    Size,
    Goodput,
    /// When the first notification came, since the start of the run.
    FirstNotified,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    Completed,
    Unfinished,
    All,
}

impl Each {
    fn dimension(self) -> Dimension {
        match self {
            Each::Fct | Each::FirstNotified => Dimension::Time,
            Each::Slowdown => Dimension::Plain,
            Each::Size => Dimension::Bytes,
            Each::Goodput => Dimension::Rate,
        }
    }

    fn of(self, flow: &FlowRecord, sim_end: Time, unit: Unit) -> Option<f64> {
        match self {
            Each::Fct => Some(unit::time(completion(flow)?, unit)),
            Each::FirstNotified => Some(unit::time(flow.first_notified? - Time::ZERO, unit)),
            Each::Slowdown => Some(completion(flow)?).filter(|_| flow.ideal > Span::ZERO).map(|fct| fct / flow.ideal),
            Each::Size => Some(flow.size_bytes? as f64 * unit.1),
            Each::Goodput => {
                let lasted = flow.delivered_at.unwrap_or(sim_end).saturating_since(flow.start);
                (lasted > Span::ZERO).then(|| flow.delivered_bytes as f64 * 8.0 / lasted.as_s() * unit.1)
            }
        }
    }
}

/// The completion time of a finite flow that has completed.
fn completion(flow: &FlowRecord) -> Option<Span> {
    flow.size_bytes?;
    Some(flow.delivered_at?.saturating_since(flow.start))
}

/// Reads the keys of a metric of this family. Gives the unit, too.
pub fn read(metric: &str, row: &mut Table, scope: &Scope<'_>) -> Result<(FlowMeasure, &'static str)> {
    let filter = Filter::read(row, scope)?;
    let each = |each: Each, row: &mut Table| {
        let stats = stat::read(row)?;
        let unit = unit::read_unless(stats.are_plain(), row, "unit", each.dimension())?;
        let shown = if stats.are_plain() { "" } else { unit.0 };
        Ok((Of::Each(each, stats, unit), shown))
    };
    let by_size = |each: Each, row: &mut Table| {
        let stats = stat::read(row)?;
        if let Stats::Several(_) = stats {
            return Err(row.error("stat", "a curve has one statistic").label("such as \"mean\""));
        }
        let unit = unit::read_unless(stats.are_plain(), row, "unit", each.dimension())?;
        let shown = if stats.are_plain() { "" } else { unit.0 };
        Ok((Of::BySize(each, stats, unit, read_edges(row)?), shown))
    };
    let cdf = |each: Each, row: &mut Table| {
        let unit = unit::read(row, "unit", each.dimension())?;
        Ok((Of::Cdf(each, unit), unit.0))
    };
    let (what, unit) = match metric {
        "fct" => each(Each::Fct, row)?,
        "slowdown" => each(Each::Slowdown, row)?,
        "size" => each(Each::Size, row)?,
        "flow-goodput" => each(Each::Goodput, row)?,
        "first-notification" => each(Each::FirstNotified, row)?,
        "fct-by-size" => by_size(Each::Fct, row)?,
        "slowdown-by-size" => by_size(Each::Slowdown, row)?,
        "fct-cdf" => cdf(Each::Fct, row)?,
        "slowdown-cdf" => cdf(Each::Slowdown, row)?,
        "size-cdf" => {
            let unit = unit::read_or(row, "unit", Dimension::Bytes, "B")?;
            (Of::Cdf(Each::Size, unit), unit.0)
        }
        "flow-count" => {
            let choices = [("completed", Which::Completed), ("unfinished", Which::Unfinished), ("all", Which::All)];
            (Of::Count(row.choice("which", &choices)?), "")
        }
        "completion-rate" => (Of::CompletionRate, ""),
        "goodput" => {
            let unit = unit::read(row, "unit", Dimension::Rate)?;
            (Of::Goodput(unit), unit.0)
        }
        "duration" => {
            let unit = unit::read(row, "unit", Dimension::Time)?;
            (Of::Duration(unit), unit.0)
        }
        "delivered" => {
            let unit = unit::read(row, "unit", Dimension::Bytes)?;
            (Of::Total(|flow| flow.delivered_bytes, unit.1), unit.0)
        }
        "marked" => (Of::Total(|flow| flow.marked, 1.0), ""),
        "notifications" => (Of::Total(|flow| flow.notifications, 1.0), ""),
        "retransmissions" => (Of::Total(|flow| flow.packets_retransmitted, 1.0), ""),
        "timeouts" => (Of::Total(|flow| flow.recovery.timeouts.into(), 1.0), ""),
        "packets" => (Of::Total(|flow| flow.packets_sent, 1.0), ""),
        "rerouted-share" => (Of::DetouredShare, ""),
        _ => {
            let unit = unit::read(row, "unit", Dimension::Time)?;
            let reads: Vec<bool> = scope.traffic.iter().map(|traffic| traffic.kind == "synchronised-reads").collect();
            (Of::FinishGap(stat::read_or(row, "mean")?, unit, reads), unit.0)
        }
    };
    Ok((FlowMeasure { filter, what }, unit))
}

/// Ascending sizes, at least two.
fn read_edges(row: &mut Table) -> Result<Vec<u64>> {
    let texts = row.texts("edges")?;
    let mut edges = Vec::with_capacity(texts.len());
    for text in &texts {
        let edge = quantity::parse_bytes(&text.value)
            .map_err(|why| text.error(format!("`edges` {why}")).label("sizes such as \"10KB\""))?;
        if edges.last().is_some_and(|last| edge <= *last) {
            return Err(text.error("`edges` do not ascend").label("each larger than the one before"));
        }
        edges.push(edge);
    }
    if edges.len() < 2 {
        return Err(row.error("edges", "`edges` needs at least two sizes"));
    }
    Ok(edges)
}

impl Filter {
    fn read(row: &mut Table, scope: &Scope<'_>) -> Result<Filter> {
        let labels = match row.take_texts("flows")? {
            Some(patterns) => Some(scope.labels(&patterns)?),
            None => None,
        };
        let filter = Filter {
            labels,
            src: scope.hosts(row, "src")?,
            dst: scope.hosts(row, "dst")?,
            over: row.take_bytes("over", 0..=u64::MAX)?,
            up_to: row.take_bytes("up_to", 0..=u64::MAX)?,
            started_from: row.take_time("started_from")?,
            started_until: row.take_time("started_until")?,
            class: scope.class(row)?,
        };
        if let (Some(over), Some(up_to)) = (filter.over, filter.up_to)
            && over >= up_to
        {
            return Err(row.error("up_to", "`up_to` is not above `over`"));
        }
        if let (Some(from), Some(until)) = (filter.started_from, filter.started_until)
            && from >= until
        {
            return Err(row.error("started_until", "`started_until` is not after `started_from`"));
        }
        Ok(filter)
    }

    fn fits(&self, flow: &FlowRecord) -> bool {
        self.fits_parts(flow.label, flow.src, flow.dst, flow.size_bytes, flow.start, flow.class)
    }

    fn fits_response(&self, response: &recording::Response) -> bool {
        self.fits_parts(response.label, response.src, response.dst, None, response.asked, response.class)
    }

    fn fits_parts(&self, label: u32, src: u32, dst: u32, size: Option<u64>, start: Time, class: u8) -> bool {
        let among =
            |chosen: &Option<Vec<bool>>, index: u32| chosen.as_ref().is_none_or(|chosen| chosen[index as usize]);
        among(&self.labels, label)
            && among(&self.src, src)
            && among(&self.dst, dst)
            // A bound on sizes leaves out endless flows.
            && self.over.is_none_or(|bound| size.is_some_and(|size| size > bound))
            && self.up_to.is_none_or(|bound| size.is_some_and(|size| size <= bound))
            && self.started_from.is_none_or(|from| start >= from)
            && self.started_until.is_none_or(|until| start < until)
            && self.class.is_none_or(|own| own == class)
    }
}

impl FlowMeasure {
    /// The word for the statistic of a curve over sizes.
    pub fn curve_stat(&self) -> Option<String> {
        match &self.what {
            Of::BySize(_, Stats::One(stat), ..) => Some(stat.word()),
            _ => None,
        }
    }

    pub fn stats(&self) -> Option<&Stats> {
        match &self.what {
            Of::Each(_, stats, _) | Of::FinishGap(stats, ..) => Some(stats),
            _ => None,
        }
    }

    pub fn needs(&self, needs: &mut Needs) {
        needs.flows = true;
        needs.responses |= matches!(self.what, Of::FinishGap(..));
    }

    pub(super) fn take(&self, recording: &Recording) -> Value {
        let flows: Vec<&FlowRecord> = recording.flows.iter().filter(|flow| self.filter.fits(flow)).collect();
        let end = recording.sim_end;
        match &self.what {
            Of::Each(each, stats, unit) => stats.of(values(&flows, *each, end, *unit)),
            Of::BySize(each, stats, unit, edges) => Value::Curve(by_size(&flows, *each, stats, end, *unit, edges)),
            Of::Cdf(each, unit) => Value::Curve(stat::cdf(values(&flows, *each, end, *unit))),
            Of::Count(which) => Value::Number(count(&flows, *which)),
            Of::CompletionRate => Value::Number(completion_rate(&flows)),
            Of::Goodput(unit) => Value::Number(goodput(&flows, end) * unit.1),
            Of::Duration(unit) => Value::Number(duration(&flows, *unit)),
            Of::Total(count, scale) => Value::Number(flows.iter().map(|flow| count(flow)).sum::<u64>() as f64 * scale),
            Of::DetouredShare => {
                let detoured = flows.iter().filter(|flow| flow.multipath.detours > 0).count();
                Value::Number(detoured as f64 / flows.len() as f64)
            }
            Of::FinishGap(stats, unit, reads) => {
                let finite = flows.iter().filter(|flow| flow.size_bytes.is_some());
                let finite = finite.map(|flow| (flow.source, flow.start, flow.dst, flow.delivered_at));
                let responses = recording.responses.iter().filter(|response| self.filter.fits_response(response));
                let responses =
                    responses.map(|response| (response.source, response.asked, response.dst, response.done));
                let gaps = finish_gaps(finite.chain(responses), reads);
                stats.of(gaps.into_iter().map(|gap| unit::time(gap, *unit)).collect())
            }
        }
    }
}

fn values(flows: &[&FlowRecord], each: Each, end: Time, unit: Unit) -> Vec<f64> {
    flows.iter().filter_map(|flow| each.of(flow, end, unit)).collect()
}

/// One point per bin `(low, high]` that has flows, at the geometric mean of its edges.
fn by_size(flows: &[&FlowRecord], each: Each, stats: &Stats, end: Time, unit: Unit, edges: &[u64]) -> Curve {
    let mut curve = Curve::default();
    for bin in edges.windows(2) {
        let inside = |flow: &&&FlowRecord| flow.size_bytes.is_some_and(|size| bin[0] < size && size <= bin[1]);
        let inside: Vec<&FlowRecord> = flows.iter().filter(inside).copied().collect();
        let values = values(&inside, each, end, unit);
        if values.is_empty() {
            continue;
        }
        if let Value::Number(y) = stats.of(values) {
            let (low, high) = (bin[0] as f64, bin[1] as f64);
            curve.x.push(if bin[0] == 0 { high / 2.0 } else { (low * high).sqrt() });
            curve.y.push(y);
        }
    }
    curve
}

fn count(flows: &[&FlowRecord], which: Which) -> f64 {
    let completed = flows.iter().filter(|flow| completion(flow).is_some()).count();
    let unfinished = flows.iter().filter(|flow| flow.size_bytes.is_some() && flow.delivered_at.is_none()).count();
    match which {
        Which::Completed => completed as f64,
        Which::Unfinished => unfinished as f64,
        Which::All => flows.len() as f64,
    }
}

/// Completed flows per second, from the first start to the last completion.
fn completion_rate(flows: &[&FlowRecord]) -> f64 {
    let completed: Vec<&&FlowRecord> = flows.iter().filter(|flow| completion(flow).is_some()).collect();
    let first = flows.iter().map(|flow| flow.start).min();
    let last = completed.iter().filter_map(|flow| flow.delivered_at).max();
    match (first, last) {
        (Some(first), Some(last)) if last > first => completed.len() as f64 / (last - first).as_s(),
        (Some(_), None) => 0.0,
        _ => f64::NAN,
    }
}

/// From the first start to the last delivery; never if one of them has not completed.
fn duration(flows: &[&FlowRecord], unit: Unit) -> f64 {
    let Some(first) = flows.iter().map(|flow| flow.start).min() else { return f64::NAN };
    let ends: Option<Vec<Time>> = flows.iter().map(|flow| flow.delivered_at).collect();
    let last = ends.and_then(|ends| ends.into_iter().max());
    last.map_or(f64::INFINITY, |last| unit::time(last.saturating_since(first), unit))
}

/// Bits per second from the first start to the last delivery; what is not complete counts to the
/// end of the run.
fn goodput(flows: &[&FlowRecord], end: Time) -> f64 {
    let first = flows.iter().map(|flow| flow.start).min();
    let last = flows.iter().map(|flow| flow.delivered_at.unwrap_or(end)).max();
    match (first, last) {
        (Some(first), Some(last)) if last > first => {
            let bytes: u64 = flows.iter().map(|flow| flow.delivered_bytes).sum();
            bytes as f64 * 8.0 / (last - first).as_s()
        }
        _ => f64::NAN,
    }
}

/// For each round of which all parts completed, the time from the first to the last completion. A part
/// has a source, a start, a receiver and an end; a round is the parts that one source started together,
/// of reads those for the same client.
fn finish_gaps(parts: impl Iterator<Item = (u32, Time, u32, Option<Time>)>, reads: &[bool]) -> Vec<Span> {
    let mut rounds: BTreeMap<(u32, Time, u32), Vec<Option<Time>>> = BTreeMap::new();
    for (source, start, dst, end) in parts {
        let of_reads = reads.get(source as usize).copied().unwrap_or(false);
        let client = if of_reads { dst } else { 0 };
        rounds.entry((source, start, client)).or_default().push(end);
    }
    let whole = rounds.into_values().filter(|ends| ends.len() > 1 && ends.iter().all(Option::is_some));
    whole.filter_map(|ends| Some(ends.iter().copied().max()?? - ends.iter().copied().min()??)).collect()
}
