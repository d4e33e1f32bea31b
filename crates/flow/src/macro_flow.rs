//! Macro-flows: how long the messages of many connections take that send at one rate.
//!
//! With slices of `w` bytes, of which `d` may be on their way, `N` slices of a connection take
//! `N * max(tau, A / d)` plus what is left when the last has gone: `tau` is the time of a slice on the wire at the
//! rate that the macro-flow gets, `A` the time from the start of a slice to that of the slice that waits for it, its
//! serialisation and latency, on a ring in the mean of all connections. The first part is what the macro-flow sends
//! at its rate, which `A` limits; the second is its latency.

use xoff_fabric::traffic::{MacroFlow, MacroPart, Pace};

/// Connections of a macro-flow as its messages find them, for slices of one length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slices {
    /// From the start of a slice to that of the next that waits for it, in picoseconds: mean over all, and the most.
    pub mean_ps: f64,
    pub most_ps: f64,
    /// Sum along the path that messages pass.
    pub path_ps: f64,
    /// Serialisation of a slice where that takes longest.
    pub tau_ps: f64,
    /// Part of `mean_ps` that the sender's knowledge takes, after delivery.
    pub back_ps: f64,
    /// Wire bytes of a slice, and of the last slice of a chunk.
    pub wire: f64,
    pub last_wire: f64,
}

/// What a macro-flow sends as one message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Whole {
    /// Wire bytes of a connection with a share of one.
    pub wire: f64,
    /// The most that slices on their way allow, in bit/s of such a connection.
    pub limit_bps: f64,
    /// From the end of sending to delivery.
    pub latency_ps: u64,
}

/// State of a macro-flow besides that of its queue pair.
pub(crate) struct Together {
    pub flow: Box<MacroFlow>,
    pub whole: Whole,
    /// Ports of ACKs, and bits of ACKs there per bit of data.
    pub acks: Vec<(u32, f64)>,
    /// Sum of the shares of all connections.
    pub shares: f64,
}

/// Puts the parts of a macro-flow together.
pub(crate) fn whole(parts: &[(MacroPart, Slices)], pace: &Pace) -> Whole {
    let (mut wire, mut least_ps, mut latency_ps, mut last_ps) = (0.0, 0.0, 0.0, 0.0_f64);
    for (place, (part, slices)) in parts.iter().enumerate() {
        let count = part.chunk_bytes.div_ceil(part.slice_bytes.max(1)).max(1);
        let of_chunk = (count - 1) as f64 * slices.wire + slices.last_wire;
        let (times, chunks) = (part.times as f64, part.chunks as f64);
        wire += times * chunks * of_chunk;
        let (messages, depth) = (part.chunks * count, u64::from(part.depth));
        let around = if *pace == Pace::Ring { slices.mean_ps } else { slices.most_ps };
        let sending = chunks * of_chunk / slices.wire * slices.tau_ps;
        let waits = depth > 0 && messages > depth && depth as f64 * slices.tau_ps < around;
        let least = if waits { sending.max(messages as f64 * around / depth as f64) } else { sending };
        least_ps += times * least;
        let after = match pace {
            Pace::Ring if waits => {
                let (rounds, rest) = ((messages - 1) / depth, (messages - 1) % depth);
                rounds as f64 * around + rest as f64 * slices.tau_ps + around - least
            }
            Pace::Ring => around - slices.tau_ps,
            Pace::Path(_) => slices.path_ps - slices.tau_ps,
            Pace::Free => slices.most_ps - slices.tau_ps,
        };
        match pace {
            Pace::Ring => latency_ps += times * after,
            // Parts follow each other without a gap.
            Pace::Path(_) | Pace::Free => last_ps = last_ps.max(after),
        }
        if place + 1 == parts.len() {
            latency_ps -= slices.back_ps;
        }
    }
    Whole {
        wire,
        limit_bps: if least_ps > 0.0 { wire * 8e12 / least_ps } else { f64::INFINITY },
        latency_ps: (latency_ps + last_ps).max(0.0).round() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When the last slice of a ring has arrived, slice by slice.
    fn by_slices(messages: usize, depth: usize, tau: f64, latency: f64) -> f64 {
        let mut starts = Vec::new();
        for message in 0..messages {
            let after = if message > 0 { starts[message - 1] + tau } else { 0.0_f64 };
            let waits = if message >= depth { starts[message - depth] + tau + latency } else { 0.0 };
            starts.push(after.max(waits));
        }
        starts[messages - 1] + tau + latency
    }

    #[test]
    fn a_ring_takes_as_long_as_its_slices() {
        let (tau, wire) = (1000.0, 125.0);
        for (latency, slices, steps) in [100.0, 900.0, 1000.0, 5000.0]
            .into_iter()
            .flat_map(|latency| (1..=8_u64).map(move |slices| (latency, slices)))
            .flat_map(|(latency, slices)| [1, 2, 13, 126].map(|steps| (latency, slices, steps)))
        {
            let around = tau + latency;
            let of = Slices {
                mean_ps: around,
                most_ps: around,
                path_ps: 0.0,
                tau_ps: tau,
                back_ps: 0.0,
                wire,
                last_wire: wire,
            };
            let part = MacroPart { times: 3, chunks: steps, chunk_bytes: slices, slice_bytes: 1, depth: slices as u32 };
            let whole = whole(&[(part, of)], &Pace::Ring);
            let took = whole.wire * 8e12 / whole.limit_bps + whole.latency_ps as f64;
            let form = 3.0 * by_slices((steps * slices) as usize, slices as usize, tau, latency);
            assert!((took - form).abs() < 1.0, "{latency} {slices} {steps}: {took} of {form}");
            assert!(whole.limit_bps <= wire * 8e12 / tau * (1.0 + 1e-12), "no faster than the wire");
        }
    }
}
