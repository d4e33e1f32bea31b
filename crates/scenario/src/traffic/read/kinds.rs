//! Kinds whose flows are known beforehand or follow from what happens: batches, rounds, bursts,
//! closed loops.

use super::hosts::{ends, fixed_pairs, given_hosts, hosts, pairs};
use super::pending::Offer;
use super::settings::{Settings, caps};
use super::sizes::{sizes, take_sizes};
use super::wire_bytes::WireBytes;
use super::{MOST_FLOWS, ReadGenerator, Scope, numbered};
use crate::Table;
use crate::reader::Result;
use crate::traffic::all_to_all::AllToAll;
use crate::traffic::batch::{Batch, Pairs};
use crate::traffic::flow::staggered;
use crate::traffic::on_off::{OnOff, Pace};
use crate::traffic::plan::{Expected, Generator};
use crate::traffic::reads::{Connections, Reads};
use crate::traffic::sizes::Sizes;
use std::sync::Arc;
use xoff_engine::{BitRate, Span, Time};

pub fn long_lived(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let pairs = pairs(table, scope)?;
    let size = take_sizes(table, "size")?;
    batch(table, scope, settings, pairs, size, true)
}

pub fn burst(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let pairs = pairs(table, scope)?;
    let size = sizes(table, "size")?;
    batch(table, scope, settings, pairs, Some(size), false)
}

pub fn permutation(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let hosts = hosts(table, scope, "hosts")?;
    if hosts.len() < 2 {
        return Err(table.error("hosts", "a permutation needs at least two hosts"));
    }
    let size = take_sizes(table, "size")?;
    batch(table, scope, settings, Pairs::Permutation(hosts.into()), size, false)
}

fn batch(
    table: &mut Table,
    scope: &Scope<'_>,
    settings: &Settings,
    pairs: Pairs,
    sizes: Option<Sizes>,
    labelled: bool,
) -> Result<ReadGenerator> {
    let flows_per_pair = table.count("flows_per_pair", 1..=1_000_000)? as u32;
    let count = pairs.count() as u64 * u64::from(flows_per_pair);
    if count > MOST_FLOWS {
        return Err(table.error("flows_per_pair", format!("{count} flows are more than {MOST_FLOWS}")));
    }
    if let Some(path) = &settings.path {
        let (senders, receivers) = ends(&pairs);
        path.check(scope, &senders, &receivers)?;
    }
    let stagger = table.span("stagger")?;
    // A flow of a size ends by itself; only an endless one can be stopped.
    let stop = if sizes.is_none() { stop(table, settings.start)? } else { None };
    check_stagger(table, settings.start, stagger, count, stop)?;
    let batch = Batch {
        pairs,
        flows_per_pair,
        start: settings.start,
        stagger,
        stop,
        caps: caps(table)?,
        template: settings.template.clone(),
        labelled,
        sizes,
    };
    let expected = Expected {
        flows: Some(count as f64),
        bytes: batch.sizes.as_ref().map(|sizes| sizes.mean() * count as f64),
        load: None,
        finite: batch.sizes.is_some() || stop.is_some(),
    };
    let labels = if labelled { numbered(&settings.name, count) } else { vec![settings.name.clone()] };
    Ok(ReadGenerator { generator: Generator::Batch(batch), labels, expected })
}

/// `stop`, which must come after the start.
pub fn stop(table: &mut Table, start: Time) -> Result<Option<Time>> {
    after(table, "stop", start)
}

/// `until`, which must come after the start.
pub fn until(table: &mut Table, start: Time) -> Result<Option<Time>> {
    after(table, "until", start)
}

fn after(table: &mut Table, key: &str, start: Time) -> Result<Option<Time>> {
    match table.take_time(key)? {
        Some(at) if at <= start => {
            Err(table.error(key, format!("`{key}` is not after `start`")).label(format!("`start` is {start}")))
        }
        at => Ok(at),
    }
}

/// The last flow must start before all are stopped, and within the clock.
fn check_stagger(table: &Table, start: Time, stagger: Span, count: u64, stop: Option<Time>) -> Result<()> {
    let last = staggered(start, stagger, count.saturating_sub(1));
    match stop {
        Some(stop) if last >= stop => Err(table
            .error("stagger", "some flows would start after `stop`")
            .label(format!("the last would start at {last}, and `stop` is {stop}"))),
        _ if last == Time::NEVER => Err(table.error("stagger", "the last flow would start after the end of time")),
        _ => Ok(()),
    }
}

pub fn all_to_all(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let hosts = hosts(table, scope, "hosts")?;
    if hosts.len() < 2 {
        return Err(table.error("hosts", "all to all needs at least two hosts"));
    }
    if let Some(path) = &settings.path {
        path.check(scope, &hosts, &hosts)?;
    }
    let all = AllToAll {
        hosts: hosts.into(),
        sizes: sizes(table, "sizes")?,
        start: settings.start,
        stagger: table.span("stagger")?,
        shuffled: table.flag("shuffle")?,
        template: settings.template.clone(),
    };
    let flows = all.flows();
    check_stagger(table, all.start, all.stagger, all.hosts.len() as u64 - 1, None)?;
    if all.stagger == Span::ZERO && flows > MOST_FLOWS {
        return Err(table
            .error("hosts", format!("{flows} flows would start at once, more than {MOST_FLOWS}"))
            .help("spread the rounds with `stagger`"));
    }
    if all.stagger > Span::ZERO {
        let wire_bytes = WireBytes { scheme: settings.template.scheme, senders: &all.hosts, receivers: &all.hosts };
        let flows_per_second = all.hosts.len() as f64 / all.stagger.as_s();
        let offer = Offer { sizes: &all.sizes, wire_bytes, flows_per_second, flows: Some(flows as f64) };
        offer.check(table, scope, "stagger")?;
    }
    let bytes = all.sizes.mean() * flows as f64;
    let expected = Expected { flows: Some(flows as f64), bytes: Some(bytes), load: None, finite: true };
    Ok(ReadGenerator { generator: Generator::AllToAll(all), labels: vec![settings.name.clone()], expected })
}

