//! Whether links can carry what a generator offers, or its flows pile up.

use super::wire_bytes::WireBytes;
use super::{MOST_FLOWS, Scope};
use crate::Table;
use crate::number::thousands;
use crate::reader::Result;
use crate::traffic::sizes::Sizes;

/// Flows that arrive at a rate of their own, whether or not earlier ones are done.
pub struct Offer<'a> {
    pub sizes: &'a Sizes,
    pub wire_bytes: WireBytes<'a>,
    pub flows_per_second: f64,
    /// In all, where that can be told.
    pub flows: Option<f64>,
}

impl Offer<'_> {
    /// Refuses what would leave more flows waiting than a generator may hold: all that the links of the
    /// hosts, at one end or the other, cannot carry while they arrive. `key` is where the pace is set.
    pub fn check(&self, table: &Table, scope: &Scope<'_>, key: &str) -> Result<()> {
        let bps = [self.wire_bytes.senders, self.wire_bytes.receivers].map(|hosts| scope.wiring.total_bps(hosts));
        let offered_bps = self.flows_per_second * self.wire_bytes.of_a_flow(scope, self.sizes) * 8.0;
        let load = offered_bps / bps[0].min(bps[1]);
        let waiting = self.flows.unwrap_or(f64::INFINITY) * (1.0 - 1.0 / load);
        if load <= 1.0 || waiting <= MOST_FLOWS as f64 {
            return Ok(());
        }
        let count = if waiting < 1e18 { thousands(waiting as u64) } else { "endlessly many".to_owned() };
        Err(table
            .error(key, format!("{count} flows would be left waiting"))
            .label(format!("offers {load:.1} times what the links of the hosts carry, headers included"))
            .help(format!("at most {} flows of a [[traffic]] may wait", thousands(MOST_FLOWS))))
    }
}
