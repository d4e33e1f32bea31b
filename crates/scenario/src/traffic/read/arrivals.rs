//! Kinds whose flows arrive at random or with a period: the load, and what it makes of the rate.

use super::hosts::{hosts, lonely, one_to_one};
use super::kinds::until;
use super::pending::Offer;
use super::settings::{Settings, with_classes};
use super::sizes::sizes;
use super::wire_bytes::WireBytes;
use super::{MOST_FLOWS, ReadGenerator, Scope};
use crate::Table;
use crate::reader::{Result, Text};
use crate::traffic::choose::{Choice, Receivers, running_rates};
use crate::traffic::incast::{Events, Incast};
use crate::traffic::plan::{Expected, Generator};
use crate::traffic::poisson::{Arrivals, Poisson, Who};
use crate::traffic::sizes::Sizes;
use std::ops::RangeInclusive;
use xoff_engine::quantity::parse_span;
use xoff_engine::{Span, Time};

/// No process is faster: at most one arrival per 100 ps in the mean.
const FASTEST_PER_SECOND: f64 = 1e10;

pub fn poisson(table: &mut Table, scope: &Scope<'_>, settings: &Settings, hotspot: bool) -> Result<ReadGenerator> {
    let sources = hosts(table, scope, "sources")?;
    let destinations = hosts(table, scope, "destinations")?;
    let who = if hotspot {
        hot(table, scope, &sources, &destinations)?
    } else {
        let choices = [("random", true), ("one-to-one", false)];
        if table.choice_or("pairing", &choices, "random")? {
            let other_racks = table.flag("avoid_same_rack")?;
            let choice = Choice::new(&sources, &destinations, &scope.wiring, other_racks);
            Who::Any(choice.map_err(|host| lonely(table, scope, "destinations", other_racks, host))?)
        } else {
            let pairs = one_to_one(table, scope, &sources, &destinations)?;
            let senders: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
            Who::Pairs { rates: running_rates(&senders, &scope.wiring), pairs: pairs.into() }
        }
    };
    if let Some(path) = &settings.path {
        path.check(scope, &sources, &destinations)?;
        if let Who::Hot { hot, .. } = &who {
            path.check(scope, &sources, hot.hosts())?;
        }
    }
    let sizes = sizes(table, "sizes")?;
    let senders_bps = scope.wiring.total_bps(&sources);
    let wire_bytes = WireBytes { scheme: settings.template.scheme, senders: &sources, receivers: &destinations };
    let per_second = rate(table, scope, &sizes, 1.0, &wire_bytes, senders_bps)?;
    let load = per_second * sizes.mean() * 8.0 / senders_bps;
    // The brink of 1 may be missed by a rounding.
    if load > 1.0 + 1e-9 {
        return Err(overload(table, load));
    }
    let arrivals = Arrivals {
        start: settings.start,
        until: until(table, settings.start)?,
        per_second,
        count: table.take_count("flows", 1..=u64::MAX)?,
    };
    let flows = expected_count(scope, &arrivals);
    Offer { sizes: &sizes, wire_bytes, flows_per_second: per_second, flows }.check(table, scope, pace_key(table))?;
    let expected = Expected {
        flows,
        bytes: flows.map(|flows| flows * sizes.mean()),
        load: Some(load),
        finite: arrivals.count.is_some() || arrivals.until.is_some(),
    };
    let poisson = Poisson { arrivals, who, sizes, template: with_classes(table, scope, &settings.template)? };
    Ok(ReadGenerator { generator: Generator::Poisson(poisson), labels: vec![settings.name.clone()], expected })
}

/// `hot` hosts, or an even sample of the destinations, and the part of the flows they get.
fn hot(table: &mut Table, scope: &Scope<'_>, sources: &[u32], destinations: &[u32]) -> Result<Who> {
    let other_racks = table.flag("avoid_same_rack")?;
    let (key, hot) = match table.take_texts("hot")? {
        Some(selectors) => ("hot", scope.ctx.names.hosts(&selectors)?),
        None => {
            let share = table.number("hot_share", 0.0..=1.0)?;
            let count = (destinations.len() as f64 * share).round() as usize;
            if count == 0 {
                return Err(table
                    .error("hot_share", "no host would be hot")
                    .label(format!("this share of {} hosts rounds to none", destinations.len())));
            }
            ("hot_share", (0..count).map(|rank| destinations[rank * destinations.len() / count]).collect())
        }
    };
    let fraction = table.number("hot_fraction", 0.0..=1.0)?;
    let all = Choice::new(sources, destinations, &scope.wiring, other_racks)
        .map_err(|host| lonely(table, scope, "destinations", other_racks, host))?;
    let hot = Receivers::for_some(sources, &hot, &scope.wiring, other_racks);
    if !(0..sources.len()).any(|rank| hot.reaches_any(rank)) {
        return Err(table.error(key, "no sender may send to a hot host"));
    }
    Ok(Who::Hot { all, hot, fraction })
}

