//! In-band telemetry: what a switch writes into passing packets, and how its records are read.
//!
//! Used by the schemes that take their signal from HPCC's header (2 B, and 8 B for each of up to
//! five hops). A record holds the port's line rate, the time, the bytes the port has sent before
//! the packet and the bytes now in its queues, and is written when the packet is dequeued
//! (`hpcc.md`, section 2).

use crate::param::params;
use std::marker::PhantomData;
use xoff_fabric::packet::{IntHop, IntStack};
pub use xoff_fabric::precision::{HEADER_HOPS, Precision};
use xoff_fabric::scheme::{CongestionPoint, Format, Hooks, Mark, PacketFacts, QueueFacts, QueueView, name_in_path};

/// Bytes the header adds to data packets and to the ACKs that echo it.
pub const HEADER_BYTES: u32 = 42;

/// Data packets with the header, and ACKs that echo it (`hpcc.md`, section 2).
pub fn format(precision: Precision) -> Format {
    Format { data_bytes: HEADER_BYTES, ack_bytes: HEADER_BYTES, int: true, precision, ..Format::default() }
}

params! {
    /// How exact the records are.
    pub struct Params {
        /// exact values, or those that fit the header's 24, 20 and 17 bits, and at most five hops
        int_precision: IntPrecision { Exact = "exact", Header = "header" } = "exact",
            from "the HPCC authors' simulator has the header's; \
                  exact: assumption, so that one file holds at every speed";
    }
}

params! {
    /// How exact the records are, for schemes that let the unit of the header's fields be chosen.
    pub struct HeaderParams {
        /// units of 128 m and 80 m bytes at every port, speeds told by the header's code;
        /// 0: m is each port's speed over 25G
        int_multiplier "m": Count(0..=32) = "0" if IntPrecision::Header,
            from "the HPCC authors' simulator has one for all ports (INT_MULTI), \
                  the NIC's speed over 25G in their run script";
        ..int: Params;
    }
}

impl Params {
    /// Precision that the law needs.
    pub fn precision(&self) -> Precision {
        match self.int_precision {
            IntPrecision::Exact => Precision::Exact,
            IntPrecision::Header => Precision::Header,
        }
    }
}

impl HeaderParams {
    /// Precision that the law needs.
    pub fn precision(&self) -> Precision {
        match (self.int.int_precision, self.int_multiplier) {
            (IntPrecision::Exact, _) | (IntPrecision::Header, 0) => self.int.precision(),
            (IntPrecision::Header, m) => Precision::Coded(m as u8),
        }
    }
}

/// Writes one record into every packet that leaves its queue.
#[derive(Clone, Copy, Debug)]
pub struct IntPoint<F = ()> {
    precision: Precision,
    /// Its byte count is what has come to the port's queues, not what has left them.
    arrivals: bool,
    /// Its part of the path's identifier.
    name: u16,
    feedback: PhantomData<F>,
}

impl<F> IntPoint<F> {
    /// Congestion point of the queue `at`, whose number gives its part of the path's identifier.
    pub fn new(precision: Precision, at: &QueueFacts) -> IntPoint<F> {
        IntPoint { precision, arrivals: false, name: name_in_path(at.queue), feedback: PhantomData }
    }

    /// Counts arriving bytes instead. Not for exact records, which the switch itself writes.
    pub fn counting_arrivals(self) -> IntPoint<F> {
        IntPoint { arrivals: self.precision != Precision::Exact, ..self }
    }

    /// The record of a packet that has just left the queue (`hpcc.md`, section 2: bytes sent before
    /// it, and all classes of the port without it).
    #[inline]
    pub fn write(&self, view: &QueueView, stack: &mut IntStack) {
        let hop = IntHop { rate: view.rate, at: view.now, tx_bytes: view.tx_bytes, queue_bytes: view.port_bytes };
        stack.write(hop, self.precision);
        stack.pass(self.name);
    }
}

impl<F: Copy> CongestionPoint for IntPoint<F> {
    type Feedback = F;

    fn hooks(&self) -> Hooks {
        if self.arrivals { Hooks::DEQUEUE } else { Hooks::STAMP }
    }

    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, packet: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, F)) {
        let Some(stack) = mark.int else { return };
        if self.arrivals {
            // What came is what was sent before, what is leaving and what still waits.
            let tx_bytes = view.tx_bytes + u64::from(packet.frame_bytes) + view.port_bytes;
            self.write(&QueueView { tx_bytes, ..*view }, stack);
        } else {
            self.write(view, stack);
        }
    }
}

/// The records of the previous acknowledgement, to take differences against. Boxed: the record of a
/// path is larger than the rest of a sender's state.
#[derive(Clone, Debug, Default)]
pub struct Previous(Option<Box<IntStack>>);

impl Previous {
    /// The previous records of the same path, hop by hop, if there are any; `new` takes their place
    /// only with [`Previous::replace`].
    #[inline]
    pub fn of(&self, new: &IntStack) -> Option<&[IntHop]> {
        let old = self.0.as_deref()?;
        // A path of other length or of another identifier: the flow was rerouted.
        old.is_along(new).then(|| old.hops())
    }

