//! What a flow takes on the wire: its bytes, and the headers and gaps of all its packets.

use super::Scope;
use crate::traffic::sizes::Sizes;
use std::collections::BTreeMap;
use xoff_fabric::scheme::{Format, Transport};

/// The flows of a generator, as far as their headers depend on it.
pub struct WireBytes<'a> {
    /// The slot of the scheme that they are under.
    pub scheme: u8,
    pub senders: &'a [u32],
    pub receivers: &'a [u32],
}

impl WireBytes<'_> {
    /// In the mean over the senders, by the rates of their links, as arrivals choose them. A scheme may
    /// add other headers between domains, so pairs of domains count as often as there are hosts in them.
    pub fn of_a_flow(&self, scope: &Scope<'_>, sizes: &Sizes) -> f64 {
        let [within, inter_domain] = scope.ctx.formats[usize::from(self.scheme)];
        let inter_domain_share = self.inter_domain_share(scope);
        let mean = |host: u32| {
            let header = |format| f64::from(header_bytes(scope, host, &format));
            let header = header(within) * (1.0 - inter_domain_share) + header(inter_domain) * inter_domain_share;
            sizes.mean_packets(settings(scope, host).mtu_bytes) * header
        };
        // Hosts of a profile are alike, and the packets of a distribution may take thousands of terms.
        let mut rates: BTreeMap<u16, (u32, f64)> = BTreeMap::new();
        for &host in self.senders {
            let of_profile = rates.entry(scope.ctx.plan.nodes[host as usize].profile).or_insert((host, 0.0));
            of_profile.1 += scope.wiring.rate(host).bps() as f64;
        }
        let all: f64 = rates.values().map(|(_, bps)| bps).sum();
        sizes.mean() + rates.values().map(|(host, bps)| mean(*host) * bps / all).sum::<f64>()
    }

    /// The part of the pairs of hosts that are in two domains.
    fn inter_domain_share(&self, scope: &Scope<'_>) -> f64 {
        let mut hosts: BTreeMap<_, [f64; 2]> = BTreeMap::new();
        for (side, list) in [self.senders, self.receivers].into_iter().enumerate() {
            for host in list {
                hosts.entry(scope.ctx.plan.nodes[*host as usize].domain).or_default()[side] += 1.0;
            }
        }
        let within: f64 = hosts.values().map(|[senders, receivers]| senders * receivers).sum();
        1.0 - within / (self.senders.len() as f64 * self.receivers.len() as f64)
    }
}

fn settings<'a>(scope: &'a Scope<'_>, host: u32) -> &'a xoff_fabric::plan::HostSettings {
    let plan = scope.ctx.plan;
    &plan.hosts[usize::from(plan.nodes[host as usize].profile)]
}

/// Of one packet: the transport's header, what the scheme adds, and the gap.
fn header_bytes(scope: &Scope<'_>, host: u32, format: &Format) -> u32 {
    let sizes = &settings(scope, host).sizes;
    let own = match format.transport {
        Transport::Roce => sizes.data_header_bytes,
        Transport::Tcp => sizes.tcp_header_bytes,
    };
    own + format.data_bytes + sizes.gap_bytes
}
