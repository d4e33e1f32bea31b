//! HPCC's telemetry header as bytes, both ways.
//!
//! Two bytes and five records of eight. MLCC's packets between datacentres have four records, a word in the place of
//! the fifth, and a credit behind them.

use xoff_engine::{BitRate, Time};
use xoff_fabric::packet::{IntHop, IntStack};
use xoff_fabric::precision::{Fields, multiplier as multiplier_at};

/// 2 B and five records of 8 B.
pub const TELEMETRY_BYTES: usize = 42;
/// Telemetry header and a credit (2 B).
pub const CREDITED_BYTES: usize = TELEMETRY_BYTES + 2;
const RECORDS: usize = 5;
/// Offset of the word of a credited header: in the place of the fifth record.
const WORD_AT: usize = TELEMETRY_BYTES - 8;
/// The word is the flow's queue, not the time of sending.
const IS_QUEUE: u64 = 1 << 63;

/// The five rates of the HPCC authors, then two more; code 7 is any other.
const CODED_GBPS: [u64; 7] = [25, 50, 100, 200, 400, 10, 40];

/// The header as in a frame: number of records (4 bits) and path (12 bits); per record the
/// line rate's code (3 bits), nanoseconds (24), bytes sent in units of 128 m (20), queue in units of
/// 80 m (17), with m the port's speed over 25 Gb/s. What does not fit wraps, but for the queue, which
/// stops at its most; a sixth record is left out.
pub fn telemetry(stack: &IntStack) -> [u8; TELEMETRY_BYTES] {
    telemetry_in(stack, None)
}

/// [`telemetry`] with one m for all ports, where a scheme sets it (`int_multiplier`): its queue wraps too.
pub fn telemetry_in(stack: &IntStack, multiplier: Option<u64>) -> [u8; TELEMETRY_BYTES] {
    let mut out = [0; TELEMETRY_BYTES];
    write_records(stack, RECORDS, multiplier, &mut out);
    out
}

/// The records that [`telemetry_in`] wrote, with the header's precision: times within 24 bits of nanoseconds, bytes in
/// whole units. `None` if there are too few bytes, too many records, or a rate without a code.
pub fn telemetry_from(bytes: &[u8], multiplier: Option<u64>) -> Option<IntStack> {
    read_records(bytes, RECORDS, multiplier)
}

/// Telemetry of a packet between datacentres: at most four records; a word, with its top bit set the bytes in the
/// flow's own queue, else the nanosecond of sending; and what the gateway wrote on the packet. A queue that is empty
/// leaves the time of sending where it is.
pub fn credited_in(stack: &IntStack, multiplier: Option<u64>) -> [u8; CREDITED_BYTES] {
    let mut out = [0; CREDITED_BYTES];
    write_records(stack, RECORDS - 1, multiplier, &mut out);
    let word = match u64::from(stack.flow_queue_bytes) {
        0 => (stack.sent_at.ps() / 1000) & !IS_QUEUE,
        queue_bytes => IS_QUEUE | queue_bytes,
    };
    out[WORD_AT..TELEMETRY_BYTES].copy_from_slice(&word.to_be_bytes());
    out[TELEMETRY_BYTES..].copy_from_slice(&stack.tag.to_be_bytes());
    out
}

/// What [`credited_in`] wrote.
pub fn credited_from(bytes: &[u8], multiplier: Option<u64>) -> Option<IntStack> {
    let mut stack = read_records(bytes, RECORDS - 1, multiplier)?;
    let word = u64::from_be_bytes(*bytes.get(WORD_AT..)?.first_chunk()?);
    if word & IS_QUEUE == 0 {
        stack.sent_at = time_of(word)?;
    } else {
        stack.flow_queue_bytes = u32::try_from(word & !IS_QUEUE).ok()?;
    }
    stack.tag = u16::from_be_bytes(*bytes.get(TELEMETRY_BYTES..)?.first_chunk()?);
    Some(stack)
}

