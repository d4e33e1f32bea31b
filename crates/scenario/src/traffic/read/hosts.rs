//! Selecting hosts and pairing them.

use super::{MOST_FLOWS, Scope};
use crate::Table;
use crate::reader::Result;
use crate::traffic::batch::Pairs;
use crate::traffic::choose::{Lonely, Receivers};
use xoff_fabric::servers::NIC_LAYER;

/// The hosts that `key` selects, all if it is left out.
pub fn hosts(table: &mut Table, scope: &Scope<'_>, key: &str) -> Result<Vec<u32>> {
    let hosts = match table.take_texts(key)? {
        Some(selectors) => scope.ctx.names.hosts(&selectors)?,
        None => {
            // GPUs are hosts too, but speak only within their server.
            table.record(key, if scope.ctx.servers.has_scale_up() { NIC_LAYER } else { "*" });
            scope.ctx.names.all_hosts()
        }
    };
    if hosts.is_empty() { Err(table.error(key, format!("`{key}` selects no host"))) } else { Ok(hosts) }
}

/// The hosts that `key` selects; it must be given.
pub fn given_hosts(table: &mut Table, scope: &Scope<'_>, key: &str) -> Result<Vec<u32>> {
    let selectors = table.texts(key)?;
    scope.ctx.names.hosts(&selectors)
}

/// A sender that can reach nobody is the fault of `key`.
pub fn lonely(
    table: &Table,
    scope: &Scope<'_>,
    key: &str,
    other_racks: bool,
    Lonely(host): Lonely,
) -> crate::Diagnostic {
    let name = scope.ctx.names.node_name(host);
    let error = table.error(key, format!("`{name}` has nobody to send to"));
    if other_racks {
        error.label(format!("no host here is on another switch than `{name}`")).help("see `avoid_same_rack`")
    } else {
        error.label(format!("selects no host but `{name}` itself"))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Pairing {
    OneToOne,
    All,
    Random,
}

/// `sources`, `destinations` and `pairing`, which may be random.
pub fn pairs(table: &mut Table, scope: &Scope<'_>) -> Result<Pairs> {
    let (sources, destinations) = (given_hosts(table, scope, "sources")?, given_hosts(table, scope, "destinations")?);
    let choices = [("one-to-one", Pairing::OneToOne), ("all", Pairing::All), ("random", Pairing::Random)];
    match table.choice_or("pairing", &choices, "one-to-one")? {
        Pairing::OneToOne => Ok(Pairs::Given(one_to_one(table, scope, &sources, &destinations)?.into())),
        Pairing::All => Ok(Pairs::Given(all(table, &sources, &destinations)?.into())),
        Pairing::Random => {
            let receivers = Receivers::new(&sources, &destinations, &scope.wiring, false)
                .map_err(|host| lonely(table, scope, "destinations", false, host))?;
            Ok(Pairs::Drawn { senders: sources.into(), receivers })
        }
    }
}

/// `sources`, `destinations` and `pairing`, which leaves nothing to chance.
pub fn fixed_pairs(table: &mut Table, scope: &Scope<'_>) -> Result<Vec<(u32, u32)>> {
    let (sources, destinations) = (given_hosts(table, scope, "sources")?, given_hosts(table, scope, "destinations")?);
    if table.choice_or("pairing", &[("one-to-one", false), ("all", true)], "one-to-one")? {
        all(table, &sources, &destinations)
    } else {
        one_to_one(table, scope, &sources, &destinations)
    }
}

/// Every source with every destination but itself.
fn all(table: &Table, sources: &[u32], destinations: &[u32]) -> Result<Vec<(u32, u32)>> {
    if sources.len() as u64 * destinations.len() as u64 > MOST_FLOWS {
        return Err(table.error("pairing", format!("these are more than {MOST_FLOWS} pairs")));
    }
    let each = sources.iter().flat_map(|src| destinations.iter().map(|dst| (*src, *dst)));
    let pairs: Vec<(u32, u32)> = each.filter(|(src, dst)| src != dst).collect();
    if pairs.is_empty() {
        return Err(table.error("destinations", "no sender has anybody else to send to"));
    }
    Ok(pairs)
}

/// First to first, second to second; a lone host on one side meets all of the other.
pub fn one_to_one(table: &Table, scope: &Scope<'_>, sources: &[u32], destinations: &[u32]) -> Result<Vec<(u32, u32)>> {
    let pairs: Vec<(u32, u32)> = match (sources, destinations) {
        ([src], all) => all.iter().map(|dst| (*src, *dst)).collect(),
        (all, [dst]) => all.iter().map(|src| (*src, *dst)).collect(),
        (a, b) if a.len() == b.len() => a.iter().copied().zip(b.iter().copied()).collect(),
        (a, b) => {
            return Err(table
                .error("destinations", "`sources` and `destinations` do not pair up")
                .label(format!("{} sources and {} destinations", a.len(), b.len()))
                .help("select as many of either, or set `pairing`"));
        }
    };
    match pairs.iter().find(|(src, dst)| src == dst) {
        Some((host, _)) => Err(table
            .error("destinations", format!("`{}` would send to itself", scope.ctx.names.node_name(*host)))
            .label("sources and destinations are paired in order")),
        None => Ok(pairs),
    }
}

/// Senders and receivers of pairs, to check a pinned path against.
pub fn ends(pairs: &Pairs) -> (Vec<u32>, Vec<u32>) {
    match pairs {
        Pairs::Given(pairs) => pairs.iter().copied().unzip(),
        Pairs::Drawn { senders, receivers } => (senders.to_vec(), receivers.hosts().to_vec()),
        Pairs::Permutation(hosts) => (hosts.to_vec(), hosts.to_vec()),
    }
}