/// Arrivals per second from `load`, `offered` or `rate_per_second`; an arrival brings
/// `flows_each` flows in the mean. `load` is that of links of `of_bps` in all, unless `load_of`
/// names others.
fn rate(
    table: &mut Table,
    scope: &Scope<'_>,
    sizes: &Sizes,
    flows_each: f64,
    wire_bytes: &WireBytes<'_>,
    of_bps: f64,
) -> Result<f64> {
    let given: Vec<&str> = ["load", "offered", "rate_per_second"].into_iter().filter(|key| table.has(key)).collect();
    let per_second = match given[..] {
        ["load"] => {
            let load = table.number("load", 0.0..=1.0)?;
            let of_bps = match table.take_texts("load_of")? {
                Some(selectors) => {
                    let ports = scope.ctx.names.all_ports(&selectors)?;
                    ports.iter().map(|port| scope.ctx.plan.direction(*port).rate.bps() as f64).sum()
                }
                None => of_bps,
            };
            let bytes = match table.is("load_counts", "wire")? {
                true => wire_bytes.of_a_flow(scope, sizes),
                false => sizes.mean(),
            };
            load * of_bps / 8.0 / (flows_each * bytes)
        }
        ["offered"] => {
            let offered = table.rate("offered")?.bps() as f64;
            offered / 8.0 / (flows_each * sizes.mean())
        }
        ["rate_per_second"] => table.number("rate_per_second", 0.0..=FASTEST_PER_SECOND)?,
        [] => {
            return Err(table
                .place()
                .error("nothing says how much traffic there is")
                .label("give `load`, `offered` or `rate_per_second`"));
        }
        _ => {
            return Err(table
                .error(given[1], format!("`{}` and `{}` both set the rate", given[0], given[1]))
                .label("give one of them"));
        }
    };
    if !(1e-9..=FASTEST_PER_SECOND).contains(&per_second) {
        return Err(table
            .error(given[0], format!("`{}` makes {per_second} arrivals per second", given[0]))
            .label("no traffic, or more than can be simulated"));
    }
    Ok(per_second)
}

fn overload(table: &Table, load: f64) -> crate::Diagnostic {
    table
        .error(pace_key(table), format!("the sources would have to send {load:.3} times what their links carry"))
        .label("a load of at most 1 on the links of the sources")
        .help("lower it, or select more `sources`")
}

/// The key that sets the pace.
fn pace_key(table: &Table) -> &'static str {
    let keys = ["times", "period", "load", "offered", "rate_per_second"];
    keys.into_iter().find(|key| table.has(key)).unwrap_or("load")
}

/// How many arrive until the end of the run; unknown without one.
fn expected_count(scope: &Scope<'_>, arrivals: &Arrivals) -> Option<f64> {
    let end = arrivals.until.unwrap_or(Time::NEVER).min(scope.ctx.plan.run.stop);
    let in_time = (end < Time::NEVER).then(|| end.saturating_since(arrivals.start).as_s() * arrivals.per_second);
    match (arrivals.count.map(|count| count as f64), in_time) {
        (Some(count), Some(in_time)) => Some(count.min(in_time)),
        (count, in_time) => count.or(in_time),
    }
}

pub fn incast(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let senders = hosts(table, scope, "sources")?;
    let receivers = hosts(table, scope, "destinations")?;
    if let Some(path) = &settings.path {
        path.check(scope, &senders, &receivers)?;
    }
    let other_racks = table.flag("avoid_same_rack")?;
    let sizes = sizes(table, "sizes")?;
    // Only read where sizes differ at all.
    let same_size = !matches!(sizes, Sizes::Fixed(_)) && table.flag("same_size")?;
    let degree = degree(table)?;
    let flows = table.take_count("flows", 1..=u64::MAX)?;
    let mean_degree = f64::from(*degree.start() + *degree.end()) / 2.0;
    let (events, expected_events) = events(table, scope, settings, &sizes, mean_degree, &senders, &receivers)?;
    let incast = Incast {
        receiver_rates: running_rates(&receivers, &scope.wiring),
        events,
        flows,
        degree,
        senders: senders.into(),
        receivers: receivers.into(),
        other_racks,
        sizes,
        same_size,
        wiring: scope.wiring.clone(),
        template: with_classes(table, scope, &settings.template)?,
    };
    check_degree(table, scope, &incast)?;

    let in_time = expected_events.map(|events| events * mean_degree);
    let expected_flows = match (flows.map(|flows| flows as f64), in_time) {
        (Some(flows), Some(in_time)) => Some(flows.min(in_time)),
        (flows, in_time) => flows.or(in_time),
    };
    let flows_per_second = mean_degree * events_per_second(&incast.events);
    let wire_bytes =
        WireBytes { scheme: settings.template.scheme, senders: &incast.senders, receivers: &incast.receivers };
    let offer = Offer { sizes: &incast.sizes, wire_bytes, flows_per_second, flows: expected_flows };
    offer.check(table, scope, pace_key(table))?;
    let (finite, load) = match &incast.events {
        Events::Poisson(arrivals) => {
            let bps = arrivals.per_second * mean_degree * incast.sizes.mean() * 8.0;
            let load = bps / scope.wiring.total_bps(&incast.senders);
            (arrivals.count.is_some() || arrivals.until.is_some(), Some(load))
        }
        Events::Times(_) => (true, None),
        Events::Periodic { count, until, .. } => (count.is_some() || until.is_some(), None),
    };
    let expected = Expected {
        flows: expected_flows,
        bytes: expected_flows.map(|flows| flows * incast.sizes.mean()),
        load,
        finite: finite || flows.is_some(),
    };
    Ok(ReadGenerator { generator: Generator::Incast(incast), labels: vec![settings.name.clone()], expected })
}