/// An instant in nanoseconds, unless it is later than any.
pub fn time_of(nanoseconds: u64) -> Option<Time> {
    nanoseconds.checked_mul(1000).map(Time::from_ps)
}

/// Whether records identify a port of this rate; of another, units and rate are unknown.
pub fn rate_has_code(rate: BitRate) -> bool {
    usize::from(rate_code(rate)) < CODED_GBPS.len()
}

fn write_records(stack: &IntStack, most: usize, multiplier: Option<u64>, out: &mut [u8]) {
    let hops = &stack.hops()[..stack.hops().len().min(most)];
    out[..2].copy_from_slice(&((hops.len() as u16) << 12 | stack.path() & 0xfff).to_be_bytes());
    for (hop, place) in hops.iter().zip(out[2..].chunks_exact_mut(8)) {
        place.copy_from_slice(&record(hop, multiplier).to_be_bytes());
    }
}

fn read_records(bytes: &[u8], most: usize, multiplier: Option<u64>) -> Option<IntStack> {
    let (head, records) = bytes.get(..TELEMETRY_BYTES)?.split_first_chunk()?;
    let head = u16::from_be_bytes(*head);
    let count = usize::from(head >> 12);
    if count > most {
        return None;
    }
    let mut stack = IntStack::default();
    stack.pass(head);
    for place in records.chunks_exact(8).take(count) {
        stack.push(hop(u64::from_be_bytes(*place.first_chunk()?), multiplier)?);
    }
    Some(stack)
}

fn record(hop: &IntHop, multiplier: Option<u64>) -> u64 {
    let fields = if multiplier.is_some() { Fields::wrapped } else { Fields::capped };
    fields(hop.at, hop.tx_bytes, hop.queue_bytes, unit(hop.rate, multiplier)).word(rate_code(hop.rate))
}

fn hop(record: u64, multiplier: Option<u64>) -> Option<IntHop> {
    let (code, fields) = Fields::of_word(record);
    let rate = BitRate::from_gbps(*CODED_GBPS.get(usize::from(code))?);
    Some(fields.hop(rate, unit(rate, multiplier)))
}

/// m, which scales the units of a record: the port's speed over 25 Gb/s, unless one is set for all.
pub fn unit(rate: BitRate, multiplier: Option<u64>) -> u64 {
    multiplier.unwrap_or(multiplier_at(rate)).max(1)
}

