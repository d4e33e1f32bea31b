//! U of a port as the authors' simulator computes it: sums of three powers of two, from logarithms of 16-bit numbers
//! with 15 bits behind the point. Numbers that are longer are rounded to their leading bits at random.
//!
//! Time is in nanoseconds, and what counts as sent is the size of the last packet of any kind.

use super::code::Code;
use crate::parts::rounding::real;
use std::sync::Arc;
use xoff_engine::{SharedGlibc, Span};
use xoff_fabric::scheme::{QueueFacts, QueueView};

/// Logarithms in parts of so much.
const PARTS: f64 = 32_768.0;
/// Bits that a number keeps.
const LEADING_BITS: u32 = 16;
/// Queues are counted in so many bytes, utilisations in such parts.
const QUEUE_UNIT: u64 = 256;
const UTILISATION_PARTS: f64 = 8192.0;

/// U of one port.
#[derive(Debug)]
pub struct Approximate {
    utilisation: f64,
    last_ns: u64,
    /// What the port had sent before the last packet that left it; none has, without.
    before_last: Option<u64>,
    round_trip_ns: u64,
    /// Logarithms of T, of B in bytes per second, and of 1e9, in parts, and not rounded.
    log_t: f64,
    log_b: f64,
    log_1e9: f64,
    code: Arc<Code>,
    random: SharedGlibc,
}

impl Approximate {
    pub fn new(round_trip: Span, at: &QueueFacts, code: &Arc<Code>, random: &SharedGlibc) -> Approximate {
        let round_trip_ns = round_trip.ps() / 1000;
        let log = |number: f64| libm::log2(number) * PARTS;
        Approximate {
            utilisation: 0.0,
            last_ns: 0,
            before_last: None,
            round_trip_ns,
            log_t: log(real(round_trip_ns)),
            log_b: log(real(at.rate.bps() / 8)),
            log_1e9: log(1e9),
            code: Arc::clone(code),
            random: random.clone(),
        }
    }

    /// A packet that carries no digest has left.
    pub fn note(&mut self, view: &QueueView) {
        (self.last_ns, self.before_last) = (view.now.ps() / 1000, Some(view.tx_bytes));
    }

    /// A data packet has left.
    pub fn digest(&mut self, view: &QueueView) -> u16 {
        let t = self.round_trip_ns;
        let dt = (view.now.ps() / 1000 - self.last_ns).min(t);
        let queue = view.port_bytes / QUEUE_UNIT;
        let power = |parts: f64| libm::pow(2.0, parts / PARTS);
        let (mut queued, mut sent, mut past) = (0.0, 0.0, 0.0);
        if queue > 0 {
            let logs = self.log(dt) + self.log(queue);
            queued = power(logs + self.log_1e9 - self.log_b - 2.0 * self.log_t) * real(QUEUE_UNIT);
        }
        if let Some(before) = self.before_last {
            let log = self.log(view.tx_bytes - before);
            sent = power(log + self.log_1e9 - self.log_b - self.log_t);
        }
        if t > dt && self.utilisation > 0.0 {
            let rest = self.log(t - dt);
            let log = self.log((self.utilisation * UTILISATION_PARTS).round() as u64);
            past = power(rest + log - self.log_t) / UTILISATION_PARTS;
        }
        self.utilisation = queued + sent + past;
        self.note(view);
        self.code.encode_by_logarithm(self.utilisation, self.random.draw())
    }

    /// log2 of a number in whole parts; of nothing, so low that its power of two is nothing.
    fn log(&self, number: u64) -> f64 {
        let bits = u64::BITS - number.leading_zeros();
        let mut leading = number;
        if bits > LEADING_BITS {
            let mask = (1 << (bits - LEADING_BITS)) - 1;
            leading &= !mask;
            if number & mask > u64::from(self.random.draw()) & mask {
                leading += mask + 1;
            }
        }
        if leading == 0 { f64::from(i32::MIN) } else { (libm::log2(real(leading)) * PARTS).trunc() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{BitRate, Time};

    /// A port of 100 Gb/s with T = 10,200 ns.
    fn point() -> Approximate {
        let at = QueueFacts::at(BitRate::from_gbps(100));
        Approximate::new(Span::from_ns(10_200), &at, &Arc::new(Code::new(1.05)), &SharedGlibc::new(1))
    }

    fn view(ns: u64, tx_bytes: u64, port_bytes: u64) -> QueueView {
        QueueView { tx_bytes, ..QueueView::at(BitRate::from_gbps(100), Time::from_ns(ns), port_bytes) }
    }

    #[test]
    fn logarithms_are_within_their_last_part() {
        let point = point();
        for number in [1u64, 3, 255, 1_048, 10_117, 65_535] {
            let log = point.log(number) / PARTS;
            assert!((0.0..1.0 / PARTS).contains(&(libm::log2(number as f64) - log)), "{number}: {log}");
        }
        // Beyond 16 bits the number is rounded at random; nothing is drawn before.
        assert_eq!(point.random.draw(), 1_804_289_383);
        let log = point.log(1_000_001) / PARTS;
        assert!((log - libm::log2(1_000_001.0)).abs() < 5e-5, "{log}");
        assert_eq!(point.random.draw(), 1_681_692_777);
    }

    /// The exact numbers: (T - dt)/T U + q dt/(B T^2) + bytes/(B T), with B T = 127,500 B.
    #[test]
    fn utilisation_is_near_the_exact_one() {
        let (mut point, mut exact) = (point(), 0.0);
        let (mut ns, mut sent) = (1_000_000, 0);
        for step in 0..400u64 {
            let queue = step * 512 % 40_000;
            point.digest(&view(ns, sent, queue));
            let (dt, bytes) = if step == 0 { (10_200.0, 0.0) } else { (84.0, 1_050.0) };
            exact = exact * (10_200.0 - dt) / 10_200.0 + (queue as f64 * dt / 10_200.0 + bytes) / 127_500.0;
            assert!((point.utilisation - exact).abs() < 0.01, "{step}: {} and {exact}", point.utilisation);
            (ns, sent) = (ns + 84, sent + 1_050);
        }
        assert!(exact > 1.0, "{exact}");
    }

    #[test]
    fn acks_are_the_last_packet_too() {
        let (mut with, mut without) = (point(), point());
        for point in [&mut with, &mut without] {
            point.digest(&view(1_000, 0, 0));
        }
        with.note(&view(1_500, 1_050, 0));
        with.digest(&view(1_505, 1_110, 0));
        without.digest(&view(1_505, 1_050, 0));
        // 60 B after 5 ns, or 1050 B after 505 ns.
        assert!((with.utilisation - 60.0 / 127_500.0).abs() < 1e-5, "{}", with.utilisation);
        assert!((without.utilisation - 1_050.0 / 127_500.0).abs() < 1e-5, "{}", without.utilisation);
    }
}
