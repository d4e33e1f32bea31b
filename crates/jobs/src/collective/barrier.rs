//! Barrier by dissemination: in round k every rank sends what it has received to the one 2^k further.

use super::layer::{Layer, Piece};
use super::options::Options;
use super::size::Sends;
use crate::dag::OpId;

/// A message of a barrier says that its sender has come.
const BYTES: u64 = 8;

/// A barrier; `begins` and `ends` by member.
pub(super) fn generate(layer: &mut Layer, bytes: u64, begins: &[OpId], ends: &mut [Vec<OpId>]) {
    let n = layer.members.len();
    let bytes = if bytes == 0 { BYTES } else { bytes };
    let mut received = begins.to_vec();
    for distance in (0..usize::BITS).map(|k| 1 << k).take_while(|distance| *distance < n) {
        let before = received.clone();
        for from in 0..n {
            let to = (from + distance) % n;
            let mut connection = layer.connect(from, to, layer.way(from, to), 0);
            let number =
                layer.send(&mut connection, Piece { at: 0, bytes, adds: false }, begins[from], &[before[from]]);
            let mut needs = vec![before[to]];
            layer.arrival(&connection, number, &mut needs);
            received[to] = layer.join(to, &needs);
        }
    }
    for (received, end) in received.iter().zip(ends) {
        end.push(*received);
    }
}

/// What it sends among `n` members.
pub(super) fn sends(n: usize, bytes: u64, options: &Options) -> Result<Sends, String> {
    options.no_chunks("a barrier")?;
    if options.channels > 1 {
        return Err(format!("a barrier has one channel, not {}: leave it out", options.channels));
    }
    let rounds = u64::from(n.next_power_of_two().ilog2());
    Ok(Sends::piece(if bytes == 0 { BYTES } else { bytes }, options).with(1, 1) * (n as u64 * rounds))
}
