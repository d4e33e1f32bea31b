//! Measures of probed quantities over time.

use super::imbalance;
use super::line::{self, Point};
use super::probe::{self, facts};
use super::recording::{Grid, Needs, Recording, Series, SeriesKey};
use super::scope::{Scope, probe_name};
use super::stat::{self, COMBINES, Combine};
use super::unit::{self, Dimension, Unit};
use super::{Curve, Value};
use crate::events::first_port;
use crate::measure::metrics::{Bin, RecoveryRule, mean_in, recovery_time};
use crate::reader::Result;
use crate::{Table, Text};
use xoff_engine::{Span, Time};
use xoff_fabric::record::Metric;

#[derive(Clone, Debug)]
pub struct SeriesMeasure {
    metric: Metric,
    of: Entities,
    grid: Grid,
    across: Across,
    /// Points per window.
    span: usize,
    from: Time,
    until: Time,
    /// Range from the first PAUSE, or until the last, that one of these ports sends.
    first_pause: Option<Vec<bool>>,
    last_pause: Option<Vec<bool>>,
    what: Of,
}

/// Whose series are looked at.
#[derive(Clone, Debug)]
enum Entities {
    Ports(Vec<SeriesKey>),
    /// Whether a flow counts, by label.
    Flows(Vec<bool>),
}

/// How the series of several become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Across {
    At(Combine),
    Each(Combine),
}

#[derive(Clone, Debug)]
enum Of {
    Mean(Unit, Once),
    Lowest(Unit, Once),
    Highest(Unit, Once),
    Std(Unit, Once),
    Cv(Once),
    Last(Unit),
    Percentile(Unit, f64),
    Settling(Unit, Band),
    Recovery { unit: Unit, part: f64, before: Before, window: Span },
    First(Unit, Band),
    FirstCut(Unit, f64),
    Longest(Unit, Band),
    Share(Band),
    TimeOfLowest(Unit),
    TimeOfHighest(Unit),
    ChangeInterval(Unit, f64),
    Changes(f64),
    LargestCut,
    Peaks { factor: f64, floor: f64 },
    LargestShare(Vec<bool>),
    Slope(Unit),
    Curve { unit: Unit, x_unit: Unit, points: usize },
    Cdf(Unit),
    Imbalance { rates: Vec<f64>, as_what: imbalance::Of },
}

/// What the quantity must be, in bytes, bits per second or plainly.
#[derive(Clone, Copy, Debug)]
enum Band {
    Within { target: f64, part: f64 },
    Above(f64),
    Below(f64),
}

impl Band {
    fn holds(self, value: f64) -> bool {
        match self {
            Band::Within { target, part } => (value - target).abs() <= part * target.abs(),
            Band::Above(bound) => value >= bound,
            Band::Below(bound) => value <= bound,
        }
    }
}

/// From when on a statistic is taken: once the quantity was there for the first time.
#[derive(Clone, Copy, Debug)]
struct Once(Option<Band>);

impl Once {
    fn points(self, points: &[Point]) -> &[Point] {
        self.0.map_or(points, |band| line::once(points, |value| band.holds(value)))
    }
}

#[derive(Clone, Copy, Debug)]
enum Before {
    Given(f64),
    MeanOver(Span),
}

const ACROSS: &[(&str, Option<Combine>)] = &[
    ("sum", Some(Combine::Sum)),
    ("mean", Some(Combine::Mean)),
    ("max", Some(Combine::Max)),
    ("min", Some(Combine::Min)),
    ("std", Some(Combine::Std)),
    ("spread", Some(Combine::Spread)),
    ("range", Some(Combine::Range)),
    ("jain", Some(Combine::Jain)),
    ("each", None),
];