    /// Keeps `new` as what the next records are compared with.
    #[inline]
    pub fn replace(&mut self, new: &IntStack) {
        match &mut self.0 {
            Some(old) => old.take_records(new),
            None => self.0 = Some(Box::new(*new)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{BitRate, Time};

    fn view(us: u64, tx_bytes: u64, port_bytes: u64) -> QueueView {
        QueueView { port_bytes, tx_bytes, ..QueueView::at(BitRate::from_gbps(100), Time::from_us(us), port_bytes / 2) }
    }

    fn point(precision: Precision, queue: u64) -> IntPoint {
        IntPoint::new(precision, &QueueFacts { queue, ..QueueFacts::at(BitRate::from_gbps(100)) })
    }

    #[test]
    fn hpcc_2_a_record_per_hop_in_path_order() {
        let mut stack = IntStack::default();
        point(Precision::Exact, 1).write(&view(3, 10_000, 500), &mut stack);
        point(Precision::Exact, 2).write(&view(5, 20_001, 70), &mut stack);
        let rate = BitRate::from_gbps(100);
        assert_eq!(
            stack.hops(),
            [
                IntHop { rate, at: Time::from_us(3), tx_bytes: 10_000, queue_bytes: 500 },
                IntHop { rate, at: Time::from_us(5), tx_bytes: 20_001, queue_bytes: 70 },
            ],
            "all classes of the port count"
        );
    }

    #[test]
    fn hpcc_2_the_header_rounds_down_and_wraps() {
        // 100G: m = 4, so units of 512 and 320 bytes.
        let mut stack = IntStack::default();
        let point = point(Precision::Header, 1);
        point.write(&view(16_777, 1_000_000_000, 100_000), &mut stack);
        let old = stack.hops()[0];
        assert_eq!((old.tx_bytes, old.queue_bytes), ((1_000_000_000 / 512 % (1 << 20)) * 512, 100_000 / 320 * 320));
        stack.clear();
        // 3 us later the 24 bits of nanoseconds have wrapped, and later on the bytes too.
        point.write(&view(16_780, 1_000_030_720, 0), &mut stack);
        let new = stack.hops()[0];
        assert!(new.at < old.at);
        assert_eq!(Precision::Header.between(&new, &old), (3_000_000, 30_720));
        stack.clear();
        point.write(&view(16_877, (1 << 29) * 2 + 1_024, 0), &mut stack);
        let wrapped = stack.hops()[0];
        assert_eq!(wrapped.tx_bytes, 1_024);
        let sent = (1u64 << 29) * 2 + 1_024 - 1_000_000_000 / 512 * 512;
        assert_eq!(Precision::Header.between(&wrapped, &old), (100_000_000, sent));
        // No room for a sixth hop.
        for us in 0..9 {
            point.write(&view(us, 0, 0), &mut stack);
        }
        assert_eq!(stack.hops().len(), 5);
    }

    #[test]
    fn hpcc_2_one_multiplier_for_all_ports_wraps_every_field() {
        // INT_MULTI 4: units of 512 and 320 bytes, whatever the port's speed.
        let record = |gbps, tx_bytes, port_bytes| {
            let mut stack = IntStack::default();
            let view = QueueView { rate: BitRate::from_gbps(gbps), ..view(20_000, tx_bytes, port_bytes) };
            point(Precision::Coded(4), 1).write(&view, &mut stack);
            stack.hops()[0]
        };
        let hop = record(400, 10_000, 1_000);
        assert_eq!((hop.rate, hop.tx_bytes, hop.queue_bytes), (BitRate::from_gbps(400), 19 * 512, 3 * 320));
        assert_eq!(hop.at, Time::from_ns(20_000_000 - (1 << 24)));
        // 2^17 units of queue are none, and a speed without a code reads as the first.
        let hop = record(40, (1 << 29) + 600, (320 << 17) + 700);
        assert_eq!((hop.rate, hop.tx_bytes, hop.queue_bytes), (BitRate::from_gbps(25), 512, 640));
        assert_eq!(Precision::Coded(4).between(&hop, &record(400, 10_000, 0)), (0, (1 << 29) - 18 * 512));
    }

    #[test]
    fn hpcc_4_another_path_has_no_previous_records() {
        let record = |queues: &[u64]| {
            let mut stack = IntStack::default();
            for &queue in queues {
                point(Precision::Exact, queue).write(&view(1, 0, 0), &mut stack);
            }
            stack
        };
        let mut previous = Previous::default();
        assert!(previous.of(&record(&[1, 2])).is_none(), "the first acknowledgement");
        previous.replace(&record(&[1, 2]));
        assert!(previous.of(&record(&[1, 2])).is_some());
        assert!(previous.of(&record(&[1, 3])).is_none(), "as long, but over another port");
        assert!(previous.of(&record(&[1, 2, 3])).is_none());
    }
}
