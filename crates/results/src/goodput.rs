//! Goodput that no straggler decides: payload per time until flows with nine tenths of it have been delivered.

use xoff_engine::Time;

/// The part of all payload that ends the measurement. The rest may take as long as it likes.
pub const PART: f64 = 0.9;

/// What a flow delivered, counted when it was delivered whole; one that never was counts at the end of the run with what
/// it delivered until then. What came earlier within its life is not in the records. So the sum at any time is at most
/// what the network had delivered, and no goodput exceeds a link; and the table of flows is enough to compute the same
/// number again.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    pub from: Time,
    pub until: Time,
    pub bytes: u64,
}

/// Bits per second from the first start until the first instant at which flows with at least [`PART`] of the payload have
/// been delivered: what those flows carried, over that time. `None` if nothing was delivered, or in no time.
pub fn goodput(deliveries: impl Iterator<Item = Delivery>) -> Option<f64> {
    let (mut total, mut first) = (0u64, None);
    let mut ends: Vec<(Time, u64)> = Vec::new();
    for Delivery { from, until, bytes } in deliveries {
        first = Some(first.map_or(from, |first: Time| first.min(from)));
        total += bytes;
        if bytes > 0 {
            ends.push((until.max(from), bytes));
        }
    }
    let first = first?;
    ends.sort_unstable();
    let needed = PART * total as f64;
    let mut bytes = 0;
    for same in ends.chunk_by(|a, b| a.0 == b.0) {
        bytes += same.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if bytes as f64 >= needed {
            let taken = same[0].0.saturating_since(first).ps();
            return (taken > 0).then(|| bytes as f64 * 8.0 / (taken as f64 * 1e-12));
        }
    }
    None
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
        // The flow that is late does not count: one more of the others must come, not the whole of its delay.
        assert!((with / without - 0.99).abs() < 0.002, "{with}");
    }

    #[test]
    fn nothing_and_no_time_have_no_goodput() {
        assert_eq!(gbps(&[]), None);
        assert_eq!(gbps(&[delivery(3, 9, 0)]), None);
        assert_eq!(gbps(&[delivery(3, 3, 10)]), None);
        // What came at once counts when it came.
        assert!(near(gbps(&[delivery(0, 10, 0), delivery(10, 10, 125_000)]), 100.0));
    }

    /// Two flows share a link of 100 Gb/s unevenly: one has nine tenths of it until it is over, the other all of it then.
    /// Spread evenly over its life the slower would seem to have had half of the link in the first half.
    #[test]
    fn it_does_not_exceed_the_link_that_all_share() {
        // 1,250,000 B each: the first takes 111.1 us, both 200 us.
        let flows = [delivery(0, 111, 1_250_000), delivery(0, 200, 1_250_000)];
        assert!(near(gbps(&flows), 100.0));
        let mut many: Vec<Delivery> = (1..=64).map(|i| delivery(0, 300 + i / 2, 62_500)).collect();
        many.push(delivery(0, 380, 62_500));
        assert!(gbps(&many).unwrap() <= 100.0, "{:?}", gbps(&many));
    }

    proptest! {
        /// At the instant that the goodput implies, flows with nine tenths of the payload are over, and before it not.
        #[test]
        fn it_ends_when_flows_with_nine_tenths_are_over(flows in prop::collection::vec((0u64..1000, 1u64..1000, 1u64..1_000_000), 1..40)) {
            let flows: Vec<Delivery> = flows.into_iter().map(|(from, length, bytes)| delivery(from, from + length, bytes)).collect();
            let total: u64 = flows.iter().map(|flow| flow.bytes).sum();
            let first = flows.iter().map(|flow| flow.from).min().unwrap();
            let over = |at: Time| flows.iter().filter(|flow| flow.until <= at).map(|flow| flow.bytes).sum::<u64>();
            let mut ends: Vec<Time> = flows.iter().map(|flow| flow.until).collect();
            ends.sort();
            let end = ends.into_iter().find(|end| over(*end) as f64 >= PART * total as f64).unwrap();
            let expected = over(end) as f64 * 8.0 / (end - first).as_s();
            let bps = goodput(flows.iter().copied()).unwrap();
            prop_assert!((bps / expected - 1.0).abs() < 1e-9);
        }
    }
}