/// In the mean, while there are any; those of a single instant come infinitely fast.
fn events_per_second(events: &Events) -> f64 {
    match events {
        Events::Poisson(arrivals) => arrivals.per_second,
        Events::Periodic { period, .. } => 1.0 / period.as_s(),
        Events::Times(times) => match times[..] {
            [first, .., last] => times.len() as f64 / (last - first).as_s(),
            _ => 0.0,
        },
    }
}

/// Events at given `times`, every `period`, or at random; and how many to expect.
fn events(
    table: &mut Table,
    scope: &Scope<'_>,
    settings: &Settings,
    sizes: &Sizes,
    mean_degree: f64,
    senders: &[u32],
    receivers: &[u32],
) -> Result<(Events, Option<f64>)> {
    if let Some(texts) = table.take_texts("times")? {
        let mut times = texts.iter().map(|text| Ok(settings.start + span(text)?)).collect::<Result<Vec<Time>>>()?;
        times.sort_unstable();
        let count = times.len() as f64;
        return Ok((Events::Times(times.into()), Some(count)));
    }
    let start = settings.start;
    if let Some(period) = table.take_span("period")? {
        if period == Span::ZERO {
            return Err(table.error("period", "`period` cannot be zero"));
        }
        let count = table.take_count("events", 1..=u64::MAX)?;
        let until = until(table, start)?;
        let end = until.unwrap_or(Time::NEVER).min(scope.ctx.plan.run.stop);
        let in_time = (end < Time::NEVER).then(|| (end.saturating_since(start) / period).ceil());
        let expected = match (count.map(|count| count as f64), in_time) {
            (Some(count), Some(in_time)) => Some(count.min(in_time)),
            (count, in_time) => count.or(in_time),
        };
        return Ok((Events::Periodic { start, period, count, until }, expected));
    }
    let receivers_bps = scope.wiring.total_bps(receivers);
    let wire_bytes = WireBytes { scheme: settings.template.scheme, senders, receivers };
    let per_second = rate(table, scope, sizes, mean_degree, &wire_bytes, receivers_bps)?;
    let bps = per_second * mean_degree * sizes.mean() * 8.0;
    let load = bps / receivers_bps.min(scope.wiring.total_bps(senders));
    if load > 1.0 + 1e-9 {
        return Err(overload(table, load).label("a load of at most 1 on the links of sources and of destinations"));
    }
    let count = table.take_count("events", 1..=u64::MAX)?;
    let arrivals = Arrivals { start, until: until(table, start)?, per_second, count };
    let expected = expected_count(scope, &arrivals);
    Ok((Events::Poisson(arrivals), expected))
}

/// One of `times`, which count from `start`.
fn span(text: &Text) -> Result<Span> {
    match parse_span(&text.value) {
        Ok(span) if span <= crate::reader::LONGEST => Ok(span),
        Ok(_) => Err(text.error("this is later than any run lasts")),
        Err(why) => Err(text.error(format!("`times` {why}")).label("a time such as \"3ms\"")),
    }
}

/// `degree = 8`, or `"1..15"` for any number from 1 to 15.
fn degree(table: &mut Table) -> Result<RangeInclusive<u32>> {
    let Some(text) = table.take_spelling("degree")? else {
        return Err(table.place().error("incast lacks `degree`").label("how many senders: 8, or \"1..15\""));
    };
    let whole = |text: &str| text.trim().parse::<u32>().ok().filter(|n| u64::from(*n) <= MOST_FLOWS);
    let range = match text.value.split_once("..") {
        Some((least, most)) => whole(least).zip(whole(most)),
        None => whole(&text.value).map(|degree| (degree, degree)),
    };
    match range {
        Some((least, most)) if (1..=most).contains(&least) => {
            if least == most {
                table.record("degree", i64::from(least));
            } else {
                table.record("degree", format!("{least}..{most}"));
            }
            Ok(least..=most)
        }
        _ => Err(text
            .error("`degree` is not a number of senders")
            .label("a whole number of at least 1 such as 8, or a range such as \"1..15\"")),
    }
}

fn check_degree(table: &Table, scope: &Scope<'_>, incast: &Incast) -> Result<()> {
    let most = *incast.degree.end() as usize;
    match incast.fewest_candidates() {
        Some((candidates, receiver)) if candidates < most => {
            let name = scope.ctx.names.node_name(receiver);
            let error = table
                .error("degree", format!("`degree` asks for {most} senders, and `{name}` has {candidates}"))
                .label("more than there are `sources` for a destination");
            Err(if incast.other_racks { error.help("`avoid_same_rack` leaves out hosts of its switch") } else { error })
        }
        _ => Ok(()),
    }
}