/// Reads the keys of a metric of this family. Gives the unit, too.
pub fn read(name: &str, row: &mut Table, scope: &Scope<'_>) -> Result<(SeriesMeasure, &'static str)> {
    let names: Vec<(&str, Metric)> = probe::NAMES.iter().copied().zip(probe::METRICS).collect();
    let metric = row.choice("series", &names)?;
    let (of, grid) = read_entities("of", metric, row, scope)?;
    let links = name.starts_with("imbalance");
    let across = if links { Some(Combine::Sum) } else { row.choice("across", ACROSS)? };
    let across = match across {
        Some(combine) => Across::At(combine),
        None if name == "curve" => {
            let error = row.error("across", "a curve is of one series");
            return Err(error.label("\"sum\", \"mean\", \"max\", \"min\" or \"jain\""));
        }
        // Samples of all of them make one distribution.
        None if name == "time-cdf" => Across::Each(Combine::Sum),
        None => Across::Each(row.choice("combine", COMBINES)?),
    };
    let (from, until) = scope.window(row)?;
    let (first_pause, last_pause) = (scope.ports(row, "from_first_pause")?, scope.ports(row, "until_last_pause")?);
    let window = row.take_span("window")?;
    if window.is_some_and(|window| window < grid.step) {
        let error = row.error("window", "`window` is shorter than the interval of the probe");
        return Err(error.label(format!("at least {}", grid.step)));
    }
    let steps = window.map_or(1, |window| (window.ps() + grid.step.ps() / 2) / grid.step.ps());
    let plain = matches!(across, Across::At(combine) if combine.is_plain());
    let dimension = if plain { Dimension::Plain } else { dimension(metric) };
    let reader = Reader { dimension, grid, window, from };
    let (what, unit) = match name {
        _ if links => {
            let rates = imbalance::rates(row, scope, metric, &of_ports(&of))?;
            imbalance::check_window(row, scope, &rates, window.unwrap_or(grid.step))?;
            let as_what = imbalance::read(name, row)?;
            (Of::Imbalance { rates, as_what }, "")
        }
        "largest-share" => {
            let (among, _) = read_entities("among", metric, row, scope)?;
            (Of::LargestShare(part_of(&of, &among, row)?), "")
        }
        _ => reader.read(name, row)?,
    };
    // What several series become may have no unit, though the number of each has one.
    let unit = if matches!(across, Across::Each(combine) if combine.is_plain()) { "" } else { unit };
    let span = steps as usize;
    Ok((SeriesMeasure { metric, of, grid, across, span, from, until, first_pause, last_pause, what }, unit))
}

/// What reading the keys of a metric needs to know of its series.
struct Reader {
    dimension: Dimension,
    grid: Grid,
    window: Option<Span>,
    from: Time,
}

impl Reader {
    fn read(&self, name: &str, row: &mut Table) -> Result<(Of, &'static str)> {
        let time = |row: &mut Table| unit::read(row, "unit", Dimension::Time);
        let own = |row: &mut Table| unit::read(row, "unit", self.dimension);
        let least = |row: &mut Table| row.number("least", 0.0..=1.0);
        let with_once = |of: fn(Unit, Once) -> Of, row: &mut Table| {
            let unit = own(row)?;
            Ok((of(unit, read_once(row, unit)?), unit.0))
        };
        let in_time = |of: fn(Unit) -> Of, row: &mut Table| time(row).map(|unit| (of(unit), unit.0));
        let with_band = |of: fn(Unit, Band) -> Of, row: &mut Table| {
            let unit = time(row)?;
            Ok((of(unit, self.band(row)?), unit.0))
        };
        let with_least = |of: fn(Unit, f64) -> Of, row: &mut Table| {
            let unit = time(row)?;
            Ok((of(unit, least(row)?), unit.0))
        };
        Ok(match name {
            "mean" => with_once(Of::Mean, row)?,
            "lowest" => with_once(Of::Lowest, row)?,
            "highest" => with_once(Of::Highest, row)?,
            "std" => with_once(Of::Std, row)?,
            "cv" => {
                let unit = self.series_unit(row, &["once_above", "once_below"])?;
                (Of::Cv(read_once(row, unit)?), "")
            }
            "last" => own(row).map(|unit| (Of::Last(unit), unit.0))?,
            "percentile" => {
                let unit = own(row)?;
                (Of::Percentile(unit, row.number("p", 0.0..=100.0)?), unit.0)
            }
            "settling-time" => with_band(Of::Settling, row)?,
            "recovery-time" => self.recovery(row)?,
            "first-time" => with_band(Of::First, row)?,
            "first-cut" => with_least(Of::FirstCut, row)?,
            "longest-time" => with_band(Of::Longest, row)?,
            "time-share" => (Of::Share(self.band(row)?), ""),
            "time-of-lowest" => in_time(Of::TimeOfLowest, row)?,
            "time-of-highest" => in_time(Of::TimeOfHighest, row)?,
            "change-interval" => with_least(Of::ChangeInterval, row)?,
            "count-changes" => (Of::Changes(least(row)?), ""),
            "largest-cut" => (Of::LargestCut, ""),
            "peaks" => {
                let unit = self.series_unit(row, &["floor"])?;
                let factor = row.number("factor", 1.0..=1e6)?;
                (Of::Peaks { factor, floor: row.number("floor", 0.0..=f64::MAX)? / unit.1 }, "")
            }
            "slope" => own(row).map(|unit| (Of::Slope(unit), unit.0))?,
            "time-cdf" => own(row).map(|unit| (Of::Cdf(unit), unit.0))?,
            _ => {
                let unit = own(row)?;
                let x_unit = unit::read(row, "x_unit", Dimension::Time)?;
                let points = row.count("points", 2..=1_000_000)? as usize;
                (Of::Curve { unit, x_unit, points }, unit.0)
            }
        })
    }