pub fn on_off(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let pairs: Arc<[(u32, u32)]> = fixed_pairs(table, scope)?.into();
    if let Some(path) = &settings.path {
        let (senders, receivers): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
        path.check(scope, &senders, &receivers)?;
    }
    let bursts = sizes(table, "burst")?;
    let cap = settings.template.rate_cap.unwrap_or(BitRate::from_bps(u64::MAX));
    let peak: Arc<[BitRate]> = pairs.iter().map(|(src, _)| scope.wiring.rate(*src).min(cap)).collect();
    let pace = match (table.take_rate("rate")?, table.take_span("off")?) {
        (Some(rate), None) => {
            if let Some(rank) = peak.iter().position(|peak| rate > *peak) {
                let sender = scope.ctx.names.node_name(pairs[rank].0);
                return Err(table
                    .error("rate", format!("`{sender}` cannot send that fast"))
                    .label(format!("at most {}", peak[rank])));
            }
            Pace::Rate(rate)
        }
        (None, Some(silence)) => Pace::Off { silence, peak },
        (Some(_), Some(_)) => {
            return Err(table.error("off", "`rate` and `off` both set the pace").label("give one of them"));
        }
        (None, None) => {
            return Err(table.place().error("on-off traffic lacks its pace").label("give `rate` or `off`"));
        }
    };
    let exponential = table.is("gaps", "exponential")?;
    let stagger = table.span("stagger")?;
    let stop = stop(table, settings.start)?;
    check_stagger(table, settings.start, stagger, pairs.len() as u64, stop)?;
    let (start, template) = (settings.start, settings.template.clone());
    let on_off = OnOff { pairs, bursts, pace, exponential, start, stagger, stop, template };

    let offered: f64 = (0..on_off.pairs.len()).map(|pair| on_off.mean_rate_bps(pair)).sum();
    let end = stop.unwrap_or(Time::NEVER).min(scope.ctx.plan.run.stop);
    let mut senders: Vec<u32> = on_off.pairs.iter().map(|pair| pair.0).collect();
    senders.sort_unstable();
    senders.dedup();
    let count = on_off.pairs.len() as u64;
    let expected = Expected {
        flows: Some(count as f64),
        bytes: (end < Time::NEVER).then(|| offered / 8.0 * end.saturating_since(start).as_s()),
        load: Some(offered / scope.wiring.total_bps(&senders)),
        finite: stop.is_some(),
    };
    Ok(ReadGenerator { generator: Generator::OnOff(on_off), labels: numbered(&settings.name, count), expected })
}

pub fn reads(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let clients = given_hosts(table, scope, "clients")?;
    let servers = given_hosts(table, scope, "servers")?;
    if clients.len() as u64 * servers.len() as u64 > MOST_FLOWS {
        return Err(table.error("servers", format!("more than {MOST_FLOWS} flows would start at once")));
    }
    if let Some(client) = clients.iter().find(|client| servers.iter().all(|server| server == *client)) {
        let name = scope.ctx.names.node_name(*client);
        return Err(table.error("servers", format!("`{name}` has no server but itself")));
    }
    if let Some(path) = &settings.path {
        path.check(scope, &servers, &clients)?;
    }
    let persistent = table.is("connections", "persistent")?;
    let plan = scope.ctx.plan;
    let mtu_bytes = |host: &u32| plan.hosts[usize::from(plan.nodes[*host as usize].profile)].mtu_bytes;
    let reads = Reads {
        units: sizes(table, "unit")?,
        connections: match persistent {
            true => Connections::Persistent { packets: servers.iter().map(mtu_bytes).collect() },
            false => Connections::Fresh,
        },
        blocks: table.take_count("blocks", 1..=u64::MAX)?,
        start: settings.start,
        until: until(table, settings.start)?,
        request_delay: table.span("request_delay")?,
        template: settings.template.clone(),
        clients: clients.into(),
        servers: servers.into(),
    };
    let per_round: usize =
        reads.clients.iter().map(|client| reads.servers.iter().filter(|server| *server != client).count()).sum();
    let units = reads.blocks.filter(|_| reads.until.is_none()).map(|blocks| blocks as f64 * per_round as f64);
    let expected = Expected {
        flows: if persistent { Some(per_round as f64) } else { units },
        bytes: units.map(|units| units * reads.units.mean()),
        load: None,
        finite: reads.blocks.is_some() || reads.until.is_some(),
    };
    Ok(ReadGenerator { generator: Generator::Reads(reads), labels: vec![settings.name.clone()], expected })
}
