//! Whether ACKs come often enough for the windows of schemes.

use super::RoundTrips;
use crate::number::bytes;
use crate::{Loaded, catalogue};
use serde::Serialize;
use xoff_engine::{BitRate, Span};
use xoff_fabric::ack_rule::{AckRule, share_of_line};
use xoff_fabric::plan::{HostSettings, NicScheduler};
use xoff_fabric::scheme::{FlowFacts, Transport};

/// A smaller share than this gives a warning.
const SHORT: f64 = 0.98;

/// A scheme with a window at hosts where one ACK covers several packets.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct AckRow {
    pub(crate) scheme: String,
    /// Payload that its scheme lets be in the network when a flow starts, between the two hosts nearest to each other.
    pub(crate) window_bytes: u64,
    pub(crate) ack_every: u32,
    /// Packets that one ACK covers while the window is as wide.
    pub(crate) packets_per_ack: u32,
    pub(crate) bytes_per_ack: u64,
    /// Share of the throughput of the same window with an ACK for each packet, alone on its path.
    pub(crate) share_of_line: f64,
}

/// A row for each scheme with a window and kind of host with `ack_every` above 1.
pub(crate) fn rows(loaded: &Loaded, trips: Option<&RoundTrips>) -> Vec<AckRow> {
    let Some(trips) = trips else { return Vec::new() };
    let mut rows: Vec<AckRow> = Vec::new();
    for scheme in &loaded.schemes {
        let [format, _] = catalogue::formats(&scheme.values);
        if format.transport == Transport::Tcp {
            continue;
        }
        for host in loaded.plan.hosts.iter().filter(|host| host.ack_every > 1) {
            let facts = facts(host, trips);
            let window = catalogue::first_limits(&scheme.values, &facts).map(|limits| limits.window_bytes);
            let Some(window_bytes) = window.filter(|window| *window < u64::MAX) else { continue };
            let row = row(&scheme.label, host, window_bytes);
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    rows
}

fn facts(host: &HostSettings, trips: &RoundTrips) -> FlowFacts {
    let span = |us: f64| Span::from_ps((us * 1e6) as u64);
    let line_rate = BitRate::from_bps(trips.line_bps);
    let wire_bytes = host.mtu_bytes + host.sizes.data_header_bytes + host.sizes.gap_bytes;
    FlowFacts {
        max_base_rtt: span(trips.max_us),
        mtu_bytes: host.mtu_bytes,
        mtu_wire_bytes: wire_bytes,
        ..FlowFacts::at(line_rate, span(trips.min_us))
    }
}

fn row(scheme: &str, host: &HostSettings, window_bytes: u64) -> AckRow {
    let (every, mtu) = (host.ack_every, host.mtu_bytes);
    // NICs that scan have the rules of other simulators: one ACK in so many packets, and the window as it is.
    let (packets_per_ack, share_of_line) = match host.nic.scheduler {
        NicScheduler::Ready => (AckRule::new(Transport::Roce, every, window_bytes, mtu).every, 1.0),
        NicScheduler::Scan { .. } => (every, share_of_line(every, window_bytes, mtu)),
    };
    AckRow {
        scheme: scheme.to_owned(),
        window_bytes,
        ack_every: every,
        packets_per_ack,
        bytes_per_ack: u64::from(packets_per_ack) * u64::from(mtu),
        share_of_line,
    }
}

/// What is to be said of windows that ACKs leave short.
pub(crate) fn warnings(rows: &[AckRow]) -> impl Iterator<Item = String> {
    rows.iter().filter(|row| row.share_of_line < SHORT).map(|row| {
        let mtu = row.bytes_per_ack / u64::from(row.packets_per_ack);
        let most = 1 + (row.window_bytes as f64 * (1.0 / SHORT - 1.0) / mtu as f64) as u64;
        format!(
            "{}: one ACK for {} packets ({}) leaves a window of {} at most {:.0} % of its line, since what has arrived \
             without an ACK counts as in flight; `[host] ack_every = {most}` leaves {:.0} %",
            row.scheme,
            row.packets_per_ack,
            bytes(row.bytes_per_ack),
            bytes(row.window_bytes),
            row.share_of_line * 100.0,
            share_of_line(most as u32, row.window_bytes, mtu as u32) * 100.0
        )
    })
}