    /// `series_unit`, in which the numbers under `keys` are given; asked for only if one is there.
    fn series_unit(&self, row: &mut Table, keys: &[&str]) -> Result<Unit> {
        if keys.iter().any(|key| row.has(key)) {
            return unit::read(row, "series_unit", self.dimension);
        }
        Ok(("", 1.0))
    }

    /// `above`, `below`, or `target` and `within`.
    fn band(&self, row: &mut Table) -> Result<Band> {
        let unit = self.series_unit(row, &["above", "below", "target"])?;
        let any = f64::MIN..=f64::MAX;
        let given = ["above", "below", "target"].iter().filter(|key| row.has(key)).count();
        if given != 1 {
            return Err(row.place().error("exactly one of `above`, `below` or `target` is needed"));
        }
        if let Some(bound) = row.take_number("above", any.clone())? {
            return Ok(Band::Above(bound / unit.1));
        }
        if let Some(bound) = row.take_number("below", any.clone())? {
            return Ok(Band::Below(bound / unit.1));
        }
        let target = row.number("target", any)? / unit.1;
        Ok(Band::Within { target, part: row.number("within", 0.0..=1e6)? })
    }

    fn recovery(&self, row: &mut Table) -> Result<(Of, &'static str)> {
        let unit = unit::read(row, "unit", Dimension::Time)?;
        let part = row.number("part", 0.0..=1.0)?;
        let series_unit = self.series_unit(row, &["before"])?;
        let before = match row.take_number("before", 0.0..=f64::MAX)? {
            Some(before) => Before::Given(before / series_unit.1),
            None => Before::MeanOver(row.span("before_window")?),
        };
        if let Before::MeanOver(span) = before
            && (span == Span::ZERO || Time::ZERO + span > self.from)
        {
            let error = row.error("before_window", "`before_window` does not lie before `from`");
            return Err(error.label(format!("above zero and at most {}", self.from - Time::ZERO)));
        }
        let window = self.window.unwrap_or(self.grid.step);
        Ok((Of::Recovery { unit, part, before, window }, unit.0))
    }
}

/// `once_above` or `once_below`, in the unit of the result.
fn read_once(row: &mut Table, unit: Unit) -> Result<Once> {
    let any = f64::MIN..=f64::MAX;
    if row.has("once_above") && row.has("once_below") {
        return Err(row.key_error("once_below", "`once_above` and `once_below` exclude each other"));
    }
    if let Some(bound) = row.take_number("once_above", any.clone())? {
        return Ok(Once(Some(Band::Above(bound / unit.1))));
    }
    let below = row.take_number("once_below", any)?;
    Ok(Once(below.map(|bound| Band::Below(bound / unit.1))))
}