fn rate_code(rate: BitRate) -> u8 {
    let known = |gbps: &u64| BitRate::from_gbps(*gbps) == rate;
    CODED_GBPS.iter().position(known).unwrap_or(CODED_GBPS.len()) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn telemetry_has_its_bits_where_the_header_has_them() {
        let mut stack = IntStack::default();
        assert_eq!(telemetry(&stack), [0; TELEMETRY_BYTES]);
        stack.pass(0xabc);
        let rate = BitRate::from_gbps(100);
        stack.push(IntHop { rate, at: Time::from_ns(0x1_000_007), tx_bytes: 5 * 512 + 511, queue_bytes: 3 * 320 });
        stack.push(IntHop { rate: BitRate::from_gbps(7), at: Time::ZERO, tx_bytes: 0, queue_bytes: 1 << 40 });
        let bytes = telemetry(&stack);
        assert_eq!(bytes[..2], [0x2a, 0xbc]);
        let first = u64::from_be_bytes(bytes[2..10].try_into().unwrap());
        // 100G is code 2; time wraps at 24 bits; m = 4.
        assert_eq!((first >> 61, first >> 37 & 0xff_ffff, first >> 17 & 0xf_ffff, first & 0x1_ffff), (2, 7, 5, 3));
        let second = u64::from_be_bytes(bytes[10..18].try_into().unwrap());
        assert_eq!((second >> 61, second & 0x1_ffff), (7, 0x1_ffff), "an unknown rate, a queue beyond the field");
        assert_eq!(bytes[18..], [0; 24]);
    }

    #[test]
    fn one_multiplier_for_all_ports_takes_the_place_of_their_speed() {
        let mut stack = IntStack::default();
        let rate = BitRate::from_gbps(100);
        let queue_bytes = 80 * ((1 << 17) + 3);
        stack.push(IntHop { rate, at: Time::ZERO, tx_bytes: 5 * 128 + 127, queue_bytes });
        let fields = |multiplier| {
            let bytes = telemetry_in(&stack, multiplier);
            let record = u64::from_be_bytes(bytes[2..10].try_into().unwrap());
            (record >> 17 & 0xf_ffff, record & 0x1_ffff)
        };
        assert_eq!(fields(Some(1)), (5, 3), "units of 128 and 80 bytes; the queue wraps as it does for the scheme");
        assert_eq!(fields(None), (1, 1 << 15), "100 Gb/s is m = 4");
    }

    fn stack(hops: &[(u64, u64, u64, u64)], path: u16) -> IntStack {
        let mut stack = IntStack::default();
        stack.pass(path);
        for &(rate, ns, tx_bytes, queue_bytes) in hops {
            let rate = BitRate::from_gbps(CODED_GBPS[rate as usize]);
            stack.push(IntHop { rate, at: Time::from_ns(ns), tx_bytes, queue_bytes });
        }
        stack
    }

    proptest! {
        #[test]
        fn records_that_were_read_are_written_alike(
            hops in proptest::collection::vec((0..7u64, 0..1u64 << 40, 0..1u64 << 50, 0..1u64 << 40), 0..8),
            path: u16,
            multiplier in proptest::option::of(1..33u64),
        ) {
            let bytes = telemetry_in(&stack(&hops, path), multiplier);
            let read = telemetry_from(&bytes, multiplier).expect("every rate has a code");
            prop_assert_eq!(read.hops().len(), hops.len().min(5));
            prop_assert_eq!(telemetry_in(&read, multiplier), bytes);
        }

        #[test]
        fn a_credited_header_keeps_what_its_readers_need(
            hops in proptest::collection::vec((0..7u64, 0..1u64 << 40, 0..1u64 << 50, 0..1u64 << 40), 0..8),
            sent_ns in 0..1u64 << 50,
            queue_bytes: u32,
            tag: u16,
        ) {
            for queue_bytes in [0, queue_bytes] {
                let mut stack = stack(&hops, 0xabc);
                (stack.sent_at, stack.flow_queue_bytes, stack.tag) = (Time::from_ns(sent_ns), queue_bytes, tag);
                let bytes = credited_in(&stack, None);
                let read = credited_from(&bytes, None).expect("every rate has a code");
                prop_assert_eq!((read.flow_queue_bytes, read.tag), (queue_bytes, tag));
                prop_assert_eq!(read.sent_at, if queue_bytes == 0 { stack.sent_at } else { Time::ZERO });
                prop_assert_eq!(read.hops().len(), hops.len().min(4));
                prop_assert_eq!(credited_in(&read, None), bytes);
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            for read in [telemetry_from(&bytes, None), credited_from(&bytes, Some(32))].into_iter().flatten() {
                prop_assert!(bytes.len() >= TELEMETRY_BYTES && read.hops().len() <= RECORDS);
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let bytes = telemetry(&stack(&[(0, 1, 2, 3)], 0));
        assert!(telemetry_from(&bytes, None).is_some());
        assert!(telemetry_from(&bytes[..41], None).is_none(), "cut off");
        assert!(credited_from(&bytes, None).is_none(), "no credit");
        let mut six = bytes;
        six[0] = 0x60;
        assert!(telemetry_from(&six, None).is_none(), "six records");
        let mut unknown = bytes;
        unknown[2] |= 0xe0;
        assert!(telemetry_from(&unknown, None).is_none(), "rate code 7");
        assert!(rate_has_code(BitRate::from_gbps(40)) && !rate_has_code(BitRate::from_gbps(7)));
    }
}
