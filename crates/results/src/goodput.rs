//! Goodput that no straggler decides: payload per time until nine tenths of it have arrived.

use xoff_engine::Time;

/// The part of all payload that ends the measurement. The rest may take as long as it likes.
pub const PART: f64 = 0.9;

/// What a flow delivered, taken as evenly spread over its life: what came when within it is not in the
/// records, and the table of flows is enough to compute the same number again.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    pub from: Time,
    pub until: Time,
    pub bytes: u64,
}

/// Bits per second from the first start until [`PART`] of the payload has been delivered; `None` if
/// nothing was, or in no time.
pub fn goodput(deliveries: impl Iterator<Item = Delivery>) -> Option<f64> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut total, mut first) = (0u64, None);
    for Delivery { from, until, bytes } in deliveries {
        first = Some(first.map_or(from, |first: Time| first.min(from)));
        total += bytes;
        if bytes == 0 {
            continue;
        }
        if until <= from {
            steps.push(Step { at: from.ps(), rate: 0.0, jump: bytes as f64 });
            continue;
        }
        let rate = bytes as f64 / until.saturating_since(from).ps() as f64;
        steps.push(Step { at: from.ps(), rate, jump: 0.0 });
        steps.push(Step { at: until.ps(), rate: -rate, jump: 0.0 });
    }
    let first = first?.ps();
    // A total order, so that the last digit does not hang on the order of the records.
    steps.sort_by(|a, b| a.at.cmp(&b.at).then(a.rate.total_cmp(&b.rate)).then(a.jump.total_cmp(&b.jump)));
    let needed = PART * total as f64;
    let end = reached(&steps, needed)?;
    let picoseconds = end - first as f64;
    (picoseconds > 0.0).then(|| needed * 8.0 / (picoseconds * 1e-12))
}

/// The rate of all deliveries together changes, or something arrives at once.
struct Step {
    at: u64,
    /// Bytes per picosecond.
    rate: f64,
    jump: f64,
}

/// When the sum of what was delivered reaches `needed`.
fn reached(steps: &[Step], needed: f64) -> Option<f64> {
    let (mut bytes, mut rate, mut at) = (0.0, 0.0, steps.first()?.at);
    for step in steps {
        let more = rate * (step.at - at) as f64;
        if bytes + more >= needed && rate > 0.0 {
            return Some(at as f64 + (needed - bytes).max(0.0) / rate);
        }
        bytes += more + step.jump;
        rate += step.rate;
        at = step.at;
        if bytes >= needed {
            return Some(at as f64);
        }
    }
    // Only rounding can leave something to be delivered.
    Some(at as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn delivery(from_us: u64, until_us: u64, bytes: u64) -> Delivery {
        Delivery { from: Time::from_us(from_us), until: Time::from_us(until_us), bytes }
    }

    fn gbps(deliveries: &[Delivery]) -> Option<f64> {
        goodput(deliveries.iter().copied()).map(|bps| bps / 1e9)
    }

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-9 * b)
    }

    #[test]
    fn a_steady_flow_has_its_own_rate() {
        assert!(near(gbps(&[delivery(5, 15, 125_000)]), 100.0));
        // One after the other, and side by side.
        assert!(near(gbps(&[delivery(0, 10, 125_000), delivery(10, 20, 125_000)]), 100.0));
        assert!(near(gbps(&[delivery(0, 20, 125_000), delivery(0, 20, 125_000)]), 100.0));
    }

    #[test]
    fn one_straggler_does_not_decide() {
        let mut flows: Vec<Delivery> = (0..100).map(|i| delivery(10 * i, 10 * i + 10, 125_000)).collect();
        let without = gbps(&flows).unwrap();
        flows[40].until = Time::from_ms(100);
        let with = gbps(&flows).unwrap();
        assert!((without - 100.0).abs() < 1e-6);
        // A hundredth of the payload is late: that much less has come, not a hundredth of the rate.
        assert!((with / without - 0.99).abs() < 0.002, "{with}");
    }

    #[test]
    fn nothing_and_no_time_have_no_goodput() {
        assert_eq!(gbps(&[]), None);
        assert_eq!(gbps(&[delivery(3, 9, 0)]), None);
        assert_eq!(gbps(&[delivery(3, 3, 10)]), None);
        // What came at once counts when it came.
        assert!(near(gbps(&[delivery(0, 10, 0), delivery(9, 9, 125_000)]), 100.0));
    }

    proptest! {
        /// Against the sum of all deliveries at the instant that the goodput implies.
        #[test]
        fn it_ends_when_nine_tenths_have_come(flows in prop::collection::vec((0u64..1000, 1u64..1000, 1u64..1_000_000), 1..40)) {
            let flows: Vec<Delivery> = flows.into_iter().map(|(from, length, bytes)| delivery(from, from + length, bytes)).collect();
            let total: u64 = flows.iter().map(|flow| flow.bytes).sum();
            let first = flows.iter().map(|flow| flow.from.as_us()).fold(f64::MAX, f64::min);
            let bps = goodput(flows.iter().copied()).unwrap();
            let end_us = first + PART * total as f64 * 8.0 / bps * 1e6;
            let delivered: f64 = flows.iter().map(|flow| {
                let (from, until) = (flow.from.as_us(), flow.until.as_us());
                flow.bytes as f64 * ((end_us - from) / (until - from)).clamp(0.0, 1.0)
            }).sum();
            prop_assert!((delivered / (PART * total as f64) - 1.0).abs() < 1e-6);
        }
    }
}