fn dimension(metric: Metric) -> Dimension {
    match facts(metric).unit {
        "bytes" => Dimension::Bytes,
        "Gbps" => Dimension::Rate,
        _ => Dimension::Plain,
    }
}

/// Whether a sample tells of the instant, rather than of the interval before it.
fn instant(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::QueueBytes
            | Metric::IngressBytes
            | Metric::ShapedBytes
            | Metric::FlowShapedBytes
            | Metric::FlowRate
            | Metric::SwitchBytes
    )
}

/// The series under `key`, which must be probed, and all at the same instants.
fn read_entities(key: &str, metric: Metric, row: &mut Table, scope: &Scope<'_>) -> Result<(Entities, Grid)> {
    let texts = row.texts(key)?;
    if facts(metric).of_flow {
        let labels = scope.probed_labels(&texts)?;
        let grid = one_grid(&scope.flow_grids(), metric, &texts[0], "")?;
        return Ok((Entities::Flows(labels), grid));
    }
    let class = if facts(metric).per_class { scope.class(row)? } else { None };
    let mut keys = Vec::new();
    let mut common: Option<Grid> = None;
    for text in &texts {
        for port in scope.names.ports(text)? {
            let port = if metric == Metric::SwitchBytes { first_port(scope.plan, port) } else { port };
            let probed =
                scope.port_grids(metric, port).iter().filter(|(own, _)| class.is_none_or(|class| class == *own));
            let (classes, grids): (Vec<u8>, Vec<Grid>) = probed.copied().unzip();
            let grid = match grids[..] {
                [grid] => grid,
                _ => one_grid(&grids, metric, text, &scope.plan.port_name(port))?,
            };
            if common.is_some_and(|common| common != grid) {
                let error = text.error("these ports are not probed at the same instants");
                return Err(error.help("give them one [[probe]], or measure them one by one"));
            }
            common = Some(grid);
            keys.push(SeriesKey { metric, entity: port, class: classes[0] });
        }
    }
    keys.sort_unstable();
    keys.dedup();
    let grid = common.ok_or_else(|| texts[0].error("no port is chosen"))?;
    Ok((Entities::Ports(keys), grid))
}

/// The one grid on which `name` is probed.
fn one_grid(grids: &[Grid], metric: Metric, text: &Text, name: &str) -> Result<Grid> {
    match grids {
        [grid] => Ok(*grid),
        [] => {
            let (series, probe) = (facts(metric).name, probe_name(metric));
            let error = match name {
                "" => text.error("no flow is probed"),
                name => text.error(format!("`{series}` of `{name}` is not probed")),
            };
            let ports = if name.is_empty() { String::new() } else { format!(", ports = \"{}\"", text.value) };
            Err(error.label(format!("add [[probe]] with what = \"{probe}\"{ports} to the scenario")))
        }
        _ => {
            let what = if name.is_empty() { "flows are".to_owned() } else { format!("`{name}` is") };
            let error = text.error(format!("{what} probed more than once"));
            Err(error.label("keep one [[probe]] of them, or say which `priority`"))
        }
    }
}

/// The ports among them, in order.
fn of_ports(of: &Entities) -> Vec<u32> {
    match of {
        Entities::Ports(keys) => keys.iter().map(|key| key.entity).collect(),
        Entities::Flows(_) => Vec::new(),
    }
}

/// Whether each entity of `of` is in `among`.
fn part_of(of: &Entities, among: &Entities, row: &Table) -> Result<Vec<bool>> {
    let outside = || row.error("among", "`among` is not a part of `of`");
    match (of, among) {
        (Entities::Ports(of), Entities::Ports(among)) => {
            if among.iter().any(|key| !of.contains(key)) {
                return Err(outside());
            }
            Ok(of.iter().map(|key| among.contains(key)).collect())
        }
        (Entities::Flows(of), Entities::Flows(among)) => {
            if of.iter().zip(among).any(|(of, among)| *among && !*of) {
                return Err(outside());
            }
            Ok(among.clone())
        }
        _ => Err(outside()),
    }
}

