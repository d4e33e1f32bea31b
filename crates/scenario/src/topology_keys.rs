//! Counts, rates and delays as topologies of all kinds have them.

use super::reader::{Result, Table};
use xoff_engine::{BitRate, Span};
use xoff_fabric::topology::LinkSpec;

/// Larger networks are a slip of the keyboard.
pub const NODES_LARGEST: u64 = 1_000_000;
const LINKS_LARGEST: u64 = 4_000_000;
const DELAY_LARGEST: Span = Span::from_ms(10_000);

pub fn count(table: &mut Table, key: &str) -> Result<u32> {
    Ok(table.count(key, 1..=NODES_LARGEST)? as u32)
}

pub fn parallel(table: &mut Table, key: &str) -> Result<u32> {
    Ok(table.count(key, 1..=1024)? as u32)
}

/// Propagation, at most [`DELAY_LARGEST`].
pub fn in_reach(table: &Table, key: &str, delay: Span) -> Result<Span> {
    if delay > DELAY_LARGEST {
        return Err(table
            .error(key, format!("`{key}` is no delay of a wire"))
            .label(format!("at most {DELAY_LARGEST}")));
    }
    Ok(delay)
}

/// No Ethernet is slower, and the time a large flow takes must fit the clock.
const RATE_SLOWEST: BitRate = BitRate::from_bps(1_000_000);

/// The rate of a link, at least `RATE_SLOWEST`.
pub fn link_rate(table: &Table, key: &str, rate: BitRate) -> Result<BitRate> {
    if rate < RATE_SLOWEST {
        let error = table.error(key, format!("`{key}` is too slow for a link"));
        return Err(error.label(format!("at least {RATE_SLOWEST}")));
    }
    Ok(rate)
}

/// A link whose rate must be given, or has a default of its own.
pub fn link_spec(table: &mut Table, rate: &str, delay: &str) -> Result<LinkSpec> {
    let given = (table.rate(rate)?, table.span(delay)?);
    Ok(LinkSpec { rate: link_rate(table, rate, given.0)?, delay: in_reach(table, delay, given.1)? })
}

/// A link that is like another unless told otherwise.
pub fn link_spec_or(table: &mut Table, rate: &str, delay: &str, like: LinkSpec) -> Result<LinkSpec> {
    let given = (table.rate_or(rate, like.rate)?, table.span_or(delay, like.delay)?);
    Ok(LinkSpec { rate: link_rate(table, rate, given.0)?, delay: in_reach(table, delay, given.1)? })
}

/// Refuses to build more than a machine can hold; sums in 64 bits before any is built.
pub fn within(table: &Table, nodes: &[u64], links: &[u64]) -> Result<()> {
    let sum = |parts: &[u64]| parts.iter().fold(0u64, |sum, part| sum.saturating_add(*part));
    for (what, total, largest) in [("nodes", sum(nodes), NODES_LARGEST), ("links", sum(links), LINKS_LARGEST)] {
        if total > largest {
            return Err(table
                .place()
                .error(format!("this topology would have {total} {what}"))
                .label(format!("at most {largest}")));
        }
    }
    Ok(())
}

pub fn times(factors: &[u32]) -> u64 {
    factors.iter().fold(1u64, |product, factor| product.saturating_mul(u64::from(*factor)))
}
