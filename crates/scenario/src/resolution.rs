//! What `[model] time_resolution` does to links: times that are cut to whole nanoseconds make them faster.

use super::diagnostic::{Diagnostic, Place};
use std::collections::BTreeSet;
use xoff_engine::{BitRate, LinkRate, TimeResolution};
use xoff_fabric::plan::{FrameSizes, Plan};
use xoff_fabric::scheme::{Format, Transport};

/// Full packets may be this much faster than the link; a link that carries more is another link.
const FASTER_LARGEST: f64 = 0.1;
/// Less than this is told to nobody.
const FASTER_TOLD: f64 = 0.01;

/// A kind of frame on the fastest link, in the resolution and exactly.
struct Cut {
    what: &'static str,
    wire_bytes: u32,
    exact_ps: u64,
    cut_ps: u64,
}

impl Cut {
    /// How much more than its rate a link carries in such frames; infinite where they take no time.
    fn faster(&self) -> f64 {
        self.exact_ps as f64 / self.cut_ps as f64 - 1.0
    }

    fn text(&self) -> String {
        let exact = self.exact_ps as f64 / 1e3;
        match self.cut_ps {
            0 => format!("{} of {} B take no time instead of {exact:.2} ns", self.what, self.wire_bytes),
            ps => format!(
                "{} of {} B take {} ns instead of {exact:.2} and are {:.1} % too fast",
                self.what,
                self.wire_bytes,
                ps / 1_000,
                self.faster() * 100.0
            ),
        }
    }
}

/// Refuses a resolution in which a stream of full packets or of ACKs would take no time, or full packets so
/// much less than they should that the link is not the one that the scenario describes; warns of a resolution
/// that can be noticed. Short frames that are rare (the rest of a flow, PFC) are only told of.
pub fn check(
    plan: &Plan,
    formats: &[[Format; 2]],
    place: &Place,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(), Diagnostic> {
    if plan.model.resolution == TimeResolution::Exact {
        return Ok(());
    }
    let rates: BTreeSet<BitRate> = (0..plan.ports() as u32).map(|port| plan.fastest(port).rate).collect();
    let (mut worst, mut worst_rate): (Option<[Cut; 2]>, BitRate) = (None, BitRate::default());
    for &rate in rates.iter().rev() {
        let (full, acks, shortest) = frames(plan, formats);
        let cut = |(what, wire_bytes): (&'static str, u32)| Cut {
            what,
            wire_bytes,
            exact_ps: LinkRate::new(rate).serialise(wire_bytes).ps(),
            cut_ps: LinkRate::with_resolution(rate, plan.model.resolution).serialise(wire_bytes).ps(),
        };
        let full = full.into_iter().map(|bytes| cut(("full packets", bytes)));
        let full = full.max_by(|a, b| a.faster().total_cmp(&b.faster()));
        for steady in full.iter().chain(&[cut(("ACKs", acks))]) {
            if steady.cut_ps == 0 || (steady.what != "ACKs" && steady.faster() > FASTER_LARGEST) {
                let error = place.error(format!("this resolution is too coarse for links of {rate}"));
                return Err(error
                    .label(steady.text())
                    .help("leave `time_resolution` out: picoseconds are exact at every usual rate"));
            }
        }
        let both = full.map(|full| [full, cut(shortest)]);
        if both.as_ref().map(noticed) > worst.as_ref().map(noticed) {
            (worst, worst_rate) = (both, rate);
        }
    }
    if let Some([full, shortest]) = worst.filter(|cuts| noticed(cuts) >= FASTER_TOLD) {
        let more = full.faster() * 100.0;
        let message = format!("links of {worst_rate} carry {more:.1} % more than their rate in full packets");
        warnings.push(place.error(message).label(format!("{}; {}", full.text(), shortest.text())));
    }
    Ok(())
}

/// Full packets are most of what links carry; short frames may be ten times as wrong before it shows.
fn noticed([full, shortest]: &[Cut; 2]) -> f64 {
    full.faster().max(shortest.faster() / 10.0)
}

/// On the wire: full packets of every kind of host and scheme, the shortest ACK, and the shortest frame.
fn frames(plan: &Plan, formats: &[[Format; 2]]) -> (BTreeSet<u32>, u32, (&'static str, u32)) {
    let sizes = plan.hosts.first().map_or(FrameSizes::ROCE_V2, |host| host.sizes);
    let headers = |format: &Format| match format.transport {
        Transport::Roce => (sizes.data_header_bytes + format.data_bytes, sizes.ack_bytes + format.ack_bytes),
        Transport::Tcp => (sizes.tcp_header_bytes + format.data_bytes, sizes.tcp_ack_bytes + format.ack_bytes),
    };
    let all: BTreeSet<(u32, u32)> = formats.iter().flatten().map(headers).collect();
    let gap = sizes.gap_bytes;
    let full =
        plan.hosts.iter().flat_map(|host| all.iter().map(move |(data, _)| host.mtu_bytes + data + gap)).collect();
    let acks = all.iter().map(|(_, ack)| ack + gap).min().unwrap_or(sizes.ack_bytes + gap);
    let rest = all.iter().map(|(data, _)| (data + 1).max(sizes.min_frame_bytes) + gap).min();
    let others = [
        ("packets with the last byte of a flow", rest.unwrap_or(acks)),
        ("PFC frames", sizes.pfc_bytes + gap),
        ("ACKs", acks),
    ];
    (full, acks, others.into_iter().min_by_key(|(_, bytes)| *bytes).unwrap_or(("ACKs", acks)))
}