impl SeriesMeasure {
    /// The unit of time along a curve.
    pub fn curve_time(&self) -> Option<&'static str> {
        match &self.what {
            Of::Curve { x_unit, .. } => Some(x_unit.0),
            _ => None,
        }
    }

    pub fn needs(&self, needs: &mut Needs) {
        let pauses = self.first_pause.is_some() || self.last_pause.is_some();
        needs.pauses |= pauses;
        needs.refreshes |= pauses;
        match &self.of {
            Entities::Ports(keys) => needs.ports.extend(keys.iter().map(|key| (*key, self.grid))),
            Entities::Flows(labels) => {
                let chosen = (0u32..).zip(labels).filter(|(_, chosen)| **chosen);
                needs.labels.extend(chosen.map(|(label, _)| ((self.metric, label), self.grid)));
            }
        }
    }

    /// The series, each with whether it is in `among` (by position of the port, or by label).
    fn series<'a>(&'a self, recording: &'a Recording) -> Vec<(usize, &'a Series)> {
        match &self.of {
            Entities::Ports(keys) => {
                let found = keys.iter().enumerate();
                found.filter_map(|(index, key)| Some((index, recording.series.get(key)?))).collect()
            }
            Entities::Flows(labels) => {
                let own = recording.series.iter().filter(|(key, _)| key.metric == self.metric);
                own.map(|(_, series)| (series.label as usize, series)).filter(|(label, _)| labels[*label]).collect()
            }
        }
    }

    pub(super) fn take(&self, recording: &Recording) -> Value {
        if self.first_pause.is_none() && self.last_pause.is_none() {
            return self.take_within(recording);
        }
        let at = |ports: &[bool]| {
            let own = recording.pauses.iter().filter(|pause| pause.pause && ports[pause.port as usize]);
            let own = own.map(|pause| pause.at);
            own.filter(|at| (self.from..=self.until).contains(at)).collect::<Vec<_>>()
        };
        // Without any PAUSE there is no such time.
        let mut bounds = SeriesMeasure { first_pause: None, last_pause: None, ..self.clone() };
        if let Some(ports) = &self.first_pause {
            bounds.from = at(ports).into_iter().min().unwrap_or(Time::NEVER);
        }
        if let Some(ports) = &self.last_pause {
            bounds.until = at(ports).into_iter().max().unwrap_or(Time::ZERO);
        }
        bounds.take_within(recording)
    }

    fn take_within(&self, recording: &Recording) -> Value {
        let series = self.series(recording);
        if let Of::LargestShare(among) = &self.what {
            return Value::Number(self.largest_share(&series, among));
        }
        if let Of::Imbalance { rates, as_what } = &self.what {
            let loads = series.iter().map(|(index, series)| (rates[*index], *series)).collect::<Vec<_>>();
            return as_what.of(&imbalance::windows(&loads, self.grid, self.span, (self.from, self.until)));
        }
        if let Of::Cdf(unit) = self.what {
            let lines = match self.across {
                Across::Each(_) => series.iter().map(|(_, series)| self.points(series)).collect(),
                Across::At(combine) => vec![self.combined(&series, combine, recording.sim_end)],
            };
            let inside = |points: &Vec<Point>| {
                let within = line::within(&line::smooth(points, self.span), self.from, self.until);
                within.iter().map(|point| point.value * unit.1).collect::<Vec<_>>()
            };
            return Value::Curve(stat::cdf(lines.iter().flat_map(inside).collect()));
        }
        match self.across {
            Across::Each(combine) => {
                let each = series.iter().map(|(_, series)| self.of(&self.points(series)));
                Value::Number(combine.of(each))
            }
            Across::At(combine) => {
                let points = self.combined(&series, combine, recording.sim_end);
                match self.what {
                    Of::Curve { unit, x_unit, points: most } => Value::Curve(self.curve(&points, unit, x_unit, most)),
                    _ => Value::Number(self.of(&points)),
                }
            }
        }
    }

    fn point(&self, index: u64, value: f64) -> Option<Point> {
        let end = self.grid.at(index);
        if instant(self.metric) {
            return Some(Point { start: end, end, value });
        }
        // The first sample of a rate has nothing to be measured against, or an interval of another length.
        let start = Time::from_ps(end.ps().saturating_sub(self.grid.step.ps()));
        (index > 0).then_some(Point { start, end, value })
    }

    fn points(&self, series: &Series) -> Vec<Point> {
        (series.first..).zip(&series.values).filter_map(|(index, value)| self.point(index, *value)).collect()
    }

    /// One series out of many, instant by instant. In a sum of rates a flow that is not there counts
    /// as nothing; otherwise instants without any sample are left out.
    fn combined(&self, series: &[(usize, &Series)], combine: Combine, sim_end: Time) -> Vec<Point> {
        let absent_is_zero = combine == Combine::Sum
            && matches!(self.metric, Metric::FlowSendRate | Metric::FlowThroughput | Metric::FlowShapedBytes);
        let last = series.iter().map(|(_, series)| series.first + series.values.len() as u64).max().unwrap_or(0);
        let last = if absent_is_zero { self.grid.instants(sim_end).max(last) } else { last };
        let mut moments = vec![Moment::NONE; last as usize];
        for (_, series) in series {
            for (moment, value) in moments[series.first as usize..].iter_mut().zip(&series.values) {
                moment.add(*value);
            }
        }
        let value = |moment: &Moment| match moment.count {
            0 => absent_is_zero.then_some(0.0),
            _ => moment.of(combine),
        };
        (0..).zip(&moments).filter_map(|(index, moment)| self.point(index, value(moment)?)).collect()
    }

    /// The number asked for, of one series.
    fn of(&self, points: &[Point]) -> f64 {
        let smooth = line::smooth(points, self.span);
        let inside = line::within(&smooth, self.from, self.until);
        let since = |at: Time, unit: Unit| unit::time(at.saturating_since(self.from), unit);
        let never = |at: Option<Time>, unit: Unit| match at {
            Some(at) => since(at, unit),
            None if inside.is_empty() => f64::NAN,
            None => f64::INFINITY,
        };
        let value = |point: Option<&Point>, unit: Unit| point.map_or(f64::NAN, |point| point.value * unit.1);
        match &self.what {
            Of::Mean(unit, once) => stat::mean(&line::values(once.points(&inside))) * unit.1,
            Of::Lowest(unit, once) => value(line::lowest(once.points(&inside)), *unit),
            Of::Highest(unit, once) => value(line::highest(once.points(&inside)), *unit),
            Of::Std(unit, once) => stat::std(&line::values(once.points(&inside))) * unit.1,
            Of::Cv(once) => line::variation(once.points(&inside)),
            Of::Last(unit) => value(inside.last(), *unit),
            Of::Percentile(unit, p) => line::percentile_of(&inside, *p) * unit.1,
            Of::Settling(unit, band) => never(line::settled(&inside, |value| band.holds(value)), *unit),
            Of::Recovery { unit, part, before, window } => self.recovery(points, *unit, *part, *before, *window),
            Of::First(unit, band) => never(line::first(&inside, |value| band.holds(value)), *unit),
            Of::FirstCut(unit, least) => never(line::first_cut(&inside, *least), *unit),
            Of::Longest(..) | Of::Share(_) if inside.is_empty() => f64::NAN,
            Of::Longest(unit, band) => unit::time(line::longest(&inside, |value| band.holds(value)), *unit),
            Of::Share(band) => {
                inside.iter().filter(|point| band.holds(point.value)).count() as f64 / inside.len() as f64
            }
            Of::TimeOfLowest(unit) => line::lowest(&inside).map_or(f64::NAN, |point| since(point.end, *unit)),
            Of::TimeOfHighest(unit) => line::highest(&inside).map_or(f64::NAN, |point| since(point.end, *unit)),
            Of::ChangeInterval(..) if inside.is_empty() => f64::NAN,
            Of::ChangeInterval(unit, least) => {
                line::change_interval(&inside, *least).map_or(f64::INFINITY, |span| unit::time(span, *unit))
            }
            Of::Changes(least) => line::changes(&inside, *least).len() as f64,
            Of::LargestCut => 100.0 * line::largest_cut(&inside),
            Of::Peaks { factor, floor } => line::peaks(&inside, *factor, *floor) as f64,
            Of::Slope(unit) => line::slope(&inside) * unit.1 / 1e3,
            Of::LargestShare(_) | Of::Curve { .. } | Of::Cdf(_) | Of::Imbalance { .. } => f64::NAN,
        }
    }

    fn recovery(&self, points: &[Point], unit: Unit, part: f64, before: Before, window: Span) -> f64 {
        let step = self.grid.step;
        let bins: Vec<Bin> = points
            .iter()
            .filter(|point| point.end <= self.until)
            .map(|point| Bin { end: point.end, length: step, value: point.value })
            .collect();
        let before = match before {
            Before::Given(before) => Some(before),
            Before::MeanOver(span) => {
                mean_in(&bins, Time::from_ps(self.from.ps().saturating_sub(span.ps())), self.from)
            }
        };
        let Some(before) = before else { return f64::NAN };
        if !bins.iter().any(|bin| bin.start() >= self.from) {
            return f64::NAN;
        }
        let rule = RecoveryRule { part, window };
        recovery_time(&bins, self.from, before, rule).map_or(f64::INFINITY, |span| unit::time(span, unit))
    }

    fn curve(&self, points: &[Point], unit: Unit, x_unit: Unit, most: usize) -> Curve {
        let smooth = line::smooth(points, self.span);
        let kept = line::thin(&line::within(&smooth, self.from, self.until), most);
        Curve {
            x: kept.iter().map(|point| unit::time(point.end - Time::ZERO, x_unit)).collect(),
            y: kept.iter().map(|point| point.value * unit.1).collect(),
        }
    }

    /// The share of instants at which the largest of all is one of `among`.
    fn largest_share(&self, series: &[(usize, &Series)], among: &[bool]) -> f64 {
        let last = series.iter().map(|(_, series)| series.first + series.values.len() as u64).max().unwrap_or(0);
        // By instant the largest value, and whether one of `among` has it.
        let mut largest = vec![(0.0, false); last as usize];
        for (index, series) in series {
            for (largest, value) in largest[series.first as usize..].iter_mut().zip(&series.values) {
                if *value > largest.0 {
                    *largest = (*value, among[*index]);
                } else if *value == largest.0 {
                    largest.1 |= among[*index];
                }
            }
        }
        let judged = (0..).zip(&largest).filter(|(index, (value, _))| {
            let at = self.grid.at(*index);
            *value > 0.0 && (self.from..=self.until).contains(&at)
        });
        let (mut all, mut own) = (0u64, 0u64);
        for (_, (_, among)) in judged {
            all += 1;
            own += u64::from(*among);
        }
        if all == 0 { f64::NAN } else { own as f64 / all as f64 }
    }
}

/// What several series say at one instant.
#[derive(Clone, Copy, Debug)]
struct Moment {
    count: u32,
    sum: f64,
    squares: f64,
    low: f64,
    high: f64,
}

impl Moment {
    const NONE: Moment = Moment { count: 0, sum: 0.0, squares: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY };

    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    /// `None` where there is no telling, such as the fairness of nothing.
    fn of(&self, combine: Combine) -> Option<f64> {
        let count = f64::from(self.count);
        let mean = self.sum / count;
        let value = match combine {
            Combine::Sum => self.sum,
            Combine::Mean => mean,
            Combine::Min => self.low,
            Combine::Max => self.high,
            Combine::Std => (self.squares / count - mean * mean).max(0.0).sqrt(),
            Combine::Spread => self.high / self.low,
            Combine::Range => self.high - self.low,
            Combine::Jain => self.sum * self.sum / (count * self.squares),
        };
        (!value.is_nan()).then_some(value)
    }
}
